"""The samplers against exact moments. Tolerances are five standard errors, over independent documents; see moments.py."""

from math import comb

import numpy as np
import numpy.typing as npt
import pytest
from moments import assert_fraction, assert_mean

from topiclib.documents import (
    PAD,
    Documents,
    DocumentSettings,
    infinite_document,
    infinite_documents,
    one_hot,
    sample_documents,
    topic_word_probabilities,
)
from topiclib.vocabulary import Vocabulary

Array = npt.NDArray[np.float64]
NUM_DOCS = 20_000

FIXED = DocumentSettings.theory(2, num_topics=4, words_per_topic=3, min_len=8, max_len=12)
LDA = DocumentSettings(num_topics=4, words_per_topic=3, dirichlet_alpha=0.3, min_len=8, max_len=12)
VARIANTS = {
    "fixed": FIXED,
    "one topic": DocumentSettings.theory(1, num_topics=4, words_per_topic=3, min_len=8, max_len=12),
    "all topics": DocumentSettings.theory(4, num_topics=4, words_per_topic=3, min_len=8, max_len=12),
    "lda": LDA,
    "overlap": DocumentSettings.tiny(overlap=0.3),
    "skew": DocumentSettings.tiny(words_per_topic=4, word_skew=1.2),
    "fixed, overlap and skew": DocumentSettings.theory(
        2, num_topics=4, words_per_topic=3, min_len=5, max_len=9, overlap=0.25, word_skew=0.7
    ),
    "lda, overlap and skew": DocumentSettings.tiny(overlap=1.0, word_skew=2.0, num_topics=5),
}
every_variant = pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS.keys())


def counts(documents: Documents, vocabulary: Vocabulary) -> Array:
    """How often each token occurs in each document; (B, V)."""
    tokens, size = documents.tokens, vocabulary.size
    flat = np.where(tokens == PAD, size, tokens) + (size + 1) * np.arange(len(tokens))[:, None]
    table = np.bincount(flat.ravel(), minlength=(size + 1) * len(tokens)).reshape(len(tokens), size + 1)
    return table[:, :size].astype(np.float64)


def weight_moments(settings: DocumentSettings) -> Array:
    """Exact E[theta theta^T] of the topic weights; (T, T)."""
    t, same = settings.num_topics, np.eye(settings.num_topics)
    if settings.mixture == "dirichlet":
        a = settings.dirichlet_alpha
        return np.asarray(a * (a + same) / (t * a * (t * a + 1)))
    tau = settings.topics_per_doc
    pair = (tau - 1) / (t - 1) if t > 1 else 1.0
    return np.asarray(np.where(same == 1, 1.0, pair) / (t * tau))


@every_variant
def test_mean_topic_weights_are_uniform(settings: DocumentSettings) -> None:
    weights = sample_documents(settings, NUM_DOCS, 1).topic_weights
    assert np.allclose(weights.sum(axis=1), 1, atol=1e-12)
    assert_mean(weights, np.full(settings.num_topics, 1 / settings.num_topics))


@every_variant
def test_second_moments_of_topic_weights(settings: DocumentSettings) -> None:
    weights = sample_documents(settings, NUM_DOCS, 2).topic_weights
    assert_mean(weights[:, :, None] * weights[:, None, :], weight_moments(settings))


@pytest.mark.parametrize("alpha", [0.01, 0.1, 1.0, 30.0])
def test_dirichlet_moments_follow_alpha(alpha: float) -> None:
    settings = DocumentSettings.tiny(dirichlet_alpha=alpha)
    weights = sample_documents(settings, NUM_DOCS, 3).topic_weights
    assert_mean(weights[:, :, None] * weights[:, None, :], weight_moments(settings))


@every_variant
def test_word_frequencies_follow_the_topic_weights(settings: DocumentSettings) -> None:
    documents = sample_documents(settings, NUM_DOCS, 4)
    frequencies = counts(documents, settings.vocabulary) / documents.lengths[:, None]
    residual = frequencies - documents.topic_weights @ topic_word_probabilities(settings)
    assert_mean(residual, 0)
    # Not only on average: for a document of any topic weights.
    assert_mean(residual[:, None, :] * documents.topic_weights[:, :, None], 0)


@every_variant
def test_word_frequencies_do_not_depend_on_the_position(settings: DocumentSettings) -> None:
    tokens = sample_documents(settings, NUM_DOCS, 5).tokens
    exact = topic_word_probabilities(settings).mean(axis=0)
    for position in (0, settings.min_len - 1):
        assert_fraction(tokens[:, position, None] == np.arange(settings.vocabulary.size), exact)


@every_variant
def test_pairs_of_words_have_the_exact_second_moment(settings: DocumentSettings) -> None:
    documents = sample_documents(settings, NUM_DOCS, 6)
    c, n = counts(documents, settings.vocabulary), documents.lengths[:, None, None]
    # Unbiased for E[p_w p_w^T]: the fraction of pairs of different positions.
    pairs = (c[:, :, None] * c[:, None, :] - c[:, :, None] * np.eye(c.shape[1])) / (n * (n - 1))
    table = topic_word_probabilities(settings)
    assert_mean(pairs, table.T @ weight_moments(settings) @ table)


@pytest.mark.parametrize("tau", [1, 2, 3, 4])
def test_fixed_mixture_agrees_with_the_infinite_documents(tau: int) -> None:
    settings = DocumentSettings.theory(tau, num_topics=4, words_per_topic=3, min_len=8, max_len=12)
    documents = sample_documents(settings, NUM_DOCS, 7)
    c, n = counts(documents, settings.vocabulary), documents.lengths[:, None, None]
    pairs = (c[:, :, None] * c[:, None, :] - c[:, :, None] * np.eye(c.shape[1])) / (n * (n - 1))
    p = infinite_documents(settings)
    assert_mean(pairs, p.T @ p / len(p))


@pytest.mark.parametrize("tau", [1, 2, 3, 4])
def test_a_document_has_exactly_tau_topics(tau: int) -> None:
    settings = DocumentSettings.theory(tau, num_topics=4, words_per_topic=3, min_len=100, max_len=100)
    documents = sample_documents(settings, 2000, 8)
    assert np.all(np.isin(documents.topic_weights, [0, 1 / tau]))
    assert np.all((documents.topic_weights > 0).sum(axis=1) == tau)
    shown = np.stack([(settings.vocabulary.topic_of(documents.tokens) == t).any(axis=1) for t in range(1, 5)], axis=1)
    # At N = 100 a topic stays unseen with probability (1 - 1/4)^100 < 1e-12, so what shows is what was chosen.
    assert np.array_equal(shown, documents.topic_weights > 0)


def test_every_set_of_topics_is_equally_likely() -> None:
    chosen = sample_documents(FIXED, NUM_DOCS, 9).topic_weights > 0
    sets = np.unique(chosen, axis=0)
    assert len(sets) == comb(4, 2)
    assert_fraction((chosen[:, None, :] == sets).all(axis=2), np.full(len(sets), 1 / len(sets)))


def test_lengths_are_uniform_and_both_ends_occur() -> None:
    lengths = sample_documents(FIXED, NUM_DOCS, 10).lengths
    assert (lengths.min(), lengths.max()) == (8, 12)
    assert_fraction(lengths[:, None] == np.arange(8, 13), np.full(5, 1 / 5))


def test_lengths_do_not_depend_on_the_topics() -> None:
    documents = sample_documents(LDA, NUM_DOCS, 11)
    assert_mean(documents.lengths[:, None] * (documents.topic_weights - 1 / 4), np.zeros(4))


@every_variant
def test_padding_fills_the_end_and_only_the_end(settings: DocumentSettings) -> None:
    documents = sample_documents(settings, 300, 12)
    expected = np.arange(documents.tokens.shape[1]) >= documents.lengths[:, None]
    assert np.array_equal(documents.tokens == PAD, expected)
    assert documents.tokens.shape == (300, documents.lengths.max())
    words = documents.tokens[~expected]
    assert words.min() >= 1
    assert words.max() <= settings.vocabulary.num_words


def test_words_stay_in_the_chosen_topics_without_overlap() -> None:
    documents = sample_documents(FIXED, 2000, 13)
    for tokens, length, weights in zip(documents.tokens, documents.lengths, documents.topic_weights, strict=True):
        topics = FIXED.vocabulary.topic_of(tokens[:length])
        assert np.all(weights[topics - 1] > 0)


def test_full_overlap_moves_every_word_to_the_next_topic() -> None:
    settings = DocumentSettings.theory(1, num_topics=4, words_per_topic=3, overlap=1.0)
    documents = sample_documents(settings, 50, 14)
    own = documents.topic_weights.argmax(axis=1) + 1
    shown = np.where(documents.tokens == PAD, 1, documents.tokens)
    topics = settings.vocabulary.topic_of(shown)
    assert np.all((topics == own[:, None] % 4 + 1) | (documents.tokens == PAD))


def test_topic_word_probabilities_by_hand() -> None:
    plain = topic_word_probabilities(DocumentSettings.tiny())
    assert plain.tolist() == [[0, 0.5, 0.5, 0, 0, 0, 0], [0, 0, 0, 0.5, 0.5, 0, 0], [0, 0, 0, 0, 0, 0.5, 0.5]]
    both = topic_word_probabilities(DocumentSettings.tiny(overlap=0.25, word_skew=1.0))
    assert np.allclose(both[2], [0, 0.25 * 2 / 3, 0.25 / 3, 0, 0, 0.75 * 2 / 3, 0.75 / 3], atol=1e-15)


def test_half_overlap_shares_each_word_equally_between_two_topics() -> None:
    table = topic_word_probabilities(DocumentSettings.tiny(overlap=0.5))
    for word in range(1, 7):
        assert sorted(table[:, word].tolist()) == [0, 0.25, 0.25]


@every_variant
def test_topic_word_probabilities_are_distributions_over_words(settings: DocumentSettings) -> None:
    table = topic_word_probabilities(settings)
    assert np.allclose(table.sum(axis=1), 1, atol=1e-12)
    assert np.all(table[:, 0] == 0)


def test_infinite_document_by_hand() -> None:
    assert infinite_document(Vocabulary(3, 2), [1, 3]).tolist() == [0, 0.25, 0.25, 0, 0, 0.25, 0.25]
    assert infinite_document(Vocabulary(3, 2), 2).tolist() == [0, 0, 0, 0.5, 0.5, 0, 0]


@pytest.mark.parametrize("tau", [1, 2, 3, 4])
def test_infinite_documents_are_all_different_and_all_there(tau: int) -> None:
    settings = DocumentSettings.theory(tau, num_topics=4, words_per_topic=3)
    documents = infinite_documents(settings)
    assert len(documents) == len(np.unique(documents, axis=0)) == comb(4, tau)
    assert np.allclose(documents.sum(axis=1), 1, atol=1e-12)
    assert np.all(np.isin(documents, [0, 1 / (3 * tau)]))


def test_one_hot_by_hand() -> None:
    assert one_hot([2, 0, PAD], Vocabulary(1, 2)).tolist() == [[0, 1, 0], [0, 0, 0], [1, 0, 0]]


@every_variant
def test_the_same_seed_gives_the_same_documents(settings: DocumentSettings) -> None:
    first, again = sample_documents(settings, 20, 15), sample_documents(settings, 20, np.random.default_rng(15))
    assert np.array_equal(first.tokens, again.tokens)
    assert np.array_equal(first.topic_weights, again.topic_weights)
    assert not np.array_equal(first.tokens, sample_documents(settings, 20, 16).tokens)
    assert len(first) == 20


def test_one_generator_gives_fresh_documents_each_time() -> None:
    rng = np.random.default_rng(17)
    assert not np.array_equal(sample_documents(LDA, 20, rng).topic_weights, sample_documents(LDA, 20, rng).topic_weights)


def test_the_global_random_state_is_neither_used_nor_changed() -> None:
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # type: ignore[index, union-attr]  # noqa: NPY002
    first = sample_documents(LDA, 20, 18)
    assert np.array_equal(np.random.get_state()[1], before)  # type: ignore[index]  # noqa: NPY002
    np.random.seed(2)  # noqa: NPY002
    assert np.array_equal(sample_documents(LDA, 20, 18).tokens, first.tokens)


def test_presets_are_the_papers() -> None:
    paper = DocumentSettings.paper()
    assert (paper.num_topics, paper.words_per_topic, paper.mixture, paper.dirichlet_alpha) == (10, 10, "dirichlet", 0.1)
    assert (paper.min_len, paper.max_len, paper.overlap, paper.word_skew) == (100, 150, 0, 0)
    theory = DocumentSettings.theory(4, max_len=200)
    assert (theory.mixture, theory.topics_per_doc, theory.max_len) == ("fixed", 4, 200)
    assert DocumentSettings.theory(12, num_topics=20).topics_per_doc == 12
    assert DocumentSettings.tiny(num_topics=5).vocabulary == Vocabulary(5, 2)
