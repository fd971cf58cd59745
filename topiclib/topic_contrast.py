"""The ratios of Table 1: same-topic over different-topic, of embeddings and of attention, with bootstrap intervals.

The paper's numbers are averages over pairs of words. Pairs of one topic are not independent of each other, so the bootstrap
draws whole topics, and for attention also whole documents, and gives the wider interval of the two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from topiclib.attention_pairs import AttentionPairs, pair_values
from topiclib.topics import TopicWords
from topiclib.validation import as_rng, check_choice, check_int, check_type

__all__ = [
    "Contrast",
    "PairMean",
    "attention_contrast",
    "attention_of_pairs",
    "embedding_contrast",
    "pair_mean",
    "similarities",
    "top_cooccurring",
]

Rng = np.random.Generator | int


@dataclass(frozen=True)
class Contrast:
    """Means over same-topic and over different-topic pairs of different words.

    same, different : the two means
    ratio : same / different; it says nothing where ``different`` is 0 within its error
    low, high : 95 % bootstrap interval of the ratio
    standard_error : of the ratio, from the same bootstrap
    same_error, different_error : standard errors of the means
    """

    same: float
    different: float
    ratio: float
    low: float
    high: float
    standard_error: float
    same_error: float
    different_error: float

    def __str__(self) -> str:
        return f"{self.ratio:.3f} [{self.low:.3f}, {self.high:.3f}] = {self.same:.4f} / {self.different:.4f}"


def _contrast(same: np.ndarray, different: np.ndarray, drawn: list[tuple[np.ndarray, np.ndarray]]) -> Contrast:
    """From (sum, number) of the two kinds, and bootstrap draws of the two means for each way to draw: the widest counts."""
    means = same[0] / same[1], different[0] / different[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        # A draw without a pair of either kind (0 / 0) is left out
        ways = [(s / d, s, d) for s, d in drawn]
        ratio, s, d = max(ways, key=lambda way: np.nan_to_num(np.nanstd(way[0])))
        low, high = np.nanpercentile(ratio, [2.5, 97.5])
        value = float(means[0] / means[1]) if means[1] else float("nan")
    return Contrast(
        float(means[0]),
        float(means[1]),
        value,
        float(low),
        float(high),
        float(np.nanstd(ratio)),
        float(np.nanstd(s)),
        float(np.nanstd(d)),
    )


def _mean(total: np.ndarray, number: np.ndarray) -> np.ndarray:
    """``total`` over ``number``; NaN for a draw without any pair, whatever rounding left in its total."""
    return np.asarray(np.divide(total, number, out=np.full(len(total), np.nan), where=number > 0))


def _by_topic(
    same: np.ndarray, different: np.ndarray, rng: np.random.Generator, draws: int
) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """(sum, number) of same-topic and of different-topic pairs, and draws of the two means with the topics resampled.

    ``same`` (2, K) holds the sum and the number of each topic's own pairs, ``different`` (2, K, K) those between two topics. A
    pair of words that share several topics counts once for each.
    """
    topics = same.shape[1]
    weights = rng.multinomial(topics, np.full(topics, 1 / topics), draws).astype(float)
    inside = weights @ same.T
    across = np.stack([((weights @ block) * weights).sum(1) for block in different], 1)
    drawn = _mean(inside[:, 0], inside[:, 1]), _mean(across[:, 0], across[:, 1])
    return same.sum(1), different.sum((1, 2)), drawn


def _rows(vectors: np.ndarray, kind: str) -> np.ndarray:
    """The rows whose dot products are the similarities of this kind: for the cosine they have length 1."""
    rows = np.asarray(vectors, float)
    if not np.isfinite(rows).all():
        raise ValueError("vectors: has NaN or infinite entries; must be finite")
    if check_choice("kind", kind, ("cosine", "dot")) == "dot":
        return rows
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    if not norms.all():
        raise ValueError(f"vectors: row {int(np.flatnonzero(norms == 0)[0])} is 0; its cosine is undefined")
    return np.asarray(rows / norms)


def similarities(vectors: np.ndarray, kind: str) -> np.ndarray:
    """(n, n) cosines or dot products of the rows of ``vectors`` (n, d). Raises ValueError for the cosine of a zero vector."""
    rows = _rows(vectors, kind)
    return np.asarray(rows @ rows.T)


def embedding_contrast(vectors: np.ndarray, topics: TopicWords, rng: Rng, *, kind: str = "cosine", draws: int = 500) -> Contrast:
    """Table 1's second and third column: mean similarity of different words of the same topic over that of different topics.

    Parameters
    ----------
    vectors : (n, d) the embedding of each of ``topics.words``, in their order
    topics : which words stand for which topic
    rng : generator or seed of the bootstrap over topics
    kind : "cosine" or "dot"
    draws : of the bootstrap
    """
    check_type("topics", topics, TopicWords)
    check_int("draws", draws, 2)
    vectors = np.asarray(vectors)
    if vectors.ndim != 2 or len(vectors) != len(topics.words):
        raise ValueError(f"vectors has shape {vectors.shape}: must be ({len(topics.words)}, d), a row for each word of topics")
    rows = _rows(vectors, kind)
    member = csr_array(topics.member.astype(float))
    close, near = _close(rows, topics)
    # The sum over all pairs of two topics' words is the product of the topics' sums; the few pairs of words that share a
    # topic, and of a word with itself, are then taken off.
    totals, sizes = member @ rows, topics.member.sum(1).astype(float)
    same = np.stack([(totals**2).sum(1) - member @ (rows**2).sum(1), sizes**2 - sizes])
    different = np.stack(
        [totals @ totals.T - (member @ close @ member.T).toarray(), np.outer(sizes, sizes) - (member @ near @ member.T).toarray()]
    )
    total_same, total_different, drawn = _by_topic(same, different, as_rng(rng), draws)
    return _contrast(total_same, total_different, [drawn])


def _close(rows: np.ndarray, topics: TopicWords) -> tuple[csr_array, csr_array]:
    """(n, n) products of the rows of words that share a topic, 0 elsewhere; and 1 at the same places."""
    shared = topics.shared().astype(float)
    shared.sort_indices()
    places = [np.flatnonzero(row) for row in topics.member]
    products = np.concatenate([(rows[at] @ rows[at].T).ravel() for at in places])
    first = np.concatenate([np.repeat(at, len(at)) for at in places])
    second = np.concatenate([np.tile(at, len(at)) for at in places])
    summed = csr_array((products, (first, second)), shared.shape)
    # A pair that shares two topics was added twice, and stands with a 2 in ``shared``
    close = csr_array((summed.data / shared.data, shared.indices, shared.indptr), shared.shape)
    return close, csr_array((np.ones(shared.nnz), shared.indices, shared.indptr), shared.shape)


def attention_contrast(pairs: AttentionPairs, values: np.ndarray, topics: TopicWords, rng: Rng, *, draws: int = 500) -> Contrast:
    """Table 1's last column: mean attention between different words of the same topic over that of different topics.

    Parameters
    ----------
    pairs : where the words stand
    values : (P,) the attention of each pair, ``debiased(pairs)``
    topics : which words stand for which topic, as indices into the content words that ``pairs`` was measured with
    rng : generator or seed of the bootstraps over topics and over documents
    draws : of each bootstrap

    The denominators of the debiasing are taken as known. Raises ValueError if the documents hold no same-topic or no
    different-topic pair.
    """
    check_type("topics", topics, TopicWords)
    check_int("draws", draws, 2)
    rng = as_rng(rng)
    query, key, value, document = _among(pairs, values, topics.words)
    # Words of the same topics need not be told apart: P (G, K) are the different sets of topics, ``group`` each word's
    sets, group = np.unique(topics.member.T, axis=0, return_inverse=True)
    P = sets.astype(float)
    pair = group[query] * len(P) + group[key]
    table = np.stack([np.bincount(pair, weight, len(P) ** 2).reshape(len(P), len(P)) for weight in (value, None)])
    shared = P @ P.T
    same = np.stack([((P.T @ of_groups) * P.T).sum(1) for of_groups in table])
    different = np.stack([P.T @ (of_groups * (shared == 0)) @ P for of_groups in table])
    if not np.sum(same[1]) or not np.sum(different[1]):
        kind = "different-topic" if np.sum(same[1]) else "same-topic"
        raise ValueError(f"topics: the documents hold no {kind} pair of their {len(topics.words)} words")
    total_same, total_different, drawn = _by_topic(same, different, rng, draws)
    totals = []
    for times in (shared, np.outer(P.sum(1), P.sum(1)) * (shared == 0)):
        weight = times.ravel()[pair]
        totals += [np.bincount(document, weight * value, len(pairs.length)), np.bincount(document, weight, len(pairs.length))]
    lots = rng.multinomial(len(pairs.length), np.full(len(pairs.length), 1 / len(pairs.length)), draws)
    s0, s1, d0, d1 = (lots @ np.array(totals).T).T
    return _contrast(total_same, total_different, [drawn, (_mean(s0, s1), _mean(d0, d1))])


def _among(pairs: AttentionPairs, values: np.ndarray, words: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Query, key (as places in ``words``), value and document of the pairs whose two words are both among ``words``."""
    values = pair_values(pairs, values)
    if len(words) and words.max() >= pairs.num_words:
        raise ValueError(f"words has index {words.max()}: pairs was measured with {pairs.num_words} content words")
    place = np.full(pairs.num_words, -1)
    place[words] = np.arange(len(words))
    query, key = place[pairs.query], place[pairs.key]
    chosen = (query >= 0) & (key >= 0)
    return query[chosen], key[chosen], values[chosen], pairs.document[chosen]


def top_cooccurring(counts: csr_array, number: int) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of different words that are together in the most documents: Table 2's "top co-occurring pairs".

    Parameters
    ----------
    counts : (D, W) how often each word is in each document
    number : of pairs

    Returns (number, 2) indices i < j, the most frequent pair first, of equals the smaller indices first; and (number,) in how
    many documents each pair is. Raises ValueError if fewer pairs are ever together.
    """
    check_int("number", number, 1)
    present = csr_array(csr_array(counts).astype(bool), dtype=np.int32)
    together = (present.T @ present).tocoo()
    upper = together.row < together.col
    row, col, times = together.row[upper], together.col[upper], together.data[upper]
    if len(times) < number:
        raise ValueError(f"number = {number}: only {len(times)} pairs of words are ever in the same document")
    order = np.lexsort((col, row, -times))[:number]
    return np.stack([row[order], col[order]], 1), times[order]


@dataclass(frozen=True)
class PairMean:
    """A mean over pairs of words with its 95 % bootstrap interval; ``values`` are the pairs' own, NaN for one never seen."""

    mean: float
    low: float
    high: float
    values: np.ndarray


def attention_of_pairs(pairs: AttentionPairs, values: np.ndarray, words: np.ndarray, rng: Rng, *, draws: int = 500) -> PairMean:
    """Mean attention between the two words of each listed pair, in both directions, averaged over pairs.

    Parameters
    ----------
    pairs, values : as for ``attention_contrast``
    words : (M, 2) indices of two different words
    rng : generator or seed of the bootstrap over the listed pairs
    """
    words = np.asarray(words)
    if words.ndim != 2 or words.shape[1] != 2 or not len(words):
        raise ValueError(f"words has shape {words.shape}: must be (M, 2) with M >= 1")
    listed = np.unique(words)
    if (bad := (words < 0).any(1) | (words[:, 0] == words[:, 1])).any():
        raise ValueError(f"words has the pair {words[bad][0].tolist()}: must be two different indices >= 0")
    query, key, value, _ = _among(pairs, values, listed)
    n = len(listed)
    sums, numbers = (csr_array((data, (query, key)), (n, n)) for data in (value, np.ones(len(value))))
    i, j = np.searchsorted(listed, words.T)
    total, seen = (np.asarray(table[i, j] + table[j, i]).ravel() for table in (sums, numbers))
    found = np.divide(total, seen, out=np.full(len(words), np.nan), where=seen > 0)
    return pair_mean(found, rng, draws=draws)


def pair_mean(values: np.ndarray, rng: Rng, *, draws: int = 500) -> PairMean:
    """The mean over pairs of words (NaN left out) with its bootstrap interval."""
    known = values[np.isfinite(values)]
    if not len(known):
        raise ValueError("values: no pair was ever seen")
    drawn = as_rng(rng).choice(known, (check_int("draws", draws, 2), len(known))).mean(1)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return PairMean(float(known.mean()), float(low), float(high), values)
