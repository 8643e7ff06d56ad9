"""Results of the tools for browsers, apps, the network and the console, as models."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field
from pydantic.alias_generators import to_camel

from orchestrator.models.emulation import OFF, Emulation, Geolocation, Viewport
from orchestrator.models.results import Acted, Outcome, own_line
from orchestrator.models.session import Wire
from orchestrator.webdriver.events.console import ConsoleMessage
from orchestrator.webdriver.events.requests import NetworkRequest

TOP = "top"
"""Name of the page itself where a frame is named."""


class FrameEntered(Outcome):
    """The frame in which selectors are resolved from now on."""

    frame: str = Field(default=TOP, description="Its outline line, or top.")

    def lines(self) -> list[str]:
        """The frame, or the top of the page."""
        if self.frame == TOP:
            return ["At the top of the page."]
        return [f"In {self.frame}: selectors are resolved inside it."]


class PrintedPage(Outcome):
    """The page as a PDF file."""

    path: str
    size: int = Field(description="Bytes of the file.")

    def lines(self) -> list[str]:
        """The file and its size."""
        return [f"Page printed: {self.path} ({self.size:,} bytes)."]


class AuditedElement(Wire):
    """An element that breaks a rule of accessibility: its outline line, and what is wrong with it."""

    ref: str
    line: str
    problem: str


class Violation(Wire):
    """A broken rule of axe-core; `total` elements break it, `elements` are the first of them."""

    rule: str
    impact: Literal["critical", "serious", "moderate", "minor"]
    help: str
    help_url: str
    total: int
    elements: list[AuditedElement]

    def lines(self) -> list[str]:
        """The rule, then a line per element."""
        elements = [f"  - {one.line}: {one.problem}" for one in self.elements]
        more = self.total - len(elements)
        return [f"{self.impact}: {self.help} ({self.rule})", *elements, *([f"  … and {more} more"] if more else [])]


class AuditResult(Outcome):
    """Faults that axe-core found in a page, the most severe first."""

    axe: str
    violations: list[Violation]
    passed: int
    incomplete: int
    documents: int
    unchecked: list[str] | None = None

    def lines(self) -> list[str]:
        """The counts."""
        found = f"Rules broken: {len(self.violations)}" if self.violations else "No violations"
        counts = f"passed: {self.passed}, for a human to judge: {self.incomplete}; documents: {self.documents}"
        return [f"{found}; {counts} (axe-core {self.axe})."]

    def page_lines(self) -> list[str]:
        """Each broken rule with its elements, and the frames that were not checked."""
        lines = [line for one in self.violations for line in one.lines()]
        return [*lines, *(f"Not checked: {line}" for line in self.unchecked or ())]


class TabFacts(Wire):
    """A browser tab."""

    tab: str
    url: str
    title: str
    current: bool


class TabList(Outcome):
    """The browser's open tabs."""

    tabs: list[TabFacts]

    def lines(self) -> list[str]:
        """A line per tab."""
        return [f"{tab.tab}{' (current)' if tab.current else ''}: {tab.title!r} at {tab.url}" for tab in self.tabs]


class Cookie(Wire):
    """A cookie; `expiry` in seconds since 1970."""

    name: str
    value: str
    domain: str | None = None
    path: str | None = None
    secure: bool | None = None
    http_only: bool | None = None
    same_site: str | None = None
    expiry: int | None = None


class CookieList(Outcome):
    """The cookies that were read, set or removed."""

    action: str = Field(exclude=True)
    cookies: list[Cookie]

    def lines(self) -> list[str]:
        """The action and the count."""
        done = {"get": "Cookies", "set": "Set", "delete": "Deleted", "clear": "Cleared"}[self.action]
        return [f"{done}: {len(self.cookies)}."]

    def page_lines(self) -> list[str]:
        """The cookies, a line of JSON each."""
        cookies = [cookie.model_dump(by_alias=True, exclude_none=True) for cookie in self.cookies]
        return [json.dumps(cookie, ensure_ascii=False) for cookie in cookies]


class Passkey(Wire):
    """A passkey of a site (`rpId`), for a user whom the site calls `userHandle`, without its private key."""

    rp_id: str
    credential_id: str
    user_handle: str | None = None
    sign_count: int

    @classmethod
    def of(cls, credential: Mapping[str, Any]) -> Self:
        """Return what may be shown of a credential that the remote end has."""
        names = {field.alias or name for name, field in cls.model_fields.items()}
        return cls.model_validate({name: value for name, value in credential.items() if name in names})


class PasskeyList(Outcome):
    """The passkeys that the session has."""

    action: str = Field(exclude=True)
    passkeys: list[Passkey]

    def lines(self) -> list[str]:
        """The action and the count."""
        done = {"add": "Passkeys work without a person", "list": "Passkeys", "remove": "Removed; passkeys left"}
        return [f"{done[self.action]}: {len(self.passkeys)}."]

    def page_lines(self) -> list[str]:
        """The passkeys, a line of JSON each."""
        return [
            json.dumps(one.model_dump(by_alias=True, exclude_none=True), ensure_ascii=False) for one in self.passkeys
        ]


class Emulated(Acted):
    """The emulation in force; a field is None where nothing is emulated."""

    device: str | None = None
    viewport: Viewport | None = None
    geolocation: Geolocation | None = None
    timezone: str | None = None
    locale: str | None = None
    color_scheme: str | None = None
    offline: bool | None = None

    @classmethod
    def from_emulation(cls, emulation: Emulation, viewport: Viewport | None) -> Self:
        """The result for a record's emulation and page area."""
        return cls(
            device=emulation.device or None,
            viewport=viewport,
            geolocation=emulation.geolocation if emulation.geolocation.is_set else None,
            timezone=emulation.timezone or None,
            locale=emulation.locale or None,
            color_scheme=None if emulation.color_scheme == OFF else emulation.color_scheme,
            offline=emulation.offline or None,
        )

    def lines(self) -> list[str]:
        """The emulation, then the page and its changes."""
        texts = {name: getattr(self, name) for name in ("device", "timezone", "locale", "color_scheme")}
        shown = [f"{to_camel(name)} {value}" for name, value in texts.items() if value]
        if self.geolocation:
            shown.append(f"geolocation {self.geolocation.latitude:g}, {self.geolocation.longitude:g}")
        if self.offline:
            shown.append("offline")
        if self.viewport:
            shown.append(f"page area {self.viewport.width} x {self.viewport.height}")
        return [f"Emulated: {'; '.join(shown) or 'nothing'}.", *super().lines()]


class StorageSaved(Outcome):
    """A saved storage state, without its values."""

    path: str
    cookie_count: int
    origins: list[str]
    item_count: int

    def lines(self) -> list[str]:
        """The counts and the path."""
        items = f"{self.item_count} entries of local storage"
        places = f" of {', '.join(self.origins)}" if self.origins else ""
        return [f"Saved {self.cookie_count} cookies and {items}{places} to {self.path}."]


class AppManaged(Acted):
    """The result of `manage_app`: a change of the screen, an app's state, or the list of apps."""

    app: str | None = Field(default=None, description="Bundle id or package.")
    state: str | None = Field(default=None, description="not installed, not running, background or foreground.")
    apps: list[str] | None = Field(default=None, description="The installed apps.")

    def lines(self) -> list[str]:
        """The state, the apps, or the change."""
        if self.state is not None:
            return [f"{self.app}: {self.state}."]
        return [*self.apps] if self.apps is not None else super().lines()


class DeviceManaged(Acted):
    """The result of `manage_device`; `value` is the device's new state."""

    value: str | None = Field(default=None, description="The orientation, location or clipboard text now.")

    def lines(self) -> list[str]:
        """The value and the change."""
        first, *rest = super().lines()
        return [f"{first} {self.value}" if self.value is not None else first, *rest]


class Contexts(Outcome):
    """The contexts of an app, and the current one."""

    contexts: list[str] = Field(description="NATIVE_APP and the available web views.")
    context: str = Field(description="The current one.")
    url: str | None = None
    title: str | None = None

    def lines(self) -> list[str]:
        """A line per context."""
        where = f": {self.title!r} at {self.url}" if self.url else ""
        return [f"{name} (current){where}" if name == self.context else name for name in self.contexts]


class Routes(Outcome):
    """The rules in force, the newest first, with shortened bodies."""

    routes: list[dict[str, Any]] = Field(default_factory=list)

    def data(self) -> dict[str, Any]:
        """The result as data, with `routes` even if it is empty."""
        return {"routes": [], **super().data()}

    def lines(self) -> list[str]:
        """The count, then one line of JSON per rule."""
        rules = [json.dumps(rule, ensure_ascii=False) for rule in self.routes]
        return [f"Rules in force: {len(rules)}{'; the first match applies' if rules[1:] else ''}.", *rules]


class HarResult(Outcome):
    """A HAR file, and the session's recording and replays from now on."""

    path: str | None = None
    pages: int | None = None
    entries: int | None = None
    recording: bool = False
    replays: list[str] = Field(default_factory=list)

    def lines(self) -> list[str]:
        """The file, then the recording and the replays."""
        written = f" ({self.pages} pages, {self.entries} requests)" if self.entries is not None else ""
        lines = [f"HAR: {self.path}{written}."] if self.path else []
        lines.append("Recording." if self.recording else "Not recording.")
        return [*lines, *(f"Replaying {path}." for path in self.replays)]


class EventLog(Outcome):
    """Collected events, oldest first: `total` match the filters, `dropped` were removed to make room for newer ones."""

    total: int
    dropped: int | None = None
    until: float

    def _counted(self, shown: int) -> list[str]:
        more = f", {self.dropped} older ones dropped" if self.dropped else ""
        return [f"{shown} of {self.total}{more}; for newer ones: since={self.until}"]


class ConsoleLog(EventLog):
    """Messages of the console."""

    entries: list[ConsoleMessage]

    def lines(self) -> list[str]:
        """The number of messages."""
        return self._counted(len(self.entries))

    def page_lines(self) -> list[str]:
        """A line per message, and its stack."""
        return [own_line(line) for entry in self.entries for line in _message(entry)]


class NetworkLog(EventLog):
    """Network requests."""

    entries: list[NetworkRequest]

    def lines(self) -> list[str]:
        """The number of requests."""
        return self._counted(len(self.entries))

    def page_lines(self) -> list[str]:
        """A line per request."""
        return [own_line(_request(entry)) for entry in self.entries]


def _clock(when: float) -> str:
    return f"{time.strftime('%H:%M:%S', time.localtime(when))}.{round(when * 1000) % 1000:03d}"


def _message(message: ConsoleMessage) -> list[str]:
    source = "" if message.source == "console" else f" {message.source}"
    where = f" ({message.where})" if message.where else ""
    return [
        f"{_clock(message.time)} {message.level}{source}: {message.text}{where}",
        *(f"    at {line}" for line in message.stack or ()),
    ]


def _request(request: NetworkRequest) -> str:
    size = None if request.size is None else f"{request.size} bytes"
    took = None if request.duration_ms is None else f"{request.duration_ms} ms"
    facts = [fact for fact in (request.mime, size, took, "from cache" if request.from_cache else None) if fact]
    line = f"{_clock(request.time)} {request.method} {request.state} {request.type} {request.url}"
    line += f" -> {request.redirect}" if request.redirect else ""
    line += f": {request.failure}" if request.failure else ""
    return f"{line} ({', '.join(facts)})" if facts else line
