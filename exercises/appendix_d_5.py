"""Exercises of Appendix D.5."""

import numpy as np

from exercises.format import Exercise, Wrong
from topiclib.checks.base import Answer, as_array, close, expect


def _hidden_line(answer: Answer) -> None:
    for s, v, beta in ((3.5, 7, 2.0), (40.0, 2, 13.0)):
        alpha = as_array(answer(s, v, beta), (), "alpha")
        expect(close(((v - 1) * alpha + beta) / v, s), "other-numbers", "it fails for other numbers: put your alpha back into s.")


def _hidden_standard_errors(answer: Answer) -> None:
    rng = np.random.default_rng(5)
    losses, exact = rng.normal(size=(9, 4)) * [1, 2, 3, 4] + 0.3, np.array([0.1, 0.2, 0.3, 0.4])
    wanted = (losses.mean(axis=0) - exact) / (losses.std(axis=0, ddof=1) / 3)
    expect(close(as_array(answer(losses, exact), (4,), "the deviations"), wanted), "other-sample", "it fails on another sample.")


def _hidden_flat_range(answer: Answer) -> None:
    low, high = as_array(answer(lambda s: 2 + (s - 4) ** 2 / s, 4.0, 0.5), (2,), "the two ends")
    ends = np.sort(np.roots([1, -9, 16]).real)
    expect(close(low, ends[0], 1e-3) and close(high, ends[1], 1e-3), "other-function", "it fails for another loss.")


EXERCISES: list[Exercise] = [
    Exercise(
        id="d.5-line",
        title="along the line of equal s",
        level="warm-up",
        minutes=4,
        objective="the average s, and what it leaves free",
        function="alpha_on_line",
        statement=r"""
            Return the $\alpha$ for which the average $s = ((v-1)\alpha + \beta)/v$ has a given value.
        """,
        stub='''
            def alpha_on_line(s, v, beta):
                """alpha such that the average over a topic of v words is s."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def alpha_on_line(s, v, beta):
                return (v * s - beta) / (v - 1)
        """,
        alternative="""
            def alpha_on_line(s, v, beta):
                return s + (s - beta) / (v - 1)
        """,
        wrong=(
            Wrong(
                """
                def alpha_on_line(s, v, beta):
                    return (s - beta) / (v - 1)
                """,
                "sum-for-average",
            ),
            Wrong(
                """
                def alpha_on_line(s, v, beta):
                    return (v * s - beta) / v
                """,
                "word-counted-twice",
            ),
            Wrong(
                """
                def alpha_on_line(s, v, beta):
                    return 2 * s - beta
                """,
                "plain-mean",
            ),
            Wrong(
                """
                def alpha_on_line(s, v, beta):
                    return ((v - 1) * s + beta) / v
                """,
                "not-inverted",
            ),
        ),
        hidden=_hidden_line,
        explanation=r"""
            Solve for $\alpha$: $\alpha = (vs - \beta)/(v-1)$. It is positive as long as $\beta < vs$.
        """,
    ),
    Exercise(
        id="d.5-standard-errors",
        title="agreement in standard errors",
        level="core",
        minutes=8,
        objective="comparing a sampled mean with an exact value",
        function="deviations_in_errors",
        statement=r"""
            `losses` has shape (documents, points): the loss of each sampled document at each point of the map. `exact` has
            shape (points,). For each point return the deviation of the sample mean from the exact loss, measured minus exact, in
            units of the standard error of that mean (with the unbiased estimate of the variance). Shape (points,).
        """,
        stub='''
            def deviations_in_errors(losses, exact):
                """(mean over documents - exact) / standard error of the mean, for each point."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def deviations_in_errors(losses, exact):
                error = losses.std(axis=0, ddof=1) / len(losses) ** 0.5
                return (losses.mean(axis=0) - exact) / error
        """,
        alternative="""
            def deviations_in_errors(losses, exact):
                result = []
                for column, value in zip(losses.T, exact):
                    n = len(column)
                    mean = sum(column) / n
                    variance = sum((x - mean) ** 2 for x in column) / (n - 1)
                    result.append((mean - value) / (variance / n) ** 0.5)
                return result
        """,
        wrong=(
            Wrong(
                """
                def deviations_in_errors(losses, exact):
                    return (losses.mean(axis=0) - exact) / losses.std(axis=0, ddof=1)
                """,
                "spread-not-error",
            ),
            Wrong(
                """
                def deviations_in_errors(losses, exact):
                    return (losses.mean(axis=0) - exact) / (losses.std(axis=0) / len(losses) ** 0.5)
                """,
                "biased-variance",
            ),
            Wrong(
                """
                def deviations_in_errors(losses, exact):
                    return (losses.mean(axis=0) - exact) / (losses.std(axis=0, ddof=1) / len(losses))
                """,
                "no-square-root",
            ),
            Wrong(
                """
                def deviations_in_errors(losses, exact):
                    return (exact - losses.mean(axis=0)) / (losses.std(axis=0, ddof=1) / len(losses) ** 0.5)
                """,
                "sign",
            ),
            Wrong(
                """
                def deviations_in_errors(losses, exact):
                    error = losses.std(axis=0, ddof=1) / losses.shape[1] ** 0.5
                    return (losses.mean(axis=0) - exact) / error
                """,
                "points-counted",
            ),
        ),
        hidden=_hidden_standard_errors,
        explanation=r"""
            The mean of $n$ independent values has the standard deviation of one of them divided by $\sqrt{n}$. The unbiased
            estimate of the variance divides by $n - 1$.
        """,
    ),
    Exercise(
        id="d.5-flat-range",
        title="how flat is the valley",
        level="challenge",
        minutes=15,
        objective="measuring the width of a minimum instead of its place",
        function="flat_range",
        statement=r"""
            `loss` is a function of $s > 0$ that falls to its minimum at `best_s` and rises after it, without bound on both sides.
            Return the two ends `(low, high)` of the range of $s$ in which the loss is at most `share` above its minimum,
            $L(s) \le (1 + \text{share})\, L(s^*)$. The minimum is positive; the ends may lie a factor of a thousand from
            `best_s`. Three digits are enough.
        """,
        stub='''
            def flat_range(loss, best_s, share):
                """(low, high): where loss(s) is within ``share`` of its minimum."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def flat_range(loss, best_s, share):
                level = (1 + share) * loss(best_s)

                def end(factor):
                    inside, outside = best_s, best_s * factor
                    while loss(outside) <= level:
                        inside, outside = outside, outside * factor
                    for _ in range(60):
                        middle = (inside * outside) ** 0.5
                        inside, outside = (middle, outside) if loss(middle) <= level else (inside, middle)
                    return inside

                return end(0.5), end(2)
        """,
        alternative="""
            from scipy.optimize import brentq

            def flat_range(loss, best_s, share):
                top = loss(best_s) * (1 + share)
                gap = lambda s: loss(s) - top
                return brentq(gap, best_s * 1e-6, best_s), brentq(gap, best_s, best_s * 1e6)
        """,
        wrong=(
            Wrong(
                """
                from scipy.optimize import brentq

                def flat_range(loss, best_s, share):
                    gap = lambda s: loss(s) - loss(best_s) - share
                    return brentq(gap, best_s * 1e-6, best_s), brentq(gap, best_s, best_s * 1e6)
                """,
                "absolute-share",
            ),
            Wrong(
                """
                from scipy.optimize import brentq

                def flat_range(loss, best_s, share):
                    gap = lambda s: loss(s) - (1 + share) * loss(best_s)
                    high = brentq(gap, best_s, best_s * 1e6)
                    return best_s - (high - best_s), high
                """,
                "symmetric",
            ),
            Wrong(
                """
                from scipy.optimize import brentq

                def flat_range(loss, best_s, share):
                    gap = lambda s: loss(s) - (1 + share) * loss(best_s)
                    return best_s, brentq(gap, best_s, best_s * 1e6)
                """,
                "one-side",
            ),
            Wrong(
                """
                def flat_range(loss, best_s, share):
                    return best_s * (1 - share), best_s * (1 + share)
                """,
                "share-of-s",
            ),
            Wrong(
                """
                import numpy as np

                def flat_range(loss, best_s, share):
                    grid = np.linspace(best_s / 20, best_s * 20, 20001)
                    good = [s for s in grid if loss(s) <= (1 + share) * loss(best_s)]
                    return good[0], good[-1]
                """,
                "grid-too-short",
            ),
        ),
        hidden=_hidden_flat_range,
        explanation=r"""
            Walk out from the minimum in steps of a factor of two until the loss is too high, then bisect, on the logarithm of $s$
            since the range may span decades. A flat minimum has a wide range, and its two sides need not be alike.
        """,
    ),
]
