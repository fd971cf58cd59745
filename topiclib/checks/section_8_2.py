"""Checks of the exercises of Section 8.2."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from topiclib.checks.base import Answer, as_array, close, expect, register
from topiclib.documents import DocumentSettings, infinite_documents

Array = npt.NDArray[np.float64]
TOL = 1e-4  # answers in single precision are right too


@register("8.2-pair-ratio")
def pair_ratio(answer: Answer) -> None:
    def run(num_topics: int, topics_per_doc: int) -> float:
        return float(as_array(answer(num_topics, topics_per_doc), (), "one number"))

    found, another = run(6, 2), run(6, 3)
    hint = "compare with one given word of one other topic, not with all other topics together."
    expect(not close([found, another], [1, 1 / 2], TOL), "any-other-topic", hint)
    expect(found > 1, "upside-down", "two words of one topic are together more often: the ratio is above one.")
    hint = "a document's topics are distinct: given one of them, another is present a little less often than tau / T."
    expect(not close([found, another], [3, 2], TOL), "independent-topics", hint)
    documents = infinite_documents(DocumentSettings.theory(2, num_topics=6, words_per_topic=3))
    pairs = documents.T @ documents / len(documents)
    hint = "list all documents of a small setting and count."
    expect(close(found, pairs[1, 2] / pairs[1, 4], TOL) and close(run(5, 4), 4 / 3, TOL), "wrong-ratio", hint)


@register("8.2-matched-excess")
def matched_excess(answer: Answer) -> None:
    def run(table: Array, topic: npt.NDArray[np.int64], level: npt.NDArray[np.int64]) -> float:
        return float(as_array(answer(table, topic, level), (), "one number"))

    rng = np.random.default_rng(82)
    n = 24
    topic, level = np.arange(n) % 4, np.arange(n) // 4 % 3
    same = topic[:, None] == topic
    # Similarity is a function of the two levels only: matched, nothing is left.
    by_level = np.array([[5.0, 1.0, 0.0], [1.0, 2.0, 3.0], [0.0, 3.0, 9.0]])[np.ix_(level, level)]
    uneven = np.where(rng.random(n) < 0.5, topic, level)
    hint = "similarity depends on the levels alone here, so the answer is 0: compare each pair with pairs of its two levels."
    expect(close(run(by_level, uneven, level), 0, TOL), "not-matched", hint)
    hint = "pairs of the same topic must not enter the mean that they are compared with."
    expect(close(run(by_level + same, topic, level), 1, TOL), "same-topic-in-the-baseline", hint)
    # Pairs of levels (0, 1) differ with which of the two words comes first in the list.
    order = np.array([0, 1, 1, 0, 0, 1])
    groups = np.array([0, 0, 0, 1, 1, 1])
    table = np.arange(36.0).reshape(6, 6)
    table = np.triu(table, 1) + np.triu(table, 1).T
    same = groups[:, None] == groups
    hint = "levels (0, 1) and (1, 0) are the same cell: a pair has no first word."
    mixed = order[:, None] != order
    base = np.where(mixed, table[mixed & ~same].mean(), 0)
    for k in (0, 1):
        cell = (order[:, None] == k) & (order == k) & ~np.eye(6, dtype=bool)
        base = np.where(cell, table[cell & ~same].mean(), base)
    kept = same & ~np.eye(6, dtype=bool)
    cells = [(kept & mixed), *((kept & (order[:, None] == k) & (order == k)) for k in (0, 1))]
    unweighted = np.mean([(table - base)[cell].mean() for cell in cells if cell.any()])
    found = run(table, groups, order)
    weighted = "average over the pairs, not over the cells: a cell with many same-topic pairs counts more."
    expect(not close(found, unweighted, TOL), "levels-not-weighted", weighted)
    # Two means for one kind of pair, by which word stands first in the list
    first = np.triu(mixed, 1) & (order[:, None] == 0)
    first = first | first.T
    by_first = np.where(mixed, np.where(first, *(table[which & ~same].mean() for which in (first, mixed & ~first))), base)
    expect(not close(found, (table - by_first)[kept].mean(), TOL), "order-of-the-levels", hint)
    hint = "work one same-topic pair out by hand: which pairs of different topics have the same two levels, and what is their mean?"
    expect(close(found, (table - base)[kept].mean(), TOL), "wrong-baseline", hint)


@register("8.2-popular-words")
def popular_words(answer: Answer) -> None:
    words = np.zeros((2, 5))
    words[0, :3], words[1, 3:] = (0.6, 0.3, 0.1), (0.75, 0.25)
    found = as_array(answer(words, 0.8), (5, 5), "the matrix E")
    norms = (words**2).sum(axis=1)
    expect(found.any(), "all-zero", "the matrix 0 predicts nothing.")
    applied = found @ words.T
    ratio = np.array([applied[:, t] @ words[t] / norms[t] for t in range(2)])
    hint = "check E q_t: it has the right direction, but not the right length; topics with flat distributions have short q_t."
    parallel = close(applied, words.T * ratio, TOL)
    expect(not (parallel and not close(ratio[0], ratio[1], TOL)), "not-normalised", hint)
    expect(not (parallel and close(ratio, 1, TOL)), "a-forgotten", "E q_t must be q_t / a: masking hides a part of the counts.")
    hint = "E q_t must point along q_t: a popular word must get more of the prediction than a rare one of its topic."
    expect(parallel, "equal-popularity", hint)
    expect(close(ratio, 1 / 0.8, TOL), "wrong-length", "E q_t must be q_t / a.")
    expect(close(found, found.T, TOL), "not-symmetric", "E is a matrix of dot products: it is symmetric.")
    hint = "it predicts well, but there is an optimum of smaller rank: one dimension for each topic is enough."
    expect(np.linalg.matrix_rank(found, tol=1e-4) <= 2, "rank-too-large", hint)
