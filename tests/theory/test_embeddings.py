"""Theorem 1: the block sums, which constants exist, the rank, few dimensions, weight decay."""

from fractions import Fraction as F

import numpy as np
import pytest
import torch

from topiclib.enumeration import infinite_moments, rank
from topiclib.theory import (
    embedding_dim_loss,
    embedding_weight_decay,
    lemma1,
    lemma1_mask_row,
    masking_fractions,
    theorem1,
    theorem1_mask_row,
    theorem1_realisable,
    theorem1_witness,
    theorem2_constants,
)


def bias_of(sizes):
    """b_pred of Theorem 1, 0 for [MASK]."""
    f = masking_fractions(**{k: sizes[k] for k in ("p_m", "p_c", "p_r")})
    words = sizes["num_topics"] * sizes["words_per_topic"]
    return np.array([F(0)] + [-f.random / (f.true * words)] * words, dtype=object)


def loss(gram, bias, moments):
    """E ||E x + b - e_target||^2 for exact or float arrays."""
    mean, targets = moments.cross.sum(axis=1), moments.cross.sum(axis=0)
    linear = 2 * np.einsum("i,ij,j->", bias, gram, mean) - 2 * (gram * moments.cross.T).sum() - 2 * bias @ targets
    return 1 + bias @ bias + linear + (gram @ moments.second * gram).sum()


def constants(sizes, seed):
    """u_0, ..., u_Tv that are realisable, with one mean in every topic."""
    rng = np.random.default_rng(seed)
    t, v = sizes["num_topics"], sizes["words_per_topic"]
    u = [[F(int(x), 11) for x in row] for row in rng.integers(-4, 9, size=(t, v))]
    mean = F(2, 5)
    u = [[x + mean - sum(row) / v for x in row] for row in u]
    c_2 = theorem2_constants(**sizes).c_2
    return [-c_2 * mean, *(x for row in u for x in row)]


@pytest.mark.result("theorem1", "theorem1_mask_row")
def test_it_is_lemma_1_with_the_bias_moved_out(setting, sizes):
    c_1 = theorem2_constants(**sizes).c_1
    for u in (F(0), F(3, 7), F(-2)):
        embedding, linear = theorem1(**sizes, u=u), lemma1(**setting, u=u)
        assert (embedding.mask_column - c_1, embedding.own_topic) == (linear.mask_column, linear.own_topic)
        assert theorem1_mask_row(**sizes, u=u) == lemma1_mask_row(**setting, u=u)
        # The bias also on [MASK]: the output c_1 m + b must vanish.
        assert theorem1_mask_row(**sizes, u=u, bias_on_mask=True).mask_column == linear.other_topic * 0 + c_1 + (
            lemma1_mask_row(**setting, u=u).mask_column
        )


@pytest.mark.result("theorem1", "theorem1_witness", "theorem1_realisable")
def test_a_witness_is_an_optimal_embedding(setting, sizes):
    moments = infinite_moments(**setting)
    t, v = sizes["num_topics"], sizes["words_per_topic"]
    best = 1 - F(1, setting["topics_per_doc"] * v)
    for u in (constants(sizes, 0), constants(sizes, 1), [F(0)] * (t * v + 1)):
        assert theorem1_realisable(u=u, **sizes)
        gram = theorem1_witness(u=u, **sizes)
        assert (gram == gram.T).all()
        assert np.linalg.eigvalsh(gram.astype(float)).min() > -1e-9
        assert loss(gram, bias_of(sizes), moments) == best
        for i, row in enumerate(gram):
            expected = (theorem1_mask_row if i == 0 else theorem1)(**sizes, u=u[i])
            sums = row[1:].reshape(t, v).sum(axis=1)
            assert row[0] == expected.mask_column
            assert all(s == (expected.own_topic if i and (i - 1) // v == k else expected.other_topic) for k, s in enumerate(sums))


@pytest.mark.result("theorem1_mask_row")
def test_with_the_bias_on_mask_too_the_mask_entry_gains_c_1(setting, sizes):
    moments = infinite_moments(**setting)
    gram = theorem1_witness(u=[F(0)] * len(moments.second), **sizes)
    bias = bias_of(sizes)
    bias[0] = bias[1]
    gram[0, 0] = theorem1_mask_row(**sizes, bias_on_mask=True).mask_column
    assert loss(gram, bias, moments) == 1 - F(1, setting["topics_per_doc"] * setting["words_per_topic"])


@pytest.mark.result("theorem1_realisable")
@pytest.mark.parametrize("break_it", ["mask", "negative", "means", "zero mean"])
def test_other_constants_are_not_realisable(sizes, break_it):
    u = constants(sizes, 2)
    t, v = sizes["num_topics"], sizes["words_per_topic"]
    if break_it == "mask":
        u[0] += F(1, 3)
    elif break_it == "negative":
        u = [-x for x in u]
    elif break_it == "means":
        u[-1] += F(1, 5)
    elif v > 1:
        u = [F(0), F(1), F(-1), *[F(0)] * (t * v - 2)]
    else:
        u = [F(1), *[F(0)] * t]
    assert not theorem1_realisable(u=u, **sizes)
    with pytest.raises(ValueError, match=r"^u is not realisable"):
        theorem1_witness(u=u, **sizes)
    # E would be indefinite or not symmetric. Symmetry alone: averaging E over the words of two topics must agree.
    c_2, words = theorem2_constants(**sizes).c_2, t * v
    means = [sum(u[1 + k * v : 1 + k * v + v]) / v for k in range(t)]
    averaged = np.array([[F(0)] * (t + 1) for _ in range(t + 1)], dtype=object)
    averaged[0, 0], averaged[0, 1:] = -c_2 * u[0], u[0]
    a = masking_fractions(**{k: sizes[k] for k in ("p_m", "p_c", "p_r")}).true
    for k in range(t):
        averaged[1 + k, 0] = -c_2 * means[k]
        averaged[1 + k, 1:] = means[k]
        averaged[1 + k, 1 + k] += 1 / (a * v)
    if (averaged == averaged.T).all() and break_it == "zero mean" and v > 1:
        # The averages are those of u = 0, so the row of a single word with u_i != 0 has E_i0 != 0 = E_00: not semidefinite.
        assert averaged[0, 0] == 0
        assert u[1] != 0
    elif (averaged == averaged.T).all():
        assert np.linalg.eigvalsh(averaged.astype(float)).min() < 0
    assert words == len(u) - 1


@pytest.mark.result("theorem1_realisable", "theorem1_witness")
def test_floats_have_slack(sizes):
    exact = constants(sizes, 4)
    u = [float(x) for x in exact]
    noise = np.random.default_rng(0).uniform(-1e-9, 1e-9, size=len(u))
    assert theorem1_realisable(u=u + noise, tol=1e-7, **sizes)
    assert theorem1_realisable(u=noise, tol=1e-7, **sizes)
    assert not theorem1_realisable(u=noise, tol=1e-12, **sizes)
    assert not theorem1_realisable(u=u + 1e-3 * (np.arange(len(u)) == len(u) - 1), tol=1e-7, **sizes)
    found = theorem1_witness(u=u, tol=1e-7, **sizes)
    np.testing.assert_allclose(found, theorem1_witness(u=exact, **sizes).astype(float), atol=1e-9)


@pytest.mark.result("theorem1_witness")
def test_the_smallest_rank_is_the_number_of_topics(sizes):
    t, v = sizes["num_topics"], sizes["words_per_topic"]
    zero = theorem1_witness(u=[F(0)] * (t * v + 1), **sizes)
    a = masking_fractions(**{k: sizes[k] for k in ("p_m", "p_c", "p_r")}).true
    assert rank(zero) == t
    assert sum(zero[i, i] for i in range(len(zero))) == t / a
    # Any other has the block sums (1/a) I + u v 1 1^T of rank T in the topics already, and a row of its own for [MASK].
    assert rank(theorem1_witness(u=constants(sizes, 3), **sizes)) == t + 1


def floats(moments):
    return torch.tensor(moments.second.astype(float)), torch.tensor(moments.cross.astype(float))


def optimum(setting, dimension, penalty, seed):
    """The least loss + penalty ||W_E||^2 that L-BFGS finds from one random start; returns it and E."""
    moments = infinite_moments(**setting)
    second, cross = floats(moments)
    bias = torch.tensor(bias_of(setting).astype(float))
    generator = torch.Generator().manual_seed(seed)
    w = (0.3 * torch.randn(dimension, len(second), generator=generator, dtype=torch.float64)).requires_grad_()
    solver = torch.optim.LBFGS(
        [w], max_iter=4000, tolerance_grad=1e-12, tolerance_change=1e-16, history_size=30, line_search_fn="strong_wolfe"
    )

    def closure():
        solver.zero_grad()
        gram = w.T @ w
        value = 1 + bias @ bias + 2 * bias @ gram @ cross.sum(1) - 2 * (gram * cross.T).sum() - 2 * bias @ cross.sum(0)
        value = value + (gram @ second * gram).sum() + penalty * w.square().sum()
        value.backward()
        return value

    solver.step(closure)
    return closure().item(), (w.T @ w).detach().numpy()


@pytest.mark.result("embedding_dim_loss")
@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("masks", [(F("0.15"), F("0.1"), F("0.1")), (F("0.5"), F("0.05"), F("0.3"))], ids=["paper", "other"])
def test_few_dimensions_cost_what_the_formula_says(dimension, masks):
    setting = dict(zip(("num_topics", "words_per_topic", "topics_per_doc", "p_m", "p_c", "p_r"), (5, 2, 2, *masks), strict=True))
    best = min(optimum(setting, dimension, 0.0, seed)[0] for seed in range(8))
    excess = embedding_dim_loss(embedding_dim=dimension, num_topics=5, words_per_topic=2, topics_per_doc=2)
    assert best - (1 - 1 / 4) == pytest.approx(float(excess), abs=1e-7)
    assert (excess == 0) == (dimension == 5)


@pytest.mark.result("embedding_weight_decay")
@pytest.mark.parametrize("fraction", [F(1, 10), F(1, 2), F(9, 10), F(11, 10)])
def test_weight_decay_cuts_the_topics_off(fraction):
    setting = {"num_topics": 4, "words_per_topic": 2, "topics_per_doc": 2, "p_m": F("0.15"), "p_c": F("0.1"), "p_r": F("0.2")}
    threshold = embedding_weight_decay(l2_coef=0, **setting).threshold
    penalty = fraction * threshold
    _, gram = optimum(setting, 9, float(penalty), 0)
    sums = gram[1:, 1:].reshape(4, 2, 4, 2).sum(axis=(1, 3)) / 2  # the eigenvalue along differences of topics
    expected = embedding_weight_decay(l2_coef=penalty, **setting).topic_eigenvalue
    assert sums[0, 0] - sums[0, 1] == pytest.approx(float(expected), abs=2e-4)
    a = masking_fractions(**{k: setting[k] for k in ("p_m", "p_c", "p_r")}).true
    assert expected == max(0, (1 - fraction) / a)


def test_bad_arguments_are_named():
    sizes = {"num_topics": 3, "words_per_topic": 2, "p_m": F("0.15"), "p_c": F("0.1"), "p_r": F("0.1")}
    with pytest.raises(ValueError, match=r"^u has 3 entries: must have Tv \+ 1 = 7, u_0 first"):
        theorem1_realisable(u=[0, 1, 2], **sizes)
    with pytest.raises(TypeError, match=r"^u\[1\] = 'x': must be a number"):
        theorem1_realisable(u=[0, "x", 0, 0, 0, 0, 0], **sizes)
    with pytest.raises(ValueError, match=r"^embedding_dim = 0: must be a whole number >= 1"):
        embedding_dim_loss(embedding_dim=0, num_topics=3, words_per_topic=2, topics_per_doc=2)
    with pytest.raises(ValueError, match=r"^l2_coef = -1: must be >= 0"):
        embedding_weight_decay(l2_coef=-1, topics_per_doc=2, **sizes)
