"""What actions on the browser around the page answer: its tabs, frames and cookies."""

from __future__ import annotations

import json
from typing import Self

from pydantic import Field
from pydantic.alias_generators import to_camel

from orchestrator.actions.results import Acted, Outcome
from orchestrator.emulation import OFF, Emulation, Geolocation, Viewport
from orchestrator.models import Wire

TOP = "top"
"""What stands for the page itself, where a frame is named."""


class FrameEntered(Outcome):
    """Where selectors are taken from now on."""

    frame: str = Field(default=TOP, description="Its line, or top.")

    def lines(self) -> list[str]:
        """The frame, or that it is the top."""
        if self.frame == TOP:
            return ["At the top of the page."]
        return [f"In {self.frame}: selectors are taken inside it."]


class TabFacts(Wire):
    """One tab of a browser."""

    tab: str
    url: str
    title: str
    current: bool


class TabList(Outcome):
    """The tabs of a browser as they are now."""

    tabs: list[TabFacts]

    def lines(self) -> list[str]:
        """One line a tab."""
        return [f"{one.tab}{' (current)' if one.current else ''}: {one.title!r} at {one.url}" for one in self.tabs]


class Cookie(Wire):
    """One cookie; `expiry` in seconds since 1970."""

    name: str
    value: str
    domain: str | None = None
    path: str | None = None
    secure: bool | None = None
    http_only: bool | None = None
    same_site: str | None = None
    expiry: int | None = None


class CookieList(Outcome):
    """The cookies that were got, set or removed."""

    action: str = Field(exclude=True)
    cookies: list[Cookie]

    def lines(self) -> list[str]:
        """What was done, then one line of JSON a cookie."""
        done = {"get": "Cookies", "set": "Set", "delete": "Deleted", "clear": "Cleared"}[self.action]
        found = [cookie.model_dump(by_alias=True, exclude_none=True) for cookie in self.cookies]
        return [f"{done}: {len(found)}.", *(json.dumps(cookie, ensure_ascii=False) for cookie in found)]


class Emulated(Acted):
    """What the browser pretends now; what is as it really is has no field."""

    device: str | None = None
    viewport: Viewport | None = None
    geolocation: Geolocation | None = None
    timezone: str | None = None
    locale: str | None = None
    color_scheme: str | None = None
    offline: bool | None = None

    @classmethod
    def of(cls, emulation: Emulation, viewport: Viewport | None) -> Self:
        """As the record has it."""
        return cls(
            device=emulation.device or None,
            viewport=viewport,
            geolocation=emulation.geolocation if emulation.geolocation.there else None,
            timezone=emulation.timezone or None,
            locale=emulation.locale or None,
            color_scheme=None if emulation.color_scheme == OFF else emulation.color_scheme,
            offline=emulation.offline or None,
        )

    def lines(self) -> list[str]:
        """What is pretended, then where the page is and what changed."""
        told = {name: getattr(self, name) for name in ("device", "timezone", "locale", "color_scheme")}
        shown = [f"{to_camel(name)} {value}" for name, value in told.items() if value]
        if self.geolocation:
            shown.append(f"geolocation {self.geolocation.latitude:g}, {self.geolocation.longitude:g}")
        if self.offline:
            shown.append("offline")
        if self.viewport:
            shown.append(f"page area {self.viewport.width} x {self.viewport.height}")
        return [f"Emulated: {'; '.join(shown) or 'nothing'}.", *super().lines()]


class StorageSaved(Outcome):
    """A storage state that was written; none of its values is told."""

    path: str
    cookie_count: int
    origins: list[str]
    item_count: int

    def lines(self) -> list[str]:
        """Where it is, and how much."""
        items = f"{self.item_count} entries of local storage"
        places = f" of {', '.join(self.origins)}" if self.origins else ""
        return [f"Saved {self.cookie_count} cookies and {items}{places} to {self.path}."]
