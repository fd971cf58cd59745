"""The table of all claims, for the page ``book/claims.md``: from what the executed cells recorded (``_build/claims.json``)."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from tools.objectives import order, title
from topiclib.claims import seed_text

MARK = "<!-- ledger -->"
HEAD = "<tr><th>Claim</th><th>The text says</th><th>The paper</th><th>Computed</th><th>Allowed</th><th>Seeds</th><th>Note</th></tr>"
FILTER = """\
<div class="tl-filter">
<label>Show claims that contain <input type="search" id="claim-filter" autocomplete="off"></label>
<label><input type="checkbox" id="claim-paper"> only those with a value of the paper</label>
<output id="claim-count" aria-live="polite"></output>
</div>
<script src="../_static/ledger.js" defer></script>"""


def computed(value: float) -> str:
    """Six digits; what is large without a power of ten, and with commas, as the text writes it."""
    return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}" if abs(value) < 1e9 else f"{value:.6g}"


def allowed(claim: Mapping[str, Any]) -> str:
    """How far the computed number may be from the text's."""
    slack = f" (± {claim['tol']:g})" if claim["tol"] else ""
    return {"equal": f"± {claim['tol']:g}" if claim["tol"] else "exact"}.get(claim["bound"], claim["bound"] + slack)


def row(claim: Mapping[str, Any]) -> str:
    """A claim's row."""
    words = str(claim["name"]).replace("-", " ")
    cells = (
        f'<a href="{claim["chapter"]}.html#claim-{claim["name"]}">{html.escape(words)}</a>',
        *(html.escape(text) for text in (claim["says"], claim["paper"] or "", computed(claim["value"]), allowed(claim))),
        seed_text(claim["seeds"]),
        html.escape(claim["note"]),
    )
    mark = ' data-paper=""' if claim["paper"] else ""
    return f"<tr{mark}>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def chapters_of(claims: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A heading and a table for each chapter that makes claims, in the order of the book."""
    place = {name: number for number, name in enumerate(order())}
    ordered = sorted(claims, key=lambda claim: place[claim["chapter"]])
    for chapter, group in groupby(ordered, key=lambda claim: str(claim["chapter"])):
        rows = "\n".join(map(row, group))
        table = f'<table class="tl-ledger">\n<thead>{HEAD}</thead>\n<tbody>\n{rows}\n</tbody>\n</table>'
        yield f'## {title(chapter)}\n\n<div class="tl-table">\n{table}\n</div>\n'


def tables(claims: Sequence[Mapping[str, Any]]) -> str:
    """What takes the mark's place: the number of claims, a filter, and the tables."""
    with_paper = sum(bool(claim["paper"]) for claim in claims)
    count = (
        f"**{len(claims):,} claims, each asserted by a cell that ran; 0 are unasserted.** "
        f"{with_paper} of them stand beside a value that the paper gives.\n"
    )
    return "\n".join([count, FILTER, "", *chapters_of(claims)])
