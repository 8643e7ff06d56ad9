"""Browsers on this machine, each session with a driver and a profile of its own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import psutil

from orchestrator import abilities, machine
from orchestrator.errors import DeviceBusy, StartFailed
from orchestrator.models import Endpoint, ProcessInfo, SessionRecord, SessionType, Started
from orchestrator.provider import Provider, Start
from orchestrator.webdriver.capabilities import check, merge
from orchestrator.webdriver.devtools import debugger_address
from orchestrator_providers import chromium, drivers
from orchestrator_providers.attached import attached
from orchestrator_providers.browsers import BROWSERS, Browser
from orchestrator_providers.browsers import browser as known
from orchestrator_providers.local_options import LocalOptions
from orchestrator_providers.screen import screen
from orchestrator_providers.serving import DRIVERS, serve
from orchestrator_providers.wanted import browser_capabilities, check_wishes

_OF_FIREFOX = {"signon.rememberSignons": False}
"""Preferences; otherwise it asks to save each password typed."""

_OF_WEBKITGTK = (
    # Without it MiniBrowser does not let itself be driven.
    "--automation",
    # A page that comes back from its cache loads nothing, which WebKitWebDriver waits for until the end of its time.
    "--enable-page-cache=false",
    # As chromedriver does.
    "--javascript-can-open-windows-automatically=true",
)

_ENDED = "instance exited"
"""What chromedriver says of a browser that did not live until it could be driven."""

_PROCESS = ("goog:processID", "ms:processID", "moz:processID")
"""Where a driver tells the browser's process; elsewhere it is the driver's child."""


_LIKE_THE_FIRST = ("acceptInsecureCerts", "pageLoadStrategy", "timeouts", "unhandledPromptBehavior")
"""What sessions that share a browser have in common."""


class LocalProvider(Provider):
    """The browsers of this machine."""

    name = "local"
    types = frozenset({SessionType.BROWSER})
    browsers = frozenset({*BROWSERS, "chromium"})
    Options = LocalOptions
    modes = frozenset({"incognito", "persistent", "attached"})
    contexts = True

    def endpoint(self, start: Start) -> Endpoint:
        """Start a driver that only this session knows the address of."""
        request, options = start.request, start.options
        if not isinstance(options, LocalOptions):
            raise TypeError(f"options are {type(options).__name__}, not LocalOptions")
        check(request.capabilities)
        kind = known(request.browser)
        version = request.browser_version or options.browser_version
        _refuse(start, options, version)
        if kind.name != "safari" and request.mode != "attached":
            _check_display(start)
        here = drivers.Machine.this()
        if request.mode == "attached":
            wanted = attached(start, kind)
            found = here.find(request.browser, start)
            return Endpoint(remote_url=serve(start, found.driver, kind.driver, {}), capabilities=wanted)
        found = here.find(request.browser, start, version)
        capabilities = _capabilities(start, options, kind, found.browser)
        if kind.name == "safari":
            _claim_safari(start)
        env = screen(start, kind.title, here) if start.headless and kind.name == "webkitgtk" else {}
        return Endpoint(remote_url=serve(start, found.driver, kind.driver, env), capabilities=capabilities)

    def context(self, start: Start, host: SessionRecord) -> Endpoint:
        """A driver session of the driver that runs; BiDi is that of the session which launched the browser."""
        check(start.request.capabilities)
        kind = known(abilities.browser(host.capabilities.get("browserName")))
        asked = {name: host.capabilities[name] for name in _LIKE_THE_FIRST if name in host.capabilities}
        own = {"debuggerAddress": debugger_address(host.capabilities)}
        capabilities = {"browserName": kind.w3c_name, kind.options: own, **asked}
        return Endpoint(remote_url=host.remote_url, capabilities=capabilities)

    def started(self, record: SessionRecord, start: Start) -> Started:  # noqa: ARG002 - the record says enough
        """The browser: it outlives a driver that was killed. One that was attached to is the user's."""
        if record.mode == "attached":
            return Started()
        told = next((record.capabilities[name] for name in _PROCESS if name in record.capabilities), None)
        try:
            found = [psutil.Process(int(told))] if told else _children(record)
            return Started(processes=tuple(_browser(process) for process in found))
        except (psutil.Error, ValueError, TypeError):
            return Started()

    def advice(self, endpoint: Endpoint, said: str) -> str:
        """What to know about a browser that did not start."""
        asked = (endpoint.capabilities.get(one.options) for one in BROWSERS.values() if one.options)
        options = next((one for one in asked if isinstance(one, dict)), {})
        binary = options.get("binary")
        if not binary or not machine.is_snap(Path(binary)):
            return f"{binary} ended at once: run it by hand to see what it lacks." if binary and _ENDED in said else ""
        return (
            "This browser comes from snap and cannot use hidden folders such as ~/.local: set home to a folder "
            "without a dot in its path, or install a browser from a package."
        )


def _refuse(start: Start, options: LocalOptions, version: str | None) -> None:
    """What this browser cannot do is said before anything is looked for."""
    check_wishes(start.request, headless=start.headless)
    wished = {"host_rules": options.host_rules, "proxy": options.proxy, "version": version}
    for ability, value in wished.items():
        if value:
            abilities.need(ability, start.request.browser)


def _check_display(start: Start) -> None:
    # A flag can ask for a browser without a window, too.
    windowless = start.headless or any("headless" in flag or "ozone" in flag for flag in start.request.args)
    if not windowless and not machine.has_display(os.environ):
        raise StartFailed(
            "There is no display that a browser window could open on.",
            hint="Start with headless: true, or run the server under xvfb-run.",
        )


def _claim_safari(start: Start) -> None:
    holder = start.claim("Safari")
    if holder is not None:
        raise DeviceBusy(
            f"Safari has a session already, {holder.id!r}, and takes one at a time.",
            hint="Use that session, close it, or use another browser.",
        )


def _capabilities(start: Start, options: LocalOptions, kind: Browser, browser: Path | None) -> dict[str, Any]:
    request = start.request
    own: dict[str, Any] = {}
    if kind.name in abilities.CHROMIUM:
        own = chromium.asked(start)
        own["args"] += options.flags()
    elif kind.name == "firefox":
        own = {"prefs": dict(_OF_FIREFOX)}
    elif kind.name == "webkitgtk":
        # Scroll bars that lie over the page come and go on pictures of it.
        own = {"args": list(_OF_WEBKITGTK), "useOverlayScrollbars": False}
    if browser is not None:
        own["binary"] = str(browser)
    ours = {**({kind.options: own} if own else {}), **options.capabilities()}
    if abilities.able("bidi", kind.name):
        ours["webSocketUrl"] = True
    if kind.name in abilities.CHROMIUM and request.capabilities.get("webSocketUrl") is False:
        # Its console is read from the driver's log then, which has warnings and errors alone unless asked.
        ours[f"{kind.options.partition(':')[0]}:loggingPrefs"] = {"browser": "ALL"}
    wanted = browser_capabilities(start, headless=start.headless)
    # The version was looked for; a driver is not asked for another one than its own.
    wanted.pop("browserVersion", None)
    if kind.name in abilities.CHROMIUM:
        # A picker of files would wait for somebody before the screen; the other two are as "ignore" alone has them.
        wanted["unhandledPromptBehavior"] = {"default": "ignore", "beforeUnload": "accept", "file": "dismiss"}
    return merge(merge(ours, wanted), request.capabilities)


def _children(record: SessionRecord) -> list[psutil.Process]:
    """What the session's driver started."""
    driver = next((one for one in record.processes if one.name in DRIVERS), None)
    return psutil.Process(driver.pid).children() if driver else []


def _browser(process: psutil.Process) -> ProcessInfo:
    own = process.name()
    name = "chromium" if "chromium" in own.lower() else "chrome" if "chrome" in own.lower() else own
    return ProcessInfo(pid=process.pid, created=process.create_time(), name=name)
