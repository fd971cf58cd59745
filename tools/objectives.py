"""The map of exercises for instructors: ``python -m tools.objectives sync`` writes it, ``check`` compares."""

from __future__ import annotations

import sys

from exercises.catalogue import PAPER
from exercises.format import Task
from tools.editions import tasks_of
from tools.notebooks import read
from tools.settings import BOOK, ROOT, contents

PAGE = BOOK / "objectives.md"
HEAD = """# Map of exercises

What every exercise practises, in the order of the book. Graded ones have their solution in the instructor's edition only, the
others in the web book. Those on paper have ten points each, those with code one. This page is made from the exercises' own source.
"""


def order() -> list[str]:
    """The chapters in the order of the contents."""
    return [name for name in contents() if (BOOK / f"{name}.ipynb").exists()]


def title(chapter: str) -> str:
    """A chapter's first heading."""
    first: str = read(BOOK / f"{chapter}.ipynb").cells[0].source
    return first.splitlines()[0].removeprefix("# ")


def line(chapter: str, task: Task) -> str:
    """A row of the table. What is told in a few words stands below the name: a phone has no room for five columns."""
    kind = "on paper" if task.id in PAPER else "code"
    graded = "graded" if task.graded else "self-study"
    link = f"[{task.id}]({chapter}.ipynb#{task.anchor})"
    return f"| {link}<br>{task.level}, {kind}, {graded}, {task.minutes}\u00a0min | {task.objective} |"


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for chapter in order():
        if tasks := tasks_of(chapter):
            minutes = sum(task.minutes for task in tasks if task.graded)
            parts.append(f"## {title(chapter)}\n\nGraded exercises: {minutes} minutes in all.\n")
            parts.append("| Exercise | What it practises |\n|---|---|")
            parts.append("\n".join(line(chapter, task) for task in tasks) + "\n")
    return "\n".join(parts)


def main(arguments: list[str]) -> int:
    """Run ``sync`` or ``check``."""
    if arguments == ["sync"]:
        PAGE.write_text(page())
    elif arguments != ["check"]:
        print("usage: python -m tools.objectives sync|check", file=sys.stderr)
        return 2
    if not PAGE.exists() or PAGE.read_text() != page():
        print(f"{PAGE.relative_to(ROOT)} is not in step: run 'make notebooks'", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
