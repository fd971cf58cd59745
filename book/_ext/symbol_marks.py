"""Mark each formula of a chapter with the symbols that it holds, for the cards that explain them.

A formula gets the class ``tl-sym`` and a class ``sy-KEY`` for each symbol of ``book/symbols.yml``, in order of appearance. What
a letter means depends on the chapter, and in some on the section or the exercise; a folded solution belongs to its exercise.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.transforms import Transform
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools import notation

AT_MOST = 8
"""Symbols of one formula that are marked: a card must stay readable."""


class SymbolMarks(Transform):
    """See the module's docstring. Runs after the boxes of exercises are made."""

    default_priority = 510

    def apply(self, **_: Any) -> None:
        chapter = Path(self.document.settings.env.docname).name
        if chapter == notation.PAGE.stem or not notation.TABLE.exists():
            return
        table = by_base()
        slugs = {ident: slug for slug, (_, ident, _) in getattr(self.document, "myst_slugs", {}).items()}
        exercise = ""
        for node in self.document.findall(nodes.Element):
            if isinstance(node, nodes.section):
                exercise = ""
            elif isinstance(node, nodes.container):
                exercise = next((ident for ident in node["ids"] if ident.startswith("exercise-")), exercise)
            elif isinstance(node, (nodes.math, nodes.math_block)):
                inner = [f"{chapter}#{slug}" for slug in reversed(list(sections(node, slugs)))]
                scopes = [chapter, *inner, *([f"{chapter}#{exercise}"] if exercise else [])]
                keys = symbols(node.astext(), table, scopes)
                node["classes"] += ["tl-sym", *(f"sy-{key}" for key in keys)] if keys else []


@cache
def by_base() -> Mapping[str, Any]:
    """The table, read once for all pages."""
    return notation.load().by_base


def sections(node: nodes.Node, slugs: dict[str, str]) -> Iterator[str]:
    """The anchors of the sections around a node, from the inside, without the page itself."""
    parent = node.parent
    while parent is not None:
        if isinstance(parent, nodes.section) and not isinstance(parent.parent, nodes.document):
            yield from (slugs[ident] for ident in parent["ids"] if ident in slugs)
        parent = parent.parent


def symbols(tex: str, table: Mapping[str, Any], scopes: Sequence[str]) -> list[str]:
    """The keys of a formula's symbols, each once. A symbol that could mean several things is left out."""
    found = [means[0].key for _, means in notation.meanings(tex, table, scopes) if len(means) == 1]
    return list(dict.fromkeys(found))[:AT_MOST]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_transform(SymbolMarks)
    return {"version": "1", "parallel_read_safe": True}
