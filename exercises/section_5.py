"""Exercises of Section 5."""

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
from topiclib.checks.base import Answer, as_array, close, expect


def _hidden_word_counts(answer: Answer) -> None:
    rng = np.random.default_rng(53)
    w_v, tokens = rng.normal(size=(12, 12)), rng.integers(0, 12, size=30)
    f = as_array(answer(tokens, w_v), (12,), "the prediction")
    expect(close(f, w_v[:, tokens].mean(axis=1), 1e-4), "other-document", "it fails on another document.")


def _hidden_posterior(answer: Answer) -> None:
    inside = np.isin(np.arange(1, 19), [1, 2, 3, 4, 5, 6, 16, 17, 18])
    for token in (0, 1, 8, 17):
        kept = inside & (np.arange(1, 19) == token)
        ways = np.concatenate([[0.0], inside * 0.4 / 18 + kept * 0.05])
        q = as_array(answer(token, [1, 2, 6], 6, 3, 0.05, 0.4), (19,), "the probabilities")
        expect(close(q, ways / ways.sum(), 1e-4), "other-numbers", "it fails on other numbers.")


def _hidden_topicwise(answer: Answer) -> None:
    q = np.random.default_rng(54).dirichlet(np.ones(18))
    p, loss = answer(q, 3)
    best = np.repeat(q.reshape(6, 3).mean(axis=1), 3)
    good = close(as_array(p, (18,), "the prediction"), best, 1e-4) and close(
        as_array(loss, (), "the loss"), 1 - (best**2).sum(), 1e-4
    )
    expect(good, "other-numbers", "it fails on other probabilities.")


def _hidden_shares(answer: Answer, mask: str = "free") -> None:
    rng = np.random.default_rng(56)
    for words, present in ((7, (0, 1, 3, 4, 6)), (5, (0, 2, 5))):
        w_v, q = rng.normal(size=(words + 1, words + 1)), rng.dirichlet(np.ones(words + 1))
        q[0], counts = 0, np.zeros(words + 1, dtype=int)
        q, counts[list(present)] = q / q.sum(), rng.integers(1, 9, size=len(present))
        found = as_array(answer(w_v, counts, q), (words + 1,), "the shares")
        held = {"free": None, "none": 0.0, "uniform": counts[0] / counts.sum()}[mask]
        expect(held is None or close(found[0], held, 1e-4), "other-document", "it fails on another document.")
        movable = [t for t in present if t or held is None]
        pull = -2 * w_v.T @ (w_v @ found - q)
        least = min(pull[t] for t in movable if found[t] > 1e-3)
        best = close(found.sum(), 1, 1e-4) and (found > -1e-6).all() and max(pull[movable]) < least + 1e-2
        expect(best and close(found[counts == 0], 0, 1e-4), "other-document", "it fails on another document.")


EXERCISES: list[Exercise] = [
    Exercise(
        id="5-word-counts",
        title="a document as its word counts",
        level="warm-up",
        minutes=5,
        objective="reading equation 7 with uniform attention",
        prerequisites=(
            "equation 7 ([Section 3.3](03_3_architecture.ipynb#equation-7))",
            "counting with NumPy",
        ),
        function="predict_uniform",
        statement=r"""
            Compute the prediction of the one-hot model of equation 7 with uniform attention and $\mathbf{b}^{\text{pred}} = 0$.
            `tokens` is an array of $N$ token ids (0 is [MASK]); `w_v` is $\mathbf{W}^V$, of shape $(V, V)$. Every position
            gets the same prediction: return that one, an array of shape $(V,)$.
        """,
        stub='''
            def predict_uniform(tokens, w_v):
                """The prediction at every position when attention is uniform and embeddings are one-hot."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def predict_uniform(tokens, w_v):
                shares = np.bincount(tokens, minlength=len(w_v)) / len(tokens)
                return w_v @ shares
        """,
        alternative="""
            def predict_uniform(tokens, w_v):
                return w_v[:, tokens].mean(axis=1).tolist()
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def predict_uniform(tokens, w_v):
                    return w_v @ np.bincount(tokens, minlength=len(w_v))
                """,
                "counts-not-shares",
            ),
            Wrong(
                """
                def predict_uniform(tokens, w_v):
                    return w_v[tokens].mean(axis=0)
                """,
                "transposed",
            ),
            Wrong(
                """
                def predict_uniform(tokens, w_v):
                    words = tokens[tokens > 0]
                    return w_v[:, words].mean(axis=1)
                """,
                "mask-left-out",
            ),
            Wrong(
                """
                import numpy as np

                def predict_uniform(tokens, w_v):
                    return w_v[:, np.unique(tokens)].mean(axis=1)
                """,
                "repetitions-ignored",
            ),
        ),
        hidden=_hidden_word_counts,
        explanation=r"""
            $\mathbf{W}^V \tilde{\mathbf{X}} A$ with $A_{ij} = 1/N$ averages one column of $\mathbf{W}^V$ for each position. So
            in stage 1 a document counts only by its word counts.
        """,
    ),
    Exercise(
        id="5-posterior",
        title="what a selected position tells",
        level="core",
        minutes=12,
        objective="the posterior of the hidden word, which bounds what attention can gain",
        prerequisites=(
            "the masking scheme ([Section 3.2](03_2_training_objective.ipynb#masking-step-by-step))",
            "Bayes' rule",
        ),
        function="hidden_word",
        statement=r"""
            A document is so long that its topics are known: `topics`, a list of distinct topic ids (1 to $T$), each as likely
            at every position, with $v$ equally likely words each (topic $t$ has the words $(t-1)v + 1$ to $tv$). One position is
            known to be selected for prediction, and it shows `token`: 0 for [MASK], or a word id. A selected position keeps its
            word with probability `p_c`, shows a random one of all $Tv$ words with `p_r`, and [MASK] otherwise. Return the
            probabilities of the original word, an array of shape $(Tv + 1,)$ with entry 0 for [MASK].
        """,
        stub='''
            def hidden_word(token, topics, num_topics, words_per_topic, p_c, p_r):
                """Entry i: the probability that the selected position that shows ``token`` holds word i."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def hidden_word(token, topics, num_topics, words_per_topic, p_c, p_r):
                num_words = num_topics * words_per_topic
                likely = np.zeros(num_words + 1)
                for topic in topics:
                    first = (topic - 1) * words_per_topic + 1
                    likely[first : first + words_per_topic] = p_r / num_words if token else 1.0
                if token and likely[token] > 0:
                    likely[token] += p_c
                return likely / likely.sum()
        """,
        alternative="""
            import numpy as np

            def hidden_word(token, topics, num_topics, words_per_topic, p_c, p_r):
                n = len(topics) * words_per_topic
                inside = [i > 0 and -(-i // words_per_topic) in topics for i in range(num_topics * words_per_topic + 1)]
                q = np.array(inside) / n
                if token and inside[token]:
                    kept = p_c / (p_c + p_r * len(topics) / num_topics)
                    q = (1 - kept) * q
                    q[token] += kept
                return q
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def hidden_word(token, topics, num_topics, words_per_topic, p_c, p_r):
                    i = np.arange(num_topics * words_per_topic + 1)
                    q = np.isin(-(-i // words_per_topic), topics) * 1.0
                    return q / q.sum()
                """,
                "kept-ignored",
            ),
            Wrong(
                """
                import numpy as np

                def hidden_word(token, topics, num_topics, words_per_topic, p_c, p_r):
                    i = np.arange(num_topics * words_per_topic + 1)
                    q = np.isin(-(-i // words_per_topic), topics) * 1.0
                    if token and q[token]:
                        q = (i == token) * 1.0
                    return q / q.sum()
                """,
                "always-kept",
            ),
            Wrong(
                """
                import numpy as np

                def hidden_word(token, topics, num_topics, words_per_topic, p_c, p_r):
                    i = np.arange(num_topics * words_per_topic + 1)
                    q = np.isin(-(-i // words_per_topic), topics) * 1.0
                    q = q / q.sum()
                    if token and q[token]:
                        q = (1 - p_c) * q
                        q[token] += p_c
                    return q
                """,
                "p-c-as-posterior",
            ),
            Wrong(
                """
                import numpy as np

                def hidden_word(token, topics, num_topics, words_per_topic, p_c, p_r):
                    i = np.arange(num_topics * words_per_topic + 1)
                    q = np.isin(-(-i // words_per_topic), topics) * 1.0
                    q = q / q.sum()
                    if token and q[token]:
                        q = q * p_r
                        q[token] += p_c
                    return q / q.sum()
                """,
                "random-within-topics",
            ),
            Wrong(
                """
                import numpy as np

                def hidden_word(token, topics, num_topics, words_per_topic, p_c, p_r):
                    i = np.arange(num_topics * words_per_topic + 1)
                    inside = np.isin(-(-i // words_per_topic), topics) * 1.0
                    q = inside * (p_r / (num_topics * words_per_topic) if token else 1.0)
                    q[token] += p_c * (token > 0)
                    return q / q.sum()
                """,
                "absent-topics",
            ),
            Wrong(
                """
                import numpy as np

                def hidden_word(token, topics, num_topics, words_per_topic, p_c, p_r):
                    i = np.arange(num_topics * words_per_topic + 1)
                    inside = np.isin(-(-i // words_per_topic), topics) * 1.0
                    q = inside * (p_r / (num_topics * words_per_topic) if token else 1.0)
                    if token and inside[token]:
                        q[token] += p_c
                    return q
                """,
                "not-normalised",
            ),
        ),
        hidden=_hidden_posterior,
        graded=True,
        explanation=r"""
            Compare the ways. Word $i$ is there and is replaced by the shown word: proportional to $p_r / (Tv)$, the same for
            every word $i$ of the topics. The shown word is there and kept: $p_c$ on top, for that word only, and only if it is
            of one of the topics. Then divide by the sum. With $k = p_c / (p_c + p_r \tau / T)$ that is $k$ for "kept" and $1 - k$
            spread over the $\tau v$ words.
        """,
    ),
    Exercise(
        id="5-topicwise",
        title="the best prediction that treats a topic's words alike",
        level="challenge",
        minutes=15,
        objective="a lower bound for every value matrix of uniform blocks",
        prerequisites=(
            "[the two yardsticks](05_self_attention.ipynb#the-whole-path-in-two-formulas)",
            "the least value of a quadratic",
        ),
        function="best_topicwise_prediction",
        statement=r"""
            The hidden word is word $i$ with probability `q[i - 1]`, for $i$ from 1 to $Tv$. A prediction $p$ of shape $(Tv,)$ has
            the expected squared loss $\sum_i q_i \|p - e_i\|^2$. Among all predictions that give the same number to all words of a
            topic (topic $t$ has the $v$ words $(t-1)v + 1$ to $tv$), find the best one. Return it and its expected loss.
        """,
        stub='''
            def best_topicwise_prediction(q, words_per_topic):
                """(prediction, expected loss): the best prediction that is constant within each topic."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def best_topicwise_prediction(q, words_per_topic):
                means = np.asarray(q).reshape(-1, words_per_topic).mean(axis=1)
                p = np.repeat(means, words_per_topic)
                return p, 1 - (p**2).sum()
        """,
        alternative="""
            import numpy as np

            def best_topicwise_prediction(q, words_per_topic):
                n = len(q)
                average = np.kron(np.eye(n // words_per_topic), np.full((words_per_topic, words_per_topic), 1 / words_per_topic))
                p = average @ q
                loss = sum(q[i] * ((p - np.eye(n)[i]) ** 2).sum() for i in range(n))
                return p.tolist(), loss
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def best_topicwise_prediction(q, words_per_topic):
                    return q, 1 - (q**2).sum()
                """,
                "tells-words-apart",
            ),
            Wrong(
                """
                import numpy as np

                def best_topicwise_prediction(q, words_per_topic):
                    p = np.repeat(q.reshape(-1, words_per_topic).sum(axis=1), words_per_topic)
                    return p, 1 - (p**2).sum()
                """,
                "topic-probability-repeated",
            ),
            Wrong(
                """
                import numpy as np

                def best_topicwise_prediction(q, words_per_topic):
                    p = np.repeat(q.reshape(-1, words_per_topic).mean(axis=1), words_per_topic)
                    return p, ((p - q) ** 2).sum()
                """,
                "distance-to-probabilities",
            ),
            Wrong(
                """
                import numpy as np

                def best_topicwise_prediction(q, words_per_topic):
                    p = np.repeat(q.reshape(-1, words_per_topic).mean(axis=1), words_per_topic)
                    return p, 1 - (q**2).sum()
                """,
                "loss-of-another",
            ),
            Wrong(
                """
                import numpy as np

                def best_topicwise_prediction(q, words_per_topic):
                    p = np.full(len(q), 1 / len(q))
                    return p, 1 - (p**2).sum()
                """,
                "one-number-for-all",
            ),
            Wrong(
                """
                import numpy as np

                def best_topicwise_prediction(q, words_per_topic):
                    p = np.repeat(q.reshape(-1, words_per_topic).max(axis=1), words_per_topic)
                    return p, 1 - 2 * (p * q).sum() + (p**2).sum()
                """,
                "not-the-best",
            ),
        ),
        hidden=_hidden_topicwise,
        explanation=r"""
            The loss is $1 - 2 p \cdot q + \|p\|^2$. If $p$ has the value $c_t$ on topic $t$, that is
            $1 + \sum_t (v c_t^2 - 2 c_t q_t)$ with $q_t$ the topic's probability, least at $c_t = q_t / v$. There $p \cdot q = \|p\|^2$,
            so the loss is $1 - \|p\|^2$. A $\mathbf{W}^V$ of uniform blocks gives such predictions under every attention pattern.
        """,
    ),
    Exercise(
        id="5-best-shares",
        title="the best attention that stage 2 could wish for",
        level="challenge",
        minutes=40,
        objective="a quadratic problem with shares as unknowns, and the conditions at its optimum",
        prerequisites=(
            "[the two stages](05_self_attention.ipynb#two-stages)",
            "constrained optimisation (Karush-Kuhn-Tucker conditions, or a projection on the simplex)",
        ),
        function="best_shares",
        statement=r"""
            Stage 2 chooses shares for a frozen $\mathbf{W}^V$. Let us drop every pattern: one position may give each *token of the document* any share $y_l \geq 0$ (all its copies together), the shares sum to 1, and
            {{rule_in_words}}. The prediction is $\mathbf{W}^V \mathbf{y}$; the hidden token is $i$ with probability `q[i]`, so the expected squared loss is $\sum_i q_i \|\mathbf{W}^V \mathbf{y} - \mathbf{e}_i\|^2$. `w_v` has shape $(V, V)$, `counts`
            says how often each token stands in the document, and `q` is an array of length $V$. [MASK] (token 0) and one word at least are there, and at most eight different tokens; their columns of `w_v` are linearly independent. Return
            the best $\mathbf{y}$, an array of length $V$, within $10^{-4}$.
        """,
        stub='''
            def best_shares(w_v, counts, q):
                """The shares with the least expected squared loss; shape (V,)."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            from itertools import combinations
            import numpy as np

            def best_shares(w_v, counts, q):
                shares = np.zeros(len(counts))
                free = np.flatnonzero(counts)
                {{rule}}
                rest = 1 - shares.sum()
                best, least = None, np.inf
                for size in range(1, len(free) + 1):
                    for used in combinations(free, size):
                        columns = w_v[:, used]
                        system = np.ones((size + 1, size + 1))
                        system[:size, :size], system[size, size] = columns.T @ columns, 0
                        z = np.linalg.solve(system, np.append(columns.T @ (q - w_v @ shares), rest))[:size]
                        y = shares.copy()
                        y[list(used)] = z
                        loss = ((w_v @ y - q) ** 2).sum()
                        if (z >= 0).all() and loss < least:
                            best, least = y, loss
                return best
        """,
        alternative="""
            import numpy as np

            def best_shares(w_v, counts, q):
                shares = np.zeros(len(counts))
                free = np.flatnonzero(counts)
                {{rule}}
                rest = 1 - shares.sum()
                columns, goal = w_v[:, free], q - w_v @ shares
                step = 1 / np.linalg.norm(columns, 2) ** 2
                z = np.full(len(free), rest / len(free))
                for _ in range(5_000):
                    z = z - step * columns.T @ (columns @ z - goal)
                    falling = np.sort(z)[::-1]
                    levels = (np.cumsum(falling) - rest) / np.arange(1, len(z) + 1)
                    z = np.maximum(z - levels[np.flatnonzero(falling > levels)[-1]], 0)
                shares[free] = z
                return shares
        """,
        wrong=(
            Wrong(
                """
                from itertools import combinations
                import numpy as np

                def best_shares(w_v, counts, q):
                    shares = np.zeros(len(counts))
                    free = np.flatnonzero(counts)
                    {{rule}}
                    rest = 1 - shares.sum()
                    free = tuple(free)
                    best, least = None, np.inf
                    for size in range(1, len(free) + 1):
                        for used in combinations(free, size):
                            columns = w_v[:, used]
                            system = np.ones((size + 1, size + 1))
                            system[:size, :size], system[size, size] = columns.T @ columns, 0
                            z = np.linalg.solve(system, np.append(columns.T @ (q - w_v @ shares), rest))[:size]
                            y = shares.copy()
                            y[list(used)] = z
                            loss = ((w_v @ y - q) ** 2).sum()
                            if len(used) == len(free) and loss < least:
                                best, least = y, loss
                    return best
                """,
                "negative-shares",
            ),
            Wrong(
                """
                from itertools import combinations
                import numpy as np

                def best_shares(w_v, counts, q):
                    shares = np.zeros(len(counts))
                    free = np.flatnonzero(counts)
                    {{rule}}
                    rest = 1 - shares.sum()
                    z = np.maximum(np.linalg.lstsq(w_v[:, free], q - w_v @ shares, rcond=None)[0], 0)
                    shares[free] = rest * z / z.sum()
                    return shares
                """,
                "clipped",
            ),
            Wrong(
                """
                from itertools import combinations
                import numpy as np

                def best_shares(w_v, counts, q):
                    shares = np.zeros(len(counts))
                    free = np.flatnonzero(counts)
                    {{rule}}
                    rest = 1 - shares.sum()
                    loss = [((w_v @ (shares + rest * np.eye(len(q))[t]) - q) ** 2).sum() for t in free]
                    shares[free[np.argmin(loss)]] += rest
                    return shares
                """,
                "one-token-only",
            ),
            Wrong(
                """
                from itertools import combinations
                import numpy as np

                def best_shares(w_v, counts, q):
                    shares = np.zeros(len(counts))
                    free = np.flatnonzero(counts)
                    {{rule}}
                    rest = 1 - shares.sum()
                    shares[free] = rest * counts[free] / counts[free].sum()
                    return shares
                """,
                "not-moved",
            ),
            Wrong(
                """
                from itertools import combinations
                import numpy as np

                def best_shares(w_v, counts, q):
                    shares = np.zeros(len(counts))
                    free = np.flatnonzero(counts)
                    {{rule}}
                    rest = 1 - shares.sum()
                    w_v = w_v.T
                    best, least = None, np.inf
                    for size in range(1, len(free) + 1):
                        for used in combinations(free, size):
                            columns = w_v[:, used]
                            system = np.ones((size + 1, size + 1))
                            system[:size, :size], system[size, size] = columns.T @ columns, 0
                            z = np.linalg.solve(system, np.append(columns.T @ (q - w_v @ shares), rest))[:size]
                            y = shares.copy()
                            y[list(used)] = z
                            loss = ((w_v @ y - q) ** 2).sum()
                            if (z >= 0).all() and loss < least:
                                best, least = y, loss
                    return best
                """,
                "transposed",
            ),
            Wrong(
                """
                from itertools import combinations
                import numpy as np

                def best_shares(w_v, counts, q):
                    shares = np.zeros(len(counts))
                    free = np.flatnonzero(counts)
                    {{rule}}
                    rest = 1 - shares.sum()
                    for _ in range(3_000):
                        slope = w_v[:, free].T @ (w_v @ shares - q)
                        shares[free] = np.maximum(shares[free] - slope / np.linalg.norm(w_v, 2) ** 2, 0)
                    return shares
                """,
                "not-shares",
            ),
            Wrong(
                """
                from itertools import combinations
                import numpy as np

                def best_shares(w_v, counts, q):
                    shares = np.zeros(len(counts))
                    free = np.flatnonzero(counts)
                    {{rule}}
                    rest = 1 - shares.sum()
                    shares[free] = rest * (q[free] + 1e-9) / (q[free] + 1e-9).sum()
                    return shares
                """,
                "likely-tokens",
            ),
            Wrong(
                """
                from itertools import combinations
                import numpy as np

                def best_shares(w_v, counts, q):
                    shares = np.zeros(len(counts))
                    free = np.flatnonzero(counts)
                    {{rule}}
                    rest = 1 - shares.sum()
                    free = np.arange(int(free.min() > 0), len(counts))
                    best, least = None, np.inf
                    for size in range(1, len(free) + 1):
                        for used in combinations(free, size):
                            columns = w_v[:, used]
                            system = np.ones((size + 1, size + 1))
                            system[:size, :size], system[size, size] = columns.T @ columns, 0
                            z = np.linalg.solve(system, np.append(columns.T @ (q - w_v @ shares), rest))[:size]
                            y = shares.copy()
                            y[list(used)] = z
                            loss = ((w_v @ y - q) ** 2).sum()
                            if (z >= 0).all() and loss < least:
                                best, least = y, loss
                    return best
                """,
                "absent-tokens",
            ),
        ),
        hidden=_hidden_shares,
        graded=True,
        explanation=r"""
            The loss is $\|\mathbf{W}^V \mathbf{y} - \mathbf{q}\|^2$ plus a constant: a convex quadratic on a simplex. At its optimum all tokens with a positive share have the same pull, and none without a share has a larger one; otherwise a little
            share could be moved with profit. For a given set of tokens with positive shares that is a linear system. With eight tokens there are few sets, and the best admissible one is the answer. Most sets of equations have a negative solution: such
            a token gets nothing, and setting it to zero changes the shares of all others. {{why}}
        """,
        variants=(
            Variant(
                {"mask": "free"},
                {
                    "rule_in_words": "[MASK] is a token like any other",
                    "rule": "free = free[free >= 0]",
                    "why": "Here [MASK] is one of the tokens.",
                },
            ),
            Variant(
                {"mask": "none"},
                {
                    "rule_in_words": "[MASK] must get none",
                    "rule": "free = free[free > 0]",
                    "why": "Here [MASK] is left out from the start.",
                },
            ),
            Variant(
                {"mask": "uniform"},
                {
                    "rule_in_words": "[MASK] keeps the share that uniform attention gives to it",
                    "rule": "free, shares[0] = free[free > 0], counts[0] / np.sum(counts)",
                    "why": "Here [MASK] adds a constant to the prediction, and the others share what is left.",
                },
            ),
        ),
    ),
]

PAPER: list[PaperExercise] = [
    PaperExercise(
        id="5-paper-kept-words",
        title="what attention can gain, and from which positions",
        level="core",
        minutes=30,
        objective="separating what a position knows from what the document knows",
        prerequisites=(
            "[the two yardsticks](05_self_attention.ipynb#the-whole-path-in-two-formulas)",
            "Bayes' rule",
            "the mean label is the best prediction under the squared loss ([Section 3.2](03_2_training_objective.ipynb#squared-loss-and-cross-entropy))",
        ),
        statement=r"""
            Documents are infinitely long with $\tau$ of $T$ topics, so the topics are known. The loss is squared, and $0 < p_r$, $p_c + p_r < 1$. (a) Let $p_c = 0$. Prove that no prediction whatever, with any use of the shown token, has a loss below $1 - \frac{1}{\tau v}$, so that
            with Theorem 2's matrix uniform attention is optimal. (b) Let $p_c > 0$. Prove that predictions which give all words of a topic the same number can gain at most
            $g = \frac{p_c^2}{p_c + p_r \tau / T} \cdot \frac{\tau - 1}{\tau v}$
            over that. (c) Which positions bring this gain, and why is it zero at $\tau = 1$? (d) Keep $p_c + p_r$ fixed. Does $g$ rise or fall with $p_c$? Prove it.
        """,
        graded=True,
        rubric=(
            (
                2,
                "(a): with p_c = 0 the hidden word is independent of what is shown, given the topics: uniform on the words of the document (1 point for [MASK], 1 point for a shown word, which is always random).",
            ),
            (
                1,
                "(a): the least loss is one minus the squared norm of that distribution, and uniform attention with Theorem 2's matrix predicts it.",
            ),
            (
                2,
                "(b): the probability to show a word of the document's topics and, by Bayes, that it was kept: k = p_c / (p_c + p_r tau / T).",
            ),
            (
                2,
                "(b): the best prediction constant on topics is the distribution averaged within topics, with own topic k/v + (1 - k)/(tau v) a word; its squared norm gives the gain k^2 (1/v - 1/(tau v)). 1 point if the averaging is right and the norm is wrong.",
            ),
            (
                1,
                "(c): only positions that show a word of one of the document's topics; with one topic the topic of the hidden word is known anyway.",
            ),
            (
                2,
                "(d): rises, with a proof (a derivative or a quotient of increasing functions). 1 point for the right answer with an incomplete proof.",
            ),
        ),
        model_answer=r"""
            Let $\mathbf{p}$ be the document's word distribution, $\frac{1}{\tau v}$ on its words.

            (a) A selected position shows [MASK] or a random word, and with $p_c = 0$ neither the choice nor the random word depends on the original. So given the topics and what is shown, the hidden word has the distribution $\mathbf{p}$. For any prediction
            $\mathbf{x}$ the expected loss is $\|\mathbf{x} - \mathbf{p}\|^2 + 1 - \|\mathbf{p}\|^2 \geq 1 - \frac{1}{\tau v}$. Theorem 2's matrix predicts $\mathbf{p}$ under uniform attention, which is the case of equality.

            (b) A position that shows [MASK], or a word outside the document's topics, has the posterior $\mathbf{p}$ as in (a), and gains nothing. A word of the document's topics is shown with probability $\pi = p_c + p_r \frac{\tau}{T}$. Given
            that, it was kept with probability $k = p_c / \pi$; if not, the original has the distribution $\mathbf{p}$. So the posterior is $\mathbf{q} = k\, \mathbf{e}_j + (1 - k) \mathbf{p}$ with $j$ the shown word. For a prediction $\mathbf{x}$ that is constant on topics, $\mathbf{x} \cdot \mathbf{q} = \mathbf{x} \cdot \bar{\mathbf{q}}$, where
            $\bar{\mathbf{q}}$ is $\mathbf{q}$ averaged within each topic. So the loss is $\|\mathbf{x} - \bar{\mathbf{q}}\|^2 + 1 - \|\bar{\mathbf{q}}\|^2$, at least $1 - \|\bar{\mathbf{q}}\|^2$. Write $\mathbf{t}$ for $\frac{1}{v}$ on the words of $j$'s topic. Then
            $\bar{\mathbf{q}} = k \mathbf{t} + (1 - k) \mathbf{p}$, with $\|\mathbf{t}\|^2 = \frac{1}{v}$ and $\mathbf{t} \cdot \mathbf{p} = \|\mathbf{p}\|^2 = \frac{1}{\tau v}$. Hence $\|\bar{\mathbf{q}}\|^2 = k^2 \frac{1}{v} + (1 - k^2) \frac{1}{\tau v}$, and the gain over
            $1 - \frac{1}{\tau v}$ is $\pi k^2 \left(\frac{1}{v} - \frac{1}{\tau v}\right) = \frac{p_c^2}{\pi} \cdot \frac{\tau - 1}{\tau v}$.

            (c) Only positions that show a word of the document's topics: it was probably kept, and so its topic is likelier than the others. With $\tau = 1$ the document has one topic, which is the hidden word's whatever the position shows.

            (d) Put $s = p_c + p_r$ and $\rho = \frac{\tau}{T} \leq 1$. Then $\frac{p_c^2}{p_c + (s - p_c) \rho} = \frac{p_c}{1 - \rho + \rho s / p_c}$. As $p_c$ rises the numerator rises and the denominator falls or stays. So $g$ rises (for $\tau \geq 2$).
        """,
    ),
]
