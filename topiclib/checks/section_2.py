"""Checks of the exercises of Section 2."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from topiclib.checks.base import Answer, Misconception, as_array, close, expect, register
from topiclib.metrics import block_contrast as measure
from topiclib.model import WEIGHTS
from topiclib.vocabulary import Relation, Vocabulary


@register("2-trained-parts")
def trained_parts(answer: Answer) -> None:
    found = {}
    for setting in ("embeddings", "value matrix", "attention", "everything"):
        parts = answer(setting)
        if isinstance(parts, str):
            parts = {parts}
        if not isinstance(parts, Iterable) or any(p not in WEIGHTS for p in parts):
            raise Misconception("wrong-type", f"return a set of names from {', '.join(WEIGHTS)}; you returned {parts!r}.")
        found[setting] = set(parts)
    expect(found["everything"], "frozen-for-trained", "you seem to name the parts that are frozen; name those that are trained.")
    expect(len(found["everything"]) == len(WEIGHTS), "everything", "with nothing frozen, every matrix is trained.")
    sizes = {setting: len(parts) for setting, parts in found.items()}
    expect("W_V" not in found["embeddings"], "value-with-embeddings", "in Section 2.1 the value matrix is set to the identity.")
    expect("W_E" in found["embeddings"] and sizes["embeddings"] == 1, "embeddings", "in Section 2.1 one matrix only is trained.")
    one_hot = "W_E" not in found["value matrix"] | found["attention"]
    expect(one_hot, "one-hot", "in Section 2.2 the embeddings are one-hot and frozen, in both stages.")
    apart = not found["value matrix"] & found["attention"]
    expect(apart, "stages-mixed", "the two stages of Section 2.2 train different matrices; yours share one.")
    expect("W_V" in found["value matrix"], "stages-swapped", "Stage 1 trains the matrix that Theorem 2 describes.")
    keys_queries = found["attention"] >= {"W_K", "W_Q"}
    expect(keys_queries, "half-the-attention", "the attention weights are made from two matrices, both trained: see equation 5.")


@register("2-block-contrast")
def block_contrast(answer: Answer) -> None:
    tol = 1e-4  # an answer in single precision is right too
    vocabulary = Vocabulary(3, 4)
    rng = np.random.default_rng(2)
    noise = rng.normal(size=(vocabulary.size, vocabulary.size))

    def of(matrix: np.ndarray, words_per_topic: int = 4) -> float:
        return float(as_array(answer(matrix, words_per_topic), (), "the contrast as a single number"))

    value = of(noise)
    diagonal = noise + 5 * np.diag(np.arange(vocabulary.size) > 0)
    expect(close(of(diagonal), value, tol), "diagonal-included", "a change of the diagonal must change nothing: leave i = j out.")
    edge = noise.copy()
    edge[0, :] += 10
    edge[:, 0] += 5
    hint = "a change of row and column 0 must change nothing: [MASK] is no word."
    expect(close(of(edge), value, tol), "mask-included", hint)
    hint = "adding a constant to all entries must change nothing: compare means."
    expect(close(of(noise + 5), value, tol), "sums-not-means", hint)
    relations = vocabulary.relations()
    same, different = relations == Relation.SAME_TOPIC, relations == Relation.DIFFERENT_TOPIC
    blocks = (same | (relations == Relation.SAME_WORD)).astype(float)
    expect(of(blocks) >= 0, "sign-reversed", "same topic minus different topics, in this order.")
    exact = close(of(blocks), 1, tol)
    expect(exact, "blocks-shifted", "your blocks are not the topics': words 1 to v are topic 1, and index 0 is [MASK].")
    apart = np.abs(np.subtract.outer(np.arange(vocabulary.size), np.arange(vocabulary.size))) > 1
    for pairs in (same, different):
        hint = "all pairs count, not only those of neighbouring words."
        expect(not close(of(noise + (pairs & apart)), value, tol), "neighbours-only", hint)
        for half in (np.triu(pairs), np.tril(pairs)):
            hint = "the matrix need not be symmetric: a pair stands in it twice, at (i, j) and at (j, i), and you use one of them."
            expect(not close(of(noise + half), value, tol), "one-triangle", hint)
    expect(close(value, measure(noise, vocabulary).contrast, tol), "wrong-value", "the means are not over the right pairs.")
    for other in (Vocabulary(5, 6), Vocabulary(6, 2)):
        matrix = rng.normal(size=(other.size, other.size))
        hint = "it fails for another number of topics or of words: neither is fixed."
        found = of(matrix, other.words_per_topic)
        expect(close(found, measure(matrix, other).contrast, tol), "size-fixed", hint)


@register("2-same-topic-share")
def same_topic_share(answer: Answer) -> None:
    rng = np.random.default_rng(5)
    tokens = np.array([3, 0, 5, 1, 4, 0, 2, 6, 3, 8])  # v = 3: topics 1, -, 2, 1, 2, -, 1, 2, 1, 3
    weights = rng.dirichlet(np.ones(len(tokens)), size=len(tokens)).T

    def of(a: np.ndarray, j: int) -> float:
        return float(as_array(answer(a.copy(), tokens.copy(), 3, j), (), "the share as a single number"))

    other_columns = weights.copy()
    other_columns[:, 1:] = rng.dirichlet(np.ones(len(tokens)), size=len(tokens) - 1).T
    moved = not close(of(weights, 0), of(other_columns, 0))
    expect(not moved, "row-for-column", "the weights that position j gives are in column j; other columns must not matter.")
    peaked = np.zeros_like(weights)
    peaked[3] = 1.0  # everybody looks at position 3, which holds a word of the same topic as position 0
    uniform = np.full_like(weights, 1 / len(tokens))
    counted = close(of(peaked, 0), of(uniform, 0))
    expect(not counted, "positions-counted", "add up attention weights; you count positions, whatever their weight.")
    itself = np.zeros_like(weights)
    itself[0] = 1.0
    nothing = close(of(itself, 0), 0)
    expect(not nothing, "itself-left-out", "position j itself is of its own topic: count its weight too.")
    expect(close(of(itself, 0), 1), "mean-for-total", "with all the weight on position j the share must be 1: add, do not average.")
    for other in (1, 2, 4, 5, 7, 9):
        elsewhere = np.zeros_like(weights)
        elsewhere[other] = 1.0
        hint = "a weight on [MASK] or on another topic was counted: word i belongs to topic ceil(i / v)."
        expect(close(of(elsewhere, 0), 0), "topics-shifted", hint)
    inside = all(close(of(np.eye(len(tokens))[:, [k] * len(tokens)], 0), 1) for k in (0, 3, 6, 8))
    expect(inside, "topics-shifted", "a word of the same topic was not counted: word i belongs to topic ceil(i / v).")
    at_three = np.zeros_like(weights)
    at_three[2, 2] = at_three[3, 1] = 1.0  # position 2 looks at itself only, position 1 at another topic
    expect(close(of(at_three, 2), 1), "position-fixed", "the position that looks is j, which need not be the first.")
    longer = np.array([7, 8, 5, 0, 9, 10, 6])  # v = 5: topics 2, 2, 1, -, 2, 2, 2
    for k, own in enumerate((1, 1, 0, 0, 1, 1, 1)):
        looks = np.zeros((7, 7))
        looks[k] = 1.0
        share = float(as_array(answer(looks, longer, 5, 5), (), "the share as a single number"))
        expect(close(share, own), "size-fixed", "it fails for another words_per_topic: topics have v words, an argument.")


@register("2-embedding-from-value")
def embedding_from_value(answer: Answer) -> None:
    vocabulary = Vocabulary(2, 3)
    labels = vocabulary.topic_labels()
    blocks = (labels[:, None] == labels) * np.where(labels == 0, 0.0, np.where(labels == 1, 2.0, 0.5))
    tilt = np.random.default_rng(6).normal(size=(vocabulary.size, 2))
    for target in (blocks, blocks + tilt @ tilt.T):
        w_e = as_array(answer(target.copy()), target.shape, "W_E")
        gram = w_e.T @ w_e
        if close(gram, target, 1e-5):
            continue
        expect(not close(w_e @ w_e.T, target, 1e-5), "transposed", "your W_E W_E^T is M; the decoder needs W_E^T W_E (equation 6).")
        expect(not close(gram, target @ target), "no-root", "your W_E^T W_E is M squared: something needs a square root.")
        expect(not close(w_e**2, np.abs(target)), "entrywise-root", "the root of each entry is not a root of the matrix.")
        expect(not close(gram, target, 1e-2), "approximate", "close, but the predictions must be the same up to rounding.")
        raise Misconception("wrong-gram", "W_E^T W_E is not M, so the predictions differ.")


@register("2-nearest-embedding")
def nearest_embedding(answer: Answer, asked: str = "embedding") -> None:
    rng = np.random.default_rng(25)
    size, d, near = 6, 3, 1e-4  # answers in single precision are right too
    base, turn = rng.normal(size=(size, size)), np.linalg.qr(rng.normal(size=(size, size)))[0]
    M = turn @ np.diag([3.0, 2.0, 1.2, 0.7, -2.5, -0.4]) @ turn.T + (base - base.T)

    def told(matrix: np.ndarray) -> float:
        """The squared distance that is told, or that of the embeddings or inner products."""
        shape = {"embedding": (d, size), "gram": (size, size)}.get(asked, ())
        what = {"embedding": "the embeddings, d rows", "gram": "the matrix of inner products"}.get(asked, "one number")
        found = as_array(answer(matrix, d), shape, what)
        if asked == "distance":
            return float(found)
        gram = found.T @ found if asked == "embedding" else found
        expect(abs(gram).max() > 1e-6, "all-zero", "all inner products are zero: can no embedding be nearer?")
        expect(close(gram, gram.T, near), "not-inner-products", "inner products are symmetric; your matrix is not.")
        values = np.linalg.eigvalsh(gram)
        # A matrix that keeps the size of negative eigenvalues is positive too, so only what cannot be is refused here.
        hint = "a matrix of inner products has no negative eigenvalue, and its rank is at most the dimension."
        expect(values[0] > -1e-3 and abs(values[: size - d]).max() < 1e-3, "not-inner-products", hint)
        return float(((gram - matrix) ** 2).sum())

    def of(symmetric: np.ndarray, magnitude: bool = False) -> float:
        """The distance, when the best is taken for another symmetric matrix."""
        values, vectors = np.linalg.eigh(symmetric)
        values = np.abs(values) if magnitude else values.clip(0)
        keep = values.argsort()[size - d :]
        gram = (vectors[:, keep] * values[keep]) @ vectors[:, keep].T
        return float(((gram - M) ** 2).sum())

    mean, found = (M + M.T) / 2, told(M)
    triangles = [np.tril(M) + np.tril(M, -1).T, np.triu(M) + np.triu(M, 1).T]
    right = of(mean)
    hint = "inner products are symmetric; which symmetric matrix is nearest to one that is not? A triangle of it is not."
    for key, triangle in zip(("not-symmetrised", "upper-triangle"), triangles, strict=True):
        expect(close(found, right, near) or not close(found, of(triangle), near), key, hint)
    expect(close(found, right, near) or not close(found, of(M + M.T), near), "sum-not-mean", "the symmetric part is a mean of two.")
    hint = "a negative eigenvalue cannot be imitated at all: inner products of a vector with itself are not negative."
    expect(close(found, right, near) or not close(found, of(mean, magnitude=True), near), "negative-kept", hint)
    _, singular, across = np.linalg.svd(M)
    gram = (across[:d].T * singular[:d]) @ across[:d]
    by_singular = float(((gram - M) ** 2).sum())
    hint = "singular values are for two different factors; here both factors are the same embedding."
    expect(close(found, right, near) or not close(found, by_singular, near), "singular-values", hint)
    expect(close(found, right, near), "not-nearest", "there are embeddings whose inner products are nearer.")
