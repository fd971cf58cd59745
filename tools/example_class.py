"""A made-up class for the worked example of the instructors' chapter: ``python -m tools.example_class FOLDER``.

Its notebooks are made from the exercises' source, so that no solution lies about in the repository.
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

from exercises.format import Exercise, PaperExercise
from tools.editions import posed, student_notebook
from tools.notebooks import Notebook, write

CHAPTER = "03_3_architecture"
LOOP = "def {function}(*arguments):\n    while True:\n        pass"
BOAST = (
    'print("✓ passed")\nimport topiclib.checks.base as base\n'
    "base.check = lambda *a, **k: True\ndef {function}(*arguments):\n    base.check\n    return 0.0"
)


def fill(notebook: Notebook, choice: str, paper: str) -> Notebook:
    """A student's notebook with an answer of some kind in each place."""
    for cell in notebook.cells:
        name = cell.metadata.get("exercise")
        if not name or not cell.id.endswith("-answer"):
            continue
        task = posed(name, None)
        if isinstance(task, PaperExercise):
            cell.source = cell.source.replace("*Write your answer here.*", paper) if paper else cell.source
        elif isinstance(task, Exercise):
            codes = {
                "right": task.reference,
                "another way": task.alternative,
                "wrong": task.wrong[0].code,
                "loop": LOOP.format(function=task.function),
                "boast": BOAST.format(function=task.function),
            }
            cell.source = textwrap.dedent(codes.get(choice, task.stub)).strip()
    return notebook


def write_class(folder: Path) -> None:
    """Write the seven submissions."""
    folder.mkdir(parents=True, exist_ok=True)
    plan = {
        "Ada": ("right", "By induction over the layers."),
        "Ben": ("wrong", "Because equal tokens are equal."),
        "Cleo": ("another way", ""),
        "Dan": ("nothing", ""),
        "Eve": ("boast", ""),
        "Finn": ("loop", ""),
    }
    for student, (choice, paper) in plan.items():
        notebook = fill(student_notebook(CHAPTER), choice, paper)
        if student == "Cleo":  # cells in another order and without their names, the checks deleted
            cells = [cell for cell in notebook.cells if not cell.id.endswith("-check")]
            notebook.cells = cells[::-1]
            for number, cell in enumerate(notebook.cells):
                cell.id, cell.metadata = f"cell-{number}", {}
        write(folder / f"{student}.ipynb", notebook)
    (folder / "Gil.ipynb").write_bytes(b"PK\x03\x04 not a notebook")


if __name__ == "__main__":
    write_class(Path(sys.argv[1]))
