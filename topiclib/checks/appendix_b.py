"""Checks of the exercises of Appendix B."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from topiclib.checks.base import Answer, as_array, close, expect, register
from topiclib.documents import DocumentSettings, infinite_documents
from topiclib.theory import embedding_dim_loss

Matrix = npt.NDArray[np.float64]
TOL = 1e-4  # answers in single precision are right too


@register("b-absorb-bias")
def absorb_bias(answer: Answer) -> None:
    rng = np.random.default_rng(21)
    for size, m in ((7, 0.24), (5, 0.6)):
        e, b = rng.normal(size=(size, size)), rng.normal(size=size)
        gain = as_array(answer(e, b, m), (size, size), "E'") - e
        expect(
            not close(gain, b[:, None], TOL),
            "all-columns",
            "that is right as x sums to one, but it changes all columns: one is enough, and leaves the words' entries alone.",
        )
        rows_only = close(gain[1:], 0, TOL) and not close(gain[0], 0, TOL)
        expect(not rows_only, "row-not-column", "a row of E is one output; the weight on the token [MASK] is a column.")
        expect(close(gain[:, 1:], 0, TOL), "other-columns", "only the column of [MASK] should change.")
        expect(
            not close(gain[0, 0], 0, TOL) or not close(gain[1:, 0], b[1:] / m, TOL),
            "mask-row-left-out",
            "the bias given here has an entry for [MASK] too, and it must be absorbed as well.",
        )
        scaled = close(gain[:, 0], b, TOL) or close(gain[:, 0], b * m, TOL)
        expect(
            not scaled, "not-divided", "the column is multiplied by m, the entry of x at [MASK]: what must stand in it to give b?"
        )
        x = np.append(m, rng.dirichlet(np.ones(size - 1)) * (1 - m))
        expect(close(gain @ x, b, TOL), "wrong-output", "E' x is not E x + b for a document with the fraction m of [MASK].")


@register("b-possible-constants")
def possible_constants(answer: Answer) -> None:
    def says(u: list[int], wanted: bool, key: str, hint: str, c_2: int = 3) -> None:
        got = as_array(answer(u, c_2, 2, 2), (), "True or False")
        expect(got in (0, 1), "not-a-truth-value", "return True or False.")
        expect(bool(got) == wanted, key, hint)

    says([0, 0, 0, 0, 0], True, "zero-refused", "all constants zero is the simplest possible case: the blocks.")
    says([-3, 1, 1, 1, 1], True, "equal-refused", "equal positive constants, with the right one for [MASK], are possible.")
    hint = "a single constant may be negative: what must not be negative is a squared length."
    says([-3, 3, -1, 1, 1], True, "too-strict" if _accepts(answer, [-3, 2, 0, 1, 1]) else "all-equal", hint)
    says([-3, 2, 1, 1, 0], False, "unequal-means", "row 0 and column 0 hold the same numbers: compare their sums over each topic.")
    says([3, 1, 1, 1, 1], False, "mask-constant", "the constant of [MASK] is not free: row 0 and column 0 hold the same numbers.")
    says([3, -1, -1, -1, -1], False, "sign", "compute the corner E_00 from these constants: can it be a squared length?")
    hint = "when the embedding of [MASK] has length zero, what are its dot products with the words?"
    says([0, 1, -1, 0, 0], False, "mean-zero", hint)
    says([-5, 1, 1, 1, 1], True, "fixed-c-2", "the constant of [MASK] depends on c_2.", c_2=5)


def _accepts(answer: Answer, u: list[int]) -> bool:
    """Whether an answer calls these constants possible, for c_2 = 3 and two topics of two words."""
    return bool(as_array(answer(u, 3, 2, 2), (), "True or False"))


@register("b-unequal-topics")
def unequal_topics(answer: Answer) -> None:
    a = 0.8
    kappas = np.array([0.5, 0.02, 0.1])

    def eigenvalues(l2_coef: float, variances: Matrix = kappas) -> Matrix:
        return as_array(answer(l2_coef, variances, a), variances.shape, "one eigenvalue for each direction")

    expect(
        not close(eigenvalues(0.0), 1, TOL), "no-scale", "without a penalty the parabola's own minimum is the answer: where is it?"
    )
    expect(close(eigenvalues(0.0), 1 / a, TOL), "no-penalty", "without a penalty each eigenvalue minimises its parabola.")
    got = eigenvalues(0.1)
    expect(
        (got > -TOL).all(),
        "negative",
        "E has no negative eigenvalue: what is the best value there when the parabola's minimum is out of reach?",
    )
    expect(
        not close(got, kappas / (kappas + 0.1) / a, TOL),
        "ridge",
        "that is ridge on the value matrix. Here the penalty is linear in the eigenvalue, not quadratic.",
    )
    expect(np.ptp(got) > TOL, "one-threshold", "directions with different variances have different thresholds.")
    kept = got[got > TOL]
    expect(not close(kept, 1 / a, TOL), "hard-threshold", "the penalty also shrinks what survives: where is the derivative zero?")

    def derivative(g: Matrix, l2_coef: float, variances: Matrix) -> Matrix:
        slope: Matrix = 2 * variances * (g - 1 / a) + l2_coef
        return slope

    slopes = derivative(got, 0.1, kappas)[got > TOL]
    expect(not close(slopes, -0.1, TOL), "factor-two", "the derivative of a square has a factor: your slope is off by the penalty.")
    for l2_coef, variances in ((0.1, kappas), (0.03, np.array([0.3, 0.01])), (1.0, np.array([0.2, 0.9, 0.41, 0.05]))):
        g = eigenvalues(l2_coef, variances)
        slope = derivative(g, l2_coef, variances)
        # The minimum over g >= 0: slope zero inside, not negative at the edge.
        inside = np.abs(np.where(g > TOL, slope, 0)).max() < TOL and (slope > -TOL).all() and (g > -TOL).all()
        expect(inside, "not-minimal", "a small change of one eigenvalue would lower the objective.")


@register("b-best-embedding")
def best_embedding(answer: Answer, tokens: str = "columns", mask: int = 0) -> None:
    a = 0.8
    for big_t, v, tau in ((5, 3, 2), (4, 2, 1)):
        documents = infinite_documents(DocumentSettings.theory(topics_per_doc=tau, num_topics=big_t, words_per_topic=v))
        # With Theorem 1's bias the error of E is (E - P/a) x; here for r = 0.1, whatever the rest.
        seen = a * documents + 0.1 / (big_t * v)
        seen[:, 0] = 0.1
        for d in range(1, big_t + 1):
            shape = (d, big_t * v + 1)
            result = answer(d, a, big_t, v)
            hint = "which axis holds the tokens, and which the dimensions?"
            turned = np.shape(result) == (shape if tokens == "rows" else shape[::-1])
            expect(not turned, "tokens-and-dimensions", hint)
            w = as_array(result, shape if tokens == "columns" else shape[::-1], "the embeddings")
            w = w if tokens == "columns" else w.T
            other = w[:, -1 - mask]
            expect(close(w[:, mask], 0) or not close(other, 0), "mask-place", "the zero vector of [MASK] stands at the other end.")
            expect(close(w[:, mask], 0), "mask-not-zero", "the embedding of [MASK] is the zero vector.")
            w = w if mask == 0 else np.roll(w, 1, axis=1)
            gram = w.T @ w
            words = np.hstack([np.zeros((len(seen), 1)), seen[:, 1:]])
            found = float(((words @ gram - words / a) ** 2).sum(axis=1).mean())
            expected = float(embedding_dim_loss(embedding_dim=d, num_topics=big_t, words_per_topic=v, topics_per_doc=tau))
            if abs(found - expected) < TOL * 0.01:
                continue
            values = np.linalg.eigvalsh(gram)[::-1][:d]
            expect(
                not close(values, v / a, TOL),
                "not-divided-by-v",
                "a direction of unit length spreads over all its words: yours is too long.",
            )
            expect(
                not close(values, 1 / a**2, TOL),
                "no-square-root",
                "E = W_E^T W_E squares the entries of W_E: take the root of what E should have.",
            )
            hint = "what E keeps it should keep perfectly: its eigenvalues must be 1/a on the directions kept."
            expect(close(values, 1 / a, TOL), "not-a-projection", hint)
            ones = np.append(0, np.ones(big_t * v)) / (big_t * v) ** 0.5
            kept = float(ones @ gram @ ones) * a
            expect(kept > TOL, "no-mean", "you keep differences between topics only; the mean of all documents is worth more.")
            expect(close(kept, 1, TOL), "topics-left-out", "leaving whole topics out loses a part of the mean as well.")
            expect(False, "inside-topics", "keep only directions that have one value for all words of a topic.")
