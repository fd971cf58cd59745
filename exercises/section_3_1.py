"""Exercises of Section 3.1."""

from itertools import combinations
from math import lgamma

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
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


def _hidden_words(answer: Answer, mixture: str = "dirichlet") -> None:
    rng = np.random.default_rng(13)
    for T, spread in ((4, 2), (6, 5), (3, 3)):
        if mixture == "dirichlet":
            mass = {(n, m): lgamma(spread + n) + lgamma(spread + m) - 2 * lgamma(spread) for n in range(5) for m in range(5)}
            right = {p: float(np.exp(mass[p] + lgamma(T * spread) - lgamma(T * spread + sum(p)))) for p in ((3, 2), (4, 1), (2, 2))}
        else:
            sizes = range(1, spread + 1) if mixture == "uniform" else (spread,)
            right = {
                p: float(np.mean([np.mean([(0 in s) * (1 in s) / k ** sum(p) for s in combinations(range(T), k)]) for k in sizes]))
                for p in ((3, 2), (4, 1), (2, 2))
            }
        for pattern, moment in right.items():
            value = as_array(answer(list(rng.permutation(pattern)), T, spread), (), "the lift, one number")
            expect(close(value, moment * T ** sum(pattern), 1e-4), "other-settings", f"it fails with T, spread = {T, spread}.")


EXERCISES: list[Exercise] = [
    Exercise(
        id="3.1-empirical-distribution",
        title="the empirical distribution of a document",
        level="warm-up",
        minutes=5,
        objective="the left side of Assumption 1, and the paper's numbering of tokens",
        prerequisites=(
            "[the one-hot encoding](03_1_topic_models.ipynb#the-one-hot-encoding)",
            "counting with NumPy",
        ),
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
        prerequisites=(
            "[how a document is made](03_1_topic_models.ipynb#how-a-document-is-made)",
            "a `numpy.random.Generator`",
        ),
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
        prerequisites=(
            "[how often two words meet](03_1_topic_models.ipynb#how-often-two-words-meet)",
            "products of matrices of counts",
        ),
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
        graded=True,
        explanation=r"""
            Word $i$ occurs $c_i$ times and word $j$ occurs $c_j$ times, so there are $c_i c_j$ ordered pairs, less the $c_i$ pairs of a position
            with itself when $i = j$. A document has $N(N-1)$ ordered pairs of different positions. The product of counts must be taken
            within each document: added up over documents first, it would pair words that never met.
        """,
    ),
    Exercise(
        id="3.1-lift-of-words",
        title="when more than two words meet",
        level="challenge",
        minutes=25,
        objective="moments of topic weights, beyond the two that the chapter uses",
        prerequisites=(
            "[lift](03_1_topic_models.ipynb#how-often-two-words-meet)",
            "{{skill}}",
        ),
        function="lift_of_words",
        statement=r"""
            The chapter asks how often *two* words meet. Now take $k$ given words and an infinitely long document, and draw $k$ of its positions. The chance that they show the $k$ words in the given order, divided
            by $(Tv)^{-k}$, is the lift of the $k$ words. It depends only on which of them share a topic. `pattern` says so: $(3, 1)$ stands for three words of one topic and one of another, $(1, 1, 1)$ for words of three
            different topics. Return the lift of the pattern. There are `num_topics` $= T$ topics with equally likely words. A document's topic weights are {{mixture_in_words}}.
        """,
        stub='''
            def lift_of_words(pattern, num_topics, spread):
                """How many times as often as by chance the words of a pattern meet; spread is {{spread}}."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            from math import prod

            def lift_of_words(pattern, num_topics, spread):
                {{moment}}
                return num_topics ** sum(pattern) * moment
        """,
        alternative="""
            from math import comb, exp, lgamma, log

            def lift_of_words(pattern, num_topics, spread):
                k, topics = sum(pattern), len(pattern)
                {{other_moment}}
                return exp(k * log(num_topics)) * other
        """,
        wrong=(
            Wrong(
                """
                from itertools import combinations
                from math import comb, factorial, prod

                def lift_of_words(pattern, num_topics, spread):
                    {{moment}}
                    return 1 * moment
                """,
                "moment-not-lift",
            ),
            Wrong(
                """
                from itertools import combinations
                from math import comb, factorial, prod

                def lift_of_words(pattern, num_topics, spread):
                    {{moment}}
                    return num_topics ** len(pattern) * moment
                """,
                "chance-of-topics",
            ),
            Wrong(
                """
                from itertools import combinations
                from math import comb, factorial, prod

                def lift_of_words(pattern, num_topics, spread):
                    {{moment}}
                    return num_topics ** sum(pattern) * moment * prod(num_topics - i for i in range(len(pattern)))
                """,
                "any-topics",
            ),
            Wrong(
                """
                from itertools import combinations
                from math import comb, factorial, prod

                def lift_of_words(pattern, num_topics, spread):
                    {{moment}}
                    orders = factorial(sum(pattern)) / prod(factorial(n) for n in pattern)
                    return num_topics ** sum(pattern) * moment * orders
                """,
                "any-order",
            ),
            Wrong(
                """
                from itertools import combinations
                from math import comb, factorial, prod

                def lift_of_words(pattern, num_topics, spread):
                    lift = 1.0
                    for a, b in combinations([t for t, n in enumerate(pattern) for _ in range(n)], 2):
                        pattern = (2,) if a == b else (1, 1)
                        {{moment}}
                        lift *= num_topics**2 * moment
                    return lift
                """,
                "pairs-only",
            ),
            Wrong(
                """
                from itertools import combinations
                from math import comb, factorial, prod

                def lift_of_words(pattern, num_topics, spread):
                    lift = 1.0
                    for n in pattern:
                        pattern = (n,)
                        {{moment}}
                        lift *= num_topics**n * moment
                    return lift
                """,
                "topics-independent",
            ),
            Wrong(
                """
                from itertools import combinations
                from math import comb, factorial, prod

                def lift_of_words(pattern, num_topics, spread):
                    pattern = (1,) * len(pattern)
                    {{moment}}
                    return num_topics ** sum(pattern) * moment
                """,
                "repeats-lost",
            ),
        ),
        hidden=_hidden_words,
        graded=True,
        explanation=r"""
            Given the weights, a position shows a given word of topic $t$ with probability $\theta_t / v$. So the lift is $T^k\, \mathbb{E} \prod_t \theta_t^{n_t}$ with the numbers $n_t$ of the pattern. {{why}}
        """,
        variants=(
            Variant(
                {"mixture": "dirichlet"},
                {
                    "skill": "moments of a Dirichlet distribution, or how Pólya's urn makes one",
                    "mixture_in_words": "drawn from a symmetric Dirichlet distribution with parameter `spread` for each topic",
                    "spread": "the Dirichlet's parameter of each topic",
                    "moment": "moment = prod(spread + i for n in pattern for i in range(n)) / prod(num_topics * spread + i for i in range(sum(pattern)))",
                    "other_moment": "other = exp(sum(lgamma(spread + n) - lgamma(spread) for n in pattern) + lgamma(num_topics * spread) - lgamma(num_topics * spread + k))",
                    "why": "For the Dirichlet the expectation is a quotient of rising factorials. Pólya's urn gives the same one word at a time: after $i$ words, $s$ of them of topic $t$, the next is of topic $t$ with probability $(\\alpha + s)/(T\\alpha + i)$.",
                },
            ),
            Variant(
                {"mixture": "fixed"},
                {
                    "skill": "counting sets of topics",
                    "mixture_in_words": "equal on $\\tau$ distinct topics chosen at random, with `spread` $= \\tau$, and zero on the others",
                    "spread": "the number of topics in a document",
                    "moment": "moment = prod((spread - i) / (num_topics - i) for i in range(len(pattern))) / spread ** sum(pattern)",
                    "other_moment": "other = comb(num_topics - topics, max(spread - topics, 0)) * (spread >= topics) / comb(num_topics, spread) / spread**k",
                    "why": "All $j$ topics of the pattern are among the $\\tau$ with probability $\\frac{\\tau (\\tau - 1) \\cdots (\\tau - j + 1)}{T (T - 1) \\cdots (T - j + 1)}$, and then each word has the weight $\\frac{1}{\\tau}$. With more than $\\tau$ topics in the pattern it is zero.",
                },
            ),
            Variant(
                {"mixture": "uniform"},
                {
                    "skill": "conditional expectation",
                    "mixture_in_words": "made in two steps: first the number of topics $\\tau$, each of $1, 2, \\dots,$ `spread` equally likely; then $\\tau$ distinct topics at random, with equal weights",
                    "spread": "the largest number of topics in a document",
                    "moment": "moment = sum(prod((t - i) / (num_topics - i) for i in range(len(pattern))) / t ** sum(pattern) for t in range(1, spread + 1)) / spread",
                    "other_moment": "other = sum(comb(num_topics - topics, t - topics) / comb(num_topics, t) / t**k for t in range(topics, spread + 1)) / spread",
                    "why": "For a given $\\tau$ all $j$ topics of the pattern are in the document with probability $\\frac{\\tau (\\tau - 1) \\cdots (\\tau - j + 1)}{T (T - 1) \\cdots (T - j + 1)}$, and then each word has the weight $\\frac{1}{\\tau}$. Average this over $\\tau$, not the $\\tau$ in it.",
                },
            ),
        ),
    ),
]

PAPER: list[PaperExercise] = [
    PaperExercise(
        id="3.1-paper-effective-topics",
        title="what the effective number of topics knows, and what not",
        level="core",
        minutes=30,
        objective="using a symmetry to count unknowns",
        prerequisites=(
            "[LDA and the effective number of topics](03_1_topic_models.ipynb#lda-the-topics-shares-are-random)",
            "[how often two words meet](03_1_topic_models.ipynb#how-often-two-words-meet)",
            "eigenvalues of a symmetric matrix",
        ),
        statement=r"""
            The topic weights $\theta$ of a document have any distribution that does not change when the topics are numbered in another way, and $\tau_{\text{eff}} = 1 / \mathbb{E} \sum_t \theta_t^2$. There are $T \geq 2$ topics of $v$
            equally likely words. (a) Prove that the two formulas of the chapter for $\mathbb{E}[p_{\mathbf{w}}(i)\, p_{\mathbf{w}}(j)]$ hold with $\tau_{\text{eff}}$ in place of $\tau$. (b) Find all eigenvalues of this matrix with their
            multiplicities. When is its rank $T$? (c) Show that the same is not true of three words: give two such distributions with $T = 3$ and the same $\tau_{\text{eff}}$, but with different probabilities that
            three words come from three different topics.
        """,
        graded=True,
        rubric=(
            (1, "(a): the moment of two words is the moment of their topics' weights divided by v squared."),
            (
                3,
                "(a): by symmetry there are two unknown moments (1 point); the definition gives the first (1 point); that the weights sum to 1 gives the second (1 point).",
            ),
            (1, "(b): the constant vector over the words has eigenvalue 1/(Tv)."),
            (
                2,
                "(b): vectors constant on topics with sum 0 have (T - tau)/(tau v T (T - 1)) with multiplicity T - 1 (1 point), vectors with sum 0 inside every topic have 0, multiplicity T(v - 1) (1 point).",
            ),
            (1, "(b): the rank is T exactly if the effective number is less than T."),
            (
                2,
                "(c): two symmetric distributions with equal effective number (1 point) and their different third moments, both computed (1 point).",
            ),
        ),
        model_answer=r"""
            (a) Given $\theta$, word $i$ of topic $s$ has probability $\theta_s / v$, so the moment is $\mathbb{E}[\theta_s \theta_t] / v^2$ with $s, t$ the topics of $i, j$. By symmetry $\mathbb{E}[\theta_t^2] = x$ for all $t$ and
            $\mathbb{E}[\theta_s \theta_t] = y$ for all $s \neq t$. The definition says $T x = 1/\tau_{\text{eff}}$. Taking the expectation of $(\sum_t \theta_t)^2 = 1$ gives $T x + T(T - 1) y = 1$. So
            $x = \frac{1}{\tau_{\text{eff}} T}$ and $y = \frac{1 - 1/\tau_{\text{eff}}}{T(T - 1)} = \frac{\tau_{\text{eff}} - 1}{\tau_{\text{eff}} T (T - 1)}$. Divided by $v^2$ these are the two formulas.

            (b) The matrix is constant on blocks of $v$ by $v$ words, $x/v^2$ on the diagonal blocks and $y/v^2$ elsewhere. A vector whose entries sum to 0 in every topic is sent to zero: $T(v - 1)$ dimensions. A vector with the
            value $z_t$ on topic $t$ is sent to the one with the values $\frac{1}{v}\left((x - y) z_t + y \sum_s z_s\right)$. If $\sum_s z_s = 0$ the eigenvalue is $\frac{x - y}{v} = \frac{T - \tau_{\text{eff}}}{\tau_{\text{eff}}\, v\, T (T - 1)}$, for $T - 1$ dimensions. The
            constant vector has $\frac{x + (T - 1) y}{v} = \frac{1}{Tv}$, since $T x + T(T - 1) y = 1$. That makes $Tv$ dimensions. As $\sum_t \theta_t^2 \geq \frac{1}{T}$, always $\tau_{\text{eff}} \leq T$. The rank is $T$ if $\tau_{\text{eff}} < T$, and 1 if
            $\tau_{\text{eff}} = T$.

            (c) Let $T = 3$. First: with probability $\frac{1}{3}$ the document has a single topic, otherwise two with equal weights, all chosen at random. Then $\mathbb{E} \sum_t \theta_t^2 = \frac{1}{3} + \frac{2}{3} \cdot \frac{1}{2} = \frac{2}{3}$, so
            $\tau_{\text{eff}} = \frac{3}{2}$, and three words never come from three topics. Second: the symmetric Dirichlet with $\alpha = \frac{1}{3}$. There $\tau_{\text{eff}} = \frac{T\alpha + 1}{\alpha + 1} = \frac{3}{2}$ too, but all weights are positive, and
            $\mathbb{E}[\theta_1 \theta_2 \theta_3] = \frac{\alpha^3}{1 \cdot 2 \cdot 3} = \frac{1}{162}$. There are six orders, so three words come from three topics with probability $\frac{1}{27}$, and not 0.
        """,
    ),
]
