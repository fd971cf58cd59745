"""The verdict on an answer, and the register of checks by exercise."""

from __future__ import annotations

import copy
import html
import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from topiclib.checks.progress_file import in_notebook, note

Answer = Callable[..., Any]
Check = Callable[..., None]
_CHECKS: dict[str, Check] = {}
NOT_ANSWERED = "your answer"
"""What a stub's NotImplementedError says; the same error with other words is the learner's own."""
MARKS = {"passed": "✓", "wrong": "✗", "unanswered": "○"}


class Misconception(Exception):
    """An answer is wrong in a way that has a name. ``key`` is the name, the message is the learner's hint."""

    def __init__(self, key: str, hint: str) -> None:
        super().__init__(hint)
        self.key = key


@dataclass(frozen=True)
class Verdict:
    """Status ``"passed"``, ``"wrong"`` or ``"unanswered"``; the misconception's key where there is one; a sentence."""

    exercise: str
    status: str
    message: str
    key: str = ""

    def __str__(self) -> str:
        return f"{MARKS[self.status]} Exercise {self.exercise}: {self.message}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f'<div class="tl-verdict tl-{self.status}" role="status">{html.escape(str(self))}</div>'


def register(exercise: str) -> Callable[[Check], Check]:
    """Make the decorated function the check of an exercise: it returns for a right answer, raises Misconception for a wrong one."""

    def add(function: Check) -> Check:
        if exercise in _CHECKS:
            raise ValueError(f"exercise = {exercise!r}: has a check already")
        _CHECKS[exercise] = function
        return function

    return add


def names() -> list[str]:
    """The exercises that have a check."""
    return sorted(_CHECKS)


def check(exercise: str, answer: Answer, **arguments: Any) -> Verdict:
    """The verdict on an answer; in a notebook it is also noted in the progress file (``topiclib.checks.progress``).

    Parameters
    ----------
    exercise : its name, "3.3-column-softmax"
    answer : the function that solves it
    arguments : what the exercise's statement leaves to the class, as in the call that the notebook came with

    Raises ValueError for an unknown exercise or argument only.
    """
    if exercise not in _CHECKS:
        raise ValueError(f"exercise = {exercise!r}: must be one of {', '.join(names())}")
    known = list(inspect.signature(_CHECKS[exercise]).parameters)[1:]
    if unknown := [name for name in arguments if name not in known]:
        takes = ", ".join(known) or "nothing"
        raise ValueError(f"{unknown[0]} = {arguments[unknown[0]]!r}: exercise {exercise} takes {takes} beside the function")
    verdict = _verdict(exercise, answer, arguments)
    if in_notebook():
        note(exercise, verdict.status)
    return verdict


def _verdict(exercise: str, answer: Answer, arguments: dict[str, Any]) -> Verdict:
    """The verdict of the registered check."""
    if not callable(answer):
        kind = type(answer).__name__
        return Verdict(exercise, "wrong", f"pass the function itself, without calling it; this is a {kind}.", "not-a-function")
    return verdict_of(exercise, partial(_CHECKS[exercise], **arguments), answer)


def verdict_of(exercise: str, test: Check, answer: Answer) -> Verdict:
    """The verdict of one check. Nothing but an interrupt by the user gets through."""

    def on_copies(*arguments: Any, **named: Any) -> Any:
        # An answer may work in place: what the check goes on with must not change.
        return answer(*map(_copied, arguments), **{name: _copied(value) for name, value in named.items()})

    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            test(on_copies)
    except Misconception as error:
        return Verdict(exercise, "wrong", str(error), error.key)
    except (Exception, SystemExit, GeneratorExit) as error:
        if isinstance(error, NotImplementedError) and str(error) == NOT_ANSWERED:
            return Verdict(exercise, "unanswered", "not answered yet.")
        return Verdict(exercise, "wrong", f"your function raised {_described(error)}", "raised")
    return Verdict(exercise, "passed", "passed.")


def _copied(value: Any) -> Any:
    """A copy, but of a random generator itself: its state must go on from call to call."""
    return value if isinstance(value, np.random.Generator) else copy.deepcopy(value)


def _described(error: BaseException) -> str:
    """Kind and message of an error; the message may be broken too."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def expect(condition: object, key: str, hint: str) -> None:
    """Raise Misconception(key, hint) unless ``condition`` is true."""
    if not bool(condition):
        raise Misconception(key, hint)


def _plain(value: Any) -> Any:
    """A torch tensor as an array, also one with a gradient, sympy's truth values as Python's; anything else as it is."""
    if type(value).__name__ in ("BooleanTrue", "BooleanFalse"):
        return bool(value)
    return value.detach().cpu().numpy() if hasattr(value, "detach") else value


def as_array(value: object, shape: tuple[int, ...], what: str) -> npt.NDArray[np.float64]:
    """The answer's return value as a float array of the given shape; Misconception for anything else."""
    if value is None:
        raise Misconception("no-return", f"your function returns None: end it with a return of {what}.")
    try:
        plain = [_plain(x) for x in value] if isinstance(value, (list, tuple)) else _plain(value)
        found = np.asarray(plain)
        if found.dtype.kind in "SU":
            raise TypeError
        array = found.astype(np.float64)
    except (TypeError, ValueError):
        raise Misconception(
            "wrong-type", f"return {what}; this is a {type(value).__name__}, which does not hold numbers."
        ) from None
    if array.shape != shape:
        raise Misconception("wrong-shape", f"return {what}{f', of shape {shape}' if shape else ''}; yours has shape {array.shape}.")
    if not np.isfinite(array).all():
        raise Misconception("not-finite", f"return {what} without NaN or infinity.")
    return array


def is_infinite(value: object) -> bool:
    """Whether an answer is plus infinity: a number, an array or a tensor of one."""
    try:
        return not isinstance(value, str) and float(value) == float("inf")  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False


def close(a: npt.ArrayLike, b: npt.ArrayLike, tol: float = 1e-6) -> bool:
    """Whether two arrays agree to ``tol``, relative to the larger of 1 and the entries."""
    return bool(np.allclose(np.asarray(a), np.asarray(b), rtol=tol, atol=tol))
