"""What a reader in Colab sees: plain Markdown that plain Jupyter renders, with every link led to the site."""

from __future__ import annotations

import re
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter

from tools import colab, settings
from tools.colab import edition, launch_address, resolved
from tools.notebooks import chapters

ADDRESS = "https://github.com/Ada/topics"
PAGES = "https://ada.github.io/topics"
MATHJAX = next(Path(sys.prefix).glob("lib/python*/site-packages/**/tex-mml-chtml.js"), None)
MACRO = re.compile(r"\\([a-zA-Z]+)")
FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<!\\)\$([^$\n]+)\$", re.S)
ENVIRONMENT = re.compile(r"\\(?:begin|end)\{(\w+\*?)\}")


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "repository", lambda: ADDRESS)
    monkeypatch.setattr(colab, "repository", lambda: ADDRESS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[0.34](#claim-ratio)", f"[0.34]({PAGES}/book/04_token_embeddings.html#claim-ratio)"),
        ("[5.3](05_3_attention_weights.ipynb)", f"[5.3]({PAGES}/book/05_3_attention_weights.html)"),
        ("[T](05.ipynb#theorem-1) x", f"[T]({PAGES}/book/05.html#theorem-1) x"),
        ("[A (2019)](references.md#a2019)", f"[A (2019)]({PAGES}/book/references.html#a2019)"),
        ("[$p_m$ of [MASK]](#masks)", f"[$p_m$ of [MASK]]({PAGES}/book/04_token_embeddings.html#masks)"),
        ("[out](https://arxiv.org/abs/1)", "[out](https://arxiv.org/abs/1)"),
        ("`[x](#y)` and $[a](b.md)$", "`[x](#y)` and $[a](b.md)$"),
        ("$a$ [x](#y) $b$", f"$a$ [x]({PAGES}/book/04_token_embeddings.html#y) $b$"),
    ],
)
def test_links_lead_to_the_site(text: str, expected: str, public: None) -> None:
    assert resolved(text, "04_token_embeddings") == expected


def test_without_an_address_a_link_is_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "repository", lambda: settings.PLACEHOLDER)
    assert resolved("[0.34](#claim-ratio) of [Section 4](04.ipynb#a) [out](https://arxiv.org)", "x") == (
        "0.34 of Section 4 [out](https://arxiv.org)"
    )
    assert launch_address("preface") is None


def test_the_launch_button_opens_the_published_notebook(public: None) -> None:
    assert launch_address("preface") == "https://colab.research.google.com/github/Ada/topics/blob/gh-pages/colab/preface.ipynb"


class Rendered(HTMLParser):
    """The links, pictures and identifiers of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "a" and "anchor-link" not in (values.get("class") or ""):
            self.links.append(values.get("href") or "")
        if tag == "img":
            self.loads.append(values.get("src") or "")


def seen(notebook: nbformat.NotebookNode) -> set[str]:
    """What a reader of plain Jupyter would meet that is raw or dead."""
    text = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    body, _ = HTMLExporter(template_name="basic").from_notebook_node(notebook)
    page = Rendered()
    page.feed(body)
    found = {f"link {link}" for link in page.links if not link.startswith("https://")}
    found |= {f"picture {source}" for source in page.loads}  # pictures come from cells alone
    plain = re.sub(r"<pre.*?</pre>|<code.*?</code>", "", body, flags=re.S)
    raw = re.findall(r":::|\{(?:ref|numref|cite|eq|doc|prf:\w+)\}|```|\]\((?:#|[\w./-]+\.(?:ipynb|md))|\*\*\w+", plain)
    formulas = [a or b for a, b in FORMULA.findall(text)]
    macros = {name for f in formulas for name in MACRO.findall(f)} | {name for f in formulas for name in ENVIRONMENT.findall(f)}
    return found | {f"raw {part}" for part in raw} | {f"macro {name}" for name in macros - known()}


@cache
def known() -> frozenset[str]:
    """Every name that MathJax has."""
    assert MATHJAX is not None
    return frozenset(re.findall(r"[A-Za-z]+\*?", MATHJAX.read_text()))


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)
def test_plain_jupyter_renders_a_chapter_without_anything_raw_or_dead(path: Path, public: None) -> None:
    notebook = edition(path)
    nbformat.validate(notebook)
    assert seen(notebook) == set()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (":::{note}\nx\n:::", "raw :::"),
        ("see {ref}`x`", "raw {ref}"),
        ("[x](#y)", "link #y"),
        ('<a href="04.html">x</a>', "link 04.html"),
        ("![x](y.png)", "picture y.png"),
        (r"$\ourmacro{x}$", "macro ourmacro"),
        (r"$$\begin{ourthing} x \end{ourthing}$$", "macro ourthing"),
        ("<p>**Theorem 1** a</p>", "raw **Theorem"),
    ],
)
def test_what_is_raw_or_dead_is_seen(text: str, found: str) -> None:
    assert found in seen(nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)]))
