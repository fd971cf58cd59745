"""The executed chapters, and the claims that they recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jupyter_cache import get_cache

from tools.notebooks import chapters, read
from tools.prose import claims_of
from topiclib.claims import METADATA_KEY


def executed(path: Path, cache: Path) -> Any:
    """A chapter with the outputs of its execution in the last build (KeyError if it was not executed)."""
    _, notebook = get_cache(str(cache)).merge_match_into_notebook(read(path))
    return notebook


def recorded_claims(notebook: Any) -> Iterator[dict[str, Any]]:
    """Every claim in a notebook's outputs, in order."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if METADATA_KEY in output.get("metadata", {}):
                yield dict(output["metadata"][METADATA_KEY])


def write_ledger(build: Path, cache: Path) -> list[str]:
    """Write ``claims.json`` from the executed chapters; returns what is wrong: claims that a chapter states and no cell made."""
    ledger, findings = [], []
    for path in chapters():
        notebook = executed(path, cache)
        claims = list(recorded_claims(notebook))
        ledger += [{"chapter": path.stem, **claim} for claim in claims]
        missing = set(claims_of(notebook)[0]) - {claim["name"] for claim in claims}
        findings += [f"{path.stem}: claim {name!r} was not executed" for name in sorted(missing)]
    (build / "claims.json").write_text(json.dumps(ledger, indent=1, ensure_ascii=False) + "\n")
    return findings
