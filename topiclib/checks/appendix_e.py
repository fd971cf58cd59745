"""Checks of the exercises of Appendix E."""

from __future__ import annotations

import numpy as np

from topiclib.checks.base import Answer, as_array, close, expect, register

TOL = 1e-4  # answers in single precision are right too


@register("e-gap-share")
def gap_share(answer: Answer) -> None:
    what = "one number for each pair of losses"
    for shape, scale in (((), 1.0), ((3,), np.array([1.0, 1.3, 0.9]))):
        frozen, joint, nothing, best = (np.float64(x) * scale for x in (0.96, 0.91, 0.99, 0.87))
        share = as_array(answer(frozen, joint, nothing, best), shape, what)
        hint = "no loss reaches zero: compare with what the best predictor gains over knowing nothing."
        expect(not close(share, 1 - joint / frozen, TOL), "share-of-the-loss", hint)
        expect((share > 0).all(), "sign", "joint training is better here, so the share must be positive.")
        hint = "this is the share of what frozen attention has left to gain; the question is about all there is to gain."
        expect(not close(share * (frozen - best), frozen - joint, TOL), "share-of-the-rest", hint)
        hint = "this is a share of the way that joint training went: the way ends at the best predictor."
        expect(not close(share * (nothing - joint), frozen - joint, TOL), "share-of-the-way", hint)
        hint = "divide the gap by the distance from knowing nothing to the best predictor."
        expect(close(share * (nothing - best), frozen - joint, TOL), "wrong-share", hint)


@register("e-relation-averages")
def relation_averages(answer: Answer) -> None:
    rng = np.random.default_rng(61)
    v = 3
    tokens = np.array([1, 3, 0, 1, 4, 6, 3, 9, 0, 6, 5])
    n = len(tokens)
    topics = np.ceil(tokens / v)
    word, near = np.equal.outer(tokens, tokens), np.equal.outer(topics, topics)
    shows_word = np.logical_and.outer(tokens > 0, tokens > 0)
    other = shows_word & ~np.eye(n, dtype=bool)

    def means(a: np.ndarray, allowed: np.ndarray) -> np.ndarray:
        return np.array([n * a[allowed & kind].mean() for kind in (word, near > word, ~near)])

    # Weights that are uniform, but for one kind of entry: each shows one mistake alone.
    flat = np.full((n, n), 1 / n)
    got = as_array(answer(flat, tokens, v), (3,), "three averages")
    expect(not close(got, 1 / n, TOL), "not-times-length", "uniform attention must give one: multiply by the length.")
    expect(close(got, 1, TOL), "not-an-average", "uniform attention must give one for each relation: average over pairs.")
    a = rng.dirichlet(np.ones(n), size=n).T
    own = flat.copy()
    np.fill_diagonal(own, 5 / n)
    hint = "leave out the pair of a position with itself."
    expect(close(as_array(answer(own, tokens, v), (3,), "three averages"), 1, TOL), "itself-included", hint)
    masked = np.where(shows_word, 1 / n, 5 / n)
    hint = "leave out every pair that involves [MASK], also those of two [MASK]."
    expect(close(as_array(answer(masked, tokens, v), (3,), "three averages"), 1, TOL), "mask-included", hint)
    repeated = np.where(word & other, 5 / n, 1 / n)
    got = as_array(answer(repeated, tokens, v), (3,), "three averages")
    hint = "the second average is over different words of the topic: equal words are the first one's."
    expect(close(got[1], 1, TOL), "topic-with-word", hint)
    got = as_array(answer(a, tokens, v), (3,), "three averages")
    right = means(a, other)
    hint = "which words belong to the first topic? Its last word has the id words_per_topic."
    expect(not (close(got[0], right[0], TOL) and not close(got[1:], right[1:], TOL)), "topics-shifted", hint)
    expect(close(got, right, TOL), "wrong-averages", "average the entries of A over all pairs of the relation.")


@register("e-column-strength")
def column_strength(answer: Answer) -> None:
    rng = np.random.default_rng(64)
    for num_topics, v in ((3, 2), (2, 4)):
        size = num_topics * v
        what = "one strength for each word, without [MASK]"
        ones = as_array(answer(np.ones((size + 1, size + 1)), v), (size,), what)
        hint = "a word that votes alike for all words speaks for no topic: did you compare with the other topics?"
        expect(not close(ones, 1, TOL), "own-topic-only", hint)
        hint = "a word that votes alike for all words has no strength: compare means, as other topics have more words."
        expect(close(ones, 0, TOL), "sums-not-means", hint)
        w_v = rng.normal(size=(size + 1, size + 1))
        got = as_array(answer(w_v, v), (size,), what)
        topic = np.arange(size) // v
        own = np.equal.outer(topic, topic)
        contrast = own / v - ~own / (size - v)
        hint = "the votes of a word are its column: rows are the words that are voted for."
        expect(not close(got, (w_v[1:, 1:] * contrast).sum(axis=1), TOL), "rows-not-columns", hint)
        changed = w_v.copy()
        changed[0] += 3
        changed[:, 0] += 3
        hint = "leave out the row of [MASK]: it is never the answer, and no word of another topic."
        expect(close(as_array(answer(changed, v), (size,), what), got, TOL), "mask-row-included", hint)
        hint = "for each column: the mean over the rows of its own topic, minus the mean over all other words."
        expect(close(got, (w_v[1:, 1:] * contrast).sum(axis=0), TOL), "wrong-strength", hint)


@register("e-average-ratio")
def average_ratio(answer: Answer) -> None:
    what = "two averages, same topic and different topics"
    hint = "uniform attention must give one for both."
    expect(close(as_array(answer([0.2, 0.8], 1.0), (2,), what), 1, TOL), "not-one-if-uniform", hint)
    for shares in ([0.7, 0.2, 0.1], [0.5, 0.25, 0.25]):
        x, s = np.array(shares), 4.0
        same, different = as_array(answer(x, s), (2,), what)
        hint = "the weights of a position sum to one: divide by their total, which depends on the topic's share."
        expect(not close([same, different], [s, 1], TOL), "not-normalised", hint)
        total = 1 + (s - 1) * x
        hint = "these are plain averages over topics: a topic with a large share has more pairs."
        expect(not close([same, different], [(s / total).mean(), (1 / total).mean()], TOL), "topics-not-pairs", hint)
        hint = "these are averages over queries: count the pairs, of which a query of a large topic has more within its topic."
        expect(not close([same, different], [x @ (s / total), x @ (1 / total)], TOL), "queries-not-pairs", hint)
        hint = "the total of a query depends on its own topic: it is not the same for all."
        expect(not close(same / different, s, TOL), "one-total-for-all", hint)
        within, across = x * x, x - x * x
        right = [within @ (s / total) / within.sum(), across @ (1 / total) / across.sum()]
        hint = "how many pairs does each topic have with itself and with others, and what weight has each of them?"
        expect(close([same, different], right, TOL), "wrong-averages", hint)


@register("e-race")
def race(answer: Answer, loss: str = "sigmoid") -> None:
    rng = np.random.default_rng(66)
    shape = (2, 5)

    def run(votes: np.ndarray, scores: np.ndarray, clock: float) -> np.ndarray:
        return as_array(answer(votes, scores, clock), shape, "votes and scores")

    votes, scores = rng.normal(size=5) * 0.3 + 0.4, rng.normal(size=5)
    start = np.array([votes, scores])
    still = run(votes, scores, 0.0)
    expect(not close(still[::-1], start, TOL), "votes-first", "return the votes in the first row and the scores in the second.")
    expect(close(still, start, TOL), "moved-at-once", "at the clock zero nothing has moved yet.")
    small = 1e-3
    speed = (run(votes, scores, small) - start) / small
    hint = "nothing moves for a small clock: does your number of steps depend on the clock, and become zero?"
    expect(np.abs(speed).max() > 1e-9, "did-not-move", hint)
    attention = np.exp(scores) / np.exp(scores).sum()
    mean = float(votes @ attention)
    unit = attention / np.linalg.norm(attention)
    hint = "attention stands in the gradient of a vote: words that are looked at more learn faster."
    expect(not close(speed[0] / np.linalg.norm(speed[0]), np.sign(speed[0]) / 5**0.5, 1e-2), "votes-alike", hint)
    hint = "gradient descent goes down: a vote that raises the prediction must grow while the loss falls with the prediction."
    expect(speed[0].sum() > 0, "wrong-sign", hint)
    expect(
        close(speed[0] / np.linalg.norm(speed[0]), unit, 1e-2),
        "wrong-votes",
        "what is the derivative of the prediction by one vote?",
    )
    pull = float(speed[0] @ unit / np.linalg.norm(attention))
    turned = speed[1] / pull
    hint = "the scores must keep their sum: attention that one word gains is lost by others."
    expect(abs(turned.sum()) < 1e-2 or not close(turned, attention * votes, 1e-2), "softmax-sum", hint)
    hint = "the derivative of a softmax has a factor for the attention itself: a word that nobody looks at hardly moves."
    expect(not close(turned, votes - mean, 1e-2), "attention-forgotten", hint)
    expect(
        close(turned, (votes - mean) * attention, 1e-2), "wrong-scores", "what is the derivative of the prediction by one score?"
    )
    slope = {"constant": 1.0, "sigmoid": 1 - 1 / (1 + np.exp(-mean)), "squared": 2 - 2 * mean}[loss]
    hint = "the directions are right, the pace is not: how fast does the given loss fall with the prediction?"
    expect(close(pull, slope, 2e-2), "other-loss", hint)
    half_way = run(votes, scores, 3.0)
    once, twice = run(votes, scores, 10.0), run(half_way[0], half_way[1], 7.0)
    hint = "going on from where one was must lead to the same place: speeds change on the way, so many small steps are needed."
    expect(np.abs(once - twice).max() < 2e-3 * max(1, np.abs(once).max()), "one-step", hint)
