"""Checks of the exercises of Section 8.1 continued: two stages on Wikipedia."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from topiclib.checks.base import Answer, as_array, close, expect, is_infinite, register

Array = npt.NDArray[np.float64]
TOL = 1e-4  # answers in single precision are right too


@register("8.1-wikipedia-adam")
def adam(answer: Answer) -> None:
    def run(gradients: list[float], learning_rate: float, epsilon: float) -> float:
        return float(as_array(answer(np.array(gradients), learning_rate, epsilon), (), "one number"))

    first = run([2.0], 1.0, 2.0)
    expect(first < 0, "uphill", "a positive gradient must make the weight smaller: the loss is to fall.")
    expect(not close(first, -1, TOL), "no-epsilon", "the constant must be felt when the gradient is as small as it is.")
    expect(not close(first, -2 / 6**0.5, TOL), "epsilon-in-the-root", "the constant is added after the root is taken.")
    hint = "the means start at zero and are too small at first: divide by the share that they have seen."
    expect(not close(first, -0.2 / (0.004**0.5 + 2), TOL), "not-corrected", hint)
    expect(close(first, -0.5, TOL), "wrong-first-step", "try one step by hand: what are both means after their correction?")
    hint = "every step moves the weight: add up all of them."
    expect(not close(run([2.0] * 5, 1.0, 2.0), first, TOL), "last-step-only", hint)
    expect(close(run([2.0] * 5, 1.0, 2.0), 5 * first, TOL), "wrong-sum", "with a constant gradient all steps are the same.")
    expect(close(run([2.0], 0.5, 2.0), 0.5 * first, TOL), "rate-forgotten", "half the learning rate makes each step half as long.")
    mean, square, moved = 0.0, 0.0, 0.0
    for step, gradient in enumerate((1.0, -3.0, 0.5), start=1):
        mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
        moved -= 0.3 * mean / (1 - 0.9**step) / ((square / (1 - 0.999**step)) ** 0.5 + 0.2)
    hint = "it is right while the gradient stays the same, not when it changes: look at the two running means and their shares."
    expect(close(run([1.0, -3.0, 0.5], 0.3, 0.2), moved, TOL), "wrong-means", hint)


@register("8.1-wikipedia-waking")
def waking(answer: Answer) -> None:
    def run(forces: list[float], epsilon: float = 1.0, start: float = 1.0, level: float = 4.0, rate: float = 1.0) -> float:
        found = answer(np.array(forces), rate, epsilon, start, level)
        return float("inf") if is_infinite(found) else float(as_array(found, (), "one step"))

    doubling = run([1.0] * 6)
    expect(doubling != 1, "one-early", "the size after the first force is that of the first step, not of step zero.")
    added = doubling == 3 and run([1.0] * 6, level=4.5) == 4
    expect(not added, "adds-up", "growth is in proportion to the size that there is: it multiplies.")
    expect(doubling != 3, "level-passed", "a size that is equal to the level has reached it.")
    hint = "there must be a special answer if the level is not reached; a search for a true value among none does not give it."
    expect(run([0.0] * 6) not in (0, 1), "never-is-not-one", hint)
    expect(run([0.0] * 6) == np.inf, "never", "without a force nothing grows: the level is never reached.")
    expect(run([1.0] * 6, start=2.0) != doubling, "start-forgotten", "a larger start is sooner there.")
    expect(run([0.5] * 6, epsilon=0.5) == doubling, "epsilon-forgotten", "only the force relative to the constant matters.")
    expect(run([1.0] * 6, rate=0.25) != doubling, "rate-forgotten", "a smaller learning rate makes the growth slower.")
    hint = "in one step the size grows by the factor 1 + rate * force / epsilon, which is less than the exponential."
    expect(run([1.0] * 3, level=7.0) == 3, "exponential", hint)
    expect(doubling == 2, "wrong-step", "a size that doubles in each step: when is it four times the start?")
    expect(run([0.0, 0.0, 7.0, 0.0]) == 3, "forces-in-order", "the forces act one after the other.")


@register("8.1-wikipedia-distance")
def distance(answer: Answer) -> None:
    def run(a: Array) -> Array:
        return as_array(answer(a), a.shape, "the divided weights")

    rng = np.random.default_rng(811)
    offset = np.arange(5) - np.arange(5)[:, None]
    by_distance = np.exp(rng.normal(size=9))[offset + 4]
    both = np.stack([by_distance, by_distance])
    found = run(both)
    expect(not close(found, 0, TOL), "subtracted", "a mean that is subtracted leaves zeros here: divide by it.")
    hint = "divide by the mean at a distance, not by the sum: far distances have fewer pairs."
    number = 5 - np.abs(offset)
    expect(not close(found * number, 1, TOL), "sum-not-mean", hint)
    hint = "a key before the query and one after it are at different distances: keep the sign."
    symmetric = np.where(offset >= 0, by_distance, by_distance.T)
    expect(close(found, 1, TOL) or not close(run(np.stack([symmetric, symmetric])), 1, TOL), "sign-lost", hint)
    expect(close(found, 1, TOL), "wrong-means", "attention that depends on the distance alone must become one everywhere.")
    scaled = run(np.stack([by_distance, 3 * by_distance]))
    hint = "take the mean over all documents, so that a document with larger weights keeps them."
    expect(not close(scaled, 1, TOL), "each-document", hint)
    expect(close(scaled[0], 0.5, TOL), "wrong-documents", "two documents, one with three times the weights: what is their mean?")
    uneven = np.ones((1, 5, 5))
    uneven[0, 2, 3] = 5.0
    hint = "a mean is over all queries at this distance, not over documents at one place only."
    expect(not close(run(uneven), 1, TOL), "by-place", hint)
    expect(close(run(uneven)[0, 2, 3], 2.5, TOL), "wrong-places", "one large weight at distance one: what is the mean there?")


@register("8.1-wikipedia-means")
def means(answer: Answer) -> None:
    rng = np.random.default_rng(812)

    def run(e: Array, a: Array, label: list[int]) -> Array:
        return as_array(answer(e, a, np.array(label)), (2,), "the two means")

    e = np.array([[1.0, 0], [1, 0], [0, 1], [0, 1], [0, 1]])
    label = [0, 0, 1, 1, 1]
    skew = np.array([[0.0, 0], [0, 0]])
    hint = "with a matrix of zeros every product is zero: where is the matrix in your sums?"
    expect(close(run(e, skew, label), 0, TOL), "matrix-forgotten", hint)
    alone = np.eye(4)
    same, different = run(alone, np.eye(4), [0, 0, 1, 1])
    expect(close(same, 0, TOL), "word-with-itself", "a word is no pair with itself: take these products off.")
    strong = np.array([[1.0, 0], [1, 0], [0, 0], [0, 0], [0, 0]])
    same, different = run(strong, np.eye(2), label)
    hint = "pairs of different topics only: those of one topic must not be in the second mean."
    expect(close(different, 0, TOL), "all-pairs-as-different", hint)
    expect(not close(same, 0.5, TOL), "topics-count-the-same", "every pair counts the same, so a large topic counts more.")
    expect(close(same, 0.25, TOL), "wrong-same", "count the ordered pairs of each topic by hand in a small example.")
    e, a = rng.normal(size=(8, 3)), rng.normal(size=(3, 3))
    table, of = e @ a @ e.T, np.array([0, 1, 1, 2, 0, 2, 2, 2])
    between = table[of[:, None] != of].mean()
    found = run(e, a, of.tolist())
    expect(close(found[1], between, TOL), "wrong-different", "compare with a table of all pairs of a few words.")
    within = table[(of[:, None] == of) & ~np.eye(8, dtype=bool)].mean()
    hint = "right for the matrix one, not for another: what is the product of a word with itself, with the matrix in between?"
    expect(close(found[0], within, TOL), "wrong-itself", hint)


@register("8.1-wikipedia-spread")
def spread(answer: Answer, asked: str = "form") -> None:
    rng = np.random.default_rng(813)
    e, a = rng.normal(0.5, 1, size=(9, 3)), rng.normal(size=(3, 3))

    def tables(e: Array, a: Array) -> dict[str, Array]:
        unit = e / np.linalg.norm(e, axis=1, keepdims=True)
        form = e @ a @ e.T
        return {"form": form, "mean of both orders": (form + form.T) / 2, "directions": unit @ a @ unit.T}

    off = ~np.eye(9, dtype=bool)
    table = tables(e, a)[asked]
    found = float(as_array(answer(e, a), (), "one number"))
    others = [values[off].std() for name, values in tables(e, a).items() if name != asked]
    expect(
        not close(found, others[0], TOL) and not close(found, others[1], TOL), "other-form", "this is the spread of another form."
    )
    expect(not close(found, tables(e, np.eye(3))[asked][off].std(), TOL), "matrix-forgotten", "where is the matrix?")
    expect(not close(found, table.std(), TOL), "word-with-itself", "a word is no pair with itself: take these products off.")
    values = table[off]
    expect(not close(found, (values**2).mean() ** 0.5, TOL), "mean-left-in", "a standard deviation is about the mean: take it off.")
    expect(not close(found, values.var(), TOL), "variance", "this is a variance; its root is in the unit of the form.")
    hint = "ordered pairs: every two words make two of them, and that many terms are in the sums."
    twice = 2 * (values**2).mean() - 4 * values.mean() ** 2
    expect(twice < 0 or not close(found, twice**0.5, TOL), "pairs-once", hint)
    expect(not close(found, values.std(ddof=1), 1e-6), "one-less", "divide by the number of pairs, not by one less.")
    simple = float(as_array(answer(np.array([[1.0, 0], [2, 0], [0, 1]]), np.array([[1.0, 0], [0, 0]])), (), "one number"))
    right = {"form": 8 / 9, "mean of both orders": 8 / 9, "directions": 2 / 9}[asked]
    hint = "a pair has two words: both ends of the form need their second moments, and they differ from direction to direction."
    expect(close(simple**2, right, TOL) and close(found, values.std(), TOL), "one-side-only", hint)
