"""Execute every chapter once more and compare what it printed with the last build: the numbers must be the same."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from nbclient import NotebookClient

from tools.build import CACHE, environment
from tools.ledger import executed
from tools.notebooks import chapters, read

ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


def printed(notebook: Any) -> Iterator[tuple[str, str]]:
    """(cell id, text) of everything that cells printed or displayed as text or HTML (figures and claims included)."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            for text in (output.get("text"), data.get("text/plain"), data.get("text/html")):
                if text:
                    yield cell.id, ADDRESS.sub("0x", text)


def main() -> int:
    """0 if every chapter repeats itself."""
    os.environ.update(environment())
    if not CACHE.exists():
        print("Nothing to compare with: run 'make book' first", file=sys.stderr)
        return 1
    bad = 0
    for path in chapters():
        again = read(path)
        with tempfile.TemporaryDirectory() as folder:
            NotebookClient(again, timeout=600, resources={"metadata": {"path": folder}}).execute()
        before, after = list(printed(executed(path, CACHE))), list(printed(again))
        differ = [cell for (cell, first), (_, second) in zip(before, after, strict=False) if first != second]
        differ += ["?"] * abs(len(before) - len(after))
        print(f"{path.stem}: {len(before)} outputs, {len(differ)} differ {' '.join(differ[:5])}", flush=True)
        bad += len(differ)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
