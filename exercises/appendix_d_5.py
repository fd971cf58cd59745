"""Exercises of Appendix D.5."""

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
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


def _hidden_valley(answer: Answer, coordinates: str = "log", wanted: str = "flattest") -> None:
    alpha, beta, hessian = 20.0, 0.5, np.array([[2.0, -1.2], [-1.2, 1.0]])
    place, scale = (np.log([alpha, beta]), 1.0) if coordinates == "log" else (np.array([alpha, beta]), 0.1)

    def loss(one: float, other: float) -> float:
        x = (np.log([one, other]) if coordinates == "log" else np.array([one, other])) - place
        return float(1 + scale * x @ hessian @ x / 2 + 0.1 * scale * x[0] ** 3)

    found = as_array(answer(loss, alpha, beta), (3,), "two components and the curvature")
    values, vectors = np.linalg.eigh(scale * hessian)
    k = 0 if wanted == "flattest" else 1
    good = abs(found[:2] @ vectors[:, k]) > 0.999 and abs(found[2] / values[k] - 1) < 0.05
    expect(good, "other-surface", "it fails on another surface.")


# What the variants of d.5-valley are told.
_LOG = {
    "where": r"$(\ln \alpha, \ln \beta)$",
    "forward": "np.log",
    "back": "np.exp",
    "other": "lambda x: x",
    "other_back": "lambda x: x",
}
_PLAIN = {"where": r"$(\alpha, \beta)$", "forward": "lambda x: x", "back": "lambda x: x", "other": "np.log", "other_back": "np.exp"}
_FLATTEST = {"number": "0", "other_number": "-1", "how": "least"}
_STEEPEST = {"number": "-1", "other_number": "0", "how": "most"}

_VALLEY = """
import numpy as np

def valley(loss, best_alpha, best_beta):
    forward, back = {{forward}}, {{back}}
    centre, h = forward(np.array([best_alpha, best_beta])), 1e-3

    def at(x, y):
        return loss(*back(centre + h * np.array([x, y])))

    hessian = np.empty((2, 2))
    hessian[0, 0] = (at(1, 0) - 2 * at(0, 0) + at(-1, 0)) / h**2
    hessian[1, 1] = (at(0, 1) - 2 * at(0, 0) + at(0, -1)) / h**2
    hessian[0, 1] = hessian[1, 0] = (at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)) / (4 * h**2)
    values, vectors = np.linalg.eigh(hessian)
    k = {{number}}
    direction = vectors[:, k]
    return [*direction, values[k]]
"""


def _valley(right: str, mistake: str, hint: str) -> Wrong:
    """The solution of d.5-valley with one mistake."""
    assert right in _VALLEY, right
    return Wrong(_VALLEY.replace(right, mistake), hint)


EXERCISES: list[Exercise] = [
    Exercise(
        id="d.5-line",
        title="along the line of equal s",
        level="warm-up",
        minutes=4,
        objective="the average s, and what it leaves free",
        prerequisites=(
            "the average $s$ ([Assumption 2](05_3_attention_weights.ipynb#assumption-2))",
            "solving a linear equation",
        ),
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
        prerequisites=(
            "standard error of a mean",
            "NumPy's axes and broadcasting",
        ),
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
        level="core",
        minutes=15,
        objective="measuring the width of a minimum instead of its place",
        prerequisites=(
            "[how flat the valley is](appendix_d_5.ipynb#how-flat-is-it)",
            "bisection, or a root finder",
        ),
        graded=True,
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
    Exercise(
        id="d.5-valley",
        title="which way does the valley run?",
        level="challenge",
        minutes=35,
        objective="to find the directions and the curvatures of a minimum from values of the loss",
        prerequisites=(
            "[the minimiser on the surface](appendix_d_5.ipynb#the-minimiser-on-the-surface)",
            "second derivatives by differences",
            "eigenvectors of a symmetric matrix",
        ),
        graded=True,
        function="valley",
        statement=r"""
            `loss` is a smooth function of two positive numbers, $\alpha$ and $\beta$, with its minimum at `best_alpha`, `best_beta`; you can only evaluate it. Take
            {{where}} as coordinates. Through the minimum find the straight line along which the loss rises {{how}} near it, and return three
            numbers: the two components of a vector of length 1 along that line (of either sign), and the second derivative of the loss along it
            with respect to the length. The two coordinates need not be independent. An error of one per cent does not matter, but curvatures may be as small as $10^{-3}$, and the
            minimum is not where the surface ends: do not step further than 0.05. (With the chapter's surface the answer says whether the [MASK] queries or the average $s$ make the valley.)
        """,
        stub='''
            def valley(loss, best_alpha, best_beta):
                """(dx, dy, curvature): the direction that is asked for, of length 1, and the second derivative along it."""
                raise NotImplementedError("your answer")
        ''',
        reference=_VALLEY,
        alternative="""
            import numpy as np

            def valley(loss, best_alpha, best_beta):
                forward, back = {{forward}}, {{back}}
                centre, radius = forward(np.array([best_alpha, best_beta])), 0.01
                angle = np.linspace(0, np.pi, 3601)
                # On a small circle, both ends of a line together: even in the distance, so cubic terms cancel.
                x, y = np.cos(angle), np.sin(angle)
                sides = [
                    np.array([loss(*back(centre + sign * radius * np.array([p, q]))) for p, q in zip(x, y)]) for sign in (1, -1)
                ]
                curvature = (sum(sides) - 2 * loss(*back(centre))) / radius**2
                k = np.argsort(curvature)[{{number}}]
                return x[k], y[k], curvature[k]
        """,
        wrong=(
            _valley("k = {{number}}", "k = {{other_number}}", "other-direction"),
            _valley("forward, back = {{forward}}, {{back}}", "forward, back = {{other}}, {{other_back}}", "other-coordinates"),
            _valley(
                "hessian[0, 1] = hessian[1, 0] = (at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)) / (4 * h**2)",
                "hessian[0, 1] = hessian[1, 0] = 0",
                "mixed-derivative",
            ),
            _valley("(4 * h**2)", "h**2", "mixed-derivative-size"),
            _valley("vectors[:, k]", "vectors[::-1, k]", "components-swapped"),
            _valley("values[k]]", "values[k] / 2]", "half"),
            _valley(
                "return [*direction, values[k]]",
                "direction = direction / abs(direction).max()\n    return [*direction, values[k]]",
                "not-of-length-one",
            ),
        ),
        hidden=_hidden_valley,
        explanation=r"""
            Near a minimum the loss is its value there plus half of a quadratic form, the Hessian. Its eigenvectors are the directions in which the loss rises least and
            most, its eigenvalues the second derivatives along them. The mixed derivative needs all four corners, divided by $4h^2$. Steps should be neither so
            large that the form bends nor so small that rounding shows. Which line is the flattest depends on the coordinates: a factor of $\alpha$ and a step of $\alpha$
            are different things.
        """,
        variants=(
            Variant({"coordinates": "log", "wanted": "flattest"}, _LOG | _FLATTEST),
            Variant({"coordinates": "log", "wanted": "steepest"}, _LOG | _STEEPEST),
            Variant({"coordinates": "plain", "wanted": "flattest"}, _PLAIN | _FLATTEST),
            Variant({"coordinates": "plain", "wanted": "steepest"}, _PLAIN | _STEEPEST),
        ),
    ),
]

PAPER = [
    PaperExercise(
        id="d.5-paper-own-ratio",
        title="when [MASK] has a ratio of its own",
        level="core",
        minutes=25,
        objective="to find where exactly a remark of the paper becomes true",
        prerequisites=(
            "[the minimiser on the surface](appendix_d_5.ipynb#the-minimiser-on-the-surface)",
            "[along the line of equal s](appendix_d_5.ipynb#along-the-line-of-equal-s)",
            "[Remark 5](05_3_attention_weights.ipynb#remark-5)",
        ),
        graded=True,
        statement=r"""
            Change Assumption 2 in one point: a query that shows [MASK] gives other [MASK] tokens the weight $\gamma > 0$ instead of $\beta$. Words keep $\alpha \ge 0$ and
            $\beta \ge 0$, not both zero. Let $\mathbf{W}^V$ be Theorem 2's, $v \ge 2$, $2 \le \tau < T$ and $p_c > 0$, and let $s^*$ be the best average. (a) Show that the loss is a function of
            $s$ plus a function of $\gamma$. (b) Describe all minimisers $(\alpha, \beta, \gamma)$, and give the ends of the set. (c) What remains of it under Assumption 2 itself,
            $\gamma = \beta$? (d) A colleague reports $\alpha = 6$, $\beta = 1$ in one run and $\alpha = 1$, $\beta = 46$ in another, with $v = 10$. For which of the two assumptions is that a sign of different optima, and for which of bad
            training?
        """,
        rubric=(
            (
                2,
                r"(a) All words of a topic are equally frequent and Theorem 2's matrix has one value for the whole topic, so a word's query acts through the total weight of its topic, which is $s$ times the topic's share.",
            ),
            (
                2,
                r"(a) A [MASK] query gives all words the weight one, so it depends on $\gamma$ alone (1), and $\gamma = 1$ is its only minimum, as uniform attention predicts $p_{\mathbf{w}}$ (1).",
            ),
            (
                3,
                r"(b) $\gamma = 1$ and all $(\alpha, \beta)$ with $(v-1)\alpha + \beta = v s^*$ (2), a segment from $(\frac{v s^*}{v - 1}, 0)$ to $(0, v s^*)$ (1).",
            ),
            (1, r"(c) One point, $\beta = 1$ and $\alpha = \frac{v s^* - 1}{v - 1}$."),
            (
                2,
                r"(d) Both have $s = 5.5$ (1). With $\gamma$ free they have the same loss and may both be optimal; with $\gamma = \beta$ the second is worse, so it is not at the optimum (1).",
            ),
        ),
        model_answer=r"""
            (a) Take a query that shows a word, of a topic with the share $F$ of the tokens. All $v$ words of the topic are equally frequent, so the topic has the total
            weight $\frac{F}{v}(\beta + (v-1)\alpha) = sF$, and everything else has $1 - F$. Theorem 2's matrix has one value for all words of a topic. So the prediction
            depends on the attention that [MASK] and each topic get, and that on $s$ only. A query that shows [MASK] has the weight $\gamma$ for [MASK] and one for all words: its
            loss is a function of $\gamma$. The sum over the kinds of query is $f(s) + h(\gamma)$. Uniform attention, $\gamma = 1$, predicts $p_{\mathbf{w}}$, the mean target of such a
            query. Every other $\gamma$ predicts something else and is worse. So $h$ has its only minimum at $\gamma = 1$.

            (b) $f$ has its only minimum at $s^*$. The minimisers are $\gamma = 1$ with all $\alpha, \beta \ge 0$ on the line $(v - 1)\alpha + \beta = v s^*$: the segment from
            $(\alpha, \beta) = (\frac{v s^*}{v-1}, 0)$ to $(0, v s^*)$. Remark 5 is then exactly true, at every finite $T$.

            (c) With $\gamma = \beta$ the loss is $f(s) + h(\beta)$, and both can be at their minimum together, since $s^* > 1 > \frac{1}{v}$ leaves $\alpha = \frac{v s^* - 1}{v - 1} > 0$. The
            minimiser is this one point, with $\beta = 1$.

            (d) $(9 \cdot 6 + 1)/10 = 5.5 = (9 \cdot 1 + 46)/10$. With a ratio of its own for [MASK] the two runs have the same loss, and they differ only in how a topic's weight is
            spread over its words: two optima, if $s^* = 5.5$. Under Assumption 2 the second pays the price $h(46) - h(1)$ for its [MASK] queries, so it is not at the optimum.
        """,
    ),
]
