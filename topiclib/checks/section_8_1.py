"""Checks of the exercises of Section 8.1."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from topiclib.checks.base import Answer, as_array, close, expect, register

Array = npt.NDArray[np.float64]
TOL = 1e-4  # answers in single precision are right too


@register("8.1-cosine-distance")
def cosine_distance(answer: Answer) -> None:
    rng = np.random.default_rng(81)

    def run(a: Array, b: Array) -> float:
        return float(as_array(answer(a, b), (), "one number"))

    a, b = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    expect(not close(run(a, -a), 2, TOL), "not-halved", "the distance of opposite matrices is one: the caption halves it.")
    expect(close(run(a, 3 * a), 0, TOL), "norm-left-in", "a matrix that only grows does not rotate: divide by both norms.")
    expect(close(run(a, -2 * a), 1, TOL), "wrong-end", "opposite directions have the largest distance there is.")
    big = a.copy()
    big[0] *= 30
    other = b.copy()
    other[0] = big[0]
    hint = "take the whole matrix as one long vector: a large row counts more than a small one."
    expect(run(big, other) < 0.1, "row-by-row", hint)
    u, w = np.zeros((2, 2)), np.zeros((2, 2))
    u[0, 0], w[0] = 2.0, (3.0, 4.0)
    hint = "the measure is linear in the cosine similarity: it is not the angle."
    expect(not close(run(u, w), np.arctan2(4, 3) / np.pi, TOL), "angle", hint)
    expect(close(run(u, w), 0.2, TOL), "wrong-distance", "compare with the caption on two matrices with a simple angle.")


@register("8.1-key-gradient")
def key_gradient(answer: Answer) -> None:
    rng = np.random.default_rng(82)
    d_a, size, query, target = 3, 5, 1, 4
    w_q, w_v = rng.normal(size=(d_a, size)), rng.normal(size=(size, size))
    x = rng.dirichlet(np.ones(size))

    def run(w_q: Array = w_q, w_v: Array = w_v) -> Array:
        return as_array(answer(w_q, w_v, x, query, target), (d_a, size), "the gradient by W_K")

    found = run()
    others = w_q.copy()
    others[:, query] = 0
    hint = "only the query of this position matters: what other tokens would ask changes nothing."
    expect(close(run(w_q=others), 0, TOL), "all-queries", hint)
    error = w_v @ x - np.eye(size)[target]
    # How much the loss changes when attention moves a little from all tokens to token 0.
    moved = 2 * error @ (w_v[:, 0] - w_v @ x)
    by_row = 2 * error @ (w_v[0] - w_v @ x)
    scale = found[:, 0] / (w_q[:, query] * x[0])
    hint = "attention on token k brings column k of W_V to the prediction, not row k."
    expect(not close(scale * 3**0.5, by_row, TOL), "values-transposed", hint)
    hint = "a constant added to all scores changes no attention weight, so the gradient sums to zero over the keys."
    expect(close(found.sum(axis=1), 0, TOL), "softmax-not-centred", hint)
    expect(not close(scale, moved, TOL), "head-size-forgotten", "the scores are divided by the root of the head size.")
    expect(not close(scale * 3**0.5, moved / 2, TOL), "half", "the derivative of a square has a factor of two.")
    expect(close(scale * 3**0.5, moved, TOL), "wrong-gradient", "move one score a little: which way does the prediction move?")


@register("8.1-alternating")
def alternating(answer: Answer) -> None:
    rng = np.random.default_rng(83)
    target, u = rng.normal(size=(5, 4)), 2 * rng.normal(size=5)
    losses = answer(target, u, 3)
    hint = "every round has two stages, and each has a loss: return two numbers for each round."
    expect(not hasattr(losses, "__len__") or len(losses) != 3, "once-a-round", hint)
    values = as_array(losses, (6,), "two losses for each round")
    best_v = np.linalg.lstsq(u[:, None], target, rcond=None)[0][0]
    first = float(((target - np.outer(u, best_v)) ** 2).sum())
    hint = "a stage ends at the least loss with the other vector frozen: set the derivative to zero."
    expect(values[0] <= (target**2).sum() * (1 + TOL), "not-the-best", hint)
    hint = "in a stage one vector is frozen: both must not move at the same time."
    expect(close(values[0], first, TOL), "both-at-once", hint)
    best_u = np.linalg.lstsq(best_v[:, None], target.T, rcond=None)[0][0]
    second = float(((target - np.outer(best_u, best_v)) ** 2).sum())
    expect(close(values[1], second, TOL), "wrong-second-stage", "the second stage starts from what the first has found.")
    hint = "the next round goes on from the last one: do not start again."
    expect(values[2] < values[1] * (1 - 1e-9), "starts-again", hint)
    for stage in range(2, 6):
        frozen, other = (best_u, target) if stage % 2 == 0 else (best_v, target.T)
        found_now = np.linalg.lstsq(frozen[:, None], other, rcond=None)[0][0]
        best_u, best_v = (best_u, found_now) if stage % 2 == 0 else (found_now, best_v)
        now = float(((target - np.outer(best_u, best_v)) ** 2).sum())
        expect(close(values[stage], now, TOL), "wrong-later-round", "later rounds do the same as the first.")


# Expectations for two sets of weights, right and by some mistakes, for each version of the exercise.
TREMBLING = {
    "distance": {
        "": (
            0.7963736,
            1.048506,
        ),
        "already-at-rest": (
            0.7612494,
            1.027047,
        ),
        "always-on-the-plateau": (
            0.8351242,
            1.06576,
        ),
        "no-steps": (
            0.7973459,
            1.088896,
        ),
        "no-memory": (
            2.302423,
            1.471778,
        ),
        "noise-not-squared": (
            1.56254,
            2.662912,
        ),
        "nothing-pulls-noise-back": (
            0.3725242,
            -0.1684704,
        ),
    },
    "inner product": {
        "": (
            0.9453527,
            1.512138,
        ),
        "already-at-rest": (
            0.9530247,
            2.461636,
        ),
        "always-on-the-plateau": (
            1.765496,
            1.572345,
        ),
        "no-steps": (
            1.011965,
            1.50542,
        ),
        "no-memory": (
            0.192328,
            1.300503,
        ),
        "noise-not-squared": (
            1.560402,
            2.001933,
        ),
        "nothing-pulls-noise-back": (
            1.392328,
            3.050503,
        ),
    },
    "middle": {
        "": (
            1.337691,
            0.9614983,
        ),
        "already-at-rest": (
            0.9433371,
            0.4683974,
        ),
        "always-on-the-plateau": (
            2.167522,
            1.026019,
        ),
        "no-steps": (
            1.395595,
            1.037267,
        ),
        "no-memory": (
            0.9611789,
            0.8556805,
        ),
        "noise-not-squared": (
            2.144282,
            1.854895,
        ),
        "nothing-pulls-noise-back": (
            1.678704,
            2.195618,
        ),
    },
}


@register("8.1-trembling")
def trembling(answer: Answer, asked: str = "distance") -> None:
    cases = (
        ([1.0, -0.5], [0.2, 0.4], [0.3, 0.1], [0.2, 0.6], 3, 2),
        ([0.0, 0.0, 0.5], [1.0, -1.0, 0.5], [0.05, 0.5, 0.25], [0.1, 0.3, 0.5], 5, 4),
    )
    found = [float(as_array(answer(*map(np.array, case[:4]), *case[4:]), (), "one number")) for case in cases]
    hints = {
        "already-at-rest": "the weights begin at `start`: after few steps some of the way to rest is still to go.",
        "always-on-the-plateau": "after few steps noise has not yet gathered: its variance grows up to that of the plateau.",
        "no-steps": "steps are whole: what is left after one of them is a factor, not an exponential.",
        "no-memory": "the later weights contain what is left of the earlier noise, so the two are not independent.",
        "noise-not-squared": "standard deviations do not add up; which power of them does?",
        "nothing-pulls-noise-back": "noise is pulled back as the start is: what came in long ago has nearly gone.",
    }
    for mistake, hint in hints.items():
        expect(not close(found, TREMBLING[asked][mistake], TOL), mistake, hint)
    others = [values[""] for name, values in TREMBLING.items() if name != asked]
    hint = "a right expectation, but of another expression than the statement names."
    expect(not any(close(found, values, TOL) for values in others), "other-expression", hint)
    still = float(as_array(answer(*map(np.array, cases[0][:2]), np.array([0.5, 0.5]), np.zeros(2), 0, 1), (), "one number"))
    quiet = {"distance": 0.3625, "inner product": 0.625, "middle": 0.8156250}[asked]
    expect(close(still, quiet, TOL), "without-noise", "try it without noise, one step from the start with a pull of one half.")
    expect(
        close(found, TREMBLING[asked][""], TOL), "with-noise", "without noise it is right: how much noise do the two weights share?"
    )
