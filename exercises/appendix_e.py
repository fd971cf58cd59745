"""Exercises of Appendix E, joint training of the attention."""

import numpy as np

from exercises.format import Exercise, Wrong
from topiclib.checks.base import Answer, as_array, close, expect


def _hidden_gap_share(answer: Answer) -> None:
    share = as_array(answer(0.8, 0.7, 0.9, 0.5), (), "one number")
    expect(close(share, 0.25, 1e-4), "other-losses", "it fails for other losses.")
    share = as_array(answer(0.7, 0.8, 0.9, 0.5), (), "one number")
    expect(close(share, -0.25, 1e-4), "joint-is-worse", "where joint training is worse the share is negative.")


def _hidden_relation_averages(answer: Answer) -> None:
    tokens = np.array([4, 0, 6, 4, 9, 5, 8, 4])
    a = np.random.default_rng(62).dirichlet(np.ones(8), size=8).T
    pairs = [(i, j) for i in range(8) for j in range(8) if i != j and tokens[i] and tokens[j]]
    kind = [0 if tokens[i] == tokens[j] else 1 if (tokens[i] > 6) == (tokens[j] > 6) else 2 for i, j in pairs]
    wanted = [8 * np.mean([a[i, j] for (i, j), k in zip(pairs, kind, strict=True) if k == relation]) for relation in range(3)]
    got = as_array(answer(a, tokens, 6), (3,), "three averages")
    expect(close(got, wanted, 1e-4), "other-document", "it fails on another document.")


def _hidden_column_strength(answer: Answer) -> None:
    w_v = np.random.default_rng(63).normal(size=(11, 11))
    own, others = w_v[1:6, 3].mean(), w_v[6:, 3].mean()
    got = as_array(answer(w_v, 5), (10,), "one strength for each word")
    expect(close(got[2], own - others, 1e-4), "other-sizes", "it fails for other sizes of topics.")


def _hidden_average_weights(answer: Answer) -> None:
    got = as_array(answer(np.array([0.5, 0.5, 0.0]), 3.0), (2,), "two averages")
    expect(close(got, [1.5, 0.5], 1e-4), "other-shares", "it fails for a document with an absent topic.")


EXERCISES = [
    Exercise(
        id="e-gap-share",
        title="a gap in proportion",
        level="warm-up",
        minutes=4,
        objective="comparing losses with what there is to gain, not with zero",
        function="share_of_gain",
        statement=r"""
            Frozen attention reaches the loss `frozen`, joint training `joint`. A predictor that knows nothing has the loss `nothing`, the best of
            all predictors has `best`. Return the gap between frozen and joint training as a fraction of all that there is to gain, from knowing
            nothing to the best predictor. It is positive where joint training is better. The losses may be arrays of one shape.
        """,
        stub='''
            def share_of_gain(frozen, joint, nothing, best):
                """The gap as a fraction of what there is to gain."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def share_of_gain(frozen, joint, nothing, best):
                return (frozen - joint) / (nothing - best)
        """,
        alternative="""
            import numpy as np

            def share_of_gain(frozen, joint, nothing, best):
                reached = [(np.asarray(nothing) - loss) / (np.asarray(nothing) - best) for loss in (joint, frozen)]
                return reached[0] - reached[1]
        """,
        wrong=(
            Wrong(
                """
                def share_of_gain(frozen, joint, nothing, best):
                    return (frozen - joint) / frozen
                """,
                "share-of-the-loss",
            ),
            Wrong(
                """
                def share_of_gain(frozen, joint, nothing, best):
                    return (joint - frozen) / (nothing - best)
                """,
                "sign",
            ),
            Wrong(
                """
                def share_of_gain(frozen, joint, nothing, best):
                    return (frozen - joint) / (frozen - best)
                """,
                "share-of-the-rest",
            ),
            Wrong(
                """
                def share_of_gain(frozen, joint, nothing, best):
                    return (frozen - joint) / (nothing - joint)
                """,
                "share-of-the-way",
            ),
        ),
        hidden=_hidden_gap_share,
        explanation=r"""
            A squared loss near one looks large and a gap of some hundredths small. But no predictor can go below `best`, and anybody has
            `nothing` for free. Only the distance between these two is there to be gained.
        """,
    ),
    Exercise(
        id="e-relation-averages",
        title="one document's row of Table 3",
        level="core",
        minutes=12,
        objective="what exactly is averaged when attention is compared by relation",
        function="relation_averages",
        statement=r"""
            `a` is the attention $A$ of one document, of shape $(N, N)$ with columns that sum to 1; `tokens` are its $N$ token ids, with 0 for
            [MASK]; topic $t$ has the words $(t-1)v + 1$ to $tv$, $v$ = `words_per_topic`. Return three numbers: the average of $A_{ij}$ over the
            pairs of positions $i \neq j$ that show the same word, different words of the same topic, and words of different topics, each
            times $N$. Leave out every pair that involves [MASK].
        """,
        stub='''
            def relation_averages(a, tokens, words_per_topic):
                """(same word, same topic, different topics): average attention over pairs i != j of words, times N."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def relation_averages(a, tokens, words_per_topic):
                tokens = np.asarray(tokens)
                topics = -(-tokens // words_per_topic)
                pair = (tokens > 0)[:, None] & (tokens > 0)[None, :] & ~np.eye(len(tokens), dtype=bool)
                word = tokens[:, None] == tokens[None, :]
                near = topics[:, None] == topics[None, :]
                return [len(tokens) * a[pair & chosen].mean() for chosen in (word, near & ~word, ~near)]
        """,
        alternative="""
            import numpy as np

            def relation_averages(a, tokens, words_per_topic):
                n, found = len(tokens), {"word": [], "topic": [], "other": []}
                for i in range(n):
                    for j in range(n):
                        one, two = int(tokens[i]), int(tokens[j])
                        if i == j or one == 0 or two == 0:
                            continue
                        if one == two:
                            kind = "word"
                        else:
                            kind = "topic" if (one - 1) // words_per_topic == (two - 1) // words_per_topic else "other"
                        found[kind].append(float(a[i, j]))
                return tuple(n * np.mean(values) for values in found.values())
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def relation_averages(a, tokens, words_per_topic):
                    t = -(-tokens // words_per_topic)
                    pair = (tokens > 0)[:, None] & (tokens > 0)[None, :]
                    word, near = tokens[:, None] == tokens, t[:, None] == t
                    return [len(tokens) * a[pair & x].mean() for x in (word, near & ~word, ~near)]
                """,
                "itself-included",
            ),
            Wrong(
                """
                import numpy as np

                def relation_averages(a, tokens, words_per_topic):
                    t = -(-tokens // words_per_topic)
                    pair = (tokens > 0)[:, None] & (tokens > 0)[None, :] & ~np.eye(len(tokens), dtype=bool)
                    word, near = tokens[:, None] == tokens, t[:, None] == t
                    return [a[pair & x].mean() for x in (word, near & ~word, ~near)]
                """,
                "not-times-length",
            ),
            Wrong(
                """
                import numpy as np

                def relation_averages(a, tokens, words_per_topic):
                    t = -(-tokens // words_per_topic)
                    pair = ~np.eye(len(tokens), dtype=bool)
                    word, near = tokens[:, None] == tokens, t[:, None] == t
                    return [len(tokens) * a[pair & x].mean() for x in (word, near & ~word, ~near)]
                """,
                "mask-included",
            ),
            Wrong(
                """
                import numpy as np

                def relation_averages(a, tokens, words_per_topic):
                    t = -(-tokens // words_per_topic)
                    pair = (tokens > 0)[:, None] & (tokens > 0)[None, :] & ~np.eye(len(tokens), dtype=bool)
                    word, near = tokens[:, None] == tokens, t[:, None] == t
                    return [len(tokens) * a[pair & x].mean() for x in (word, near, ~near)]
                """,
                "topic-with-word",
            ),
            Wrong(
                """
                import numpy as np

                def relation_averages(a, tokens, words_per_topic):
                    t = tokens // words_per_topic
                    pair = (tokens > 0)[:, None] & (tokens > 0)[None, :] & ~np.eye(len(tokens), dtype=bool)
                    word, near = tokens[:, None] == tokens, t[:, None] == t
                    return [len(tokens) * a[pair & x].mean() for x in (word, near & ~word, ~near)]
                """,
                "topics-shifted",
            ),
        ),
        hidden=_hidden_relation_averages,
        explanation=r"""
            Words of topic $t$ are $(t-1)v + 1$ to $tv$, so the topic is the id divided by $v$, rounded *up*. The three sets of pairs do not
            overlap. The position itself shows the same word by necessity and would only add a constant; [MASK] has no topic.
        """,
    ),
    Exercise(
        id="e-column-strength",
        title="who speaks for a topic",
        level="core",
        minutes=8,
        objective="reading columns of the value matrix as votes",
        function="column_strength",
        statement=r"""
            `w_v` is $\mathbf{W}^V$ of shape $(Tv + 1, Tv + 1)$, row and column 0 for [MASK]; topic $t$ has the words $(t-1)v + 1$ to $tv$,
            $v$ = `words_per_topic`. For each word $l$ return the strength of its votes: the mean of $\mathbf{W}^V_{il}$ over the words $i$ of
            its own topic ($i = l$ among them), minus the mean over all other words $i$. An array of shape $(Tv,)$, without [MASK].
        """,
        stub='''
            def column_strength(w_v, words_per_topic):
                """Entry l - 1: mean vote of word l for its own topic, minus its mean vote for all other words."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def column_strength(w_v, words_per_topic):
                votes = np.asarray(w_v)[1:, 1:]
                owner = np.arange(len(votes)) // words_per_topic
                result = []
                for word, column in enumerate(votes.T):
                    own = owner == owner[word]
                    result.append(column[own].mean() - column[~own].mean())
                return np.array(result)
        """,
        alternative="""
            import numpy as np

            def column_strength(w_v, words_per_topic):
                votes, v = np.asarray(w_v)[1:, 1:], words_per_topic
                n = len(votes)
                sums = votes.reshape(n // v, v, n).sum(axis=1)
                mine = sums[np.arange(n) // v, np.arange(n)]
                return list(mine / v - (sums.sum(axis=0) - mine) / (n - v))
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def column_strength(w_v, words_per_topic):
                    votes = w_v[1:, 1:]
                    t = np.arange(len(votes)) // words_per_topic
                    same = t[:, None] == t
                    return [votes[k][same[k]].mean() - votes[k][~same[k]].mean() for k in range(len(t))]
                """,
                "rows-not-columns",
            ),
            Wrong(
                """
                import numpy as np

                def column_strength(w_v, words_per_topic):
                    t = -(-np.arange(len(w_v)) // words_per_topic)
                    same = t[:, None] == t
                    return [w_v[same[:, k], k].mean() - w_v[~same[:, k], k].mean() for k in range(1, len(t))]
                """,
                "mask-row-included",
            ),
            Wrong(
                """
                import numpy as np

                def column_strength(w_v, words_per_topic):
                    votes = w_v[1:, 1:]
                    t = np.arange(len(votes)) // words_per_topic
                    same = t[:, None] == t
                    return [votes[same[:, k], k].mean() for k in range(len(t))]
                """,
                "own-topic-only",
            ),
            Wrong(
                """
                import numpy as np

                def column_strength(w_v, words_per_topic):
                    votes = w_v[1:, 1:]
                    t = np.arange(len(votes)) // words_per_topic
                    same = t[:, None] == t
                    return [votes[same[:, k], k].sum() - votes[~same[:, k], k].sum() for k in range(len(t))]
                """,
                "sums-not-means",
            ),
        ),
        hidden=_hidden_column_strength,
        explanation=r"""
            Column $l$ holds what attention on word $l$ says for every word. Adding a constant to a column changes no softmax, so under
            cross-entropy only differences within a column count. The strength is the difference that speaks for the topic.
        """,
    ),
    Exercise(
        id="e-average-ratio",
        title="what an average over pairs shows",
        level="challenge",
        minutes=15,
        objective="why the ratio of average weights is smaller than the ratio of each query",
        function="average_weights",
        statement=r"""
            A very long document without masking has the topic `shares` $x_1, \dots, x_T$ (they sum to 1). Every position gives words of its own
            topic `ratio` times the weight of words of other topics, and its weights sum to 1. Return two numbers: the average weight over
            all pairs of positions of the same topic, and over all pairs of different topics, both times the length, so that uniform attention
            gives $(1, 1)$. Every position counts, so a topic with twice the share has four times as many pairs with itself. Shares may be 0.
        """,
        stub='''
            def average_weights(shares, ratio):
                """(same topic, different topics): average attention weight over pairs of positions, times the length."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def average_weights(shares, ratio):
                x = np.asarray(shares)
                low = 1 / (1 + (ratio - 1) * x)
                same = np.average(ratio * low, weights=x**2)
                different = np.average(low, weights=x * (1 - x))
                return same, different
        """,
        alternative="""
            import numpy as np

            def average_weights(shares, ratio):
                x = np.asarray(shares, dtype=float)
                relative = np.where(np.eye(len(x)) > 0, ratio, 1.0)
                weights = relative / (x @ relative)
                pairs = np.outer(x, x)
                own = np.eye(len(x)) > 0
                return [(pairs * weights)[chosen].sum() / pairs[chosen].sum() for chosen in (own, ~own)]
        """,
        wrong=(
            Wrong(
                """
                def average_weights(shares, ratio):
                    return ratio, 1.0
                """,
                "not-normalised",
            ),
            Wrong(
                """
                import numpy as np

                def average_weights(shares, ratio):
                    low = 1 / (1 + (ratio - 1) * np.asarray(shares))
                    return (ratio * low).mean(), low.mean()
                """,
                "topics-not-pairs",
            ),
            Wrong(
                """
                import numpy as np

                def average_weights(shares, ratio):
                    x = np.asarray(shares)
                    low = 1 / (1 + (ratio - 1) * x)
                    return (x * ratio * low).sum(), (x * low).sum()
                """,
                "queries-not-pairs",
            ),
            Wrong(
                """
                import numpy as np

                def average_weights(shares, ratio):
                    x = np.asarray(shares)
                    z = 1 + (ratio - 1) * (x**2).sum()
                    return ratio / z, 1 / z
                """,
                "one-total-for-all",
            ),
        ),
        hidden=_hidden_average_weights,
        explanation=r"""
            A query of topic $t$ has the total $Z_t = 1 + (s - 1) x_t$: it gives $s / Z_t$ to its own topic and $1 / Z_t$ to others. Topic $t$ has
            $x_t^2$ of the pairs with itself and $x_t (1 - x_t)$ of the pairs with others. Large topics have large totals and most of the
            same-topic pairs, so the average same-topic weight is pulled down more than the other one.
        """,
    ),
]
