"""What only a build knows, put into the pages that ask for it: the ledger of claims, the version and date, how to cite.

A page asks with a comment, such as ``<!-- ledger -->``; every page gets a line at its foot.
"""

from __future__ import annotations

import datetime
import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools import ledger_page
from tools.settings import BOOK, ROOT, repository, site, version

CLAIMS = ROOT / "_build" / "claims.json"
ENTRY = re.compile(r"@\w+\{li2023,.*?\n\}", re.S)


@cache
def claims() -> list[dict[str, Any]]:
    """The claims of the executed chapters."""
    found: list[dict[str, Any]] = json.loads(CLAIMS.read_text())
    return found


def today() -> str:
    """The day of this build."""
    return f"{datetime.date.today():%-d %B %Y}"


def course_entry() -> str:
    """BibTeX of the course."""
    where = f"  url = {{{site() or repository()}}},\n" if site() else ""
    return (
        "@misc{how_transformers_learn_topic_structure_course,\n"
        "  author = {{The authors of the course}},\n"
        "  title = {How Transformers Learn Topic Structure: a hands-on course},\n"
        f"  year = {{{datetime.date.today().year}}}, note = {{Version {version()}}},\n{where}}}"
    )


def marks() -> dict[str, str]:
    """Comment -> what takes its place."""
    paper = ENTRY.search((BOOK / "references.bib").read_text())
    assert paper is not None
    made = claims()
    return {
        ledger_page.MARK: ledger_page.tables(made),
        "<!-- bibtex-paper -->": f"```bibtex\n{paper[0]}\n```",
        "<!-- bibtex-course -->": f"```bibtex\n{course_entry()}\n```",
        "<!-- build -->": f"Version {version()}, built and checked on {today()}: all {len(made):,} [claims](claims.md) hold.",
    }


def fill(_: Sphinx, docname: str, source: list[str]) -> None:
    """Put what the build knows where a page asks for it."""
    if "<!-- " in source[0] and not source[0].lstrip().startswith("{"):
        for mark, text in marks().items():
            source[0] = source[0].replace(mark, text)


def foot(_: Sphinx, __: str, ___: str, context: dict[str, Any], ____: Any) -> None:
    """The line at the foot of every page: version, date, claims; how to cite; licence."""
    ledger, about = (context["pathto"](f"book/{name}") for name in ("claims", "about"))
    context["theme_extra_footer"] = (
        f'<p>Version {version()}, built and checked on {today()}: <a href="{ledger}">{len(claims()):,} claims</a> hold. '
        f'<a href="{about}">How to cite, licence</a></p>'
    )


def allow_parallel(app: Sphinx) -> None:
    """Let Sphinx read with several processes: the extensions that do not say whether it may do nothing while a page is read."""
    for extension in app.extensions.values():
        if extension.parallel_read_safe is None:
            extension.parallel_read_safe = True


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("builder-inited", allow_parallel)
    app.connect("source-read", fill)
    app.connect("html-page-context", foot)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
