"""Training the small encoder of Figure 5: what is recorded at every step; runs are kept, and go on after an interruption."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

from topiclib import cache
from topiclib.checkpoint import CheckpointError, load_checkpoint, save_checkpoint
from topiclib.compute import begin_worker, num_cores, num_threads
from topiclib.masked_lm import WEIGHTS, MaskedLMSettings, Windows, attention_matrices, build_model, draw_batch, masked_loss
from topiclib.masking import MaskedDocuments, mask_documents
from topiclib.ranks import Ranks
from topiclib.validation import MAX_SEED, check_each, check_int, check_type, shown

__all__ = ["LAG", "MaskedLMRun", "train_masked_lm"]

LAG = 10
"""Steps between the two matrices whose distance is the rotation (the caption of Figure 5)."""

ALONE = Ranks()


@dataclass(frozen=True, eq=False)
class MaskedLMRun:
    """A run's record. Step t is the state after t updates.

    train_loss : (steps,) on each step's batch, before its update
    norms : by "K", "Q", "V": (steps + 1, layers) Frobenius norms, all heads of a layer in one matrix
    gradients : by "K", "Q", "V": (steps, layers) Frobenius norms of the gradients on that batch
    rotation : (steps + 1, layers) cosine distance (1 - cs) / 2 of W^V from ``LAG`` steps before; NaN where there is none
    snapshots : weights by step and by name, as in ``BertForMaskedLM``
    """

    settings: MaskedLMSettings
    seed: int
    train_loss: np.ndarray
    norms: dict[str, np.ndarray]
    gradients: dict[str, np.ndarray]
    rotation: np.ndarray
    snapshots: dict[int, dict[str, np.ndarray]]


class _BatchLoss(torch.nn.Module):
    """``masked_loss`` as a module's forward pass: what DistributedDataParallel needs to average the ranks' gradients."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: MaskedDocuments) -> Tensor:
        return masked_loss(self.model, batch)


def _rows(batch: MaskedDocuments, ranks: Ranks) -> MaskedDocuments:
    """The rows of a batch that a rank takes: equally many each, so that the mean of the ranks' means is the batch's."""
    number = len(batch) // ranks.size
    mine = slice(ranks.rank * number, (ranks.rank + 1) * number)
    return MaskedDocuments(batch.inputs[mine], batch.targets[mine], batch.selected[mine])


def _saved(part: Path) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
    """The state in the file ``part``, if there is one."""
    with suppress(CheckpointError):
        return load_checkpoint(part)
    return None


def _train(
    settings: MaskedLMSettings, seed: int, windows: Windows, part: Path, save_every: int, ranks: Ranks
) -> dict[str, np.ndarray]:
    """A run as arrays by name; goes on from the file ``part`` if there is one, and writes it every ``save_every`` steps.

    Of several ranks each takes its rows of every batch. All record the same, of the whole batch, and rank 0 reads and writes.
    """
    size, length = len(windows.pieces), windows.tokens.shape[1]
    model = build_model(settings, size, length, seed).to(ranks.device)
    matrices = attention_matrices(model)
    parameters = list(model.parameters())
    options: dict[str, Any] = {"lr": settings.learning_rate, "fused": True}
    optimizer = (
        torch.optim.SGD(parameters, **options)
        if settings.optimizer == "sgd"
        else torch.optim.Adam(parameters, eps=settings.epsilon, **options)
    )
    layers, steps = settings.num_layers, settings.steps
    record: dict[str, np.ndarray] = {f"norms.{x}": np.full((steps + 1, layers), np.nan) for x in WEIGHTS}
    record |= {f"gradients.{x}": np.full((steps, layers), np.nan) for x in WEIGHTS}
    record |= {"train_loss": np.full(steps, np.nan), "rotation": np.full((steps + 1, layers), np.nan)}
    past = torch.zeros(LAG, layers, settings.hidden**2, device=ranks.device)  # W^V after step t at t modulo LAG
    weights: dict[str, Tensor] = {}
    first = 0

    def note(step: int) -> None:
        now = torch.stack([value.detach().flatten() for value in matrices["V"]])
        if step >= LAG:
            cosine = torch.cosine_similarity(now.double(), past[step % LAG].double(), dim=1)
            record["rotation"][step] = (1 - cosine.cpu().numpy()) / 2
        past[step % LAG] = now
        for name, of_layers in matrices.items():
            record[f"norms.{name}"][step] = [float(w.detach().norm()) for w in of_layers]
        if step in settings.snapshots:
            weights.update({f"snapshots.{step}.{name}": value.clone() for name, value in _parameters(model).items()})

    if (saved := ranks.of_first(_saved(part) if ranks.rank == 0 else None)) is not None:
        tensors, meta = saved
        record = {name: tensors[f"record.{name}"].numpy() for name in record}
        past = tensors["past"].to(ranks.device)
        weights = {name: value for name, value in tensors.items() if name.startswith("snapshots.")}
        with torch.no_grad():
            for k, parameter in enumerate(parameters):
                parameter.copy_(tensors[f"parameter.{k}"])
        moments: dict[int, dict[str, Tensor]] = {}
        for name, value in tensors.items():
            if name.startswith("optimizer."):
                _, k_, label = name.split(".", 2)
                moments.setdefault(int(k_), {})[label] = value
        optimizer.load_state_dict({"state": moments, "param_groups": optimizer.state_dict()["param_groups"]})
        first = meta["step"]
    if not first:
        note(0)
    loss_of: torch.nn.Module = _BatchLoss(model)
    if ranks.size > 1:
        loss_of = DistributedDataParallel(loss_of)
    for step in range(first + 1, steps + 1):
        loss = loss_of(_rows(draw_batch(windows, settings, seed, step), ranks))
        optimizer.zero_grad()
        loss.backward()
        record["train_loss"][step - 1] = ranks.mean(loss.detach())
        for name, of_layers in matrices.items():
            record[f"gradients.{name}"][step - 1] = [float(w.grad.norm()) for w in of_layers if w.grad is not None]
        optimizer.step()
        note(step)
        if step % save_every == 0 and step < steps and ranks.rank == 0:
            state = {f"record.{name}": torch.from_numpy(value) for name, value in record.items()} | weights | {"past": past}
            state |= {f"parameter.{k}": parameter for k, parameter in enumerate(parameters)}
            for k, values in optimizer.state_dict()["state"].items():
                state |= {f"optimizer.{k}.{label}": x for label, x in values.items() if isinstance(x, Tensor)}
            with suppress(CheckpointError):
                save_checkpoint(part, state, {"step": step})
    return record | {name: value.cpu().numpy() for name, value in weights.items()}


def _parameters(model: Any) -> dict[str, Tensor]:
    """Every parameter once, by its name."""
    return {name: value.detach() for name, value in model.named_parameters()}


def _run(settings: MaskedLMSettings, seed: int, windows: Windows, save_every: int, ranks: Ranks = ALONE) -> dict[str, np.ndarray]:
    """The arrays of a run, from the cache if they are there; of several ranks rank 0's cache counts."""
    code = (_train, _BatchLoss, _rows, attention_matrices, _parameters, build_model, draw_batch, masked_loss, mask_documents)
    # Together, or on a GPU, the numbers differ by rounding, so that they have a name of their own; how many ranks there are is
    # not in it: a run that was killed goes on with another number.
    together = () if _is_alone(ranks) else ("ranks", ranks.device.type)
    inputs = (settings, seed, windows.tokens, len(windows.pieces))
    key = cache.content_key(*inputs, *code, *together, packages=("torch", "transformers", "numpy"))
    if len(set(ranks.gather(key))) > 1:
        raise ValueError("runs, windows or the installed versions: differ between the ranks; must be the same on each")
    part = cache.cache_folder() / f"masked-lm-{key}.part.safetensors"

    def compute() -> dict[str, np.ndarray]:
        ranks.of_first(None)  # the others learn that there is nothing in the cache
        return _train(settings, seed, windows, part, save_every, ranks)

    with num_threads(1):
        if ranks.rank == 0:
            found = ranks.of_first(cache.remembered("masked-lm", key, compute))
        elif (kept := ranks.of_first(None)) is not None:
            found = kept
        else:
            _train(settings, seed, windows, part, save_every, ranks)
            found = ranks.of_first({})
    if ranks.rank == 0:
        with suppress(OSError):
            part.unlink(missing_ok=True)
    return found


def _is_alone(ranks: Ranks) -> bool:
    """Whether there is but one process, on a CPU: what a run is without ``ranks``."""
    return ranks.size == 1 and ranks.device.type == "cpu"


def train_masked_lm(
    runs: Sequence[tuple[MaskedLMSettings, int]],
    windows: Windows,
    *,
    workers: int | None = None,
    save_every: int = 200,
    ranks: Ranks | None = None,
) -> list[MaskedLMRun]:
    """Train every (settings, seed), in processes with one torch thread each. Same runs, same numbers.

    Parameters
    ----------
    runs : a run's seed decides its initial weights, its windows and its masks
    windows : the text
    workers : None: one more than there are cores, so that none is idle while the last run ends; with 1 no process is started
    save_every : steps between the states kept on disk: a run that was killed goes on from the last, with the same numbers
    ranks : the processes that ``torchrun`` started (``distributed.processes``). They train one run after the other together:
        each takes its rows of every batch, and the gradients are averaged (DistributedDataParallel). Up to rounding the numbers
        are those of one process; every rank gets them. Rank 0 keeps states and finished runs, in its host's cache: where a
        job may begin again with rank 0 on another host, let TOPICLIB_CACHE be a folder that they share

    Finished runs are kept in the cache. Raises ValueError, on every rank, if a ``batch_size`` is no multiple of the number of
    ranks, or their arguments differ.
    """
    check_type("windows", windows, Windows)
    check_int("save_every", save_every, 1)
    ranks = ALONE if ranks is None else check_type("ranks", ranks, Ranks)
    for run in check_each("runs", runs, tuple):
        if len(run) != 2:
            raise ValueError(f"runs has {shown(run)}: must be (settings, seed)")
        settings, seed = run
        check_type("settings", settings, MaskedLMSettings)
        check_int("seed", seed, 0, MAX_SEED)
        if settings.batch_size % ranks.size:
            raise ValueError(f"batch_size = {settings.batch_size}: must be a multiple of the number of ranks, {ranks.size}")
    if not _is_alone(ranks):
        if workers not in (None, 1):
            raise ValueError(f"workers = {shown(workers)}: must be None or 1 with ranks, which train each run together")
        workers = 1
    workers = min(len(runs), num_cores() + 1 if workers is None else check_int("workers", workers, 1))
    if workers <= 1:
        return [_as_run(settings, seed, _run(settings, seed, windows, save_every, ranks)) for settings, seed in runs]
    context = get_context("fork" if sys.platform == "linux" else "spawn")  # as in ``sweeps``
    order = sorted(range(len(runs)), key=lambda i: -runs[i][0].steps)  # the longest first
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside a notebook's threads
        with ProcessPoolExecutor(workers, mp_context=context, initializer=begin_worker, initargs=(os.getpid(),)) as pool:
            waiting = {i: pool.submit(_run, *runs[i], windows, save_every) for i in order}
            return [_as_run(*run, waiting[i].result()) for i, run in enumerate(runs)]


def _as_run(settings: MaskedLMSettings, seed: int, arrays: dict[str, np.ndarray]) -> MaskedLMRun:
    """The record from its arrays."""
    snapshots: dict[int, dict[str, np.ndarray]] = {step: {} for step in settings.snapshots}
    for label, value in arrays.items():
        if label.startswith("snapshots."):
            _, step, name = label.split(".", 2)
            snapshots[int(step)][name] = value
    norms, gradients = ({x: arrays[f"{kind}.{x}"] for x in WEIGHTS} for kind in ("norms", "gradients"))
    return MaskedLMRun(settings, seed, arrays["train_loss"], norms, gradients, arrays["rotation"], snapshots)
