"""Exercises of Section 3.2."""

import numpy as np

from exercises.format import Exercise, Wrong
from topiclib.checks.base import Answer, as_array, close, expect


def _hidden_equation_1(answer: Answer) -> None:
    rng = np.random.default_rng(11)
    predictions, tokens = rng.normal(size=(3, 9, 8)), rng.integers(1, 9, size=(3, 8))
    selected = rng.random((3, 8)) < 0.4
    selected[:, 0] = True
    expected = 0.0
    for f, w, chosen in zip(predictions, tokens, selected, strict=True):
        each = [np.sum((f[:, j] - np.eye(9)[w[j]]) ** 2) for j in range(8) if chosen[j]]
        expected += np.mean(each) / 3
    value = as_array(answer(predictions, tokens, selected), (), "the loss as a single number")
    expect(close(value, expected), "other-batch", "it fails on another batch.")


def _hidden_mask(answer: Answer) -> None:
    tokens = np.full(20000, 3)
    shown, selected = answer(tokens.copy(), 4, 0.5, 0.3, 0.4, np.random.default_rng(1))
    shown, selected = as_array(shown, (20000,), "the masked document"), as_array(selected, (20000,), "the selection")
    shares = [np.mean(shown == i) for i in range(5)]
    right = [0.5 * 0.3, 0.05, 0.05, 0.7, 0.05]
    expect(
        np.abs(np.array(shares) - right).max() < 0.02 and abs(selected.mean() - 0.5) < 0.02, "other-settings", "it fails elsewhere."
    )


def _best(T: int, v: int, tau: int, p_c: float, p_r: float) -> float:
    """By enumeration of all joint events of original word and shown token, for the document of topics 1 to tau."""
    joint = np.zeros((T * v, T * v + 1))
    for w in range(tau * v):
        joint[w, 0] += (1 - p_c - p_r) / (tau * v)
        joint[w, w + 1] += p_c / (tau * v)
        joint[w, 1:] += p_r / (tau * v * T * v)
    total = joint.sum(axis=0)
    posterior = joint[:, total > 0] / total[total > 0]
    return float(1 - (total[total > 0] * (posterior**2).sum(axis=0)).sum())


def _hidden_best(answer: Answer) -> None:
    for case in ((10, 10, 3, 0.1, 0.1), (4, 3, 2, 0.2, 0.5), (5, 2, 5, 0.3, 0.3), (3, 1, 1, 0.2, 0.2)):
        value = as_array(answer(*case), (), "the loss as a single number")
        expect(close(value, _best(*case)), "other-settings", f"it fails at T, v, tau, p_c, p_r = {case}.")


EXERCISES = [
    Exercise(
        id="3.2-equation-1",
        title="the objective of a batch",
        level="warm-up",
        minutes=10,
        objective="what equation 1 averages over, and in which order",
        function="objective",
        statement=r"""
            Compute equation 1 with the squared loss (equation 3), as the mean over a batch of $B$ documents. `predictions` has shape $(B, V, N)$, column $j$ of a
            document being $f_\theta(\tilde{\mathbf{X}})_{:,j}$. `tokens` has shape $(B, N)$: the original words as token ids below $V$. `selected` has shape $(B, N)$: true at the
            positions in $M$, at least one in each document. Return one number.
        """,
        stub='''
            def objective(predictions, tokens, selected):
                """Equation 1 with the squared loss; a number."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def objective(predictions, tokens, selected):
                targets = np.eye(predictions.shape[1])[tokens].transpose(0, 2, 1)  # (B, V, N)
                each = ((predictions - targets) ** 2).sum(axis=1)  # (B, N)
                return ((each * selected).sum(axis=1) / selected.sum(axis=1)).mean()
        """,
        alternative="""
            def objective(predictions, tokens, selected):
                total = 0.0
                for f, w, chosen in zip(predictions, tokens, selected):
                    losses = []
                    for j in range(len(w)):
                        if chosen[j]:
                            losses.append(sum(float(x) ** 2 for x in f[:, j]) - 2 * float(f[w[j], j]) + 1)
                    total += sum(losses) / len(losses)
                return total / len(tokens)
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def objective(predictions, tokens, selected):
                    targets = np.eye(predictions.shape[1])[tokens].transpose(0, 2, 1)
                    return ((predictions - targets) ** 2).sum(axis=1).mean()
                """,
                "all-positions",
            ),
            Wrong(
                """
                import numpy as np

                def objective(predictions, tokens, selected):
                    targets = np.eye(predictions.shape[1])[tokens].transpose(0, 2, 1)
                    return ((predictions - targets) ** 2).sum(axis=1)[selected].mean()
                """,
                "pooled",
            ),
            Wrong(
                """
                import numpy as np

                def objective(predictions, tokens, selected):
                    targets = np.eye(predictions.shape[1])[tokens].transpose(0, 2, 1)
                    each = ((predictions - targets) ** 2).sum(axis=1)
                    return (each * selected).sum(axis=1).mean()
                """,
                "not-divided",
            ),
            Wrong(
                """
                import numpy as np

                def objective(predictions, tokens, selected):
                    targets = np.eye(predictions.shape[1])[tokens].transpose(0, 2, 1)
                    each = np.sqrt(((predictions - targets) ** 2).sum(axis=1))
                    return ((each * selected).sum(axis=1) / selected.sum(axis=1)).mean()
                """,
                "not-squared",
            ),
            Wrong(
                """
                import numpy as np

                def objective(predictions, tokens, selected):
                    targets = np.eye(predictions.shape[1])[tokens].transpose(0, 2, 1)
                    each = ((predictions - targets) ** 2).mean(axis=1)
                    return ((each * selected).sum(axis=1) / selected.sum(axis=1)).mean()
                """,
                "mean-over-vocabulary",
            ),
        ),
        hidden=_hidden_equation_1,
        explanation=r"""
            Two means, one inside the other: first over the positions in $M$ of a document, then over documents. Pooling all
            positions of the batch would give documents with many masked words more weight.
        """,
    ),
    Exercise(
        id="3.2-mask-document",
        title="mask a document",
        level="core",
        minutes=12,
        objective="the masking scheme, and which of its probabilities are conditional",
        function="mask_document",
        statement=r"""
            Write steps 1 and 2 of the masking scheme for one document. `tokens` is an array of $N$ word ids from 1 to `num_words`. Take all randomness from `rng`,
            a `numpy.random.Generator`. Return two arrays of length $N$: the masked document (with 0 for [MASK]), and true at the selected positions.
            An empty selection is allowed here.
        """,
        stub='''
            def mask_document(tokens, num_words, p_m, p_c, p_r, rng):
                """The masked document and the selection, each of shape (N,)."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            import numpy as np

            def mask_document(tokens, num_words, p_m, p_c, p_r, rng):
                selected = rng.random(len(tokens)) < p_m
                fate = rng.random(len(tokens))
                random_words = rng.integers(1, num_words + 1, size=len(tokens))
                shown = np.where(fate < p_c, tokens, np.where(fate < p_c + p_r, random_words, 0))
                return np.where(selected, shown, tokens), selected
        """,
        alternative="""
            def mask_document(tokens, num_words, p_m, p_c, p_r, rng):
                masked, selected = [int(w) for w in tokens], [False] * len(tokens)
                for n in range(len(masked)):
                    if rng.random() < p_m:
                        selected[n] = True
                        fate = rng.choice(["keep", "random", "mask"], p=[p_c, p_r, 1 - p_c - p_r])
                        if fate == "random":
                            masked[n] = int(rng.integers(num_words)) + 1
                        elif fate == "mask":
                            masked[n] = 0
                return masked, selected
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def mask_document(tokens, num_words, p_m, p_c, p_r, rng):
                    selected = rng.random(len(tokens)) < p_m
                    return np.where(selected, 0, tokens), selected
                """,
                "all-hidden",
            ),
            Wrong(
                """
                import numpy as np

                def mask_document(tokens, num_words, p_m, p_c, p_r, rng):
                    selected = rng.random(len(tokens)) < p_m
                    fate = rng.random(len(tokens))
                    random_words = rng.integers(0, num_words, size=len(tokens))
                    shown = np.where(fate < p_c, tokens, np.where(fate < p_c + p_r, random_words, 0))
                    return np.where(selected, shown, tokens), selected
                """,
                "random-from-zero",
            ),
            Wrong(
                """
                import numpy as np

                def mask_document(tokens, num_words, p_m, p_c, p_r, rng):
                    selected = rng.random(len(tokens)) < p_m
                    fate = rng.random(len(tokens))
                    random_words = rng.integers(1, num_words + 1, size=len(tokens))
                    shown = np.where(fate < p_c, tokens, np.where(fate < p_c + p_r, random_words, 0))
                    masked = np.where(selected, shown, tokens)
                    return masked, masked != tokens
                """,
                "kept-not-selected",
            ),
            Wrong(
                """
                import numpy as np

                def mask_document(tokens, num_words, p_m, p_c, p_r, rng):
                    fate = rng.random(len(tokens))
                    random_words = rng.integers(1, num_words + 1, size=len(tokens))
                    masked = np.where(fate < p_m, 0, tokens)
                    masked = np.where((fate >= p_m) & (fate < p_m + p_r), random_words, masked)
                    return masked, fate < p_m + p_r + p_c
                """,
                "not-conditional",
            ),
            Wrong(
                """
                import numpy as np

                def mask_document(tokens, num_words, p_m, p_c, p_r, rng):
                    selected = rng.random(len(tokens)) < p_m
                    fate = rng.random()
                    random_words = rng.integers(1, num_words + 1, size=len(tokens))
                    shown = tokens if fate < p_c else random_words if fate < p_c + p_r else 0 * tokens
                    return np.where(selected, shown, tokens), selected
                """,
                "one-fate",
            ),
            Wrong(
                """
                import numpy as np

                def mask_document(tokens, num_words, p_m, p_c, p_r, rng):
                    selected = np.arange(len(tokens)) < p_m * len(tokens)
                    fate = rng.random(len(tokens))
                    random_words = rng.integers(1, num_words + 1, size=len(tokens))
                    shown = np.where(fate < p_c, tokens, np.where(fate < p_c + p_r, random_words, 0))
                    return np.where(selected, shown, tokens), selected
                """,
                "not-random-positions",
            ),
            Wrong(
                """
                import numpy as np

                def mask_document(tokens, num_words, p_m, p_c, p_r, rng):
                    selected = rng.random(len(tokens)) < p_m
                    fate = rng.random(len(tokens))
                    random_words = rng.integers(1, num_words + 1, size=len(tokens))
                    shown = np.where(fate < p_r, tokens, np.where(fate < p_c + p_r, random_words, 0))
                    return np.where(selected, shown, tokens), selected
                """,
                "swapped",
            ),
            Wrong(
                """
                import numpy as np

                def mask_document(tokens, num_words, p_m, p_c, p_r, rng):
                    selected = rng.random(len(tokens)) < p_m
                    fate = rng.random(len(tokens))
                    random_words = rng.integers(1, num_words + 1)
                    shown = np.where(fate < p_c, tokens, np.where(fate < p_c + p_r, random_words, 0))
                    return np.where(selected, shown, tokens), selected
                """,
                "one-random-word",
            ),
            Wrong(
                """
                import numpy as np

                def mask_document(tokens, num_words, p_m, p_c, p_r, rng):
                    selected = rng.random(len(tokens)) < p_m
                    fate = rng.random(len(tokens))
                    random_words = rng.choice(tokens, size=len(tokens))
                    shown = np.where(fate < p_c, tokens, np.where(fate < p_c + p_r, random_words, 0))
                    return np.where(selected, shown, tokens), selected
                """,
                "random-from-document",
            ),
            Wrong(
                """
                import numpy as np

                def mask_document(tokens, num_words, p_m, p_c, p_r, rng):
                    selected = rng.random(len(tokens)) < p_m
                    fate = rng.random(len(tokens))
                    random_words = tokens % num_words + 1
                    shown = np.where(fate < p_c, tokens, np.where(fate < p_c + p_r, random_words, 0))
                    return np.where(selected, shown, tokens), selected
                """,
                "follows-old-word",
            ),
            Wrong(
                """
                import numpy as np

                def mask_document(tokens, num_words, p_m, p_c, p_r, rng):
                    selected = rng.random(len(tokens)) < p_m
                    fate = rng.random(len(tokens))
                    random_words = np.where(rng.random(len(tokens)) < 0.5, num_words, rng.integers(1, num_words + 1, size=len(tokens)))
                    shown = np.where(fate < p_c, tokens, np.where(fate < p_c + p_r, random_words, 0))
                    return np.where(selected, shown, tokens), selected
                """,
                "random-not-uniform",
            ),
            Wrong(
                """
                import numpy as np

                def mask_document(tokens, num_words, p_m, p_c, p_r, rng):
                    selected = rng.permutation(len(tokens)) < p_m * len(tokens)
                    fate = rng.random(len(tokens))
                    random_words = rng.integers(1, num_words + 1, size=len(tokens))
                    shown = np.where(fate < p_c, tokens, np.where(fate < p_c + p_r, random_words, 0))
                    return np.where(selected, shown, tokens), selected
                """,
                "fixed-count",
            ),
            Wrong(
                """
                import numpy as np

                def mask_document(tokens, num_words, p_m, p_c, p_r, rng):
                    selected = rng.random(len(tokens)) > p_m
                    fate = rng.random(len(tokens))
                    random_words = rng.integers(1, num_words + 1, size=len(tokens))
                    shown = np.where(fate < p_c, tokens, np.where(fate < p_c + p_r, random_words, 0))
                    return np.where(selected, shown, tokens), selected
                """,
                "comparison-reversed",
            ),
            Wrong(
                """
                import numpy as np

                def mask_document(tokens, num_words, p_m, p_c, p_r, rng):
                    selected = rng.random(len(tokens)) < p_m
                    fate = rng.random(len(tokens))
                    random_words = rng.integers(1, num_words + 1, size=len(tokens))
                    shown = np.where(fate < p_c, tokens, np.where(fate < p_c + p_r, random_words, -1))
                    return np.where(selected, shown, tokens), selected
                """,
                "mask-not-zero",
            ),
            Wrong(
                """
                import numpy as np

                def mask_document(tokens, num_words, p_m, p_c, p_r, rng):
                    selected = rng.random(len(tokens)) < p_m
                    fate = rng.random(len(tokens))
                    random_words = (tokens - 1 + rng.integers(1, num_words, size=len(tokens))) % num_words + 1
                    shown = np.where(fate < p_c, tokens, np.where(fate < p_c + p_r, random_words, 0))
                    return np.where(selected, shown, tokens), selected
                """,
                "never-the-same",
            ),
            Wrong(
                """
                import numpy as np

                def mask_document(tokens, num_words, p_m, p_c, p_r, rng):
                    selected = rng.random(len(tokens)) < p_m
                    fate = rng.random(len(tokens))
                    random_words = rng.integers(1, num_words + 1, size=len(tokens))
                    shown = np.where(fate < p_c, tokens, np.where(rng.random(len(tokens)) < p_r, random_words, 0))
                    return np.where(selected, shown, tokens), selected
                """,
                "one-after-the-other",
            ),
            Wrong(
                """
                import numpy as np

                def mask_document(tokens, num_words, p_m, p_c, p_r, rng):
                    fate = rng.random(len(tokens))
                    random_words = rng.integers(1, num_words + 1, size=len(tokens))
                    shown = np.where(fate < p_c, tokens, np.where(fate < p_c + p_r, random_words, 0))
                    return np.where(fate < p_m, shown, tokens), fate < p_m
                """,
                "not-conditional",
            ),
        ),
        hidden=_hidden_mask,
        explanation=r"""
            One uniform number a position decides its fate once it is selected. $p_c$ and $p_r$ are conditional on selection: of all positions only
            $p_m p_r$ get a random word. Kept positions are selected too, although nothing about them changed.
        """,
    ),
    Exercise(
        id="3.2-best-loss",
        title="the best loss of any predictor",
        level="challenge",
        minutes=25,
        objective="Bayes' rule on what a position shows, and the squared loss of a posterior mean",
        function="best_loss",
        statement=r"""
            Under Assumption 1 a model can know the topics of a document. Suppose that it does, and that it also sees what the selected position itself shows:
            [MASK], or a word that was kept or drawn at random from all $Tv$ words. What is the least expected squared loss of any predictor, averaged over what a selected position shows?
            Return it as a number. The arguments are $T$, $v$, $\tau$, $p_c$, $p_r$ ($p_m$ plays no part, as only selected positions count). It must work for all
            $1 \leq \tau \leq T$ and $p_c + p_r \leq 1$, with either of them possibly 0.
        """,
        stub='''
            def best_loss(T, v, tau, p_c, p_r):
                """Least expected squared loss at a selected position; a number."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def best_loss(T, v, tau, p_c, p_r):
                blind = 1 - 1 / (tau * v)
                shows_own_topic = p_c + p_r * tau / T
                if shows_own_topic == 0:
                    return blind
                kept = p_c / shows_own_topic  # posterior that the word is the original
                norm = kept**2 + (1 - kept**2) / (tau * v)  # squared norm of kept * e_i + (1 - kept) * p_w
                return (1 - shows_own_topic) * blind + shows_own_topic * (1 - norm)
        """,
        alternative="""
            import numpy as np

            def best_loss(T, v, tau, p_c, p_r):
                words, own = T * v, tau * v
                joint = np.zeros((words + 1, own))  # shown token, original word
                joint[0] = (1 - p_c - p_r) / own
                joint[1:] = p_r / words / own
                joint[1 + np.arange(own), np.arange(own)] += p_c / own
                shown = joint.sum(axis=1)
                seen = shown > 0
                return 1 - ((joint[seen] ** 2).sum(axis=1) / shown[seen]).sum()
        """,
        wrong=(
            Wrong(
                """
                def best_loss(T, v, tau, p_c, p_r):
                    return 1 - 1 / (tau * v)
                """,
                "ignores-position",
            ),
            Wrong(
                """
                def best_loss(T, v, tau, p_c, p_r):
                    return (1 - p_c) * (1 - 1 / (tau * v))
                """,
                "knows-fate",
            ),
            Wrong(
                """
                def best_loss(T, v, tau, p_c, p_r):
                    return (1 - p_c - p_r) * (1 - 1 / (tau * v)) + p_r * 2 * (1 - 1 / (T * v))
                """,
                "trusts-shown",
            ),
            Wrong(
                """
                def best_loss(T, v, tau, p_c, p_r):
                    blind = 1 - 1 / (tau * v)
                    if p_c + p_r == 0:
                        return blind
                    kept = p_c / (p_c + p_r)
                    norm = kept**2 + (1 - kept**2) / (tau * v)
                    return (1 - p_c - p_r) * blind + (p_c + p_r) * (1 - norm)
                """,
                "foreign-topics",
            ),
            Wrong(
                """
                def best_loss(T, v, tau, p_c, p_r):
                    T, v, tau = 10, 10, 2
                    own = p_c + p_r * tau / T
                    blind = 1 - 1 / (tau * v)
                    return blind * (1 - p_c**2 / own) if own > 0 else blind
                """,
                "sizes-fixed",
            ),
            Wrong(
                """
                def best_loss(T, v, tau, p_c, p_r):
                    own = p_c + p_r / 5
                    blind = 1 - 1 / (tau * v)
                    return blind * (1 - p_c**2 / own) if own > 0 else blind
                """,
                "sizes-fixed",
            ),
            Wrong(
                """
                def best_loss(T, v, tau, p_c, p_r):
                    return {(0.5, 0.0): 0.475, (0.1, 0.1): 0.95 * 11 / 12}.get((p_c, p_r), 0.95)
                """,
                "sizes-fixed",
            ),
            Wrong(
                """
                def best_loss(T, v, tau, p_c, p_r):
                    own = p_c + p_r * tau / T
                    blind = 1 - 1 / (tau * v)
                    return round(blind * (1 - p_c**2 / own) if own > 0 else blind, 4)
                """,
                "rounded",
            ),
        ),
        hidden=_hidden_best,
        explanation=r"""
            The best prediction is the posterior mean, and its expected loss is one minus its expected squared norm. A word of a topic that the document does not have is surely random, and so tells as little
            as [MASK]. A word of its own topics is shown with probability $\pi = p_c + p_r \tau / T$ and is the original with probability $p_c / \pi$. With $p_c = p_r = 0.1$, $T = v = 10$ and
            $\tau = 2$ the result is 0.8708, against 0.95 with uniform attention: all of the difference comes from words that were kept.
        """,
    ),
]
