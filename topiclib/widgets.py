"""A slider that works on the static page from precomputed frames, and recomputes live where there is a kernel."""

from __future__ import annotations

import html
import io
import json
import os
from collections.abc import Callable, Iterable, Sequence
from importlib.resources import files

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from PIL import Image

from topiclib.plotting import data_uri, figure_bytes
from topiclib.validation import check_int, check_text, shown

Frame = Callable[[float], tuple[Figure, str]]


def small_png(fig: Figure) -> bytes:
    """The figure as a PNG of at most 128 colours, about a third of the plain size; closes the figure."""
    picture = Image.open(io.BytesIO(figure_bytes(fig, "png"))).convert("RGB")
    plt.close(fig)
    buffer = io.BytesIO()
    # Maximum coverage keeps rare colours (the ends of a colour bar), which the default median cut greys.
    small = picture.quantize(128, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    small.save(buffer, format="png", optimize=True)
    return buffer.getvalue()


def draw_frame(frame: Frame, value: float) -> tuple[bytes, str]:
    """The picture (PNG) and the sentence of a frame; TypeError if it returns something else."""
    result = frame(value)
    match result:
        case (Figure() as fig, str(sentence)):
            return small_png(fig), sentence
    raise TypeError(f"frame({value!r}) = {shown(result)}: must be (figure, one sentence)")


def position_label(value: float, form: str) -> str:
    """The value as the slider shows it; ValueError if ``form`` does not fit it."""
    try:
        return format(value, form)
    except (TypeError, ValueError) as error:
        raise ValueError(f"form = {form!r}: must be a format specification that fits {value!r} ({error})") from error


def slider_markup(
    frame: Frame, values: Sequence[float], name: str, label: str, caption: str, alt: str, form: str, start: int
) -> str:
    """HTML with every frame inside and a few lines of script; no kernel and no other file is needed."""
    frames = []
    for value in values:
        picture, text = draw_frame(frame, value)
        source = data_uri(picture, "image/png")
        frames.append({"src": source, "label": position_label(value, form), "text": text, "alt": f"{alt} {text}"})
    ident, first = html.escape(name), frames[start]
    data = json.dumps(frames).replace("<", "\\u003c")  # no text can end the script
    script = (files("topiclib") / "slider.js").read_text()
    return (
        f'<figure id="{ident}" class="tl-slider" style="margin:1em 0">'
        f'<label style="display:block;font-weight:600">{html.escape(label)} = '
        f"<output>{html.escape(first['label'])}</output>"
        f'<input type="range" min="0" max="{len(frames) - 1}" step="1" value="{start}" '
        f'style="display:block;width:min(100%,32rem);min-height:2rem"></label>'
        f'<img src="{first["src"]}" alt="{html.escape(first["alt"])}" style="max-width:100%;background:white">'
        f'<p class="tl-slider-text" aria-live="polite">{html.escape(first["text"])}</p>'
        f'<figcaption style="font-size:.92em">{caption}</figcaption>'
        f'<script type="application/json">{data}</script>'
        f"<script>({script.strip()})(document.getElementById({json.dumps(name)}));</script></figure>"
    )


def is_static() -> bool:
    """Whether a page is being built that no kernel will stand behind (TOPICLIB_STATIC=1)."""
    return os.environ.get("TOPICLIB_STATIC", "0") == "1"


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
    """
    from IPython.display import HTML, display

    if not callable(frame):
        raise TypeError(f"frame = {shown(frame)}: must be a function of the value")
    for argument, content in (("name", name), ("label", label), ("caption", caption), ("alt", alt)):
        check_text(argument, content)
    if not isinstance(values, Iterable):
        raise TypeError(f"values = {shown(values)}: must be a sequence of at least two positions")
    values = list(values)
    if len(values) < 2:
        raise ValueError(f"values has {len(values)} entries: must have at least two")
    check_int("start", start, 0, len(values) - 1)
    options = [(position_label(value, form), value) for value in values]
    if is_static():
        display(HTML(slider_markup(frame, values, name, label, caption, alt, form, start)))
        return
    import ipywidgets

    # An Image and an HTML widget, not an Output: filling an Output can stall a run without a browser.
    control = ipywidgets.SelectionSlider(options=options, value=values[start], description=label, continuous_update=False)
    picture, text = ipywidgets.Image(format="png"), ipywidgets.HTML()

    def draw() -> None:
        picture.value, sentence = draw_frame(frame, control.value)
        picture.layout.visibility, text.value = "visible", html.escape(sentence)

    def redraw(_: object) -> None:
        try:
            draw()
        except Exception as error:  # raised in a widget's callback, it might be seen nowhere
            picture.layout.visibility = "hidden"
            where = f"{label} = {position_label(control.value, form)}"
            text.value = html.escape(f"There is no picture for {where}: {type(error).__name__}: {error}")

    draw()
    control.observe(redraw, names="value")
    display(ipywidgets.VBox([control, picture, text, ipywidgets.HTML(caption)]))
