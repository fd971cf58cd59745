"""Results that took long, kept on disk under a key made of everything that they depend on.

The key holds the inputs' bytes, the settings, and the source text of the functions that compute, so that a changed library
never meets an old result. A damaged file is computed anew; a folder that cannot be written costs time, not the result.
"""

from __future__ import annotations

import inspect
import json
import os
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import torch

from topiclib.checkpoint import CheckpointError, load_checkpoint, new_file, save_checkpoint

__all__ = ["cache_folder", "content_key", "new_file", "remembered"]


def cache_folder() -> Path:
    """Where results are kept: TOPICLIB_CACHE, else topiclib in XDG_CACHE_HOME, else ~/.cache/topiclib."""
    if folder := os.environ.get("TOPICLIB_CACHE"):
        return Path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "topiclib"


def _feed(digest: Any, part: object) -> None:
    """Feed a part of a key, with its kind, so that no two different keys give the same bytes."""
    if isinstance(part, torch.Tensor):
        part = part.detach().cpu().numpy()
    if isinstance(part, np.generic):
        part = part.item()
    if isinstance(part, np.ndarray):
        digest.update(f"array {part.dtype} {part.shape}\0".encode())
        digest.update(np.ascontiguousarray(part).data)
    elif isinstance(part, (FunctionType, type)):
        _feed(digest, ["source", inspect.getsource(part)])
    elif is_dataclass(part) and not isinstance(part, type):
        _feed(digest, {"": type(part).__name__, **asdict(part)})
    elif isinstance(part, Mapping):
        digest.update(f"mapping {len(part)}\0".encode())
        for key in sorted(part):
            _feed(digest, str(key))
            _feed(digest, part[key])
    elif isinstance(part, (tuple, list)):
        digest.update(f"sequence {len(part)}\0".encode())
        for item in part:
            _feed(digest, item)
    elif isinstance(part, (str, int, float, bool, type(None))):
        text = json.dumps(part)
        digest.update(f"{type(part).__name__} {len(text)} {text}\0".encode())
    else:
        raise TypeError(f"part = {part!r}: a key is made of texts, numbers, arrays, tensors, dataclasses, functions and classes")


def content_key(*parts: object, packages: tuple[str, ...] = ()) -> str:
    """A key for what depends on ``parts`` and on the versions of ``packages``: 40 hexadecimal digits.

    Arrays and tensors enter with their bytes, functions and classes with their source text, dataclasses
    with their fields.
    """
    digest = sha256()
    for part in parts:
        _feed(digest, part)
    for package in packages:
        try:
            _feed(digest, [package, version(package)])
        except PackageNotFoundError:
            _feed(digest, [package, None])
    return digest.hexdigest()[:40]


def remembered(name: str, key: str, compute: Callable[[], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """The arrays kept under ``name`` and ``key``; where there are none, those of ``compute``, which are then kept.

    Parameters
    ----------
    name : what it is; the first part of the file's name
    key : ``content_key`` of everything that the result depends on
    compute : gives arrays by name

    A file is written whole or not at all. One that is damaged, or that holds something else, is replaced. Warns where the folder
    cannot be written.
    """
    path = cache_folder() / f"{name}-{key}.safetensors"
    if path.is_file():
        try:
            tensors, meta = load_checkpoint(path)
            if meta == {"key": key}:
                return {label: tensor.numpy() for label, tensor in tensors.items()}
        except CheckpointError:
            pass
        with suppress(OSError):
            path.unlink()
    arrays = compute()
    try:
        save_checkpoint(path, {label: torch.from_numpy(np.ascontiguousarray(a)) for label, a in arrays.items()}, {"key": key})
    except CheckpointError as error:
        warnings.warn(f"the result is not kept for the next run: {error}", stacklevel=2)
    return arrays
