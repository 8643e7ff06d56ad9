"""What the slots of a Selenium Grid offer, and whether one of them can ever take a request; pure functions.

Source: the rules of Grid's DefaultSlotMatcher. Where versions of Grid differ, a slot counts as able: the Grid decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

_OF_DRIVERS = ("goog:", "moz:", "ms:", "se:")
"""Capabilities that no slot is chosen by: the driver judges them."""
_CHANNELS = frozenset({"stable", "beta", "dev", "canary", "nightly", "esr"})
_FAMILIES = {"mac": ("mac", "os x", "darwin"), "windows": ("win", "xp", "vista"), "linux": ("linux", "unix")}
_ANYWHERE = "any"
_SHOWN = 8
"""Kinds of slots that are told."""


def can_take(stereotype: Mapping[str, Any], capabilities: Mapping[str, Any]) -> bool:
    """Whether a slot of this stereotype can take a request for these capabilities."""
    if capabilities.get("se:downloadsEnabled") and not stereotype.get("se:downloadsEnabled"):
        return False
    if capabilities.get("browserName") and stereotype.get("browserName") != capabilities["browserName"]:
        return False
    asked = {name: value for name, value in capabilities.items() if value not in (None, "")}
    return all(_agree(name, stereotype.get(name), value) for name, value in asked.items() if _counts(name, stereotype))


def offers(stereotypes: Iterable[Mapping[str, Any]]) -> str:
    """What there is, such as `2 x chrome 156 on linux with downloads, 1 x firefox on windows`."""
    counted = Counter(map(_offer, stereotypes)).most_common()
    told = [f"{count} x {offer}" for offer, count in counted[:_SHOWN]]
    return ", ".join([*told, *(["…"] if len(counted) > _SHOWN else [])])


def _counts(name: str, stereotype: Mapping[str, Any]) -> bool:
    """Whether slots are chosen by a capability: those of the standard that they name, platform, and others' own."""
    if name in {"browserVersion", "platformName"} or "platformVersion" in name:
        return True
    return name in stereotype and not name.startswith(_OF_DRIVERS)


def _agree(name: str, offered: Any, asked: Any) -> bool:
    if name == "platformName":
        return offered is None or _on_platform(str(offered).lower(), str(asked).lower())
    if name == "browserVersion":
        return str(asked).lower() in _CHANNELS or _same_version(str(offered or ""), str(asked))
    if isinstance(asked, str):
        return str(offered).lower() == asked.lower()
    return bool(offered == asked)


def _on_platform(offered: str, asked: str) -> bool:
    """Whether they are the same system, or of one family: which Windows a Windows is, the Grid knows better."""
    if asked in {offered, _ANYWHERE}:
        return True
    return _family(offered) == _family(asked)


def _family(platform: str) -> str:
    found = (name for name, parts in _FAMILIES.items() if any(part in platform for part in parts))
    return next(found, platform)


def _same_version(offered: str, asked: str) -> bool:
    """Whether one is the other, or says more of it: 156 and 156.0."""
    return all(one == other for one, other in zip(offered.split("."), asked.split("."), strict=False))


def _offer(stereotype: Mapping[str, Any]) -> str:
    names = ("browserName", "browserVersion", "appium:automationName", "appium:deviceName")
    named = [stereotype.get(name) for name in names]
    offer = " ".join(str(one) for one in named if one) or "any browser"
    if platform := stereotype.get("platformName"):
        offer += f" on {platform}"
    if version := stereotype.get("appium:platformVersion"):
        offer += f" {version}"
    return f"{offer} with downloads" if stereotype.get("se:downloadsEnabled") else offer
