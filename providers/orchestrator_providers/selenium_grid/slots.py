"""Matching of requests with the slots of a Selenium Grid.

Source: the rules of Grid's DefaultSlotMatcher. Where versions of Grid differ, a slot matches: the Grid decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

_OF_DRIVERS = ("goog:", "moz:", "ms:", "se:")
"""Prefixes of capabilities that do not select a slot: the driver checks them."""
_CHANNELS = frozenset({"stable", "beta", "dev", "canary", "nightly", "esr"})
_FAMILIES = {"mac": ("mac", "os x", "darwin"), "windows": ("win", "xp", "vista"), "linux": ("linux", "unix")}
_ANYWHERE = "any"
_SHOWN = 8
"""Kinds of slots that an error lists."""


def can_take(stereotype: Mapping[str, Any], capabilities: Mapping[str, Any]) -> bool:
    """Return True if a slot of this stereotype can take a request for these capabilities."""
    if capabilities.get("se:downloadsEnabled") and not stereotype.get("se:downloadsEnabled"):
        return False
    if capabilities.get("browserName") and stereotype.get("browserName") != capabilities["browserName"]:
        return False
    requested = {name: value for name, value in capabilities.items() if value not in (None, "")}
    return all(
        _matches(name, stereotype.get(name), value)
        for name, value in requested.items()
        if _selects_slot(name, stereotype)
    )


def offers(stereotypes: Iterable[Mapping[str, Any]]) -> str:
    """Return the kinds of slots, such as `2 x chrome 156 on linux with downloads, 1 x firefox on windows`."""
    counted = Counter(map(_offer, stereotypes)).most_common()
    kinds = [f"{count} x {offer}" for offer, count in counted[:_SHOWN]]
    return ", ".join([*kinds, *(["…"] if len(counted) > _SHOWN else [])])


def _selects_slot(name: str, stereotype: Mapping[str, Any]) -> bool:
    """Return True for versions, the platform, and capabilities of the stereotype that no driver checks."""
    if name in {"browserVersion", "platformName"} or "platformVersion" in name:
        return True
    return name in stereotype and not name.startswith(_OF_DRIVERS)


def _matches(name: str, offered: Any, requested: Any) -> bool:
    if name == "platformName":
        return offered is None or _is_same_platform(str(offered).lower(), str(requested).lower())
    if name == "browserVersion":
        return str(requested).lower() in _CHANNELS or _is_same_version(str(offered or ""), str(requested))
    if isinstance(requested, str):
        return str(offered).lower() == requested.lower()
    return bool(offered == requested)


def _is_same_platform(offered: str, requested: str) -> bool:
    """Return True for the same system or one of the same family: the Grid tells versions of Windows apart."""
    if requested in {offered, _ANYWHERE}:
        return True
    return _family(offered) == _family(requested)


def _family(platform: str) -> str:
    families = (name for name, parts in _FAMILIES.items() if any(part in platform for part in parts))
    return next(families, platform)


def _is_same_version(offered: str, requested: str) -> bool:
    """Return True if the shorter version begins the longer one, as 156 does 156.0."""
    return all(one == other for one, other in zip(offered.split("."), requested.split("."), strict=False))


def _offer(stereotype: Mapping[str, Any]) -> str:
    names = ("browserName", "browserVersion", "appium:automationName", "appium:deviceName")
    named = [stereotype.get(name) for name in names]
    offer = " ".join(str(one) for one in named if one) or "any browser"
    if platform := stereotype.get("platformName"):
        offer += f" on {platform}"
    if version := stereotype.get("appium:platformVersion"):
        offer += f" {version}"
    return f"{offer} with downloads" if stereotype.get("se:downloadsEnabled") else offer
