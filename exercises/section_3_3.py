"""Exercises of Section 3.3."""

import numpy as np

from exercises.format import Exercise, Wrong
from topiclib.checks.base import Answer, as_array, close, expect


def _hidden_column_softmax(answer: Answer) -> None:
    scores = np.random.default_rng(4).normal(size=(5, 7))
    expected = np.exp(scores) / np.exp(scores).sum(axis=0)
    expect(close(as_array(answer(scores), (5, 7), "the weights"), expected), "other-shape", "it fails on another shape.")


EXERCISES = [
    Exercise(
        id="3.3-column-softmax",
        title="the column-wise softmax",
        level="warm-up",
        minutes=5,
        objective="the direction of the paper's softmax, and a numerically safe way to compute it",
        function="column_softmax",
        statement=r"""
            Write the softmax of equation 5: $\sigma(S)_{ij} = \exp(S_{ij}) / \sum_l \exp(S_{lj})$.
            `scores` is an array of shape (keys, queries). It must also work when scores are in the thousands.
        """,
        stub='''
            def column_softmax(scores):
                """Softmax over the keys: every column of the result sums to 1."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def column_softmax(scores):
                weights = np.exp(scores - scores.max(axis=0))
                return weights / weights.sum(axis=0)
        """,
        alternative="""
            import torch

            def column_softmax(scores):
                return torch.softmax(torch.as_tensor(scores), dim=0).numpy()
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def column_softmax(scores):
                    e = np.exp(scores)
                    return e / e.sum(axis=1, keepdims=True)
                """,
                "rows-normalised",
            ),
            Wrong(
                """
                import numpy as np

                def column_softmax(scores):
                    return np.exp(scores) / np.exp(scores).sum()
                """,
                "all-normalised",
            ),
            Wrong(
                """
                def column_softmax(scores):
                    return abs(scores) / abs(scores).sum(axis=0)
                """,
                "not-exponential",
            ),
            Wrong(
                """
                import numpy as np

                def column_softmax(scores):
                    return np.exp(scores) / np.exp(scores).sum(axis=0)
                """,
                "not-finite",
            ),
        ),
        hidden=_hidden_column_softmax,
        explanation=r"""
            The sum runs over the keys, the first index. Subtracting a column's maximum changes nothing, since
            softmax ignores a constant added to a column, and keeps `exp` from overflowing.
        """,
    ),
]
