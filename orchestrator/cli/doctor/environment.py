"""Checks Python, the data folder, Appium, Selenium Grid and credentials."""

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

from orchestrator import __version__
from orchestrator.cli.doctor.report import Finding, ProgramAnswer, Section, run_program, side_by_side, version
from orchestrator.errors import OrchestratorError
from orchestrator.settings import FILE_NAME, Settings, ignored_in_project
from orchestrator.system import selenium_grid
from orchestrator.system.host import file_systems, other_users, private_files
from orchestrator.system.host.private_files import ForeignPlace
from orchestrator.system.machine import LOOPBACK, LocalMachine, command
from orchestrator.system.secrets import without_credentials

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
_NAMED = 3
"""Other users that are named."""
_OPEN_TO_OTHERS = stat.S_IRWXG | stat.S_IRWXO

CREDENTIALS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "BrowserStack": (("BROWSERSTACK_USERNAME", "BROWSERSTACK_ACCESS_KEY"),),
    "Sauce Labs": (("SAUCE_USERNAME", "SAUCE_ACCESS_KEY"),),
    "TestMu": (("LT_USERNAME", "LT_ACCESS_KEY"), ("TESTMU_USERNAME", "TESTMU_ACCESS_KEY")),
    "TestingBot": (("TESTINGBOT_KEY", "TESTINGBOT_SECRET"),),
    "Digital.ai": (("DIGITALAI_CLOUD_URL", "DIGITALAI_ACCESS_KEY"),),
}
"""The variables of each cloud; one of two sets is enough. Their values are never read."""


def installation_section(home: Path) -> Section:
    """Check Python and the data folder."""
    python = ".".join(map(str, sys.version_info[:3]))
    ours = Finding("webdriver-orchestrator", "ok", f"{__version__}, Python {python} ({sys.executable})")
    return Section("Installation", (ours, _folder(home), *_project(home), *_other_users()))


def _project(home: Path) -> list[Finding]:
    """Name what the working folder's file says in vain."""
    if not (ignored := ignored_in_project(home)):
        return []
    text = f"{FILE_NAME} of this folder cannot choose {', '.join(ignored)}: a cloned repository must do no harm"
    return [Finding("Project", "wrong", text, f"set it in the environment or in {home / FILE_NAME}")]


def _other_users() -> list[Finding]:
    """Name the people who could use this user's browsers, by what the system shows them."""
    others = other_users.find_others()
    if not others or other_users.hides_processes():
        return []
    names = ", ".join([*others[:_NAMED], *(["…"] if len(others) > _NAMED else [])])
    text = f"{names} can log in here and read command lines: the driver's address in them lets them use your browsers"
    return [Finding("Other users", "note", text, "mount -o remount,hidepid=2 /proc, or a machine of your own")]


def _folder(home: Path) -> Finding:
    return _shared_folder(home) or _own_folder(home)


def _shared_folder(home: Path) -> Finding | None:
    shared = file_systems.find_shared(home)
    if shared is None:
        return None
    where = f"{home} lies on {shared.fstype}, mounted at {shared.mountpoint}"
    text = f"{where}, which other machines share: the locks of a database do not hold there"
    return Finding("Data folder", "wrong", text, "set ORCHESTRATOR_HOME to a folder on a disk of this machine")


def _own_folder(home: Path) -> Finding:
    name = "Data folder"
    if not home.exists():
        above = next(folder for folder in home.parents if folder.exists())
        if above.is_dir() and os.access(above, os.W_OK):
            return Finding(name, "ok", f"{home}, created at the first start", starts=True)
        return Finding(name, "wrong", f"{home} cannot be created: {above} is not writable", _ELSEWHERE)
    try:
        private_files.check_owner(home)
    except ForeignPlace as error:
        return Finding(name, "wrong", error.sentence.rstrip("."), _ELSEWHERE)
    try:
        with tempfile.TemporaryFile(dir=home):
            pass
    except OSError as error:
        return Finding(name, "wrong", f"{home} is not writable: {error.strerror}", _ELSEWHERE)
    mode = stat.S_IMODE(home.stat().st_mode)
    if sys.platform != "win32" and mode & _OPEN_TO_OTHERS:
        return Finding(
            name, "wrong", f"{home} is open to other users (mode {mode:04o})", f"chmod 700 {home}", starts=True
        )
    return Finding(name, "ok", f"{home} (mode {mode:04o})", starts=True)


_ELSEWHERE = "set ORCHESTRATOR_HOME to a folder that you can write to"


def apps_section(machine: LocalMachine, settings: Settings) -> Section:
    """Check what app sessions need: Node, Appium with its drivers, an Appium server, Java."""
    node, java = machine.program("node"), machine.program("java")
    appium = settings.appium or machine.appium()

    def ask(program: Path | None) -> ProgramAnswer | None:
        return None if program is None else version(machine, program)

    def ask_appium(*arguments: str) -> ProgramAnswer | None:
        if appium is None:
            return None
        if appium.suffix not in {".js", ".mjs", ".cjs"}:
            return run_program(machine, appium, *arguments)
        return None if node is None else run_program(machine, node, str(appium), *arguments)

    node_answer, appium_answer, java_answer, listed, server = side_by_side(
        [
            lambda: ask(node),
            lambda: ask_appium("--version"),
            lambda: ask(java),
            lambda: ask_appium("driver", "list", "--installed", "--json"),
            lambda: _server(settings),
        ]
    )
    findings = [
        _old_node(machine, node, node_answer) or _program("Node", node, node_answer, _mend("node", machine)),
        _program("Appium", appium, appium_answer, "npm install -g appium, or set ORCHESTRATOR_APPIUM to the program"),
        *(_drivers(listed) if appium and appium_answer and not appium_answer.problem else []),
        server,
        _program("Java", java, java_answer, _mend("java", machine)),
    ]
    return Section("Apps", tuple(findings))


def grid_section(machine: LocalMachine, settings: Settings) -> Section:
    """Check what `orchestrator grid up` needs: Java and the Selenium server."""
    findings = []
    for name, find in (
        ("Java", selenium_grid.java),
        ("Selenium server", lambda on: selenium_grid.server(on, settings)),
    ):
        try:
            findings.append(Finding(name, "ok", str(find(machine))))
        except OrchestratorError as lack:
            findings.append(Finding(name, "missing", lack.message.rstrip("."), lack.hint.rstrip(".")))
    return Section("Selenium Grid", tuple(findings))


def _server(settings: Settings) -> Finding:
    """Check that an Appium server listens at `appium_url`."""
    shown, parts = without_credentials(settings.appium_url), urlsplit(settings.appium_url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=_ANSWERS_WITHIN).close()
    except OSError:
        local = parts.hostname in LOOPBACK
        instead = "; one is started for each session" if settings.autostart and local else ""
        return Finding("Appium server", "note", f"none answers at {shown}{instead}")
    return Finding("Appium server", "ok", f"one answers at {shown}")


def _mend(name: str, machine: LocalMachine) -> str:
    return command(machine, _INSTALL[name])


def _program(title: str, path: Path | None, answer: ProgramAnswer | None, mend: str) -> Finding:
    if path is None or answer is None:
        return Finding(title, "missing", "not found", mend)
    if answer.problem:
        return Finding(title, "wrong", f"{path}: {answer.problem}", mend)
    return Finding(title, "ok", f"{answer.version or 'of unknown version'} ({path})")


def _old_node(machine: LocalMachine, node: Path | None, answer: ProgramAnswer | None) -> Finding | None:
    if node is None or answer is None or not answer.version:
        return None
    if tuple(int(part) for part in answer.version.split(".")[:2]) >= _NODE:
        return None
    wanted = ".".join(map(str, _NODE))
    return Finding(
        "Node", "wrong", f"{answer.version} ({node}): Appium needs {wanted} or newer", _mend("node", machine)
    )


def _drivers(listed: ProgramAnswer | None) -> list[Finding]:
    """Check the drivers of Appium, whose answer is an object with a key for each driver."""
    if listed is None or listed.problem:
        return [Finding("Appium drivers", "wrong", listed.problem if listed else "", "appium driver list --installed")]
    found: dict[str, dict[str, str]] = {}
    with contextlib.suppress(ValueError):
        found = json.loads(listed.text)
    # A driver is chosen by its automationName; its package may have another name, as those of the simulated phones.
    has = {str(driver.get("automationName", name)).lower(): _version_of(name, driver) for name, driver in found.items()}
    return [
        Finding(f"Appium driver {name}", "ok", has[name])
        if name in has
        else Finding(f"Appium driver {name}", "missing", f"{kind} needs it", f"appium driver install {name}")
        for name, kind in _DRIVERS.items()
    ]


def _version_of(name: str, driver: Mapping[str, str]) -> str:
    own = f" ({name})" if name not in _DRIVERS else ""
    return f"{driver.get('version', 'installed')}{own}"


def credentials_section(environ: Mapping[str, str]) -> Section:
    """Check for which clouds credentials are set; only the names of variables are read."""
    return Section("Credentials", tuple(_cloud_finding(cloud, sets, environ) for cloud, sets in CREDENTIALS.items()))


def _cloud_finding(cloud: str, sets: tuple[tuple[str, ...], ...], environ: Mapping[str, str]) -> Finding:
    for names in sets:
        unset = [name for name in names if not environ.get(name)]
        if not unset:
            return Finding(cloud, "ok", f"{' and '.join(names)} are set")
        if len(unset) < len(names):
            given = next(name for name in names if name not in unset)
            return Finding(cloud, "wrong", f"{given} is set, {unset[0]} is not", f"export {unset[0]}=…")
    return Finding(cloud, "note", f"{' and '.join(sets[0])} are not set")
