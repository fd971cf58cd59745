"""Word counts: the same distribution as documents and masks drawn as tokens, and the same content.

Statistical tests have fixed seeds and fail a right sampler with a probability of about one in a million.
"""

import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise, permutations
from math import comb
from typing import Any

import numpy as np
import pytest
from moments import assert_fraction
from scipy.stats import chi2, norm

import topiclib.word_counts as word_counts
from topiclib.documents import PAD, DocumentSettings, sample_documents
from topiclib.masking import MaskedDocuments, MaskingSettings, mask_documents
from topiclib.vocabulary import MASK, Vocabulary
from topiclib.word_counts import MaskedCounts, count_documents, joined, sample_counts

FAILS = 1e-6
VOCABULARY = Vocabulary(3, 2)
BRANCHES = {"positions": 10**9, "multinomial": 0}  # values of POSITIONS_PER_TOKEN that force each


def tiny(**changes: Any) -> DocumentSettings:
    return DocumentSettings.tiny(**changes)


SCHEME = MaskingSettings(0.3, 0.2, 0.3)
CASES = {
    "dirichlet": (tiny(), SCHEME),
    "even topics": (tiny(dirichlet_alpha=5.0), MaskingSettings(0.15)),
    "fixed": (tiny(mixture="fixed"), SCHEME),
    "one topic": (tiny(mixture="fixed", topics_per_doc=1), MaskingSettings(0.6, 0.5, 0.5)),
    "overlap": (tiny(mixture="fixed", topics_per_doc=1, overlap=0.3), SCHEME),
    "overlap of all": (tiny(dirichlet_alpha=0.5, overlap=1.0), SCHEME),
    "skew": (tiny(words_per_topic=3, word_skew=1.2), SCHEME),
    "skew and overlap": (tiny(mixture="fixed", words_per_topic=3, word_skew=0.7, overlap=0.5), SCHEME),
    "N = 1": (tiny(min_len=1, max_len=1), MaskingSettings(0.05)),
    "N = 2": (tiny(min_len=2, max_len=2), MaskingSettings(0.05, 0.3, 0.3)),
    "N = 1 to 3": (tiny(min_len=1, max_len=3), MaskingSettings(0.05, 0.3, 0.3)),
    "N = 1 to 4, most selected": (tiny(min_len=1, max_len=4), MaskingSettings(0.8, 0.3, 0.3)),
    "long": (tiny(min_len=43, max_len=60, dirichlet_alpha=1.0), MaskingSettings(0.1)),
    "long, skew and overlap": (tiny(min_len=43, max_len=60, overlap=0.2, word_skew=1.0), MaskingSettings(0.5, 0.2, 0.3)),
}
every_case = pytest.mark.parametrize(("documents", "masking"), CASES.values(), ids=CASES.keys())


def from_tokens(documents: DocumentSettings, masking: MaskingSettings, num_docs: int, seed: int) -> MaskedCounts:
    """The reference: documents and masks as tokens, then counted."""
    rng = np.random.default_rng(seed)
    tokens = sample_documents(documents, num_docs, rng).tokens
    return count_documents(mask_documents(tokens, documents.vocabulary, masking, rng), documents.vocabulary)


def table(docs: np.ndarray, tokens: np.ndarray, num_docs: int, size: int) -> np.ndarray:
    return np.bincount(docs * size + tokens, minlength=num_docs * size).reshape(num_docs, size).astype(np.float64)


def features(batch: MaskedCounts) -> np.ndarray:
    """Of each document: shown tokens, hidden words, what the selected positions show, |M|, fates, topics; (D, features)."""
    d, v = batch.counts.shape
    hidden, shown = table(batch.docs, batch.targets, d, v), table(batch.docs, batch.shown, d, v)
    kept = np.bincount(batch.docs, weights=batch.shown == batch.targets, minlength=d)
    masked = np.bincount(batch.docs, weights=batch.shown == MASK, minlength=d)
    size = np.bincount(batch.docs, minlength=d)
    return np.column_stack([batch.counts, hidden, shown, size, kept, masked, size - kept - masked])


def words_of_topics(batch: MaskedCounts, documents: DocumentSettings) -> np.ndarray:
    """How many of each document's words, the hidden ones with their own, each topic's block has; (D, T)."""
    d, v = batch.counts.shape
    words = batch.counts - table(batch.docs, batch.shown, d, v) + table(batch.docs, batch.targets, d, v)
    assert not words[:, MASK].any()
    by_topic: np.ndarray = words[:, 1:].reshape(d, documents.num_topics, -1).sum(axis=2)
    return by_topic


def orders(by_topic: np.ndarray) -> np.ndarray:
    """Whether one topic has more words than a second and that more than a third; (D, 6). Overlap is with the next alone."""
    columns = permutations(by_topic.T)
    return np.column_stack([(a > b) & (b > c) for a, b, c in columns]).astype(np.float64)


def assert_same_means(a: np.ndarray, b: np.ndarray) -> None:
    """Two-sample z tests, one a column, which together fail with probability FAILS."""
    error = np.sqrt(a.var(axis=0) / len(a) + b.var(axis=0) / len(b))
    limit = norm.isf(FAILS / 2 / a.shape[1])
    z = np.abs(a.mean(axis=0) - b.mean(axis=0)) / np.where(error > 0, error, 1)
    # An event of a few documents in all is far from normal.
    common = (np.count_nonzero(a, axis=0) + np.count_nonzero(b, axis=0)) > 200
    assert (z[common] <= limit).all(), (np.flatnonzero(common & (z > limit)), z.max(), limit)
    assert np.array_equal(a.mean(axis=0)[error == 0], b.mean(axis=0)[error == 0])


def assert_same_histogram(a: np.ndarray, b: np.ndarray) -> None:
    """Chi-square test that two samples of whole numbers are of one distribution."""
    counts = np.array([np.bincount(x, minlength=1 + max(a.max(), b.max())) for x in (a, b)], dtype=np.float64)
    few = counts.sum(axis=0) < 20
    counts = np.column_stack([counts[:, ~few], counts[:, few].sum(axis=1)])
    counts = counts[:, counts.sum(axis=0) > 0]
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
    statistic = ((counts - expected) ** 2 / expected).sum()
    assert statistic <= (chi2.isf(FAILS, counts.shape[1] - 1) if counts.shape[1] > 1 else 0), counts


@every_case
@pytest.mark.parametrize("branch", BRANCHES.values(), ids=BRANCHES.keys())
def test_counts_have_the_distribution_of_tokens(
    documents: DocumentSettings, masking: MaskingSettings, branch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = from_tokens(documents, masking, 30_000, 1)
    monkeypatch.setattr(word_counts, "POSITIONS_PER_TOKEN", branch)
    batch = sample_counts(documents, masking, 30_000, 2)
    a, b = features(batch), features(expected)
    upper = np.triu_indices(a.shape[1])
    # Every product of two: second moments, and the joint counts of two words of one topic and of two topics.
    assert_same_means(np.hstack([a, a[:, upper[0]] * a[:, upper[1]]]), np.hstack([b, b[:, upper[0]] * b[:, upper[1]]]))
    assert_same_histogram(batch.counts.sum(axis=1), expected.counts.sum(axis=1))
    assert_same_histogram(np.bincount(batch.docs), np.bincount(expected.docs))
    topics, expected_topics = (words_of_topics(counts, documents) for counts in (batch, expected))
    assert_same_histogram((topics > 0).sum(axis=1), (expected_topics > 0).sum(axis=1))
    assert_same_means(orders(topics), orders(expected_topics))
    size = documents.vocabulary.size
    assert_same_histogram(batch.targets * size + batch.shown, expected.targets * size + expected.shown)


@pytest.mark.parametrize("branch", BRANCHES.values(), ids=BRANCHES.keys())
@pytest.mark.parametrize("p_m", [0.05, 0.3, 0.95])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_the_number_of_selected_positions_is_binomial_given_that_it_is_not_0(
    length: int, p_m: float, branch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_counts, "POSITIONS_PER_TOKEN", branch)
    batch = sample_counts(tiny(min_len=length, max_len=length), MaskingSettings(p_m), 50_000, 3)
    sizes = np.arange(length + 1)
    exact = np.array([comb(length, k) * p_m**k * (1 - p_m) ** (length - k) for k in sizes]) / (1 - (1 - p_m) ** length)
    exact[0] = 0
    assert_fraction(np.bincount(batch.docs, minlength=len(batch))[:, None] == sizes, exact)


def test_short_documents_by_hand() -> None:
    """T = 2 and v = 1, one topic: two positions, of which one or both are hidden."""
    documents = DocumentSettings(2, 1, "fixed", topics_per_doc=1, min_len=2, max_len=2)
    counts = sample_counts(documents, MaskingSettings(0.05, 0, 0), 50_000, 4).counts
    one, both = (2 * 0.05 * 0.95 / (1 - 0.95**2), 0.05**2 / (1 - 0.95**2))
    rows = np.array([[2, 0, 0], [1, 1, 0], [1, 0, 1]])
    assert_fraction((counts[:, None] == rows).all(axis=2), [both, one / 2, one / 2])
    assert one + both == pytest.approx(1, abs=1e-15)


def test_one_position_by_hand() -> None:
    """It is always selected, and shows its word, a random one of the six, or [MASK]."""
    documents = DocumentSettings(3, 2, "fixed", topics_per_doc=1, min_len=1, max_len=1)
    batch = sample_counts(documents, MaskingSettings(0.05, 0.3, 0.5), 50_000, 5)
    assert np.array_equal(batch.docs, np.arange(50_000))
    assert np.array_equal(batch.counts, np.eye(7)[batch.shown])
    words = np.arange(1, 7)
    assert_fraction(batch.targets[:, None] == words, np.full(6, 1 / 6))
    assert_fraction(batch.shown == MASK, 0.2)
    assert_fraction(batch.shown == batch.targets, 0.3 + 0.5 / 6)
    hidden_and_shown = 6 * (batch.targets - 1) + batch.shown - 1
    assert_fraction(hidden_and_shown[batch.shown != MASK, None] == np.arange(36), (0.3 * np.eye(6) / 6 + 0.5 / 36).ravel() / 0.8)


@pytest.mark.parametrize("p_m", [5e-324, 1e-300, 1e-12])
def test_with_a_tiny_p_m_exactly_one_position_is_selected(p_m: float) -> None:
    assert np.array_equal(sample_counts(tiny(), MaskingSettings(p_m), 500, 6).docs, np.arange(500))


def test_with_p_m_next_to_1_all_positions_are_selected() -> None:
    documents = DocumentSettings(1, 1, min_len=10, max_len=14)  # its other words, none, take the multinomial
    batch = sample_counts(documents, MaskingSettings(1 - 2**-53), 500, 7)
    assert np.array_equal(np.bincount(batch.docs), batch.counts.sum(axis=1))


@pytest.mark.parametrize(("max_len", "long"), [(42, False), (43, True)])
def test_long_documents_take_the_multinomial(max_len: int, long: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def spy(*arguments: Any) -> Any:
        calls.append(arguments)
        return found(*arguments)

    found = word_counts._sample_word_counts
    monkeypatch.setattr(word_counts, "_sample_word_counts", spy)
    assert VOCABULARY.size * word_counts.POSITIONS_PER_TOKEN == 42
    sample_counts(tiny(max_len=max_len), SCHEME, 5, 0)
    assert bool(calls) == long


@every_case
def test_draws_are_consistent(documents: DocumentSettings, masking: MaskingSettings) -> None:
    batch = sample_counts(documents, masking, 300, 8)
    lengths = batch.counts.sum(axis=1)
    assert (len(batch), batch.counts.shape) == (300, (300, documents.vocabulary.size))
    assert ((documents.min_len <= lengths) & (lengths <= documents.max_len)).all()
    assert (np.diff(batch.docs) >= 0).all()
    assert set(batch.docs.tolist()) == set(range(300))
    assert (batch.counts >= table(batch.docs, batch.shown, 300, documents.vocabulary.size)).all()
    assert ((batch.targets >= 1) & (batch.targets < documents.vocabulary.size)).all()
    assert {array.dtype for array in (batch.counts, batch.docs, batch.shown, batch.targets)} == {np.dtype(np.int64)}


def test_the_same_seed_gives_the_same_counts_and_a_generator_goes_on() -> None:
    first, again = sample_counts(tiny(), SCHEME, 50, 3), sample_counts(tiny(), SCHEME, 50, np.random.default_rng(3))
    assert_same_batch(first, again)
    rng = np.random.default_rng(3)
    one, other = sample_counts(tiny(), SCHEME, 50, rng), sample_counts(tiny(), SCHEME, 50, rng)
    assert_same_batch(one, first)
    assert not np.array_equal(one.counts, other.counts)


def positions_of(batch: MaskedCounts) -> list[tuple[int, int, int]]:
    return sorted(zip(batch.docs.tolist(), batch.shown.tolist(), batch.targets.tolist(), strict=True))


def assert_same_batch(a: MaskedCounts, b: MaskedCounts) -> None:
    """Equal up to the order of a document's selected positions."""
    assert np.array_equal(a.counts, b.counts)
    assert positions_of(a) == positions_of(b)


@every_case
def test_counting_is_a_loop_over_the_tokens(documents: DocumentSettings, masking: MaskingSettings) -> None:
    rng = np.random.default_rng(9)
    masked = mask_documents(sample_documents(documents, 40, rng).tokens, documents.vocabulary, masking, rng)
    batch = count_documents(masked, documents.vocabulary)
    expected = []
    for doc, (inputs, targets, selected) in enumerate(zip(masked.inputs, masked.targets, masked.selected, strict=True)):
        for token in range(documents.vocabulary.size):
            assert batch.counts[doc, token] == sum(int(shown == token) for shown in inputs)
        expected += [(doc, int(i), int(t)) for i, t, s in zip(inputs, targets, selected, strict=True) if s]
    assert positions_of(batch) == sorted(expected)
    assert (np.diff(batch.docs) >= 0).all()


@every_case
def test_counts_become_documents_and_back(documents: DocumentSettings, masking: MaskingSettings) -> None:
    batch = sample_counts(documents, masking, 60, 10)
    tokens = batch.documents()
    assert tokens.inputs.shape == tokens.targets.shape == tokens.selected.shape == (60, batch.counts.sum(axis=1).max())
    assert tokens.selected.dtype == bool
    assert np.array_equal(tokens.inputs[~tokens.selected], tokens.targets[~tokens.selected])
    assert np.array_equal(tokens.inputs == PAD, np.arange(tokens.inputs.shape[1]) >= batch.counts.sum(axis=1)[:, None])
    assert_same_batch(count_documents(tokens, documents.vocabulary), batch)


@every_case
def test_documents_become_counts_and_back(documents: DocumentSettings, masking: MaskingSettings) -> None:
    rng = np.random.default_rng(11)
    masked = mask_documents(sample_documents(documents, 60, rng).tokens, documents.vocabulary, masking, rng)
    back = count_documents(masked, documents.vocabulary).documents()
    for doc in range(60):
        one, other = (Counter(zip(b.inputs[doc], b.targets[doc], b.selected[doc], strict=True)) for b in (masked, back))
        del one[PAD, PAD, False], other[PAD, PAD, False]
        assert one == other


@every_case
def test_pairs_and_weights_are_simple_loops(documents: DocumentSettings, masking: MaskingSettings) -> None:
    batch = sample_counts(documents, masking, 50, 12)
    pairs, weights = batch.pairs(), batch.weights()
    positions = list(zip(batch.docs.tolist(), batch.shown.tolist(), strict=True))
    assert list(zip(pairs.docs.tolist(), pairs.queries.tolist(), strict=True)) == sorted(set(positions))
    assert len(pairs.index) == len(weights) == len(positions)
    for position, (doc, token) in enumerate(positions):
        assert (pairs.docs[pairs.index[position]], pairs.queries[pairs.index[position]]) == (doc, token)
        assert weights[position] == 1 / sum(other == doc for other, _ in positions)


@pytest.mark.parametrize(("start", "stop"), [(0, 50), (0, 1), (13, 14), (7, 31), (49, 50)])
def test_a_part_has_the_documents_from_start_to_stop(start: int, stop: int) -> None:
    batch = sample_counts(tiny(), SCHEME, 50, 13)
    part = batch.part(start, stop)
    assert len(part) == stop - start
    assert np.array_equal(part.counts, batch.counts[start:stop])
    assert positions_of(part) == [(d - start, s, t) for d, s, t in positions_of(batch) if start <= d < stop]


@pytest.mark.parametrize("cuts", [(0, 50), (0, 1, 50), (0, 10, 20, 50), tuple(range(51))], ids=len)
def test_parts_joined_are_the_whole(cuts: tuple[int, ...]) -> None:
    batch = sample_counts(tiny(), SCHEME, 50, 14)
    whole = joined([batch.part(low, high) for low, high in pairwise(cuts)])
    for name in ("counts", "docs", "shown", "targets"):
        assert np.array_equal(getattr(whole, name), getattr(batch, name)), name


def test_joined_numbers_the_documents_of_later_batches_on() -> None:
    one, other = sample_counts(tiny(), SCHEME, 3, 15), sample_counts(tiny(min_len=2, max_len=4), SCHEME, 5, 16)
    both = joined([one, other])
    assert np.array_equal(both.counts, np.vstack([one.counts, other.counts]))
    assert positions_of(both) == positions_of(one) + [(d + 3, s, t) for d, s, t in positions_of(other)]


def masked(**changes: Any) -> MaskedDocuments:
    """Two documents of three and two words, changed."""
    arrays = {
        "inputs": np.array([[1, 0, 3], [2, 6, PAD]]),
        "targets": np.array([[1, 2, 3], [2, 6, PAD]]),
        "selected": np.array([[False, True, False], [True, False, False]]),
    }
    return MaskedDocuments(**(arrays | {name: np.array(value) for name, value in changes.items()}))


BAD: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: count_documents("x", VOCABULARY), TypeError, "batch = 'x': must be a MaskedDocuments"),  # type: ignore[arg-type]
    (lambda: count_documents(masked(), 7), TypeError, "vocabulary = 7: must be a Vocabulary"),  # type: ignore[arg-type]
    (lambda: count_documents(masked(inputs=[[1, 7, 3], [2, 6, PAD]]), VOCABULARY), ValueError, "inputs has ids from -1 to 7: "),
    (lambda: count_documents(masked(inputs=[[1, -2, 3], [2, 6, PAD]]), VOCABULARY), ValueError, "inputs has ids from -2 to 6: "),
    (lambda: count_documents(masked(targets=[[1, 0, 3], [2, 6, PAD]]), VOCABULARY), ValueError, "selected and targets: "),
    (lambda: count_documents(masked(targets=[[1, 7, 3], [2, 6, PAD]]), VOCABULARY), ValueError, "selected and targets: "),
    (lambda: count_documents(masked(selected=[[False] * 3, [True] * 3]), VOCABULARY), ValueError, "selected and targets: "),
    (
        lambda: count_documents(masked(selected=[[True] * 3, [False, False, True]], targets=[[1, 2, 3], [2, 6, 6]]), VOCABULARY),
        ValueError,
        "selected and targets: every document must have a selected position, and each a word from 1 to 6",
    ),
    (lambda: count_documents(masked(selected=[[True] * 3]), VOCABULARY), ValueError, "batch has shapes [(1, 3), (2, 3)]: "),
    (lambda: count_documents(masked(targets=[[1, 2], [2, 6]]), VOCABULARY), ValueError, "batch has shapes [(2, 2), (2, 3)]: "),
    (lambda: count_documents(masked(selected=[[0, 1, 0], [1, 0, 0]]), VOCABULARY), ValueError, "batch has shapes [(2, 3)]: "),
    (
        lambda: count_documents(
            masked(inputs=np.zeros((0, 3), int), targets=np.zeros((0, 3), int), selected=np.zeros((0, 3), bool)), VOCABULARY
        ),
        ValueError,
        "batch has shapes [(0, 3)]: ",
    ),
    (lambda: sample_counts("x", SCHEME, 2, 0), TypeError, "documents = 'x': must be a DocumentSettings"),  # type: ignore[arg-type]
    (lambda: sample_counts(tiny(), None, 2, 0), TypeError, "masking = None: must be a MaskingSettings"),  # type: ignore[arg-type]
    (lambda: sample_counts(tiny(), SCHEME, 0, 0), ValueError, "num_docs = 0: must be a whole number >= 1"),
    (lambda: sample_counts(tiny(), SCHEME, 2.0, 0), TypeError, "num_docs = 2.0: must be a whole number >= 1"),  # type: ignore[arg-type]
    (lambda: sample_counts(tiny(), SCHEME, 2, None), TypeError, "rng = None: must be a numpy.random.Generator"),  # type: ignore[arg-type]
    (lambda: sample_counts(tiny(), SCHEME, 2, -1), TypeError, "rng = -1: must be a numpy.random.Generator"),
]


@pytest.mark.parametrize(("call", "error", "begins"), BAD, ids=[f"{i}-{begins[:20]}" for i, (_, _, begins) in enumerate(BAD)])
def test_errors_name_the_argument(call: Callable[[], object], error: type[Exception], begins: str) -> None:
    with pytest.raises(error, match="^" + re.escape(begins)):
        call()


def test_the_documents_given_are_not_changed() -> None:
    given = masked()
    batch = count_documents(given, VOCABULARY)
    batch.counts[:], batch.targets[:], batch.shown[:] = 0, 0, 0
    assert np.array_equal(given.inputs, masked().inputs)
    assert np.array_equal(given.targets, masked().targets)
