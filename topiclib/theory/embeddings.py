"""Theorem 1: optimal embeddings under uniform attention, which of them exist, and when they fade (Section 4, Appendix B)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy

from topiclib.theory.domain import (
    Value,
    check_count,
    check_penalty,
    check_size,
    check_sizes,
    check_topics_per_doc,
    common,
    is_symbolic,
)
from topiclib.theory.masked_tokens import masking_fractions, theorem2_constants
from topiclib.theory.minimisers import BlockSums
from topiclib.theory.moments import spectrum
from topiclib.theory.results import result
from topiclib.validation import check_real, shown


@result("Theorem 1", "block sums of a word's row of E", chapter="appendix_b.ipynb#from-lemma-1-to-theorem-1")
def theorem1(*, num_topics: Value, words_per_topic: Value, p_m: Value, p_c: Value, p_r: Value, u: Value = 0) -> BlockSums:
    """Row i >= 1 of E = W^E^T W^E (Theorem 1, points 2 and 3): E_i0 = -c_2 u, own topic 1 / a + u v, every other u v.

    Lemma 1's row without -c_1, which the bias b^pred supplies. The u_i are not free: see ``theorem1_realisable``.
    """
    num_topics, words_per_topic, p_m, p_c, p_r, u = common(
        num_topics=num_topics, words_per_topic=words_per_topic, p_m=p_m, p_c=p_c, p_r=p_r, u=u
    )
    c = theorem2_constants(num_topics=num_topics, words_per_topic=words_per_topic, p_m=p_m, p_c=p_c, p_r=p_r)
    return BlockSums(-c.c_2 * u, c.c_3 + u * words_per_topic, u * words_per_topic)


@result("Theorem 1", "block sums of the row of [MASK] of E", chapter="appendix_b.ipynb#from-lemma-1-to-theorem-1")
def theorem1_mask_row(
    *,
    num_topics: Value,
    words_per_topic: Value,
    p_m: Value,
    p_c: Value,
    p_r: Value,
    u: Value = 0,
    bias_on_mask: bool = False,
) -> BlockSums:
    """Row 0 of E (Theorem 1, point 1): E_00 = -c_2 u, every topic u v.

    With ``bias_on_mask`` the bias also acts on [MASK], as 'for all i' in Theorem 1 says: then E_00 gains c_1.
    """
    num_topics, words_per_topic, p_m, p_c, p_r, u = common(
        num_topics=num_topics, words_per_topic=words_per_topic, p_m=p_m, p_c=p_c, p_r=p_r, u=u
    )
    c = theorem2_constants(num_topics=num_topics, words_per_topic=words_per_topic, p_m=p_m, p_c=p_c, p_r=p_r)
    gain = c.c_1 if bias_on_mask else 0 * c.c_1
    return BlockSums(gain - c.c_2 * u, None, u * words_per_topic)


def _free_constants(u: Any, num_topics: Value, words_per_topic: Value) -> npt.NDArray[Any]:
    size = check_size("num_topics", num_topics) * check_size("words_per_topic", words_per_topic)
    if not isinstance(u, (list, tuple, np.ndarray)):
        raise TypeError(f"u = {shown(u)}: must be a list or an array of Tv + 1 = {size + 1} numbers, u_0 first")
    values = list(u)
    if len(values) != size + 1:
        raise ValueError(f"u has {len(values)} entries: must have Tv + 1 = {size + 1}, u_0 first")
    exact = common(**{f"u[{i}]": value for i, value in enumerate(values)})
    for i, value in enumerate(exact):
        if is_symbolic(value) or isinstance(value, np.ndarray):
            raise TypeError(f"u[{i}] = {shown(value)}: must be a number")
    return np.array(exact, dtype=object if isinstance(exact[0], Fraction) else np.float64)


@result("Beyond the paper", "which constants $u_i$ an embedding can have", chapter="appendix_b.ipynb#which-constants-are-possible")
def theorem1_realisable(
    *, u: Any, num_topics: int, words_per_topic: int, p_m: Value, p_c: Value, p_r: Value, tol: float = 0.0
) -> bool:
    """Whether some W^E (with d large enough) has Theorem 1's block sums with these u_0, ..., u_Tv.

    E must be symmetric and positive semidefinite. It can be exactly when every topic has the same mean ubar >= 0
    of its u_i, u_0 = -c_2 ubar, and all u_i are 0 where ubar is. ``tol`` is the slack for floats.
    """
    check_real("tol", tol, 0.0)
    constants = _free_constants(u, num_topics, words_per_topic)
    num_topics, words_per_topic = int(num_topics), int(words_per_topic)
    c_2 = theorem2_constants(num_topics=num_topics, words_per_topic=words_per_topic, p_m=p_m, p_c=p_c, p_r=p_r).c_2
    means = constants[1:].reshape(num_topics, words_per_topic).sum(axis=1) / words_per_topic
    mean = means[0]
    if any(abs(x - mean) > tol for x in means) or mean < -tol or abs(constants[0] + c_2 * mean) > tol * (1 + c_2):
        return False
    return bool(mean > tol or all(abs(x) <= tol for x in constants))


@result("Beyond the paper", "an embedding for every possible $u$", chapter="appendix_b.ipynb#which-constants-are-possible")
def theorem1_witness(
    *, u: Any, num_topics: int, words_per_topic: int, p_m: Value, p_c: Value, p_r: Value, tol: float = 0.0
) -> npt.NDArray[Any]:
    """A positive semidefinite E with Theorem 1's block sums for realisable constants u_0, ..., u_Tv; shape (V, V).

    E = w w^T / ubar + (1 / (a v)) diag(0, I_T (x) J_v) with w = u (so w_0 = -c_2 ubar), and without the first term where
    ubar = 0. Of rank T, which is the least possible, if ubar = 0. ValueError if u is not realisable.
    """
    arguments: dict[str, Any] = {"num_topics": num_topics, "words_per_topic": words_per_topic, "p_m": p_m, "p_c": p_c, "p_r": p_r}
    if not theorem1_realisable(u=u, tol=tol, **arguments):
        raise ValueError("u is not realisable: must have one mean ubar >= 0 in every topic, u_0 = -c_2 ubar, and be 0 if ubar is")
    w = _free_constants(u, num_topics, words_per_topic)
    num_topics, words_per_topic = int(num_topics), int(words_per_topic)
    first, a = common(u=w[0], a=masking_fractions(p_m=p_m, p_c=p_c, p_r=p_r).true)
    if not isinstance(a, Fraction):
        w = w.astype(np.float64)
    topic = np.repeat(np.arange(num_topics), words_per_topic)
    gram = np.full((len(w), len(w)), 0 * first, dtype=w.dtype)
    gram[1:, 1:] = np.where(topic[:, None] == topic[None, :], 1 / (a * words_per_topic), 0 * first)
    mean = w[1:].sum() / len(w[1:])
    if mean > tol:
        gram = gram + np.outer(w, w) / mean
    return gram


@result("Beyond the paper", "least loss when $d < T$", chapter="appendix_b.ipynb#how-many-dimensions")
def embedding_dim_loss(*, embedding_dim: Value, num_topics: Value, words_per_topic: Value, topics_per_doc: Value) -> Value:
    """Least excess of Theorem 1's loss over its optimum for embeddings of dimension d: max(T - d, 0) (T - tau) / (tau v T (T - 1)).

    It is 0 exactly for d >= T, which Theorem 1 needs and does not say, and the same for all masking probabilities:
    each missing dimension costs one difference between topics.
    """
    d, big_t, v, tau = common(
        embedding_dim=embedding_dim, num_topics=num_topics, words_per_topic=words_per_topic, topics_per_doc=topics_per_doc
    )
    check_count("embedding_dim", d)
    check_sizes(big_t, v)
    check_topics_per_doc(tau, big_t)
    return _positive_part(big_t - d) * (big_t - tau) / (tau * v * big_t * (big_t - 1))


def _positive_part(x: Value) -> Value:
    if isinstance(x, np.ndarray):
        return np.maximum(x, 0)
    if isinstance(x, (Fraction, float)):
        return max(x, type(x)(0))
    return sympy.Max(x, 0)


@dataclass(frozen=True)
class WeightDecay:
    """Theorem 1 with lambda ||W^E||_F^2 added to the loss.

    topic_eigenvalue : eigenvalue of E along differences between topics
    threshold : lambda_c, at and above which it is 0 and no topic structure is left
    """

    topic_eigenvalue: Value
    threshold: Value


@result("Beyond the paper", "the penalty at which topic structure vanishes", chapter="appendix_b.ipynb#weight-decay")
def embedding_weight_decay(
    *, l2_coef: Value, num_topics: Value, words_per_topic: Value, topics_per_doc: Value, p_m: Value, p_c: Value, p_r: Value
) -> WeightDecay:
    """Topic structure of the optimal E under loss + lambda ||W^E||_F^2 (equation 2): (1 / a - lambda / (2 kappa))_+.

    ||W^E||_F^2 = tr E is linear in E, so it cuts off instead of shrinking: at lambda_c = 2 kappa / a nothing is left.
    ``topics_per_doc`` may be a fraction (``effective_topics_per_doc``).
    """
    l2_coef, num_topics, words_per_topic, topics_per_doc, p_m, p_c, p_r = common(
        l2_coef=l2_coef,
        num_topics=num_topics,
        words_per_topic=words_per_topic,
        topics_per_doc=topics_per_doc,
        p_m=p_m,
        p_c=p_c,
        p_r=p_r,
    )
    check_penalty(l2_coef)
    check_topics_per_doc(topics_per_doc, num_topics, whole=False)
    a = masking_fractions(p_m=p_m, p_c=p_c, p_r=p_r).true
    kappa = spectrum(
        num_topics=num_topics, words_per_topic=words_per_topic, topics_per_doc=topics_per_doc, p_m=p_m, p_c=p_c, p_r=p_r
    ).topic
    return WeightDecay(_positive_part(1 / a - l2_coef / (2 * kappa)), 2 * kappa / a)
