"""Checks of the exercises of the errata."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from topiclib import enumeration, theory
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


@register("errata-mask-weight")
def mask_weight(answer: Answer, matrix: str = "theorem 2") -> None:
    def run(s: float, big_t: int, v: int, tau: int, *masks: float) -> float:
        found = float(as_array(answer(s, big_t, v, tau, *masks), (), "the weight of [MASK] as a number"))
        expect(found > -1e-3, "logarithm", "a weight of attention is positive: is it a logarithm that you return?")
        return found

    first = run(1.0, 4, 2, 2, 0.4, 0.0, 0.3)
    expect(not close(first, 0, 1e-3), "logarithm", "a weight of attention is positive: is it a logarithm that you return?")
    hint = "the weight is that of one [MASK] token: how many of a document's tokens show [MASK]?"
    expect(not close(first, theory.masking_fractions(p_m=0.4, p_c=0.0, p_r=0.3).mask, 1e-2), "one-token", hint)
    hint = "without kept words nothing pulls at attention, so at s = 1 the uniform pattern must be best: do random words count?"
    expect(close(first, 1, 1e-2), "random-words", hint)
    for s, big_t, v, tau, p_m, p_c, p_r in ((3.0, 3, 2, 2, 0.4, 0.2, 0.2), (4.0, 4, 2, 2, 0.3, 0.3, 0.1)):
        sizes = {"num_topics": big_t, "words_per_topic": v}
        masks = {"p_m": Fraction(str(p_m)), "p_c": Fraction(str(p_c)), "p_r": Fraction(str(p_r))}
        c = theory.theorem2_constants(**sizes, **masks)
        free = {"theorem 2": theory.theorem2(**sizes, **masks).different_topic, "u zero": Fraction(0), "no mask": -c.c_1 / c.c_2}
        rho = max(run(s, big_t, v, tau, p_m, p_c, p_r), 1e-3)

        def best(rho: float, u: Fraction, c: theory.Constants = c, v: int = v, tau: int = tau, s: float = s,
                 sizes: dict[str, Any] = sizes, masks: dict[str, Any] = masks) -> bool:  # fmt: skip
            block = c.c_3 / v + u
            w = theory.ValueMatrix(-c.c_1 - c.c_2 * u, block, u, block).matrix(sizes["num_topics"], v)
            losses = [
                enumeration.attention_loss(
                    w, same_topic_ratio=Fraction(s), same_word_ratio=Fraction(s), mask_ratio=Fraction(round(x, 9)),
                    topics_per_doc=tau, **sizes, **masks,
                )
                for x in (rho / 1.02, rho, rho * 1.02)
            ]  # fmt: skip
            return losses[1] <= min(losses)

        if not best(rho, free[matrix]):
            hint = "this is Assumption 2's weight: the erratum says that another one is better."
            expect(not close(rho, 1, 1e-3), "as-assumed", hint)
            hint = "this is best for another minimiser of stage 1: which constant u do its rows have?"
            expect(not any(best(rho, u) for name, u in free.items() if name != matrix), "other-matrix", hint)
            hint = "this is the weight of a word, relative to [MASK]: the question is the other way round."
            expect(not best(1 / rho, free[matrix]), "upside-down", hint)
            expect(
                False, "not-the-minimum", "a slightly different weight has a lower loss: compare your loss with the enumeration's."
            )
