"""Find browsers and drivers: from settings, installed, or by Selenium Manager."""

from __future__ import annotations

import math
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import StartFailed
from orchestrator.provider import Start
from orchestrator.settings import Settings
from orchestrator.system import machine, selenium_manager
from orchestrator.system.deadline import Deadline, poll_until
from orchestrator.system.selenium_manager import ManagerAnswer
from orchestrator_providers.browsers import Browser, browser_named

_SYSTEMS = {"safari": ("darwin", "macOS"), "webkitgtk": ("linux", "Linux")}
"""Browsers of a single operating system, whose driver finds the browser itself."""

_VERSION = re.compile(r"\d+(?:\.\d+)+")
_VERSION_TIMEOUT = 10.0
"""Seconds that a browser may take to print its version."""
_INTERVAL = 0.05

_INSTALL = {
    "linux": "install both, for example by: apt-get install chromium chromium-driver; or: dnf install chromium "
    "chromedriver",
    "darwin": "install both, for example by: brew install --cask google-chrome chromedriver",
    "win32": "install Chrome by: winget install Google.Chrome; put the chromedriver of the same version on PATH, from "
    "https://googlechromelabs.github.io/chrome-for-testing",
}


@dataclass(frozen=True, slots=True)
class BrowserAndDriver:
    """A browser and its driver; None is the browser that the driver finds itself."""

    browser: Path | None
    driver: Path


class DriverFinder(machine.LocalMachine):
    """Finds browsers and drivers on this machine, or fetches them by Selenium Manager."""

    def find(self, browser: str, start: Start, version: str | None = None) -> BrowserAndDriver:
        """Find a browser and its driver: those of the settings, else installed ones, else from Selenium Manager.

        With a `version`, such as 156 or 156.0.8078, only a browser of that version.

        Raises:
            StartFailed: Browser or driver is missing; the hint is how to install it on this system.
        """
        kind = browser_named(browser)
        name = kind.driver
        if browser in _SYSTEMS:
            return self._find_on_its_system(kind, start)
        program = _given(start.settings, f"{kind.name}_binary") or self.browser(browser)
        driver = _given(start.settings, name) or self.driver(program, name)
        if version and not (program and _has_version(program, version)):
            return self._managed(kind, None, None, start, version)
        if program and driver:
            return BrowserAndDriver(program, driver)
        if program is None and browser == "chromium":
            raise self._missing(kind, "Chromium was not found.")
        return self._managed(kind, program, driver, start)

    def _find_on_its_system(self, kind: Browser, start: Start) -> BrowserAndDriver:
        system, title = _SYSTEMS[kind.name]
        if self.system != system:
            raise StartFailed(f"{kind.title} exists on {title} only.", hint="Use another browser, or a remote end.")
        binary = _given(start.settings, "webkitgtk_binary") if kind.name == "webkitgtk" else None
        driver = _given(start.settings, kind.driver.lower()) or self.driver(None, kind.driver)
        if driver is None:
            raise self._missing(kind, f"{kind.driver} was not found.")
        return BrowserAndDriver(binary, driver)

    def _managed(
        self, kind: Browser, program: Path | None, driver: Path | None, start: Start, version: str | None = None
    ) -> BrowserAndDriver:
        answer = _run_manager(kind, program, start, self.environ, version)
        program, driver = program or answer.browser, driver or answer.driver
        if program and driver:
            return BrowserAndDriver(program, driver)
        name = "Chrome or Chromium" if kind.name == "chrome" else kind.title
        missing = name if program is None else f"A {kind.driver} for {program}"
        missing = f"{kind.title} {version}" if version else missing
        raise self._missing(
            kind,
            f"{missing} was not found, and Selenium Manager did not fetch it"
            f"{': ' if answer.reason else ''}{answer.reason}.",
        )

    def _missing(self, kind: Browser, message: str) -> StartFailed:
        usual = "install Chrome or Chromium and the chromedriver of the same version"
        install = f"Run: {machine.own_program()} install browser. Or {_INSTALL.get(self.system, usual)}"
        install = install if kind.name == "chrome" else "`orchestrator doctor` says how to get it"
        names = [*([f"{kind.name}_binary"] if kind.name not in _SYSTEMS else []), kind.driver.lower()]
        return StartFailed(message, hint=f"{install}; or set {' and '.join(names)}.")


def _given(settings: Settings, setting: str) -> Path | None:
    path: Path | None = getattr(settings, setting)
    if path is None:
        return None
    # Made absolute, not resolved: some programs are links that depend on the name by which they are called.
    path = path.expanduser().absolute()
    if not path.is_file():
        raise StartFailed(
            f"Setting {setting} names {path}, which does not exist.",
            hint=f"Correct {setting} (ORCHESTRATOR_{setting.upper()}), or remove it to use an installed one.",
        )
    return path


def _has_version(program: Path, version: str) -> bool:
    """True if a browser prints this version, or one that begins with its parts."""
    command = [str(program), "--version"]
    try:
        process = subprocess.run(
            command,
            env=machine.child_environment(os.environ),
            capture_output=True,
            text=True,
            timeout=_VERSION_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    match = _VERSION.search(process.stdout)
    return match is not None and f"{match[0]}.".startswith(f"{version.rstrip('.')}.")


def _run_manager(
    kind: Browser, program: Path | None, start: Start, environ: Mapping[str, str], version: str | None
) -> ManagerAnswer:
    """Run Selenium Manager as a process of this start; its answer, without paths if it cannot run."""
    manager = selenium_manager.find_manager(environ)
    if manager is None:
        return ManagerAnswer(reason="there is none for this system")
    command = [str(manager), *selenium_manager.manager_arguments(kind.name, program, version)]
    process = start.spawn("selenium-manager", command, env=selenium_manager.manager_variables(environ))

    def has_ended() -> bool:
        start.check()
        return not start.alive(process)

    poll_until(has_ended, Deadline(math.inf), every=_INTERVAL)  # `check` raises at the start's own deadline
    return selenium_manager.parse_answer((start.folder() / "selenium-manager.log").read_text("utf-8", "replace"))
