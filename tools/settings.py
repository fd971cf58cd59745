"""Where things are, and the text of the cell that every chapter begins with."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "book"
PLACEHOLDER = "https://github.com/OWNER/REPOSITORY"


def version() -> str:
    """The library's version, which every chapter is written for."""
    match = re.search(r'__version__ = "([^"]+)"', (ROOT / "topiclib" / "__init__.py").read_text())
    if match is None:
        raise ValueError("topiclib/__init__.py has no __version__")
    return match[1]


def repository() -> str:
    """The public address of the repository: ``repository.url`` in ``_config.yml``, the only place that holds it."""
    url: str = yaml.safe_load((ROOT / "_config.yml").read_text())["repository"]["url"]
    return url.rstrip("/")


def setup_cell() -> str:
    """Code of the set-up cell: finds topiclib of this version, or installs it without moving anything else."""
    return f'''\
# Set-up, the same in every chapter: finds the course's library or installs it, and says what it did.
import importlib, importlib.util, pathlib, subprocess, sys

VERSION, SOURCE = "{version()}", "{repository()}"
if importlib.util.find_spec("topiclib") is None:
    beside = [p for p in [pathlib.Path.cwd(), *pathlib.Path.cwd().parents] if (p / "topiclib/__init__.py").exists()]
    if beside:
        sys.path.insert(0, str(beside[0]))
    elif SOURCE.endswith("OWNER/REPOSITORY"):
        raise SystemExit("This copy of the course has no public address yet: put the folder topiclib beside this notebook.")
    else:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", f"git+{{SOURCE}}@v{{VERSION}}"]
        if subprocess.run(pip, capture_output=True).returncode:
            raise SystemExit(f"Could not install topiclib from {{SOURCE}}: is there a network? Then run this cell again.")
        importlib.invalidate_caches()
import topiclib

if (found := getattr(topiclib, "__version__", "another")) != VERSION:
    place = " ".join(topiclib.__path__)
    raise SystemExit(f"This chapter needs topiclib {{VERSION}}, but {{place}} holds {{found}}. Remove that and run again.")
from topiclib.checks import check
from topiclib.claims import claim
from topiclib.plotting import show, use_style

use_style()
print(f"topiclib {{VERSION}} is ready")'''
