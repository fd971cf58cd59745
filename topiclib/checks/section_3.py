"""Checks of the exercises of Section 3."""

from __future__ import annotations

import numpy as np

from topiclib.checks.base import Answer, Misconception, as_array, close, expect, register


@register("3-one-hot")
def one_hot(answer: Answer) -> None:
    tokens = np.array([3, 0, 6, 1, 3])
    result = answer(tokens.copy(), 3, 2)
    shape = np.shape(result)
    expect(shape != (5, 7), "transposed", "rows are tokens and columns are positions; yours is the transpose.")
    expect(shape != (6, 5), "mask-row-missing", "[MASK] is a token too: there are Tv + 1 rows.")
    X = as_array(result, (7, 5), "X")
    expect(np.isin(X, (0, 1)).all(), "not-binary", "every entry is 0 or 1.")
    expect(
        not close(X[:, 1], 0),
        "mask-dropped" if X[3, 0] == 1 else "shifted",
        "the column of a [MASK] has its 1 in row 0; yours has none.",
    )
    expect(close(X.sum(axis=0), 1), "not-one-hot", "each column has exactly one 1.")
    expect((X.argmax(axis=0) == tokens).all(), "shifted", "row i belongs to token i, starting with row 0 for [MASK].")


@register("3-uniform-prediction")
def uniform_prediction(answer: Answer) -> None:
    rng = np.random.default_rng(30)
    W = rng.normal(size=(7, 7))
    tokens = np.array([0, 5, 2, 6, 6, 1, 3, 2])
    f = as_array(answer(W.copy(), tokens.copy()), (7, 8), "the prediction")
    expect(
        close(f, f[:, :1]), "no-attention", "with uniform attention every position gets the same prediction; your columns differ."
    )
    long = as_array(answer(W.copy(), np.tile(tokens, 3)), (7, 24), "the prediction")
    expect(
        close(long[:, 0], f[:, 0]),
        "sum-not-mean",
        "repeating a document three times must not change the prediction: weights are 1/N.",
    )
    single = np.zeros((7, 7))
    single[2, 0] = 1.0
    from_mask = as_array(answer(single, tokens.copy()), (7, 8), "the prediction")
    expect(
        not close(from_mask[0], 0) or not close(from_mask[2], 0),
        "mask-ignored",
        "[MASK] takes part in the average like every other token.",
    )
    expect(close(from_mask[0], 0), "transposed", "column l of W says what token l contributes; yours uses the rows.")
    parts = [as_array(answer(np.eye(7)[:, [k]] * W[[k]], tokens.copy()), (7, 8), "the prediction") for k in range(7)]
    expect(close(sum(parts), f), "not-linear", "the prediction is linear in W; yours is not.")
    eye = as_array(answer(np.eye(7), tokens.copy()), (7, 8), "the prediction")
    expect(close(eye.sum(axis=0), 1), "not-average", "with W = I the prediction is the average of the columns of X~ and sums to 1.")


@register("3-document-loss")
def document_loss(answer: Answer) -> None:
    words = np.array([1, 5, 2, 6, 6, 1, 5, 2])
    masked = np.array([0, 5, 2, 6, 6, 1, 3, 2])
    selected = np.array([True, False, False, True, False, False, True, False])

    def loss(W: np.ndarray, original: np.ndarray = words, shown: np.ndarray = masked, chosen: np.ndarray = selected) -> float:
        try:
            value = answer(W.copy(), original.copy(), shown.copy(), chosen.copy())
        except (IndexError, ZeroDivisionError):
            raise Misconception("raised-inside", "your function fails on a document: look at the ranges of its indices.") from None
        return float(as_array(value, (), "the loss, one number"))

    nothing = np.zeros((7, 7))
    expect(not close(loss(nothing), 3), "not-divided", "the sum over M must be divided by |M|.")
    expect(close(loss(nothing), 1), "not-squared-distance", "a prediction of zeros is at squared distance 1 from a one-hot column.")
    reads_three = nothing.copy()
    reads_three[4, 3] = 8.0  # only the random word 3, seen once of eight, predicts 4
    expect(close(loss(reads_three), 2), "input-unmasked", "the model sees the masked tokens, not the original words.")
    mask_only = "kept and random positions are in M too; yours counts only those that show [MASK]."
    to_one, to_five = nothing.copy(), nothing.copy()
    to_one[1, 6] = to_five[5, 6] = 4.0  # word 6 is seen twice of eight: predicts 1 for one of the three targets
    expect(not close(loss(to_one), 0), "mask-only", mask_only)
    expect(not close(loss(to_five), 2), "target-masked", "the targets are the original words, not what is shown at the position.")
    expect(not close(loss(to_five), 1.5), "all-positions", "the loss looks at the selected positions only.")
    expect(
        close(loss(to_five), 4 / 3) and close(loss(to_one), 4 / 3),
        "wrong-loss",
        "the loss is off: compute the tiny example by hand.",
    )
