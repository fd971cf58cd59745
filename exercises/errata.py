"""Exercises of the errata."""

from fractions import Fraction

import numpy as np

from exercises.format import Exercise, Wrong
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


EXERCISES: list[Exercise] = [
    Exercise(
        id="errata-large-constant",
        title="a large constant",
        level="warm-up",
        minutes=8,
        objective="finding where a stated range fails, inside the stated assumptions",
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
]
