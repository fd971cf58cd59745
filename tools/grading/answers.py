"""Find the answers in a submitted notebook: by the function's name, wherever its cell went, with what the function needs.

A chapter may compute for a minute before the first exercise. An answer hardly ever needs that: of all top-level statements of the
notebook those are taken that its function refers to, directly or through others, in the notebook's order. What counts is the state
in which the notebook itself called the answer's check; a later cell that uses a name for something else changes nothing.
"""

from __future__ import annotations

import ast
import builtins
import json
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from symtable import SymbolTable, symtable
from typing import Any, TypeGuard

from IPython.core.inputtransformer2 import TransformerManager

from tools.editions import ANSWER
from topiclib.checks.base import NOT_ANSWERED

MAX_FILE = 20_000_000
"""Bytes of a notebook; plots that are left in it count."""
MAX_CODE = 400_000
"""Characters of code in a notebook."""
MAX_STATEMENTS = 20_000
MAX_WORK = 1_000_000
"""Bindings of names that are looked at to find one answer: some seconds; a chapter has a thousandth of that."""
ANSWER_ON_PAPER = re.compile(r"\*{0,2}Answer to (?:paper )?exercise ([\w.-]*\w):?\*{0,2}", re.I)
HARMLESS = {"print", "display", "check", "claim", "show", "slider", "sliders", "help"}
"""Calls that change nothing of what they are given."""


class SubmissionError(ValueError):
    """A submission cannot be read as a notebook; the message is the reason that its author gets."""


@dataclass(frozen=True)
class Submission:
    """What was found in a notebook.

    statements : top-level statements of all its code cells, in order
    cells : the number of each statement's cell
    broken : for each cell that is not Python, the names that it seems to define, and the error
    metadata : the notebook's own
    paper : answers on paper by exercise
    texts : all Markdown cells, and the code cells that hold nothing but comments and strings
    """

    statements: list[ast.stmt]
    cells: list[int] = field(default_factory=list)
    broken: list[tuple[set[str], str]] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    paper: dict[str, str] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)


def read_submission(path: Path) -> Submission:
    """Read a notebook of any version, whatever its outputs hold. Raises SubmissionError with the reason."""
    if not path.is_file() or path.is_symlink():
        raise SubmissionError("it is no file")
    size = path.stat().st_size
    if size > MAX_FILE:
        raise SubmissionError(
            f"the file has {size / 1e6:.0f} MB; {MAX_FILE / 1e6:.0f} are allowed. Clear its outputs and submit it again"
        )
    try:
        content = json.loads(path.read_bytes())
        cells = list(_cells(content))
    except SubmissionError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise SubmissionError(f"it is no Jupyter notebook ({type(error).__name__})") from None
    if sum(len(source) for _, source in cells) > MAX_CODE:
        raise SubmissionError(f"it has more than {MAX_CODE:,} characters of code and text")
    statements: list[ast.stmt] = []
    numbers: list[int] = []
    broken: list[tuple[set[str], str]] = []
    paper: dict[str, str] = {}
    texts: list[str] = []
    for number, (kind, source) in enumerate(cells):
        if kind == "code":
            try:
                found = _parsed(source)
            except (SyntaxError, ValueError, RecursionError, MemoryError, RuntimeError) as error:
                line = getattr(error, "lineno", None)
                where = f" in its line {line}" if line else ""
                names = set(re.findall(r"\bdef\s+(\w+)|^\s*(\w+)\s*=", source, re.M))
                broken.append(({name for pair in names for name in pair}, f"{type(error).__name__}{where}"))
                continue
            statements += found
            numbers += [number] * len(found)
            if all(isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) for s in found):
                texts.append(source.strip())
        elif match := ANSWER_ON_PAPER.search(source):
            # Of several copies the one with most in it counts
            answer = (source[: match.start()] + source[match.end() :]).replace(ANSWER, "").strip()
            paper[match[1]] = max(paper.get(match[1], ""), answer, key=len)
        else:
            texts.append(source.strip())
    if len(statements) > MAX_STATEMENTS:
        raise SubmissionError(f"it has more than {MAX_STATEMENTS:,} statements")
    metadata = content.get("metadata")
    return Submission(statements, numbers, broken, metadata if isinstance(metadata, dict) else {}, paper, texts)


def _cells(content: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(kind, source) of the cells of a notebook in format 4, or 3 with its worksheets."""
    version = content["nbformat"]
    if version == 4:
        cells, name = content["cells"], "source"
    elif version == 3:
        cells, name = [cell for sheet in content["worksheets"] for cell in sheet["cells"]], "input"
    else:
        raise SubmissionError(f"it is a notebook of format {version!r}; formats 3 and 4 are read")
    for cell in cells:
        kind = cell["cell_type"]
        source = cell.get(name, cell.get("source", "")) if kind == "code" else cell.get("source", "")
        text = "".join(source) if isinstance(source, list) else source
        if not isinstance(text, str):
            raise TypeError
        yield kind, text


def _parsed(source: str) -> list[ast.stmt]:
    """The statements of a cell. What only IPython understands is left out; a cell in another language is empty."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source).body
        except SyntaxError:
            pass
        if re.match(r"\s*%%", source) and not re.match(r"\s*%%(time|timeit|capture|prun)\b", source):
            return []
        plain = re.sub(r"\A\s*%%.*", "", source)
        found = ast.parse(TransformerManager().transform_cell(plain)).body
    # A command of the notebook by itself is no part of an answer; within a function it stays, and does nothing there
    return [s for s in found if not (isinstance(s, ast.Expr) and "get_ipython" in _base(s.value))]


def is_stub(function: ast.FunctionDef) -> bool:
    """Whether a function still raises the stub's NotImplementedError and does nothing else."""
    body = [s for s in function.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if len(body) != 1 or not isinstance(body[0], ast.Raise):
        return False
    return NOT_ANSWERED in ast.unparse(body[0])


def _bound(node: ast.stmt) -> set[str]:
    """The names that a top-level statement binds; "*" for an import of everything."""
    if _defines(node):
        return {node.name}
    found: set[str] = set()
    for part in ast.walk(node):
        if _defines(part):
            found.add(part.name)
        elif isinstance(part, ast.alias):
            found.add("*" if part.name == "*" else (part.asname or part.name).split(".")[0])
        elif isinstance(part, ast.Name) and isinstance(part.ctx, (ast.Store, ast.Del)):
            found.add(part.id)
        elif isinstance(part, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and part.name:
            found.add(part.name)
    return found


def _defines(node: ast.AST) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))


def _is_function(node: ast.stmt) -> bool:
    """Whether a statement makes a function for certain: ``def``, ``class``, ``f = lambda ...``."""
    return _defines(node) or (isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda))


def _changed(node: ast.stmt) -> tuple[set[str], set[str]]:
    """The names whose values a top-level statement changes in place: ``x[3] = 1``, ``x.y = 1``; and those that it may change by a
    call: ``x.append(1)``, ``fill(x)``.
    """
    found: set[str] = set()
    perhaps: set[str] = set()
    if _defines(node):
        return found, perhaps
    for part in ast.walk(node):
        if isinstance(part, (ast.Attribute, ast.Subscript)) and isinstance(part.ctx, (ast.Store, ast.Del)):
            found |= _base(part)
        elif isinstance(part, ast.Expr):
            for call in (inner for inner in ast.walk(part.value) if isinstance(inner, ast.Call)):
                if HARMLESS & (base := _base(call.func)):
                    continue
                # A call may change what it belongs to and what it is given; not the function that is called by its name
                given = [*call.args, *(keyword.value for keyword in call.keywords)]
                perhaps |= set().union(*map(_base, given)) | (set() if isinstance(call.func, ast.Name) else base)
    return found, perhaps


def _base(node: ast.expr) -> set[str]:
    """``x`` of ``x.y[3].z`` and of ``x.y().z``."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def _used(node: ast.stmt) -> tuple[set[str], set[str]]:
    """The global names that a statement refers to when it runs, and those that its functions refer to when they are called."""
    try:
        now, later = _names(symtable(ast.unparse(node), "<answer>", "exec"), called=False)
    except (SyntaxError, ValueError, RecursionError):  # a return outside a function: it will fail where it runs
        now, later = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}, set()
    return now, later


def _names(table: SymbolTable, called: bool) -> tuple[set[str], set[str]]:
    """Names that are looked up among the globals in a scope and in those within it: at once, and when a function is called."""
    top = table.get_type() == "module"
    found = {s.get_name() for s in table.get_symbols() if s.is_referenced() and (top or s.is_global())}
    at_once: set[str] = set() if called else found
    later: set[str] = found if called else set()
    for inner in table.get_children():
        # What a comprehension or a class refers to is needed at once
        is_called = inner.get_type() == "function" and not inner.get_name().endswith(("genexpr", "comp"))
        first, second = _names(inner, called or is_called)
        at_once, later = at_once | first, later | second
    return at_once, later


@dataclass(frozen=True)
class Program:
    """The code of one answer, or why there is none (``reason``; "unanswered" for a stub that is as it was).

    statements : in the order in which they run
    """

    statements: tuple[str, ...] = ()
    reason: str = ""

    @property
    def code(self) -> str:
        """All of it."""
        return "\n".join(self.statements)


def programs_of(submission: Submission, exercise: str, function: str) -> list[Program]:
    """The statements that make up an answer: as they stood when the notebook checked it, and, where that differs, at its end."""
    statements = submission.statements
    bound = [_bound(statement) for statement in statements]
    defined = [k for k, names in enumerate(bound) if function in names]
    try:
        stubs = {k for k in defined if isinstance(s := statements[k], ast.FunctionDef) and is_stub(s)}
        answered = [k for k in defined if k not in stubs]
        if not answered:
            for names, error in submission.broken:
                if function in names:
                    return [Program(reason=f"the cell that defines {function} is not Python ({error})")]
            return [Program(reason="unanswered" if defined else f"no cell defines a function named {function}")]
        # A variable of this name in a loop or a trial is no answer where there is a function
        last = max([k for k in answered if _is_function(statements[k])] or answered)
        if last < defined[-1] and not _is_function(statements[last]):
            return [Program(reason="unanswered")]  # the chapter has a variable of this name, before the stub
        notebook = _Notebook(statements, submission.cells, bound, stubs)
        checked = [k for k, s in enumerate(statements) if k > last and _checks(s, exercise)]
        ends = [checked[0] if checked else notebook.end_of_cell(last), len(statements)]
        found = [notebook.program(function, end) for end in ends]
    except RecursionError:
        return [Program(reason="its code is nested too deep")]
    except _TooTangled:
        return [Program(reason="its statements change the same names too often to be followed")]
    return found if found[0].statements != found[1].statements else found[:1]


def _checks(node: ast.stmt, exercise: str) -> bool:
    """Whether a statement calls the check of an exercise."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and part.args and isinstance(part.args[0], ast.Constant):
            name = part.func.attr if isinstance(part.func, ast.Attribute) else getattr(part.func, "id", "")
            if name == "check" and part.args[0].value == exercise:
                return True
    return False


class _TooTangled(Exception):
    """Following the names of a notebook takes too long."""


class _Notebook:
    """Which statements of a notebook a name needs, at a place in it."""

    def __init__(self, statements: list[ast.stmt], cells: list[int], bound: list[set[str]], left_out: set[int]) -> None:
        self.statements, self.cells = statements, cells
        self.modules = set().union(
            *(b for b, s in zip(bound, statements, strict=True) if isinstance(s, (ast.Import, ast.ImportFrom)))
        )
        self.functions = set().union(*(b for b, s in zip(bound, statements, strict=True) if _is_function(s)))
        self.binding: dict[str, list[int]] = {}
        self.changing: dict[str, list[int]] = {}
        for k, statement in enumerate(statements):
            if k in left_out:
                continue
            for name in bound[k]:
                self.binding.setdefault(name, []).append(k)
            stored, called = _changed(statement)
            for name in (stored | (called - self.functions)) - bound[k]:
                self.changing.setdefault(name, []).append(k)
        self.uses: dict[int, tuple[set[str], set[str]]] = {}
        self.work = 0

    def end_of_cell(self, k: int) -> int:
        """The number of the first statement after the cell of statement ``k``."""
        return next((n for n in range(k, len(self.statements)) if self.cells[n] != self.cells[k]), len(self.statements))

    def program(self, function: str, end: int) -> Program:
        """What ``function`` needs when it is called at the place ``end``."""
        taken: set[int] = set()
        unbound = self._take(function, end, taken)
        if unbound:  # perhaps one of the imports of everything brings it
            taken |= set(self.binding.get("*", ()))
        taken |= {k for k, s in enumerate(self.statements) if isinstance(s, ast.ImportFrom) and s.module == "__future__"}
        # What the answer's own cells set in a module, such as torch's default type, belongs to the answer
        own = {self.cells[k] for k in taken if _defines(self.statements[k])}
        for k in {k for name in self.modules for k in self.changing.get(name, ()) if self.cells[k] in own and k < end}:
            taken.add(k)
            for name in self._used(k)[0]:
                self._take(name, k, taken)
        return Program(tuple(map(ast.unparse, self._in_order(taken))))

    def _used(self, k: int) -> tuple[set[str], set[str]]:
        if k not in self.uses:
            self.uses[k] = _used(self.statements[k])
        return self.uses[k]

    def _places(self, name: str, at: int) -> list[int]:
        """The statements that make up a name's value at a place; where none is before, those behind, as if run backwards."""
        binding = self.binding.get(name, [])
        self.work += len(binding) + len(self.changing.get(name, ()))
        if self.work > MAX_WORK:
            raise _TooTangled
        before = [k for k in binding if k < at]
        if not before:
            before, at = binding, len(self.statements)
        # What stands before a binding for certain has no effect
        start = max((k for k in before if self._is_certain(k, name)), default=-1)
        found = [k for k in before if k >= start]
        if name not in self.modules and found:
            found += [k for k in self.changing.get(name, ()) if start < k < at]
        return found

    def _is_certain(self, k: int, name: str) -> bool:
        """Whether a statement binds a name whatever was before, and without it."""
        statement = self.statements[k]
        if _defines(statement):
            return name not in self._used(k)[0]
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            return name not in set().union(*self._used(k))
        return isinstance(statement, (ast.Import, ast.ImportFrom))

    def _take(self, function: str, end: int, taken: set[int]) -> bool:
        """Add the statements that a name needs; whether some name has none."""
        waiting, known, unbound = [(function, end)], set(), False
        while waiting:
            name, at = waiting.pop()
            if (name, at) in known:
                continue
            known.add((name, at))
            places = self._places(name, at)
            unbound |= not places and not hasattr(builtins, name)
            for k in places:
                taken.add(k)
                now, later = self._used(k)
                waiting += [(other, k) for other in now] + [(other, at) for other in now | later]
        return unbound

    def _in_order(self, taken: set[int]) -> list[ast.stmt]:
        """The notebook's order; where it runs backwards, what a statement needs at once comes before it."""
        done: dict[int, None] = {}
        begun: set[int] = set()
        waiting = sorted(taken, reverse=True)
        while waiting:
            k = waiting[-1]
            if k in begun:
                done.setdefault(waiting.pop())
                continue
            begun.add(k)
            for name in self._used(k)[0]:
                places = self._places(name, k)
                if places and min(places) > k:
                    waiting += [other for other in reversed(places) if other in taken - begun]
        return [self.statements[k] for k in done]
