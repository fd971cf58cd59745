"""What is recorded while a model trains."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from topiclib.model import WEIGHTS, TopicTransformer, frobenius_norms


def cosine_distance(a: Tensor, b: Tensor) -> float:
    """(1 - cs) / 2 in [0, 1], with cs the cosine similarity of two matrices (Figure 5's rotation); NaN if one is 0."""
    norms = a.norm() * b.norm()
    return float((1 - (a * b).sum() / norms) / 2) if norms > 0 else float("nan")


@dataclass
class History:
    """A run's record. Step t is the state after t updates.

    train_loss : one value a step, the loss (without the L2 term) on that step's batch before its update
    log_steps : steps at which the next five were recorded (every ``log_every``)
    norm_W_E, norm_W_K, norm_W_Q, norm_W_V : Frobenius norms
    rotation_W_V : cosine distance of W_V from the log before (NaN at the first)
    eval_steps, held_out_loss : loss on documents and masks drawn for that evaluation alone
    snapshots : all parameters at the steps asked for, by step and name
    """

    train_loss: list[float] = field(default_factory=list)
    log_steps: list[int] = field(default_factory=list)
    norm_W_E: list[float] = field(default_factory=list)
    norm_W_K: list[float] = field(default_factory=list)
    norm_W_Q: list[float] = field(default_factory=list)
    norm_W_V: list[float] = field(default_factory=list)
    rotation_W_V: list[float] = field(default_factory=list)
    eval_steps: list[int] = field(default_factory=list)
    held_out_loss: list[float] = field(default_factory=list)
    snapshots: dict[int, dict[str, npt.NDArray[np.float32]]] = field(default_factory=dict)

    def log(self, step: int, model: TopicTransformer, previous_W_V: Tensor | None) -> Tensor:
        """Record norms and rotation; returns a copy of W_V for the next call."""
        w_v = model.W_V.detach().clone()
        self.log_steps.append(step)
        for name, norm in frobenius_norms(model, WEIGHTS).items():
            getattr(self, f"norm_{name}").append(norm)
        self.rotation_W_V.append(float("nan") if previous_W_V is None else cosine_distance(w_v, previous_W_V))
        return w_v

    def snapshot(self, step: int, model: TopicTransformer) -> None:
        """Keep a copy of every parameter."""
        self.snapshots[step] = {n: p.detach().cpu().numpy().copy() for n, p in model.named_parameters()}

    def curves(self) -> dict[str, list[float] | list[int]]:
        """Every recorded list by name, without the snapshots (for saving as JSON)."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "snapshots"}

    def arrays(self) -> dict[str, npt.NDArray[np.float64]]:
        """Every recorded list as an array by name, for plotting."""
        return {name: np.asarray(values, dtype=np.float64) for name, values in self.curves().items()}

    def load(self, curves: dict[str, list[float]], snapshots: dict[int, dict[str, Tensor]]) -> None:
        """Restore what ``curves`` and ``snapshots`` held."""
        for name in self.curves():
            setattr(self, name, list(curves[name]))
        self.snapshots = {s: {n: t.numpy().astype(np.float32) for n, t in w.items()} for s, w in snapshots.items()}

    def weights(self, step: int) -> dict[str, Tensor]:
        """The parameters at a step that was asked for in ``snapshots`` (KeyError names those there are)."""
        if step not in self.snapshots:
            raise KeyError(f"step = {step}: must be one of {sorted(self.snapshots)}")
        return {name: torch.from_numpy(value) for name, value in self.snapshots[step].items()}
