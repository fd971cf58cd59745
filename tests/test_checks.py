import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from topiclib import checks
from topiclib.checks import Misconception, Verdict, check, names
from topiclib.checks.base import _CHECKS, Answer, as_array, close, expect, register, verdict_of
from topiclib.theory import theorem2

ID = "0.0-double"


@pytest.fixture(autouse=True)
def _one_more_check() -> Iterator[None]:
    """An exercise for the tests: double the argument."""

    @register(ID)
    def double(answer: Any) -> None:
        value = as_array(answer(3.0), (), "the double")
        expect(not close(value, 9), "squared", "2 < 3: the double, not the square.")
        expect(close(value, 6), "not-double", "double it.")

    yield
    _CHECKS.pop(ID, None)


def test_a_right_answer_passes() -> None:
    assert check(ID, lambda x: 2 * x) == Verdict(ID, "passed", "passed.")


def test_a_wrong_answer_gets_the_hint_of_its_misconception() -> None:
    assert check(ID, lambda x: x**2) == Verdict(ID, "wrong", "2 < 3: the double, not the square.", "squared")
    assert check(ID, lambda x: x).key == "not-double"


def test_a_stub_is_unanswered() -> None:
    def stub(x: float) -> float:
        raise NotImplementedError("your answer")

    assert check(ID, stub) == Verdict(ID, "unanswered", "not answered yet.")


@pytest.mark.parametrize(
    "error", [ValueError("no"), ZeroDivisionError("no"), AssertionError("no"), RecursionError("no"), KeyError("no")]
)
def test_an_error_in_the_answer_is_told_and_never_raised(error: Exception) -> None:
    def fail(x: float) -> float:
        raise error

    verdict = check(ID, fail)
    assert (verdict.status, verdict.key) == ("wrong", "raised")
    assert verdict.message == f"your function raised {type(error).__name__}: {error}"


def test_an_answer_with_other_arguments_is_told() -> None:
    verdict = check(ID, lambda: 6)
    assert verdict.key == "raised"
    assert "TypeError" in verdict.message


def test_stopping_the_kernel_still_stops_it() -> None:
    def interrupted(x: float) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(ID, interrupted)


@pytest.mark.parametrize("answer", [None, 6, "double", np.array([6.0])])
def test_an_answer_that_is_no_function_is_told(answer: Any) -> None:
    verdict = check(ID, answer)
    assert (verdict.status, verdict.key) == ("wrong", "not-a-function")
    assert type(answer).__name__ in verdict.message


def test_warnings_of_the_answer_stay_away_and_settings_are_restored() -> None:
    def noisy(x: float) -> Any:
        warnings.warn("old", DeprecationWarning, stacklevel=1)
        np.log(np.array(-1.0))
        return 2 * x

    def infinite(x: float) -> Any:
        return np.array(1.0) / np.array(0.0)

    before = np.geterr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert check(ID, noisy).status == "passed"
        assert check(ID, infinite).key == "not-finite"
    assert np.geterr() == before


def test_an_unknown_exercise_is_an_error_that_names_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"^exercise = 'none': must be one of ") as caught:
        check("none", len)
    assert ID in str(caught.value)


def test_an_exercise_has_one_check() -> None:
    with pytest.raises(ValueError, match=f"exercise = '{ID}': has a check already"):
        register(ID)(lambda answer: None)


def test_names_are_those_registered() -> None:
    assert ID in names()
    assert names() == sorted(_CHECKS)


@pytest.mark.parametrize(("status", "mark"), [("passed", "✓"), ("wrong", "✗"), ("unanswered", "○")])
def test_a_verdict_reads_as_a_sentence(status: str, mark: str) -> None:
    verdict = Verdict("3.1-a", status, "1 < 2 & 3.")
    assert str(verdict) == repr(verdict) == f"{mark} Exercise 3.1-a: 1 < 2 & 3."
    assert f'class="tl-verdict tl-{status}" role="status"' in verdict._repr_html_()
    assert "1 &lt; 2 &amp; 3." in verdict._repr_html_()


@pytest.mark.parametrize(
    "value",
    [[1, 0], (1, 0), [True, False], np.array([1, 0], dtype=np.int8), torch.tensor([1.0, 0.0], requires_grad=True)],
    ids=["list", "tuple", "bools", "int8", "tensor"],
)
def test_as_array_takes_every_kind_of_numbers(value: Any) -> None:
    array = as_array(value, (2,), "the weights")
    assert array.dtype == np.float64
    assert array.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("value", "key", "says"),
    [
        (None, "no-return", "your function returns None: end it with a return of the weights."),
        ("ab", "wrong-type", "return the weights; this is a str, which"),
        ({}, "wrong-type", "this is a dict, which"),
        ([[1], [1, 2]], "wrong-type", "this is a list, which"),
        (3.0, "wrong-shape", "return the weights, of shape (2,); yours has shape ()."),
        ([[1, 2]], "wrong-shape", "yours has shape (1, 2)."),
        ([], "wrong-shape", "yours has shape (0,)."),
        ([1, np.nan], "not-finite", "without NaN or infinity."),
        ([1, -np.inf], "not-finite", "without NaN or infinity."),
    ],
)
def test_as_array_names_what_is_wrong(value: Any, key: str, says: str) -> None:
    with pytest.raises(Misconception) as caught:
        as_array(value, (2,), "the weights")
    assert caught.value.key == key
    assert says in str(caught.value)


def test_close_is_relative_to_the_larger_of_1_and_the_entries() -> None:
    assert close(0, 1e-7)
    assert close(1e6, 1e6 + 0.5)
    assert not close(0, 1e-5)
    assert not close([1, 2], [1, 2.1])
    assert close([1, 2], [1, 2.1], tol=0.1)


@pytest.mark.parametrize("condition", [True, 1, np.True_, np.array([1]), torch.tensor(True)])
def test_expect_takes_every_kind_of_truth(condition: Any) -> None:
    expect(condition, "key", "hint")


@pytest.mark.parametrize("condition", [False, 0, np.False_, None, np.array([0])])
def test_expect_raises_the_misconception(condition: Any) -> None:
    with pytest.raises(Misconception, match=r"^hint$") as caught:
        expect(condition, "key", "hint")
    assert caught.value.key == "key"


def test_the_package_offers_check_by_itself() -> None:
    assert checks.check is check
    assert set(checks.__all__) >= {"Misconception", "Verdict", "check", "names"}


def test_an_error_of_the_learner_s_own_is_not_taken_for_an_unanswered_stub() -> None:
    def answer(scores: object) -> None:
        raise NotImplementedError("softmax is not implemented for Long")

    verdict = check("3.3-column-softmax", answer)
    assert (verdict.status, verdict.key) == ("wrong", "raised")


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize("error", [SystemExit(0), GeneratorExit(), Unspeakable(), RecursionError("deep")])
def test_no_error_of_an_answer_stops_the_notebook(error: BaseException) -> None:
    def answer(scores: object) -> None:
        raise error

    verdict = check("3.3-column-softmax", answer)
    assert (verdict.status, verdict.key) == ("wrong", "raised")
    assert type(error).__name__ in verdict.message


def test_an_interrupt_by_the_user_gets_through() -> None:
    def answer(scores: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check("3.3-column-softmax", answer)


def test_an_answer_may_change_its_arguments_and_a_generator_goes_on() -> None:
    seen: list[float] = []

    def in_place(scores: np.ndarray, rng: np.random.Generator) -> None:
        scores /= 2
        seen.append(rng.random())

    def test(answer: Answer) -> None:
        scores, rng = np.ones(2), np.random.default_rng(0)
        answer(scores, rng=rng)
        answer(scores, rng=rng)
        expect((scores == 1).all(), "changed", "the check's own array was changed")

    assert verdict_of("x", test, in_place).status == "passed"
    assert seen[0] != seen[1]


def _range_on_a_grid(loss: Any, best_s: float, share: float) -> Any:
    s = best_s * np.geomspace(1e-5, 1e5, 200_001)
    inside = s[loss(s) <= (1 + share) * loss(best_s)]
    return inside[0], inside[-1]


def _key_and_query(alpha: float, beta: float, num_topics: int, v: int) -> Any:
    scores = np.zeros((num_topics * v + 1,) * 2)
    scores[1:, 1:] = np.kron(np.eye(num_topics), np.full((v, v), np.log(alpha)))
    np.fill_diagonal(scores, np.log(beta))
    return np.stack([np.eye(len(scores)), scores * len(scores) ** 0.5])


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        ("d-shown", lambda T, tau, p_c, p_r: np.array([1 - p_c - p_r, p_c + p_r * tau / T, p_r * (1 - tau / T)])),
        ("d-shown", lambda T, tau, p_c, p_r: torch.tensor([1 - p_c - p_r, p_c + p_r * tau / T, p_r * (1 - tau / T)])),
        ("d.5-flat-range", _range_on_a_grid),
        ("5.3-realise", _key_and_query),
        ("errata-large-constant", lambda T, v, bound: (0.25, 0.5 - 1e-14, 0.5 - 1e-14)),
        ("5.2-three-values", lambda **k: [torch.tensor(x, requires_grad=True) for x in list(vars(theorem2(**k)).values())[:3]]),
    ],
)
def test_right_answers_of_other_kinds_pass(exercise: str, answer: Answer) -> None:
    assert check(exercise, answer).status == "passed"


def test_no_topics_in_the_row_of_mask_either() -> None:
    def with_topics_in_row_0(num_topics: int, v: int) -> Any:
        w = np.full((num_topics * v + 1,) * 2, 1 / (num_topics * v))
        w[0] = np.append(0, np.repeat(np.arange(num_topics) - (num_topics - 1) / 2, v))
        return w

    assert check("errata-no-topics", with_topics_in_row_0).key == "topics-differ"
