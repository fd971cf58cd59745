"""The progress file: what was passed stays passed, nothing of the user's is lost, and no check fails for it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from topiclib.checks import check, progress
from topiclib.checks.progress_file import FILE, note

ID = "preface-topic-of"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_passed_stays_passed_and_tries_are_counted() -> None:
    for status in ("wrong", "passed", "wrong"):
        note("a", status)
    note("b", "wrong")
    found = progress()
    assert found.passed == ["a"]
    assert (found.exercises["a"]["tries"], found.exercises["b"]["tries"]) == (3, 1)
    assert "1 of 2 exercises passed" in str(found)
    assert "✓ a, 3 tries" in str(found)
    assert "✗ b" in found._repr_html_()


def test_an_empty_answer_is_not_noted() -> None:
    note("a", "unanswered")
    assert not Path(FILE).exists()
    assert "Nothing noted yet" in str(progress())


@pytest.mark.parametrize(
    "content", ["", "[]", '{"mine": 1}', '{"version": 9, "exercises": {}}', '{"version": 1, "exercises": {"a": 1}}']
)
def test_a_file_that_is_something_else_is_moved_aside(content: str) -> None:
    Path(FILE).write_text(content)
    with pytest.raises(ValueError, match="is no progress file"):
        progress()
    note("a", "passed")
    assert progress().passed == ["a"]
    assert Path("topiclib-progress-old-1.json").read_text() == content
    Path(FILE).write_text("again")
    note("a", "wrong")
    assert Path("topiclib-progress-old-2.json").read_text() == "again"


def test_where_nothing_can_be_written_nothing_fails(tmp_path: Path) -> None:
    note("a", "passed", tmp_path / "none" / FILE)
    assert not (tmp_path / "none").exists()
    (tmp_path / FILE).mkdir()
    note("a", "passed")


def test_no_part_of_a_file_is_left(tmp_path: Path) -> None:
    note("a", "passed")
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
    assert json.loads(Path(FILE).read_text())["version"] == 1


def test_only_a_notebook_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = SimpleNamespace()
    for module, static in (
        (None, ""),
        (SimpleNamespace(get_ipython=lambda: None), ""),
        (SimpleNamespace(get_ipython=lambda: shell), ""),
    ):
        monkeypatch.setenv("TOPICLIB_STATIC", static)
        if module is None:
            monkeypatch.delitem(sys.modules, "IPython", raising=False)
        else:
            monkeypatch.setitem(sys.modules, "IPython", module)
        check(ID, lambda *a: None)
        assert not Path(FILE).exists()
    shell.kernel = "a kernel"
    monkeypatch.setenv("TOPICLIB_STATIC", "1")
    check(ID, lambda *a: None)
    assert not Path(FILE).exists()
    monkeypatch.delenv("TOPICLIB_STATIC")
    check(ID, lambda *a: None)
    assert progress().exercises[ID]["status"] == "wrong"


def test_an_argument_that_an_exercise_does_not_know_is_refused() -> None:
    with pytest.raises(ValueError, match="base = 3: exercise preface-topic-of takes nothing beside the function"):
        check(ID, lambda *a: None, base=3)
