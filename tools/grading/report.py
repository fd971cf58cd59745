"""What comes out of grading: a table for a learning-management system, a page for each student, a table for grading on paper.

Points that a person gave (``by-hand.csv``) are read, counted and kept; that file is never written over without them. They count for
the answer that the person read: each row has a mark of its text, and a changed answer waits for points of its own.
"""

from __future__ import annotations

import csv
import html
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from exercises.catalogue import PAPER
from tools.editions import class_mark, tasks_of
from tools.grading.gradebook import write_gradebook
from tools.notebooks import write_whole

if TYPE_CHECKING:
    from tools.grading.grade import Assignment, Result

HAND = "by-hand.csv"
HAND_FIELDS = ("student", "exercise", "line", "for", "possible", "points", "comment")
CHANGED = "answer changed since points were given"
EARLIER = "not counted, of another answer: "
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


class RefusedError(ValueError):
    """What was asked for makes no sense or would mix classes; the message says why. Nothing was written."""


class HandError(ValueError):
    """The table of points that a person gave cannot be read; nothing was written over it."""


class Given(NamedTuple):
    """What a person gave for a line of a rubric; "" where there is nothing yet."""

    points: str = ""
    comment: str = ""


Hand = dict[tuple[str, str, int, str], Given]
"""By student, exercise, line of the rubric and mark of the answer (``answer_mark``)."""


@dataclass(frozen=True)
class Total:
    """What a student has.

    paper : by exercise what was given for each line, with 0 where nothing was written
    complete : whether nothing waits for a person
    """

    paper: dict[str, list[Given]]
    points: float
    complete: bool
    note: str

    def on_paper(self, name: str) -> float | None:
        """The points of an exercise on paper; None if there are none yet."""
        found = [float(given.points) for given in self.paper[name] if given.points]
        return sum(found) if found else None


def _spelled(text: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return "'" + text if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _plain(text: str) -> str:
    """What ``_spelled`` was given."""
    return text[1:] if text.startswith(("'=", "'+", "'-", "'@", "'\t", "'\r")) else text


def _write(path: Path, text: str) -> None:
    """A file, whole or not at all."""
    write_whole(path, text, errors="replace")


def _rows(rows: Sequence[Sequence[object]]) -> str:
    """CSV."""
    out = StringIO()
    csv.writer(out, lineterminator="\n").writerows([[_spelled(str(cell)) for cell in row] for row in rows])
    return out.getvalue()


def read_hand(path: Path, papers: Sequence[str] | None = None) -> Hand:
    """What a person gave, of the exercises ``papers``. Raises HandError with the line. A row that says nothing is left out."""
    if not path.exists():
        return {}
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise HandError(f"{path}: is not in UTF-8; save it as 'CSV UTF-8'") from None
    found: Hand = {}
    # Strict: a quote that is not closed would take the lines behind it for a part of the cell
    reader, number = csv.DictReader(StringIO(text, newline=""), strict=True), 1
    try:
        if reader.fieldnames is None or not set(HAND_FIELDS) <= set(reader.fieldnames):
            raise HandError(f"{path}: must have the columns {', '.join(HAND_FIELDS)}, with commas between them")
        number = reader.line_num + 1
        for row in reader:
            if read := _read_row(row, f"{path}, line {number}", papers):
                place, given = read
                if found.setdefault(place, given) != given:
                    raise HandError(f"{path}, line {number}: {place[0]!r}, {place[1]}, line {place[2]} stands there twice")
            number = reader.line_num + 1
    except csv.Error as error:
        why = 'a quote (") in it is not closed or stands within a cell'
        if "field larger" in str(error):
            why = f"a cell of it has more than {csv.field_size_limit():,} characters, or its quote is not closed"
        raise HandError(f"{path}, line {number}: {why}") from None
    return found


def _read_row(
    row: dict[str, str | None], where: str, papers: Sequence[str] | None
) -> tuple[tuple[str, str, int, str], Given] | None:
    """A row of the table; None where it says nothing."""
    beyond = row.pop(None, None) or ()  # type: ignore[call-overload]
    if any(beyond):
        raise HandError(f"{where}: has more cells than there are columns; a text with a comma in it needs quotes")
    cells = {name: (cell or "").strip() for name, cell in row.items()}
    given = Given(cells["points"], _plain(cells["comment"]))
    if not any(given):
        return None
    exercise, line = cells["exercise"], cells["line"]
    if papers is not None and exercise not in papers:
        raise HandError(f"{where}: exercise = {exercise!r}: must be one of {', '.join(papers) or 'none: there is none on paper'}")
    rubric = PAPER[exercise].rubric if exercise in PAPER else None
    if not line.isdecimal() or not 1 <= int(line) <= (len(rubric) if rubric else 99):
        raise HandError(f"{where}: line = {line!r}: must be from 1 to {len(rubric) if rubric else 99}, a line of the rubric")
    most = str(rubric[int(line) - 1][0]) if rubric else cells["possible"] or "inf"
    try:
        fits = not given.points or 0 <= float(given.points) <= float(most)
    except ValueError:
        fits = False
    if not fits:
        raise HandError(f"{where}: points = {given.points}: must be from 0 to {most}")
    # Only names are taken as they are: a file's name may begin or end with a space
    return (_plain(row["student"] or ""), exercise, int(line), cells.get("answer", "")), given


def answer_mark(result: Result, name: str) -> str:
    """Says whether an answer on paper is still the one that a person read. A letter first: no spreadsheet takes it for a number."""
    text = result.paper.get(name)
    if text == "":
        return "empty"
    return "a" + sha256((result.written if text is None else text).encode("utf-8", "replace")).hexdigest()[:8]


def _given(hand: Hand, result: Result, name: str, line: int) -> tuple[Given, dict[str, Given]]:
    """What counts for a line, and by its mark what was given for other answers. A row without a mark is of this answer."""
    mark = answer_mark(result, name)
    of_line = {place[3]: given for place, given in hand.items() if place[:3] == (result.student, name, line)}
    now = of_line.pop(mark, None) or of_line.pop("", Given())
    return now, of_line


def total(result: Result, papers: Sequence[str], hand: Hand) -> Total:
    """Points of code and paper, and whether and why a person has still to look."""
    notes = [result.problem, result.note]
    paper: dict[str, list[Given]] = {}
    for name in papers:
        lines = [_given(hand, result, name, line) for line in range(1, len(PAPER[name].rubric) + 1)]
        found = [now for now, _ in lines]
        changed = any(not now.points and any(earlier.points for earlier in others.values()) for now, others in lines)
        if changed:
            notes.append(f"{name}: {CHANGED}")
        elif not any(given.points for given in found) and (result.paper.get(name) == "" or (result.problem and not result.by_hand)):
            # Nothing was written; not in the table, where a later answer would find it
            found = [given._replace(points="0") for given in found]
        paper[name] = found
    points = result.points + sum(float(given.points) for lines in paper.values() for given in lines if given.points)
    complete = not result.by_hand and all(given.points for lines in paper.values() for given in lines)
    return Total(paper, points, complete, "; ".join(note for note in notes if note))


def _hand_table(results: Sequence[Result], papers: Sequence[str], hand: Hand) -> list[list[object]]:
    """The rows of by-hand.csv: for each line that of the answer as it is now, then what was given for earlier ones."""
    rows: list[list[object]] = [[*HAND_FIELDS, "answer"]]
    known = set()
    for result in results:
        for name in papers:
            for line, (possible, text) in enumerate(PAPER[name].rubric, 1):
                known.add((result.student, name, line))
                now, earlier = _given(hand, result, name, line)
                rows.append([result.student, name, line, text, possible, *now, answer_mark(result, name)])
                rows += [[result.student, name, line, EARLIER + text, possible, *then, mark] for mark, then in earlier.items()]
    # What was given to students whose notebook is gone, and for exercises that this run does not count, stays in the table
    rest = {place: given for place, given in hand.items() if place[:3] not in known}
    rows += [[*place[:3], "", "", *given, place[3]] for place, given in rest.items()]
    for student, name in sorted({place[:2] for place in rest}):
        why = "whose notebook is not there" if name in papers else f"for {name}, which this run does not count"
        print(f"{HAND}: has entries for {student!r}, {why}; they are kept and not counted", file=sys.stderr)
    return rows


def read_about(out: Path) -> dict[str, Any]:
    """What report.json in a folder says; {} if there is none that can be read."""
    try:
        content = json.loads((out / "report.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def refuse_others(out: Path, assignment: Assignment) -> None:
    """Raise RefusedError where ``out`` holds the grades of another class or chapter: points would get to others."""
    about = read_about(out)
    if (chapter := about.get("chapter", assignment.chapter)) != assignment.chapter:
        raise RefusedError(f"out = {str(out)!r}: holds grades of the chapter {str(chapter)[:80]!r}; give another folder (OUT=...)")
    if about.get("class", class_mark(assignment.seed)) != class_mark(assignment.seed):
        raise RefusedError(f"out = {str(out)!r}: holds grades of a class with another CLASS_SEED; give another folder (OUT=...)")


def write(results: Sequence[Result], assignment: Assignment, out: Path, protection: str) -> None:
    """Write all reports into ``out``, gradebook.db where nbgrader is installed. Raises HandError before anything is written."""
    paper = assignment.paper()
    hand = read_hand(out / HAND, [task.id for task in tasks_of(assignment.chapter) if task.id in PAPER])
    before = {name for name in read_about(out).get("pages", ()) if isinstance(name, str) and name == Path(name).name}
    pages = {result.student: f"{_safe(result.student)}.html" for result in results}
    about = {
        "chapter": assignment.chapter,
        "class": class_mark(assignment.seed),
        "submissions": len(results),
        "protection": protection,
        "limits": vars(assignment.limits),
    }
    # First of all whose the folder is, and which pages are ours: a run that is stopped here leaves both
    _write(out / "report.json", json.dumps({**about, "pages": sorted({*before, *pages.values()})}, indent=1) + "\n")
    if paper or hand:
        _write(out / HAND, _rows(_hand_table(results, paper, hand)))
    ids = [exercise.id for exercise in assignment.questions()]
    most = len(ids) + sum(PAPER[name].points for name in paper)
    rows: list[list[object]] = [["student", "chapter", "file", *ids, *paper, "points", "of", "complete", "note"]]
    totals = {result.student: total(result, paper, hand) for result in results}
    for result in results:
        found = totals[result.student]
        by_id = {question.exercise: question.points for question in result.questions}
        on_paper = ["" if (points := found.on_paper(name)) is None else _number(points) for name in paper]
        scores = [by_id.get(name, 0) for name in ids]
        sums = [_number(found.points), most, "yes" if found.complete else "no", found.note]
        rows.append([result.student, result.chapter, result.file, *scores, *on_paper, *sums])
        if CHANGED in found.note:
            print(f"{result.student}: {found.note}; {HAND} shows both", file=sys.stderr)
    _write(out / "grades.csv", _rows(rows))
    feedback = out / "feedback"
    feedback.mkdir(exist_ok=True)
    for result in results:
        _write(feedback / pages[result.student], page(result, totals[result.student], most))
    written = {name.casefold() for name in pages.values()}
    for name in before:
        if name.endswith(".html") and name.casefold() not in written:
            (feedback / name).unlink(missing_ok=True)
    try:
        scores_of = {(student, name): found.on_paper(name) for student, found in totals.items() for name in paper}
        waiting = {
            (student, name) for student, found in totals.items() for name in paper if not all(g.points for g in found.paper[name])
        }
        done = write_gradebook(results, assignment, scores_of, waiting, out / "gradebook.db")
        booked = "gradebook.db" if done else "not written: nbgrader is not installed"
    except Exception as error:  # of nbgrader or its database: the tables above are there all the same
        booked = f"not written ({type(error).__name__}: {str(error)[:200]})"
    about |= {"nbgrader's database": booked, "written": datetime.now(UTC).isoformat(timespec="seconds")}
    _write(out / "report.json", json.dumps({**about, "pages": sorted(pages.values())}, indent=1) + "\n")


def _number(value: object) -> object:
    """Whole points without a decimal point."""
    return int(value) if isinstance(value, float) and value == int(value) else value


def cut(name: str, most: int = 120) -> str:
    """The beginning of a name that has at most so many bytes: file systems count those."""
    return name.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")


def _safe(name: str) -> str:
    """A file name that shows whose it is; different students have different ones."""
    plain = "".join(c if c.isalnum() or c in "-_.@ " else "_" for c in name).strip(". ") or "student"
    return plain if plain == name == cut(name) else f"{cut(plain)}-{sha256(name.encode()).hexdigest()[:8]}"


def page(result: Result, found: Total, most: int) -> str:
    """The page for a student: each question with what was wrong, and the points on paper with the rubric's lines."""
    e = html.escape
    lines = [f"<h1>{e(result.student)}</h1><p>Chapter {e(result.chapter)}, file {e(result.file) or 'none'}</p>"]
    waits = "" if found.complete else "; not complete: something waits for a person"
    lines.append(f"<p><strong>{_number(found.points)} of {most} points</strong>{waits}</p>")
    if result.problem:
        lines.append(f'<p class="wrong"><b>Nothing could be graded:</b> {e(result.problem)}.</p>')
    if result.note:
        lines.append(f"<p>{e(result.note)}.</p>")
    lines.append("<table><tr><th>Exercise</th><th>Points</th><th>What the grader says</th></tr>")
    for q in result.questions:
        reason = q.reason.rstrip().removesuffix(":")  # of an exception without a message
        lines.append(
            f'<tr><td>{e(q.exercise)}</td><td>{q.points}</td><td class="{q.status}">{MARKS[q.status]} {e(reason)}</td></tr>'
        )
    lines.append("</table>")
    for name, lines_given in found.paper.items():
        lines.append(f"<h2>{e(PAPER[name].kind)} {e(name)}</h2>")
        answer = result.paper.get(name) or ""
        lines.append(
            f"<blockquote>{e(answer) or 'no answer'}</blockquote><table><tr><th>Points</th><th>For</th><th>Comment</th></tr>"
        )
        for (possible, text), given in zip(PAPER[name].rubric, lines_given, strict=True):
            lines.append(f"<tr><td>{e(given.points) or '?'} of {possible}</td><td>{e(text)}</td><td>{e(given.comment)}</td></tr>")
        lines.append("</table>")
    body = "\n".join(lines)
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{e(result.student)}</title>'
    head += f"<style>{STYLE}</style>"
    return f'<!doctype html><html lang="en"><head>{head}</head><body>\n{body}\n</body></html>\n'
