"""Checks of the exercises of the chapter on robustness (Section 6.1)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from topiclib.checks.base import Answer, as_array, close, expect, is_infinite, register
from topiclib.metrics import block_contrast
from topiclib.vocabulary import Vocabulary

Array = npt.NDArray[np.float64]
TOL = 1e-4  # answers in single precision are right too


@register("6.1-robustness-lost-at")
def lost_at(answer: Answer) -> None:
    values, shares, threshold = [0.0, 1.0, 2.0, 4.0], [1.0, 0.99, 0.91, 0.5], 0.95
    got = as_array(answer(values, shares, threshold), (), "one number")
    expect(not close(got, 2), "not-between", "the share crosses the threshold between two values: draw a straight line.")
    expect(not close(got, 1), "last-that-holds", "between the last value that holds and the first that does not lies the answer.")
    hint = "interpolation needs rising positions, and shares fall along the axis: which argument comes first, and in which order?"
    expect(1 < got < 2, "falling-shares", hint)
    expect(close(np.interp(got, values, shares), threshold), "not-the-crossing", "the line is not at the threshold there.")
    dips = as_array(answer(values, [1.0, 0.9, 1.0, 0.5], threshold), (), "one number")
    expect(0 < dips < 1, "not-the-first", "the share may dip, rise and fall again: the first fall is asked for.")
    never = answer(values, [1.0, 1.0, 0.99, 0.96], threshold)
    hint = "where nothing is lost no value of the axis is the answer: return infinity."
    expect(is_infinite(never), "never-lost", hint)
    first = as_array(answer(values, [0.5, 0.4, 0.3, 0.2], threshold), (), "one number")
    expect(close(first, 0), "lost-at-once", "if the first value has lost it already, return that value.")


@register("6.1-robustness-skewed-contrast")
def skewed_contrast(answer: Answer) -> None:
    ranks = np.arange(1, 6)
    for phi in (1.0 / ranks / np.sum(1.0 / ranks), np.array([0.5, 0.3, 0.2])):
        v, square = len(phi), float(phi @ phi)
        got = as_array(answer(phi), (), "one number")
        w = np.zeros((2 * v + 1, 2 * v + 1))
        w[1:, 1:] = np.kron(np.eye(2), np.outer(phi, phi) / square)
        by = block_contrast(w, Vocabulary(2, v))
        expect(not close(got, 1, TOL), "rows-only", "each row has the right sum, but the contrast is a mean without the diagonal.")
        hint = "the diagonal is left out of the contrast, and with skewed words it holds more than its share."
        expect(not close(got, w[1 : v + 1, 1 : v + 1].mean() * v, TOL), "diagonal-included", hint)
        hint = "the block is divided by the sum of the squared probabilities."
        expect(not close(got, by.contrast * square * v, TOL), "not-normalised", hint)
        expect(not close(got, by.contrast, TOL), "not-relative", "equally likely words must give one: divide by their contrast.")
        expect(close(got / v, by.contrast, TOL), "wrong-contrast", "it is not the mean of the off-diagonal entries of the block.")
    even = as_array(answer(np.full(4, 0.25)), (), "one number")
    expect(close(even, 1, TOL), "wrong-contrast", "equally likely words must give one.")


def descent_case(size: int, seed: int) -> tuple[Array, Array, Array]:
    """A start, second moments with eigenvalues below 1, and cross moments that are not symmetric."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(2 * size, size)) / (2 * size) ** 0.5 / 2
    return rng.normal(size=(size, size)), x.T @ x, rng.normal(size=(size, size))


def _descent(start: Array, second: Array, cross: Array, pace: float, penalty: float, steps: int) -> Array:
    """Gradient descent in the eigenvectors of the penalised second moments; ``pace`` is twice the learning rate."""
    values, vectors = np.linalg.eigh(second)
    left = (1 - pace * (values + penalty)) ** steps
    turned: Array = (start @ vectors * left + cross @ vectors * (1 - left) / (values + penalty)) @ vectors.T
    return turned


@register("6.1-robustness-expected-weights")
def expected_weights(answer: Answer, loss_factor: float = 1.0, penalty_factor: float = 1.0) -> None:
    start, second, cross = descent_case(4, 6)
    rate, penalty, steps = 0.2, 0.3, 5
    got = as_array(answer(start, second, cross, rate, penalty, steps), start.shape, "the expected weights")
    pace, pull = 2 * loss_factor * rate, penalty * penalty_factor / loss_factor
    hint = "row i of the cross moments belongs to target i, as row i of W does: do not transpose."
    expect(not close(got, _descent(start, second, cross.T, pace, pull, steps), TOL), "cross-transposed", hint)
    hint = "the run starts at `start`, and some of it is left after few steps."
    expect(not close(got, _descent(0 * start, second, cross, pace, pull, steps), TOL), "start-forgotten", hint)
    expect(not close(got, _descent(start, second, cross, pace, 0, steps), TOL), "no-penalty", "the penalty pulls at W too.")
    right = _descent(start, second, cross, pace, pull, steps)
    hint = "differentiate the loss and the penalty just as the statement has them: mind the factor of two that a square gives each."
    for slope in (1, 2):
        for pulled in (1, 2):
            other = _descent(start, second, cross, slope * rate, penalty * pulled / slope, steps)
            expect(not close(got, other, TOL) or close(other, right, TOL), "factor-of-two", hint)
    hint = "that is where descent ends: asked for is where it is after some steps."
    expect(not close(got @ (second + pull * np.eye(4)), cross, TOL), "only-the-end", hint)
    expect(close(got, right, TOL), "wrong-weights", "it is not the mean path.")
    none = as_array(answer(start, second, cross, rate, penalty, 0), start.shape, "the expected weights")
    expect(close(none, start, TOL), "zero-steps", "after no step at all W is still the start.")


def ring_contrast(
    num_topics: int, words_per_topic: int, overlap: float, topic_variance: float, true_fraction: float, l2_coef: float
) -> float:
    """The contrast by brute force: ridge regression over words, from the second moments of overlapping topics."""
    own = np.arange(num_topics)
    ring = np.zeros((num_topics, num_topics))
    ring[own, own] += 1 - overlap
    ring[(own + 1) % num_topics, own] += overlap
    weights = (
        topic_variance * words_per_topic / true_fraction**2 * (ring @ ring.T - ring @ np.ones_like(ring) @ ring.T / num_topics)
    )
    words = np.kron(weights, np.ones((words_per_topic, words_per_topic))) / words_per_topic**2
    w = np.zeros((len(words) + 1, len(words) + 1))
    w[1:, 1:] = np.linalg.solve(true_fraction**2 * words + l2_coef * np.eye(len(words)), true_fraction * words).T
    return block_contrast(w, Vocabulary(num_topics, words_per_topic)).contrast


@register("6.1-robustness-overlap-contrast")
def overlap_contrast(answer: Answer) -> None:
    for setting in ((6, 3, 0.3, 0.02, 0.8, 0.01), (5, 2, 0.5, 0.1, 0.6, 0.03)):
        got = as_array(answer(*setting), (), "one number")
        right, height = ring_contrast(*setting), 1 / (setting[4] * setting[1])
        free = ring_contrast(*setting[:2], 0.0, *setting[3:])
        hint = "that is the contrast without overlap: overlap makes waves weaker, and the penalty takes more of the weak ones."
        expect(not close(got, free, TOL), "overlap-ignored", hint)
        expect(
            not close(got * height, right, TOL), "height-missing", "a fully learned difference of topics has the height 1 / (a v)."
        )
        topics = setting[0]
        kept_mean = setting[3] / (setting[3] + setting[5]) * height
        hint = "the constant wave, k = 0, is no difference of topics: it raises same and different alike."
        expect(not close(got, (right * (topics - 1) + kept_mean) / topics, TOL), "mean-is-no-difference", hint)
        hint = "each wave keeps a fraction of its own: average what is kept, not the variances."
        average = setting[3] * (1 - 2 * setting[2] * (1 - setting[2]) * topics / (topics - 1))
        expect(not close(got, average / (average + setting[5]) * height, TOL), "averaged-too-early", hint)
        expect(close(got, right, TOL), "wrong-contrast", "it differs from ridge regression on the words themselves.")
    got = as_array(answer(2, 3, 0.5, 0.1, 0.6, 0.03), (), "one number")
    expect(close(got, 0, TOL), "two-topics", "two topics that share all words equally cannot be told apart.")
