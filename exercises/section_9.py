"""Exercises of Section 9."""

import numpy as np

from exercises.format import Exercise, Wrong
from topiclib.checks.base import Answer, as_array, close, expect


def _hidden_path(answer: Answer) -> None:
    rng = np.random.default_rng(91)
    w_e, w_v = rng.normal(size=(3, 4)), rng.normal(size=(4, 3, 3))
    for residual in (True, False):
        got = as_array(answer(w_e, w_v, residual), (4, 4), "the matrix")
        path = w_e
        for w in w_v:
            path = (w + residual * np.eye(3)) @ path
        expect(close(got, w_e.T @ path, 1e-4), "other-depth", "it fails for another number of layers.")


def _hidden_parts(answer: Answer) -> None:
    p = np.array([0.0, 0.1, 0.2, 0.3, 0.15, 0.25])
    got = as_array(answer(p, 4, np.array([-1, 0, 0, 1, 1, 1]), np.array([-1, 1, 2, 0, 0, 0])), (3,), "three numbers")
    expect(close(got, -np.log([0.7, 1, 0.15 / 0.7]), 1e-4), "other-vocabulary", "it fails for a function word.")


def _hidden_expected(answer: Answer) -> None:
    rules = [("S", ("A", "A", "c"), 0.5), ("S", ("b",), 0.5), ("A", ("b", "B"), 0.25), ("A", ("c",), 0.75), ("B", ("b", "b"), 1.0)]
    for start, right in (("S", [1.25, 1.25]), ("A", [0.75, 0.75])):
        got = answer(rules, start)
        expect(isinstance(got, dict) and set(got) == {"b", "c"}, "other-symbols", "it fails for another grammar.")
        hint = "it fails for another grammar, or for a start that is not the first rule's."
        expect(close(as_array([got["b"], got["c"]], (2,), "two numbers"), right, 1e-4), "other-grammar", hint)


EXERCISES = [
    Exercise(
        id="9-whole-path",
        title="what all layers say together",
        level="warm-up",
        minutes=8,
        objective="the order of matrices in a deep linear model, and what a residual connection adds to it",
        function="prediction_of_one_token",
        statement=r"""
            A document consists of one token, so that every layer's attention is entirely on it. There is no layer norm and no bias. `w_e` has
            shape $(d, V)$, `w_v` has shape $(L, d, d)$, layer 1 first. Layer $l$ replaces its input $h$ by $\mathbf{W}^{V,l} h$, or with
            `residual` adds that to it. Return the matrix of shape $(V, V)$ whose column $j$ is the prediction for a document of token $j$
            alone, by the head that is tied to the embeddings.
        """,
        stub='''
            def prediction_of_one_token(w_e, w_v, residual):
                """(V, V): column j is the prediction for a document that consists of token j."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def prediction_of_one_token(w_e, w_v, residual):
                h = w_e
                for w in w_v:
                    h = w @ h + (h if residual else 0)
                return w_e.T @ h
        """,
        alternative="""
            import numpy as np

            def prediction_of_one_token(w_e, w_v, residual):
                layers = [np.asarray(w) + (np.eye(len(w)) if residual else 0) for w in w_v]
                product = np.eye(len(w_e))
                for layer in layers[::-1]:
                    product = product @ layer
                return np.asarray(w_e).T @ product @ np.asarray(w_e)
        """,
        wrong=(
            Wrong(
                """
                def prediction_of_one_token(w_e, w_v, residual):
                    h = w_e
                    for w in w_v[::-1]:
                        h = w @ h + (h if residual else 0)
                    return w_e.T @ h
                """,
                "layers-reversed",
            ),
            Wrong(
                """
                def prediction_of_one_token(w_e, w_v, residual):
                    h = w_e
                    for w in w_v:
                        h = w @ h
                    return w_e.T @ h
                """,
                "no-residual",
            ),
            Wrong(
                """
                def prediction_of_one_token(w_e, w_v, residual):
                    h = w_e
                    for w in w_v:
                        h = w @ h
                    return w_e.T @ (h + w_e if residual else h)
                """,
                "one-residual",
            ),
            Wrong(
                """
                def prediction_of_one_token(w_e, w_v, residual):
                    h = w_e
                    for w in w_v:
                        h = w @ w_e + (h if residual else 0)
                    return w_e.T @ h
                """,
                "layers-side-by-side",
            ),
            Wrong(
                """
                def prediction_of_one_token(w_e, w_v, residual):
                    h = w_e
                    for w in w_v:
                        h = w.T @ h + (h if residual else 0)
                    return w_e.T @ h
                """,
                "values-transposed",
            ),
        ),
        hidden=_hidden_path,
        explanation=r"""
            With all attention on one token $Z A = Z$ in every layer. So layer $l$ is the matrix $\mathbf{W}^{V,l}$, or
            $\mathbf{I} + \mathbf{W}^{V,l}$ with a residual connection, and the layers are multiplied with the last one on the left. Without
            residual connections only the product matters: $\mathbf{W}^{V,2} \mathbf{R}$ and $\mathbf{R}^{-1} \mathbf{W}^{V,1}$ give the same
            predictions for every invertible $\mathbf{R}$. So no single $\mathbf{W}^{V,l}$ needs to tie a topic to itself.
        """,
    ),
    Exercise(
        id="9-loss-parts",
        title="the loss of a word, by what it takes to know it",
        level="core",
        minutes=12,
        objective="to split a cross-entropy by the chain rule, so that each kind of knowledge has its own number",
        function="split_loss",
        statement=r"""
            `p` of shape $(V,)$ holds predicted probabilities that sum to one. `category_of` and `topic_of` of shape $(V,)$ give the category and
            the topic of each token; function words have topic 0, [MASK] has $-1$ in both. The hidden word is `word`. Return three numbers in
            nats: the loss of its category, the loss of its topic given its category, and the loss of the word given both. They sum to
            $-\log p_{\text{word}}$.
        """,
        stub='''
            def split_loss(p, word, category_of, topic_of):
                """(loss of the category, of the topic given the category, of the word given both), in nats."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def split_loss(p, word, category_of, topic_of):
                p, c, t = map(np.asarray, (p, category_of, topic_of))
                in_category = p[c == c[word]].sum()
                in_class = p[(c == c[word]) & (t == t[word])].sum()
                return -np.log([in_category, in_class / in_category, p[word] / in_class])
        """,
        alternative="""
            from math import log

            def split_loss(p, word, category_of, topic_of):
                category = topic = 0.0
                for i in range(len(p)):
                    if category_of[i] == category_of[word]:
                        category += float(p[i])
                        topic += float(p[i]) * (topic_of[i] == topic_of[word])
                return [-log(category), log(category) - log(topic), log(topic) - log(float(p[word]))]
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def split_loss(p, word, category_of, topic_of):
                    in_category = p[category_of == category_of[word]].sum()
                    in_topic = p[topic_of == topic_of[word]].sum()
                    in_class = p[(category_of == category_of[word]) & (topic_of == topic_of[word])].sum()
                    return -np.log([in_category, in_topic, p[word] / in_class])
                """,
                "topic-without-category",
            ),
            Wrong(
                """
                import numpy as np

                def split_loss(p, word, category_of, topic_of):
                    in_category = p[category_of == category_of[word]].sum()
                    in_class = p[(category_of == category_of[word]) & (topic_of == topic_of[word])].sum()
                    return -np.log([in_category, in_class, p[word]])
                """,
                "not-conditional",
            ),
            Wrong(
                """
                import numpy as np

                def split_loss(p, word, category_of, topic_of):
                    in_topic = p[topic_of == topic_of[word]].sum()
                    in_class = p[(category_of == category_of[word]) & (topic_of == topic_of[word])].sum()
                    return -np.log([in_class / in_topic, in_topic, p[word] / in_class])
                """,
                "topic-first",
            ),
            Wrong(
                """
                import numpy as np

                def split_loss(p, word, category_of, topic_of):
                    category = category_of == category_of[word]
                    both = category & (topic_of == topic_of[word])
                    return np.log([len(p) / category.sum(), category.sum() / both.sum(), both.sum()])
                """,
                "ignores-prediction",
            ),
            Wrong(
                """
                import numpy as np

                def split_loss(p, word, category_of, topic_of):
                    in_category = p[category_of == category_of[word]].sum()
                    in_class = p[(category_of == category_of[word]) & (topic_of == topic_of[word])].sum()
                    return -np.log2([in_category, in_class / in_category, p[word] / in_class])
                """,
                "bits",
            ),
        ),
        hidden=_hidden_parts,
        explanation=r"""
            $P(\text{word}) = P(\text{category}) \cdot P(\text{topic} \mid \text{category}) \cdot P(\text{word} \mid \text{category, topic})$, since
            a word has one category and one topic. Each factor is a ratio of sums of predictions, and the logarithm turns the product into
            a sum. For a function word the middle part is zero: its category leaves one topic label only.
        """,
    ),
    Exercise(
        id="9-expected-words",
        title="how many words of each category a grammar makes",
        level="challenge",
        minutes=18,
        objective="to compute an expectation over a probabilistic grammar without listing its sentences",
        function="expected_words",
        statement=r"""
            `rules` is a list of `(left, right, probability)`, such as `("NP", ("Det", "N"), 0.5)`: the symbol `left` becomes the symbols `right`.
            Symbols that are on no left side are categories of words. No symbol can come back among what becomes of it. Return a dictionary with
            the expected number of words of each category (all that occur on a right side) in a sentence that begins with the symbol `start`.
        """,
        stub='''
            def expected_words(rules, start):
                """{category: expected number of its words in a sentence}."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def expected_words(rules, start):
                lefts = {left for left, _, _ in rules}
                found = {symbol: 0.0 for _, right, _ in rules for symbol in right if symbol not in lefts}

                def add(symbol, times):
                    if symbol in found:
                        found[symbol] += times
                    for left, right, probability in rules:
                        if left == symbol:
                            for part in right:
                                add(part, times * probability)

                add(start, 1.0)
                return found
        """,
        alternative="""
            import numpy as np

            def expected_words(rules, start):
                symbols = sorted({start, *(s for left, right, _ in rules for s in (left, *right))})
                moves = np.zeros((len(symbols), len(symbols)))
                for left, right, probability in rules:
                    for symbol in right:
                        moves[symbols.index(left), symbols.index(symbol)] += probability
                visits = np.linalg.inv(np.eye(len(symbols)) - moves)[symbols.index(start)]
                return {s: float(n) for s, n in zip(symbols, visits) if s not in {left for left, _, _ in rules}}
        """,
        wrong=(
            Wrong(
                """
                def expected_words(rules, start):
                    lefts = {left for left, _, _ in rules}
                    found = {s: 0.0 for _, right, _ in rules for s in right if s not in lefts}
                    for left, right, probability in rules:
                        for s in right:
                            if s in found:
                                found[s] += probability
                    return found
                """,
                "every-rule-once",
            ),
            Wrong(
                """
                def expected_words(rules, start):
                    lefts = {left for left, _, _ in rules}
                    found = {s: 0.0 for _, right, _ in rules for s in right if s not in lefts}

                    def add(symbol):
                        if symbol in found:
                            found[symbol] += 1
                        for left, right, probability in rules:
                            if left == symbol:
                                for part in right:
                                    add(part)

                    add(start)
                    return found
                """,
                "no-probabilities",
            ),
            Wrong(
                """
                def expected_words(rules, start):
                    lefts = {left for left, _, _ in rules}
                    found = {s: 0.0 for _, right, _ in rules for s in right if s not in lefts}

                    def add(symbol, times):
                        if symbol in found:
                            found[symbol] += times
                        for left, right, probability in rules:
                            if left == symbol:
                                for part in set(right):
                                    add(part, times * probability)

                    add(start, 1.0)
                    return found
                """,
                "repeats-lost",
            ),
            Wrong(
                """
                def expected_words(rules, start):
                    lefts = {left for left, _, _ in rules}
                    found = {s: 0.0 for _, right, _ in rules for s in right if s not in lefts}

                    def add(symbol, times):
                        if symbol in found:
                            found[symbol] += times
                        for left, right, probability in rules:
                            if left == symbol:
                                for part in right:
                                    add(part, times * probability)

                    add(start, 1.0)
                    whole = sum(found.values())
                    return {s: n / whole for s, n in found.items()}
                """,
                "shares",
            ),
            Wrong(
                """
                def expected_words(rules, start):
                    best = {}
                    for left, right, probability in rules:
                        if probability > best.get(left, ((), 0))[1]:
                            best[left] = (right, probability)
                    found = {s: 0.0 for _, right, _ in rules for s in right if s not in best}

                    def add(symbol):
                        if symbol in found:
                            found[symbol] += 1
                        else:
                            for part in best[symbol][0]:
                                add(part)

                    add(start)
                    return found
                """,
                "likeliest-only",
            ),
        ),
        hidden=_hidden_expected,
        explanation=r"""
            Expectations add up, so one never needs the list of sentences. If a symbol is expected $x$ times, each of its rules is used
            $x$ times its probability, and passes that on to every symbol on its right, as often as it stands there. As a linear system:
            with $M_{ab}$ the expected number of symbols $b$ that one symbol $a$ is replaced by, the visits from the start are a row of
            $\mathbf{I} + \mathbf{M} + \mathbf{M}^2 + \dots = (\mathbf{I} - \mathbf{M})^{-1}$. That form also works for recursive grammars, as
            long as sentences do not grow without end.
        """,
    ),
]
