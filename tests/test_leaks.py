"""The scan for leaks: red on a planted one of each kind, in every form in which something is published, and on nothing else."""

from __future__ import annotations

import ast
import html
import inspect
import io
import json
import re
import textwrap
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from exercises.catalogue import EXERCISES, MODULES, PAPER
from exercises.format import Exercise, PaperExercise
from tools.editions import CANARY
from tools.leaks import (
    SENTENCE,
    Leak,
    Needles,
    Secrets,
    artefacts,
    functions_in,
    leaks_in,
    letters,
    read_artefact,
    scan,
    secrets,
    sentences,
    squeezed,
    structure,
    without_escapes,
)
from tools.settings import BOOK, ROOT

SAME = "a function of the same structure"
GRADED = {
    f"{e.id}@{k}": posed
    for module in MODULES
    for e in module.EXERCISES
    if e.graded
    for k, posed in enumerate([e.with_variant(variant) for variant in e.variants] or [e])
}
every_graded = pytest.mark.parametrize("exercise", GRADED.values(), ids=GRADED.keys())
every_paper = pytest.mark.parametrize("task", PAPER.values(), ids=PAPER.keys())


@pytest.fixture(scope="module")
def known() -> Secrets:
    return secrets()


@pytest.fixture(scope="module")
def lines(known: Secrets) -> dict[str, tuple[str, str]]:
    """Lines of solutions as (exercise, line), by what makes them hard to find: spaces within, signs that HTML and JSON escape."""
    found = {}
    for exercise in GRADED.values():
        for line in map(str.strip, exercise.reference.splitlines()):
            if known.lines.owners.get(squeezed(line)) == exercise.id:
                for kind, there in {"<": "<" in line, '"': '"' in line, "(": re.search(r"\w\(.*,.*\)", line)}.items():
                    if there:
                        found.setdefault(kind, (exercise.id, line))
    assert set(found) == {"<", '"', "("}, "choose other signs: no solution has a line with these"
    return found


def found_in(known: Secrets, name: str, data: str | bytes) -> list[Leak]:
    return list(leaks_in(name, *read_artefact(name, data.encode() if isinstance(data, str) else data), known))


def notebook(*cells: Any, **metadata: Any) -> str:
    text: str = nbformat.writes(nbformat.v4.new_notebook(cells=list(cells), metadata=metadata))
    return text


def coloured(code: str) -> str:
    """Code as a page shows it: each word in a span, its signs as entities."""
    return f"<html><body><p>Text.</p>{highlight(code, PythonLexer(), HtmlFormatter())}</body></html>"


def with_output(**data: str) -> str:
    cell = nbformat.v4.new_code_cell("show()")
    cell.outputs = [nbformat.v4.new_output("display_data", data={key.replace("_", "/"): value for key, value in data.items()})]
    return notebook(cell)


def in_stream(line: str) -> str:
    cell = nbformat.v4.new_code_cell("print()")
    cell.outputs = [nbformat.v4.new_output("stream", text=f"before\n{line}\nafter\n")]
    return notebook(cell)


def split(line: str) -> str:
    """A notebook whose file has the line in three strings, as a cell's source may be."""
    content = json.loads(notebook(nbformat.v4.new_code_cell("x = 1")))
    content["cells"][0]["source"] = ["x = 1\n", line[:7], line[7:15], line[15:]]
    return json.dumps(content)


def spaced(line: str) -> str:
    """The line as another formatter has it."""
    return re.sub(r"([,(])", r" \1\n        ", line).replace("=", "  =  ")


PLACES: dict[str, tuple[str, Callable[[str], str]]] = {
    "Markdown cell": ("a.ipynb", lambda line: notebook(nbformat.v4.new_markdown_cell(f"See\n\n```python\n    {line}\n```"))),
    "code cell": ("a.ipynb", lambda line: notebook(nbformat.v4.new_code_cell(f"def f(x):\n    {line}"))),
    "printed": ("a.ipynb", in_stream),
    "output in HTML": ("a.ipynb", lambda line: with_output(text_html=coloured(line))),
    "output in plain text": ("a.ipynb", lambda line: with_output(text_plain=line)),
    "metadata": ("a.ipynb", lambda line: notebook(topiclib={"notes": {"deep": [1, line]}})),
    "key of metadata": ("a.ipynb", lambda line: notebook(topiclib={line: 1})),
    "metadata of a cell": ("a.ipynb", lambda line: notebook(nbformat.v4.new_code_cell("1", metadata={"answer": line}))),
    "JSON within metadata": ("a.ipynb", lambda line: notebook(widgets=json.dumps({"state": f"\t{line}"}))),
    "split over strings": ("a.ipynb", split),
    "other spacing": ("a.py", spaced),
    "broken notebook": ("a.ipynb", lambda line: notebook(nbformat.v4.new_code_cell(line))[:-20]),
    "page": ("a.html", coloured),
    "attribute of a page": ("a.html", lambda line: f'<p><img src="a.png" alt="{html.escape(line)}"></p>'),
    "comment of a page": ("a.html", lambda line: f"<p>Text</p><!-- {line} -->"),
    "script of a page": (
        "a.html",
        lambda line: '<script type="application/json">' + json.dumps({"code": line}).replace("<", r"\u003c") + "</script>",
    ),
    "search index": ("a.js", lambda line: f"Search.setIndex({json.dumps({'terms': {'a': 1}, 'titles': f'def f(): {line} more'})})"),
    "text of the sources": ("_sources/a.md.txt", lambda line: f"# Title\n\n> ```python\n> {line}\n> ```\n"),
    "notebook of the sources": ("_sources/a.ipynb.txt", lambda line: notebook(nbformat.v4.new_code_cell(line))),
    "picture's text": ("a.svg", lambda line: f"<svg><text>{html.escape(line)}</text></svg>"),
}


@pytest.mark.parametrize("sign", ["<", '"', "("])
@pytest.mark.parametrize("place", PLACES)
def test_a_line_of_a_solution_is_found(known: Secrets, lines: dict[str, tuple[str, str]], place: str, sign: str) -> None:
    ident, line = lines[sign]
    name, plant = PLACES[place]
    assert (ident, f"the line {squeezed(line)[:60]}") in [(leak.exercise, leak.what) for leak in found_in(known, name, plant(line))]
    assert found_in(known, name, plant("x = compute(1, 2) < 3")) == []


@every_graded
def test_every_graded_solution_is_found_as_it_is_and_renamed(known: Secrets, exercise: Exercise) -> None:
    # A variant may be found as another one of its exercise.
    for code in (exercise.reference, exercise.alternative):
        code = textwrap.dedent(code).strip()
        assert exercise.id in {leak.exercise for leak in found_in(known, "a.html", coloured(code))}
        new = renamed(code)
        assert f"def {exercise.function}(" not in new
        if has_structure(code, known):
            for name, data in (("a.py", new), ("a.html", coloured(new)), ("a.md", f"Text\n\n```python\n{new}\n```\n")):
                assert SAME in {leak.what for leak in found_in(known, name, data)}, name


def has_structure(code: str, known: Secrets) -> bool:
    return not known.structures.keys().isdisjoint(functions_in(code))


def test_all_but_the_shortest_solutions_have_a_structure_of_their_own(known: Secrets) -> None:
    without = [name for name, exercise in GRADED.items() if not has_structure(exercise.reference, known)]
    # They return a few constants or one product.
    assert all(len(squeezed(GRADED[name].reference)) < 120 for name in without), without
    assert len(without) < len(GRADED) / 10


@every_graded
def test_a_hidden_check_is_found(known: Secrets, exercise: Exercise) -> None:
    source = inspect.getsource(exercise.hidden)
    assert exercise.id in {leak.exercise for leak in found_in(known, "a.py", source)}
    body = [line for line in source.splitlines()[1:] if squeezed(line) in known.lines.owners]
    assert body
    assert found_in(known, "a.html", coloured(body[0]))


def test_what_a_hidden_check_calls_is_found(known: Secrets) -> None:
    helpers = [
        function
        for module in MODULES
        for function in vars(module).values()
        if inspect.isfunction(function)
        and function.__module__ == module.__name__
        and function not in [exercise.hidden for exercise in module.EXERCISES]
    ]
    assert helpers
    missed = [function.__qualname__ for function in helpers if not found_in(known, "a.py", inspect.getsource(function))]
    assert missed == []


class Renamed(ast.NodeTransformer):
    """Every name that a piece of code defines itself, by another; no docstring."""

    def __init__(self, own: set[str]) -> None:
        self.new = {name: f"mine_{number}" for number, name in enumerate(sorted(own))}

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.new.get(node.id, node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(self.new[node.arg])

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self.new[node.name]
        node.body = [part for part in node.body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))]
        return self.generic_visit(node)


def renamed(code: str) -> str:
    tree = ast.parse(code)
    own = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    own |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    own |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return ast.unparse(Renamed(own).visit(tree))


@every_paper
def test_rubrics_and_model_answers_are_found_in_a_notebook_and_on_a_page(known: Secrets, task: PaperExercise) -> None:
    markdown = MarkdownIt("commonmark", {"typographer": True}).enable("smartquotes").use(dollarmath_plugin)
    long = [text for _, text in task.rubric if len(letters(text)) >= SENTENCE]
    assert long
    for text in (*long, textwrap.dedent(task.model_answer).strip()):
        page = f"<html><ul>{markdown.render(f'- {text}')}</ul></html>"
        for name, data in (("a.html", page), ("a.ipynb", notebook(nbformat.v4.new_markdown_cell(f"- {text}"))), ("a.md", text)):
            assert task.id in {leak.exercise for leak in found_in(known, name, data)}, (name, text)
        assert list(sentences(text))[-1] in known.sentences.owners


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.ipynb", notebook(edition=CANARY)),
        ("a.ipynb", notebook(nbformat.v4.new_markdown_cell(f"**Solution** ({CANARY})"))),
        ("a.html", f"<p><em>instructor</em> {CANARY.removeprefix('instructor').replace(' ', chr(10))}</p>"),
        ("a.js", f'"{CANARY}"'),
        ("RECORD", CANARY),
    ],
)
def test_the_mark_of_the_instructors_edition_is_found(known: Secrets, name: str, data: str) -> None:
    assert [(leak.exercise, leak.what) for leak in found_in(known, name, data)] == [("any", "the mark of the instructor's edition")]


def test_files_are_searched_wherever_they_are(tmp_path: Path, known: Secrets, lines: dict[str, tuple[str, str]]) -> None:
    ident, line = lines["("]
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("deep/a.ipynb", notebook(nbformat.v4.new_code_cell(line)))
    with zipfile.ZipFile(tmp_path / "library.whl", "w") as archive:
        archive.writestr("topiclib/clean.py", "x = 1\n")
        archive.writestr("topiclib/a.py", line)
        archive.writestr("topiclib.dist-info/METADATA", line)
        archive.writestr("more.zip", inner.getvalue())
    (tmp_path / "site" / "_downloads").mkdir(parents=True)
    (tmp_path / "site" / "picture.png").write_bytes(b"\x89PNG\0" + line.encode())  # a picture is no text
    (tmp_path / "site" / "page.html").write_text(coloured(line))
    (tmp_path / "site" / "_downloads" / "book.zip").write_bytes(inner.getvalue())
    (tmp_path / "alone.txt").write_text(line)
    number, leaks = scan([tmp_path / "library.whl", tmp_path / "site", tmp_path / "alone.txt"], known)
    places = ["topiclib/a.py", "topiclib.dist-info/METADATA", "more.zip/deep/a.ipynb"]
    where = [f"library.whl/{name}" for name in places] + ["site/_downloads/book.zip/deep/a.ipynb", "site/page.html", "alone.txt"]
    assert [leak.where for leak in leaks if leak.what.startswith("the line")] == where
    assert {leak.exercise for leak in leaks} == {ident}
    assert number == len(where) + 1
    assert str(leaks[0]) == f"library.whl/topiclib/a.py: {ident}: the line {squeezed(line)[:60]}"
    assert [name for name, _ in artefacts(tmp_path / "site")] == ["site/_downloads/book.zip/deep/a.ipynb", "site/page.html"]


def test_what_is_public_is_no_leak(known: Secrets) -> None:
    number, leaks = scan([BOOK, ROOT / "topiclib"], known)
    assert list(map(str, leaks)) == []
    assert number > 100


@pytest.mark.parametrize("exercise", [e for e in EXERCISES.values() if not e.graded], ids=lambda e: e.id)
def test_the_folded_solution_of_an_exercise_for_self_study_is_no_leak(known: Secrets, exercise: Exercise) -> None:
    code = textwrap.dedent(exercise.reference)
    for name, data in (
        ("a.html", coloured(code)),
        ("a.ipynb", notebook(nbformat.v4.new_markdown_cell(exercise.solution_cell()), nbformat.v4.new_code_cell(code))),
    ):
        assert found_in(known, name, data) == []


@every_graded
def test_stub_statement_check_and_hints_are_no_leak(known: Secrets, exercise: Exercise) -> None:
    hints = [exercise.grade(exercise.load(wrong.code)).message for wrong in exercise.wrong]
    shown = [exercise.statement_cell(), *hints]
    cells = [
        *map(nbformat.v4.new_markdown_cell, shown),
        *map(nbformat.v4.new_code_cell, (exercise.answer_cell(), exercise.check_cell())),
    ]
    assert found_in(known, "a.ipynb", notebook(*cells)) == []
    assert found_in(known, "a.html", coloured(exercise.stub) + MarkdownIt().render("\n\n".join(shown))) == []


def test_secrets_are_none_of_what_the_library_shows(known: Secrets) -> None:
    # In the other direction the scan would be blind: what counts as public must not grow into the solutions.
    graded = {exercise.id for exercise in GRADED.values()}
    assert graded <= set(known.lines.owners.values())
    assert {task.id for task in PAPER.values() if task.graded} <= set(known.sentences.owners.values())
    library = squeezed("".join(path.read_text() for path in (ROOT / "topiclib").rglob("*.py")))
    assert list(known.lines.within(library)) == []


def test_structure_forgets_names_docstrings_and_annotations_and_nothing_else() -> None:
    def of(code: str) -> str:
        return structure(ast.parse(code).body[0])

    one = of('def f(x: int, y) -> int:\n    """Text."""\n    z = x + 2 * y\n    return z')
    assert one == of("def other(a, b):\n    c = a + 2 * b\n    return c")
    assert one != of("def f(x, y):\n    z = y + 2 * x\n    return z")
    assert one != of("def f(x, y):\n    z = x + 3 * y\n    return z")
    assert one != of("def f(x, y):\n    z = x - 2 * y\n    return z")
    assert one != of("def f(x, y):\n    return x + 2 * y")
    # A keyword is named by the function that is called, an argument of the same name by the solution.
    assert of("f = lambda p: g(p=p, q=1)") == of("f = lambda other: g(p=other, q=1)")
    assert of("f = lambda x: x.real") != of("f = lambda x: x.imag")


def test_functions_are_found_in_what_is_python() -> None:
    code = "def f(x, y):\n    z = x + 2 * y\n    return z - x"
    (known,) = functions_in(code)
    for text in (
        f"%matplotlib inline\n!ls\n{code}",
        f"class A:\n{textwrap.indent(code, '    ')}",
        code.replace("def f", "def g"),
        f"  {code}".replace("\n", "\n  "),
    ):
        assert list(functions_in(text)) == [known]
    assert list(functions_in("async " + code)) != []
    for text in ("def f(x):\n    return x", "def f(x:\n", "the default", "\0 def", "(" * 500 + " def"):
        assert list(functions_in(text)) == []


def test_spaces_and_signs_are_taken_out() -> None:
    assert squeezed(" a =\tb\n +\u00a0c ") == "a=b+c"
    assert letters("It’s *so*: $W_{ij}$, 2 – 3.") == "ItssoWij23"
    assert without_escapes(r"a \"b\" \u003c \x41 \\n \n|") == 'a "b" < A \\n \n|'
    text = "It is [the first](a.ipynb#b) of many long sentences. And this is the second one of many."
    assert list(sentences(text))[1:] == [
        "Itisthefirstofmanylongsentences" + "Andthisisthesecondoneofmany",
        "Itisthefirstaipynbbofmanylongsentences",
    ]


def test_needles_are_found_wherever_they_begin() -> None:
    needles = Needles({"abcdefghijklmnop": "one", "hijklmnopqrstuvwxyz": "two"})
    for start in range(40):
        assert list(needles.within("." * start + "abcdefghijklmnopqrstuvwxyz")) == ["abcdefghijklmnop", "hijklmnopqrstuvwxyz"]
        assert list(needles.within("." * start + "abcdefghijklmno")) == []
    assert needles.but_for("-abcdefghijklmnop-").owners == {"hijklmnopqrstuvwxyz": "two"}
    assert list(Needles({}).within("abc")) == []


@pytest.mark.parametrize(
    ("name", "data", "text", "code"),
    [
        ("a.py", "x = 1", "x = 1", "x = 1"),
        ("a.html", "<pre><span>a</span> &lt; b</pre>", "a < b", "a < b"),
        ("a.json", '{"k": ["a ", "< b"]}', "a < b", "a < b"),
        ("a.md", "Text\n```\na < b\n```\n", "a < b", "a < b\n"),
        ("a.js", r'x("a \u003c b")', "a < b", r'x("a \u003c b")'),
        ("a.json", "{broken", "{broken", "{broken"),
    ],
)
def test_an_artefact_is_read(name: str, data: str, text: str, code: str) -> None:
    found, pieces = read_artefact(name, data.encode())
    assert text in found
    assert code in pieces


def test_bytes_that_are_no_text_are_read_all_the_same() -> None:
    assert "x = 1" in read_artefact("a.py", b"\xff\xfe x = 1")[0]
