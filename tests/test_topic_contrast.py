"""The ratios of Table 1 against double loops over pairs, and their intervals against simulations with a known ratio."""

import dataclasses
import warnings
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from topiclib.attention_pairs import AttentionPairs
from topiclib.topic_contrast import (
    Contrast,
    attention_contrast,
    attention_of_pairs,
    embedding_contrast,
    pair_mean,
    similarities,
    top_cooccurring,
)
from topiclib.topics import TopicWords, shuffled

W = 24
"""Content words, of which topics keep some."""


def one_topic_each(topics: int = 4, size: int = 4) -> TopicWords:
    """Topics of ``size`` words and less, every second of the content words."""
    member = np.kron(np.eye(topics, dtype=int), np.ones(size, int)).astype(bool)
    member[0, 0] = False
    return TopicWords(np.arange(1, topics * size), member[:, 1:])


def several_topics(topics: int = 4, words: int = 15) -> TopicWords:
    """Words that stand for one, two or three topics."""
    rng = np.random.default_rng(3)
    member = np.zeros((topics, words), bool)
    for word in range(words):
        member[rng.choice(topics, 1 + word % 3, replace=False), word] = True
    return TopicWords(np.sort(rng.choice(W, words, replace=False)), member, True)


both = pytest.mark.parametrize("make", [one_topic_each, several_topics])


def slow_embedding(vectors: np.ndarray, topics: TopicWords, kind: str) -> tuple[float, float]:
    """Means over same-topic and different-topic pairs: topic by topic, word by word."""
    same, different = [], []
    places = [np.flatnonzero(row) for row in topics.member]
    for t, first in enumerate(places):
        for u, second in enumerate(places):
            for i in first:
                for j in second:
                    value = vectors[i] @ vectors[j]
                    if kind == "cosine":
                        value /= np.sqrt((vectors[i] @ vectors[i]) * (vectors[j] @ vectors[j]))
                    if t == u and i != j:
                        same.append(value)
                    if t != u and not (topics.member[:, i] & topics.member[:, j]).any():
                        different.append(value)
    return float(np.mean(same)), float(np.mean(different))


@both
@pytest.mark.parametrize("kind", ["cosine", "dot"])
def test_embeddings_against_a_slow_loop(kind: str, make: Callable[[], TopicWords]) -> None:
    topics = make()
    vectors = np.random.default_rng(0).normal(0.3, 1, (len(topics.words), 6))
    found = embedding_contrast(vectors, topics, 0, kind=kind)
    same, different = slow_embedding(vectors, topics, kind)
    assert (found.same, found.different) == pytest.approx((same, different), rel=1e-9)
    assert found.ratio == pytest.approx(same / different, rel=1e-9)


def test_embeddings_of_whole_numbers_and_of_torchs_kind() -> None:
    topics = one_topic_each()
    vectors = np.random.default_rng(0).integers(1, 9, (len(topics.words), 6))
    a = embedding_contrast(vectors, topics, 0)
    assert a == embedding_contrast(vectors.astype(np.float32), topics, 0)
    assert isinstance(a, Contrast)


def some_pairs(seed: int = 0, number: int = 4000, documents: int = 12) -> tuple[AttentionPairs, np.ndarray]:
    rng = np.random.default_rng(seed)
    query, key = rng.integers(0, W, (2, number))
    key = np.where(query == key, (key + 1) % W, key)
    document = np.sort(rng.integers(0, documents, number))
    nothing = np.zeros((number, 1), np.float16)
    length = np.full(documents, 50, np.int32)
    return AttentionPairs(document, query, key, np.ones(number, np.int16), nothing, length, W), rng.gamma(2, 0.5, number)


def slow_attention(pairs: AttentionPairs, values: np.ndarray, topics: TopicWords) -> tuple[float, float]:
    place = {int(word): n for n, word in enumerate(topics.words)}
    same, different = [], []
    for query, key, value in zip(pairs.query.tolist(), pairs.key.tolist(), values, strict=True):
        if query not in place or key not in place:
            continue
        of_query, of_key = (np.flatnonzero(topics.member[:, place[word]]) for word in (query, key))
        shared = set(of_query.tolist()) & set(of_key.tolist())
        same += [value] * len(shared)
        if not shared:
            different += [value] * (len(of_query) * len(of_key))
    return float(np.mean(same)), float(np.mean(different))


@both
def test_attention_against_a_slow_loop(make: Callable[[], TopicWords]) -> None:
    topics = make()
    pairs, values = some_pairs()
    found = attention_contrast(pairs, values, topics, 0)
    same, different = slow_attention(pairs, values, topics)
    assert (found.same, found.different, found.ratio) == pytest.approx((same, different, same / different), rel=1e-9)


@both
def test_the_interval_lies_around_the_ratio(make: Callable[[], TopicWords]) -> None:
    topics = make()
    pairs, values = some_pairs(number=20_000)
    found = attention_contrast(pairs, values, topics, 0, draws=2000)
    assert found.low < found.ratio < found.high
    vectors = np.random.default_rng(0).normal(2, 1, (len(topics.words), 6))
    found = embedding_contrast(vectors, topics, 0, draws=2000)
    assert found.low < found.ratio < found.high


def test_both_bootstraps_are_of_the_same_ratio() -> None:
    """Each topic has three words of its own and shares three with the next one; the pairs' values depend on that.

    Topics are all alike and documents are not, so that the interval is that of the documents.
    """
    rng = np.random.default_rng(0)
    topics = TopicWords(np.arange(120), np.kron(np.eye(20, dtype=int), np.ones(6, int)).astype(bool))
    for t in range(20):
        topics.member[(t + 1) % 20, 6 * t + 3 : 6 * t + 6] = True
    number = topics.member.sum(0)
    query, key = rng.integers(0, 120, (2, 40_000))
    query, key = query[query != key], key[query != key]
    document = np.sort(rng.integers(0, 30, len(query)))
    same = topics.shared()[query, key] > 0
    values = np.where(same, 4 * rng.normal(1, 0.3, 30)[document], number[query] * number[key])
    nothing = np.zeros((len(query), 1), np.float16)
    pairs = AttentionPairs(document, query, key, np.ones(len(query), np.int16), nothing, np.full(30, 50, np.int32), 120)
    found = attention_contrast(pairs, values, topics, 0, draws=2000)
    assert found.standard_error > 0.02 * found.ratio, "the documents' spread"
    assert found.low < found.ratio < found.high


def test_the_seed_decides_the_interval_and_nothing_else() -> None:
    topics = one_topic_each()
    pairs, values = some_pairs()
    vectors = np.random.default_rng(0).normal(2, 1, (len(topics.words), 6))
    asks: list[Callable[[Any], Contrast]] = [
        lambda rng: attention_contrast(pairs, values, topics, rng),
        lambda rng: embedding_contrast(vectors, topics, rng),
    ]
    for ask in asks:
        a, b, c, d = ask(5), ask(5), ask(6), ask(np.random.default_rng(5))
        assert a == b == d
        assert (a.low, a.high) != (c.low, c.high)
        assert (a.same, a.different, a.ratio) == (c.same, c.different, c.ratio)


TOPICS, SIZE = 30, 5


def blocks() -> TopicWords:
    return TopicWords(np.arange(TOPICS * SIZE), np.kron(np.eye(TOPICS, dtype=int), np.ones(SIZE, int)).astype(bool))


def simulated_vectors(rng: np.random.Generator) -> np.ndarray:
    """A shared part of length 1 and each topic's own part of random length: dot products 1 + s_t^2 and 1, ratio 1 + E s^2 = 2."""
    strength = np.sqrt(rng.gamma(4, 0.25, TOPICS))
    vectors = np.zeros((TOPICS * SIZE, 1 + TOPICS + 40))
    vectors[:, 0] = 1
    for t in range(TOPICS):
        vectors[t * SIZE : (t + 1) * SIZE, 1 + t] = strength[t]
    vectors[:, 1 + TOPICS :] = rng.normal(0, 0.2, (TOPICS * SIZE, 40))
    return vectors


def simulated_attention(rng: np.random.Generator, by_topic: float, by_document: float) -> tuple[AttentionPairs, np.ndarray]:
    """Same-topic attention is 2 on average, with an own value in each topic or each document; different-topic is 1."""
    documents, number = 40, 3000
    document = np.sort(rng.integers(0, documents, number))
    query, key = rng.integers(0, TOPICS * SIZE, (2, number))
    partner = query // SIZE * SIZE + (query + rng.integers(1, SIZE, number)) % SIZE
    key = np.where(rng.random(number) < 0.4, partner, key)
    key = np.where(key == query, (key + SIZE) % (TOPICS * SIZE), key)
    same = query // SIZE == key // SIZE
    topic = 2 + by_topic * rng.normal(0, 1, TOPICS)
    extra = by_document * rng.normal(0, 1, documents)
    values = np.where(same, topic[query // SIZE] + extra[document], 1) + rng.normal(0, 0.3, number)
    nothing = np.zeros((number, 1), np.float16)
    length = np.full(documents, 50, np.int32)
    return AttentionPairs(document, query, key, np.ones(number, np.int16), nothing, length, TOPICS * SIZE), values


def check_coverage(found: list[Contrast]) -> None:
    """The known ratio 2 lies in about 95 % of the intervals, and the standard error is that of the simulations."""
    inside = np.mean([c.low <= 2 <= c.high for c in found])
    assert inside >= 0.95 - 3.5 * np.sqrt(0.95 * 0.05 / len(found)) - 0.02, "0.02: thirty topics are few for a percentile"
    spread = np.std([c.ratio for c in found])
    assert 0.75 < np.mean([c.standard_error for c in found]) / spread < 1.35
    assert np.mean([c.ratio for c in found]) == pytest.approx(2, abs=4 * spread / np.sqrt(len(found)))
    width = np.mean([c.high - c.low for c in found])
    assert width == pytest.approx(4 * spread, rel=0.35)


def test_the_interval_of_embeddings_covers_the_known_ratio() -> None:
    rng = np.random.default_rng(0)
    check_coverage([embedding_contrast(simulated_vectors(rng), blocks(), rng, kind="dot", draws=300) for _ in range(100)])


@pytest.mark.parametrize(("by_topic", "by_document"), [(0.5, 0.02), (0.02, 0.5)], ids=["topics vary", "documents vary"])
def test_the_interval_of_attention_covers_the_known_ratio(by_topic: float, by_document: float) -> None:
    rng = np.random.default_rng(0)
    found = []
    for _ in range(100):
        pairs, values = simulated_attention(rng, by_topic, by_document)
        found.append(attention_contrast(pairs, values, blocks(), rng, draws=300))
    check_coverage(found)


def test_standard_errors_of_the_means() -> None:
    rng = np.random.default_rng(0)
    found = [embedding_contrast(simulated_vectors(rng), blocks(), rng, kind="dot", draws=300) for _ in range(60)]
    for name in ("same", "different"):
        spread = np.std([getattr(c, name) for c in found])
        # Between topics the draws see each of two topics' variation: up to sqrt(3) times too much where only pairs vary
        assert 0.6 < np.mean([getattr(c, f"{name}_error") for c in found]) / spread < 2, name


def test_shuffled_topics_give_one() -> None:
    """Where the true topics give 2."""
    rng = np.random.default_rng(1)
    vectors, topics = simulated_vectors(rng), blocks()
    pairs, values = simulated_attention(rng, 0.3, 0.3)
    assert embedding_contrast(vectors, topics, 0, kind="dot").ratio > 1.5
    assert attention_contrast(pairs, values, topics, 0).ratio > 1.5
    scores = []
    for seed in range(20):
        control = shuffled(topics, seed)
        for found in (
            embedding_contrast(vectors, control, seed, kind="dot"),
            embedding_contrast(vectors, control, seed),
            attention_contrast(pairs, values, control, seed),
        ):
            assert abs(found.ratio - 1) < 0.25
            scores.append((found.ratio - 1) / found.standard_error)
    assert np.abs(scores).max() < 5
    assert np.sqrt(np.mean(np.square(scores))) < 1.7


def test_embeddings_that_know_nothing_of_topics_give_one() -> None:
    vectors = np.random.default_rng(0).normal(1, 1, (TOPICS * SIZE, 50))
    found = embedding_contrast(vectors, blocks(), 0)
    assert abs(found.ratio - 1) < 3 * found.standard_error < 0.2


def test_similarities() -> None:
    vectors = np.random.default_rng(0).normal(0, 1, (5, 3))
    dot, cosine = similarities(vectors, "dot"), similarities(vectors, "cosine")
    for i in range(5):
        for j in range(5):
            assert dot[i, j] == pytest.approx(sum(vectors[i] * vectors[j]))
            assert cosine[i, j] == pytest.approx(dot[i, j] / np.sqrt(dot[i, i] * dot[j, j]))
    with pytest.raises(ValueError, match="kind = 'angle'"):
        similarities(vectors, "angle")
    vectors[3] = 0
    assert similarities(vectors, "dot")[3].tolist() == [0] * 5
    with pytest.raises(ValueError, match="vectors: row 3 is 0; its cosine is undefined"):
        similarities(vectors, "cosine")


@pytest.mark.parametrize("number", [1, 7, 30])
def test_top_pairs_against_a_slow_loop(number: int) -> None:
    rng = np.random.default_rng(0)
    table = rng.poisson(0.4, (40, 12))
    times = {(i, j): sum(1 for row in table if row[i] and row[j]) for i, j in combinations(range(12), 2)}
    wanted = sorted((pair for pair in times if times[pair]), key=lambda pair: (-times[pair], pair))[:number]
    pairs, seen = top_cooccurring(csr_array(table), number)
    assert pairs.tolist() == [list(pair) for pair in wanted]
    assert seen.tolist() == [times[pair] for pair in wanted]


def test_too_few_pairs_are_an_error() -> None:
    counts = csr_array(np.array([[1, 1, 0], [0, 0, 5]]))
    assert top_cooccurring(counts, 1)[0].tolist() == [[0, 1]]
    with pytest.raises(ValueError, match="number = 2: only 1 pairs of words are ever in the same document"):
        top_cooccurring(counts, 2)
    with pytest.raises(ValueError, match="number = 0"):
        top_cooccurring(counts, 0)


def test_attention_of_listed_pairs_against_a_slow_loop() -> None:
    pairs, values = some_pairs(number=1500)
    listed = np.array([[3, 9], [9, 4], [20, 3], [1, 2]])
    wanted = []
    for i, j in listed.tolist():
        seen = [v for q, k, v in zip(pairs.query, pairs.key, values, strict=True) if (q, k) in ((i, j), (j, i))]
        wanted.append(np.mean(seen))
    found = attention_of_pairs(pairs, values, listed, 0)
    np.testing.assert_allclose(found.values, wanted)
    assert found.mean == pytest.approx(np.mean(wanted))
    assert min(wanted) <= found.low < found.mean < found.high <= max(wanted)


def test_a_listed_pair_that_is_never_together_is_nan() -> None:
    pairs, values = some_pairs(number=300)
    kept = ~(np.isin(pairs.query, [3, 9]) & np.isin(pairs.key, [3, 9]))
    few = AttentionPairs(
        *(getattr(pairs, name)[kept] for name in ("document", "query", "key", "offset", "scaled")), pairs.length, W
    )
    found = attention_of_pairs(few, values[kept], np.array([[3, 9], [4, 9], [5, 1]]), 0)
    assert np.isnan(found.values).tolist() == [True, False, False]
    assert found.mean == pytest.approx(found.values[1:].mean())
    with pytest.raises(ValueError, match="no pair was ever seen"):
        attention_of_pairs(few, values[kept], np.array([[3, 9]]), 0)


def test_the_interval_of_a_mean_over_pairs() -> None:
    rng = np.random.default_rng(0)
    found = [pair_mean(np.append(rng.normal(3, 1, 40), np.nan), rng, draws=400) for _ in range(200)]
    assert np.mean([f.low <= 3 <= f.high for f in found]) > 0.95 - 0.02 - 3.5 * np.sqrt(0.95 * 0.05 / 200)
    assert np.mean([f.high - f.low for f in found]) == pytest.approx(2 * 1.96 / np.sqrt(40), rel=0.1)


def test_draws_without_a_pair_are_left_out() -> None:
    """Of four topics all four draws are sometimes the same one: then there is no different-topic pair."""
    topics = one_topic_each()
    pairs, values = some_pairs()
    vectors = np.random.default_rng(0).normal(2, 1, (len(topics.words), 6))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for found in (attention_contrast(pairs, values, topics, 0), embedding_contrast(vectors, topics, 0)):
            assert all(np.isfinite(getattr(found, field.name)) for field in dataclasses.fields(found)), found


def test_errors() -> None:
    topics = one_topic_each()
    pairs, values = some_pairs()
    vectors = np.ones((len(topics.words), 3))
    with pytest.raises(ValueError, match=r"vectors has shape \(4, 3\): must be \(15, d\)"):
        embedding_contrast(vectors[:4], topics, 0)
    with pytest.raises(ValueError, match="kind = 'angle'"):
        embedding_contrast(vectors, topics, 0, kind="angle")
    with pytest.raises(ValueError, match="draws = 1"):
        embedding_contrast(vectors, topics, 0, draws=1)
    with pytest.raises(TypeError, match="rng = None"):
        embedding_contrast(vectors, topics, None)  # type: ignore[arg-type]
    vectors[2] = 0
    with pytest.raises(ValueError, match="vectors: row 2 is 0"):
        embedding_contrast(vectors, topics, 0)
    with pytest.raises(ValueError, match=r"values has shape \(3,\): must be \(4000,\)"):
        attention_contrast(pairs, values[:3], topics, 0)
    with pytest.raises(TypeError, match="pairs = "):
        attention_contrast(values, values, topics, 0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="topics = "):
        attention_contrast(pairs, values, topics.member, 0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=f"words has index {W}"):
        attention_contrast(pairs, values, TopicWords(np.arange(W + 1), np.ones((2, W + 1), bool)), 0)
    for shape in ((0, 2), (2, 3), (4,)):
        with pytest.raises(ValueError, match="words has shape"):
            attention_of_pairs(pairs, values, np.zeros(shape, int), 0)


def test_documents_without_a_pair_of_one_kind_are_an_error() -> None:
    pairs, values = some_pairs()
    alone = TopicWords(np.arange(4), np.array([[1, 1, 0, 0], [0, 0, 1, 1]], bool))
    place = {0: 0, 1: 0, 2: 1, 3: 1}
    for kind in ("same-topic", "different-topic"):
        kept = np.array(
            [
                q in place and k in place and (place[q] == place[k]) == (kind == "different-topic")
                for q, k in zip(pairs.query.tolist(), pairs.key.tolist(), strict=True)
            ]
        )
        few = AttentionPairs(
            *(getattr(pairs, name)[kept] for name in ("document", "query", "key", "offset", "scaled")), pairs.length, W
        )
        with pytest.raises(ValueError, match=f"topics: the documents hold no {kind} pair of their 4 words"):
            attention_contrast(few, values[kept], alone, 0)
    none = np.zeros(len(pairs), bool)
    few = AttentionPairs(
        *(getattr(pairs, name)[none] for name in ("document", "query", "key", "offset", "scaled")), pairs.length, W
    )
    with pytest.raises(ValueError, match="hold no same-topic pair"):
        attention_contrast(few, values[none], alone, 0)


def test_a_contrast_prints_its_interval() -> None:
    assert str(Contrast(2, 1, 2, 1.5, 2.5, 0.25, 0.1, 0.1)) == "2.000 [1.500, 2.500] = 2.0000 / 1.0000"
