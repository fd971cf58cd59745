"""Exercises of Section 3."""

import numpy as np

from exercises.format import Exercise, Wrong
from topiclib.checks.base import Answer, as_array, close, expect


def _hidden_one_hot(answer: Answer) -> None:
    tokens = np.array([5, 0, 2, 2, 9, 0])
    expected = (np.arange(10)[:, None] == tokens).astype(float)
    expect(close(as_array(answer(tokens, 3, 3), (10, 6), "X"), expected), "other-document", "it fails on another document.")


def _hidden_uniform(answer: Answer) -> None:
    rng = np.random.default_rng(6)
    W, tokens = rng.normal(size=(5, 5)), np.array([0, 4, 4, 1, 0, 2, 3])
    expected = np.stack([np.mean([W[:, t] for t in tokens], axis=0)] * 7, axis=1)
    expect(
        close(as_array(answer(W, tokens), (5, 7), "the prediction"), expected), "other-document", "it fails on another document."
    )


def _hidden_loss(answer: Answer) -> None:
    rng = np.random.default_rng(9)
    W = rng.normal(size=(6, 6))
    words, masked = np.array([1, 5, 5, 2, 3]), np.array([0, 5, 4, 2, 3])
    selected = np.array([True, True, True, False, False])
    x = np.mean([W[:, t] for t in masked], axis=0)
    expected = np.mean([np.sum((x - np.eye(6)[w]) ** 2) for w in words[selected]])
    expect(
        close(as_array(answer(W, words, masked, selected), (), "the loss as a single number"), expected),
        "other-document",
        "it fails elsewhere.",
    )


EXERCISES = [
    Exercise(
        id="3-one-hot",
        title="the one-hot matrix",
        level="warm-up",
        minutes=5,
        objective="the shape and the numbering of X",
        function="one_hot_matrix",
        statement=r"""
            Build the one-hot matrix of a document, masked or not. `tokens` is a sequence of $N$ token ids: 0 for [MASK] and 1 to $Tv$ for words. Return an array of shape
            $(Tv + 1, N)$ with a 1 in row $i$, column $j$ if token $j$ is $i$, and 0 elsewhere. The arguments `num_topics` and `words_per_topic` are $T$ and $v$.
        """,
        stub='''
            def one_hot_matrix(tokens, num_topics, words_per_topic):
                """X of shape (T v + 1, N)."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def one_hot_matrix(tokens, num_topics, words_per_topic):
                rows = np.arange(num_topics * words_per_topic + 1)
                return (rows[:, None] == np.asarray(tokens)[None, :]).astype(int)
        """,
        alternative="""
            def one_hot_matrix(tokens, num_topics, words_per_topic):
                X = [[0] * len(tokens) for _ in range(num_topics * words_per_topic + 1)]
                for j, token in enumerate(tokens):
                    X[int(token)][j] = 1
                return X
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def one_hot_matrix(tokens, num_topics, words_per_topic):
                    return np.eye(num_topics * words_per_topic + 1)[np.asarray(tokens)]
                """,
                "transposed",
            ),
            Wrong(
                """
                import numpy as np

                def one_hot_matrix(tokens, num_topics, words_per_topic):
                    rows = np.arange(1, num_topics * words_per_topic + 1)
                    return (rows[:, None] == np.asarray(tokens)[None, :]).astype(int)
                """,
                "mask-row-missing",
            ),
            Wrong(
                """
                import numpy as np

                def one_hot_matrix(tokens, num_topics, words_per_topic):
                    rows = np.arange(1, num_topics * words_per_topic + 2)
                    return (rows[:, None] == np.asarray(tokens)[None, :]).astype(int)
                """,
                "shifted",
            ),
            Wrong(
                """
                import numpy as np

                def one_hot_matrix(tokens, num_topics, words_per_topic):
                    rows = np.arange(num_topics * words_per_topic + 1)
                    X = (rows[:, None] == np.asarray(tokens)[None, :]).astype(int)
                    X[0] = 0
                    return X
                """,
                "mask-dropped",
            ),
            Wrong(
                """
                import numpy as np

                def one_hot_matrix(tokens, num_topics, words_per_topic):
                    rows = np.arange(max(tokens) + 1)
                    return (rows[:, None] == np.asarray(tokens)[None, :]).astype(int)
                """,
                "rows-from-document",
            ),
            Wrong(
                """
                import numpy as np

                def one_hot_matrix(tokens, num_topics, words_per_topic):
                    return np.eye(7)[:, tokens]
                """,
                "size-fixed",
            ),
        ),
        hidden=_hidden_one_hot,
        explanation=r"""
            Compare each row's number with each column's token. There are $V = Tv + 1$ rows since [MASK] is a token, and row $i$ belongs to token $i$.
        """,
    ),
    Exercise(
        id="3-uniform-prediction",
        title="predict with uniform attention",
        level="core",
        minutes=10,
        objective="equation 7 with frozen uniform attention",
        function="uniform_prediction",
        statement=r"""
            With one-hot embeddings, uniform attention and no bias the model is $f(\tilde{\mathbf{X}}) = \mathbf{W} \tilde{\mathbf{X}} A$, where every entry of the $N \times N$ matrix $A$ is $1/N$. `W` has shape
            $(V, V)$ and `tokens` holds $N$ token ids from 0 to $V - 1$, 0 being [MASK]. Return the prediction, shape $(V, N)$.
        """,
        stub='''
            def uniform_prediction(W, tokens):
                """f(X~) = W X~ A with uniform attention; shape (V, N)."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def uniform_prediction(W, tokens):
                average = np.bincount(tokens, minlength=len(W)) / len(tokens)
                return np.repeat((W @ average)[:, None], len(tokens), axis=1)
        """,
        alternative="""
            import torch

            def uniform_prediction(W, tokens):
                W, tokens = torch.as_tensor(W).double(), torch.as_tensor(tokens)
                X = torch.nn.functional.one_hot(tokens, W.shape[0]).double().T
                N = len(tokens)
                return W @ X @ torch.full((N, N), 1 / N, dtype=torch.float64)
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def uniform_prediction(W, tokens):
                    return W[:, tokens]
                """,
                "no-attention",
            ),
            Wrong(
                """
                import numpy as np

                def uniform_prediction(W, tokens):
                    counts = np.bincount(tokens, minlength=len(W))
                    return np.repeat((W @ counts)[:, None], len(tokens), axis=1)
                """,
                "sum-not-mean",
            ),
            Wrong(
                """
                import numpy as np

                def uniform_prediction(W, tokens):
                    average = np.bincount(tokens, minlength=len(W)) / len(tokens)
                    return np.repeat((W.T @ average)[:, None], len(tokens), axis=1)
                """,
                "transposed",
            ),
            Wrong(
                """
                import numpy as np

                def uniform_prediction(W, tokens):
                    counts = np.bincount(tokens, minlength=len(W)).astype(float)
                    counts[0] = 0
                    return np.repeat((W @ counts / counts.sum())[:, None], len(tokens), axis=1)
                """,
                "mask-ignored",
            ),
            Wrong(
                """
                import numpy as np

                def uniform_prediction(W, tokens):
                    return W @ (np.bincount(tokens, minlength=len(W)) / len(tokens))
                """,
                "wrong-shape",
            ),
            Wrong(
                """
                import numpy as np

                def uniform_prediction(W, tokens):
                    average = W[:, np.unique(tokens)].mean(axis=1)
                    return np.repeat(average[:, None], len(tokens), axis=1)
                """,
                "repeats-lost",
            ),
            Wrong(
                """
                import numpy as np

                def uniform_prediction(W, tokens):
                    average = W @ np.ones(len(W)) / len(W)
                    return np.repeat(average[:, None], len(tokens), axis=1)
                """,
                "tokens-ignored",
            ),
        ),
        hidden=_hidden_uniform,
        explanation=r"""
            $\tilde{\mathbf{X}} A$ has the average column of $\tilde{\mathbf{X}}$ in every column, which is the empirical distribution of the masked document, [MASK] included. So there is one product of matrix and
            vector, and $N$ copies of it.
        """,
    ),
    Exercise(
        id="3-document-loss",
        title="from document to loss",
        level="challenge",
        minutes=15,
        objective="which of the objects goes into the model, which into the loss, and at which positions",
        function="document_loss",
        statement=r"""
            Compute the squared loss of one document, $\frac{1}{|M|} \sum_{j \in M} \lVert f(\tilde{\mathbf{X}})_{:,j} - \mathbf{X}_{:,j} \rVert^2$, for the model of the exercise before (one-hot, uniform attention, matrix `W` of shape
            $(V, V)$, no bias). `words` are the $N$ original word ids, `masked` the $N$ token ids after masking, `selected` is true at the positions in $M$, at least one. Return one number.
        """,
        stub='''
            def document_loss(W, words, masked, selected):
                """Squared loss of one masked document; a number."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def document_loss(W, words, masked, selected):
                prediction = W @ np.bincount(masked, minlength=len(W)) / len(masked)
                targets = np.eye(len(W))[words[selected]]
                return ((prediction - targets) ** 2).sum(axis=1).mean()
        """,
        alternative="""
            def document_loss(W, words, masked, selected):
                V, N = len(W), len(masked)
                x = [sum(float(W[i][t]) for t in masked) / N for i in range(V)]
                losses = [sum(a * a for a in x) - 2 * x[w] + 1 for w, chosen in zip(words, selected) if chosen]
                return sum(losses) / len(losses)
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def document_loss(W, words, masked, selected):
                    prediction = W @ np.bincount(masked, minlength=len(W)) / len(masked)
                    targets = np.eye(len(W))[words[masked == 0]]
                    return ((prediction - targets) ** 2).sum(axis=1).mean()
                """,
                "mask-only",
            ),
            Wrong(
                """
                import numpy as np

                def document_loss(W, words, masked, selected):
                    prediction = W @ np.bincount(words, minlength=len(W)) / len(words)
                    targets = np.eye(len(W))[words[selected]]
                    return ((prediction - targets) ** 2).sum(axis=1).mean()
                """,
                "input-unmasked",
            ),
            Wrong(
                """
                import numpy as np

                def document_loss(W, words, masked, selected):
                    prediction = W @ np.bincount(masked, minlength=len(W)) / len(masked)
                    targets = np.eye(len(W))[masked[selected]]
                    return ((prediction - targets) ** 2).sum(axis=1).mean()
                """,
                "target-masked",
            ),
            Wrong(
                """
                import numpy as np

                def document_loss(W, words, masked, selected):
                    prediction = W @ np.bincount(masked, minlength=len(W)) / len(masked)
                    targets = np.eye(len(W))[words]
                    return ((prediction - targets) ** 2).sum(axis=1).mean()
                """,
                "all-positions",
            ),
            Wrong(
                """
                import numpy as np

                def document_loss(W, words, masked, selected):
                    prediction = W @ np.bincount(masked, minlength=len(W)) / len(masked)
                    targets = np.eye(len(W))[words[selected]]
                    return ((prediction - targets) ** 2).sum()
                """,
                "not-divided",
            ),
            Wrong(
                """
                import numpy as np

                def document_loss(W, words, masked, selected):
                    prediction = W @ np.bincount(masked, minlength=len(W)) / len(masked)
                    targets = np.eye(len(W))[words[selected]]
                    return ((prediction - targets)[:, 1:] ** 2).sum(axis=1).mean()
                """,
                "row-0-left-out",
            ),
            Wrong(
                """
                import numpy as np

                def document_loss(W, words, masked, selected):
                    prediction = W.T @ np.bincount(masked, minlength=len(W)) / len(masked)
                    targets = np.eye(len(W))[words[selected]]
                    return ((prediction - targets) ** 2).sum(axis=1).mean()
                """,
                "transposed",
            ),
            Wrong(
                """
                import numpy as np

                def document_loss(W, words, masked, selected):
                    prediction = W @ np.bincount(masked, minlength=len(W)) / len(masked)
                    targets = np.eye(len(W))[words[selected]]
                    return np.linalg.norm(prediction - targets, axis=1).mean()
                """,
                "not-squared",
            ),
            Wrong(
                """
                import numpy as np

                def document_loss(W, words, masked, selected):
                    prediction = W[:, masked[selected]].T
                    targets = np.eye(len(W))[words[selected]]
                    return ((prediction - targets) ** 2).sum(axis=1).mean()
                """,
                "no-attention",
            ),
            Wrong(
                """
                import numpy as np

                def document_loss(W, words, masked, selected):
                    prediction = W @ np.bincount(masked, minlength=len(W))
                    targets = np.eye(len(W))[words[selected]]
                    return ((prediction - targets) ** 2).sum(axis=1).mean()
                """,
                "sum-not-mean",
            ),
            Wrong(
                """
                import numpy as np

                def document_loss(W, words, masked, selected):
                    seen = masked[masked > 0]
                    prediction = W @ np.bincount(seen, minlength=len(W)) / len(seen)
                    targets = np.eye(len(W))[words[selected]]
                    return ((prediction - targets) ** 2).sum(axis=1).mean()
                """,
                "mask-ignored",
            ),
            Wrong(
                """
                import numpy as np

                def document_loss(W, words, masked, selected):
                    prediction = W @ np.bincount(masked, minlength=len(W)) / len(masked)
                    targets = np.eye(len(W))[words[selected]]
                    return ((prediction - targets) ** 2).mean()
                """,
                "mean-over-vocabulary",
            ),
            Wrong(
                """
                import numpy as np

                def document_loss(W, words, masked, selected):
                    prediction = W @ np.bincount(masked, minlength=len(W)) / len(masked)
                    targets = np.eye(len(W))[words[selected]]
                    return ((prediction - targets) ** 2).sum() / len(words)
                """,
                "divided-by-length",
            ),
        ),
        hidden=_hidden_loss,
        explanation=r"""
            The model sees the masked tokens; the targets are the original words; the positions are all of $M$. Positions that were kept or replaced by a random word count like those that show [MASK].
        """,
    ),
]
