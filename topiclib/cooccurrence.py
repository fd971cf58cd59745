"""Co-occurrence of words in real text, and statistics over pairs of words that keep it apart from topics (Section 8.2).

A pair of words has many properties at once: how often it is together, how frequent its words are, whether a topic holds
both. To say what one of them is worth, pairs are compared at equal values of the others. Pairs share words and topics, so
intervals come from drawing whole topics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array

from topiclib.attention_pairs import AttentionPairs, pair_values
from topiclib.corpus import ContentWords, Corpus
from topiclib.topics import TopicWords
from topiclib.validation import as_rng, check_indices, check_int, check_real, check_type

__all__ = [
    "Estimate",
    "PairSample",
    "attention_table",
    "listed_mean",
    "pmi",
    "same_topic_attention",
    "second_order",
    "together",
    "window_counts",
]


def together(counts: csr_array) -> np.ndarray:
    """(W, W) in how many documents two words are together; the diagonal: in how many the word is.

    Parameters
    ----------
    counts : (D, W) how often each word is in each document; a few thousand words at most, since the table is dense
    """
    present = csr_array(csr_array(counts).astype(bool), dtype=np.float32)
    return np.asarray((present.T @ present).toarray())


def window_counts(corpus: Corpus, words: ContentWords, width: int) -> csr_array:
    """(W, W) how often two different words stand at most ``width`` tokens apart, in either order; the diagonal is 0.

    Stop words and pieces of words count as tokens. Windows do not go beyond a document.
    """
    check_type("corpus", corpus, Corpus)
    check_int("width", width, 1)
    index = corpus.word_index(words)
    document = np.repeat(np.arange(len(corpus)), corpus.lengths)
    found: csr_array = csr_array((len(words), len(words)), dtype=np.int64)
    for step in range(1, width + 1):
        left, right = index[:-step], index[step:]
        pair = (left >= 0) & (right >= 0) & (left != right) & (document[:-step] == document[step:])
        rows, columns = left[pair], right[pair]
        found = found + csr_array(coo_array((np.ones(len(rows), np.int64), (rows, columns)), found.shape))
    return csr_array(found + found.T)


def _square(table: object) -> np.ndarray:
    """``table`` as an array (W, W); ValueError if it is none."""
    found = np.asarray(table)
    if found.ndim != 2 or found.shape[0] != found.shape[1] or found.dtype.kind not in "iufb":
        raise ValueError(f"table has shape {found.shape}: must be (W, W), the numbers that ``together`` gives")
    return found


def pmi(table: np.ndarray, total: int, smoothing: float = 0.5) -> np.ndarray:
    """(W, W) pointwise mutual information log((n_ij + s) / (n_i n_j / total + s)) of ``together``'s counts.

    ``smoothing`` s > 0 keeps pairs that are never together finite: with counts n_ij = 0 and an expected count far below s
    nothing is known, and the value is near 0.
    """
    check_real("smoothing", smoothing, 0, open_low=True)
    check_int("total", total, 1)
    table = _square(table)
    alone = np.diag(table)
    return np.asarray(np.log((table + smoothing) / (np.outer(alone, alone) / total + smoothing)))


def second_order(table: np.ndarray, total: int) -> np.ndarray:
    """(W, W) whether two words keep the same company: cosine of their rows of positive PMI, the diagonal left out.

    Two words that are never together can have it near 1, if they are together with the same words.
    """
    check_int("total", total, 1)
    table = _square(table)
    alone = np.diag(table)
    with np.errstate(divide="ignore"):
        rows = np.maximum(np.log(table * (total / np.outer(alone, alone))), 0)
    np.fill_diagonal(rows, 0)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    rows /= np.where(norms > 0, norms, 1)
    return np.asarray(rows @ rows.T)


def attention_table(pairs: AttentionPairs, values: np.ndarray, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean attention between each two of ``words``, in both directions, and how often it was seen; (n, n) each, symmetric.

    Parameters
    ----------
    pairs, values : as for ``topic_contrast.attention_contrast``
    words : (n,) indices of words; the mean is 0 for words that were never seen together
    """
    values = pair_values(pairs, values)
    words = check_indices("words", words, pairs.num_words)
    n = len(words)
    place = np.full(pairs.num_words, -1)
    place[words] = np.arange(n)
    query, key = place[pairs.query], place[pairs.key]
    chosen = (query >= 0) & (key >= 0)
    at = query[chosen] * n + key[chosen]
    sums, numbers = (np.bincount(at, weights, n * n).reshape(n, n) for weights in (values[chosen], None))
    sums, numbers = (sums + sums.T).astype(float), (numbers + numbers.T).astype(float)
    return np.divide(sums, numbers, out=np.zeros_like(sums), where=numbers > 0), numbers


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % bootstrap interval and its standard error."""

    value: float
    low: float
    high: float
    standard_error: float

    def __str__(self) -> str:
        return f"{self.value:.4f} [{self.low:.4f}, {self.high:.4f}]"


def _estimate(value: float, drawn: np.ndarray) -> Estimate:
    known = drawn[np.isfinite(drawn)]
    low, high = np.percentile(known, [2.5, 97.5]) if len(known) else (np.nan, np.nan)
    return Estimate(float(value), float(low), float(high), float(known.std()) if len(known) else float("nan"))


class PairSample:
    """Means and regressions over all pairs of n different words; the bootstrap draws whole groups of words (topics).

    Parameters
    ----------
    groups : (n,) the group of each word
    rng : generator or seed
    draws : of the bootstrap

    Every table below is (n, n) and symmetric; its diagonal is not used.
    """

    def __init__(self, groups: np.ndarray, rng: np.random.Generator | int, draws: int = 500) -> None:
        groups = np.asarray(groups)
        self.order = np.argsort(groups, kind="stable")
        self.groups, self.first = np.unique(groups[self.order], return_index=True)
        number = len(self.groups)
        if number < 2:
            raise ValueError(f"groups: {number} group; must be two at least")
        self.weights = as_rng(rng).multinomial(number, np.full(number, 1 / number), check_int("draws", draws, 2)).astype(float)

    def _ordered(self, table: np.ndarray) -> np.ndarray:
        """The table with the words of a group side by side, in single precision."""
        return np.asarray(table, np.float32)[np.ix_(self.order, self.order)]

    def _sums(self, ordered: np.ndarray) -> np.ndarray:
        """The sum over all pairs, then of each draw; (1 + draws,). The table, from ``_ordered``, loses its diagonal."""
        np.fill_diagonal(ordered, 0)
        blocks = np.add.reduceat(np.add.reduceat(ordered, self.first, axis=0, dtype=np.float64), self.first, axis=1)
        inside = np.diag(blocks).copy()
        np.fill_diagonal(blocks, 0)
        # A group that is drawn twice has twice its own pairs, not those between the two copies.
        drawn = ((self.weights @ blocks) * self.weights).sum(1) + self.weights @ inside
        return np.concatenate([[blocks.sum() + inside.sum()], drawn])

    def mean(self, values: np.ndarray, weights: np.ndarray) -> Estimate:
        """Mean of ``values`` with ``weights``, which may be True and False. NaN where no weight is left."""
        weights = self._ordered(weights)
        top, bottom = self._sums(self._ordered(values) * weights), self._sums(weights)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = top / bottom
        return _estimate(found[0], found[1:])

    def regression(
        self, values: np.ndarray, features: Mapping[str, np.ndarray], weights: np.ndarray | None = None
    ) -> dict[str, Estimate]:
        """Least squares of ``values`` on a constant and the features: what each is worth with the others held fixed.

        Also gives "R2", the share of the variance that the features explain together. Raises ValueError if the features
        are not independent of each other.
        """
        n = len(self.order)
        weight = np.ones((n, n), np.float32) if weights is None else self._ordered(weights)
        columns = [np.ones((1, 1), np.float32), *(self._ordered(table) for table in (*features.values(), values))]
        size = len(columns)
        gram = np.empty((len(self.weights) + 1, size, size))
        for a in range(size):
            weighted = columns[a] * weight
            for b in range(a, size):
                gram[:, a, b] = gram[:, b, a] = self._sums(weighted * columns[b])
        inner, cross, square = gram[:, :-1, :-1], gram[:, :-1, -1], gram[:, -1, -1]
        scale = np.sqrt(np.einsum("dii->di", inner)[0])
        if np.linalg.cond(inner[0] / np.outer(scale, scale)) > 1e10:
            raise ValueError(f"features = {', '.join(features)}: are not independent of each other and of a constant")
        solved = np.linalg.solve(inner, cross[:, :, None])[:, :, 0]
        mean = cross[:, 0] / inner[:, 0, 0]
        explained = ((solved * cross).sum(1) - mean * cross[:, 0]) / (square - mean * cross[:, 0])
        found = {name: _estimate(solved[0, k + 1], solved[1:, k + 1]) for k, name in enumerate(features)}
        return found | {"R2": _estimate(explained[0], explained[1:])}


def listed_mean(words: np.ndarray, values: np.ndarray, rng: np.random.Generator | int, draws: int = 500) -> Estimate:
    """Mean over listed pairs of words, such as the most frequent ones; NaN is left out.

    Parameters
    ----------
    words : (M, 2) two different words of each pair, no pair twice
    values : (M,) what is averaged
    rng, draws : of the bootstrap, which draws words: pairs with a word in common are not independent
    """
    words, values = np.asarray(words), np.asarray(values, float)
    if words.shape != (len(values), 2) or (words[:, 0] == words[:, 1]).any():
        raise ValueError(f"words has shape {words.shape}: must be ({len(values)}, 2), two different words in each row")
    known = np.isfinite(values)
    if not known.any():
        raise ValueError("values: no pair was ever seen")
    found, place = np.unique(words[known], return_inverse=True)
    i, j = place.reshape(-1, 2).T
    table, listed = np.zeros((2, len(found), len(found)))
    table[i, j] = table[j, i] = values[known]
    listed[i, j] = listed[j, i] = 1
    return PairSample(np.arange(len(found)), rng, draws).mean(table, listed)


def same_topic_attention(
    pairs: AttentionPairs, values: np.ndarray, topics: TopicWords, rng: np.random.Generator | int, draws: int = 500
) -> Estimate:
    """Mean attention between different words of the same topic, over all their occurrences; the bootstrap draws topics.

    The numerator of ``topic_contrast.attention_contrast``, without the many different-topic pairs.

    Parameters
    ----------
    pairs, values : as there
    topics : a word may stand for one topic only (ValueError otherwise, and where the documents hold no such pair)
    """
    values = pair_values(pairs, values)
    check_type("topics", topics, TopicWords)
    if (topics.member.sum(0) > 1).any():
        raise ValueError("topics: has a word that stands for several topics; must be one for each word")
    number = topics.num_topics
    label = np.full(pairs.num_words, -1)
    label[topics.words] = topics.member.argmax(0)
    of_query = label[pairs.query]
    chosen = (of_query >= 0) & (of_query == label[pairs.key])
    if not chosen.any():
        raise ValueError("topics: the documents hold no pair of words of the same topic")
    table = np.array([np.bincount(of_query[chosen], w, number) for w in (values[chosen], None)])
    lots = as_rng(rng).multinomial(number, np.full(number, 1 / number), check_int("draws", draws, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = (lots @ table[0]) / (lots @ table[1])
    return _estimate(table[0].sum() / table[1].sum(), drawn)
