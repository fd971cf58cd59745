"""Masked documents as word counts: all that a model without positions can see of them, and fast to draw.

The order of the words carries no information here (Section 3.1 draws them independently, Section 3.3's model has no
positions), so a document is how often each token appears, and its selected positions with what they show and hide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from topiclib.documents import PAD, DocumentSettings, IntArray, rank_probabilities, sample_ranks, sample_topic_weights
from topiclib.masking import MaskedDocuments, MaskingSettings
from topiclib.validation import as_rng, check_int, check_type
from topiclib.vocabulary import MASK, Vocabulary

# Words of a long document are drawn as one multinomial a topic, of a short one position by position, whichever is
# faster; both are exact. The two cost the same at about six positions a token of the vocabulary.
POSITIONS_PER_TOKEN = 6


@dataclass(frozen=True)
class Pairs:
    """The distinct (document, shown token) pairs among the selected positions.

    Two positions of a document that show the same token have the same column of A and the same prediction.

    docs, queries : (P,) document and shown token of each pair, sorted
    index : (M,) the pair that each selected position belongs to
    """

    docs: IntArray
    queries: IntArray
    index: IntArray


@dataclass(frozen=True)
class MaskedCounts:
    """D masked documents as counts, and their M selected positions, sorted by document.

    counts : (D, V) how often each token is shown, with the selected positions as the model sees them
    docs : (M,) the document of each selected position, 0 to D - 1; every document has at least one
    shown, targets : (M,) the token that the model sees there, and the word to predict
    """

    counts: IntArray
    docs: IntArray
    shown: IntArray
    targets: IntArray

    def __len__(self) -> int:
        return len(self.counts)

    def pairs(self) -> Pairs:
        """The distinct (document, shown token) pairs."""
        d, v = self.counts.shape
        key = self.docs * v + self.shown
        # A table instead of a sort: the keys are small whole numbers.
        is_present = np.zeros(d * v, dtype=bool)
        is_present[key] = True
        present = np.flatnonzero(is_present)
        index = np.empty(d * v, dtype=np.int64)
        index[present] = np.arange(len(present))
        return Pairs(present // v, present % v, index[key])

    def weights(self) -> npt.NDArray[np.float64]:
        """1 / |M| of each selected position's document (equation 1); shape (M,)."""
        return 1 / np.bincount(self.docs, minlength=len(self))[self.docs]

    def part(self, start: int, stop: int) -> MaskedCounts:
        """Documents ``start`` to ``stop`` - 1."""
        low, high = np.searchsorted(self.docs, (start, stop))
        return MaskedCounts(self.counts[start:stop], self.docs[low:high] - start, self.shown[low:high], self.targets[low:high])

    def documents(self) -> MaskedDocuments:
        """The same documents as tokens: the selected positions first, then the others by token id."""
        d, v = self.counts.shape
        others = self.counts - np.bincount(self.docs * v + self.shown, minlength=d * v).reshape(d, v)
        masked, lengths = np.bincount(self.docs, minlength=d), self.counts.sum(axis=1)
        position = np.arange(lengths.max())
        selected = position < masked[:, None]
        rest = (position < lengths[:, None]) & ~selected
        inputs = np.full(selected.shape, PAD, dtype=np.int64)
        inputs[rest] = np.repeat(np.tile(np.arange(v), d), others.ravel())
        targets = inputs.copy()
        inputs[selected], targets[selected] = self.shown, self.targets
        return MaskedDocuments(inputs, targets, selected)


def joined(batches: Sequence[MaskedCounts]) -> MaskedCounts:
    """Several batches of documents as one."""
    if len(batches) == 1:
        return batches[0]
    first = np.cumsum([0, *map(len, batches)])
    docs = np.concatenate([batch.docs + start for batch, start in zip(batches, first[:-1], strict=True)])
    counts, shown, targets = (np.concatenate([getattr(b, n) for b in batches]) for n in ("counts", "shown", "targets"))
    return MaskedCounts(counts, docs, shown, targets)


def count_documents(batch: MaskedDocuments, vocabulary: Vocabulary) -> MaskedCounts:
    """The counts of given masked documents. Raises ValueError for ids outside the vocabulary."""
    check_type("batch", batch, MaskedDocuments)
    v = check_type("vocabulary", vocabulary, Vocabulary).size
    shapes = {array.shape for array in (batch.inputs, batch.targets, batch.selected)}
    if len(shapes) > 1 or batch.selected.dtype != bool or not batch.inputs.size:
        raise ValueError(f"batch has shapes {sorted(shapes)}: inputs, targets, selected (booleans) must have one shape, not empty")
    is_token = batch.inputs != PAD
    low, high = batch.inputs.min(), batch.inputs.max()
    if low < PAD or high >= v:
        raise ValueError(f"inputs has ids from {low} to {high}: must be from 0 to {v - 1}, or PAD = {PAD}")
    targets = batch.targets[batch.selected]
    if (
        (targets <= MASK).any()
        or (targets >= v).any()
        or not batch.selected.any(axis=1).all()
        or (batch.selected & ~is_token).any()
    ):
        raise ValueError(f"selected and targets: every document must have a selected position, and each a word from 1 to {v - 1}")
    docs = np.nonzero(is_token)[0]
    counts = np.bincount(docs * v + batch.inputs[is_token], minlength=len(batch) * v).reshape(-1, v)
    return MaskedCounts(counts, np.nonzero(batch.selected)[0], batch.inputs[batch.selected], targets)


def sample_counts(
    documents: DocumentSettings, masking: MaskingSettings, num_docs: int, rng: np.random.Generator | int
) -> MaskedCounts:
    """Draw documents and masks as counts: the same distribution as ``sample_documents`` and ``mask_documents``, faster.

    |M| is drawn first, given that it is at least 1; the |M| selected words and the N - |M| others are independent given
    the document's topic weights. Raises ValueError or TypeError for bad arguments.
    """
    check_type("documents", documents, DocumentSettings)
    check_type("masking", masking, MaskingSettings)
    check_int("num_docs", num_docs, 1)
    rng = as_rng(rng)
    v = documents.vocabulary.size
    lengths = rng.integers(documents.min_len, documents.max_len, size=num_docs, endpoint=True)
    topic_weights = sample_topic_weights(documents, num_docs, rng)
    masked = _sample_mask_sizes(lengths, masking.p_m, rng)
    docs = np.repeat(np.arange(num_docs), masked)
    selected = _sample_words(documents, masked, topic_weights, rng)
    targets = selected - docs * v
    fate = rng.random(len(targets))
    random_words = rng.integers(1, documents.vocabulary.num_words, size=len(targets), endpoint=True)
    shown = np.where(fate < masking.p_c, targets, np.where(fate < masking.p_c + masking.p_r, random_words, MASK))
    keys = docs * v + shown
    others = lengths - masked
    if documents.max_len > POSITIONS_PER_TOKEN * v:
        counts = np.bincount(keys, minlength=num_docs * v) + _sample_word_counts(documents, others, topic_weights, rng)
    else:
        keys = np.concatenate([keys, _sample_words(documents, others, topic_weights, rng)])
        counts = np.bincount(keys, minlength=num_docs * v)
    return MaskedCounts(counts.reshape(num_docs, v), docs, shown, targets)


def _sample_mask_sizes(lengths: IntArray, p_m: float, rng: np.random.Generator) -> IntArray:
    """|M| ~ Binomial(N, p_m) given |M| >= 1."""
    sizes: IntArray = rng.binomial(lengths, p_m)
    empty = np.flatnonzero(sizes == 0)
    # The first selected position by its distribution function given that there is one; the later ones are free.
    some = -np.expm1(lengths[empty] * np.log1p(-p_m))
    first = np.ceil(np.log1p(-rng.random(len(empty)) * some) / np.log1p(-p_m)).astype(np.int64)
    sizes[empty] = 1 + rng.binomial(lengths[empty] - first.clip(1, lengths[empty]), p_m)
    return sizes


def _sample_blocks(
    settings: DocumentSettings, sizes: IntArray, topic_weights: npt.NDArray[np.float64], rng: np.random.Generator
) -> IntArray:
    """How many of each document's ``sizes`` words come from each topic's block of words; shape (D, T)."""
    blocks: IntArray = rng.multinomial(sizes, topic_weights)
    if settings.overlap > 0:
        leaving = rng.binomial(blocks, settings.overlap)
        blocks += np.roll(leaving, 1, axis=1) - leaving
    return blocks


def _sample_words(
    settings: DocumentSettings, sizes: IntArray, topic_weights: npt.NDArray[np.float64], rng: np.random.Generator
) -> IntArray:
    """``sizes[d]`` words of each document d as d V + word, sorted by document and topic; shape (sum of sizes,)."""
    blocks = _sample_blocks(settings, sizes, topic_weights, rng)
    first = np.arange(len(sizes))[:, None] * settings.vocabulary.size + 1
    words = np.repeat((first + np.arange(settings.num_topics) * settings.words_per_topic).ravel(), blocks.ravel())
    words += sample_ranks(settings, words.shape, rng)
    return words


def _sample_word_counts(
    settings: DocumentSettings, sizes: IntArray, topic_weights: npt.NDArray[np.float64], rng: np.random.Generator
) -> IntArray:
    """How often each token is among ``sizes[d]`` words of each document d; shape (D V,)."""
    blocks = _sample_blocks(settings, sizes, topic_weights, rng).ravel()
    words = np.zeros((len(blocks), settings.words_per_topic), dtype=np.int64)
    used = np.flatnonzero(blocks)
    words[used] = rng.multinomial(blocks[used], rank_probabilities(settings))
    counts = np.zeros((len(sizes), settings.vocabulary.size), dtype=np.int64)
    counts[:, 1:] = words.reshape(len(sizes), -1)
    return counts.ravel()
