"""Merges the user's capabilities into ours, and refuses names that no remote end accepts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, TypeGuard

from orchestrator.errors import InvalidArgument
from orchestrator.models.near_names import nearest

STANDARD = frozenset(
    {
        "acceptInsecureCerts",
        "browserName",
        "browserVersion",
        "pageLoadStrategy",
        "platformName",
        "proxy",
        "setWindowRect",
        "strictFileInteractability",
        "timeouts",
        "unhandledPromptBehavior",
        "userAgent",
        "webSocketUrl",
    }
)
"""The names that need no vendor prefix. Source: W3C WebDriver, https://www.w3.org/TR/webdriver2/#capabilities."""

_UNITED = frozenset({"args", "excludeSwitches"})
"""The only lists whose two values are joined; any other is replaced as a whole."""

_LONGEST_SHOWN = 64

_PREFIXES = {
    "goog": ("chromeOptions", "loggingPrefs", "perfLoggingPrefs"),
    "moz": ("firefoxOptions", "debuggerAddress"),
    "ms": ("edgeOptions",),
    "safari": ("automaticInspection", "automaticProfiling"),
    "appium": (
        *("app", "appActivity", "appPackage", "appWaitActivity", "autoAcceptAlerts", "autoGrantPermissions"),
        *("automationName", "autoWebview", "avd", "bundleId", "chromedriverExecutable", "deviceName", "fullReset"),
        *("language", "locale", "newCommandTimeout", "noReset", "orientation", "platformVersion", "systemPort"),
        *("udid", "wdaLocalPort", "xcodeOrgId"),
    ),
}
_PREFIXED = {name: f"{prefix}:{name}" for prefix, names in _PREFIXES.items() for name in names}


def merge_capabilities(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Merge deeply into a new value; the user's value overrides ours.

    Lists named `args` or `excludeSwitches` are joined, ours first; a flag of the user's (`--flag=value`) replaces ours
    of that name.
    """
    merged = deepcopy(dict(ours))
    for name, value in theirs.items():
        old = merged.get(name)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            merged[name] = merge_capabilities(old, value)
        elif name in _UNITED and _is_list(old) and _is_list(value):
            merged[name] = _unite(old, value)
        else:
            merged[name] = deepcopy(value)
    return merged


def check_capabilities(capabilities: Mapping[str, Any]) -> None:
    """Refuse names that are neither the standard's nor a vendor's (`vendor:name`).

    Raises:
        InvalidArgument: Names the first such capability, and the name to use.
    """
    for name in capabilities:
        if name not in STANDARD and ":" not in name:
            shown = name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}…"
            raise InvalidArgument(
                f"Capability {shown!r} is not a W3C capability and has no vendor prefix.", hint=_advice(name)
            )


def _advice(name: str) -> str:
    if name in _PREFIXED:
        return f"Write {_PREFIXED[name]!r}."
    if name in {"desiredCapabilities", "alwaysMatch", "firstMatch"}:
        return "Pass the capabilities themselves, without this level."
    suggestion = nearest(name, {*STANDARD, *_PREFIXED})
    if not suggestion.startswith("Did you mean"):
        return "Write it as 'vendor:name', for example 'appium:deviceName' or 'goog:chromeOptions'."
    for plain, full in _PREFIXED.items():
        suggestion = suggestion.replace(repr(plain), repr(full))
    return suggestion


def _is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _unite(ours: Sequence[Any], theirs: Sequence[Any]) -> list[Any]:
    replaced = {_flag(argument) for argument in theirs}
    return [*(argument for argument in ours if _flag(argument) not in replaced), *theirs]


def _flag(argument: Any) -> str:
    """Return the name of a command-line flag without dashes, since drivers accept both forms."""
    return str(argument).partition("=")[0].lstrip("-")
