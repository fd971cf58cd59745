"""Take the pictures out of the rendered pages: files beside them do not hold up the text, and weigh less.

A notebook's output must hold its pictures itself, as ``data:`` addresses; a page need not. PNGs become lossless WebPs where
these are smaller. A picture that a page shows at once gets its size, so that the text below does not move when it comes,
and a phone knows how wide it must stay for its letters to be read.
"""

from __future__ import annotations

import base64
import io
import re
import shutil
from hashlib import sha256
from pathlib import Path

from PIL import Image

FOLDER = "_images"
DATA = re.compile(r"data:image/(png|svg\+xml);base64,([A-Za-z0-9+/=]+)")
INNER = re.compile(rb"data:image/png;base64,\s*([A-Za-z0-9+/=\s]+)")
SHOWN = re.compile(r'<img ([^>]*?)src="(data:image/(?:png|svg\+xml);base64,[A-Za-z0-9+/=]+)"( style=")?')
SVG_SIZE = re.compile(
    rb'<svg [^>]*?width="([\d.]+)pt"[^>]*?height="([\d.]+)pt"|<svg [^>]*?height="([\d.]+)pt"[^>]*?width="([\d.]+)pt"'
)
SOURCE = Path(__file__).read_bytes()
POINT = 96 / 72
"""CSS pixels in a point."""
DOTS = 150
"""Dots in an inch of a slider's picture, ``savefig.dpi`` of the library's style."""


def smaller(png: bytes) -> tuple[bytes, str]:
    """The same picture as a lossless WebP if that is smaller, and the ending of its name."""
    buffer = io.BytesIO()
    Image.open(io.BytesIO(png)).save(buffer, format="webp", lossless=True, quality=100, method=4)
    return (buffer.getvalue(), "webp") if buffer.tell() < len(png) else (png, "png")


def svg_with_smaller(svg: bytes) -> bytes:
    """The same drawing with its heat maps, which matplotlib puts in as PNGs, as WebPs where these are smaller."""

    def shrink(match: re.Match[bytes]) -> bytes:
        content, ending = smaller(base64.b64decode(match[1]))
        return f"data:image/{ending};base64,{base64.b64encode(content).decode()}".encode()

    return INNER.sub(shrink, svg)


def size(kind: str, content: bytes) -> tuple[int, int] | None:
    """Width and height in CSS pixels; None for an SVG that does not say."""
    if kind == "png":
        return Image.open(io.BytesIO(content)).size
    if match := SVG_SIZE.search(content[:4000]):
        width, height = (match[1], match[2]) if match[1] else (match[4], match[3])
        return round(float(width) * POINT), round(float(height) * POINT)
    return None


def _kept(kind: str, content: bytes, store: Path) -> Path:
    """The picture as the site has it: from ``store``, where it is put if it is not there. Named by what it was made from."""
    name = sha256(SOURCE + content).hexdigest()[:16]
    for ending in ("svg", "webp", "png"):
        if (found := store / f"{name}.{ending}").exists():
            return found
    made, ending = smaller(content) if kind == "png" else (svg_with_smaller(content), "svg")
    part = store / f"{name}.part"
    part.write_bytes(made)
    return part.replace(store / f"{name}.{ending}")


def take_out(site: Path, store: Path) -> None:
    """Put every picture of the site's pages into a file of its own.

    ``store`` keeps them from build to build, as most stay the same; what this site does not show is deleted there.
    """
    folder = site / FOLDER
    folder.mkdir(exist_ok=True)
    store.mkdir(exist_ok=True)
    written: dict[str, str] = {}

    def name(kind: str, text: str) -> str:
        if text not in written:
            kept = _kept(kind, base64.b64decode(text), store)
            shutil.copyfile(kept, folder / kept.name)
            written[text] = kept.name
        return written[text]

    for path in sorted(site.rglob("*.html")):
        if FOLDER in (parts := path.relative_to(site).parts) or "_static" in parts:
            continue
        to_folder = "../" * (len(parts) - 1) + FOLDER

        def sized(match: re.Match[str]) -> str:
            inner = DATA.fullmatch(match[2])
            assert inner is not None
            found = size(inner[1], base64.b64decode(inner[2]))
            given = f'width="{found[0]}" height="{found[1]}" ' if found else ""
            natural = round(found[0] * (96 / DOTS if inner[1] == "png" else 1)) if found else 0
            style = f"{match[3]}--natural:{natural}px;" if found and match[3] else match[3] or ""
            return f'<img {match[1]}{given}decoding="async" loading="lazy" src="{match[2]}"{style}'

        text = SHOWN.sub(sized, path.read_text())
        path.write_text(DATA.sub(lambda match, to=to_folder: f"{to}/{name(match[1], match[2])}", text))
    for old in {path.name for path in store.iterdir()} - set(written.values()):
        (store / old).unlink()
