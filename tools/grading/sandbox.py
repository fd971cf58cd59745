"""A process for one answer, shut off as far as the system can: no network, no files but its own and Python's, few resources.

Where Linux lets a user make namespaces (``unshare`` of util-linux) the process has no network, sees no other process, and finds
in its file system nothing but the Python installation, a copy of the library and an empty folder: no solution, no check, no other
submission. Everywhere a guard inside the process ends it when it reaches for the network, for another process or for the grader's
files, and the system limits its time, memory and files.
"""

from __future__ import annotations

import ast
import base64
import builtins
import contextlib
import io
import json
import os
import pickle
import select
import shlex
import shutil
import signal
import site
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from tools.grading import codec
from tools.settings import ROOT

HERE = Path(__file__).parent
KILLED = "the system killed its process: too much memory or time"
PATH = "/usr/bin:/bin:/usr/sbin:/sbin"
PYTHON = Path(sys.executable)
PARTS = {"scipy": ("scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.special", "scipy.stats")}
"""Parts of a package that it imports late."""
REASONS = {
    "process": "it started or stopped a process, which an answer may not",
    "signal": "it sent a signal, which an answer may not",
    "socket": "it used the network, which an answer may not",
    "ctypes": "it called the system's libraries, which an answer may not",
    "files": "it reached for files of the grader or of other submissions",
    "memory": "it used too much memory",
    "time": "it took too much of the processor's time",
}
"""What the guard in the process may say: an answer could write there too, so nothing else is told."""
MAX_NAME, MAX_MESSAGE = 80, 500
MAX_BRACKETS = 500_000
"""Of a line from the process: lists of lists take far more memory than their text."""
MAX_LINE = codec.MAX_BYTES + (1 << 20)
FIRST_USER = 1 << 20
NO_CHECKS = '''"""Where answers are graded there are no checks beside them."""


def check(*arguments: object, **named: object) -> None:
    """Does nothing."""


progress = check
'''


class Stopped(BaseException):
    """An answer's process had to be ended, or ended itself. Not an Exception: no check may take it for an error of the answer."""


@dataclass(frozen=True)
class Limits:
    """What an answer may use: processor's seconds for a question, seconds for the notebook, bytes of memory, output and files."""

    seconds: float = 30
    notebook_seconds: float = 600
    memory: int = 2 << 30
    output: int = 1 << 20
    file_size: int = 16 << 20

    @property
    def patience(self) -> float:
        """Seconds on the clock for a question: more than the processor's, since other answers run beside it."""
        return 3 * self.seconds + 5

    def of_process(self) -> dict[str, int]:
        """The system's limits for the process."""
        return {
            "RLIMIT_CPU": max(1, ceil(self.seconds)),
            "RLIMIT_DATA": self.memory,
            "RLIMIT_FSIZE": self.file_size,
            "RLIMIT_CORE": 0,
            "RLIMIT_NOFILE": 128,
            "RLIMIT_NPROC": 64,
        }


@dataclass(frozen=True)
class Walls:
    """What the system can take away from a process here."""

    network: bool
    files: bool
    processes: bool

    def __str__(self) -> str:
        missing = [
            name for name, there in (("network", self.network), ("files", self.files), ("processes", self.processes)) if not there
        ]
        if not missing:
            return "answers ran without network, without other files and without other processes in sight"
        left = "the guard inside the process and the limits were the only protection"
        return f"this system could not take away: {', '.join(missing)}; {left}"


@lru_cache
def walls() -> Walls:
    """Try what works, once."""
    full = _try("--net", "--ipc", "--pid", "--mount", "--fork", "--kill-child")
    return Walls(network=full or _try("--net"), files=full and _can_mount(), processes=full)


def _user() -> list[str]:
    """A namespace of users of one's own is needed for the others, but for root."""
    return [] if os.geteuid() == 0 else ["--user", "--map-root-user"]


def _try(*flags: str) -> bool:
    """Whether a process can be started in these namespaces."""
    if shutil.which("unshare") is None:
        return False
    try:
        return subprocess.run(["unshare", *_user(), *flags, "true"], capture_output=True, timeout=10).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _can_mount() -> bool:
    """Whether the file system can be made anew: Python must start in it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = _in_namespaces(
            folder,
            [str(PYTHON), "-I", "-c", "import numpy, os; print(len(os.listdir('/')))"],
            FIRST_USER,
            files=True,
            network=True,
            processes=True,
        )
        try:
            found = subprocess.run(command, capture_output=True, timeout=60, text=True, env={"PATH": PATH})
        except (OSError, subprocess.TimeoutExpired):
            return False
        return found.returncode == 0 and found.stdout.strip().isdigit()


def _readable() -> list[Path]:
    """What an answer needs of the file system: Python, its packages, and the system's libraries."""
    wanted = [Path(sys.prefix), Path(sys.base_prefix), *map(Path, site.getsitepackages())]
    wanted += [Path(p) for p in ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives")]
    found: list[Path] = []
    # A link as it is, and what it leads to
    for path in sorted(
        {p for link in wanted if link.exists() for p in (link if link.is_symlink() else link.resolve(), link.resolve())}
    ):
        if not any(path.is_relative_to(other) for other in found):
            found.append(path)
    return found


def _in_namespaces(folder: Path, command: list[str], user: int, *, files: bool, network: bool, processes: bool) -> list[str]:
    """``command`` in namespaces of its own; with ``files`` in a file system that holds ``folder`` and what can be read only."""
    flags = ["--net"] * network + ["--ipc", "--pid", "--mount-proc", "--fork", "--kill-child"] * processes
    if not files:
        return ["unshare", *_user(), *flags, "--", *command] if flags else command
    root = folder / "root"
    script = ["set -e", f"mkdir -p {shlex.quote(str(root))}", f"mount -t tmpfs -o size=64m none {shlex.quote(str(root))}"]
    for path in _readable():
        there = shlex.quote(f"{root}{path}")
        if path.is_symlink():
            script.append(f"mkdir -p $(dirname {there}); cp -P {shlex.quote(str(path))} {there}")
        else:
            make = f"mkdir -p {there}" if path.is_dir() else f"mkdir -p $(dirname {there}); touch {there}"
            script += [make, f"mount --rbind {shlex.quote(str(path))} {there}", f"mount -o remount,bind,ro {there}"]
    work = shlex.quote(f"{root}{folder}/work")
    if (folder / "work").is_dir():  # on the small file system in memory: nobody's disk can be filled
        script += [f"mkdir -p {work}", f"cp -r {shlex.quote(str(folder / 'work'))}/. {work}", f"chmod -R a+rwX {work}"]
    script.append(f"mkdir -p {shlex.quote(str(root))}/dev {shlex.quote(str(root))}/proc {shlex.quote(str(root))}/tmp")
    for device in ("null", "zero", "urandom", "random"):
        there = shlex.quote(f"{root}/dev/{device}")
        script.append(f"touch {there}; mount --bind /dev/{device} {there}")
    script.append(f"mount -t proc -o ro proc {shlex.quote(str(root))}/proc")
    # Without capabilities root cannot leave its new root, mount anything or undo the above
    drop = "setpriv --bounding-set=-all --inh-caps=-all --no-new-privs"
    if os.geteuid() == 0:
        drop += f" --reuid={user} --regid=65534 --clear-groups"
    inside = f"cd {shlex.quote(str(folder))}/work 2>/dev/null || cd /; exec {drop} {shlex.join(command)}"
    script.append(f"exec chroot {shlex.quote(str(root))} /bin/sh -c {shlex.quote(inside)}")
    return ["unshare", *_user(), *flags, "--mount", "--", "/bin/sh", "-c", "\n".join(script)]


_boxes = count()


def _own_user() -> int:
    """A user of no name for one box: limits on processes count by user, and the box before may not have ended yet."""
    return FIRST_USER + 64 * os.getpid() + next(_boxes) % 64


@dataclass
class Box:
    """A process with one answer in it; a context manager that leaves nothing behind.

    statements, function : the answer
    limits : of this question
    seed : of the global generators, set before the code runs
    library : a folder that holds the copy of topiclib
    forbidden : folders that it may not read, where it can see them
    hidden : whether a hidden check is asking
    """

    statements: tuple[str, ...]
    function: str
    limits: Limits
    library: Path
    seed: int = 0
    forbidden: tuple[Path, ...] = ()
    hidden: bool = False
    _asked: dict[int, Callable[..., Any]] = field(default_factory=dict)

    def __enter__(self) -> Box:
        self.deadline = time.monotonic() + self.limits.patience
        self.folder = Path(tempfile.mkdtemp(prefix="answer-")).resolve()
        work = self.folder / "work"
        work.mkdir()
        for name in ("child.py", "codec.py"):
            shutil.copy(HERE / name, work / name)
        shutil.copytree(self.library, work / "library")
        self.printed, self._reason, self.user = 0, "", _own_user()
        to_child, self._to = os.pipe()
        self._from, from_child = os.pipe()
        files = walls().files
        inner = [str(PYTHON), "-I", "-B", str(work / "child.py"), str(to_child), str(from_child)]
        command = _in_namespaces(self.folder, inner, self.user, files=files, network=walls().network, processes=walls().processes)
        environment = {"PATH": PATH, "HOME": str(work), "TMPDIR": str(work), "MPLCONFIGDIR": str(work), "LANG": "C.UTF-8"}
        environment |= {"OMP_NUM_THREADS": "1", "TOPICLIB_CACHE": str(work / "cache"), "TOPICLIB_STATIC": "1"}
        self.process = subprocess.Popen(
            command,
            cwd=work,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(to_child, from_child),
            start_new_session=True,
        )
        os.close(to_child)
        os.close(from_child)
        # An answer can shrink the pipe and stop reading: a write must never wait
        os.set_blocking(self._to, False)
        self._tail = b""
        self._pending = b""
        self._drain = threading.Thread(target=self._read_output, daemon=True)
        self._drain.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._kill()
        self.process.wait()
        for descriptor in (self._to, self._from):
            os.close(descriptor)
        self._drain.join(5)
        if self.process.stdout is not None:
            self.process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def load(self) -> None:
        """Run the answer's code. Raises Stopped with the reason if that fails."""
        self._send(
            {
                "limits": self.limits.of_process(),
                "preload": _imported(self.statements),
                "forbidden": [str(path) for path in self.forbidden],
                "seed": self.seed,
                "statements": self.statements,
                "function": self.function,
            }
        )
        answer = self._receive()
        if failed := answer.get("failed"):
            error, message, statement = (str(failed.get(part, ""))[:MAX_MESSAGE] for part in ("error", "message", "statement"))
            raise Stopped(f"its code raised {error}: {message}".rstrip(": ") + (f" (in {statement!r})" if statement else ""))
        if answer.get("ready") is not True:
            raise Stopped(f"{self.function} is no function but a {str(answer.get('kind', 'thing'))[:MAX_NAME]}")

    def call(self, *arguments: Any, **named: Any) -> Any:
        """Call the answer. Raises what it raised, as an exception of the same name; Stopped if it had to be ended."""
        self._asked = {id(x): x for x in (*arguments, *named.values()) if callable(x) and not isinstance(x, type)}
        self._send({"arguments": self._pickled((arguments, named))})
        while True:
            answer = self._receive()
            if "ask" not in answer:
                break
            function = self._asked.get(answer["ask"])
            if function is None:
                raise Stopped("it wrote into the grader's channel")
            self._send({"value": codec.encode(function(*self._decoded(answer.get("arguments"))))})
        if "error" in answer:
            # Of what is raised in the hidden check the message is not told: it could name the check's arguments
            raise self._error(str(answer["error"]), "" if self.hidden else str(answer.get("message", "")))
        value = self._decoded(answer.get("value"))
        rngs = [x for x in (*arguments, *named.values()) if isinstance(x, np.random.Generator)]
        states = self._decoded(answer.get("rngs")) if rngs else []
        for rng, state in zip(rngs, states if isinstance(states, list) else [], strict=False):
            try:
                if state["state"].get("inc") != rng.bit_generator.state["state"].get("inc"):
                    raise ValueError
                rng.bit_generator.state = state
            except (ValueError, TypeError, KeyError, OverflowError, AttributeError):
                raise Stopped("it spoiled the generator of random numbers that it was given") from None
        return value

    def _pickled(self, value: Any) -> str:
        """Arguments for the process; functions among them stay here."""
        box = self

        class Pickler(pickle.Pickler):
            def persistent_id(self, value: Any) -> int | None:
                return id(value) if id(value) in box._asked else None

        file = io.BytesIO()
        Pickler(file, protocol=5).dump(value)
        return base64.b64encode(file.getvalue()).decode()

    def _decoded(self, text: Any) -> Any:
        if not isinstance(text, str):
            raise Stopped("it wrote into the grader's channel")
        try:
            return codec.decode(text)
        except codec.CodecError as error:
            raise Stopped(str(error)) from None

    def _error(self, kind: str, message: str) -> Exception:
        """An exception of the same name: of what an answer raises only the name and the text are told.

        In the hidden check a name that is not Python's own is not told either: it could be made of the check's arguments.
        """
        message = message[:MAX_MESSAGE]
        if kind == "NotImplementedError":
            return NotImplementedError(message)
        if kind == "CodecError":
            return ValueError(message)
        name = "".join(c for c in kind[:MAX_NAME] if c.isalnum() or c == "_") or "Error"
        if self.hidden and not isinstance(getattr(builtins, name, None), type):
            name = "Exception"
        made: Exception = type(name, (Exception,), {})(message)
        return made

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps(message).encode() + b"\n"
        while data:
            left = self.deadline - time.monotonic()
            if left <= 0 or not select.select([], [self._to], [], left)[1]:
                self._stop()
            try:
                data = data[os.write(self._to, data[: 1 << 15]) :]
            except BlockingIOError:
                time.sleep(0.01)
            except BrokenPipeError:
                self._stop()

    def _receive(self) -> dict[str, Any]:
        """The next message of the process; Stopped with the reason where none comes."""
        while b"\n" not in self._pending:
            left = self.deadline - time.monotonic()
            if left <= 0 or self._reason or len(self._pending) > MAX_LINE:
                self._stop()
            if len(_processes_of(self.user)) > 1:
                raise Stopped(REASONS["process"])
            if select.select([self._from], [], [], min(left, 0.2))[0]:
                part = os.read(self._from, 1 << 20)
                if not part:
                    self._stop()
                self._pending += part
        line, _, self._pending = self._pending.partition(b"\n")
        if line.count(b"[") + line.count(b"{") > MAX_BRACKETS:
            raise Stopped("it returned too much")
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise Stopped("it wrote into the grader's channel")
        if "violation" in message:
            raise Stopped(REASONS.get(str(message["violation"])[:MAX_NAME], "it wrote into the grader's channel"))
        return message

    def _stop(self) -> None:
        """End the process and say why no answer came."""
        if self._reason:
            raise Stopped(self._reason)
        if time.monotonic() >= self.deadline:
            raise Stopped(f"it took longer than {self.limits.patience:g} s")
        if len(self._pending) > MAX_LINE:
            raise Stopped("it returned too much")
        try:
            code = self.process.wait(5)
        except subprocess.TimeoutExpired:
            raise Stopped("its process stopped answering") from None
        self._drain.join(2)
        if self._reason:
            raise Stopped(self._reason)
        raise Stopped(_ended(code, self._tail.decode(errors="replace")))

    def _read_output(self) -> None:
        """Count what the process prints; too much ends it."""
        assert self.process.stdout is not None
        while part := os.read(self.process.stdout.fileno(), 1 << 16):
            self.printed += len(part)
            self._tail = (self._tail + part)[-2000:]
            if self.printed > self.limits.output:
                self._reason = f"it printed more than {self.limits.output >> 20} MB"
                self._kill()
                return

    def _kill(self) -> None:
        """End the process and all that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)


def _processes_of(user: int) -> list[str]:
    """The processes of a user, as far as the system shows them."""
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdecimal():
            with contextlib.suppress(OSError):
                if os.stat(f"/proc/{name}").st_uid == user:
                    found.append(name)
    return found


def _imported(statements: tuple[str, ...]) -> list[str]:
    """The modules that an answer imports: they are imported before the guard stands, since some do what an answer may not."""
    found: list[str] = []
    for source in statements:
        with contextlib.suppress(SyntaxError, RecursionError, ValueError):
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.Import):
                    found += [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    found.append(node.module)
    late = [part for name in {module.partition(".")[0] for module in found} for part in PARTS.get(name, ())]
    return [*dict.fromkeys(found), *late]


def _ended(code: int, said: str) -> str:
    """Why a process ended by itself."""
    number = -code if code < 0 else code - 128
    known = {
        signal.SIGXCPU: "it took too much of the processor's time",
        signal.SIGXFSZ: "it wrote too large a file",
        signal.SIGSEGV: "it crashed Python",
        signal.SIGKILL: KILLED,
    }
    if number in known:
        return known[signal.Signals(number)]
    last = (said.strip().splitlines() or [""])[-1]
    if "MemoryError" in last:
        return "it used too much memory"
    if code == 1 and not last:  # what unshare says of a killed process
        return KILLED
    return f"its process ended itself (status {code})"


def copy_library(to: Path) -> Path:
    """A copy of topiclib, all of the project that an answer may see; its checks, which compute what is asked, do nothing."""
    shutil.copytree(ROOT / "topiclib", to / "topiclib", ignore=shutil.ignore_patterns("__pycache__", "recorded", "checks"))
    (to / "topiclib" / "checks").mkdir()
    (to / "topiclib" / "checks" / "__init__.py").write_text(NO_CHECKS)
    return to
