"""The table of mutations and the scan for leaks: ``python -m tools.check_exercises`` (``make check-exercises``).

Every graded exercise, in every variant: the two right answers must be accepted, every wrong one rejected with its own hint. Nothing
that is published may hold a solution. Any miss gives the exit status 1. ``sync`` writes the table for the instructors' chapter.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from exercises.catalogue import MODULES, PAPER
from exercises.format import Exercise
from tools.editions import write_editions
from tools.leaks import scan
from tools.notebooks import chapters
from tools.settings import BOOK, ROOT

TABLE = BOOK / "mutation_table.md"
HEAD = """# Table of mutations

Every graded exercise with code, in every variant that a class can get. Its reference solution and an alternative one must pass
the visible and the hidden check; each wrong answer must be rejected with the hint that names its mistake. A wrong answer counts
once for each variant; the hints stand there by their names. `make check-exercises` runs this table again and compares;
`make notebooks` writes it.

| Exercise | Right answers; wrong answers, and the hint each gets |
|---|---|
"""


@dataclass(frozen=True)
class Row:
    """What the checks say of an exercise: whether both right answers pass, and (hint wanted, hint given) of each wrong one.

    Where a wrong answer gets no hint, what the check says of it stands there: "passed" or "unanswered".
    """

    exercise: Exercise
    variants: int
    reference: bool
    alternative: bool
    wrong: tuple[tuple[str, str], ...]

    def misses(self) -> Iterator[str]:
        """What is not as it must be."""
        for name in ("reference", "alternative"):
            if not getattr(self, name):
                yield f"{self.exercise.id}: the {name} solution is rejected"
        for wanted, given in self.wrong:
            if wanted != given:
                yield f"{self.exercise.id}: a wrong answer gets {given!r} instead of the hint {wanted!r}"

    def line(self) -> str:
        """The row of the table."""
        hints = ", ".join(
            f"`{wanted}`" if wanted == given else f"**{wanted}: {given}**" for wanted, given in dict.fromkeys(self.wrong)
        )
        right = sum(wanted == given for wanted, given in self.wrong)
        refused = [name for name in ("reference", "alternative") if not getattr(self, name)]
        verdict = f"**{' and '.join(refused)} rejected**" if refused else "both right ones accepted"
        variants = f", {self.variants} variants" if self.variants > 1 else ""
        name = f"**{self.exercise.id}**<br>{self.exercise.level}{variants}"
        return f"| {name} | {verdict}; {right} of {len(self.wrong)} wrong ones rejected: {hints} |"


def rows(exercises: list[Exercise] | None = None) -> list[Row]:
    """Run the checks on all answers of the graded exercises, or of those given."""
    found = []
    for source in exercises if exercises is not None else [e for m in MODULES for e in m.EXERCISES if e.graded]:
        versions = [source.with_variant(variant) for variant in source.variants] or [source]
        right = {
            name: all(e.grade(e.load(getattr(e, name))).status == "passed" for e in versions)
            for name in ("reference", "alternative")
        }
        wrong = tuple(
            (w.hint, verdict.key or verdict.status) for e in versions for w in e.wrong for verdict in [e.grade(e.load(w.code))]
        )
        found.append(Row(source, len(source.variants) or 1, right["reference"], right["alternative"], wrong))
    return found


def table(found: list[Row]) -> str:
    """The page of the book."""
    wrong = sum(len(row.wrong) for row in found)
    papers = sum(task.graded for task in PAPER.values())
    foot = (
        f"{len(found)} exercises with code, {wrong} wrong answers. Beside these, {papers} graded exercises on paper have rubrics."
    )
    return HEAD + "\n".join(row.line() for row in found) + f"\n\n{foot}\n"


def published(folder: Path) -> list[Path]:
    """All that is published: students' notebooks of every chapter and two classes, the chapters, the wheel, a built site."""
    names = [path.stem for path in chapters()]
    for seed in (None, "a class"):
        write_editions(names, seed, folder / f"class {seed}")
    site = [ROOT / "_build" / "html"] if (ROOT / "_build" / "html").is_dir() else []
    return [*folder.glob("class */student"), wheel(folder), BOOK, *site]


def wheel(folder: Path) -> Path:
    """The library's wheel, built from a copy: setuptools leaves things where it builds."""
    copy = folder / "copy"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "_build", "__pycache__", "*.egg-info"))
    pip = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        str(folder),
        str(copy),
    ]
    done = subprocess.run(pip, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"the wheel cannot be built: {done.stderr.strip()[-500:]}")
    (found,) = folder.glob("*.whl")
    return found


def main(arguments: list[str]) -> int:
    """The command line."""
    if arguments not in ([], ["sync"]):
        print("usage: python -m tools.check_exercises [sync]", file=sys.stderr)
        return 2
    found = rows()
    misses = [miss for row in found for miss in row.misses()]
    text = table(found)
    if arguments:
        TABLE.write_text(text)
    elif not TABLE.exists() or TABLE.read_text() != text:
        misses.append(f"{TABLE.relative_to(ROOT)} is not in step: run 'make notebooks'")
    answers = sum(2 * row.variants + len(row.wrong) for row in found)
    print(f"mutations: {len(found)} exercises, {answers} answers, {len(misses)} misses")
    with tempfile.TemporaryDirectory() as folder:
        paths = published(Path(folder)) if not arguments else []
        number, leaks = scan(paths) if paths else (0, [])
    if paths:
        site = "" if any(path.name == "html" for path in paths) else "; the site is not built, so it was not scanned"
        print(f"leaks: {number} published files, {len(leaks)} leaks{site}")
    for line in [*misses, *map(str, leaks[:40])]:
        print(f"  {line}", file=sys.stderr)
    return 1 if misses or leaks else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
