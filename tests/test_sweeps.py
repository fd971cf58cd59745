"""A sweep's runs are those of ``train``, to the last bit on a CPU, however they are carried out, stopped or resumed."""

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import topiclib.lockstep as lockstep
import topiclib.sweeps as sweeps
from topiclib.checkpoint import CheckpointError, save_checkpoint
from topiclib.documents import DocumentSettings
from topiclib.engine import CountEngine
from topiclib.history import CURVES
from topiclib.masking import MaskingSettings
from topiclib.model import ModelSettings, TopicTransformer
from topiclib.settings import TrainingSettings
from topiclib.sweeps import Sweep
from topiclib.training import DivergenceError, TrainingRun, train

Runs = list[tuple[TrainingSettings, int]]
# No period divides another, so that runs stop between records of some kind; and more steps than STRIDE.
BASE = TrainingSettings.tiny(steps=37, log_every=3, eval_every=5, snapshots=(0, 7, 37))
DIVERGES = replace(BASE, loss="squared", optimizer="sgd", learning_rate=1e3)
MIXED: Runs = [
    (BASE, 0),
    (BASE, 1),
    (replace(BASE, learning_rate=0.1), 0),
    (replace(BASE, optimizer="sgd", learning_rate=0.5, l2_coef=0.01), 2),
    (replace(BASE, loss="squared", batch_size=5), 3),
    (replace(BASE, masking=MaskingSettings(0.1, 0.3, 0.4), documents=DocumentSettings.tiny(min_len=1, max_len=60)), 4),
    (replace(BASE, model=ModelSettings.tiny(init_scale=0.1)), 5),
    (replace(BASE, model=ModelSettings.tiny(one_hot=True, embedding_dim=None)), 6),
    (replace(BASE, model=ModelSettings.tiny(uniform_attention=True, frozen=("b_pred",)), l2_coef=0.1, l2_on=("W_V",)), 2**64 - 1),
    (replace(BASE, model=ModelSettings.tiny(embedding_dim=2, attention_dim=3)), 8),
]
# Runs that may share an engine.
ALIKE: Runs = [
    (replace(BASE, learning_rate=0.03), 0),
    (replace(BASE, masking=MaskingSettings(0.1), documents=DocumentSettings.tiny(min_len=1, max_len=60)), 1),
    (replace(BASE, model=ModelSettings.tiny(init_scale=0.1), l2_coef=0.01), 2),
]
needs_fork = pytest.mark.skipif(sys.platform != "linux", reason="what a test replaces reaches forked processes only")
both_ways = pytest.mark.parametrize("workers", [1, 2])


def run(sweep: Sweep, **options: Any) -> Sweep:
    return sweep.run(**{"workers": 1, "progress": False, **options})


def alone(settings: TrainingSettings, seed: int, **options: Any) -> TrainingRun:
    return train(settings, seed=seed, progress=False, **options)


def assert_same_run(a: TrainingRun, b: TrainingRun) -> None:
    assert (a.settings, a.seed, a.step) == (b.settings, b.seed, b.step)
    for (name, p), (_, q) in zip(a.model.named_parameters(), b.model.named_parameters(), strict=True):
        assert torch.equal(p, q), name
        assert (p.dtype, p.requires_grad) == (q.dtype, q.requires_grad), name
    for name, values in a.history.arrays().items():
        assert np.array_equal(values, b.history.arrays()[name], equal_nan=True), name
    assert a.history.snapshots.keys() == b.history.snapshots.keys()
    for step, weights in a.history.snapshots.items():
        assert weights.keys() == b.history.snapshots[step].keys()
        assert all(np.array_equal(value, b.history.snapshots[step][name]) for name, value in weights.items()), step


def assert_same_sweep(a: Sweep, b: Sweep) -> None:
    """Every result, NaN included."""
    for name in CURVES:
        assert np.array_equal(a.curves[name], b.curves[name], equal_nan=True), name
    assert np.array_equal(a.steps_done, b.steps_done)
    assert np.array_equal(a.diverged, b.diverged)
    for one, other in zip(list(a), list(b), strict=True):
        for (name, p), (_, q) in zip(one.model.named_parameters(), other.model.named_parameters(), strict=True):
            assert torch.allclose(p, q, rtol=0, atol=0, equal_nan=True), name


def divergence(settings: TrainingSettings, seed: int) -> DivergenceError:
    with pytest.raises(DivergenceError) as caught:
        alone(settings, seed)
    return caught.value


@pytest.fixture(autouse=True)
def default_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOPICLIB_DEVICE", raising=False)


# --- the same as train -------------------------------------------------------------------------------------------------


@both_ways
def test_every_run_is_that_of_train_to_the_last_bit(workers: int) -> None:
    sweep = run(Sweep(MIXED), workers=workers)
    assert len(sweep) == len(MIXED)
    for i, (settings, seed) in enumerate(MIXED):
        expected = alone(settings, seed)
        assert_same_run(sweep[i], expected)
        for name in CURVES:
            assert np.array_equal(sweep.curves[name][i], expected.history.arrays()[name], equal_nan=True), name
    assert (sweep.steps_done == 37).all()
    assert (sweep.diverged == -1).all()


def test_run_returns_the_sweep_and_a_finished_one_stays_as_it_is() -> None:
    sweep = Sweep(MIXED[:2])
    assert run(sweep) is sweep
    states = dict(sweep._states)
    assert run(sweep)._states == states
    assert run(sweep, stop_at=5).steps_done.tolist() == [37, 37]


def test_workers_are_by_default_one_a_core(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Pool(ProcessPoolExecutor):
        def __init__(self, workers: int, **options: Any) -> None:
            asked.append(workers)
            super().__init__(workers, **options)

    monkeypatch.setattr(sweeps, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr(sweeps, "num_cores", lambda: 3)
    Sweep(MIXED).run(progress=False, stop_at=1)
    Sweep(MIXED).run(progress=False, stop_at=1, workers=2)
    Sweep(MIXED).run(progress=False, stop_at=1, workers=1)
    assert asked == [3, 2]
    assert Sweep(MIXED[:1]).run(progress=False).steps_done.tolist() == [37]  # one run needs no process
    assert len(asked) == 2


def test_a_sweep_runs_beside_the_main_thread_too() -> None:
    sweep = Sweep(MIXED[:1])
    thread = threading.Thread(target=run, args=(sweep,))
    thread.start()
    thread.join()
    assert_same_run(sweep[0], alone(*MIXED[0]))


TOGETHER: Runs = [
    (replace(BASE, **changes), seed)
    for seed in (0, 1)
    for changes in (
        {"learning_rate": 0.1},
        {"optimizer": "sgd"},
        {"loss": "squared"},
        {"model": ModelSettings.tiny(uniform_attention=True)},
        {"model": ModelSettings.tiny(one_hot=True, embedding_dim=None)},
        {"batch_size": 40},
    )
]


@both_ways
@pytest.mark.parametrize("stop", [0, 5, 20])
def test_runs_that_take_turns_on_the_same_documents_are_those_of_train(
    stop: int, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if one is further than the others when they meet, and one diverges, and blocks are shorter than the run."""
    monkeypatch.setattr(lockstep, "BLOCK_DOCS", 80)
    runs: Runs = [*TOGETHER, (DIVERGES, 0)]
    sweep = Sweep(runs)
    if stop:
        run(sweep, stop_at=stop)
        sweep._states = {of: state for of, state in sweep._states.items() if of[0] % 3}  # a third begin anew
    run(sweep, workers=workers)
    for i, of in enumerate(TOGETHER):
        assert_same_run(sweep[i], alone(*of))
    assert sweep.diverged[-1] == divergence(*runs[-1]).step


def test_documents_are_drawn_once_for_runs_that_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, draw = [], lockstep.draw

    def spy(settings: TrainingSettings, *which: int) -> Any:
        drawn.append(which)
        return draw(settings, *which)

    monkeypatch.setattr(lockstep, "draw", spy)
    settings = replace(BASE, eval_every=15)
    run(Sweep([(replace(settings, learning_rate=rate), seed) for rate in (0.1, 0.01, 0.001) for seed in (0, 1)]))
    assert len(drawn) == len(set(drawn)) == 2 * (1 + 3 + 1)  # the block of all steps, evaluations, and the last look


def test_one_source_serves_any_runs() -> None:
    """What it remembers is told apart by seed, documents, masks, batch size and what the engine makes of them."""
    source = lockstep.Source(remember=1000)
    runs: Runs = [
        *MIXED,
        (BASE, 9),
        (replace(BASE, masking=MaskingSettings(0.5)), 0),
        (replace(BASE, documents=DocumentSettings.tiny(max_len=20)), 0),
        (replace(BASE, batch_size=4), 0),
    ]
    for settings, seed in runs:
        model = TopicTransformer(settings.model, seed)
        together = lockstep.Lockstep([settings], [seed], CountEngine([settings], [model]), source)
        together.begin()
        together.advance(37)
        assert together.history(0).train_loss == alone(settings, seed).history.train_loss
        assert together.history(0).held_out_loss == alone(settings, seed).history.held_out_loss


@needs_fork
def test_an_error_in_a_worker_comes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise ZeroDivisionError("inside")

    monkeypatch.setattr(CountEngine, "advance", fail)
    for workers in (1, 2):
        with pytest.raises(ZeroDivisionError, match="inside"):
            run(Sweep(MIXED[:3]), workers=workers)


# --- what is recorded --------------------------------------------------------------------------------------------------


def test_curves_have_a_row_a_run_and_a_column_a_record() -> None:
    sweep = run(Sweep(MIXED[:3]))
    assert sweep.log_steps.tolist() == list(range(0, 38, 3)) == sweep[0].history.log_steps
    assert sweep.eval_steps.tolist() == list(range(0, 38, 5)) == sweep[0].history.eval_steps
    shapes = {name: values.shape for name, values in sweep.curves.items()}
    assert shapes == {name: (3, {"train_loss": 37, "held_out_loss": 8}.get(name, 13)) for name in CURVES}
    for name, values in sweep.curves.items():
        assert np.isnan(values[:, 1:] if name == "rotation_W_V" else values).sum() == 0, name
    assert sorted(sweep[1].history.snapshots) == [0, 7, 37]


def test_before_it_runs_nothing_is_there() -> None:
    sweep = Sweep(MIXED[:2])
    assert sweep.steps_done.tolist() == [0, 0]
    assert sweep.diverged.tolist() == [-1, -1]
    assert all(np.isnan(values).all() and len(values) == 2 for values in sweep.curves.values())
    for i in (0, 1, -1):
        with pytest.raises(LookupError, match=rf"run {i % 2} has not begun: call run\(\) first"):
            sweep[i]
    with pytest.raises(IndexError):
        sweep[2]


def test_runs_by_index() -> None:
    sweep = run(Sweep(MIXED[:3]), stop_at=3)
    for i in range(3):
        assert_same_run(sweep[i], sweep[i - 3])
        assert (sweep[i].settings, sweep[i].seed) == MIXED[i]
    for i in (3, -4, 100):
        with pytest.raises(IndexError):
            sweep[i]
    assert [result.seed for result in sweep] == [0, 1, 0]


def test_a_run_taken_out_is_a_copy() -> None:
    sweep = run(Sweep(MIXED[:1]))
    taken = sweep[0]
    with torch.no_grad():
        taken.model.W_V.zero_()
    taken.history.train_loss.clear()
    taken.history.snapshots[7]["W_V"][:] = 0
    sweep.curves["train_loss"][:] = 0
    assert_same_run(sweep[0], alone(*MIXED[0]))


@pytest.mark.parametrize("changes", [{"snapshots": [0, 7, 37]}, {"l2_on": ["W_V"], "l2_coef": 0.1}], ids=["snapshots", "l2_on"])
def test_lists_in_the_settings_are_taken_as_train_takes_them(changes: dict[str, Any]) -> None:
    settings = replace(BASE, **changes)
    assert_same_run(run(Sweep([(settings, 0), (BASE, 1)]))[0], alone(settings, 0))
    assert sweeps._shape(settings, None) == sweeps._shape(replace(settings, learning_rate=0.5), None)
    hash(sweeps._shape(settings, None))


# --- divergence --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [1e3, 3.0])
@both_ways
def test_a_run_that_diverges_is_marked_and_disturbs_no_other(workers: int, rate: float) -> None:
    bad = replace(DIVERGES, learning_rate=rate)
    sweep = run(Sweep([MIXED[0], (bad, 1), MIXED[2]]), workers=workers)
    error = divergence(bad, 1)
    assert sweep.diverged.tolist() == [-1, error.step, -1]
    assert sweep.steps_done.tolist() == [37, error.step, 37]
    assert sweep[1].step == error.step
    for i, of in ((0, MIXED[0]), (2, MIXED[2])):
        assert_same_run(sweep[i], alone(*of))
    for name, values in error.history.arrays().items():
        assert np.array_equal(sweep[1].history.arrays()[name], values, equal_nan=True), name
        if name in CURVES:
            assert np.array_equal(sweep.curves[name][1, : len(values)], values, equal_nan=True), name
            assert np.isnan(sweep.curves[name][1, len(values) :]).all(), name
    assert not np.isnan(sweep.curves["train_loss"][1, : error.step]).any()
    assert sweep[1].history.snapshots.keys() == error.history.snapshots.keys()


@both_ways
def test_divergence_in_the_very_last_update_is_marked(workers: int) -> None:
    settings = replace(BASE, loss="squared", optimizer="sgd", learning_rate=1e38, steps=1, snapshots=())
    fine = replace(settings, learning_rate=0.1)
    sweep = run(Sweep([(settings, 0), (fine, 0)]), workers=workers)
    assert divergence(settings, 0).step == 1
    assert sweep.diverged.tolist() == [1, -1]
    assert sweep.steps_done.tolist() == [1, 1]
    assert np.isfinite(sweep.curves["train_loss"]).all()


def test_a_diverged_run_is_not_taken_up_again(tmp_path: Path) -> None:
    sweep = run(Sweep([(DIVERGES, 0)]), stop_at=20, checkpoint=tmp_path / "sweep")
    assert sweep.diverged[0] > 0
    state = sweep._states[0,]
    assert run(sweep)._states[0,] is state
    assert_same_sweep(run(Sweep([(DIVERGES, 0)]), checkpoint=tmp_path / "sweep"), sweep)


# --- stop, interrupt, resume -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stops", [[0], [1], [5, 16], [17, 17, 36], [37]], ids=str)
@both_ways
def test_stopping_and_going_on_is_going_through(workers: int, stops: list[int], tmp_path: Path) -> None:
    runs = [*MIXED[2:5], (DIVERGES, 0)]
    parts, whole = Sweep(runs), run(Sweep(runs))
    for stop in stops:
        run(parts, stop_at=stop, workers=workers)
        assert np.array_equal(parts.steps_done, np.where(whole.diverged >= 0, np.minimum(whole.diverged, stop), stop))
        assert np.isnan(parts.curves["train_loss"][:, stop:]).all()
        assert np.array_equal(parts.curves["train_loss"][:3, :stop], whole.curves["train_loss"][:3, :stop])
        assert_same_run(parts[0], alone(*runs[0], stop_at=stop))
    assert_same_sweep(run(parts, workers=workers), whole)


LONG: Runs = [(replace(settings, steps=600, snapshots=(0, 300)), seed) for settings, seed in MIXED[2:5]]
UNINTERRUPTED: list[Sweep] = []


def uninterrupted() -> Sweep:
    if not UNINTERRUPTED:
        UNINTERRUPTED.append(run(Sweep(LONG)))
    return UNINTERRUPTED[0]


@contextmanager
def interrupt_when(begun: Any) -> Iterator[Callable[..., None]]:
    """Send this process an interrupt once ``begun`` is set; a test that stops waiting for it too early survives it."""

    def stray(*_: object) -> None:
        strays.append(1)

    def wait_and_send() -> None:
        if begun.wait(60):
            os.kill(os.getpid(), signal.SIGINT)

    strays: list[int] = []
    found = signal.signal(signal.SIGINT, stray)
    thread = threading.Thread(target=wait_and_send)
    thread.start()
    try:
        yield stray
    finally:
        begun.set()
        thread.join()
        time.sleep(0)
        signal.signal(signal.SIGINT, found)


def slow_after(steps: int, begun: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """After so many steps of one process, tell ``begun`` and take ten milliseconds a step, so that the interrupt comes in time."""
    advance, calls = CountEngine.advance, [0]

    def slow(self: CountEngine, batch: Any) -> torch.Tensor:
        calls[0] += 1
        if calls[0] > steps:
            begun.set()
            time.sleep(0.01)
        return advance(self, batch)

    monkeypatch.setattr(CountEngine, "advance", slow)


def interrupted(workers: int, monkeypatch: pytest.MonkeyPatch, steps: int = 100, **options: Any) -> Sweep:
    """A sweep that was interrupted in the middle of a run."""
    sweep, begun = Sweep(LONG), multiprocessing.get_context("fork").Event()
    with monkeypatch.context() as patch:
        slow_after(steps, begun, patch)
        with interrupt_when(begun) as handler:
            with pytest.raises(KeyboardInterrupt):
                run(sweep, workers=workers, **options)
            assert signal.getsignal(signal.SIGINT) is handler
    return sweep


@needs_fork
@both_ways
def test_an_interrupt_keeps_what_is_done_and_the_sweep_goes_on_exactly(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    threads, children = torch.get_num_threads(), len(multiprocessing.active_children())
    sweep = interrupted(workers, monkeypatch)
    done = sweep.steps_done
    # Of two workers, either may be the one that came so far.
    assert 100 <= done.max() < 600
    assert np.array_equal(np.isfinite(sweep.curves["train_loss"]).sum(axis=1), done)
    whole = uninterrupted()
    for i in range(3):
        assert np.array_equal(sweep.curves["train_loss"][i, : done[i]], whole.curves["train_loss"][i, : done[i]])
    assert (torch.get_num_threads(), len(multiprocessing.active_children())) == (threads, children)
    assert_same_sweep(run(sweep, workers=workers), whole)


@needs_fork
def test_an_interrupt_keeps_the_runs_before(monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = interrupted(1, monkeypatch, steps=700)
    assert sweep.steps_done[0] == 600
    assert 100 <= sweep.steps_done[1] < 600
    assert sweep.steps_done[2] == 0
    assert_same_run(sweep[0], uninterrupted()[0])
    assert_same_sweep(run(sweep), uninterrupted())


@needs_fork
def test_workers_leave_interrupts_to_their_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal sends them to every process."""
    parent, advance = os.getpid(), CountEngine.advance

    def interrupted_too(self: CountEngine, batch: Any) -> torch.Tensor:
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGINT)
        return advance(self, batch)

    monkeypatch.setattr(CountEngine, "advance", interrupted_too)
    sweep = Sweep(MIXED[2:4])
    try:
        run(sweep, workers=2)
    except KeyboardInterrupt:
        pytest.fail("a worker was interrupted")
    assert_same_sweep(sweep, run(Sweep(MIXED[2:4])))


def test_a_second_interrupt_stops_at_once_and_the_handler_is_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupts(*_: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        pytest.fail("went on")

    handler = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(CountEngine, "advance", interrupts)
    with pytest.raises(KeyboardInterrupt):
        run(Sweep(MIXED[:1]))
    assert signal.getsignal(signal.SIGINT) is handler


@needs_fork
@both_ways
def test_an_interrupted_sweep_is_resumed_from_its_file(workers: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    sweep = interrupted(workers, monkeypatch, checkpoint=tmp_path / "sweep")
    resumed = Sweep(LONG)
    run(resumed, checkpoint=tmp_path / "sweep", stop_at=0)  # takes what is there, and no step
    assert_same_sweep_so_far(resumed, sweep)
    assert_same_sweep(run(resumed, checkpoint=tmp_path / "sweep", workers=workers), uninterrupted())
    assert_same_sweep(run(Sweep(LONG), checkpoint=tmp_path / "sweep"), uninterrupted())


def assert_same_sweep_so_far(a: Sweep, b: Sweep) -> None:
    assert np.array_equal(a.steps_done, b.steps_done)
    for name in ("train_loss", "held_out_loss"):
        assert np.array_equal(a.curves[name], b.curves[name], equal_nan=True) or (b.steps_done == 0).any(), name


def test_a_resumed_sweep_takes_only_the_steps_that_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(Sweep(ALIKE), stop_at=20, checkpoint=tmp_path / "sweep")
    calls, advance = [], CountEngine.advance
    monkeypatch.setattr(CountEngine, "advance", lambda self, batch: calls.append(1) or advance(self, batch))  # type: ignore[func-returns-value]
    assert_same_run(run(Sweep(ALIKE), checkpoint=tmp_path / "sweep")[2], alone(*ALIKE[2]))
    assert len(calls) == 3 * 17 + 37  # and those of train


def test_results_in_memory_are_not_replaced_by_a_file_with_fewer_steps(tmp_path: Path) -> None:
    run(Sweep(ALIKE), stop_at=5, checkpoint=tmp_path / "sweep")
    sweep = run(Sweep(ALIKE), stop_at=20)
    run(sweep, stop_at=0, checkpoint=tmp_path / "sweep")
    assert sweep.steps_done.tolist() == [20, 20, 20]
    assert run(Sweep(ALIKE), stop_at=0, checkpoint=tmp_path / "sweep").steps_done.tolist() == [20, 20, 20]


def test_the_file_is_saved_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved, save = [], Sweep._save
    monkeypatch.setattr(Sweep, "_save", lambda self, path: (saved.append(self.steps_done.tolist()), save(self, path)))
    run(Sweep(ALIKE), checkpoint=tmp_path / "one")
    assert saved == [[37, 37, 37]]
    monkeypatch.setattr(sweeps, "SAVE_SECONDS", -1)
    run(Sweep(ALIKE), checkpoint=tmp_path / "other")
    # Tasks hand in what they have, and go on.
    assert saved[1] == [16, 0, 0]
    assert saved[-1] == [37, 37, 37]
    assert saved[1:] == sorted(saved[1:])
    assert len(saved) > 6
    assert_same_sweep(run(Sweep(ALIKE), checkpoint=tmp_path / "other"), run(Sweep(ALIKE)))


def test_a_sweep_that_was_run_without_a_file_is_saved_when_one_is_named(tmp_path: Path) -> None:
    sweep = run(Sweep(ALIKE))
    run(sweep, checkpoint=tmp_path / "folder" / "sweep")
    assert_same_sweep(run(Sweep(ALIKE), checkpoint=tmp_path / "folder" / "sweep", stop_at=0), sweep)


def test_a_sweep_that_failed_before_its_first_step_begins_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(CountEngine, "advance", fail)
        with pytest.raises(MemoryError):
            run(Sweep(ALIKE), checkpoint=tmp_path / "sweep")
    assert_same_sweep(run(Sweep(ALIKE), checkpoint=tmp_path / "sweep"), run(Sweep(ALIKE)))


def test_a_finished_sweep_leaves_its_file_as_it_is(tmp_path: Path) -> None:
    run(Sweep(ALIKE), checkpoint=tmp_path / "sweep")
    before = (tmp_path / "sweep").read_bytes(), (tmp_path / "sweep").stat().st_mtime_ns
    run(Sweep(ALIKE), checkpoint=tmp_path / "sweep")
    assert ((tmp_path / "sweep").read_bytes(), (tmp_path / "sweep").stat().st_mtime_ns) == before


def longer(runs: Runs, steps: int) -> Runs:
    return [(replace(settings, steps=steps, snapshots=()), seed) for settings, seed in runs]


@pytest.mark.parametrize("stop", [20, None])
def test_a_finished_sweep_can_grow(stop: int | None, tmp_path: Path) -> None:
    runs = [*ALIKE, (DIVERGES, 0)]
    run(Sweep(longer(runs, 20)), checkpoint=tmp_path / "sweep")
    grown = run(Sweep(longer(runs, 50)), checkpoint=tmp_path / "sweep", stop_at=stop)
    assert grown.curves["train_loss"].shape == (4, 50)
    assert_same_sweep(grown, run(Sweep(longer(runs, 50)), stop_at=stop))


def test_a_sweep_may_end_earlier_than_its_file_was_to(tmp_path: Path) -> None:
    run(Sweep(longer(ALIKE, 50)), checkpoint=tmp_path / "sweep", stop_at=8)
    assert_same_sweep(run(Sweep(longer(ALIKE, 20)), checkpoint=tmp_path / "sweep"), run(Sweep(longer(ALIKE, 20))))


def test_so_may_a_run(tmp_path: Path) -> None:
    (long, seed), (short, _) = longer(ALIKE, 50)[0], longer(ALIKE, 20)[0]
    alone(long, seed, checkpoint=tmp_path / "run", stop_at=8)
    assert_same_run(alone(short, seed, checkpoint=tmp_path / "run"), alone(short, seed))


def of_a_longer_sweep(path: Path) -> None:
    run(Sweep([(replace(settings, steps=50), seed) for settings, seed in ALIKE]), checkpoint=path)


def of_other_runs(path: Path) -> None:
    run(Sweep([ALIKE[0], (replace(ALIKE[1][0], learning_rate=0.5), 9), ALIKE[2]]), checkpoint=path)


def of_fewer_runs(path: Path) -> None:
    run(Sweep(ALIKE[:2]), checkpoint=path)


def of_a_training_run(path: Path) -> None:
    alone(*ALIKE[0], checkpoint=path)


def of_another_kind(path: Path) -> None:
    path.write_text("notes")


def of_another_checkpoint(path: Path) -> None:
    save_checkpoint(path, {"x": torch.zeros(2)}, {})


@pytest.mark.parametrize(
    ("write", "says"),
    [
        (of_other_runs, "is of another sweep (run 1: learning_rate, seed differ); use another path"),
        (of_fewer_runs, "is of another sweep (2 runs); use another path"),
        (of_a_longer_sweep, "is at step 50, beyond steps = 37"),
        (of_a_training_run, "holds no sweep; use another path"),
        (of_another_checkpoint, "holds no sweep; use another path"),
        (of_another_kind, "cannot be read as a topiclib checkpoint"),
    ],
)
def test_a_file_of_something_else_is_refused_and_stays(write: Callable[[Path], None], says: str, tmp_path: Path) -> None:
    path, sweep = tmp_path / "file", run(Sweep(ALIKE), stop_at=5)
    write(path)
    content = path.read_bytes()
    for each in (Sweep(ALIKE), sweep):
        with pytest.raises(CheckpointError, match=re.escape(f"checkpoint = {str(path)!r}: {says}")):
            run(each, checkpoint=path)
        assert path.read_bytes() == content
    assert [file.name for file in tmp_path.iterdir()] == ["file"]
    assert sweep.steps_done.tolist() == [5, 5, 5]


def test_train_refuses_a_sweeps_file(tmp_path: Path) -> None:
    run(Sweep(ALIKE[:1]), checkpoint=tmp_path / "sweep")
    content = (tmp_path / "sweep").read_bytes()
    with pytest.raises(CheckpointError, match="holds no training run"):
        alone(*ALIKE[0], checkpoint=tmp_path / "sweep")
    assert (tmp_path / "sweep").read_bytes() == content


def test_a_file_that_cannot_be_written_is_an_error_before_the_first_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CountEngine, "advance", lambda self, batch: pytest.fail("a step was taken"))
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CheckpointError, match="cannot be written"):
        run(Sweep(ALIKE), checkpoint=tmp_path / "file" / "sweep")
    with pytest.raises(CheckpointError, match="is a folder"):
        run(Sweep(ALIKE), checkpoint=tmp_path)


@needs_fork
@pytest.mark.parametrize("at_once", [False, True], ids=["one by one", "at once"])
def test_a_killed_worker_is_an_error_and_what_was_done_is_kept(
    at_once: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run with seed 1 kills its process as soon as the other one got somewhere; the parent hears of each, or of all at once."""
    parent, advance, path = os.getpid(), CountEngine.advance, tmp_path / "sweep"
    finished, save, carry_out = multiprocessing.get_context("fork").Event(), Sweep._save, sweeps._Task.carry_out
    runs: Runs = [(BASE, 0), (replace(BASE, optimizer="sgd"), 1), (BASE, 2)]

    def kills(self: CountEngine, batch: Any) -> torch.Tensor:
        if not self.adam and os.getpid() != parent:
            finished.wait(60)
            if at_once:
                time.sleep(0.2)  # for what is finished to reach the parent
            os.kill(os.getpid(), signal.SIGKILL)
        return advance(self, batch)

    def tells_when_saved(self: Sweep, path: Path) -> None:
        save(self, path)
        finished.set()

    def tells_when_done(self: Any, *arguments: Any) -> Any:
        states = carry_out(self, *arguments)
        finished.set()
        return states

    sweep = Sweep(runs)
    with monkeypatch.context() as patch:
        patch.setattr(CountEngine, "advance", kills)
        if at_once:
            patch.setattr(sweeps._Task, "carry_out", tells_when_done)
            patch.setattr(sweeps, "wait", lambda waiting, **_: wait(waiting))
        else:
            patch.setattr(Sweep, "_save", tells_when_saved)
        patch.setattr(sweeps, "SAVE_SECONDS", -1)
        with pytest.raises(RuntimeError, match=r"a worker of the sweep was killed.*Call run\(\) again, with fewer workers"):
            run(sweep, workers=2, checkpoint=path)
    assert sweep.steps_done[0] >= 16
    assert sweep.steps_done[1] == 0
    done = int(sweep.steps_done[0])
    assert sweep[0].history.train_loss == alone(*runs[0]).history.train_loss[:done]
    assert_same_sweep(run(Sweep(runs), checkpoint=path), run(Sweep(runs)))
    assert_same_sweep(run(sweep), run(Sweep(runs)))


# --- models that are given ---------------------------------------------------------------------------------------------


def given_models(runs: Sequence[tuple[TrainingSettings, int]]) -> list[TopicTransformer]:
    """Other weights than the seeds', one part frozen by hand, one in float64."""
    models = [TopicTransformer(settings.model, 100 + i) for i, (settings, _) in enumerate(runs)]
    models[0].set_weight("W_V", np.eye(5))
    models[1].double()
    models[2].set_weight("b_K", np.ones(4), freeze=False)
    return models


@both_ways
def test_models_given_are_started_from_and_stay_as_they_are(workers: int, tmp_path: Path) -> None:
    models, again, expected = given_models(ALIKE), given_models(ALIKE), given_models(ALIKE)
    sweep = run(Sweep(ALIKE, models=models), workers=workers, stop_at=9, checkpoint=tmp_path / "sweep")
    sweep = run(Sweep(ALIKE, models=again), workers=workers, checkpoint=tmp_path / "sweep")
    for i, of in enumerate(ALIKE):
        assert_same_run(sweep[i], alone(*of, model=expected[i]))
    for given, fresh in zip(models + again, 2 * given_models(ALIKE), strict=True):
        for (name, p), (_, q) in zip(given.named_parameters(), fresh.named_parameters(), strict=True):
            assert torch.equal(p, q), name
            assert (p.dtype, p.requires_grad, p.grad) == (q.dtype, q.requires_grad, None), name
    assert torch.equal(sweep[0].model.W_V, torch.eye(5))
    assert sweep[1].model.W_V.dtype == torch.float64


def test_a_file_of_other_frozen_weights_is_refused(tmp_path: Path) -> None:
    run(Sweep(ALIKE, models=given_models(ALIKE)), checkpoint=tmp_path / "sweep", stop_at=2)
    other = given_models(ALIKE)
    other[0].set_weight("W_V", 2 * np.eye(5))
    with pytest.raises(CheckpointError, match=r"run 0: frozen W_V differ"):
        run(Sweep(ALIKE, models=other), checkpoint=tmp_path / "sweep")
    with pytest.raises(CheckpointError, match=r"run 0: trained differ"):
        run(Sweep(ALIKE), checkpoint=tmp_path / "sweep")


# --- stacked, as on a GPU ----------------------------------------------------------------------------------------------


@pytest.fixture
def stacked(monkeypatch: pytest.MonkeyPatch) -> None:
    """All runs in one engine."""
    monkeypatch.setattr(Sweep, "_chunks", lambda self, device: list(self._states) or [tuple(range(len(self)))])


def assert_close(a: TrainingRun, b: TrainingRun, rtol: float = 1e-4) -> None:
    """Equal to rounding in float32, which Adam makes grow."""
    assert a.step == b.step
    for name, values in a.history.arrays().items():
        assert np.allclose(values, b.history.arrays()[name], rtol=rtol, atol=1e-5, equal_nan=True), name
    for (name, p), (_, q) in zip(a.model.named_parameters(), b.model.named_parameters(), strict=True):
        assert torch.allclose(p, q, rtol=rtol, atol=1e-4), name
        assert (p.dtype, p.requires_grad) == (q.dtype, q.requires_grad), name
    assert a.history.snapshots.keys() == b.history.snapshots.keys()


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"loss": "squared"},
        {"optimizer": "sgd"},
        {"l2_on": ("W_V", "W_E")},
        {"model": ModelSettings.tiny(one_hot=True, embedding_dim=None)},
        {"model": ModelSettings.tiny(uniform_attention=True)},
        {"model": ModelSettings.tiny(frozen=("W_E", "W_K", "b_pred"))},
    ],
    ids=str,
)
@pytest.mark.usefixtures("stacked")
def test_stacked_runs_are_the_runs_alone(changes: dict[str, Any]) -> None:
    runs = [(replace(settings, **changes), seed) for settings, seed in ALIKE]
    assert len({sweeps._shape(settings, None) for settings, _ in runs}) == 1
    sweep = run(Sweep(runs))
    assert len(sweep._states) == 1
    for i, of in enumerate(runs):
        assert_close(sweep[i], alone(*of))
        assert np.allclose(sweep.curves["held_out_loss"][i], alone(*of).history.held_out_loss, rtol=1e-4)


@pytest.mark.usefixtures("stacked")
def test_stacked_models_are_the_given_ones() -> None:
    def models() -> list[TopicTransformer]:
        given = [TopicTransformer(settings.model, 50 + i) for i, (settings, _) in enumerate(ALIKE)]
        for i, model in enumerate(given):
            model.set_weight("W_V", (i + 1) * np.eye(5))
        return given

    sweep = run(Sweep(ALIKE, models=models()))
    for i, of in enumerate(ALIKE):
        assert torch.equal(sweep[i].model.W_V, (i + 1) * torch.eye(5))
        assert_close(sweep[i], alone(*of, model=models()[i]))


@pytest.mark.parametrize("stops", [[0], [5], [16, 20]], ids=str)
@pytest.mark.usefixtures("stacked")
def test_stacked_runs_stop_and_go_on_exactly(stops: list[int], tmp_path: Path) -> None:
    whole = run(Sweep(ALIKE))
    for stop in stops:
        parts = run(Sweep(ALIKE), stop_at=stop, checkpoint=tmp_path / "sweep")
        assert parts.steps_done.tolist() == [stop] * 3
    assert_same_sweep(run(parts), whole)
    assert_same_sweep(run(Sweep(ALIKE), checkpoint=tmp_path / "sweep"), whole)


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("rate", [1e3, 3.0])
@pytest.mark.usefixtures("stacked")
def test_a_stacked_run_that_diverges_disturbs_no_other(rate: float, place: int) -> None:
    good = replace(DIVERGES, learning_rate=0.01)
    # Fewer pairs and positions than the others have, or more.
    runs: Runs = [(replace(good, masking=MaskingSettings(p_m)), i) for i, p_m in enumerate((0.1, 0.3, 0.6))]
    runs[place] = (replace(runs[place][0], learning_rate=rate), place)
    sweep, error = run(Sweep(runs)), divergence(*runs[place])
    assert sweep.diverged.tolist() == [error.step if i == place else -1 for i in range(3)]
    assert sweep.steps_done.tolist() == [error.step if i == place else 37 for i in range(3)]
    for i, of in enumerate(runs):
        if i != place:
            assert_close(sweep[i], alone(*of))
    for name, values in error.history.arrays().items():
        if name in CURVES:
            assert np.allclose(sweep.curves[name][place, : len(values)], values, rtol=1e-3, equal_nan=True), name
            assert np.isnan(sweep.curves[name][place, len(values) :]).all(), name


@pytest.mark.usefixtures("stacked")
def test_stacked_runs_that_all_diverge_end_there() -> None:
    runs: Runs = [(DIVERGES, 0), (replace(DIVERGES, learning_rate=30.0), 1)]
    sweep = run(Sweep(runs))
    assert sweep.diverged.tolist() == [divergence(*of).step for of in runs]


# Each is a settings object that may not share an engine with BASE: what the engine takes from its first run alone.
APART = {
    "loss": replace(BASE, loss="squared"),
    "optimizer": replace(BASE, optimizer="sgd"),
    "batch_size": replace(BASE, batch_size=9),
    "l2_on": replace(BASE, l2_on=("W_V",)),
    "d": replace(BASE, model=ModelSettings.tiny(embedding_dim=6)),
    "d_a": replace(BASE, model=ModelSettings.tiny(attention_dim=3)),
    "frozen": replace(BASE, model=ModelSettings.tiny(frozen=("W_E",))),
    "uniform": replace(BASE, model=ModelSettings.tiny(uniform_attention=True)),
    "biases": replace(BASE, model=ModelSettings.tiny(attention_biases=False)),
    "vocabulary": replace(
        BASE,
        documents=DocumentSettings.tiny(num_topics=2),
        model=ModelSettings.tiny(vocabulary=DocumentSettings.tiny(num_topics=2).vocabulary),
    ),
    "topics": replace(
        BASE,
        documents=DocumentSettings.tiny(num_topics=2, words_per_topic=3),
        model=ModelSettings.tiny(vocabulary=DocumentSettings.tiny(num_topics=2, words_per_topic=3).vocabulary),
    ),
}


@pytest.mark.parametrize("other", APART.values(), ids=APART.keys())
def test_runs_of_another_shape_are_not_stacked(other: TrainingSettings) -> None:
    assert sweeps._shape(BASE, None) != sweeps._shape(other, None)


def test_runs_of_one_shape_are_stacked_as_many_as_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = torch.device("cuda")
    monkeypatch.setattr(sweeps, "_runs_that_fit", lambda settings, device: 2)
    other = APART["loss"]
    runs = [ALIKE[0], (other, 0), ALIKE[1], (other, 1), ALIKE[2], (APART["d"], 2), (BASE, 3), (BASE, 3)]
    sweep = Sweep(runs)
    assert sorted(sweep._chunks(gpu)) == [(0, 2), (1, 3), (4, 6), (5,), (7,)]
    assert sweep._chunks(torch.device("cpu")) == [(i,) for i in range(8)]
    run(Sweep(runs), stop_at=0)  # what is begun stays as it is
    sweep._states = {(1,): {}, (2, 0): {}}
    assert sorted(sweep._chunks(gpu)) == [(1,), (2, 0), (3,), (4, 6), (5,), (7,)]
    assert sorted(sweep._chunks(torch.device("cpu"))) == [(1,), (2, 0), (3,), (4,), (5,), (6,), (7,)]


def test_given_models_are_stacked_with_their_like() -> None:
    def shape(change: Callable[[TopicTransformer], object] = lambda model: None, settings: TrainingSettings = BASE) -> object:
        model = TopicTransformer(settings.model, 0)
        change(model)
        return sweeps._shape(settings, model)

    assert shape() == shape(lambda model: model.set_weight("W_V", np.ones((5, 5)), freeze=False))
    assert shape() != shape(lambda model: model.set_weight("W_V", np.eye(5)))
    assert shape() != shape(lambda model: model.double())
    uniform = replace(BASE, model=ModelSettings.tiny(uniform_attention=True))
    assert shape(settings=uniform) != shape(lambda model: model.set_weight("W_K", np.ones((4, 5))), uniform)


# --- arguments ---------------------------------------------------------------------------------------------------------

OTHER_MODEL = TopicTransformer(ModelSettings.tiny(embedding_dim=6), 0)
MODEL = TopicTransformer(BASE.model, 0)


def all_frozen() -> TopicTransformer:
    model = TopicTransformer(BASE.model, 0)
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    return model


ONE = Sweep(MIXED[:1])
BAD: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "no runs": (lambda: Sweep([]), ValueError, "runs is empty: must hold at least one (settings, seed)"),
    "settings": (lambda: Sweep([(BASE, 0), ("x", 0)]), TypeError, "settings = 'x': must be a TrainingSettings"),  # type: ignore[list-item]
    "seed": (lambda: Sweep([(BASE, -1)]), ValueError, "seed = -1: must be a whole number from 0 to"),
    "large seed": (lambda: Sweep([(BASE, 2**64)]), ValueError, f"seed = {2**64}: must be a whole number from 0 to"),
    "no seed": (lambda: Sweep([(BASE, None)]), TypeError, "seed = None: must be a whole number from 0 to"),  # type: ignore[list-item]
    "models": (lambda: Sweep(MIXED[:2], models=[MODEL]), ValueError, "models has 1 models: must have one for each of the 2 runs"),
    "no model": (lambda: Sweep([(BASE, 0)], models=[None]), TypeError, "models = None: must be a TopicTransformer"),  # type: ignore[list-item]
    "another model": (
        lambda: Sweep([(BASE, 0)] * 2, models=[MODEL, OTHER_MODEL]),
        ValueError,
        "models[1] has settings ModelSettings(",
    ),
    "frozen": (lambda: Sweep([(BASE, 0)], models=[all_frozen()]), ValueError, "model has no trained parameter"),
    "l2_on": (
        lambda: Sweep([(replace(BASE, model=ModelSettings.tiny(frozen=("W_V",)), l2_coef=1.0, l2_on=("W_V",)), 0)]),
        ValueError,
        "l2_on = ('W_V',): must name a trained parameter",
    ),
    "no worker": (lambda: run(ONE, workers=0), ValueError, "workers = 0: must be a whole number >= 1"),
    "half a worker": (lambda: run(ONE, workers=0.5), TypeError, "workers = 0.5: must be a whole number >= 1"),
    "stop_at": (lambda: run(ONE, stop_at=38), ValueError, "stop_at = 38: must be a whole number from 0 to 37"),
    "before": (lambda: run(ONE, stop_at=-1), ValueError, "stop_at = -1: must be a whole number from 0 to 37"),
    "checkpoint": (lambda: run(ONE, checkpoint=3), TypeError, "checkpoint = 3: must be the path of a file"),
    "device": (lambda: run(ONE, device="abacus"), ValueError, "device = 'abacus': must be "),
}


@pytest.mark.parametrize(("call", "error", "begins"), BAD.values(), ids=BAD.keys())
def test_errors_name_the_argument(call: Callable[[], object], error: type[Exception], begins: str) -> None:
    with pytest.raises(error, match="^" + re.escape(begins)):
        call()
    assert ONE.steps_done.tolist() == [0]


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("steps", 40, "steps = 37, 40: "),
        ("log_every", 2, "log_every = 2, 3: "),
        ("eval_every", 9, "eval_every = 5, 9: "),
        ("eval_docs", 2, "eval_docs = 2, 8: "),
        ("snapshots", (0,), "snapshots = (0,), (0, 7, 37): "),
    ],
)
def test_runs_that_record_at_other_steps_are_refused_by_name(name: str, value: Any, says: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(says + "must be the same in all runs of a sweep")):
        Sweep([(BASE, 0), (BASE, 1), (replace(BASE, **{name: value}), 0)])


@pytest.mark.parametrize(
    ("setting", "option", "drawn"), [("0", None, False), ("1", None, True), ("0", True, True), ("1", False, False)]
)
@both_ways
def test_progress_bar_is_drawn_as_asked(
    workers: int,
    setting: str,
    option: bool | None,
    drawn: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TOPICLIB_PROGRESS", setting)
    Sweep(MIXED[:2]).run(workers=workers, progress=option)
    assert bool(capsys.readouterr().err) == drawn


@both_ways
def test_progress_counts_the_steps_of_all_runs(workers: int, capsys: pytest.CaptureFixture[str]) -> None:
    sweep = Sweep([*MIXED[:2], (DIVERGES, 0)])
    run(sweep, workers=workers, stop_at=20, progress=True)
    assert "60/60" in capsys.readouterr().err.rpartition("sweep:")[2]
    run(sweep, workers=workers, progress=True)
    assert "111/111" in capsys.readouterr().err.rpartition("sweep:")[2]


# --- both of train's engines -------------------------------------------------------------------------------------------


def test_counts_and_tokens_train_alike_at_the_papers_settings() -> None:
    """In float64 the two engines' rounding, 1e-16 a step, stays below 1e-9 over 200 steps of Adam."""
    settings = TrainingSettings.paper(steps=200, eval_every=100)
    counts, tokens = (
        alone(settings, 0, model=TopicTransformer(settings.model, 0).double(), engine=engine) for engine in ("counts", "tokens")
    )
    assert counts.history.train_loss[-1] < counts.history.train_loss[0] - 0.5
    for name in CURVES:
        a, b = counts.history.arrays()[name], tokens.history.arrays()[name]
        assert np.allclose(a, b, rtol=1e-9, atol=1e-9, equal_nan=True), (name, np.nanmax(np.abs(a - b)))


@needs_fork
def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    """A killed kernel leaves nobody behind."""
    code = (
        "import os, signal, threading, time, multiprocessing\n"
        "from topiclib.settings import TrainingSettings\n"
        "from topiclib.sweeps import Sweep\n"
        "def die():\n"
        "    while len(multiprocessing.active_children()) < 2: time.sleep(0.01)\n"
        "    print(*[p.pid for p in multiprocessing.active_children()], flush=True)\n"
        "    time.sleep(0.5)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "threading.Thread(target=die, daemon=True).start()\n"
        "s = TrainingSettings.tiny(steps=10**6)\n"
        "Sweep([(s, 0), (s, 1)]).run(workers=2, progress=False)\n"
    )
    # Not through a pipe: the workers would hold it open.
    with open(tmp_path / "out", "w") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, timeout=60, check=False)
    workers = [int(pid) for pid in (tmp_path / "out").read_text().split()]
    assert len(workers) == 2
    for _ in range(100):
        if not any(os.path.exists(f"/proc/{pid}") for pid in workers):
            return
        time.sleep(0.1)
    pytest.fail("a worker lives on")


@needs_fork
@pytest.mark.parametrize("gap", [0.0, 0.02])
def test_two_interrupts_lose_nothing_that_workers_did(gap: float) -> None:
    def interrupt() -> None:
        time.sleep(1.0)
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(gap)

    settings = TrainingSettings.tiny(steps=100_000)
    sweep = Sweep([(settings, 0), (settings, 1)])
    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        run(sweep, workers=2)
    assert (sweep.steps_done > 0).all()
    assert (sweep.steps_done < 100_000).all()


def test_a_file_is_refused_by_a_run_from_another_start(tmp_path: Path) -> None:
    one, other = TopicTransformer(BASE.model, 1), TopicTransformer(BASE.model, 2)
    run(Sweep([(BASE, 0)], models=[one]), checkpoint=tmp_path / "sweep")
    for models in ([other], None):
        with pytest.raises(CheckpointError, match="start W_E"):
            run(Sweep([(BASE, 0)], models=models), checkpoint=tmp_path / "sweep")


@pytest.mark.parametrize("runs", [None, "ab", BASE, [BASE], [(BASE, 1, 2)]], ids=str)
def test_runs_that_are_no_pairs_are_a_type_error(runs: Any) -> None:
    with pytest.raises(TypeError, match=r"runs .*must be \(settings, seed\) pairs"):
        Sweep(runs)


def test_runs_may_come_from_a_generator() -> None:
    assert len(Sweep((BASE, seed) for seed in range(2))) == 2  # type: ignore[arg-type]


# --- a device whose memory is small ------------------------------------------------------------------------------------


def small_memory(monkeypatch: pytest.MonkeyPatch, most: int) -> list[int]:
    """Memory is out where more than ``most`` runs are stacked; returns the sizes that were tried."""
    begin, tried = sweeps._Part.begin, []

    def limited(part: Any, *rest: Any) -> Any:
        tried.append(len(part.runs))
        if len(part.runs) > most:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return begin(part, *rest)

    monkeypatch.setattr(sweeps._Part, "begin", limited)
    return tried


@pytest.mark.usefixtures("stacked")
def test_runs_that_do_not_fit_are_stacked_by_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = [*ALIKE, (BASE, 3), (BASE, 4)]
    tried = small_memory(monkeypatch, 2)
    sweep = run(Sweep(settings))
    assert tried[0] == 5
    assert max(size for size in tried[1:] if size <= 2) == 2
    monkeypatch.undo()
    for i, (s, seed) in enumerate(settings):
        assert_close(sweep[i], alone(s, seed))


@pytest.mark.usefixtures("stacked")
def test_one_run_that_does_not_fit_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    small_memory(monkeypatch, 0)
    with pytest.raises(MemoryError, match="too small for a single run: take a smaller batch_size"):
        run(Sweep(ALIKE[:2]))
