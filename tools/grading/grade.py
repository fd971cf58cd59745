"""Grade a folder of submitted notebooks: ``python -m tools.grading.grade SUBMISSIONS`` (``make grade``).

Each answer runs in a process of its own (``sandbox``); the checks, the hidden ones too, run in the grader's, and ask that process
for values. What is no clear pass is a zero with its reason. A result is kept with all that it depends on, so that a run that was
interrupted goes on, and a second one grades only what changed.
"""

from __future__ import annotations

import argparse
import ast
import fcntl
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from hashlib import sha256
from io import TextIOWrapper
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any, TypeVar

from exercises.catalogue import PAPER, SOURCES
from exercises.format import Exercise, Task
from tools.editions import class_folder, class_mark, student_notebook, tasks_of
from tools.grading import report
from tools.grading.answers import Program, Submission, SubmissionError, is_stub, programs_of, read_submission
from tools.grading.sandbox import Box, Limits, Stopped, copy_library, walls
from tools.notebooks import chapters, write_whole
from tools.settings import ROOT
from topiclib.checks.base import check, verdict_of

POINTS = 1
"""Of a question with code: right or not."""
SEED = 20_230_417
BY_HAND = re.compile(r"grade (it|this \w+) by hand$")
"""How a reason ends that is no fault of the student's."""
OTHER_CHAPTER, OTHER_CLASS = "it is of the chapter", "it was made for another class"
NO_NOTEBOOK = "handed in no .ipynb"
NOT_OF_STUDENTS = {".txt", ".md", ".csv", ".tsv", ".xls", ".xlsx", ".ods", ".log", ".ini", ".db"}
"""Files of an instructor's, where they lie beside the notebooks."""
REPORTS = {"by-hand.csv", "grades.csv", "gradebook.db", "report.json"}
HIDDEN = ("__MACOSX", "__pycache__", "Thumbs.db", "desktop.ini")
Key = TypeVar("Key", bound=Hashable)
MAX_REASON = 800
"""Characters of what a student is told about a question."""


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

    @property
    def by_hand(self) -> bool:
        """Whether the grader itself failed, so that a person has to look."""
        return BY_HAND.search(self.reason) is not None


@dataclass(frozen=True)
class Result:
    """The outcome of one submission.

    problem : why nothing in it could be graded; else ""
    paper : the answers on paper by exercise, for a person to grade; None where the answer may stand somewhere else
    key : what the result depends on
    note : what the instructor must know of how it was handed in
    written : a digest of where an answer on paper may stand else; of the file where that cannot be read
    """

    student: str
    file: str
    chapter: str
    questions: tuple[Question, ...]
    problem: str = ""
    paper: dict[str, str | None] = field(default_factory=dict)
    key: str = ""
    note: str = ""
    written: str = ""

    @property
    def points(self) -> int:
        """Of the questions with code."""
        return sum(question.points for question in self.questions)

    @property
    def by_hand(self) -> bool:
        """Whether the grader itself failed somewhere, so that a person has to look."""
        return BY_HAND.search(self.problem) is not None or any(question.by_hand for question in self.questions)


@dataclass(frozen=True)
class Handed:
    """What a student handed in.

    path : the notebook that counts; None where there is none
    file : where it lies in the folder of submissions
    note : what else was found, if that matters
    """

    path: Path | None
    file: str = ""
    note: str = ""


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

    def ungraded(self) -> tuple[Question, ...]:
        """The questions before anything is graded: no points."""
        return tuple(Question(exercise.id, "wrong", "", 0) for exercise in self.questions())

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


def content_of(path: Path) -> str:
    """A digest of a file."""
    content = b"not readable"
    with suppress(OSError):
        content = path.read_bytes() if path.is_file() and path.stat().st_size < 10**9 else b"too large"
    return sha256(content).hexdigest()


def key_of(content: str, student: str, assignment: Assignment) -> str:
    """What the result of a submission depends on."""
    parts = [code_key(), student, json.dumps(asdict(assignment), sort_keys=True), content]
    return sha256("\0".join(parts).encode()).hexdigest()


def grade_one(path: Path, student: str, assignment: Assignment, library: Path, forbidden: tuple[Path, ...]) -> Result:
    """Grade a submission; whatever is in it, a result comes back, and within a time."""
    try:
        with _alarm(assignment.limits.notebook_seconds + 120):
            return _grade_one(path, student, assignment, library, forbidden)
    except _TooLong:
        asked = assignment.ungraded()
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
        assignment.ungraded(),
    )
    try:
        submission = read_submission(path)
        if problem := _other_edition(submission, assignment):
            raise SubmissionError(problem)
    except SubmissionError as error:
        return _failed(empty, str(error))
    except RecursionError as error:
        return _failed(empty, f"it cannot be read ({type(error).__name__})")
    except (OSError, MemoryError) as error:  # of this computer
        return _failed(empty, f"the grader cannot read it ({type(error).__name__}); grade it by hand")
    end = time.monotonic() + assignment.limits.notebook_seconds
    questions = []
    for exercise in asked:
        tried: list[Question] = []
        for program in programs_of(submission, exercise.id, exercise.function):
            left = end - time.monotonic()
            limits = replace(assignment.limits, seconds=min(assignment.limits.seconds, left))
            tried.append(_grade_question(exercise, program, limits, library, forbidden))
            if tried[-1].passed:
                break
        questions.append(tried[-1] if tried[-1].passed else tried[0])
    return replace(empty, questions=tuple(questions), paper=_paper(submission, assignment), written=_written(submission))


def _paper(submission: Submission, assignment: Assignment) -> dict[str, str | None]:
    """The answers on paper. One that seems empty is only taken for that if nothing was written in a cell of its own."""
    ours = {cell.source.strip() for cell in student_notebook(assignment.chapter, assignment.seed).cells}
    more = any(text not in ours for text in submission.texts if text)
    found: dict[str, str | None] = {}
    for name in assignment.paper():
        text = submission.paper.get(name)
        found[name] = text or (None if more or text is None else "")
    return found


def _written(submission: Submission) -> str:
    """A digest of the texts in which an answer on paper may stand."""
    return sha256("\0".join(sorted(submission.texts)).encode("utf-8", "replace")).hexdigest()


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
        return f"{OTHER_CHAPTER} {str(said['chapter'])[:60]!r}, not of {assignment.chapter!r}"
    if said.get("class") not in (None, class_mark(assignment.seed)):
        return f"{OTHER_CLASS} (its CLASS_SEED is not the one that is graded)"
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
        with Box(program.statements, exercise.function, limits, library, SEED, forbidden) as box:
            box.load()
            verdict = check(exercise.id, box.call, **exercise.arguments)
            if verdict.status == "passed":
                box.hidden = True
                verdict = verdict_of(exercise.id, partial(exercise.hidden, **exercise.arguments), box.call)
                if verdict.key in ("wrong-shape", "wrong-type"):  # these name what came back, which may hold what was asked
                    verdict = replace(verdict, message="in another case it returns a value of another kind or shape.")
    except Stopped as reason:
        return Question(exercise.id, "stopped", str(reason), 0)
    except Exception as error:  # of the grader itself: no pass, and said to be no fault of the student's
        return Question(exercise.id, "stopped", f"the grader failed ({type(error).__name__}); grade this question by hand", 0)
    points = POINTS if verdict.status == "passed" else 0
    return Question(exercise.id, verdict.status, verdict.message[:MAX_REASON], points)


def submissions_in(folder: Path, chapter: str) -> dict[str, Handed]:
    """What each student handed in: told apart by the name of the file, or of its folder where each student has one.

    Of several notebooks of a student those count that have the chapter's name in theirs, if one has; of these the one with most
    answers, then the newest by its name. The others are named in the note. A student without a notebook is there too. Raises
    RefusedError where a folder looks like a class and not like a student.
    """
    notebooks, others = _entries(folder)
    named = {student: [p for p in paths if _chapter_of(p) == chapter] or paths for student, paths in notebooks.items()}
    answers = _answers_in([path for paths in named.values() if len(paths) > 1 for path in paths], chapter)
    for student, paths in named.items():
        if len(paths) > 1 and (folder / student).is_dir() and _is_class(folder / student, paths, answers, chapter, len(named) == 1):
            _refuse_class(folder, student, len(paths), chapter)
    found: dict[str, Handed] = {}
    for student in sorted({*notebooks, *others}):
        number, name = 1, _shown(student)
        while (label := name if number == 1 else f"{name} ({number})") in found:
            number += 1
        if student not in notebooks:
            found[label] = Handed(None, note=f"{NO_NOTEBOOK}: found {_listed(others[student])}")
            continue
        chosen = max(named[student], key=lambda path: (answers.get(path, 0), _by_name(path)))
        within = folder / student if (folder / student).is_dir() else folder
        left = [str(p.relative_to(within)) if p.is_relative_to(within) else p.name for p in notebooks[student] if p != chosen]
        note = f"of {len(left) + 1} notebooks {_shown(chosen.name)} counts; left out: {_listed(left)}" if left else ""
        found[label] = Handed(chosen, _shown(str(chosen.relative_to(folder))), note)
    return found


def _entries(folder: Path) -> tuple[dict[str, list[Path]], dict[str, list[str]]]:
    """The notebooks by student, and the names of all other files of those who have none."""
    notebooks: dict[str, list[Path]] = {}
    others: dict[str, list[str]] = {}
    for place, folders, files in os.walk(folder):
        top, reports = Path(place) == folder, {"grades.csv", "report.json"} <= set(files)
        if reports and not top and "feedback" in folders and not any(_is_notebook(name) for name in files):
            folders.clear()  # results that lie among the submissions
            others.pop(Path(place).name, None)
            continue
        folders[:] = sorted(n for n in folders if not _is_hidden(n) and not (top and reports and n in ("feedback", "results")))
        if top:
            others |= {name: [] for name in folders}
        for name in sorted(files):
            parts = Path(place, name).relative_to(folder).parts
            if _is_hidden(name):
                continue
            if _is_notebook(name):
                notebooks.setdefault(parts[0] if not top else Path(name).stem, []).append(Path(place, name))
            elif not top:
                others.setdefault(parts[0], []).append(name)
            elif not _is_instructors(name):
                others.setdefault(re.split(r"\.ipynb", Path(name).stem, maxsplit=1, flags=re.I)[0], []).append(name)
    return notebooks, {student: names for student, names in others.items() if student not in notebooks}


def _is_notebook(name: str) -> bool:
    return Path(name).suffix.lower() == ".ipynb"


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "~$")) or name in HIDDEN


def _is_instructors(name: str) -> bool:
    """Whether a file beside the notebooks is no student's: a list, a note, a table of ours. What is called a notebook is one's."""
    plain = name.lower()
    return ".ipynb" not in plain and (name in REPORTS or Path(plain).suffix in NOT_OF_STUDENTS or plain.startswith("readme"))


def _shown(name: str) -> str:
    """A file's name as text."""
    return os.fsencode(name).decode("utf-8", "replace")


def _listed(names: Sequence[str], most: int = 6) -> str:
    """The first names of many."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(_shown, names[:most])) + more or "nothing"


def _chapter_of(path: Path) -> str:
    """The chapter whose name a file's name has in it; the longest, since appendix_d_4 has appendix_d in it."""
    return max((name for name in _chapter_names() if name in path.stem.lower()), key=len, default="")


@cache
def _chapter_names() -> list[str]:
    return [path.stem for path in chapters()]


def _by_name(path: Path) -> tuple[list[str | int], str]:
    """Names in the order in which they are given: x (2) before x (10)."""
    return [int(part) if k % 2 else part for k, part in enumerate(re.split(r"(\d+)", path.stem.lower()))], str(path)


def _answers_in(paths: Sequence[Path], chapter: str) -> dict[Path, int]:
    """How many exercises each notebook answers, -1 where it cannot be read. In another process, since a file may be anything."""
    calls = {path: partial(count_answers, path, chapter) for path in paths}
    return {path: -1 if number is None else number for path, number in _each(calls, 1)}


def count_answers(path: Path, chapter: str) -> int:
    """How many exercises of a chapter a notebook answers, rightly or not."""
    tasks = tasks_of(chapter)
    functions = {task.function for task in tasks if isinstance(task, Exercise)}
    try:
        with _alarm(60):
            submission = read_submission(path)
    except (_TooLong, Exception):
        return -1
    found = {s.name for s in submission.statements if isinstance(s, ast.FunctionDef) and not is_stub(s)}
    for statement in submission.statements:
        if isinstance(statement, ast.Assign):
            found |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
    return len(functions & found) + sum(bool(submission.paper.get(task.id)) for task in tasks)


def _is_class(folder: Path, paths: Sequence[Path], answers: Mapping[Path, int], chapter: str, alone: bool) -> bool:
    """Whether a folder holds the notebooks of several students: answered, under different names, none of them the chapter's own.

    alone : whether there is no other folder and no other notebook beside it
    """

    def told_apart(path: Path) -> tuple[str, str]:
        # Copies of one notebook are of one student: "x (1)", "Copy of x", "x-Copy1"
        plain = re.sub(r"\(\d+\)|\b(copy\d*|kopie)\b( of\b| von\b)?", "", path.stem.lower())
        return str(path.parent.relative_to(folder)), re.sub(r"\W+", " ", plain).strip()

    names = {told_apart(path) for path in paths}
    answered = {told_apart(path) for path in paths if answers.get(path, 0) > 0}
    if len(names) < 2 or (".", chapter) in names:
        return False
    if any(_chapter_of(path) == chapter for path in paths):
        return len(answered) >= (2 if alone else 3)
    return alone or len(answered) >= 2


def _refuse_class(folder: Path, student: str, number: int, chapter: str) -> None:
    raise report.RefusedError(
        f"submissions = {str(folder)!r}: its folder {_shown(student)!r} holds {number} notebooks under different names; if that is "
        f"the class, name that folder; if it is one student's, call the notebook that counts {chapter}.ipynb"
    )


def grade(submissions: Path, out: Path, assignment: Assignment, jobs: int) -> list[Result]:
    """Grade all, in processes of their own, and write the reports into ``out``; results that are still true are kept.

    Raises RefusedError, before anything is written, where folders, class or chapter are mixed up.
    """
    report.refuse_others(out, assignment)
    kept_in = out / "results"
    found = submissions_in(submissions, assignment.chapter)
    if not any(handed.path for handed in found.values()):
        raise report.RefusedError(f"submissions = {str(submissions)!r}: holds no notebook (*.ipynb)")
    asked = assignment.ungraded()
    results: dict[str, Result] = {}
    waiting: dict[str, tuple[Path, str]] = {}
    contents = {student: content_of(handed.path) for student, handed in found.items() if handed.path is not None}
    for student, handed in found.items():
        if handed.path is None:
            results[student] = _failed(Result(student, "", assignment.chapter, asked), handed.note)
            continue
        key = key_of(contents[student], student, assignment)
        if (kept := _kept(kept_in / _file_name(student), key)) is not None:
            results[student] = kept
        else:
            waiting[student] = handed.path, key
    print(f"{len(found)} submissions, {len(waiting)} to grade; {walls()}", flush=True)
    if alone := [name for name in sorted(os.listdir(submissions)) if (submissions / name).is_file() and _left_alone(name)]:
        print(f"of no student: {_listed(alone)}", flush=True)
    hidden = tuple(
        p.resolve() for p in (submissions, out, *(ROOT / n for n in ("exercises", "tests", "tools", "book", "_build", ".git")))
    )
    with _run_folder() as home:
        library = copy_library(home / "library")
        for student, result in _graded(waiting, assignment, library, hidden, jobs, home):
            results[student] = replace(result, key=waiting[student][1])
            # Where nothing was graded there is nothing to keep; what is no fault of the student's is tried again in the next run
            if not result.problem and not result.by_hand:
                _keep(kept_in / _file_name(student), results[student])
            print(f"  {len(results):3} of {len(found)}: {student} {result.points} of {len(result.questions)}", flush=True)
    _refuse_other_editions([results[student] for student in contents], assignment)
    kept_in.mkdir(parents=True, exist_ok=True)
    for student, handed in found.items():
        result = results[student]
        note = "" if handed.path is None else handed.note
        written = contents.get(student, "") if result.problem else result.written
        results[student] = replace(result, file=handed.file, note=note, written=written)
    ordered = [results[student] for student in sorted(results)]
    report.write(ordered, assignment, out, str(walls()))
    return ordered


def _left_alone(name: str) -> bool:
    """Whether a file beside the notebooks is taken for no student's, and worth a word."""
    return _is_instructors(name) and name not in REPORTS and not _is_hidden(name)


def _is_other(result: Result) -> bool:
    """Whether a notebook is of another class or chapter."""
    return result.problem.startswith((OTHER_CHAPTER, OTHER_CLASS))


def _refuse_other_editions(results: Sequence[Result], assignment: Assignment) -> None:
    """Raise RefusedError where all notebooks are of another class or chapter: then the command is wrong, not the class."""
    # What cannot be read says nothing about the class
    said = [result for result in results if not result.problem or _is_other(result)]
    other = [result for result in said if _is_other(result)]
    if not other:
        return
    if len(other) < len(said):
        print(f"{len(other)} of {len(results)} notebooks are of another class or chapter: see the column note", file=sys.stderr)
        return
    of_class = sum(result.problem.startswith(OTHER_CLASS) for result in other)
    if of_class * 2 >= len(other):
        given = "is not given" if assignment.seed is None else f"= {assignment.seed!r}"
        what = f"class_seed {given}: every notebook ({len(other)}) was made for a class with another CLASS_SEED"
        raise report.RefusedError(f"{what}, or with none; give the one that 'make student' was given. Nothing was written.")
    what = f"chapter = {assignment.chapter!r}: every notebook ({len(other)}) is of another chapter"
    raise report.RefusedError(f"{what} ({other[0].problem.removeprefix(OTHER_CHAPTER).strip()}). Nothing was written.")


@contextmanager
def _run_folder() -> Iterator[Path]:
    """A folder for all that this run needs for a while. Those of graders that were killed are removed first."""
    for path in Path(tempfile.gettempdir()).glob("grading-*"):
        with suppress(OSError):
            if path.is_symlink() or path.stat().st_uid != os.geteuid():
                continue
            with (path / "lock").open() as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # held as long as its grader lives, in whatever container
                shutil.rmtree(path, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"grading-{os.getpid()}-", ignore_cleanup_errors=True) as name:
        home = Path(name)
        with (home / "new").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            (home / "new").rename(home / "lock")  # locked before anybody looks for it
            yield home


def _graded(
    waiting: dict[str, tuple[Path, str]],
    assignment: Assignment,
    library: Path,
    hidden: tuple[Path, ...],
    jobs: int,
    home: Path,
) -> Iterator[tuple[str, Result]]:
    """Each submission's result as it comes. One that breaks its worker is a zero; those that it takes along are graded again."""
    calls = {student: partial(grade_one, path, student, assignment, library, hidden) for student, (path, _) in waiting.items()}
    for student, result in _each(calls, jobs, home):
        asked = assignment.ungraded()
        empty = Result(student, _shown(waiting[student][0].name), assignment.chapter, asked)
        yield student, result or _failed(empty, "it made the grader fail; grade this notebook by hand")


def _each(calls: Mapping[Key, Callable[[], Any]], jobs: int, home: Path | None = None) -> Iterator[tuple[Key, Any]]:
    """What each call returns in a process of a pool. None for one that broke its process; those that it took along run again."""
    lost = []
    for key, value in _in_pool(calls, jobs, home):
        if value is None:
            lost.append(key)
        else:
            yield key, value
    for key in lost:
        yield from _in_pool({key: calls[key]}, 1, home)


def _in_pool(calls: Mapping[Key, Callable[[], Any]], jobs: int, home: Path | None) -> Iterator[tuple[Key, Any]]:
    """What each call returns, None where its process failed."""
    if not calls:
        return
    # After Ctrl-C the pool waits for its workers: one that the signal met where nothing listens must not hold it
    last = threading.Timer(10, _signal_workers, (signal.SIGKILL,))
    last.daemon = True
    try:
        with ProcessPoolExecutor(min(jobs, len(calls)), get_context("spawn"), _begin_worker, (os.getpid(), home)) as pool:
            # Until a worker has its own answer to Ctrl-C none reaches it: it would die with a traceback while it imports
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                running = {pool.submit(_in_worker, call): key for key, call in calls.items()}
            finally:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            try:
                for future in as_completed(running):
                    yield running[future], None if future.exception() else future.result()
            except BaseException:
                for future in running:
                    future.cancel()
                _signal_workers(signal.SIGINT)
                last.start()
                raise
    finally:
        last.cancel()


def _signal_workers(number: signal.Signals) -> None:
    """Send a signal to each worker of this process."""
    for process in active_children():
        with suppress(OSError, TypeError):
            os.kill(process.pid, number)  # type: ignore[arg-type]


_working = _interrupted = False


def _begin_worker(parent: int, home: Path | None) -> None:
    """What a worker does first: its temporary files go into the run's folder; Ctrl-C ends what it does and says nothing; when the
    grader is gone, so is the worker, with the answer that it runs and the folder.
    """

    def interrupt(*_: object) -> None:
        global _interrupted
        again, _interrupted = _interrupted, True
        if _working and not again:
            raise KeyboardInterrupt

    def end_with_the_parent() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        _kill_children()
        if home is not None:
            shutil.rmtree(home, ignore_errors=True)
        _kill_children()  # a question that began meanwhile
        os._exit(1)

    signal.signal(signal.SIGINT, interrupt)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    if home is not None:
        tempfile.tempdir = str(home)
    threading.Thread(target=end_with_the_parent, daemon=True).start()


def _kill_children() -> None:
    """End the answers that this process runs, where the system lists them; each is a group of its own."""
    for path in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            for child in path.read_text().split():
                with suppress(OSError):
                    os.killpg(int(child), signal.SIGKILL)


def _in_worker(call: Callable[[], Any]) -> Any:
    """Do one call; none after Ctrl-C."""
    global _working
    if _interrupted:
        raise KeyboardInterrupt
    _working = True
    try:
        return call()
    finally:
        _working = False


def _file_name(student: str) -> str:
    """A file name for any student's name."""
    plain = report.cut(re.sub(r"[^\w.-]+", "-", student))
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
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(asdict(result), indent=1) + "\n")


def _seconds(text: str) -> float:
    """The time for a question."""
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value <= Limits.notebook_seconds:
        raise argparse.ArgumentTypeError(f"{text!r}: must be a number above 0 and at most {Limits.notebook_seconds:g}")
    return value


def _jobs(text: str) -> int:
    """How many notebooks are graded at a time."""
    if not text.isdecimal() or not 1 <= int(text) <= 999:
        raise argparse.ArgumentTypeError(f"{text!r}: must be a whole number from 1 to 999")
    return int(text)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 2 for arguments that make no sense."""
    names = [path.stem for path in chapters()]
    parser = argparse.ArgumentParser(prog="make grade", description="Grade a folder of submitted notebooks.")
    parser.add_argument("submissions", type=Path, help="folder with notebooks, or with a folder for each student")
    parser.add_argument("--chapter", required=True, choices=names, metavar="CHAPTER", help="such as 03_3_architecture")
    parser.add_argument("--out", type=Path, help="where results go; default: _build/grades, a folder of class and chapter")
    parser.add_argument("--class-seed", help="the CLASS_SEED that the notebooks were made with")
    parser.add_argument("--all", action="store_true", help="count the exercises too whose solutions the book shows")
    parser.add_argument("--only", nargs="+", default=(), metavar="EXERCISE", help="count these exercises alone")
    parser.add_argument("--jobs", type=_jobs, default=os.cpu_count() or 1)
    parser.add_argument("--unprotected", action="store_true", help="grade though answers can read this computer's files")
    parser.add_argument("--seconds", type=_seconds, default=Limits.seconds, help="for a question")
    chosen = parser.parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):  # a student's name may have letters that the terminal has not
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if not chosen.submissions.is_dir():
        print(f"submissions = {str(chosen.submissions)!r}: is no folder", file=sys.stderr)
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
    out = chosen.out or ROOT / "_build" / "grades" / class_folder(assignment.seed) / chosen.chapter
    start = time.monotonic()
    try:
        results = grade(chosen.submissions, out, assignment, chosen.jobs)
    except report.RefusedError as error:
        print(error, file=sys.stderr)
        return 2
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
