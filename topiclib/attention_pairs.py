"""The attention between content words of real documents, measured once, and freed step by step of what is no topic.

Raw attention weights of one encoder on many documents are not comparable: they sum to 1, so a long document has small ones;
near words get more than far ones; and some words receive much from everybody. All three differ between same-topic and
different-topic pairs, so that even a model that knows nothing has a raw ratio other than 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np
from torch import Tensor, stack
from tqdm import tqdm

from topiclib import cache
from topiclib.compute import encoder_threads, in_parts, num_threads, show_progress
from topiclib.corpus import ContentWords, Corpus, Pieces
from topiclib.encoders import Encoder
from topiclib.validation import check_choice, check_each, check_int, check_type

__all__ = ["STEPS", "AttentionPairs", "attention_pairs", "debiased", "pair_values"]

STEPS = ("length", "distance", "key")
BLOCK = 128
"""Documents that are computed, and kept, together: what an interruption can lose."""
EXACT = 32
WIDE = 16


@dataclass(frozen=True, eq=False)
class AttentionPairs:
    """Every ordered pair of different content words in the same document, with the attention from one to the other.

    document : (P,) number of the document
    query, key : (P,) indices of the words, 0 to W - 1; the query's position attends to the key's
    offset : (P,) the key's position minus the query's
    scaled : (P, L) attention averaged over a layer's heads, times the document's length; 1 is the share of uniform attention
    length : (D,) tokens of each document, special ones included
    num_words : W
    """

    document: np.ndarray
    query: np.ndarray
    key: np.ndarray
    offset: np.ndarray
    scaled: np.ndarray
    length: np.ndarray
    num_words: int

    def __len__(self) -> int:
        return len(self.document)

    @property
    def num_layers(self) -> int:
        """L."""
        return int(self.scaled.shape[1])


def _block(encoder: Encoder, documents: list[np.ndarray], words: list[np.ndarray], batch_size: int) -> dict[str, np.ndarray]:
    """The pairs of some documents: ``words`` gives for each token its index among the content words, or -1."""
    shift = len(encoder.frame[0])
    order = np.argsort([len(document) for document in documents], kind="stable").tolist()
    parts: dict[int, tuple[np.ndarray, ...]] = {}
    lengths = np.zeros(len(documents), np.int32)

    def run(batch: Sequence[int]) -> tuple[Tensor, Tensor]:
        attention, _, mask = encoder.run([documents[d] for d in batch])
        return stack([layer.mean(1) for layer in attention], -1).cpu(), mask

    batches = [order[start : start + batch_size] for start in range(0, len(order), batch_size)]
    for batch, (heads, mask) in chain.from_iterable(in_parts(run, some) for some in batches):
        for row, d in enumerate(batch):
            lengths[d] = length = int(mask[row].sum())
            at = np.flatnonzero(words[d] >= 0)
            query, key = (axis.ravel() for axis in np.meshgrid(at, at, indexing="ij"))
            different = words[d][query] != words[d][key]
            query, key = query[different], key[different]
            weight = heads[row][query + shift, key + shift].numpy() * length
            parts[d] = (words[d][query], words[d][key], (key - query).astype(np.int16), weight.astype(np.float16))
    ordered = [parts[d] for d in range(len(documents))]
    number = np.array([len(part[0]) for part in ordered], np.int32)
    query, key, offset, scaled = (np.concatenate(arrays) for arrays in zip(*ordered, strict=True))
    return {"number": number, "length": lengths, "query": query, "key": key, "offset": offset, "scaled": scaled}


def attention_pairs(
    encoder: Encoder,
    corpus: Corpus,
    words: ContentWords,
    *,
    batch_size: int = 4,
    threads: int | None = None,
    progress: bool | None = None,
) -> AttentionPairs:
    """Run the encoder over the corpus and record the attention between content words.

    Parameters
    ----------
    encoder : with eager attention (``load_encoder``)
    corpus : cut by the same tokenizer
    words : the content words
    batch_size : documents that the encoder sees together, sorted by length; more cost memory and save no time on a CPU
    threads : torch threads; None: TOPICLIB_THREADS, else as many as torch is set to
    progress : show a bar with the time left

    Documents are computed in blocks, each kept in the cache: a run that was killed goes on where it was, with the same
    numbers, since a block depends on its own documents only. Raises ValueError for a corpus of another tokenizer, for a document
    that is too long for the encoder, and where no document has two different content words.
    """
    check_type("encoder", encoder, Encoder)
    check_type("corpus", corpus, Corpus)
    check_type("words", words, ContentWords)
    check_int("batch_size", batch_size, 1)
    if not len(corpus):
        raise ValueError("corpus: has no document; must have one at least")
    if corpus.pieces.texts != Pieces.of(encoder.tokenizer).texts:
        raise ValueError(f"corpus: was cut by another tokenizer; must be that of {encoder.name}")
    if corpus.lengths.max() > encoder.max_tokens:
        raise ValueError(
            f"corpus: has a document of {corpus.lengths.max()} tokens; {encoder.name} takes {encoder.max_tokens} at most"
        )
    index = np.split(corpus.word_index(words), corpus.starts[1:-1])
    name = cache.content_key(encoder.digest_parts(), Encoder, _block, batch_size, packages=("torch", "transformers"))
    blocks = []
    with num_threads(encoder_threads() if threads is None else check_int("threads", threads, 1)):
        for start in tqdm(range(0, len(corpus), BLOCK), desc=encoder.name, unit="block", disable=not show_progress(progress)):
            numbers = range(start, min(start + BLOCK, len(corpus)))
            documents, found = [corpus.document(n) for n in numbers], [index[n] for n in numbers]
            key = cache.content_key(name, *documents, *found)
            blocks.append(cache.remembered("attention", key, partial(_block, encoder, documents, found, batch_size)))
    joined = {label: np.concatenate([block[label] for block in blocks]) for label in blocks[0]}
    if not len(joined["query"]):
        raise ValueError(f"corpus: no document of {len(corpus)} has two different content words of {len(words)}")
    document = np.repeat(np.arange(len(corpus), dtype=np.int32), joined["number"])
    arrays = {label: joined[label] for label in ("query", "key", "offset", "scaled", "length")}
    return AttentionPairs(document, **arrays, num_words=len(words))


def pair_values(pairs: AttentionPairs, values: object) -> np.ndarray:
    """``values`` as an array (P,), one finite number for each of ``pairs``; raise TypeError or ValueError if it is none."""
    check_type("pairs", pairs, AttentionPairs)
    found = np.asarray(values)
    if found.shape != (len(pairs),) or found.dtype.kind not in "iufb":
        raise ValueError(f"values has shape {found.shape}: must be ({len(pairs)},), a number for each of pairs")
    if not np.isfinite(found).all():
        raise ValueError("values: has NaN or infinite entries; must be finite")
    return found.astype(float, copy=False)


def _distance_bin(offset: np.ndarray) -> np.ndarray:
    """A bin for each signed distance: every distance up to 32 by itself, beyond in steps of 16, the sign kept apart."""
    size = np.abs(offset.astype(np.int64))
    bins = np.where(size <= EXACT, size, EXACT + 1 + (size - EXACT - 1) // WIDE)
    return 2 * bins + (offset > 0)


def _divided_by_mean(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Each value over the mean of its group."""
    total, number = np.bincount(group, values), np.bincount(group)
    mean = np.divide(total, number, out=np.ones_like(total), where=(number > 0) & (total > 0))
    return np.asarray(values / mean[group])


def debiased(pairs: AttentionPairs, steps: Sequence[str] = STEPS, layers: Sequence[int] | None = None) -> np.ndarray:
    """(P,) attention averaged over layers and heads, with the steps applied in their order.

    Parameters
    ----------
    pairs : the measured attention
    steps : any of "length": times the document's length; "distance": over the mean of all pairs at the same signed distance;
        "key": over the mean that the key word receives from all queries; () leaves the raw weights
    layers : which layers to average, 1 to L; None: all

    The means are over all pairs of different content words, whatever their topics.
    """
    check_type("pairs", pairs, AttentionPairs)
    for step in check_each("steps", steps, str):
        check_choice("steps", step, STEPS)
    asked = range(1, pairs.num_layers + 1) if layers is None else check_each("layers", layers, int)
    chosen = [check_int("layers", layer, 1, pairs.num_layers) - 1 for layer in asked]
    if not chosen:
        raise ValueError("layers: there are none; must be one at least")
    values = np.zeros(len(pairs))
    for layer in chosen:
        values += pairs.scaled[:, layer]
    values /= len(chosen)
    lengths = pairs.length[pairs.document]
    values /= lengths
    for step in steps:
        if step == "length":
            values *= lengths
        elif step == "distance":
            values = _divided_by_mean(values, _distance_bin(pairs.offset))
        else:
            values = _divided_by_mean(values, pairs.key)
    return values
