"""What masking does to an infinitely long document, and the constants that it gives (Sections 3.2 and 5.2)."""

from __future__ import annotations

from dataclasses import dataclass

from topiclib.theory.domain import Value, check_masking, check_sizes, common
from topiclib.theory.results import result


@dataclass(frozen=True)
class MaskingFractions:
    """Fractions of the positions of a masked document: m + a + r = 1.

    mask : m = p_m (1 - p_c - p_r), the fraction that shows [MASK]
    true : a = 1 - (1 - p_c) p_m, the fraction that shows the document's own word on purpose
    random : r = p_m p_r, the fraction that shows a random word
    """

    mask: Value
    true: Value
    random: Value


@result(
    "Equation D.17",
    "the fractions of [MASK], true and random tokens after masking",
    chapter="appendix_d.ipynb#d1-masking-probabilities",
)
def masking_fractions(*, p_m: Value, p_c: Value, p_r: Value) -> MaskingFractions:
    """The token fractions m, a, r of a masked document (equation D.17).

    A word i of the document shows with probability a p_w(i) + r / (Tv), [MASK] with m.
    Raises ValueError outside 0 < p_m < 1, p_c, p_r >= 0, p_c + p_r < 1.
    """
    p_m, p_c, p_r = common(p_m=p_m, p_c=p_c, p_r=p_r)
    check_masking(p_m, p_c, p_r)
    return MaskingFractions(p_m * (1 - p_c - p_r), 1 - (1 - p_c) * p_m, p_m * p_r)


@dataclass(frozen=True)
class Constants:
    """The constants of Theorem 2, with the paper's names."""

    c_1: Value
    c_2: Value
    c_3: Value


@result(
    "Theorem 2, constants",
    "$c_1$, $c_2$ and $c_3$",
    chapter="appendix_c.ipynb#c2-the-smallest-of-the-minimisers",
)
def theorem2_constants(*, num_topics: Value, words_per_topic: Value, p_m: Value, p_c: Value, p_r: Value) -> Constants:
    """c_1 = r / (m a T v), c_2 = (1 - m) / m and c_3 = 1 / a (Theorem 2; Lemma 1 has them too).

    c_3 undoes the dilution of the true words, c_1 removes the random ones, c_2 is the odds of a token
    against [MASK]. The paper says that c_1 is in (0, 1); it is not in general (see the errata).
    """
    num_topics, words_per_topic, p_m, p_c, p_r = common(
        num_topics=num_topics, words_per_topic=words_per_topic, p_m=p_m, p_c=p_c, p_r=p_r
    )
    check_sizes(num_topics, words_per_topic)
    f = masking_fractions(p_m=p_m, p_c=p_c, p_r=p_r)
    return Constants(f.random / (f.mask * f.true * num_topics * words_per_topic), (1 - f.mask) / f.mask, 1 / f.true)
