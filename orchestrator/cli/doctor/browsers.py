"""Checks browsers and drivers: installed programs, matching versions, needed switches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.cli.doctor.report import Finding, ProgramAnswer, Section, versions
from orchestrator.settings import Settings
from orchestrator.system import machine as system
from orchestrator.system.host.sandbox import find_obstacle
from orchestrator.system.machine import LocalMachine, command


@dataclass(frozen=True, slots=True)
class BrowserKind:
    """A browser, its driver, and the commands that install the two on each system."""

    name: str
    title: str
    driver: str
    same_major: bool
    install: Mapping[str, str]
    install_driver: Mapping[str, str]


_KINDS = (
    BrowserKind(
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
    BrowserKind(
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
    BrowserKind(
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
class InstalledBrowser:
    """A browser and its driver as found on this machine."""

    kind: BrowserKind
    browser: Path | None
    driver: Path | None


def browsers_section(machine: LocalMachine, settings: Settings, offered: frozenset[str]) -> Section:
    """Check the browsers; `offered` are those that the local provider can start."""
    pairs = [_pair(machine, settings, kind) for kind in _KINDS]
    answers = versions(machine, [path for pair in pairs for path in (pair.browser, pair.driver) if path])
    findings = [_judge(machine, settings, pair, answers, pair.kind.name in offered) for pair in pairs]
    for finding in _browsers_known_by_driver(machine, settings):
        usable, is_offered = finding.state == "ok", finding.name.lower() in offered
        text = f"{finding.said}{_unoffered(is_offered)}" if usable else finding.said
        findings.append(replace(finding, said=text, starts=is_offered and usable))
    chromium = next((pair.browser for pair in pairs if pair.kind.same_major and pair.browser), None)
    return Section("Browsers", (*findings, *_check_system(machine, settings, chromium)))


def chrome_finding(machine: LocalMachine, settings: Settings) -> Finding:
    """Check Chrome or Chromium alone."""
    pair = _pair(machine, settings, _KINDS[0])
    answers = versions(machine, [path for path in (pair.browser, pair.driver) if path])
    return _judge(machine, settings, pair, answers, offered=True)


def chrome_install_command(machine: LocalMachine) -> str:
    """Return this system's own command that installs Chrome or Chromium; empty if there is none."""
    return command(machine, _KINDS[0].install)


def programs(machine: LocalMachine, settings: Settings) -> list[Path]:
    """Return the paths of installed browsers and drivers."""
    pairs = [_pair(machine, settings, kind) for kind in _KINDS]
    return [path for pair in pairs for path in (pair.browser, pair.driver) if path]


def _pair(machine: LocalMachine, settings: Settings, kind: BrowserKind) -> InstalledBrowser:
    browser = getattr(settings, f"{kind.name}_binary") or machine.browser(kind.name)
    return InstalledBrowser(kind, browser, getattr(settings, kind.driver) or machine.driver(browser, kind.driver))


def _browsers_known_by_driver(machine: LocalMachine, settings: Settings) -> list[Finding]:
    """Check Safari and WebKitGTK, which are found by their drivers, on the systems that have them."""
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


def _known_by(title: str, driver: Path | None, text: str, mend: str) -> Finding:
    return Finding(title, "ok", text) if driver else Finding(title, "missing", "it was not found", mend)


def _judge(
    machine: LocalMachine,
    settings: Settings,
    pair: InstalledBrowser,
    answers: Mapping[Path, ProgramAnswer],
    offered: bool,
) -> Finding:
    kind, browser, driver = pair.kind, pair.browser, pair.driver
    install = command(machine, kind.install)
    if browser is None:
        with_driver = f"; {kind.driver} is there: {driver}" if driver else ""
        ours = f"{system.own_program()} install browser" if kind.name == "chrome" else ""
        return Finding(kind.title, "missing", f"not found{with_driver}", ", or ".join(filter(None, (ours, install))))
    for path in (browser, driver):
        if path is not None and answers[path].problem:
            mend = _mend_broken(settings, kind, path, install)
            return Finding(kind.title, "wrong", f"{path}: {answers[path].problem}", mend)
    text = f"{answers[browser].version or 'of unknown version'} ({browser})"
    facts = {"version": answers[browser].version, "major": answers[browser].major}
    get_driver = command(machine, kind.install_driver).format(**facts)
    if driver is None:
        return Finding(kind.title, "missing", f"{text}, and no {kind.driver}", get_driver)
    text = f"{text}, {kind.driver} {answers[driver].version} ({driver})"
    if kind.same_major and answers[browser].major != answers[driver].major:
        return Finding(kind.title, "wrong", f"{text}: the versions differ, so it will not start", get_driver)
    if system.is_snap(browser) and any(part.startswith(".") for part in settings.home.parts):
        return Finding(
            kind.title,
            "wrong",
            f"{text}: it comes from snap and cannot see hidden folders, and home is {settings.home}",
            "set ORCHESTRATOR_HOME to a folder without a dot in its path, or install Chrome from a package",
        )
    return Finding(kind.title, "ok", f"{text}{_unoffered(offered)}", starts=offered)


def _mend_broken(settings: Settings, kind: BrowserKind, path: Path, install: str) -> str:
    """Return the fix for a program that does not run: the setting, if one names the program, else the package."""
    setting = next((name for name in (f"{kind.name}_binary", kind.driver) if getattr(settings, name) == path), "")
    return f"correct the setting {setting}, or remove it to let it be found" if setting else f"reinstall it: {install}"


def _unoffered(offered: bool) -> str:
    return "" if offered else "; the local provider does not start it"


def _check_system(machine: LocalMachine, settings: Settings, chromium: Path | None) -> list[Finding]:
    """Check the sandbox, the shared memory and the display that browsers get on Linux."""
    if machine.system != "linux":
        return []
    findings = [_check_sandbox(settings, chromium)]
    if system.shared_memory_is_small():
        findings.append(Finding("Shared memory", "note", "small: browsers are started with --disable-dev-shm-usage"))
    if not system.has_display(machine.environ):
        mend = "run it under xvfb-run if you need windows"
        findings.append(Finding("Display", "note", "none: browsers start without a window only", mend))
    return findings


def _check_sandbox(settings: Settings, chromium: Path | None) -> Finding:
    if settings.sandbox == "off":
        return Finding("Sandbox", "note", "off by the setting sandbox: browsers are started with --no-sandbox")
    obstacle = find_obstacle(chromium)
    if obstacle is None:
        return Finding("Sandbox", "ok", "on")
    if settings.sandbox == "require":
        return Finding("Sandbox", "wrong", f"{obstacle.reason}, and the setting sandbox requires it", obstacle.remedy)
    text = f"off, since {obstacle.reason}: browsers are started with --no-sandbox"
    return Finding("Sandbox", "note", text, obstacle.remedy)
