"""What a browser pretends to be: a device, in a place, with a clock and a language of its own."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from orchestrator.wire import Kept, Wire

OFF = "none"
"""What resets one of them."""
HIGHEST = 10_000
"""CSS pixels of a side of the page area."""
ColorScheme = Literal["light", "dark", "none"]


class Viewport(Wire):
    """The size of the page area, in CSS pixels."""

    width: int = Field(ge=1, le=HIGHEST)
    height: int = Field(ge=1, le=HIGHEST)


USUAL = Viewport(width=1280, height=720)
"""The page area of a browser unless something else is asked for."""


class Geolocation(Wire):
    """A place on earth, in degrees; `accuracy` in metres, 1 unless given. Without latitude and longitude it is none."""

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
    def there(self) -> bool:
        """Whether it is a place."""
        return self.latitude is not None


class Emulation(Kept):
    """What a session's browser pretends; what is empty is as it really is.

    `device` is the name of a preset, `window` the size of the page area that the session had without it. `by_tab` names
    what this browser can only be told tab by tab: a tab that is opened later is told when it becomes current.
    """

    device: str = ""
    geolocation: Geolocation = Geolocation()
    timezone: str = ""
    locale: str = ""
    color_scheme: ColorScheme = "none"
    offline: bool = False
    window: Viewport | None = None
    by_tab: tuple[str, ...] = ()
