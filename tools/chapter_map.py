"""The map of the chapters, from their cards: ``python -m tools.chapter_map sync`` writes ``book/map.md``, ``check`` compares.

A drawing with an arrow from what a chapter needs to the chapter, and below it the same as a table, with minutes and aims.
"""

from __future__ import annotations

import html
import re
import sys
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from tools.notebooks import read
from tools.objectives import order, title
from tools.settings import BOOK, ROOT, contents

PAGE = BOOK / "map.md"
LINES_OF_CARD = ("Paper", "Time", "Before", "After")
CARD = re.compile(rf"\*\*({'|'.join(LINES_OF_CARD)}):\*\* (.*)")
MINUTES = re.compile(r"(\d+) minutes to read; the cells run in about (\d+ (?:s|minutes))")
NUMBER = re.compile(r"(\d[\d.]*( continued)?|Appendix [A-Z][\d.]*)\b")
CHAPTER = re.compile(r"\((\w+)\.ipynb")
ACROSS = 3
"""Boxes in a row, so that they can be read on a page of text."""
WIDE, HIGH, GAP, BETWEEN = 196, 76, 20, 40
LINES, LETTERS = 3, 25

HEAD = """\
# Map of the chapters

An arrow leads from a chapter to those that build on it; what a chapter needs through another is left out. Sections 1 to 5 are the
paper's argument, Sections 6 to 9 the experiments, the appendices the proofs. Each box has the minutes to read, and what the cells
take to run on two CPU cores. [Section 7](07_related_work.md), a guide to the literature, and the [errata](errata.ipynb) need no
chapter and have no box.

"""


@dataclass(frozen=True)
class Card:
    """What a chapter's card says: the chapters needed before, minutes to read, the time that the cells run, the aim."""

    title: str
    before: tuple[str, ...]
    minutes: int
    runs: str
    after: str


def cards() -> dict[str, Card]:
    """Every chapter's card, in the order of the book; ValueError for one that does not say what it must."""
    found: dict[str, Card] = {}
    names = order()
    for name in names:
        lines = dict(CARD.findall(read(BOOK / f"{name}.ipynb").cells[0].source))
        if missing := [line for line in LINES_OF_CARD if line not in lines]:
            raise ValueError(f"{name}: the card has no line '**{missing[0]}:** ...'")
        time = MINUTES.search(lines["Time"])
        if time is None:
            raise ValueError(
                f"{name}: the card's time is {lines['Time']!r}, must be 'N minutes to read; the cells run in about N s ...'"
            )
        before = tuple(dict.fromkeys(part for part in CHAPTER.findall(lines["Before"]) if part in names and part != name))
        found[name] = Card(title(name), before, int(time[1]), duration(time[2]), lines["After"])
    return found


def duration(time: str) -> str:
    """The time of a card in short, in one unit for what is alike: ``"150 s"`` is ``2.5 min``."""
    number, unit = time.split()
    minutes = float(number) if unit == "minutes" else float(number) / 60
    return f"{number} s" if unit == "s" and minutes < 1.5 else f"{round(2 * minutes) / 2:g} min"


def needed_first(found: Mapping[str, Card], name: str) -> set[str]:
    """All chapters that ``name`` needs, through others too; ValueError where chapters need each other."""
    seen: set[str] = set()
    waiting = list(found[name].before)
    while waiting:
        if (part := waiting.pop()) == name:
            raise ValueError(f"{name} needs itself, through the chapters that cards name under 'Before'")
        if part not in seen:
            seen.add(part)
            waiting += found[part].before
    return seen


def arrows(found: Mapping[str, Card]) -> dict[str, list[str]]:
    """Chapter -> the chapters it needs and does not need through another."""
    return {
        name: [part for part in card.before if not any(part in needed_first(found, other) for other in card.before)]
        for name, card in found.items()
    }


def rows(found: Mapping[str, Card], links: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The chapters in rows: arrows lead down, or to the right where each chapter of a row needs the one before it.

    A chapter that needs none and that none needs, such as the errata, has no box.
    """
    depth: dict[str, int] = {}
    for name in sorted(found, key=lambda name: len(needed_first(found, name))):
        depth[name] = 1 + max((depth[part] for part in links[name]), default=-1)
    needed = {part for parts in links.values() for part in parts}
    levels: list[list[str]] = [[] for _ in range(1 + max(depth.values()))]
    for name in found:
        if links[name] or name in needed:
            levels[depth[name]].append(name)
    result: list[list[str]] = []
    chain: list[str] = []
    for level in levels:
        if len(level) == 1 and (not chain or chain[-1] in links[level[0]]) and len(chain) < ACROSS:
            chain.append(level[0])
            continue
        result += [chain] if chain else []
        chain = level if len(level) == 1 else []
        if not chain:
            result += [level[start : start + ACROSS] for start in range(0, len(level), ACROSS)]
    return result + ([chain] if chain else [])


def box(name: str, card: Card, x: float, y: float) -> str:
    """A chapter's box with its title, which leads to it, and its times."""
    lines = textwrap.wrap(card.title, LETTERS, max_lines=LINES, placeholder=" …", break_on_hyphens=False)
    middle, top = x + WIDE / 2, y + 40 - 7 * len(lines)
    spans = "".join(
        f'<text class="tl-map-title" x="{middle:g}" y="{top + 15 * number:g}">{html.escape(line)}</text>'
        for number, line in enumerate(lines)
    )
    times = f'<text class="tl-map-time" x="{middle:g}" y="{y + HIGH - 9:g}">{card.minutes} min · {card.runs}</text>'
    frame = f'<rect x="{x:g}" y="{y:g}" width="{WIDE}" height="{HIGH}" rx="5"/>'
    return f'<a href="{name}.html" aria-label="{html.escape(card.title)}">{frame}{spans}{times}</a>'


def way(
    start: tuple[float, float],
    end: tuple[float, float],
    between: Sequence[tuple[float, Sequence[float]]],
    taken: Counter[tuple[float, float]],
) -> str:
    """The path of an arrow from one box's lower edge down to another's upper edge, past the rows between them.

    ``between`` has, for each of these rows, its upper edge and the left edges of its boxes: the arrow goes through the gap
    that is nearest to the straight line. ``taken`` counts the arrows at a place, so that the next one runs beside them.
    """
    (x, y), bend = start, BETWEEN * 0.8
    path = f"M{x:g} {y:g}"
    for top, lefts in between:
        lane = start[0] + (end[0] - start[0]) * (top - start[1]) / (end[1] - start[1])
        gaps = [lefts[0] - GAP / 2, *(left + WIDE + GAP / 2 for left in lefts)]
        if gaps[0] < lane < gaps[-1]:
            lane = min((abs(gap - lane), gap) for gap in gaps)[1]
        taken[top, lane] += 1
        lane += 5 * (taken[top, lane] // 2) * (-1) ** taken[top, lane]
        path += f"C{x:g} {y + bend:g} {lane:g} {top - bend:g} {lane:g} {top:g}V{top + HIGH:g}"
        x, y = lane, top + HIGH
    u, w = end
    return path + f"C{x:g} {y + bend:g} {u:g} {w - bend:g} {u:g} {w - 2:g}"


def drawing(found: Mapping[str, Card]) -> str:
    """The map as SVG."""
    links = arrows(found)
    ordered = rows(found, links)
    width = ACROSS * WIDE + (ACROSS - 1) * GAP
    at: dict[str, tuple[float, float]] = {}
    for number, names in enumerate(ordered):
        start = (width - len(names) * WIDE - (len(names) - 1) * GAP) / 2
        at |= {name: (start + k * (WIDE + GAP), 4 + number * (HIGH + BETWEEN)) for k, name in enumerate(names)}
    curves, taken = [], Counter[tuple[float, float]]()
    for name, parts in links.items():
        for part in parts:
            (x, y), (u, w) = at[part], at[name]
            if y == w:
                curves.append(f'<path d="M{x + WIDE:g} {y + HIGH / 2:g}L{u - 2:g} {y + HIGH / 2:g}" marker-end="url(#tl-arrow)"/>')
                continue
            between = [(at[row[0]][1], [at[one][0] for one in row]) for row in ordered if y < at[row[0]][1] < w]
            path = way((x + WIDE / 2, y + HIGH), (u + WIDE / 2, w), between, taken)
            curves.append(f'<path d="{path}" marker-end="url(#tl-arrow)"/>')
    height = len(ordered) * (HIGH + BETWEEN) - BETWEEN + 8
    arrow = (
        '<defs><marker id="tl-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z"/></marker></defs>'
    )
    boxes = "\n".join(box(name, found[name], *place) for name, place in at.items())
    label = "Map of the chapters; the table below says the same"
    return (
        f'<div class="tl-map">\n<svg viewBox="{-GAP} 0 {width + 2 * GAP} {height}" role="group" aria-label="{label}">\n{arrow}\n'
        + "\n".join(curves)
        + f"\n{boxes}\n</svg>\n</div>\n"
    )


def short(title: str) -> str:
    """A chapter's number alone, where its title has one: ``6.1 continued``, ``Appendix A``."""
    number = NUMBER.match(title)
    return number[0] if number else title


def table(found: Mapping[str, Card]) -> str:
    """The same as a table."""
    lines = ["| Chapter | Afterwards |", "|---|---|"]
    for name, card in found.items():
        needs = ", ".join(f"[{short(found[part].title)}]({part}.ipynb)" for part in card.before) or "nothing"
        times = f"{card.minutes} min to read, cells {card.runs}".replace(" min", "\u00a0min").replace(" s", "\u00a0s")
        lines.append(f"| [{card.title}]({name}.ipynb)<br>{times}; needs {needs} | {card.after} |")
    return "\n".join(lines) + "\n"


def page() -> str:
    """The whole page."""
    found = cards()
    hours = round(sum(card.minutes for card in found.values()) / 60)
    whole = f"## Minutes, needs and aims\n\nTo read all of it takes about {hours} hours, without the exercises.\n\n"
    return HEAD + drawing(found) + "\n" + whole + table(found)


def findings() -> list[str]:
    """What is wrong with the cards, or with the page that is made from them; nothing while the contents do not list it."""
    if PAGE.stem not in contents():
        return []
    try:
        new = page()
    except ValueError as error:
        return [f"map of the chapters: {error}"]
    there = PAGE.exists() and PAGE.read_text() == new
    return [] if there else [f"{PAGE.relative_to(ROOT)} is not in step: run 'make notebooks'"]


def main(arguments: list[str]) -> int:
    """Run ``sync`` or ``check``."""
    if arguments not in (["sync"], ["check"]):
        print("usage: python -m tools.chapter_map sync|check", file=sys.stderr)
        return 2
    if arguments == ["sync"]:
        with suppress(ValueError):  # a finding
            PAGE.write_text(page())
    found = findings()
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
