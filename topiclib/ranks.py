"""Processes that work together on several GPUs or hosts, as ``torchrun`` starts and counts them: ranks 0 to size - 1."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeVar

import torch
import torch.distributed
from torch import Tensor

from topiclib.compute import default_device
from topiclib.validation import check_real, shown

__all__ = ["Ranks", "processes"]

T = TypeVar("T")
NUMBERS = ("RANK", "LOCAL_RANK", "WORLD_SIZE")
ADDRESS = ("MASTER_ADDR", "MASTER_PORT")


@dataclass(frozen=True)
class Ranks:
    """This process among those that work together. Alone, it is rank 0 of 1, and what is exchanged stays as it is.

    rank, size : its number, from 0, and how many there are
    device : where its tensors belong
    """

    rank: int = 0
    size: int = 1
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))

    def gather(self, value: T) -> list[T]:
        """Every rank's ``value``, in the order of the ranks, on every rank. Waits for all."""
        if self.size == 1:
            return [value]
        found: list[Any] = [None] * self.size
        torch.distributed.all_gather_object(found, value)
        return found

    def of_first(self, value: T) -> T:
        """The ``value`` of rank 0 on every rank."""
        if self.size == 1:
            return value
        found = [value]
        torch.distributed.broadcast_object_list(found, src=0)
        return found[0]

    def mean(self, value: Tensor) -> float:
        """The mean over the ranks of a number, the same on each."""
        if self.size > 1:
            value = value.clone()
            torch.distributed.all_reduce(value)
            value /= self.size
        return float(value)


@contextmanager
def processes(*, device: str | torch.device | None = None, hours: float = 24.0) -> Iterator[Ranks]:
    """Join the other processes that ``torchrun`` started, and leave them in the end, also after an error.

    Parameters
    ----------
    device : "cpu" or "cuda"; None takes ``compute.default_device()``. With "cuda" each process has the GPU ``LOCAL_RANK`` of
        its host to itself, and tensors travel by NCCL; what is on a CPU travels by Gloo
    hours : the longest that one process waits for another. One that is done with its share waits for the slowest, so this
        must be more than a share takes. Of a process that ends early ``torchrun`` and the closed connection tell at once

    Yields ``Ranks``. Without torchrun's variables in the environment this process is alone, as it is as the only one of them.

    Raises ValueError if only some of the variables are set, or one is not what torchrun would set, or the GPU is not there.
    """
    check_real("hours", hours, 0, open_low=True)
    where = default_device() if device is None else _device_of(device)
    found = _environment()
    if where.type == "cuda":
        count, local = torch.cuda.device_count(), 0 if found is None else found["LOCAL_RANK"]
        if local >= count:
            raise ValueError(
                f"LOCAL_RANK = {local}: must be below the number of CUDA devices of this host, {count}, with device = 'cuda'"
            )
        if found is not None:
            where = torch.device("cuda", local)
            torch.cuda.set_device(where)
    if found is None or found["WORLD_SIZE"] == 1:
        yield Ranks(device=where)
        return
    backend = "cpu:gloo,cuda:nccl" if where.type == "cuda" else "gloo"
    torch.distributed.init_process_group(backend, timeout=timedelta(hours=hours))
    try:
        yield Ranks(found["RANK"], found["WORLD_SIZE"], where)
    finally:
        torch.distributed.destroy_process_group()


def _device_of(device: str | torch.device) -> torch.device:
    """The device, if processes can work together there."""
    try:
        found = torch.device(device)
    except (RuntimeError, TypeError):
        found = None
    if found is None or found.type not in ("cpu", "cuda") or found.index is not None:
        raise ValueError(f"device = {shown(device)}: must be 'cpu' or 'cuda'; which GPU it is follows from LOCAL_RANK")
    return found


def _environment() -> dict[str, int] | None:
    """The numbers that torchrun set; None if it set nothing."""
    if not any(name in os.environ for name in NUMBERS):
        return None
    if missing := [name for name in NUMBERS + ADDRESS if name not in os.environ]:
        there = [name for name in NUMBERS if name in os.environ]
        raise ValueError(
            f"the environment has {', '.join(there)} but not {', '.join(missing)}: must have all of "
            f"{', '.join(NUMBERS + ADDRESS)}, as torchrun sets them, or none of the first three"
        )
    numbers: dict[str, int] = {}
    for name in reversed(NUMBERS):
        text = os.environ[name]
        low, high = (1, None) if name == "WORLD_SIZE" else (0, numbers["WORLD_SIZE"] - 1)
        if not (text.isascii() and text.isdigit()) or int(text) < low or (high is not None and int(text) > high):
            allowed = f"a whole number >= {low}" if high is None else f"a whole number from {low} to {high} (WORLD_SIZE - 1)"
            raise ValueError(f"{name} = {text!r} in the environment: must be {allowed}")
        numbers[name] = int(text)
    return numbers
