"""Table 1 for any encoder: from text and a model's name to the ratios, with everything in between.

The chapters go through the steps one by one. Here they stand in one function, for an encoder of one's own, for the paper's
five where there is a network, and for as much of Wikipedia as one has time for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import floor
from pathlib import Path
from typing import Any

from topiclib.attention_pairs import STEPS, attention_pairs, debiased
from topiclib.corpus import Article, content_words, tokenize
from topiclib.encoders import PACKAGED, PAPER_MODELS, Encoder, load_encoder, why_no_hub
from topiclib.sources import SOURCES, SourceError, available, locate
from topiclib.topic_contrast import Contrast, attention_contrast, embedding_contrast
from topiclib.topics import TopicSettings, fit_topics, shuffled, topic_words
from topiclib.validation import check_bool, check_choice, check_each, check_int, check_real, check_text

__all__ = ["RECORD", "Availability", "TableRow", "available_encoders", "measure_encoder", "read_wikipedia", "recorded_rows"]

MAX_TOKENS = 254
WIKIPEDIA = "wikimedia/wikipedia"
BUFFER = 1000
"""Articles among which a shuffled stream chooses the next one."""


@dataclass(frozen=True)
class TableRow:
    """A row of Table 1, with what the same measurement gives for topics that mean nothing.

    encoder : its name
    threshold : the share of the vocabulary that each topic may keep
    words_per_topic : what this is in words
    num_words : words that are left in all topics together
    cosine, dot : of the rows of the word matrix, same topic over different topics
    attention : the same, debiased
    cosine_control, dot_control, attention_control : with the words dealt out anew; 1 within their error
    """

    encoder: str
    threshold: float
    words_per_topic: int
    num_words: int
    cosine: Contrast
    dot: Contrast
    attention: Contrast
    cosine_control: Contrast
    dot_control: Contrast
    attention_control: Contrast

    def __str__(self) -> str:
        measured = ", ".join(
            f"{name} {value.ratio:.2f} [{value.low:.2f}, {value.high:.2f}]"
            for name, value in (("cosine", self.cosine), ("dot", self.dot), ("attention", self.attention))
        )
        return f"{self.encoder}, {self.threshold:g} ({self.words_per_topic} words a topic): {measured}"


def measure_encoder(
    name: str | Path | Encoder,
    articles: Iterable[Article],
    *,
    thresholds: Sequence[float] = (0.0005, 0.001, 0.002),
    settings: TopicSettings | None = None,
    seed: int = 0,
    attention_documents: int = 4000,
    several: bool = False,
    steps: Sequence[str] = STEPS,
    layers: Sequence[int] | None = None,
    draws: int = 500,
    progress: bool | None = None,
) -> list[TableRow]:
    """Measure Table 1 for one encoder: its own tokenizer's pieces, LDA on them, embeddings, attention.

    Parameters
    ----------
    name : what ``load_encoder`` takes (a packaged source, a key of ``PAPER_MODELS``, a name on the hub, a folder), or an encoder
    articles : the text; may be a stream
    thresholds : the paper's ambiguity thresholds: a topic keeps floor(threshold x V) words, V the tokenizer's vocabulary
    settings : of LDA; None: ``TopicSettings()``
    seed : of LDA, of the choice of documents, of the bootstraps and of the controls
    attention_documents : how many documents the attention is measured on; all, if there are no more
    several : whether a word may stand for several topics (the restriction of Table 1 removed)
    steps, layers : as for ``debiased``
    draws : of each bootstrap
    progress : show a bar with the time left

    Returns a row for each threshold. The topics and the attention are kept in the cache, so that what was interrupted goes on.
    Raises EncoderError and SourceError as ``load_encoder``, ValueError where the text is too little for the thresholds.
    """
    shares = [check_real("thresholds", share, 0, 1, open_low=True) for share in check_each("thresholds", thresholds, object)]
    if not shares:
        raise ValueError("thresholds: there are none; must be one at least")
    check_int("seed", seed, 0, 2**32 - 1)
    check_int("attention_documents", attention_documents, 1)
    check_bool("several", several)
    encoder = name if isinstance(name, Encoder) else load_encoder(name)
    size = len(encoder.tokenizer)
    numbers = [floor(share * size + 1e-9) for share in shares]
    if min(numbers) < 2:
        raise ValueError(
            f"thresholds = {min(shares):g}: is {min(numbers)} of the {size} tokens of {encoder.name}; must be 2 at least"
        )

    corpus = tokenize(articles, encoder.tokenizer, min(MAX_TOKENS, encoder.max_tokens))
    words = content_words(corpus)
    model = fit_topics(corpus.counts(words), settings or TopicSettings(), seed)
    chosen = [topic_words(model, number, several=several) for number in numbers]
    pairs = attention_pairs(encoder, corpus.sample(attention_documents, seed), words, progress=progress)
    values = debiased(pairs, steps, layers)
    matrix = encoder.word_matrix.cpu().numpy()
    rows = []
    for share, number, topics in zip(shares, numbers, chosen, strict=True):
        vectors = matrix[words.ids[topics.words]]
        found: dict[str, Contrast] = {}
        for label, kept in (("", topics), ("_control", shuffled(topics, seed))):
            for kind in ("cosine", "dot"):
                found[kind + label] = embedding_contrast(vectors, kept, seed, kind=kind, draws=draws)
            found["attention" + label] = attention_contrast(pairs, values, kept, seed, draws=draws)
        rows.append(TableRow(encoder.name, share, number, len(topics.words), **found))
    return rows


RECORD = Path(__file__).parent / "recorded" / "table1.json"


def recorded_rows(name: str) -> list[TableRow]:
    """The rows of an encoder that was measured once and recorded with the library, on the summaries: for "mpnet".

    ``measure_encoder(name, read_summaries(), attention_documents=1000)`` computes them anew where the encoder is installed.
    """
    record = json.loads(RECORD.read_text())
    found = []
    for row in record[check_choice("name", name, record)]["rows"]:
        contrasts = {label: Contrast(**part) for label, part in row.items() if isinstance(part, dict)}
        found.append(TableRow(**{**row, **contrasts}))
    return found


@dataclass(frozen=True)
class Availability:
    """Whether ``load_encoder(name)`` works on this machine without a network; if not, ``why`` says it in a sentence.

    name : what ``load_encoder`` takes
    model : which model that is
    """

    name: str
    model: str
    usable: bool
    why: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({self.model}): {'usable' if self.usable else self.why}"


def _packaged(name: str) -> Availability:
    """Whether a packaged encoder is there and whole; one that must be unpacked first is only looked for."""
    source = SOURCES[name]
    what = source.what.partition(",")[0]
    try:
        if not source.archive:
            locate(name)
        elif not available(name):
            raise SourceError(f"not every package of it is installed. Install them: {source.install}")
    except SourceError as error:
        return Availability(name, what, False, str(error))
    return Availability(name, what, True)


def _on_the_hub(name: str, model: str) -> Availability:
    """Whether a model of the hub lies in the hub's folder on this machine; asks nothing of any network."""
    from huggingface_hub import constants, try_to_load_from_cache

    def there(*files: str) -> bool:
        return any(isinstance(try_to_load_from_cache(model, file), str) for file in files)

    parts = {
        "configuration": there("config.json"),
        "tokenizer": there("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model"),
        "weights": there("model.safetensors", "pytorch_model.bin"),
    }
    if all(parts.values()):
        return Availability(name, model, True)
    missing = "it" if not any(parts.values()) else "its " + " and ".join(part for part, found in parts.items() if not found)
    folder = str(constants.HF_HUB_CACHE).replace(str(Path.home()), "~", 1)
    why = f"the hub's folder on this machine, {folder}, does not hold {missing}"
    return Availability(name, model, False, f"{why}; load_encoder({name!r}) fetches it where there is a network")


def available_encoders() -> list[Availability]:
    """Which of the packaged encoders and of the paper's five can be used on this machine, and why not the others.

    Looks at installed packages and into the hub's folder only: no network, no waiting.
    """
    return [_packaged(name) for name in PACKAGED] + [_on_the_hub(name, model) for name, model in PAPER_MODELS.items()]


def read_wikipedia(
    limit: int | None = None,
    *,
    seed: int | None = None,
    path: str | Path = WIKIPEDIA,
    dump: str = "20231101.en",
) -> Iterator[Article]:
    """Articles of the whole English Wikipedia, streamed from the hub by the ``datasets`` library (Colab has it).

    Parameters
    ----------
    limit : stop after so many articles; None: all 6.4 million
    seed : take the files in another order, and each time one of the next thousand articles; None: in the order of the dump,
        which begins with the oldest pages
    path : the data set on the hub, or a local folder of parquet or JSON-lines files with a title and a text in each line,
        either directly or in a folder named as the dump
    dump : which one, by date and language

    Raises SourceError where ``datasets`` is not installed, the hub cannot be reached, or the stream breaks off.
    """
    if limit is not None:
        check_int("limit", limit, 1)
    if seed is not None:
        check_int("seed", seed, 0)
    check_text("dump", dump)
    return islice(_stream(str(path), dump, seed), limit)


def _stream(path: str, dump: str, seed: int | None) -> Iterator[Article]:
    """The articles, one at a time."""
    try:
        from datasets import config, load_dataset
    except ImportError:
        raise SourceError(
            "the library datasets, which streams Wikipedia, is not installed. Install it: pip install datasets"
        ) from None
    # Each load is reported to a counter, with half a minute of repeats where there is no network
    config.HF_UPDATE_DOWNLOAD_COUNTS = False
    local = Path(path).is_dir()
    if not local and (reason := why_no_hub()):
        raise SourceError(f"{path} cannot be streamed: the hub cannot be reached ({reason})")
    number = 0
    try:
        rows: Any = _local(load_dataset, Path(path), dump) if local else load_dataset(path, dump, split="train", streaming=True)
        if seed is not None:
            rows = rows.shuffle(seed=seed, buffer_size=BUFFER)
        for row in rows:
            yield Article(str(row["title"]), " ".join(str(row["text"]).split()))
            number += 1
    except Exception as error:  # of the library, of its HTTP library or of its file formats: each has its own
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise SourceError(f"{path}: cannot be read on after {number} articles ({type(error).__name__}: {reason})") from error


def _local(load_dataset: Any, folder: Path, dump: str) -> Any:
    """The stream of the files in a local folder."""
    folder = folder / dump if (folder / dump).is_dir() else folder
    for ending, kind in ((".parquet", "parquet"), (".jsonl", "json")):
        if files := sorted(str(file) for file in folder.glob(f"*{ending}")):
            return load_dataset(kind, data_files=files, split="train", streaming=True)
    raise FileNotFoundError(f"no .parquet or .jsonl file in {folder}")
