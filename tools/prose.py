"""Every number in a chapter's prose must be a claim: asserted in a cell of the same chapter."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from topiclib.claims import parse_number

LABELS = (
    "Sections?|Chapters?|Figures?|Tables?|Theorems?|Lemmas?|Assumptions?|Definitions?|Remarks?|Claims?|Appendix|Appendices|"
    "[Ee]quations?|eq\\.|Exercises?|Stages?|Steps?|Parts?|Points?|footnotes?|[Ee]rratum|Questions?|Python|version|"
    "Checks?|Experiments?|CC BY|BSD"
)
ITEM = r"\(?(?:(?-i:[A-E])(?:\.\d+)*\b|\d+(?:\.\d+)*)\)?"
LABELLED = re.compile(rf"\b({LABELS})[ \u00a0]{ITEM}((,| and| or| to|–)[ \u00a0]?{ITEM})*", re.I)
NUMBER = re.compile(r"(?<![\w.\-])[-−]?\d[\d,]*(?:\.\d+)?(?:[ \u00a0]?%)?|(?<![\w.])\.\d+")
MATH_NUMBER = re.compile(r"(?<![\w.^_{])\d[\d,]*\.?\d*(?:e-?\d+)?(?:[ \u00a0]?\\%)?")


def claims_of(notebook: Any) -> tuple[dict[str, str], list[str]]:
    """The claims of a notebook as {name: text}, read from its code, and findings about them."""
    claims: dict[str, str] = {}
    wrong: list[str] = []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        for node in ast.walk(ast.parse(re.sub(r"^[%!].*$", "", cell.source, flags=re.M))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "claim":
                values = [a.value if isinstance(a, ast.Constant) else None for a in node.args]
                if len(values) != 3 or not isinstance(values[0], str) or not isinstance(values[2], str):
                    wrong.append(f"cell {cell.id!r}: claim(name, value, says) needs its name and text as plain strings")
                elif values[0] in claims:
                    wrong.append(f"cell {cell.id!r}: claim {values[0]!r} occurs twice")
                else:
                    claims[values[0]] = values[2]
    return claims, wrong


def _plain(text: str) -> str:
    """Markdown without code, HTML tags, link targets, labels, years, heading numbers and list numbers."""
    text = re.sub(r"```.*?```", " ", text, flags=re.S)
    text = re.sub(r"`[^`]*`", " ", text)
    text = re.sub(r"<[^>]+>", " ", text)
    text = re.sub(r"\]\([^)]*\)", "] ", text)
    text = re.sub(r"https?://\S+", " ", text)
    text = re.sub(r"^\s*(?:>\s*)*- \*\*Time:.*$", " ", text, flags=re.M)
    text = re.sub(r"^(\s*(?:>\s*)*)(#+\s+\d+(\.\d+)*|\d+\.)\s", r"\1 ", text, flags=re.M)
    text = re.sub(r"^(#+)\s+[A-E]\.\d\S*", " ", text, flags=re.M)
    text = LABELLED.sub(" ", text)
    return re.sub(r"(?<![\d.,])(19|20)\d\d(?=[)\]])|(?<=ICML )20\d\d", " ", text)


def prose_findings(notebook: Any) -> Iterator[str]:
    """Numbers of the prose that no claim asserts, links to claims that are not there, texts that differ."""
    claims, wrong = claims_of(notebook)
    yield from wrong
    stated = {round(abs(parse_number(says)), 12) for says in claims.values()}
    linked: set[str] = set()
    for cell in notebook.cells:
        if cell.cell_type != "markdown" or "exercise" in cell.metadata:
            continue
        for text, name in re.findall(r"\[([^\]]*)\]\(#claim-([^)]*)\)", cell.source):
            linked.add(name)
            if name not in claims:
                yield f"cell {cell.id!r}: links to claim {name!r}, which no cell makes"
            elif text.strip("*$") != claims[name]:
                yield f"cell {cell.id!r}: the text says {text!r}, claim {name!r} says {claims[name]!r}"
        text = _plain(re.sub(r"\[[^\]]*\]\(#claim-[^)]*\)", " ", cell.source))
        maths = re.findall(r"\$\$(.+?)\$\$|\$([^$\n]+?)\$", text, flags=re.S)
        text = re.sub(r"\$\$.+?\$\$|\$[^$\n]+?\$", " ", text, flags=re.S)
        numbers = [n.strip().replace("\u00a0", " ") for n in NUMBER.findall(text)]
        for display, inline in maths:
            if doubled := re.search(r"\\\\[a-zA-Z]+", inline):
                yield f"cell {cell.id!r}: {doubled[0]!r} in a formula: one backslash too many"
            inside = re.sub(r"\\tag\{[^}]*\}|\\text\{[^}]*\}|\\hspace\{[^}]*\}", " ", display or inline)
            inside = re.sub(r"10\^\{(-?\d+)\}", r" 1e\1 ", inside)
            found = [n.strip(" ,.").replace("\\%", "%") for n in MATH_NUMBER.findall(inside)]
            # Single digits in formulas are part of the formula.
            numbers += [n for n in found if len(n) > 1]
        for number in numbers:
            try:
                value = round(abs(parse_number(number.rstrip(",."))), 12)
            except ValueError:
                value = float("nan")
            if value not in stated:
                yield f"cell {cell.id!r}: the number {number!r} is not asserted by a claim of this chapter"
    for name in sorted(set(claims) - linked):
        says = claims[name]
        power = re.sub(r"^1e(-?\d+)$", r"10^{\1}", says)
        used = any(says in c.source or power in c.source for c in notebook.cells if c.cell_type == "markdown")
        if not used:
            yield f"claim {name!r} ({says}) is nowhere in the text"
