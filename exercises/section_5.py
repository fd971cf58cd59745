"""Exercises of Section 5."""

import numpy as np

from exercises.format import Exercise, Wrong
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


EXERCISES: list[Exercise] = [
    Exercise(
        id="5-word-counts",
        title="a document as its word counts",
        level="warm-up",
        minutes=5,
        objective="reading equation 7 with uniform attention",
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
]
