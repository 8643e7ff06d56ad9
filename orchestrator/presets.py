"""Devices by the names that people know: what a page can tell of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from orchestrator.errors import InvalidArgument

_WEBKIT = "AppleWebKit/605.1.15 (KHTML, like Gecko)"
_BLINK = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{version}.0.0.0"
_IPHONE = f"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) {_WEBKIT} Version/18.5 Mobile/15E148 Safari/604.1"
_IPAD = f"Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) {_WEBKIT} Version/18.5 Mobile/15E148 Safari/604.1"
_ANDROID = f"Mozilla/5.0 (Linux; Android {{release}}; {{model}}) {_BLINK}{{mobile}} Safari/537.36"
_WINDOWS = f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {_BLINK} Safari/537.36"
_MAC = f"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) {_WEBKIT} Version/18.5 Safari/605.1.15"
_FINGERS = 5
LANDSCAPE = " landscape"
"""What the name of a device that lies on its side ends with."""


@dataclass(frozen=True, slots=True)
class Device:
    """A device.

    Attributes:
        name: What people call it.
        width: Of its screen, in CSS pixels; so is `height`.
        scale: Pixels of the screen in one CSS pixel (`devicePixelRatio`).
        touch: Fingers that it feels; 0 has a mouse.
        mobile: Whether pages are laid out as on a phone or tablet: by their `meta name=viewport`.
        system: Its operating system, as the client hint `Sec-CH-UA-Platform` says it; `release` is its version.
        machine: `navigator.platform`.
        model: The client hint `Sec-CH-UA-Model`.
        agent: The user agent; `{version}` stands for the browser's major version.
    """

    name: str
    width: int
    height: int
    scale: float
    touch: int
    mobile: bool
    system: str
    release: str
    machine: str
    model: str
    agent: str

    @property
    def portrait(self) -> bool:
        """Whether it stands upright."""
        return self.height >= self.width

    @property
    def phone(self) -> bool:
        """Whether sites take it for a phone (the client hint `Sec-CH-UA-Mobile`)."""
        return self.mobile and "Mobile" in self.agent and self.model != "iPad"

    def user_agent(self, version: str) -> str:
        """The user agent of this browser version on it."""
        return self.agent.format(version=version.partition(".")[0] or "0")

    def hints(self) -> dict[str, Any]:
        """The client hints, but for the brands: they are the browser's own."""
        return {
            "platform": self.system,
            "platformVersion": self.release,
            "architecture": "" if self.mobile else "x86",
            "model": self.model,
            "mobile": self.phone,
        }


def _apple(name: str, width: int, height: int, scale: float) -> Device:
    kind, agent = ("iPad", _IPAD) if name.startswith("iPad") else ("iPhone", _IPHONE)
    return Device(name, width, height, scale, _FINGERS, True, "iOS", "18.5", kind, kind, agent)  # noqa: FBT003


def _android(name: str, width: int, height: int, scale: float, release: int, *, model: str = "") -> Device:
    # Tablets leave "Mobile" out.
    word = "" if "Tab " in name else " Mobile"
    agent = _ANDROID.replace("{release}", str(release)).replace("{model}", model or name).replace("{mobile}", word)
    system = ("Android", f"{release}.0.0", "Linux armv81", model or name)
    return Device(name, width, height, scale, _FINGERS, True, *system, agent)  # noqa: FBT003


def _desktop(name: str, width: int, height: int, scale: float, agent: str = _WINDOWS) -> Device:
    system = ("macOS", "15.5.0", "MacIntel", "") if agent == _MAC else ("Windows", "15.0.0", "Win32", "")
    return Device(name, width, height, scale, 0, False, *system, agent)  # noqa: FBT003


def _both_ways(upright: Iterable[Device]) -> Iterator[Device]:
    for one in upright:
        yield one
        yield replace(one, name=one.name + LANDSCAPE, width=one.height, height=one.width)


DEVICES: Mapping[str, Device] = {
    one.name: one
    for one in (
        *_both_ways(
            (
                _apple("iPhone SE", 375, 667, 2),
                _apple("iPhone XR", 414, 896, 2),
                _apple("iPhone 11", 414, 896, 2),
                _apple("iPhone 11 Pro", 375, 812, 3),
                _apple("iPhone 12", 390, 844, 3),
                _apple("iPhone 12 Pro", 390, 844, 3),
                _apple("iPhone 12 Pro Max", 428, 926, 3),
                _apple("iPhone 13 Mini", 375, 812, 3),
                _apple("iPhone 13", 390, 844, 3),
                _apple("iPhone 13 Pro", 390, 844, 3),
                _apple("iPhone 13 Pro Max", 428, 926, 3),
                _apple("iPhone 14", 390, 844, 3),
                _apple("iPhone 14 Plus", 428, 926, 3),
                _apple("iPhone 14 Pro", 393, 852, 3),
                _apple("iPhone 14 Pro Max", 430, 932, 3),
                _apple("iPhone 15", 393, 852, 3),
                _apple("iPhone 15 Plus", 430, 932, 3),
                _apple("iPhone 15 Pro", 393, 852, 3),
                _apple("iPhone 15 Pro Max", 430, 932, 3),
                _apple("iPhone 16", 393, 852, 3),
                _apple("iPhone 16 Pro", 402, 874, 3),
                _apple("iPhone 16 Pro Max", 440, 956, 3),
                _apple("iPad", 810, 1080, 2),
                _apple("iPad Mini", 744, 1133, 2),
                _apple("iPad Air", 820, 1180, 2),
                _apple("iPad Pro", 1024, 1366, 2),
                _apple("iPad Pro 11", 834, 1194, 2),
                _android("Pixel 5", 393, 851, 2.75, 14),
                _android("Pixel 6", 412, 915, 2.625, 15),
                _android("Pixel 7", 412, 915, 2.625, 15),
                _android("Pixel 7 Pro", 412, 892, 3.5, 15),
                _android("Pixel 8", 412, 915, 2.625, 15),
                _android("Pixel 9", 412, 923, 2.625, 15),
                _android("Galaxy S8+", 360, 740, 4, 9, model="SM-G955U"),
                _android("Galaxy S9+", 320, 658, 4.5, 10, model="SM-G965U"),
                _android("Galaxy S20 Ultra", 412, 915, 3.5, 13, model="SM-G988B"),
                _android("Galaxy S22", 360, 780, 3, 14, model="SM-S901B"),
                _android("Galaxy S23", 360, 780, 3, 14, model="SM-S911B"),
                _android("Galaxy S24", 360, 780, 3, 15, model="SM-S921B"),
                _android("Galaxy A55", 384, 832, 2.8125, 15, model="SM-A556B"),
                _android("Galaxy Tab S9", 800, 1280, 2, 15, model="SM-X710"),
            )
        ),
        _desktop("Desktop Chrome", 1280, 720, 1),
        _desktop("Desktop Chrome HiDPI", 1280, 720, 2),
        _desktop("Desktop Edge", 1280, 720, 1, f"{_WINDOWS} Edg/{{version}}.0.0.0"),
        _desktop("Desktop Safari", 1280, 720, 2, _MAC),
    )
}
"""The devices by name, in the order in which docs list them."""

_BY_WORD = {name.casefold(): name for name in DEVICES}


def device(name: str) -> Device:
    """The device of this name, in any case of letters.

    Raises:
        InvalidArgument: There is none; the hint has the nearest names.
    """
    found = _BY_WORD.get(" ".join(name.split()).casefold())
    if found is None:
        raise InvalidArgument(f"{name[:64]!r} is not a device that is known.", hint=_near(name))
    return DEVICES[found]


def _near(name: str) -> str:
    alike = [_BY_WORD[word] for word in get_close_matches(name.casefold(), _BY_WORD, n=4, cutoff=0.5)]
    usual = "iPhone 14, Pixel 7, Galaxy S20 Ultra, iPad Air, Desktop Chrome"
    asked = f"Did you mean {' or '.join(map(repr, alike))}? " if alike else ""
    return f"{asked}Such as {usual}; phones and tablets also with 'landscape' behind. All: docs/devices.md."
