"""Exercises of Appendix D."""

import numpy as np

from exercises.format import Exercise, PaperExercise, Variant, Wrong
from topiclib.checks.base import Answer, as_array, close, expect
from topiclib.theory import ValueMatrix, attention_loss, optimal_attention


def _hidden_shown(answer: Answer) -> None:
    got = [float(as_array(x, (), "each share")) for x in answer(8, 6, 0.25, 0.4)]
    expect(close(got, [0.35, 0.55, 0.1], 1e-5), "other-settings", "it fails for other settings.")


def _hidden_curvature(answer: Answer) -> None:
    # p = 1/4: own (1/2 - 1/4)^2 twice; one other topic of the document (0 - 1/4)^2 twice; three absent topics at 0.
    expect(
        close(as_array(answer(0.5, 0.0, 5, 2, 2, True), (), "the squared distance"), 0.25, 1e-5),
        "other-settings",
        "it fails for other settings.",
    )
    expect(
        close(as_array(answer(0.5, 0.0, 5, 2, 2, False), (), "the squared distance"), 0.75, 1e-5),
        "other-settings",
        "it fails for other settings.",
    )


def _hidden_without_random(answer: Answer) -> None:
    best = optimal_attention(num_topics=50, words_per_topic=4, topics_per_doc=3, p_m=0.3, p_c=0.05, p_r=0.0)
    expect(
        close(as_array(answer(50, 4, 3, 0.3, 0.05), (), "s as a number"), best, 1e-5),
        "other-settings",
        "it fails for other settings.",
    )


def _hidden_slope_at_uniform(answer: Answer, moved: str = "alpha and beta") -> None:
    for big_t, v, tau, p_m, p_c, p_r in ((7, 3, 4, 0.35, 0.25, 0.15), (3, 5, 2, 0.2, 0.05, 0.5)):
        w = 0.05, 0.09, -0.01
        found = float(as_array(answer(*w, big_t, v, tau, p_m, p_c, p_r), (), "the slope as one number"))
        step = np.array([-1e-4, 1e-4])
        loss = attention_loss(
            ValueMatrix(*w, w[1]),
            num_topics=big_t,
            words_per_topic=v,
            topics_per_doc=tau,
            p_m=p_m,
            p_c=p_c,
            p_r=p_r,
            same_topic_ratio=1 + step * {"alpha": 1, "beta": 0}.get(moved, 1) * (v / (v - 1) if moved == "the average s" else 1),
            same_word_ratio=1 + step * (moved in ("beta", "alpha and beta")),
        )
        expect(close(found, (loss[1] - loss[0]) / 2e-4, 1e-5), "other-settings", "it fails in another setting.")


_SLOPE = """
import numpy as np

def slope_at_uniform(w_mask, w_same, w_diff, num_topics, words_per_topic, topics_per_doc, p_m, p_c, p_r):
    T, v, tau = num_topics, words_per_topic, topics_per_doc
    m, a, r = p_m * (1 - p_c - p_r), 1 - (1 - p_c) * p_m, p_m * p_r
    topic = np.repeat(np.arange(T), v)
    p = np.where(topic < tau, 1 / (tau * v), 0)
    shares = np.array([a / tau + r / T if t < tau else r / T for t in range(T)])

    def output(mask, topics):
        return w_mask * mask + w_diff * (sum(topics) - topics[topic]) + w_same * topics[topic]

    uniform = output(m, shares)

    def pull(group, target):
        return 2 * (group - uniform) @ (uniform - target)

    inside, outside = output(0, np.eye(T)[0]), output(0, np.eye(T)[-1])
    kept = p_c * pull(inside, np.eye(T * v)[0])
    stray = p_r * (tau / T * pull(inside, p) * shares[0] + (1 - tau / T) * pull(outside, p) * shares[-1])
    masked = (1 - p_c - p_r) * m * pull(output(1, np.zeros(T)), p)
    return {{by_s}} * (kept * shares[0] + stray) + {{by_beta}} * masked
"""


def _slope(right: str, mistake: str, hint: str) -> Wrong:
    """The solution of d-slope-at-uniform with one mistake."""
    assert right in _SLOPE, right
    return Wrong(_SLOPE.replace(right, mistake), hint)


EXERCISES = [
    Exercise(
        id="d-shown",
        title="what a selected position shows",
        level="warm-up",
        minutes=5,
        objective="to tell the shares among the selected positions from the fractions of the whole document",
        prerequisites=(
            "[D.1](appendix_d.ipynb#d1-masking-probabilities)",
            "total probability",
        ),
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
        prerequisites=(
            "[D.2](appendix_d.ipynb#d2-what-the-attention-pattern-does-to-the-output)",
            "squared distance of two vectors",
        ),
        graded=True,
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
        level="core",
        minutes=20,
        objective="to set up and solve the condition for a minimum at finite $T$",
        prerequisites=(
            "[the exact minimiser](appendix_d.ipynb#the-exact-minimiser)",
            r"the fraction $\theta_F(s)$ of attention that moves",
        ),
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
    Exercise(
        id="d-slope-at-uniform",
        title="does attention start to grow?",
        level="challenge",
        minutes=40,
        objective="to derive the loss near uniform attention for any value matrix, not only for an optimal one",
        prerequisites=(
            "[D.2](appendix_d.ipynb#d2-what-the-attention-pattern-does-to-the-output)",
            "[the three kinds of query](appendix_d.ipynb#the-loss-in-closed-form)",
            "the derivative of a squared distance along a line",
        ),
        graded=True,
        function="slope_at_uniform",
        statement=r"""
            A value matrix that is still being trained has the three values `w_mask` $= \mathbf{W}_{i0}$, `w_same` (the word itself included) and `w_diff`; row 0
            is zero. They are any numbers, so uniform attention need not predict $p_{\mathbf{w}}$, and the chapter's formula for the loss
            does not apply. Under Assumptions 1 and 2 return the derivative of the squared loss $L$ at uniform attention, $\alpha = \beta = 1$, as
            one number, {{direction}}. $1 \le \tau < T$ and $v \ge 2$; some of the probabilities may be zero. Derive it: a difference quotient of the library's loss is for
            checking your formula.
        """,
        stub='''
            def slope_at_uniform(w_mask, w_same, w_diff, num_topics, words_per_topic, topics_per_doc, p_m, p_c, p_r):
                """The derivative of the loss at alpha = beta = 1, in the direction that the exercise names."""
                raise NotImplementedError("your answer")
        ''',
        reference=_SLOPE,
        alternative="""
            import sympy

            def slope_at_uniform(w_mask, w_same, w_diff, num_topics, words_per_topic, topics_per_doc, p_m, p_c, p_r):
                T, v, tau = num_topics, words_per_topic, topics_per_doc
                m, a, r = p_m * (1 - p_c - p_r), 1 - (1 - p_c) * p_m, p_m * p_r
                x = sympy.Symbol("x", real=True)
                s, beta = 1 + {{by_s}} * x, 1 + {{by_beta}} * x
                word = lambda mask, own, rest: w_mask * mask + w_same * own + w_diff * rest
                loss = 0
                for topic, chance in ((1, p_c + p_r * tau / T), (0, p_r * (1 - tau / T)), (None, 1 - p_c - p_r)):
                    weight = {"mask": m * (beta if topic is None else 1)}
                    n_in, n_out = tau - (topic == 1), T - tau - (topic == 0)
                    own = s * ((a / tau) * (topic == 1) + r / T) if topic is not None else 0
                    near, far = a / tau + r / T, r / T
                    total = weight["mask"] + own + n_in * near + n_out * far
                    at = lambda share: word(weight["mask"] / total, share / total, 1 - (weight["mask"] + share) / total)
                    squares = v * ((at(own) ** 2 if topic is not None else 0) + n_in * at(near) ** 2 + n_out * at(far) ** 2)
                    mean_target = (n_in * at(near) + (at(own) if topic == 1 else 0)) / tau
                    hit = chance * mean_target
                    if topic == 1:
                        hit = p_c * at(own) + (chance - p_c) * mean_target
                    loss = loss + chance * (squares + 1) - 2 * hit
                return float(sympy.diff(loss, x).subs(x, 0))
        """,
        wrong=(
            _slope(
                "kept = p_c * pull(inside, np.eye(T * v)[0])",
                "kept = p_c * pull(inside, p)",
                "kept-words",
            ),
            _slope("uniform = output(m, shares)", "uniform = p", "uniform-not-perfect"),
            _slope("(1 - tau / T) * pull(outside, p) * shares[-1]", "0", "outside-lost"),
            _slope("kept * shares[0]", "kept", "theta-not-ratio"),
            _slope("{{by_s}} *", "{{other_s}} *", "other-direction"),
            _slope("return 2 *", "return 1 *", "factor-two"),
            _slope("return 2 *", "return -2 *", "sign"),
            _slope("{{by_beta}} * masked", "{{other_beta}} * masked", "mask-queries"),
        ),
        hidden=_hidden_slope_at_uniform,
        explanation=r"""
            Near uniform attention the fraction that moves to a group with the share $F$ is $(c - 1) F$ for a small $c - 1$. So a query's prediction
            moves from $\mathbf{f} = \mathbf{W}\mathbf{x}$ towards the group's $\mathbf{g}$ with the speed $F$, and its loss changes at the rate
            $2F\,(\mathbf{g} - \mathbf{f}) \cdot (\mathbf{f} - \bar{\mathbf{y}})$, where $\bar{\mathbf{y}}$ is the mean target given the query: the word itself where it was
            kept, else $p_{\mathbf{w}}$. The four kinds are weighed with $p_c$, $p_r \tau/T$, $p_r(1 - \tau/T)$ and $1 - p_c - p_r$. The first three feel the average
            $s$, the last feels $\beta$. At Theorem 2's matrix $\mathbf{f} = p_{\mathbf{w}}$, and only kept words are left.
        """,
        variants=(
            Variant(
                {"moved": "alpha and beta"},
                {
                    "direction": "when $\\alpha$ and $\\beta$ are moved together, $\\alpha = \\beta$",
                    "by_s": "1",
                    "by_beta": "1",
                    "other_s": "(1 - 1 / v)",
                    "other_beta": "0",
                },
            ),
            Variant(
                {"moved": "the average s"},
                {
                    "direction": "with respect to the average $s = ((v-1)\\alpha + \\beta)/v$ at fixed $\\beta$",
                    "by_s": "1",
                    "by_beta": "0",
                    "other_s": "(1 - 1 / v)",
                    "other_beta": "1",
                },
            ),
            Variant(
                {"moved": "alpha"},
                {
                    "direction": "with respect to $\\alpha$ at fixed $\\beta$",
                    "by_s": "(1 - 1 / v)",
                    "by_beta": "0",
                    "other_s": "1",
                    "other_beta": "1",
                },
            ),
            Variant(
                {"moved": "beta"},
                {
                    "direction": "with respect to $\\beta$ at fixed $\\alpha$",
                    "by_s": "(1 / v)",
                    "by_beta": "1",
                    "other_s": "1",
                    "other_beta": "0",
                },
            ),
        ),
    ),
]

PAPER = [
    PaperExercise(
        id="d-paper-who-gains",
        title="which queries can gain from attention at all",
        level="core",
        minutes=30,
        objective="to see topic attention as a consequence of what a query knows",
        prerequisites=(
            "[D.2](appendix_d.ipynb#d2-what-the-attention-pattern-does-to-the-output)",
            "[the three kinds of query](appendix_d.ipynb#the-loss-in-closed-form)",
            "the mean minimises the expected squared distance",
        ),
        graded=True,
        statement=r"""
            Let $\mathbf{W}^V$ be *any* minimiser of stage 1, not only Theorem 2's, and $1 \le \tau < T$. Documents are infinite. (a) Show that for a query that shows
            [MASK], and for one that shows a word of no topic of its document, no attention weights whatever give a lower loss than uniform
            ones. (b) A query shows word $i$ of one of the document's topics. Find the mean $\bar{\mathbf{y}}$ of the one-hot target given
            this, and the derivative at $\theta = 0$ of the loss of such a query along $(1 - \theta)\,p_{\mathbf{w}} + \theta\,\mathbf{g}$. (c) Put in Theorem 2's matrix, with $\mathbf{g}$ its prediction from the topic of $i$ alone.
            For which $\tau$, $p_c$ and $p_r$ is uniform attention not optimal? Explain the case $\tau = 1$ in words.
        """,
        rubric=(
            (
                3,
                r"(a) The target has the mean $p_{\mathbf{w}}$ given such a query, since a random word and [MASK] say nothing about it (1); under uniform attention every minimiser of stage 1 predicts $p_{\mathbf{w}}$ exactly (1); expected squared loss is squared distance to the mean plus a constant, so no other prediction, hence no other attention, is better (1).",
            ),
            (2, r"(b) $\bar{\mathbf{y}} = q\,\mathbf{e}_i + (1 - q)\,p_{\mathbf{w}}$ (1) with $q = p_c/(p_c + p_r \tau/T)$ (1)."),
            (
                2,
                r"(b) The derivative $2\,(\mathbf{g} - p_{\mathbf{w}}) \cdot (p_{\mathbf{w}} - \bar{\mathbf{y}}) = -2q\,(\mathbf{g} - p_{\mathbf{w}}) \cdot (\mathbf{e}_i - p_{\mathbf{w}})$. One point for the first form alone.",
            ),
            (
                2,
                r"(c) It is $-2q\,\frac{\tau - 1}{\tau a v}$ (1), so uniform attention is not optimal for $p_c > 0$ and $\tau \ge 2$, whatever $p_r$ (1).",
            ),
            (
                1,
                r"$\tau = 1$: all of the document's words are of one topic, so attending to it tells no more than the document as a whole.",
            ),
        ),
        model_answer=r"""
            (a) A query that shows [MASK] or a random word was chosen without looking at the true word. Words of topics that the document lacks are always
            random. So the mean target given such a query is $p_{\mathbf{w}}$. For any prediction $\mathbf{f}$ the expected loss is
            $\|\mathbf{f} - p_{\mathbf{w}}\|^2$ plus a constant, the variance of the target. Every minimiser of stage 1 predicts $p_{\mathbf{w}}$ in every document
            under uniform attention (equation A.10). So uniform attention already reaches the least loss that any prediction can have.

            (b) The query shows word $i$ of the document. With probability $p_c$ a selected position keeps its word; with $p_r \tau/T$ it shows a random
            word of one of the document's topics. Given the topics, each word of them is shown equally often in both cases, so the word was kept with
            probability $q = p_c/(p_c + p_r \tau/T)$. Then the target is $\mathbf{e}_i$, else it has the mean $p_{\mathbf{w}}$: $\bar{\mathbf{y}} = q\,\mathbf{e}_i + (1 - q)\,
            p_{\mathbf{w}}$. The loss along the line is $\|p_{\mathbf{w}} + \theta(\mathbf{g} - p_{\mathbf{w}}) - \bar{\mathbf{y}}\|^2$ plus a constant. Its derivative at
            0 is $2\,(\mathbf{g} - p_{\mathbf{w}}) \cdot (p_{\mathbf{w}} - \bar{\mathbf{y}}) = -2q\,(\mathbf{g} - p_{\mathbf{w}}) \cdot (\mathbf{e}_i - p_{\mathbf{w}})$.

            (c) Here $\mathbf{g}$ has the entry $\mathbf{W}_{\text{same}}$ on the topic of $i$ and $\mathbf{W}_{\text{diff}}$ elsewhere. So $\mathbf{g} \cdot \mathbf{e}_i =
            \mathbf{W}_{\text{same}}$ and $\mathbf{g} \cdot p_{\mathbf{w}} = \frac{1}{\tau}\mathbf{W}_{\text{same}} + \frac{\tau - 1}{\tau}\mathbf{W}_{\text{diff}}$, while
            $p_{\mathbf{w}} \cdot \mathbf{e}_i = p_{\mathbf{w}} \cdot p_{\mathbf{w}} = \frac{1}{\tau v}$ cancel. The product is $\frac{\tau - 1}{\tau}
            (\mathbf{W}_{\text{same}} - \mathbf{W}_{\text{diff}}) = \frac{\tau - 1}{\tau a v}$, and the derivative is $-2q\,\frac{\tau - 1}{\tau a v}$. It is negative
            for $p_c > 0$ and $\tau \ge 2$, whatever $p_r$: then some topic attention is better than none. With $\tau = 1$ every word of the document, shown on purpose, is of the one topic. Which
            topic that is, uniform attention knows already.
        """,
    ),
]
