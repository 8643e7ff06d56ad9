"""The commands that a remote end takes, by selenium's names, with method and path."""

from __future__ import annotations

import functools
import string
from collections.abc import Mapping
from typing import Any

CDP = "executeCdpCommand"
CAPABILITIES = "getCapabilities"
FULL_PAGE = "fullPageScreenshot"
"""Firefox's own screenshot of a whole page."""

_OURS = {
    CDP: ("POST", "/session/$sessionId/goog/cdp/execute"),
    CAPABILITIES: ("GET", "/session/$sessionId"),
    FULL_PAGE: ("GET", "/session/$sessionId/moz/screenshot/full"),
}
"""Commands of Chromium and Firefox that selenium's table lacks."""


def resolve(command: str, remote_session_id: str, params: Mapping[str, Any]) -> tuple[str, str, dict[str, Any]]:
    """Return the method, the path below the remote URL and the body of a command.

    Parameters that the path names are in the path, and all others in the body.

    Raises:
        KeyError: The command is unknown, or a parameter of its path is missing.
    """
    method, template = _table().get(command) or _app_table()[command]
    path = string.Template(template).substitute(params, sessionId=remote_session_id)
    return method, path, {name: value for name, value in params.items() if f"${name}" not in template.split("/")}


@functools.cache
def _table() -> Mapping[str, tuple[str, str]]:
    from selenium.webdriver.remote.remote_connection import (  # noqa: PLC0415 — it loads with the first command
        remote_commands,
    )

    return {**remote_commands, **_OURS}


def _app_table() -> Mapping[str, tuple[str, str]]:
    from orchestrator.webdriver.app_driver import (  # noqa: PLC0415 — it loads with the first app session
        app_endpoints,
    )

    return app_endpoints()
