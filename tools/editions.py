"""What an instructor hands out, and keeps, all made of the one source of each exercise.

``python -m tools.editions [CHAPTER ...]`` (``make student``) writes into ``_build/class``:

student/      notebooks without solutions and hidden checks; stubs that fail clearly
instructor/   the same with solutions, hidden checks, wrong answers and rubrics: not to be published
nbgrader/     a course folder of nbgrader: source notebooks, its settings
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import nbformat

from exercises.catalogue import PAPER, SOURCES, TASKS
from exercises.format import Exercise, PaperExercise, Task
from tools.notebooks import Notebook, chapters, exercise_cells, read, write, write_whole
from tools.settings import BOOK, ROOT, version

CANARY = "instructor edition, not to be published"
"""Stands in every part that only instructors may have; the scan for leaks looks for it."""
ANSWER = "*Write your answer here.*"
EMPTY = 'raise NotImplementedError("your answer")'
"""The line that every stub ends with."""


def tasks_of(chapter: str) -> list[Task]:
    """The exercises of a chapter in its order, as the web book has them."""
    order = [cell.metadata.get("exercise") for cell in read(BOOK / f"{chapter}.ipynb").cells]
    return [TASKS[name] for name in dict.fromkeys(order) if name in TASKS]


def class_mark(seed: str | None) -> str:
    """Says of which class a notebook is, without telling the seed."""
    return "" if seed is None else sha256(f"class {seed}".encode()).hexdigest()[:12]


def class_folder(seed: str | None) -> str:
    """The name of a class's folder, for its instructor's eyes: what can be read of the seed, and its mark. "" without a seed."""
    words = re.sub(r"[^a-z0-9]+", "-", (seed or "").lower())[:24].strip("-")
    return "" if seed is None else f"{words or 'class'}-{class_mark(seed)[:6]}"


def posed(name: str, seed: str | None) -> Task:
    """An exercise as a class with this seed gets it."""
    return SOURCES[name].posed(seed) if name in SOURCES else PAPER[name]


def paper_cell(task: PaperExercise) -> Notebook:
    """Where a student writes."""
    source = f"**Answer to exercise {task.id}:**\n\n{ANSWER}"
    return nbformat.v4.new_markdown_cell(source, id=f"{task.anchor}-answer", metadata={"exercise": task.id})


def student_notebook(chapter: str, seed: str | None = None) -> Notebook:
    """A chapter for students: everything but solutions, a place for each answer on paper, no outputs."""
    cells: list[Notebook] = []
    done: set[str] = set()
    for cell in read(BOOK / f"{chapter}.ipynb").cells:
        name = cell.metadata.get("exercise")
        if name is None:
            cells.append(cell)
        elif name not in done:
            done.add(name)
            task = posed(name, seed)
            cells += exercise_cells(task)
            if isinstance(task, PaperExercise):
                cells.append(paper_cell(task))
    for cell in cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        cell.metadata = {k: v for k, v in cell.metadata.items() if k == "exercise"}
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata.update(
        kernelspec={"display_name": "Python 3", "language": "python", "name": "python3"},
        topiclib={"chapter": chapter, "version": version(), "class": class_mark(seed)},
    )
    nbformat.validate(notebook)
    return notebook


def _code(text: str) -> str:
    return textwrap.dedent(text).strip()


def _rubric_lines(task: PaperExercise) -> str:
    """A list and not a table: a formula may hold a vertical bar."""
    return "\n".join(f"- {points}: {text}" for points, text in task.rubric)


def instructor_cells(task: Task) -> list[Notebook]:
    """What an instructor sees behind an exercise."""
    if isinstance(task, PaperExercise):
        head = f"**Rubric of {task.id}** ({CANARY}; {task.points} points)"
        text = f"{head}\n\n{_rubric_lines(task)}\n\n**Model answer.** {_code(task.model_answer)}"
        return [nbformat.v4.new_markdown_cell(text, id=f"{task.anchor}-rubric")]
    assert isinstance(task, Exercise)
    wrong = "\n\n".join(f"Gets the hint `{w.hint}`:\n\n```python\n{_code(w.code)}\n```" for w in task.wrong)
    graded = "graded" if task.graded else "for self-study: its solution is in the web book"
    note = (
        f"**Solution of {task.id}** ({CANARY}; {graded})\n\n{_code(task.explanation)}\n\n"
        f"```python\n{_code(task.reference)}\n```\n\nAnother right answer:\n\n```python\n{_code(task.alternative)}\n```\n\n"
        f"Hidden check:\n\n```python\n{inspect.getsource(task.hidden)}```\n\n{wrong}"
    )
    return [nbformat.v4.new_markdown_cell(note, id=f"{task.anchor}-solution")]


def instructor_notebook(chapter: str, seed: str | None = None) -> Notebook:
    """The student's notebook with all that belongs to each exercise behind it."""
    notebook = student_notebook(chapter, seed)
    cells: list[Notebook] = []
    for position, cell in enumerate(notebook.cells):
        cells.append(cell)
        name = cell.metadata.get("exercise")
        after = notebook.cells[position + 1].metadata.get("exercise") if position + 1 < len(notebook.cells) else None
        if name and name != after:
            cells += instructor_cells(posed(name, seed))
    notebook.cells = cells
    notebook.metadata["topiclib"]["edition"] = CANARY
    nbformat.validate(notebook)
    return notebook


def nbgrader_source(chapter: str, seed: str | None = None) -> Notebook:
    """The chapter as nbgrader's source: solutions between its marks, hidden checks in cells of tests, answers on paper by hand."""
    notebook = student_notebook(chapter, seed)
    cells: list[Notebook] = []
    for cell in notebook.cells:
        name = cell.metadata.get("exercise")
        task = posed(name, seed) if name else None
        if isinstance(task, Exercise) and cell.id.endswith("-answer"):
            # The solution defines the function again; nbgrader puts the stub's last line, indented, where the region was
            cell.source = cell.source.removesuffix(EMPTY) + _solution(f"\n\n{_code(task.reference)}")
            cell.metadata["nbgrader"] = _nbgrader(cell.id, solution=True)
        elif isinstance(task, Exercise) and cell.id.endswith("-check"):
            points = 1 if task.graded else 0
            told = "".join(f", {key}={value!r}" for key, value in task.arguments.items())
            hidden = f'from tools.grading.nbgrader import passed\npassed("{task.id}", {task.function}{told})'
            cell.source += f"\n### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS"
            cell.metadata["nbgrader"] = _nbgrader(cell.id, grade=True, locked=True, points=points)
        elif isinstance(task, PaperExercise) and cell.id.endswith("-answer"):
            cell.source = cell.source.removesuffix(ANSWER) + _solution(_code(task.model_answer))
            cell.metadata["nbgrader"] = _nbgrader(cell.id, grade=True, solution=True, points=task.points)
        cells.append(cell)
    notebook.cells = cells
    nbformat.validate(notebook)
    return notebook


def _solution(text: str) -> str:
    """A region that nbgrader takes out, its marks included, before it releases a notebook."""
    return f"### BEGIN SOLUTION ({CANARY})\n{text}\n### END SOLUTION"


def _nbgrader(ident: str, *, grade: bool = False, solution: bool = False, locked: bool = False, points: int = 0) -> dict[str, Any]:
    """nbgrader's metadata of a cell, in its third form."""
    kind = {"grade": grade, "solution": solution, "locked": locked, "task": False, "grade_id": ident, "schema_version": 3}
    return {**kind, "points": points} if grade else kind


NBGRADER_CONFIG = """\
# Settings of nbgrader for this course folder. Run nbgrader from here, with the Python environment of the course's checkout.
import os
import sys

c = get_config()
# Where kernels find topiclib and the checks, and where nbgrader finds the program alembic if the environment is not activated.
for name, folder in (("PYTHONPATH", {checkout!r}), ("PATH", os.path.dirname(sys.executable))):
    os.environ[name] = os.pathsep.join([folder, os.environ.get(name, "")]).rstrip(os.pathsep)
c.CourseDirectory.course_id = "topic-structure"
c.CourseDirectory.root = os.path.dirname(os.path.abspath(__file__))
# What stands in a released notebook where a solution was.
c.ClearSolutions.code_stub = {{"python": {stub!r}}}
c.ClearSolutions.text_stub = {answer!r}
# Seconds for a cell; nbgrader's 30 are too few for cells that train.
c.Execute.timeout = 600
"""


def write_editions(names: Sequence[str], seed: str | None, out: Path) -> None:
    """Write all editions of the chapters into ``out``; what an instructor added there stays."""
    for name in names:
        for edition, make in (("student", student_notebook), ("instructor", instructor_notebook)):
            (out / edition).mkdir(parents=True, exist_ok=True)
            write(out / edition / f"{name}.ipynb", make(name, seed))
        folder = out / "nbgrader" / "source" / name
        folder.mkdir(parents=True, exist_ok=True)
        write(folder / f"{name}.ipynb", nbgrader_source(name, seed))
    config = out / "nbgrader" / "nbgrader_config.py"
    if not config.exists():  # an instructor may have changed it
        write_whole(config, NBGRADER_CONFIG.format(checkout=str(ROOT), stub=EMPTY, answer=ANSWER))
    # Of every chapter that was ever written here, as the notebooks beside it
    written = [path.stem for path in chapters() if (out / "instructor" / path.name).exists()]
    write_whole(out / "instructor" / "rubric.md", rubric(written))
    write_whole(out / "student" / "README.md", STUDENT_NOTE)


def other_classes(out: Path, seed: str | None) -> Iterator[Path]:
    """The students' notebooks in ``out`` that were made for a class with another seed."""
    for path in sorted((out / "student").glob("*.ipynb")):
        try:
            said = json.loads(path.read_bytes())["metadata"]["topiclib"]["class"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue  # none of ours
        if said != class_mark(seed):
            yield path


STUDENT_NOTE = """# Exercises

Open a notebook in Colab or JupyterLab. Its first cell finds or installs the library. Solve an exercise in the cell that raises
"your answer", run it, and run the check below it. Answers on paper go into the cells that say so. `topiclib.checks.progress()`
shows what you have passed. Hand the notebook in as it is; its file may have any name that your instructor asks for.
"""


def rubric(names: Sequence[str]) -> str:
    """All rubrics of the chapters, for those who grade answers on paper."""
    parts = [f"# Rubrics ({CANARY})\n"]
    for name in names:
        for task in tasks_of(name):
            if isinstance(task, PaperExercise):
                head = f"## {task.id}: {task.title} ({task.points} points)"
                parts.append("\n\n".join([head, _code(task.statement), _rubric_lines(task), _code(task.model_answer)]) + "\n")
    return "\n".join(parts)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    known = [path.stem for path in chapters()]
    parser = argparse.ArgumentParser(
        prog="make student", description="Write the student's, the instructor's and nbgrader's notebooks."
    )
    parser.add_argument("chapters", nargs="*", choices=[*known, "all"], metavar="CHAPTER", default="all")
    parser.add_argument("--class-seed", help="any text: the class gets its own variants of some exercises")
    parser.add_argument("--out", type=Path, help="default: _build/class, with a seed a folder of the class's own in it")
    chosen = parser.parse_args(arguments)
    names = known if "all" in chosen.chapters else [name for name in known if name in chosen.chapters]
    names = [name for name in names if tasks_of(name)]
    seed = chosen.class_seed or None
    out = chosen.out or ROOT / "_build" / "class" / class_folder(seed)
    if (other := next(other_classes(out, seed), None)) is not None:
        parser.error(f"out = {str(out)!r}: {other.name} in it is of a class with another CLASS_SEED; give another folder (OUT=...)")
    try:
        write_editions(names, seed, out)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        parser.error(f"cannot write into {out}: {error.strerror or error}{where}")
    print(f"{len(names)} chapters: {out}/student to hand out, {out}/instructor and nbgrader/ to keep")
    return 0


if __name__ == "__main__":
    sys.exit(main())
