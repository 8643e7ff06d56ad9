"""What a start asks for in the standard's and in Appium's words; what is of one remote end alone is added there."""

from __future__ import annotations

import math
from typing import Any

from orchestrator.abilities import need
from orchestrator.models import SessionType, StartRequest
from orchestrator.provider import Start
from orchestrator.secrets import named, reference, without_credentials
from orchestrator.settings import Settings, endpoint
from orchestrator_providers.browsers import browser

PLATFORMS = {SessionType.IOS: ("iOS", "XCUITest"), SessionType.ANDROID: ("Android", "UiAutomator2")}
"""W3C's platformName and Appium's automationName, spelled as their documentation does."""

_LONGER = 60.0
"""Seconds for which a remote end waits longer than we do: our own limit ends a session, and says why."""
_APP_BROWSERS = {"chrome": "Chrome", "chromium": "Chrome", "safari": "Safari"}
_SAID = {
    "app": "app",
    "bundle_id": "bundleId",
    "app_package": "appPackage",
    "app_activity": "appActivity",
    "device_name": "deviceName",
    "platform_version": "platformVersion",
    "udid": "udid",
    "automation_name": "automationName",
    "no_reset": "noReset",
    "full_reset": "fullReset",
    "auto_accept_alerts": "autoAcceptAlerts",
}
"""What of a request is a capability as it stands, and as which."""


def check_wishes(request: StartRequest, *, headless: bool) -> None:
    """Refuse what this browser cannot do, wherever it is; `headless` says whether that word reaches it.

    Raises:
        Unsupported: It cannot.
    """
    wishes = {
        "args": bool(request.args),
        "bidi": request.capabilities.get("webSocketUrl") is True,
        "headless": headless and request.headless is True,
    }
    for ability, wished in wishes.items():
        if wished:
            need(ability, request.browser)


def browser_capabilities(start: Start, *, headless: bool) -> dict[str, Any]:
    """A browser's name and version, how it loads pages and leaves dialogs to us, and its switches.

    `headless` adds the switch for it, where the browser has one.

    Raises:
        Unsupported: The request asks for something that this browser cannot do.
    """
    request = start.request
    check_wishes(request, headless=headless)
    limit = start.settings.command_timeout
    # A little below our own limit, so that the remote end is the first to give up and the session lives on.
    patience = round(max(limit - 2, limit / 2) * 1000)
    found: dict[str, Any] = {
        **browser(request.browser).capabilities(request.args, headless=headless),
        # Dialogs are answered by the session's policy, which must first see them.
        "unhandledPromptBehavior": "ignore",
        "timeouts": {"script": patience, "pageLoad": patience},
    }
    if request.browser_version:
        found["browserVersion"] = request.browser_version
    return found


def app_capabilities(start: Start) -> dict[str, Any]:
    """An app or a browser on a device, as Appium's drivers for iOS and Android take it."""
    request = start.request
    platform, automation = PLATFORMS[request.type]
    idle = start.options.idle_timeout or start.settings.idle_timeout
    patience = math.ceil(idle + _LONGER) if request.new_command_timeout is None else request.new_command_timeout
    found: dict[str, Any] = {
        "platformName": platform,
        "appium:automationName": automation,
        "appium:newCommandTimeout": patience,
    }
    if request.type is SessionType.ANDROID:
        found["appium:autoGrantPermissions"] = request.auto_grant_permissions
    else:
        # What the system asks lies over the app, but stands in another app's source: unseen, and all taps go astray.
        found["appium:settings"] = {"respectSystemAlerts": True}
    if request.browser_name is not None:
        found["browserName"] = _APP_BROWSERS.get(request.browser_name.lower(), request.browser_name)
    said = {name: getattr(request, field) for field, name in _SAID.items()}
    return found | {f"appium:{name}": value for name, value in said.items() if value is not None}


def resolved(url: str, settings: Settings) -> tuple[str, str]:
    """A remote end's URL that may be `secret:NAME`, with its credentials, and the name of that secret.

    Raises:
        ProviderAuth: There is no such secret.
    """
    name = reference(url)
    return (endpoint(named(name, settings.secrets_file)), name) if name else (url, "")


def known_at(given: str | None, url: str) -> str | None:
    """A setting's URL, which may hold user and password, where it is this one; else None."""
    return given if given is not None and without_credentials(given) == url else None


def url_or_secret(given: str | None) -> str | None:
    """Check an option that is a remote end's URL, or the name of the secret that it is in: `secret:NAME`."""
    return given if given is None or reference(given) else endpoint(given)
