"""Exercises of Appendix D.4."""

from fractions import Fraction
from typing import Any

from exercises.format import Exercise, Wrong
from topiclib import theory
from topiclib.checks.base import Answer, as_array, close, expect


def _hidden_diagonal(answer: Answer) -> None:
    for num_topics, v, p_m, p_c, p_r in ((6, 2, 0.3, 0.2, 0.4), (2, 3, 0.6, 0.05, 0.3)):
        size: dict[str, Any] = {"num_topics": num_topics, "words_per_topic": v, "p_m": p_m, "p_c": p_c, "p_r": p_r}
        wanted = theory.diagonal_value_matrix(**size).matrix(num_topics, v)
        found = as_array(answer(num_topics, v, p_m, p_c, p_r), wanted.shape, "the value matrix")
        expect(close(found, wanted), "other-setting", "it fails in another setting: do you use all five arguments?")


def _hidden_copy_limit(answer: Answer) -> None:
    for big_t, v, tau, p_c, p_r in ((10, 10, 2, Fraction(1, 10), Fraction(1, 10)), (7, 2, 3, Fraction(2, 5), Fraction(1, 9))):
        wanted = (1 - Fraction(1, tau * v)) * (1 - p_c**2 / (p_c + p_r * Fraction(tau, big_t)))
        found = as_array(answer(big_t, v, tau, float(p_c), float(p_r)), (), "the loss")
        expect(close(found, float(wanted)), "other-setting", "it fails in another setting: do you use all five arguments?")


def _hidden_best_alpha(answer: Answer) -> None:
    for beta, a, v, tau in ((2000.0, 0.7, 4, 3), (1.0, 0.9, 5, 2), (0.01, 0.8, 3, 4), (300.0, 0.6, 2, 9)):
        top = (1 - a) * beta**2 - v * (tau - a) * beta + v * (tau - 1)
        wanted = max(top / (beta * (1 + a * (v - 1)) + v * (tau - a) / a), 0.0)
        found = as_array(answer(beta, a, v, tau), (), "the best alpha")
        expect(close(found, wanted, 1e-3), "other-setting", "it fails for other numbers: are the edge and the inside both covered?")


EXERCISES: list[Exercise] = [
    Exercise(
        id="d.4-diagonal",
        title="the matrix that copies",
        level="warm-up",
        minutes=5,
        objective="turning Lemma 1's block sums into one particular minimiser",
        function="copying_matrix",
        statement=r"""
            Return the diagonal minimiser of stage 1 as an array of shape $(Tv + 1, Tv + 1)$, row and column 0 for [MASK]:
            $\mathbf{W}_{ii} = 1/a$, $\mathbf{W}_{i0} = -c_1$ for words $i$, 0 elsewhere, with $a = 1 - (1 - p_c) p_m$ and
            $c_1 = p_r / ((1 - p_c - p_r)\, a\, T v)$.
        """,
        stub='''
            def copying_matrix(num_topics, words_per_topic, p_m, p_c, p_r):
                """The (Tv + 1, Tv + 1) value matrix in which a word speaks for itself only."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def copying_matrix(num_topics, words_per_topic, p_m, p_c, p_r):
                a, words = 1 - (1 - p_c) * p_m, num_topics * words_per_topic
                matrix = np.zeros((words + 1, words + 1))
                matrix[1:, 1:] = np.eye(words) / a
                matrix[1:, 0] = -p_r / ((1 - p_c - p_r) * a * words)
                return matrix
        """,
        alternative="""
            def copying_matrix(num_topics, words_per_topic, p_m, p_c, p_r):
                kept = 1 - p_m + p_c * p_m
                size = num_topics * words_per_topic
                noise = p_r / (1 - p_c - p_r) / kept / size
                rows = [[0] * (size + 1)]
                for i in range(size):
                    rows.append([-noise] + [(i == j) / kept for j in range(size)])
                return rows
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def copying_matrix(num_topics, words_per_topic, p_m, p_c, p_r):
                    a, words = 1 - (1 - p_c) * p_m, num_topics * words_per_topic
                    matrix = np.eye(words + 1) / a
                    matrix[1:, 0] = -p_r / ((1 - p_c - p_r) * a * words)
                    return matrix
                """,
                "mask-predicted",
            ),
            Wrong(
                """
                import numpy as np

                def copying_matrix(num_topics, words_per_topic, p_m, p_c, p_r):
                    a, words = 1 - (1 - p_c) * p_m, num_topics * words_per_topic
                    matrix = np.zeros((words + 1, words + 1))
                    matrix[1:, 1:] = np.eye(words) / a
                    matrix[0, 1:] = -p_r / ((1 - p_c - p_r) * a * words)
                    return matrix
                """,
                "row-for-column",
            ),
            Wrong(
                """
                import numpy as np

                def copying_matrix(num_topics, words_per_topic, p_m, p_c, p_r):
                    matrix = np.zeros((num_topics * words_per_topic + 1,) * 2)
                    matrix[1:, 1:] = np.eye(num_topics * words_per_topic) / (1 - (1 - p_c) * p_m)
                    return matrix
                """,
                "no-denoising",
            ),
            Wrong(
                """
                import numpy as np

                def copying_matrix(num_topics, words_per_topic, p_m, p_c, p_r):
                    a, words = 1 - (1 - p_c) * p_m, num_topics * words_per_topic
                    matrix = np.zeros((words + 1, words + 1))
                    matrix[1:, 1:] = np.eye(words) * a
                    matrix[1:, 0] = -p_r / ((1 - p_c - p_r) * a * words)
                    return matrix
                """,
                "not-inverted",
            ),
            Wrong(
                """
                import numpy as np

                def copying_matrix(num_topics, words_per_topic, p_m, p_c, p_r):
                    a, words = 1 - (1 - p_c) * p_m, num_topics * words_per_topic
                    matrix = np.zeros((words + 1, words + 1))
                    blocks = np.ones((words_per_topic, words_per_topic)) / words_per_topic
                    matrix[1:, 1:] = np.kron(np.eye(num_topics), blocks) / a
                    matrix[1:, 0] = -p_r / ((1 - p_c - p_r) * a * words)
                    return matrix
                """,
                "blocks",
            ),
        ),
        hidden=_hidden_diagonal,
        explanation=r"""
            With all $u_i = 0$ Lemma 1 fixes a row's sum over its own topic, $1/a$, and the entry at [MASK], $-c_1$. Putting the
            whole sum on the word itself is allowed, since Lemma 1 fixes sums only.
        """,
    ),
    Exercise(
        id="d.4-copy-limit",
        title="the limit of copying",
        level="core",
        minutes=12,
        objective="the best prediction of a position whose word may have been kept",
        function="least_loss",
        statement=r"""
            A predictor knows the $\tau$ topics of its document and the token that a selected position shows. Return the least
            expected squared loss, averaged over the selected positions. A selected position shows its own word with probability
            $p_c$, a random one of the $Tv$ words with $p_r$, else [MASK]; its own word is uniform on the document's $\tau v$ words.
        """,
        stub='''
            def least_loss(num_topics, words_per_topic, topics_per_doc, p_c, p_r):
                """The least mean squared loss that any predictor can reach: one number."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def least_loss(num_topics, words_per_topic, topics_per_doc, p_c, p_r):
                shows_own_topic = p_c + p_r * topics_per_doc / num_topics
                kept = p_c / shows_own_topic
                blind = 1 - 1 / (topics_per_doc * words_per_topic)
                return (1 - shows_own_topic) * blind + shows_own_topic * (1 - kept**2) * blind
        """,
        alternative="""
            def least_loss(num_topics, words_per_topic, topics_per_doc, p_c, p_r):
                words, inside_words = num_topics * words_per_topic, topics_per_doc * words_per_topic
                squares = 0
                for shown in range(words + 1):
                    weights = []
                    for word in range(1, inside_words + 1):
                        chance = 1 - p_c - p_r if shown == 0 else p_c * (shown == word) + p_r / words
                        weights.append(chance / inside_words)
                    if sum(weights) > 0:
                        squares += sum(w * w for w in weights) / sum(weights)
                return 1 - squares
        """,
        wrong=(
            Wrong(
                """
                def least_loss(num_topics, words_per_topic, topics_per_doc, p_c, p_r):
                    return (1 - p_c) * (1 - 1 / (topics_per_doc * words_per_topic))
                """,
                "random-words-forgotten",
            ),
            Wrong(
                """
                def least_loss(num_topics, words_per_topic, topics_per_doc, p_c, p_r):
                    return 1 - 1 / (topics_per_doc * words_per_topic)
                """,
                "no-copying",
            ),
            Wrong(
                """
                def least_loss(num_topics, words_per_topic, topics_per_doc, p_c, p_r):
                    return (1 - p_c**2 / (p_c + p_r)) * (1 - 1 / (topics_per_doc * words_per_topic))
                """,
                "all-random-words-suspect",
            ),
            Wrong(
                """
                def least_loss(num_topics, words_per_topic, topics_per_doc, p_c, p_r):
                    inside = p_c + p_r * topics_per_doc / num_topics
                    kept = p_c / inside
                    return (1 - inside) * (1 - 1 / (topics_per_doc * words_per_topic)) + inside * (1 - kept)
                """,
                "not-spread",
            ),
            Wrong(
                """
                def least_loss(num_topics, words_per_topic, topics_per_doc, p_c, p_r):
                    kept = p_c * topics_per_doc / num_topics + p_c
                    return (1 - kept) * (1 - 1 / (topics_per_doc * words_per_topic))
                """,
                "not-a-mixture",
            ),
        ),
        hidden=_hidden_copy_limit,
        explanation=r"""
            The best prediction is the law of the word given what is shown; its expected squared loss is one minus the sum of its
            squares. A position that shows [MASK] or a word of another topic tells nothing: $1 - 1/(\tau v)$. A word of the
            document's topics was kept with probability $q = p_c/(p_c + p_r\tau/T)$, and then the sum of squares is
            $q^2 + (1 - q^2)/(\tau v)$.
        """,
    ),
    Exercise(
        id="d.4-best-alpha",
        title="at the edge or inside",
        level="challenge",
        minutes=20,
        objective="minimising under a constraint where the minimum may lie at the boundary",
        function="alpha_given_beta",
        statement=r"""
            As $T \to \infty$ a kept word's query has weights $b = \beta g$, $c = \alpha g$ and $g$ with
            $b + (v-1)c + \frac{v(\tau - a)}{a} g = 1$, and with the diagonal value matrix the loss
            $(b/a - 1)^2 + (v-1)(c/a)^2 + (\tau-1)v(g/a)^2$. Return the $\alpha \ge 0$ that minimises it at a given $\beta > 0$,
            to three digits or better. A closed form and a numerical search are both fine. ($v \ge 2$, $\tau \ge 2$, $0 < a < 1$.)
        """,
        stub='''
            def alpha_given_beta(beta, a, v, tau):
                """The best alpha >= 0 at this beta; 0 where the loss grows with alpha from 0 on."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def alpha_given_beta(beta, a, v, tau):
                others = v * (tau - a) / a
                top = beta**2 * (1 - a) - a * others * beta + (tau - 1) * v
                return max(top / (beta * (1 + a * (v - 1)) + others), 0)
        """,
        alternative="""
            from scipy.optimize import minimize_scalar

            def alpha_given_beta(beta, a, v, tau):
                def loss(alpha):
                    g = 1 / (beta + (v - 1) * alpha + v * (tau - a) / a)
                    return (beta * g / a - 1) ** 2 + (v - 1) * (alpha * g / a) ** 2 + (tau - 1) * v * (g / a) ** 2

                found = minimize_scalar(loss, bounds=(0, 10 * beta + 10), method="bounded", options={"xatol": 1e-10})
                return 0.0 if loss(0.0) <= found.fun else found.x
        """,
        wrong=(
            Wrong(
                """
                def alpha_given_beta(beta, a, v, tau):
                    return a * (tau - 1) / (tau - a)
                """,
                "beta-ignored",
            ),
            Wrong(
                """
                def alpha_given_beta(beta, a, v, tau):
                    others = v * (tau - a) / a
                    top = beta**2 * (1 - a) - a * others * beta + (tau - 1) * v
                    return top / (beta * (1 + a * (v - 1)) + others)
                """,
                "negative",
            ),
            Wrong(
                """
                def alpha_given_beta(beta, a, v, tau):
                    return 0.0
                """,
                "always-the-edge",
            ),
            Wrong(
                """
                from scipy.optimize import minimize_scalar

                def alpha_given_beta(beta, a, v, tau):
                    g = 1 / (beta + v * (tau - a) / a)
                    loss = lambda alpha: (beta * g / a - 1) ** 2 + (v - 1) * (alpha * g / a) ** 2 + (tau - 1) * v * (g / a) ** 2
                    return max(minimize_scalar(loss, bounds=(0, 10), method="bounded").x, 1e-9)
                """,
                "always-the-edge",
            ),
            Wrong(
                """
                def alpha_given_beta(beta, a, v, tau):
                    s = tau / (1 - a) - a / (tau - a)
                    return max((v * s - beta) / (v - 1), 0)
                """,
                "average-kept",
            ),
        ),
        hidden=_hidden_best_alpha,
        explanation=r"""
            Write everything with $\alpha$: the weights are $\beta/Z$, $\alpha/Z$, $1/Z$ with $Z = \beta + (v-1)\alpha + v(\tau-a)/a$.
            The derivative in $\alpha$ vanishes at
            $\alpha = \frac{(1-a)\beta^2 - v(\tau-a)\beta + v(\tau-1)}{\beta(1 + a(v-1)) + v(\tau-a)/a}$. Where that is negative,
            the loss grows from $\alpha = 0$ on, and the edge is best.
        """,
    ),
]
