"""Checks of the exercises of Section 4."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from topiclib.checks.base import Answer, as_array, close, expect, register
from topiclib.documents import DocumentSettings, infinite_documents
from topiclib.masking import MaskingSettings, masked_distribution
from topiclib.vocabulary import MASK, Relation, Vocabulary

Array = npt.NDArray[np.float64]


@register("4-optimal-bias")
def optimal_bias(answer: Answer) -> None:
    for masking, t, v in ((MaskingSettings(0.2, 0.1, 0.3), 3, 2), (MaskingSettings(0.15, 0.1, 0.1), 10, 10)):
        size = t * v + 1
        b = as_array(answer(masking.p_m, masking.p_c, masking.p_r, t, v), (size,), "the bias")
        expect(
            close(b[MASK], 0),
            "mask-entry",
            "no original word is [MASK] and no random word is either, so there is nothing to subtract at entry 0.",
        )
        expect((b[1:] <= 0).all(), "sign", "the bias subtracts the random words' share: its entries are not positive.")
        # What it is for: block embeddings plus this bias give each document's own distribution back.
        documents = infinite_documents(DocumentSettings.theory(topics_per_doc=2, num_topics=t, words_per_topic=v))
        block = np.kron(np.eye(t), np.ones((v, v))) / (masking.true_fraction * v)
        predicted = masked_distribution(documents, masking)[:, 1:] @ block + b[1:]
        share = masking.random_fraction / (t * v)
        expect(
            not close(b[1:], -share) or close(share, share / masking.true_fraction),
            "before-the-matrix",
            "the random words pass through E = J/(a v) before the bias is added; you subtract their share as it is before.",
        )
        expect(close(predicted, documents[:, 1:]), "not-denoised", "with the block-wise E, prediction plus bias is not p_w.")


@register("4-smallest-embedding")
def smallest_embedding(answer: Answer) -> None:
    for a, t, v in ((0.865, 10, 10), (0.5, 3, 4)):
        size = t * v + 1
        w = as_array(answer(a, t, v), (t, size), "W_E")
        expect(
            close(w[:, MASK], 0),
            "mask-column",
            "with every u equal to 0 the embedding of [MASK], column 0, is the zero vector.",
        )
        gram = w.T @ w
        same = Vocabulary(t, v).relations() != Relation.DIFFERENT_TOPIC
        expect(close(gram[~same], 0), "not-orthogonal", "embeddings of words of different topics must have dot product 0.")
        block = gram[1 : v + 1, 1 : v + 1]
        expect(np.allclose(block, block[0, 0]), "not-constant", "with d = T all words of a topic share one embedding.")
        total = block[0].sum()
        expect(
            not close(total, 1 / (a * a * v)) and not close(total, 1 / (a * a)),
            "no-square-root",
            "E = W_E^T W_E squares the entries of W_E: they are square roots of the entries of E.",
        )
        expect(
            not close(total, v / a),
            "not-divided-by-v",
            "each of the v words of a topic contributes: it is their sum that must be 1/a, not each entry.",
        )
        expect(close(total, 1 / a), "block-sum", "Theorem 1, point 3(a): with u = 0 each row of a topic's block sums to 1/a.")


@register("4-excess-loss")
def excess_loss(answer: Answer) -> None:
    settings = DocumentSettings.theory(topics_per_doc=2, num_topics=4, words_per_topic=3)
    documents, masking = infinite_documents(settings), MaskingSettings(0.3, 0.2, 0.2)
    seen = masked_distribution(documents, masking)
    size = documents.shape[1]
    bias = np.full(size, -masking.random_fraction / (masking.true_fraction * (size - 1)))
    bias[MASK] = 0
    block = np.zeros((size, size))
    block[1:, 1:] = np.kron(np.eye(4), np.ones((3, 3))) / (masking.true_fraction * 3)
    best = float(as_array(answer(block, bias, seen, documents), (), "the loss as a single number"))
    expect(
        not close(best, 1 - 1 / 6),
        "whole-loss",
        "this is the loss itself: the excess leaves out the part 1 - 1/(tau v) that no predictor can avoid.",
    )
    expect(close(best, 0), "optimum-not-zero", "an optimum of Theorem 1 has excess loss 0; yours is not.")
    # A matrix that is not symmetric tells E x from x E; a constant error tells squares from norms and means from sums.
    shift = float(as_array(answer(block, bias + 0.1, seen, documents), (), "the loss as a single number"))
    expect(not close(shift, 0.1 * size**0.5), "not-squared", "the norm of equation 3 is squared.")
    expect(not close(shift, 0.01), "mean-over-words", "equation 3 sums the squared errors over the tokens; yours is their mean.")
    expect(
        not close(shift, 0.01 * size * len(documents)),
        "sum-over-documents",
        "equation 1 takes the mean over documents, not the sum.",
    )
    expect(close(shift, 0.01 * size), "wrong-scale", "a prediction that is off by 0.1 in each token has excess loss 0.01 V.")
    skewed = block.copy()
    skewed[1, MASK] += 1
    by_hand = float(np.mean(seen[:, MASK] ** 2))
    value = float(as_array(answer(skewed, bias, seen, documents), (), "the loss as a single number"))
    expect(
        close(value, by_hand), "transposed", "the prediction is E times the column x: entry (i, j) of E weighs token j for word i."
    )
    # An error that differs between documents: in word 1, by what each of them shows of word 1.
    varied = block.copy()
    varied[1, 1] += 1
    error = seen[:, 1]
    value = float(as_array(answer(varied, bias, seen, documents), (), "the loss as a single number"))
    hint = "every document counts: yours is the loss of the first one only."
    expect(not close(value, error[0] ** 2), "first-document-only", hint)
    hint = "take the squared norm for each document and the mean after it: errors of two documents must not cancel."
    expect(not close(value, error.mean() ** 2), "mean-before-square", hint)
    expect(close(value, np.mean(error**2)), "wrong-loss", "the mean over documents of the squared norm is off; try two documents.")


FACTORS = {"tied, values too": (2, 1), "embeddings": (2,), "untied, values too": (1, 1, 1), "untied": (1, 1)}


def _clock_by_steps(powers: tuple[int, ...], share: float, start: float, kappa: float, a: float, bent: bool = True) -> float:
    """By Runge-Kutta steps along the gradient; unless ``bent``, the error stays as it is far from the goal."""
    x, clock, step, before = [start] * len(powers), 0.0, 0.0, 0.0

    def product(factors: list[float]) -> float:
        return math.prod(f**n for f, n in zip(factors, powers, strict=True))

    def speed(factors: list[float]) -> list[float]:
        e = product(factors)
        error = (e if bent else 0) - 1 / a
        return [-2 * kappa * error * n * e / f for f, n in zip(factors, powers, strict=True)]

    def ahead(by: float, along: list[float]) -> list[float]:
        return [f + by * d for f, d in zip(x, along, strict=True)]

    while (e := product(x)) < share / a:
        first = speed(x)
        before, step = e, 0.02 * min(*(f / d for f, d in zip(x, first, strict=True)), a * a / kappa)
        second = speed(ahead(step / 2, first))
        third = speed(ahead(step / 2, second))
        fourth = speed(ahead(step, third))
        x = ahead(step, [(p + 2 * q + 2 * r + s) / 6 for p, q, r, s in zip(first, second, third, fourth, strict=True)])
        clock += step
    return clock - step * (e - share / a) / (e - before)


@register("4-saddle-clock")
def saddle_clock(answer: Answer, trained: str = "tied, values too") -> None:
    powers, share, start, kappa, a = FACTORS[trained], 0.8, 0.1, 0.3, 0.7

    def run(part: float, begin: float, k: float, b: float) -> float:
        return float(as_array(answer(part, begin, k, b), (), "the clock, one number"))

    def is_near(x: float, y: float) -> bool:
        return abs(x - y) < 1e-3 * abs(y)

    found, right = run(share, start, kappa, a), _clock_by_steps(powers, share, start, kappa, a)
    expect(found > 0, "not-positive", "the clock is positive.")
    hint = "twice too long: the slope of a square has a two, that of the error as well as that of a factor used twice."
    expect(not is_near(found, 2 * right), "slope-of-the-square", hint)
    hint = "e itself is no weight: its factors are what gradient descent moves."
    e_0 = start ** sum(powers)
    expect(not is_near(found, math.log((1 - a * e_0) / (1 - share)) / (2 * kappa)), "gradient-by-e", hint)
    hint = "this is the clock of another model: which factors are trained, and is one of them used twice?"
    others = [n for n in FACTORS.values() if n != powers]
    expect(not any(is_near(found, _clock_by_steps(n, share, start, kappa, a)) for n in others), "other-parts", hint)
    expect(not is_near(found, _clock_by_steps(powers, share, start, kappa, 1.0)), "target-forgotten", "e does not end at one.")
    hint = "the share is one of the product, not of a factor of it."
    cubic = [2.0, 0.0, -(start**2), -1 / a] if trained == "tied, values too" else [1.0, *([0.0] * (sum(powers) - 1)), -1 / a]
    last = max(float(x.real) for x in np.roots(cubic) if abs(x.imag) < 1e-9)
    of_factor = a * (float(np.polyval(cubic, share * last)) + 1 / a)
    expect(not is_near(found, _clock_by_steps(powers, of_factor, start, kappa, a)), "factor-not-product", hint)
    speed = sum((n * e_0 / start) ** 2 for n in powers) * 2 * kappa * (1 / a - e_0)
    hint = "the speed at the start is not the speed later: what grows is a factor of its own growth."
    expect(not is_near(found, (share / a - e_0) / speed), "constant-speed", hint)
    hint = "this is the growth far from the end: close to the goal the error, and the speed with it, go to zero."
    expect(not is_near(found, _clock_by_steps(powers, share, start, kappa, a, bent=False)), "no-saturation", hint)
    expect(is_near(found, right), "wrong-clock", "many small steps of gradient descent arrive at another clock.")
    hint = "it fails for a small start, which takes long: are there enough points near it?"
    expect(is_near(run(0.5, 1e-3, 1.0, 0.9), _clock_by_steps(powers, 0.5, 1e-3, 1.0, 0.9)), "small-start", hint)
