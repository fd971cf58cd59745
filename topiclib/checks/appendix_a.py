"""Checks of the exercises of Appendix A."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from topiclib import theory
from topiclib.checks.base import Answer, as_array, close, expect, register
from topiclib.documents import DocumentSettings, infinite_documents
from topiclib.masking import MaskingSettings, masked_distribution
from topiclib.vocabulary import Relation, Vocabulary

Matrix = npt.NDArray[np.float64]
TOL = 1e-4  # answers in single precision are right too


def _minimiser(u: Matrix, num_topics: int, words_per_topic: int, masking: MaskingSettings, rng: np.random.Generator) -> Matrix:
    """A matrix with Lemma 1's block sums for these constants, scattered inside the blocks; (V, V)."""
    w = np.zeros((len(u), len(u)))
    for i, u_i in enumerate(u):
        row = (theory.lemma1 if i else theory.lemma1_mask_row)(
            u=u_i, num_topics=num_topics, words_per_topic=words_per_topic, topics_per_doc=1,
            p_m=masking.p_m, p_c=masking.p_c, p_r=masking.p_r,
        )  # fmt: skip
        spread = rng.normal(size=(num_topics, words_per_topic))
        spread -= spread.mean(axis=1, keepdims=True)
        sums = np.full(num_topics, row.other_topic)
        if i:
            sums[(i - 1) // words_per_topic] = row.own_topic
        w[i, 0] = row.mask_column
        w[i, 1:] = (spread + sums[:, None] / words_per_topic).ravel()
    return w


@register("a-free-constants")
def free_constants(answer: Answer) -> None:
    rng = np.random.default_rng(11)
    for big_t, v in ((3, 2), (4, 3)):
        u = rng.normal(size=big_t * v + 1)
        w = _minimiser(u, big_t, v, MaskingSettings(0.4, 0.1, 0.3), rng)
        got = as_array(answer(w, big_t, v), u.shape, "one constant for each token")
        sums = w[:, 1:].reshape(-1, big_t, v).sum(axis=2)
        words = slice(1, None)
        expect(
            not close(got[words], u[words] * v, TOL), "not-divided", "a sum over another topic has v words in it; u_i is per word."
        )
        expect(
            not close(got[words], sums[words].mean(axis=1) / v, TOL),
            "all-topics",
            "the row's own topic carries the topic structure too: leave it out of the average.",
        )
        expect(
            not close(got[1 : v + 1], sums[1 : v + 1, 0] / v, TOL),
            "own-topic",
            "some rows are right, but where the topic that you sum is the word's own, the sum is larger by 1/a.",
        )
        columns = w.T[:, 1:].reshape(-1, big_t, v).sum(axis=2)
        expect(not close(got[-1], columns[-1, 0] / v, TOL), "columns", "Lemma 1 sums along a row of W; yours sums down a column.")
        single = any(close(got[-1], entry, TOL) for entry in w[-1, 1 : 1 + v * (big_t - 1)])
        expect(not single, "single-entry", "single entries are free: only the sum over a topic is fixed.")
        expect(close(got[words], u[words], TOL), "wrong-constants", "for a word i, the words of another topic sum to u_i v.")
        expect(close(got[0], u[0], TOL), "mask-row", "row 0 has a constant too: every topic's sum gives it.")


@register("a-row-errors")
def row_errors(answer: Answer) -> None:
    rng = np.random.default_rng(12)
    for big_t, v, tau, own in ((4, 3, 2, 2), (5, 2, 1, 5), (3, 4, 2, 1)):
        masking = MaskingSettings(0.4, 0.1, 0.3)
        m, a, r = masking.mask_fraction, masking.true_fraction, masking.random_fraction
        documents = infinite_documents(DocumentSettings.theory(topics_per_doc=tau, num_topics=big_t, words_per_topic=v))
        seen, target = masked_distribution(documents, masking), documents[:, own * v]

        def errors(
            mask: float, sums: Matrix, own: int = own, tau: int = tau, v: int = v, m: float = m, a: float = a, r: float = r,
            shape: tuple[int, ...] = target.shape,
        ) -> Matrix:  # fmt: skip
            return as_array(answer(mask, sums, own, tau, v, m, a, r), shape, "one error for each document")

        nothing = errors(0.0, np.zeros(big_t))
        expect((nothing <= TOL).all(), "sign-lost", "a row of zeros predicts too little where the topic is present: keep the sign.")
        hint = "the target is p_w(i), which is zero in a document without the topic of i."
        expect(not close(nothing, -target.max(), TOL) or close(target, target.max()), "target-everywhere", hint)
        expect(
            not close(nothing, -target * v, TOL) or v == 1,
            "topic-not-word",
            "a topic's share of the document is spread over its v words; the target is the probability of one of them.",
        )
        expect(close(nothing, -target, TOL), "wrong-target", "for a row of zeros the error is minus the target.")
        mask = errors(1.0, np.zeros(big_t)) + target
        expect(not close(mask, 0, TOL), "no-mask", "the entry at [MASK] counts too: how often does [MASK] show?")
        expect(close(mask, m, TOL), "wrong-mask", "[MASK] shows at the same fraction of the positions in every document.")
        sums = rng.normal(size=big_t)
        got = errors(0.0, sums) + target
        right = seen[:, 1:] @ np.repeat(sums / v, v)
        random = r * sums.sum() / (big_t * v)
        expect(
            not close(got, right - random, TOL),
            "no-random-words",
            "random words show too, and of every topic, also of those that are not in the document.",
        )
        expect(
            not close(got, (right - random) / a + random, TOL),
            "no-true-fraction",
            "not every position shows the document's own word: some are hidden, some are replaced.",
        )
        expect(
            close(got, right, TOL),
            "wrong-prediction",
            "each word of topic t shows with its own probability; weigh the block sums by it.",
        )


@register("a-without-mask-column")
def without_mask_column(answer: Answer) -> None:
    for (p_m, p_c, p_r), big_t, v in (((0.4, 0.1, 0.3), 3, 2), ((0.15, 0.1, 0.1), 4, 3)):
        masking, size = MaskingSettings(p_m, p_c, p_r), big_t * v + 1
        w = as_array(answer(p_m, p_c, p_r, big_t, v), (size, size), "W")
        expect(close(w[:, 0], 0), "mask-column-used", "column 0 must be zero: the words have to take the constant off themselves.")
        expect(close(w[0], 0), "mask-row-used", "row 0 must be zero: nothing predicts [MASK].")
        relations = Vocabulary(big_t, v).relations()
        same = np.isin(relations, (Relation.SAME_WORD, Relation.SAME_TOPIC))[1:, 1:]
        words = w[1:, 1:]
        flat = np.ptp(words[same]) < 1e-9 and np.ptp(words[~same]) < 1e-9
        expect(flat, "not-constant", "the words' entries have two values only: same topic and different topics.")
        documents = infinite_documents(DocumentSettings.theory(topics_per_doc=2, num_topics=big_t, words_per_topic=v))
        seen = masked_distribution(documents, masking)
        error = (seen @ w.T - documents)[:, 1:]
        gap, a, m, r = words[0, 0] - words[0, -1], masking.true_fraction, masking.mask_fraction, masking.random_fraction
        expect(
            not close(gap, 1 / a),
            "not-divided-by-v",
            "it is the sum over a topic that exceeds another's by 1/a, not the single entry.",
        )
        expect(close(gap * v, 1 / a), "wrong-gap", "own topic's sum minus another topic's must be as in point 3 of Lemma 1.")
        share = r / (a * big_t * v)
        expect(
            not close(error, share),
            "not-denoised",
            "every prediction is too large by the same amount: what the random words put on.",
        )
        expect(
            not close(error, share * m),
            "mask-share-forgotten",
            "almost: the constant is taken off at the positions that show words, and not all positions do.",
        )
        expect(not close(error, 2 * share), "sign", "your constant adds what it should take off.")
        expect(close(error, 0), "not-a-minimiser", "its predictions differ from p_w on some documents.")


def _null_space(seen: Matrix) -> Matrix:
    """Orthonormal columns of inputs that no document has."""
    _, singular, rows = np.linalg.svd(seen)
    return rows[(singular > 1e-9).sum() :].T


@register("a-nearest-minimiser")
def nearest_minimiser(answer: Answer, lines: str = "rows", asked: str = "the end") -> None:
    rng = np.random.default_rng(13)
    for big_t, v, tau in ((3, 2, 1), (4, 3, 2)):
        masking, size = MaskingSettings(0.4, 0.1, 0.3), big_t * v + 1
        documents = infinite_documents(DocumentSettings.theory(topics_per_doc=tau, num_topics=big_t, words_per_topic=v))
        seen = masked_distribution(documents, masking)
        moment = seen.T @ seen / len(seen)
        best = _minimiser(rng.normal(size=size), big_t, v, masking, rng)
        w = rng.normal(size=(size, size))
        turned = (w, best) if lines == "rows" else (w.T, best.T)
        got = as_array(answer(*turned, moment), (size, size), "the matrix asked for")
        got = got if lines == "rows" else got.T
        end = got if asked == "the end" else got + w
        null = _null_space(seen)
        # An end has w in the silent directions, a move has nothing there.
        hint = "one of start, end and the way between them is asked for: is it the end that you return, or the way?"
        mistaken = got + w if asked == "the end" else got
        other = close(seen @ mistaken.T, documents, TOL) and close(mistaken @ null, w @ null, TOL)
        expect(not other, "end-or-move", hint)
        got = end
        fits = close(seen @ got.T, documents, TOL)
        columns = close(seen @ got, seen @ best, TOL)
        expect(
            fits or not columns,
            "other-side",
            f"the null space is one of inputs, so it acts on the {lines} of W: on which side of W must a projection stand?",
        )
        expect(fits, "not-a-minimiser", "it does not predict every document: E[x x^T] applied to it and to `best` must agree.")
        kept, wanted = got @ null, w @ null
        ignored = close(kept, best @ null, TOL) or close(kept, 0, TOL)
        expect(not ignored, "ignores-w", "it is a minimiser, but w has no part in it: what of w can stay without cost?")
        expect(
            close(kept, wanted, TOL),
            "not-nearest",
            "it is a minimiser, but another is nearer: the difference to w must have no part in the null space.",
        )
