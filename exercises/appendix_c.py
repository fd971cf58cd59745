"""Exercises of Appendix C."""

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
from topiclib.checks.base import Answer, as_array, close, expect
from topiclib.documents import DocumentSettings, infinite_documents
from topiclib.masking import MaskingSettings, masked_distribution
from topiclib.theory import ridge_value_matrix


def _hidden_block_means(answer: Answer) -> None:
    w = np.random.default_rng(3).normal(size=(13, 13))
    smallest = as_array(answer(w, 3, 4), (13, 13), "the matrix")
    sums = w[:, 1:].reshape(13, 3, 4).sum(axis=2)
    expect(close((smallest**2).sum(), (sums**2 / 4).sum() + (w[:, 0] ** 2).sum()), "other-sizes", "it fails for other sizes.")


def _hidden_effective_topics(answer: Answer) -> None:
    weights = np.random.default_rng(4).dirichlet([0.3, 0.2, 1.0, 0.7], size=50)
    total = sum(float(row @ row) for row in weights)
    expect(
        close(as_array(answer(weights), (), "the number of topics"), len(weights) / total),
        "other-weights",
        "it fails on other weights.",
    )


def _hidden_steps_needed(answer: Answer) -> None:
    for eigenvalue, rate, fraction in ((0.003, 0.05, 0.99), (0.02, 10.0, 0.8), (0.4, 0.9, 0.6)):
        steps, error = 0, 1.0
        while 1 - error < fraction:
            steps, error = steps + 1, error * (1 - 2 * rate * eigenvalue)
        expect(
            close(as_array(answer(eigenvalue, rate, fraction), (), "the number of steps"), steps),
            "other-rates",
            "it fails for other rates and fractions.",
        )


def _hidden_silent_penalty(answer: Answer) -> None:
    for t, v, tau, p_m, p_c, p_r in ((7, 3, 5, 0.4, 0.0, 0.3), (20, 2, 1, 0.2, 0.3, 0.2)):
        penalty = float(as_array(answer(t, v, tau, p_m, p_c, p_r), (), "the penalty as a single number"))
        settings = {"num_topics": t, "words_per_topic": v, "topics_per_doc": tau, "p_m": p_m, "p_c": p_c, "p_r": p_r}
        w = ridge_value_matrix(l2_coef=max(penalty, 0), **settings)
        hint = "it fails for other numbers of topics and other masks."
        expect(penalty > 0 and abs(w.different_topic) < 1e-6 * abs(w.same_topic), "other-settings", hint)


def _hidden_descent_limit(answer: Answer, rows: str = "outputs", cross: str = "x y") -> None:
    documents = infinite_documents(DocumentSettings.theory(topics_per_doc=2, num_topics=3, words_per_topic=2))
    x = masked_distribution(documents, MaskingSettings(0.3, 0.2, 0.1))
    second, x_y = x.T @ x / len(x), x.T @ documents / len(x)
    start = np.random.default_rng(5).normal(size=(7, 7))
    turned = start if rows == "outputs" else start.T
    found = as_array(answer(turned, second, x_y if cross == "x y" else x_y.T), (7, 7), "the limit")
    found = found if rows == "outputs" else found.T
    _, s, vt = np.linalg.svd(second)
    silent = vt[s < 1e-9 * s[0]]
    good = close(found @ second, x_y.T, 1e-5) and close(found @ silent.T, start @ silent.T, 1e-5)
    expect(good, "other-moments", "it fails on the moments of the course's own documents.")


# What the variants of c-descent-limit are told.
_COLUMN_VECTORS = {
    "loss": r"$\mathbb{E} \|\mathbf{W} \mathbf{x} - \mathbf{y}\|^2$",
    "fitted": "cross.T @ inverse",
    "turned": "cross @ inverse",
    "kept": "start @ silent",
    "wrong_side": "silent @ start",
    "slope": "(w @ second - cross.T)",
}
_ROW_VECTORS = {
    "loss": r"$\mathbb{E} \|\mathbf{x}^\top \mathbf{W} - \mathbf{y}^\top\|^2$",
    "fitted": "inverse @ cross.T",
    "turned": "inverse @ cross",
    "kept": "silent @ start",
    "wrong_side": "start @ silent",
    "slope": "(second @ w - cross.T)",
}
_X_FIRST = {"moment": r"$\mathbb{E}[\mathbf{x}\mathbf{y}^\top]$"}
_Y_FIRST = {"moment": r"$\mathbb{E}[\mathbf{y}\mathbf{x}^\top]$"}

EXERCISES = [
    Exercise(
        id="c-block-means",
        title="the smallest matrix with given block sums",
        level="warm-up",
        minutes=8,
        objective="step 2 of the proof of Theorem 2: what the least norm does to the entries that Lemma 1 leaves free",
        prerequisites=(
            "step 2 of [the proof of Theorem 2](appendix_c.ipynb#c2-the-smallest-of-the-minimisers)",
            "reshaping and means along an axis",
        ),
        function="smallest_with_sums",
        statement=r"""
            `w` is a matrix of shape $(Tv + 1, Tv + 1)$. Consider all matrices that have, in every row, the same entry in column 0 as `w` and
            the same sum over the words of each topic. Return the one with the least Frobenius norm.
        """,
        stub='''
            def smallest_with_sums(w, num_topics, words_per_topic):
                """The smallest matrix with the same column 0 and the same block sums in each row; shape (V, V)."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def smallest_with_sums(w, num_topics, words_per_topic):
                smallest = np.array(w, dtype=float)
                for topic in range(num_topics):
                    words = slice(1 + topic * words_per_topic, 1 + (topic + 1) * words_per_topic)
                    smallest[:, words] = smallest[:, words].mean(axis=1, keepdims=True)
                return smallest
        """,
        alternative="""
            import numpy as np

            def smallest_with_sums(w, num_topics, words_per_topic):
                spread = np.zeros((len(w), len(w)))
                spread[0, 0] = 1
                spread[1:, 1:] = np.kron(np.eye(num_topics), np.ones((words_per_topic, words_per_topic))) / words_per_topic
                return np.asarray(w) @ spread
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def smallest_with_sums(w, num_topics, words_per_topic):
                    spread = np.zeros((len(w), len(w)))
                    spread[0, 0] = 1
                    spread[1:, 1:] = np.kron(np.eye(num_topics), np.ones((words_per_topic, words_per_topic))) / words_per_topic
                    return spread @ np.asarray(w) @ spread
                """,
                "rows-mixed",
            ),
            Wrong(
                """
                import numpy as np

                def smallest_with_sums(w, num_topics, words_per_topic):
                    w = np.array(w, dtype=float)
                    for start in range(1, len(w), words_per_topic):
                        w[start : start + words_per_topic] = w[start : start + words_per_topic].mean(axis=0)
                    return w
                """,
                "rows-mixed",
            ),
            Wrong(
                """
                import numpy as np

                def smallest_with_sums(w, num_topics, words_per_topic):
                    w = np.array(w, dtype=float)
                    w[:, 0] = 0
                    for start in range(1, len(w), words_per_topic):
                        w[:, start : start + words_per_topic] = w[:, start : start + words_per_topic].mean(axis=1, keepdims=True)
                    return w
                """,
                "mask-column",
            ),
            Wrong(
                """
                import numpy as np

                def smallest_with_sums(w, num_topics, words_per_topic):
                    w = np.array(w, dtype=float)
                    for start in range(1, len(w), words_per_topic):
                        w[:, start : start + words_per_topic] = w[:, start : start + words_per_topic].sum(axis=1, keepdims=True)
                    return w
                """,
                "sum-not-mean",
            ),
            Wrong(
                """
                import numpy as np

                def smallest_with_sums(w, num_topics, words_per_topic):
                    w = np.array(w, dtype=float)
                    w[:, 1:] = w[:, 1:].mean(axis=1, keepdims=True)
                    return w
                """,
                "topics-mixed",
            ),
            Wrong(
                """
                def smallest_with_sums(w, num_topics, words_per_topic):
                    return w
                """,
                "not-smallest",
            ),
        ),
        hidden=_hidden_block_means,
        explanation=r"""
            Rows do not interact, and in a row blocks do not. Of $v$ numbers with a given sum the squares are smallest when all are equal
            (Cauchy and Schwarz), so each entry becomes the mean of its row over its topic.
        """,
    ),
    Exercise(
        id="c-effective-topics",
        title="how many topics a mixture counts for",
        level="warm-up",
        minutes=8,
        objective="what of a topic mixture the optimal value matrix depends on",
        prerequisites=(
            "[topics drawn by LDA](appendix_c.ipynb#topics-drawn-by-lda)",
            "the second moment of a random vector",
        ),
        function="topics_of_mixture",
        statement=r"""
            `weights` has shape (documents, $T$): each row is a document's topic weights, and sums to 1. All documents are equally likely, and no
            topic is preferred. Return the number $\tau$ of Section 3.1 for which documents with $\tau$ equally weighted topics have the same second
            moments. It need not be whole.
        """,
        stub='''
            def topics_of_mixture(weights):
                """The effective number of topics of a document."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def topics_of_mixture(weights):
                return 1 / (np.asarray(weights) ** 2).sum(axis=1).mean()
        """,
        alternative="""
            def topics_of_mixture(weights):
                same_topic_twice = [sum(float(w) * float(w) for w in document) for document in weights]
                return len(same_topic_twice) / sum(same_topic_twice)
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def topics_of_mixture(weights):
                    return (1 / (np.asarray(weights) ** 2).sum(axis=1)).mean()
                """,
                "mean-of-inverses",
            ),
            Wrong(
                """
                import numpy as np

                def topics_of_mixture(weights):
                    w = np.asarray(weights)
                    return np.exp(-(w * np.log(np.maximum(w, 1e-300))).sum(axis=1).mean())
                """,
                "not-second-moment",
            ),
            Wrong(
                """
                import numpy as np

                def topics_of_mixture(weights):
                    return (np.asarray(weights) > 0).sum(axis=1).mean()
                """,
                "counted",
            ),
            Wrong(
                """
                import numpy as np

                def topics_of_mixture(weights):
                    return 1 / (np.asarray(weights).mean(axis=0) ** 2).sum()
                """,
                "mean-before-square",
            ),
            Wrong(
                """
                import numpy as np

                def topics_of_mixture(weights):
                    return 1 / (np.asarray(weights) ** 2).mean()
                """,
                "not-summed",
            ),
        ),
        hidden=_hidden_effective_topics,
        explanation=r"""
            With $\tau$ weights $1/\tau$ the sum of squares is $1/\tau$. The moments are means over documents, so the mean is taken of the sum of
            squares, before the inverse. The sum of squares is also the probability that two words of a document come from the same topic.
        """,
    ),
    Exercise(
        id="c-steps-needed",
        title="how many steps a direction needs",
        level="core",
        minutes=12,
        objective="to read the speed of training off an eigenvalue",
        prerequisites=(
            "[the path of gradient descent](appendix_c.ipynb#the-path-of-gradient-descent)",
            "logarithms of a geometric decay",
        ),
        function="steps_needed",
        statement=r"""
            Gradient descent on the exact squared loss of stage 1 starts at zero. Along a direction in which $\mathbb{E}[\mathbf{x}\mathbf{x}^\top]$ has the
            eigenvalue `eigenvalue`, return the least whole number of steps after which at least `fraction` of the optimum is learned.
            You may take $0 <$ `learning_rate * eigenvalue` $< 1/2$ and $0 <$ `fraction` $< 1$.
        """,
        stub='''
            def steps_needed(eigenvalue, learning_rate, fraction):
                """The least number of steps that learns the fraction."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import math

            def steps_needed(eigenvalue, learning_rate, fraction):
                return math.ceil(math.log(1 - fraction) / math.log(1 - 2 * learning_rate * eigenvalue))
        """,
        alternative="""
            def steps_needed(eigenvalue, learning_rate, fraction):
                learned, steps = 0.0, 0
                while learned < fraction:
                    learned += 2 * learning_rate * eigenvalue * (1 - learned)
                    steps += 1
                return steps
        """,
        wrong=(
            Wrong(
                """
                import math

                def steps_needed(eigenvalue, learning_rate, fraction):
                    return math.ceil(math.log(1 - fraction) / math.log(1 - learning_rate * eigenvalue))
                """,
                "factor-two",
            ),
            Wrong(
                """
                import math

                def steps_needed(eigenvalue, learning_rate, fraction):
                    return math.ceil(-math.log(1 - fraction) / (2 * learning_rate * eigenvalue))
                """,
                "continuous-time",
            ),
            Wrong(
                """
                import math

                def steps_needed(eigenvalue, learning_rate, fraction):
                    return math.floor(math.log(1 - fraction) / math.log(1 - 2 * learning_rate * eigenvalue))
                """,
                "too-few",
            ),
            Wrong(
                """
                import math

                def steps_needed(eigenvalue, learning_rate, fraction):
                    return math.log(1 - fraction) / math.log(1 - 2 * learning_rate * eigenvalue)
                """,
                "not-whole",
            ),
            Wrong(
                """
                import math

                def steps_needed(eigenvalue, learning_rate, fraction):
                    return math.ceil(math.log(fraction) / math.log(1 - 2 * learning_rate * eigenvalue))
                """,
                "fraction-left",
            ),
        ),
        hidden=_hidden_steps_needed,
        explanation=r"""
            After $t$ steps a fraction $1 - (1 - 2 \eta s)^t$ is learned. The 2 is the derivative of the square. For small $\eta s$ the answer is close
            to $-\log(1 - \text{fraction}) / (2 \eta s)$, but not equal to it.
        """,
    ),
    Exercise(
        id="c-silent-penalty",
        title="the penalty at which topics are silent on each other",
        level="core",
        minutes=20,
        objective="to work with the exact ridge solution, and to see that Theorem 2's small negative entry is a balance of two parts",
        prerequisites=(
            "[the exact ridge solution](appendix_c.ipynb#ridge)",
            r"its eigenvalues $s_0$ and $\kappa$ ([the spectrum](appendix_c.ipynb#the-spectrum))",
        ),
        graded=True,
        function="silent_penalty",
        statement=r"""
            The paper says that a word "does not contribute to predicting words of *different topics*". In the limit of Theorem 2 it does, a little:
            $\mathbf{W}_{\text{diff}} < 0$. Return the penalty $\lambda > 0$ at which the exact minimiser (infinite documents, uniform attention) has
            $\mathbf{W}_{\text{diff}} = 0$. You may take $1 \le \tau < T$ and $p_r > 0$; then there is exactly one.
        """,
        stub='''
            def silent_penalty(num_topics, words_per_topic, topics_per_doc, p_m, p_c, p_r):
                """The penalty at which W_diff is zero."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            from topiclib.theory import masking_fractions, spectrum

            def silent_penalty(num_topics, words_per_topic, topics_per_doc, p_m, p_c, p_r):
                f = masking_fractions(p_m=p_m, p_c=p_c, p_r=p_r)
                s = spectrum(
                    num_topics=num_topics, words_per_topic=words_per_topic, topics_per_doc=topics_per_doc, p_m=p_m, p_c=p_c, p_r=p_r
                )
                words, product = num_topics * words_per_topic, f.true * (1 - f.mask)
                return float(s.topic * (words * s.mean - product) / (product - words * s.topic))
        """,
        alternative="""
            from scipy.optimize import brentq

            from topiclib.theory import ridge_value_matrix

            def silent_penalty(num_topics, words_per_topic, topics_per_doc, p_m, p_c, p_r):
                def different(penalty):
                    w = ridge_value_matrix(
                        l2_coef=float(penalty), num_topics=num_topics, words_per_topic=words_per_topic,
                        topics_per_doc=topics_per_doc, p_m=p_m, p_c=p_c, p_r=p_r,
                    )
                    return w.different_topic

                return brentq(different, 1e-12, 1e3, xtol=1e-15)
        """,
        wrong=(
            Wrong(
                """
                from topiclib.theory import spectrum

                def silent_penalty(num_topics, words_per_topic, topics_per_doc, p_m, p_c, p_r):
                    return spectrum(
                        num_topics=num_topics, words_per_topic=words_per_topic, topics_per_doc=topics_per_doc, p_m=p_m, p_c=p_c, p_r=p_r
                    ).topic
                """,
                "half-of-the-topics",
            ),
            Wrong(
                """
                from topiclib.theory import masking_fractions, spectrum

                def silent_penalty(num_topics, words_per_topic, topics_per_doc, p_m, p_c, p_r):
                    f = masking_fractions(p_m=p_m, p_c=p_c, p_r=p_r)
                    s = spectrum(
                        num_topics=num_topics, words_per_topic=words_per_topic, topics_per_doc=topics_per_doc, p_m=p_m, p_c=p_c, p_r=p_r
                    )
                    words = num_topics * words_per_topic
                    return s.topic * (words * s.mean / (f.true * (1 - f.mask)) - 1)
                """,
                "mean-not-shrunk",
            ),
            Wrong(
                """
                from topiclib.theory import masking_fractions, spectrum

                def silent_penalty(num_topics, words_per_topic, topics_per_doc, p_m, p_c, p_r):
                    f = masking_fractions(p_m=p_m, p_c=p_c, p_r=p_r)
                    s = spectrum(
                        num_topics=num_topics, words_per_topic=words_per_topic, topics_per_doc=topics_per_doc, p_m=p_m, p_c=p_c, p_r=p_r
                    )
                    words, product = num_topics * words_per_topic, 1 - f.mask
                    return s.topic * (words * s.mean - product) / (product - words * s.topic)
                """,
                "dilution-lost",
            ),
            Wrong(
                """
                def silent_penalty(num_topics, words_per_topic, topics_per_doc, p_m, p_c, p_r):
                    return 0.0
                """,
                "not-positive",
            ),
            Wrong(
                """
                def silent_penalty(num_topics, words_per_topic, topics_per_doc, p_m, p_c, p_r):
                    return 1e9
                """,
                "too-large",
            ),
        ),
        hidden=_hidden_silent_penalty,
        explanation=r"""
            $\mathbf{W}_{\text{diff}}$ is the mean part less the topic part: $\frac{1-m}{(Tv)^2 (s_0 + \lambda)} - \frac{\kappa}{\kappa + \lambda} \cdot
            \frac{1}{a T v}$. Setting it to zero gives one linear equation in $\lambda$. Or let a root finder do it: the sign changes once.
        """,
    ),
    Exercise(
        id="c-descent-limit",
        title="where gradient descent ends from any start",
        level="challenge",
        minutes=25,
        objective="what silent directions do to training",
        prerequisites=(
            "[the path of gradient descent](appendix_c.ipynb#the-path-of-gradient-descent)",
            "pseudo-inverse and projections of a symmetric matrix",
        ),
        graded=True,
        function="limit_of_descent",
        statement=r"""
            Gradient descent on {{loss}}, with a learning rate small enough to converge, starts at the matrix
            `start`, which need not be zero. Return its limit. `second` is $\mathbb{E}[\mathbf{x}\mathbf{x}^\top]$, which may be singular, and `cross` is
            {{moment}}; all three have shape $(V, V)$. You may take it that the loss has a minimiser.
        """,
        stub='''
            def limit_of_descent(start, second, cross):
                """The limit of gradient descent from ``start``; shape (V, V)."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def limit_of_descent(start, second, cross):
                inverse = np.linalg.pinv(second, hermitian=True)
                silent = np.eye(len(second)) - second @ inverse
                return {{fitted}} + {{kept}}
        """,
        alternative="""
            import numpy as np

            def limit_of_descent(start, second, cross):
                w = np.array(start, dtype=float)
                rate = 0.5 / np.linalg.eigvalsh(second).max()
                for _ in range(5000):
                    w = w - 2 * rate * {{slope}}
                return w
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def limit_of_descent(start, second, cross):
                    inverse = np.linalg.pinv(second)
                    return {{fitted}}
                """,
                "start-forgotten",
            ),
            Wrong(
                """
                import numpy as np

                def limit_of_descent(start, second, cross):
                    inverse = np.linalg.pinv(second)
                    return start + {{fitted}}
                """,
                "start-kept-whole",
            ),
            Wrong(
                """
                import numpy as np

                def limit_of_descent(start, second, cross):
                    inverse = np.linalg.pinv(second)
                    silent = second @ inverse
                    return {{fitted}} + {{kept}}
                """,
                "moving-part-kept",
            ),
            Wrong(
                """
                import numpy as np

                def limit_of_descent(start, second, cross):
                    inverse = np.linalg.pinv(second)
                    silent = np.eye(len(second)) - second @ inverse
                    return {{fitted}} + {{wrong_side}}
                """,
                "wrong-side",
            ),
            Wrong(
                """
                import numpy as np

                def limit_of_descent(start, second, cross):
                    inverse = np.linalg.pinv(second)
                    silent = np.eye(len(second)) - second @ inverse
                    return {{turned}} + {{kept}}
                """,
                "cross-transposed",
            ),
            Wrong(
                """
                import numpy as np

                def limit_of_descent(start, second, cross):
                    inverse = np.linalg.inv(second + 0.01 * np.eye(len(second)))
                    return {{fitted}}
                """,
                "not-a-minimiser",
            ),
        ),
        hidden=_hidden_descent_limit,
        explanation=r"""
            Along an eigenvector with a positive eigenvalue the start is forgotten, and the limit is the least-squares solution. Along one with
            eigenvalue zero the gradient is zero, and the start stays. The projection stands on the side on which $\mathbf{W}$ meets $\mathbf{x}$.
        """,
        variants=(
            Variant({"rows": "outputs", "cross": "x y"}, _COLUMN_VECTORS | _X_FIRST),
            Variant(
                {"rows": "outputs", "cross": "y x"},
                _COLUMN_VECTORS
                | _Y_FIRST
                | {"fitted": "cross @ inverse", "turned": "cross.T @ inverse", "slope": "(w @ second - cross)"},
            ),
            Variant(
                {"rows": "inputs", "cross": "x y"},
                _ROW_VECTORS
                | _X_FIRST
                | {"fitted": "inverse @ cross", "turned": "inverse @ cross.T", "slope": "(second @ w - cross)"},
            ),
            Variant({"rows": "inputs", "cross": "y x"}, _ROW_VECTORS | _Y_FIRST),
        ),
    ),
]

PAPER = [
    PaperExercise(
        id="c-paper-random-start",
        title="what a random start leaves behind",
        level="core",
        minutes=25,
        objective="to say how near training from small random weights comes to Theorem 2",
        prerequisites=(
            "[the path of gradient descent](appendix_c.ipynb#the-path-of-gradient-descent)",
            "[the spectrum](appendix_c.ipynb#the-spectrum), with its zeros",
            "mean and trace of a quadratic form",
        ),
        graded=True,
        statement=r"""
            $\mathbf{W}_0$ has independent entries with mean 0 and variance $\sigma^2$. Gradient descent on the loss of stage 1, without a penalty and with a
            learning rate $\eta < 1/s_0$, starts there; $1 \le \tau < T$. Let $\mathbf{W}_\infty$ be its limit and $\mathbf{W}^\star$ Theorem 2's matrix. (a) Show that
            $\mathbf{W}_\infty - \mathbf{W}^\star = \mathbf{W}_0 \mathbf{\Pi}$ with a projection $\mathbf{\Pi}$, and say onto what. (b) Compute
            $\mathbb{E}\, \|\mathbf{W}_\infty - \mathbf{W}^\star\|_F^2$ as a function of $T$, $v$ and $\sigma$. (c) For $T = v = 10$ and the paper's masks
            $\|\mathbf{W}^\star\|_F^2$ is 12.48. Below which $\sigma$ is the expected squared error less than one hundredth of that? (d) Does the random
            part cost anything in stage 1? Does training longer remove it?
        """,
        rubric=(
            (
                3,
                r"(a) $\mathbf{W}_{t+1} - \mathbf{W}^\star = (\mathbf{W}_t - \mathbf{W}^\star)(\mathbf{I} - 2\eta\mathbf{S})$ (1); along eigenvalues $s_0$ and $\kappa$ the factor is below one in absolute value, which is where the bound on $\eta$ is used, and along zeros it is one (1); $\mathbf{W}^\star$ has nothing in the silent directions, so only $\mathbf{W}_0\mathbf{\Pi}$ is left (1).",
            ),
            (1, r"$\mathbf{\Pi}$ is the orthogonal projection onto the null space of $\mathbb{E}[\mathbf{x}\mathbf{x}^\top]$."),
            (
                3,
                r"(b) $\sigma^2 (Tv + 1)\,(T(v - 1) + 1)$: each row adds $\sigma^2$ times the trace of $\mathbf{\Pi}$ (2), and there are $Tv + 1$ rows (1). One point only if the trace is argued and its value is wrong.",
            ),
            (1, r"(c) $\sigma < 0.0037$, from $9191\, \sigma^2 < 0.1248$; a result that follows from a wrong (b) counts."),
            (
                2,
                "(d) No cost: a silent direction never changes a prediction (1). Training longer does not remove it, only a penalty does (1).",
            ),
        ),
        model_answer=r"""
            (a) Since $\mathbf{C}^\top = \mathbf{W}^\star \mathbf{S}$, each step multiplies the error: $\mathbf{W}_{t+1} - \mathbf{W}^\star = (\mathbf{W}_t -
            \mathbf{W}^\star)(\mathbf{I} - 2\eta\mathbf{S})$. $\mathbf{S}$ has the eigenvalues $s_0$, $\kappa$ and 0. With $0 < \eta < 1/s_0$ and
            $\kappa \le s_0$ the factors $1 - 2\eta s_0$ and $1 - 2\eta\kappa$ lie strictly between $-1$ and 1, so their powers vanish. Along the null space
            the factor is 1. Hence $\mathbf{W}_\infty - \mathbf{W}^\star = (\mathbf{W}_0 - \mathbf{W}^\star)\mathbf{\Pi}$, with $\mathbf{\Pi}$ the orthogonal projection
            onto the null space of $\mathbf{S}$. The smallest minimiser has no part there, or removing it would give a smaller one. So $\mathbf{W}^\star
            \mathbf{\Pi} = 0$, and $\mathbf{W}_0 \mathbf{\Pi}$ is left.

            (b) A row $\mathbf{w}$ of $\mathbf{W}_0$ has $\mathbb{E}\, \|\mathbf{w}\mathbf{\Pi}\|^2 = \mathbb{E}\, \mathbf{w}\mathbf{\Pi}\mathbf{w}^\top = \sigma^2
            \operatorname{tr} \mathbf{\Pi}$, and the trace of a projection is the dimension of its image, here $T(v-1) + 1$. There are $Tv + 1$ rows:
            $\sigma^2 (Tv + 1)(T(v-1) + 1)$.

            (c) $101 \cdot 91 = 9191$. From $9191\, \sigma^2 < 0.1248$ follows $\sigma < 0.0037$.

            (d) The random part lies in directions in which $\mathbf{x}$ never moves, so it changes no prediction and costs nothing in stage 1. For the same
            reason the gradient is zero there and stays zero: longer training does not remove it. A penalty does, however small, if training lasts.
        """,
    ),
]
