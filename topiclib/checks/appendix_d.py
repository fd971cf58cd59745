"""Checks of the exercises of Appendix D."""

from __future__ import annotations

import math

import numpy as np

from topiclib.checks.base import Answer, as_array, close, expect, register
from topiclib.theory import LossTerms, ValueMatrix, attention_loss, loss_terms, masking_fractions, optimal_attention, theorem2

TOL = 1e-5
NEAR = 1e-4  # relative, for a slope


@register("d-shown")
def shown(answer: Answer) -> None:
    for num_topics, tau, p_c, p_r in ((10, 3, 0.1, 0.2), (5, 4, 0.0, 0.5), (6, 2, 0.3, 0.0)):
        result = answer(num_topics, tau, p_c, p_r)
        three = not hasattr(result, "__len__") or len(result) == 3
        expect(three and result is not None, "not-three", "return three shares: M, I and O.")
        mask, inside, outside = (float(x) for x in as_array(result, (3,), "three shares: M, I and O"))
        expect(
            close(mask, 1 - p_c - p_r, TOL),
            "mask-share",
            "of the selected positions those that are neither kept nor random show [MASK].",
        )
        hint = "a kept word is a word of the document: it belongs to the share inside."
        expect(p_c == 0 or not close(inside, p_r * tau / num_topics, TOL), "kept-left-out", hint)
        hint = "a random word may be of one of the document's topics too: how often, with tau of T topics?"
        expect(not (p_r and close(inside, p_c, TOL)), "random-inside-lost", hint)
        hint = "tau of the T topics are the document's: a random word hits one of them with that share, and not with the rest."
        swapped = tau * 2 != num_topics and p_r and close(inside, p_c + p_r * (1 - tau / num_topics), TOL)
        expect(not swapped, "inside-and-outside-swapped", hint)
        expect(
            close(mask + inside + outside, 1, TOL), "sum-not-one", "every selected position shows one of the three: they sum to 1."
        )
        expect(
            close(outside, p_r * (1 - tau / num_topics), TOL), "outside-share", "which words of no topic of the document can show?"
        )


@register("d-curvature")
def curvature(answer: Answer) -> None:
    settings = ((4, 3, 2, 0.15, 0.1, 0.1), (5, 2, 3, 0.4, 0.2, 0.1), (6, 4, 1, 0.3, 0.3, 0.2))
    for num_topics, v, tau, p_m, p_c, p_r in settings:
        a = masking_fractions(p_m=p_m, p_c=p_c, p_r=p_r).true
        p = 1 / (tau * v)
        # Two values with the right difference, 1 / (a v), and another level: the answer must use both.
        for low in (0.0, -0.03):
            same, found = low + 1 / (a * v), []
            for inside in (True, False):
                value = answer(same, low, num_topics, v, tau, inside)
                found.append(float(as_array(value, (), "the squared distance as a number")))
            own, rest = v * (same - p) ** 2, (tau - 1) * v * (low - p) ** 2
            absent = (num_topics - tau) * v * low**2
            first = own + rest + absent
            hint = "a distance squared: the sum of squares without a root."
            expect(not close(found[0] ** 2, first, TOL), "not-squared", hint)
            hint = "each topic has v words, and every one of them is an entry of the vector."
            expect(v == 1 or not close(found[0] * v, first, TOL), "one-word-a-topic", hint)
            hint = "words of topics that the document lacks have a prediction too, and it should be 0."
            expect(absent == 0 or not close(found[0], first - absent, TOL), "absent-words-lost", hint)
            expect(
                close(found[0], first, TOL), "wrong-inside", "for a word inside: own topic, the document's other topics, the rest."
            )
            hint = "seen from a word outside, its own topic is none of the document's: there the document has probability 0."
            expect(not close(found[1], found[0], TOL), "outside-as-inside", hint)
            hint = "count the topics again: own, the document's tau, and those that are neither."
            expect(close(found[1], found[0] + 2 * p / a, TOL), "wrong-outside", hint)


def excess(y: float, terms: LossTerms) -> float:
    """What attention of ratio 1 + y adds to the loss of a query that shows a word of the document's topics."""
    theta = y * terms.mass_inside / (1 + y * terms.mass_inside)
    return float(terms.curve_inside * theta**2 - 2 * terms.pull * theta)


@register("d-without-random")
def without_random(answer: Answer) -> None:
    for num_topics, v, tau, p_m, p_c in ((6, 3, 2, 0.15, 0.1), (10, 10, 4, 0.15, 0.5), (20, 5, 19, 0.4, 0.3)):
        setting = {
            "num_topics": num_topics, "words_per_topic": v, "topics_per_doc": tau, "p_m": float(p_m), "p_c": float(p_c), "p_r": 0.0,
        }  # fmt: skip
        best = optimal_attention(**setting)
        terms = loss_terms(**setting)
        share = terms.mass_inside
        s = float(as_array(answer(num_topics, v, tau, p_m, p_c), (), "s as a number"))
        expect(not close(s, best - 1, TOL), "one-missing", "you return y, how far the ratio is above 1; s is the ratio itself.")
        moved = (best - 1) * share / (1 + (best - 1) * share)
        hint = "this is the share of attention that moves; what ratio s moves that much?"
        expect(not close(s, moved, TOL), "share-not-ratio", hint)
        hint = "the share that moves is y F / (1 + y F), not y F: the column must still sum to 1."
        expect(not close(s, 1 + moved / share, TOL), "not-normalised", hint)
        limit = optimal_attention(**{**setting, "num_topics": math.inf})
        hint = "this is the limit of infinitely many topics; at finite T the value of words of different topics is not 0."
        expect(not close(s, limit, TOL), "infinitely-many-topics", hint)
        expect(s > 1, "not-above-one", "every selected word is a kept one here, so more attention to its topic must help.")

        hint = "the loss is lower at another ratio: set its derivative to zero with the terms of this setting."
        expect(excess(s - 1, terms) <= min(excess(s * 1.05 - 1, terms), excess(s / 1.05 - 1, terms)), "not-the-minimum", hint)
        expect(close(s, best, TOL), "not-exact", "close to the minimum, but not it: is a term left out that is small here?")


Setting = tuple[int, int, int, float, float, float]


def _measured_slope(w: tuple[float, float, float], setting: Setting, moved: str) -> float:
    """The derivative of the library's loss at uniform attention, as a difference quotient."""
    big_t, v, tau, p_m, p_c, p_r = setting
    step = np.array([-1e-4, 1e-4])
    still = 0 * step
    alpha, beta = {
        "alpha and beta": (step, step), "the average s": (step * v / (v - 1), still), "alpha": (step, still), "beta": (still, step),
    }[moved]  # fmt: skip
    loss = attention_loss(
        ValueMatrix(*w, w[1]), same_topic_ratio=1 + alpha, same_word_ratio=1 + beta,
        num_topics=big_t, words_per_topic=v, topics_per_doc=tau, p_m=p_m, p_c=p_c, p_r=p_r,
    )  # fmt: skip
    return float((loss[1] - loss[0]) / 2e-4)


@register("d-slope-at-uniform")
def slope_at_uniform(answer: Answer, moved: str = "alpha and beta") -> None:
    def pair(w: tuple[float, float, float], setting: Setting) -> tuple[float, float]:
        found = as_array(answer(*w, *setting), (), "the slope as one number")
        return float(found), _measured_slope(w, setting, moved)

    # One kind of query after the other. First Theorem 2's matrix and no random words: only kept words have a slope.
    setting: Setting = (4, 3, 2, 0.3, 0.2, 0.0)
    best = theorem2(num_topics=4, words_per_topic=3, p_m=0.3, p_c=0.2, p_r=0.0)
    w = float(best.mask_column), float(best.same_topic), float(best.different_topic)
    found, right = pair(w, setting)
    hint = "the target of a kept word is the word itself, not any word of the document: without that nothing pulls at attention."
    expect(not close(found, 0, NEAR * abs(right)), "kept-words", hint)
    hint = "kept words gain from attention to their topic: along the ratio the loss must fall there. Check the sign."
    expect(not close(found / right, -1, NEAR), "sign", hint)
    expect(not close(found / right, 0.5, NEAR), "factor-two", "what is the derivative of a square?")
    share = masking_fractions(p_m=0.3, p_c=0.2, p_r=0.0).true / 2
    hint = "a ratio moves attention in proportion to the share of the group: you have the derivative in the fraction that moves."
    expect(not close(found * share / right, 1, NEAR), "theta-not-ratio", hint)
    speeds = {"alpha and beta": 1.0, "the average s": 1.0, "alpha": 2 / 3, "beta": 1 / 3}
    hint = "it is the slope in another direction: how fast does the average over the topic move in the one that is asked for?"
    others = [speed for speed in speeds.values() if speed != speeds[moved]]
    expect(not any(close(found / right * speeds[moved], x, NEAR) for x in others), "other-direction", hint)
    expect(close(found, right, NEAR), "wrong-kept", "for Theorem 2's matrix without random words it is not the slope.")
    # Another matrix: random words, then selected positions that all show [MASK].
    w = 0.08, 0.11, 0.02
    found, right = pair(w, (4, 3, 3, 0.4, 0.0, 0.3))
    hint = "uniform attention predicts the document's words for a trained matrix only; this one is not trained to the end."
    expect(not close(found, 0, 1e-9), "uniform-not-perfect", hint)
    found, right = pair(w, (4, 3, 2, 0.3, 0.0, 0.0))
    hint = "queries that show [MASK] attend to other [MASK] tokens by one of the two ratios only: does it move here?"
    expect(close(found, right, NEAR * max(abs(right), 0.01)), "mask-queries", hint)
    found, right = pair(w, (4, 3, 3, 0.4, 0.0, 0.3))
    hint = "a random word of a topic that the document lacks has a slope too, where uniform attention is not perfect."
    expect(abs(found - right) < NEAR * abs(right), "outside-lost", hint)
    for other in ((6, 3, 2, 0.3, 0.2, 0.4), (10, 10, 3, 0.15, 0.1, 0.1)):
        found, right = pair(w, other)
        expect(
            abs(found - right) < NEAR * abs(right),
            "wrong-mixture",
            "each part is right, but not their sum: weigh the kinds of query.",
        )
