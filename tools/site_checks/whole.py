"""What is asked once of the whole site: the search finds a theorem, and the Tab key reaches all that a reader needs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page, TimeoutError

WANTED = ("Theorem 2", 'id="theorem-2"')
"""What is searched for, and what the page that must be found holds."""
TABS = 400
STOPS = {
    "the link that skips to the content": "a.skip-link, .skip-link a",
    "the search": ".search-button, .search-button__button, input[type=search]",
    "the navigation": "nav a, .bd-sidebar-primary a",
    "a slider": "figure.tl-slider input[type=range]",
}
FOCUSED = "(stops) => stops.map((s) => Boolean(document.activeElement?.matches(s)))"


def search_misses(page: Page, site: Path) -> Iterator[str]:
    """Search from an open page, by keyboard, as a reader does."""
    query, mark = WANTED
    homes = {path.name for path in site.rglob("*.html") if mark in path.read_text()}
    if not homes:
        yield f"no page holds {mark}"
        return
    page.keyboard.press("Control+k")
    page.keyboard.type(query)
    page.keyboard.press("Enter")
    try:
        page.wait_for_url("**/search.html*")
        page.wait_for_function("() => /found|did not match/.test(document.querySelector('#search-results p')?.textContent ?? '')")
    except TimeoutError:
        yield f"the search for '{query}' does not end"
        return
    links: list[str] = page.evaluate("() => [...document.querySelectorAll('#search-results li a')].map((a) => a.href)")
    first = [link.split("?")[0].split("#")[0].rsplit("/", 1)[-1] for link in links[:3]]
    if not homes & set(first):
        yield f"the search for '{query}' gives {', '.join(first) or 'nothing'} first, not {', '.join(sorted(homes))}"


def keyboard_misses(page: Page) -> Iterator[str]:
    """Press Tab from the top of a page that has a slider until all stops are reached."""
    missing = dict(STOPS)
    for number in range(TABS):
        page.keyboard.press("Tab")
        hit = page.evaluate(FOCUSED, list(STOPS.values()))
        for name, there in zip(STOPS, hit, strict=True):
            if there:
                missing.pop(name, None)
        if number == 0 and next(iter(STOPS)) in missing:
            yield "the first Tab does not reach the link that skips to the content"
        if not missing:
            return
    for name in missing:
        yield f"{TABS} times Tab do not reach {name}"
