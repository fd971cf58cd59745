"""Theorem 3: the loss over Assumption 2's attention patterns, exact at finite T, and its minimiser (Section 5.3, Appendix D.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from topiclib.theory.domain import Value, check_count, check_sizes, check_topics_per_doc, common, is_symbolic, require
from topiclib.theory.masked_tokens import masking_fractions
from topiclib.theory.results import result
from topiclib.theory.value_matrix import theorem2
from topiclib.validation import shown


@dataclass(frozen=True)
class LossTerms:
    """The pieces of Theorem 3's loss; see ``theorem3_loss``.

    share_mask, share_inside, share_outside : pi_M, pi_I, pi_O: shares of the selected positions that show [MASK], a word of
        one of the document's topics, and a word of another topic
    mass_inside, mass_outside : F_I, F_O: share of the document's tokens in the query's topic, for these two kinds of query
    curve_mask, curve_inside, curve_outside : Q_M, Q_I, Q_O: what squared deviations of the topic sums cost
    pull : K, the gain of the query's own topic, from kept words only
    base : 1 - 1 / (tau v)
    """

    share_mask: Value
    share_inside: Value
    share_outside: Value
    mass_inside: Value
    mass_outside: Value
    curve_mask: Value
    curve_inside: Value
    curve_outside: Value
    pull: Value
    base: Value


@result("Theorem 3", "the constants of the loss", chapter="appendix_d.ipynb#the-loss-in-closed-form")
def loss_terms(
    *, num_topics: Value, words_per_topic: Value, topics_per_doc: Value, p_m: Value, p_c: Value, p_r: Value
) -> LossTerms:
    """The constants of Theorem 3's loss for W^V of Theorem 2 (see ``LossTerms``); ``num_topics`` >= 2, 1 <= tau < T."""
    big_t, v, tau, p_m, p_c, p_r = common(
        num_topics=num_topics, words_per_topic=words_per_topic, topics_per_doc=topics_per_doc, p_m=p_m, p_c=p_c, p_r=p_r
    )
    check_sizes(big_t, v)
    check_topics_per_doc(tau, big_t)
    f = masking_fractions(p_m=p_m, p_c=p_c, p_r=p_r)
    w = theorem2(num_topics=big_t, words_per_topic=v, p_m=p_m, p_c=p_c, p_r=p_r)
    a, d = f.true, w.different_topic
    inside = p_c + p_r * tau / big_t
    curve = big_t * v * d**2 + 2 * d * (1 / a - 1) + (1 / a**2 - 2 / (a * tau) + 1 / tau) / v
    return LossTerms(
        share_mask=1 - p_c - p_r,
        share_inside=inside,
        share_outside=p_r * (1 - tau / big_t),
        mass_inside=a / tau + f.random / big_t,
        mass_outside=f.random / big_t,
        curve_mask=big_t * v * w.mask_column**2 - 2 * w.mask_column + 1 / (tau * v),
        curve_inside=curve,
        curve_outside=curve + 2 / (a * tau * v),
        # p_c = p_r = 0: no selected position shows a word, and the share of the term is 0.
        pull=p_c * (tau - 1) / (tau * a * v * (inside + (0 if _positive(inside) else 1))),
        base=1 - 1 / (tau * v),
    )


def _positive(x: Value) -> bool:
    return not isinstance(x, (Fraction, float)) or x > 0


def _theta(ratio: Value, mass: Value) -> Value:
    """(c - 1) F / (1 + (c - 1) F): how far attention weights of ratio c to 1 move a share F away from uniform attention."""
    return (ratio - 1) * mass / (1 + (ratio - 1) * mass)


@result("Theorem 3", "the loss in closed form at finite T", chapter="appendix_d.ipynb#the-loss-in-closed-form")
def theorem3_loss(
    *,
    same_topic_ratio: Value,
    same_word_ratio: Value,
    num_topics: Value,
    words_per_topic: Value,
    topics_per_doc: Value,
    p_m: Value,
    p_c: Value,
    p_r: Value,
) -> Value:
    """Squared loss of equation 1 with W^V of Theorem 2 and Assumption 2's attention; Remark 7 has no closed form for it.

    With alpha = ``same_topic_ratio``, beta = ``same_word_ratio`` (c_2 / c_3 and c_1 / c_3 of Assumption 2, > 0),
    s = ((v - 1) alpha + beta) / v, theta_F(c) = (c - 1) F / (1 + (c - 1) F), psi = theta_m(beta),
    theta_I = theta_{F_I}(s), theta_O = theta_{F_O}(s):

    L = 1 - 1/(tau v) + pi_M psi^2 Q_M + pi_I (theta_I^2 Q_I - 2 theta_I K) + pi_O theta_O^2 Q_O.

    It depends on s and, through the [MASK] queries, on beta. Ratios may be arrays. Fractions in, Fractions out.
    """
    alpha, beta, big_t, v, tau, p_m, p_c, p_r = common(
        same_topic_ratio=same_topic_ratio,
        same_word_ratio=same_word_ratio,
        num_topics=num_topics,
        words_per_topic=words_per_topic,
        topics_per_doc=topics_per_doc,
        p_m=p_m,
        p_c=p_c,
        p_r=p_r,
    )
    require("same_topic_ratio", alpha, lambda x: x > 0, "> 0")
    require("same_word_ratio", beta, lambda x: x > 0, "> 0")
    k = loss_terms(num_topics=big_t, words_per_topic=v, topics_per_doc=tau, p_m=p_m, p_c=p_c, p_r=p_r)
    s = ((v - 1) * alpha + beta) / v
    psi = _theta(beta, masking_fractions(p_m=p_m, p_c=p_c, p_r=p_r).mask)
    inside, outside = _theta(s, k.mass_inside), _theta(s, k.mass_outside)
    return (
        k.base
        + k.share_mask * psi**2 * k.curve_mask
        + k.share_inside * (inside**2 * k.curve_inside - 2 * inside * k.pull)
        + k.share_outside * outside**2 * k.curve_outside
    )


@result("Theorem 3", "the exact minimiser $s^*$", chapter="appendix_d.ipynb#the-exact-minimiser")
def optimal_attention(
    *, num_topics: Value, words_per_topic: Value, topics_per_doc: Value, p_m: Value, p_c: Value, p_r: Value
) -> Any:
    """s*, the same-topic attention ((v - 1) alpha + beta) / v that minimises Theorem 3's loss, with beta = 1.

    s* = 1 + y with y the positive root of a quartic (``attention_polynomial``); a float to rounding, from float64 roots. Exact
    (a Fraction for Fractions, an expression for symbols) where it is rational: 1 at tau = 1 and at p_c = 0, and
    tau / (1 - a) - a / (tau - a) at ``num_topics = math.inf``. No arrays: ValueError. At v = 1 there is no alpha, and s is beta:
    queries that show a word want s*, and [MASK] queries want 1.
    """
    infinite = isinstance(num_topics, float) and math.isinf(num_topics)
    big_t, v, tau, p_m, p_c, p_r = common(
        num_topics=Fraction(2) if infinite else num_topics,
        words_per_topic=words_per_topic,
        topics_per_doc=topics_per_doc,
        p_m=p_m,
        p_c=p_c,
        p_r=p_r,
    )
    given = {"num_topics": big_t, "words_per_topic": v, "topics_per_doc": tau, "p_m": p_m, "p_c": p_c, "p_r": p_r}
    for name, value in given.items():
        if isinstance(value, np.ndarray):
            raise ValueError(f"{name} = {shown(value)} is an array: must be a number; call it for each")
    check_sizes(big_t, v)
    check_topics_per_doc(tau, math.inf if infinite else big_t)
    a = masking_fractions(p_m=p_m, p_c=p_c, p_r=p_r).true
    if tau == 1 or p_c == 0:
        return 1 + 0 * a
    if infinite:
        return tau / (1 - a) - a / (tau - a)
    for name, value in given.items():
        if is_symbolic(value):
            raise TypeError(f"{name} = {value}: must be a number, as the root of a quartic is one")
    roots = np.roots([float(c) for c in attention_polynomial(
        num_topics=big_t, words_per_topic=v, topics_per_doc=tau, p_m=p_m, p_c=p_c, p_r=p_r
    )])  # fmt: skip
    positive = [float(x.real) for x in roots if abs(x.imag) <= 1e-9 * abs(x) and x.real > 0]
    if len(positive) != 1:
        raise ArithmeticError(f"the quartic has {len(positive)} positive roots: must have one")
    return 1 + positive[0]


@result("Theorem 3", "the quartic of the minimiser", chapter="appendix_d.ipynb#the-exact-minimiser")
def attention_polynomial(
    *, num_topics: Value, words_per_topic: Value, topics_per_doc: Value, p_m: Value, p_c: Value, p_r: Value
) -> tuple[Value, ...]:
    """Coefficients, highest power first, of the quartic in y = s - 1 whose positive root gives s*.

    pi_I F_I (y F_I (Q_I - K) - K) (1 + y F_O)^3 + pi_O Q_O F_O^2 y (1 + y F_I)^3 = 0: the derivative of the loss
    in s, times positive factors. One sign change, so one positive root, for p_c > 0 and 2 <= tau < T.
    """
    k = loss_terms(num_topics=num_topics, words_per_topic=words_per_topic, topics_per_doc=topics_per_doc, p_m=p_m, p_c=p_c, p_r=p_r)
    f_i, f_o = k.mass_inside, k.mass_outside
    slope, offset = k.share_inside * f_i**2 * (k.curve_inside - k.pull), -k.share_inside * f_i * k.pull
    drag = k.share_outside * k.curve_outside * f_o**2
    cubic_o = (1, 3 * f_o, 3 * f_o**2, f_o**3)
    cubic_i = (1, 3 * f_i, 3 * f_i**2, f_i**3)
    lowest_first = [offset, *(slope * cubic_o[j] + (offset * cubic_o[j + 1] if j < 3 else 0) + drag * cubic_i[j] for j in range(4))]
    return tuple(reversed(lowest_first))


@dataclass(frozen=True)
class Interval:
    """The paper's open interval for the optimal same-topic attention: (low, high) = (lambda_1 (tau - 1), lambda_2 T)."""

    low: Value
    high: Value


@result("Theorem 3", "the paper's interval", chapter="05_3_attention_weights.ipynb#theorem-3")
def theorem3(*, num_topics: Value, topics_per_doc: Value, p_m: Value, p_c: Value, p_r: Value) -> Interval:
    """The interval (lambda_1 (tau - 1), lambda_2 T) of Theorem 3 for ((v - 1) alpha + beta) / v.

    lambda_1 = (a + r)(2 - a) / (2 a) and lambda_2 = 100 (a / r + 1), with a and r of ``masking_fractions``. The theorem states it
    for T, tau -> infinity with tau = o(T) and p_m < 1/2, p_c = p_r in (0, 1/2); ``optimal_attention`` is exact elsewhere.
    p_r = 0 is a ValueError: lambda_2 is infinite.
    """
    big_t, tau, p_m, p_c, p_r = common(num_topics=num_topics, topics_per_doc=topics_per_doc, p_m=p_m, p_c=p_c, p_r=p_r)
    check_count("num_topics", big_t)
    check_topics_per_doc(tau, big_t)
    f = masking_fractions(p_m=p_m, p_c=p_c, p_r=p_r)
    require("p_r", p_r, lambda x: x > 0, "> 0: lambda_2 divides by it")
    low = (f.true + f.random) * (2 - f.true) / (2 * f.true)
    return Interval(low * (tau - 1), 100 * (f.true / f.random + 1) * big_t)
