"""The table of symbols, ``book/symbols.yml``: the page that is made from it, and a check of every chapter's formulas against it.

``python -m tools.notation sync`` writes ``book/glossary.md``; ``check`` only reports, and exits 1 on a finding.
A symbol holds in the whole book, or in the scopes that it lists: chapters (``05_1_two_stages``), or a section or an exercise of
one by its anchor (``appendix_c#ridge``). The narrower scope wins. Two meanings of one symbol in the same scope are a finding,
and so is a symbol that stands in a formula and not in the table. The table is on once ``_toc.yml`` lists ``book/glossary``.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from myst_parser.mdit_to_docutils.base import default_slugify
from sphinx_external_toc.parsing import parse_toc_yaml

from tools.notebooks import chapters, read
from tools.objectives import order
from tools.results_map import anchors, title
from tools.settings import BOOK, ROOT
from tools.tex import Atom, atom, atoms, formulas, tokens

TABLE = BOOK / "symbols.yml"
PAGE = BOOK / "glossary.md"
TOC = ROOT / "_toc.yml"
PRESENTS = ("preface",)
"""Chapters that introduce the notation, clashes included: there a symbol may stand for any of its meanings."""
HEADING = re.compile(r"^(#{1,6}) +(.+?) *$", re.M)
MARKUP = re.compile(r"\$[^$]*\$|[*`\\\[]|\]\([^)]*\)|\]")
"""What MyST leaves out of a heading when it makes an anchor of it."""
FENCE = re.compile(r"^```.*?^```", re.M | re.S)
LOCAL = "Letters of one chapter"
FIELDS, OPTIONAL = ("tex", "means", "place"), ("code", "chapters")

INTRODUCTION = """\
# Symbols and terms

What the course's symbols and words mean, all in one place. Symbols are the paper's where the paper has them. A symbol that
stands in a formula of a chapter and not in this table fails the build, and so does one that means two things at the same place.

The page is made from `book/symbols.yml`. In code, a matrix or a probability keeps its letter, and a count becomes a word.
"""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A row of the table: what it means, and the link to where that is said."""

    key: str
    means: str
    place: str


@dataclass(frozen=True, kw_only=True)
class Symbol(Entry):
    """A symbol with its spellings. No ``scopes``: the meaning holds in the whole book."""

    tex: tuple[str, ...]
    atoms: tuple[Atom, ...]
    kind: str
    code: str = ""
    scopes: tuple[str, ...] = ()

    @property
    def local(self) -> bool:
        """Whether it is a letter that one chapter, section or exercise makes its own."""
        return self.kind == LOCAL


@dataclass(frozen=True, kw_only=True)
class Term(Entry):
    """A word of the course."""

    name: str


@dataclass(frozen=True)
class Table:
    """Symbols and terms in the order of the file, and what is wrong with the file itself."""

    symbols: tuple[Symbol, ...]
    terms: tuple[Term, ...]
    findings: tuple[str, ...] = ()

    @property
    def by_base(self) -> Mapping[str, list[tuple[Symbol, Atom]]]:
        """The symbols and their spellings, by the letter."""
        found: dict[str, list[tuple[Symbol, Atom]]] = defaultdict(list)
        for symbol in self.symbols:
            for spelled in symbol.atoms:
                found[spelled.base].append((symbol, spelled))
        return found


def active() -> bool:
    """Whether the book has the page."""
    return f"book/{PAGE.stem}" in parse_toc_yaml(TOC)


class _Loader(yaml.SafeLoader):
    """YAML in which a key that occurs twice is an error, where PyYAML keeps the second and forgets the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """The mapping; a ValueError if a key occurs twice."""
        keys = [self.construct_object(key, deep=deep) for key, _ in node.value]
        if twice := sorted({str(key) for key in keys if keys.count(key) > 1}):
            raise ValueError(f"{TABLE.name}, line {node.start_mark.line + 1}: {twice[0]!r} occurs twice")
        return super().construct_mapping(node, deep)


def load(path: Path | None = None) -> Table:
    """Read the table from ``path``, by default ``book/symbols.yml``.

    Raises:
        ValueError: If a key occurs twice in one group.
    """
    data = yaml.load((path or TABLE).read_text(encoding="utf-8"), _Loader)
    found: list[str] = []
    symbols: list[Symbol] = []
    for kind, rows in data["symbols"].items():
        symbols += [_symbol(key, row, kind, found) for key, row in rows.items() if _whole(key, row, FIELDS, found)]
    for scope, rows in data["local"].items():
        chapter, _, anchor = scope.partition("#")
        given = {"place": f"{chapter}.ipynb" + (f"#{anchor}" if anchor else ""), "chapters": [scope]}
        symbols += [_symbol(key, given | row, LOCAL, found) for key, row in rows.items() if _whole(key, given | row, FIELDS, found)]
    terms = [
        Term(key=key, name=row["term"], means=row["means"], place=row["place"])
        for key, row in data["terms"].items()
        if _whole(key, row, ("term", "means", "place"), found)
    ]
    entries: list[Entry] = [*symbols, *terms]
    for kind, rows in (("symbol", symbols), ("term", terms)):
        keys = [row.key for row in rows]
        found += [f"{key}: the key of a {kind} occurs twice" for key in sorted({key for key in keys if keys.count(key) > 1})]
    for entry in entries:
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", entry.key):
            found.append(f"{entry.key}: a key is made of lower-case words and hyphens")
        if not entry.means.endswith("."):
            found.append(f"{entry.key}: its meaning must end with a full stop")
    return Table(tuple(symbols), tuple(terms), tuple(found))


def _whole(key: str, row: Mapping[str, Any], needed: Sequence[str], found: list[str]) -> bool:
    """Whether a row has what it needs; what is missing or unknown goes to ``found``."""
    missing, unknown = set(needed) - set(row), set(row) - set(needed) - set(OPTIONAL)
    found += [f"{key}: has no {name!r}" for name in sorted(missing)]
    found += [f"{key}: {name!r} is no field" for name in sorted(unknown)]
    return not missing


def _symbol(key: str, row: Mapping[str, Any], kind: str, found: list[str]) -> Symbol:
    """A symbol from its row; what is wrong with its spellings goes to ``found``."""
    tex = [row["tex"]] if isinstance(row["tex"], str) else row["tex"]
    spelled = []
    for spelling in tex:
        try:
            spelled.append(atom(spelling))
        except ValueError as error:
            found.append(f"{key}: {error}")
    return Symbol(
        key=key,
        means=row["means"],
        place=row["place"],
        tex=tuple(tex),
        atoms=tuple(spelled),
        kind=kind,
        code=row.get("code", ""),
        scopes=tuple(row.get("chapters", ())),
    )


# Reading formulas


def meanings(
    tex: str, table: Mapping[str, list[tuple[Symbol, Atom]]], scopes: Sequence[str]
) -> Iterator[tuple[Atom, list[Symbol]]]:
    """The symbols of a formula in order of appearance, each with what it means within ``scopes``, which go from wide to narrow.

    The longest spelling that fits wins, then the narrowest scope. What that spelling leaves of the indices is read by itself.
    """
    yield from _meanings(atoms(tokens(tex)), table, scopes)


def _meanings(
    found: Iterable[Atom], table: Mapping[str, list[tuple[Symbol, Atom]]], scopes: Sequence[str]
) -> Iterator[tuple[Atom, list[Symbol]]]:
    for one in found:
        fits: dict[tuple[int, int], list[tuple[Symbol, Atom]]] = defaultdict(list)
        for symbol, spelled in table.get(one.base, ()):
            depth = _depth(symbol, scopes)
            if depth is not None and one.begins_with(spelled):
                fits[len(spelled.sub) + len(spelled.sup), depth].append((symbol, spelled))
        best = fits[max(fits)] if fits else []
        if best or not one.is_word():
            yield one, [symbol for symbol, _ in best]
        used = best[0][1] if best else Atom(one.base)
        for rest in (one.sub[len(used.sub) :], one.sup[len(used.sup) :]):
            yield from _meanings(atoms(rest), table, scopes)


def _depth(symbol: Symbol, scopes: Sequence[str]) -> int | None:
    """How narrow the scope is in which the symbol holds here: 0 for the book or a chapter; None where it does not hold."""
    if not symbol.scopes or scopes[0] in PRESENTS:
        return 0
    depths = [depth for depth, scope in enumerate(scopes) if scope in symbol.scopes]
    return max(depths, default=None)


@dataclass(frozen=True)
class Formula:
    """A formula with the cell in which it stands and its scopes, from the chapter down to the section or the exercise."""

    cell: str
    tex: str
    scopes: tuple[str, ...]


def chapter_formulas(notebook: Any, chapter: str) -> Iterator[Formula]:
    """The formulas of a chapter's Markdown."""
    sections: list[tuple[int, str]] = []
    seen: dict[str, int] = defaultdict(int)
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        text = FENCE.sub(lambda fence: " " * len(fence[0]), cell.source)
        marks: list[tuple[int, str, Any]] = [(match.start(), "heading", match) for match in HEADING.finditer(text)]
        marks += [(start, "formula", tex) for start, tex in formulas(cell.source)]
        for _, what, found in sorted(marks, key=lambda mark: (mark[0], mark[1] != "heading")):
            if what == "heading":
                level, slug = len(found[1]), default_slugify(MARKUP.sub("", found[2]))
                seen[slug] += 1
                slug += f"-{seen[slug] - 1}" if seen[slug] > 1 else ""
                sections = [*(section for section in sections if section[0] < level), (level, slug)]
            else:
                inner = [f"{chapter}#{slug}" for level, slug in sections if level > 1]
                exercise = [f"{chapter}#{cell.id}"] if "exercise" in cell.metadata else []
                yield Formula(cell.id, found, (chapter, *inner, *exercise))


# The check


@cache
def _places(file: str) -> frozenset[str] | None:
    """The anchors of a chapter; None if the book has no such chapter."""
    path = BOOK / file
    return frozenset(anchors(read(path))) if path.suffix == ".ipynb" and path.is_file() else None


def clashes(table: Table) -> Iterator[str]:
    """Spellings that two entries claim in the same scope."""
    claims: dict[Atom, list[Symbol]] = defaultdict(list)
    for symbol in table.symbols:
        for spelled in symbol.atoms:
            claims[spelled].append(symbol)
    for spelled, symbols in claims.items():
        for number, first in enumerate(symbols):
            for second in symbols[number + 1 :]:
                for scope in _shared(first, second):
                    yield f"{scope}: {spelled} means two things, {first.key} and {second.key}"


def _shared(first: Symbol, second: Symbol) -> list[str]:
    """The scopes in which both hold; a section's own meaning hides the chapter's and the book's."""
    if not first.scopes and not second.scopes:
        return ["the whole book"]
    if first.scopes and second.scopes:
        return sorted(set(first.scopes) & set(second.scopes))
    return [scope for scope in first.scopes or second.scopes if "#" not in scope]


def library_names() -> set[str]:
    """Every word of the library's source."""
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "topiclib").rglob("*.py"))
    return {name for source in sources for name in re.findall(r"\w+", source)}


def place_findings(table: Table) -> Iterator[str]:
    """Links to what is not there, scopes that are no chapter, code that the library does not have."""
    names = library_names()
    entries: list[Entry] = [*table.symbols, *table.terms]
    for entry in entries:
        links = {entry.place}
        if isinstance(entry, Symbol):
            links |= {f"{chapter}.ipynb#{anchor}".rstrip("#") for chapter, _, anchor in (s.partition("#") for s in entry.scopes)}
            for name in sorted(set(re.findall(r"[A-Za-z_]\w*", re.sub(r"\.\.\.", "", entry.code))) - names):
                yield f"{entry.key}: its code says {name!r}, which is nowhere in topiclib"
        for link in sorted(links):
            file, _, anchor = link.partition("#")
            there = _places(file)
            if there is None:
                yield f"{entry.key}: {file!r} is no chapter of book/"
            elif anchor and anchor not in there:
                yield f"{entry.key}: {file} has no anchor {anchor!r}"


def use_findings(table: Table, notebooks: Mapping[str, Any]) -> Iterator[str]:
    """Symbols that stand in a chapter and not in the table, and rows that no chapter uses."""
    by_base = table.by_base
    spellings: set[tuple[str, Atom]] = set()
    scopes: set[tuple[str, str]] = set()
    for chapter, notebook in notebooks.items():
        said: set[tuple[str, str]] = set()
        for formula in chapter_formulas(notebook, chapter):
            for one, symbols in meanings(formula.tex, by_base, formula.scopes):
                if not symbols and (formula.cell, str(one)) not in said:
                    said.add((formula.cell, str(one)))
                    yield f"{chapter}, cell {formula.cell!r}: the symbol {one} is not in the table"
                for symbol in symbols:
                    spellings |= {(symbol.key, spelled) for spelled in symbol.atoms if one.begins_with(spelled)}
                    scopes |= {(symbol.key, scope) for scope in formula.scopes}
    for symbol in table.symbols:
        unused = [spelled for spelled in symbol.atoms if (symbol.key, spelled) not in spellings]
        yield from (f"{symbol.key}: no chapter uses {spelled} in this meaning" for spelled in unused)
        if len(unused) < len(symbol.atoms):
            idle = [scope for scope in symbol.scopes if (symbol.key, scope) not in scopes]
            yield from (f"{symbol.key}: {scope} is in its list and does not use it" for scope in idle)


def findings() -> list[str]:
    """What is wrong with the table, the chapters' symbols and the page, a line each; nothing while the book has no such page."""
    if not active():
        return []
    try:
        table = load()
    except (ValueError, yaml.YAMLError) as error:
        return [str(error)]
    found = [*table.findings, *clashes(table), *place_findings(table)]
    found += use_findings(table, {path.stem: read(path) for path in chapters()})
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page(table):
        found.append(f"book/{PAGE.name} is out of date: run 'make notebooks'")
    return found


# The page


@cache
def _title(file: str) -> str:
    """A chapter's title for a link; its file name if it has none."""
    path = BOOK / file
    return title(read(path)) if path.is_file() and path.suffix == ".ipynb" else file


def _where(place: str) -> str:
    file, _, anchor = place.partition("#")
    short = _short(file.removesuffix(".ipynb"))
    label = "An exercise" if anchor.startswith("exercise-") else f"Section {short}" if short[0].isdigit() else short
    return f'<span class="tl-short">[{label}]({place})</span>'


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(re.sub(r"(?<!\\)\|", r"\\|", " ".join(cell.split())) for cell in line) + " |" for line in lines
    )


def _anchor(symbol: Symbol) -> str:
    return f'<span id="symbol-{symbol.key}"></span>'


def _tex(symbol: Symbol) -> str:
    return ", ".join(f"${tex}$" for tex in symbol.tex)


def _anchored(symbol: Symbol) -> str:
    return _anchor(symbol) + _tex(symbol)


def _means(symbol: Symbol) -> str:
    """The meaning; with it the chapters where it holds, if the book gives the letter another meaning elsewhere."""
    held = {scope.partition("#")[0] for scope in symbol.scopes}
    if symbol.local or not held:
        return symbol.means
    links = [f"[{_short(chapter)}]({chapter}.ipynb)" for chapter in _in_order(held)]
    return f"{symbol.means} Holds in {', '.join(links)}."


def _in_order(some: set[str]) -> list[str]:
    """Chapters in the order of the contents, and behind them those that are not listed."""
    return [*(chapter for chapter in order() if chapter in some), *sorted(some - set(order()))]


def _short(chapter: str) -> str:
    """``3.1`` or ``Appendix B``: a chapter by its number; by its title if it has none."""
    name = _title(f"{chapter}.ipynb")
    found = re.match(r"(?:Appendix )?([A-E](?:\.\d+)*|\d+(?:\.\d+)*(?: continued)?)[ :.]", name)
    return name if found is None else found[1] if found[1][0].isdigit() else f"Appendix {found[1]}"


def _code(name: str) -> str:
    """A name in code that a narrow column can break at its joints."""
    return "<code>" + re.sub(r"([_.(])(?=\w)", r"\1<wbr>", name) + "</code>" if name else ""


def page(table: Table) -> str:
    """The page as it must be."""
    parts = [INTRODUCTION]
    kinds = dict.fromkeys(symbol.kind for symbol in table.symbols if not symbol.local)
    for kind in kinds:
        of_kind = [s for s in table.symbols if s.kind == kind]
        head, rows = ["Symbol", "Meaning", "Where"], [[_anchored(s), _means(s), _where(s.place)] for s in of_kind]
        if any(s.code for s in of_kind):
            head.append("Code")
            rows = [[*row, _code(s.code)] for row, s in zip(rows, of_kind, strict=True)]
        parts.append(f"## {kind}\n\n" + _table(head, rows) + "\n")
    homes = _in_order({s.scopes[0].partition("#")[0] for s in table.symbols if s.local})
    parts.append(
        f"## {LOCAL}\n\nWhat a chapter or an exercise needs for itself. Elsewhere the same letter may mean something else.\n"
    )
    for home in homes:
        here = [s for s in table.symbols if s.local and s.scopes[0].partition("#")[0] == home]
        alike: dict[tuple[tuple[str, ...], str], list[Symbol]] = {}
        for symbol in here:  # two exercises may need the same letter for the same
            alike.setdefault((tuple(symbol.tex), symbol.means), []).append(symbol)
        lines = []
        for same in alike.values():
            where = "<br>".join(_where(symbol.place) for symbol in same if "#" in symbol.place)
            lines.append(["".join(map(_anchor, same)) + _tex(same[0]), same[0].means, where or '<span class="tl-short"></span>'])
        width = 3 if any("](" in line[2] for line in lines) else 2
        table_of_home = _table(("Symbol", "Meaning", "Where")[:width], [line[:width] for line in lines])
        parts.append(f"### [{_title(f'{home}.ipynb')}]({home}.ipynb)\n\n{table_of_home}\n")
    parts.append("## Terms\n")
    for term in sorted(table.terms, key=lambda term: term.name.strip("[").lower()):
        text = " ".join(term.means.split())
        parts.append(f'<span id="term-{term.key}"></span>**{term.name}**\n: {text} {_where(term.place)}\n')
    return "\n".join(parts)


def main(arguments: list[str]) -> int:
    """Run ``sync`` or ``check``."""
    if arguments not in (["sync"], ["check"]):
        print("usage: python -m tools.notation sync|check", file=sys.stderr)
        return 2
    if not active():
        print(f"table of symbols: off (_toc.yml does not list book/{PAGE.stem})")
        return 0
    if arguments == ["sync"]:
        with suppress(ValueError, yaml.YAMLError):  # a finding
            PAGE.write_text(page(load()), encoding="utf-8")
    found = findings()
    for finding in found:
        print(f"table of symbols: {finding}", file=sys.stderr)
    print(f"table of symbols: {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
