"""The notebooks that Colab opens: the chapters as they are, with every link led to the page of the rendered book.

The site holds them in its folder ``colab``; where it is published on the branch ``gh-pages``, the launch button of a page opens
its chapter from there. While the repository has no public address, a link is its text alone.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tools.notebooks import chapters, read, write
from tools.settings import repository, site

PAGES_BRANCH = "gh-pages"
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((#[^)\s]+|[\w./-]+\.(?:ipynb|md)(?:#[^)\s]*)?)\)")
# Links stand in no code, and in no formula.
SPAN = re.compile(r"(```.*?```|`[^`\n]*`|\$\$.*?\$\$|(?<!\\)\$[^$\n]+\$)", re.S)


def launch_address(chapter: str) -> str | None:
    """Where Colab opens a chapter; None while the repository has no public address on GitHub."""
    if site() is None:
        return None
    path = repository().removeprefix("https://").removeprefix("github.com/").removesuffix(".git")
    return f"https://colab.research.google.com/github/{path}/blob/{PAGES_BRANCH}/colab/{chapter}.ipynb"


def resolved(text: str, chapter: str) -> str:
    """Markdown of a chapter with links to pages of the site, or without links where there is no site."""

    def link(match: re.Match[str]) -> str:
        words, target = match[1], match[2]
        if site() is None:
            return words
        page, _, anchor = target.partition("#")
        page = re.sub(r"\.(ipynb|md)$", ".html", page) if page else f"{chapter}.html"
        return f"[{words}]({site()}/book/{page}" + (f"#{anchor})" if anchor else ")")

    # A link's words may hold a formula: a formula or code that stands in none is put aside first.
    kept: list[str] = []

    def aside(match: re.Match[str]) -> str:
        kept.append(match[0])
        return f"\0{len(kept) - 1}\0"

    plain = LINK.sub(link, SPAN.sub(aside, text))
    return re.sub(r"\0(\d+)\0", lambda match: kept[int(match[1])], plain)


def edition(path: Path) -> Any:
    """A chapter's notebook for Colab."""
    notebook = read(path)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = resolved(cell.source, path.stem)
    if address := site():
        notebook.cells[0].source += f"\n\nThis chapter with its results, to read: {address}/book/{path.stem}.html"
    notebook.metadata["colab"] = {"name": f"{path.stem}.ipynb", "toc_visible": True}
    return notebook


def write_editions(folder: Path) -> None:
    """Write the notebook of every chapter."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in chapters():
        write(folder / path.name, edition(path))
