"""Checks of the exercises of Section 6."""

from __future__ import annotations

import numpy as np

from topiclib.checks.base import Answer, as_array, close, expect, register


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
