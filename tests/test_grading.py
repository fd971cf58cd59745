"""Grading: hostile and broken notebooks are zeros with a true reason, and change nobody else's grade."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest

from exercises.catalogue import PAPER, SOURCES
from tools.editions import class_mark, tasks_of
from tools.example_class import CHAPTER as EXAMPLE
from tools.example_class import write_class
from tools.grading import codec, report, sandbox
from tools.grading import grade as grade_module
from tools.grading.answers import Program, SubmissionError, programs_of, read_submission
from tools.grading.grade import Assignment, Question, Result, _chapter_of, _run_folder, grade, main, submissions_in
from tools.grading.report import HandError, RefusedError, read_hand
from tools.grading.sandbox import Box, Limits, Stopped, copy_library, walls
from tools.settings import ROOT
from topiclib.checks.base import Verdict

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
        "NameError.*no module|NameError",
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
    "starts a process": (answering("return subprocess.check_output('id')", "import subprocess"), "a process"),
    "forks": (answering("os.fork()", "import os"), "a process"),
    "uses the network": (answering("socket.create_connection(('192.0.2.1', 80))", "import socket"), "the network"),
    "kills its parent": (answering("os.kill(os.getppid(), 9)", "import os"), "a process"),
    "uses C": (answering("ctypes.CDLL(None)", "import ctypes"), "the system's libraries"),
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
        "a process",
    ),
    "maps memory": (answering("return len(mmap.mmap(-1, 2 << 30))", "import mmap"), "too much memory"),
    "fills the disk": (
        answering("[open(str(k), 'wb').write(b'0' * 10**7) for k in range(40)]"),
        "OSError|No space|too large a file|memory",
    ),
    "a chain of names": (
        notebook("\n".join(f"a{k} = a{k + 1}" for k in range(3000)) + "\na3000 = 1\ndef column_softmax(scores):\n    return a0"),
        "too often to be followed",
    ),
    "a name that is changed 15,000 times": (
        notebook("x = 1\n" + "x = x + x\n" * 15_000 + "def column_softmax(scores):\n    return x"),
        "too often to be followed",
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
    "forks behind the guard's back": (
        answering("__main__.FORBIDDEN = ()\n    while os.fork(): pass\n    time.sleep(25)", "import __main__, os, time"),
        "a process",
    ),
    "maps memory in pieces": (
        answering(
            "kept = [mmap.mmap(-1, 1 << 28) for _ in range(8)]\n    for m in kept: m.write(b'x' * (1 << 28))\n    return scores",
            "import mmap",
        ),
        "memory|MemoryError",
    ),
    "imports the check's own computation": (
        answering("return _by_differences(scores)", "from topiclib.checks.section_3_3 import _by_differences"),
        "NameError.*before that",
    ),
    "a deep expression": (notebook("def column_softmax(scores):\n    raise x" + ".y" * 900), "nested too deep|NameError"),
    "three thousand commands": (
        notebook("!ls\n" * 3000 + "def column_softmax(scores): return 0"),
        "no cell defines|not Python|shape",
    ),
    "a message of 20 MB": (
        answering(
            'os.write(int(sys.argv[2]), b\'{"error": "A", "message": "\' + b\'x\' * 20_000_000 + b\'"}\\n\')', "import os, sys"
        ),
        "raised A|returned too much",
    ),
    "format 99": (json.dumps({"nbformat": 99, "cells": []}), "of format 99"),
    "no notebook": ("{}", "no Jupyter notebook"),
    "a list": ("[1, 2]", "no Jupyter notebook"),
    "empty file": ("", "no Jupyter notebook"),
    "binary garbage": (bytes(range(256)) * 99, "no Jupyter notebook"),
    "deeply nested": ("[" * 100_000, "no Jupyter notebook"),
    "50 MB of output": ('{"nbformat": 4, "cells": [], "x": "' + "x" * 50_000_000 + '"}', "50 MB; 20 are allowed"),
}
CHECKED = f'check("{ID}", column_softmax)'
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
    # Later cells that use a name for something else: what counts is the state in which the notebook called the check.
    "a helper of the same name behind its check": notebook(
        "import numpy as np\ndef e(x): return np.exp(x - x.max(axis=0))\n"
        "def column_softmax(scores):\n    return e(scores) / e(scores).sum(axis=0)",
        CHECKED,
        "def e(x, y): return 0",
    ),
    "a scratch cell that rebinds what it needs": notebook(
        "import numpy as np\nAXIS = 0", RIGHT.replace("axis=0", "axis=AXIS"), CHECKED, "for AXIS in (1, 0.5): print(AXIS)", "np = 3"
    ),
    "its own name rebound": notebook(RIGHT, CHECKED, "column_softmax = column_softmax(np.eye(2))"),
    "its own name in a loop, without a check": notebook(RIGHT, "for column_softmax in (1, 2): pass"),
    "a name that the chapter uses": notebook(
        "import transformers, ctypes\nf = ctypes.CDLL(None)",
        "import numpy as np\ndef f(x): return np.exp(x - x.max(axis=0))\n"
        "def column_softmax(scores):\n    return f(scores) / f(scores).sum(axis=0)",
    ),
    "scratch calls of its helper that fail": notebook(
        "helper(np.eye(3))",
        "import numpy as np\ndef helper(s):\n    e = np.exp(s - s.max(axis=0))\n    return e / e.sum(axis=0)\n"
        "def column_softmax(scores):\n    return helper(scores)",
        "helper([1, 2])",
        "helper(eval(input()))",
        "x = undefined(3)\nhelper(x)",
    ),
    "display in it": notebook(RIGHT.replace("    weights", "    display(scores)\n    weights", 1)),
    "a magic in it": notebook(RIGHT.replace("    weights", "    %timeit 1 + 1\n    weights", 1)),
    "what its cell sets in a module": notebook(
        "import torch\ntorch.set_default_dtype(torch.float64)\nONE = torch.ones(1)\n"
        "def column_softmax(scores):\n    return torch.softmax(torch.tensor(scores) @ torch.eye(scores.shape[1]), 0) * ONE"
    ),
    "a table filled by a comprehension": notebook(
        "axes = []\n[axes.append(k) for k in range(1)]", RIGHT.replace("axis=0", "axis=axes[0]")
    ),
    "an import of everything that is not there": notebook("from google.colab.widgets import *\nfrom math import *", RIGHT),
    "backwards": notebook(RIGHT.replace("axis=0", "axis=AXIS"), "AXIS = TABLE[0]", "TABLE = [0]", "import numpy as np"),
    "a counter at the function": notebook(
        RIGHT.replace("    weights", "    column_softmax.calls += 1\n    weights", 1), "column_softmax.calls = 0"
    ),
    "threads": notebook(
        "from concurrent.futures import ThreadPoolExecutor\nimport numpy as np\ndef column_softmax(scores):\n"
        "    with ThreadPoolExecutor(4) as pool:\n"
        "        e = np.exp(list(pool.map(lambda row: row, scores - scores.max(axis=0))))\n    return e / e.sum(axis=0)"
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
    assert len(question.reason) < 1000


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


def program_of(found: Any, function: str) -> Program:
    """An answer as it stood when the notebook checked it."""
    return programs_of(found, "exercise", function)[0]


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
    assert "SCALE = 2" not in code  # nothing sees it any more
    assert code.index("SCALE = 4") < code.index("def answer")
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
    found = {student: handed.file for student, handed in submissions_in(tmp_path, CHAPTER).items()}
    assert found == {
        "Ada": "Ada.ipynb",
        "Ben": "Ben/anything (1).ipynb",
        "Cleo": f"Cleo/{CHAPTER}.ipynb",
        "Dan": "Dan/c.ipynb",
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
    with Box((code,), "f", LIMITS, library) as box:
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
    kept = {row[:3]: given for row, given in read_hand(out / "by-hand.csv").items()}
    assert kept["Ada", name, 1] == (table[0]["possible"], "well begun")
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
    assert read_hand(path) == {("'t Hooft", "x", 1, ""): ("1", ""), ("=a", "x", 1, ""): ("2", "- a step")}
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
    with Box((code,), "f", Limits(seconds=1), library) as box:
        box.load()
        box.call(1)
        with pytest.raises(Stopped, match="it took longer than 8 s"):
            box.call(np.zeros((200, 200)))
    assert time.monotonic() - start < 60


def test_of_the_hidden_check_no_argument_is_told(library: Path) -> None:
    with Box(("def f(x):\n    raise ValueError(x)",), "f", LIMITS, library) as box:
        box.load()
        with pytest.raises(Exception, match="secret"):
            box.call("secret")
        box.hidden = True
        with pytest.raises(Exception, match=r"^$"):
            box.call("secret")


@pytest.mark.parametrize(
    "body",
    [
        "raise type('secret' + str(x), (Exception,), {})",
        'import sys, os; os.write(int(sys.argv[2]), b\'{"violation": "secret"}\\n\'); return 0',
        "return type('secret', (), {})()",
        "return numpy.zeros((0, 31415))",
    ],
)
def test_nor_is_it_told_by_names_of_classes_by_the_channel_or_by_shapes(
    body: str, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exercise = SOURCES[ID]
    monkeypatch.setattr(
        grade_module, "check", lambda *_, **__: Verdict(ID, "passed", "")
    )  # so that the hidden one is asked at once
    program = Program(("import numpy", f"def column_softmax(x):\n    {body}"))
    question = grade_module._grade_question(exercise, program, LIMITS, library, ())
    assert question.points == 0
    assert question.reason
    assert not re.search("secret|31415", question.reason)


def test_a_proof_in_a_code_cell_waits_for_a_person(tmp_path: Path) -> None:
    given = "# By symmetry all copies\n# get the same weight."
    cells = [nbformat.v4.new_markdown_cell("**Answer to exercise 3.3-paper-copies:**"), nbformat.v4.new_code_cell(given)]
    path = tmp_path / "Ada.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    assert read_submission(path).texts == [given]
    assert grade_module._paper(read_submission(path), Assignment(CHAPTER))["3.3-paper-copies"] is None


def test_two_boxes_are_two_users(library: Path) -> None:
    with Box(("def f(): return 1",), "f", LIMITS, library) as one, Box(("def f(): return 1",), "f", LIMITS, library) as other:
        assert one.user != other.user


def test_memory_that_processes_share_ends_with_the_box(library: Path) -> None:
    """Without namespaces of its own for it, System V memory stays on the machine."""
    code = (
        "import ctypes\nlibc = ctypes.CDLL(None)\ndef f():\n    return libc.shmget(0x5EA5EA, 1 << 20, 0o1666)\n",
        "def g():\n    return libc.shmget(0x5EA5EA, 1 << 20, 0o666)\n",
    )
    command = [sys.executable, "-c", "".join(code) + "print(f())"]
    folder = Path(tempfile.mkdtemp(dir=library))
    (folder / "work").mkdir()
    inner = sandbox._in_namespaces(folder, command, sandbox.FIRST_USER, files=False, network=True, processes=True)
    assert int(subprocess.run(inner, capture_output=True, text=True).stdout) >= 0
    again = [sys.executable, "-c", code[0].partition("\ndef")[0] + "\n" + code[1] + "print(g())"]
    assert int(subprocess.run(again, capture_output=True, text=True).stdout) == -1


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
    rows = [[cell for i, cell in enumerate(row) if i not in (1, 2)] for row in csv.reader((tmp_path / "out" / "grades.csv").open())]
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
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(2):  # a second run finds the book there
            grade(tmp_path / "in", tmp_path / "out", assignment, 2)
    assert not [str(warning.message) for warning in said if "not in session" in str(warning.message)]
    with api.Gradebook(f"sqlite:///{tmp_path / 'out' / 'gradebook.db'}") as book:
        scores = {
            s: book.find_grade(f"exercise-{ID.replace('.', '-')}-check", CHAPTER, CHAPTER, s).score
            for s in ("student0", "student1")
        }
        assert book.find_submission(CHAPTER, "student1").max_score == 11
    assert scores == {"student0": 0, "student1": 1}


# ---- what instructors do


PAPER_NAME = next(task.id for task in tasks_of(CHAPTER) if task.id in PAPER)
ASSIGNED = Assignment(CHAPTER, only=(ID, PAPER_NAME), limits=LIMITS)
ON_PAPER = Assignment(CHAPTER, only=(PAPER_NAME,), limits=LIMITS)


def place(folder: Path, **files: str) -> None:
    """Files by name; ``__`` for a folder within and ``_`` for a name that Python takes."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)


def on_paper(text: str, **metadata: Any) -> str:
    cell = nbformat.v4.new_markdown_cell(f"**Answer to exercise {PAPER_NAME}:**\n\n{text}")
    return nbformat.writes(nbformat.v4.new_notebook(cells=[cell], metadata=metadata))


BLANK = notebook('def column_softmax(scores):\n    """Softmax."""\n    raise NotImplementedError("your answer")')


def test_of_several_notebooks_the_answered_one_counts_and_the_others_are_named(tmp_path: Path) -> None:
    place(
        tmp_path,
        **{
            f"Ada/{CHAPTER} (2).ipynb": notebook(RIGHT),
            f"Ada/{CHAPTER} (10).ipynb": notebook(RIGHT),
            f"Bob/{CHAPTER}.ipynb": BLANK,
            f"Bob/Copy of {CHAPTER}.ipynb": notebook(RIGHT),
            f"Cleo/{CHAPTER}.ipynb": on_paper("By induction."),
            f"Cleo/{CHAPTER} (1).ipynb": on_paper("*Write your answer here.*"),
            "Cleo/notes.ipynb": notebook(RIGHT, RIGHT),
            "Dan/appendix_d_4.ipynb": "{}",
        },
    )
    found = submissions_in(tmp_path, CHAPTER)
    assert {student: handed.file for student, handed in found.items()} == {
        "Ada": f"Ada/{CHAPTER} (10).ipynb",
        "Bob": f"Bob/Copy of {CHAPTER}.ipynb",
        "Cleo": f"Cleo/{CHAPTER}.ipynb",
        "Dan": "Dan/appendix_d_4.ipynb",
    }
    assert found["Bob"].note == f"of 2 notebooks Copy of {CHAPTER}.ipynb counts; left out: {CHAPTER}.ipynb"
    assert found["Cleo"].note.endswith(f"left out: {CHAPTER} (1).ipynb, notes.ipynb")
    assert found["Dan"].note == ""
    assert _chapter_of(Path("Appendix_D_4 (1).ipynb")) == "appendix_d_4"


def test_nobody_vanishes_who_handed_in_something_else(tmp_path: Path) -> None:
    wanted = {
        "Ben/x.ipynb.txt": "Ben",
        "Dan/all.zip": "Dan",
        "Eve/solution.py": "Eve",
        "Jim.ipynb.json": "Jim",
        "Kim.tar.gz": "Kim.tar",
        "Mo.ipynb.txt": "Mo",
        ".git/x": "",
        "__MACOSX/x": "",
        "README.txt": "",
        "by-hand.csv": "",
        "graded/report.json": "",
        "graded/grades.csv": "",
        "graded/feedback/Ada.html": "",
    }
    place(tmp_path / "in", **dict.fromkeys(wanted, "x"), **{"Cy/X.IPYNB": notebook(RIGHT), "Ida.IPYNB": notebook(RIGHT)})
    (tmp_path / "in" / "Lea").mkdir()
    grade(tmp_path / "in", tmp_path / "out", ON_PAPER, 2)
    rows = {row["student"]: row for row in csv.DictReader((tmp_path / "out" / "grades.csv").open())}
    assert set(rows) == {*wanted.values(), "Cy", "Ida", "Lea"} - {""}
    assert (rows["Cy"]["file"], rows["Ida"]["file"], rows["Dan"]["file"]) == ("Cy/X.IPYNB", "Ida.IPYNB", "")
    assert rows["Dan"]["note"] == "handed in no .ipynb: found all.zip"
    assert rows["Lea"]["note"] == "handed in no .ipynb: found nothing"
    assert (rows["Jim"]["points"], rows["Jim"]["complete"]) == ("0", "yes")
    assert "found Jim.ipynb.json" in (tmp_path / "out" / "feedback" / "Jim.html").read_text()


def test_no_name_is_too_long(tmp_path: Path) -> None:
    for name in ("\U00020000" * 62, "漢" * 80, "漢" * 79 + "字"):
        place(tmp_path / "in", **{f"{name}.ipynb": on_paper("By induction.")})
    grade(tmp_path / "in", tmp_path / "out", ON_PAPER, 2)
    for folder in ("feedback", "results"):
        names = os.listdir(tmp_path / "out" / folder)
        assert len(names) == 3
        assert max(len(name.encode()) for name in names) < 150


def test_a_class_in_a_folder_is_no_student(tmp_path: Path) -> None:
    def refused(folder: str, *names: str) -> None:
        place(tmp_path / folder, **{f"week 2/{name}.ipynb": notebook(RIGHT) for name in names})
        with pytest.raises(
            RefusedError, match=f"its folder 'week 2' holds {len(names)} notebooks under different names; if that is"
        ):
            submissions_in(tmp_path / folder, CHAPTER)

    refused("by student", "Ada", "Ben")
    refused("with the chapter", f"Ada_{CHAPTER}", f"Ben_{CHAPTER}")
    refused("in folders", f"Ada/{CHAPTER}", f"Ben/{CHAPTER}")
    place(tmp_path / "beside", **{f"Zoe/{CHAPTER}.ipynb": notebook(RIGHT)})
    refused("beside", "Ada", "Ben", "Cleo")
    place(tmp_path / "one", **{f"Ada/{name}.ipynb": notebook(RIGHT) for name in ("x", "x (1)", "Copy of x", "x-Copy2")})
    assert list(submissions_in(tmp_path / "one", CHAPTER)) == ["Ada"]


def outcome(student: str = "Ada", **changes: Any) -> Result:
    """As if it had been graded."""
    questions = changes.pop("questions", (Question(ID, "passed", "passed.", 1),))
    return Result(student, f"{student}.ipynb", CHAPTER, questions, **changes)


@pytest.fixture
def reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, dict[str, str]]]:
    """Writes the reports, without nbgrader's book; gives the rows by student."""
    monkeypatch.setattr(report, "write_gradebook", lambda *_: False)

    def write(*results: Result, assignment: Assignment = ASSIGNED) -> dict[str, dict[str, str]]:
        report.write(results, assignment, tmp_path, "")
        return {row["student"]: row for row in csv.DictReader((tmp_path / "grades.csv").open())}

    return write


def give(folder: Path, **columns: str) -> list[dict[str, str]]:
    """Fill columns of all rows of by-hand.csv where they are empty, as a person does; what the table was then."""
    table = list(csv.DictReader((folder / "by-hand.csv").open()))
    with (folder / "by-hand.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, table[0])
        writer.writeheader()
        writer.writerows([row | {name: row[name] or value for name, value in columns.items()} for row in table])
    return table


def test_points_for_one_text_do_not_count_for_another(
    tmp_path: Path, reported: Callable[..., dict[str, dict[str, str]]], capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = outcome(paper={PAPER_NAME: "By induction."}), outcome(paper={PAPER_NAME: "By magic."})
    lines = len(PAPER[PAPER_NAME].rubric)
    assert reported(first)["Ada"]["complete"] == "no"
    give(tmp_path, points="1", comment="well begun")
    done = reported(first)["Ada"]
    assert (done[PAPER_NAME], done["complete"], done["note"]) == (str(lines), "yes", "")
    for _ in range(2):  # it is said as long as it is so
        waits = reported(second)["Ada"]
        assert (waits[PAPER_NAME], waits["points"], waits["complete"]) == ("", "1", "no")
        assert waits["note"] == f"{PAPER_NAME}: answer changed since points were given"
        assert "answer changed since points were given" in capsys.readouterr().err
    table = give(tmp_path)
    assert sum(row["for"].startswith("not counted") and row["comment"] == "well begun" for row in table) == lines
    assert len(table) == 2 * lines
    assert reported(first)["Ada"] == done  # the text that was read, again
    assert reported(outcome(paper={PAPER_NAME: ""}))["Ada"]["complete"] == "no"
    # Emptied by hand: the points hold for what is there now
    reported(second)
    text = (tmp_path / "by-hand.csv").read_text()
    (tmp_path / "by-hand.csv").write_text(text.replace("," + report.answer_mark(first, PAPER_NAME), ","))
    assert reported(second)["Ada"][PAPER_NAME] == str(lines)


def test_an_answer_that_may_stand_elsewhere_has_a_mark_too(
    tmp_path: Path, reported: Callable[..., dict[str, dict[str, str]]]
) -> None:
    reported(outcome(written="a"))
    give(tmp_path, points="1")
    assert reported(outcome(written="a"))["Ada"]["complete"] == "yes"
    assert reported(outcome(written="b"))["Ada"]["complete"] == "no"
    assert reported(outcome(written="b", problem="it is no Jupyter notebook"))["Ada"]["complete"] == "no"
    place(tmp_path / "in", **{"Ada.ipynb": notebook(RIGHT), "Ben.ipynb": "1", "Cleo.ipynb": "2"})
    cell = nbformat.v4.new_markdown_cell("My answer.")
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "in" / "Dan.ipynb")
    found = [result.written for result in grade(tmp_path / "in", tmp_path / "out", ON_PAPER, 2)]
    assert len(set(found)) == 4


def test_a_table_without_marks_is_taken_for_what_is_there_now(
    tmp_path: Path, reported: Callable[..., dict[str, dict[str, str]]]
) -> None:
    head = "student,exercise,line,for,possible,points,comment\n"
    lines = [f"Ada,{PAPER_NAME},{k},,,1,\n" for k in range(1, len(PAPER[PAPER_NAME].rubric) + 1)]
    (tmp_path / "by-hand.csv").write_text(head + "".join(lines))
    assert reported(outcome(paper={PAPER_NAME: "By induction."}))["Ada"]["complete"] == "yes"
    assert reported(outcome(paper={PAPER_NAME: "By magic."}))["Ada"]["complete"] == "no"


def test_a_folder_holds_one_class_and_one_chapter(tmp_path: Path, reported: Callable[..., dict[str, dict[str, str]]]) -> None:
    reported(outcome())
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    place(tmp_path / "in", **{"Ada.ipynb": notebook(RIGHT)})
    with pytest.raises(RefusedError, match=r"holds grades of a class with another CLASS_SEED; give another folder \(OUT="):
        grade(tmp_path / "in", tmp_path, replace(ASSIGNED, seed="spring"), 1)
    with pytest.raises(RefusedError, match=f"holds grades of the chapter '{CHAPTER}'"):
        grade(tmp_path / "in", tmp_path, Assignment("preface"), 1)
    assert {path: path.read_bytes() for path in before} == before


def test_each_class_has_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[Path] = []
    monkeypatch.setattr(grade_module, "grade", lambda _submissions, out, *_: used.append(out) or [])
    for seed in ([], ["--class-seed=autumn, group B"], ["--class-seed=-autumn, group B"], ["--class-seed=漢"]):
        assert main([str(tmp_path), "--chapter", CHAPTER, "--unprotected", *seed]) == 0
    assert used[0] == ROOT / "_build" / "grades" / CHAPTER
    assert {path.name for path in used} == {CHAPTER}
    assert used[1].parent.name == f"autumn-group-b-{class_mark('autumn, group B')[:6]}"
    assert used[2].parent.name == f"autumn-group-b-{class_mark('-autumn, group B')[:6]}"
    assert used[3].parent.name.startswith("class-")
    assert 'class-seed "' not in (ROOT / "Makefile").read_text()  # --class-seed -autumn would be two options


def test_a_wrong_seed_or_chapter_for_all_is_the_commands_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("Ada", "Ben"):
        place(tmp_path / "seed", **{f"{name}.ipynb": on_paper("x", topiclib={"chapter": CHAPTER, "class": "abc"})})
        place(tmp_path / "chapter", **{f"{name}.ipynb": on_paper("x", topiclib={"chapter": "preface", "class": ""})})
    place(tmp_path / "seed", **{"Gil.ipynb": "no notebook", "Hal.zip": "x"})
    out = tmp_path / "out"
    for folder, says in (
        ("seed", r"class_seed is not given: every notebook \(2\) was made for a class with another CLASS_SEED"),
        ("chapter", rf"chapter = '{CHAPTER}': every notebook \(2\) is of another chapter \('preface'"),
    ):
        with pytest.raises(RefusedError, match=says):
            grade(tmp_path / folder, out, ON_PAPER, 1)
        assert not out.exists()
    place(tmp_path / "chapter", **{"Cleo.ipynb": on_paper("x", topiclib={"chapter": CHAPTER, "class": ""})})
    grade(tmp_path / "chapter", out, ON_PAPER, 1)
    assert "2 of 3 notebooks are of another class or chapter" in capsys.readouterr().err


HEAD = "student,exercise,line,for,possible,points,comment\n"
BAD_TABLES = {
    "long": (f"Ada,{PAPER_NAME},1,,,1,{'x' * 140_000}\n", "line 2: a cell of it has more than 131,072 characters"),
    "unclosed": (
        f'Ada,{PAPER_NAME},1,,,1,fine\nBen,{PAPER_NAME},1,,,1,"so\nCleo,x,1,,,1,\n',
        'line 3: a quote \\("\\) in it is not',
    ),
    "swallowed": (f'Ada,{PAPER_NAME},1,,,1,"so\nBen,{PAPER_NAME},1,"a, b",1,1,\n', 'line 2: a quote \\("\\) in it is not'),
    "exercise": ("Ada,9-x,1,,,1,\n", f"line 2: exercise = '9-x': must be one of {PAPER_NAME}"),
    "line": (f"Ada,{PAPER_NAME},99,,,1,\n", f"line 2: line = '99': must be from 1 to {len(PAPER[PAPER_NAME].rubric)}"),
    "no line": (f"Ada,{PAPER_NAME},one,,,1,\n", "line 2: line = 'one': must be from 1 to"),
    "comma": (f"Ada,{PAPER_NAME},1,,,1,good, but late\n", "line 2: has more cells than there are columns"),
    "number": (f"Ada,{PAPER_NAME},1,,,one,\n", "line 2: points = one: must be from 0 to"),
    "not a number": (f"Ada,{PAPER_NAME},1,,,nan,\n", "line 2: points = nan: must be from 0 to"),
    "other possible": (f"Ada,{PAPER_NAME},1,,99,98,\n", "line 2: points = 98: must be from 0 to"),
    "twice": (f"Ada,{PAPER_NAME},1,,,1,\nAda,{PAPER_NAME},1,,,0,\n", f"line 3: 'Ada', {PAPER_NAME}, line 1 stands there twice"),
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_what_is_wrong_in_the_table_of_points_is_said_with_its_line(tmp_path: Path, name: str) -> None:
    content, says = BAD_TABLES[name]
    (tmp_path / "by-hand.csv").write_text(HEAD + content)
    with pytest.raises(HandError, match=says):
        report.write([outcome()], ASSIGNED, tmp_path, "")
    assert (tmp_path / "by-hand.csv").read_text() == HEAD + content
    assert len(list(tmp_path.iterdir())) == 1


def test_rows_that_say_nothing_are_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "by-hand.csv").write_text(HEAD + f",,,,,,\n\nAda,9-x,77,,,,\nAda,{PAPER_NAME},1,,,1,\n")
    assert read_hand(tmp_path / "by-hand.csv", [PAPER_NAME]) == {("Ada", PAPER_NAME, 1, ""): ("1", "")}


@pytest.mark.parametrize("value", ["0", "-5", "nan", "inf", "1e9", "many"])
def test_a_time_that_is_none_is_refused(value: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["book", "--chapter", CHAPTER, f"--seconds={value}"])
    assert f"argument --seconds: {value!r}: must be a number above 0 and at most 600" in capsys.readouterr().err


def test_where_the_grader_failed_a_person_has_to_look(reported: Callable[..., dict[str, dict[str, str]]]) -> None:
    asked = (Question(ID, "stopped", "the grader failed (ValueError); grade this question by hand", 0),)
    rows = reported(
        outcome("Ada", questions=asked, paper={PAPER_NAME: ""}),
        outcome("Ben", problem="it made the grader fail; grade this notebook by hand"),
        outcome("Cleo", problem="the grader needed too long for it; grade it by hand"),
        outcome("Dan", problem="it is no Jupyter notebook (KeyError)"),
    )
    assert [(row[PAPER_NAME], row["complete"]) for row in rows.values()] == [("0", "no"), ("", "no"), ("", "no"), ("0", "yes")]


def test_a_page_has_the_total_and_pages_of_others_go(tmp_path: Path, reported: Callable[..., dict[str, dict[str, str]]]) -> None:
    failed = (Question(ID, "wrong", "your function raised ValueError: ", 0),)
    reported(outcome("Ada", paper={PAPER_NAME: ""}), outcome("Ben", questions=failed, paper={PAPER_NAME: "x"}))
    page = (tmp_path / "feedback" / "Ada.html").read_text()
    assert f"<strong>1 of {1 + PAPER[PAPER_NAME].points} points</strong>" in page
    assert f"<td>0 of {PAPER[PAPER_NAME].rubric[0][0]}</td>" in page
    assert "?" not in page
    page = (tmp_path / "feedback" / "Ben.html").read_text()
    assert "points</strong>; not complete" in page
    assert "your function raised ValueError</td>" in page
    place(tmp_path / "feedback", **{"index.html": "mine"})
    reported(outcome("Ben"))
    assert sorted(os.listdir(tmp_path / "feedback")) == ["Ben.html", "index.html"]


@pytest.fixture
def grading(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A grader at an answer that sleeps, in a session of its own, with a folder of its own for temporary files."""
    (tmp_path / "tmp").mkdir()
    place(tmp_path / "in", **{"Ada.ipynb": notebook(RIGHT), "Ben.ipynb": answering("import time; time.sleep(1000)")})
    command = [sys.executable, "-m", "tools.grading.grade", str(tmp_path / "in"), "--chapter", CHAPTER, "--only", ID, "--jobs", "2"]
    run = subprocess.Popen(
        [*command, "--out", str(tmp_path / "out")],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell that starts the tests in its background has them ignore it, and what they start
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        wait_for(lambda: list((tmp_path / "out" / "results").glob("Ada*.json")) and list((tmp_path / "tmp").glob("*/answer-*")))
        yield run
    finally:
        with suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)


def wait_for(condition: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_an_interrupt_is_one_sentence(tmp_path: Path, grading: subprocess.Popen[str]) -> None:
    os.killpg(grading.pid, signal.SIGINT)
    _, said = grading.communicate(timeout=30)
    assert grading.returncode == 130
    assert said == "\nInterrupted. Run the same command again: what was graded is kept.\n"
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_killed_grader_leaves_no_process_and_no_folder(tmp_path: Path, grading: subprocess.Popen[str]) -> None:
    grading.kill()
    # Its pipes are closed when the last of its processes has ended
    grading.communicate(timeout=30)
    wait_for(lambda: not list((tmp_path / "tmp").iterdir()), 10)
    assert str(tmp_path) not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout


def test_folders_of_dead_graders_are_removed_and_those_of_living_ones_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    place(tmp_path, **{"grading-1-dead/lock": "", "grading-1-dead/answer-x/work": "", "grading-mine/x": "", "answer-x/y": ""})
    with _run_folder() as first, _run_folder():
        assert first.is_dir()
        assert sorted(path.name for path in tmp_path.iterdir() if f"-{os.getpid()}-" not in path.name) == [
            "answer-x",
            "grading-mine",
        ]
    assert sorted(os.listdir(tmp_path)) == ["answer-x", "grading-mine"]
