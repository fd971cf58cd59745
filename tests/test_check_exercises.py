"""The table of mutations tells right from wrong, and any miss or leak is an exit status of 1."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from exercises.catalogue import MODULES, PAPER
from exercises.format import Exercise, Variant, Wrong
from tools import check_exercises
from tools.check_exercises import HEAD, Row, main, published, rows, table, wheel
from tools.leaks import Leak
from topiclib.checks.base import _CHECKS, Answer, expect, register

ID = "0-times"


def _hidden(answer: Answer, factor: int = 2) -> None:
    expect(answer(-1) == -factor, "sign", "think of numbers below zero.")


SAMPLE = Exercise(
    id=ID,
    title="t",
    level="core",
    minutes=1,
    objective="o",
    function="f",
    statement="s",
    stub='def f(x):\n    raise NotImplementedError("your answer")',
    reference="def f(x):\n    return 2 * x",
    alternative="def f(x):\n    return x + x",
    wrong=(
        Wrong("def f(x):\n    return x**2", "squared"),
        Wrong("def f(x):\n    return 2 * abs(x)", "sign"),
        Wrong("def f(x):\n    return -(x**2)", "squared"),
    ),
    hidden=_hidden,
)
VARIED = replace(
    SAMPLE,
    reference="def f(x):\n    return {{factor}} * x",
    alternative="def f(x):\n    return x * {{factor}}",
    wrong=(Wrong("def f(x):\n    return {{factor}} * abs(x)", "sign"),),
    variants=(Variant({"factor": 2}), Variant({"factor": 5})),
)


@pytest.fixture(autouse=True)
def _one_more_check() -> Iterator[None]:
    """A check for the sample: a multiple of the argument."""

    @register(ID)
    def times(answer: Any, factor: int = 2) -> None:
        expect(abs(answer(3)) != 9, "squared", "the product, not the square.")
        expect(answer(3) == 3 * factor, "not-times", "multiply.")

    yield
    _CHECKS.pop(ID, None)


def with_wrong(code: str, hint: str) -> Exercise:
    return replace(SAMPLE, wrong=(Wrong(code, hint),))


def test_right_and_wrong_answers_are_told_apart() -> None:
    (row,) = rows([SAMPLE])
    assert row == Row(SAMPLE, 1, True, True, (("squared", "squared"), ("sign", "sign"), ("squared", "squared")))
    assert list(row.misses()) == []
    assert row.line() == f"| **{ID}**<br>core | both right ones accepted; 3 of 3 wrong ones rejected: `squared`, `sign` |"


def test_every_variant_is_tried() -> None:
    (row,) = rows([VARIED])
    assert row == Row(VARIED, 2, True, True, (("sign", "sign"),) * 2)
    # Right in the web book's variant alone
    (row,) = rows([replace(VARIED, alternative="def f(x):\n    return x + x")])
    assert (row.reference, row.alternative) == (True, False)


@pytest.mark.parametrize(
    ("exercise", "miss", "cell"),
    [
        (
            replace(SAMPLE, reference="def f(x):\n    return 3 * x"),
            f"{ID}: the reference solution is rejected",
            "| **reference rejected**; ",
        ),
        (
            replace(SAMPLE, alternative='def f(x):\n    raise NotImplementedError("your answer")'),
            f"{ID}: the alternative solution is rejected",
            "| **alternative rejected**; ",
        ),
        (
            # The visible check accepts it: a learner would be told that it is right
            replace(SAMPLE, alternative="def f(x):\n    return 2 * abs(x)"),
            f"{ID}: the alternative solution is rejected",
            "| **alternative rejected**; ",
        ),
        (
            with_wrong("def f(x):\n    return 2 * x", "squared"),
            f"{ID}: a wrong answer gets 'passed' instead of the hint 'squared'",
            "0 of 1 wrong ones rejected: **squared: passed** |",
        ),
        (
            with_wrong("def f(x):\n    return 4 * x", "squared"),
            f"{ID}: a wrong answer gets 'not-times' instead of the hint 'squared'",
            "0 of 1 wrong ones rejected: **squared: not-times** |",
        ),
        (
            with_wrong("def f(x):\n    return x.gone", "squared"),
            f"{ID}: a wrong answer gets 'raised' instead of the hint 'squared'",
            "0 of 1 wrong ones rejected: **squared: raised** |",
        ),
        (
            with_wrong(SAMPLE.stub, "squared"),
            f"{ID}: a wrong answer gets 'unanswered' instead of the hint 'squared'",
            "0 of 1 wrong ones rejected: **squared: unanswered** |",
        ),
    ],
)
def test_a_miss_is_named(exercise: Exercise, miss: str, cell: str) -> None:
    (row,) = rows([exercise])
    assert list(row.misses()) == [miss]
    assert cell in row.line()


def test_a_table_is_the_same_each_time() -> None:
    text = table(rows([SAMPLE, VARIED]))
    assert text == table(rows([SAMPLE, VARIED]))
    lines = text.removeprefix(HEAD).splitlines()
    assert [line.split(" | ")[0] for line in lines[:2]] == [f"| **{ID}**<br>core", f"| **{ID}**<br>core, 2 variants"]
    assert lines[2:] == [
        "",
        f"2 exercises with code, 5 wrong answers. Beside these, {len(PAPER)} graded exercises on paper have rubrics.",
    ]
    assert all(line.count("|") == 3 for line in lines[:2])


def test_without_a_list_the_graded_exercises_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    graded, other = replace(SAMPLE, graded=True), replace(SAMPLE, id="0-other")
    monkeypatch.setattr(MODULES[0], "EXERCISES", (graded, other))
    monkeypatch.setattr(check_exercises, "MODULES", MODULES[:1])
    assert [row.exercise for row in rows()] == [graded]


@pytest.fixture
def light(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What main is given instead of the exercises, the editions and the scan; the table stands in an empty folder, in step."""
    given: dict[str, Any] = {"rows": rows([SAMPLE]), "leaks": [], "scanned": []}

    def scan(paths: list[Path]) -> tuple[int, list[Leak]]:
        given["scanned"].append(paths)
        return len(paths), given["leaks"]

    monkeypatch.setattr(check_exercises, "ROOT", tmp_path)
    monkeypatch.setattr(check_exercises, "TABLE", tmp_path / "table.md")
    monkeypatch.setattr(check_exercises, "rows", lambda: given["rows"])
    monkeypatch.setattr(check_exercises, "published", lambda folder: [folder / "student"])
    monkeypatch.setattr(check_exercises, "scan", scan)
    (tmp_path / "table.md").write_text(table(given["rows"]))
    return given


def test_all_in_order(light: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "mutations: 1 exercises, 5 answers, 0 misses",
        "leaks: 1 published files, 0 leaks; the site is not built, so it was not scanned",
    ]
    assert err == ""
    assert [path.name for (path,) in light["scanned"]] == ["student"]


@pytest.mark.parametrize("arguments", [[], ["sync"]])
def test_a_miss_fails(light: dict[str, Any], capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    light["rows"] = rows([with_wrong("def f(x):\n    return 2 * x", "squared")])
    check_exercises.TABLE.write_text(table(light["rows"]))
    assert main(arguments) == 1
    assert capsys.readouterr().err == f"  {ID}: a wrong answer gets 'passed' instead of the hint 'squared'\n"


def test_a_leak_fails(light: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    light["leaks"] = [Leak("a.html", ID, "the line x")] * 50
    assert main([]) == 1
    out, err = capsys.readouterr()
    assert "1 published files, 50 leaks" in out
    assert err == f"  a.html: {ID}: the line x\n" * 40


@pytest.mark.parametrize("there", [True, False])
def test_a_table_out_of_step_fails_and_sync_writes_it(
    light: dict[str, Any], capsys: pytest.CaptureFixture[str], there: bool
) -> None:
    path = check_exercises.TABLE
    path.write_text("old") if there else path.unlink()
    assert main([]) == 1
    assert "table.md is not in step: run 'make notebooks'" in capsys.readouterr().err
    assert not path.exists() or path.read_text() == "old", "without sync nothing is written"
    light["scanned"].clear()
    assert main(["sync"]) == 0
    assert path.read_text() == table(light["rows"])
    assert light["scanned"] == [], "sync brings up to date; it does not scan"
    assert main([]) == 0


@pytest.mark.parametrize("arguments", [["check"], ["sync", "more"]])
def test_a_wrong_command_is_told(light: dict[str, Any], capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err == "usage: python -m tools.check_exercises [sync]\n"
    assert light["scanned"] == []


def test_all_that_is_published_is_scanned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[Any, ...]] = []

    def write(names: list[str], seed: str | None, out: Path) -> None:
        calls.append((names, seed))
        for edition in ("student", "instructor", "nbgrader"):
            (out / edition).mkdir(parents=True)

    monkeypatch.setattr(check_exercises, "write_editions", write)
    monkeypatch.setattr(check_exercises, "wheel", lambda folder: folder / "a.whl")
    monkeypatch.setattr(check_exercises, "ROOT", tmp_path)
    work = tmp_path / "work"
    found = published(work)
    assert sorted(map(str, found)) == sorted(
        map(str, [work / "class None" / "student", work / "class a class" / "student", work / "a.whl", check_exercises.BOOK])
    )
    assert [seed for _, seed in calls] == [None, "a class"]
    assert all(names == [path.stem for path in check_exercises.chapters()] for names, _ in calls)
    (tmp_path / "_build" / "html").mkdir(parents=True)
    assert tmp_path / "_build" / "html" in published(tmp_path / "again")


def test_the_wheel_is_the_library_and_the_checkout_stays_as_it_was(tmp_path: Path) -> None:
    before = {path.name for path in check_exercises.ROOT.iterdir()}
    with zipfile.ZipFile(wheel(tmp_path)) as archive:
        names = archive.namelist()
    assert "topiclib/checks/base.py" in names
    assert {name.split("/")[0].split("-")[0] for name in names} == {"topiclib"}
    assert {path.name for path in check_exercises.ROOT.iterdir()} == before


def test_a_library_that_cannot_be_built_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "pyproject.toml").write_text("[broken")
    monkeypatch.setattr(check_exercises, "ROOT", tmp_path / "project")
    with pytest.raises(RuntimeError, match="the wheel cannot be built: "):
        wheel(tmp_path)
