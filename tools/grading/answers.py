"""Find the answers in a submitted notebook: by the function's name, wherever its cell went, with what the function needs.

A chapter may compute for a minute before the first exercise. An answer hardly ever needs that: of all top-level statements of the
notebook those are taken that its function refers to, directly or through others, in the notebook's order.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from symtable import SymbolTable, symtable
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager

from tools.editions import ANSWER
from topiclib.checks.base import NOT_ANSWERED

MAX_FILE = 20_000_000
"""Bytes of a notebook; plots that are left in it count."""
MAX_CODE = 400_000
"""Characters of code in a notebook."""
MAX_STATEMENTS = 20_000
ANSWER_ON_PAPER = re.compile(r"\*{0,2}Answer to (?:paper )?exercise ([\w.-]*\w):?\*{0,2}", re.I)
HARMLESS = {"print", "display", "check", "claim", "show", "slider", "help"}
"""Calls that change nothing of what they are given."""


class SubmissionError(ValueError):
    """A submission cannot be read as a notebook; the message is the reason that its author gets."""


@dataclass(frozen=True)
class Submission:
    """What was found in a notebook.

    statements : top-level statements of all its code cells, in order
    broken : for each cell that is not Python, the names of functions that it seems to define, and the error
    metadata : the notebook's own
    paper : answers on paper by exercise
    texts : all Markdown cells
    """

    statements: list[ast.stmt]
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
    broken: list[tuple[set[str], str]] = []
    paper: dict[str, str] = {}
    texts: list[str] = []
    for kind, source in cells:
        if kind == "code":
            try:
                statements += _parsed(source)
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                line = getattr(error, "lineno", None)
                where = f" in its line {line}" if line else ""
                broken.append((set(re.findall(r"\bdef\s+(\w+)", source)), f"{type(error).__name__}{where}"))
        elif match := ANSWER_ON_PAPER.search(source):
            # Of several copies the one with most in it counts
            answer = (source[: match.start()] + source[match.end() :]).replace(ANSWER, "").strip()
            paper[match[1]] = max(paper.get(match[1], ""), answer, key=len)
        else:
            texts.append(source.strip())
    if len(statements) > MAX_STATEMENTS:
        raise SubmissionError(f"it has more than {MAX_STATEMENTS:,} statements")
    metadata = content.get("metadata")
    return Submission(statements, broken, metadata if isinstance(metadata, dict) else {}, paper, texts)


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
    return [statement for statement in found if "get_ipython()" not in ast.unparse(statement)]


def is_stub(function: ast.FunctionDef) -> bool:
    """Whether a function still raises the stub's NotImplementedError and does nothing else."""
    body = [s for s in function.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if len(body) != 1 or not isinstance(body[0], ast.Raise):
        return False
    return NOT_ANSWERED in ast.unparse(body[0])


def _bound(node: ast.stmt) -> set[str]:
    """The names that a top-level statement binds; "*" for an import of everything."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    found: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(part.name)
        elif isinstance(part, ast.alias):
            found.add("*" if part.name == "*" else (part.asname or part.name).split(".")[0])
        elif isinstance(part, ast.Name) and isinstance(part.ctx, (ast.Store, ast.Del)):
            found.add(part.id)
        elif isinstance(part, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and part.name:
            found.add(part.name)
    return found


def _changed(node: ast.stmt) -> set[str]:
    """The names whose values a top-level statement changes in place: ``x[3] = 1``, ``x.y = 1``, ``x.append(1)``."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return set()
    found: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, (ast.Attribute, ast.Subscript)) and isinstance(part.ctx, (ast.Store, ast.Del)):
            found |= _base(part)
        elif isinstance(part, ast.Expr) and isinstance(part.value, ast.Call) and not HARMLESS & (base := _base(part.value.func)):
            # A call may change what it belongs to and what it is given
            given = [*part.value.args, *(keyword.value for keyword in part.value.keywords)]
            found |= base.union(*map(_base, given))
    return found


def _base(node: ast.expr) -> set[str]:
    """``x`` of ``x.y[3].z`` and of ``x.y().z``."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def _used(node: ast.stmt) -> set[str]:
    """The global names that a statement refers to, at any depth: a function's own variables are none."""
    try:
        return _global_names(symtable(ast.unparse(node), "<answer>", "exec"))
    except (SyntaxError, ValueError, RecursionError):  # a return outside a function: it will fail where it runs
        return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _global_names(table: SymbolTable) -> set[str]:
    """Names that are looked up among the globals in a scope and in those within it."""
    top = table.get_type() == "module"
    found = {s.get_name() for s in table.get_symbols() if s.is_referenced() and (top or s.is_global())}
    return found.union(*(_global_names(inner) for inner in table.get_children()))


@dataclass(frozen=True)
class Program:
    """The code of one answer, or why there is none (``reason``; "unanswered" for a stub that is as it was)."""

    code: str = ""
    reason: str = ""


def program_of(submission: Submission, function: str) -> Program:
    """The statements that make up one answer."""
    bound = [_bound(statement) for statement in submission.statements]
    defined = [k for k, names in enumerate(bound) if function in names]
    answered = [k for k in defined if not (isinstance(s := submission.statements[k], ast.FunctionDef) and is_stub(s))]
    if not answered:
        for names, error in submission.broken:
            if function in names:
                return Program(reason=f"the cell that defines {function} is not Python ({error})")
        return Program(reason="unanswered" if defined else f"no cell defines a function named {function}")
    last = answered[-1]
    if last < defined[-1] and not isinstance(submission.statements[last], ast.FunctionDef):
        return Program(reason="unanswered")  # the chapter has a variable of this name, before the stub
    try:
        taken = _needed(submission.statements, bound, last, set(defined))
        # ``f = wrap(f)``, or ``old = f`` before a second ``def f``: the earlier ones are needed too
        if any(function in _used(submission.statements[k]) for k in taken if k != last or not _defines(submission.statements[k])):
            taken |= {k for k in answered if k < last}
            for k in answered[:-1]:
                taken |= _needed(submission.statements, bound, k, set(defined))
        return Program(code="\n".join(ast.unparse(submission.statements[k]) for k in sorted(taken)))
    except RecursionError:
        return Program(reason="its code is nested too deep")


def _defines(node: ast.stmt) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))


def _needed(statements: list[ast.stmt], bound: list[set[str]], first: int, left_out: set[int]) -> set[int]:
    """The numbers of the statements that one refers to, directly or through others."""
    # What a notebook does to a module, as drawing and seeding do, is no part of an answer
    modules = set().union(*(b for b, s in zip(bound, statements, strict=True) if isinstance(s, (ast.Import, ast.ImportFrom))))
    places: dict[str, list[int]] = {}
    for k, statement in enumerate(statements):
        if k not in left_out:
            for name in bound[k] | (_changed(statement) - modules):
                places.setdefault(name, []).append(k)
    taken = {first, *places.get("*", ())}
    taken |= {k for k, s in enumerate(statements) if isinstance(s, ast.ImportFrom) and s.module == "__future__"}
    waiting, known = [first, *places.get("*", ())], set()
    while waiting:
        for name in _used(statements[waiting.pop()]) - known:
            known.add(name)
            for k in places.get(name, ()):
                if k not in taken:
                    taken.add(k)
                    waiting.append(k)
    return taken
