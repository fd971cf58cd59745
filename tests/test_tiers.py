"""The tiers: what each machine runs, and what the page says of it."""

from __future__ import annotations

import pytest

from tools.settings import BOOK
from topiclib.documents import DocumentSettings
from topiclib.tiers import TIERS, Tier, current_tier


def test_the_cpu_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOPICLIB_TIER", raising=False)
    assert current_tier() is TIERS["cpu"]
    monkeypatch.setenv("TOPICLIB_TIER", "gpu")
    assert current_tier() is TIERS["gpu"]


def test_an_unknown_tier_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOPICLIB_TIER", "abacus")
    with pytest.raises(ValueError, match="TOPICLIB_TIER = 'abacus': must be one of 'cpu', 'gpu'"):
        current_tier()


def test_a_larger_tier_does_all_that_the_default_does() -> None:
    for tier in TIERS.values():
        assert set(TIERS["cpu"].sizes) <= set(tier.sizes)
        assert tier.seeds >= TIERS["cpu"].seeds
        for topics, words in tier.sizes:
            DocumentSettings.paper(num_topics=topics, words_per_topic=words)


def row(tier: Tier) -> str:
    """A tier as the page's table shows it."""
    sizes = ", ".join(f"{topics} × {words}" for topics, words in tier.sizes)
    minutes = "not measured" if tier.minutes is None else f"{60 * tier.minutes:.0f} s on {tier.machine}"
    return f"| `{tier.name}` | {sizes} | {tier.seeds} | {minutes} |"


@pytest.mark.parametrize("name", TIERS)
def test_the_page_says_what_the_table_holds(name: str) -> None:
    assert row(TIERS[name]) in (BOOK / "larger_machines.md").read_text().splitlines()
