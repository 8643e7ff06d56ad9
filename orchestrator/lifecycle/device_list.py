"""Lists devices, simulators and emulators, with the session that has each."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field

from orchestrator.errors import InvalidArgument
from orchestrator.models.results import Outcome
from orchestrator.models.session import APPS, SessionType, Wire
from orchestrator.sessions.rows import SessionFacts
from orchestrator.system import http, processes
from orchestrator.system.machine import LocalMachine
from orchestrator.system.secrets import credentials, without_credentials

_PATIENCE = 20.0
"""Seconds that one program may take; the first call of adb starts its server."""
_SERVER_PATIENCE = 5.0
_RUNTIME = re.compile(r"SimRuntime\.(iOS|iPadOS)-([\d-]+)$")
_MODEL = re.compile(r"\bmodel:(\S+)")

Kind = Literal["device", "emulator", "simulator"]


class Device(Wire):
    """A device. A start requests it by `udid`; an emulator that does not run has an `avd` alone."""

    platform: Literal["ios", "android"]
    kind: Kind
    name: str
    platform_version: str | None = None
    udid: str | None = None
    avd: str | None = None
    state: str
    taken_by: str | None = None

    def line(self) -> str:
        """Return the device as one line of text."""
        version = f" {self.platform_version}" if self.platform_version else ""
        identifier = f", udid {self.udid}" if self.udid else f", avd {self.avd}" if self.avd else ""
        taken = f", taken by {self.taken_by}" if self.taken_by else ""
        return f"{self.platform}{version} {self.kind}: {self.name}{identifier}, {self.state}{taken}"


class DeviceList(Outcome):
    """The devices that were found; `warnings` name each source that could not be read, with the reason."""

    devices: list[Device] = Field(default_factory=list)

    def lines(self) -> list[str]:
        """Return a line for each device."""
        return [one.line() for one in self.devices] or ["No device was found."]

    def of_platform(self, platform: str) -> Self:
        """Return the list with the devices of one platform.

        Raises:
            InvalidArgument: The platform is neither ios nor android.
        """
        if platform.lower() not in APPS:
            raise InvalidArgument(f"There is no platform {platform[:64]!r}.", hint="Use ios or android.")
        return self.model_copy(update={"devices": [one for one in self.devices if one.platform == platform.lower()]})


DeviceFindings = tuple[list[Device], str]
"""Devices of one source, and the reason why it could not be read; empty when it could."""


def list_devices(machine: LocalMachine, appium_url: str, sessions: Iterable[SessionFacts]) -> DeviceList:
    """List the devices of this machine's tools and of the Appium server, with the session that has each."""
    sources: list[Callable[[], DeviceFindings]] = [
        lambda: _simulators(machine),
        lambda: _attached(machine),
        lambda: _emulators(machine),
    ]
    with ThreadPoolExecutor(len(sources) + 1) as threads:
        server_sessions = threads.submit(_server_sessions, appium_url)
        findings = list(threads.map(lambda read: read(), sources))
        running, server_warning = server_sessions.result()
    own = {one.remote_session_id: one for one in sessions if one.type in APPS}
    running = {id_: capabilities for id_, capabilities in running.items() if id_ not in own}
    holders = _DeviceHolders(own.values(), running)
    devices = [holders.with_holder(device) for group, _ in findings for device in group]
    devices += holders.list_others(devices)
    warnings = [*(reason for _, reason in findings), server_warning]
    return DeviceList(devices=devices, warnings=list(filter(None, warnings)))


class _DeviceHolders:
    """Sessions that have a device: our own, and those that the Appium server lists."""

    def __init__(self, own: Iterable[SessionFacts], running: Mapping[str, Mapping[str, Any]]) -> None:
        self._holders: list[tuple[str, SessionType, Mapping[str, Any]]] = [
            (one.session_id, one.type, one.capabilities) for one in own
        ]
        for capabilities in running.values():
            kind = SessionType.IOS if str(capabilities.get("platformName")).lower() == "ios" else SessionType.ANDROID
            self._holders.append(("another client of the Appium server", kind, capabilities))

    def with_holder(self, device: Device) -> Device:
        """Return the device with the session that has it."""
        for holder, kind, capabilities in self._holders:
            if kind == device.platform and device.udid and _udid(capabilities) == device.udid:
                return device.model_copy(update={"taken_by": holder})
        return device

    def list_others(self, listed: Sequence[Device]) -> list[Device]:
        """Return the devices of sessions that are not listed yet: they are not on this machine."""
        udids = {device.udid for device in listed}
        return [
            Device(
                platform="ios" if kind is SessionType.IOS else "android",
                kind="device",
                name=str(capabilities.get("deviceName") or "unnamed"),
                platform_version=str(capabilities["platformVersion"]) if capabilities.get("platformVersion") else None,
                udid=_udid(capabilities),
                state="in use",
                taken_by=holder,
            )
            for holder, kind, capabilities in self._holders
            if _udid(capabilities) not in udids or _udid(capabilities) is None
        ]


def _udid(capabilities: Mapping[str, Any]) -> str | None:
    udid = capabilities.get("udid") or capabilities.get("deviceUDID")
    return str(udid) if udid else None


def _simulators(machine: LocalMachine) -> DeviceFindings:
    """Read `xcrun simctl list devices --json`, an object of lists by runtime."""
    program = machine.program("xcrun")
    text, reason = _output(machine, program, "xcrun", "simctl", "list", "devices", "--json")
    if reason:
        return [], f"iOS simulators could not be listed: {reason}."
    simulators = []
    try:
        for runtime, devices in json.loads(text)["devices"].items():
            version = _RUNTIME.search(runtime)
            simulators += [
                _simulator(one, version[2].replace("-", "."))
                for one in devices
                if version and one.get("isAvailable", True) is True
            ]
    except (ValueError, KeyError, TypeError, AttributeError):
        return [], "iOS simulators could not be listed: the answer of xcrun simctl is not JSON."
    return simulators, ""


def _simulator(simulator: Mapping[str, Any], version: str) -> Device:
    return Device(
        platform="ios",
        kind="simulator",
        name=str(simulator["name"]),
        platform_version=version,
        udid=str(simulator["udid"]),
        state=str(simulator["state"]).lower(),
    )


def _attached(machine: LocalMachine) -> DeviceFindings:
    """Read `adb devices -l`: below a heading, a line for each device: serial, state, facts such as `model:Pixel_7`."""
    text, reason = _output(machine, machine.android("adb"), "adb", "devices", "-l")
    if reason:
        return [], f"Android devices could not be listed: {reason}."
    _, _, rows = text.partition("List of devices attached")
    words = [line.split(maxsplit=2) for line in rows.splitlines() if line.strip()]
    return [_phone(line) for line in words if len(line) > 1], ""


def _phone(words: Sequence[str]) -> Device:
    serial, state, *facts = words
    model = _MODEL.search(facts[0]) if facts else None
    return Device(
        platform="android",
        kind="emulator" if serial.startswith("emulator-") else "device",
        name=model[1].replace("_", " ") if model else serial,
        udid=serial,
        state="ready" if state == "device" else state,
    )


def _emulators(machine: LocalMachine) -> DeviceFindings:
    """Read `emulator -list-avds`: a name a line, among messages."""
    text, reason = _output(machine, machine.android("emulator"), "emulator", "-list-avds")
    if reason:
        return [], f"Android emulators could not be listed: {reason}."
    names = [line.strip() for line in text.splitlines() if re.fullmatch(r"[\w.-]+", line.strip())]
    return [
        Device(platform="android", kind="emulator", name=name.replace("_", " "), avd=name, state="can be started")
        for name in names
    ], ""


def _output(machine: LocalMachine, program: Path | None, name: str, *arguments: str) -> tuple[str, str]:
    """Return a program's output, or the reason for having none."""
    if program is None:
        return "", f"{name} is not on this machine"
    output = processes.run_program(program, *arguments, environ=machine.environ, timeout=_PATIENCE)
    return output.text, output.problem and f"{name} {output.problem}"


def _server_sessions(url: str) -> tuple[dict[str, Mapping[str, Any]], str]:
    """Return the sessions of the Appium server, which lists them only if started with `session_discovery` allowed."""
    plain, account = without_credentials(url).rstrip("/"), credentials(url)
    headers = {"Authorization": http.basic_auth(*account)} if account else {}
    try:
        answer = http.request("GET", f"{plain}/appium/sessions", headers=headers, timeout=_SERVER_PATIENCE)
        return {str(one["id"]): one.get("capabilities") or {} for one in answer.json()["value"]}, ""
    except OSError:
        return {}, f"No Appium server answers at {plain}."
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}, (
            f"The Appium server at {plain} does not list its sessions: start it with "
            "--allow-insecure *:session_discovery."
        )
