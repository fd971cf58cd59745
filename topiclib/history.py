"""What is recorded while a model trains."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

CURVES = ("train_loss", "norm_W_E", "norm_W_K", "norm_W_Q", "norm_W_V", "rotation_W_V", "held_out_loss")
"""What is recorded as numbers: the first at every step, the last at evaluations, the others at logs."""


@dataclass
class History:
    """A run's record. Step t is the state after t updates.

    train_loss : one value a step, the loss (without the L2 term) on that step's batch before its update
    log_steps : steps at which the next five were recorded (every ``log_every``)
    norm_W_E, norm_W_K, norm_W_Q, norm_W_V : Frobenius norms
    rotation_W_V : cosine distance (1 - cs) / 2 of W_V from the log before, as in Figure 5 (NaN at the first)
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
    snapshots: dict[int, dict[str, npt.NDArray[np.floating]]] = field(default_factory=dict)

    def arrays(self) -> dict[str, npt.NDArray[np.float64]]:
        """Every recorded list as an array by name, for plotting."""
        names = (*CURVES, "log_steps", "eval_steps")
        return {name: np.asarray(getattr(self, name), dtype=np.float64) for name in names}

    def weights(self, step: int) -> dict[str, Tensor]:
        """The parameters at a step that was asked for in ``snapshots`` (KeyError names those there are)."""
        if step not in self.snapshots:
            raise KeyError(f"step = {step}: must be one of {sorted(self.snapshots)}")
        return {name: torch.from_numpy(value) for name, value in self.snapshots[step].items()}
