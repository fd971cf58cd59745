"""Exercises of Section 2."""

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
from topiclib.checks.base import Answer, as_array, close, expect
from topiclib.metrics import block_contrast
from topiclib.vocabulary import Vocabulary


def _hidden_trained_parts(answer: Answer) -> None:
    expect(len(set(answer("value matrix"))) == 1, "second-call", "it must give the same answer each time.")


def _hidden_block_contrast(answer: Answer) -> None:
    vocabulary = Vocabulary(4, 5)
    matrix = np.random.default_rng(22).normal(size=(21, 21))
    value = as_array(answer(matrix, 5), (), "the contrast as a single number")
    expect(close(value, block_contrast(matrix, vocabulary).contrast), "other-size", "it fails for another number of topics.")


def _hidden_same_topic_share(answer: Answer) -> None:
    rng = np.random.default_rng(23)
    tokens = rng.integers(0, 13, size=30)
    tokens[4] = 7
    weights = rng.dirichlet(np.ones(30), size=30).T
    share = as_array(answer(weights, tokens, 3, 4), (), "the share as a single number")
    inside = (tokens >= 7) & (tokens <= 9)
    expect(close(share, weights[inside, 4].sum()), "other-document", "it fails on another document.")


def _hidden_embedding_from_value(answer: Answer) -> None:
    root = np.random.default_rng(24).normal(size=(7, 7))
    target = root.T @ root
    w_e = as_array(answer(target), (7, 7), "W_E")
    expect(close(w_e.T @ w_e, target), "other-matrix", "it fails on another matrix.")


def _hidden_nearest(answer: Answer, asked: str = "embedding") -> None:
    rng = np.random.default_rng(22)
    for size, d in ((6, 2), (5, 5), (7, 1)):
        M = rng.normal(size=(size, size))
        values = np.linalg.eigvalsh((M + M.T) / 2)
        kept = np.sort(values[values > 0])[::-1][:d]
        least = (M**2).sum() - (kept**2).sum()
        if asked == "gram":
            gram = as_array(answer(M, d), (size, size), "the matrix of inner products")
            best = close(((gram - M) ** 2).sum(), least, 1e-4) and np.linalg.matrix_rank(gram, tol=1e-4) <= d
            expect(best and np.linalg.eigvalsh(gram).min() > -1e-4, "other-matrix", "it fails for another matrix.")
        elif asked == "distance":
            expect(close(as_array(answer(M, d), (), "one number"), least, 1e-4), "other-matrix", "it fails for another matrix.")
        else:
            w = as_array(answer(M, d), (d, size), "the embeddings")
            expect(close(((w.T @ w - M) ** 2).sum(), least, 1e-4), "other-matrix", "it fails for another matrix.")


EXERCISES: list[Exercise] = [
    Exercise(
        id="2-trained-parts",
        title="which parts are trained",
        level="warm-up",
        minutes=5,
        objective="to keep the paper's settings apart",
        prerequisites=("[the two places](02_overview.ipynb#the-idea)",),
        function="trained_parts",
        statement=r"""
            The paper trains different parts in different places. Return the set of the names of the weight matrices, from
            `"W_E"`, `"W_K"`, `"W_Q"` and `"W_V"`, that are trained in the setting named by `setting`:
            `"embeddings"` (Section 2.1), `"value matrix"` (2.2.1, Stage 1), `"attention"` (2.2.2, Stage 2) or
            `"everything"` (nothing is frozen). Leave biases out.
        """,
        stub='''
            def trained_parts(setting):
                """The set of names of the matrices that are trained."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def trained_parts(setting):
                return {
                    "embeddings": {"W_E"},
                    "value matrix": {"W_V"},
                    "attention": {"W_K", "W_Q"},
                    "everything": {"W_E", "W_K", "W_Q", "W_V"},
                }[setting]
        """,
        alternative="""
            def trained_parts(setting):
                parts = []
                if setting in ("embeddings", "everything"):
                    parts.append("W_E")
                if setting in ("value matrix", "everything"):
                    parts.append("W_V")
                if setting in ("attention", "everything"):
                    parts += ["W_K", "W_Q"]
                return parts
        """,
        wrong=(
            Wrong(
                """
                def trained_parts(setting):
                    return {
                        "embeddings": {"W_E", "W_V"},
                        "value matrix": {"W_V"},
                        "attention": {"W_K", "W_Q"},
                        "everything": {"W_E", "W_K", "W_Q", "W_V"},
                    }[setting]
                """,
                "value-with-embeddings",
            ),
            Wrong(
                """
                def trained_parts(setting):
                    return {
                        "embeddings": {"W_E"},
                        "value matrix": {"W_V"},
                        "attention": {"W_K", "W_Q", "W_V"},
                        "everything": {"W_E", "W_K", "W_Q", "W_V"},
                    }[setting]
                """,
                "stages-mixed",
            ),
            Wrong(
                """
                def trained_parts(setting):
                    return {
                        "embeddings": {"W_K", "W_Q", "W_V"},
                        "value matrix": {"W_E", "W_K", "W_Q"},
                        "attention": {"W_E", "W_V"},
                        "everything": set(),
                    }[setting]
                """,
                "frozen-for-trained",
            ),
            Wrong(
                """
                def trained_parts(setting):
                    return {
                        "embeddings": {"W_E"},
                        "value matrix": {"W_V"},
                        "attention": {"W_K"},
                        "everything": {"W_E", "W_K", "W_Q", "W_V"},
                    }[setting]
                """,
                "half-the-attention",
            ),
        ),
        hidden=_hidden_trained_parts,
        explanation=r"""
            The attention weights are made from $\mathbf{W}^K$ and $\mathbf{W}^Q$ together. In Stage 1 both are zero, which makes
            attention uniform, and $\mathbf{W}^V$ is trained. In Stage 2 it is the other way round. In Section 2.1 the value
            matrix is the identity.
        """,
    ),
    Exercise(
        id="2-block-contrast",
        title="measure the blocks",
        level="core",
        minutes=10,
        objective="to turn 'there are blocks' into a number that is not misled by the diagonal or by [MASK]",
        prerequisites=(
            "[train the model and look](02_overview.ipynb#train-the-model-and-look)",
            "NumPy's boolean masks",
        ),
        function="measure_blocks",
        statement=r"""
            `matrix` has shape $(Tv+1, Tv+1)$, with row and column 0 for [MASK], and words ordered by topic. Return the mean entry over
            pairs of *different* words of the same topic, minus the mean entry over pairs of words of different topics.
            Leave row and column 0 out. `words_per_topic` is $v \ge 2$. Write it without `topiclib`.
        """,
        stub='''
            def measure_blocks(matrix, words_per_topic):
                """Mean over different words of one topic, minus mean over words of different topics."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def measure_blocks(matrix, words_per_topic):
                words = np.asarray(matrix)[1:, 1:]
                topics = np.arange(len(words)) // words_per_topic
                same = topics[:, None] == topics[None, :]
                different_words = ~np.eye(len(words), dtype=bool)
                return words[same & different_words].mean() - words[~same].mean()
        """,
        alternative="""
            import math

            def measure_blocks(matrix, words_per_topic):
                same, different = [], []
                for i in range(1, len(matrix)):
                    for j in range(1, len(matrix)):
                        if math.ceil(i / words_per_topic) != math.ceil(j / words_per_topic):
                            different.append(float(matrix[i][j]))
                        elif i != j:
                            same.append(float(matrix[i][j]))
                return sum(same) / len(same) - sum(different) / len(different)
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def measure_blocks(matrix, words_per_topic):
                    words = np.asarray(matrix)[1:, 1:]
                    topics = np.arange(len(words)) // words_per_topic
                    same = topics[:, None] == topics[None, :]
                    return words[same].mean() - words[~same].mean()
                """,
                "diagonal-included",
            ),
            Wrong(
                """
                import numpy as np

                def measure_blocks(matrix, words_per_topic):
                    m = np.asarray(matrix)
                    topics = -(-np.arange(len(m)) // words_per_topic)
                    same = topics[:, None] == topics[None, :]
                    off = ~np.eye(len(m), dtype=bool)
                    return m[same & off].mean() - m[~same].mean()
                """,
                "mask-included",
            ),
            Wrong(
                """
                import numpy as np

                def measure_blocks(matrix, words_per_topic):
                    words = np.asarray(matrix)[1:, 1:]
                    topics = np.arange(1, len(words) + 1) // words_per_topic
                    same = topics[:, None] == topics[None, :]
                    off = ~np.eye(len(words), dtype=bool)
                    return words[same & off].mean() - words[~same].mean()
                """,
                "blocks-shifted",
            ),
            Wrong(
                """
                import numpy as np

                def measure_blocks(matrix, words_per_topic):
                    words = np.asarray(matrix)[1:, 1:]
                    topics = np.arange(len(words)) // words_per_topic
                    same = topics[:, None] == topics[None, :]
                    off = ~np.eye(len(words), dtype=bool)
                    return words[~same].mean() - words[same & off].mean()
                """,
                "sign-reversed",
            ),
            Wrong(
                """
                import numpy as np

                def measure_blocks(matrix, words_per_topic):
                    words = np.asarray(matrix)[1:, 1:]
                    topics = np.arange(len(words)) // words_per_topic
                    same = topics[:, None] == topics[None, :]
                    off = ~np.eye(len(words), dtype=bool)
                    return words[same & off].sum() - words[~same].sum()
                """,
                "sums-not-means",
            ),
            Wrong(
                """
                import numpy as np

                def measure_blocks(matrix, words_per_topic):
                    words = np.asarray(matrix)[1:, 1:]
                    topics = np.arange(len(words)) // words_per_topic
                    same = topics[:, None] == topics[None, :]
                    upper = np.triu(np.ones(words.shape, dtype=bool), 1)
                    return words[same & upper].mean() - words[~same & upper].mean()
                """,
                "one-triangle",
            ),
            Wrong(
                """
                import numpy as np

                def measure_blocks(matrix, words_per_topic):
                    words = np.asarray(matrix)[1:, 1:]
                    topics = np.arange(len(words)) // words_per_topic
                    same = topics[:, None] == topics[None, :]
                    lower = np.tril(np.ones(words.shape, dtype=bool), -1)
                    return words[same & lower].mean() - words[~same].mean()
                """,
                "one-triangle",
            ),
            Wrong(
                """
                import numpy as np

                def measure_blocks(matrix, words_per_topic):
                    words = np.asarray(matrix)[1:, 1:]
                    topics = np.arange(len(words)) // words_per_topic
                    same = topics[:, None] == topics[None, :]
                    place = np.arange(len(words))
                    beside = np.abs(place[:, None] - place) == 1
                    return words[same & beside].mean() - words[~same & beside].mean()
                """,
                "neighbours-only",
            ),
            Wrong(
                """
                import numpy as np

                def measure_blocks(matrix, words_per_topic):
                    words = np.asarray(matrix)[1:, 1:]
                    topics = np.arange(len(words)) // words_per_topic
                    same = topics[:, None] == topics[None, :]
                    place = np.arange(len(words))
                    beside = np.abs(place[:, None] - place) == 1
                    return words[same & beside].mean() - words[~same].mean()
                """,
                "neighbours-only",
            ),
            Wrong(
                """
                import numpy as np

                def measure_blocks(matrix, words_per_topic):
                    words = np.asarray(matrix)[1:, 1:]
                    topics = np.arange(len(words)) // 4
                    same = topics[:, None] == topics[None, :]
                    off = ~np.eye(len(words), dtype=bool)
                    return words[same & off].mean() - words[~same].mean()
                """,
                "size-fixed",
            ),
        ),
        hidden=_hidden_block_contrast,
        explanation=r"""
            Word $i$ sits in row $i$ of the matrix and in row $i - 1$ once [MASK] is cut off, so there its topic is
            $\lfloor (i-1)/v \rfloor$, counted from zero. Leaving the diagonal out matters: the inner product of a vector with itself is
            large in any model, trained or not.
        """,
    ),
    Exercise(
        id="2-same-topic-share",
        title="where a position looks",
        level="core",
        minutes=8,
        objective="to read the attention matrix in the paper's direction",
        prerequisites=(
            "[self-attention and the direction of $A$](02_overview.ipynb#22-topic-structure-is-encoded-in-self-attention)",
            "NumPy's indexing",
        ),
        function="same_topic_share",
        statement=r"""
            `attention` is the matrix $A$ of one document, shape $(N, N)$, with $A_{ij}$ the weight that position $j$ gives to position $i$:
            each column sums to 1. `tokens` has shape $(N,)$ with token ids, where 0 is [MASK] and word $i$ belongs to topic $\lceil i/v \rceil$.
            Return the total weight that position `j` (counted from 0) gives to positions whose word is of the same topic as the word at
            `j`, the same word and `j` itself included. The token at `j` is a word.
        """,
        stub='''
            def same_topic_share(attention, tokens, words_per_topic, j):
                """Weight that position j gives to words of its own topic, between 0 and 1."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def same_topic_share(attention, tokens, words_per_topic, j):
                topics = np.ceil(np.asarray(tokens) / words_per_topic)
                return np.asarray(attention)[topics == topics[j], j].sum()
        """,
        alternative="""
            def same_topic_share(attention, tokens, words_per_topic, j):
                topic = (int(tokens[j]) - 1) // words_per_topic
                return sum(
                    float(attention[i][j])
                    for i in range(len(tokens))
                    if int(tokens[i]) > 0 and (int(tokens[i]) - 1) // words_per_topic == topic
                )
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def same_topic_share(attention, tokens, words_per_topic, j):
                    topics = np.ceil(np.asarray(tokens) / words_per_topic)
                    return attention[j, topics == topics[j]].sum()
                """,
                "row-for-column",
            ),
            Wrong(
                """
                import numpy as np

                def same_topic_share(attention, tokens, words_per_topic, j):
                    topics = np.asarray(tokens) // words_per_topic
                    return attention[topics == topics[j], j].sum()
                """,
                "topics-shifted",
            ),
            Wrong(
                """
                import numpy as np

                def same_topic_share(attention, tokens, words_per_topic, j):
                    topics = np.ceil(np.asarray(tokens) / words_per_topic)
                    return attention[topics == topics[j], j].mean()
                """,
                "mean-for-total",
            ),
            Wrong(
                """
                import numpy as np

                def same_topic_share(attention, tokens, words_per_topic, j):
                    topics = np.ceil(np.asarray(tokens) / words_per_topic)
                    return (topics == topics[j]).mean()
                """,
                "positions-counted",
            ),
            Wrong(
                """
                import numpy as np

                def same_topic_share(attention, tokens, words_per_topic, j):
                    topics = np.ceil(np.asarray(tokens) / words_per_topic)
                    topics[j] = -1
                    own = np.ceil(tokens[j] / words_per_topic)
                    return attention[topics == own, j].sum()
                """,
                "itself-left-out",
            ),
            Wrong(
                """
                import numpy as np

                def same_topic_share(attention, tokens, words_per_topic, j):
                    topics = np.ceil(np.asarray(tokens) / 3)
                    return attention[topics == topics[j], j].sum()
                """,
                "size-fixed",
            ),
            Wrong(
                """
                import numpy as np

                def same_topic_share(attention, tokens, words_per_topic, j):
                    topics = np.ceil(np.asarray(tokens) / words_per_topic)
                    return attention[topics == topics[0], 0].sum()
                """,
                "position-fixed",
            ),
        ),
        hidden=_hidden_same_topic_share,
        graded=True,
        explanation=r"""
            The second index is the position that looks, so its weights are the column `attention[:, j]`. [MASK] has number 0, and
            $\lceil 0/v \rceil = 0$ is no topic, so it drops out by itself.
        """,
    ),
    Exercise(
        id="2-embedding-from-value",
        title="compensation, exactly",
        level="challenge",
        minutes=15,
        objective="to see when embeddings can do the work of a value matrix",
        prerequisites=(
            "[compensation](02_overview.ipynb#compensation)",
            "eigenvalues of a symmetric matrix",
        ),
        function="embedding_from_value",
        statement=r"""
            Under uniform attention the one-hot model's scores are $\mathbf{W}^V \tilde{\mathbf{X}} A$, and the embeddings-only model's
            ($\mathbf{W}^V = \mathbf{I}$) are $\mathbf{W}^{E\top} \mathbf{W}^E \tilde{\mathbf{X}} A$. Given a value matrix `M` of shape $(V, V)$,
            symmetric and with no negative eigenvalue, return a $\mathbf{W}^E$ of shape $(V, V)$ whose embeddings-only model makes the very same
            predictions. `M` may be singular.
        """,
        stub='''
            def embedding_from_value(M):
                """A matrix W_E with which the embeddings-only model predicts what the one-hot model with value matrix M predicts."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def embedding_from_value(M):
                eigenvalues, vectors = np.linalg.eigh(M)
                return np.sqrt(np.maximum(eigenvalues, 0))[:, None] * vectors.T
        """,
        alternative="""
            import numpy as np

            def embedding_from_value(M):
                U, s, Vt = np.linalg.svd(np.asarray(M, dtype=float), hermitian=True)
                return (U * np.sqrt(s)) @ U.T
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def embedding_from_value(M):
                    eigenvalues, vectors = np.linalg.eigh(M)
                    return vectors * np.sqrt(np.maximum(eigenvalues, 0))
                """,
                "transposed",
            ),
            Wrong(
                """
                import numpy as np

                def embedding_from_value(M):
                    eigenvalues, vectors = np.linalg.eigh(M)
                    return eigenvalues[:, None] * vectors.T
                """,
                "no-root",
            ),
            Wrong(
                """
                import numpy as np

                def embedding_from_value(M):
                    return np.sqrt(np.abs(M))
                """,
                "entrywise-root",
            ),
            Wrong(
                """
                import numpy as np

                def embedding_from_value(M):
                    return np.linalg.cholesky(M + 1e-3 * np.eye(len(M))).T
                """,
                "approximate",
            ),
            Wrong(
                """
                def embedding_from_value(M):
                    return M
                """,
                "no-root",
            ),
        ),
        hidden=_hidden_embedding_from_value,
        explanation=r"""
            We need $\mathbf{W}^{E\top} \mathbf{W}^E = \mathbf{M}$. With $\mathbf{M} = \mathbf{Q} \Lambda \mathbf{Q}^\top$ the matrix
            $\Lambda^{1/2} \mathbf{Q}^\top$ does it, and so does every rotation of it. A Gram matrix has no negative eigenvalue and is symmetric,
            so for other value matrices no such $\mathbf{W}^E$ exists: compensation by embeddings has a limit that a value matrix does not have.
        """,
    ),
    Exercise(
        id="2-nearest-embedding",
        title="compensation, as far as it goes",
        level="challenge",
        minutes=30,
        objective="how much of a value matrix inner products can imitate",
        prerequisites=(
            "[compensation](02_overview.ipynb#compensation)",
            "exercise 2-embedding-from-value",
            "the Eckart-Young theorem, or how a square splits into orthogonal parts",
        ),
        function="nearest_embedding",
        statement=r"""
            In exercise 2-embedding-from-value the value matrix was one that embeddings can imitate. A trained value matrix is neither symmetric nor free of negative eigenvalues, and an embedding may have fewer dimensions than there are tokens. Let `M` be any real matrix of shape $(V, V)$. Among all $\mathbf{W}^E$ of
            shape $(d, V)$, $1 \leq d \leq V$, take one for which $\|\mathbf{W}^{E\top} \mathbf{W}^E - \mathbf{M}\|_F$ is least. Return {{asked_in_words}}.
        """,
        stub='''
            def nearest_embedding(M, d):
                """{{docstring}}"""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def nearest_embedding(M, d):
                values, vectors = np.linalg.eigh((M + M.T) / 2)
                largest = np.argsort(values)[::-1][:d]
                positive = np.maximum(values, 0)
                W_E = np.sqrt(positive[largest])[:, None] * vectors[:, largest].T
                {{result}}
        """,
        alternative="""
            import numpy as np

            def nearest_embedding(M, d):
                size = len(M)
                symmetric = 0.5 * (np.asarray(M) + np.transpose(M))
                rows, rest = [], symmetric + 0.0
                for _ in range(d):
                    # Deflation: take the direction with the largest eigenvalue out, one at a time.
                    values, vectors = np.linalg.eigh(rest)
                    if values[-1] > 1e-12:
                        rows.append(values[-1] ** 0.5 * vectors[:, -1])
                        rest = rest - np.outer(rows[-1], rows[-1])
                w = np.zeros((d, size))
                w[: len(rows)] = np.reshape(rows, (len(rows), size))
                {{other}}
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def nearest_embedding(M, d):
                    values, vectors = np.linalg.eigh(np.tril(M) + np.tril(M, -1).T)
                    largest = np.argsort(values)[::-1][:d]
                    positive = np.maximum(values, 0)
                    W_E = np.sqrt(positive[largest])[:, None] * vectors[:, largest].T
                    {{result}}
                """,
                "not-symmetrised",
            ),
            Wrong(
                """
                import numpy as np

                def nearest_embedding(M, d):
                    values, vectors = np.linalg.eigh((M + M.T) / 2)
                    largest = np.argsort(np.abs(values))[::-1][:d]
                    positive = np.abs(values)
                    W_E = np.sqrt(positive[largest])[:, None] * vectors[:, largest].T
                    {{result}}
                """,
                "negative-kept",
            ),
            Wrong(
                """
                import numpy as np

                def nearest_embedding(M, d):
                    values, vectors = np.linalg.eigh(np.triu(M) + np.triu(M, 1).T)
                    largest = np.argsort(values)[::-1][:d]
                    positive = np.maximum(values, 0)
                    W_E = np.sqrt(positive[largest])[:, None] * vectors[:, largest].T
                    {{result}}
                """,
                "upper-triangle",
            ),
            Wrong(
                """
                import numpy as np

                def nearest_embedding(M, d):
                    left, positive, right = np.linalg.svd(M)
                    W_E = np.sqrt(positive[:d])[:, None] * right[:d]
                    {{result}}
                """,
                "singular-values",
            ),
            Wrong(
                """
                import numpy as np

                def nearest_embedding(M, d):
                    values, vectors = np.linalg.eigh(M + M.T)
                    largest = np.argsort(values)[::-1][:d]
                    positive = np.maximum(values, 0)
                    W_E = np.sqrt(positive[largest])[:, None] * vectors[:, largest].T
                    {{result}}
                """,
                "sum-not-mean",
            ),
        ),
        hidden=_hidden_nearest,
        graded=True,
        explanation=r"""
            Write $\mathbf{M} = \mathbf{S} + \mathbf{K}$ with the symmetric part $\mathbf{S} = \frac{1}{2} (\mathbf{M} + \mathbf{M}^\top)$. Inner products are symmetric, and symmetric and antisymmetric matrices are orthogonal, so the distance is $\|\mathbf{E} - \mathbf{S}\|^2 + \|\mathbf{K}\|^2$: the second part is lost in any case. Of $\mathbf{S}$ a positive
            semidefinite matrix of rank at most $d$ can keep the largest $d$ eigenvalues as far as they are positive. The squares of all others, and of all negative ones, are lost too. So compensation by embeddings has three limits: no direction from one word to another, no votes against oneself, and $d$.
        """,
        variants=(
            Variant(
                {"asked": "embedding"},
                {
                    "asked_in_words": "that $\\mathbf{W}^E$, an array of shape $(d, V)$ (any of the best)",
                    "docstring": "The W_E of shape (d, V) whose inner products are nearest to M.",
                    "result": "return W_E + 0",
                    "other": "return w",
                },
            ),
            Variant(
                {"asked": "distance"},
                {
                    "asked_in_words": "the least value of $\\|\\mathbf{W}^{E\\top} \\mathbf{W}^E - \\mathbf{M}\\|_F^2$, a number",
                    "docstring": "The least squared distance of inner products of d-dimensional embeddings from M.",
                    "result": "return ((W_E.T @ W_E - M) ** 2).sum()",
                    "other": "return np.linalg.norm(w.T @ w - M) ** 2",
                },
            ),
            Variant(
                {"asked": "gram"},
                {
                    "asked_in_words": "the matrix $\\mathbf{W}^{E\\top} \\mathbf{W}^E$ of its inner products, an array of shape $(V, V)$",
                    "docstring": "The matrix of inner products of d-dimensional embeddings that is nearest to M; shape (V, V).",
                    "result": "return W_E.T @ W_E",
                    "other": "return w.T @ w + 0",
                },
            ),
        ),
    ),
]

PAPER: list[PaperExercise] = [
    PaperExercise(
        id="2-paper-what-follows",
        title="what does not follow from a theorem",
        level="core",
        minutes=25,
        objective="reading a theorem for what it does not say",
        prerequisites=(
            "[what is proved, what is measured](02_overview.ipynb#what-is-proved-what-is-measured)",
            "[what an average hides](02_overview.ipynb#what-an-average-hides)",
        ),
        statement=r"""
            A friend has read the three informal theorems and concludes: "So a trained transformer has blocks in its embeddings and in its value matrix, and each word looks more at other words of its topic than at words of other topics." (a) Name three gaps between the theorems and this sentence, of different kinds. For each, say what of
            the theorem's setting is not there. (b) Give a positive semidefinite matrix $\mathbf{E}$ for $T = v = 2$ (words only, no [MASK]) in which the average over a topic's words, the word itself included, is larger than between topics, for every word, while two *different* words of a topic have a *smaller* inner product than words of different topics.
            (c) Give an attention column for a word in a document with the words 1, 1, 2, 3, 4 (topics as in (b)) in which the average over the positions of its own topic is larger than over the other topic, but which gives less to the other word of its topic than to any word of the other one. (d) What should one measure to support the friend's sentence?
        """,
        graded=True,
        rubric=(
            (
                3,
                "(a): three different gaps, one point each: an optimum is not what training reaches; parts were frozen or in stages, and trained jointly one can stand in for another; squared loss, infinite documents, exactly tau topics; averages, not single pairs. Two of the same kind count once.",
            ),
            (
                3,
                "(b): a symmetric matrix with the averages right (1 point) and the order of single entries reversed (1 point), shown to be positive semidefinite (1 point).",
            ),
            (2, "(c): a column that sums to 1 (1 point) and fulfils both conditions (1 point)."),
            (
                2,
                "(d): pairs of different words, with the diagonal left out (1 point), in the trained model, and spread or single patterns beside the mean (1 point).",
            ),
        ),
        model_answer=r"""
            (a) For example: *Optimum and training.* The theorems describe minimisers; that gradient descent from a small start arrives there is not proved. *Frozen parts.* Each theorem trains one part with the others frozen. Trained jointly, one place can do the work of the other: with one-hot embeddings the loss is nearly the same and the embeddings have no blocks.
            *Data and loss.* Squared loss, infinitely long documents, exactly $\tau$ topics; training used cross-entropy on finite documents. *Averages.* The statements are about averages over a topic, the word itself included.

            (b) Words 1, 2 of topic 1 and 3, 4 of topic 2. Put 1 on the diagonal, $-0.2$ for the two words of a topic, and $0.1$ between topics. The average of a row over its own topic is $0.4$, over the other $0.1$; but $-0.2 < 0.1$. The eigenvectors are $(1, 1, 1, 1)$ with $1 - 0.2 + 0.2 = 1$, $(1, 1, -1, -1)$ with $1 - 0.2 - 0.2 = 0.6$, and
            $(1, -1, 0, 0)$, $(0, 0, 1, -1)$ with $1.2$. All are positive.

            (c) The word is 1. Give $0.3$ to each of the two positions of word 1, $0.1$ to word 2, and $0.15$ to each of words 3 and 4. The sum is 1. The average over the own topic is $0.7 / 3 > 0.15$, but word 2 gets $0.1 < 0.15$.

            (d) In the trained model: the mean over pairs of *different* words of one topic against that of different topics, without the diagonal and without [MASK], for embeddings, value matrix and attention, over several seeds. And beside the means their spread, or the pattern itself: a mean may come from one spokesman in each topic.
        """,
    ),
]
