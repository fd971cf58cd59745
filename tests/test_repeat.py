"""The comparison of two executions: what counts as the same output."""

from __future__ import annotations

from pathlib import Path

import nbformat.v4 as v4
import pytest

from tools.repeat import main, printed, some


def notebook(*outputs):
    return v4.new_notebook(cells=[v4.new_code_cell("x", id="cell", outputs=list(outputs))])


def stream(text):
    return v4.new_output("stream", name="stdout", text=text)


def test_a_stream_split_by_the_kernel_is_the_same_output():
    assert printed(notebook(stream("a\nb\n"))) == printed(notebook(stream("a\n"), stream("b\n"))) == {"cell": "a\nb\n"}


def test_another_number_and_a_missing_output_differ():
    assert printed(notebook(stream("0.1"))) != printed(notebook(stream("0.2")))
    assert printed(notebook()) == {}


def test_addresses_do_not_count():
    shown = [v4.new_output("display_data", data={"text/plain": f"<object at {at}>"}) for at in ("0x7f00aa11", "0x7f00bb22")]
    assert printed(notebook(shown[0])) == printed(notebook(shown[1]))


def test_a_share_of_the_chapters_is_chosen_by_the_commit() -> None:
    paths = [Path(str(k)) for k in range(10)]
    parts = [some(paths, 3, commit) for commit in ("0", "1a", "1b")]  # 0, 26, 27 modulo 3
    assert [[int(p.name) for p in part] for part in parts] == [[0, 3, 6, 9], [2, 5, 8], [0, 3, 6, 9]]
    assert some(paths, 1, "abc") == paths
    assert sorted(p for k in range(3) for p in some(paths, 3, str(k))) == sorted(paths)


def test_a_share_is_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["0"]) == main(["a"]) == main(["1", "2"]) == 2
    assert "usage" in capsys.readouterr().err
