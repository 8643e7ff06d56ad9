"""Checks the request for an app session before anything is reserved, started or sent."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path

from orchestrator.errors import InvalidArgument
from orchestrator.models.requests import StartRequest
from orchestrator.models.session import SessionType

_IOS_ONLY = ("bundle_id", "auto_accept_alerts")
_ANDROID_ONLY = ("app_package", "app_activity")
_NAMES = {
    "bundle_id": "bundleId",
    "auto_accept_alerts": "autoAcceptAlerts",
    "app_package": "appPackage",
    "app_activity": "appActivity",
}
_INSTEAD = {"bundle_id": " Give appPackage.", "app_package": " Give bundleId."}


def check_app_request(request: StartRequest) -> StartRequest:
    """Return the request with an absolute `app_path`; a browser's is returned unchanged.

    Raises:
        InvalidArgument: There is no such file on this machine, or an argument does not fit the platform or another one.
    """
    if request.type is SessionType.BROWSER:
        return request
    is_ios = request.type is SessionType.IOS
    for name in _ANDROID_ONLY if is_ios else _IOS_ONLY:
        if getattr(request, name) is not None:
            raise InvalidArgument(
                f"{_NAMES[name]} is for {'Android' if is_ios else 'iOS'} only.", hint=_INSTEAD.get(name, "").strip()
            )
    if request.navigation_url is not None and request.browser_name is None:
        raise InvalidArgument(
            "navigationUrl needs a browser, and this is an app session.",
            hint="Give browser, such as chrome or safari, or open a deep link once the app runs.",
        )
    if request.browser_version is not None:
        raise InvalidArgument(
            "browserVersion is for browsers only.", hint="A device has the version that is installed on it."
        )
    if request.app_path is None:
        return request
    if request.app is not None:
        raise InvalidArgument(
            "appPath and app are both given.",
            hint="Give appPath for a file on this machine, or app for a name at the remote end, such as a URL.",
        )
    return request.model_copy(update={"app_path": str(resolve_existing_path("appPath", request.app_path))})


def resolve_existing_path(name: str, given: str) -> Path:
    """Return the absolute path that an argument gives; any extension is accepted, since they differ by remote end.

    Raises:
        InvalidArgument: There is no such file or folder, or can be none.
    """
    try:
        path = Path(os.path.abspath(Path(given).expanduser()))  # noqa: PTH100 — links are kept, dots are not
        if not given.strip() or not path.exists():
            raise InvalidArgument(f"{name}: there is no file {path}.", hint=_suggest(path))
    except (OSError, RuntimeError, ValueError) as error:  # too long, an unknown user, a null character
        reason = getattr(error, "strerror", None) or error
        raise InvalidArgument(f"{name} cannot be a file: {reason}.", hint="Give another path.") from None
    return path


def _suggest(path: Path) -> str:
    """Return a hint: the most similar name in the folder, or the nearest existing folder."""
    folder = path.parent
    if not folder.is_dir():
        existing = next((parent for parent in folder.parents if parent.is_dir()), folder)
        return f"There is no folder {folder}; the nearest existing one is {existing}."
    try:
        names = [file.name for file in folder.iterdir()]
    except OSError:
        names = []
    similar = get_close_matches(path.name, names, n=1, cutoff=0.5)
    return f"Did you mean {folder / similar[0]}?" if similar else "Give a path on the machine that this server runs on."
