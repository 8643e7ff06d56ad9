"""Sessions as they are shown: rows, lists, and what became of those that were closed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from pydantic import Field

from orchestrator.actions.results import Outcome
from orchestrator.models import Mode, SessionRecord, SessionState, SessionType, Wire
from orchestrator.secrets import without_credentials

_SHOWN = ("browserName", "browserVersion", "platformName", "platformVersion", "deviceName", "automationName")
"""The capabilities that a row shows, bare or with the vendor prefix `appium:`."""


class SessionFacts(Wire):
    """One session, without anything that must not be read."""

    session_id: str
    type: SessionType
    provider: str
    state: SessionState
    mode: Mode
    capabilities: dict[str, str]
    url: str | None = None
    created_at: str
    last_active_at: str
    owned: bool
    remote_url: str
    remote_session_id: str

    @classmethod
    def of(cls, record: SessionRecord) -> SessionFacts:
        """The facts of a record that may be shown."""
        return cls(
            session_id=record.id,
            type=record.type,
            provider=record.provider,
            state=record.state,
            mode=record.mode,
            capabilities=_shown(record.capabilities),
            url=None if record.url is None else without_credentials(record.url),
            created_at=_time(record.created_at),
            last_active_at=_time(record.last_active_at),
            owned=record.owned,
            remote_url=without_credentials(record.remote_url),
            remote_session_id=record.remote_session_id,
        )

    def line(self) -> str:
        """The facts as one line of text."""
        more = dict(self.capabilities)
        browser = " ".join(filter(None, (more.pop(name, None) for name in ("browserName", "browserVersion"))))
        own = set(SessionFacts.model_fields)
        rest = self.model_dump(by_alias=True, mode="json", exclude_none=True, include=own)
        for name in ("sessionId", "state", "capabilities"):
            rest.pop(name)
        told = ", ".join(f"{name} {_plain(name, value)}" for name, value in [*more.items(), *rest.items()])
        return f"{self.session_id}: {self.state}, {browser or self.type}, {told}"


class Row(SessionFacts, Outcome):
    """A session that was started, or whose start is under way."""

    def lines(self) -> list[str]:
        """The facts in one line."""
        return [self.line()]


class SessionList(Outcome):
    """The sessions of the namespace that are not closed, in order of creation."""

    sessions: list[SessionFacts]
    current_session: str | None = Field(default=None, description="Where calls without sessionId go.")

    def data(self) -> dict[str, Any]:
        """The list as data; `currentSession` is there even when there is none."""
        return {"currentSession": None, **super().data()}

    def lines(self) -> list[str]:
        """A line a session, then the current one."""
        return [
            *(row.line() for row in self.sessions or ()),
            *([] if self.sessions else ["No session is open."]),
            f"Current session: {self.current_session or 'none'}.",
        ]


class Current(Outcome):
    """Where calls without `sessionId` go from now on."""

    current_session: str

    def lines(self) -> list[str]:
        """The current session."""
        return [f"Current session: {self.current_session}."]


class NotEnded(Wire):
    """Something of a session that could not be ended at its remote end; our side of it is cleared."""

    session_id: str
    reason: str


class Closed(Outcome):
    """What was closed, what was left alive, and what could not be ended at its remote end."""

    closed: list[str] = Field(default_factory=list)
    detached: list[str] = Field(default_factory=list)
    failed: list[NotEnded] = Field(default_factory=list)

    def lines(self) -> list[str]:
        """A line for each of the three that has something to say."""
        lines = []
        if self.closed:
            lines.append(f"Closed: {', '.join(self.closed)}.")
        if self.detached:
            lines.append(f"Detached: {', '.join(self.detached)}.")
        lines += [f"Not ended: {one.session_id}: {one.reason}" for one in self.failed]
        return lines or ["Nothing was open."]


def row(record: SessionRecord, **more: Any) -> Row:
    """The row of a record."""
    return Row(**dict(SessionFacts.of(record)), **more)


def _plain(name: str, value: Any) -> str:
    """A fact as it reads in a line; an address may hold spaces and commas."""
    return value if isinstance(value, str) and name != "url" else json.dumps(value)


def _shown(capabilities: dict[str, Any]) -> dict[str, str]:
    found = {name: capabilities.get(name, capabilities.get(f"appium:{name}")) for name in _SHOWN}
    return {name: str(value) for name, value in found.items() if value not in {None, ""}}


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
