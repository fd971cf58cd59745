"""What a link's preview shows: the statement, equation, figure, claim, symbol or source that it leads to, as the pages show it.

Each page gets a file of its own, ``_static/previews/PAGE.js``, which ``book/_static/previews.js`` loads when a reader first
rests on a link to that page. A script, not JSON: a page opened from a disk may load the one and not the other.
"""

from __future__ import annotations

import copy
import json
import posixpath
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lxml import html
from lxml.html import HtmlElement

FOLDER = "_static/previews"
LONGEST = 6000
"""Characters of a preview; a longer box ends after a whole part of it, with a sign that more follows."""
LEFT_OUT = "script, details, .headerlink, button, input"


def _classes(element: HtmlElement) -> set[str]:
    return set((element.get("class") or "").split())


def _shown(element: HtmlElement, title: str) -> HtmlElement | None:
    """The part of the page that stands for ``element``; None where there is nothing to show."""
    if element.tag == "span":  # an anchor inside a row of a table, or at a term
        element = next(element.iterancestors("tr", "dt"), element)
    classes = _classes(element)
    if element.tag in ("section", "h1", "h2", "h3") or "target" in classes:
        section = element if element.tag == "section" else element.getparent()
        parts = [child for child in section if child.tag in ("h1", "h2", "h3", "p")][:2]
        if not parts or parts[0].tag == "p":
            return None
        box = html.Element("div")
        box.extend(copy.deepcopy(part) for part in parts)
        return box
    if "tl-assertion" in classes:
        box = copy.deepcopy(element)
        place = html.Element("div", {"class": "tl-card-place"})
        place.text = f"Asserted in: {title}"
        box.append(place)
        return box
    if element.tag in ("tr", "dt"):
        box = html.Element("div")
        for cell in element if element.tag == "tr" else [element, element.getnext()]:
            if not cell.text_content().strip():
                continue
            part = html.Element("p")
            part.text, part[:] = cell.text, [copy.deepcopy(child) for child in cell]
            box.append(part)
        return box
    return copy.deepcopy(element)


def _trimmed(box: HtmlElement) -> HtmlElement:
    """Without what cannot work in a preview, with identifiers removed, and not too long."""
    for part in box.cssselect(LEFT_OUT):
        part.drop_tree()
    for part in box.iter():
        if isinstance(part.tag, str):
            part.attrib.pop("id", None)
    whole = len(box)
    while len(html.tostring(box)) > LONGEST and len(box) > 1:
        box[-1].drop_tree()
    if len(box) < whole:
        more = html.Element("p", {"class": "tl-card-more"})
        more.text = "…"
        box.append(more)
    return box


def _links_from_here(box: HtmlElement, page: str) -> None:
    """A link within the page becomes one to the page: the preview stands on another."""
    for link in box.iter("a"):
        if (link.get("href") or "").startswith("#"):
            link.set("href", posixpath.basename(page) + link.get("href"))


def _targets(pages: dict[str, HtmlElement]) -> dict[str, set[str]]:
    """Page -> identifiers that some link of the site's articles leads to."""
    wanted: dict[str, set[str]] = defaultdict(set)
    for page, root in pages.items():
        for link in root.cssselect("article a[href*='#']"):
            parts = urlsplit(link.get("href"))
            if not parts.scheme and not parts.netloc and parts.fragment:
                target = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(parts.path))) if parts.path else page
                wanted[target].add(unquote(parts.fragment))
    return wanted


def previews(pages: dict[str, HtmlElement]) -> Iterator[tuple[str, dict[str, str]]]:
    """Each page's name with identifier -> HTML of the preview."""
    wanted = _targets(pages)
    for page, root in pages.items():
        headings = root.cssselect("article h1")
        title = headings[0].text_content().rstrip("#").strip() if headings else page
        found: dict[str, str] = {}
        named = {element.get("id"): element for element in root.cssselect("article [id]")}
        names = wanted[page] | {name for name in named if name.startswith("symbol-")}
        for name in sorted(names & set(named)):
            box = _shown(named[name], title)
            if box is not None:
                box.tail = None
                _trimmed(box)
                _links_from_here(box, page)
                found[name] = html.tostring(box, encoding="unicode")
        yield page, found


def write_previews(site: Path) -> None:
    """Write the previews of every page of the site."""
    pages = {
        path.relative_to(site).as_posix(): html.document_fromstring(path.read_text())
        for path in sorted((site / "book").glob("*.html"))
    }
    folder = site / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for page, found in previews(pages):
        name = posixpath.basename(page).removesuffix(".html")
        content = json.dumps(found, ensure_ascii=False, sort_keys=True)
        (folder / f"{name}.js").write_text(f"tlPreviews[{json.dumps(name)}] = {content};\n")
