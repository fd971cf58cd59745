"""The two stages of Section 5.1 as numbers: when W^V is done, when attention starts."""

import numpy as np
import pytest

from topiclib.metrics import two_stages

STEPS = np.arange(0, 101, 10.0)
FLAT = np.full(11, 0.01)


def ramp(start: float, end: float, height: float = 10.0) -> np.ndarray:
    """0.01, then rising in a line from step ``start`` to ``end``, then flat."""
    return 0.01 + height * np.clip((STEPS - start) / (end - start), 0, 1)


def test_by_hand() -> None:
    found = two_stages(STEPS, ramp(0, 40), ramp(60, 100), ramp(50, 100))
    assert found.value_done == pytest.approx([36])
    assert found.attention_starts == pytest.approx([55])  # W^Q is first
    assert found.score == pytest.approx([np.log2(55 / 36)])
    assert found.value_after == pytest.approx([0])


def test_the_first_of_the_two_counts() -> None:
    assert two_stages(STEPS, ramp(0, 40), ramp(50, 100), ramp(60, 100)).attention_starts == pytest.approx([55])
    assert two_stages(STEPS, ramp(0, 40), ramp(50, 100), FLAT).attention_starts == pytest.approx([55])


def test_value_that_goes_on_growing() -> None:
    found = two_stages(STEPS, ramp(0, 100), ramp(20, 30), FLAT)
    assert found.value_done == pytest.approx([90])
    assert found.attention_starts == pytest.approx([21])
    assert found.score < 0
    assert found.value_after == pytest.approx([7.9 / 2.11])


def test_value_that_falls_after_a_peak() -> None:
    value = np.array([1, 5, 8, 6, 6, 6, 6, 6, 6, 6, 6.0])
    found = two_stages(STEPS, value, ramp(40, 50), FLAT)
    assert found.value_done == pytest.approx([10 + 10 * 0.5 / 3])  # first past 5.5, 90 % of the way from 1 to 6
    assert found.value_after == pytest.approx([0])
    assert two_stages(STEPS, value, ramp(19, 20), FLAT).value_after == pytest.approx([2.7 / 5.3])  # starts at 11


def test_attention_that_never_starts() -> None:
    found = two_stages(STEPS, ramp(0, 40), FLAT, FLAT * 1.99)
    assert found.attention_starts == [np.inf]
    assert found.score == [np.inf]
    assert np.isnan(found.value_after).all()


def test_value_that_never_grows() -> None:
    found = two_stages(STEPS, np.full(11, 3.0), ramp(0, 10), FLAT)
    assert np.isnan(found.value_done).all()
    assert np.isnan(found.score).all()
    assert found.attention_starts == pytest.approx([1])


def test_a_norm_has_grown_when_it_has_doubled() -> None:
    for end, grown in ((1.99, False), (2.0, True)):
        curve = np.linspace(1, end, 11)
        assert np.isfinite(two_stages(STEPS, ramp(0, 40), curve, FLAT).attention_starts[0]) == grown


@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_diverged_run_is_nan_and_leaves_the_others_alone(which: int) -> None:
    curves = [np.array([ramp(0, 40)] * 2), np.array([ramp(60, 100)] * 2), np.array([ramp(50, 100)] * 2)]
    curves[which][0, 7:] = np.nan
    found = two_stages(STEPS, *curves)
    for values, alone in zip((found.value_done, found.attention_starts, found.value_after), (36, 55, 0), strict=True):
        assert np.isnan(values[0])
        assert values[1] == pytest.approx(alone)


def test_many_runs_are_each_as_alone() -> None:
    rng = np.random.default_rng(0)
    curves = rng.random((3, 20, 11)).cumsum(axis=2)
    together = two_stages(STEPS, *curves)
    for run in range(20):
        alone = two_stages(STEPS, *curves[:, run])
        assert alone.value_done == together.value_done[run]
        assert alone.attention_starts == together.attention_starts[run]
        assert alone.value_after == together.value_after[run]


def test_the_unit_of_the_norms_does_not_matter() -> None:
    one, other = (two_stages(STEPS, k * ramp(0, 40), ramp(60, 100), k * ramp(50, 100)) for k in (1, 1000))
    assert one.score == pytest.approx(other.score)


@pytest.mark.parametrize(
    ("steps", "curves", "said"),
    [
        ([0], [[1]] * 3, "steps has shape"),
        ([0, 0], [[1, 2]] * 3, "steps has shape"),
        ([[0, 1]], [[1, 2]] * 3, "steps has shape"),
        ([0, 1], [[1, 2], [1, 2, 3], [1, 2]], "norm_w_k has shape"),
        ([0, 1], [[1, 2], [1, 2], [[1, 2], [1, 2]]], "norm_w_q has shape"),
        ([0, 1, 2], [[1, 2]] * 3, "norm_w_v has shape"),
    ],
)
def test_wrong_shapes_are_named(steps: list, curves: list, said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}"):
        two_stages(steps, *curves)


def test_a_norm_that_stays_zero_has_not_grown() -> None:
    zero = np.zeros(11)
    assert np.isnan(two_stages(STEPS, zero, ramp(0, 10), FLAT).value_done).all()
    assert two_stages(STEPS, ramp(0, 40), zero, zero).attention_starts == [np.inf]


@pytest.mark.parametrize(
    ("changes", "kind", "said"),
    [
        ({"steps": [0, np.inf]}, ValueError, "steps has shape"),
        ({"norm_w_q": [[1, -2]]}, ValueError, "norm_w_q = .*must not be negative"),
        ({"norm_w_k": "ab"}, TypeError, "norm_w_k = 'ab': must be an array of numbers"),
        ({"norm_w_v": [[1], [2, 3]]}, TypeError, "norm_w_v = .*must be an array of numbers"),
    ],
)
def test_what_is_no_norm_is_named(changes: dict, kind: type[Exception], said: str) -> None:
    given = {"steps": [0, 1], "norm_w_v": [[1, 2]], "norm_w_k": [[1, 2]], "norm_w_q": [[1, 2]]} | changes
    with pytest.raises(kind, match=f"^{said}"):
        two_stages(**given)
