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

from topiclib.documents import PAD, IntArray
from topiclib.metrics import ByRelation
from topiclib.validation import check_int, check_text, check_type
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
    check_type("vocabulary", vocabulary, Vocabulary)
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


def _one_document(tokens: npt.ArrayLike, vocabulary: Vocabulary, lowest: int) -> IntArray:
    """``tokens`` as an array, if it is one document of token ids; ``lowest`` is PAD where padding is allowed, else MASK."""
    check_type("vocabulary", vocabulary, Vocabulary)
    ids = np.asarray(tokens)
    if ids.ndim != 1 or ids.dtype.kind not in "iu" or (ids < lowest).any() or (ids >= vocabulary.size).any():
        allowed = f"ids from 0 to {vocabulary.num_words}" + (f", or PAD = {PAD}" if lowest == PAD else "")
        raise ValueError(f"tokens = {ids.tolist()}: must be one document of {allowed}")
    return ids


def _topic_color(topic: int) -> str:
    """The colour of a topic's words; white for label 0, [MASK]."""
    return TOPIC_COLORS[(topic - 1) % len(TOPIC_COLORS)] if topic else "white"


def document_strip(
    tokens: npt.ArrayLike,
    vocabulary: Vocabulary,
    *,
    ax: Axes,
    selected: npt.ArrayLike | None = None,
    columns: int = 25,
) -> Axes:
    """Draw one document as a grid of word ids in reading order, coloured by topic; selected positions are framed."""
    check_int("columns", columns, 1)
    ids = _one_document(tokens, vocabulary, PAD)
    chosen = np.zeros(ids.shape, dtype=bool) if selected is None else np.asarray(selected)
    if chosen.shape != ids.shape:
        raise ValueError(f"selected has shape {chosen.shape}: must be that of tokens, {ids.shape}")
    ids, chosen = ids[ids != PAD], chosen[ids != PAD]
    topics = vocabulary.topic_labels()
    rows = -(-len(ids) // columns)
    for n, token in enumerate(ids.tolist()):
        x, y = n % columns, n // columns
        color = _topic_color(topics[token])
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


def attention_map(
    a: npt.ArrayLike, tokens: npt.ArrayLike, vocabulary: Vocabulary, *, ax: Axes, limit: float | None = None, title: str = ""
) -> Axes:
    """Draw one document's attention A (N, N), key in the row and query in the column, with a strip of topic colours at both.

    ``limit`` is the weight at which the colour saturates; None takes the largest. [MASK] is white in the strips.
    """
    weights, ids = np.asarray(a, dtype=np.float64), _one_document(tokens, vocabulary, MASK)
    n = len(ids)
    if weights.shape != (n, n):
        raise ValueError(f"a has shape {weights.shape}: must be (N, N) = {(n, n)}")
    image = ax.imshow(weights, cmap="Blues", vmin=0, vmax=limit or weights.max(), interpolation="nearest")
    gap, width = 0.02 * n, 0.045 * n
    for j, topic in enumerate(vocabulary.topic_labels()[ids]):
        color = _topic_color(topic)
        for corner, w, h in (((j - 0.5, -0.5 - gap - width), 1, width), ((-0.5 - gap - width, j - 0.5), width, 1)):
            ax.add_patch(Rectangle(corner, w, h, facecolor=color, edgecolor="#444444", linewidth=0.5))
    ax.set_xlim(-0.5 - gap - width - 0.3, n - 0.4)
    ax.set_ylim(n - 0.4, -0.5 - gap - width - 0.3)
    ax.set_xlabel("query $j$ (its column sums to 1)")
    ax.set_ylabel("key $i$")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    ax.grid(False)
    ax.set_title(title)
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.046, pad=0.03)
    bar.ax.tick_params(labelsize=8)
    return ax


def product_sketch(factors: Sequence[tuple[str, str, str, float, float, str]], *, ax: Axes) -> Axes:
    """Draw matrices in a row, each as a rectangle of its shape, so that one sees which dimensions must agree.

    Each factor is (name, rows, columns, height, width, colour) with rows and columns as labels; a factor with
    height 0 is a sign between two matrices, such as ``=``.
    """
    x = 0.0
    for name, rows, columns, height, width, color in factors:
        if height:
            ax.add_patch(Rectangle((x, -height / 2), width, height, facecolor=color, edgecolor="#444444", alpha=0.85))
            ax.text(x - 0.12, 0, rows, ha="right", va="center", fontsize=12, color="#444444")
            ax.text(x + width / 2, height / 2 + 0.12, columns, ha="center", va="bottom", fontsize=12, color="#444444")
        ax.text(x + width / 2, 0, name, ha="center", va="center", fontsize=15)
        x += width + 0.75
    top = max(height for _, _, _, height, _, _ in factors) / 2
    ax.set_xlim(-0.6, x - 0.6)
    ax.set_ylim(-top - 0.15, top + 0.6)
    ax.set_aspect("equal")
    ax.axis("off")
    return ax


def landscape(
    same_topic_ratio: npt.ArrayLike, same_word_ratio: npt.ArrayLike, loss: npt.ArrayLike, *, ax: Axes, colorbar: bool = True
) -> Axes:
    """Draw the loss over the two attention ratios of Assumption 2, both on logarithmic axes: alpha across, beta up.

    ``same_topic_ratio`` (n,), ``same_word_ratio`` (k,), ``loss`` (k, n). Levels are finer near the minimum, by the square
    root of the excess over it, so that the valley shows; dark is low.
    """
    alpha, beta, surface = (np.asarray(x, dtype=np.float64) for x in (same_topic_ratio, same_word_ratio, loss))
    if surface.shape != (len(beta), len(alpha)):
        raise ValueError(f"loss has shape {surface.shape}: must be (k, n) = {(len(beta), len(alpha))}")
    low, high = surface.min(), surface.max()
    levels = low + (high - low) * np.linspace(0, 1, 15) ** 2
    image = ax.contourf(alpha, beta, surface, levels=levels, cmap="cividis")
    ax.contour(alpha, beta, surface, levels=levels, colors="#00000040", linewidths=0.5)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("same topic, $\\alpha$")
    ax.set_ylabel("same word, $\\beta$")
    ax.grid(False)
    if colorbar:
        bar = ax.figure.colorbar(image, ax=ax, fraction=0.046, pad=0.03, format="%.4f")
        bar.ax.tick_params(labelsize=7)
        bar.set_label("loss")
    return ax


def figure_bytes(fig: Figure, kind: str = "svg") -> bytes:
    """The figure as SVG or PNG bytes, the same bytes for the same figure."""
    buffer = io.BytesIO()
    with plt.rc_context({"svg.hashsalt": "topiclib"}):
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
    alt : what it shows, for those who cannot see it

    None of the three may be empty (ValueError).
    """
    from IPython.display import display

    check_type("fig", fig, Figure)
    for argument, text in (("name", name), ("caption", caption), ("alt", alt)):
        check_text(argument, text)
    image = data_uri(figure_bytes(fig), "image/svg+xml")
    plt.close(fig)
    markup = (
        f'<figure id="{html.escape(name)}" class="tl-figure" style="margin:1em 0">'
        f'<div class="tl-picture"><img alt="{html.escape(alt)}" src="{image}" style="max-width:100%;background:white"></div>'
        f'<figcaption style="font-size:.92em">{caption}</figcaption></figure>'
    )
    display({"text/html": markup, "text/plain": f"[figure {name}: {alt}]"}, raw=True)
