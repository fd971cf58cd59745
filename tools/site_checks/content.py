"""A page's content: formulas typeset, solutions folded and opened by keyboard, nothing wider than a phone or cut in print."""

from __future__ import annotations

from collections.abc import Iterator

from playwright.sync_api import Page

from tools.site_checks.visit import DESKTOP, PAPER, PHONE

SETTLING = 400
"""Milliseconds after which the theme has seen a new width, and lets the Tab key reach what scrolls now."""

# Text outside code, scripts and typeset formulas that still looks like TeX.
FORMULAS = r"""() => {
  const misses = [];
  const broken = document.querySelectorAll("mjx-merror").length;
  if (broken) misses.push(`${broken} formulas with an error`);
  const plain = [...document.querySelectorAll(".math")].filter((e) => !e.querySelector("mjx-container"));
  if (plain.length) misses.push(`${plain.length} formulas are not typeset: ${plain[0].textContent.slice(0, 60)}`);
  const article = document.querySelector("article") ?? document.body;
  const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.parentElement.closest("code, pre, script, style, textarea, mjx-container, .math, .cell_output .stream")) continue;
    const found = node.data.match(/\\[([]|\$[^$]*\$|\\(?:mathbf|frac|text|begin|tag)\b/);
    if (found) misses.push(`raw TeX in the text: ${node.data.slice(Math.max(0, found.index - 20), found.index + 40).trim()}`);
  }
  return misses;
}"""

# The first elements that stand out of the page on the right and lie in no box that scrolls.
SIDEWAYS = """() => {
  const root = document.documentElement, wide = root.clientWidth;
  if (root.scrollWidth <= wide) return null;
  const scrolls = (e) => e && e !== document.body && e !== root
    && (getComputedStyle(e).overflowX !== "visible" || scrolls(e.parentElement));
  const out = [...document.body.querySelectorAll("*")].filter(
    (e) => e.getBoundingClientRect().right > wide + 1 && !scrolls(e.parentElement));
  const named = out.slice(0, 3).map((e) => e.outerHTML.slice(0, 80));
  return `scrolls sideways, ${root.scrollWidth} px on a screen of ${wide} px: ${named.join(" | ")}`;
}"""

# Formulas within the text that are wider than it and lie in no box that scrolls: their end cannot be seen.
CUT = """() => {
  const cut = [...document.querySelectorAll("article span.math")].filter((formula) => {
    const block = formula.closest("p, li, dd, figcaption, summary"), typeset = formula.firstElementChild;
    return block && typeset && !formula.closest("td, th") && typeset.offsetWidth > block.clientWidth + 2
      && getComputedStyle(formula).overflowX === "visible";
  });
  return cut.length ? `${cut.length} formulas of the text are cut: ${cut[0].outerHTML.slice(0, 80)}` : null;
}"""

# In print: what still shows of the controls, and boxes whose content is cut because paper does not scroll.
PRINTED = """() => {
  const misses = [];
  const shown = (e) => e.checkVisibility({visibilityProperty: true}) && e.getBoundingClientRect().width > 1;
  const controls = [...document.querySelectorAll(
    "nav, button, dialog, .bd-sidebar-primary, .bd-sidebar-secondary, .headerlink, #jb-print-toc, details.hide:not([open])")];
  const left = controls.filter(shown);
  if (left.length) misses.push(`${left.length} controls show in print: ${left[0].outerHTML.slice(0, 80)}`);
  const article = document.querySelector("article, main");
  if (!article || !shown(article)) return [...misses, "no article shows in print"];
  const cut = [...article.querySelectorAll("*")].filter(
    (e) => !e.closest("details:not([open])") && !e.parentElement.closest("mjx-container")
      && getComputedStyle(e).overflowX !== "visible" && e.scrollWidth > e.clientWidth + 2 && e.clientWidth > 1);
  if (cut.length) {
    const more = Math.max(...cut.map((e) => e.scrollWidth - e.clientWidth));
    misses.push(`${cut.length} boxes are cut in print, by up to ${more} px: ${cut[0].outerHTML.slice(0, 100)}`);
  }
  const over = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (over > 0) {
    const out = [...article.querySelectorAll("*")].filter(
      (e) => (e.localName === "mjx-math" || !e.closest("mjx-container"))
        && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1);
    misses.push(`the page is ${over} px wider than the paper: ${(out.at(-1) ?? article).outerHTML.slice(0, 100)}`);
  }
  const [r, g, b] = getComputedStyle(article.querySelector("p") ?? article).color.match(/\\d+/g).map(Number);
  if (0.2126 * r + 0.7152 * g + 0.0722 * b > 110) misses.push(`text prints in a light colour, rgb(${r}, ${g}, ${b})`);
  return misses;
}"""


def formula_misses(page: Page) -> list[str]:
    """Formulas that are not typeset, or with an error, and TeX that stands in the text."""
    found: list[str] = page.evaluate(FORMULAS)
    return found


def fold_misses(page: Page) -> Iterator[str]:
    """Every folded part must be closed at first, and open by the Enter key; leaves all of them open."""
    folds = page.locator("article details")
    for number in range(folds.count()):
        fold = folds.nth(number)
        summary = fold.locator("> summary").first
        name = f"'{(summary.text_content() or '').strip()[:40]}', number {number + 1}"
        if fold.get_attribute("open") is not None:
            yield f"folded part {name} is open at first"
            continue
        summary.focus()
        page.keyboard.press("Enter")
        if fold.get_attribute("open") is None:
            yield f"folded part {name} does not open by keyboard"


def phone_misses(page: Page) -> Iterator[str]:
    """The page at a phone's width, which it keeps: must not scroll sideways, nor cut a formula."""
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.wait_for_timeout(SETTLING)
    yield from filter(None, (page.evaluate(SIDEWAYS), page.evaluate(CUT)))


def print_misses(page: Page) -> list[str]:
    """The page as it would be printed: no controls, nothing cut, dark letters."""
    page.set_viewport_size(PAPER)  # type: ignore[arg-type]
    page.emulate_media(media="print")
    unseen = page.add_style_tag(content="mjx-assistive-mml { display: none !important }")  # for screen readers, of no true width
    found: list[str] = page.evaluate(PRINTED)
    unseen.evaluate("(style) => style.remove()")
    page.emulate_media(media="screen")
    page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]
    return found
