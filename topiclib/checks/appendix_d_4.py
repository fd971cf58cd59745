"""Checks of the exercises of Appendix D.4."""

from __future__ import annotations

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
