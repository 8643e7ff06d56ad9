"""What each browser cannot do, and why: the one table that wishes are refused by, and that docs/support.md shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from orchestrator.errors import Unsupported

TITLES = {"chrome": "Chrome", "edge": "Edge", "firefox": "Firefox", "safari": "Safari", "webkitgtk": "WebKitGTK"}
"""The browsers as a start calls them, and as people do; Chromium is one with Chrome here."""

_ALSO = {
    "chromium": "chrome",
    "chrome-headless-shell": "chrome",
    "microsoftedge": "edge",
    "msedge": "edge",
    "minibrowser": "webkitgtk",
}
"""Other names of them, as a start or the capability `browserName` has them."""

CHROMIUM = frozenset({"chrome", "edge"})
"""Those that speak the Chrome DevTools Protocol."""


@dataclass(frozen=True, slots=True)
class Ability:
    """Something that not every browser can do.

    Attributes:
        what: What it is, as a refusal says it.
        asked: How it is asked for, as docs say it.
        lacking: Why not, by browser.
        instead: What to do there.
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
        {"safari": "it takes the one of macOS's network settings"},
        "Set it there, or use another browser.",
    ),
    "args": Ability(
        "switches",
        "`args`",
        {"safari": "safaridriver hands none on"},
        "Leave args away, or use another browser.",
    ),
    "headless": Ability(
        "mode without a window",
        "`headless: true`",
        {"safari": "safaridriver always opens one"},
        "Leave headless away: the setting does not count here.",
    ),
    "version": Ability(
        "other version than the one installed",
        "option `browserVersion` on this machine",
        {
            "safari": "it comes with macOS",
            "webkitgtk": "it comes with the system's packages",
        },
        "Leave browserVersion away, or use a remote end that has it.",
    ),
    "bidi": Ability(
        "WebDriver BiDi",
        "capability `webSocketUrl`",
        {
            "safari": "safaridriver speaks classic WebDriver alone",
            "webkitgtk": "WebKitWebDriver is built without it",
        },
        "Leave webSocketUrl away, or use Chrome, Edge or Firefox.",
    ),
    "contexts": Ability(
        "contexts that sessions could share it by",
        "`sessionId` with a context, such as shop:ann",
        {
            "firefox": "its user contexts have not been tried here",
            "safari": "safaridriver knows no browser contexts",
            "webkitgtk": "WebKitWebDriver knows no browser contexts",
        },
        "Start a session of its own, or use Chrome or Edge.",
    ),
    "profile": Ability(
        "profile that is kept",
        "`mode: persistent`",
        {
            "firefox": "its profiles have not been tried here",
            "safari": "safaridriver always begins with an empty one",
            "webkitgtk": "MiniBrowser always begins with an empty one",
        },
        "Leave mode and profile away, or use Chrome or Edge.",
    ),
    "attached": Ability(
        "way to be driven once it runs",
        "`mode: attached`",
        {
            "firefox": "it must have been started for that, by a driver",
            "safari": "safaridriver drives windows that it opened alone",
            "webkitgtk": "WebKitWebDriver drives browsers that it started alone",
        },
        "Use Chrome or Edge, or attach_session for a driver's session that runs.",
    ),
    "storage_state": Ability(
        "storage state to begin with",
        "`storageState`",
        {
            "firefox": "geckodriver sets cookies of the site that is open alone",
            "safari": "safaridriver sets cookies of the site that is open alone",
            "webkitgtk": "WebKitWebDriver sets cookies of the site that is open alone",
        },
        "Use Chrome or Edge, or sign in once more.",
    ),
    "console": Ability(
        "console that can be read",
        "`get_console`",
        {
            "safari": "safaridriver tells nothing of it",
            "webkitgtk": "WebKitWebDriver tells nothing of it",
        },
        "Have the page show what it says, or use Chrome, Edge or Firefox.",
    ),
    "requests": Ability(
        "record of its requests",
        "`get_network`",
        {
            "safari": "safaridriver tells nothing of it",
            "webkitgtk": "WebKitWebDriver tells nothing of it",
        },
        "Use Chrome, Edge or Firefox, or a proxy that keeps a log.",
    ),
    "network": Ability(
        "rules for requests and recordings of them",
        "`route`, `har`, options `har` and `hars`",
        {
            "firefox": "it has no Chrome DevTools Protocol",
            "safari": "it has no Chrome DevTools Protocol",
            "webkitgtk": "it has no Chrome DevTools Protocol",
        },
        "Use Chrome or Edge.",
    ),
    "full_page": Ability(
        "picture of a whole page",
        "`take_screenshot` with `fullPage`",
        {
            "safari": "safaridriver takes what is seen of it alone",
            "webkitgtk": "WebKitWebDriver takes what is seen of it alone",
        },
        "Scroll, and take a picture of each part; or use Chrome, Edge or Firefox.",
    ),
    "emulate": Ability(
        "emulation of devices, places and networks",
        "`device`, `emulate`",
        {
            "firefox": "it was never tried there",
            "safari": "safaridriver has no command for it",
            "webkitgtk": "WebKitWebDriver has no command for it",
        },
        "Use Chrome or Edge.",
    ),
    "permissions": Ability(
        "policy for permissions",
        "`set_policy` with `permissions`, `notifications`",
        {
            "firefox": "it was never tried there",
            "safari": "safaridriver has no command for it",
            "webkitgtk": "WebKitWebDriver has no command for it",
        },
        "Use Chrome or Edge.",
    ),
    "file_pickers": Ability(
        "policy for pickers of files",
        "`set_policy` with `filePickers`",
        {
            "firefox": "it was never tried there",
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
            "webkitgtk": "WebKitWebDriver makes mouse events of touches",
        },
        "Use click_element.",
    ),
}
"""By the name that the code asks for it."""


def browser(name: Any) -> str:
    """The browser of TITLES that a name stands for, in any case of letters; empty for one that is not among them."""
    lower = str(name or "").lower()
    found = _ALSO.get(lower, lower)
    return found if found in TITLES else ""


def able(ability: str, name: Any) -> bool:
    """Whether a browser can do something, as far as is known: of one that is not in the table nothing is."""
    found = browser(name)
    return bool(found) and found not in ABILITIES[ability].lacking


def need(ability: str, name: Any) -> None:
    """Refuse what this browser cannot do; of one that is not in the table nothing is known.

    Raises:
        Unsupported: It cannot; the message says why, the hint what to do instead.
    """
    wanted, found = ABILITIES[ability], browser(name)
    if reason := wanted.lacking.get(found):
        raise Unsupported(f"{TITLES[found]} has no {wanted.what}: {reason}.", hint=wanted.instead)
