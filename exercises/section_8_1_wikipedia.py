"""Exercises of Section 8.1 continued: two stages on Wikipedia."""

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
from topiclib.checks.base import Answer, as_array, close, expect


def _hidden_adam(answer: Answer) -> None:
    rng = np.random.default_rng(1811)
    gradients = rng.normal(size=9)
    m = v = total = 0.0
    for t, g in enumerate(gradients, 1):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        total -= 0.3 * (m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)) ** 0.5 + 0.05)
    found = as_array(answer(gradients, 0.3, 0.05), (), "one number")
    expect(close(found, total, 1e-5), "other-gradients", "it fails on gradients that change their sign.")


def _hidden_waking(answer: Answer) -> None:
    rng = np.random.default_rng(1812)
    forces = rng.random(60) * 0.02
    size, right = 1e-3, 0
    for t, force in enumerate(forces, 1):
        size *= 1 + 0.01 * force / 2e-4
        if size >= 0.05:
            right = t
            break
    expect(right > 0 and answer(forces, 0.01, 2e-4, 1e-3, 0.05) == right, "other-forces", "it fails on other forces.")


def _hidden_distance(answer: Answer) -> None:
    rng = np.random.default_rng(1813)
    a = rng.dirichlet(np.ones(7), size=(4, 7))
    right = np.empty_like(a)
    for q in range(7):
        for k in range(7):
            right[:, q, k] = a[:, q, k] / np.mean([a[:, i, i + k - q] for i in range(7) if 0 <= i + k - q < 7])
    found = as_array(answer(a), (4, 7, 7), "the divided weights")
    expect(close(found, right, 1e-5), "other-attention", "it fails on other attention.")


def _hidden_means(answer: Answer) -> None:
    rng = np.random.default_rng(1814)
    e, a, label = rng.normal(size=(23, 4)), rng.normal(size=(4, 4)), rng.integers(0, 4, size=23)
    table, off = e @ a @ e.T, ~np.eye(23, dtype=bool)
    same = label[:, None] == label
    found = as_array(answer(e, a, label), (2,), "the two means")
    expect(close(found, [table[same & off].mean(), table[~same].mean()], 1e-5), "other-words", "it fails on other words.")


def _hidden_spread(answer: Answer, asked: str = "form") -> None:
    rng = np.random.default_rng(1815)
    e, a = rng.normal(0.3, 1, size=(17, 4)), rng.normal(size=(4, 4))
    rows = e / np.linalg.norm(e, axis=1, keepdims=True) if asked == "directions" else e
    table = rows @ a @ rows.T
    table = (table + table.T) / 2 if asked == "mean of both orders" else table
    found = as_array(answer(e, a), (), "one number")
    expect(close(found, table[~np.eye(17, dtype=bool)].std(), 1e-4), "other-words", "it fails on other words.")


EXERCISES: list[Exercise] = [
    Exercise(
        id="8.1-wikipedia-adam",
        title="how far Adam moves a weight",
        level="warm-up",
        minutes=8,
        objective="what Adam's constant decides when gradients are tiny",
        prerequisites=(
            "running means",
            "[Adam's constant](08_1_wikipedia.ipynb#what-the-theory-predicts)",
        ),
        function="adam_moves",
        statement=r"""
            Adam keeps two running means of a weight's gradient $g_t$, both from zero: $m_t = 0.9\, m_{t-1} + 0.1\, g_t$ and
            $v_t = 0.999\, v_{t-1} + 0.001\, g_t^2$. It corrects them for their start, $\hat m_t = m_t/(1 - 0.9^t)$ and
            $\hat v_t = v_t/(1 - 0.999^t)$, and takes $\eta\, \hat m_t / (\sqrt{\hat v_t} + \epsilon)$ off the weight. Return by how
            much the weight has changed, with its sign, after all of `gradients` (a one-dimensional array, $g_1$ first).
        """,
        stub='''
            def adam_moves(gradients, learning_rate, epsilon):
                """The change of a weight after a sequence of gradients."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def adam_moves(gradients, learning_rate, epsilon):
                m = v = moved = 0.0
                for t, g in enumerate(gradients, start=1):
                    m = 0.9 * m + 0.1 * g
                    v = 0.999 * v + 0.001 * g**2
                    moved -= learning_rate * (m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)) ** 0.5 + epsilon)
                return moved
        """,
        alternative="""
            import torch

            def adam_moves(gradients, learning_rate, epsilon):
                w = torch.zeros(1, dtype=torch.float64)
                optimizer = torch.optim.Adam([w], lr=learning_rate, eps=epsilon)
                for g in gradients:
                    w.grad = torch.tensor([float(g)], dtype=torch.float64)
                    optimizer.step()
                return w.item()
        """,
        wrong=(
            Wrong(
                """
                def adam_moves(gradients, learning_rate, epsilon):
                    m = v = moved = 0.0
                    for t, g in enumerate(gradients, start=1):
                        m = 0.9 * m + 0.1 * g
                        v = 0.999 * v + 0.001 * g**2
                        moved += learning_rate * (m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)) ** 0.5 + epsilon)
                    return moved
                """,
                "uphill",
            ),
            Wrong(
                """
                def adam_moves(gradients, learning_rate, epsilon):
                    m = v = moved = 0.0
                    for g in gradients:
                        m = 0.9 * m + 0.1 * g
                        v = 0.999 * v + 0.001 * g**2
                        moved -= learning_rate * m / (v**0.5 + epsilon)
                    return moved
                """,
                "not-corrected",
            ),
            Wrong(
                """
                def adam_moves(gradients, learning_rate, epsilon):
                    m = v = moved = 0.0
                    for t, g in enumerate(gradients, start=1):
                        m = 0.9 * m + 0.1 * g
                        v = 0.999 * v + 0.001 * g**2
                        moved -= learning_rate * (m / (1 - 0.9**t)) / (v / (1 - 0.999**t) + epsilon) ** 0.5
                    return moved
                """,
                "epsilon-in-the-root",
            ),
            Wrong(
                """
                def adam_moves(gradients, learning_rate, epsilon):
                    m = v = moved = 0.0
                    for t, g in enumerate(gradients, start=1):
                        m = 0.9 * m + 0.1 * g
                        v = 0.999 * v + 0.001 * g**2
                        moved -= learning_rate * (m / (1 - 0.9**t)) / (v / (1 - 0.999**t)) ** 0.5
                    return moved
                """,
                "no-epsilon",
            ),
            Wrong(
                """
                def adam_moves(gradients, learning_rate, epsilon):
                    m = v = moved = 0.0
                    for t, g in enumerate(gradients, start=1):
                        m = 0.9 * m + 0.1 * g
                        v = 0.999 * v + 0.001 * g**2
                        moved = -learning_rate * (m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)) ** 0.5 + epsilon)
                    return moved
                """,
                "last-step-only",
            ),
            Wrong(
                """
                def adam_moves(gradients, learning_rate, epsilon):
                    return -sum(learning_rate * g / (abs(g) + epsilon) for g in gradients)
                """,
                "wrong-means",
            ),
            Wrong(
                """
                def adam_moves(gradients, learning_rate, epsilon):
                    m = v = moved = 0.0
                    for t, g in enumerate(gradients, start=1):
                        m = 0.9 * m + 0.1 * g
                        v = 0.999 * v + 0.001 * g**2
                        moved -= (m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)) ** 0.5 + epsilon)
                    return moved
                """,
                "rate-forgotten",
            ),
        ),
        hidden=_hidden_adam,
        explanation=r"""
            With a constant gradient far above $\epsilon$ each step is one learning rate, whatever the gradient's size. Far below
            $\epsilon$ it is $\eta g/\epsilon$, as in plain gradient descent with the learning rate $\eta/\epsilon$. So $\epsilon$ decides
            whether a weight with a tiny gradient sleeps.
        """,
    ),
    Exercise(
        id="8.1-wikipedia-waking",
        title="the step at which attention wakes up",
        level="core",
        minutes=12,
        objective="growth from a small start under a force that changes",
        prerequisites=(
            "[what the theory predicts](08_1_wikipedia.ipynb#what-the-theory-predicts)",
            "compound growth",
        ),
        graded=True,
        function="waking_step",
        statement=r"""
            While all gradients of $\mathbf{W}^K$ and $\mathbf{W}^Q$ are far below Adam's $\epsilon$, the direction that grows fastest
            has a size $k$ with $k_t = k_{t-1}\,(1 + \eta\, \gamma_t/\epsilon)$, where the force $\gamma_t$ is set by $\mathbf{W}^V$. Given
            `forces` ($\gamma_1, \gamma_2, \dots$), the learning rate $\eta$, $\epsilon$, the start $k_0$ and a `level`, return the first
            step $t$ (a whole number, at least one) with $k_t \ge$ `level`, or `float("inf")` if there is none.
        """,
        stub='''
            def waking_step(forces, learning_rate, epsilon, start, level):
                """The first step at which the size has reached the level."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def waking_step(forces, learning_rate, epsilon, start, level):
                sizes = start * np.cumprod(1 + learning_rate * np.asarray(forces) / epsilon)
                reached = np.flatnonzero(sizes >= level)
                return int(reached[0]) + 1 if len(reached) else float("inf")
        """,
        alternative="""
            def waking_step(forces, learning_rate, epsilon, start, level):
                size = start
                for step, force in enumerate(forces, start=1):
                    size += size * learning_rate * force / epsilon
                    if size >= level:
                        return step
                return float("inf")
        """,
        wrong=(
            Wrong(
                """
                def waking_step(forces, learning_rate, epsilon, start, level):
                    size = start
                    for step, force in enumerate(forces, start=1):
                        size += learning_rate * force / epsilon
                        if size >= level:
                            return step
                    return float("inf")
                """,
                "adds-up",
            ),
            Wrong(
                """
                def waking_step(forces, learning_rate, epsilon, start, level):
                    size = start
                    for step, force in enumerate(forces):
                        size *= 1 + learning_rate * force / epsilon
                        if size >= level:
                            return step
                    return float("inf")
                """,
                "one-early",
            ),
            Wrong(
                """
                import numpy as np

                def waking_step(forces, learning_rate, epsilon, start, level):
                    sizes = start * np.cumprod(1 + learning_rate * np.asarray(forces) / epsilon)
                    return int(np.argmax(sizes >= level)) + 1
                """,
                "never-is-not-one",
            ),
            Wrong(
                """
                import numpy as np

                def waking_step(forces, learning_rate, epsilon, start, level):
                    sizes = np.cumprod(1 + learning_rate * np.asarray(forces) / epsilon)
                    reached = np.flatnonzero(sizes >= level)
                    return int(reached[0]) + 1 if len(reached) else float("inf")
                """,
                "start-forgotten",
            ),
            Wrong(
                """
                import numpy as np

                def waking_step(forces, learning_rate, epsilon, start, level):
                    sizes = start * np.cumprod(1 + learning_rate * np.asarray(forces))
                    reached = np.flatnonzero(sizes >= level)
                    return int(reached[0]) + 1 if len(reached) else float("inf")
                """,
                "epsilon-forgotten",
            ),
            Wrong(
                """
                def waking_step(forces, learning_rate, epsilon, start, level):
                    size = start
                    for step, force in enumerate(forces, start=1):
                        size *= 1 + force / epsilon
                        if size >= level:
                            return step
                    return float("inf")
                """,
                "rate-forgotten",
            ),
            Wrong(
                """
                def waking_step(forces, learning_rate, epsilon, start, level):
                    size = start
                    for step, force in enumerate(forces, start=1):
                        size *= 1 + learning_rate * force / epsilon
                        if size > level:
                            return step
                    return float("inf")
                """,
                "level-passed",
            ),
            Wrong(
                """
                import math

                def waking_step(forces, learning_rate, epsilon, start, level):
                    total = math.log(start)
                    for step, force in enumerate(forces, start=1):
                        total += learning_rate * force / epsilon
                        if total >= math.log(level):
                            return step
                    return float("inf")
                """,
                "exponential",
            ),
        ),
        hidden=_hidden_waking,
        explanation=r"""
            Growth multiplies, so the start enters the waking step through its logarithm only, while $\eta/\epsilon$ enters the rate. If the
            force itself grows in proportion to the step, the waking step goes with the root of $\epsilon$.
        """,
    ),
    Exercise(
        id="8.1-wikipedia-distance",
        title="attention without the distance",
        level="core",
        minutes=12,
        objective="taking a confounder out of a comparison",
        prerequisites=(
            "[attention and distance](06_2_natural_language.ipynb#why-the-raw-ratio-is-wrong)",
            "NumPy index arrays",
        ),
        function="without_distance",
        statement=r"""
            Near words get more attention than far ones, and words of a topic stand near each other. `attention` has the shape
            $(B, L, L)$: documents, queries, keys. Divide each weight by the mean of all weights at the same signed distance, key
            position minus query position, over all documents and queries. Return an array of the same shape.
        """,
        stub='''
            def without_distance(attention):
                """Attention weights relative to the mean at their signed distance, (B, L, L)."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def without_distance(attention):
                length = attention.shape[1]
                offset = np.arange(length) - np.arange(length)[:, None] + length - 1
                mean_at = np.bincount(offset.ravel(), attention.mean(axis=0).ravel()) / np.bincount(offset.ravel())
                return attention / mean_at[offset]
        """,
        alternative="""
            import numpy as np

            def without_distance(attention):
                found = np.array(attention, dtype=float)
                n = found.shape[1]
                for distance in range(-n + 1, n):
                    q = np.arange(max(0, -distance), min(n, n - distance))
                    found[:, q, q + distance] /= found[:, q, q + distance].mean()
                return found
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def without_distance(attention):
                    length = attention.shape[1]
                    offset = np.arange(length) - np.arange(length)[:, None] + length - 1
                    mean_at = np.bincount(offset.ravel(), attention.mean(axis=0).ravel()) / np.bincount(offset.ravel())
                    return attention - mean_at[offset]
                """,
                "subtracted",
            ),
            Wrong(
                """
                import numpy as np

                def without_distance(attention):
                    length = attention.shape[1]
                    offset = np.abs(np.arange(length) - np.arange(length)[:, None])
                    mean_at = np.bincount(offset.ravel(), attention.mean(axis=0).ravel()) / np.bincount(offset.ravel())
                    return attention / mean_at[offset]
                """,
                "sign-lost",
            ),
            Wrong(
                """
                def without_distance(attention):
                    return attention / attention.mean(axis=0)
                """,
                "by-place",
            ),
            Wrong(
                """
                import numpy as np

                def without_distance(attention):
                    length = attention.shape[1]
                    offset = np.arange(length) - np.arange(length)[:, None] + length - 1
                    total_at = np.bincount(offset.ravel(), attention.mean(axis=0).ravel())
                    return attention / total_at[offset]
                """,
                "sum-not-mean",
            ),
            Wrong(
                """
                import numpy as np

                def without_distance(attention):
                    found = np.array(attention, dtype=float)
                    n = found.shape[1]
                    for d in range(-n + 1, n):
                        q = np.arange(max(0, -d), min(n, n - d))
                        found[:, q, q + d] /= found[:, q, q + d].mean(axis=1, keepdims=True)
                    return found
                """,
                "each-document",
            ),
        ),
        hidden=_hidden_distance,
        explanation=r"""
            The mean over documents of the plain weights is what an average model would give at each distance. Keeping the sign matters: text
            reads one way, and attention to the left and to the right differ.
        """,
    ),
    Exercise(
        id="8.1-wikipedia-means",
        title="means over all pairs without the pairs",
        level="challenge",
        minutes=20,
        objective="block means of a bilinear form from sums over topics",
        prerequisites=(
            "[means over all pairs](08_1_wikipedia.ipynb#is-it-topics)",
            "sums of bilinear forms",
        ),
        function="form_means",
        statement=r"""
            A vocabulary of 20,000 words has 400 million pairs; a table of them does not fit. `e` has the words' embeddings as rows, shape
            $(n, d)$, `a` is a $(d, d)$ matrix such as $\mathbf{W}^O \mathbf{W}^V$, `topic` has each word's topic, whole numbers from 0.
            Return two numbers: the mean of $e_j^\top \mathbf{A}\, e_i$ over ordered pairs of *different* words $i \ne j$ of the same topic,
            and over pairs of words of different topics. Every pair counts the same. Never build an $n \times n$ array.
        """,
        stub='''
            def form_means(e, a, topic):
                """Mean of the form over same-topic pairs and over different-topic pairs."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def form_means(e, a, topic):
                member = (topic == np.arange(topic.max() + 1)[:, None]).astype(float)
                sums, sizes = member @ e, member.sum(axis=1)
                own = ((e @ a) * e).sum()
                within = ((sums @ a) * sums).sum()
                total = e.sum(axis=0) @ a @ e.sum(axis=0)
                pairs = (sizes**2).sum()
                return (within - own) / (pairs - len(e)), (total - within) / (len(e) ** 2 - pairs)
        """,
        alternative="""
            import numpy as np

            def form_means(e, a, topic):
                same = different = 0.0
                same_pairs = different_pairs = 0
                everything = e.sum(axis=0)
                for t in np.unique(topic):
                    block = e[topic == t]
                    s, number = block.sum(axis=0), len(block)
                    same += s @ a @ s - np.einsum("id,de,ie->", block, a, block)
                    same_pairs += number * (number - 1)
                    different += s @ a @ (everything - s)
                    different_pairs += number * (len(e) - number)
                return same / same_pairs, different / different_pairs
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def form_means(e, a, topic):
                    member = (topic == np.arange(topic.max() + 1)[:, None]).astype(float)
                    sums, sizes = member @ e, member.sum(axis=1)
                    within = ((sums @ a) * sums).sum()
                    total = e.sum(axis=0) @ a @ e.sum(axis=0)
                    pairs = (sizes**2).sum()
                    return within / pairs, (total - within) / (len(e) ** 2 - pairs)
                """,
                "word-with-itself",
            ),
            Wrong(
                """
                import numpy as np

                def form_means(e, a, topic):
                    same, different = [], []
                    for t in np.unique(topic):
                        block, rest = e[topic == t], e[topic != t]
                        s, n = block.sum(axis=0), len(block)
                        same.append((s @ a @ s - np.einsum("id,de,ie->", block, a, block)) / (n * (n - 1)))
                        different.append(s @ a @ rest.sum(axis=0) / (n * len(rest)))
                    return np.mean(same), np.mean(different)
                """,
                "topics-count-the-same",
            ),
            Wrong(
                """
                import numpy as np

                def form_means(e, a, topic):
                    member = (topic == np.arange(topic.max() + 1)[:, None]).astype(float)
                    sums, sizes = member @ e, member.sum(axis=1)
                    own = ((e @ a) * e).sum()
                    within = ((sums @ a) * sums).sum()
                    total = e.sum(axis=0) @ a @ e.sum(axis=0)
                    n = len(e)
                    return (within - own) / ((sizes**2).sum() - n), (total - own) / (n**2 - n)
                """,
                "all-pairs-as-different",
            ),
            Wrong(
                """
                import numpy as np

                def form_means(e, a, topic):
                    member = (topic == np.arange(topic.max() + 1)[:, None]).astype(float)
                    sums, sizes = member @ e, member.sum(axis=1)
                    within, total, pairs = (sums**2).sum(), (e.sum(axis=0) ** 2).sum(), (sizes**2).sum()
                    return (within - (e**2).sum()) / (pairs - len(e)), (total - within) / (len(e) ** 2 - pairs)
                """,
                "matrix-forgotten",
            ),
        ),
        hidden=_hidden_means,
        explanation=r"""
            A sum over pairs of a form is the form of the sums: $\sum_{ij} e_j^\top \mathbf{A} e_i = s^\top \mathbf{A} s$ with $s = \sum_i e_i$.
            Take it for all words and for each topic, and take off the words with themselves.
        """,
    ),
    Exercise(
        id="8.1-wikipedia-spread",
        title="the spread over all pairs without the pairs",
        level="challenge",
        minutes=30,
        objective="second moments of a bilinear form from small matrices",
        prerequisites=(
            "[means over all pairs](08_1_wikipedia.ipynb#is-it-topics)",
            "trace of a product",
            "exercise 8.1-wikipedia-means",
        ),
        graded=True,
        function="form_spread",
        statement=r"""
            The contrast of this chapter is measured in standard deviations over all pairs of words. That too is to be had without the pairs. `e` has $n$ rows, the embeddings
            $e_i$, shape $(n, d)$, and `a` is a $(d, d)$ matrix $\mathbf{A}$, not symmetric in general. Return the standard deviation, over all ordered pairs $i \neq j$ of different words, of
            {{value}}. (Divide by the number of pairs, not by one less.) Never build an array with $n^2$ entries, and do not loop over pairs: for 20,000 words it should take less than a second.
        """,
        stub="""
            def form_spread(e, a):
                \"\"\"Standard deviation over all ordered pairs of different words of {{described}}.\"\"\"
                raise NotImplementedError("your answer")
        """,
        reference="""
            import numpy as np

            def form_spread(e, a):
                e, a = {{rows}}, {{matrix}}
                moments, total = e.T @ e, e.sum(axis=0)
                diagonal = np.sum((e @ a) * e, axis=1)
                number = len(e) ** 2 - len(e)
                squares = np.sum((a @ moments) * (moments @ a)) - diagonal @ diagonal
                return np.sqrt(squares / number - ((total @ a @ total - diagonal.sum()) / number) ** 2)
        """,
        alternative="""
            import numpy as np

            def form_spread(e, a):
                e, a = {{rows}}, {{matrix}}
                n, first, second = len(e), 0.0, 0.0
                total, factor = e.sum(axis=0), np.linalg.cholesky(e.T @ e + 1e-14 * np.trace(e.T @ e) * np.eye(e.shape[1]))
                for row in e:
                    sent = a.T @ row
                    own = sent @ row
                    first += sent @ total - own
                    second += np.sum((factor.T @ sent) ** 2) - own**2
                mean = first / (n * (n - 1))
                return (second / (n * (n - 1)) - mean**2) ** 0.5
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def form_spread(e, a):
                    e, a = {{rows}}, {{matrix}}
                    n, gram, own = len(e), e.T @ e, np.zeros(len(e))
                    pairs = n**2
                    mean = (e.sum(axis=0) @ a @ e.sum(axis=0) - own.sum()) / pairs
                    second = (np.trace(a @ gram @ a.T @ gram) - (own**2).sum()) / pairs
                    return np.sqrt(second - mean**2)
                """,
                "word-with-itself",
            ),
            Wrong(
                """
                import numpy as np

                def form_spread(e, a):
                    e, a = {{rows}}, {{matrix}}
                    n, gram, own = len(e), e.T @ e, np.einsum("id,de,ie->i", e, a, e)
                    pairs = n * (n - 1)
                    mean = (e.sum(axis=0) @ a @ e.sum(axis=0) - own.sum()) / pairs
                    second = (np.trace(a @ gram @ a.T @ gram) - (own**2).sum()) / pairs
                    return np.sqrt(second)
                """,
                "mean-left-in",
            ),
            Wrong(
                """
                import numpy as np

                def form_spread(e, a):
                    e, a = {{rows}}, {{matrix}}
                    n, gram, own = len(e), e.T @ e, np.einsum("id,de,ie->i", e, a, e)
                    pairs = n * (n - 1)
                    mean = (e.sum(axis=0) @ a @ e.sum(axis=0) - own.sum()) / pairs
                    second = (np.trace(a @ gram @ a.T @ gram) - (own**2).sum()) / pairs
                    return second - mean**2
                """,
                "variance",
            ),
            Wrong(
                """
                import numpy as np

                def form_spread(e, a):
                    e, a = {{rows}}, {{matrix}}
                    n, gram, own = len(e), e.T @ e, np.einsum("id,de,ie->i", e, a, e)
                    pairs = n * (n - 1)
                    mean = (e.sum(axis=0) @ a @ e.sum(axis=0) - own.sum()) / pairs
                    second = (np.trace(a @ gram @ a.T) * np.trace(gram) / len(a) - (own**2).sum()) / pairs
                    return np.sqrt(abs(second - mean**2))
                """,
                "one-side-only",
            ),
            Wrong(
                """
                import numpy as np

                def form_spread(e, a):
                    e, a = {{rows}}, {{matrix}}
                    n, gram, own = len(e), e.T @ e, np.einsum("id,de,ie->i", e, a, e)
                    pairs = n * (n - 1) / 2
                    mean = (e.sum(axis=0) @ a @ e.sum(axis=0) - own.sum()) / pairs
                    second = (np.trace(a @ gram @ a.T @ gram) - (own**2).sum()) / pairs
                    return np.sqrt(second - mean**2)
                """,
                "pairs-once",
            ),
            Wrong(
                """
                import numpy as np

                def form_spread(e, a):
                    e, a = {{rows}}, np.eye(e.shape[1])
                    n, gram, own = len(e), e.T @ e, np.einsum("id,de,ie->i", e, a, e)
                    pairs = n * (n - 1)
                    mean = (e.sum(axis=0) @ a @ e.sum(axis=0) - own.sum()) / pairs
                    second = (np.trace(a @ gram @ a.T @ gram) - (own**2).sum()) / pairs
                    return np.sqrt(second - mean**2)
                """,
                "matrix-forgotten",
            ),
        ),
        hidden=_hidden_spread,
        variants=(
            Variant(
                {"asked": "form"},
                {
                    "value": r"$x_{ij} = e_j^\top \mathbf{A}\, e_i$",
                    "described": "e_j A e_i",
                    "rows": "np.asarray(e, dtype=float)",
                    "matrix": "np.asarray(a, dtype=float)",
                },
            ),
            Variant(
                {"asked": "mean of both orders"},
                {
                    "value": r"$\frac12 (e_j^\top \mathbf{A}\, e_i + e_i^\top \mathbf{A}\, e_j)$",
                    "described": "the mean of e_j A e_i and e_i A e_j",
                    "rows": "np.asarray(e, dtype=float)",
                    "matrix": "(np.asarray(a, dtype=float) + np.asarray(a).T) / 2",
                },
            ),
            Variant(
                {"asked": "directions"},
                {
                    "value": r"$x_{ij} = u_j^\top \mathbf{A}\, u_i$, where $u_i = e_i / \|e_i\|$",
                    "described": "u_j A u_i with unit vectors u",
                    "rows": "np.asarray(e) / np.linalg.norm(e, axis=1, keepdims=True)",
                    "matrix": "np.asarray(a, dtype=float)",
                },
            ),
        ),
        explanation=r"""
            $x_{ij}^2 = \operatorname{tr}(\mathbf{A}\, e_i e_i^\top \mathbf{A}^\top e_j e_j^\top)$, so the sum over all $i$ and $j$ is $\operatorname{tr}(\mathbf{A} \mathbf{G} \mathbf{A}^\top \mathbf{G})$ with the small matrix
            $\mathbf{G} = \sum_i e_i e_i^\top$. Take off the words with themselves, $x_{ii}^2$, divide by $n(n-1)$, and take off the square of the mean, which comes from the sum of all embeddings.
        """,
    ),
]

PAPER = [
    PaperExercise(
        id="8.1-wikipedia-paper-sleep",
        title="how long attention sleeps",
        level="core",
        minutes=25,
        objective="to solve the chapter's picture of Adam near zero, and to let a measurement contradict its simplest form",
        prerequisites=(
            "[what the theory predicts](08_1_wikipedia.ipynb#what-the-theory-predicts)",
            "a separable differential equation",
        ),
        graded=True,
        statement=r"""
            The direction of $\mathbf{W}^K$, $\mathbf{W}^Q$ that grows fastest has size $k$, and its gradient has the size $\gamma k$ with a constant $\gamma > 0$. Adam is taken as a step $\eta \frac{g}{|g| + \epsilon}$ with $g$ this gradient,
            and steps as continuous time, so that $\dot k = \eta \frac{\gamma k}{\gamma k + \epsilon}$.

            1. Describe $k$ while $\gamma k \ll \epsilon$ and while $\gamma k \gg \epsilon$. Which of the two is sleep?
            2. Find the time from $k_0$ to $k_1 > k_0$ exactly.
            3. How does it depend on $k_0$, on $\eta$ and on $\epsilon$, if $\gamma k_1 \leq \epsilon$? Compare with plain gradient descent at the same $\eta$.
            4. In the chapter a start a hundred times smaller delays attention by a factor of 1.2 only. Suppose $k$ must grow a thousandfold from the usual start before it is seen. Which factor does part 2
               give with a constant $\gamma$? What must $\gamma$ do instead, to explain the measured one?
        """,
        rubric=(
            (
                2,
                "Part 1: exponential growth at the rate eta gamma / epsilon while small, straight growth with eta once large; the first is the sleep, since growth is in proportion to the size. One point for each regime.",
            ),
            (
                2,
                "Part 2: separates the variables and integrates 1 + epsilon/(gamma k); gets (k1 - k0 + (epsilon/gamma) ln(k1/k0))/eta. One point for a right separation with a slip.",
            ),
            (
                3,
                "Part 3: only the logarithm of k0; inversely with eta; nearly in proportion to epsilon; gradient descent has the rate eta gamma, so it is slower by 1/epsilon (a million). One point each for k0, for eta and epsilon, and for gradient descent.",
            ),
            (
                3,
                "Part 4: (ln 1000 + ln 100)/ln 1000, about 1.7 (one point); so gamma is not constant: it rises, steeply and late (one point), so that the extra growth falls into a time in which everything grows fast, and costs few steps (one point).",
            ),
        ),
        model_answer=r"""
            1. While $\gamma k \ll \epsilon$: $\dot k \approx \frac{\eta\gamma}{\epsilon} k$, exponential growth at a rate that $\mathbf{W}^V$ sets through $\gamma$. From near zero this is not seen for long: sleep. While $\gamma k \gg \epsilon$: $\dot k \approx \eta$, straight growth, whatever the size of the
            gradient.

            2. $\left(1 + \frac{\epsilon}{\gamma k}\right) dk = \eta\, dt$, so $t = \frac{1}{\eta} \left( k_1 - k_0 + \frac{\epsilon}{\gamma} \ln \frac{k_1}{k_0} \right)$.

            3. If $\gamma k_1 \leq \epsilon$ then $k_1 - k_0 \leq \frac{\epsilon}{\gamma}$, and for $k_1 \gg k_0$ the logarithm's part is the larger. So the start enters through $\ln k_0$: a hundredth of it adds $\frac{\epsilon}{\eta\gamma} \ln 100$. The time is in inverse proportion to $\eta$ and nearly in
            proportion to $\epsilon$. Gradient descent has $\dot k = \eta\gamma k$ and the time $\frac{1}{\eta\gamma} \ln\frac{k_1}{k_0}$, which is longer by about $\frac{1}{\epsilon}$, a million with the constant of the chapter.

            4. With the logarithm's part alone the factor is $\frac{\ln 1000 + \ln 100}{\ln 1000} = \frac{6.9 + 4.6}{6.9} \approx 1.7$. Measured is 1.2. So $\gamma$ cannot be constant. In general $\ln\frac{k_1}{k_0} = \frac{\eta}{\epsilon} \int \gamma\, dt$ while asleep. If $\gamma$ is small at first and rises steeply
            later, most of the integral is gathered in the last steps, and a larger logarithm needs only few steps more. That fits what the chapter sees: the gradients of keys and queries rise by several powers of ten late.
        """,
    ),
]
