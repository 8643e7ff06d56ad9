"""Finds browsers, drivers and other programs on this machine, and its limits for Chromium."""

from __future__ import annotations

import ipaddress
import os
import shlex
import shutil
import socket
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Self

import psutil

from orchestrator.models.comma_lists import split_list
from orchestrator.settings import Settings
from orchestrator.system.host import sandbox

NAMES = {
    "chrome": ("google-chrome", "google-chrome-stable", "chrome", "chromium", "chromium-browser"),
    "chromium": ("chromium", "chromium-browser"),
    "firefox": ("firefox", "firefox-esr"),
    "edge": ("microsoft-edge", "microsoft-edge-stable", "msedge"),
    "safari": ("safaridriver",),
    "webkitgtk": ("WebKitWebDriver",),
}
"""Program names of each browser, in order of preference: Chromium serves as Chrome, two are found by their driver."""

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
"""Host names of this machine; a server there may still forward to another one."""

_USUAL = {
    "linux": ("/usr/local/bin", "/usr/bin", "/snap/bin", "/opt/google/chrome", "/usr/lib/chromium"),
    "darwin": ("/opt/homebrew/bin", "/usr/local/bin"),
}
"""Folders searched after those of PATH, since some MCP hosts start a server with a nearly empty PATH."""

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
"""Paths of installed browsers below `/Applications` and `Program Files`, or the user's own such folders."""

_DOWNLOADED = {
    "linux": "chrome",
    "darwin": "Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
    "win32": "chrome.exe",
}
"""The program in a folder of Chrome for Testing, as Selenium Manager unpacks it."""

_VARIABLES = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR", "TMP", "TEMP"),
    *("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_*", "DBUS_SESSION_BUS_ADDRESS", "FONTCONFIG_*"),
    *(
        "LD_LIBRARY_PATH",
        "GTK_*",
        "GDK_*",
        "GIO_*",
        "GST_*",
        "GSETTINGS_*",
        "NO_AT_BRIDGE",
        "PULSE_*",
        "LIBGL_*",
        "MESA_*",
    ),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY", "SSL_CERT_*", "NODE_EXTRA_CA_CERTS"),
    *(
        "VK_*",
        "WEBKIT_*",
        "JAVA_HOME",
        "ANDROID_*",
        "ADB_*",
        "APPIUM_HOME",
        "DEVELOPER_DIR",
        "CHROME_DEVEL_SANDBOX",
        "MOZ_*",
    ),
    # Windows.
    *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "OS", "COMPUTERNAME", "SESSIONNAME", "PUBLIC"),
    *("USERNAME", "USERDOMAIN", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "ALLUSERSPROFILE"),
    *("PROGRAMDATA", "PROGRAMFILES*", "PROGRAMW6432", "COMMONPROGRAM*", "NUMBER_OF_PROCESSORS", "PROCESSOR_*"),
)
"""Environment variables that started programs get, as patterns in upper case; any other may be somebody's key."""

_MANAGERS = ("apt-get", "dnf", "pacman")
_SMALL = 1 << 30
"""Bytes of `/dev/shm` below which Chromium's tabs crash; Docker gives 64 MB."""
CGROUP = Path("/sys/fs/cgroup")
"""Folder of a container's limits."""


@dataclass(frozen=True, slots=True)
class LocalMachine:
    """A machine to search for programs: its environment, system and usual folders."""

    environ: Mapping[str, str]
    system: str
    usual: tuple[str, ...]

    @classmethod
    def this(cls) -> Self:
        """Return the machine that this process runs on."""
        return cls(os.environ, sys.platform, _USUAL.get(sys.platform, ()))

    def browser(self, browser: str) -> Path | None:
        """Find a browser's program: on PATH, in the usual folders, at its installer's place, or downloaded."""
        apps = _APPS.get(self.system, {}).get(browser, ())
        installed = (root / app for app in apps for root in self._roots())
        downloaded = self._downloaded() if browser == "chrome" else ()
        return _first(self._programs(NAMES[browser])) or _first(installed) or _first(downloaded)

    def driver(self, browser: Path | None, name: str = "chromedriver") -> Path | None:
        """Find a driver beside the browser or downloaded with it, else on PATH or in the usual folders."""
        package = "firefox" if name == "geckodriver" else "chromium"
        names = (f"{package}.{name}", name) if browser and is_snap(browser) else (name,)
        beside = [browser.parent / self._file(name) for name in names] if browser else []
        return _first([*beside, *self._downloaded_with(browser, name)]) or _first(self._programs(names))

    def downloads(self) -> Path | None:
        """Return the folder into which Selenium Manager downloads browsers and drivers."""
        if given := self.environ.get("SE_CACHE_PATH"):
            return Path(given).expanduser()
        home = self.environ.get("USERPROFILE" if self.system == "win32" else "HOME")
        return Path(home, ".cache", "selenium") if home else None

    def program(self, *names: str) -> Path | None:
        """Find the first of these programs that is installed; on Windows `.cmd` files count, too."""
        ends = {name: ("",) if self.system != "win32" or Path(name).suffix else (".exe", ".cmd") for name in names}
        spelled = [f"{name}{end}" for name in names for end in ends[name]]
        return _first(folder / name for name in spelled for folder in self._folders())

    def appium(self) -> Path | None:
        """Find Appium on PATH, or among the npm packages of `APPIUM_HOME`."""
        home = self.environ.get("APPIUM_HOME")
        name = "appium.cmd" if self.system == "win32" else "appium"
        return self.program("appium") or (_first([Path(home, "node_modules", ".bin", name)]) if home else None)

    def package(self, name: str) -> list[Path]:
        """Return the possible folders of a global npm package: in `lib` beside folders of programs, or in `APPDATA`."""
        roots = [folder.parent / "lib" for folder in self._folders()]
        if data := self.environ.get("APPDATA"):
            roots.append(Path(data, "npm"))
        return [root / "node_modules" / name for root in roots]

    def android(self, name: str) -> Path | None:
        """Find a program of the Android SDK, such as adb or emulator, on PATH or in `ANDROID_HOME`."""
        homes = [self.environ.get(variable) for variable in ("ANDROID_HOME", "ANDROID_SDK_ROOT")]
        folders = [Path(home, part) for home in homes if home for part in ("platform-tools", "emulator")]
        return self.program(name) or _first(folder / self._file(name) for folder in folders)

    def _downloaded(self) -> list[Path]:
        """Return the programs of Chrome for Testing that Selenium Manager has downloaded, the newest version first."""
        folder = self.downloads()
        versions = folder.glob("chrome/*/*") if folder else ()
        newest = sorted(versions, key=lambda version: _numbers(version.name), reverse=True)
        return [version / _DOWNLOADED.get(self.system, "chrome") for version in newest]

    def _downloaded_with(self, browser: Path | None, driver: str) -> list[Path]:
        """Return the place of a driver of the same version as a downloaded browser; nothing for other browsers."""
        folder = self.downloads()
        if browser is None or folder is None or not browser.is_relative_to(folder / "chrome"):
            return []
        return [folder.joinpath(driver, *browser.relative_to(folder / "chrome").parts[:2], self._file(driver))]

    def _programs(self, names: Iterable[str]) -> Iterator[Path]:
        return (folder / self._file(name) for name in names for folder in self._folders())

    def _folders(self) -> list[Path]:
        # Not shutil.which: on Windows it searches the working folder first, which can be a cloned repository.
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


def command(machine: LocalMachine, commands: Mapping[str, str]) -> str:
    """Choose this system's command from a mapping by system or, on Linux, by package manager; empty without one."""
    managers = [name for name in commands if name in _MANAGERS]
    if machine.system != "linux" or not managers:
        return commands.get(machine.system, "")
    manager = next((name for name in managers if machine.program(name)), managers[0])
    return commands[manager] if psutil.Process().uids().effective == 0 else f"sudo {commands[manager]}"


def is_snap(browser: Path) -> bool:
    """Return True if this Chromium is a snap: confined, it cannot use folders whose names begin with a dot."""
    if browser.is_relative_to("/snap"):
        return True
    try:  # Ubuntu's chromium-browser is a script that starts the snap.
        with browser.open("rb") as file:
            head = file.read(2048)
    except OSError:
        return False
    return head.startswith(b"#!") and b"/snap/bin" in head


def has_display(environ: Mapping[str, str]) -> bool:
    """Return True if a window can open on this machine."""
    return sys.platform != "linux" or bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


def shared_memory_is_small() -> bool:
    """Return True if `/dev/shm` is so small that tabs would crash."""
    try:
        return sys.platform == "linux" and shutil.disk_usage("/dev/shm").total < _SMALL  # noqa: S108 - only measured
    except OSError:
        return True


def needed_switches(settings: Settings, browser: Path | None = None) -> list[str]:
    """Return the switches that Chromium needs to run on this machine.

    Raises:
        StartFailed: It cannot have its sandbox, which the setting `sandbox` requires.
    """
    memory = ["--disable-dev-shm-usage"] if shared_memory_is_small() else []
    return [*sandbox.find_switches(settings.sandbox, browser), *memory]


def available_memory(cgroup: Path = CGROUP) -> int | None:
    """Return the bytes that are available, at most those that a container still allows; None where it is not known.

    Source: https://docs.kernel.org/admin-guide/cgroup-v2.html (`memory.max`, `memory.current`, `memory.stat`).
    """
    machine = psutil.virtual_memory().available
    try:
        limit, used = (int((cgroup / name).read_text("ascii")) for name in ("memory.max", "memory.current"))
        facts = dict(line.split() for line in (cgroup / "memory.stat").read_text("ascii").splitlines())
    except (OSError, ValueError):  # no container, or one without a limit: `max`
        return int(machine)
    return min(int(machine), max(0, limit - used + int(facts.get("inactive_file", 0))))


def own_program() -> str:
    """Return what to type for this installation's `orchestrator`: its name where PATH leads to it, else its path."""
    beside = Path(sys.executable).with_name("orchestrator.exe" if sys.platform == "win32" else "orchestrator")
    found = shutil.which("orchestrator")
    if found and Path(found).resolve() == beside.resolve():
        return "orchestrator"
    return shlex.quote(str(beside)) if beside.is_file() else f"{shlex.quote(sys.executable)} -m orchestrator"


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]


def _first(paths: Iterable[Path]) -> Path | None:
    return next((path for path in paths if path.is_file() and os.access(path, os.X_OK)), None)


def is_this_machine(host: str) -> bool:
    """Return True for a name or an address of this machine; names are looked up, and an unknown one is not."""
    try:
        found = {str(info[4][0]).partition("%")[0] for info in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    own = {one.address.partition("%")[0] for addresses in psutil.net_if_addrs().values() for one in addresses}
    return any(address in own or _is_loopback(address) for address in found)


def _is_loopback(address: str) -> bool:
    parsed = ipaddress.ip_address(address)
    mapped = getattr(parsed, "ipv4_mapped", None)
    parsed = mapped or parsed
    return parsed.is_loopback or parsed.is_unspecified


def child_environment(environ: Mapping[str, str], more: str = "") -> dict[str, str]:
    """Return the variables that programs which we start get; `more` has further patterns of names, joined by commas."""
    patterns = (*_VARIABLES, *map(str.upper, split_list(more)))
    return {name: value for name, value in environ.items() if any(fnmatchcase(name.upper(), one) for one in patterns)}


def free_port() -> int:
    """Return a free TCP port of 127.0.0.1, for programs that refuse port 0; another process may take it first."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
