"""Checks of the exercises of Section 3."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from topiclib.checks.base import Answer, Misconception, as_array, close, expect, register

Matrix = npt.NDArray[Any]


@register("3-one-hot")
def one_hot(answer: Answer) -> None:
    # The last word is in neither document.
    for tokens, num_topics, words_per_topic in ((np.array([3, 0, 4, 1, 3, 1]), 3, 2), (np.array([0, 5, 2, 2, 0]), 2, 4)):
        size, length, known = num_topics * words_per_topic + 1, len(tokens), max(tokens) + 1
        result = answer(tokens, num_topics, words_per_topic)
        shape = np.shape(result)
        expect(shape != (length, size), "transposed", "rows are tokens and columns are positions; yours is the transpose.")
        expect(shape != (size - 1, length), "mask-row-missing", "[MASK] is a token too: there are Tv + 1 rows.")
        hint = "a word that is not in the document has a row too, of zeros: the number of rows does not depend on the document."
        expect(shape not in {(known, length), (known - 1, length)}, "rows-from-document", hint)
        expect(size == 7 or shape != (7, length), "size-fixed", "the number of rows follows from num_topics and words_per_topic.")
        X = as_array(result, (size, length), "X")
        expect(np.isin(X, (0, 1)).all(), "not-binary", "every entry is 0 or 1.")
        expect(
            not close(X[:, tokens == 0], 0),
            "mask-dropped" if (X.argmax(axis=0) == tokens).all() else "shifted",
            "the column of a [MASK] has its 1 in row 0; yours has none.",
        )
        expect(close(X.sum(axis=0), 1), "not-one-hot", "each column has exactly one 1.")
        expect((X.argmax(axis=0) == tokens).all(), "shifted", "row i belongs to token i, starting with row 0 for [MASK].")


@register("3-uniform-prediction")
def uniform_prediction(answer: Answer) -> None:
    tol = 1e-5  # an answer in single precision is right too
    rng = np.random.default_rng(30)
    W = rng.normal(size=(7, 7))
    tokens = np.array([0, 5, 2, 6, 6, 1, 3, 2])

    def prediction(matrix: np.ndarray, document: np.ndarray = tokens) -> np.ndarray:
        return as_array(answer(matrix, document), (7, len(document)), "the prediction")

    f = prediction(W)
    hint = "with uniform attention every position gets the same prediction; your columns differ."
    expect(close(f, f[:, :1], tol), "no-attention", hint)
    other = prediction(W, np.array([3, 3, 4, 3, 1, 3, 4, 0]))
    expect(
        not close(other, f, tol), "tokens-ignored", "your prediction is the same for every document: it does not use the tokens."
    )
    long = prediction(W, np.tile(tokens, 3))
    hint = "repeating a document three times must not change the prediction: weights are 1/N."
    expect(close(long[:, 0], f[:, 0], tol), "sum-not-mean", hint)
    single = np.zeros((7, 7))
    single[2, 0] = 1.0
    from_mask = prediction(single)
    hint = "[MASK] takes part in the average like every other token."
    expect(not close(from_mask[0], 0) or not close(from_mask[2], 0), "mask-ignored", hint)
    expect(close(from_mask[0], 0), "transposed", "column l of W says what token l contributes; yours uses the rows.")
    parts = [prediction(np.eye(7)[:, [k]] * W[[k]]) for k in range(7)]
    expect(close(sum(parts), f, tol), "not-linear", "the prediction is linear in W; yours is not.")
    shares = prediction(np.eye(7))[:, 0]
    hint = "with W = I the prediction is the average of the columns of X~ and sums to 1."
    expect(close(shares.sum(), 1, tol), "not-average", hint)
    expect(close(shares[4], 0), "absent-token", "a token that is not in the document contributes nothing.")
    hint = "the average is over positions: a token at two positions weighs twice as much as a token at one."
    expect(not close(shares[6], shares[5], tol), "repeats-lost", hint)
    twice = close(shares[[2, 6]], 2 * shares[5], tol) and close(shares[[0, 1, 3]], shares[5], tol)
    expect(twice, "not-uniform", "with uniform attention every position weighs the same.")


@register("3-document-loss")
def document_loss(answer: Answer) -> None:
    tol = 1e-5
    words = np.array([1, 5, 2, 6, 6, 1, 5, 2])
    masked = np.array([0, 5, 2, 6, 6, 1, 3, 2])
    selected = np.array([True, False, False, True, False, False, True, False])

    def loss(*entries: tuple[int, int | slice, float]) -> float:
        W = np.zeros((7, 7))
        for row, column, value in entries:
            W[row, column] = value
        try:
            result = answer(W, words, masked, selected)
        except (IndexError, ZeroDivisionError):
            raise Misconception("raised-inside", "your function fails on a document: look at the ranges of its indices.") from None
        return float(as_array(result, (), "the loss as a single number"))

    every = slice(None)
    expect(not close(loss(), 3, tol), "not-divided", "the sum over M must be divided by |M|.")
    expect(not close(loss(), 3 / 8, tol), "divided-by-length", "divide by the size of M, not by the length of the document.")
    expect(not close(loss(), 1 / 7, tol), "mean-over-vocabulary", "the squared norm is a sum over the tokens; yours is their mean.")
    expect(close(loss(), 1, tol), "not-squared-distance", "a prediction of zeros is at squared distance 1 from a one-hot column.")
    # Row 4 the same for all tokens: every position predicts 2 for word 4, whatever stands in the document.
    constant = loss((4, every, 2.0))
    expect(not close(constant, 5**0.5, tol), "not-squared", "the loss is the squared norm, without a root.")
    expect(not close(constant, 1, tol), "transposed", "column l of W says what token l contributes; you use the transpose of W.")
    expect(
        not close(constant, 1 + 16**2, tol), "sum-not-mean", "uniform attention is the mean over the positions; yours is the sum."
    )
    at_mask = loss((0, every, 2.0))
    hint = "entry 0 of the prediction is compared too: the target of every position is 0 there."
    expect(not close(at_mask, 1, tol), "row-0-left-out", hint)
    mask_speaks = loss((4, 0, 8.0))
    hint = "[MASK] takes part in the average like every other token that the model sees."
    expect(not close(mask_speaks, 1, tol) or close(loss((4, 3, 8.0)), 1, tol), "mask-ignored", hint)
    # Token 1 is seen once of eight, at a position outside M; in the original document it stands twice.
    elsewhere = loss((4, 1, 8.0))
    hint = "A is missing: the prediction at a position uses the tokens of all positions, also of those outside M."
    expect(not close(elsewhere, 1, tol), "no-attention", hint)
    unmasked = "the model sees the masked tokens, not the original words."
    expect(not close(elsewhere, 5, tol) and not close(loss((4, 3, 8.0)), 1, tol), "input-unmasked", unmasked)
    expect(close(elsewhere, 2, tol), "wrong-prediction", "the prediction is off: W times the mean column of the masked document.")
    mask_only = "kept and random positions are in M too; yours counts only those that show [MASK]."
    # Word 6 is seen twice of eight: it predicts 1 for one of the three targets.
    to_one, to_five = loss((1, 6, 4.0)), loss((5, 6, 4.0))
    expect(not close(to_one, 0, tol), "mask-only", mask_only)
    expect(not close(to_five, 2, tol), "target-masked", "the targets are the original words, not what is shown at the position.")
    expect(not close(to_five, 1.5, tol), "all-positions", "the loss looks at the selected positions only.")
    right = close(to_five, 4 / 3, tol) and close(to_one, 4 / 3, tol)
    expect(right, "wrong-loss", "the loss is off: compute the tiny example by hand.")


def _objective(W: Matrix, batch: list[tuple[Matrix, Matrix, Matrix]], loss: str, mistake: str = "") -> float:
    """The objective, one position after the other; ``mistake`` says what to get wrong."""
    sums, sizes = [], []
    for words, masked, selected in batch:
        f = np.mean([W[:, t] for t in (words if mistake == "input-unmasked" else masked)], axis=0)
        counted = {"all-positions": np.ones(len(words), dtype=bool), "only-masks": masked == 0}.get(mistake, selected)
        each = []
        for w in (masked if mistake == "goal-masked" else words)[counted]:
            squared = float((f**2).sum() - 2 * f[w] + 1)
            each.append(float(np.log(np.exp(f).sum()) - f[w]) if loss == "cross-entropy" else squared)
        sums.append(sum(each))
        sizes.append(len(each))
    penalty = 0.1 * float((W**2).sum()) if loss == "penalised" else 0.0
    if mistake == "pooled":
        return sum(sums) / sum(sizes) + penalty
    return float(np.mean(np.divide(sums, sizes))) + penalty


@register("3-training-step")
def training_step(answer: Answer, loss: str = "squared") -> None:
    W, rate = np.random.default_rng(31).normal(size=(5, 5)), 0.2
    words = np.array([[1, 2, 2, 3, 1, 4], [4, 4, 3, 3, 4, 1], [2, 1, 1, 2, 4, 2]])
    masked = np.array([[0, 2, 2, 0, 1, 1], [4, 0, 3, 2, 4, 1], [0, 1, 1, 0, 3, 0]])
    selected = np.array([[1, 0, 1, 1, 0, 1], [0, 1, 0, 1, 0, 0], [1, 0, 0, 1, 1, 1]], dtype=bool)
    batch = list(zip(words, masked, selected, strict=True))
    found = as_array(answer(W, words, masked, selected, rate), (5, 5), "the new matrix")

    def slope(of: str = loss, mistake: str = "") -> Matrix:
        result, h = np.zeros(W.shape), 1e-5
        for place in np.ndindex(*W.shape):
            up, down = W.copy(), W.copy()
            up[place] += h
            down[place] -= h
            result[place] = (_objective(up, batch, of, mistake) - _objective(down, batch, of, mistake)) / (2 * h)
        return result

    right, moved = slope(), (W - found) / rate
    near = 1e-3  # of differences, and of answers in single precision
    expect(not close(found, W, 1e-6), "not-moved", "the matrix is as it was.")
    expect(
        not any(close(found, x, near) for x in (right, -right)),
        "gradient-not-step",
        "this is the gradient; return the matrix after the step.",
    )
    expect(not close(moved, -right, near), "uphill", "this step makes the loss larger.")
    penalty = 0.2 * W if loss == "penalised" else 0 * W
    expect(
        not any(close(moved, x, near) for x in (3 * right, 3 * right - 2 * penalty)),
        "sum-over-documents",
        "the objective is a mean over documents; yours grows with the batch.",
    )
    turned = (right - penalty).T + penalty
    hint = "which index is the predicted word, and which the token that is seen?"
    expect(not any(close(moved, x, near) for x in (right.T, turned)), "transposed", hint)
    hints = {
        "goal-masked": "the goal is the original word, not what the position shows.",
        "input-unmasked": "the model sees the masked document.",
        "all-positions": "only selected positions are scored.",
        "only-masks": "a selected position counts also if it shows a word.",
        "pooled": "every document weighs the same, however many of its positions are selected.",
    }
    for mistake, hint in hints.items():
        expect(not close(moved, slope(mistake=mistake), near), mistake, hint)
    others = [slope(of) for of in ("squared", "cross-entropy", "penalised") if of != loss]
    expect(not any(close(moved, x, near) for x in others), "other-objective", "this is the step for another objective.")
    size = float((moved * right).sum() / (right**2).sum())
    hint = "the direction is right, the length is not: which factor is missing in the slope, or in the step?"
    expect(close(size, 1, near) or not close(moved, size * right, near), "wrong-length", hint)
    expect(close(moved, right, near), "wrong-gradient", "compare with the change of the loss when one entry moves a little.")
    twice = as_array(answer(W, words, masked, selected, 2 * rate), (5, 5), "the new matrix")
    expect(close(W - twice, 2 * (W - found), near), "rate-ignored", "twice the learning rate must go twice as far.")
