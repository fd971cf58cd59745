"""Checks of the exercises of Section 5."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from topiclib.checks.base import Answer, as_array, close, expect, register

Array = npt.NDArray[np.float64]
TOL = 1e-4  # answers in single precision are right too


@register("5-word-counts")
def word_counts(answer: Answer) -> None:
    rng = np.random.default_rng(50)
    for words, length in ((6, 9), (4, 5)):
        w_v = rng.normal(size=(words + 1, words + 1))
        tokens = rng.integers(0, words + 1, size=length)
        tokens[:2] = 0, words
        f = as_array(answer(tokens, w_v), (words + 1,), "one prediction for each token of the vocabulary")
        counts = np.bincount(tokens, minlength=words + 1)
        expect(
            not close(f, w_v @ counts, TOL),
            "counts-not-shares",
            "attention weights sum to one: your prediction grows when the document is repeated.",
        )
        hint = "the columns of W_V belong to the tokens that are seen, the rows to the words that are predicted."
        expect(not close(f, w_v.T @ counts / length, TOL), "transposed", hint)
        no_mask = np.where(np.arange(words + 1) > 0, counts, 0)
        hint = "a position that shows [MASK] gets attention like any other: do not leave it out."
        left_out = [w_v @ no_mask / length, w_v @ no_mask / no_mask.sum()]
        expect(not any(close(f, wrong, TOL) for wrong in left_out), "mask-left-out", hint)
        seen = (counts > 0) / (counts > 0).sum()
        hint = "a word that occurs twice gets two shares of the attention."
        expect(not close(f, w_v @ seen, TOL), "repetitions-ignored", hint)
        hint = "with uniform attention the prediction is the mean of one column of W_V for each position."
        expect(close(f, w_v @ (counts / length), TOL), "wrong-prediction", hint)


@register("5-posterior")
def posterior(answer: Answer) -> None:
    p_c, p_r = 0.3, 0.2
    for (num_topics, v), topics in (((4, 3), [2, 4]), ((3, 2), [1, 3])):
        size = num_topics * v + 1
        words = np.arange(1, size)
        absent = int(words[~np.isin(-(-words // v), topics)][0])
        present = int(words[np.isin(-(-words // v), topics)][1])

        def run(token: int, topics: list[int] = topics, v: int = v, num_topics: int = num_topics, size: int = size) -> Array:
            q = as_array(answer(token, topics, num_topics, v, p_c, p_r), (size,), "one probability for each token, [MASK] first")
            expect(close(q[0], 0, TOL), "mask-predicted", "the hidden token is a word: [MASK] is never the answer.")
            hint = "probabilities sum to one over the words that the position may hide: did you divide by the sum?"
            expect(close(q.sum(), 1, TOL), "not-normalised", hint)
            outside = ~np.isin(-(-np.arange(1, size) // v), topics)
            hint = "a word of a topic that the document lacks was never there, even if the position shows it."
            expect(close(q[1:][outside], 0, TOL), "absent-topics", hint)
            return q

        flat = np.concatenate([[0.0], np.isin(-(-words // v), topics) / (len(topics) * v)])
        hint = "[MASK] may hide any word of the document's topics, each as likely."
        expect(close(run(0), flat, TOL), "mask-not-flat", hint)
        hint = "a word of another topic is a random one: it says no more than [MASK] does."
        expect(close(run(absent), flat, TOL), "random-not-flat", hint)
        q = run(present)
        hint = "a word of the document's topics may have been kept: the shown word is more likely than the others."
        expect(not close(q, flat, TOL), "kept-ignored", hint)
        hint = "a word of the document's topics may still be a random one, which hides any word of the topics."
        expect(not close(q[present], 1, TOL), "always-kept", hint)
        others = np.delete(q, present)[np.delete(flat, present) > 0]
        hint = "if the shown word was not kept, every word of the topics is as likely as any other."
        expect(close(others, others[0], TOL) and others[0] > 0, "others-uneven", hint)
        # How much likelier the shown word is than another: of all ways, only one is its own.
        advantage = float(q[present] / others[0]) - 1
        hint = "a random word is one of all the words of the vocabulary, not of the document's topics only."
        expect(not close(advantage * p_r, p_c * len(topics) * v, TOL), "random-within-topics", hint)
        hint = "p_c is the probability to keep a word before anything is seen: a position that shows a word does not show [MASK]."
        expect(not close(q[present], p_c + (1 - p_c) / (len(topics) * v), TOL), "p-c-as-posterior", hint)
        hint = "list the ways in which the position comes to show this word, with the probability of each, and compare them."
        expect(close(advantage * p_r, p_c * num_topics * v, TOL), "wrong-odds", hint)


@register("5-topicwise")
def topicwise(answer: Answer) -> None:
    rng = np.random.default_rng(52)
    for num_topics, v in ((3, 4), (5, 2)):
        q = rng.dirichlet(np.full(num_topics * v, 0.4))
        result = answer(q, v)
        hint = "return two things: the prediction, and its expected loss."
        expect(isinstance(result, (tuple, list)) and len(result) == 2, "not-a-pair", hint)
        p = as_array(result[0], q.shape, "one prediction for each word")
        loss = float(as_array(result[1], (), "one number, the expected loss"))
        blocks = p.reshape(num_topics, v)
        within = "your prediction tells words of one topic apart: they must all get the same number."
        expect(close(blocks, blocks[:, :1], TOL), "tells-words-apart", within)
        topics = q.reshape(num_topics, v).sum(axis=1)
        hint = "each word gets its share of its topic's probability, not the whole of it."
        expect(not close(blocks[:, 0], topics, TOL), "topic-probability-repeated", hint)
        hint = "topics may differ: only the words of one topic must be treated alike."
        expect(not close(p, 1 / len(q), TOL), "one-number-for-all", hint)
        hint = "is this the best of all predictions that are constant within topics? Set the derivative of the loss to zero."
        expect(close(blocks[:, 0] * v, topics, TOL), "not-the-best", hint)
        right = float(((np.eye(len(q)) - p) ** 2).sum(axis=1) @ q)
        hint = "the target is one word, drawn with the probabilities: compare with its one-hot vector, not with the probabilities."
        expect(not close(loss, ((p - q) ** 2).sum(), TOL), "distance-to-probabilities", hint)
        expect(
            not close(loss, 1 - (q**2).sum(), TOL),
            "loss-of-another",
            "this is the loss of the best prediction without restriction.",
        )
        expect(close(loss, right, TOL), "wrong-loss", "average the squared distance to the hidden word's one-hot vector.")


@register("5-best-shares")
def best_shares(answer: Answer, mask: str = "free") -> None:
    rng = np.random.default_rng(73)
    w_v, q = rng.normal(size=(8, 8)), np.array([0, 0.4, 0.1, 0.1, 0.05, 0.3, 0.05, 0.0])
    w_v[:, 0] += 0.6 * q  # so that [MASK] is worth something
    counts = np.array([3, 2, 1, 4, 2, 0, 5, 0])

    def run(w: Array, c: Array, of: Array) -> Array:
        return as_array(answer(w, c, of), c.shape, "the shares")

    def held(c: Array) -> float | None:
        return {"none": 0.0, "uniform": float(c[0] / c.sum())}.get(mask)

    def movable(c: Array) -> Array:
        return np.array([t for t in np.flatnonzero(c) if t or held(c) is None])

    def pulls(w: Array, y: Array, of: Array) -> Array:
        """How much the loss falls for each unit of share that a token gets."""
        result: Array = -2 * w.T @ (w @ y - of)
        return result

    def is_best(w: Array, y: Array, c: Array, of: Array) -> bool:
        pull, free = pulls(w, y, of), movable(c)
        served = free[y[free] > 1e-3]
        return len(served) > 0 and bool(pull[free].max() - pull[served].min() < 1e-2)

    y = run(w_v, counts, q)
    expect((y > -TOL).all(), "negative-shares", "a share is not negative: what does softmax never give?")
    expect(close(y.sum(), 1, 1e-3), "not-shares", "shares sum to one.")
    expect(close(y[counts == 0], 0, TOL), "absent-tokens", "a token that the document lacks cannot be looked at.")
    rule = held(counts)
    hint = "read again what the shares must fulfil for [MASK]."
    expect(rule is None or close(y[0], rule, TOL), "mask-rule", hint)
    start, free = np.zeros(8), movable(counts)
    start[0] = rule or 0.0
    rest = 1 - start[0]
    hint = "uniform attention is where stage 2 begins; can some share be moved with profit?"
    flat = start + rest * counts * np.isin(range(8), free) / counts[free].sum()
    expect(not close(y, flat, TOL), "not-moved", hint)
    hint = "the best single token is not the best mixture: try to give a little to another."
    expect(y[free].max() < rest - TOL, "one-token-only", hint)
    likely = start + rest * q * np.isin(range(8), free) / q[free].sum()
    hint = "a token's share need not be its word's probability: the value matrix stands in between."
    expect(not close(y, likely, 1e-3), "likely-tokens", hint)
    rough = np.linalg.lstsq(w_v[:, free], q - w_v @ start, rcond=None)[0].clip(0)
    cut = start.copy()
    cut[free] = rest * rough / rough.sum()
    hint = "solving without the conditions and mending the result is not the same as solving with them."
    expect(not close(y, cut, 1e-3), "clipped", hint)
    hint = "the token that is seen is the column of the value matrix, the predicted word the row."
    expect(is_best(w_v, y, counts, q) or not is_best(w_v.T, y, counts, q), "transposed", hint)
    hint = "moving a little share from one token to another lowers the loss."
    expect(is_best(w_v, y, counts, q), "not-best", hint)
    for words in (4, 6, 9):
        w, c, of = rng.normal(size=(words + 1, words + 1)), np.zeros(words + 1, dtype=int), rng.dirichlet(np.ones(words + 1))
        c[: min(words, 7)] = rng.integers(1, 6, size=min(words, 7))
        w[:, 0] += of
        z = run(w, c, of)
        expect((z > -TOL).all(), "negative-shares", "in another document some of your shares are negative.")
        expect(close(z.sum(), 1, 1e-3), "not-shares", "in another document your shares do not sum to one.")
        rule = held(c)
        kept = rule is None or close(z[0], rule, TOL)
        expect(kept and close(z[c == 0], 0, TOL) and is_best(w, z, c, of), "not-best", "right for one document, wrong for another.")
