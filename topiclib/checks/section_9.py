"""Checks of the exercises of Section 9."""

from __future__ import annotations

import numpy as np

from topiclib.checks.base import Answer, as_array, close, expect, register

TOL = 1e-4  # answers in single precision are right too


@register("9-whole-path")
def whole_path(answer: Answer) -> None:
    rng = np.random.default_rng(90)
    w_e, w_v, eye = rng.normal(size=(3, 5)), rng.normal(size=(2, 3, 3)), np.eye(3)
    first, second = w_v
    # Both without and with residual connections; wrong ways that differ in one of them are told by it.
    got = as_array(answer(w_e, w_v, False), (5, 5), "a matrix with one column for each token")
    hint = "the first layer acts first: in a product of matrices it stands on the right."
    expect(not close(got, w_e.T @ first @ second @ w_e, TOL), "layers-reversed", hint)
    hint = "the second layer reads what the first has written, not the embeddings."
    expect(not close(got, w_e.T @ second @ w_e, TOL), "layers-side-by-side", hint)
    hint = "a layer applies its W_V from the left, as it is: columns are vectors."
    expect(not close(got, w_e.T @ second.T @ first.T @ w_e, TOL), "values-transposed", hint)
    hint = "without residual connections every layer replaces its input by W_V times it; the head reads with the embeddings."
    expect(close(got, w_e.T @ (second @ (first @ w_e)), TOL), "wrong-product", hint)
    got = as_array(answer(w_e, w_v, True), (5, 5), "a matrix with one column for each token")
    plain = w_e.T @ (second @ (first @ w_e))
    hint = "with residual connections a layer adds to its input: yours gives the same as without."
    expect(not close(got, plain, TOL), "no-residual", hint)
    hint = "every layer has a residual connection of its own, not the stack as a whole."
    expect(not close(got, plain + w_e.T @ w_e, TOL), "one-residual", hint)
    hint = "with residual connections what leaves a layer is its input plus W_V times its input."
    expect(close(got, w_e.T @ (eye + second) @ (eye + first) @ w_e, TOL), "wrong-residual", hint)


@register("9-loss-parts")
def loss_parts(answer: Answer) -> None:
    rng = np.random.default_rng(92)
    category = np.array([-1, 0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 2])
    topic = np.array([-1, 1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 0])
    for word in (2, 7, 10):
        p = rng.dirichlet(np.full(12, 2.0))
        c, t = category == category[word], topic == topic[word]
        got = as_array(answer(p, word, category, topic), (3,), "three numbers")
        right = -np.log([p[c].sum(), p[c & t].sum() / p[c].sum(), p[word] / p[c & t].sum()])
        hint = "the loss is in nats: use the natural logarithm."
        expect(not close(got * np.log(2), right, TOL), "bits", hint)
        expect((got >= -TOL).all(), "negative", "a loss is minus the logarithm of a probability, so it is never negative.")
        if word < 9:
            counts = np.log([12 / c.sum(), c.sum() / (c & t).sum(), (c & t).sum()])
            hint = "you count words: use the predicted probabilities, which need not be even."
            expect(not close(got, counts, TOL), "ignores-prediction", hint)
            hint = "the three parts sum to more than the loss: each must be given what the parts before it know."
            expect(not close(got[1:], -np.log([p[c & t].sum(), p[word]]), TOL), "not-conditional", hint)
            hint = "first the category, then the topic given the category: yours begins with the topic."
            expect(
                not close(got[1], -np.log(p[t].sum()), TOL) or not close(got[0] + got[1], right[:2].sum(), TOL), "topic-first", hint
            )
            hint = "the topic's part is given the category: compare with the words of the category, not with all words."
            expect(not close(got[1], -np.log(p[t].sum()), TOL), "topic-without-category", hint)
        hint = "each part is minus the logarithm of a ratio of sums of predictions, over fewer and fewer words."
        expect(close(got, right, TOL), "wrong-parts", hint)


@register("9-expected-words")
def expected_words(answer: Answer) -> None:
    rules = [
        ("S", ("NP", "VP"), 1.0),
        ("NP", ("Det", "N"), 0.6),
        ("NP", ("Det", "Adj", "Adj", "N"), 0.4),
        ("VP", ("V", "NP"), 0.3),
        ("VP", ("V",), 0.7),
    ]
    names = ("Det", "N", "Adj", "V")
    got = answer(rules, "S")
    expect(isinstance(got, dict), "not-a-dictionary", "return a dictionary with one number for each category.")
    hint = "the categories are the symbols that no rule replaces: all of them, and nothing else."
    expect(set(got) == set(names), "wrong-categories", hint)
    found = as_array([got[name] for name in names], (4,), "one number for each category")
    hint = "a rule is used as often as its left side is there: count it once for each time, times its probability."
    expect(not close(found, [1.0, 1.0, 0.8, 1.0], TOL), "every-rule-once", hint)
    expect(not close(found, [4, 4, 4, 2], TOL), "no-probabilities", "a symbol takes one of its rules, each with its probability.")
    hint = "only the likeliest rule of each symbol is used: the others have their probability too."
    expect(not close(found, [1, 1, 0, 1], TOL), "likeliest-only", hint)
    expect(not close(found.sum(), 1, TOL), "shares", "expected numbers of words are asked for, not their shares.")
    hint = "a symbol that stands twice on the right of a rule becomes two."
    expect(not close(found, [1.3, 1.3, 0.52, 1.0], TOL), "repeats-lost", hint)
    hint = "follow one symbol: how often is it expected, and what does each of its rules make of it?"
    expect(close(found, [1.3, 1.3, 1.04, 1.0], TOL), "wrong-numbers", hint)


# Two hidden categories of a small grammar, right and by some mistakes, for each version of the exercise.
HIDDEN_CATEGORY = {
    "uncertainty in two sentences": {
        "": (
            0.5098157,
            1.083762,
        ),
        "no-probabilities": (
            0.5623351,
            1.098612,
        ),
        "length-ignored": (
            0.7715865,
            1.065042,
        ),
        "context-ignored": (
            1.06094,
            1.051324,
        ),
        "left-side-only": (
            0.9359651,
            1.021808,
        ),
        "not-normalised": (
            0.06877962,
            0.1531127,
        ),
        "whole-sentence": (
            1.370342,
            1.763071,
        ),
    },
    "uncertainty in one sentence": {
        "": (
            0.7408191,
            0.6730117,
        ),
        "no-probabilities": (
            0.9002561,
            0.6931472,
        ),
        "length-ignored": (
            0.7682681,
            0.9254863,
        ),
        "context-ignored": (
            1.067951,
            1.009811,
        ),
        "left-side-only": (
            0.927979,
            0.9667646,
        ),
        "not-normalised": (
            0.1788058,
            0.148366,
        ),
        "whole-sentence": (
            1.985676,
            1.346023,
        ),
    },
    "best guess in two sentences": {
        "": (
            0.7931034,
            0.3818182,
        ),
        "no-probabilities": (
            0.75,
            0.3333333,
        ),
        "length-ignored": (
            0.6350791,
            0.4250373,
        ),
        "context-ignored": (
            0.4256894,
            0.4089176,
        ),
        "left-side-only": (
            0.5029595,
            0.5142857,
        ),
        "not-normalised": (
            0.0115,
            0.013125,
        ),
        "whole-sentence": (
            0.3103448,
            0.2181818,
        ),
    },
}


@register("9-hidden-category")
def hidden_category(answer: Answer, asked: str = "uncertainty in two sentences") -> None:
    rules = [
        ("S", ("A", "B"), 0.5),
        ("S", ("B", "A", "B"), 0.3),
        ("S", ("x", "A"), 0.2),
        ("A", ("x", "y"), 0.3),
        ("A", ("z",), 0.5),
        ("A", ("y", "z", "x"), 0.2),
        ("B", ("x",), 0.3),
        ("B", ("y", "A"), 0.4),
        ("B", ("z", "z"), 0.3),
    ]
    cases = (([None, "z", None, "y", None, None], 2), ([None, None, "z", None, "z"], 3))
    found = [float(as_array(answer(rules, "S", shown, place), (), "one number")) for shown, place in cases]
    hints = {
        "no-probabilities": "not every rule is taken equally often: each way to make a document has a probability.",
        "length-ignored": "the number of words is known: a longer or shorter document is ruled out.",
        "context-ignored": "the categories that are shown rule documents out, or make them more probable.",
        "left-side-only": "words on both sides of the place are shown, and both tell something.",
        "not-normalised": "what is known has happened: the probabilities of what is left must sum to one.",
        "whole-sentence": "the other hidden words are not asked for: documents with the same category at the place go together.",
    }
    for mistake, hint in hints.items():
        expect(not close(found, HIDDEN_CATEGORY[asked][mistake], TOL), mistake, hint)
    bits = [np.array(values[""]) / np.log(2) for name, values in HIDDEN_CATEGORY.items() if name == asked]
    expect(not close(found, bits, TOL), "bits", "this is right in bits; the natural logarithm gives nats.")
    others = [values[""] for name, values in HIDDEN_CATEGORY.items() if name != asked]
    hint = "right for another number of sentences, or for another number that the statement does not ask for."
    expect(not any(close(found, values, TOL) for values in others), "other-question", hint)
    hint = "list by hand all documents of five words that have z in the third place and in the last."
    expect(close(found, HIDDEN_CATEGORY[asked][""], TOL), "wrong-number", hint)
