"""What the build makes of Jupyter Book's pages: pictures in files, previews, the ledger, the map of chapters, the page to print."""

from __future__ import annotations

import base64
import importlib
import io
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from docutils import nodes
from lxml import html
from PIL import Image

from tools import build, chapter_map, folds, ledger_page, pictures
from tools.chapter_map import Card
from tools.notebooks import read
from tools.previews import LONGEST, _trimmed, write_previews
from tools.print_version import write_print
from tools.settings import ROOT, version

CLAIM = {
    "chapter": "preface", "name": "p-m", "value": 0.15, "says": "0.15", "tol": 0.01, "bound": "equal", "paper": "0.15",
    "seeds": [0, 1], "note": "spread < 0.01",
}  # fmt: skip


def png(width: int = 40, height: int = 30, noise: bool = False) -> bytes:
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 255, (height, width, 3), dtype=np.uint8) if noise else np.full((height, width, 3), 200, dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, format="png")
    return buffer.getvalue()


def address(content: bytes, kind: str = "png") -> str:
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


SVG = b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg" height="72pt" version="1.1" width="144pt"></svg>'


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "book").mkdir()
    return tmp_path


def test_pictures_become_files_with_their_size_and_the_same_pixels(
    site: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, content = site / "book" / "a.html", png()
    frames = json.dumps([{"src": address(content)}, {"src": address(png(noise=True))}])
    page.write_text(
        f'<img alt="x" src="{address(content)}"><img alt="y" src="{address(SVG, "svg+xml")}" style="a:b"><script>{frames}</script>'
    )
    (site / "index.html").write_text(f'<img alt="x" src="{address(content)}">')
    store = tmp_path_factory.mktemp("store")
    (store / "of-an-older-build.webp").touch()
    pages = {path: path.read_text() for path in site.rglob("*.html")}
    pictures.take_out(site, store)
    text = page.read_text()
    assert "data:" not in text
    sizes = re.findall(r'<img alt="." width="(\d+)" height="(\d+)" decoding="async" loading="lazy" src="\.\./_images/[\w.]+"', text)
    assert sizes == [("40", "30"), ("192", "96")]
    assert re.findall(r'style="([^"]*)"', text) == ["--natural:192px;a:b"]
    sources = [site / "book" / source for source in re.findall(r'"src": "([^"]+)"', text)]
    assert [np.asarray(Image.open(source).convert("RGB")).shape for source in sources] == [(30, 40, 3)] * 2
    kept = np.asarray(Image.open(sources[1]).convert("RGB"))
    assert np.array_equal(kept, np.asarray(Image.open(io.BytesIO(png(noise=True)))))
    assert 'src="_images/' in (site / "index.html").read_text()
    names = {path.name for path in (site / "_images").iterdir()}
    assert len(names) == 3  # the picture that stands twice is one file
    assert {path.name for path in store.iterdir()} == names
    # A second build finds them all
    monkeypatch.setattr(pictures, "smaller", None)
    for path, content_before in pages.items():
        path.write_text(content_before)
    pictures.take_out(site, store)
    assert page.read_text() == text


def test_a_webp_is_taken_only_where_it_is_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pictures.smaller(png())[1] == "webp"
    content = png()

    def large(self: Image.Image, target: io.BytesIO, **_: object) -> None:
        target.write(b"0" * (len(content) + 1))

    monkeypatch.setattr(Image.Image, "save", large)
    assert pictures.smaller(content) == (content, "png")


PAGE = """<!DOCTYPE html><html data-content_root="../"><head><title>t</title><script src="../_static/mathjax/tex-chtml.js"></script>
<script src="../_static/other.js"></script></head><body><article class="bd-article">{}</article></body></html>"""


def found_in(site: Path, page: str) -> dict[str, str]:
    text = (site / "_static" / "previews" / f"{page}.js").read_text()
    assert text.startswith(f'tlPreviews["{page}"] = ')
    found: dict[str, str] = json.loads(text.split(" = ", 1)[1].rstrip(";\n"))
    return found


def test_a_preview_is_what_the_link_leads_to(site: Path) -> None:
    (site / "book" / "a.html").write_text(
        PAGE.format(
            '<section id="part"><h1>A title<a class="headerlink" href="#part">#</a></h1><p>It begins.</p><p>It goes on.</p>'
            '<div class="tl-box" id="theorem-1"><p>True, <a href="#part">here</a>.</p><details>secret</details></div>'
            '<div class="tl-assertion" id="claim-x">0.5</div><p id="unasked">no</p></section>'
        )
    )
    (site / "book" / "b.html").write_text(
        PAGE.format(
            '<a href="a.html#theorem-1">1</a><a href="a.html#claim-x">2</a><a href="a.html#part">3</a><a href="a.html#gone">4</a>'
        )
    )
    (site / "book" / "glossary.html").write_text(
        PAGE.format(
            '<table><tr><td><span id="symbol-t"></span>T</td><td>number of topics</td><td></td></tr></table>'
            '<dl><dt><span id="term-head"></span>head</dt><dd>one attention</dd></dl><a href="#term-head">head</a>'
        )
    )
    write_previews(site)
    found = found_in(site, "a")
    assert set(found) == {"theorem-1", "claim-x", "part"}
    assert 'href="a.html#part"' in found["theorem-1"]
    assert "secret" not in found["theorem-1"]
    assert "id=" not in "".join(found.values())
    assert "Asserted in: A title" in found["claim-x"]
    assert "It begins." in found["part"]
    assert "It goes on." not in found["part"]
    glossary = found_in(site, "glossary")
    assert "number of topics" in glossary["symbol-t"]
    assert glossary["symbol-t"].count("<p>") == 2
    assert "one attention" in glossary["term-head"]


def test_a_long_preview_ends_early_and_says_so(site: Path) -> None:
    parts = "".join(f"<p>{number} {'word ' * 40}</p>" for number in range(100))
    (site / "book" / "a.html").write_text(
        PAGE.format(f'<div class="tl-box" id="theorem-1">{parts}</div><a href="#theorem-1">1</a>')
    )
    write_previews(site)
    found = found_in(site, "a")["theorem-1"]
    assert len(found) < LONGEST + 200
    assert found.count("tl-card-more") == 1
    assert "0 word" in found


@pytest.mark.timeout(20)
def test_a_preview_that_just_fits_without_the_sign_ends_too() -> None:
    for length in range(LONGEST - 100, LONGEST):
        box = html.fromstring(f"<div><p>{'a' * length}</p><p>{'b' * 200}</p></div>")
        _trimmed(box)
        assert [part.text for part in box][1:] == ["…"]


def test_the_page_to_print_has_every_article_and_its_answers_at_the_end(site: Path) -> None:
    (site / "book" / "a.html").write_text(
        PAGE.format(
            '<h1 id="top">A</h1><p>Before.</p><details><summary>Answer</summary><p>Because.</p></details><p>After.</p>'
            '<details class="hide"><summary>code</summary>drawing</details>'
            '<a href="b.html#top">to b</a><a href="c.html#top">to c</a>'
            '<img alt="x" loading="lazy" src="../_images/x.svg"><input type="range"><script>1</script>'
        )
    )
    (site / "book" / "b.html").write_text(PAGE.format('<h1 id="top">B</h1>'))
    write_print(site, ["a", "b"])
    text = (site / "book" / "print.html").read_text()
    root = html.document_fromstring(text)
    assert [article.get("id") for article in root.cssselect("article[id]")] == ["a", "b"]
    assert 'href="#b--top"' in text
    assert 'href="c.html#top"' in text
    assert text.index("Before.") < text.index("After.") < text.index("Answers and solutions") < text.index("Because.")
    assert "drawing" not in text
    assert "lazy" not in text
    assert "other.js" not in text
    assert "mathjax" in text
    assert not root.cssselect("input")
    names = [element.get("id") for element in root.cssselect("[id]")]
    assert len(names) == len(set(names))
    assert {link.get("href")[1:] for link in root.cssselect("a[href^='#']")} <= set(names)


def test_the_ledger_has_a_row_for_each_claim_that_leads_to_its_cell() -> None:
    text = ledger_page.tables([CLAIM, {**CLAIM, "name": "other", "paper": None, "bound": "at most"}])
    assert "**2 claims, each asserted by a cell that ran; 0 are unasserted.** 1 of them" in text
    assert '<a href="preface.html#claim-p-m">p m</a>' in text
    assert "<td>± 0.01</td>" in text
    assert "at most (± 0.01)" in text
    assert "spread &lt; 0.01" in text
    assert text.count("<tr data-paper") == 1


def cards(**before: tuple[str, ...]) -> dict[str, Card]:
    return {name: Card(name, parts, 10, "5 s", "you know") for name, parts in before.items()}


def test_arrows_leave_out_what_is_needed_through_another() -> None:
    found = cards(a=(), b=("a",), c=("a", "b"), d=("a",), e=())
    assert chapter_map.arrows(found) == {"a": [], "b": ["a"], "c": ["b"], "d": ["a"], "e": []}
    assert chapter_map.rows(found, chapter_map.arrows(found)) == [["a"], ["b", "d"], ["c"]]
    chain = cards(a=(), b=("a",), c=("b",))
    assert chapter_map.rows(chain, chapter_map.arrows(chain)) == [["a", "b", "c"]]


def test_an_arrow_past_a_row_runs_between_its_boxes_and_a_second_one_beside_it() -> None:
    row, taken = (200.0, [0.0, chapter_map.WIDE + chapter_map.GAP]), Counter[tuple[float, float]]()
    middle, high = chapter_map.WIDE / 2, chapter_map.HIGH
    lanes = [
        chapter_map.way((middle + 20, 80), (middle + 60, 400), [row], taken).split(f"200V{200 + high}")[0].split()[-1]
        for _ in "123"
    ]
    assert [float(lane) for lane in lanes] == [chapter_map.WIDE + chapter_map.GAP / 2 + shift for shift in (0, 5, -5)]


@pytest.mark.parametrize(
    ("title", "number"),
    [
        ("3.3 Transformer", "3.3"),
        ("6.1 continued: how", "6.1 continued"),
        ("Appendix D.4: At", "Appendix D.4"),
        ("Preface", "Preface"),
    ],
)
def test_a_chapter_is_named_by_its_number(title: str, number: str) -> None:
    assert chapter_map.short(title) == number


def test_chapters_that_need_each_other_are_an_error() -> None:
    with pytest.raises(ValueError, match="a needs itself"):
        chapter_map.needed_first(cards(a=("b",), b=("a",)), "a")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (r"(\*\*Before:\*\* ).*", r"\1[the end](09_conclusion.ipynb)", "needs itself, through the chapters that cards name under"),
        (r".*\*\*Before:\*\*.*\n", "", "01_introduction: the card has no line '**Before:** ...'"),
        (r"(\*\*Time:\*\* ).*", r"\1a while", "01_introduction: the card's time is 'a while', must be"),
        (r"(\*\*After:\*\* ).*", r"\1you know.", "book/map.md is not in step: run 'make notebooks'"),
    ],
)
def test_a_card_that_is_wrong_is_a_finding(
    before: str, after: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def changed(path: Path) -> Any:
        notebook = read(path)
        if path.stem == "01_introduction":
            notebook.cells[0].source = re.sub(before, after, notebook.cells[0].source)
        return notebook

    monkeypatch.setattr(chapter_map, "read", changed)
    (finding,) = chapter_map.findings()
    assert said in finding
    monkeypatch.setattr(build.notebooks, "findings", lambda path: [])
    assert finding in build.source_findings()
    assert chapter_map.main(["check"]) == 1
    assert said in capsys.readouterr().err


def test_no_arrow_of_the_books_map_leads_up() -> None:
    found = chapter_map.cards()
    links = chapter_map.arrows(found)
    place = {name: (row, column) for row, names in enumerate(chapter_map.rows(found, links)) for column, name in enumerate(names)}
    for name, parts in links.items():
        for part in parts:
            row, column = place[part]
            assert place[name] == (row, column + 1) or place[name][0] > row, (part, name)


def test_the_citation_is_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == version()
    assert citation["references"][0]["title"].startswith("How Do Transformers Learn Topic Structure")


def test_the_box_of_a_result_leads_to_its_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "book" / "_ext"))
    markup = importlib.import_module("paper_markup")
    assert 'href="results_map.html#map-theorem2"' in markup.functions_line("theorem-2", "book/05_2_value_matrix")
    assert "theorem2" not in markup.functions_line("theorem-1", "book/04_token_embeddings")
    assert markup.functions_line("theorem-99", "book/05_2_value_matrix") == ""
    page = (ROOT / "book" / "results_map.md").read_text()
    for name in re.findall(r"#map-(\w+)", "".join(markup.functions_line(f"theorem-{n}", "") for n in (1, 2, 3))):
        assert f'id="map-{name}"' in page


def test_a_heat_map_inside_a_drawing_becomes_smaller_and_keeps_its_pixels() -> None:
    inner = png(80, 60)
    svg = f'<svg width="1pt" height="1pt"><image xlink:href="data:image/png;base64,\n{address(inner)[22:]}"/></svg>'.encode()
    made = pictures.svg_with_smaller(svg)
    found = re.search(rb"data:image/webp;base64,([A-Za-z0-9+/=]+)", made)
    assert found is not None
    assert len(made) < len(svg)
    assert np.array_equal(
        np.asarray(Image.open(io.BytesIO(base64.b64decode(found[1]))).convert("RGB")), np.asarray(Image.open(io.BytesIO(inner)))
    )
    assert made.endswith(b'"/></svg>')


# The text


def formula_in(before: str, after: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The paragraph's HTML-like form after the transform."""
    monkeypatch.syspath_prepend(str(ROOT / "book" / "_ext"))
    paragraph = nodes.paragraph("", "", *([nodes.Text(before)] if before else []), nodes.math("", "x"), nodes.Text(after))
    importlib.import_module("unbroken").hold(next(iter(paragraph.findall(nodes.math))))
    return re.sub(r' xml:space="\w+"', "", str(paragraph))


@pytest.mark.parametrize(
    ("before", "after", "whole"),
    [
        ("Take ", ", then", 'Take <inline classes="tl-whole"><math>x</math>,</inline> then'),
        ("all (", "); so", 'all <inline classes="tl-whole">(<math>x</math>);</inline> so'),
        ("the ", "-th wave", 'the <inline classes="tl-whole"><math>x</math>-th</inline> wave'),
        ("", ".", '<inline classes="tl-whole"><math>x</math>.</inline>'),
        ("Take ", " and", "Take <math>x</math> and"),
    ],
)
def test_a_formula_stays_with_its_punctuation(before: str, after: str, whole: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert formula_in(before, after, monkeypatch) == f"<paragraph>{whole}</paragraph>"


@pytest.mark.parametrize(("count", "folded"), [(3, False), (4, True)])
def test_long_runs_of_checked_numbers_fold(site: Path, count: int, folded: bool) -> None:
    lines = [
        f'<div class="output text_html"><div class="tl-assertion" id="claim-{n}"><b>n</b>: <code>{n}</code></div></div>\n'
        for n in range(count)
    ]
    page = site / "book" / "a.html"
    text = '<div class="cell_output">' + "".join(lines) + '<div class="output text_html"><p>Other.</p></div></div>'
    page.write_text(text)
    folds.fold(site)
    found = html.document_fromstring(page.read_text())
    assert len(found.cssselect(".tl-assertion")) == count
    assert len(found.cssselect("details.tl-checked > .output > .tl-assertion")) == (count if folded else 0)
    assert [part.text_content() for part in found.cssselect("summary")] == [f"✓ {count} numbers of the text, checked"] * folded
    assert found.cssselect("p")[0].getparent().getparent().tag == "div"


def test_equal_punctuation_is_moved_where_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "book" / "_ext"))
    parts = [part for name in "abcd" for part in (nodes.math("", name), nodes.Text(", "))]
    paragraph = nodes.paragraph(
        "", "", nodes.strong("", "5"), nodes.Text(", "), *parts, nodes.Text("and ("), nodes.math("", "e"), nodes.Text(").")
    )
    for formula in list(paragraph.findall(nodes.math)):
        importlib.import_module("unbroken").hold(formula)
    assert paragraph.astext() == "5, a, b, c, d, and (e)."
    assert [part.astext() for part in paragraph.findall(nodes.inline)] == ["a,", "b,", "c,", "d,", "(e)."]
