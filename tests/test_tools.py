"""The tools that keep the book honest: prose, notebooks, links, set-up."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
import pytest

from exercises.catalogue import EXERCISES
from tools import build, environment, notebooks
from tools.notebooks import chapters, exercise_cells, findings, read, synced, write
from tools.prose import claims_of, prose_findings
from tools.settings import ROOT, setup_cell
from tools.site import site_findings


def notebook(*cells: tuple[str, str, str]) -> nbformat.NotebookNode:
    made = [(nbformat.v4.new_markdown_cell if kind == "md" else nbformat.v4.new_code_cell)(text, id=i) for kind, i, text in cells]
    return nbformat.v4.new_notebook(cells=made)


CLAIM = (
    "code",
    "claims",
    'claim("ratio", 0.3412, "0.34", tol=0.005)\nclaim("many", 3600, "3,600")\nclaim("tiny", 0, "1e-20", bound="at most")',
)


@pytest.mark.parametrize(
    "text",
    [
        "The ratio is [0.34](#claim-ratio).",
        "A bare 0.34 that a claim states, and $x = 0.34$.",
        "3,600 steps and 3600 steps",
        "at most $10^{-20}$",
        "See Section 3.2, Theorems 1 and 2, equation 6, Table 2, Figure 10, point 3 and Appendix B.",
        "### 3.1 A heading\n\n1. a list\n2. of two",
        "Devlin et al. (2019), `code 99`, <b style='width:99px'>x</b>, ```\n99\n```",
        "> - **Time:** 25 minutes to read",
        r"$\frac{1}{N} \sum_{j=1}^{N} x_j^2$ and $\mathbf{W}_{10}$",
        r"$$ a = b + 1 \tag{16} $$",
    ],
)
def test_prose_without_a_loose_number_has_no_finding(text: str) -> None:
    body = text + " [0.34](#claim-ratio) [3,600](#claim-many) $10^{-20}$"
    assert list(prose_findings(notebook(CLAIM, ("md", "text", body)))) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The ratio is 0.35.", "0.35"),
        ("About 12% of them.", "12%"),
        ("After 500 steps.", "500"),
        ("It is $0.35$.", "0.35"),
        ("With $T = 12$ topics.", "12"),
        ("[0.35](#claim-ratio)", "claim 'ratio' says '0.34'"),
        ("[0.34](#claim-other)", "which no cell makes"),
        (r"Only $\\\\mathbf{b}^K$ drifts.", "one backslash too many"),
    ],
)
def test_prose_with_a_loose_or_wrong_number_has_a_finding(text: str, said: str) -> None:
    body = text + " [0.34](#claim-ratio) [3,600](#claim-many) $10^{-20}$"
    assert any(said in finding for finding in prose_findings(notebook(CLAIM, ("md", "text", body))))


FAR = (
    'claim("share", 0.12, "12%", tol=0.005)\nclaim("top", 9, "9", bound="at most", tol=1)\nclaim("unknown", 7, "7", bound=x, tol=1)'
)
OTHER = claims_of(notebook(("code", "claims", FAR)))[0]


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ("[12%](far.ipynb#claim-share)", None),
        ("[12% ± 0.5%](far.ipynb#claim-share)", None),
        ("[0.34 ± 0.005](#claim-ratio)", None),
        ("[9](far.ipynb#claim-top)", None),
        ("[13%](far.ipynb#claim-share)", "claim 'share' of far says '12%'"),
        ("[12% ± 1%](far.ipynb#claim-share)", "claim 'share' of far says '12%'"),
        ("[9 ± 1](far.ipynb#claim-top)", "claim 'top' of far says '9'"),
        ("[12%](far.ipynb#claim-gone)", "'gone' of far, which no cell makes"),
        ("[12%](gone.ipynb#claim-share)", "'share' of gone, which no cell makes"),
        ("12%, as [there](far.ipynb)", "'12%' is not asserted"),
        ("at most [9](far.ipynb#claim-top)", None),
        ("At least [9](far.ipynb#claim-top)", "says at most 9, the text the opposite"),
        ("−[12%](far.ipynb#claim-share)", "belongs into the link's text"),
        ("[12%](far.ipynb#claim-share) ± 0.34", "belongs into the link's text"),
        ("[0.34](#claim-ratio)%", "belongs into the link's text"),
        ("[0.34](#claim-ratio)e5", "belongs into the link's text"),
        ("[0.34](./far.ipynb#claim-share)", "that is not [number](#claim-name)"),
        ("0.34e5", "'0.34e5' is not asserted"),
        ("about ½ of them", "'½' is not asserted"),
        ("[7 ± 1](far.ipynb#claim-unknown)", "claim 'unknown' of far says '7'"),
    ],
)
def test_a_number_may_be_asserted_in_the_chapter_it_links_to(link: str, said: str | None) -> None:
    body = link + " [0.34](#claim-ratio) [3,600](#claim-many) $10^{-20}$"
    found = list(prose_findings(notebook(CLAIM, ("md", "text", body)), lambda name: OTHER if name == "far" else {}))
    assert any(said in finding for finding in found) if said else found == []


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ('claim("x", 1, "1")', "nowhere in the text"),
        ('n = "x"\nclaim(n, 1, "1")', "plain strings"),
        ('claim("x", 1, "1")\nclaim("x", 1, "1")', "occurs twice"),
    ],
)
def test_claims_that_cannot_be_checked_are_found(code: str, said: str) -> None:
    assert any(said in finding for finding in prose_findings(notebook(("code", "claims", code))))


@pytest.mark.parametrize("path", chapters(), ids=lambda p: p.stem)
def test_chapter_is_in_form(path: Path) -> None:
    assert list(findings(path)) == []


@pytest.mark.parametrize("path", chapters(), ids=lambda p: p.stem)
def test_chapter_has_what_every_chapter_has(path: Path) -> None:
    cells = read(path).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert cells[1].source == setup_cell(path.stem)
    for part in ("**In this chapter**", "**Paper:**", "**Time:**", "**Before:**", "**After:**", "## Summary", "## Exercises"):
        assert part in text
    assert len({cell.metadata.exercise for cell in cells if "exercise" in cell.metadata}) >= 3
    assert text.count("<summary>Answer</summary>") >= 3
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    assert "show(" in code or "slider(" in code


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda n: n.cells[0].update(id="1a2b3c4d"), "give it a name"),
        (lambda n: n.cells.append(nbformat.v4.new_code_cell("x = 1\n" * 26, id="long")), "at most 25"),
        (lambda n: n.cells.append(nbformat.v4.new_markdown_cell(":::{note}\nx\n:::", id="raw")), "MyST directive"),
        (lambda n: n.cells.append(nbformat.v4.new_markdown_cell("see {ref}`x`", id="role")), "MyST directive or role"),
        (lambda n: n.cells.append(nbformat.v4.new_markdown_cell("TODO", id="unfinished")), "unfinished"),
        (lambda n: n.cells[1].update(source="print('another set-up')"), "not in step"),
        (lambda n: n.cells[1].outputs.append(nbformat.v4.new_output("stream", text="x")), "not in step"),
        (lambda n: n.cells.append(nbformat.v4.new_markdown_cell("x")), "give it a name"),
    ],
)
def test_a_notebook_out_of_form_is_found(tmp_path: Path, change: object, said: str) -> None:
    chapter = synced(notebook(("md", "title", "# Title"), ("code", "set-up", "")), "chapter")
    path = tmp_path / "chapter.ipynb"
    write(path, chapter)
    assert list(findings(path)) == []
    change(chapter)  # type: ignore[operator]
    write(path, chapter)
    assert any(said in finding for finding in findings(path))


@pytest.mark.parametrize("text", ["<<<<<<< HEAD\n{}", '{"cells": [', "", "{}"])
def test_a_file_that_is_no_notebook_is_named(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "merged.ipynb").write_text(text)
    monkeypatch.setattr(notebooks, "BOOK", tmp_path / "book")
    for command in ("check", "sync"):
        assert notebooks.main([command]) == 1
        assert capsys.readouterr().err.startswith("book/merged.ipynb: is no notebook (")
    (finding,) = build.source_findings()
    assert finding.startswith("book/merged.ipynb: is no notebook (")
    assert (tmp_path / "book" / "merged.ipynb").read_text() == text


def test_sync_brings_an_exercise_up_to_date_and_keeps_the_rest() -> None:
    exercise = next(iter(EXERCISES.values()))
    old = exercise_cells(exercise)
    old[1].source = "stale"
    chapter = notebook(("md", "before", "before"), ("code", "checked", "print(1)"), ("md", "after", "after"))
    chapter.cells[1].metadata["tags"] = [notebooks.CHECKED_TAG]
    chapter.cells[1].outputs = [nbformat.v4.new_output("stream", text="1\n")]
    chapter.cells[2:2] = old
    fresh = synced(chapter, "chapter")
    assert [cell.id for cell in fresh.cells] == [cell.id for cell in chapter.cells]
    assert fresh.cells[3].source == exercise.answer_cell()
    assert fresh.cells[1].outputs[0].text == "1\n"


def test_no_chapter_holds_a_solution() -> None:
    for path in chapters():
        text = path.read_text()
        for exercise in EXERCISES.values():
            for line in exercise.reference.splitlines():
                imports = line.strip().startswith(("import ", "from "))  # a chapter may use what a solution uses
                if len(line.strip()) > 30 and line.strip() not in exercise.stub and not imports:
                    assert line.strip() not in text, f"{path.name} holds a line of {exercise.id}'s solution"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('<a href="gone.html">x</a>', "gone.html, which is not there"),
        ('<a href="#gone">x</a>', "no such anchor"),
        ('<a href="index.html#gone">x</a>', "no such anchor"),
        ('<img src="gone.png">', "gone.png, which is not there"),
        ('<script src="https://example.org/x.js"></script>', "from elsewhere"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "from elsewhere"),
        ('<a href="https://example.org">x</a>', "not in external_links.txt"),
    ],
)
def test_site_check_finds(tmp_path: Path, body: str, said: str) -> None:
    (tmp_path / "index.html").write_text(f'<p id="here">{body}</p>')
    assert any(said in finding for finding in site_findings(tmp_path))


def test_site_check_accepts_a_good_page_and_refuses_an_empty_site(tmp_path: Path) -> None:
    assert list(site_findings(tmp_path)) == [f"{tmp_path} has no pages"]
    good = (
        '<p id="here"><a href="#here">x</a><img alt="x" src="data:image/png;base64,AA"><a href="https://arxiv.org/abs/1">y</a></p>'
    )
    (tmp_path / "index.html").write_text(good)
    assert list(site_findings(tmp_path)) == []


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty checkout for the set-up, with its inputs."""
    for name in environment.INPUTS:
        (tmp_path / name).write_text((ROOT / name).read_text())
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    for name, path in {"VENV": ".venv", "MARK": ".venv/made-by-the-course", "STAMP": ".venv/ready"}.items():
        monkeypatch.setattr(environment, name, tmp_path / path)
    return tmp_path


def test_set_up_refuses_an_old_python(checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 1))
    assert environment.main() == 1
    assert "Python 3.9 is too old" in capsys.readouterr().err
    assert not (checkout / ".venv").exists()


def test_set_up_leaves_a_foreign_environment_alone(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout / ".venv").mkdir()
    (checkout / ".venv" / "precious").write_text("mine")
    assert environment.main() == 1
    assert "was not made by this course" in capsys.readouterr().err
    assert [p.name for p in (checkout / ".venv").iterdir()] == ["precious"]


def test_set_up_says_that_the_disk_is_small(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environment, "NEEDED_GB", 1e9)
    assert environment.main() == 1
    assert "GB of disk are free" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("Retrying: NewConnectionError(...)", "is there a network?"),
        ("OSError: [Errno 28] No space left on device", "the disk is full"),
        ("ERROR: something else", "pip failed"),
    ],
)
def test_set_up_names_the_reason_of_a_failed_install(checkout: Path, output: str, said: str) -> None:
    command = [sys.executable, "-c", f"print({output!r}); raise SystemExit(1)"]
    with pytest.raises(environment.SetupError, match="Run the same command again") as error:
        environment.run(command, checkout / "log", "installing packages")
    assert said in str(error.value)


def test_set_up_goes_on_after_an_interruption(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[str] = []

    def interrupted(command: list[str], log: Path, what: str) -> None:
        calls.append(what)
        if what == "installing packages" and calls.count(what) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(environment, "run", interrupted)
    monkeypatch.setattr(environment, "works", lambda python: (checkout / ".venv" / "ready").exists())
    assert environment.main() == 130
    assert not (checkout / ".venv" / "ready").exists()
    assert environment.main() == 0
    assert (checkout / ".venv" / "ready").read_text() == environment.fingerprint()
    done = len(calls)
    assert environment.main() == 0
    assert len(calls) == done, "an environment that is up to date is left alone"
    (checkout / "requirements.txt").write_text("numpy\n")
    assert environment.main() == 0
    assert len(calls) == done + 4, "a changed requirement installs again"


def test_set_up_mends_an_environment_whose_interpreter_is_gone(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(environment, "run", lambda command, log, what: done.append(what))
    (checkout / ".venv").mkdir()
    (checkout / ".venv" / "made-by-the-course").write_text("")
    (checkout / ".venv" / "ready").write_text(environment.fingerprint())
    assert environment.main() == 0
    assert done[0] == "creating the environment"


def test_set_up_says_that_the_checkout_cannot_be_written(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(path: Path, exist_ok: bool) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert environment.main() == 1
    assert "Cannot set up: " in capsys.readouterr().err


def test_readme_has_its_measured_times() -> None:
    assert not any(word in (ROOT / "README.md").read_text() for word in ("BOOK_COLD", "BOOK_WARM", "TEST_COLD", "TEST_WARM"))
