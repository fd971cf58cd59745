"""What an exercise is, and how its pieces become a chapter's cells."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from hashlib import sha256
from typing import Any

from topiclib.checks.base import NOT_ANSWERED, Answer, Verdict, check, verdict_of

LEVELS = ("warm-up", "core", "challenge")
PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True)
class Wrong:
    """A plausible wrong answer, and the key of the misconception that its learner must be told."""

    code: str
    hint: str


@dataclass(frozen=True)
class Variant:
    """One way to pose an exercise, so that a class can get another one than last year's.

    arguments : what the visible and the hidden check are told, by name
    words : what else stands in the texts; in all texts ``{{name}}`` is replaced by an argument or a word of that name
    """

    arguments: Mapping[str, Any] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)

    def fill(self, text: str) -> str:
        """The text with its placeholders replaced; KeyError for a name that the variant lacks."""
        known = {**{name: str(value) for name, value in self.arguments.items()}, **self.words}
        return PLACEHOLDER.sub(lambda match: known[match[1]], text)


@dataclass(frozen=True, kw_only=True)
class Task:
    """What an exercise with code and one on paper have in common.

    id : chapter and name, ``"3.3-column-softmax"``
    level : warm-up, core or challenge; minutes : to solve it, with the chapter read
    objective : what one practises; prerequisites : what one must know, each a few words that may link to a chapter
    statement : Markdown
    graded : an instructor may assign it: its solution is in the instructor's edition only. Otherwise it is folded into the web
        book. (Whoever can read this repository can read every solution: keep assigned exercises in a private copy.)
    """

    id: str
    title: str
    level: str
    minutes: int
    objective: str
    prerequisites: tuple[str, ...] = ()
    statement: str
    graded: bool = False

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise ValueError(f"{self.id}: level = {self.level!r}: must be one of {LEVELS}")

    @property
    def anchor(self) -> str:
        """Identifier for links to it."""
        return "exercise-" + self.id.replace(".", "-")

    @property
    def kind(self) -> str:
        """What stands before its name: a paper exercise says so."""
        return "Exercise"

    def solution_cell(self) -> str:
        """Markdown of the folded solution, for the web book."""
        raise NotImplementedError

    def statement_cell(self) -> str:
        """Markdown of the statement: a block quote, which plain Jupyter reads too and the book draws as a box."""
        head = f"**{self.kind} {self.id}: {self.title}** ({self.level}, {self.minutes} minutes)"
        need = f"*You need:* {'; '.join(self.prerequisites)}. " if self.prerequisites else ""
        body = f"{head}\n\n{textwrap.dedent(self.statement).strip()}\n\n{need}*You practise:* {self.objective}"
        return "\n".join(f"> {line}".rstrip() for line in body.splitlines())


@dataclass(frozen=True, kw_only=True)
class Exercise(Task):
    """An exercise with code. Code pieces define the function named ``function``.

    stub : code with a docstring and ``raise NotImplementedError("your answer")``
    reference, alternative : two right solutions, written differently
    wrong : plausible wrong solutions with the hint each must get
    hidden : further check (raises Misconception), for graders only; the visible one is in ``topiclib.checks``
    explanation : Markdown shown with the solution
    variants : other ways to pose it; the first is the web book's
    """

    function: str
    stub: str
    reference: str
    alternative: str
    wrong: tuple[Wrong, ...]
    hidden: Callable[..., None]
    explanation: str = ""
    variants: tuple[Variant, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("stub", "reference", "alternative"):
            if f"def {self.function}(" not in getattr(self, name):
                raise ValueError(f"{self.id}: {name} does not define {self.function}")
        if f'NotImplementedError("{NOT_ANSWERED}")' not in self.stub:
            raise ValueError(f"{self.id}: stub must raise NotImplementedError({NOT_ANSWERED!r})")

    def posed(self, seed: str | None = None) -> Exercise:
        """The exercise as a class with this seed gets it; without a seed as the web book has it."""
        if not self.variants:
            return self
        number = 0 if seed is None else int(sha256(f"{seed} {self.id}".encode()).hexdigest(), 16) % len(self.variants)
        return self.with_variant(self.variants[number])

    def with_variant(self, variant: Variant) -> Exercise:
        """The exercise with the placeholders of its texts replaced, and the checks told of it."""
        texts = {f.name: variant.fill(value) for f in fields(self) if isinstance(value := getattr(self, f.name), str)}
        wrong = tuple(Wrong(variant.fill(w.code), w.hint) for w in self.wrong)
        need = tuple(map(variant.fill, self.prerequisites))
        return replace(self, **texts, prerequisites=need, wrong=wrong, variants=(), arguments=variant.arguments)

    def answer_cell(self) -> str:
        """Code of the stub, as the learner finds it."""
        return textwrap.dedent(self.stub).strip()

    def check_cell(self) -> str:
        """Code of the check call."""
        told = "".join(f", {name}={value!r}" for name, value in self.arguments.items())
        return f'check("{self.id}", {self.function}{told})'

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
        verdict = check(self.id, answer, **self.arguments)
        if verdict.status != "passed":
            return verdict
        return verdict_of(self.id, partial(self.hidden, **self.arguments), answer)


@dataclass(frozen=True, kw_only=True)
class PaperExercise(Task):
    """An exercise on paper, a proof or an explanation, that a person grades.

    rubric : (points, what they are given for), each to be seen in an answer without knowing the others
    model_answer : Markdown; shown like the solution of an exercise with code
    """

    rubric: tuple[tuple[int, str], ...]
    model_answer: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.rubric) < 2 or any(points < 1 for points, _ in self.rubric):
            raise ValueError(f"{self.id}: rubric must have two lines at least, each worth a point or more")

    @property
    def kind(self) -> str:
        """A paper exercise says so."""
        return "Paper exercise"

    @property
    def points(self) -> int:
        """The most that it can give."""
        return sum(points for points, _ in self.rubric)

    def solution_cell(self) -> str:
        """Markdown of the folded model answer, for the web book."""
        text = textwrap.dedent(self.model_answer).strip()
        return f'<details class="tl-solution">\n<summary>Solution to exercise {self.id}</summary>\n\n{text}\n\n</details>'
