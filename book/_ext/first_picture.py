"""The picture that plays by itself stands above the chapter's card, so that whoever opens the site sees it without scrolling.

A notebook must set up first, so there its cell comes after the card and the set-up; on the page the order is free.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.transforms import Transform
from sphinx.application import Sphinx


class FirstPicture(Transform):
    """Move the cell of the figure that plays by itself before the card of the same section; no such figure, nothing moves."""

    default_priority = 510  # after paper_markup, which makes the card

    def apply(self, **_: Any) -> None:
        """Move it."""
        for cell in list(self.document.findall(nodes.container)):
            if "cell" not in cell["classes"] or not any(" data-autoplay " in raw.astext() for raw in cell.findall(nodes.raw)):
                continue
            cards = [
                node for node in cell.parent.children if "tl-in-this-chapter" in getattr(node, "attributes", {}).get("classes", ())
            ]
            if cards:
                section = cell.parent
                section.remove(cell)
                section.insert(section.index(cards[0]), cell)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_transform(FirstPicture)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
