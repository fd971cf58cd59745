"""Assumption 2's attention with any W^V of four values: exact loss, minimiser, and the diagonal W^V (Appendices D.4, D.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import sympy
from scipy.optimize import minimize

from topiclib.theory import symbols
from topiclib.theory.domain import Value, check_size, check_sizes, check_topics_per_doc, common, require, single
from topiclib.theory.masked_tokens import masking_fractions, theorem2_constants
from topiclib.theory.results import result
from topiclib.theory.value_matrix import ValueMatrix
from topiclib.validation import check_type

FloatArray = npt.NDArray[np.float64]


@result("Appendix D.4", "the diagonal among Lemma 1's minimisers", chapter="appendix_d_4.ipynb#the-diagonal-value-matrix")
def diagonal_value_matrix(*, num_topics: Value, words_per_topic: Value, p_m: Value, p_c: Value, p_r: Value) -> ValueMatrix:
    """W^V with W_ii = 1 / a, W_i0 = -c_1 and 0 elsewhere: Lemma 1 with every u_i = 0, each word for itself.

    A minimiser of stage 1 without a penalty, not the smallest one; Remark 6 speaks of such representative cases.
    """
    big_t, v, p_m, p_c, p_r = common(num_topics=num_topics, words_per_topic=words_per_topic, p_m=p_m, p_c=p_c, p_r=p_r)
    c = theorem2_constants(num_topics=big_t, words_per_topic=v, p_m=p_m, p_c=p_c, p_r=p_r)
    return ValueMatrix(-c.c_1, 0 * c.c_1, 0 * c.c_1, c.c_3)


@dataclass(frozen=True)
class _Document:
    """A masked document of Assumption 1 as attention sees it, and the value matrix that reads it."""

    w: ValueMatrix
    big_t: Value
    v: Value
    tau: Value
    mask: Value
    inside: Value
    outside: Value

    def outputs(self, key_mask: Value, keys: list[tuple[Value, Value, Value]]) -> list[tuple[Value, Value]]:
        """(number, output) of each class of predicted words.

        ``key_mask`` is the attention on [MASK]; ``keys`` has a class of words each: how many, the attention on one of
        them, and that on its whole topic.
        """
        w = self.w
        base = w.mask_column * key_mask + w.different_topic * (1 - key_mask)
        return [
            (number, base + (w.same_topic - w.different_topic) * topic + (w.same_word - w.same_topic) * word)
            for number, word, topic in keys
        ]

    def word_query(self, alpha: Value, beta: Value, own: Value, topics: tuple[Value, Value]) -> list[tuple[Value, Value]]:
        """Outputs for a query that shows a word of frequency ``own``: itself, its topic's others, then words of the other
        ``topics`` inside and outside of the document."""
        v = self.v
        total = 1 + (alpha * (v - 1) + beta - v) * own
        own_topic = (alpha * (v - 1) + beta) * own / total
        keys = [(1, beta * own / total, own_topic), (v - 1, alpha * own / total, own_topic)]
        keys += [(n * v, h / total, v * h / total) for n, h in zip(topics, (self.inside, self.outside), strict=True)]
        return self.outputs(self.mask / total, keys)

    def mask_query(self, beta: Value) -> list[tuple[Value, Value]]:
        """Outputs for a query that shows [MASK]: words inside, words outside of the document."""
        total = 1 + (beta - 1) * self.mask
        topics = ((self.tau, self.inside), (self.big_t - self.tau, self.outside))
        return self.outputs(beta * self.mask / total, [(n * self.v, h / total, self.v * h / total) for n, h in topics])


def _squares(outputs: list[tuple[Value, Value]]) -> Value:
    return sum(number * output**2 for number, output in outputs)


@result(
    "Remark 7",
    "the loss over Assumption 2's patterns, for any block-symmetric value matrix",
    chapter="appendix_d_5.ipynb#the-exact-surface",
)
def attention_loss(
    value_matrix: ValueMatrix,
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
    """Squared loss of equation 1 under Assumptions 1 and 2 at finite T, for a W^V with one value for each relation.

    The sum over kinds of query ([MASK], a word of the document's topics, another word) of
    ||output||^2 - 2 output at the target + 1.
    Equal to ``theorem3_loss`` for Theorem 2's W^V. Ratios may be arrays, of one shape or broadcasting; alpha >= 0 and
    beta > 0, where alpha = 0 is a limit that a softmax only approaches.
    """
    check_type("value_matrix", value_matrix, ValueMatrix)
    alpha, beta, big_t, v, tau, p_m, p_c, p_r, w0, same, different, word = common(
        same_topic_ratio=same_topic_ratio,
        same_word_ratio=same_word_ratio,
        num_topics=num_topics,
        words_per_topic=words_per_topic,
        topics_per_doc=topics_per_doc,
        p_m=p_m,
        p_c=p_c,
        p_r=p_r,
        mask_column=value_matrix.mask_column,
        same_topic=value_matrix.same_topic,
        different_topic=value_matrix.different_topic,
        same_word=value_matrix.same_word,
    )
    require("same_topic_ratio", alpha, lambda x: x >= 0, ">= 0")
    require("same_word_ratio", beta, lambda x: x > 0, "> 0")
    check_sizes(big_t, v)
    check_topics_per_doc(tau, big_t)
    f = masking_fractions(p_m=p_m, p_c=p_c, p_r=p_r)
    outside = f.random / (big_t * v)
    document = _Document(
        ValueMatrix(w0, same, different, word), big_t, v, tau, f.mask, f.true / (tau * v) + outside, outside
    )  # fmt: skip
    inner = document.word_query(alpha, beta, document.inside, (tau - 1, big_t - tau))
    outer = document.word_query(alpha, beta, document.outside, (tau, big_t - tau - 1))
    masked = document.mask_query(beta)
    random_inside, random_outside = p_r * tau / big_t, p_r * (1 - tau / big_t)
    # A target is the shown word where it was kept, and else uniform on the tau v words of the document.
    uniform_inner = (inner[0][1] + inner[1][0] * inner[1][1] + inner[2][0] * inner[2][1]) / (tau * v)
    return (
        1
        + (1 - p_c - p_r) * (_squares(masked) - 2 * masked[0][1])
        + p_c * (_squares(inner) - 2 * inner[0][1])
        + random_inside * (_squares(inner) - 2 * uniform_inner)
        + random_outside * (_squares(outer) - 2 * outer[2][1])
    )


@dataclass(frozen=True)
class AttentionOptimum:
    """The ratios that minimise the loss, and what they amount to.

    same_topic_ratio, same_word_ratio : alpha >= 0, beta > 0; alpha = 0 is a limit, which a softmax only approaches
    same_topic_mean : s = ((v - 1) alpha + beta) / v
    loss : the loss there
    """

    same_topic_ratio: float
    same_word_ratio: float
    same_topic_mean: float
    loss: float


@result("Appendix D.5", "the best pair of ratios, numerically", chapter="appendix_d_5.ipynb#the-minimiser-on-the-surface")
def attention_optimum(
    value_matrix: ValueMatrix,
    *,
    num_topics: int,
    words_per_topic: int,
    topics_per_doc: int,
    p_m: Value,
    p_c: Value,
    p_r: Value,
) -> AttentionOptimum:
    """The minimiser of ``attention_loss`` over alpha >= 0 and beta > 0, for v >= 2, to rounding.

    L-BFGS with exact gradients from several starts, then Newton's method with 30 digits: valleys can be flat. beta is
    searched between e^-12 and e^16.
    """
    check_type("value_matrix", value_matrix, ValueMatrix)
    sizes = {"num_topics": num_topics, "words_per_topic": words_per_topic, "topics_per_doc": topics_per_doc}
    sizes = {name: check_size(name, x) for name, x in sizes.items()}
    num_topics, words_per_topic, topics_per_doc = sizes.values()
    if words_per_topic == 1:
        raise ValueError("words_per_topic = 1: must be at least 2, or there is no other word of the topic")
    exact = {
        name: sympy.Rational(single(name, x)) for name, x in {**vars(value_matrix), "p_m": p_m, "p_c": p_c, "p_r": p_r}.items()
    }
    w = ValueMatrix(**{name: exact.pop(name) for name in vars(value_matrix)})
    alpha, beta = symbols.alpha, symbols.beta
    loss = attention_loss(w, same_topic_ratio=alpha, same_word_ratio=beta, **sizes, **exact)
    slopes = [sympy.diff(loss, x) for x in (alpha, beta)]
    numeric = sympy.lambdify((alpha, beta), [loss, *slopes], "numpy")

    def objective(at: FloatArray) -> tuple[float, FloatArray]:
        ratios = np.expm1(at[0]), np.exp(at[1])  # linear near alpha = 0, logarithmic far from it
        value, *slope = numeric(*ratios)
        return value, np.array([slope[0] * np.exp(at[0]), slope[1] * ratios[1]])

    tau, word = float(topics_per_doc), float(topics_per_doc * words_per_topic)
    starts = [(1.0, 1.0), (tau, 1.0), (1.0, word), (tau, word)]
    runs = [
        minimize(
            objective,
            [np.log1p(x), np.log(y)],
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, 16), (-12, 16)],
            options={"ftol": 1e-16, "gtol": 1e-14, "maxiter": 1000},
        )
        for x, y in starts
    ]
    best = min(runs, key=lambda run: float(run.fun))
    found = _polished(slopes, float(np.expm1(best.x[0])), float(np.exp(best.x[1])))
    mean = ((words_per_topic - 1) * found[0] + found[1]) / words_per_topic
    at = dict(zip((alpha, beta), map(sympy.Float, found), strict=True))
    return AttentionOptimum(*found, mean, float(loss.subs(at)))


def _polished(slopes: list[Value], alpha: float, beta: float) -> tuple[float, float]:
    """The zero of both slopes next to a point, or on the edge alpha = 0 that of the second one."""
    variables = (symbols.alpha, symbols.beta)
    if alpha > 0:
        zero = sympy.nsolve(slopes, variables, (alpha, beta), prec=30)
        if zero[0] > 0:
            return float(zero[0]), float(zero[1])
    on_edge = slopes[1].subs(variables[0], 0)
    return 0.0, float(sympy.nsolve(on_edge, variables[1], beta, prec=30))
