"""Training one model: fresh documents and fresh masks at each step, SGD or Adam."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from topiclib.checkpoint import CheckpointError, check_writable, checkpoint_path, load_checkpoint, save_checkpoint
from topiclib.compute import num_threads, show_progress, suitable_threads
from topiclib.counts import count_loss
from topiclib.documents import sample_documents
from topiclib.engine import CountEngine
from topiclib.history import History
from topiclib.lockstep import Engine, Lockstep, TokenEngine
from topiclib.masking import MaskedDocuments, mask_documents
from topiclib.model import TopicTransformer
from topiclib.settings import TrainingSettings
from topiclib.validation import MAX_SEED, as_rng, check_choice, check_int, check_type
from topiclib.word_counts import sample_counts

__all__ = ["DivergenceError", "TrainingRun", "TrainingSettings", "held_out_loss", "sample_batch", "train"]

ENGINES = ("counts", "tokens")


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
    """Fresh documents with fresh masks, as tokens in their order.

    Training draws from the same distribution as word counts (``word_counts.sample_counts``), which is faster.
    """
    check_type("settings", settings, TrainingSettings)
    generator = as_rng(rng)
    documents = sample_documents(settings.documents, num_docs, generator)
    return mask_documents(documents.tokens, settings.documents.vocabulary, settings.masking, generator)


def held_out_loss(model: TopicTransformer, settings: TrainingSettings, num_docs: int, rng: np.random.Generator | int) -> float:
    """Equation 1 on ``num_docs`` fresh documents, without gradient and without the L2 term; computed on word counts."""
    check_type("settings", settings, TrainingSettings)
    if check_type("model", model, TopicTransformer).settings.vocabulary != settings.documents.vocabulary:
        raise ValueError(f"model has the {model.settings.vocabulary}: must be the documents' {settings.documents.vocabulary}")
    with torch.no_grad():
        return float(count_loss(model, sample_counts(settings.documents, settings.masking, num_docs, rng), settings.loss))


def check_trains(settings: TrainingSettings, model: TopicTransformer) -> None:
    """Raise ValueError if nothing is trained, the penalty is on nothing, or in a precision that the engines lack."""
    if model.W_E.dtype not in (torch.float32, torch.float64):
        raise ValueError(f"model has the precision {model.W_E.dtype}: must be torch.float32 or torch.float64")
    trained = model.trained()
    if not trained:
        raise ValueError("model has no trained parameter: at least one must not be frozen")
    if settings.l2_coef and settings.l2_on is not None and not set(trained) & set(settings.l2_on):
        raise ValueError(f"l2_on = {settings.l2_on!r}: must name a trained parameter; trained are {', '.join(trained)}")


def identity(settings: TrainingSettings, seed: int, model: TopicTransformer, engine: str) -> dict[str, Any]:
    """What must agree for a saved run to be this one; ``steps`` may grow. Through JSON: tuples become lists.

    NumPy's numbers become Python's.
    """
    of_settings: dict[str, Any] = json.loads(json.dumps(asdict(settings), default=lambda number: number.item()))
    del of_settings["steps"]
    dtype = str(model.W_E.dtype).removeprefix("torch.")
    trained = sorted(model.trained())
    return {"settings": of_settings, "seed": seed, "trained": trained, "engine": engine, "dtype": dtype, "start": digests(model)}


def digests(model: TopicTransformer) -> dict[str, str]:
    """SHA-256 of every parameter."""
    return {name: sha256(p.detach().cpu().numpy().tobytes()).hexdigest() for name, p in model.named_parameters()}


def differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    """What differs between two identities, by name."""
    found = [name for name, value in ours["settings"].items() if value != theirs["settings"].get(name)]
    found += [name for name in ("seed", "trained", "engine", "dtype") if ours[name] != theirs.get(name)]
    if not found:
        changed = [name for name, digest in ours["start"].items() if digest != theirs["start"].get(name)]
        found += [f"{'start' if name in ours['trained'] else 'frozen'} {name}" for name in changed]
    return found


def _load(run: Lockstep, path: Path, ours: dict[str, Any], end: int) -> None:
    tensors, meta = load_checkpoint(path)
    if "identity" not in meta:
        raise CheckpointError(f"checkpoint = {str(path)!r}: holds no training run; use another path")
    if ours["start"] == meta.get("now"):  # the model that the file left, to be trained on
        ours["start"] = meta["identity"]["start"]
    if found := differences(ours, meta["identity"]):
        raise CheckpointError(f"checkpoint = {str(path)!r}: is of another run ({', '.join(found)} differ); use another path")
    if meta["step"] > run.clock.steps:
        raise CheckpointError(f"checkpoint = {str(path)!r}: is at step {meta['step']}, beyond steps = {run.clock.steps}")
    if meta["step"] > end:
        raise ValueError(f"stop_at = {end}: must be at least {meta['step']}, the step of checkpoint = {str(path)!r}")
    run.load({name: tensor.numpy() for name, tensor in tensors.items()})


def _save(run: Lockstep, path: Path, ours: dict[str, Any], model: TopicTransformer) -> None:
    run.engine.write_back([model])
    tensors = {name: torch.from_numpy(np.array(array)) for name, array in run.state().items()}
    save_checkpoint(path, tensors, {"identity": ours, "step": run.step, "now": digests(model)})


def train(
    settings: TrainingSettings,
    *,
    seed: int,
    model: TopicTransformer | None = None,
    engine: str = "counts",
    checkpoint: str | Path | None = None,
    checkpoint_every: int = 500,
    stop_at: int | None = None,
    progress: bool | None = None,
    threads: int | None = None,
) -> TrainingRun:
    """Minimise equation 1 (plus lambda ||theta||^2, equation 2) and record the way.

    Parameters
    ----------
    settings : what to train, on what, how
    seed : seeds the initial weights, the documents and the masks, 0 to 2^64 - 1; the same seed gives the same run
    model : start from this model (it is trained in place, on its device, in its precision) instead of a new one
    engine : ``"counts"``, the exact fast one (Section 3.3), or ``"tokens"``, equations 5 to 7 as written; both see the
        same documents, and their losses agree up to rounding
    checkpoint : file to save to; if it holds this very run, the run goes on from there, bit for bit as if it
        had not stopped. A file of another run, or of another kind, is an error and stays as it is; so is a path
        that cannot be written, before the first step. Its folder is created
    checkpoint_every : steps between saves; an interrupted run loses at most so many
    stop_at : stop (and save) at this step, to go on later; not before the checkpoint's
    progress : draw a progress bar; None draws one unless TOPICLIB_PROGRESS=0
    threads : torch threads during the run (restored after); None takes one for matrices as small as the paper's, on
        which more cost time, and all for large ones

    Raises DivergenceError (step, loss, what to try), CheckpointError, or ValueError or TypeError for bad arguments.
    """
    check_type("settings", settings, TrainingSettings)
    seed = check_int("seed", seed, 0, MAX_SEED)
    check_choice("engine", engine, ENGINES)
    check_int("checkpoint_every", checkpoint_every, 1)
    threads = suitable_threads(settings.model.vocabulary.size) if threads is None else check_int("threads", threads, 1)
    end = settings.steps if stop_at is None else check_int("stop_at", stop_at, 0, settings.steps)
    path = None if checkpoint is None else checkpoint_path(checkpoint)
    if model is not None and check_type("model", model, TopicTransformer).settings != settings.model:
        raise ValueError(f"model has settings {model.settings}: must be settings.model = {settings.model}")
    if model is None:
        model = TopicTransformer(settings.model, seed)
    check_trains(settings, model)
    ours = identity(settings, seed, model, engine)
    with num_threads(threads):
        made: Engine = CountEngine([settings], [model]) if engine == "counts" else TokenEngine(settings, model)
        run = Lockstep([settings], [seed], made)
        if path is not None and os.path.exists(path):
            _load(run, path, ours, end)
        else:
            run.begin()
        if path is not None and run.step < end:
            check_writable(path)
        try:
            with tqdm(total=end, initial=run.step, desc="training", unit="step", disable=not show_progress(progress)) as bar:
                while run.step < end:
                    every = end if path is None else checkpoint_every
                    run.advance(min(end, (run.step // every + 1) * every), bar.update)
                    if run.diverged[0] >= 0:
                        step, loss = int(run.diverged[0]), float(run.last_loss[0])
                        raise DivergenceError(step, loss, settings.learning_rate, run.history(0))
                    if path is not None:
                        _save(run, path, ours, model)
        finally:
            made.write_back([model])
    return TrainingRun(settings, seed, model, run.history(0), run.step)
