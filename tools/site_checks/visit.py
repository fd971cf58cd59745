"""Open a page as a reader does, and keep what goes wrong behind it: console errors, failed requests, requests to elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, Response

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
PAPER = {"width": 718, "height": 1000}
"""A4 less Chromium's margins, at 96 dots an inch."""
PATIENCE = 60_000
"""Milliseconds before a page counts as hung."""
MATHS = "() => !document.querySelector('.math') || Boolean(window.MathJax?.startup?.promise)"


@dataclass
class Visit:
    """A page that is open, and its misses so far."""

    page: Page
    home: str
    misses: list[str] = field(default_factory=list)

    def listen(self) -> None:
        """Keep what the browser reports from now on."""
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.misses.append(f"error: {str(error)[:300]}"))
        self.page.on("request", self._request)
        self.page.on("requestfailed", self._failed)
        self.page.on("response", self._response)

    def _console(self, message: ConsoleMessage) -> None:
        # A file that does not load is reported with its address below.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self.misses.append(f"console {message.type}: {message.text[:300]}")

    def _inside(self, address: str) -> bool:
        return address.startswith((self.home, "data:", "blob:", "about:"))

    def _request(self, request: Request) -> None:
        if not self._inside(request.url):
            self.misses.append(f"request outside the site: {request.url[:200]}")

    def _failed(self, request: Request) -> None:
        if self._inside(request.url):
            self.misses.append(f"does not load: {request.url[:200]} ({request.failure})")

    def _response(self, response: Response) -> None:
        if response.status >= 400 and self._inside(response.url):
            self.misses.append(f"does not load: {response.url[:200]} ({response.status})")


@contextmanager
def visit(context: BrowserContext, address: str, home: str) -> Iterator[Visit]:
    """Open ``address`` at desktop size, its formulas typeset; whatever is asked for outside ``home`` is a miss."""
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]
    here = Visit(page, home)
    here.listen()
    try:
        page.goto(address, wait_until="load")
        page.wait_for_function(MATHS)
        page.evaluate("() => window.MathJax?.startup?.promise?.then(() => null)")
        yield here
    finally:
        page.close()
