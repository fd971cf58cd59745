"""Runs that take their steps together, and what is recorded of them. ``train`` is one run, a sweep many.

Step k of a run with seed s trains on documents that depend on s and k alone, drawn in blocks of some dozen steps from
generators of their own. So a run can go on from any step, the same documents serve both engines, and what is evaluated
or recorded changes nothing in the training.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from topiclib.history import CURVES, History
from topiclib.losses import l2_penalty, masked_loss
from topiclib.model import WEIGHTS, TopicTransformer
from topiclib.settings import TrainingSettings
from topiclib.word_counts import MaskedCounts, sample_counts

MAX_LOSS = 1e6
BLOCK_DOCS = 1280  # enough for NumPy's calls to cost little a step, few enough for the cache
TRAINING, EVALUATION, LAST = range(3)  # streams of documents


def draw(settings: TrainingSettings, seed: int, stream: int, number: int, num_docs: int) -> MaskedCounts:
    """Documents ``number`` of one of a run's streams: a function of its arguments, whatever else was drawn."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(stream, number)))
    return sample_counts(settings.documents, settings.masking, num_docs, rng)


class Engine(Protocol):
    """What takes the steps: ``engine.CountEngine``, or ``TokenEngine`` below."""

    runs: int
    parameters: dict[str, Tensor]

    @property
    def batch_kind(self) -> object:
        """Engines of one kind can share prepared batches."""

    def context(self) -> AbstractContextManager[object]:
        """What steps are taken in."""

    def prepare(self, blocks: Sequence[MaskedCounts], batch_size: int) -> Sequence[Any]:
        """The batches in ``blocks``, which holds each run's documents."""

    def advance(self, batch: Any) -> Tensor:
        """One update of every run; returns the losses before it, (R,)."""

    def loss(self, batch: Any) -> Tensor:
        """Equation 1 of each run, (R,)."""

    def state(self) -> dict[str, Tensor]:
        """Weights and optimizer."""

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Put back what ``state`` gave."""

    def write_back(self, models: Sequence[TopicTransformer]) -> None:
        """Copy the weights into the models."""


class Source:
    """Draws and prepares a run's documents, and remembers the last few, for runs that take the same ones in turn."""

    def __init__(self, remember: int = 2) -> None:
        self.remember = remember
        self.batches: OrderedDict[object, Sequence[Any]] = OrderedDict()

    def __call__(self, run: Lockstep, stream: int, number: int, num_docs: int, batch_size: int) -> Sequence[Any]:
        """The batches in ``num_docs`` documents of a stream."""
        documents = tuple((s.documents, s.masking) for s in run.settings)
        key = (run.engine.batch_kind, documents, tuple(run.seeds), stream, number, num_docs, batch_size)
        if key not in self.batches:
            blocks = [draw(s, seed, stream, number, num_docs) for s, seed in zip(run.settings, run.seeds, strict=True)]
            self.batches[key] = run.engine.prepare(blocks, batch_size)
            if len(self.batches) > self.remember:
                self.batches.popitem(last=False)
        return self.batches[key]


class TokenEngine:
    """One run on tokens: equations 5 to 7 as ``model`` has them, autograd and torch.optim. Slow, and easy to follow."""

    runs = 1
    batch_kind = "tokens"

    def __init__(self, settings: TrainingSettings, model: TopicTransformer) -> None:
        self.settings, self.model = settings, model
        trained = model.trained()
        self.penalized = [p for name, p in trained.items() if settings.l2_on is None or name in settings.l2_on]
        make = torch.optim.SGD if settings.optimizer == "sgd" else torch.optim.Adam
        self.optimizer = make(trained.values(), lr=settings.learning_rate)
        self.parameters = {name: p.detach()[None] for name, p in model.named_parameters()}

    @staticmethod
    def context() -> AbstractContextManager[object]:
        return nullcontext()

    def prepare(self, blocks: Sequence[MaskedCounts], batch_size: int) -> list[MaskedCounts]:
        (block,) = blocks
        return [block.part(start, start + batch_size) for start in range(0, len(block), batch_size)]

    def advance(self, batch: MaskedCounts) -> Tensor:
        loss = masked_loss(self.model, batch.documents(), self.settings.loss)
        objective = loss + self.settings.l2_coef * l2_penalty(self.penalized) if self.settings.l2_coef else loss
        self.optimizer.zero_grad(set_to_none=True)
        objective.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return loss.detach()[None]

    def loss(self, batch: MaskedCounts) -> Tensor:
        with torch.no_grad():
            return masked_loss(self.model, batch.documents(), self.settings.loss)[None]

    def state(self) -> dict[str, Tensor]:
        optimizer = {
            f"optimizer.{index}.{key}": torch.as_tensor(value)
            for index, state in self.optimizer.state_dict()["state"].items()
            for key, value in state.items()
        }
        return {name: p.detach() for name, p in self.model.named_parameters()} | optimizer

    def load(self, state: Mapping[str, Tensor]) -> None:
        of_optimizer: dict[int, dict[str, Tensor]] = {}
        with torch.no_grad():
            for name, value in state.items():
                if name.startswith("optimizer."):
                    _, index, key = name.split(".")
                    of_optimizer.setdefault(int(index), {})[key] = value
                else:
                    getattr(self.model, name).copy_(value)
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": of_optimizer})

    def write_back(self, models: Sequence[TopicTransformer]) -> None:
        if models[0] is not self.model:
            models[0].load_state_dict(self.model.state_dict())


class Lockstep:
    """R runs at the same step.

    Parameters
    ----------
    settings, seeds : one of each for every run; all record at the same steps
    engine : takes their steps
    source : where their documents come from

    Attributes
    ----------
    step : updates done
    curves : by name, (R, records) float64, NaN where nothing was recorded yet or the run had diverged
    snapshots : by step and name, (R, ...) every parameter
    diverged, last_loss : (R,) the step at which a run's loss left the range (-1 if it did not), and that loss
    """

    def __init__(
        self, settings: Sequence[TrainingSettings], seeds: Sequence[int], engine: Engine, source: Source | None = None
    ) -> None:
        self.source = source or Source()
        self.settings, self.seeds, self.engine, self.step = list(settings), list(seeds), engine, 0
        self.clock = s = settings[0]
        self.block_steps = max(1, BLOCK_DOCS // s.batch_size)
        lengths = {"train_loss": s.steps, "held_out_loss": s.steps // s.eval_every + 1}
        logs = s.steps // s.log_every + 1
        self.curves = {name: np.full((engine.runs, lengths.get(name, logs)), np.nan) for name in CURVES}
        self.snapshots: dict[int, dict[str, npt.NDArray[Any]]] = {}
        self.diverged = np.full(engine.runs, -1)
        self.last_loss = np.full(engine.runs, np.nan)
        self.previous_W_V: Tensor | None = None

    def _loss_on_fresh(self, stream: int, number: int, num_docs: int) -> npt.NDArray[np.float64]:
        (batch,) = self.source(self, stream, number, num_docs, num_docs)
        return self.engine.loss(batch).double().cpu().numpy()

    def begin(self) -> None:
        """Record the state before the first step."""
        with self.engine.context():
            self._record()

    def _record(self) -> None:
        """Record the state at this step, if it is one of those to record."""
        s, t = self.clock, self.step
        if t % s.log_every == 0:
            at = t // s.log_every
            norms = [torch.linalg.vector_norm(self.engine.parameters[name], dim=(1, 2)) for name in WEIGHTS]
            for name, values in zip(WEIGHTS, torch.stack(norms).cpu().numpy(), strict=True):
                self.curves[f"norm_{name}"][:, at] = values
            w_v = self.engine.parameters["W_V"].clone()
            if self.previous_W_V is not None:
                self.curves["rotation_W_V"][:, at] = cosine_distances(w_v, self.previous_W_V)
            self.previous_W_V = w_v
        if t % s.eval_every == 0:
            number = t // s.eval_every
            self.curves["held_out_loss"][:, number] = self._loss_on_fresh(EVALUATION, number, s.eval_docs)
        if t in s.snapshots:
            self.snapshots[t] = {name: value.cpu().numpy().copy() for name, value in self.engine.parameters.items()}

    def advance(self, stop: int, on_step: Callable[[], object] = lambda: None) -> None:
        """Take steps until ``stop``, or until every run has diverged."""
        with self.engine.context():
            self._advance(stop, on_step)
            if self.step == self.clock.steps:
                # The loop sees a divergence at the next step's loss; after the last one a few fresh documents show it.
                self._mark(self.step, self._loss_on_fresh(LAST, 0, 8)[:, None])

    def _advance(self, stop: int, on_step: Callable[[], object]) -> None:
        while self.step < stop and (self.diverged < 0).any():
            number, first = divmod(self.step, self.block_steps)
            start, losses = self.step, []
            size = self.clock.batch_size
            batches = self.source(self, TRAINING, number, self.block_steps * size, size)
            for batch in batches[first : first + stop - start]:
                losses.append(self.engine.advance(batch))
                self.step += 1
                self._record()
                on_step()
            self.curves["train_loss"][:, start : self.step] = torch.stack(losses, 1).double().cpu().numpy()
            self._mark(start, self.curves["train_loss"][:, start : self.step])

    def _mark(self, start: int, losses: npt.NDArray[np.float64]) -> None:
        """Mark the runs whose losses of steps ``start``, ... leave the range, and take back what was recorded after."""
        with np.errstate(invalid="ignore"):
            bad = ~(np.abs(losses) <= MAX_LOSS)
        for run in np.flatnonzero(bad.any(axis=1) & (self.diverged < 0)):
            first = int(bad[run].argmax())
            step = start + first
            self.diverged[run], self.last_loss[run] = step, losses[run, first]
            self.curves["train_loss"][run, step:] = np.nan
            for name in CURVES[1:]:
                every = self.clock.eval_every if name == "held_out_loss" else self.clock.log_every
                self.curves[name][run, step // every + 1 :] = np.nan

    def history(self, run: int) -> History:
        """One run's record, as if it had been alone."""
        return history_of(self.clock, self.state(), run)

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """All that ``load`` needs to go on as if nothing had happened."""
        arrays: dict[str, npt.NDArray[Any]] = {f"engine.{n}": t.cpu().numpy().copy() for n, t in self.engine.state().items()}
        arrays |= {f"curves.{name}": values for name, values in self.curves.items()}
        arrays |= {f"snapshots.{step}.{n}": v for step, weights in self.snapshots.items() for n, v in weights.items()}
        if self.previous_W_V is not None:
            arrays["previous_W_V"] = self.previous_W_V.cpu().numpy()
        return arrays | self.state_of_steps() | {"last_loss": self.last_loss}

    def state_of_steps(self) -> dict[str, npt.NDArray[Any]]:
        """How far the runs are."""
        return {"step": np.array(self.step), "diverged": self.diverged}

    def load(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Put back what ``state`` gave, also that of fewer or more steps in all."""
        self.step, self.diverged, self.last_loss = int(state["step"]), state["diverged"].copy(), state["last_loss"].copy()
        engine: dict[str, Tensor] = {}
        for name, value in state.items():
            kind, _, rest = name.partition(".")
            if kind == "engine":
                engine[rest] = torch.from_numpy(np.array(value))
            elif kind == "curves":
                curve = self.curves[rest]
                curve[:, : value.shape[1]] = value[:, : curve.shape[1]]
            elif kind == "snapshots":
                step, _, parameter = rest.partition(".")
                self.snapshots.setdefault(int(step), {})[parameter] = np.array(value)
        self.engine.load(engine)
        if "previous_W_V" in state:
            self.previous_W_V = torch.from_numpy(np.array(state["previous_W_V"])).to(self.engine.parameters["W_V"])


def history_of(clock: TrainingSettings, state: Mapping[str, npt.NDArray[Any]], run: int) -> History:
    """One run's record out of ``Lockstep.state``, as if it had been alone."""
    diverged = int(state["diverged"][run])
    end = int(state["step"]) if diverged < 0 else diverged
    log_steps, eval_steps = (list(range(0, end + 1, every)) for every in (clock.log_every, clock.eval_every))
    lengths = {"train_loss": end, "held_out_loss": len(eval_steps)}
    history = History(log_steps=log_steps, eval_steps=eval_steps)
    for name, value in state.items():
        kind, _, rest = name.partition(".")
        if kind == "curves":
            setattr(history, rest, value[run, : lengths.get(rest, len(log_steps))].tolist())
        elif kind == "snapshots":
            step, _, parameter = rest.partition(".")
            if int(step) <= end:
                history.snapshots.setdefault(int(step), {})[parameter] = np.array(value[run])
    return history


def cosine_distances(a: Tensor, b: Tensor) -> npt.NDArray[np.float64]:
    """(1 - cosine similarity) / 2 of each run's two matrices; NaN if one is 0."""
    norms = torch.linalg.vector_norm(a, dim=(1, 2)) * torch.linalg.vector_norm(b, dim=(1, 2))
    cosine = (a * b).sum((1, 2)) / norms
    distances: npt.NDArray[np.float64] = ((1 - cosine) / 2).double().cpu().numpy()
    return distances
