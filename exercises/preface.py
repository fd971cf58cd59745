"""Exercises of the preface."""

import numpy as np

from exercises.format import Exercise, Wrong
from topiclib.checks.base import Answer, as_array, close, expect


def _hidden_topic_of(answer: Answer) -> None:
    for i, v, topic in ((1, 1, 1), (7, 1, 7), (99, 3, 33), (100, 3, 34)):
        expect(close(as_array(answer(i, v), (), "the topic as a single number"), topic), "other-word", "it fails for another word.")


def _hidden_attention_entry(answer: Answer) -> None:
    a = np.random.default_rng(4).dirichlet(np.ones(6), size=6).T
    expect(
        close(as_array(answer(a, 2, 5), (), "the weight as a single number"), a[5, 2]),
        "other-matrix",
        "it fails on another matrix.",
    )


def _hidden_random_fraction(answer: Answer) -> None:
    value = as_array(answer(0.4, 0.0, 0.25), (), "the fraction as a single number")
    expect(close(value, 0.1), "other-setting", "it fails for other probabilities.")


EXERCISES = [
    Exercise(
        id="preface-topic-of",
        title="the topic of a word",
        level="warm-up",
        minutes=3,
        objective="that words are counted from 1",
        function="topic_of",
        statement=r"""
            Words are numbered from 1, and topic $t$ has the words $(t-1)v + 1$ to $tv$. Return the topic of word `i`, a whole number from 1,
            when each topic has `words_per_topic` $= v$ words. Write it without `topiclib`.
        """,
        stub='''
            def topic_of(i, words_per_topic):
                """The number of the topic that word i belongs to."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def topic_of(i, words_per_topic):
                return (i - 1) // words_per_topic + 1
        """,
        alternative="""
            import math

            def topic_of(i, words_per_topic):
                return math.ceil(i / words_per_topic)
        """,
        wrong=(
            Wrong(
                """
                def topic_of(i, words_per_topic):
                    return i // words_per_topic + 1
                """,
                "last-word",
            ),
            Wrong(
                """
                def topic_of(i, words_per_topic):
                    return (i - 1) // words_per_topic
                """,
                "from-zero",
            ),
            Wrong(
                """
                def topic_of(i, words_per_topic):
                    return i / words_per_topic
                """,
                "not-whole",
            ),
            Wrong(
                """
                def topic_of(i, words_per_topic):
                    return (i - 1) % words_per_topic + 1
                """,
                "place-in-topic",
            ),
            Wrong(
                """
                def topic_of(i, words_per_topic):
                    return (i - 1) // 4 + 1
                """,
                "size-fixed",
            ),
            Wrong(
                """
                def topic_of(i, words_per_topic):
                    return (i - 1) // 10 + 1
                """,
                "wrong-size",
            ),
        ),
        hidden=_hidden_topic_of,
        explanation=r"""
            $\lceil i/v \rceil$, as in Definition 1. The last word of a topic, $i = tv$, is the one that tells a right formula from
            $\lfloor i/v \rfloor + 1$.
        """,
    ),
    Exercise(
        id="preface-attention-entry",
        title="which entry of A",
        level="warm-up",
        minutes=3,
        objective="that the query is the second index",
        function="weight",
        statement=r"""
            `A` is the attention matrix of one document, in the paper's convention, shape $(N, N)$. Return the weight with which the prediction at
            position `predicted` uses what stands at position `seen`. Positions are counted from 0.
        """,
        stub='''
            def weight(A, predicted, seen):
                """How much the prediction at one position looks at another."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def weight(A, predicted, seen):
                return A[seen, predicted]
        """,
        alternative="""
            import numpy as np

            def weight(A, predicted, seen):
                column = np.asarray(A).T[predicted]
                return float(column[seen])
        """,
        wrong=(
            Wrong(
                """
                def weight(A, predicted, seen):
                    return A[predicted, seen]
                """,
                "transposed",
            ),
            Wrong(
                """
                def weight(A, predicted, seen):
                    return A[seen - 1, predicted - 1]
                """,
                "counted-from-one",
            ),
            Wrong(
                """
                def weight(A, predicted, seen):
                    return (A[seen, predicted] + A[predicted, seen]) / 2
                """,
                "averaged",
            ),
            Wrong(
                """
                def weight(A, predicted, seen):
                    return A[:, predicted]
                """,
                "wrong-shape",
            ),
        ),
        hidden=_hidden_attention_entry,
        explanation=r"""
            $A_{ij}$ is the importance of the $i$-th word for predicting the $j$-th. What is predicted is $j$, so it comes second, and
            column $j$ sums to 1.
        """,
    ),
    Exercise(
        id="preface-random-fraction",
        title="how many words are random",
        level="warm-up",
        minutes=4,
        objective="that p_c and p_r are conditional on being selected",
        function="random_fraction",
        statement=r"""
            A position is selected with probability `p_m`. If it is, its word is kept with probability `p_c`, replaced by a random word with
            probability `p_r`, and by [MASK] otherwise. Return the expected fraction of *all* positions at which the word is replaced by a random one.
        """,
        stub='''
            def random_fraction(p_m, p_c, p_r):
                """Expected fraction of all positions that get a random word."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def random_fraction(p_m, p_c, p_r):
                return p_m * p_r
        """,
        alternative="""
            def random_fraction(p_m, p_c, p_r):
                masked = p_m * (1 - p_c - p_r)
                kept = p_m * p_c
                return p_m - masked - kept
        """,
        wrong=(
            Wrong(
                """
                def random_fraction(p_m, p_c, p_r):
                    return p_r
                """,
                "not-conditional",
            ),
            Wrong(
                """
                def random_fraction(p_m, p_c, p_r):
                    return p_m * (1 - p_c) * p_r
                """,
                "one-after-the-other",
            ),
            Wrong(
                """
                def random_fraction(p_m, p_c, p_r):
                    return p_m * (1 - p_c - p_r)
                """,
                "mask-for-random",
            ),
            Wrong(
                """
                def random_fraction(p_m, p_c, p_r):
                    return p_m * p_c
                """,
                "kept-for-random",
            ),
            Wrong(
                """
                def random_fraction(p_m, p_c, p_r):
                    return 0.15 * 0.1
                """,
                "constant",
            ),
            Wrong(
                """
                def random_fraction(p_m, p_c, p_r):
                    return 0.15 * p_r
                """,
                "p-m-ignored",
            ),
            Wrong(
                """
                def random_fraction(p_m, p_c, p_r):
                    return p_m * 0.1
                """,
                "p-r-ignored",
            ),
        ),
        hidden=_hidden_random_fraction,
        explanation=r"""
            $p_m p_r$: first selected, then replaced. One draw decides between keeping, replacing and masking, so $p_c$ does not enter.
        """,
    ),
]
