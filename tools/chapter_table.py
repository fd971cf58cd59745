"""``topiclib/chapters.json``: what each chapter needs installed and how long it takes, for the set-up cell.

``python -m tools.chapter_table sync`` writes it; ``check`` only reports, and exits 1 where it is out of step.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import nbformat

from tools.settings import BOOK, ROOT

TABLE = ROOT / "topiclib" / "chapters.json"
TIME = re.compile(r"\*\*Time:\*\* .*?the cells run in about (\d+) (s|minutes) on two CPU cores")
REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)\s*(.*)")
# A check runs what its own chapter's answer is about: the chapter imports that too. The start asks before it imports.
NOT_FOLLOWED = ("topiclib.checks", "topiclib.start")


def _requirements(name: str) -> dict[str, str]:
    """Package -> version and hash, from a file of requirements."""
    lines = [line.split("#")[0].strip() for line in (ROOT / name).read_text().splitlines()]
    matches = [match for line in lines if line and (match := REQUIREMENT.match(line))]
    return {match[1]: match[2] for match in matches}


def _imports(code: str) -> Iterator[str]:
    """Every module that the code imports, also inside functions."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def _imports_of(module: str) -> frozenset[str]:
    """What a module of topiclib imports itself; nothing for a name that is no module."""
    path = ROOT / Path(*module.split("."))
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if not source.exists() or module.startswith(NOT_FOLLOWED):
        return frozenset()
    return frozenset(_imports(source.read_text()))


def _closure(code: str) -> set[str]:
    """Every module that the code needs, through others too."""
    found: set[str] = set()
    waiting = set(_imports(code))
    while waiting:
        name = waiting.pop()
        found.add(name)
        if name.startswith("topiclib."):
            waiting |= _imports_of(name) - found
    return found


def table() -> dict[str, Any]:
    """The whole table. Raises ValueError for a chapter whose card states no time."""
    requirements, data = _requirements("requirements.txt"), _requirements("requirements-data.txt")
    chapters = {}
    for path in sorted(BOOK.glob("*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        match = TIME.search(cells[0].source)
        if match is None:
            raise ValueError(f"{path.stem}: its card must say '**Time:** ... the cells run in about N s|minutes on two CPU cores'")
        code = [re.sub(r"^\s*[%!].*$", "", cell.source, flags=re.M) for cell in cells if cell.cell_type == "code"]
        found = _closure("\n".join(code))
        packages = {name.split(".")[0] for name in found}
        needs = sorted(name for name in requirements if name in packages) + (sorted(data) if "topiclib.sources" in found else [])
        seconds, resumes = int(match[1]) * (60 if match[2] == "minutes" else 1), "topiclib.masked_lm_training" in found
        chapters[path.stem] = {"seconds": seconds, "resumes": resumes, "needs": needs}
    return {"requirements": requirements, "data": data, "chapters": chapters}


def findings() -> list[str]:
    """What is wrong with the table in the library."""
    try:
        new = as_text(table())
    except ValueError as error:
        return [str(error)]
    return [] if TABLE.exists() and TABLE.read_text() == new else [f"{TABLE.name} is not in step: run 'make notebooks'"]


def as_text(new: dict[str, Any]) -> str:
    """The table's file."""
    return json.dumps(new, indent=1) + "\n"


def main(arguments: list[str]) -> int:
    """Run ``sync`` or ``check``."""
    if arguments not in (["sync"], ["check"]):
        print("usage: python -m tools.chapter_table sync|check", file=sys.stderr)
        return 2
    if arguments == ["sync"]:
        TABLE.write_text(as_text(table()))
    found = findings()
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
