"""Checks of the exercises of Section 3.2."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from topiclib.checks.base import Answer, Misconception, as_array, close, expect, register

TOL = 1e-4  # answers in single precision are right too


@register("3.2-equation-1")
def equation_1(answer: Answer) -> None:
    tokens = np.array([[1, 2, 3, 1], [2, 2, 1, 3]])
    selected = np.array([[True, True, True, False], [False, False, True, False]])

    def loss(predictions: np.ndarray) -> float:
        return float(as_array(answer(predictions.copy(), tokens.copy(), selected.copy()), (), "the loss as a single number"))

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
    N, words, p_m, p_c, p_r = 50_000, 8, 0.6, 0.1, 0.25
    tokens = np.random.default_rng(3).choice([1, 2, 3, 4, 5], size=N, p=[0.1, 0.15, 0.2, 0.25, 0.3])  # 6, 7 and 8 do not occur

    def run(length: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        result = answer(tokens[:length], words, p_m, p_c, p_r, np.random.default_rng(seed))
        try:
            shown, marks = result
        except (TypeError, ValueError):
            raise Misconception("not-a-pair", "return two arrays: the masked document and the selection.") from None
        return as_array(shown, (length,), "the masked document"), as_array(marks, (length,), "the selection")

    shown, marks = run(N, 0)
    expect(np.isin(marks, (0, 1)).all(), "not-boolean", "the selection has one true or false for each position.")
    selected = marks == 1
    expect(selected.any(), "nothing-selected", "no position of a long document is selected.")
    expect(np.isin(shown, range(words + 1)).all() or (shown == 0).any(), "mask-not-zero", "[MASK] has the token id 0.")
    hint = "the same seed gave two different documents: take all randomness from rng."
    expect(all((a == b).all() for a, b in zip(run(200, 1), run(200, 1), strict=True)), "not-reproducible", hint)
    expect((shown == tokens)[~selected].all(), "unselected-changed", "a position outside M must keep its word.")

    # Which positions.
    short = [(document, chosen == 1) for document, chosen in (run(20, seed) for seed in range(400))]
    hidden = [(document[chosen] == 0).mean() for document, chosen in short if chosen.any()]
    hint = "each selected position has its own fate; in a document of yours all share one."
    expect(len(set(hidden)) == 1 or not np.isin(hidden, (0, 1)).all(), "one-fate", hint)
    expect(not (shown[selected] == 0).all(), "all-hidden", "some selected positions keep their word, and some get a random one.")
    expect((shown[selected] == 0).any(), "never-hidden", "no selected position becomes [MASK].")
    unchanged = (shown == tokens)[selected]
    expect(unchanged.any(), "kept-not-selected", "positions that keep their word are selected too: report M, not what changed.")
    share = selected.mean()
    hint = "the share of selected positions is 1 - p_m: is a comparison the wrong way round?"
    expect(abs(share - (1 - p_m)) > 0.02, "comparison-reversed", hint)
    conditional = "p_c and p_r are probabilities given that a position is selected."
    expect(share < p_m + 0.1, "not-conditional", conditional)
    expect(abs(share - p_m) < 0.02, "wrong-p-m", "the share of selected positions is not p_m.")
    hint = "each position is selected at random, independently of where it is."
    expect(abs(selected[: N // 2].mean() - selected[N // 2 :].mean()) < 0.03, "not-random-positions", hint)
    hint = "each position is selected on its own, so the size of M varies; in your documents it is always the same."
    expect(np.var([chosen.sum() for _, chosen in short]) > 10 * p_m * (1 - p_m), "fixed-count", hint)

    # Which fate.
    masked, kept = (shown[selected] == 0).mean(), unchanged.mean()
    expect(abs(masked - (p_m - p_c - p_r) / p_m) > 0.02, "not-conditional", conditional)
    expect(shown.max() <= words, "random-range", "random words are words 1 to num_words; some of yours are larger.")
    is_random = selected & (shown != 0) & (shown != tokens)
    replaced, drawn = tokens[is_random], shown[is_random]
    expect(is_random.any(), "never-random", "no selected position gets a random word.")
    hint = "every position must draw its own random word; in a document of yours they all get the same."
    expect(len(np.unique(drawn)) > 1, "one-random-word", hint)
    hint = "a random word is drawn anew each time; yours follows from the word that it replaces."
    expect(any(len(np.unique(drawn[replaced == w])) > 1 for w in np.unique(replaced)), "follows-old-word", hint)
    hint = "random words come from the whole vocabulary, also words that the document does not have."
    expect(np.isin([6, 7], drawn).all(), "random-from-document", hint)
    hint = "a random word is one of 1 to num_words, never [MASK]; the upper end of integers may be excluded."
    expect((drawn == words).any(), "random-from-zero", hint)
    hint = "one draw decides between keeping, replacing and masking; in yours a second draw begins where the first ends."
    expect(abs(masked - (1 - p_c) * (1 - p_r)) > 0.0125, "one-after-the-other", hint)
    hint = "a selected position becomes [MASK] with probability 1 - p_c - p_r."
    expect(abs(masked - (1 - p_c - p_r)) < 0.0125, "wrong-mask-share", hint)
    expect(
        abs(kept - (p_r + p_c / words)) > 0.0125, "swapped", "p_c is the probability to keep the word, p_r that of a random one."
    )
    hint = "a random word may happen to be the one that stood there; yours never is."
    expect(abs(kept - p_c) > 0.0125, "never-the-same", hint)
    hint = "a selected position keeps its word with probability p_c."
    expect(abs(kept - (p_c + p_r / words)) < 0.0125, "wrong-kept-share", hint)
    # How often each word is the random one, at positions that showed another.
    rates = np.array([(drawn == w).sum() / (selected & (tokens != w)).sum() for w in range(1, words + 1)])
    hint = "every word must be equally likely as the random one; some of yours come too often."
    expect((np.abs(rates / rates.mean() - 1) < 0.25).all(), "random-not-uniform", hint)


def _best_by_search(T: int, v: int, tau: int, p_c: float, p_r: float) -> float:
    """Least loss of the predictors that trust a shown word of the document's topics by some weight, found by trying."""
    trust, own = np.linspace(0, 1, 10_001), p_r * tau / T
    each = p_c * (1 - trust) ** 2 + own * (1 + trust**2) + 1 - p_c - own
    return float(each.min() * (1 - 1 / (tau * v)))


@register("3.2-best-loss")
def best_loss(answer: Answer) -> None:
    def value(*case: float) -> float:
        return float(as_array(answer(*case), (), "the loss as a single number"))

    def blind(tau: int, v: int) -> float:
        return 1 - 1 / (tau * v)

    hint = "if every selected position shows [MASK], only the topics are known."
    expect(close(value(10, 10, 2, 0.0, 0.0), blind(2, 10)), "blind", hint)
    hint = "the position's own token says something: it may be the original word."
    expect(not close(value(10, 10, 2, 0.5, 0.0), blind(2, 10)), "ignores-position", hint)
    hint = "without random words, a word that is shown is the original for certain."
    expect(close(value(10, 10, 2, 0.5, 0.0), blind(2, 10) / 2), "copies-wrong", hint)
    hint = "with p_c = 0 a shown word is always random: weigh it by Bayes' rule."
    expect(close(value(10, 10, 2, 0.0, 0.5), blind(2, 10)), "trusts-shown", hint)
    mine, best = value(10, 10, 2, 0.1, 0.1), _best_by_search(10, 10, 2, 0.1, 0.1)
    expect(not 1e-5 < abs(mine - best) < 6e-4, "rounded", "close, but return the number as it is, not rounded.")
    hint = "this is lower than possible: the model cannot see whether a word was kept or drawn at random."
    expect(mine > best - 1e-5, "knows-fate", hint)
    hint = "a better predictor exists: what does a shown word of a topic that the document lacks tell?"
    expect(mine < best + 1e-5, "foreign-topics", hint)
    hint = "it is right for some T, v, tau, p_c and p_r and wrong for others: does it use all five?"
    cases = ((6, 3, 2, 0.0, 0.0), (6, 3, 2, 0.2, 0.3), (10, 10, 2, 0.3, 0.4), (4, 5, 4, 0.3, 0.3), (5, 4, 1, 0.25, 0.25))
    right = [close(value(*case), _best_by_search(*case), 1e-5) for case in cases]
    expect(all(right), "sizes-fixed", hint)


def _tokens_of(quantity: str, has: npt.NDArray[np.float64], tau: int, v: int) -> npt.NDArray[np.float64]:
    """What is asked for, when the topics are in the document with these probabilities."""
    if quantity == "topics":
        return has
    word = np.concatenate([[0.0], np.repeat(has / (tau * v), v)])
    return np.array(1 - (word**2).sum()) if quantity == "loss" else word


@register("3.2-shown-tokens")
def shown_tokens(answer: Answer, quantity: str = "word") -> None:
    T, v, tau, p_m, p_c, p_r = 4, 3, 2, 0.6, 0.2, 0.3
    what = {"word": "the probabilities of the words, entry 0 for [MASK]", "topics": "a probability for each topic"}.get(
        quantity, "one number"
    )

    def told(words: list[int]) -> npt.NDArray[np.float64]:
        shape = {"word": (T * v + 1,), "topics": (T,)}.get(quantity, ())
        return as_array(answer(np.array(words), T, v, tau, p_m, p_c, p_r), shape, what)

    def when(has: list[float] | npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return _tokens_of(quantity, np.asarray(has, dtype=float), tau, v)

    def by_pairs(own: list[int], gain: float, repeated: bool = False) -> npt.NDArray[np.float64]:
        """Topic probabilities of a two-topic document if every word multiplies the odds of its topic's sets by a number."""
        pairs = [(s, t) for s in range(T) for t in range(T) if repeated or s != t]
        odds = [gain ** (own[s] + (own[t] if t != s else 0)) for s, t in pairs]
        has = np.zeros(T)
        for (s, t), share in zip(pairs, np.array(odds) / sum(odds), strict=True):
            has[[s, t]] += share if s != t else 0
            has[s] += share if s == t else 0
        return has

    def shown_as(random: float, kept: float) -> float:
        """How much more often a topic's word is shown if the document has the topic, by the steps of the scheme."""
        stays, hit = (1 - p_m) / tau + kept / tau, random / T
        return (stays + hit) / hit

    gain = shown_as(p_m * p_r, p_m * p_c)
    hidden = told([0, 0, 0])
    hint = "[MASK] is not a word and belongs to no topic: it must not count for one."
    expect(not any(close(hidden, when(by_pairs(own, gain)), TOL) for own in ([0, 0, 0, 3], [3, 0, 0, 0])), "mask-counted", hint)
    one = told([0, 5])
    hint = "a shown word may be a random one: its topic need not be in the document."
    expect(not close(one, when([1 / 3, 1, 1 / 3, 1 / 3]), TOL), "noise-ignored", hint)
    two, counted = told([0, 5, 6, 1]), [1, 2, 0, 0]
    hint = "do not settle on the likeliest set of topics: weigh all of them."
    expect(not close(two, when([1, 1, 0, 0]), TOL), "hard-decision", hint)

    def is_gain(other: float, repeated: bool = False) -> bool:
        return close(two, when(by_pairs(counted, other, repeated)), TOL)

    expect(not is_gain(gain, repeated=True), "not-distinct", "the topics of a document are distinct: no set has a topic twice.")
    hint = "where only [MASK] is shown, every topic is as likely as before."
    expect(close(hidden, when([tau / T] * T), TOL), "not-flat", hint)
    expect(not close(one, hidden, TOL), "document-ignored", "a word that is shown speaks for its topic.")
    hint = "the topics have equal shares in the document: a topic's frequency in what is shown is not its probability."
    expect(not close(two, when(np.array(counted) * tau / 3), TOL), "frequencies", hint)
    hint = "p_r is the probability of a random word at a selected position; how many of all positions show one?"
    expect(not is_gain(shown_as(p_r, p_m * p_c)), "not-conditional", hint)
    expect(not is_gain(shown_as(p_m * p_r, 0)), "kept-forgotten", "a selected position that keeps its word shows a true word too.")
    hint = "a random word may also be one of the document's own topics."
    expect(not is_gain(gain - 1), "random-hits-too", hint)
    hint = "a true word is one of the document's words, a random one any of the vocabulary: each of them is how likely?"
    expect(not is_gain(1 + (1 - p_m + p_m * p_c) / (p_m * p_r)), "shares-mixed-up", hint)
    hint = "compare how likely a shown word is with its topic in the document and without."
    expect(close(one, when(by_pairs([0, 1, 0, 0], gain)), TOL) and is_gain(gain), "wrong-odds", hint)
    hint = "a product of thousands of probabilities leaves the range of floating point: think of logarithms."
    try:
        # Topics 1 and 3, each by far too often for chance.
        long = told([1, 2, 7, 8] * 600 + [0] * 500 + [4, 12] * 50)
    except Misconception as error:
        raise Misconception("underflow", hint) if error.key == "not-finite" else error from None
    expect(close(long, when([1, 0, 1, 0]), TOL), "underflow", hint)
