"""Chrome and Chromium on this machine, each session with a chromedriver and a profile of its own."""

from __future__ import annotations

import os
import re
import secrets
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
from pydantic import Field, field_validator

from orchestrator import machine
from orchestrator.errors import InvalidArgument, StartFailed, nearest
from orchestrator.models import Endpoint, ProcessInfo, SessionRecord, SessionType, Started
from orchestrator.provider import Provider, SessionOptions, Start
from orchestrator.webdriver.capabilities import check, merge
from orchestrator_providers import drivers
from orchestrator_providers.status import is_ready

_DRIVER = "chromedriver"
_STARTED = re.compile(r"started successfully on port (\d+)")
_LISTENS_WITHIN = 20.0
"""Seconds until a chromedriver must answer; measured: 0.02."""

_TRIES = 3
_PORT_TAKEN = "Address already in use"
"""chromedriver chooses a free port for IPv6, then wants the same one for IPv4, where another may have it."""

_POLL = 0.005
_BROWSER_UI = 87
"""Height of tabs and address bar: a window of 807 shows a page of 720."""

_FLAGS = (
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A choice of search engine covers the first page in the European Economic Area.
    "--disable-search-engine-choice-screen",
    # No question for the password of the desktop's or macOS's key ring.
    "--password-store=basic",
    "--use-mock-keychain",
    # The note that the browser is automated slides in up to 0.4 s after the start and takes 56 pixels from the page.
    "--disable-infobars",
    # A page of the browser's own for the list below its address bar: loaded at every start, it takes as much processor
    # time as the rest of the start, and 50 MB.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",
    # Sessions side by side have covered windows and background tabs; their timers and frames must not slow down.
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
)

_PREFERENCES = {
    # Otherwise a window asks to save each password typed, and another to change one that is known from a leak.
    "credentials_enable_service": False,
    "profile.password_manager_leak_detection": False,
    # An empty page instead of the new-tab page, which has scripts and texts of its own.
    "session.restore_on_startup": 4,
    "session.startup_urls": ["about:blank"],
}

_RULE = re.compile(r"MAP\s+[^\s,]+\s+[^\s,]+|EXCLUDE\s+[^\s,]+", re.IGNORECASE)
_HOST = re.compile(r"[^\s,]+")
_PROXY_TYPES = ("autodetect", "direct", "manual", "pac", "system")


class LocalOptions(SessionOptions):
    """What is rare in a local start."""

    browser_version: str | None = Field(
        default=None, description="Such as 156; where another one is installed, Selenium Manager is asked for it."
    )
    host_rules: dict[str, str] | str | None = Field(
        default=None,
        description="Where host names lead: {'shop.test': '127.0.0.1:8000'}, or text for --host-resolver-rules.",
    )
    proxy: dict[str, Any] | str | None = Field(
        default=None,
        description="A W3C proxy object, or a URL: http://host:port, socks5://host:port. Loopback is not proxied.",
    )
    accept_insecure_certs: bool | None = Field(default=None, description="Load pages whose certificate is not trusted.")

    @field_validator("host_rules")
    @classmethod
    def _rules(cls, given: dict[str, str] | str | None) -> dict[str, str] | str | None:
        if isinstance(given, dict) and not all(map(_HOST.fullmatch, (*given, *given.values()))):
            raise ValueError("host names and addresses have no spaces and commas")
        if isinstance(given, str) and not all(_RULE.fullmatch(rule.strip()) for rule in given.split(",")):
            raise ValueError("write 'MAP host address' or 'EXCLUDE host', separated by commas")
        return given

    @field_validator("proxy")
    @classmethod
    def _proxy(cls, given: dict[str, Any] | str | None) -> dict[str, Any] | None:
        if isinstance(given, str):
            return _proxy_of(given)
        if given is not None and given.get("proxyType") not in _PROXY_TYPES:
            raise ValueError(f"proxyType must be one of {', '.join(_PROXY_TYPES)}")
        return given

    def flags(self) -> list[str]:
        """The browser's command line for these options."""
        rules = self.host_rules
        if isinstance(rules, dict):
            rules = ",".join(f"MAP {host} {address}" for host, address in rules.items())
        return [f"--host-resolver-rules={rules}"] if rules else []

    def capabilities(self) -> dict[str, Any]:
        """The W3C capabilities for these options."""
        wanted = {"proxy": self.proxy, "acceptInsecureCerts": self.accept_insecure_certs}
        return {name: value for name, value in wanted.items() if value is not None}


class LocalProvider(Provider):
    """Chrome or Chromium on this machine."""

    name = "local"
    types = frozenset({SessionType.BROWSER})
    browsers = drivers.BROWSERS
    Options = LocalOptions

    def endpoint(self, start: Start) -> Endpoint:
        """Start a chromedriver that only this session knows the address of."""
        request = start.request
        if request.browser not in self.browsers:
            raise InvalidArgument(
                f"The local provider has no browser {request.browser!r}.", hint=nearest(request.browser, self.browsers)
            )
        check(request.capabilities)
        _check_display(start)
        options = start.options
        wanted = request.browser_version or (options.browser_version if isinstance(options, LocalOptions) else None)
        found = drivers.Machine.this().find(request.browser, start, wanted)
        capabilities = _capabilities(start, found.browser)
        # Without a random path any page could end the driver: <img src="http://127.0.0.1:N/shutdown">.
        base = f"/{secrets.token_hex(16)}"
        port = _serve(start, [str(found.driver), "--port=0", f"--url-base={base}"], base)
        return Endpoint(remote_url=f"http://127.0.0.1:{port}{base}", capabilities=capabilities)

    def started(self, record: SessionRecord, start: Start) -> Started:  # noqa: ARG002 - its capabilities say enough
        """The browser: it outlives a chromedriver that was killed."""
        pid = record.capabilities.get("goog:processID")
        try:
            process = psutil.Process(int(pid or -1))
            name = "chromium" if "chromium" in process.name().lower() else "chrome"
            browser = ProcessInfo(pid=process.pid, created=process.create_time(), name=name)
            return Started(processes=(browser,))
        except (psutil.Error, ValueError, TypeError):
            return Started()

    def advice(self, endpoint: Endpoint, said: str) -> str:  # noqa: ARG002 - it holds for each of them
        """What to know about a browser that did not start."""
        options = endpoint.capabilities.get("goog:chromeOptions")
        binary = options.get("binary") if isinstance(options, dict) else None
        if not binary or not machine.is_snap(Path(binary)):
            return ""
        return (
            "This Chromium comes from snap and cannot use hidden folders such as ~/.local: set home to a folder "
            "without a dot in its path, or install Chrome or Chromium from a package."
        )


def _check_display(start: Start) -> None:
    # A flag can ask for a browser without a window, too.
    windowless = start.headless or any("headless" in flag or "ozone" in flag for flag in start.request.args)
    if not windowless and not machine.has_display(os.environ):
        raise StartFailed(
            "There is no display that a browser window could open on.",
            hint="Start with headless: true, or run the server under xvfb-run.",
        )


def _capabilities(start: Start, browser: Path) -> dict[str, Any]:
    options, request = start.options, start.request
    if not isinstance(options, LocalOptions):
        raise TypeError(f"options are {type(options).__name__}, not LocalOptions")
    limit = start.settings.command_timeout
    # A little below our own limit, so that the driver is the first to give up and the session lives on.
    patience = round(max(limit - 2, limit / 2) * 1000)
    ours = {
        "browserName": "chrome",
        # The rest of loading is waited for inside the page, in slices: a command that waits cannot be interrupted.
        # With "none", a server that does not answer blocks every later command of the session.
        "pageLoadStrategy": "eager",
        # Dialogs are answered by the session's policy, which must first see them.
        "unhandledPromptBehavior": "ignore",
        "timeouts": {"script": patience, "pageLoad": patience},
        "goog:chromeOptions": {"binary": str(browser), "args": _flags(start, options), "prefs": dict(_PREFERENCES)},
        **options.capabilities(),
    }
    return merge(merge(ours, {"goog:chromeOptions": {"args": request.args}}), request.capabilities)


def _flags(start: Start, options: LocalOptions) -> list[str]:
    viewport = start.request.viewport
    flags = [*_FLAGS, f"--user-data-dir={start.folder() / 'profile'}"]
    flags.append(f"--window-size={viewport.width},{viewport.height + _BROWSER_UI}")
    if start.headless:
        flags.append("--headless=new")
    if machine.unsandboxed(os.environ):
        flags.append("--no-sandbox")
    if machine.shared_memory_is_small():
        flags.append("--disable-dev-shm-usage")
    return [*flags, *options.flags()]


def _proxy_of(url: str) -> dict[str, Any]:
    """A proxy's URL as the W3C object; it is never repeated in an error, since it can hold a password."""
    try:
        parts = urlsplit(url)
        address = f"{parts.hostname or ''}:{parts.port or (1080 if parts.scheme.startswith('socks') else 80)}"
    except ValueError:
        raise ValueError("the proxy is not a URL") from None
    if "@" in parts.netloc:
        raise ValueError("Chrome takes no user and password for a proxy; use one that asks for none")
    if not parts.hostname:
        raise ValueError("the proxy's URL names no host")
    if parts.scheme in {"socks4", "socks5"}:
        return {"proxyType": "manual", "socksProxy": address, "socksVersion": int(parts.scheme[-1])}
    if parts.scheme == "http":
        return {"proxyType": "manual", "httpProxy": address, "sslProxy": address}
    raise ValueError("the proxy's URL begins with http://, socks4:// or socks5://")


def _serve(start: Start, command: list[str], base: str) -> int:
    """Start a driver and return its port; one whose port was taken from under it is started once more."""
    for _ in range(_TRIES - 1):
        try:
            return _listening(start, start.spawn(_DRIVER, command), base)
        except StartFailed as error:
            if _PORT_TAKEN not in error.message:
                raise
    return _listening(start, start.spawn(_DRIVER, command), base)


def _listening(start: Start, driver: ProcessInfo, base: str) -> int:
    """The port that the driver chose, once it answers there."""
    log = start.folder() / f"{_DRIVER}.log"
    until = time.monotonic() + _LISTENS_WITHIN
    while True:
        start.check()
        # Looked at before the log: what a driver wrote before it ended is then complete.
        runs = start.alive(driver)
        text = log.read_text("utf-8", "replace")
        port = _STARTED.search(text)
        if port and is_ready(int(port[1]), base):
            return int(port[1])
        if not runs or time.monotonic() > until:
            state = "does not answer" if runs else "ended at once"
            said = " ".join(text.split())[-300:]
            raise StartFailed(
                f"{_DRIVER} {state}{': ' if said else ''}{said}.", hint="Run it by hand to see what it lacks."
            )
        time.sleep(_POLL)
