"""Exercises of Appendix E, joint training of the attention."""

from typing import Any

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
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


_PULLS = {
    "constant": lambda y: 1.0,
    "sigmoid": lambda y: float(1 / (1 + np.exp(y))),
    "squared": lambda y: 2 * (1 - y),
}


def _hidden_race(answer: Answer, loss: str = "sigmoid") -> None:
    votes, scores = np.array([0.1, 0.4, 0.0, 0.2]), np.array([0.3, 0.0, -0.5, 0.1])
    right, steps = np.array([votes, scores]), 500

    def moved(state: Any, by: Any, step: float) -> Any:
        weights = np.exp(by[1]) / np.exp(by[1]).sum()
        prediction = by[0] @ weights
        return state + step * _PULLS[loss](prediction) * np.array([weights, weights * (by[0] - prediction)])

    for _ in range(steps):  # the midpoint rule
        right = moved(right, moved(right, right, 1.25 / steps), 2.5 / steps)
    found = as_array(answer(votes, scores, 2.5), (2, 4), "votes and scores")
    expect(np.abs(found - right).max() < 2e-3, "other-start", "it fails for another start.")


# What the variants of e-race are told.
_CONSTANT = {
    "loss_text": r"$L = -y$, as cross-entropy is at the start, where every prediction is far too small",
    "pull": "1.0",
    "other_pull": "y",
}
_SIGMOID = {
    "loss_text": r"$L = \ln(1 + e^{-y})$, a cross-entropy with two classes",
    "pull": "1 / (1 + np.exp(y))",
    "other_pull": "1.0",
}
_SQUARED = {
    "loss_text": r"$L = (y - 1)^2$, a squared loss",
    "pull": "2 * (1 - y)",
    "other_pull": "1.0",
}

_RACE = """
import numpy as np

def race(votes, scores, clock):
    def speed(state):
        w, k = state
        a = np.exp(k - k.max())
        a = a / a.sum()
        y = a @ w
        pull = {{pull}}
        return np.array([pull * a, pull * a * (w - y)])

    state, steps = np.array([votes, scores], dtype=float), 100
    h = clock / steps
    for _ in range(steps):
        first = speed(state)
        second = speed(state + h / 2 * first)
        third = speed(state + h / 2 * second)
        state = state + h / 6 * (first + 2 * second + 2 * third + speed(state + h * third))
    return state
"""


def _race(right: str, mistake: str, hint: str) -> Wrong:
    """The solution of e-race with one mistake."""
    assert right in _RACE, right
    return Wrong(_RACE.replace(right, mistake), hint)


EXERCISES = [
    Exercise(
        id="e-gap-share",
        title="a gap in proportion",
        level="warm-up",
        minutes=4,
        objective="comparing losses with what there is to gain, not with zero",
        prerequisites=(
            "[what joint training gains](appendix_e.ipynb#what-joint-training-gains)",
            "fractions of a distance",
        ),
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
        prerequisites=(
            "[attention by relation](appendix_e.ipynb#e2-attention-by-relation)",
            "Boolean masks in NumPy",
        ),
        graded=True,
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
        prerequisites=(
            "[the dark columns](appendix_e.ipynb#the-dark-columns)",
            "means over parts of a column",
        ),
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
        prerequisites=(
            "[against Theorem 3](appendix_e.ipynb#against-theorem-3)",
            "weighted means over pairs",
        ),
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
    Exercise(
        id="e-race",
        title="how a spokesman is elected",
        level="challenge",
        minutes=40,
        objective="to turn the story of the dark columns into equations, and to solve them",
        prerequisites=(
            "[the dark columns](appendix_e.ipynb#the-dark-columns)",
            "the derivative of a softmax",
            "a method for ordinary differential equations, such as Runge and Kutta's or SciPy's `solve_ivp`",
        ),
        graded=True,
        function="race",
        statement=r"""
            The smallest model of the race between the words of a topic. Word $l$ casts the vote $w_l$ for the topic and gets the attention $a_l$, the softmax of the scores
            $k_l$. The prediction is $y = \sum_l a_l w_l$. Votes and scores follow gradient descent with small steps (gradient flow: each number moves at
            minus the derivative of the loss with respect to it), with the loss {{loss_text}}. From `votes` and `scores`, arrays of shape $(n,)$ at the clock zero, compute both at the clock
            `clock` and return them as an array of shape $(2, n)$, votes first. Three correct digits are enough. (When you have it, give one word a small lead, and compare the three
            losses $-y$, $\ln(1 + e^{-y})$ and $(y - 1)^2$: under which does one word end up with all attention?)
        """,
        stub='''
            def race(votes, scores, clock):
                """(2, n): votes and scores at the given clock."""
                raise NotImplementedError("your answer")
        ''',
        reference=_RACE,
        alternative="""
            import numpy as np
            from scipy.integrate import solve_ivp

            def race(votes, scores, clock):
                n = len(votes)

                def velocity(_, state):
                    w, k = state[:n], state[n:]
                    shifted = np.exp(k - np.max(k))
                    a = shifted / np.sum(shifted)
                    y = np.dot(a, w)
                    softmax_slope = np.diag(a) - np.outer(a, a)
                    return np.concatenate([a, softmax_slope @ w]) * ({{pull}})

                if clock == 0:
                    return [list(votes), list(scores)]
                run = solve_ivp(velocity, (0, clock), np.concatenate([votes, scores]), rtol=1e-9, atol=1e-11)
                return run.y[:, -1].reshape(2, n)
        """,
        wrong=(
            _race("np.array([pull * a, pull * a * (w - y)])", "-np.array([pull * a, pull * a * (w - y)])", "wrong-sign"),
            _race("pull * a * (w - y)", "pull * a * w", "softmax-sum"),
            _race("pull * a * (w - y)", "pull * (w - y)", "attention-forgotten"),
            _race("np.array([pull * a,", "np.array([pull + 0 * a,", "votes-alike"),
            _race("pull = {{pull}}", "pull = {{other_pull}}", "other-loss"),
            _race(
                "    state, steps = ",
                "    return np.array([votes, scores]) + clock * speed(np.array([votes, scores]))\n    state, steps = ",
                "one-step",
            ),
            _race("    return state\n", "    return state[::-1]\n", "votes-first"),
        ),
        hidden=_hidden_race,
        explanation=r"""
            With the pull $p = -\frac{dL}{dy}$ the equations are $\dot{w}_l = p\, a_l$ and $\dot{k}_l = p\, a_l (w_l - y)$: the derivative of the softmax takes the mean vote off. A word
            with more attention learns its vote faster, and a word whose vote is above the mean gains attention, the faster the more it has. So a lead grows. The
            pull is all in which the losses differ. With $L = -y$ it never ends, with $\ln(1 + e^{-y})$ it fades slowly, with $(y - 1)^2$ it is gone once
            $y = 1$, and the race stops half way.
        """,
        variants=(
            Variant({"loss": "sigmoid"}, _SIGMOID),
            Variant({"loss": "constant"}, _CONSTANT),
            Variant({"loss": "squared"}, _SQUARED),
        ),
    ),
]

PAPER = [
    PaperExercise(
        id="e-paper-diluted-ratio",
        title="what Table 3's average can prove",
        level="core",
        minutes=30,
        objective="to show that an average is a bound, and on which side",
        prerequisites=(
            "[attention by relation](appendix_e.ipynb#e2-attention-by-relation)",
            "[exercise e-average-ratio](appendix_e.ipynb#exercise-e-average-ratio)",
            "weighted means; Chebyshev's inequality on sums, or an argument in its place",
        ),
        graded=True,
        statement=r"""
            A very long document without masking has the topic shares $x_1, \dots, x_T$, which sum to 1, and two of them at least are positive. Every query gives words of its own topic $s > 1$ times
            the weight of words of other topics. Let $R$ be the average weight over all pairs of positions of the same topic, divided by that over all pairs of
            different topics. (a) Write both averages with $Z_t = 1 + (s - 1)x_t$. (b) Prove $1 < R \le s$. (c) When is $R = s$? (d) A table reports $R = 3.3$, averaged over the pairs of many documents. May one conclude that
            attention prefers the own topic? That every query has $s \ge 3.3$?
        """,
        rubric=(
            (
                2,
                r"(a) Same: $\frac{\sum_t x_t^2\, s/Z_t}{\sum_t x_t^2}$; different: $\frac{\sum_t x_t(1 - x_t)/Z_t}{\sum_t x_t(1 - x_t)}$, both up to the same factor. One point each.",
            ),
            (
                2,
                r"(b) Lower bound: $s/Z_t \ge 1 \ge 1/Z_t$ because $0 \le x_t \le 1$ (1), with a strict inequality where $0 < x_t < 1$ (1).",
            ),
            (
                3,
                r"(b) Upper bound: the two averages weigh the same numbers $1/Z_t$, with weights whose quotient $x_t/(1 - x_t)$ rises with $x_t$ (1), while $1/Z_t$ falls (1); so the first weighted mean is not larger (1). Any right proof counts, such as one by pairs of topics.",
            ),
            (1, r"(c) Exactly if all topics that the document has share it equally."),
            (
                2,
                r"(d) The preference for the own topic, on average, yes (1). The second no: $s$ may differ from query to query, and an average does not bound each (1). Half for: under the model with one $s$ the true $s$ is at least 3.3.",
            ),
        ),
        model_answer=r"""
            (a) A query of topic $t$ has the total $Z_t = (1 - x_t) + s x_t = 1 + (s - 1) x_t$. It gives $s/Z_t$ to a position of its topic and $1/Z_t$ to another, times the length. Of
            all pairs, $x_t^2$ are within topic $t$ and $x_t(1 - x_t)$ have a query of topic $t$ and another key. So the averages are $M_1 = s\,\frac{\sum x_t^2/Z_t}{\sum x_t^2}$ and
            $M_2 = \frac{\sum x_t(1 - x_t)/Z_t}{\sum x_t(1 - x_t)}$.

            (b) *Lower bound.* For $0 < x_t < 1$ we have $1 < Z_t < s$, so $s/Z_t > 1 > 1/Z_t$. Every positive share is below one, since there are two. Hence $M_1 > 1 > M_2$ and $R > 1$.
            *Upper bound.* $R/s$ is the quotient of two weighted means of the numbers $1/Z_t$, with the weights $x_t^2$ and $x_t(1 - x_t)$. The quotient of the weights is $\frac{x_t}{1 - x_t}$ and rises
            with $x_t$; the numbers $1/Z_t$ fall. Let $q_t = x_t(1 - x_t)/\sum_u x_u(1 - x_u)$, a distribution, $g_t = \frac{x_t}{1 - x_t}$ and $h_t = 1/Z_t$. Then
            $R/s = \frac{\sum q g h}{\sum q g \sum q h}$, and $\sum q g h - \sum q g \sum q h = \frac{1}{2}\sum_{t, u} q_t q_u (g_t - g_u)(h_t - h_u) \le 0$, since the two differences never have
            the same sign. So $R \le s$.

            (c) Equality needs $(g_t - g_u)(h_t - h_u) = 0$ for all topics $t$, $u$ that are present, that is $x_t = x_u$: the present topics have equal shares.

            (d) That attention prefers the own topic on average: yes, without a preference the ratio would be 1, and averaging only dilutes it. That every query has $s \ge 3.3$: no. If all
            had the same $s$, then $s \ge 3.3$, and more in documents with uneven shares. But the average does not know how the queries differ: a few may have a very large ratio and many none.
        """,
    ),
]
