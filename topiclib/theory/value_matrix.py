"""Theorem 2: the optimal value matrix under uniform attention; ridge, and gradient descent's path to it (Appendix C)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy

from topiclib.theory.domain import Value, check_count, check_penalty, check_size, check_topics_per_doc, common, is_symbolic, require
from topiclib.theory.masked_tokens import masking_fractions, theorem2_constants
from topiclib.theory.moments import spectrum
from topiclib.theory.results import result
from topiclib.validation import shown


@dataclass(frozen=True)
class ValueMatrix:
    """A matrix W^V with one value for each relation of a word to the predicted word, and a zero row for [MASK].

    mask_column : W_i0, weight of [MASK] in predicting a word
    same_topic, different_topic : W_il for l in topic(i), l != i, and for l in another topic
    same_word : W_ii
    """

    mask_column: Value
    same_topic: Value
    different_topic: Value
    same_word: Value

    def matrix(self, num_topics: int, words_per_topic: int) -> npt.NDArray[Any]:
        """The (V, V) matrix, row 0 and column 0 for [MASK]: of Fractions (dtype object) if the values are, else of floats."""
        num_topics, words_per_topic = check_size("num_topics", num_topics), check_size("words_per_topic", words_per_topic)
        values = (self.mask_column, self.same_topic, self.different_topic, self.same_word)
        for name, value in vars(self).items():
            if isinstance(value, sympy.Expr) or np.ndim(value):
                raise TypeError(f"{name} = {shown(value)}: must be a number to be an entry of the matrix")
        exact = all(isinstance(x, Fraction) for x in values)
        topic = np.repeat(np.arange(num_topics), words_per_topic)
        full = np.zeros((len(topic) + 1,) * 2, dtype=object if exact else np.float64)
        full[...] = Fraction(0) if exact else 0.0
        full[1:, 0] = self.mask_column
        full[1:, 1:] = np.where(topic[:, None] == topic[None, :], self.same_topic, self.different_topic)
        full[np.arange(1, len(full)), np.arange(1, len(full))] = self.same_word
        return full


def block_value_matrix(mask_column: Value, same_topic: Value, different_topic: Value) -> ValueMatrix:
    """Uniform blocks: a word counts as any other word of its topic."""
    return ValueMatrix(mask_column, same_topic, different_topic, same_topic)


@result("Theorem 2", "the three values of the optimal value matrix", chapter="05_2_value_matrix.ipynb#theorem-2")
def theorem2(*, num_topics: Value, words_per_topic: Value, p_m: Value, p_c: Value, p_r: Value) -> ValueMatrix:
    """lim as lambda -> 0 of the minimiser of loss + lambda ||W^V||_F^2 with uniform attention and one-hot embeddings (Theorem 2).

    W_i0 = (c_2 c_3 - c_1 T v) / (c_2^2 + T v), W_diff = -(c_1 c_2 + c_3) / (c_2^2 + T v), W_same = W_diff + c_3 / v, and
    row 0 is 0. They do not depend on tau < T. Fractions in, Fractions out. Raises ValueError outside p_c + p_r < 1 and 0 < p_m < 1.
    """
    big_t, v, p_m, p_c, p_r = common(num_topics=num_topics, words_per_topic=words_per_topic, p_m=p_m, p_c=p_c, p_r=p_r)
    c = theorem2_constants(num_topics=big_t, words_per_topic=v, p_m=p_m, p_c=p_c, p_r=p_r)
    scale = c.c_2**2 + big_t * v
    different = -(c.c_1 * c.c_2 + c.c_3) / scale
    return block_value_matrix((c.c_2 * c.c_3 - c.c_1 * big_t * v) / scale, different + c.c_3 / v, different)


def _from_gains(big_t: Value, v: Value, p_m: Value, p_c: Value, p_r: Value, mean_gain: Value, topic_gain: Value) -> ValueMatrix:
    """W with the inverse of s0 replaced by ``mean_gain`` and the topics learned to the fraction ``topic_gain``."""
    f = masking_fractions(p_m=p_m, p_c=p_c, p_r=p_r)
    words = big_t * v
    mean = (1 - f.mask) / words**2 * mean_gain
    topic = topic_gain / (f.true * v)
    different = mean - topic / big_t
    return block_value_matrix(f.mask / words * mean_gain, different + topic, different)


def _stage1_arguments(**arguments: object) -> tuple[Value, ...]:
    """The sizes and probabilities of stage 1 in one kind, then s0 and kappa."""
    values = common(**arguments)
    check_topics_per_doc(values[2], values[0], whole=False)
    named = dict(zip(("num_topics", "words_per_topic", "topics_per_doc", "p_m", "p_c", "p_r"), values[:6], strict=True))
    gains = spectrum(**named)
    return (*values, gains.mean, gains.topic)


@result("Theorem 2, ridge", "the minimiser at every $\\lambda$", chapter="appendix_c.ipynb#ridge")
def ridge_value_matrix(
    *, l2_coef: Value, num_topics: Value, words_per_topic: Value, topics_per_doc: Value, p_m: Value, p_c: Value, p_r: Value
) -> ValueMatrix:
    """The minimiser of loss + lambda ||W^V||_F^2 at lambda >= 0; at 0 Theorem 2's limit.

    W_i0 = m / (Tv (s0 + lambda)) and
    W_il = (1 - m) / ((Tv)^2 (s0 + lambda)) + kappa / (kappa + lambda) (1 / (a v)) (1[same topic] - 1/T).
    ``topics_per_doc`` may be a fraction (``effective_topics_per_doc``).
    """
    big_t, v, _, p_m, p_c, p_r, l2_coef, s0, kappa = _stage1_arguments(
        num_topics=num_topics,
        words_per_topic=words_per_topic,
        topics_per_doc=topics_per_doc,
        p_m=p_m,
        p_c=p_c,
        p_r=p_r,
        l2_coef=l2_coef,
    )
    check_penalty(l2_coef)
    return _from_gains(big_t, v, p_m, p_c, p_r, 1 / (s0 + l2_coef), kappa / (kappa + l2_coef))


@result("Beyond the paper", "gradient descent's path in stage 1", chapter="appendix_c.ipynb#the-path-of-gradient-descent")
def gradient_path(
    *,
    steps: Value,
    learning_rate: Value,
    num_topics: Value,
    words_per_topic: Value,
    topics_per_doc: Value,
    p_m: Value,
    p_c: Value,
    p_r: Value,
) -> ValueMatrix:
    """W^V after full-batch gradient descent of ``steps`` steps from 0, without a penalty (no counterpart in the paper).

    Ridge with 1 / (s0 + lambda) replaced by (1 - (1 - 2 eta s0)^t) / s0, and kappa / (kappa + lambda) by 1 - (1 - 2 eta kappa)^t.
    The mean is learned before the topics. ``steps`` t >= 0 may be an array; 0 < eta < 1 / s0, beyond which it diverges.
    """
    big_t, v, _, p_m, p_c, p_r, steps, learning_rate, s0, kappa = _stage1_arguments(
        num_topics=num_topics,
        words_per_topic=words_per_topic,
        topics_per_doc=topics_per_doc,
        p_m=p_m,
        p_c=p_c,
        p_r=p_r,
        steps=steps,
        learning_rate=learning_rate,
    )
    check_count("steps", steps, 0)
    if not is_symbolic(s0):
        bound = float(np.min(1 / s0))
        require("learning_rate", learning_rate, lambda x: (x > 0) & (x * s0 < 1), f"in (0, 1 / s0) = (0, {bound:.6g})")
    exponent = int(steps) if isinstance(steps, Fraction) else steps
    mean = (1 - (1 - 2 * learning_rate * s0) ** exponent) / s0
    return _from_gains(big_t, v, p_m, p_c, p_r, mean, 1 - (1 - 2 * learning_rate * kappa) ** exponent)
