"""Attention between content words: what is recorded, what is taken out of it, and what the cache does to it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_encoders import LAYERS, save_small_encoder, texts

import topiclib.attention_pairs as module
from topiclib.attention_pairs import STEPS, AttentionPairs, attention_pairs, debiased
from topiclib.corpus import Article, ContentWords, Corpus, Pieces, content_words, tokenize
from topiclib.encoders import Encoder, load_encoder, random_encoder

BLOCK = 4
QUIET: dict[str, Any] = {"progress": False, "threads": 1}


@pytest.fixture(scope="module")
def encoders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Encoder]:
    made: dict[str, Encoder] = {}

    def give(kind: str) -> Encoder:
        if kind not in made:
            made[kind] = load_encoder(save_small_encoder(kind, tmp_path_factory.mktemp(kind)))
        return made[kind]

    return give


@pytest.fixture(scope="module")
def encoder(encoders: Callable[[str], Encoder]) -> Encoder:
    return encoders("bert")


@pytest.fixture(scope="module")
def corpus(encoder: Encoder) -> Corpus:
    """Ten documents of other lengths; one is empty, one has a single word."""
    cut = [Article("", " ".join(text.split()[: 6 + 5 * (i % 5)])) for i, text in enumerate(texts()[:7])]
    cut.append(Article("", "film music musicqqz world"))
    return tokenize([*cut[:3], Article("", ""), *cut[3:], Article("", "music")], encoder.tokenizer, encoder.max_tokens)


@pytest.fixture(scope="module")
def words(corpus: Corpus) -> ContentWords:
    return content_words(corpus, min_documents=1, max_share=1)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An own cache, and blocks so small that there are several."""
    monkeypatch.setenv("TOPICLIB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "BLOCK", BLOCK)
    return tmp_path / "cache"


def assert_same(a: AttentionPairs, b: AttentionPairs) -> None:
    for name in ("document", "query", "key", "offset", "scaled", "length"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert a.num_words == b.num_words


def watch(monkeypatch: pytest.MonkeyPatch, fail_at: int | None = None) -> list[int]:
    """Record how many documents each call of the encoder gets; the ``fail_at``-th call is interrupted."""
    calls: list[int] = []
    run = Encoder.run

    def watched(self: Encoder, documents: list[np.ndarray]) -> Any:
        calls.append(len(documents))
        if len(calls) == fail_at:
            raise KeyboardInterrupt
        return run(self, documents)

    monkeypatch.setattr(Encoder, "run", watched)
    return calls


@pytest.mark.parametrize("kind", ["bert", "albert", "bart", "roberta"])
def test_the_pairs_are_those_of_the_models_own_output(kind: str, encoders: Callable[[str], Encoder]) -> None:
    """Each document run alone by the library itself; every pair of two positions with different words, in a loop."""
    encoder = encoders(kind)
    articles = [Article("", " ".join(text.split()[: 5 + 4 * i])) for i, text in enumerate(texts()[:5])]
    corpus = tokenize(articles, encoder.tokenizer, encoder.max_tokens)
    words = content_words(corpus, min_documents=1, max_share=1)
    found = attention_pairs(encoder, corpus, words, batch_size=3, **QUIET)
    index = np.split(corpus.word_index(words), corpus.starts[1:-1])
    body = encoder.model.encoder if kind == "bart" else encoder.model
    wanted = []
    for d in range(len(corpus)):
        line = encoder.tokenizer(articles[d].text, return_tensors="pt", truncation=True, max_length=encoder.max_tokens + 2)
        with torch.inference_mode():
            attention = torch.stack(body(**line, output_attentions=True).attentions)[:, 0].mean(1)
        assert attention.shape[0] == LAYERS
        n = attention.shape[1]
        assert found.length[d] == n
        for q, query in enumerate(index[d]):
            for k, key in enumerate(index[d]):
                if query >= 0 and key >= 0 and query != key:
                    wanted.append((d, query, key, k - q, *(attention[:, q + 1, k + 1] * n).tolist()))
    assert len(found) == len(wanted) > 30
    rows = np.array(wanted)
    for column, name in enumerate(("document", "query", "key", "offset")):
        assert np.array_equal(rows[:, column], getattr(found, name)), name
    np.testing.assert_allclose(found.scaled, rows[:, 4:], rtol=2e-3, atol=1e-4)
    assert (found.num_layers, found.num_words) == (LAYERS, len(words))
    assert found.scaled.std() > 0.05


def test_same_word_twice_is_no_pair(encoder: Encoder) -> None:
    corpus = tokenize([Article("", "music film music")], encoder.tokenizer)
    words = content_words(corpus, min_documents=1, max_share=1)
    found = attention_pairs(encoder, corpus, words, **QUIET)
    music, film = words.index("music"), words.index("film")
    assert sorted(zip(found.query.tolist(), found.key.tolist(), found.offset.tolist(), strict=True)) == sorted(
        [(music, film, 1), (film, music, -1), (film, music, 1), (music, film, -1)]
    )


@pytest.mark.parametrize("batch_size", [1, 2, 16])
def test_batches_change_nothing_but_rounding(batch_size: int, encoder: Encoder, corpus: Corpus, words: ContentWords) -> None:
    a, b = (attention_pairs(encoder, corpus, words, batch_size=size, **QUIET) for size in (batch_size, 3))
    for name in ("document", "query", "key", "offset", "length"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    np.testing.assert_allclose(a.scaled, b.scaled, rtol=2e-3, atol=1e-5)


def test_documents_without_pairs_stay(encoder: Encoder, corpus: Corpus, words: ContentWords) -> None:
    found = attention_pairs(encoder, corpus, words, **QUIET)
    assert found.length.tolist() == (corpus.lengths + 2).tolist()
    assert corpus.lengths[3] == 0
    assert not np.isin(found.document, [3, 9]).any()
    assert np.all(np.diff(found.document) >= 0)
    # A block of documents without any pair
    bare = corpus.pick([3, 9, 3, 9, 0])
    assert np.array_equal(np.unique(attention_pairs(encoder, bare, words, **QUIET).document), [4])


def test_a_run_that_was_killed_goes_on(
    encoder: Encoder, corpus: Corpus, words: ContentWords, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TOPICLIB_CACHE", str(tmp_path / "other"))
    whole = attention_pairs(encoder, corpus, words, **QUIET)
    monkeypatch.setenv("TOPICLIB_CACHE", str(folder))
    with monkeypatch.context() as patch:
        watch(patch, fail_at=3)
        with pytest.raises(KeyboardInterrupt):
            attention_pairs(encoder, corpus, words, **QUIET)
    assert len(list(folder.iterdir())) == 2, "two of three blocks"
    calls = watch(monkeypatch)
    assert_same(attention_pairs(encoder, corpus, words, **QUIET), whole)
    assert calls == [2], "the third block only"
    assert_same(attention_pairs(encoder, corpus, words, **QUIET), whole)
    assert calls == [2]


def test_more_documents_compute_only_the_new_blocks(
    encoder: Encoder, corpus: Corpus, words: ContentWords, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = attention_pairs(encoder, corpus.pick(range(8)), words, **QUIET)
    calls = watch(monkeypatch)
    more = attention_pairs(encoder, corpus, words, **QUIET)
    assert calls == [2]
    assert np.array_equal(more.scaled[: len(first)], first.scaled)


@pytest.mark.parametrize("damage", [b"", b"damaged", None], ids=["empty", "other", "truncated"])
def test_a_damaged_block_is_computed_anew(
    damage: bytes | None, encoder: Encoder, corpus: Corpus, words: ContentWords, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = attention_pairs(encoder, corpus, words, **QUIET)
    victim = sorted(folder.iterdir())[1]
    victim.write_bytes(victim.read_bytes()[:-9] if damage is None else damage)
    calls = watch(monkeypatch)
    assert_same(attention_pairs(encoder, corpus, words, **QUIET), whole)
    assert len(calls) == 1
    assert_same(attention_pairs(encoder, corpus, words, **QUIET), whole)
    assert len(calls) == 1


def test_a_cache_that_cannot_be_written_warns_and_works(
    encoder: Encoder, corpus: Corpus, words: ContentWords, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    whole = attention_pairs(encoder, corpus, words, **QUIET)
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("TOPICLIB_CACHE", str(tmp_path / "file"))
    with pytest.warns(UserWarning, match="not kept for the next run"):
        assert_same(attention_pairs(encoder, corpus, words, **QUIET), whole)


def other_weights(encoder: Encoder) -> Encoder:
    return random_encoder(encoder, 0)


def one_other_weight(encoder: Encoder) -> Encoder:
    import copy

    model = copy.deepcopy(encoder.model)
    model.encoder.layer[0].attention.self.query.weight.data[0, 0] += 1e-3
    return replace(encoder, model=model)


@pytest.mark.parametrize(
    "change", ["weights", "weight", "text", "words", "whole", "batch", "block source", "encoder source", "torch"]
)
def test_whatever_the_numbers_depend_on_is_in_the_key(
    change: str, encoder: Encoder, corpus: Corpus, words: ContentWords, monkeypatch: pytest.MonkeyPatch
) -> None:
    attention_pairs(encoder, corpus, words, **QUIET)
    calls = watch(monkeypatch)
    attention_pairs(encoder, corpus, words, **QUIET)
    assert calls == []
    options: dict[str, Any] = dict(QUIET)
    blocks = 3
    if change == "weights":
        encoder = other_weights(encoder)
    elif change == "weight":
        encoder = one_other_weight(encoder)
    elif change == "text":
        tokens = corpus.tokens.copy()
        tokens[0] = tokens[0] + 1
        corpus = replace(corpus, tokens=tokens)
        blocks = 1
    elif change == "words":
        # Without the last word, which is in some of the blocks
        last = corpus.word_index(words) == len(words) - 1
        blocks = len(set(np.repeat(np.arange(len(corpus)), corpus.lengths)[last] // BLOCK))
        words = ContentWords(words.ids[:-1], words.texts[:-1])
    elif change == "whole":
        split = corpus.word_index(words) != corpus.word_index(replace(words, whole=False))
        blocks = len(set(np.repeat(np.arange(len(corpus)), corpus.lengths)[split] // BLOCK))
        words = replace(words, whole=False)
        assert blocks, "some word goes on"
    elif change == "batch":
        options["batch_size"] = 8
    elif change == "block source":
        block = module._block

        def another(*arguments: Any) -> dict[str, np.ndarray]:
            return block(*arguments)

        monkeypatch.setattr(module, "_block", another)
    elif change == "encoder source":
        import topiclib.cache as cache

        source = cache.inspect.getsource
        monkeypatch.setattr(cache.inspect, "getsource", lambda part: source(part) + "# changed" * (part is Encoder))
    else:
        import topiclib.cache as cache

        version = cache.version
        monkeypatch.setattr(cache, "version", lambda name: "99" if name == "torch" else version(name))
    attention_pairs(encoder, corpus, words, **options)
    assert len(calls) == blocks


def test_the_text_behind_a_changed_token_is_still_kept(
    encoder: Encoder, corpus: Corpus, words: ContentWords, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Titles and labels are no part of the numbers."""
    attention_pairs(encoder, corpus, words, **QUIET)
    calls = watch(monkeypatch)
    attention_pairs(encoder, replace(corpus, titles=("x",) * len(corpus)), words, **QUIET)
    assert calls == []


def test_a_corpus_of_another_tokenizer_is_refused(encoders: Callable[[str], Encoder], corpus: Corpus, words: ContentWords) -> None:
    """Also one with as many pieces."""
    for kind in ("roberta", "mpnet"):
        other = encoders(kind)
        assert len(other.tokenizer) == corpus.pieces.size
        with pytest.raises(ValueError, match="corpus: was cut by another tokenizer; must be that of .*" + kind):
            attention_pairs(other, corpus, words, **QUIET)


def test_errors(encoder: Encoder, corpus: Corpus, words: ContentWords) -> None:
    with pytest.raises(ValueError, match="corpus: has no document"):
        attention_pairs(encoder, corpus.pick([]), words, **QUIET)
    long = tokenize([Article("", "music film " * 40)], encoder.tokenizer)
    with pytest.raises(
        ValueError, match=f"corpus: has a document of {long.lengths[0]} tokens; .* takes {encoder.max_tokens} at most"
    ):
        attention_pairs(encoder, long, words, **QUIET)
    with pytest.raises(ValueError, match="corpus: no document of 2 has two different content words"):
        attention_pairs(encoder, corpus.pick([3, 9]), words, **QUIET)
    with pytest.raises(ValueError, match="words: are of another tokenizer"):
        attention_pairs(encoder, corpus, ContentWords(np.array([7]), ("no such word",)), **QUIET)
    with pytest.raises(ValueError, match="batch_size = 0"):
        attention_pairs(encoder, corpus, words, batch_size=0, **QUIET)
    with pytest.raises(TypeError, match="encoder = "):
        attention_pairs(encoder.model, corpus, words, **QUIET)
    with pytest.raises(TypeError, match="corpus = "):
        attention_pairs(encoder, [1, 2], words, **QUIET)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="words = "):
        attention_pairs(encoder, corpus, ["music"], **QUIET)  # type: ignore[arg-type]


def test_threads_are_as_they_were(encoder: Encoder, corpus: Corpus, words: ContentWords) -> None:
    before = torch.get_num_threads()
    attention_pairs(encoder, corpus, words, progress=False, threads=before + 1)
    assert torch.get_num_threads() == before


def some_pairs(seed: int = 0, number: int = 3000) -> AttentionPairs:
    rng = np.random.default_rng(seed)
    offset = rng.integers(1, 130, number) * rng.choice([-1, 1], number)
    return AttentionPairs(
        np.sort(rng.integers(0, 20, number)).astype(np.int32),
        rng.integers(0, 15, number).astype(np.int32),
        rng.integers(0, 15, number).astype(np.int32),
        offset.astype(np.int16),
        rng.gamma(2, 0.5, (number, 3)).astype(np.float16),
        rng.integers(10, 200, 20).astype(np.int32),
        15,
    )


def mean_of(values: dict[Any, list[float]]) -> dict[Any, float]:
    return {group: sum(members) / len(members) for group, members in values.items()}


def slowly(pairs: AttentionPairs, steps: tuple[str, ...], layers: list[int]) -> list[float]:
    """The debiasing pair by pair, with dictionaries."""

    def group(i: int, step: str) -> Any:
        if step == "key":
            return int(pairs.key[i])
        distance = int(pairs.offset[i])
        size = abs(distance)
        # 1, 2, ..., 32, then 33 to 48, 49 to 64, ...
        return (distance > 0, size if size <= 32 else 32 + -(-(size - 32) // 16))

    found = []
    for i in range(len(pairs)):
        value = sum(float(pairs.scaled[i, layer - 1]) for layer in layers) / len(layers)
        found.append(value / int(pairs.length[pairs.document[i]]))
    for step in steps:
        if step == "length":
            found = [value * int(pairs.length[pairs.document[i]]) for i, value in enumerate(found)]
            continue
        members: dict[Any, list[float]] = {}
        for i, value in enumerate(found):
            members.setdefault(group(i, step), []).append(value)
        means = mean_of(members)
        found = [value / means[group(i, step)] for i, value in enumerate(found)]
    return found


@pytest.mark.parametrize(
    "steps", [(), ("length",), ("distance",), ("key",), ("length", "distance"), STEPS, ("key", "distance", "length")], ids=str
)
@pytest.mark.parametrize("layers", [None, [2], [3, 1]], ids=str)
def test_debiasing_is_that_of_a_slow_loop(steps: tuple[str, ...], layers: list[int] | None) -> None:
    pairs = some_pairs()
    np.testing.assert_allclose(debiased(pairs, steps, layers), slowly(pairs, steps, layers or [1, 2, 3]), rtol=1e-12)


def test_the_order_of_the_steps_matters() -> None:
    pairs = some_pairs()
    assert not np.allclose(debiased(pairs, ("distance", "key")), debiased(pairs, ("key", "distance")))


def test_after_the_last_step_its_groups_have_mean_one() -> None:
    pairs = some_pairs()
    values = debiased(pairs)
    for key in range(15):
        assert values[pairs.key == key].mean() == pytest.approx(1)
    values = debiased(pairs, ("length", "distance"))
    for offset in (-3, 3, 32, -32):
        assert values[pairs.offset == offset].mean() == pytest.approx(1)
    far = (pairs.offset >= 33) & (pairs.offset <= 48)
    assert values[far].mean() == pytest.approx(1)
    assert values[(pairs.offset >= 34) & (pairs.offset <= 49)].mean() != pytest.approx(1)


def test_attention_that_depends_on_distance_key_and_length_only_is_flat_when_freed() -> None:
    """What the steps are for: a model that knows no words, only places."""
    pairs = some_pairs()
    keys = np.linspace(0.5, 2, 15)[pairs.key]
    by_key = replace(pairs, scaled=np.repeat(keys[:, None], 3, 1))
    np.testing.assert_allclose(debiased(by_key, ("length", "key")), 1)
    near = 1 / np.minimum(np.abs(pairs.offset.astype(int)), 32)
    by_place = replace(pairs, scaled=np.repeat((near * np.where(pairs.offset > 0, 2, 1))[:, None], 3, 1))
    np.testing.assert_allclose(debiased(by_place, ("length", "distance")), 1)


def test_attention_of_zero_stays_zero() -> None:
    pairs = replace(some_pairs(), scaled=np.zeros((3000, 3), np.float16))
    assert not debiased(pairs).any()


def test_errors_of_debiased() -> None:
    pairs = some_pairs()
    with pytest.raises(ValueError, match="steps = 'head': must be one of 'length', 'distance', 'key'"):
        debiased(pairs, ("length", "head"))
    for layer in (0, 4):
        with pytest.raises(ValueError, match=f"layers = {layer}: must be a whole number from 1 to 3"):
            debiased(pairs, layers=[layer])
    with pytest.raises(ValueError, match="layers: there are none"):
        debiased(pairs, layers=[])
    with pytest.raises(TypeError, match="pairs = "):
        debiased(np.ones(3))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def minilm() -> Encoder:
    return load_encoder("minilm")


def test_minilm_on_a_few_articles(minilm: Encoder) -> None:
    corpus = tokenize([Article("", text) for text in texts()[:6]], minilm.tokenizer)
    words = content_words(corpus, min_documents=1, max_share=1)
    found = attention_pairs(minilm, corpus, words, **QUIET)
    assert found.num_layers == 6
    assert (found.scaled >= 0).all()
    assert found.length.tolist() == (corpus.lengths + 2).tolist()
    assert Pieces.of(minilm.tokenizer).size == 30_522
    # Near words get more than far ones
    near, far = (debiased(found, ("length",))[np.abs(found.offset) == d].mean() for d in (2, 40))
    assert near > far
