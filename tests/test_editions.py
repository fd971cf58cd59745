"""What is handed out and what is kept: the editions of every chapter, and one of them run as a student runs it."""

from __future__ import annotations

import inspect
import json
import os
import resource
import shutil
import textwrap
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from exercises.format import Exercise, PaperExercise, Task
from tools import editions
from tools.editions import (
    ANSWER,
    CANARY,
    SOURCES,
    class_folder,
    class_mark,
    instructor_notebook,
    main,
    posed,
    rubric,
    student_notebook,
    tasks_of,
    write_editions,
)
from tools.leaks import LINE, Leak, Needles, Secrets, functions_in, leaks_in, read_artefact, secrets, squeezed
from tools.notebooks import Notebook, as_text, chapters, read, write
from tools.settings import BOOK, ROOT, version
from topiclib.checks.progress_file import FILE

SEED = "autumn, group B"
NAMES = [path.stem for path in chapters()]
every_chapter = pytest.mark.parametrize("name", NAMES)
every_class = pytest.mark.parametrize("seed", [None, SEED], ids=["no class", "class"])


@pytest.fixture(scope="module")
def known() -> Secrets:
    return secrets()


def leaks(notebook: Notebook, known: Secrets) -> list[Leak]:
    return list(leaks_in("notebook", *read_artefact("notebook.ipynb", as_text(notebook).encode()), known))


def of_exercises(notebook: Notebook) -> list[tuple[str, str, str]]:
    return [(cell.metadata["exercise"], cell.cell_type, cell.source) for cell in notebook.cells if "exercise" in cell.metadata]


def text_of(notebook: Notebook) -> str:
    return "\n".join(cell.source for cell in notebook.cells)


def code(text: str) -> str:
    return textwrap.dedent(text).strip()


def answers_of(task: Task) -> list[str]:
    """Every piece of code that a student must not get with an exercise, also with one whose solution the web book shows."""
    assert isinstance(task, Exercise)
    return [task.reference, task.alternative, inspect.getsource(task.hidden), *(wrong.code for wrong in task.wrong)]


@every_class
@every_chapter
def test_a_student_gets_each_exercise_once_with_its_stub_and_a_place_for_its_answer(name: str, seed: str | None) -> None:
    notebook = student_notebook(name, seed)
    nbformat.validate(notebook)
    wanted = []
    for task in (posed(task.id, seed) for task in tasks_of(name)):
        wanted.append((task.id, "markdown", task.statement_cell()))
        if isinstance(task, PaperExercise):
            wanted.append((task.id, "markdown", f"**Answer to exercise {task.id}:**\n\n{ANSWER}"))
        else:
            assert isinstance(task, Exercise)
            wanted += [(task.id, "code", code(task.stub)), (task.id, "code", task.check_cell())]
    assert of_exercises(notebook) == wanted
    # The rest is the chapter, without anything but its text
    rest = [cell.source for cell in notebook.cells if "exercise" not in cell.metadata]
    assert rest == [cell.source for cell in read(BOOK / f"{name}.ipynb").cells if "exercise" not in cell.metadata]
    assert all(set(cell.metadata) <= {"exercise"} for cell in notebook.cells)
    assert not any(cell.outputs or cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
    assert notebook.metadata["topiclib"] == {"chapter": name, "version": version(), "class": class_mark(seed)}
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)


@every_class
@every_chapter
def test_a_student_gets_no_solution_and_no_hidden_check(name: str, seed: str | None, known: Secrets) -> None:
    notebook = student_notebook(name, seed)
    assert leaks(notebook, known) == []
    # The scan lets through what the web book shows; a student gets no solution of those exercises either.
    tasks = [posed(task.id, seed) for task in tasks_of(name)]
    pieces = [piece for task in tasks if isinstance(task, Exercise) for piece in answers_of(task)]
    lines = {key: "" for piece in pieces for line in piece.splitlines() if len(key := squeezed(line)) >= LINE}
    chapter = text_of(read(BOOK / f"{name}.ipynb")) + "".join(task.statement for task in tasks)
    assert list(Needles(lines).but_for(squeezed(chapter)).within(squeezed(as_text(notebook)))) == []
    solved = {found for piece in pieces for found in functions_in(piece)}
    shown = {found for cell in read(BOOK / f"{name}.ipynb").cells for found in functions_in(cell.source)}
    assert not (solved - shown) & {found for cell in notebook.cells for found in functions_in(cell.source)}


@every_chapter
def test_a_class_gets_what_its_seed_says_and_the_checks_are_told(name: str) -> None:
    varied = [task.id for task in tasks_of(name) if task.id in SOURCES and SOURCES[task.id].variants]
    for ident in varied:
        source = SOURCES[ident]
        seen = set()
        for seed in map(str, range(20)):
            task = posed(ident, seed)
            assert task == source.posed(seed)
            seen.add(task.statement_cell())
        assert len(seen) == len({source.with_variant(variant).statement_cell() for variant in source.variants})
    for seed in ("0", "1", "2"):
        cells = {cell.id: cell.source for cell in student_notebook(name, seed).cells}
        for task in (SOURCES[ident].posed(seed) for ident in varied):
            assert cells[task.anchor] == task.statement_cell()
            assert task.arguments
            told = ", ".join(f"{key}={value!r}" for key, value in task.arguments.items())
            assert cells[f"{task.anchor}-check"] == f'check("{task.id}", {task.function}, {told})'
    assert "{{" not in "".join(source for ident, _, source in of_exercises(student_notebook(name, SEED)) if ident in varied)


def test_some_exercises_have_variants() -> None:
    assert sum(bool(source.variants) for source in SOURCES.values()) > len(NAMES) / 2


def test_the_mark_of_a_class_does_not_tell_its_seed() -> None:
    assert class_mark(None) == ""
    assert class_mark("a") == class_mark("a") != class_mark("b")
    assert len(class_mark(SEED)) == 12
    for make in (student_notebook, instructor_notebook):
        assert SEED not in as_text(make(NAMES[0], SEED))


@every_class
@every_chapter
def test_an_instructor_gets_all_of_it(name: str, seed: str | None, known: Secrets) -> None:
    notebook = instructor_notebook(name, seed)
    nbformat.validate(notebook)
    student = student_notebook(name, seed)
    ids = [cell.id for cell in student.cells]
    assert [cell for cell in notebook.cells if cell.id in ids] == student.cells
    assert notebook.metadata["topiclib"] == {**student.metadata["topiclib"], "edition": CANARY}
    added = {cell.id: cell.source for cell in notebook.cells if cell.id not in ids}
    assert all(CANARY in source for source in added.values())
    for task in (posed(task.id, seed) for task in tasks_of(name)):
        if isinstance(task, PaperExercise):
            source = added.pop(f"{task.anchor}-rubric")
            wanted = [f"- {points}: {text}\n" for points, text in task.rubric]
            wanted += [f"{task.points} points", code(task.model_answer)]
        else:
            assert isinstance(task, Exercise)
            source = added.pop(f"{task.anchor}-solution")
            wanted = [*map(code, answers_of(task)), code(task.explanation), *(f"`{wrong.hint}`" for wrong in task.wrong)]
        assert [part for part in wanted if part not in source] == []
    assert added == {}
    # The scan must see it: were this edition published, every graded exercise would be named
    assert {leak.exercise for leak in leaks(notebook, known)} >= {task.id for task in tasks_of(name) if task.graded}


def test_an_answer_stands_behind_its_exercise() -> None:
    ids = [cell.id for cell in instructor_notebook(NAMES[0]).cells]
    for task in tasks_of(NAMES[0]):
        if isinstance(task, PaperExercise):
            assert ids.index(f"{task.anchor}-rubric") == ids.index(f"{task.anchor}-answer") + 1
        else:
            assert ids.index(f"{task.anchor}-solution") == ids.index(f"{task.anchor}-check") + 1


def test_the_rubrics_of_all_chapters_are_in_one_file() -> None:
    text = rubric(NAMES)
    assert text.startswith(f"# Rubrics ({CANARY})\n")
    for task in editions.PAPER.values():
        assert text.count(f"## {task.id}: {task.title} ({task.points} points)\n") == 1
        assert code(task.statement) in text
        assert code(task.model_answer) in text
        assert all(f"\n- {points}: {line}\n" in text for points, line in task.rubric)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_writing_twice_gives_the_same_files_and_leaves_others_alone(tmp_path: Path) -> None:
    write_editions(["preface"], SEED, tmp_path)
    first = contents(tmp_path)
    assert {"student/preface.ipynb", "student/README.md", "instructor/preface.ipynb", "instructor/rubric.md"} <= set(first)
    mine = ["student/dates.txt", "student/old/preface.ipynb", "instructor/notes.md", "nbgrader/gradebook.db"]
    for name in mine:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
    write_editions(["preface"], SEED, tmp_path)
    assert contents(tmp_path) == {**first, **dict.fromkeys(mine, b"mine")}


def test_another_chapter_keeps_the_rubrics_of_the_first(tmp_path: Path) -> None:
    for name in ("preface", "errata"):
        write_editions([name], None, tmp_path)
    assert (tmp_path / "instructor" / "rubric.md").read_text() == rubric(["errata", "preface"])


def test_nothing_of_the_instructor_is_in_the_students_folder(tmp_path: Path) -> None:
    write_editions(["preface"], SEED, tmp_path)
    assert not any(CANARY.encode() in data for data in contents(tmp_path / "student").values())


def test_the_command_line_writes_the_chapters_that_it_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["errata", "preface", "--class-seed", SEED, "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith(f"2 chapters: {tmp_path}/student to hand out")
    for name in ("errata", "preface"):
        assert (tmp_path / "student" / f"{name}.ipynb").read_text() == as_text(student_notebook(name, SEED))


@pytest.mark.parametrize(
    ("arguments", "seed"), [([], None), (["all"], None), (["--class-seed", ""], None), (["all", "--class-seed", "x"], "x")]
)
def test_without_a_name_it_writes_all_chapters(monkeypatch: pytest.MonkeyPatch, arguments: list[str], seed: str | None) -> None:
    calls: list[tuple[object, ...]] = []
    monkeypatch.setattr(editions, "write_editions", lambda *given: calls.append(given))
    assert main(arguments) == 0
    out = ROOT / "_build" / "class"
    assert calls == [(NAMES, seed, out / f"x-{class_mark('x')[:6]}" if seed else out)]


def test_a_class_has_a_folder_of_its_own_and_overwrites_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert class_folder(None) == ""
    assert (ROOT / "book" / "for_instructors.md").read_text().count(f"/{class_folder(SEED)}") == 2
    assert class_folder("Autumn, group B!") == f"autumn-group-b-{class_mark('Autumn, group B!')[:6]}"
    assert len({class_folder(seed) for seed in ("autumn, group B", "Autumn, group B", "-autumn-group-b", "漢", "字", "../x")}) == 6
    assert all("/" not in class_folder(seed) and "." not in class_folder(seed) for seed in ("../x", "..", "a/b"))
    assert main(["preface", "--class-seed=-autumn", "--out", str(tmp_path)]) == 0
    before = contents(tmp_path)
    for seed in ([], ["--class-seed", "spring"]):
        with pytest.raises(SystemExit) as caught:
            main(["errata", *seed, "--out", str(tmp_path)])
        assert caught.value.code == 2
        said = capsys.readouterr().err
        assert "preface.ipynb in it is of a class with another CLASS_SEED; give another folder (OUT=...)" in said
    assert contents(tmp_path) == before
    assert main(["errata", "--class-seed=-autumn", "--out", str(tmp_path)]) == 0


def test_a_full_disk_leaves_the_files_that_were_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_editions(["03_3_architecture"], None, tmp_path)
    before = contents(tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8 << 10, hard))
    try:
        with pytest.raises(SystemExit):
            main(["03_3_architecture", "--out", str(tmp_path)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert capsys.readouterr().err.endswith(f"cannot write into {tmp_path}: File too large\n")
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["gone"], "argument CHAPTER: invalid choice: 'gone' (choose from "),
        (["preface", "gone"], "argument CHAPTER: invalid choice: 'gone' (choose from "),
        (["preface", "--seed", "x"], "unrecognized arguments: --seed x"),
        (["preface", "--out", "{file}"], "cannot write into {file}: "),
    ],
)
def test_a_wrong_command_is_told_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(SystemExit) as caught:
        main([argument.format(file=file) for argument in arguments])
    assert caught.value.code == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith(f"make student: error: {said.format(file=file)}")
    assert contents(tmp_path) == {"file": b"mine"}


# Short: its cells take a second
CHAPTER = "preface"


def as_a_student(chapter: str, folder: Path, answers: dict[str, str]) -> tuple[Notebook, list[str]]:
    """(the notebook executed, the verdicts) in an empty folder and a kernel that finds the library and no more of the project."""
    (folder / "home").mkdir(parents=True)
    write(folder / "home" / f"{chapter}.ipynb", student_notebook(chapter, SEED))
    shutil.copytree(ROOT / "topiclib", folder / "library" / "topiclib", ignore=shutil.ignore_patterns("__pycache__"))
    notebook = read(folder / "home" / f"{chapter}.ipynb")
    for cell in notebook.cells:
        cell.source = code(answers.get(cell.id, cell.source))
    where = "import importlib.util\nprint(topiclib.__file__, *map(importlib.util.find_spec, ('exercises', 'tools', 'tests')))"
    notebook.cells.append(nbformat.v4.new_code_cell(where, id="where"))
    # A kernel of a learner's, not that of the book's build or of somebody's settings
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TOPICLIB_")}
    environment |= {"PYTHONPATH": str(folder / "library"), "IPYTHONDIR": str(folder / "ipython"), "OMP_NUM_THREADS": "1"}
    environment |= {"TOPICLIB_CACHE": str(folder / "cache")}
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder / "home")}})
    client.execute(env=environment)
    found = {cell.id: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}
    assert found["where"][0].text == f"{folder / 'library' / 'topiclib' / '__init__.py'} None None None\n"
    return notebook, [outputs[-1].data["text/plain"] for ident, outputs in found.items() if ident.endswith("-check")]


@pytest.mark.parametrize("chapter", [CHAPTER, "03_1_topic_models"])
def test_a_students_notebook_runs_with_the_library_alone_empty_and_answered(chapter: str, tmp_path: Path) -> None:
    tasks = [task for task in (posed(task.id, SEED) for task in tasks_of(chapter)) if isinstance(task, Exercise)]
    _, verdicts = as_a_student(chapter, tmp_path / "empty", {})
    assert verdicts == [f"○ Exercise {task.id}: not answered yet." for task in tasks]
    assert os.listdir(tmp_path / "empty" / "home") == [f"{chapter}.ipynb"], "nothing is noted of empty answers"
    notebook, verdicts = as_a_student(chapter, tmp_path / "answered", {f"{task.anchor}-answer": task.reference for task in tasks})
    assert verdicts == [f"✓ Exercise {task.id}: passed." for task in tasks]
    assert sorted(os.listdir(tmp_path / "answered" / "home")) == [f"{chapter}.ipynb", FILE]
    noted = json.loads((tmp_path / "answered" / "home" / FILE).read_text())["exercises"]
    assert {name: entry["status"] for name, entry in noted.items()} == {task.id: "passed" for task in tasks}
    assert notebook.metadata["topiclib"]["class"] == class_mark(SEED)
