"""How Chrome, Chromium and Edge are asked for on this machine."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from orchestrator import machine
from orchestrator.errors import StartFailed
from orchestrator.provider import Start

_BROWSER_UI = 87
"""Height of tabs and address bar: a window of 807 shows a page of 720."""

_ENDING = 3.0
"""Seconds that a browser may take to let go of its profile."""
_POLL = 0.05
_LOCK = "SingletonLock"

_FLAGS = (
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A choice of search engine covers the first page in the European Economic Area.
    "--disable-search-engine-choice-screen",
    # No question for the password of the desktop's or macOS's key ring.
    "--password-store=basic",
    "--use-mock-keychain",
    # The note that the browser is automated slides in up to 0.4 s after the start and takes 56 pixels from the page.
    "--disable-infobars",
    # A page of the browser's own for the list below its address bar: loaded at every start, it takes as much processor
    # time as the rest of the start, and 50 MB.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",
    # Sessions side by side have covered windows and background tabs; their timers and frames must not slow down.
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
)

_PREFERENCES = {
    # Otherwise a window asks to save each password typed, and another to change one that is known from a leak.
    "credentials_enable_service": False,
    "profile.password_manager_leak_detection": False,
    # An empty page instead of the new-tab page, which has scripts and texts of its own.
    "session.restore_on_startup": 4,
    "session.startup_urls": ["about:blank"],
}


def check_free(profile: Path, check: Callable[[], None]) -> None:
    """Refuse a profile that another browser has open: two of them on one folder fail, and do not say why.

    One that is ending is waited for; `check` is called meanwhile.

    Raises:
        StartFailed: It is in use; the message says by whom.
    """
    until = time.monotonic() + _ENDING
    while holder := _holder(profile):
        if time.monotonic() > until:
            raise StartFailed(
                f"Profile {profile.name!r} is open in {holder}, which is no session of ours.",
                hint=f"Close that browser, or name another profile. If it is gone for sure, remove {profile / _LOCK}.",
            )
        check()
        time.sleep(_POLL)


def _holder(profile: Path) -> str:
    """The browser that has a profile open, by its own note; empty where there is none, or it died."""
    try:
        host, _, pid = str((profile / _LOCK).readlink()).rpartition("-")
        if host != socket.gethostname():
            return f"a browser on {host}"
        process = psutil.Process(int(pid))
        words = process.cmdline()
    except psutil.AccessDenied as error:
        return f"process {error.pid} of another user"
    except (OSError, ValueError, psutil.Error):
        return ""
    mine = any(str(profile) in word for word in words) and process.status() != psutil.STATUS_ZOMBIE
    return f"{process.name()} (process {pid})" if mine else ""


def asked(start: Start) -> dict[str, Any]:
    """Its switches and preferences, as the vendor's options hold them."""
    viewport, kept = start.request.viewport, start.profile()
    if kept is not None:
        check_free(kept, start.check)
    flags = [*_FLAGS, f"--user-data-dir={kept or start.folder() / 'profile'}"]
    flags.append(f"--window-size={viewport.width},{viewport.height + _BROWSER_UI}")
    flags += machine.needed_switches(os.environ)
    return {"args": flags, "prefs": dict(_PREFERENCES)}
