"""Exercises of Section 8.1."""

import numpy as np

from exercises.format import Exercise, Wrong
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


EXERCISES: list[Exercise] = [
    Exercise(
        id="8.1-cosine-distance",
        title="Figure 5's measure of rotation",
        level="warm-up",
        minutes=5,
        objective="separating a change of direction from a change of norm",
        function="rotation_between",
        statement=r"""
            The caption of Figure 5 measures the rotation of a weight matrix as $\frac{1 - cs}{2}$, with $cs$ the cosine similarity
            of the matrix at two steps, taken as two long vectors. `a` and `b` are arrays of the same shape, neither zero. Return
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
        objective="seeing both small factors in the gradient of W_K",
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
]
