"""Checks of the exercises of Section 3.1."""

from __future__ import annotations

import itertools
import math

import numpy as np

from topiclib.checks.base import Answer, as_array, close, expect, register

TOL = 1e-4  # answers in single precision are right too


@register("3.1-empirical-distribution")
def empirical_distribution(answer: Answer) -> None:
    tokens = np.array([2, 5, 2, 1, 2, 5, 6, 2, 1, 1])
    result = answer(tokens, 9)  # words 7, 8 and 9 do not occur
    shape = np.shape(result) if result is not None else ()
    hint = "a word that does not occur has share 0: the length depends on num_words, not on the words of the document."
    expect(not (len(shape) == 1 and shape[0] < 9), "absent-words", hint)
    p = as_array(result, (10,), "p")
    total = p.sum()
    expect(not close(total, 10), "counts", "these are counts: the empirical distribution sums to 1.")
    expect(
        not close(total, 10 / 9),
        "divided-by-vocabulary",
        "divide by the number of positions N, not by the number of words in the vocabulary.",
    )
    expect(close(total, 1), "not-normalised", "a distribution must sum to 1; yours does not.")
    expect(close(p[0], 0), "shifted", "entry 0 belongs to [MASK], which does not occur: word i goes into entry i.")
    expect(
        not close(p[1], p[2]),
        "presence",
        "a word that occurs more often must have a larger share; yours only notes whether it occurs.",
    )
    expect(
        close(p[[2, 1, 6]], p[5] * np.array([2, 1.5, 0.5])) and close(p[[3, 4, 7, 8, 9]], 0),
        "wrong-shares",
        "the shares are not in the ratio of how often the words occur.",
    )


@register("3.1-sample-document")
def sample_document(answer: Answer) -> None:
    T, v, tau, N = 6, 4, 3, 6000
    documents = [as_array(answer(T, v, tau, N, np.random.default_rng(seed)), (N,), "the words") for seed in range(12)]
    words = np.stack(documents)
    expect((words == np.round(words)).all(), "not-whole", "word ids are whole numbers.")
    expect(words.min() >= 1, "from-zero", "some ids are below 1: words and topics are numbered from 1, since 0 is [MASK].")
    expect(words.max() <= T * v, "too-large", "some ids are above Tv: topic t ends with word tv.")
    again = as_array(answer(T, v, tau, N, np.random.default_rng(0)), (N,), "the words")
    expect(
        (again == words[0]).all(), "not-reproducible", "the same seed gave two different documents: take all randomness from rng."
    )
    expect(
        any((d != words[0]).any() for d in words[1:]),
        "own-seed",
        "every rng gives the same document: use the rng that is passed in.",
    )
    topics = np.ceil(words / v)
    number = np.array([len(np.unique(row)) for row in topics])
    expect(not (number == 1).all(), "one-topic", "each position must choose a topic anew; your documents have one topic each.")
    expect(
        not (number == T).all(), "topic-each-position", "choose the topics of the document first; your documents mix all topics."
    )
    expect((number <= tau).all(), "too-many-topics", "a document has more topics than topics_per_doc.")
    expect(
        (number == tau).all(),
        "not-distinct",
        "the topics of a document must be distinct; some documents have fewer than asked for.",
    )
    ranks = (words - 1) % v + 1
    expect(
        (ranks == v).any(),
        "last-word-missing",
        "the last word of a topic never occurs: the upper end of a random integer may be excluded.",
    )
    shares = np.array([[np.mean(row == t) for t in np.unique(row)] for row in topics])
    expect(np.abs(shares - 1 / tau).max() < 0.05, "unequal-topics", "the chosen topics must be equally likely at every position.")
    word_shares = np.array([np.mean(ranks == r) for r in range(1, v + 1)])
    expect(np.abs(word_shares - 1 / v).max() < 0.03, "unequal-words", "the words of a topic must be equally likely.")
    repeats = np.mean(topics[:, 1:] == topics[:, :-1])
    expect(
        abs(repeats - 1 / tau) < 0.05,
        "not-independent",
        "positions must be drawn independently; yours depend on the position before.",
    )
    expect(len(np.unique(topics)) == T, "topics-never-chosen", "some topics are in no document: choose from all of them.")
    follow = [{(t - start) % T for t in np.unique(row)} == set(range(tau)) for row in topics for start in np.unique(row)]
    hint = "the topics of every document are neighbours: each choice of distinct topics must be possible."
    expect(sum(follow) < len(documents), "neighbouring-topics", hint)
    shorts = [as_array(answer(T, v, tau, 40, np.random.default_rng(99 + seed)), (40,), "the words") for seed in range(500)]
    present = np.array([[(np.ceil(words / v) == t).any() for t in range(1, T + 1)] for words in shorts], dtype=float)
    together = (present.T @ present / len(shorts))[~np.eye(T, dtype=bool)]
    hint = "some topics meet in a document more often than others: each choice of topics must be equally likely."
    expect(np.abs(together - tau * (tau - 1) / (T * (T - 1))).max() < 0.1, "unequal-choices", hint)


@register("3.1-co-occurrence")
def co_occurrence(answer: Answer) -> None:
    tokens = np.array([[1, 1, 1, 2, 2], [3, 3, 4, 3, 4], [5, 1, 5, 5, 1]])
    p = as_array(answer(tokens, 5), (5, 5), "the matrix")
    hint = "only the first document is counted: does the function return inside the loop?"
    expect(not close(p[2:], 0), "first-document-only", hint)
    hint = "only the last document is counted: do the counts begin anew inside the loop?"
    expect(not close(p[1:4, 1:4], 0), "last-document-only", hint)
    expect(close(p.sum(), 1), "not-normalised", "the entries are probabilities of all pairs of words and must sum to 1.")
    expect(
        close(p[0, 2], 0) and close(p[3, 1], 0),
        "pooled",
        "words 1 and 3 are in no document together: count pairs within each document.",
    )
    expect(close(p, p.T), "not-symmetric", "pairs are ordered both ways, (m, n) and (n, m), so the matrix must be symmetric.")
    expect(not close(np.diag(p), 0), "diagonal-dropped", "a word can meet itself at another position: the diagonal is not zero.")
    alone = as_array(answer(np.array([[1, 2, 3, 4]]), 4), (4, 4), "the matrix")
    expect(
        close(np.diag(alone), 0),
        "self-pairs",
        "a word that occurs once does not meet itself: leave out pairs of a position with itself.",
    )
    pairs = np.array([[8, 6, 0, 0, 6], [6, 2, 0, 0, 0], [0, 0, 6, 6, 0], [0, 0, 6, 2, 0], [6, 0, 0, 0, 6]])
    hint = "the number of ordered pairs of a word is off; count a short document by hand."
    expect(close(p, pairs / pairs.sum()), "wrong-counts", hint)


def _moment_of(pattern: tuple[int, ...], num_topics: int, spread: float, mixture: str) -> float:
    """The mean product of topic weights of a pattern: by gamma functions, or over all sets of topics."""
    if mixture == "dirichlet":
        logs = sum(math.lgamma(spread + n) - math.lgamma(spread) for n in pattern)
        return math.exp(logs - math.lgamma(num_topics * spread + sum(pattern)) + math.lgamma(num_topics * spread))
    sizes = range(1, int(spread) + 1) if mixture == "uniform" else (int(spread),)
    each = []
    for size in sizes:
        sets = list(itertools.combinations(range(num_topics), size))
        has_all = [set(range(len(pattern))) <= set(s) for s in sets]
        each.append(sum(has_all) / len(sets) / float(size) ** sum(pattern))
    return sum(each) / len(each)


@register("3.1-lift-of-words")
def lift_of_words(answer: Answer, mixture: str = "dirichlet") -> None:
    T, spread = 5, 3

    def run(*pattern: int) -> float:
        return float(as_array(answer(pattern, T, spread), (), "the lift, one number"))

    def lift(*pattern: int) -> float:
        return float(T ** sum(pattern) * _moment_of(pattern, T, spread, mixture))

    pair, apart = run(2), run(1, 1)
    hint = "this is how likely the topics are: divide by what chance would give the words."
    expect(not close(pair, lift(2) / T**2, TOL), "moment-not-lift", hint)
    hint = "chance is taken once for each word, also for words of the same topic."
    expect(not close(pair, lift(2) / T, TOL), "chance-of-topics", hint)
    hint = "a word that is alone in its topic and one that has company are not the same: how many words of each topic are there?"
    expect(not close(pair, 1, TOL), "repeats-lost", hint)
    expect(
        not close(pair, T * lift(2), TOL), "any-topics", "the words are given, and with them their topics: do not sum over topics."
    )
    expect(
        close(pair, lift(2), TOL),
        "wrong-pair",
        "the lift of two words of a topic must be what this chapter finds for its kind of text.",
    )
    hint = "the words stand at given positions: do not count the orders in which they may come."
    expect(not close(apart, 2 * lift(1, 1), TOL), "any-order", hint)
    hint = "topics share a sum of one: more of one leaves less for the others, so they are not independent."
    expect(not close(apart, 1, TOL), "topics-independent", hint)
    expect(
        close(apart, lift(1, 1), TOL), "wrong-pair", "two words of different topics meet less often than by chance: how much less?"
    )
    hint = "a meeting of three is more than its pairs: the third word finds the first two there already."
    expect(not close(run(3), lift(2) ** 3, TOL), "pairs-only", hint)
    for pattern in ((1,), (3,), (2, 1), (1, 1, 1), (1, 1, 1, 1), (1, 4), (2, 2, 1)):
        hint = f"right for pairs, wrong for the pattern {pattern}: what is the mean of that product of weights?"
        expect(close(run(*pattern), lift(*pattern), TOL), "wrong-moment", hint)
    if mixture == "dirichlet":
        few = float(as_array(answer((3, 1), 4, 0.3), (), "the lift, one number"))
        hint = "the parameter need not be a whole number."
        expect(close(few, 4**4 * _moment_of((3, 1), 4, 0.3, mixture), TOL), "whole-numbers-only", hint)
    total = (run(3) + (T - 1) * run(2, 1)) / T
    expect(close(total, pair, TOL), "wrong-moment", "averaged over the topic of one more word, the lift must stay as it was.")
