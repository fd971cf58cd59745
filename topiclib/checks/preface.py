"""Checks of the exercises of the preface."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from topiclib.checks.base import Answer, as_array, close, expect, register

TOL = 1e-4  # answers in single precision are right too


@register("preface-topic-of")
def topic_of(answer: Answer) -> None:
    found = {i: float(as_array(answer(i, 4), (), "the topic as a single number")) for i in range(1, 13)}
    expect(all(t == round(t) for t in found.values()), "not-whole", "topics are whole numbers; some of yours are not.")
    blocks = found[1] == found[2] == found[3]
    expect(blocks, "place-in-topic", "words 1 and 2 are in the same topic; topics are runs of neighbouring words.")
    expect(found[1] > 0, "from-zero", "topics are counted from 1, so word 1 belongs to topic 1.")
    expect(all(found[i] == found[i - 1] for i in (4, 8, 12)), "last-word", "the last word of each topic lands in the next one.")
    expect(all(found[i + 4] == found[i] + 1 for i in range(1, 9)), "wrong-size", "each topic has words_per_topic words.")
    expect(found[1] == 1, "not-from-one", "topics are counted from 1, so word 1 belongs to topic 1.")
    for size in (1, 3, 7):
        others = [float(as_array(answer(i, size), (), "the topic as a single number")) for i in range(1, 3 * size + 1)]
        hint = "the size of a topic is an argument: with another words_per_topic the topics are not the right ones."
        expect(others == [t for t in (1, 2, 3) for _ in range(size)], "size-fixed", hint)


@register("preface-attention-entry")
def attention_entry(answer: Answer) -> None:
    rng = np.random.default_rng(1)
    a = rng.dirichlet(np.ones(5), size=5).T
    table = np.array(
        [[float(as_array(answer(a.copy(), j, i), (), "the weight as a single number")) for j in range(5)] for i in range(5)]
    )
    expect(close(table, a) or not close(table, a.T), "transposed", "what is predicted is the query, the second index.")
    symmetric = close(table, table.T)
    expect(not symmetric, "averaged", "attention is not symmetric: how j looks at i differs from how i looks at j.")
    entries_of_a = np.isin(table.round(9), a.round(9)).all()
    expect(close(table, a) or not entries_of_a, "counted-from-one", "positions are counted from 0 here.")
    expect(close(table, a), "wrong-entry", "return one entry of A as it is.")


@register("preface-random-fraction")
def random_fraction(answer: Answer) -> None:
    def of(p_m: float, p_c: float, p_r: float) -> float:
        return float(as_array(answer(p_m, p_c, p_r), (), "the fraction as a single number"))

    fixed = of(0.5, 0.2, 0.3) == of(0.01, 0.1, 0.4) == of(0.8, 0.0, 1.0)
    expect(not fixed, "constant", "your fraction is the same number whatever the probabilities are: use the arguments.")
    share, fewer = of(0.5, 0.2, 0.3), of(0.01, 0.2, 0.3)
    hint = "your fraction does not change with p_m, but a word that is not selected stays as it is."
    expect(not close(share, fewer) or close(share, 0.3), "p-m-ignored", hint)
    within = share <= 0.5 and of(0.01, 0.1, 0.4) <= 0.01
    expect(within, "not-conditional", "no more positions than are selected can change.")
    hint = "with p_r = 0 no word is replaced by a random one; "
    expect(not close(of(0.5, 0, 0), 0.5), "mask-for-random", hint + "you seem to count those that become [MASK].")
    expect(not close(of(0.5, 0.4, 0), 0.2), "kept-for-random", hint + "you seem to count those that are kept.")
    expect(close(of(0.5, 0, 0), 0), "p-r-ignored", hint + "does your fraction use p_r?")
    same = close(of(0.5, 0.1, 0.3), of(0.5, 0.6, 0.3))
    expect(same, "one-after-the-other", "one draw decides between keeping, replacing and masking; p_c does not change p_r.")
    expect(close(of(0.5, 0.0, 1.0), 0.5), "wrong-value", "with p_r = 1 every selected position gets a random word.")
    expect(close(of(0.5, 0.1, 0.4), 2 * of(0.5, 0.1, 0.2)), "wrong-value", "twice the p_r must give twice the fraction.")


def _their_numbers(library: str, T: int, v: int) -> list[int]:
    """Their number of each of our tokens: the place in the list that their library would print."""
    words = [(t, k) for k in range(v) for t in range(T)]
    if "topics down" in library:
        words = [(t, k) for t in reversed(range(T)) for k in range(v)]
    printed: list[object] = ["[MASK]", *words] if "[MASK] first" in library else [*words, "[MASK]"]
    return [printed.index("[MASK]"), *(printed.index((t, k)) for t in range(T) for k in range(v))]


@register("preface-translate")
def translate(answer: Answer, library: str = "input first, [MASK] last") -> None:
    T, v = 3, 4
    size = T * v + 1
    numbers = np.array(_their_numbers(library, T, v))
    matrix = np.random.default_rng(19).normal(size=(size, size))
    found = as_array(answer(matrix, T, v), (size, size), "the matrix")

    def read(order: npt.NDArray[np.int64], of: npt.NDArray[np.float64] = matrix) -> npt.NDArray[np.float64]:
        picked: npt.NDArray[np.float64] = of[order][:, order]
        return picked.T if "input first" in library else picked

    hint = "ask of each index: is it the token that is seen, or the word that is predicted?"
    expect(not close(found, read(numbers).T, TOL), "transposed", hint)
    backwards = np.argsort(numbers)
    hint = (
        "you use the list of our numbers where the list of theirs is needed: look up, for each of our tokens, where they keep it."
    )
    expect(not any(close(found, x, TOL) for x in (read(backwards), read(backwards).T)), "inverse", hint)
    shifted = np.array([size - 1 if numbers[0] == 0 else 0, *(numbers[1:] + (1 if numbers[0] else -1))])
    hint = "where do they keep [MASK]? The numbers of the words depend on it."
    expect(not close(found, read(shifted), TOL), "mask-misplaced", hint)
    kept = np.array([numbers[0], *(np.arange(size - 1) + (numbers[0] == 0))])
    expect(not close(found, read(kept), TOL), "order-kept", "their words are in another order than ours.")
    lost = np.array(found[0, 1:] == 0).all() or np.array(found[1:, 0] == 0).all()
    expect(not lost, "mask-lost", "[MASK] has a row and a column in our matrix too.")
    expect(
        close(found, read(numbers), TOL),
        "wrong-entries",
        "some entries stand in the wrong place: try a matrix with a single entry.",
    )
