"""Checks of the exercises of Appendix D.5."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from topiclib.checks.base import Answer, as_array, close, expect, register

Array = npt.NDArray[np.float64]
TOL = 1e-3


@register("d.5-line")
def line(answer: Answer) -> None:
    for s, v, beta in ((4.0, 5, 3.0), (1.5, 10, 9.0)):
        alpha = float(as_array(answer(s, v, beta), (), "alpha"))
        weights = np.full(v, alpha)
        weights[0] = beta
        average = weights.mean()
        hint = "s is an average over the words of a topic: the sum of the weights is larger."
        expect(not close(weights.sum(), s, TOL), "sum-for-average", hint)
        expect(
            not close((alpha + beta) / 2, s, TOL),
            "plain-mean",
            "there are several other words in the topic, not one: weigh alpha by their number.",
        )
        hint = "you return the average when alpha has the value s: the question is the other way round."
        expect(not close(alpha, ((v - 1) * s + beta) / v, TOL), "not-inverted", hint)
        hint = "how many words of the topic are not the word itself? Your weights seem to count the word among the others."
        expect(not close(alpha + beta / v, s, TOL), "word-counted-twice", hint)
        expect(close(average, s, TOL), "wrong-average", "put your alpha into the average over the topic: it is not the given s.")


@register("d.5-standard-errors")
def standard_errors(answer: Answer) -> None:
    rng = np.random.default_rng(55)
    losses = rng.normal(size=(6, 3)) + 1
    exact = np.array([0.5, 0.7, 2.0])
    z = as_array(answer(losses, exact), (3,), "the deviations")
    offset = losses.mean(axis=0) - exact
    expect((z * offset >= 0).all(), "sign", "measured minus exact: a sample mean above the exact value has a positive deviation.")
    scale = offset / z
    n, spread = len(losses), losses.std(axis=0, ddof=1)
    hint = "you divide by the spread of single documents; the mean of many documents is known better than one of them."
    expect(not close(scale, spread, TOL), "spread-not-error", hint)
    expect(
        not close(scale, spread / n, TOL), "no-square-root", "averaging n values shrinks their spread, but more slowly than by n."
    )
    hint = "with few documents the variance must be divided by one less than their number."
    expect(not close(scale, losses.std(axis=0) / n**0.5, TOL), "biased-variance", hint)
    expect(
        not close(scale, spread / 3**0.5, TOL), "points-counted", "which axis holds the documents? It is their number that counts."
    )
    # Four copies of a sample have, but for the n - 1, half the standard error.
    many = as_array(answer(np.tile(losses, (400, 1)), exact), (3,), "the deviations")
    ratio = many / z * ((n - 1) / (n - 1 / 400)) ** 0.5
    expect(close(ratio, 20, 1e-2), "wrong-scale", "the standard error must fall with the square root of the number of documents.")
    shifted = as_array(answer(losses + 5, exact + 5), (3,), "the deviations")
    expect(close(shifted, z, TOL), "not-shift-free", "adding a constant to measured and exact values must change nothing.")


@register("d.5-flat-range")
def flat_range(answer: Answer) -> None:
    def ends(floor: float, width: float, share: float) -> tuple[float, float]:
        # In log s a parabola to the left, flatter to the right by ``width``.
        def loss(s: Any) -> Any:  # of an array too
            x = np.log(np.asarray(s, dtype=float) / 3.0)
            return floor * (1 + np.where(x < 0, x, x / width) ** 2)[()]

        low, high = as_array(answer(loss, 3.0, share), (2,), "the two ends")
        hint = "the share is one of the loss, not of s: how far may s go before the loss has risen by it?"
        expect(not (close(low, 3 * (1 - share), TOL) and close(high, 3 * (1 + share), TOL)), "share-of-s", hint)
        expect(
            low < 3.0 * (1 - 1e-9) and high > 3.0 * (1 + 1e-9), "one-side", "the range has an end on either side of the minimum."
        )
        expect(low > 0, "symmetric", "the two sides need not be alike: look for the left end too, and s is positive.")
        at_low, at_high = loss(low) / floor - 1, loss(high) / floor - 1
        hint = "at both ends the loss should be higher by the share times the minimum: what if the minimum is not one?"
        expect(not close(at_high * floor, share, TOL) or close(floor, 1), "absolute-share", hint)
        left_off = close(at_high, share, 1e-2) and not close(at_low, share, 1e-2)
        expect(not left_off or high > 100, "symmetric", "the two sides need not be alike: look for the left end too.")
        far = "the range can span decades: a fixed grid around the minimum may end before it does."
        expect(high < 100 or close(at_high, share, 1e-2), "grid-too-short", far)
        short = at_high < share * 0.9 or at_low < share * 0.9
        expect(not short, "grid-too-short", far)
        expect(
            close(at_low, share, 1e-2) and close(at_high, share, 1e-2),
            "wrong-ends",
            "the loss at your ends is not at the level asked for.",
        )
        return float(low), float(high)

    first = ends(2.0, 3.0, 0.04)
    second = ends(2.0, 3.0, 0.25)
    expect(second[0] < first[0] and second[1] > first[1], "not-wider", "a larger share must give a wider range.")
    ends(0.5, 20.0, 0.09)


@register("d.5-valley")
def valley(answer: Answer, coordinates: str = "log", wanted: str = "flattest") -> None:
    def surface(alpha: float, beta: float, hessian: Array, bend: float) -> Callable[[float, float], float]:
        def loss(one: float, other: float) -> float:
            x = np.log([one, other]) - np.log([alpha, beta]) if coordinates == "log" else np.array([one - alpha, other - beta])
            expect(np.abs(x).max() < 0.06, "too-far", "that far from the minimum the surface bends: take smaller steps.")
            return float(0.9 + x @ hessian @ x / 2 + bend * (x**3).sum())

        return loss

    for alpha, beta, hessian, bend in (
        (6.0, 1.5, np.array([[0.05, -0.06], [-0.06, 0.12]]), 0.05),
        (1.5, 4.0, np.array([[2.0, 1.0], [1.0, 0.7]]), 0.2),
        (2.5, 0.4, np.array([[3.0, 0.0], [0.0, 0.5]]), 0.0),
    ):
        found = as_array(answer(surface(alpha, beta, hessian, bend), alpha, beta), (3,), "two components and the curvature")
        direction, curvature = found[:2], float(found[2])
        values, vectors = np.linalg.eigh(hessian)
        right, wrong = (0, 1) if wanted == "flattest" else (1, 0)
        length = float(np.linalg.norm(direction))
        expect(length > TOL, "no-direction", "the first two numbers are the components of a vector.")
        unit = direction / length

        def along(matrix: Array, k: int, unit: Array = unit) -> bool:
            return bool(abs(unit @ np.linalg.eigh(matrix)[1][:, k]) > 1 - 1e-4)

        # The same surface in the other coordinates.
        stretch = np.diag([alpha, beta]) if coordinates == "log" else np.diag([1 / alpha, 1 / beta])
        elsewhere = np.linalg.inv(stretch) @ hessian @ np.linalg.inv(stretch)
        good = along(hessian, right)
        hint = "this is the direction in the other coordinates: a step in a number is not a step in its logarithm."
        size = float(np.linalg.eigvalsh(elsewhere)[right])
        expect(not (along(elsewhere, right) and close(curvature / size, 1, 0.02)), "other-coordinates", hint)
        expect(
            not along(hessian, wrong), "other-direction", f"along this line the loss rises the other way round: not the {wanted}."
        )
        hint = "the two coordinates are not independent: what happens when both move at once?"
        expect(good or not along(np.diag(np.diag(hessian)), right), "mixed-derivative", hint)
        hint = "the mixed derivative has the wrong size: how far apart are the four corners that it compares?"
        expect(good or not along(hessian * [[1, 4], [4, 1]], right), "mixed-derivative-size", hint)
        hint = "the first component belongs to alpha, the second to beta."
        expect(good or not abs(unit[::-1] @ vectors[:, right]) > 1 - 1e-4, "components-swapped", hint)
        expect(good, "wrong-direction", "the loss does not rise so along this line: compare with lines a few degrees off.")
        expect(close(length, 1, 1e-2), "not-of-length-one", "the vector must have the length one.")
        half = close(curvature / values[right], 0.5, 0.02)
        expect(
            not half, "half", "the loss rises by half the second derivative times the squared length: which of them is asked for?"
        )
        expect(
            close(curvature / values[right], 1, 0.03), "wrong-curvature", "the direction is right, the curvature along it is not."
        )
