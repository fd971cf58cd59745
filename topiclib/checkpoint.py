"""Saving and loading a run: tensors as safetensors, the rest as JSON in its header. No pickle, so no code is loaded."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

FORMAT = "topiclib-run-2"


class CheckpointError(ValueError):
    """A checkpoint file is not one, is damaged, belongs to another run, or cannot be written."""


def checkpoint_path(path: object) -> Path:
    """Return ``path`` as a Path; raise TypeError if it is none, CheckpointError if it is a folder."""
    if not isinstance(path, (str, Path)):
        raise TypeError(f"checkpoint = {path!r}: must be the path of a file (str or Path)")
    if os.path.isdir(path):
        raise CheckpointError(f"checkpoint = {str(path)!r}: is a folder; must be the path of a file")
    return Path(path)


@contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """A path beside ``target`` to write to; what is left there in the end is removed. Creates the folder."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f"{target.name}.{os.getpid()}-{threading.get_ident()}.partial")
    try:
        yield partial
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def _file_beside(target: Path) -> Iterator[Path]:
    """A path beside ``target``, in its folder, which is created; what is left there in the end is removed.

    What the system refuses becomes a CheckpointError with its reason.
    """
    try:
        with new_file(target) as partial:
            yield partial
    except (OSError, ValueError, SafetensorError) as error:
        raise CheckpointError(f"checkpoint = {str(target)!r}: cannot be written ({error})") from error


def check_writable(path: str | Path) -> None:
    """Raise CheckpointError if no checkpoint can be written to ``path``; its folder is created, ``path`` is not."""
    with _file_beside(checkpoint_path(path)) as probe:
        probe.touch(exist_ok=False)


def _digest(tensors: dict[str, Tensor], meta: str) -> str:
    """SHA-256 over ``meta`` and every tensor's name, type, shape and bytes, sorted by name."""
    digest = sha256(meta.encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        if tensor.numel():  # an empty one may have a stride that cannot be viewed
            digest.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def save_checkpoint(path: str | Path, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
    """Write a checkpoint whole or not at all: first to a file beside it, then renamed over ``path``.

    NaN in ``meta`` is kept (JSON's extension). Raises CheckpointError if ``path`` is a file that is not a checkpoint,
    or cannot be written.
    """
    target = checkpoint_path(path)
    if os.path.exists(target):
        load_checkpoint(target)  # never replaces a file of another kind
    plain, text = {name: t.detach().cpu().contiguous() for name, t in tensors.items()}, json.dumps(meta)
    with _file_beside(target) as partial:
        save_file(plain, partial, metadata={"format": FORMAT, "meta": text, "sha256": _digest(plain, text)})
        os.replace(partial, target)


def load_checkpoint(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what ``save_checkpoint`` wrote: (tensors, meta). Raises CheckpointError for anything else or damaged."""
    checkpoint_path(path)
    try:
        with safe_open(str(path), framework="pt") as file:
            header = file.metadata() or {}
            if header.get("format") != FORMAT:
                raise CheckpointError(f"checkpoint = {str(path)!r}: is not a topiclib checkpoint ({FORMAT})")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            if header.get("sha256") != _digest(tensors, header["meta"]):
                raise CheckpointError(f"checkpoint = {str(path)!r}: is damaged (its SHA-256 differs); delete it to start anew")
            return tensors, json.loads(header["meta"])
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"checkpoint = {str(path)!r}: cannot be read as a topiclib checkpoint ({error})") from error
