"""An Appium server of our own with the two simulated phones. For demonstrations, examples and tests."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil
from selenium.webdriver.common.selenium_manager import SeleniumManager

from orchestrator.system import http
from orchestrator.system.deadline import Deadline, poll_until
from orchestrator.system.machine import free_port

NODE = (20, 19)
"""The oldest Node.js that Appium runs on."""

MANIFEST = Path(__file__).parent / "appium"
"""The folder with package.json and package-lock.json of the Appium server that this release was tested with."""

_DEVICE = Path(__file__).parent / "device"
_DRIVERS = {"appium-sim-xcuitest-driver": "ios", "appium-sim-uiautomator2-driver": "android"}
_HOST = "127.0.0.1"
_READY_WITHIN = 30.0
_ENDED_WITHIN = 15.0
_POLL = 0.05
_PORTS = 5
"""Ports that are tried: another program may take a free one before Appium does."""

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


class DeviceServerFailed(Exception):
    """The server cannot run; the message names what is missing, or has the end of Appium's log."""


def appium_folder() -> Path:
    """Return the folder into which `make appium` and `install_appium` put Appium; it need not exist."""
    return Path(sys.prefix) / "appium"


def missing(folder: Path | None = None) -> str | None:
    """Return what the server lacks on this machine, as a sentence; None if nothing."""
    node = shutil.which("node")
    if node is None:
        return "Node.js is not installed: the simulated phones need Node.js 20.19 or newer."
    output = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30, check=False).stdout
    version = re.match(r"v(\d+)\.(\d+)", output)
    if version is None or (int(version[1]), int(version[2])) < NODE:
        return f"{node} is {output.strip() or 'broken'}: the simulated phones need Node.js 20.19 or newer."
    if not _script(folder or appium_folder()).is_file():
        return f"Appium is not in {folder or appium_folder()}: run `make appium`."
    return None


def install_appium(folder: Path | None = None) -> Path:
    """Install Appium by its lock file with npm.

    Args:
        folder: The folder to install into; `appium_folder()` unless given.

    Returns:
        The folder.

    Raises:
        DeviceServerFailed: npm is missing, or failed.
    """
    folder = folder or appium_folder()
    npm = shutil.which("npm")
    if npm is None:
        raise DeviceServerFailed("npm is not installed: it comes with Node.js 20.19 or newer.")
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(MANIFEST / name, folder / name)
    done = subprocess.run([npm, "ci", "--silent"], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise DeviceServerFailed(f"npm did not install Appium: {(done.stderr or done.stdout).strip()[-500:]}")
    # Written last, as by `make appium`, to which this file means a complete installation.
    shutil.copyfile(MANIFEST / "package-lock.json", folder / "installed")
    return folder


class DeviceServer:
    """An Appium 3 server on a free port of this machine, for as long as the `with` block runs.

    Attributes:
        url: Its URL for clients, without a slash at the end.
        log: Appium's log file.
        pid: The id of its process.

    Args:
        appium: The folder that Appium was installed into; `appium_folder()` unless given.
        log: The file for Appium's log; one in its temporary folder, removed with it, unless given.
    """

    def __init__(self, appium: Path | None = None, *, log: Path | None = None) -> None:
        self._appium = appium or appium_folder()
        self._given_log = log
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Start it and wait until it takes sessions.

        Raises:
            DeviceServerFailed: Something is missing, or Appium did not start.
        """
        if (lack := missing(self._appium)) is not None:
            raise DeviceServerFailed(lack)
        self._folder = Path(tempfile.mkdtemp(prefix="sim-"))
        self.log = self._given_log or self._folder / "appium.log"
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End every session and the server, and remove their files."""
        self.stop()

    @property
    def pid(self) -> int:
        """The id of the server's process, which is node."""
        assert self._process is not None  # noqa: S101 there is none outside of the `with` block
        return self._process.pid

    def stop(self) -> None:
        """End it; safe to call twice."""
        process, self._process = self._process, None
        if process is not None:
            # Appium ends its sessions, and they their browsers.
            process.terminate()
            try:
                process.wait(_ENDED_WITHIN)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            self._end_orphans()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _end_orphans(self) -> None:
        # An Appium that was killed leaves its chromedrivers, and browsers that it has ended may still be writing. All
        # have our folder for temporary files in their environment.
        def are_gone() -> bool:
            orphans = list(filter(self._is_ours, psutil.process_iter()))
            for orphan in orphans:
                with contextlib.suppress(psutil.Error):
                    orphan.kill()
            return not orphans

        poll_until(are_gone, Deadline(_ENDED_WITHIN), every=_POLL)

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                return False
            return process.environ().get("TMPDIR") == str(self._folder / "tmp")
        except psutil.Error:
            return False

    def _start(self) -> None:
        home, environment = self._home(), self._environment()
        for left in reversed(range(_PORTS)):
            port = free_port()
            self._process = self._spawn(port, home, environment)
            self.url = f"http://{_HOST}:{port}"
            if self._wait_until_ready(self._process):
                return
            log = self.log.read_text("utf-8", "replace") if self.log.is_file() else ""
            if left == 0 or "EADDRINUSE" not in log:
                raise DeviceServerFailed(f"Appium did not start: {log.strip()[-500:] or 'its log is empty'}")

    def _spawn(self, port: int, home: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
        node = shutil.which("node")
        command = [str(node), str(_script(self._appium)), "server", "--address", _HOST, "--port", str(port)]
        # One level lower, Appium logs typed text.
        command += ["--log-level", "warn", "--log-no-colors", "--log-timestamp"]
        with self.log.open("wb") as log:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**environment, "APPIUM_HOME": str(home)},
            )

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> bool:
        def is_ready_or_ended() -> bool:
            return process.poll() is not None or self._is_ready()

        in_time = poll_until(is_ready_or_ended, Deadline(_READY_WITHIN), every=_POLL)
        if process.poll() is None and not in_time:
            process.kill()
            process.wait()
        return process.poll() is None

    def _is_ready(self) -> bool:
        try:
            return bool(http.request("GET", f"{self.url}/status", timeout=5).json()["value"]["ready"])
        except (OSError, ValueError):
            return False

    def _home(self) -> Path:
        """Make an Appium home with the two drivers, which the server finds by itself since Appium is a dependency."""
        home = self._folder / "home"
        modules = home / "node_modules"
        modules.mkdir(parents=True)
        manifest = {"name": "home", "version": "1.0.0", "private": True, "devDependencies": {"appium": "^3.8.0"}}
        (home / "package.json").write_text(json.dumps(manifest), "utf-8")
        for name, part in _DRIVERS.items():
            (modules / name).mkdir()
            shutil.copyfile(_DEVICE / part / "package.json", modules / name / "package.json")
            # Not a link: on Windows few may make one.
            main = f"module.exports = require({json.dumps(str(_DEVICE / part))});\n"
            (modules / name / "index.js").write_text(main, "utf-8")
        return home

    def _environment(self) -> dict[str, str]:
        temporary = self._folder / "tmp"
        temporary.mkdir()
        environment = os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))
        browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
        driver = shutil.which("chromedriver")
        if browser is None or driver is None:
            # Uses the platform's own, and downloads what is missing.
            found = SeleniumManager().binary_paths(["--browser", "chrome"])
            browser, driver = found["browser_path"], found["driver_path"]
        return environment | {"SIM_CHROMIUM": browser, "SIM_CHROMEDRIVER": driver}


def _script(appium: Path) -> Path:
    return appium / "node_modules" / "appium" / "index.js"
