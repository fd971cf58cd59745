"""Counting words that are together, and statistics over pairs with intervals from drawing topics."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from topiclib.attention_pairs import AttentionPairs
from topiclib.cooccurrence import (
    PairSample,
    attention_table,
    listed_mean,
    pmi,
    same_topic_attention,
    second_order,
    together,
    window_counts,
)
from topiclib.corpus import ContentWords, Corpus, Pieces
from topiclib.topic_contrast import attention_contrast
from topiclib.topics import TopicWords

COUNTS = csr_array(np.array([[2, 1, 0, 0], [1, 0, 3, 0], [0, 1, 1, 0], [5, 1, 0, 1]]))


def test_together_counts_documents_not_occurrences() -> None:
    assert together(COUNTS).tolist() == [[3, 2, 1, 1], [2, 3, 1, 1], [1, 1, 2, 0], [1, 1, 0, 1]]


def test_pmi_by_hand() -> None:
    found = pmi(together(COUNTS), 4, 1e-12)
    assert found[0, 1] == pytest.approx(np.log(2 * 4 / (3 * 3)))
    assert np.array_equal(found, found.T)
    assert pmi(together(COUNTS), 4, 0.5)[2, 3] == pytest.approx(np.log(0.5 / (2 * 1 / 4 + 0.5)))


def test_words_that_are_never_together_can_keep_the_same_company() -> None:
    table = together(csr_array(np.array([[1, 0, 1, 0], [0, 1, 1, 0], [1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1]])))
    found = second_order(table, 6)
    assert table[0, 1] == 0
    assert found[0, 1] == pytest.approx(1)
    assert found[0, 3] == 0
    assert np.isfinite(found).all()


def small_corpus() -> Corpus:
    pieces = Pieces(("a", "b", "c", "of"), np.ones(4, bool), np.zeros(4, bool))
    return Corpus(np.array([0, 3, 1, 2, 0, 1, 1], np.int32), np.array([0, 4, 7]), pieces, ("", ""), ("", ""))


def brute_windows(corpus: Corpus, width: int) -> np.ndarray:
    found = np.zeros((3, 3), int)
    for d in range(len(corpus)):
        tokens = corpus.document(d)
        for i in range(len(tokens)):
            for j in range(len(tokens)):
                if 0 < abs(i - j) <= width and max(tokens[i], tokens[j]) < 3 and tokens[i] != tokens[j]:
                    found[tokens[i], tokens[j]] += 1
    return found


@pytest.mark.parametrize("width", [1, 2, 3, 10])
def test_windows_agree_with_a_loop_and_end_with_the_document(width: int) -> None:
    words = ContentWords(np.arange(3), ("a", "b", "c"))
    corpus = small_corpus()
    assert window_counts(corpus, words, width).toarray().tolist() == brute_windows(corpus, width).tolist()


def test_attention_table_is_the_mean_over_both_directions() -> None:
    length = np.array([9, 9])
    pairs = AttentionPairs(
        np.array([0, 0, 1]), np.array([1, 4, 1]), np.array([4, 1, 3]), np.ones(3, np.int16), np.ones((3, 1)), length, 5
    )
    mean, number = attention_table(pairs, np.array([1.0, 4.0, 7.0]), np.array([1, 4]))
    assert mean.tolist() == [[0, 2.5], [2.5, 0]]
    assert number.tolist() == [[0, 2], [2, 0]]


def symmetric(n: int, seed: int) -> np.ndarray:
    table = np.random.default_rng(seed).normal(size=(n, n))
    return np.asarray(table + table.T)


def test_mean_is_that_over_the_chosen_pairs() -> None:
    groups = np.array([2, 0, 1, 0, 2, 1])
    values, same = symmetric(6, 0), groups[:, None] == groups
    upper = np.triu_indices(6, 1)
    sample = PairSample(groups, 0, 50)
    assert sample.mean(values, same).value == pytest.approx(values[upper][same[upper]].mean())
    assert sample.mean(values, ~same).value == pytest.approx(values[upper][~same[upper]].mean())


def test_draws_weigh_a_groups_own_pairs_once_and_pairs_across_twice() -> None:
    groups = np.array([0, 0, 1, 1, 2, 2])
    values = symmetric(6, 1)
    sample = PairSample(groups, 3, 40)
    drawn = []
    for w in sample.weights:
        by_word = w[groups]
        weight = np.where(groups[:, None] == groups, by_word[:, None], np.outer(by_word, by_word))
        np.fill_diagonal(weight, 0)
        drawn.append((values * weight).sum() / weight.sum())
    found = sample.mean(values, np.ones((6, 6)))
    assert found.standard_error == pytest.approx(np.std(drawn))
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(drawn, [2.5, 97.5])))


def test_regression_agrees_with_least_squares_over_the_upper_triangle() -> None:
    rng = np.random.default_rng(5)
    groups = rng.integers(4, size=20)
    same, x, weight = groups[:, None] == groups, symmetric(20, 2), symmetric(20, 3) ** 2
    y = 0.5 * same - 2 * x + 0.3 * symmetric(20, 4)
    found = PairSample(groups, 0, 100).regression(y, {"same": same, "x": x}, weight)
    at = np.triu_indices(20, 1)
    root = np.sqrt(weight[at])
    design = np.stack([np.ones(len(root)), same[at], x[at]], 1)
    right = np.linalg.lstsq(design * root[:, None], y[at] * root, rcond=None)[0]
    assert [found["same"].value, found["x"].value] == pytest.approx(right[1:].tolist(), rel=1e-4)
    rest = y[at] - design @ right
    total = y[at] - np.average(y[at], weights=weight[at])
    assert found["R2"].value == pytest.approx(1 - (weight[at] * rest**2).sum() / (weight[at] * total**2).sum(), rel=1e-4)
    assert found["x"].low < found["x"].value < found["x"].high


def test_features_that_depend_on_each_other_are_an_error() -> None:
    x = symmetric(6, 0)
    with pytest.raises(ValueError, match="x, twice: are not independent"):
        PairSample(np.array([0, 0, 1, 1, 2, 2]), 0).regression(symmetric(6, 1), {"x": x, "twice": 2 * x})


def test_one_group_is_an_error() -> None:
    with pytest.raises(ValueError, match="must be two at least"):
        PairSample(np.zeros(4, int), 0)


def test_listed_mean_draws_words() -> None:
    words = np.array([[3, 9], [3, 5], [5, 9], [7, 3]])
    found = listed_mean(words, np.array([1.0, 2.0, np.nan, 6.0]), 0, 2000)
    assert found.value == pytest.approx(3)
    # Word 3 is in every pair: which of the others are drawn decides.
    assert found.low == 1
    assert found.high == 6
    with pytest.raises(ValueError, match="two different words"):
        listed_mean(np.array([[1, 1]]), np.array([1.0]), 0)
    with pytest.raises(ValueError, match="ever seen"):
        listed_mean(np.array([[1, 2]]), np.array([np.nan]), 0)


def some_pairs(size: int) -> AttentionPairs:
    rng = np.random.default_rng(6)
    query, key = rng.integers(12, size=(2, size))
    query = np.where(query == key, (query + 1) % 12, query)
    document = np.sort(rng.integers(9, size=size))
    return AttentionPairs(document, query, key, np.ones(size, np.int16), rng.random((size, 1)), np.full(9, 20), 12)


def test_same_topic_attention_is_the_numerator_of_the_contrast() -> None:
    pairs, values = some_pairs(600), np.random.default_rng(7).random(600)
    member = np.zeros((3, 8), bool)
    member[[0, 0, 0, 1, 1, 2, 2, 2], np.arange(8)] = True
    topics = TopicWords(np.array([0, 1, 2, 4, 5, 8, 9, 11]), member)
    found = same_topic_attention(pairs, values, topics, 0)
    assert found.value == pytest.approx(attention_contrast(pairs, values, topics, 0, draws=2).same)
    label = np.full(12, -1)
    label[topics.words] = member.argmax(0)
    means = [values[(label[pairs.query] == t) & (label[pairs.key] == t)].mean() for t in range(3)]
    assert (found.low, found.high) == pytest.approx((min(means), max(means)))


def test_same_topic_attention_needs_one_topic_a_word_and_a_pair() -> None:
    pairs = some_pairs(50)
    with pytest.raises(ValueError, match="several topics"):
        same_topic_attention(pairs, np.ones(50), TopicWords(np.arange(2), np.ones((2, 2), bool)), 0)
    with pytest.raises(ValueError, match="no pair"):
        same_topic_attention(pairs, np.ones(50), TopicWords(np.arange(2), np.eye(2, dtype=bool)), 0)
