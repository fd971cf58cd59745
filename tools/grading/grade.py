"""Grade a folder of submitted notebooks: ``python -m tools.grading.grade SUBMISSIONS`` (``make grade``).

Each answer runs in a process of its own (``sandbox``); the checks, the hidden ones too, run in the grader's, and ask that process
for values. What is no clear pass is a zero with its reason. A result is kept with all that it depends on, so that a run that was
interrupted goes on, and a second one grades only what changed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path

from exercises.catalogue import PAPER, SOURCES
from exercises.format import Exercise, Task
from tools.editions import class_mark, student_notebook, tasks_of
from tools.grading import report
from tools.grading.answers import Program, Submission, SubmissionError, program_of, read_submission
from tools.grading.sandbox import Box, Limits, Stopped, copy_library, walls
from tools.notebooks import chapters
from tools.settings import ROOT
from topiclib.checks.base import check, verdict_of

POINTS = 1
"""Of a question with code: right or not."""
SEED = 20_230_417


@dataclass(frozen=True)
class Question:
    """The outcome of one exercise. status: passed, wrong, unanswered, stopped; ``points`` are 0 for all but passed."""

    exercise: str
    status: str
    reason: str
    points: int

    @property
    def passed(self) -> bool:
        """Whether it counts."""
        return self.status == "passed"


@dataclass(frozen=True)
class Result:
    """The outcome of one submission.

    problem : why nothing in it could be graded; else ""
    paper : the answers on paper by exercise, for a person to grade; None where the answer may stand somewhere else
    key : what the result depends on
    """

    student: str
    file: str
    chapter: str
    questions: tuple[Question, ...]
    problem: str = ""
    paper: dict[str, str | None] = field(default_factory=dict)
    key: str = ""

    @property
    def points(self) -> int:
        """Of the questions with code."""
        return sum(question.points for question in self.questions)


@dataclass(frozen=True)
class Assignment:
    """What is graded: the questions of a chapter, as a class with this seed got them.

    everything : also those whose solutions the web book shows
    only : these alone
    """

    chapter: str
    seed: str | None = None
    everything: bool = False
    only: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)

    def questions(self) -> list[Exercise]:
        """The exercises with code that count: the chapter's graded ones, or all."""
        found = [SOURCES[task.id].posed(self.seed) for task in tasks_of(self.chapter) if task.id in SOURCES]
        return [exercise for exercise in found if self._counts(exercise)]

    def paper(self) -> list[str]:
        """The exercises on paper that count."""
        return [task.id for task in tasks_of(self.chapter) if task.id in PAPER and self._counts(task)]

    def _counts(self, task: Task) -> bool:
        return task.id in self.only if self.only else task.graded or self.everything


@cache
def code_key() -> str:
    """A digest of all code that decides a grade: exercises, checks, library, grader, and the versions of packages."""
    digest = sha256(sys.version.encode())
    for folder in ("exercises", "topiclib", "tools/grading"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    digest.update((ROOT / "constraints.txt").read_bytes())
    return digest.hexdigest()


def key_of(path: Path, student: str, assignment: Assignment) -> str:
    """What the result of a submission depends on."""
    content = path.read_bytes() if path.is_file() and path.stat().st_size < 10**9 else b"too large"
    parts = [code_key(), student, json.dumps(asdict(assignment), sort_keys=True), sha256(content).hexdigest()]
    return sha256("\0".join(parts).encode()).hexdigest()


def grade_one(path: Path, student: str, assignment: Assignment, library: Path, forbidden: tuple[Path, ...]) -> Result:
    """Grade a submission; whatever is in it, a result comes back, and within a time."""
    try:
        with _alarm(assignment.limits.notebook_seconds + 120):
            return _grade_one(path, student, assignment, library, forbidden)
    except _TooLong:
        asked = tuple(Question(e.id, "wrong", "", 0) for e in assignment.questions())
        name = os.fsencode(path.name).decode("utf-8", "replace")
        return _failed(Result(student, name, assignment.chapter, asked), "the grader needed too long for it; grade it by hand")


class _TooLong(BaseException):
    """The last net: whatever holds the grader up."""


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raise _TooLong in the body after so many seconds."""

    def ring(*_: object) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _grade_one(path: Path, student: str, assignment: Assignment, library: Path, forbidden: tuple[Path, ...]) -> Result:
    """Read the notebook, then grade one question after the other."""
    asked = assignment.questions()
    empty = Result(
        student,
        os.fsencode(path.name).decode("utf-8", "replace"),
        assignment.chapter,
        tuple(Question(e.id, "wrong", "", 0) for e in asked),
    )
    try:
        submission = read_submission(path)
        if problem := _other_edition(submission, assignment):
            raise SubmissionError(problem)
    except SubmissionError as error:
        return _failed(empty, str(error))
    except (OSError, MemoryError, RecursionError) as error:
        return _failed(empty, f"it cannot be read ({type(error).__name__})")
    end = time.monotonic() + assignment.limits.notebook_seconds
    questions = []
    for exercise in asked:
        program = program_of(submission, exercise.function)
        left = end - time.monotonic()
        limits = replace(assignment.limits, seconds=min(assignment.limits.seconds, left))
        questions.append(_grade_question(exercise, program, limits, library, forbidden))
    return replace(empty, questions=tuple(questions), paper=_paper(submission, assignment))


def _paper(submission: Submission, assignment: Assignment) -> dict[str, str | None]:
    """The answers on paper. One that seems empty is only taken for that if nothing was written in a cell of its own."""
    ours = {cell.source.strip() for cell in student_notebook(assignment.chapter, assignment.seed).cells}
    more = any(text not in ours for text in submission.texts if text)
    found: dict[str, str | None] = {}
    for name in assignment.paper():
        text = submission.paper.get(name)
        found[name] = text or (None if more or text is None else "")
    return found


def _failed(empty: Result, problem: str) -> Result:
    """Nothing could be graded."""
    questions = tuple(replace(q, status="stopped", reason=problem) for q in empty.questions)
    return replace(empty, problem=problem, questions=questions)


def _other_edition(submission: Submission, assignment: Assignment) -> str:
    """Why the notebook is not of this assignment; "" if it is, or does not say."""
    said = submission.metadata.get("topiclib")
    if not isinstance(said, dict):
        return ""
    if said.get("chapter") not in (None, assignment.chapter):
        return f"it is of the chapter {str(said['chapter'])[:60]!r}, not of {assignment.chapter!r}"
    if said.get("class") not in (None, class_mark(assignment.seed)):
        return "it was made for another class (its CLASS_SEED is not the one that is graded)"
    return ""


def _grade_question(exercise: Exercise, program: Program, limits: Limits, library: Path, forbidden: tuple[Path, ...]) -> Question:
    """Run the visible and the hidden check on an answer."""
    if program.reason == "unanswered":
        return Question(exercise.id, "unanswered", "not answered", 0)
    if program.reason:
        return Question(exercise.id, "stopped", program.reason, 0)
    if limits.seconds <= 0:
        return Question(exercise.id, "stopped", "the time for the whole notebook was used up before this question", 0)
    try:
        with Box(program.code, exercise.function, limits, library, SEED, forbidden) as box:
            box.load()
            verdict = check(exercise.id, box.call, **exercise.arguments)
            if verdict.status == "passed":
                box.hidden = True
                verdict = verdict_of(exercise.id, partial(exercise.hidden, **exercise.arguments), box.call)
    except Stopped as reason:
        return Question(exercise.id, "stopped", str(reason), 0)
    except Exception as error:  # of the grader itself: no pass, and said to be no fault of the student's
        return Question(exercise.id, "stopped", f"the grader failed ({type(error).__name__}); grade this question by hand", 0)
    points = POINTS if verdict.status == "passed" else 0
    return Question(exercise.id, verdict.status, verdict.message, points)


def submissions_in(folder: Path, chapter: str) -> dict[str, Path]:
    """The notebooks of a folder by student: by the name of the file, or of its folder where each student has one.

    Of several notebooks in a student's folder that of the chapter counts, if one has its name; otherwise each is graded.
    """
    of: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*.ipynb")):
        parts = path.relative_to(folder).parts
        if not any(part.startswith(".") for part in parts):
            of.setdefault(parts[0] if len(parts) > 1 else path.stem, []).append(path)
    found = {}
    for student, paths in of.items():
        chosen = [path for path in paths if path.stem == chapter] or paths
        for number, path in enumerate(chosen, 1):
            name = os.fsencode(student).decode("utf-8", "replace")
            while (label := name if number == 1 else f"{name} ({number})") in found:
                number += 1
            found[label] = path
    return found


def grade(submissions: Path, out: Path, assignment: Assignment, jobs: int) -> list[Result]:
    """Grade all, in processes of their own, and write the reports into ``out``; results that are still true are kept."""
    kept_in = out / "results"
    kept_in.mkdir(parents=True, exist_ok=True)
    found = submissions_in(submissions, assignment.chapter)
    results: dict[str, Result] = {}
    waiting: dict[str, tuple[Path, str]] = {}
    for student, path in found.items():
        key = key_of(path, student, assignment)
        if (kept := _kept(kept_in / _file_name(student), key)) is not None:
            results[student] = kept
        else:
            waiting[student] = path, key
    print(f"{len(found)} submissions, {len(waiting)} to grade; {walls()}", flush=True)
    hidden = tuple(
        p.resolve() for p in (submissions, out, *(ROOT / n for n in ("exercises", "tests", "tools", "book", "_build", ".git")))
    )
    with tempfile.TemporaryDirectory(prefix="library-") as name:
        library = copy_library(Path(name))
        for student, result in _graded(waiting, assignment, library, hidden, jobs):
            results[student] = replace(result, key=waiting[student][1])
            _keep(kept_in / _file_name(student), results[student])
            print(f"  {len(results):3} of {len(found)}: {student} {result.points} of {len(result.questions)}", flush=True)
    ordered = [results[student] for student in sorted(results)]
    report.write(ordered, assignment, out, str(walls()))
    return ordered


def _graded(
    waiting: dict[str, tuple[Path, str]], assignment: Assignment, library: Path, hidden: tuple[Path, ...], jobs: int
) -> Iterator[tuple[str, Result]]:
    """Each submission's result as it comes. One that breaks its worker is a zero; those that it takes along are graded again."""
    lost = []
    for student, result in _in_pool(list(waiting), waiting, assignment, library, hidden, jobs):
        if result is None:
            lost.append(student)
        else:
            yield student, result
    for student in lost:
        for _, result in _in_pool([student], waiting, assignment, library, hidden, 1):
            asked = tuple(Question(e.id, "wrong", "", 0) for e in assignment.questions())
            empty = Result(student, waiting[student][0].name, assignment.chapter, asked)
            yield student, result or _failed(empty, "it made the grader fail; grade this notebook by hand")


def _in_pool(
    students: list[str],
    waiting: dict[str, tuple[Path, str]],
    assignment: Assignment,
    library: Path,
    hidden: tuple[Path, ...],
    jobs: int,
) -> Iterator[tuple[str, Result | None]]:
    """Each student's result, None where the worker failed."""
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        running = {pool.submit(grade_one, waiting[s][0], s, assignment, library, hidden): s for s in students}
        try:
            for future in as_completed(running):
                yield running[future], None if future.exception() else future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _file_name(student: str) -> str:
    """A file name for any student's name."""
    plain = re.sub(r"[^\w.-]+", "-", student)[:60]
    return f"{plain}-{sha256(student.encode()).hexdigest()[:8]}.json"


def _kept(path: Path, key: str) -> Result | None:
    """A result that was kept under this key; None if there is none, or none that is whole."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["key"] != key:
            return None
        questions = tuple(Question(**question) for question in content.pop("questions"))
        return Result(**content, questions=questions)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _keep(path: Path, result: Result) -> None:
    """Write a result whole or not at all."""
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps(asdict(result), indent=1) + "\n", encoding="utf-8")
    part.replace(path)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 2 for arguments that make no sense."""
    names = [path.stem for path in chapters()]
    parser = argparse.ArgumentParser(prog="make grade", description="Grade a folder of submitted notebooks.")
    parser.add_argument("submissions", type=Path, help="folder with notebooks, or with a folder for each student")
    parser.add_argument("--chapter", required=True, choices=names, metavar="CHAPTER", help="such as 03_3_architecture")
    parser.add_argument("--out", type=Path, help="where results go; default: _build/grades/CHAPTER")
    parser.add_argument("--class-seed", help="the CLASS_SEED that the notebooks were made with")
    parser.add_argument("--all", action="store_true", help="count the exercises too whose solutions the book shows")
    parser.add_argument("--only", nargs="+", default=(), metavar="EXERCISE", help="count these exercises alone")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--unprotected", action="store_true", help="grade though answers can read this computer's files")
    parser.add_argument("--seconds", type=float, default=Limits.seconds, help="for a question")
    chosen = parser.parse_args(arguments)
    if not chosen.submissions.is_dir() or not submissions_in(chosen.submissions, chosen.chapter):
        what = "holds no notebook (*.ipynb)" if chosen.submissions.is_dir() else "is no folder"
        print(f"submissions = {str(chosen.submissions)!r}: {what}", file=sys.stderr)
        return 2
    if not walls().files and not chosen.unprotected:
        print(f"{walls()}. Answers could read solutions. To grade all the same: --unprotected (UNPROTECTED=1)", file=sys.stderr)
        return 2
    assignment = Assignment(
        chosen.chapter, chosen.class_seed or None, chosen.all, tuple(chosen.only), Limits(seconds=chosen.seconds)
    )
    if unknown := set(chosen.only) - {task.id for task in tasks_of(chosen.chapter)}:
        print(f"only = {', '.join(sorted(unknown))}: is no exercise of {chosen.chapter}", file=sys.stderr)
        return 2
    if not assignment.questions() and not assignment.paper():
        print(f"chapter = {chosen.chapter!r}: has no graded exercise", file=sys.stderr)
        return 2
    out = chosen.out or ROOT / "_build" / "grades" / chosen.chapter
    start = time.monotonic()
    try:
        results = grade(chosen.submissions, out, assignment, max(1, chosen.jobs))
    except OSError as error:
        print(f"out = {str(out)!r}: cannot be written ({error})", file=sys.stderr)
        return 2
    except report.HandError as error:
        print(f"{error}. Nothing was written over it; mend the line and run the same command again.", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nInterrupted. Run the same command again: what was graded is kept.", file=sys.stderr)
        return 130
    print(f"{len(results)} submissions graded in {time.monotonic() - start:.0f} s: {out / 'grades.csv'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
