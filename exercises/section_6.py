"""Exercises of Section 6."""

import numpy as np

from exercises.format import Exercise, Wrong
from topiclib.checks.base import Answer, as_array, close, expect


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


EXERCISES = [
    Exercise(
        id="6-standard-error",
        title="how sure is a mean?",
        level="warm-up",
        minutes=5,
        objective="to attach an uncertainty to a mean over seeds",
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
]
