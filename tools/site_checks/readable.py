"""axe-core on a page, in both colours: what stands in the way of readers with a screen reader, low sight or no mouse."""

from __future__ import annotations

from collections import Counter
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT  # type: ignore[import-untyped]
from playwright.sync_api import Page

MISSES = ("serious", "critical")
# Without preload axe asks for no style sheet again.
# Rules that look at colours are slow: of blocks of code with the same kinds of words, one is looked at.
RUN = """async ([withColours, withOthers]) => {
  const colours = ["color-contrast", "link-in-text-block"], seen = new Set();
  const options = {resultTypes: ["violations"], preload: false};
  for (const block of document.querySelectorAll("div.highlight")) {
    const kinds = [...block.querySelectorAll("span")].map((s) => `${block.parentElement.className} ${s.className}`);
    block.toggleAttribute("data-alike", kinds.length > 0 && kinds.every((k) => seen.has(k)));
    kinds.forEach((k) => seen.add(k));
  }
  const off = Object.fromEntries(colours.map((rule) => [rule, {enabled: false}]));
  const runs = [];
  if (withColours) runs.push(await axe.run({exclude: [["[data-alike]"]]}, {...options, runOnly: colours}));
  if (withOthers) runs.push(await axe.run(document, {...options, rules: off}));
  return runs.flatMap((r) => r.violations).map((v) => ({rule: v.id, impact: v.impact, times: v.nodes.length,
    html: v.nodes[0].html.slice(0, 120),
    why: [...v.nodes[0].any, ...v.nodes[0].all, ...v.nodes[0].none].map((c) => c.message).join("; ")}));
}"""
DARK = "() => document.documentElement.dataset.theme === 'dark'"


def axe(page: Page, *, colours: bool = True, others: bool = True) -> tuple[list[str], Counter[str]]:
    """Serious and critical findings, a line for each rule; and how often each milder rule is broken.

    ``colours`` and ``others`` choose the rules: a phone has a desktop's colours, dark has light's structure.
    """
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found: list[dict[str, Any]] = page.evaluate(RUN, [colours, others])
    misses, mild = [], Counter[str]()
    for broken in found:
        if broken["impact"] in MISSES:
            what = f"axe {broken['rule']}, {broken['impact']}, {broken['times']} times: {broken['html']}"
            misses.append(f"{what} ({broken['why'][:200]})")
        else:
            mild[broken["rule"]] += broken["times"]
    return misses, mild


def go_dark(page: Page) -> list[str]:
    """Switch to dark with the theme's own button, by keyboard; a miss if that does not do it."""
    button = page.locator("button.theme-switch-button:visible").first
    if not button.count():
        return ["there is no button for dark mode"]
    button.focus()
    for _ in range(3):  # the system's colours, light, dark, in an order that depends on the system
        if page.evaluate(DARK):
            return []
        page.keyboard.press("Enter")
    return [] if page.evaluate(DARK) else ["the button does not reach dark mode"]
