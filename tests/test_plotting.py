import base64
import re
from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

from topiclib.documents import PAD
from topiclib.metrics import ByRelation
from topiclib.plotting import (
    RELATION_COLORS,
    TOPIC_COLORS,
    attention_map,
    data_uri,
    document_strip,
    figure_bytes,
    heat_map,
    product_sketch,
    relation_bars,
    show,
)
from topiclib.plotting import use_style as course_style
from topiclib.vocabulary import Vocabulary

VOCABULARY = Vocabulary(3, 2)
RESULT = ByRelation(3, 2, 1, 0.3, 0.2, 0.1)


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    with plt.style.context("default"):
        yield
    plt.close("all")


def figure() -> Figure:
    """A figure with a clip path, whose identifier matplotlib draws at random unless told otherwise."""
    fig, ax = plt.subplots(figsize=(3, 2))
    ax.plot([0, 1, 2], [0, 3, 1], label="a")
    ax.set_xlim(0.5, 1.5)
    ax.legend()
    return fig


@pytest.mark.parametrize("styled", [False, True])
@pytest.mark.parametrize("kind", ["svg", "png"])
def test_the_same_figure_gives_the_same_bytes(kind: str, styled: bool) -> None:
    if styled:
        course_style()
    first = figure_bytes(figure(), kind)
    assert first == figure_bytes(figure(), kind)
    assert first.startswith({"svg": b"<?xml", "png": b"\x89PNG"}[kind])


def test_figure_bytes_hold_no_date_and_no_version() -> None:
    assert not re.search(rb"<dc:date>", figure_bytes(figure()))
    assert b"Software" not in figure_bytes(figure(), "png")


def test_data_uri_holds_the_content() -> None:
    head, content = data_uri(b"\x00hello", "image/png").split(",")
    assert head == "data:image/png;base64"
    assert base64.b64decode(content) == b"\x00hello"


def shown(monkeypatch: pytest.MonkeyPatch, **texts: str) -> dict[str, Any]:
    """What ``show`` displays."""
    seen: list[Any] = []
    monkeypatch.setattr("IPython.display.display", lambda data, **options: seen.append(data))
    show(figure(), texts.pop("name", "figure-1"), **{"caption": "See it.", "alt": "A line.", **texts})
    (data,) = seen
    assert isinstance(data, dict)
    return data


def test_show_displays_image_caption_and_alt_text(monkeypatch: pytest.MonkeyPatch) -> None:
    data = shown(monkeypatch, name="figure-9", caption="A <sub>b</sub>", alt='"1 < 2"')
    assert '<figure id="figure-9"' in data["text/html"]
    assert 'alt="&quot;1 &lt; 2&quot;"' in data["text/html"]
    assert "A <sub>b</sub></figcaption>" in data["text/html"]
    assert data["text/plain"] == '[figure figure-9: "1 < 2"]'
    assert re.findall(r'src="([^,]*)', data["text/html"]) == ["data:image/svg+xml;base64"]
    assert "http" not in data["text/html"]
    assert not plt.get_fignums()


def test_show_is_deterministic(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch) == shown(monkeypatch)


@pytest.mark.parametrize("text", ["", "  \n"])
@pytest.mark.parametrize("argument", ["name", "caption", "alt"])
def test_show_needs_name_caption_and_alt(argument: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=rf"^{argument} = .*must not be empty"):
        shown(monkeypatch, **{argument: text})


@pytest.mark.parametrize("argument", ["name", "caption", "alt"])
def test_show_needs_texts(argument: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TypeError, match=rf"^{argument} = None: must be a str$"):
        shown(monkeypatch, **{argument: None})  # type: ignore[arg-type]


def test_show_needs_a_figure() -> None:
    _, ax = plt.subplots()
    with pytest.raises(TypeError, match=r"^fig = <Axes.*: must be a Figure$"):
        show(ax, "figure-1", caption="See it.", alt="A line.")  # type: ignore[arg-type]


def test_show_without_alt_text_is_an_error() -> None:
    with pytest.raises(TypeError, match="alt"):
        show(figure(), "figure-1", caption="See it.")  # type: ignore[call-arg]


def test_heat_map_is_centred_and_draws_the_boundaries() -> None:
    _, ax = plt.subplots()
    matrix = np.arange(49.0).reshape(7, 7) - 40
    assert heat_map(matrix, VOCABULARY, ax=ax, title="W", limit=5.0) is ax
    (image,) = ax.images
    assert image.get_clim() == (-5, 5)
    assert np.array_equal(image.get_array(), matrix)
    assert sorted(line.get_xdata()[0] for line in ax.lines if line.get_xdata()[0] == line.get_xdata()[1]) == [0.5, 2.5, 4.5, 6.5]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["M", "2", "4", "6"]
    assert ax.get_title() == "W"


def test_heat_map_saturates_at_the_percentile_so_that_one_entry_bleaches_nothing() -> None:
    _, ax = plt.subplots()
    matrix = np.ones((101, 101))
    matrix[0, 0] = 1000
    heat_map(matrix, Vocabulary(10, 10), ax=ax, colorbar=False)
    assert ax.images[0].get_clim() == (-1, 1)
    assert len(ax.figure.axes) == 1


def test_heat_map_draws_a_matrix_of_zeros() -> None:
    _, ax = plt.subplots()
    heat_map(np.zeros((7, 7)), VOCABULARY, ax=ax)
    assert ax.images[0].get_clim() == (-1, 1)


def test_relation_bars_show_means_and_spread() -> None:
    _, ax = plt.subplots()
    assert relation_bars([RESULT, RESULT], ["before", "after"], ax=ax, ylabel="weight", reference=1.0) is ax
    bars = [c for c in ax.containers if hasattr(c, "patches")]
    assert [[p.get_height() for p in c.patches] for c in bars] == [[3, 3], [2, 2], [1, 1]]
    assert [c.get_label() for c in bars] == list(RELATION_COLORS)
    whiskers = [c.errorbar.lines[2][0].get_segments()[0] for c in bars]
    assert [float(s[1, 1] - s[0, 1]) for s in whiskers] == pytest.approx([0.6, 0.4, 0.2])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["before", "after"]
    assert ax.get_ylabel() == "weight"


def test_document_strip_colours_topics_and_frames_what_is_selected() -> None:
    _, ax = plt.subplots()
    tokens = [1, 2, 3, 0, 6, PAD, PAD]
    assert document_strip(tokens, VOCABULARY, ax=ax, selected=[False, False, False, True, True, False, False], columns=3) is ax
    assert [t.get_text() for t in ax.texts] == ["1", "2", "3", "M", "6"]
    colors = [plt.matplotlib.colors.to_hex(p.get_facecolor()).upper() for p in ax.patches]
    assert colors == [TOPIC_COLORS[0], TOPIC_COLORS[0], TOPIC_COLORS[1], "#FFFFFF", TOPIC_COLORS[2]]
    assert [plt.matplotlib.colors.to_hex(p.get_edgecolor()) == "#000000" for p in ax.patches] == [False, False, False, True, True]
    assert [(int(p.get_x()), int(p.get_y())) for p in ax.patches] == [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1)]


def test_ten_topics_have_ten_colours() -> None:
    assert len(set(TOPIC_COLORS)) == len(TOPIC_COLORS) == 10
    assert len(set(RELATION_COLORS.values())) == 3


def test_attention_map_has_key_rows_query_columns_and_topic_strips() -> None:
    a, tokens = np.array([[0.2, 0.7, 0.5], [0.3, 0.1, 0.4], [0.5, 0.2, 0.1]]), [1, 0, 6]
    _, ax = plt.subplots()
    assert attention_map(a, tokens, VOCABULARY, ax=ax) is ax
    np.testing.assert_array_equal(np.asarray(ax.images[0].get_array()), a)
    assert ax.images[0].get_clim() == (0, 0.7)
    assert "query" in ax.get_xlabel()
    assert "key" in ax.get_ylabel()
    colors = [plt.matplotlib.colors.to_hex(patch.get_facecolor()) for patch in ax.patches]
    strip = [TOPIC_COLORS[0].lower(), "#ffffff", TOPIC_COLORS[2].lower()]
    assert colors == [color for color in strip for _ in range(2)]
    with pytest.raises(ValueError, match=r"^a has shape \(3, 3\): must be \(N, N\) = \(2, 2\)"):
        attention_map(a, [1, 2], VOCABULARY, ax=ax)


@pytest.mark.parametrize("tokens", [[1, 7], [1, PAD], [1.0, 2.0], [[1, 2]]])
def test_attention_map_takes_ids_of_the_vocabulary_only(tokens: Any) -> None:
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match=r"^tokens = .*: must be one document of ids from 0 to 6$"):
        attention_map(np.eye(2), tokens, VOCABULARY, ax=ax)


def test_product_sketch_draws_a_rectangle_for_each_matrix() -> None:
    _, ax = plt.subplots()
    factors = [("Z", "d", "N", 2.0, 3.0, "red"), ("=", "", "", 0, 0.2, "red"), ("W", "d", "V", 2.0, 4.0, "blue")]
    assert product_sketch(factors, ax=ax) is ax
    assert [(p.get_height(), p.get_width()) for p in ax.patches] == [(2, 3), (2, 4)]
    assert [t.get_text() for t in ax.texts] == ["d", "N", "Z", "=", "d", "V", "W"]
