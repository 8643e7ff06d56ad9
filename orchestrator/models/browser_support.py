"""Browser support table: features each browser lacks, why, and the alternative.

Refusals and docs/support.md are made from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from orchestrator.errors import Unsupported

TITLES = {"chrome": "Chrome", "edge": "Edge", "firefox": "Firefox", "safari": "Safari", "webkitgtk": "WebKitGTK"}
"""Browsers by the name that starts use, with their titles; Chromium counts as Chrome."""

_ALSO = {
    "chromium": "chrome",
    "chrome-headless-shell": "chrome",
    "microsoftedge": "edge",
    "msedge": "edge",
    "minibrowser": "webkitgtk",
}
"""Other names of these browsers in starts and in the capability `browserName`."""

CHROMIUM = frozenset({"chrome", "edge"})
"""Browsers that speak the Chrome DevTools Protocol."""


@dataclass(frozen=True, slots=True)
class Ability:
    """A feature that some browsers lack.

    Attributes:
        what: The feature's name in a refusal.
        asked: The arguments or tools that request it, for the docs.
        lacking: Reasons by browser that lacks it.
        instead: An alternative for those browsers.
    """

    what: str
    asked: str
    lacking: Mapping[str, str]
    instead: str


ABILITIES: Mapping[str, Ability] = {
    "host_rules": Ability(
        "rules for host names",
        "option `hostRules`",
        {
            "firefox": "it resolves names as the system does",
            "safari": "it resolves names as macOS does",
            "webkitgtk": "it resolves names as the system does",
        },
        "Use Chrome or Edge, or a proxy.",
    ),
    "proxy": Ability(
        "proxy of its own",
        "option `proxy`",
        {"safari": "it uses the proxy of macOS's network settings"},
        "Set it there, or use another browser.",
    ),
    "private": Ability(
        "way to be driven without a port of its own",
        "option `private`",
        {
            "firefox": "geckodriver reaches it by one",
            "safari": "safaridriver chooses how it reaches it",
            "webkitgtk": "its driver reaches it by one",
        },
        "Omit options.private, or use Chrome or Edge.",
    ),
    "args": Ability(
        "switches",
        "`args`",
        {"safari": "safaridriver passes none on"},
        "Omit args, or use another browser.",
    ),
    "headless": Ability(
        "mode without a window",
        "`headless: true`",
        {"safari": "safaridriver always opens one"},
        "Omit headless; Safari ignores the setting, too.",
    ),
    "version": Ability(
        "other version than the one installed",
        "option `browserVersion` on this machine",
        {
            "safari": "it comes with macOS",
            "webkitgtk": "it comes with the system's packages",
        },
        "Omit browserVersion, or use a remote end that has it.",
    ),
    "bidi": Ability(
        "WebDriver BiDi",
        "capability `webSocketUrl`",
        {
            "safari": "safaridriver speaks only classic WebDriver",
            "webkitgtk": "WebKitWebDriver is built without it",
        },
        "Omit webSocketUrl, or use Chrome, Edge or Firefox.",
    ),
    "contexts": Ability(
        "contexts for sessions to share it",
        "`sessionId` with a context, such as shop:ann",
        {
            "firefox": "its driver has one session a browser, which contexts would have to share",
            "safari": "safaridriver knows no browser contexts",
            "webkitgtk": "WebKitWebDriver knows no browser contexts",
        },
        "Start a session of its own, or use Chrome or Edge.",
    ),
    "profile": Ability(
        "persistent profile",
        "`mode: persistent`",
        {
            "safari": "safaridriver always begins with an empty one",
            "webkitgtk": "MiniBrowser always begins with an empty one",
        },
        "Omit mode and profile, or use Chrome, Edge or Firefox.",
    ),
    "attached": Ability(
        "way to be driven once it runs",
        "`mode: attached`",
        {
            "firefox": "it can be driven only if a driver started it",
            "safari": "safaridriver drives only windows that it opened",
            "webkitgtk": "WebKitWebDriver drives only browsers that it started",
        },
        "Use Chrome or Edge, or attach_session for a running driver's session.",
    ),
    "storage_state": Ability(
        "storage state at the start",
        "`storageState`",
        {
            "safari": "safaridriver sets cookies only of the site that is open",
            "webkitgtk": "WebKitWebDriver sets cookies only of the site that is open",
        },
        "Use Chrome or Edge, or sign in again.",
    ),
    "console": Ability(
        "console that can be read",
        "`get_console`",
        {
            "safari": "safaridriver does not report it",
            "webkitgtk": "WebKitWebDriver does not report it",
        },
        "Let the page show its messages, or use Chrome, Edge or Firefox.",
    ),
    "requests": Ability(
        "record of its requests",
        "`get_network`",
        {
            "safari": "safaridriver does not report them",
            "webkitgtk": "WebKitWebDriver does not report them",
        },
        "Use Chrome, Edge or Firefox, or a proxy that keeps a log.",
    ),
    "network": Ability(
        "rules for requests and archives of them",
        "`route`, `har`, options `har` and `hars`",
        {
            "safari": "safaridriver has no command for them",
            "webkitgtk": "WebKitWebDriver has no command for them",
        },
        "Use Chrome, Edge or Firefox.",
    ),
    "full_page": Ability(
        "picture of a whole page",
        "`take_screenshot` with `fullPage`",
        {
            "safari": "safaridriver captures only the visible part",
            "webkitgtk": "WebKitWebDriver captures only the visible part",
        },
        "Scroll, and take a picture of each part; or use Chrome, Edge or Firefox.",
    ),
    "print": Ability(
        "print command",
        "`print_page`",
        {
            "safari": "safaridriver has no command for it",
            "webkitgtk": "WebKitWebDriver has no command for it",
        },
        "Use Chrome, Edge or Firefox.",
    ),
    "emulate": Ability(
        "emulation of devices and conditions",
        "`device`, `emulate`",
        {
            "safari": "safaridriver has no command for it",
            "webkitgtk": "WebKitWebDriver has no command for it",
        },
        "Use Chrome, Edge or Firefox.",
    ),
    "color_scheme": Ability(
        "emulation of a colour scheme",
        "`emulate` with `colorScheme`",
        {
            "firefox": "it has no command for media features",
            "safari": "safaridriver has no command for it",
            "webkitgtk": "WebKitWebDriver has no command for it",
        },
        "Use Chrome or Edge.",
    ),
    "permissions": Ability(
        "policy for permissions",
        "`set_policy` with `permissions`, `notifications`",
        {
            "safari": "safaridriver has no command for it",
            "webkitgtk": "WebKitWebDriver has no command for it",
        },
        "Use Chrome, Edge or Firefox.",
    ),
    "passkeys": Ability(
        "virtual authenticators",
        "`passkeys`",
        {
            "firefox": "the geckodriver that it is tested with has no command for them",
            "safari": "safaridriver has no command for them",
            "webkitgtk": "WebKitWebDriver has no command for them",
        },
        "Use Chrome or Edge.",
    ),
    "file_pickers": Ability(
        "policy for file choosers",
        "`set_policy` with `filePickers`",
        {
            "firefox": "its driver has no command to close one, which is reported all the same",
            "safari": "safaridriver has no command for it",
            "webkitgtk": "WebKitWebDriver has no command for it",
        },
        "Use Chrome or Edge.",
    ),
    "touch": Ability(
        "touch screen",
        "`tap_element`",
        {
            "safari": "macOS has none",
            "webkitgtk": "WebKitWebDriver turns touches into mouse events",
        },
        "Use click_element.",
    ),
}
"""Features by the name that code uses for them."""


def normalize_browser_name(name: Any) -> str:
    """Return the key of TITLES for a browser's name in any case of letters; empty for an unknown browser."""
    lower = str(name or "").lower()
    browser = _ALSO.get(lower, lower)
    return browser if browser in TITLES else ""


def has_ability(ability: str, name: Any) -> bool:
    """Return True if the table knows the browser and does not list it as lacking the feature."""
    browser = normalize_browser_name(name)
    return bool(browser) and browser not in ABILITIES[ability].lacking


def is_firefox(capabilities: Mapping[str, Any]) -> bool:
    """Return True for a session of Firefox, by the capabilities that its remote end reported."""
    return normalize_browser_name(capabilities.get("browserName")) == "firefox"


def may_have_cdp(name: Any) -> bool:
    """Return False for a browser of the table that has no Chrome DevTools Protocol; others are asked."""
    return (normalize_browser_name(name) or "chrome") in CHROMIUM


def require_ability(ability: str, name: Any) -> None:
    """Refuse a feature that this browser lacks; unknown browsers are not refused anything.

    Raises:
        Unsupported: The browser lacks it; the message says why, the hint names the alternative.
    """
    feature, browser = ABILITIES[ability], normalize_browser_name(name)
    if reason := feature.lacking.get(browser):
        raise Unsupported(f"{TITLES[browser]} has no {feature.what}: {reason}.", hint=feature.instead)
