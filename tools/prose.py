"""Every number in a chapter's prose must be a claim: asserted in a cell of the same chapter, or of the one it links to."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from topiclib.claims import parse_number

LABELS = (
    "Sections?|Chapters?|Figures?|Tables?|Theorems?|Lemmas?|Assumptions?|Definitions?|Remarks?|Claims?|Appendix|Appendices|"
    "[Ee]quations?|eq\\.|Exercises?|Stages?|Steps?|Parts?|Points?|footnotes?|[Ee]rratum|Questions?|Python|version|"
    "Checks?|Experiments?|CC BY(?:-SA)?|BSD"
)
ITEM = r"\(?(?:(?-i:[A-E])(?:\.\d+)*\b|\d+(?:\.\d+)*)\)?"
LABELLED = re.compile(rf"\b({LABELS})[ \u00a0]{ITEM}((,| and| or| to|–)[ \u00a0]?{ITEM})*", re.I)
NUMBER = re.compile(r"(?<![\w.\-])[-−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?(?:[ \u00a0]?%)?|(?<![\w.])\.\d+|[¼-¾⅐-⅞]")
MATH_NUMBER = re.compile(r"(?<![\w.^_{])\d[\d,]*\.?\d*(?:e-?\d+)?(?:[ \u00a0]?\\%)?")


LINKED = re.compile(r"\[([^\]]*)\]\((?:([\w]+)\.ipynb)?#claim-([^)]*)\)")
GLUED = re.compile(rf"(?<![\w)\]])[-−]{LINKED.pattern}|{LINKED.pattern}(?:[ \u00a0]?(?:%|±|×)|[ \u00a0]percent\b|e[-+]?\d)")
"""What would change the number that a link's text shows: a sign before it, or a unit, a tolerance or a power after it."""
OPPOSITE = {"at most": "at least", "at least": "at most"}
"""Not "more than" and the like: "no weight by more than 0.1" is right."""


class Stated(NamedTuple):
    """What a claim says in the text, and its tolerance if that is a plain number."""

    says: str
    tol: float | None
    bound: str = "equal"

    def texts(self) -> set[str]:
        """How a link may print it: ``0.34``, or ``0.34 ± 0.01`` with the tolerance that is asserted."""
        if self.tol is None:
            return {self.says}
        percent = self.says.endswith("%")
        tol = re.sub(r"e-0", "e-", f"{self.tol * (100 if percent else 1):,.6g}")
        return {self.says, f"{self.says} ± {tol}{'%' if percent else ''}"}


def claims_of(notebook: Any) -> tuple[dict[str, Stated], list[str]]:
    """The claims of a notebook by name, read from its code, and findings about them."""
    claims: dict[str, Stated] = {}
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
                    given = {k.arg: k.value.value for k in node.keywords if isinstance(k.value, ast.Constant)}
                    tol = given.get("tol", 0.0 if all(k.arg != "tol" for k in node.keywords) else None)
                    # A bound that is not a plain text could be any.
                    bound = str(given.get("bound", "equal" if all(k.arg not in ("bound", None) for k in node.keywords) else ""))
                    equal = bound == "equal" and isinstance(tol, (int, float)) and tol > 0
                    claims[values[0]] = Stated(values[2], tol if equal else None, bound)  # type: ignore[arg-type]
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


def no_other(_: str) -> Mapping[str, Stated]:
    """For a notebook on its own: no other chapter has claims."""
    return {}


def prose_findings(notebook: Any, claims_in: Callable[[str], Mapping[str, Stated]] = no_other) -> Iterator[str]:
    """Numbers of the prose that no claim asserts, links to claims that are not there, texts that differ.

    ``claims_in`` gives the claims of another chapter by its name, for links such as ``[0.34](05_1_two_stages.ipynb#claim-x)``.
    """
    claims, wrong = claims_of(notebook)
    yield from wrong
    stated = {round(abs(parse_number(claim.says)), 12) for claim in claims.values()}
    linked: set[str] = set()
    for cell in notebook.cells:
        if cell.cell_type != "markdown" or "exercise" in cell.metadata:
            continue
        for text, chapter, name in LINKED.findall(cell.source):
            found = claims_in(chapter) if chapter else claims
            where = f" of {chapter}" if chapter else ""
            link = re.escape(f"{chapter}.ipynb#claim-{name}" if chapter else f"#claim-{name}")
            if not chapter:
                linked.add(name)
            if name not in found:
                yield f"cell {cell.id!r}: links to claim {name!r}{where}, which no cell makes"
            elif text.strip("*$") not in found[name].texts():
                yield f"cell {cell.id!r}: the text says {text!r}, claim {name!r}{where} says {found[name].says!r}"
            elif re.search(rf"\b{OPPOSITE.get(found[name].bound, '(?!)')} \[[^\]]*\]\({link}\)", cell.source, re.I):
                yield f"cell {cell.id!r}: claim {name!r}{where} says {found[name].bound} {found[name].says}, the text the opposite"
        for glued in GLUED.finditer(cell.source):
            yield f"cell {cell.id!r}: {glued[0]!r}: a sign, a unit or a tolerance belongs into the link's text"
        for target in re.findall(r"#claim-", LINKED.sub(" ", re.sub(r"`[^`]*`", " ", cell.source))):
            yield f"cell {cell.id!r}: a link to {target!r} that is not [number](#claim-name) or [number](chapter.ipynb#claim-name)"
        text = _plain(LINKED.sub(" ", cell.source))
        maths = re.findall(r"\$\$(.+?)\$\$|\$([^$\n]+?)\$", text, flags=re.S)
        text = re.sub(r"\$\$.+?\$\$|\$[^$\n]+?\$", " ", text, flags=re.S)
        numbers = [n.strip().replace("\u00a0", " ") for n in NUMBER.findall(text)]
        for display, inline in maths:
            if doubled := re.search(r"\\\\[a-zA-Z]+", inline):
                yield f"cell {cell.id!r}: {doubled[0]!r} in a formula: one backslash too many"
            inside = re.sub(r"\\tag\{[^}]*\}|\\text\{[^}]*\}|\\hspace\{[^}]*\}", " ", display or inline)
            inside = re.sub(r"10\^\{(-?\d+)\}", r" 1e\1 ", inside)
            inner = [n.strip(" ,.").replace("\\%", "%") for n in MATH_NUMBER.findall(inside)]
            # Single digits in formulas are part of the formula.
            numbers += [n for n in inner if len(n) > 1]
        for number in numbers:
            try:
                value = round(abs(parse_number(number.rstrip(",."))), 12)
            except ValueError:
                value = float("nan")
            if value not in stated:
                yield f"cell {cell.id!r}: the number {number!r} is not asserted by a claim of this chapter"
    for name in sorted(set(claims) - linked):
        says = claims[name].says
        power = re.sub(r"^1e(-?\d+)$", r"10^{\1}", says)
        used = any(says in c.source or power in c.source for c in notebook.cells if c.cell_type == "markdown")
        if not used:
            yield f"claim {name!r} ({says}) is nowhere in the text"
