"""Live emulation: a device, a place, a clock, a language, colours and the network."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from pydantic import field_validator

from orchestrator.actions.base import Action, Acts
from orchestrator.actions.browser_results import Emulated
from orchestrator.actions.fitting import measured
from orchestrator.actions.results import Observe, Outcome
from orchestrator.actions.scene import Scene
from orchestrator.emulation import OFF, ColorScheme, Emulation, Geolocation, Viewport
from orchestrator.errors import InvalidArgument
from orchestrator.presets import device

_ZONE = re.compile(r"[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+){0,2}|[+-]\d\d:\d\d", re.ASCII)
_LOCALE = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8})*", re.ASCII)


class Emulate(Acts[Emulated]):
    """Pretend to be a device, elsewhere, offline or dark; 'none' resets (geolocation: {})."""

    verb: ClassVar[str] = "emulate"
    title: ClassVar[str] = "Emulate"
    instead: ClassVar[str] = "A device is what it is; its place is set by manage_device with action set_location."
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
            raise ValueError("it is a name such as Europe/Berlin, or an offset such as +02:00")
        return given

    @field_validator("locale")
    @classmethod
    def _language(cls, given: str | None) -> str | None:
        if given is not None and not _LOCALE.fullmatch(given):
            raise ValueError("it is a language tag such as de-DE")
        return given and given.replace("_", "-")

    def act(self, scene: Scene) -> Emulated:
        """BiDi tells all tabs at once; what is in force stands in the record."""
        wanted, size = self._wanted(scene)
        scene.need("emulate")
        scene.emulator.change(wanted, size)
        scene.tabs.told()
        if "geolocation" in self.model_fields_set:
            scene.permissions.keep()
        return Emulated.of(scene.record.emulation, scene.record.viewport)

    def _wanted(self, scene: Scene) -> tuple[Emulation, Viewport | None]:
        """What is to be emulated, and the size of the page area under it; None where nobody gave it one."""
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
            now, window = record.emulation.device, record.emulation.window
            if given["device"] == OFF:
                size = window if now else size
                given |= {"device": "", "window": None}
            else:
                one = device(given["device"])
                given |= {"device": one.name, "window": window if now else size or measured(scene.remote)}
                size = Viewport(width=one.width, height=one.height)
        return record.emulation.changed(**given), size


ACTIONS: list[type[Action[Any]]] = [Emulate]
"""One."""
