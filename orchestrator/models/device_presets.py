"""Device presets by name: page area, screen, scale, system and touch, as pages see them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from orchestrator.errors import InvalidArgument

LANDSCAPE = " landscape"
"""Suffix of a device's name that turns it on its side."""
_FILE = Path(__file__).with_name("device_presets.json")
"""The devices of Playwright, and some of ours. It is read with the first device that is asked for."""


@dataclass(frozen=True, slots=True)
class DevicePreset:
    """A device.

    Attributes:
        name: Name that users type.
        width: Width of the page area, in CSS pixels, as is `height`: the screen without the browser's bars.
        screen_width: Width of the whole screen, in CSS pixels, as is `screen_height`.
        scale: Pixels of the screen in one CSS pixel (`devicePixelRatio`).
        touch: Fingers that the touch screen feels; 0 for a mouse.
        mobile: True if pages are laid out as on a phone or tablet: by their `meta name=viewport`.
        browser: Engine whose user agent it has: chromium, webkit or firefox (Playwright's `defaultBrowserType`).
        system: Operating system, as in the client hint `Sec-CH-UA-Platform`; `release` is its version.
        machine: `navigator.platform`.
        model: Client hint `Sec-CH-UA-Model`.
        agent: User agent; `{version}` stands for the browser's major version.
    """

    name: str
    width: int
    height: int
    screen_width: int
    screen_height: int
    scale: float
    touch: int
    mobile: bool
    browser: str
    system: str
    release: str
    machine: str
    model: str
    agent: str

    @property
    def portrait(self) -> bool:
        """True if it stands upright."""
        return self.screen_height >= self.screen_width

    @property
    def phone(self) -> bool:
        """True if sites take it for a phone (the client hint `Sec-CH-UA-Mobile`)."""
        return self.mobile and "Mobile" in self.agent and self.model != "iPad"

    def user_agent(self, version: str) -> str:
        """Return the user agent that a browser of this version has on the device."""
        return self.agent.format(version=version.partition(".")[0] or "0")

    def hints(self) -> dict[str, Any]:
        """Return the client hints, but for the brands: they are the browser's own."""
        return {
            "platform": self.system,
            "platformVersion": self.release,
            "architecture": "" if self.mobile else "x86",
            "model": self.model,
            "mobile": self.phone,
        }


@cache
def device_presets() -> Mapping[str, DevicePreset]:
    """Return every device by its name; a portrait one is followed by its landscape twin."""
    rows = json.loads(_FILE.read_text("utf-8"))
    return {device.name: device for row in (*rows["playwright"], *rows["ours"]) for device in _orientations(**row)}


def _orientations(
    *, name: str, viewport: list[int], screen: list[int], landscape: list[int] | None = None, **facts: Any
) -> Iterator[DevicePreset]:
    yield _preset(name, viewport, screen, facts)
    if landscape is not None:
        # iOS reports its screen upright always; here it turns, as it does on Android and in Chromium.
        yield _preset(name + LANDSCAPE, landscape, screen[::-1], facts)


def _preset(name: str, area: list[int], screen: list[int], facts: Mapping[str, Any]) -> DevicePreset:
    width, height = area
    screen_width, screen_height = screen
    return DevicePreset(name, width, height, screen_width, screen_height, **facts)


@cache
def _names_by_folded() -> Mapping[str, str]:
    return {name.casefold(): name for name in device_presets()}


def find_preset(name: str) -> DevicePreset:
    """Return the device of this name, in any case of letters.

    Raises:
        InvalidArgument: There is none; the hint names the nearest.
    """
    found = _names_by_folded().get(" ".join(name.split()).casefold())
    if found is None:
        raise InvalidArgument(f"Unknown device {name[:64]!r}.", hint=_suggestion(name))
    return device_presets()[found]


def _suggestion(name: str) -> str:
    names = _names_by_folded()
    near = [names[word] for word in get_close_matches(name.casefold(), names, n=4, cutoff=0.5)]
    question = f"Did you mean {' or '.join(map(repr, near))}? " if near else ""
    usual = "iPhone 14, Pixel 7, Galaxy S20 Ultra, iPad Air, Desktop Chrome"
    return (
        f"{question}The names are Playwright's, such as {usual}; phones and tablets also with 'landscape' behind. "
        "All: docs/devices.md."
    )
