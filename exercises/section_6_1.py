"""Exercises of Section 6.1, the chapter on synthetic data."""

from math import ceil, log

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
from topiclib.checks.base import Answer, as_array, close, expect


def _hidden_contained(answer: Answer) -> None:
    rng = np.random.default_rng(610)
    for v in (2, 5):
        tokens = np.concatenate([rng.integers(1, 4 * v + 1, size=37), np.full(6, -1)])
        shares = np.bincount((tokens[:37] - 1) // v, minlength=4) / 37
        for least in (0.01, 0.2, 0.3):
            found = as_array(answer(tokens, v, least), (), "one number")
            expect(found == (shares >= least).sum(), "other-documents", "it fails for another document.")
    found = as_array(answer(np.array([3, 3, 3]), 2, 1.0), (), "one number")
    expect(found == 1, "other-documents", "it fails for a document of one word.")


def _hidden_steps(answer: Answer) -> None:
    for fraction, rate, kappa in ((0.5, 0.01, 0.0037), (0.99, 3.0, 0.004), (0.2, 0.3, 0.9), (0.001, 0.01, 0.01)):
        found = as_array(answer(fraction, rate, kappa), (), "a number of steps")
        right = ceil(log(1 - fraction) / log(1 - 2 * rate * kappa))
        expect(found == right, "other-numbers", "it fails for other numbers.")


def _hidden_mask_column(answer: Answer) -> None:
    rng = np.random.default_rng(612)
    num_topics, v, p_m, p_c, p_r = 4, 3, 0.3, 0.2, 0.15
    matrix = rng.normal(size=(13, 13))
    found = as_array(answer(matrix, v, p_m, p_c, p_r), (12,), "one entry for each word")
    m = p_m * (1 - p_c - p_r)
    for i in range(1, 13):
        others = [j for j in range(1, 13) if (j - 1) // v != (i - 1) // v]
        mean = matrix[i, others].sum() / (num_topics - 1)
        expect(close(found[i - 1] * m * v, -(1 - m) * mean), "other-matrices", "it fails for another matrix.")


def _hidden_shares(answer: Answer) -> None:
    for p, n in (([0.5, 0.25, 0.125, 0.125], 7), ([1.0, 0.0], 3), ([0.1] * 10, 1)):
        found = as_array(answer(p, n), (), "one number")
        square = sum(x * x for x in p)
        expect(close(found * n, (1 - square) * (n + 1)), "other-numbers", "it fails for other numbers.")


def _hidden_best_loss(answer: Answer, asked: str = "squared") -> None:
    for p, p_c, p_r in (([0.05, 0.15, 0.3, 0.5], 0.25, 0.35), ([0.1] * 10, 0.1, 0.9)):
        joint = p_c * np.diag(p) + np.outer(p, np.full(len(p), p_r / len(p)))
        shown, even = joint.sum(axis=0), 1 - p_c - p_r
        squared = 1 - even * np.sum(np.square(p)) - np.sum(joint**2 / shown)
        entropy = -np.sum(p * np.log(p))
        nats = even * entropy - np.sum(joint * np.log(joint / shown))
        right = {"squared": squared, "nats": nats, "bits gained": (entropy - nats) / np.log(2)}[asked]
        found = as_array(answer(np.array(p), p_c, p_r), (), "one number")
        expect(close(found, right, 1e-4), "other-numbers", "it fails for other numbers.")


EXERCISES = [
    Exercise(
        id="6.1-contained-topics",
        title="how many topics does a document contain?",
        level="warm-up",
        minutes=6,
        objective="to make a loose sentence of a paper measurable",
        prerequisites=(
            "word ids and topics ([Section 3.1](03_1_topic_models.ipynb))",
            "counting in NumPy",
        ),
        function="contained_topics",
        statement=r"""
            `tokens` are the word ids of one document, 1 to $Tv$, as an integer array. Shorter documents end with padding, id -1.
            Topic $t$ has the $v$ = `words_per_topic` words $(t - 1) v + 1$ to $t v$. Return how many topics make up at least the
            fraction `at_least` > 0 of the document's words.
        """,
        stub='''
            def contained_topics(tokens, words_per_topic, at_least):
                """Number of topics with at least the fraction ``at_least`` of the words."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def contained_topics(tokens, words_per_topic, at_least):
                words = tokens[tokens > 0]
                per_topic = np.bincount((words - 1) // words_per_topic)
                return int((per_topic >= at_least * len(words)).sum())
        """,
        alternative="""
            def contained_topics(tokens, words_per_topic, at_least):
                labels = [-(-int(word) // words_per_topic) for word in tokens if word > 0]
                return sum(labels.count(label) / len(labels) >= at_least for label in set(labels))
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def contained_topics(tokens, words_per_topic, at_least):
                    words = tokens[tokens > 0]
                    return len(np.unique((words - 1) // words_per_topic))
                """,
                "any-word",
            ),
            Wrong(
                """
                import numpy as np

                def contained_topics(tokens, words_per_topic, at_least):
                    words = tokens[tokens > 0]
                    per_topic = np.bincount((words - 1) // words_per_topic)
                    return (per_topic >= at_least * len(tokens)).sum()
                """,
                "padding-counted",
            ),
            Wrong(
                """
                import numpy as np

                def contained_topics(tokens, words_per_topic, at_least):
                    words = tokens[tokens > 0]
                    per_topic = np.bincount(words // words_per_topic)
                    return (per_topic >= at_least * len(words)).sum()
                """,
                "shifted-topics",
            ),
            Wrong(
                """
                import numpy as np

                def contained_topics(tokens, words_per_topic, at_least):
                    words = tokens[tokens > 0]
                    per_topic = np.bincount((words - 1) // words_per_topic)
                    return (per_topic > at_least * len(words)).sum()
                """,
                "exactly-at-the-threshold",
            ),
            Wrong(
                """
                import numpy as np

                def contained_topics(tokens, words_per_topic, at_least):
                    words = tokens[tokens > 0]
                    return (np.bincount(words) >= at_least * len(words)).sum()
                """,
                "words-not-topics",
            ),
        ),
        hidden=_hidden_contained,
        explanation=r"""
            Leave out the padding, turn words into topics, count. "Contains a topic" means nothing until a threshold is fixed:
            by "at least one word" a document of Section 6.1 contains four topics on average, by a twentieth of its words fewer
            than three.
        """,
    ),
    Exercise(
        id="6.1-steps-needed",
        title="when will the blocks be there?",
        level="core",
        minutes=8,
        objective="to say before a run how many steps it needs",
        prerequisites=(
            "[the path of SGD](06_1_synthetic.ipynb#at-which-rate-sgd-arrives)",
            "logarithms",
        ),
        function="steps_needed",
        statement=r"""
            Without noise, $t$ steps of SGD with squared loss at the rate $\eta$ have learned the fraction
            $1 - (1 - 2 \eta \kappa)^t$ of the blocks. Return the least whole number of steps after which at least the fraction
            `fraction` is learned. Take $0 <$ `fraction` $< 1$ and $0 < 2 \eta \kappa < 1$.
        """,
        stub='''
            def steps_needed(fraction, learning_rate, kappa):
                """The least number of steps that learns at least the fraction."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            from math import ceil, log1p

            def steps_needed(fraction, learning_rate, kappa):
                return ceil(log1p(-fraction) / log1p(-2 * learning_rate * kappa))
        """,
        alternative="""
            def steps_needed(fraction, learning_rate, kappa):
                missing, steps = 1.0, 0
                while 1 - missing < fraction:
                    missing *= 1 - 2 * learning_rate * kappa
                    steps += 1
                return steps
        """,
        wrong=(
            Wrong(
                """
                from math import ceil, log

                def steps_needed(fraction, learning_rate, kappa):
                    return ceil(log(1 - fraction) / log(1 - learning_rate * kappa))
                """,
                "factor-two",
            ),
            Wrong(
                """
                from math import ceil, log

                def steps_needed(fraction, learning_rate, kappa):
                    return ceil(-log(1 - fraction) / (2 * learning_rate * kappa))
                """,
                "small-steps-only",
            ),
            Wrong(
                """
                from math import log

                def steps_needed(fraction, learning_rate, kappa):
                    return int(log(1 - fraction) / log(1 - 2 * learning_rate * kappa))
                """,
                "rounded-down",
            ),
            Wrong(
                """
                from math import log

                def steps_needed(fraction, learning_rate, kappa):
                    return log(1 - fraction) / log(1 - 2 * learning_rate * kappa)
                """,
                "not-whole",
            ),
            Wrong(
                """
                from math import ceil, log

                def steps_needed(fraction, learning_rate, kappa):
                    return ceil(log(fraction) / log(1 - 2 * learning_rate * kappa))
                """,
                "what-is-left",
            ),
        ),
        hidden=_hidden_steps,
        explanation=r"""
            What is missing shrinks by the factor $1 - 2 \eta \kappa$ a step, so $t \ge \ln(1 - f) / \ln(1 - 2 \eta \kappa)$,
            rounded up. For small steps this is $-\ln(1 - f) / (2 \eta \kappa)$: a tenth of the rate needs ten times the steps.
        """,
    ),
    Exercise(
        id="6.1-implied-mask-column",
        title="the column that Theorem 1 asks for",
        level="core",
        minutes=12,
        objective="to test the part of Theorem 1 that a heat map does not show",
        prerequisites=(
            "[Theorem 1](04_token_embeddings.ipynb#theorem-1)",
            "means along an axis",
        ),
        graded=True,
        function="implied_mask_column",
        statement=r"""
            Theorem 1 ties the column of [MASK] to the blocks: $\mathbf{E}_{i0} = -\left(\frac{1}{m} - 1\right) u_i$ with
            $m = p_m (1 - p_c - p_r)$, where $u_i v$ is the sum of row $i$ over each *other* topic. In a trained matrix these sums
            differ a little, so take their mean over the other topics. `e` is a matrix of shape $(Tv + 1, Tv + 1)$ with [MASK] as
            row and column 0, and topic $t$ has the words $(t - 1) v + 1$ to $t v$ with $v$ = `words_per_topic`. Return the implied
            $\mathbf{E}_{i0}$ for the words $i = 1, \dots, Tv$, shape $(Tv,)$.
        """,
        stub='''
            def implied_mask_column(e, words_per_topic, p_m, p_c, p_r):
                """E_i0 of each word as Theorem 1 implies it from the row's sums over other topics."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def implied_mask_column(e, words_per_topic, p_m, p_c, p_r):
                v, m = words_per_topic, p_m * (1 - p_c - p_r)
                topic = (np.arange(1, len(e)) - 1) // v
                is_other = topic[:, None] != topic[None, :]
                u = (np.asarray(e)[1:, 1:] * is_other).sum(axis=1) / (topic.max() * v)
                return -(1 - m) / m * u
        """,
        alternative="""
            def implied_mask_column(e, words_per_topic, p_m, p_c, p_r):
                m, size, column = p_m * (1 - p_c - p_r), len(e), []
                for i in range(1, size):
                    first = (i - 1) // words_per_topic * words_per_topic + 1
                    away = [e[i][j] for j in range(1, size) if not first <= j < first + words_per_topic]
                    column.append((1 - 1 / m) * sum(away) / len(away))
                return column
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def implied_mask_column(e, words_per_topic, p_m, p_c, p_r):
                    topic = (np.arange(1, len(e)) - 1) // words_per_topic
                    other = topic[:, None] != topic[None, :]
                    u = (e[1:, 1:] * other).sum(axis=1) / other.sum(axis=1)
                    return -(1 / p_m - 1) * u
                """,
                "share-of-mask",
            ),
            Wrong(
                """
                import numpy as np

                def implied_mask_column(e, words_per_topic, p_m, p_c, p_r):
                    m = p_m * (1 - p_c - p_r)
                    topic = (np.arange(1, len(e)) - 1) // words_per_topic
                    other = topic[:, None] != topic[None, :]
                    return (1 / m - 1) * (e[1:, 1:] * other).sum(axis=1) / other.sum(axis=1)
                """,
                "sign",
            ),
            Wrong(
                """
                import numpy as np

                def implied_mask_column(e, words_per_topic, p_m, p_c, p_r):
                    m = p_m * (1 - p_c - p_r)
                    topic = (np.arange(1, len(e)) - 1) // words_per_topic
                    other = topic[:, None] != topic[None, :]
                    return -(1 / m - 1) * (e[1:, 1:] * other).sum(axis=1) / topic.max()
                """,
                "sum-not-u",
            ),
            Wrong(
                """
                import numpy as np

                def implied_mask_column(e, words_per_topic, p_m, p_c, p_r):
                    m = p_m * (1 - p_c - p_r)
                    return -(1 / m - 1) * e[1:, 1:].mean(axis=1)
                """,
                "own-topic-included",
            ),
            Wrong(
                """
                import numpy as np

                def implied_mask_column(e, words_per_topic, p_m, p_c, p_r):
                    m = p_m * (1 - p_c - p_r)
                    topic = (np.arange(1, len(e)) - 1) // words_per_topic
                    other = topic[:, None] != topic[None, :]
                    return -(1 / m - 1) * (e[1:, 1:] * other).sum(axis=0) / other.sum(axis=0)
                """,
                "columns-not-rows",
            ),
            Wrong(
                """
                def implied_mask_column(e, words_per_topic, p_m, p_c, p_r):
                    return e[1:, 0]
                """,
                "copied-column",
            ),
        ),
        hidden=_hidden_mask_column,
        explanation=r"""
            The mean entry of row $i$ over words of other topics is $u_i$. With documents of finite length a trained matrix does
            *not* follow this rule: the number of [MASK]s fluctuates, and a column that is far from the other entries turns that
            into noise (Section 5.2). The block sums survive the step to short documents, the column of [MASK] does not.
        """,
    ),
    Exercise(
        id="6.1-loss-of-shares",
        title="how good is it to repeat what one sees?",
        level="challenge",
        minutes=15,
        objective="to see why a model without topics can have a low squared loss",
        prerequisites=(
            "the squared loss ([Section 3.2](03_2_training_objective.ipynb))",
            "variance of a mean",
        ),
        function="loss_of_shares",
        statement=r"""
            A document's words are drawn independently from the probabilities $p$. A predictor sees $n$ of its words and predicts
            the hidden one, which it does not see, by their shares: word $i$ gets the number of times it was seen over $n$. Return
            its expected squared loss, $\mathbb{E} \|\text{shares} - e_{\text{hidden}}\|^2$, where $e_{\text{hidden}}$ is one at the
            hidden word and zero elsewhere. (An exact formula, not a simulation.)
        """,
        stub='''
            def loss_of_shares(p, n):
                """Expected squared loss of predicting a hidden word by the shares of n seen ones."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def loss_of_shares(p, n):
                return (1 - np.sum(np.square(p))) * (1 + 1 / n)
        """,
        alternative="""
            def loss_of_shares(p, n):
                total = 0.0
                for q in p:  # one word: variance of its share, and of being the hidden word
                    total += q * (1 - q) / n + q * (1 - q)
                return total
        """,
        wrong=(
            Wrong(
                """
                def loss_of_shares(p, n):
                    return 1 - sum(q * q for q in p)
                """,
                "shares-exact",
            ),
            Wrong(
                """
                def loss_of_shares(p, n):
                    return (1 - sum(q * q for q in p)) / n
                """,
                "distance-to-probabilities",
            ),
            Wrong(
                """
                def loss_of_shares(p, n):
                    return (1 - sum(q * q for q in p)) * (1 - 1 / n)
                """,
                "noise-helps",
            ),
            Wrong(
                """
                def loss_of_shares(p, n):
                    return (1 - sum(q * q for q in p)) * 2
                """,
                "one-word-only",
            ),
            Wrong(
                """
                def loss_of_shares(p, n):
                    return (1 - sum(q * q for q in p)) * (1 + 1 / n**0.5)
                """,
                "not-an-average",
            ),
        ),
        hidden=_hidden_shares,
        explanation=r"""
            Shares and hidden word are independent, both with mean $p$. So the loss is the sum of their variances:
            $\frac{1}{n} (1 - \|p\|^2)$ for the shares, $1 - \|p\|^2$ for the hidden word. The second is what the best predictor has
            too. With a hundred words seen, repeating them costs one percent more than knowing $p$, and needs no topics.
        """,
    ),
    Exercise(
        id="6.1-best-loss",
        title="the best that can be done at a position",
        level="challenge",
        minutes=30,
        objective="to turn a masking scheme into a posterior, and the posterior into the least possible loss",
        prerequisites=(
            "[the four yardsticks](06_1_synthetic.ipynb#four-yardsticks)",
            "the masking scheme ([Section 3.2](03_2_training_objective.ipynb))",
            "Bayes' rule",
        ),
        graded=True,
        function="best_loss",
        statement=r"""
            A predictor is told the word distribution $p$ of a document (`p`, positive numbers that sum to one, one for each of the $n$ words) and looks
            at a selected position. Its hidden word is drawn from $p$. With probability `p_c` the position shows this word, with probability
            `p_r` > 0 a random one, drawn evenly from all $n$ words (the hidden one among them), else [MASK]. Nothing else helps. Return
            {{asked}}, averaged over hidden words and over what the position shows. It must be exact, for any $p$.
        """,
        stub="""
            def best_loss(p, p_c, p_r):
                \"\"\"{{described}}.\"\"\"
                raise NotImplementedError("your answer")
        """,
        reference="""
            import numpy as np

            def best_loss(p, p_c, p_r):
                p = np.asarray(p, dtype=float)

                def uncertainty(q):
                    return {{uncertainty}}

                total = (1 - p_c - p_r) * uncertainty(p)
                for word, chance in enumerate(p):
                    kept, stray = p_c * chance, p_r / len(p)
                    belief = stray * p
                    belief[word] += kept
                    total += (kept + stray) * uncertainty(belief / (kept + stray))
                return {{result}}
        """,
        alternative="""
            import numpy as np

            def best_loss(p, p_c, p_r):
                p = np.array(p, dtype=float)
                # Hidden word in the row, what is shown in the column, [MASK] last.
                joint = np.outer(p, np.append(np.full(p.size, p_r / p.size), 1 - p_c - p_r))
                joint[:, :-1] += p_c * np.diag(p)

                def uncertainty(q):
                    return {{uncertainty}}

                columns = [column for column in joint.T if column.sum() > 0]
                total = sum(c.sum() * uncertainty(c / c.sum()) for c in columns)
                return {{result}}
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def best_loss(p, p_c, p_r):
                    p = np.asarray(p, dtype=float)

                    def uncertainty(q):
                        return {{uncertainty}}

                    total = uncertainty(p)
                    for j in range(p.size):
                        shown = p_c * p[j] + p_r / p.size
                        k = p_c * p[j] / shown
                        total += 0 * uncertainty(k * np.eye(p.size)[j] + (1 - k) * p)
                    total = float(total)
                    return {{result}}
                """,
                "position-not-used",
            ),
            Wrong(
                """
                import numpy as np

                def best_loss(p, p_c, p_r):
                    p = np.asarray(p, dtype=float)

                    def uncertainty(q):
                        return {{uncertainty}}

                    total = (1 - p_c - p_r) * uncertainty(p)
                    for j in range(p.size):
                        shown = (p_c + p_r) * p[j]
                        k = p_c * p[j] / shown
                        total += shown * uncertainty(k * np.eye(p.size)[j] + (1 - k) * p)
                    total = float(total)
                    return {{result}}
                """,
                "random-not-uniform",
            ),
            Wrong(
                """
                import numpy as np

                def best_loss(p, p_c, p_r):
                    p = np.asarray(p, dtype=float)

                    def uncertainty(q):
                        return {{uncertainty}}

                    total = 0
                    for j in range(p.size):
                        shown = p_c * p[j] + p_r / p.size
                        k = p_c * p[j] / shown
                        total += shown * uncertainty(k * np.eye(p.size)[j] + (1 - k) * p)
                    total = total / (p_c + p_r)
                    return {{result}}
                """,
                "mask-forgotten",
            ),
            Wrong(
                """
                import numpy as np

                def best_loss(p, p_c, p_r):
                    p = np.asarray(p, dtype=float)

                    def uncertainty(q):
                        return {{uncertainty}}

                    total = (1 - p_c - p_r) * uncertainty(p)
                    for j in range(p.size):
                        shown = p_c * p[j] + p_r / p.size
                        k = p_c * p[j] / shown
                        total += shown * uncertainty(np.where(np.arange(p.size) == j, k, (1 - k) * p / (1 - p[j])))
                    total = float(total)
                    return {{result}}
                """,
                "random-cannot-hit",
            ),
            Wrong(
                """
                import numpy as np

                def best_loss(p, p_c, p_r):
                    p = np.asarray(p, dtype=float)

                    def uncertainty(q):
                        return {{uncertainty}}

                    total = (1 - p_c - p_r) * uncertainty(p)
                    for j in range(p.size):
                        shown = p_c * p[j] + p_r / p.size
                        k = p_c * p[j] / shown
                        total += (p_c + p_r) * p[j] * uncertainty(k * np.eye(p.size)[j] + (1 - k) * p)
                    total = float(total)
                    return {{result}}
                """,
                "wrong-average",
            ),
            Wrong(
                """
                import numpy as np

                def best_loss(p, p_c, p_r):
                    p = np.asarray(p, dtype=float)

                    def uncertainty(q):
                        return {{uncertainty}}

                    total = 0
                    for j in range(p.size):
                        shown = p_c * p[j] + p_r / p.size
                        k = p_c * p[j] / shown
                        total += shown * uncertainty(k * np.eye(p.size)[j] + (1 - k) * p)
                    total = float(total)
                    return {{result}}
                """,
                "mask-left-out-of-the-mean",
            ),
        ),
        hidden=_hidden_best_loss,
        variants=(
            Variant(
                {"asked": "squared"},
                {
                    "asked": "the least expected squared loss that it can have, with the one-hot vector of the hidden word as target",
                    "described": "The least expected squared loss at a selected position",
                    "uncertainty": "1 - np.sum(q**2)",
                    "result": "total",
                },
            ),
            Variant(
                {"asked": "nats"},
                {
                    "asked": "the least expected cross-entropy that it can have, in nats",
                    "described": "The least expected cross-entropy at a selected position, in nats",
                    "uncertainty": "-np.sum(q * np.log(q))",
                    "result": "total",
                },
            ),
            Variant(
                {"asked": "bits gained"},
                {
                    "asked": "by how many bits its least expected cross-entropy is below that of a predictor that is told $p$ but does not look at the position",
                    "described": "What a look at the position gains, in bits of cross-entropy",
                    "uncertainty": "-np.sum(q * np.log2(q))",
                    "result": "uncertainty(p) - total",
                },
            ),
        ),
        explanation=r"""
            A word $j$ is shown with probability $p_c p_j + \frac{p_r}{n}$. Given that, it was kept with probability $k = p_c p_j/(p_c p_j + \frac{p_r}{n})$, and the hidden word is
            $j$; otherwise it is drawn from $p$, so it may be $j$ all the same. The posterior is $q = k\, e_j + (1 - k)\, p$. Predicting $q$ is best for both
            losses, and costs $1 - \sum_i q_i^2$ or the entropy of $q$. At [MASK] $q = p$. Average with the probabilities of what is shown.
        """,
    ),
]

PAPER = [
    PaperExercise(
        id="6.1-paper-harmonic-length",
        title="which length counts when lengths differ",
        level="core",
        minutes=25,
        objective="to prove that documents of many lengths act like documents of one, and to see for which loss",
        prerequisites=(
            "[Theorem 2, value by value](06_1_synthetic.ipynb#theorem-2-value-by-value)",
            "moments of a multinomial distribution",
        ),
        graded=True,
        statement=r"""
            A document has a word distribution $p$ (random) and a length $N$ (random, independent of $p$). The predictor sees the shares $\mathbf{x}$ of
            $N$ words drawn independently from $p$, and predicts one more word of the document, with one-hot vector $\mathbf{y}$, by $\mathbf{W}\mathbf{x}$. The
            loss is $\mathbb{E}\|\mathbf{W}\mathbf{x} - \mathbf{y}\|^2 + \lambda \|\mathbf{W}\|^2$. There are no masks.

            1. Compute $\mathbb{E}[\mathbf{x}\mathbf{x}^\top]$ and $\mathbb{E}[\mathbf{y}\mathbf{x}^\top]$.
            2. Prove that the loss is, for every $\mathbf{W}$ and $\lambda$, the same as for documents that all have the length $N_h$ with
               $\frac{1}{N_h} = \mathbb{E}[\frac{1}{N}]$. (Should $N_h$ not be whole, read the formula for it.)
            3. Is $N_h$ above or below the mean length? Why is that plausible?
            4. Where does the proof break for cross-entropy? And where if long documents have other topics than short ones?
        """,
        rubric=(
            (
                3,
                "Part 1: E[x x^T | p, N] = p p^T + (diag(p) - p p^T)/N, with a reason (pairs of different and of equal draws), then the mean over N and p. Two points if equal draws are forgotten or the factor is wrong but the idea of two kinds of pairs is there.",
            ),
            (
                1,
                "Part 1: E[y x^T] = E[p p^T], without N, because the predicted word is drawn independently of the seen ones given p.",
            ),
            (
                2,
                "Part 2: multiplies the loss out and says that x enters through these two moments only; so lengths enter through E[1/N] only.",
            ),
            (
                2,
                "Part 3: N_h is at most the mean (Jensen, or arithmetic and harmonic mean), equal only if all lengths are equal; reason: short documents are noisier than long ones are clean.",
            ),
            (
                2,
                "Part 4: one point each. The logarithm of the sum in a softmax is not quadratic, so other moments of x enter; if N depends on p, the mean of (diag(p) - p p^T)/N is no product of means.",
            ),
        ),
        model_answer=r"""
            1. Write $\mathbf{x} = \frac{1}{N} \sum_k \mathbf{z}_k$ with one-hot $\mathbf{z}_k$. Given $p$ and $N$, $N$ of the $N^2$ products $\mathbf{z}_k \mathbf{z}_l^\top$ have $k = l$ and mean $\operatorname{diag}(p)$; the
            others have independent factors and mean $p p^\top$. So
            $\mathbb{E}[\mathbf{x}\mathbf{x}^\top \mid p, N] = (1 - \frac{1}{N})\, p p^\top + \frac{1}{N} \operatorname{diag}(p)$. Since $N$ and $p$ are independent,
            $\mathbb{E}[\mathbf{x}\mathbf{x}^\top] = \mathbb{E}[p p^\top] + \mathbb{E}[\frac{1}{N}]\, \mathbb{E}[\operatorname{diag}(p) - p p^\top]$. Given $p$, $\mathbf{y}$ is independent of the seen words, so
            $\mathbb{E}[\mathbf{y}\mathbf{x}^\top] = \mathbb{E}[p p^\top]$, whatever the lengths.

            2. The loss is $\operatorname{tr}(\mathbf{W} \mathbb{E}[\mathbf{x}\mathbf{x}^\top] \mathbf{W}^\top) - 2 \operatorname{tr}(\mathbf{W}^\top \mathbb{E}[\mathbf{y}\mathbf{x}^\top]) + 1 + \lambda \|\mathbf{W}\|^2$, as $\|\mathbf{y}\| = 1$. Lengths enter through the
            first moment matrix only, and there through $\mathbb{E}[\frac{1}{N}]$ only. Two distributions of lengths with the same $\mathbb{E}[\frac{1}{N}]$ have the same loss at every $\mathbf{W}$, so
            the same minimiser. A fixed length $N_h$ has $\mathbb{E}[\frac{1}{N}] = \frac{1}{N_h}$.

            3. Below, or equal if there is one length only: $1/N$ is convex, so $\mathbb{E}[\frac{1}{N}] \geq 1/\mathbb{E}[N]$. What matters is the noise of the shares, with variance in proportion to
            $1/N$. A document shorter by ten words adds more noise than one longer by ten takes away.

            4. With cross-entropy the loss is $\log \sum_i e^{(\mathbf{W}\mathbf{x})_i} - \mathbf{y} \cdot \mathbf{W}\mathbf{x}$. The first part is not quadratic in $\mathbf{x}$, so third and higher moments enter, and these contain
            $1/N^2$ and so on, which $N_h$ does not reproduce. If $N$ depends on $p$, $\mathbb{E}[\frac{1}{N}(\operatorname{diag}(p) - p p^\top)]$ is not the product of the two means: short documents' topics count more in it.
        """,
    ),
]
