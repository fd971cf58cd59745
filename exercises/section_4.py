"""Exercises of Section 4."""

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
from topiclib.checks.base import Answer, as_array, close, expect


def _hidden_optimal_bias(answer: Answer) -> None:
    b = as_array(answer(0.4, 0.0, 0.5, 6, 2), (13,), "the bias")
    expect(close(b[1:], -0.2 / (0.6 * 12)), "other-settings", "it fails for p_c = 0.")


def _hidden_smallest_embedding(answer: Answer) -> None:
    w = as_array(answer(0.9, 7, 2), (7, 15), "W_E")
    expect(close((w**2).sum(), 7 / 0.9), "other-settings", "its squared Frobenius norm is not T/a for other settings.")


def _hidden_excess_loss(answer: Answer) -> None:
    rng = np.random.default_rng(41)
    seen, documents = rng.dirichlet(np.ones(7), size=5), rng.dirichlet(np.ones(7), size=5)
    e, b = rng.normal(size=(7, 7)), rng.normal(size=7)
    expected = np.mean([((e @ x + b - p) ** 2).sum() for x, p in zip(seen, documents, strict=True)])
    expect(close(answer(e, b, seen, documents), expected), "other-settings", "it fails on other documents.")


def _hidden_clock(answer: Answer, trained: str = "tied, values too") -> None:
    powers = {"tied, values too": (2, 1), "embeddings": (2,), "untied, values too": (1, 1, 1), "untied": (1, 1)}[trained]
    for share, start, kappa, a in ((0.5, 0.03, 0.008, 0.9), (0.95, 0.2, 1.5, 0.4)):
        # Squares of the factors, each divided by its power, grow alike: y is what they have gained. Substitute y = e^s.
        y = np.geomspace(1e-9 * start**2, 9 / a**2, 40_001)
        factors = [np.sqrt(start**2 + n * y) for n in powers]
        e = np.prod([f**n for f, n in zip(factors, powers, strict=True)], axis=0)
        inside = e < share / a
        slowness = 1 / (4 * kappa * np.maximum(1 / a - e, 1e-9) * e)
        clock = np.concatenate([[0], np.cumsum((slowness[1:] + slowness[:-1]) / 2 * np.diff(y))])
        last = inside.sum()
        right = np.interp(share / a, e[last - 1 : last + 1], clock[last - 1 : last + 1])
        found = float(as_array(answer(share, start, kappa, a), (), "the clock, one number"))
        expect(abs(found / right - 1) < 1e-3, "other-numbers", "it fails for another start, share, kappa and a.")


EXERCISES: list[Exercise] = [
    Exercise(
        id="4-optimal-bias",
        title="what the bias of Theorem 1 subtracts",
        level="core",
        minutes=10,
        objective="to read a constant of a theorem as something that happens to the data",
        prerequisites=(
            "[Theorem 1](04_token_embeddings.ipynb#theorem-1)",
            "equation D.17 ([Section 3.2](03_2_training_objective.ipynb#what-a-masked-long-document-looks-like))",
        ),
        function="denoising_bias",
        statement=r"""
            Theorem 1 fixes $\mathbf{b}^{\text{pred}}$ so that it takes away what random replacement adds to the masked document.
            Return that vector, of length $Tv + 1$, such that the block-wise $\mathbf{E} = \frac{1}{a v} \mathbf{I}_T \otimes \mathbf{J}_v$ on the
            words, plus the bias, predicts $p_{\mathbf{w}}$ exactly for every infinitely long document. Mind entry 0.
        """,
        stub='''
            def denoising_bias(p_m, p_c, p_r, num_topics, words_per_topic):
                """b_pred of Theorem 1, entry 0 for [MASK]; shape (T v + 1,)."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def denoising_bias(p_m, p_c, p_r, num_topics, words_per_topic):
                num_words = num_topics * words_per_topic
                b = np.full(num_words + 1, -p_m * p_r / ((1 - (1 - p_c) * p_m) * num_words))
                b[0] = 0
                return b
        """,
        alternative="""
            def denoising_bias(p_m, p_c, p_r, num_topics, words_per_topic):
                true = (1 - p_m) + p_m * p_c
                each = p_m * p_r / (num_topics * words_per_topic) / true
                return [0.0] + [-each] * (num_topics * words_per_topic)
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def denoising_bias(p_m, p_c, p_r, num_topics, words_per_topic):
                    n = num_topics * words_per_topic
                    return np.full(n + 1, -p_m * p_r / ((1 - (1 - p_c) * p_m) * n))
                """,
                "mask-entry",
            ),
            Wrong(
                """
                import numpy as np

                def denoising_bias(p_m, p_c, p_r, num_topics, words_per_topic):
                    n = num_topics * words_per_topic
                    return np.append(0, np.full(n, p_m * p_r / ((1 - (1 - p_c) * p_m) * n)))
                """,
                "sign",
            ),
            Wrong(
                """
                import numpy as np

                def denoising_bias(p_m, p_c, p_r, num_topics, words_per_topic):
                    n = num_topics * words_per_topic
                    return np.append(0, np.full(n, -p_m * p_r / n))
                """,
                "before-the-matrix",
            ),
            Wrong(
                """
                import numpy as np

                def denoising_bias(p_m, p_c, p_r, num_topics, words_per_topic):
                    n = num_topics * words_per_topic
                    return np.append(0, np.full(n, -p_r / ((1 - (1 - p_c) * p_m) * n)))
                """,
                "not-denoised",
            ),
        ),
        hidden=_hidden_optimal_bias,
        explanation=r"""
            A masked document shows word $i$ with probability $a\, p_{\mathbf{w}}(i) + p_m p_r/(Tv)$, where $a = 1 - (1 - p_c) p_m$.
            The block-wise $\mathbf{E}$ averages over a topic and divides by $a$, so the constant part comes out as
            $p_m p_r/(a T v)$, which the bias takes away. The output for [MASK] is 0 already.
        """,
    ),
    Exercise(
        id="4-smallest-embedding",
        title="the smallest embedding that is optimal",
        level="core",
        minutes=15,
        objective="to build a realisable optimum of Theorem 1 with as few dimensions as possible",
        prerequisites=(
            "[Theorem 1](04_token_embeddings.ipynb#theorem-1)",
            "a matrix of dot products",
        ),
        function="embedding",
        statement=r"""
            Theorem 1 does not say how large $d$ must be. Give $\mathbf{W}^E$ of shape $(T, Tv + 1)$, that is with $d = T$, such that
            $\mathbf{E} = \mathbf{W}^{E\top} \mathbf{W}^E$ is the optimum with all $u_i = 0$ whose blocks are constant. `a` is $1 - (1 - p_c) p_m$.
        """,
        stub='''
            def embedding(a, num_topics, words_per_topic):
                """W_E with d = T; column 0 is the embedding of [MASK]."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def embedding(a, num_topics, words_per_topic):
                w = np.zeros((num_topics, num_topics * words_per_topic + 1))
                for word in range(1, w.shape[1]):
                    w[(word - 1) // words_per_topic, word] = 1 / np.sqrt(a * words_per_topic)
                return w
        """,
        alternative="""
            import torch

            def embedding(a, num_topics, words_per_topic):
                entry = (a * words_per_topic) ** -0.5
                words = entry * torch.eye(num_topics).repeat_interleave(words_per_topic, dim=1)
                return torch.cat([torch.zeros(num_topics, 1), words], dim=1).double()
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def embedding(a, num_topics, words_per_topic):
                    words = np.repeat(np.eye(num_topics), words_per_topic, axis=1) / (a * words_per_topic)
                    return np.hstack([np.zeros((num_topics, 1)), words])
                """,
                "no-square-root",
            ),
            Wrong(
                """
                import numpy as np

                def embedding(a, num_topics, words_per_topic):
                    words = np.repeat(np.eye(num_topics), words_per_topic, axis=1) / np.sqrt(a)
                    return np.hstack([np.zeros((num_topics, 1)), words])
                """,
                "not-divided-by-v",
            ),
            Wrong(
                """
                import numpy as np

                def embedding(a, num_topics, words_per_topic):
                    topic = np.arange(num_topics * words_per_topic + 1) // words_per_topic
                    return (topic == np.arange(num_topics)[:, None]) / np.sqrt(a * words_per_topic)
                """,
                "mask-column",
            ),
            Wrong(
                """
                import numpy as np

                def embedding(a, num_topics, words_per_topic):
                    n = num_topics * words_per_topic
                    w = np.ones((num_topics, n + 1)) / np.sqrt(a * n)
                    w[:, 0] = 0
                    return w
                """,
                "not-orthogonal",
            ),
        ),
        hidden=_hidden_smallest_embedding,
        graded=True,
        explanation=r"""
            One direction for each topic. $d = T$ is also the least that works: $\mathbf{E}$ must have rank at least $T$, since its blocks tell $T$
            topics apart.
        """,
    ),
    Exercise(
        id="4-excess-loss",
        title="the loss above the best",
        level="challenge",
        minutes=20,
        objective="to check an optimality theorem by computing the loss exactly, without training",
        prerequisites=(
            "[the excess loss](04_token_embeddings.ipynb#check-it-on-every-document)",
            "rows and columns in products of matrices",
        ),
        function="loss_above_best",
        statement=r"""
            With uniform attention every position of a document gets the same prediction $\mathbf{E}\mathbf{x} + \mathbf{b}$, where $\mathbf{x}$ is the masked
            document's token distribution. Under squared loss, equation 1 is then the mean over documents of
            $\|\mathbf{E}\mathbf{x} + \mathbf{b} - p_{\mathbf{w}}\|^2$ plus a part, $1 - 1/(\tau v)$, that no predictor can avoid. Return the first part, the excess loss.
            `e` has shape $(V, V)$, `b` $(V,)$; `seen` and `documents` have shape (documents, $V$): each row is an $\mathbf{x}$ and its $p_{\mathbf{w}}$.
        """,
        stub='''
            def loss_above_best(e, b, seen, documents):
                """Mean over documents of ||E x + b - p||^2."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def loss_above_best(e, b, seen, documents):
                error = np.asarray(seen) @ np.asarray(e).T + b - documents
                return (error**2).sum(axis=1).mean()
        """,
        alternative="""
            def loss_above_best(e, b, seen, documents):
                total = 0.0
                for x, p in zip(seen, documents):
                    total += float(((e @ x + b - p) ** 2).sum())
                return total / len(documents)
        """,
        wrong=(
            Wrong(
                """
                def loss_above_best(e, b, seen, documents):
                    return ((seen @ e + b - documents) ** 2).sum(axis=1).mean()
                """,
                "transposed",
            ),
            Wrong(
                """
                import numpy as np

                def loss_above_best(e, b, seen, documents):
                    return np.linalg.norm(seen @ e.T + b - documents, axis=1).mean()
                """,
                "not-squared",
            ),
            Wrong(
                """
                def loss_above_best(e, b, seen, documents):
                    return ((seen @ e.T + b - documents) ** 2).mean()
                """,
                "mean-over-words",
            ),
            Wrong(
                """
                def loss_above_best(e, b, seen, documents):
                    return ((seen @ e.T + b - documents) ** 2).sum()
                """,
                "sum-over-documents",
            ),
            Wrong(
                """
                def loss_above_best(e, b, seen, documents):
                    predicted = seen @ e.T + b
                    return ((predicted**2).sum(axis=1) - 2 * (predicted * documents).sum(axis=1) + 1).mean()
                """,
                "whole-loss",
            ),
            Wrong(
                """
                def loss_above_best(e, b, seen, documents):
                    error = (seen @ e.T + b - documents).mean(axis=0)
                    return (error**2).sum()
                """,
                "mean-before-square",
            ),
            Wrong(
                """
                def loss_above_best(e, b, seen, documents):
                    for x, p in zip(seen, documents):
                        return ((e @ x + b - p) ** 2).sum()
                """,
                "first-document-only",
            ),
        ),
        hidden=_hidden_excess_loss,
        explanation="""
            Documents are rows here, so multiplying each column `x` by `e` is `seen @ e.T`. The excess is zero exactly for the
            matrices of Theorem 1.
        """,
    ),
    Exercise(
        id="4-saddle-clock",
        title="how long the saddle holds",
        level="challenge",
        minutes=35,
        objective="solving the dynamics of a product of small factors",
        prerequisites=(
            "[how long SGD needs](04_token_embeddings.ipynb#how-long-sgd-needs)",
            "a differential equation with separated variables",
            "a numerical integral",
        ),
        function="clock_until",
        statement=r"""
            Under uniform attention and squared loss all differences between topics are learned alike, each with the excess loss $\kappa \left(e - \frac{1}{a}\right)^2$. Here $e$ is what the model makes of the difference, and $\kappa$ is
            the eigenvalue of $\mathbb{E}[\mathbf{x}\mathbf{x}^\top]$ there. Let {{parts}}. Gradient descent with small steps follows $\dot{x} = -\partial L / \partial x$ for each factor $x$ of $e$. Time is the clock, learning rate times
            steps. Return the clock at which $e$ has reached `share` of $\frac{1}{a}$ ($0 <$ `share` $< 1$; it has not at the start), within one part in a thousand. It must be fast for a tiny `start` too: take no steps of a fixed length.
        """,
        stub='''
            def clock_until(share, start, kappa, a):
                """Clock at which e has reached this share of 1 / a; a number."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def clock_until(share, start, kappa, a):
                e = lambda x: {{product}}
                low, high = start, 2 + 2 / a
                for _ in range(100):
                    middle = (low + high) / 2
                    low, high = (middle, high) if e(middle) < share / a else (low, middle)
                x = np.geomspace(start, low, 20_001)
                slowness = 1 / (2 * kappa * (1 / a - e(x)) * {{rate}})
                return ((slowness[1:] + slowness[:-1]) / 2 * np.diff(x)).sum()
        """,
        alternative="""
            import math

            def clock_until(share, start, kappa, a):
                powers = {{powers}}
                x, clock, level = [start] * len(powers), 0.0, share / a

                def product(y):
                    return math.prod(f**n for f, n in zip(y, powers))

                def moved(y, step):
                    gap = 2 * kappa * (1 / a - product(y)) * product(y)
                    return [step * gap * n / f for f, n in zip(y, powers)]

                while True:
                    step = 0.004 * min([f / d for f, d in zip(x, moved(x, 1.0))] + [a / kappa])
                    middle = [f + d for f, d in zip(x, moved(x, step / 2))]
                    new = [f + d for f, d in zip(x, moved(middle, step))]
                    if product(new) >= level:
                        return clock + step * (level - product(x)) / (product(new) - product(x))
                    x, clock = new, clock + step
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def clock_until(share, start, kappa, a):
                    e = lambda x: {{product}}
                    low, high = start, 2 + 2 / a
                    for _ in range(100):
                        middle = (low + high) / 2
                        low, high = (middle, high) if e(middle) < share / a else (low, middle)
                    x = np.geomspace(start, low, 20_001)
                    slow = 1 / (2 * kappa / a * {{rate}}) + 0 * x
                    return ((slow[1:] + slow[:-1]) / 2 * np.diff(x)).sum()
                """,
                "no-saturation",
            ),
            Wrong(
                """
                import numpy as np

                def clock_until(share, start, kappa, a):
                    e = lambda x: {{product}}
                    low, high = start, 2 + 2 / a
                    for _ in range(100):
                        middle = (low + high) / 2
                        low, high = (middle, high) if e(middle) < share / a else (low, middle)
                    x = np.geomspace(start, low, 20_001)
                    slow = 1 / (kappa * (1 / a - e(x)) * {{rate}})
                    return ((slow[1:] + slow[:-1]) / 2 * np.diff(x)).sum()
                """,
                "slope-of-the-square",
            ),
            Wrong(
                """
                import numpy as np

                def clock_until(share, start, kappa, a):
                    e = lambda x: {{product}}
                    low, high = start, 2 + 2 / a
                    for _ in range(100):
                        middle = (low + high) / 2
                        low, high = (middle, high) if e(middle) < share else (low, middle)
                    x = np.geomspace(start, low, 20_001)
                    slow = 1 / (2 * kappa * (1 - e(x)) * {{rate}})
                    return ((slow[1:] + slow[:-1]) / 2 * np.diff(x)).sum()
                """,
                "target-forgotten",
            ),
            Wrong(
                """
                import numpy as np

                def clock_until(share, start, kappa, a):
                    e = lambda x: {{product}}
                    low, high = start, 2 + 2 / a
                    for _ in range(100):
                        middle = (low + high) / 2
                        low, high = (middle, high) if e(middle) < 1 / a else (low, middle)
                    e_level = e(share * low)
                    low, high = start, 2 + 2 / a
                    for _ in range(100):
                        middle = (low + high) / 2
                        low, high = (middle, high) if e(middle) < e_level else (low, middle)
                    x = np.geomspace(start, low, 20_001)
                    slow = 1 / (2 * kappa * (1 / a - e(x)) * {{rate}})
                    return ((slow[1:] + slow[:-1]) / 2 * np.diff(x)).sum()
                """,
                "factor-not-product",
            ),
            Wrong(
                """
                import numpy as np

                def clock_until(share, start, kappa, a):
                    x = start
                    e = {{product}}
                    speed = 2 * kappa * (1 / a - e) * {{rate}}
                    after = x + 1e-6 * x
                    x = after
                    slope = ({{product}} - e) / (1e-6 * start)
                    return (share / a - e) / (slope * speed)
                """,
                "constant-speed",
            ),
            Wrong(
                """
                import numpy as np

                def clock_until(share, start, kappa, a):
                    e = lambda x: {{product}}
                    low, high = start, 2 + 2 / a
                    for _ in range(100):
                        middle = (low + high) / 2
                        low, high = (middle, high) if e(middle) < share / a else (low, middle)
                    x = np.geomspace(start, low, 20_001)
                    slow = 1 / (2 * kappa * (1 / a - e(x))) * np.gradient(e(x), x)
                    return ((slow[1:] + slow[:-1]) / 2 * np.diff(x)).sum()
                """,
                "gradient-by-e",
            ),
        ),
        hidden=_hidden_clock,
        graded=True,
        explanation=r"""
            Each factor moves with the error $2 \kappa (\frac{1}{a} - e)$ times the product of the others. {{why}} With one unknown $x$ left, the variables separate: the clock is
            $\int \frac{dx}{\dot{x}}$ from the start to the $x$ at which $e$ has the wanted value. Equal ratios of $x$ are a good grid, since most of the time is spent near the start.
        """,
        variants=(
            Variant(
                {"trained": "tied, values too"},
                {
                    "parts": "$e = z w^2$, with $w$ the size of the embeddings (which are also the head) and $z$ that of the value matrix, both trained and both equal to `start` at the clock zero",
                    "product": "x * (2 * x**2 - start**2)",
                    "rate": "(2 * x**2 - start**2)",
                    "powers": "(2, 1)",
                    "why": "Here $w^2 - 2 z^2$ does not change on the way, so $w^2 = 2 z^2 - \\text{start}^2$, and $\\dot{z} = 2 \\kappa (\\frac{1}{a} - e) w^2$ is an equation for $z$ alone. Near zero it is quadratic in $z$: a start of half the size takes twice as long.",
                },
            ),
            Variant(
                {"trained": "embeddings"},
                {
                    "parts": "$e = w^2$, with $w$ the size of the embeddings, which are also the head and are the only trained part ($\\mathbf{W}^V = \\mathbf{I}$); $w$ equals `start` at the clock zero",
                    "product": "x**2",
                    "rate": "2 * x",
                    "powers": "(2,)",
                    "why": "Here $\\dot{e} = 8 \\kappa\\, e (\\frac{1}{a} - e)$, the logistic equation: its clock is $\\frac{a}{8\\kappa}$ times the change in the log-odds of $a e$. Near zero the growth is exponential: a start of half the size only adds a constant to the clock.",
                },
            ),
            Variant(
                {"trained": "untied, values too"},
                {
                    "parts": "$e = u z w$, with three matrices of their own for head ($u$), values ($z$) and embeddings ($w$), all trained and all equal to `start` at the clock zero",
                    "product": "x**3",
                    "rate": "x**2",
                    "powers": "(1, 1, 1)",
                    "why": "By symmetry $u = z = w$ at all times, and $\\dot{w} = 2 \\kappa (\\frac{1}{a} - e) w^2$. Near zero it is quadratic in $w$: a start of half the size takes twice as long.",
                },
            ),
            Variant(
                {"trained": "untied"},
                {
                    "parts": "$e = u w$, with a head ($u$) and embeddings ($w$) that are two matrices, both trained and both equal to `start` at the clock zero ($\\mathbf{W}^V = \\mathbf{I}$)",
                    "product": "x**2",
                    "rate": "x",
                    "powers": "(1, 1)",
                    "why": "By symmetry $u = w$ at all times, so $\\dot{e} = 4 \\kappa\\, e (\\frac{1}{a} - e)$, the logistic equation: its clock is $\\frac{a}{4\\kappa}$ times the change in the log-odds of $a e$. Tying would double the speed.",
                },
            ),
        ),
    ),
]

PAPER: list[PaperExercise] = [
    PaperExercise(
        id="4-paper-saddle",
        title="a saddle, and a flatter one",
        level="core",
        minutes=35,
        objective="reading the speed of training off the order of a stationary point",
        prerequisites=(
            "[how long SGD needs](04_token_embeddings.ipynb#how-long-sgd-needs)",
            "Taylor expansion of a loss in a matrix",
            "comparing solutions of differential equations",
        ),
        statement=r"""
            The setting is Theorem 1's, with excess loss $L = \mathbb{E} \|\mathbf{W}^{E\top} \mathbf{W}^V \mathbf{W}^E \mathbf{x} + \mathbf{b} - \mathbf{p}_{\mathbf{w}}\|^2$, and gradient descent with small steps, $\dot{\mathbf{W}} = -\nabla L$. Let $\mathbf{z}$ be a vector that is 0 at [MASK], constant on the words of each topic,
            and of sum 0; then $\mathbf{x}^\top \mathbf{z} = a\, \mathbf{p}_{\mathbf{w}}^\top \mathbf{z}$ and $\mathbb{E}[\mathbf{x} \mathbf{x}^\top] \mathbf{z} = \kappa \mathbf{z}$. (a) Let $\mathbf{W}^V = \mathbf{I}$ be frozen. Show that $\mathbf{W}^E = 0$ is a stationary point, and that near it $\mathbf{W}^E \mathbf{z}$
            grows like $\exp(4 \kappa t / a)$. (b) Let $\mathbf{W}^V$ be trained too. Show that at $\mathbf{W}^E = 0$, $\mathbf{W}^V = 0$ all second derivatives vanish as well. (c) One direction obeys $L = \kappa (e - \frac{1}{a})^2$ with $e = w^2$ in case (a) and
            $e = z w^2$ in case (b). Starting with all factors equal to a small $\varepsilon$, show that the clock at which $e = \frac{1}{2a}$ is at most a constant times $\ln \frac{1}{\varepsilon}$ in case (a), and lies between two constants times $\frac{1}{\varepsilon}$, up
            to a constant, in case (b). What does a start of half the size do to the number of SGD steps in each case?
        """,
        graded=True,
        rubric=(
            (
                3,
                "(a): expands to second order: no linear term (1 point), the second-order term contains the correlation of x with p - b (1 point), which sends z to kappa/a times z, both ways round (1 point).",
            ),
            (
                1,
                "(a): obtains the rate 4 kappa / a, with the 2 from the square and the 2 from the two equal factors. Nothing if one factor is missing.",
            ),
            (1, "(b): the lowest term in the two matrices is of third order, so first and second derivatives are zero."),
            (2, "(c), case (a): a bound on the speed by a multiple of w until e is half, and its integral, a logarithm."),
            (
                2,
                "(c), case (b): uses that w^2 - 2 z^2 is conserved (1 point) to bound the speed of z by multiples of z^2, and integrates to 1/epsilon (1 point).",
            ),
            (1, "Half the start: a constant number of steps more in case (a), about twice as many in case (b)."),
        ),
        model_answer=r"""
            (a) Write $\mathbf{W} = \mathbf{W}^E$, $\mathbf{r} = \mathbf{p}_{\mathbf{w}} - \mathbf{b}$ and $\mathbf{M} = \mathbb{E}[\mathbf{x} \mathbf{r}^\top]$. Then
            $L = \mathbb{E}\|\mathbf{r}\|^2 - 2\, \mathbb{E}[\mathbf{r}^\top \mathbf{W}^\top \mathbf{W} \mathbf{x}] + O(\|\mathbf{W}\|^4)$, and the middle term is $-2 \operatorname{tr}(\mathbf{W} \mathbf{M} \mathbf{W}^\top)$. There is no linear term, so 0 is stationary. Near it
            $\dot{\mathbf{W}} = -\nabla L = 2 \mathbf{W} (\mathbf{M} + \mathbf{M}^\top)$. Now $\mathbf{b}^\top \mathbf{z} = 0$, since $\mathbf{b}$ is constant on the words and $\mathbf{z}$ sums to 0. So $\mathbf{M} \mathbf{z} = \mathbb{E}[\mathbf{x}\, \mathbf{p}_{\mathbf{w}}^\top \mathbf{z}] = \frac{1}{a} \mathbb{E}[\mathbf{x} \mathbf{x}^\top] \mathbf{z} = \frac{\kappa}{a} \mathbf{z}$. And
            $\mathbf{M}^\top \mathbf{z} = \mathbb{E}[\mathbf{r}\, \mathbf{x}^\top \mathbf{z}] = a\, \mathbb{E}[\mathbf{p}_{\mathbf{w}} \mathbf{p}_{\mathbf{w}}^\top] \mathbf{z} - \mathbf{b}\, \mathbb{E}[\mathbf{x}^\top \mathbf{z}]$. By symmetry of the topics $\mathbb{E}[\mathbf{x}]$ is constant on the words, so the last term is 0. The first is a multiple of $\mathbf{z}$, again by symmetry, and
            $\mathbf{z}^\top \mathbf{M}^\top \mathbf{z} = \mathbf{z}^\top \mathbf{M} \mathbf{z}$ says that the multiple is $\frac{\kappa}{a}$ too. Together $\frac{d}{dt} \mathbf{W} \mathbf{z} = \frac{4 \kappa}{a} \mathbf{W} \mathbf{z}$.

            (b) Now $L = \mathbb{E}\|\mathbf{r}\|^2 - 2\, \mathbb{E}[\mathbf{r}^\top \mathbf{W}^{E\top} \mathbf{W}^V \mathbf{W}^E \mathbf{x}] + \dots$, and the term after the constant is a product of three entries of the weights. A polynomial whose lowest non-constant term has degree three has no first and no second derivatives
            at zero.

            (c) Case (a): $\dot{w} = 4 \kappa (\frac{1}{a} - w^2) w$. While $w^2 \leq \frac{1}{2a}$ this is at least $\frac{2\kappa}{a} w$, so $t \leq \frac{a}{2\kappa} \ln \frac{w_1}{\varepsilon}$ with $w_1 = (2a)^{-1/2}$. Case (b): $\dot{z} = 2 \kappa (\frac{1}{a} - e) w^2$ and
            $\dot{w} = 4 \kappa (\frac{1}{a} - e) z w$. So $\frac{d}{dt} w^2 = 2 \frac{d}{dt} z^2$, and $w^2 = 2 z^2 - \varepsilon^2$, which lies between $z^2$ and $2 z^2$ as $z \geq \varepsilon$. While $e \leq \frac{1}{2a}$, $\dot{z}$ lies between $\frac{\kappa}{a} z^2$ and $\frac{4 \kappa}{a} z^2$.
            Integrating $\dot{z} / z^2$ gives $\frac{a}{4 \kappa} \left(\frac{1}{\varepsilon} - \frac{1}{z_1}\right) \leq t \leq \frac{a}{\kappa} \left(\frac{1}{\varepsilon} - \frac{1}{z_1}\right)$, where $z_1$ is the value at the end; from $z_1^3 \leq e = \frac{1}{2a} \leq 2 z_1^3$ it stays between two constants.

            Half the start adds a constant to the clock in case (a) (the exact solution says $\frac{a}{4 \kappa} \ln 2$ for small $\varepsilon$). In case (b) it about doubles the clock, and so the steps at a given rate.
        """,
    ),
]
