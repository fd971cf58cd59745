"""Resuming is exact: a run that stops and goes on is bit for bit the run that did not stop."""

import os
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import SafetensorError
from safetensors.torch import save_file

import topiclib.checkpoint as checkpoint
import topiclib.lockstep as lockstep
from topiclib.checkpoint import FORMAT, CheckpointError, load_checkpoint, save_checkpoint
from topiclib.masking import MaskingSettings
from topiclib.model import ModelSettings, TopicTransformer
from topiclib.training import TrainingRun, TrainingSettings, train
from topiclib.word_counts import MaskedCounts, sample_counts

# No period divides another or a stop below, so that each resume falls between records of some kind.
SETTINGS = TrainingSettings.tiny(steps=23, log_every=3, eval_every=4, l2_coef=0.01, snapshots=(0, 7, 23))


def run(settings: TrainingSettings, path: Path | None = None, **options: Any) -> TrainingRun:
    return train(settings, seed=options.pop("seed", 1), checkpoint=path, progress=False, **options)


def assert_same_run(a: TrainingRun, b: TrainingRun) -> None:
    assert a.step == b.step
    for (name, p), (_, q) in zip(a.model.named_parameters(), b.model.named_parameters(), strict=True):
        assert torch.equal(p, q), name
    for name, values in a.history.arrays().items():
        assert np.array_equal(values, b.history.arrays()[name], equal_nan=True), name
    assert a.history.snapshots.keys() == b.history.snapshots.keys()
    for step, weights in a.history.snapshots.items():
        for name, value in weights.items():
            assert np.array_equal(value, b.history.snapshots[step][name]), (step, name)


def assert_same_file(a: Path, b: Path) -> None:
    """The same parameters, optimizer state, random states and history."""
    (tensors, meta), (others, other_meta) = load_checkpoint(a), load_checkpoint(b)
    assert tensors.keys() == others.keys()
    for name, value in tensors.items():
        assert torch.allclose(value, others[name], rtol=0, atol=0, equal_nan=True), name
    assert meta == other_meta


@pytest.mark.parametrize("engine", ["counts", "tokens"])
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
@pytest.mark.parametrize("stops", [[1], [7], [12], [22], [5, 11], [4, 8], [9, 9], [1, 2, 3]], ids=str)
def test_resuming_is_exact(stops: list[int], optimizer: str, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lockstep, "BLOCK_DOCS", 5 * SETTINGS.batch_size)  # stops at, before and after the ends of blocks
    settings = replace(SETTINGS, optimizer=optimizer)
    whole = run(settings, tmp_path / "whole", engine=engine)
    for stop in stops:
        assert run(settings, tmp_path / "parts", stop_at=stop, engine=engine).step == stop
    resumed = run(settings, tmp_path / "parts", engine=engine)
    assert_same_run(resumed, whole)
    assert_same_run(resumed, run(settings, engine=engine))
    assert_same_file(tmp_path / "parts", tmp_path / "whole")


@pytest.mark.parametrize(
    "changes",
    [
        {"loss": "squared"},
        {"model": ModelSettings.tiny(frozen=("W_K", "b_V"))},
        {"model": ModelSettings.tiny(one_hot=True, embedding_dim=None, uniform_attention=True)},
        {"l2_coef": 0.5, "l2_on": ("W_V",)},
        {"masking": MaskingSettings(0.9, 0.5, 0.5)},
    ],
    ids=["squared", "frozen", "switches", "l2_on", "masking"],
)
def test_resuming_is_exact_in_other_settings(changes: dict[str, Any], tmp_path: Path) -> None:
    settings = replace(SETTINGS, **changes)
    run(settings, tmp_path / "run", stop_at=10)
    assert_same_run(run(settings, tmp_path / "run"), run(settings))


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_the_checkpoint_holds_the_optimizers_state(optimizer: str, tmp_path: Path) -> None:
    run(replace(SETTINGS, optimizer=optimizer), tmp_path / "run", stop_at=5)
    run(replace(SETTINGS, optimizer=optimizer), tmp_path / "tokens", stop_at=5, engine="tokens")
    counts, tokens = ({name.split(".")[-1] for name in load_checkpoint(tmp_path / file)[0]} for file in ("run", "tokens"))
    assert ({"moment_1", "moment_2"} <= counts) == ({"step", "exp_avg", "exp_avg_sq"} <= tokens) == (optimizer == "adam")


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_a_finished_run_can_grow(optimizer: str, tmp_path: Path) -> None:
    long = replace(SETTINGS, optimizer=optimizer, snapshots=(0, 7))
    run(replace(long, steps=11), tmp_path / "run")
    assert_same_run(run(long, tmp_path / "run"), run(long))


def test_a_finished_run_is_returned_as_it_is(tmp_path: Path) -> None:
    whole = run(SETTINGS, tmp_path / "run")
    content = (tmp_path / "run").read_bytes()
    assert_same_run(run(SETTINGS, tmp_path / "run"), whole)
    assert (tmp_path / "run").read_bytes() == content


def test_saving_changes_nothing_in_the_run(tmp_path: Path) -> None:
    assert_same_run(run(SETTINGS, tmp_path / "run", checkpoint_every=1), run(SETTINGS))


def test_a_given_model_resumes_exactly(tmp_path: Path) -> None:
    def model() -> TopicTransformer:
        given = TopicTransformer(SETTINGS.model, 77)
        given.set_weight("W_V", np.eye(5))
        return given

    run(SETTINGS, tmp_path / "run", model=model(), stop_at=9)
    assert_same_run(run(SETTINGS, tmp_path / "run", model=model()), run(SETTINGS, model=model()))


def test_numpy_numbers_in_the_settings_are_saved_as_numbers(tmp_path: Path) -> None:
    settings = TrainingSettings.tiny(steps=np.int64(9), learning_rate=np.float32(0.5), batch_size=np.int32(4))
    run(settings, tmp_path / "run", stop_at=4, seed=np.int64(3))
    assert_same_run(run(settings, tmp_path / "run", seed=3), run(settings, seed=3))


def interrupt_at(call: int, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0

    def draw(*arguments: Any) -> MaskedCounts:
        nonlocal calls
        calls += 1
        if calls == call:
            raise KeyboardInterrupt
        return sample_counts(*arguments)

    monkeypatch.setattr(lockstep, "sample_counts", draw)


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
@pytest.mark.parametrize("call", [13, 17, 25])
def test_an_interrupted_run_goes_on_exactly(call: int, optimizer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lockstep, "BLOCK_DOCS", SETTINGS.batch_size)  # one draw a step
    settings = replace(SETTINGS, optimizer=optimizer)
    with pytest.MonkeyPatch.context() as patch:
        interrupt_at(call, patch)
        with pytest.raises(KeyboardInterrupt):
            run(settings, tmp_path / "run", checkpoint_every=5)
    step = load_checkpoint(tmp_path / "run")[1]["step"]
    assert step > 0
    assert step % 5 == 0
    assert_same_run(run(settings, tmp_path / "run"), run(settings))


def test_an_interrupt_while_saving_leaves_the_last_checkpoint(tmp_path: Path) -> None:
    saves = 0

    def save_half(tensors: Any, path: Path, metadata: Any) -> None:
        nonlocal saves
        saves += 1
        save_file(tensors, path, metadata=metadata)
        if saves == 3:
            path.write_bytes(path.read_bytes()[:1000])
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint, "save_file", save_half)
        with pytest.raises(KeyboardInterrupt):
            run(SETTINGS, tmp_path / "run", checkpoint_every=5)
    assert [p.name for p in tmp_path.iterdir()] == ["run"]
    assert load_checkpoint(tmp_path / "run")[1]["step"] == 10
    assert_same_run(run(SETTINGS, tmp_path / "run"), run(SETTINGS))


def refused(settings: TrainingSettings, path: Path, **options: Any) -> str:
    """The message with which the file is refused; it must stay byte for byte as it was."""
    content = path.read_bytes()
    with pytest.raises(CheckpointError) as caught:
        run(settings, path, **options)
    assert path.read_bytes() == content
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    assert f"checkpoint = {str(path)!r}: " in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"learning_rate": 0.02}, "learning_rate"),
        ({"optimizer": "sgd"}, "optimizer"),
        ({"loss": "squared"}, "loss"),
        ({"batch_size": 9}, "batch_size"),
        ({"l2_coef": 0.1}, "l2_coef"),
        ({"eval_every": 5}, "eval_every"),
        ({"masking": MaskingSettings(0.31)}, "masking"),
        ({"model": ModelSettings.tiny(frozen=("W_K",))}, "model, trained"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_another_runs_checkpoint_is_refused_by_what_differs(changes: dict[str, Any], named: str, tmp_path: Path) -> None:
    run(SETTINGS, tmp_path / "run", stop_at=5)
    assert f"is of another run ({named} differ)" in refused(replace(SETTINGS, **changes), tmp_path / "run")


def test_another_seeds_checkpoint_is_refused(tmp_path: Path) -> None:
    run(SETTINGS, tmp_path / "run", stop_at=5)
    assert "(seed differ)" in refused(SETTINGS, tmp_path / "run", seed=2)


def test_a_checkpoint_with_another_frozen_matrix_is_refused(tmp_path: Path) -> None:
    one, other = TopicTransformer(SETTINGS.model, 1), TopicTransformer(SETTINGS.model, 1)
    one.set_weight("W_V", np.eye(5))
    other.set_weight("W_V", 2 * np.eye(5))
    run(SETTINGS, tmp_path / "run", model=one, stop_at=5)
    assert "(frozen W_V differ)" in refused(SETTINGS, tmp_path / "run", model=other)
    assert torch.equal(other.W_V, 2 * torch.eye(5))


def test_a_checkpoint_beyond_the_last_step_is_refused(tmp_path: Path) -> None:
    settings = replace(SETTINGS, snapshots=())
    run(settings, tmp_path / "run")
    assert "is at step 23, beyond steps = 9" in refused(replace(settings, steps=9), tmp_path / "run")


class Evil:
    """Writes a file when it is unpickled."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.target,)


FOREIGN = {
    "random bytes": np.random.default_rng(0).bytes(5000),
    "random long": b"\xff" * 64,
    "empty": b"",
    "text": b"Dear diary, today I trained a transformer.\n" * 10,
    "json": b'{"format": "topiclib-run-1", "meta": "{}"}',
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN.keys())
def test_a_foreign_file_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content)
    assert "cannot be read as a topiclib checkpoint" in refused(SETTINGS, tmp_path / "file")


@pytest.mark.parametrize("torch_file", [False, True])
def test_a_pickle_is_refused_and_never_loaded(torch_file: bool, tmp_path: Path) -> None:
    path, trace = tmp_path / "files" / "run.pt", tmp_path / "trace"
    path.parent.mkdir()
    if torch_file:
        torch.save(Evil(trace), path)
    else:
        path.write_bytes(pickle.dumps(Evil(trace)))
    refused(SETTINGS, path)
    assert not trace.exists()


@pytest.mark.parametrize("kept", [0.0, 0.05, 0.5, 0.999])
def test_a_truncated_checkpoint_is_refused(kept: float, tmp_path: Path) -> None:
    path = tmp_path / "run"
    run(SETTINGS, path, stop_at=5)
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content))])
    refused(SETTINGS, path)


def test_a_flipped_bit_is_noticed_wherever_it_is(tmp_path: Path) -> None:
    path = tmp_path / "file"
    save_checkpoint(
        path, {"a": torch.arange(4.0), "b": torch.tensor(True), "c": torch.zeros((2, 0))}, {"loss": [0.5, float("nan")]}
    )
    content = path.read_bytes()
    for bit in range(8 * len(content)):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with pytest.raises(CheckpointError, match=r"^checkpoint = "):
            load_checkpoint(path)
    tensors_at = 8 + int.from_bytes(content[:8], "little")
    path.write_bytes(content[:tensors_at] + bytes([content[tensors_at] ^ 1]) + content[tensors_at + 1 :])
    with pytest.raises(CheckpointError, match="is damaged"):
        load_checkpoint(path)


def test_a_damaged_checkpoint_is_refused_and_stays(tmp_path: Path) -> None:
    run(SETTINGS, tmp_path / "run", stop_at=5)
    content = bytearray((tmp_path / "run").read_bytes())
    content[-100] ^= 4
    (tmp_path / "run").write_bytes(content)
    assert "is damaged" in refused(SETTINGS, tmp_path / "run")


def test_another_safetensors_file_is_refused(tmp_path: Path) -> None:
    save_file({"W_V": torch.ones(2)}, tmp_path / "file")
    assert f"is not a topiclib checkpoint ({FORMAT})" in refused(SETTINGS, tmp_path / "file")


def test_a_checkpoint_of_something_else_is_refused(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "file", {"x": torch.ones(2)}, {"note": "no run"})
    assert "holds no training run" in refused(SETTINGS, tmp_path / "file")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    for use in (lambda: run(SETTINGS, tmp_path), lambda: save_checkpoint(tmp_path, {}, {}), lambda: load_checkpoint(tmp_path)):
        with pytest.raises(CheckpointError, match=r"^checkpoint = '.*': is a folder"):
            use()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("where", ["file/run", "/proc/x/y", "x" * 300, "null\0character"])
def test_a_path_that_cannot_be_written_is_refused_before_the_first_step(where: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lockstep.Lockstep, "advance", lambda *arguments: pytest.fail("a step was made"))
        with pytest.raises(CheckpointError, match=r"(?s)^checkpoint = '.*': cannot be written \(.+\)$"):
            run(SETTINGS, tmp_path / where)
    with pytest.raises(CheckpointError, match=r"(?s)^checkpoint = '.*': cannot be written \(.+\)$"):
        save_checkpoint(tmp_path / where, {"x": torch.ones(2)}, {})
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("file", "mine")]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(CheckpointError, match="cannot be written"):
        run(SETTINGS, tmp_path / "run")


def test_a_finished_run_is_read_from_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run(SETTINGS, tmp_path / "run")
    monkeypatch.setattr(Path, "touch", lambda *_, **__: pytest.fail("nothing is to be written"))
    assert_same_run(run(SETTINGS, tmp_path / "run"), whole)


def test_the_probe_leaves_no_file_and_touches_none(tmp_path: Path) -> None:
    (tmp_path / "run.partial").write_text("mine")
    run(SETTINGS, tmp_path / "run", stop_at=0)
    run(SETTINGS, tmp_path / "run", stop_at=1)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run", "run.partial"]
    assert (tmp_path / "run.partial").read_text() == "mine"


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), SafetensorError("I/O error: no space left")])
def test_what_fails_while_saving_is_a_checkpoint_error(failure: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(tensors: Any, path: Path, metadata: Any) -> None:
        path.write_bytes(b"half")
        raise failure

    monkeypatch.setattr(checkpoint, "save_file", full)
    with pytest.raises(CheckpointError, match=r"^checkpoint = '.*': cannot be written \(.*(?i:no space left)"):
        run(SETTINGS, tmp_path / "run")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", [5, True, b"run", ["run"]])
def test_a_checkpoint_that_is_no_path_is_a_type_error(path: Any) -> None:
    for use in (lambda: run(SETTINGS, path), lambda: save_checkpoint(path, {}, {}), lambda: load_checkpoint(path)):
        with pytest.raises(TypeError, match=r"^checkpoint = .*: must be the path of a file \(str or Path\)$"):
            use()


def test_a_stop_before_the_checkpoint_is_refused(tmp_path: Path) -> None:
    run(SETTINGS, tmp_path / "run", stop_at=20)
    content, model = (tmp_path / "run").read_bytes(), TopicTransformer(SETTINGS.model, 1)
    before = model.W_V.detach().clone()
    with pytest.raises(ValueError, match=r"^stop_at = 3: must be at least 20, the step of checkpoint = '.*run'$"):
        run(SETTINGS, tmp_path / "run", stop_at=3, model=model)
    assert (tmp_path / "run").read_bytes() == content
    assert torch.equal(model.W_V, before)


def test_save_never_replaces_a_file_of_another_kind(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(CheckpointError):
        save_checkpoint(tmp_path / "thesis.tex", {"x": torch.ones(2)}, {})
    assert (tmp_path / "thesis.tex").read_text() == "years of work"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_missing_file_is_a_checkpoint_error(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="checkpoint = "):
        load_checkpoint(tmp_path / "nothing")


def test_save_and_load_are_a_round_trip(tmp_path: Path) -> None:
    tensors = {"a": torch.arange(6).reshape(2, 3), "b.c": torch.randn(3, 2, generator=torch.Generator().manual_seed(0)).T}
    meta = {"x": [0.1, float("inf"), 2**70], "ü": None}
    save_checkpoint(tmp_path / "new folder" / "file", tensors, meta)
    loaded, loaded_meta = load_checkpoint(tmp_path / "new folder" / "file")
    assert loaded_meta == meta
    assert all(torch.equal(loaded[name], value) for name, value in tensors.items())
    assert [p.name for p in (tmp_path / "new folder").iterdir()] == ["file"]


@pytest.mark.parametrize("engine", ["counts", "tokens"])
def test_a_checkpoint_of_another_start_is_refused(engine: str, tmp_path: Path) -> None:
    run(SETTINGS, tmp_path / "run", model=TopicTransformer(SETTINGS.model, 5), stop_at=9, engine=engine)
    for other in (TopicTransformer(SETTINGS.model, 6), None):
        assert "start W_E" in refused(SETTINGS, tmp_path / "run", model=other, engine=engine)
    # The start again, or the model as the file left it.
    left = run(SETTINGS, tmp_path / "run", model=TopicTransformer(SETTINGS.model, 5), stop_at=12, engine=engine).model
    resumed = run(SETTINGS, tmp_path / "run", model=left, engine=engine)
    assert_same_run(resumed, run(SETTINGS, model=TopicTransformer(SETTINGS.model, 5), engine=engine))
