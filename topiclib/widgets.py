"""A slider that works on the static page from precomputed frames, and recomputes live where there is a kernel."""

from __future__ import annotations

import html
import io
import json
import os
from collections.abc import Callable, Sequence
from importlib.resources import files

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from PIL import Image

from topiclib.plotting import data_uri, figure_bytes

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


def slider_markup(
    frame: Frame, values: Sequence[float], name: str, label: str, caption: str, alt: str, form: str, start: int
) -> str:
    """HTML with every frame inside and a few lines of script; no kernel and no other file is needed."""
    frames = []
    for value in values:
        fig, text = frame(value)
        shown = format(value, form)
        source = data_uri(small_png(fig), "image/png")
        frames.append({"src": source, "label": shown, "text": text, "alt": f"{alt} {text}"})
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
    slider calls ``frame`` anew at each move.

    Parameters
    ----------
    frame : value -> (figure, one sentence with what it shows at this value)
    values : the slider's positions, at least two
    name : identifier for links
    label : what is varied, such as ``"p_m"``
    caption : what to try and what to see; simple HTML is allowed
    alt : what kind of picture it is, for those who cannot see it; the frame's sentence follows. Not empty
    form : format specification of the value
    start : index of the first position shown
    """
    from IPython.display import HTML, display

    if not alt.strip():
        raise ValueError(f"alt = {alt!r}: must not be empty")
    if len(values) < 2:
        raise ValueError(f"values has {len(values)} entries: must have at least two")
    if not 0 <= start < len(values):
        raise ValueError(f"start = {start}: must be an index from 0 to {len(values) - 1}")
    if is_static():
        display(HTML(slider_markup(frame, values, name, label, caption, alt, form, start)))
        return
    import ipywidgets

    # An Image and an HTML widget, not an Output: filling an Output can stall a run without a browser.
    control = ipywidgets.SelectionSlider(
        options=[(format(v, form), v) for v in values], value=values[start], description=label, continuous_update=False
    )
    picture, text = ipywidgets.Image(format="png"), ipywidgets.HTML()

    def draw(_: object = None) -> None:
        fig, sentence = frame(control.value)
        picture.value = small_png(fig)
        text.value = html.escape(sentence)

    control.observe(draw, names="value")
    draw()
    display(ipywidgets.VBox([control, picture, text, ipywidgets.HTML(caption)]))
