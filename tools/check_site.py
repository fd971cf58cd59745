"""Look at every page of the built site with a browser, as readers do: from a server and from files, on a desktop and on
a phone, light and dark, on paper, with the keyboard alone.

``python -m tools.check_site [--site FOLDER] [PAGE ...]`` exits with 1 on any miss.
"""

from __future__ import annotations

import argparse
import functools
import queue
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Error, Page, sync_playwright

from tools.browser import NoBrowserError, ensure_browser, launch
from tools.settings import ROOT
from tools.site import site_findings
from tools.site_checks.cards import KINDS, SCRIPT, card_misses, pages_with_cards
from tools.site_checks.content import fold_misses, formula_misses, phone_misses, print_misses
from tools.site_checks.readable import axe, go_dark
from tools.site_checks.sliders import SLIDERS, slider_misses
from tools.site_checks.visit import DESKTOP, visit
from tools.site_checks.weight import weight_misses, weights
from tools.site_checks.whole import keyboard_misses, search_misses

WORKERS = 2
PRINT_PAGE = '<body class="tl-print">'


@dataclass
class Report:
    """What was found on one page."""

    page: str
    misses: list[str] = field(default_factory=list)
    mild: Counter[str] = field(default_factory=Counter)
    size: tuple[int, int] = (0, 0)
    seconds: float = 0.0

    def add(self, where: str, found: Iterable[str]) -> None:
        """Keep findings with the mode they were made in."""
        self.misses += [f"{where}: {miss}" for miss in found]

    def add_axe(self, where: str, found: tuple[list[str], Counter[str]]) -> None:
        """Keep what axe found: misses, and the most of each milder rule."""
        self.add(where, found[0])
        self.mild |= found[1]

    def lines(self) -> Iterator[str]:
        """A line for the page, and one for each miss."""
        own, pictures = (size / 1000 for size in self.size)
        mild = f"; milder: {', '.join(f'{rule} {n}' for rule, n in sorted(self.mild.items()))}" if self.mild else ""
        state = f"{len(self.misses)} misses" if self.misses else "good"
        yield f"{self.page}: {state}, {own:,.0f} kB and {pictures:,.0f} kB of pictures, {self.seconds:.1f} s{mild}"
        yield from (f"    {miss}" for miss in self.misses)


class _Server(ThreadingHTTPServer):
    """A server that prints nothing when a browser no longer wants what it asked for."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a connection that was closed; what fails otherwise is shown."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Silent(SimpleHTTPRequestHandler):
    """Files, without a log."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the browser reports what does not load."""


@contextmanager
def served(site: Path) -> Iterator[str]:
    """Serve the folder on a free port of this machine; gives the address."""
    server = _Server(("127.0.0.1", 0), functools.partial(_Silent, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def reader(browser: Browser, report: Report) -> Iterator[BrowserContext]:
    """A reader on a desktop who asks for light colours and for nothing that moves by itself.

    A browser that stops is a miss of the report, which also gets the seconds that the reader took.
    """
    start = time.monotonic()
    context = browser.new_context(viewport=DESKTOP, color_scheme="light", reduced_motion="reduce")  # type: ignore[arg-type]
    try:
        yield context
    except Error as error:
        report.misses.append(f"the browser stopped: {str(error).splitlines()[0]}")
    finally:
        context.close()
    report.seconds = time.monotonic() - start


def is_print_page(path: Path) -> bool:
    """Whether the page is the whole course on one page, which has nothing of the theme around it."""
    return PRINT_PAGE in path.read_text()


def check_page(browser: Browser, site: Path, address: str, name: str) -> Report:
    """Everything that is asked of one page."""
    path = site / name
    report = Report(name, size=weights(path))
    printed = is_print_page(path)
    report.add("weight", [] if printed else weight_misses(path))
    with reader(browser, report) as context:
        with visit(context, f"{address}/{name}", address) as served_page:
            (ask_print_page if printed else ask)(served_page.page, report)
        report.add("server", served_page.misses)
        if not printed:
            with visit(context, path.as_uri(), site.as_uri()) as file_page:
                report.add("file, formulas", formula_misses(file_page.page))
            report.add("file", file_page.misses)
    return report


def ask(page: Page, report: Report) -> None:
    """The questions for a page that is open."""
    report.add("formulas", formula_misses(page))
    report.add("folded", fold_misses(page))  # leaves them open, so that what follows sees what is inside
    report.add("sliders", slider_misses(page))
    report.add_axe("desktop", axe(page))
    report.add("phone", phone_misses(page))
    report.add_axe("phone", axe(page, colours=False))
    report.add("print", print_misses(page))
    report.add("dark", go_dark(page))
    report.add_axe("dark", axe(page, others=False))
    report.add("dark, print", print_misses(page))


def ask_print_page(page: Page, report: Report) -> None:
    """The whole course on one page is for paper. What else is asked, its chapters are asked one by one."""
    report.add("formulas", formula_misses(page))
    report.add("print", print_misses(page))


def check_whole(browser: Browser, site: Path, address: str, names: list[str]) -> Report:
    """What is asked once: links, search from a server and from files, the keyboard."""
    names = [name for name in names if not is_print_page(site / name)]
    report = Report("the whole site")
    report.add("links", site_findings(site))
    with reader(browser, report) as context:
        for where, base in (("server", address), ("file", site.as_uri())):
            with visit(context, f"{base}/{names[0]}", base) as here:
                report.add(f"search, {where}", search_misses(here.page, site))
            report.add(f"search, {where}", here.misses)
        sliding = next((n for n in names if 'class="tl-slider"' in (site / n).read_text()), None)
        if sliding is None:
            report.misses.append(f"no page has a slider ({SLIDERS})")
        else:
            with visit(context, f"{address}/{sliding}", address) as here:
                report.add(f"keyboard, {sliding}", keyboard_misses(here.page))
        if (site / SCRIPT).exists():
            with_cards = pages_with_cards(site, names)
            report.misses += [f"no page has {kind} to rest on" for kind in KINDS if kind not in with_cards]
            for kind, name in with_cards.items():
                with visit(context, f"{site.as_uri()}/{name}", site.as_uri()) as here:
                    report.add(f"cards, {name}", card_misses(here.page, kind))
                report.add(f"cards, {name}", here.misses)
    return report


def page_names(site: Path) -> list[str]:
    """The pages of the site, the heaviest first, without those that only lead to another."""
    found = [p for p in site.rglob("*.html") if "_static" not in p.relative_to(site).parts]
    pages = [p for p in found if 'http-equiv="refresh"' not in p.read_text()[:1000].lower()]
    return [str(p.relative_to(site)) for p in sorted(pages, key=lambda p: -p.stat().st_size)]


def check_site(site: Path, names: list[str], program: Path, *, whole: bool = True) -> Iterator[Report]:
    """Reports as they are ready; two browsers work side by side."""
    tasks: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    done: queue.SimpleQueue[Report | BaseException] = queue.SimpleQueue()
    for name in [*names, *([None] if whole else [])]:
        tasks.put(name)
    expected, stopped = tasks.qsize(), threading.Event()

    def work() -> None:
        try:
            with sync_playwright() as playwright, launch(playwright, program) as browser:
                while not stopped.is_set():
                    try:
                        name = tasks.get_nowait()
                    except queue.Empty:
                        return
                    done.put(check_page(browser, site, address, name) if name else check_whole(browser, site, address, names))
        except BaseException as error:
            done.put(error)

    with served(site) as address:
        workers = [threading.Thread(target=work) for _ in range(WORKERS)]
        for worker in workers:
            worker.start()
        try:
            for _ in range(expected):
                report = done.get()
                if isinstance(report, BaseException):
                    raise report
                yield report
        finally:  # a browser that still closes while Python ends takes Python down with it
            stopped.set()
            for worker in workers:
                worker.join()


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.check_site", description=__doc__)
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="such as book/preface.html; all of them by default")
    parser.add_argument("--site", type=Path, default=ROOT / "_build" / "html", help="the folder with the built site")
    chosen = parser.parse_args(arguments)
    site, start = chosen.site.resolve(), time.monotonic()
    names = page_names(site)
    if not names:
        print(f"{site} holds no pages: run 'make book' first", file=sys.stderr)
        return 1
    if unknown := set(chosen.pages) - set(names):
        print(f"{', '.join(sorted(unknown))}: no such page in {site}", file=sys.stderr)
        return 2
    try:
        program = ensure_browser()
        reports = check_site(site, chosen.pages or names, program, whole=not chosen.pages)
        count, missed = 0, 0
        for report in reports:
            print("\n".join(report.lines()), flush=True)
            count, missed = count + 1, missed + len(report.misses)
    except NoBrowserError as error:
        print(f"Cannot check the site: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted", file=sys.stderr)
        return 130
    print(f"{len(chosen.pages or names)} pages looked at in {time.monotonic() - start:.0f} s: {missed} misses")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
