"""Sessions as they are shown: rows, lists, and what became of those that were closed."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import Field

from orchestrator.actions.results import Outcome
from orchestrator.models import Mode, SessionRecord, SessionState, SessionType, Wire
from orchestrator.secrets import without_credentials

_SHOWN = {
    name: f"appium:{name}"
    for name in (
        "browserName",
        "browserVersion",
        "platformName",
        "platformVersion",
        "deviceName",
        "automationName",
        "udid",
    )
}
"""The capabilities that a row shows, and as what Appium may answer them."""


class SessionFacts(Wire):
    """One session, without anything that must not be read."""

    session_id: str
    type: SessionType
    provider: str
    state: SessionState
    mode: Mode
    profile: str | None = None
    shared_with: list[str] | None = None
    capabilities: dict[str, str]
    url: str | None = None
    created_at: str
    last_active_at: str
    owned: bool
    remote_url: str
    remote_session_id: str
    remote_end: dict[str, str] | None = None
    parked_until: str | None = Field(default=None, description="When it is ended unless it is used before.")

    @staticmethod
    @functools.lru_cache(maxsize=512)
    def of(record: SessionRecord) -> SessionFacts:
        """The facts of a record that may be shown; a list that is asked for again finds most of them made."""
        return SessionFacts(
            session_id=record.id,
            type=record.type,
            provider=record.provider,
            state=record.state,
            mode=record.mode,
            profile=_profile(record),
            capabilities=_shown(record.capabilities),
            url=None if record.url is None else without_credentials(record.url),
            created_at=_time(record.created_at),
            last_active_at=_time(record.last_active_at),
            owned=record.owned,
            remote_url=without_credentials(record.remote_url),
            remote_session_id=record.remote_session_id,
            remote_end=record.remote_end or None,
            parked_until=None if record.parked_until is None else _time(record.parked_until),
        )

    @classmethod
    def listed(cls, records: Sequence[SessionRecord]) -> list[SessionFacts]:
        """The facts of records, with the ids of those that share a browser."""
        in_browser: dict[str, list[str]] = {}
        for record in records:
            if _shares(record):
                in_browser.setdefault(record.remote_url, []).append(record.id)
        found = []
        for record in records:
            others = [one for one in in_browser.get(record.remote_url, ()) if one != record.id and _shares(record)]
            facts = cls.of(record)
            found.append(facts.model_copy(update={"shared_with": others}) if others else facts)
        return found

    def line(self) -> str:
        """The facts as one line of text."""
        more = dict(self.capabilities)
        browser = " ".join(filter(None, (more.pop(name, None) for name in ("browserName", "browserVersion"))))
        told = [f"{name} {value}" for name, value in more.items()]
        told += [f"type {self.type}", f"provider {self.provider}", f"mode {self.mode}"]
        if self.profile is not None:
            told.append(f"profile {self.profile}")
        if self.shared_with:
            told.append(f"sharedWith {' '.join(self.shared_with)}")
        if self.url is not None:
            # An address may hold spaces and commas.
            told.append(f"url {json.dumps(self.url)}")
        told += [f"createdAt {self.created_at}", f"lastActiveAt {self.last_active_at}"]
        told += [f"owned {json.dumps(self.owned)}", f"remoteUrl {self.remote_url}"]
        told.append(f"remoteSessionId {self.remote_session_id}")
        told += [f"{name} {value}" for name, value in (self.remote_end or {}).items()]
        told += [] if self.parked_until is None else [f"parkedUntil {self.parked_until}"]
        return f"{self.session_id}: {self.state}, {browser or self.type}, {', '.join(told)}"


class Row(SessionFacts, Outcome):
    """A session that was started, or whose start is under way."""

    def lines(self) -> list[str]:
        """The facts in one line."""
        return [self.line()]


class SessionList(Outcome):
    """The sessions of the namespace that are not closed, in order of creation."""

    sessions: list[SessionFacts]
    current_session: str | None = Field(default=None, description="Where calls without sessionId go.")

    def fitting(self, room: int) -> SessionList:
        """The list with as many rows as fit into `room` characters of data; the rest is told as how to get it."""
        used = 0
        for index, one in enumerate(self.sessions):
            used += len(one.model_dump_json(by_alias=True)) + 1
            if used > room and index:
                rest = len(self.sessions) - index
                following = f"{rest} more sessions: narrow it with prefix."
                return self.model_copy(update={"sessions": self.sessions[:index], "next": following})
        return self

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


def row(record: SessionRecord, others: Sequence[SessionRecord] = (), **more: Any) -> Row:
    """The row of a record among others."""
    listed = {facts.session_id: facts for facts in SessionFacts.listed([*others, record])}
    return Row(**dict(listed[record.id]), **more)


def _shares(record: SessionRecord) -> bool:
    """Whether others may be in its browser."""
    return record.instance is not None and bool(record.remote_url) and record.state is not SessionState.LOST


def _profile(record: SessionRecord) -> str | None:
    """The name of the profile that is kept of it."""
    if record.mode != "persistent" or record.instance is None:
        return None
    return record.instance.profile.partition("/")[2]


def _shown(capabilities: dict[str, Any]) -> dict[str, str]:
    found = ((name, capabilities.get(name) or capabilities.get(vendor)) for name, vendor in _SHOWN.items())
    return {name: str(value) for name, value in found if value}


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")[:-6] + "Z"
