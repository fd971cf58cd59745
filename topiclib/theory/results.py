"""The map of results: which function states which result of the paper, and which chapter derives it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Result:
    """One line of the map.

    function : name of the public function of ``topiclib.theory``
    paper : the paper's number, such as ``"Theorem 2"``, or ``"Beyond the paper"``
    states : what it gives, in a few words
    chapter : where the book derives it, file name and anchor, such as ``"appendix_c.ipynb#ridge"``
    """

    function: str
    paper: str
    states: str
    chapter: str


RESULTS: dict[str, Result] = {}


def result(paper: str, states: str, *, chapter: str) -> Callable[[F], F]:
    """Enter the decorated function into the map."""

    def enter(function: F) -> F:
        RESULTS[function.__name__] = Result(function.__name__, paper, states, chapter)
        return function

    return enter
