"""Selenium Manager, which ships with selenium: finds or downloads browsers and drivers."""

from __future__ import annotations

import importlib.util
import json
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PROGRAMS = {
    ("linux", "x86_64"): "linux-x86_64/selenium-manager",
    ("linux", "aarch64"): "linux-arm64/selenium-manager",
    ("darwin", "x86_64"): "macos/selenium-manager",
    ("darwin", "arm64"): "macos/selenium-manager",
    ("win32", "amd64"): "windows/selenium-manager.exe",
    ("win32", "arm64"): "windows/selenium-manager.exe",
}
_REASON = 300
"""Characters of its reason that are shown."""


@dataclass(frozen=True, slots=True)
class ManagerAnswer:
    """The programs that Selenium Manager found or downloaded, or its reason for having none."""

    browser: Path | None = None
    driver: Path | None = None
    reason: str = ""


def find_manager(environ: Mapping[str, str]) -> Path | None:
    """Find the program: `SE_MANAGER_PATH`, or the one in selenium's package; None if there is none for this system."""
    if given := environ.get("SE_MANAGER_PATH"):
        return Path(given)
    name = _PROGRAMS.get((sys.platform, platform.machine().lower()))
    package = importlib.util.find_spec("selenium")
    if name is None or package is None or not package.submodule_search_locations:
        return None
    path = Path(package.submodule_search_locations[0], "webdriver", "common", name)
    return path if path.is_file() else None


def manager_arguments(browser: str, program: Path | None = None, version: str | None = None) -> list[str]:
    """Return the arguments that ask for a browser and its driver; with a `program` for the driver of that browser."""
    asked = ["--browser", browser, "--language-binding", "python", "--output", "json"]
    asked += ["--browser-path", str(program)] if program else []
    return [*asked, *(["--browser-version", version] if version else [])]


def manager_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return its own variables; by default it reports its use to a statistics server."""
    return {name: value for name, value in environ.items() if name.startswith("SE_")} | {"SE_AVOID_STATS": "true"}


def parse_answer(text: str) -> ManagerAnswer:
    """Read what it printed; text that is no answer is the reason."""
    try:
        result = json.JSONDecoder().raw_decode(text[text.index("{") :])[0]["result"]
        message = str(result.get("message") or "").strip()
    except (ValueError, KeyError, TypeError, AttributeError):
        return ManagerAnswer(reason=text.strip()[-_REASON:].rstrip("."))
    return ManagerAnswer(_file(result, "browser_path"), _file(result, "driver_path"), message[:_REASON].rstrip("."))


def _file(result: Mapping[str, Any], name: str) -> Path | None:
    given = result.get(name)
    return Path(given) if given and Path(given).is_file() else None
