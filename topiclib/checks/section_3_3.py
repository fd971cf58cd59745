"""Checks of the exercises of Section 3.3."""

from __future__ import annotations

import numpy as np

from topiclib.checks.base import Answer, as_array, close, expect, register


@register("3.3-column-softmax")
def column_softmax(answer: Answer) -> None:
    rng = np.random.default_rng(33)
    scores = rng.normal(size=(4, 3)) * 2
    a = as_array(answer(scores.copy()), (4, 3), "the attention weights")
    expect((a > 0).all(), "not-positive", "softmax is positive everywhere; some of your weights are not.")
    columns, rows = close(a.sum(axis=0), 1), close(a.sum(axis=1), 1)
    expect(columns or not rows, "rows-normalised", "each column of A must sum to 1; yours sum to 1 along rows.")
    expect(
        columns or not close(a.sum(), 1), "all-normalised", "each column is a softmax of its own; yours is one over all entries."
    )
    expect(columns, "not-normalised", "each column of A must sum to 1; yours do not.")
    ratio = np.log(a[0] / a[1])
    expect(close(ratio, scores[0] - scores[1]), "not-exponential", "weights in a column must be in the ratio of exp(score).")
    large = as_array(answer(scores * 1000), (4, 3), "the attention weights of large scores")
    expect(close(large.sum(axis=0), 1), "overflow", "scores in the thousands overflow exp: subtract each column's maximum first.")
