"""Check a rendered site: every internal link and anchor resolves, nothing is loaded from elsewhere, external links are listed."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tools.settings import ROOT, repository
from tools.settings import site as pages_address

EXTERNAL = ROOT / "tools" / "external_links.txt"
LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src", "embed": "src"}
LOADED_RELS = {"stylesheet", "icon", "preload", "prefetch", "modulepreload", "manifest", "shortcut icon"}

CSS_COMMENT = re.compile(r"/\*.*?\*/", re.S)
CSS_ADDRESS = re.compile(r"""url\(\s*(?:"([^"]*)"|'([^']*)'|([^)"'\s]*))\s*\)|@import\s+(?:"([^"]*)"|'([^']*)')""")


def css_addresses(text: str) -> list[str]:
    """What a style sheet loads: every ``url(...)`` and ``@import``."""
    return ["".join(match) for match in CSS_ADDRESS.findall(CSS_COMMENT.sub("", text))]


class _Page(HTMLParser):
    """The identifiers of a page, its links, and what it loads."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.silent: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.ids |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag == "img" and not values.get("alt", "").strip():
            self.silent.append(values.get("src", "")[:60])
        if tag in LOADS and values.get(LOADS[tag]):
            self.loads.append(values[LOADS[tag]])
        if values.get("srcset"):
            self.loads += [choice.split()[0] for choice in values["srcset"].split(", ")]
        self.loads += css_addresses(values.get("style", ""))
        if tag == "link" and values.get("rel", "") in LOADED_RELS:
            self.loads.append(values.get("href", ""))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "style":
            self.loads += css_addresses(data)


def site_findings(site: Path) -> Iterator[str]:
    """What is wrong with the site, a line each."""
    allowed = [line.strip() for line in EXTERNAL.read_text().splitlines() if line.strip() and not line.startswith("#")]
    if address := pages_address():
        allowed += [address, repository(), "https://colab.research.google.com/github/"]
    pages: dict[Path, _Page] = {}
    for path in sorted(site.rglob("*.html")):
        if "_static" not in path.relative_to(site).parts:
            pages[path.resolve()] = page = _Page()
            page.feed(path.read_text())
    if not pages:
        yield f"{site} has no pages"
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        for source in page.silent:
            yield f"{name}: image {source} has no alt text"
        yield from (f"{name}: {finding}" for finding in _load_findings(path, page.loads))
        for address in page.links:
            parts = urlsplit(address)
            if parts.scheme in ("http", "https"):
                if not any(address == prefix or address.startswith(prefix.rstrip("/") + "/") for prefix in allowed):
                    yield f"{name}: external link {address} is not in {EXTERNAL.name}"
            elif not parts.scheme:
                target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
                if not target.exists():
                    yield f"{name}: link to {address}, which is not there"
                elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
                    yield f"{name}: link to {address}, which has no such anchor"
    for sheet in sorted(site.rglob("*.css")):
        found = _load_findings(sheet, css_addresses(sheet.read_text()))
        yield from (f"{sheet.relative_to(site)}: {finding}" for finding in found)


def _load_findings(path: Path, addresses: list[str]) -> Iterator[str]:
    """What a file loads from elsewhere, or from a place where nothing is."""
    for address in addresses:
        parts = urlsplit(address)
        if parts.scheme in ("http", "https") or parts.netloc:
            yield f"loads {address} from elsewhere"
        elif parts.scheme != "data" and not (path.parent / unquote(parts.path)).resolve().exists():
            yield f"loads {address}, which is not there"


if __name__ == "__main__":
    found = list(site_findings(ROOT / "_build" / "html"))
    print("\n".join(found) or "no findings")
    sys.exit(bool(found))
