"""Sweeps on several GPUs or hosts: each process trains its share of the runs, and every one ends with the whole sweep.

Nothing here starts a process: PyTorch's ``torchrun`` does. A script, say ``sweep.py``:

    from topiclib.distributed import processes, run_sweep
    from topiclib.settings import TrainingSettings
    from topiclib.sweeps import Sweep

    if __name__ == "__main__":
        with processes(device="cuda") as ranks:  # or "cpu"
            sweep = Sweep([(TrainingSettings.paper(), seed) for seed in range(64)])
            run_sweep(sweep, ranks, checkpoint="sweep.safetensors")
            if ranks.rank == 0:
                print(sweep.curves["held_out_loss"][:, -1])

On two GPUs (or cores) of one host, and with eight GPUs on each of two hosts, the second line on both of them:

    torchrun --standalone --nproc-per-node 2 sweep.py
    torchrun --nnodes 2 --nproc-per-node 8 --rdzv-id sweep --rdzv-backend c10d --rdzv-endpoint host:29500 sweep.py

``host`` is one of the two, with a free port. ``python sweep.py`` runs the same script in one process. If a process is killed,
torchrun ends the others; the same line goes on from the files. The masked language model of Figure 5 is trained by all
processes together: ``train_masked_lm(runs, windows, ranks=ranks)`` in place of ``run_sweep``.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path

from topiclib.checkpoint import checkpoint_path
from topiclib.ranks import Ranks, processes
from topiclib.sweeps import State, States, Sweep
from topiclib.validation import check_type

__all__ = ["Ranks", "processes", "run_sweep"]


def run_sweep(
    sweep: Sweep,
    ranks: Ranks,
    *,
    stop_at: int | None = None,
    checkpoint: str | Path | None = None,
    progress: bool | None = None,
) -> Sweep:
    """Train ``sweep`` as ``Sweep.run`` does, each rank every size-th run; returns it, whole, on every rank.

    On a CPU its numbers are those of ``Sweep.run`` to the last bit, on GPUs up to rounding. A rank is one process: on CPUs start
    as many as there are cores. Alone, it takes all cores, as ``Sweep.run`` does.

    Parameters
    ----------
    sweep : the same on every rank
    ranks : what ``processes`` yields
    stop_at : train to this step; None trains to the end
    checkpoint : file of the whole sweep, which rank 0 writes in the end; ``Sweep.run`` reads it as well. Until then each rank
        keeps its share beside it, in ``<checkpoint>.rank-0-of-2`` and so on. A job that was killed goes on from these files
        where it is started again, also with another number of ranks. Hosts need not share a folder
    progress : draw rank 0's progress bar; None draws one unless TOPICLIB_PROGRESS=0

    Raises what ``Sweep.run`` raises; ValueError if the sweep is not the same on all ranks. A rank that fails must end, so
    that torchrun ends the others, which wait for it: let the error pass.
    """
    check_type("sweep", sweep, Sweep)
    check_type("ranks", ranks, Ranks)
    path = None if checkpoint is None else checkpoint_path(checkpoint)
    what = sha256(json.dumps([sweep._identity(), sweep.clock.steps, stop_at]).encode()).hexdigest()
    if len(set(ranks.gather(what))) > 1:
        raise ValueError("sweep or stop_at: differ between the ranks; must be the same on each")
    begun = _exchanged(ranks, [sweep._states, *([] if path is None else _read(sweep, path))])
    mine, done = range(ranks.rank, len(sweep), ranks.size), States()
    if mine:  # there may be more ranks than runs
        share = _share(sweep, mine)
        for runs, state in begun.items():
            kept = _slice(runs, state, [run for run in runs if run in mine])
            share._states |= {tuple(mine.index(run) for run in part): value for part, value in kept.items()}
        share.run(
            stop_at=stop_at,
            workers=None if ranks.size == 1 else 1,  # beside the threads of a process group a fork may hang
            device=ranks.device,
            checkpoint=None if path is None else path.with_name(f"{path.name}.rank-{ranks.rank}-of-{ranks.size}"),
            progress=progress if ranks.rank == 0 else False,
        )
        done = _globally(share, mine)
    sweep._states = _furthest(ranks.gather(done))
    if path is not None:
        if ranks.rank == 0:
            sweep._save(path)
        ranks.gather(None)  # the shares' files stay until the whole is written
        for file, _ in _files(path):
            file.unlink(missing_ok=True)
        ranks.gather(None)  # nobody reads files that are about to go
    return sweep


def _share(sweep: Sweep, runs: Sequence[int]) -> Sweep:
    """Some runs of a sweep, as a sweep that has not begun."""
    models = None if sweep.models is None else [sweep.models[run] for run in runs]
    return Sweep([(sweep.settings[run], sweep.seeds[run]) for run in runs], models=models)


def _globally(share: Sweep, runs: Sequence[int]) -> States:
    """The states of a share, under the numbers that its runs have in the whole."""
    return {tuple(runs[at] for at in part): state for part, state in share._states.items()}


def _files(path: Path) -> list[tuple[Path, slice]]:
    """The files of shares that are beside ``path``, also those of another number of ranks, and the runs in them."""
    names = os.listdir(path.parent) if path.parent.is_dir() else []
    found = [(name, re.fullmatch(re.escape(path.name) + r"\.rank-(\d+)-of-(\d+)", name)) for name in sorted(names)]
    return [(path.with_name(name), slice(int(match[1]), None, int(match[2]))) for name, match in found if match]


def _read(sweep: Sweep, path: Path) -> list[States]:
    """What is in the file of the whole sweep and in those of shares, as far as this rank sees them."""
    states = []
    for file, runs in [(path, slice(None)), *_files(path)]:
        if file.exists():
            mine = range(len(sweep))[runs]
            share = _share(sweep, mine)
            share._load(file)
            states.append(_globally(share, mine))
    return states


def _exchanged(ranks: Ranks, found: Iterable[States]) -> States:
    """Of each run the furthest state that any rank has. What several ranks have, as those do that share a folder, is sent once."""
    own = _furthest(found)
    steps = {(runs, int(state["step"])) for runs, state in own.items()}
    before = set().union(*ranks.gather(steps)[: ranks.rank])
    return _furthest(ranks.gather({runs: state for runs, state in own.items() if (runs, int(state["step"])) not in before}))


def _furthest(found: Iterable[States]) -> States:
    """Of each run the furthest state."""
    states, taken = States(), set[int]()
    for runs, state in sorted((item for part in found for item in part.items()), key=lambda item: (-int(item[1]["step"]), item[0])):
        states |= _slice(runs, state, [run for run in runs if run not in taken])
        taken.update(runs)
    return states


def _slice(runs: tuple[int, ...], state: State, kept: Sequence[int]) -> States:
    """The part of stacked runs' state that belongs to the runs ``kept``; every array but a single number is one row a run."""
    if len(kept) == len(runs):
        return {runs: state}
    rows = [runs.index(run) for run in kept]
    return {tuple(kept): {name: value[rows] if value.ndim else value for name, value in state.items()}} if kept else {}
