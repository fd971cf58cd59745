"""Checks of the exercises of Appendix C."""

from __future__ import annotations

import numpy as np

from topiclib.checks.base import Answer, as_array, close, expect, register
from topiclib.theory import masking_fractions, ridge_value_matrix

TOL = 1e-5


@register("c-block-means")
def block_means(answer: Answer) -> None:
    for t, v in ((3, 2), (2, 4)):
        size = t * v + 1
        w = np.random.default_rng(t).integers(-4, 9, size=(size, size)).astype(float)

        def sums(matrix: np.ndarray, t: int = t, v: int = v) -> np.ndarray:
            result: np.ndarray = matrix[:, 1:].reshape(-1, t, v).sum(axis=2)
            return result

        found = as_array(answer(w, t, v), (size, size), "the matrix")
        hint = "column 0, the entries for [MASK], is fixed: it must stay as it is in every row."
        moved = not close(found[:, 0], w[:, 0])
        expect(not moved or not close(sums(found), sums(w)), "mask-column", hint)
        hint = "each block of a row must keep its sum; yours has every entry as large as the sum."
        expect(not close(sums(found), v * sums(w)), "sum-not-mean", hint)
        hint = "each topic has its own sum; in yours a row's topics share one value."
        flat = close(found[:, 1:], found[:, 1:2])
        expect(not flat, "topics-mixed", hint)
        first, second = found[1, :], found[2, :]
        hint = "rows do not share anything: each row has sums of its own, also within a topic."
        expect(not close(first, second), "rows-mixed", hint)
        expect(not moved, "mask-column", "column 0, the entries for [MASK], is fixed: it must stay as it is in every row.")
        expect(close(sums(found), sums(w)), "sums-changed", "the sum over the words of a topic must stay as it is in every row.")
        hint = "the sums are right, but another matrix with the same sums has a smaller norm: how should a sum be spread?"
        least = (sums(w) ** 2).sum() / v + (w[:, 0] ** 2).sum()
        expect(close((found**2).sum(), least), "not-smallest", hint)


@register("c-effective-topics")
def effective_topics(answer: Answer) -> None:
    def value(weights: list[list[float]]) -> float:
        return float(as_array(answer(np.array(weights)), (), "the number of topics as a single number"))

    half = [[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]]
    mine = value(half)
    expect(not close(mine, 4 * 2), "not-summed", "a document's squared weights must be summed over its topics, not averaged.")
    hint = "the mean weights of all documents are equal whatever a document looks like: square first, then average."
    expect(not close(mine, 4), "mean-before-square", hint)
    expect(close(mine, 2), "equal-weights", "documents with two equally weighted topics must count for two.")
    uneven = [[0.9, 0.1, 0, 0], [0, 0, 0.9, 0.1], [0.1, 0.9, 0, 0], [0, 0, 0.1, 0.9]]
    mine = value(uneven)
    expect(not close(mine, 2), "counted", "a topic with a small weight counts for less than one with a large weight.")
    hint = "for unequal weights this is another measure of spread: which moment of the weights do S and C depend on?"
    expect(close(1 / mine, 0.9**2 + 0.1**2), "not-second-moment", hint)
    mixed = value([[1, 0, 0, 0], [0, 1, 0, 0], [0.25] * 4, [0.25] * 4])
    hint = "take the mean over documents before the inverse: the moments are means, the number of topics is not."
    expect(not close(mixed, (1 + 4) / 2), "mean-of-inverses", hint)
    expect(close(1 / mixed, (1 + 1 / 4) / 2), "mixed-documents", "it is wrong when documents differ in their number of topics.")


def _learned(steps: float, per_step: float) -> float:
    """What is learned when each step learns ``per_step`` of what is missing."""
    missing = 1.0
    for _ in range(round(steps)):
        missing -= missing * per_step
    return 1 - missing


@register("c-steps-needed")
def steps_needed(answer: Answer) -> None:
    for eigenvalue, rate, fraction in ((0.05, 1.3, 0.9), (0.3, 1.1, 0.97), (0.002, 2.0, 0.3), (0.25, 1.0, 0.2)):
        value = float(as_array(answer(eigenvalue, rate, fraction), (), "the number of steps"))
        expect(value == round(value), "not-whole", "steps are whole: return the least whole number that is enough.")
        expect(0 <= value < 1e6, "wrong-steps", "this is not the number of steps; try a direction that learns half in each step.")
        hint = "how fast does the gradient of a square fall? A factor is missing in each step."
        once = value >= 1 and _learned(value, rate * eigenvalue) >= fraction > _learned(value - 1, rate * eigenvalue)
        right = value >= 1 and _learned(value, 2 * rate * eigenvalue) >= fraction > _learned(value - 1, 2 * rate * eigenvalue)
        expect(right or not once, "factor-two", hint)
        hint = "close, but steps are not small here: the error is multiplied once a step, it does not decay in continuous time."
        smooth = 1 - np.exp(-2 * rate * eigenvalue * np.array([value - 1, value]))
        expect(right or not smooth[0] < fraction <= smooth[1], "continuous-time", hint)
        hint = "this is when that fraction is still missing, not when it is learned."
        left = value >= 1 and _learned(value, 2 * rate * eigenvalue) >= 1 - fraction > _learned(value - 1, 2 * rate * eigenvalue)
        expect(right or not left, "fraction-left", hint)
        expect(_learned(value, 2 * rate * eigenvalue) >= fraction, "too-few", "after that many steps the fraction is not reached.")
        expect(right, "too-many", "fewer steps are enough.")


@register("c-silent-penalty")
def silent_penalty(answer: Answer) -> None:
    for t, v, tau, p_m, p_c, p_r in ((10, 10, 3, 0.15, 0.1, 0.1), (5, 4, 2, 0.3, 0.2, 0.3), (6, 2, 1, 0.25, 0.1, 0.4)):
        settings = {"num_topics": t, "words_per_topic": v, "topics_per_doc": tau, "p_m": p_m, "p_c": p_c, "p_r": p_r}
        penalty = float(as_array(answer(t, v, tau, p_m, p_c, p_r), (), "the penalty as a single number"))
        expect(penalty > 0, "not-positive", "the penalty must be positive: with none, W_diff is negative.")
        w, limit = ridge_value_matrix(l2_coef=penalty, **settings), ridge_value_matrix(l2_coef=0, **settings)
        blocks, blocks_at_0 = w.same_topic - w.different_topic, limit.same_topic - limit.different_topic
        mean, mean_at_0 = w.different_topic + blocks / t, limit.different_topic + blocks_at_0 / t
        hint = "there half of the topic structure is left, but W_diff has a part from the mean as well."
        expect(not close(blocks / blocks_at_0, 0.5), "half-of-the-topics", hint)
        hint = "the penalty shrinks the mean too, by a factor of its own."
        expect(not close(mean_at_0 * t / blocks, 1), "mean-not-shrunk", hint)
        true = masking_fractions(p_m=p_m, p_c=p_c, p_r=p_r).true
        hint = "the topic part makes up for the words that masking took away: where is a?"
        expect(not close(mean * t / (true * blocks), 1), "dilution-lost", hint)
        expect(w.different_topic < TOL * w.same_topic, "too-large", "at this penalty W_diff is positive: it is too large.")
        expect(w.different_topic > -TOL * w.same_topic, "too-small", "at this penalty W_diff is still negative: it is too small.")


@register("c-descent-limit")
def descent_limit(answer: Answer, rows: str = "outputs", cross: str = "x y") -> None:
    rng = np.random.default_rng(6)
    basis, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    moving = basis[:, :3] @ basis[:, :3].T  # the projection on the directions in which x moves
    second = basis[:, :3] @ np.diag([1.0, 0.5, 0.2]) @ basis[:, :3].T
    x_y = second @ rng.normal(size=(6, 6)) @ moving
    start = rng.normal(size=(6, 6))

    def limit(begin: np.ndarray) -> np.ndarray:
        turned = begin if rows == "outputs" else begin.T
        found = as_array(answer(turned, second, x_y if cross == "x y" else x_y.T), (6, 6), "the limit")
        return found if rows == "outputs" else found.T

    zero = limit(0 * start)
    hint = "which of x and y stands in the rows of `cross`, and which in the rows of W? In your limit one is the wrong way round."
    expect(not close(zero @ second, x_y, TOL), "cross-transposed", hint)
    hint = "from zero the limit must be a minimiser: there the gradient of the loss is zero."
    expect(close(zero @ second, x_y.T, TOL), "not-a-minimiser", hint)
    hint = "from zero the limit has nothing in the silent directions; yours does."
    expect(close(zero @ moving, zero, TOL), "not-smallest", hint)
    kept = limit(start) - zero
    hint = "the limit depends on the start: what does the gradient do along a direction in which x never moves?"
    expect(not close(kept, 0, TOL), "start-forgotten", hint)
    hint = "not all of the start survives: along directions in which x moves, its error is multiplied down to zero."
    expect(not close(kept, start, TOL), "start-kept-whole", hint)
    hint = "this keeps the start where x moves and forgets it where x never moves: it is the other way round."
    expect(not close(kept, start @ moving, TOL), "moving-part-kept", hint)
    hint = "directions of x are directions of what W meets x with, its rows or its columns: project on the other side."
    expect(not close(kept, start - moving @ start, TOL), "wrong-side", hint)
    expect(close(kept, start - start @ moving, TOL), "wrong-start", "from zero it is right, but not from another start.")
