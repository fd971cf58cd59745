"""Checks of the exercises of Section 3.2."""

from __future__ import annotations

import numpy as np

from topiclib.checks.base import Answer, Misconception, as_array, close, expect, register


@register("3.2-equation-1")
def equation_1(answer: Answer) -> None:
    tokens = np.array([[1, 2, 3, 1], [2, 2, 1, 3]])
    selected = np.array([[True, True, True, False], [False, False, True, False]])

    def loss(predictions: np.ndarray) -> float:
        return float(as_array(answer(predictions.copy(), tokens.copy(), selected.copy()), (), "the loss, one number"))

    nothing = np.zeros((2, 4, 4))
    expect(not close(loss(nothing), 2), "not-divided", "the sum over M must be divided by |M|, for each document.")
    expect(
        not close(loss(nothing), 1 / 4), "mean-over-vocabulary", "equation 3 sums over the vocabulary; yours takes a mean there."
    )
    expect(
        close(loss(nothing), 1),
        "wrong-target",
        "a prediction of zeros is at distance one from every one-hot label; your loss of it is not 1.",
    )
    elsewhere = nothing.copy()
    elsewhere[:, 0, :] = np.where(selected, 0, 5.0)
    expect(
        close(loss(elsewhere), 1), "all-positions", "only positions in M count; a prediction at another position changed your loss."
    )
    far = nothing.copy()
    far[:, 0, :] = 3.0  # label and prediction at right angles: 1 + 9
    expect(not close(loss(far), np.sqrt(10)), "not-squared", "equation 3 is the squared norm of the difference, without a root.")
    expect(close(loss(far), 10), "wrong-loss", "the loss of a column is the sum of squared differences from the one-hot label.")
    unequal = nothing.copy()
    unequal[1, 0, :] = 3.0
    expect(close(loss(unequal), 5.5), "pooled", "take the mean within each document first, so that every document weighs the same.")
    perfect = np.zeros((2, 4, 4))
    for b in range(2):
        perfect[b, tokens[b], np.arange(4)] = 1
    expect(close(loss(perfect), 0), "wrong-label", "a perfect prediction must have loss 0; look at where the 1 of the label is.")


@register("3.2-mask-document")
def mask_document(answer: Answer) -> None:
    N, words, p_m, p_c, p_r = 40000, 8, 0.4, 0.25, 0.25
    tokens = np.random.default_rng(3).integers(1, words + 1, size=N)
    given = tokens.copy()

    def run(seed: int) -> tuple[np.ndarray, np.ndarray]:
        result = answer(given, words, p_m, p_c, p_r, np.random.default_rng(seed))
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise Misconception("not-a-pair", "return two arrays: the masked document and the selection.")
        return as_array(result[0], (N,), "the masked document"), as_array(result[1], (N,), "the selection")

    shown, marks = run(0)
    expect((given == tokens).all(), "changed-input", "your function changes tokens: make a copy first.")
    expect(np.isin(marks, (0, 1)).all(), "not-boolean", "the selection has one true or false for each position.")
    selected = marks == 1
    expect(selected.any(), "nothing-selected", "no position is selected.")
    expect(
        (run(0)[0] == shown).all(), "not-reproducible", "the same seed gave two different documents: take all randomness from rng."
    )
    expect((shown == tokens)[~selected].all(), "unselected-changed", "a position outside M must keep its word.")
    expect(
        (shown[selected] == 0).mean() > 0 or p_c + p_r == 1, "one-fate", "each selected position has its own fate; yours share one."
    )
    expect(not (shown[selected] == tokens[selected]).all(), "one-fate", "each selected position has its own fate; yours share one.")
    expect(not (shown[selected] == 0).all(), "all-hidden", "some selected positions keep their word, and some get a random one.")
    kept = (shown == tokens)[selected].mean()
    changed = shown[selected] != tokens[selected]
    expect(not changed.all(), "kept-not-selected", "positions that keep their word are selected too: report M, not what changed.")
    expect(selected.mean() < p_m + 0.1, "not-conditional", "p_c and p_r are probabilities given that a position is selected.")
    expect(abs(selected.mean() - p_m) < 0.02, "wrong-p-m", "the share of selected positions is not p_m.")
    expect(
        not selected[: N // 4].all(), "not-random-positions", "each position is selected at random, independently of where it is."
    )
    hidden = (shown[selected] == 0).mean()
    expect((shown == words).any() and shown.max() <= words, "random-range", "random words come from all num_words words.")
    is_random = selected & (shown != 0) & (shown != tokens)
    last = (shown[is_random] == words).mean()
    expect(
        last > 0.05,
        "random-from-zero",
        "a random word is one of 1 to num_words, never [MASK]; the upper end of integers may be excluded.",
    )
    expect(
        abs(hidden - (1 - p_c - p_r)) < 0.02,
        "wrong-mask-share",
        "a selected position becomes [MASK] with probability 1 - p_c - p_r.",
    )
    expect(abs(kept - (p_c + p_r / words)) < 0.02, "wrong-kept-share", "a selected position keeps its word with probability p_c.")


@register("3.2-best-loss")
def best_loss(answer: Answer) -> None:
    def value(*case: float) -> float:
        return float(as_array(answer(*case), (), "the loss, one number"))

    blind = 1 - 1 / 20
    expect(close(value(10, 10, 2, 0.0, 0.0), blind), "blind", "if every selected position shows [MASK], only the topics are known.")
    expect(
        not close(value(10, 10, 2, 0.5, 0.0), blind),
        "ignores-position",
        "the position's own token says something: it may be the original word.",
    )
    expect(
        close(value(10, 10, 2, 0.5, 0.0), blind / 2),
        "copies-wrong",
        "without random words, a word that is shown is the original for certain.",
    )
    expect(
        close(value(10, 10, 2, 0.0, 0.5), blind),
        "trusts-shown",
        "with p_c = 0 a shown word is always random: weigh it by Bayes' rule.",
    )
    best, mine = 0.8708304, value(10, 10, 2, 0.1, 0.1)
    expect(
        mine > best - 1e-5,
        "knows-fate",
        "this is lower than possible: the model cannot see whether a word was kept or drawn at random.",
    )
    expect(
        mine < best + 1e-5,
        "foreign-topics",
        "a better predictor exists: what does a shown word of a topic that the document lacks tell?",
    )
