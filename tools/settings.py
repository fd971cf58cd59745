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


def contents() -> list[str]:
    """The names of all pages, in the order of ``_toc.yml``."""
    tree = yaml.safe_load((ROOT / "_toc.yml").read_text())
    found = [tree["root"]]
    for chapter in tree["chapters"]:
        found += [chapter["file"], *(section["file"] for section in chapter.get("sections", []))]
    return [Path(name).name for name in found]


def repository() -> str:
    """The public address of the repository: ``repository.url`` in ``_config.yml``, the only place that holds it."""
    url: str = yaml.safe_load((ROOT / "_config.yml").read_text())["repository"]["url"]
    return url.rstrip("/")


def site() -> str | None:
    """The public address of the rendered book, by GitHub's rule for its Pages; None while the repository has none there."""
    match = re.fullmatch(r"https://github\.com/([^/]+)/([^/]+?)(\.git)?", repository())
    if match is None or repository() == PLACEHOLDER:
        return None
    owner, name = match[1].lower(), match[2]
    return f"https://{owner}.github.io" + ("" if name.lower() == f"{owner}.github.io" else f"/{name}")


def setup_cell(chapter: str, address: str | None = None) -> str:
    """Code of a chapter's set-up cell: finds topiclib of this version, or installs it without moving anything else.

    ``address`` is the repository's, by default the one of ``_config.yml``.
    """
    return f'''\
# Set-up, the same in every chapter: finds the course's library or installs it, and says what it did.
import importlib, importlib.util, os, pathlib, re, subprocess, sys

CHAPTER, VERSION, SOURCE = "{chapter}", "{version()}", "{address or repository()}"
if importlib.util.find_spec("topiclib") is None:
    if beside := [p for p in [pathlib.Path.cwd(), *pathlib.Path.cwd().parents] if (p / "topiclib/__init__.py").exists()]:
        sys.path.insert(0, str(beside[0]))
    elif SOURCE.endswith("OWNER/REPOSITORY"):
        raise SystemExit("This copy of the course has no public address yet: put the folder topiclib beside this notebook.")
    else:
        os.environ["GIT_TERMINAL_PROMPT"] = "0"  # a repository that is gone must not ask for a password
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", f"git+{{SOURCE}}@v{{VERSION}}"]
        if (done := subprocess.run(pip, capture_output=True, text=True)).returncode:
            why = (re.findall("(?:fatal|ERROR|error): (?!subprocess-)(.*)", done.stderr) or [done.stderr.strip()])[0]
            raise SystemExit(f"Could not install topiclib: {{why}}. With git, a network and room on disk run this cell again.")
        importlib.invalidate_caches()
import topiclib

if (found := getattr(topiclib, "__version__", "another")) != VERSION:
    other = topiclib.__spec__.origin or next(iter(topiclib.__path__))
    raise SystemExit(f"This chapter needs topiclib {{VERSION}}. Move away {{other}}, which is {{found}}, and restart.")
from topiclib.start import begin

begin(CHAPTER)
from topiclib.checks import check
from topiclib.claims import claim
from topiclib.plotting import show, use_style

use_style()'''
