"""Apply emulation to tabs: device, location, time zone, locale, colours, network."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from math import ceil
from typing import Any

from orchestrator.automation.browser.record_access import RecordAccess
from orchestrator.automation.browser.viewport import override_page_area, resize_page_area, restore_page_area
from orchestrator.errors import InvalidArgument, OrchestratorError, RemoteFailure, Unsupported
from orchestrator.models import browser_support
from orchestrator.models.device_presets import DevicePreset, find_preset
from orchestrator.models.emulation import DEFAULT_VIEWPORT, HIGHEST, OFF, Emulation, Viewport
from orchestrator.models.session import Tab
from orchestrator.webdriver.bidi import Bidi
from orchestrator.webdriver.remote import Remote

Commands = list[tuple[str, dict[str, Any]]]
"""Method names and their parameters, in order."""
ASPECTS = ("device", "geolocation", "timezone", "locale", "color_scheme", "offline")
"""Aspects of emulation, in the order in which they are applied."""

_METRICS, _NO_METRICS = "Emulation.setDeviceMetricsOverride", "Emulation.clearDeviceMetricsOverride"
_REFUSED = "invalid argument"

_LACKING = frozenset({"userAgentClientHints.setClientHintsOverride", "emulation.setTouchOverride"})
"""BiDi commands for devices that Firefox 153 does not know."""

_NO_DEVICE: Commands = [
    ("Emulation.setUserAgentOverride", {"userAgent": ""}),
    ("Emulation.setTouchEmulationEnabled", {"enabled": False}),
]


def by_bidi(aspect: str, wanted: Emulation) -> Commands:
    """BiDi commands that apply an aspect other than the device to all tabs, or reset it.

    Source: https://www.w3.org/TR/webdriver-bidi/#module-emulation; `setMediaFeaturesOverride` is chromedriver's own.
    """
    params: dict[str, Any]
    if aspect == "geolocation":
        params = {"coordinates": _coordinates(wanted) if wanted.geolocation.is_set else None}
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


def device_by_bidi(device: DevicePreset | None, size: Viewport, version: str) -> Commands:
    """BiDi commands that emulate a device in all tabs from their first document on, or reset it."""
    if device is None:
        return [
            ("browsingContext.setViewport", {"viewport": None, "devicePixelRatio": None}),
            ("emulation.setUserAgentOverride", {"userAgent": None}),
            ("userAgentClientHints.setClientHintsOverride", {"clientHints": None}),
            ("emulation.setTouchOverride", {"maxTouchPoints": None}),
            ("emulation.setScreenOrientationOverride", {"screenOrientation": None}),
            ("emulation.setScreenSettingsOverride", {"screenArea": None}),
        ]
    orientation = "portrait" if device.portrait else "landscape"
    view = {"width": size.width, "height": size.height}
    return [
        ("browsingContext.setViewport", {"viewport": view, "devicePixelRatio": device.scale}),
        ("emulation.setUserAgentOverride", {"userAgent": device.user_agent(version)}),
        ("userAgentClientHints.setClientHintsOverride", {"clientHints": device.hints()}),
        ("emulation.setTouchOverride", {"maxTouchPoints": device.touch or None}),
        (
            "emulation.setScreenOrientationOverride",
            {
                "screenOrientation": {
                    "natural": "portrait" if device.mobile else orientation,
                    "type": f"{orientation}-primary",
                }
            },
        ),
        ("emulation.setScreenSettingsOverride", {"screenArea": _screen(device, size)}),
    ]


def by_cdp(aspect: str, wanted: Emulation) -> Commands:
    """CDP commands that apply an aspect other than the device to a tab, or reset it.

    Source: https://chromedevtools.github.io/devtools-protocol/tot/Emulation/.
    """
    if aspect == "geolocation":
        if not wanted.geolocation.is_set:
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


def device_by_cdp(device: DevicePreset, size: Viewport, version: str, locale: str) -> Commands:
    """CDP commands that emulate a device in a tab, with what BiDi lacks: phone layout and `navigator.platform`."""
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


def metrics(device: DevicePreset, size: Viewport) -> dict[str, Any]:
    """Parameters of `Emulation.setDeviceMetricsOverride` for a device's page area."""
    screen: Mapping[str, int] = _screen(device, size)
    # A phone in landscape is turned by 90 degrees; a monitor is not.
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


def _screen(device: DevicePreset, size: Viewport) -> dict[str, int]:
    """The size of the device's screen, enlarged if the page area is larger."""
    return {"width": max(device.screen_width, size.width), "height": max(device.screen_height, size.height)}


class Emulator:
    """The emulation of a session.

    A BiDi command applies to all tabs, later ones included, and survives the connection. Without BiDi, emulation is
    applied to each tab by CDP. A device needs both: only CDP lays pages out as on a phone.
    """

    def __init__(self, remote: Remote, bidi: Bidi | None, turn: RecordAccess) -> None:
        self._remote = remote
        self._bidi = bidi
        self._turn = turn
        # Firefox has only BiDi, Chromium both.
        self._only_bidi = bidi if browser_support.is_firefox(turn.record.capabilities) else None

    def lacking(self, wanted: Emulation) -> list[str]:
        """Return a sentence about what this browser leaves out of a device."""
        device = find_preset(wanted.device) if wanted.device else None
        if self._only_bidi is None or device is None or not (device.touch or device.mobile):
            return []
        told = f"Firefox emulates the screen and the user agent of {device.name}, but neither its touch screen nor a"
        return [f"{told} phone's layout, as it has no commands for them: use Chrome or Edge for these."]

    def apply_record(self) -> None:
        """Apply the record's emulation to a browser that has just started."""
        wanted = self._turn.record.emulation
        self._turn.change(emulation=Emulation())
        if wanted != Emulation():
            self.change(wanted, self._turn.record.viewport or DEFAULT_VIEWPORT)

    def change(self, wanted: Emulation, size: Viewport | None) -> None:
        """Switch to this emulation and page area; a device needs a size, otherwise None keeps the current one.

        Raises:
            InvalidArgument: The browser does not know the time zone or language; nothing has changed.
            Unsupported: The browser cannot emulate it; nothing has changed.
        """
        before, old_size = self._turn.record.emulation, self._turn.record.viewport
        try:
            self._apply(wanted, size)
        except (InvalidArgument, Unsupported):
            with suppress(OrchestratorError):
                self._apply(before, old_size or wanted.window)
                self._turn.change(viewport=old_size)
            raise

    def _apply(self, wanted: Emulation, size: Viewport | None) -> None:
        """Apply the differences to the browser; the record follows step by step."""
        resized = bool(wanted.device) and size != self._turn.record.viewport
        had_device = bool(self._turn.record.emulation.device)
        for aspect in ASPECTS:
            before = self._turn.record.emulation
            same = getattr(before, aspect) == getattr(wanted, aspect)
            if same and not (aspect == "device" and resized):
                continue
            by_tab = {*before.by_tab} - {aspect}
            if not self._apply_to_all_tabs(aspect, wanted, size or DEFAULT_VIEWPORT):
                by_tab.add(aspect)
                self._apply_to_current_tab(aspect, wanted, size or DEFAULT_VIEWPORT)
            applied = {aspect: getattr(wanted, aspect), "window": wanted.window, "by_tab": tuple(sorted(by_tab))}
            self._turn.change(emulation=before.with_changes(**applied))
        self._turn.change(viewport=size)
        if size is not None and (had_device or wanted.device):
            self._lay_out(size, had_device=had_device)

    def resize(self, size: Viewport) -> Viewport:
        """Resize the page area, also an emulated device's; returns the size that was reached."""
        record = self._turn.record
        if record.emulation.device:
            self.change(record.emulation, size)
            return size
        reached = resize_page_area(self._remote, size, self._bidi)
        self._turn.change(viewport=size)
        return reached

    def prepare_new_tab(self, tab: Tab) -> None:
        """Apply the device's per-tab settings to a new tab."""
        device, size = self._device, self._turn.record.viewport
        if device is not None and size is not None:
            with suppress(RemoteFailure):  # the tab was closed meanwhile
                self._send_to(tab.handle, device, size)

    def update_selected_tab(self, tab: Tab) -> Tab:
        """Apply missing emulation to the tab that has become current; returns the updated tab."""
        record = self._turn.record
        wanted, size = record.emulation, record.viewport
        for aspect in wanted.by_tab:
            if getattr(tab.emulation, aspect) != getattr(wanted, aspect):
                self._apply_to_current_tab(aspect, wanted, size or DEFAULT_VIEWPORT)
        if size is not None and (tab.viewport, tab.emulation.device) != (size, wanted.device):
            self._set_page_area(size, was_device=bool(tab.emulation.device))
        return tab.model_copy(update={"viewport": size, "emulation": wanted})

    def stretch(self, width: int, height: int) -> None:
        """Resize the current tab's page area for a screenshot; `restore_page_area` reverts it. Chromium only."""
        if (device := self._device) is None:
            override_page_area(self._remote, width, height)
            return
        size = self._turn.record.viewport or Viewport(width=device.width, height=device.height)
        high = Viewport(width=size.width, height=min(ceil(height * size.width / width), HIGHEST))
        self._remote.cdp(_METRICS, **metrics(device, high))

    def restore_page_area(self, width: int, height: int) -> None:
        """Restore the page area's size and scroll bars."""
        size = self._turn.record.viewport
        if self._device is None or size is None:
            restore_page_area(self._remote, width, height)
        else:
            self._set_page_area(size, was_device=True)

    @property
    def _device(self) -> DevicePreset | None:
        name = self._turn.record.emulation.device
        return find_preset(name) if name else None

    @property
    def _version(self) -> str:
        return str(self._turn.record.capabilities.get("browserVersion", ""))

    def _apply_to_all_tabs(self, aspect: str, wanted: Emulation, size: Viewport) -> bool:
        """Apply an aspect to all tabs by BiDi; False if that is not possible."""
        if self._bidi is None:
            return False
        device = find_preset(wanted.device) if wanted.device else None
        commands = device_by_bidi(device, size, self._version) if aspect == "device" else by_bidi(aspect, wanted)
        if self._only_bidi is not None:
            commands = [(method, params) for method, params in commands if method not in _LACKING]
        try:
            for method, params in commands:
                self._bidi.call(method, userContexts=[self._bidi.user_context], **params)
        except RemoteFailure as error:
            if error.details.get("error") == _REFUSED:
                raise _unknown(aspect, wanted) from error
            return False
        return True

    def _apply_to_current_tab(self, aspect: str, wanted: Emulation, size: Viewport) -> None:
        """Apply an aspect to the current tab by CDP."""
        if aspect == "device":
            device = find_preset(wanted.device) if wanted.device else None
            commands = device_by_cdp(device, size, self._version, wanted.locale) if device else _NO_DEVICE
        else:
            commands = by_cdp(aspect, wanted)
        browser_support.require_ability("emulate", self._turn.record.capabilities.get("browserName"))
        for method, params in commands:
            try:
                self._remote.cdp(method, **params)
            except RemoteFailure as error:
                if error.details.get("error") == _REFUSED:
                    raise _unknown(aspect, wanted) from error
                raise Unsupported(
                    f"This browser cannot emulate {aspect.replace('_', ' ')}: {error.message}",
                    hint="Omit it, or use Chrome.",
                ) from error

    def _lay_out(self, size: Viewport, *, had_device: bool) -> None:
        for tab in self._turn.record.tabs:
            self.prepare_new_tab(tab)
        self._set_page_area(size, was_device=had_device)

    def _send_to(self, handle: str, device: DevicePreset, size: Viewport) -> None:
        """Send a device's CDP commands to a tab through BiDi, if there is BiDi."""
        if self._bidi is None or self._only_bidi is not None:
            return
        for method, params in device_by_cdp(device, size, self._version, self._turn.record.emulation.locale):
            self._bidi.cdp(method, context=handle, **params)

    def _set_page_area(self, size: Viewport, *, was_device: bool) -> None:
        """Resize the current tab's page area."""
        device = self._device
        if self._only_bidi is not None:
            resize_page_area(self._remote, size, self._only_bidi)
            return
        if device is not None:
            # Sent by the driver's own connection, since the driver restores its own values after each screenshot.
            self._remote.cdp(_METRICS, **metrics(device, size))
            return
        if was_device:
            self._remote.cdp(_NO_METRICS)
        resize_page_area(self._remote, size, self._bidi)


def _unknown(aspect: str, wanted: Emulation) -> InvalidArgument:
    value: Any = getattr(wanted, aspect)
    hints = {"timezone": "Give for example Europe/Berlin.", "locale": "Give for example de-DE."}
    return InvalidArgument(f"The browser does not know the {aspect} {str(value)[:64]!r}.", hint=hints.get(aspect, ""))
