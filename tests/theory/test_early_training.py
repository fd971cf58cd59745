"""The gradient of the attention scores at uniform attention, and the growth of W^K and W^Q that it gives."""

from fractions import Fraction as F

import numpy as np
import pytest
import sympy
import torch

from topiclib.documents import DocumentSettings, infinite_documents
from topiclib.masking import MaskingSettings, masked_distribution
from topiclib.theory import attention_gradient, attention_loss, optimal_attention, theorem2
from topiclib.theory import symbols as S
from topiclib.theory.value_matrix import ValueMatrix

pytestmark = pytest.mark.result("attention_gradient")
UNEVEN = ValueMatrix(F("0.02"), F("0.3"), F("-0.05"), F("0.5"))


def matrix(g):
    """G (V, V) from its six values."""
    t, v = int(g.num_topics), int(g.words_per_topic)
    full = ValueMatrix(g.word_mask, g.same_topic, g.different_topic, g.same_word).matrix(t, v)
    full[0, 0], full[0, 1:] = g.mask_mask, g.mask_word
    return full


def by_autograd(value_matrix, setting):
    """dL/dS at S = 0 from the definitions: every document, every query, a softmax, torch's derivative."""
    t, v, tau = (setting[name] for name in ("num_topics", "words_per_topic", "topics_per_doc"))
    p_m, p_c, p_r = (float(setting[name]) for name in ("p_m", "p_c", "p_r"))
    documents = torch.tensor(infinite_documents(DocumentSettings.theory(tau, num_topics=t, words_per_topic=v)))
    seen = torch.tensor(masked_distribution(documents.numpy(), MaskingSettings(p_m, p_c, p_r)))
    w = torch.tensor(value_matrix.matrix(t, v).astype(float))
    scores = torch.zeros(t * v + 1, t * v + 1, dtype=torch.float64, requires_grad=True)
    loss = torch.zeros((), dtype=torch.float64)
    for x, p in zip(seen, documents, strict=True):
        attention = (scores + x.log()[:, None]).softmax(0)
        outputs = w @ attention
        # A selected position shows [MASK], its own word, or any word; the target is a word of the document.
        shows = torch.full((t * v + 1,), p_r / (t * v), dtype=torch.float64) + p_c * p
        shows[0] = 1 - p_c - p_r
        targets = torch.outer(p, torch.full((t * v + 1,), p_r / (t * v), dtype=torch.float64)) + p_c * torch.diag(p)
        targets[:, 0] = (1 - p_c - p_r) * p
        loss = loss + (shows * (outputs**2).sum(0)).sum() - 2 * (outputs * targets).sum() + 1
    (loss / len(seen)).backward()
    return scores.grad.numpy()


def test_it_is_the_derivative_of_the_loss_by_autograd(setting):
    for value_matrix in (UNEVEN, theorem2(**{k: x for k, x in setting.items() if k != "topics_per_doc"})):
        found = matrix(attention_gradient(value_matrix, **setting)).astype(float)
        wanted = by_autograd(value_matrix, setting)
        if setting["p_r"] == 0:  # words outside of the document never show: no key, no query
            assert np.isfinite(found).all()
        np.testing.assert_allclose(found, wanted, atol=1e-15, rtol=1e-10)


def test_a_constant_added_to_a_querys_scores_changes_nothing(setting):
    g = matrix(attention_gradient(UNEVEN, **setting))
    assert (g.sum(axis=0) == 0).all()


def test_it_is_the_slope_of_the_exact_loss_over_assumption_2(setting):
    """Ratios alpha = beta = e^rho on words: the derivative at rho = 0 sums G over same-topic and [MASK]-[MASK] pairs."""
    if setting["words_per_topic"] == 1:
        return
    rho = sympy.Symbol("rho", real=True)
    ratio = sympy.exp(rho)
    loss = attention_loss(UNEVEN, same_topic_ratio=ratio, same_word_ratio=ratio, **setting)
    slope = sympy.nsimplify(sympy.diff(loss, rho).subs(rho, 0))
    g = attention_gradient(UNEVEN, **setting)
    t, v = setting["num_topics"], setting["words_per_topic"]
    assert g.mask_mask + t * v * (g.same_word + (v - 1) * g.same_topic) == F(int(slope.p), int(slope.q))


def test_the_gammas_are_the_matrixs_values_on_its_directions(setting):
    g = attention_gradient(UNEVEN, **setting)
    t, v, full = setting["num_topics"], setting["words_per_topic"], matrix(g)[1:, 1:]
    topics = np.repeat([F(1), F(-1)] + [F(0)] * (t - 2), v)
    assert (full @ topics == g.topic * topics).all()
    assert (full @ np.full(t * v, F(1)) == g.words).all()
    if v > 1:
        words = np.array([F(1), F(-1)] + [F(0)] * (t * v - 2))
        assert (full @ words == g.word * words).all()


def test_at_theorem_2_only_topics_pull(setting):
    """gamma = -2 p_c (tau - 1) (a / tau + r / T) / (a tau v^2 (T - 1)), all else 0; 0 where no word is kept, or tau = 1."""
    t, v, tau, p_m, p_c, p_r = setting.values()
    a, r = 1 - (1 - p_c) * p_m, p_m * p_r
    g = attention_gradient(theorem2(num_topics=t, words_per_topic=v, p_m=p_m, p_c=p_c, p_r=p_r), **setting)
    assert g.topic == -2 * p_c * (tau - 1) * (a / tau + r / t) / (a * tau * v**2 * (t - 1))
    assert (g.mask_mask, g.mask_word, g.word_mask, g.word, g.words) == (0, 0, 0, 0, 0)
    if g.topic:
        assert optimal_attention(**setting) > 1


def test_without_a_value_matrix_nothing_pulls(setting):
    assert not matrix(attention_gradient(ValueMatrix(F(0), F(0), F(0), F(0)), **setting)).any()


def test_a_path_of_value_matrices_gives_a_path_of_gradients(setting):
    ends = [ValueMatrix(*(scale * x for x in vars(UNEVEN).values())) for scale in (F(1, 3), F(1))]
    path = ValueMatrix(*(np.array([float(vars(w)[name]) for w in ends]) for name in vars(UNEVEN)))
    together = attention_gradient(path, **setting).topic
    np.testing.assert_allclose(together, [float(attention_gradient(w, **setting).topic) for w in ends], rtol=1e-9, atol=1e-16)


def test_symbols_give_the_same_function():
    letters = {"num_topics": S.T, "words_per_topic": S.v, "topics_per_doc": S.tau, "p_m": S.p_m, "p_c": S.p_c, "p_r": S.p_r}
    given = {"num_topics": 5, "words_per_topic": 3, "topics_per_doc": 2, "p_m": F("0.3"), "p_c": F("0.2"), "p_r": F("0.1")}
    symbolic = attention_gradient(UNEVEN, **letters)
    exact = attention_gradient(UNEVEN, **given)
    at = {letters[name]: sympy.Rational(x) for name, x in given.items()}
    for name in ("topic", "word", "words", "mask_mask", "mask_word", "word_mask"):
        assert sympy.nsimplify(getattr(symbolic, name).subs(at)) == sympy.Rational(getattr(exact, name))


@pytest.mark.parametrize(
    ("key", "wrong", "kind", "said"),
    [
        ("topics_per_doc", 5, ValueError, "topics_per_doc = 5.0: must be a whole number from 1 to below num_topics = 5.0"),
        ("p_m", 1.5, ValueError, "p_m = 1.5: must be in"),
        ("num_topics", 2.5, ValueError, "num_topics = 2.5: must be a whole number"),
        ("p_c", "a", TypeError, "p_c = 'a': must be a number"),
    ],
)
def test_bad_arguments_are_named(key, wrong, kind, said):
    given = {"num_topics": 5, "words_per_topic": 3, "topics_per_doc": 2, "p_m": 0.3, "p_c": 0.2, "p_r": 0.1, key: wrong}
    with pytest.raises(kind, match=f"^{said}"):
        attention_gradient(UNEVEN, **given)


def test_the_value_matrix_must_be_one():
    with pytest.raises(TypeError, match=r"^value_matrix = "):
        attention_gradient(np.eye(3), num_topics=2, words_per_topic=1, topics_per_doc=1, p_m=0.3, p_c=0.2, p_r=0.1)
