"""Where programs are on this machine: on PATH, in the usual folders, where installers put them; and what it lacks."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psutil

NAMES = {
    "chrome": ("google-chrome", "google-chrome-stable", "chrome", "chromium", "chromium-browser"),
    "chromium": ("chromium", "chromium-browser"),
    "firefox": ("firefox", "firefox-esr"),
    "edge": ("microsoft-edge", "microsoft-edge-stable", "msedge"),
    "safari": ("safaridriver",),
    "webkitgtk": ("WebKitWebDriver",),
}
"""What each browser's program is called, the best first. Chromium serves for Chrome; some are known by their driver."""

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
"""What this machine calls itself; whoever listens there may still hand on to another one."""

_USUAL = {
    "linux": ("/usr/local/bin", "/usr/bin", "/snap/bin", "/opt/google/chrome", "/usr/lib/chromium"),
    "darwin": ("/opt/homebrew/bin", "/usr/local/bin"),
}
"""Folders beside those of PATH: some hosts start a server with next to none."""

_APPS = {
    "darwin": {
        "chrome": ("Google Chrome.app/Contents/MacOS/Google Chrome", "Chromium.app/Contents/MacOS/Chromium"),
        "chromium": ("Chromium.app/Contents/MacOS/Chromium",),
        "firefox": ("Firefox.app/Contents/MacOS/firefox",),
        "edge": ("Microsoft Edge.app/Contents/MacOS/Microsoft Edge",),
    },
    "win32": {
        "chrome": ("Google/Chrome/Application/chrome.exe", "Chromium/Application/chrome.exe"),
        "chromium": ("Chromium/Application/chrome.exe",),
        "firefox": ("Mozilla Firefox/firefox.exe",),
        "edge": ("Microsoft/Edge/Application/msedge.exe",),
    },
}
"""Where installers put a browser, below `/Applications` and `Program Files` or the user's own."""

_MANAGERS = ("apt-get", "dnf", "pacman")
_SMALL = 1 << 30
"""Bytes of `/dev/shm` below which Chromium's tabs crash; Docker gives 64 MB."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Where to look: the environment, the system, and the usual folders of it."""

    environ: Mapping[str, str]
    system: str
    usual: tuple[str, ...]

    @classmethod
    def this(cls) -> Self:
        """The machine we run on."""
        return cls(os.environ, sys.platform, _USUAL.get(sys.platform, ()))

    def browser(self, browser: str) -> Path | None:
        """The program of a browser, from PATH, the usual folders and where installers put it."""
        apps = _APPS.get(self.system, {}).get(browser, ())
        installed = (root / app for app in apps for root in self._roots())
        return _first(self._programs(NAMES[browser])) or _first(installed)

    def driver(self, browser: Path | None, name: str = "chromedriver") -> Path | None:
        """The driver that lies beside the browser, else the first one on PATH and in the usual folders."""
        package = "firefox" if name == "geckodriver" else "chromium"
        names = (f"{package}.{name}", name) if browser and is_snap(browser) else (name,)
        beside = [browser.parent / self._file(name) for name in names] if browser else []
        return _first(beside) or _first(self._programs(names))

    def program(self, *names: str) -> Path | None:
        """The first of these programs that is there; on Windows a command file is one, too."""
        spelled = [f"{name}{end}" for name in names for end in (".exe", ".cmd")] if self.system == "win32" else names
        return _first(folder / name for name in spelled for folder in self._folders())

    def appium(self) -> Path | None:
        """Appium: on PATH, or as npm puts it into `APPIUM_HOME` where that is a folder of packages."""
        home = self.environ.get("APPIUM_HOME")
        name = "appium.cmd" if self.system == "win32" else "appium"
        return self.program("appium") or (_first([Path(home, "node_modules", ".bin", name)]) if home else None)

    def package(self, name: str) -> list[Path]:
        """Where npm puts a global package: beside the folders of programs, on Windows below `APPDATA`."""
        roots = [folder.parent / "lib" for folder in self._folders()]
        if data := self.environ.get("APPDATA"):
            roots.append(Path(data, "npm"))
        return [root / "node_modules" / name for root in roots]

    def android(self, name: str) -> Path | None:
        """A program of the Android SDK, such as adb or emulator: on PATH, or in `ANDROID_HOME`."""
        homes = [self.environ.get(variable) for variable in ("ANDROID_HOME", "ANDROID_SDK_ROOT")]
        folders = [Path(home, part) for home in homes if home for part in ("platform-tools", "emulator")]
        return self.program(name) or _first(folder / self._file(name) for folder in folders)

    def _programs(self, names: Iterable[str]) -> Iterator[Path]:
        return (folder / self._file(name) for name in names for folder in self._folders())

    def _folders(self) -> list[Path]:
        # Not shutil.which: on Windows it takes the working folder first, and that can be a cloned repository's.
        folders = [Path(folder) for folder in (*self.environ.get("PATH", "").split(os.pathsep), *self.usual)]
        return [folder for folder in folders if folder.is_absolute()]

    def _file(self, name: str) -> str:
        return f"{name}.exe" if self.system == "win32" else name

    def _roots(self) -> list[Path]:
        if self.system == "win32":
            names = ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")
            return [Path(self.environ[name]) for name in names if self.environ.get(name)]
        home = self.environ.get("HOME")
        return [Path("/Applications"), *([Path(home, "Applications")] if home else [])]


def command(machine: Machine, commands: Mapping[str, str]) -> str:
    """The command of this system, out of those by system, or on Linux by package manager; empty where there is none."""
    managers = [name for name in commands if name in _MANAGERS]
    if machine.system != "linux" or not managers:
        return commands.get(machine.system, "")
    here = next((name for name in managers if machine.program(name)), managers[0])
    return commands[here] if psutil.Process().uids().effective == 0 else f"sudo {commands[here]}"


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
    if psutil.Process().uids().effective == 0:
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


def needed_switches(environ: Mapping[str, str]) -> list[str]:
    """The switches without which Chromium does not run on this machine."""
    sandbox = ["--no-sandbox"] if unsandboxed(environ) else []
    return [*sandbox, *(["--disable-dev-shm-usage"] if shared_memory_is_small() else [])]


def _first(paths: Iterable[Path]) -> Path | None:
    return next((path for path in paths if path.is_file() and os.access(path, os.X_OK)), None)


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody has now, for programs that refuse port 0; another may take it first."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
