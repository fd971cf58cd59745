"""Expectations over Section 3's documents and masks by enumeration, exactly, in Fractions.

The brute force that closed formulas are checked against: it lists every case and has no formula of its own.
Token 0 is [MASK], words are 1 to Tv, topic(i) = ceil(i / v), V = Tv + 1. Matrices are (V, V) object arrays of Fraction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import comb, lcm, prod
from numbers import Rational, Real
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topiclib.validation import check_int, check_type, shown

MASK = 0
MAX_CASES = 2_000_000
"""A million cases take seconds."""

Number = int | Fraction
Matrix = npt.NDArray[np.object_]


def _exact(name: str, value: object) -> Fraction:
    """``value`` as a Fraction; TypeError for a float, which is not the decimal that it looks like."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Rational):
        decimal = str(float(value)) if isinstance(value, Real) and np.isfinite(float(value)) else "0.15"
        raise TypeError(f"{name} = {shown(value)}: must be exact, an int or a Fraction; pass Fraction({decimal!r}), for example")
    return Fraction(int(value.numerator), int(value.denominator))  # NumPy's integers would overflow.


def _ratio(name: str, value: object) -> Fraction:
    ratio = _exact(name, value)
    if ratio < 0:
        raise ValueError(f"{name} = {value}: must be at least 0")
    return ratio


def _matrix(name: str, value: object, size: int | None = None) -> Matrix:
    """``value`` as a new object array of Fraction; (size, size) if ``size`` is given."""
    array = np.array(value, dtype=object)
    allowed = "a matrix with at least one entry" if size is None else f"({size}, {size})"
    if array.ndim != 2 or array.size == 0 or (size is not None and array.shape != (size, size)):
        raise ValueError(f"{name} has shape {array.shape}: must be {allowed}")
    exact = np.empty(array.shape, dtype=object)
    for place in np.ndindex(array.shape):
        exact[place] = _exact(f"{name}[{place[0]}, {place[1]}]", array[place])
    return exact


def _zeros(*shape: int) -> Matrix:
    return np.full(shape, Fraction(0), dtype=object)


@dataclass(frozen=True)
class Moments:
    """What the squared loss with uniform attention depends on, x being a document's token distribution after masking.

    second : (V, V) E[x_k x_l], symmetric
    cross : (V, V) E[x_k (1/|M|) sum over j in M of 1{w_j = i}] in row k, column i
    """

    second: Matrix
    cross: Matrix

    def __post_init__(self) -> None:
        second = _matrix("second", self.second)
        second = _matrix("second", second, len(second))
        if (second != second.T).any():
            raise ValueError("second is not symmetric: must be E[x_k x_l]")
        object.__setattr__(self, "second", second)
        object.__setattr__(self, "cross", _matrix("cross", self.cross, len(second)))


class Outcome(NamedTuple):
    """One thing that can happen at one position, ``weight`` in proportion to its probability."""

    word: int
    shown: int
    selected: bool
    weight: int


@dataclass(frozen=True)
class _Setting:
    num_topics: int
    words_per_topic: int
    topics_per_doc: int
    p_m: Number
    p_c: Number
    p_r: Number

    def __post_init__(self) -> None:
        check_int("num_topics", self.num_topics, 1)
        check_int("words_per_topic", self.words_per_topic, 1)
        check_int("topics_per_doc", self.topics_per_doc, 1, self.num_topics)
        p_m = _exact("p_m", self.p_m)
        if not 0 < p_m < 1:
            raise ValueError(f"p_m = {self.p_m}: must be in (0, 1)")
        p_c, p_r = _ratio("p_c", self.p_c), _ratio("p_r", self.p_r)
        if p_c + p_r > 1:
            raise ValueError(f"p_c + p_r = {p_c + p_r}: must be at most 1")

    @property
    def num_words(self) -> int:
        return int(self.num_topics) * int(self.words_per_topic)  # NumPy's integers would overflow.

    @property
    def words(self) -> range:
        return range(1, self.num_words + 1)

    @property
    def size(self) -> int:
        """V = Tv + 1."""
        return self.num_words + 1

    def topic(self, word: int) -> int:
        return -(-word // self.words_per_topic)

    def check_cases(self, per_document: int) -> None:
        """ValueError if ``per_document`` cases for each topic set are too many."""
        number = comb(self.num_topics, self.topics_per_doc) * per_document
        if number > MAX_CASES:
            raise ValueError(f"the enumeration has {number} cases: at most {MAX_CASES} can be enumerated; take smaller sizes")

    @property
    def outcomes(self) -> int:
        """How many outcomes a position has: its word; left alone, kept, [MASK], or one of Tv random words."""
        return int(self.topics_per_doc) * int(self.words_per_topic) * (self.num_words + 3)

    def documents(self) -> Iterator[list[Outcome]]:
        """For each of the equally likely topic sets every outcome of one position, but for the impossible ones.

        The weights have one sum over all topic sets. Each topic of a set is as likely, and so is each of its words.
        """
        p_m, p_c, p_r = _exact("p_m", self.p_m), _exact("p_c", self.p_c), _exact("p_r", self.p_r)
        fates = (1 - p_m, p_m * p_c, p_m * (1 - p_c - p_r), p_m * p_r / self.num_words)
        scale = lcm(*(fate.denominator for fate in fates))
        alone, kept, masked, random = (int(fate * scale) for fate in fates)
        for topics in combinations(range(1, self.num_topics + 1), self.topics_per_doc):
            position = []
            for word in (word for word in self.words if self.topic(word) in topics):
                position.append(Outcome(word, word, False, alone))
                position.append(Outcome(word, word, True, kept))
                position.append(Outcome(word, MASK, True, masked))
                position.extend(Outcome(word, other, True, random) for other in self.words)
            yield [outcome for outcome in position if outcome.weight]


def _tally(weighted_tokens: Iterable[tuple[int, int]], size: int) -> Matrix:
    """The sum of the whole-number weights of each token; shape (V,)."""
    tally = np.full(size, 0, dtype=object)
    for token, weight in weighted_tokens:
        tally[token] += weight
    return tally


def infinite_moments(
    *, num_topics: int, words_per_topic: int, topics_per_doc: int, p_m: Number, p_c: Number, p_r: Number
) -> Moments:
    """Moments of infinitely long documents (Assumption 1), by listing topic sets, words and fates.

    The token distribution x of a topic set is exactly its expectation, and so is the distribution of the targets.
    Probabilities are ints or Fractions; TypeError for floats, ValueError out of the domain or for more than MAX_CASES cases.
    """
    setting = _Setting(num_topics, words_per_topic, topics_per_doc, p_m, p_c, p_r)
    setting.check_cases(setting.outcomes)
    second, cross = np.full((2, setting.size, setting.size), 0, dtype=object)
    total = total_selected = Fraction(0)
    for position in setting.documents():
        x = _tally(((outcome.shown, outcome.weight) for outcome in position), setting.size)
        targets = _tally(((outcome.word, outcome.weight) for outcome in position if outcome.selected), setting.size)
        # Whole numbers until the end: the sums of x and of the targets are the same for every topic set.
        second, cross = second + np.outer(x, x), cross + np.outer(x, targets)
        total, total_selected = total + x.sum() ** 2, total_selected + x.sum() * targets.sum()
    return Moments(second / total, cross / total_selected)


def finite_moments(
    *, num_topics: int, words_per_topic: int, topics_per_doc: int, p_m: Number, p_c: Number, p_r: Number, doc_len: int
) -> Moments:
    """Moments of documents of ``doc_len`` words: every topic set, word sequence, non-empty mask M and replacement.

    x = (1/N) sum over n of e_(shown token n). The targets' mean over M is each document's own, and the expectation
    is over the cases with non-empty M. Errors as ``infinite_moments``; ``doc_len`` is 1 to 10.
    """
    setting = _Setting(num_topics, words_per_topic, topics_per_doc, p_m, p_c, p_r)
    n = check_int("doc_len", doc_len, 1, 10)  # A position has at least 4 outcomes, and 4^11 > MAX_CASES.
    setting.check_cases(setting.outcomes**n)
    cases: Counter[tuple[tuple[int, ...], tuple[int, ...]]] = Counter()
    for position in setting.documents():
        for case in product(position, repeat=n):
            targets = [outcome.word for outcome in case if outcome.selected]
            if targets:
                tokens = sorted([outcome.shown for outcome in case])
                cases[tuple(tokens), tuple(sorted(targets))] += prod([outcome.weight for outcome in case])
    second, cross = _zeros(setting.size, setting.size), _zeros(setting.size, setting.size)
    for (seen, wanted), weight in cases.items():
        for k in seen:
            for other in seen:
                second[k, other] += Fraction(weight, n * n)
            for i in wanted:
                cross[k, i] += Fraction(weight, n * len(wanted))
    total = sum(cases.values())
    return Moments(second / total, cross / total)


def moment_loss(W: npt.ArrayLike, moments: Moments) -> Fraction:
    """E (1/|M|) sum over j in M of ||W x - e_(w_j)||^2 = 1 - 2 tr(W cross) + tr(W second W^T).

    ``W`` (V, V), row: output, column: token. Ints or Fractions (TypeError), of that shape (ValueError).
    """
    check_type("moments", moments, Moments)
    matrix = _matrix("W", W, len(moments.second))
    return Fraction(1 - 2 * (matrix * moments.cross.T).sum() + ((matrix @ moments.second) * matrix).sum())


def _reduce(matrix: Matrix) -> tuple[Matrix, list[int]]:
    """Reduced row echelon form of ``matrix``, and the columns of the pivots."""
    rows, pivots = matrix.copy(), list[int]()
    for column in range(rows.shape[1]):
        top = len(pivots)
        candidates = np.flatnonzero(rows[top:, column] != 0)
        if len(candidates) == 0:
            continue
        rows[[top, top + candidates[0]]] = rows[[top + candidates[0], top]]
        rows[top] = rows[top] / rows[top, column]
        for row in range(len(rows)):
            if row != top and rows[row, column] != 0:
                rows[row] = rows[row] - rows[row, column] * rows[top]
        pivots.append(column)
    return rows, pivots


def _solve(matrix: Matrix, right: Matrix) -> Matrix:
    """Z with matrix Z = right, for an invertible ``matrix``."""
    rows, pivots = _reduce(np.hstack([matrix, right]))
    if pivots[: len(matrix)] != list(range(len(matrix))):
        raise ValueError("moments has no unique minimiser here: second must be positive semidefinite")
    return rows[:, len(matrix) :]


def rank(matrix: npt.ArrayLike) -> int:
    """The rank of a matrix of ints or Fractions, exactly."""
    return len(_reduce(_matrix("matrix", matrix))[1])


def null_space(matrix: npt.ArrayLike) -> list[Matrix]:
    """A basis of the vectors z with matrix z = 0: one for each column without pivot, where it is 1; shapes (columns,)."""
    rows, pivots = _reduce(_matrix("matrix", matrix))
    basis = []
    for free in sorted(set(range(rows.shape[1])) - set(pivots)):
        vector = _zeros(rows.shape[1])
        vector[free] = Fraction(1)
        vector[pivots] = -rows[: len(pivots), free]
        basis.append(vector)
    return basis


def minimum_norm_solution(moments: Moments) -> Matrix:
    """The minimiser of ``moment_loss`` with the least Frobenius norm: cross^T second^+, (V, V).

    W second = cross^T with rows of W in the row space of ``second``: W^T = B^T Z with the basis B of the row space,
    (B second B^T) Z = B cross. ValueError if nothing solves W second = cross^T, where the loss has no minimum.
    """
    check_type("moments", moments, Moments)
    rows, pivots = _reduce(moments.second)
    basis = rows[: len(pivots)]
    W = _zeros(*moments.second.shape)
    if pivots:
        W += (basis.T @ _solve(basis @ moments.second @ basis.T, basis @ moments.cross)).T
    if (W @ moments.second != moments.cross.T).any():
        raise ValueError("moments has no minimiser: each column of cross must be in the column space of second")
    return W


def ridge_solution(moments: Moments, l2_coef: Number) -> Matrix:
    """argmin over W of ``moment_loss`` + l2_coef ||W||_F^2, from W (second + l2_coef I) = cross^T; (V, V).

    ``l2_coef`` is an int or a Fraction (TypeError), > 0 (ValueError).
    """
    check_type("moments", moments, Moments)
    coef = _exact("l2_coef", l2_coef)
    if coef <= 0:
        raise ValueError(f"l2_coef = {l2_coef}: must be greater than 0")
    penalty = _zeros(*moments.second.shape)
    np.fill_diagonal(penalty, coef)
    return _solve(moments.second + penalty, moments.cross).T


def attention_loss(
    value_matrix: npt.ArrayLike,
    *,
    same_topic_ratio: Number,
    same_word_ratio: Number,
    num_topics: int,
    words_per_topic: int,
    topics_per_doc: int,
    p_m: Number,
    p_c: Number,
    p_r: Number,
    mask_ratio: Number = 1,
) -> Fraction:
    """E ||value_matrix a - e_w||^2 over topic sets, words w and fates of a selected position of infinite documents.

    a_k = s(q, k) x_k / sum over l of s(q, l) x_l, with q the token that the position shows. s(q, k) is
    ``same_word_ratio`` for k = q ([MASK] too), ``mask_ratio`` for [MASK] seen from a word, ``same_topic_ratio`` for
    another word of q's topic, and 1 otherwise. ``value_matrix`` is (V, V). Errors as ``infinite_moments``; ratios are
    >= 0, and ValueError where all weights of a query are 0.
    """
    setting = _Setting(num_topics, words_per_topic, topics_per_doc, p_m, p_c, p_r)
    setting.check_cases(setting.size**3)
    matrix = _matrix("value_matrix", value_matrix, setting.size)
    word, topic = _ratio("same_word_ratio", same_word_ratio), _ratio("same_topic_ratio", same_topic_ratio)
    ratios = _ratios(setting, word, topic, _ratio("mask_ratio", mask_ratio))
    loss, total = Fraction(0), 0
    for position in setting.documents():
        x = _tally(((outcome.shown, outcome.weight) for outcome in position), setting.size)
        selected = [outcome for outcome in position if outcome.selected]
        predictions = {query: _attend(matrix, ratios[query] * x) for query in {outcome.shown for outcome in selected}}
        for outcome in selected:
            error = predictions[outcome.shown].copy()
            error[outcome.word] -= 1
            loss += outcome.weight * (error * error).sum()
            total += outcome.weight
    return loss / total


def _ratios(setting: _Setting, same_word: Fraction, same_topic: Fraction, mask: Fraction) -> Matrix:
    """s(q, k) of ``attention_loss``: row q, column k."""
    table = np.full((setting.size, setting.size), Fraction(1), dtype=object)
    for query, key in product(range(setting.size), repeat=2):
        if query == key:
            table[query, key] = same_word
        elif key == MASK:
            table[query, key] = mask
        elif query != MASK and setting.topic(query) == setting.topic(key):
            table[query, key] = same_topic
    return table


def _attend(matrix: Matrix, weights: Matrix) -> Matrix:
    """The prediction from unnormalised weights on the keys."""
    if weights.sum() == 0:
        raise ValueError("same_word_ratio, same_topic_ratio and mask_ratio leave a query no key: must not all be 0")
    prediction: Matrix = matrix @ (weights / weights.sum())
    return prediction
