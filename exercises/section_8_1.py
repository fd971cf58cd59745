"""Exercises of Section 8.1."""

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
from topiclib.checks.base import Answer, as_array, close, expect


def _hidden_distance(answer: Answer) -> None:
    rng = np.random.default_rng(181)
    a, b = rng.normal(size=(6, 4)), rng.normal(size=(6, 4))
    right = (1 - (a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum())) / 2
    found = as_array(answer(a, b), (), "one number")
    expect(close(found, right, 1e-5), "other-matrices", "it fails on other matrices.")


def _hidden_key_gradient(answer: Answer) -> None:
    rng = np.random.default_rng(182)
    w_q, w_v, x = rng.normal(size=(5, 7)), rng.normal(size=(7, 7)), rng.dirichlet(np.ones(7))

    def loss(w_k: np.ndarray) -> float:
        weights = x * np.exp(w_k.T @ w_q[:, 3] / 5**0.5)
        return float(((w_v @ weights / weights.sum() - np.eye(7)[2]) ** 2).sum())

    right = np.zeros((5, 7))
    for at in np.ndindex(right.shape):
        change = np.zeros_like(right)
        change[at] = 1e-5
        right[at] = (loss(change) - loss(-change)) / 2e-5
    found = as_array(answer(w_q, w_v, x, 3, 2), (5, 7), "the gradient")
    expect(close(found, right, 1e-4), "other-numbers", "it fails on another document.")


def _hidden_alternate(answer: Answer) -> None:
    rng = np.random.default_rng(183)
    left, _, right = np.linalg.svd(rng.normal(size=(5, 4)), full_matrices=False)
    losses = as_array(answer(left * [3.0, 1.0, 0.5, 0.1] @ right, rng.normal(size=5), 30), (60,), "two losses a round")
    expect(close(losses[-1], 1.26, 1e-4), "other-numbers", "after many rounds it should be near the best rank-one fit.")


def _hidden_trembling(answer: Answer, asked: str = "distance") -> None:
    rng = np.random.default_rng(810)
    for size, step, lag in ((3, 0, 4), (5, 7, 1), (2, 400, 6)):
        start, rest, noise = rng.normal(size=size), rng.normal(size=size), rng.uniform(0.1, 0.5, size)
        pull = rng.uniform(0.05, 0.9, size)
        found = as_array(answer(start, rest, pull, noise, step, lag), (), "one number")
        # How each of the independent pieces, the start and every step's noise, stands in the two weights.
        ages = np.arange(step + lag)[:, None]
        late = (1 - pull) ** ages[::-1] * noise
        early = np.where(ages < step, (1 - pull) ** (step - 1 - ages).clip(0) * noise, 0)
        now, later = (start - rest) * (1 - pull) ** step, (start - rest) * (1 - pull) ** (step + lag)
        values = {
            "distance": np.sum((later - now) ** 2) + np.sum((late - early) ** 2),
            "inner product": np.sum((now + rest) * (later + rest)) + np.sum(late * early),
            "middle": np.sum((now + later) ** 2) / 4 + np.sum((late + early) ** 2) / 4,
        }
        expect(close(found, values[asked], 1e-4), "other-numbers", "it fails for other numbers.")


EXERCISES: list[Exercise] = [
    Exercise(
        id="8.1-cosine-distance",
        title="Figure 5's measure of rotation",
        level="warm-up",
        minutes=5,
        objective="separating a change of direction from a change of norm",
        prerequisites=(
            "cosine similarity",
            "[the distance of Figure 5](08_1_two_stages_discussed.ipynb#a-plateau-that-rotates)",
        ),
        function="rotation_between",
        statement=r"""
            The caption of Figure 5 measures the rotation of a weight matrix as $\frac{1 - \text{cs}}{2}$, with $\text{cs}$ the
            cosine similarity of the matrix at two steps, taken as two long vectors. `a` and `b` are arrays of the same shape, neither zero. Return
            the number.
        """,
        stub='''
            def rotation_between(a, b):
                """The cosine distance (1 - cs) / 2 of two matrices."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def rotation_between(a, b):
                cosine = (a * b).sum() / (np.linalg.norm(a) * np.linalg.norm(b))
                return (1 - cosine) / 2
        """,
        alternative="""
            import numpy as np

            def rotation_between(a, b):
                u, w = a.ravel() / np.sqrt((a**2).sum()), b.ravel() / np.sqrt((b**2).sum())
                return ((u - w) ** 2).sum() / 4
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def rotation_between(a, b):
                    return 1 - (a * b).sum() / (np.linalg.norm(a) * np.linalg.norm(b))
                """,
                "not-halved",
            ),
            Wrong(
                """
                import numpy as np

                def rotation_between(a, b):
                    cosines = (a * b).sum(axis=1) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))
                    return (1 - cosines.mean()) / 2
                """,
                "row-by-row",
            ),
            Wrong(
                """
                import numpy as np

                def rotation_between(a, b):
                    return (1 - (a * b).sum() / (a * a).sum()) / 2
                """,
                "norm-left-in",
            ),
            Wrong(
                """
                import numpy as np

                def rotation_between(a, b):
                    cosine = (a * b).sum() / (np.linalg.norm(a) * np.linalg.norm(b))
                    return np.arccos(np.clip(cosine, -1, 1)) / np.pi
                """,
                "angle",
            ),
        ),
        hidden=_hidden_distance,
        explanation=r"""
            Both norms are divided out, so that a matrix which only grows does not rotate. For small angles the distance is a quarter
            of the squared angle. So a distance of a millionth is an angle of two thousandths.
        """,
    ),
    Exercise(
        id="8.1-key-gradient",
        title="the gradient of the keys at the start",
        level="core",
        minutes=20,
        objective="seeing both small factors in the gradient of the keys",
        prerequisites=(
            "[the gradients at the start](08_1_two_stages_discussed.ipynb#the-gradients-at-the-start)",
            "derivative of a softmax",
        ),
        graded=True,
        function="key_gradient",
        statement=r"""
            One document and one selected position. The document shows token $k$ with share `x[k]`; the position shows token
            `query`, and its hidden word is `target`. Attention weights are proportional to
            $x_k \exp(\mathbf{W}^K_{:k} \cdot \mathbf{W}^Q_{:q} / \sqrt{d_a})$ with $q$ the query, embeddings are one-hot, the
            prediction is $\mathbf{W}^V$ times the attention weights, and the loss is the squared distance to the one-hot target.
            Return its gradient by $\mathbf{W}^K$ at $\mathbf{W}^K = 0$, an array of shape $(d_a, V)$. `w_q` has shape $(d_a, V)$,
            `w_v` has shape $(V, V)$.
        """,
        stub='''
            def key_gradient(w_q, w_v, x, query, target):
                """The gradient of the squared loss of one position by W_K, at W_K = 0."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def key_gradient(w_q, w_v, x, query, target):
                f = w_v @ x
                slope = 2 * (f - np.eye(len(x))[target])
                by_score = x * (w_v.T @ slope - f @ slope)
                return np.outer(w_q[:, query], by_score) / np.sqrt(len(w_q))
        """,
        alternative="""
            import numpy as np
            import torch

            def key_gradient(w_q, w_v, x, query, target):
                w_q, w_v, x = (torch.as_tensor(np.asarray(value, dtype=float)) for value in (w_q, w_v, x))
                w_k = torch.zeros_like(w_q, requires_grad=True)
                attention = (w_k.T @ w_q[:, query] / len(w_q) ** 0.5 + x.log()).softmax(dim=0)
                loss = (w_v @ attention - torch.eye(len(x), dtype=x.dtype)[target]).square().sum()
                loss.backward()
                return w_k.grad
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def key_gradient(w_q, w_v, x, query, target):
                    slope = 2 * (w_v @ x - np.eye(len(x))[target])
                    by_score = x * (w_v.T @ slope)
                    return np.outer(w_q[:, query], by_score) / np.sqrt(len(w_q))
                """,
                "softmax-not-centred",
            ),
            Wrong(
                """
                import numpy as np

                def key_gradient(w_q, w_v, x, query, target):
                    f = w_v @ x
                    slope = 2 * (f - np.eye(len(x))[target])
                    by_score = x * (w_v.T @ slope - f @ slope)
                    return np.outer(w_q[:, query], by_score)
                """,
                "head-size-forgotten",
            ),
            Wrong(
                """
                import numpy as np

                def key_gradient(w_q, w_v, x, query, target):
                    f = w_v @ x
                    slope = f - np.eye(len(x))[target]
                    by_score = x * (w_v.T @ slope - f @ slope)
                    return np.outer(w_q[:, query], by_score) / np.sqrt(len(w_q))
                """,
                "half",
            ),
            Wrong(
                """
                import numpy as np

                def key_gradient(w_q, w_v, x, query, target):
                    f = w_v @ x
                    slope = 2 * (f - np.eye(len(x))[target])
                    by_score = x * (w_v.T @ slope - f @ slope)
                    return np.outer(w_q.sum(axis=1), by_score) / np.sqrt(len(w_q))
                """,
                "all-queries",
            ),
            Wrong(
                """
                import numpy as np

                def key_gradient(w_q, w_v, x, query, target):
                    f = w_v @ x
                    slope = 2 * (f - np.eye(len(x))[target])
                    by_score = x * (w_v @ slope - f @ slope)
                    return np.outer(w_q[:, query], by_score) / np.sqrt(len(w_q))
                """,
                "values-transposed",
            ),
        ),
        hidden=_hidden_key_gradient,
        explanation=r"""
            A score moves the weights by the softmax's derivative, $x_k (\mathbf{1}[k = l] - x_l)$, so the prediction moves by
            $x_k (\mathbf{W}^V_{:k} - f)$. The score of key $k$ moves with $\mathbf{W}^K_{:k}$ by $\mathbf{W}^Q_{:q}/\sqrt{d_a}$.
            Both factors are there to see: the outer product has $\mathbf{W}^Q$ on one side and $\mathbf{W}^V$ on the other.
            What the columns of $\mathbf{W}^Q$ sum to appears nowhere.
        """,
    ),
    Exercise(
        id="8.1-alternating",
        title="alternating optimisation on the smallest example",
        level="challenge",
        minutes=20,
        objective="what one stage does, and what a second round adds",
        prerequisites=(
            "[one round, and more](08_1_two_stages_discussed.ipynb#one-round-and-more)",
            "least squares in one unknown vector",
        ),
        function="alternate",
        statement=r"""
            The loss $\|\mathbf{B} - \mathbf{u}\mathbf{v}^\top\|^2$ has two unknown vectors. `target` is $\mathbf{B}$, of shape
            $(n, m)$, and `u` a start for $\mathbf{u}$, not zero. One round: find the best $\mathbf{v}$ with $\mathbf{u}$ frozen,
            then the best $\mathbf{u}$ with $\mathbf{v}$ frozen. Do `rounds` rounds and return the loss after each *stage*, a list of
            `2 * rounds` numbers.
        """,
        stub='''
            def alternate(target, u, rounds):
                """Losses after each stage of the alternating optimisation, two for each round."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def alternate(target, u, rounds):
                losses = []
                for _ in range(rounds):
                    v = target.T @ u / (u @ u)
                    losses.append(((target - np.outer(u, v)) ** 2).sum())
                    u = target @ v / (v @ v)
                    losses.append(((target - np.outer(u, v)) ** 2).sum())
                return losses
        """,
        alternative="""
            import numpy as np

            def alternate(target, u, rounds):
                # A best fit takes away the part of the target that lies along the frozen vector.
                losses, frozen, total = [], np.asarray(u), (target**2).sum()
                for stage in range(2 * rounds):
                    along = frozen @ (target if stage % 2 == 0 else target.T) / np.linalg.norm(frozen)
                    losses.append(total - along @ along)
                    frozen = along
                return np.array(losses)
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def alternate(target, u, rounds):
                    losses = []
                    for _ in range(rounds):
                        v = target.T @ u
                        losses.append(((target - np.outer(u, v)) ** 2).sum())
                        u = target @ v
                        losses.append(((target - np.outer(u, v)) ** 2).sum())
                    return losses
                """,
                "not-the-best",
            ),
            Wrong(
                """
                import numpy as np

                def alternate(target, u, rounds):
                    losses = []
                    v = target.T @ u / (u @ u)
                    for _ in range(rounds):
                        u, v = target @ v / (v @ v), target.T @ u / (u @ u)
                        losses += [((target - np.outer(u, v)) ** 2).sum()] * 2
                    return losses
                """,
                "both-at-once",
            ),
            Wrong(
                """
                import numpy as np

                def alternate(target, u, rounds):
                    start, losses = u, []
                    for _ in range(rounds):
                        v = target.T @ start / (start @ start)
                        losses.append(((target - np.outer(start, v)) ** 2).sum())
                        u = target @ v / (v @ v)
                        losses.append(((target - np.outer(u, v)) ** 2).sum())
                    return losses
                """,
                "starts-again",
            ),
            Wrong(
                """
                import numpy as np

                def alternate(target, u, rounds):
                    losses = []
                    for _ in range(rounds):
                        v = target.T @ u / (u @ u)
                        u = target @ v / (v @ v)
                        losses.append(((target - np.outer(u, v)) ** 2).sum())
                    return losses
                """,
                "once-a-round",
            ),
        ),
        hidden=_hidden_alternate,
        explanation=r"""
            With one vector frozen the problem is least squares: $\mathbf{v} = \mathbf{B}^\top\mathbf{u}/\|\mathbf{u}\|^2$. No stage can
            raise the loss. The first round depends on the start. Many rounds go to the best rank-one fit: this is the power
            iteration. In the transformer the first round is the paper's two stages.
        """,
    ),
    Exercise(
        id="8.1-trembling",
        title="how far weights have moved on their way and at their place",
        level="challenge",
        minutes=40,
        objective="to tell approach, trembling and their memory apart in one exact expectation",
        prerequisites=(
            "[a plateau that rotates](08_1_two_stages_discussed.ipynb#a-plateau-that-rotates)",
            "variance and covariance of sums",
            "geometric series",
        ),
        graded=True,
        function="trembling",
        statement=r"""
            Weights $\mathbf{w}_t$ with $D$ entries begin at $\mathbf{w}_0$ = `start` and are pulled to `rest`. In each step entry $i$ is moved by
            $-h_i$ times its distance from rest, with $h_i$ = `pull[i]` between 0 and 1, and by noise of mean zero and standard deviation
            `noise[i]`, independent of all other noise. The first four arguments have shape $(D,)$. With $t$ = `step` $\geq 0$ and $n$ = `lag` $\geq 1$, return
            {{asked}}. It must be exact for every $t$, on the way to the plateau too.
        """,
        stub="""
            def trembling(start, rest, pull, noise, step, lag):
                \"\"\"{{described}}.\"\"\"
                raise NotImplementedError("your answer")
        """,
        reference="""
            import numpy as np

            def trembling(start, rest, pull, noise, step, lag):
                start, rest, keep, noise = np.asarray(start), np.asarray(rest), 1 - np.asarray(pull), np.asarray(noise)
                now, later = keep**step * (start - rest), keep ** (step + lag) * (start - rest)
                full = noise**2 / (1 - keep**2)
                var, end = full * (1 - keep ** (2 * step)), full * (1 - keep ** (2 * step + 2 * lag))
                cov = keep**lag * var
                return {{result}}
        """,
        alternative="""
            import numpy as np

            def trembling(start, rest, pull, noise, step, lag):
                rest = np.asarray(rest, dtype=float)
                now, var = np.asarray(start, dtype=float) - rest, np.zeros_like(rest)
                for _ in range(step):
                    now, var = now - pull * now, (1 - pull) ** 2 * var + noise**2
                later, end, cov = now, var, var
                for _ in range(lag):
                    later, end, cov = later - pull * later, (1 - pull) ** 2 * end + noise**2, cov - pull * cov
                return {{result}}
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def trembling(start, rest, pull, noise, step, lag):
                    rho = 1 - pull
                    off = 0 * start
                    var = noise**2 * (1 - rho ** (2 * step)) / (1 - rho**2)
                    now, later = off * rho**step, off * rho ** (step + lag)
                    cov = var * rho**lag
                    end = var * rho ** (2 * lag) + noise**2 * (1 - rho ** (2 * lag)) / (1 - rho**2)
                    return {{result}}
                """,
                "already-at-rest",
            ),
            Wrong(
                """
                import numpy as np

                def trembling(start, rest, pull, noise, step, lag):
                    rho = 1 - pull
                    off = start - rest
                    var = noise**2 / (1 - rho**2)
                    now, later = off * rho**step, off * rho ** (step + lag)
                    cov = var * rho**lag
                    end = var * rho ** (2 * lag) + noise**2 * (1 - rho ** (2 * lag)) / (1 - rho**2)
                    return {{result}}
                """,
                "always-on-the-plateau",
            ),
            Wrong(
                """
                import numpy as np

                def trembling(start, rest, pull, noise, step, lag):
                    rho = np.exp(-pull)
                    off = start - rest
                    var = noise**2 * (1 - rho ** (2 * step)) / (1 - rho**2)
                    now, later = off * rho**step, off * rho ** (step + lag)
                    cov = var * rho**lag
                    end = var * rho ** (2 * lag) + noise**2 * (1 - rho ** (2 * lag)) / (1 - rho**2)
                    return {{result}}
                """,
                "no-steps",
            ),
            Wrong(
                """
                import numpy as np

                def trembling(start, rest, pull, noise, step, lag):
                    rho = 1 - pull
                    off = start - rest
                    var = noise**2 * (1 - rho ** (2 * step)) / (1 - rho**2)
                    now, later = off * rho**step, off * rho ** (step + lag)
                    cov = 0 * var
                    end = var * rho ** (2 * lag) + noise**2 * (1 - rho ** (2 * lag)) / (1 - rho**2)
                    return {{result}}
                """,
                "no-memory",
            ),
            Wrong(
                """
                import numpy as np

                def trembling(start, rest, pull, noise, step, lag):
                    rho = 1 - pull
                    off = start - rest
                    var = noise * (1 - rho ** (2 * step)) / (1 - rho**2)
                    now, later = off * rho**step, off * rho ** (step + lag)
                    cov = var * rho**lag
                    end = var * rho ** (2 * lag) + noise * (1 - rho ** (2 * lag)) / (1 - rho**2)
                    return {{result}}
                """,
                "noise-not-squared",
            ),
            Wrong(
                """
                import numpy as np

                def trembling(start, rest, pull, noise, step, lag):
                    rho = 1 - pull
                    off = start - rest
                    var = noise**2 * step
                    now, later = off * rho**step, off * rho ** (step + lag)
                    cov = var
                    end = var * rho ** (2 * lag) + noise**2 * lag
                    return {{result}}
                """,
                "nothing-pulls-noise-back",
            ),
        ),
        hidden=_hidden_trembling,
        variants=(
            Variant(
                {"asked": "distance"},
                {
                    "asked": r"the expected squared distance $\mathbb{E}\|\mathbf{w}_{t+n} - \mathbf{w}_t\|^2$",
                    "described": "Expected squared distance between the weights after `step` steps and after `lag` steps more",
                    "result": "np.sum((later - now) ** 2 + var + end - 2 * cov)",
                },
            ),
            Variant(
                {"asked": "inner product"},
                {
                    "asked": r"the expected inner product $\mathbb{E}[\mathbf{w}_t \cdot \mathbf{w}_{t+n}]$",
                    "described": "Expected inner product of the weights after `step` steps and after `lag` steps more",
                    "result": "np.sum((now + rest) * (later + rest) + cov)",
                },
            ),
            Variant(
                {"asked": "middle"},
                {
                    "asked": r"the expected squared distance of the midpoint of $\mathbf{w}_t$ and $\mathbf{w}_{t+n}$ from rest",
                    "described": "Expected squared distance from rest of the mean of the weights after `step` and `step + lag` steps",
                    "result": "np.sum((now + later) ** 2 + var + end + 2 * cov) / 4",
                },
            ),
        ),
        explanation=r"""
            Entry by entry, with $\rho = 1 - h$: what is left of the start is $\rho^t$ times its distance from rest, and noise that came in $k$ steps ago has
            shrunk by $\rho^k$. So the mean is $\text{rest} + \rho^t(\text{start} - \text{rest})$, the variance $\sigma^2 \frac{1 - \rho^{2t}}{1 - \rho^2}$, and the covariance of the weights at
            two steps is $\rho^n$ times the earlier variance: what has come in since is independent. Every quadratic expression follows. On the plateau, $t \to \infty$, the distance is
            $\frac{2 \sigma^2}{1 - \rho^2}(1 - \rho^n)$, the curve of the chapter's figure.
        """,
    ),
]

PAPER = [
    PaperExercise(
        id="8.1-paper-random-push",
        title="why a random push turns and does not stretch",
        level="core",
        minutes=25,
        objective="to make the chapter's remark on trembling a statement with a number, and to test it",
        prerequisites=(
            "[a plateau that rotates](08_1_two_stages_discussed.ipynb#a-plateau-that-rotates)",
            "orthogonal decomposition of a vector",
        ),
        graded=True,
        statement=r"""
            A weight vector $\mathbf{w}$ of length $\ell$ with $D$ entries is pushed by a random vector $\boldsymbol\delta$ with independent entries of mean zero and variance $\sigma^2$,
            where $\sigma^2 D$ is much smaller than $\ell^2$.

            1. To first order in $\boldsymbol\delta$, find the root mean square of the relative change of length and of the angle between $\mathbf{w}$ and
               $\mathbf{w} + \boldsymbol\delta$, and their quotient.
            2. Compute $\mathbb{E}\|\mathbf{w} + \boldsymbol\delta\|^2 - \ell^2$ exactly. Why does the norm stay flat on the plateau all the same, although push follows push?
            3. Conclude: what can one say about the loss from the fact that a norm is flat while the direction moves?
            4. In the chapter $\mathbf{W}^V$ has about ten thousand entries, turns by 0.073 in ten steps, and its norm changes by half a percent. Compare with part 1. What does
               this say about the noise?
        """,
        rubric=(
            (
                3,
                "Part 1: splits the push into a part along w (one direction) and D - 1 across; relative change sigma/l, angle sigma sqrt(D - 1)/l, quotient sqrt(D - 1). Two points if one of the two is right with its reason; D for D - 1 is no mistake that matters.",
            ),
            (
                2,
                "Part 2: the mean of the squared length grows by D sigma^2, and on the plateau the penalty or the loss takes off as much per step as noise adds. One point each.",
            ),
            (
                2,
                "Part 3: nothing, or nearly so: any noise in many dimensions looks like that, whatever the loss; so it is no evidence for a rotation that the loss wants.",
            ),
            (
                3,
                "Part 4: measured quotient about 15 where even noise would have about 100 (one point); so the noise is not even in all directions but lies in few, some hundreds at most, or has a part along w (one point); a reason from the setting, such as batches that move whole topics or words together (one point).",
            ),
        ),
        model_answer=r"""
            1. Write $\boldsymbol\delta = r\, \mathbf{w}/\ell + \mathbf{s}$ with $\mathbf{s}$ orthogonal to $\mathbf{w}$. To first order the length changes by $r$ and the angle is $\|\mathbf{s}\|/\ell$. $r$ is a sum of
            independent entries with weights of squared sum one, so $\mathbb{E}[r^2] = \sigma^2$; and $\mathbb{E}\|\boldsymbol\delta\|^2 = D\sigma^2$ leaves $\mathbb{E}\|\mathbf{s}\|^2 = (D - 1)\sigma^2$. So the relative change of
            length is $\sigma/\ell$, the angle $\sigma\sqrt{D - 1}/\ell$, and the quotient $\sqrt{D - 1}$.

            2. $\|\mathbf{w} + \boldsymbol\delta\|^2 = \ell^2 + 2\, \mathbf{w} \cdot \boldsymbol\delta + \|\boldsymbol\delta\|^2$, with mean $\ell^2 + D\sigma^2$. Left alone, the squared norm would rise by $D\sigma^2$ with every push. On the plateau the
            pull back to rest, by the penalty and the loss, takes off on average as much as noise adds. What is flat is a balance.

            3. Next to nothing. A push without any preference turns the vector $\sqrt{D - 1}$ times as much as it stretches it, for any loss. So a flat norm with a moving direction is
            what noise looks like in many dimensions, and needs no rotation that the loss favours. To tell these apart takes another test, such as larger batches or longer lags.

            4. The quotient is $0.073 / 0.005 \approx 15$, where noise that is even in all $D \approx 10^4$ directions would give about 100 (a little more, if the mean size is taken for the root mean square).
            So the norm moves more than even noise would make it. The noise is not even: it lies mostly in few directions, about two hundred by this count, and some of it lies along $\mathbf{w}$. That is plausible: a
            batch has more of some topics and words than of others, and moves whole rows and blocks together, and $\mathbf{W}^V$ itself consists of these blocks.
        """,
    ),
]
