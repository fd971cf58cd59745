"""Exercises of Section 4."""

import numpy as np

from exercises.format import Exercise, Wrong
from topiclib.checks.base import Answer, as_array, close, expect


def _hidden_optimal_bias(answer: Answer) -> None:
    b = as_array(answer(0.4, 0.0, 0.5, 6, 2), (13,), "the bias")
    expect(close(b[1:], -0.2 / (0.6 * 12)), "other-settings", "it fails for p_c = 0.")


def _hidden_smallest_embedding(answer: Answer) -> None:
    w = as_array(answer(0.9, 7, 2), (7, 15), "W_E")
    expect(close((w**2).sum(), 7 / 0.9), "other-settings", "its squared Frobenius norm is not T/a for other settings.")


def _hidden_excess_loss(answer: Answer) -> None:
    rng = np.random.default_rng(41)
    seen, documents = rng.dirichlet(np.ones(7), size=5), rng.dirichlet(np.ones(7), size=5)
    e, b = rng.normal(size=(7, 7)), rng.normal(size=7)
    expected = np.mean([((e @ x + b - p) ** 2).sum() for x, p in zip(seen, documents, strict=True)])
    expect(close(answer(e, b, seen, documents), expected), "other-settings", "it fails on other documents.")


EXERCISES = [
    Exercise(
        id="4-optimal-bias",
        title="what the bias of Theorem 1 subtracts",
        level="core",
        minutes=10,
        objective="to read a constant of a theorem as something that happens to the data",
        function="denoising_bias",
        statement=r"""
            Theorem 1 fixes $\mathbf{b}^{\text{pred}}$ so that it takes away what random replacement adds to the masked document.
            Return that vector, of length $Tv + 1$, such that the block-wise $\mathbf{E} = \frac{1}{a v} \mathbf{I}_T \otimes \mathbf{J}_v$ on the
            words, plus the bias, predicts $p_{\mathbf{w}}$ exactly for every infinitely long document. Mind entry 0.
        """,
        stub='''
            def denoising_bias(p_m, p_c, p_r, num_topics, words_per_topic):
                """b_pred of Theorem 1, entry 0 for [MASK]; shape (T v + 1,)."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def denoising_bias(p_m, p_c, p_r, num_topics, words_per_topic):
                num_words = num_topics * words_per_topic
                b = np.full(num_words + 1, -p_m * p_r / ((1 - (1 - p_c) * p_m) * num_words))
                b[0] = 0
                return b
        """,
        alternative="""
            def denoising_bias(p_m, p_c, p_r, num_topics, words_per_topic):
                true = (1 - p_m) + p_m * p_c
                each = p_m * p_r / (num_topics * words_per_topic) / true
                return [0.0] + [-each] * (num_topics * words_per_topic)
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def denoising_bias(p_m, p_c, p_r, num_topics, words_per_topic):
                    n = num_topics * words_per_topic
                    return np.full(n + 1, -p_m * p_r / ((1 - (1 - p_c) * p_m) * n))
                """,
                "mask-entry",
            ),
            Wrong(
                """
                import numpy as np

                def denoising_bias(p_m, p_c, p_r, num_topics, words_per_topic):
                    n = num_topics * words_per_topic
                    return np.append(0, np.full(n, p_m * p_r / ((1 - (1 - p_c) * p_m) * n)))
                """,
                "sign",
            ),
            Wrong(
                """
                import numpy as np

                def denoising_bias(p_m, p_c, p_r, num_topics, words_per_topic):
                    n = num_topics * words_per_topic
                    return np.append(0, np.full(n, -p_m * p_r / n))
                """,
                "before-the-matrix",
            ),
            Wrong(
                """
                import numpy as np

                def denoising_bias(p_m, p_c, p_r, num_topics, words_per_topic):
                    n = num_topics * words_per_topic
                    return np.append(0, np.full(n, -p_r / ((1 - (1 - p_c) * p_m) * n)))
                """,
                "not-denoised",
            ),
        ),
        hidden=_hidden_optimal_bias,
        explanation=r"""
            A masked document shows word $i$ with probability $a\, p_{\mathbf{w}}(i) + p_m p_r/(Tv)$, where $a = 1 - (1 - p_c) p_m$.
            The block-wise $\mathbf{E}$ averages over a topic and divides by $a$, so the constant part comes out as
            $p_m p_r/(a T v)$, which the bias takes away. The output for [MASK] is 0 already.
        """,
    ),
    Exercise(
        id="4-smallest-embedding",
        title="the smallest embedding that is optimal",
        level="core",
        minutes=15,
        objective="to build a realisable optimum of Theorem 1 with as few dimensions as possible",
        function="embedding",
        statement=r"""
            Theorem 1 does not say how large $d$ must be. Give $\mathbf{W}^E$ of shape $(T, Tv + 1)$, that is with $d = T$, such that
            $\mathbf{E} = \mathbf{W}^{E\top} \mathbf{W}^E$ is the optimum with all $u_i = 0$ whose blocks are constant. `a` is $1 - (1 - p_c) p_m$.
        """,
        stub='''
            def embedding(a, num_topics, words_per_topic):
                """W_E with d = T; column 0 is the embedding of [MASK]."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def embedding(a, num_topics, words_per_topic):
                w = np.zeros((num_topics, num_topics * words_per_topic + 1))
                for word in range(1, w.shape[1]):
                    w[(word - 1) // words_per_topic, word] = 1 / np.sqrt(a * words_per_topic)
                return w
        """,
        alternative="""
            import torch

            def embedding(a, num_topics, words_per_topic):
                entry = (a * words_per_topic) ** -0.5
                words = entry * torch.eye(num_topics).repeat_interleave(words_per_topic, dim=1)
                return torch.cat([torch.zeros(num_topics, 1), words], dim=1).double()
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def embedding(a, num_topics, words_per_topic):
                    words = np.repeat(np.eye(num_topics), words_per_topic, axis=1) / (a * words_per_topic)
                    return np.hstack([np.zeros((num_topics, 1)), words])
                """,
                "no-square-root",
            ),
            Wrong(
                """
                import numpy as np

                def embedding(a, num_topics, words_per_topic):
                    words = np.repeat(np.eye(num_topics), words_per_topic, axis=1) / np.sqrt(a)
                    return np.hstack([np.zeros((num_topics, 1)), words])
                """,
                "not-divided-by-v",
            ),
            Wrong(
                """
                import numpy as np

                def embedding(a, num_topics, words_per_topic):
                    topic = np.arange(num_topics * words_per_topic + 1) // words_per_topic
                    return (topic == np.arange(num_topics)[:, None]) / np.sqrt(a * words_per_topic)
                """,
                "mask-column",
            ),
            Wrong(
                """
                import numpy as np

                def embedding(a, num_topics, words_per_topic):
                    n = num_topics * words_per_topic
                    w = np.ones((num_topics, n + 1)) / np.sqrt(a * n)
                    w[:, 0] = 0
                    return w
                """,
                "not-orthogonal",
            ),
        ),
        hidden=_hidden_smallest_embedding,
        explanation=r"""
            One direction for each topic. $d = T$ is also the least that works: $\mathbf{E}$ must have rank at least $T$, since its blocks tell $T$
            topics apart.
        """,
    ),
    Exercise(
        id="4-excess-loss",
        title="the loss above the best",
        level="challenge",
        minutes=20,
        objective="to check an optimality theorem by computing the loss exactly, without training",
        function="loss_above_best",
        statement=r"""
            With uniform attention every position of a document gets the same prediction $\mathbf{E}\mathbf{x} + \mathbf{b}$, where $\mathbf{x}$ is the masked
            document's token distribution. Under squared loss, equation 1 is then the mean over documents of
            $\|\mathbf{E}\mathbf{x} + \mathbf{b} - p_{\mathbf{w}}\|^2$ plus a part, $1 - 1/(\tau v)$, that no predictor can avoid. Return the first part, the excess loss.
            `e` has shape $(V, V)$, `b` $(V,)$; `seen` and `documents` have shape (documents, $V$): each row is an $\mathbf{x}$ and its $p_{\mathbf{w}}$.
        """,
        stub='''
            def loss_above_best(e, b, seen, documents):
                """Mean over documents of ||E x + b - p||^2."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def loss_above_best(e, b, seen, documents):
                error = np.asarray(seen) @ np.asarray(e).T + b - documents
                return (error**2).sum(axis=1).mean()
        """,
        alternative="""
            def loss_above_best(e, b, seen, documents):
                total = 0.0
                for x, p in zip(seen, documents):
                    total += float(((e @ x + b - p) ** 2).sum())
                return total / len(documents)
        """,
        wrong=(
            Wrong(
                """
                def loss_above_best(e, b, seen, documents):
                    return ((seen @ e + b - documents) ** 2).sum(axis=1).mean()
                """,
                "transposed",
            ),
            Wrong(
                """
                import numpy as np

                def loss_above_best(e, b, seen, documents):
                    return np.linalg.norm(seen @ e.T + b - documents, axis=1).mean()
                """,
                "not-squared",
            ),
            Wrong(
                """
                def loss_above_best(e, b, seen, documents):
                    return ((seen @ e.T + b - documents) ** 2).mean()
                """,
                "mean-over-words",
            ),
            Wrong(
                """
                def loss_above_best(e, b, seen, documents):
                    return ((seen @ e.T + b - documents) ** 2).sum()
                """,
                "sum-over-documents",
            ),
            Wrong(
                """
                def loss_above_best(e, b, seen, documents):
                    predicted = seen @ e.T + b
                    return ((predicted**2).sum(axis=1) - 2 * (predicted * documents).sum(axis=1) + 1).mean()
                """,
                "whole-loss",
            ),
            Wrong(
                """
                def loss_above_best(e, b, seen, documents):
                    error = (seen @ e.T + b - documents).mean(axis=0)
                    return (error**2).sum()
                """,
                "mean-before-square",
            ),
            Wrong(
                """
                def loss_above_best(e, b, seen, documents):
                    for x, p in zip(seen, documents):
                        return ((e @ x + b - p) ** 2).sum()
                """,
                "first-document-only",
            ),
        ),
        hidden=_hidden_excess_loss,
        explanation="""
            Documents are rows here, so multiplying each column `x` by `e` is `seen @ e.T`. The excess is zero exactly for the
            matrices of Theorem 1.
        """,
    ),
]
