"""Theorem 3's loss and minimiser: brute force in exact rationals, sympy, a real softmax, and the paper's interval."""

import math
from fractions import Fraction as F
from itertools import pairwise, product

import numpy as np
import pytest
import sympy
from conftest import EXACT, named

from topiclib.documents import DocumentSettings, sample_documents
from topiclib.enumeration import attention_loss as enumerated_loss
from topiclib.masking import MaskingSettings, mask_documents
from topiclib.theory import (
    ValueMatrix,
    attention_loss,
    attention_optimum,
    attention_polynomial,
    diagonal_value_matrix,
    optimal_attention,
    theorem1_witness,
    theorem2,
    theorem2_constants,
    theorem3,
    theorem3_loss,
)
from topiclib.theory import symbols as S

RATIOS = [(F(1), F(1)), (F(3), F(1)), (F(1), F(7, 2)), (F(5, 2), F(1, 3)), (F(1, 4), F(20))]
PAPER_MASKS = {"p_m": F("0.15"), "p_c": F("0.1"), "p_r": F("0.1")}


def without_tau(setting):
    return {k: x for k, x in setting.items() if k != "topics_per_doc"}


@pytest.mark.result("theorem3_loss", "loss_terms", "attention_loss")
@pytest.mark.parametrize("ratios", RATIOS, ids=str)
def test_the_closed_form_is_the_enumerated_loss(setting, ratios):
    ratio = dict(zip(("same_topic_ratio", "same_word_ratio"), ratios, strict=True))
    w = theorem2(**without_tau(setting))
    enumerated = enumerated_loss(w.matrix(setting["num_topics"], setting["words_per_topic"]), **ratio, **setting)
    assert theorem3_loss(**ratio, **setting) == enumerated
    assert attention_loss(w, **ratio, **setting) == enumerated


@pytest.mark.result("attention_loss", "diagonal_value_matrix")
@pytest.mark.parametrize("ratios", RATIOS[1:4], ids=str)
def test_other_value_matrices_too(setting, ratios):
    ratio = dict(zip(("same_topic_ratio", "same_word_ratio"), ratios, strict=True))
    shape = setting["num_topics"], setting["words_per_topic"]
    diagonal = diagonal_value_matrix(**without_tau(setting))
    for w in (diagonal, ValueMatrix(F(1, 3), F(-1, 5), F(2, 7), F(3, 4))):
        assert attention_loss(w, **ratio, **setting) == enumerated_loss(w.matrix(*shape), **ratio, **setting)


@pytest.mark.result("diagonal_value_matrix")
def test_the_diagonal_is_optimal_under_uniform_attention(setting):
    diagonal = diagonal_value_matrix(**without_tau(setting))
    loss = attention_loss(diagonal, same_topic_ratio=1, same_word_ratio=1, **setting)
    assert loss == 1 - F(1, setting["topics_per_doc"] * setting["words_per_topic"])
    assert diagonal.mask_column == -theorem2_constants(**without_tau(setting)).c_1


def softmax_losses(setting, alpha, beta, doc_len, num_docs, seed):
    """Per document: equation 1 with a real softmax over N positions, logits log alpha and log beta, and Theorem 2's W^V."""
    sizes = {k: int(setting[k]) for k in ("num_topics", "words_per_topic", "topics_per_doc")}
    settings = DocumentSettings(mixture="fixed", min_len=doc_len, max_len=doc_len, **sizes)
    masks = MaskingSettings(**{k: float(setting[k]) for k in ("p_m", "p_c", "p_r")})
    w = theorem2(**without_tau(setting)).matrix(sizes["num_topics"], sizes["words_per_topic"]).astype(float)
    rng, vocabulary, losses = np.random.default_rng(seed), settings.vocabulary, []
    logits = np.log(np.array([1.0, beta, alpha, 1.0]))[vocabulary.relations()]
    logits[0, 0] = math.log(beta)
    for _ in range(num_docs):
        batch = mask_documents(sample_documents(settings, 1, rng).tokens, vocabulary, masks, rng)
        shown, selected = batch.inputs[0], batch.selected[0]
        scores = logits[np.ix_(shown, shown[selected])]
        a = np.exp(scores - scores.max(axis=0))
        output = w[:, shown] @ (a / a.sum(axis=0))
        target = np.eye(vocabulary.size)[:, batch.targets[0][selected]]
        losses.append(((output - target) ** 2).sum(axis=0).mean())
    return np.array(losses)


@pytest.mark.result("theorem3_loss")
@pytest.mark.parametrize(
    ("values", "alpha", "beta"),
    [
        ((5, 3, 2, F("0.15"), F("0.1"), F("0.1")), 4.0, 1.0),
        ((4, 2, 2, F("0.15"), F("0.1"), F("0.1")), 5.0, 1.0),
        ((6, 2, 3, F("0.3"), F("0.3"), F("0.05")), 2.0, 6.0),
        ((10, 10, 2, F("0.15"), F("0.1"), F("0.1")), 6.3, 1.0),
    ],
    ids=str,
)
def test_a_real_softmax_has_this_loss(values, alpha, beta):
    setting = named(values)
    losses = softmax_losses(setting, alpha, beta, doc_len=1500, num_docs=120, seed=0)
    exact = theorem3_loss(same_topic_ratio=alpha, same_word_ratio=beta, **setting)
    error = losses.std(ddof=1) / len(losses) ** 0.5
    assert abs(losses.mean() - float(exact)) < 3 * error  # documents of 1500 words: the bias of order 1 / N is below that
    uniform = theorem3_loss(same_topic_ratio=1, same_word_ratio=1, **setting)
    assert abs(losses.mean() - float(uniform)) > 3 * error


@pytest.mark.result("optimal_attention")
@pytest.mark.parametrize(
    ("num_topics", "expected"),
    [
        (10, [5.7629, 7.7160]),
        (100, [11.7018, 21.9943, 41.6768, 68.0674]),
        (1000, [13.7622, 28.3828, 68.6172, 181.1069]),
        (math.inf, [14.0527, 29.3537, 73.9794, 222.1925]),
    ],
)
def test_the_table_of_the_papers_masks(num_topics, expected):
    taus = [tau for tau in (2, 4, 10, 30) if tau < num_topics]
    found = [optimal_attention(num_topics=num_topics, words_per_topic=10, topics_per_doc=tau, **PAPER_MASKS) for tau in taus]
    np.testing.assert_allclose([float(x) for x in found], expected, atol=5.1e-5)


@pytest.mark.result("optimal_attention", "attention_polynomial")
def test_the_minimiser_is_where_the_exact_loss_is_least(setting):
    s = optimal_attention(**setting)
    if setting["topics_per_doc"] == 1 or setting["p_c"] == 0:
        assert s == 1
        return
    assert s > 1  # Remark 4's condition is not needed
    v = setting["words_per_topic"]
    if v == 1:  # no other word in a topic: s and beta are one and the same ratio, which [MASK] queries want at 1
        return
    exact = theorem3_loss(same_topic_ratio=(S.s * v - 1) / (v - 1), same_word_ratio=sympy.Integer(1), **setting)
    slope, curvature = (sympy.diff(exact, S.s, k).subs(S.s, sympy.Float(s, 30)) for k in (1, 2))
    assert curvature > 0
    assert abs(slope / curvature) < 1e-9 * s


@pytest.mark.result("attention_polynomial")
def test_the_quartic_is_the_derivative_of_the_loss(setting):
    if setting["words_per_topic"] == 1:
        setting = {**setting, "words_per_topic": 2}
    v = setting["words_per_topic"]
    coefficients = attention_polynomial(**setting)
    quartic = sum(sympy.Rational(c) * S.y**k for k, c in enumerate(reversed(coefficients)))
    loss = theorem3_loss(same_topic_ratio=((1 + S.y) * v - 1) / (v - 1), same_word_ratio=sympy.Integer(1), **setting)
    numerator = sympy.numer(sympy.together(sympy.diff(loss, S.y)))
    _, remainder = sympy.div(sympy.Poly(numerator, S.y), sympy.Poly(quartic, S.y))
    assert remainder == 0 or quartic == 0
    signs = [c > 0 for c in coefficients if c != 0]
    changes = sum(a != b for a, b in pairwise(signs))
    assert changes == (1 if setting["p_c"] > 0 and setting["topics_per_doc"] > 1 else 0)


@pytest.mark.result("optimal_attention")
def test_the_limit_of_many_topics():
    a, tau = F("0.865"), 4
    exact = optimal_attention(num_topics=math.inf, words_per_topic=10, topics_per_doc=tau, **PAPER_MASKS)
    assert exact == tau / (1 - a) - a / (tau - a)
    gaps = [
        float(exact) - optimal_attention(num_topics=t, words_per_topic=10, topics_per_doc=tau, **PAPER_MASKS)
        for t in (10**4, 10**5)
    ]
    assert 0 < gaps[1] < gaps[0] / 9
    # Leading order: the fraction a of the attention is on the own topic.
    large = 10**6
    s = optimal_attention(num_topics=math.inf, words_per_topic=10, topics_per_doc=large, **PAPER_MASKS)
    share = a / large
    assert float(s * share / (1 + (s - 1) * share)) == pytest.approx(float(a), abs=1e-5)


@pytest.mark.result("optimal_attention")
def test_without_kept_words_attention_stays_uniform():
    masks = {**PAPER_MASKS, "p_c": F(0)}
    assert optimal_attention(num_topics=10, words_per_topic=10, topics_per_doc=3, **masks) == 1
    assert optimal_attention(num_topics=math.inf, words_per_topic=10, topics_per_doc=3, **masks) == 1


@pytest.mark.result("optimal_attention")
@pytest.mark.parametrize("values", [v for v in EXACT if v[2] >= 2 and v[3] * v[4] > 0], ids=str)
def test_the_root_is_exact_to_rounding(values):
    setting = named(values)
    quartic = sympy.Poly([sympy.Rational(c) for c in attention_polynomial(**setting)], S.y)
    (root,) = [x for x in quartic.nroots(n=30) if x.is_real and x > 0]
    assert optimal_attention(**setting) == pytest.approx(float(1 + root), rel=1e-12)


@pytest.mark.result("theorem3_loss")
def test_remark_5_fails_at_finite_size():
    setting = named((4, 2, 2, F("0.15"), F("0.1"), F("0.1")))
    losses = [theorem3_loss(same_topic_ratio=x, same_word_ratio=y, **setting) for x, y in ((3, 3), (5, 1))]
    assert [round(float(x), 5) for x in losses] == [0.73782, 0.73405]  # the same weighted average, 3


@pytest.mark.result("theorem3_loss")
def test_it_is_symbolic_and_broadcasts():
    setting = named((6, 3, 2, F("0.15"), F("0.1"), F("0.2")))
    symbolic = theorem3_loss(same_topic_ratio=S.alpha, same_word_ratio=S.beta, **setting)
    alpha, beta = np.array([[1.0, 2.5]]), np.array([[0.5], [1.0], [4.0]])
    surface = theorem3_loss(same_topic_ratio=alpha, same_word_ratio=beta, **setting)
    assert surface.shape == (3, 2)
    for i, j in product(range(3), range(2)):
        value = symbolic.subs({S.alpha: alpha[0, j], S.beta: beta[i, 0]})
        assert surface[i, j] == pytest.approx(float(value), rel=1e-12)


@pytest.mark.result("theorem3")
def test_the_interval_is_the_papers():
    found = theorem3(num_topics=S.T, topics_per_doc=S.tau, p_m=S.p_m, p_c=S.p_c, p_r=S.p_r)
    true = 1 - (1 - S.p_c) * S.p_m
    low = (true + S.p_m * S.p_r) * (1 + (1 - S.p_c) * S.p_m) / (2 * true) * (S.tau - 1)
    high = 100 * (true / (S.p_m * S.p_r) + 1) * S.T
    assert sympy.simplify(found.low - low) == 0
    assert sympy.simplify(found.high - high) == 0
    paper = theorem3(num_topics=1000, topics_per_doc=2, **PAPER_MASKS)
    assert round(float(paper.low), 4) == 0.5773
    assert round(float(paper.high / 1000), 1) == 5866.7


@pytest.mark.result("theorem3", "optimal_attention")
@pytest.mark.parametrize("num_topics", [100, 1000, 10**5])
def test_the_interval_holds_in_its_regime(num_topics):
    for tau in (2, 4, int(num_topics**0.5)):
        interval = theorem3(num_topics=num_topics, topics_per_doc=tau, **PAPER_MASKS)
        s = optimal_attention(num_topics=num_topics, words_per_topic=10, topics_per_doc=tau, **PAPER_MASKS)
        assert interval.low < s < interval.high


@pytest.mark.result("theorem3", "optimal_attention")
def test_the_interval_can_fail_outside_its_regime():
    masks = {"p_m": F("0.49"), "p_c": F("0.02"), "p_r": F("0.02")}
    s = optimal_attention(num_topics=100, words_per_topic=10, topics_per_doc=99, **masks)
    low = theorem3(num_topics=100, topics_per_doc=99, **masks).low
    assert (round(s, 2), round(float(low), 2)) == (66.86, 73.90)


@pytest.mark.result("attention_optimum")
@pytest.mark.parametrize("values", [(10, 10, 2), (100, 10, 4), (6, 3, 3)], ids=str)
def test_the_numerical_optimum_of_the_blocks_is_the_exact_one(values):
    setting = named((*values, *PAPER_MASKS.values()))
    found = attention_optimum(theorem2(**without_tau(setting)), **setting)
    s, v = optimal_attention(**setting), values[1]
    assert found.same_topic_mean == pytest.approx(s, rel=1e-12)
    assert found.same_word_ratio == pytest.approx(1, rel=1e-12)
    least = theorem3_loss(same_topic_ratio=(v * s - 1) / (v - 1), same_word_ratio=1, **setting)
    assert found.loss == pytest.approx(float(least), abs=1e-14)


@pytest.mark.result("attention_optimum", "diagonal_value_matrix")
def test_the_optimum_of_the_diagonal_beats_a_grid():
    setting = named((10, 10, 2, *PAPER_MASKS.values()))
    diagonal = diagonal_value_matrix(**without_tau(setting))
    found = attention_optimum(diagonal, **setting)
    grid = np.geomspace(1e-3, 300, 120)
    surface = attention_loss(diagonal, same_topic_ratio=grid[None, :], same_word_ratio=grid[:, None], **setting)
    assert found.loss <= surface.min()
    assert surface.min() - found.loss < 1e-4
    assert found.same_topic_ratio < 1 < found.same_word_ratio


@pytest.mark.result("attention_optimum")
@pytest.mark.parametrize(("values", "alpha"), [((10, 10, 2), 0.0), ((100, 10, 50), 0.5244115762498824)], ids=str)
def test_the_optimum_of_the_diagonal_is_on_the_edge_or_inside(values, alpha):
    setting = named((*values, *PAPER_MASKS.values()))
    diagonal = diagonal_value_matrix(**without_tau(setting))
    found = attention_optimum(diagonal, **setting)
    assert found.same_topic_ratio == pytest.approx(alpha, rel=1e-9)
    # Exact slopes: zero inside; on the edge alpha = 0 the loss rises with alpha.
    exact = attention_loss(diagonal, same_topic_ratio=S.alpha, same_word_ratio=S.beta, **setting)
    at = {S.alpha: sympy.Float(found.same_topic_ratio), S.beta: sympy.Float(found.same_word_ratio)}
    by_alpha, by_beta = (float(sympy.diff(exact, x).subs(at)) for x in (S.alpha, S.beta))
    assert abs(by_beta) < 1e-15
    assert by_alpha > 1e-6 if alpha == 0 else abs(by_alpha) < 1e-12
    with pytest.raises(ValueError, match=r"^words_per_topic = 1: must be at least 2"):
        attention_optimum(diagonal, **{**setting, "words_per_topic": 1})


@pytest.mark.result("theorem3_loss")
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"same_topic_ratio": 0}, r"^same_topic_ratio = 0: must be > 0"),
        ({"same_word_ratio": -1}, r"^same_word_ratio = -1: must be > 0"),
        ({"topics_per_doc": 4}, r"^topics_per_doc = 4: must be a whole number from 1 to below num_topics = 4"),
        ({"p_c": F(1, 2), "p_r": F(1, 2)}, r"^p_c \+ p_r = 1: must be below 1"),
        ({"p_m": 0}, r"^p_m = 0: must be in \(0, 1\)"),
        ({"words_per_topic": 0}, r"^words_per_topic = 0: must be a whole number >= 1"),
    ],
)
def test_bad_arguments_are_named(changes, message):
    setting = {"same_topic_ratio": 1, "same_word_ratio": 1, **named((4, 2, 2, *PAPER_MASKS.values())), **changes}
    with pytest.raises(ValueError, match=message):
        theorem3_loss(**setting)


def test_other_functions_name_them_too():
    with pytest.raises(ValueError, match=r"^num_topics = .* is an array"):
        optimal_attention(num_topics=np.array([10, 20]), words_per_topic=10, topics_per_doc=2, **PAPER_MASKS)
    with pytest.raises(ValueError, match=r"^p_r = 0: must be > 0"):
        theorem3(num_topics=10, topics_per_doc=2, p_m=F(1, 10), p_c=F(1, 10), p_r=0)
    with pytest.raises(ValueError, match=r"^u is not realisable"):
        theorem1_witness(u=[1, 0, 0], num_topics=2, words_per_topic=1, **PAPER_MASKS)
