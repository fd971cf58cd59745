"""Second moments of a masked, infinitely long document: all that the squared loss sees of the data (Appendices A and C)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from topiclib.theory.domain import Value, check_sizes, common, is_symbolic, require
from topiclib.theory.masked_tokens import masking_fractions
from topiclib.theory.results import result


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues of E[x x^T], x the token distribution of a masked document.

    mean : s0, once: the direction of the mean E[x]
    topic : kappa, T - 1 times: differences between topics
    topic_multiplicity, zero_multiplicity : T - 1, and T(v - 1) + 1 directions along which x never moves
    """

    mean: Value
    topic: Value
    topic_multiplicity: Value
    zero_multiplicity: Value


@result("Beyond the paper", "spectrum of the Hessian of stage 1", chapter="appendix_c.ipynb#the-spectrum")
def spectrum(*, num_topics: Value, words_per_topic: Value, topics_per_doc: Value, p_m: Value, p_c: Value, p_r: Value) -> Spectrum:
    """Spectrum of E[x x^T] under uniform attention and infinitely long documents (Assumption 1).

    s0 = m^2 + (1 - m)^2 / (Tv) once, kappa = a^2 (T - tau) / (tau v T (T - 1)) T - 1 times, 0 otherwise. The Hessian of
    the squared loss in W is twice this matrix for each of the Tv + 1 rows. ``topics_per_doc`` may be a fraction
    (see ``effective_topics_per_doc``), 1 <= tau <= T; at tau = T, kappa = 0.
    """
    big_t, v, tau, p_m, p_c, p_r = common(
        num_topics=num_topics, words_per_topic=words_per_topic, topics_per_doc=topics_per_doc, p_m=p_m, p_c=p_c, p_r=p_r
    )
    check_sizes(big_t, v)
    if not (is_symbolic(tau) or is_symbolic(big_t)):
        inside = (tau >= 1) & (tau <= big_t)
        require("topics_per_doc", tau, lambda _: inside, f"from 1 to num_topics = {big_t}")
    f = masking_fractions(p_m=p_m, p_c=p_c, p_r=p_r)
    s0 = f.mask**2 + (1 - f.mask) ** 2 / (big_t * v)
    only_one = not isinstance(big_t, np.ndarray) and bool(big_t == 1)
    kappa = 0 * s0 if only_one else f.true**2 * (big_t - tau) / (tau * v * big_t * (big_t - 1))
    return Spectrum(s0, kappa, big_t - 1, big_t * (v - 1) + 1)


@result("Beyond the paper", "the $\\tau$ of a Dirichlet mixture", chapter="appendix_c.ipynb#topics-drawn-by-lda")
def effective_topics_per_doc(*, num_topics: Value, concentration: Value) -> Value:
    """The tau at which documents of Section 3.1 have the second moments of an LDA mixture.

    tau = T (A + 1) / (T + A) for a symmetric Dirichlet of total concentration A = T alpha > 0. It need not be whole.
    Exact for everything that depends on second moments: Theorem 2, ridge, the gradient path.
    """
    big_t, total = common(num_topics=num_topics, concentration=concentration)
    check_sizes(big_t, Fraction(1))
    require("concentration", total, lambda x: x > 0, "> 0")
    return big_t * (total + 1) / (big_t + total)
