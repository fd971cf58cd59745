"""Exercises of Appendix A."""

from itertools import combinations

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
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


def _hidden_nearest_minimiser(answer: Answer, lines: str = "rows", asked: str = "the end") -> None:
    rng = np.random.default_rng(102)
    x = rng.normal(size=(2, 6))
    moment = x.T @ x
    best, w = rng.normal(size=(6, 6)), rng.normal(size=(6, 6))
    turned = [w, best] if lines == "rows" else [w.T, best.T]
    got = as_array(answer(*turned, moment), (6, 6), "the matrix asked for")
    move = (got if lines == "rows" else got.T) - (w if asked == "the end" else 0)
    in_range = x.T @ np.linalg.inv(x @ x.T) @ x
    expect(close(move, (best - w) @ in_range, 1e-5), "other-settings", "it fails for another E[x x^T].")


# What the variants of a-nearest-minimiser are told.
_ROWS = {
    "prediction": r"$\mathbf{W}\mathbf{x}$",
    "step": "(best - w) @ onto_range",
    "other_side": "onto_range @ (best - w)",
    "kept": "((w - best) @ null) @ null.T",
    "smallest": "best @ onto_range",
}
_COLUMNS = {
    "prediction": r"$\mathbf{x}^\top\mathbf{W}$",
    "step": "onto_range @ (best - w)",
    "other_side": "(best - w) @ onto_range",
    "kept": "null @ (null.T @ (w - best))",
    "smallest": "onto_range @ best",
}
_END = {"wanted": "it", "start": "", "other_start": " - w"}
_MOVE = {"wanted": "by how much each entry has changed on the way, end minus start", "start": " - w", "other_start": ""}


EXERCISES = [
    Exercise(
        id="a-free-constants",
        title="read the constants off a minimiser",
        level="warm-up",
        minutes=6,
        objective="to tell which sums of a row carry the constant, and which the topic",
        prerequisites=(
            "[Lemma 1](appendix_a.ipynb#lemma-1)",
            "sums over blocks of a NumPy array",
        ),
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
        prerequisites=(
            "[equation A.9](appendix_a.ipynb#equation-a-9)",
            "[Assumption 1](03_1_topic_models.ipynb#assumption-1)",
            "`itertools.combinations`",
        ),
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
        prerequisites=(
            "[Lemma 1](appendix_a.ipynb#lemma-1) with its free constants",
            "the fractions $m$, $a$ and $r$",
        ),
        graded=True,
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
        minutes=25,
        objective="to see what gradient descent keeps of its starting point",
        prerequisites=(
            "[the null space of the loss](appendix_a.ipynb#the-same-set-by-brute-force)",
            "projections onto a subspace, by the pseudo-inverse or by eigenvectors",
        ),
        graded=True,
        function="nearest_minimiser",
        statement=r"""
            The loss is a quadratic function of $\mathbf{W}$ whose minimisers are `best` plus anything with {{lines}} in the null space of
            `moment` $= \mathbb{E}[\mathbf{x}\mathbf{x}^\top]$, a singular symmetric matrix. Take any `w`. Among the minimisers one has the least Frobenius
            distance to it; this is where gradient descent from `w` ends, without a penalty. Return {{wanted}}. All three are $(V, V)$
            NumPy arrays; {{lines}} of $\mathbf{W}$ are outputs, so the prediction is {{prediction}}.
        """,
        stub='''
            def nearest_minimiser(w, best, moment):
                """What the exercise asks for; best is some minimiser, moment is E[x x^T]."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def nearest_minimiser(w, best, moment):
                onto_range = moment @ np.linalg.pinv(moment, rcond=1e-10, hermitian=True)
                end = w + {{step}}
                return end{{start}}
        """,
        alternative="""
            import numpy as np

            def nearest_minimiser(w, best, moment):
                values, vectors = np.linalg.eigh(moment)
                null = vectors[:, values < 1e-9 * values.max()]
                end = best + {{kept}}
                return end{{start}}
        """,
        wrong=(
            Wrong(
                """
                def nearest_minimiser(w, best, moment):
                    return best{{start}}
                """,
                "ignores-w",
            ),
            Wrong(
                """
                import numpy as np

                def nearest_minimiser(w, best, moment):
                    onto_range = moment @ np.linalg.pinv(moment, rcond=1e-10)
                    end = best - {{step}}
                    return end{{start}}
                """,
                "not-a-minimiser",
            ),
            Wrong(
                """
                import numpy as np

                def nearest_minimiser(w, best, moment):
                    onto_range = moment @ np.linalg.pinv(moment, rcond=1e-10)
                    end = w + {{other_side}}
                    return end{{start}}
                """,
                "other-side",
            ),
            Wrong(
                """
                def nearest_minimiser(w, best, moment):
                    onto_range = moment
                    end = w + {{step}}
                    return end{{start}}
                """,
                "not-a-minimiser",
            ),
            Wrong(
                """
                import numpy as np

                def nearest_minimiser(w, best, moment):
                    onto_range = moment @ np.linalg.pinv(moment, rcond=1e-10)
                    end = {{smallest}}
                    return end{{start}}
                """,
                "ignores-w",
            ),
            Wrong(
                """
                import numpy as np

                def nearest_minimiser(w, best, moment):
                    onto_range = moment @ np.linalg.pinv(moment, rcond=1e-10)
                    end = 2 * (w + {{step}}) - {{smallest}}
                    return end{{start}}
                """,
                "not-nearest",
            ),
            Wrong(
                """
                import numpy as np

                def nearest_minimiser(w, best, moment):
                    onto_range = moment @ np.linalg.pinv(moment, rcond=1e-10)
                    end = w + {{step}}
                    return end{{other_start}}
                """,
                "end-or-move",
            ),
        ),
        hidden=_hidden_nearest_minimiser,
        explanation=r"""
            A matrix is a minimiser when it agrees with `best` on the range of $\mathbb{E}[\mathbf{x}\mathbf{x}^\top]$; on the null space it may be anything, so the
            nearest one keeps there what `w` has. `moment @ pinv(moment)` is the projection onto the range, and it stands on the side on which
            $\mathbf{W}$ meets the inputs. The gradient of the loss lies in the range, which is why descent never changes the rest.
        """,
        variants=(
            Variant({"lines": "rows", "asked": "the end"}, _ROWS | _END),
            Variant({"lines": "columns", "asked": "the end"}, _COLUMNS | _END),
            Variant({"lines": "rows", "asked": "the move"}, _ROWS | _MOVE),
            Variant({"lines": "columns", "asked": "the move"}, _COLUMNS | _MOVE),
        ),
    ),
]

PAPER = [
    PaperExercise(
        id="a-paper-other-random-words",
        title="random words that are not uniform",
        level="core",
        minutes=30,
        objective="to see which step of a proof uses which assumption",
        prerequisites=(
            "[the derivation of Lemma 1](appendix_a.ipynb#the-derivation)",
            "[Claim 1](appendix_a.ipynb#claim-1-all-other-topics-have-one-sum) and its exchange of topics",
        ),
        graded=True,
        statement=r"""
            Suppose that a random word is not uniform. It is word $l$ with probability $\pi_l$, whatever the document, with $\sum_l \pi_l = 1$. Everything else
            is as in Lemma 1, and $1 \le \tau < T$. Let $S_t$ be the sum of row $i \ge 1$ of $\mathbf{W}$ over topic $t$. (a) Derive all conditions under
            which the row predicts $p_{\mathbf{w}}(i)$ in every document. (b) Which parts of points 2 and 3 of Lemma 1 still hold as they stand, and which do
            not? (c) Two minimisers have the same block sums. Must they have the same entry at [MASK]? Decide it for uniform $\pi$ and for other $\pi$.
        """,
        rubric=(
            (
                2,
                r"The prediction: $m \mathbf{W}_{i0} + a \sum_t S_t q_t + r \sum_l \pi_l \mathbf{W}_{il}$. One point if the last term is there but still has block sums in it.",
            ),
            (
                3,
                r"The exchange: [MASK] and random words add the same in every document, so only $a S_t/(\tau v)$ changes. Hence $S_{t_1} = S_{t_2}$ for two other topics (1), and own sum minus other sum is $1/a$ (1). Says that $\tau < T$ makes the exchange possible (1).",
            ),
            (
                2,
                r"The constant term: $m \mathbf{W}_{i0} + a u_i + r \sum_l \pi_l \mathbf{W}_{il} = 0$, or the same in other letters. One point if the condition is named but has an error in a factor.",
            ),
            (1, "Point 3 holds as it stands; point 2 does not."),
            (
                2,
                r"For uniform $\pi$ yes, as $\sum_l \pi_l \mathbf{W}_{il}$ is then the sum of all blocks divided by $Tv$ (1). Otherwise no: an example or argument in which weight moves inside a block between words with different $\pi_l$ (1). A $\pi$ that is constant on each topic counts as a case of its own and may be answered yes.",
            ),
        ),
        model_answer=r"""
            Write $q_t$ for the probability of one word of topic $t$. Word $l$ of topic $t$ shows with probability $a q_t + r \pi_l$, and [MASK] with
            probability $m$. So $(\mathbf{W}\mathbf{x})_i = m \mathbf{W}_{i0} + a \sum_t S_t q_t + r \sum_l \pi_l \mathbf{W}_{il}$.

            (a) Since $\tau < T$, a document may exchange one of its topics, $t_1$, for a topic $t_2$ that it lacks. The first and the last term do not
            change, so the prediction changes by $\frac{a}{\tau v}(S_{t_2} - S_{t_1})$. If neither is the topic of $i$, the target does not change, so
            $S_{t_1} = S_{t_2}$; call the common value $u_i v$. If $t_1$ is the topic of $i$, the target falls by $\frac{1}{\tau v}$, so
            $S_{t_1} - S_{t_2} = \frac{1}{a}$. With these sums $a \sum_t S_t q_t = a u_i + q$, where $q$ is the target, because $v \sum_t q_t = 1$.
            What is left must be zero: $m \mathbf{W}_{i0} + a u_i + r \sum_l \pi_l \mathbf{W}_{il} = 0$. Conversely, these conditions make the
            prediction right in every document.

            (b) Point 3 holds as it stands. Point 2 does not: the entry at [MASK] is now $-\frac{1}{m}\bigl(a u_i + r \sum_l \pi_l \mathbf{W}_{il}\bigr)$.

            (c) For uniform $\pi$ yes: $\sum_l \pi_l \mathbf{W}_{il} = \frac{1}{Tv} \sum_t S_t$ is a function of the block sums. The same is true if $\pi$
            is constant on each topic. Otherwise no: let $l$ and $l'$ be two words of one topic with $\pi_l > \pi_{l'}$. Add $\epsilon$ to
            $\mathbf{W}_{il}$, take it off $\mathbf{W}_{il'}$, and take $\frac{r}{m}(\pi_l - \pi_{l'})\,\epsilon$ off $\mathbf{W}_{i0}$. The block sums
            and all predictions stay.
        """,
    ),
]
