"""Exercises of Appendix D.4."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
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


def _hidden_part_of_diagonal(answer: Answer, share_of: str = "diagonal", asked: str = "one word") -> None:
    for omega, a, v, tau in ((0.9, 0.6, 2, 2), (0.45, 0.95, 8, 5), (0.3, 0.7, 3, 30)):
        found = as_array(answer(omega if share_of == "diagonal" else 1 - omega, a, v, tau), (3,), "three numbers")
        counts = np.array([1, v - 1, v * (tau - a) / a])
        b, c, g = found if asked == "one word" else found / counts
        expect(
            min(b, c, g) > -1e-6 and abs(counts @ [b, c, g] - 1) < 1e-4, "other-setting", "its weights are not attention weights."
        )

        def loss(weights: np.ndarray, omega: float = omega, a: float = a, v: int = v, tau: int = tau) -> float:
            own = (1 - omega) * (weights[0] + (v - 1) * weights[1]) / v
            outputs = (omega * weights[:2] + own) / a - [1, 0]
            return float(outputs[0] ** 2 + (v - 1) * outputs[1] ** 2 + (tau - 1) * v * (weights[2] / a) ** 2)

        here = loss(np.array([b, c, g]))
        for one, other in product(range(3), range(3)):
            moved = np.array([b, c, g])
            step = min(1e-3, moved[one] * counts[one])
            moved[one] -= step / counts[one]
            moved[other] += step / counts[other]
            expect(loss(moved) > here - 1e-5, "other-setting", "it fails in another setting: some weights are still better.")


_PARTS = """
import numpy as np

SETS = [0, 1, 2], [0, 2], [0, 1], [0]

def weights_of_kept_word(share, a, v, tau):
    omega = {{omega}}
    counts = np.array([1, v - 1, v * (tau - a) / a])
    block = (1 - omega) / v * np.array([1, v - 1, 0])
    outputs = np.zeros((3, 3))
    outputs[0] = omega * np.eye(3)[0] + block
    outputs[1] = omega * np.eye(3)[1] + block
    outputs[2, 2] = 1
    weighted = np.array([1, v - 1, (tau - 1) * v])
    quadratic = outputs.T @ np.diag(weighted) @ outputs / a**2
    linear = outputs[0] / a
    candidates = []
    for free in SETS:
        n = len(free)
        system = np.zeros((n + 1, n + 1))
        system[:n, :n], system[:n, n], system[n, :n] = quadratic[np.ix_(free, free)], counts[free], counts[free]
        x = np.zeros(3)
        x[free] = np.linalg.solve(system, np.append(linear[free], 1))[:n]
        if (x >= 0).all():
            candidates.append((x @ quadratic @ x - 2 * linear @ x, tuple(x)))
    weights = np.array(min(candidates)[1])
    return weights{{from_weights}}
"""


def _parts(right: str, mistake: str, hint: str) -> Wrong:
    """The solution of d.4-part-of-the-diagonal with one mistake."""
    assert right in _PARTS, right
    return Wrong(_PARTS.replace(right, mistake), hint)


# What the variants of d.4-part-of-the-diagonal are told.
_DIAGONAL = {"omega": "share", "share_text": r"$\omega$"}
_BLOCKS = {"omega": "(1 - share)", "share_text": r"the share of the blocks, $1 - \omega$"}
_GROUPS = " * np.array([1, v - 1, v * (tau - a) / a])"
_ONE_WORD = {
    "asked_for": "the three weights $b$, $c$ and $g$",
    "from_weights": "",
    "from_parts": " / counts",
    "wrong_way": _GROUPS,
}
_EACH_GROUP = {
    "asked_for": r"how much attention each of the three groups gets as a whole, $b$, $(v-1)c$ and $\frac{v(\tau - a)}{a}\, g$,",
    "from_weights": _GROUPS,
    "from_parts": "",
    "wrong_way": "",
}

EXERCISES: list[Exercise] = [
    Exercise(
        id="d.4-diagonal",
        title="the matrix that copies",
        level="warm-up",
        minutes=5,
        objective="turning Lemma 1's block sums into one particular minimiser",
        prerequisites=(
            "[Lemma 1](appendix_a.ipynb#lemma-1)",
            "[the diagonal value matrix](appendix_d_4.ipynb#the-diagonal-value-matrix)",
        ),
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
        prerequisites=(
            "[what copying can give](appendix_d_4.ipynb#what-copying-can-give)",
            "conditional probability; squared loss of a mean",
        ),
        graded=True,
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
        prerequisites=(
            "[what one word looks for](appendix_d_4.ipynb#what-one-word-looks-for)",
            "[the edge](appendix_d_4.ipynb#when-is-alpha-at-the-edge) of a constrained minimum",
        ),
        function="alpha_given_beta",
        statement=r"""
            As $T \to \infty$ a kept word's query has weights $b = \beta g$, $c = \alpha g$ and $g$ with
            $b + (v-1)c + \frac{v(\tau - a)}{a} g = 1$, and with the diagonal value matrix the loss
            $(b/a - 1)^2$ $+ (v-1)(c/a)^2$ $+ (\tau-1)v(g/a)^2$. Return the $\alpha \ge 0$ that minimises it at a given $\beta > 0$,
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
    Exercise(
        id="d.4-part-of-the-diagonal",
        title="copying with a part of the diagonal",
        level="challenge",
        minutes=40,
        objective="to minimise a quadratic under constraints when several of them may bind",
        prerequisites=(
            "[what one word looks for](appendix_d_4.ipynb#what-one-word-looks-for)",
            "minimising a sum of squares over weights that are not negative",
        ),
        graded=True,
        function="weights_of_kept_word",
        statement=r"""
            A mixture of two minimisers of stage 1 is one too: $\mathbf{W} = \omega \cdot \text{diagonal} + (1 - \omega) \cdot \text{blocks}$, both with all $u_i = 0$ (blocks: $1/(av)$ in
            every entry of the own topic). Let $T \to \infty$. The query of a kept word gives the weight $b$ to that word, $c$ to each of the $v - 1$ other
            words of its topic and $g$ to each word of the document's other $\tau - 1$ topics, and nothing else costs: $b + (v-1)c + \frac{v(\tau - a)}{a}\, g = 1$. Weights
            are not negative. Write down the loss of such a query, and return, as an array, {{asked_for}} where it is least. `share` is {{share_text}}; $0 < \omega \le 1$,
            $0 < a < 1$, $v \ge 2$, $\tau \ge 2$. Four digits are enough.
        """,
        stub='''
            def weights_of_kept_word(share, a, v, tau):
                """Three numbers that describe the best attention of a kept word's query."""
                raise NotImplementedError("your answer")
        ''',
        reference=_PARTS,
        alternative="""
            import numpy as np
            from scipy.optimize import minimize

            def weights_of_kept_word(share, a, v, tau):
                omega = {{omega}}
                counts = np.array([1, v - 1, v * (tau - a) / a])

                def loss(parts):
                    b, c, g = parts / counts
                    block = (1 - omega) * (b + (v - 1) * c) / v
                    own, others = omega * b + block, omega * c + block
                    return (own / a - 1) ** 2 + (v - 1) * (others / a) ** 2 + (tau - 1) * v * (g / a) ** 2

                best = None
                for start in (np.full(3, 1 / 3), np.array([0.8, 0.1, 0.1])):
                    found = minimize(
                        loss, start, method="SLSQP", bounds=[(0, 1)] * 3, options={"ftol": 1e-15, "maxiter": 500},
                        constraints={"type": "eq", "fun": lambda parts: parts.sum() - 1},
                    )
                    best = found if best is None or found.fun < best.fun else best
                return best.x{{from_parts}}
        """,
        wrong=(
            _parts("omega = {{omega}}", "omega = 1", "all-diagonal"),
            _parts("omega = {{omega}}", "omega = 1 - {{omega}}", "share-of-the-other"),
            _parts("if (x >= 0).all():", "if True:", "negative"),
            _parts("for free in SETS", "for free in ([0, 2], [0])", "others-never-used"),
            _parts("outputs[1] = omega * np.eye(3)[1] + block", "outputs[1] = block", "not-the-minimum"),
            _parts(
                "weighted = np.array([1, v - 1, (tau - 1) * v])", "weighted = np.array([1, 1, (tau - 1) * v])", "not-the-minimum"
            ),
            _parts("return weights{{from_weights}}", "return weights{{wrong_way}}", "word-or-group"),
            _parts(
                "return weights{{from_weights}}",
                "counts = np.array([1, v - 1, (tau - 1) * v])\n    weights = weights / (counts @ weights)\n    return weights{{from_weights}}",
                "not-normalised",
            ),
        ),
        hidden=_hidden_part_of_diagonal,
        explanation=r"""
            A word's output is $\frac{1}{a}$ times $\omega$ times its own weight, plus $\frac{1 - \omega}{v} S$ with $S = b + (v-1)c$ for the blocks. So the loss is $(o_b/a - 1)^2 +
            (v-1)(o_c/a)^2 + (\tau - 1)v(g/a)^2$ with $o_b = \omega b + \frac{1 - \omega}{v} S$ and $o_c = \omega c + \frac{1 - \omega}{v} S$. It is strictly convex for $\omega > 0$. Solve it
            with all three weights free, and if one is negative, with that one at zero. In the free solution the split within the topic makes up for the
            blocks, $c = (\omega S - a)/(v\omega)$: as long as $\omega S \ge a$ a part of the diagonal copies as well as all of it. Otherwise $c = 0$, and
            for small $\omega$ the word may take all attention, $g = 0$.
        """,
        variants=(
            Variant({"share_of": "diagonal", "asked": "one word"}, _DIAGONAL | _ONE_WORD),
            Variant({"share_of": "blocks", "asked": "one word"}, _BLOCKS | _ONE_WORD),
            Variant({"share_of": "diagonal", "asked": "each group"}, _DIAGONAL | _EACH_GROUP),
            Variant({"share_of": "blocks", "asked": "each group"}, _BLOCKS | _EACH_GROUP),
        ),
    ),
]

PAPER = [
    PaperExercise(
        id="d.4-paper-between",
        title="between the blocks and the diagonal",
        level="core",
        minutes=25,
        objective="to separate what stage 1 decides, what the penalty decides, and what stage 2 would like",
        prerequisites=(
            "[Lemma 1](appendix_a.ipynb#lemma-1)",
            "[the diagonal value matrix](appendix_d_4.ipynb#the-diagonal-value-matrix)",
            "[what it means for Theorem 3](appendix_d_4.ipynb#what-it-means-for-theorem-3)",
        ),
        graded=True,
        statement=r"""
            Let $\mathbf{B}$ have $\frac{1}{av}$ in every entry of a word's own topic, $\mathbf{D}$ be the diagonal with $\frac{1}{a}$, both with $-c_1$ in column 0, row 0
            zero and $v \ge 2$. Put $\mathbf{W}(\omega) = (1 - \omega)\mathbf{B} + \omega\mathbf{D}$. (a) Show that the loss of stage 1 is the same for all real $\omega$. (b) Compute
            $\|\mathbf{W}(\omega)\|_F^2$, and say which $\omega$ a small penalty prefers. (c) Under uniform attention, how do the predictions of $\mathbf{W}(0)$ and
            $\mathbf{W}(1)$ differ for a document of *finite* length in which some selected words were kept, and why does this make $\omega > 0$ better there? (d) Stage 2 takes $\omega$ as given. Name
            one thing that attention can do with $\omega = 1$ and not with $\omega = 0$, and one consequence for $\alpha$.
        """,
        rubric=(
            (
                2,
                r"(a) Both matrices have Lemma 1's block sums with all $u_i = 0$ (1), and the minimisers are an affine set, or: the block sums of $\mathbf{W}(\omega)$ are again the same (1).",
            ),
            (
                3,
                r"(b) $Tv\bigl(c_1^2 + \frac{1}{a^2}\bigl(\frac{1}{v} + \omega^2 (1 - \frac{1}{v})\bigr)\bigr)$ (2; one of them for a right set-up with an error in the algebra); least at $\omega = 0$ (1).",
            ),
            (
                2,
                r"(c) The histogram counts the selected position itself, with weight $1/N$, and where the word was kept that is the target (1); with the diagonal it votes for itself by $\frac{1}{aN}$, with blocks by $\frac{1}{avN}$ and as much for the wrong words of its topic (1).",
            ),
            (
                2,
                r"(d) With $\omega = 1$ attention can say which word it is, that is copy a kept word; with $\omega = 0$ only which topic.",
            ),
            (
                1,
                r"(d) With $\omega = 1$ attention to other words of the topic is a vote for wrong words, so the best $\alpha$ is below one; with blocks only the average counts.",
            ),
        ),
        model_answer=r"""
            (a) In a row of $\mathbf{B}$ or of $\mathbf{D}$ the own topic sums to $\frac{1}{a}$ and every other topic to 0, and the entry at [MASK] is $-c_1$: Lemma 1 with all
            $u_i = 0$. The sums of $\mathbf{W}(\omega)$ are $(1 - \omega)$ times the one plus $\omega$ times the other, hence the same. So $\mathbf{W}(\omega)$ is a minimiser for every real $\omega$.

            (b) Take a row of a word. Column 0 adds $c_1^2$. The own topic has one entry $\frac{1}{a}\bigl(\omega + \frac{1 - \omega}{v}\bigr)$ and $v - 1$ entries $\frac{1}{a}\cdot\frac{1 - \omega}{v}$. Their squares add to
            $\frac{1}{a^2}\bigl(\omega^2 + \frac{2\omega(1 - \omega)}{v} + \frac{(1 - \omega)^2}{v}\bigr) = \frac{1}{a^2}\bigl(\frac{1}{v} + \omega^2\bigl(1 - \frac{1}{v}\bigr)\bigr)$. There are $Tv$
            such rows, and row 0 is zero: $\|\mathbf{W}(\omega)\|_F^2 = Tv\bigl(c_1^2 + \frac{1}{a^2}\bigl(\frac{1}{v} + \omega^2(1 - \frac{1}{v})\bigr)\bigr)$. A small penalty prefers $\omega = 0$.

            (c) The average under uniform attention includes the selected position, with the weight $\frac{1}{N}$. Where the word was kept, it is the target. The diagonal turns this into a vote of
            $\frac{1}{aN}$ for the target alone. Blocks make it $\frac{1}{avN}$ for each word of the topic, the wrong ones too. The evidence about the word itself is lost with blocks and used with the diagonal, so the best matrix for
            documents of finite length has a positive part of it.

            (d) With $\omega = 1$ attention to a word is a vote for that word: a query that shows a kept word can copy it. With $\omega = 0$ attention can only say which topic. The price is that attention to
            other words of the topic now votes for wrong words. The best $\alpha$ falls below one, $\frac{a(\tau - 1)}{\tau - a}$ for many topics, where with blocks only the average $s$ matters.
        """,
    ),
]
