"""What a start of an app says, checked before anything is reserved, started or sent."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path

from orchestrator.errors import InvalidArgument
from orchestrator.models import SessionType, StartRequest

_OF_IOS = ("bundle_id", "auto_accept_alerts")
_OF_ANDROID = ("app_package", "app_activity")
_NAMES = {
    "bundle_id": "bundleId",
    "auto_accept_alerts": "autoAcceptAlerts",
    "app_package": "appPackage",
    "app_activity": "appActivity",
}
_INSTEAD = {"bundle_id": " Give appPackage.", "app_package": " Give bundleId."}


def checked(request: StartRequest) -> StartRequest:
    """The request with `app_path` made absolute; a browser's is as it was.

    Raises:
        InvalidArgument: It names no file of this machine, or says what its platform has not or what excludes itself.
    """
    if request.type is SessionType.BROWSER:
        return request
    strangers = _OF_ANDROID if request.type is SessionType.IOS else _OF_IOS
    for name in strangers:
        if getattr(request, name) is not None:
            platform = "Android" if name in _OF_ANDROID else "iOS"
            raise InvalidArgument(f"{_NAMES[name]} is of {platform} alone.", hint=_INSTEAD.get(name, "").strip())
    if request.navigation_url is not None and request.browser_name is None:
        raise InvalidArgument(
            "navigationUrl needs a browser, and this is a session of an app.",
            hint="Give browser, such as chrome or safari, or open a deep link once the app runs.",
        )
    if request.browser_version is not None:
        raise InvalidArgument("browserVersion is of browsers alone.", hint="A device has the one that is on it.")
    if request.app_path is None:
        return request
    if request.app is not None:
        raise InvalidArgument(
            "appPath and app are both given.",
            hint="Give appPath for a file of this machine, or app for what the remote end knows, such as a URL.",
        )
    return request.model_copy(update={"app_path": str(there("appPath", request.app_path))})


def there(name: str, given: str) -> Path:
    """The file or folder that the argument of this name says, absolute; its ending is not judged: each takes others.

    Raises:
        InvalidArgument: It is not there.
    """
    path = Path(os.path.abspath(Path(given).expanduser()))  # noqa: PTH100 — links are kept, dots are not
    if not given.strip() or not path.exists():
        raise InvalidArgument(f"{name}: there is no file {path}.", hint=_near(path))
    return path


def _near(path: Path) -> str:
    """The nearest name in the folder, or the last folder on the way that is there."""
    folder = path.parent
    if not folder.is_dir():
        there = next((one for one in folder.parents if one.is_dir()), folder)
        return f"There is no folder {folder}; {there} is the last one on the way that is there."
    try:
        names = [one.name for one in folder.iterdir()]
    except OSError:
        names = []
    near = get_close_matches(path.name, names, n=1, cutoff=0.5)
    return f"Did you mean {folder / near[0]}?" if near else "Give a path on the machine that this server runs on."
