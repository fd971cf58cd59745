"""Training models of several layers: fresh documents and masks at each step, SGD or Adam, several runs at once."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import count
from multiprocessing import get_context

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from topiclib.compute import begin_worker, num_cores, num_threads
from topiclib.documents import PAD, DocumentSettings, FloatArray, IntArray
from topiclib.grammar import SandboxSettings, SandboxVocabulary, sample_sandbox
from topiclib.layers import LAYER_WEIGHTS, LayeredSettings, LayeredTransformer
from topiclib.losses import selected_positions
from topiclib.masking import MaskedDocuments, MaskingSettings, mask_documents
from topiclib.settings import OPTIMIZERS
from topiclib.validation import MAX_SEED, as_rng, check_bool, check_choice, check_int, check_real, check_type
from topiclib.vocabulary import Vocabulary
from topiclib.word_counts import MaskedCounts, count_documents, sample_counts

__all__ = [
    "LayeredBatch",
    "LayeredRun",
    "LayeredTraining",
    "batch_of",
    "layered_loss",
    "loss_parts",
    "sample_batches",
    "train_layered",
]

BLOCK_DOCS = 1280  # documents drawn at once


@dataclass(frozen=True)
class LayeredTraining:
    """Everything that decides a run but its seed.

    Parameters
    ----------
    model : shape and switches of the transformer
    documents : topics only (Sections 3.1 and 6.1), or the sandbox of topics and syntax
    masking : the masks
    optimizer, learning_rate, steps, batch_size : as in ``TrainingSettings``; the loss is cross-entropy
    decay : let the learning rate fall linearly, to 0 after the last step
    log_every : steps between records of the norms
    """

    model: LayeredSettings = field(default_factory=LayeredSettings)
    documents: DocumentSettings | SandboxSettings = field(default_factory=DocumentSettings.paper)
    masking: MaskingSettings = field(default_factory=MaskingSettings.paper)
    optimizer: str = "adam"
    learning_rate: float = 0.01
    steps: int = 300
    batch_size: int = 40
    decay: bool = False
    log_every: int = 10

    def __post_init__(self) -> None:
        check_type("model", self.model, LayeredSettings)
        check_type("masking", self.masking, MaskingSettings)
        if not isinstance(self.documents, (DocumentSettings, SandboxSettings)):
            raise TypeError(f"documents = {self.documents!r}: must be DocumentSettings or SandboxSettings")
        if self.model.vocabulary.size != self.vocabulary.size:
            raise ValueError(
                f"model.vocabulary has V = {self.model.vocabulary.size}: must be the documents' {self.vocabulary.size}"
            )
        longest = self.documents.max_len
        if self.model.positions is not None and self.model.positions < longest:
            raise ValueError(f"model.positions = {self.model.positions}: must be at least {longest}, the longest document's")
        check_choice("optimizer", self.optimizer, OPTIMIZERS)
        check_real("learning_rate", self.learning_rate, 0, open_low=True)
        check_bool("decay", self.decay)
        for name in ("steps", "batch_size", "log_every"):
            check_int(name, getattr(self, name), 1)

    @property
    def vocabulary(self) -> Vocabulary:
        """The documents' token ids."""
        return self.documents.vocabulary.flat if isinstance(self.documents, SandboxSettings) else self.documents.vocabulary


@dataclass(frozen=True)
class LayeredBatch:
    """Masked documents as a model of several layers reads them, with S selected positions in all.

    tokens, counts : (B, U) as in ``LayeredTransformer.forward``; counts is None if the tokens are positions
    queries : (B, M) the columns to predict at, 0 as filler
    index : (S,) each selected position's place in ``queries``, flattened
    targets, weights : (S,) the hidden word, and 1 / |M| of its document (equation 1)
    """

    tokens: Tensor
    counts: Tensor | None
    queries: Tensor
    index: Tensor
    targets: Tensor
    weights: Tensor


def batch_of(masked: MaskedDocuments | MaskedCounts, vocabulary: Vocabulary, *, positions: bool) -> LayeredBatch:
    """Masked documents as a batch: of positions in order, or of distinct tokens with their counts."""
    if positions:
        masked = check_type("masked", masked, MaskedDocuments)
        at, real = selected_positions(masked.selected)
        targets = np.take_along_axis(masked.targets, at, axis=1)[real]
        weights = np.repeat(1 / real.sum(axis=1), real.sum(axis=1))
        return _batch(masked.inputs, None, at, np.flatnonzero(real), targets, weights)
    counted = count_documents(masked, vocabulary) if isinstance(masked, MaskedDocuments) else masked
    is_there = check_type("masked", counted, MaskedCounts).counts > 0
    order = np.argsort(~is_there, axis=1, kind="stable")[:, : is_there.sum(axis=1).max()]
    counts = np.take_along_axis(counted.counts, order, axis=1)
    column = is_there.cumsum(axis=1) - 1  # of each token in its document's list of distinct ones
    pairs = counted.pairs()
    sizes = np.bincount(pairs.docs, minlength=len(counted))
    place = np.arange(len(pairs.docs)) - np.repeat(sizes.cumsum() - sizes, sizes)
    queries = np.zeros((len(counted), sizes.max()), dtype=np.int64)
    queries[pairs.docs, place] = column[pairs.docs, pairs.queries]
    index = (pairs.docs * queries.shape[1] + place)[pairs.index]
    return _batch(np.where(counts > 0, order, PAD), counts, queries, index, counted.targets, counted.weights())


def _batch(tokens: IntArray, counts: IntArray | None, queries: IntArray, *rest: npt.NDArray[np.generic]) -> LayeredBatch:
    index, targets, weights = map(torch.from_numpy, rest)
    of_counts = None if counts is None else torch.from_numpy(counts)
    return LayeredBatch(torch.from_numpy(tokens), of_counts, torch.from_numpy(queries), index, targets, weights)


def log_predictions(model: LayeredTransformer, batch: LayeredBatch) -> Tensor:
    """Log-probability of every token at each of ``batch.queries``, fillers too; (B M, V)."""
    f = model(batch.tokens, batch.counts, batch.queries).transpose(1, 2)  # (B, M, V)
    log_p: Tensor = f.flatten(0, 1).log_softmax(dim=1)
    return log_p


def layered_loss(model: LayeredTransformer, batch: LayeredBatch) -> Tensor:
    """Equation 1 with cross-entropy (equation 4), in nats; a scalar with gradient."""
    log_p = log_predictions(model, batch)
    at_target = log_p.flatten()[batch.index * log_p.shape[1] + batch.targets]
    return -(at_target * batch.weights.to(at_target)).sum() / len(batch.tokens)


def loss_parts(model: LayeredTransformer, batch: LayeredBatch, vocabulary: SandboxVocabulary) -> FloatArray:
    """``layered_loss`` of the sandbox's words, split by the chain rule; (3,), with the loss as their sum.

    A word is its category, for a content word its topic, and one of the words of that class:
    -log P(word) = -log P(category) - log P(topic | category) - log P(word | category, topic).
    """
    check_type("vocabulary", vocabulary, SandboxVocabulary)
    with torch.no_grad():
        p = log_predictions(model, batch).double().exp().numpy()[batch.index.numpy()]  # (S, V)
    targets, weights = batch.targets.numpy(), batch.weights.numpy()
    same = vocabulary.category_of == vocabulary.category_of[targets][:, None]  # (S, V)
    of_category = (p * same).sum(axis=1)
    of_class = (p * (same & (vocabulary.topic_of == vocabulary.topic_of[targets][:, None]))).sum(axis=1)
    of_word = p[np.arange(len(targets)), targets]
    surprise = -np.log([of_category, of_class / of_category, of_word / of_class])
    parts: FloatArray = surprise @ weights / len(batch.tokens)
    return parts


def sample_batches(settings: LayeredTraining, num_docs: int, batch_size: int, rng: np.random.Generator | int) -> list[LayeredBatch]:
    """Fresh documents with fresh masks, in batches."""
    check_type("settings", settings, LayeredTraining)
    rng, size = as_rng(rng), check_int("batch_size", batch_size, 1)
    starts = range(0, check_int("num_docs", num_docs, 1), size)
    has_positions = settings.model.positions is not None
    parts: list[MaskedDocuments | MaskedCounts]
    if isinstance(settings.documents, SandboxSettings):
        tokens = sample_sandbox(settings.documents, num_docs, rng).tokens
        m = mask_documents(tokens, settings.vocabulary, settings.masking, rng)
        parts = [MaskedDocuments(m.inputs[i : i + size], m.targets[i : i + size], m.selected[i : i + size]) for i in starts]
    else:
        counts = sample_counts(settings.documents, settings.masking, num_docs, rng)
        of_counts = [counts.part(i, i + size) for i in starts]
        parts = [part.documents() if has_positions else part for part in of_counts]
    return [batch_of(part, settings.vocabulary, positions=has_positions) for part in parts]


@dataclass
class LayeredRun:
    """A trained model and its history.

    train_loss : (steps,) on each step's batch, before its update
    log_steps : (records,) steps of the norms
    norms : by name: Frobenius norms of W_K, W_Q, W_V of each layer, (records, L), and of W_E, (records, 1)
    """

    settings: LayeredTraining
    seed: int
    model: LayeredTransformer
    train_loss: FloatArray
    log_steps: IntArray
    norms: dict[str, FloatArray]


@lru_cache(maxsize=64)
def _block(settings: LayeredTraining, seed: int, number: int) -> list[LayeredBatch]:
    """A block of a seed's batches: a function of its arguments, remembered for the next run on the same documents."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
    per_block = max(1, BLOCK_DOCS // settings.batch_size)
    return sample_batches(settings, per_block * settings.batch_size, settings.batch_size, rng)


def _stream(settings: LayeredTraining, seed: int) -> Iterator[LayeredBatch]:
    """Batches without end; those of a seed are the same for every model."""
    # All that documents depend on; the rest as the defaults have it, so that runs that differ in it share their blocks.
    model = LayeredSettings(settings.vocabulary, positions=settings.model.positions)
    of_data = LayeredTraining(model, settings.documents, settings.masking, batch_size=settings.batch_size)
    for number in count():
        yield from _block(of_data, seed, number)


def _train(settings: LayeredTraining, seed: int) -> LayeredRun:
    model = LayeredTransformer(settings.model, seed)
    make = torch.optim.SGD if settings.optimizer == "sgd" else torch.optim.Adam
    optimizer = make(model.trained().values(), lr=settings.learning_rate, fused=True)
    losses, log_steps = [], np.arange(0, settings.steps + 1, settings.log_every)
    norms: dict[str, list[FloatArray]] = {name: [] for name in ("W_E", *LAYER_WEIGHTS)}

    def record() -> None:
        for name, values in norms.items():
            weight = getattr(model, name).detach()
            values.append(weight.reshape(-1, *weight.shape[-2:]).norm(dim=(1, 2)).double().numpy())

    record()
    for step, batch in zip(range(1, settings.steps + 1), _stream(settings, seed), strict=False):
        if settings.decay:
            optimizer.param_groups[0]["lr"] = settings.learning_rate * (1 - (step - 1) / settings.steps)
        loss = layered_loss(model, batch)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(loss.detach())
        if step % settings.log_every == 0:
            record()
    return LayeredRun(
        settings, seed, model, torch.stack(losses).double().numpy(), log_steps, {name: np.array(v) for name, v in norms.items()}
    )


def train_layered(runs: Sequence[tuple[LayeredTraining, int]], *, workers: int | None = None) -> list[LayeredRun]:
    """Train every (settings, seed); one process for each core, one torch thread each. Same runs, same numbers.

    A run's seed decides its initial weights and its documents; runs of one seed see the same documents, whatever the model.
    ``workers`` None takes as many as there are cores; with 1 no process is started.
    """
    for settings, seed in runs:
        check_type("settings", settings, LayeredTraining)
        check_int("seed", seed, 0, MAX_SEED)
    workers = min(len(runs), num_cores() if workers is None else check_int("workers", workers, 1))
    if workers <= 1:
        with num_threads(1):
            return [_train(settings, seed) for settings, seed in runs]
    # As in ``sweeps``: fork starts at once where it is safe, else spawn. Runs of one seed follow each other.
    context = get_context("fork" if sys.platform == "linux" else "spawn")
    order = sorted(range(len(runs)), key=lambda i: (runs[i][1], -runs[i][0].steps * runs[i][0].model.num_layers))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside a notebook's threads
        with ProcessPoolExecutor(workers, mp_context=context, initializer=begin_worker, initargs=(os.getpid(),)) as pool:
            done = dict(zip(order, pool.map(_in_worker, [runs[i] for i in order]), strict=True))
    found = []
    for i, (settings, seed) in enumerate(runs):
        run, weights = done[i]
        run.model = LayeredTransformer(settings.model, seed)
        run.model.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
        found.append(run)
    return found


def _in_worker(run: tuple[LayeredTraining, int]) -> tuple[LayeredRun, dict[str, npt.NDArray[np.floating]]]:
    """A run with its weights as arrays: what a process can send."""
    done = _train(*run)
    weights = {name: value.numpy() for name, value in done.model.state_dict().items()}
    return replace(done, model=None), weights  # type: ignore[arg-type]
