"""Sliders that work on the static page from precomputed frames, and recompute live where there is a kernel."""

from __future__ import annotations

import html
import io
import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import product
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from PIL import Image

from topiclib.plotting import data_uri, figure_bytes
from topiclib.validation import check_int, check_text, check_type, shown

Frame = Callable[..., tuple[Figure, str]]
Positions = tuple[int, ...]


@dataclass(frozen=True)
class Control:
    """A range to move: its label, its positions, the text of each, and the index of the first one shown."""

    label: str
    values: tuple[Any, ...]
    texts: tuple[str, ...]
    start: int


@dataclass(frozen=True)
class Panel:
    """A figure with its controls: ``draw(values)`` makes the picture at one value for each control.

    ``grid``: the page has a frame for every combination; otherwise only one control is away from its start at a time.
    """

    draw: Callable[[tuple[Any, ...]], tuple[bytes, str]]
    controls: tuple[Control, ...]
    name: str
    caption: str
    alt: str
    grid: bool = False
    play: bool = False
    autoplay: bool = False

    def start(self) -> Positions:
        """The positions first shown."""
        return tuple(control.start for control in self.controls)

    def positions(self) -> list[Positions]:
        """The positions that the page has a frame for, each once."""
        if self.grid:
            return list(product(*(range(len(control.values)) for control in self.controls)))
        start = self.start()
        return list(
            dict.fromkeys(
                (*start[:k], position, *start[k + 1 :])
                for k, control in enumerate(self.controls)
                for position in range(len(control.values))
            )
        )

    def values_at(self, positions: Positions) -> tuple[Any, ...]:
        """The value of each control at these positions."""
        return tuple(control.values[p] for control, p in zip(self.controls, positions, strict=True))


def small_png(fig: Figure) -> bytes:
    """The figure as a PNG of at most 128 colours, about a third of the plain size; closes the figure."""
    picture = Image.open(io.BytesIO(figure_bytes(fig, "png"))).convert("RGB")
    plt.close(fig)
    buffer = io.BytesIO()
    # Maximum coverage keeps rare colours (the ends of a colour bar), which the default median cut greys.
    small = picture.quantize(128, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    small.save(buffer, format="png", optimize=True)
    return buffer.getvalue()


def checked_frame(result: object, call: str) -> tuple[bytes, str]:
    """The picture (PNG) and the sentence that a frame returned; TypeError if it is something else."""
    match result:
        case (Figure() as fig, str(sentence)):
            return small_png(fig), sentence
    raise TypeError(f"{call} = {shown(result)}: must be (figure, one sentence)")


def position_label(value: Any, form: str) -> str:
    """The value as the slider shows it; ValueError if ``form`` does not fit it."""
    try:
        return format(value, form)
    except (TypeError, ValueError) as error:
        raise ValueError(f"form = {form!r}: must be a format specification that fits {value!r} ({error})") from error


def label_markup(label: str) -> str:
    """The label as HTML, ``p_m`` with its index below the line, ``tau`` as the letter."""
    label = re.sub(r"\btau\b", "τ", html.escape(label))
    return re.sub(r"\b([A-Za-z])_(\w+)", r"\1<sub>\2</sub>", label)


def control_markup(control: Control) -> str:
    """A labelled range with its value, and the ends of the range below it."""
    shown_first, last = html.escape(control.texts[control.start], quote=True), len(control.values) - 1
    ends = "".join(f"<span>{html.escape(control.texts[k])}</span>" for k in (0, last))
    return (
        f'<label style="flex:1 1 12rem;max-width:32rem;font-weight:600">{label_markup(control.label)} = '
        f'<output aria-live="off">{shown_first}</output>'
        f'<input type="range" min="0" max="{last}" step="1" value="{control.start}" autocomplete="off" '
        f'aria-valuetext="{shown_first}" style="display:block;width:100%;min-height:44px;margin:0">'
        f'<span class="tl-slider-ends" aria-hidden="true" '
        f'style="display:flex;justify-content:space-between;font-weight:400;font-size:.85em">{ends}</span></label>'
    )


def panel_markup(panel: Panel) -> str:
    """HTML with every frame inside and a few lines of script; no kernel and no other file is needed."""
    frames: list[dict[str, Any]] = []
    for positions in panel.positions():
        picture, text = panel.draw(panel.values_at(positions))
        labels = [control.texts[p] for control, p in zip(panel.controls, positions, strict=True)]
        source = data_uri(picture, "image/png")
        frames.append({"at": positions, "labels": labels, "src": source, "alt": f"{panel.alt} {text}", "text": text})
    first = next(one for one in frames if one["at"] == panel.start())
    ident, several = html.escape(panel.name), len(panel.controls) > 1
    data = json.dumps(frames).replace("<", "\\u003c")  # no text can end the script
    script = (files("topiclib") / "slider.js").read_text()
    flags = " data-star" * (several and not panel.grid) + " data-autoplay" * panel.autoplay
    note = '<p style="margin:.2rem 0;font-size:.92em">Moving one of these puts the others back.</p>'
    button = (
        '<button type="button" hidden style="min-width:5.5rem;min-height:44px;align-self:center;font:inherit;'
        'color:inherit;background:transparent;border:1px solid currentColor;border-radius:6px">Play</button>'
    )
    return (
        f'<figure id="{ident}" class="tl-slider"{flags} style="margin:1em 0">'
        f'<div style="display:flex;flex-wrap:wrap;gap:.2rem 1.5rem">'
        f"{''.join(map(control_markup, panel.controls))}{button if panel.play else ''}</div>"
        f"{note if several and not panel.grid else ''}"
        f'<div class="tl-picture"><img alt="{html.escape(first["alt"])}" src="{first["src"]}" '
        f'style="max-width:100%;height:auto;background:white"></div>'
        f'<p class="tl-slider-text" aria-live="polite">{html.escape(first["text"])}</p>'
        f'<figcaption style="font-size:.92em">{panel.caption}</figcaption>'
        f'<script type="application/json">{data}</script>'
        f"<script>({script.strip()})(document.getElementById({json.dumps(panel.name)}));</script></figure>"
    )


def is_static() -> bool:
    """Whether a page is being built that no kernel will stand behind (TOPICLIB_STATIC=1)."""
    return os.environ.get("TOPICLIB_STATIC", "0") == "1"


def panel_widget(panel: Panel) -> Any:
    """The panel as ipywidgets, which draw anew at each move; every combination of values can be set."""
    import ipywidgets

    # An Image and an HTML widget, not an Output: filling an Output can stall a run without a browser.
    moved = [
        ipywidgets.SelectionSlider(
            options=list(zip(control.texts, control.values, strict=True)),
            value=control.values[control.start],
            description=control.label,
            continuous_update=False,
            style={"description_width": "initial"},
        )
        for control in panel.controls
    ]
    picture, text = ipywidgets.Image(format="png"), ipywidgets.HTML()

    def draw() -> None:
        picture.value, sentence = panel.draw(tuple(control.value for control in moved))
        picture.layout.visibility, text.value = "visible", html.escape(sentence)

    def redraw(_: object) -> None:
        try:
            draw()
        except Exception as error:  # raised in a widget's callback, it might be seen nowhere
            picture.layout.visibility = "hidden"
            where = ", ".join(f"{control.description} = {control.label}" for control in moved)
            text.value = html.escape(f"There is no picture for {where}: {type(error).__name__}: {error}")

    draw()
    for control in moved:
        control.observe(redraw, names="value")
    players = []
    if panel.play:
        last = len(panel.controls[0].values) - 1
        players = [ipywidgets.Play(min=0, max=last, value=panel.controls[0].start, interval=500)]
        ipywidgets.link((players[0], "value"), (moved[0], "index"))
    return ipywidgets.VBox([*moved, *players, picture, text, ipywidgets.HTML(panel.caption)])


def _control(argument: str, label: str, values: Iterable[Any], form: str, start: int | None, first: Any = None) -> Control:
    """The control over ``values``; ``start`` is an index, and None looks for the value ``first``."""
    if not isinstance(values, Iterable):
        raise TypeError(f"{argument} = {shown(values)}: must be a sequence of at least two positions")
    positions = tuple(values)
    if len(positions) < 2:
        raise ValueError(f"{argument} has {len(positions)} entries: must have at least two")
    if start is None:
        if first not in positions:
            raise ValueError(f"start[{label!r}] = {shown(first)}: must be one of {argument}, {shown(list(positions))}")
        start = positions.index(first)
    check_int("start", start, 0, len(positions) - 1)
    return Control(label, positions, tuple(position_label(value, form) for value in positions), start)


def _display(panel: Panel) -> None:
    """Display the panel: markup where no kernel will be, else widgets."""
    from IPython.display import HTML, display

    display(HTML(panel_markup(panel)) if is_static() else panel_widget(panel))


def _check_common(frame: object, **texts: object) -> None:
    """Raise TypeError or ValueError unless ``frame`` can be called and every text has something in it."""
    if not callable(frame):
        raise TypeError(f"frame = {shown(frame)}: must be a function of the value")
    for argument, content in texts.items():
        check_text(argument, content)


def slider(
    frame: Frame,
    values: Sequence[float],
    *,
    name: str,
    label: str,
    caption: str,
    alt: str,
    form: str = "g",
    start: int = 0,
    play: bool = False,
    autoplay: bool = False,
) -> None:
    """Display a slider over ``values``.

    On the built page every frame is precomputed and shown with no kernel. With a kernel an ipywidgets
    slider calls ``frame`` anew at each move; if that fails, the sentence says why.

    Parameters
    ----------
    frame : value -> (figure, one sentence with what it shows at this value)
    values : the slider's positions, at least two (any iterable)
    name : identifier for links
    label : what is varied, such as ``"p_m"``
    caption : what to try and what to see; simple HTML is allowed
    alt : what kind of picture it is, for those who cannot see it; the frame's sentence follows. Not empty
    form : format specification of the value
    start : index of the first position shown
    play : give it a button that steps through the positions, four a second, to the last
    autoplay : on the page, play once when it comes into view, unless the reader's system asks for less motion; implies ``play``
    """
    _check_common(frame, name=name, label=label, caption=caption, alt=alt)
    control = _control("values", label, values, form, start)

    def draw(at: tuple[Any, ...]) -> tuple[bytes, str]:
        return checked_frame(frame(at[0]), f"frame({at[0]!r})")

    _display(Panel(draw, (control,), name, caption, alt, play=play or autoplay, autoplay=autoplay))


def sliders(
    frame: Frame,
    values: dict[str, Sequence[float]],
    *,
    start: dict[str, float],
    name: str,
    caption: str,
    alt: str,
    form: str = "g",
    grid: bool = False,
) -> None:
    """Display one figure with several sliders.

    On the built page, where every frame is precomputed, moving one slider puts the others back to their start, and the page
    says so; with ``grid`` there is a frame for every combination. With a kernel every combination can be set.

    Parameters
    ----------
    frame : called as ``frame(p_m=0.15, T=10)``, with a value for each key of ``values`` -> (figure, one sentence)
    values : positions of each slider, at least two; the key is the slider's label and the argument's name
    start : the value of each slider that is shown first, one of its positions
    name, caption, alt, form : as for ``slider``
    grid : precompute every combination; their number is the product of the numbers of positions
    """
    _check_common(frame, name=name, caption=caption, alt=alt)
    check_type("values", values, dict)
    check_type("start", start, dict)
    if len(values) < 2 or set(values) != set(start):
        keys = f"{list(start)} for values of {list(values)}"
        raise ValueError(f"start has {keys}: both must have the same keys, at least two")
    controls = tuple(_control(f"values[{key!r}]", key, positions, form, None, start[key]) for key, positions in values.items())

    def draw(at: tuple[Any, ...]) -> tuple[bytes, str]:
        chosen = dict(zip(values, at, strict=True))
        return checked_frame(frame(**chosen), f"frame({', '.join(f'{k}={v!r}' for k, v in chosen.items())})")

    _display(Panel(draw, controls, name, caption, alt, grid=grid))
