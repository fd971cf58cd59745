"""Exercises of Section 5.3."""

import numpy as np

from exercises.format import Exercise, Wrong
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


EXERCISES = [
    Exercise(
        id="5.3-attention-column",
        title="one column of the attention pattern",
        level="warm-up",
        minutes=6,
        objective="what Assumption 2's ratios say, and that they are no weights before a column is normalised",
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
]
