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
    hint = "given one topic of the document, the others are drawn from the topics that are left, not from all."
    expect(not close([found, another], [6, 3], TOL), "topics-drawn-twice", hint)
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


# Cosines of partners in three settings, right and by some mistakes, for each kind of other documents.
PARTNER_COSINE = {
    "any two": {
        "": (
            0.4926398,
            0.2139288,
            0.462754,
        ),
        "penalty-forgotten": (
            1.072647e-09,
            3.342843e-11,
            2.527285e-11,
        ),
        "topics-not-words": (
            0.09596613,
            0.09381327,
            0.3385827,
        ),
        "table-not-embedding": (
            0.9111111,
            0.6,
            0.7333333,
        ),
        "rows-of-e": (
            0.7928587,
            0.4095119,
            0.7627834,
        ),
        "weights-not-halved": (
            0.2071808,
            0.07325348,
            0.2204111,
        ),
        "mean-taken-out": (
            0.4031746,
            0.003773585,
            0.1282051,
        ),
    },
    "no partners": {
        "": (
            0.4615158,
            0.1583005,
            0.3269231,
        ),
        "penalty-forgotten": (
            9.473329e-10,
            2.339995e-11,
            1.466675e-11,
        ),
        "topics-not-words": (
            0.08571087,
            0.06724902,
            0.2258065,
        ),
        "table-not-embedding": (
            0.9,
            0.5,
            0.6,
        ),
        "rows-of-e": (
            0.7609526,
            0.3096531,
            0.5931584,
        ),
        "weights-not-halved": (
            0.187492,
            0.05223439,
            0.1396648,
        ),
        "mean-taken-out": (
            0.3688213,
            -0.05805038,
            -0.05263158,
        ),
    },
    "one alone": {
        "": (
            0.2903226,
            0.07086614,
            0.1764706,
        ),
        "penalty-forgotten": (
            4.500005e-10,
            8.999984e-12,
            6.000003e-12,
        ),
        "topics-not-words": (
            0.04265403,
            0.02752294,
            0.1111111,
        ),
        "table-not-embedding": (
            0.8181818,
            0.3333333,
            0.4285714,
        ),
        "rows-of-e": (
            0.5355086,
            0.1410241,
            0.3422819,
        ),
        "weights-not-halved": (
            0.0989011,
            0.02107728,
            0.06382979,
        ),
        "mean-taken-out": (
            0.1851852,
            -0.1309904,
            -0.1666667,
        ),
    },
}


@register("8.2-partner-cosine")
def partner_cosine(answer: Answer, others: str = "any two") -> None:
    cases = ((10, 10, 0.9, 0.001), (6, 3, 0.5, 0.01), (4, 2, 0.6, 0.05))
    found = [float(as_array(answer(*case), (), "one cosine")) for case in cases]
    expect(max(map(abs, found)) <= 1 + TOL, "no-cosine", "a cosine is between minus one and one.")
    hints = {
        "penalty-forgotten": "without a penalty every direction with any variance is kept whole: here it is not.",
        "topics-not-words": "the weight of a topic is spread over its words: what is the second moment of a direction of words?",
        "table-not-embedding": "these are the cosines of the table of counts; the embedding is what regression makes of it.",
        "rows-of-e": "the matrix is already the table of dot products: its rows are not the embeddings.",
        "weights-not-halved": "of a document with two topics each has one half.",
        "mean-taken-out": "there is no bias here, so the second moment counts, with the mean and not about it.",
    }
    for mistake, hint in hints.items():
        expect(not close(found, PARTNER_COSINE[others][mistake], TOL), mistake, hint)
    values = [value[""] for name, value in PARTNER_COSINE.items() if name != others]
    hint = "read again what the documents are that are no pair of partners: yours are others."
    expect(not any(close(found, value, TOL) for value in values), "other-documents", hint)
    faint = [float(as_array(answer(8, 2, chance, 1e-9), (), "one cosine")) for chance in (0.2, 0.9)]
    hint = "with next to no penalty partners must become orthogonal, however often they are together."
    expect(close(faint, 0, 1e-3), "not-orthogonal", hint)
    hint = "list the documents of four topics, make the table of two-word topics by hand, and solve the regression."
    expect(close(found, PARTNER_COSINE[others][""], TOL), "wrong-cosine", hint)
