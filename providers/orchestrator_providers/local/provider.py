"""The provider `local`: browsers of this machine, each session with a driver and profile."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import psutil

from orchestrator.errors import DeviceBusy, StartFailed, Unsupported
from orchestrator.models import browser_support
from orchestrator.models.requests import Endpoint, Started
from orchestrator.models.session import ProcessInfo, SessionRecord, SessionType
from orchestrator.provider import Provider, Start
from orchestrator.system import machine, process_identity
from orchestrator.system.host.sandbox import NO_SANDBOX, describe_lack
from orchestrator.webdriver.capabilities import check_capabilities, merge_capabilities
from orchestrator.webdriver.devtools import debugger_address
from orchestrator_providers.browsers import BROWSERS, Browser, browser_named
from orchestrator_providers.capabilities import browser_capabilities, check_supported
from orchestrator_providers.local import chromium_flags, drivers, firefox_profile, resolver_rules
from orchestrator_providers.local.attached import attach_capabilities
from orchestrator_providers.local.driver_process import DRIVERS, start_driver
from orchestrator_providers.local.options import LocalOptions
from orchestrator_providers.local.xvfb import start_xvfb

_OF_WEBKITGTK = (
    # Without it, MiniBrowser cannot be automated.
    "--automation",
    # WebKitWebDriver waits until its timeout for pages restored from this cache, which do not load.
    "--enable-page-cache=false",
    # As chromedriver sets it.
    "--javascript-can-open-windows-automatically=true",
)

_ENDED = "instance exited"
"""chromedriver's error for a browser that exited during its start."""

_PROCESS = ("goog:processID", "ms:processID", "moz:processID")
"""Capabilities with the browser's process id; without them, it is the driver's child process."""

_SHARED_CAPABILITIES = ("acceptInsecureCerts", "pageLoadStrategy", "timeouts", "unhandledPromptBehavior")
"""Capabilities that sessions sharing a browser take over from its first session."""


class LocalProvider(Provider):
    """The browsers of this machine."""

    name = "local"
    types = frozenset({SessionType.BROWSER})
    browsers = frozenset({*BROWSERS, "chromium"})
    Options = LocalOptions
    modes = frozenset({"incognito", "persistent", "attached"})
    contexts = True

    def __init__(self) -> None:
        self._has_warned = False

    def endpoint(self, start: Start) -> Endpoint:
        """Start a driver for this session, at an address that no other process knows."""
        request, options = start.request, start.options
        if not isinstance(options, LocalOptions):
            raise TypeError(f"options are {type(options).__name__}, not LocalOptions")
        check_capabilities(request.capabilities)
        browser = browser_named(request.browser)
        version = request.browser_version or options.browser_version
        _check_abilities(start, options, version)
        if options.private:
            _check_private(start)
        if browser.name != "safari" and request.mode != "attached":
            _check_display(start)
        finder = drivers.DriverFinder.this()
        if request.mode == "attached":
            wanted = attach_capabilities(start, browser)
            programs = finder.find(request.browser, start)
            return Endpoint(remote_url=start_driver(start, programs.driver, browser.driver, {}), capabilities=wanted)
        programs = finder.find(request.browser, start, version)
        capabilities = _capabilities(start, options, browser, programs.browser)
        if browser.name == "safari":
            _claim_safari(start)
        env = start_xvfb(start, browser.title, finder) if start.headless and browser.name == "webkitgtk" else {}
        return Endpoint(remote_url=start_driver(start, programs.driver, browser.driver, env), capabilities=capabilities)

    def context(self, start: Start, host: SessionRecord) -> Endpoint:
        """A further session of the running driver; BiDi is that of the session which launched the browser."""
        check_capabilities(start.request.capabilities)
        if start.settings.sandbox == "require" and any(map(_lacks_sandbox, host.processes)):
            raise StartFailed(
                "The running browser has no sandbox, which the setting sandbox requires.",
                hint="Give the session an id of its own, without a colon, so that it gets a browser of its own; or "
                "close the sessions of this browser first.",
            )
        browser = browser_named(browser_support.normalize_browser_name(host.capabilities.get("browserName")))
        shared = {name: host.capabilities[name] for name in _SHARED_CAPABILITIES if name in host.capabilities}
        own = {"debuggerAddress": debugger_address(host.capabilities)}
        capabilities = {"browserName": browser.w3c_name, browser.options: own, **shared}
        return Endpoint(remote_url=host.remote_url, capabilities=capabilities)

    def started(self, record: SessionRecord, start: Start) -> Started:
        """Record the browser's process, which outlives a killed driver; an attached browser is the user's."""
        if record.mode == "attached":
            return Started()
        pid = next((record.capabilities[name] for name in _PROCESS if name in record.capabilities), None)
        try:
            browsers = [psutil.Process(int(pid))] if pid else _driver_children(record)
            found = tuple(_process_info(process) for process in browsers)
        except (psutil.Error, ValueError, TypeError):
            found = ()
        return Started(processes=found, warnings=self._warn_once(start, found))

    def _warn_once(self, start: Start, browsers: tuple[ProcessInfo, ...]) -> tuple[str, ...]:
        """Return a warning for the first browser that runs without its sandbox, where it was to have it."""
        if self._has_warned or not any(map(_lacks_sandbox, browsers)):
            return ()
        warning = describe_lack(start.settings.sandbox)
        self._has_warned = bool(warning)
        return (warning,) if warning else ()

    def advice(self, endpoint: Endpoint, said: str) -> str:
        """The hint for a browser that did not start."""
        vendor_options = (
            endpoint.capabilities.get(browser.options) for browser in BROWSERS.values() if browser.options
        )
        options = next((given for given in vendor_options if isinstance(given, dict)), {})
        binary = options.get("binary")
        if not binary or not machine.is_snap(Path(binary)):
            return f"{binary} ended at once: run it by hand to see what it lacks." if binary and _ENDED in said else ""
        return (
            "This browser is a snap and cannot use hidden folders such as ~/.local: set home to a folder "
            "without a dot in its path, or install a browser from a package."
        )


def _check_abilities(start: Start, options: LocalOptions, version: str | None) -> None:
    """Refuse what this browser lacks, before programs are searched for."""
    check_supported(start.request, headless=start.headless)
    requested = {
        "host_rules": options.host_rules,
        "proxy": options.proxy,
        "version": version,
        "private": options.private,
    }
    for ability, value in requested.items():
        if value:
            browser_support.require_ability(ability, start.request.browser)


def _check_private(start: Start) -> None:
    request = start.request
    reason = ""
    if request.mode in {"attached", "persistent"}:
        reason = f"a browser of mode {request.mode} is reached by its debugger"
    elif ":" in start.session_id:
        reason = "contexts share a browser by its debugger"
    if reason:
        raise Unsupported(f"Session {start.session_id!r} cannot be private: {reason}.", hint="Omit options.private.")


def _check_display(start: Start) -> None:
    # Switches can make a browser headless, too.
    headless = start.headless or any("headless" in flag or "ozone" in flag for flag in start.request.args)
    if not headless and not machine.has_display(os.environ):
        raise StartFailed(
            "There is no display for a browser window.",
            hint="Start with headless: true, or run the server under xvfb-run.",
        )


def _claim_safari(start: Start) -> None:
    holder = start.claim("Safari")
    if holder is not None:
        raise DeviceBusy(
            f"Safari has a session already, {holder.id!r}, and allows one at a time.",
            hint="Use that session, close it, or use another browser.",
        )


def _capabilities(start: Start, options: LocalOptions, browser: Browser, binary: Path | None) -> dict[str, Any]:
    request = start.request
    vendor: dict[str, Any] = {}
    if browser.name in browser_support.CHROMIUM:
        vendor = chromium_flags.chromium_options(start, binary)
    elif browser.name == "firefox":
        vendor = firefox_profile.firefox_options(start)
    elif browser.name == "webkitgtk":
        # Overlay scroll bars appear in some screenshots only.
        vendor = {"args": list(_OF_WEBKITGTK), "useOverlayScrollbars": False}
    if binary is not None:
        vendor["binary"] = str(binary)
    if options.private:
        vendor["args"].append("--remote-debugging-pipe")
    ours = {**({browser.options: vendor} if vendor else {}), **options.capabilities()}
    if browser_support.has_ability("bidi", browser.name):
        ours["webSocketUrl"] = True
    if browser.name in browser_support.CHROMIUM and request.capabilities.get("webSocketUrl") is False:
        # Without BiDi, the console is read from the driver's log, which by default has warnings and errors only.
        ours[f"{browser.options.partition(':')[0]}:loggingPrefs"] = {"browser": "ALL"}
    wanted = browser_capabilities(start, headless=start.headless, bidi=True)
    # The browser of this version was found already; its driver needs no version.
    wanted.pop("browserVersion", None)
    if browser.name in browser_support.CHROMIUM:
        # A file chooser would wait for a user; the other two values are those that "ignore" alone stands for.
        wanted["unhandledPromptBehavior"] = {"default": "ignore", "beforeUnload": "accept", "file": "dismiss"}
    merged = merge_capabilities(merge_capabilities(ours, wanted), request.capabilities)
    if browser.name in browser_support.CHROMIUM:
        chromium_flags.check_sandbox(start, merged[browser.options])
        resolver_rules.add_to(merged[browser.options], options.resolver_rules(), start.origins)
    return merged


def _driver_children(record: SessionRecord) -> list[psutil.Process]:
    driver = next((process for process in record.processes if process.name in DRIVERS), None)
    return psutil.Process(driver.pid).children() if driver else []


def _lacks_sandbox(browser: ProcessInfo) -> bool:
    try:
        return NO_SANDBOX in psutil.Process(browser.pid).cmdline()
    except psutil.Error:
        return False


def _process_info(process: psutil.Process) -> ProcessInfo:
    program = process.name()
    name = "chromium" if "chromium" in program.lower() else "chrome" if "chrome" in program.lower() else program
    own_helpers = name in {"chromium", "chrome"} or "firefox" in name or "edge" in name
    program = process.exe() if own_helpers else ""
    return ProcessInfo(**process_identity.ProcessKey.of(process.pid)._asdict(), name=name, program=program)
