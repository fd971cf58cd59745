"""Many runs at once: over seeds, learning rates, initial scales, masks, losses.

On a CPU each core trains one run after the other: a run's tensors fit into a core's cache, and stacked runs were not
faster. On a GPU runs of one shape are stacked in one tensor, as many as fit. Either way each run equals the same run
alone up to rounding, and on a CPU to the last bit.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context
from operator import index
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from tqdm import tqdm

from topiclib.checkpoint import CheckpointError, check_writable, checkpoint_path, load_checkpoint, save_checkpoint
from topiclib.compute import begin_worker, default_device, num_cores, num_threads, show_progress, suitable_threads
from topiclib.documents import DocumentSettings
from topiclib.engine import CountEngine, parameter_view
from topiclib.history import CURVES
from topiclib.lockstep import Lockstep, Source, history_of
from topiclib.masking import MaskingSettings
from topiclib.model import TopicTransformer
from topiclib.settings import PARAMETERS, TrainingSettings
from topiclib.training import TrainingRun, check_trains, differences, identity
from topiclib.validation import MAX_SEED, check_int, check_type, shown

__all__ = ["Sweep"]

State = Mapping[str, npt.NDArray[Any]]
States = dict[tuple[int, ...], State]
CLOCK = ("steps", "log_every", "eval_every", "eval_docs", "snapshots")
STRIDE = 16  # steps between looks at whether to stop
SAVE_SECONDS = 30.0


class Sweep:
    """Runs that differ in anything but when they record.

    Parameters
    ----------
    runs : (settings, seed) of each; ``steps``, ``log_every``, ``eval_every``, ``eval_docs`` and ``snapshots`` must agree
    models : the model that each run starts from (it stays as it is), or None for new ones

    Results, of the steps done so far, with NaN where a run is not yet or has diverged:

    curves : by name (``train_loss``, ``norm_W_V``, ``held_out_loss``, ... as in ``History``), (runs, records)
    log_steps, eval_steps : the steps of the records
    steps_done, diverged : (runs,) updates done; the step at which a run diverged, -1 if it did not
    sweep[i] : the run as ``train`` returns it, of a diverged one its last weights

    Raises ValueError or TypeError for runs that cannot be trained or are not recorded alike.
    """

    def __init__(self, runs: Sequence[tuple[TrainingSettings, int]], *, models: Sequence[TopicTransformer] | None = None) -> None:
        runs = _pairs(runs)
        models = None if models is None else _models(models)
        self.settings = [check_type("settings", settings, TrainingSettings) for settings, _ in runs]
        self.seeds = [check_int("seed", seed, 0, MAX_SEED) for _, seed in runs]
        if not self.settings:
            raise ValueError("runs is empty: must hold at least one (settings, seed)")
        self.clock = self.settings[0]
        for name in CLOCK:
            if len(found := {getattr(_with_tuples(s), name) for s in self.settings}) > 1:
                raise ValueError(f"{name} = {', '.join(map(str, sorted(found)))}: must be the same in all runs of a sweep")
        if models is not None and len(models) != len(self.settings):
            raise ValueError(f"models has {len(models)} models: must have one for each of the {len(self.settings)} runs")
        for i, settings in enumerate(self.settings):
            if models is not None and check_type("models", models[i], TopicTransformer).settings != settings.model:
                raise ValueError(f"models[{i}] has settings {models[i].settings}: must be those of its run, {settings.model}")
            check_trains(settings, self._start(i) if models is None else models[i])
        self.models = models
        self._states: States = {}

    def _start(self, run: int) -> TopicTransformer:
        return TopicTransformer(self.settings[run].model, self.seeds[run])

    def __len__(self) -> int:
        return len(self.settings)

    @property
    def log_steps(self) -> npt.NDArray[np.int64]:
        """Steps at which norms and rotation are recorded."""
        return np.arange(0, self.clock.steps + 1, self.clock.log_every)

    @property
    def eval_steps(self) -> npt.NDArray[np.int64]:
        """Steps at which the held-out loss is recorded."""
        return np.arange(0, self.clock.steps + 1, self.clock.eval_every)

    def _gather(self, name: str, empty: npt.NDArray[Any]) -> npt.NDArray[Any]:
        for runs, state in self._states.items():
            value = state[name]
            if value.ndim == 2:  # fewer or more records, if a file's sweep was to end at another step
                empty[list(runs), : value.shape[1]] = value[:, : empty.shape[1]]
            else:
                empty[list(runs)] = value
        return empty

    @property
    def steps_done(self) -> npt.NDArray[np.int64]:
        """(runs,) updates of each run so far; of a diverged one those until then."""
        done = self._gather("step", np.zeros(len(self), dtype=np.int64))
        return np.where(self.diverged >= 0, np.minimum(done, self.diverged), done)

    @property
    def diverged(self) -> npt.NDArray[np.int64]:
        """(runs,) the step at which the loss left the range, -1 where it did not."""
        return self._gather("diverged", np.full(len(self), -1))

    @property
    def curves(self) -> dict[str, npt.NDArray[np.float64]]:
        """What is recorded, by name: (runs, records)."""
        lengths = {"train_loss": self.clock.steps, "held_out_loss": len(self.eval_steps)}
        shapes = {name: (len(self), lengths.get(name, len(self.log_steps))) for name in CURVES}
        return {name: self._gather(f"curves.{name}", np.full(shape, np.nan)) for name, shape in shapes.items()}

    def __getitem__(self, run: int) -> TrainingRun:
        run = range(len(self))[index(run)]
        for runs, state in self._states.items():
            if run in runs:
                at, settings = runs.index(run), self.settings[run]
                model = self._start(run)
                flat = torch.from_numpy(state["engine.weights"][at : at + 1])
                with torch.no_grad():
                    model.to(flat.dtype)
                    for name in PARAMETERS:
                        getattr(model, name).copy_(parameter_view(settings.model, name, flat)[0])
                if self.models is not None:
                    for name, parameter in self.models[run].named_parameters():
                        getattr(model, name).requires_grad_(parameter.requires_grad)
                history = history_of(self.clock, state, at)
                return TrainingRun(settings, self.seeds[run], model, history, int(self.steps_done[run]))
        raise LookupError(f"run {run} has not begun: call run() first")

    def run(
        self,
        *,
        stop_at: int | None = None,
        workers: int | None = None,
        device: str | torch.device | None = None,
        checkpoint: str | Path | None = None,
        progress: bool | None = None,
    ) -> Sweep:
        """Train, and return this sweep. What is done stays done: after an interrupt, call it again and it goes on.

        Parameters
        ----------
        stop_at : train to this step; None trains to the end
        workers : processes, one torch thread each; None takes one for each core. On a GPU, and with 1, none is started
        device : ``"cpu"``, ``"cuda"``, ...; None takes ``compute.default_device()``
        checkpoint : file that keeps the sweep between sessions: saved now and then, at an interrupt and at the end;
            if it holds this very sweep, the sweep goes on from there. A file of another kind stays as it is
        progress : draw a progress bar with the time left; None draws one unless TOPICLIB_PROGRESS=0

        A run that diverges is marked in ``diverged`` and disturbs no other. Raises KeyboardInterrupt after an interrupt, with
        everything kept; CheckpointError; RuntimeError if a worker is killed, with all kept but what was being trained.
        """
        stop = self.clock.steps if stop_at is None else check_int("stop_at", stop_at, 0, self.clock.steps)
        workers = num_cores() if workers is None else check_int("workers", workers, 1)
        where = _device(device)
        path = None if checkpoint is None else checkpoint_path(checkpoint)
        is_saved = path is not None and os.path.exists(path) and self._load(path)
        todo = [runs for runs in self._chunks(where) if not _finished(self._states.get(runs), stop)]
        is_saved = is_saved and not todo
        if path is not None and not is_saved:
            check_writable(path)
        saved = time.monotonic()

        def save_now_and_then() -> None:
            nonlocal saved
            if path is not None and time.monotonic() - saved > SAVE_SECONDS:
                self._save(path)
                saved = time.monotonic()

        # With a file, tasks hand in what they have after a while, so that there is something to save.
        seconds = None if path is None else SAVE_SECONDS
        missing = sum((stop - int(self._states[r]["step"] if r in self._states else 0)) * len(r) for r in todo)
        total = stop * len(self)
        bar = tqdm(total=total, initial=total - missing, desc="sweep", unit="step", disable=not show_progress(progress))
        interrupted = threading.Event()
        try:
            with bar, _catch_interrupt(interrupted):
                if where.type != "cpu" or min(workers, len(todo)) <= 1:
                    with num_threads(suitable_threads(self.clock.model.vocabulary.size)):
                        while todo and not interrupted.is_set():
                            for task in self._tasks(todo, stop, 1, seconds):
                                try:
                                    self._states |= task.carry_out(where, interrupted.is_set, bar.update)
                                except torch.OutOfMemoryError:
                                    todo = self._halved(todo, task)
                                    break
                                save_now_and_then()
                            todo = [runs for runs in todo if not _finished(self._states.get(runs), stop)]
                else:
                    tasks = self._tasks(todo, stop, min(workers, len(todo)), seconds)
                    _in_workers(tasks, workers, interrupted, bar.update, self._states, save_now_and_then)
        finally:
            if path is not None and not is_saved:
                self._save(path)
        if interrupted.is_set():
            raise KeyboardInterrupt
        return self

    def _chunks(self, device: torch.device) -> list[tuple[int, ...]]:
        """The runs that are stacked in one engine: those begun as they are, the others one by one, or on a GPU by shape."""
        chunks = list(self._states)
        fresh = [i for i in range(len(self)) if not any(i in runs for runs in chunks)]
        if device.type == "cpu":
            return chunks + [(i,) for i in fresh]
        groups: dict[object, list[int]] = {}
        for i in fresh:
            groups.setdefault(_shape(self.settings[i], None if self.models is None else self.models[i]), []).append(i)
        for group in groups.values():
            size = _runs_that_fit(self.settings[group[0]], device)
            chunks += [tuple(group[low : low + size]) for low in range(0, len(group), size)]
        return chunks

    def _halved(self, todo: list[tuple[int, ...]], task: _Task) -> list[tuple[int, ...]]:
        """``todo`` with the task's runs in chunks of half the size; MemoryError where that is not possible."""
        torch.cuda.empty_cache()
        largest = max((part.runs for part in task.parts if part.state is None), key=len, default=())
        if len(largest) <= 1:
            raise MemoryError(
                "the device's memory is too small for a single run: take a smaller batch_size or vocabulary, or device='cpu'; "
                "what was done is kept"
            )
        middle = len(largest) // 2
        return [runs for runs in todo if runs != largest] + [largest[:middle], largest[middle:]]

    def _tasks(self, todo: list[tuple[int, ...]], stop: int, workers: int, seconds: float | None) -> list[_Task]:
        """Runs on the same documents go into one task, to be trained in turns: the documents are then drawn once."""
        groups: dict[object, list[tuple[int, ...]]] = {}
        for runs in todo:
            of = [(self.seeds[i], self.settings[i]) for i in runs]
            groups.setdefault(tuple((seed, s.documents, s.masking, s.batch_size) for seed, s in of), []).append(runs)
        # At least four tasks a worker where there are as many runs, so that no worker is left with nothing to do.
        largest = max(1, len(todo) // (4 * workers)) if workers > 1 else len(todo)
        parts = [group[low : low + largest] for group in groups.values() for low in range(0, len(group), largest)]
        return [_Task([self._part(runs) for runs in part], stop, seconds) for part in parts]

    def _part(self, runs: tuple[int, ...]) -> _Part:
        starts = None if self.models is None else [_plain(self.models[i]) for i in runs]
        return _Part(runs, [self.settings[i] for i in runs], [self.seeds[i] for i in runs], starts, self._states.get(runs))

    def _identity(self) -> list[dict[str, Any]]:
        models = [self._start(i) for i in range(len(self))] if self.models is None else self.models
        return [identity(s, seed, m, "counts") for s, seed, m in zip(self.settings, self.seeds, models, strict=True)]

    def _save(self, path: Path) -> None:
        tensors = {
            f"{'-'.join(map(str, runs))}/{name}": torch.from_numpy(np.array(value))
            for runs, state in self._states.items()
            for name, value in state.items()
        }
        save_checkpoint(path, tensors, {"sweep": self._identity()})

    def _load(self, path: Path) -> bool:
        """Take what is in the file, unless more is in memory; returns whether it was taken."""
        tensors, meta = load_checkpoint(path)
        if "sweep" not in meta:
            raise CheckpointError(f"checkpoint = {str(path)!r}: holds no sweep; use another path")
        ours, theirs = self._identity(), meta["sweep"]
        if len(ours) != len(theirs):
            raise CheckpointError(f"checkpoint = {str(path)!r}: is of another sweep ({len(theirs)} runs); use another path")
        for i, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            if found := differences(one, other):
                raise CheckpointError(
                    f"checkpoint = {str(path)!r}: is of another sweep (run {i}: {', '.join(found)} differ); use another path"
                )
        states: dict[tuple[int, ...], dict[str, npt.NDArray[Any]]] = {}
        for name, tensor in tensors.items():
            runs, _, rest = name.partition("/")
            states.setdefault(tuple(map(int, runs.split("-"))), {})[rest] = tensor.numpy()
        if (step := max((int(state["step"]) for state in states.values()), default=0)) > self.clock.steps:
            raise CheckpointError(f"checkpoint = {str(path)!r}: is at step {step}, beyond steps = {self.clock.steps}")
        mine = int(self.steps_done.sum())
        self._states, kept = dict(states), self._states
        behind = int(self.steps_done.sum()) < mine
        if behind:  # what is in memory is further than the file
            self._states = kept
        return not behind


def _pairs(runs: object) -> list[tuple[TrainingSettings, int]]:
    """``runs`` as a list, if it is one of pairs."""
    wanted = "must be (settings, seed) pairs, such as [(settings, seed) for seed in range(8)]"
    if isinstance(runs, (str, TrainingSettings)) or not isinstance(runs, Iterable):
        raise TypeError(f"runs = {shown(runs)}: {wanted}")
    pairs = list(runs)
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"runs holds {shown(pair)}: {wanted}")
    return [(settings, seed) for settings, seed in pairs]


def _models(models: object) -> list[TopicTransformer]:
    if isinstance(models, TopicTransformer) or not isinstance(models, Iterable):
        raise TypeError(f"models = {shown(models)}: must be a list with one TopicTransformer for each run")
    return list(models)


def _device(device: str | torch.device | None) -> torch.device:
    """The device, if it is there."""
    if device is None:
        return default_device()
    try:
        found = torch.device(device)
    except (RuntimeError, TypeError):
        found = None
    if found is None or found.type not in ("cpu", "cuda") or (found.type == "cuda" and not torch.cuda.is_available()):
        there = "'cpu' or 'cuda'" if torch.cuda.is_available() else "'cpu' (no CUDA device is available)"
        raise ValueError(f"device = {shown(device)}: must be {there}")
    return found


class _Part(NamedTuple):
    """Runs stacked in one engine, and where they stand."""

    runs: tuple[int, ...]
    settings: list[TrainingSettings]
    seeds: list[int]
    starts: list[dict[str, Any]] | None
    state: State | None

    def begin(self, device: torch.device, source: Source) -> Lockstep:
        models = []
        for i, (settings, seed) in enumerate(zip(self.settings, self.seeds, strict=True)):
            model = TopicTransformer(settings.model, seed)
            if self.starts is not None:
                for name, (value, trained) in self.starts[i].items():
                    model.to(torch.from_numpy(value).dtype)
                    getattr(model, name).data = torch.from_numpy(value)
                    getattr(model, name).requires_grad_(trained)
            models.append(model.to(device))
        lockstep = Lockstep(self.settings, self.seeds, CountEngine(self.settings, models), source)
        if self.state is None:
            lockstep.begin()
        else:
            lockstep.load(self.state)
        return lockstep


class _Task(NamedTuple):
    """Parts to be trained in turns, up to a step, or for so many seconds."""

    parts: list[_Part]
    stop: int
    seconds: float | None

    def rest(self, states: States) -> _Task | None:
        """What is left to do after ``states``."""
        parts = [part._replace(state=states[part.runs]) for part in self.parts if not _finished(states[part.runs], self.stop)]
        return self._replace(parts=parts) if parts else None

    def carry_out(self, device: torch.device, stopping: Callable[[], bool], update: Callable[[int], object]) -> States:
        source = Source(remember=4 + STRIDE // self.parts[0].settings[0].eval_every)
        end = float("inf") if self.seconds is None else time.monotonic() + self.seconds
        running = [part.begin(device, source) for part in self.parts]
        active = list(running)
        while active and not stopping():
            for lockstep in active:
                before = lockstep.step
                # To the next multiple, so that runs that begin at other steps meet at the same documents.
                lockstep.advance(min(self.stop, (before // STRIDE + 1) * STRIDE))
                finished = _finished(lockstep.state_of_steps(), self.stop)
                # The steps that diverged runs do not take count as done.
                update(((self.stop if finished else lockstep.step) - before) * len(lockstep.seeds))
            active = [lockstep for lockstep in active if not _finished(lockstep.state_of_steps(), self.stop)]
            if time.monotonic() >= end:
                break
        return {part.runs: lockstep.state() for part, lockstep in zip(self.parts, running, strict=True)}


def _finished(state: State | None, stop: int) -> bool:
    return state is not None and bool(state["step"] >= stop or (state["diverged"] >= 0).all())


def _plain(model: TopicTransformer) -> dict[str, Any]:
    """Weights as arrays, and whether each is trained: what a process can be sent."""
    return {name: (p.detach().cpu().numpy(), p.requires_grad) for name, p in model.named_parameters()}


def _with_tuples(settings: TrainingSettings) -> TrainingSettings:
    """The same settings, with tuples for lists, which have no hash."""
    l2_on = None if settings.l2_on is None else tuple(settings.l2_on)
    return replace(settings, snapshots=tuple(settings.snapshots), l2_on=l2_on)


def _shape(settings: TrainingSettings, model: TopicTransformer | None) -> object:
    """What must agree for runs to be stacked in one engine."""
    words = settings.documents
    common = replace(
        _with_tuples(settings),
        learning_rate=1.0,
        l2_coef=0.0,
        masking=MaskingSettings(),
        documents=DocumentSettings(words.num_topics, words.words_per_topic),
        model=replace(settings.model, init_scale=1.0),
    )
    if model is None:
        return common
    return common, tuple(model.trained()), model.has_uniform_attention(), model.W_E.dtype


def _runs_that_fit(settings: TrainingSettings, device: torch.device) -> int:
    """How many runs of this shape fit into two thirds of the device's free memory."""
    model, batch = settings.model, max(settings.batch_size, settings.eval_docs)
    v, d, d_a = model.vocabulary.size, model.d, model.d_a
    pairs = batch * min(v, 1 + round(settings.masking.p_m * settings.documents.max_len))
    numbers = 6 * ((d + 2) * v + (2 * d_a + d) * (d + 1)) + 6 * v * v + 3 * (2 * d_a + d) * v + 8 * pairs * v + 3 * 1280 * v
    free, _ = torch.cuda.mem_get_info(device)
    return max(1, int(free * 2 / 3 / (4 * numbers)))


def _in_workers(
    tasks: list[_Task],
    workers: int,
    interrupted: threading.Event,
    update: Callable[[int], object],
    states: States,
    on_states: Callable[[], None],
) -> None:
    """Carry out the tasks; what comes back goes into ``states``, also where an error or an interrupt ends it early."""
    # As in torch's DataLoader: fork starts at once where it is safe (one thread each, no GPU), else spawn.
    context = get_context("fork" if sys.platform == "linux" else "spawn")
    stopping, counter = context.Event(), context.Value("q", 0)
    counted = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside a notebook's threads
        begin = (stopping, counter, os.getpid())
        with ProcessPoolExecutor(workers, mp_context=context, initializer=_begin_worker, initargs=begin) as pool:
            waiting = {pool.submit(_carry_out, task): task for task in tasks}
            try:
                while waiting:
                    if interrupted.is_set():
                        stopping.set()
                    ready, _ = wait(waiting, timeout=0.1, return_when=FIRST_COMPLETED)
                    now = counter.value  # read once: workers go on counting
                    update(now - counted)
                    counted = now
                    for future in sorted(ready, key=lambda future: future.exception() is not None):  # first keep what is done
                        found = future.result()
                        states |= found
                        rest = waiting.pop(future).rest(found)
                        if rest is not None and not interrupted.is_set():
                            waiting[pool.submit(_carry_out, rest)] = rest
                        on_states()
            except BaseException as error:
                stopping.set()
                pool.shutdown(wait=True, cancel_futures=True)
                for future in waiting:
                    if not future.cancelled() and future.exception() is None:
                        states |= future.result()
                if isinstance(error, BrokenProcessPool):
                    raise RuntimeError(
                        "a worker of the sweep was killed, perhaps for want of memory; what was done is kept. "
                        "Call run() again, with fewer workers"
                    ) from None
                raise


_stopping: Any = None
_counter: Any = None


def _begin_worker(stopping: Any, counter: Any, parent: int) -> None:
    global _stopping, _counter
    begin_worker(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent says when to stop
    _stopping, _counter = stopping, counter


def _count(steps: int) -> None:
    with _counter.get_lock():
        _counter.value += steps


def _carry_out(task: _Task) -> States:
    return task.carry_out(torch.device("cpu"), _stopping.is_set, _count)


@contextmanager
def _catch_interrupt(interrupted: threading.Event) -> Iterator[None]:
    """Let an interrupt set ``interrupted`` instead of stopping anywhere; a second one stops at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def note(*_: object) -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt
        interrupted.set()

    found = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, found)
