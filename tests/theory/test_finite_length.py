"""Documents of finite length: exact against enumeration, its limits, and samples of N = 125."""

from fractions import Fraction as F

import numpy as np
import pytest
import sympy

from topiclib.documents import DocumentSettings, sample_documents
from topiclib.enumeration import finite_moments, minimum_norm_solution, ridge_solution
from topiclib.masking import MaskingSettings, mask_documents
from topiclib.theory import finite_documents, ridge_value_matrix, theorem2
from topiclib.theory import symbols as S
from topiclib.theory.finite_length import mask_counts

SMALL = [
    (3, 1, 2, F("0.15"), F("0.1"), F("0.1")),
    (3, 2, 2, F("0.3"), F("0.2"), F("0.4")),
    (2, 2, 1, F(1, 2), F(0), F(1, 5)),
    (3, 2, 1, F("0.6"), F("0.5"), F("0.1")),
]
NAMES = ("num_topics", "words_per_topic", "topics_per_doc", "p_m", "p_c", "p_r")


@pytest.mark.result("finite_documents")
@pytest.mark.parametrize("doc_len", [1, 2, 3])
@pytest.mark.parametrize("values", SMALL, ids=str)
def test_it_is_the_enumerated_ridge_solution(values, doc_len):
    setting = dict(zip(NAMES, values, strict=True))
    moments = finite_moments(doc_len=doc_len, **setting)
    for l2_coef in (F(1, 100), F(2)):
        found = finite_documents(doc_len=doc_len, l2_coef=l2_coef, **setting)
        assert (found.matrix(*values[:2]) == ridge_solution(moments, l2_coef)).all()


@pytest.mark.result("finite_documents")
@pytest.mark.parametrize("values", SMALL, ids=str)
def test_without_a_penalty_it_is_the_enumerated_minimiser(values):
    setting = dict(zip(NAMES, values, strict=True))
    found = finite_documents(doc_len=3, **setting)
    assert (found.matrix(*values[:2]) == minimum_norm_solution(finite_moments(doc_len=3, **setting))).all()


@pytest.mark.result("finite_documents")
def test_the_two_limits_do_not_commute(paper):
    short = {**paper, "p_r": F("0.05")}
    masks = {k: short[k] for k in ("num_topics", "words_per_topic", "p_m", "p_c", "p_r")}
    limit = theorem2(**masks)
    for doc_len in (50, 300):
        # First lambda -> 0: the diagonal is p_c / (1 - m), with the selected fraction E|M| / N for p_m.
        found = finite_documents(doc_len=doc_len, **short)
        masked = mask_counts(doc_len, short["p_m"]).selected * (1 - short["p_c"] - short["p_r"])
        assert found.same_word - found.same_topic == short["p_c"] / (1 - masked)
    # First N -> infinity, at lambda = 10^-6: the diagonal goes.
    lengths = np.array([200, 20_000, 2_000_000])
    gaps = finite_documents(doc_len=lengths, l2_coef=1e-6, **short).same_word - float(limit.same_topic)
    assert gaps[0] > gaps[1] > gaps[2] > 0
    assert gaps[2] < 0.01


@pytest.mark.result("finite_documents", "ridge_value_matrix")
def test_long_documents_are_the_infinite_ones(setting):
    found = finite_documents(doc_len=10_000, l2_coef=0.02, **{k: float(x) for k, x in setting.items()})
    expected = ridge_value_matrix(l2_coef=0.02, **{k: float(x) for k, x in setting.items()})
    for name in ("mask_column", "same_topic", "different_topic", "same_word"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=2e-3)


@pytest.mark.result("finite_documents")
def test_samples_of_125_words_give_its_values(paper):
    # Least squares on sampled documents with topiclib's own sampler and masks: sums by symmetry class.
    settings = DocumentSettings.theory(topics_per_doc=3, min_len=125, max_len=125)
    vocabulary, rng, l2 = settings.vocabulary, np.random.default_rng(0), 1e-4
    second, cross, docs = np.zeros((101, 101)), np.zeros((101, 101)), 40_000
    for _ in range(20):
        batch = mask_documents(sample_documents(settings, docs // 20, rng).tokens, vocabulary, MaskingSettings.paper(), rng)
        x = np.zeros((len(batch), 101))
        np.add.at(x, (np.arange(len(batch))[:, None], batch.inputs), 1 / 125)
        y = np.zeros_like(x)
        weight = batch.selected / batch.selected.sum(axis=1, keepdims=True)
        np.add.at(y, (np.arange(len(batch))[:, None], batch.targets), weight)
        second, cross = second + x.T @ x / docs, cross + x.T @ y / docs
    fitted = np.linalg.solve(second + l2 * np.eye(101), cross).T
    expected = finite_documents(doc_len=125, l2_coef=l2, **{k: float(v) for k, v in paper.items()})
    relation = vocabulary.relations()
    for value, name in ((1, "same_word"), (2, "same_topic"), (3, "different_topic")):
        entries = fitted[relation == value]
        # The mean over a class; entries of one row or column are correlated, so ten times the plain standard error.
        assert entries.mean() == pytest.approx(getattr(expected, name), abs=10 * entries.std() / len(entries) ** 0.5)
    assert fitted[1:, 0].mean() == pytest.approx(expected.mask_column, abs=1e-4)


@pytest.mark.result("finite_documents")
def test_the_values_at_the_papers_setting(paper):
    found = finite_documents(doc_len=125, **paper)
    rounded = [round(float(x), 4) for x in (found.same_word, found.same_topic, found.different_topic, found.mask_column)]
    assert rounded == [0.2137, 0.1001, -0.0013, 0.01]


@pytest.mark.result("finite_documents")
@pytest.mark.parametrize("doc_len", [1, 2, 7])
def test_the_number_of_selected_positions_is_a_non_empty_binomial(doc_len):
    p = F(1, 3)
    masks = range(1, 2**doc_len)
    weight = {bits: p ** bits.bit_count() * (1 - p) ** (doc_len - bits.bit_count()) for bits in masks}
    total = sum(weight.values())
    found = mask_counts(doc_len, p)
    symbolic = mask_counts(S.N, S.p_m)
    assert sympy.simplify(symbolic.other.subs({S.N: 7, S.p_m: sympy.Rational(1, 3)}) - sympy.Rational(mask_counts(7, p).other)) == 0
    assert found.selected == sum(w for bits, w in weight.items() if bits & 1) / total
    if doc_len > 1:
        assert found.both == sum(w for bits, w in weight.items() if bits & 3 == 3) / total
        assert found.one == sum(w for bits, w in weight.items() if bits & 3 == 1) / total
        assert found.neither == sum(w for bits, w in weight.items() if bits & 3 == 0) / total
        # Draw a position from M, then look at another one: average over all of M and its complement.
        others = sum(w * F(bits.bit_count() - 1, doc_len - 1) for bits, w in weight.items()) / total
        assert found.other == others


def test_bad_arguments_are_named(paper):
    with pytest.raises(ValueError, match=r"^doc_len = 0: must be a whole number >= 1"):
        finite_documents(doc_len=0, **paper)
    with pytest.raises(ValueError, match=r"^doc_len = 2.5: must be a whole number >= 1"):
        finite_documents(doc_len=2.5, **paper)
    with pytest.raises(ValueError, match=r"^l2_coef = -1: must be >= 0"):
        finite_documents(doc_len=5, l2_coef=-1, **paper)
    with pytest.raises(ValueError, match=r"^topics_per_doc = 10: must be a number from 1 to below num_topics = 10"):
        finite_documents(doc_len=5, **{**paper, "topics_per_doc": 10})
