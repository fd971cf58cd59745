"""Exercises of the preface."""

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
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


def _hidden_translate(answer: Answer, library: str = "input first, [MASK] last") -> None:
    rng = np.random.default_rng(20)
    for T, v in ((5, 2), (2, 6)):
        ours = rng.normal(size=(T * v + 1, T * v + 1))
        theirs = np.zeros_like(ours)
        numbers = [T * v if "[MASK] last" in library else 0]
        for topic in range(T):
            for place in range(v):
                number = (T - 1 - topic) * v + place if "topics down" in library else place * T + topic
                numbers.append(number + ("[MASK] first" in library))
        for i, x in enumerate(numbers):
            for j, y in enumerate(numbers):
                theirs[(y, x) if "input first" in library else (x, y)] = ours[i, j]
        found = as_array(answer(theirs, T, v), ours.shape, "the matrix")
        expect(close(found, ours, 1e-5), "other-sizes", "it fails with other numbers of topics and words.")


EXERCISES: list[Exercise] = [
    Exercise(
        id="preface-topic-of",
        title="the topic of a word",
        level="warm-up",
        minutes=3,
        objective="that words are counted from 1",
        prerequisites=(
            "[Notation](preface.ipynb#notation)",
            "whole-number division",
        ),
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
        prerequisites=("[Notation](preface.ipynb#notation)",),
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
        graded=True,
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
        objective="that $p_c$ and $p_r$ are conditional on being selected",
        prerequisites=(
            "[Symbols that clash](preface.ipynb#symbols-that-clash)",
            "conditional probability",
        ),
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
    Exercise(
        id="preface-translate",
        title="a matrix from another library",
        level="challenge",
        minutes=20,
        objective="changing conventions without changing the content",
        prerequisites=(
            "[Notation](preface.ipynb#notation)",
            "NumPy's indexing with arrays (`np.ix_`)",
        ),
        function="translate_values",
        statement=r"""
            A colleague sends the value matrix of a one-hot model that was trained with another library. Its conventions are not ours. {{conventions}}. Return the same matrix in the conventions of this course, an array of shape $(Tv + 1, Tv + 1)$:
            [MASK] is 0, topic $t$ has the words $(t-1)v + 1$ to $tv$, and $\mathbf{W}^V_{ij}$ says what seeing token $j$ adds to the prediction of token $i$.
        """,
        stub='''
            def translate_values(matrix, num_topics, words_per_topic):
                """The value matrix in this course's conventions; shape (T v + 1, T v + 1)."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def translate_values(matrix, num_topics, words_per_topic):
                T, v = num_topics, words_per_topic
                topic, place = np.divmod(np.arange(T * v), v)
                theirs = np.append({{mask}}, {{number}})  # their number of each of our tokens
                return matrix[np.ix_(theirs, theirs)]{{entry}}
        """,
        alternative="""
            import numpy as np

            def translate_values(matrix, num_topics, words_per_topic):
                T, v = num_topics, words_per_topic
                result = np.zeros((T * v + 1, T * v + 1))
                number = {0: {{mask}}}
                for topic in range(T):
                    for place in range(v):
                        number[topic * v + place + 1] = {{number}}
                for i, x in number.items():
                    for j, y in number.items():
                        result[i, j] = matrix[x, y]
                return result{{entry}}
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def translate_values(matrix, num_topics, words_per_topic):
                    T, v = num_topics, words_per_topic
                    topic, place = np.divmod(np.arange(T * v), v)
                    theirs = np.append({{mask}}, {{number}})
                    return matrix[np.ix_(theirs, theirs)]{{entry}}.T
                """,
                "transposed",
            ),
            Wrong(
                """
                import numpy as np

                def translate_values(matrix, num_topics, words_per_topic):
                    T, v = num_topics, words_per_topic
                    topic, place = np.divmod(np.arange(T * v), v)
                    theirs = np.append(0 if {{mask}} else T * v, {{number}} + (1 if {{mask}} else -1))
                    return matrix[np.ix_(theirs, theirs)]{{entry}}
                """,
                "mask-misplaced",
            ),
            Wrong(
                """
                import numpy as np

                def translate_values(matrix, num_topics, words_per_topic):
                    T, v = num_topics, words_per_topic
                    topic, place = np.divmod(np.arange(T * v), v)
                    theirs = np.append({{mask}}, topic * v + place + (0 if {{mask}} else 1))
                    return matrix[np.ix_(theirs, theirs)]{{entry}}
                """,
                "order-kept",
            ),
            Wrong(
                """
                import numpy as np

                def translate_values(matrix, num_topics, words_per_topic):
                    T, v = num_topics, words_per_topic
                    topic, place = np.divmod(np.arange(T * v), v)
                    theirs = np.append({{mask}}, {{number}})
                    theirs = np.argsort(theirs)
                    return matrix[np.ix_(theirs, theirs)]{{entry}}
                """,
                "inverse",
            ),
            Wrong(
                """
                import numpy as np

                def translate_values(matrix, num_topics, words_per_topic):
                    T, v = num_topics, words_per_topic
                    topic, place = np.divmod(np.arange(T * v), v)
                    theirs = np.append({{mask}}, {{number}})
                    matrix = matrix * (np.arange(T * v + 1) != {{mask}})
                    return matrix[np.ix_(theirs, theirs)]{{entry}}
                """,
                "mask-lost",
            ),
        ),
        hidden=_hidden_translate,
        graded=True,
        explanation=r"""
            Make a list of *their* number for each of *our* tokens, and look rows and columns up in it. The list in the other direction, our number for each of theirs, scrambles the matrix: it would be right for writing into the result, and
            is wrong for reading from the matrix. {{last}}
        """,
        variants=(
            Variant(
                {"library": "input first, [MASK] last"},
                {
                    "conventions": "Its words have the numbers 0 to $Tv - 1$: the first words of all topics come first, in the order of the topics, then the second words of all topics, and so on. [MASK] has the number $Tv$. Rows are the token that is seen, columns the word that is predicted",
                    "mask": "T * v",
                    "number": "place * T + topic",
                    "entry": ".T",
                    "last": "Rows and columns change places at the end.",
                },
            ),
            Variant(
                {"library": "[MASK] first, input first"},
                {
                    "conventions": "[MASK] has the number 0 and the words have 1 to $Tv$: the first words of all topics come first, in the order of the topics, then the second words of all topics, and so on. Rows are the token that is seen, columns the word that is predicted",
                    "mask": "0",
                    "number": "place * T + topic + 1",
                    "entry": ".T",
                    "last": "Rows and columns change places at the end.",
                },
            ),
            Variant(
                {"library": "[MASK] last, topics down, input first"},
                {
                    "conventions": "Its words have the numbers 0 to $Tv - 1$: topic $T$ comes first, then topic $T - 1$, down to topic 1, and inside a topic the words are in our order. [MASK] has the number $Tv$. Rows are the token that is seen, columns the word that is predicted",
                    "mask": "T * v",
                    "number": "(T - 1 - topic) * v + place",
                    "entry": ".T",
                    "last": "Rows and columns change places at the end.",
                },
            ),
            Variant(
                {"library": "[MASK] last"},
                {
                    "conventions": "Its words have the numbers 0 to $Tv - 1$: the first words of all topics come first, in the order of the topics, then the second words of all topics, and so on. [MASK] has the number $Tv$. Rows are the word that is predicted, columns the token that is seen",
                    "mask": "T * v",
                    "number": "place * T + topic",
                    "entry": ".copy()",
                    "last": "Rows and columns mean the same as ours.",
                },
            ),
        ),
    ),
]

PAPER: list[PaperExercise] = [
    PaperExercise(
        id="preface-paper-directions",
        title="columns, rows, and what they add up to",
        level="core",
        minutes=20,
        objective="telling the two conventions for attention apart",
        prerequisites=(
            "[Notation](preface.ipynb#notation)",
            "products of matrices",
        ),
        statement=r"""
            $A$ is an attention matrix in the paper's convention: not negative, $N \times N$, every column sums to 1. (a) Show that every column of $\tilde{\mathbf{X}} A$ is a probability distribution over tokens, and say in words which. (b) The *received* attention of position $i$ is the sum of row $i$. Show that the received attention of all
            positions adds up to $N$, that it may be any number from 0 to $N$ for one position, and give the $A$ for the largest. (c) Another library stores documents as rows: $\mathbf{X}' = \tilde{\mathbf{X}}^\top$, $A' = A^\top$, $\mathbf{W}' = \mathbf{W}^{V\top}$. Write its prediction $f' = f^\top$ for $f = \mathbf{W}^V \tilde{\mathbf{X}} A$ in its own symbols. (d) A reader
            takes the row $i$ of $A$ for "what position $i$ looks at". Give a matrix with $N = 2$ for which he draws exactly the wrong conclusion, and one for which he cannot go wrong.
        """,
        graded=True,
        rubric=(
            (
                2,
                "(a): entries not negative and columns summing to 1, shown with both factors (1 point); in words: how much of the attention of position j falls on each token (1 point).",
            ),
            (
                3,
                "(b): exchanges the sums to get N (1 point), bounds one row by N and by 0 (1 point), and names the matrix with one row of ones and zeros elsewhere (1 point).",
            ),
            (
                2,
                "(c): the transposed product in the right order: A' X' W'. 1 point if the order is right and one transpose is wrong.",
            ),
            (
                3,
                "(d): a 2 by 2 matrix with an explanation of the wrong conclusion (2 points), and a symmetric matrix, for which row and column agree (1 point).",
            ),
        ),
        model_answer=r"""
            (a) Entry $(k, j)$ of $\tilde{\mathbf{X}} A$ is $\sum_i \tilde{\mathbf{X}}_{ki} A_{ij} \geq 0$. Its column sum is $\sum_i \left(\sum_k \tilde{\mathbf{X}}_{ki}\right) A_{ij} = \sum_i A_{ij} = 1$, since each position holds one token. It is the share of the attention of position $j$ that falls on token $k$, all copies together.

            (b) $\sum_i \sum_j A_{ij} = \sum_j \sum_i A_{ij} = \sum_j 1 = N$. All entries are between 0 and 1, so a row sum is between 0 and $N$. If row $i$ is all ones and the rest is 0, every column sums to 1 and position $i$ receives $N$; every other position receives 0. Mixing this matrix with one that leaves $i$ out gives every
            number between.

            (c) $f' = (\mathbf{W}^V \tilde{\mathbf{X}} A)^\top = A^\top \tilde{\mathbf{X}}^\top \mathbf{W}^{V\top} = A' \mathbf{X}' \mathbf{W}'$. The rows of $A'$ sum to 1, and its first index is the position that looks.

            (d) Let $A$ have the rows $(1, 1)$ and $(0, 0)$. Both positions look at position 1. He reads: position 1 looks at both alike, position 2 at nothing. If $A$ is symmetric, for example $\frac{1}{2}$ everywhere, row $i$ equals column $i$ and he cannot go wrong.
        """,
    ),
]
