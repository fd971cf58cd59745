"""Checks of the exercises of Section 6.1, the chapter on synthetic data."""

from __future__ import annotations

import numpy as np

from topiclib.checks.base import Answer, as_array, close, expect, register

TOL = 1e-5


@register("6.1-contained-topics")
def contained_topics(answer: Answer) -> None:
    # Topic 1: 10 of 20 words, topic 2: 5 (a quarter exactly), topic 3: 4, topic 4: 1; then padding.
    tokens = np.array([1, 2, 2, 3, 3, 1, 2, 3, 3, 3, 4, 5, 6, 6, 4, 9, 9, 8, 7, 12, -1, -1, -1, -1, -1])

    def number(at_least: float) -> float:
        return float(as_array(answer(tokens, 3, at_least), (), "one number"))

    expect(number(0.001) != 10, "words-not-topics", "count the words of each topic together, not each word by itself.")
    expect(number(0.001) <= 4, "shifted-topics", "the last word of a topic is still of this topic: word v is of topic 1, not 2.")
    expect(number(0.3) < 4, "any-word", "one word is not enough here: look at at_least.")
    at_threshold = "a topic with exactly the fraction counts: at least, not more than."
    expect(not (number(0.249) == 2 and number(0.25) == 1), "exactly-at-the-threshold", at_threshold)
    expect(number(0.22) == 2, "padding-counted", "the fraction is one of the document's words; padding is not a word.")
    right = [number(x) for x in (0.01, 0.06, 0.21, 0.4, 0.6)]
    expect(right == [4, 3, 2, 1, 0], "wrong-number", "count the topics of this document by hand: ten words, five, four and one.")


@register("6.1-steps-needed")
def steps_needed(answer: Answer) -> None:
    for fraction, rate, kappa in ((0.5, 20.0, 0.0037), (0.9, 50.0, 0.005), (0.3, 1.0, 0.002)):
        steps = float(as_array(answer(fraction, rate, kappa), (), "a number of steps"))
        expect(steps == round(steps), "not-whole", "a run has a whole number of steps.")
        factor = 1 - 2 * rate * kappa
        once, slow = factor ** (steps - 1), (1 - rate * kappa) ** steps
        half = "the gradient of the squared loss has a factor of two; look at the formula again."
        expect(not (slow <= 1 - fraction < (1 - rate * kappa) ** (steps - 1)), "factor-two", half)
        left = "the power is what is missing, not what is learned."
        expect(not (factor**steps <= fraction < once) or fraction == 0.5, "what-is-left", left)
        expect(
            not (factor ** (steps + 1) <= 1 - fraction < factor**steps),
            "rounded-down",
            "after your steps a little is still missing.",
        )
        expect(factor**steps <= 1 - fraction, "too-few", "after your steps the fraction is not learned.")
        small = "one step less would do. Is your logarithm that of the factor itself? For steps that are not small it matters."
        expect(once > 1 - fraction, "small-steps-only", small)


@register("6.1-implied-mask-column")
def implied_mask_column(answer: Answer) -> None:
    p_m, p_c, p_r = 0.25, 0.1, 0.3
    rng = np.random.default_rng(62)
    for num_topics, v in ((3, 2), (2, 4)):
        n = num_topics * v
        u = rng.normal(size=n)
        matrix = np.concatenate([rng.normal(size=(n, 1)), np.repeat(u[:, None], n, axis=1)], axis=1)
        matrix = np.concatenate([rng.normal(size=(1, n + 1)), matrix])
        own = np.kron(np.eye(num_topics), np.ones((v, v)))
        matrix[1:, 1:] += own * rng.normal(size=(n, n))
        # Sums that differ between the other topics, with the same mean.
        wave = np.tile(np.resize([0.3, -0.3], v), num_topics)
        matrix[1:, 1:] += wave * (1 - own)
        found = as_array(answer(matrix, v, p_m, p_c, p_r), (n,), "one entry for each word, of shape (Tv,)")
        c = 1 / (p_m * (1 - p_c - p_r)) - 1
        hint = "the theorem's value follows from the blocks; what the matrix has there is not asked."
        expect(not close(found, matrix[1:, 0], TOL), "copied-column", hint)
        expect(not close(found, c * u, TOL), "sign", "look at the sign: where u_i is positive, the column of [MASK] is negative.")
        expect(not close(found, -c * v * u, TOL), "sum-not-u", "the sum over another topic is u_i v, not u_i.")
        hint = "m is the share of positions that show [MASK]; not every selected one does."
        expect(not close(found, -(1 / p_m - 1) * u, TOL), "share-of-mask", hint)
        words = matrix[1:, 1:]
        hint = "the own topic's sum is larger by 1/a: leave it out."
        expect(not close(found, -c * words.mean(axis=1), TOL), "own-topic-included", hint)
        columns = (words * (1 - own)).sum(axis=0) / (n - v)
        hint = "u_i belongs to a row, the word that is predicted; sum over the columns of the row."
        expect(not close(found, -c * columns, TOL), "columns-not-rows", hint)
        hint = "find u_i from the sums of row i over the other topics, then multiply."
        expect(close(found / u, np.full(n, (found / u)[0]), TOL), "not-the-u", hint)
        expect(close(found + c * u, 0, TOL), "wrong-factor", "the u_i are right up to a factor: look at the formula again.")


@register("6.1-loss-of-shares")
def loss_of_shares(answer: Answer) -> None:
    for p in (np.array([0.5, 0.3, 0.2]), np.full(8, 0.125)):
        spread = float(1 - (p**2).sum())

        def loss(n: int, p: np.ndarray = p) -> float:
            return float(as_array(answer(p, n), (), "one number"))

        hint = "this is the loss of one who knows p; the shares of n words are only near it."
        expect(not (close(loss(2), loss(50), TOL) and close(loss(2), spread, TOL)), "shares-exact", hint)
        expect(not close(loss(3), loss(30), TOL), "one-word-only", "the more words are seen, the nearer are their shares to p.")
        hint = "this is how far the shares are from p; the hidden word itself is random too."
        expect(loss(10**9) > 0.5 * spread, "distance-to-probabilities", hint)
        hint = "noise in a prediction costs: the loss must be above that of one who knows p."
        expect(loss(4) > spread, "noise-helps", hint)
        ratio = (loss(4) - spread) / (loss(16) - spread)
        hint = "how does the variance of a mean of n depend on n?"
        expect(close(ratio, 4, 1e-3), "not-an-average", hint)
        # With one word seen: the shares are another hidden word, and two words of the document are equal or not.
        hint = "check n = 1: two one-hot vectors are at squared distance two unless the words agree."
        expect(close(loss(1), 2 * spread, TOL), "wrong-loss", hint)


# The least losses of two documents, right and by some mistakes, for each version of the exercise.
BEST_LOSS = {
    "squared": {
        "": (0.6351562, 0.474981),
        "position-not-used": (0.65625, 0.54),
        "random-not-uniform": (0.634375, 0.4705714),
        "mask-forgotten": (0.5859375, 0.4471157),
        "random-cannot-hit": (0.6607143, 0.5607796),
        "wrong-average": (0.6208594, 0.4404384),
        "mask-left-out-of-the-mean": (0.1757812, 0.312981),
    },
    "nats": {
        "": (1.175833, 0.8032573),
        "position-not-used": (1.213008, 0.8979457),
        "random-not-uniform": (1.173839, 0.796325),
        "mask-forgotten": (1.089093, 0.7626766),
        "random-cannot-hit": (1.219643, 0.9260792),
        "wrong-average": (1.152954, 0.753141),
        "mask-left-out-of-the-mean": (0.326728, 0.5338736),
    },
    "bits gained": {
        "": (0.05363118, 0.1366065),
        "position-not-used": (0, 0),
        "random-not-uniform": (0.0565076, 0.1466077),
        "mask-forgotten": (0.1787706, 0.1951522),
        "random-cannot-hit": (-0.009573007, -0.04058803),
        "wrong-average": (0.08663924, 0.208909),
        "mask-left-out-of-the-mean": (1.278631, 0.5252451),
    },
}


@register("6.1-best-loss")
def best_loss(answer: Answer, asked: str = "squared") -> None:
    documents = (([0.5, 0.25, 0.125, 0.125], 0.1, 0.2), ([0.6, 0.3, 0.1], 0.3, 0.4))
    found = [float(as_array(answer(np.array(p), p_c, p_r), (), "one number")) for p, p_c, p_r in documents]
    hints = {
        "position-not-used": "this predictor is told p and looks away: a word that is shown has often been kept.",
        "random-not-uniform": "a random word is drawn evenly from all words, so a rare word that is shown is seldom the kept one.",
        "mask-forgotten": "some selected positions show [MASK], and there the predictor knows p only: average over them too.",
        "random-cannot-hit": "if the shown word was random, the hidden one may still be the same word, by chance.",
        "wrong-average": "how often each word is shown depends on p and on the random words: average with these chances.",
        "mask-left-out-of-the-mean": "what is shown has probabilities that sum to one; yours lack those of [MASK].",
    }
    for mistake, hint in hints.items():
        expect(not close(found, BEST_LOSS[asked][mistake], TOL), mistake, hint)
    others = [values[""] for name, values in BEST_LOSS.items() if name != asked]
    hint = "this belongs to another loss, unit or difference than the statement names."
    expect(not any(close(found, values, TOL) for values in others), "other-loss", hint)
    hint = "where no word is kept the position says nothing: what is left is to predict p itself, and its loss."
    p = np.array([0.3, 0.3, 0.4])
    nothing = {"squared": 1 - p @ p, "nats": -p @ np.log(p), "bits gained": 0.0}[asked]
    expect(close(float(as_array(answer(p, 0.0, 0.5), (), "one number")), nothing, TOL), "nothing-kept", hint)
    expect(
        close(found, BEST_LOSS[asked][""], TOL),
        "not-the-least",
        "the least loss is another: check the posterior for each thing shown.",
    )
