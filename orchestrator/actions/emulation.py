"""Live emulation: device, location, time zone, locale, colour scheme, offline (`emulate`)."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from pydantic import field_validator

from orchestrator.actions.base import Action, PageAction
from orchestrator.actions.tool_results import Emulated
from orchestrator.automation.browser.viewport import measure_page_area
from orchestrator.automation.scene import Scene
from orchestrator.errors import InvalidArgument
from orchestrator.models.device_presets import find_preset
from orchestrator.models.emulation import OFF, ColorScheme, Emulation, Geolocation, Viewport
from orchestrator.models.results import Observe, Outcome

_ZONE = re.compile(r"[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+){0,2}|[+-]\d\d:\d\d", re.ASCII)
_LOCALE = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8})*", re.ASCII)


class Emulate(PageAction[Emulated]):
    """Emulate a device, location, language, dark mode or offline; 'none' resets (geolocation: {})."""

    verb: ClassVar[str] = "emulate"
    title: ClassVar[str] = "Emulate"
    instead: ClassVar[str] = "Set a device's location with manage_device, action set_location."
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Emulated
    observes: ClassVar[Observe] = "change"

    device: str | None = None
    geolocation: Geolocation | None = None
    timezone: str | None = None
    locale: str | None = None
    color_scheme: ColorScheme | None = None
    offline: bool | None = None

    @field_validator("timezone")
    @classmethod
    def _zone(cls, given: str | None) -> str | None:
        if given is not None and not _ZONE.fullmatch(given):
            raise ValueError("must be a name such as Europe/Berlin, or an offset such as +02:00")
        return given

    @field_validator("locale")
    @classmethod
    def _language(cls, given: str | None) -> str | None:
        if given is not None and not _LOCALE.fullmatch(given):
            raise ValueError("must be a language tag such as de-DE")
        return given and given.replace("_", "-")

    def act(self, scene: Scene) -> Emulated:
        """Apply it to all tabs by BiDi, and record it, so that new tabs and other processes apply it, too."""
        wanted, size = self._wanted(scene)
        if wanted.color_scheme != OFF:
            scene.require_ability("color_scheme")
        scene.require_ability("emulate")
        scene.emulator.change(wanted, size)
        scene.tabs.record_current_emulation()
        if "geolocation" in self.model_fields_set:
            scene.permissions.apply_policies()
        result = Emulated.from_emulation(scene.record.emulation, scene.record.viewport)
        result.warnings.extend(scene.emulator.lacking(wanted) if self.device is not None else ())
        return result

    def _wanted(self, scene: Scene) -> tuple[Emulation, Viewport | None]:
        """The emulation to apply, and the size of the page area with it; None where no size was ever set."""
        record, size = scene.record, scene.record.viewport
        given = {name: getattr(self, name) for name in self.model_fields_set if name in Emulation.model_fields}
        given = {name: value for name, value in given.items() if value is not None}
        if not given and "observe" not in self.model_fields_set:
            raise InvalidArgument(
                "There is nothing to emulate.",
                hint="Give device, geolocation, timezone, locale, colorScheme or offline; 'none' resets one.",
            )
        for name in ("timezone", "locale"):
            if given.get(name) == OFF:
                given[name] = ""
        if "device" in given:
            current, window = record.emulation.device, record.emulation.window
            if given["device"] == OFF:
                size = window if current else size
                given |= {"device": "", "window": None}
            else:
                preset = find_preset(given["device"])
                window = window if current else size or measure_page_area(scene.remote)
                given |= {"device": preset.name, "window": window}
                size = Viewport(width=preset.width, height=preset.height)
        return record.emulation.with_changes(**given), size


ACTIONS: list[type[Action[Any]]] = [Emulate]
