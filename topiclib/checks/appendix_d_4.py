"""Checks of the exercises of Appendix D.4."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from topiclib.checks.base import Answer, as_array, close, expect, register
from topiclib.documents import infinite_document
from topiclib.masking import MaskingSettings, masked_distribution
from topiclib.vocabulary import Vocabulary

TOL = 1e-4


@register("d.4-diagonal")
def diagonal(answer: Answer) -> None:
    for big_t, v, masking in ((4, 3, MaskingSettings(0.4, 0.2, 0.3)), (3, 2, MaskingSettings(0.15, 0.1, 0.1))):
        size = big_t * v + 1
        w = as_array(answer(big_t, v, masking.p_m, masking.p_c, masking.p_r), (size, size), "the value matrix")
        document = infinite_document(Vocabulary(big_t, v), [1, 3])
        x = masked_distribution(document, masking)
        expect(close(w[0, 0], 0, TOL), "mask-predicted", "[MASK] is never the target: its own row must be zero, the corner too.")
        hint = "the entries -c_1 belong to the column of [MASK]: it is a key there, and row i is the word predicted."
        expect(close(w[0, 1:], 0, TOL), "row-for-column", hint)
        off = w[1:, 1:] - np.diag(np.diag(w[1:, 1:]))
        expect(close(off, 0, TOL), "blocks", "no word may speak for another word, not even for one of its own topic.")
        hint = "random words still leave a trace in every prediction: the column of [MASK] has to remove it."
        expect(not close(w[1:, 0], 0, 1e-12), "no-denoising", hint)
        gap = (w @ x)[1] - (w @ x)[v + 1]  # a word inside minus a word outside
        hint = "the counts that remain are too small by the factor a: the diagonal must undo that, not repeat it."
        expect(not close(gap, document[1] * masking.true_fraction**2, TOL), "not-inverted", hint)
        hint = "your matrix does not return the document's word distribution from its masked one."
        expect(close(w @ x, document, TOL), "wrong-values", hint)


@register("d.4-copy-limit")
def copy_limit(answer: Answer) -> None:
    def least(big_t: int, v: int, tau: int, p_c: float, p_r: float) -> float:
        return float(as_array(answer(big_t, v, tau, p_c, p_r), (), "the loss"))

    spread = "in a document with one word only nothing can be lost: what is not put on the shown word goes to the document's words."
    expect(close(least(2, 1, 1, 0.3, 0.4), 0, TOL), "not-spread", spread)
    blind = 1 - 1 / 6
    expect(close(least(4, 3, 2, 0.0, 0.3), blind, TOL), "blind", "with p_c = 0 nothing can be copied: what is the loss then?")
    hint = "with p_c > 0 a predictor that copies a shown word of the document's topics must gain something."
    expect(not close(least(4, 3, 2, 0.3, 0.0), blind, TOL), "no-copying", hint)
    hint = "without random words every shown word is the target: what is left are the positions that show [MASK]."
    value = least(4, 3, 2, 0.3, 0.0)
    expect(close(value, 0.7 * blind, TOL), "not-a-mixture", hint)
    expect(
        not close(least(4, 3, 2, 0.3, 0.4), value, TOL),
        "random-words-forgotten",
        "a random word may look like a kept one: p_r matters.",
    )
    many, few = least(4000, 3, 2, 0.3, 0.4), least(4, 3, 2, 0.3, 0.4)
    hint = "a random word of another topic gives itself away: with more topics in all, fewer random words can be mistaken."
    expect(not close(many, few, TOL), "all-random-words-suspect", hint)
    expect(few > many, "wrong-direction", "with more topics in all copying must become safer, so the loss must fall.")
    # Copying gains p_c times the probability that the shown word was kept.
    gain = 1 - few / blind
    expect(close(gain * (0.3 + 0.2), 0.3 * 0.3, TOL), "wrong-gain", "weigh each shown token by how often it occurs.")


@register("d.4-best-alpha")
def best_alpha(answer: Answer) -> None:
    def loss(alpha: float, beta: float, a: float, v: int, tau: int) -> float:
        weights = np.concatenate([[beta], np.full(v - 1, alpha), np.ones((tau - 1) * v)])
        rest = v * (tau - a) / a - (tau - 1) * v  # [MASK] and random words, which no output sees
        outputs = weights / (weights.sum() + rest) / a
        outputs[0] -= 1
        return float((outputs**2).sum())

    for beta, a, v, tau in ((75.0, 0.8, 6, 3), (20.0, 0.8, 6, 3), (0.2, 0.8, 6, 3), (5000.0, 0.9, 10, 4)):
        alpha = float(as_array(answer(beta, a, v, tau), (), "the best alpha"))
        expect(alpha >= 0, "negative", "a ratio of attention weights cannot be negative: what if the stationary point is?")
        step = 2e-3 * max(alpha, 1)
        here, up = loss(alpha, beta, a, v, tau), loss(alpha + step, beta, a, v, tau)
        down = loss(max(alpha - step, 0), beta, a, v, tau)
        best = here <= up + 1e-13 and here <= down + 1e-13
        if not best:
            fixed = close(alpha, a * (tau - 1) / (tau - a), TOL)
            expect(not fixed, "beta-ignored", "this is the best alpha when beta is free too; here beta is given.")
            average = "the average s of the free optimum need not be kept: minimise the loss itself."
            kept = close(((v - 1) * alpha + beta) / v, tau / (1 - a) - a / (tau - a), TOL)
            expect(not kept, "average-kept", average)
            small = "a small step to a larger alpha still lowers the loss at a large beta: does your g change with alpha?"
            expect(alpha > 1e-3, "always-the-edge", small)
            expect(best, "not-the-minimum", "a small step in alpha lowers the loss at this beta.")


@register("d.4-part-of-the-diagonal")
def part_of_the_diagonal(answer: Answer, share_of: str = "diagonal", asked: str = "one word") -> None:
    def loss(parts: np.ndarray, omega: float, a: float, v: int, tau: int) -> float:
        # All outputs of the document's words, from what each group gets.
        weights = np.repeat(parts / [1, v - 1, v * (tau - a) / a], [1, v - 1, (tau - 1) * v])
        first = np.arange(tau * v) < v
        matrix = omega * np.eye(tau * v) + (1 - omega) / v * np.outer(first, first) + (1 - omega) * np.diag(~first)
        outputs = matrix @ weights / a
        outputs[0] -= 1
        return float(outputs @ outputs)

    def better(parts: np.ndarray, *setting: Any) -> list[int]:
        # Groups that should get more, at the cost of another.
        here, found = loss(parts, *setting), []
        for one, other in product(range(3), range(3)):
            step = min(2e-3, parts[one])
            if loss(parts + step * (np.eye(3)[other] - np.eye(3)[one]), *setting) < here - 1e-7:
                found.append(other)
        return found

    def run(omega: float, a: float, v: int, tau: int) -> np.ndarray:
        found = as_array(answer(omega if share_of == "diagonal" else 1 - omega, a, v, tau), (3,), "three numbers, for b, c and g")
        counts = np.array([1, v - 1, v * (tau - a) / a])
        expect((found > -TOL).all(), "negative", "a weight of attention is not negative: what if the free minimum has one that is?")
        sums = {"one word": found @ counts, "each group": found.sum()}
        asked_sum = sums.pop(asked)
        mixed_up = close(sums.popitem()[1], 1, TOL) and not close(asked_sum, 1, TOL)
        expect(not mixed_up, "word-or-group", "is the weight of one word asked for, or that of a whole group of words?")
        hint = "all attention sums to one, and [MASK] and random words, which cost nothing, have their part of it too."
        expect(close(asked_sum, 1, 1e-3), "not-normalised", hint)
        return np.maximum(found * counts if asked == "one word" else found, 0)

    for setting in ((0.6, 0.865, 10, 2), (0.95, 0.7, 6, 2), (0.3, 0.7, 5, 4), (0.9, 0.6, 3, 12), (0.99, 0.8, 4, 3)):
        parts = run(*setting)
        more = better(parts, *setting)
        if more:
            hint = "your answer is the same for every share: with a part of the diagonal, attention on a word is a weaker vote."
            expect(not close(run(0.99, *setting[1:]), parts, 1e-6), "all-diagonal", hint)
            hint = "this is best for the other mixture: whose share is given?"
            expect(better(parts, 1 - setting[0], *setting[1:]), "share-of-the-other", hint)
            hint = "other words of the topic get nothing here, though a little on them would help: is this edge the right one?"
            expect(parts[1] > 1e-6 or 1 not in more, "others-never-used", hint)
        expect(not more, "not-the-minimum", "a little more attention on one of the groups would lower the loss.")
