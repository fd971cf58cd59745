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
