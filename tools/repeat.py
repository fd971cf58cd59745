"""Execute chapters once more and compare what they printed with the last build: the numbers must be the same.

``python -m tools.repeat`` takes every chapter, ``python -m tools.repeat 3`` a third of them; the commit decides which, so that a
few commits cover all.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from tools.build import CACHE, JOBS, environment
from tools.execute import execute
from tools.ledger import executed
from tools.notebooks import chapters
from tools.settings import ROOT

ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


def printed(notebook: Any) -> dict[str, str]:
    """By cell id: all that a cell printed or displayed as text or HTML (figures and claims included).

    One text a cell: how many messages a kernel splits a stream into depends on timing, not on what is printed.
    """
    texts = {cell.id: "" for cell in notebook.cells}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            for text in (output.get("text"), data.get("text/plain"), data.get("text/html")):
                texts[cell.id] += ADDRESS.sub("0x", text or "")
    return {cell: text for cell, text in texts.items() if text}


def some(paths: list[Path], share: int, commit: str) -> list[Path]:
    """Every ``share``-th chapter, beginning where the commit says."""
    return paths[int(commit or "0", 16) % share :: share]


def main(arguments: list[str]) -> int:
    """0 if every chapter, or of the chosen share every one, repeats itself."""
    if arguments and not (len(arguments) == 1 and arguments[0].isdigit() and int(arguments[0])):
        print("usage: python -m tools.repeat [N], for every N-th chapter", file=sys.stderr)
        return 2
    share = int(arguments[0]) if arguments else 1
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    if not CACHE.exists():
        print("Nothing to compare with: run 'make book' first", file=sys.stderr)
        return 1
    bad = 0
    for done in execute(some(chapters(), share, commit), JOBS, environment()):
        if done.notebook is None:
            print(f"{done.path.stem} failed:\n{done.error}", file=sys.stderr)
            bad += 1
            continue
        before, after = printed(executed(done.path, CACHE)), printed(done.notebook)
        differ = [cell for cell in {**before, **after} if before.get(cell) != after.get(cell)]
        print(f"{done.path.stem}: {len(before)} cells printed, {len(differ)} differ {' '.join(differ[:5])}", flush=True)
        bad += len(differ)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
