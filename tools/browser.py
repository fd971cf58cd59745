"""The browser that looks at the built pages: an installed Chromium, or Debian's, where root may install it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from playwright.sync_api import Browser, Error, Playwright

VARIABLE = "CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox",  # a CI runs as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A page that asks for something elsewhere gets nothing, with a network and without one.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
APT = ["apt-get", "-o", "Dpkg::Use-Pty=0", "-qq"]


class NoBrowserError(Exception):
    """There is no Chromium, and none can be installed; the message says what to do."""


def find_browser() -> Path | None:
    """The Chromium that ``CHROMIUM`` names, else the first on the path; None if there is none.

    NoBrowserError if ``CHROMIUM`` names no program.
    """
    if named := os.environ.get(VARIABLE):
        if (found := shutil.which(named)) is None:
            raise NoBrowserError(f"{VARIABLE} = {named!r}: must be the path of a Chromium or Chrome that can be run")
        return Path(found)
    return next((Path(found) for name in NAMES if (found := shutil.which(name))), None)


def ensure_browser() -> Path:
    """The Chromium to use, installed from Debian's packages if root runs on a bare machine; NoBrowserError if that fails."""
    if found := find_browser():
        return found
    advice = f"install Debian's package 'chromium' (or any Chrome), or set {VARIABLE} to the path of one"
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise NoBrowserError(f"There is no Chromium to look at the pages with: {advice}")
    print("Installing Debian's chromium (once; about a minute)", flush=True)
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (["update"], ["install", "--yes", "--no-install-recommends", "chromium"]):
        done = subprocess.run([*APT, *step], env=quiet, capture_output=True, text=True)
        if done.returncode:
            said = "\n".join(done.stderr.strip().splitlines()[-3:])
            raise NoBrowserError(f"apt-get {step[0]} failed, so there is no Chromium: {advice}\n{said}")
    if found := find_browser():
        return found
    raise NoBrowserError(f"apt-get installed chromium, but none of {', '.join(NAMES)} is on the path: {advice}")


def launch(playwright: Playwright, program: Path) -> Browser:
    """Start ``program`` without a window and with no way to any other machine; NoBrowserError if it does not start."""
    try:
        return playwright.chromium.launch(executable_path=program, headless=True, args=list(FLAGS))
    except Error as error:
        reason = error.message.splitlines()[0]
        raise NoBrowserError(f"{program} does not start ({reason}): set {VARIABLE} to the path of a Chromium or Chrome") from None
