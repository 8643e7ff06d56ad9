"""Emulation of a device, location, time zone, locale, colour scheme and offline network."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from orchestrator.models.base import StoredModel, Wire

OFF = "none"
"""The value that resets an emulated setting."""
HIGHEST = 10_000
"""Longest side of the page area, in CSS pixels."""
ColorScheme = Literal["light", "dark", "none"]


class Viewport(Wire):
    """The size of the page area, in CSS pixels."""

    width: int = Field(ge=1, le=HIGHEST)
    height: int = Field(ge=1, le=HIGHEST)


DEFAULT_VIEWPORT = Viewport(width=1280, height=720)
"""The page area of a browser unless a start requests another one."""


class Geolocation(Wire):
    """A location in degrees, `accuracy` in metres (1 unless given); without latitude and longitude it is unset."""

    latitude: float | None = Field(default=None, ge=-90, le=90)
    longitude: float | None = Field(default=None, ge=-180, le=180)
    accuracy: float | None = Field(default=None, ge=0)

    @model_validator(mode="before")
    @classmethod
    def _none(cls, given: object) -> object:
        return {} if given == OFF else given

    @model_validator(mode="after")
    def _both(self) -> Geolocation:
        if (self.latitude is None) != (self.longitude is None):
            raise ValueError("latitude and longitude belong together")
        return self

    @property
    def is_set(self) -> bool:
        """True if there is a location."""
        return self.latitude is not None


class Emulation(StoredModel):
    """The settings that a session's browser emulates; an empty one is not emulated.

    `device` is the name of a preset, `window` the size of the page area before it. `by_tab` names the settings that
    this browser takes per tab: a tab opened later gets them when it becomes current.
    """

    device: str = ""
    geolocation: Geolocation = Geolocation()
    timezone: str = ""
    locale: str = ""
    color_scheme: ColorScheme = "none"
    offline: bool = False
    window: Viewport | None = None
    by_tab: tuple[str, ...] = ()
