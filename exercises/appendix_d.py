"""Exercises of Appendix D."""

from exercises.format import Exercise, Wrong
from topiclib.checks.base import Answer, as_array, close, expect
from topiclib.theory import optimal_attention


def _hidden_shown(answer: Answer) -> None:
    got = [float(as_array(x, (), "each share")) for x in answer(8, 6, 0.25, 0.4)]
    expect(close(got, [0.35, 0.55, 0.1], 1e-5), "other-settings", "it fails for other settings.")


def _hidden_curvature(answer: Answer) -> None:
    # p = 1/4: own (1/2 - 1/4)^2 twice; one other topic of the document (0 - 1/4)^2 twice; three absent topics at 0.
    expect(close(answer(0.5, 0.0, 5, 2, 2, True), 0.25, 1e-5), "other-settings", "it fails for other settings.")
    expect(close(answer(0.5, 0.0, 5, 2, 2, False), 0.75, 1e-5), "other-settings", "it fails for other settings.")


def _hidden_without_random(answer: Answer) -> None:
    best = optimal_attention(num_topics=50, words_per_topic=4, topics_per_doc=3, p_m=0.3, p_c=0.05, p_r=0.0)
    expect(close(answer(50, 4, 3, 0.3, 0.05), best, 1e-5), "other-settings", "it fails for other settings.")


EXERCISES = [
    Exercise(
        id="d-shown",
        title="what a selected position shows",
        level="warm-up",
        minutes=5,
        objective="to tell the shares among the selected positions from the fractions of the whole document",
        function="shown_shares",
        statement=r"""
            Of the *selected* positions, which share shows [MASK] ($\pi_M$), which a word of one of the document's $\tau$ topics ($\pi_I$), and which a
            word of another topic ($\pi_O$)? Random words are uniform on all $Tv$ words. Return the three numbers, in this order.
        """,
        stub='''
            def shown_shares(num_topics, topics_per_doc, p_c, p_r):
                """(pi_M, pi_I, pi_O), which sum to 1."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def shown_shares(num_topics, topics_per_doc, p_c, p_r):
                hit = topics_per_doc / num_topics
                return 1 - p_c - p_r, p_c + p_r * hit, p_r * (1 - hit)
        """,
        alternative="""
            import numpy as np

            def shown_shares(num_topics, topics_per_doc, p_c, p_r):
                topics = np.arange(num_topics) < topics_per_doc
                outside = p_r * (~topics).mean()
                inside = p_c + p_r * topics.mean()
                return [1 - inside - outside, inside, outside]
        """,
        wrong=(
            Wrong(
                """
                def shown_shares(num_topics, topics_per_doc, p_c, p_r):
                    return 1 - p_c - p_r, p_c, p_r
                """,
                "random-inside-lost",
            ),
            Wrong(
                """
                def shown_shares(num_topics, topics_per_doc, p_c, p_r):
                    hit = topics_per_doc / num_topics
                    return 1 - p_c - p_r, p_c + p_r * (1 - hit), p_r * hit
                """,
                "inside-and-outside-swapped",
            ),
            Wrong(
                """
                def shown_shares(num_topics, topics_per_doc, p_c, p_r):
                    hit = topics_per_doc / num_topics
                    return 1 - p_c - p_r, p_r * hit, p_r * (1 - hit)
                """,
                "kept-left-out",
            ),
            Wrong(
                """
                def shown_shares(num_topics, topics_per_doc, p_c, p_r):
                    hit = topics_per_doc / num_topics
                    return 1 - p_c, p_c + p_r * hit, p_r * (1 - hit)
                """,
                "mask-share",
            ),
        ),
        hidden=_hidden_shown,
        explanation=r"""
            A selected position is kept with probability $p_c$ and random with $p_r$. A random word is of one of the document's topics with probability $\tau/T$. The
            fractions $m$, $a$, $r$ count all positions, selected or not; these shares count the selected ones only, since only they enter the loss.
        """,
    ),
    Exercise(
        id="d-curvature",
        title="what all attention on one topic costs",
        level="core",
        minutes=12,
        objective="to compute the constants of the loss as squared distances of two predictions",
        function="curvature",
        statement=r"""
            With all of its attention on one topic the model predicts `w_same` for each of this topic's words and `w_diff` for every other word. Return the
            squared distance of this prediction to the document's word distribution, which is $1/(\tau v)$ on the words of its $\tau$ topics and 0 elsewhere.
            If `inside` is True the attended topic is one of the document's, else it is not.
        """,
        stub='''
            def curvature(w_same, w_diff, num_topics, words_per_topic, topics_per_doc, inside):
                """Q_I if ``inside``, else Q_O."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            def curvature(w_same, w_diff, num_topics, words_per_topic, topics_per_doc, inside):
                p = 1 / (topics_per_doc * words_per_topic)
                own = (w_same - p * inside) ** 2
                others = (topics_per_doc - inside) * (w_diff - p) ** 2
                absent = (num_topics - topics_per_doc - (not inside)) * w_diff**2
                return words_per_topic * (own + others + absent)
        """,
        alternative="""
            import numpy as np

            def curvature(w_same, w_diff, num_topics, words_per_topic, topics_per_doc, inside):
                prediction = np.full((num_topics, words_per_topic), float(w_diff))
                prediction[0 if inside else -1] = w_same
                document = np.zeros((num_topics, words_per_topic))
                document[:topics_per_doc] = 1 / (topics_per_doc * words_per_topic)
                return np.sum((prediction - document) ** 2)
        """,
        wrong=(
            Wrong(
                """
                import numpy as np

                def curvature(w_same, w_diff, num_topics, words_per_topic, topics_per_doc, inside):
                    prediction = np.full((num_topics, words_per_topic), float(w_diff))
                    prediction[0 if inside else -1] = w_same
                    document = np.zeros((num_topics, words_per_topic))
                    document[:topics_per_doc] = 1 / (topics_per_doc * words_per_topic)
                    return np.linalg.norm(prediction - document)
                """,
                "not-squared",
            ),
            Wrong(
                """
                def curvature(w_same, w_diff, num_topics, words_per_topic, topics_per_doc, inside):
                    p = 1 / (topics_per_doc * words_per_topic)
                    i = bool(inside)
                    return (
                        (w_same - p * i) ** 2
                        + (topics_per_doc - i) * (w_diff - p) ** 2
                        + (num_topics - topics_per_doc - 1 + i) * w_diff**2
                    )
                """,
                "one-word-a-topic",
            ),
            Wrong(
                """
                def curvature(w_same, w_diff, num_topics, words_per_topic, topics_per_doc, inside):
                    p = 1 / (topics_per_doc * words_per_topic)
                    i = bool(inside)
                    return words_per_topic * ((w_same - p * i) ** 2 + (topics_per_doc - i) * (w_diff - p) ** 2)
                """,
                "absent-words-lost",
            ),
            Wrong(
                """
                def curvature(w_same, w_diff, num_topics, words_per_topic, topics_per_doc, inside):
                    p = 1 / (topics_per_doc * words_per_topic)
                    parts = (w_same - p) ** 2, (topics_per_doc - 1) * (w_diff - p) ** 2, (num_topics - topics_per_doc) * w_diff**2
                    return words_per_topic * sum(parts)
                """,
                "outside-as-inside",
            ),
        ),
        hidden=_hidden_curvature,
        explanation=r"""
            Three kinds of topics: the attended one, the document's others, and the rest. Seen from inside there are $\tau - 1$ others and $T - \tau$ in the rest, seen from outside
            $\tau$ and $T - \tau - 1$. The two distances differ by $2/(a \tau v)$: looking at a topic that is not there is dearer.
        """,
    ),
    Exercise(
        id="d-without-random",
        title="the optimum without random words, exactly",
        level="challenge",
        minutes=20,
        objective="to set up and solve the condition for a minimum at finite T",
        function="best_ratio",
        statement=r"""
            Let $p_r = 0$. Then no word misleads, and the condition for the minimum, $\theta_I Q_I = K$ with $K = (\tau - 1)/(\tau a v)$, can be solved at every finite $T$. Return
            $s^*$ as a number. `topiclib.theory.theorem2` gives the entries of $\mathbf{W}^{V*}$; use your answer to the exercise before, or the formula of the chapter, for $Q_I$.
        """,
        stub='''
            def best_ratio(num_topics, words_per_topic, topics_per_doc, p_m, p_c):
                """s* at p_r = 0, for 2 <= tau < T."""
                raise NotImplementedError("your answer")
        ''',
        reference="""
            from topiclib.theory import theorem2

            def best_ratio(num_topics, words_per_topic, topics_per_doc, p_m, p_c):
                w = theorem2(num_topics=num_topics, words_per_topic=words_per_topic, p_m=p_m, p_c=p_c, p_r=0)
                tau, v, a, p = topics_per_doc, words_per_topic, 1 - (1 - p_c) * p_m, 1 / (topics_per_doc * words_per_topic)
                inside = (w.same_topic - p) ** 2 + (tau - 1) * (w.different_topic - p) ** 2
                q = v * (inside + (num_topics - tau) * w.different_topic**2)
                k = (tau - 1) / (tau * a * v)
                return 1 + k / (a / tau * (q - k))
        """,
        alternative="""
            from scipy.optimize import brentq
            from topiclib.theory import loss_terms

            def best_ratio(num_topics, words_per_topic, topics_per_doc, p_m, p_c):
                k = loss_terms(
                    num_topics=num_topics, words_per_topic=words_per_topic, topics_per_doc=topics_per_doc, p_m=p_m, p_c=p_c, p_r=0
                )
                moved = brentq(lambda theta: float(k.curve_inside * theta - k.pull), 0, 1, xtol=1e-15)
                return 1 + moved / (1 - moved) / float(k.mass_inside)
        """,
        wrong=(
            Wrong(
                """
                from topiclib.theory import loss_terms

                def best_ratio(num_topics, words_per_topic, topics_per_doc, p_m, p_c):
                    k = loss_terms(
                        num_topics=num_topics, words_per_topic=words_per_topic, topics_per_doc=topics_per_doc, p_m=p_m, p_c=p_c, p_r=0
                    )
                    return k.pull / (k.mass_inside * (k.curve_inside - k.pull))
                """,
                "one-missing",
            ),
            Wrong(
                """
                from topiclib.theory import loss_terms

                def best_ratio(num_topics, words_per_topic, topics_per_doc, p_m, p_c):
                    k = loss_terms(
                        num_topics=num_topics, words_per_topic=words_per_topic, topics_per_doc=topics_per_doc, p_m=p_m, p_c=p_c, p_r=0
                    )
                    return k.pull / k.curve_inside
                """,
                "share-not-ratio",
            ),
            Wrong(
                """
                from topiclib.theory import loss_terms

                def best_ratio(num_topics, words_per_topic, topics_per_doc, p_m, p_c):
                    k = loss_terms(
                        num_topics=num_topics, words_per_topic=words_per_topic, topics_per_doc=topics_per_doc, p_m=p_m, p_c=p_c, p_r=0
                    )
                    return 1 + k.pull / (k.mass_inside * k.curve_inside)
                """,
                "not-normalised",
            ),
            Wrong(
                """
                def best_ratio(num_topics, words_per_topic, topics_per_doc, p_m, p_c):
                    a = 1 - (1 - p_c) * p_m
                    return topics_per_doc / (1 - a) - a / (topics_per_doc - a)
                """,
                "infinitely-many-topics",
            ),
        ),
        hidden=_hidden_without_random,
        explanation=r"""
            $\theta_I = yF_I/(1 + yF_I)$ with $F_I = a/\tau$, so $\theta_I = K/Q_I$ means $y = K/(F_I(Q_I - K))$. Only $Q_I$ knows $T$, through $\mathbf{W}_{\text{diff-topic}}$.
        """,
    ),
]
