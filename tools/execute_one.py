"""Execute one chapter: ``python -m tools.execute_one CHAPTER.ipynb OUT.ipynb``; 1 and what went wrong if it fails.

A process of its own for each chapter, so it imports little: what all of them import, all of them pay for.
"""

from __future__ import annotations

import sys
import tempfile
import traceback

import nbformat
from nbclient import execute
from nbclient.exceptions import CellExecutionError, CellTimeoutError

TIMEOUT = 600
"""Seconds for a cell."""


def main(chapter: str, out: str) -> int:
    """Execute it in an empty folder and write it with its outputs."""
    notebook = nbformat.read(chapter, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        try:
            execute(notebook, cwd=folder, timeout=TIMEOUT, record_timing=False)
        except (CellExecutionError, CellTimeoutError):
            print(traceback.format_exc())
            return 1
    nbformat.write(notebook, out)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
