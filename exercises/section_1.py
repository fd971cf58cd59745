"""Exercises of Section 1."""

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
from topiclib.checks.base import Answer, as_array, close, expect


def _hidden_critical_path(answer: Answer) -> None:
    expect(list(answer()) == list(answer()), "second-call", "it must give the same answer each time.")


def _hidden_pair_count(answer: Answer) -> None:
    document = np.random.default_rng(11).integers(1, 7, size=50)
    n = np.bincount(document, minlength=7)
    for i, j in ((1, 2), (6, 6), (3, 5)):
        expected = n[i] * n[j] - (n[i] if i == j else 0)
        expect(
            close(as_array(answer(document, i, j), (), "the count as a single number"), expected),
            "other-document",
            "another document fails.",
        )


def _hidden_find_topics(answer: Answer) -> None:
    topics = np.array([2, 0, 1, 1, 0, 2, 2, 1, 3])
    lift = np.where(topics[:, None] == topics, 1.4, 0.9)
    labels = as_array(answer(lift), (9,), "the labels")
    same = labels[:, None] == labels
    expect((same == (topics[:, None] == topics)).all(), "other-lift", "it fails on another lift matrix.")


def _hidden_expected_lift(answer: Answer) -> None:
    same, different = as_array(answer(2.0, 3), (2,), "the two lifts as a pair")
    expect(close([same, different], [9 / 7, 6 / 7]), "other-setting", "it fails for another alpha and T.")


def _hidden_topics(answer: Answer, asked: str = "labels") -> None:
    rng = np.random.default_rng(101)
    sizes = (5, 3, 3, 2, 7, 4, 1)
    topic_of = rng.permutation(np.repeat(np.arange(7), sizes))
    drawn = np.array([rng.choice(7, size=50, p=p) for p in rng.dirichlet(np.full(7, 0.15), 900)])
    first = np.cumsum(sizes) - sizes
    tokens = np.argsort(topic_of)[first[drawn] + (rng.random(drawn.shape) * np.array(sizes)[drawn]).astype(int)] + 1
    result = answer(tokens, 25)
    if asked == "sizes":
        right, found = np.sort(sizes)[::-1].astype(float), as_array(result, (7,), "the sizes of the topics")
        expect(close(found, right), "other-documents", "it fails for other documents.")
        return
    found = as_array(result, (25,), "one number for each word")
    same = topic_of[:, None] == topic_of
    good = close(found, same.sum(axis=1)) if asked == "mates" else ((found[:, None] == found) == same).all()
    expect(good, "other-documents", "it fails for other documents.")


EXERCISES: list[Exercise] = [
    Exercise(
        id="1-critical-path",
        title="the path of a prediction",
        level="warm-up",
        minutes=4,
        objective="the order of a transformer's parts, from the tokens to the prediction",
        prerequisites=(
            "[the question](01_introduction.ipynb#the-question)",
            "the diagram of [Section 2](02_overview.ipynb#the-idea), if you like",
        ),
        function="critical_path",
        statement=r"""
            Every prediction of the one-layer transformer passes through six things. Return their names as a list, in the order in which the
            information passes: `"attention weights"`, `"decoder"`, `"embedding layer"`, `"input tokens"`, `"output distribution"`,
            `"value matrix"`. (The words are mixed by attention first and mapped by the value matrix then. The diagram at the
            start of Section 2 helps if you have not met them yet.)
        """,
        stub='''
            def critical_path():
                """The six names, in order."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def critical_path():
                return [
                    "input tokens",
                    "embedding layer",
                    "attention weights",
                    "value matrix",
                    "decoder",
                    "output distribution",
                ]
        """,
        alternative="""
            def critical_path():
                place = {
                    "input tokens": 0, "embedding layer": 1, "attention weights": 2,
                    "value matrix": 3, "decoder": 4, "output distribution": 5,
                }
                return tuple(sorted(place, key=place.get))
        """,
        wrong=(
            Wrong(
                """
                def critical_path():
                    return ["input tokens", "attention weights", "embedding layer", "value matrix", "decoder", "output distribution"]
                """,
                "attention-before-embedding",
            ),
            Wrong(
                """
                def critical_path():
                    return ["input tokens", "embedding layer", "value matrix", "decoder", "attention weights", "output distribution"]
                """,
                "attention-late",
            ),
            Wrong(
                """
                def critical_path():
                    return ["input tokens", "embedding layer", "attention weights", "decoder", "value matrix", "output distribution"]
                """,
                "decoder-early",
            ),
            Wrong(
                """
                def critical_path():
                    return ["embedding layer", "attention weights", "value matrix", "decoder"]
                """,
                "not-the-six",
            ),
        ),
        hidden=_hidden_critical_path,
        explanation=r"""
            Tokens become vectors, vectors are mixed with the attention weights, the mixture is mapped by the value matrix, and the
            decoder turns the result into a score for each word, hence into a distribution. In the formula $\mathbf{W}^V \mathbf{Z} A$ the
            order of the last two does not matter, since $(\mathbf{W}^V \mathbf{Z}) A = \mathbf{W}^V (\mathbf{Z} A)$. In this model the
            decoder is the embedding layer again, transposed.
        """,
    ),
    Exercise(
        id="1-pair-count",
        title="count pairs of positions",
        level="warm-up",
        minutes=6,
        objective="what exactly is counted when two words co-occur",
        prerequisites=(
            "ordered pairs",
            "counting with NumPy",
        ),
        function="pair_count",
        statement=r"""
            `document` is a one-dimensional array or list of word ids. Return the number of ordered pairs of *different* positions $(m, n)$,
            $m \neq n$, with word `i` at $m$ and word `j` at $n$. The positions need not be neighbours. `i` and `j` may be equal.
        """,
        stub='''
            def pair_count(document, i, j):
                """Number of ordered pairs of different positions that hold i and j."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def pair_count(document, i, j):
                document = np.asarray(document)
                number_i, number_j = (document == i).sum(), (document == j).sum()
                return int(number_i * (number_i - 1) if i == j else number_i * number_j)
        """,
        alternative="""
            def pair_count(document, i, j):
                size = range(len(document))
                return sum(document[m] == i and document[n] == j for m in size for n in size if m != n)
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def pair_count(document, i, j):
                    document = np.asarray(document)
                    return (document == i).sum() * (document == j).sum()
                """,
                "position-with-itself",
            ),
            Wrong(
                """
                def pair_count(document, i, j):
                    return sum(a == i and b == j for a, b in zip(document, document[1:]))
                """,
                "neighbours-only",
            ),
            Wrong(
                """
                def pair_count(document, i, j):
                    return int(i in document and j in document)
                """,
                "presence-only",
            ),
            Wrong(
                """
                def pair_count(document, i, j):
                    size = range(len(document))
                    return sum(document[m] == i and document[n] == j for m in size for n in size if m < n)
                """,
                "one-order-only",
            ),
            Wrong(
                """
                def pair_count(document, i, j):
                    number_i, number_j = (document == i).sum(), (document == j).sum()
                    return number_i * (number_i - 1) if i == j else number_i * number_j
                """,
                "array-only",
            ),
        ),
        hidden=_hidden_pair_count,
        explanation=r"""
            With $n_i$ and $n_j$ occurrences there are $n_i n_j$ pairs. If $i = j$, each position also pairs with itself, which must go:
            $n_i (n_i - 1)$. Over all pairs of words the counts add up to $N(N-1)$, the number of pairs of positions.
        """,
    ),
    Exercise(
        id="1-find-topics",
        title="topics from counts alone",
        level="core",
        minutes=12,
        objective="to see that co-occurrence contains the topics, without any labels",
        prerequisites=(
            "[lift](01_introduction.ipynb#counting-alone-shows-the-blocks)",
            "NumPy's boolean arrays",
        ),
        function="find_topics",
        statement=r"""
            `lift` is a symmetric array of shape $(n, n)$ for $n$ words in *any* order, without [MASK]. Two words of the same topic have a lift above
            1, two of different topics below 1. Return one label for each word, an array or list of $n$ whole numbers, so that two words have equal
            labels exactly when they belong to the same topic. Which number a topic gets is up to you. You are not told how many topics there are.
        """,
        stub='''
            def find_topics(lift):
                """A label for each word: equal labels for words of the same topic."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def find_topics(lift):
                # The first word with which a word keeps company names its topic.
                return np.argmax(np.asarray(lift) > 1, axis=1)
        """,
        alternative="""
            def find_topics(lift):
                labels = [None] * len(lift)
                for i in range(len(lift)):
                    if labels[i] is None:
                        for j in range(len(lift)):
                            if j == i or lift[i][j] > 1:
                                labels[j] = i
                return labels
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def find_topics(lift):
                    return np.arange(len(lift)) // 10
                """,
                "order-assumed",
            ),
            Wrong(
                """
                import numpy as np

                def find_topics(lift):
                    return (np.asarray(lift) > 1).sum(axis=1)
                """,
                "companions-counted",
            ),
            Wrong(
                """
                import numpy as np

                def find_topics(lift):
                    return np.argmax(np.asarray(lift) < 1, axis=1)
                """,
                "topics-merged",
            ),
            Wrong(
                """
                import numpy as np

                def find_topics(lift):
                    return np.argmax(np.asarray(lift), axis=1)
                """,
                "topics-split",
            ),
            Wrong(
                """
                import numpy as np

                def find_topics(lift):
                    return np.argmax(np.asarray(lift) > 2, axis=1)
                """,
                "line-not-at-1",
            ),
            Wrong(
                """
                import numpy as np

                def find_topics(lift):
                    return np.argmax(np.asarray(lift) > np.mean(lift), axis=1)
                """,
                "line-not-at-1",
            ),
            Wrong(
                """
                import numpy as np

                def find_topics(lift):
                    return np.argmax(np.asarray(lift) > 0.5, axis=1)
                """,
                "topics-merged",
            ),
        ),
        hidden=_hidden_find_topics,
        graded=True,
        explanation=r"""
            Each row's entries above 1 are the word's topic, so all words of a topic have the same set of companions, and the first of
            them can serve as the label. With noisy counts one would use a clustering method; in the sandbox a threshold is enough.
        """,
    ),
    Exercise(
        id="1-expected-lift",
        title="the lift of a Dirichlet mixture",
        level="challenge",
        minutes=15,
        objective="to derive what counting will find, before counting",
        prerequisites=(
            "[lift](01_introduction.ipynb#counting-alone-shows-the-blocks)",
            "mean and variance of a Dirichlet distribution",
        ),
        function="expected_lift",
        statement=r"""
            Instead of looking at the formula in this chapter, derive it. Return the pair of expected lifts, within a topic and between topics, for
            `num_topics` $= T$ topics and a symmetric Dirichlet distribution with parameter `alpha` for each. Use that the lift is
            $T^2\, \mathbb{E}[\theta_t^2]$ and $T^2\, \mathbb{E}[\theta_s \theta_t]$. For the moments you may look up the mean and the variance of a
            Dirichlet distribution; the topics' probabilities sum to 1.
        """,
        stub='''
            def expected_lift(alpha, num_topics):
                """(lift of two words of the same topic, lift of two words of different topics)."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def expected_lift(alpha, num_topics):
                total = num_topics * alpha
                return num_topics * (alpha + 1) / (total + 1), total / (total + 1)
        """,
        alternative="""
            def expected_lift(alpha, num_topics):
                T = num_topics
                mean = 1 / T
                variance = mean * (1 - mean) / (T * alpha + 1)
                same = T**2 * (variance + mean**2)
                different = (T - same) / (T - 1)  # the lifts of a word with all topics average to 1
                return [same, different]
        """,
        wrong=(
            Wrong(
                """
                def expected_lift(alpha, num_topics):
                    total = num_topics * alpha
                    return total / (total + 1), num_topics * (alpha + 1) / (total + 1)
                """,
                "swapped",
            ),
            Wrong(
                """
                def expected_lift(alpha, num_topics):
                    return 1.0, 1.0
                """,
                "independent",
            ),
            Wrong(
                """
                def expected_lift(alpha, num_topics):
                    return float(num_topics), 0.0
                """,
                "one-topic-only",
            ),
            Wrong(
                """
                def expected_lift(alpha, num_topics):
                    return num_topics * (alpha + 1) / (alpha + 1 / num_topics), num_topics * alpha / (alpha + 1 / num_topics)
                """,
                "does-not-average",
            ),
            Wrong(
                """
                def expected_lift(alpha, num_topics):
                    total = alpha
                    same = num_topics**2 * ((1 / num_topics) * (1 - 1 / num_topics) / (total + 1) + 1 / num_topics**2)
                    return same, (num_topics - same) / (num_topics - 1)
                """,
                "concentration",
            ),
        ),
        hidden=_hidden_expected_lift,
        explanation=r"""
            With total concentration $T\alpha$: $\mathbb{E}[\theta_t^2] = \alpha(\alpha+1)/(T\alpha(T\alpha+1))$ and
            $\mathbb{E}[\theta_s\theta_t] = \alpha^2/(T\alpha(T\alpha+1))$. Multiply by $T^2$. As a check, the lifts of a word with one word from each
            topic average to 1. As $\alpha$ grows, every document has all topics evenly, both lifts go to 1, and there is nothing to learn.
        """,
    ),
    Exercise(
        id="1-topics-of-documents",
        title="from documents to topics",
        level="challenge",
        minutes=35,
        objective="the whole way from raw text to topics, without a model",
        prerequisites=(
            "[counting alone shows the blocks](01_introduction.ipynb#counting-alone-shows-the-blocks)",
            "exercise 1-find-topics",
        ),
        function="topics_of_documents",
        statement=r"""
            `tokens` holds about a thousand documents of a topic model, shape (documents, $N$), with word ids 1 to `num_words`, all of which occur. Each document has its own mixture of topics, from a symmetric Dirichlet distribution. Each word belongs to one topic, and a topic's words are equally likely. But the ids are in no order, the topics have
            *different numbers of words*, and you are not told how many topics there are. Find them. Return {{asked_in_words}}.
        """,
        stub='''
            def topics_of_documents(tokens, num_words):
                """{{docstring}}"""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def topics_of_documents(tokens, num_words):
                shares = np.stack([np.bincount(row, minlength=num_words + 1)[1:] for row in tokens]) / tokens.shape[1]
                joint, each = np.einsum("di,dj->ij", shares, shares) / len(tokens), shares.mean(axis=0)
                company = joint > np.outer(each, each)  # a lift above one; a word keeps company with itself
                labels = np.argmax(company, axis=1)
                {{result}}
        """,
        alternative="""
            import numpy as np

            def topics_of_documents(tokens, num_words):
                counts = np.zeros((len(tokens), num_words))
                for d, row in enumerate(tokens):
                    for w in row:
                        counts[d, w - 1] += 1
                related = np.corrcoef(counts.T) > 0
                labels = np.full(num_words, -1)
                for word in range(num_words):
                    if labels[word] >= 0:
                        continue
                    group = [word]
                    while group:
                        new = group.pop()
                        labels[new] = word
                        group += [x for x in np.flatnonzero(related[new]) if labels[x] < 0 and x not in group]
                {{result}}
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def topics_of_documents(tokens, num_words):
                    shares = np.stack([np.bincount(row, minlength=num_words + 1)[1:] for row in tokens]) / tokens.shape[1]
                    together, alone = shares.T @ shares / len(tokens), shares.mean(axis=0)
                    company = together > 0
                    labels = np.argmax(company, axis=1)
                    {{result}}
                """,
                "topics-merged",
            ),
            Wrong(
                """
                import numpy as np

                def topics_of_documents(tokens, num_words):
                    shares = np.stack([np.bincount(row, minlength=num_words + 1)[1:] for row in tokens]) / tokens.shape[1]
                    together, alone = shares.T @ shares / len(tokens), shares.mean(axis=0)
                    company = together > 20 * np.outer(alone, alone)
                    labels = np.where(company.any(axis=1), np.argmax(company, axis=1), np.arange(num_words))
                    {{result}}
                """,
                "topics-split",
            ),
            Wrong(
                """
                import numpy as np

                def topics_of_documents(tokens, num_words):
                    shares = np.stack([np.bincount(row, minlength=num_words + 1)[1:] for row in tokens]) / tokens.shape[1]
                    together, alone = shares.T @ shares / len(tokens), shares.mean(axis=0)
                    company = together > together.mean()
                    labels = np.array([min(np.flatnonzero(row)) if row.any() else num_words for row in company])
                    {{result}}
                """,
                "chance-ignored",
            ),
            Wrong(
                """
                import numpy as np

                def topics_of_documents(tokens, num_words):
                    shares = np.stack([np.bincount(row, minlength=num_words + 1)[1:] for row in tokens]) / tokens.shape[1]
                    together, alone = shares.T @ shares / len(tokens), shares.mean(axis=0)
                    company = together > np.outer(alone, alone)
                    labels = np.repeat(0, num_words)
                    {{result}}
                """,
                "topics-merged",
            ),
            Wrong(
                """
                import numpy as np

                def topics_of_documents(tokens, num_words):
                    shares = np.stack([np.bincount(row, minlength=num_words + 1)[:-1] for row in tokens]) / tokens.shape[1]
                    together, alone = shares.T @ shares / len(tokens), shares.mean(axis=0)
                    company = together > np.outer(alone, alone)
                    labels = np.argmax(company, axis=1)
                    {{result}}
                """,
                "shifted",
            ),
            Wrong(
                """
                import numpy as np

                def topics_of_documents(tokens, num_words):
                    shares = np.stack([np.bincount(row, minlength=num_words + 1)[1:] for row in tokens[:1]]) / tokens.shape[1]
                    together, alone = shares.T @ shares / len(tokens), shares.mean(axis=0)
                    company = (shares[0][:, None] > 0) & (shares[0] > 0)
                    labels = 1 * (shares[0] > 0)
                    {{result}}
                """,
                "topics-merged",
            ),
        ),
        hidden=_hidden_topics,
        graded=True,
        explanation=r"""
            Words of a small topic are frequent, and frequent words meet often in any case. So compare with chance: a lift above one means the same topic, below one different topics. Words of one topic then keep exactly the same company, and the first word of it can serve as the topic's label. With a thousand documents the two kinds are far apart; with
            few one would look at how the lifts are distributed before drawing a line.
        """,
        variants=(
            Variant(
                {"asked": "labels"},
                {
                    "asked_in_words": "one label for each word: an array of length `num_words`, with equal labels exactly for words of the same topic (which number a topic gets is up to you)",
                    "docstring": "A label for each word, equal exactly within a topic; shape (num_words,).",
                    "result": "return labels + 0",
                },
            ),
            Variant(
                {"asked": "sizes"},
                {
                    "asked_in_words": "the numbers of words of the topics, largest first",
                    "docstring": "The numbers of words of the topics, largest first.",
                    "result": "return np.sort(np.bincount(labels)[np.unique(labels)])[::-1]",
                },
            ),
            Variant(
                {"asked": "mates"},
                {
                    "asked_in_words": "for each word the number of words of its topic, itself included: an array of length `num_words`",
                    "docstring": "How many words the topic of each word has; shape (num_words,).",
                    "result": "return np.bincount(labels)[labels]",
                },
            ),
        ),
    ),
]

PAPER: list[PaperExercise] = [
    PaperExercise(
        id="1-paper-lift",
        title="what lift can and cannot be",
        level="core",
        minutes=25,
        objective="properties of lift from averages and inequalities alone",
        prerequisites=(
            "[lift](01_introduction.ipynb#counting-alone-shows-the-blocks)",
            "Jensen's inequality",
        ),
        statement=r"""
            Let $x_i$ be the share of word $i$ in a document and $\text{lift}(i, j) = \frac{\mathbb{E}[x_i x_j]}{\mathbb{E}[x_i]\, \mathbb{E}[x_j]}$, now for $i = j$ as well. (a) Prove that the lifts of a word with all words, averaged with the weights $\mathbb{E}[x_j]$, are 1. (b) Documents are infinitely long, and the distribution of the topic mixture $\theta$ does not change when
            the $T$ topics are renumbered. Prove that the lift within a topic is at least 1 and between topics at most 1. When is it 1? (c) Now documents have $N$ positions, drawn independently given $\theta$. Prove that for $i \neq j$ the lift is $1 - \frac{1}{N}$ times that of (b). (d) Drop the symmetry. Give a distribution of $\theta$ for which two words of
            *different* topics have a lift above 1. What would the method of this chapter make of it?
        """,
        graded=True,
        rubric=(
            (2, "(a): sums the numerators over j and uses that the shares of a document sum to 1."),
            (
                3,
                "(b): lift within a topic as T^2 E[theta_t^2] and mean 1/T by symmetry (1 point), Jensen with the case of equality, theta_t = 1/T always (1 point), and between topics from (a) (1 point).",
            ),
            (
                3,
                "(c): writes the product of counts as a sum over pairs of positions (1 point), for different words the N(N-1) pairs of different positions only (1 point), and divides by N^2 (1 point).",
            ),
            (1, "(d): a valid example with its lift computed."),
            (1, "(d): the two topics are taken for one."),
        ),
        model_answer=r"""
            (a) $\sum_j \mathbb{E}[x_j]\, \text{lift}(i, j) = \frac{1}{\mathbb{E}[x_i]} \mathbb{E}\left[x_i \sum_j x_j\right] = 1$, as $\sum_j x_j = 1$ in every document; and the weights $\mathbb{E}[x_j]$ sum to 1.

            (b) A word of topic $t$ has the share $x_i = \theta_t q_i$ with a fixed $q_i$, which cancels: $\text{lift}(i, j) = \frac{\mathbb{E}[\theta_s \theta_t]}{\mathbb{E}[\theta_s]\, \mathbb{E}[\theta_t]}$. By symmetry $\mathbb{E}[\theta_t] = \frac{1}{T}$. Within a topic this is $T^2\, \mathbb{E}[\theta_t^2] \geq T^2\, \mathbb{E}[\theta_t]^2 = 1$, with equality only if
            $\theta_t$ does not vary, so $\theta_t = \frac{1}{T}$ in every document. By symmetry all lifts between topics have one value $y$, and with $x$ for the value within a topic (a) says $\frac{1}{T} x + \frac{T - 1}{T} y = 1$. So $x \geq 1$ gives $y \leq 1$, with equality in the same case.

            (c) Let $n_i$ be the number of positions with word $i$. $n_i n_j = \sum_{m, n} \mathbb{1}[w_m = i]\, \mathbb{1}[w_n = j]$. For $i \neq j$ the terms with $m = n$ are 0. The other $N(N - 1)$ have the mean $\mathbb{E}[\theta_s q_i\, \theta_t q_j]$, as the positions are independent given $\theta$. So
            $\mathbb{E}[x_i x_j] = \frac{N(N - 1)}{N^2} \mathbb{E}[\theta_s q_i\, \theta_t q_j]$. The means $\mathbb{E}[x_i]$ do not depend on $N$. The quotient is $1 - \frac{1}{N}$.

            (d) Three topics. Half of the documents have $\theta = (\frac{1}{2}, \frac{1}{2}, 0)$, the others $(0, 0, 1)$. Between topics 1 and 2 the lift is $\frac{1}{2} \cdot \frac{1}{4} / \left(\frac{1}{4} \cdot \frac{1}{4}\right) = 2$. Topics 1 and 2 always occur together. Counting cannot tell them apart and takes them for one topic, and nothing else in the documents could.
        """,
    ),
]
