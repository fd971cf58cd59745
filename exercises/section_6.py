"""Exercises of Section 6."""

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
from topiclib.checks.base import Answer, as_array, close, expect
from topiclib.checks.section_6 import exact_null


def _hidden_standard_error(answer: Answer) -> None:
    values = np.random.default_rng(61).normal(2, 3, size=25)
    found = as_array(answer(values), (), "the standard error as a single number")
    expect(close(found, values.std(ddof=1) / 5), "other-numbers", "it fails for other numbers.")


def _hidden_shuffled_words(answer: Answer) -> None:
    matrix = np.arange(49.0).reshape(7, 7)
    found = as_array(answer(matrix, np.array([5, 3, 0, 1, 4, 2])), (7, 7), "the shuffled matrix")
    order = [0, 6, 4, 1, 2, 5, 3]
    expect(close(found, matrix[order][:, order]), "other-orders", "it fails for another order.")


def _hidden_p_value(answer: Answer) -> None:
    found = as_array(answer(1.0, [0.5, 1.0, 2.0, -3.0, 0.0, 1.5, 1.0]), (), "the p-value as a single number")
    expect(close(found, 5 / 8), "other-numbers", "it fails for other numbers.")


def _hidden_null_spread(answer: Answer, asked: str = "contrast") -> None:
    # One pair of words in a hundred: the same-topic sum is the entry or zero.
    matrix = np.zeros((101, 101))
    matrix[12, 15], matrix[13, 99] = 3.0, 0.0
    found = float(as_array(answer(matrix, 10), (), "one number"))
    shared = 9 / 99
    spread = 3 * (shared * (1 - shared)) ** 0.5 * (1 / 900 + 1 / 9000)
    values = {"contrast": spread, "same-topic mean": spread / 1.1, "standard score": 3 / 900 / spread}
    expect(abs(found / values[asked] - 1) < 1e-4, "a-hundred-words", "it fails for a hundred words.")
    words = np.random.default_rng(66).normal(size=(10, 10)) ** 2
    found = float(as_array(answer(words, 3), (), "one number"))
    expect(abs(found / exact_null(words, 3)[asked] - 1) < 1e-4, "other-matrix", "it fails for another matrix.")


EXERCISES = [
    Exercise(
        id="6-standard-error",
        title="how sure is a mean?",
        level="warm-up",
        minutes=5,
        objective="to attach an uncertainty to a mean over seeds",
        prerequisites=(
            "standard deviation and variance",
            "[the spread over seeds](06_experiments.ipynb#a-number-and-its-spread)",
        ),
        function="standard_error",
        statement=r"""
            `values` are the results of $n \ge 2$ runs with different seeds. Return the standard error of their mean: the sample
            standard deviation (which divides by $n - 1$, as the mean was estimated from the same runs) over the square root of $n$.
        """,
        stub='''
            def standard_error(values):
                """Standard error of the mean of a sequence of numbers."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def standard_error(values):
                values = np.asarray(values, dtype=float)
                return values.std(ddof=1) / np.sqrt(len(values))
        """,
        alternative="""
            def standard_error(values):
                n = len(values)
                mean = sum(values) / n
                return (sum((x - mean) ** 2 for x in values) / (n * (n - 1))) ** 0.5
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def standard_error(values):
                    return np.std(values) / np.sqrt(len(values))
                """,
                "divides-by-n",
            ),
            Wrong(
                """
                import numpy as np

                def standard_error(values):
                    return np.std(values, ddof=1)
                """,
                "of-one-run",
            ),
            Wrong(
                """
                import numpy as np

                def standard_error(values):
                    return np.var(values, ddof=1) / len(values)
                """,
                "squared",
            ),
            Wrong(
                """
                import numpy as np

                def standard_error(values):
                    return np.std(values, ddof=1) / len(values)
                """,
                "no-square-root",
            ),
        ),
        hidden=_hidden_standard_error,
        explanation=r"""
            The variance of a mean of $n$ independent numbers is their variance over $n$. The sample variance divides by $n - 1$,
            because the deviations are taken from the mean of the same numbers, which lies closer to them than the true one.
        """,
    ),
    Exercise(
        id="6-shuffled-words",
        title="the same matrix with its words shuffled",
        level="core",
        minutes=10,
        objective="to build the null of a permutation test",
        prerequisites=(
            "permutations as index arrays",
            "[shuffling the words](06_experiments.ipynb#what-if-there-were-nothing-to-see)",
        ),
        function="shuffle_words",
        statement=r"""
            `matrix` is $(V, V)$ with row and column 0 for [MASK], and `order` is a permutation of $0, \dots, Tv - 1$ (word $i$ has
            place $i - 1$ in it). Return the matrix in which place $k$ of the words, row and column, is taken by the word at place
            `order[k]`. [MASK] stays where it is.
        """,
        stub='''
            def shuffle_words(matrix, order):
                """The (V, V) matrix with its words in another order, [MASK] first as before."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def shuffle_words(matrix, order):
                places = np.concatenate([[0], np.asarray(order) + 1])
                return np.asarray(matrix)[np.ix_(places, places)]
        """,
        alternative="""
            import numpy as np

            def shuffle_words(matrix, order):
                size = len(order) + 1
                permute = np.zeros((size, size))
                permute[0, 0] = 1
                for k, word in enumerate(order):
                    permute[k + 1, word + 1] = 1
                return permute @ np.asarray(matrix) @ permute.T
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def shuffle_words(matrix, order):
                    places = np.concatenate([[0], np.asarray(order) + 1])
                    return np.asarray(matrix)[places]
                """,
                "rows-only",
            ),
            Wrong(
                """
                import numpy as np

                def shuffle_words(matrix, order):
                    places = np.concatenate([[0], np.argsort(order) + 1])
                    return np.asarray(matrix)[np.ix_(places, places)]
                """,
                "inverse",
            ),
            Wrong(
                """
                import numpy as np

                def shuffle_words(matrix, order):
                    places = np.concatenate([np.asarray(order), [len(order)]])
                    return np.asarray(matrix)[np.ix_(places, places)]
                """,
                "mask-moved",
            ),
            Wrong(
                """
                import numpy as np

                def shuffle_words(matrix, order):
                    places = np.concatenate([[0], np.asarray(order)])
                    return np.asarray(matrix)[np.ix_(places, places)]
                """,
                "off-by-one",
            ),
            Wrong(
                """
                import numpy as np

                def shuffle_words(matrix, order):
                    found, places = np.array(matrix), np.asarray(order) + 1
                    found[1:, 1:] = found[np.ix_(places, places)]
                    return found
                """,
                "pairs",
            ),
        ),
        hidden=_hidden_shuffled_words,
        explanation=r"""
            Rows and columns of a word move together, so the diagonal stays the diagonal and only the assignment of words to blocks
            changes. That is the hypothesis of the test: the topics mean nothing to the matrix.
        """,
    ),
    Exercise(
        id="6-p-value",
        title="the p-value of a permutation test",
        level="core",
        minutes=10,
        objective="to turn shuffles into a probability that is never zero",
        prerequisites=("[the permutation test](06_experiments.ipynb#what-if-there-were-nothing-to-see)",),
        graded=True,
        function="p_value",
        statement=r"""
            `observed` is the contrast of a matrix and `shuffled` those of $n$ random shuffles. Return the one-sided p-value of the
            permutation test: how probable a contrast at least as large is if all $n + 1$ orders, the observed one among them, are equally
            likely.
        """,
        stub='''
            def p_value(observed, shuffled):
                """Fraction of the n + 1 orders with a contrast of at least the observed one."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def p_value(observed, shuffled):
                at_least = np.sum(np.asarray(shuffled) >= observed)
                return (1 + at_least) / (1 + len(shuffled))
        """,
        alternative="""
            def p_value(observed, shuffled):
                orders = [observed, *shuffled]
                return sum(x >= observed for x in orders) / len(orders)
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def p_value(observed, shuffled):
                    return np.mean(np.asarray(shuffled) >= observed)
                """,
                "never-zero",
            ),
            Wrong(
                """
                import numpy as np

                def p_value(observed, shuffled):
                    return (1 + np.sum(np.asarray(shuffled) > observed)) / (1 + len(shuffled))
                """,
                "ties",
            ),
            Wrong(
                """
                import numpy as np

                def p_value(observed, shuffled):
                    return (1 + np.sum(np.asarray(shuffled) <= observed)) / (1 + len(shuffled))
                """,
                "wrong-tail",
            ),
            Wrong(
                """
                import numpy as np

                def p_value(observed, shuffled):
                    return (1 + np.sum(np.abs(shuffled) >= abs(observed))) / (1 + len(shuffled))
                """,
                "two-sided",
            ),
        ),
        hidden=_hidden_p_value,
        explanation=r"""
            The observed order is one of the $n + 1$ and is at least as large as itself, so the p-value is at least $1/(n + 1)$: a test
            of $n$ shuffles cannot claim more than that. Ties count against the claim.
        """,
    ),
    Exercise(
        id="6-null-spread",
        title="what all shuffles together would show",
        level="challenge",
        minutes=45,
        objective="to compute the spread of a permutation test exactly, from the chances that words share a topic",
        prerequisites=(
            "[the permutation test](06_experiments.ipynb#what-if-there-were-nothing-to-see)",
            "variance of a sum of dependent numbers",
            "counting",
        ),
        graded=True,
        function="null_spread",
        statement=r"""
            A thousand shuffles give the spread of chance to within two or three percent. All of them give it exactly, and there is a
            formula. `matrix` has shape $(Tv + 1, Tv + 1)$, need not be symmetric, and has [MASK] as row and column 0; topic $t$ has the words
            $(t - 1)v + 1$ to $tv$, with $v$ = `words_per_topic` $\geq 2$ and $T \geq 2$. The block contrast is the mean over ordered pairs of different words of one
            topic, minus the mean over ordered pairs of words of different topics; [MASK] and the diagonal do not count. If all
            assignments of the words to the topics, $v$ to each, are equally likely, the contrast has mean zero. Return
            {{asked}}. It must be exact, and quick for a hundred words, so neither draw shuffles nor list them. (How likely is it that two
            given words share a topic, that three do, that a first pair shares one and a second pair, disjoint from it, too?)
        """,
        stub="""
            def null_spread(matrix, words_per_topic):
                \"\"\"{{described}}.\"\"\"
                raise NotImplementedError("your answer")
        """,
        reference="""
            import numpy as np

            def null_spread(matrix, words_per_topic):
                words = np.array(matrix, dtype=float)[1:, 1:]
                np.fill_diagonal(words, 0)
                n, v = len(words), words_per_topic
                two = (v - 1) / (n - 1)
                three = two * (v - 2) / (n - 2)
                four = two * ((v - 2) * (v - 3) + (n - v) * (v - 1)) / ((n - 2) * (n - 3))
                even = (words + words.T) / 2
                squares, rows, total = np.sum(even**2), np.sum(even.sum(axis=0) ** 2), even.sum()
                mean_square = 2 * squares * two + 4 * (rows - squares) * three + (total**2 + 2 * squares - 4 * rows) * four
                spread_of_sum = np.sqrt(mean_square - (two * total) ** 2)
                a, b = n * (v - 1), n * (n - v)
                blocks = np.kron(np.eye(n // v), np.ones((v, v)))
                contrast = np.sum(words * blocks) / a - np.sum(words * (1 - blocks)) / b
                return {{result}}
        """,
        alternative="""
            def null_spread(matrix, words_per_topic):
                v, n = words_per_topic, len(matrix) - 1
                w = [[0 if i == j else float(matrix[i + 1][j + 1]) for j in range(n)] for i in range(n)]
                level = sum(map(sum, w)) / (n * (n - 1))
                # Without its level the sum over all pairs is zero, and so two of three terms simplify.
                m = [[0 if i == j else (w[i][j] + w[j][i]) / 2 - level for j in range(n)] for i in range(n)]
                squares = sum(x * x for row in m for x in row)
                rows = sum(sum(row) ** 2 for row in m)
                two = (v - 1) / (n - 1)
                three, four = two * (v - 2) / (n - 2), two * ((v - 2) * (v - 3) + (n - v) * (v - 1)) / ((n - 2) * (n - 3))
                variance = squares * (2 * two - 4 * three + 2 * four) + 4 * rows * (three - four)
                spread_of_sum = variance**0.5
                a, b = n * (v - 1), n * (n - v)
                same = sum(w[i][j] for i in range(n) for j in range(n) if i // v == j // v)
                contrast = same / a - (level * n * (n - 1) - same) / b
                return {{result}}
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def null_spread(matrix, words_per_topic):
                    words = np.asarray(matrix)[1:, 1:]
                    n, v = len(words), words_per_topic
                    p, p3, p4 = (v - 1) / (n - 1), (v - 1) * (v - 2) / (n - 1) / (n - 2), 0
                    p4 = p * ((v - 2) * (v - 3) + (n - v) * (v - 1)) / ((n - 2) * (n - 3))
                    m = (words + words.T) / 2
                    q, s, c = (m**2).sum(), (m.sum(axis=1) ** 2).sum(), m.sum() ** 2
                    variance = 2 * q * (p - p**2) + 4 * (s - q) * (p3 - p**2) + (c + 2 * q - 4 * s) * (p4 - p**2)
                    a, b = n * (v - 1), n * (n - v)
                    spread_of_sum = np.sqrt(variance)
                    topic = np.arange(n) // v
                    same = (topic[:, None] == topic) & ~np.eye(n, dtype=bool)
                    contrast = words[same].sum() / a - words[topic[:, None] != topic].mean()
                    return {{result}}
                """,
                "diagonal-counted",
            ),
            Wrong(
                """
                import numpy as np

                def null_spread(matrix, words_per_topic):
                    words = np.asarray(matrix) - np.diag(np.diag(matrix))
                    n, v = len(words) - 1, words_per_topic
                    p, p3, p4 = (v - 1) / (n - 1), (v - 1) * (v - 2) / (n - 1) / (n - 2), 0
                    p4 = p * ((v - 2) * (v - 3) + (n - v) * (v - 1)) / ((n - 2) * (n - 3))
                    m = (words + words.T) / 2
                    q, s, c = (m**2).sum(), (m.sum(axis=1) ** 2).sum(), m.sum() ** 2
                    variance = 2 * q * (p - p**2) + 4 * (s - q) * (p3 - p**2) + (c + 2 * q - 4 * s) * (p4 - p**2)
                    words = words[1:, 1:]
                    a, b = n * (v - 1), n * (n - v)
                    spread_of_sum = np.sqrt(variance)
                    topic = np.arange(n) // v
                    same = (topic[:, None] == topic) & ~np.eye(n, dtype=bool)
                    contrast = words[same].sum() / a - words[topic[:, None] != topic].mean()
                    return {{result}}
                """,
                "mask-counted",
            ),
            Wrong(
                """
                import numpy as np

                def null_spread(matrix, words_per_topic):
                    words = np.asarray(matrix)[1:, 1:] - np.diag(np.diag(matrix)[1:])
                    n, v = len(words), words_per_topic
                    p, p3, p4 = (v - 1) / (n - 1), (v - 1) * (v - 2) / (n - 1) / (n - 2), 0
                    p4 = p * ((v - 2) * (v - 3) + (n - v) * (v - 1)) / ((n - 2) * (n - 3))
                    m = words
                    q, s, c = (m**2).sum(), (m.sum(axis=1) ** 2).sum(), m.sum() ** 2
                    variance = 2 * q * (p - p**2) + 4 * (s - q) * (p3 - p**2) + (c + 2 * q - 4 * s) * (p4 - p**2)
                    a, b = n * (v - 1), n * (n - v)
                    spread_of_sum = np.sqrt(variance)
                    topic = np.arange(n) // v
                    same = (topic[:, None] == topic) & ~np.eye(n, dtype=bool)
                    contrast = words[same].sum() / a - words[topic[:, None] != topic].mean()
                    return {{result}}
                """,
                "two-directions",
            ),
            Wrong(
                """
                import numpy as np

                def null_spread(matrix, words_per_topic):
                    words = np.asarray(matrix)[1:, 1:] - np.diag(np.diag(matrix)[1:])
                    n, v = len(words), words_per_topic
                    p, p3, p4 = (v - 1) / (n - 1), (v - 1) * (v - 2) / (n - 1) / (n - 2), 0
                    p4 = p * ((v - 2) * (v - 3) + (n - v) * (v - 1)) / ((n - 2) * (n - 3))
                    m = (words + words.T) / 2
                    q, s = (m**2).sum(), (m.sum(axis=1) ** 2).sum()
                    variance = 2 * q * (p - p**2) + 4 * (s - q) * (p3 - p**2)
                    a, b = n * (v - 1), n * (n - v)
                    spread_of_sum = np.sqrt(abs(variance))
                    topic = np.arange(n) // v
                    same = (topic[:, None] == topic) & ~np.eye(n, dtype=bool)
                    contrast = words[same].sum() / a - words[topic[:, None] != topic].mean()
                    return {{result}}
                """,
                "shared-words-only",
            ),
            Wrong(
                """
                import numpy as np

                def null_spread(matrix, words_per_topic):
                    words = np.asarray(matrix)[1:, 1:] - np.diag(np.diag(matrix)[1:])
                    n, v = len(words), words_per_topic
                    p, p3, p4 = (v - 1) / (n - 1), (v - 1) * (v - 2) / (n - 1) / (n - 2), 0
                    p4 = p * ((v - 2) * (v - 3) + (n - v) * (v - 1)) / ((n - 2) * (n - 3))
                    m = (words + words.T) / 2
                    variance = 2 * (m**2).sum() * (p - p**2)
                    a, b = n * (v - 1), n * (n - v)
                    spread_of_sum = np.sqrt(variance)
                    topic = np.arange(n) // v
                    same = (topic[:, None] == topic) & ~np.eye(n, dtype=bool)
                    contrast = words[same].sum() / a - words[topic[:, None] != topic].mean()
                    return {{result}}
                """,
                "not-independent",
            ),
            Wrong(
                """
                import numpy as np

                def null_spread(matrix, words_per_topic):
                    words = np.asarray(matrix)[1:, 1:] - np.diag(np.diag(matrix)[1:])
                    n, v = len(words), words_per_topic
                    p, p3, p4 = (v - 1) / (n - 1), (v - 1) * (v - 2) / (n - 1) / (n - 2), 0
                    p4 = p * ((v - 2) * (v - 3) + (n - v) * (v - 1)) / ((n - 2) * (n - 3))
                    m = (words + words.T) / 2
                    q, s, c = (m**2).sum(), (m.sum(axis=1) ** 2).sum(), m.sum() ** 2
                    variance = 2 * q * (p - p**2) + 4 * (s - q) * (p3 - p**2) + (c + 2 * q - 4 * s) * (p4 - p**2)
                    a, b = n * (v - 1), n * (n - v)
                    spread_of_sum = variance
                    topic = np.arange(n) // v
                    same = (topic[:, None] == topic) & ~np.eye(n, dtype=bool)
                    contrast = words[same].sum() / a - words[topic[:, None] != topic].mean()
                    return {{result}}
                """,
                "not-a-spread",
            ),
            Wrong(
                """
                import numpy as np

                def null_spread(matrix, words_per_topic):
                    rng = np.random.default_rng(0)
                    words = np.asarray(matrix)[1:, 1:]
                    n, v = len(words), words_per_topic
                    topic = np.arange(n) // v
                    a, b = n * (v - 1), n * (n - v)
                    sums, off = [], ~np.eye(n, dtype=bool)
                    for k in range(4000):
                        label = rng.permutation(topic) if k else topic
                        sums.append(words[(label[:, None] == label) & off].sum())
                    spread_of_sum = np.std(sums)
                    contrast = sums[0] / a - (words[off].sum() - sums[0]) / b
                    return {{result}}
                """,
                "not-exact",
            ),
        ),
        hidden=_hidden_null_spread,
        variants=(
            Variant(
                {"asked": "contrast"},
                {
                    "asked": "the standard deviation of the contrast over all of them",
                    "described": "Standard deviation of the block contrast over all assignments of the words to topics",
                    "result": "spread_of_sum * (1 / a + 1 / b)",
                },
            ),
            Variant(
                {"asked": "same-topic mean"},
                {
                    "asked": "the standard deviation, over all of them, of the first of the two means alone",
                    "described": "Standard deviation of the same-topic mean over all assignments of the words to topics",
                    "result": "spread_of_sum / a",
                },
            ),
            Variant(
                {"asked": "standard score"},
                {
                    "asked": "the contrast of the given assignment in units of the standard deviation of the contrast over all of them",
                    "described": "The block contrast, divided by its standard deviation over all assignments of the words to topics",
                    "result": "contrast / (spread_of_sum * (1 / a + 1 / b))",
                },
            ),
        ),
        explanation=r"""
            The sum over all pairs does not depend on the assignment, so only the same-topic sum $S$ is random. Let $X_{ij}$ be one if $i$ and $j$ share a
            topic, and $M$ the symmetric part of the matrix without its diagonal: $S = \sum M_{ij} X_{ij}$. In $\mathbb{E}[S^2]$ two ordered pairs can have
            both words in common (in two orders), one word (in four ways), or none. The chances that both pairs share their topic are
            $p_2 = \frac{v-1}{n-1}$, $p_3 = p_2 \frac{v-2}{n-2}$ and $p_4 = p_2 \frac{(v-2)(v-3) + (n-v)(v-1)}{(n-2)(n-3)}$ with $n = Tv$. Count the products
            by sums of squares, of squared row sums, and the squared total. Disjoint pairs are not independent either: topics have
            a fixed size.
        """,
    ),
]

PAPER = [
    PaperExercise(
        id="6-paper-valid-p",
        title="why one is added above and below",
        level="core",
        minutes=20,
        objective="to prove that a permutation test keeps its promise, and to name what the promise rests on",
        prerequisites=(
            "[the permutation test](06_experiments.ipynb#what-if-there-were-nothing-to-see)",
            "symmetry arguments in probability",
        ),
        graded=True,
        statement=r"""
            Let $x_0$ be the observed contrast, $x_1, \dots, x_n$ those of $n$ random shuffles, and
            $p = \frac{1 + \#\{k \geq 1 : x_k \geq x_0\}}{n + 1}$. A test at level $c$ says "there is structure" if $p \leq c$.

            1. Assume that the topics mean nothing, in this sense: $x_0, \dots, x_n$ are *exchangeable*, that is, every order of them is equally likely. Prove
               $P(p \leq c) \leq c$ for every $c$ between 0 and 1. Your proof must allow ties.
            2. Show by an example that the same is false for $p' = \frac{1}{n} \#\{k \geq 1 : x_k \geq x_0\}$.
            3. Somebody looks at ten snapshots of a run and reports the smallest of their ten p-values. Is the promise of part 1 kept? Give a bound that is.
        """,
        rubric=(
            (
                2,
                "Part 1: sees that p times n + 1 is the rank of x_0 among all n + 1 values, counted from the largest with ties against it (x_0 itself included).",
            ),
            (
                2,
                "Part 1: by exchangeability each of the n + 1 values is as likely as x_0 to have a rank of at most m, so the probability is the expected number of such values over n + 1.",
            ),
            (
                2,
                "Part 1: at most m of the values can have rank at most m, also with ties; with m the integer part of c (n + 1) this gives the claim. One point if ties are not dealt with.",
            ),
            (
                2,
                "Part 2: an example that fails, such as c = 0, or any c < 1/(n+1): p' = 0 happens with probability 1/(n+1) without ties. The probability must be stated and compared with c.",
            ),
            (
                2,
                "Part 3: no, because there are ten chances for a small value; with ten times the level as the bound (union bound), or ten times the smallest p-value. One point for no with a reason but no bound.",
            ),
        ),
        model_answer=r"""
            1. For $k = 0, \dots, n$ let $R_k = \#\{l : x_l \geq x_k\}$, over all $n + 1$ values, so that $R_k$ counts $x_k$ itself. Then $p = R_0/(n + 1)$. Let $m$ be the
            integer part of $c(n + 1)$; $p \leq c$ means $R_0 \leq m$. By exchangeability $P(R_k \leq m)$ is the same for all $k$, so
            $P(R_0 \leq m) = \frac{1}{n+1} \mathbb{E}[\#\{k : R_k \leq m\}]$. At most $m$ of the values can have $R_k \leq m$: take the smallest value among those that do. All of them
            are at least as large, so they are all counted in its $R_k$, which is at most $m$. (Ties are no exception, as they are counted too.) So the probability is at most
            $\frac{m}{n+1} \leq c$.

            2. Without ties the largest of the $n + 1$ values is $x_0$ with probability $\frac{1}{n+1}$, and then $p' = 0$. So $P(p' \leq 0) = \frac{1}{n+1} > 0$: at level $c = 0$, or any
            $c < \frac{1}{n+1}$, the test speaks up with a probability above $c$.

            3. No. Each of the ten p-values is at most $c$ with probability up to $c$, and the smallest is if any of them is. That can be nearly ten times as likely: it is
            $1 - (1 - c)^{10}$ if they are independent and each reaches $c$ exactly. Whatever their dependence, the union bound gives $P(\min_k p_k \leq c) \leq 10c$. So ten times the smallest p-value may be
            reported, or one snapshot is chosen before looking.
        """,
    ),
]
