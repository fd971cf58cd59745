"""Execute chapters, several at a time, each alone: in a process of its own and in an empty folder.

Jupyter Book would execute them one after the other.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.notebooks import read
from tools.settings import ROOT

ENCODER = re.compile(r"from topiclib\.encoders import")
POLL = 0.1
ANSI = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Execution:
    """A chapter, its executed notebook or None if it failed, the seconds it took, and the end of what it said if it failed."""

    path: Path
    notebook: Any
    seconds: float
    error: str = ""


def in_order(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """The chapters that run one at a time, and the others.

    An encoder takes a minute or more for its attention, and what one chapter has measured the next finds in the cache.
    """
    shared = [path for path in paths if ENCODER.search(path.read_text())]
    return shared, [path for path in paths if path not in shared]


def execute(paths: Sequence[Path], jobs: int, environment: Mapping[str, str]) -> Iterator[Execution]:
    """Execute chapters ``jobs`` at a time, in the given order but for those with an encoder; yields each as it ends.

    Processes that still run when the caller stops, by an exception or by giving up, are stopped with their kernels.
    """
    shared, others = in_order(paths)
    running: dict[Path, tuple[subprocess.Popen[bytes], float]] = {}
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        stack.callback(lambda: _stop([process for process, _ in running.values()]))
        turn: Path | None = None
        while shared or others or running:
            while len(running) < jobs and ((shared and turn is None) or others):
                path = (shared if shared and turn is None else others).pop(0)
                turn = path if ENCODER.search(path.read_text()) else turn
                command = [sys.executable, "-m", "tools.execute_one", str(path), str(folder / path.name)]
                with (folder / f"{path.stem}.log").open("wb") as log:
                    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
                running[path] = process, time.monotonic()
            time.sleep(POLL)
            for path in [path for path, (process, _) in running.items() if process.poll() is not None]:
                process, start = running.pop(path)
                turn = None if turn == path else turn
                seconds = time.monotonic() - start
                if process.returncode == 0:
                    yield Execution(path, read(folder / path.name), seconds)
                else:
                    said = ANSI.sub("", (folder / f"{path.stem}.log").read_text(errors="replace")).rstrip()
                    yield Execution(path, None, seconds, "\n".join(said.splitlines()[-12:]))


def _stop(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Ask them to end, which ends their kernels too; after ten seconds, end them."""
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
