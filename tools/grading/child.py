"""The process that runs one answer. It is given the answer's code and arguments, and gives back values; it knows no check.

Started as a file by ``sandbox``, in an empty folder, with ``codec`` and a copy of the library beside it; its two arguments are the
file descriptors that it reads lines from and writes lines to. Every line is JSON; arguments are pickled, since they come from the
grader, values come back as ``codec`` writes them.
"""

from __future__ import annotations

import base64
import builtins
import io
import json
import os
import pickle
import random
import resource
import signal
import sys
import traceback
from typing import Any

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "library")]

import codec  # noqa: E402

# An answer may replace what these names stand for; the channel and the guard use what they stood for at first.
_read, _write, _exit, _dumps, _loads = os.read, os.write, os._exit, json.dumps, json.loads
IN, OUT = map(int, sys.argv[1:])
_pending = b""
FORBIDDEN = (
    "socket.",
    "subprocess.",
    "os.fork",
    "os.posix_spawn",
    "os.exec",
    "os.system",
    "os.spawn",
    "pty.",
    "ctypes.",
    "os.kill",
    "signal.pthread_kill",
)
FILES = (
    "open",
    "os.listdir",
    "os.scandir",
    "os.remove",
    "os.rename",
    "shutil.",
    "os.chmod",
    "os.link",
    "os.symlink",
    "os.truncate",
)
VIOLATION = 81


def send(message: dict[str, Any]) -> None:
    """Write a line for the grader."""
    data = _dumps(message).encode() + b"\n"
    while data:
        data = data[_write(OUT, data) :]


def receive() -> dict[str, Any]:
    """The next line from the grader; ends the process where there is none."""
    global _pending
    while b"\n" not in _pending:
        if not (part := _read(IN, 1 << 16)):
            _exit(0)
        _pending += part
    line, _, _pending = _pending.partition(b"\n")
    found: dict[str, Any] = _loads(line)
    return found


class _Arguments(pickle.Unpickler):
    """Functions among the arguments stay with the grader: here is what calls them there."""

    def persistent_load(self, number: Any) -> Any:
        def ask(*arguments: Any) -> Any:
            send({"ask": number, "arguments": codec.encode(arguments)})
            return codec.decode(receive()["value"])

        return ask


def guard(forbidden: list[str], memory: int) -> None:
    """End the process, with its reason, when it reaches for the network, another process or the grader's files."""
    allowed = (HERE, sys.prefix, sys.base_prefix)

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event.startswith(FORBIDDEN):
            violation(f"it used {event}, which an answer may not")
        if event.startswith(FILES) and arguments:
            place = arguments[0]
            if isinstance(place, (str, bytes, os.PathLike)):
                path = os.path.realpath(os.fsdecode(place))
                if not within(path, allowed) and within(path, forbidden):
                    violation("it reached for files of the grader or of other submissions")

        if event == "mmap.__new__" and arguments[1] > memory:
            violation("it used too much memory")

    def violation(text: str, *_: Any) -> None:
        send({"violation": text})
        _exit(VIOLATION)

    # Below the events: what multiprocessing starts processes with
    import _posixsubprocess

    _posixsubprocess.fork_exec = lambda *_: violation("it started a process, which an answer may not")
    sys.addaudithook(watch)


def within(path: str, roots: Any) -> bool:
    """Whether a path is one of the roots or lies in one."""
    return any(path == root or path.startswith(root + os.sep) for root in roots)


def out_of_time(*_: object) -> None:
    """Say that the time is over, and end."""
    send({"violation": "it took too much of the processor's time"})
    _exit(VIOLATION)


def described(error: BaseException) -> dict[str, str]:
    """Kind and message of an error; the message may be broken too."""
    try:
        text = str(error)
    except BaseException:
        text = ""
    return {"error": type(error).__name__[:80], "message": text[:500]}


def main() -> None:
    """Load the answer, then call it as often as the grader asks."""
    first = receive()
    for module in first["preload"]:
        __import__(module)
    used = resource.getrusage(resource.RUSAGE_SELF)
    for name, limit in first["limits"].items():
        if name == "RLIMIT_CPU":  # what was used so far is no fault of the answer's
            limit += int(used.ru_utime + used.ru_stime) + 1
        # At the first limit of time the process says so, soon after the system ends it
        resource.setrlimit(getattr(resource, name), (limit, limit + 2 if name == "RLIMIT_CPU" else limit))
    signal.signal(signal.SIGXCPU, out_of_time)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    guard(first["forbidden"], first["limits"]["RLIMIT_DATA"])
    seed(first["seed"])
    space: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins}
    try:
        exec(compile(first["code"], "<answer>", "exec"), space)
        function = space[first["function"]]
        send({"ready": callable(function), "kind": type(function).__name__[:80]})
    except BaseException as error:
        line = next((f.lineno for f in reversed(traceback.extract_tb(error.__traceback__)) if f.filename == "<answer>"), None)
        send({"failed": described(error), "line": line})
        _exit(0)
    while True:
        request = receive()
        arguments, named = _Arguments(io.BytesIO(base64.b64decode(request["arguments"]))).load()
        if request.get("seed") is not None:
            seed(request["seed"])
        rngs = [value for value in (*arguments, *named.values()) if isinstance(value, np.random.Generator)]
        try:
            value = codec.encode(function(*arguments, **named))
        except BaseException as error:
            send(described(error))
            continue
        send({"value": value, "rngs": codec.encode([rng.bit_generator.state for rng in rngs]) if rngs else ""})


def seed(number: int) -> None:
    """Every global generator that an answer may use."""
    random.seed(number)
    np.random.seed(number)  # noqa: NPY002 (what an answer may use)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(number)


if __name__ == "__main__":
    main()
