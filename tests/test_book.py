"""The build fails on what it must fail on: planted faults in a copy of the book with one small chapter."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tools.notebooks import CHECKED_TAG, synced, write
from tools.settings import PLACEHOLDER, ROOT, setup_cell

TOC = "format: jb-book\nroot: book/small\nchapters:\n  - file: book/references\n  - file: book/claims\n  - file: book/about\n"
TEXT = """# Small

> **In this chapter**
> - **Paper:** none
> - **Time:** 5 minutes to read; the cells run in about 3 s on two CPU cores
> - **Before:** nothing
> - **After:** you know a small chapter

A claim of [0.5](#claim-half), a [box](#theorem-1), an [equation](#equation-1), [a book](references.md#devlin2019).

> **Theorem 1** (Small). It is small.

$$ a = b \\tag{1} $$
"""
CODE = 'claim("half", 0.5, "0.5")\n'


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the project whose book is one small chapter."""
    pages = (
        "*.ipynb",
        "07_related_work.md",
        "glossary.md",
        "results_map.md",
        "for_instructors.md",
        "larger_machines.md",
        "map.md",
        "mutation_table.md",
        "objectives.md",
    )
    keep = shutil.ignore_patterns(".venv", ".git", "_build", *pages, "__pycache__", ".*_cache", "*.egg-info")
    shutil.copytree(ROOT, tmp_path / "copy", ignore=keep)
    (tmp_path / "copy" / "_toc.yml").write_text(TOC)
    return tmp_path / "copy"


def build(copy: Path, text: str = TEXT, code: str = CODE) -> subprocess.CompletedProcess[str]:
    cells = [
        nbformat.v4.new_markdown_cell(text, id="title"),
        nbformat.v4.new_code_cell(setup_cell("small"), id="set-up"),
        nbformat.v4.new_code_cell(code, id="code"),
    ]
    write(copy / "book" / "small.ipynb", synced(nbformat.v4.new_notebook(cells=cells), "small"))
    subprocess.run([sys.executable, "-m", "tools.chapter_table", "sync"], cwd=copy, check=True)
    return subprocess.run([sys.executable, "-m", "tools.build"], cwd=copy, capture_output=True, text=True)


def test_a_clean_book_builds_and_collects_its_claims(copy: Path) -> None:
    result = build(copy)
    assert result.returncode == 0, result.stdout + result.stderr
    assert (copy / "_build" / "html" / "index.html").exists()
    assert "1 claims hold" in result.stdout
    page = (copy / "_build" / "html" / "book" / "small.html").read_text()
    assert 'id="theorem-1"' in page
    assert 'id="equation-1"' in page
    assert "tl-box" in page
    assert "repository.url in _config.yml is still the placeholder" in result.stdout
    assert "colab.research" not in page
    assert "OWNER/REPOSITORY/" not in page


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        pytest.param(TEXT, CODE + "raise RuntimeError('planted')", "planted", id="failing cell"),
        pytest.param(TEXT + "\n[gone](gone.ipynb)", CODE, "gone.ipynb", id="broken link to a chapter"),
        pytest.param(TEXT + '\n<a href="gone.html">gone</a>', CODE, "gone.html", id="broken link in HTML"),
        pytest.param(TEXT + "\n[gone](#theorem-99)", CODE, "theorem-99", id="broken cross-reference"),
        pytest.param(TEXT + "\n[gone](references.md#nobody1900)", CODE, "nobody1900", id="broken citation"),
        pytest.param(TEXT, 'claim("half", 0.6, "0.5")', "the text says", id="false claim"),
        pytest.param(TEXT, CODE + "import sys; print('oops', file=sys.stderr)", "stderr", id="output on stderr"),
        pytest.param(TEXT + '\n<img alt="x" src="https://example.org/x.png">', CODE, "from elsewhere", id="outside request"),
        pytest.param(TEXT + "\n[out](https://example.org)", CODE, "external link", id="unlisted external link"),
        pytest.param(TEXT + "\nAfter 999 steps.", CODE, "'999' is not asserted", id="number without a claim"),
        pytest.param(TEXT + "\n> **Theorem 1** (Again). Twice.", CODE, "theorem-1 stands in", id="second Theorem 1"),
        pytest.param(TEXT, CODE + "from IPython.display import HTML; HTML('<img src=\"data:,\">')", "no alt text", id="no alt"),
        pytest.param(TEXT, CODE + "import os; os._exit(1)", "kernel died", id="dead kernel"),
        pytest.param(
            TEXT, CODE + "from exercises.catalogue import EXERCISES", "only topiclib is installed", id="solutions imported"
        ),
    ],
)
def test_a_planted_fault_fails_the_build(copy: Path, text: str, code: str, said: str) -> None:
    result = build(copy, text, code)
    assert result.returncode != 0
    assert said in result.stdout + result.stderr


def test_a_page_outside_the_contents_fails_the_build(copy: Path) -> None:
    (copy / "book" / "stray.md").write_text("# Stray\n")
    result = build(copy)
    assert result.returncode != 0
    assert "book/stray is in book/ but not in _toc.yml" in result.stderr


def test_one_line_moves_the_repositorys_address_and_nothing_lags_behind(copy: Path) -> None:
    config = copy / "_config.yml"
    config.write_text(config.read_text().replace(PLACEHOLDER, "https://github.com/Ada/topics"))
    behind = build(copy)
    assert behind.returncode != 0
    assert "small: is not in step: run 'make notebooks'" in behind.stderr
    subprocess.run([sys.executable, "-m", "tools.notebooks", "sync"], cwd=copy, check=True)
    result = subprocess.run([sys.executable, "-m", "tools.build"], cwd=copy, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "placeholder" not in result.stdout
    page = (copy / "_build" / "html" / "book" / "small.html").read_text()
    assert "https://colab.research.google.com/github/Ada/topics/blob/gh-pages/colab/small.ipynb" in page
    assert "https://github.com/Ada/topics/edit/main/book/small.ipynb" in page
    assert "https://github.com/Ada/topics/issues/new" in page
    notebook = (copy / "_build" / "html" / "colab" / "small.ipynb").read_text()
    assert "https://ada.github.io/topics/book/small.html#claim-half" in notebook


def nbval(folder: Path, stored: str) -> int:
    """nbval's exit status for a chapter with one compared cell that prints 2 and stores ``stored``."""
    cell = nbformat.v4.new_code_cell("print(1 + 1)", id="sum", metadata={"tags": [CHECKED_TAG]})
    cell.outputs = [nbformat.v4.new_output("stream", text=f"{stored}\n")]
    write(folder / "small.ipynb", synced(nbformat.v4.new_notebook(cells=[cell]), "small"))
    command = [sys.executable, "-m", "pytest", "--nbval-lax", "--nbval-current-env", "-p", "no:cacheprovider", str(folder)]
    return subprocess.run(command, cwd=folder, capture_output=True).returncode


def test_nbval_compares_the_output_of_a_tagged_cell(tmp_path: Path) -> None:
    assert nbval(tmp_path, "2") == 0
    assert nbval(tmp_path, "3") == 1


def test_a_change_in_the_library_makes_cached_outputs_stale(copy: Path) -> None:
    code = CODE + "import topiclib\nprint('says', getattr(topiclib, 'planted', 'nothing'))"
    assert build(copy, code=code).returncode == 0
    page = copy / "_build" / "html" / "book" / "small.html"
    assert "says nothing" in page.read_text()
    library = copy / "topiclib" / "__init__.py"
    library.write_text(library.read_text() + "planted = 'something'\n")
    assert build(copy, code=code).returncode == 0
    assert "says something" in page.read_text()
