"""Results on disk: the key holds all that a result depends on, and nothing on disk can break a computation."""

import dataclasses
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from topiclib.cache import cache_folder, content_key, new_file, remembered


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOPICLIB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@dataclasses.dataclass(frozen=True)
class Settings:
    size: int = 3
    kind: str = "a"


@dataclasses.dataclass(frozen=True)
class Others:
    size: int = 3
    kind: str = "a"


def one() -> int:
    return 1


def two() -> int:
    return 2


class Calls:
    """Counts how often it was asked."""

    def __init__(self) -> None:
        self.number = 0

    def __call__(self) -> dict[str, np.ndarray]:
        self.number += 1
        return {
            "half": np.linspace(0, 1, 7).astype(np.float16),
            "table": np.arange(6).reshape(2, 3),
            "none": np.zeros((0, 4), np.int16),
            "turned": np.arange(6.0).reshape(2, 3).T,
        }


def assert_same(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> None:
    assert a.keys() == b.keys()
    for label, value in a.items():
        assert value.dtype == b[label].dtype
        assert np.array_equal(value, b[label])


def test_what_was_computed_is_kept(folder: Path) -> None:
    calls = Calls()
    first = remembered("thing", "k", calls)
    second = remembered("thing", "k", calls)
    assert calls.number == 1
    assert_same(first, second)
    assert [path.name for path in folder.iterdir()] == ["thing-k.safetensors"]


def test_another_key_or_name_is_computed() -> None:
    calls = Calls()
    for name, key in (("a", "k"), ("a", "l"), ("b", "k")):
        remembered(name, key, calls)
    assert calls.number == 3


@pytest.mark.parametrize("damage", ["empty", "truncated", "flipped", "other"])
def test_a_damaged_file_is_computed_anew(damage: str, folder: Path) -> None:
    calls = Calls()
    first = remembered("thing", "k", calls)
    path = folder / "thing-k.safetensors"
    content = path.read_bytes()
    flipped = content[:-3] + bytes([content[-3] ^ 1]) + content[-2:]
    path.write_bytes({"empty": b"", "truncated": content[:-5], "flipped": flipped, "other": b"a text\n" * 99}[damage])
    assert_same(remembered("thing", "k", calls), first)
    assert calls.number == 2
    assert_same(remembered("thing", "k", calls), first)
    assert calls.number == 2, "and replaced"


def test_a_whole_file_of_another_result_is_computed_anew(folder: Path) -> None:
    compute = Calls()
    found = remembered("one", "a" * 40, compute)
    remembered("one", "b" * 40, lambda: {"other": np.zeros(3)})
    (folder / f"one-{'b' * 40}.safetensors").replace(folder / f"one-{'a' * 40}.safetensors")
    assert_same(remembered("one", "a" * 40, compute), found)
    assert compute.number == 2


def test_a_folder_that_cannot_be_written_warns_and_works(folder: Path) -> None:
    folder.write_text("a file where the folder should be")
    calls = Calls()
    with pytest.warns(UserWarning, match="not kept for the next run"):
        first = remembered("thing", "k", calls)
    assert_same(first, Calls()())


def test_a_damaged_file_that_cannot_be_removed_warns_and_works(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = remembered("thing", "k", Calls())
    (folder / "thing-k.safetensors").write_bytes(b"")

    def refuse(*arguments: Any, **options: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.warns(UserWarning, match="not kept"):
        assert_same(remembered("thing", "k", Calls()), first)


def test_an_interrupted_computation_leaves_nothing(folder: Path) -> None:
    def interrupted() -> dict[str, np.ndarray]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        remembered("thing", "k", interrupted)
    assert not folder.exists() or not list(folder.iterdir())


def test_writing_in_the_environment_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        remembered("thing", "k", Calls())
        remembered("thing", "k", Calls())


def test_where_the_folder_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("TOPICLIB_CACHE")
    assert cache_folder() == tmp_path / "xdg" / "topiclib"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "topiclib"


def test_a_new_file_appears_only_when_it_is_renamed(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "file"

    def interrupted() -> None:
        with new_file(target) as partial:
            partial.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not list(target.parent.iterdir())
    with new_file(target) as partial:
        partial.write_text("whole")
        partial.rename(target)
    assert target.read_text() == "whole"


def test_equal_parts_have_equal_keys() -> None:
    array = np.arange(6).reshape(2, 3)
    assert content_key(array, Settings(), one, {"b": 1, "a": [1, "x"]}) == content_key(
        array.copy(), Settings(), one, {"a": (1, "x"), "b": 1}
    )
    assert content_key(np.asfortranarray(array)) == content_key(array)
    assert content_key(torch.arange(6)) == content_key(np.arange(6))
    assert content_key(np.int64(3), np.float64(0.5), np.bool_(True)) == content_key(3, 0.5, True)
    assert content_key(Settings(size=np.int64(3))) == content_key(Settings(3))  # type: ignore[arg-type]
    key = content_key(1)
    assert len(key) == 40
    assert set(key) <= set("0123456789abcdef")


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((1,), (2,)),
        ((1,), (1.0,)),
        ((1,), ("1",)),
        ((1,), (True,)),
        ((None,), ("None",)),
        (("ab",), ("a", "b")),
        ((["ab"],), (["a", "b"],)),
        ((["a"], ["b"]), (["a", ["b"]],)),
        (([], [1]), ([1], [])),
        ((np.arange(6),), (np.arange(6).reshape(2, 3),)),
        ((np.arange(6),), (np.arange(6, dtype=np.int32),)),
        ((np.zeros(2, np.int64),), (np.zeros(2, np.float64),)),
        ((np.array([0.0]),), (np.array([-0.0]),)),
        ((np.arange(2), np.arange(3)), (np.arange(3), np.arange(2))),
        ((Settings(),), (Settings(4),)),
        ((Settings(),), (Settings(kind="b"),)),
        ((Settings(),), (Others(),)),
        ((one,), (two,)),
        ((Settings,), (Others,)),
        (({"a": 1},), ({"a": 2},)),
        (({"a": 1},), ({"b": 1},)),
        ((torch.zeros(3),), (torch.tensor([0, 0, 1e-20]),)),
    ],
)
def test_different_parts_have_different_keys(a: tuple[object, ...], b: tuple[object, ...]) -> None:
    assert content_key(*a) != content_key(*b)


def test_the_source_of_a_function_is_part_of_the_key() -> None:
    """Of two with the same name."""

    def made(kind: int) -> Any:
        if kind:

            def same_name() -> int:
                return 1

        else:

            def same_name() -> int:
                return 2

        return same_name

    assert content_key(made(0)) != content_key(made(1))
    assert content_key(made(0)) == content_key(made(0))


def test_a_packages_version_is_part_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    import topiclib.cache as cache

    def key() -> str:
        return content_key(1, packages=("numpy", "torch"))

    first = key()
    assert first != content_key(1, packages=("numpy",)) != content_key(1)
    assert first != content_key(1, packages=("numpy", "a-package-that-is-not-installed"))
    version = cache.version
    monkeypatch.setattr(cache, "version", lambda name: "99" if name == "torch" else version(name))
    assert key() != first


def test_what_has_no_bytes_of_its_own_is_refused() -> None:
    for part in (object(), {1, 2}, b"bytes"):
        with pytest.raises(TypeError, match="a key is made of"):
            content_key(part)
