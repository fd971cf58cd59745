"""Checks of the exercises of Appendix E.3."""

from __future__ import annotations

import numpy as np

from topiclib.checks.base import Answer, as_array, close, expect, register


@register("e.3-pair-npmi")
def pair_npmi(answer: Answer) -> None:
    def value(*counts: int) -> float:
        return float(as_array(answer(*counts), (), "one number"))

    always, independent, rare = value(5, 5, 5, 100), value(20, 50, 10, 100), value(2, 2, 2, 100)
    expect(close(value(9, 4, 0, 100), -1), "never-together", "what is returned for words that are never together?")
    hint = "independent words must have the value 0: are all three numbers shares of the documents?"
    expect(close(independent, 0), "counts-not-shares", hint)
    hint = "words that are always together must have the largest value, not the smallest: look at the sign of the denominator."
    expect(always > 0, "sign", hint)
    hint = "two pairs that are always together must have the same value, however rare: divide by minus the logarithm of p12."
    expect(close(always, rare), "not-normalised", hint)
    expect(close(always, 1), "not-one", "words that are always together must have the value 1.")
    for one, two, both, documents in ((30, 12, 9, 400), (30, 12, 1, 70)):
        p1, p2, p12 = one / documents, two / documents, both / documents
        found = value(one, two, both, documents)
        hint = "put the three shares into the formula."
        expect(close(np.exp(-found * np.log(p12)) * p1 * p2, p12), "wrong-value", hint)


@register("e.3-sharing-means")
def sharing_means(answer: Answer) -> None:
    # Words 0 and 1 share two topics, 2 shares the first of them, 3 stands for a third, 4 for a third and a fourth.
    member = np.array([[1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [0, 0, 0, 1, 1], [0, 0, 0, 0, 1]]) > 0
    size = 5

    def means(*raised: tuple[int, int]) -> np.ndarray:
        cosines = np.zeros((size, size))
        for pair in raised:
            cosines[pair] = 1
        return as_array(answer(cosines, member), (2,), "two means")

    everything = as_array(answer(np.ones((size, size)), member), (2,), "two means")
    expect(close(everything, 1), "not-means", "if all cosines are one, both means must be one.")
    hint = "a word with itself is no pair: leave out the diagonal."
    expect(close(means(*((i, i) for i in range(size))), 0), "itself-included", hint)
    twice, once, apart, wide = (means(pair) for pair in ((0, 1), (0, 2), (2, 3), (0, 4)))
    hint = "a pair that shares a topic must not count among the different-topic pairs too."
    expect(close([twice[1], once[1]], 0), "shared-pairs-twice", hint)
    expect(close([apart[0], wide[0]], 0), "apart-as-same", "a pair that shares no topic must not count among the same-topic pairs.")
    hint = "a pair that shares two topics must count twice as much as one that shares one."
    expect(close(twice[0], 2 * once[0]), "same-counted-once", hint)
    hint = "a pair that shares none counts once for each way to choose a topic of the one word and a topic of the other."
    expect(close(wide[1], 4 * apart[1]), "different-counted-once", hint)
    total = sum(means((i, j))[k] for i in range(size) for j in range(size) for k in range(2))
    expect(close(total, 2), "wrong-weights", "count every ordered pair of different words, each way round.")


@register("e.3-kept-words")
def kept_words(answer: Answer) -> None:
    table = np.array(
        [
            [0.30, 0.29, 0.04, 0.01, 0.28, 0.01, 0.07],
            [0.40, 0.31, 0.13, 0.02, 0.05, 0.05, 0.04],
            [0.10, 0.11, 0.20, 0.15, 0.15, 0.16, 0.13],
        ]
    )
    found = as_array(answer(table, 2), table.shape, "a table of 0 and 1") > 0
    hint = "a word belongs to one topic only, that which gives it the highest probability."
    expect((found.sum(0) <= 1).all(), "several-topics", hint)
    hint = "a topic keeps no more words than the given number."
    expect((found.sum(1) <= 2).all(), "all-kept", hint)
    hint = "first find whose each word is, then rank each topic's own words: the first topic owns a word."
    expect(found[0].any(), "ranked-too-early", hint)
    hint = "the rank is by the probability of the word in the topic, not by the topic's share in the word."
    expect(not found[2, [3, 5]].all(), "ranked-by-share", hint)
    owners = [table[:, word].argmax() for word in np.flatnonzero(found.any(0))]
    hint = "a word belongs to the topic in whose row it has the highest probability of its column."
    expect(owners == [found[:, word].argmax() for word in np.flatnonzero(found.any(0))], "wrong-owner", hint)
    expect(found.sum(1).tolist() == [1, 2, 2], "wrong-number", "each topic keeps that many of its own words, or all that it has.")
    lowest = [table[t][found[t]].min() for t in (1, 2)]
    left = [table[t][(table.argmax(0) == t) & ~found[t]] for t in (1, 2)]
    hint = "of its own words a topic keeps those of highest probability."
    expect(all((rest < kept).all() for kept, rest in zip(lowest, left, strict=True)), "wrong-words", hint)


@register("e.3-balanced")
def balanced(answer: Answer) -> None:
    rng = np.random.default_rng(95)
    one, two = np.arange(400) % 3, rng.integers(5, size=400)
    values = rng.gamma(2.0, size=400) * (1 + one) * (1 + two * (one == 2))
    found = as_array(answer(values, one, two), (400,), "the balanced values")
    expect(not close(found, found[0]), "no-factors", "the values themselves must be kept, up to the factors of their groups.")
    factor = found / values
    spread = max(np.ptp(factor[(one == g) & (two == h)]) for g in range(3) for h in range(5))
    hint = "values in the same two groups must be multiplied by the same factor."
    expect(spread < 1e-4 * abs(factor).max(), "added-not-multiplied", hint)
    expect(np.ptp(factor) > 1e-6 * abs(factor).max(), "one-factor", "every group must have the mean 1, not only all together.")
    means = [np.array([found[group == g].mean() for g in range(size)]) for group, size in ((one, 3), (two, 5))]
    sums = [np.array([found[group == g].sum() for g in range(size)]) for group, size in ((one, 3), (two, 5))]
    hint = "the mean of each group must be 1, not its sum."
    expect(not any(close(total, 1, 1e-3) for total in sums), "sums-not-means", hint)
    hint = "one round is not enough: to set the second kind's means right disturbs the first kind's. Go on until both are right."
    expect(close(np.concatenate(means), 1, 1e-4), "one-round", hint)
    table = np.array([[factor[(one == g) & (two == h)].mean() for h in range(5)] for g in range(3)])
    cross = table * table[0, 0] / np.outer(table[:, 0], table[0])
    hint = "the factor of a value must be one for its first group times one for its second group."
    expect(close(cross, 1, 1e-3), "no-product", hint)


@register("e.3-jackknife")
def jackknife(answer: Answer, of: str = "ratio") -> None:
    def leave_out(sums: np.ndarray, counts: np.ndarray, kind: str, plain: bool = False, own_only: bool = False) -> np.ndarray:
        found = []
        for left in range(len(sums)):
            # Pairs are kept by a weight: 0 for those of the topic that is left out.
            keep = np.ones(sums.shape)
            keep[left, left] = 0
            if not own_only:
                keep[left] = keep[:, left] = 0
            means = []
            for pairs in (keep * np.eye(len(sums)), keep * (1 - np.eye(len(sums)))):
                mean = (pairs * sums / counts).sum() / pairs.sum() if plain else (pairs * sums).sum() / (pairs * counts).sum()
                means.append(mean)
            one, two = means
            found.append({"ratio": one / two, "logarithm": np.log(one / two), "difference": one - two}[kind])
        return np.array(found)

    def error(values: np.ndarray) -> float:
        centred = values - values.mean()
        return float((centred @ centred * (1 - 1 / len(values))) ** 0.5)

    rng = np.random.default_rng(98)
    for size in (5, 4):
        counts = rng.integers(2, 12, size=(size, size)).astype(float)
        counts += counts.T
        noise = rng.random((size, size))
        sums = counts * (0.2 + (noise + noise.T) / 2 + 1.5 * np.eye(size))
        found = float(as_array(answer(sums, counts), (), "the standard error as one number"))
        right = leave_out(sums, counts, of)
        wanted = error(right)
        hint = "the statistics of the rest are computed from nearly the same topics, so they differ little: what factor is missing?"
        expect(not close(found, right.std(ddof=1), 1e-5), "spread-of-the-rest", hint)
        hint = "the values are not independent: each has all topics but one in common with the others."
        expect(not close(found, right.std(ddof=1) / size**0.5, 1e-5), "as-if-independent", hint)
        expect(not close(found, wanted**2, 1e-5), "no-root", "that is a variance: a standard error has the unit of the statistic.")
        hint = "a topic that is left out takes its pairs with all other topics along."
        expect(not close(found, error(leave_out(sums, counts, of, own_only=True)), 1e-5), "other-pairs-left-in", hint)
        hint = "the means are over pairs: a topic with more pairs weighs more."
        expect(not close(found, error(leave_out(sums, counts, of, plain=True)), 1e-5), "topics-not-pairs", hint)
        hint = "this is the error of another statistic of the two means: which one is asked for?"
        others = [error(leave_out(sums, counts, kind)) for kind in ("ratio", "logarithm", "difference") if kind != of]
        expect(not any(close(found, other, 1e-5) for other in others), "other-statistic", hint)
        expect(
            close(found, wanted, 1e-5), "wrong-error", "put the statistics of all but one topic into the formula of the statement."
        )
