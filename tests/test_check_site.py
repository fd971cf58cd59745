"""The browser's checks find what they are for: a small site by hand, with one fault planted in each copy."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

from tools import browser as browsers
from tools import check_site
from tools.browser import NoBrowserError, ensure_browser, find_browser, launch
from tools.check_site import Report, check_page, check_whole, main, page_names, served
from tools.previews import write_previews
from tools.settings import ROOT
from tools.site import css_addresses, site_findings
from tools.site_checks.cards import KINDS, card_misses, pages_with_cards
from tools.site_checks.visit import visit
from tools.site_checks.weight import LIMIT, weights

RED, BLUE = (
    "data:image/svg+xml;base64,"
    + base64.b64encode(
        f"<svg xmlns='http://www.w3.org/2000/svg' width='20' height='20'><rect width='20' height='20' fill='{c}'/></svg>".encode()
    ).decode()
    for c in ("red", "blue")
)
FRAMES = [{"src": RED, "label": "1", "text": "It is red."}, {"src": BLUE, "label": "2", "text": "It is blue."}]
SLIDER = """<figure class="tl-slider" id="colours"><label>colour = <output>1</output>
<input type="range" min="0" max="1" step="1" value="0"></label><button type="button" id="play">Play</button>
<img src="RED" alt="a coloured square"><p class="tl-slider-text">It is red.</p>
<script>(function (root) {
  const frames = FRAMES, input = root.querySelector("input");
  function draw() {
    const frame = frames[Number(input.value)];
    root.querySelector("img").src = frame.src;
    root.querySelector("output").textContent = frame.label;
    root.querySelector(".tl-slider-text").textContent = frame.text;
  }
  input.addEventListener("input", draw);
  root.querySelector("button").addEventListener("click", () => { input.value = 1 - input.value; draw(); });
})(document.getElementById("colours"));</script></figure>"""
# Stands for MathJax: wraps every formula in the element that MathJax makes.
TYPESET = """window.MathJax = {startup: {promise: new Promise((done) => addEventListener("load", () => {
  document.querySelectorAll(".math").forEach((f) => { f.innerHTML = "<mjx-container>x</mjx-container>"; });
  done();
}))}};"""
STYLE = """body { font-family: sans-serif; } .skip-link { position: static; }
[data-theme=dark] body { background: #111; color: #eee; }
[data-theme=dark] a { color: #9cf; }
@media print { button, nav, .skip-link { display: none; } body, html body { color: black !important; } }"""
PAGE = """<!DOCTYPE html><html lang="en" data-theme="light"><head><title>A page</title><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><style>STYLE</style>
<script>TYPESET</script></head><body>
<a class="skip-link" href="#main">Skip</a><nav aria-label="site"><a href="page.html">A page</a></nav>
<button class="search-button" type="button">Search</button>
<button class="theme-switch-button" type="button"
  onclick="const all = document.documentElement.dataset; all.theme = all.theme === 'dark' ? 'light' : 'dark'">Colours</button>
<main id="main"><article><h1>A page</h1><p id="theorem-2">Text with <span class="math">\\(x\\)</span>.</p>
<details><summary>Answer</summary><p>It is two.</p></details>
SLIDER
</article></main>
<script>addEventListener("keydown", (e) => { if (e.ctrlKey && e.key === "k") { e.preventDefault(); box.showModal(); } });</script>
<dialog id="box" aria-label="Search"><form action="search.html"><input type="search" name="q" aria-label="Search"></form></dialog>
</body></html>"""
SEARCH = """<!DOCTYPE html><html lang="en"><head><title>Search</title><link rel="icon" href="data:,"></head>
<body><main><h1>Search</h1>
<div id="search-results"><p>Search finished, found 1 page.</p>
<ul><li><a href="page.html">A page</a></li></ul></div></main></body></html>"""


def page_text() -> str:
    """The page without a fault."""
    slider = SLIDER.replace("FRAMES", json.dumps(FRAMES)).replace("RED", RED)
    return PAGE.replace("SLIDER", slider).replace("STYLE", STYLE).replace("TYPESET", TYPESET)


@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    if (program := find_browser()) is None:
        pytest.skip("there is no Chromium on this machine; 'make check-site' installs or asks for one")
    with launch(playwright, program) as started:
        yield started


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "page.html").write_text(page_text())
    (tmp_path / "search.html").write_text(SEARCH)
    return tmp_path


def look(browser: Browser, site: Path) -> Report:
    with served(site) as address:
        return check_page(browser, site, address, "page.html")


def look_at_whole(browser: Browser, site: Path) -> Report:
    with served(site) as address:
        return check_whole(browser, site, address, ["page.html"])


def test_a_good_site_has_no_miss(browser: Browser, site: Path) -> None:
    assert look(browser, site).misses == []
    assert look_at_whole(browser, site).misses == []


FAULTS = {
    "console error": ("<h1>", "<script>console.error('broken')</script><h1>", "server: console error: broken"),
    "error": ("<h1>", "<script>nothing.at.all</script><h1>", "file: error: nothing is not defined"),
    "request elsewhere": ("<h1>", '<script async src="http://192.0.2.1/a.js"></script><h1>', "request outside the site: http://192.0.2.1/a.js"),
    "missing file": ("<h1>", '<script src="gone.js"></script><h1>', "does not load"),
    "formula not typeset": ('querySelectorAll(".math")', 'querySelectorAll(".maths")', "1 formulas are not typeset"),
    "formula with an error": ("<mjx-container>x", "<mjx-container><mjx-merror></mjx-merror>x", "1 formulas with an error"),
    "raw dollar": ("<h1>", "<p>Where $x = 2$ holds.</p><h1>", "raw TeX in the text: Where $x = 2$ holds."),
    "raw bracket": ("<h1>", "<p>Where \\(x\\) holds.</p><h1>", "raw TeX in the text"),
    "still picture": ('root.querySelector("img").src = frame.src;', "", "colours: the picture does not change at position 1"),
    "still value": ('root.querySelector("output").textContent = frame.label;', "", "value does not change at position 1"),
    "still sentence": ('root.querySelector(".tl-slider-text").textContent = frame.text;', "", "the sentence never changes"),
    "slider that does not move": ('max="1" step', 'max="1" disabled step', "reach 1 of 2 positions"),
    "broken frame": (BLUE, "data:image/png;base64,AA==", "the picture is not drawn at position 1"),
    "dead play button": ("input.value = 1 - input.value;", "", "the button 'Play' moves nothing"),
    "open solution": ("<details>", "<details open>", "is open at first"),
    "solution not opened by key": ("<summary>", '<summary onkeydown="event.preventDefault()">', "does not open by keyboard"),
    "wide": ("<h1>", '<div style="width: 600px">wide</div><h1>', "phone: scrolls sideways, 6"),
    "pale text": ("<h1>", '<p style="color: #bbb">pale</p><h1>', "desktop: axe color-contrast, serious"),
    "pale text in the dark": ("</style>", "[data-theme=dark] p { color: #444 }</style>", "dark: axe color-contrast, serious"),
    "no dark mode": ("=== 'dark' ? 'light' : 'dark'", "", "the button does not reach dark mode"),
    "cut formula": (
        "<h1>", '<style>p { overflow: hidden } p mjx-container { display: inline-block; min-width: 900px; }</style><h1>',
        "1 formulas of the text are cut",
    ),
    "no alt": ('<img src="', '<img src="' + RED + '"><img src="', "axe image-alt, critical"),
    "controls in print": ("@media print { button,", "@media print {", "print: 3 controls show in print"),
    "heading of nothing in print": ("<h1>", '<h2 id="jb-print-toc">Contents</h2><h1>', "print: 1 controls show in print"),
    "cut in print": ("<h1>", '<pre style="overflow: hidden">' + "wide " * 200 + "</pre><h1>", "print: 1 boxes are cut in print"),
    "light letters in print": ("color: black !important", "", "dark, print: text prints in a light colour"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(browser: Browser, site: Path, fault: str) -> None:
    before, after, said = FAULTS[fault]
    assert before in page_text()
    (site / "page.html").write_text(page_text().replace(before, after))
    misses = look(browser, site).misses
    assert any(said in miss for miss in misses), misses


def test_the_page_to_print_is_asked_for_what_matters_on_paper(browser: Browser, site: Path) -> None:
    text = page_text().replace("<body>", '<body class="tl-print">').replace("<details>", "<details open>")
    (site / "page.html").write_text(text)
    assert look(browser, site).misses == []
    (site / "page.html").write_text(text.replace('querySelectorAll(".math")', 'querySelectorAll(".maths")'))
    assert any("formulas are not typeset" in miss for miss in look(browser, site).misses)
    (site / "other.html").write_text(page_text())
    with served(site) as address:
        misses = check_whole(browser, site, address, ["page.html", "other.html"]).misses
    assert not any(miss.startswith("keyboard, page.html") for miss in misses)


def test_a_heavy_page_is_found_with_its_pictures(browser: Browser, site: Path) -> None:
    (site / "_images").mkdir()
    (site / "_images" / "a.webp").write_bytes(b"0" * LIMIT)
    (site / "_images" / "of-another-page.webp").write_bytes(b"0" * LIMIT)
    text = page_text().replace("<h1>", "<!-- _images/a.webp _images/a.webp --><h1>")
    (site / "page.html").write_text(text)
    assert weights(site / "page.html") == (len(text.encode()), LIMIT)
    assert any("weighs 1,50" in miss for miss in look(browser, site).misses)


WHOLE_FAULTS = {
    "dead anchor": ("page.html", '<a href="page.html">', '<a href="page.html#gone">', "which has no such anchor"),
    "dead file": ("page.html", '<a href="page.html">', '<a href="gone.html">', "which is not there"),
    "search without the theorem": ("search.html", '<a href="page.html">', '<a href="search.html">', "gives search.html first"),
    "no search": ("page.html", "box.showModal()", "", "the search for 'Theorem 2' does not end"),
    "unreached slider": ("page.html", '<input type="range"', '<input type="range" tabindex="-1"', "do not reach a slider"),
    "unreached content": ("page.html", '<a class="skip-link"', '<a class="skip"', "the first Tab does not reach"),
}  # fmt: skip


@pytest.mark.parametrize("fault", WHOLE_FAULTS)
def test_a_fault_of_the_whole_site_is_found(browser: Browser, site: Path, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.site_checks.visit.PATIENCE", 2_000)
    name, before, after, said = WHOLE_FAULTS[fault]
    text = (site / name).read_text()
    assert before in text
    (site / name).write_text(text.replace(before, after))
    misses = look_at_whole(browser, site).misses
    assert any(said in miss for miss in misses), misses


def test_links_see_srcset_and_style_sheets(site: Path) -> None:
    (site / "a.css").write_text(
        "/* url(comment.png) */ @import 'b.css'; p { background: url(\"c.png\") } q { background: url( d.png ) }"
    )
    text = page_text().replace(
        "<h1>", '<img alt="a" srcset="e.png 1x, https://example.org/f.png 2x"><h1 style="background: url(g.png)">'
    )
    (site / "page.html").write_text(text.replace("</style>", "h2 { background: url(h.png) }</style>"))
    found = "\n".join(site_findings(site))
    for name in ("b.css", "c.png", "d.png", "e.png", "g.png", "h.png"):
        assert f"loads {name}, which is not there" in found
    assert "loads https://example.org/f.png from elsewhere" in found
    assert "comment" not in found
    assert css_addresses("a { background: url(data:image/png;base64,AA==) }") == ["data:image/png;base64,AA=="]


def test_pages_that_lead_to_another_are_left_out(site: Path) -> None:
    (site / "index.html").write_text('<meta http-equiv="Refresh" content="0; url=page.html">')
    (site / "_static").mkdir()
    (site / "_static" / "sample.html").write_text("a sample")
    assert page_names(site) == ["page.html", "search.html"]


def test_the_command_says_what_is_wrong_and_fails(browser: Browser, site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (site / "page.html").write_text(page_text().replace("<details>", "<details open>"))
    assert main(["--site", str(site), "page.html"]) == 1
    said = capsys.readouterr().out
    assert "page.html: 1 misses" in said
    assert "folded part 'Answer', number 1 is open at first" in said
    assert main(["--site", str(site), "gone.html"]) == 2
    assert main(["--site", str(site / "nowhere")]) == 1


def test_no_browser_is_left_when_the_command_ends(browser: Browser, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def launch_and_close_slowly(playwright: Playwright, program: Path) -> Iterator[Browser]:
        with launch(playwright, program) as slow:
            yield slow
            time.sleep(1.5)  # longer than the server takes to stop

    monkeypatch.setattr(check_site, "launch", launch_and_close_slowly)
    before = set(threading.enumerate())
    assert main(["--site", str(site), "page.html"]) == 0
    assert set(threading.enumerate()) <= before, "a thread that closes its browser while Python ends makes it crash"


def test_without_a_chromium_one_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(browsers.VARIABLE, raising=False)
    with pytest.raises(NoBrowserError, match="install Debian's package 'chromium'"):
        ensure_browser()
    monkeypatch.setenv(browsers.VARIABLE, "/no/such/browser")
    with pytest.raises(NoBrowserError, match="CHROMIUM = '/no/such/browser': must be the path"):
        ensure_browser()


CARDS = """<!DOCTYPE html><html lang="en" data-content_root="../"><head><title>t</title><link rel="icon" href="data:,">
<script src="../_static/previews.js" defer></script><style>.tl-card { padding: 1em; }</style></head><body><article><h1>A</h1>
<p><a href="other.html#theorem-2">Theorem 2</a> <a href="other.html#equation-1">(1)</a> <a class="tl-number" href="#claim-x">0.5</a>
<a href="references.html#li2023">a book</a> <span class="tl-sym sy-t">T</span></p>
<div class="tl-assertion" id="claim-x">0.5 it is</div></article></body></html>"""
OTHER = """<article><h1>B</h1><div class="tl-box" id="theorem-2"><p>It is so.</p></div><div id="equation-1">a = b</div></article>"""


@pytest.fixture
def with_cards(tmp_path: Path) -> Path:
    (tmp_path / "book").mkdir()
    (tmp_path / "_static").mkdir()
    (tmp_path / "book" / "page.html").write_text(CARDS)
    (tmp_path / "book" / "other.html").write_text(OTHER)
    (tmp_path / "book" / "references.html").write_text(
        '<article><h1>C</h1><div class="citation" id="li2023">A paper.</div></article>'
    )
    (tmp_path / "book" / "glossary.html").write_text(
        '<article><h1>D</h1><table><tr><td><span id="symbol-t"></span>T</td><td>number of topics</td></tr></table></article>'
    )
    (tmp_path / "_static" / "previews.js").write_text((ROOT / "book" / "_static" / "previews.js").read_text())
    write_previews(tmp_path)
    return tmp_path


def look_at_cards(browser: Browser, site: Path) -> list[str]:
    context, misses = browser.new_context(), []
    for kind, name in pages_with_cards(site, ["book/page.html"]).items():
        with visit(context, f"{site.as_uri()}/{name}", site.as_uri()) as here:
            misses += card_misses(here.page, kind)
        misses += here.misses
    context.close()
    return misses


def test_cards_come_and_go(browser: Browser, with_cards: Path) -> None:
    assert set(pages_with_cards(with_cards, ["book/page.html"])) == set(KINDS)
    assert look_at_cards(browser, with_cards) == []


@pytest.mark.parametrize(
    ("file", "before", "after", "said"),
    [
        ("_static/previews/other.js", '"theorem-2":', '"theorem-9":', "no card comes for a theorem, by mouse"),
        ("_static/previews/glossary.js", '"symbol-t":', '"symbol-u":', "no card comes for a formula, by mouse"),
        ("_static/previews.js", '"focusin"', '"focusing"', "no card comes for a citation, by keyboard"),
        ("_static/previews.js", '"Escape"', '"Escapade"', "Escape does not take away the card for an equation"),
        ("_static/previews/references.js", "A paper.", "", "the card for a citation is empty"),
    ],
)
def test_a_missing_card_is_found(
    browser: Browser, with_cards: Path, monkeypatch: pytest.MonkeyPatch, file: str, before: str, after: str, said: str
) -> None:
    monkeypatch.setattr("tools.site_checks.cards.WAIT", 1_000)
    text = (with_cards / file).read_text()
    assert before in text
    (with_cards / file).write_text(text.replace(before, after))
    misses = look_at_cards(browser, with_cards)
    assert any(said in miss for miss in misses), misses


WIDE = """<!DOCTYPE html><html lang="en"><head><title>t</title><script src="../_static/page.js" defer></script>
<link rel="stylesheet" href="../_static/course.css"></head><body style="margin: 0; width: 300px"><article class="bd-article">
<p>The loss is <span class="tl-whole"><span class="math"><b style="display: inline-block; width: LENGTHpx">L</b></span>.</span></p>
<div class="math"><mjx-container style="display: block; overflow: auto">
<b style="display: block; width: LENGTHpx">M</b></mjx-container></div>
<figure class="tl-figure"><div class="tl-picture"><img alt="x" width="20" height="20" src="RED" style="width: LENGTHpx"></div>
<figcaption>A picture.</figcaption></figure>
<details><summary>2 numbers of the text, checked</summary><div class="tl-assertion" id="claim-x">0.5 it is</div></details>
</article></body></html>"""
LOOK = """() => ["span.math", ".tl-picture"].map((selector) => {
  const box = document.querySelector(selector);
  box.scrollLeft = box.scrollWidth;
  return [box.className.includes("tl-wide"), box.tabIndex === 0, box.scrollLeft > 0, box.getBoundingClientRect().right <= 300];
})"""


@pytest.mark.parametrize("wide", [True, False])
def test_what_is_wider_than_the_text_scrolls_and_a_link_opens_a_fold(browser: Browser, tmp_path: Path, wide: bool) -> None:
    (tmp_path / "book").mkdir()
    (tmp_path / "_static").mkdir()
    for name in ("page.js", "course.css"):
        (tmp_path / "_static" / name).write_text((ROOT / "book" / "_static" / name).read_text())
    page_file = tmp_path / "book" / "page.html"
    page_file.write_text(WIDE.replace("LENGTH", "700" if wide else "50").replace("RED", RED))
    context = browser.new_context(viewport={"width": 390, "height": 600})
    page = context.new_page()
    page.goto(page_file.as_uri())
    boxes = ("span.math", "mjx-container", ".tl-picture")
    more = [page.locator(box).evaluate("(box) => box.classList.contains('tl-more')") for box in boxes]
    assert more == [wide] * 3
    assert page.evaluate(LOOK) == [[wide, wide, wide, True]] * 2
    fold = page.locator("details")
    assert fold.get_attribute("open") is None
    page.evaluate("location.hash = 'claim-x'")
    page.wait_for_function("document.querySelector('details').open", timeout=2_000)
    context.close()


def test_a_browser_that_does_not_start_is_one_sentence(
    site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(browsers.VARIABLE, "/bin/true")
    assert main(["--site", str(site)]) == 1
    assert capsys.readouterr().err.startswith("Cannot check the site: /bin/true does not start (")
