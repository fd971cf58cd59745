"""Execute every chapter once more and compare what it printed with the last build: the numbers must be the same."""

from __future__ import annotations

import re
import sys
from typing import Any

from tools.build import CACHE, JOBS, environment
from tools.execute import execute
from tools.ledger import executed
from tools.notebooks import chapters

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


def main() -> int:
    """0 if every chapter repeats itself."""
    if not CACHE.exists():
        print("Nothing to compare with: run 'make book' first", file=sys.stderr)
        return 1
    bad = 0
    for done in execute(chapters(), JOBS, environment()):
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
    sys.exit(main())
