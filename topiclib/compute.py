"""Where and with how many threads things run. One place, so that chapters and library agree."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import torch

from topiclib.validation import check_int

Item = TypeVar("Item")
Result = TypeVar("Result")


@contextmanager
def num_threads(number: int | None) -> Iterator[None]:
    """Run the body with ``number`` torch threads, then restore what was found; None changes nothing.

    The tensors of one run are small: with more threads, waiting for them costs more than they save,
    and far more when another process is busy: the threads wait for each other in a loop that burns the core which the
    other process has taken. The same step was seen to take 10 to 20 times as long.
    """
    if number is None:
        yield
        return
    check_int("number", number, 1)
    found = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(found)


def default_device() -> torch.device:
    """The device that runs take unless told otherwise: the environment's TOPICLIB_DEVICE, else the CPU."""
    return torch.device(os.environ.get("TOPICLIB_DEVICE", "cpu"))


def gpu_name() -> str | None:
    """The name of the first CUDA device; None where there is none."""
    return torch.cuda.get_device_name(0) if torch.cuda.is_available() else None


LARGE_VOCABULARY = 400


def num_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def suitable_threads(vocabulary_size: int) -> int:
    """Threads for one run: one for V below 400, where a product of matrices takes less than a millisecond; else all."""
    return 1 if vocabulary_size < LARGE_VOCABULARY else num_cores()


def encoder_threads() -> int | None:
    """Threads for running an encoder, whose tensors are large: the environment's TOPICLIB_THREADS, else None, as torch is set."""
    asked = os.environ.get("TOPICLIB_THREADS", "")
    return max(1, int(asked)) if asked.isdigit() else None


def in_parts(run: Callable[[Sequence[Item]], Result], items: Sequence[Item]) -> Iterator[tuple[Sequence[Item], Result]]:
    """``run`` on all items at once, or on halves, quarters and so on where the device's memory is too small for more.

    Yields (part, its result) in the order of the items. Raises MemoryError where one item alone is too large.
    """
    waiting = [items]
    while waiting:
        part = waiting.pop()
        try:
            result = run(part)
        except torch.OutOfMemoryError:
            if len(part) <= 1:
                raise MemoryError(
                    "the device's memory is too small for one item alone: take a smaller one, a larger GPU, or device='cpu'"
                ) from None
            torch.cuda.empty_cache()
            middle = len(part) // 2
            waiting += [part[middle:], part[:middle]]
        else:
            yield part, result


def show_progress(progress: bool | None) -> bool:
    """Whether to draw a progress bar: as asked, or for None unless TOPICLIB_PROGRESS=0 (as in the built book)."""
    return os.environ.get("TOPICLIB_PROGRESS", "1") != "0" if progress is None else progress


def begin_worker(parent: int) -> None:
    """What a process that trains for another does first: one thread, and an end when the process ``parent`` has ended."""

    def end_with_the_parent() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=end_with_the_parent, daemon=True).start()
    torch.set_num_threads(1)
