import importlib.util
from types import ModuleType
from typing import Any

import pytest
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Parser
from docutils.utils import new_document

from tools.settings import ROOT


@pytest.fixture(scope="module")
def extension() -> ModuleType:
    spec = importlib.util.spec_from_file_location("first_picture", ROOT / "book" / "_ext" / "first_picture.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def order(extension: ModuleType, figure: str, *, card: bool = True) -> list[str]:
    """The names of a section's parts after the transform."""
    document = new_document("chapter", get_default_settings(Parser))
    picture = nodes.container("", nodes.raw("", figure, format="html"), classes=["cell"], names=["picture"])
    parts: list[Any] = [nodes.paragraph("", "Words.", names=["words"])]
    parts += [nodes.container("", classes=["tl-box", "tl-in-this-chapter"], names=["card"])] * card
    parts += [nodes.container("", classes=["cell"], names=["set-up"]), picture, nodes.paragraph("", "More.", names=["more"])]
    document += nodes.section("", *parts)
    extension.FirstPicture(document).apply()
    return [part["names"][0] for part in document[0].children]


def test_a_figure_that_plays_by_itself_stands_before_the_card(extension: ModuleType) -> None:
    assert order(extension, '<figure class="tl-slider" data-autoplay style="">') == ["words", "picture", "card", "set-up", "more"]


@pytest.mark.parametrize(
    ("figure", "card"), [('<figure class="tl-slider" style="">', True), ('<figure data-autoplay style="">', False)]
)
def test_nothing_else_moves(figure: str, card: bool, extension: ModuleType) -> None:
    expected = ["words", "card", "set-up", "picture", "more"] if card else ["words", "set-up", "picture", "more"]
    assert order(extension, figure, card=card) == expected
