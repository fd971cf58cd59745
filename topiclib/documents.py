"""Documents of Section 3.1 (exactly tau topics) and of Section 6.1 (LDA), and Assumption 1's infinite ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from topiclib.validation import as_rng, check_choice, check_int, check_real, check_type
from topiclib.vocabulary import Vocabulary

PAD = -1
"""Fills the end of documents shorter than the longest of their batch. Not a token: nothing attends to it."""

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
MAX_ENUMERATED = 200_000
MAX_ALPHA = 1e6


@dataclass(frozen=True)
class DocumentSettings:
    """How documents are generated.

    Parameters
    ----------
    num_topics, words_per_topic : the paper's T and v
    mixture : ``"dirichlet"``: topic weights from a symmetric Dirichlet (LDA, Section 6.1);
        ``"fixed"``: exactly ``topics_per_doc`` distinct topics with equal weights (Section 3.1)
    topics_per_doc : the paper's tau, 1 to T; used by ``"fixed"`` only
    dirichlet_alpha : the Dirichlet's parameter for each topic, > 0 and at most 10^6, where every
        weight is 1/T within a percent (Section 6.1's alpha, not Theorem 3's); used by ``"dirichlet"`` only
    min_len, max_len : document length N is uniform on {min_len, ..., max_len}
    overlap : probability in [0, 1] that a word is drawn from the next topic's block instead of its
        own (cyclically). 0 is the paper's setting, disjoint topics, on which its theory rests
        (footnote 2); with 0.5 each word is shared equally by two topics
    word_skew : Zipf exponent >= 0 of the word probabilities inside a topic; 0 is uniform (Section 3.1)
    """

    num_topics: int = 10
    words_per_topic: int = 10
    mixture: str = "dirichlet"
    topics_per_doc: int = 3
    dirichlet_alpha: float = 0.1
    min_len: int = 100
    max_len: int = 150
    overlap: float = 0.0
    word_skew: float = 0.0

    def __post_init__(self) -> None:
        check_int("num_topics", self.num_topics, 1)
        check_int("words_per_topic", self.words_per_topic, 1)
        check_choice("mixture", self.mixture, ("dirichlet", "fixed"))
        if self.mixture == "fixed":
            check_int("topics_per_doc", self.topics_per_doc, 1, self.num_topics)
        check_real("dirichlet_alpha", self.dirichlet_alpha, 0, MAX_ALPHA, open_low=True)
        check_int("min_len", self.min_len, 1)
        check_int("max_len", self.max_len, self.min_len)
        check_real("overlap", self.overlap, 0, 1)
        check_real("word_skew", self.word_skew, 0)

    @classmethod
    def paper(cls, **changes: object) -> DocumentSettings:
        """Section 6.1: T = v = 10, Dirichlet(0.1), N uniform in [100, 150]. ``changes`` replace fields."""
        return replace(cls(), **changes)  # type: ignore[arg-type]

    @classmethod
    def theory(cls, topics_per_doc: int = 3, **changes: object) -> DocumentSettings:
        """Section 3.1: exactly ``topics_per_doc`` topics a document, uniform words; T = v = 10."""
        return replace(cls(mixture="fixed"), topics_per_doc=topics_per_doc, **changes)  # type: ignore[arg-type]

    @classmethod
    def tiny(cls, **changes: object) -> DocumentSettings:
        """T = 3, v = 2, N in [8, 12]: small enough to read; for examples and tests."""
        small = cls(num_topics=3, words_per_topic=2, topics_per_doc=2, min_len=8, max_len=12)
        return replace(small, **changes)  # type: ignore[arg-type]

    @property
    def vocabulary(self) -> Vocabulary:
        """The words and topics of these documents."""
        return Vocabulary(self.num_topics, self.words_per_topic)


@dataclass(frozen=True)
class Documents:
    """A batch of B documents.

    tokens : (B, N) word ids 1 to Tv, ``PAD`` after the end of a document
    lengths : (B,) the number of words of each
    topic_weights : (B, T) the topic mixture that each was drawn from; rows sum to 1
    """

    tokens: IntArray
    lengths: IntArray
    topic_weights: FloatArray

    def __len__(self) -> int:
        return len(self.tokens)


def rank_probabilities(settings: DocumentSettings) -> FloatArray:
    """Probability of each of a topic's v words within the topic: uniform, or Zipf's with ``word_skew``; shape (v,)."""
    weights = np.arange(1, settings.words_per_topic + 1, dtype=np.float64) ** -settings.word_skew
    probabilities: FloatArray = weights / weights.sum()
    return probabilities


def topic_word_probabilities(settings: DocumentSettings) -> FloatArray:
    """P(word i | topic t) as a (T, V) array; column 0 ([MASK]) is 0 and rows sum to 1."""
    check_type("settings", settings, DocumentSettings)
    vocabulary, within = settings.vocabulary, rank_probabilities(settings)
    table = np.zeros((settings.num_topics, vocabulary.size))
    for topic in range(1, settings.num_topics + 1):
        neighbour = topic % settings.num_topics + 1
        table[topic - 1, vocabulary.words_of(topic)] += (1 - settings.overlap) * within
        table[topic - 1, vocabulary.words_of(neighbour)] += settings.overlap * within
    return table


def sample_topic_weights(settings: DocumentSettings, num_docs: int, rng: np.random.Generator) -> FloatArray:
    """The topic mixture of each of ``num_docs`` documents; shape (num_docs, T), rows sum to 1."""
    if settings.mixture == "dirichlet":
        return rng.dirichlet(np.full(settings.num_topics, settings.dirichlet_alpha), size=num_docs)
    # The first tau entries of a random order of the topics are tau distinct ones.
    order = rng.random((num_docs, settings.num_topics)).argsort(axis=1)
    weights = np.zeros((num_docs, settings.num_topics))
    np.put_along_axis(weights, order[:, : settings.topics_per_doc], 1 / settings.topics_per_doc, axis=1)
    return weights


def sample_documents(settings: DocumentSettings, num_docs: int, rng: np.random.Generator | int) -> Documents:
    """Draw ``num_docs`` independent documents (Section 3.1, or 6.1 with the Dirichlet mixture).

    Every position first draws a topic from the document's mixture, then a word from that topic.
    Raises ValueError or TypeError for other settings, ``num_docs`` < 1 or a missing ``rng``.
    """
    check_type("settings", settings, DocumentSettings)
    check_int("num_docs", num_docs, 1)
    rng = as_rng(rng)
    lengths = rng.integers(settings.min_len, settings.max_len, size=num_docs, endpoint=True)
    weights = sample_topic_weights(settings, num_docs, rng)
    width = int(lengths.max())
    # Inverse CDF: the topic is the number of cumulative weights that a uniform number passes.
    uniform = rng.random((num_docs, width))
    topics = np.zeros((num_docs, width), dtype=np.int64)
    for boundary in weights.cumsum(axis=1)[:, :-1].T:
        topics += uniform >= boundary[:, None]
    if settings.overlap > 0:
        leaves = rng.random((num_docs, width)) < settings.overlap
        topics = (topics + leaves) % settings.num_topics
    tokens = topics * settings.words_per_topic + 1 + sample_ranks(settings, (num_docs, width), rng)
    tokens[np.arange(width) >= lengths[:, None]] = PAD
    return Documents(tokens, lengths, weights)


def sample_ranks(settings: DocumentSettings, shape: tuple[int, int], rng: np.random.Generator) -> IntArray:
    """Rank 0 to v - 1 of a word inside its topic."""
    if settings.word_skew == 0:
        return rng.integers(settings.words_per_topic, size=shape)
    cumulative = rank_probabilities(settings).cumsum()[:-1]
    ranks: IntArray = cumulative.searchsorted(rng.random(shape), side="right").astype(np.int64)
    return ranks


def infinite_document(vocabulary: Vocabulary, topics: npt.ArrayLike) -> FloatArray:
    """Assumption 1: the exact word distribution p_w of a document of the given topics; shape (V,).

    p_w(i) = 1 / (tau v) if topic(i) is among the tau distinct ``topics`` (ids 1 to T), else 0.
    """
    check_type("vocabulary", vocabulary, Vocabulary)
    chosen = np.atleast_1d(np.asarray(topics))
    for topic in chosen.tolist():
        check_int("topics", topic, 1, vocabulary.num_topics)
    if chosen.ndim != 1 or len(chosen) == 0 or len(np.unique(chosen)) != len(chosen):
        raise ValueError(f"topics = {chosen.tolist()}: must be one or more distinct topic ids")
    inside = np.isin(vocabulary.topic_labels(), chosen)
    return inside / (len(chosen) * vocabulary.words_per_topic)


def infinite_documents(settings: DocumentSettings) -> FloatArray:
    """All C(T, tau) equally likely documents of Assumption 1; shape (C(T, tau), V).

    Needs ``mixture="fixed"``, no overlap and no skew, and at most 200,000 documents (ValueError).
    """
    check_type("settings", settings, DocumentSettings)
    if settings.mixture != "fixed" or settings.overlap or settings.word_skew:
        raise ValueError(f"settings = {settings}: Assumption 1 needs mixture='fixed', overlap=0 and word_skew=0")
    number = comb(settings.num_topics, settings.topics_per_doc)
    if number > MAX_ENUMERATED:
        raise ValueError(f"settings has {number} documents: at most {MAX_ENUMERATED} can be enumerated")
    topics = range(1, settings.num_topics + 1)
    return np.stack([infinite_document(settings.vocabulary, t) for t in combinations(topics, settings.topics_per_doc)])


def one_hot(tokens: npt.ArrayLike, vocabulary: Vocabulary) -> FloatArray:
    """One-hot encoding X of one document (Section 3.1): X_ij = 1 if token j is i; shape (V, N).

    ``tokens`` is one-dimensional, ids 0 to Tv; ``PAD`` gives a column of zeros.
    """
    check_type("vocabulary", vocabulary, Vocabulary)
    ids = np.asarray(tokens)
    if ids.ndim != 1 or not np.issubdtype(ids.dtype, np.integer):
        raise ValueError(f"tokens has shape {ids.shape} and dtype {ids.dtype}: must be one document of whole numbers")
    if ((ids < PAD) | (ids >= vocabulary.size)).any():
        raise ValueError(f"tokens = {ids.tolist()}: must be token ids from 0 to {vocabulary.num_words}, or PAD = {PAD}")
    encoding: FloatArray = (np.arange(vocabulary.size)[:, None] == ids[None, :]).astype(np.float64)
    return encoding
