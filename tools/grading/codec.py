"""Values as text, for the way from a process that runs an answer to the one that checks it.

Nothing but data comes through: reading it runs no code of the sender, as unpickling would. What is no data arrives as a
``Foreign`` object that says what it was. The file is used on both sides, and by itself: it imports NumPy only.
"""

from __future__ import annotations

import base64
import json
import math
from numbers import Number
from typing import Any

import numpy as np

MAX_BYTES = 16_000_000
"""Of one value as text."""
MAX_DEPTH = 40
MAX_KEYS = 2000
"""Of a set or a dict: more could be chosen so that all fall into one place of the table, which takes hours."""
ARRAYS = "biufcUS"
"""Kinds of NumPy arrays that are data."""


class CodecError(ValueError):
    """A value is too large, too deep, or no text of ours."""


class Foreign:
    """Stands for a value that is no data: an object, a generator, a module ..."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __repr__(self) -> str:
        return f"<{self.kind}>"


def _foreign(kind: str) -> Foreign:
    """A ``Foreign`` whose class bears the name of the value's, since messages name an answer's type."""
    name = "".join(c for c in kind if c.isalnum() or c == "_")[:40] or "object"
    return type(name, (Foreign,), {})(name)


def encode(value: object) -> str:
    """``value`` as text; CodecError if it is too large or too deep."""
    text = json.dumps(_packed(value, 0))
    if len(text) > MAX_BYTES:
        raise CodecError(f"the value takes {len(text):,} bytes; {MAX_BYTES:,} are allowed")
    return text


def _packed(value: Any, depth: int) -> Any:
    """JSON that says what it is: plain numbers, texts and lists as themselves, all else as {"kind": ...}."""
    if depth > MAX_DEPTH:
        raise CodecError(f"the value is nested more than {MAX_DEPTH} deep")
    if value is None or isinstance(value, (bool, str)):
        return value
    if type(value) is int:
        # JSON readers refuse integers of more than a few thousand digits
        return value if value.bit_length() < 10_000 else {"kind": "foreign", "name": "int"}
    if type(value) is float:
        return value if math.isfinite(value) else {"kind": "float", "text": repr(value)}
    if isinstance(value, complex):
        return _array(np.asarray(value), "scalar")
    if isinstance(value, (list, range)):
        return [_packed(item, depth + 1) for item in value]
    if isinstance(value, (set, frozenset, dict)) and len(value) > MAX_KEYS:
        raise CodecError(f"the value has a set or dict of {len(value):,} items; {MAX_KEYS:,} are allowed")
    if isinstance(value, (tuple, set, frozenset)):
        name = "tuple" if isinstance(value, tuple) else "set"
        return {"kind": name, "items": [_packed(item, depth + 1) for item in value]}
    if isinstance(value, dict):
        return {"kind": "dict", "items": [[_packed(k, depth + 1), _packed(v, depth + 1)] for k, v in value.items()]}
    if isinstance(value, np.ndarray):
        return _array(value, "array") if value.dtype.kind in ARRAYS else _objects(value)
    if isinstance(value, np.generic):
        return _array(np.asarray(value), "scalar")
    return _other(value)


def _array(array: np.ndarray, kind: str) -> dict[str, Any]:
    if array.nbytes > MAX_BYTES:
        raise CodecError(f"the value has an array of {array.nbytes:,} bytes; {MAX_BYTES:,} are allowed")
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {"kind": kind, "dtype": array.dtype.str, "shape": list(array.shape), "data": data}


def _objects(array: np.ndarray) -> Any:
    """An array of Python objects, such as sympy's numbers, as an array of floats if it is one."""
    try:
        return _array(array.astype(np.float64), "array")
    except (TypeError, ValueError):
        return {"kind": "foreign", "name": "ndarray of objects"}


def _other(value: Any) -> Any:
    """What is data in another dress: torch tensors, fractions, sympy's numbers and truth values; else its type's name."""
    kind = type(value).__name__
    if kind in ("BooleanTrue", "BooleanFalse"):
        return kind == "BooleanTrue"
    if isinstance(value, Number) or getattr(value, "is_number", False) is True or kind in ("mpf", "Decimal"):
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError):
            return {"kind": "foreign", "name": kind}
    if hasattr(value, "detach") and hasattr(value, "cpu"):
        return _array(np.asarray(value.detach().cpu().numpy()), "array")
    if hasattr(value, "__array__"):
        array = np.asarray(value)
        return _array(array, "array") if array.dtype.kind in ARRAYS else _objects(array)
    return {"kind": "foreign", "name": kind}


def decode(text: str | bytes) -> Any:
    """The value that ``encode`` made a text of; CodecError for anything else."""
    if len(text) > MAX_BYTES:
        raise CodecError(f"the value takes {len(text):,} bytes; {MAX_BYTES:,} are allowed")
    try:
        return _unpacked(json.loads(text), 0)
    except CodecError:
        raise
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError, MemoryError) as error:
        raise CodecError(f"no value can be read from what came back ({type(error).__name__})") from None


def _unpacked(packed: Any, depth: int) -> Any:
    if depth > 2 * MAX_DEPTH:
        raise CodecError("the value is nested too deep")
    if isinstance(packed, list):
        return [_unpacked(item, depth + 1) for item in packed]
    if not isinstance(packed, dict):
        return packed
    kind = packed["kind"]
    if kind == "float":
        return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[packed["text"]]
    if kind in ("set", "dict") and len(packed["items"]) > MAX_KEYS:
        raise CodecError("the value has a set or dict of too many items")
    if kind in ("tuple", "set"):
        items = [_unpacked(item, depth + 1) for item in packed["items"]]
        return tuple(items) if kind == "tuple" else set(items)
    if kind == "dict":
        return {_unpacked(key, depth + 1): _unpacked(value, depth + 1) for key, value in packed["items"]}
    if kind in ("array", "scalar"):
        dtype = np.dtype(packed["dtype"])
        if dtype.kind not in ARRAYS or dtype.hasobject:
            raise CodecError("the value has an array of a kind that is no data")
        array = np.frombuffer(base64.b64decode(packed["data"], validate=True), dtype).reshape(packed["shape"]).copy()
        return array if kind == "array" else array[()]
    if kind == "foreign":
        return _foreign(str(packed["name"]))
    raise CodecError("no value can be read from what came back")
