"""How much a page weighs by itself: its HTML, and the pictures that only it brings."""

from __future__ import annotations

import re
from pathlib import Path

LIMIT = 1_500_000
PICTURE = re.compile(r"_images/([\w.\-]+)")


def weights(page: Path) -> tuple[int, int]:
    """Bytes of the page's HTML, and of its pictures under ``_images``, wherever the page names them."""
    text = page.read_text()
    folder = next((up / "_images" for up in page.parents if (up / "_images").is_dir()), None)
    names = set(PICTURE.findall(text)) if folder else set()
    pictures = sum((folder / name).stat().st_size for name in names if folder and (folder / name).is_file())
    return len(text.encode()), pictures


def weight_misses(page: Path) -> list[str]:
    """A page that is too heavy for a slow connection."""
    own, pictures = weights(page)
    if own + pictures <= LIMIT:
        return []
    return [f"weighs {own + pictures:,} bytes ({own:,} of HTML, {pictures:,} of pictures); at most {LIMIT:,}"]
