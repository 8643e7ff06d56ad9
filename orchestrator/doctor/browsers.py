"""Browsers and their drivers: what is here, whether it fits together, and what this machine asks of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator import machine as system
from orchestrator.doctor.report import Asked, Finding, Section, versions
from orchestrator.machine import Machine, command
from orchestrator.settings import Settings


@dataclass(frozen=True, slots=True)
class Kind:
    """A browser, its driver, and how each system gets the two."""

    name: str
    title: str
    driver: str
    same_major: bool
    install: Mapping[str, str]
    install_driver: Mapping[str, str]


_KINDS = (
    Kind(
        "chrome",
        "Chrome or Chromium",
        "chromedriver",
        same_major=True,
        install={
            "apt-get": "apt-get install chromium chromium-driver",
            "dnf": "dnf install chromium chromedriver",
            "pacman": "pacman -S chromium",
            "darwin": "brew install --cask google-chrome chromedriver",
            "win32": "winget install Google.Chrome",
        },
        install_driver={
            "linux": "npx @puppeteer/browsers install chromedriver@{major}, then set ORCHESTRATOR_CHROMEDRIVER to it",
            "darwin": "brew install --cask chromedriver",
            "win32": "npx @puppeteer/browsers install chromedriver@{major}",
        },
    ),
    Kind(
        "firefox",
        "Firefox",
        "geckodriver",
        same_major=False,
        install={
            "apt-get": "apt-get install firefox-esr",
            "dnf": "dnf install firefox",
            "pacman": "pacman -S firefox",
            "darwin": "brew install --cask firefox",
            "win32": "winget install Mozilla.Firefox",
        },
        install_driver={
            "linux": "download it from https://github.com/mozilla/geckodriver/releases into /usr/local/bin",
            "darwin": "brew install geckodriver",
            "win32": "winget install Mozilla.Geckodriver",
        },
    ),
    Kind(
        "edge",
        "Edge",
        "msedgedriver",
        same_major=True,
        install={
            "linux": "install microsoft-edge-stable as https://www.microsoft.com/edge says",
            "darwin": "brew install --cask microsoft-edge",
            "win32": "winget install Microsoft.Edge",
        },
        install_driver=dict.fromkeys(
            ("linux", "darwin", "win32"),
            "download the one of version {version} from https://developer.microsoft.com/microsoft-edge/tools/webdriver",
        ),
    ),
)


_WEBKIT = {
    "apt-get": "apt-get install webkit2gtk-driver xvfb",
    "dnf": "dnf install webkit2gtk-driver xorg-x11-server-Xvfb",
}


@dataclass(frozen=True, slots=True)
class Pair:
    """What of a browser is here."""

    kind: Kind
    browser: Path | None
    driver: Path | None


def section(machine: Machine, settings: Settings, offered: frozenset[str]) -> Section:
    """The browsers; `offered` are those that the local provider can start."""
    pairs = [_pair(machine, settings, kind) for kind in _KINDS]
    found = [one for pair in pairs for one in (pair.browser, pair.driver) if one]
    said = versions(machine, found)
    findings = [_judged(machine, settings, pair, said, pair.kind.name in offered) for pair in pairs]
    for one in _alone(machine, settings):
        offer = one.name.lower() in offered
        told = one.said if one.state != "ok" else f"{one.said}{_unoffered(offer)}"
        findings.append(replace(one, said=told, starts=offer and one.state == "ok"))
    return Section("Browsers", (*findings, *_circumstances(machine)))


def programs(machine: Machine, settings: Settings) -> list[Path]:
    """The browsers and drivers that are here."""
    pairs = [_pair(machine, settings, kind) for kind in _KINDS]
    return [one for pair in pairs for one in (pair.browser, pair.driver) if one]


def _pair(machine: Machine, settings: Settings, kind: Kind) -> Pair:
    browser = getattr(settings, f"{kind.name}_binary") or machine.browser(kind.name)
    return Pair(kind, browser, getattr(settings, kind.driver) or machine.driver(browser, kind.driver))


def _alone(machine: Machine, settings: Settings) -> list[Finding]:
    """Browsers that are known by their driver, on the system that has them."""
    if machine.system == "darwin":
        driver = settings.safaridriver or machine.program("safaridriver")
        return [_known_by("Safari", driver, str(driver), "safaridriver --enable")]
    if machine.system != "linux":
        return []
    driver, screen = settings.webkitwebdriver or machine.program("WebKitWebDriver"), machine.program("Xvfb")
    mend = command(machine, _WEBKIT)
    if driver and not screen and not system.has_display(machine.environ):
        return [Finding("WebKitGTK", "missing", f"{driver}, and no Xvfb: it has no mode without a window", mend)]
    return [_known_by("WebKitGTK", driver, f"{driver}{f', Xvfb {screen}' if screen else ''}", mend)]


def _known_by(title: str, driver: Path | None, told: str, mend: str) -> Finding:
    return Finding(title, "ok", told) if driver else Finding(title, "missing", "it was not found", mend)


def _judged(machine: Machine, settings: Settings, pair: Pair, said: Mapping[Path, Asked], offered: bool) -> Finding:  # noqa: FBT001
    kind, browser, driver = pair.kind, pair.browser, pair.driver
    install = command(machine, kind.install)
    if browser is None:
        beside = f"; {kind.driver} is there: {driver}" if driver else ""
        return Finding(kind.title, "missing", f"it was not found{beside}", install)
    for path in (browser, driver):
        if path is not None and said[path].problem:
            return Finding(
                kind.title, "wrong", f"{path}: {said[path].problem}", _replaced(settings, kind, path, install)
            )
    told = f"{said[browser].version or 'of unknown version'} ({browser})"
    facts = {"version": said[browser].version, "major": said[browser].major}
    get_driver = command(machine, kind.install_driver).format(**facts)
    if driver is None:
        return Finding(kind.title, "missing", f"{told}, and no {kind.driver}", get_driver)
    told = f"{told}, {kind.driver} {said[driver].version} ({driver})"
    if kind.same_major and said[browser].major != said[driver].major:
        return Finding(kind.title, "wrong", f"{told}: the versions differ, so it will not start", get_driver)
    if system.is_snap(browser) and any(part.startswith(".") for part in settings.home.parts):
        return Finding(
            kind.title,
            "wrong",
            f"{told}: it comes from snap and cannot see hidden folders, and home is {settings.home}",
            "set ORCHESTRATOR_HOME to a folder without a dot in its path, or install Chrome from a package",
        )
    return Finding(kind.title, "ok", f"{told}{_unoffered(offered)}", starts=offered)


def _replaced(settings: Settings, kind: Kind, path: Path, install: str) -> str:
    """What mends a program that does not run: it is another one's job where a setting names it."""
    named = next((name for name in (f"{kind.name}_binary", kind.driver) if getattr(settings, name) == path), "")
    return f"correct the setting {named}, or remove it to let it be found" if named else f"reinstall it: {install}"


def _unoffered(offered: bool) -> str:  # noqa: FBT001
    return "" if offered else "; the local provider does not start it"


def _circumstances(machine: Machine) -> list[Finding]:
    """What a browser meets here."""
    if machine.system != "linux":
        return []
    reason = system.unsandboxed(machine.environ)
    boxed = f"off, {reason}: browsers are started with --no-sandbox" if reason else "on"
    findings = [Finding("Sandbox", "note" if reason else "ok", boxed)]
    if system.shared_memory_is_small():
        findings.append(Finding("Shared memory", "note", "small: browsers are started with --disable-dev-shm-usage"))
    if not system.has_display(machine.environ):
        mend = "run it under xvfb-run if you need windows"
        findings.append(Finding("Display", "note", "none: browsers start without a window only", mend))
    return findings
