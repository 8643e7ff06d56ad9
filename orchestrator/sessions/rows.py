"""Sessions as results show them: facts of a session, lists, and the result of closing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Self

from pydantic import Field

from orchestrator.errors import RecordUnreadable
from orchestrator.models.results import Outcome
from orchestrator.models.session import Mode, SessionRecord, SessionState, SessionType, Wire
from orchestrator.sessions.store.types import Overview
from orchestrator.system.secrets import without_credentials

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
"""The capabilities that a row shows, each with Appium's prefixed name for it."""

_BROWSER = ("browserName", "browserVersion")
_DEVICE = ("deviceName", "platformVersion")
_NAMED = 20
"""Sessions in its browser that a row names at most: with all of them the list would grow by the square."""


class SessionFacts(Wire):
    """A session as results show it, without credentials."""

    session_id: str
    type: SessionType
    provider: str
    state: SessionState
    mode: Mode
    profile: str | None = None
    shared_with: list[str] | None = None
    capabilities: dict[str, str]
    url: str | None = None
    pages: int | None = Field(default=None, description="Number of its tabs, as far as known.")
    created_at: str
    last_active_at: str
    owned: bool
    started_by: str | None = None
    remote_url: str
    remote_session_id: str
    remote_end: dict[str, str] | None = None
    parked_until: str | None = Field(default=None, description="When it is ended unless it is used before.")

    @staticmethod
    def of(record: SessionRecord, caller: str | None = None) -> SessionFacts:
        """Make the facts of a record for the caller of this key, without the sessions that share its browser."""
        return SessionFacts(
            session_id=record.id,
            type=record.type,
            provider=record.provider,
            state=record.state,
            mode=record.mode,
            profile=_profile(record),
            capabilities=_shown(record.capabilities),
            url=None if record.url is None else without_credentials(record.url),
            pages=len(record.tabs) or None,
            created_at=_time(record.created_at),
            last_active_at=_time(record.last_active_at),
            owned=record.owned and record.owner == caller,
            started_by=record.started_by or None,
            remote_url=f"secret:{record.secret}" if record.secret else without_credentials(record.remote_url),
            remote_session_id=record.remote_session_id,
            remote_end=record.remote_end or None,
            parked_until=None if record.parked_until is None else _time(record.parked_until),
        )

    def line(self) -> str:
        """Return the facts as one line of text."""
        facts = [f"{name} {value}" for name, value in self.capabilities.items() if name not in _BROWSER]
        facts += [f"type {self.type}", f"provider {self.provider}", f"mode {self.mode}"]
        if self.profile is not None:
            facts.append(f"profile {self.profile}")
        if self.shared_with:
            facts.append(f"sharedWith {' '.join(self.shared_with)}")
        if self.url is not None:
            # Quoted, since a URL may hold spaces and commas.
            facts.append(f"url {json.dumps(self.url)}")
        facts += [] if self.pages is None else [f"pages {self.pages}"]
        facts += [f"createdAt {self.created_at}", f"lastActiveAt {self.last_active_at}"]
        facts += [f"owned {json.dumps(self.owned)}"]
        facts += [] if self.started_by is None else [f"startedBy {self.started_by}"]
        facts += [f"remoteUrl {self.remote_url}"]
        facts.append(f"remoteSessionId {self.remote_session_id}")
        facts += [f"{name} {value}" for name, value in (self.remote_end or {}).items()]
        facts += [] if self.parked_until is None else [f"parkedUntil {self.parked_until}"]
        return f"{self.session_id}: {self.state}, {self._browser() or self.type}, {', '.join(facts)}"

    def short_line(self) -> str:
        """Return what the caller of a start needs to know as one line of text; the list has the rest."""
        facts = [f"type {self.type}"] if self._browser() else []
        facts += [f"{name} {self.capabilities[name]}" for name in _DEVICE if name in self.capabilities]
        facts += [] if self.url is None else [f"url {json.dumps(self.url)}"]
        return ", ".join([f"{self.session_id}: {self.state}", self._browser() or self.type, *facts])

    def _browser(self) -> str:
        return " ".join(self.capabilities[name] for name in _BROWSER if name in self.capabilities)


class FactsCache:
    """Lists the facts of sessions; those of a record that did not change since the last list are not made again.

    A record is unchanged if it is the same object: records are values, and the store returns the same one as long as
    it reads the same text. So a cached row is never stale, whichever field changed.
    """

    def __init__(self) -> None:
        self._last: dict[str, tuple[SessionRecord, SessionFacts]] = {}

    def list_facts(self, records: Sequence[SessionRecord], caller: str | None = None) -> list[SessionFacts]:
        """Return the facts of a namespace's records for a caller, each with the ids of those that share its browser."""
        last = {record.id: (record, self._facts_of(record)) for record in records}
        self._last = last
        in_browser: dict[str, list[str]] = {}
        for record in records:
            if _is_shareable(record):
                in_browser.setdefault(record.remote_url, []).append(record.id)
        listed = []
        for record, facts in last.values():
            ids = in_browser.get(record.remote_url, ()) if _is_shareable(record) else ()
            others = [session_id for session_id in ids[: _NAMED + 1] if session_id != record.id][:_NAMED]
            owned = record.owned and record.owner == caller
            update = {**({"shared_with": others} if others else {}), **({"owned": True} if owned else {})}
            listed.append(facts.model_copy(update=update) if update else facts)
        return listed

    def list_sessions(self, overview: Overview, caller: str, prefix: str | None) -> SessionList:
        """Return the list of what is open, for the caller of this key."""
        facts = self.list_facts(overview.records, caller)
        listed = SessionList.of(facts, overview.unreadable, prefix=prefix, current=overview.current)
        if overview.failure is None:
            return listed
        told = f"{overview.failure.sentence} These are the sessions that this server used, as it read them last."
        return listed.model_copy(update={"warnings": [told, *listed.warnings]})

    def _facts_of(self, record: SessionRecord) -> SessionFacts:
        known, facts = self._last.get(record.id, (None, None))
        return facts if facts is not None and known is record else SessionFacts.of(record)


class ClaimFacts(Wire):
    """A claim on a session: the name for calls that may change it, and when it ends unless it is used."""

    session_id: str
    until: str

    @classmethod
    def of(cls, name: str, until: float) -> Self:
        """Make the facts of a claim that ends at this time."""
        return cls(session_id=name, until=_time(until))


class Claimed(ClaimFacts, Outcome):
    """A session that was claimed."""

    def lines(self) -> list[str]:
        """Return the claim as a line."""
        return [f"Claimed: pass sessionId {self.session_id}. It ends at {self.until}, or later if it is used."]


class Released(Outcome):
    """A session whose claim was ended."""

    released: list[str]

    def lines(self) -> list[str]:
        """Return the session as a line."""
        return [f"Released: {', '.join(self.released)}."] if self.released else ["It was not claimed."]


class SessionRow(SessionFacts, Outcome):
    """A session that was started, or whose start is under way."""

    claim: ClaimFacts | None = None

    def as_claimed(self) -> SessionRow:
        """Return it under the name of its claim, if it has one."""
        return self.model_copy(update={"session_id": self.claim.session_id}) if self.claim else self

    def lines(self) -> list[str]:
        """Return the most important facts as one line, and a claim as another."""
        return [self.short_line(), *([f"Claimed: pass sessionId {self.claim.session_id}."] if self.claim else [])]


class SessionList(Outcome):
    """The sessions of the namespace that are not closed, in order of creation."""

    sessions: list[SessionFacts]
    current_session: str | None = Field(default=None, description="Where calls without sessionId go.")

    @classmethod
    def of(
        cls,
        facts: Iterable[SessionFacts],
        unreadable: Iterable[RecordUnreadable],
        *,
        prefix: str | None,
        current: str | None = None,
    ) -> SessionList:
        """Return the list of those whose ids begin with `prefix`, with a warning for each unreadable record."""
        begins = prefix or ""
        return cls(
            sessions=[one for one in facts if one.session_id.startswith(begins)],
            current_session=current,
            warnings=[error.sentence for error in unreadable if str(error.session_id).startswith(begins)],
        )

    def fitting(self, room: int) -> SessionList:
        """Return the list cut to `room` characters of data; `next` says how to get the other rows."""
        used = 0
        for index, one in enumerate(self.sessions):
            used += len(one.model_dump_json(by_alias=True)) + 1
            if used > room and index:
                rest = len(self.sessions) - index
                following = f"{rest} more sessions: narrow it with prefix."
                return self.model_copy(update={"sessions": self.sessions[:index], "next": following})
        return self

    def data(self) -> dict[str, Any]:
        """Return the list as data; `currentSession` is null if there is none."""
        return {"currentSession": None, **super().data()}

    def lines(self) -> list[str]:
        """Return one line per session, then the current session."""
        return [
            *(row.line() for row in self.sessions or ()),
            *([] if self.sessions else ["No session is open."]),
            f"Current session: {self.current_session or 'none'}.",
        ]


class CurrentSession(Outcome):
    """The caller's new current session: calls without `sessionId` go there."""

    current_session: str

    def lines(self) -> list[str]:
        """Return the current session's id as a line."""
        return [f"Current session: {self.current_session}."]


class NotEnded(Wire):
    """A session that could not be ended at its remote end; its record and processes are cleared."""

    session_id: str
    reason: str


class LeftOpen(Wire):
    """A session that was not closed, since someone else uses it."""

    session_id: str
    reason: str


class CloseResult(Outcome):
    """The sessions that were closed, those left alive, and those that could not be ended at their remote end."""

    closed: list[str] = Field(default_factory=list)
    detached: list[str] = Field(default_factory=list)
    failed: list[NotEnded] = Field(default_factory=list)
    left: list[LeftOpen] | None = None

    def lines(self) -> list[str]:
        """Return a line for each of the lists that is not empty."""
        lines = []
        if self.closed:
            lines.append(f"Closed: {', '.join(self.closed)}.")
        if self.detached:
            lines.append(f"Detached: {', '.join(self.detached)}.")
        lines += [f"Not ended: {failed.session_id}: {failed.reason}" for failed in self.failed]
        lines += [f"Left open: {left.session_id}: {left.reason}" for left in self.left or ()]
        return lines or ["Nothing was closed." if self.warnings else "Nothing was open."]


def make_session_row(
    record: SessionRecord, caller: str, others: Sequence[SessionRecord] = (), **more: Any
) -> SessionRow:
    """Make the row of a record for the caller of this key; `others` are the other sessions of the namespace."""
    same_place = [other for other in others if other.remote_url == record.remote_url]
    [facts, *_] = FactsCache().list_facts([record, *same_place], caller)
    return SessionRow(**dict(facts), **more)


def describe_others_sessions(records: Sequence[SessionRecord]) -> list[str]:
    """Return a warning that names sessions of others, and the call that closes them; nothing where there are none."""
    if not records:
        return []
    named = [f"{one.id} (started by {one.started_by})" if one.started_by else one.id for one in records]
    others = f"None of the open sessions is yours: {', '.join(named)}."
    return [f'{others} close_sessions {{"all": true}} closes those of others, too.']


def _is_shareable(record: SessionRecord) -> bool:
    """Return True if the session's browser is one that sessions share."""
    return record.instance is not None and bool(record.remote_url) and record.state is not SessionState.LOST


def _profile(record: SessionRecord) -> str | None:
    """Return the name of a persistent session's profile, without the browser's name."""
    return record.profile.partition("/")[2] or None


def _shown(capabilities: dict[str, Any]) -> dict[str, str]:
    values = ((name, capabilities.get(name) or capabilities.get(vendor)) for name, vendor in _SHOWN.items())
    return {name: str(value) for name, value in values if value}


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")[:-6] + "Z"
