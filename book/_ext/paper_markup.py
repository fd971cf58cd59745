"""Give plain Markdown the book's look, so that the same notebook reads well in Jupyter, in Colab and here.

- A block quote that begins with bold 'Theorem 1', 'Lemma 1', 'Exercise 3.1-...', 'In this chapter' and the like
  becomes a box, with an identifier for links (``#theorem-1``).
- A displayed equation with ``\\tag{5}`` gets the identifier ``equation-5``; numbers are the paper's.
- A box that states a result of the map gets a line that leads to its functions and their tests.
- Identifiers in HTML (figures, claims, sliders) can be linked to with ``[text](#id)`` and ``[text](other.ipynb#id)``.
- Once the repository has a public address, a chapter's page has a button that opens it in Colab.
- The search finds what is named so ('Theorem 2'), and works where the pages are read as files.
- Screen readers get names for the theme's arrows that fold the contents.
- The folded solutions of self-study exercises are put in behind them (only here, not in the notebooks).
A link to an identifier that is not there is a warning, so with ``-W`` it fails the build.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.transforms import Transform
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinxcontrib.bibtex.nodes import bibliography

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import topiclib.theory  # noqa: F401  enters its results
from exercises.catalogue import PAPER, TASKS
from tools.colab import launch_address
from tools.settings import site
from topiclib.theory.results import RESULTS

LOGGER = logging.getLogger(__name__)
PAPER_KINDS = ("Theorem", "Lemma", "Definition", "Assumption", "Remark", "Claim", "Proof")
OUR_KINDS = ("Exercise", "Paper exercise", "In this chapter", "Beyond the paper", "Erratum", "Note")
BOX = re.compile(rf"^({'|'.join(PAPER_KINDS + OUR_KINDS)})\b[ \u00a0]?([\w.\-]*)")
TAG = re.compile(r"\\tag\{([^}]*)\}")
BIBLIOGRAPHY = Path(__file__).resolve().parents[1] / "references.bib"
BIB_KEY = re.compile(r"^@\w+\{([^,\s]+),", re.M)
HTML_ID = re.compile(r"""\sid=["']([A-Za-z][\w\-.]*)["']""")


def identifier(title: str) -> str:
    """``theorem-1`` for Theorem 1, ``equation-a-8`` for equation A.8."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def functions_line(ident: str, docname: str) -> str:
    """A line that leads from a result's box to its functions in the map of results; nothing for a box that states none."""
    if not BIBLIOGRAPHY.with_name("results_map.md").exists():
        return ""
    place = f"{Path(docname).name}.ipynb#{ident}"
    found = [
        result.function
        for result in RESULTS.values()
        if result.chapter == place or re.match(rf"{re.escape(ident)}(-|$)", identifier(result.paper))
    ]
    links = ", ".join(f'<a href="results_map.html#map-{name}"><code>{name}</code></a>' for name in found)
    return f'<p class="tl-box-code">In code, with its tests: {links}</p>' if found else ""


class PaperMarkup(Transform):
    """See the module's docstring. Runs before links to identifiers are resolved."""

    default_priority = 500

    def apply(self, **_: Any) -> None:
        self.slugs: dict[str, tuple[int | None, str, str]] = getattr(self.document, "myst_slugs", {})
        env = self.document.settings.env
        for quote in list(self.document.findall(nodes.block_quote)):
            self.box(quote)
        for block in list(self.document.findall(nodes.math_block)):
            self.equation(block)
        for raw in list(self.document.findall(nodes.raw)):
            for ident in HTML_ID.findall(raw.astext()):
                self.slugs.setdefault(ident, (raw.line, ident, ident))
        for reference in self.document.findall(nodes.reference):
            if str(reference.get("refuri", "")).startswith("#claim-"):
                reference["classes"].append("tl-number")
        if any(True for _ in self.document.findall(bibliography)):
            for key in BIB_KEY.findall(BIBLIOGRAPHY.read_text()):
                self.slugs.setdefault(key, (None, key, key))
        self.document.myst_slugs = self.slugs
        env.metadata[env.docname]["myst_slugs"] = self.slugs

    def box(self, quote: nodes.block_quote) -> None:
        """Turn a block quote that begins with a bold label into a box."""
        first = quote[0] if len(quote) else None
        inline = [child for child in first if child.astext()] if isinstance(first, nodes.paragraph) else []
        if not inline or not isinstance(inline[0], nodes.strong):
            return
        match = BOX.match(inline[0].astext())
        if match is None:
            return
        kind, number = match[1], match[2].rstrip(".")
        kind = "Exercise" if kind == "Paper exercise" else kind  # they are named alike: exercise-3-3-name
        box = nodes.container(classes=["tl-box", f"tl-{identifier(kind)}"])
        if number:
            self.name(box, f"{kind} {number}", quote)
        first["classes"].append("tl-box-title")
        box += quote.children
        if number and (line := functions_line(identifier(f"{kind} {number}"), self.document.settings.env.docname)):
            box += nodes.raw("", line, format="html")
        quote.replace_self(box)

    def name(self, node: nodes.Element, title: str, source: nodes.Element) -> None:
        """Let links find ``node`` by its title. A number has one place in the book: a second one is a warning."""
        ident, env = identifier(title), self.document.settings.env
        if not at_home(env, ident, f"{env.docname}:{source.line}", source):
            return
        node["ids"].append(ident)
        self.slugs[ident] = (source.line, ident, title)
        # Sphinx's search leaves out numbers, but not in entries of the index.
        source.parent.insert(source.parent.index(source), addnodes.index(entries=[("single", title, ident, "main", None)]))

    def equation(self, block: nodes.math_block) -> None:
        """Name an equation by its tag, and keep Sphinx from wrapping it (a tag cannot stand inside ``split``)."""
        text = block.astext()
        tag = TAG.search(text)
        if tag is None:
            return
        self.name(block, f"Equation {tag[1]}", block)
        block["nowrap"] = True
        block.rawsource = f"\\[{text}\\]"
        block.children = [nodes.Text(block.rawsource)]


def at_home(env: Any, ident: str, here: str, location: Any) -> bool:
    """Enter the one place of a number; a warning, and False, where it has another."""
    homes: dict[str, str] = env.__dict__.setdefault("tl_homes", {})
    if homes.setdefault(ident, here) != here:
        LOGGER.warning(f"{ident} stands in {homes[ident]} already", location=location)
        return False
    return True


def merge_homes(_: Sphinx, env: Any, docnames: list[str], other: Any) -> None:
    """Bring together what two processes read."""
    for ident, place in other.__dict__.get("tl_homes", {}).items():
        if (docname := place.rsplit(":", 1)[0]) in docnames:
            at_home(env, ident, place, docname)


def fold_solutions(_: Sphinx, docname: str, source: list[str]) -> None:
    """Put the folded solution behind each exercise of a chapter that nobody grades."""
    if not source[0].lstrip().startswith("{"):
        return
    notebook = json.loads(source[0])
    cells = []
    for cell in notebook["cells"]:
        cells.append(cell)
        ident = cell["metadata"].get("exercise")
        last = ident in PAPER or cell["id"].endswith("-check")
        if ident and last and not TASKS[ident].graded:
            text = TASKS[ident].solution_cell()
            cells.append({"cell_type": "markdown", "id": f"{TASKS[ident].anchor}-solution", "metadata": {}, "source": text})
    notebook["cells"] = cells
    source[0] = json.dumps(notebook)


def drop_thebe(_: Sphinx, __: str, ___: str, context: dict[str, Any], ____: Any) -> None:
    """Leave out what sphinx-thebe puts into every page though it is off: a second copy of it is an error in the browser."""
    scripts = context.get("script_files", [])
    scripts[:] = [
        s
        for s in scripts
        if "thebe" not in str(getattr(s, "filename", s)).lower() and "THEBE" not in str(getattr(s, "attributes", ""))
    ]


def name_folds(_: Sphinx, __: str, ___: str, context: dict[str, Any], ____: Any) -> None:
    """Give each arrow that folds a part of the contents a name that can be read aloud."""
    made_by_theme = context.get("generate_toctree_html")
    if made_by_theme is None:
        return

    def named(*arguments: Any, **options: Any) -> Any:
        contents = made_by_theme(*arguments, **options)
        for summary in contents.select("li > details > summary"):
            summary["aria-label"] = f"Sections of {summary.find_parent('li').a.get_text()}"
        return contents

    context["generate_toctree_html"] = named


def list_references(_: Sphinx, __: str, ___: str, context: dict[str, Any], ____: Any) -> None:
    """The entries of a list of references are items of that list to a screen reader."""
    if "body" in context:
        context["body"] = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')


def search_files(app: Sphinx, pagename: str, _: str, __: dict[str, Any], ___: Any) -> None:
    """Where the pages are files, results come without excerpts: a browser may not read one file for another."""
    if pagename == "search":
        app.add_js_file(None, body="if (location.protocol === 'file:') DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;")


def start_in_the_readers_colours(_: Sphinx, __: str, ___: str, context: dict[str, Any], ____: Any) -> None:
    """Light or dark as the reader's system has it; with no mode at all the theme logs an error on the first visit."""
    context["default_mode"] = "auto"


def enable_buttons(_: Sphinx, config: Any) -> None:
    """Buttons that lead to the repository, once it has an address: nobody meets a dead one before."""
    if site() is not None:
        config.html_theme_options |= {f"use_{name}_button": True for name in ("repository", "issues", "edit_page")}


def add_launch_button(_: Sphinx, pagename: str, __: str, context: dict[str, Any], ___: Any) -> None:
    """The button that opens a chapter in Colab."""
    chapter = Path(pagename).name
    address = launch_address(chapter)
    if address is not None and (BIBLIOGRAPHY.parent / f"{chapter}.ipynb").exists():
        button = {"type": "link", "url": address, "tooltip": "Open in Colab", "icon": "fas fa-rocket", "label": "launch-colab"}
        context["header_buttons"].insert(0, button)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_transform(PaperMarkup)
    app.connect("source-read", fold_solutions)
    app.connect("env-merge-info", merge_homes)
    app.connect("config-inited", enable_buttons)
    app.connect("html-page-context", add_launch_button, priority=502)
    app.connect("html-page-context", drop_thebe, priority=900)
    app.connect("html-page-context", name_folds, priority=900)
    app.connect("html-page-context", list_references)
    app.connect("html-page-context", search_files)
    app.connect("html-page-context", start_in_the_readers_colours, priority=100)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
