"""Finds browsers and their drivers on this machine: as the settings say, as installed, or by Selenium Manager."""

from __future__ import annotations

import importlib.util
import json
import platform
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator import machine
from orchestrator.errors import StartFailed
from orchestrator.provider import Start
from orchestrator.settings import Settings
from orchestrator_providers.browsers import Browser
from orchestrator_providers.browsers import browser as known

_SYSTEMS = {"safari": ("darwin", "macOS"), "webkitgtk": ("linux", "Linux")}
"""Browsers that are on one system alone, where the driver itself knows the browser."""

_VERSION = re.compile(r"\d+(?:\.\d+)+")
_SAYS_WITHIN = 10.0
"""Seconds in which a browser says its version."""

_INSTALL = {
    "linux": "Install both, for example by: apt-get install chromium chromium-driver; or: dnf install chromium "
    "chromedriver",
    "darwin": "Install both, for example by: brew install --cask google-chrome chromedriver",
    "win32": "Install Chrome by: winget install Google.Chrome; put the chromedriver of the same version on PATH, from "
    "https://googlechromelabs.github.io/chrome-for-testing",
}

_MANAGERS = {
    ("linux", "x86_64"): "linux-x86_64/selenium-manager",
    ("linux", "aarch64"): "linux-arm64/selenium-manager",
    ("darwin", "x86_64"): "macos/selenium-manager",
    ("darwin", "arm64"): "macos/selenium-manager",
    ("win32", "amd64"): "windows/selenium-manager.exe",
    ("win32", "arm64"): "windows/selenium-manager.exe",
}


@dataclass(frozen=True, slots=True)
class Found:
    """A browser and the driver to start it with; None is the browser that the driver knows."""

    browser: Path | None
    driver: Path


class Machine(machine.Machine):
    """Where to look, and whom to ask for what is missing."""

    def find(self, browser: str, start: Start, version: str | None = None) -> Found:
        """A browser and its driver: as the settings say, else what is installed, else what Selenium Manager fetches.

        Of a `version`, such as 156 or 156.0.8078, only that one will do.

        Raises:
            StartFailed: One is missing; the hint says how to get it on this system.
        """
        kind = known(browser)
        name = kind.driver
        if browser in _SYSTEMS:
            return self._alone(kind, start)
        program = _given(start.settings, f"{kind.name}_binary") or self.browser(browser)
        driver = _given(start.settings, name) or self.driver(program, name)
        if version and not (program and _is(program, version)):
            return self._managed(kind, None, None, start, version)
        if program and driver:
            return Found(program, driver)
        if program is None and browser == "chromium":
            raise self._missing(kind, "Chromium was not found.")
        return self._managed(kind, program, driver, start)

    def _alone(self, kind: Browser, start: Start) -> Found:
        system, called = _SYSTEMS[kind.name]
        if self.system != system:
            raise StartFailed(f"{kind.title} is there on {called} alone.", hint="Use another browser, or a remote end.")
        binary = _given(start.settings, "webkitgtk_binary") if kind.name == "webkitgtk" else None
        driver = _given(start.settings, kind.driver.lower()) or self.driver(None, kind.driver)
        if driver is None:
            raise self._missing(kind, f"{kind.driver} was not found.")
        return Found(binary, driver)

    def _managed(
        self, kind: Browser, program: Path | None, driver: Path | None, start: Start, version: str | None = None
    ) -> Found:
        said = _ask_manager(kind, program, start, self.environ, version)
        browser, found = program or _path(said, "browser_path"), driver or _path(said, "driver_path")
        if browser and found:
            return Found(browser, found)
        reason = str(said.get("message") or "").strip().rstrip(".")[:300]
        name = "Chrome or Chromium" if kind.name == "chrome" else kind.title
        what = name if browser is None else f"A {kind.driver} for {browser}"
        what = f"{kind.title} {version}" if version else what
        raise self._missing(
            kind, f"{what} was not found, and Selenium Manager did not fetch it{': ' if reason else ''}{reason}."
        )

    def _missing(self, kind: Browser, message: str) -> StartFailed:
        usual = "Install Chrome or Chromium and the chromedriver of the same version"
        install = (
            _INSTALL.get(self.system, usual) if kind.name == "chrome" else "`orchestrator doctor` says how to get it"
        )
        names = [*([f"{kind.name}_binary"] if kind.name not in _SYSTEMS else []), kind.driver.lower()]
        return StartFailed(message, hint=f"{install}; or set {' and '.join(names)}.")


def _given(settings: Settings, setting: str) -> Path | None:
    path: Path | None = getattr(settings, setting)
    if path is None:
        return None
    # Made absolute, not resolved: many a program is a link that looks at the name it was called by.
    path = path.expanduser().absolute()
    if not path.is_file():
        raise StartFailed(
            f"Setting {setting} names {path}, which is not there.",
            hint=f"Correct {setting} (ORCHESTRATOR_{setting.upper()}), or remove it to let it be found.",
        )
    return path


def _path(said: Mapping[str, Any], name: str) -> Path | None:
    given = said.get(name)
    return Path(given) if given and Path(given).is_file() else None


def _is(program: Path, version: str) -> bool:
    """Whether a browser says that it is of this version, as far as that one goes."""
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=_SAYS_WITHIN, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    found = _VERSION.search(said.stdout)
    return found is not None and f"{found[0]}.".startswith(f"{version.rstrip('.')}.")


def _ask_manager(
    kind: Browser, program: Path | None, start: Start, environ: Mapping[str, str], version: str | None
) -> Mapping[str, Any]:
    """What Selenium Manager answers; an answer without paths when it cannot run."""
    manager = _manager(environ)
    if manager is None:
        return {"message": "there is none for this system"}
    command = [str(manager), "--browser", kind.name, "--language-binding", "python", "--output", "json"]
    command += ["--browser-path", str(program)] if program else []
    command += ["--browser-version", version] if version else []
    # It reports its use to a statistics server unless it is told not to.
    wanted = {name: value for name, value in environ.items() if name.startswith("SE_")} | {"SE_AVOID_STATS": "true"}
    process = start.spawn("selenium-manager", command, env=wanted)
    while start.alive(process):
        start.check()
        time.sleep(0.05)
    text = (start.folder() / "selenium-manager.log").read_text("utf-8", "replace")
    try:
        result = json.JSONDecoder().raw_decode(text[text.index("{") :])[0]["result"]
    except (ValueError, KeyError, TypeError):
        return {"message": text.strip()[-300:]}
    return result if isinstance(result, Mapping) else {}


def _manager(environ: Mapping[str, str]) -> Path | None:
    if given := environ.get("SE_MANAGER_PATH"):
        return Path(given)
    name = _MANAGERS.get((sys.platform, platform.machine().lower()))
    package = importlib.util.find_spec("selenium")
    if name is None or package is None or not package.submodule_search_locations:
        return None
    path = Path(package.submodule_search_locations[0], "webdriver", "common", name)
    return path if path.is_file() else None
