"""What an exercise is, and how its pieces become a chapter's cells."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from topiclib.checks.base import NOT_ANSWERED, Answer, Verdict, check, verdict_of

LEVELS = ("warm-up", "core", "challenge")


@dataclass(frozen=True)
class Wrong:
    """A plausible wrong answer, and the key of the misconception that its learner must be told."""

    code: str
    hint: str


@dataclass(frozen=True)
class Exercise:
    """One exercise. Code pieces define the function named ``function``.

    id : chapter and name, ``"3.3-column-softmax"``
    statement : Markdown; stub : code with a docstring and ``raise NotImplementedError("your answer")``
    reference, alternative : two right solutions, written differently
    wrong : plausible wrong solutions with the hint each must get
    hidden : further check (raises Misconception), for graders only; the visible one is in ``topiclib.checks``
    explanation : Markdown shown with the solution
    self_study : its solution is folded into the web book; otherwise the pages and notebooks hold none. (Whoever can read
        this repository can read every solution: keep assigned exercises in a private copy.)
    """

    id: str
    title: str
    level: str
    minutes: int
    objective: str
    function: str
    statement: str
    stub: str
    reference: str
    alternative: str
    wrong: tuple[Wrong, ...]
    hidden: Callable[[Answer], None]
    explanation: str = ""
    self_study: bool = True

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise ValueError(f"{self.id}: level = {self.level!r}: must be one of {LEVELS}")
        for name in ("stub", "reference", "alternative"):
            if f"def {self.function}(" not in getattr(self, name):
                raise ValueError(f"{self.id}: {name} does not define {self.function}")
        if f'NotImplementedError("{NOT_ANSWERED}")' not in self.stub:
            raise ValueError(f"{self.id}: stub must raise NotImplementedError({NOT_ANSWERED!r})")

    @property
    def anchor(self) -> str:
        """Identifier for links to it."""
        return "exercise-" + self.id.replace(".", "-")

    def statement_cell(self) -> str:
        """Markdown of the statement: a block quote, which plain Jupyter reads too and the book draws as a box."""
        head = f"**Exercise {self.id}: {self.title}** ({self.level}, {self.minutes} minutes)"
        body = f"{head}\n\n{textwrap.dedent(self.statement).strip()}\n\n*You practise:* {self.objective}"
        return "\n".join(f"> {line}".rstrip() for line in body.splitlines())

    def answer_cell(self) -> str:
        """Code of the stub, as the learner finds it."""
        return textwrap.dedent(self.stub).strip()

    def check_cell(self) -> str:
        """Code of the check call."""
        return f'check("{self.id}", {self.function})'

    def solution_cell(self) -> str:
        """Markdown of the folded solution, for the web book."""
        code = textwrap.dedent(self.reference).strip()
        text = textwrap.dedent(self.explanation).strip()
        return (
            f'<details class="tl-solution">\n<summary>Solution to exercise {self.id}</summary>\n\n'
            f"{text}\n\n```python\n{code}\n```\n\n</details>"
        )

    def load(self, code: str) -> Answer:
        """The function that a piece of code defines."""
        space: dict[str, Any] = {}
        exec(compile(textwrap.dedent(code), f"<exercise {self.id}>", "exec"), space)
        answer: Answer = space[self.function]
        return answer

    def grade(self, answer: Answer) -> Verdict:
        """The visible check's verdict, then the hidden one's."""
        verdict = check(self.id, answer)
        if verdict.status != "passed":
            return verdict
        return verdict_of(self.id, self.hidden, answer)
