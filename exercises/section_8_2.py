"""Exercises of Section 8.2."""

import numpy as np

from exercises.format import Exercise, Wrong
from topiclib.checks.base import Answer, as_array, close, expect


def _hidden_ratio(answer: Answer) -> None:
    for num_topics, topics_per_doc in ((30, 7), (12, 11), (4, 3)):
        found = as_array(answer(num_topics, topics_per_doc), (), "one number")
        expect(close(found, (num_topics - 1) / (topics_per_doc - 1), 1e-6), "other-settings", "it fails for other T and tau.")


def _hidden_matched(answer: Answer) -> None:
    rng = np.random.default_rng(821)
    n = 40
    topic, level = rng.integers(5, size=n), rng.integers(3, size=n)
    table = rng.normal(size=(n, n))
    table += table.T + 2 * level[:, None] + 2 * level
    excess = []
    for i in range(n):
        for j in range(i + 1, n):
            if topic[i] == topic[j]:
                levels = sorted((level[i], level[j]))
                others = [
                    table[k, m]
                    for k in range(n)
                    for m in range(k + 1, n)
                    if topic[k] != topic[m] and sorted((level[k], level[m])) == levels
                ]
                excess.append(table[i, j] - np.mean(others))
    found = as_array(answer(table, topic, level), (), "one number")
    expect(close(found, np.mean(excess), 1e-4), "other-numbers", "it fails on another table.")


def _hidden_popular(answer: Answer) -> None:
    rng = np.random.default_rng(822)
    words = np.zeros((3, 11))
    for topic, at in enumerate((slice(0, 2), slice(2, 7), slice(7, 11))):
        words[topic, at] = rng.dirichlet(np.ones(at.stop - at.start))
    found = as_array(answer(words, 0.7), (11, 11), "the matrix E")
    right = sum(np.outer(q, q) / (q @ q) for q in words) / 0.7
    expect(close(found, right, 1e-4), "other-topics", "it fails for topics of other sizes.")


EXERCISES: list[Exercise] = [
    Exercise(
        id="8.2-pair-ratio",
        title="how much more often two words of a topic meet",
        level="warm-up",
        minutes=8,
        objective="seeing that in the paper's topic model co-occurrence is a function of the topic",
        function="pair_ratio",
        statement=r"""
            In the topic model of Section 3.1 a document has `topics_per_doc` of the `num_topics` topics, with equal weights, and
            every word of a topic is equally likely. Take two positions of a document. Let $p_{ij}$ be the probability that the
            first shows word $i$ and the second shows word $j$. Return $p_{ij}$ for two words of the same topic, divided by
            $p_{ij}$ for two words of different topics. There are at least two topics in a document, and it has not all of them.
        """,
        stub='''
            def pair_ratio(num_topics, topics_per_doc):
                """p_ij of a same-topic pair over p_ij of a different-topic pair."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def pair_ratio(num_topics, topics_per_doc):
                topic_present = topics_per_doc / num_topics
                both_present = topic_present * (topics_per_doc - 1) / (num_topics - 1)
                return topic_present / both_present
        """,
        alternative="""
            import numpy as np
            from itertools import combinations

            def pair_ratio(num_topics, topics_per_doc):
                # Given topic 0 is in the document, the share of documents that hold topic 1 too.
                others = combinations(range(1, num_topics), topics_per_doc - 1)
                return 1 / np.mean([1 in chosen for chosen in others])
        """,
        wrong=(
            Wrong(
                """
                def pair_ratio(num_topics, topics_per_doc):
                    return num_topics / topics_per_doc
                """,
                "independent-topics",
            ),
            Wrong(
                """
                def pair_ratio(num_topics, topics_per_doc):
                    return (topics_per_doc - 1) / (num_topics - 1)
                """,
                "upside-down",
            ),
            Wrong(
                """
                def pair_ratio(num_topics, topics_per_doc):
                    return (num_topics - 1) / (topics_per_doc - 1) / (num_topics - 1)
                """,
                "any-other-topic",
            ),
        ),
        hidden=_hidden_ratio,
        explanation=r"""
            Once the topics of both words are in the document, the two words have the same probability, whatever their topics. So
            only the presence counts: one topic is present with probability $\tau/T$, a second one too with
            $\frac{\tau(\tau-1)}{T(T-1)}$. The ratio is $\frac{T-1}{\tau-1}$, and the size $v$ of the topics falls out.
        """,
    ),
    Exercise(
        id="8.2-matched-excess",
        title="compare with pairs that are as frequent",
        level="core",
        minutes=15,
        objective="taking a confounder out of a comparison by matching",
        function="matched_excess",
        statement=r"""
            `similarity` is a symmetric table of shape $(n, n)$. Each word has a topic (`topic`, shape $(n,)$) and a level of
            frequency (`level`, whole numbers of shape $(n,)$). For every unordered pair of different words of the same topic, take
            its similarity minus the mean similarity of all pairs of *different* topics that have the same two levels (in either
            order). Return the mean of these differences. You may take it that such pairs exist wherever they are needed.
        """,
        stub='''
            def matched_excess(similarity, topic, level):
                """Mean excess of same-topic pairs over different-topic pairs of the same two levels."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def matched_excess(similarity, topic, level):
                i, j = np.triu_indices(len(topic), 1)
                low, high = np.minimum(level[i], level[j]), np.maximum(level[i], level[j])
                cell = low * (level.max() + 1) + high
                value, same = similarity[i, j], topic[i] == topic[j]
                total = np.bincount(cell[~same], value[~same], cell.max() + 1)
                number = np.bincount(cell[~same], minlength=cell.max() + 1)
                return (value[same] - total[cell[same]] / number[cell[same]]).mean()
        """,
        alternative="""
            import numpy as np

            def matched_excess(similarity, topic, level):
                topic, level, similarity = np.asarray(topic), np.asarray(level), np.asarray(similarity)
                apart = topic[:, None] != topic
                kept = ~apart & ~np.eye(len(topic), dtype=bool)
                differences = np.array(similarity, dtype=float)
                for a in np.unique(level):
                    for b in np.unique(level):
                        here = ((level[:, None] == a) & (level == b)) | ((level[:, None] == b) & (level == a))
                        if (here & kept).any():
                            differences[here] = similarity[here] - similarity[here & apart].mean()
                return differences[kept].mean()
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def matched_excess(similarity, topic, level):
                    i, j = np.triu_indices(len(topic), 1)
                    same = topic[i] == topic[j]
                    value = similarity[i, j]
                    return value[same].mean() - value[~same].mean()
                """,
                "not-matched",
            ),
            Wrong(
                """
                import numpy as np

                def matched_excess(similarity, topic, level):
                    i, j = np.triu_indices(len(topic), 1)
                    low, high = np.minimum(level[i], level[j]), np.maximum(level[i], level[j])
                    cell = low * (level.max() + 1) + high
                    value, same = similarity[i, j], topic[i] == topic[j]
                    total, number = np.bincount(cell, value), np.bincount(cell)
                    return (value[same] - total[cell[same]] / number[cell[same]]).mean()
                """,
                "same-topic-in-the-baseline",
            ),
            Wrong(
                """
                import numpy as np

                def matched_excess(similarity, topic, level):
                    i, j = np.triu_indices(len(topic), 1)
                    cell = level[i] * (level.max() + 1) + level[j]
                    value, same = similarity[i, j], topic[i] == topic[j]
                    total = np.bincount(cell[~same], value[~same], cell.max() + 1)
                    number = np.maximum(np.bincount(cell[~same], minlength=cell.max() + 1), 1)
                    return (value[same] - total[cell[same]] / number[cell[same]]).mean()
                """,
                "order-of-the-levels",
            ),
            Wrong(
                """
                import numpy as np

                def matched_excess(similarity, topic, level):
                    i, j = np.triu_indices(len(topic), 1)
                    low, high = np.minimum(level[i], level[j]), np.maximum(level[i], level[j])
                    cell = low * (level.max() + 1) + high
                    value, same = similarity[i, j], topic[i] == topic[j]
                    middle = {c: np.median(value[~same & (cell == c)]) for c in np.unique(cell[same])}
                    return np.mean([v - middle[c] for v, c in zip(value[same], cell[same])])
                """,
                "wrong-baseline",
            ),
            Wrong(
                """
                import numpy as np

                def matched_excess(similarity, topic, level):
                    i, j = np.triu_indices(len(topic), 1)
                    low, high = np.minimum(level[i], level[j]), np.maximum(level[i], level[j])
                    cell = low * (level.max() + 1) + high
                    value, same = similarity[i, j], topic[i] == topic[j]
                    gaps = [value[same & (cell == c)].mean() - value[~same & (cell == c)].mean() for c in np.unique(cell[same])]
                    return np.mean(gaps)
                """,
                "levels-not-weighted",
            ),
        ),
        hidden=_hidden_matched,
        explanation=r"""
            A plain difference of means compares rare with frequent words. Matched, each same-topic pair is compared with pairs that
            could stand in its place. The levels must be an unordered pair, or half of the comparison pairs are lost and chance
            decides which half. And the baseline must not hold what is tested.
        """,
    ),
    Exercise(
        id="8.2-popular-words",
        title="the optimum for words of unequal popularity",
        level="challenge",
        minutes=20,
        objective="generalising Theorem 1 to topics whose words are not equally likely",
        function="smallest_optimum",
        statement=r"""
            `word_given_topic` has shape $(T, n)$: row $t$ is the distribution $q_t$ of topic $t$ over the $n$ words. The topics are
            disjoint, but within a topic the words may have any probabilities. [MASK] is left out. With uniform attention, squared
            loss and infinite documents, $\mathbf{E}$ predicts every document exactly if $\mathbf{E} q_t = q_t / a$ for every topic.
            Return the symmetric $\mathbf{E}$ of the smallest rank that does, an array of shape $(n, n)$.
        """,
        stub='''
            def smallest_optimum(word_given_topic, a):
                """The symmetric E of smallest rank with E q_t = q_t / a for every topic t."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def smallest_optimum(word_given_topic, a):
                lengths = np.linalg.norm(word_given_topic, axis=1, keepdims=True)
                directions = word_given_topic / lengths
                return directions.T @ directions / a
        """,
        alternative="""
            import numpy as np

            def smallest_optimum(word_given_topic, a):
                q = np.asarray(word_given_topic, dtype=float)
                return np.linalg.pinv(q) @ q / a
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def smallest_optimum(word_given_topic, a):
                    return np.eye(word_given_topic.shape[1]) / a
                """,
                "rank-too-large",
            ),
            Wrong(
                """
                import numpy as np

                def smallest_optimum(word_given_topic, a):
                    member = (word_given_topic > 0).astype(float)
                    return (member / member.sum(axis=1, keepdims=True)).T @ member / a
                """,
                "equal-popularity",
            ),
            Wrong(
                """
                import numpy as np

                def smallest_optimum(word_given_topic, a):
                    return word_given_topic.T @ word_given_topic / a
                """,
                "not-normalised",
            ),
            Wrong(
                """
                import numpy as np

                def smallest_optimum(word_given_topic, a):
                    directions = word_given_topic / np.linalg.norm(word_given_topic, axis=1, keepdims=True)
                    return directions.T @ directions
                """,
                "a-forgotten",
            ),
        ),
        hidden=_hidden_popular,
        explanation=r"""
            $\mathbf{E} = \frac{1}{a} \sum_t \frac{q_t q_t^\top}{\|q_t\|^2}$ is $1/a$ times the projection onto the span of the topics. Two words
            of one topic have the dot product $q_{ti} q_{tj} / (a \|q_t\|^2)$, which is proportional to how often the two are together
            because of this topic. Their cosine is one, whether they are popular or not. Words of different topics have 0 in both,
            however often their topics come together.
        """,
    ),
]
