"""The whole book as one page to print, ``book/print.html``, from the rendered pages.

Code that only draws or sets up is left out, as are buttons; a slider shows the picture it begins with. What is folded on the pages,
answers and solutions, stands at the end; checked numbers stand where they are. Nothing is
added: what the pages do not show, this one does not.
"""

from __future__ import annotations

import copy
import posixpath
from collections.abc import Collection, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lxml import html
from lxml.html import HtmlElement

NAME = "print.html"
LEFT_OUT = "script, button, input[type=range], .headerlink, details.hide, .prev-next-footer, .tl-map"


def _ids(article: HtmlElement, page: str, printed: Collection[str]) -> None:
    """Make the identifiers and links of an article those of the one page."""
    for part in article.iter():
        if isinstance(part.tag, str) and part.get("id"):
            part.set("id", f"{page}--{part.get('id')}")
    for link in article.iter("a"):
        parts = urlsplit(link.get("href") or "")
        if parts.scheme or parts.netloc:
            continue
        target = posixpath.basename(unquote(parts.path)).removesuffix(".html") or page
        if target not in printed:
            continue
        link.set("href", f"#{target}--{parts.fragment}" if parts.fragment else f"#{target}")


def _fold(article: HtmlElement, page: str) -> list[HtmlElement]:
    """Take what is folded out of an article; returns it, each with a link back to where it stood."""
    taken = []
    for run in article.cssselect("details.tl-checked"):
        run.tag = "div"
        run.remove(run.find("summary"))
    for number, fold in enumerate(article.cssselect("details"), 1):
        if fold.getparent() is None:
            continue
        summary = fold.find("summary")
        words = summary.text_content().strip() if summary is not None else "Answer"
        here, there = f"{page}--fold-{number}", f"{page}--unfolded-{number}"
        link = html.Element("p", {"id": here})
        anchor = html.Element("a", {"href": f"#{there}"})
        anchor.text = f"{words}: at the end, {page.replace('_', '.')} ({number})"
        link.append(anchor)
        link.tail, answer = fold.tail, copy.deepcopy(fold)
        fold.getparent().replace(fold, link)
        answer.tag, answer.tail = "div", None
        answer.attrib.clear()
        answer.set("id", there)
        answer.set("class", "tl-unfolded")
        if summary is not None:
            answer.remove(answer.find("summary"))
        back = html.Element("p")
        to_place = html.Element("a", {"href": f"#{here}"})
        to_place.text = f"{words} ({number})"
        back.append(to_place)
        answer.insert(0, back)
        taken.append(answer)
    return taken


def _article(path: Path, printed: Collection[str]) -> tuple[HtmlElement, list[HtmlElement]]:
    """A page's article, and what was folded in it."""
    page = path.stem
    found = html.document_fromstring(path.read_text()).cssselect("article.bd-article")[0]
    for part in found.cssselect(LEFT_OUT):
        part.drop_tree()
    for picture in found.iter("img"):
        picture.attrib.pop("loading", None)
    _ids(found, page, printed)
    found.set("id", page)
    return found, _fold(found, page)


def write_print(site: Path, pages: Sequence[str]) -> None:
    """Write the page; ``pages`` are the names of those to print, in order."""
    first = html.document_fromstring((site / "book" / f"{pages[0]}.html").read_text())
    body = html.Element("body", {"class": "tl-print"})
    main = html.Element("main", {"class": "bd-article"})
    body.append(main)
    ends = []
    for page in pages:
        article, folded = _article(site / "book" / f"{page}.html", pages)
        main.append(article)
        if folded:
            part = html.Element("section")
            heading = html.Element("h2")
            headings = article.cssselect("h1")
            heading.text = headings[0].text_content().strip() if headings else page
            part.extend([heading, *folded])
            ends.append(part)
    end = html.Element("article")
    heading = html.Element("h1")
    heading.text = "Answers and solutions"
    end.extend([heading, *ends])
    main.append(end)
    head = first.find("head")
    kept = [part for part in head if part.tag in ("meta", "title") or _is_kept_link(part) or _of_mathematics(part)]
    page_head = html.Element("head")
    page_head.extend(kept)
    scripts = [part for part in first.find("body").iter("script") if _of_mathematics(part)]
    page_head.extend(scripts)
    whole = html.Element("html", {"lang": "en", "data-content_root": "../", "data-theme": "light", "data-mode": "light"})
    whole.extend([page_head, body])
    (site / "book" / NAME).write_text("<!DOCTYPE html>\n" + html.tostring(whole, encoding="unicode"))


def _is_kept_link(part: HtmlElement) -> bool:
    """Whether it links to a style sheet or the like, and not to a script that this page leaves out."""
    return part.tag == "link" and part.get("rel") != "preload"


def _of_mathematics(part: HtmlElement) -> bool:
    """Whether it is the script of MathJax or its settings: the only ones that the page to print needs."""
    return part.tag == "script" and ("mathjax" in (part.get("src") or "").lower() or "MathJax" in (part.text or ""))
