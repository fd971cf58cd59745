"""Execute every chapter and render the book to ``_build/html``; any warning, dead link or false claim fails the build."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from sphinx_external_toc.parsing import parse_toc_yaml

from tools import chapter_map, chapter_table, notation, notebooks, results_map
from tools.colab import write_editions
from tools.execute import ANSI, execute
from tools.folds import fold
from tools.leaks import scan
from tools.ledger import executed, write_ledger
from tools.notebooks import chapters
from tools.pictures import take_out
from tools.previews import write_previews
from tools.print_version import write_print
from tools.settings import BOOK, PLACEHOLDER, ROOT, contents, repository, version
from tools.site import site_findings

BUILD = ROOT / "_build"
CACHE = BUILD / ".jupyter_cache"
# Jupyter Book has no option for Sphinx' parallel reading and writing.
CALL = """
import os, sys
from jupyter_book.cli.main import main
from jupyter_book.sphinx import build_sphinx
build_sphinx.__kwdefaults__["jobs"] = os.cpu_count()
sys.exit(main())
"""
READING = re.compile(r"reading sources\.\.\. \[ *(\d+)%\] (\S+)")
NOT_PRINTED = ("claims", "for_instructors", "objectives", "mutation_table")
"""Pages that the page to print leaves out: tables to search in, and what only a class needs."""
JOBS = 2
"""Chapters that are executed at the same time."""


def library_key() -> str:
    """What outputs depend on beside the notebooks' own code: the library and the exact versions."""
    digest = hashlib.sha256(sys.version.encode())
    for path in [*sorted((ROOT / "topiclib").rglob("*")), ROOT / "constraints.txt", ROOT / "requirements-data.txt"]:
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def prepare() -> None:
    """Start from nothing but executed notebooks that are still true."""
    for stale in (BUILD / "html", BUILD / ".doctrees", BUILD / "jupyter_execute"):
        shutil.rmtree(stale, ignore_errors=True)
    stored, key = CACHE / "KEY", library_key()
    if not stored.exists() or stored.read_text() != key:
        shutil.rmtree(CACHE, ignore_errors=True)
        CACHE.mkdir(parents=True)
        stored.write_text(key)


def environment() -> dict[str, str]:
    """The build's environment: static pages, no progress bars, one thread a chapter, no user's IPython start-up."""
    changes = {"TOPICLIB_STATIC": "1", "TOPICLIB_PROGRESS": "0", "OMP_NUM_THREADS": "1", "IPYTHONDIR": str(BUILD / ".ipython")}
    changes["TOPICLIB_THREADS"] = str(max(1, (os.cpu_count() or 1) // JOBS))
    return {
        **os.environ,
        **changes,
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
    }


def execute_chapters() -> list[str]:
    """Execute the chapters that have no true outputs yet, and keep those; returns the end of what the failed ones said."""
    cache, failed = get_cache(str(CACHE)), []
    waiting = [path for path in chapters() if not is_executed(path)]
    print(f"Executing {len(waiting)} of {len(chapters())} chapters, {JOBS} at a time", flush=True)
    with closing(execute(waiting, JOBS, environment())) as runs:
        for number, done in enumerate(runs, 1):
            if done.notebook is None:
                failed.append(f"{done.path.stem} failed:\n{done.error}")
            else:
                bundle = CacheBundleIn(done.notebook, str(done.path), data={"execution_seconds": done.seconds})
                cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
            outcome = "failed" if done.error else "executed"
            print(f"  {number:2} of {len(waiting)}: {done.path.stem} {outcome} in {done.seconds:.0f} s", flush=True)
    return failed


def is_executed(path: Path) -> bool:
    """Whether the cache holds the outputs of this chapter's code."""
    try:
        executed(path, CACHE)
    except KeyError:
        return False
    return True


def render(log: Path) -> int:
    """Run Jupyter Book with its output in ``log`` and a line of progress for each step; its exit status."""
    command = [sys.executable, "-c", CALL, "build", str(ROOT), "--path-output", str(ROOT), "-W", "-n", "--keep-going"]
    with (
        log.open("w") as out,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment(), cwd=ROOT
        ) as process,
    ):
        assert process.stdout is not None
        try:
            for raw in process.stdout:
                line = ANSI.sub("", raw)
                out.write(line)
                out.flush()
                if match := READING.search(line):
                    print(f"[{match[1]:>3}%] {match[2].rsplit('/', 1)[-1]}", flush=True)
                elif ("WARNING" in line and "IPKernelApp" not in line) or "ERROR" in line:
                    print(f"  {line.strip()}", file=sys.stderr, flush=True)
        except BaseException:
            process.terminate()
            raise
    return process.returncode


def finish(site: Path) -> None:
    """Make of Jupyter Book's pages the site: pictures in files, folds, previews of links, the page to print, Colab's notebooks."""
    take_out(site, BUILD / "pictures")
    fold(site)
    write_previews(site)
    write_print(site, [name for name in contents() if name not in NOT_PRINTED])
    write_editions(site / "colab")
    (site / ".nojekyll").touch()  # GitHub's Pages leave out folders that begin with an underscore, unless told


def archive(site: Path) -> None:
    """Put the whole site into one file, to be taken where there is no network."""
    name = f"how-transformers-learn-topic-structure-{version()}"
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:  # whole or not at all
        made = shutil.make_archive(str(Path(folder) / name), "zip", site.parent, site.name)
        Path(made).replace(BUILD / f"{name}.zip")


def source_findings() -> list[str]:
    """What is wrong before anything runs: files that are no notebooks, chapters out of form, numbers without a claim, pages outside
    the contents, results without a test or a chapter, symbols without a meaning, a table or a map of chapters out of step.
    """
    if damaged := notebooks.damaged():
        return damaged
    found = [f"{path.stem}: {finding}" for path in chapters() for finding in notebooks.findings(path)]
    listed = set(parse_toc_yaml(ROOT / "_toc.yml"))
    there = {str(p.relative_to(ROOT).with_suffix("")) for p in [*chapters(), *BOOK.glob("*.md")]}
    found += [f"{name} is in book/ but not in _toc.yml" for name in sorted(there - listed)]
    found += [f"map of results: {finding}" for finding in results_map.findings()]
    found += [f"table of symbols: {finding}" for finding in notation.findings()]
    return found + chapter_table.findings() + chapter_map.findings()


def main() -> int:
    """Build; 0 only if nothing at all is wrong."""
    start = time.monotonic()
    try:
        BUILD.mkdir(exist_ok=True)
        if findings := source_findings():
            print("\n".join(f"  {finding}" for finding in findings), file=sys.stderr)
            print(f"The build failed: {len(findings)} findings in the chapters' sources", file=sys.stderr)
            return 1
        prepare()
        if failed := execute_chapters():
            print("\n" + "\n\n".join(failed), file=sys.stderr)
            if any("DeadKernelError" in said for said in failed):
                print("A chapter's kernel died: out of memory, or a cell ended the process", file=sys.stderr)
            print(f"The build failed: {len(failed)} chapters", file=sys.stderr)
            return 1
        findings = write_ledger(BUILD, CACHE)
        print("Rendering the book", flush=True)
        log = BUILD / "build.log"
        if status := render(log):
            print(f"The build failed; everything it said is in {log}", file=sys.stderr)
            return status
        finish(BUILD / "html")
        _, leaks = scan([BUILD / "html"])
        findings += [*site_findings(BUILD / "html"), *map(str, leaks)]
        archive(BUILD / "html")
    except KeyboardInterrupt:
        print("\nInterrupted. Run the same command again: finished chapters are kept.", file=sys.stderr)
        return 130
    except OSError as error:
        print(f"The build stopped: {error}", file=sys.stderr)
        return 1
    for finding in findings:
        print(f"  {finding}", file=sys.stderr)
    if findings:
        print(f"The build failed: {len(findings)} findings", file=sys.stderr)
        return 1
    claims = json.loads((BUILD / "claims.json").read_text())
    if repository() == PLACEHOLDER:
        print("Note: repository.url in _config.yml is still the placeholder, so pages have no launch and edit buttons")
    print(f"{len(claims)} claims hold. Built in {time.monotonic() - start:.0f} s: {BUILD / 'html' / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
