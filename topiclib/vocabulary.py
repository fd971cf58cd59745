"""The vocabulary of Sections 3.1 and 3.2: Tv words in T disjoint topics, and the token [MASK].

Token ids are the paper's: 0 is [MASK], words are 1 to Tv, topics are 1 to T, and
topic(i) = ceil(i / v) (Definition 1). Padding is not a token; see ``documents.PAD``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from topiclib.validation import check_int

MASK = 0
"""Token id of [MASK] (Section 3.2)."""


class Relation(IntEnum):
    """How two tokens are related. The three named by Assumption 2, and pairs that contain [MASK]."""

    MASK = 0
    SAME_WORD = 1
    SAME_TOPIC = 2
    DIFFERENT_TOPIC = 3


@dataclass(frozen=True)
class Vocabulary:
    """T topics of v words each, and [MASK].

    Parameters
    ----------
    num_topics : the paper's T, a whole number >= 1
    words_per_topic : the paper's v, a whole number >= 1
    """

    num_topics: int = 10
    words_per_topic: int = 10

    def __post_init__(self) -> None:
        check_int("num_topics", self.num_topics, 1)
        check_int("words_per_topic", self.words_per_topic, 1)

    @property
    def num_words(self) -> int:
        """Tv, the number of words without [MASK]."""
        return self.num_topics * self.words_per_topic

    @property
    def size(self) -> int:
        """V = Tv + 1, the number of tokens: the words and [MASK]."""
        return self.num_words + 1

    def topic_of(self, words: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Topic of each word, topic(i) = ceil(i / v) (Definition 1); same shape as ``words``.

        Raises ValueError for an id that is not a word: [MASK] belongs to no topic.
        """
        ids = np.asarray(words)
        if not np.issubdtype(ids.dtype, np.integer):
            raise TypeError(f"words has dtype {ids.dtype}: must be whole numbers from 1 to {self.num_words}")
        ids = ids.astype(np.int64)  # -ids wraps around in unsigned types
        wrong = (ids < 1) | (ids > self.num_words)
        if wrong.any():
            raise ValueError(
                f"words contains {int(ids[wrong].flat[0])}: must be from 1 to {self.num_words} ([MASK] = 0 has no topic)"
            )
        topics: npt.NDArray[np.int64] = -(-ids // self.words_per_topic)
        return topics

    def words_of(self, topic: int) -> npt.NDArray[np.int64]:
        """The word ids {(t-1)v + 1, ..., tv} of topic t (Definition 1); shape (v,)."""
        topic = check_int("topic", topic, 1, self.num_topics)
        first = (topic - 1) * self.words_per_topic + 1
        return np.arange(first, first + self.words_per_topic, dtype=np.int64)

    def topic_labels(self) -> npt.NDArray[np.int64]:
        """Topic of every token id, with 0 for [MASK]; shape (V,)."""
        return np.concatenate([[0], self.topic_of(np.arange(1, self.size))])

    def relations(self) -> npt.NDArray[np.int8]:
        """``Relation`` of every pair of tokens; shape (V, V), symmetric."""
        topics = self.topic_labels()
        same_topic = topics[:, None] == topics[None, :]
        relation = np.where(same_topic, Relation.SAME_TOPIC, Relation.DIFFERENT_TOPIC).astype(np.int8)
        np.fill_diagonal(relation, Relation.SAME_WORD)
        relation[MASK, :] = relation[:, MASK] = Relation.MASK
        return relation
