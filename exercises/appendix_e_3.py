"""Exercises of Appendix E.3, settings of the measurement on natural language."""

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
from topiclib.checks.base import Answer, as_array, close, expect


def _hidden_pair_npmi(answer: Answer) -> None:
    for one, two, both, documents in ((40, 7, 5, 900), (100, 90, 3, 200), (6, 6, 6, 1000), (8, 2, 0, 50)):
        share = np.array([one, two, both]) / documents
        wanted = np.log(share[2] / share[0] / share[1]) / -np.log(share[2]) if both else -1.0
        found = as_array(answer(one, two, both, documents), (), "one number")
        expect(close(found, wanted), "other-counts", "it fails for other numbers of documents.")


def _hidden_sharing_means(answer: Answer) -> None:
    rng = np.random.default_rng(92)
    cosines, member = rng.normal(size=(12, 12)), rng.random((6, 12)) < 0.25
    common = member.T.astype(int) @ member.astype(int)
    stands = common.diagonal()
    pairs = [(i, j) for i in range(12) for j in range(12) if i != j]
    weights = np.array([(common[i, j], 0 if common[i, j] else stands[i] * stands[j]) for i, j in pairs])
    wanted = [sum(w * cosines[pair] for w, pair in zip(column, pairs, strict=True)) / column.sum() for column in weights.T]
    found = as_array(answer(cosines, member), (2,), "two means")
    expect(close(found, wanted, 1e-5), "other-words", "it fails for other words and topics.")


def _hidden_kept_words(answer: Answer) -> None:
    table = np.random.default_rng(93).dirichlet(np.full(30, 0.5), size=5)
    for number in (3, 12):
        owner = table.argmax(0)
        wanted = np.zeros(table.shape)
        for topic in range(5):
            own = sorted(np.flatnonzero(owner == topic), key=lambda word: -table[topic, word])
            wanted[topic, own[:number]] = 1
        found = as_array(answer(table, number), table.shape, "a table of 0 and 1")
        expect(close(found, wanted), "other-table", "it fails for another table.")


def _hidden_balanced(answer: Answer) -> None:
    rng = np.random.default_rng(94)
    one, two = rng.integers(4, size=600), rng.integers(7, size=600)
    found = as_array(answer(rng.gamma(2.0, size=600), one, two), (600,), "the balanced values")
    means = [found[group == g].mean() for group in (one, two) for g in np.unique(group)]
    expect(close(means, 1, 1e-4), "other-groups", "it fails for other groups.")


def _hidden_jackknife(answer: Answer, of: str = "ratio") -> None:
    rng = np.random.default_rng(97)
    counts = rng.integers(1, 9, size=(6, 6)).astype(float)
    counts += counts.T
    sums = counts * (rng.random((6, 6)) + 2 * np.eye(6))
    sums += sums.T
    values = []
    for t in range(6):
        rest = [k for k in range(6) if k != t]
        block = np.ix_(rest, rest)
        own = np.eye(5) > 0
        same, different = (sums[block][kind].sum() / counts[block][kind].sum() for kind in (own, ~own))
        values.append({"ratio": same / different, "logarithm": np.log(same / different), "difference": same - different}[of])
    wanted = (5 * np.var(values)) ** 0.5
    expect(close(as_array(answer(sums, counts), (), "the error"), wanted, 1e-5), "other-table", "it fails for another table.")


# What the variants of e.3-jackknife are told.
_RATIO = {"what": "their ratio, the first over the second", "value": "same / different", "other": "same - different"}
_LOGARITHM = {
    "what": "the natural logarithm of their ratio, the first over the second",
    "value": "np.log(same / different)",
    "other": "same / different",
}
_DIFFERENCE = {"what": "their difference, the first minus the second", "value": "same - different", "other": "same / different"}

_JACKKNIFE = """
import numpy as np

def jackknife_error(sums, counts):
    k, values = len(sums), []
    for left_out in range(k):
        kept = np.arange(k) != left_out
        s, n = np.asarray(sums)[kept][:, kept], np.asarray(counts)[kept][:, kept]
        own = np.eye(k - 1, dtype=bool)
        same, different = s[own].sum() / n[own].sum(), s[~own].sum() / n[~own].sum()
        values.append({{value}})
    return np.sqrt((k - 1) * np.var(values))
"""


def _jackknife(right: str, mistake: str, hint: str) -> Wrong:
    """The solution of e.3-jackknife with one mistake."""
    assert right in _JACKKNIFE, right
    return Wrong(_JACKKNIFE.replace(right, mistake), hint)


EXERCISES = [
    Exercise(
        id="e.3-pair-npmi",
        title="coherence of a pair",
        level="warm-up",
        minutes=6,
        objective="what a coherence of 0, 1 and -1 means",
        prerequisites=(
            "[coherence](appendix_e_3.ipynb#which-lda)",
            "logarithms of probabilities",
        ),
        function="pair_npmi",
        statement=r"""
            Of `documents` documents, `one` hold the first word, `two` the second, and `both` hold the two together. Return the normalised
            pointwise mutual information of the pair, $\ln \frac{p_{12}}{p_1 p_2} / (-\ln p_{12})$ with $p$ the shares of documents. Where the
            words are never together, return its limit $-1$. At least one document does not hold both.
        """,
        stub='''
            def pair_npmi(one, two, both, documents):
                """Normalised pointwise mutual information of two words."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            from math import log

            def pair_npmi(one, two, both, documents):
                if both == 0:
                    return -1.0
                return log(both * documents / (one * two)) / log(documents / both)
        """,
        alternative="""
            import numpy as np

            def pair_npmi(one, two, both, documents):
                p1, p2, p12 = np.log2(np.maximum([one, two, both], 1e-300)) - np.log2(documents)
                return (p1 + p2) / p12 - 1 if both else -1.0
        """,
        wrong=(
            Wrong(
                """
                from math import log

                def pair_npmi(one, two, both, documents):
                    return log(both * documents / (one * two)) if both else -1
                """,
                "not-normalised",
            ),
            Wrong(
                """
                from math import log

                def pair_npmi(one, two, both, documents):
                    return log(both * documents / (one * two)) / log(both / documents) if both else -1
                """,
                "sign",
            ),
            Wrong(
                """
                from math import log

                def pair_npmi(one, two, both, documents):
                    return log(both / (one * two)) / log(documents / both) if both else -1
                """,
                "counts-not-shares",
            ),
            Wrong(
                """
                from math import log

                def pair_npmi(one, two, both, documents):
                    return log(both * documents / (one * two)) / log(documents / both) if both else 0
                """,
                "never-together",
            ),
        ),
        hidden=_hidden_pair_npmi,
        explanation=r"""
            Words that are always together have $p_1 = p_2 = p_{12}$, and the fraction is $1$. Independent words have $p_{12} = p_1 p_2$, and
            it is $0$. The base of the logarithm cancels. The mutual information without the denominator would prefer rare words.
        """,
    ),
    Exercise(
        id="e.3-kept-words",
        title="one topic a word",
        level="core",
        minutes=10,
        objective="the order of the two steps behind Table 1: first whose word, then which words",
        prerequisites=(
            "[one topic a word](appendix_e_3.ipynb#several-topics-a-word-table-5)",
            "ranks with `argsort`",
        ),
        function="kept_words",
        statement=r"""
            `table` of shape $(K, W)$ holds the probability of each word in each topic. A word belongs only to the topic that gives it the
            highest probability. Each topic keeps the `number` words of highest probability *among those that belong to it*, or all of them if
            they are fewer. Return an array of shape $(K, W)$ that is 1 (or True) where a topic keeps a word, 0 elsewhere. There are no ties.
        """,
        stub='''
            def kept_words(table, number):
                """(K, W) whether a topic keeps a word."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def kept_words(table, number):
                table = np.asarray(table)
                own = table == table.max(axis=0)
                place = np.where(own, -table, 1.0).argsort(axis=1).argsort(axis=1)
                return own & (place < number)
        """,
        alternative="""
            def kept_words(table, number):
                topics, words = len(table), len(table[0])
                kept = [[0] * words for _ in range(topics)]
                for t in range(topics):
                    mine = [w for w in range(words) if max(range(topics), key=lambda u: table[u][w]) == t]
                    mine.sort(key=lambda w: table[t][w], reverse=True)
                    for w in mine[:number]:
                        kept[t][w] = 1
                return kept
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def kept_words(table, number):
                    return np.argsort(np.argsort(-table, axis=1), axis=1) < number
                """,
                "several-topics",
            ),
            Wrong(
                """
                import numpy as np

                def kept_words(table, number):
                    top = np.argsort(np.argsort(-table, axis=1), axis=1) < number
                    return top & (table == table.max(axis=0))
                """,
                "ranked-too-early",
            ),
            Wrong(
                """
                import numpy as np

                def kept_words(table, number):
                    own = table == table.max(axis=0)
                    share = np.where(own, table / table.sum(axis=0), -1)
                    return own & (np.argsort(np.argsort(-share, axis=1), axis=1) < number)
                """,
                "ranked-by-share",
            ),
            Wrong(
                """
                import numpy as np

                def kept_words(table, number):
                    own = np.where(table == table.max(axis=0), table, 2)
                    return (own < 2) & (np.argsort(np.argsort(own, axis=1), axis=1) < number)
                """,
                "wrong-words",
            ),
            Wrong(
                """
                import numpy as np

                def kept_words(table, number):
                    return table == table.max(axis=0)
                """,
                "all-kept",
            ),
        ),
        hidden=_hidden_kept_words,
        explanation=r"""
            To rank first and to restrict second is another rule: a topic whose top words belong to others would keep few words or none. And to
            rank by the share $p(\text{word} \mid t) / \sum_u p(\text{word} \mid u)$ would prefer rare words that LDA happened to see in one
            topic only.
        """,
    ),
    Exercise(
        id="e.3-sharing-means",
        title="pairs of words with several topics",
        level="core",
        minutes=10,
        objective="which pairs enter the two means of Table 5, and how often",
        prerequisites=(
            "[several topics a word](appendix_e_3.ipynb#several-topics-a-word-table-5)",
            "weighted means; products of 0-1 matrices",
        ),
        graded=True,
        function="sharing_means",
        statement=r"""
            `member` of shape $(K, n)$ is True where a word stands for a topic; a word may stand for several. `cosines` is $(n, n)$. Return two
            means over ordered pairs of *different* words. The first is over pairs that share a topic; a pair counts once for each topic that
            it shares. The second is over pairs that share none; each counts once for each way to choose a topic of the first word and one of
            the second.
        """,
        stub='''
            def sharing_means(cosines, member):
                """(mean over pairs that share a topic, mean over pairs that share none)."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def sharing_means(cosines, member):
                member = np.asarray(member, float)
                common = member.T @ member
                ways = np.outer(np.diag(common), np.diag(common)) * (common == 0)
                np.fill_diagonal(common, 0)
                return np.average(cosines, weights=common), np.average(cosines, weights=ways)
        """,
        alternative="""
            def sharing_means(cosines, member):
                topics, n = len(member), len(member[0])
                same, different = [], []
                for i in range(n):
                    for j in range(n):
                        shared = any(member[t][i] and member[t][j] for t in range(topics))
                        for t in range(topics):
                            for u in range(topics):
                                if i != j and member[t][i] and member[u][j]:
                                    if t == u:
                                        same.append(float(cosines[i][j]))
                                    elif not shared:
                                        different.append(float(cosines[i][j]))
                return [sum(same) / len(same), sum(different) / len(different)]
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def sharing_means(cosines, member):
                    m = np.asarray(member, float)
                    c = m.T @ m
                    ways = np.outer(np.diag(c), np.diag(c)) * (c == 0)
                    return np.average(cosines, weights=c), np.average(cosines, weights=ways)
                """,
                "itself-included",
            ),
            Wrong(
                """
                import numpy as np

                def sharing_means(cosines, member):
                    m = np.asarray(member, float)
                    c = m.T @ m
                    k = np.diag(c).copy()
                    np.fill_diagonal(c, 0)
                    return np.average(cosines, weights=c), np.average(cosines, weights=np.outer(k, k) - c - np.diag(k * k))
                """,
                "shared-pairs-twice",
            ),
            Wrong(
                """
                import numpy as np

                def sharing_means(cosines, member):
                    m = np.asarray(member, float)
                    c = m.T @ m
                    ways = np.outer(np.diag(c), np.diag(c)) * (c == 0)
                    np.fill_diagonal(c, 0)
                    return cosines[c > 0].mean(), np.average(cosines, weights=ways)
                """,
                "same-counted-once",
            ),
            Wrong(
                """
                import numpy as np

                def sharing_means(cosines, member):
                    m = np.asarray(member, float)
                    c = m.T @ m
                    apart = c == 0
                    np.fill_diagonal(c, 0)
                    return np.average(cosines, weights=c), cosines[apart].mean()
                """,
                "different-counted-once",
            ),
        ),
        hidden=_hidden_sharing_means,
        explanation=r"""
            $\mathbf{M}^\top \mathbf{M}$ holds how many topics two words share, and on its diagonal for how many a word stands. A pair that
            shares a topic is no different-topic pair, though the two words stand for different topics as well. Words of many topics
            weigh more in both means: a reason more to ask what such words are.
        """,
    ),
    Exercise(
        id="e.3-balanced",
        title="corrections without an order",
        level="challenge",
        minutes=12,
        objective="removing two nuisances at once, so that it does not matter which comes first",
        prerequisites=(
            "[the order of the corrections](appendix_e_3.ipynb#the-order-of-the-corrections)",
            "`numpy.bincount`",
        ),
        function="balanced",
        statement=r"""
            `values` holds positive numbers; `one` and `two` give each of them a group of two kinds (whole numbers from 0, such as its distance
            and its key word). Return `values` times a factor for its group of the first kind and a factor for its group of the second kind,
            such that the mean over *every* group of either kind is 1, to at least five digits. Every group of the first kind meets every group
            of the second.
        """,
        stub='''
            def balanced(values, one, two):
                """Values whose means over each group of either kind are 1."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def balanced(values, one, two):
                values = np.asarray(values, float)
                for _ in range(100):
                    for group in (one, two):
                        mean = np.bincount(group, values) / np.maximum(np.bincount(group), 1)
                        values = values / mean[group]
                return values
        """,
        alternative="""
            import numpy as np

            def balanced(values, one, two):
                one, two = np.asarray(one), np.asarray(two)
                table = np.zeros((one.max() + 1, two.max() + 1))
                size = np.zeros_like(table)
                np.add.at(table, (one, two), values)
                np.add.at(size, (one, two), 1)
                left, right = np.ones(len(table)), np.ones(table.shape[1])
                for _ in range(200):
                    left = size.sum(1) / np.maximum(table @ right, 1e-300)
                    right = size.sum(0) / np.maximum(left @ table, 1e-300)
                return np.asarray(values) * left[one] * right[two]
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def balanced(values, one, two):
                    for group in (one, two):
                        values = values / (np.bincount(group, values) / np.bincount(group))[group]
                    return values
                """,
                "one-round",
            ),
            Wrong(
                """
                import numpy as np

                def balanced(values, one, two):
                    new = values
                    for group in (one, two):
                        new = new / (np.bincount(group, values) / np.bincount(group))[group]
                    return new
                """,
                "one-round",
            ),
            Wrong(
                """
                def balanced(values, one, two):
                    return values / values.mean()
                """,
                "one-factor",
            ),
            Wrong(
                """
                import numpy as np

                def balanced(values, one, two):
                    for _ in range(100):
                        for group in (one, two):
                            values = values - (np.bincount(group, values) / np.bincount(group))[group] + 1
                    return values
                """,
                "added-not-multiplied",
            ),
            Wrong(
                """
                import numpy as np

                def balanced(values, one, two):
                    for _ in range(100):
                        for group in (one, two):
                            values = values / np.bincount(group, values)[group]
                    return values
                """,
                "sums-not-means",
            ),
            Wrong(
                """
                import numpy as np

                def balanced(values, one, two):
                    return np.ones(len(values))
                """,
                "no-factors",
            ),
        ),
        hidden=_hidden_balanced,
        explanation=r"""
            Each division sets the means of one kind right and disturbs the other a little, less in each round. The end does not depend on which
            kind came first: there is only one table with these factors and these means. It is known as iterative proportional fitting.
        """,
    ),
    Exercise(
        id="e.3-jackknife",
        title="how sure is a ratio?",
        level="challenge",
        minutes=30,
        objective="the error of a statistic of pairs, when topics and not pairs are what was drawn",
        prerequisites=(
            "[how many topics](appendix_e_3.ipynb#how-many-topics)",
            "means over pairs, same topic and different topics",
            "variance and standard error",
        ),
        graded=True,
        function="jackknife_error",
        statement=r"""
            All pairs of words have been summed by topic: `sums[t, u]` is the sum of the cosines of the pairs with one word of topic $t$ and one of topic $u$, `counts[t, u]` their number. Both are symmetric arrays of shape $(K, K)$, $K \ge 3$,
            and each entry counts on its own. Two means are of interest: over all pairs of the same topic and over all pairs of different topics (of pairs, not of topics), and of the two {{what}}. Pairs that share a topic are not independent, so treat the topics
            as the sample. The **jackknife** leaves out one topic at a time, with *all* pairs in which it takes part, computes the statistic $\theta_t$ from the rest, and estimates the standard error as
            $\bigl(\frac{K - 1}{K} \sum_t (\theta_t - \bar{\theta})^2\bigr)^{1/2}$ with $\bar{\theta}$ the mean of the $\theta_t$. Return it, as one number.
        """,
        stub='''
            def jackknife_error(sums, counts):
                """Jackknife standard error over topics of the statistic that the exercise names."""
                raise NotImplementedError("your answer")
        ''',
        reference=_JACKKNIFE,
        alternative="""
            import numpy as np

            def jackknife_error(sums, counts):
                # All K statistics at once: take the row and the column of a topic off the totals.
                sums, counts = np.asarray(sums, dtype=float), np.asarray(counts, dtype=float)

                def means(kind):
                    parts = []
                    for table in (sums, counts):
                        chosen = np.where(kind, table, 0)
                        parts.append(chosen.sum() - chosen.sum(axis=0) - chosen.sum(axis=1) + np.diag(chosen))
                    return parts[0] / parts[1]

                own = np.eye(len(sums)) > 0
                same, different = means(own), means(~own)
                theta = {{value}}
                return float(((theta - theta.mean()) ** 2).sum() * (len(sums) - 1) / len(sums)) ** 0.5
        """,
        wrong=(
            _jackknife("np.sqrt((k - 1) * np.var(values))", "np.std(values, ddof=1)", "spread-of-the-rest"),
            _jackknife("np.sqrt((k - 1) * np.var(values))", "np.std(values, ddof=1) / np.sqrt(k)", "as-if-independent"),
            _jackknife("np.sqrt((k - 1) * np.var(values))", "(k - 1) * np.var(values)", "no-root"),
            _jackknife(
                "s, n = np.asarray(sums)[kept][:, kept], np.asarray(counts)[kept][:, kept]\n        own = np.eye(k - 1, dtype=bool)",
                "s, n = np.array(sums), np.array(counts)\n        s[left_out, left_out] = n[left_out, left_out] = 0\n        own = np.eye(k, dtype=bool)",
                "other-pairs-left-in",
            ),
            _jackknife(
                "s[own].sum() / n[own].sum(), s[~own].sum() / n[~own].sum()",
                "(s[own] / n[own]).mean(), (s[~own] / n[~own]).mean()",
                "topics-not-pairs",
            ),
            _jackknife("{{value}}", "{{other}}", "other-statistic"),
            _jackknife("    return np.sqrt", "    values = [np.mean(sums), *values]\n    return np.sqrt", "wrong-error"),
        ),
        hidden=_hidden_jackknife,
        explanation=r"""
            Leaving out a topic removes its row and its column: its own pairs and those with every other topic. The statistics of the rest differ little, as each is computed from all topics but one, so their spread is
            multiplied by $K - 1$ and not divided by it. The interval of this chapter, a bootstrap over topics, answers the same question by drawing topics again; an error computed as if pairs were independent would be much too
            small.
        """,
        variants=(
            Variant({"of": "ratio"}, _RATIO),
            Variant({"of": "logarithm"}, _LOGARITHM),
            Variant({"of": "difference"}, _DIFFERENCE),
        ),
    ),
]

PAPER = [
    PaperExercise(
        id="e.3-paper-common-vector",
        title="what a common vector does to a ratio",
        level="core",
        minutes=25,
        objective="to show why the size of a ratio of similarities proves little",
        prerequisites=(
            "[which embeddings](appendix_e_3.ipynb#which-embeddings)",
            "dot products of sums of vectors",
        ),
        graded=True,
        statement=r"""
            There are $T \ge 2$ topics of $k \ge 2$ words each, $n = Tk$. The vectors $\mathbf{z}_1, \dots, \mathbf{z}_n$ sum to zero. Let $q$ be the mean of $\|\mathbf{z}_i\|^2$, $S$ the mean of $\mathbf{z}_i \cdot \mathbf{z}_j$ over pairs of different words of the same topic, $D$ that over pairs of
            different topics, and $S > 0$. (a) Express $D$ by $q$, $S$, $n$ and $k$, and show that $S/D$ is negative. (b) Add a vector $\mathbf{c}$ that is orthogonal to all $\mathbf{z}_i$ to each of them. What becomes of $S$, $D$, $S - D$ and $S/D$? Which values can the ratio of the two means take as
            $\|\mathbf{c}\|$ goes from 0 to infinity? (c) Name two measures of topic structure that do not depend on $\mathbf{c}$, with a reason. (d) Of two encoders one has the ratio 1.2, the other 5. What may be concluded?
        """,
        rubric=(
            (
                3,
                r"(a) From $\|\sum \mathbf{z}_i\|^2 = 0$: $q + (k - 1)S + (n - k)D = 0$ (2), so $D = -\frac{q + (k - 1)S}{n - k} < 0$ and $S/D < 0$ (1).",
            ),
            (
                2,
                r"(b) Both means gain $\|\mathbf{c}\|^2$ (1), so $S - D$ stays and the ratio is $\frac{S + \|\mathbf{c}\|^2}{D + \|\mathbf{c}\|^2}$ (1).",
            ),
            (
                2,
                r"(b) Every number below $S/D$ and every number above 1: it falls from $S/D$ to $-\infty$, jumps at $\|\mathbf{c}\|^2 = -D$, and falls from $+\infty$ to 1. One point if only one branch is found.",
            ),
            (
                2,
                r"(c) The difference $S - D$, and any measure of order, such as the share of pairs in the right order, as all dot products are shifted alike. One point each.",
            ),
            (
                1,
                r"(d) Both prefer the own topic; nothing about which does so more, as the common vector alone can make up the difference.",
            ),
        ),
        model_answer=r"""
            (a) $0 = \|\sum_i \mathbf{z}_i\|^2 = \sum_i \|\mathbf{z}_i\|^2 + \sum_{i \ne j} \mathbf{z}_i \cdot \mathbf{z}_j$. There are $n$ squares, $n(k - 1)$ ordered pairs of different words of one topic, and $n(n - k)$ of different topics. Divide by $n$: $q + (k - 1)S + (n - k)D = 0$. With $S > 0$ and $q > 0$ this gives $D =
            -\frac{q + (k - 1)S}{n - k} < 0$, so $S/D$ is negative although words of a topic are alike.

            (b) $(\mathbf{z}_i + \mathbf{c}) \cdot (\mathbf{z}_j + \mathbf{c}) = \mathbf{z}_i \cdot \mathbf{z}_j + \|\mathbf{c}\|^2$, since $\mathbf{c}$ is orthogonal to both. Both means gain $x = \|\mathbf{c}\|^2$. The difference stays, and the ratio becomes $\frac{S + x}{D + x} = 1 + \frac{S - D}{D + x}$. As $x$ grows from 0 it falls from $S/D < 0$ to $-\infty$ at $x = -D$; beyond, it
            falls from $+\infty$ to 1. So it takes every value up to $S/D$ and every value above 1, without any change in what the vectors say about topics.

            (c) The difference $S - D$, because both means gain the same. And the share of pairs in the right order (how often a same-topic pair has a larger dot product than a different-topic pair): all dot products of different words are shifted by the same number, so their order stays.

            (d) That both have larger similarities within topics than between them, as 1.2 and 5 are above one. Not that the second knows more about topics: the same vectors with a shorter common vector have a larger ratio. One would have to compare after removing it, with a measure as in (c).
        """,
    ),
]
