"""Bad inputs: every message names the argument, its value and what is allowed."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from topiclib import checks
from topiclib.claims import claim
from topiclib.compute import num_threads
from topiclib.documents import (
    DocumentSettings,
    infinite_document,
    infinite_documents,
    one_hot,
    sample_documents,
    topic_word_probabilities,
)
from topiclib.losses import masked_loss
from topiclib.masking import MaskingSettings, mask_documents, masked_distribution
from topiclib.metrics import attention_by_relation, block_contrast, embedding_gram, embedding_similarity
from topiclib.model import ModelSettings, TopicTransformer
from topiclib.plotting import attention_map, document_strip, heat_map, relation_bars
from topiclib.training import TrainingSettings, held_out_loss, sample_batch, train
from topiclib.validation import as_rng, check_bool, check_choice, check_int, check_real, check_type
from topiclib.vocabulary import Vocabulary
from topiclib.widgets import slider

VOCABULARY = Vocabulary(3, 2)
TINY = TrainingSettings.tiny()
MODEL = TopicTransformer(TINY.model, 0)
NAN, INF = float("nan"), float("inf")


class Bad(NamedTuple):
    """A bad call, the beginning of its message (argument and value), and what the message says is allowed."""

    call: Callable[[], object]
    error: type[Exception]
    begins: str
    allowed: str


def documents(**changes: Any) -> Callable[[], object]:
    return lambda: DocumentSettings.paper(**changes)


def masking(**changes: Any) -> Callable[[], object]:
    return lambda: MaskingSettings(**changes)


def training(**changes: Any) -> Callable[[], object]:
    return lambda: TrainingSettings.tiny(**changes)


def run(**options: Any) -> Callable[[], object]:
    return lambda: train(TINY, **{"seed": 0, "progress": False, **options})


def mask(tokens: Any, rng: Any = 0) -> Callable[[], object]:
    return lambda: mask_documents(tokens, VOCABULARY, MaskingSettings(), rng)


def axes() -> Any:
    return plt.figure().add_subplot()


BAD = [
    # vocabulary
    Bad(lambda: Vocabulary(0, 2), ValueError, "num_topics = 0: ", "a whole number >= 1"),
    Bad(lambda: Vocabulary(3, -2), ValueError, "words_per_topic = -2: ", "a whole number >= 1"),
    Bad(lambda: Vocabulary(2.5, 2), TypeError, "num_topics = 2.5: ", "a whole number >= 1"),  # type: ignore[arg-type]
    Bad(lambda: Vocabulary(True, 2), TypeError, "num_topics = True: ", "a whole number >= 1"),
    Bad(lambda: Vocabulary("3", 2), TypeError, "num_topics = '3': ", "a whole number >= 1"),  # type: ignore[arg-type]
    Bad(lambda: VOCABULARY.topic_of([1, 7]), ValueError, "words contains 7: ", "from 1 to 6"),
    Bad(lambda: VOCABULARY.topic_of([[3, 0]]), ValueError, "words contains 0: ", "from 1 to 6 ([MASK] = 0 has no topic)"),
    Bad(lambda: VOCABULARY.topic_of([1.0]), TypeError, "words has dtype float64: ", "whole numbers from 1 to 6"),
    Bad(lambda: VOCABULARY.words_of(0), ValueError, "topic = 0: ", "a whole number from 1 to 3"),
    Bad(lambda: VOCABULARY.words_of(4), ValueError, "topic = 4: ", "a whole number from 1 to 3"),
    # documents
    Bad(documents(mixture="lda"), ValueError, "mixture = 'lda': ", "one of 'dirichlet', 'fixed'"),
    Bad(documents(mixture=None), ValueError, "mixture = None: ", "one of 'dirichlet', 'fixed'"),
    Bad(documents(num_topics=0), ValueError, "num_topics = 0: ", "a whole number >= 1"),
    Bad(lambda: DocumentSettings.theory(11), ValueError, "topics_per_doc = 11: ", "a whole number from 1 to 10"),
    Bad(lambda: DocumentSettings.theory(0), ValueError, "topics_per_doc = 0: ", "a whole number from 1 to 10"),
    Bad(documents(dirichlet_alpha=0), ValueError, "dirichlet_alpha = 0: ", "a finite number in (0, 1e+06]"),
    Bad(documents(dirichlet_alpha=1e308), ValueError, "dirichlet_alpha = 1e+308: ", "a finite number in (0, 1e+06]"),
    Bad(documents(dirichlet_alpha=NAN), ValueError, "dirichlet_alpha = nan: ", "a finite number in (0, 1e+06]"),
    Bad(documents(dirichlet_alpha=[0.1]), TypeError, "dirichlet_alpha = [0.1]: ", "a finite number in (0, 1e+06]"),
    Bad(documents(min_len=0), ValueError, "min_len = 0: ", "a whole number >= 1"),
    Bad(documents(max_len=99), ValueError, "max_len = 99: ", "a whole number >= 100"),
    Bad(documents(overlap=1.1), ValueError, "overlap = 1.1: ", "a finite number in [0, 1]"),
    Bad(documents(word_skew=-0.5), ValueError, "word_skew = -0.5: ", "a finite number in [0, inf)"),
    Bad(documents(word_skew=INF), ValueError, "word_skew = inf: ", "a finite number in [0, inf)"),
    Bad(lambda: sample_documents(TINY.documents, 0, 0), ValueError, "num_docs = 0: ", "a whole number >= 1"),
    Bad(lambda: sample_documents(TINY.documents, 2, None), TypeError, "rng = None: ", "a numpy.random.Generator or a seed"),  # type: ignore[arg-type]
    Bad(lambda: infinite_document(VOCABULARY, [1, 4]), ValueError, "topics = 4: ", "a whole number from 1 to 3"),
    Bad(lambda: infinite_document(VOCABULARY, [2, 2]), ValueError, "topics = [2, 2]: ", "one or more distinct topic ids"),
    Bad(lambda: infinite_document(VOCABULARY, []), ValueError, "topics = []: ", "one or more distinct topic ids"),
    Bad(lambda: infinite_document(VOCABULARY, [1.0]), TypeError, "topics = 1.0: ", "a whole number from 1 to 3"),
    Bad(lambda: infinite_documents(DocumentSettings.paper()), ValueError, "settings = DocumentSettings(", "mixture='fixed'"),
    Bad(
        lambda: infinite_documents(DocumentSettings.theory(2, overlap=0.5)),
        ValueError,
        "settings = DocumentSettings(num_topics=10, words_per_topic=10, mixture='fixed', topics_per_doc=2",
        "overlap=0 and word_skew=0",
    ),
    Bad(
        lambda: infinite_documents(DocumentSettings.theory(20, num_topics=40)),
        ValueError,
        "settings has 137846528820 documents: ",
        "at most 200000 can be enumerated",
    ),
    Bad(lambda: one_hot([1, 7], VOCABULARY), ValueError, "tokens = [1, 7]: ", "ids from 0 to 6, or PAD = -1"),
    Bad(lambda: one_hot([-2], VOCABULARY), ValueError, "tokens = [-2]: ", "ids from 0 to 6, or PAD = -1"),
    Bad(lambda: one_hot([[1]], VOCABULARY), ValueError, "tokens has shape (1, 1) ", "one document of whole numbers"),
    # masking
    Bad(masking(p_m=0), ValueError, "p_m = 0: ", "a finite number in (0, 1)"),
    Bad(masking(p_m=1), ValueError, "p_m = 1: ", "a finite number in (0, 1)"),
    Bad(masking(p_m="15%"), TypeError, "p_m = '15%': ", "a finite number in (0, 1)"),
    Bad(masking(p_c=-0.1), ValueError, "p_c = -0.1: ", "a finite number in [0, 1]"),
    Bad(masking(p_r=NAN), ValueError, "p_r = nan: ", "a finite number in [0, 1]"),
    Bad(masking(p_c=0.7, p_r=0.4), ValueError, "p_c + p_r = 1.1: ", "at most 1"),
    Bad(mask([1, 2]), ValueError, "tokens has shape (2,) ", "(documents, positions) of ids"),
    Bad(mask([[1.0]]), ValueError, "tokens has shape (1, 1) and dtype float64: ", "(documents, positions) of ids"),
    Bad(mask([[1, 0]]), ValueError, "tokens contains 0: ", "words from 1 to 6, or PAD = -1"),
    Bad(mask([[1, 2], [3, 7]]), ValueError, "tokens contains 7: ", "words from 1 to 6, or PAD = -1"),
    Bad(mask([[1], [-1]]), ValueError, "tokens of shape (2, 1) has a document without words: ", "at least one in each"),
    Bad(mask(np.zeros((2, 0), dtype=int)), ValueError, "tokens of shape (2, 0) ", "at least one in each"),
    Bad(mask([[1]], rng=-1), TypeError, "rng = -1: ", "a seed (a whole number >= 0)"),
    Bad(
        lambda: masked_distribution(np.array([0, 0.5, 0.4]), MaskingSettings()),
        ValueError,
        "word_probabilities of shape (3,): ",
        "(..., V), >= 0, 0 for [MASK], and sum to 1",
    ),
    Bad(
        lambda: masked_distribution(np.array([0.5, 0.5, 0]), MaskingSettings()),
        ValueError,
        "word_probabilities of shape (3,): ",
        "0 for [MASK]",
    ),
    # training
    Bad(training(loss="mse"), ValueError, "loss = 'mse': ", "one of 'cross_entropy', 'squared'"),
    Bad(training(optimizer="adamw"), ValueError, "optimizer = 'adamw': ", "one of 'sgd', 'adam'"),
    Bad(training(learning_rate=0), ValueError, "learning_rate = 0: ", "a finite number in (0, inf)"),
    Bad(training(steps=0), ValueError, "steps = 0: ", "a whole number >= 1"),
    Bad(training(steps=1e3), TypeError, "steps = 1000.0: ", "a whole number >= 1"),
    Bad(training(batch_size=-3), ValueError, "batch_size = -3: ", "a whole number >= 1"),
    Bad(training(log_every=0), ValueError, "log_every = 0: ", "a whole number >= 1"),
    Bad(training(eval_every=0), ValueError, "eval_every = 0: ", "a whole number >= 1"),
    Bad(training(eval_docs=0), ValueError, "eval_docs = 0: ", "a whole number >= 1"),
    Bad(training(l2_coef=-1), ValueError, "l2_coef = -1: ", "a finite number in [0, inf)"),
    Bad(training(l2_on="W_V"), ValueError, "l2_on = 'W_V': ", "None or a tuple of names from W_E, W_K, W_Q, W_V"),
    Bad(training(l2_on=("W_X",)), ValueError, "l2_on = ('W_X',): ", "None or a tuple of names from W_E, W_K, W_Q, W_V"),
    Bad(training(l2_on=5), ValueError, "l2_on = 5: ", "None or a tuple of names"),
    Bad(training(snapshots=(0, 21)), ValueError, "snapshots = 21: ", "a whole number from 0 to 20"),
    Bad(training(snapshots=7), TypeError, "snapshots = 7: ", "a tuple of steps, such as (0, 20)"),
    Bad(
        training(documents=DocumentSettings.paper()),
        ValueError,
        "model.vocabulary = Vocabulary(num_topics=3, words_per_topic=2): ",
        "the documents' Vocabulary(num_topics=10, words_per_topic=10)",
    ),
    Bad(run(seed=-1), ValueError, "seed = -1: ", "a whole number from 0 to 18446744073709551615"),
    Bad(run(seed=None), TypeError, "seed = None: ", "a whole number from 0 to"),
    Bad(run(checkpoint_every=0), ValueError, "checkpoint_every = 0: ", "a whole number >= 1"),
    Bad(run(stop_at=21), ValueError, "stop_at = 21: ", "a whole number from 0 to 20"),
    Bad(run(threads=0), ValueError, "threads = 0: ", "a whole number >= 1"),
    Bad(
        run(model=TopicTransformer(ModelSettings.tiny(embedding_dim=6), 0)),
        ValueError,
        "model has settings ModelSettings(",
        "settings.model = ModelSettings(",
    ),
    Bad(
        lambda: train(replace(TINY, l2_coef=1.0, l2_on=("W_K",), model=ModelSettings.tiny(frozen=("W_K",))), seed=0),
        ValueError,
        "l2_on = ('W_K',): ",
        "a trained parameter; trained are W_E, W_Q, W_V",
    ),
    Bad(
        lambda: train(replace(TINY, model=ModelSettings.tiny(frozen=tuple(MODEL.trained()))), seed=0),
        ValueError,
        "model has no trained parameter: ",
        "at least one must not be frozen",
    ),
    Bad(lambda: sample_batch(TINY, 0, 0), ValueError, "num_docs = 0: ", "a whole number >= 1"),
    Bad(lambda: sample_batch(TINY, 4, True), TypeError, "rng = True: ", "a numpy.random.Generator or a seed"),
    Bad(lambda: held_out_loss(MODEL, TINY, 4, None), TypeError, "rng = None: ", "a numpy.random.Generator or a seed"),  # type: ignore[arg-type]
    Bad(lambda: num_threads(0).__enter__(), ValueError, "number = 0: ", "a whole number >= 1"),
    # metrics
    Bad(lambda: block_contrast(np.ones((6, 6)), VOCABULARY), ValueError, "matrix has shape (6, 6): ", "(V, V) = (7, 7)"),
    Bad(lambda: block_contrast(np.full((7, 7), NAN), VOCABULARY), ValueError, "matrix contains nan: ", "finite everywhere"),
    Bad(lambda: block_contrast(np.diag([1, 2, 3, 4, 5, -INF, 7]), VOCABULARY), ValueError, "matrix contains -inf: ", "finite"),
    Bad(lambda: embedding_gram(np.ones(7)), ValueError, "w_e has shape (7,): ", "(d, V)"),
    Bad(lambda: embedding_gram([[1, 0], [1, 0]], cosine=True), ValueError, "w_e has a zero column (1): ", "none for cosines"),
    Bad(lambda: attention_by_relation(MODEL, np.array([[1, 7]])), ValueError, "tokens has ids from 1 to 7: ", "from 0 to 6"),
    # plotting, claims, sliders, checks
    Bad(lambda: heat_map(np.ones((6, 7)), VOCABULARY, ax=axes()), ValueError, "matrix has shape (6, 7): ", "(V, V) = (7, 7)"),
    Bad(lambda: relation_bars([], ["a"], ax=axes()), ValueError, "labels has 1 entries: ", "one for each of 0 results"),
    Bad(lambda: document_strip([1, 7], VOCABULARY, ax=axes()), ValueError, "tokens = [1, 7]: ", "ids from 0 to 6, or PAD = -1"),
    Bad(lambda: document_strip([[1, 2]], VOCABULARY, ax=axes()), ValueError, "tokens = [[1, 2]]: ", "one document of ids"),
    Bad(
        lambda: document_strip([1, 2], VOCABULARY, ax=axes(), selected=[True]),
        ValueError,
        "selected has shape (1,): ",
        "that of tokens, (2,)",
    ),
    Bad(lambda: claim("My claim", 1, "1"), ValueError, "name = 'My claim': ", "lower-case letters, digits and hyphens"),
    Bad(lambda: claim("a-", 1, "1"), ValueError, "name = 'a-': ", "lower-case letters, digits and hyphens"),
    Bad(lambda: claim("a", 1, "1", bound="about"), ValueError, "bound = 'about': ", "one of 'equal', 'at least', 'at most'"),
    Bad(lambda: claim("a", 1, "1", bound=None), ValueError, "bound = None: ", "one of 'equal', 'at least', 'at most'"),  # type: ignore[arg-type]
    Bad(lambda: claim("a", 1, "1", tol=-0.1), ValueError, "tol = -0.1: ", "a finite number in [0, inf)"),
    Bad(lambda: claim("a", 1, "1", tol=NAN), ValueError, "tol = nan: ", "a finite number in [0, inf)"),
    Bad(lambda: claim("a", 1, "1", tol=INF), ValueError, "tol = inf: ", "a finite number in [0, inf)"),
    Bad(lambda: claim("a", 1, "1", tol="x"), TypeError, "tol = 'x': ", "a finite number in [0, inf)"),  # type: ignore[arg-type]
    Bad(lambda: claim("a", 1, 1), TypeError, "says = 1: ", "a str"),  # type: ignore[arg-type]
    Bad(lambda: claim(None, 1, "1"), TypeError, "name = None: ", "a str"),  # type: ignore[arg-type]
    Bad(lambda: claim("a", "1", "1"), TypeError, "value = '1': ", "one number"),  # type: ignore[arg-type]
    Bad(lambda: claim("a", [1], "1"), TypeError, "value = [1]: ", "one number"),  # type: ignore[arg-type]
    Bad(lambda: claim("a", torch.ones(2), "1"), TypeError, "value = tensor([1., 1.]): ", "one number"),  # type: ignore[arg-type]
    Bad(lambda: claim("a", 1, "1", seeds=3), TypeError, "seeds = 3: ", "a sequence of whole numbers"),  # type: ignore[arg-type]
    Bad(lambda: claim("a", 1, "1", seeds=None), TypeError, "seeds = None: ", "a sequence of whole numbers"),  # type: ignore[arg-type]
    Bad(lambda: claim("a", 1, "1", seeds=[0.5]), TypeError, "seeds = 0.5: ", "a whole number >= 0"),  # type: ignore[list-item]
    Bad(lambda: document_strip([1], VOCABULARY, ax=axes(), columns=0), ValueError, "columns = 0: ", "a whole number >= 1"),
    Bad(lambda: claim("a", 1, "one"), ValueError, "says = 'one': ", "a number as the text prints it, such as '0.34'"),
    Bad(
        lambda: slider(lambda value: (plt.figure(), ""), [1.0], name="s", label="x", caption="c", alt="a"),
        ValueError,
        "values has 1 entries: ",
        "at least two",
    ),
    Bad(
        lambda: slider(lambda value: (plt.figure(), ""), [1.0, 2.0], name="s", label="x", caption="c", alt="a", start=2),
        ValueError,
        "start = 2: ",
        "a whole number from 0 to 1",
    ),
    Bad(lambda: checks.check("9.9-nothing", len), ValueError, "exercise = '9.9-nothing': ", "one of "),
]


# Objects of the wrong kind: (call, the message's argument and value, the kind that is allowed).
E, V, IDS = np.eye(7), VOCABULARY, np.ones((1, 3), dtype=np.int64)
S: Any = "paper"
KINDS: list[tuple[Callable[[], object], str, str]] = [
    (lambda: sample_documents(S, 2, 0), "settings = 'paper'", "DocumentSettings"),
    (lambda: topic_word_probabilities(S), "settings = 'paper'", "DocumentSettings"),
    (lambda: infinite_documents(S), "settings = 'paper'", "DocumentSettings"),
    (lambda: infinite_document(S, [1]), "vocabulary = 'paper'", "Vocabulary"),
    (lambda: one_hot([1], S), "vocabulary = 'paper'", "Vocabulary"),
    (lambda: mask_documents(IDS, MaskingSettings(), V, 0), "vocabulary = MaskingSettings(p_m", "Vocabulary"),  # type: ignore[arg-type]
    (lambda: mask_documents(IDS, V, 0.15, 0), "settings = 0.15", "MaskingSettings"),  # type: ignore[arg-type]
    (lambda: masked_distribution(np.array([0, 1.0]), S), "settings = 'paper'", "MaskingSettings"),
    (training(documents="paper"), "documents = 'paper'", "DocumentSettings"),
    (training(model=None), "model = None", "ModelSettings"),
    (training(masking=0.15), "masking = 0.15", "MaskingSettings"),
    (lambda: ModelSettings(S), "vocabulary = 'paper'", "Vocabulary"),
    (lambda: TopicTransformer(VOCABULARY, 0), "settings = Vocabulary(num_topics=3", "ModelSettings"),  # type: ignore[arg-type]
    (lambda: train(S, seed=0), "settings = 'paper'", "TrainingSettings"),
    (run(model="m"), "model = 'm'", "TopicTransformer"),
    (lambda: sample_batch(S, 4, 0), "settings = 'paper'", "TrainingSettings"),
    (lambda: held_out_loss(MODEL, S, 4, 0), "settings = 'paper'", "TrainingSettings"),
    (lambda: held_out_loss(S, TINY, 4, 0), "model = 'paper'", "TopicTransformer"),
    (lambda: masked_loss(MODEL, torch.from_numpy(IDS)), "batch = tensor([[1, 1, 1]])", "MaskedDocuments"),  # type: ignore[arg-type]
    (lambda: MODEL(IDS), "tokens = array([[1, 1, 1]])", "Tensor"),
    (lambda: MODEL([[1, 1]]), "tokens = [[1, 1]]", "Tensor"),
    (lambda: MODEL(torch.from_numpy(IDS), [[0]]), "positions = [[0]]", "Tensor"),
    (lambda: block_contrast(E, None), "vocabulary = None", "Vocabulary"),  # type: ignore[arg-type]
    (lambda: block_contrast(E, 10), "vocabulary = 10", "Vocabulary"),  # type: ignore[arg-type]
    (lambda: block_contrast(E, TINY.documents), "vocabulary = DocumentSettings(num_topics=3", "Vocabulary"),  # type: ignore[arg-type]
    (lambda: embedding_similarity(E, S), "vocabulary = 'paper'", "Vocabulary"),
    (lambda: attention_by_relation(S, IDS), "model = 'paper'", "TopicTransformer"),
    (lambda: heat_map(E, S, ax=axes()), "vocabulary = 'paper'", "Vocabulary"),
    (lambda: document_strip([1], S, ax=axes()), "vocabulary = 'paper'", "Vocabulary"),
    (lambda: attention_map([[1]], [1], S, ax=axes()), "vocabulary = 'paper'", "Vocabulary"),
]


@pytest.mark.parametrize(("call", "begins", "kind"), KINDS, ids=[f"{begins}, no {kind}" for _, begins, kind in KINDS])
def test_an_object_of_the_wrong_kind_is_a_type_error(call: Callable[[], object], begins: str, kind: str) -> None:
    with pytest.raises(TypeError) as caught:
        call()
    plt.close("all")
    assert str(caught.value).startswith(begins)
    assert str(caught.value).endswith(f": must be a {kind}")


def test_check_type_shows_one_line_and_takes_subclasses() -> None:
    assert check_type("x", True, int) is True
    with pytest.raises(TypeError, match=r"^x = 5: must be an OSError$"):
        check_type("x", 5, OSError)
    with pytest.raises(TypeError, match=r"^x = array\(.{91}\.\.\.: must be a str$"):
        check_type("x", np.zeros((20, 20)), str)


def test_a_seed_is_at_most_what_torch_takes() -> None:
    for call in (lambda: TopicTransformer(TINY.model, 2**64), run(seed=2**64)):
        with pytest.raises(ValueError, match=rf"^seed = {2**64}: must be a whole number from 0 to {2**64 - 1}$"):
            call()
    TopicTransformer(TINY.model, 2**64 - 1)


@pytest.mark.parametrize("alpha", [5e-324, 1e-9, 1e6])
def test_topic_weights_sum_to_one_for_every_alpha(alpha: float) -> None:
    weights = sample_documents(DocumentSettings.paper(dirichlet_alpha=alpha), 50, 0).topic_weights
    assert np.allclose(weights.sum(axis=1), 1)
    assert alpha < 1e6 or np.allclose(weights, 0.1, rtol=0.01)


def name_of(bad: Any) -> str:
    return str(bad.begins.rstrip(": "))


@pytest.mark.parametrize("bad", BAD, ids=name_of)
def test_the_message_names_argument_value_and_what_is_allowed(bad: Bad) -> None:
    with pytest.raises(bad.error) as caught:
        bad.call()
    plt.close("all")
    message = str(caught.value)
    assert message.startswith(bad.begins)
    assert bad.allowed in message.removeprefix(bad.begins)


@pytest.mark.parametrize("settings", [DocumentSettings, MaskingSettings, ModelSettings, TrainingSettings])
def test_settings_refuse_unknown_names(settings: Any) -> None:
    with pytest.raises(TypeError, match="alpha"):
        settings.paper(alpha=1)


@pytest.mark.parametrize("settings", [DocumentSettings.paper(), MaskingSettings(), ModelSettings(), TrainingSettings()])
def test_settings_cannot_be_changed(settings: Any) -> None:
    name = next(iter(settings.__dataclass_fields__))
    with pytest.raises(AttributeError):
        setattr(settings, name, 1)


@pytest.mark.parametrize("value", [1, 5, np.int8(3), np.uint64(4)])
def test_check_int_returns_an_int(value: Any) -> None:
    assert type(check_int("x", value, 1, 5)) is int
    assert check_int("x", value, 1) == value


@pytest.mark.parametrize("value", [0, 6, np.int8(0), 10**30])
def test_check_int_refuses_what_is_outside(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^x = .*: must be a whole number from 1 to 5$"):
        check_int("x", value, 1, 5)


@pytest.mark.parametrize("value", [True, np.True_, 2.0, "2", None, [2], np.array([2]), 2j])
def test_check_int_refuses_what_is_no_int(value: Any) -> None:
    with pytest.raises(TypeError, match=r"must be a whole number >= 1$"):
        check_int("x", value, 1)


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float32(0.5), np.int64(1), Fraction(1, 3)])
def test_check_real_returns_a_float(value: Any) -> None:
    assert type(check_real("x", value, 0, 1)) is float
    assert check_real("x", value, 0, 1) == float(value)


@pytest.mark.parametrize("value", [True, "0.5", None, 0.5j, np.array([0.5]), Decimal("0.5")])
def test_check_real_refuses_what_is_no_number(value: Any) -> None:
    with pytest.raises(TypeError, match=r"must be a finite number in \[0, 1\]$"):
        check_real("x", value, 0, 1)


@pytest.mark.parametrize("value", [NAN, INF, -INF, -1e-300, np.nextafter(1, 2)])
def test_check_real_refuses_what_is_outside(value: float) -> None:
    with pytest.raises(ValueError, match=r"must be a finite number in \[0, 1\]$"):
        check_real("x", value, 0, 1)


@pytest.mark.parametrize(
    ("low", "high", "interval"), [(True, False, r"\(0, 1\]"), (False, True, r"\[0, 1\)"), (True, True, r"\(0, 1\)")]
)
def test_check_real_keeps_open_ends_out(low: bool, high: bool, interval: str) -> None:
    for value, is_open in ((0.0, low), (1.0, high)):
        if is_open:
            with pytest.raises(ValueError, match=f"must be a finite number in {interval}$"):
                check_real("x", value, 0, 1, open_low=low, open_high=high)
        else:
            assert check_real("x", value, 0, 1, open_low=low, open_high=high) == value


@pytest.mark.parametrize("value", ["c", "", None, 1, ["a"]])
def test_check_choice_names_the_choices(value: Any) -> None:
    assert check_choice("x", "a", ("a", "b")) == "a"
    with pytest.raises(ValueError, match=r"^x = .*: must be one of 'a', 'b'$") as caught:
        check_choice("x", value, ("a", "b"))
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize("value", [0, 1, "True", None])
def test_check_bool_takes_true_and_false_only(value: Any) -> None:
    assert check_bool("x", True) is True
    assert check_bool("x", np.False_) is False
    with pytest.raises(TypeError, match=r"^x = .*: must be True or False$"):
        check_bool("x", value)


def test_as_rng_keeps_a_generator_and_seeds_a_new_one() -> None:
    rng = np.random.default_rng(3)
    assert as_rng(rng) is rng
    assert as_rng(5).random() == as_rng(np.int64(5)).random() == np.random.default_rng(5).random()


@pytest.mark.parametrize("value", [None, -1, 1.0, True, "0", np.random, np.random.RandomState(0)])
def test_as_rng_refuses_everything_else(value: Any) -> None:
    with pytest.raises(TypeError, match=r"^rng = .*must be a numpy.random.Generator or a seed"):
        as_rng(value)
