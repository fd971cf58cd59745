import json
from typing import Any

import numpy as np
import pytest
import torch

from topiclib.claims import METADATA_KEY, ClaimError, claim, parse_number, seed_text

Shown = list[tuple[dict[str, str], dict[str, Any]]]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """What the claims display: (data, metadata)."""
    seen: Shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw, metadata: seen.append((data, metadata)))
    return seen


# Binary fractions, so that the edges are exact.
@pytest.mark.parametrize("value", [0.25, 0.5, 0.75])
def test_a_number_within_the_tolerance_holds(value: float, shown: Shown) -> None:
    claim("a", value, "0.5", tol=0.25)
    assert len(shown) == 1


@pytest.mark.parametrize("value", [0.25 - 1e-12, 0.75 + 1e-12, -0.5, 1e9])
def test_a_number_beyond_the_tolerance_fails_and_shows_nothing(value: float, shown: Shown) -> None:
    with pytest.raises(ClaimError, match=r"claim 'a': the text says equal 0.5 \(tolerance 0.25\), the cell computed"):
        claim("a", value, "0.5", tol=0.25)
    assert not shown


def test_without_tolerance_the_number_must_be_exact(shown: Shown) -> None:
    claim("a", 100, "100")
    with pytest.raises(ClaimError, match="the cell computed 101"):
        claim("a", 101, "100")


def test_the_message_has_the_digits_that_differ() -> None:
    with pytest.raises(ClaimError, match=r"says equal 0\.1 .*the cell computed 0\.10000000149"):
        claim("a", np.float32(0.1), "0.1")
    with pytest.raises(ClaimError, match=r"the cell computed 0\.30000000000000004"):
        claim("a", 0.1 + 0.2, "0.3")


@pytest.mark.parametrize(
    ("bound", "value", "holds"),
    [
        ("at least", 1000.0, True),
        ("at least", 0.25, True),
        ("at least", np.nextafter(0.25, 0), False),
        ("at most", -1000.0, True),
        ("at most", 0.75, True),
        ("at most", np.nextafter(0.75, 1), False),
    ],
)
def test_bounds_have_one_side(bound: str, value: float, holds: bool, shown: Shown) -> None:
    if holds:
        claim("a", value, "0.5", tol=0.25, bound=bound)
    else:
        with pytest.raises(ClaimError, match=f"the text says {bound} 0.5"):
            claim("a", value, "0.5", tol=0.25, bound=bound)
    assert len(shown) == holds


@pytest.mark.parametrize("bound", ["equal", "at least", "at most"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_not_finite_never_holds(value: float, bound: str, shown: Shown) -> None:
    with pytest.raises(ClaimError):
        claim("a", value, "0.5", tol=1e300, bound=bound)
    assert not shown


def test_a_failed_claim_is_an_assertion_error() -> None:
    assert issubclass(ClaimError, AssertionError)


@pytest.mark.parametrize(
    ("says", "number"),
    [
        ("0.34", 0.34),
        ("100", 100),
        (" 7 ", 7),
        ("3,600", 3600),
        ("1,234,567.5", 1234567.5),
        ("12%", 0.12),
        ("12 %", 0.12),
        ("0.5%", 0.005),
        ("-3", -3),
        ("−3.5", -3.5),
        ("+2", 2),
        (".5", 0.5),
        ("-.5", -0.5),
        ("1e-3", 0.001),
        ("2.5e6", 2.5e6),
        ("−12%", -0.12),
    ],
)
def test_parse_number(says: str, number: float) -> None:
    assert parse_number(says) == pytest.approx(number, rel=1e-15)


@pytest.mark.parametrize(
    "says",
    [
        *("", "about 3", "3 words", "1/2", "nan", "inf", "0x10", "1.2.3", "--1", "12%%", "ten", "1 000", "%", "."),
        *("1,0,0", "1,00", "1,0000", "1000,000", "0,123", ",100", "1,", "1,000,", "1.000,000"),
    ],
)
def test_parse_number_refuses_what_is_no_number(says: str) -> None:
    with pytest.raises(ValueError, match="says = ") as caught:
        parse_number(says)
    assert repr(says) in str(caught.value)


def test_the_claim_is_recorded_in_the_outputs_metadata(shown: Shown) -> None:
    claim("mask-share", np.float32(0.125), "12%", tol=0.01, paper="0.12", seeds=range(3), note="share of positions")
    ((_, metadata),) = shown
    assert json.loads(json.dumps(metadata)) == {
        METADATA_KEY: {
            "name": "mask-share",
            "value": 0.125,
            "says": "12%",
            "tol": 0.01,
            "bound": "equal",
            "paper": "0.12",
            "seeds": [0, 1, 2],
            "note": "share of positions",
        }
    }


def test_seeds_in_a_row_are_a_range_to_read() -> None:
    assert [seed_text(seeds) for seeds in ([], [5], [0, 1], [0, 1, 2], [0, 1, 2, 99], [3, 1, 2])] == [
        "", "5", "0, 1", "0 to 2", "0 to 2, 99", "3, 1, 2",
    ]  # fmt: skip


def test_seeds_of_numpy_are_recorded_as_plain_numbers(shown: Shown) -> None:
    claim("a", 1, "1", tol=np.float32(0.5), seeds=np.arange(2))  # type: ignore[arg-type]
    assert json.loads(json.dumps(shown[0][1]))[METADATA_KEY]["seeds"] == [0, 1]


def test_the_claim_is_shown_with_an_identifier_to_link_to(shown: Shown) -> None:
    claim("mask-share", 0.125, "12%", tol=0.01, paper="<0.2", seeds=[0, 1], note="a & b")
    ((data, _),) = shown
    assert 'id="claim-mask-share"' in data["text/html"]
    assert "(text: 12% ± 0.01; paper: &lt;0.2; seeds: 0, 1; a &amp; b)" in data["text/html"]
    assert data["text/plain"] == "claim mask share: 0.125 (text: 12% ± 0.01; paper: <0.2; seeds: 0, 1; a & b)"


@pytest.mark.parametrize(
    ("bound", "text"), [("equal", "text: 2"), ("at least", "text: at least 2"), ("at most", "text: at most 2")]
)
def test_the_text_says_which_bound(bound: str, text: str, shown: Shown) -> None:
    claim("a", 2, "2", bound=bound)
    assert f"({text})" in shown[0][0]["text/plain"]


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int64(2), torch.tensor(2.0), True + 1])
def test_values_of_every_kind_are_recorded_as_plain_numbers(value: Any, shown: Shown) -> None:
    claim("a", value, "2")
    recorded = shown[0][1][METADATA_KEY]["value"]
    assert type(recorded) is float
    assert recorded == 2
