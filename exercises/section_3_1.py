"""Exercises of Section 3.1."""

import numpy as np

from exercises.format import Exercise, Wrong
from topiclib.checks.base import Answer, as_array, close, expect


def _hidden_empirical(answer: Answer) -> None:
    tokens = np.random.default_rng(8).integers(1, 13, size=57)
    expected = np.array([np.mean(tokens == i) for i in range(13)])
    expect(close(as_array(answer(tokens, 12), (13,), "p"), expected), "other-document", "it fails on another document.")


def _hidden_sample(answer: Answer) -> None:
    for T, v, tau in ((7, 3, 1), (4, 6, 4)):
        words = as_array(answer(T, v, tau, 4000, np.random.default_rng(T)), (4000,), "the words")
        present = len(np.unique(np.ceil(words / v)))
        expect(present == tau and words.max() <= T * v, "other-settings", f"with T = {T}, v = {v}, tau = {tau} it fails.")


def _hidden_co_occurrence(answer: Answer) -> None:
    tokens = np.random.default_rng(5).integers(1, 5, size=(3, 6))
    expected = np.zeros((4, 4))
    for row in tokens:
        for m in range(6):
            for n in range(6):
                expected[row[m] - 1, row[n] - 1] += (m != n) / (3 * 6 * 5)
    expect(close(as_array(answer(tokens, 4), (4, 4), "the matrix"), expected), "other-documents", "it fails on other documents.")


EXERCISES = [
    Exercise(
        id="3.1-empirical-distribution",
        title="the empirical distribution of a document",
        level="warm-up",
        minutes=5,
        objective="the left side of Assumption 1, and the paper's numbering of tokens",
        function="empirical_distribution",
        statement=r"""
            Compute $p_{\mathbf{w}}(i) = \frac{1}{N} \sum_n \mathbb{1}_{w_n = i}$ of one document. `tokens` is a sequence of $N$ word ids from
            1 to `num_words`. Return an array of length `num_words + 1`: entry $i$ belongs to token $i$, and entry 0 to [MASK].
        """,
        stub='''
            def empirical_distribution(tokens, num_words):
                """Share of each token in the document; shape (num_words + 1,)."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def empirical_distribution(tokens, num_words):
                return np.bincount(tokens, minlength=num_words + 1) / len(tokens)
        """,
        alternative="""
            def empirical_distribution(tokens, num_words):
                words = [int(w) for w in tokens]
                return [words.count(i) / len(words) for i in range(num_words + 1)]
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def empirical_distribution(tokens, num_words):
                    return np.bincount(tokens, minlength=num_words + 1)
                """,
                "counts",
            ),
            Wrong(
                """
                import numpy as np

                def empirical_distribution(tokens, num_words):
                    return np.bincount(tokens, minlength=num_words + 1) / num_words
                """,
                "divided-by-vocabulary",
            ),
            Wrong(
                """
                import numpy as np

                def empirical_distribution(tokens, num_words):
                    p = np.bincount(np.asarray(tokens) - 1, minlength=num_words + 1)
                    return p / len(tokens)
                """,
                "shifted",
            ),
            Wrong(
                """
                import numpy as np

                def empirical_distribution(tokens, num_words):
                    return np.bincount(tokens, minlength=num_words + 1)[1:] / len(tokens)
                """,
                "wrong-shape",
            ),
            Wrong(
                """
                import numpy as np

                def empirical_distribution(tokens, num_words):
                    seen = np.isin(np.arange(num_words + 1), tokens)
                    return seen / seen.sum()
                """,
                "presence",
            ),
            Wrong(
                """
                import numpy as np

                def empirical_distribution(tokens, num_words):
                    return np.bincount(tokens) / len(tokens)
                """,
                "absent-words",
            ),
        ),
        hidden=_hidden_empirical,
        explanation=r"""
            `bincount` counts each id; `minlength` keeps the words that do not occur. Dividing by the length of the document makes it a
            distribution. It is also the mean over the columns of the one-hot matrix $\mathbf{X}$.
        """,
    ),
    Exercise(
        id="3.1-sample-document",
        title="draw a document",
        level="core",
        minutes=12,
        objective="the generative process of Section 3.1, step by step",
        function="sample_document",
        statement=r"""
            Write the paper's process for one document: choose `topics_per_doc` distinct topics; then, for each of the `doc_len` positions,
            choose one of these topics and a word of it, uniformly. Take all randomness from `rng`, a `numpy.random.Generator`.
            Return `doc_len` word ids, where topic $t$ has the words $(t-1)v + 1, \dots, tv$ and $v$ is `words_per_topic`.
        """,
        stub='''
            def sample_document(num_topics, words_per_topic, topics_per_doc, doc_len, rng):
                """One document of Section 3.1; shape (doc_len,), ids 1 to num_topics * words_per_topic."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def sample_document(num_topics, words_per_topic, topics_per_doc, doc_len, rng):
                chosen = rng.choice(num_topics, size=topics_per_doc, replace=False) + 1
                topics = rng.choice(chosen, size=doc_len)
                return (topics - 1) * words_per_topic + rng.integers(1, words_per_topic + 1, size=doc_len)
        """,
        alternative="""
            def sample_document(num_topics, words_per_topic, topics_per_doc, doc_len, rng):
                chosen = rng.permutation(num_topics)[:topics_per_doc]
                words = []
                for _ in range(doc_len):
                    t = int(chosen[rng.integers(topics_per_doc)]) + 1
                    words.append(int(rng.integers((t - 1) * words_per_topic + 1, t * words_per_topic, endpoint=True)))
                return words
        """,
        wrong=(
            Wrong(
                """
                def sample_document(num_topics, words_per_topic, topics_per_doc, doc_len, rng):
                    chosen = rng.integers(1, num_topics + 1, size=topics_per_doc)
                    topics = rng.choice(chosen, size=doc_len)
                    return (topics - 1) * words_per_topic + rng.integers(1, words_per_topic + 1, size=doc_len)
                """,
                "not-distinct",
            ),
            Wrong(
                """
                def sample_document(num_topics, words_per_topic, topics_per_doc, doc_len, rng):
                    chosen = rng.choice(num_topics, size=topics_per_doc, replace=False)
                    topics = rng.choice(chosen, size=doc_len)
                    return topics * words_per_topic + rng.integers(words_per_topic, size=doc_len)
                """,
                "from-zero",
            ),
            Wrong(
                """
                def sample_document(num_topics, words_per_topic, topics_per_doc, doc_len, rng):
                    chosen = rng.choice(num_topics, size=topics_per_doc, replace=False) + 1
                    topics = rng.choice(chosen, size=doc_len)
                    return (topics - 1) * words_per_topic + rng.integers(1, words_per_topic, size=doc_len)
                """,
                "last-word-missing",
            ),
            Wrong(
                """
                def sample_document(num_topics, words_per_topic, topics_per_doc, doc_len, rng):
                    topics = rng.integers(1, num_topics + 1, size=doc_len)
                    return (topics - 1) * words_per_topic + rng.integers(1, words_per_topic + 1, size=doc_len)
                """,
                "topic-each-position",
            ),
            Wrong(
                """
                def sample_document(num_topics, words_per_topic, topics_per_doc, doc_len, rng):
                    chosen = rng.choice(num_topics, size=topics_per_doc, replace=False) + 1
                    topic = rng.choice(chosen)
                    return (topic - 1) * words_per_topic + rng.integers(1, words_per_topic + 1, size=doc_len)
                """,
                "one-topic",
            ),
            Wrong(
                """
                import numpy as np

                def sample_document(num_topics, words_per_topic, topics_per_doc, doc_len, rng):
                    rng = np.random.default_rng(0)
                    chosen = rng.choice(num_topics, size=topics_per_doc, replace=False) + 1
                    topics = rng.choice(chosen, size=doc_len)
                    return (topics - 1) * words_per_topic + rng.integers(1, words_per_topic + 1, size=doc_len)
                """,
                "own-seed",
            ),
            Wrong(
                """
                import numpy as np

                def sample_document(num_topics, words_per_topic, topics_per_doc, doc_len, rng):
                    chosen = (rng.integers(num_topics) + np.arange(topics_per_doc)) % num_topics + 1
                    topics = rng.choice(chosen, size=doc_len)
                    return (topics - 1) * words_per_topic + rng.integers(1, words_per_topic + 1, size=doc_len)
                """,
                "neighbouring-topics",
            ),
            Wrong(
                """
                def sample_document(num_topics, words_per_topic, topics_per_doc, doc_len, rng):
                    first = rng.integers(1, num_topics - topics_per_doc + 2)
                    topics = rng.integers(first, first + topics_per_doc, size=doc_len)
                    return (topics - 1) * words_per_topic + rng.integers(1, words_per_topic + 1, size=doc_len)
                """,
                "neighbouring-topics",
            ),
            Wrong(
                """
                import numpy as np

                def sample_document(num_topics, words_per_topic, topics_per_doc, doc_len, rng):
                    weights = 1 / np.arange(1, num_topics + 1)
                    chosen = rng.choice(num_topics, size=topics_per_doc, replace=False, p=weights / weights.sum()) + 1
                    topics = rng.choice(chosen, size=doc_len)
                    return (topics - 1) * words_per_topic + rng.integers(1, words_per_topic + 1, size=doc_len)
                """,
                "unequal-choices",
            ),
        ),
        hidden=_hidden_sample,
        explanation=r"""
            `replace=False` makes the topics distinct. Each position then draws twice: a topic from the chosen ones, and a rank
            from 1 to $v$ within it. NumPy's `integers` leaves its upper end out.
        """,
    ),
    Exercise(
        id="3.1-co-occurrence",
        title="count the meetings of two words",
        level="challenge",
        minutes=20,
        objective="an unbiased estimate of the second moments, from all pairs of positions",
        function="co_occurrence",
        statement=r"""
            Estimate the probability that two **different** positions of the same document show the words $i$ and $j$. `tokens` has shape
            (documents, N): word ids from 1 to `num_words`, every document of the same length. Use every ordered pair of different
            positions $(m, n)$, $m \neq n$, within each document. Return an array of shape (num_words, num_words) whose entry
            $[i-1, j-1]$ belongs to the words $i$ and $j$.
        """,
        stub='''
            def co_occurrence(tokens, num_words):
                """Probability of each pair of words at two different positions of a document; sums to 1."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def co_occurrence(tokens, num_words):
                tokens = np.asarray(tokens)
                num_docs, doc_len = tokens.shape
                counts = np.stack([np.bincount(row - 1, minlength=num_words) for row in tokens])
                pairs = counts.T @ counts - np.diag(counts.sum(axis=0))
                return pairs / (num_docs * doc_len * (doc_len - 1))
        """,
        alternative="""
            import numpy as np

            def co_occurrence(tokens, num_words):
                tokens = np.asarray(tokens)
                X = (tokens[:, :, None] == np.arange(1, num_words + 1)).astype(float)
                different = 1 - np.eye(tokens.shape[1])
                pairs = np.einsum("bmi,mn,bnj->ij", X, different, X)
                return pairs / pairs.sum()
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def co_occurrence(tokens, num_words):
                    counts = np.stack([np.bincount(row - 1, minlength=num_words) for row in tokens])
                    pairs = counts.T @ counts
                    return pairs / pairs.sum()
                """,
                "self-pairs",
            ),
            Wrong(
                """
                import numpy as np

                def co_occurrence(tokens, num_words):
                    counts = np.bincount(tokens.ravel() - 1, minlength=num_words)
                    pairs = np.outer(counts, counts) - np.diag(counts)
                    return pairs / pairs.sum()
                """,
                "pooled",
            ),
            Wrong(
                """
                import numpy as np

                def co_occurrence(tokens, num_words):
                    counts = np.stack([np.bincount(row - 1, minlength=num_words) for row in tokens])
                    pairs = counts.T @ counts - np.diag(counts.sum(axis=0))
                    return pairs / len(tokens)
                """,
                "not-normalised",
            ),
            Wrong(
                """
                import numpy as np

                def co_occurrence(tokens, num_words):
                    counts = np.stack([np.bincount(row - 1, minlength=num_words) for row in tokens])
                    pairs = counts.T @ counts
                    np.fill_diagonal(pairs, 0)
                    return pairs / pairs.sum()
                """,
                "diagonal-dropped",
            ),
            Wrong(
                """
                import numpy as np

                def co_occurrence(tokens, num_words):
                    pairs = np.zeros((num_words, num_words))
                    for row in tokens:
                        for m in range(len(row)):
                            for n in range(m + 1, len(row)):
                                pairs[row[m] - 1, row[n] - 1] += 1
                    return pairs / pairs.sum()
                """,
                "not-symmetric",
            ),
            Wrong(
                """
                import numpy as np

                def co_occurrence(tokens, num_words):
                    pairs = np.zeros((num_words, num_words))
                    for row in tokens:
                        counts = np.bincount(row - 1, minlength=num_words)
                        pairs += np.outer(counts, counts) - np.diag(counts)
                        return pairs / pairs.sum()
                """,
                "first-document-only",
            ),
            Wrong(
                """
                import numpy as np

                def co_occurrence(tokens, num_words):
                    for row in tokens:
                        pairs = np.zeros((num_words, num_words))
                        counts = np.bincount(row - 1, minlength=num_words)
                        pairs += np.outer(counts, counts) - np.diag(counts)
                    return pairs / pairs.sum()
                """,
                "last-document-only",
            ),
        ),
        hidden=_hidden_co_occurrence,
        explanation=r"""
            Word $i$ occurs $c_i$ times and word $j$ occurs $c_j$ times, so there are $c_i c_j$ ordered pairs, less the $c_i$ pairs of a position
            with itself when $i = j$. A document has $N(N-1)$ ordered pairs of different positions. The product of counts must be taken
            within each document: added up over documents first, it would pair words that never met.
        """,
    ),
]
