"""Which devices, simulators and emulators a start could use, and which of them are taken; asked for, never started."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field

from orchestrator.actions.results import Outcome
from orchestrator.machine import Machine
from orchestrator.models import APPS, SessionType, Wire
from orchestrator.rows import SessionFacts
from orchestrator.secrets import credentials, without_credentials

_PATIENCE = 20.0
"""Seconds that one of them may take; the first question to adb starts its server."""
_RUNTIME = re.compile(r"SimRuntime\.(iOS|iPadOS)-([\d-]+)$")
_MODEL = re.compile(r"\bmodel:(\S+)")

Kind = Literal["device", "emulator", "simulator"]


class Device(Wire):
    """One device; `udid` is what a start asks for it by, and an emulator that does not run has its `avd` alone."""

    platform: Literal["ios", "android"]
    kind: Kind
    name: str
    platform_version: str | None = None
    udid: str | None = None
    avd: str | None = None
    state: str
    taken_by: str | None = None

    def line(self) -> str:
        """The device as one line of text."""
        version = f" {self.platform_version}" if self.platform_version else ""
        known = f", udid {self.udid}" if self.udid else f", avd {self.avd}" if self.avd else ""
        taken = f", taken by {self.taken_by}" if self.taken_by else ""
        return f"{self.platform}{version} {self.kind}: {self.name}{known}, {self.state}{taken}"


class DeviceList(Outcome):
    """What could be found; `warnings` say what could not be asked, and why."""

    devices: list[Device] = Field(default_factory=list)

    def lines(self) -> list[str]:
        """A line a device."""
        return [one.line() for one in self.devices] or ["No device was found."]


Found = tuple[list[Device], str]
"""Devices, and why it could not be asked; empty when it could."""


def look(machine: Machine, appium_url: str, sessions: Iterable[SessionFacts]) -> DeviceList:
    """Ask the tools of this machine and the Appium server, all at once, and see who has which."""
    asked: list[Callable[[], Found]] = [
        lambda: _simulators(machine),
        lambda: _attached(machine),
        lambda: _emulators(machine),
    ]
    with ThreadPoolExecutor(len(asked) + 1) as threads:
        of_server = threads.submit(_at_server, appium_url)
        found = list(threads.map(lambda ask: ask(), asked))
        running, silent = of_server.result()
    own = {one.remote_session_id: one for one in sessions if one.type in APPS}
    running = {id_: said for id_, said in running.items() if id_ not in own}
    taken = _Taken(own.values(), running)
    devices = [taken.told(device) for group, _ in found for device in group]
    devices += taken.others(devices)
    return DeviceList(devices=devices, warnings=[said for said in (*(why for _, why in found), silent) if said])


class _Taken:
    """Who has which device: our own sessions, and those that the Appium server tells of."""

    def __init__(self, own: Iterable[SessionFacts], running: Mapping[str, Mapping[str, Any]]) -> None:
        self._holders: list[tuple[str, SessionType, Mapping[str, Any]]] = [
            (one.session_id, one.type, one.capabilities) for one in own
        ]
        for said in running.values():
            kind = SessionType.IOS if str(said.get("platformName")).lower() == "ios" else SessionType.ANDROID
            self._holders.append(("another client of the Appium server", kind, said))

    def told(self, device: Device) -> Device:
        """The device, with who has it."""
        for holder, kind, said in self._holders:
            if kind == device.platform and device.udid and _udid(said) == device.udid:
                return device.model_copy(update={"taken_by": holder})
        return device

    def others(self, known: Sequence[Device]) -> list[Device]:
        """The devices of sessions that nothing on this machine told of: they are elsewhere."""
        seen = {device.udid for device in known}
        return [
            Device(
                platform="ios" if kind is SessionType.IOS else "android",
                kind="device",
                name=str(said.get("deviceName") or "unnamed"),
                platform_version=str(said["platformVersion"]) if said.get("platformVersion") else None,
                udid=_udid(said),
                state="in use",
                taken_by=holder,
            )
            for holder, kind, said in self._holders
            if _udid(said) not in seen or _udid(said) is None
        ]


def _udid(said: Mapping[str, Any]) -> str | None:
    found = said.get("udid") or said.get("deviceUDID")
    return str(found) if found else None


def _simulators(machine: Machine) -> Found:
    """Source: `xcrun simctl list devices --json`, an object of lists by runtime."""
    program = machine.program("xcrun")
    text, why = _said(machine, program, "xcrun", "simctl", "list", "devices", "--json")
    if why:
        return [], f"iOS simulators could not be asked for: {why}."
    found = []
    try:
        for runtime, devices in json.loads(text)["devices"].items():
            version = _RUNTIME.search(runtime)
            found += [_simulator(one, version[2].replace("-", ".")) for one in devices if version and _usable(one)]
    except (ValueError, KeyError, TypeError, AttributeError):
        return [], "iOS simulators could not be asked for: xcrun simctl answered something else than JSON."
    return found, ""


def _usable(said: Mapping[str, Any]) -> bool:
    return said.get("isAvailable", True) is True


def _simulator(said: Mapping[str, Any], version: str) -> Device:
    return Device(
        platform="ios",
        kind="simulator",
        name=str(said["name"]),
        platform_version=version,
        udid=str(said["udid"]),
        state=str(said["state"]).lower(),
    )


def _attached(machine: Machine) -> Found:
    """Source: `adb devices -l`: below a heading a line a device: serial, state, facts such as `model:Pixel_7`."""
    text, why = _said(machine, machine.android("adb"), "adb", "devices", "-l")
    if why:
        return [], f"Android devices could not be asked for: {why}."
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


def _emulators(machine: Machine) -> Found:
    """Source: `emulator -list-avds`, a name a line, beside what it has to say about itself."""
    text, why = _said(machine, machine.android("emulator"), "emulator", "-list-avds")
    if why:
        return [], f"Android emulators could not be asked for: {why}."
    names = [line.strip() for line in text.splitlines() if re.fullmatch(r"[\w.-]+", line.strip())]
    return [
        Device(platform="android", kind="emulator", name=name.replace("_", " "), avd=name, state="can be started")
        for name in names
    ], ""


def _said(machine: Machine, program: Path | None, name: str, *arguments: str) -> tuple[str, str]:
    """What a program says, or why it does not."""
    if program is None:
        return "", f"{name} is not on this machine"
    try:
        done = subprocess.run(
            [program, *arguments],
            env=dict(machine.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "", f"{name} did not answer within {_PATIENCE:g} s"
    except OSError as error:
        return "", f"{name} cannot be run ({error.strerror})"
    if done.returncode:
        said = " ".join(done.stderr.split())[:200].rstrip(".")
        return "", f"{name} ended with {done.returncode}{': ' if said else ''}{said}"
    return done.stdout, ""


def _at_server(url: str) -> tuple[dict[str, Mapping[str, Any]], str]:
    """The sessions of the Appium server: it tells only where it was started with `session_discovery` allowed."""
    shown, parts = without_credentials(url), urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=5)
    own = credentials(url)
    headers = {"Authorization": f"Basic {b64encode(':'.join(own).encode()).decode()}"} if own else {}
    try:
        connection.request("GET", f"{parts.path.rstrip('/')}/appium/sessions", headers=headers)
        answer = connection.getresponse()
        listed = json.loads(answer.read())["value"]
        return {str(one["id"]): one.get("capabilities") or {} for one in listed}, ""
    except (OSError, http.client.HTTPException):
        return {}, f"No Appium server answers at {shown}."
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}, (
            f"The Appium server at {shown} does not tell which sessions it has: start it with "
            "--allow-insecure *:session_discovery."
        )
    finally:
        connection.close()
