"""Checks of the exercises of Section 5.3."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from topiclib.checks.base import Answer, as_array, close, expect, register
from topiclib.vocabulary import MASK, Relation, Vocabulary

TOL = 1e-4  # answers in single precision are right too


@register("5.3-attention-column")
def attention_column(answer: Answer) -> None:
    # Topics of v = 2: words 1, 2 and 3, 4 and 5, 6.
    tokens = np.array([1, 2, 2, 3, 4, 0, 0, 6, 1, 2])

    def column(query: int, alpha: float, beta: float) -> npt.NDArray[np.float64]:
        return as_array(answer(tokens, query, alpha, beta, 2), (10,), "the column of weights")

    uniform = column(1, 1.0, 1.0)
    expect(
        not close(uniform, 1, TOL), "not-normalised", "the ratios are no weights yet: a column of A sums to 1, whatever the ratios."
    )
    hint = "with both ratios equal to 1 every position gets the same weight, the query's own position too."
    expect(not close(uniform[1], 0, TOL), "self-left-out", hint)
    expect(close(uniform, 0.1, TOL), "not-uniform", hint)
    got = column(1, 3.0, 7.0)
    expect(close(got.sum(), 1, TOL), "not-normalised", "a column of A sums to 1, whatever the ratios are.")
    got = got / got[7]
    hint = "the ratios are ratios of weights, not scores: they go in without an exponential."
    expect(not close(got[2], np.exp(6), TOL), "exponential", hint)
    hint = "topic(i) = ceil(i / v): the last word of a topic belongs to it, and not to the next."
    expect(close(got[3], 1, TOL) and close(got[0], got[8], TOL) and not close(got[0], 1, TOL), "wrong-topic", hint)
    hint = "a word has its own topic too: ask whether it is the same word first, and give that pair its own ratio."
    expect(not close(got[2], got[0], TOL), "same-word-lost", hint)
    expect(not close(got[[0, 2]], [7, 3], TOL), "ratios-swapped", "alpha is for another word of the topic, beta for the same word.")
    hint = "[MASK] has no topic: every word is of another topic than it, and only another [MASK] is the same token."
    expect(close(got[[5, 6]], 1, TOL), "mask-has-a-topic", hint)
    expect(
        close(got, [3, 7, 7, 1, 1, 1, 1, 1, 3, 7], TOL), "wrong-ratio", "compare each position with the query: word, then topic."
    )
    masked = column(5, 3.0, 7.0)
    masked = masked / masked[0]
    expect(close(masked, [1, 1, 1, 1, 1, 7, 7, 1, 1, 1], TOL), "mask-has-a-topic", hint)


@register("5.3-needed-ratio")
def needed_ratio(answer: Answer) -> None:
    hint = "uniform attention gives a topic just its share of the tokens: then the ratio is 1."
    even = float(as_array(answer(0.2, 0.2), (), "the ratio as a number"))
    expect(close(even, 1, TOL), "uniform-not-one", hint)
    for share, mass in ((0.2, 0.5), (0.1, 0.865), (0.3, 0.1)):
        ratio = float(as_array(answer(share, mass), (), "the ratio as a number"))
        expect(ratio > 0, "not-positive", "a ratio of two attention weights is positive.")
        total = 1 - share + ratio * share
        expect(
            not close(share / (share + ratio * (1 - share)), mass, TOL),
            "upside-down",
            "more attention on the own topic needs a larger ratio: yours is that of the other topics to this one.",
        )
        hint = "what the own topic gains the others lose, since the column sums to 1: divide by the total weight."
        expect(not close(ratio * share, mass, TOL), "others-unchanged", hint)
        expect(
            close(ratio * share / total, mass, TOL), "wrong-mass", "with your ratio the own topic gets another part of the weight."
        )


@register("5.3-realise")
def realise(answer: Answer) -> None:
    for num_topics, v, alpha, beta in ((3, 2, 4.0, 9.0), (2, 4, 5.0, 0.5)):
        vocabulary = Vocabulary(num_topics, v)
        size = vocabulary.size
        result = answer(alpha, beta, num_topics, v)
        pair = isinstance(result, (tuple, list)) or (hasattr(result, "shape") and len(result.shape) == 3)
        expect(pair and len(result) == 2, "not-a-pair", "return two matrices, W_K and W_Q.")
        w_k, w_q = (as_array(w, (size, size), name) for w, name in zip(result, ("W_K", "W_Q"), strict=True))
        scores = w_k.T @ w_q
        relation = vocabulary.relations()
        # A token of another topic for each query: column-wise softmax sees differences only.
        other = [int(np.flatnonzero((relation[:, q] == Relation.DIFFERENT_TOPIC) | (np.arange(size) != q) & (q == MASK))[-1])
                 for q in range(size)]  # fmt: skip
        got = (scores - scores[other, np.arange(size)]) / size**0.5
        same, own = got[1, 2], got[2, 2]
        hint = "softmax exponentiates the scores: to give weights in the ratio of 3 to 1, scores must differ by a logarithm."
        expect(not close(same * size**0.5, alpha - 1, TOL) and not close(same, alpha - 1, TOL), "no-logarithm", hint)
        hint = "equation 5 divides the scores by the root of the head size, which is V here."
        expect(not close(same, np.log(alpha) / size**0.5, TOL), "no-scale", hint)
        expect(
            not close([same, own], np.log([beta, alpha]), TOL),
            "ratios-swapped",
            "alpha is for different words of one topic, beta for the same word: the diagonal of the scores.",
        )
        expect(close(same, np.log(alpha), TOL), "wrong-same-topic", "two different words of one topic do not get the ratio alpha.")
        expect(close(own, np.log(beta), TOL), "wrong-same-word", "a word and its own copies do not get the ratio beta.")
        hint = "two [MASK] are the same token, so they get beta by Assumption 2; [MASK] and a word are of different topics."
        alone = close(got[1:, MASK], 0, TOL) and close(got[MASK, 1:], 0, TOL)
        expect(alone and close(got[MASK, MASK], np.log(beta), TOL), "mask-wrong", hint)
        different = np.where(relation == Relation.DIFFERENT_TOPIC, got, 0)
        expect(close(different, 0, TOL), "wrong-different", "words of different topics must all get the same weight.")
        hint = "it holds for some words only: go through all pairs of words."
        words = np.where(relation == Relation.SAME_TOPIC, np.log(alpha), 0) + np.diag(np.full(size, np.log(beta)))
        expect(close(got, words, TOL), "some-pairs-only", hint)


# The best s and m and the fraction on the own topic, for masks and numbers of topics; right and by some mistakes.
FREE_MASK = {
    (2, 0.15, 0.1, 0.1): {
        "": (14.1571, 1.16715, 0.912442),
        "not-free": (14.0527, 1, 0.914601),
        "random-words": (723.902, 403.429, 0.865011),
        "proportion": (14.1571, 1.16715, 0.912442),
        "random-tokens": (14.1571, 1.29215, 0.912442),
        "share": (14.1571, 0.933718, 0.912442),
        "others": (8.40741, 1, 0.865),
    },
    (3, 0.3, 0.2, 0.05): {
        "": (14.453, 2.05806, 0.788055),
        "not-free": (12.1607, 1, 0.804914),
        "random-words": (1141.19, 403.429, 0.760004),
        "proportion": (12.7076, 1.27014, 0.799477),
        "random-tokens": (14.453, 2.12473, 0.788055),
        "share": (14.453, 1.54355, 0.788055),
        "others": (9.33333, 1, 0.76),
    },
    (5, 0.4, 0.1, 0.3): {
        "": (14.2751, 1.18342, 0.66608),
        "not-free": (13.7421, 1, 0.668566),
        "random-words": (1353.55, 403.429, 0.640002),
        "proportion": (15.3489, 1.54595, 0.662017),
        "random-tokens": (14.2751, 1.68342, 0.66608),
        "share": (14.2751, 0.710054, 0.66608),
        "others": (12.1111, 1, 0.64),
    },
}


def _asked_numbers(s: float, m: float, fraction: float, asked: str) -> npt.NDArray[np.float64]:
    values = {"ratios": (s, m), "fraction and m": (fraction, m), "relative to [MASK]": (s / m, 1 / m)}
    return np.array(values[asked])


@register("5.3-free-mask")
def free_mask(answer: Answer, asked: str = "ratios") -> None:
    hints = {
        "not-free": (
            "mask-not-free",
            "this is Assumption 2's optimum, with the weight of [MASK] at one: let that weight move too.",
        ),
        "random-words": (
            "random-words-forgotten",
            "kept words alone would like as much [MASK] as they can get: who holds it back?",
        ),
        "proportion": (
            "no-proportion",
            "kept and random words are not equally frequent in general: weigh each kind by its chance.",
        ),
        "random-tokens": (
            "random-tokens-forgotten",
            "random words stand in the document too, and take attention like words of other topics.",
        ),
        "share": ("share-of-mask", "not every selected position shows [MASK]: some keep their word and some show a random one."),
        "others": ("others-cost-nothing", "what is predicted for the words of the document's other topics costs something too."),
    }
    for (tau, p_m, p_c, p_r), numbers in FREE_MASK.items():
        found = as_array(answer(tau, p_m, p_c, p_r), (2,), "two numbers")
        right = _asked_numbers(*numbers[""], asked)
        if np.allclose(found, right, rtol=2e-3):
            continue
        for mistake, (key, hint) in hints.items():
            wrong = _asked_numbers(*numbers[mistake], asked)
            expect(not np.allclose(found, wrong, rtol=2e-3) or np.allclose(wrong, right, rtol=2e-3), key, hint)
        forms = ("ratios", "fraction and m", "relative to [MASK]")
        values = [_asked_numbers(*numbers[""], form) for form in forms if form != asked]
        hint = "you have found the optimum, but the statement asks for other numbers that describe it."
        expect(not any(np.allclose(found, value, rtol=2e-3) for value in values), "other-numbers-asked", hint)
        expect(not np.allclose(found, right[::-1], rtol=2e-3), "order", "the two numbers stand in the other order.")
        near = np.allclose(found, right, rtol=0.08)
        expect(not near, "not-the-limit", "close, but not exact: is it the limit of endlessly many topics, minimised far enough?")
        expect(
            False, "not-the-best", "other weights give these queries a smaller loss: check the prediction for each kind of query."
        )
