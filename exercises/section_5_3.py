"""Exercises of Section 5.3."""

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from exercises.format import Exercise, PaperExercise, Variant, Wrong
from topiclib.checks.base import Answer, as_array, close, expect


def _hidden_attention_column(answer: Answer) -> None:
    tokens = np.array([9, 3, 0, 1, 6, 9])
    got = as_array(answer(tokens, 0, 0.5, 2.0, 3), (6,), "the column of weights")
    weights = np.array([2, 1, 1, 1, 1, 2.0])
    expect(close(got, weights / weights.sum(), 1e-4), "other-document", "it fails on another document.")


def _hidden_needed_ratio(answer: Answer) -> None:
    expect(close(answer(0.25, 0.75), 9, 1e-4), "other-shares", "it fails for another share.")


def _hidden_realise(answer: Answer) -> None:
    w_k, w_q = answer(2.0, 3.0, 4, 1)
    scores = as_array(w_k, (5, 5), "W_K").T @ as_array(w_q, (5, 5), "W_Q") / 5**0.5
    weights = np.exp(scores) / np.exp(scores).sum(axis=0)
    wanted = (np.ones((5, 5)) + 2 * np.eye(5)) / 7
    expect(close(weights, wanted, 1e-4), "other-settings", "it fails where topics have one word.")


def _word_query_loss(logs: npt.NDArray[np.float64], tau: int, p_m: float, p_c: float, p_r: float) -> float:
    shares, target = np.full(tau, (1 - (1 - p_c) * p_m) / tau), np.eye(tau)[0]
    rest = p_m * (1 - p_c - p_r) * np.exp(logs[1]) + p_m * p_r
    weights = shares * np.where(target, np.exp(logs[0]), 1.0)
    own, stray = weights / (weights.sum() + rest) / shares.sum(), 1 / tau / (shares.sum() + rest)
    return float(p_c * (own @ own - 2 * own[0]) + p_r * (tau * stray**2 - 2 * stray))


def _hidden_free_mask(answer: Answer, asked: str = "ratios") -> None:
    settings = {"xatol": 1e-7, "fatol": 1e-15}
    for chances in ((6, 0.3, 0.05, 0.25), (3, 0.45, 0.25, 0.1)):
        found = as_array(answer(*chances), (2,), "two numbers")
        s, m = np.exp(minimize(_word_query_loss, [2.0, 0.0], args=chances, method="Nelder-Mead", options=settings).x)
        tau, p_m, p_c, p_r = chances
        own = (1 - (1 - p_c) * p_m) / tau
        total = own * (s + tau - 1) + p_m * p_r + p_m * (1 - p_c - p_r) * m
        values = {"ratios": (s, m), "fraction and m": (s * own / total, m), "relative to [MASK]": (s / m, 1 / m)}
        expect(
            np.allclose(found, values[asked], rtol=2e-3), "other-masks", "it fails for other masks and another number of topics."
        )


EXERCISES = [
    Exercise(
        id="5.3-attention-column",
        title="one column of the attention pattern",
        level="warm-up",
        minutes=6,
        objective="what Assumption 2's ratios say, and that they are no weights before a column is normalised",
        prerequisites=(
            "[Assumption 2](05_3_attention_weights.ipynb#what-attention-may-choose)",
            "Boolean masks in NumPy",
        ),
        function="attention_column",
        statement=r"""
            `tokens` is an array of $N$ token ids, [MASK] = 0. Return the column of $A$ for the query at position `query`, an array of shape $(N,)$:
            the weights of Assumption 2 with $\alpha$ = `same_topic_ratio` and $\beta$ = `same_word_ratio`, where $v$ = `words_per_topic`.
            A second [MASK] is the same token as the first; otherwise [MASK] is of another topic than every word.
        """,
        stub='''
            def attention_column(tokens, query, same_topic_ratio, same_word_ratio, words_per_topic):
                """Column ``query`` of A under Assumption 2; shape (N,), sums to 1."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def attention_column(tokens, query, same_topic_ratio, same_word_ratio, words_per_topic):
                topics = np.ceil(np.asarray(tokens) / words_per_topic)
                weights = np.where(topics == topics[query], same_topic_ratio, 1.0)
                weights[tokens == tokens[query]] = same_word_ratio
                return weights / weights.sum()
        """,
        alternative="""
            def attention_column(tokens, query, same_topic_ratio, same_word_ratio, words_per_topic):
                shown, weights = int(tokens[query]), []
                for token in map(int, tokens):
                    if token == shown:
                        weights.append(same_word_ratio)
                    elif token > 0 and shown > 0 and (token - 1) // words_per_topic == (shown - 1) // words_per_topic:
                        weights.append(same_topic_ratio)
                    else:
                        weights.append(1)
                return [w / sum(weights) for w in weights]
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def attention_column(tokens, query, same_topic_ratio, same_word_ratio, words_per_topic):
                    topics = np.ceil(tokens / words_per_topic)
                    weights = np.where(topics == topics[query], same_topic_ratio, 1.0)
                    weights[tokens == tokens[query]] = same_word_ratio
                    return weights
                """,
                "not-normalised",
            ),
            Wrong(
                """
                import numpy as np

                def attention_column(tokens, query, same_topic_ratio, same_word_ratio, words_per_topic):
                    topics = np.ceil(tokens / words_per_topic)
                    weights = np.where(tokens == tokens[query], same_word_ratio, 1.0)
                    weights[topics == topics[query]] = same_topic_ratio
                    return weights / weights.sum()
                """,
                "same-word-lost",
            ),
            Wrong(
                """
                import numpy as np

                def attention_column(tokens, query, same_topic_ratio, same_word_ratio, words_per_topic):
                    topics = tokens // words_per_topic
                    weights = np.where(topics == topics[query], same_topic_ratio, 1.0)
                    weights[tokens == tokens[query]] = same_word_ratio
                    return weights / weights.sum()
                """,
                "wrong-topic",
            ),
            Wrong(
                """
                import numpy as np

                def attention_column(tokens, query, same_topic_ratio, same_word_ratio, words_per_topic):
                    topics = np.ceil(tokens / words_per_topic)
                    weights = np.where(topics == topics[query], same_topic_ratio, 1.0)
                    weights[tokens == tokens[query]] = same_word_ratio
                    return np.exp(weights) / np.exp(weights).sum()
                """,
                "exponential",
            ),
            Wrong(
                """
                import numpy as np

                def attention_column(tokens, query, same_topic_ratio, same_word_ratio, words_per_topic):
                    topics = np.ceil(tokens / words_per_topic)
                    weights = np.where(topics == topics[query], same_topic_ratio, 1.0)
                    weights[tokens == tokens[query]] = same_word_ratio
                    weights[query] = 0
                    return weights / weights.sum()
                """,
                "self-left-out",
            ),
            Wrong(
                """
                import numpy as np

                def attention_column(tokens, query, same_topic_ratio, same_word_ratio, words_per_topic):
                    topics = np.ceil(np.maximum(tokens, 1) / words_per_topic)
                    weights = np.where(topics == topics[query], same_topic_ratio, 1.0)
                    weights[tokens == tokens[query]] = same_word_ratio
                    return weights / weights.sum()
                """,
                "mask-has-a-topic",
            ),
        ),
        hidden=_hidden_attention_column,
        explanation=r"""
            The ratios fix a column up to one factor, and that factor, the paper's $c_3$, follows from the sum. With topic(i) = ceil(i / v),
            [MASK] gets label 0, which no word has, so it needs no case of its own. The same word is asked for last, since it overrules the topic.
        """,
    ),
    Exercise(
        id="5.3-needed-ratio",
        title="the ratio that puts a given weight on a topic",
        level="core",
        minutes=8,
        objective="to go from a ratio of weights to a fraction of the attention, and back",
        prerequisites=(
            "the average ratio $s$ ([Section 5.3](05_3_attention_weights.ipynb#what-attention-may-choose))",
            "odds",
        ),
        graded=True,
        function="needed_ratio",
        statement=r"""
            A query's topic makes up a fraction `share` of the document's tokens. Return the ratio $s$ of attention to a token of this topic and to a
            token of another one, such that a fraction `mass` of the query's attention is on its topic. Both arguments are in $(0, 1)$. Let every
            token of the topic count alike ($\alpha = \beta = s$).
        """,
        stub='''
            def needed_ratio(share, mass):
                """s such that the own topic, a fraction ``share`` of the tokens, gets ``mass`` of the attention."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def needed_ratio(share, mass):
                return mass * (1 - share) / (share * (1 - mass))
        """,
        alternative="""
            def needed_ratio(share, mass):
                odds_wanted, odds_uniform = mass / (1 - mass), share / (1 - share)
                return odds_wanted / odds_uniform
        """,
        wrong=(
            Wrong(
                """
                def needed_ratio(share, mass):
                    return mass / share
                """,
                "others-unchanged",
            ),
            Wrong(
                """
                def needed_ratio(share, mass):
                    return mass / (1 - mass)
                """,
                "uniform-not-one",
            ),
            Wrong(
                """
                def needed_ratio(share, mass):
                    return share * (1 - mass) / (mass * (1 - share))
                """,
                "upside-down",
            ),
            Wrong(
                """
                def needed_ratio(share, mass):
                    return mass / (share * (1 - mass))
                """,
                "uniform-not-one",
            ),
        ),
        hidden=_hidden_needed_ratio,
        explanation=r"""
            The own topic gets $sF/(1 - F + sF)$ of the weight, with $F$ the share. Solve for $s$: it is the ratio of two odds. With $F = a/\tau$
            and a weight of $a$ it is $\tau/(1-a)$ minus a small term, the leading order of the optimum in this chapter.
        """,
    ),
    Exercise(
        id="5.3-realise",
        title="key and query matrices for a pattern",
        level="challenge",
        minutes=15,
        objective="to see why the paper calls Assumption 2 realisable: with one-hot embeddings every table of scores is",
        prerequisites=(
            "[equation 5](03_3_architecture.ipynb#equation-5) with one-hot embeddings",
            "softmax and logarithm",
        ),
        function="key_and_query",
        statement=r"""
            With one-hot embeddings, equation 5 has scores $(\mathbf{W}^K \mathbf{X})^\top (\mathbf{W}^Q \mathbf{X})/\sqrt{d_a}$. Take $d_a = V = Tv + 1$. Return a pair
            `(w_k, w_q)` of $(V, V)$ arrays such that the column-wise softmax gives the pattern of Assumption 2 with $\alpha$ = `same_topic_ratio`
            and $\beta$ = `same_word_ratio`, in every document. [MASK], token 0, is its own same word, and of another topic than every word.
        """,
        stub='''
            def key_and_query(same_topic_ratio, same_word_ratio, num_topics, words_per_topic):
                """W_K and W_Q, both (V, V), that give Assumption 2's attention with one-hot embeddings."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def key_and_query(same_topic_ratio, same_word_ratio, num_topics, words_per_topic):
                size = num_topics * words_per_topic + 1
                scores = np.zeros((size, size))
                scores[1:, 1:] = np.kron(np.eye(num_topics), np.full((words_per_topic, words_per_topic), np.log(same_topic_ratio)))
                np.fill_diagonal(scores, np.log(same_word_ratio))
                return np.eye(size), np.sqrt(size) * scores
        """,
        alternative="""
            import math
            import torch

            def key_and_query(same_topic_ratio, same_word_ratio, num_topics, words_per_topic):
                topics = [0] + [t for t in range(1, num_topics + 1) for _ in range(words_per_topic)]
                size, log_alpha, log_beta = len(topics), math.log(same_topic_ratio), math.log(same_word_ratio)
                rows = [[log_beta if i == j else log_alpha * (topics[i] == topics[j]) for j in range(size)] for i in range(size)]
                return torch.tensor(rows, dtype=torch.float64) * size**0.25, torch.eye(size, dtype=torch.float64) * size**0.25
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def key_and_query(same_topic_ratio, same_word_ratio, num_topics, words_per_topic):
                    n = num_topics * words_per_topic + 1
                    table = np.zeros((n, n))
                    table[1:, 1:] = np.kron(np.eye(num_topics), np.full((words_per_topic,) * 2, np.log(same_topic_ratio)))
                    np.fill_diagonal(table, np.log(same_word_ratio))
                    return np.eye(n), table
                """,
                "no-scale",
            ),
            Wrong(
                """
                import numpy as np

                def key_and_query(same_topic_ratio, same_word_ratio, num_topics, words_per_topic):
                    n = num_topics * words_per_topic + 1
                    table = np.ones((n, n))
                    topic = np.repeat(np.arange(num_topics), words_per_topic)
                    table[1:, 1:][topic[:, None] == topic] = same_topic_ratio
                    np.fill_diagonal(table, same_word_ratio)
                    return np.eye(n), table * n**0.5
                """,
                "no-logarithm",
            ),
            Wrong(
                """
                import numpy as np

                def key_and_query(same_topic_ratio, same_word_ratio, num_topics, words_per_topic):
                    n = num_topics * words_per_topic + 1
                    table = np.zeros((n, n))
                    topic = np.repeat(np.arange(num_topics), words_per_topic)
                    table[1:, 1:][topic[:, None] == topic] = np.log(same_word_ratio)
                    np.fill_diagonal(table, np.log(same_topic_ratio))
                    return np.eye(n), table * n**0.5
                """,
                "ratios-swapped",
            ),
            Wrong(
                """
                import numpy as np

                def key_and_query(same_topic_ratio, same_word_ratio, num_topics, words_per_topic):
                    n = num_topics * words_per_topic + 1
                    table = np.zeros((n, n))
                    topic = np.repeat(np.arange(num_topics), words_per_topic)
                    table[1:, 1:][topic[:, None] == topic] = np.log(same_topic_ratio)
                    np.fill_diagonal(table[1:, 1:], np.log(same_word_ratio))
                    return np.eye(n), table * n**0.5
                """,
                "mask-wrong",
            ),
        ),
        hidden=_hidden_realise,
        explanation=r"""
            With one-hot embeddings the score of key $k$ for query $q$ is entry $(k, q)$ of $\mathbf{W}^{K\top} \mathbf{W}^Q/\sqrt{d_a}$. So take
            $\mathbf{W}^K = \mathbf{I}$ and put the table of log-ratios, times $\sqrt{d_a}$, into $\mathbf{W}^Q$. How often a word occurs in the document needs no
            thought: the softmax runs over positions, and normalises by itself.
        """,
    ),
    Exercise(
        id="5.3-free-mask",
        title="the best attention when [MASK] may have a weight of its own",
        level="challenge",
        minutes=40,
        objective="to carry a limit through a loss, and to see what Assumption 2 leaves out even for endlessly many topics",
        prerequisites=(
            "[the errata to Theorem 3](05_3_attention_weights.ipynb#where-it-stops)",
            "[Theorem 2](05_2_value_matrix.ipynb#theorem-2) as $T \\to \\infty$",
            "minimising a function of two numbers",
        ),
        graded=True,
        function="best_with_free_mask",
        statement=r"""
            Let $T \to \infty$ with $\tau$ = `topics_per_doc` $\geq 2$ fixed, documents be endless and $\mathbf{W}^V$ be Theorem 2's. A query that shows a
            word gives a token of its own topic, another word or the same, $s$ times the weight of a token of another topic, and
            [MASK] $m$ times that weight. So Assumption 2 has $m = 1$. Its squared loss is to be as small as possible on average over the
            queries that show a word, kept and random ones in their right proportion. Find the best $s$ and $m$ for any masks with
            $p_c, p_r > 0$, and return {{asked}}, to a relative accuracy of one in a thousand. Numerical minimisation is welcome, a large $T$
            in place of the limit is not accurate enough.
        """,
        stub="""
            def best_with_free_mask(topics_per_doc, p_m, p_c, p_r):
                \"\"\"{{described}}.\"\"\"
                raise NotImplementedError("your answer")
        """,
        reference="""
            from scipy.optimize import minimize_scalar

            def best_with_free_mask(topics_per_doc, p_m, p_c, p_r):
                t, a, mu = topics_per_doc, 1 - (1 - p_c) * p_m, p_m * (1 - p_c - p_r)
                b = a / t

                def given(m):
                    rest = p_m * p_r + mu * m + b * (t - 1)
                    s = (rest**2 + b**2 * (t - 1)) / (rest * (1 - a) * b) - rest / b
                    z, w = rest + b * s, rest + b
                    return p_c * ((s * s + t - 1) / (t * z * z) - 2 * s / z) + p_r * (1 / w - 2) / w, s, z

                m = minimize_scalar(lambda m: given(m)[0], bounds=(0, 30), method="bounded", options={"xatol": 1e-9}).x
                s, z = given(m)[1:]
                return {{result}}
        """,
        alternative="""
            import numpy as np
            from scipy.optimize import minimize

            def best_with_free_mask(topics_per_doc, p_m, p_c, p_r):
                t, a, mu, r = topics_per_doc, 1 - (1 - p_c) * p_m, p_m * (1 - p_c - p_r), p_m * p_r

                def loss(logs):
                    s, m = np.exp(logs)
                    kept = np.r_[s, np.ones(t - 1)] / (a * (s + t - 1) / t + r + mu * m)
                    stray = np.ones(t) / (a + r + mu * m)
                    return p_c * (np.mean(kept**2) - 2 * kept[0]) + p_r * (np.mean(stray**2) - 2 * stray[0])

                s, m = np.exp(minimize(loss, [2.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-15}).x)
                z = a * (s + t - 1) / t + r + mu * m
                return {{result}}
        """,
        wrong=(
            Wrong(
                """
                import numpy as np
                from scipy.optimize import minimize

                def best_with_free_mask(topics_per_doc, p_m, p_c, p_r):
                    t, a, mu, r = topics_per_doc, 1 - (1 - p_c) * p_m, p_m * (1 - p_c - p_r), p_m * p_r

                    def loss(logs):
                        s, m = np.exp(logs)
                        z, w = a * (s + t - 1) / t + r + mu * m, a + r + mu * m
                        return p_c * ((s * s + t - 1) / (t * z) ** 2 - 2 * s / (t * z)) + p_r * (1 / w - 2) / (w * t)

                    settings = {"xatol": 1e-8, "fatol": 1e-15, "maxiter": 4000}
                    s, m = np.exp(minimize(loss, [2.0, 0.0], method="Nelder-Mead", bounds=[(-5, 9), (0, 0)], options=settings).x)
                    z = a * (s + t - 1) / t + r + mu * m
                    return {{result}}
                """,
                "mask-not-free",
            ),
            Wrong(
                """
                import numpy as np
                from scipy.optimize import minimize

                def best_with_free_mask(topics_per_doc, p_m, p_c, p_r):
                    t, a, mu, r = topics_per_doc, 1 - (1 - p_c) * p_m, p_m * (1 - p_c - p_r), p_m * p_r

                    def loss(logs):
                        s, m = np.exp(logs)
                        z, w = a * (s + t - 1) / t + r + mu * m, a + r + mu * m
                        return p_c * ((s * s + t - 1) / (t * z) ** 2 - 2 * s / (t * z)) + 0 * p_r * (1 / w - 2) / (w * t)

                    settings = {"xatol": 1e-8, "fatol": 1e-15, "maxiter": 4000}
                    s, m = np.exp(minimize(loss, [2.0, 0.0], method="Nelder-Mead", bounds=[(-5, 9), (-9, 6)], options=settings).x)
                    z = a * (s + t - 1) / t + r + mu * m
                    return {{result}}
                """,
                "random-words-forgotten",
            ),
            Wrong(
                """
                import numpy as np
                from scipy.optimize import minimize

                def best_with_free_mask(topics_per_doc, p_m, p_c, p_r):
                    t, a, mu, r = topics_per_doc, 1 - (1 - p_c) * p_m, p_m * (1 - p_c - p_r), p_m * p_r

                    def loss(logs):
                        s, m = np.exp(logs)
                        z, w = a * (s + t - 1) / t + r + mu * m, a + r + mu * m
                        return 0.5 * ((s * s + t - 1) / (t * z) ** 2 - 2 * s / (t * z)) + 0.5 * (1 / w - 2) / (w * t)

                    settings = {"xatol": 1e-8, "fatol": 1e-15, "maxiter": 4000}
                    s, m = np.exp(minimize(loss, [2.0, 0.0], method="Nelder-Mead", bounds=[(-5, 9), (-9, 6)], options=settings).x)
                    z = a * (s + t - 1) / t + r + mu * m
                    return {{result}}
                """,
                "no-proportion",
            ),
            Wrong(
                """
                import numpy as np
                from scipy.optimize import minimize

                def best_with_free_mask(topics_per_doc, p_m, p_c, p_r):
                    t, a, mu, r = topics_per_doc, 1 - (1 - p_c) * p_m, p_m * (1 - p_c - p_r), 0

                    def loss(logs):
                        s, m = np.exp(logs)
                        z, w = a * (s + t - 1) / t + r + mu * m, a + r + mu * m
                        return p_c * ((s * s + t - 1) / (t * z) ** 2 - 2 * s / (t * z)) + p_r * (1 / w - 2) / (w * t)

                    settings = {"xatol": 1e-8, "fatol": 1e-15, "maxiter": 4000}
                    s, m = np.exp(minimize(loss, [2.0, 0.0], method="Nelder-Mead", bounds=[(-5, 9), (-9, 6)], options=settings).x)
                    z = a * (s + t - 1) / t + r + mu * m
                    return {{result}}
                """,
                "random-tokens-forgotten",
            ),
            Wrong(
                """
                import numpy as np
                from scipy.optimize import minimize

                def best_with_free_mask(topics_per_doc, p_m, p_c, p_r):
                    t, a, mu, r = topics_per_doc, 1 - (1 - p_c) * p_m, p_m, p_m * p_r

                    def loss(logs):
                        s, m = np.exp(logs)
                        z, w = a * (s + t - 1) / t + r + mu * m, a + r + mu * m
                        return p_c * ((s * s + t - 1) / (t * z) ** 2 - 2 * s / (t * z)) + p_r * (1 / w - 2) / (w * t)

                    settings = {"xatol": 1e-8, "fatol": 1e-15, "maxiter": 4000}
                    s, m = np.exp(minimize(loss, [2.0, 0.0], method="Nelder-Mead", bounds=[(-5, 9), (-9, 6)], options=settings).x)
                    z = a * (s + t - 1) / t + r + mu * m
                    return {{result}}
                """,
                "share-of-mask",
            ),
            Wrong(
                """
                import numpy as np
                from scipy.optimize import minimize

                def best_with_free_mask(topics_per_doc, p_m, p_c, p_r):
                    t, a, mu, r = topics_per_doc, 1 - (1 - p_c) * p_m, p_m * (1 - p_c - p_r), p_m * p_r

                    def loss(logs):
                        s, m = np.exp(logs)
                        z, w = a * (s + t - 1) / t + r + mu * m, a + r + mu * m
                        return p_c * ((s * s + 0) / (t * z) ** 2 - 2 * s / (t * z)) + p_r * (1 / w - 2) / (w * t)

                    settings = {"xatol": 1e-8, "fatol": 1e-15, "maxiter": 4000}
                    s, m = np.exp(minimize(loss, [2.0, 0.0], method="Nelder-Mead", bounds=[(-5, 9), (-9, 6)], options=settings).x)
                    z = a * (s + t - 1) / t + r + mu * m
                    return {{result}}
                """,
                "others-cost-nothing",
            ),
        ),
        hidden=_hidden_free_mask,
        variants=(
            Variant(
                {"asked": "ratios"},
                {
                    "asked": "the pair $(s, m)$",
                    "described": "(s, m): best weights of the own topic and of [MASK], relative to a token of another topic",
                    "result": "s, m",
                },
            ),
            Variant(
                {"asked": "fraction and m"},
                {
                    "asked": "two numbers: the fraction of its attention that a query with a kept word then gives to its topic, and $m$",
                    "described": "(fraction of a kept word's attention on its topic, weight of [MASK]) at the best weights",
                    "result": "a * s / t / z, m",
                },
            ),
            Variant(
                {"asked": "relative to [MASK]"},
                {
                    "asked": "the pair $(s/m, 1/m)$",
                    "described": "(s/m, 1/m): best weights of the own topic and of another topic, relative to [MASK]",
                    "result": "s / m, 1 / m",
                },
            ),
        ),
        explanation=r"""
            As $T \to \infty$ only same-topic entries of $\mathbf{W}^V$ are left, $\frac{1}{av}$. Let $Z$ be the total weight that a kept word's query gives,
            $Z = \frac{a}{\tau}(s + \tau - 1) + r + \mu m$ with $r = p_m p_r$ and $\mu = p_m(1 - p_c - p_r)$. Its predictions are $\frac{s}{\tau v Z}$ on the own
            topic and $\frac{1}{\tau v Z}$ on the others. A random word is of no topic of the document, so its query gives $Z' = a + r + \mu m$ and
            predicts $\frac{1}{\tau v Z'}$. Up to constants and a factor, the loss is

            $$ p_c \left( \tfrac{s^2 + \tau - 1}{\tau^2 Z^2} - \tfrac{2 s}{\tau Z} \right) + \tfrac{p_r}{\tau} \left( \tfrac{1}{Z'^2} - \tfrac{2}{Z'} \right). $$

            The second part wants $m = 1$, where $Z' = 1$. The first wants no attention on the other topics, and as it must go somewhere, it
            had rather have it on [MASK], which says nothing. At given $m$ the first part is a parabola in $1/Z$, so one number is left to
            search for. At $\tau = 2$ and the paper's masks $m$ is near 1.17.
        """,
    ),
]

PAPER = [
    PaperExercise(
        id="5.3-paper-most-gain",
        title="the most that attention can gain",
        level="core",
        minutes=25,
        objective="to read a bound off a loss in closed form, and to say what it means",
        prerequisites=(
            "[the loss in closed form](05_3_attention_weights.ipynb#the-theorem)",
            "completing the square",
        ),
        graded=True,
        statement=r"""
            Take the loss under Assumption 2 as this chapter gives it, with three costs $Q_M, Q_I, Q_O > 0$, the pull $\pi_I K = p_c \frac{\tau - 1}{\tau a v}$, and
            $0 \leq \theta_I, \theta_O, \psi < 1$ for ratios of at least one. Use without proof that $Q_I > K$. Let $p_c > 0$ and $2 \leq \tau < T$.

            1. Prove that no $(\alpha, \beta)$ lowers the loss below that of uniform attention by more than $\pi_I K^2 / Q_I$.
            2. Conclude that the gain is always below $p_c \frac{\tau - 1}{\tau a v}$.
            3. When is the bound of part 1 attained? Say it for $\pi_O$, for $\beta$ and for $s$.
            4. Explain in words why the gain has a factor $p_c$ and a factor $\frac{1}{v}$.
        """,
        rubric=(
            (
                2,
                "Drops the terms of [MASK] and of random words outside because they are squares times positive factors. One point if only one is dropped with its reason.",
            ),
            (
                2,
                "Minimises the rest as a parabola in theta_I: completes the square or differentiates, and gets at least minus pi_I K squared over Q_I. Covers ratios below one too, or any theta.",
            ),
            (
                2,
                "Part 2: uses K < Q_I strictly, so that the bound is below pi_I K, and puts in the value of the pull. One point without the strict inequality.",
            ),
            (
                2,
                "Part 3: all of pi_O = 0 (no random words outside), beta = 1, and theta_I = K/Q_I, which some s > 1 reaches because K/Q_I lies strictly between 0 and 1. One point if one of these, or the reason that it can be reached, is missing.",
            ),
            (
                2,
                "Part 4: only kept words can profit from knowing the topic of what is shown (p_c), and attention names a topic but not which of its v words (1/v). One point each.",
            ),
        ),
        model_answer=r"""
            1. The loss minus that of uniform attention is $\pi_M \psi^2 Q_M + \pi_I(\theta_I^2 Q_I - 2\theta_I K) + \pi_O \theta_O^2 Q_O$. The first and the last
            term are squares times factors that are not negative, for ratios above or below one, so leaving them out cannot make the
            difference larger. In the middle
            $\theta_I^2 Q_I - 2 \theta_I K = Q_I (\theta_I - \frac{K}{Q_I})^2 - \frac{K^2}{Q_I} \geq -\frac{K^2}{Q_I}$, whatever $\theta_I$ is. So the loss is at least that of
            uniform attention minus $\pi_I K^2/Q_I$.

            2. As $p_c > 0$ and $\tau \geq 2$, $K > 0$, and $K < Q_I$ gives $\pi_I \frac{K^2}{Q_I} < \pi_I K = p_c \frac{\tau - 1}{\tau a v}$.

            3. Equality needs each of the three inequalities to be one. (i) $\pi_O \theta_O^2 Q_O = 0$. As $\theta_O = 0$ only at $s = 1$, where nothing is gained, this
            means $\pi_O = 0$: no random words of other topics. (ii) $\psi = 0$, so $\beta = 1$ (if there is [MASK] at all). (iii) $\theta_I = K/Q_I$. This number is in
            $(0, 1)$, and $\theta_I$ rises continuously from 0 at $s = 1$ to 1 as $s \to \infty$, so exactly one $s > 1$ reaches it. With $\beta$ at one, $\alpha$
            can be chosen to give this $s$. So with $p_r > 0$ and $\tau < T$ the bound is not attained.

            4. A query can gain by looking at its topic only if what it shows says something about the hidden word. Only a kept word does, and a selected
            word is kept with probability $p_c$. What attention can add is the topic. It cannot say which of the topic's $v$ words is hidden: a
            prediction spread evenly over $v$ words has the length $\frac{1}{v}$ in squared loss, and so has what is gained by moving it to the right topic.
        """,
    ),
]
