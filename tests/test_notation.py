"""The table of symbols: what the reader of formulas sees, what the check finds, one planted fault of each kind, and the marks."""

from __future__ import annotations

import copy
import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import nbformat
import pytest
import yaml
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.utils import new_document
from myst_parser.parsers.docutils_ import Parser

from tools import build, notation
from tools.notebooks import synced, write
from tools.settings import ROOT
from tools.tex import Atom, atom, atoms, formulas, tokens

TABLE: dict[str, Any] = {
    "symbols": {
        "Data": {
            "num-topics": {"tex": "T", "means": "Number of topics.", "code": "num_topics", "place": "one.ipynb#the-setting"},
            "topic": {"tex": "t", "means": "A topic.", "place": "one.ipynb"},
            "index": {"tex": ["i", "j"], "means": "An index.", "place": "one.ipynb"},
        },
        "Model": {
            "value-matrix": {"tex": r"\mathbf{W}^V", "means": "Values.", "place": "one.ipynb#equation-7"},
            "best-value-matrix": {"tex": r"\mathbf{W}^{V*}", "means": "Best values.", "place": "one.ipynb"},
            "some-matrix": {"tex": r"\mathbf{W}", "means": "Any matrix.", "place": "one.ipynb"},
            "ratio": {"tex": r"\alpha", "means": "A ratio.", "place": "one.ipynb", "chapters": ["one"]},
            "dirichlet": {"tex": r"\alpha", "means": "A parameter.", "place": "two.ipynb", "chapters": ["two"]},
        },
    },
    "local": {"two#in-time": {"clock": {"tex": "t", "means": "The clock."}}},
    "terms": {"head": {"term": "head", "means": "One attention.", "place": "one.ipynb#the-setting"}},
}
ONE = r"""# 1 One

## The setting

There are $T$ topics, $i \in t \text{ (say)}$, and `$q$` is code.

$$ \mathbf{W}^{V*}_{ij} = \alpha \mathbf{W}_{ij} \tag{7} $$
"""
TWO = r"""# 2 Two

A topic $t$ with $\alpha$, and $\mathbf{W}^V_{ij}$.

## In *time*

The clock $t$ goes.
"""


def put(course: Path, name: str, *texts: str) -> None:
    """A chapter with a Markdown cell for each text."""
    cells = [nbformat.v4.new_markdown_cell(text, id=f"cell-{number}") for number, text in enumerate(texts)]
    write(course / "book" / f"{name}.ipynb", synced(nbformat.v4.new_notebook(cells=cells), name))
    notation._places.cache_clear()


def tabulate(course: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """The table after a change."""
    table = copy.deepcopy(TABLE)
    change(table)
    (course / "book" / "symbols.yml").write_text(yaml.safe_dump(table, sort_keys=False))


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course of two chapters whose table is in order."""
    (tmp_path / "book").mkdir()
    (tmp_path / "topiclib").mkdir()
    (tmp_path / "topiclib" / "settings.py").write_text("num_topics = 10\n")
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: book/one\nchapters:\n  - file: book/two\n  - file: book/glossary\n")
    for name, value in {
        "BOOK": tmp_path / "book",
        "TABLE": tmp_path / "book" / "symbols.yml",
        "PAGE": tmp_path / "book" / "glossary.md",
        "TOC": tmp_path / "_toc.yml",
    }.items():
        monkeypatch.setattr(notation, name, value)
    monkeypatch.setattr(notation, "library_names", lambda: {"num_topics"})
    monkeypatch.setattr(notation, "chapters", lambda: sorted((tmp_path / "book").glob("*.ipynb")))
    monkeypatch.setattr(notation, "order", lambda: ["one", "two"])
    notation._title.cache_clear()
    put(tmp_path, "one", ONE)
    put(tmp_path, "two", TWO)
    tabulate(tmp_path, lambda table: None)
    assert notation.main(["sync"]) == 0
    return tmp_path


# The reader


@pytest.mark.parametrize(
    ("tex", "found"),
    [
        (r"W_{ij}^\top", ["W_{ij}^{\\top}"]),
        (r"\hat m_t / (\sqrt{\hat{v}} + 1)", [r"\hat{m}_{t}", r"\hat{v}"]),
        (r"\frac{a}{b}^2 + \sum_{n=1}^N x_n", ["a", "b", "n", "N", "x_{n}"]),
        (
            r"\mathfrak{q} + \mathsf{Y}_i \aleph \hbar \ddot x",
            [r"\mathfrak{q}", r"\mathsf{Y}_{i}", r"\aleph", r"\hbar", r"\ddot{x}"],
        ),
        (r"\begin{array}{cc} a & b \\[2ex] c \end{array}", ["a", "b", "c"]),
        (r"\mathbf{b}^{\text{pred}}, \text{where } i", [r"\mathbf{b}^{\text{pred}}", r"\text{where}", "i"]),
        (r"f'_\theta(x) \tag{D.17}", ["f_{\\theta}", "x"]),
        (r"\overline{a + b} \log \lVert q \rVert_2", ["a", "b", "q"]),
        (r"\boldsymbol\delta \ll 10^{-k}", [r"\boldsymbol{\delta}", "k"]),
        (r"\theta_{\text{topic}(l)}", [r"\theta_{\text{topic}(l)}"]),
    ],
)
def test_the_symbols_of_a_formula(tex: str, found: list[str]) -> None:
    assert [str(one) for one in atoms(tokens(tex))] == found


def test_a_spelling_is_one_symbol() -> None:
    assert atom(r"\mathbf{W}^{V*}") == Atom(r"\mathbf{W}", (), ("V", "*"))
    for wrong in ("Tv", r"\log"):
        with pytest.raises(ValueError, match="must spell one symbol, not"):
            atom(wrong)


def test_code_and_escaped_dollars_hold_no_formulas() -> None:
    text = "`$a$` costs \\$5 and $b$\n```\n$c$\n```\n> $$d\n> = e$$"
    assert [tex.split() for _, tex in formulas(text)] == [["b"], ["d", "=", "e"]]


# What a symbol means


def meant(tex: str, *scopes: str) -> dict[str, list[str]]:
    table = notation.load().by_base
    return {str(one): [symbol.key for symbol in symbols] for one, symbols in notation.meanings(tex, table, scopes)}


def test_the_longest_spelling_wins_and_its_rest_is_read(course: Path) -> None:
    assert meant(r"\mathbf{W}^{V*}_{ij}", "one") == {r"\mathbf{W}_{ij}^{V*}": ["best-value-matrix"], "i": ["index"], "j": ["index"]}
    assert meant(r"\mathbf{W}^{V\top}", "one") == {r"\mathbf{W}^{V\top}": ["value-matrix"]}
    assert meant(r"\mathbf{W}_T", "one") == {r"\mathbf{W}_{T}": ["some-matrix"], "T": ["num-topics"]}


def test_the_narrowest_scope_wins(course: Path) -> None:
    assert meant("t", "two") == {"t": ["topic"]}
    assert meant("t", "two", "two#in-time") == {"t": ["clock"]}
    assert meant(r"\alpha", "one") == {r"\alpha": ["ratio"]}
    assert meant(r"\alpha", "two") == {r"\alpha": ["dirichlet"]}
    assert meant(r"\alpha", "three") == {r"\alpha": []}


def test_the_chapter_that_presents_the_notation_may_mean_any(course: Path) -> None:
    assert meant(r"\alpha t", "preface") == {r"\alpha": ["ratio", "dirichlet"], "t": ["topic", "clock"]}


def test_a_formulas_scopes_are_its_chapter_its_sections_and_its_exercise() -> None:
    cells = [
        nbformat.v4.new_markdown_cell("# One\n\n$a$\n\n## `In` *it* $x$\n\n$b$\n\n### Deep\n\n$c$", id="text"),
        nbformat.v4.new_markdown_cell("## In it\n\n$d$", id="more"),
        nbformat.v4.new_markdown_cell("> $e$", id="exercise-1-x", metadata={"exercise": "1-x"}),
    ]
    found = {formula.tex: formula.scopes for formula in notation.chapter_formulas(SimpleNamespace(cells=cells), "one")}
    assert found == {
        "a": ("one",),
        "x": ("one", "one#in-it-"),
        "b": ("one", "one#in-it-"),
        "c": ("one", "one#in-it-", "one#deep"),
        "d": ("one", "one#in-it"),
        "e": ("one", "one#in-it", "one#exercise-1-x"),
    }


# The check


def test_a_table_in_order_has_no_finding(course: Path) -> None:
    assert notation.findings() == []
    assert notation.main(["check"]) == 0


def local(table: dict[str, Any], scope: str, **row: Any) -> None:
    """One more letter of a chapter or a section."""
    table["local"][scope] = {"letter": {"means": "A letter.", **row}}


@pytest.mark.parametrize(
    ("plant", "said"),
    [
        pytest.param(
            lambda c: put(c, "one", ONE, "Now $q_T$."), "one, cell 'cell-1': the symbol q_{T} is not in the table", id="unknown"
        ),
        pytest.param(
            lambda c: put(c, "one", ONE, r"Now $T_{\beta}$."), r"'cell-1': the symbol \beta is not in", id="unknown in an index"
        ),
        pytest.param(
            lambda c: tabulate(c, lambda t: t["symbols"]["Model"]["dirichlet"].update(chapters=["one", "two"])),
            r"one: \alpha means two things, ratio and dirichlet",
            id="two meanings in a chapter",
        ),
        pytest.param(
            lambda c: tabulate(c, lambda t: local(t, "two", tex="t")),
            "two: t means two things, topic and letter",
            id="a chapter's meaning beside the book's",
        ),
        pytest.param(
            lambda c: tabulate(c, lambda t: t["symbols"]["Data"].update(again={"tex": "T", "means": "T.", "place": "one.ipynb"})),
            "the whole book: T means two things, num-topics and again",
            id="two meanings in the book",
        ),
        pytest.param(
            lambda c: tabulate(c, lambda t: local(t, "two", tex="q")), "letter: no chapter uses q in this meaning", id="unused"
        ),
        pytest.param(
            lambda c: tabulate(c, lambda t: t["symbols"]["Data"]["topic"].update(tex=["t", "u"])),
            "topic: no chapter uses u in this meaning",
            id="unused spelling",
        ),
        pytest.param(
            lambda c: tabulate(c, lambda t: t["symbols"]["Data"]["num-topics"].update(chapters=["one", "two"])),
            "num-topics: two is in its list and does not use it",
            id="idle chapter",
        ),
        pytest.param(
            lambda c: tabulate(c, lambda t: t["symbols"]["Model"]["ratio"].update(chapters=["one", "gone"])),
            "ratio: 'gone.ipynb' is no chapter of book/",
            id="no such chapter",
        ),
        pytest.param(
            lambda c: tabulate(c, lambda t: local(t, "two#gone", tex="q")),
            "letter: two.ipynb has no anchor 'gone'",
            id="no section",
        ),
        pytest.param(
            lambda c: tabulate(c, lambda t: t["symbols"]["Data"]["topic"].update(place="one.ipynb#theorem-9")),
            "topic: one.ipynb has no anchor 'theorem-9'",
            id="no such anchor",
        ),
        pytest.param(
            lambda c: tabulate(c, lambda t: t["terms"]["head"].update(place="gone.ipynb")),
            "head: 'gone.ipynb' is no chapter of book/",
            id="a term's place",
        ),
        pytest.param(
            lambda c: tabulate(c, lambda t: t["symbols"]["Data"]["topic"].update(code="topic_of(i)")),
            "topic: its code says 'topic_of', which is nowhere in topiclib",
            id="no such name",
        ),
        pytest.param(
            lambda c: tabulate(c, lambda t: t["symbols"]["Data"]["topic"].update(tex="Tv")),
            "topic: tex must spell one symbol, not 2: 'Tv'",
            id="two letters",
        ),
        pytest.param(
            lambda c: tabulate(c, lambda t: t["symbols"]["Data"]["topic"].pop("means")), "topic: has no 'means'", id="missing"
        ),
        pytest.param(
            lambda c: tabulate(c, lambda t: t["symbols"]["Data"]["topic"].update(mean="x")), "topic: 'mean' is no field", id="field"
        ),
        pytest.param(
            lambda c: tabulate(c, lambda t: t["symbols"]["Data"]["topic"].update(means="A topic")),
            "topic: its meaning must end with a full stop",
            id="full stop",
        ),
        pytest.param(
            lambda c: tabulate(c, lambda t: t["symbols"]["Data"].update(T_1=t["symbols"]["Data"].pop("topic"))),
            "T_1: a key is made of lower-case words and hyphens",
            id="key",
        ),
        pytest.param(
            lambda c: tabulate(c, lambda t: t["local"]["two#in-time"].update(topic=t["local"]["two#in-time"].pop("clock"))),
            "topic: the key of a symbol occurs twice",
            id="key in two groups",
        ),
        pytest.param(
            lambda c: (c / "book" / "symbols.yml").write_text("symbols:\n  Data:\n    a: 1\n    a: 2\n"),
            "symbols.yml, line 3: 'a' occurs twice",
            id="key twice",
        ),
        pytest.param(lambda c: (c / "book" / "glossary.md").write_text("old"), "book/glossary.md is out of date", id="page"),
        pytest.param(lambda c: (c / "book" / "glossary.md").unlink(), "book/glossary.md is out of date", id="no page"),
    ],
)
def test_a_planted_fault_is_found(
    course: Path, plant: Callable[[Path], Any], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(course)
    assert said in "\n".join(notation.findings())
    assert notation.main(["check"]) == 1
    assert said in capsys.readouterr().err


def test_a_faulty_table_is_a_finding_of_the_build(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(course, "one", ONE, "Now $q$.")
    assert "table of symbols: one, cell 'cell-1': the symbol q is not in the table" in build.source_findings()


def test_the_table_is_off_until_the_contents_list_the_page(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (course / "_toc.yml").write_text("format: jb-book\nroot: book/one\nchapters:\n  - file: book/two\n")
    put(course, "one", ONE, "Now $q$.")
    assert notation.findings() == []
    assert notation.main(["check"]) == 0
    assert "off" in capsys.readouterr().out


# The page


def test_the_page_has_an_anchor_for_each_symbol_and_term(course: Path) -> None:
    page = notation.page(notation.load())
    for key in ("symbol-num-topics", "symbol-clock", "term-head"):
        assert page.count(f'id="{key}"') == 1
    assert '| <span class="tl-short">[Section 1](one.ipynb#the-setting)</span> | <code>num_<wbr>topics</code> |' in page
    assert "A ratio. Holds in [1](one.ipynb)." in page
    assert page.index("## Data") < page.index("## Model") < page.index("### [2 Two](two.ipynb)") < page.index("## Terms")


def test_a_bar_in_a_formula_does_not_end_the_cell(course: Path) -> None:
    tabulate(course, lambda table: table["symbols"]["Data"]["topic"].update(means="One of $|M|$."))
    assert r"| One of $\|M\|$. |" in notation.page(notation.load())


# The course's own table


def test_the_course_is_in_order() -> None:
    assert notation.findings() == []


# The marks


def extension(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "book" / "_ext" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def marked(text: str, chapter: str) -> dict[str, list[str]]:
    """The classes of each formula of a page, by its TeX."""
    settings = get_default_settings(Parser)
    settings.report_level = 5
    settings.myst_enable_extensions = {"amsmath", "dollarmath", "html_image"}
    settings.myst_heading_anchors = 3
    document: nodes.document = new_document(chapter, settings)
    Parser().parse(text, document)
    settings.env = SimpleNamespace(docname=f"book/{chapter}", metadata={f"book/{chapter}": {}})
    extension("paper_markup").PaperMarkup(document).apply()
    extension("symbol_marks").SymbolMarks(document).apply()
    return {node.astext(): node["classes"] for kind in (nodes.math, nodes.math_block) for node in document.findall(kind)}


def test_formulas_are_marked_by_what_their_symbols_mean_there(course: Path) -> None:
    found = marked(TWO + "\n$t_i$ and $5$ and\n\n$$\\mathbf{W}^V = T \\tag{7}$$\n\n## Later\n\nA topic $ t$.", "two")
    assert found["t"] == ["tl-sym", "sy-clock"]
    assert found[r"\mathbf{W}^V_{ij}"] == ["tl-sym", "sy-value-matrix", "sy-index"]
    assert found["t_i"] == ["tl-sym", "sy-clock", "sy-index"]
    assert found["5"] == []
    assert [classes for tex, classes in found.items() if "tag{7}" in tex] == [["tl-sym", "sy-value-matrix", "sy-num-topics"]]


def test_an_exercises_letters_hold_in_it_and_in_its_solution(course: Path) -> None:
    tabulate(course, lambda table: local(table, "two#exercise-2-x", tex="q"))
    text = "# Two\n\n$q_0$\n\n> **Exercise 2-x: a letter** (core)\n>\n> Find $q_1$.\n\nIt is $q_2$.\n\n## Next\n\n$q_3$"
    found = marked(text, "two")
    assert {tex: classes[1:] for tex, classes in found.items()} == {
        "q_0": [],
        "q_1": ["sy-letter"],
        "q_2": ["sy-letter"],
        "q_3": [],
    }


def letters(table: dict[str, Any], some: str) -> None:
    """Letters that mean something in the whole book."""
    rows = {x.lower(): {"tex": x, "means": "A letter.", "place": "one.ipynb"} for x in some}
    table["symbols"]["Letters"] = rows


def test_what_is_not_marked(course: Path) -> None:
    assert marked(r"# Preface" + "\n\n" + r"$\alpha_T$", "preface") == {r"\alpha_T": ["tl-sym", "sy-num-topics"]}
    assert marked("# Symbols\n\n$T$", "glossary") == {"T": []}
    many = "ABCDEFGHIJ"
    tabulate(course, lambda table: letters(table, many))
    assert marked(f"# One\n\n$J + {' + '.join(many)}$", "one").popitem()[1] == ["tl-sym", *(f"sy-{x}" for x in "jabcdefg")]
