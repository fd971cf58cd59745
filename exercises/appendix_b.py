"""Exercises of Appendix B."""

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
from topiclib.checks.base import Answer, as_array, close, expect


def _hidden_absorb_bias(answer: Answer) -> None:
    rng = np.random.default_rng(201)
    e, b = rng.normal(size=(9, 9)), rng.normal(size=9)
    x = np.append(0.3, rng.dirichlet(np.ones(8)) * 0.7)
    got = as_array(answer(e, b, 0.3), (9, 9), "E'")
    expect(close(got @ x, e @ x + b), "other-settings", "it fails for another size.")


def _hidden_possible_constants(answer: Answer) -> None:
    for u, wanted in (([-4, 1, 2, 3, 0, 2, 4], True), ([-4, 1, 2, 3, 0, 2, 5], False), ([4, -1, -2, -3, 0, -2, -4], False)):
        got = as_array(answer(u, 2, 2, 3), (), "True or False")
        expect(got == wanted, "other-settings", "it fails for two topics of three words.")


def _hidden_unequal_topics(answer: Answer) -> None:
    got = as_array(answer(0.5, np.array([0.25, 0.1, 4.0]), 0.5), (3,), "one eigenvalue for each direction")
    expect(close(got, [1.0, 0.0, 1.9375]), "other-settings", "it fails for other variances.")


def _hidden_best_embedding(answer: Answer, tokens: str = "columns", mask: int = 0) -> None:
    for d in (1, 3, 6):
        w = as_array(answer(d, 0.7, 6, 2), (d, 13) if tokens == "columns" else (13, d), "the embeddings")
        expect(close((w**2).sum(), d / 0.7), "other-settings", "its squared Frobenius norm is not d/a for six topics of two words.")


# What the variants of b-best-embedding are told.
_COLUMNS = {
    "shape": "$(d, Tv + 1)$",
    "line": "column",
    "layout": "np.hstack([np.zeros((d, 1)), words])",
    "transposed": "np.hstack([np.zeros((d, 1)), words]).T",
    "misplaced": "np.hstack([words, np.zeros((d, 1))])",
}
_ROWS = {
    "shape": "$(Tv + 1, d)$",
    "line": "row",
    "layout": "np.vstack([np.zeros((1, d)), words.T])",
    "transposed": "np.vstack([np.zeros((1, d)), words.T]).T",
    "misplaced": "np.vstack([words.T, np.zeros((1, d))])",
}
_COLUMNS_MASK_LAST = _COLUMNS | {"layout": _COLUMNS["misplaced"], "misplaced": _COLUMNS["layout"]}
_ROWS_MASK_LAST = _ROWS | {"layout": _ROWS["misplaced"], "misplaced": _ROWS["layout"]}

EXERCISES = [
    Exercise(
        id="b-absorb-bias",
        title="a bias as a weight on [MASK]",
        level="warm-up",
        minutes=5,
        objective="equation B.16: what a constant input can be used for",
        prerequisites=(
            "equation B.16 ([From Lemma 1 to Theorem 1](appendix_b.ipynb#from-lemma-1-to-theorem-1))",
            "adding to one column of a NumPy array",
        ),
        function="absorb_bias",
        statement=r"""
            In every masked document the entry of $\mathbf{x}$ for [MASK] is the same number $m$. Given $\mathbf{E}$ (`e`, shape $(V, V)$) and a bias (`b`, shape
            $(V,)$), return $\mathbf{E}'$ of shape $(V, V)$ with $\mathbf{E}' \mathbf{x} = \mathbf{E} \mathbf{x} + \mathbf{b}$ for all these $\mathbf{x}$. Change only what is needed: one column.
        """,
        stub='''
            def absorb_bias(e, b, m):
                """E' of equation B.16."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def absorb_bias(e, b, m):
                absorbed = np.array(e, dtype=float)
                absorbed[:, 0] += np.asarray(b) / m
                return absorbed
        """,
        alternative="""
            import numpy as np

            def absorb_bias(e, b, m):
                first = np.eye(len(b))[0]
                return np.asarray(e) + np.outer(b, first / m)
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def absorb_bias(e, b, m):
                    absorbed = np.array(e, dtype=float)
                    absorbed[:, 0] += b
                    return absorbed
                """,
                "not-divided",
            ),
            Wrong(
                """
                import numpy as np

                def absorb_bias(e, b, m):
                    absorbed = np.array(e, dtype=float)
                    absorbed[:, 0] += np.asarray(b) * m
                    return absorbed
                """,
                "not-divided",
            ),
            Wrong(
                """
                import numpy as np

                def absorb_bias(e, b, m):
                    absorbed = np.array(e, dtype=float)
                    absorbed[0] += np.asarray(b) / m
                    return absorbed
                """,
                "row-not-column",
            ),
            Wrong(
                """
                import numpy as np

                def absorb_bias(e, b, m):
                    return np.asarray(e) + np.asarray(b)[:, None]
                """,
                "all-columns",
            ),
            Wrong(
                """
                import numpy as np

                def absorb_bias(e, b, m):
                    absorbed = np.array(e, dtype=float)
                    absorbed[1:, 0] += np.asarray(b)[1:] / m
                    return absorbed
                """,
                "mask-row-left-out",
            ),
            Wrong(
                """
                import numpy as np

                def absorb_bias(e, b, m):
                    absorbed = np.array(e, dtype=float)
                    np.fill_diagonal(absorbed, np.diag(absorbed) + np.asarray(b) / m)
                    return absorbed
                """,
                "other-columns",
            ),
        ),
        hidden=_hidden_absorb_bias,
        explanation=r"""
            Column 0 is multiplied by $\mathbf{x}_0 = m$, so it must gain $\mathbf{b}/m$. Adding $\mathbf{b}$ to every column works too, since $\mathbf{x}$ sums to one, but
            it changes every entry.
        """,
    ),
    Exercise(
        id="b-possible-constants",
        title="can these be the constants of an embedding?",
        level="core",
        minutes=12,
        objective="what symmetry and positive semidefiniteness leave of Theorem 1's constants",
        prerequisites=(
            "[Theorem 1](04_token_embeddings.ipynb#theorem-1)",
            "[which constants are possible](appendix_b.ipynb#which-constants-are-possible)",
        ),
        graded=True,
        function="possible_constants",
        statement=r"""
            `u` holds $u_0, u_1, \dots, u_{Tv}$ ($u_0$ first; whole numbers or fractions, so that you may compare with `==`). `c_2` is $\frac{1 - m}{m} > 0$. Return
            `True` if some $\mathbf{W}^E$, with $d$ as large as you like, has Theorem 1's block sums with these constants, else `False`.
        """,
        stub='''
            def possible_constants(u, c_2, num_topics, words_per_topic):
                """Whether u_0, ..., u_Tv are possible for a matrix of dot products."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def possible_constants(u, c_2, num_topics, words_per_topic):
                v = words_per_topic
                sums = [sum(u[1 + t * v : 1 + (t + 1) * v]) for t in range(num_topics)]
                if any(s != sums[0] for s in sums) or sums[0] < 0 or u[0] * v != -c_2 * sums[0]:
                    return False
                return sums[0] > 0 or all(x == 0 for x in u)
        """,
        alternative="""
            from fractions import Fraction

            import numpy as np

            def possible_constants(u, c_2, num_topics, words_per_topic):
                words = np.array([Fraction(x) for x in u[1:]], dtype=object)
                means = set(words.reshape(num_topics, words_per_topic).sum(axis=1) / words_per_topic)
                mean = means.pop()
                return bool(not means and u[0] == -c_2 * mean and (mean > 0 or not np.any(words)) and mean >= 0)
        """,
        wrong=(
            Wrong(
                """
                def possible_constants(u, c_2, num_topics, words_per_topic):
                    v = words_per_topic
                    sums = [sum(u[1 + t * v : 1 + (t + 1) * v]) for t in range(num_topics)]
                    return all(s == sums[0] for s in sums) and sums[0] >= 0 and u[0] * v == -c_2 * sums[0]
                """,
                "mean-zero",
            ),
            Wrong(
                """
                def possible_constants(u, c_2, num_topics, words_per_topic):
                    v = words_per_topic
                    sums = [sum(u[1 + t * v : 1 + (t + 1) * v]) for t in range(num_topics)]
                    return all(s == sums[0] for s in sums) and u[0] * v == -c_2 * sums[0] and (sums[0] != 0 or not any(u))
                """,
                "sign",
            ),
            Wrong(
                """
                def possible_constants(u, c_2, num_topics, words_per_topic):
                    v = words_per_topic
                    sums = [sum(u[1 + t * v : 1 + (t + 1) * v]) for t in range(num_topics)]
                    return all(s == sums[0] for s in sums) and (sums[0] > 0 or not any(u))
                """,
                "mask-constant",
            ),
            Wrong(
                """
                def possible_constants(u, c_2, num_topics, words_per_topic):
                    total = sum(u[1:])
                    return (total > 0 or not any(u)) and u[0] * num_topics * words_per_topic == -c_2 * total
                """,
                "unequal-means",
            ),
            Wrong(
                """
                def possible_constants(u, c_2, num_topics, words_per_topic):
                    v = words_per_topic
                    sums = [sum(u[1 + t * v : 1 + (t + 1) * v]) for t in range(num_topics)]
                    fits = all(s == sums[0] for s in sums) and u[0] * v == -c_2 * sums[0]
                    return fits and all(x >= 0 for x in u[1:])
                """,
                "too-strict",
            ),
            Wrong(
                """
                def possible_constants(u, c_2, num_topics, words_per_topic):
                    return all(x == u[1] for x in u[1:]) and u[1] >= 0 and u[0] == -c_2 * u[1]
                """,
                "all-equal",
            ),
        ),
        hidden=_hidden_possible_constants,
        explanation=r"""
            Symmetry makes the topic means equal and ties $u_0$ to them. The corner $\mathbf{E}_{00} = c_2^2\, \bar{u}$ is a squared length, so $\bar{u} \ge 0$; and if it is
            zero, [MASK] has the zero vector and every $-c_2 u_i$, a dot product with it, is zero. A single $u_i$ may be negative otherwise.
        """,
    ),
    Exercise(
        id="b-unequal-topics",
        title="weight decay with topics of different strength",
        level="core",
        minutes=12,
        objective="to derive the soft threshold where directions are not alike",
        prerequisites=(
            "[the soft threshold of weight decay](appendix_b.ipynb#weight-decay)",
            "the minimum of a parabola on a half-line",
        ),
        function="surviving_eigenvalues",
        statement=r"""
            Suppose that documents vary along orthogonal directions between topics with *different* variances, `kappas[k]` $= \kappa_k > 0$. An
            $\mathbf{E}$ with eigenvalues $g_k \ge 0$ along them has the objective $\sum_k \kappa_k (g_k - \frac{1}{a})^2 + \lambda \sum_k g_k$. Return the minimising $g_k$ as an array,
            in the order of `kappas`; `l2_coef` is $\lambda \ge 0$.
        """,
        stub='''
            def surviving_eigenvalues(l2_coef, kappas, a):
                """The best eigenvalue of E along each direction, under weight decay on the embedding."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def surviving_eigenvalues(l2_coef, kappas, a):
                return np.maximum(1 / a - l2_coef / (2 * np.asarray(kappas, dtype=float)), 0)
        """,
        alternative="""
            def surviving_eigenvalues(l2_coef, kappas, a):
                result = []
                for kappa in kappas:
                    threshold = 2 * kappa / a
                    result.append(0.0 if l2_coef >= threshold else (threshold - l2_coef) / (2 * kappa))
                return result
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def surviving_eigenvalues(l2_coef, kappas, a):
                    return 1 / a - l2_coef / (2 * np.asarray(kappas, dtype=float))
                """,
                "negative",
            ),
            Wrong(
                """
                import numpy as np

                def surviving_eigenvalues(l2_coef, kappas, a):
                    kappas = np.asarray(kappas, dtype=float)
                    return kappas / (kappas + l2_coef) / a
                """,
                "ridge",
            ),
            Wrong(
                """
                import numpy as np

                def surviving_eigenvalues(l2_coef, kappas, a):
                    return np.maximum(1 / a - l2_coef / np.asarray(kappas, dtype=float), 0)
                """,
                "factor-two",
            ),
            Wrong(
                """
                import numpy as np

                def surviving_eigenvalues(l2_coef, kappas, a):
                    kappas = np.asarray(kappas, dtype=float)
                    return np.maximum(1 / a - l2_coef / (2 * kappas.mean()), 0) * np.ones(len(kappas))
                """,
                "one-threshold",
            ),
            Wrong(
                """
                import numpy as np

                def surviving_eigenvalues(l2_coef, kappas, a):
                    return np.where(l2_coef < 2 * np.asarray(kappas, dtype=float) / a, 1 / a, 0)
                """,
                "hard-threshold",
            ),
            Wrong(
                """
                import numpy as np

                def surviving_eigenvalues(l2_coef, kappas, a):
                    return np.maximum(1 - l2_coef / (2 * np.asarray(kappas, dtype=float)), 0)
                """,
                "no-scale",
            ),
        ),
        hidden=_hidden_unequal_topics,
        explanation=r"""
            The sum splits: each $g_k$ minimises a parabola plus a line, so $g_k = \bigl(\frac{1}{a} - \frac{\lambda}{2\kappa_k}\bigr)_+$. Weak directions vanish first: weight decay does not only
            shrink, it selects.
        """,
    ),
    Exercise(
        id="b-best-embedding",
        title="the best embedding in too few dimensions",
        level="challenge",
        minutes=25,
        objective="to turn the bound of Eckart and Young into an embedding",
        prerequisites=(
            "[fewer dimensions than topics](appendix_b.ipynb#fewer-dimensions-than-topics)",
            "orthonormal bases and projections in NumPy",
        ),
        graded=True,
        function="best_embedding",
        statement=r"""
            Give the embeddings, an array of shape {{shape}} with $1 \le d \le T$, whose excess loss under Theorem 1's bias is the least possible in $d$ dimensions,
            $(T - d) \frac{T - \tau}{\tau v T (T - 1)}$, for every $\tau$. `a` is $1 - (1 - p_c) p_m$. Each {{line}} is the embedding of
            a token; {{place}}, with the zero vector.
        """,
        stub='''
            def best_embedding(d, a, num_topics, words_per_topic):
                """The embeddings of all tokens with the least excess loss, in d dimensions."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def best_embedding(d, a, num_topics, words_per_topic):
                # QR of a matrix that begins with the ones: an orthonormal basis with the mean first.
                start = np.column_stack([np.ones(num_topics), np.eye(num_topics)[:, 1:]])
                topics = np.linalg.qr(start)[0].T[:d]
                words = np.repeat(topics, words_per_topic, axis=1) / np.sqrt(a * words_per_topic)
                return {{layout}}
        """,
        alternative="""
            import numpy as np

            def best_embedding(d, a, num_topics, words_per_topic):
                words = np.zeros((d, num_topics * words_per_topic))
                for k in range(d):
                    wave = np.cos(np.pi * k * (np.arange(num_topics) + 0.5) / num_topics)
                    row = np.repeat(wave, words_per_topic)
                    words[k] = row / np.sqrt(a * (row @ row))
                return {{layout}}
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def best_embedding(d, a, num_topics, words_per_topic):
                    words = np.repeat(np.eye(num_topics)[:d], words_per_topic, axis=1) / np.sqrt(a * words_per_topic)
                    return {{transposed}}
                """,
                "tokens-and-dimensions",
            ),
            Wrong(
                """
                import numpy as np

                def best_embedding(d, a, num_topics, words_per_topic):
                    start = np.column_stack([np.ones(num_topics), np.eye(num_topics)[:, 1:]])
                    topics = np.linalg.qr(start)[0].T[:d]
                    words = np.repeat(topics, words_per_topic, axis=1) / np.sqrt(a * words_per_topic)
                    return {{misplaced}}
                """,
                "mask-place",
            ),
            Wrong(
                """
                import numpy as np

                def best_embedding(d, a, num_topics, words_per_topic):
                    words = np.repeat(np.eye(num_topics)[:d], words_per_topic, axis=1) / np.sqrt(a * words_per_topic)
                    return {{layout}}
                """,
                "topics-left-out",
            ),
            Wrong(
                """
                import numpy as np

                def best_embedding(d, a, num_topics, words_per_topic):
                    start = np.column_stack([np.ones(num_topics), np.eye(num_topics)[:, 1:]])
                    topics = np.linalg.qr(start)[0].T[-d:]
                    words = np.repeat(topics, words_per_topic, axis=1) / np.sqrt(a * words_per_topic)
                    return {{layout}}
                """,
                "no-mean",
            ),
            Wrong(
                """
                import numpy as np

                def best_embedding(d, a, num_topics, words_per_topic):
                    start = np.column_stack([np.ones(num_topics), np.eye(num_topics)[:, 1:]])
                    topics = np.linalg.qr(start)[0].T[:d]
                    words = np.repeat(topics, words_per_topic, axis=1) / (a * np.sqrt(words_per_topic))
                    return {{layout}}
                """,
                "no-square-root",
            ),
            Wrong(
                """
                import numpy as np

                def best_embedding(d, a, num_topics, words_per_topic):
                    start = np.column_stack([np.ones(num_topics), np.eye(num_topics)[:, 1:]])
                    topics = np.linalg.qr(start)[0].T[:d]
                    words = np.repeat(topics, words_per_topic, axis=1) / np.sqrt(a)
                    return {{layout}}
                """,
                "not-divided-by-v",
            ),
            Wrong(
                """
                import numpy as np

                def best_embedding(d, a, num_topics, words_per_topic):
                    group = np.arange(num_topics) * d // num_topics
                    topics = (group == np.arange(d)[:, None]).astype(float)
                    words = np.repeat(topics, words_per_topic, axis=1) / np.sqrt(a * words_per_topic)
                    return {{layout}}
                """,
                "not-a-projection",
            ),
        ),
        hidden=_hidden_best_embedding,
        explanation=r"""
            $\frac{1}{a}$ times a projection is the matrix of dot products of an orthonormal basis divided by $\sqrt{a}$. The basis must hold the vector of ones,
            which belongs to the mean, and any $d - 1$ directions that are constant inside topics. Merging topics into $d$ groups of one size is such a choice as
            well, if the blocks are scaled to be a projection.
        """,
        variants=(
            Variant({"tokens": "columns", "mask": 0}, _COLUMNS | {"place": "[MASK] comes first"}),
            Variant({"tokens": "rows", "mask": 0}, _ROWS | {"place": "[MASK] comes first"}),
            Variant({"tokens": "columns", "mask": -1}, _COLUMNS_MASK_LAST | {"place": "[MASK] comes last"}),
            Variant({"tokens": "rows", "mask": -1}, _ROWS_MASK_LAST | {"place": "[MASK] comes last"}),
        ),
    ),
]

PAPER = [
    PaperExercise(
        id="b-paper-topic-means",
        title="the embedding of [MASK] and the means of the topics",
        level="core",
        minutes=30,
        objective="to read geometry off block sums",
        prerequisites=(
            "[Theorem 1](04_token_embeddings.ipynb#theorem-1)",
            "[which constants are possible](appendix_b.ipynb#which-constants-are-possible)",
            "dot products of means of vectors",
        ),
        graded=True,
        statement=r"""
            Let $\mathbf{W}^E$ be optimal, so that $\mathbf{E} = \mathbf{W}^{E\top}\mathbf{W}^E$ has the form of Theorem 1, and let $\bar{u}$ be the common mean of
            the $u_i$ of a topic. Write $\mathbf{e}_0$ for the embedding of [MASK], $\bar{\mathbf{e}}_t$ for the mean embedding of the $v$ words of topic $t$,
            and $\mathbf{f}_t = \bar{\mathbf{e}}_t + \frac{1}{c_2} \mathbf{e}_0$. (a) Compute all dot products among $\mathbf{e}_0, \bar{\mathbf{e}}_1, \dots,
            \bar{\mathbf{e}}_T$. (b) Show that $\mathbf{f}_1, \dots, \mathbf{f}_T$ are orthogonal to each other and to $\mathbf{e}_0$, and find their length.
            (c) Which dimensions $d$ are possible if $\mathbf{e}_0 = 0$, and which if $\mathbf{e}_0 \ne 0$? (d) Say in words where [MASK] lies.
        """,
        rubric=(
            (
                3,
                r"The dot products: $\mathbf{e}_0 \cdot \mathbf{e}_0 = c_2^2 \bar{u}$, $\mathbf{e}_0 \cdot \bar{\mathbf{e}}_t = -c_2 \bar{u}$, and $\bar{\mathbf{e}}_t \cdot \bar{\mathbf{e}}_{t'} = \bar{u}$, plus $\frac{1}{av}$ if $t = t'$. One point for each of the three kinds.",
            ),
            (
                1,
                r"Says that a mean of rows and columns of $\mathbf{E}$ is what is needed: a block sum divided by $v$, and once more averaged over the words.",
            ),
            (
                3,
                r"$\mathbf{f}_t \cdot \mathbf{e}_0 = 0$ (1), $\mathbf{f}_t \cdot \mathbf{f}_{t'} = 0$ for $t \ne t'$ (1), and the length $1/\sqrt{av}$ (1), with the computation.",
            ),
            (
                2,
                r"$d \ge T$ if $\mathbf{e}_0 = 0$ and $d \ge T + 1$ otherwise, because orthogonal vectors that are not zero are independent. One point without a reason.",
            ),
            (
                1,
                r"In words: the part that all topic means share is $-\frac{1}{c_2}\mathbf{e}_0$, so [MASK] points away from the mean of all words, at right angles to every difference between topics.",
            ),
        ),
        model_answer=r"""
            (a) Averages over words turn entries of $\mathbf{E}$ into block sums. The corner gives $\mathbf{e}_0 \cdot \mathbf{e}_0 = \mathbf{E}_{00} = -c_2 u_0
            = c_2^2\, \bar{u}$. Row 0 sums to $u_0 v$ over each topic, so $\mathbf{e}_0 \cdot \bar{\mathbf{e}}_t = u_0 = -c_2 \bar{u}$. The row of a word $i$ of
            topic $t$ sums to $u_i v$ over another topic and to $\frac{1}{a} + u_i v$ over its own. Divide by $v$ and average over the words $i$ of $t$:
            $\bar{\mathbf{e}}_t \cdot \bar{\mathbf{e}}_{t'} = \bar{u}$ for $t \ne t'$, and $\bar{\mathbf{e}}_t \cdot \bar{\mathbf{e}}_t = \bar{u} + \frac{1}{av}$.

            (b) $\mathbf{f}_t \cdot \mathbf{e}_0 = -c_2 \bar{u} + \frac{1}{c_2} c_2^2 \bar{u} = 0$. Therefore $\mathbf{f}_t \cdot \mathbf{f}_{t'} = \mathbf{f}_t \cdot
            \bar{\mathbf{e}}_{t'} = \bar{\mathbf{e}}_t \cdot \bar{\mathbf{e}}_{t'} + \frac{1}{c_2} \mathbf{e}_0 \cdot \bar{\mathbf{e}}_{t'} =
            \bar{\mathbf{e}}_t \cdot \bar{\mathbf{e}}_{t'} - \bar{u}$. This is 0 for two topics and $\frac{1}{av}$ for $t = t'$. All $\mathbf{f}_t$ have the
            length $1/\sqrt{av}$.

            (c) Orthogonal vectors that are not zero are independent. So there are $T$ of them in any case, and $T + 1$ if $\mathbf{e}_0 \ne 0$: $d \ge T$ or
            $d \ge T + 1$. Both bounds are reached: by the blocks, and by the chapter's matrix with all $u_i = \bar{u}$.

            (d) Every topic's mean is $-\frac{1}{c_2} \mathbf{e}_0$ plus a vector of its own. What all words share is a multiple of the embedding of [MASK],
            with a negative sign: [MASK] points away from the mean of all words, and is orthogonal to all differences between topics.
        """,
    ),
]
