"""Checks on arguments: every message names the argument, its value and what is allowed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from numbers import Integral, Real
from typing import TypeVar

import numpy as np

T = TypeVar("T")
MAX_SEED = 2**64 - 1
"""The largest seed that torch takes."""


def shown(value: object) -> str:
    """``value`` as a message shows it: on one line, and of a long one the beginning."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 100 else f"{text[:97]}..."


def check_type(name: str, value: object, cls: type[T]) -> T:
    """Return ``value`` if it is a ``cls``; raise TypeError if not."""
    if not isinstance(value, cls):
        article = "an" if cls.__name__[0] in "AEIOU" else "a"
        raise TypeError(f"{name} = {shown(value)}: must be {article} {cls.__name__}")
    return value


def check_text(name: str, value: object) -> str:
    """Return ``value`` if it is a text with something in it; raise TypeError or ValueError if not."""
    text = check_type(name, value, str)
    if not text.strip():
        raise ValueError(f"{name} = {text!r}: must not be empty")
    return text


def check_int(name: str, value: object, low: int, high: int | None = None) -> int:
    """Return ``value`` as an int if it is a whole number in [low, high]; raise ValueError or TypeError if not."""
    allowed = f"a whole number >= {low}" if high is None else f"a whole number from {low} to {high}"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise TypeError(f"{name} = {value!r}: must be {allowed}")
    number = int(value)
    if number < low or (high is not None and number > high):
        raise ValueError(f"{name} = {value!r}: must be {allowed}")
    return number


def check_real(
    name: str,
    value: object,
    low: float,
    high: float = float("inf"),
    *,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """Return ``value`` as a float if it is finite and in the interval; raise ValueError or TypeError if not."""
    left, right = "(" if open_low else "[", ")" if open_high or np.isinf(high) else "]"
    allowed = f"a finite number in {left}{low:g}, {high:g}{right}"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name} = {value!r}: must be {allowed}")
    number = float(value)
    below = number <= low if open_low else number < low
    above = number >= high if open_high else number > high
    if not np.isfinite(number) or below or above:
        raise ValueError(f"{name} = {value!r}: must be {allowed}")
    return number


def check_choice(name: str, value: object, choices: Collection[str]) -> str:
    """Return ``value`` if it is one of ``choices``; raise ValueError if not."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} = {value!r}: must be one of {', '.join(map(repr, choices))}")
    return value


def check_each(name: str, value: object, cls: type[T]) -> Iterator[T]:
    """Yield the items of ``value``, which may be a stream, each of which must be a ``cls``; raise TypeError if not."""
    if not isinstance(value, Iterable) or isinstance(value, (str, bytes)):
        raise TypeError(f"{name} = {shown(value)}: must be a list or stream of {cls.__name__}")
    for item in value:
        yield check_type(name, item, cls)


def check_indices(name: str, value: object, size: int) -> np.ndarray:
    """Return ``value`` as an array (n,) of whole numbers from 0 to ``size`` - 1; raise TypeError or ValueError if not."""
    allowed = f"whole numbers from 0 to {size - 1}"
    found = np.asarray(value)
    if found.size == 0:
        return np.zeros(0, np.int64)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise TypeError(f"{name} = {shown(value)}: must be a list of {allowed}")
    if found.min() < 0 or found.max() >= size:
        raise ValueError(f"{name} has {found.min() if found.min() < 0 else found.max()}: must be {allowed}")
    return found


def check_bool(name: str, value: object) -> bool:
    """Return ``value`` if it is True or False; raise TypeError if not."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} = {value!r}: must be True or False")
    return bool(value)


def as_rng(rng: object) -> np.random.Generator:
    """Return a NumPy Generator: ``rng`` itself, or a new one from an int seed.

    Randomness is always passed in: None and the global state are not accepted (TypeError).
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, Integral) and not isinstance(rng, bool) and int(rng) >= 0:
        return np.random.default_rng(int(rng))
    raise TypeError(f"rng = {rng!r}: must be a numpy.random.Generator or a seed (a whole number >= 0)")
