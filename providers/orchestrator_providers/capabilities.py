"""Build W3C and Appium capabilities from a start request, for all providers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from orchestrator.models.browser_support import require_ability
from orchestrator.models.requests import StartRequest
from orchestrator.models.session import SessionType
from orchestrator.provider import Start
from orchestrator.settings import Settings
from orchestrator.settings.endpoints import check_endpoint_url
from orchestrator.system.machine import is_this_machine
from orchestrator.system.secrets import reference, resolve_reference, without_credentials
from orchestrator_providers.browsers import browser_named

if TYPE_CHECKING:
    from appium.options.common.base import AppiumOptions

_LONGER = 60.0
"""Seconds by which a remote end's idle timeout exceeds ours, so that ours ends the session, with a reason."""
_APP_BROWSERS = {"chrome": "Chrome", "chromium": "Chrome", "safari": "Safari"}
_AS_REQUESTED = (
    *("app", "bundle_id", "app_package", "app_activity", "device_name", "platform_version", "udid", "automation_name"),
    *("no_reset", "full_reset", "auto_accept_alerts"),
)
"""Fields of a request that are options of Appium's client by the same name."""


def check_supported(request: StartRequest, *, headless: bool) -> None:
    """Refuse a request that this browser cannot fulfil; `headless` is True if the request's `headless` is passed on.

    Raises:
        Unsupported: The browser lacks a requested ability.
    """
    requested = {
        "args": bool(request.args),
        "bidi": request.capabilities.get("webSocketUrl") is True,
        "headless": headless and request.headless is True,
    }
    for ability, is_requested in requested.items():
        if is_requested:
            require_ability(ability, request.browser)


def browser_capabilities(start: Start, *, headless: bool, bidi: bool = False) -> dict[str, Any]:
    """A browser's name, version, switches, timeouts and prompt behaviour.

    `headless` adds the switch for headless mode, if the browser has one. `bidi` is True if the provider requests BiDi.

    Raises:
        Unsupported: The browser lacks a requested ability.
    """
    request = start.request
    has_bidi = request.capabilities.get("webSocketUrl", bidi) is True
    check_supported(request, headless=headless)
    limit = start.settings.command_timeout
    # A little below our own limit, so that the remote end times out first and the session stays usable.
    timeout_ms = round(max(limit - 2, limit / 2) * 1000)
    browser = browser_named(request.browser).capabilities(request.args, headless=headless, bidi=has_bidi)
    # A script that does not end at its own limit in the page keeps the page busy: there we say so, not its driver.
    script_ms = round((limit + 2) * 1000) if browser["pageLoadStrategy"] == "none" else timeout_ms
    wanted: dict[str, Any] = {
        **browser,
        # The session's policy answers dialogs, so the driver must leave them open.
        "unhandledPromptBehavior": "ignore",
        "timeouts": {"script": script_ms, "pageLoad": timeout_ms},
    }
    if request.browser_version:
        wanted["browserVersion"] = request.browser_version
    return wanted


def app_capabilities(start: Start, further: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the capabilities of an app or a browser on a device, for Appium's drivers for iOS and Android.

    Those of `further` win; they are named without the prefix `appium:`, and None removes one.
    """
    request = start.request
    idle = start.options.idle_timeout or start.settings.idle_timeout
    options = _driver_options(request)
    options.new_command_timeout = (
        math.ceil(idle + _LONGER) if request.new_command_timeout is None else request.new_command_timeout
    )
    if request.browser_name is not None:
        options.browser_name = _APP_BROWSERS.get(request.browser_name.lower(), request.browser_name)
    for name in _AS_REQUESTED:
        if (value := getattr(request, name)) is not None:
            setattr(options, name, value)
    options.load_capabilities({**(further or {})})
    found: dict[str, Any] = options.to_w3c()["capabilities"]["alwaysMatch"]
    return found


def _driver_options(request: StartRequest) -> AppiumOptions:
    """Return the options of the platform's usual driver; others, such as Espresso, have those of a request, too."""
    from appium.options.android import UiAutomator2Options  # noqa: PLC0415 — Appium's client loads with the first app
    from appium.options.ios import XCUITestOptions  # noqa: PLC0415

    if request.type is SessionType.IOS:
        # Alerts of the system cover the app but are not in its page source: unseen, they take every tap.
        return XCUITestOptions().set_capability("settings", {"respectSystemAlerts": True})
    android = UiAutomator2Options()
    android.automation_name = "UiAutomator2"  # the client writes UIAutomator2: to a Grid that is another driver
    android.auto_grant_permissions = request.auto_grant_permissions
    return android


def resolve_url(url: str, settings: Settings) -> tuple[str, str]:
    """Resolve a remote end's URL that may be `secret:NAME`; returns the URL and the secret's name, if it is one.

    Raises:
        ProviderAuth: There is no such secret.
    """
    name = reference(url)
    return (check_endpoint_url(resolve_reference(name, settings.secrets_file)), name) if name else (url, "")


def is_elsewhere(url: str, settings: Settings) -> bool:
    """Return True for the URL, or `secret:NAME`, of a remote end that is on another machine.

    Raises:
        ProviderAuth: There is no such secret.
    """
    host = urlsplit(resolve_url(url, settings)[0]).hostname
    return host is not None and not is_this_machine(host)


def setting_url_if_same(given: str | None, url: str) -> str | None:
    """A setting's URL, with its user and password, if it is the same URL without them; else None."""
    return given if given is not None and without_credentials(given) == url else None


def url_or_secret(given: str | None) -> str | None:
    """Check an option that is a remote end's URL, or `secret:NAME`."""
    return given if given is None or reference(given) else check_endpoint_url(given)
