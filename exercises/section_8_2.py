"""Exercises of Section 8.2."""

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
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


def _hidden_partner_cosine(answer: Answer, others: str = "any two") -> None:
    for n, v, c, l2_coef in ((6, 2, 0.7, 0.004), (4, 3, 0.4, 0.05)):
        documents: list[tuple[float, list[int]]] = [(2 * c / n, [t, t + 1]) for t in range(0, n, 2)]
        every_two = [[t, u] for t in range(n) for u in range(t)]
        strangers = [pair for pair in every_two if pair[0] // 2 != pair[1] // 2]
        rest = {"any two": every_two, "no partners": strangers, "one alone": [[t] for t in range(n)]}[others]
        documents += [((1 - c) / len(rest), topics) for topics in rest]
        table = np.zeros((n * v, n * v))
        for chance, topics in documents:
            p = np.repeat(np.isin(np.arange(n), topics) / len(topics), v) / v
            table += chance * np.outer(p, p)
        values, vectors = np.linalg.eigh(table)
        e = vectors * (values / (values + l2_coef)) @ vectors.T
        found = float(as_array(answer(n, v, c, l2_coef), (), "one cosine"))
        expect(abs(found * e[0, 0] - e[0, v]) < 1e-4 * e[0, 0], "other-settings", "it fails for other settings.")


EXERCISES: list[Exercise] = [
    Exercise(
        id="8.2-pair-ratio",
        title="how much more often two words of a topic meet",
        level="warm-up",
        minutes=8,
        objective="seeing that in the paper's topic model co-occurrence is a function of the topic",
        prerequisites=(
            "the topic model ([Section 3.1](03_1_topic_models.ipynb))",
            "drawing without replacement",
        ),
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
            Wrong(
                """
                def pair_ratio(num_topics, topics_per_doc):
                    return num_topics / (topics_per_doc - 1)
                """,
                "topics-drawn-twice",
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
        prerequisites=(
            "[frequency as a suspect](08_2_cooccurrence.ipynb#which-pairs-are-these)",
            "grouped means in NumPy",
        ),
        graded=True,
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
        prerequisites=(
            "[what theory says about the table](08_2_cooccurrence.ipynb#what-theory-says-about-the-table)",
            "projections",
        ),
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
    Exercise(
        id="8.2-partner-cosine",
        title="partners under a penalty",
        level="challenge",
        minutes=40,
        objective="to see in one formula when an embedding tells two topics apart that are nearly always together",
        prerequisites=(
            "[data that decouple the two](08_2_cooccurrence.ipynb#data-that-decouple-the-two)",
            "ridge regression, direction by direction ([Appendix C](appendix_c.ipynb#ridge))",
            "eigenvectors of a block matrix",
        ),
        graded=True,
        function="partner_cosine",
        statement=r"""
            `num_topics` topics, an even number of at least four, form pairs of partners; each has $v$ = `words_per_topic` equally likely words. With
            probability `partner_chance` a document consists of a pair of partners, every pair as likely as another, half of the document from each. Otherwise it consists of
            {{others}}. Documents are endless, with word distributions $p$, and there are no masks. $\mathbf{E}$ minimises
            $\mathbb{E}\|\mathbf{E}p - p\|^2 + \lambda \|\mathbf{E}\|^2$ with $\lambda$ = `l2_coef` > 0. Read $\mathbf{E}$ as the table of dot products of embeddings,
            $\mathbf{E} = \mathbf{W}^{E\top}\mathbf{W}^E$, and return the cosine of the embeddings of two words of partner topics.
        """,
        stub="""
            def partner_cosine(num_topics, words_per_topic, partner_chance, l2_coef):
                \"\"\"Cosine of the embeddings of two words of partner topics, at the ridge optimum.\"\"\"
                raise NotImplementedError("your answer")
        """,
        reference="""
            def partner_cosine(num_topics, words_per_topic, partner_chance, l2_coef):
                n, c = num_topics, partner_chance
                own, partner, other = {{entries}}
                waves = own + partner + (n - 2) * other, own + partner - 2 * other, own - partner
                kept = [x / (x + words_per_topic * l2_coef) for x in waves]
                together = kept[0] / n + kept[1] * (n - 2) / (2 * n)
                return (together - kept[2] / 2) / (together + kept[2] / 2)
        """,
        alternative="""
            import numpy as np

            def partner_cosine(num_topics, words_per_topic, partner_chance, l2_coef):
                n, v, c = num_topics, words_per_topic, partner_chance
                eye, pairs, ones = np.eye(n), np.kron(np.eye(n // 2), np.ones((2, 2))), np.ones((n, n))
                topics = c * pairs / (2 * n) + (1 - c) * {{rest}}
                table = np.kron(topics, np.ones((v, v))) / v**2
                e = np.linalg.solve(table + l2_coef * np.eye(n * v), table)
                return e[0, v] / np.sqrt(e[0, 0] * e[v, v])
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def partner_cosine(num_topics, words_per_topic, partner_chance, l2_coef):
                    n, v, c = num_topics, words_per_topic, partner_chance
                    eye, pairs, ones = np.eye(n), np.kron(np.eye(n // 2), np.ones((2, 2))), np.ones((n, n))
                    m = c * pairs / (2 * n) + (1 - c) * {{rest}}
                    m = m + 0.0
                    m = m / 4 * 4 / v
                    shrunk = m @ np.linalg.inv(m + 1e-12 * eye)
                    gram = shrunk
                    return gram[0, 1] / gram[0, 0]
                """,
                "penalty-forgotten",
            ),
            Wrong(
                """
                import numpy as np

                def partner_cosine(num_topics, words_per_topic, partner_chance, l2_coef):
                    n, v, c = num_topics, words_per_topic, partner_chance
                    eye, pairs, ones = np.eye(n), np.kron(np.eye(n // 2), np.ones((2, 2))), np.ones((n, n))
                    m = c * pairs / (2 * n) + (1 - c) * {{rest}}
                    m = m + 0.0
                    m = m / 4 * 4 / 1
                    shrunk = m @ np.linalg.inv(m + l2_coef * eye)
                    gram = shrunk
                    return gram[0, 1] / gram[0, 0]
                """,
                "topics-not-words",
            ),
            Wrong(
                """
                import numpy as np

                def partner_cosine(num_topics, words_per_topic, partner_chance, l2_coef):
                    n, v, c = num_topics, words_per_topic, partner_chance
                    eye, pairs, ones = np.eye(n), np.kron(np.eye(n // 2), np.ones((2, 2))), np.ones((n, n))
                    m = c * pairs / (2 * n) + (1 - c) * {{rest}}
                    m = m + 0.0
                    m = m / 4 * 4 / v
                    shrunk = m @ np.linalg.inv(m + l2_coef * eye)
                    gram = m
                    return gram[0, 1] / gram[0, 0]
                """,
                "table-not-embedding",
            ),
            Wrong(
                """
                import numpy as np

                def partner_cosine(num_topics, words_per_topic, partner_chance, l2_coef):
                    n, v, c = num_topics, words_per_topic, partner_chance
                    eye, pairs, ones = np.eye(n), np.kron(np.eye(n // 2), np.ones((2, 2))), np.ones((n, n))
                    m = c * pairs / (2 * n) + (1 - c) * {{rest}}
                    m = m + 0.0
                    m = m / 4 * 4 / v
                    shrunk = m @ np.linalg.inv(m + l2_coef * eye)
                    gram = shrunk @ shrunk
                    return gram[0, 1] / gram[0, 0]
                """,
                "rows-of-e",
            ),
            Wrong(
                """
                import numpy as np

                def partner_cosine(num_topics, words_per_topic, partner_chance, l2_coef):
                    n, v, c = num_topics, words_per_topic, partner_chance
                    eye, pairs, ones = np.eye(n), np.kron(np.eye(n // 2), np.ones((2, 2))), np.ones((n, n))
                    m = c * pairs / (2 * n) + (1 - c) * {{rest}}
                    m = m + 0.0
                    m = m  * 4 / v
                    shrunk = m @ np.linalg.inv(m + l2_coef * eye)
                    gram = shrunk
                    return gram[0, 1] / gram[0, 0]
                """,
                "weights-not-halved",
            ),
            Wrong(
                """
                import numpy as np

                def partner_cosine(num_topics, words_per_topic, partner_chance, l2_coef):
                    n, v, c = num_topics, words_per_topic, partner_chance
                    eye, pairs, ones = np.eye(n), np.kron(np.eye(n // 2), np.ones((2, 2))), np.ones((n, n))
                    m = c * pairs / (2 * n) + (1 - c) * {{rest}}
                    m = m - m.mean()
                    m = m / 4 * 4 / v
                    shrunk = m @ np.linalg.inv(m + l2_coef * eye)
                    gram = shrunk
                    return gram[0, 1] / gram[0, 0]
                """,
                "mean-taken-out",
            ),
        ),
        hidden=_hidden_partner_cosine,
        variants=(
            Variant(
                {"others": "any two"},
                {
                    "others": "two different topics, every two as likely as others, partners among them, half from each",
                    "entries": "0.5 / n, c * 0.5 / n + (1 - c) * 0.5 / (n * (n - 1)), (1 - c) * 0.5 / (n * (n - 1))",
                    "rest": "(eye + (ones - eye) / (n - 1)) / (2 * n)",
                },
            ),
            Variant(
                {"others": "no partners"},
                {
                    "others": "two topics that are no partners, every two as likely as others, half from each",
                    "entries": "0.5 / n, c * 0.5 / n, (1 - c) * 0.5 / (n * (n - 2))",
                    "rest": "(eye + (ones - pairs) / (n - 2)) / (2 * n)",
                },
            ),
            Variant(
                {"others": "one alone"},
                {
                    "others": "one topic alone, every one as likely as another",
                    "entries": "(1 - c / 2) / n, c / (2 * n), 0.0",
                    "rest": "eye / n",
                },
            ),
        ),
        explanation=r"""
            With $\mathbf{S} = \mathbb{E}[p p^\top]$ the optimum is $\mathbf{S}(\mathbf{S} + \lambda)^{-1}$: it keeps $\frac{x}{x + \lambda}$ of a direction with second moment $x$. By symmetry the table of topics
            has three kinds of directions: the sum of all, differences of pairs, and the difference of two partners. With its entries for a topic and itself, its partner and another topic,
            the second moments are $\text{own} + \text{partner} + (T - 2)\, \text{other}$, $\text{own} + \text{partner} - 2\, \text{other}$ and $\text{own} - \text{partner}$, over $v$ for words. The first two make partners alike,
            the third tells them apart. Its second moment is the smallest, so a penalty takes it first: at a large $\lambda$ the cosine is that of the table of counts, at a small one it is zero.
        """,
    ),
]

PAPER = [
    PaperExercise(
        id="8.2-paper-same-table",
        title="when the table of pairs is all that matters",
        level="core",
        minutes=25,
        objective="to prove the chapter's statement on data with one table, and to mark its limits",
        prerequisites=(
            "[what theory says about the table](08_2_cooccurrence.ipynb#what-theory-says-about-the-table)",
            "the masking scheme ([Section 3.2](03_2_training_objective.ipynb))",
        ),
        graded=True,
        statement=r"""
            Documents are endless; a document has the word distribution $p$, drawn from some distribution of documents. After masking, its tokens have the distribution
            $\mathbf{x} = a\, p + \frac{r}{V} \mathbf{1} + m\, e_{\text{[MASK]}}$ with fixed $a, r, m$ ($p$ has a zero at [MASK], $\mathbf{1}$ stands for the $V$ words). The hidden word at a selected position is drawn from $p$, with one-hot vector $\mathbf{y}$, and
            the prediction is $\mathbf{E}\mathbf{x} + \mathbf{b}$.

            1. Prove: two distributions of documents with the same table $\mathbb{E}[p p^\top]$ have the same expected squared loss at every $(\mathbf{E}, \mathbf{b})$. Do not forget the terms that
               are linear in $p$.
            2. Conclude that gradient descent from the same start gives the same $\mathbf{E}$ at every step.
            3. Where does the proof fail (a) for cross-entropy, (b) if attention depends on the document?
            4. Let $p$ take its values in pairs $\mu \pm z$ with fixed mean $\mu$, so that every document $\mu + z$ has a mirror image $\mu - z$ (all entries $\geq 0$). Describe
               how to change the probabilities of the documents, or the documents, such that the table stays and the distribution does not.
        """,
        rubric=(
            (
                2,
                "Part 1: multiplies out and shows that p enters the quadratic and the cross term through E[p p^T] and E[p] only, using that y has mean p given the document.",
            ),
            (
                2,
                "Part 1: E[p] is in the table, as its row sums, because the entries of p sum to one. One point if E[p] is only assumed equal.",
            ),
            (1, "Part 2: same loss at every point means same gradients, so the same path, by induction over the steps."),
            (
                2,
                "Part 3: (a) the logarithm of the sum of exponentials is not quadratic in x; (b) attention weights depend on x, so the prediction is no longer linear in it; higher moments enter. One point each.",
            ),
            (
                3,
                "Part 4: any valid construction, with the reason that mean and second moments stay. For instance for each pair, give one partner and not the other a smaller z and make up by another; or replace two pairs plus and minus z, plus and minus w of probability q by pairs with (z + w)/sqrt 2 and (z - w)/sqrt 2 if entries stay non-negative. One point for the right conditions on moments alone.",
            ),
        ),
        model_answer=r"""
            1. $\|\mathbf{E}\mathbf{x} + \mathbf{b} - \mathbf{y}\|^2 = \|\mathbf{E}\mathbf{x} + \mathbf{b}\|^2 - 2\, \mathbf{y} \cdot (\mathbf{E}\mathbf{x} + \mathbf{b}) + 1$. Given the document, $\mathbf{x}$ is fixed and $\mathbf{y}$ has mean $p$. As
            $\mathbf{x}$ is $a p$ plus a constant, the first term is a polynomial of degree two in $p$, and the second, in the mean over $\mathbf{y}$, is $-2 p \cdot (\mathbf{E}\mathbf{x} + \mathbf{b})$, also of degree two. So the
            expected loss depends on $\mathbb{E}[p p^\top]$ and $\mathbb{E}[p]$ only. And since $\mathbf{1} \cdot p = 1$ in every document, $\mathbb{E}[p p^\top] \mathbf{1} = \mathbb{E}[p\, (p \cdot \mathbf{1})] = \mathbb{E}[p]$: the row sums of the table are the mean. So the
            table fixes the loss.

            2. Two functions that are equal everywhere have equal gradients everywhere. Starting from one point, the first steps agree, so the second begin at one point, and so on.

            3. (a) The loss is $\log \sum_i e^{(\mathbf{E}\mathbf{x} + \mathbf{b})_i} - \mathbf{y} \cdot (\mathbf{E}\mathbf{x} + \mathbf{b})$. Only the second part is of degree two; the mean of the first involves all moments of $p$. (b) Then the tokens enter with weights that are
            themselves functions of $\mathbf{x}$, a softmax of scores, normalised by a sum over the document. The prediction is not linear in $p$, and its square not quadratic.

            4. Given pairs $\mu \pm z$ and $\mu \pm w$, each of the four documents with probability $q$: their part of the table is $4 q\, \mu\mu^\top + 2 q (z z^\top + w w^\top)$. Let $z' = \frac{z + w}{\sqrt 2}$ and
            $w' = \frac{z - w}{\sqrt 2}$. Then $z' z'^\top + w' w'^\top = z z^\top + w w^\top$, so the four documents $\mu \pm z'$, $\mu \pm w'$, each with probability $q$, have the same mean and the same table, and are other documents (unless
            $z$ and $w$ are related in a special way). Their entries must not be negative, which holds if $z$ and $w$ are small beside $\mu$. (Another way: take half of the probability of a pair $\mu \pm z$ away and give it to
            $\mu$ itself and to $\mu \pm \sqrt2 z$, a quarter of the pair's probability each for $\mu$ and for the two together.)
        """,
    ),
]
