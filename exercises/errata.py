"""Exercises of the errata."""

from fractions import Fraction
from typing import Any

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
from topiclib import theory
from topiclib.checks.base import Answer, as_array, expect


def _hidden_large_constant(answer: Answer) -> None:
    for big_t, v, bound in ((30, 20, 5.0), (2, 2, 1000.0)):
        p_m, p_c, p_r = (Fraction(float(x)) for x in as_array(answer(big_t, v, bound), (3,), "p_m, p_c, p_r"))
        c_1 = theory.theorem2_constants(num_topics=big_t, words_per_topic=v, p_m=p_m, p_c=p_c, p_r=p_r).c_1
        expect(c_1 > bound, "other-bound", "it fails for another bound or another vocabulary: let your answer depend on them.")


def _hidden_no_topics(answer: Answer) -> None:
    w = as_array(answer(4, 2), (9, 9), "the matrix")
    x = np.array([0.2, *[0.1] * 8])
    expect(np.allclose((w @ x)[1:], 1 / 8) and abs((w @ x)[0]) < 1e-9, "other-size", "it fails for other sizes.")


def _hidden_below(answer: Answer) -> None:
    big_t, tau, p_m, p_c, p_r = as_array(answer(), (5,), "T, tau, p_m, p_c, p_r")
    s = theory.optimal_attention(num_topics=int(big_t), words_per_topic=10, topics_per_doc=int(tau), p_m=p_m, p_c=p_c, p_r=p_r)
    low = theory.theorem3(num_topics=int(big_t), topics_per_doc=int(tau), p_m=p_m, p_c=p_c, p_r=p_r).low
    expect(s < low * (1 - 1e-9), "just-at-the-end", "your setting is too close to the end to count: go a little further.")


def _mask_loss(rho: float, matrix: str, s: float, *setting: Any) -> float:
    """What depends on rho of the loss, for one of the matrices of errata-mask-weight."""
    big_t, v, tau, p_m, p_c, p_r = setting
    masks = {"p_m": p_m, "p_c": p_c, "p_r": p_r}
    sizes = {"num_topics": big_t, "words_per_topic": v}
    c, f = theory.theorem2_constants(**sizes, **masks), theory.masking_fractions(**masks)
    u = {"theorem 2": theory.theorem2(**sizes, **masks).different_topic, "u zero": 0.0, "no mask": -c.c_1 / c.c_2}[matrix]
    topic = np.arange(big_t * v) // v
    p = np.where(topic < tau, 1 / (tau * v), 0.0)
    x = f.true * p + f.random / (big_t * v)
    total = 0.0
    for own, chance, target in (
        (0, p_c, np.eye(len(p))[0]), (0, p_r * tau / big_t, p), (big_t - 1, p_r * (1 - tau / big_t), p),
    ):  # fmt: skip
        weights = x * np.where(topic == own, s, 1.0)
        words = np.array([u * weights.sum() + weights[topic == t].sum() / (f.true * v) for t in topic])
        output = (words + rho * f.mask * (-c.c_1 - c.c_2 * u)) / (weights.sum() + rho * f.mask)
        total += chance * (output @ output - 2 * output @ target)
    return total


def _hidden_mask_weight(answer: Answer, matrix: str = "theorem 2") -> None:
    for s, *setting in ((2.0, 5, 2, 3, 0.4, 0.3, 0.1), (5.0, 10, 10, 2, 0.15, 0.1, 0.1)):
        rho = float(as_array(answer(s, *setting), (), "the weight of [MASK]"))
        expect(rho > 0, "other-setting", "it fails in another setting.")
        here, more, less = (_mask_loss(rho * factor, matrix, s, *setting) for factor in (1, 1.03, 1 / 1.03))
        expect(here <= min(more, less), "other-setting", "it fails in another setting.")


# What the variants of errata-mask-weight are told.
_THEOREM_2 = {"which": "Theorem 2's", "free": "theorem2(**sizes, **masks).different_topic", "other_free": "0.0"}
_U_ZERO = {
    "which": r"the minimiser of stage 1 with equal entries in each block and all $u_i = 0$",
    "free": "0.0",
    "other_free": "theorem2(**sizes, **masks).different_topic",
}
_NO_MASK = {
    "which": r"the minimiser of stage 1 with equal entries in each block and a zero column for [MASK]",
    "free": "-c.c_1 / c.c_2",
    "other_free": "theorem2(**sizes, **masks).different_topic",
}

_MASK_WEIGHT = """
import numpy as np
from scipy.optimize import minimize_scalar
from topiclib.theory import masking_fractions, theorem2, theorem2_constants

def best_mask_weight(s, num_topics, words_per_topic, topics_per_doc, p_m, p_c, p_r):
    T, v, tau = num_topics, words_per_topic, topics_per_doc
    sizes, masks = {"num_topics": T, "words_per_topic": v}, {"p_m": p_m, "p_c": p_c, "p_r": p_r}
    c, f = theorem2_constants(**sizes, **masks), masking_fractions(**masks)
    u = {{free}}
    near, far = f.true / tau + f.random / T, f.random / T

    def loss(rho, own, others, absent, kept, random):
        # own, others, absent: (share of a topic with its ratio, how many topics, whether in the document)
        groups = own, others, absent
        words = sum(share * number for share, number, _ in groups)
        total = words + rho * f.mask
        level = u * words + rho * f.mask * (-c.c_1 - c.c_2 * u)
        outputs = [(level + share / (f.true * v)) / total for share, _, _ in groups]
        square = v * sum(number * output**2 for output, (_, number, _) in zip(outputs, groups))
        mean = sum(number * present * output for output, (_, number, present) in zip(outputs, groups)) / tau
        return kept * (square - 2 * outputs[0]) + random * (square - 2 * mean)

    def both(log_rho):
        rho = np.exp(log_rho)
        inside = loss(rho, (s * near, 1, 1), (near, tau - 1, 1), (far, T - tau, 0), p_c, p_r * tau / T)
        return inside + loss(rho, (s * far, 1, 0), (near, tau, 1), (far, T - tau - 1, 0), 0, p_r * (1 - tau / T))

    grid = np.linspace(-6, 6, 241)
    start = grid[np.argmin([both(x) for x in grid])]
    return float(np.exp(minimize_scalar(both, bounds=(start - 0.1, start + 0.1), method="bounded", options={"xatol": 1e-9}).x))
"""


def _mask_weight(right: str, mistake: str, hint: str) -> Wrong:
    """The solution of errata-mask-weight with one mistake."""
    assert right in _MASK_WEIGHT, right
    return Wrong(_MASK_WEIGHT.replace(right, mistake), hint)


EXERCISES: list[Exercise] = [
    Exercise(
        id="errata-large-constant",
        title="a large constant",
        level="warm-up",
        minutes=8,
        objective="finding where a stated range fails, inside the stated assumptions",
        prerequisites=(
            "[Erratum 6](errata.ipynb#erratum-6-a-constant-that-can-exceed-one)",
            "a limit of a fraction",
        ),
        function="masks_with_large_c_1",
        statement=r"""
            Theorem 2 says $c_1 = \frac{p_r}{(1-p_c-p_r)(1-(1-p_c)p_m)Tv} \in (0, 1)$. For given $T$, $v$ and a bound return
            `(p_m, p_c, p_r)` that satisfy Assumption 4 ($0 < p_m < \frac{1}{2}$ and $p_c = p_r \in (0, \frac{1}{2})$) and have
            $c_1$ above the bound.
        """,
        stub='''
            def masks_with_large_c_1(num_topics, words_per_topic, bound):
                """(p_m, p_c, p_r) within Assumption 4 with c_1 > bound."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def masks_with_large_c_1(num_topics, words_per_topic, bound):
                # With p_c = p_r = 1/2 - e/2 the share of [MASK] is e, and c_1 > (1/4) / (e T v).
                e = 1 / (4 * (bound + 1) * num_topics * words_per_topic)
                return 0.25, 0.5 - e / 2, 0.5 - e / 2
        """,
        alternative="""
            def masks_with_large_c_1(num_topics, words_per_topic, bound):
                p_m, p = 0.4, 0.25
                while p / ((1 - 2 * p) * (1 - (1 - p) * p_m) * num_topics * words_per_topic) <= bound:
                    p = (p + 0.5) / 2
                return [p_m, p, p]
        """,
        wrong=(
            Wrong(
                """
                def masks_with_large_c_1(num_topics, words_per_topic, bound):
                    return 0.49, 0.45, 0.45
                """,
                "not-large-enough",
            ),
            Wrong(
                """
                def masks_with_large_c_1(num_topics, words_per_topic, bound):
                    return 0.15, 0.1, 0.9 - 1e-9 / bound
                """,
                "not-equal",
            ),
            Wrong(
                """
                def masks_with_large_c_1(num_topics, words_per_topic, bound):
                    return 0.15, 0.5, 0.5
                """,
                "no-mask-left",
            ),
            Wrong(
                """
                def masks_with_large_c_1(num_topics, words_per_topic, bound):
                    return 1 - 1e-6, 0.5 - 1e-9 / bound, 0.5 - 1e-9 / bound
                """,
                "p-m-too-large",
            ),
        ),
        hidden=_hidden_large_constant,
        explanation=r"""
            The factor $1 - p_c - p_r$, the share of selected positions that show [MASK], can be as small as one likes. Then $c_1$
            is as large as one likes. Nothing in the theorem breaks.
        """,
    ),
    Exercise(
        id="errata-no-topics",
        title="a minimiser without topics",
        level="core",
        minutes=10,
        objective="why Lemma 1 needs documents that leave a topic out",
        prerequisites=(
            "[Erratum 4](errata.ipynb#erratum-4-documents-with-every-topic)",
            "[Lemma 1](appendix_a.ipynb#lemma-1)",
        ),
        function="minimiser_without_topics",
        statement=r"""
            Let every document have every topic ($\tau = T \ge 2$). Return a matrix $\mathbf{W}$ of shape $(Tv+1, Tv+1)$, row and
            column 0 for [MASK], that is a minimiser of the squared loss under uniform attention **for all masking
            probabilities**, although each of its rows has the same sum over every topic.
        """,
        stub='''
            def minimiser_without_topics(num_topics, words_per_topic):
                """A minimiser for tau = T in which own topic and other topics do not differ."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def minimiser_without_topics(num_topics, words_per_topic):
                words = num_topics * words_per_topic
                matrix = np.full((words + 1, words + 1), 1 / words)
                matrix[0] = 0
                return matrix
        """,
        alternative="""
            def minimiser_without_topics(num_topics, words_per_topic):
                size = num_topics * words_per_topic
                return [[0.0] * (size + 1)] + [[1.0 / size] * (size + 1) for _ in range(size)]
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def minimiser_without_topics(num_topics, words_per_topic):
                    words = num_topics * words_per_topic
                    return np.full((words + 1, words + 1), 1 / words)
                """,
                "mask-predicted",
            ),
            Wrong(
                """
                import numpy as np

                def minimiser_without_topics(num_topics, words_per_topic):
                    words = num_topics * words_per_topic
                    matrix = np.full((words + 1, words + 1), 1 / words)
                    matrix[0] = 0
                    matrix[:, 0] = 0
                    return matrix
                """,
                "mask-not-counted",
            ),
            Wrong(
                """
                import numpy as np

                def minimiser_without_topics(num_topics, words_per_topic):
                    words = num_topics * words_per_topic
                    matrix = np.eye(words + 1)
                    matrix[0] = 0
                    matrix[1:, 0] = 1 / words
                    return matrix
                """,
                "topics-differ",
            ),
            Wrong(
                """
                import numpy as np

                def minimiser_without_topics(num_topics, words_per_topic):
                    words = num_topics * words_per_topic
                    matrix = np.full((words + 1, words + 1), 1 / (words + 1))
                    matrix[0] = 0
                    return matrix
                """,
                "wrong-level",
            ),
        ),
        hidden=_hidden_no_topics,
        explanation=r"""
            Every document has $p_{\mathbf{w}}(i) = \frac{1}{Tv}$, and the shown tokens' shares sum to one. So a row of constants
            $\frac{1}{Tv}$, the column of [MASK] included, gives the right answer whatever is masked. It has learned no topics,
            and does not need to.
        """,
    ),
    Exercise(
        id="errata-below-the-interval",
        title="below the interval",
        level="challenge",
        minutes=20,
        objective="testing a theorem at the border of its assumptions",
        prerequisites=(
            "[Erratum 14](errata.ipynb#erratum-14-the-interval-outside-its-regime)",
            "a search with the functions of `topiclib.theory`",
        ),
        graded=True,
        function="setting_below_interval",
        statement=r"""
            Find a setting with $v = 10$ in which the best average $s^*$ lies below Theorem 3's lower end $\lambda_1(\tau - 1)$,
            although Assumption 4 holds ($0 < p_m < \frac{1}{2}$, $p_c = p_r \in (0, \frac{1}{2})$), and other than that of
            Erratum 14: with at most 60 topics. Return `(num_topics, topics_per_doc, p_m, p_c, p_r)`, with
            $2 \le \tau < T$. `topiclib.theory` has `optimal_attention` and `theorem3`; search.
        """,
        stub='''
            def setting_below_interval():
                """(num_topics, topics_per_doc, p_m, p_c, p_r) with s* < lambda_1 (tau - 1), at most 60 topics, v = 10."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            from topiclib import theory

            def setting_below_interval():
                masks = {"p_m": 0.49, "p_c": 0.02, "p_r": 0.02}
                for T in range(3, 61):
                    s = theory.optimal_attention(num_topics=T, words_per_topic=10, topics_per_doc=T - 1, **masks)
                    if s < 0.99 * theory.theorem3(num_topics=T, topics_per_doc=T - 1, **masks).low:
                        return T, T - 1, 0.49, 0.02, 0.02
        """,
        alternative="""
            def setting_below_interval():
                return [60, 59, 0.45, 0.02, 0.02]
        """,
        wrong=(
            Wrong(
                """
                def setting_below_interval():
                    return 100, 99, 0.49, 0.02, 0.02
                """,
                "too-many-topics",
            ),
            Wrong(
                """
                def setting_below_interval():
                    return 60, 2, 0.15, 0.1, 0.1
                """,
                "inside",
            ),
            Wrong(
                """
                def setting_below_interval():
                    return 60, 59, 0.9, 0.01, 0.01
                """,
                "assumption-4",
            ),
            Wrong(
                """
                def setting_below_interval():
                    return 60, 60, 0.49, 0.02, 0.02
                """,
                "all-topics",
            ),
            Wrong(
                """
                def setting_below_interval():
                    return 60, 59, 0.49, 0.02, 0.2
                """,
                "not-equal",
            ),
        ),
        hidden=_hidden_below,
        explanation=r"""
            As $\tau$ approaches $T$ the documents become alike, and being in a document says little: $s^*$ falls behind
            $\tau$. The lower end grows with $\tau$ all the same. A large $p_m$ makes $\lambda_1$ large and $s^*$ small. The
            theorem excludes this by $\tau = o(T)$.
        """,
    ),
    Exercise(
        id="errata-mask-weight",
        title="the weight that [MASK] should get",
        level="challenge",
        minutes=45,
        objective="to carry a counterexample through to the optimum that it points to",
        prerequisites=(
            "[Erratum 11](errata.ipynb#erratum-11-a-better-pattern-at-finite-t)",
            "[the three kinds of query](appendix_d.ipynb#the-loss-in-closed-form)",
            "minimising a function of one variable",
        ),
        graded=True,
        function="best_mask_weight",
        statement=r"""
            Erratum 11 gives [MASK], seen from a word, a weight $\rho$ of its own. Let a query that shows a word give the weight $s$ to all words of its topic (itself included), 1 to words of other
            topics and $\rho$ to [MASK]. The frozen value matrix is {{which}}. Return the $\rho > 0$ at which the squared loss is least, for the given $s \ge 1$, to three digits. Queries that show [MASK] do not
            depend on $\rho$. Assumption 1 holds and $2 \le \tau < T$; $p_c$ may be zero. The library's formulas have $\rho = 1$ built in, so set up the loss yourself; `topiclib.enumeration.attention_loss` takes a
            `mask_ratio` and checks it in a small setting.
        """,
        stub='''
            def best_mask_weight(s, num_topics, words_per_topic, topics_per_doc, p_m, p_c, p_r):
                """The best weight of [MASK], seen from a word, relative to a word of another topic."""
                raise NotImplementedError("your answer")
        ''',
        reference=_MASK_WEIGHT,
        alternative="""
            import numpy as np
            from topiclib.theory import masking_fractions, theorem2, theorem2_constants

            def best_mask_weight(s, num_topics, words_per_topic, topics_per_doc, p_m, p_c, p_r):
                sizes = {"num_topics": num_topics, "words_per_topic": words_per_topic}
                masks = {"p_m": p_m, "p_c": p_c, "p_r": p_r}
                c, f = theorem2_constants(**sizes, **masks), masking_fractions(**masks)
                u = {{free}}
                topic = np.arange(num_topics * words_per_topic) // words_per_topic
                matrix = np.equal.outer(topic, topic) / (f.true * words_per_topic) + u
                mask_column = np.full(len(topic), -c.c_1 - c.c_2 * u)
                p = (topic < topics_per_doc) / (topics_per_doc * words_per_topic)
                shown = f.true * p + f.random / len(topic)
                hit = topics_per_doc / num_topics
                queries = [
                    (0, p_c, np.eye(len(topic))[0]), (0, p_r * hit, p), (num_topics - 1, p_r * (1 - hit), p)
                ]

                def slope(rho):
                    result = 0
                    for own, chance, target in queries:
                        weights = np.where(topic == own, s, 1) * shown
                        total = weights.sum() + rho * f.mask
                        output = (matrix @ weights + rho * f.mask * mask_column) / total
                        change = f.mask * (mask_column - output) / total
                        result += chance * 2 * (output - target) @ change
                    return result

                low, high = 1e-4, 1e4
                for _ in range(80):
                    middle = (low * high) ** 0.5
                    low, high = (low, middle) if slope(middle) > 0 else (middle, high)
                return low
        """,
        wrong=(
            Wrong(
                """
                def best_mask_weight(s, num_topics, words_per_topic, topics_per_doc, p_m, p_c, p_r):
                    return 1.0
                """,
                "as-assumed",
            ),
            _mask_weight(
                "return kept * (square - 2 * outputs[0]) + random * (square - 2 * mean)",
                "return kept * (square - 2 * outputs[0])",
                "random-words",
            ),
            _mask_weight("u = {{free}}", "u = {{other_free}}", "other-matrix"),
            _mask_weight("kept * (square - 2 * outputs[0])", "kept * (square - 2 * mean)", "not-the-minimum"),
            _mask_weight("rho * f.mask", "rho", "one-token"),
            _mask_weight("return float(np.exp(", "return 1 / float(np.exp(", "upside-down"),
            _mask_weight("return float(np.exp(minimize_scalar", "return float((minimize_scalar", "logarithm"),
        ),
        hidden=_hidden_mask_weight,
        explanation=r"""
            A word's prediction is $u$ times all attention on words, plus $\frac{1}{av}$ times the attention on its topic, plus $\mathbf{W}_{i0} = -c_1 - c_2 u$ times the attention on [MASK]. With that, the loss of
            the queries that show a word of the document (kept or random) and of those that show another word are sums over three kinds of topics, as in Appendix D, and a function of $\rho$ alone. At $s = 1$ it is least
            at $\rho = 1$ for every minimiser of stage 1. At other $s$ it is not, and where it is depends on which minimiser stage 1 has left.
        """,
        variants=(
            Variant({"matrix": "theorem 2"}, _THEOREM_2),
            Variant({"matrix": "u zero"}, _U_ZERO),
            Variant({"matrix": "no mask"}, _NO_MASK),
        ),
    ),
]

PAPER = [
    PaperExercise(
        id="errata-paper-two-stages",
        title="why keys wait for values",
        level="core",
        minutes=30,
        objective="to find the reason behind a true statement by orders of magnitude",
        prerequisites=(
            "[Erratum 17](errata.ipynb#erratum-17-why-there-are-two-stages)",
            "equation 5 and equation 7 ([Section 3.3](03_3_architecture.ipynb))",
            "the chain rule for matrices",
        ),
        graded=True,
        statement=r"""
            In the model of equation 7 the scores are $\mathbf{S} = \tilde{\mathbf{X}}^\top \mathbf{W}^{K\top} \mathbf{W}^Q \tilde{\mathbf{X}} / \sqrt{d_a}$, attention $A$ is the softmax of $\mathbf{S}$, and the prediction is $f = \mathbf{W}^V \tilde{\mathbf{X}} A$;
            the loss is squared. All three weights are $\varepsilon$ times fixed matrices, with $\varepsilon$ small. (a) Show that $\nabla_{\mathbf{W}^K} L = O(\|\mathbf{W}^Q\|\,\|\mathbf{W}^V\|)$ and that $\nabla_{\mathbf{W}^V} L$ has a limit that is not zero. (b) Predict the slopes
            of the three gradient norms against $\varepsilon$ on a log-log plot, and the slope for $\mathbf{W}^K$ if $\mathbf{W}^V$ alone is kept of size one. (c) Section 8.1 gives another reason: the columns of $\mathbf{W}^Q$ sum to about zero. Show that a matrix $\mathbf{W}^Q$
            whose columns sum to exactly zero does not make $\nabla_{\mathbf{W}^K} L$ vanish in general. (d) What does (a) say about the *order* in which things are learned from a small start, and when would there be no two stages?
        """,
        rubric=(
            (
                3,
                r"(a) The chain for the keys: the derivative of $f$ by $A$ has a factor $\mathbf{W}^V$ (1), that of $\mathbf{S}$ by $\mathbf{W}^K$ has a factor $\mathbf{W}^Q$ (1), and the rest (residual, derivative of the softmax, inputs) is bounded (1).",
            ),
            (
                1,
                r"(a) $\nabla_{\mathbf{W}^V} L$ has the residual and $(\tilde{\mathbf{X}} A)$ only; at $\varepsilon \to 0$ the residual tends to minus the target, so the limit is not zero.",
            ),
            (
                2,
                r"(b) Slopes 2, 2 and 0 for $\mathbf{W}^K$, $\mathbf{W}^Q$, $\mathbf{W}^V$ (1); 1 for $\mathbf{W}^K$ with $\mathbf{W}^V$ of size one (1).",
            ),
            (
                2,
                r"(c) The gradient is $\mathbf{W}^Q$ times a matrix that does not depend on column sums; or an example. One point for the claim with a reason that is not complete.",
            ),
            (
                2,
                r"(d) Values first, as their gradient does not wait; keys and queries start slowly and speed up once $\mathbf{W}^V$ has grown (1). No two stages if $\mathbf{W}^V$, and with it $\mathbf{W}^Q$ or $\mathbf{W}^K$, starts large, for example pretrained (1).",
            ),
        ),
        model_answer=r"""
            (a) Let $\mathbf{R} = \partial L/\partial f$; for squared loss it is twice (prediction minus target) at the selected positions, divided by their number, so it is bounded. For a small change of the keys, $d\mathbf{S} = \tilde{\mathbf{X}}^\top\,
            d\mathbf{W}^{K\top}\,\mathbf{W}^Q \tilde{\mathbf{X}}/\sqrt{d_a}$: a factor $\mathbf{W}^Q$. The derivative of the softmax is bounded, $\|dA\| \le \|d\mathbf{S}\|$. Then $dL = \langle \mathbf{R},\, \mathbf{W}^V \tilde{\mathbf{X}}\, dA \rangle$: a factor $\mathbf{W}^V$. Everything else is
            bounded, so the gradient is $O(\|\mathbf{W}^Q\|\,\|\mathbf{W}^V\|)$. For the values $\nabla_{\mathbf{W}^V} L = \mathbf{R} A^\top \tilde{\mathbf{X}}^\top$. As $\varepsilon \to 0$, $A$ becomes uniform and $f$ becomes zero, so $\mathbf{R}$ becomes minus twice the target over the number of
            selected positions. The product with the histogram of the document is not zero.

            (b) $\mathbf{W}^Q$ and $\mathbf{W}^V$ are of order $\varepsilon$, so the keys' gradient has the slope 2. For the queries it is the same with $\mathbf{W}^K$ in place of $\mathbf{W}^Q$. The values have the slope 0. If $\mathbf{W}^V$ is of size one, one small factor is left for the keys: slope 1.

            (c) From $d\mathbf{S}$ one reads $\nabla_{\mathbf{W}^K} L = \mathbf{W}^Q \mathbf{M}$ with $\mathbf{M} = \tilde{\mathbf{X}}\,\mathbf{G}^\top \tilde{\mathbf{X}}^\top/\sqrt{d_a}$, where $\mathbf{G} = \partial L/\partial \mathbf{S}$. Column sums are $\mathbf{1}^\top \mathbf{W}^Q$, and nothing in the product sums over them. With
            $d_a = 2$ let the two rows of $\mathbf{W}^Q$ be $\mathbf{q}$ and $-\mathbf{q}$: all columns sum to zero, and the gradient has the rows $\mathbf{q}\mathbf{M}$ and $-\mathbf{q}\mathbf{M}$, which are not zero unless $\mathbf{q}\mathbf{M} = 0$.

            (d) From a small start the values learn at once, while attention is still near uniform: stage 1. Keys and queries move by a product of two small numbers, and faster the more $\mathbf{W}^V$ has grown: stage 2. If $\mathbf{W}^V$ and one of the other two start large, as in a
            pretrained model, all gradients are of one order, and there is no reason for two stages.
        """,
    ),
]
