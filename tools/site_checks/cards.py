"""Cards: resting on a link, a number or a formula shows what is behind it, with the mouse and by keyboard; Escape takes it away."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from playwright.sync_api import Page, TimeoutError

SCRIPT = "_static/previews.js"
KINDS = {
    "a theorem": ("article a[href*='#theorem-']:not(.headerlink)", r'href="[^"]*#theorem-'),
    "an equation": ("article a[href*='#equation-']:not(.headerlink)", r'href="[^"]*#equation-'),
    "a number of the text": ("article a.tl-number", r'class="[^"]*\btl-number\b'),
    "a citation": ("article a[href*='references.html#']:not(.headerlink)", r'href="references\.html#'),
    "a formula": ("article .tl-sym", r'class="[^"]*\btl-sym\b'),
}
CARD = ".tl-card:not([hidden])"
WAIT = 15_000
"""Milliseconds in which a card must come, or go."""


def pages_with_cards(site: Path, names: Sequence[str]) -> dict[str, str]:
    """Kind -> the first page that has one of it."""
    found: dict[str, str] = {}
    for name in names:
        text = (site / name).read_text()
        for kind, (_, pattern) in KINDS.items():
            if kind not in found and "tl-print" not in text and re.search(pattern, text):
                found[kind] = name
    return found


def card_misses(page: Page, kind: str) -> Iterator[str]:
    """Rest on the first of its kind, leave it with Escape; the same by keyboard where it can be focused."""
    target = page.locator(KINDS[kind][0]).first
    for way in ("mouse", "keyboard"):
        if way == "keyboard" and kind == "a formula":
            continue
        try:
            if way == "mouse":
                target.scroll_into_view_if_needed()
                target.hover()
            else:
                page.mouse.move(0, 0)
                page.keyboard.press("Tab")  # so that what is focused next counts as reached by keyboard
                target.focus()
            page.wait_for_selector(CARD, timeout=WAIT)
        except TimeoutError:
            yield f"no card comes for {kind}, by {way}"
            continue
        if not page.inner_text(CARD).strip():
            yield f"the card for {kind} is empty"
        page.keyboard.press("Escape")
        try:
            page.wait_for_selector(CARD, state="detached", timeout=WAIT)
        except TimeoutError:
            yield f"Escape does not take away the card for {kind}, by {way}"
