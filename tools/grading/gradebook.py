"""The grades in nbgrader's database, for courses that keep their books there."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from exercises.catalogue import PAPER, TASKS

if TYPE_CHECKING:
    from tools.grading.grade import Assignment, Result

Given = Mapping[tuple[str, str, int], tuple[str, str]]


def write_gradebook(results: Sequence[Result], assignment: Assignment, given: Given, path: Path) -> bool:
    """Write points of code and of paper under the names that nbgrader's notebooks use; False where nbgrader is not installed."""
    try:
        from nbgrader.api import Gradebook
    except ImportError:
        return False
    # A new book asks the program alembic, which lies beside Python and perhaps on no path
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    name = assignment.chapter
    codes = {exercise.id: f"{TASKS[exercise.id].anchor}-check" for exercise in assignment.questions()}
    papers = {task: f"{TASKS[task].anchor}-answer" for task in assignment.paper()}
    with Gradebook(f"sqlite:///{path}", course_id="topic-structure") as book:
        book.update_or_create_assignment(name)
        book.update_or_create_notebook(name, name)
        for cell in codes.values():
            book.update_or_create_grade_cell(cell, name, name, max_score=1, cell_type="code")
        for task, cell in papers.items():
            book.update_or_create_grade_cell(cell, name, name, max_score=PAPER[task].points, cell_type="markdown")
        for result in results:
            book.update_or_create_student(result.student)
            book.update_or_create_submission(name, result.student)
            for question in result.questions:
                grade = book.find_grade(codes[question.exercise], name, name, result.student)
                grade.auto_score, grade.needs_manual_grade = question.points, False
            for task, cell in papers.items():
                lines = [given.get((result.student, task, k), ("", ""))[0] for k in range(1, len(PAPER[task].rubric) + 1)]
                grade = book.find_grade(cell, name, name, result.student)
                grade.manual_score = sum(map(float, lines)) if all(lines) else None
                grade.needs_manual_grade = not all(lines)
        book.db.commit()
    return True
