"""Chapters executed side by side: each alone, a failure said, and nothing left running."""

from __future__ import annotations

import os
import time
from contextlib import closing
from pathlib import Path

import nbformat

from tools.execute import execute, in_order
from tools.notebooks import write


def chapter(folder: Path, name: str, *code: str) -> Path:
    cells = [nbformat.v4.new_code_cell(source) for source in code]
    write(folder / f"{name}.ipynb", nbformat.v4.new_notebook(cells=cells))
    return folder / f"{name}.ipynb"


def test_chapters_with_an_encoder_take_turns_and_the_rest_keeps_its_order(tmp_path: Path) -> None:
    names = ("a", "b", "c", "d")
    paths = [chapter(tmp_path, n, "from topiclib.encoders import load_encoder" if n in "bd" else "1") for n in names]
    assert in_order(paths) == ([paths[1], paths[3]], [paths[0], paths[2]])


def test_one_failure_is_told_and_does_not_stop_the_other(tmp_path: Path) -> None:
    good = chapter(tmp_path, "good", "import os; print(os.listdir())", "print(6 * 7)")
    bad = chapter(tmp_path, "bad", "raise ValueError('planted')")
    done = {run.path.stem: run for run in execute([bad, good], 2, os.environ)}
    assert "planted" in done["bad"].error
    assert done["bad"].notebook is None
    # In an empty folder, with the outputs in the notebook that comes back and not in the file
    assert [cell.outputs[0].text for cell in done["good"].notebook.cells] == ["[]\n", "42\n"]
    assert not nbformat.read(good, 4).cells[0].outputs


def test_a_caller_that_gives_up_leaves_nothing_running(tmp_path: Path) -> None:
    slow = chapter(
        tmp_path,
        "slow",
        "import os, pathlib, time",
        f"pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid()))",
        "time.sleep(300)",
    )
    quick = chapter(
        tmp_path, "quick", "import pathlib, time", f"while not pathlib.Path({str(tmp_path / 'pid')!r}).exists(): time.sleep(0.05)"
    )
    with closing(execute([slow, quick], 2, os.environ)) as runs:
        assert next(runs).path == quick
    kernel = int((tmp_path / "pid").read_text())
    for _ in range(100):
        if not Path(f"/proc/{kernel}").exists():
            break
        time.sleep(0.1)
    else:
        raise AssertionError("the kernel still runs")


def test_chapters_with_an_encoder_do_not_overlap(tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = (
        f"with open({str(log)!r}, 'a') as f: f.write('{{}} begins\\n')",
        "import time; time.sleep(1)",
        f"with open({str(log)!r}, 'a') as f: f.write('{{}} ends\\n')",
    )
    mark = "# from topiclib.encoders import load_encoder"
    paths = [chapter(tmp_path, name, mark, *(part.replace("{}", name) for part in code)) for name in ("one", "two")]
    assert all(run.notebook is not None for run in execute(paths, 2, os.environ))
    assert log.read_text().split("\n")[:-1] == ["one begins", "one ends", "two begins", "two ends"]
