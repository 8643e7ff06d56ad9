"""The profile and the preferences of Firefox on this machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from orchestrator.errors import StartFailed
from orchestrator.provider import Start
from orchestrator.system.process_identity import find_profile_users
from orchestrator_providers.local.profile_release import await_release

_PREFERENCES = {
    # No offer to save typed passwords.
    "signon.rememberSignons": False,
    # No dialog of `window.print()`, which no driver sees.
    "print.enabled": False,
}


def firefox_options(start: Start) -> dict[str, Any]:
    """The vendor options: preferences, and the folder of a profile that is kept.

    Raises:
        DeviceBusy, StartFailed: The profile is in use.
    """
    options: dict[str, Any] = {"prefs": dict(_PREFERENCES)}
    kept = start.profile()
    if kept is not None:
        _check_free(kept, start.check)
        options["args"] = ["-profile", str(kept)]
    return options


def _check_free(profile: Path, check: Callable[[], None]) -> None:
    """Refuse a profile that another Firefox has open: a second one would only ask a person to close the first one.

    An ending Firefox is waited for, while `check` is called.

    Raises:
        StartFailed: The profile is in use; the message names the process.
    """
    if user := await_release(lambda: _user(profile), check):
        raise StartFailed(
            f"Profile {profile.name!r} is open in {user}, which is not that of an open session.",
            hint="Close that browser, or name another profile.",
        )


def _user(profile: Path) -> str:
    return next((f"{one.name()} (process {one.pid})" for one in find_profile_users(profile)), "")
