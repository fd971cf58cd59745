"""Settings that the tests of the theory share."""

from __future__ import annotations

from fractions import Fraction as F
from typing import Any

import pytest

# (T, v, tau, p_m, p_c, p_r): uneven p_c and p_r, T != v, no random or no kept words, tau = 1, T = 2, v = 1.
EXACT = [
    (2, 1, 1, F("0.15"), F("0.1"), F("0.1")),
    (2, 3, 1, F("0.15"), F("0.1"), F("0.1")),
    (3, 1, 2, F(1, 2), F(1, 3), F(1, 5)),
    (3, 2, 1, F("0.15"), F("0.1"), F("0.1")),
    (3, 2, 2, F("0.3"), F("0.2"), F("0.05")),
    (3, 4, 2, F("0.4"), F(0), F("0.3")),
    (4, 2, 2, F("0.15"), F("0.3"), F(0)),
    (4, 2, 3, F("0.49"), F("0.02"), F("0.9")),
    (4, 3, 2, F("0.9"), F("0.05"), F("0.2")),
    (5, 1, 3, F("0.2"), F("0.1"), F("0.4")),
    (5, 2, 2, F("0.15"), F("0.1"), F("0.1")),
    (5, 2, 4, F("0.05"), F("0.5"), F("0.25")),
    (6, 1, 3, F("0.15"), F("0.25"), F("0.15")),
    (2, 5, 1, F("0.7"), F("0.1"), F("0.6")),
]


def named(setting: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(("num_topics", "words_per_topic", "topics_per_doc", "p_m", "p_c", "p_r"), setting, strict=True))


@pytest.fixture(params=EXACT, ids=lambda s: "T{}-v{}-tau{}-{}-{}-{}".format(*(str(x).replace("/", "_") for x in s)))
def setting(request: pytest.FixtureRequest) -> dict[str, Any]:
    """All six arguments, exact."""
    return named(request.param)


@pytest.fixture
def sizes(setting: dict[str, Any]) -> dict[str, Any]:
    """The arguments without tau, which Theorems 1 and 2 do not depend on."""
    return {name: value for name, value in setting.items() if name != "topics_per_doc"}


@pytest.fixture
def paper() -> dict[str, Any]:
    """The paper's setting with tau = 3."""
    return named((10, 10, 3, F("0.15"), F("0.1"), F("0.1")))
