"""The process that runs one answer. It is given the answer's code and arguments, and gives back values; it knows no check.

Started as a file by ``sandbox``, in an empty folder, with ``codec`` and a copy of the library beside it; its two arguments are the
file descriptors that it reads lines from and writes lines to. Every line is JSON; arguments are pickled, since they come from the
grader, values come back as ``codec`` writes them.
"""

from __future__ import annotations
import __future__

import ast
import base64
import builtins
import importlib
import io
import json
import os
import pickle
import random
import resource
import signal
import sys
from contextlib import suppress
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
SLACK = 512 << 20
"""Bytes of addresses beyond the memory's limit: stacks of threads and buffers of BLAS take room that they do not use."""


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
    # Bound here: an answer can replace what the module's names stand for
    allowed, events, files, inside = (HERE, sys.prefix, sys.base_prefix), FORBIDDEN, FILES, within
    real, plain, paths, tell, end = os.path.realpath, os.fsdecode, (str, bytes, os.PathLike), send, _exit
    mapped = 0

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal mapped
        if event.startswith(events):
            violation("process" if event.startswith(("os.", "subprocess.", "pty.")) else event.partition(".")[0])
        if event.startswith(files) and arguments and isinstance(arguments[0], paths):
            path = real(plain(arguments[0]))
            if not inside(path, allowed) and inside(path, forbidden):
                violation("files")
        if event == "mmap.__new__":
            mapped += arguments[1]
            if mapped > memory:
                violation("memory")

    def violation(what: str) -> None:
        tell({"violation": what})
        end(VIOLATION)

    # Below the events: what multiprocessing starts processes with
    import _posixsubprocess

    _posixsubprocess.fork_exec = lambda *_: violation("process")
    sys.addaudithook(watch)


def within(path: str, roots: Any) -> bool:
    """Whether a path is one of the roots or lies in one."""
    return any(path == root or path.startswith(root + os.sep) for root in roots)


def out_of_time(*_: object) -> None:
    """Say that the time is over, and end."""
    send({"violation": "time"})
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
        with suppress(ImportError):  # the answer's own import will say so
            importlib.import_module(module)
    used = resource.getrusage(resource.RUSAGE_SELF)
    for name, limit in first["limits"].items():
        if name == "RLIMIT_CPU":  # what was used so far is no fault of the answer's
            limit += int(used.ru_utime + used.ru_stime) + 1
        # At the first limit of time the process says so, soon after the system ends it
        resource.setrlimit(getattr(resource, name), (limit, limit + 2 if name == "RLIMIT_CPU" else limit))
    # Memory that is shared counts here alone; what Python and its packages have mapped so far is no fault of the answer's
    if mapped := virtual_memory():
        whole = mapped + first["limits"]["RLIMIT_DATA"] + SLACK
        resource.setrlimit(resource.RLIMIT_AS, (whole, whole))
    signal.signal(signal.SIGXCPU, out_of_time)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    guard(first["forbidden"], first["limits"]["RLIMIT_DATA"])
    seed(first["seed"])
    space: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins}
    # What every notebook has
    space |= {"display": lambda *_, **__: None, "get_ipython": lambda: Notebook()}
    failed = run(first["statements"], space)
    function = space.get(first["function"])
    if function is None:
        send({"failed": failed or {"error": "NameError", "message": f"{first['function']} is not there", "statement": ""}})
        _exit(0)
    send({"ready": callable(function), "kind": type(function).__name__[:80]})
    while True:
        request = receive()
        arguments, named = _Arguments(io.BytesIO(base64.b64decode(request["arguments"]))).load()
        if request.get("seed") is not None:
            seed(request["seed"])
        rngs = [value for value in (*arguments, *named.values()) if isinstance(value, np.random.Generator)]
        try:
            value = codec.encode(function(*arguments, **named))
        except BaseException as error:
            told = described(error)
            if failed and isinstance(error, NameError):  # what the name stands for was to come from there
                told["message"] += f" (before that, {failed['statement']!r} raised {failed['error']}: {failed['message']})"
            send(told)
            continue
        send({"value": value, "rngs": codec.encode([rng.bit_generator.state for rng in rngs]) if rngs else ""})


class Notebook:
    """In the place of IPython's shell, which some commands in a function would ask: it does nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None


def run(statements: list[str], space: dict[str, Any]) -> dict[str, str] | None:
    """Run statements as a notebook does: one that fails undoes nothing. Returns what the first of those raised."""
    first = None
    flags = 0
    for source in statements:
        try:
            tree = ast.parse(source)
            for node in tree.body:
                if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                    for alias in node.names:
                        flags |= getattr(__future__, alias.name).compiler_flag
            exec(compile(tree, "<answer>", "exec", flags, dont_inherit=True), space)
        except BaseException as error:
            first = first or described(error) | {"statement": source.strip().partition("\n")[0][:100]}
    return first


def virtual_memory() -> int:
    """Bytes that the process has mapped; 0 where the system does not say."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def seed(number: int) -> None:
    """Every global generator that an answer may use."""
    random.seed(number)
    np.random.seed(number)  # noqa: NPY002 (what an answer may use)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(number)


if __name__ == "__main__":
    main()
