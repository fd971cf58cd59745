"""What comes out of grading: a table for a learning-management system, a page for each student, a table for grading on paper.

Points that a person gave (``by-hand.csv``) are read, counted and kept; that file is never written over without them.
"""

from __future__ import annotations

import csv
import html
import json
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from exercises.catalogue import PAPER
from tools.grading.gradebook import write_gradebook

if TYPE_CHECKING:
    from tools.grading.grade import Assignment, Result

HAND = "by-hand.csv"
HAND_FIELDS = ("student", "exercise", "line", "for", "possible", "points", "comment")
MARKS = {"passed": "✓", "wrong": "✗", "unanswered": "○", "stopped": "✗"}
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
table { border-collapse: collapse; width: 100% }
td, th { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid #ccc }
.passed { color: #0b6e2e }
.wrong, .stopped { color: #a3260f }
blockquote { white-space: pre-wrap; border-left: 3px solid #ccc; margin: .5rem 0; padding-left: .8rem }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #181818 }
  td, th { border-color: #444 }
  .passed { color: #7bd88f }
  .wrong, .stopped { color: #ff9d8a }
}
"""


class HandError(ValueError):
    """The table of points that a person gave cannot be read; nothing was written over it."""


def _spelled(text: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return "'" + text if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _plain(text: str) -> str:
    """What ``_spelled`` was given."""
    return text[1:] if text.startswith(("'=", "'+", "'-", "'@", "'\t", "'\r")) else text


def _write(path: Path, text: str) -> None:
    """A file, whole or not at all."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_text(text, encoding="utf-8", errors="replace", newline="")
    os.replace(part, path)


def _rows(rows: Sequence[Sequence[object]]) -> str:
    """CSV."""
    from io import StringIO

    out = StringIO()
    csv.writer(out, lineterminator="\n").writerows([[_spelled(str(cell)) for cell in row] for row in rows])
    return out.getvalue()


def read_hand(path: Path) -> dict[tuple[str, str, int], tuple[str, str]]:
    """(points, comment) that a person gave, by student, exercise and line of the rubric. Raises HandError with the line."""
    if not path.exists():
        return {}
    found: dict[tuple[str, str, int], tuple[str, str]] = {}
    try:
        path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise HandError(f"{path}: is not in UTF-8; save it as 'CSV UTF-8'") from None
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames is None or not set(HAND_FIELDS) <= set(reader.fieldnames):
            raise HandError(f"{path}: must have the columns {', '.join(HAND_FIELDS)}")
        for number, row in enumerate(reader, 2):
            given, possible = (row["points"] or "").strip(), row["possible"] or "inf"
            try:
                if given and not 0 <= float(given) <= float(possible):
                    raise HandError(f"{path}, line {number}: points = {given}: must be from 0 to {possible}")
                found[_plain(row["student"]), row["exercise"], int(row["line"])] = given, _plain((row["comment"] or "").strip())
            except (ValueError, TypeError) as error:
                if isinstance(error, HandError):
                    raise
                raise HandError(f"{path}, line {number}: cannot be read ({error})") from None
    return found


def write(results: Sequence[Result], assignment: Assignment, out: Path, protection: str) -> None:
    """Write all reports into ``out``, gradebook.db where nbgrader is installed. Raises HandError before anything is written."""
    hand = read_hand(out / HAND)
    paper = assignment.paper()
    hand_rows: list[list[object]] = [list(HAND_FIELDS)]
    known = set()
    for result in results:
        for name in paper:
            for line, (possible, text) in enumerate(PAPER[name].rubric, 1):
                place = result.student, name, line
                known.add(place)
                points, comment = hand.get(place, ("", ""))
                hand_rows.append([result.student, name, line, text, possible, points, comment])
    # Points of students whose notebook is gone stay in the table
    hand_rows += [[*place[:2], place[2], "", "", *given] for place, given in hand.items() if place not in known and given[0]]
    for student in sorted({place[0] for place, points in hand.items() if place not in known and points[0]}):
        print(f"{HAND}: has points for {student!r}, whose notebook is not there; they are kept and not counted", file=sys.stderr)
    if paper:
        _write(out / HAND, _rows(hand_rows))
    given = read_hand(out / HAND) if paper else {}
    ids = [exercise.id for exercise in assignment.questions()]
    most = len(ids) + sum(PAPER[name].points for name in paper)
    rows: list[list[object]] = [["student", "chapter", *ids, *paper, "points", "of", "complete", "note"]]
    for result in results:
        by_id = {question.exercise: question.points for question in result.questions}
        on_paper, complete = [], True
        for name in paper:
            points = [given.get((result.student, name, line), ("", ""))[0] for line in range(1, len(PAPER[name].rubric) + 1)]
            if not any(points) and (result.problem or result.paper.get(name) == ""):
                points = ["0"] * len(points)  # nothing was written; not in the table, where a later answer would find it
            complete &= all(points)
            on_paper.append(sum(float(p) for p in points if p) if any(points) else "")
        total = result.points + sum(p for p in on_paper if isinstance(p, float))
        scores = [by_id.get(name, 0) for name in ids]
        rows.append(
            [
                result.student,
                result.chapter,
                *scores,
                *map(_number, on_paper),
                _number(total),
                most,
                "yes" if complete else "no",
                result.problem,
            ]
        )
    _write(out / "grades.csv", _rows(rows))
    feedback = out / "feedback"
    feedback.mkdir(exist_ok=True)
    for result in results:
        _write(feedback / f"{_safe(result.student)}.html", page(result, paper, given))
    try:
        written = write_gradebook(results, assignment, given, out / "gradebook.db")
        booked = "gradebook.db" if written else "not written: nbgrader is not installed"
    except Exception as error:  # of nbgrader or its database: the tables above are there all the same
        booked = f"not written ({type(error).__name__}: {str(error)[:200]})"
    about = {
        "chapter": assignment.chapter,
        "submissions": len(results),
        "protection": protection,
        "nbgrader's database": booked,
        "limits": vars(assignment.limits),
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    _write(out / "report.json", json.dumps(about, indent=1) + "\n")


def _number(value: object) -> object:
    """Whole points without a decimal point."""
    return int(value) if isinstance(value, float) and value == int(value) else value


def _safe(name: str) -> str:
    """A file name that shows whose it is; different students have different ones (Result file names are unique by student)."""
    plain = "".join(c if c.isalnum() or c in "-_.@ " else "_" for c in name).strip(". ") or "student"
    return plain if plain == name and len(name) <= 80 else f"{plain[:80]}-{hash_of(name):08x}"


def hash_of(name: str) -> int:
    """A number for a name, the same in every run."""
    from hashlib import sha256

    return int(sha256(name.encode()).hexdigest()[:8], 16)


def page(result: Result, paper: Sequence[str], given: dict[tuple[str, str, int], tuple[str, str]]) -> str:
    """The page for a student: each question with what was wrong, and the points on paper with the rubric's lines."""
    e = html.escape
    lines = [f"<h1>{e(result.student)}</h1><p>Chapter {e(result.chapter)}, file {e(result.file)}</p>"]
    if result.problem:
        lines.append(f'<p class="wrong"><b>Nothing could be graded:</b> {e(result.problem)}.</p>')
    lines.append("<table><tr><th>Exercise</th><th>Points</th><th>What the grader says</th></tr>")
    for q in result.questions:
        lines.append(
            f'<tr><td>{e(q.exercise)}</td><td>{q.points}</td><td class="{q.status}">{MARKS[q.status]} {e(q.reason)}</td></tr>'
        )
    lines.append("</table>")
    for name in paper:
        lines.append(f"<h2>{e(PAPER[name].kind)} {e(name)}</h2>")
        answer = result.paper.get(name) or ""
        lines.append(
            f"<blockquote>{e(answer) or 'no answer'}</blockquote><table><tr><th>Points</th><th>For</th><th>Comment</th></tr>"
        )
        for line, (possible, text) in enumerate(PAPER[name].rubric, 1):
            points, comment = given.get((result.student, name, line), ("", ""))
            lines.append(f"<tr><td>{e(points) or '?'} of {possible}</td><td>{e(text)}</td><td>{e(comment)}</td></tr>")
        lines.append("</table>")
    body = "\n".join(lines)
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{e(result.student)}</title>'
    head += f"<style>{STYLE}</style>"
    return f'<!doctype html><html lang="en"><head>{head}</head><body>\n{body}\n</body></html>\n'
