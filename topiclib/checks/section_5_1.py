"""Checks of the exercises of Section 5.1."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from topiclib.checks.base import Answer, as_array, close, expect, register

Array = npt.NDArray[np.float64]
TOL = 1e-4  # answers in single precision are right too


@register("5.1-growth")
def growth(answer: Answer) -> None:
    def run(steps: Array, norms: Array, fraction: float) -> float:
        return float(as_array(answer(steps, norms, fraction), (), "one step"))

    steps = np.array([0.0, 10.0, 25.0, 40.0, 70.0, 100.0])
    rising = np.array([2.0, 2.5, 4.0, 7.0, 9.0, 10.0])
    found = run(steps, rising, 0.6)
    hint = "return the step at which it was recorded, not the number of the record."
    expect(not close(found, 3) or close(found, 40), "index-not-step", hint)
    hint = "growth counts from the first value: a norm that starts large has not done a part of it yet."
    expect(not close(run(steps, rising, 0.2), 0), "fraction-of-the-end", hint)
    expect(close(found, 40), "wrong-step", "the level is the first value plus a part of the growth; when is it first reached?")
    peaked = np.array([0.0, 1.0, 3.0, 9.0, 5.0, 6.0])
    hint = "growth ends at the last record, even if the norm was larger before."
    expect(not close(run(steps, peaked, 0.8), 70), "largest-not-last", hint)
    expect(not close(run(steps, peaked, 0.4), 40), "largest-not-last", hint)
    longer = np.linspace(0.0, 70.0, 8)
    dipping = np.array([0.0, 4.0, 1.0, 4.5, 5.0, 4.0, 1.0, 5.0])
    found = run(longer, dipping, 0.7)
    hint = "the norm may fall below the level again: return the first passage, not the last."
    expect(not close(found, 70), "last-passage", hint)
    hint = "the norms are not sorted: a binary search does not find the first record above the level."
    expect(close(found, 10), "not-sorted", hint)
    expect(close(run(steps, peaked, 1.0), 40), "wrong-step", "a fraction of one asks for the last value: it may be reached early.")


@register("5.1-critical-penalty")
def critical_penalty(answer: Answer) -> None:
    for speed, pull in ((2.0, 0.5), (0.03, 0.4), (5.0, 3.0)):
        penalty, clock = as_array(answer(speed, pull), (2,), "two numbers, the penalty and the clock")
        expect(penalty > 0 and clock > 0, "not-positive", "both numbers are positive.")
        # The growth rate of attention over the rate of the penalty, with W_V at rest: one at the right penalty.
        ratio = pull * speed / (2 * penalty) / (2 * penalty)
        hint = "the penalty is a square: its gradient is twice as large as you took it, for every weight."
        expect(not close(ratio, 0.25, TOL), "gradient-of-the-square", hint)
        hint = "the penalty acts in two places, on the values and on attention: one of your factors of two is missing."
        expect(not close(ratio, 0.5, TOL), "one-factor-of-two", hint)
        if not close(speed * pull, 1, TOL):
            hint = "the values come to rest where their speed and the penalty balance, not at their speed."
            expect(not close(penalty, pull * speed / 2, TOL), "values-never-rest", hint)
        expect(close(ratio, 1, TOL), "wrong-balance", "attention neither grows nor shrinks when its two rates are equal.")
        left = math.exp(-2 * penalty * clock)
        hint = "growth slows down as the values come to rest: it is not a straight line."
        expect(not close(2 * penalty * clock, 0.9, TOL), "growth-not-straight", hint)
        expect(not close(left, 0.9, TOL), "ten-percent-done", "at this clock nine tenths of the growth are still to come.")
        expect(close(left, 0.1, TOL), "wrong-clock", "at this clock it has not done nine tenths of its growth.")


@register("5.1-linear-growth")
def linear_growth(answer: Answer) -> None:
    rng = np.random.default_rng(51)
    shape = (4, 5)
    w_k, w_q, g = rng.normal(size=shape), rng.normal(size=shape), rng.normal(size=(5, 5))

    def run(k: Array, q: Array, clock: float) -> tuple[Array, Array]:
        result = answer(k, q, g, clock)
        is_pair = isinstance(result, (tuple, list)) or np.ndim(result) == 3  # an array or a tensor that holds both is a pair too
        expect(is_pair and len(result) == 2, "not-a-pair", "return two matrices: keys and queries.")
        return as_array(result[0], shape, "the keys"), as_array(result[1], shape, "the queries")

    k_0, q_0 = run(w_k, w_q, 0.0)
    expect(close(k_0, w_k, TOL) and close(q_0, w_q, TOL), "moved-at-once", "at the clock zero nothing has moved yet.")
    small = 1e-3
    k_1, q_1 = run(w_k, w_q, small)
    k_speed, q_speed = (k_1 - w_k) / small, (q_1 - w_q) / small
    force = w_q @ g.T, w_k @ g
    near = 0.05  # of the speeds: a small step is not a derivative

    def moves_like(k: Array, q: Array) -> bool:
        size = float(np.abs(k).max() + np.abs(q).max())
        return bool(np.abs(k_speed - k).max() + np.abs(q_speed - q).max() < near * size)

    hint = "gradient descent goes against the gradient: your matrices move with it."
    expect(not moves_like(force[0] / 2, force[1] / 2), "wrong-sign", hint)
    expect(not moves_like(-force[0], -force[1]), "scale-forgotten", "the scores are divided by the root of the head size.")
    symmetric = (g + g.T) / 2
    hint = "G need not be symmetric: keys and queries then grow along different directions."
    expect(not moves_like(-w_q @ symmetric / 2, -w_k @ symmetric / 2), "not-symmetric", hint)
    still_k, still_q = run(w_k, 0 * w_q, small)
    hint = "keys move because of the queries, and queries because of the keys: neither moves if the other is zero."
    expect(close(still_k, w_k, 1e-5) and not close(still_q, 0 * w_q, 1e-5), "each-alone", hint)
    expect(moves_like(-force[0] / 2, -force[1] / 2), "wrong-equations", "at a small clock both must move as the equations say.")
    once, twice = run(w_k, w_q, 1.2), run(*run(w_k, w_q, 0.5), 0.7)
    hint = "going on from where one was must lead to the same place: growth is exponential, not a single step."
    expect(all(close(x, y, 1e-3) for x, y in zip(once, twice, strict=True)), "one-step", hint)


@register("5.1-waking-clock")
def waking_clock(answer: Answer, penalised: str = "all") -> None:
    speed, pull, penalty, start, size = 0.5, 0.4, 0.06, 1e-5, 0.3

    def run(*numbers: float) -> float:
        return float(as_array(answer(*numbers), (), "the clock, one number"))

    def grown(clock: float, force: float = pull, half: bool = False, who: str = penalised) -> float:
        """The logarithm of how often the direction has grown, by small steps."""
        strength, n, total, step = penalty * (1 if half else 2), 0.0, 0.0, clock / 4000
        for _ in range(4000):
            push = speed - (0 if who == "attention" else strength * n)
            middle = n + step / 2 * push
            total += step * (force * middle - (0 if who == "values" else strength))
            n += step * (speed - (0 if who == "attention" else strength * middle))
        return total

    clock = run(speed, pull, penalty, start, size)
    expect(clock > 0, "not-positive", "the clock is positive.")
    wanted, near = math.log(size / start), 2e-3
    reached = grown(clock)
    hint = "a sum of squares has a derivative with a factor of two."
    expect(abs(grown(clock, half=True) - wanted) > near, "gradient-of-the-square", hint)
    expect(
        abs(grown(clock, force=1.0) - wanted) > near,
        "pull-or-speed-lost",
        "a stronger pull wakes attention earlier: yours takes no notice.",
    )
    hint = "read again which weights feel the penalty."
    others = [who for who in ("all", "values", "attention") if who != penalised]
    expect(not any(abs(grown(clock, who=who) - wanted) < near for who in others), "other-penalty", hint)
    hint = "growth at a rate is exponential: compare sizes by the logarithm of their ratio."
    expect(abs(reached / (size / start - 1) - 1) > near, "not-exponential", hint)
    expect(abs(reached - math.log10(size / start)) > near, "wrong-logarithm", "a rate belongs to the natural logarithm.")
    longer = run(speed, pull, penalty, start / 100, size)
    expect(longer > clock + near, "start-ignored", "the smaller the start, the longer it takes.")
    ahead = clock * 1e-3
    slope = (grown(clock + ahead) - grown(clock - ahead)) / (2 * ahead)
    hint = "the rate was smaller before: add it up over the whole time, do not multiply its last value by the clock."
    expect(abs(slope * clock / wanted - 1) > 1e-3, "rate-times-clock", hint)
    expect(abs(reached - wanted) < near, "wrong-clock", "at your clock it has another size.")
    if penalised == "all":
        expect(float(answer(0.1, 0.1, 0.2, 1e-3, 1.0)) == math.inf, "never", "with so large a penalty it never gets there.")
    early = run(speed, pull, penalty, 0.2, 0.3)
    expect(abs(grown(early) - math.log(1.5)) < near, "wrong-clock", "it fails if little growth is asked for.")
