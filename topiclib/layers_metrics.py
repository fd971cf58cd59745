"""Where a model of several layers keeps its structure: attention by relation and by distance, embeddings by topic and category."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from topiclib.documents import PAD, FloatArray
from topiclib.grammar import SandboxVocabulary
from topiclib.layers import LayeredTransformer
from topiclib.layers_training import LayeredBatch
from topiclib.metrics import embedding_gram
from topiclib.validation import check_int, check_type
from topiclib.vocabulary import MASK

__all__ = ["SandboxContrasts", "attention_by_offset", "attention_ratios", "sandbox_contrasts"]

Booleans = npt.NDArray[np.bool_]


def attention_ratios(model: LayeredTransformer, batch: LayeredBatch, one: Booleans, other: Booleans) -> FloatArray:
    """How much more attention related keys get: mean weight over pairs marked in ``one`` by that over pairs in ``other``; (L,).

    ``one`` and ``other`` (V, V) mark pairs of tokens, [key, query]. A pair is two positions, and all count the same.
    """
    size = check_type("model", model, LayeredTransformer).settings.vocabulary.size
    tokens = check_type("batch", batch, LayeredBatch).tokens.numpy()
    for name, mark in (("one", one), ("other", other)):
        if np.shape(mark) != (size, size) or np.asarray(mark).dtype != bool:
            raise ValueError(f"{name} has shape {np.shape(mark)}: must be ({size}, {size}) of booleans")
    counts = np.ones(tokens.shape) if batch.counts is None else batch.counts.numpy().astype(np.float64)
    is_token = (tokens != PAD)[:, :, None] & (tokens != PAD)[:, None, :]
    pairs = counts[:, :, None] * counts[:, None, :] * is_token
    ids = np.maximum(tokens, 0)
    marks = [np.asarray(mark)[ids[:, :, None], ids[:, None, :]] * pairs for mark in (one, other)]
    for name, mark in zip(("one", "other"), marks, strict=True):
        if not mark.any():
            raise ValueError(f"{name} marks no pair of tokens of the batch: must mark at least one")
    with torch.no_grad():
        found = [a.double().numpy() / np.maximum(counts, 1)[:, :, None] for a in model.attention(batch.tokens, batch.counts)]
    return np.array([(a * marks[0]).sum() / marks[0].sum() / ((a * marks[1]).sum() / marks[1].sum()) for a in found])


def attention_by_offset(model: LayeredTransformer, batch: LayeredBatch, reach: int) -> FloatArray:
    """Mean attention of the selected positions j to the positions j - reach, ..., j + reach; (L, 2 reach + 1).

    ``batch`` holds positions. Places before the start and after the end of a document are left out of the means.
    """
    check_type("model", model, LayeredTransformer)
    check_int("reach", reach, 0)
    if check_type("batch", batch, LayeredBatch).counts is not None:
        raise ValueError("batch holds counts: must hold positions, where there are distances")
    tokens, at = batch.tokens.numpy(), batch.queries.numpy()
    docs, query = batch.index.numpy() // at.shape[1], at.flatten()[batch.index.numpy()]
    offsets = np.arange(-reach, reach + 1)
    key = query[:, None] + offsets
    inside = (key >= 0) & (key < tokens.shape[1])
    key = key.clip(0, tokens.shape[1] - 1)
    inside &= tokens[docs[:, None], key] != PAD
    with torch.no_grad():
        weights = [a.double().numpy()[docs[:, None], key, query[:, None]] for a in model.attention(batch.tokens)]
    return np.array([(w * inside).sum(axis=0) / inside.sum(axis=0) for w in weights])


class SandboxContrasts(NamedTuple):
    """How far two words' dot product rises with a shared topic, and with a shared category; in standard deviations."""

    topic: float
    category: float


def sandbox_contrasts(w_e: npt.ArrayLike | torch.Tensor, vocabulary: SandboxVocabulary) -> SandboxContrasts:
    """Topic and category in the dot products of the content words' embeddings, each with the other kept different.

    Mean over pairs of the same topic and different categories, minus that over pairs that share neither, divided by the
    standard deviation of the latter; and the same for pairs of the same category and different topics.
    """
    check_type("vocabulary", vocabulary, SandboxVocabulary)
    gram = embedding_gram(w_e)
    if gram.shape != (len(vocabulary.topic_of),) * 2:
        raise ValueError(f"w_e has {len(gram)} columns: must be V = {len(vocabulary.topic_of)}")
    words = np.flatnonzero(vocabulary.topic_of > 0)
    assert MASK not in words
    topic, category = (labels[words][:, None] == labels[words] for labels in (vocabulary.topic_of, vocabulary.category_of))
    g = gram[np.ix_(words, words)]
    neither = g[~topic & ~category]
    if not (neither.size and (topic & ~category).any()):
        raise ValueError("vocabulary has a single topic or a single content category: must have at least two of each")
    if not np.isfinite(g).all() or not neither.std() > 0:
        raise ValueError("w_e has dot products that are not finite, or all equal: must be finite and differ")
    means = (g[topic & ~category].mean(), g[category & ~topic].mean())
    return SandboxContrasts(*(float((mean - neither.mean()) / neither.std()) for mean in means))
