"""Lemma 1: every minimiser of the squared loss under uniform attention, by block sums (Appendix A.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sympy

from topiclib.theory.domain import Value, check_sizes, check_topics_per_doc, common, is_symbolic
from topiclib.theory.masked_tokens import theorem2_constants
from topiclib.theory.results import result


@dataclass(frozen=True)
class BlockSums:
    """A row of W: its entry in the column of [MASK], and its sums over the words of a topic.

    mask_column : W_i0
    own_topic : sum of W_il over l in topic(i); None for the row of [MASK], which has no topic
    other_topic : sum of W_il over l in t, for every other topic t
    """

    mask_column: Value
    own_topic: Value | None
    other_topic: Value


def _arguments(
    num_topics: Value, words_per_topic: Value, topics_per_doc: Value, p_m: Value, p_c: Value, p_r: Value, u: Value
) -> tuple[Value, ...]:
    values = common(
        num_topics=num_topics, words_per_topic=words_per_topic, topics_per_doc=topics_per_doc, p_m=p_m, p_c=p_c, p_r=p_r, u=u
    )
    check_sizes(values[0], values[1])
    check_topics_per_doc(values[2], values[0], one_topic=True)
    return values


@result("Lemma 1", "block sums of a word's row in every minimiser", chapter="appendix_a.ipynb#lemma-1")
def lemma1(
    *, num_topics: Value, words_per_topic: Value, topics_per_doc: Value, p_m: Value, p_c: Value, p_r: Value, u: Value = 0
) -> BlockSums:
    """Row i >= 1 of a minimiser (Lemma 1, points 2 and 3), for a free constant u_i.

    W_i0 = -c_1 - c_2 u, own topic 1 / a + u v, every other topic u v. These are all minimisers only for
    tau < T (or T = 1): ValueError at tau = T >= 2, where the family is too small.
    """
    big_t, v, _, p_m, p_c, p_r, u = _arguments(num_topics, words_per_topic, topics_per_doc, p_m, p_c, p_r, u)
    c = theorem2_constants(num_topics=big_t, words_per_topic=v, p_m=p_m, p_c=p_c, p_r=p_r)
    return BlockSums(-c.c_1 - c.c_2 * u, c.c_3 + u * v, u * v)


@result("Lemma 1", "block sums of the row of [MASK]", chapter="appendix_a.ipynb#lemma-1")
def lemma1_mask_row(
    *, num_topics: Value, words_per_topic: Value, topics_per_doc: Value, p_m: Value, p_c: Value, p_r: Value, u: Value = 0
) -> BlockSums:
    """Row 0 of a minimiser (Lemma 1, point 1), for a free constant u_0: W_00 = -c_2 u, every topic u v."""
    big_t, v, _, p_m, p_c, p_r, u = _arguments(num_topics, words_per_topic, topics_per_doc, p_m, p_c, p_r, u)
    c = theorem2_constants(num_topics=big_t, words_per_topic=v, p_m=p_m, p_c=p_c, p_r=p_r)
    return BlockSums(-c.c_2 * u, None, u * v)


@result("Remark 8", "rank of the Hessian", chapter="appendix_a.ipynb#remark-8")
def hessian_rank(*, num_topics: Value, words_per_topic: Value, topics_per_doc: Value) -> Value:
    """Rank of the Hessian of the squared loss in W: T (Tv + 1) for tau < T (symbols included), and Tv + 1 for tau = T.

    Each of the Tv + 1 rows of W has the same block E[x x^T], of rank T for tau < T. Remark 8's 'rank 1'
    is true of one row and one document.
    """
    big_t, v, tau = common(num_topics=num_topics, words_per_topic=words_per_topic, topics_per_doc=topics_per_doc)
    check_sizes(big_t, v)
    if is_symbolic(big_t) or is_symbolic(tau):
        return big_t * (big_t * v + 1)
    check_topics_per_doc(tau, big_t + 1)
    if isinstance(big_t, sympy.Expr):
        return (1 if tau == big_t else big_t) * (big_t * v + 1)
    return np.where(tau == big_t, 1, big_t)[()] * (big_t * v + 1)
