"""Lemma 1 against the brute force and against sympy's own derivation."""

from fractions import Fraction as F

import numpy as np
import pytest
import sympy

from topiclib.enumeration import infinite_moments, minimum_norm_solution, moment_loss, null_space, rank
from topiclib.theory import hessian_rank, lemma1, lemma1_mask_row, masking_fractions, spectrum, theorem2_constants
from topiclib.theory import symbols as S


def block_sums(row, num_topics, words_per_topic):
    return np.array(row[1:], dtype=object).reshape(num_topics, words_per_topic).sum(axis=1)


def member(setting, seed):
    """A random matrix with Lemma 1's block sums, in exact rationals."""
    rng = np.random.default_rng(seed)
    t, v = setting["num_topics"], setting["words_per_topic"]
    words = np.array([[F(int(x), 7) for x in row] for row in rng.integers(-9, 10, size=(t * v + 1, t * v + 1))], dtype=object)
    for i, row in enumerate(words):
        u = F(int(rng.integers(-5, 6)), 3)
        sums = lemma1_mask_row(**setting, u=u) if i == 0 else lemma1(**setting, u=u)
        row[0] = sums.mask_column
        for topic in range(t):
            own = i > 0 and (i - 1) // v == topic
            block = slice(1 + topic * v, 1 + topic * v + v)
            row[block.stop - 1] += (sums.own_topic if own else sums.other_topic) - row[block].sum()
    return words


@pytest.mark.result("lemma1", "lemma1_mask_row")
def test_every_member_of_the_family_has_the_least_loss(setting):
    moments = infinite_moments(**setting)
    best = moment_loss(minimum_norm_solution(moments), moments)
    assert best == 1 - F(1, setting["topics_per_doc"] * setting["words_per_topic"])
    for seed in range(3):
        assert moment_loss(member(setting, seed), moments) == best


@pytest.mark.result("lemma1", "lemma1_mask_row")
def test_every_minimiser_is_in_the_family(setting):
    # A minimiser is the smallest one plus anything in the null space of E[x x^T]: both have Lemma 1's form.
    t, v = setting["num_topics"], setting["words_per_topic"]
    moments = infinite_moments(**setting)
    smallest, c = minimum_norm_solution(moments), theorem2_constants(**{k: x for k, x in setting.items() if k != "topics_per_doc"})
    free = null_space(moments.second)
    assert len(free) == t * (v - 1) + 1
    for vector in free:  # a change of u by delta, and changes inside blocks
        sums = block_sums(vector, t, v)
        delta = sums[0] / v
        assert (sums == delta * v).all()
        assert vector[0] == -c.c_2 * delta
    for i, row in enumerate(smallest):
        sums = block_sums(row, t, v)
        own = (i - 1) // v
        others = [x for topic, x in enumerate(sums) if i == 0 or topic != own]
        expected = (lemma1_mask_row if i == 0 else lemma1)(**setting, u=others[0] / v)
        assert all(x == expected.other_topic for x in others)
        assert row[0] == expected.mask_column
        assert i == 0 or sums[own] == expected.own_topic


@pytest.mark.result("lemma1", "theorem2_constants", "masking_fractions")
def test_sympy_derives_the_constants():
    # Prediction of a word of topic t: linear in q = p_w of its topic; v (q + the others) = 1.
    q, m, a, r, T, v = S.s, S.m, S.a, S.r, S.T, S.v
    prediction = S.W_i0 * m + a * (S.W_own * q + S.u * v * (1 / v - q)) + r / (T * v) * (S.W_own + (T - 1) * S.u * v)
    matched = sympy.solve(sympy.Poly(prediction - q, q).all_coeffs(), [S.W_own, S.W_i0], dict=True)[0]
    found = lemma1(num_topics=S.T, words_per_topic=S.v, topics_per_doc=S.tau, p_m=S.p_m, p_c=S.p_c, p_r=S.p_r, u=S.u)
    f = masking_fractions(p_m=S.p_m, p_c=S.p_c, p_r=S.p_r)
    masks = {S.m: f.mask, S.a: f.true, S.r: f.random}
    assert sympy.simplify(matched[S.W_own].subs(masks) - found.own_topic) == 0
    assert sympy.simplify(matched[S.W_i0].subs(masks) - found.mask_column) == 0
    paper_c1 = S.p_r / ((1 - S.p_c - S.p_r) * (1 - (1 - S.p_c) * S.p_m) * S.T * S.v)
    c = theorem2_constants(num_topics=S.T, words_per_topic=S.v, p_m=S.p_m, p_c=S.p_c, p_r=S.p_r)
    assert sympy.simplify(c.c_1 - paper_c1) == 0
    assert sympy.simplify(c.c_2 - (1 / ((1 - S.p_c - S.p_r) * S.p_m) - 1)) == 0
    assert sympy.simplify(c.c_3 - 1 / (1 - (1 - S.p_c) * S.p_m)) == 0


@pytest.mark.result("lemma1")
def test_it_fails_where_every_document_has_every_topic():
    setting = {"num_topics": 3, "words_per_topic": 2, "topics_per_doc": 3, "p_m": F(1, 4), "p_c": F(1, 5), "p_r": F(1, 10)}
    moments = infinite_moments(**setting)
    flat = np.full((7, 7), F(1, 6), dtype=object)
    flat[0] = F(0)
    assert moment_loss(flat, moments) == moment_loss(minimum_norm_solution(moments), moments)
    with pytest.raises(ValueError, match=r"^topics_per_doc = 3: must be a whole number from 1 to below num_topics = 3"):
        lemma1(**setting)
    assert rank(moments.second) == 1


@pytest.mark.result("lemma1")
def test_one_topic_is_allowed():
    setting = {"num_topics": 1, "words_per_topic": 3, "topics_per_doc": 1, "p_m": F(1, 4), "p_c": F(1, 5), "p_r": F(1, 10)}
    moments = infinite_moments(**setting)
    assert moment_loss(member(setting, 0), moments) == moment_loss(minimum_norm_solution(moments), moments)


@pytest.mark.result("hessian_rank", "spectrum")
def test_rank_and_spectrum_are_those_of_the_moments(setting):
    second = infinite_moments(**setting).second
    size = len(second)
    assert hessian_rank(**{k: setting[k] for k in ("num_topics", "words_per_topic", "topics_per_doc")}) == size * rank(second)
    s = spectrum(**setting)
    expected = [0] * int(s.zero_multiplicity) + [s.topic] * int(s.topic_multiplicity) + [s.mean]
    assert len(expected) == size
    # Exactly: traces of powers fix the spectrum of a symmetric matrix.
    power = second
    for k in range(1, 4):
        assert sum(power[i, i] for i in range(size)) == sum(F(x) ** k for x in expected)
        power = power @ second
    np.testing.assert_allclose(np.linalg.eigvalsh(second.astype(float)), np.sort(np.array(expected, dtype=float)), atol=1e-12)


@pytest.mark.result("hessian_rank")
def test_rank_where_every_document_has_every_topic():
    assert hessian_rank(num_topics=3, words_per_topic=2, topics_per_doc=3) == 7
    assert hessian_rank(num_topics=S.T, words_per_topic=S.v, topics_per_doc=S.tau) == S.T * (S.T * S.v + 1)
