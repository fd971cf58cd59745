"""What several processes do together is what one does: with two that ``torchrun`` starts on a CPU, which talk by Gloo."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import topiclib.masked_lm_training as masked_lm_training
import topiclib.sweeps as sweeps
from topiclib.checkpoint import CheckpointError, load_checkpoint
from topiclib.distributed import Ranks, processes, run_sweep
from topiclib.engine import CountEngine
from topiclib.masked_lm import MaskedLMSettings, Windows, draw_batch, masked_loss
from topiclib.masked_lm_training import MaskedLMRun, train_masked_lm
from topiclib.model import TopicTransformer
from topiclib.settings import TrainingSettings
from topiclib.sweeps import Sweep

BASE = TrainingSettings.tiny(steps=37, log_every=3, eval_every=5, snapshots=(0, 7, 37))
RUNS = [
    (BASE, 0),
    (replace(BASE, learning_rate=0.1), 0),
    (replace(BASE, loss="squared", optimizer="sgd", learning_rate=1e3), 2),  # diverges
    (replace(BASE, optimizer="sgd", learning_rate=0.5), 3),
    (replace(BASE, batch_size=5), 4),
]
ADAM = MaskedLMSettings(num_layers=2, num_heads=2, hidden=8, feed_forward=12, batch_size=4, steps=25, snapshots=(0, 12, 25))
SGD = replace(ADAM, optimizer="sgd", learning_rate=0.5)
WINDOWS = Windows(np.random.default_rng(0).integers(1, 30, size=(50, 12)), np.concatenate([[-1, -1], np.arange(5, 33)]))
VARIABLES = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
KILLED_AT = 40
"""Of the steps of rank 1, after those that its two runs have saved: 16 each."""


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (*VARIABLES, "TOPICLIB_DEVICE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TOPICLIB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sweeps, "num_cores", lambda: 1)  # steps in forked processes are not counted


def with_models() -> Sweep:
    return Sweep(RUNS[:3], models=[TopicTransformer(BASE.model, 50 + i) for i in range(3)])


def arrays_of(sweep: Sweep) -> dict[str, Any]:
    """Every result of a sweep, as arrays by name."""
    found: dict[str, Any] = {**sweep.curves, "steps_done": sweep.steps_done, "diverged": sweep.diverged}
    for i, run in enumerate(list(sweep)):
        found |= {f"{i} {name}": p.detach().numpy() for name, p in run.model.named_parameters()}
        found |= {f"{i} {step} {name}": v for step, weights in run.history.snapshots.items() for name, v in weights.items()}
    return found


def arrays_of_run(run: MaskedLMRun) -> dict[str, Any]:
    """Every number of a run of the masked language model."""
    found = {"loss": run.train_loss, "rotation": run.rotation}
    found |= {f"{kind} {x}": value for kind in ("norms", "gradients") for x, value in getattr(run, kind).items()}
    return found | {f"{step} {name}": value for step, weights in run.snapshots.items() for name, value in weights.items()}


def assert_same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


# --- what runs in the two processes ------------------------------------------------------------------------------------


class Steps:
    """Counts the steps of sweeps, and the batches of the masked language model, in this process; kills it at one of them."""

    def __init__(self, kill_at: int | None = None) -> None:
        self.taken: list[int] = []
        self.kill_at = kill_at
        advance = CountEngine.advance

        def counted(engine: CountEngine, batch: Any) -> torch.Tensor:
            self.count(len(self.taken) + 1)
            return advance(engine, batch)

        def drawn(windows: Windows, settings: MaskedLMSettings, seed: int, step: int) -> Any:
            self.count(step)
            return draw_batch(windows, settings, seed, step)

        self.replaced = ((CountEngine, "advance", counted), (masked_lm_training, "draw_batch", drawn))

    def count(self, step: int) -> None:
        self.taken.append(step)
        if step == self.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def __enter__(self) -> list[int]:
        self.patch = pytest.MonkeyPatch()
        for place, name, value in self.replaced:
            self.patch.setattr(place, name, value)
        return self.taken

    def __exit__(self, *_: object) -> None:
        self.patch.undo()


def message(call: Callable[[], object]) -> str:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        call()
    return str(caught.value)


def write(out: Path, name: str, ranks: Ranks, value: Any) -> None:
    (out / f"{name}-{ranks.rank}").write_bytes(pickle.dumps(value))


def read(out: Path, name: str) -> tuple[Any, Any]:
    first, second = (pickle.loads((out / f"{name}-{rank}").read_bytes()) for rank in (0, 1))
    return first, second


def whole(out: Path) -> None:
    """Everything without an interruption."""
    with processes() as ranks:
        with Steps() as taken:
            sweep = run_sweep(Sweep(RUNS), ranks, progress=False)
        write(out, "sweep", ranks, (ranks, len(taken), arrays_of(sweep)))
        few = run_sweep(Sweep(RUNS[:1]), ranks, stop_at=20, progress=False)
        write(out, "few", ranks, arrays_of(run_sweep(few, ranks, progress=False)))
        write(out, "models", ranks, arrays_of(run_sweep(with_models(), ranks, progress=False)))
        with pytest.MonkeyPatch.context() as patch, Steps() as taken:
            rows: list[int] = []
            patch.setattr(masked_lm_training, "masked_loss", lambda model, b: (rows.append(len(b)), masked_loss(model, b))[1])
            runs = train_masked_lm([(ADAM, 3), (SGD, 4)], WINDOWS, ranks=ranks)
        write(out, "runs", ranks, (taken, rows, [arrays_of_run(run) for run in runs]))
        odd, other = replace(ADAM, batch_size=5), Windows(WINDOWS.tokens[ranks.rank :], WINDOWS.pieces)
        said = [
            message(lambda: train_masked_lm([(ADAM, 3), (odd, 3)], WINDOWS, ranks=ranks)),
            message(lambda: train_masked_lm([(ADAM, 3)], other, ranks=ranks)),
            message(lambda: train_masked_lm([(ADAM, 3)], WINDOWS, ranks=ranks, workers=2)),
            message(lambda: run_sweep(Sweep([(BASE, ranks.rank)]), ranks)),
        ]
        write(out, "errors", ranks, said)


def of_its_own(out: Path, ranks: Ranks) -> Path:
    """A folder that the other rank does not see, for its files and its cache: the ranks are as on two hosts."""
    os.environ["TOPICLIB_CACHE"] = str(out / f"host-{ranks.rank}" / "cache")
    return out / f"host-{ranks.rank}"


def killed(out: Path) -> None:
    """Rank 1 is killed within its share of a sweep."""
    sweeps.SAVE_SECONDS = 0.0
    with processes() as ranks, Steps(KILLED_AT if ranks.rank == 1 else None):
        run_sweep(Sweep(RUNS), ranks, checkpoint=of_its_own(out, ranks) / "sweep.file", progress=False)


def resumed(out: Path) -> None:
    """The sweep goes on; then rank 1 is killed while all train the masked language model."""
    with processes() as ranks:
        with Steps() as taken:
            sweep = run_sweep(Sweep(RUNS), ranks, checkpoint=of_its_own(out, ranks) / "sweep.file", progress=False)
        write(out, "resumed", ranks, (len(taken), arrays_of(sweep)))
        with Steps(19 if ranks.rank == 1 else None):
            train_masked_lm([(ADAM, 3)], WINDOWS, save_every=8, ranks=ranks)


def resumed_twice(out: Path) -> None:
    """The masked language model goes on, and is found in the cache; then rank 1 fails while rank 0 waits for it."""
    with processes() as ranks:
        of_its_own(out, ranks)
        for name in ("on", "kept"):
            with Steps() as taken:
                (run,) = train_masked_lm([(ADAM, 3)], WINDOWS, save_every=8, ranks=ranks)
            write(out, name, ranks, (taken, arrays_of_run(run)))
        if ranks.rank == 1:
            raise RuntimeError("failed on purpose")
        ranks.gather(None)


def torchrun(out: Path, job: str) -> subprocess.CompletedProcess[str]:
    """Run a function of this module in two processes."""
    script = out / "job.py"
    script.write_text(
        f"import sys\nfrom pathlib import Path\nsys.path.insert(0, {str(Path(__file__).parent)!r})\nimport test_distributed\n"
        f"if __name__ == '__main__':\n    test_distributed.{job}(Path({str(out)!r}))\n"
    )
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(script)]
    environment = {name: value for name, value in os.environ.items() if name not in (*VARIABLES, "TOPICLIB_DEVICE")}
    environment |= {"TOPICLIB_CACHE": str(out / "cache"), "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            output, _ = process.communicate(timeout=240)
        except subprocess.TimeoutExpired:
            process.terminate()  # torchrun ends its processes first
            raise
    return subprocess.CompletedProcess(command, process.returncode, output)


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole")
    result = torchrun(out, "whole")
    assert result.returncode == 0, result.stdout
    return out


@pytest.fixture(scope="module")
def after_a_kill(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what a killed job left."""
    out = tmp_path_factory.mktemp("killed")
    result = torchrun(out, "killed")
    assert result.returncode != 0
    assert "SIGKILL" in result.stdout, result.stdout
    return out


@pytest.fixture(scope="module")
def single() -> dict[str, Any]:
    return arrays_of(Sweep(RUNS).run(workers=1, device="cpu", progress=False))


def saved_steps(folder: Path, rank: int) -> int:
    """How many steps are in a rank's file, of all its runs."""
    file = folder / f"host-{rank}" / f"sweep.file.rank-{rank}-of-2"
    if not file.exists():
        return 0
    tensors, _ = load_checkpoint(file)
    return sum(int(value) for name, value in tensors.items() if name.endswith("/step"))


# --- sweeps ------------------------------------------------------------------------------------------------------------


def test_each_rank_trains_its_share_and_has_the_whole(together: Path, single: dict[str, Any]) -> None:
    for rank, (found, steps, arrays) in enumerate(read(together, "sweep")):
        assert found == Ranks(rank, 2, torch.device("cpu"))
        assert_same(arrays, single)
        done = [37 if diverged < 0 else sweeps.STRIDE for diverged in single["diverged"]]
        assert steps == sum(done[rank::2])
    assert single["diverged"][2] >= 0


def test_more_ranks_than_runs_and_a_sweep_in_two_parts(together: Path) -> None:
    wanted = arrays_of(Sweep(RUNS[:1]).run(workers=1, progress=False))
    for arrays in read(together, "few"):
        assert_same(arrays, wanted)


def test_given_models(together: Path) -> None:
    wanted = arrays_of(with_models().run(workers=1, progress=False))
    for arrays in read(together, "models"):
        assert_same(arrays, wanted)


@pytest.fixture(scope="module")
def after_two_kills(tmp_path_factory: pytest.TempPathFactory, after_a_kill: Path) -> Path:
    """The folder after the job went on, with its ranks on the hosts the other way round, and was killed again."""
    out = tmp_path_factory.mktemp("resumed")
    for rank in (0, 1):
        shutil.copytree(after_a_kill / f"host-{rank}", out / f"host-{1 - rank}")
    result = torchrun(out, "resumed")
    assert result.returncode != 0
    assert "SIGKILL" in result.stdout, result.stdout
    return out


def test_a_killed_sweep_goes_on(after_a_kill: Path, after_two_kills: Path, single: dict[str, Any]) -> None:
    """What was saved is not trained again. In the end there is one file, of the whole sweep."""
    left = [saved_steps(after_a_kill, rank) for rank in (0, 1)]
    assert left[1] == 32
    for rank, (steps, arrays) in enumerate(read(after_two_kills, "resumed")):
        assert_same(arrays, single)
        assert steps == (2 * 37 + sweeps.STRIDE, 2 * 37)[rank] - left[rank]
    assert [file.relative_to(after_two_kills).as_posix() for file in after_two_kills.rglob("sweep.file*")] == ["host-0/sweep.file"]
    with Steps() as taken:
        sweep = Sweep(RUNS).run(workers=1, checkpoint=after_two_kills / "host-0" / "sweep.file", progress=False)
    assert_same(arrays_of(sweep), single)
    assert not taken


@pytest.mark.parametrize("size", [1, 3])
def test_a_killed_sweep_goes_on_with_another_number_of_ranks(
    after_a_kill: Path, tmp_path: Path, single: dict[str, Any], size: int
) -> None:
    (tmp_path / "folder").mkdir()
    for file in after_a_kill.rglob("sweep.file*"):
        shutil.copy(file, tmp_path / "folder")
    with Steps() as taken:
        for sweep in threads(size, tmp_path / "folder" / "sweep.file"):
            assert_same(arrays_of(sweep), single)
    assert len(taken) == 4 * 37 + sweeps.STRIDE - sum(saved_steps(after_a_kill, rank) for rank in (0, 1))
    assert [file.name for file in (tmp_path / "folder").glob("sweep.file*")] == ["sweep.file"]


@dataclass(frozen=True)
class Threads(Ranks):
    """Ranks that are threads of one process."""

    shelf: list[Any] = field(default_factory=list)
    barrier: threading.Barrier = field(default_factory=lambda: threading.Barrier(1))

    def gather(self, value: Any) -> list[Any]:
        self.shelf[self.rank] = value
        self.barrier.wait(60)
        found = list(self.shelf)
        self.barrier.wait(60)
        return found


def threads(size: int, checkpoint: Path, stop_at: int | None = None) -> list[Sweep]:
    """The sweep that each of ``size`` ranks ends with."""
    found = [Sweep(RUNS) for _ in range(size)]
    shelf, barrier = [None] * size, threading.Barrier(size)
    failed: list[Exception] = []

    def one(rank: int) -> None:
        try:
            ranks = Threads(rank, size, shelf=shelf, barrier=barrier)
            run_sweep(found[rank], ranks, checkpoint=checkpoint, stop_at=stop_at, progress=False)
        except Exception as error:
            failed.append(error)
            barrier.abort()

    running = [threading.Thread(target=one, args=(rank,)) for rank in range(size)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    if failed:
        raise failed[0]
    return found


def test_stacked_runs_are_dealt_out_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, single: dict[str, Any]) -> None:
    """As on a GPU: what one rank has stacked in one engine goes on in three."""
    chunks = Sweep._chunks
    monkeypatch.setattr(sweeps, "_runs_that_fit", lambda settings, device: 8)
    monkeypatch.setattr(Sweep, "_chunks", lambda sweep, device: chunks(sweep, torch.device("cuda")))
    file = tmp_path / "sweep"
    (begun,) = threads(1, file, stop_at=20)
    assert sorted(begun._states) == [(0, 1), (2,), (3,), (4,)]
    assert begun.steps_done.tolist() == [20, 20, single["diverged"][2], 20, 20]
    found = threads(3, file)
    for sweep in found:
        assert sorted(sweep._states) == [(i,) for i in range(5)]
        assert_same(arrays_of(sweep), arrays_of(found[0]))
    for name, value in arrays_of(found[0]).items():
        np.testing.assert_allclose(value, single[name], rtol=1e-3, atol=1e-5, err_msg=name)


def test_of_each_run_the_furthest_state_counts(tmp_path: Path, single: dict[str, Any]) -> None:
    """Files of jobs with other numbers of ranks lie side by side."""
    file = tmp_path / "sweep"
    Sweep(RUNS[1::2]).run(workers=1, checkpoint=tmp_path / "sweep.rank-1-of-2", stop_at=30, progress=False)
    Sweep(RUNS[0::3]).run(workers=1, checkpoint=tmp_path / "sweep.rank-0-of-3", stop_at=20, progress=False)
    Sweep(RUNS).run(workers=1, checkpoint=file, stop_at=10, progress=False)
    (tmp_path / "sweep.rank-0-of-2.1-2.partial").write_text("left by a process that was killed")
    with Steps() as taken, processes() as ranks:
        assert_same(arrays_of(run_sweep(Sweep(RUNS), ranks, checkpoint=file, progress=False)), single)
    # Runs 1 and 3 are at step 30, run 0 at 20, run 4 at 10; run 2 has diverged
    assert len(taken) == 2 * 7 + 17 + 27


def test_a_file_of_another_sweep_is_refused_and_stays(tmp_path: Path) -> None:
    file = tmp_path / "sweep.rank-1-of-2"
    Sweep(RUNS[:2]).run(workers=1, checkpoint=file, stop_at=0, progress=False)
    before = file.read_bytes()
    with processes() as ranks, pytest.raises(CheckpointError, match=r"sweep\.rank-1-of-2'?: is of another sweep"):
        run_sweep(Sweep(RUNS), ranks, checkpoint=tmp_path / "sweep", progress=False)
    assert file.read_bytes() == before


@pytest.mark.parametrize("variables", [{}, {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "MASTER_PORT": "0"}], ids=len)
def test_alone_it_is_the_sweep_itself(
    single: dict[str, Any], monkeypatch: pytest.MonkeyPatch, variables: dict[str, str | None]
) -> None:
    """On all cores; also as torchrun's only process."""
    if variables:
        environment(monkeypatch, **variables)
    monkeypatch.setattr(sweeps, "num_cores", lambda: 2)
    with processes() as ranks:
        assert ranks == Ranks(0, 1, torch.device("cpu"))
        assert not torch.distributed.is_initialized()
        sweep = Sweep(RUNS)
        with Steps() as taken:
            assert run_sweep(sweep, ranks, progress=False) is sweep
        assert not taken, "in processes of its own"
    assert_same(arrays_of(sweep), single)


# --- the masked language model -----------------------------------------------------------------------------------------


def test_ranks_train_the_masked_language_model_as_one_does(together: Path) -> None:
    """Up to rounding: each rank sums half a batch, so that a gradient is off by some 6e-8 of its size, and 25 steps later a weight
    by little more. The gradient of W^K's bias is 0 but for rounding; so is what it moves."""
    wanted = [arrays_of_run(run) for run in train_masked_lm([(ADAM, 3), (SGD, 4)], WINDOWS, workers=1)]
    first, second = read(together, "runs")
    for taken, rows, runs in (first, second):
        assert taken == [*range(1, 26)] * 2
        assert rows == [2] * 50, "half of each batch"
        for run, right in zip(runs, wanted, strict=True):
            assert run.keys() == right.keys()
            for name, value in right.items():
                size = 1.0 if name.endswith("key.bias") else np.nanmax(np.abs(value))
                np.testing.assert_allclose(run[name], value, rtol=0, atol=1e-5 * size, err_msg=name)
    for run, other in zip(first[2], second[2], strict=True):
        assert_same(run, other)


def test_a_killed_run_goes_on_from_the_first_ranks_state_and_is_kept(together: Path, after_two_kills: Path) -> None:
    """And a rank that fails does not leave the other waiting."""
    assert [file.name.endswith(".part.safetensors") for file in after_two_kills.rglob("masked-lm-*")] == [True]
    result = torchrun(after_two_kills, "resumed_twice")
    assert result.returncode != 0
    assert "failed on purpose" in result.stdout, result.stdout
    for name, steps in (("on", [*range(17, 26)]), ("kept", [])):
        for taken, arrays in read(after_two_kills, name):
            assert taken == steps
            assert_same(arrays, read(together, "runs")[0][2][0])
    assert [file.name.endswith(".part.safetensors") for file in after_two_kills.rglob("masked-lm-*")] == [False]
    assert not list((after_two_kills / "host-1").rglob("masked-lm-*")), "rank 0 alone keeps it"


def test_what_ranks_cannot_do_is_an_error_on_each(together: Path) -> None:
    for said in read(together, "errors"):
        assert said == [
            "batch_size = 5: must be a multiple of the number of ranks, 2",
            "runs, windows or the installed versions: differ between the ranks; must be the same on each",
            "workers = 2: must be None or 1 with ranks, which train each run together",
            "sweep or stop_at: differ between the ranks; must be the same on each",
        ]


def test_alone_it_is_the_run_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under one name in the cache."""
    (run,) = train_masked_lm([(ADAM, 3)], WINDOWS, workers=1)
    with processes() as ranks:
        assert_same(arrays_of_run(train_masked_lm([(ADAM, 3)], WINDOWS, ranks=ranks)[0]), arrays_of_run(run))
        (kept,) = (tmp_path / "cache").iterdir()
        monkeypatch.setenv("TOPICLIB_CACHE", str(tmp_path / "second"))
        assert_same(arrays_of_run(train_masked_lm([(ADAM, 3)], WINDOWS, ranks=ranks, workers=2)[0]), arrays_of_run(run))
    assert [file.name for file in (tmp_path / "second").iterdir()] == [kept.name]


# --- joining and leaving -----------------------------------------------------------------------------------------------

TORCHRUN = {"RANK": "3", "LOCAL_RANK": "1", "WORLD_SIZE": "4", "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is asked of torch, instead of doing it, on a host with two GPUs."""
    found: list[Any] = []
    monkeypatch.setattr(torch.distributed, "init_process_group", lambda backend, timeout: found.append((backend, timeout)))
    monkeypatch.setattr(torch.distributed, "destroy_process_group", lambda: found.append("left"))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: found.append(device))
    return found


def environment(monkeypatch: pytest.MonkeyPatch, **changes: str | None) -> None:
    for name, value in {**TORCHRUN, **changes}.items():
        monkeypatch.delenv(name, raising=False) if value is None else monkeypatch.setenv(name, value)


def test_each_rank_has_a_gpu_to_itself(monkeypatch: pytest.MonkeyPatch, calls: list[Any]) -> None:
    environment(monkeypatch)
    gpu = torch.device("cuda", 1)
    with processes(device="cuda", hours=2) as ranks:
        assert ranks == Ranks(3, 4, gpu)
        assert calls == [gpu, ("cpu:gloo,cuda:nccl", timedelta(hours=2))]
    assert calls.pop() == "left"
    monkeypatch.setenv("TOPICLIB_DEVICE", "cuda")
    with processes() as ranks:
        assert ranks.device == gpu


def test_the_group_is_left_after_an_error_too(monkeypatch: pytest.MonkeyPatch, calls: list[Any]) -> None:
    environment(monkeypatch)
    with pytest.raises(ZeroDivisionError), processes() as ranks:
        1 // (ranks.size - 4)
    assert calls == [("gloo", timedelta(hours=24)), "left"]


@pytest.mark.parametrize(
    ("changes", "options", "says"),
    [
        ({"RANK": None}, {}, r"the environment has LOCAL_RANK, WORLD_SIZE but not RANK: must have all of RANK, "),
        ({"MASTER_PORT": None, "WORLD_SIZE": None}, {}, "the environment has RANK, LOCAL_RANK but not WORLD_SIZE, MASTER_PORT: "),
        ({"WORLD_SIZE": "0"}, {}, "WORLD_SIZE = '0' in the environment: must be a whole number >= 1"),
        ({"RANK": "4"}, {}, r"RANK = '4' in the environment: must be a whole number from 0 to 3 \(WORLD_SIZE - 1\)"),
        ({"LOCAL_RANK": "-1"}, {}, r"LOCAL_RANK = '-1' in the environment: must be a whole number from 0 to 3"),
        ({"RANK": "one"}, {}, "RANK = 'one' in the environment: must be a whole number from 0 to 3"),
        ({"LOCAL_RANK": "2"}, {"device": "cuda"}, "LOCAL_RANK = 2: must be below the number of CUDA devices of this host, 2"),
        ({}, {"device": "cuda:0"}, "device = 'cuda:0': must be 'cpu' or 'cuda'"),
        ({}, {"device": "abacus"}, "device = 'abacus': must be 'cpu' or 'cuda'"),
        ({}, {"hours": 0}, "hours = 0: must be a finite number in "),
    ],
)
def test_a_bad_environment(
    monkeypatch: pytest.MonkeyPatch, calls: list[Any], changes: dict[str, str | None], options: dict[str, Any], says: str
) -> None:
    environment(monkeypatch, **changes)
    with pytest.raises(ValueError, match="^" + says), processes(**options):
        pass
    assert not calls


def test_an_address_alone_is_no_torchrun(monkeypatch: pytest.MonkeyPatch) -> None:
    environment(monkeypatch, RANK=None, LOCAL_RANK=None, WORLD_SIZE=None)
    with processes() as ranks:
        assert ranks.size == 1


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: run_sweep(RUNS, Ranks()), "sweep = .*: must be a Sweep"),
        (lambda: run_sweep(Sweep(RUNS), 2), "ranks = 2: must be a Ranks"),
        (lambda: run_sweep(Sweep(RUNS), Ranks(), checkpoint=3), "checkpoint = 3: must be the path of a file"),
        (lambda: train_masked_lm([(ADAM, 0)], WINDOWS, ranks=2), "ranks = 2: must be a Ranks"),
    ],
)
def test_the_error_names_the_argument(call: Callable[[], object], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        call()
