"""What is around the browsers: Python, the data folder, what apps need, and whose credentials are set."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from orchestrator import __version__, local_grid
from orchestrator.doctor.report import Asked, Finding, Section, ask, side_by_side, version
from orchestrator.errors import OrchestratorError
from orchestrator.machine import LOOPBACK, Machine, command
from orchestrator.secrets import without_credentials
from orchestrator.settings import Settings

_INSTALL = {
    "node": {
        "apt-get": "apt-get install nodejs npm",
        "dnf": "dnf install nodejs",
        "pacman": "pacman -S nodejs npm",
        "darwin": "brew install node",
        "win32": "winget install OpenJS.NodeJS",
    },
    "java": {
        "apt-get": "apt-get install default-jre-headless",
        "dnf": "dnf install java-latest-openjdk-headless",
        "pacman": "pacman -S jre-openjdk-headless",
        "darwin": "brew install openjdk",
        "win32": "winget install EclipseAdoptium.Temurin.21.JRE",
    },
}
_NODE = (20, 19)
"""The oldest Node that Appium 3 runs on."""
_DRIVERS = {"uiautomator2": "Android", "xcuitest": "iOS"}
_ANSWERS_WITHIN = 3.0
"""Seconds."""
_OPEN_TO_OTHERS = stat.S_IRWXG | stat.S_IRWXO

CREDENTIALS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "BrowserStack": (("BROWSERSTACK_USERNAME", "BROWSERSTACK_ACCESS_KEY"),),
    "Sauce Labs": (("SAUCE_USERNAME", "SAUCE_ACCESS_KEY"),),
    "TestMu": (("LT_USERNAME", "LT_ACCESS_KEY"), ("TESTMU_USERNAME", "TESTMU_ACCESS_KEY")),
    "TestingBot": (("TESTINGBOT_KEY", "TESTINGBOT_SECRET"),),
    "Digital.ai": (("DIGITALAI_CLOUD_URL", "DIGITALAI_ACCESS_KEY"),),
}
"""The variables of each cloud; where there are two sets, one is enough. Their values are never looked at."""


def place(home: Path) -> Section:
    """Python, and the folder that records are kept in."""
    python = ".".join(map(str, sys.version_info[:3]))
    ours = Finding("webdriver-orchestrator", "ok", f"{__version__}, Python {python} ({sys.executable})")
    return Section("Installation", (ours, _folder(home)))


def _folder(home: Path) -> Finding:
    name = "Data folder"
    if not home.exists():
        above = next(one for one in home.parents if one.exists())
        if above.is_dir() and os.access(above, os.W_OK):
            return Finding(name, "ok", f"{home}, made at the first start", starts=True)
        return Finding(name, "wrong", f"{home} cannot be made: {above} is not writable", _ELSEWHERE)
    try:
        with tempfile.TemporaryFile(dir=home):
            pass
    except OSError as error:
        return Finding(name, "wrong", f"{home} is not writable: {error.strerror}", _ELSEWHERE)
    mode = stat.S_IMODE(home.stat().st_mode)
    if sys.platform != "win32" and mode & _OPEN_TO_OTHERS:
        return Finding(name, "wrong", f"{home} is open to others (mode {mode:04o})", f"chmod 700 {home}", starts=True)
    return Finding(name, "ok", f"{home} (mode {mode:04o})", starts=True)


_ELSEWHERE = "set ORCHESTRATOR_HOME to a folder that you can write to"


def apps(machine: Machine, settings: Settings) -> Section:
    """What app sessions need: Node, Appium with its drivers, Java; and whether an Appium server answers."""
    node, java = machine.program("node"), machine.program("java")
    appium = settings.appium or machine.appium()

    def asked(program: Path | None) -> Asked | None:
        return None if program is None else version(machine, program)

    def of_appium(*arguments: str) -> Asked | None:
        if appium is None:
            return None
        if appium.suffix not in {".js", ".mjs", ".cjs"}:
            return ask(machine, appium, *arguments)
        return None if node is None else ask(machine, node, str(appium), *arguments)

    said_node, said_appium, said_java, listed, server = side_by_side(
        [
            lambda: asked(node),
            lambda: of_appium("--version"),
            lambda: asked(java),
            lambda: of_appium("driver", "list", "--installed", "--json"),
            lambda: _server(settings),
        ]
    )
    findings = [
        _old_node(machine, node, said_node) or _program("Node", node, said_node, _mend("node", machine)),
        _program("Appium", appium, said_appium, "npm install -g appium, or set ORCHESTRATOR_APPIUM to the program"),
        *(_drivers(listed) if appium and said_appium and not said_appium.problem else []),
        server,
        _program("Java", java, said_java, _mend("java", machine)),
    ]
    return Section("Apps", tuple(findings))


def grid(machine: Machine, settings: Settings) -> Section:
    """What `orchestrator grid up` needs."""
    findings = []
    for name, find in (("Java", local_grid.java), ("Selenium server", lambda on: local_grid.server(on, settings))):
        try:
            findings.append(Finding(name, "ok", str(find(machine))))
        except OrchestratorError as lack:
            findings.append(Finding(name, "missing", lack.message.rstrip("."), lack.hint.rstrip(".")))
    return Section("Selenium Grid", tuple(findings))


def _server(settings: Settings) -> Finding:
    """Whether somebody listens where the Appium server should be."""
    shown, parts = without_credentials(settings.appium_url), urlsplit(settings.appium_url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=_ANSWERS_WITHIN).close()
    except OSError:
        local = parts.hostname in LOOPBACK
        instead = "; one is started for each session" if settings.autostart and local else ""
        return Finding("Appium server", "note", f"none answers at {shown}{instead}")
    return Finding("Appium server", "ok", f"one answers at {shown}")


def _mend(name: str, machine: Machine) -> str:
    return command(machine, _INSTALL[name])


def _program(title: str, path: Path | None, asked: Asked | None, mend: str) -> Finding:
    if path is None or asked is None:
        return Finding(title, "missing", "it was not found", mend)
    if asked.problem:
        return Finding(title, "wrong", f"{path}: {asked.problem}", mend)
    return Finding(title, "ok", f"{asked.version or 'of unknown version'} ({path})")


def _old_node(machine: Machine, node: Path | None, asked: Asked | None) -> Finding | None:
    if node is None or asked is None or not asked.version:
        return None
    if tuple(int(part) for part in asked.version.split(".")[:2]) >= _NODE:
        return None
    wanted = ".".join(map(str, _NODE))
    return Finding("Node", "wrong", f"{asked.version} ({node}): Appium needs {wanted} or newer", _mend("node", machine))


def _drivers(listed: Asked | None) -> list[Finding]:
    """The drivers that Appium has; its answer is an object with a key a driver."""
    if listed is None or listed.problem:
        return [Finding("Appium drivers", "wrong", listed.problem if listed else "", "appium driver list --installed")]
    found: dict[str, dict[str, str]] = {}
    with contextlib.suppress(ValueError):
        found = json.loads(listed.text)
    # A driver serves by its automationName, whatever it is called: one of ours does so for a simulated device.
    has = {str(one.get("automationName", name)).lower(): _version_of(name, one) for name, one in found.items()}
    return [
        Finding(f"Appium driver {name}", "ok", has[name])
        if name in has
        else Finding(f"Appium driver {name}", "missing", f"{kind} needs it", f"appium driver install {name}")
        for name, kind in _DRIVERS.items()
    ]


def _version_of(name: str, one: Mapping[str, str]) -> str:
    own = f" ({name})" if name not in _DRIVERS else ""
    return f"{one.get('version', 'installed')}{own}"


def credentials(environ: Mapping[str, str]) -> Section:
    """Whose credentials are set, by the names of the variables alone."""
    return Section("Credentials", tuple(_of(cloud, sets, environ) for cloud, sets in CREDENTIALS.items()))


def _of(cloud: str, sets: tuple[tuple[str, ...], ...], environ: Mapping[str, str]) -> Finding:
    for names in sets:
        unset = [name for name in names if not environ.get(name)]
        if not unset:
            return Finding(cloud, "ok", f"{' and '.join(names)} are set")
        if len(unset) < len(names):
            given = next(name for name in names if name not in unset)
            return Finding(cloud, "wrong", f"{given} is set, {unset[0]} is not", f"export {unset[0]}=…")
    return Finding(cloud, "note", f"{' and '.join(sets[0])} are not set")
