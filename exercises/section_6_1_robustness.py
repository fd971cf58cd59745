"""Exercises of the chapter on robustness (Section 6.1)."""

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
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


def _hidden_expected_weights(answer: Answer, loss_factor: float = 1.0, penalty_factor: float = 1.0) -> None:
    start, second, cross = descent_case(5, 9)
    weights = start
    for _ in range(9):
        weights = weights - 0.3 * (loss_factor * (weights @ second - cross) + penalty_factor * 0.2 * weights)
    got = as_array(answer(start, second, cross, 0.15, 0.2, 9), (5, 5), "the expected weights")
    expect(close(got, weights, 1e-4), "other-case", "it fails on other moments.")


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
        prerequisites=(
            "[the criterion](06_1_robustness.ipynb#when-is-structure-lost)",
            "linear interpolation",
        ),
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
        prerequisites=(
            "the block contrast ([Section 2](02_overview.ipynb))",
            "[skewed words](06_1_robustness.ipynb#what-the-data-may-look-like)",
        ),
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
        prerequisites=(
            "[the step of SGD](06_1_robustness.ipynb#the-signal-is-known-exactly)",
            "gradient of a square",
        ),
        graded=True,
        function="expected_weights",
        statement=r"""
            SGD with squared loss and penalty {{penalty}}, $\lambda$ = `l2_coef`, starts at `start`, shape $(V, V)$, and takes `steps` steps at
            `learning_rate` $\eta$, each with a fresh batch. Return the *expected* weights. The moments are
            `second` $= \mathbb{E}[\mathbf{x}\mathbf{x}^\top]$ and `cross` $= \mathbb{E}[\mathbf{y}\mathbf{x}^\top]$; the prediction is $\mathbf{W}\mathbf{x}$ and the loss
            {{loss}}. `cross` need not be symmetric.
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
                    weights = weights - learning_rate * ({{slope}} * (weights @ second - cross) + {{pull}} * weights)
                return weights
        """,
        alternative="""
            import numpy as np

            def expected_weights(start, second, cross, learning_rate, l2_coef, steps):
                values, vectors = np.linalg.eigh({{slope}} * second + {{pull}} * np.eye(len(second)))
                factor = (1 - learning_rate * values) ** steps
                return start @ (vectors * factor) @ vectors.T + {{slope}} * cross @ (vectors * ((1 - factor) / values)) @ vectors.T
        """,
        wrong=(
            Wrong(
                """
                def expected_weights(start, second, cross, learning_rate, l2_coef, steps):
                    weights = start
                    for _ in range(steps):
                        weights = weights - learning_rate * ({{wrong_slope}} * (weights @ second - cross) + {{wrong_pull}} * weights)
                    return weights
                """,
                "factor-of-two",
            ),
            Wrong(
                """
                def expected_weights(start, second, cross, learning_rate, l2_coef, steps):
                    weights = start
                    for _ in range(steps):
                        weights = weights - learning_rate * ({{slope}} * (weights @ second - cross.T) + {{pull}} * weights)
                    return weights
                """,
                "cross-transposed",
            ),
            Wrong(
                """
                def expected_weights(start, second, cross, learning_rate, l2_coef, steps):
                    weights = 0 * start
                    for _ in range(steps):
                        weights = weights - learning_rate * ({{slope}} * (weights @ second - cross) + {{pull}} * weights)
                    return weights
                """,
                "start-forgotten",
            ),
            Wrong(
                """
                def expected_weights(start, second, cross, learning_rate, l2_coef, steps):
                    weights = start
                    for _ in range(steps):
                        weights = weights - learning_rate * {{slope}} * (weights @ second - cross)
                    return weights
                """,
                "no-penalty",
            ),
            Wrong(
                """
                import numpy as np

                def expected_weights(start, second, cross, learning_rate, l2_coef, steps):
                    return {{slope}} * cross @ np.linalg.inv({{slope}} * second + {{pull}} * np.eye(len(second)))
                """,
                "only-the-end",
            ),
        ),
        hidden=_hidden_expected_weights,
        variants=(
            Variant(
                {"loss_factor": 1.0, "penalty_factor": 1.0},
                {
                    "loss": r"$\|\mathbf{W}\mathbf{x} - \mathbf{y}\|^2$",
                    "penalty": r"$\lambda \|\mathbf{W}\|^2$",
                    "slope": "2",
                    "pull": "2 * l2_coef",
                    "wrong_slope": "1",
                    "wrong_pull": "l2_coef",
                },
            ),
            Variant(
                {"loss_factor": 0.5, "penalty_factor": 0.5},
                {
                    "loss": r"$\frac12 \|\mathbf{W}\mathbf{x} - \mathbf{y}\|^2$",
                    "penalty": r"$\frac12 \lambda \|\mathbf{W}\|^2$",
                    "slope": "1",
                    "pull": "l2_coef",
                    "wrong_slope": "2",
                    "wrong_pull": "2 * l2_coef",
                },
            ),
            Variant(
                {"loss_factor": 1.0, "penalty_factor": 0.5},
                {
                    "loss": r"$\|\mathbf{W}\mathbf{x} - \mathbf{y}\|^2$",
                    "penalty": r"$\frac12 \lambda \|\mathbf{W}\|^2$",
                    "slope": "2",
                    "pull": "l2_coef",
                    "wrong_slope": "2",
                    "wrong_pull": "2 * l2_coef",
                },
            ),
        ),
        explanation=r"""
            With the loss {{loss}} and the penalty {{penalty}} the gradient on a batch is {{slope}} times $\mathbf{W}\hat{\mathbf{S}} - \hat{\mathbf{C}}$ plus the penalty's part. The batch
            is independent of $\mathbf{W}$, so the expectation of a product is a product: put $\mathbb{E}[\mathbf{W}]$, $\mathbf{S}$ and $\mathbf{C}$ in. Iterate, or do it along
            the eigenvectors. A transposed $\mathbf{C}$ goes unnoticed as long as all words are equally likely, and fails with Zipf's law.
        """,
    ),
    Exercise(
        id="6.1-robustness-overlap-contrast",
        title="overlap and penalty together",
        level="challenge",
        minutes=20,
        objective="the waves of topic weights under overlap, and what a penalty leaves of each",
        prerequisites=(
            "[overlap and its waves](06_1_robustness.ipynb#what-the-data-may-look-like)",
            "ridge regression ([Appendix C](appendix_c.ipynb#ridge))",
        ),
        graded=True,
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

PAPER = [
    PaperExercise(
        id="6.1-robustness-paper-one-half",
        title="the one overlap that costs something",
        level="challenge",
        minutes=35,
        objective="to prove what overlap does to the directions in which documents vary, and where one of them is lost",
        prerequisites=(
            "[overlap and its waves](06_1_robustness.ipynb#what-the-data-may-look-like)",
            "eigenvectors of a cyclic shift",
            "least squares",
        ),
        graded=True,
        statement=r"""
            On a ring of $T \geq 3$ topics the weights of a document are $\theta_1, \dots, \theta_T$. Their sum is one, and every unit vector that is orthogonal to
            $(1, \dots, 1)$ has the same variance $\kappa > 0$ in them. With overlap $0 < o < 1$ the blocks of words get the weights
            $(1 - o)\, \theta_t + o\, \theta_{t-1}$. Documents are endless, words within a block equally likely, and there is no masking. $\mathbf{W}$ is the least-squares
            map from a document's word shares to themselves, as the limit of a vanishing penalty.

            1. Prove the chapter's formula for what is left of the variance of the wave with $k$ periods around the ring.
            2. For which $o$, $T$ and $k$ is nothing left?
            3. Prove that $\mathbf{W}$ does not depend on $o$ otherwise, up to what it does with the constant wave. (A penalty $\lambda$ keeps $s/(s + \lambda)$ of a direction of
               variance $s$.)
            4. Show that in the case of part 2 exactly the fraction $\frac{1}{T-1}$ of the block contrast is lost.
        """,
        rubric=(
            (
                2,
                "Part 1: overlap is (1 - o) I + o P with P the cyclic shift, and waves are its eigenvectors, with eigenvalue (1 - o) + o exp(-2 pi i k/T). One point if the eigenvectors are used without saying why they are.",
            ),
            (
                2,
                "Part 1: the squared modulus of the eigenvalue is computed and brought to the chapter's form, and multiplies kappa.",
            ),
            (
                2,
                "Part 2: a zero needs both parts of equal size, o = 1/2, and cos = -1, so T even and k = T/2. One point if the evenness of T or one of the two conditions is missing.",
            ),
            (
                2,
                "Part 3: for every direction with s > 0, s/(s + lambda) tends to one, however small s is, so W is the projection on the directions with any variance; these are the same for all other o.",
            ),
            (
                2,
                "Part 4: the contrast is, up to a constant, the mean of what is kept over the T - 1 waves other than the constant (own entry is the mean over all waves, and the entries of a row sum to zero over the ring); one of T - 1 equal parts goes. One point for the count without the reason.",
            ),
        ),
        model_answer=r"""
            1. Let $P$ shift the ring by one place, $(P\theta)_t = \theta_{t-1}$. Overlap is the map $R = (1 - o) I + oP$. The wave $u_k$ with entries $e^{2 \pi i k t/T}$ obeys
            $P u_k = e^{-2 \pi i k/T} u_k$, so $R u_k = \rho_k u_k$ with $\rho_k = (1 - o) + o\, e^{-2 \pi i k/T}$. $R$ and its transpose are both polynomials in shifts, so they share
            these orthogonal eigenvectors, and the covariance $R\, \kappa (I - \frac{1}{T} \mathbf{1}\mathbf{1}^\top) R^\top$ has $u_k$ as eigenvector with $\kappa |\rho_k|^2$, $k = 1, \dots, T - 1$. And
            $|\rho_k|^2 = (1 - o)^2 + o^2 + 2 o (1 - o) \cos \frac{2 \pi k}{T} = 1 - 2 o (1 - o)(1 - \cos \frac{2 \pi k}{T})$.

            2. $\rho_k = 0$ means $o\, e^{-2 \pi i k/T} = -(1 - o)$. Moduli: $o = 1 - o$, so $o = \frac12$. Then $e^{-2 \pi i k/T} = -1$, so $k = \frac{T}{2}$, which needs an even $T$.

            3. Word shares are block weights spread evenly, so documents vary in the directions of the $T - 1$ waves, each carried over to words, with variances in proportion to
            $|\rho_k|^2$, and not at all within a block. In each of these directions, target and input are the same, and $\mathbf{W}$ keeps $\frac{s}{s + \lambda}$, which tends to one as
            $\lambda \to 0$ if $s > 0$, however small, and is zero if $s = 0$. So in the limit $\mathbf{W}$ is the projection on the directions with $s > 0$. Unless $o = \frac12$ and $T$ is even these are
            all waves, for every $o$. (The constant wave adds the same number to all entries.)

            4. Between blocks $t$ and $t'$ the projection has entries in proportion to $b_{t - t'}$, where $b_r = \frac{1}{T} \sum_k g_k \cos \frac{2 \pi k r}{T}$ over $k = 1, \dots, T - 1$ and $g_k$ is one if the
            wave is kept and zero if not. As $\sum_r b_r = 0$, the mean of the $b_r$ with $r \neq 0$ is $-\frac{b_0}{T-1}$, so the contrast is in proportion to
            $b_0 + \frac{b_0}{T - 1} = \frac{T}{T-1} b_0 = \frac{1}{T-1} \sum_k g_k$. All waves kept give 1, all but one give $1 - \frac{1}{T-1}$.
        """,
    ),
]
