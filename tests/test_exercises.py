"""Every exercise of the book, tested by mutation: right answers pass, each wrong one gets its own hint."""

import ast
import builtins
import inspect
import json
import re
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from exercises.catalogue import EXERCISES, MODULES, PAPER, SOURCES, TASKS
from exercises.format import LEVELS, Exercise, PaperExercise, Task, Variant
from tools.settings import ROOT
from topiclib import checks
from topiclib.checks import check, names

NOT_A_HINT = {"raised", "not-a-function", ""}
# As every class may get them: each variant is tested like an exercise of its own.
POSED = {i: e for i, e in SOURCES.items() if not e.variants} | {
    f"{i}@{k}": e.with_variant(variant) for i, e in SOURCES.items() for k, variant in enumerate(e.variants)
}
every_exercise = pytest.mark.parametrize("exercise", POSED.values(), ids=POSED.keys())
every_task = pytest.mark.parametrize("task", TASKS.values(), ids=TASKS.keys())
every_paper_exercise = pytest.mark.parametrize("exercise", PAPER.values(), ids=PAPER.keys())
every_wrong_answer = pytest.mark.parametrize(
    ("exercise", "number"),
    [pytest.param(e, k, id=f"{name}-{w.hint}-{k}") for name, e in POSED.items() for k, w in enumerate(e.wrong)],
)
every_right_answer = pytest.mark.parametrize(
    ("exercise", "which"), [pytest.param(e, w, id=f"{name}-{w}") for name, e in POSED.items() for w in ("reference", "alternative")]
)


def test_there_are_exercises() -> None:
    assert EXERCISES


def test_every_check_has_an_exercise_and_every_exercise_a_check() -> None:
    assert set(names()) == set(EXERCISES)


def test_identifiers_are_unique() -> None:
    identifiers = [e.id for module in MODULES for e in (*module.EXERCISES, *getattr(module, "PAPER", ()))]
    assert len(set(identifiers)) == len(identifiers)
    assert all(re.fullmatch(r"[a-z0-9.]+(-[a-z0-9]+)+", i) for i in identifiers)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_identifiers_begin_with_their_chapter(module: Any) -> None:
    name = module.__name__.removeprefix("exercises.").removeprefix("section_").removeprefix("appendix_")
    chapter = re.sub(r"_(?=[a-z])", "-", name).replace("_", ".")
    assert all(e.id.startswith(f"{chapter}-") for e in (*module.EXERCISES, *getattr(module, "PAPER", ())))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_a_chapter_has_one_exercise_for_each_function_and_rising_levels(module: Any) -> None:
    functions = [e.function for e in module.EXERCISES]
    assert len(set(functions)) == len(functions)
    levels = [LEVELS.index(e.level) for e in module.EXERCISES]
    assert levels == sorted(levels)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_a_chapter_has_four_exercises_two_of_them_graded_and_one_on_paper(module: Any) -> None:
    assert len(module.EXERCISES) >= 4
    assert sum(e.graded for e in module.EXERCISES) >= 2
    assert module.EXERCISES[-1].level == "challenge"
    assert len(module.PAPER) == 1


@every_task
def test_a_task_says_what_one_needs(task: Task) -> None:
    assert task.prerequisites
    assert all(text.strip() for text in task.prerequisites)


@every_right_answer
def test_a_right_answer_passes_the_visible_and_the_hidden_check(exercise: Exercise, which: str) -> None:
    answer = exercise.load(getattr(exercise, which))
    verdict = check(exercise.id, answer, **exercise.arguments)
    assert verdict.status == "passed", verdict
    exercise.hidden(answer, **exercise.arguments)
    verdict = exercise.grade(answer)
    assert verdict.status == "passed", verdict


@every_wrong_answer
def test_a_wrong_answer_gets_exactly_its_hint(exercise: Exercise, number: int) -> None:
    wrong = exercise.wrong[number]
    verdict = exercise.grade(exercise.load(wrong.code))
    assert verdict.status == "wrong"
    assert verdict.key == wrong.hint, verdict
    assert verdict.key not in NOT_A_HINT


@every_wrong_answer
def test_a_hint_names_the_mistake_and_gives_nothing_away(exercise: Exercise, number: int) -> None:
    hint = exercise.grade(exercise.load(exercise.wrong[number].code)).message
    assert len(hint.split()) >= 4, hint
    assert hint.endswith((".", "?")), hint
    # No computed value, and no line of a solution.
    assert not re.search(r"\d\.\d{3,}", hint), hint
    for code in (exercise.reference, exercise.alternative):
        assert not any(line in hint for line in body_of(exercise, code)), hint


def body_of(exercise: Exercise, code: str) -> list[str]:
    """The statements of a solution's function, each normalised, but for names alone such as ``return x``."""
    (function,) = [
        node
        for node in ast.walk(ast.parse(textwrap.dedent(code)))
        if isinstance(node, ast.FunctionDef) and node.name == exercise.function
    ]
    lines = [ast.unparse(node) for node in ast.walk(function) if isinstance(node, ast.stmt) and node is not function]
    return [line for line in lines if not re.fullmatch(r"(return )?\w+", line)]


@every_exercise
def test_the_stub_is_unanswered(exercise: Exercise) -> None:
    verdict = exercise.grade(exercise.load(exercise.stub))
    assert (verdict.status, verdict.key) == ("unanswered", "")


@every_exercise
def test_the_stub_has_a_docstring_and_no_solution(exercise: Exercise) -> None:
    assert (exercise.load(exercise.stub).__doc__ or "").strip()
    assert not set(body_of(exercise, exercise.stub)) & set(body_of(exercise, exercise.reference))


@every_exercise
def test_right_and_wrong_answers_have_the_stubs_arguments(exercise: Exercise) -> None:
    def arguments(code: str) -> list[str]:
        return list(inspect.signature(exercise.load(code)).parameters)

    expected = arguments(exercise.stub)
    for code in (exercise.reference, exercise.alternative, *(w.code for w in exercise.wrong)):
        assert arguments(code) == expected


@every_exercise
def test_there_are_at_least_four_wrong_answers_all_different(exercise: Exercise) -> None:
    codes = [textwrap.dedent(w.code).strip() for w in exercise.wrong]
    assert len(codes) >= 4
    assert len(set(codes)) == len(codes)
    assert len({w.hint for w in exercise.wrong}) >= 2


@every_exercise
def test_the_alternative_is_written_another_way(exercise: Exercise) -> None:
    assert body_of(exercise, exercise.reference) != body_of(exercise, exercise.alternative)


@every_exercise
@pytest.mark.parametrize("junk", [None, "text", 0, 1.0, [], [0.0], {}, float("nan"), True], ids=repr)
def test_junk_never_passes(exercise: Exercise, junk: Any) -> None:
    verdict = exercise.grade(lambda *args, **kwargs: junk)
    assert verdict.status == "wrong"


@every_exercise
def test_grading_twice_gives_the_same_verdict(exercise: Exercise) -> None:
    for code in (exercise.reference, *(w.code for w in exercise.wrong)):
        assert exercise.grade(exercise.load(code)) == exercise.grade(exercise.load(code))


@every_exercise
def test_an_exercise_tells_what_it_is_about(exercise: Exercise) -> None:
    assert 1 <= exercise.minutes <= 60
    for text in (exercise.title, exercise.objective, exercise.statement, exercise.explanation):
        assert text.strip()
        assert "{{" not in text or not exercise.arguments


@pytest.mark.parametrize("exercise", [e for e in SOURCES.values() if e.variants], ids=lambda e: e.id)
def test_a_solution_of_one_variant_is_wrong_for_the_others(exercise: Exercise) -> None:
    versions = [exercise.with_variant(variant) for variant in exercise.variants]
    assert len(versions) >= 2
    for mine in versions:
        for other in versions:
            verdict = other.grade(other.load(mine.reference))
            assert verdict.status == ("passed" if mine is other else "wrong")


def test_a_class_gets_its_own_variants_and_always_the_same() -> None:
    exercise = replace(
        SAMPLE,
        statement="Base {{base}}, in {{unit}}.",
        variants=(Variant({"base": 2}, {"unit": "bits"}), Variant({"base": 10}, {"unit": "digits"})),
    )
    texts = {exercise.posed(f"class {k}").statement for k in range(20)}
    assert texts == {"Base 2, in bits.", "Base 10, in digits."}
    assert exercise.posed("a") == exercise.posed("a")
    assert exercise.posed().statement == "Base 2, in bits."
    assert exercise.posed().check_cell() == 'check("0-sample", f, base=2)'
    with pytest.raises(KeyError):
        exercise.with_variant(Variant({"base": 2}))


@every_paper_exercise
def test_a_paper_exercise_has_a_rubric_that_a_grader_can_apply(exercise: PaperExercise) -> None:
    assert all(len(text.split()) >= 4 for _, text in exercise.rubric)
    assert exercise.points >= 4
    assert exercise.model_answer.strip()
    assert exercise.statement_cell().startswith(f"> **Paper exercise {exercise.id}: ")


@every_exercise
def test_the_checks_in_the_library_hold_no_solution(exercise: Exercise) -> None:
    source = ast.unparse(ast.parse(inspect.getsource(checks.base._CHECKS[exercise.id])))
    lines = [line for line in body_of(exercise, exercise.reference) if line.startswith("return")]
    assert not [line for line in lines if line.removeprefix("return ") in source]


@every_exercise
def test_cells_show_statement_stub_and_check(exercise: Exercise) -> None:
    statement = exercise.statement_cell()
    assert all(line.startswith(">") for line in statement.splitlines())
    assert statement.startswith(f"> **Exercise {exercise.id}: {exercise.title}** ({exercise.level}, {exercise.minutes} minutes)")
    assert exercise.answer_cell().startswith(("def ", "import ", "from "))
    assert exercise.check_cell().startswith(f'check("{exercise.id}", {exercise.function}')


@every_task
def test_an_anchor_is_made_of_the_name(task: Task) -> None:
    assert task.anchor == "exercise-" + task.id.replace(".", "-")


@every_exercise
def test_the_solution_is_folded_and_whole(exercise: Exercise) -> None:
    cell = exercise.solution_cell()
    assert cell.startswith('<details class="tl-solution">')
    assert cell.endswith("</details>")
    assert textwrap.dedent(exercise.reference).strip() in cell


def bound_names(code: str) -> set[str]:
    """The names that a cell defines, imports or assigns, at any depth; arguments are not counted."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


@pytest.mark.parametrize("chapter", sorted((ROOT / "book").glob("*.ipynb")), ids=lambda path: path.stem)
def test_an_exercise_shadows_no_name_of_its_chapter(chapter: Path) -> None:
    # A slider's frame looks its names up when it is moved: an answer of the same name would be called instead.
    cells = json.loads(chapter.read_text())["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code" and "exercise" not in cell["metadata"]]
    bound = set().union(*(bound_names("".join(cell["source"])) for cell in code))
    ids = {cell["metadata"]["exercise"] for cell in cells if "exercise" in cell["metadata"]}
    assert ids
    clashes = {EXERCISES[i].function for i in ids if i in EXERCISES} & (bound | set(dir(builtins)))
    assert not clashes


SAMPLE = Exercise(
    id="0-sample",
    title="t",
    level="core",
    minutes=1,
    objective="o",
    function="f",
    statement="s",
    stub='def f(x):\n    raise NotImplementedError("your answer")',
    reference="def f(x):\n    return x",
    alternative="def f(x):\n    return +x",
    wrong=(),
    hidden=lambda answer: None,
)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"level": "hard"}, "0-sample: level = 'hard': must be one of"),
        ({"stub": 'def g(x):\n    raise NotImplementedError("your answer")'}, "0-sample: stub does not define f"),
        ({"stub": "def f(x):\n    pass"}, "0-sample: stub must raise NotImplementedError"),
        ({"reference": "f = 3"}, "0-sample: reference does not define f"),
        ({"alternative": ""}, "0-sample: alternative does not define f"),
    ],
)
def test_a_malformed_exercise_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        replace(SAMPLE, **changes)
