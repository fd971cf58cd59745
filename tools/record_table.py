"""Measure Table 1 for an encoder that the build does not install, and record it: ``python -m tools.record_table mpnet``.

The record, topiclib/recorded/table1.json, holds the SHA-256 of what was measured, so that a test finds one that is out of date.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from importlib.metadata import version

from topiclib.corpus import read_summaries
from topiclib.natural_language import RECORD, measure_encoder
from topiclib.sources import SOURCES

PACKAGES = ("torch", "transformers", "tomotopy")


def digests(name: str) -> list[str]:
    """What the measurement depends on: the files of the encoder and of the text."""
    return [digest for source in (name, "summaries") for _, _, digest in SOURCES[source].files]


def main() -> None:
    """Measure, and write the encoder's entry; the others stay."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("encoder", choices=["mpnet"])
    parser.add_argument("--documents", type=int, default=1000, help="on how many the attention is measured")
    options = parser.parse_args()
    rows = measure_encoder(options.encoder, read_summaries(), attention_documents=options.documents)
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    record[options.encoder] = {
        "documents": options.documents,
        "files": digests(options.encoder),
        "packages": {package: version(package) for package in PACKAGES},
        "rows": [asdict(row) for row in rows],
    }
    RECORD.parent.mkdir(exist_ok=True)
    RECORD.write_text(json.dumps(record, indent=1) + "\n")
    for row in rows:
        print(row)


if __name__ == "__main__":
    main()
