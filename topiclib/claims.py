"""Executable claims: every number of the prose is asserted in a cell and recorded for the ledger."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from topiclib.validation import check_choice, check_int, check_real, check_type, shown

METADATA_KEY = "topiclib_claim"
BOUNDS = ("equal", "at least", "at most")


class ClaimError(AssertionError):
    """A number in the text is not what the cell computed."""


def claim(
    name: str,
    value: float,
    says: str,
    *,
    tol: float = 0.0,
    bound: str = "equal",
    paper: str | None = None,
    seeds: Sequence[int] = (),
    note: str = "",
) -> None:
    """Assert that a number in the text is the computed one, and record it.

    Parameters
    ----------
    name : identifier, unique in the chapter: lower-case letters, digits and hyphens. The text links to it,
        ``[0.34](#claim-name)``
    value : the computed number
    says : the number as the text prints it, such as ``"0.34"``, ``"3,600"`` or ``"12%"``
    tol : absolute tolerance, in the unit of ``value``; say in ``note`` why it is right if that is not plain
    bound : ``"equal"`` (within ``tol``), ``"at least"`` or ``"at most"`` (with ``tol`` as slack)
    paper : the paper's value as it prints it, where it has one
    seeds : seeds that the value depends on
    note : unit, or the reason for the tolerance

    Raises ClaimError if it does not hold, ValueError or TypeError for a bad argument.
    """
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", check_type("name", name, str)):
        raise ValueError(f"name = {name!r}: must be lower-case letters, digits and hyphens")
    check_choice("bound", bound, BOUNDS)
    tol = check_real("tol", tol, 0)
    if not isinstance(seeds, Iterable) or isinstance(seeds, str):
        raise TypeError(f"seeds = {seeds!r}: must be a sequence of whole numbers, such as [0, 1]")
    seeds = [check_int("seeds", seed, 0) for seed in seeds]
    stated, number = parse_number(says), _as_float(value)
    holds = {
        "equal": abs(number - stated) <= tol,
        "at least": number >= stated - tol,
        "at most": number <= stated + tol,
    }[bound]
    if not (holds and math.isfinite(number)):
        raise ClaimError(f"claim {name!r}: the text says {bound} {says} (tolerance {tol:g}), the cell computed {number!r}")
    _record(name, number, says, tol, bound, paper, seeds, note)


def _as_float(value: Any) -> float:
    try:
        if not isinstance(value, str):
            return float(value)
    except (TypeError, ValueError, RuntimeError):  # the last is torch's
        pass
    raise TypeError(f"value = {shown(value)}: must be one number")


def parse_number(says: str) -> float:
    """The value of a number as text prints it: ``"3,600"`` is 3600, ``"12%"`` is 0.12 (ValueError for anything else)."""
    whole = r"(?:[0-9]+|[1-9][0-9]{0,2}(?:,[0-9]{3})+)"
    match = re.fullmatch(rf"([-−+]?)({whole}(?:\.[0-9]*)?|\.[0-9]+)(e-?[0-9]+)?( ?%)?", check_type("says", says, str).strip())
    if not match:
        raise ValueError(f"says = {says!r}: must be a number as the text prints it, such as '0.34', '3,600' or '12%'")
    sign, digits, exponent, percent = match.groups()
    number = float(digits.replace(",", "") + (exponent or ""))
    return (-number if sign in ("-", "−") else number) / (100 if percent else 1)


def seed_text(seeds: Sequence[int]) -> str:
    """Seeds as a text has them, three or more in a row as a range: ``0 to 7, 99``."""
    runs: list[list[int]] = []
    for seed in seeds:
        if runs and seed == runs[-1][-1] + 1:
            runs[-1].append(seed)
        else:
            runs.append([seed])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)


def _record(name: str, value: float, says: str, tol: float, bound: str, paper: str | None, seeds: list[int], note: str) -> None:
    from IPython.display import display

    stated = {"equal": f"{says} ± {tol:g}" if tol else says, "at least": f"at least {says}", "at most": f"at most {says}"}[bound]
    parts = [f"text: {stated}"]
    parts += [f"paper: {paper}"] if paper else []
    parts += [f"seed{'s' if len(seeds) > 1 else ''}: {seed_text(seeds)}"] if seeds else []
    parts += [note] if note else []
    title = name.replace("-", " ")
    markup = (
        f'<div class="tl-assertion" id="claim-{name}" style="font-size:.85em"><span aria-hidden="true">✓</span> '
        f"<b>{html.escape(title)}</b>: <code>{value:.6g}</code> ({html.escape('; '.join(parts))})</div>"
    )
    record: dict[str, Any] = {
        "name": name, "value": value, "says": says, "tol": tol, "bound": bound, "paper": paper, "seeds": seeds, "note": note,
    }  # fmt: skip
    display(
        {"text/html": markup, "text/plain": f"claim {title}: {value:.6g} ({'; '.join(parts)})"},
        raw=True,
        metadata={METADATA_KEY: record},
    )
