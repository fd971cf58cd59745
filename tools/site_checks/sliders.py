"""Every slider, moved over all its positions by keyboard: picture, printed value and sentence must follow."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TypedDict

from playwright.sync_api import Locator, Page, TimeoutError

SLIDERS = "figure.tl-slider"
STATE = """async (figure) => {
  const pictures = [...figure.querySelectorAll("img")];
  const drawn = await Promise.all(pictures.map((i) => i.decode().then(() => i.naturalWidth > 0, () => false)));
  return {
    pictures: pictures.map((i) => i.currentSrc || i.src).join(" "),
    drawn: pictures.length > 0 && drawn.every(Boolean),
    described: pictures.every((i) => i.alt.trim()),
    printed: [...figure.querySelectorAll("output")].map((o) => o.textContent).join(" "),
    sentence: [...figure.querySelectorAll(".tl-slider-text")].map((t) => t.textContent).join(" "),
  };
}"""
PLAYED = """([figure, before]) => before !== [...figure.querySelectorAll("input[type=range]")].map((c) => c.value).join(" ")"""


PLAY_PATIENCE = 3_000
MAY_STAND = 0.1
"""Share of moves that may leave the picture or the value as it was: near a limit they are the same to the eye."""


class State(TypedDict):
    """What a slider shows."""

    pictures: str
    drawn: bool
    described: bool
    printed: str
    sentence: str


def slider_misses(page: Page) -> Iterator[str]:
    """What does not follow when the sliders of the page are moved."""
    figures = page.locator(SLIDERS)
    for number in range(figures.count()):
        figure = figures.nth(number)
        name = figure.get_attribute("id") or f"number {number + 1}"
        controls = figure.locator("input[type=range]")
        if not controls.count():
            yield f"slider {name} has nothing to move"
        for place in range(controls.count()):
            control = controls.nth(place)
            which = name if controls.count() == 1 else f"{name}, {control.get_attribute('aria-label') or place + 1}"
            yield from (f"slider {which}: {miss}" for miss in control_misses(page, figure, control))
        yield from (f"slider {name}: {miss}" for miss in play_misses(page, figure))


def control_misses(page: Page, figure: Locator, control: Locator) -> Iterator[str]:
    """One control from its first position to its last."""
    control.focus()
    page.keyboard.press("Home")
    steps: int = control.evaluate("(c) => Math.round((c.max - c.min) / (Number(c.step) || 1))")
    places, states = [control.input_value()], [state(figure)]
    for _ in range(steps):
        page.keyboard.press("ArrowRight")
        places.append(control.input_value())
        states.append(state(figure))
    if steps < 1 or len(set(places)) < len(places):
        yield f"the arrow keys reach {len(set(places))} of {steps + 1} positions"
        return
    for what in ("drawn", "described"):
        if bad := [place for place, shown in zip(places, states, strict=True) if not shown[what]]:
            yield f"the picture is not {what} at position {', '.join(bad)}"
    for key, word in (("pictures", "picture"), ("printed", "printed value")):
        still = [b for (a, b), (x, y) in zip(pairwise(places), pairwise(states), strict=True) if x[key] == y[key]]  # type: ignore[literal-required]
        if len(still) > MAY_STAND * steps:
            yield f"the {word} does not change at position {', '.join(still)}"
    if len({shown["sentence"] for shown in states}) == 1:
        yield "the sentence never changes"


def play_misses(page: Page, figure: Locator) -> Iterator[str]:
    """Each button of a slider, pressed by keyboard, must set it moving; pressed again it stops."""
    for button in figure.locator("button:not([disabled])").all():
        before = " ".join(c.input_value() for c in figure.locator("input[type=range]").all())
        button.focus()
        page.keyboard.press("Enter")
        try:
            page.wait_for_function(PLAYED, arg=[figure.element_handle(), before], timeout=PLAY_PATIENCE)
        except TimeoutError:
            yield f"the button '{(button.text_content() or '').strip()}' moves nothing"
        page.keyboard.press("Enter")


def state(figure: Locator) -> State:
    """What the slider shows now, its picture decoded."""
    found: State = figure.evaluate(STATE)
    return found
