"""Checks of the exercises of Section 5.2."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from topiclib.checks.base import Answer, as_array, close, expect, register
from topiclib.documents import DocumentSettings, infinite_documents
from topiclib.masking import MaskingSettings, masked_distribution
from topiclib.theory import diagonal_value_matrix, masking_fractions, theorem2, theorem2_constants

Array = npt.NDArray[np.float64]
TOL = 1e-4  # answers in single precision are right too
SETTINGS: tuple[dict[str, Any], ...] = (
    {"num_topics": 4, "words_per_topic": 3, "p_m": 0.3, "p_c": 0.2, "p_r": 0.1},
    {"num_topics": 3, "words_per_topic": 5, "p_m": 0.15, "p_c": 0.05, "p_r": 0.3},
)


def documents_of(setting: dict[str, Any], topics_per_doc: int = 2) -> tuple[Array, Array]:
    """Every infinitely long document: its masked token distributions, and its own word distributions, one a row."""
    sizes = {name: setting[name] for name in ("num_topics", "words_per_topic")}
    true = infinite_documents(DocumentSettings.theory(topics_per_doc, **sizes))
    masking = MaskingSettings(**{name: setting[name] for name in ("p_m", "p_c", "p_r")})
    return masked_distribution(true, masking), true


@register("5.2-value-blocks")
def value_blocks(answer: Answer) -> None:
    for num_topics, v in ((3, 2), (2, 4)):
        size = num_topics * v + 1
        w = as_array(answer(num_topics, v, 5.0, 3.0, -2.0), (size, size), "the value matrix")
        hint = "entry (i, l) says what token l speaks for: [MASK]'s weight for the words stands in column 0, not in row 0."
        expect(not (close(w[0, 1:], 5) and close(w[1:, 0], 0)), "row-and-column-swapped", hint)
        expect(close(w[0], 0), "mask-row-not-zero", "[MASK] is never the answer: its row must be zero, column 0 included.")
        expect(close(w[1:, 0], 5), "mask-column", "column 0 holds the weight of [MASK] for every word.")
        inner = w[1:, 1:]
        expect(
            not close(inner, 3 * np.eye(size - 1) - 2 * (1 - np.eye(size - 1))), "diagonal-only", "a topic has more words than one."
        )
        topic = np.arange(size - 1) // v
        shifted = np.arange(1, size) // v
        hint = "the first topic holds the words 1 to v: your blocks are shifted by one word."
        expect(not close(inner, np.where(shifted[:, None] == shifted, 3, -2)), "shifted", hint)
        hint = "topics are runs of neighbouring words, not every T-th word."
        interleaved = np.arange(size - 1) % num_topics
        expect(not close(inner, np.where(interleaved[:, None] == interleaved, 3, -2)), "interleaved", hint)
        own = topic[:, None] == topic
        expect(close(inner[own], 3), "same-topic", "inside a block every entry has the value for the same topic, the diagonal too.")
        expect(close(inner[~own], -2), "different-topic", "outside of the blocks every entry has the value for different topics.")


@register("5.2-three-values")
def three_values(answer: Answer) -> None:
    for setting in SETTINGS:
        mask, same, different = as_array(answer(**setting), (3,), "three numbers: [MASK], same topic, different topics")
        exact, share = theorem2(**setting), masking_fractions(**{k: setting[k] for k in ("p_m", "p_c", "p_r")})
        right = (exact.mask_column, exact.same_topic, exact.different_topic)
        wrong_order = close((same, mask, different), right, TOL) or close((mask, different, same), right, TOL)
        expect(not wrong_order, "order", "the values are right, but not in the order that is asked for.")
        v, words = setting["words_per_topic"], setting["num_topics"] * setting["words_per_topic"]
        hint = "same minus different is c_3 / v: the topic's boost is shared by its words."
        expect(not close(same - different, 1 / share.true, TOL), "boost-not-shared", hint)
        hint = "the block must undo the dilution by everything that masking does, random replacement and [MASK] alike."
        expect(not close(same - different, 1 / v, TOL), "no-boost", hint)
        hint = "true words are diluted by what is selected and not kept: p_c of the selected positions keep their word."
        expect(not close((same - different) * v, 1 / (1 - setting["p_m"]), TOL), "kept-words-forgotten", hint)
        expect(
            close((same - different) * v * share.true, 1, TOL),
            "wrong-boost",
            "same minus different must be c_3 / v: is c_3 wrong, or one of the two values?",
        )
        expect(not close(different, -exact.different_topic, TOL), "sign", "mind the sign of the value for different topics.")
        seen, true = documents_of(setting)
        topic = np.arange(words) // v
        w = np.zeros((words + 1, words + 1))
        w[1:, 0], w[1:, 1:] = mask, np.where(topic[:, None] == topic, same, different)
        hint = "with your values a document is not predicted exactly: all predictions are off by the same amount."
        expect(close(seen @ w.T, true, TOL), "not-a-minimiser", hint)
        hint = "your matrix predicts every document exactly, but it is not the smallest that does."
        expect(close((mask, different), (exact.mask_column, exact.different_topic), TOL), "not-the-smallest", hint)


@register("5.2-one-speaker")
def one_speaker(answer: Answer) -> None:
    for setting in SETTINGS:
        num_topics, v = setting["num_topics"], setting["words_per_topic"]
        size = num_topics * v + 1
        w = as_array(answer(**setting), (size, size), "a value matrix")
        speakers = np.zeros(size, dtype=bool)
        speakers[0] = speakers[1::v] = True
        hint = "only [MASK] and the first word of each topic may have weight: some other column of yours is not zero."
        expect(close(w[:, ~speakers], 0), "other-speakers", hint)
        expect(not close(w, 0), "all-zero", "a matrix of zeros predicts nothing.")
        seen, true = documents_of(setting)
        error = seen @ w.T - true
        expect(close(error[:, 0], 0, TOL), "mask-row-not-zero", "[MASK] is never the answer: its prediction must be zero.")
        flat = close(error[:, 1:], error[0, 1], TOL)
        hint = "random words make up a part of every document: your prediction for words of absent topics is too large."
        expect(not (flat and error[0, 1] > TOL), "noise-kept", hint)
        hint = "all predictions are too small by the same amount: what you subtract must match the random words after the boost."
        expect(not (flat and error[0, 1] < -TOL), "too-much-subtracted", hint)
        present, absent = error[true > 0], error[:, 1:][true[:, 1:] == 0]
        hint = "words of absent topics are predicted right, words of the document's topics too weakly: think of the dilution."
        expect(not (close(absent, 0, TOL) and (present < -TOL).all()), "no-boost", hint)
        hint = "every word of a topic listens to its topic's first word with full weight, not only that word itself."
        own = w[1::v, 1::v].diagonal()
        expect(v == 1 or not close(w[2::v, 1], 0, TOL) or close(own, 0, TOL), "only-speakers-predicted", hint)
        hint = "the speaker shows only its own frequency, which is one v-th of its topic's: no further division is needed."
        expect(not close(own * v, diagonal_value_matrix(**setting).same_word, TOL), "divided-by-v", hint)
        expect(close(error, 0, TOL), "wrong-prediction", "the predictions differ from the documents' word distributions.")


def exact_family(setting: dict[str, Any]) -> tuple[Array, Array, Array]:
    """Second moments of the documents, a minimiser with free constants in its rows, and the smallest one."""
    seen, true = documents_of(setting)
    second: Array = seen.T @ seen / len(seen)
    smallest: Array = true.T @ np.linalg.pinv(seen.T, rcond=1e-10)
    noise = np.random.default_rng(52).normal(size=smallest.shape)
    free = noise - noise @ seen.T @ np.linalg.pinv(seen.T, rcond=1e-10)
    return second, smallest + free, smallest


@register("5.2-smallest")
def smallest(answer: Answer) -> None:
    for setting in SETTINGS:
        second, start, wanted = exact_family(setting)
        w = as_array(answer(start, second), start.shape, "a value matrix")
        seen, true = documents_of(setting)
        hint = "you return the matrix that was given: it is a minimiser, but not the smallest."
        expect(not close(w, start, TOL), "unchanged", hint)
        v, words = setting["words_per_topic"], len(start) - 1
        spread = start.copy()
        sums = start[:, 1:].reshape(words + 1, -1, v).mean(axis=2)
        spread[:, 1:] = np.repeat(sums, v, axis=1)
        hint = "even blocks are not enough: weight can still move between the words and [MASK]."
        expect(not close(w, spread, TOL), "only-spread", hint)
        hint = "the predictions of your matrix differ from those of the given one: only what no document shows may go."
        ridge = not close(seen @ w.T, true, TOL) and close(seen @ w.T, true, 0.05)
        expect(not ridge, "shrunk", "your predictions are shrunk a little: let the penalty go to zero, or project.")
        hint_rows = (
            "rows are predicted words, columns are seen tokens: what must go lies in the rows' space, so act from the right."
        )
        projector = np.linalg.pinv(second, rcond=1e-10) @ second
        expect(not close(w, projector @ start, TOL), "wrong-side", hint_rows)
        expect(close(seen @ w.T, true, TOL), "not-a-minimiser", hint)
        expect(close(w, wanted, TOL), "not-the-smallest", "a smaller matrix with the same predictions exists.")


@register("5.2-other-penalty")
def other_penalty(answer: Answer, penalty: str = "absolute") -> None:
    # In the first setting [MASK] is rare enough for its column to matter, in the second there are many other topics.
    for T, v, p_m, p_c, p_r in ((4, 3, 0.15, 0.1, 0.2), (10, 5, 0.3, 0.2, 0.1), (2, 6, 0.2, 0.3, 0.3)):
        setting = {"num_topics": T, "words_per_topic": v, "p_m": p_m, "p_c": p_c, "p_r": p_r}
        mask, same, different = as_array(answer(*setting.values()), (3,), "[MASK], same topic, different topics")
        c, least = theorem2_constants(**setting), theorem2(**setting)
        jump = (same - different) * v
        expect(
            not close(jump, -c.c_3, TOL), "order", "the second value is that of the same topic, the third that of different topics."
        )
        hint = "true words are diluted: the block must make up for that, whatever the measure."
        expect(not close(jump, 1, TOL), "no-boost", hint)
        expect(
            close(mask, 0, TOL) or not close(mask, c.c_1 + c.c_2 * different, TOL),
            "mask-sign",
            "weight that words lose goes to [MASK], not away from it.",
        )
        hint = "this is not one of the minimisers: what is moved between words and [MASK], and at which rate?"
        expect(close(jump, c.c_3, TOL) and close(mask + c.c_2 * different, -c.c_1, TOL), "not-a-minimiser", hint)
        near = abs(different - least.different_topic) < 1e-5 / v
        expect(not near, "theorem-2", "this is the matrix with the least sum of squares.")

        def size(u: Array | float, once: bool = False) -> Any:
            values = [(1, -c.c_1 - c.c_2 * u), (v, c.c_3 / v + u), ((T - 1) * v, u)]  # noqa: B023
            power = {"absolute": 1, "fourth": 4}.get(penalty, 2)
            return sum((1 if once else n) * np.abs(x) ** power for n, x in values[(penalty == "without") :])

        grid = np.linspace(-2 * c.c_3 / v, c.c_3 / v, 300_001)
        best, alone = size(grid).min(), grid[size(grid, once=True).argmin()]
        is_best = size(different) <= best + 1e-6 * abs(best)
        hint = "this leaves all words of other topics without weight: is that the smallest in every setting?"
        expect(is_best or abs(different) > 1e-9, "no-weight-between", hint)
        hint = "a row has many entries of one kind and few of another: each of them counts."
        expect(is_best or abs(different - alone) > 2e-5 * c.c_3, "counted-once", hint)
        expect(is_best, "not-smallest", "move some weight between the words and [MASK]: a smaller minimiser exists.")
