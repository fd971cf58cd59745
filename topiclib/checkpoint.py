"""Saving and loading a run: tensors as safetensors, the rest as JSON in its header. No pickle, so no code is loaded."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

FORMAT = "topiclib-run-1"


class CheckpointError(ValueError):
    """A checkpoint file is not one, is damaged, or belongs to another run."""


def save_checkpoint(path: str | Path, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
    """Write a checkpoint whole or not at all: first to a file beside it, then renamed over ``path``.

    NaN in ``meta`` is kept (JSON's extension). Raises CheckpointError if ``path`` is a file that is not a checkpoint.
    """
    target = Path(path)
    if target.exists():
        load_checkpoint(target)  # never replaces a file of another kind
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(target.name + ".partial")
    header = {"format": FORMAT, "meta": json.dumps(meta)}
    save_file({name: t.detach().cpu().contiguous() for name, t in tensors.items()}, partial, metadata=header)
    os.replace(partial, target)


def load_checkpoint(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what ``save_checkpoint`` wrote: (tensors, meta). Raises CheckpointError for anything else."""
    try:
        with safe_open(str(path), framework="pt") as file:
            header = file.metadata() or {}
            if header.get("format") != FORMAT:
                raise CheckpointError(f"checkpoint = {str(path)!r}: is not a topiclib checkpoint ({FORMAT})")
            return {name: file.get_tensor(name) for name in file.keys()}, json.loads(header["meta"])  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"checkpoint = {str(path)!r}: cannot be read as a topiclib checkpoint ({error})") from error


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimizer's state as named tensors: ``optimizer.<index>.<key>``."""
    return {
        f"optimizer.{index}.{key}": torch.as_tensor(value)
        for index, state in optimizer.state_dict()["state"].items()
        for key, value in state.items()
    }


def restore_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Put back what ``optimizer_tensors`` gave."""
    whole = optimizer.state_dict()
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        if name.startswith("optimizer."):
            _, index, key = name.split(".")
            state.setdefault(int(index), {})[key] = value
    optimizer.load_state_dict({**whole, "state": state})
