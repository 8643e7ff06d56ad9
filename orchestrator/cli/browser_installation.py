"""Installs a browser with its driver: by apt-get on Debian, else by Selenium Manager."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import psutil

from orchestrator.cli.doctor.browsers import chrome_finding, chrome_install_command
from orchestrator.cli.doctor.report import versions
from orchestrator.errors import OrchestratorError
from orchestrator.settings import Settings
from orchestrator.system import selenium_manager
from orchestrator.system.machine import LocalMachine

_PACKAGES = ("chromium", "chromium-driver", "fonts-liberation")
_APT_OPTIONS = ("-qq", "--yes", "--no-install-recommends", "-o", "Dpkg::Use-Pty=0")
_PATIENCE = 900.0
"""Seconds that a download may take."""
_SHOWN = 300
"""Characters of a program's output that are shown."""


class BrowserInstallation:
    """Chrome or Chromium with its chromedriver on this machine: looks for them, and gets them.

    Args:
        machine: The machine to search and to install on.
        settings: They may name a browser and a driver.
        say: Is told each step before it is taken.
    """

    def __init__(self, machine: LocalMachine, settings: Settings, say: Callable[[str], None]) -> None:
        self._machine = machine
        self._settings = settings
        self._say = say

    def find_ready(self) -> str | None:
        """Return versions and paths of a browser and driver that fit each other, None if one is missing.

        Raises:
            OrchestratorError: They are there, but do not run or differ in version, which installing would not mend.
        """
        found = chrome_finding(self._machine, self._settings)
        if found.state == "wrong":
            raise OrchestratorError(f"{found.name}: {found.said}.", hint=f"To mend it: {found.mend}.")
        return found.said if found.state == "ok" else None

    def install(self) -> str:
        """Install what is missing; return versions and paths of browser and driver.

        Raises:
            OrchestratorError: It could not be installed; the hint is what to do by hand.
        """
        browser = self._settings.chrome_binary or self._machine.browser("chrome")
        # The driver of Debian's package fits the browser of Debian's package alone.
        apt_get = self._machine.program("apt-get") if _is_root_on_debian() else None
        if apt_get and (browser is None or browser.name == "chromium"):
            problem = self._install_packages(apt_get)
            if not problem and (found := self.find_ready()):
                return found
            self._say(f"apt-get did not install it{': ' if problem else ''}{problem}.")
        return self._download(browser)

    def _install_packages(self, apt_get: Path) -> str:
        """Install Debian's packages; return why that failed, or an empty string."""
        self._say(f"apt-get installs {', '.join(_PACKAGES)}.")
        environ = {**self._machine.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for words in (("update",), ("install", *_PACKAGES)):
            done = _run([str(apt_get), *_APT_OPTIONS, *words], environ)
            if done.returncode:
                return _shortened(done.stderr or done.stdout) or f"it ended with {done.returncode}"
        return ""

    def _download(self, browser: Path | None) -> str:
        """Download Chrome for Testing and its driver, or the driver of this browser."""
        manager = selenium_manager.find_manager(self._machine.environ)
        if manager is None:
            raise self._failed("Selenium Manager has no program for this system")
        wanted = f"The chromedriver of {browser}" if browser else "Chrome for Testing and its chromedriver"
        self._say(f"{wanted}: Selenium Manager downloads what is missing to {self._machine.downloads()}.")
        environ = {**self._machine.environ, **selenium_manager.manager_variables(self._machine.environ)}
        done = _run([str(manager), *selenium_manager.manager_arguments("chrome", browser)], environ)
        answer = selenium_manager.parse_answer(done.stdout or done.stderr)
        if answer.browser is None or answer.driver is None:
            raise self._failed(answer.reason or "it found none")
        told = versions(self._machine, [answer.browser, answer.driver])
        for path in (answer.browser, answer.driver):
            if told[path].problem:
                raise self._failed(f"{path} is there, but {told[path].problem}")
        browser_version, driver_version = told[answer.browser].version, told[answer.driver].version
        return f"{browser_version} ({answer.browser}), chromedriver {driver_version} ({answer.driver})"

    def _failed(self, reason: str) -> OrchestratorError:
        by_hand = chrome_install_command(self._machine)
        return OrchestratorError(
            f"No browser with its driver could be installed: {reason}.",
            hint="Install Chrome or Chromium and the chromedriver of the same version"
            f"{': ' if by_hand else ''}{by_hand}; or set chrome_binary and chromedriver to their paths.",
        )


def _run(words: list[str], environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; one that cannot be run, or takes too long, has failed with the reason as its errors."""
    try:
        return subprocess.run(
            words,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_PATIENCE,
            check=False,
        )
    except OSError as error:
        return subprocess.CompletedProcess(words, 1, "", f"{words[0]} cannot be run ({os.strerror(error.errno or 0)})")
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 1, "", f"{words[0]} did not end within {_PATIENCE:g} s")


def _shortened(text: str) -> str:
    return " ".join(text.split())[:_SHOWN].rstrip(".")


def _is_root_on_debian() -> bool:
    try:
        return platform.freedesktop_os_release()["ID"] == "debian" and psutil.Process().uids().effective == 0
    except OSError:
        return False
