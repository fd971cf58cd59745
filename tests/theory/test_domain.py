"""Arguments of the theory: kinds, domains, messages."""

from fractions import Fraction as F

import numpy as np
import pytest
import sympy

from topiclib import theory
from topiclib.theory import symbols as S
from topiclib.theory.domain import common

GOOD = {
    "num_topics": 4, "words_per_topic": 3, "topics_per_doc": 2, "p_m": F("0.15"), "p_c": F("0.1"), "p_r": F("0.2"), "u": F(1, 2),
    "concentration": F(1), "doc_len": 6, "embedding_dim": 3, "l2_coef": F(1, 10), "learning_rate": F(1, 3), "steps": 5,
    "same_topic_ratio": F(3), "same_word_ratio": F(2),
}  # fmt: skip
PLAIN = ["masking_fractions", "theorem2_constants", "spectrum", "effective_topics_per_doc", "lemma1", "lemma1_mask_row",
         "hessian_rank", "theorem1", "theorem1_mask_row", "embedding_dim_loss", "embedding_weight_decay", "theorem2",
         "ridge_value_matrix", "gradient_path", "finite_documents", "theorem3_loss", "theorem3", "diagonal_value_matrix",
         "attention_polynomial", "loss_terms"]  # fmt: skip
EMBEDDINGS = ("theorem1_realisable", "theorem1_witness")


def arguments(name):
    code = getattr(theory, name).__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return {key: GOOD[key] for key in names if key in GOOD}


def values(found):
    """The numbers in a result."""
    if isinstance(found, tuple):
        return list(found)
    return [x for x in vars(found).values() if x is not None] if hasattr(found, "__dict__") else [found]


@pytest.mark.parametrize("name", PLAIN)
def test_fractions_in_fractions_out_and_floats_agree(name):
    function, given = getattr(theory, name), arguments(name)
    exact = values(function(**given))
    assert all(isinstance(x, (F, int)) for x in exact)
    for kind in (float, lambda x: np.array([float(x)] * 2)):
        found = values(function(**{k: kind(x) for k, x in given.items()}))
        for x, y in zip(exact, found, strict=True):
            np.testing.assert_allclose(np.asarray(y, dtype=float), float(x), rtol=1e-9)
            assert np.shape(y) in ((), np.shape(kind(1)))


@pytest.mark.parametrize("name", [n for n in PLAIN if n not in ("embedding_dim_loss", "embedding_weight_decay", "hessian_rank")])
def test_symbols_give_the_same_function(name):
    function, given = getattr(theory, name), arguments(name)
    letters = dict(zip(("num_topics", "words_per_topic", "topics_per_doc", "p_m", "p_c", "p_r"),
                       (S.T, S.v, S.tau, S.p_m, S.p_c, S.p_r), strict=True))  # fmt: skip
    symbolic = values(function(**{k: letters.get(k, x) for k, x in given.items()}))
    at = {letters[k]: sympy.Rational(x) for k, x in given.items() if k in letters}
    for x, y in zip(values(function(**given)), symbolic, strict=True):
        assert sympy.simplify(sympy.sympify(y).subs(at) - sympy.Rational(x)) == 0


def expected_problem(key):
    return {
        "num_topics": (F(5, 2), "a whole number >= 1"),
        "words_per_topic": (0, "a whole number >= 1"),
        "p_m": (1, "in (0, 1)"),
        "p_c": (F(-1, 2), "in [0, 1)"),
        "p_r": (2, "in [0, 1)"),
        "l2_coef": (-1, ">= 0"),
        "learning_rate": (0, "in (0, 1 / s0)"),
        "steps": (-1, "a whole number >= 0"),
        "doc_len": (F(1, 2), "a whole number >= 1"),
        "embedding_dim": (F(3, 2), "a whole number >= 1"),
        "concentration": (0, "> 0"),
        "same_topic_ratio": (0, "> 0"),
        "same_word_ratio": (F(-1), "> 0"),
    }.get(key)


CASES = [(name, key) for name in PLAIN for key in arguments(name) if expected_problem(key)]


@pytest.mark.parametrize(("name", "key"), CASES)
def test_every_argument_out_of_its_domain_is_named(name, key):
    value, allowed = expected_problem(key)
    for wrong in (value, np.array([float(value), float(value)])):
        given = {**arguments(name), key: wrong}
        with pytest.raises(ValueError, match=rf"^{key} = .*must be") as caught:
            getattr(theory, name)(**given)
        assert allowed in str(caught.value)


@pytest.mark.parametrize(("name", "key"), CASES)
@pytest.mark.parametrize("wrong", [True, "0.1", None, 1j, [None]], ids=str)
def test_what_is_no_number_is_a_type_error(name, key, wrong):
    with pytest.raises(TypeError, match=rf"^{key} = .*must be a number, an array of numbers or a sympy expression"):
        getattr(theory, name)(**{**arguments(name), key: wrong})


@pytest.mark.parametrize("name", [n for n in PLAIN if "p_r" in arguments(n)])
def test_kept_and_random_words_leave_room_for_mask(name):
    for p_c, p_r in ((F(1, 2), F(1, 2)), (0.7, 0.3)):
        with pytest.raises(ValueError, match=r"^p_c \+ p_r = 1\S*: must be below 1, or no position shows \[MASK\]"):
            getattr(theory, name)(**{**arguments(name), "p_c": p_c, "p_r": p_r})


def test_nan_and_infinity_are_refused():
    for bad in (float("nan"), float("inf")):
        for key in ("num_topics", "words_per_topic", "p_m", "p_c", "p_r"):
            with pytest.raises(ValueError, match=rf"^{key} = "):
                theory.theorem2(**{**arguments("theorem2"), key: bad})


def test_one_kind_for_all():
    assert common(a=1, b=F(1, 2)) == (F(1), F(1, 2))
    assert common(a=1, b=0.5) == (1.0, 0.5)
    assert common(a=S.T, b=F(1, 2)) == (S.T, sympy.Rational(1, 2))
    assert common(a=sympy.Rational(2, 3)) == (F(2, 3),)
    a, b = common(a=np.array([1, 2]), b=F(1, 4))
    assert a.dtype == float
    assert b == 0.25
    assert all(isinstance(x, F) for x in common(a=np.int64(3)))


def test_no_name_is_left_out():
    functions = {name for name in theory.__all__ if callable(getattr(theory, name)) and name[0].islower()}
    assert functions == {*PLAIN, *EMBEDDINGS, "optimal_attention", "attention_loss", "attention_optimum", "attention_gradient"}


def test_numpy_whole_numbers_do_not_overflow():
    """Fraction(np.int64(3)) counts in 64 bits: the sign of large products was lost."""
    given = arguments("optimal_attention") | {"num_topics": 4}
    for key in ("num_topics", "words_per_topic", "topics_per_doc"):
        assert theory.optimal_attention(**given | {key: np.int64(given[key])}) == theory.optimal_attention(**given)
    (number,) = common(x=np.int64(3))
    assert type(number.numerator) is int


def test_numbers_beside_symbols_are_checked_too():
    for name in ("lemma1", "embedding_weight_decay", "loss_terms", "attention_polynomial"):
        with pytest.raises(ValueError, match=r"^topics_per_doc = 4: must be .* below num_topics = 4"):
            getattr(theory, name)(**arguments(name) | {"topics_per_doc": 4, "p_m": S.p_m})
    with pytest.raises(ValueError, match=r"^topics_per_doc = 5: must be from 1 to num_topics = 4"):
        theory.spectrum(**arguments("spectrum") | {"topics_per_doc": 5, "p_m": S.p_m})
    assert theory.spectrum(**arguments("spectrum") | {"num_topics": 1, "topics_per_doc": 1, "p_m": S.p_m}).topic == 0


@pytest.mark.parametrize("name", PLAIN)
def test_not_finite_not_real_and_mixed_arguments_are_named(name):
    function, given = getattr(theory, name), arguments(name)
    for key in given:
        for wrong in (np.inf, np.nan, [1.0, np.nan], [], sympy.nan, sympy.oo, sympy.I, [[1], [1, 2]]):
            with pytest.raises((TypeError, ValueError), match=rf"^{key} = .*: must be "):
                function(**given | {key: wrong})
    first, second = list(given)[:2]
    with pytest.raises(ValueError, match=rf"(?=.*{first} has shape \(2,\))(?=.*{second} has shape \(3,\)).*: must be shapes"):
        function(**given | {first: [0.5, 0.5], second: [0.5] * 3})
    with pytest.raises(TypeError, match=rf"^{first} = .*: must be a number beside the symbolic {second} = x$"):
        function(**given | {first: [0.5, 0.5], second: sympy.Symbol("x")})


def test_a_penalty_however_large_leaves_zero():
    found = theory.embedding_weight_decay(**arguments("embedding_weight_decay") | {"l2_coef": 1e308})
    assert found.topic_eigenvalue == 0


def test_value_matrix_and_sizes_are_checked():
    w = theory.theorem2(**arguments("theorem2"))
    np.testing.assert_array_equal(w.matrix(4.0, np.int64(3)), w.matrix(4, 3))
    for size in (2.5, [4], S.T, None):
        with pytest.raises((TypeError, ValueError), match=r"^num_topics = .*: must be "):
            w.matrix(size, 3)
    for entry in (S.u, np.ones(2)):
        with pytest.raises(TypeError, match=r"^mask_column = .*: must be a number"):
            theory.ValueMatrix(entry, 0, 0, 0).matrix(4, 3)
    sizes = {"num_topics": 4, "words_per_topic": 3, "topics_per_doc": 2, "p_m": 0.15, "p_c": 0.1, "p_r": 0.1}
    with pytest.raises(TypeError, match=r"^value_matrix = .*: must be a ValueMatrix"):
        theory.attention_loss(np.eye(13), same_topic_ratio=1, same_word_ratio=1, **sizes)
    with pytest.raises(TypeError, match=r"^value_matrix = .*: must be a ValueMatrix"):
        theory.attention_optimum(np.eye(13), **sizes)
    for key, wrong in (("num_topics", None), ("num_topics", S.T), ("p_m", "0.15"), ("p_m", [0.1, 0.2]), ("words_per_topic", 2.5)):
        with pytest.raises((TypeError, ValueError), match=rf"^{key} = .*: must be "):
            theory.attention_optimum(w, **sizes | {key: wrong})
    for wrong in (None, 3, "u"):
        with pytest.raises(TypeError, match=r"^u = .*: must be a list or an array"):
            theory.theorem1_realisable(u=wrong, **{k: sizes[k] for k in ("num_topics", "words_per_topic", "p_m", "p_c", "p_r")})


def test_constants_that_are_not_numbers_are_no_embedding():
    """A NaN in any topic but the first used to count as possible."""
    given = {"num_topics": 2, "words_per_topic": 2, "p_m": 0.5, "p_c": 0.0, "p_r": 0.0}
    assert theory.theorem1_realisable(u=[-1, 1, 1, 1, 1], **given)
    assert theory.theorem1_realisable(u=[-1, 1, 1, 1, 1], **given | {"num_topics": 2.0})
    for wrong in (np.nan, np.inf, S.u):
        with pytest.raises((TypeError, ValueError), match=r"^u\[3\] = .*: must be "):
            theory.theorem1_realisable(u=[-1, 1, 1, wrong, 1], **given)
    with pytest.raises(ValueError, match=r"^tol = -1: must be "):
        theory.theorem1_realisable(u=[-1, 1, 1, 1, 1], tol=-1, **given)
