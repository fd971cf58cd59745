"""The grades in nbgrader's database, for courses that keep their books there."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from exercises.catalogue import PAPER, TASKS

if TYPE_CHECKING:
    from tools.grading.grade import Assignment, Result


def write_gradebook(
    results: Sequence[Result],
    assignment: Assignment,
    scores: Mapping[tuple[str, str], float | None],
    waiting: Collection[tuple[str, str]],
    path: Path,
) -> bool:
    """Write points of code and of paper under the names that nbgrader's notebooks use; False where nbgrader is not installed.

    scores, waiting : of the exercises on paper by student and exercise: the points, and those that wait for a person
    """
    try:
        from nbgrader.api import Gradebook
        from sqlalchemy.exc import SAWarning
    except ImportError:
        return False
    # A new book asks the program alembic, which lies beside Python and perhaps on no path
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    name = assignment.chapter
    codes = {exercise.id: f"{TASKS[exercise.id].anchor}-check" for exercise in assignment.questions()}
    papers = {task: f"{TASKS[task].anchor}-answer" for task in assignment.paper()}
    with warnings.catch_warnings(), Gradebook(f"sqlite:///{path}", course_id="topic-structure") as book:
        # Said by nbgrader's own way of adding a submission, and of no consequence: it adds it a line later
        warnings.filterwarnings("ignore", r"Object of type <\w+> not in session, add operation along", SAWarning)
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
                grade.auto_score, grade.needs_manual_grade = question.points, question.by_hand
            for task, cell in papers.items():
                wait = (result.student, task) in waiting
                grade = book.find_grade(cell, name, name, result.student)
                grade.manual_score, grade.needs_manual_grade = None if wait else scores[result.student, task], wait
        book.db.commit()
    return True
