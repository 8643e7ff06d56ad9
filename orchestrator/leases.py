"""Until when a session lives that nobody looks after: what the store and the keeper decide alike.

psutil and the standard library alone: the keeper imports this. Fields have the names of `SessionRecord`, times are
seconds since the epoch. A lease begins when its caller went away, and it stands in the record: whoever finds it over
may end the session, in the transaction in which it looks.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from orchestrator import folders
from orchestrator.living import Identity, Process

STARTER_DIED = "the server that was starting it ended before it was ready"
NOBODY_CAME = "it was parked, and nobody came back to it in time"
TOO_OLD = "it was open for as long as it may be"
NONE: dict[str, Any] = {"parked_at": None, "parked_until": None}
"""The fields of a session that somebody looks after."""

_SILENCE = 30.0
"""A holder of a place in a lane whose heartbeat is older than this, in seconds, has lost it."""


class Placed(Identity, Protocol):
    """A process as a record names it."""

    @property
    def folder(self) -> str | None:
        """The temporary folder that is removed with it."""


PlacedT = TypeVar("PlacedT", bound=Placed)


def begun(state: str, limits: Mapping[str, float], until: float | None, now: float) -> dict[str, Any]:
    """What changes in the record of a session whose caller is gone; a lease that runs already goes on."""
    fields: dict[str, Any] = {}
    if state == "starting":
        fields |= {"state": "lost", "lost_reason": STARTER_DIED}
    elif state == "active":
        fields |= {"state": "parked"}
    if until is None:
        fields |= {"parked_at": now, "parked_until": now + limits.get("park", 0)}
    return fields


def is_over(until: float | None, now: float) -> bool:
    """Whether a session's time without a caller is over."""
    return until is not None and until <= now


def is_too_old(since: float, limits: Mapping[str, float], now: float) -> bool:
    """Whether a session has lived for as long as it may, parked or not."""
    return "age" in limits and since + limits["age"] <= now


def closed(because: str | None) -> dict[str, Any]:
    """What changes in the record of a session that is closed: that it was open is remembered, not what it held."""
    return {"state": "closed", "lost_reason": because, "vars": {}, "events": [], **dict.fromkeys(("armed", "request"))}


def alone(mine: Sequence[PlacedT], others: Iterable[PlacedT]) -> tuple[list[PlacedT], set[str]]:
    """The processes that no other record names, and the folders of theirs that none names: those that may be ended.

    None may once a session that shares them was detached: they are the user's.
    """
    if any(one.folder and folders.released(Path(one.folder)) for one in mine):
        return [], set()
    named = [*others]
    known, places = {(one.pid, one.created) for one in named}, {one.folder for one in named}
    own = [one for one in mine if (one.pid, one.created) not in known]
    return own, {one.folder for one in own if one.folder and one.folder not in places}


def holds(holder: Process, beat: float, tick: float) -> bool:
    """Whether a place in a lane is still somebody's."""
    # Ticks are a monotonic clock's: neither a changed wall clock nor a laptop that slept makes anyone look silent.
    # They begin anew when the machine does, so a beat from the future is one from before that.
    return 0 <= tick - beat <= _SILENCE and holder.alive()


def in_use(db: sqlite3.Connection, session: int, tick: float, me: Process | None = None) -> bool:
    """Whether a call of anybody alive runs or waits in this session's lane."""
    places = db.execute("SELECT pid, created, beat FROM tickets WHERE session = ?", (session,)).fetchall()
    return any(Process(pid, created) == me or holds(Process(pid, created), beat, tick) for pid, created, beat in places)


def living(db: sqlite3.Connection) -> set[str]:
    """The keys of the callers whose process is alive."""
    found = db.execute("SELECT key, pid, created FROM callers").fetchall()
    alive = {holder: holder.alive() for holder in {Process(pid, created) for _, pid, created in found}}
    return {key for key, pid, created in found if alive[Process(pid, created)]}


def hand_on_current(db: sqlite3.Connection, namespace: str, session_id: str) -> None:
    """A session was closed: for whom it was current, the only other one that it owns, if any, takes its place."""
    db.execute(
        "UPDATE callers SET current = (SELECT CASE count(*) WHEN 1 THEN min(id) END FROM sessions "
        "WHERE namespace = :namespace AND owner = callers.key AND state <> 'closed') "
        "WHERE namespace = :namespace AND current = :session",
        {"namespace": namespace, "session": session_id},
    )


def keeper(db: sqlite3.Connection) -> Process | None:
    """The keeper of this home, if it is alive."""
    found = db.execute("SELECT pid, created FROM keeper").fetchone()
    return Process(*found) if found and Process(*found).alive() else None
