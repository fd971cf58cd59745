"""Topic structure in a small encoder: forms and contrasts against brute force over all pairs, controls, attention."""

from pathlib import Path

import numpy as np
import pytest
import torch

from topiclib.corpus import ContentWords
from topiclib.masked_lm import RARE, MaskedLMSettings, Windows, build_model
from topiclib.masked_lm_topics import PARTS, form_contrast, forms, same_frequency, window_pairs
from topiclib.masked_lm_training import MaskedLMRun, train_masked_lm
from topiclib.topics import TopicWords

TINY = MaskedLMSettings(
    num_layers=2, num_heads=2, hidden=8, feed_forward=12, batch_size=4, steps=5, init_scale=0.5, snapshots=(0, 5)
)
SIZE, LENGTH = 30, 12
IDS = np.array([4, 9, 2, 17, 25, 11])


@pytest.fixture(scope="module")
def windows() -> Windows:
    tokens = np.random.default_rng(0).integers(1, SIZE, size=(50, LENGTH))
    return Windows(tokens, np.concatenate([[-1, -1], np.arange(5, 5 + SIZE - 2)]))


@pytest.fixture(scope="module")
def run(windows: Windows, tmp_path_factory: pytest.TempPathFactory) -> MaskedLMRun:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOPICLIB_CACHE", str(tmp_path_factory.mktemp("cache")))
        return train_masked_lm([(TINY, 3)], windows, workers=1)[0]


def topics_of(*labels: int) -> TopicWords:
    of = np.array(labels)
    return TopicWords(np.arange(len(of)), of == np.arange(of.max() + 1)[:, None])


def random_form(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 5)), rng.normal(size=(5, 5)), rng.normal(size=(n, 5))


def table(form: tuple[np.ndarray, np.ndarray, np.ndarray]) -> np.ndarray:
    return np.asarray(form[0] @ form[1] @ form[2].T)


def test_forms_are_the_models(run: MaskedLMRun) -> None:
    weights = run.snapshots[5]
    e = weights["bert.embeddings.word_embeddings.weight"].astype(float)[IDS]
    np.testing.assert_allclose(table(forms(run, 5, IDS, "dot")), e @ e.T, atol=1e-6)
    cosine = table(forms(run, 5, IDS, "cosine"))
    np.testing.assert_allclose(np.diag(cosine), 1)
    assert cosine[0, 1] == pytest.approx(e[0] @ e[1] / np.linalg.norm(e[0]) / np.linalg.norm(e[1]))
    layer = build_model(TINY, SIZE, LENGTH, 0).bert.encoder.layer[1].attention
    prefix = "bert.encoder.layer.1.attention."
    layer.load_state_dict({k.removeprefix(prefix): torch.from_numpy(v) for k, v in weights.items() if k.startswith(prefix)})
    x = torch.from_numpy(e).float()
    with torch.no_grad():  # in the words of torch's layers, without their biases
        value = (layer.self.value(x) - layer.self.value.bias) @ layer.output.dense.weight.T
        q, k = layer.self.query(x) - layer.self.query.bias, layer.self.key(x) - layer.self.key.bias
    np.testing.assert_allclose(table(forms(run, 5, IDS, "value", 2)), e @ value.numpy().T, atol=1e-6)
    by_head = [(q[:, part] @ k[:, part].T / 4**0.5).numpy() for part in (slice(0, 4), slice(4, 8))]
    np.testing.assert_allclose(table(forms(run, 5, IDS, "score", 2)), np.mean(by_head, axis=0), atol=1e-6)


def test_contrast_by_brute_force() -> None:
    form, topics, frequency = random_form(9), topics_of(0, 1, 0, 2, 1, 2, 2, 0, 1), np.arange(9)
    m, label = table(form), topics.member.argmax(axis=0)
    off, same = ~np.eye(9, dtype=bool), label[:, None] == label
    found = form_contrast(form, topics, frequency, 0)
    assert found.same == pytest.approx(m[same & off].mean())
    assert found.different == pytest.approx(m[~same].mean())
    rng, unit, none = np.random.default_rng(0), m[off].std(), []
    for _ in range(50):
        other = same_frequency(topics, frequency, rng).member.argmax(axis=0)
        alike = other[:, None] == other
        none.append((m[alike & off].mean() - m[~alike].mean()) / unit)
    assert found.contrast == pytest.approx((found.same - found.different) / unit - np.mean(none))
    assert found.control_error == pytest.approx(np.std(none, ddof=1))
    assert found.z == pytest.approx(found.contrast / found.control_error)
    assert found.low < found.contrast < found.high


def test_planted_topics_are_found_and_none_are_not() -> None:
    rng = np.random.default_rng(1)
    topics, frequency = topics_of(*np.repeat(np.arange(12), 8)), rng.permutation(96)
    directions = rng.normal(size=(12, 30))
    planted = np.repeat(directions, 8, axis=0) + rng.normal(size=(96, 30))
    plain = rng.normal(size=(96, 30))
    for rows, there in ((planted, True), (plain, False)):
        found = form_contrast((rows, np.eye(30), rows), topics, frequency, 2)
        assert (found.low > 1) if there else (abs(found.z) < 3 and found.low < 0.1)


def test_the_interval_covers_the_spread_over_draws_of_topics() -> None:
    rng, topics = np.random.default_rng(3), topics_of(*np.repeat(np.arange(20), 5))
    values, covered = [], 0
    for k in range(60):
        strength = rng.exponential(size=20)  # topics differ in how strong they are
        rows = np.repeat(rng.normal(size=(20, 40)) * strength[:, None], 5, axis=0) + rng.normal(size=(100, 40))
        found = form_contrast((rows, np.eye(40), rows), topics, rng.permutation(100), k, draws=100, controls=10)
        values.append(found)
    centre = np.mean([f.contrast for f in values])
    covered = sum(bool(f.low <= centre <= f.high) for f in values)
    assert 45 <= covered <= 60


def test_frequent_words_that_are_alike_are_no_topic() -> None:
    rng = np.random.default_rng(4)
    frequency = np.repeat([1.0, 100.0], 48) + rng.random(96)
    rows = rng.normal(size=(96, 20))
    rows[48:, 0] += 5  # frequent words share a direction
    topics = topics_of(*np.repeat(np.arange(6), 16))  # and no topic has frequent and rare ones
    found = form_contrast((rows, np.eye(20), rows), topics, frequency, 0)
    assert found.same - found.different > 5
    assert abs(found.z) < 3
    assert found.low < found.contrast < found.high
    mixed = form_contrast((rows, np.eye(20), rows), topics, rng.random(96), 0)
    assert mixed.z > 10


def test_dealing_keeps_sizes_and_frequencies() -> None:
    topics, frequency = topics_of(*np.repeat([0, 1, 2, 3], (10, 20, 30, 40))), np.arange(100)[::-1]
    dealt = same_frequency(topics, frequency, 0, block=10)
    assert dealt.member.sum(axis=1).tolist() == [10, 20, 30, 40]
    assert (dealt.member != topics.member).any() is np.False_  # blocks of ten within topics of tens: nothing to deal
    dealt = same_frequency(topics, frequency, 0, block=20)
    assert dealt.member.sum(axis=1).tolist() == [10, 20, 30, 40]
    assert (dealt.member != topics.member).any()
    np.testing.assert_array_equal(dealt.member[:, :20].sum(axis=1), topics.member[:, :20].sum(axis=1))
    np.testing.assert_array_equal(dealt.member, same_frequency(topics, frequency, 0, block=20).member)


def test_attention_is_the_models(run: MaskedLMRun, windows: Windows) -> None:
    words = ContentWords(windows.pieces[[3, 7, 12, 20]], ("a", "b", "c", "d"))
    numbers = np.arange(0, 50, 2)
    pairs = window_pairs(run, 5, windows, words, numbers)
    model = build_model(TINY, SIZE, LENGTH, 0, attention="eager").eval()
    model.load_state_dict({name: torch.from_numpy(value) for name, value in run.snapshots[5].items()}, strict=False)
    seen = 0
    for d, number in enumerate(numbers):
        tokens = windows.tokens[number]
        with torch.no_grad():
            a = [x[0].mean(dim=0).numpy() for x in model.bert(torch.from_numpy(tokens)[None], output_attentions=True).attentions]
        places = {3: 0, 7: 1, 12: 2, 20: 3}
        for i, q in enumerate(tokens):
            for j, k in enumerate(tokens):
                if q in places and k in places and q != k:
                    at = np.flatnonzero(
                        (pairs.document == d) & (pairs.query == places[q]) & (pairs.key == places[k]) & (pairs.offset == j - i)
                    )
                    expected = [LENGTH * layer[i, j] for layer in a]
                    assert any(np.allclose(pairs.scaled[p], expected, rtol=1e-4) for p in at)
                    seen += 1
    assert len(pairs) == seen > 20
    assert pairs.num_layers == 2


def test_the_start_has_no_preference(windows: Windows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOPICLIB_CACHE", str(tmp_path))
    small = MaskedLMSettings(num_layers=2, num_heads=2, hidden=8, feed_forward=12, steps=1, snapshots=(0,))
    start = train_masked_lm([(small, 0)], windows, workers=1)[0]
    words = ContentWords(windows.pieces[2:10], tuple("abcdefgh"))
    np.testing.assert_allclose(window_pairs(start, 0, windows, words, np.arange(9)).scaled, 1, atol=1e-5)


def test_rare_words_are_left_out(run: MaskedLMRun, windows: Windows) -> None:
    words = ContentWords(np.array([1, 2, *windows.pieces[[3, 7]]]), ("x", "y", "a", "b"))
    pairs = window_pairs(run, 5, windows, words, np.arange(50))
    assert set(pairs.query) | set(pairs.key) == {2, 3}
    assert (windows.tokens == RARE).any()


def test_bad_arguments(run: MaskedLMRun, windows: Windows) -> None:
    form, topics = random_form(6), topics_of(0, 0, 1, 1, 2, 2)
    with pytest.raises(ValueError, match="part = 'query'"):
        forms(run, 5, IDS, "query")
    with pytest.raises(ValueError, match="layer = 3"):
        forms(run, 5, IDS, "value", 3)
    with pytest.raises(KeyError, match="step = 4"):
        forms(run, 4, IDS, PARTS[0])
    with pytest.raises(KeyError, match="step = 4"):
        window_pairs(run, 4, windows, ContentWords(windows.pieces[2:4], ("a", "b")), np.arange(3))
    with pytest.raises(ValueError, match="none of 3 has two"):
        window_pairs(run, 5, windows, ContentWords(np.array([0, 1]), ("a", "b")), np.arange(3))
    with pytest.raises(ValueError, match=r"frequency has shape \(5,\)"):
        form_contrast(form, topics, np.arange(5), 0)
    with pytest.raises(ValueError, match="form has 5 and 6 rows"):
        form_contrast((form[0][:5], form[1], form[2]), topics, np.arange(6), 0)
    with pytest.raises(ValueError, match="several topics"):
        form_contrast(form, TopicWords(topics.words, np.ones((3, 6), bool), True), np.arange(6), 0)
    with pytest.raises(ValueError, match="same for all pairs"):
        form_contrast((form[0], np.zeros((5, 5)), form[2]), topics, np.arange(6), 0)
    with pytest.raises(ValueError, match="block = 1"):
        same_frequency(topics, np.arange(6), 0, block=1)
