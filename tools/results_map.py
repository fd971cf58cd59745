"""The map of results: result of the paper, the function that states it, the tests that hold it, the chapter that derives it.

Functions enter the map by ``topiclib.theory.results.result``, tests by ``@pytest.mark.result("theorem2")``.
``python -m tools.results_map sync`` writes ``book/results_map.md``; ``check`` only reports, and exits 1 on a finding.
The map is on when that page exists or ``_toc.yml`` lists it; before that both commands say so and do nothing.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import yaml
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.utils import new_document
from myst_parser.parsers.docutils_ import Parser
from sphinx_external_toc.parsing import parse_toc_yaml

from tools.chapter_map import short
from tools.notebooks import read
from tools.prose import claims_of
from tools.settings import BOOK, ROOT

PAGE = BOOK / "results_map.md"
TESTS = ROOT / "tests"
TOC = ROOT / "_toc.yml"
THEORY = "topiclib.theory"
FEW = 3
BEYOND = "Beyond the paper"
FIRST = ("Lemma", "Theorem", "Remark")
APPENDIX = re.compile(r"^(Appendix|Claim)\b|\b[A-E]\.\d")
SMALL = (
    *("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"),
    *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")

INTRODUCTION = f"""\
# Map of results

Each row is one result. It names the result, the function that states it, the chapter that derives it and the tests that hold it.
Read a row from left to right. First comes what the paper says, then the same as code, then why it is true, then how we know that
the code says it.

Every function is imported from `{THEORY}`. The module beside it is where its source stands. Ask Python for the arguments:

```python
from {THEORY} import FUNCTION
help(FUNCTION)
```

The tests are in the folder `tests`, in the file that is named. What each holds stands there in words; its name in the file is
`test_` and these words, with `_` between them.

The page is generated from the functions and the tests themselves. When a function loses its test, or a chapter its proof, the
build fails.
"""


@dataclass(frozen=True)
class Entry:
    """One row: a result with the module of its function, the title of its chapter, and its tests by file."""

    result: Any
    module: str
    title: str
    tests: Mapping[str, Sequence[str]]


@dataclass
class Marks:
    """What the tests say: for each name of a function the tests by file, and markers that hold nothing."""

    tests: dict[str, dict[str, list[str]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    places: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    findings: list[str] = field(default_factory=list)


def registry() -> tuple[dict[str, Any], Any]:
    """The results by name, and the package that exports their functions; importing it fills the first."""
    package: Any = importlib.import_module(THEORY)
    return importlib.import_module(f"{THEORY}.results").RESULTS, package


def active() -> bool:
    """Whether the book has the map."""
    return PAGE.exists() or f"book/{PAGE.stem}" in parse_toc_yaml(TOC)


# Tests


def _is_marker(node: ast.AST) -> bool:
    """``pytest.mark.result`` or ``mark.result``, with or without arguments."""
    if isinstance(node, ast.Call):
        node = node.func
    return isinstance(node, ast.Attribute) and bool(re.fullmatch(r"(pytest\.)?mark\.result", ast.unparse(node)))


def _markers(body: Sequence[ast.stmt], decorators: Sequence[ast.expr] = ()) -> list[ast.expr]:
    """The markers of a function or class by its decorators, and of a module or class by its ``pytestmark``."""
    found = list(decorators)
    for node in body:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        value = getattr(node, "value", None)
        if value is not None and any(isinstance(target, ast.Name) and target.id == "pytestmark" for target in targets):
            found += value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]
    return [node for node in found if _is_marker(node)]


def _tests(
    body: Sequence[ast.stmt], above: Sequence[ast.expr] = (), prefix: str = "", decorators: Sequence[ast.expr] = ()
) -> Iterator[tuple[str, list[ast.expr]]]:
    """The tests that pytest would collect here, each with the markers that stand on it or above it."""
    here = [*above, *_markers(body, decorators)]
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test"):
            yield prefix + node.name, [*here, *_markers([], node.decorator_list)]
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield from _tests(node.body, here, f"{prefix}{node.name}::", node.decorator_list)


def marks() -> Marks:
    """Read the markers from the sources of the tests."""
    found = Marks()
    for path in sorted(TESTS.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        name, read_markers = path.relative_to(TESTS).as_posix(), set()
        for test, markers in _tests(tree.body) if path.name.startswith("test_") else ():
            for marker in markers:
                read_markers.add(id(marker))
                for argument in marker.args if isinstance(marker, ast.Call) else ():
                    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                        if test not in found.tests[argument.value][name]:
                            found.tests[argument.value][name].append(test)
                        place = f"tests/{name}:{marker.lineno}"
                        if place not in found.places[argument.value]:
                            found.places[argument.value].append(place)
        calls = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        for node in ast.walk(tree):
            if not _is_marker(node) or id(node) in calls:
                continue
            arguments = node.args if isinstance(node, ast.Call) else []
            if id(node) not in read_markers:
                found.findings.append(f"tests/{name}:{node.lineno}: the marker 'result' stands on no test")  # type: ignore[attr-defined]
            if not arguments or not all(isinstance(a, ast.Constant) and isinstance(a.value, str) for a in arguments):
                found.findings.append(f"tests/{name}:{node.lineno}: the marker 'result' needs names as plain strings")  # type: ignore[attr-defined]
    return found


# Chapters


def _markup() -> ModuleType:
    """The book's own extension, which is not in a package."""
    spec = importlib.util.spec_from_file_location("paper_markup", ROOT / "book" / "_ext" / "paper_markup.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _named(notebook: Any) -> Iterator[str]:
    """Identifiers that a chapter's cells will give their outputs: figures, sliders, claims."""
    from topiclib.plotting import show
    from topiclib.widgets import slider, sliders

    places = {f.__name__: list(inspect.signature(f).parameters).index("name") for f in (show, slider, sliders)}
    yield from (f"claim-{name}" for name in claims_of(notebook)[0])
    for cell in notebook.cells:
        code = re.sub(r"^[%!].*$", "", cell.source, flags=re.M) if cell.cell_type == "code" else ""
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in places:
                given = [keyword.value for keyword in node.keywords if keyword.arg == "name"]
                for value in given or node.args[places[node.func.id] :][:1]:
                    if isinstance(value, ast.Constant):
                        yield str(value.value)


def anchors(notebook: Any) -> set[str]:
    """What a link into a chapter can name, computed by the book's own parser and extension."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text())
    settings = get_default_settings(Parser)
    settings.report_level = 5
    settings.myst_enable_extensions = set(config["parse"]["myst_enable_extensions"])
    settings.myst_heading_anchors = config["sphinx"]["config"]["myst_heading_anchors"]
    document: nodes.document = new_document("chapter", settings)
    Parser().parse("\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown"), document)
    # What the extension asks of Sphinx's environment.
    settings.env = SimpleNamespace(docname="chapter", metadata=defaultdict(dict))
    transform = _markup().PaperMarkup(document)
    transform.apply()
    return {*transform.slugs, *_named(notebook)}


def title(notebook: Any) -> str:
    """The text of a chapter's first heading."""
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    match = re.search(r"^# +(.+?) *$", text, re.M)
    return match[1] if match else ""


# The map


def order(result: Any) -> tuple[Any, ...]:
    """Where a result stands in its table: the paper's order."""
    kind = result.paper.split(" ")[0]
    numbers = [int(n) for n in re.findall(r"\d+", result.paper)]
    letter = (re.findall(r"\b[A-E]\b", result.paper) or [""])[0]
    place = len(FIRST) + 1 if APPENDIX.search(result.paper) else FIRST.index(kind) if kind in FIRST else len(FIRST)
    # What bears the result's own name comes first, what belongs to it after.
    own = result.function == result.paper.lower().replace(" ", "")
    return (result.paper.startswith(BEYOND), place, letter, kind, numbers, result.paper, not own, result.chapter, result.function)


def collect() -> tuple[list[Entry], list[str]]:
    """The rows of the map in order, and what dangles."""
    results, package = registry()
    found, listed = marks(), set(parse_toc_yaml(TOC))
    findings = list(found.findings)
    if not results:
        findings.append(f"the map is empty: {THEORY} enters no function")
    chapters: dict[str, tuple[str, set[str]] | None] = {}
    entries = []
    public = list(getattr(package, "__all__", ()))
    for name in public:
        thing = getattr(package, name, None)
        ours = getattr(thing, "__module__", "") != f"{THEORY}.results"
        if name not in results and callable(thing) and not isinstance(thing, type) and ours:
            findings.append(f"{THEORY}.{name} is public but not in the map: give it @result(...)")
    for name in sorted(set(found.tests) - set(results)):
        findings += [f"{place}: the marker names {name!r}, which is no function of the map" for place in found.places[name]]
    for result in sorted(results.values(), key=order):
        name = result.function
        if name not in public:
            findings.append(f"{name} is in the map but not in {THEORY}.__all__")
        if name not in found.tests:
            findings.append(f'{name} ({result.paper}) has no test: mark one with @pytest.mark.result("{name}")')
        file, _, anchor = result.chapter.partition("#")
        if file not in chapters:
            path = BOOK / file
            there = read(path) if path.is_file() and path.suffix == ".ipynb" else None
            chapters[file] = None if there is None else (title(there), anchors(there))
        chapter = chapters[file]
        if chapter is None:
            findings.append(f"{name}: its chapter {file!r} is no notebook of book/")
        else:
            if f"book/{Path(file).with_suffix('')}" not in listed:
                findings.append(f"{name}: its chapter {file!r} is not in _toc.yml")
            if anchor not in chapter[1]:
                findings.append(f"{name}: {file} has no anchor {anchor!r}")
        module = getattr(getattr(package, name, None), "__module__", "")
        tests = {file: list(names) for file, names in found.tests[name].items()} if name in found.tests else {}
        entries.append(Entry(result, module.removeprefix(f"{THEORY}."), chapter[0] if chapter else file, tests))
    return entries, findings


def in_words(count: int) -> str:
    """``five`` for 5: in the book a number in digits is a claim, and this is none."""
    if count < len(SMALL):
        return SMALL[count]
    tens, ones = divmod(count, 10)
    return TENS[tens - 2] + (f"-{SMALL[ones]}" if ones else "") if count < 100 else "a hundred and more"


def _words(test: str) -> str:
    """What a test says: ``test_it_is_lemma_1_with_the_bias`` is "it is Lemma 1 with the bias"."""
    words = test.rpartition("::")[2].removeprefix("test_").replace("_", " ")
    words = re.sub(r"\b(lemma|theorem|remark) (?=\d)|\bdirichlet\b", lambda match: match[0].capitalize(), words)
    words = words.replace("lda ", "LDA ").replace("sympy", "SymPy").replace("the papers", "the paper's")
    return re.sub(r"\bc (\d)\b", r"$c_\1$", words)


def row(entry: Entry) -> str:
    """A line of a table."""
    result = entry.result
    # A sentence begins with a capital, but for a symbol.
    states = re.sub(r"^[a-z]{2,}\b", lambda word: word[0].capitalize(), result.states)
    label = result.paper.removeprefix(BEYOND).strip(" .:,") if result.paper.startswith(BEYOND) else result.paper
    # The box of the result leads here
    function = f'<span id="map-{result.function}"></span>`{result.function}`' + (f" in `{entry.module}`" if entry.module else "")
    held = [
        f"`{file}`: " + ("; ".join(map(_words, names)) if len(names) <= FEW else f"{in_words(len(names))} tests")
        for file, names in entry.tests.items()
    ]
    chapter = f"[{short(entry.title)}]({result.chapter})"
    result_cell = f'<span class="tl-statement">{f"**{label}.** {states}" if label else states}</span>'
    cells = (result_cell, f"{function}, derived in {chapter}", "<br>".join(held))
    return "| " + " | ".join(re.sub(r"(?<!\\)\|", r"\\|", cell) for cell in cells) + " |"


def page(entries: Sequence[Entry]) -> str:
    """The page as it must be."""
    parts = [INTRODUCTION]
    for heading in ("The paper's results", BEYOND):
        rows = [row(e) for e in entries if e.result.paper.startswith(BEYOND) == (heading == BEYOND)]
        if rows:
            head = "| Result | Function and proof | Held by |\n| --- | --- | --- |"
            parts.append("\n".join([f"## {heading}\n", head, *rows, ""]))
    return "\n".join(parts)


def findings() -> list[str]:
    """What is wrong with the map and its page, a line each; nothing while the book has no map."""
    if not active():
        return []
    entries, found = collect()
    if not PAGE.exists() or PAGE.read_text() != page(entries):
        found.append(f"book/{PAGE.name} is out of date: run 'make notebooks'")
    return found


def main(arguments: list[str]) -> int:
    """Run ``sync`` or ``check``."""
    if arguments not in (["sync"], ["check"]):
        print("usage: python -m tools.results_map sync|check", file=sys.stderr)
        return 2
    if not active():
        print(f"map of results: off (_toc.yml does not list book/{PAGE.stem})")
        return 0
    if arguments == ["sync"]:
        PAGE.write_text(page(collect()[0]))
    found = findings()
    for finding in found:
        print(f"map of results: {finding}", file=sys.stderr)
    print(f"{len(registry()[0])} results, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
