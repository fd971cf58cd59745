"""Exercises of Section 3."""

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
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


def _hidden_step(answer: Answer, loss: str = "squared") -> None:
    rng = np.random.default_rng(33)
    size, W = 7, np.random.default_rng(34).normal(size=(7, 7))
    words, masked = rng.integers(1, size, size=(5, 6)), rng.integers(0, size, size=(5, 6))
    selected = rng.random((5, 6)) < 0.5
    selected[:, 2] = True
    right = np.zeros((size, size))
    for w, x, m in zip(words, masked, selected, strict=True):
        seen = np.eye(size)[x].mean(axis=0)
        f, goal = W @ seen, np.eye(size)[w[m]].mean(axis=0)
        error = 2 * (f - goal) if loss != "cross-entropy" else np.exp(f) / np.exp(f).sum() - goal
        right += np.outer(error, seen) / 5
    right += 0.2 * W if loss == "penalised" else 0
    found = as_array(answer(W, words, masked, selected, 0.3), (size, size), "the new matrix")
    expect(close(found, W - 0.3 * right, 1e-4), "other-batch", "it fails on another batch.")


EXERCISES: list[Exercise] = [
    Exercise(
        id="3-one-hot",
        title="the one-hot matrix",
        level="warm-up",
        minutes=5,
        objective="the shape and the numbering of $\\mathbf{X}$",
        prerequisites=(
            "[a tiny document](03_problem_setup.ipynb#a-tiny-document-all-the-way)",
            "NumPy's broadcasting",
        ),
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
        prerequisites=(
            "[a tiny document](03_problem_setup.ipynb#a-tiny-document-all-the-way)",
            "products of matrices",
        ),
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
        prerequisites=(
            "[a tiny document](03_problem_setup.ipynb#a-tiny-document-all-the-way)",
            "NumPy's indexing with true and false",
        ),
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
        graded=True,
        explanation=r"""
            The model sees the masked tokens; the targets are the original words; the positions are all of $M$. Positions that were kept or replaced by a random word count like those that show [MASK].
        """,
    ),
    Exercise(
        id="3-training-step",
        title="one step of training, by hand",
        level="challenge",
        minutes=30,
        objective="the gradient of the whole chain, from documents to loss",
        prerequisites=(
            "[a tiny document](03_problem_setup.ipynb#a-tiny-document-all-the-way)",
            "exercise 3-document-loss",
            "the gradient of a function of a matrix",
        ),
        function="training_step",
        statement=r"""
            Make one step of gradient descent with the learning rate `rate` for the model of the exercises before (one-hot, uniform attention, matrix `W` of shape $(V, V)$, no bias). `words` and `masked` have shape $(B, N)$: the original word ids of $B$ documents and the
            token ids after masking. `selected` of the same shape is true at the positions to be predicted, at least one in each document. The objective is the mean over documents of the mean over selected positions of {{loss_in_words}}.
            Return the new `W`. Derive the gradient on paper; use no automatic or numerical differentiation.
        """,
        stub='''
            def training_step(W, words, masked, selected, rate):
                """The matrix after one step of gradient descent; shape (V, V)."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def training_step(W, words, masked, selected, rate):
                slope = np.zeros(W.shape)
                for original, shown, chosen in zip(words, masked, selected):
                    seen = np.bincount(shown, minlength=len(W)) / len(shown)
                    prediction = W @ seen
                    goal = np.bincount(original[chosen], minlength=len(W)) / chosen.sum()
                    {{step}}
                {{extra}}
                return W - rate * slope / len(words)
        """,
        alternative="""
            import numpy as np

            def training_step(W, words, masked, selected, rate):
                B, N = words.shape
                seen = np.eye(len(W))[masked].sum(axis=1) / N  # (B, V)
                total = np.zeros_like(W, dtype=float)
                for b in range(B):
                    f = np.einsum("ij,j->i", W, seen[b])
                    hot = np.stack([np.arange(len(W)) == w for w in words[b][selected[b]]], axis=1)
                    per_position = {{per_position}}
                    total += np.einsum("im,j->ij", per_position, seen[b]) / per_position.shape[1]
                slope = total
                {{extra}}
                return (W - rate / B * slope).tolist()
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def training_step(W, words, masked, selected, rate):
                    slope = np.zeros(W.shape)
                    for original, shown, chosen in zip(words, masked, selected):
                        seen = np.bincount(shown, minlength=len(W)) / len(shown)
                        prediction = W @ seen
                        goal = np.bincount(original[chosen], minlength=len(W)) / chosen.sum()
                        {{step}}
                    {{extra}}
                    return W + rate * slope / len(words)
                """,
                "uphill",
            ),
            Wrong(
                """
                import numpy as np

                def training_step(W, words, masked, selected, rate):
                    slope = np.zeros(W.shape)
                    for original, shown, chosen in zip(words, masked, selected):
                        seen = np.bincount(shown, minlength=len(W)) / len(shown)
                        prediction = W @ seen
                        goal = np.bincount(original[chosen], minlength=len(W)) / chosen.sum()
                        {{step}}
                    {{extra}}
                    return W - rate * slope
                """,
                "sum-over-documents",
            ),
            Wrong(
                """
                import numpy as np

                def training_step(W, words, masked, selected, rate):
                    slope = np.zeros(W.shape)
                    for original, shown, chosen in zip(words, masked, selected):
                        seen = np.bincount(shown, minlength=len(W)) / len(shown)
                        prediction = W @ seen
                        goal = np.bincount(shown[chosen], minlength=len(W)) / chosen.sum()
                        {{step}}
                    {{extra}}
                    return W - rate * slope / len(words)
                """,
                "goal-masked",
            ),
            Wrong(
                """
                import numpy as np

                def training_step(W, words, masked, selected, rate):
                    slope = np.zeros(W.shape)
                    for original, shown, chosen in zip(words, masked, selected):
                        seen = np.bincount(original, minlength=len(W)) / len(shown)
                        prediction = W @ seen
                        goal = np.bincount(original[chosen], minlength=len(W)) / chosen.sum()
                        {{step}}
                    {{extra}}
                    return W - rate * slope / len(words)
                """,
                "input-unmasked",
            ),
            Wrong(
                """
                import numpy as np

                def training_step(W, words, masked, selected, rate):
                    slope = np.zeros(W.shape)
                    for original, shown, chosen in zip(words, masked, selected):
                        seen = np.bincount(shown, minlength=len(W)) / len(shown)
                        prediction = W @ seen
                        goal = np.bincount(original, minlength=len(W)) / len(original)
                        {{step}}
                    {{extra}}
                    return W - rate * slope / len(words)
                """,
                "all-positions",
            ),
            Wrong(
                """
                import numpy as np

                def training_step(W, words, masked, selected, rate):
                    slope = np.zeros(W.shape)
                    for original, shown, chosen in zip(words, masked, selected):
                        seen = np.bincount(shown, minlength=len(W)) / len(shown)
                        prediction = W @ seen
                        goal = np.bincount(np.append(original[shown == 0], original[chosen][:0]), minlength=len(W)) / max((shown == 0).sum(), 1)
                        {{step}}
                    {{extra}}
                    return W - rate * slope / len(words)
                """,
                "only-masks",
            ),
            Wrong(
                """
                import numpy as np

                def training_step(W, words, masked, selected, rate):
                    slope = np.zeros(W.shape)
                    for original, shown, chosen in zip(words, masked, selected):
                        seen = np.bincount(shown, minlength=len(W)) / len(shown)
                        prediction = W @ seen
                        goal = np.bincount(original[chosen], minlength=len(W)) / chosen.sum()
                        before = slope.copy()
                        {{step}}
                        slope = before + (slope - before).T
                    {{extra}}
                    return W - rate * slope / len(words)
                """,
                "transposed",
            ),
            Wrong(
                """
                import numpy as np

                def training_step(W, words, masked, selected, rate):
                    slope = np.zeros(W.shape)
                    for original, shown, chosen in zip(words, masked, selected):
                        seen = np.bincount(shown, minlength=len(W)) / len(shown)
                        prediction = W @ seen
                        goal = np.bincount(original[chosen], minlength=len(W)) / chosen.sum()
                        {{step}}
                    {{extra}}
                    return slope / len(words)
                """,
                "gradient-not-step",
            ),
            Wrong(
                """
                import numpy as np

                def training_step(W, words, masked, selected, rate):
                    slope, share = np.zeros(W.shape), len(words) / selected.sum()
                    for original, shown, chosen in zip(words, masked, selected):
                        seen = np.bincount(shown, minlength=len(W)) / len(shown)
                        prediction = W @ seen
                        goal = np.bincount(original[chosen], minlength=len(W)) / chosen.sum()
                        before = slope.copy()
                        {{step}}
                        slope = before + (slope - before) * chosen.sum() * share
                    {{extra}}
                    return W - rate * slope / len(words)
                """,
                "pooled",
            ),
        ),
        hidden=_hidden_step,
        graded=True,
        explanation=r"""
            With uniform attention all positions of a document get $\mathbf{f} = \mathbf{W} \bar{\mathbf{x}}$ with the average $\bar{\mathbf{x}}$ of the masked columns. So $\partial L / \partial \mathbf{W}$ is the mean over documents of $\mathbf{g}\, \bar{\mathbf{x}}^\top$, where $\mathbf{g}$ is the slope by $\mathbf{f}$, averaged over
            the selected positions. {{why}} It is linear in the label, so the labels of a document can be averaged first.
        """,
        variants=(
            Variant(
                {"loss": "squared"},
                {
                    "loss_in_words": "the squared loss",
                    "step": "slope += np.outer(2 * (prediction - goal), seen)",
                    "extra": "slope = slope + 0",
                    "per_position": "2 * (f[:, None] - hot)",
                    "why": "The slope of a squared norm is twice the difference.",
                },
            ),
            Variant(
                {"loss": "cross-entropy"},
                {
                    "loss_in_words": "the cross-entropy in nats, with the prediction as logits",
                    "step": "slope += np.outer(np.exp(prediction) / np.exp(prediction).sum() - goal, seen)",
                    "extra": "slope = slope + 0",
                    "per_position": "(np.exp(f) / np.exp(f).sum())[:, None] - hot",
                    "why": "The slope of the cross-entropy by the logits is the softmax minus the label.",
                },
            ),
            Variant(
                {"loss": "penalised"},
                {
                    "loss_in_words": "the squared loss plus the penalty $\\lambda \\|\\mathbf{W}\\|_F^2$ with $\\lambda = 0.1$",
                    "step": "slope += np.outer(2 * (prediction - goal), seen)",
                    "extra": "slope = slope + len(words) * 0.2 * W",
                    "per_position": "2 * (f[:, None] - hot)",
                    "why": "The slope of a squared norm is twice the difference, and that of the penalty is $2 \\lambda \\mathbf{W}$.",
                },
            ),
        ),
    ),
]

PAPER: list[PaperExercise] = [
    PaperExercise(
        id="3-paper-order",
        title="no order in, no order out",
        level="core",
        minutes=25,
        objective="an invariance of the data, one of the model, and what both together say",
        prerequisites=(
            "[what is simplified](03_problem_setup.ipynb#what-is-simplified)",
            "permutation matrices",
        ),
        statement=r"""
            Let $\mathbf{P}$ be a permutation matrix that shuffles the $N$ positions of a document: $\mathbf{X} \mapsto \mathbf{X} \mathbf{P}$. (a) Prove that a document of the topic model and its shuffled version have the same probability, also together with the mask. (b) Prove that the model $f(\tilde{\mathbf{X}}) = \mathbf{W}^V \tilde{\mathbf{X}} A(\tilde{\mathbf{X}})$ with $A(\mathbf{Z}) =
            \sigma((\mathbf{W}^K \mathbf{Z})^\top (\mathbf{W}^Q \mathbf{Z}))$, $\sigma$ the softmax of each column, satisfies $f(\tilde{\mathbf{X}} \mathbf{P}) = f(\tilde{\mathbf{X}}) \mathbf{P}$. (c) Take *any* predictor $g$, with a convex loss for each column, for example one that uses positions. Show that some predictor with the property of (b) has an expected loss that is not larger.
            (d) What does this say about position embeddings on this data, and which of the assumptions fails for real text?
        """,
        graded=True,
        rubric=(
            (
                2,
                "(a): given the topics the words are independent with the same distribution at each position (1 point), and positions are selected and replaced independently in the same way (1 point).",
            ),
            (
                3,
                "(b): scores become P^T S P (1 point), the column-wise softmax commutes with shuffling rows and columns (1 point), and P P^T = I in the product with the values (1 point).",
            ),
            (
                3,
                "(c): averages g(XP)P^T over all permutations (1 point), shows that the average has the property (1 point), and uses convexity and (a) for the loss (1 point).",
            ),
            (
                2,
                "(d): position embeddings cannot lower the least loss here (1 point); in real text words are not independent given the topics, or not equally distributed over positions (1 point).",
            ),
        ),
        model_answer=r"""
            (a) Given the document's topics, the probability of the words is a product over positions of one and the same function of the word. A product does not depend on the order. The mask selects each position independently with the same probability and treats it independently in the same way, so the probability of the pair
            (original, masked, selected) is again a product of equal functions. Averaging over the topics keeps this.

            (b) Put $\mathbf{Z} = \tilde{\mathbf{X}}$ and $\mathbf{S} = (\mathbf{W}^K \mathbf{Z})^\top (\mathbf{W}^Q \mathbf{Z})$. For $\mathbf{Z}\mathbf{P}$ the scores are $\mathbf{P}^\top \mathbf{S} \mathbf{P}$: rows and columns shuffled alike. Shuffling the columns of scores shuffles the columns of the softmax; shuffling the rows shuffles the entries of each column and leaves the sum in the denominator as it was. So
            $A(\mathbf{Z}\mathbf{P}) = \mathbf{P}^\top A(\mathbf{Z}) \mathbf{P}$, and $f(\mathbf{Z}\mathbf{P}) = \mathbf{W}^V \mathbf{Z} \mathbf{P} \mathbf{P}^\top A(\mathbf{Z}) \mathbf{P} = f(\mathbf{Z}) \mathbf{P}$.

            (c) Let $\bar{g}(\mathbf{Z}) = \frac{1}{N!} \sum_{\mathbf{P}} g(\mathbf{Z}\mathbf{P}) \mathbf{P}^\top$. Then $\bar{g}(\mathbf{Z}\mathbf{Q}) = \frac{1}{N!} \sum_{\mathbf{P}} g(\mathbf{Z}\mathbf{Q}\mathbf{P}) (\mathbf{Q}\mathbf{P})^\top \mathbf{Q} = \bar{g}(\mathbf{Z}) \mathbf{Q}$, as $\mathbf{Q}\mathbf{P}$ runs through all permutations. The loss of a document is a mean over selected positions of convex functions of the columns, so it is
            convex in the prediction, and the loss of $\bar{g}$ is at most the mean over $\mathbf{P}$ of the losses of $g(\mathbf{Z}\mathbf{P})\mathbf{P}^\top$. The latter compares column by column what $g$ says of the shuffled document with the shuffled original, so it is the loss of $g$ on the shuffled document. By (a) its expectation is that of $g$, for each
            $\mathbf{P}$. Hence the expected loss of $\bar{g}$ is at most that of $g$.

            (d) The least loss can be reached without using positions, so position embeddings cannot lower it on this data. In real text the words are not independent given the topics: a word depends on its neighbours, and the step (a) fails.
        """,
    ),
]
