"""Every switch that a browser's program knows, from the program itself, is allowed on purpose or denied over MCP."""

from __future__ import annotations

import mmap
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from orchestrator.errors import Denied
from orchestrator.lifecycle.boundary.capabilities import OF_BROWSERS
from orchestrator.lifecycle.boundary.rules import Request
from orchestrator.lifecycle.boundary.switches import BY_BROWSER, CHROMIUM, WEBKITGTK
from tests.e2e.harness import Home
from tests.e2e.hostile_values import CHROMIUM_SWITCHES
from tests.servers.mcp import Served

pytestmark = pytest.mark.full

TEXT = re.compile(rb"\0[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?=\0)")
"""A string constant of a program that could be the name of a switch."""
LONGEST = 64
FORMS = ("--{}", "--{}=1", "--{}=/bin/sh -c x", "-{}", "{}", "---{}", "/{}", "--{} ", "-- {}", "--X{}")
"""Spellings of a switch: Chromium's, its driver's, those of Windows, and ones that no list has."""

_OLD = """
aggressive-cache-discard allow-pre-commit-input ash-no-nudges bwsi content-shell-host-window-size deterministic-mode
disable-accelerated-compositing disable-accelerated-layers disable-application-cache disable-background-mode
disable-client-side-phishing-detection disable-cloud-import disable-cloud-policy-on-signin
disable-component-cloud-policy disable-crash-reporter disable-desktop-notifications disable-external-intent-requests
disable-focus-on-load disable-geolocation disable-gpu-program-cache disable-http-cache disable-login-animations
disable-login-screen-apps disable-low-res-tiling disable-modal-animations disable-offer-store-unmasked-wallet-cards
disable-offer-upload-credit-cards disable-offline-load-stale-cache disable-password-generation disable-pepper-3d
disable-permissions-api disable-plugins disable-plugins-discovery disable-profile-shortcut-manager
disable-save-password-bubble disable-search-geolocation-disclosure disable-session-crashed-bubble
disable-signin-promo disable-single-click-autofill disable-spell-checking disable-suggestions-ui
disable-sync-preferences disable-sync-types disable-tab-for-desktop-share disable-threaded-scrolling
disable-translate disable-usb-keyboard-detect disable-voice-input disable-wake-on-wifi disable-xss-auditor
dns-prefetch-disable enable-accelerated-2d-canvas enable-begin-frame-control enable-features-vulkan
enable-surface-synchronization enable-use-zoom-for-dsf enable-webgl export-tagged-pdf font-render-hinting
force-prefers-reduced-transparency force-webrtc-ip-handling-policy high-dpi-support homepage-is-about-blank
ignore-gpu-blacklist ignore-ssl-errors media-cache-size memory-pressure-off no-crash-upload no-service-autorun
ozone-platform-hint process-per-tab safebrowsing-disable-auto-update safebrowsing-disable-download-protection
suppress-message-center-popups use-mock-keychain webrtc-max-cpu-consumption-percentage
webview-disable-safebrowsing-support
"""
NO_LONGER_KNOWN = frozenset(_OLD.split())
"""Allowed switches of older Chromiums and of other systems: testers paste them, and the browser ignores them."""

SOUNDS = re.compile(
    r"(^|-)(cmd|commands?|launcher|prefix|path|dir|directory|files?|ports?|pipe|sandbox(ed)?|extensions?|exec|binary|"
    r"executable|profile|debug|debugging|insecure|security|certificates?|apps?|trace|dump|keys?|plugins?|zygote|hosts?|"
    r"urls?|log|logging|allow|unsafe|unsafely|ignore|origins?|server|socket|pack|install|load|remote|devtools|module|"
    r"automation|web|features|policy)(-|$)"
)
"""Names that sound like programs, files, ports, extensions or fewer protections."""
ON_PURPOSE = frozenset(
    {
        # Their values are names or folders of lists.
        *("disable-features", "enable-features", "disable-blink-features", "enable-blink-features"),
        *("load-extension", "disable-extensions-except"),
        # Where requests go.
        *("proxy-server", "no-proxy-server", "proxy-pac-url", "webrtc-ip-handling-policy"),
        # Off, or stricter.
        *("disable-extensions", "disable-component-extensions-with-background-pages", "disable-default-apps"),
        *("disable-logging", "disable-remote-fonts", "isolate-origins"),
        # How things look, sound and are drawn, and what is told on standard error.
        *("autoplay-policy", "ignore-gpu-blocklist", "enable-unsafe-swiftshader", "auto-open-devtools-for-tabs"),
        *("force-color-profile", "force-raster-color-profile", "log-level"),
        # What pages may use, and what they can see of the driver.
        *("enable-experimental-web-platform-features", "enable-automation"),
    }
)
"""Allowed switches with such a name, each of which someone has looked at."""


@pytest.fixture(scope="module")
def switches(serving: Callable[[str], tuple[Served, Home]]) -> frozenset[str]:
    """The names that the browser's own program holds: the one that runs in a session."""
    server, home = serving("auto")
    server.ok("start_browser", sessionId="switches")
    program = Path(home.process("switches", "chrome").exe())
    server.ok("close_session", sessionId="switches")
    return names_in(program)


def names_in(program: Path) -> frozenset[str]:
    """Return what could be the name of a switch in a program."""
    with program.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return frozenset(one[0][1:].decode() for one in TEXT.finditer(content) if len(one[0]) <= LONGEST)


def test_every_switch_of_the_browser_is_allowed_on_purpose_or_denied(switches: frozenset[str]) -> None:
    """By the rules of the door: as `args`, and in the vendor's options, in each spelling."""
    names = {name for name in switches if "-" in name} - {*CHROMIUM.known} - {*CHROMIUM.left_out}
    names = {name for name in names if not name.startswith("use-fake-")}
    assert len(names) > 4000  # some are no switches, but all switches are among them
    assert {_name(one) for one in CHROMIUM_SWITCHES} & names >= {"utility-cmd-prefix", "remote-debugging-port"}
    passed = [given for name in sorted(names) for given in spellings(name) if passes(BY_BROWSER["chrome"], [given])]
    assert passed == []
    options = ("goog:chromeOptions", "ms:edgeOptions")
    inside = [
        (place, name) for name in sorted(names) for place in options if passes(OF_BROWSERS, {place: {"args": [name]}})
    ]
    assert inside == []


def test_the_door_itself_denies_switches_of_the_browser(
    modern: Served, shared_home: Home, switches: frozenset[str]
) -> None:
    """A sample of them, evenly spread over the whole list, and those that sound dangerous first."""
    names = sorted(
        (name for name in switches if "-" in name and name not in {*CHROMIUM.known, *CHROMIUM.left_out}),
        key=lambda name: (not re.search(r"cmd-prefix|-launcher|remote-debugging|-sandbox$", name), name),
    )
    sample = [*names[:20], *names[20 :: len(names) // 20]]
    answers = {name: modern.call("start_browser", args=[f"--{name}=1"]) for name in sample}
    assert [name for name, answer in answers.items() if answer.code != "denied"] == []
    assert [name for name, answer in answers.items() if f"'--{name}' is denied" not in answer.text] == []
    assert shared_home.records() == []


def test_every_allowed_switch_is_one_of_the_browser_or_known_to_be_ignored(switches: frozenset[str]) -> None:
    """A misspelled one, or one that Chromium gave up, fails here until it is listed above."""
    unknown = {name for name in CHROMIUM.known if name not in switches and not _ends_one_of(name, switches)}
    assert sorted(unknown - NO_LONGER_KNOWN) == []
    assert sorted(NO_LONGER_KNOWN - {*CHROMIUM.known}) == []


def test_an_allowed_switch_that_sounds_dangerous_was_looked_at() -> None:
    """Programs, files, ports, extensions and protections: none of them is allowed by mistake."""
    suspect = {name for name in CHROMIUM.known if SOUNDS.search(name)} - NO_LONGER_KNOWN
    assert sorted(suspect ^ ON_PURPOSE) == []


def test_what_begins_like_an_allowed_stem_is_known(switches: frozenset[str]) -> None:
    """Of `use-fake-…` the browser has these, none of which takes a file or a program."""
    begins = {name for name in switches if name.startswith(CHROMIUM.stems)}
    assert (
        begins
        - {
            *("use-fake-codec-for-peer-connection", "use-fake-device-for-media-stream", "use-fake-ui-for-fedcm"),
            *("use-fake-mjpeg-decode-accelerator", "use-fake-ui-for-digital-identity", "use-fake-ui-for-media-stream"),
        }
        == set()
    )


def test_every_switch_of_minibrowser_is_allowed_on_purpose_or_denied(needs_webkitgtk: None) -> None:  # noqa: ARG001
    """WebKitGTK's browser: files of cookies, filters and sessions, features and settings are denied."""
    [program] = Path("/usr").glob("lib*/**/webkit2gtk-4.1/MiniBrowser")
    names = names_in(program) - {*WEBKITGTK.known}
    assert names >= {"cookies-file", "session-file", "content-filter", "ignore-tls-errors", "features"}
    assert [given for name in sorted(names) for given in spellings(name) if passes(WEBKITGTK, [given])] == []


def spellings(name: str) -> Iterator[str]:
    """Yield the spellings of a switch."""
    yield from (form.format(name) for form in FORMS)
    yield f"--{name.upper()}=1"
    yield f"--lang\0--{name}"


def passes(rule: Any, value: Any) -> bool:
    """Return True if a value of a start is not denied, and is not left out either."""
    request = Request()
    with suppress(Denied):
        rule.apply("", value, request)
        return not request.warnings
    return False


def _name(switch: str) -> str:
    return switch.lstrip("-").partition("=")[0]


def _ends_one_of(name: str, known: frozenset[str]) -> bool:
    """Return True if a longer text of the program ends with this one: a linker stores the two as one."""
    return any(one.endswith(name) for one in known)
