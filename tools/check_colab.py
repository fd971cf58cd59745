"""Run chapters alone, as a learner in Colab does: the notebook in an empty folder, Colab's versions, the library from a repository.

``python -m tools.check_colab [CHAPTER ...]`` runs all chapters or those named; 1 if one fails. A local stand-in takes the
repository's place: the same files, with the version's tag. The versions are those of colab.txt; Python is the one at hand. The
sliders' tests run with these versions too; where no chapter is named, pip is asked whether each Python can meet the requirements.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError

from tools.notebooks import chapters, read
from tools.settings import ROOT, setup_cell, version

FOLDER = ROOT / "_build" / "colab"
VERSIONS = ROOT / "tools" / "colab.txt"
TIMEOUT = 900
"""Seconds for a cell."""
PYTHONS = ("3.11", "3.12", "3.13")
LISTED = "import importlib.metadata as m, json; print(json.dumps({d.metadata['Name']: d.version for d in m.distributions()}))"


@dataclass(frozen=True)
class Outcome:
    """A chapter's run: what the set-up cell said, packages added and moved, why it failed if it did."""

    chapter: str
    seconds: float
    said: str
    added: tuple[str, ...]
    moved: tuple[str, ...]
    error: str = ""


def base() -> Path:
    """The Python of an environment with Colab's versions, made once."""
    folder = FOLDER / "base"
    python, stamp = folder / "bin" / "python", folder / "ready"
    torch = next(line for line in (ROOT / "constraints.txt").read_text().splitlines() if line.startswith("torch=="))
    wanted = sha256(VERSIONS.read_bytes() + torch.encode() + sys.version.encode()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        print("Making an environment with Colab's versions (once, about a minute)", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", torch, "-r", VERSIONS], check=True)
        stamp.write_text(wanted)
    return python


def repository(folder: Path) -> str:
    """A repository with the project's files as they stand and the version's tag; returns its address."""
    git = ["git", "-c", "user.name=course", "-c", "user.email=course@localhost", "-C", str(folder)]
    names = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True).stdout
    for name in filter(None, names.decode().split("\0")):
        source, target = ROOT / name, folder / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "stand-in"], ["tag", f"v{version()}"]):
        subprocess.run([*git, *command], check=True)
    return folder.as_uri()


def fresh(folder: Path, python: Path) -> Path:
    """The Python of an empty environment that sees the packages of ``python``'s: whatever is installed goes into the new one."""
    subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True)
    found = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True, capture_output=True, text=True
    )
    (own,) = (folder / "lib").glob("python*/site-packages")
    (own / "colab.pth").write_text(found.stdout)
    return folder / "bin" / "python"


def installed(python: Path, environment: dict[str, str]) -> dict[str, str]:
    """Version by package, as ``python`` finds them."""
    # Not in the checkout, whose own metadata would count as installed
    found = subprocess.run([python, "-c", LISTED], check=True, capture_output=True, text=True, env=environment, cwd=python.parent)
    return {name.lower(): number for name, number in json.loads(found.stdout).items()}


def run(path: Path, python: Path, address: str) -> Outcome:
    """Run one chapter in a fresh environment, in an empty folder, with an empty home."""
    notebook = read(path)
    for cell in notebook.cells:
        if cell.id == "set-up":
            cell.source = setup_cell(path.stem, address)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        home = Path(name)
        own = fresh(home / "environment", python)
        (home / "content").mkdir()
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("TOPICLIB", "PYTHON", "VIRTUAL_ENV"))}
        environment |= {"HOME": str(home), "TOPICLIB_PROGRESS": "0", "PIP_CACHE_DIR": str(FOLDER / "pip"), "OMP_NUM_THREADS": "2"}
        environment["PATH"] = os.pathsep.join([str(own.parent), environment.get("PATH", "")])
        before, start = installed(own, environment), time.monotonic()
        manager = KernelManager()
        manager._kernel_spec = KernelSpec(
            argv=[str(own), "-m", "ipykernel_launcher", "-f", "{connection_file}", "--log-level=ERROR"],
            display_name="Colab",
            language="python",
        )
        client = NotebookClient(
            notebook, km=manager, timeout=TIMEOUT, startup_timeout=300, resources={"metadata": {"path": str(home / "content")}}
        )
        error = ""
        try:
            client.execute(env=environment)
        except (CellExecutionError, DeadKernelError, TimeoutError, RuntimeError) as failure:
            error = str(failure).strip()[-1500:]
        finally:
            # The client leaves a manager that it was given alone; half a gigabyte a chapter would stay
            if manager.has_kernel:
                manager.shutdown_kernel(now=True)
        seconds, after = time.monotonic() - start, installed(own, environment)
    added = sorted(set(after) - set(before))
    moved = [f"{name} {before[name]} -> {after.get(name, 'gone')}" for name in sorted(before) if after.get(name) != before[name]]
    return Outcome(path.stem, seconds, said(notebook), tuple(added), tuple(moved), error)


def said(notebook: Any) -> str:
    """What the set-up cell printed."""
    outputs = [o for cell in notebook.cells if cell.id == "set-up" for o in cell.outputs]
    return " | ".join(line for o in outputs for line in o.get("text", "").strip().splitlines())


def sliders(python: Path) -> str:
    """What the tests of the sliders say where they fail with Colab's ipywidgets; nothing if they pass."""
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_widgets.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    print(f"sliders with Colab's ipywidgets: {(done.stdout.strip().splitlines() or ['no result'])[-1]}", flush=True)
    return done.stdout[-1500:] + done.stderr[-500:] if done.returncode else ""


def unmet(python_version: str) -> str:
    """Why pip finds no packages for the requirements on another Python; nothing if it does. Installs nothing."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["--dry-run", "--ignore-installed", "--only-binary=:all:", "--target", folder, "--python-version", python_version]
        command = [sys.executable, "-m", "pip", "install", "-qq", *options, "-r", str(ROOT / "requirements.txt")]
        done = subprocess.run(command, capture_output=True, text=True)
    print(f"requirements on Python {python_version}: {'cannot be met' if done.returncode else 'can be met'}", flush=True)
    return done.stderr[-1500:] if done.returncode else ""


def main(names: Sequence[str]) -> int:
    """Run the chapters; 1 if one of them fails, or its set-up cell moved a package."""
    there = {path.stem: path for path in chapters()}
    if unknown := sorted(set(names) - set(there)):
        print(f"CHAPTERS = {' '.join(unknown)}: must be of {', '.join(there)}", file=sys.stderr)
        return 2
    FOLDER.mkdir(parents=True, exist_ok=True)
    python, failed = base(), []
    with tempfile.TemporaryDirectory() as folder:
        address = repository(Path(folder))
        for number, name in enumerate(names or there, 1):
            outcome = run(there[name], python, address)
            good = not outcome.error and not outcome.moved
            failed += [] if good else [name]
            state = f"{'ran' if good else 'FAILED'} in {outcome.seconds:.0f} s"
            print(f"{number:2} of {len(names or there)}: {name} {state}; {outcome.said}", flush=True)
            print(f"    added: {', '.join(outcome.added)}; moved: {', '.join(outcome.moved) or 'none'}", flush=True)
            if outcome.error:
                print("    " + outcome.error.replace("\n", "\n    "), flush=True)
    problems = [sliders(python), *(unmet(number) for number in PYTHONS if not names)]
    print("\n".join(filter(None, problems)), end="")
    print(f"{len(names or there) - len(failed)} chapters ran alone" + (f"; failed: {', '.join(failed)}" if failed else ""))
    return 1 if failed or any(problems) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
