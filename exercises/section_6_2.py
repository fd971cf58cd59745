"""Exercises of Section 6.2, the chapter on natural language data."""

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
from topiclib.checks.base import Answer, as_array, close, expect


def _hidden_pairs(answer: Answer) -> None:
    for threshold, size in ((0.001, 50_265), (0.0005, 30_000), (0.002, 28_996), (0.01, 150), (0.25, 12)):
        found = as_array(answer(threshold, size), (), "one number")
        n = int(threshold * size + 1e-9)
        expect(2 * found == n * (n - 1), "other-numbers", "it fails for another vocabulary.")


def _hidden_ratio(answer: Answer) -> None:
    rng = np.random.default_rng(620)
    for sizes in ((3, 5, 2), (7, 1, 4, 4)):
        labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
        vectors = rng.normal(size=(len(labels), 6)) + 1.5
        same: list[float] = []
        different: list[float] = []
        for i in range(len(labels)):
            for j in range(i):
                cosine = vectors[i] @ vectors[j] / np.sqrt((vectors[i] @ vectors[i]) * (vectors[j] @ vectors[j]))
                (same if labels[i] == labels[j] else different).append(cosine)
        found = as_array(answer(vectors, labels), (), "one number")
        expect(
            close(found * sum(different) / len(different), sum(same) / len(same)), "other-vectors", "it fails for other vectors."
        )


def _hidden_common(answer: Answer) -> None:
    for same, different, ratio in ((0.3, 0.1, 2.9), (0.2, 0.0, 4.0), (0.5, -0.1, 1.01), (0.9, 0.2, 4.5)):
        found = as_array(answer(same, different, ratio), (), "one length")
        common = found**2
        expect(found >= 0 and close(same + common, ratio * (different + common)), "other-numbers", "it fails for other numbers.")


def _hidden_uniform(answer: Answer) -> None:
    rng = np.random.default_rng(622)
    for number in (1, 4, 9):
        lengths = rng.integers(5, 300, number)
        same, different = rng.integers(0, 30, number), rng.integers(1, 90, number)
        same[0] += 1
        found = as_array(answer(lengths, same, different), (), "one number")
        weight = [1 / n for n in lengths.tolist()]
        top = sum(s * x for s, x in zip(same, weight, strict=True)) / same.sum()
        bottom = sum(d * x for d, x in zip(different, weight, strict=True)) / different.sum()
        expect(close(found * bottom, top), "other-documents", "it fails for other documents.")


def _hidden_mistaken(answer: Answer, mistake: str = "any") -> None:
    for same, different, mistaken, t in ((0.25, 0.12, 0.3, 4), (0.5, -0.1, 0.1, 12)):
        s, d = as_array(answer(same, different, mistaken, t), (2,), "two means")
        others = {"any": np.full((t, t), 1 / t), "another": (1 - np.eye(t)) / (t - 1), "next": np.eye(t)[np.arange(-1, t - 1)]}
        given = (1 - mistaken) * np.eye(t) + mistaken * others[mistake]
        measured = given.T @ (d + (s - d) * np.eye(t)) @ given / given.sum(axis=0) ** 2
        off = measured[~np.eye(t, dtype=bool)].mean()
        expect(close([np.trace(measured) / t, off], [same, different], 1e-4), "other-numbers", "it fails for other numbers.")


EXERCISES = [
    Exercise(
        id="6.2-pairs-of-a-topic",
        title="how many pairs does a topic have?",
        level="warm-up",
        minutes=5,
        objective="to read the first column of Table 1",
        prerequisites=("[the ambiguity threshold](06_2_natural_language.ipynb#the-ambiguity-threshold)",),
        function="pairs_of_topic",
        statement=r"""
            The paper's ambiguity threshold is the number of words in a topic divided by the size $V$ of the vocabulary. A topic keeps
            as many words as the threshold allows: `threshold` times `vocabulary_size`, *rounded down*. Return how many pairs of
            different words a topic has; the order of the two words does not matter.
        """,
        stub='''
            def pairs_of_topic(threshold, vocabulary_size):
                """Unordered pairs of different words in a topic."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def pairs_of_topic(threshold, vocabulary_size):
                kept = int(threshold * vocabulary_size)
                return kept * (kept - 1) // 2
        """,
        alternative="""
            from math import comb, floor

            def pairs_of_topic(threshold, vocabulary_size):
                return comb(floor(threshold * vocabulary_size), 2)
        """,
        wrong=(
            Wrong(
                """
                def pairs_of_topic(threshold, vocabulary_size):
                    kept = int(threshold * vocabulary_size)
                    return kept * (kept - 1)
                """,
                "ordered-pairs",
            ),
            Wrong(
                """
                def pairs_of_topic(threshold, vocabulary_size):
                    kept = int(threshold * vocabulary_size)
                    return kept * (kept + 1) // 2
                """,
                "pair-with-itself",
            ),
            Wrong(
                """
                def pairs_of_topic(threshold, vocabulary_size):
                    kept = round(threshold * vocabulary_size)
                    return kept * (kept - 1) // 2
                """,
                "rounded",
            ),
            Wrong(
                """
                import math

                def pairs_of_topic(threshold, vocabulary_size):
                    kept = math.ceil(threshold * vocabulary_size)
                    return kept * (kept - 1) // 2
                """,
                "rounded",
            ),
            Wrong(
                """
                def pairs_of_topic(threshold, vocabulary_size):
                    kept = threshold * vocabulary_size
                    return kept * (kept - 1) / 2
                """,
                "not-whole",
            ),
            Wrong(
                """
                def pairs_of_topic(threshold, vocabulary_size):
                    return int(threshold * vocabulary_size)
                """,
                "words-not-pairs",
            ),
        ),
        hidden=_hidden_pairs,
        explanation=r"""
            With $n$ words there are $\frac{n(n-1)}{2}$ pairs. The paper's Table 2 has 105 and 435, which are 15 and 30 words, and then
            1,711, which is 59. No vocabulary size gives these three with one way of rounding down; rounding to the nearest gives
            them for $V$ between 29,500 and 29,749.
        """,
    ),
    Exercise(
        id="6.2-same-over-different",
        title="the ratio of Table 1",
        level="core",
        minutes=10,
        objective="to turn a sentence of a table's caption into a number",
        prerequisites=(
            "[the ratios of Table 1](06_2_natural_language.ipynb#table-1-embeddings)",
            "cosine similarity",
            "Boolean masks in NumPy",
        ),
        function="same_over_different",
        statement=r"""
            `vectors` has shape $(n, d)$, a word in each row, and `topic` shape $(n,)$, the topic of each word. Return the mean
            *cosine* over all pairs of *different* words of the same topic, divided by the mean cosine over all pairs of words of
            different topics. A mean is over pairs: each pair counts the same, whatever its topic.
        """,
        stub='''
            def same_over_different(vectors, topic):
                """Mean same-topic cosine over mean different-topic cosine."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def same_over_different(vectors, topic):
                unit = vectors / np.sqrt((vectors**2).sum(axis=1))[:, None]
                cosine = unit @ unit.T
                alike = topic[:, None] == topic[None, :]
                other_word = ~np.eye(len(topic), dtype=bool)
                return cosine[alike & other_word].mean() / cosine[~alike].mean()
        """,
        alternative="""
            from itertools import combinations

            import numpy as np

            def same_over_different(vectors, topic):
                found = {True: [], False: []}
                for i, j in combinations(range(len(topic)), 2):
                    product = np.dot(vectors[i], vectors[j])
                    size = np.linalg.norm(vectors[i]) * np.linalg.norm(vectors[j])
                    found[bool(topic[i] == topic[j])].append(product / size)
                return np.mean(found[True]) / np.mean(found[False])
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def same_over_different(vectors, topic):
                    table = vectors @ vectors.T
                    alike = topic[:, None] == topic[None, :]
                    return table[alike & ~np.eye(len(topic), dtype=bool)].mean() / table[~alike].mean()
                """,
                "dot-not-cosine",
            ),
            Wrong(
                """
                import numpy as np

                def same_over_different(vectors, topic):
                    unit = vectors / np.sqrt((vectors**2).sum(axis=1))[:, None]
                    table = unit @ unit.T
                    alike = topic[:, None] == topic[None, :]
                    return table[alike].mean() / table[~alike].mean()
                """,
                "word-with-itself",
            ),
            Wrong(
                """
                import numpy as np

                def same_over_different(vectors, topic):
                    unit = vectors / np.sqrt((vectors**2).sum(axis=1))[:, None]
                    table = unit @ unit.T
                    alike = topic[:, None] == topic[None, :]
                    off = ~np.eye(len(topic), dtype=bool)
                    return table[alike & off].mean() / table[off].mean()
                """,
                "over-all-pairs",
            ),
            Wrong(
                """
                import numpy as np

                def same_over_different(vectors, topic):
                    unit = vectors / np.sqrt((vectors**2).sum(axis=1))[:, None]
                    table = unit @ unit.T
                    alike = topic[:, None] == topic[None, :]
                    means = []
                    for t in np.unique(topic):
                        of = np.flatnonzero(topic == t)
                        block = table[np.ix_(of, of)]
                        if len(of) > 1:
                            means.append((block.sum() - len(of)) / (len(of) * (len(of) - 1)))
                    return np.mean(means) / table[~alike].mean()
                """,
                "mean-of-topics",
            ),
            Wrong(
                """
                import numpy as np

                def same_over_different(vectors, topic):
                    unit = vectors / np.sqrt((vectors**2).sum(axis=1))[:, None]
                    table = unit @ unit.T
                    alike = topic[:, None] == topic[None, :]
                    return table[~alike].mean() / table[alike & ~np.eye(len(topic), dtype=bool)].mean()
                """,
                "upside-down",
            ),
        ),
        hidden=_hidden_ratio,
        explanation=r"""
            Bring the rows to length one, take all products, and average over two masks. The diagonal is same-topic too, but a word
            with itself has cosine one and would add to every ratio. A mean of the topics' means gives small topics more weight; the
            two agree only if all topics have the same number of words.
        """,
    ),
    Exercise(
        id="6.2-common-part",
        title="how to make a ratio small",
        level="core",
        minutes=10,
        objective="to see what a ratio of similarities depends on besides topics",
        prerequisites=(
            "[a common part](06_2_natural_language.ipynb#why-berts-ratio-is-small)",
            "cosines of sums of vectors",
        ),
        graded=True,
        function="common_part",
        statement=r"""
            The embeddings of some words have length one, with mean cosine `same` for pairs of the same topic and `different` for pairs
            of different topics. Now one and the same vector is added to all of them. It is orthogonal to every embedding and has
            length $c$. Return the $c \geq 0$ for which the ratio of the two mean cosines becomes `ratio`. Take
            $1 <$ `ratio`, `different` $<$ `same`, and a `ratio` below the present one.
        """,
        stub='''
            def common_part(same, different, ratio):
                """The length of the common vector."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def common_part(same, different, ratio):
                squared = (same - ratio * different) / (ratio - 1)
                return squared ** 0.5
        """,
        alternative="""
            def common_part(same, different, ratio):
                low, high = 0.0, 1.0
                while same + high**2 > ratio * (different + high**2):
                    high *= 2
                for _ in range(200):
                    middle = (low + high) / 2
                    too_small = same + middle**2 > ratio * (different + middle**2)
                    low, high = (middle, high) if too_small else (low, middle)
                return low
        """,
        wrong=(
            Wrong(
                """
                def common_part(same, different, ratio):
                    return (same - ratio * different) / (ratio - 1)
                """,
                "square-of-length",
            ),
            Wrong(
                """
                def common_part(same, different, ratio):
                    return ((same - ratio * different) / ratio) ** 0.5
                """,
                "one-kind-only",
            ),
            Wrong(
                """
                def common_part(same, different, ratio):
                    return ((same - different) / (ratio - 1)) ** 0.5
                """,
                "different-was-zero",
            ),
            Wrong(
                """
                def common_part(same, different, ratio):
                    return (same / different / ratio - 1) ** 0.5
                """,
                "ratio-divided",
            ),
        ),
        hidden=_hidden_common,
        explanation=r"""
            The common vector adds $c^2$ to every product and makes every length $\sqrt{1 + c^2}$. The lengths cancel in the ratio:
            $\frac{s + c^2}{d + c^2}$. Solve for $c^2$. The difference $s - d$ shrinks only by the factor $1 + c^2$; the ratio can be
            brought as near to one as one likes, without a change in what the embeddings say about topics.
        """,
    ),
    Exercise(
        id="6.2-uniform-attention",
        title="a model that knows nothing, and its ratio",
        level="challenge",
        minutes=12,
        objective="to find a bias before debiasing",
        prerequisites=(
            "[why the raw ratio is wrong](06_2_natural_language.ipynb#why-the-raw-ratio-is-wrong)",
            "weighted means",
        ),
        function="raw_ratio_of_uniform",
        statement=r"""
            A model gives each position of a document of $n$ tokens the same attention, $\frac{1}{n}$. For each document `length` has
            its $n$, `same` its number of same-topic pairs of words, and `different` its number of different-topic pairs; all three have
            shape $(D,)$. Return the raw attention ratio: the mean attention over all same-topic pairs *of all documents*, divided by
            the mean over all different-topic pairs.
        """,
        stub='''
            def raw_ratio_of_uniform(length, same, different):
                """Mean same-topic attention over mean different-topic attention."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def raw_ratio_of_uniform(length, same, different):
                weight = 1 / np.asarray(length)
                return np.average(weight, weights=same) / np.average(weight, weights=different)
        """,
        alternative="""
            import numpy as np

            def raw_ratio_of_uniform(length, same, different):
                found = [np.concatenate([np.full(k, 1 / n) for n, k in zip(length, number)]) for number in (same, different)]
                return found[0].sum() * len(found[1]) / (found[1].sum() * len(found[0]))
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def raw_ratio_of_uniform(length, same, different):
                    return 1.0
                """,
                "no-bias",
            ),
            Wrong(
                """
                import numpy as np

                def raw_ratio_of_uniform(length, same, different):
                    return np.average(length, weights=different) / np.average(length, weights=same)
                """,
                "mean-length",
            ),
            Wrong(
                """
                import numpy as np

                def raw_ratio_of_uniform(length, same, different):
                    return (same / length).sum() / (different / length).sum()
                """,
                "sums-not-means",
            ),
            Wrong(
                """
                import numpy as np

                def raw_ratio_of_uniform(length, same, different):
                    return np.average(length, weights=same) / np.average(length, weights=different)
                """,
                "length-not-attention",
            ),
            Wrong(
                """
                import numpy as np

                def raw_ratio_of_uniform(length, same, different):
                    return np.average(1 / length, weights=different) / np.average(1 / length, weights=same)
                """,
                "upside-down",
            ),
        ),
        hidden=_hidden_uniform,
        explanation=r"""
            Each pair of a document brings $\frac{1}{n}$, so both means are averages of $\frac{1}{n}$ over documents, once weighted by
            same-topic pairs and once by different-topic pairs. They differ because short documents stay with one topic: the share of
            same-topic pairs is larger where $\frac{1}{n}$ is. The mean of $\frac{1}{n}$ is not one over the mean of $n$.
        """,
    ),
    Exercise(
        id="6.2-mistaken-topics",
        title="what the means would be with the right topics",
        level="challenge",
        minutes=35,
        objective="to compute how mistakes in the topics dilute a contrast, and to undo it",
        prerequisites=(
            "[settings decide](06_2_natural_language.ipynb#settings-decide)",
            "conditional probability",
            "two linear equations",
        ),
        graded=True,
        function="means_of_true_topics",
        statement=r"""
            Every one of very many words has a true topic, each of the $T$ = `num_topics` topics equally often. The mean similarity of two
            words of the same true topic is $s$, of two words of different true topics $d$. A topic model has mistaken the topic of a fraction
            `mistaken` of the words, independently of everything else: such a word is given {{mistake}}. With its topics somebody has measured
            the mean `same` over pairs of the same topic and the mean `different` over pairs of different topics. Return the pair
            $(s, d)$. (The fraction is known and small enough that the topics are not lost.)
        """,
        stub="""
            def means_of_true_topics(same, different, mistaken, num_topics):
                \"\"\"(s, d): mean similarity within and between the true topics, when a mistaken word is given {{mistake}}.\"\"\"
                raise NotImplementedError("your answer")
        """,
        reference="""
            def means_of_true_topics(same, different, mistaken, num_topics):
                t, e = num_topics, mistaken
                still_same = {{chance}}
                yet_same = (1 - still_same) / (t - 1)
                gap = (same - different) / (still_same - yet_same)
                return different + (1 - yet_same) * gap, different - yet_same * gap
        """,
        alternative="""
            import numpy as np

            def means_of_true_topics(same, different, mistaken, num_topics):
                e, eye, all_topics = mistaken, np.eye(num_topics), np.ones((num_topics, num_topics))
                given = (1 - e) * eye + e * {{matrix}}
                # Pairs of given topics, and how many of them are of one true topic.
                pairs = given.T @ given / num_topics**2
                weight = np.trace(pairs) * num_topics
                other = (pairs.sum() - np.trace(pairs)) / (1 - 1 / num_topics)
                return np.linalg.solve([[weight, 1 - weight], [other, 1 - other]], [same, different])
        """,
        wrong=(
            Wrong(
                """
                def means_of_true_topics(same, different, mistaken, num_topics):
                    t, e = num_topics, mistaken
                    r = 1 - e
                    gap = (same - different) / (r - (1 - r) / (t - 1))
                    low = different - gap * (1 - r) / (t - 1)
                    return low + gap, low
                """,
                "one-word-of-two",
            ),
            Wrong(
                """
                def means_of_true_topics(same, different, mistaken, num_topics):
                    t, e = num_topics, mistaken
                    r = (1 - e) ** 2
                    gap = (same - different) / (r - (1 - r) / (t - 1))
                    low = different - gap * (1 - r) / (t - 1)
                    return low + gap, low
                """,
                "mistakes-never-meet",
            ),
            Wrong(
                """
                def means_of_true_topics(same, different, mistaken, num_topics):
                    t, e = num_topics, mistaken
                    r = {{chance}}
                    gap = (same - different) / r
                    low = different
                    return low + gap, low
                """,
                "different-left-alone",
            ),
            Wrong(
                """
                def means_of_true_topics(same, different, mistaken, num_topics):
                    t, e = num_topics, mistaken
                    r = {{chance}}
                    gap = (same - different) / (2 * r - 1)
                    low = different - gap * (1 - r)
                    return low + gap, low
                """,
                "not-divided",
            ),
            Wrong(
                """
                def means_of_true_topics(same, different, mistaken, num_topics):
                    t, e = num_topics, mistaken
                    r = {{chance}}
                    gap = same - different
                    low = different + gap * (1 - r) / (t - 1)
                    return different + gap * r, low
                """,
                "diluted-once-more",
            ),
            Wrong(
                """
                def means_of_true_topics(same, different, mistaken, num_topics):
                    t, e = num_topics, mistaken
                    r = {{chance}}
                    gap = (same - different) / (r - (1 - r) / (t - 1))
                    low = different - gap * (1 - r) / (t - 1)
                    return low, low + gap
                """,
                "order",
            ),
        ),
        hidden=_hidden_mistaken,
        variants=(
            Variant(
                {"mistake": "any"},
                {
                    "mistake": "a topic drawn evenly from all $T$ (its own among them)",
                    "chance": "(1 - e) ** 2 + (1 - (1 - e) ** 2) / t",
                    "matrix": "all_topics / num_topics",
                },
            ),
            Variant(
                {"mistake": "another"},
                {
                    "mistake": "a topic drawn evenly from the $T - 1$ others",
                    "chance": "(1 - e) ** 2 + e**2 / (t - 1)",
                    "matrix": "(all_topics - eye) / (num_topics - 1)",
                },
            ),
            Variant(
                {"mistake": "next"},
                {
                    "mistake": "the next topic in a fixed circle of all $T$",
                    "chance": "(1 - e) ** 2 + e**2",
                    "matrix": "np.roll(eye, 1, axis=1)",
                },
            ),
        ),
        explanation=r"""
            Given topics are as evenly spread as true ones, so a pair has the same given topic with probability $\frac{1}{T}$, as it has the same true one. Let
            $r$ be the probability that two words of one true topic are given one topic. By Bayes' rule it is also the probability that a pair of
            one given topic is of one true topic, and a pair of different given topics is of one true topic with probability
            $\frac{1 - r}{T - 1}$. So `same` is $r s + (1 - r) d$, and `different` is $\frac{1-r}{T-1} s + (1 - \frac{1-r}{T-1}) d$. The gap of the means shrinks by
            $r - \frac{1-r}{T-1}$, for any encoder. Only $r$ depends on the kind of mistake: here it is `{{chance}}`.
        """,
    ),
]

PAPER = [
    PaperExercise(
        id="6.2-paper-short-documents",
        title="when a model that knows nothing seems to know topics",
        level="core",
        minutes=25,
        objective="to find the exact condition for a bias, and to say what removing it does not remove",
        prerequisites=(
            "[why the raw ratio is wrong](06_2_natural_language.ipynb#why-the-raw-ratio-is-wrong)",
            "covariance under a weighted mean",
        ),
        graded=True,
        statement=r"""
            Documents $1, \dots, D$ have $n_d$ tokens, $s_d$ pairs of words of the same topic and $u_d$ of different topics, all positive. A model gives every token of a
            document the attention $\frac{1}{n_d}$. Its raw ratio $R$ is the mean attention over all same-topic pairs of all documents, divided by
            the mean over all different-topic pairs.

            1. Let $q_d = \frac{s_d}{s_d + u_d}$. Prove: $R > 1$ if and only if $\frac{1}{n_d}$ and $q_d$ have a positive covariance over documents, when document $d$ has a
               weight in proportion to $s_d + u_d$.
            2. Conclude that $R \geq 1$ if of any two documents the shorter has at least as large a share $q_d$.
            3. Give a corpus of two documents with $R < 1$, with numbers.
            4. If every weight is multiplied by $n_d$, this model has ratio one on every corpus. Name something else that would make a model without topics have a ratio above
               one all the same, and say how to take it out.
        """,
        rubric=(
            (
                3,
                "Part 1: writes both means as weighted means of 1/n with weights s = wq and u = w(1 - q), cross-multiplies positive numbers, and gets E[q/n] > E[q] E[1/n], both directions. Two points if only one direction is argued or signs are not watched.",
            ),
            (
                2,
                "Part 2: the covariance of two quantities that are ordered alike is not negative, with a reason such as the mean of products of differences over pairs of documents (Chebyshev). One point for the claim alone.",
            ),
            (
                2,
                "Part 3: two documents in which the long one has the larger share, with R computed correctly and below one. One point if R is only claimed.",
            ),
            (
                1,
                "Part 4: a second cause that is not length: nearness (words of a topic stand near each other, near words get more), or popular keys, or another of this kind.",
            ),
            (
                2,
                "Part 4: how to take it out: compare or divide within the same distance (or the same key), over pairs of both kinds. One point if the comparison is vague.",
            ),
        ),
        model_answer=r"""
            1. Let $w_d = s_d + u_d$ and write $\mathbb{E}$ for the mean over documents with weights in proportion to $w_d$. Then $s_d = w_d q_d$ and $u_d = w_d (1 - q_d)$, so
            $R = \frac{\mathbb{E}[q/n]}{\mathbb{E}[q]} \Big/ \frac{\mathbb{E}[(1-q)/n]}{\mathbb{E}[1 - q]}$. All four are positive. So $R > 1$ is the same as
            $\mathbb{E}[q/n]\,(1 - \mathbb{E}[q]) > (\mathbb{E}[1/n] - \mathbb{E}[q/n])\, \mathbb{E}[q]$. The product $\mathbb{E}[q/n]\,\mathbb{E}[q]$ stands on both sides. What is left is
            $\mathbb{E}[q/n] > \mathbb{E}[1/n]\, \mathbb{E}[q]$, a positive covariance. Every step can be reversed.

            2. Let $d$ and $e$ be drawn independently with these weights. Then
            $2 \operatorname{Cov}(\frac1n, q) = \mathbb{E}[(\frac{1}{n_d} - \frac{1}{n_e})(q_d - q_e)]$. If the shorter of two documents has at least as large a share, both factors never have opposite
            signs, so the covariance is not negative and $R \geq 1$ by part 1 (with equality for covariance zero, by the same steps).

            3. $n = 10$ with $s = 1$, $u = 9$, and $n = 100$ with $s = 9$, $u = 1$. Same-topic mean: $(0.1 + 9 \cdot 0.01)/10 = 0.019$. Different-topic mean:
            $(9 \cdot 0.1 + 0.01)/10 = 0.091$. So $R \approx 0.21$.

            4. Distance. A model that attends to near tokens, whatever they say, gives same-topic pairs more if words of a topic stand near each other. Divide each weight by the mean weight of *all*
            pairs at the same signed distance, of both kinds, and compare after that. (Or popular keys: divide by the mean that the key gets from all queries.)
        """,
    ),
]
