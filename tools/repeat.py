"""Execute every chapter once more and compare what it printed with the last build: the numbers must be the same."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import nbformat
from nbclient import NotebookClient

from tools.build import BUILD, environment

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
    paths = sorted((BUILD / "jupyter_execute").rglob("*.ipynb"))
    if not paths:
        print("Nothing to compare with: run 'make book' first", file=sys.stderr)
        return 1
    bad = 0
    for path in paths:
        first = nbformat.read(path, as_version=4)
        again = nbformat.from_dict(first)
        with tempfile.TemporaryDirectory() as folder:
            second = nbformat.read(path, as_version=4)
            for cell in second.cells:
                if cell.cell_type == "code":
                    cell.outputs = []
            NotebookClient(second, timeout=600, resources={"metadata": {"path": folder}}).execute()
        before, after = dict(enumerate(printed(again))), dict(enumerate(printed(second)))
        differ = [before.get(k, after.get(k)) for k in sorted(before.keys() | after.keys()) if before.get(k) != after.get(k)]
        print(f"{path.stem}: {len(before)} outputs, {len(differ)} differ", flush=True)
        for cell_text in differ[:5]:
            print(f"  cell {cell_text[0] if cell_text else '?'}", file=sys.stderr)
        bad += len(differ)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
