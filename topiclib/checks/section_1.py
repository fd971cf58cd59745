"""Checks of the exercises of Section 1."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from topiclib.checks.base import Answer, Misconception, as_array, close, expect, register

PARTS = {"attention weights", "decoder", "embedding layer", "input tokens", "output distribution", "value matrix"}


@register("1-critical-path")
def critical_path(answer: Answer) -> None:
    names = answer()
    if isinstance(names, str) or not hasattr(names, "__iter__"):
        raise Misconception("wrong-type", "return a list of names.")
    order = list(names)
    whole = len(order) == len(PARTS) and set(map(str, order)) == PARTS
    expect(whole, "not-the-six", "return all six names, each once, spelled as in the statement.")
    at = {str(name): k for k, name in enumerate(order)}
    ends = at["input tokens"] < min(v for k, v in at.items() if k != "input tokens")
    expect(ends, "input-first", "everything starts from the tokens of the masked document.")
    last = at["output distribution"] == len(PARTS) - 1
    expect(last, "output-last", "the distribution over words is what comes out in the end.")
    hint = "attention compares vectors, so the tokens must be vectors by then."
    expect(at["embedding layer"] < at["attention weights"], "attention-before-embedding", hint)
    hint = "the decoder turns what self-attention returns into scores, and the value matrix is a part of self-attention."
    expect(at["value matrix"] < at["decoder"], "decoder-early", hint)
    hint = "words are mixed with the attention weights first; the value matrix maps the mixture."
    expect(at["attention weights"] < at["value matrix"], "attention-late", hint)


@register("1-pair-count")
def pair_count(answer: Answer) -> None:
    document = np.array([4, 1, 2, 4, 3, 2, 4, 5, 2, 1])

    def of(i: int, j: int, words: np.ndarray = document) -> float:
        return float(as_array(answer(words.copy(), i, j), (), "the count as a single number"))

    expect(of(6, 1) == 0, "absent-word", "a word that does not occur has no pairs.")
    apart = np.array([1, 3, 3, 2])
    expect(of(1, 2, apart) > 0, "neighbours-only", "words at the two ends of a document co-occur too.")
    more = np.array([1, 2, 3, 2])
    expect(of(1, 2, more) > of(1, 2, apart), "presence-only", "a second occurrence adds pairs: count positions, not presence.")
    expect(of(2, 4) == of(4, 2), "one-order-only", "pairs are ordered, and either word may come first.")
    once = np.array([1, 2, 3])
    expect(of(2, 2, once) == 0, "position-with-itself", "a position is no pair with itself: for i = j take those out.")
    swapped = np.array([2, 1])
    expect(of(1, 2, swapped) == 1, "one-order-only", "pairs are ordered, and either word may come first.")
    total = sum(of(i, j) for i in range(1, 6) for j in range(1, 6))
    expect(total == len(document) * (len(document) - 1), "wrong-total", "over all i and j the pairs must add up to N(N - 1).")
    as_list = "the document may also be a list, with which == does not compare each word: make it an array, or loop."
    try:
        listed = float(as_array(answer(document.tolist(), 4, 2), (), "the count as a single number"))
    except Misconception:
        raise
    except Exception:
        raise Misconception("array-only", as_list) from None
    expect(listed == of(4, 2), "array-only", as_list)


@register("1-find-topics")
def find_topics(answer: Answer) -> None:
    rng = np.random.default_rng(12)
    topics = rng.permutation(np.repeat(np.arange(4), [2, 6, 6, 6]))
    noise = rng.uniform(-0.2, 0.2, size=(20, 20))
    lift = np.where(topics[:, None] == topics, 3.0, 0.5) + noise + noise.T
    labels = as_array(answer(lift.copy()), (20,), "the labels")
    found, same = labels[:, None] == labels, topics[:, None] == topics
    sizes = np.array([(topics == t).sum() for t in topics])
    counted = (found == (sizes[:, None] == sizes)).all()
    expect(not counted, "companions-counted", "two topics of the same size got one label: it matters who the companions are.")
    position = as_array(answer(np.ones((20, 20)) * 0.5 + 2.5 * np.eye(20)), (20,), "the labels")
    alone = len(np.unique(position)) == 20
    expect(alone or not close(position, labels), "order-assumed", "your labels do not depend on lift; the words come in any order.")
    expect(not (found & ~same).any(), "topics-merged", "two words with a lift below 1 got the same label.")
    expect(found[same].all(), "topics-split", "two words with a lift above 1 got different labels.")
    # One topic with large lifts: neither their mean nor 2 is the line between words that share a topic and words that do not.
    uneven = np.where(topics[:, None] == topics, np.where(topics == 3, 6.0, 1.3), 0.8) + (noise + noise.T) / 4
    labels = as_array(answer(uneven), (20,), "the labels")
    hint = "the line between a topic's words and others is at a lift of 1, whatever the other lifts are: where is yours?"
    expect(((labels[:, None] == labels) == same).all(), "line-not-at-1", hint)


@register("1-expected-lift")
def expected_lift(answer: Answer) -> None:
    settings = ((0.1, 10), (0.5, 4), (3.0, 5))
    found = {s: as_array(answer(*s), (2,), "the two lifts as a pair") for s in settings}
    for (alpha, topics), (same, different) in found.items():
        expect(same >= different, "swapped", "words of the same topic meet more often: return their lift first.")
        expect(not close(same, different), "independent", "equal lifts mean independent topics; here they share a mixture.")
        hint = "different topics do meet: with a Dirichlet mixture a document has more than one topic."
        expect(different > 0, "one-topic-only", hint)
        hint = "over one word from each topic, the lifts must average to 1; yours do not. Is the denominator right?"
        expect(close(same + (topics - 1) * different, topics), "does-not-average", hint)
        theta = np.random.default_rng(13).dirichlet(np.full(topics, alpha), size=40_000)
        measured = topics**2 * float((theta**2).mean())
        hint = "simulated documents disagree. What is the total of the Dirichlet's parameters, over all topics?"
        expect(abs(same - measured) < 0.03 * measured, "concentration", hint)


def _told(labels: npt.NDArray[np.int64], asked: str) -> npt.NDArray[np.float64]:
    """What of a grouping of the words is asked for; labels as the matrix of pairs of the same group."""
    pairs = (labels[:, None] == labels).astype(float)
    if asked == "sizes":
        return np.sort(np.unique(labels, return_counts=True)[1])[::-1].astype(float)
    result: npt.NDArray[np.float64] = pairs.sum(axis=1) if asked == "mates" else pairs
    return result


@register("1-topics-of-documents")
def topics_of_documents(answer: Answer, asked: str = "labels") -> None:
    rng, num_words = np.random.default_rng(100), 24
    topic_of = rng.permutation(np.repeat(np.arange(5), [2, 9, 4, 3, 6]))
    by_topic, sizes = np.argsort(topic_of, kind="stable") + 1, np.bincount(topic_of)
    drawn = np.array([rng.choice(5, size=60, p=p) for p in rng.dirichlet(np.full(5, 0.3), 1000)])
    first = np.cumsum(sizes) - sizes  # where a topic's words begin in the list by topics
    tokens = by_topic[first[drawn] + (rng.random(drawn.shape) * sizes[drawn]).astype(int)]
    result = answer(tokens, num_words)
    if asked == "sizes":
        shape = (len(result),) if np.ndim(result) == 1 and len(result) else (5,)
        found = np.sort(as_array(result, shape, "the numbers of words of the topics"))[::-1]
        expect(close(found.sum(), num_words), "not-sizes", "every word has a topic: the numbers must add up to that of all words.")
        groups = float(len(found))
    else:
        found = as_array(result, (num_words,), "one number for each word")
        groups = float(sum(1 / max(x, 1) for x in found)) if asked == "mates" else float(len(np.unique(found)))
        found = found if asked == "mates" else (found[:, None] == found).astype(float)

    def alike(labels: npt.NDArray[np.int64]) -> bool:
        told = _told(labels, asked)
        return told.shape == found.shape and close(told, found)

    if not alike(topic_of):
        counted = np.stack([np.bincount(row, minlength=num_words + 1) for row in tokens])
        moved = _told(np.append(-1, topic_of)[:-1], asked)
        hint = "some words are not where they belong: the first word has the id 1, and the last one the id num_words."
        expect(not (moved.shape == found.shape and close(moved, found)), "shifted", hint)
        often = counted[:, 1:].T @ counted[:, 1:]
        company = often > often.mean()
        by_number = np.array([row.argmax() if row.any() else num_words for row in company])
        hint = "frequent words meet often without being related: compare with what chance would give."
        expect(not alike(by_number), "chance-ignored", hint)
        hint = "words of different topics end up together: meeting is not enough, words that are not related meet by chance."
        expect(groups > 4.5, "topics-merged", hint)
        hint = "words of one topic are taken apart: how often must two words meet to be of one topic?"
        expect(groups < 5.5, "topics-split", hint)
    expect(alike(topic_of), "wrong-topics", "the number of topics is right, but some words are in the wrong one.")
