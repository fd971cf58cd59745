"""Checks of the exercises of the errata."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from topiclib import theory
from topiclib.checks.base import Answer, as_array, close, expect, register
from topiclib.masking import MaskingSettings, masked_distribution


def _assumption_4(p_m: float, p_c: float, p_r: float) -> None:
    expect(0 < p_m < 0.5, "p-m-too-large", "Assumption 4 wants p_m between 0 and one half.")
    expect(close(p_c, p_r, 1e-12), "not-equal", "Assumption 4 wants p_c and p_r to be equal.")
    hint = "with p_c and p_r at one half or more no selected position shows [MASK]: then the constants do not exist."
    expect(0 < p_c < 0.5, "no-mask-left", hint)


@register("errata-large-constant")
def large_constant(answer: Answer) -> None:
    for big_t, v, bound in ((10, 10, 1.0), (10, 10, 50.0), (100, 10, 2.0)):
        p_m, p_c, p_r = (float(x) for x in as_array(answer(big_t, v, bound), (3,), "p_m, p_c, p_r"))
        _assumption_4(p_m, p_c, p_r)
        masks = {"p_m": Fraction(p_m), "p_c": Fraction(p_c), "p_r": Fraction(p_r)}  # exact, however little of [MASK] is left
        c_1 = theory.theorem2_constants(num_topics=big_t, words_per_topic=v, **masks).c_1
        hint = "c_1 is not above the bound: which factor of its denominator can be made as small as you like?"
        expect(c_1 > bound, "not-large-enough", hint)


@register("errata-no-topics")
def no_topics(answer: Answer) -> None:
    for big_t, v in ((2, 1), (3, 2)):
        words = big_t * v
        w = as_array(answer(big_t, v), (words + 1, words + 1), "the matrix")
        document = np.full(words + 1, 1 / words)
        document[0] = 0
        sums = w[:, 1:].reshape(words + 1, big_t, v).sum(axis=2)
        hint = "each row should have the same sum over every topic; yours prefers some topic, as Lemma 1's matrices do."
        expect(close(sums, sums[:, :1], 1e-6), "topics-differ", hint)
        for masking in (MaskingSettings(0.3, 0.2, 0.1), MaskingSettings(0.6, 0.1, 0.3)):
            output = w @ masked_distribution(document, masking)
            expect(close(output[0], 0, 1e-6), "mask-predicted", "[MASK] is never the target: its output must be zero.")
            hint = "the words that are left do not make up the whole document: what do the [MASK] tokens add to your output?"
            shown = 1 - masking.mask_fraction
            expect(not close(output[1:], shown / words, 1e-6), "mask-not-counted", hint)
            hint = "every document has the same word distribution here: your output is not that distribution."
            expect(close(output, document, 1e-6), "wrong-level", hint)


@register("errata-below-the-interval")
def below_the_interval(answer: Answer) -> None:
    big_t, tau, p_m, p_c, p_r = (float(x) for x in as_array(answer(), (5,), "T, tau, p_m, p_c, p_r"))
    whole = big_t == int(big_t) and tau == int(tau) and tau >= 2
    expect(whole, "not-whole", "the numbers of topics are whole numbers, and a document has at least two of them.")
    expect(tau < big_t, "all-topics", "a document must leave out at least one topic.")
    expect(big_t <= 60, "too-many-topics", "find one with fewer topics in all.")
    expect(0 < p_m < 0.5, "assumption-4", "Assumption 4 wants p_m between 0 and one half.")
    _assumption_4(p_m, p_c, p_r)
    sizes = {"num_topics": int(big_t), "topics_per_doc": int(tau), "p_m": p_m, "p_c": p_c, "p_r": p_r}
    s = theory.optimal_attention(words_per_topic=10, **sizes)
    hint = "the best average is inside the interval here: try documents with nearly all topics, and other masks."
    expect(s < theory.theorem3(**sizes).low, "inside", hint)
