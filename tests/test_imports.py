"""The directions of the design: each module imports only what lies below it, and the data needs no torch."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import topiclib

ROOT = Path(topiclib.__file__).parent
SECTIONS = {f"checks.{path.stem}" for path in (ROOT / "checks").glob("*.py")} - {
    "checks.__init__",
    "checks.base",
    "checks.progress_file",
}

DATA = {"validation", "vocabulary", "documents", "masking"}
TRANSFORMER = DATA | {"settings", "model", "losses"}
THEORY = {
    f"theory.{name}"
    for name in ("results", "domain", "masked_tokens", "moments", "minimisers", "embeddings", "value_matrix", "attention_weights",
                 "finite_length", "attention_patterns", "early_training")
}  # fmt: skip
REAL_TEXT = {"validation", "cache", "sources", "corpus", "topics", "encoders", "attention_pairs", "topic_contrast"}
# What each module may import from topiclib, from the bottom to the top.
ALLOWED: dict[str, set[str]] = {
    "": set(),
    "validation": set(),
    "checkpoint": set(),
    "checks.progress_file": set(),
    "checks.base": {"checks.progress_file"},
    "claims": {"validation"},
    "vocabulary": {"validation"},
    "compute": {"validation"},
    "tiers": {"validation"},
    "ranks": {"validation", "compute"},
    "enumeration": {"validation"},
    "documents": {"validation", "vocabulary"},
    "masking": {"validation", "vocabulary", "documents"},
    "settings": DATA,
    "model": {"validation", "vocabulary", "documents", "settings"},
    "losses": {"validation", "vocabulary", "documents", "masking", "settings", "model"},
    "word_counts": DATA,
    "counts": TRANSFORMER | {"word_counts"},
    "engine": TRANSFORMER | {"word_counts"},
    "history": set(),
    "lockstep": TRANSFORMER | {"word_counts", "history"},
    "training": TRANSFORMER | {"word_counts", "counts", "engine", "history", "lockstep", "checkpoint", "compute"},
    "sweeps": TRANSFORMER | {"engine", "history", "lockstep", "training", "checkpoint", "compute"},
    "distributed": {"validation", "checkpoint", "ranks", "sweeps"},
    "metrics": TRANSFORMER,
    "grammar": {"validation", "vocabulary", "documents"},
    "yardsticks": {"validation", "documents", "grammar"},
    "layers": {"validation", "vocabulary", "documents"},
    "layers_training": TRANSFORMER | {"word_counts", "compute", "grammar", "layers"},
    "layers_metrics": TRANSFORMER | {"word_counts", "compute", "metrics", "grammar", "layers", "layers_training"},
    "bayes": DATA | {"settings", "word_counts"},
    "plotting": TRANSFORMER | {"metrics"},
    "widgets": {"validation", "plotting"},
    # Real text and pretrained encoders: beside the synthetic part, of which they use none.
    "cache": {"checkpoint"},
    "sources": {"validation", "cache"},
    "start": {"", "compute", "cache"},
    "corpus": {"validation", "cache", "sources"},
    "topics": {"validation", "cache"},
    "encoders": {"validation", "compute", "cache", "sources"},
    "attention_pairs": {"validation", "compute", "cache", "corpus", "encoders"},
    "topic_contrast": {"validation", "topics", "attention_pairs"},
    "cooccurrence": {"validation", "corpus", "topics", "attention_pairs"},
    "natural_language": REAL_TEXT,
    "masked_lm": {"validation", "vocabulary", "masking", "settings", "corpus"},
    "masked_lm_training": {"validation", "masking", "checkpoint", "compute", "cache", "ranks", "masked_lm"},
    "masked_lm_topics": {"validation", "corpus", "topics", "attention_pairs", "masked_lm", "masked_lm_training"},
    # The theory stands apart from torch and from the brute force, so that their agreement is evidence.
    "theory.symbols": set(),
    "theory.results": set(),
    "theory.domain": {"validation"},
    "theory.masked_tokens": {"theory.domain", "theory.results"},
    "theory.moments": {"theory.domain", "theory.results", "theory.masked_tokens"},
    "theory.minimisers": {"theory.domain", "theory.results", "theory.masked_tokens"},
    "theory.embeddings": {
        "validation",
        "theory.domain",
        "theory.results",
        "theory.masked_tokens",
        "theory.moments",
        "theory.minimisers",
    },
    "theory.value_matrix": {"validation", "theory.domain", "theory.results", "theory.masked_tokens", "theory.moments"},
    "theory.attention_weights": {"validation", "theory.domain", "theory.results", "theory.masked_tokens", "theory.value_matrix"},
    "theory.finite_length": {"theory.domain", "theory.results", "theory.value_matrix"},
    "theory.early_training": {
        "validation",
        "theory.domain",
        "theory.results",
        "theory.masked_tokens",
        "theory.value_matrix",
    },
    "theory.attention_patterns": {
        "validation",
        "theory.symbols",
        "theory.domain",
        "theory.results",
        "theory.masked_tokens",
        "theory.value_matrix",
    },
    "theory": THEORY,
    **{section: TRANSFORMER | {"metrics", "checks.base", "enumeration", "theory"} for section in SECTIONS},
    "checks": SECTIONS | {"checks.base", "checks.progress_file"},
}
# Packages that only some modules may import; NumPy and the standard library are for all.
PACKAGES: dict[str, set[str]] = {
    "torch": {"checkpoint", "compute", "model", "losses", "counts", "engine", "lockstep", "history", "training", "sweeps"}
    | {"metrics", "layers", "layers_training", "layers_metrics", "cache", "encoders", "attention_pairs"}
    | {"masked_lm", "masked_lm_training", "masked_lm_topics", "ranks"},
    "safetensors": {"checkpoint", "encoders"},
    "transformers": {"encoders", "masked_lm"},
    "huggingface_hub": {"encoders", "natural_language"},
    "datasets": {"natural_language"},
    "gensim": {"corpus", "topics"},
    "tomotopy": {"topics"},
    "tqdm": {"training", "sweeps", "attention_pairs"},
    "matplotlib": {"plotting", "widgets"},
    "PIL": {"widgets"},
    "ipywidgets": {"widgets"},
    "IPython": {"claims", "plotting", "widgets"},
    "sympy": {
        "theory.symbols",
        "theory.domain",
        "theory.moments",
        "theory.minimisers",
        "theory.embeddings",
        "theory.value_matrix",
        "theory.finite_length",
        "theory.attention_patterns",
    },
    "scipy": {"theory.attention_patterns", "corpus", "topics", "topic_contrast", "masked_lm_topics", "cooccurrence"},
    "numpy": set(ALLOWED),
    "topiclib": set(ALLOWED),
}


def name_of(path: Path) -> str:
    """``documents``, ``checks.base``, ``checks`` for checks/__init__.py, and ``""`` for the package itself."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {name_of(path): path for path in sorted(ROOT.rglob("*.py"))}
every_module = pytest.mark.parametrize("module", SOURCES, ids=lambda name: name or "topiclib")


def imports(module: str) -> set[str]:
    """Every module that the source imports, also inside functions, by its full name."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(SOURCES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: a relative import hides its direction"
            # ``from topiclib.checks import base`` imports a module, ``from topiclib.model import X`` a name.
            within = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = {f"topiclib.{name}" for name in SOURCES}
            found |= (within & modules) or {str(node.module)}
            if within & modules and not within <= modules:
                found.add(str(node.module))
    return found


def test_every_module_has_its_place_in_the_table() -> None:
    assert set(SOURCES) == set(ALLOWED)


def test_the_table_has_no_cycle() -> None:
    order = list(ALLOWED)
    for position, module in enumerate(order):
        assert ALLOWED[module] <= set(order[:position]), module


@every_module
def test_a_module_imports_only_what_lies_below_it(module: str) -> None:
    ours = {name.removeprefix("topiclib").removeprefix(".") for name in imports(module) if name.startswith("topiclib")}
    assert ours <= ALLOWED[module]


@every_module
def test_a_module_imports_only_the_packages_it_may(module: str) -> None:
    packages = {name.split(".")[0] for name in imports(module)} - sys.stdlib_module_names
    assert packages <= set(PACKAGES), "a new package needs a line in the table"
    assert all(module in PACKAGES[package] for package in packages)


@every_module
def test_the_library_never_imports_book_exercises_tools_or_tests(module: str) -> None:
    assert not {name.split(".")[0] for name in imports(module)} & {"book", "exercises", "tools", "tests"}


def python(code: str) -> str:
    """What a fresh Python prints; fails if it does."""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_importing_topiclib_alone_imports_nothing_heavy() -> None:
    heavy = {"torch", "numpy", "matplotlib", "IPython", "ipywidgets"}
    assert (
        python(f"import sys, topiclib; print(sorted({heavy} & set(sys.modules)), topiclib.__version__)")
        == f"[] {topiclib.__version__}"
    )


def test_the_data_needs_no_torch() -> None:
    code = """
import sys
sys.modules["torch"] = None  # importing it is an error now
from topiclib.documents import DocumentSettings, infinite_documents, sample_documents
from topiclib.masking import MaskingSettings, mask_documents, masked_distribution
settings = DocumentSettings.tiny(mixture="fixed")
documents = sample_documents(settings, 4, 0)
mask_documents(documents.tokens, settings.vocabulary, MaskingSettings(), 0)
masked_distribution(infinite_documents(settings), MaskingSettings())
import topiclib.validation, topiclib.vocabulary, topiclib.claims
print("ok")
"""
    assert python(code) == "ok"


def test_training_needs_neither_matplotlib_nor_ipython() -> None:
    code = """
import sys
for name in ("matplotlib", "IPython", "ipywidgets"):
    sys.modules[name] = None
from topiclib.metrics import block_contrast
from topiclib.training import TrainingSettings, train
run = train(TrainingSettings.tiny(steps=2), seed=0, progress=False)
print(run.step)
"""
    assert python(code) == "2"


def test_a_check_by_itself_needs_no_widget_and_no_figure() -> None:
    code = """
import sys
for name in ("matplotlib", "IPython", "ipywidgets"):
    sys.modules[name] = None
from topiclib.checks import check, names
print(check(names()[0], None).status)
"""
    assert python(code) == "wrong"
