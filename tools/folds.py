"""Fold long runs of checked numbers on the rendered pages: they are there for who asks, and do not interrupt who reads."""

from __future__ import annotations

import re
from pathlib import Path

AT_LEAST = 4
"""Checked numbers one after the other that are folded; a few stay open."""
RUN = re.compile(
    r'(?:<div class="output text_html"><div class="tl-assertion"(?:(?!</div>).)*</div></div>\s*){' + f"{AT_LEAST}," + "}", re.S
)


def fold_runs(page: str) -> str:
    """The page's HTML with its long runs folded, each under a line that says how many there are."""

    def folded(match: re.Match[str]) -> str:
        count = match[0].count('class="tl-assertion"')
        summary = f'<summary><span aria-hidden="true">✓</span> {count} numbers of the text, checked</summary>'
        return f'<details class="tl-checked">{summary}{match[0]}</details>'

    return RUN.sub(folded, page)


def fold(site: Path) -> None:
    """Do so on every page of a chapter."""
    for path in sorted((site / "book").glob("*.html")):
        path.write_text(fold_runs(path.read_text()))
