"""Exercises of Appendix A."""

from itertools import combinations

import numpy as np

from exercises.format import Exercise, Wrong
from topiclib.checks.base import Answer, as_array, close, expect


def _hidden_free_constants(answer: Answer) -> None:
    rng = np.random.default_rng(101)
    u = rng.normal(size=9)
    w = np.zeros((9, 9))
    for i in range(9):
        sums = u[i] * 4 + np.array([1.25 * (i > 4 * t and i <= 4 * (t + 1)) for t in range(2)])
        spread = rng.dirichlet(np.ones(4), size=2)
        w[i, 1:] = (sums[:, None] * spread).ravel()
    expect(close(as_array(answer(w, 2, 4), (9,), "the constants"), u), "other-settings", "it fails for two topics of four words.")


def _hidden_row_errors(answer: Answer) -> None:
    sums = np.array([0.4, -0.2, 0.1, 0.7, 0.0])
    expected = []
    for topics in combinations(range(1, 6), 4):
        y = 0.3 * -0.5 + sum(0.6 * sums[t - 1] / 8 for t in topics) + 0.1 * sums.sum() / 10
        expected.append(y - (5 in topics) / 8)
    got = as_array(answer(-0.5, sums, 5, 4, 2, 0.3, 0.6, 0.1), (5,), "one error for each document")
    expect(close(got, expected), "other-settings", "it fails when all topics but one are in the document.")


def _hidden_without_mask_column(answer: Answer) -> None:
    w = as_array(answer(0.3, 0.2, 0.5, 2, 5), (11, 11), "W")
    m, a, r = 0.09, 0.76, 0.15
    different = -r / (a * 10 * (1 - m))
    expect(close(w[1, 6], different), "other-settings", "it fails for other masking probabilities.")


def _hidden_nearest_minimiser(answer: Answer) -> None:
    rng = np.random.default_rng(102)
    x = rng.normal(size=(2, 6))
    moment = x.T @ x
    best, w = rng.normal(size=(6, 6)), rng.normal(size=(6, 6))
    got = as_array(answer(w, best, moment), (6, 6), "the nearest minimiser")
    in_range = x.T @ np.linalg.inv(x @ x.T) @ x
    expect(close(got, w + (best - w) @ in_range, 1e-5), "other-settings", "it fails for another E[x x^T].")


EXERCISES = [
    Exercise(
        id="a-free-constants",
        title="read the constants off a minimiser",
        level="warm-up",
        minutes=6,
        objective="to tell which sums of a row carry the constant, and which the topic",
        function="free_constants",
        statement=r"""
            Somebody hands you a minimiser of the loss under uniform attention: `w`, a NumPy array of shape $(V, V)$ with
            $V = Tv + 1$ and [MASK] first. By Lemma 1 there are constants $u_0, \dots, u_{Tv}$. Return them, shape $(V,)$. You are
            not told the masking probabilities, and do not need them. There are at least two topics; entries inside a block may differ.
        """,
        stub='''
            def free_constants(w, num_topics, words_per_topic):
                """The constants u_0, ..., u_Tv of Lemma 1, from the entries of a minimiser."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def free_constants(w, num_topics, words_per_topic):
                sums = w[:, 1:].reshape(len(w), num_topics, words_per_topic).sum(axis=2)
                u = sums[:, 0] / words_per_topic
                first = slice(1, words_per_topic + 1)
                u[first] = sums[first, 1] / words_per_topic
                return u
        """,
        alternative="""
            def free_constants(w, num_topics, words_per_topic):
                u = []
                for i, row in enumerate(w):
                    topic = -(-i // words_per_topic)
                    other = 2 if topic == 1 else 1
                    words = range((other - 1) * words_per_topic + 1, other * words_per_topic + 1)
                    u.append(sum(row[l] for l in words) / words_per_topic)
                return u
        """,
        wrong=(
            Wrong(
                """
                def free_constants(w, num_topics, words_per_topic):
                    return w[:, 1:1 + words_per_topic].sum(axis=1) / words_per_topic
                """,
                "own-topic",
            ),
            Wrong(
                """
                import numpy as np

                def free_constants(w, num_topics, words_per_topic):
                    sums = w[:, 1:].reshape(len(w), num_topics, words_per_topic).sum(axis=2)
                    return np.where((np.arange(len(w)) + words_per_topic - 1) // words_per_topic == 1, sums[:, 1], sums[:, 0])
                """,
                "not-divided",
            ),
            Wrong(
                """
                def free_constants(w, num_topics, words_per_topic):
                    return w[:, 1:].mean(axis=1)
                """,
                "all-topics",
            ),
            Wrong(
                """
                import numpy as np

                def free_constants(w, num_topics, words_per_topic):
                    sums = w[1:, 1:].reshape(len(w) - 1, num_topics, words_per_topic).sum(axis=2)
                    own = np.arange(len(w) - 1) // words_per_topic
                    return np.append(0, sums[np.arange(len(w) - 1), (own + 1) % num_topics] / words_per_topic)
                """,
                "mask-row",
            ),
            Wrong(
                """
                import numpy as np

                def free_constants(w, num_topics, words_per_topic):
                    return np.where(np.arange(len(w)) <= words_per_topic, w[:, -1], w[:, 1])
                """,
                "single-entry",
            ),
            Wrong(
                """
                def free_constants(w, num_topics, words_per_topic):
                    w = w.T
                    sums = w[:, 1:].reshape(len(w), num_topics, words_per_topic).sum(axis=2)
                    u = sums[:, 0] / words_per_topic
                    u[1:words_per_topic + 1] = sums[1:words_per_topic + 1, 1] / words_per_topic
                    return u
                """,
                "columns",
            ),
        ),
        hidden=_hidden_free_constants,
        explanation=r"""
            Any topic other than the row's own sums to $u_i v$; for row 0 any topic does. The row's own topic has $1/a$ on top.
        """,
    ),
    Exercise(
        id="a-row-errors",
        title="how wrong a row is on every document",
        level="core",
        minutes=12,
        objective="to compute a prediction from block sums alone, as equation A.9 does",
        function="row_errors",
        statement=r"""
            Row $i$ of $\mathbf{W}$ has the entry `w_mask` in the column of [MASK] and the sums `sums[t - 1]` over topics $t = 1, \dots, T$. Word $i$
            belongs to topic `own` (1 to $T$). Return its error $(\mathbf{W}\mathbf{x})_i - p_{\mathbf{w}}(i)$ for each document under Assumption 1, as an
            array. Documents are in the order of `itertools.combinations(range(1, T + 1), topics_per_doc)`. `m`, `a` and `r` are the fractions of
            [MASK], of the document's own words and of random words.
        """,
        stub='''
            def row_errors(w_mask, sums, own, topics_per_doc, words_per_topic, m, a, r):
                """Prediction minus target for a word, one entry for each set of topics."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            from itertools import combinations

            import numpy as np

            def row_errors(w_mask, sums, own, topics_per_doc, words_per_topic, m, a, r):
                q = 1 / (topics_per_doc * words_per_topic)
                constant = m * w_mask + r * sum(sums) / (len(sums) * words_per_topic)
                sets = combinations(range(1, len(sums) + 1), topics_per_doc)
                return np.array([constant + q * (a * sum(sums[t - 1] for t in s) - (own in s)) for s in sets])
        """,
        alternative="""
            import itertools

            import numpy as np

            def row_errors(w_mask, sums, own, topics_per_doc, words_per_topic, m, a, r):
                num_topics = len(sums)
                errors = []
                for chosen in itertools.combinations(range(num_topics), topics_per_doc):
                    p = np.zeros(num_topics)
                    p[list(chosen)] = 1 / (topics_per_doc * words_per_topic)
                    x = a * p + r / (num_topics * words_per_topic)
                    errors.append(float(m * w_mask + np.dot(sums, x) - p[own - 1]))
                return errors
        """,
        wrong=(
            Wrong(
                """
                from itertools import combinations

                def row_errors(w_mask, sums, own, topics_per_doc, words_per_topic, m, a, r):
                    q = 1 / (topics_per_doc * words_per_topic)
                    sets = combinations(range(1, len(sums) + 1), topics_per_doc)
                    return [m * w_mask + q * (a * sum(sums[t - 1] for t in s) - (own in s)) for s in sets]
                """,
                "no-random-words",
            ),
            Wrong(
                """
                from itertools import combinations

                def row_errors(w_mask, sums, own, topics_per_doc, words_per_topic, m, a, r):
                    q = 1 / (topics_per_doc * words_per_topic)
                    noise = r * sum(sums) / (len(sums) * words_per_topic)
                    sets = combinations(range(1, len(sums) + 1), topics_per_doc)
                    return [noise + q * (a * sum(sums[t - 1] for t in s) - (own in s)) for s in sets]
                """,
                "no-mask",
            ),
            Wrong(
                """
                from itertools import combinations

                def row_errors(w_mask, sums, own, topics_per_doc, words_per_topic, m, a, r):
                    q = 1 / topics_per_doc
                    constant = m * w_mask + r * sum(sums) / len(sums)
                    sets = combinations(range(1, len(sums) + 1), topics_per_doc)
                    return [constant + q * (a * sum(sums[t - 1] for t in s) - (own in s)) for s in sets]
                """,
                "topic-not-word",
            ),
            Wrong(
                """
                from itertools import combinations

                def row_errors(w_mask, sums, own, topics_per_doc, words_per_topic, m, a, r):
                    q = 1 / (topics_per_doc * words_per_topic)
                    constant = m * w_mask + r * sum(sums) / (len(sums) * words_per_topic)
                    sets = combinations(range(1, len(sums) + 1), topics_per_doc)
                    return [constant + q * (a * sum(sums[t - 1] for t in s) - 1) for s in sets]
                """,
                "target-everywhere",
            ),
            Wrong(
                """
                from itertools import combinations

                def row_errors(w_mask, sums, own, topics_per_doc, words_per_topic, m, a, r):
                    q = 1 / (topics_per_doc * words_per_topic)
                    constant = m * w_mask + r * sum(sums) / (len(sums) * words_per_topic)
                    sets = combinations(range(1, len(sums) + 1), topics_per_doc)
                    return [abs(constant + q * (a * sum(sums[t - 1] for t in s) - (own in s))) for s in sets]
                """,
                "sign-lost",
            ),
            Wrong(
                """
                from itertools import combinations

                def row_errors(w_mask, sums, own, topics_per_doc, words_per_topic, m, a, r):
                    q = 1 / (topics_per_doc * words_per_topic)
                    constant = m * w_mask + r * sum(sums) / (len(sums) * words_per_topic)
                    sets = combinations(range(1, len(sums) + 1), topics_per_doc)
                    return [constant + q * (sum(sums[t - 1] for t in s) - (own in s)) for s in sets]
                """,
                "no-true-fraction",
            ),
        ),
        hidden=_hidden_row_errors,
        explanation=r"""
            This is equation A.9 minus the target. Only the block sums enter. Exchanging a topic in `s` changes one summand, which is
            the exchange argument in code.
        """,
    ),
    Exercise(
        id="a-without-mask-column",
        title="a minimiser that ignores [MASK]",
        level="core",
        minutes=15,
        objective="to use the free constant of Lemma 1",
        function="without_mask_column",
        statement=r"""
            Lemma 1 leaves each row a constant $u_i$. Use it: return the minimiser $\mathbf{W}$, shape $(Tv + 1, Tv + 1)$, whose row 0 and column 0
            are zero and whose other entries have one value for words of the same topic (the word itself included) and one for words of
            different topics. Such a $\mathbf{W}$ denoises without looking at [MASK].
        """,
        stub='''
            def without_mask_column(p_m, p_c, p_r, num_topics, words_per_topic):
                """The minimiser with constant blocks and nothing in the row and the column of [MASK]."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def without_mask_column(p_m, p_c, p_r, num_topics, words_per_topic):
                m, a, r = p_m * (1 - p_c - p_r), 1 - (1 - p_c) * p_m, p_m * p_r
                u = -r / (a * num_topics * words_per_topic * (1 - m))
                w = np.zeros((num_topics * words_per_topic + 1,) * 2)
                blocks = np.kron(np.eye(num_topics), np.ones((words_per_topic, words_per_topic)))
                w[1:, 1:] = u + blocks / (a * words_per_topic)
                return w
        """,
        alternative="""
            from topiclib.theory import lemma1, theorem2_constants

            def without_mask_column(p_m, p_c, p_r, num_topics, words_per_topic):
                settings = dict(num_topics=num_topics, words_per_topic=words_per_topic, p_m=p_m, p_c=p_c, p_r=p_r)
                c = theorem2_constants(**settings)
                row = lemma1(**settings, topics_per_doc=1, u=-c.c_1 / c.c_2)
                topic = lambda word: (word - 1) // words_per_topic
                words = range(1, num_topics * words_per_topic + 1)
                each = lambda i, j: (row.own_topic if topic(i) == topic(j) else row.other_topic) / words_per_topic
                return [[0.0] * (len(words) + 1)] + [[0.0] + [float(each(i, j)) for j in words] for i in words]
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def without_mask_column(p_m, p_c, p_r, num_topics, words_per_topic):
                    w = np.zeros((num_topics * words_per_topic + 1,) * 2)
                    blocks = np.kron(np.eye(num_topics), np.ones((words_per_topic, words_per_topic)))
                    w[1:, 1:] = blocks / ((1 - (1 - p_c) * p_m) * words_per_topic)
                    return w
                """,
                "not-denoised",
            ),
            Wrong(
                """
                import numpy as np

                def without_mask_column(p_m, p_c, p_r, num_topics, words_per_topic):
                    m, a, r = p_m * (1 - p_c - p_r), 1 - (1 - p_c) * p_m, p_m * p_r
                    u = r / (a * num_topics * words_per_topic * (1 - m))
                    w = np.zeros((num_topics * words_per_topic + 1,) * 2)
                    blocks = np.kron(np.eye(num_topics), np.ones((words_per_topic, words_per_topic)))
                    w[1:, 1:] = u + blocks / (a * words_per_topic)
                    return w
                """,
                "sign",
            ),
            Wrong(
                """
                import numpy as np

                def without_mask_column(p_m, p_c, p_r, num_topics, words_per_topic):
                    m, a, r = p_m * (1 - p_c - p_r), 1 - (1 - p_c) * p_m, p_m * p_r
                    u = -r / (a * num_topics * words_per_topic * (1 - m))
                    w = np.zeros((num_topics * words_per_topic + 1,) * 2)
                    w[1:, 1:] = u + np.kron(np.eye(num_topics), np.ones((words_per_topic, words_per_topic))) / a
                    return w
                """,
                "not-divided-by-v",
            ),
            Wrong(
                """
                import numpy as np

                def without_mask_column(p_m, p_c, p_r, num_topics, words_per_topic):
                    m, a, r = p_m * (1 - p_c - p_r), 1 - (1 - p_c) * p_m, p_m * p_r
                    w = np.zeros((num_topics * words_per_topic + 1,) * 2)
                    blocks = np.kron(np.eye(num_topics), np.ones((words_per_topic, words_per_topic)))
                    w[1:, 1:] = blocks / (a * words_per_topic)
                    w[1:, 0] = -r / (m * a * num_topics * words_per_topic)
                    return w
                """,
                "mask-column-used",
            ),
            Wrong(
                """
                import numpy as np

                def without_mask_column(p_m, p_c, p_r, num_topics, words_per_topic):
                    a, r = 1 - (1 - p_c) * p_m, p_m * p_r
                    w = np.zeros((num_topics * words_per_topic + 1,) * 2)
                    blocks = np.kron(np.eye(num_topics), np.ones((words_per_topic, words_per_topic)))
                    w[1:, 1:] = blocks / (a * words_per_topic) - r / (a * num_topics * words_per_topic)
                    return w
                """,
                "mask-share-forgotten",
            ),
        ),
        hidden=_hidden_without_mask_column,
        explanation=r"""
            Set $\mathbf{W}_{i0} = -c_1 - c_2 u_i$ to zero: $u_i = -c_1 / c_2 = -\frac{r}{a T v (1 - m)}$. Words of different topics then have the
            entry $u_i$, and words of the same topic $u_i + \frac{1}{av}$. Only the fraction $1 - m$ of the positions shows words, so the constant that
            they must take off is larger than $\frac{r}{aTv}$ by the factor $\frac{1}{1 - m}$.
        """,
    ),
    Exercise(
        id="a-nearest-minimiser",
        title="the minimiser nearest to a given matrix",
        level="challenge",
        minutes=20,
        objective="to see what gradient descent keeps of its starting point",
        function="nearest_minimiser",
        statement=r"""
            The loss is a quadratic function of $\mathbf{W}$ whose minimisers are `best` plus anything with rows in the null space of
            `moment` $= \mathbb{E}[\mathbf{x}\mathbf{x}^\top]$, a singular symmetric matrix. Given any `w`, return the minimiser with the least Frobenius distance to it.
            (This is where gradient descent from `w` ends, without a penalty.) All three are $(V, V)$ NumPy arrays; rows of $\mathbf{W}$ are outputs.
        """,
        stub='''
            def nearest_minimiser(w, best, moment):
                """The minimiser nearest to w; best is some minimiser, moment is E[x x^T]."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def nearest_minimiser(w, best, moment):
                onto_range = moment @ np.linalg.pinv(moment, rcond=1e-10, hermitian=True)
                return w + (best - w) @ onto_range
        """,
        alternative="""
            import numpy as np

            def nearest_minimiser(w, best, moment):
                values, vectors = np.linalg.eigh(moment)
                null = vectors[:, values < 1e-9 * values.max()]
                return best + ((w - best) @ null) @ null.T
        """,
        wrong=(
            Wrong(
                """
                def nearest_minimiser(w, best, moment):
                    return best
                """,
                "ignores-w",
            ),
            Wrong(
                """
                import numpy as np

                def nearest_minimiser(w, best, moment):
                    onto_range = moment @ np.linalg.pinv(moment, rcond=1e-10)
                    return best + (w - best) @ onto_range
                """,
                "not-a-minimiser",
            ),
            Wrong(
                """
                import numpy as np

                def nearest_minimiser(w, best, moment):
                    onto_range = moment @ np.linalg.pinv(moment, rcond=1e-10)
                    return w + onto_range @ (best - w)
                """,
                "other-side",
            ),
            Wrong(
                """
                def nearest_minimiser(w, best, moment):
                    return w + (best - w) @ moment
                """,
                "not-a-minimiser",
            ),
            Wrong(
                """
                import numpy as np

                def nearest_minimiser(w, best, moment):
                    onto_range = moment @ np.linalg.pinv(moment, rcond=1e-10)
                    return best @ onto_range
                """,
                "ignores-w",
            ),
            Wrong(
                """
                import numpy as np

                def nearest_minimiser(w, best, moment):
                    onto_range = moment @ np.linalg.pinv(moment, rcond=1e-10)
                    return w @ (np.eye(len(w)) - onto_range) * 2 + best @ onto_range
                """,
                "not-nearest",
            ),
        ),
        hidden=_hidden_nearest_minimiser,
        explanation=r"""
            A matrix is a minimiser when it agrees with `best` on the range of $\mathbb{E}[\mathbf{x}\mathbf{x}^\top]$; on the null space it may be anything, so the
            nearest one keeps there what `w` has. `moment @ pinv(moment)` is the projection onto the range, and it stands on the right, since it
            acts on the inputs. The gradient $2(\mathbf{W} - \mathbf{W}^\star)\,\mathbb{E}[\mathbf{x}\mathbf{x}^\top]$ has its rows in the range, which is why descent never changes the rest.
        """,
    ),
]
