"""Exercises of Section 9."""

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
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


def _hidden_category(answer: Answer, asked: str = "uncertainty in two sentences") -> None:
    rules = [("S", ("a", "T"), 0.6), ("S", ("T", "b"), 0.4), ("T", ("a",), 0.3), ("T", ("b", "b"), 0.5), ("T", ("a", "b"), 0.2)]
    one = {"aa": 0.18, "abb": 0.38, "aab": 0.12, "ab": 0.12, "bbb": 0.2}
    two = [(first + second, p * q) for first, p in one.items() for second, q in one.items()]
    single = asked == "uncertainty in one sentence"
    for shown, place in (
        (([None, "b", None], 0),) if single else (([None, "b", None, None, None], 3), (["a", None, None, None, "b"], 1))
    ):
        weights: dict[str, float] = {}
        for text, p in one.items() if single else two:
            if len(text) == len(shown) and all(s in (None, w) for s, w in zip(shown, text, strict=True)):
                weights[text[place]] = weights.get(text[place], 0) + p
        chances = np.array(list(weights.values())) / sum(weights.values())
        right = chances.max() if asked.startswith("best") else -chances @ np.log(chances)
        found = as_array(answer(rules, "S", shown, place), (), "one number")
        expect(close(found, right, 1e-4), "other-grammar", "it fails for another grammar.")


EXERCISES = [
    Exercise(
        id="9-whole-path",
        title="what all layers say together",
        level="warm-up",
        minutes=8,
        objective="the order of matrices in a deep linear model, and what a residual connection adds to it",
        prerequisites=(
            "[several layers](09_conclusion.ipynb#several-layers)",
            "order of a matrix product",
        ),
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
        prerequisites=(
            "[the loss in three parts](09_conclusion.ipynb#a-syntax-sandbox)",
            "conditional probability",
        ),
        graded=True,
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
        prerequisites=(
            "[the grammar of the sandbox](09_conclusion.ipynb#a-syntax-sandbox)",
            "recursion",
        ),
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
    Exercise(
        id="9-hidden-category",
        title="the best possible prediction of a category",
        level="challenge",
        minutes=40,
        objective="to get a yardstick for the syntax of a sandbox from its grammar",
        prerequisites=(
            "[the yardsticks of the sandbox](09_conclusion.ipynb#a-syntax-sandbox)",
            "Bayes' rule",
            "recursion or dynamic programming",
        ),
        graded=True,
        function="hidden_category",
        statement=r"""
            `rules` is a list of `(left, right, probability)` as in exercise 9-expected-words; symbols on no left side are categories of words. A
            document is {{number}} from the symbol `start`. The reader knows the grammar and the number of words.
            `shown` lists the category of each word, or `None` where it is hidden; several may be. Let $P$ be the distribution of the category at the hidden position `place`, counted
            from 0, given all that the reader knows. Return {{asked}}. Where one sentence ends and another begins is not shown. Some sentences can come from the rules
            in more than one way, and what is shown is possible.
        """,
        stub="""
            def hidden_category(rules, start, shown, place):
                \"\"\"{{described}}.\"\"\"
                raise NotImplementedError("your answer")
        """,
        reference="""
            import math

            def hidden_category(rules, start, shown, place):
                lefts = {left for left, _, _ in rules}
                weight = {}

                def read(symbols, at, probability, category):
                    if not symbols:
                        if at == len(shown):
                            weight[category] = weight.get(category, 0) + probability
                        return
                    first, rest = symbols[0], symbols[1:]
                    if first in lefts:
                        for left, right, chance in rules:
                            if left == first:
                                read((*right, *rest), at, probability * chance, category)
                    elif at < len(shown) and shown[at] in (None, first):
                        read(rest, at + 1, probability, first if at == place else category)

                read({{starts}}, 0, 1.0, None)
                chances = [w / sum(weight.values()) for w in weight.values()]
                return {{result}}
        """,
        alternative="""
            import math
            from collections import Counter

            def hidden_category(rules, start, shown, place):
                def strings(symbols):
                    if not symbols:
                        return Counter({(): 1.0})
                    first, found = Counter(), Counter()
                    for left, right, chance in rules:
                        if left == symbols[0]:
                            for words, p in strings(tuple(right)).items():
                                first[words] += chance * p
                    for words, p in (first or Counter({symbols[:1]: 1.0})).items():
                        for others, q in strings(symbols[1:]).items():
                            found[words + others] += p * q
                    return found

                posterior = Counter()
                for words, p in strings({{starts}}).items():
                    if len(words) == len(shown) and not any(s and s != w for s, w in zip(shown, words)):
                        posterior[words[place]] += p
                chances = [p / posterior.total() for p in posterior.values()]
                return {{result}}
        """,
        wrong=(
            Wrong(
                """
                import math

                def hidden_category(rules, start, shown, place):
                    lefts = {rule[0] for rule in rules}

                    def expand(symbols):
                        if not symbols:
                            yield (), 1.0
                            return
                        heads = [((symbols[0],), 1.0)]
                        if symbols[0] in lefts:
                            heads = [
                                (words, bool(probability) * chance)
                                for left, right, probability in rules
                                if left == symbols[0]
                                for words, chance in expand(tuple(right))
                            ]
                        for head, chance in heads:
                            for rest, other in expand(symbols[1:]):
                                yield head + rest, chance * other

                    found = {}
                    for words, chance in expand({{starts}}):
                        if len(words) == len(shown) and all(s in (None, w) for s, w in zip(shown, words)):
                            found[words[place]] = found.get(words[place], 0) + chance
                    chances = [chance / sum(found.values()) for chance in found.values()]
                    return {{result}}
                """,
                "no-probabilities",
            ),
            Wrong(
                """
                import math

                def hidden_category(rules, start, shown, place):
                    lefts = {rule[0] for rule in rules}

                    def expand(symbols):
                        if not symbols:
                            yield (), 1.0
                            return
                        heads = [((symbols[0],), 1.0)]
                        if symbols[0] in lefts:
                            heads = [
                                (words, probability * chance)
                                for left, right, probability in rules
                                if left == symbols[0]
                                for words, chance in expand(tuple(right))
                            ]
                        for head, chance in heads:
                            for rest, other in expand(symbols[1:]):
                                yield head + rest, chance * other

                    found = {}
                    for words, chance in expand({{starts}}):
                        if len(words) > place and all(s in (None, w) for s, w in zip(shown, words)):
                            found[words[place]] = found.get(words[place], 0) + chance
                    chances = [chance / sum(found.values()) for chance in found.values()]
                    return {{result}}
                """,
                "length-ignored",
            ),
            Wrong(
                """
                import math

                def hidden_category(rules, start, shown, place):
                    lefts = {rule[0] for rule in rules}

                    def expand(symbols):
                        if not symbols:
                            yield (), 1.0
                            return
                        heads = [((symbols[0],), 1.0)]
                        if symbols[0] in lefts:
                            heads = [
                                (words, probability * chance)
                                for left, right, probability in rules
                                if left == symbols[0]
                                for words, chance in expand(tuple(right))
                            ]
                        for head, chance in heads:
                            for rest, other in expand(symbols[1:]):
                                yield head + rest, chance * other

                    found = {}
                    for words, chance in expand({{starts}}):
                        if len(words) == len(shown):
                            found[words[place]] = found.get(words[place], 0) + chance
                    chances = [chance / sum(found.values()) for chance in found.values()]
                    return {{result}}
                """,
                "context-ignored",
            ),
            Wrong(
                """
                import math

                def hidden_category(rules, start, shown, place):
                    lefts = {rule[0] for rule in rules}

                    def expand(symbols):
                        if not symbols:
                            yield (), 1.0
                            return
                        heads = [((symbols[0],), 1.0)]
                        if symbols[0] in lefts:
                            heads = [
                                (words, probability * chance)
                                for left, right, probability in rules
                                if left == symbols[0]
                                for words, chance in expand(tuple(right))
                            ]
                        for head, chance in heads:
                            for rest, other in expand(symbols[1:]):
                                yield head + rest, chance * other

                    found = {}
                    for words, chance in expand({{starts}}):
                        if len(words) == len(shown) and all(s in (None, w) for s, w in zip(shown[:place], words)):
                            found[words[place]] = found.get(words[place], 0) + chance
                    chances = [chance / sum(found.values()) for chance in found.values()]
                    return {{result}}
                """,
                "left-side-only",
            ),
            Wrong(
                """
                import math

                def hidden_category(rules, start, shown, place):
                    lefts = {rule[0] for rule in rules}

                    def expand(symbols):
                        if not symbols:
                            yield (), 1.0
                            return
                        heads = [((symbols[0],), 1.0)]
                        if symbols[0] in lefts:
                            heads = [
                                (words, probability * chance)
                                for left, right, probability in rules
                                if left == symbols[0]
                                for words, chance in expand(tuple(right))
                            ]
                        for head, chance in heads:
                            for rest, other in expand(symbols[1:]):
                                yield head + rest, chance * other

                    found = {}
                    for words, chance in expand({{starts}}):
                        if len(words) == len(shown) and all(s in (None, w) for s, w in zip(shown, words)):
                            found[words[place]] = found.get(words[place], 0) + chance
                    chances = [chance / 1 for chance in found.values()]
                    return {{result}}
                """,
                "not-normalised",
            ),
            Wrong(
                """
                import math

                def hidden_category(rules, start, shown, place):
                    lefts = {rule[0] for rule in rules}

                    def expand(symbols):
                        if not symbols:
                            yield (), 1.0
                            return
                        heads = [((symbols[0],), 1.0)]
                        if symbols[0] in lefts:
                            heads = [
                                (words, probability * chance)
                                for left, right, probability in rules
                                if left == symbols[0]
                                for words, chance in expand(tuple(right))
                            ]
                        for head, chance in heads:
                            for rest, other in expand(symbols[1:]):
                                yield head + rest, chance * other

                    found = {}
                    for words, chance in expand({{starts}}):
                        if len(words) == len(shown) and all(s in (None, w) for s, w in zip(shown, words)):
                            found[words] = found.get(words, 0) + chance
                    chances = [chance / sum(found.values()) for chance in found.values()]
                    return {{result}}
                """,
                "whole-sentence",
            ),
        ),
        hidden=_hidden_category,
        variants=(
            Variant(
                {"asked": "uncertainty in two sentences"},
                {
                    "number": "two sentences, one after the other, drawn independently",
                    "asked": "its entropy in nats, the least expected loss there",
                    "described": "Least expected loss, in nats, for the hidden category at `place` in a document of two sentences",
                    "starts": "(start, start)",
                    "result": "-sum(c * math.log(c) for c in chances)",
                },
            ),
            Variant(
                {"asked": "uncertainty in one sentence"},
                {
                    "number": "one sentence",
                    "asked": "its entropy in nats, the least expected loss there",
                    "described": "Least expected loss, in nats, for the hidden category at `place` in a document of one sentence",
                    "starts": "(start,)",
                    "result": "-sum(c * math.log(c) for c in chances)",
                },
            ),
            Variant(
                {"asked": "best guess in two sentences"},
                {
                    "number": "two sentences, one after the other, drawn independently",
                    "asked": "the probability that the best single guess at the category is right",
                    "described": "Chance that the best guess at the category at `place` is right, in a document of two sentences",
                    "starts": "(start, start)",
                    "result": "max(chances)",
                },
            ),
        ),
        explanation=r"""
            Go through all ways in which the rules make the document, drop those that have another number of words or contradict what is shown, and sum the probabilities of the rest by the
            category at the place. Divide by their sum: that is Bayes' rule. Sentences after one another are one more rule, from the document to its sentences. For long documents one does not list,
            but carries sums from left to right and from right to left, as the chapter's yardstick does.
        """,
    ),
]

PAPER = [
    PaperExercise(
        id="9-paper-powers",
        title="how flat the start is, by depth and residual connections",
        level="challenge",
        minutes=35,
        objective="to predict from powers alone who moves first in a deep model",
        prerequisites=(
            "[several layers](09_conclusion.ipynb#several-layers)",
            "[the gradients at the start](08_1_two_stages_discussed.ipynb#the-gradients-at-the-start)",
        ),
        graded=True,
        statement=r"""
            Take the model of this chapter with $L$ layers, no layer norm, no biases and squared loss. All its matrices are $\varepsilon$ times fixed random ones. A gradient is of order $k$ if its
            size is in proportion to $\varepsilon^k$ as $\varepsilon \to 0$.

            1. Without residual connections: of which order are the gradients of $\mathbf{W}^E$ and of each $\mathbf{W}^{V,l}$?
            2. With residual connections: the same question.
            3. Of which order is the gradient of $\mathbf{W}^{K,1}$, in both cases?
            4. Without residual connections and with $L = 2$, the gradient of $\mathbf{W}^{K,2}$ is of a far higher order than one would expect from counting factors as in part 3. Why? (The
               order itself is not asked.)
            5. A weight of size $w$ grows as $\dot w = w^{k}$ from $\varepsilon$. How does the time that it needs to double depend on $\varepsilon$, for $k = 1$ and for $k > 1$? Which observation of the chapter on SGD does this explain?
        """,
        rubric=(
            (
                2,
                "Part 1: order L + 1 for both: the prediction is a product of L + 2 matrices, and the error is of order zero at the start. One point for the product without the order.",
            ),
            (
                2,
                "Part 2: W^E of order 1, from the path that goes past all layers, and W^V of order 2, from the path through that layer alone. One point each.",
            ),
            (
                2,
                "Part 3: plain L + 5, residual 6: the effect of moving attention (L + 2 or 3) times W^Q and two vectors of layer 1, each of order 1. One point if one of the two is right or both with a slip in one factor.",
            ),
            (
                2,
                "Part 4: attention of the first layer is nearly uniform, so all columns that leave it are nearly equal; moving the attention of the second between equal vectors changes nothing.",
            ),
            (
                2,
                "Part 5: constant for k = 1, in proportion to 1/epsilon^(k-1) for k > 1 (one point); so SGD without residual connections does not leave the start (k = L + 1), while with them the embeddings grow at once and the rest follows (one point).",
            ),
        ),
        model_answer=r"""
            1. The prediction is $\mathbf{W}^{E\top} \mathbf{W}^{V,L} A_{\ldots} \cdots \mathbf{W}^{V,1} \mathbf{W}^E$ times one-hot vectors and attention weights, of which the latter are near $\frac1N$: $L + 2$ factors of order 1. So the prediction is tiny, the error
            is minus the target up to that, of order zero, and the derivative by one factor has $L + 1$ factors left. Both kinds of gradients are of order $L + 1$.

            2. The prediction is a sum over paths, $\mathbf{W}^{E\top} \mathbf{W}^E$ (past all layers), $\mathbf{W}^{E\top} \mathbf{W}^{V,l} \mathbf{W}^E$ (through one), and longer ones. The shortest path that contains a matrix decides: for $\mathbf{W}^E$ one factor is left, order 1; for
            $\mathbf{W}^{V,l}$ two, order 2.

            3. A score is $(\mathbf{W}^K h)^\top (\mathbf{W}^Q h')/\sqrt{d_a}$ with $h, h'$ columns of $\mathbf{W}^E$, so its derivative by $\mathbf{W}^{K,1}$ has three factors of order 1. It is multiplied by the derivative of the loss by the score: what moving attention does to the
            prediction. Without residual connections that is of order $L + 2$, with them the shortest path through the values of layer 1 has order 3. In all $L + 5$ and $6$.

            4. With scores of order $\varepsilon^4$ the attention of layer 1 is nearly uniform. Then all columns of $\mathbf{H}_1$ are nearly the same vector (without a residual connection nothing else is in them). Layer 2 chooses between equal vectors, and whatever it attends to, its output is the
            same. What differs between the columns is smaller by the deviation of the first layer's attention from uniform, so the gradient contains these additional factors. With a residual connection each column keeps its own token.

            5. For $k = 1$ the time to double is $\ln 2$, whatever the start. For $k > 1$, $\dot w = w^k$ gives $\frac{1}{k-1}(\varepsilon^{1-k} - (2\varepsilon)^{1-k})$, in proportion to $\varepsilon^{-(k-1)}$. In the chapter SGD without either switch has not left the start after all its steps: with $L = 2$ all
            gradients that matter are of order 3. With residual connections $\mathbf{W}^E$ has $k = 1$ and grows exponentially from the first step, and with it the gradients of the values and then those of the keys. (Adam divides the size of the gradient out and sees none of this.)
        """,
    ),
]
