"""Keep a formula of the text together with the punctuation around it.

To a browser a typeset formula is a box, and it may break a line beside a box. But no line should begin with the comma after a
formula, or end with the bracket before it.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.transforms import Transform
from sphinx.application import Sphinx

AROUND = "tl-whole"
"""Class of what holds the formula and its punctuation."""
BEFORE = re.compile(r"[(\[“‘|]+$")
AFTER = re.compile(r"[.,;:!?)\]”’%]+|(?:’s|-\w{1,4}\b)[.,;:!?)\]]*")


class Unbroken(Transform):
    """See the module's docstring. Runs when formulas have their classes."""

    default_priority = 520

    def apply(self, **_: Any) -> None:
        for formula in list(self.document.findall(nodes.math)):
            hold(formula)


def hold(formula: nodes.math) -> None:
    """Put a formula and the punctuation that touches it into one element; leave it alone where none does."""
    parent, at = formula.parent, formula.parent.index(formula)
    before, after = "", ""
    if at > 0 and isinstance(text := parent[at - 1], nodes.Text) and (match := BEFORE.search(text)):
        before = match[0]
        parent[at - 1] = nodes.Text(text[: match.start()])  # by its place: another text may be equal
    if at + 1 < len(parent) and isinstance(text := parent[at + 1], nodes.Text) and (match := AFTER.match(text)):
        after = match[0]
        parent[at + 1] = nodes.Text(text[match.end() :])
    if before or after:
        whole = nodes.inline("", "", classes=[AROUND])
        parent[at] = whole
        whole += [nodes.Text(before)] * bool(before) + [formula] + [nodes.Text(after)] * bool(after)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_transform(Unbroken)
    return {"version": "1", "parallel_read_safe": True}
