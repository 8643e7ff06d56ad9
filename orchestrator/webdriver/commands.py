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

_OF_PAGE = frozenset(
    {
        *("w3cExecuteScript", "w3cExecuteScriptAsync", "getTitle", "getCurrentUrl", "getPageSource", "actions"),
        *("findElement", "findElements", "findChildElement", "findChildElements", "clickElement", "clearElement"),
        *("sendKeysToElement", "getElementText", "getElementAttribute", "getElementProperty", "getElementRect"),
        *("isElementDisplayed", "isElementEnabled", "isElementSelected", "elementScreenshot", "printPage"),
        *("getCookies", "getCookie", "addCookie", "deleteCookie", "deleteAllCookies", "clearActionState"),
    }
)
_OF_BROWSER = (
    "Target.",
    "Browser.",
    "Storage.",
    "Input.",
    "Page.bringToFront",
    "Page.captureScreenshot",
    "Page.getNav",
)
"""Beginnings of the CDP commands that Chromium's main process answers."""

_OURS = {
    CDP: ("POST", "/session/$sessionId/goog/cdp/execute"),
    CAPABILITIES: ("GET", "/session/$sessionId"),
    FULL_PAGE: ("GET", "/session/$sessionId/moz/screenshot/full"),
}
"""Commands of Chromium and Firefox that selenium's table lacks."""

_ANSWERS: Mapping[str, tuple[type, str]] = {
    "w3cGetWindowHandles": (list, "Get Window Handles"),
    "w3cGetCurrentWindowHandle": (str, "Get Window Handle"),
    "newWindow": (dict, "New Window"),
    "getWindowRect": (dict, "Get Window Rect"),
    "getCookies": (list, "Get All Cookies"),
    "screenshot": (str, "Take Screenshot"),
    "elementScreenshot": (str, "Take Element Screenshot"),
    FULL_PAGE: (str, "Full Page Screenshot"),
    "printPage": (str, "Print Page"),
}
"""The kind of answer that the standard demands of commands, and their names there."""
_KINDS = {list: "a list", dict: "an object", str: "text", bool: "true or false", int: "a number", float: "a number"}
_FIELDS: Mapping[str, Mapping[str, type | tuple[type, ...]]] = {
    "newWindow": {"handle": str},
    "getWindowRect": dict.fromkeys(("x", "y", "width", "height"), (int, float)),
}


def asks_page(command: str, params: Mapping[str, Any]) -> bool:
    """Return True for a command that Chromium answers only once a navigation of the tab has an answer, or has failed.

    DevTools hold back what is meant for the page until it is known which process shows the next one.
    """
    return command in _OF_PAGE or (command == CDP and not str(params.get("cmd")).startswith(_OF_BROWSER))


def explain_wrong_answer(command: str, value: Any) -> str:
    """Return what is wrong with the answer to a command, as a clause; empty if nothing is, or nothing is known."""
    if command not in _ANSWERS:
        return ""
    kind, name = _ANSWERS[command]
    if describe_kind(value) != _KINDS[kind]:
        return f"{name} was answered with {describe_kind(value)} instead of {_KINDS[kind]}"
    fields = _FIELDS.get(command, {})
    wrong = next((field for field, kinds in fields.items() if not isinstance(value.get(field), kinds)), "")
    return wrong and f"the answer to {name} has no usable {wrong}"


def describe_kind(value: Any) -> str:
    """Return the kind of a JSON value, such as `a list`: the value itself may be what a page wrote."""
    return _KINDS.get(type(value), "null")


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
