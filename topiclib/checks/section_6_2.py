"""Checks of the exercises of Section 6.2, the chapter on natural language data."""

from __future__ import annotations

import numpy as np

from topiclib.checks.base import Answer, as_array, close, expect, register

TOL = 1e-4  # answers in single precision are right too


@register("6.2-pairs-of-a-topic")
def pairs_of_topic(answer: Answer) -> None:
    # A whole number; 15, 30, 61 words of BERT's vocabulary; then products with fractions on both sides of a half.
    for threshold, size in ((0.25, 48), (0.0005, 30_522), (0.001, 30_522), (0.002, 30_522), (0.0008, 9_900), (0.1, 48)):
        found = float(as_array(answer(threshold, size), (), "one number"))
        expect(found == round(found), "not-whole", "a topic has a whole number of words, and of pairs.")
        kept = int(threshold * size)
        expect(found != kept, "words-not-pairs", "these are the words of a topic; how many pairs do they make?")
        expect(found != kept * (kept - 1), "ordered-pairs", "this counts (a, b) and (b, a) as two pairs.")
        if threshold * size == kept:
            expect(2 * found != kept * (kept + 1), "pair-with-itself", "a word makes no pair with itself.")
        else:
            hint = "a topic has no more words than the threshold allows: round down."
            expect(2 * found != kept * (kept + 1), "rounded", hint)
        expect(2 * found == kept * (kept - 1), "wrong-number", "try a topic of three words by hand.")


@register("6.2-same-over-different")
def same_over_different(answer: Answer) -> None:
    rng = np.random.default_rng(62)
    # All cosines are 1: the vectors differ in length only.
    parallel = np.outer([1.0, 2.0, 3.0, 5.0, 0.5], [3.0, 4.0])
    found = float(as_array(answer(parallel, np.array([0, 0, 0, 1, 1])), (), "one number"))
    expect(close(found, 1), "dot-not-cosine", "the length of a word's vector must not matter to its cosine.")
    # Topics along axes, with something in common: s for all same-topic pairs, d for all others, 1 with itself.
    topic = np.array([0, 1, 0, 1, 2, 2, 0])
    axes = np.eye(11)
    vectors = np.array([axes[k] + axes[7 + t] for k, t in enumerate(topic)]) + axes[10]
    # Products: 3 with itself, 2 in a topic, 1 between topics.
    found = float(as_array(answer(vectors, topic), (), "one number"))
    expect(not close(found, 0.5), "upside-down", "same-topic belongs above the line.")
    pairs, apart = 5, 16
    with_itself = (2 * pairs * 2 + 7 * 3) / (2 * pairs + 7)
    expect(not close(found, with_itself), "word-with-itself", "a pair is of two different words: leave the diagonal out.")
    everything = 2 / ((2 * pairs + apart) / (pairs + apart))
    expect(not close(found, everything), "over-all-pairs", "below the line are pairs of different topics only.")
    expect(close(found, 2), "wrong-ratio", "here each same-topic cosine is twice each different-topic one.")
    # Topics of different size and of different coherence.
    topic = np.array([0, 0, 0, 0, 1, 1])
    vectors = rng.normal(size=(6, 4)) * 0.3 + np.array([2.0, 1.0, 0.0, 0.0])
    vectors[4:, 2] += [1.5, -1.5]
    unit = vectors / np.sqrt((vectors**2).sum(axis=1))[:, None]
    table = unit @ unit.T
    inside = [table[i, j] for i in range(6) for j in range(i) if topic[i] == topic[j]]
    across = table[:4, 4:]
    found = float(as_array(answer(vectors, topic), (), "one number"))
    by_topic = (np.mean(inside[:6]) + inside[6]) / 2
    expect(not close(found * across.mean(), by_topic), "mean-of-topics", "each pair counts the same, so a large topic counts more.")
    expect(
        close(found * across.mean(), np.mean(inside)),
        "wrong-mean",
        "it is right where all pairs of a kind have the same cosine, not here.",
    )
    # One pair points apart
    opposed = np.array([[1.0, 0.0], [1.0, 0.2], [-1.0, 0.1], [0.2, 1.0], [0.1, 1.0]])
    unit = opposed / np.sqrt((opposed**2).sum(axis=1))[:, None]
    table = unit @ unit.T
    right = np.mean([table[0, 1], table[0, 2], table[1, 2], table[3, 4]]) / table[:3, 3:].mean()
    found = float(as_array(answer(opposed, np.array([0, 0, 0, 1, 1])), (), "one number"))
    expect(close(found, right), "sign-lost", "a cosine can be negative: it keeps its sign in the mean.")


@register("6.2-common-part")
def common_part(answer: Answer) -> None:
    for same, different, ratio in ((0.16, 0.03, 1.2), (0.6, 0.1, 3.0), (0.4, 0.25, 1.3)):
        length = float(as_array(answer(same, different, ratio), (), "one length"))
        expect(length > 0, "no-length", "a length is positive.")

        def reached(square: float, s: float = same, d: float = different) -> float:
            return (s + square) / (d + square)

        hint = "this is the square of the length: what does a vector of length c add to a product?"
        expect(not close(reached(length), ratio), "square-of-length", hint)
        hint = "the common vector is added to all words: it enters the cosines of both kinds."
        expect(not close(same / (different + length**2), ratio), "one-kind-only", hint)
        hint = "the different-topic mean is not zero before the vector is added; put your result in and look at the ratio."
        expect(not close(length**2 * (ratio - 1), same - different), "different-was-zero", hint)
        hint = "a cosine does not shrink by a constant factor here: products grow by something, lengths too."
        expect(not close((1 + length**2) * ratio, same / different), "ratio-divided", hint)
        hint = "add the vector to the embeddings of two words, and write down their new cosine."
        expect(close(reached(length**2), ratio), "wrong-length", hint)


@register("6.2-uniform-attention")
def raw_ratio_of_uniform(answer: Answer) -> None:
    for length, same, different in (
        (np.array([10, 40]), np.array([6, 2]), np.array([4, 8])),
        (np.array([20, 50, 100]), np.array([9, 0, 5]), np.array([2, 6, 30])),
    ):
        found = float(as_array(answer(length, same, different), (), "one number"))
        top, bottom = (same / length).sum() / same.sum(), (different / length).sum() / different.sum()
        hint = "no position is preferred within a document, but the mean is over pairs of all documents."
        expect(not close(found, 1), "no-bias", hint)
        expect(not close(found, bottom / top), "upside-down", "same-topic belongs above the line.")
        of_same, of_different = (length * same).sum() / same.sum(), (length * different).sum() / different.sum()
        hint = "this is the mean length of the documents that the pairs are in; the attention is what one divides by it."
        expect(not close(found, of_same / of_different), "length-not-attention", hint)
        hint = "average the attention of the pairs, not the lengths: one over a mean is not the mean of one over."
        expect(not close(found, of_different / of_same), "mean-length", hint)
        hint = "these are sums: there are more pairs of one kind than of the other."
        expect(not close(found, (same / length).sum() / (different / length).sum()), "sums-not-means", hint)
        hint = "write down the attention of every single pair, and take the two means."
        expect(close(found * bottom, top), "wrong-ratio", hint)


# True means of two measurements, right and by some mistakes, for each kind of mistaken word.
MISTAKEN = {
    "any": {
        "": (
            (0.535, 0.06625),
            (0.3640138, 0.01799308),
        ),
        "one-word-of-two": (
            (0.48, 0.08),
            (0.3483871, 0.02580645),
        ),
        "mistakes-never-meet": (
            (0.5963636, 0.05090909),
            (0.4188437, -0.009421842),
        ),
        "different-left-alone": (
            (0.5213483, 0.1),
            (0.3567485, 0.05),
        ),
        "not-divided": (
            (0.6037736, -0.1037736),
            (0.3734127, -0.0234127),
        ),
        "diluted-once-more": (
            (0.3136, 0.1216),
            (0.25375, 0.073125),
        ),
        "order": (
            (0.06625, 0.535),
            (0.01799308, 0.3640138),
        ),
    },
    "another": {
        "": (
            (0.5866667, 0.05333333),
            (0.4108221, -0.00541103),
        ),
        "one-word-of-two": (
            (0.48, 0.08),
            (0.3483871, 0.02580645),
        ),
        "mistakes-never-meet": (
            (0.5963636, 0.05090909),
            (0.4188437, -0.009421842),
        ),
        "different-left-alone": (
            (0.5615385, 0.1),
            (0.3907155, 0.05),
        ),
        "not-divided": (
            (0.75, -0.25),
            (0.4423797, -0.09237968),
        ),
        "diluted-once-more": (
            (0.295, 0.12625),
            (0.2334375, 0.08328125),
        ),
        "order": (
            (0.05333333, 0.5866667),
            (-0.00541103, 0.4108221),
        ),
    },
    "next": {
        "": (
            (0.56, 0.06),
            (0.4032389, -0.001619433),
        ),
        "one-word-of-two": (
            (0.48, 0.08),
            (0.3483871, 0.02580645),
        ),
        "mistakes-never-meet": (
            (0.5963636, 0.05090909),
            (0.4188437, -0.009421842),
        ),
        "different-left-alone": (
            (0.5411765, 0.1),
            (0.3855705, 0.05),
        ),
        "not-divided": (
            (0.6666667, -0.1666667),
            (0.430102, -0.08010204),
        ),
        "diluted-once-more": (
            (0.304, 0.124),
            (0.23625, 0.081875),
        ),
        "order": (
            (0.06, 0.56),
            (-0.001619433, 0.4032389),
        ),
    },
}


@register("6.2-mistaken-topics")
def means_of_true_topics(answer: Answer, mistake: str = "any") -> None:
    right = as_array(answer(0.4, 0.1, 0.0, 5), (2,), "two means, same topic first")
    expect(not close(right, [0.1, 0.4], TOL), "order", "the mean within topics comes first.")
    expect(close(right, [0.4, 0.1], TOL), "no-mistakes", "without mistaken words the measured means are the true ones.")
    cases = ((0.4, 0.1, 0.2, 5), (0.3, 0.05, 0.15, 3))
    found = [as_array(answer(*case), (2,), "two means, same topic first") for case in cases]
    hint = "mistakes bring the two means nearer to each other: the true ones are farther apart than the measured ones."
    expect(found[0][0] - found[0][1] > 0.3, "diluted-once-more", hint)
    hints = {
        "one-word-of-two": "a pair has two words, and each of them may have been mistaken.",
        "mistakes-never-meet": "two words of one true topic may be mistaken and meet again in one given topic.",
        "different-left-alone": "pairs of different given topics are touched too: some of them are of one true topic.",
        "not-divided": "pairs of different given topics are many more than pairs of one: count how many are of one true topic.",
    }
    for name, hint in hints.items():
        same_as_right = close(MISTAKEN[mistake][name], MISTAKEN[mistake][""], TOL)
        expect(same_as_right or not close(found, MISTAKEN[mistake][name], TOL), name, hint)
    others = [values[""] for name, values in MISTAKEN.items() if name != mistake]
    hint = "read again which topic a mistaken word is given; yours belongs to another kind of mistake."
    expect(not any(close(found, values, TOL) for values in others), "other-mistake", hint)
    hint = "mix your two means by the chances of true topics given the measured ones: the measured means do not come back."
    expect(close(found, MISTAKEN[mistake][""], TOL), "wrong-means", hint)
