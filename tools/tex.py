"""The symbols in a formula: letters with their fonts, accents and indices, read from TeX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

TOKEN = re.compile(r"\\(?:[a-zA-Z]+\*?|.)|\d+(?:[.,]\d+)*|\S", re.S)
FORMULA = re.compile(r"(?<!\\)(\$\$?)(.+?)(?<!\\)\1", re.S)
CODE = re.compile(r"```.*?```|(`+)[^`].*?\1", re.S)
GREEK = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi", "pi"),
    *("rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "varepsilon", "vartheta", "varphi", "ell"),
    *("varrho", "varsigma", "varpi", "varkappa", "digamma", "hbar", "imath", "jmath", "wp", "aleph", "beth"),
    *("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega"),
)
LETTER = re.compile(rf"[A-Za-z]|\\(?:{'|'.join(GREEK)})")
STYLES = (
    *("mathbf", "mathbb", "mathcal", "boldsymbol", "mathit", "mathfrak", "mathscr", "mathsf", "mathtt", "bm"),
    *("tilde", "hat", "bar", "dot", "ddot", "vec", "check", "breve", "acute", "grave"),
    *("widetilde", "widehat", "overline", "underline"),
)
WORDS = ("text", "operatorname", "mathrm")
STYLE = re.compile(rf"\\(?:{'|'.join(STYLES)})")
WORD = re.compile(rf"\\(?:{'|'.join(WORDS)})")
SKIPPED = re.compile(r"\\(?:tag|hspace|begin|end|label)\*?")


@dataclass(frozen=True)
class Atom:
    """One symbol: a letter with its fonts and accents, and the pieces of its lower and upper index."""

    base: str
    sub: tuple[str, ...] = ()
    sup: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.base + "".join(f"{mark}{{{joined(part)}}}" for mark, part in (("_", self.sub), ("^", self.sup)) if part)

    def is_word(self) -> bool:
        """Whether it is upright text, which is a symbol only where the table says so."""
        return bool(WORD.match(self.base))

    def begins_with(self, name: Atom) -> bool:
        """Whether ``name`` is this symbol without the ends of its indices: W^V of W^V_{ij}, W^E of W^{E⊤}."""
        same = self.base == name.base
        return same and self.sub[: len(name.sub)] == name.sub and self.sup[: len(name.sup)] == name.sup


def tokens(tex: str) -> list[str]:
    """Commands, numbers and single characters, without the space that a line break may ask for."""
    return TOKEN.findall(re.sub(r"\\\\\[[\d.]+[a-z]{2}\]", " ", tex))


def joined(pieces: Sequence[str]) -> str:
    """The tokens as TeX."""
    text = ""
    for piece in pieces:
        text += (" " if re.search(r"\\[a-zA-Z]+$", text) and piece[0].isalpha() else "") + piece
    return text


def _argument(pieces: Sequence[str], at: int) -> tuple[list[str], int]:
    """The argument that begins at ``at``, without its braces, and where it ends."""
    if at >= len(pieces):
        return [], at
    if pieces[at] == "{":
        depth, end = 1, at + 1
        while depth and end < len(pieces):
            depth += (pieces[end] == "{") - (pieces[end] == "}")
            end += 1
        return list(pieces[at + 1 : end - (depth == 0)]), end
    if STYLE.fullmatch(pieces[at]) or WORD.fullmatch(pieces[at]):
        inner, end = _argument(pieces, at + 1)
        return [pieces[at], "{", *inner, "}"], end
    return [pieces[at]], at + 1


def atoms(pieces: Sequence[str]) -> list[Atom]:
    """The symbols of a formula in order, given as tokens. Indices stay with their symbol; those of a bracket or a sum are read."""
    found: list[Atom] = []
    at = 0
    while at < len(pieces):
        piece = pieces[at]
        if SKIPPED.fullmatch(piece):
            inner, at = _argument(pieces, at + 1)
            if joined(inner) == "array" and at < len(pieces):
                _, at = _argument(pieces, at)
            continue
        if piece in "_^":
            inner, at = _argument(pieces, at + 1)
            found += atoms(inner)
            continue
        base = ""
        if STYLE.fullmatch(piece) or WORD.fullmatch(piece):
            inner, at = _argument(pieces, at + 1)
            within = [] if WORD.fullmatch(piece) else atoms(inner)
            if len(within) > 1:  # a bar over a whole formula
                found += within
                continue
            base = f"{piece}{{{joined(inner)}}}"
        else:
            base = piece if LETTER.fullmatch(piece) else ""
            at += 1
        if base:
            parts: dict[str, list[str]] = {"_": [], "^": []}
            while at < len(pieces) and pieces[at] in "_^'":
                if pieces[at] == "'":
                    at += 1
                    continue
                mark = pieces[at]
                inner, at = _argument(pieces, at + 1)
                parts[mark] += inner
            found.append(Atom(base, tuple(parts["_"]), tuple(parts["^"])))
    return found


def atom(tex: str) -> Atom:
    """The one symbol that ``tex`` spells.

    Raises:
        ValueError: If it spells none or several.
    """
    found = atoms(tokens(tex))
    if len(found) != 1:
        raise ValueError(f"tex must spell one symbol, not {len(found)}: {tex!r}")
    return found[0]


def formulas(markdown: str) -> Iterator[tuple[int, str]]:
    """Where each formula of a Markdown text begins, and its TeX; code holds none."""
    text = CODE.sub(lambda code: " " * len(code[0]), markdown)
    for match in FORMULA.finditer(text):
        yield match.start(), re.sub(r"^[ \t]*>", "", match[2], flags=re.M)
