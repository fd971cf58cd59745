"""Documents of finite length: the exact moments of equation 1, and the value matrix that they give (beyond the paper).

Assumption 1 makes documents infinitely long. In a document of N words a selected position that kept its word is one of the N
positions that attention averages over, so a word tells a little more about itself than about its topic: the optimal W^V has
a diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import sympy

from topiclib.theory.domain import (
    Value,
    check_count,
    check_masking,
    check_penalty,
    check_sizes,
    check_topics_per_doc,
    common,
    require,
)
from topiclib.theory.results import result
from topiclib.theory.value_matrix import ValueMatrix


@dataclass(frozen=True)
class MaskCounts:
    """Moments of K = |M|, binomial(N, p_m) given K >= 1 (equation 1 is undefined for an empty mask).

    selected : E[K] / N
    both, one, neither : probabilities that two given positions are both selected, the first only, neither
    other : E[K - 1] / (N - 1): given a position drawn from M, the probability that another given one is in M too
    """

    selected: Value
    both: Value
    one: Value
    neither: Value
    other: Value


def mask_counts(doc_len: Value, p_m: Value) -> MaskCounts:
    """Moments of the number of selected positions (see ``MaskCounts``). At N = 1 there is no pair, and only ``selected`` counts."""
    # Given K >= 1, every moment without a constant term is the binomial's over P(K >= 1).
    some = 1 - (1 - p_m) ** doc_len
    others = doc_len - 1 + (0 if isinstance(doc_len, sympy.Expr) else doc_len == 1)
    both, one = p_m**2 / some, p_m * (1 - p_m) / some
    return MaskCounts(p_m / some, both, one, 1 - both - 2 * one, (doc_len * p_m / some - 1) / others)


@dataclass(frozen=True)
class BlockMoments:
    """E[x x^T] and E[x y^T] of equation 1 in the directions that symmetry leaves: x the mean of the N shown tokens, y the target.

    word, word_target : along differences within a topic, E[x x^T] and E[x y^T]
    topic, topic_target : along differences between topics
    mask, mean, cross : E[x_0^2], E[x_1^2], E[x_0 x_1], with x_1 along the unit vector (1, ..., 1) / sqrt(Tv) of the words;
        ``cross`` without its factor 1 / sqrt(Tv)
    mask_target, mean_target : E[x_0 y_1] without its factor 1 / sqrt(Tv), and E[x_1 y_1]
    """

    word: Value
    word_target: Value
    topic: Value
    topic_target: Value
    mask: Value
    mean: Value
    cross: Value
    mask_target: Value
    mean_target: Value


def block_moments(
    *, num_topics: Value, words_per_topic: Value, topics_per_doc: Value, doc_len: Value, p_m: Value, p_c: Value, p_r: Value
) -> BlockMoments:
    """The exact moments of documents of N words under equation 1 and Section 3.2's masks (see ``BlockMoments``)."""
    big_t, v, tau, length, p_m, p_c, p_r = common(
        num_topics=num_topics,
        words_per_topic=words_per_topic,
        topics_per_doc=topics_per_doc,
        doc_len=doc_len,
        p_m=p_m,
        p_c=p_c,
        p_r=p_r,
    )
    check_sizes(big_t, v)
    check_masking(p_m, p_c, p_r)
    check_topics_per_doc(tau, big_t, whole=False)
    check_count("doc_len", length)
    # A whole exponent keeps Fractions exact.
    k = mask_counts(int(length) if isinstance(length, Fraction) else length, p_m)
    alone, pair, words, masked = 1 / length, 1 - 1 / length, big_t * v, 1 - p_c - p_r
    spread = (big_t - tau) / (tau * v * big_t * (big_t - 1))  # of two words of a document, along differences of topics
    shown = (1 - k.selected * masked) / words
    both_words = k.neither + 2 * k.one * (1 - masked) + k.both * (1 - masked) ** 2
    both_true = k.neither + 2 * k.one * p_c + k.both * p_c**2
    target_true, target_masked = 1 - k.other + k.other * p_c, k.other * masked
    return BlockMoments(
        word=alone * shown,
        word_target=alone * p_c / words,
        topic=alone * shown + pair * both_true * spread,
        topic_target=alone * p_c / words + pair * target_true * spread,
        mask=alone * k.selected * masked + pair * k.both * masked**2,
        mean=alone * shown + pair * both_words / words,
        cross=pair * masked * (k.one + k.both * (1 - masked)),
        mask_target=alone * masked + pair * target_masked,
        mean_target=(alone * (p_c + p_r) + pair * (1 - target_masked)) / words,
    )


@result("Beyond the paper", "the value matrix for documents of N words", chapter="appendix_c.ipynb#documents-of-finite-length")
def finite_documents(
    *,
    doc_len: Value,
    num_topics: Value,
    words_per_topic: Value,
    topics_per_doc: Value,
    p_m: Value,
    p_c: Value,
    p_r: Value,
    l2_coef: Value = 0,
) -> ValueMatrix:
    """The minimiser of loss + lambda ||W^V||_F^2 for documents of exactly N = ``doc_len`` words, uniform attention.

    Beyond the paper; N and lambda may be arrays.

    Three parts, one for each direction of symmetry: W = constant + topic part + diagonal, each ridge in one dimension
    (the constant in two, with [MASK]). At lambda = 0 the diagonal is p_c / (1 - m) at every N (m with E|M| / N for p_m), and
    disappears for N -> infinity only if lambda > 0: the two limits do not commute. ``topics_per_doc`` may be a fraction.
    Raises ValueError at lambda = 0 where the minimiser is not unique (p_r = 0 and N = 1, for instance).
    """
    x = block_moments(
        num_topics=num_topics, words_per_topic=words_per_topic, topics_per_doc=topics_per_doc,
        doc_len=doc_len, p_m=p_m, p_c=p_c, p_r=p_r,
    )  # fmt: skip
    big_t, v, penalty, *_ = common(num_topics=num_topics, words_per_topic=words_per_topic, l2_coef=l2_coef, one=x.word)
    check_penalty(penalty)
    words = big_t * v
    # One row of W along ([MASK], mean of the words): ridge with a 2 x 2 matrix; factors sqrt(Tv) cancel.
    determinant = (x.mask + penalty) * (x.mean + penalty) - x.cross**2 / words
    if not isinstance(determinant, sympy.Expr):
        require("l2_coef", penalty, lambda _: determinant > 0, "> 0 here, where the minimiser without a penalty is not unique")
    mask = (x.mask_target * (x.mean + penalty) - x.cross * x.mean_target) / determinant / words
    mean = ((x.mask + penalty) * x.mean_target - x.cross * x.mask_target / words) / determinant
    topic, word = x.topic_target / (x.topic + penalty), x.word_target / (x.word + penalty)
    different = (mean - topic) / words
    same_topic = different + (topic - word) / v
    return ValueMatrix(mask, same_topic, different, same_topic + word)
