"""The masking scheme against exact rates. Tolerances are five standard errors; see moments.py."""

from itertools import product

import numpy as np
import pytest
from moments import assert_fraction

from topiclib.documents import PAD, DocumentSettings, infinite_documents, sample_documents
from topiclib.masking import MaskingSettings, mask_documents, masked_distribution
from topiclib.vocabulary import MASK, Vocabulary

VOCABULARY = Vocabulary(3, 2)
# At N = 100 and p_m = 0.15 a mask is empty once in ten million draws: the condition on non-empty masks moves no rate visibly.
LONG = np.random.default_rng(0).integers(1, VOCABULARY.num_words, size=(3000, 100), endpoint=True)
SCHEMES = {
    "paper": MaskingSettings.paper(),
    "always [MASK]": MaskingSettings(0.3, 0, 0),
    "always random": MaskingSettings(0.3, 0, 1),
    "always kept": MaskingSettings(0.3, 1, 0),
    "no [MASK]": MaskingSettings(0.3, 0.7, 0.3),
    "uneven": MaskingSettings(0.5, 0.2, 0.5),
}
every_scheme = pytest.mark.parametrize("settings", SCHEMES.values(), ids=SCHEMES.keys())


@every_scheme
def test_positions_are_selected_at_rate_p_m(settings: MaskingSettings) -> None:
    assert_fraction(mask_documents(LONG, VOCABULARY, settings, 1).selected.ravel(), settings.p_m)


@every_scheme
def test_a_selected_position_is_kept_random_or_mask(settings: MaskingSettings) -> None:
    batch = mask_documents(LONG, VOCABULARY, settings, 2)
    shown, original = batch.inputs[batch.selected], batch.targets[batch.selected]
    # A random word is the original one with probability 1 / Tv.
    stays = settings.p_c + settings.p_r / VOCABULARY.num_words
    changes = settings.p_r * (1 - 1 / VOCABULARY.num_words)
    assert_fraction(shown == MASK, 1 - settings.p_c - settings.p_r)
    assert_fraction(shown == original, stays)
    assert_fraction((shown != original) & (shown != MASK), changes)


@every_scheme
def test_words_that_are_not_selected_stay(settings: MaskingSettings) -> None:
    batch = mask_documents(LONG, VOCABULARY, settings, 3)
    assert np.array_equal(batch.targets, LONG)
    assert np.array_equal(batch.inputs[~batch.selected], LONG[~batch.selected])


def test_random_words_are_uniform_over_the_words_and_never_mask() -> None:
    batch = mask_documents(np.full((2000, 50), 4), VOCABULARY, SCHEMES["always random"], 4)
    shown = batch.inputs[batch.selected]
    assert set(shown.tolist()) == set(range(1, VOCABULARY.num_words + 1))
    assert_fraction(shown[:, None] == np.arange(1, VOCABULARY.size), np.full(VOCABULARY.num_words, 1 / VOCABULARY.num_words))


def test_random_words_do_not_depend_on_the_original() -> None:
    batch = mask_documents(LONG, VOCABULARY, SCHEMES["always random"], 5)
    shown, original = batch.inputs[batch.selected], batch.targets[batch.selected]
    assert_fraction((original[:, None] - 1) * VOCABULARY.num_words + shown[:, None] - 1 == np.arange(36), np.full(36, 1 / 36))


@every_scheme
@pytest.mark.parametrize("tau", [1, 2, 3])
def test_token_rates_are_masked_distribution(settings: MaskingSettings, tau: int) -> None:
    documents = DocumentSettings.theory(tau, num_topics=3, words_per_topic=2, min_len=100, max_len=100)
    for p_w in infinite_documents(documents)[:2]:
        tokens = np.random.default_rng(6).choice(VOCABULARY.size, size=(1000, 100), p=p_w)
        inputs = mask_documents(tokens, VOCABULARY, settings, 7).inputs
        assert_fraction(inputs.reshape(-1, 1) == np.arange(VOCABULARY.size), masked_distribution(p_w, settings))


def test_masked_distribution_by_hand() -> None:
    settings = MaskingSettings(p_m=0.5, p_c=0.25, p_r=0.5)
    shown = masked_distribution(np.array([0, 0.75, 0.25]), settings)
    assert shown.tolist() == [0.125, 0.625 * 0.75 + 0.125, 0.625 * 0.25 + 0.125]


@every_scheme
def test_masked_distribution_is_a_distribution_for_any_leading_shape(settings: MaskingSettings) -> None:
    p = infinite_documents(DocumentSettings.theory(2, num_topics=3, words_per_topic=2))
    shown = masked_distribution(p, settings)
    assert np.allclose(shown.sum(axis=-1), 1, atol=1e-12)
    assert np.array_equal(masked_distribution(p[:, None], settings), shown[:, None])
    assert np.array_equal(masked_distribution(p[0], settings), shown[0])


@every_scheme
def test_fractions_add_up(settings: MaskingSettings) -> None:
    assert settings.mask_fraction + settings.true_fraction + settings.random_fraction == pytest.approx(1, abs=1e-12)
    assert settings.mask_fraction >= 0


def test_fractions_of_the_papers_scheme() -> None:
    paper = MaskingSettings.paper()
    assert (paper.p_m, paper.p_c, paper.p_r) == (0.15, 0.1, 0.1)
    assert (paper.mask_fraction, paper.true_fraction, paper.random_fraction) == pytest.approx((0.12, 0.865, 0.015), abs=1e-15)


@pytest.mark.parametrize("p_m", [0.01, 0.5, 0.99])
@pytest.mark.parametrize("length", [1, 2, 5])
def test_no_mask_is_ever_empty(length: int, p_m: float) -> None:
    tokens = np.ones((5000, length), dtype=np.int64)
    assert mask_documents(tokens, VOCABULARY, MaskingSettings(p_m), 8).selected.any(axis=1).all()


def test_no_mask_is_empty_when_padding_leaves_one_word() -> None:
    tokens = np.full((5000, 30), PAD)
    tokens[:, 0] = 3
    selected = mask_documents(tokens, VOCABULARY, MaskingSettings(0.01), 9).selected
    assert selected[:, 0].all()
    assert not selected[:, 1:].any()


@pytest.mark.parametrize(("length", "p_m"), [(2, 0.3), (3, 0.15), (3, 0.6), (4, 0.05)])
def test_short_masks_follow_the_distribution_given_that_they_are_not_empty(length: int, p_m: float) -> None:
    selected = mask_documents(np.ones((40_000, length), dtype=np.int64), VOCABULARY, MaskingSettings(p_m), 10).selected
    patterns = np.array([p for p in product([False, True], repeat=length) if any(p)])
    size = patterns.sum(axis=1)
    exact = p_m**size * (1 - p_m) ** (length - size) / (1 - (1 - p_m) ** length)
    assert_fraction((selected[:, None, :] == patterns).all(axis=2), exact)


def test_with_a_tiny_p_m_one_position_is_selected_anywhere_and_at_once() -> None:
    tokens = np.ones((20_000, 6), dtype=np.int64)
    tokens[:, 4:] = PAD
    for p_m in (1e-12, 5e-324):
        selected = mask_documents(tokens, VOCABULARY, MaskingSettings(p_m), 20).selected
        assert (selected.sum(axis=1) == 1).all()
        assert_fraction(selected[:, :4], np.full(4, 0.25))
        assert not selected[:, 4:].any()


def test_rows_that_are_not_empty_stay_as_they_were_first_drawn() -> None:
    """What seeded training draws does not depend on how empty rows are filled."""
    words = np.ones((1000, 4), dtype=np.bool_)
    drawn = np.random.default_rng(21).random(words.shape) < 0.3
    filled = drawn.any(axis=1)
    selected = mask_documents(np.where(words, 1, PAD), VOCABULARY, MaskingSettings(0.3), 21).selected
    assert 0 < filled.sum() < 1000
    assert np.array_equal(selected[filled], drawn[filled])


def test_padding_is_never_selected_and_stays() -> None:
    documents = sample_documents(DocumentSettings.tiny(), 2000, 11)
    batch = mask_documents(documents.tokens, VOCABULARY, MaskingSettings(0.6), 12)
    padded = documents.tokens == PAD
    assert not batch.selected[padded].any()
    assert np.all(batch.inputs[padded] == PAD)
    assert np.all(batch.inputs[~padded] >= MASK)


def test_the_selection_does_not_depend_on_the_word() -> None:
    batch = mask_documents(LONG, VOCABULARY, MaskingSettings(0.15), 13)
    for word in range(1, VOCABULARY.size):
        assert_fraction(batch.selected[word == LONG], 0.15)


def test_each_call_draws_fresh_masks() -> None:
    rng = np.random.default_rng(14)
    first, second = (mask_documents(LONG[:20], VOCABULARY, MaskingSettings(), rng) for _ in range(2))
    assert not np.array_equal(first.selected, second.selected)
    assert not np.array_equal(first.inputs, second.inputs)


def test_masks_of_one_batch_differ() -> None:
    selected = mask_documents(LONG[:20], VOCABULARY, MaskingSettings(), 15).selected
    assert len(np.unique(selected, axis=0)) == 20


def test_the_same_seed_gives_the_same_masks() -> None:
    first = mask_documents(LONG, VOCABULARY, MaskingSettings(), 16)
    again = mask_documents(LONG, VOCABULARY, MaskingSettings(), np.random.default_rng(16))
    assert np.array_equal(first.inputs, again.inputs)
    assert np.array_equal(first.selected, again.selected)
    assert len(first) == len(LONG)


def test_the_documents_given_are_not_changed() -> None:
    tokens = LONG[:5].copy()
    batch = mask_documents(tokens, VOCABULARY, MaskingSettings(0.9), 17)
    batch.inputs[:], batch.targets[:] = 1, 1
    assert np.array_equal(tokens, LONG[:5])


def test_lists_and_every_integer_type_are_taken() -> None:
    expected = mask_documents(LONG[:3], VOCABULARY, MaskingSettings(), 18).inputs
    for tokens in (LONG[:3].tolist(), LONG[:3].astype(np.int8), LONG[:3].astype(np.uint16)):
        inputs = mask_documents(tokens, VOCABULARY, MaskingSettings(), 18).inputs
        assert inputs.dtype == np.int64
        assert np.array_equal(inputs, expected)


@pytest.mark.parametrize(("p_c", "p_r"), [(0.7, 0.3), (0.9, 0.1), (0.8, 0.2), (1, 0), (0, 1), (0.35, 0.65)])
def test_probabilities_may_sum_to_one(p_c: float, p_r: float) -> None:
    batch = mask_documents(LONG, VOCABULARY, MaskingSettings(0.5, p_c, p_r), 19)
    assert not (batch.inputs == MASK).any()
