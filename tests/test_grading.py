"""Grading: hostile and broken notebooks are zeros with a true reason, and change nobody else's grade."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest

from exercises.catalogue import PAPER
from tools.editions import tasks_of
from tools.example_class import CHAPTER as EXAMPLE
from tools.example_class import write_class
from tools.grading import codec
from tools.grading.answers import SubmissionError, program_of, read_submission
from tools.grading.grade import Assignment, Result, grade, submissions_in
from tools.grading.report import HandError, read_hand
from tools.grading.sandbox import Box, Limits, Stopped, copy_library, walls
from tools.settings import ROOT

CHAPTER = "03_3_architecture"
ID = "3.3-column-softmax"
RIGHT = """import numpy as np

def column_softmax(scores):
    weights = np.exp(scores - scores.max(axis=0))
    return weights / weights.sum(axis=0)
"""
LIMITS = Limits(seconds=3, memory=1 << 30)


def notebook(*cells: str, metadata: dict[str, Any] | None = None) -> str:
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells], metadata=metadata or {})
    return nbformat.writes(made)


def answering(body: str, before: str = "") -> str:
    return notebook(f"{before}\ndef column_softmax(scores):\n    {body}")


VERSION_3 = json.dumps(
    {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {},
        "worksheets": [{"cells": [{"cell_type": "code", "input": RIGHT, "outputs": []}]}],
    }
)
# What is submitted, and what the zero's reason must say.
HOSTILE: dict[str, tuple[str | bytes, str]] = {
    "dead kernel": (answering("os._exit(0)", "import os"), "ended itself"),
    "endless loop": (answering("while True: pass"), "too much of the processor's time"),
    "endless sleep": (answering("import time; time.sleep(1000)"), "it took longer than"),
    "endless loop on loading": (notebook("while True: column_softmax = 1"), "too much of the processor's time"),
    "memory bomb": (answering("return bytearray(10**11)"), "MemoryError"),
    "slow memory bomb": (answering("x = []\n    while True: x.append(bytearray(10**7))"), "MemoryError|memory"),
    "sys.exit": (answering("sys.exit(0)", "import sys"), "SystemExit"),
    "sys.exit on loading": (notebook("import sys\nif True:\n    sys.exit(0)\n    column_softmax = 1"), "SystemExit"),
    "exception": (answering("return scores / undefined"), "NameError"),
    "exception on loading": (notebook("x = 1 / 0\ndef column_softmax(scores): return x"), "ZeroDivisionError"),
    "no function": (notebook("print('passed')"), "no cell defines a function named column_softmax"),
    "prints passed": (answering("print('✓ Exercise 3.3-column-softmax: passed.')"), "returns None"),
    "function renamed": (notebook(RIGHT.replace("column_softmax", "softmax")), "no cell defines"),
    "no function but a number": (notebook("column_softmax = 3"), "is no function but a int"),
    "syntax error": (notebook("def column_softmax(scores):\n    return (scores"), "is not Python"),
    "recursion": (answering("return column_softmax(scores)"), "RecursionError"),
    "check replaced": (
        notebook(
            "import topiclib.checks.base as b\nb.check = b.verdict_of = lambda *a: b.Verdict('x', 'passed', '')\n"
            "def column_softmax(scores):\n    b\n    return scores"
        ),
        "softmax is positive",
    ),
    "numpy patched": (
        notebook(
            "import numpy as np\nnp.allclose = lambda *a, **k: True\n"
            "np.isfinite = lambda *a: np.bool_(True)\ndef column_softmax(scores):\n    return np.ones_like(scores)"
        ),
        "must sum to 1",
    ),
    "equal to everything": (
        answering(
            "return Yes()",
            "class Yes:\n    def __eq__(self, o): return True\n    def __array__(self, *a, **k): raise RuntimeError\n",
        ),
        "RuntimeError|does not hold numbers",
    ),
    "reads the grader": (
        answering(f"return open({str(ROOT / 'exercises/section_3_3.py')!r}).read()"),
        "reached for files of the grader|FileNotFoundError",
    ),
    "imports the solutions": (
        notebook(
            f"import sys\nsys.path.append({str(ROOT)!r})\nfrom exercises.section_3_3 import EXERCISES\n"
            "column_softmax = EXERCISES[0].load(EXERCISES[0].reference)"
        ),
        "ModuleNotFoundError|reached for files|NameError",
    ),
    "starts a process": (answering("return subprocess.check_output('id')", "import subprocess"), "subprocess.Popen"),
    "forks": (answering("os.fork()", "import os"), "os.fork"),
    "uses the network": (answering("socket.create_connection(('192.0.2.1', 80))", "import socket"), "socket"),
    "kills its parent": (answering("os.kill(os.getppid(), 9)", "import os"), "os.kill"),
    "uses C": (answering("ctypes.CDLL(None)", "import ctypes"), "ctypes"),
    "prints 50 MB": (answering("print('x' * 50_000_000)"), "it printed more than 1 MB"),
    "writes a large file": (answering("open('x', 'wb').write(b'0' * 10**8)"), "OSError|too large a file"),
    "returns too much": (answering("return [[1.5] * 1000] * 100_000"), "bytes|nested|time|returned too much|MemoryError"),
    "writes into the channel": (
        answering("[os.write(int(fd), b'{}\\n') for fd in range(3, 20) if os.path.exists(f'/proc/self/fd/{fd}')]", "import os"),
        "channel|OSError|did not|returns None|raised",
    ),
    "a lone surrogate": (answering("raise ValueError('\\ud800')"), "ValueError"),
    "starts a process below the guard": (
        answering("util.spawnv_passfds(b'/bin/sh', [b'sh', b'-c', b'true'], [])", "from multiprocessing import util"),
        "started a process",
    ),
    "maps memory": (answering("return len(mmap.mmap(-1, 2 << 30))", "import mmap"), "too much memory"),
    "fills the disk": (
        answering("[open(str(k), 'wb').write(b'0' * 10**7) for k in range(40)]"),
        "OSError|No space|too large a file|memory",
    ),
    "a chain of names": (
        notebook("\n".join(f"a{k} = a{k + 1}" for k in range(3000)) + "\na3000 = 1\ndef column_softmax(scores):\n    return a0"),
        "NameError",
    ),
    "a million colliding keys": (
        answering("return {k * (2**61 - 1) for k in range(10**5)}"),
        "set or dict of 100,000 items|processor's time",
    ),
    "a claim of success in the metadata": (notebook("1", metadata={"grade": "passed"}), "no cell defines"),
    "another chapter": (
        notebook(RIGHT, metadata={"topiclib": {"chapter": "04_token_embeddings"}}),
        "of the chapter '04_token_embeddings'",
    ),
    "another class": (notebook(RIGHT, metadata={"topiclib": {"class": "abc"}}), "another class"),
    "format 99": (json.dumps({"nbformat": 99, "cells": []}), "of format 99"),
    "no notebook": ("{}", "no Jupyter notebook"),
    "a list": ("[1, 2]", "no Jupyter notebook"),
    "empty file": ("", "no Jupyter notebook"),
    "binary garbage": (bytes(range(256)) * 99, "no Jupyter notebook"),
    "deeply nested": ("[" * 100_000, "no Jupyter notebook"),
    "50 MB of output": ('{"nbformat": 4, "cells": [], "x": "' + "x" * 50_000_000 + '"}', "50 MB; 20 are allowed"),
}
# Right answers in notebooks that were handled roughly.
ROUGH = {
    "as it is": notebook(RIGHT),
    "format 3": VERSION_3,
    "with magics": notebook("%matplotlib inline\n!pip install nothing\n" + RIGHT),
    "timed": notebook("%%time\n" + RIGHT),
    "copied stub behind it": notebook(
        RIGHT, 'def column_softmax(scores):\n    """Softmax."""\n    raise NotImplementedError("your answer")'
    ),
    "wrong one before it": notebook("def column_softmax(scores): return 0", RIGHT),
    "helper and constant elsewhere": notebook(
        "ZERO = [0]\nZERO.append(1)",
        "def column_softmax(scores):\n    return helper(scores)",
        "import numpy\ndef helper(s):\n    e = numpy.exp(s - s.max(axis=ZERO[0]))\n    return e / e.sum(axis=0)",
    ),
    "a broken cell beside it": notebook("1 +", RIGHT, "1 / 0", "while True: pass"),
    "random numbers": notebook(
        "import random\nimport numpy as np\nSHIFT = random.random() + np.random.rand()\n"
        + RIGHT.replace("scores.max", "SHIFT - scores.max")
    ),
    "a lambda": notebook(
        "import numpy as np", "column_softmax = lambda s: np.exp(s - s.max(axis=0)) / np.exp(s - s.max(axis=0)).sum(axis=0)"
    ),
    "wrapped": notebook(RIGHT, "def twice(f):\n    return lambda s: f(s)", "column_softmax = twice(column_softmax)"),
    "kept and called": notebook(RIGHT, "_old = column_softmax\ndef column_softmax(scores):\n    return _old(scores)"),
    "a table filled by a call": notebook(
        "import numpy as np\nS = np.zeros((1, 1))\nnp.copyto(S, 1)",
        "def column_softmax(scores):\n    e = np.exp(scores - scores.max(axis=0))\n    return e / e.sum(axis=0) * S[0, 0]",
    ),
    "a line that begins with an operator": notebook(
        "import numpy as np\nK = (7\n     % 4) - 3\n" + RIGHT.replace("e.sum", "e.sum")
    ),
    "IPython's question": notebook("import numpy as np\nnp.exp?\nfiles = !ls\n" + RIGHT),
    "from the future": notebook("from __future__ import annotations", RIGHT.replace("(scores)", "(scores: Unknown)", 1)),
    "numbers of sympy": notebook(
        "import sympy\ndef column_softmax(scores):\n    e = [[sympy.exp(sympy.Float(x)) for x in row] for row in scores]\n"
        "    sums = [sum(row[k] for row in e) for k in range(len(e[0]))]\n"
        "    return sympy.Matrix([[x / t for x, t in zip(row, sums)] for row in e])"
    ),
    "a class's method": notebook(
        "import numpy as np\nclass Maker:\n    def make(self, s):\n"
        "        e = np.exp(s - s.max(axis=0))\n        return e / e.sum(axis=0)\ncolumn_softmax = Maker().make"
    ),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    """The whole class, graded in one run."""
    folder = tmp_path_factory.mktemp("class")
    for name, content in {**{n: c for n, (c, _) in HOSTILE.items()}, **ROUGH}.items():
        (folder / f"{name}.ipynb").write_bytes(content.encode() if isinstance(content, str) else content)
    out = tmp_path_factory.mktemp("grades")
    return {r.student: r for r in grade(folder, out, Assignment(CHAPTER, only=(ID,), limits=LIMITS), 2)}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_or_broken_notebook_is_a_zero_with_a_true_reason(results: dict[str, Result], name: str) -> None:
    (question,) = results[name].questions
    assert question.points == results[name].points == 0
    assert not question.passed
    assert re.search(HOSTILE[name][1], question.reason), question.reason


@pytest.mark.parametrize("name", ROUGH)
def test_a_right_answer_passes_however_its_notebook_was_handled(results: dict[str, Result], name: str) -> None:
    (question,) = results[name].questions
    assert question.passed, question.reason


def test_there_are_enough_hostile_notebooks() -> None:
    assert len(HOSTILE) >= 25


def test_nothing_is_left_behind(results: dict[str, Result]) -> None:
    assert results
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    assert not re.search(r"answer-\S+child\.py", running)


# ---- finding answers


def submission(tmp_path: Path, *cells: str) -> Any:
    path = tmp_path / "x.ipynb"
    path.write_text(notebook(*cells))
    return read_submission(path)


def test_an_answer_takes_along_what_it_refers_to_and_nothing_else(tmp_path: Path) -> None:
    found = submission(
        tmp_path,
        "import time, numpy as np\ntime.sleep(100)",
        "SCALE = 2\ndef half(x):\n    return x / SCALE",
        "SCALE = 4",
        "runs = train(half)\nx = 3",
        "def answer(x, y=SCALE):\n    z = half(x)\n    return np.sum(z)",
    )
    code = program_of(found, "answer").code
    assert "sleep" not in code
    assert "runs" not in code
    assert code.index("SCALE = 2") < code.index("SCALE = 4") < code.index("def answer")
    assert "def half" in code


def test_local_names_are_no_references(tmp_path: Path) -> None:
    found = submission(tmp_path, "a = expensive()", "def answer(x):\n    a = 3\n    return [b + a for b in x]", "b = expensive()")
    assert "expensive" not in program_of(found, "answer").code


def test_what_changes_a_needed_value_is_taken_along(tmp_path: Path) -> None:
    found = submission(
        tmp_path,
        "table = {}\nother = []",
        "table['a'] = 1\ntable.update(b=2)\nother.append(3)",
        "for k in range(3):\n    table[k] = k",
        "def answer():\n    return table",
    )
    space: dict[str, Any] = {}
    exec(program_of(found, "answer").code, space)
    assert space["answer"]() == {"a": 1, "b": 2, 0: 0, 1: 1, 2: 2}
    assert "other" not in program_of(found, "answer").code


def test_a_variable_of_the_chapter_is_no_answer(tmp_path: Path) -> None:
    stub = 'def answer(x):\n    """Doc."""\n    raise NotImplementedError("your answer")'
    assert program_of(submission(tmp_path, "answer = 3", stub), "answer").reason == "unanswered"
    assert program_of(submission(tmp_path, stub, "answer = lambda x: x"), "answer").code == "answer = lambda x: x"
    assert program_of(submission(tmp_path, stub, "def answer(x):\n    return 1", stub), "answer").code.endswith("return 1")


def test_an_answer_on_paper_is_found_by_its_first_line(tmp_path: Path) -> None:
    cells = [nbformat.v4.new_markdown_cell("**Answer to exercise 3.3-paper-copies:**\n\nBecause of $x$.")]
    path = tmp_path / "x.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    assert read_submission(path).paper == {"3.3-paper-copies": "Because of $x$."}


def test_a_link_to_another_file_is_no_submission(tmp_path: Path) -> None:
    (tmp_path / "link.ipynb").symlink_to("/etc/passwd")
    with pytest.raises(SubmissionError, match="it is no file"):
        read_submission(tmp_path / "link.ipynb")


def test_students_are_told_apart_by_file_or_by_folder(tmp_path: Path) -> None:
    for name in (
        "Ada.ipynb",
        "Ben/anything (1).ipynb",
        "Cleo/04_x.ipynb",
        f"Cleo/{CHAPTER}.ipynb",
        "Dan/a/b.ipynb",
        "Dan/c.ipynb",
        ".x/y.ipynb",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    found = {student: str(path.relative_to(tmp_path)) for student, path in submissions_in(tmp_path, CHAPTER).items()}
    assert found == {
        "Ada": "Ada.ipynb",
        "Ben": "Ben/anything (1).ipynb",
        "Cleo": f"Cleo/{CHAPTER}.ipynb",
        "Dan": "Dan/a/b.ipynb",
        "Dan (2)": "Dan/c.ipynb",
    }


# ---- values


@pytest.mark.parametrize(
    "value",
    [None, True, 3, -(10**30), 1.5, float("inf"), "text", [1, [2.0, None]], (1, (2, 3)), {1, 2}, {"a": [1], 2: (3,)}, range(3), 2j],
    ids=repr,
)
def test_data_comes_back_as_it_was(value: Any) -> None:
    back = codec.decode(codec.encode(value))
    assert back == (list(value) if isinstance(value, range) else value)
    assert type(back) is (list if isinstance(value, range) else np.complex128 if isinstance(value, complex) else type(value))


@pytest.mark.parametrize(
    "array",
    [np.arange(6).reshape(2, 3).T, np.zeros((0, 4)), np.array([True, False]), np.array(["a", "bc"]), np.float32(2.5), np.array(7)],
    ids=str,
)
def test_arrays_come_back_as_they_were(array: Any) -> None:
    back = codec.decode(codec.encode(array))
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert (back == array).all()


def test_tensors_and_symbolic_numbers_come_back_as_numbers() -> None:
    import sympy
    import torch

    assert codec.decode(codec.encode(torch.ones(2, requires_grad=True))).tolist() == [1, 1]
    assert codec.decode(codec.encode((sympy.Rational(1, 4), sympy.true))) == (0.25, True)
    assert np.isclose(codec.decode(codec.encode([sympy.sqrt(2)])), 2**0.5)
    assert codec.decode(codec.encode(np.array([sympy.Integer(1), 2.5], dtype=object))).tolist() == [1, 2.5]


def test_what_is_no_data_says_what_it_was() -> None:
    found = codec.decode(codec.encode([iter([1]), object(), len]))
    assert [type(x).__name__ for x in found] == ["list_iterator", "object", "builtin_function_or_method"]
    with pytest.raises(TypeError):
        np.asarray(found[0]).astype(float)


FORGED = [
    "",
    "nothing",
    "[",
    '{"kind": "module"}',
    '{"kind": "array", "dtype": "|O", "shape": [1], "data": "AAAAAAAAAAA="}',
    '{"kind": "set", "items": [[1]]}',
    '{"kind": "array", "dtype": "<f8", "shape": [1000000000], "data": ""}',
    '{"kind": "float", "text": "1"}',
    "[" * 10_000 + "]" * 10_000,
]


@pytest.mark.parametrize("text", FORGED, ids=lambda text: text[:30])
def test_a_forged_value_is_refused(text: str) -> None:
    with pytest.raises(codec.CodecError):
        codec.decode(text)


def test_values_have_a_size_and_a_depth() -> None:
    with pytest.raises(codec.CodecError, match="bytes; 16,000,000 are allowed"):
        codec.encode(np.zeros(3_000_000))
    nested: list[Any] = []
    for _ in range(60):
        nested = [nested]
    with pytest.raises(codec.CodecError, match="nested more than 40 deep"):
        codec.encode(nested)


# ---- the process of an answer


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_library(tmp_path_factory.mktemp("library"))


def call(code: str, library: Path, *arguments: Any, times: int = 1) -> list[Any]:
    with Box(code, "f", LIMITS, library) as box:
        box.load()
        return [box.call(*arguments) for _ in range(times)]


def test_a_generator_goes_on_from_call_to_call(library: Path) -> None:
    rng, twin = np.random.default_rng(3), np.random.default_rng(3)
    assert call("def f(rng):\n    return rng.random()", library, rng, times=3) == [twin.random() for _ in range(3)]
    assert rng.random() == twin.random()


def test_a_function_among_the_arguments_is_called_here(library: Path) -> None:
    asked = []

    def square(x: float) -> float:
        asked.append(x)
        return x * x

    assert call("def f(g):\n    return g(2) + g(3.0)", library, square) == [13.0]
    assert asked == [2, 3.0]


def test_an_error_keeps_its_name_and_is_nothing_more(library: Path) -> None:
    code = "class Misconception(Exception):\n    pass\ndef f(x):\n    raise Misconception('passed')"
    with pytest.raises(Exception, match="passed") as caught:
        call(code, library, 1)
    assert type(caught.value).__name__ == "Misconception"
    assert type(caught.value).__mro__[1] is Exception


def test_random_answers_are_the_same_in_every_run(library: Path) -> None:
    code = (
        "import random\nimport numpy as np\nSEEN = random.random()\ndef f(x):\n    return SEEN, np.random.rand(), random.random()"
    )
    assert call(code, library, 1, times=2) == call(code, library, 1, times=2)


def test_an_answer_sees_no_folder_of_ours_and_no_network(library: Path) -> None:
    if not walls().files:
        pytest.skip(f"{walls()}")
    code = "import os\ndef f(path):\n    return sorted(os.listdir(path))"
    assert call(code, library, str(ROOT)) == [[".venv"]] or not Path(sys.prefix).is_relative_to(ROOT)
    for place in (Path.home() / ".cache", ROOT / "exercises", "/sys"):
        with pytest.raises(Exception, match="No such file"):
            call(code, library, str(place))


# ---- a class


def small_class(folder: Path, number: int) -> None:
    folder.mkdir(exist_ok=True)
    for k in range(number):
        (folder / f"student{k}.ipynb").write_text(notebook(RIGHT if k % 2 else answering("return scores")))


def test_a_killed_run_goes_on_and_only_what_changed_is_graded_again(tmp_path: Path) -> None:
    small_class(tmp_path / "in", 5)
    command = [sys.executable, "-m", "tools.grading.grade", str(tmp_path / "in"), "--chapter", CHAPTER, "--only", ID, "--jobs", "1"]

    def out(name: str) -> list[str]:
        return [*command, "--out", str(tmp_path / name)]

    whole = subprocess.run(out("whole"), cwd=ROOT, capture_output=True, text=True)
    assert "5 submissions, 5 to grade" in whole.stdout
    with subprocess.Popen(out("killed"), cwd=ROOT, stdout=subprocess.DEVNULL) as run:
        while len(list((tmp_path / "killed" / "results").glob("*.json"))) < 2:
            time.sleep(0.05)
        run.kill()
    again = subprocess.run(out("killed"), cwd=ROOT, capture_output=True, text=True)
    left = int(re.search(r"5 submissions, (\d) to grade", again.stdout)[1])
    assert 1 <= left <= 3
    assert (tmp_path / "killed" / "grades.csv").read_bytes() == (tmp_path / "whole" / "grades.csv").read_bytes()
    (tmp_path / "in" / "student0.ipynb").write_text(notebook(RIGHT))
    changed = subprocess.run(out("killed"), cwd=ROOT, capture_output=True, text=True)
    assert "5 submissions, 1 to grade" in changed.stdout
    rows = list(csv.DictReader((tmp_path / "killed" / "grades.csv").open()))
    assert [row[ID] for row in rows] == ["1", "1", "0", "1", "0"]


def test_points_given_by_hand_are_counted_and_never_lost(tmp_path: Path) -> None:
    name = next(task.id for task in tasks_of(CHAPTER) if task.id in PAPER)
    lines = len(PAPER[name].rubric)
    answer = nbformat.v4.new_markdown_cell(f"**Answer to exercise {name}:**\n\nBy induction.")
    (tmp_path / "in").mkdir()
    nbformat.write(nbformat.v4.new_notebook(cells=[answer]), tmp_path / "in" / "Ada.ipynb")
    (tmp_path / "in" / "Ben.ipynb").write_text(notebook(""))
    assignment, out = Assignment(CHAPTER, only=(name,), limits=LIMITS), tmp_path / "out"
    grade(tmp_path / "in", out, assignment, 1)
    table = list(csv.DictReader((out / "by-hand.csv").open()))
    assert len(table) == 2 * lines
    assert [row["points"] for row in table] == [""] * 2 * lines
    # Ben's notebook has no cell for the answer: a person must look for it
    assert [row["complete"] for row in csv.DictReader((out / "grades.csv").open())] == ["no", "no"]
    table[0] |= {"points": table[0]["possible"], "comment": "well begun"}
    with (out / "by-hand.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, table[0])
        writer.writeheader()
        writer.writerows(table)
    grade(tmp_path / "in", out, assignment, 1)
    row = next(csv.DictReader((out / "grades.csv").open()))
    assert (row["student"], row[name], row["complete"]) == ("Ada", table[0]["possible"], "no")
    assert "well begun" in (out / "feedback" / "Ada.html").read_text()
    assert "By induction." in (out / "feedback" / "Ada.html").read_text()
    (tmp_path / "in" / "Ada.ipynb").unlink()  # points of a notebook that is gone stay
    grade(tmp_path / "in", out, assignment, 1)
    assert read_hand(out / "by-hand.csv")["Ada", name, 1] == (table[0]["possible"], "well begun")
    spoiled = (out / "by-hand.csv").read_text().replace(f",{table[-1]['possible']},,", f",{table[-1]['possible']},99,", 1)
    (out / "by-hand.csv").write_text(spoiled)
    with pytest.raises(HandError, match=f"points = 99: must be from 0 to {table[-1]['possible']}"):
        grade(tmp_path / "in", out, assignment, 1)
    assert (out / "by-hand.csv").read_text() == spoiled


def test_an_answer_that_is_handed_in_later_is_read(tmp_path: Path) -> None:
    name = next(task.id for task in tasks_of(CHAPTER) if task.id in PAPER)
    assignment = Assignment(CHAPTER, only=(name,), limits=LIMITS)
    (tmp_path / "in").mkdir()

    def complete(*cells: str) -> tuple[str, str]:
        made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(cell) for cell in cells])
        nbformat.write(made, tmp_path / "in" / "Ada.ipynb")
        grade(tmp_path / "in", tmp_path / "out", assignment, 1)
        (row,) = csv.DictReader((tmp_path / "out" / "grades.csv").open())
        return row[name], row["complete"]

    mark = f"**Answer to exercise {name}:**\n\n*Write your answer here.*"
    assert complete(mark) == ("0", "yes")
    assert complete(mark, "My answer, in a cell below.") == ("", "no")
    assert complete(mark.replace("*Write your answer here.*", "By induction."), mark) == ("", "no")
    assert complete(f"# My answer\n\n{mark}") == ("", "no")


def test_the_points_of_one_whose_name_begins_with_an_apostrophe_count(tmp_path: Path) -> None:
    path = tmp_path / "by-hand.csv"
    head = "student,exercise,line,for,possible,points,comment\n"
    path.write_text(head + "'t Hooft,x,1,y,2,1,\n'=a,x,1,y,2,2,'- a step\n")
    assert read_hand(path) == {("'t Hooft", "x", 1): ("1", ""), ("=a", "x", 1): ("2", "- a step")}
    path.write_bytes((head + "M\xfcller,x,1,y,2,1,\n").encode("cp1252"))
    with pytest.raises(HandError, match="is not in UTF-8"):
        read_hand(path)


def test_names_that_are_long_or_no_utf_8_are_graded(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in (b"M\xfcller.ipynb", b"x" * 240 + b".ipynb"):
        (tmp_path / "in" / os.fsdecode(name)).write_text(notebook(RIGHT))
    grade(tmp_path / "in", tmp_path / "out", Assignment(CHAPTER, only=(ID,), limits=LIMITS), 2)
    rows = list(csv.DictReader((tmp_path / "out" / "grades.csv").open(encoding="utf-8")))
    assert [row[ID] for row in rows] == ["1", "1"]


def test_an_answer_that_shrinks_the_pipe_does_not_hold_the_grader(library: Path) -> None:
    code = (
        "import fcntl, sys, time\ndef f(x):\n    m = sys.modules['__main__']\n    fcntl.fcntl(m.IN, 1031, 4096)\n"
        "    m._read = lambda *a: time.sleep(1000)\n    return 1"
    )
    start = time.monotonic()
    with Box(code, "f", Limits(seconds=1), library) as box:
        box.load()
        box.call(1)
        with pytest.raises(Stopped, match="it took longer than 8 s"):
            box.call(np.zeros((200, 200)))
    assert time.monotonic() - start < 60


def test_of_the_hidden_check_no_argument_is_told(library: Path) -> None:
    with Box("def f(x):\n    raise ValueError(x)", "f", LIMITS, library) as box:
        box.load()
        with pytest.raises(Exception, match="secret"):
            box.call("secret")
        box.hidden = True
        with pytest.raises(Exception, match=r"^$"):
            box.call("secret")


def test_a_name_is_no_formula_and_no_path(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("=cmd|x", "x y: z", "<b>"):
        (tmp_path / "in" / f"{name}.ipynb").write_text(notebook(RIGHT))
    grade(tmp_path / "in", tmp_path / "out", Assignment(CHAPTER, only=(ID,), limits=LIMITS), 2)
    text = (tmp_path / "out" / "grades.csv").read_text()
    assert "\n'=cmd|x," in text
    pages = list((tmp_path / "out" / "feedback").iterdir())
    assert len(pages) == 3
    assert all("<b>" not in page.read_text() for page in pages)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere", "--chapter", CHAPTER], "submissions = 'nowhere': is no folder"),
        (["tests", "--chapter", CHAPTER], "submissions = 'tests': holds no notebook"),
        (["book", "--chapter", CHAPTER, "--only", "9-nothing"], "only = 9-nothing: is no exercise of"),
        (["tests", "--chapter", "07"], "invalid choice"),
    ],
)
def test_a_command_that_makes_no_sense_is_told(arguments: list[str], says: str) -> None:
    done = subprocess.run([sys.executable, "-m", "tools.grading.grade", *arguments], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert says in done.stderr


def test_the_worked_example_of_the_chapter_is_what_the_grader_says(tmp_path: Path) -> None:
    write_class(tmp_path / "in")
    grade(tmp_path / "in", tmp_path / "out", Assignment(EXAMPLE, limits=LIMITS), 2)
    rows = [[cell for i, cell in enumerate(row) if i != 1] for row in csv.reader((tmp_path / "out" / "grades.csv").open())]
    page = (ROOT / "book" / "for_instructors.md").read_text().splitlines()
    start = next(k for k, line in enumerate(page) if line.startswith("| student |"))
    shown = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in page[start : start + 9] if not line.startswith("|---")
    ]
    assert shown == rows


def test_the_grades_are_in_nbgraders_database_too(tmp_path: Path) -> None:
    api = pytest.importorskip("nbgrader.api", reason="nbgrader is not installed")
    small_class(tmp_path / "in", 2)
    assignment = Assignment(CHAPTER, only=(ID, next(task.id for task in tasks_of(CHAPTER) if task.id in PAPER)), limits=LIMITS)
    for _ in range(2):  # a second run finds the book there
        grade(tmp_path / "in", tmp_path / "out", assignment, 2)
    with api.Gradebook(f"sqlite:///{tmp_path / 'out' / 'gradebook.db'}") as book:
        scores = {
            s: book.find_grade(f"exercise-{ID.replace('.', '-')}-check", CHAPTER, CHAPTER, s).score
            for s in ("student0", "student1")
        }
        assert book.find_submission(CHAPTER, "student1").max_score == 11
    assert scores == {"student0": 0, "student1": 1}
