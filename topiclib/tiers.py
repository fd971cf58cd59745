"""How large the course's largest cells run: one table, so that a chapter's text and its cells agree on every machine.

All that the text of the chapters states holds in every tier; a larger one adds sizes and seeds. The tier is the environment's
TOPICLIB_TIER, else "cpu"; the device is TOPICLIB_DEVICE's (``compute.default_device``), the CPU unless it says otherwise.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from topiclib.validation import check_choice

__all__ = ["TIERS", "Tier", "current_tier"]


@dataclass(frozen=True)
class Tier:
    """What one kind of machine runs.

    sizes : (T, v): topics, words of each
    seeds : runs of each size
    minutes : of the larger cells together, measured on ``machine``; None where nobody has measured it yet
    """

    name: str
    sizes: tuple[tuple[int, int], ...]
    seeds: int
    minutes: float | None
    machine: str


TIERS = {
    tier.name: tier
    for tier in (
        Tier("cpu", ((20, 20), (50, 10)), 4, 0.05, "two CPU cores"),
        Tier("gpu", ((20, 20), (50, 10), (50, 20), (100, 20)), 16, None, "one GPU"),
    )
}


def current_tier() -> Tier:
    """The tier that TOPICLIB_TIER names, "cpu" without it."""
    return TIERS[check_choice("TOPICLIB_TIER", os.environ.get("TOPICLIB_TIER", "cpu"), tuple(TIERS))]
