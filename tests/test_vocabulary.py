from math import ceil

import numpy as np
import pytest

from topiclib.vocabulary import MASK, Relation, Vocabulary


@pytest.mark.parametrize(("topics", "words"), [(10, 10), (3, 2), (1, 4), (5, 1), (2, 200)])
def test_topic_of_is_definition_1(topics: int, words: int) -> None:
    vocabulary = Vocabulary(topics, words)
    ids = np.arange(1, vocabulary.size)
    assert vocabulary.topic_of(ids).tolist() == [ceil(i / words) for i in ids.tolist()]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_topic_of_takes_every_integer_type(dtype: str) -> None:
    topics = Vocabulary(10, 10).topic_of(np.array([1, 10, 11, 100], dtype=dtype))
    assert topics.tolist() == [1, 1, 2, 10]
    assert topics.dtype == np.int64


def test_topic_of_keeps_the_shape() -> None:
    assert Vocabulary(3, 2).topic_of([[1, 2, 3], [4, 5, 6]]).tolist() == [[1, 1, 2], [2, 3, 3]]
    assert Vocabulary(3, 2).topic_of(6).shape == ()


@pytest.mark.parametrize(("topics", "words"), [(10, 10), (3, 2), (1, 4), (5, 1)])
def test_topics_partition_the_words(topics: int, words: int) -> None:
    vocabulary = Vocabulary(topics, words)
    blocks = [vocabulary.words_of(t) for t in range(1, topics + 1)]
    assert np.concatenate(blocks).tolist() == list(range(1, topics * words + 1))
    for t, block in enumerate(blocks, start=1):
        assert set(vocabulary.topic_of(block).tolist()) == {t}


def test_words_of_takes_a_small_integer_type() -> None:
    assert Vocabulary(20, 10).words_of(np.int8(20)).tolist() == list(range(191, 201))  # type: ignore[arg-type]


def test_sizes_count_mask_once() -> None:
    vocabulary = Vocabulary(7, 3)
    assert (vocabulary.num_words, vocabulary.size) == (21, 22)
    assert Vocabulary() == Vocabulary(10, 10)


def test_mask_is_token_0_and_has_no_topic() -> None:
    assert MASK == 0
    assert Vocabulary(3, 2).topic_labels().tolist() == [0, 1, 1, 2, 2, 3, 3]


def test_relations_of_two_topics_by_hand() -> None:
    m, w, s, d = Relation.MASK, Relation.SAME_WORD, Relation.SAME_TOPIC, Relation.DIFFERENT_TOPIC
    expected = [[m, m, m, m, m], [m, w, s, d, d], [m, s, w, d, d], [m, d, d, w, s], [m, d, d, s, w]]
    assert Vocabulary(2, 2).relations().tolist() == expected


@pytest.mark.parametrize(("topics", "words"), [(10, 10), (3, 2), (1, 4), (5, 1)])
def test_relations_are_symmetric_and_counted(topics: int, words: int) -> None:
    relations = Vocabulary(topics, words).relations()
    assert np.array_equal(relations, relations.T)
    size = topics * words + 1
    expected = {
        Relation.MASK: 2 * size - 1,
        Relation.SAME_WORD: topics * words,
        Relation.SAME_TOPIC: topics * words * (words - 1),
        Relation.DIFFERENT_TOPIC: topics * (topics - 1) * words**2,
    }
    assert {r: int((relations == r).sum()) for r in Relation} == expected


def test_vocabulary_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Vocabulary().num_topics = 3  # type: ignore[misc]
