"""Theorem 2, ridge and the path of gradient descent: exact rationals, sympy, and torch step by step."""

from fractions import Fraction as F

import numpy as np
import pytest
import sympy
import torch

from topiclib.documents import DocumentSettings, infinite_documents
from topiclib.enumeration import infinite_moments, minimum_norm_solution, ridge_solution
from topiclib.masking import MaskingSettings, masked_distribution
from topiclib.theory import (
    effective_topics_per_doc,
    gradient_path,
    masking_fractions,
    ridge_value_matrix,
    spectrum,
    theorem2,
    theorem2_constants,
)
from topiclib.theory import symbols as S

SYMBOLS = {"num_topics": S.T, "words_per_topic": S.v, "p_m": S.p_m, "p_c": S.p_c, "p_r": S.p_r}


def full(found, setting):
    return found.matrix(setting["num_topics"], setting["words_per_topic"])


@pytest.mark.result("theorem2")
def test_it_is_the_pseudo_inverse_solution(setting, sizes):
    assert (full(theorem2(**sizes), setting) == minimum_norm_solution(infinite_moments(**setting))).all()


@pytest.mark.result("ridge_value_matrix")
@pytest.mark.parametrize("l2_coef", [F(1, 1000), F(1, 7), F(3)])
def test_ridge_is_exact_at_every_penalty(setting, l2_coef):
    assert (
        full(ridge_value_matrix(l2_coef=l2_coef, **setting), setting) == ridge_solution(infinite_moments(**setting), l2_coef)
    ).all()


@pytest.mark.result("theorem2", "ridge_value_matrix")
def test_the_limit_of_ridge_is_theorem_2(setting, sizes):
    assert ridge_value_matrix(l2_coef=0, **setting) == theorem2(**sizes)
    # ... and it is reached: the distance is linear in lambda.
    distances = [abs(ridge_value_matrix(l2_coef=F(1, 10**k), **setting).same_topic - theorem2(**sizes).same_topic) for k in (8, 9)]
    assert distances[1] < distances[0] / 9 < F(1, 10**4)


@pytest.mark.result("theorem2", "theorem2_constants")
def test_sympy_derives_it_from_lemma_1():
    # The smallest row of Lemma 1's family: entries uniform inside a block, then the best u.
    c = theorem2_constants(**SYMBOLS)
    v, T = S.v, S.T
    own, other, mask = (c.c_3 + S.u * v) / v, S.u, -c.c_1 - c.c_2 * S.u
    norm = mask**2 + v * own**2 + (T - 1) * v * other**2
    (u,) = sympy.solve(sympy.diff(norm, S.u), S.u)
    found = theorem2(**SYMBOLS)
    assert sympy.simplify(found.different_topic - u) == 0
    assert sympy.simplify(found.same_topic - own.subs(S.u, u)) == 0
    assert sympy.simplify(found.mask_column - mask.subs(S.u, u)) == 0


@pytest.mark.result("theorem2")
def test_the_values_of_the_papers_setting(paper):
    found = theorem2(**{k: x for k, x in paper.items() if k != "topics_per_doc"})
    assert (found.mask_column, found.same_topic, found.different_topic) == (F(75, 1384), F(299, 2768), F(-21, 2768))
    assert found.same_word == found.same_topic


@pytest.mark.result("theorem2")
def test_signs_hold_in_general(setting, sizes):
    found = theorem2(**sizes)
    assert found.mask_column > 0 > found.different_topic
    assert found.same_topic > 0


@pytest.mark.result("gradient_path")
def test_one_step_and_many_in_exact_rationals(setting):
    moments, eta = infinite_moments(**setting), F(1, 3)
    w = np.full(moments.second.shape, F(0), dtype=object)
    for step in range(4):
        assert (full(gradient_path(steps=step, learning_rate=eta, **setting), setting) == w).all()
        w = w - 2 * eta * (w @ moments.second - moments.cross.T)


@pytest.mark.result("gradient_path")
def test_torch_goes_the_same_way_step_by_step(paper):
    documents = infinite_documents(DocumentSettings.theory(topics_per_doc=3))
    x = torch.from_numpy(masked_distribution(documents, MaskingSettings.paper()))
    p = torch.from_numpy(documents)
    w = torch.zeros(101, 101, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=2.0)
    path = gradient_path(steps=np.arange(200), learning_rate=2.0, **paper)
    for step in range(200):
        expected = (path.mask_column[step], path.same_topic[step], path.different_topic[step])
        found = w.detach().numpy()
        np.testing.assert_allclose(found[1:, 0], expected[0], rtol=1e-10, atol=1e-14)
        blocks = found[1:, 1:].reshape(10, 10, 10, 10)
        same = np.eye(10, dtype=bool)[:, None, :, None] & np.ones((1, 10, 1, 10), dtype=bool)
        np.testing.assert_allclose(blocks[same], expected[1], rtol=1e-9, atol=1e-14)
        np.testing.assert_allclose(blocks[~same], expected[2], rtol=1e-9, atol=1e-14)
        np.testing.assert_array_equal(found[0], 0)
        optimizer.zero_grad()
        prediction = x @ w.T
        (prediction.square().sum(1) - 2 * (prediction * p).sum(1) + 1).mean().backward()
        optimizer.step()


@pytest.mark.result("gradient_path", "spectrum")
def test_the_mean_is_learned_before_the_topics(paper):
    s = spectrum(**paper)
    assert float(s.mean / s.topic) == pytest.approx(11.4, abs=0.05)
    steps = int(1 / s.mean)
    path, end = gradient_path(steps=steps, learning_rate=F(1, 2), **paper), ridge_value_matrix(l2_coef=0, **paper)
    assert path.mask_column / end.mask_column > F(3, 5)
    assert (path.same_topic - path.different_topic) / (end.same_topic - end.different_topic) < F(1, 10)


@pytest.mark.result("gradient_path")
def test_the_path_ends_at_theorem_2(setting, sizes):
    path = gradient_path(steps=100_000, learning_rate=1.0, **{k: float(x) for k, x in setting.items()})
    found, expected = full(path, setting), full(theorem2(**sizes), setting).astype(float)
    np.testing.assert_allclose(found, expected, atol=1e-8)


@pytest.mark.result("effective_topics_per_doc")
@pytest.mark.parametrize("concentration", [F(1), F("0.3"), F(20)])
def test_a_dirichlet_mixture_has_its_second_moment(concentration):
    big_t = 10
    tau = effective_topics_per_doc(num_topics=big_t, concentration=concentration)
    alpha = concentration / big_t
    exact = alpha * (alpha + 1) / (concentration * (concentration + 1))  # E[weight^2] of a Dirichlet
    assert 1 / (tau * big_t) == exact  # tau topics of weight 1 / tau, each with probability tau / T
    weights = np.random.default_rng(0).dirichlet(np.full(big_t, float(alpha)), size=40_000)
    squares = (weights**2).mean(axis=1)
    assert abs(squares.mean() - float(exact)) < 5 * squares.std() / 200


@pytest.mark.result("effective_topics_per_doc")
def test_the_papers_mixture():
    assert effective_topics_per_doc(num_topics=10, concentration=1) == F(20, 11)


@pytest.mark.result("spectrum")
def test_lda_documents_have_the_spectrum_of_the_effective_tau():
    rng, masks = np.random.default_rng(1), {"p_m": 0.15, "p_c": 0.1, "p_r": 0.1}
    weights = rng.dirichlet(np.full(5, 0.2), size=200_000)
    x = np.hstack([np.zeros((len(weights), 1)), np.repeat(weights / 2, 2, axis=1)])
    x = masked_distribution(x, MaskingSettings(**masks))
    found = np.linalg.eigvalsh(x.T @ x / len(x))
    tau = effective_topics_per_doc(num_topics=5, concentration=1.0)
    s = spectrum(num_topics=5, words_per_topic=2, topics_per_doc=tau, **masks)
    np.testing.assert_allclose(found[-5:], [s.topic] * 4 + [s.mean], rtol=0.02)
    np.testing.assert_allclose(found[:-5], 0, atol=1e-12)


@pytest.mark.result("masking_fractions")
def test_fractions_are_those_of_the_settings_class(setting):
    masks = {k: setting[k] for k in ("p_m", "p_c", "p_r")}
    found, settings = masking_fractions(**masks), MaskingSettings(**{k: float(x) for k, x in masks.items()})
    assert found.mask + found.true + found.random == 1
    np.testing.assert_allclose(
        [float(found.mask), float(found.true), float(found.random)],
        [settings.mask_fraction, settings.true_fraction, settings.random_fraction],
    )
