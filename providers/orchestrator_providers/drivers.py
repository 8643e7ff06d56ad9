"""Finds browsers and their drivers on this machine, and what this machine asks of their command lines."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.errors import StartFailed
from orchestrator.provider import Start

NAMES = {
    "chrome": ("google-chrome", "google-chrome-stable", "chrome", "chromium", "chromium-browser"),
    "chromium": ("chromium", "chromium-browser"),
}
"""What each browser's program is called, the best first; Chromium serves for Chrome."""

_USUAL = {
    "linux": ("/usr/local/bin", "/usr/bin", "/snap/bin", "/opt/google/chrome", "/usr/lib/chromium"),
    "darwin": ("/opt/homebrew/bin", "/usr/local/bin"),
}
"""Folders beside those of PATH: some hosts start a server with next to none."""

_APPS = {
    "darwin": {
        "chrome": ("Google Chrome.app/Contents/MacOS/Google Chrome", "Chromium.app/Contents/MacOS/Chromium"),
        "chromium": ("Chromium.app/Contents/MacOS/Chromium",),
    },
    "win32": {
        "chrome": ("Google/Chrome/Application/chrome.exe", "Chromium/Application/chrome.exe"),
        "chromium": ("Chromium/Application/chrome.exe",),
    },
}
"""Where installers put a browser, below `/Applications` and `Program Files` or the user's own."""

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

_SMALL = 1 << 30
"""Bytes of `/dev/shm` below which Chromium's tabs crash; Docker gives 64 MB."""


@dataclass(frozen=True, slots=True)
class Found:
    """A browser and the driver to start it with."""

    browser: Path
    driver: Path


@dataclass(frozen=True, slots=True)
class Machine:
    """Where to look: the environment, the system, and the usual folders of it."""

    environ: Mapping[str, str]
    system: str
    usual: tuple[str, ...]

    @classmethod
    def this(cls) -> Machine:
        """The machine we run on."""
        return cls(os.environ, sys.platform, _USUAL.get(sys.platform, ()))

    def find(self, browser: str, start: Start) -> Found:
        """A browser and its driver: as the settings say, else what is installed, else what Selenium Manager fetches.

        Raises:
            StartFailed: One is missing; the hint says how to get it on this system.
        """
        program = _given("chrome_binary", start.settings.chrome_binary) or self.browser(browser)
        driver = _given("chromedriver", start.settings.chromedriver) or self.driver(program)
        if program and driver:
            return Found(program, driver)
        if program is None and browser == "chromium":
            raise self._missing("Chromium was not found.")
        return self._managed(program, driver, start)

    def browser(self, browser: str) -> Path | None:
        """The program of a browser, from PATH, the usual folders and where installers put it."""
        apps = _APPS.get(self.system, {}).get(browser, ())
        installed = (root / app for app in apps for root in self._roots())
        return _first(self._programs(NAMES[browser])) or _first(installed)

    def driver(self, browser: Path | None) -> Path | None:
        """The chromedriver that lies beside the browser, else the first one on PATH and in the usual folders."""
        names = ("chromium.chromedriver", "chromedriver") if browser and is_snap(browser) else ("chromedriver",)
        beside = [browser.parent / self._file(name) for name in names] if browser else []
        return _first(beside) or _first(self._programs(names))

    def _programs(self, names: Iterable[str]) -> Iterator[Path]:
        # Not shutil.which: on Windows it takes the working folder first, and that can be a cloned repository's.
        folders = [Path(folder) for folder in (*self.environ.get("PATH", "").split(os.pathsep), *self.usual)]
        return (folder / self._file(name) for name in names for folder in folders if folder.is_absolute())

    def _file(self, name: str) -> str:
        return f"{name}.exe" if self.system == "win32" else name

    def _roots(self) -> list[Path]:
        if self.system == "win32":
            names = ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")
            return [Path(self.environ[name]) for name in names if self.environ.get(name)]
        home = self.environ.get("HOME")
        return [Path("/Applications"), *([Path(home, "Applications")] if home else [])]

    def _managed(self, program: Path | None, driver: Path | None, start: Start) -> Found:
        said = _ask_manager(program, start, self.environ)
        browser, chromedriver = program or _path(said, "browser_path"), driver or _path(said, "driver_path")
        if browser and chromedriver:
            return Found(browser, chromedriver)
        reason = str(said.get("message") or "").strip().rstrip(".")[:300]
        what = "Chrome or Chromium" if browser is None else f"A chromedriver for {browser}"
        raise self._missing(
            f"{what} was not found, and Selenium Manager did not fetch it{': ' if reason else ''}{reason}."
        )

    def _missing(self, message: str) -> StartFailed:
        install = _INSTALL.get(self.system, "Install Chrome or Chromium and the chromedriver of the same version")
        return StartFailed(message, hint=f"{install}; or set chrome_binary and chromedriver.")


def is_snap(browser: Path) -> bool:
    """Whether this Chromium comes from snap: confined, it cannot use folders whose names begin with a dot."""
    if browser.is_relative_to("/snap"):
        return True
    try:  # Ubuntu's chromium-browser is a script that starts the snap.
        with browser.open("rb") as file:
            head = file.read(2048)
    except OSError:
        return False
    return head.startswith(b"#!") and b"/snap/bin" in head


def unsandboxed(environ: Mapping[str, str]) -> str | None:
    """Why Chromium's sandbox cannot work here, None when it can: it refuses root, and containers deny it namespaces."""
    if sys.platform != "linux":
        return None
    if os.geteuid() == 0:
        return "running as root"
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists() or environ.get("KUBERNETES_SERVICE_HOST"):
        return "inside a container"
    return None


def has_display(environ: Mapping[str, str]) -> bool:
    """Whether a window can open here."""
    return sys.platform != "linux" or bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


def shared_memory_is_small() -> bool:
    """Whether tabs would crash for want of shared memory."""
    try:
        return sys.platform == "linux" and shutil.disk_usage("/dev/shm").total < _SMALL  # noqa: S108 - only measured
    except OSError:
        return True


def _given(setting: str, path: Path | None) -> Path | None:
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


def _first(paths: Iterable[Path]) -> Path | None:
    return next((path for path in paths if path.is_file() and os.access(path, os.X_OK)), None)


def _path(said: Mapping[str, Any], name: str) -> Path | None:
    given = said.get(name)
    return Path(given) if given and Path(given).is_file() else None


def _ask_manager(program: Path | None, start: Start, environ: Mapping[str, str]) -> Mapping[str, Any]:
    """What Selenium Manager answers; an answer without paths when it cannot run."""
    manager = _manager(environ)
    if manager is None:
        return {"message": "there is none for this system"}
    command = [str(manager), "--browser", "chrome", "--language-binding", "python", "--output", "json"]
    command += ["--browser-path", str(program)] if program else []
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
