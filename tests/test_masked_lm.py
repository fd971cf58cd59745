"""The small encoder of Figure 5: windows, masks, what is recorded, and that a run repeats itself and goes on where it was."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import topiclib.masked_lm_training as module
from topiclib.corpus import Corpus, Pieces
from topiclib.masked_lm import RARE, MaskedLMSettings, Windows, build_model, cut_windows, draw_batch, masked_loss
from topiclib.masked_lm_training import LAG, train_masked_lm

TINY = MaskedLMSettings(num_layers=2, num_heads=2, hidden=8, feed_forward=12, batch_size=4, steps=25, snapshots=(0, 12, 25))
SIZE, LENGTH = 30, 12
PIECES = Pieces(tuple(f"p{i}" for i in range(40)), np.ones(40, bool), np.zeros(40, bool))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOPICLIB_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def windows() -> Windows:
    tokens = np.random.default_rng(0).integers(1, SIZE, size=(50, LENGTH))
    return Windows(tokens, np.concatenate([[-1, -1], np.arange(5, 5 + SIZE - 2)]))


@pytest.fixture(scope="module")
def run(windows: Windows, tmp_path_factory: pytest.TempPathFactory) -> module.MaskedLMRun:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOPICLIB_CACHE", str(tmp_path_factory.mktemp("cache")))
        return train_masked_lm([(TINY, 3)], windows, workers=1)[0]


def corpus_of(*documents: list[int]) -> Corpus:
    starts = np.cumsum([0, *map(len, documents)])
    return Corpus(np.concatenate(documents).astype(np.int32), starts, PIECES, ("",) * len(documents), ("",) * len(documents))


def same(a: module.MaskedLMRun, b: module.MaskedLMRun) -> None:
    """Every number of two runs is the same."""
    np.testing.assert_array_equal(a.train_loss, b.train_loss)
    np.testing.assert_array_equal(a.rotation, b.rotation)
    for x in "KQV":
        np.testing.assert_array_equal(a.norms[x], b.norms[x])
        np.testing.assert_array_equal(a.gradients[x], b.gradients[x])
    assert a.snapshots.keys() == b.snapshots.keys()
    for step, weights in a.snapshots.items():
        assert weights.keys() == b.snapshots[step].keys()
        for name, value in weights.items():
            np.testing.assert_array_equal(value, b.snapshots[step][name])


def test_windows_stay_within_their_document_and_keep_the_most_frequent_pieces() -> None:
    found = cut_windows([corpus_of([7, 7, 7, 9, 9, 11, 7], [9, 9]), corpus_of([11, 3, 9])], 3, 4)
    assert found.pieces.tolist() == [-1, -1, 7, 9]
    assert found.tokens.tolist() == [[2, 2, 2], [3, 3, RARE], [RARE, RARE, 3]]
    assert found.ids_of(np.array([9, 7, 3, 39, 0])).tolist() == [3, 2, RARE, RARE, RARE]


def test_of_equally_frequent_pieces_the_smaller_id_is_kept() -> None:
    assert cut_windows([corpus_of([8, 6, 4])], 1, 4).pieces.tolist() == [-1, -1, 4, 6]


def test_bad_windows() -> None:
    with pytest.raises(ValueError, match="length = 5: no document is so long"):
        cut_windows([corpus_of([1, 2, 3])], 5, 4)
    with pytest.raises(ValueError, match="size = 6: must be at most 5"):
        cut_windows([corpus_of([1, 2, 3])], 1, 6)
    with pytest.raises(ValueError, match="corpora: 0 given"):
        cut_windows([], 1, 3)
    other = Corpus(np.zeros(1, np.int32), np.array([0, 1]), Pieces(("a",), np.ones(1, bool), np.zeros(1, bool)), ("",), ("",))
    with pytest.raises(ValueError, match="same tokenizer"):
        cut_windows([corpus_of([1, 2]), other], 1, 3)


def test_masks_have_the_papers_rates(windows: Windows) -> None:
    batches = [draw_batch(windows, replace(TINY, batch_size=50), 0, step) for step in range(200)]
    selected = np.concatenate([b.selected for b in batches])
    inputs, targets = (np.concatenate([getattr(b, name) for b in batches]) for name in ("inputs", "targets"))
    number = selected.sum()
    # A window of 12 has a mask for certain, so a little more than 0.15
    assert selected.mean() == pytest.approx(0.15 / (1 - 0.85**12), abs=0.01)
    assert (inputs[selected] == 0).mean() == pytest.approx(0.8, abs=4 * 0.4 / number**0.5)
    kept = (inputs[selected] == targets[selected]).mean()
    assert kept == pytest.approx(0.1 + 0.1 / (SIZE - 1), abs=4 * 0.3 / number**0.5)
    np.testing.assert_array_equal(inputs[~selected], targets[~selected])
    assert selected.any(axis=1).all()
    assert set(np.unique(inputs)) == set(range(SIZE))


def test_a_batch_depends_on_seed_and_step_alone(windows: Windows) -> None:
    a, b = (draw_batch(windows, TINY, 1, 7) for _ in range(2))
    np.testing.assert_array_equal(a.inputs, b.inputs)
    for other in (draw_batch(windows, TINY, 1, 8), draw_batch(windows, TINY, 2, 7)):
        assert (a.inputs != other.inputs).any()


def test_the_loss_is_equation_1(windows: Windows) -> None:
    model, batch = build_model(TINY, SIZE, LENGTH, 0), draw_batch(windows, TINY, 0, 1)
    log_p = model(torch.from_numpy(batch.inputs)).logits.log_softmax(dim=2).detach().numpy()
    per_window = [
        -np.mean([log_p[b, n, batch.targets[b, n]] for n in np.flatnonzero(batch.selected[b])]) for b in range(len(batch.inputs))
    ]
    assert masked_loss(model, batch).item() == pytest.approx(np.mean(per_window), abs=1e-5)


def test_only_keys_queries_and_values_start_near_zero() -> None:
    settings = replace(TINY, hidden=64, feed_forward=64, init_scale=3e-3)
    weights = {name: value.detach().numpy() for name, value in build_model(settings, SIZE, LENGTH, 0).named_parameters()}
    for name, value in weights.items():
        if "LayerNorm" in name or name.endswith("bias"):
            continue
        near_zero = any(f".self.{part}." in name for part in ("key", "query", "value"))
        assert value.std() == pytest.approx(3e-3 if near_zero else 0.02, rel=0.2), name
    assert len({weights[f"bert.encoder.layer.{k}.attention.self.{x}.weight"].sum() for k in (0, 1) for x in ("key", "value")}) == 4


def test_the_activation_is_the_one_asked_for(windows: Windows) -> None:
    batch = draw_batch(windows, TINY, 0, 1)
    losses = {
        name: masked_loss(build_model(replace(TINY, activation=name), SIZE, LENGTH, 0), batch).item() for name in ("gelu", "relu")
    }
    assert losses["gelu"] != losses["relu"]


def test_torchs_own_generator_is_left_alone() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    build_model(TINY, SIZE, LENGTH, 0)
    assert torch.equal(before, torch.get_rng_state())


def test_records_are_what_they_say(windows: Windows, run: module.MaskedLMRun) -> None:
    for step in TINY.snapshots:
        for layer in range(2):
            for x, part in zip("KQV", ("key", "query", "value"), strict=True):
                w = run.snapshots[step][f"bert.encoder.layer.{layer}.attention.self.{part}.weight"]
                assert run.norms[x][step, layer] == pytest.approx(np.sqrt((w.astype(float) ** 2).sum()), rel=1e-5)
    assert np.isfinite(run.train_loss).all()
    model = build_model(TINY, SIZE, LENGTH, 3)
    loss = masked_loss(model, draw_batch(windows, TINY, 3, 1))
    loss.backward()  # type: ignore[no-untyped-call]
    assert run.train_loss[0] == pytest.approx(float(loss.detach()), abs=1e-6)
    for layer in range(2):
        grad = model.bert.encoder.layer[layer].attention.self.value.weight.grad
        assert run.gradients["V"][0, layer] == pytest.approx(float(grad.norm()), rel=1e-5)
        grad = model.bert.encoder.layer[layer].attention.self.key.weight.grad
        assert run.gradients["K"][0, layer] == pytest.approx(float(grad.norm()), rel=1e-4)


def test_rotation_is_the_distance_from_ten_steps_before(windows: Windows) -> None:
    found = train_masked_lm([(replace(TINY, snapshots=(2, 12, 22)), 3)], windows, workers=1)[0]
    assert np.isnan(found.rotation[:LAG]).all()
    assert np.isfinite(found.rotation[LAG:]).all()
    for layer in range(2):
        old, now, late = (
            found.snapshots[t][f"bert.encoder.layer.{layer}.attention.self.value.weight"].ravel().astype(float) for t in (2, 12, 22)
        )
        for at, (a, b) in {12: (old, now), 22: (now, late)}.items():
            right = (1 - a @ b / np.linalg.norm(a) / np.linalg.norm(b)) / 2
            assert found.rotation[at, layer] == pytest.approx(right, abs=1e-6)


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_an_update_is_the_optimizers(windows: Windows, optimizer: str) -> None:
    settings = replace(TINY, optimizer=optimizer, steps=1, snapshots=(0, 1), epsilon=1e-3, learning_rate=0.1)
    found = train_masked_lm([(settings, 0)], windows, workers=1)[0]
    model = build_model(settings, SIZE, LENGTH, 0)
    masked_loss(model, draw_batch(windows, settings, 0, 1)).backward()  # type: ignore[no-untyped-call]
    name = "bert.encoder.layer.0.attention.self.value.weight"
    g = model.get_parameter(name).grad.numpy()
    moved = found.snapshots[1][name] - found.snapshots[0][name]
    np.testing.assert_allclose(moved, -0.1 * (g if optimizer == "sgd" else g / (np.abs(g) + 1e-3)), atol=1e-6)


def test_a_run_repeats_itself_in_other_processes_too(windows: Windows, run: module.MaskedLMRun) -> None:
    again, other = train_masked_lm([(TINY, 3), (TINY, 4)], windows, workers=2)
    same(run, again)
    assert (again.train_loss != other.train_loss).all()


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_a_killed_run_goes_on_with_the_same_numbers(
    windows: Windows, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, optimizer: str
) -> None:
    settings = replace(TINY, optimizer=optimizer)
    whole = train_masked_lm([(settings, 3)], windows, workers=1)[0]
    monkeypatch.setenv("TOPICLIB_CACHE", str(tmp_path / "second"))
    drawn: list[int] = []

    def killed(*arguments: object) -> object:
        drawn.append(int(str(arguments[3])))
        if drawn[-1] == 19 and len(drawn) == 19:
            raise KeyboardInterrupt
        return draw_batch(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "draw_batch", killed)
    monkeypatch.setattr("topiclib.cache.content_key", lambda *parts, packages: "key")
    with pytest.raises(KeyboardInterrupt):
        train_masked_lm([(settings, 3)], windows, workers=1, save_every=8)
    left = list((tmp_path / "second").glob("*.part.safetensors"))
    assert len(left) == 1
    found = train_masked_lm([(settings, 3)], windows, workers=1, save_every=8)[0]
    assert drawn == [*range(1, 20), *range(17, 26)]  # not from the start again
    same(whole, found)
    assert not left[0].exists()
    assert list((tmp_path / "second").iterdir()), "the finished run is kept"


def test_a_finished_run_is_read_from_the_cache(windows: Windows, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    first = train_masked_lm([(TINY, 3)], windows, workers=1)[0]
    monkeypatch.setattr(module, "_as_run", lambda settings, seed, arrays: arrays)
    stored = next((tmp_path / "cache").glob("masked-lm-*.safetensors"))
    before = stored.stat().st_mtime_ns
    arrays = train_masked_lm([(TINY, 3)], windows, workers=1)[0]
    np.testing.assert_array_equal(arrays["train_loss"], first.train_loss)  # type: ignore[index]
    assert stored.stat().st_mtime_ns == before
    for change in ({"learning_rate": 2e-3}, {"epsilon": 1e-8}, {"init_scale": 1e-3}):
        train_masked_lm([(replace(TINY, **change), 3)], windows, workers=1)  # type: ignore[arg-type]
    train_masked_lm([(TINY, 3)], Windows(windows.tokens[::-1].copy(), windows.pieces), workers=1)
    train_masked_lm([(TINY, 4)], windows, workers=1)
    assert len(list((tmp_path / "cache").iterdir())) == 6


def test_a_run_takes_one_thread(windows: Windows, monkeypatch: pytest.MonkeyPatch) -> None:
    used = []

    def counted(*arguments: object) -> object:
        used.append(torch.get_num_threads())
        return draw_batch(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "draw_batch", counted)
    found = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        train_masked_lm([(replace(TINY, steps=1, snapshots=()), 0)], windows, workers=1)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(found)
    assert used == [1]


def test_without_a_cache_a_run_is_only_computed(
    windows: Windows, run: module.MaskedLMRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TOPICLIB_CACHE", str(tmp_path / "file" / "folder"))
    with pytest.warns(UserWarning, match="not kept"):
        same(run, train_masked_lm([(TINY, 3)], windows, workers=1, save_every=5)[0])


def test_the_scale_enters_the_gradients_as_the_theory_says(windows: Windows) -> None:
    def start(scale: float) -> np.ndarray:
        found = train_masked_lm([(replace(TINY, init_scale=scale, steps=1, snapshots=()), 0)], windows, workers=1)[0]
        return np.array([found.gradients[x][0] for x in "KQV"])

    small, large = start(1e-4), start(2e-4)
    np.testing.assert_allclose(large[0] / small[0], 4, rtol=0.03)
    np.testing.assert_allclose(large[1] / small[1], 4, rtol=0.03)
    np.testing.assert_allclose(large[2] / small[2], 1, rtol=0.01)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hidden": 9}, "hidden = 9: must be a multiple of num_heads = 2"),
        ({"steps": 0}, "steps = 0"),
        ({"init_scale": 0}, "init_scale = 0"),
        ({"epsilon": 0.0}, "epsilon = 0.0"),
        ({"learning_rate": float("nan")}, "learning_rate = nan"),
        ({"optimizer": "lion"}, "optimizer = 'lion'"),
        ({"activation": "tanh"}, "activation = 'tanh'"),
        ({"snapshots": (26,)}, "snapshots = 26: must be a whole number from 0 to 25"),
    ],
)
def test_bad_settings(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(TINY, **change)  # type: ignore[arg-type]


def test_bad_arguments(windows: Windows) -> None:
    with pytest.raises(TypeError, match="masking"):
        replace(TINY, masking=0.15)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="snapshots"):
        replace(TINY, snapshots=[1])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="seed = -1"):
        train_masked_lm([(TINY, -1)], windows)
    with pytest.raises(TypeError, match="settings"):
        train_masked_lm([("tiny", 1)], windows)  # type: ignore[list-item]
    with pytest.raises(TypeError, match="windows"):
        train_masked_lm([(TINY, 1)], windows.tokens)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="save_every = 0"):
        train_masked_lm([(TINY, 1)], windows, save_every=0)
