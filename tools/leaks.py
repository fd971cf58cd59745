"""Search everything that is published for what only instructors may have: solutions of graded exercises and hidden checks.

Three nets, from fine to coarse: whole lines of a solution and sentences of an answer, wherever they stand and however they are
spaced and marked up; functions of the same structure, whatever their names; and the mark that every part of the instructor's
edition carries.
"""

from __future__ import annotations

import ast
import html
import inspect
import io
import json
import re
import textwrap
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from exercises.catalogue import MODULES, PAPER
from exercises.format import Exercise
from tools.editions import CANARY
from tools.notebooks import chapters, read
from tools.settings import ROOT

LINE, PARAGRAPH, SENTENCE = 26, 40, 36
"""Characters without spaces of a line of code or of text, letters and digits of a sentence, from which it tells whose it is."""
NODES = 14
"""Parts of a function's syntax from which its structure tells whose it is."""
TEXT = {".html", ".js", ".json", ".txt", ".md", ".py", ".csv", ".ipynb", ".xml", ".svg"}
PIECE = 10
"""Characters that are looked up at once."""
NO_PART = {"ctx", "type_comment", "lineno", "annotation", "returns", "kind", "type_params"}


@dataclass(frozen=True)
class Leak:
    """A place where something secret stands: the artefact, the exercise, and what was found."""

    where: str
    exercise: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.exercise}: {self.what}"


class Needles:
    """Many strings, each with its exercise, to be found in long texts without a search for each of them."""

    def __init__(self, owners: Mapping[str, str]) -> None:
        self.owners = dict(owners)
        self._pieces: dict[str, list[tuple[str, int]]] = {}
        # A text is looked at in steps: wherever a needle stands, one of its pieces that begin within a step is met whole.
        self._step = max(1, min(map(len, self.owners), default=PIECE) - PIECE + 1)
        for needle in self.owners:
            for start in range(self._step):
                self._pieces.setdefault(needle[start : start + PIECE], []).append((needle, start))

    def within(self, text: str) -> Iterator[str]:
        """Those of the strings that stand in the text."""
        found = {
            needle
            for at in range(0, len(text), self._step)
            for needle, start in self._pieces.get(text[at : at + PIECE], ())
            if at >= start and text.startswith(needle, at - start)
        }
        return (needle for needle in self.owners if needle in found)

    def but_for(self, text: str) -> Needles:
        """Those that do not stand in the text."""
        public = set(self.within(text))
        return Needles({needle: owner for needle, owner in self.owners.items() if needle not in public})


@dataclass(frozen=True)
class Secrets:
    """What must not be published.

    lines : of code and of text, without spaces; sentences : letters and digits alone; structures : of functions; all with the name
        of their exercise
    """

    lines: Needles
    sentences: Needles
    structures: Mapping[str, str]


def squeezed(text: str) -> str:
    """The text without white space."""
    return "".join(text.split())


def letters(text: str) -> str:
    """Letters and digits alone: the same for Markdown and for the page made of it, with other quotes and signs of formulas."""
    return re.sub(r"[\W_]+", "", text)


def sentences(text: str) -> Iterator[str]:
    """The longer sentences and paragraphs of a text, letters alone; a link with its address, as in a notebook, and without."""
    for line in text.splitlines():
        for part in (line, *re.split(r"(?<=[.:;?!])\s+", line)):
            for form in (part, re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", part)):
                if len(key := letters(form)) >= SENTENCE:
                    yield key


def structure(function: ast.AST) -> str:
    """A function's syntax with every name replaced by its number, without docstrings: the same for a renamed copy."""
    numbers: dict[str, int] = {}
    found: list[str] = []

    def add(node: Any) -> None:
        if isinstance(node, ast.AST):
            found.append(f"{type(node).__name__}(")
            for name in node._fields:
                if name in NO_PART:
                    continue
                value = getattr(node, name, None)
                if isinstance(node, ast.keyword) and name == "arg":
                    value = value is not None  # it is named by the function that is called
                if name in ("id", "arg", "name", "asname") and isinstance(value, str):
                    value = numbers.setdefault(value, len(numbers))
                if name == "body" and isinstance(value, list):
                    value = [v for v in value if not (isinstance(v, ast.Expr) and isinstance(v.value, ast.Constant))]
                add(value)
            found.append(")")
        elif isinstance(node, list):
            found.append("[")
            for item in node:
                add(item)
            found.append("]")
        else:
            found.append(f"{node!r},")

    add(function)
    return "".join(found)


def functions_in(code: str) -> Iterator[str]:
    """The structures of the larger functions in a piece of code; none if it is no Python."""
    if "def" not in code and "lambda" not in code:
        return
    tree = _parsed(code) or _parsed(re.sub(r"^[%!?].*$", "", code, flags=re.M))  # without a notebook's commands
    for node in _walk(tree) if tree else ():
        function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        if function and sum(1 for _ in islice(_walk(node), NODES)) == NODES:
            yield structure(node)


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Every part of the syntax, as ``ast.walk`` in half its time."""
    todo = [node]
    while todo:
        yield (node := todo.pop())
        for value in vars(node).values():
            if isinstance(value, list):
                todo += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                todo.append(value)


def _parsed(code: str) -> ast.AST | None:
    """The syntax of a piece of code; None if it is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of text that is no code
            return ast.parse(textwrap.dedent(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def code_in(text: str) -> list[str]:
    """A text and the blocks of code in it, of Markdown and of HTML: each may be Python."""
    fenced = re.findall(r"^[> ]*```[^\n`]*\n(.*?)```", text, re.S | re.M) if "```" in text else []
    return [text, *fenced, *(without_markup(block) for block in re.findall(r"<pre[^>]*>(.*?)</pre>", text, re.S))]


def without_markup(text: str) -> str:
    """HTML without its tags, its entities undone."""
    return html.unescape(re.sub(r"<[^>]+>", "", text))


def without_escapes(text: str) -> str:
    """The text of a string of JavaScript or JSON, as a search index holds it."""
    plain = {"n": "\n", "t": "\t", "r": "\r"}

    def undone(match: re.Match[str]) -> str:
        sign = match[1]
        return chr(int(sign[1:], 16)) if len(sign) > 1 else plain.get(sign, sign)

    return re.sub(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[^ux])", undone, text)


def secrets() -> Secrets:
    """What graded solutions, rubrics, model answers and hidden checks hold, in every variant, and no chapter and no library."""
    lines: dict[str, str] = {}
    texts: dict[str, str] = {}
    structures: dict[str, str] = {}

    def keep_lines(name: str, text: str, shortest: int) -> None:
        for line in text.splitlines():
            if len(key := squeezed(line)) >= shortest:
                lines.setdefault(key, name)

    def keep_code(name: str, code: str) -> None:
        keep_lines(name, code, LINE)
        for found in functions_in(code):
            structures.setdefault(found, name)

    def keep_text(name: str, text: str) -> None:
        keep_lines(name, text, PARAGRAPH)
        for key in sentences(text):
            texts.setdefault(key, name)

    for module in MODULES:
        hidden = {exercise.hidden: exercise.id for exercise in module.EXERCISES}
        # What hidden checks call stands beside them.
        for function in vars(module).values():
            if inspect.isfunction(function) and function.__module__ == module.__name__:
                keep_code(hidden.get(function, module.__name__), inspect.getsource(function))
    for exercise in _versions():
        if exercise.graded:
            keep_text(exercise.id, exercise.explanation)
            for code in (exercise.reference, exercise.alternative):
                keep_code(exercise.id, code)
            for wrong in exercise.wrong:
                keep_lines(exercise.id, wrong.code, LINE)
    for task in PAPER.values():
        if task.graded:
            keep_text(task.id, "\n".join([task.model_answer, *(text for _, text in task.rubric)]))
    public = list(_public())
    known = {found for text in public for code in code_in(text) for found in functions_in(code)}
    together = "\n".join(public)
    return Secrets(
        Needles(lines).but_for(squeezed(together)),
        Needles(texts).but_for(letters(together)),
        {found: name for found, name in structures.items() if found not in known},
    )


def _versions() -> Iterator[Exercise]:
    """Every exercise with code as the book or some class may get it."""
    for module in MODULES:
        for exercise in module.EXERCISES:
            yield from [exercise.with_variant(variant) for variant in exercise.variants] or [exercise]


def _public() -> Iterator[str]:
    """What is meant to be read: chapters, stubs, statements, the library."""
    for path in chapters():
        yield from (cell.source for cell in read(path).cells)
    for path in sorted((ROOT / "topiclib").rglob("*.py")):
        yield path.read_text()
    for exercise in _versions():
        yield from (exercise.stub, exercise.statement)
        if not exercise.graded:
            yield from (exercise.reference, exercise.explanation)
    for task in PAPER.values():
        yield task.statement


def leaks_in(where: str, text: str, code: Iterable[str], known: Secrets) -> Iterator[Leak]:
    """What a text, and the pieces of code in it, give away."""
    tight = squeezed(text)
    if squeezed(CANARY) in tight:
        yield Leak(where, "any", "the mark of the instructor's edition")
    for line in known.lines.within(tight):
        yield Leak(where, known.lines.owners[line], f"the line {line[:60]}")
    for sentence in known.sentences.within(letters(text)):
        yield Leak(where, known.sentences.owners[sentence], f"the text {sentence[:60]}")
    for found in dict.fromkeys(found for piece in code for found in functions_in(piece)):
        if found in known.structures:
            yield Leak(where, known.structures[found], "a function of the same structure")


def _strings(value: Any) -> Iterator[str]:
    """Every text within JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        if all(isinstance(item, str) for item in value):
            yield "".join(value)
        else:
            for item in value:
                yield from _strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _strings(item)


def read_artefact(name: str, data: bytes) -> tuple[str, list[str]]:
    """An artefact as (text, pieces of code); what stands in it, and the same with markup and escapes undone."""
    text = data.decode(errors="replace")
    pieces = [text]
    if name.endswith((".ipynb", ".json", ".ipynb.txt")):
        try:
            pieces = list(_strings(json.loads(text)))
        except (ValueError, RecursionError):
            pieces = [text]
    forms = ["\n".join(pieces)]
    if name.endswith((".html", ".xml", ".svg")):
        # A tag holds text too, as an attribute; and what stands between two signs need be no tag.
        forms = [html.unescape(text), without_markup(text)]
    elif not name.endswith(".js") and re.search("[<&]", text):
        forms.append(without_markup(forms[0]))
    if "\\" in forms[0]:
        forms.append(without_escapes(forms[0]))
    return "\n".join(forms), [code for piece in pieces for code in code_in(piece)]


def artefacts(path: Path) -> Iterator[tuple[str, bytes]]:
    """The files of a folder, or of a wheel or zip, that hold text."""
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.is_file():
                yield from _texts(str(file.relative_to(path.parent)), file.read_bytes())
    else:
        yield from _texts(path.name, path.read_bytes())


def _texts(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """A file that holds text, or those within an archive."""
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for inner in archive.namelist():
                yield from _texts(f"{name}/{inner}", archive.read(inner))
    elif Path(name).suffix in TEXT or b"\0" not in data:
        yield name, data


def scan(paths: Iterable[Path], known: Secrets | None = None) -> tuple[int, list[Leak]]:
    """(number of files, leaks) in the artefacts; ``known`` spares collecting what is secret again."""
    known, number, found = known or secrets(), 0, []
    for path in paths:
        for name, data in artefacts(path):
            number += 1
            found += leaks_in(name, *read_artefact(name, data), known)
    return number, found
