"""The map of results: what it finds, one planted fault of each kind, and that the course's own map has none."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

from tools import build, results_map
from tools.notebooks import synced, write
from tools.prose import prose_findings
from topiclib.theory.results import Result

CHAPTER = """# 5 Attention with $W^V$

## Why it is so

> **Theorem 2** (Small). It is small.

$$ a = b \\tag{D.17} $$

## Why it is so

Not a box: **Theorem 9**. Not a heading:

```
# theorem-10
```
"""
CODE = """fig, ax = None, None
show(
    fig, "figure-blocks", caption="c", alt="a")
slider(None, [1], alt="a", name="slider-rate", label="l", caption="c", form="g")
claim("half", 0.5, "0.5")
"""
TESTS = """import pytest

@pytest.mark.result("theorem2")
def test_values(): ...
"""


def theory(*entries: Result) -> SimpleNamespace:
    """A package whose functions are those of the entries."""
    package = SimpleNamespace(__all__=[entry.function for entry in entries])
    for entry in entries:
        setattr(package, entry.function, SimpleNamespace(__module__="topiclib.theory.attention", __call__=None))
    return package


def enter(monkeypatch: pytest.MonkeyPatch, *entries: Result, package: SimpleNamespace | None = None) -> None:
    """Make these the registry."""
    made = ({entry.function: entry for entry in entries}, package or theory(*entries))
    monkeypatch.setattr(results_map, "registry", lambda: made)


THEOREM = Result("theorem2", "Theorem 2", "the optimal values", "05_attention.ipynb#theorem-2")
RIDGE = Result("ridge", "Beyond the paper", "the exact minimiser", "05_attention.ipynb#why-it-is-so")


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course of one chapter, one result and one test, whose map is in order."""
    (tmp_path / "book").mkdir()
    (tmp_path / "tests" / "theory").mkdir(parents=True)
    (tmp_path / "_toc.yml").write_text(
        "format: jb-book\nroot: book/preface\nchapters:\n  - file: book/05_attention\n  - file: book/results_map\n"
    )
    cells = [nbformat.v4.new_markdown_cell(CHAPTER, id="title"), nbformat.v4.new_code_cell(CODE, id="code")]
    write(tmp_path / "book" / "05_attention.ipynb", synced(nbformat.v4.new_notebook(cells=cells), "05_attention"))
    (tmp_path / "tests" / "theory" / "test_attention.py").write_text(TESTS)
    monkeypatch.setattr(results_map, "BOOK", tmp_path / "book")
    monkeypatch.setattr(results_map, "PAGE", tmp_path / "book" / "results_map.md")
    monkeypatch.setattr(results_map, "TESTS", tmp_path / "tests")
    monkeypatch.setattr(results_map, "TOC", tmp_path / "_toc.yml")
    enter(monkeypatch, THEOREM)
    assert results_map.main(["sync"]) == 0
    return tmp_path


def put_tests(course: Path, text: str) -> None:
    (course / "tests" / "theory" / "test_attention.py").write_text(text)


def loose_numbers(page: str) -> list[str]:
    """What the prose check says of the page, apart from the chapters' titles and the tests' names, which hold labels."""
    text = re.sub(r"<code>.*?</code>", "", re.sub(r"\[[^\]]*\]\(", "[](", page))
    cell = nbformat.v4.new_markdown_cell(text, id="page")
    return list(prose_findings(nbformat.v4.new_notebook(cells=[cell])))


def test_a_map_in_order_has_no_finding(course: Path) -> None:
    assert results_map.findings() == []
    assert results_map.main(["check"]) == 0


@pytest.mark.parametrize(
    ("plant", "said"),
    [
        pytest.param(lambda c, m: put_tests(c, ""), "theorem2 (Theorem 2) has no test", id="no test"),
        pytest.param(
            lambda c, m: put_tests(c, TESTS + TESTS.replace("theorem2", "theorem3")),
            "tests/theory/test_attention.py:7: the marker names 'theorem3', which is no function of the map",
            id="marker of no function",
        ),
        pytest.param(
            lambda c, m: put_tests(c, TESTS + TESTS.replace("test_values", "values")),
            ":7: the marker 'result' stands on no test",
            id="helper",
        ),
        pytest.param(
            lambda c, m: put_tests(
                c,
                TESTS
                + "@pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.result('theorem2'))])\ndef test_x(x): ...",
            ),
            "stands on no test",
            id="marker inside a parameter",
        ),
        pytest.param(
            lambda c, m: (c / "tests" / "moments.py").write_text(TESTS),
            "tests/moments.py:3: the marker 'result' stands on no",
            id="file that is not collected",
        ),
        pytest.param(
            lambda c, m: put_tests(c, TESTS + TESTS.replace('"theorem2"', "NAME")),
            "needs names as plain strings",
            id="name in a variable",
        ),
        pytest.param(
            lambda c, m: put_tests(c, TESTS + TESTS.replace('("theorem2")', "")), "needs names as plain strings", id="no name"
        ),
        pytest.param(
            lambda c, m: (c / "book" / "05_attention.ipynb").unlink(),
            "'05_attention.ipynb' is no notebook of book/",
            id="no chapter",
        ),
        pytest.param(
            lambda c, m: (c / "_toc.yml").write_text("format: jb-book\nroot: book/results_map\n"),
            "'05_attention.ipynb' is not in _toc.yml",
            id="chapter outside the contents",
        ),
        pytest.param(
            lambda c, m: enter(m, Result("theorem2", "Theorem 2", "x", "05_attention.ipynb#theorem-9")),
            "05_attention.ipynb has no anchor 'theorem-9'",
            id="no anchor",
        ),
        pytest.param(
            lambda c, m: enter(m, Result("theorem2", "Theorem 2", "x", "05_attention.ipynb")),
            "has no anchor ''",
            id="anchor left out",
        ),
        pytest.param(lambda c, m: enter(m, THEOREM, RIDGE), "results_map.md is out of date", id="new result"),
        pytest.param(
            lambda c, m: put_tests(c, TESTS.replace("test_values", "test_better")),
            "results_map.md is out of date",
            id="renamed test",
        ),
        pytest.param(lambda c, m: (c / "book" / "results_map.md").unlink(), "results_map.md is out of date", id="no page"),
        pytest.param(
            lambda c, m: enter(
                m,
                THEOREM,
                package=SimpleNamespace(__all__=["theorem2", "extra"], theorem2=test_a_map_in_order_has_no_finding, extra=len),
            ),
            "topiclib.theory.extra is public but not in the map",
            id="public function without an entry",
        ),
        pytest.param(
            lambda c, m: enter(m, THEOREM, package=SimpleNamespace(__all__=[])),
            "in the map but not in topiclib.theory.__all__",
            id="entry that is not public",
        ),
        pytest.param(lambda c, m: enter(m), "the map is empty", id="empty map"),
    ],
)
def test_a_planted_fault_is_found(
    course: Path, monkeypatch: pytest.MonkeyPatch, plant: Callable[[Path, pytest.MonkeyPatch], object], said: str
) -> None:
    plant(course, monkeypatch)
    assert any(said in finding for finding in results_map.findings()), results_map.findings()
    assert results_map.main(["check"]) == 1
    assert any(finding.startswith("map of results: ") and said in finding for finding in build.source_findings())


def test_classes_and_constants_of_the_package_need_no_entry(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = theory(THEOREM)
    package.__all__ += ["Path", "PI", "result"]
    package.Path, package.PI, package.result = Path, 3.14, results_map.importlib.import_module("topiclib.theory.results").result
    enter(monkeypatch, THEOREM, package=package)
    assert results_map.findings() == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("@pytest.mark.result('f', 'g')\ndef test_a(): ...", ["test_a"]),
        ("@pytest.mark.result('g')\n@pytest.mark.result('f')\nasync def test_a(): ...", ["test_a"]),
        ("@pytest.mark.parametrize('x', [1, 2])\n@pytest.mark.result('f')\ndef test_a(x): ...", ["test_a"]),
        ("@mark.result('f')\ndef test_a(): ...\ndef test_b(): ...", ["test_a"]),
        (
            "@pytest.mark.result('f')\nclass TestA:\n    def test_a(self): ...\n    def help(self): ...\n    def test_b(self): ...",
            ["TestA::test_a", "TestA::test_b"],
        ),
        ("class TestA:\n    pytestmark = pytest.mark.result('f')\n    def test_a(self): ...", ["TestA::test_a"]),
        (
            "pytestmark = pytest.mark.result('f')\ndef test_a(): ...\nclass TestB:\n    def test_b(self): ...",
            ["test_a", "TestB::test_b"],
        ),
        ("pytestmark: list = [pytest.mark.slow, pytest.mark.result('f')]\n@pytest.mark.result('f')\ndef test_a(): ...", ["test_a"]),
    ],
)
def test_markers_are_read_wherever_pytest_reads_them(course: Path, text: str, names: list[str]) -> None:
    put_tests(course, text)
    found = results_map.marks()
    assert found.findings == []
    assert found.tests["f"] == {"theory/test_attention.py": names}


def test_anchors_are_those_of_the_book(course: Path) -> None:
    found = results_map.anchors(results_map.read(course / "book" / "05_attention.ipynb"))
    assert found == {
        *("5-attention-with-", "why-it-is-so", "why-it-is-so-1", "theorem-2", "equation-d-17"),
        *("figure-blocks", "slider-rate", "claim-half"),
    }


def test_the_page_has_the_papers_order_and_short_cells(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    papers = ["Lemma 1", "Theorem 2", "Theorem 3", "Remark 2", "Remark 10", "Equation 9", "Appendix B.1", "Equation D.17"]
    papers += ["Beyond the paper"]
    entries = [Result(f"f{n}", paper, "a | b", "05_attention.ipynb#theorem-2") for n, paper in enumerate(papers)]
    enter(monkeypatch, *reversed(entries))
    put_tests(
        course,
        "\n".join(f"@pytest.mark.result('f0')\ndef test_{n}(): ..." for n in range(25)) + "\n" + TESTS.replace("theorem2", "f1"),
    )
    text = results_map.page(results_map.collect()[0])
    rows = [line for line in text.splitlines() if line.startswith("| ") and "`f" in line]
    assert [f"`f{n}`" in row for n, row in enumerate(rows)] == [True] * len(papers)
    assert text.index("## The paper's results") < text.index("`f0`") < text.index("## Beyond the paper") < text.index("`f8`")
    assert rows[0] == (
        '| <span class="tl-statement">**Lemma 1.** a \\| b</span> | <span id="map-f0"></span>`f0` in `attention`, '
        "derived in [5](05_attention.ipynb#theorem-2) | `theory/test_attention.py`: twenty-five tests |"
    )
    assert rows[1].endswith("| `theory/test_attention.py`: values |")
    assert rows[8].startswith('| <span class="tl-statement">a \\| b</span> |')
    assert loose_numbers(text) == []


def test_the_map_is_off_until_the_contents_list_it(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (course / "book" / "results_map.md").unlink()
    (course / "_toc.yml").write_text("format: jb-book\nroot: book/preface\n")
    put_tests(course, "")
    for command in ("sync", "check"):
        assert results_map.main([command]) == 0
        assert "map of results: off" in capsys.readouterr().out
    assert not (course / "book" / "results_map.md").exists()
    assert results_map.main(["write"]) == 2


@pytest.mark.skipif(not results_map.active(), reason="the book has no map of results yet")
def test_the_courses_own_map_is_in_order() -> None:
    assert results_map.findings() == []
    assert loose_numbers(results_map.PAGE.read_text()) == []
