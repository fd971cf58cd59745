import base64
import io
import json
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any

import ipywidgets
import matplotlib.pyplot as plt
import pytest
from IPython.display import HTML
from matplotlib.figure import Figure
from PIL import Image

from topiclib.widgets import is_static, slider, sliders

VALUES = (0.1, 0.25, 0.5)
OPTIONS: dict[str, Any] = {"name": "slider-p-m", "label": "p_m", "caption": "Move <em>it</em>.", "alt": "A bar."}


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    yield
    plt.close("all")


def frame(value: float) -> tuple[Figure, str]:
    fig, ax = plt.subplots(figsize=(2, 1))
    ax.bar([0], [value], color="black")
    ax.set_ylim(0, 1)
    return fig, f'At {value} the share is "{value / 2}" & </script> <!-- no more.'


def pair_frame(p_m: float, T: int) -> tuple[Figure, str]:
    return frame(p_m)[0], f"p_m {p_m}, T {T}."


PAIR: dict[str, list[float]] = {"p_m": [0.1, 0.25, 0.5], "T": [5, 10]}
PAIR_OPTIONS: dict[str, Any] = {"name": "slider-pair", "caption": "Two.", "alt": "A bar.", "start": {"p_m": 0.25, "T": 10}}


def output(static: bool, call: Callable[[], None]) -> Any:
    """What the call displays, on a page or with a kernel."""
    seen: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOPICLIB_STATIC", "1" if static else "0")
        patch.setattr("IPython.display.display", seen.append)
        call()
    (shown,) = seen
    return shown


def markup(start: int = 0, form: str = ".2f", **options: Any) -> str:
    text = output(True, lambda: slider(frame, VALUES, **{**OPTIONS, "form": form, "start": start, **options})).data
    assert isinstance(text, str)
    return text


def pair_markup(**options: Any) -> str:
    text = output(True, lambda: sliders(pair_frame, PAIR, **{**PAIR_OPTIONS, **options})).data
    assert isinstance(text, str)
    return text


def frames(text: str) -> list[dict[str, Any]]:
    """The frames in the markup's JSON."""
    (content,) = re.findall(r'<script type="application/json">(.*?)</script>', text, flags=re.S)
    loaded: list[dict[str, Any]] = json.loads(content)
    return loaded


class Tags(HTMLParser):
    """Every tag with its attributes; raises if one is closed that is not open."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in ("input", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_no_text_can_end_the_script() -> None:
    (content,) = re.findall(r'<script type="application/json">(.*?)</script>', markup(), flags=re.S)
    assert "<" not in content


def tags(text: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = Tags()
    parser.feed(text)
    assert not parser.open
    return parser.found


def test_every_value_has_a_frame() -> None:
    assert [f["labels"] for f in frames(markup())] == [["0.10"], ["0.25"], ["0.50"]]
    assert [f["at"] for f in frames(markup())] == [[0], [1], [2]]
    assert len({f["src"] for f in frames(markup())}) == 3


def test_frames_are_pictures_inside_the_page() -> None:
    for f in frames(markup()):
        head, content = f["src"].split(",")
        assert head == "data:image/png;base64"
        with Image.open(io.BytesIO(base64.b64decode(content))) as picture:
            assert picture.format == "PNG"
            assert picture.size[0] > 100


def test_every_frame_has_its_sentence_as_alt_text() -> None:
    for value, f in zip(VALUES, frames(markup()), strict=True):
        assert f["text"] == frame(value)[1]
        assert f["labels"] == [f"{value:.2f}"]
        assert f["alt"] == f"A bar. {f['text']}"


@pytest.mark.parametrize("start", [0, 2])
def test_the_page_shows_the_start_before_any_script_runs(start: int) -> None:
    text = markup(start)
    first, found = frames(text)[start], dict(tags(text))
    assert found["img"]["src"] == first["src"]
    assert found["img"]["alt"] == first["alt"]
    assert (found["input"]["min"], found["input"]["max"], found["input"]["value"]) == ("0", "2", str(start))
    assert found["input"]["aria-valuetext"] == first["labels"][0]
    assert f">{first['labels'][0]}</output>" in text


def test_the_markup_is_well_formed_and_can_be_linked_to() -> None:
    found = tags(markup())
    assert found[0] == ("figure", {"id": "slider-p-m", "class": "tl-slider", "style": "margin:1em 0"})
    assert [tag for tag, _ in found].count("script") == 2
    assert 'getElementById("slider-p-m")' in markup()
    assert "Move <em>it</em>.</figcaption>" in markup()


def test_the_slider_is_labelled() -> None:
    assert re.search(r"<label[^>]*>p<sub>m</sub> = <output[^>]*>0.10</output><input[^>]*>.*</label>", markup(), flags=re.S)
    assert "<span>0.10</span><span>0.50</span></span></label>" in markup()
    assert "&lt;b&gt; of x<sub>1</sub> = <output" in markup(label="<b> of x_1")
    assert "topics, τ, not taut = <output" in markup(label="topics, tau, not taut")


def test_nothing_is_loaded_from_elsewhere() -> None:
    text = re.sub(r"base64,[A-Za-z0-9+/=]*", "", markup())
    assert not re.search(r"https?:|//[a-z]|@import|\bfetch\b|XMLHttpRequest|import\(", text)
    for tag, attributes in tags(markup()):
        assert tag not in ("link", "iframe", "object")
        assert not {"href", "srcset", "onload", "onerror"} & attributes.keys()
        assert (attributes.get("src") or "data:").startswith("data:")


def test_the_markup_is_deterministic_and_leaves_no_figure_open() -> None:
    assert markup() == markup()
    assert not plt.get_fignums()


def displayed(static: bool, **changes: Any) -> Any:
    return output(static, lambda: slider(frame, VALUES, **{**OPTIONS, **changes}))


def test_the_static_page_gets_the_markup() -> None:
    assert isinstance(displayed(static=True), HTML)


def test_with_a_kernel_moving_the_slider_draws_anew() -> None:
    box = displayed(static=False)
    control, picture, text, caption = box.children
    assert isinstance(control, ipywidgets.SelectionSlider)
    assert control.value == 0.1
    assert [value for _, value in control.options] == list(VALUES)
    assert caption.value == "Move <em>it</em>."
    seen = {bytes(picture.value)}
    for value in (0.25, 0.5):
        control.value = value
        assert f"At {value} the share is &quot;{value / 2}&quot; &amp;" in text.value
        seen.add(bytes(picture.value))
    assert len(seen) == 3
    assert all(content.startswith(b"\x89PNG") for content in seen)
    assert control.value == 0.5
    assert not plt.get_fignums()


def test_live_and_static_show_the_same_picture() -> None:
    box = displayed(static=False, start=2)
    assert base64.b64decode(frames(markup())[2]["src"].split(",")[1]) == bytes(box.children[1].value)


def test_a_frame_that_fails_says_so_instead_of_the_last_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    def fragile(value: float) -> tuple[Figure, str]:
        if value == 0.25:
            raise ZeroDivisionError("no <b> here")
        return frame(value)

    seen: list[Any] = []
    monkeypatch.setenv("TOPICLIB_STATIC", "0")
    monkeypatch.setattr("IPython.display.display", seen.append)
    slider(fragile, VALUES, **OPTIONS)
    control, picture, text, _ = seen[0].children
    control.value = 0.25
    assert text.value == "There is no picture for p_m = 0.25: ZeroDivisionError: no &lt;b&gt; here"
    assert picture.layout.visibility == "hidden"
    control.value = 0.5
    assert "At 0.5 the share" in text.value
    assert picture.layout.visibility == "visible"
    with pytest.raises(ZeroDivisionError):
        slider(fragile, VALUES, start=1, **OPTIONS)
    assert len(seen) == 1


def fig_only(value: float) -> Any:
    return frame(value)[0]


BAD_FRAMES = [fig_only, lambda v: (*frame(v), 3), lambda v: fig_only(v).axes[0], lambda v: (fig_only(v).axes[0], "x")]
BAD_FRAMES += [lambda v: None, lambda v: (fig_only(v), None)]


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("bad", BAD_FRAMES)
def test_a_frame_must_return_figure_and_sentence(bad: Any, static: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOPICLIB_STATIC", "1" if static else "0")
    with pytest.raises(TypeError, match=r"^frame\(0\.1\) = .*: must be \(figure, one sentence\)$"):
        slider(bad, VALUES, **OPTIONS)


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"start": 0.5}, TypeError, "start = 0.5: must be a whole number from 0 to 2"),
        ({"start": -1}, ValueError, "start = -1: must be a whole number from 0 to 2"),
        ({"form": "d"}, ValueError, "form = 'd': must be a format specification that fits 0.1 "),
        ({"form": None}, ValueError, "form = None: must be a format specification that fits 0.1 "),
        ({"alt": None}, TypeError, "alt = None: must be a str"),
        ({"alt": " "}, ValueError, "alt = ' ': must not be empty"),
        ({"caption": None}, TypeError, "caption = None: must be a str"),
        ({"name": None}, TypeError, "name = None: must be a str"),
        ({"label": ""}, ValueError, "label = '': must not be empty"),
    ],
)
def test_bad_options(changes: dict[str, Any], error: Any, message: str, static: bool) -> None:
    with pytest.raises(error) as caught:
        displayed(static, **changes)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("static", [False, True])
def test_values_may_be_any_iterable(static: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setenv("TOPICLIB_STATIC", "1" if static else "0")
    monkeypatch.setattr("IPython.display.display", seen.append)
    slider(frame, (v for v in VALUES), **OPTIONS)  # type: ignore[arg-type]
    assert len(seen) == 1
    for values, message in ((5, "values = 5: must be a sequence"), (iter([1]), "values has 1 entries: must have at least two")):
        with pytest.raises((TypeError, ValueError), match=f"^{message}"):
            slider(frame, values, **OPTIONS)  # type: ignore[arg-type]


@pytest.mark.parametrize(("setting", "expected"), [("1", True), ("0", False), (None, False)])
def test_is_static_follows_the_environment(setting: str | None, expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if setting is None:
        monkeypatch.delenv("TOPICLIB_STATIC", raising=False)
    else:
        monkeypatch.setenv("TOPICLIB_STATIC", setting)
    assert is_static() == expected


def test_several_sliders_have_a_frame_for_each_position_of_one_with_the_others_at_their_start() -> None:
    found = frames(pair_markup())
    assert [f["labels"] for f in found] == [["0.1", "10"], ["0.25", "10"], ["0.5", "10"], ["0.25", "5"]]
    assert [f["at"] for f in found] == [[0, 1], [1, 1], [2, 1], [1, 0]]
    assert [f["text"] for f in found] == ["p_m 0.1, T 10.", "p_m 0.25, T 10.", "p_m 0.5, T 10.", "p_m 0.25, T 5."]
    assert found[1]["src"] == found[3]["src"] != found[0]["src"]


def test_the_page_says_whether_sliders_put_each_other_back() -> None:
    star, grid = tags(pair_markup()), tags(pair_markup(grid=True))
    assert "data-star" in star[0][1]
    assert "data-star" not in grid[0][1]
    assert "puts the others back" in pair_markup()
    assert "puts the others back" not in pair_markup(grid=True)
    assert [a["value"] for tag, a in star if tag == "input"] == ["1", "1"]


def test_a_grid_has_every_combination() -> None:
    assert [f["at"] for f in frames(pair_markup(grid=True))] == [[p, t] for p in range(3) for t in range(2)]


def test_with_a_kernel_several_sliders_move_freely() -> None:
    box = output(False, lambda: sliders(pair_frame, PAIR, **PAIR_OPTIONS))
    first, second, picture, text, _ = box.children
    assert (first.value, second.value, text.value) == (0.25, 10, "p_m 0.25, T 10.")
    before = bytes(picture.value)
    first.value, second.value = 0.5, 5
    assert text.value == "p_m 0.5, T 5."
    assert bytes(picture.value) != before


def test_with_a_kernel_a_failure_of_several_names_all_values() -> None:
    def fragile(p_m: float, T: int) -> tuple[Figure, str]:
        if T == 5:
            raise ZeroDivisionError("five")
        return pair_frame(p_m, T)

    box = output(False, lambda: sliders(fragile, PAIR, **PAIR_OPTIONS))
    box.children[1].value = 5
    assert box.children[3].value == "There is no picture for p_m = 0.25, T = 5: ZeroDivisionError: five"


@pytest.mark.parametrize(("options", "button", "itself"), [({}, 0, 0), ({"play": True}, 1, 0), ({"autoplay": True}, 1, 1)])
def test_only_a_slider_that_plays_has_a_button(options: dict[str, bool], button: int, itself: int) -> None:
    found = tags(markup(**options))
    assert sum(tag == "button" for tag, _ in found) == button
    assert ("data-autoplay" in found[0][1]) == itself


def test_with_a_kernel_the_player_moves_the_slider_and_the_slider_the_player() -> None:
    control, player, _, text, _ = displayed(static=False, play=True, start=1).children
    assert (player.min, player.max, player.value) == (0, 2, 1)
    player.value = 2
    assert control.value == 0.5
    assert "At 0.5 the share" in text.value
    control.value = 0.1
    assert player.value == 0


@pytest.mark.parametrize("static", [False, True])
def test_a_frame_of_several_must_return_figure_and_sentence(static: bool) -> None:
    def bad(p_m: float, T: int) -> Any:
        return p_m * T

    with pytest.raises(TypeError, match=r"^frame\(p_m=0\.\d+, T=10\) = 2\.5|1\.0: must be \(figure, one sentence\)$"):
        output(static, lambda: sliders(bad, PAIR, **PAIR_OPTIONS))


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize(
    ("values", "changes", "error", "message"),
    [
        ([1, 2], {}, TypeError, "values = [1, 2]: must be a dict"),
        (PAIR, {"start": 3}, TypeError, "start = 3: must be a dict"),
        (PAIR, {"start": {"p_m": 0.1}}, ValueError, "start has ['p_m'] for values of ['p_m', 'T']: both must have the same keys"),
        (
            {"p_m": [1, 2]},
            {"start": {"p_m": 1}},
            ValueError,
            "start has ['p_m'] for values of ['p_m']: both must have the same keys",
        ),
        (PAIR, {"start": {"p_m": 0.2, "T": 5}}, ValueError, "start['p_m'] = 0.2: must be one of values['p_m'], [0.1, 0.25, 0.5]"),
        (PAIR | {"T": [5]}, {}, ValueError, "values['T'] has 1 entries: must have at least two"),
        (PAIR | {"T": 5}, {}, TypeError, "values['T'] = 5: must be a sequence of at least two positions"),
        (PAIR, {"form": "d"}, ValueError, "form = 'd': must be a format specification that fits 0.1 "),
        (PAIR, {"alt": ""}, ValueError, "alt = '': must not be empty"),
    ],
)
def test_bad_options_of_several(values: Any, changes: dict[str, Any], error: Any, message: str, static: bool) -> None:
    with pytest.raises(error) as caught:
        output(static, lambda: sliders(pair_frame, values, **{**PAIR_OPTIONS, **changes}))
    assert str(caught.value).startswith(message)
