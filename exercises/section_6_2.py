"""Exercises of Section 6.2, the chapter on natural language data."""

import numpy as np

from exercises.format import Exercise, Wrong
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


EXERCISES = [
    Exercise(
        id="6.2-pairs-of-a-topic",
        title="how many pairs does a topic have?",
        level="warm-up",
        minutes=5,
        objective="to read the first column of Table 1",
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
]
