"""Arguments of the theory's functions: exact numbers, floats, arrays or sympy symbols, brought to one kind and checked."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

import numpy as np
import sympy

from topiclib.validation import shown

Value = Any
"""A Fraction, a float, an array of floats, or a sympy expression."""


NUMBER = "a number, an array of numbers or a sympy expression"


def _kind(name: str, value: object) -> Value:
    """``value`` as a Fraction, a float, an array of floats or a sympy expression; TypeError or ValueError if it is none."""
    wrong = TypeError(f"{name} = {shown(value)}: must be {NUMBER}")
    if isinstance(value, (bool, np.bool_)):
        raise wrong
    if isinstance(value, sympy.Expr):
        if not value.free_symbols and not (value.is_extended_real and value.is_finite):
            raise ValueError(f"{name} = {shown(value)}: must be {NUMBER}, real and finite")
        return Fraction(int(value.p), int(value.q)) if isinstance(value, sympy.Rational) else value
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))  # NumPy's integers would overflow.
    if isinstance(value, Real):
        number: Value = float(value)
    elif isinstance(value, (list, tuple, np.ndarray)):
        number = _array(value)
        if number is None:
            raise wrong
    else:
        raise wrong
    if np.size(number) == 0 or not np.isfinite(number).all():
        raise ValueError(f"{name} = {shown(value)}: must be {NUMBER}, real and finite")
    return number


def _array(value: object) -> Value:
    """A list or array of real numbers as an array of floats; None for anything else."""
    try:
        array = np.asarray(value)
    except ValueError:  # Rows of different lengths.
        return None
    real = array.dtype.kind in "iuf" or (array.dtype == object and all(isinstance(x, Real) for x in array.flat))
    return array.astype(np.float64) if real else None


def common(**arguments: object) -> tuple[Value, ...]:
    """The arguments in one kind, in order: sympy if any is symbolic, else floats and arrays if any is one, else Fractions.

    Whole numbers count as Fractions. Raises TypeError for anything that is not a number and for arrays beside sympy
    expressions, ValueError for NaN, infinity and arrays whose shapes do not broadcast.
    """
    values = {name: _kind(name, value) for name, value in arguments.items()}
    arrays = {name: x for name, x in values.items() if isinstance(x, np.ndarray)}
    symbolic = {name: x for name, x in values.items() if isinstance(x, sympy.Expr)}
    if symbolic:
        for name in arrays:
            other, expression = next(iter(symbolic.items()))
            raise TypeError(f"{name} = {shown(arguments[name])}: must be a number beside the symbolic {other} = {expression}")
        return tuple(sympy.Rational(x) if isinstance(x, Fraction) else x for x in values.values())
    try:
        np.broadcast_shapes(*(x.shape for x in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} has shape {x.shape}" for name, x in arrays.items())
        raise ValueError(f"{shapes}: must be shapes that broadcast") from None
    if any(not isinstance(x, Fraction) for x in values.values()):
        return tuple(_as_float(name, x) for name, x in values.items())
    return tuple(values.values())


def _as_float(name: str, value: Value) -> Value:
    if not isinstance(value, Fraction):
        return value
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} = {shown(value)}: must be below 1e308 beside floats") from None


def is_symbolic(value: Value) -> bool:
    """Whether ``value`` has free symbols: numbers beside symbols are sympy's too, and can be checked."""
    return isinstance(value, sympy.Expr) and bool(value.free_symbols)


def require(name: str, value: Value, holds: Callable[[Any], Any], allowed: str) -> None:
    """Raise ValueError if a number, or an entry of an array, is outside its domain. A free symbol passes."""
    if is_symbolic(value):
        return
    good = np.asarray(holds(value), dtype=bool)
    if not good.all():
        wrong = value if good.ndim == 0 else np.broadcast_to(value, good.shape)[~good].flat[0]
        raise ValueError(f"{name} = {wrong}: must be {allowed}")


def _is_whole(x: Value) -> Any:
    return np.floor(x) == x if isinstance(x, np.ndarray) else x == int(x)


def check_count(name: str, value: Value, low: int = 1) -> None:
    """A whole number >= ``low``."""
    require(name, value, lambda x: (x >= low) & _is_whole(x), f"a whole number >= {low}")


def single(name: str, value: object, allowed: str = "a number") -> Fraction | float:
    """One number, not an array and not a symbol; TypeError for those."""
    (number,) = common(**{name: value})
    if not isinstance(number, (Fraction, float)):
        raise TypeError(f"{name} = {shown(value)}: must be {allowed}")
    return number


def check_size(name: str, value: object) -> int:
    """One whole number >= 1, as an int: 3.0 counts, arrays and symbols do not."""
    number = single(name, value, "a whole number >= 1")
    check_count(name, number)
    return int(number)


def check_sizes(num_topics: Value, words_per_topic: Value) -> None:
    """T >= 1 and v >= 1, whole."""
    check_count("num_topics", num_topics)
    check_count("words_per_topic", words_per_topic)


def check_masking(p_m: Value, p_c: Value, p_r: Value) -> None:
    """0 < p_m < 1, p_c >= 0, p_r >= 0 and p_c + p_r < 1, which the paper leaves unsaid."""
    require("p_m", p_m, lambda x: (x > 0) & (x < 1), "in (0, 1)")
    require("p_c", p_c, lambda x: (x >= 0) & (x < 1), "in [0, 1)")
    require("p_r", p_r, lambda x: (x >= 0) & (x < 1), "in [0, 1)")
    # The slack: decimals such as .7 and .3 need not sum to 1 exactly.
    exact = isinstance(p_c, Fraction) and isinstance(p_r, Fraction)
    require("p_c + p_r", p_c + p_r, lambda x: x < (1 if exact else 1 - 1e-12), "below 1, or no position shows [MASK]")


def check_topics_per_doc(topics_per_doc: Value, num_topics: Value, *, whole: bool = True, one_topic: bool = False) -> None:
    """1 <= tau < T: with tau = T every document holds every topic, and there is no topic to learn.

    ``one_topic`` also lets T = tau = 1 through.
    """
    number = "a whole number" if whole else "a number"
    if whole:
        check_count("topics_per_doc", topics_per_doc)
    if is_symbolic(topics_per_doc) or is_symbolic(num_topics):
        return
    inside = (topics_per_doc >= 1) & (topics_per_doc < num_topics)
    if one_topic:
        inside = inside | ((num_topics == 1) & (topics_per_doc == 1))
    allowed = f"{number} from 1 to below num_topics = {num_topics}"
    require("topics_per_doc", topics_per_doc, lambda _: inside, allowed)


def check_penalty(l2_coef: Value) -> None:
    """lambda >= 0."""
    require("l2_coef", l2_coef, lambda x: x >= 0, ">= 0")
