"""Exercises of Section 5.1."""

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
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


def _hidden_waking(answer: Answer, penalised: str = "all") -> None:
    for speed, pull, penalty, start, size in ((0.7, 0.3, 0.05, 1e-6, 0.5), (2.0, 1.1, 0.2, 1e-3, 2.0)):
        found = float(as_array(answer(speed, pull, penalty, start, size), (), "the clock, one number"))
        t = np.linspace(0, found, 400_001)
        n = speed * t if penalised == "attention" else speed * -np.expm1(-2 * penalty * t) / (2 * penalty)
        rate = pull * n - (0 if penalised == "values" else 2 * penalty)
        grown = ((rate[1:] + rate[:-1]) / 2).sum() * t[1]
        expect(abs(grown - np.log(size / start)) < 1e-3, "other-numbers", "it fails on other numbers.")


EXERCISES: list[Exercise] = [
    Exercise(
        id="5.1-growth",
        title="when a norm has done most of its growth",
        level="warm-up",
        minutes=6,
        objective="making 'the norm has levelled off' a number",
        prerequisites=(
            "[how the chapter scores two stages](05_1_two_stages.ipynb#figure-4-drawn-again)",
            "NumPy's indexing",
        ),
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
        prerequisites=(
            "[how fast attention wakes up](05_1_two_stages.ipynb#how-fast-attention-wakes-up)",
            "linear differential equations of first order",
        ),
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
                """(lambda, clock): the largest penalty under which attention wakes up, and when W_V is then 90% done."""
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
        graded=True,
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
        prerequisites=(
            "[how fast attention wakes up](05_1_two_stages.ipynb#how-fast-attention-wakes-up)",
            "the singular value decomposition",
            "linear differential equations",
        ),
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
    Exercise(
        id="5.1-waking-clock",
        title="the alarm clock of attention",
        level="challenge",
        minutes=25,
        objective="adding up a growth rate that changes on the way",
        prerequisites=(
            "[how fast attention wakes up](05_1_two_stages.ipynb#how-fast-attention-wakes-up)",
            "integrals of exponentials",
            "finding a root by bisection",
        ),
        function="waking_clock",
        statement=r"""
            The model of exercise 5.1-critical-penalty once more. The loss makes $n = \|\mathbf{W}^V\|$ grow from zero with constant `speed`, and makes the fastest direction of $\mathbf{W}^K$ and $\mathbf{W}^Q$ grow at the rate `pull` times $n$.
            The penalty is $\lambda$ times the sum of squares, with $\lambda$ = `penalty` > 0, but {{who}}. Training is gradient descent with small steps; time is the clock. The size of the direction is `start` at the clock zero. Return the clock at which it
            reaches `size` > `start`, within one part in ten thousand, and `math.inf` if it never does. `size / start` may be as large as $10^9$.
        """,
        stub='''
            def waking_clock(speed, pull, penalty, start, size):
                """Clock at which the fastest direction of attention reaches the given size; infinity if it never does."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def waking_clock(speed, pull, penalty, start, size):
                rate = 2 * penalty
                exponent = lambda t: {{exponent}}
                goal, low, high = np.log(size / start), 0.0, 1.0
                while exponent(high) < goal:
                    high = 2 * high
                    if high > 1e9:
                        return np.inf
                for _ in range(200):
                    middle = (low + high) / 2
                    low, high = (middle, high) if exponent(middle) < goal else (low, middle)
                return low
        """,
        alternative="""
            import numpy as np

            def waking_clock(speed, pull, penalty, start, size):
                end = 1.0
                while end < 1e8:
                    t = np.linspace(0, end, 20_001)
                    growth = pull * ({{values}}) - {{decay}}
                    grown = np.concatenate([[0], np.cumsum((growth[1:] + growth[:-1]) / 2 * t[1])])
                    passed = grown >= np.log(size) - np.log(start)
                    if passed.any():
                        k = passed.argmax()
                        return np.interp(np.log(size / start), grown[k - 1 : k + 1], t[k - 1 : k + 1])
                    end = 2 * end
                return float("inf")
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def waking_clock(speed, pull, penalty, start, size):
                    penalty = penalty / 2
                    rate = 2 * penalty
                    exponent = lambda t: {{exponent}}
                    goal, low, high = np.log(size / start), 0.0, 1.0
                    while exponent(high) < goal:
                        high = 2 * high
                        if high > 1e9:
                            return np.inf
                    for _ in range(200):
                        middle = (low + high) / 2
                        low, high = (middle, high) if exponent(middle) < goal else (low, middle)
                    return low
                """,
                "gradient-of-the-square",
            ),
            Wrong(
                """
                import numpy as np

                def waking_clock(speed, pull, penalty, start, size):
                    pass
                    rate = 2 * penalty
                    exponent = lambda t: {{product}}
                    goal, low, high = np.log(size / start), 0.0, 1.0
                    while exponent(high) < goal:
                        high = 2 * high
                        if high > 1e9:
                            return np.inf
                    for _ in range(200):
                        middle = (low + high) / 2
                        low, high = (middle, high) if exponent(middle) < goal else (low, middle)
                    return low
                """,
                "rate-times-clock",
            ),
            Wrong(
                """
                import numpy as np

                def waking_clock(speed, pull, penalty, start, size):
                    pass
                    rate = 2 * penalty
                    exponent = lambda t: {{exponent}}
                    goal, low, high = size / start - 1, 0.0, 1.0
                    while exponent(high) < goal:
                        high = 2 * high
                        if high > 1e9:
                            return np.inf
                    for _ in range(200):
                        middle = (low + high) / 2
                        low, high = (middle, high) if exponent(middle) < goal else (low, middle)
                    return low
                """,
                "not-exponential",
            ),
            Wrong(
                """
                import numpy as np

                def waking_clock(speed, pull, penalty, start, size):
                    pass
                    rate = 2 * penalty
                    exponent = lambda t: {{exponent}}
                    goal, low, high = np.log10(size / start), 0.0, 1.0
                    while exponent(high) < goal:
                        high = 2 * high
                        if high > 1e9:
                            return np.inf
                    for _ in range(200):
                        middle = (low + high) / 2
                        low, high = (middle, high) if exponent(middle) < goal else (low, middle)
                    return low
                """,
                "wrong-logarithm",
            ),
            Wrong(
                """
                import numpy as np

                def waking_clock(speed, pull, penalty, start, size):
                    pass
                    rate = 2 * penalty
                    exponent = lambda t: {{exponent}}
                    goal, low, high = np.log(size) + 20, 0.0, 1.0
                    while exponent(high) < goal:
                        high = 2 * high
                        if high > 1e9:
                            return np.inf
                    for _ in range(200):
                        middle = (low + high) / 2
                        low, high = (middle, high) if exponent(middle) < goal else (low, middle)
                    return low
                """,
                "start-ignored",
            ),
            Wrong(
                """
                import numpy as np

                def waking_clock(speed, pull, penalty, start, size):
                    pull = 1.0
                    rate = 2 * penalty
                    exponent = lambda t: {{exponent}}
                    goal, low, high = np.log(size / start), 0.0, 1.0
                    while exponent(high) < goal:
                        high = 2 * high
                        if high > 1e9:
                            return np.inf
                    for _ in range(200):
                        middle = (low + high) / 2
                        low, high = (middle, high) if exponent(middle) < goal else (low, middle)
                    return low
                """,
                "pull-or-speed-lost",
            ),
        ),
        hidden=_hidden_waking,
        graded=True,
        explanation=r"""
            The logarithm of the size is the integral of the growth rate, not the rate times the clock. {{why}} The exponent must reach $\ln(\text{size}/\text{start})$, and it passes each positive value once, so bisection finds the clock.
        """,
        variants=(
            Variant(
                {"penalised": "all"},
                {
                    "who": "all weights feel it",
                    "exponent": "pull * speed / rate * (t + np.expm1(-rate * t) / rate) - rate * t",
                    "product": "t * (pull * speed / rate * -np.expm1(-rate * t) - rate)",
                    "values": "speed * -np.expm1(-2 * penalty * t) / (2 * penalty)",
                    "decay": "2 * penalty",
                    "why": "All feel the penalty: $n$ rests at $\\text{speed}/(2\\lambda)$, and the exponent is $\\text{pull} \\int n\\, dt - 2\\lambda t$. It falls at first and then rises, if $\\text{pull} \\cdot \\text{speed} > 4 \\lambda^2$; otherwise attention never wakes up.",
                },
            ),
            Variant(
                {"penalised": "values"},
                {
                    "who": "only $\\mathbf{W}^V$ feels it, and $\\mathbf{W}^K$, $\\mathbf{W}^Q$ do not",
                    "exponent": "pull * speed / rate * (t + np.expm1(-rate * t) / rate)",
                    "product": "t * pull * speed / rate * -np.expm1(-rate * t)",
                    "values": "speed * -np.expm1(-2 * penalty * t) / (2 * penalty)",
                    "decay": "0.0",
                    "why": "Only the values feel the penalty: $n$ rests at $\\text{speed}/(2\\lambda)$, and the exponent is $\\text{pull} \\int n\\, dt$. It rises for ever, so attention wakes up at every penalty.",
                },
            ),
            Variant(
                {"penalised": "attention"},
                {
                    "who": "only $\\mathbf{W}^K$ and $\\mathbf{W}^Q$ feel it, and $\\mathbf{W}^V$ does not",
                    "exponent": "pull * speed * t**2 / 2 - rate * t",
                    "product": "t * (pull * speed * t - rate)",
                    "values": "speed * t",
                    "decay": "2 * penalty",
                    "why": "Only attention feels the penalty: $n = \\text{speed} \\cdot t$, and the exponent is $\\frac{1}{2} \\text{pull} \\cdot \\text{speed} \\cdot t^2 - 2\\lambda t$. It falls at first, but a parabola rises in the end, so attention wakes up at every penalty.",
                },
            ),
        ),
    ),
]

PAPER: list[PaperExercise] = [
    PaperExercise(
        id="5.1-paper-why-later",
        title="why attention is later, and what never changes",
        level="core",
        minutes=30,
        objective="bounding a growth, and finding a conserved quantity",
        prerequisites=(
            "[how fast attention wakes up](05_1_two_stages.ipynb#how-fast-attention-wakes-up)",
            "inequalities for linear differential equations (Gronwall)",
        ),
        statement=r"""
            Gradient descent with small steps, no penalty, no attention biases, one-hot embeddings: $\dot{\mathbf{W}}^K = -\mathbf{W}^Q \mathbf{G}^\top / \sqrt{d_a}$ and $\dot{\mathbf{W}}^Q = -\mathbf{W}^K \mathbf{G} / \sqrt{d_a}$, where $\mathbf{G}$ may change with time. Suppose that always
            $\|\mathbf{G}\|_2 \leq C \|\mathbf{W}^V\|$ (spectral norm on the left) and $\|\mathbf{W}^V\| \leq \varepsilon + \mu t$, with constants $C$ and $\mu$, and that $\|\mathbf{W}^K\|_F, \|\mathbf{W}^Q\|_F \leq \varepsilon$ at the clock zero. (a) What happens to $\mathbf{W}^K$ and $\mathbf{W}^Q$ if both start at zero, and what if only
            $\mathbf{W}^Q$ does? (b) Fix a size $\delta$. Prove that the clock at which $\|\mathbf{W}^K\|_F + \|\mathbf{W}^Q\|_F$ can first reach $\delta$ grows without bound as $\varepsilon \to 0$, at least like a constant times $\sqrt{\ln(\delta / \varepsilon)}$. (c) Prove that
            $\mathbf{W}^K \mathbf{W}^{K\top} - \mathbf{W}^Q \mathbf{W}^{Q\top}$ never changes, whatever $\mathbf{G}$ does. What follows for the two curves of Figure 4? (d) Does any of this say that attention turns to topics? One sentence.
        """,
        graded=True,
        rubric=(
            (
                2,
                "(a): both at zero stay at zero for ever (1 point); if only the queries are zero they are set in motion by the keys, at once or as soon as G is not zero on them (1 point).",
            ),
            (
                2,
                "(b): a differential inequality for the sum of the norms, with the rate C times the norm of W_V over the root of d_a.",
            ),
            (
                2,
                "(b): integrates it to epsilon t + mu t^2 / 2 in the exponent, and concludes that t grows like the root of the logarithm. 1 point for an exponent linear in t.",
            ),
            (2, "(c): differentiates both products and sees that they have the same derivative."),
            (
                1,
                "(c): the difference of the squared Frobenius norms is the trace, so it stays as small as it was, and the curves of keys and queries run together once they are large.",
            ),
            (
                1,
                "(d): no: norms say that matrices move, not in which direction; in the chapter's main setting it is away from [MASK].",
            ),
        ),
        model_answer=r"""
            Write $K$, $Q$ for the two matrices and $s = \sqrt{d_a}$.

            (a) If both are zero, both derivatives are zero, and they stay zero. If only $Q = 0$, then $\dot{Q} = -K \mathbf{G} / s$: the keys set the queries in motion (as soon as $K \mathbf{G} \neq 0$), and then the queries move the keys.

            (b) Let $y = \|K\|_F + \|Q\|_F$. The norm of a matrix grows no faster than the norm of its derivative, and $\|Q \mathbf{G}^\top\|_F \leq \|Q\|_F \|\mathbf{G}\|_2$. So $\dot{y} \leq \frac{1}{s} \|\mathbf{G}\|_2\, y \leq \frac{C}{s} (\varepsilon + \mu t)\, y$, and with $y(0) \leq 2 \varepsilon$
            $$y(t) \leq 2 \varepsilon \exp\left(\tfrac{C}{s} \left(\varepsilon t + \tfrac{1}{2} \mu t^2\right)\right).$$
            To have $y(t) = \delta$ one needs $\frac{C}{s} (\varepsilon t + \frac{1}{2} \mu t^2) \geq \ln \frac{\delta}{2\varepsilon}$. For $t \geq 1$ and $\varepsilon \leq \mu$ the bracket is at most $\frac{3}{2} \mu t^2$, so $t \geq \sqrt{\frac{2 s}{3 C \mu} \ln \frac{\delta}{2 \varepsilon}}$, once this is larger than 1. It grows without bound as
            $\varepsilon \to 0$. Meanwhile the size of $\mathbf{W}^V$ at a given clock hardly depends on $\varepsilon$: the first stage is over long before.

            (c) $\frac{d}{dt} (K K^\top) = \dot{K} K^\top + K \dot{K}^\top = -\frac{1}{s} (Q \mathbf{G}^\top K^\top + K \mathbf{G} Q^\top)$, and
            $\frac{d}{dt} (Q Q^\top) = -\frac{1}{s} (K \mathbf{G} Q^\top + Q \mathbf{G}^\top K^\top)$. They are equal. The trace of the difference is $\|K\|_F^2 - \|Q\|_F^2$, which therefore stays of the order $\varepsilon^2$: once the norms are much larger than
            $\varepsilon$ the two curves run on top of each other.

            (d) No. All of it is about the sizes of matrices; along which direction they grow is decided by $\mathbf{G}$, and in the main setting of this chapter it is the one away from [MASK].
        """,
    ),
]
