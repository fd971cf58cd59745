"""Exercises of Section 1."""

import numpy as np

from exercises.format import Exercise, Wrong
from topiclib.checks.base import Answer, as_array, close, expect


def _hidden_critical_path(answer: Answer) -> None:
    expect(list(answer()) == list(answer()), "second-call", "it must give the same answer each time.")


def _hidden_pair_count(answer: Answer) -> None:
    document = np.random.default_rng(11).integers(1, 7, size=50)
    n = np.bincount(document, minlength=7)
    for i, j in ((1, 2), (6, 6), (3, 5)):
        expected = n[i] * n[j] - (n[i] if i == j else 0)
        expect(
            close(as_array(answer(document, i, j), (), "the count as a single number"), expected),
            "other-document",
            "another document fails.",
        )


def _hidden_find_topics(answer: Answer) -> None:
    topics = np.array([2, 0, 1, 1, 0, 2, 2, 1, 3])
    lift = np.where(topics[:, None] == topics, 1.4, 0.9)
    labels = as_array(answer(lift), (9,), "the labels")
    same = labels[:, None] == labels
    expect((same == (topics[:, None] == topics)).all(), "other-lift", "it fails on another lift matrix.")


def _hidden_expected_lift(answer: Answer) -> None:
    same, different = as_array(answer(2.0, 3), (2,), "the two lifts as a pair")
    expect(close([same, different], [9 / 7, 6 / 7]), "other-setting", "it fails for another alpha and T.")


EXERCISES = [
    Exercise(
        id="1-critical-path",
        title="the path of a prediction",
        level="warm-up",
        minutes=4,
        objective="the order of a transformer's parts, from the tokens to the prediction",
        function="critical_path",
        statement=r"""
            Every prediction of the one-layer transformer passes through six things. Return their names as a list, in the order in which the
            information passes: `"attention weights"`, `"decoder"`, `"embedding layer"`, `"input tokens"`, `"output distribution"`,
            `"value matrix"`. (The words are mixed by attention first and mapped by the value matrix then. The diagram at the
            start of Section 2 helps if you have not met them yet.)
        """,
        stub='''
            def critical_path():
                """The six names, in order."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def critical_path():
                return [
                    "input tokens",
                    "embedding layer",
                    "attention weights",
                    "value matrix",
                    "decoder",
                    "output distribution",
                ]
        """,
        alternative="""
            def critical_path():
                place = {
                    "input tokens": 0, "embedding layer": 1, "attention weights": 2,
                    "value matrix": 3, "decoder": 4, "output distribution": 5,
                }
                return tuple(sorted(place, key=place.get))
        """,
        wrong=(
            Wrong(
                """
                def critical_path():
                    return ["input tokens", "attention weights", "embedding layer", "value matrix", "decoder", "output distribution"]
                """,
                "attention-before-embedding",
            ),
            Wrong(
                """
                def critical_path():
                    return ["input tokens", "embedding layer", "value matrix", "decoder", "attention weights", "output distribution"]
                """,
                "attention-late",
            ),
            Wrong(
                """
                def critical_path():
                    return ["input tokens", "embedding layer", "attention weights", "decoder", "value matrix", "output distribution"]
                """,
                "decoder-early",
            ),
            Wrong(
                """
                def critical_path():
                    return ["embedding layer", "attention weights", "value matrix", "decoder"]
                """,
                "not-the-six",
            ),
        ),
        hidden=_hidden_critical_path,
        explanation=r"""
            Tokens become vectors, vectors are mixed with the attention weights, the mixture is mapped by the value matrix, and the
            decoder turns the result into a score for each word, hence into a distribution. In the formula $\mathbf{W}^V \mathbf{Z} A$ the
            order of the last two does not matter, since $(\mathbf{W}^V \mathbf{Z}) A = \mathbf{W}^V (\mathbf{Z} A)$. In this model the
            decoder is the embedding layer again, transposed.
        """,
    ),
    Exercise(
        id="1-pair-count",
        title="count pairs of positions",
        level="warm-up",
        minutes=6,
        objective="what exactly is counted when two words co-occur",
        function="pair_count",
        statement=r"""
            `document` is a one-dimensional array or list of word ids. Return the number of ordered pairs of *different* positions $(m, n)$,
            $m \neq n$, with word `i` at $m$ and word `j` at $n$. The positions need not be neighbours. `i` and `j` may be equal.
        """,
        stub='''
            def pair_count(document, i, j):
                """Number of ordered pairs of different positions that hold i and j."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def pair_count(document, i, j):
                document = np.asarray(document)
                number_i, number_j = (document == i).sum(), (document == j).sum()
                return int(number_i * (number_i - 1) if i == j else number_i * number_j)
        """,
        alternative="""
            def pair_count(document, i, j):
                size = range(len(document))
                return sum(document[m] == i and document[n] == j for m in size for n in size if m != n)
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def pair_count(document, i, j):
                    document = np.asarray(document)
                    return (document == i).sum() * (document == j).sum()
                """,
                "position-with-itself",
            ),
            Wrong(
                """
                def pair_count(document, i, j):
                    return sum(a == i and b == j for a, b in zip(document, document[1:]))
                """,
                "neighbours-only",
            ),
            Wrong(
                """
                def pair_count(document, i, j):
                    return int(i in document and j in document)
                """,
                "presence-only",
            ),
            Wrong(
                """
                def pair_count(document, i, j):
                    size = range(len(document))
                    return sum(document[m] == i and document[n] == j for m in size for n in size if m < n)
                """,
                "one-order-only",
            ),
            Wrong(
                """
                def pair_count(document, i, j):
                    number_i, number_j = (document == i).sum(), (document == j).sum()
                    return number_i * (number_i - 1) if i == j else number_i * number_j
                """,
                "array-only",
            ),
        ),
        hidden=_hidden_pair_count,
        explanation=r"""
            With $n_i$ and $n_j$ occurrences there are $n_i n_j$ pairs. If $i = j$, each position also pairs with itself, which must go:
            $n_i (n_i - 1)$. Over all pairs of words the counts add up to $N(N-1)$, the number of pairs of positions.
        """,
    ),
    Exercise(
        id="1-find-topics",
        title="topics from counts alone",
        level="core",
        minutes=12,
        objective="to see that co-occurrence contains the topics, without any labels",
        function="find_topics",
        statement=r"""
            `lift` is a symmetric array of shape $(n, n)$ for $n$ words in *any* order, without [MASK]. Two words of the same topic have a lift above
            1, two of different topics below 1. Return one label for each word, an array or list of $n$ whole numbers, so that two words have equal
            labels exactly when they belong to the same topic. Which number a topic gets is up to you. You are not told how many topics there are.
        """,
        stub='''
            def find_topics(lift):
                """A label for each word: equal labels for words of the same topic."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def find_topics(lift):
                # The first word with which a word keeps company names its topic.
                return np.argmax(np.asarray(lift) > 1, axis=1)
        """,
        alternative="""
            def find_topics(lift):
                labels = [None] * len(lift)
                for i in range(len(lift)):
                    if labels[i] is None:
                        for j in range(len(lift)):
                            if j == i or lift[i][j] > 1:
                                labels[j] = i
                return labels
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def find_topics(lift):
                    return np.arange(len(lift)) // 10
                """,
                "order-assumed",
            ),
            Wrong(
                """
                import numpy as np

                def find_topics(lift):
                    return (np.asarray(lift) > 1).sum(axis=1)
                """,
                "companions-counted",
            ),
            Wrong(
                """
                import numpy as np

                def find_topics(lift):
                    return np.argmax(np.asarray(lift) < 1, axis=1)
                """,
                "topics-merged",
            ),
            Wrong(
                """
                import numpy as np

                def find_topics(lift):
                    return np.argmax(np.asarray(lift), axis=1)
                """,
                "topics-split",
            ),
            Wrong(
                """
                import numpy as np

                def find_topics(lift):
                    return np.argmax(np.asarray(lift) > 2, axis=1)
                """,
                "line-not-at-1",
            ),
            Wrong(
                """
                import numpy as np

                def find_topics(lift):
                    return np.argmax(np.asarray(lift) > np.mean(lift), axis=1)
                """,
                "line-not-at-1",
            ),
            Wrong(
                """
                import numpy as np

                def find_topics(lift):
                    return np.argmax(np.asarray(lift) > 0.5, axis=1)
                """,
                "topics-merged",
            ),
        ),
        hidden=_hidden_find_topics,
        explanation=r"""
            Each row's entries above 1 are the word's topic, so all words of a topic have the same set of companions, and the first of
            them can serve as the label. With noisy counts one would use a clustering method; in the sandbox a threshold is enough.
        """,
    ),
    Exercise(
        id="1-expected-lift",
        title="the lift of a Dirichlet mixture",
        level="challenge",
        minutes=15,
        objective="to derive what counting will find, before counting",
        function="expected_lift",
        statement=r"""
            Instead of looking at the formula in this chapter, derive it. Return the pair of expected lifts, within a topic and between topics, for
            `num_topics` $= T$ topics and a symmetric Dirichlet distribution with parameter `alpha` for each. Use that the lift is
            $T^2\, \mathbb{E}[\theta_t^2]$ and $T^2\, \mathbb{E}[\theta_s \theta_t]$. For the moments you may look up the mean and the variance of a
            Dirichlet distribution; the topics' probabilities sum to 1.
        """,
        stub='''
            def expected_lift(alpha, num_topics):
                """(lift of two words of the same topic, lift of two words of different topics)."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def expected_lift(alpha, num_topics):
                total = num_topics * alpha
                return num_topics * (alpha + 1) / (total + 1), total / (total + 1)
        """,
        alternative="""
            def expected_lift(alpha, num_topics):
                T = num_topics
                mean = 1 / T
                variance = mean * (1 - mean) / (T * alpha + 1)
                same = T**2 * (variance + mean**2)
                different = (T - same) / (T - 1)  # the lifts of a word with all topics average to 1
                return [same, different]
        """,
        wrong=(
            Wrong(
                """
                def expected_lift(alpha, num_topics):
                    total = num_topics * alpha
                    return total / (total + 1), num_topics * (alpha + 1) / (total + 1)
                """,
                "swapped",
            ),
            Wrong(
                """
                def expected_lift(alpha, num_topics):
                    return 1.0, 1.0
                """,
                "independent",
            ),
            Wrong(
                """
                def expected_lift(alpha, num_topics):
                    return float(num_topics), 0.0
                """,
                "one-topic-only",
            ),
            Wrong(
                """
                def expected_lift(alpha, num_topics):
                    return num_topics * (alpha + 1) / (alpha + 1 / num_topics), num_topics * alpha / (alpha + 1 / num_topics)
                """,
                "does-not-average",
            ),
            Wrong(
                """
                def expected_lift(alpha, num_topics):
                    total = alpha
                    same = num_topics**2 * ((1 / num_topics) * (1 - 1 / num_topics) / (total + 1) + 1 / num_topics**2)
                    return same, (num_topics - same) / (num_topics - 1)
                """,
                "concentration",
            ),
        ),
        hidden=_hidden_expected_lift,
        explanation=r"""
            With total concentration $T\alpha$: $\mathbb{E}[\theta_t^2] = \alpha(\alpha+1)/(T\alpha(T\alpha+1))$ and
            $\mathbb{E}[\theta_s\theta_t] = \alpha^2/(T\alpha(T\alpha+1))$. Multiply by $T^2$. As a check, the lifts of a word with one word from each
            topic average to 1. As $\alpha$ grows, every document has all topics evenly, both lifts go to 1, and there is nothing to learn.
        """,
    ),
]
