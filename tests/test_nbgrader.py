"""nbgrader's whole way: from the course folder of tools.editions over release, submission and grading to the feedback.

One class with its own variants, two students: Ann answers everything right, Bob one exercise wrong and the others not at all.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from traitlets.config import PyFileConfigLoader

from exercises.catalogue import EXERCISES
from exercises.format import Exercise, PaperExercise
from tools.editions import CANARY, EMPTY, posed, student_notebook, tasks_of, write_editions
from tools.leaks import Leak, leaks_in, read_artefact, secrets
from tools.notebooks import read, write

pytest.importorskip("nbgrader", reason="nbgrader is not installed")
# nbgrader's own; they say nothing about the course folder
pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")

# Short: its cells take a second
CHAPTER = "preface"
SEED = "spring"
TASKS = [posed(task.id, SEED) for task in tasks_of(CHAPTER)]
CODE = [task for task in TASKS if isinstance(task, Exercise)]
WRONG = next(task for task in CODE if task.graded)
(PAPER,) = [task for task in TASKS if isinstance(task, PaperExercise)]
ANSWERS = {
    "ann": {f"{task.anchor}-answer": task.reference for task in CODE} | {f"{PAPER.anchor}-answer": "By symmetry."},
    "bob": {f"{WRONG.anchor}-answer": WRONG.wrong[0].code},
}
"""What each student writes, by cell."""


@dataclass(frozen=True)
class Course:
    """What came out. folder : nbgrader's; log : of all its steps; grades : by student and cell (points, of how many, by hand)."""

    folder: Path
    log: str
    grades: Mapping[str, Mapping[str, tuple[float | None, float, bool]]]


def hand_in(api: Any, home: Path, student: str, answers: Mapping[str, str]) -> None:
    """Fetch the assignment as a student does, answer, submit."""
    from nbgrader.coursedir import CourseDirectory

    own = CourseDirectory(config=api.config, root=str(home), student_id=student, assignment_id=CHAPTER)
    place = {"coursedir": own, "authenticator": api.authenticator, "config": api.config, "assignment_dir": str(home)}
    api.exchange.FetchAssignment(**place).start()
    path = home / CHAPTER / f"{CHAPTER}.ipynb"
    notebook = read(path)
    for cell in notebook.cells:
        if cell.id in answers:
            cell.source = textwrap.dedent(answers[cell.id]).strip()
    write(path, notebook)
    api.exchange.Submit(**place).start()


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Course]:
    """The whole way, in a temporary folder with an exchange of its own."""
    from nbgrader.apps import NbGraderAPI

    root = tmp_path_factory.mktemp("class")
    folder = root / "nbgrader"
    write_editions([CHAPTER], SEED, root)
    with pytest.MonkeyPatch.context() as patch:
        # Only the settings tell kernels where topiclib and tools are, and nbgrader where its programs are
        patch.setenv("PYTHONPATH", "")
        patch.setenv("PATH", os.defpath)
        config = PyFileConfigLoader("nbgrader_config.py", path=str(folder)).load_config()
        config.Exchange.root, config.Exchange.cache = str(root / "exchange"), str(root / "cache")
        (root / "exchange").mkdir()
        api = NbGraderAPI(config=config)
        log: list[str] = []

        def done(result: Mapping[str, Any]) -> None:
            log.append(result.get("log") or "")
            assert result["success"], "\n".join(map(str, result.values()))

        done(api.generate_assignment(CHAPTER))
        done(api.release_assignment(CHAPTER))
        for student, answers in ANSWERS.items():
            (root / student).mkdir()
            hand_in(api, root / student, student, answers)
        done(api.collect(CHAPTER))
        for student in ANSWERS:
            done(api.autograde(CHAPTER, student))
        done(api.generate_feedback(CHAPTER))
        with api.gradebook as gradebook:
            found = {name: gradebook.find_submission_notebook(CHAPTER, CHAPTER, name).grades for name in ANSWERS}
            grades = {
                name: {grade.name: (grade.auto_score, grade.max_score, grade.needs_manual_grade) for grade in given}
                for name, given in found.items()
            }
        yield Course(folder, "\n".join(log), grades)


known = cache(secrets)


def leaks(path: Path) -> list[Leak]:
    """What the file gives away."""
    return list(leaks_in(path.name, *read_artefact(path.name, path.read_bytes()), known()))


def test_the_class_has_another_variant_than_the_book() -> None:
    assert any(task.arguments != posed(task.id, None).arguments for task in CODE)


def test_every_stub_ends_with_the_line_that_nbgrader_puts_back() -> None:
    assert [task.id for task in EXERCISES.values() if not task.answer_cell().endswith(f"\n    {EMPTY}")] == []


def test_what_is_released_is_the_students_edition(course: Course) -> None:
    released = course.folder / "release" / CHAPTER / f"{CHAPTER}.ipynb"
    assert [(cell.id, cell.source) for cell in read(released).cells] == [
        (cell.id, cell.source) for cell in student_notebook(CHAPTER, SEED).cells
    ]
    sources = {cell.id: cell.source for cell in read(released).cells}
    assert all(sources[f"{task.anchor}-answer"] == task.answer_cell() for task in CODE)


def test_what_is_released_gives_nothing_away(course: Course) -> None:
    source, released = (course.folder / step / CHAPTER / f"{CHAPTER}.ipynb" for step in ("source", "release"))
    assert leaks(source), "the search finds nothing where solutions are"
    assert leaks(released) == []
    text = released.read_text()
    assert not [word for word in (CANARY, "SOLUTION", "HIDDEN", "tools.grading") if word in text]


def test_right_answers_get_all_points_and_others_none(course: Course) -> None:
    points = {f"{task.anchor}-check": float(task.graded) for task in CODE}
    assert sum(points.values()) >= 2
    for student, share in (("ann", 1), ("bob", 0)):
        given = {name: grade for name, grade in course.grades[student].items() if name in points}
        assert given == {name: (share * most, most, False) for name, most in points.items()}, student


def test_an_answer_on_paper_is_graded_by_hand_out_of_the_points_of_its_rubric(course: Course) -> None:
    most = sum(points for points, _ in PAPER.rubric)
    assert course.grades["ann"][f"{PAPER.anchor}-answer"] == (None, most, True)
    assert course.grades["bob"][f"{PAPER.anchor}-answer"] == (0, most, False), "an empty answer is a zero without a reader"


def test_the_whole_chapter_runs_where_it_is_graded(course: Course) -> None:
    cells = read(course.folder / "autograded" / "ann" / CHAPTER / f"{CHAPTER}.ipynb").cells
    assert all(cell.execution_count for cell in cells if cell.cell_type == "code")
    assert not [cell.id for cell in cells for output in cell.get("outputs", []) if output.output_type == "error"]


def test_nbgrader_knows_every_setting(course: Course) -> None:
    assert "Autograding" in course.log
    assert "not recognized" not in course.log


def test_the_feedback_says_why_and_gives_nothing_away(course: Course) -> None:
    pages = {name: course.folder / "feedback" / name / CHAPTER / f"{CHAPTER}.html" for name in ANSWERS}
    texts = {name: read_artefact(page.name, page.read_bytes())[0] for name, page in pages.items()}
    hint = WRONG.grade(WRONG.load(WRONG.wrong[0].code)).message
    assert hint in texts["bob"]
    assert "AssertionError: not answered yet." in texts["bob"]
    assert "AssertionError" not in texts["ann"]
    assert leaks(pages["bob"]) == []
