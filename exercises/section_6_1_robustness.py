"""Exercises of the chapter on robustness (Section 6.1)."""

import numpy as np

from exercises.format import Exercise, Wrong
from topiclib.checks.base import Answer, as_array, close, expect
from topiclib.checks.section_6_1_robustness import descent_case, is_infinite, ring_contrast


def _hidden_lost_at(answer: Answer) -> None:
    got = as_array(answer([0.1, 0.4, 1.6], [0.99, 0.6, 0.2], 0.8), (), "one number")
    expect(close(got, 0.1 + 0.3 * 19 / 39), "other-values", "it fails on other values.")
    for shares in ([1.0, 0.875], [1.0, 0.75]):
        got = answer([3.0, 5.0], shares, 0.75)
        expect(is_infinite(got), "other-values", "it fails on an axis that ends before the structure is lost.")
    got = as_array(answer([3.0, 5.0], [0.4, 0.3], 0.95), (), "one number")
    expect(close(got, 3), "other-values", "it fails on an axis whose first value, not zero, has lost it already.")
    got = as_array(answer([1.0, 2.0, 3.0, 4.0], [1.0, 0.75, 0.75, 0.5], 0.75), (), "one number")
    expect(close(got, 3), "other-values", "a share that equals the threshold is not below it.")


def _hidden_skewed_contrast(answer: Answer) -> None:
    phi = np.random.default_rng(61).dirichlet(np.ones(7))
    off = ~np.eye(7, dtype=bool)
    wanted = np.outer(phi, phi)[off].mean() / np.sum(phi * phi) * 7
    expect(close(as_array(answer(phi), (), "one number"), wanted), "other-words", "it fails on other probabilities.")


def _hidden_expected_weights(answer: Answer) -> None:
    start, second, cross = descent_case(5, 9)
    weights = start
    for _ in range(9):
        weights = weights - 0.3 * (weights @ second + 0.2 * weights - cross)
    got = as_array(answer(start, second, cross, 0.15, 0.2, 9), (5, 5), "the expected weights")
    expect(close(got, weights), "other-case", "it fails on other moments.")


def _hidden_overlap_contrast(answer: Answer) -> None:
    for setting in ((7, 4, 0.35, 0.01, 0.7, 0.02), (3, 2, 1.0, 0.2, 0.9, 1.0)):
        got = as_array(answer(*setting), (), "one number")
        expect(close(got, ring_contrast(*setting)), "other-setting", "it fails at another setting.")


EXERCISES = [
    Exercise(
        id="6.1-robustness-lost-at",
        title="where structure is lost",
        level="warm-up",
        minutes=6,
        objective="a criterion that names one point on an axis",
        function="lost_at",
        statement=r"""
            Along an axis, `values` (rising) were tried, and `shares` of the words were readable. Return the value at which the
            share *first* falls below `threshold`, by a straight line between the last value that holds and the first that
            does not. If the first value has lost it already, return that value; if none has, return infinity.
        """,
        stub='''
            def lost_at(values, shares, threshold):
                """The value at which the share first falls below the threshold."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def lost_at(values, shares, threshold):
                for k, share in enumerate(shares):
                    if share < threshold:
                        if k == 0:
                            return values[0]
                        part = (shares[k - 1] - threshold) / (shares[k - 1] - share)
                        return values[k - 1] + part * (values[k] - values[k - 1])
                return float("inf")
        """,
        alternative="""
            import numpy as np

            def lost_at(values, shares, threshold):
                below = np.flatnonzero(np.asarray(shares) < threshold)
                if len(below) == 0:
                    return np.inf
                k = below[0]
                if k == 0:
                    return values[0]
                return np.interp(threshold, [shares[k], shares[k - 1]], [values[k], values[k - 1]])
        """,
        wrong=(
            Wrong(
                """
                def lost_at(values, shares, threshold):
                    for value, share in zip(values, shares):
                        if share < threshold:
                            return value
                    return float("inf")
                """,
                "not-between",
            ),
            Wrong(
                """
                def lost_at(values, shares, threshold):
                    held = [value for value, share in zip(values, shares) if share >= threshold]
                    return max(held) if held else values[0]
                """,
                "last-that-holds",
            ),
            Wrong(
                """
                import numpy as np

                def lost_at(values, shares, threshold):
                    return np.interp(threshold, shares, values)
                """,
                "falling-shares",
            ),
            Wrong(
                """
                import numpy as np

                def lost_at(values, shares, threshold):
                    ok = np.flatnonzero(np.asarray(shares) >= threshold)
                    if len(ok) == 0:
                        return values[0]
                    k = ok[-1] + 1
                    if k == len(values):
                        return np.inf
                    return np.interp(threshold, [shares[k], shares[k - 1]], [values[k], values[k - 1]])
                """,
                "not-the-first",
            ),
            Wrong(
                """
                import numpy as np

                def lost_at(values, shares, threshold):
                    below = np.flatnonzero(np.asarray(shares) < threshold)
                    if len(below) == 0:
                        return values[-1]
                    k = below[0]
                    if k == 0:
                        return values[0]
                    return np.interp(threshold, [shares[k], shares[k - 1]], [values[k], values[k - 1]])
                """,
                "never-lost",
            ),
        ),
        hidden=_hidden_lost_at,
        explanation=r"""
            The share may rise again after noise has made it dip, so "first" must be said. An axis on which nothing is lost has
            no such point: infinity says so, and the last value tried would claim too much.
        """,
    ),
    Exercise(
        id="6.1-robustness-skewed-contrast",
        title="the contrast of a skewed topic",
        level="core",
        minutes=10,
        objective="what Zipf's law does to a contrast that leaves the diagonal out",
        function="skewed_contrast",
        statement=r"""
            A topic's $v$ words have the `probabilities` $\varphi$ (they sum to one). For infinitely long documents the block of
            this topic is $\mathbf{W}_{il} = \frac{1}{a} \varphi_i \varphi_l / \sum_k \varphi_k^2$; take the entries between topics as
            zero. Return the block contrast *relative* to that of equally likely words, $\frac{1}{a v}$. As everywhere, the
            contrast leaves the diagonal out.
        """,
        stub='''
            def skewed_contrast(probabilities):
                """Mean of a topic's off-diagonal entries, relative to that of equally likely words."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def skewed_contrast(probabilities):
                v, square = len(probabilities), np.sum(np.square(probabilities))
                return (1 - square) / ((v - 1) * square)
        """,
        alternative="""
            def skewed_contrast(probabilities):
                v = len(probabilities)
                pairs = [p * q for i, p in enumerate(probabilities) for l, q in enumerate(probabilities) if i != l]
                return v * sum(pairs) / len(pairs) / sum(p * p for p in probabilities)
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def skewed_contrast(probabilities):
                    return 1 / (len(probabilities) * np.sum(np.square(probabilities)))
                """,
                "diagonal-included",
            ),
            Wrong(
                """
                import numpy as np

                def skewed_contrast(probabilities):
                    v, square = len(probabilities), np.sum(np.square(probabilities))
                    return (1 - square) / (v - 1)
                """,
                "not-normalised",
            ),
            Wrong(
                """
                import numpy as np

                def skewed_contrast(probabilities):
                    v, square = len(probabilities), np.sum(np.square(probabilities))
                    return (1 - square) / (v * (v - 1) * square)
                """,
                "not-relative",
            ),
            Wrong(
                """
                def skewed_contrast(probabilities):
                    return 1.0
                """,
                "rows-only",
            ),
        ),
        hidden=_hidden_skewed_contrast,
        explanation=r"""
            All pairs of words sum to $(\sum_i \varphi_i)^2 = 1$, the diagonal to $q = \sum_i \varphi_i^2$. So the $v (v - 1)$ other entries
            have the mean $\frac{1}{a} \frac{1 - q}{v (v - 1) q}$, and relative to $\frac{1}{a v}$ that is $\frac{1 - q}{(v - 1) q}$. It is one for
            equal words, where $q = 1/v$, and zero where one word has all the probability: its diagonal entry then holds all.
        """,
    ),
    Exercise(
        id="6.1-robustness-expected-weights",
        title="the mean of SGD, exactly",
        level="core",
        minutes=12,
        objective="why the expectation of a linear recursion needs only two moments",
        function="expected_weights",
        statement=r"""
            SGD with squared loss and penalty $\lambda \|\mathbf{W}\|^2$ starts at `start`, shape $(V, V)$, and takes `steps` steps at
            `learning_rate` $\eta$, each with a fresh batch. Return the *expected* weights. The moments are
            `second` $= \mathbb{E}[\mathbf{x}\mathbf{x}^\top]$ and `cross` $= \mathbb{E}[\mathbf{y}\mathbf{x}^\top]$; the prediction is $\mathbf{W}\mathbf{x}$ and the loss
            $\|\mathbf{W}\mathbf{x} - \mathbf{y}\|^2$. `cross` need not be symmetric.
        """,
        stub='''
            def expected_weights(start, second, cross, learning_rate, l2_coef, steps):
                """The mean over runs of W after some steps of SGD."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def expected_weights(start, second, cross, learning_rate, l2_coef, steps):
                weights = start
                for _ in range(steps):
                    weights = weights - 2 * learning_rate * (weights @ second - cross + l2_coef * weights)
                return weights
        """,
        alternative="""
            import numpy as np

            def expected_weights(start, second, cross, learning_rate, l2_coef, steps):
                values, vectors = np.linalg.eigh(second + l2_coef * np.eye(len(second)))
                factor = (1 - 2 * learning_rate * values) ** steps
                return start @ (vectors * factor) @ vectors.T + cross @ (vectors * ((1 - factor) / values)) @ vectors.T
        """,
        wrong=(
            Wrong(
                """
                def expected_weights(start, second, cross, learning_rate, l2_coef, steps):
                    weights = start
                    for _ in range(steps):
                        weights = weights - learning_rate * (weights @ second - cross + l2_coef * weights)
                    return weights
                """,
                "half-the-gradient",
            ),
            Wrong(
                """
                def expected_weights(start, second, cross, learning_rate, l2_coef, steps):
                    weights = start
                    for _ in range(steps):
                        weights = weights - 2 * learning_rate * (weights @ second - cross.T + l2_coef * weights)
                    return weights
                """,
                "cross-transposed",
            ),
            Wrong(
                """
                def expected_weights(start, second, cross, learning_rate, l2_coef, steps):
                    weights = 0 * start
                    for _ in range(steps):
                        weights = weights - 2 * learning_rate * (weights @ second - cross + l2_coef * weights)
                    return weights
                """,
                "start-forgotten",
            ),
            Wrong(
                """
                def expected_weights(start, second, cross, learning_rate, l2_coef, steps):
                    weights = start
                    for _ in range(steps):
                        weights = weights - 2 * learning_rate * (weights @ second - cross)
                    return weights
                """,
                "no-penalty",
            ),
            Wrong(
                """
                import numpy as np

                def expected_weights(start, second, cross, learning_rate, l2_coef, steps):
                    return cross @ np.linalg.inv(second + l2_coef * np.eye(len(second)))
                """,
                "only-the-end",
            ),
        ),
        hidden=_hidden_expected_weights,
        explanation=r"""
            The gradient on a batch is $2 (\mathbf{W}\hat{\mathbf{S}} - \hat{\mathbf{C}} + \lambda \mathbf{W})$, and the batch is independent of $\mathbf{W}$, so its
            expectation is $2 (\mathbb{E}[\mathbf{W}]\mathbf{S} - \mathbf{C} + \lambda \mathbb{E}[\mathbf{W}])$. Iterate, or do it along the eigenvectors of $\mathbf{S}$. A
            transposed $\mathbf{C}$ goes unnoticed as long as all words are equally likely, and fails with Zipf's law.
        """,
    ),
    Exercise(
        id="6.1-robustness-overlap-contrast",
        title="overlap and penalty together",
        level="challenge",
        minutes=20,
        objective="the waves of topic weights under overlap, and what a penalty leaves of each",
        function="overlap_contrast",
        statement=r"""
            Infinite documents, overlap $o$ on a ring of `num_topics` topics, equally likely words, penalty $\lambda$ = `l2_coef`
            $> 0$. Without overlap every difference of topics has the variance $\kappa$ = `topic_variance`; overlap leaves the $k$-th
            wave the fraction $1 - 2 o (1 - o)(1 - \cos \frac{2 \pi k}{T})$ of it, $k = 1, \dots, T - 1$. Ridge keeps $s / (s + \lambda)$ of a
            direction with variance $s$. Return the block contrast of the optimal $\mathbf{W}^V$; with no overlap and $\lambda \to 0$ it is
            $\frac{1}{a v}$, with $a$ = `true_fraction`. (Entries on the diagonal equal the others of their block here.)
        """,
        stub='''
            def overlap_contrast(num_topics, words_per_topic, overlap, topic_variance, true_fraction, l2_coef):
                """Block contrast of the ridge optimum for infinite documents of overlapping topics."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def overlap_contrast(num_topics, words_per_topic, overlap, topic_variance, true_fraction, l2_coef):
                k = np.arange(1, num_topics)
                variance = topic_variance * (1 - 2 * overlap * (1 - overlap) * (1 - np.cos(2 * np.pi * k / num_topics)))
                return np.mean(variance / (variance + l2_coef)) / (true_fraction * words_per_topic)
        """,
        alternative="""
            import numpy as np

            def overlap_contrast(num_topics, words_per_topic, overlap, topic_variance, true_fraction, l2_coef):
                ring = (1 - overlap) * np.eye(num_topics) + overlap * np.roll(np.eye(num_topics), 1, axis=0)
                centre = np.eye(num_topics) - 1 / num_topics
                spread = topic_variance * ring @ centre @ ring.T
                w = spread @ np.linalg.inv(spread + l2_coef * np.eye(num_topics)) / (true_fraction * words_per_topic)
                own = np.trace(w) / num_topics
                return own - (w.sum() - np.trace(w)) / (num_topics * (num_topics - 1))
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def overlap_contrast(num_topics, words_per_topic, overlap, topic_variance, true_fraction, l2_coef):
                    k = np.arange(num_topics)
                    s = topic_variance * (1 - 2 * overlap * (1 - overlap) * (1 - np.cos(2 * np.pi * k / num_topics)))
                    return np.mean(s / (s + l2_coef)) / (true_fraction * words_per_topic)
                """,
                "mean-is-no-difference",
            ),
            Wrong(
                """
                import numpy as np

                def overlap_contrast(num_topics, words_per_topic, overlap, topic_variance, true_fraction, l2_coef):
                    k = np.arange(1, num_topics)
                    s = topic_variance * np.mean(1 - 2 * overlap * (1 - overlap) * (1 - np.cos(2 * np.pi * k / num_topics)))
                    return s / (s + l2_coef) / (true_fraction * words_per_topic)
                """,
                "averaged-too-early",
            ),
            Wrong(
                """
                import numpy as np

                def overlap_contrast(num_topics, words_per_topic, overlap, topic_variance, true_fraction, l2_coef):
                    k = np.arange(1, num_topics)
                    s = topic_variance * (1 - 2 * overlap * (1 - overlap) * (1 - np.cos(2 * np.pi * k / num_topics)))
                    return np.mean(s / (s + l2_coef))
                """,
                "height-missing",
            ),
            Wrong(
                """
                def overlap_contrast(num_topics, words_per_topic, overlap, topic_variance, true_fraction, l2_coef):
                    return topic_variance / (topic_variance + l2_coef) / (true_fraction * words_per_topic)
                """,
                "overlap-ignored",
            ),
        ),
        hidden=_hidden_overlap_contrast,
        explanation=r"""
            Between topics the optimum is $\frac{1}{a v} \mathbf{G}$, where $\mathbf{G}$ keeps the fraction $g_k = s_k / (s_k + \lambda)$ of wave $k$ and nothing of
            the constant. Every topic has the same place on the ring, so the diagonal of $\mathbf{G}$ is its trace over $T$, and its rows
            sum to zero. Hence same minus different is $\frac{T}{T - 1} \cdot \frac{1}{T} \sum_k g_k$: the mean of $g_k$ over the $T - 1$ waves.
            For $\lambda \to 0$ each $g_k$ is one, unless the wave has vanished: at $o = \frac{1}{2}$ and even $T$ one of them is zero.
        """,
    ),
]
