"""One training loop for every experiment: fresh documents and fresh masks at each step, SGD or Adam."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from topiclib.checkpoint import (
    CheckpointError,
    check_writable,
    checkpoint_path,
    load_checkpoint,
    optimizer_tensors,
    restore_optimizer,
    save_checkpoint,
)
from topiclib.compute import num_threads, show_progress
from topiclib.documents import sample_documents
from topiclib.history import History
from topiclib.losses import l2_penalty, masked_loss
from topiclib.masking import MaskedDocuments, mask_documents
from topiclib.model import TopicTransformer
from topiclib.settings import TrainingSettings
from topiclib.validation import MAX_SEED, as_rng, check_int, check_type

__all__ = ["DivergenceError", "TrainingRun", "TrainingSettings", "held_out_loss", "sample_batch", "train"]

MAX_LOSS = 1e6


class DivergenceError(RuntimeError):
    """Training diverged. ``step``, ``loss`` and ``history`` tell what happened until then."""

    def __init__(self, step: int, loss: float, learning_rate: float, history: History) -> None:
        super().__init__(
            f"training diverged at step {step}: the loss is {loss:g}. Try a smaller learning_rate "
            f"(now {learning_rate:g}; {learning_rate / 10:g} is a first guess), a smaller init_scale, or optimizer='adam'."
        )
        self.step, self.loss, self.history = step, loss, history


@dataclass
class TrainingRun:
    """A model after ``step`` updates, its history, and the settings and seed it came from."""

    settings: TrainingSettings
    seed: int
    model: TopicTransformer
    history: History
    step: int


def sample_batch(settings: TrainingSettings, num_docs: int, rng: np.random.Generator | int) -> MaskedDocuments:
    """Fresh documents with fresh masks, as every training step and every evaluation draws them."""
    check_type("settings", settings, TrainingSettings)
    generator = as_rng(rng)
    documents = sample_documents(settings.documents, num_docs, generator)
    return mask_documents(documents.tokens, settings.documents.vocabulary, settings.masking, generator)


def held_out_loss(model: TopicTransformer, settings: TrainingSettings, num_docs: int, rng: np.random.Generator | int) -> float:
    """Equation 1 on ``num_docs`` fresh documents, without gradient and without the L2 term."""
    check_type("settings", settings, TrainingSettings)
    with torch.no_grad():
        return float(masked_loss(model, sample_batch(settings, num_docs, rng), settings.loss))


class _Run:
    """The state of a run: what a checkpoint must hold to go on as if nothing had happened."""

    def __init__(self, settings: TrainingSettings, seed: int, model: TopicTransformer | None) -> None:
        self.settings, self.seed, self.step = settings, seed, 0
        self.model = TopicTransformer(settings.model, seed) if model is None else model
        trained = self.model.trained()
        if not trained:
            raise ValueError("model has no trained parameter: at least one must not be frozen")
        chosen = trained if settings.l2_on is None else {n: p for n, p in trained.items() if n in settings.l2_on}
        if settings.l2_coef and not chosen:
            raise ValueError(f"l2_on = {settings.l2_on!r}: must name a trained parameter; trained are {', '.join(trained)}")
        self.penalized = list(chosen.values())
        make = torch.optim.SGD if settings.optimizer == "sgd" else torch.optim.Adam
        self.optimizer = make(trained.values(), lr=settings.learning_rate)
        # Two streams: how often one evaluates does not change what one trains on.
        train_seed, eval_seed = np.random.SeedSequence(seed).spawn(2)
        self.train_rng, self.eval_rng = np.random.default_rng(train_seed), np.random.default_rng(eval_seed)
        self.history, self.previous_W_V = History(), None

    previous_W_V: Tensor | None

    def record(self) -> None:
        s, t = self.settings, self.step
        if t % s.log_every == 0:
            self.previous_W_V = self.history.log(t, self.model, self.previous_W_V)
        if t % s.eval_every == 0:
            self.history.eval_steps.append(t)
            self.history.held_out_loss.append(held_out_loss(self.model, s, s.eval_docs, self.eval_rng))
        if t in s.snapshots:
            self.history.snapshot(t, self.model)

    def _check(self, loss: float) -> None:
        if not isfinite(loss) or loss > MAX_LOSS:
            raise DivergenceError(self.step, loss, self.settings.learning_rate, self.history)

    def check_last_update(self) -> None:
        """The loop sees a divergence at the next step's loss; after the last step a few documents of a third stream show it."""
        last_rng = np.random.default_rng(np.random.SeedSequence(self.seed).spawn(3)[2])
        self._check(held_out_loss(self.model, self.settings, 8, last_rng))

    def update(self) -> None:
        s = self.settings
        loss = masked_loss(self.model, sample_batch(s, s.batch_size, self.train_rng), s.loss)
        value = float(loss.detach())
        self._check(value)
        if s.l2_coef:
            loss = loss + s.l2_coef * l2_penalty(self.penalized)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        self.history.train_loss.append(value)
        self.step += 1
        self.record()

    def _identity(self) -> dict[str, Any]:
        """What must agree for a checkpoint to be of this run; ``steps`` may grow. Through JSON: tuples become lists.

        NumPy's numbers become Python's.
        """
        settings: dict[str, Any] = json.loads(json.dumps(asdict(self.settings), default=lambda number: number.item()))
        del settings["steps"]
        return {"settings": settings, "seed": self.seed, "trained": sorted(self.model.trained())}

    def save(self, path: str | Path) -> None:
        tensors = {f"model.{n}": p for n, p in self.model.named_parameters()} | optimizer_tensors(self.optimizer)
        if self.previous_W_V is not None:
            tensors["previous_W_V"] = self.previous_W_V
        for step, weights in self.history.snapshots.items():
            tensors |= {f"snapshot.{step}.{n}": torch.from_numpy(w) for n, w in weights.items()}
        rngs = [self.train_rng.bit_generator.state, self.eval_rng.bit_generator.state]
        meta = {"identity": self._identity(), "step": self.step, "curves": self.history.curves(), "rngs": rngs}
        save_checkpoint(path, {n: t.clone() for n, t in tensors.items()}, meta)

    def load(self, path: str | Path, end: int) -> None:
        tensors, meta = load_checkpoint(path)
        if "identity" not in meta:
            raise CheckpointError(f"checkpoint = {str(path)!r}: holds no training run; use another path")
        ours, theirs = self._identity(), meta["identity"]
        if ours != theirs:
            differ = [k for k in ours["settings"] if ours["settings"][k] != theirs["settings"].get(k)]
            differ += [k for k in ("seed", "trained") if ours[k] != theirs.get(k)]
            raise CheckpointError(f"checkpoint = {str(path)!r}: is of another run ({', '.join(differ)} differ); use another path")
        if meta["step"] > self.settings.steps:
            raise CheckpointError(f"checkpoint = {str(path)!r}: is at step {meta['step']}, beyond steps = {self.settings.steps}")
        if meta["step"] > end:
            raise ValueError(f"stop_at = {end}: must be at least {meta['step']}, the step of checkpoint = {str(path)!r}")
        frozen = [n for n, p in self.model.named_parameters() if not p.requires_grad]
        if other := [n for n in frozen if not torch.equal(tensors[f"model.{n}"], getattr(self.model, n).detach().cpu())]:
            raise CheckpointError(f"checkpoint = {str(path)!r}: is of another run (frozen {', '.join(other)} differ)")
        with torch.no_grad():
            for name, parameter in self.model.named_parameters():
                parameter.copy_(tensors[f"model.{name}"])
        restore_optimizer(self.optimizer, tensors)
        snapshots: dict[int, dict[str, Tensor]] = {}
        for name, value in tensors.items():
            if name.startswith("snapshot."):
                _, step, parameter_name = name.split(".")
                snapshots.setdefault(int(step), {})[parameter_name] = value
        self.history.load(meta["curves"], snapshots)
        previous, self.step = tensors.get("previous_W_V"), meta["step"]
        self.previous_W_V = None if previous is None else previous.to(self.model.W_V.device)
        self.train_rng.bit_generator.state, self.eval_rng.bit_generator.state = meta["rngs"]


def train(
    settings: TrainingSettings,
    *,
    seed: int,
    model: TopicTransformer | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_every: int = 500,
    stop_at: int | None = None,
    progress: bool | None = None,
    threads: int | None = 1,
) -> TrainingRun:
    """Minimise equation 1 (plus lambda ||theta||^2, equation 2) and record the way.

    Parameters
    ----------
    settings : what to train, on what, how
    seed : seeds the initial weights, the documents and the masks, 0 to 2^64 - 1; the same seed gives the same run
    model : start from this model (it is trained in place) instead of a new one
    checkpoint : file to save to; if it holds this very run, the run goes on from there, bit for bit as if it
        had not stopped. A file of another run, or of another kind, is an error and stays as it is; so is a path
        that cannot be written, before the first step. Its folder is created
    checkpoint_every : steps between saves; an interrupted run loses at most so many
    stop_at : stop (and save) at this step, to go on later; not before the checkpoint's
    progress : draw a progress bar; None draws one unless TOPICLIB_PROGRESS=0
    threads : torch threads during the run (restored after); None leaves them as they are

    Raises DivergenceError (step, loss, what to try), CheckpointError, or ValueError or TypeError for bad arguments.
    """
    check_type("settings", settings, TrainingSettings)
    seed = check_int("seed", seed, 0, MAX_SEED)
    check_int("checkpoint_every", checkpoint_every, 1)
    if threads is not None:
        check_int("threads", threads, 1)
    end = settings.steps if stop_at is None else check_int("stop_at", stop_at, 0, settings.steps)
    path = None if checkpoint is None else checkpoint_path(checkpoint)
    if model is not None and check_type("model", model, TopicTransformer).settings != settings.model:
        raise ValueError(f"model has settings {model.settings}: must be settings.model = {settings.model}")
    with num_threads(threads):
        run = _Run(settings, seed, model)
        if path is not None and os.path.exists(path):
            run.load(path, end)
        else:
            run.record()
        if path is not None and run.step < end:
            check_writable(path)
        with tqdm(total=end, initial=run.step, desc="training", unit="step", disable=not show_progress(progress)) as bar:
            while run.step < end:
                run.update()
                bar.update()
                if run.step == end:
                    run.check_last_update()
                if path is not None and (run.step % checkpoint_every == 0 or run.step == end):
                    run.save(path)
    return TrainingRun(settings, seed, run.model, run.history, run.step)
