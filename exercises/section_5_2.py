"""Exercises of Section 5.2."""

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
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


def _hidden_other_penalty(answer: Answer, penalty: str = "absolute") -> None:
    for T, v, p_m, p_c, p_r in ((6, 2, 0.4, 0.3, 0.05), (3, 8, 0.1, 0.0, 0.5), (12, 3, 0.25, 0.2, 0.2)):
        true = 1 - (1 - p_c) * p_m
        c_1, c_2 = p_r / ((1 - p_c - p_r) * true * T * v), 1 / ((1 - p_c - p_r) * p_m) - 1
        u = np.linspace(-3 / v, 0.5 / v, 700_001)
        entries = [(1, -c_1 - c_2 * u), (v, 1 / (true * v) + u), ((T - 1) * v, u)]
        power = {"absolute": 1, "fourth": 4, "without": 2}[penalty]
        sizes = sum(n * np.abs(x) ** power for n, x in entries[(penalty == "without") :])
        right = [float(x[sizes.argmin()]) for _, x in entries]
        found = as_array(answer(T, v, p_m, p_c, p_r), (3,), "three values")
        expect(np.abs(found - right).max() < 1e-4 * (1 + c_2), "other-settings", "it fails in another setting.")


EXERCISES: list[Exercise] = [
    Exercise(
        id="5.2-value-blocks",
        title="a matrix with three values",
        level="warm-up",
        minutes=6,
        objective="the layout of the value matrix: who is seen, who is predicted",
        prerequisites=(
            "[Theorem 2](05_2_value_matrix.ipynb#theorem-2)",
            "NumPy's indexing",
        ),
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
        prerequisites=("[Theorem 2](05_2_value_matrix.ipynb#theorem-2)",),
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
        prerequisites=(
            "[the family of minimisers](05_2_value_matrix.ipynb#why-a-penalty-is-needed-at-all)",
            "equation D.17 ([Section 3.2](03_2_training_objective.ipynb#what-a-masked-long-document-looks-like))",
        ),
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
        graded=True,
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
        prerequisites=(
            "[the family of minimisers](05_2_value_matrix.ipynb#why-a-penalty-is-needed-at-all)",
            "eigenvectors, projections or the pseudo-inverse",
        ),
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
    Exercise(
        id="5.2-other-penalty",
        title="another penalty, another matrix",
        level="challenge",
        minutes=30,
        objective="choosing one minimiser of a family by another measure of size",
        prerequisites=(
            "[the family of minimisers](05_2_value_matrix.ipynb#why-a-penalty-is-needed-at-all)",
            "[the derivation in five lines](05_2_value_matrix.ipynb#the-derivation-in-five-lines)",
            "minimising a convex function of one number",
        ),
        function="other_penalty",
        statement=r"""
            Theorem 2's matrix is the minimiser of stage 1 with the least sum of squares. Take another measure of size: {{measure}}. Which minimiser is the smallest now? Consider those that are constant on each block between words (for this measure that is no loss).
            Return its three values for a row of a word as a tuple: the column of [MASK], same topic, different topics. The arguments are $T$, $v$, $p_m$, $p_c$ and $p_r$, as in exercise 5.2-three-values. Where the smallest is not unique nothing is asked.
        """,
        stub='''
            def other_penalty(num_topics, words_per_topic, p_m, p_c, p_r):
                """([MASK], same topic, different topics) of the minimiser that is smallest by another measure."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def other_penalty(num_topics, words_per_topic, p_m, p_c, p_r):
                true, words = 1 - (1 - p_c) * p_m, num_topics * words_per_topic
                c_1, c_2 = p_r / ((1 - p_c - p_r) * true * words), 1 / ((1 - p_c - p_r) * p_m) - 1
                mask, same = lambda u: -(c_1 + c_2 * u), lambda u: 1 / (true * words_per_topic) + u
                v, others = words_per_topic, words - words_per_topic
                size = lambda u: {{size}}
                low, high = -2 / (true * v), 1.0
                for _ in range(200):
                    third = (high - low) / 3
                    low, high = (low, high - third) if size(low + third) < size(high - third) else (low + third, high)
                u = (low + high) / 2
                return mask(u), same(u), u
        """,
        alternative="""
            import numpy as np

            def other_penalty(num_topics, words_per_topic, p_m, p_c, p_r):
                m, true = p_m * (1 - p_c - p_r), 1 - (1 - p_c) * p_m
                v, others = words_per_topic, (num_topics - 1) * words_per_topic
                c_1, c_2 = (1 - m - true) / (m * true * num_topics * v), (1 - m) / m
                mask = lambda u: -c_1 - c_2 * u
                same = lambda u: 1 / true / v + u
                size = lambda u: {{size}}
                center, width = 0.0, 2 / (true * v)
                while width > 1e-12:
                    grid = center + width * np.linspace(-1, 1, 201)
                    center, width = grid[np.argmin(size(grid))], width / 50
                return [mask(center), same(center), center]
        """,
        wrong=(
            Wrong(
                """
                def other_penalty(num_topics, words_per_topic, p_m, p_c, p_r):
                    true, words = 1 - (1 - p_c) * p_m, num_topics * words_per_topic
                    c_1, c_2 = p_r / ((1 - p_c - p_r) * true * words), 1 / ((1 - p_c - p_r) * p_m) - 1
                    c_3 = 1 / true
                    mask, same = lambda u: -(c_1 + c_2 * u), lambda u: c_3 / words_per_topic + u
                    v, others = words_per_topic, words - words_per_topic
                    size = lambda u: mask(u) ** 2 + v * same(u) ** 2 + others * u**2
                    low, high = -2 * c_3 / words_per_topic, 1.0
                    for _ in range(200):
                        third = (high - low) / 3
                        low, high = (low, high - third) if size(low + third) < size(high - third) else (low + third, high)
                    u = (low + high) / 2
                    return mask(u), same(u), u
                """,
                "theorem-2",
            ),
            Wrong(
                """
                def other_penalty(num_topics, words_per_topic, p_m, p_c, p_r):
                    true, words = 1 - (1 - p_c) * p_m, num_topics * words_per_topic
                    c_1, c_2 = p_r / ((1 - p_c - p_r) * true * words), 1 / ((1 - p_c - p_r) * p_m) - 1
                    c_3 = 1 / true
                    mask, same = lambda u: -(c_1 + c_2 * u), lambda u: c_3 / words_per_topic + u
                    v, others = words_per_topic, words - words_per_topic
                    size = lambda u: {{once}}
                    low, high = -2 * c_3 / words_per_topic, 1.0
                    for _ in range(200):
                        third = (high - low) / 3
                        low, high = (low, high - third) if size(low + third) < size(high - third) else (low + third, high)
                    u = (low + high) / 2
                    return mask(u), same(u), u
                """,
                "counted-once",
            ),
            Wrong(
                """
                def other_penalty(num_topics, words_per_topic, p_m, p_c, p_r):
                    true, words = 1 - (1 - p_c) * p_m, num_topics * words_per_topic
                    c_1, c_2 = p_r / ((1 - p_c - p_r) * true * words), 1 / ((1 - p_c - p_r) * p_m) - 1
                    c_3 = 1 / true
                    mask, same = lambda u: -(c_1 + c_2 * u), lambda u: c_3 / words_per_topic + u
                    v, others = words_per_topic, words - words_per_topic
                    size = lambda u: {{size}}
                    low, high = -2 * c_3 / words_per_topic, 1.0
                    for _ in range(200):
                        third = (high - low) / 3
                        low, high = (low, high - third) if size(low + third) < size(high - third) else (low + third, high)
                    u = (low + high) / 2
                    return -c_1, same(u), u
                """,
                "not-a-minimiser",
            ),
            Wrong(
                """
                def other_penalty(num_topics, words_per_topic, p_m, p_c, p_r):
                    true, words = 1 - (1 - p_c) * p_m, num_topics * words_per_topic
                    c_1, c_2 = p_r / ((1 - p_c - p_r) * true * words), 1 / ((1 - p_c - p_r) * p_m) - 1
                    c_3 = 1 / true
                    mask, same = lambda u: -(c_1 + c_2 * u), lambda u: c_3 / words_per_topic + u
                    v, others = words_per_topic, words - words_per_topic
                    size = lambda u: {{size}}
                    low, high = -2 * c_3 / words_per_topic, 1.0
                    for _ in range(200):
                        third = (high - low) / 3
                        low, high = (low, high - third) if size(low + third) < size(high - third) else (low + third, high)
                    u = (low + high) / 2
                    return mask(u), u, same(u)
                """,
                "order",
            ),
            Wrong(
                """
                def other_penalty(num_topics, words_per_topic, p_m, p_c, p_r):
                    true, words = 1 - (1 - p_c) * p_m, num_topics * words_per_topic
                    c_1, c_2 = p_r / ((1 - p_c - p_r) * true * words), 1 / ((1 - p_c - p_r) * p_m) - 1
                    c_3 = 1
                    mask, same = lambda u: -(c_1 + c_2 * u), lambda u: c_3 / words_per_topic + u
                    v, others = words_per_topic, words - words_per_topic
                    size = lambda u: {{size}}
                    low, high = -2 * c_3 / words_per_topic, 1.0
                    for _ in range(200):
                        third = (high - low) / 3
                        low, high = (low, high - third) if size(low + third) < size(high - third) else (low + third, high)
                    u = (low + high) / 2
                    return mask(u), same(u), u
                """,
                "no-boost",
            ),
            Wrong(
                """
                def other_penalty(num_topics, words_per_topic, p_m, p_c, p_r):
                    true, words = 1 - (1 - p_c) * p_m, num_topics * words_per_topic
                    c_1, c_2 = p_r / ((1 - p_c - p_r) * true * words), 1 / ((1 - p_c - p_r) * p_m) - 1
                    c_3 = 1 / true
                    mask, same = lambda u: -(c_1 + c_2 * u), lambda u: c_3 / words_per_topic + u
                    v, others = words_per_topic, words - words_per_topic
                    size = lambda u: {{size}}
                    low, high = -2 * c_3 / words_per_topic, 1.0
                    for _ in range(200):
                        third = (high - low) / 3
                        low, high = (low, high - third) if size(low + third) < size(high - third) else (low + third, high)
                    u = (low + high) / 2
                    return mask(0), same(0), 0
                """,
                "no-weight-between",
            ),
            Wrong(
                """
                def other_penalty(num_topics, words_per_topic, p_m, p_c, p_r):
                    true, words = 1 - (1 - p_c) * p_m, num_topics * words_per_topic
                    c_1, c_2 = p_r / ((1 - p_c - p_r) * true * words), 1 / ((1 - p_c - p_r) * p_m) - 1
                    c_3 = 1 / true
                    mask, same = lambda u: -(c_1 + c_2 * u), lambda u: c_3 / words_per_topic + u
                    v, others = words_per_topic, words - words_per_topic
                    size = lambda u: {{size}}
                    low, high = -2 * c_3 / words_per_topic, 1.0
                    for _ in range(200):
                        third = (high - low) / 3
                        low, high = (low, high - third) if size(low + third) < size(high - third) else (low + third, high)
                    u = (low + high) / 2
                    return -mask(u), same(u), u
                """,
                "mask-sign",
            ),
        ),
        hidden=_hidden_other_penalty,
        graded=True,
        explanation=r"""
            A row of the family is left with one number $u$: its values are $-(c_1 + c_2 u)$ once, $\frac{c_3}{v} + u$ for $v$ words and $u$ for $(T - 1) v$ words. The size is a convex function of $u$. {{why}}
        """,
        variants=(
            Variant(
                {"penalty": "absolute"},
                {
                    "measure": "the sum of the absolute values of all entries",
                    "size": "abs(mask(u)) + v * abs(same(u)) + others * abs(u)",
                    "once": "abs(mask(u)) + abs(same(u)) + abs(u)",
                    "why": "The sum of absolute values has kinks at $u = 0$ and at $u = -c_1/c_2$, and one of them is the minimum. Going down from zero each unit of $u$ costs $(T - 1) v$ between topics and saves $c_2$ at [MASK] and $v$ inside the block. So for $c_2 < (T - 2) v$ all entries between topics are exactly zero, and otherwise the column of [MASK] is.",
                },
            ),
            Variant(
                {"penalty": "fourth"},
                {
                    "measure": "the sum of the fourth powers of all entries",
                    "size": "mask(u) ** 4 + v * same(u) ** 4 + others * u**4",
                    "once": "mask(u) ** 4 + same(u) ** 4 + u**4",
                    "why": "The sum of fourth powers is strictly convex, and its derivative is a cubic with one real root. Large entries are punished more than by squares, so the block and the column of [MASK] are lowered at the expense of the many small entries.",
                },
            ),
            Variant(
                {"penalty": "without"},
                {
                    "measure": "the sum of the squares of all entries except those in the column of [MASK], which are free",
                    "size": "v * same(u) ** 2 + others * u**2",
                    "once": "same(u) ** 2 + u**2",
                    "why": "With the column of [MASK] free, the parabola is least at $u = -c_3/(Tv)$: between words only the difference between topics stays, $\\frac{1}{av} (1 - \\frac{1}{T})$ inside a block and $-\\frac{1}{aTv}$ outside, and the column of [MASK] makes the whole mean, $\\frac{1}{m T v}$. It does the work of a bias.",
                },
            ),
        ),
    ),
]

PAPER: list[PaperExercise] = [
    PaperExercise(
        id="5.2-paper-symmetry",
        title="three values without a formula",
        level="core",
        minutes=30,
        objective="what uniqueness and symmetry prove without any computation",
        prerequisites=(
            "[Theorem 2](05_2_value_matrix.ipynb#theorem-2)",
            "strictly convex functions",
            "permutation matrices",
        ),
        statement=r"""
            Write $L$ for the loss of stage 1 under Assumption 1, $\tau < T$, and $L_\lambda(\mathbf{W}) = L(\mathbf{W}) + \lambda \|\mathbf{W}\|_F^2$. Use no formula for the minimisers. (a) Prove that for each $\lambda > 0$ there is exactly one minimiser $\mathbf{W}_\lambda$. (b) Prove that row 0 of $\mathbf{W}_\lambda$ is zero, and that every other row
            takes at most three values: one at [MASK], one on the words of its own topic (the diagonal included), one on all other words; and that these are the same for all rows. (c) Prove that as $\lambda \to 0$, $\mathbf{W}_\lambda$ converges to the minimiser of $L$ with the least Frobenius norm.
            (d) Which step fails for documents of finite length?
        """,
        graded=True,
        rubric=(
            (1, "(a): the loss is convex, the penalty strictly convex and growing without bound: existence and uniqueness."),
            (1, "(b): row 0 alone has the target 0 (no word is ever [MASK]), so zero is best for loss and penalty."),
            (
                3,
                "(b): a permutation of words that maps topics to topics leaves distribution and norm unchanged (1 point), so the permuted minimiser is a minimiser too and equal by uniqueness (1 point); hence equal entries for pairs of words in the same relation (1 point). Only words inside a topic or only topics: 2 points.",
            ),
            (
                2,
                "(b): the diagonal: within a topic all words of x are equal, so only the sum counts, and the norm is least for equal entries (or: rows have no part in the null space).",
            ),
            (
                2,
                "(c): compares with the least-norm minimiser to bound the norm (1 point), and shows that every limit point is a minimiser of no larger norm, hence that one (1 point).",
            ),
            (1, "(d): names the diagonal step: in a finite document the words of a topic have different counts."),
        ),
        model_answer=r"""
            (a) $L$ is a mean of squared norms of expressions linear in $\mathbf{W}$, so it is convex and not negative. $\lambda \|\mathbf{W}\|_F^2$ is strictly convex and tends to infinity with $\mathbf{W}$. So $L_\lambda$ is continuous, strictly convex and tends to infinity: one minimiser.

            (b) The target is never [MASK], so row 0 enters $L_\lambda$ only as the mean of $(\mathbf{W}_{0,:} \mathbf{x})^2$ plus $\lambda$ times its squares. Zero is best. Now let $\mathbf{P}$ permute the tokens, with [MASK] fixed, such that words of one topic go to words of one topic. Choosing topics, drawing words and masking treat
            all topics alike, and all words of a topic alike. So if $(\mathbf{x}, \mathbf{y})$ is what is seen and what is hidden, $(\mathbf{P}\mathbf{x}, \mathbf{P}\mathbf{y})$ has the same distribution, and $L(\mathbf{P}^\top \mathbf{W} \mathbf{P}) = L(\mathbf{W})$. The norm does not change either. So $\mathbf{P}^\top \mathbf{W}_\lambda \mathbf{P}$ is a minimiser, and by (a)
            it is $\mathbf{W}_\lambda$. Any word can be sent to any word: the column of [MASK] is constant on the words. A pair of different words of the same topic can be sent to any other such pair, a pair of words of different topics likewise, and a word with itself to any word with itself. So the entries between words take at most three values,
            one of them on the diagonal. Under Assumption 1 all words of a topic have the same entry of $\mathbf{x}$, so $L$ depends on the entries of a row within its own topic through their sum only. With this sum fixed, the squares are least if they are all equal. So the diagonal has the value of its block.

            (c) Let $\mathbf{W}_*$ be a minimiser of $L$ with the least norm; it is unique, as the minimisers form an affine space. From $L(\mathbf{W}_\lambda) + \lambda \|\mathbf{W}_\lambda\|_F^2 \leq L(\mathbf{W}_*) + \lambda \|\mathbf{W}_*\|_F^2$ and $L(\mathbf{W}_*) \leq L(\mathbf{W}_\lambda)$ it follows that
            $\|\mathbf{W}_\lambda\|_F \leq \|\mathbf{W}_*\|_F$, and that $L(\mathbf{W}_\lambda) \to L(\mathbf{W}_*)$. The $\mathbf{W}_\lambda$ stay in a ball. Every limit point is a minimiser of $L$ with a norm of at most $\|\mathbf{W}_*\|_F$, so it is $\mathbf{W}_*$. A bounded family with one limit point converges to it.

            (d) The step about the diagonal. In a finite document two words of a topic have different counts, so $L$ sees more than the sum. The symmetry of (b) still holds, and a fourth value, on the diagonal, remains.
        """,
    ),
]
