"""Keep the chapters' notebooks in form: generated cells in step with their sources, ids stable, outputs clean.

``python -m tools.notebooks sync`` writes; ``python -m tools.notebooks check`` only reports, and exits 1 on a finding.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import nbformat

from exercises.catalogue import TASKS
from exercises.format import Exercise, Task
from tools.prose import Stated, claims_of, prose_findings
from tools.settings import BOOK, setup_cell

Notebook = Any
MAX_LINES = 25
CHECKED_TAG = "nbval-check-output"
# Folded on the page, by the cell's name: a reader sees what such cells draw or say; how is one click away.
FOLDED = re.compile(r"^(set-up|draw-.*|slider-.*)$|-(claims|figure|slider)$")
TAGS = {CHECKED_TAG, "hide-input"}
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def chapters() -> list[Path]:
    """Every chapter notebook."""
    return sorted(p for p in BOOK.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)


def read(path: Path) -> Notebook:
    """The notebook in format 4."""
    return nbformat.read(path, as_version=4)


def damaged() -> list[str]:
    """Chapters that cannot be read: a merge that was not finished, a file that is cut off."""
    found = []
    for path in chapters():
        try:
            read(path)
        except (ValueError, nbformat.ValidationError) as error:
            reason = str(error.__cause__ or error).splitlines()[0]
            found.append(f"{path.relative_to(BOOK.parent)}: is no notebook ({reason}); is a merge unfinished?")
    return found


def as_text(notebook: Notebook) -> str:
    """The notebook's file in the one form that makes small diffs."""
    text: str = nbformat.writes(notebook, indent=1, ensure_ascii=False)
    return text.rstrip("\n") + "\n"


def write(path: Path, notebook: Notebook) -> None:
    """Write the notebook."""
    write_whole(path, as_text(notebook))


def write_whole(path: Path, text: str, *, errors: str = "strict") -> None:
    """A file of text in UTF-8, whole or not at all: a full disk leaves what was there before."""
    # Named by digest and process alone: a name that just fits into the file system has no room for an ending
    part = path.with_name(f"{sha256(os.fsencode(path.name)).hexdigest()[:16]}-{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8", errors=errors, newline="")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _cell(kind: str, ident: str, source: str, metadata: dict[str, Any]) -> Notebook:
    make = nbformat.v4.new_markdown_cell if kind == "markdown" else nbformat.v4.new_code_cell
    return make(source=source, id=ident, metadata=metadata)


def exercise_cells(exercise: Task) -> list[Notebook]:
    """Statement, stub and check call of an exercise, as a chapter shows them; of one on paper the statement."""
    ident = exercise.anchor
    statement = _cell("markdown", ident, exercise.statement_cell(), {"exercise": exercise.id})
    if not isinstance(exercise, Exercise):
        return [statement]
    return [
        statement,
        _cell("code", f"{ident}-answer", exercise.answer_cell(), {"exercise": exercise.id}),
        _cell("code", f"{ident}-check", exercise.check_cell(), {"exercise": exercise.id}),
    ]


def synced(notebook: Notebook, chapter: str) -> Notebook:
    """A chapter's notebook with generated cells made anew, outputs cleared where nbval does not compare them, metadata plain."""
    cells: list[Notebook] = []
    done: set[str] = set()
    for cell in notebook.cells:
        ident = cell.metadata.get("exercise")
        if ident is None:
            cells.append(cell)
        elif ident not in TASKS:
            cells.append(cell)  # a finding
        elif ident not in done:
            done.add(ident)
            cells.extend(exercise_cells(TASKS[ident]))
    for cell in cells:
        if cell.id == "set-up":
            cell.source = setup_cell(chapter)
        if cell.cell_type == "code" and FOLDED.search(cell.id):
            cell.metadata["tags"] = sorted({*cell.metadata.get("tags", []), "hide-input"})
        if cell.cell_type == "code":
            checked = CHECKED_TAG in cell.metadata.get("tags", [])
            # nbval takes a stored output without a count for one that was never run.
            cell.execution_count = 1 if checked else None
            cell.outputs = cell.outputs if checked else []
            for output in cell.outputs:
                if output.output_type == "execute_result":
                    output.execution_count = 1
        cell.metadata = {k: v for k, v in cell.metadata.items() if k in ("exercise", "tags")}
    return nbformat.from_dict({**notebook, "cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5})


def findings(path: Path) -> Iterator[str]:
    """What is wrong with a chapter, a line each."""
    notebook = read(path)
    if path.read_text() != as_text(synced(notebook, path.stem)):
        yield "is not in step: run 'make notebooks'"
    ids = [cell.id for cell in notebook.cells]
    for ident in sorted({i for i in ids if ids.count(i) > 1}):
        yield f"cell id {ident!r} occurs twice"
    for cell in notebook.cells:
        tags = set(cell.metadata.get("tags", []))
        if tags - TAGS:
            yield f"cell {cell.id!r} has tags {sorted(tags - TAGS)}: only {', '.join(sorted(TAGS))} are used"
        if CHECKED_TAG in tags and not cell.get("outputs"):
            yield f"cell {cell.id!r} is tagged {CHECKED_TAG} but stores no output: nothing would be compared"
        if cell.metadata.get("exercise", next(iter(TASKS))) not in TASKS:
            yield f"cell {cell.id!r} is of exercise {cell.metadata['exercise']!r}, which exercises/ does not have"
        if cell.id.startswith("exercise-") and "exercise" not in cell.metadata:
            yield f"cell {cell.id!r} is an exercise's but does not say whose (metadata 'exercise')"
        if cell.cell_type == "code" and re.search(r"^\s*(from|import) (exercises|tools|tests)\b", cell.source, re.M):
            yield f"cell {cell.id!r} imports what a learner does not have: only topiclib is installed"
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", cell.id) or re.fullmatch(r"[0-9a-f]{8}", cell.id):
            yield f"cell id {cell.id!r}: give it a name of lower-case words and hyphens"
        lines = [line for line in cell.source.splitlines() if line.strip()]
        if cell.cell_type == "code" and len(lines) > MAX_LINES:
            yield f"cell {cell.id!r} has {len(lines)} lines of code: at most {MAX_LINES}"
        if cell.cell_type == "markdown" and re.search(r"^(:::|```)\{|\{(ref|numref|cite|eq|doc|prf:ref)[}:]", cell.source, re.M):
            yield f"cell {cell.id!r} has a MyST directive or role: Jupyter and Colab would show it raw"
        if re.search(r"\bTODO\b|coming soon|lorem ipsum", cell.source, re.I):
            yield f"cell {cell.id!r} has unfinished text"
    yield from prose_findings(notebook, _claims_in)


@lru_cache
def _claims_in(chapter: str) -> Mapping[str, Stated]:
    """The claims of a chapter of the book; none if there is no such chapter."""
    path = BOOK / f"{chapter}.ipynb"
    return claims_of(read(path))[0] if path.exists() else {}


def main(arguments: list[str]) -> int:
    """Run ``sync`` or ``check``."""
    if arguments not in (["sync"], ["check"]):
        print("usage: python -m tools.notebooks sync|check", file=sys.stderr)
        return 2
    if unread := damaged():
        print("\n".join(unread), file=sys.stderr)
        return 1
    bad = 0
    for path in chapters():
        if arguments == ["sync"]:
            notebook = synced(read(path), path.stem)
            nbformat.validate(notebook)
            write(path, notebook)
        for finding in findings(path):
            print(f"{path.relative_to(BOOK.parent)}: {finding}", file=sys.stderr)
            bad += 1
    print(f"{len(chapters())} chapters, {bad} findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
