"""Switches and preferences of Chrome, Chromium and Edge on this machine."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from orchestrator.errors import StartFailed
from orchestrator.provider import Start
from orchestrator.system import machine
from orchestrator_providers.local.profile_release import await_release

_BROWSER_UI = 87
"""Height of tabs and address bar: a window of 807 pixels shows a page of 720."""

_LOCK = "SingletonLock"
_TAKES_SANDBOX = re.compile(r"-{0,2}(no-sandbox|disable-[a-z-]*sandbox)(=.*)?|-{0,2}(no-zygote|single-process)(=.*)?")

_FLAGS = (
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # In the European Economic Area, a choice of search engines covers the first page.
    "--disable-search-engine-choice-screen",
    # No prompt for the password of the key ring.
    "--password-store=basic",
    "--use-mock-keychain",
    # The infobar about automation appears up to 0.4 s after the start and takes 56 pixels from the page.
    "--disable-infobars",
    # The address bar's list is a page, loaded at every start; it takes as much processor time as the rest of the
    # start, and 50 MB.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",
    # Parallel sessions have covered windows and background tabs; their timers and frames must not slow down.
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
)

_PREFERENCES = {
    # No dialogs that offer to save typed passwords or warn about leaked ones.
    "credentials_enable_service": False,
    "profile.password_manager_leak_detection": False,
    # An empty page instead of the new-tab page, which has its own scripts and texts.
    "session.restore_on_startup": 4,
    "session.startup_urls": ["about:blank"],
}

_EXCLUDED = ("enable-logging",)
"""Switches of chromedriver's that are left out: with this one, all that pages write to the console goes to a file."""


def check_free(profile: Path, check: Callable[[], None]) -> None:
    """Refuse a profile that another browser has open: a second browser would fail without a reason.

    An ending browser is waited for, while `check` is called.

    Raises:
        StartFailed: The profile is in use; the message names the browser.
    """
    if holder := await_release(lambda: _holder(profile), check):
        raise StartFailed(
            f"Profile {profile.name!r} is open in {holder}, which is not one of our sessions.",
            hint=f"Close that browser, or name another profile. If it is certainly gone, remove {profile / _LOCK}.",
        )


def _holder(profile: Path) -> str:
    """The browser that has the profile open, from the profile's lock; empty if there is none, or it died."""
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


def chromium_options(start: Start, browser: Path | None) -> dict[str, Any]:
    """The vendor options: switches and preferences."""
    viewport, kept = start.request.viewport, start.profile()
    if kept is not None:
        check_free(kept, start.check)
    flags = [*_FLAGS, f"--user-data-dir={kept or start.folder() / 'profile'}"]
    flags.append(f"--window-size={viewport.width},{viewport.height + _BROWSER_UI}")
    flags += machine.needed_switches(start.settings, browser)
    return {"args": flags, "prefs": dict(_PREFERENCES), "excludeSwitches": [*_EXCLUDED]}


def check_sandbox(start: Start, options: dict[str, Any]) -> None:
    """Refuse switches that take the sandbox away where the setting requires it.

    Raises:
        StartFailed: There is one.
    """
    weaker = [flag for flag in options["args"] if _TAKES_SANDBOX.fullmatch(flag)]
    if weaker and start.settings.sandbox == "require":
        raise StartFailed(
            f"The setting sandbox requires the browser's sandbox, and {weaker[0]} takes it away.",
            hint="Leave the switch out; who runs this server sets sandbox.",
        )
