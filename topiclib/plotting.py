"""Figures from arrays. Each function takes ``ax`` and returns it; ``show`` displays a figure with caption and alt text."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Sequence
from importlib.resources import files

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from topiclib.documents import PAD
from topiclib.metrics import ByRelation
from topiclib.vocabulary import MASK, Vocabulary

RELATION_COLORS = {"same word": "#E69F00", "same topic": "#0072B2", "different topics": "#D55E00"}
# Tol's 'muted' colours, and grey: ten topics that are told apart with every kind of colour vision.
TOPIC_COLORS = (
    "#88CCEE", "#CC6677", "#DDCC77", "#117733", "#AA4499", "#44AA99", "#999933", "#882255", "#6699CC", "#BBBBBB",
)  # fmt: skip
DIVERGING = "RdBu_r"


def use_style() -> None:
    """Use the course's matplotlib style."""
    plt.style.use(str(files("topiclib") / "topiclib.mplstyle"))


def heat_map(
    matrix: npt.ArrayLike,
    vocabulary: Vocabulary,
    *,
    ax: Axes,
    title: str = "",
    limit: float | None = None,
    colorbar: bool = True,
) -> Axes:
    """Draw a (V, V) matrix with the topics' boundaries, on a diverging map centred at 0.

    ``limit`` is the absolute value at which colours saturate; None takes the 99.5th percentile of the
    absolute entries, so that a single entry (such as that of [MASK]) does not bleach the rest.
    """
    m = np.asarray(matrix, dtype=np.float64)
    if m.shape != (vocabulary.size, vocabulary.size):
        raise ValueError(f"matrix has shape {m.shape}: must be (V, V) = {(vocabulary.size, vocabulary.size)}")
    top = float(np.percentile(np.abs(m), 99.5)) if limit is None else limit
    top = top or 1.0
    image = ax.imshow(m, cmap=DIVERGING, vmin=-top, vmax=top, interpolation="nearest")
    v = vocabulary.words_per_topic
    for boundary in range(vocabulary.num_topics + 1):
        ax.axhline(boundary * v + 0.5, color="#00000040", linewidth=0.5)
        ax.axvline(boundary * v + 0.5, color="#00000040", linewidth=0.5)
    ticks = [MASK, *(t * v for t in range(1, vocabulary.num_topics + 1))]
    labels = ["M", *(str(t) for t in ticks[1:])]
    ax.set_xticks(ticks, labels, fontsize=7)
    ax.set_yticks(ticks, labels, fontsize=7)
    ax.grid(False)
    ax.set_title(title)
    if colorbar:
        bar = ax.figure.colorbar(image, ax=ax, fraction=0.046, pad=0.03)
        bar.ax.tick_params(labelsize=7)
    return ax


def relation_bars(
    results: Sequence[ByRelation], labels: Sequence[str], *, ax: Axes, ylabel: str = "", reference: float | None = None
) -> Axes:
    """Bars of the mean for each relation with whiskers of one standard deviation, one group for each result."""
    if len(results) != len(labels):
        raise ValueError(f"labels has {len(labels)} entries: must be one for each of {len(results)} results")
    centres = np.arange(len(results))
    for k, (name, color) in enumerate(RELATION_COLORS.items()):
        field = ("same_word", "same_topic", "different_topic")[k]
        means = [getattr(r, field) for r in results]
        spread = [getattr(r, f"{field}_std") for r in results]
        ax.bar(centres + (k - 1) * 0.27, means, 0.25, yerr=spread, label=name, color=color, ecolor="#444444", capsize=2)
    if reference is not None:
        ax.axhline(reference, color="#444444", linestyle="--", linewidth=1)
    ax.axhline(0, color="#444444", linewidth=0.8)
    ax.set_xticks(centres, labels)
    ax.set_ylabel(ylabel)
    ax.grid(False, axis="x")
    ax.legend()
    return ax


def document_strip(
    tokens: npt.ArrayLike,
    vocabulary: Vocabulary,
    *,
    ax: Axes,
    selected: npt.ArrayLike | None = None,
    columns: int = 25,
) -> Axes:
    """Draw one document as a grid of word ids in reading order, coloured by topic; selected positions are framed."""
    ids = np.asarray(tokens)
    ids = ids[ids != PAD]
    chosen = np.zeros(len(ids), dtype=bool) if selected is None else np.asarray(selected)[: len(ids)]
    topics = vocabulary.topic_labels()
    rows = -(-len(ids) // columns)
    for n, token in enumerate(ids.tolist()):
        x, y = n % columns, n // columns
        color = "white" if token == MASK else TOPIC_COLORS[(topics[token] - 1) % len(TOPIC_COLORS)]
        edge, width = ("black", 1.8) if chosen[n] else ("white", 1.0)
        square = Rectangle((x + 0.05, y + 0.05), 0.9, 0.9, facecolor=color, edgecolor=edge, linewidth=width)
        square.set_zorder(2 + bool(chosen[n]))
        ax.add_patch(square)
        dark = color in ("#117733", "#AA4499", "#882255")
        label = "M" if token == MASK else str(token)
        ax.text(x + 0.5, y + 0.53, label, ha="center", va="center", fontsize=7, color="white" if dark else "black", zorder=4)
    ax.set_xlim(0, columns)
    ax.set_ylim(rows, 0)
    ax.set_aspect("equal")
    ax.axis("off")
    return ax


def figure_bytes(fig: Figure, kind: str = "svg") -> bytes:
    """The figure as SVG or PNG bytes, the same bytes for the same figure."""
    buffer = io.BytesIO()
    fig.savefig(buffer, format=kind, metadata={"Date": None} if kind == "svg" else {"Software": None})
    return buffer.getvalue()


def data_uri(content: bytes, mime: str) -> str:
    """Bytes as a data: address, so that a page needs no other file."""
    return f"data:{mime};base64,{base64.b64encode(content).decode()}"


def show(fig: Figure, name: str, *, caption: str, alt: str) -> None:
    """Display a figure with its caption and its alt text, and close it.

    Parameters
    ----------
    name : identifier for links, such as ``"figure-1"``
    caption : what to see in it; simple HTML (sub, sup, em) is allowed
    alt : what it shows, for those who cannot see it; not empty (ValueError)
    """
    from IPython.display import display

    for argument, text in (("name", name), ("caption", caption), ("alt", alt)):
        if not text.strip():
            raise ValueError(f"{argument} = {text!r}: must not be empty")
    image = data_uri(figure_bytes(fig), "image/svg+xml")
    plt.close(fig)
    markup = (
        f'<figure id="{html.escape(name)}" class="tl-figure" style="margin:1em 0">'
        f'<img alt="{html.escape(alt)}" src="{image}" style="max-width:100%;background:white">'
        f'<figcaption style="font-size:.92em">{caption}</figcaption></figure>'
    )
    display({"text/html": markup, "text/plain": f"[figure {name}: {alt}]"}, raw=True)
