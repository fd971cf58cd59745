"""Exercises of Section 3.3."""

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
from topiclib.checks.base import Answer, as_array, close, expect


def _softmax(scores: np.ndarray) -> np.ndarray:
    weights: np.ndarray = np.exp(scores - scores.max(axis=0))
    return weights / weights.sum(axis=0)


def _hidden_column_softmax(answer: Answer) -> None:
    scores = np.random.default_rng(4).normal(size=(5, 7))
    expect(close(as_array(answer(scores), (5, 7), "the weights"), _softmax(scores)), "other-shape", "it fails on another shape.")


def _hidden_attention(answer: Answer) -> None:
    rng = np.random.default_rng(5)
    z, w_k, w_q = rng.normal(size=(6, 8)), rng.normal(size=(3, 6)), rng.normal(size=(3, 6))
    a = as_array(answer(z, w_k, w_q), (8, 8), "the attention weights")
    expect(close(a, _softmax((w_k @ z).T @ (w_q @ z) / 3**0.5)), "other-shape", "it fails on matrices of another shape.")


def _hidden_predict(answer: Answer) -> None:
    rng = np.random.default_rng(6)
    w_e, w_v, b, tokens = rng.normal(size=(4, 9)), rng.normal(size=(4, 4)), rng.normal(size=9), np.array([8, 0, 3, 3, 1])
    a = _softmax(rng.normal(size=(5, 5)))
    f = as_array(answer(tokens, w_e, w_v, a, b), (9, 5), "the predictions")
    expect(close(f, w_e.T @ w_v @ w_e[:, tokens] @ a + b[:, None]), "other-shape", "it fails on matrices of another shape.")


def _hidden_counts(answer: Answer) -> None:
    scores, counts = np.random.default_rng(7).normal(size=(6, 6)), np.array([2, 0, 0, 5, 1, 40])
    weights = counts[:, None] * np.exp(scores)
    got = as_array(answer(scores, counts), (6, 6), "the weights")
    expect(close(got, weights / weights.sum(axis=0)), "other-counts", "it fails on other counts.")


def _hidden_loss_of_pairs(answer: Answer) -> None:
    rng = np.random.default_rng(9)
    predictions, pair = rng.normal(size=(5, 4)), np.array([3, 0, 2, 1, 0, 3, 3, 2])
    targets, docs = rng.integers(1, 5, size=8), np.array([2, 0, 1, 0, 0, 2, 2, 1])
    each = np.log(np.exp(predictions).sum(axis=0))[pair] - predictions[targets, pair]
    wanted = np.mean([each[docs == d].mean() for d in range(3)])
    got = as_array(answer(predictions, pair, targets, docs), (), "the loss")
    expect(close(got, wanted), "other-batch", "it fails on another batch.")


def _hidden_one_matrix(answer: Answer) -> None:
    rng = np.random.default_rng(8)
    w_k, w_q, b_k, b_q = rng.normal(size=(2, 6)), rng.normal(size=(2, 6)), rng.normal(size=2), rng.normal(size=2)
    z = rng.normal(size=(6, 9))
    b, c = answer(w_k, w_q, b_k, b_q)
    wanted = _softmax((w_k @ z + b_k[:, None]).T @ (w_q @ z + b_q[:, None]) / 2**0.5)
    scores = z.T @ as_array(b, (6, 6), "B") @ z + (z.T @ as_array(c, (6,), "c"))[:, None]
    expect(close(_softmax(scores), wanted), "other-shape", "it fails on matrices of another shape.")


def _hidden_score_gradient(answer: Answer, loss: str = "cross-entropy", layout: str = "key") -> None:
    rng = np.random.default_rng(38)
    scores, w_v = 2 * rng.normal(size=(7, 7)), rng.normal(size=(7, 7))
    counts, weights = np.array([4, 0, 7, 1, 2, 0, 30]), rng.random((7, 7)) * (rng.random((7, 1)) < 0.7)
    right = np.zeros((7, 7))
    for q in range(7):
        a = _softmax(scores[:, q] + np.log(np.maximum(counts, 1e-300)))
        f = w_v @ a
        by_f = sum(
            weights[q, w] * ((_softmax(f) if loss == "cross-entropy" else 2 * f) - (1 + (loss != "cross-entropy")) * np.eye(7)[w])
            for w in range(7)
        )
        right[:, q] = (np.diag(a) - np.outer(a, a)) @ w_v.T @ by_f
    found = as_array(answer(scores, counts, w_v, weights), (7, 7), "the derivatives")
    expect(close(found, right if layout == "key" else right.T, 1e-4), "other-document", "it fails on another document.")


EXERCISES: list[Exercise] = [
    Exercise(
        id="3.3-column-softmax",
        title="the column-wise softmax",
        level="warm-up",
        minutes=5,
        objective="the direction of the paper's softmax, and a numerically safe way to compute it",
        prerequisites=(
            "[equation 5](03_3_architecture.ipynb#equation-5)",
            "NumPy's axes and broadcasting",
        ),
        function="column_softmax",
        statement=r"""
            Write the softmax of equation 5: $\sigma(S)_{ij} = \exp(S_{ij}) / \sum_l \exp(S_{lj})$. `scores` is an array
            of shape (keys, queries). It must also work when scores are in the thousands.
        """,
        stub='''
            def column_softmax(scores):
                """Softmax over the keys: every column of the result sums to 1."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def column_softmax(scores):
                weights = np.exp(scores - scores.max(axis=0))
                return weights / weights.sum(axis=0)
        """,
        alternative="""
            import torch

            def column_softmax(scores):
                return torch.softmax(torch.as_tensor(scores), dim=0).numpy()
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def column_softmax(scores):
                    e = np.exp(scores)
                    return e / e.sum(axis=1, keepdims=True)
                """,
                "rows-normalised",
            ),
            Wrong(
                """
                import numpy as np

                def column_softmax(scores):
                    return np.exp(scores) / np.exp(scores).sum()
                """,
                "all-normalised",
            ),
            Wrong(
                """
                def column_softmax(scores):
                    return abs(scores) / abs(scores).sum(axis=0)
                """,
                "not-exponential",
            ),
            Wrong(
                """
                def column_softmax(scores):
                    return scores / scores.sum(axis=0)
                """,
                "not-positive",
            ),
            Wrong(
                """
                import numpy as np

                def column_softmax(scores):
                    return np.exp(scores) / np.exp(scores).sum(axis=0)
                """,
                "overflow",
            ),
            Wrong(
                """
                import numpy as np

                def column_softmax(scores):
                    weights = np.exp(np.clip(scores, -700, 700))
                    return weights / weights.sum(axis=0)
                """,
                "clipped",
            ),
            Wrong(
                """
                import numpy as np

                def column_softmax(scores):
                    weights = np.zeros(scores.shape)
                    for j in range(3):
                        weights[:, j] = np.exp(scores[:, j] - scores[:, j].max())
                        weights[:, j] /= weights[:, j].sum()
                    return weights
                """,
                "size-fixed",
            ),
        ),
        hidden=_hidden_column_softmax,
        explanation=r"""
            The sum runs over the keys, the first index. Subtracting a column's maximum changes nothing, since softmax
            ignores a constant added to a column, and keeps `exp` from overflowing.
        """,
    ),
    Exercise(
        id="3.3-attention",
        title="attention weights from their three matrices",
        level="core",
        minutes=8,
        objective="equation 5: which index is the key, and where the square root goes",
        prerequisites=(
            "[equation 5](03_3_architecture.ipynb#equation-5)",
            "products of matrices and their shapes",
        ),
        function="attention_weights",
        statement=r"""
            Compute $A(\mathbf{Z})$ of equation 5, without biases. `z` is $\mathbf{Z}$ of shape $(d, N)$, one column for
            each position; `w_k` and `w_q` are $\mathbf{W}^K$ and $\mathbf{W}^Q$ of shape $(d_a, d)$. Return the
            $(N, N)$ array of weights, with the query in the column. You may use `np.exp`, or `torch.softmax`.
        """,
        stub='''
            def attention_weights(z, w_k, w_q):
                """Equation 5: A[i, j] is the weight of key i for query j."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def attention_weights(z, w_k, w_q):
                scores = (w_k @ z).T @ (w_q @ z) / np.sqrt(len(w_k))
                weights = np.exp(scores - scores.max(axis=0))
                return weights / weights.sum(axis=0)
        """,
        alternative="""
            import numpy as np

            def attention_weights(z, w_k, w_q):
                columns = []
                for query in (w_q @ z).T:
                    weights = np.exp([key @ query / w_q.shape[0] ** 0.5 for key in (w_k @ z).T])
                    columns.append(weights / weights.sum())
                return np.stack(columns, axis=1)
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def attention_weights(z, w_k, w_q):
                    weights = np.exp((w_k @ z).T @ (w_q @ z))
                    return weights / weights.sum(axis=0)
                """,
                "no-scale",
            ),
            Wrong(
                """
                import numpy as np

                def attention_weights(z, w_k, w_q):
                    weights = np.exp((w_k @ z).T @ (w_q @ z) / np.sqrt(len(z)))
                    return weights / weights.sum(axis=0)
                """,
                "wrong-scale",
            ),
            Wrong(
                """
                import numpy as np

                def attention_weights(z, w_k, w_q):
                    weights = np.exp((w_k @ z).T @ (w_q @ z) / len(w_k))
                    return weights / weights.sum(axis=0)
                """,
                "wrong-scale",
            ),
            Wrong(
                """
                import numpy as np

                def attention_weights(z, w_k, w_q):
                    weights = np.exp((w_q @ z).T @ (w_k @ z) / np.sqrt(len(w_k)))
                    return weights / weights.sum(axis=0)
                """,
                "keys-and-queries-swapped",
            ),
            Wrong(
                """
                import numpy as np

                def attention_weights(z, w_k, w_q):
                    weights = np.exp((w_k @ z).T @ (w_q @ z) / np.sqrt(len(w_k)))
                    return weights / weights.sum(axis=1, keepdims=True)
                """,
                "rows-normalised",
            ),
            Wrong(
                """
                import numpy as np

                def attention_weights(z, w_k, w_q):
                    weights = np.exp((w_k @ z).T @ (w_q @ z) / 2)
                    return weights / weights.sum(axis=0)
                """,
                "wrong-scale",
            ),
            Wrong(
                """
                import numpy as np

                def attention_weights(z, w_k, w_q):
                    weights = np.exp((w_k @ z).T @ (w_q @ z) / np.sqrt(5))
                    return weights / weights.sum(axis=0)
                """,
                "wrong-scale",
            ),
        ),
        hidden=_hidden_attention,
        explanation=r"""
            `(w_k @ z).T @ (w_q @ z)` puts the key in the row and the query in the column. The scale is the square root
            of the head size $d_a$, the number of rows of `w_k`: a sum of $d_a$ products of independent numbers of unit
            variance has standard deviation $\sqrt{d_a}$, so the scaled scores start with unit variance whatever the
            head size.
        """,
    ),
    Exercise(
        id="3.3-predict",
        title="predictions with a tied head",
        level="core",
        minutes=8,
        objective="equation 6 with its transpose, and one matrix in two roles",
        prerequisites=(
            "[equation 6](03_3_architecture.ipynb#equation-6)",
            "products of matrices and their shapes",
        ),
        function="predict",
        statement=r"""
            Compute the predictions of equation 6 when the attention weights are given. `tokens` is an array of $N$
            token ids; `w_e` is $\mathbf{W}^E$ $(d, V)$, used at both ends; `w_v` is $\mathbf{W}^V$ $(d, d)$; `a` is $A$
            $(N, N)$ with columns that sum to 1; `b_pred` has shape $(V,)$. Return the array of shape $(V, N)$.
        """,
        stub='''
            def predict(tokens, w_e, w_v, a, b_pred):
                """Equation 6: column j is the prediction at position j."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def predict(tokens, w_e, w_v, a, b_pred):
                z = w_e[:, tokens]
                return w_e.T @ (w_v @ z @ a) + b_pred[:, None]
        """,
        alternative="""
            import numpy as np

            def predict(tokens, w_e, w_v, a, b_pred):
                x = np.eye(w_e.shape[1])[tokens].T
                values = np.einsum("de,ev,vn->dn", w_v, w_e, x)
                return (w_e.T @ values @ a + np.outer(b_pred, np.ones(len(tokens)))).tolist()
        """,
        wrong=(
            Wrong(
                """
                def predict(tokens, w_e, w_v, a, b_pred):
                    return w_e @ w_v @ w_e[:, tokens] @ a + b_pred[:, None]
                """,
                "not-transposed",
            ),
            Wrong(
                """
                def predict(tokens, w_e, w_v, a, b_pred):
                    return w_e.T @ w_v @ w_e[:, tokens] @ a.T + b_pred[:, None]
                """,
                "attention-transposed",
            ),
            Wrong(
                """
                def predict(tokens, w_e, w_v, a, b_pred):
                    return w_e.T @ w_v @ w_e[:, tokens] @ a
                """,
                "no-bias",
            ),
            Wrong(
                """
                def predict(tokens, w_e, w_v, a, b_pred):
                    return w_v @ w_e[:, tokens] @ a
                """,
                "no-head",
            ),
            Wrong(
                """
                def predict(tokens, w_e, w_v, a, b_pred):
                    return (w_e.T @ w_v @ w_e + b_pred[:, None])[:, tokens]
                """,
                "no-attention",
            ),
        ),
        hidden=_hidden_predict,
        explanation=r"""
            Row $i$ of $\mathbf{W}^{E\top}$ is the embedding of word $i$, so logit $i$ is the dot product of that
            embedding with the mixed values. As the columns of $A$ sum to 1, adding the bias before or after the mixing
            is the same.
        """,
    ),
    Exercise(
        id="3.3-attention-from-counts",
        title="attention from word counts",
        level="core",
        minutes=10,
        objective="a document enters attention through its word counts only",
        prerequisites=(
            "[why only word counts matter](03_3_architecture.ipynb#no-positions-only-the-word-counts-matter)",
            "NumPy's broadcasting",
        ),
        function="attention_from_counts",
        statement=r"""
            A model has no positions, so the score of a key depends on its word alone. `scores` is the $(V, V)$ array of
            scores $S_{kq}$ of key word $k$ for query word $q$, and `counts` the $(V,)$ array of how often each word
            stands in the document, at least one of them above 0. Return the $(V, V)$ array whose entry $(k, q)$ is the
            **total** weight that a query with word $q$ gives to all positions of word $k$. A word that does not occur
            gets exactly 0.
        """,
        stub='''
            def attention_from_counts(scores, counts):
                """Total attention of query word q (column) to all copies of key word k (row)."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def attention_from_counts(scores, counts):
                weights = np.asarray(counts)[:, None] * np.exp(scores)
                return weights / weights.sum(axis=0)
        """,
        alternative="""
            import torch

            def attention_from_counts(scores, counts):
                log_counts = torch.as_tensor(counts).double().log()
                return torch.softmax(torch.as_tensor(scores) + log_counts[:, None], dim=0)
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def attention_from_counts(scores, counts):
                    return np.exp(scores) / np.exp(scores).sum(axis=0)
                """,
                "no-counts",
            ),
            Wrong(
                """
                import numpy as np

                def attention_from_counts(scores, counts):
                    weights = np.exp(scores + np.log(1 + counts)[:, None])
                    return weights / weights.sum(axis=0)
                """,
                "absent-words",
            ),
            Wrong(
                """
                import numpy as np

                def attention_from_counts(scores, counts):
                    weights = (counts > 0)[:, None] * np.exp(scores)
                    return weights / weights.sum(axis=0)
                """,
                "no-counts",
            ),
            Wrong(
                """
                import numpy as np

                def attention_from_counts(scores, counts):
                    weights = np.exp(counts[:, None] * scores) * (counts > 0)[:, None]
                    return weights / weights.sum(axis=0)
                """,
                "counts-multiply-scores",
            ),
            Wrong(
                """
                import numpy as np

                def attention_from_counts(scores, counts):
                    weights = counts[:, None] * np.exp(scores)
                    return np.exp(scores) * (counts > 0)[:, None] / weights.sum(axis=0)
                """,
                "one-copy-only",
            ),
            Wrong(
                """
                import numpy as np

                def attention_from_counts(scores, counts):
                    weights = counts[None, :] * np.exp(scores)
                    return weights / weights.sum(axis=0)
                """,
                "no-counts",
            ),
            Wrong(
                """
                import numpy as np

                def attention_from_counts(scores, counts):
                    weights = counts[:, None] * np.exp(scores)
                    return weights / weights.sum(axis=0) * (counts > 0)
                """,
                "absent-query",
            ),
            Wrong(
                """
                import numpy as np

                def attention_from_counts(scores, counts):
                    weights = np.exp(scores + np.log(counts + 1e-9)[:, None])
                    return weights / weights.sum(axis=0)
                """,
                "trace-of-absent",
            ),
        ),
        hidden=_hidden_counts,
        explanation=r"""
            All $c_k$ copies of word $k$ have the same score, so together they bring
            $c_k \exp(S_{kq}) = \exp(S_{kq} + \log c_k)$ into the sum. Attention over positions is attention over the
            vocabulary with $\log c_k$ added to the scores.
        """,
    ),
    Exercise(
        id="3.3-loss-of-pairs",
        title="the loss from pairs",
        level="core",
        minutes=12,
        objective="positions that share a prediction, and the weight of each in equation 1",
        prerequisites=(
            "equation 1 ([Section 3.2](03_2_training_objective.ipynb#the-objective))",
            "[the loss from pairs](03_3_architecture.ipynb#equal-tokens-share-a-prediction-the-loss-from-pairs)",
        ),
        function="loss_of_pairs",
        statement=r"""
            A batch has $P$ pairs (document, shown token) and $M$ selected positions. `predictions` is the $(V, P)$
            array of logits, one column for each pair. `pair` $(M,)$ says which pair each selected position belongs to,
            `targets` $(M,)$ the id of its hidden word, and `docs` $(M,)$ its document, $0$ to $B - 1$; each document
            has at least one position, and positions come in any order. Return equation 1 with cross-entropy, in nats.
        """,
        stub='''
            def loss_of_pairs(predictions, pair, targets, docs):
                """Equation 1 of a batch, from one prediction for each pair."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def loss_of_pairs(predictions, pair, targets, docs):
                normaliser = np.log(np.exp(predictions).sum(axis=0))
                sizes = np.bincount(docs)
                each = normaliser[pair] - predictions[targets, pair]
                return (each / sizes[docs]).sum() / len(sizes)
        """,
        alternative="""
            import torch

            def loss_of_pairs(predictions, pair, targets, docs):
                logits = torch.as_tensor(predictions)[:, pair].T
                losses = torch.nn.functional.cross_entropy(logits, torch.as_tensor(targets), reduction="none")
                of_documents = [losses[torch.as_tensor(docs) == d].mean() for d in range(max(docs) + 1)]
                return torch.stack(of_documents).mean()
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def loss_of_pairs(predictions, pair, targets, docs):
                    each = np.log(np.exp(predictions).sum(axis=0))[pair] - predictions[targets, pair]
                    return each.mean()
                """,
                "positions-alike",
            ),
            Wrong(
                """
                import numpy as np

                def loss_of_pairs(predictions, pair, targets, docs):
                    each = np.log(np.exp(predictions).sum(axis=0))[pair] - predictions[targets, pair]
                    return sum(each[docs == d].mean() for d in set(docs))
                """,
                "sum-over-documents",
            ),
            Wrong(
                """
                import numpy as np

                def loss_of_pairs(predictions, pair, targets, docs):
                    each = np.log(np.exp(predictions).sum(axis=0))[pair] - predictions[targets, pair]
                    return sum(each[docs == d].sum() for d in set(docs)) / len(set(docs))
                """,
                "no-mask-size",
            ),
            Wrong(
                """
                import numpy as np

                def loss_of_pairs(predictions, pair, targets, docs):
                    normaliser = np.log(np.exp(predictions).sum(axis=0))
                    loss = 0
                    for d in set(docs):
                        of_pairs = [(normaliser[p] - predictions[targets[pair == p], p]).mean() for p in set(pair[docs == d])]
                        loss += np.mean(of_pairs) / len(set(docs))
                    return loss
                """,
                "pairs-alike",
            ),
            Wrong(
                """
                import numpy as np

                def loss_of_pairs(predictions, pair, targets, docs):
                    target_of_pair = dict(zip(pair, targets))
                    one_target = np.array([target_of_pair[p] for p in pair])
                    each = np.log(np.exp(predictions).sum(axis=0))[pair] - predictions[one_target, pair]
                    return np.mean([each[docs == d].mean() for d in set(docs)])
                """,
                "one-target-a-pair",
            ),
            Wrong(
                """
                import numpy as np

                def loss_of_pairs(predictions, pair, targets, docs):
                    each = -predictions[targets, pair]
                    return np.mean([each[docs == d].mean() for d in set(docs)])
                """,
                "no-softmax",
            ),
            Wrong(
                """
                import numpy as np

                def loss_of_pairs(predictions, pair, targets, docs):
                    each = -np.log(predictions[targets, pair])
                    return np.mean([each[docs == d].mean() for d in set(docs)])
                """,
                "no-softmax",
            ),
            Wrong(
                """
                import numpy as np

                def loss_of_pairs(predictions, pair, targets, docs):
                    each = np.log(np.exp(predictions).sum(axis=1))[targets] - predictions[targets, pair]
                    return np.mean([each[docs == d].mean() for d in set(docs)])
                """,
                "softmax-over-pairs",
            ),
            Wrong(
                """
                import numpy as np

                def loss_of_pairs(predictions, pair, targets, docs):
                    each = predictions[targets, pair] - np.log(np.exp(predictions).sum(axis=0))[pair]
                    return np.mean([each[docs == d].mean() for d in set(docs)])
                """,
                "wrong-sign",
            ),
            Wrong(
                """
                import numpy as np

                def loss_of_pairs(predictions, pair, targets, docs):
                    each = (np.log(np.exp(predictions).sum(axis=0))[pair] - predictions[targets, pair]) / np.log(2)
                    return np.mean([each[docs == d].mean() for d in set(docs)])
                """,
                "bits",
            ),
        ),
        hidden=_hidden_loss_of_pairs,
        graded=True,
        explanation=r"""
            The logarithm of the sum of exponentials is the same for all positions of a pair: taken once for a column,
            then looked up with `[pair]`. The hidden words of a pair may differ, so each position looks up its own
            logit. Position $s$ weighs $1 / (B |M|)$ with $|M|$ the number of selected positions in *its* document.
        """,
    ),
    Exercise(
        id="3.3-one-matrix",
        title="what attention remembers of its parameters",
        level="challenge",
        minutes=15,
        objective="which combinations of the two matrices and two biases attention depends on",
        prerequisites=(
            "[equation 5](03_3_architecture.ipynb#equation-5) with biases",
            "transposes of products",
        ),
        function="one_matrix",
        statement=r"""
            With the biases of Section 6.1 the scores are
            $(\mathbf{W}^K \mathbf{Z} + \mathbf{b}^K)^\top (\mathbf{W}^Q \mathbf{Z} + \mathbf{b}^Q) / \sqrt{d_a}$. Find
            a $(d, d)$ matrix $\mathbf{B}$ and a $(d,)$ vector $\mathbf{c}$ such that scores
            $\mathbf{z}_i^\top \mathbf{B} \mathbf{z}_j + \mathbf{c}^\top \mathbf{z}_i$ give the very same attention
            weights for every document. `w_k`, `w_q` have shape $(d_a, d)$ and `b_k`, `b_q` shape $(d_a,)$. Return
            `(B, c)`.
        """,
        stub='''
            def one_matrix(w_k, w_q, b_k, b_q):
                """(B, c) of shapes (d, d) and (d,) with the same attention weights."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def one_matrix(w_k, w_q, b_k, b_q):
                scale = len(w_k) ** 0.5
                return w_k.T @ w_q / scale, w_k.T @ b_q / scale
        """,
        alternative="""
            import numpy as np

            def one_matrix(w_k, w_q, b_k, b_q):
                d_a, d = w_k.shape
                keys = w_k / d_a**0.5
                b = [[sum(keys[a, i] * w_q[a, j] for a in range(d_a)) for j in range(d)] for i in range(d)]
                return b, [float(np.dot(keys[:, i], b_q)) for i in range(d)]
        """,
        wrong=(
            Wrong(
                """
                def one_matrix(w_k, w_q, b_k, b_q):
                    return w_k.T @ w_q, w_k.T @ b_q
                """,
                "wrong-matrix",
            ),
            Wrong(
                """
                def one_matrix(w_k, w_q, b_k, b_q):
                    scale = len(w_k) ** 0.5
                    return w_q.T @ w_k / scale, w_k.T @ b_q / scale
                """,
                "matrix-transposed",
            ),
            Wrong(
                """
                def one_matrix(w_k, w_q, b_k, b_q):
                    scale = len(w_k) ** 0.5
                    return w_k.T @ w_q / scale, w_q.T @ b_k / scale
                """,
                "key-bias-kept",
            ),
            Wrong(
                """
                def one_matrix(w_k, w_q, b_k, b_q):
                    scale = len(w_k) ** 0.5
                    return w_k.T @ w_q / scale, (w_k.T @ b_q + w_q.T @ b_k) / scale
                """,
                "key-bias-kept",
            ),
            Wrong(
                """
                def one_matrix(w_k, w_q, b_k, b_q):
                    scale = len(w_k) ** 0.5
                    return w_k.T @ w_q / scale, 0 * w_k.T @ b_q
                """,
                "query-bias-lost",
            ),
            Wrong(
                """
                def one_matrix(w_k, w_q, b_k, b_q):
                    return w_k.T @ w_q / len(w_k) ** 0.5, w_k.T @ b_q
                """,
                "query-bias-scale",
            ),
            Wrong(
                """
                def one_matrix(w_k, w_q, b_k, b_q):
                    scale = 2
                    return w_k.T @ w_q / scale, w_k.T @ b_q / scale
                """,
                "wrong-matrix",
            ),
            Wrong(
                """
                def one_matrix(w_k, w_q, b_k, b_q):
                    scale = 5**0.5
                    return w_k.T @ w_q / scale, w_k.T @ b_q / scale
                """,
                "wrong-matrix",
            ),
        ),
        hidden=_hidden_one_matrix,
        explanation=r"""
            Multiply out. Of the four terms, $\mathbf{b}^{K\top} \mathbf{W}^Q \mathbf{z}_j$ and
            $\mathbf{b}^{K\top} \mathbf{b}^Q$ do not depend on the key $i$: each adds one number to a whole column of
            scores, which the column-wise softmax ignores. What stays is
            $\mathbf{B} = \mathbf{W}^{K\top} \mathbf{W}^Q / \sqrt{d_a}$ and
            $\mathbf{c} = \mathbf{W}^{K\top} \mathbf{b}^Q / \sqrt{d_a}$. The key bias $\mathbf{b}^K$ has no effect at
            all, and any invertible $\mathbf{R}$ gives another pair $\mathbf{R}\mathbf{W}^K$,
            $\mathbf{R}^{-\top}\mathbf{W}^Q$ with the same $\mathbf{B}$.
        """,
    ),
    Exercise(
        id="3.3-score-gradient",
        title="back-propagation through attention, on counts",
        level="challenge",
        minutes=35,
        objective="the chain rule through a softmax with multiplicities, in matrices",
        prerequisites=(
            "[attention from word counts](03_3_architecture.ipynb#no-positions-only-the-word-counts-matter)",
            "[the loss from pairs](03_3_architecture.ipynb#equal-tokens-share-a-prediction-the-loss-from-pairs)",
            "the chain rule for vectors",
        ),
        function="gradient_of_scores",
        statement=r"""
            Write by hand what automatic differentiation does. The model is the one-hot model of equation 7 without biases, and there is one document. `scores` is the table $S_{kq}$ of key
            token $k$ and query token $q$, shape $(V, V)$; `counts` says how often each token stands in the document (some do not occur); `w_v` is
            $\mathbf{W}^V$. With $\mathbf{f}_q$ the prediction where token $q$ stands, the loss is $L = \sum_{q, w} \omega_{qw}\, l(\mathbf{f}_q, w)$. The array `weights` holds
            $\omega_{qw}$, the weight of all selected positions that show $q$ and hide the word $w$, and $l$ is {{loss_in_words}}. Return the derivatives of $L$ by the scores
            as an array of shape $(V, V)$ with {{layout_in_words}}. Do it with products of matrices, without automatic or numerical differentiation.
        """,
        stub='''
            def gradient_of_scores(scores, counts, w_v, weights):
                """Derivatives of the loss by the scores; {{layout_in_words}}."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def gradient_of_scores(scores, counts, w_v, weights):
                shares = np.asarray(counts)[:, None] * np.exp(scores - scores.max(axis=0))
                shares = shares / shares.sum(axis=0)
                predictions = w_v @ shares
                {{slope}}
                pull = w_v.T @ slope
                gradient = shares * (pull - (shares * pull).sum(axis=0))
                {{result}}
        """,
        alternative="""
            import numpy as np

            def gradient_of_scores(scores, counts, w_v, weights):
                size = len(counts)
                table = np.zeros((size, size))
                present = np.flatnonzero(counts)
                for q in range(size):
                    raw = counts[present] * np.exp(scores[present, q])
                    a = raw / raw.sum()
                    f = w_v[:, present] @ a
                    by_f = np.zeros(size)
                    for w in range(size):
                        target = np.zeros(size)
                        target[w] = 1
                        by_f += weights[q, w] * {{column_slope}}
                    jacobian = np.diag(a) - np.outer(a, a)
                    table[present, q] = jacobian @ (by_f @ w_v[:, present])
                return table if "{{layout}}" == "key" else table.T
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def gradient_of_scores(scores, counts, w_v, weights):
                    shares = np.asarray(counts)[:, None] * np.exp(scores)
                    shares = shares / shares.sum(axis=0)
                    predictions = w_v @ shares
                    {{slope}}
                    pull = w_v.T @ slope
                    gradient = shares * pull
                    {{result}}
                """,
                "not-centred",
            ),
            Wrong(
                """
                import numpy as np

                def gradient_of_scores(scores, counts, w_v, weights):
                    shares = np.asarray(counts)[:, None] * np.exp(scores)
                    shares = shares / shares.sum(axis=0)
                    predictions = w_v @ shares
                    {{slope}}
                    pull = w_v.T @ slope
                    gradient = shares * (pull - (shares * pull).sum(axis=0))
                    return (gradient if '{{layout}}' == 'query' else gradient.T)
                """,
                "layout",
            ),
            Wrong(
                """
                import numpy as np

                def gradient_of_scores(scores, counts, w_v, weights):
                    shares = (np.asarray(counts) > 0)[:, None] * np.exp(scores)
                    shares = shares / shares.sum(axis=0)
                    predictions = w_v @ shares
                    {{slope}}
                    pull = w_v.T @ slope
                    gradient = shares * (pull - (shares * pull).sum(axis=0))
                    {{result}}
                """,
                "counts-ignored",
            ),
            Wrong(
                """
                import numpy as np

                def gradient_of_scores(scores, counts, w_v, weights):
                    shares = np.exp(scores)
                    shares = shares / shares.sum(axis=0)
                    predictions = w_v @ shares
                    {{slope}}
                    pull = w_v.T @ slope
                    gradient = shares * (pull - (shares * pull).sum(axis=0))
                    {{result}}
                """,
                "absent-words",
            ),
            Wrong(
                """
                import numpy as np

                def gradient_of_scores(scores, counts, w_v, weights):
                    shares = np.asarray(counts)[:, None] * np.exp(scores)
                    shares = shares / shares.sum(axis=0)
                    predictions = w_v @ shares
                    {{slope}}
                    pull = w_v.T @ slope
                    gradient = np.exp(scores) / (np.asarray(counts)[:, None] * np.exp(scores)).sum(axis=0) * (pull - (shares * pull).sum(axis=0))
                    {{result}}
                """,
                "one-copy-only",
            ),
            Wrong(
                """
                import numpy as np

                def gradient_of_scores(scores, counts, w_v, weights):
                    shares = np.asarray(counts)[:, None] * np.exp(scores)
                    shares = shares / shares.sum(axis=0)
                    predictions = w_v @ shares
                    {{slope}}
                    pull = w_v @ slope
                    gradient = shares * (pull - (shares * pull).sum(axis=0))
                    {{result}}
                """,
                "value-transposed",
            ),
            Wrong(
                """
                import numpy as np

                def gradient_of_scores(scores, counts, w_v, weights):
                    shares = np.asarray(counts)[:, None] * np.exp(scores)
                    shares = shares / shares.sum(axis=0)
                    predictions = w_v @ shares
                    slope = weights.sum(axis=1) * predictions - weights.T
                    pull = w_v.T @ slope
                    gradient = shares * (pull - (shares * pull).sum(axis=0))
                    {{result}}
                """,
                "wrong-slope",
            ),
            Wrong(
                """
                import numpy as np

                def gradient_of_scores(scores, counts, w_v, weights):
                    shares = np.asarray(counts)[:, None] * np.exp(scores)
                    shares = shares / shares.sum(axis=0)
                    predictions = w_v @ shares
                    weights = weights.T
                    {{slope}}
                    pull = w_v.T @ slope
                    gradient = shares * (pull - (shares * pull).sum(axis=0))
                    {{result}}
                """,
                "weights-transposed",
            ),
            Wrong(
                """
                import numpy as np

                def gradient_of_scores(scores, counts, w_v, weights):
                    shares = np.asarray(counts)[:, None] * np.exp(scores)
                    shares = shares / shares.sum(axis=0)
                    predictions = w_v @ shares
                    {{slope}}
                    pull = w_v.T @ slope
                    gradient = shares * (pull - (shares * pull).sum(axis=0))
                    gradient = -gradient
                    {{result}}
                """,
                "wrong-sign",
            ),
            Wrong(
                """
                import numpy as np

                def gradient_of_scores(scores, counts, w_v, weights):
                    shares = np.asarray(counts)[:, None] * np.exp(scores)
                    shares = shares / shares.sum(axis=0)
                    predictions = w_v @ shares
                    weights = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-12)
                    {{slope}}
                    pull = w_v.T @ slope
                    gradient = shares * (pull - (shares * pull).sum(axis=0))
                    {{result}}
                """,
                "one-position-each",
            ),
            Wrong(
                """
                import numpy as np

                def gradient_of_scores(scores, counts, w_v, weights):
                    shares = np.asarray(counts)[:, None] * np.exp(scores)
                    shares = shares / shares.sum(axis=0)
                    predictions = w_v @ shares
                    {{slope}}
                    pull = w_v.T @ slope
                    gradient = shares * (pull - pull.mean(axis=0))
                    {{result}}
                """,
                "not-centred",
            ),
        ),
        hidden=_hidden_score_gradient,
        graded=True,
        explanation=r"""
            Three links. The loss depends on the prediction with the slope {{slope_in_words}}; the multiplicities add up over hidden words. Through
            $\mathbf{f}_q = \mathbf{W}^V \mathbf{a}_q$ a share feels the pull $\mathbf{p}_q = \mathbf{W}^{V\top} \partial L / \partial \mathbf{f}_q$. The shares are a softmax of the scores plus the
            logarithms of the counts, so $\partial L / \partial S_{kq} = a_{kq} (p_{kq} - \sum_l a_{lq} p_{lq})$: a key gains if its pull differs from the average pull. The derivatives of a
            query sum to zero over the keys, and a token with count 0 has share 0 and derivative 0.
        """,
        variants=(
            Variant(
                {"loss": "cross-entropy", "layout": "key"},
                {
                    "loss_in_words": "the cross-entropy in nats (equation 4)",
                    "layout_in_words": "the key in the row and the query in the column",
                    "slope": "slope = weights.sum(axis=1) * np.exp(predictions) / np.exp(predictions).sum(axis=0) - weights.T",
                    "column_slope": "(np.exp(f) / np.exp(f).sum() - target)",
                    "slope_in_words": "softmax minus target",
                    "result": "return gradient + 0",
                },
            ),
            Variant(
                {"loss": "squared", "layout": "query"},
                {
                    "loss_in_words": "the squared loss (equation 3)",
                    "layout_in_words": "the query in the row and the key in the column",
                    "slope": "slope = 2 * (weights.sum(axis=1) * predictions - weights.T)",
                    "column_slope": "2 * (f - target)",
                    "slope_in_words": "twice prediction minus target",
                    "result": "return gradient.T",
                },
            ),
            Variant(
                {"loss": "squared", "layout": "key"},
                {
                    "loss_in_words": "the squared loss (equation 3)",
                    "layout_in_words": "the key in the row and the query in the column",
                    "slope": "slope = 2 * (weights.sum(axis=1) * predictions - weights.T)",
                    "column_slope": "2 * (f - target)",
                    "slope_in_words": "twice prediction minus target",
                    "result": "return gradient + 0",
                },
            ),
            Variant(
                {"loss": "cross-entropy", "layout": "query"},
                {
                    "loss_in_words": "the cross-entropy in nats (equation 4)",
                    "layout_in_words": "the query in the row and the key in the column",
                    "slope": "slope = weights.sum(axis=1) * np.exp(predictions) / np.exp(predictions).sum(axis=0) - weights.T",
                    "column_slope": "(np.exp(f) / np.exp(f).sum() - target)",
                    "slope_in_words": "softmax minus target",
                    "result": "return gradient.T",
                },
            ),
        ),
    ),
]

PAPER: list[PaperExercise] = [
    PaperExercise(
        id="3.3-paper-copies",
        title="deep, and still blind to positions",
        level="core",
        minutes=30,
        objective="an induction over layers, and the exact place where it breaks",
        prerequisites=(
            "[why only word counts matter](03_3_architecture.ipynb#no-positions-only-the-word-counts-matter)",
            "proof by induction",
        ),
        statement=r"""
            Take a transformer of $L$ layers without position embeddings, with everything else that BERT has. In each layer the state of position $j$ becomes
            $\mathbf{h}_j' = F(\mathbf{h}_j, \sum_i A_{ij} \mathbf{h}_i)$. Here $A$ is equation 5 applied to the states of that layer, and the function $F$, the same at every position, does all the rest: value matrix,
            residual connections, layer normalisation, feed-forward layer. There is no dropout. (a) Prove that after every layer two positions of a document that show the same token have the same state.
            (b) Prove that the state of a token depends on the document only through the counts $c_k$. (c) Prove that it depends only on the shares $c_k / N$: a document and the same document
            written twice get the same predictions. (d) Let position $j$ attend to positions $i \leq j$ only. Show with one example in numbers that (a) fails already with one layer.
        """,
        graded=True,
        rubric=(
            (1, "Sets up an induction over layers; the claim holds for the embeddings because they depend on the token alone."),
            (
                2,
                "(a): equal states give equal queries, hence equal columns of A and equal mixtures, and F is the same at every position. 1 point if only equal queries or only the same F is mentioned.",
            ),
            (
                3,
                "(b): rewrites the sums over positions as sums over tokens with the factor c_k, in the numerator and in the denominator (1 point each), and uses the induction hypothesis that all copies of k have one state (1 point).",
            ),
            (
                2,
                "(c): dividing numerator and denominator by N leaves shares only, and this is carried through all layers. 1 point without the induction.",
            ),
            (
                2,
                "(d): a document, scores and states in numbers in which two copies of a token end with different states. 1 point for naming the reason (later copies see more) without numbers.",
            ),
        ),
        model_answer=r"""
            Write $\mathbf{h}^l_j$ for the state of position $j$ after $l$ layers and $w_j$ for the token there. The claim $P(l)$: there are vectors $\mathbf{g}^l_k$, one for each token $k$ of the document, which depend on the
            document through the shares $\rho_k = c_k / N$ only, and $\mathbf{h}^l_j = \mathbf{g}^l_{w_j}$ for all $j$. It contains (a), (b) and (c).

            $P(0)$ holds: the embedding of a token depends on nothing else.

            Suppose $P(l)$. The score of key $i$ and query $j$ is a function of their two states, so it is $S(\mathbf{g}^l_{w_i}, \mathbf{g}^l_{w_j})$. Consider a position that shows $q$. In the sums over positions collect the $c_k$ copies of each
            token, which have equal states:
            $$\sum_i A_{ij} \mathbf{h}^l_i = \frac{\sum_k c_k \exp S(\mathbf{g}^l_k, \mathbf{g}^l_q)\, \mathbf{g}^l_k}{\sum_k c_k \exp S(\mathbf{g}^l_k, \mathbf{g}^l_q)}
            = \frac{\sum_k \rho_k \exp S(\mathbf{g}^l_k, \mathbf{g}^l_q)\, \mathbf{g}^l_k}{\sum_k \rho_k \exp S(\mathbf{g}^l_k, \mathbf{g}^l_q)}.$$
            This is the same vector for every position that shows $q$, and by $P(l)$ it depends on the document through the $\rho_k$ only. Call it $\mathbf{m}_q$. Then $\mathbf{h}^{l+1}_j = F(\mathbf{g}^l_q, \mathbf{m}_q)$, with the same $F$ at every position, so $P(l + 1)$ holds with
            $\mathbf{g}^{l+1}_q = F(\mathbf{g}^l_q, \mathbf{m}_q)$. Writing the document twice doubles all $c_k$ and $N$ and leaves all $\rho_k$. Predictions are functions of the last states.

            (d) One-hot embeddings, $\mathbf{W}^K = 0$, $F(\mathbf{h}, \mathbf{m}) = \mathbf{m}$, the document $(1, 2, 1)$. All scores are zero, so position 1, which sees itself only, gets $\mathbf{e}_1$. Position 3 sees all three and gets
            $\frac{2}{3} \mathbf{e}_1 + \frac{1}{3} \mathbf{e}_2$. Both show token 1. The number of copies in the sum now depends on $j$, and not on the token alone.
        """,
    ),
]
