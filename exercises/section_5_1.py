"""Exercises of Section 5.1."""

import numpy as np

from exercises.format import Exercise, Wrong
from topiclib.checks.base import Answer, as_array, close, expect


def _hidden_growth(answer: Answer) -> None:
    steps = np.array([0, 3, 8, 20, 21, 40])
    norms = np.array([5.0, 4.0, 6.5, 5.5, 9.0, 8.0])
    for fraction, step in ((0.1, 8), (0.5, 8), (0.6, 21), (1.0, 21)):
        found = float(as_array(answer(steps, norms, fraction), (), "one step"))
        expect(close(found, step), "other-curve", "it fails on another curve.")


def _hidden_penalty(answer: Answer) -> None:
    pair = as_array(answer(0.4, 0.09), (2,), "the penalty and the clock")
    penalty = (0.4 * 0.09) ** 0.5 / 2
    right = [penalty, np.log(10) / (2 * penalty)]
    expect(close(pair, right, 1e-4), "other-numbers", "it fails on other numbers.")


def _hidden_linear(answer: Answer) -> None:
    rng = np.random.default_rng(151)
    w_k, w_q, g = rng.normal(size=(3, 6)), rng.normal(size=(3, 6)), rng.normal(size=(6, 6))
    right = w_k, w_q
    for _ in range(20_000):
        k, q = right
        right = k - 1.5 / 20_000 * q @ g.T / 3**0.5, q - 1.5 / 20_000 * k @ g / 3**0.5
    found = answer(w_k, w_q, g, 1.5)
    for ours, theirs in zip(found, right, strict=True):
        error = np.abs(as_array(ours, (3, 6), "a matrix") - theirs).max() / np.abs(theirs).max()
        expect(error < 1e-2, "other-numbers", "it fails on other matrices and a longer time.")


EXERCISES: list[Exercise] = [
    Exercise(
        id="5.1-growth",
        title="when a norm has done most of its growth",
        level="warm-up",
        minutes=6,
        objective="making 'the norm has levelled off' a number",
        function="passage_step",
        statement=r"""
            A norm was recorded in a run: `norms` at the steps `steps` (arrays of the same length, steps rising). Its growth over
            the run is its last value minus its first. Return the first recorded step at which it has done at least `fraction`
            of that growth (a number between 0 and 1; the growth is positive). Do not interpolate. The norm may go down on the way.
        """,
        stub='''
            def passage_step(steps, norms, fraction):
                """The first recorded step at which the norm has done this fraction of its growth over the run."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def passage_step(steps, norms, fraction):
                level = norms[0] + fraction * (norms[-1] - norms[0])
                return steps[np.argmax(norms >= level)]
        """,
        alternative="""
            def passage_step(steps, norms, fraction):
                for step, norm in zip(steps, norms):
                    if (norm - norms[0]) / (norms[-1] - norms[0]) >= fraction:
                        return step
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def passage_step(steps, norms, fraction):
                    return steps[np.argmax(norms >= fraction * norms[-1])]
                """,
                "fraction-of-the-end",
            ),
            Wrong(
                """
                import numpy as np

                def passage_step(steps, norms, fraction):
                    level = norms[0] + fraction * (norms[-1] - norms[0])
                    return np.argmax(norms >= level)
                """,
                "index-not-step",
            ),
            Wrong(
                """
                import numpy as np

                def passage_step(steps, norms, fraction):
                    level = norms[0] + fraction * (norms.max() - norms[0])
                    return steps[np.argmax(norms >= level)]
                """,
                "largest-not-last",
            ),
            Wrong(
                """
                import numpy as np

                def passage_step(steps, norms, fraction):
                    level = norms[0] + fraction * (norms[-1] - norms[0])
                    return steps[np.searchsorted(norms, level)]
                """,
                "not-sorted",
            ),
            Wrong(
                """
                import numpy as np

                def passage_step(steps, norms, fraction):
                    level = norms[0] + fraction * (norms[-1] - norms[0])
                    below = np.flatnonzero(norms < level)
                    return steps[below[-1] + 1]
                """,
                "last-passage",
            ),
        ),
        hidden=_hidden_growth,
        explanation=r"""
            The level is the first value plus the fraction of the growth. Growth is measured from the start, so that a large start
            does not count as grown. Everything depends on where the run ends, as the last value does.
        """,
    ),
    Exercise(
        id="5.1-critical-penalty",
        title="the largest penalty under which attention wakes up",
        level="core",
        minutes=12,
        objective="balancing the two forces on a small weight",
        function="largest_penalty",
        statement=r"""
            A model of this chapter with two numbers. The loss makes $\|\mathbf{W}^V\|$ grow from zero with constant `speed`; it
            makes the fastest direction of $\mathbf{W}^K$ and $\mathbf{W}^Q$ grow at the rate `pull` times $\|\mathbf{W}^V\|$. All
            weights also feel the penalty $\lambda \|\theta\|^2$, and are trained by gradient descent with small steps (time is
            the clock). Let $\mathbf{W}^V$ come to rest. Return two numbers: the largest $\lambda$ at which attention does not
            shrink from then on, and the clock at which, with that $\lambda$, $\|\mathbf{W}^V\|$ has done nine tenths of its growth.
        """,
        stub='''
            def largest_penalty(speed, pull):
                """(lambda, clock): the largest penalty under which attention wakes up, and when W_V is then 90 % done."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def largest_penalty(speed, pull):
                penalty = np.sqrt(speed * pull) / 2
                return penalty, np.log(10) / (2 * penalty)
        """,
        alternative="""
            import math

            def largest_penalty(speed, pull):
                low, high = 0.0, 1 + speed * pull
                for _ in range(200):
                    middle = (low + high) / 2
                    rest = speed / (2 * middle)
                    low, high = (middle, high) if pull * rest > 2 * middle else (low, middle)
                return [low, -math.log(0.1) / (2 * low)]
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def largest_penalty(speed, pull):
                    penalty = np.sqrt(speed * pull)
                    return penalty, np.log(10) / penalty
                """,
                "gradient-of-the-square",
            ),
            Wrong(
                """
                import numpy as np

                def largest_penalty(speed, pull):
                    penalty = np.sqrt(speed * pull / 2)
                    return penalty, np.log(10) / (2 * penalty)
                """,
                "one-factor-of-two",
            ),
            Wrong(
                """
                import numpy as np

                def largest_penalty(speed, pull):
                    penalty = speed * pull / 2
                    return penalty, np.log(10) / (2 * penalty)
                """,
                "values-never-rest",
            ),
            Wrong(
                """
                import numpy as np

                def largest_penalty(speed, pull):
                    penalty = np.sqrt(speed * pull) / 2
                    return penalty, 0.9 / (2 * penalty)
                """,
                "growth-not-straight",
            ),
            Wrong(
                """
                import numpy as np

                def largest_penalty(speed, pull):
                    penalty = np.sqrt(speed * pull) / 2
                    return penalty, np.log(10 / 9) / (2 * penalty)
                """,
                "ten-percent-done",
            ),
        ),
        hidden=_hidden_penalty,
        explanation=r"""
            The penalty's gradient is $2\lambda\theta$. So $\|\mathbf{W}^V\|$ obeys $\dot{n} = \text{speed} - 2\lambda n$: it rests at
            $\text{speed} / (2\lambda)$, and what is missing falls like $e^{-2\lambda t}$, to a tenth at $t = \ln(10)/(2\lambda)$.
            Attention then grows at the rate $\text{pull} \cdot \text{speed} / (2\lambda) - 2\lambda$, which is zero at
            $\lambda = \frac{1}{2}\sqrt{\text{pull} \cdot \text{speed}}$.
        """,
    ),
    Exercise(
        id="5.1-linear-growth",
        title="keys and queries while attention is near uniform",
        level="challenge",
        minutes=25,
        objective="solving the coupled equations of the waking up exactly",
        function="keys_and_queries",
        statement=r"""
            While attention is near uniform, gradient descent with small steps obeys
            $\dot{\mathbf{W}}^K = -\mathbf{W}^Q \mathbf{G}^\top / \sqrt{d_a}$ and
            $\dot{\mathbf{W}}^Q = -\mathbf{W}^K \mathbf{G} / \sqrt{d_a}$. Hold $\mathbf{G}$ fixed: `gradient` is any square matrix of
            shape $(V, V)$, not necessarily symmetric. `w_k` and `w_q` are the matrices at the clock zero, of shape $(d_a, V)$.
            Return the pair of both matrices at the clock `clock`, by the exact solution, not by many small steps.
        """,
        stub='''
            def keys_and_queries(w_k, w_q, gradient, clock):
                """(W_K, W_Q) at the given clock, from the linear equations with a fixed G."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def keys_and_queries(w_k, w_q, gradient, clock):
                a, gamma, b = np.linalg.svd(gradient)
                e = gamma * clock / np.sqrt(len(w_k))
                k, q = w_k @ a, w_q @ b.T
                return (k * np.cosh(e) - q * np.sinh(e)) @ a.T, (q * np.cosh(e) - k * np.sinh(e)) @ b
        """,
        alternative="""
            import numpy as np

            def keys_and_queries(w_k, w_q, gradient, clock):
                n = len(gradient)
                coupling = np.zeros((2 * n, 2 * n))
                coupling[:n, n:], coupling[n:, :n] = gradient, gradient.T
                rate, vectors = np.linalg.eigh(coupling)
                both = np.hstack([w_k, w_q]) @ vectors * np.exp(-rate * clock / len(w_k) ** 0.5) @ vectors.T
                return both[:, :n], both[:, n:]
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def keys_and_queries(w_k, w_q, gradient, clock):
                    h = clock / np.sqrt(len(w_k))
                    return w_k - h * w_q @ gradient.T, w_q - h * w_k @ gradient
                """,
                "one-step",
            ),
            Wrong(
                """
                import numpy as np

                def keys_and_queries(w_k, w_q, gradient, clock):
                    a, gamma, b = np.linalg.svd(gradient)
                    e = gamma * clock / np.sqrt(len(w_k))
                    k, q = w_k @ a, w_q @ b.T
                    return (k * np.cosh(e) + q * np.sinh(e)) @ a.T, (q * np.cosh(e) + k * np.sinh(e)) @ b
                """,
                "wrong-sign",
            ),
            Wrong(
                """
                import numpy as np

                def keys_and_queries(w_k, w_q, gradient, clock):
                    a, gamma, b = np.linalg.svd(gradient)
                    e = gamma * clock
                    k, q = w_k @ a, w_q @ b.T
                    return (k * np.cosh(e) - q * np.sinh(e)) @ a.T, (q * np.cosh(e) - k * np.sinh(e)) @ b
                """,
                "scale-forgotten",
            ),
            Wrong(
                """
                import numpy as np

                def keys_and_queries(w_k, w_q, gradient, clock):
                    a, gamma, b = np.linalg.svd(gradient)
                    e = np.exp(gamma * clock / np.sqrt(len(w_k)))
                    return (w_k @ a * e) @ a.T, (w_q @ b.T * e) @ b
                """,
                "each-alone",
            ),
            Wrong(
                """
                import numpy as np

                def keys_and_queries(w_k, w_q, gradient, clock):
                    gamma, u = np.linalg.eigh((gradient + gradient.T) / 2)
                    e = gamma * clock / np.sqrt(len(w_k))
                    k, q = w_k @ u, w_q @ u
                    return (k * np.cosh(e) - q * np.sinh(e)) @ u.T, (q * np.cosh(e) - k * np.sinh(e)) @ u.T
                """,
                "not-symmetric",
            ),
        ),
        hidden=_hidden_linear,
        explanation=r"""
            With the singular value decomposition $\mathbf{G} = \sum_i \gamma_i \mathbf{a}_i \mathbf{b}_i^\top$ the equations fall apart
            into pairs: $\mathbf{k} = \mathbf{W}^K \mathbf{a}$ and $\mathbf{q} = \mathbf{W}^Q \mathbf{b}$ obey $\dot{\mathbf{k}} = -c\,\mathbf{q}$,
            $\dot{\mathbf{q}} = -c\,\mathbf{k}$ with $c = \gamma/\sqrt{d_a}$. The difference grows like $e^{ct}$, the sum shrinks like
            $e^{-ct}$, so $\mathbf{k}(t) = \cosh(ct)\,\mathbf{k} - \sinh(ct)\,\mathbf{q}$, and the same with the letters exchanged.
        """,
    ),
]
