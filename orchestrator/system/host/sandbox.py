"""Chromium's sandbox on Linux: whether this user's browsers can have it, found by trying.

Chromium refuses it to root. Otherwise it needs user namespaces, which containers and some systems deny; a helper of its
package, or a profile of AppArmor for it alone, may do instead.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import psutil

from orchestrator.errors import StartFailed
from orchestrator.settings import SandboxMode

NO_SANDBOX = "--no-sandbox"
_CODE = """
import ctypes, os, sys
def check(failed):
    if failed:
        sys.stdout.write(os.strerror(ctypes.get_errno()))
        sys.exit(3)
libc = ctypes.CDLL(None, use_errno=True)
user, group = os.getuid(), os.getgid()
check(libc.unshare(0x10000000))
try:
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
except OSError as error:
    ctypes.set_errno(error.errno)
    check(True)
check(libc.unshare(0x20000000 | 0x40000000))
"""
"""Makes a user namespace with this user in it, then namespaces of processes and network there, as Chromium does."""
_DENIED = 3
_PROBED_WITHIN = 5.0
_BROWSER_WITHIN = 20.0


class Obstacle(NamedTuple):
    """Why browsers cannot have their sandbox, as the end of a sentence, and what to do about it."""

    reason: str
    remedy: str


def find_switches(mode: SandboxMode, browser: Path | None) -> list[str]:
    """Return the switches about the sandbox that a browser needs here.

    Raises:
        StartFailed: It cannot have its sandbox, and the setting requires that.
    """
    if mode == "off":
        return [NO_SANDBOX]
    obstacle = find_obstacle(browser)
    if obstacle is None:
        return []
    if mode == "require":
        raise StartFailed(
            f"The browser cannot have its sandbox, which the setting sandbox requires: {obstacle.reason}.",
            hint=f"{obstacle.remedy} Or, if pages are trusted, who runs this server sets sandbox to auto.",
        )
    return [NO_SANDBOX]


def describe_lack(mode: SandboxMode) -> str:
    """Return a warning for a browser that was started without its sandbox; empty if it was to have none."""
    obstacle = find_obstacle(None) if mode == "auto" else None
    if obstacle is None:
        return ""
    return (
        f"Browsers run without their sandbox: {obstacle.reason}. A page that breaks the browser reaches what this user "
        f"can. {obstacle.remedy} The setting sandbox refuses such starts (require) or stops this warning (off)."
    )


def find_obstacle(browser: Path | None) -> Obstacle | None:
    """Return why a browser of this user cannot have its sandbox; None if it can.

    Without a browser, for any that has no helper or profile of its own.
    """
    if sys.platform != "linux":
        return None
    if psutil.Process().uids().effective == 0:
        return Obstacle("this server runs as root", "Run it as another user.")
    reason = _try_namespaces()
    if not reason or (browser is not None and _starts_with_sandbox(browser)):
        return None
    return Obstacle(
        f"this user may not make user namespaces ({reason})",
        "Allow them: in a container by its seccomp profile, on Ubuntu by kernel.apparmor_restrict_unprivileged_userns.",
    )


@functools.cache
def _try_namespaces() -> str:
    """Return why the namespaces of the sandbox cannot be made; empty if they can, or if that cannot be tried."""
    try:
        tried = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _CODE],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PROBED_WITHIN,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return tried.stdout.strip() if tried.returncode == _DENIED else ""


@functools.cache
def _starts_with_sandbox(browser: Path) -> bool:
    """Return True if the browser shows a page; without a usable sandbox it ends before."""
    with tempfile.TemporaryDirectory(prefix="wdo-", ignore_cleanup_errors=True) as folder:
        command = [str(browser), "--headless=new", "--disable-gpu", "--dump-dom", f"--user-data-dir={folder}"]
        try:
            tried = subprocess.run(
                [*command, "about:blank"],
                env={**os.environ, "TMPDIR": folder},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_BROWSER_WITHIN,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
    return b"<html" in tried.stdout
