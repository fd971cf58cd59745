"""Exercises of Section 5.2."""

import numpy as np

from exercises.format import Exercise, Wrong
from topiclib.checks.base import Answer, as_array, close, expect
from topiclib.checks.section_5_2 import documents_of, exact_family
from topiclib.theory import theorem2

OTHER = {"num_topics": 5, "words_per_topic": 2, "p_m": 0.4, "p_c": 0.3, "p_r": 0.25}


def _hidden_value_blocks(answer: Answer) -> None:
    w = as_array(answer(4, 3, 0.05, 0.11, -0.01), (13, 13), "the value matrix")
    wanted = np.pad(np.kron(np.eye(4), np.full((3, 3), 0.12)) - 0.01, ((1, 0), (1, 0)))
    wanted[1:, 0] = 0.05
    expect(close(w, wanted), "other-sizes", "it fails for other sizes.")


def _hidden_three_values(answer: Answer) -> None:
    exact = theorem2(**OTHER)
    got = as_array(answer(**OTHER), (3,), "the three values")
    expect(close(got, (exact.mask_column, exact.same_topic, exact.different_topic), 1e-4), "other-setting", "it fails elsewhere.")


def _hidden_one_speaker(answer: Answer) -> None:
    seen, true = documents_of(OTHER, 3)
    w = as_array(answer(**OTHER), (11, 11), "the value matrix")
    expect(close(seen @ w.T, true, 1e-4) and close(w[:, 2::2], 0), "other-setting", "it fails for another setting.")


def _hidden_smallest(answer: Answer) -> None:
    second, start, wanted = exact_family(OTHER)
    expect(
        close(as_array(answer(start, second), start.shape, "a value matrix"), wanted, 1e-4), "other-setting", "it fails elsewhere."
    )


EXERCISES: list[Exercise] = [
    Exercise(
        id="5.2-value-blocks",
        title="a matrix with three values",
        level="warm-up",
        minutes=6,
        objective="the layout of the value matrix: who is seen, who is predicted",
        function="block_matrix",
        statement=r"""
            Build the matrix of Theorem 2 from its three values. Return an array of shape $(Tv + 1, Tv + 1)$: row 0 zero, column 0
            (from row 1 on) `mask_column`, and between words `same_topic` or `different_topic`. Words 1 to $v$ are topic 1, the
            next $v$ are topic 2, and so on.
        """,
        stub='''
            def block_matrix(num_topics, words_per_topic, mask_column, same_topic, different_topic):
                """The value matrix of Theorem 2; row: predicted word, column: seen token."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def block_matrix(num_topics, words_per_topic, mask_column, same_topic, different_topic):
                topic = np.arange(num_topics * words_per_topic) // words_per_topic
                w = np.zeros((len(topic) + 1, len(topic) + 1))
                w[1:, 0] = mask_column
                w[1:, 1:] = np.where(topic[:, None] == topic, same_topic, different_topic)
                return w
        """,
        alternative="""
            def block_matrix(num_topics, words_per_topic, mask_column, same_topic, different_topic):
                size = num_topics * words_per_topic + 1
                rows = [[0.0] * size]
                for i in range(1, size):
                    row = [mask_column]
                    for l in range(1, size):
                        same = -(-i // words_per_topic) == -(-l // words_per_topic)
                        row.append(same_topic if same else different_topic)
                    rows.append(row)
                return rows
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def block_matrix(num_topics, words_per_topic, mask_column, same_topic, different_topic):
                    topic = np.arange(num_topics * words_per_topic) // words_per_topic
                    w = np.zeros((len(topic) + 1, len(topic) + 1))
                    w[0, 1:] = mask_column
                    w[1:, 1:] = np.where(topic[:, None] == topic, same_topic, different_topic)
                    return w
                """,
                "row-and-column-swapped",
            ),
            Wrong(
                """
                import numpy as np

                def block_matrix(num_topics, words_per_topic, mask_column, same_topic, different_topic):
                    topic = np.arange(num_topics * words_per_topic) // words_per_topic
                    w = np.zeros((len(topic) + 1, len(topic) + 1))
                    w[:, 0] = mask_column
                    w[1:, 1:] = np.where(topic[:, None] == topic, same_topic, different_topic)
                    return w
                """,
                "mask-row-not-zero",
            ),
            Wrong(
                """
                import numpy as np

                def block_matrix(num_topics, words_per_topic, mask_column, same_topic, different_topic):
                    token = np.arange(num_topics * words_per_topic + 1)
                    topic = token // words_per_topic
                    w = np.where(topic[:, None] == topic, same_topic, different_topic) * 1.0
                    w[:, 0] = mask_column
                    w[0] = 0
                    return w
                """,
                "shifted",
            ),
            Wrong(
                """
                import numpy as np

                def block_matrix(num_topics, words_per_topic, mask_column, same_topic, different_topic):
                    n = num_topics * words_per_topic
                    w = np.full((n + 1, n + 1), different_topic * 1.0)
                    np.fill_diagonal(w, same_topic)
                    w[:, 0] = mask_column
                    w[0] = 0
                    return w
                """,
                "diagonal-only",
            ),
            Wrong(
                """
                import numpy as np

                def block_matrix(num_topics, words_per_topic, mask_column, same_topic, different_topic):
                    topic = np.arange(num_topics * words_per_topic) % num_topics
                    w = np.zeros((len(topic) + 1, len(topic) + 1))
                    w[1:, 0] = mask_column
                    w[1:, 1:] = np.where(topic[:, None] == topic, same_topic, different_topic)
                    return w
                """,
                "interleaved",
            ),
        ),
        hidden=_hidden_value_blocks,
        explanation=r"""
            Row $i$ belongs to the predicted word, column $l$ to the token that is seen. [MASK] is seen, so it has a column of
            weights; it is never predicted, so its row is zero.
        """,
    ),
    Exercise(
        id="5.2-three-values",
        title="from masking probabilities to the three values",
        level="core",
        minutes=8,
        objective="the constants of Theorem 2, and what each undoes",
        function="optimal_values",
        statement=r"""
            Return the three values of Theorem 2 as a tuple: $\mathbf{W}^{V*}_{i0}$ (the column of [MASK]),
            $\mathbf{W}^{V*}_{\text{same-topic}}$, $\mathbf{W}^{V*}_{\text{diff-topic}}$, in this order. The arguments are $T$, $v$,
            $p_m$, $p_c$ and $p_r$.
        """,
        stub='''
            def optimal_values(num_topics, words_per_topic, p_m, p_c, p_r):
                """(column of [MASK], same topic, different topics): the values of the smallest minimiser."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def optimal_values(num_topics, words_per_topic, p_m, p_c, p_r):
                words = num_topics * words_per_topic
                c_1 = p_r / ((1 - p_c - p_r) * (1 - (1 - p_c) * p_m) * words)
                c_2 = 1 / ((1 - p_c - p_r) * p_m) - 1
                c_3 = 1 / (1 - (1 - p_c) * p_m)
                different = -(c_1 * c_2 + c_3) / (c_2**2 + words)
                mask = (c_2 * c_3 - c_1 * words) / (c_2**2 + words)
                return mask, different + c_3 / words_per_topic, different
        """,
        alternative="""
            import numpy as np

            def optimal_values(num_topics, words_per_topic, p_m, p_c, p_r):
                m, a = p_m * (1 - p_c - p_r), 1 - (1 - p_c) * p_m
                words = num_topics * words_per_topic
                scale = (1 - m) ** 2 + words * m**2
                mean = (1 - m) / (words * scale)
                return np.array([m / scale, mean + (1 - 1 / num_topics) / (a * words_per_topic), mean - 1 / (a * words)])
        """,
        wrong=(
            Wrong(
                """
                def optimal_values(num_topics, words_per_topic, p_m, p_c, p_r):
                    words = num_topics * words_per_topic
                    c_1 = p_r / ((1 - p_c - p_r) * (1 - (1 - p_c) * p_m) * words)
                    c_2 = 1 / ((1 - p_c - p_r) * p_m) - 1
                    c_3 = 1 / (1 - (1 - p_c) * p_m)
                    different = -(c_1 * c_2 + c_3) / (c_2**2 + words)
                    return (c_2 * c_3 - c_1 * words) / (c_2**2 + words), different + c_3, different
                """,
                "boost-not-shared",
            ),
            Wrong(
                """
                def optimal_values(num_topics, words_per_topic, p_m, p_c, p_r):
                    words = num_topics * words_per_topic
                    c_1 = p_r / ((1 - p_c - p_r) * (1 - (1 - p_c) * p_m) * words)
                    c_2 = 1 / ((1 - p_c - p_r) * p_m) - 1
                    c_3 = 1 / (1 - (1 - p_c) * p_m)
                    different = (c_1 * c_2 + c_3) / (c_2**2 + words)
                    return (c_2 * c_3 - c_1 * words) / (c_2**2 + words), different + c_3 / words_per_topic, different
                """,
                "sign",
            ),
            Wrong(
                """
                def optimal_values(num_topics, words_per_topic, p_m, p_c, p_r):
                    words = num_topics * words_per_topic
                    c_1 = p_r / ((1 - p_c - p_r) * (1 - p_m) * words)
                    c_2 = 1 / ((1 - p_c - p_r) * p_m) - 1
                    c_3 = 1 / (1 - p_m)
                    different = -(c_1 * c_2 + c_3) / (c_2**2 + words)
                    return (c_2 * c_3 - c_1 * words) / (c_2**2 + words), different + c_3 / words_per_topic, different
                """,
                "kept-words-forgotten",
            ),
            Wrong(
                """
                def optimal_values(num_topics, words_per_topic, p_m, p_c, p_r):
                    words = num_topics * words_per_topic
                    c_1 = p_r / ((1 - p_c - p_r) * (1 - (1 - p_c) * p_m) * words)
                    c_2 = 1 / p_m - 1
                    c_3 = 1 / (1 - (1 - p_c) * p_m)
                    different = -(c_1 * c_2 + c_3) / (c_2**2 + words)
                    return (c_2 * c_3 - c_1 * words) / (c_2**2 + words), different + c_3 / words_per_topic, different
                """,
                "not-a-minimiser",
            ),
            Wrong(
                """
                def optimal_values(num_topics, words_per_topic, p_m, p_c, p_r):
                    words = num_topics * words_per_topic
                    c_1 = p_r / ((1 - p_c - p_r) * (1 - (1 - p_c) * p_m) * words)
                    c_3 = 1 / (1 - (1 - p_c) * p_m)
                    return -c_1, c_3 / words_per_topic, 0.0
                """,
                "not-the-smallest",
            ),
            Wrong(
                """
                def optimal_values(num_topics, words_per_topic, p_m, p_c, p_r):
                    return 0.0, 1 / words_per_topic, 0.0
                """,
                "no-boost",
            ),
        ),
        hidden=_hidden_three_values,
        explanation=r"""
            In terms of $m = p_m (1 - p_c - p_r)$, $a = 1 - (1 - p_c) p_m$ and $D = (1 - m)^2 + T v m^2$ the values are
            $\frac{m}{D}$, and $\frac{1 - m}{T v D} - \frac{1}{a T v}$ with $\frac{1}{a v}$ added inside the blocks.
        """,
    ),
    Exercise(
        id="5.2-one-speaker",
        title="another minimiser",
        level="core",
        minutes=10,
        objective="which sums the loss fixes, and what stays free without a penalty",
        function="one_speaker",
        statement=r"""
            Stage 1 without a penalty has many minimisers. Build one in which only [MASK] and the **first word of each topic** have
            weight: all other columns are zero. It must predict every infinitely long document exactly: $\mathbf{W}^V \mathbf{x}$
            is the document's own word distribution. Return an array of shape $(Tv + 1, Tv + 1)$; row: predicted word.
        """,
        stub='''
            def one_speaker(num_topics, words_per_topic, p_m, p_c, p_r):
                """A minimiser of stage 1 that reads only [MASK] and the first word of each topic."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def one_speaker(num_topics, words_per_topic, p_m, p_c, p_r):
                true, words = 1 - (1 - p_c) * p_m, num_topics * words_per_topic
                w = np.zeros((words + 1, words + 1))
                for i in range(1, words + 1):
                    w[i, (i - 1) // words_per_topic * words_per_topic + 1] = 1 / true
                w[1:, 0] = -p_r / ((1 - p_c - p_r) * true * words)
                return w
        """,
        alternative="""
            import numpy as np

            def one_speaker(num_topics, words_per_topic, p_m, p_c, p_r):
                a, m, r = 1 - (1 - p_c) * p_m, p_m * (1 - p_c - p_r), p_m * p_r
                first = np.zeros((words_per_topic, words_per_topic))
                first[:, 0] = 1 / a
                blocks = np.kron(np.eye(num_topics), first)
                column = np.full((len(blocks), 1), -(r / len(blocks)) / (a * m))
                return np.vstack([np.zeros(len(blocks) + 1), np.hstack([column, blocks])])
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def one_speaker(num_topics, words_per_topic, p_m, p_c, p_r):
                    a = 1 - (1 - p_c) * p_m
                    w = np.zeros((num_topics * words_per_topic + 1,) * 2)
                    for i in range(1, len(w)):
                        w[i, (i - 1) // words_per_topic * words_per_topic + 1] = 1 / a
                    return w
                """,
                "noise-kept",
            ),
            Wrong(
                """
                import numpy as np

                def one_speaker(num_topics, words_per_topic, p_m, p_c, p_r):
                    a = 1 - (1 - p_c) * p_m
                    w = np.zeros((num_topics * words_per_topic + 1,) * 2)
                    for i in range(1, len(w)):
                        w[i, (i - 1) // words_per_topic * words_per_topic + 1] = 1 / a
                    w[1:, 0] = -p_r / ((1 - p_c - p_r) * a)
                    return w
                """,
                "too-much-subtracted",
            ),
            Wrong(
                """
                import numpy as np

                def one_speaker(num_topics, words_per_topic, p_m, p_c, p_r):
                    w = np.zeros((num_topics * words_per_topic + 1,) * 2)
                    for i in range(1, len(w)):
                        w[i, (i - 1) // words_per_topic * words_per_topic + 1] = 1.0
                    w[1:, 0] = -p_r / ((1 - p_c - p_r) * num_topics * words_per_topic)
                    return w
                """,
                "no-boost",
            ),
            Wrong(
                """
                import numpy as np

                def one_speaker(num_topics, words_per_topic, p_m, p_c, p_r):
                    a = 1 - (1 - p_c) * p_m
                    w = np.eye(num_topics * words_per_topic + 1) / a
                    w[0, 0] = 0
                    w[1:, 0] = -p_r / ((1 - p_c - p_r) * a * num_topics * words_per_topic)
                    return w
                """,
                "other-speakers",
            ),
            Wrong(
                """
                import numpy as np

                def one_speaker(num_topics, words_per_topic, p_m, p_c, p_r):
                    a = 1 - (1 - p_c) * p_m
                    w = np.zeros((num_topics * words_per_topic + 1,) * 2)
                    for i in range(1, len(w)):
                        w[i, (i - 1) // words_per_topic * words_per_topic + 1] = 1 / (a * words_per_topic)
                    w[1:, 0] = -p_r / ((1 - p_c - p_r) * a * num_topics * words_per_topic)
                    return w
                """,
                "divided-by-v",
            ),
            Wrong(
                """
                import numpy as np

                def one_speaker(num_topics, words_per_topic, p_m, p_c, p_r):
                    a = 1 - (1 - p_c) * p_m
                    w = np.zeros((num_topics * words_per_topic + 1,) * 2)
                    for i in range(1, len(w), words_per_topic):
                        w[i, i] = 1 / a
                    w[1:, 0] = -p_r / ((1 - p_c - p_r) * a * num_topics * words_per_topic)
                    return w
                """,
                "only-speakers-predicted",
            ),
        ),
        hidden=_hidden_one_speaker,
        explanation=r"""
            In an infinitely long document the first word of a topic is as frequent as each other one, $a p_w + \frac{r}{Tv}$. So
            each word may take its prediction from that frequency alone: times $\frac{1}{a}$, minus $\frac{r}{a T v}$ by way of
            [MASK], whose share is $m$. The block sums are those of Lemma 1 with $u_i = 0$. Weight may also stand between
            topics if the column of [MASK] makes up for it ($u_i \neq 0$): the check accepts that too.
        """,
    ),
    Exercise(
        id="5.2-smallest",
        title="the smallest of all minimisers",
        level="challenge",
        minutes=15,
        objective="the limit of a vanishing penalty as a projection",
        function="smallest_minimiser",
        statement=r"""
            Given *any* minimiser `w` of stage 1 without a penalty, shape $(V, V)$, and the second moments
            `second` $= \mathbb{E}[\mathbf{x}\mathbf{x}^\top]$ of the masked documents, shape $(V, V)$, return the matrix with the least
            Frobenius norm that makes the same prediction for every document. Use no formula of Theorem 2: the two arguments
            suffice. The zero eigenvalues of `second` come out as numbers near $10^{-17}$; treat all below $10^{-10}$ as zero.
        """,
        stub='''
            def smallest_minimiser(w, second):
                """The matrix of least Frobenius norm with the predictions of ``w`` on every document."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def smallest_minimiser(w, second):
                return w @ second @ np.linalg.pinv(second, rcond=1e-10, hermitian=True)
        """,
        alternative="""
            import numpy as np

            def smallest_minimiser(w, second):
                values, vectors = np.linalg.eigh(second)
                never = vectors[:, values < 1e-10]
                return w - (w @ never) @ never.T
        """,
        wrong=(
            Wrong(
                """
                def smallest_minimiser(w, second):
                    return w
                """,
                "unchanged",
            ),
            Wrong(
                """
                import numpy as np

                def smallest_minimiser(w, second):
                    return np.linalg.pinv(second, rcond=1e-10) @ second @ w
                """,
                "wrong-side",
            ),
            Wrong(
                """
                import numpy as np

                def smallest_minimiser(w, second):
                    return w @ second @ np.linalg.inv(second + 1e-4 * np.eye(len(second)))
                """,
                "shrunk",
            ),
            Wrong(
                """
                import numpy as np

                def smallest_minimiser(w, second):
                    same = np.isclose(second[1, 1:], second[1, 1])
                    v = int(same.sum()) if same.any() else 1
                    sums = w[:, 1:].reshape(len(w), -1, v).mean(axis=2)
                    return np.hstack([w[:, :1], np.repeat(sums, v, axis=1)])
                """,
                "only-spread",
            ),
            Wrong(
                """
                def smallest_minimiser(w, second):
                    return w @ second
                """,
                "not-a-minimiser",
            ),
        ),
        hidden=_hidden_smallest,
        explanation=r"""
            A direction in which no document moves is an eigenvector of $\mathbb{E}[\mathbf{x}\mathbf{x}^\top]$ with eigenvalue zero. What a
            row of $\mathbf{W}^V$ has along it changes no prediction and adds to the norm, so it is removed: a projection of the rows,
            hence from the right. Gradient descent from zero never enters these directions, so it ends at the same matrix.
        """,
    ),
]
