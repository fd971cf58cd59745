"""Checks of the exercises of Section 3.3."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from topiclib.checks.base import Answer, Misconception, as_array, close, expect, register

Matrix = npt.NDArray[np.float64]
TOL = 1e-4  # answers in single precision are right too


def _is_normalised(a: Matrix) -> None:
    """Each column a distribution, with the hint for each way to miss it."""
    expect((a > 0).all(), "not-positive", "softmax is positive everywhere; some of your weights are not.")
    columns, rows = close(a.sum(axis=0), 1, TOL), close(a.sum(axis=1), 1, TOL)
    expect(columns or not rows, "rows-normalised", "each column of A must sum to 1; yours sum to 1 along rows.")
    expect(
        columns or not close(a.sum(), 1, TOL),
        "all-normalised",
        "each column is a softmax of its own; yours is one over all entries.",
    )
    expect(columns, "not-normalised", "each column of A must sum to 1; yours do not.")


@register("3.3-column-softmax")
def column_softmax(answer: Answer) -> None:
    rng = np.random.default_rng(33)
    scores = rng.normal(size=(4, 3)) * 2
    a = as_array(answer(scores), (4, 3), "the attention weights")
    _is_normalised(a)
    ratio = np.log(a[0] / a[1])
    expect(close(ratio, scores[0] - scores[1], TOL), "not-exponential", "weights in a column must be in the ratio of exp(score).")
    overflow = "scores in the thousands overflow exp: think of what you may subtract from a column without changing its softmax."

    def softmax_of(numbers: Matrix) -> Matrix:
        try:
            return as_array(answer(numbers), numbers.shape, "the attention weights of large scores")
        except Misconception as error:
            raise Misconception("overflow", overflow) if error.key == "not-finite" else error from None

    large = softmax_of(scores * 1000)
    expect(close(large.sum(axis=0), 1, TOL), "overflow", overflow)
    clipped = "large scores lose their differences: a number added to a whole column of scores must change nothing."
    for number in (1000.0, -1000.0):
        expect(close(softmax_of(scores + number), a, 1e-3), "clipped", clipped)
    hint = "when scores differ by thousands, all the weight goes to the largest score of the column."
    expect(close(large.max(axis=0), 1, TOL) and (large.argmax(axis=0) == scores.argmax(axis=0)).all(), "clipped", hint)
    for shape in ((3, 6), (5, 5)):
        scores = rng.normal(size=shape)
        a = as_array(answer(scores), shape, "the attention weights")
        same = (a > 0).all() and close(a.sum(axis=0), 1, TOL)
        fixed = "it fails for another number of keys or queries: every column sums to 1, however many there are."
        expect(same and close(np.log(a / a[0]), scores - scores[0], TOL), "size-fixed", fixed)


@register("3.3-attention")
def attention(answer: Answer) -> None:
    rng = np.random.default_rng(34)
    for d_a, d, length in ((5, 3, 6), (2, 4, 3)):
        z, w_k, w_q = rng.normal(size=(d, length)), rng.normal(size=(d_a, d)), rng.normal(size=(d_a, d))
        a = as_array(answer(z, w_k, w_q), (length, length), "the attention weights")
        _is_normalised(a)
        # Differences of log-weights in a column are differences of scores, before the scale.
        got = np.log(a) - np.log(a[0])
        keys, queries = w_k @ z, w_q @ z
        plain = (keys - keys[:, :1]).T @ queries
        swapped = (queries - queries[:, :1]).T @ keys
        factor = float((got * plain).sum() / (plain**2).sum())
        swap = float((got * swapped).sum() / (swapped**2).sum())
        expect(
            not close(got, swap * swapped, TOL),
            "keys-and-queries-swapped",
            "the row is the key and the column the query: your W^K and W^Q have changed places.",
        )
        hint = "weights in a column must be in the ratio of exp(key . query / scale)."
        expect(close(got, factor * plain, TOL), "wrong-scores", hint)
        expect(not close(factor, 1, TOL), "no-scale", "your scores are not divided by the square root of the head size.")
        hint = "the scale is a square root, and of d_a: how many rows has W^K?"
        expect(close(factor * d_a**0.5, 1, TOL), "wrong-scale", hint)


@register("3.3-predict")
def predict(answer: Answer) -> None:
    rng = np.random.default_rng(35)
    tokens = np.array([2, 0, 4, 2])

    def run(d: int, a: Matrix, b_pred: Matrix, w_v: Matrix | None = None) -> tuple[Matrix, Matrix]:
        w_e = rng.normal(size=(d, 5))
        f = answer(tokens.copy(), w_e, np.eye(d) if w_v is None else w_v, a, b_pred)
        return as_array(f, (5, 4), "the predictions"), w_e

    none, copy = np.zeros(5), np.eye(4)
    # d = V, so that the shapes fit even without the transpose. Each position attends to itself: f = W_E^T W_E X.
    f, w_e = run(5, copy, none)
    expect(not close(f, w_e[:, tokens]), "no-head", "you stop at the values: the prediction head W_E is missing at the left.")
    expect(
        not close(f, (w_e @ w_e)[:, tokens]),
        "not-transposed",
        "the head takes dot products with each word's embedding, which are the columns of W_E: equation 6 lacks a transpose.",
    )
    expect(close(f, (w_e.T @ w_e)[:, tokens]), "wrong-head", "with W_V = I and A = I a logit must be a dot product of embeddings.")
    # All positions attend to position 1 only.
    first = np.zeros((4, 4))
    first[1] = 1
    f, w_e = run(3, first, none)
    wanted = w_e.T @ w_e[:, tokens]
    expect(not close(f, wanted), "no-attention", "your predictions do not depend on A.")
    expect(
        close(f, wanted[:, [1]]),
        "attention-transposed",
        "when every query attends to one key, all columns of f must be the same: check the side and the direction of A.",
    )
    f, w_e = run(3, copy, np.arange(5.0))
    expect(not close(f, w_e.T @ w_e[:, tokens]), "no-bias", "b_pred is missing: it is added to every column.")
    expect(close(f - w_e.T @ w_e[:, tokens], np.arange(5.0)[:, None]), "wrong-bias", "add b_pred once, as it is, to every column.")
    w_v = rng.normal(size=(3, 3))
    f, w_e = run(3, copy, none, w_v)
    expect(close(f, w_e.T @ w_v @ w_e[:, tokens]), "wrong-value", "W_V stands between the head and the embedding, not transposed.")


@register("3.3-attention-from-counts")
def attention_from_counts(answer: Answer) -> None:
    scores, counts = np.random.default_rng(36).normal(size=(4, 4)), np.array([3, 1, 1, 2])
    a = as_array(answer(scores, counts), (4, 4), "the weights")
    expect((a > 0).all(), "lost-words", "a word that occurs must get some weight.")
    # What stays of the log-weights when the scores are taken out must not depend on the query.
    left = np.log(a) - scores
    left = left - left[0]
    multiplied = "a copy of a word does not change its score: it adds another term exp(score) to the sum."
    expect(close(left, left[:, :1], TOL), "counts-multiply-scores", multiplied)
    one_copy = "the weights of each query must sum to 1: is yours the weight of one copy, or of all of them?"
    expect(close(a.sum(axis=0), 1, TOL), "one-copy-only", one_copy)
    expect(not close(left, 0, TOL), "no-counts", "your weights do not change with how often the key's word occurs.")
    absent = as_array(answer(scores, np.array([3, 0, 1, 2])), (4, 4), "the weights")
    expect(close(absent[1], 0), "absent-words", "a word with count 0 must get weight 0 from every query.")
    trace = "a word with count 0 must get exactly 0: a small number added to its count leaves a trace."
    expect((absent[1] == 0).all(), "trace-of-absent", trace)
    query = "a query may be a word that the document lacks ([MASK] hid it, say): its column sums to 1 too."
    expect(close(absent.sum(axis=0), 1, TOL), "absent-query", query)
    ratio = "with equal scores, a word's weight must be in proportion to its count."
    expect(close(np.exp(left), (counts / counts[0])[:, None], TOL), "wrong-counts", ratio)
    present = np.log(absent[[0, 2, 3]]) - scores[[0, 2, 3]]
    expect(close(np.exp(present - present[0]), np.array([[1], [1 / 3], [2 / 3]]), TOL), "wrong-counts", ratio)


@register("3.3-loss-of-pairs")
def loss_of_pairs(answer: Answer) -> None:
    def loss(predictions: Matrix, pair: list[int], targets: list[int], docs: list[int]) -> float:
        return float(as_array(answer(predictions, np.array(pair), np.array(targets), np.array(docs)), (), "the loss"))

    one = np.log(np.array([[0.1], [0.6], [0.3]]))  # one pair, whose softmax is these probabilities
    losses = -np.log([0.6, 0.3])
    # Two columns with the same softmax: a constant added to a column of logits changes nothing.
    two = one + np.array([[2.0, 3.0]])
    got, logit = loss(two, [1], [1], [0]), two[1, 1]
    expect(not close(got, -losses[0], TOL), "wrong-sign", "a loss is positive: the better the guess, the nearer to zero.")
    expect(not close(got, losses[0] / np.log(2), TOL), "bits", "this is in bits; nats need the natural logarithm.")
    logits = "the columns are logits, no probabilities: a constant added to a column must change nothing."
    expect(not any(close(got, found, TOL) for found in (-logit, -np.log(logit))), "no-softmax", logits)
    over_words = "the sum of exponentials runs over the words of one column, not over the pairs."
    expect(not close(got, np.log(np.exp(two[1]).sum()) - logit, TOL), "softmax-over-pairs", over_words)
    expect(close(got, losses[0], TOL), "wrong-loss", "one position, one pair: the loss must be the cross-entropy of equation 4.")
    got = loss(one, [0, 0], [1, 2], [0, 0])
    one_target = "two positions of a pair may hide different words: each needs its own target."
    expect(not any(close(got, found, TOL) for found in losses), "one-target-a-pair", one_target)
    mask_size = "equation 1 divides a document's sum by its number of selected positions."
    expect(not close(got, losses.sum(), TOL), "no-mask-size", mask_size)
    expect(close(got, losses.mean(), TOL), "wrong-weights", "in a document with two selected positions each weighs one half.")
    # Pair 0 has three positions in document 0, pair 1 has one there.
    two = np.log(np.array([[0.1, 0.5], [0.6, 0.2], [0.3, 0.3]]))
    three, rare = -np.log(0.6), -np.log(0.2)
    got = loss(two, [0, 1, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0])
    alike = "a pair with three positions must weigh three times as much as a pair with one: equation 1 sums over positions."
    expect(not close(got, (three + rare) / 2, TOL), "pairs-alike", alike)
    expect(close(got, (3 * three + rare) / 4, TOL), "wrong-weights", "every selected position of a document weighs the same.")
    # Two documents, one with three selected positions and one with one.
    got = loss(two, [0, 1, 0, 0], [1, 1, 1, 1], [0, 1, 0, 0])
    expect(not close(got, three + rare, TOL), "sum-over-documents", "equation 1 is a mean over documents, and you have their sum.")
    documents = "every document weighs the same in equation 1, however many positions it masks."
    expect(not close(got, (3 * three + rare) / 4, TOL), "positions-alike", documents)
    expect(close(got, (three + rare) / 2, TOL), "wrong-weights", "a position weighs one over B times its document's |M|.")
    # Three documents and four tokens: nothing may be fixed to two documents or three tokens.
    four = np.log(np.array([[0.1, 0.4], [0.2, 0.3], [0.3, 0.2], [0.4, 0.1]]))
    got = loss(four, [0, 1, 1], [3, 1, 2], [0, 1, 2])
    sizes = "the numbers of documents, pairs and tokens come from the arrays."
    expect(close(got, -np.log([0.4, 0.3, 0.2]).mean(), TOL), "size-fixed", sizes)


@register("3.3-one-matrix")
def one_matrix(answer: Answer) -> None:
    rng = np.random.default_rng(37)
    for d_a, d in ((5, 3), (2, 4)):
        _one_matrix_of(answer, rng, d_a, d)


def _one_matrix_of(answer: Answer, rng: np.random.Generator, d_a: int, d: int) -> None:
    w_k, w_q, b_k, b_q = rng.normal(size=(d_a, d)), rng.normal(size=(d_a, d)), rng.normal(size=d_a), rng.normal(size=d_a)
    z, none = rng.normal(size=(d, 6)), np.zeros(d_a)

    def differences(scores: Matrix) -> Matrix:
        result: Matrix = scores - scores[0]  # what a column-wise softmax depends on
        return result

    def pair(k: Matrix, q: Matrix) -> tuple[Matrix, Matrix]:
        result = answer(w_k, w_q, k, q)
        expect(isinstance(result, (tuple, list)) and len(result) == 2, "not-a-pair", "return two things: B and c.")
        return as_array(result[0], (d, d), "B"), as_array(result[1], (d,), "c")

    def agrees(b: Matrix, c: Matrix, k: Matrix, q: Matrix) -> bool:
        wanted = (w_k @ z + k[:, None]).T @ (w_q @ z + q[:, None]) / d_a**0.5
        return close(differences(z.T @ b @ z + (z.T @ c)[:, None]), differences(wanted), TOL)

    b, c = pair(none, none)
    expect(not agrees(b.T, c, none, none), "matrix-transposed", "B stands between the key at its left and the query at its right.")
    expect(agrees(b, c, none, none), "wrong-matrix", "without biases B alone must give the scores of equation 5, scale included.")
    b, c = pair(b_k, none)
    expect(agrees(b, c, b_k, none), "key-bias-kept", "try b_q = 0: does the softmax over the keys see b_k at all?")
    b, c = pair(none, b_q)
    expect(not close(c, 0, TOL), "query-bias-lost", "your c does not use b_q, but a key that lies along it gets more weight.")
    scale = d_a**0.5
    expect(not agrees(b, c / scale, none, b_q), "query-bias-scale", "c is a part of the scores too: is it scaled as they are?")
    expect(agrees(b, c, none, b_q), "wrong-vector", "with b_k = 0, multiply the scores out: which term is linear in the key?")
    b, c = pair(b_k, b_q)
    expect(agrees(b, c, b_k, b_q), "wrong-together", "each bias alone is right, but not both together.")


def _loss_on_tokens(scores: Matrix, counts: Matrix, w_v: Matrix, weights: Matrix, loss: str) -> float:
    """The loss of a document written out as a row of tokens, one softmax over its positions for each query."""
    tokens = np.repeat(np.arange(len(counts)), counts.astype(int))
    total = 0.0
    for q, of_query in enumerate(weights):
        keys = scores[tokens, q]
        attention = np.exp(keys - keys.max())
        f = w_v[:, tokens] @ attention / attention.sum()
        for w, weight in enumerate(of_query):
            squared = float(((f - np.eye(len(f))[w]) ** 2).sum())
            total += weight * (squared if loss == "squared" else float(np.log(np.exp(f).sum()) - f[w]))
    return total


def _by_differences(scores: Matrix, counts: Matrix, w_v: Matrix, weights: Matrix, loss: str) -> Matrix:
    """Derivatives by the scores, from small steps up and down."""
    step, result = 1e-5, np.zeros(scores.shape)
    for place in np.ndindex(*scores.shape):
        up, down = scores.copy(), scores.copy()
        up[place] += step
        down[place] -= step
        result[place] = sum(s * _loss_on_tokens(x, counts, w_v, weights, loss) for s, x in ((1, up), (-1, down))) / (2 * step)
    return result


@register("3.3-score-gradient")
def score_gradient(answer: Answer, loss: str = "cross-entropy", layout: str = "key") -> None:
    rng = np.random.default_rng(39)
    scores, w_v, weights = rng.normal(size=(5, 5)), 2 * rng.normal(size=(5, 5)), rng.random((5, 5))
    counts = np.array([2, 3, 0, 1, 4])
    found = as_array(answer(scores, counts, w_v, weights), (5, 5), "the derivatives by the scores")
    got = found if layout == "key" else found.T

    def of(c: Matrix = counts, w: Matrix = w_v, o: Matrix = weights, other: bool = False) -> Matrix:
        which = {"squared": "cross-entropy", "cross-entropy": "squared"}[loss] if other else loss
        return _by_differences(scores, c, w, o, loss=which)

    right, near = of(), 1e-3  # of differences, and of answers in single precision
    hint = "read again which of key and query is to stand in the row."
    expect(not close(got.T, right, near), "layout", hint)
    expect(not close(got, -right, near), "wrong-sign", "these are the steps that descend; the derivatives point the other way.")
    other = of(other=True)
    expect(not any(close(x, other, near) for x in (got, got.T)), "other-loss", "these are the derivatives of the other loss.")
    hint = {
        "squared": "a square has a derivative with a factor: it is missing.",
        "cross-entropy": "what is the slope of the cross-entropy by the logits? Probabilities enter it, not the logits themselves.",
    }[loss]
    half = (right if loss == "squared" else other) / 2
    expect(not close(got, half, near), "wrong-slope", hint)
    hint = "a token that stands three times adds three terms to the sum: your shares ignore how often."
    expect(not close(got, of(c=np.minimum(counts, 1)), near), "counts-ignored", hint)
    hint = "one score serves all copies of a token: its derivative is that of all of them together."
    expect(not close(counts[:, None] * got, right, near), "one-copy-only", hint)
    expect(close(got[counts == 0], 0, near), "absent-words", "the score of a token that the document lacks changes nothing.")
    hint = "a pair weighs as much as all its positions together: do not divide by that."
    expect(not close(got * weights.sum(axis=1), right, near), "one-position-each", hint)
    expect(
        not close(got, of(o=weights.T), near),
        "weights-transposed",
        "the row of the weights is the shown token, the column the hidden word.",
    )
    sums = "a number added to all scores of a query changes no share: what must the derivatives of a query sum to?"
    expect(close(got.sum(axis=0), 0, near), "not-centred", sums)
    # Only token 1 speaks, for token 0, which the document lacks.
    single, without = np.zeros((5, 5)), np.array([0, 3, 2, 1, 4])
    single[0, 1] = 2.0
    back = as_array(answer(scores, without, single, weights), (5, 5), "the derivatives by the scores")
    hint = "the slope travels back from words to keys: through the value matrix the other way."
    expect(not close(back, 0, near) and not close(got, of(w=w_v.T), near), "value-transposed", hint)
    expect(close(got, right, near), "wrong-gradient", "small steps of the scores change the loss by other amounts than yours.")
