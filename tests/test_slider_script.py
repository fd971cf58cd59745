"""What the sliders' script does, in a browser; ``tools.check_site`` moves every slider of the built pages besides."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure
from playwright.sync_api import Browser, Page, sync_playwright

from tools.browser import NoBrowserError, find_browser, launch
from topiclib.widgets import slider, sliders

MEASURE = """() => ({
  value: [...document.querySelectorAll("input")].map((input) => Number(input.value)),
  output: [...document.querySelectorAll("output")].map((output) => output.textContent),
  spoken: [...document.querySelectorAll("input")].map((input) => input.getAttribute("aria-valuetext")),
  src: document.querySelector("img").src, alt: document.querySelector("img").alt,
  text: document.querySelector(".tl-slider-text").textContent,
  live: document.querySelector(".tl-slider-text").getAttribute("aria-live"),
  button: document.querySelector("button") && document.querySelector("button").textContent,
})"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    try:
        program = find_browser()
    except NoBrowserError:
        program = None
    if program is None:
        pytest.skip("no Chromium is installed: python -m tools.check_site installs one")
    with sync_playwright() as playwright:
        running = launch(playwright, program)
        yield running
        running.close()


def bar(value: float) -> tuple[Figure, str]:
    fig, ax = plt.subplots(figsize=(2, 1))
    ax.bar([0], [value])
    ax.set_ylim(0, 1)
    return fig, f"It is {value}."


def bars(p: float, q: float) -> tuple[Figure, str]:
    return bar(p / 2 + q / 4)[0], f"p {p}, q {q}."


def page_of(
    browser: Browser, folder: Path, monkeypatch: pytest.MonkeyPatch, *, several: bool = False, calm: bool = False, **options: Any
) -> Page:
    """A page with a slider alone; an error in its script fails the test."""
    seen: list[Any] = []
    monkeypatch.setenv("TOPICLIB_STATIC", "1")
    monkeypatch.setattr("IPython.display.display", seen.append)
    named: dict[str, Any] = {"name": "s", "caption": "Try.", "alt": "A bar."}
    if several:
        sliders(bars, {"p": [0.1, 0.2, 0.3], "q": [0.5, 0.6]}, start={"p": 0.2, "q": 0.5}, **named, **options)
    else:
        slider(bar, [0.1, 0.2, 0.3, 0.4], label="p", **named, **options)
    (folder / "page.html").write_text(f"<!doctype html><title>Page</title>{seen[0].data}")
    page = browser.new_page(reduced_motion="reduce" if calm else "no-preference")

    def fail(error: Any) -> None:
        raise AssertionError(error)

    page.on("pageerror", fail)
    page.goto((folder / "page.html").as_uri())
    return page


def test_the_keyboard_moves_picture_value_and_sentence(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = page_of(browser, tmp_path, monkeypatch, start=1)
    before = page.evaluate(MEASURE)
    assert (before["value"], before["output"], before["text"]) == ([1], ["0.2"], "It is 0.2.")
    page.locator("input").press("ArrowRight")
    after = page.evaluate(MEASURE)
    assert (after["value"], after["output"], after["spoken"], after["text"]) == ([2], ["0.3"], ["0.3"], "It is 0.3.")
    assert after["alt"] == "A bar. It is 0.3."
    assert after["src"] != before["src"]
    page.locator("input").press("Home")
    assert page.evaluate(MEASURE)["output"] == ["0.1"]


def test_a_target_is_large_enough_for_a_finger(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = page_of(browser, tmp_path, monkeypatch, play=True)
    for target in ("input", "button"):
        box = page.locator(target).bounding_box()
        assert box is not None
        assert box["height"] >= 44
        assert box["width"] >= 44


def test_moving_one_of_several_puts_the_others_back(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = page_of(browser, tmp_path, monkeypatch, several=True)
    page.locator("input").nth(0).press("End")
    assert page.evaluate(MEASURE)["text"] == "p 0.3, q 0.5."
    page.locator("input").nth(1).press("End")
    seen = page.evaluate(MEASURE)
    assert (seen["value"], seen["output"], seen["spoken"], seen["text"]) == (
        [1, 1],
        ["0.2", "0.6"],
        ["0.2", "0.6"],
        "p 0.2, q 0.6.",
    )


def test_in_a_grid_they_stay(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = page_of(browser, tmp_path, monkeypatch, several=True, grid=True)
    page.locator("input").nth(0).press("End")
    page.locator("input").nth(1).press("End")
    assert page.evaluate(MEASURE)["text"] == "p 0.3, q 0.6."


def test_play_goes_to_the_end_and_stops(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = page_of(browser, tmp_path, monkeypatch, play=True)
    assert page.evaluate(MEASURE)["button"] == "Play"
    page.locator("button").click()
    page.wait_for_function("document.querySelector('button').textContent === 'Pause'")
    assert page.evaluate(MEASURE)["live"] == "off"
    page.wait_for_function("document.querySelector('button').textContent === 'Play'")
    end = page.evaluate(MEASURE)
    assert (end["value"], end["text"], end["live"]) == ([3], "It is 0.4.", "polite")
    page.locator("button").click()  # from the end it begins anew
    page.wait_for_function("document.querySelector('input').value === '1'")


@pytest.mark.parametrize("by", ["button", "key", "pointer"])
def test_play_pauses_on_any_input(by: str, browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = page_of(browser, tmp_path, monkeypatch, play=True)
    page.locator("button").click()
    page.wait_for_function("document.querySelector('input').value === '1'")
    if by == "button":
        page.locator("button").click()
    elif by == "key":
        page.locator("input").press("Home")
    else:
        page.locator("input").dispatch_event("pointerdown")
    stopped = page.evaluate(MEASURE)
    page.wait_for_timeout(700)
    assert page.evaluate(MEASURE) == stopped
    assert stopped["button"] == "Play"
    assert stopped["value"] != [3]


def test_autoplay_runs_once_by_itself(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = page_of(browser, tmp_path, monkeypatch, autoplay=True, start=3)
    page.wait_for_function("document.querySelector('input').value === '1'")
    page.wait_for_function("document.querySelector('button').textContent === 'Play'")
    assert page.evaluate(MEASURE)["value"] == [3]
    page.wait_for_timeout(700)
    assert page.evaluate(MEASURE)["value"] == [3]


def test_autoplay_waits_until_it_is_seen(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = page_of(browser, tmp_path, monkeypatch, autoplay=True)
    text = (tmp_path / "page.html").read_text().replace("<figure", "<div style='height:3000px'></div><figure", 1)
    (tmp_path / "page.html").write_text(text)
    page.reload()
    page.wait_for_timeout(700)
    assert page.evaluate(MEASURE)["value"] == [0]
    page.locator("img").scroll_into_view_if_needed()
    page.wait_for_function("document.querySelector('input').value === '3'")


def test_autoplay_respects_the_wish_for_less_motion(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = page_of(browser, tmp_path, monkeypatch, autoplay=True, calm=True)
    page.wait_for_timeout(700)
    seen = page.evaluate(MEASURE)
    assert (seen["value"], seen["button"]) == ([0], "Play")
    page.locator("button").click()  # asked for, it plays
    page.wait_for_function("document.querySelector('input').value === '3'")


def test_frames_given_as_files_are_loaded_at_the_first_touch(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = page_of(browser, tmp_path, monkeypatch)
    asked: list[str] = []
    text = (tmp_path / "page.html").read_text()
    for k, source in enumerate(dict.fromkeys(re.findall(r"data:image/png;base64,[A-Za-z0-9+/=]+", text))):
        text = text.replace(source, f"frame-{k}.png")
    (tmp_path / "page.html").write_text(text)
    page.on("request", lambda request: asked.append(request.url.rsplit("/", 1)[-1]))
    page.reload()
    assert {name for name in asked if name.startswith("frame")} == {"frame-0.png"}
    page.locator("input").focus()
    page.wait_for_timeout(200)
    assert {name for name in asked if name.startswith("frame")} == {f"frame-{k}.png" for k in range(4)}
    page.locator("input").press("End")
    assert page.evaluate(MEASURE)["src"].endswith("frame-3.png")
