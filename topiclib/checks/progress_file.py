"""What a learner has passed, in a small file beside the notebook: to be shown, downloaded, and gone on with."""

from __future__ import annotations

import html
import json
import os
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

__all__ = ["FILE", "Progress", "in_notebook", "note", "progress"]

FILE = "topiclib-progress.json"
VERSION = 1


def in_notebook() -> bool:
    """Whether a learner's notebook is running: a kernel, and not that of the book's build."""
    ipython = sys.modules.get("IPython")
    if ipython is None or os.environ.get("TOPICLIB_STATIC") == "1":
        return False
    return hasattr(ipython.get_ipython(), "kernel")


def _read(path: Path) -> dict[str, Any]:
    """The exercises in a progress file by id; ValueError if it is none."""
    try:
        content = json.loads(path.read_text())
        found = content["exercises"]
        if content["version"] != VERSION or not all({"status", "tries", "last"} <= set(entry) for entry in found.values()):
            raise ValueError("is of another form")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"path = {str(path)!r}: is no progress file ({error!r})") from None
    return dict(found)


def note(exercise: str, status: str, path: str | Path = FILE) -> None:
    """Write the outcome of a check into the progress file; what was passed once stays passed.

    A file of that name that is something else is moved aside, not overwritten. Where nothing can be written nothing is: a check
    must not fail for it.
    """
    path = Path(path)
    if status == "unanswered":
        return
    try:
        found: dict[str, Any] = {}
        if path.exists():
            try:
                found = _read(path)
            except ValueError:
                path.rename(_free(path))
        before = found.get(exercise, {"status": "wrong", "tries": 0})
        passed = "passed" in (status, before["status"])
        now = datetime.now(UTC).isoformat(timespec="seconds")
        found[exercise] = {"status": "passed" if passed else "wrong", "tries": before["tries"] + 1, "last": now}
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        part.write_text(json.dumps({"version": VERSION, "exercises": found}, indent=1) + "\n")
        part.replace(path)
    except OSError:
        return


def _free(path: Path) -> Path:
    """A name beside ``path`` that nothing has."""
    number = 1
    while (other := path.with_name(f"{path.stem}-old-{number}{path.suffix}")).exists():
        number += 1
    return other


@dataclass(frozen=True)
class Progress:
    """What the progress file holds: ``exercises`` by id, each with status, tries and the time of the last; ``path`` of the file."""

    path: Path
    exercises: dict[str, dict[str, Any]]

    @property
    def passed(self) -> list[str]:
        """The exercises that were passed, in order."""
        return sorted(name for name, entry in self.exercises.items() if entry["status"] == "passed")

    def __str__(self) -> str:
        if not self.exercises:
            return f"Nothing noted yet: the first check that is not of an empty answer begins {self.path.name}."
        lines = [f"{len(self.passed)} of {len(self.exercises)} exercises passed that were tried ({self.path.name}):"]
        for name, entry in sorted(self.exercises.items()):
            lines.append(f"  {'✓' if entry['status'] == 'passed' else '✗'} {name}, {entry['tries']} tries, last {entry['last']}")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f'<pre class="tl-progress">{html.escape(str(self))}</pre>'


def progress(path: str | Path = FILE) -> Progress:
    """What was passed and tried so far, from the file beside the notebook.

    In Colab: ``from google.colab import files; files.download("topiclib-progress.json")`` downloads it, ``files.upload()`` brings
    it back. Raises ValueError for a file that is no progress file.
    """
    path = Path(path)
    return Progress(path, _read(path) if path.exists() else {})
