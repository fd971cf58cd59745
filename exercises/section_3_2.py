"""Exercises of Section 3.2."""

from itertools import combinations

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
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


def _hidden_shown(answer: Answer, quantity: str = "word") -> None:
    rng = np.random.default_rng(32)
    for T, v, tau, N in ((6, 4, 3, 30), (5, 1, 4, 12), (7, 3, 1, 6)):
        p_m, p_c, p_r = 0.4, 0.15, 0.35
        shown = rng.integers(0, T * v + 1, size=N)
        shown[0] = 0
        sets = list(combinations(range(T), tau))
        logs = []
        for one in sets:
            shares = np.concatenate([[p_m * (1 - p_c - p_r)], np.full(T * v, p_m * p_r / (T * v))])
            for t in one:
                shares[1 + t * v : 1 + (t + 1) * v] += (1 - p_m + p_m * p_c) / (tau * v)
            logs.append(np.log(shares[shown]).sum())
        belief = np.exp(np.array(logs) - max(logs))
        belief /= belief.sum()
        has = np.array([sum(b for b, one in zip(belief, sets, strict=True) if t in one) for t in range(T)])
        word = np.concatenate([[0], np.repeat(has / (tau * v), v)])
        right = {"word": word, "topics": has, "loss": 1 - (word**2).sum()}[quantity]
        found = as_array(answer(shown, T, v, tau, p_m, p_c, p_r), np.shape(right), "what is asked for")
        expect(close(found, right, 1e-4), "other-document", f"it fails on another document, with T, v, tau = {T, v, tau}.")


EXERCISES: list[Exercise] = [
    Exercise(
        id="3.2-equation-1",
        title="the objective of a batch",
        level="warm-up",
        minutes=10,
        objective="what equation 1 averages over, and in which order",
        prerequisites=(
            "[equation 1 and equation 3](03_2_training_objective.ipynb#the-objective)",
            "NumPy's indexing and broadcasting",
        ),
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
        prerequisites=(
            "[the masking scheme](03_2_training_objective.ipynb#masking-step-by-step)",
            "a `numpy.random.Generator`",
        ),
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
        graded=True,
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
        prerequisites=(
            "[Assumption 1](03_1_topic_models.ipynb#assumption-1)",
            "Bayes' rule",
            "the mean label is the best prediction under the squared loss",
        ),
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
    Exercise(
        id="3.2-shown-tokens",
        title="what the shown tokens say",
        level="challenge",
        minutes=35,
        objective="Bayes' rule over topic sets, with equation D.17 as the likelihood",
        prerequisites=(
            "[equation D.17](03_2_training_objective.ipynb#what-a-masked-long-document-looks-like)",
            "Bayes' rule",
            "`itertools.combinations`",
        ),
        function="from_shown_tokens",
        statement=r"""
            A document of finite length has $\tau$ of $T$ topics; every set of $\tau$ topics is equally likely, and the words are drawn as in
            [Section 3.1](03_1_topic_models.ipynb). It was masked by the scheme of this chapter, with $p_r > 0$. You see only `shown`, an array of its $N$ token
            ids after masking: 0 is [MASK], and topic $t$ has the words $(t-1)v + 1$ to $tv$. You are told neither the topics nor which positions were
            selected. There is one [MASK] at least, and $T \leq 12$, so that all sets of topics can be listed; $N$ may be several thousand. From what is shown, return
            {{asked}}.
        """,
        stub='''
            def from_shown_tokens(shown, T, v, tau, p_m, p_c, p_r):
                """{{docstring}}"""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            from itertools import combinations
            import numpy as np

            def from_shown_tokens(shown, T, v, tau, p_m, p_c, p_r):
                per_topic = np.bincount((shown[shown > 0] - 1) // v, minlength=T)
                sets = np.array([[t in s for t in range(T)] for s in combinations(range(T), tau)])
                odds = 1 + T * (1 - (1 - p_c) * p_m) / (tau * p_m * p_r)
                log_likely = sets @ per_topic * np.log(odds)
                belief = np.exp(log_likely - log_likely.max())
                has_topic = belief @ sets / belief.sum()
                {{result}}
        """,
        alternative="""
            from itertools import combinations
            import math
            import numpy as np

            def from_shown_tokens(shown, T, v, tau, p_m, p_c, p_r):
                logs = {}
                for s in combinations(range(1, T + 1), tau):
                    own = [math.ceil(int(w) / v) in s for w in shown if w != 0]
                    present = math.log((1 - p_m + p_m * p_c) / (tau * v) + p_m * p_r / (T * v))
                    absent = math.log(p_m * p_r / (T * v))
                    logs[s] = sum(present if is_own else absent for is_own in own)
                top = max(logs.values())
                total = sum(math.exp(x - top) for x in logs.values())
                has_topic = np.zeros(T)
                for s, x in logs.items():
                    has_topic[[t - 1 for t in s]] += math.exp(x - top) / total
                word = [0.0] + [float(h) / (tau * v) for h in has_topic for _ in range(v)]
                return {"word": word, "topics": has_topic, "loss": 1 - sum(q * q for q in word)}["{{quantity}}"]
        """,
        wrong=(
            Wrong(
                """
                from itertools import combinations
                import numpy as np

                def from_shown_tokens(shown, T, v, tau, p_m, p_c, p_r):
                    per_topic = np.bincount((shown - 1) // v % T, minlength=T)
                    sets = np.array([[s.count(t) for t in range(T)] for s in combinations(range(T), tau)])
                    odds = 1 + T * (1 - (1 - p_c) * p_m) / (tau * p_m * p_r)
                    log_likely = sets @ per_topic * np.log(odds)
                    belief = np.exp(log_likely - log_likely.max())
                    has_topic = belief @ sets / belief.sum()
                    {{result}}
                """,
                "mask-counted",
            ),
            Wrong(
                """
                from itertools import combinations
                import numpy as np

                def from_shown_tokens(shown, T, v, tau, p_m, p_c, p_r):
                    per_topic = np.bincount((shown[shown > 0] - 1) // v, minlength=T)
                    sets = np.array([[s.count(t) for t in range(T)] for s in combinations(range(T), tau)])
                    odds = 1 + T * (1 - (1 - p_c) * p_m) / (tau * p_r)
                    log_likely = sets @ per_topic * np.log(odds)
                    belief = np.exp(log_likely - log_likely.max())
                    has_topic = belief @ sets / belief.sum()
                    {{result}}
                """,
                "not-conditional",
            ),
            Wrong(
                """
                from itertools import combinations
                import numpy as np

                def from_shown_tokens(shown, T, v, tau, p_m, p_c, p_r):
                    per_topic = np.bincount((shown[shown > 0] - 1) // v, minlength=T)
                    sets = np.array([[s.count(t) for t in range(T)] for s in combinations(range(T), tau)])
                    odds = 1 + T * (1 - p_m) / (tau * p_m * p_r)
                    log_likely = sets @ per_topic * np.log(odds)
                    belief = np.exp(log_likely - log_likely.max())
                    has_topic = belief @ sets / belief.sum()
                    {{result}}
                """,
                "kept-forgotten",
            ),
            Wrong(
                """
                from itertools import combinations
                import numpy as np

                def from_shown_tokens(shown, T, v, tau, p_m, p_c, p_r):
                    per_topic = np.bincount((shown[shown > 0] - 1) // v, minlength=T)
                    sets = np.array([[s.count(t) for t in range(T)] for s in combinations(range(T), tau)])
                    odds = T * (1 - (1 - p_c) * p_m) / (tau * p_m * p_r)
                    log_likely = sets @ per_topic * np.log(odds)
                    belief = np.exp(log_likely - log_likely.max())
                    has_topic = belief @ sets / belief.sum()
                    {{result}}
                """,
                "random-hits-too",
            ),
            Wrong(
                """
                from itertools import combinations
                import numpy as np

                def from_shown_tokens(shown, T, v, tau, p_m, p_c, p_r):
                    per_topic = np.bincount((shown[shown > 0] - 1) // v, minlength=T)
                    sets = np.array([[s.count(t) for t in range(T)] for s in combinations(range(T), tau)])
                    odds = 1 + (1 - (1 - p_c) * p_m) / (p_m * p_r)
                    log_likely = sets @ per_topic * np.log(odds)
                    belief = np.exp(log_likely - log_likely.max())
                    has_topic = belief @ sets / belief.sum()
                    {{result}}
                """,
                "shares-mixed-up",
            ),
            Wrong(
                """
                from itertools import product
                import numpy as np

                def from_shown_tokens(shown, T, v, tau, p_m, p_c, p_r):
                    per_topic = np.bincount((shown[shown > 0] - 1) // v, minlength=T)
                    sets = np.array([[s.count(t) for t in range(T)] for s in product(range(T), repeat=tau)])
                    odds = 1 + T * (1 - (1 - p_c) * p_m) / (tau * p_m * p_r)
                    log_likely = (sets > 0) @ per_topic * np.log(odds)
                    belief = np.exp(log_likely - log_likely.max())
                    has_topic = belief @ (sets > 0) / belief.sum()
                    {{result}}
                """,
                "not-distinct",
            ),
            Wrong(
                """
                from itertools import combinations
                import numpy as np

                def from_shown_tokens(shown, T, v, tau, p_m, p_c, p_r):
                    per_topic = np.bincount((shown[shown > 0] - 1) // v, minlength=T)
                    sets = np.array([[s.count(t) for t in range(T)] for s in combinations(range(T), tau)])
                    odds = 1 + T * (1 - (1 - p_c) * p_m) / (tau * p_m * p_r)
                    log_likely = sets @ per_topic * np.log(odds)
                    belief = (sets[:, per_topic > 0] > 0).all(axis=1)
                    has_topic = belief @ sets / belief.sum()
                    {{result}}
                """,
                "noise-ignored",
            ),
            Wrong(
                """
                from itertools import combinations
                import numpy as np

                def from_shown_tokens(shown, T, v, tau, p_m, p_c, p_r):
                    per_topic = np.bincount((shown[shown > 0] - 1) // v, minlength=T)
                    sets = np.array([[s.count(t) for t in range(T)] for s in combinations(range(T), tau)])
                    odds = 1 + T * (1 - (1 - p_c) * p_m) / (tau * p_m * p_r)
                    log_likely = sets @ per_topic * np.log(odds)
                    belief = 1.0 * (np.arange(len(sets)) == log_likely.argmax())
                    has_topic = belief @ sets / belief.sum()
                    {{result}}
                """,
                "hard-decision",
            ),
            Wrong(
                """
                from itertools import combinations
                import numpy as np

                def from_shown_tokens(shown, T, v, tau, p_m, p_c, p_r):
                    per_topic = np.bincount((shown[shown > 0] - 1) // v, minlength=T)
                    has_topic = tau * per_topic / max(per_topic.sum(), 1) + (per_topic.sum() == 0) * tau / T
                    {{result}}
                """,
                "frequencies",
            ),
            Wrong(
                """
                from itertools import combinations
                import numpy as np

                def from_shown_tokens(shown, T, v, tau, p_m, p_c, p_r):
                    per_topic = np.bincount((shown[shown > 0] - 1) // v, minlength=T)
                    sets = np.array([[s.count(t) for t in range(T)] for s in combinations(range(T), tau)])
                    odds = 1 + T * (1 - (1 - p_c) * p_m) / (tau * p_m * p_r)
                    log_likely = sets @ per_topic * np.log(odds)
                    belief = odds ** (1.0 * sets @ per_topic)
                    has_topic = belief @ sets / belief.sum()
                    {{result}}
                """,
                "underflow",
            ),
        ),
        hidden=_hidden_shown,
        graded=True,
        explanation=r"""
            Given its topics the tokens of a document are independent, and each shows what equation D.17 says. A word of one of the topics has the probability
            $\frac{a}{\tau v} + \frac{r}{Tv}$, any other word $\frac{r}{Tv}$, and [MASK] has $m$ whatever the topics are. So a word multiplies the odds of every set with
            its topic by $1 + \frac{aT}{r\tau}$. In a long document these powers leave the range of floating point; their logarithms do not. A topic's
            probability is the sum over the sets that have it, and given the set every word of it is hidden with probability $\frac{1}{\tau v}$.
        """,
        variants=(
            Variant(
                {"quantity": "word"},
                {
                    "asked": "the probabilities of the word that stood under one of the [MASK]: an array of length $Tv + 1$, with entry 0 for [MASK]",
                    "docstring": "Probabilities of the word under a [MASK], given all that is shown; shape (T v + 1,).",
                    "result": "return np.concatenate([[0], np.repeat(has_topic, v) / (tau * v)])",
                },
            ),
            Variant(
                {"quantity": "topics"},
                {
                    "asked": "for each topic the probability that the document has it: an array of length $T$",
                    "docstring": "Probability of each topic to be one of the document's, given all that is shown; shape (T,).",
                    "result": "return 1 * has_topic",
                },
            ),
            Variant(
                {"quantity": "loss"},
                {
                    "asked": "the least expected squared loss that a prediction at one of the [MASK] can have, given what is shown: one number",
                    "docstring": "Least expected squared loss at a [MASK], given all that is shown; a number.",
                    "result": "return 1 - (has_topic**2).sum() / (tau**2 * v)",
                },
            ),
        ),
    ),
]

PAPER: list[PaperExercise] = [
    PaperExercise(
        id="3.2-paper-remark-1",
        title="where the optimal logits are",
        level="core",
        minutes=25,
        objective="turning a remark into statements, and proving them",
        prerequisites=(
            "[Remark 1](03_2_training_objective.ipynb#squared-loss-and-cross-entropy)",
            "Jensen's inequality or the Kullback-Leibler divergence",
        ),
        statement=r"""
            One label is drawn: label $i$ of $d \geq 2$ with probability $q_i$. Consider the expected loss as a function of the prediction $\mathbf{x} \in \mathbb{R}^d$. Prove what
            Remark 1 only says. (a) Under the cross-entropy, if all $q_i > 0$, the minimisers form exactly one line, and the minimum is
            $H(\mathbf{q}) = -\sum_i q_i \log q_i$. (b) If some $q_i = 0$, the infimum is still $H(\mathbf{q})$, but no $\mathbf{x}$ attains it. (c) Under the squared loss
            there is one minimiser for every $\mathbf{q}$. (d) Add the penalty $\lambda \|\mathbf{x}\|^2$ with $\lambda > 0$ to the cross-entropy. Show that now a minimiser exists and
            that there is only one.
        """,
        graded=True,
        rubric=(
            (
                3,
                "(a): writes the excess over the entropy as a Kullback-Leibler divergence between q and the softmax (or uses Jensen or Gibbs), with the case of equality: softmax equals q. The inequality without the case of equality: 2 points.",
            ),
            (
                1,
                "(a): solves softmax = q for the logits: the logarithms of q plus any one constant, and says that these make a line.",
            ),
            (
                2,
                "(b): not attained, since equality needs softmax = q and every softmax is positive. 1 point for 'the logit would be minus infinity' alone.",
            ),
            (1, "(b): names a sequence of predictions whose loss tends to the entropy, so that it is the infimum."),
            (1, "(c): completes the square, or uses a strictly convex quadratic with gradient zero at q, for every q."),
            (
                2,
                "(d): 1 point for existence (the loss is at least the penalty, which grows without bound, and is continuous), 1 point for uniqueness (convex plus strictly convex).",
            ),
        ),
        model_answer=r"""
            Write $\mathbf{s}$ for the softmax of $\mathbf{x}$, so $s_i > 0$ and $\sum_i s_i = 1$. The expected cross-entropy is $-\sum_i q_i \log s_i$.

            (a) Its excess over the entropy is $-\sum_i q_i \log s_i - H(\mathbf{q}) = \sum_i q_i \log \frac{q_i}{s_i}$, the Kullback-Leibler divergence. As $\log z \leq z - 1$ with equality only at
            $z = 1$, it is at least $\sum_i q_i (1 - \frac{s_i}{q_i}) = 1 - 1 = 0$, with equality exactly if $s_i = q_i$ for all $i$. Now $s_i = q_i$ means
            $x_i = \log q_i + \log \sum_j e^{x_j}$: $x_i = \log q_i + c$ with the same $c$ for all $i$. Conversely each such $\mathbf{x}$ has $\mathbf{s} = \mathbf{q}$, for every real $c$. These are the points of one
            line, in the direction of $(1, \dots, 1)$.

            (b) Sum over the $i$ with $q_i > 0$ only. The same inequality gives at least $1 - \sum_{i: q_i > 0} s_i$, and this is positive, since a label with $q_i = 0$ has $s_i > 0$. So $H(\mathbf{q})$ is not
            attained. Take $x_i = \log q_i$ where $q_i > 0$ and $x_i = -n$ elsewhere. As $n$ grows, $\mathbf{s}$ tends to $\mathbf{q}$ and the loss to $H(\mathbf{q})$.

            (c) $\sum_i q_i \|\mathbf{x} - \mathbf{e}_i\|^2 = \|\mathbf{x}\|^2 - 2\, \mathbf{x} \cdot \mathbf{q} + 1 = \|\mathbf{x} - \mathbf{q}\|^2 + 1 - \|\mathbf{q}\|^2$, least at $\mathbf{x} = \mathbf{q}$ and
            nowhere else, zeros in $\mathbf{q}$ or not.

            (d) The cross-entropy is not negative, so the sum is at least $\lambda \|\mathbf{x}\|^2$. Outside a large ball it exceeds its value at $\mathbf{0}$, and in the ball, which is compact, the continuous function has a minimum.
            The cross-entropy is convex ($\log \sum_j e^{x_j}$ is convex, the rest linear) and the penalty strictly convex. Their sum is strictly convex and has no second minimiser.
        """,
    ),
]
