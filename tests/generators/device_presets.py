"""Writes the devices of playwright-core into `orchestrator/models/device_presets.json`.

Install playwright-core in a folder anywhere, and there:

    node -e "const p = require('playwright-core'); process.stdout.write(JSON.stringify(
        {version: require('playwright-core/package.json').version, devices: p.devices}))" > devices.json

Then, in this checkout: `python -m tests.generators.device_presets < FOLDER/devices.json && make docs`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

FILE = Path(__file__).parents[2] / "orchestrator" / "models" / "device_presets.json"
LANDSCAPE = " landscape"
_FINGERS = 5
_CHROMIUM = re.compile(r"\b(Chrome|Edg)/[\d.]+")
_ANDROID = re.compile(r"Android ([\d.]+);(?: [a-z-]+;)? (.+?)(?: Build/\S+)?\) ")
_APPLE = re.compile(r"\((iPhone|iPad); CPU (?:iPhone )?OS ([\d_]+) ")


class System(NamedTuple):
    """A device's system, by the names of client hints, and its `navigator.platform`."""

    system: str
    release: str
    machine: str
    model: str = ""


def described(version: str, devices: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the data file with these devices of playwright-core, and ours as they are."""
    ours = json.loads(FILE.read_text("utf-8"))["ours"]
    theirs = [row(name, devices) for name in devices if not name.endswith(LANDSCAPE)]
    source = f"playwright-core {version} (Apache-2.0), by tests/generators/device_presets.py; `ours` is written by hand"
    return f'{{\n"source": {json.dumps(source)},\n"playwright": {lines(theirs)},\n"ours": {lines(ours)}\n}}\n'


def lines(rows: list[dict[str, Any]]) -> str:
    """Return a list of JSON with a device in each line."""
    return "[\n" + ",\n".join(json.dumps(one) for one in rows) + "\n]"


def row(name: str, devices: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return a device with its page area in both orientations."""
    device, lying = devices[name], devices.get(name + LANDSCAPE)
    areas = {"viewport": device["viewport"]}
    if lying:
        assert {**lying, "viewport": 0, "screen": 0} == {**device, "viewport": 0, "screen": 0}, name
        areas["landscape"] = lying["viewport"]
    areas["screen"] = device.get("screen", device["viewport"])
    return {
        "name": name,
        **{key: [area["width"], area["height"]] for key, area in areas.items()},
        "scale": device["deviceScaleFactor"],
        "mobile": device["isMobile"],
        "touch": _FINGERS if device["hasTouch"] else 0,
        "browser": device["defaultBrowserType"],
        **system_of(device["userAgent"])._asdict(),
        "agent": _CHROMIUM.sub(r"\1/{version}.0.0.0", device["userAgent"]),
    }


def system_of(agent: str) -> System:
    """Return the system that a user agent names."""
    if found := _APPLE.search(agent):
        return System("iOS", found[2].replace("_", "."), found[1], found[1])
    if "Windows Phone" in agent:
        return System("Windows Phone", "", "Win32", re.split(r"; |\)", agent.partition(")")[0])[-1])
    if found := _ANDROID.search(agent):
        return System("Android", ".".join([*found[1].split("."), "0", "0"][:3]), "Linux armv81", found[2])
    for word, system in _OTHERS:
        if word in agent:
            return system
    raise AssertionError(agent)


_OTHERS = (
    ("Windows NT", System("Windows", "15.0.0", "Win32")),
    ("Macintosh", System("macOS", "15.5.0", "MacIntel")),
    ("PlayBook", System("BlackBerry", "2.1.0", "BlackBerry")),
    ("BB10", System("BlackBerry", "10.0.0", "BlackBerry")),
    ("KFAPWI", System("Android", "", "Linux armv7l", "KFAPWI")),
    ("MeeGo", System("Linux", "", "Linux armv7l", "NokiaN9")),
)


def main() -> None:
    """Write the file from what node printed."""
    FILE.write_text(described(**json.load(sys.stdin)), "utf-8")


if __name__ == "__main__":
    main()
