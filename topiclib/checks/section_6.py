"""Checks of the exercises of Section 6."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations

import numpy as np
import numpy.typing as npt

from topiclib.checks.base import Answer, as_array, close, expect, register

TOL = 1e-4  # answers in single precision are right too


@register("6-standard-error")
def standard_error(answer: Answer) -> None:
    for values in ([1.0, 2.0, 4.0, 9.0], list(np.random.default_rng(0).normal(size=8))):
        found = as_array(answer(values), (), "the standard error as a single number")
        n, spread = len(values), float(np.std(values))
        sample = spread * np.sqrt(n / (n - 1))
        expect(not close(found, spread / np.sqrt(n)), "divides-by-n", "the sample standard deviation divides by n - 1, not by n.")
        expect(not close(found, sample), "of-one-run", "this is the spread of single runs; the mean of n of them is surer.")
        expect(not close(found, sample**2 / n), "squared", "this is a variance; the standard error is in the unit of the values.")
        expect(not close(found, sample / n), "no-square-root", "a mean of n runs is surer by the square root of n, not by n.")
        # What it must do: repeating every run k times and so on are no new runs; here by its definition in squares.
        deviations = np.subtract.outer(values, values) ** 2
        expect(close(2 * n * n * (n - 1) * found**2, deviations.sum()), "value", "for four and eight numbers it is something else.")


@register("6-shuffled-words")
def shuffled_words(answer: Answer) -> None:
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(6, 6))
    for order in ([1, 2, 3, 4, 0], [4, 0, 3, 1, 2], [0, 1, 2, 3, 4]):
        found = as_array(answer(matrix, np.array(order)), (6, 6), "the shuffled matrix")
        expect(close(found[0, 0], matrix[0, 0]), "mask-moved", "row and column 0 are [MASK]'s: entry (0, 0) must stay.")
        hint = "word i has place i - 1: place 0 is that of word 1, not [MASK]'s, and row i of the matrix is word i's."
        expect(not close(np.diag(found)[1:], [matrix[place, place] for place in order]), "off-by-one", hint)
        expect(
            close(np.sort(np.diag(found)), np.sort(np.diag(matrix))),
            "rows-only",
            "a word has a row and a column; both must move, so that its diagonal entry stays a diagonal entry.",
        )
        wanted = [matrix[1 + word, 1 + word] for word in order]
        expect(
            not close(np.diag(found)[1:], [matrix[1 + order.index(k), 1 + order.index(k)] for k in range(5)])
            or close(np.diag(found)[1:], wanted),
            "inverse",
            "place k is taken by the word at place order[k]; yours sends the word at place k to place order[k].",
        )
        expect(close(np.diag(found)[1:], wanted), "places", "the words are not at the places that the order gives them.")
        expect(
            close(found[1, 2], matrix[1 + order[0], 1 + order[1]]) and close(found[3, 0], matrix[1 + order[2], 0]),
            "pairs",
            "the diagonal is right, but entries of two words, or of a word and [MASK], are not.",
        )


@register("6-p-value")
def p_value(answer: Answer) -> None:
    shuffled = [0.3, -0.2, 0.1, 0.5, -0.6]
    largest = as_array(answer(0.9, shuffled), (), "the p-value as a single number")
    expect(
        not close(largest, 0),
        "never-zero",
        "the observed order is one of the n + 1: with five shuffles no p-value can be below one sixth, let alone zero.",
    )
    expect(largest < 0.5, "wrong-tail", "a contrast larger than all shuffled ones is strong evidence: the p-value must be small.")
    tied = as_array(answer(0.5, shuffled), (), "the p-value as a single number")
    expect(tied > largest + 0.01, "ties", "a shuffle that does exactly as well counts too: at least as large.")
    negative = as_array(answer(-0.2, shuffled), (), "the p-value as a single number")
    expect(
        not close(negative, as_array(answer(0.2, shuffled), (), "the p-value as a single number")),
        "two-sided",
        "the question has one side: shuffles with a large negative contrast are no evidence against blocks.",
    )
    steps = [as_array(answer(x, shuffled), (), "the p-value as a single number") for x in (0.6, 0.4, 0.2, 0.0, -0.3, -0.7)]
    expect(
        close(np.diff(steps), 1 / 6) and close(steps[-1], 1),
        "value",
        "each shuffle that does at least as well adds one to the numerator; the denominator counts all orders.",
    )


def _assignments(words: tuple[int, ...], size: int) -> Iterator[list[tuple[int, ...]]]:
    """Every way to cut some words into topics of one size; only for a handful of words."""
    if not words:
        yield []
        return
    for rest in combinations(words[1:], size - 1):
        topic = (words[0], *rest)
        for others in _assignments(tuple(w for w in words if w not in topic), size):
            yield [topic, *others]


def exact_null(matrix: npt.NDArray[np.float64], size: int) -> dict[str, float]:
    """What exercise 6-null-spread asks for, in each of its versions, by listing every assignment of a few words."""
    words = tuple(range(1, len(matrix)))
    total = sum(matrix[i, j] for i, j in permutations(words, 2))
    same = np.array([sum(matrix[i, j] for t in topics for i, j in permutations(t, 2)) for topics in _assignments(words, size)])
    a, b = len(words) * (size - 1), len(words) * (len(words) - size)
    contrasts = same / a - (total - same) / b  # the first assignment is the given one
    spread = float(contrasts.std())
    return {"contrast": spread, "same-topic mean": float(same.std() / a), "standard score": float(contrasts[0] / spread)}


@register("6-null-spread")
def null_spread(answer: Answer, asked: str = "contrast") -> None:
    def found(matrix: npt.NDArray[np.float64], size: int) -> float:
        return float(as_array(answer(matrix, size), (), "one number"))

    def agrees(x: float, y: float, tol: float = TOL) -> bool:
        return abs(x - y) <= tol * abs(y)

    rng = np.random.default_rng(60)
    cases = [(rng.normal(1, 1, size=(7, 7)), 2), (rng.normal(1, 1, size=(7, 7)), 3), (rng.normal(0.5, 1, size=(9, 9)), 4)]
    matrix, size = cases[2]
    first = found(matrix, size)
    hint = "it gives another number when it is called again: there is a formula, and it needs no random shuffles."
    expect(agrees(found(matrix, size), first), "random", hint)
    near = all(agrees(found(*case), exact_null(*case)[asked], 0.1) for case in cases)
    exact = all(agrees(found(*case), exact_null(*case)[asked]) for case in cases)
    expect(exact or not near, "not-exact", "near, as many shuffles would give it: the spread over *all* assignments has a formula.")
    changed = matrix.copy()
    changed[0], changed[:, 0] = 5.0, -7.0
    expect(agrees(found(changed, size), first), "mask-counted", "[MASK] has no topic: its row and its column must not matter.")
    changed = matrix + np.diag(np.arange(9.0))
    expect(agrees(found(changed, size), first), "diagonal-counted", "a word with itself is no pair: the diagonal must not matter.")
    even = (matrix + matrix.T) / 2
    hint = "entries (i, j) and (j, i) are in the same sum together, always: the matrix need not be symmetric, but the question is."
    expect(agrees(found(even, size), first), "two-directions", hint)
    doubled = {"standard score": first}.get(asked, 2 * first)
    hint = "if every entry is doubled so is the spread: you have its square."
    expect(agrees(found(2 * matrix, size), doubled), "not-a-spread", hint)
    right = {asked: exact_null(matrix, size)[asked] for asked in ("contrast", "same-topic mean", "standard score")}
    others = [value for name, value in right.items() if name != asked]
    hint = "a right number, but not the one that the statement asks for."
    expect(not any(agrees(first, value) for value in others), "other-number-asked", hint)
    pair = np.zeros((9, 9))
    pair[1, 2] = pair[2, 1] = 1.0
    hint = (
        "try a matrix with a single pair of words: its same-topic sum has two values, one of them with the chance to share a topic."
    )
    expect(agrees(found(pair, size), exact_null(pair, size)[asked]), "one-pair", hint)
    star = pair.copy()
    star[1, 3] = star[3, 1] = 1.0
    hint = "two pairs with a word in common are not independent: if both share a topic, three words do."
    expect(agrees(found(star, size), exact_null(star, size)[asked]), "not-independent", hint)
    hint = "two pairs without a common word are not independent either, as topics have a fixed size; and level is no spread."
    expect(exact, "shared-words-only", hint)
