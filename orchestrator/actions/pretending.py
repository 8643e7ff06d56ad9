"""The commands that make a browser pretend something: WebDriver BiDi's for all its tabs, CDP's for one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.emulation import OFF, Emulation, Viewport
from orchestrator.presets import Device

Commands = list[tuple[str, dict[str, Any]]]
"""Methods with their parameters, in order."""
ASPECTS = ("device", "geolocation", "timezone", "locale", "color_scheme", "offline")
"""What can be emulated, in the order in which it is."""


def by_bidi(aspect: str, wanted: Emulation) -> Commands:
    """What makes all tabs pretend an aspect other than the device, or stop it.

    Source: https://www.w3.org/TR/webdriver-bidi/#module-emulation; `setMediaFeaturesOverride` is chromedriver's own.
    """
    params: dict[str, Any]
    if aspect == "geolocation":
        params = {"coordinates": _coordinates(wanted) if wanted.geolocation.there else None}
        return [("emulation.setGeolocationOverride", params)]
    if aspect == "timezone":
        return [("emulation.setTimezoneOverride", {"timezone": wanted.timezone or None})]
    if aspect == "locale":
        return [("emulation.setLocaleOverride", {"locale": wanted.locale or None})]
    if aspect == "offline":
        conditions = {"type": "offline"} if wanted.offline else None
        return [("emulation.setNetworkConditions", {"networkConditions": conditions})]
    features = None if wanted.color_scheme == OFF else {"prefers-color-scheme": wanted.color_scheme}
    return [("emulation.setMediaFeaturesOverride", {"features": features})]


def device_by_bidi(device: Device | None, size: Viewport, version: str) -> Commands:
    """What makes all tabs look like a device from their first document on, or like this machine again."""
    if device is None:
        return [
            ("browsingContext.setViewport", {"viewport": None, "devicePixelRatio": None}),
            ("emulation.setUserAgentOverride", {"userAgent": None}),
            ("userAgentClientHints.setClientHintsOverride", {"clientHints": None}),
            ("emulation.setTouchOverride", {"maxTouchPoints": None}),
            ("emulation.setScreenOrientationOverride", {"screenOrientation": None}),
            ("emulation.setScreenSettingsOverride", {"screenArea": None}),
        ]
    way = "portrait" if device.portrait else "landscape"
    view = {"width": size.width, "height": size.height}
    return [
        ("browsingContext.setViewport", {"viewport": view, "devicePixelRatio": device.scale}),
        ("emulation.setUserAgentOverride", {"userAgent": device.user_agent(version)}),
        ("userAgentClientHints.setClientHintsOverride", {"clientHints": device.hints()}),
        ("emulation.setTouchOverride", {"maxTouchPoints": device.touch or None}),
        (
            "emulation.setScreenOrientationOverride",
            {"screenOrientation": {"natural": "portrait" if device.mobile else way, "type": f"{way}-primary"}},
        ),
        ("emulation.setScreenSettingsOverride", {"screenArea": _screen(device, size)}),
    ]


def by_cdp(aspect: str, wanted: Emulation) -> Commands:
    """The same as `by_bidi` for one tab.

    Source: https://chromedevtools.github.io/devtools-protocol/tot/Emulation/.
    """
    if aspect == "geolocation":
        if not wanted.geolocation.there:
            return [("Emulation.clearGeolocationOverride", {})]
        return [("Emulation.setGeolocationOverride", _coordinates(wanted))]
    if aspect == "timezone":
        return [("Emulation.setTimezoneOverride", {"timezoneId": wanted.timezone})]
    if aspect == "locale":
        return [("Emulation.setLocaleOverride", {"locale": wanted.locale} if wanted.locale else {})]
    if aspect == "offline":
        free = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        return [("Network.emulateNetworkConditions", {"offline": wanted.offline, **free})]
    value = "" if wanted.color_scheme == OFF else wanted.color_scheme
    return [("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": value}]})]


def device_by_cdp(device: Device, size: Viewport, version: str, locale: str) -> Commands:
    """What makes one tab be a device: also what BiDi has no word for, the layout of phones and `navigator.platform`."""
    agent: dict[str, Any] = {
        "userAgent": device.user_agent(version),
        "platform": device.machine,
        "userAgentMetadata": device.hints(),
    }
    if locale:
        agent["acceptLanguage"] = locale
    touch = {"enabled": device.touch > 0, **({"maxTouchPoints": device.touch} if device.touch else {})}
    return [
        ("Emulation.setDeviceMetricsOverride", metrics(device, size)),
        ("Emulation.setUserAgentOverride", agent),
        ("Emulation.setTouchEmulationEnabled", touch),
    ]


def _coordinates(wanted: Emulation) -> dict[str, Any]:
    return {"accuracy": 1, **wanted.geolocation.model_dump(exclude_none=True)}


def metrics(device: Device, size: Viewport) -> dict[str, Any]:
    """The page area of a device (`Emulation.setDeviceMetricsOverride`)."""
    screen: Mapping[str, int] = _screen(device, size)
    # A phone's screen has turned by 90 degrees when it lies; a monitor lies as it is.
    angle = 90 if device.mobile and not device.portrait else 0
    return {
        "width": size.width,
        "height": size.height,
        "deviceScaleFactor": device.scale,
        "mobile": device.mobile,
        "screenWidth": screen["width"],
        "screenHeight": screen["height"],
        "screenOrientation": {"type": "portraitPrimary" if device.portrait else "landscapePrimary", "angle": angle},
    }


def _screen(device: Device, size: Viewport) -> dict[str, int]:
    """The screen that a page of this size is on: the device's own, or a larger one."""
    return {"width": max(device.width, size.width), "height": max(device.height, size.height)}
