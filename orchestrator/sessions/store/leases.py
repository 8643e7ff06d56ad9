"""Expiry of unattended sessions, shared by store and keeper.

A lease begins when the session's caller goes away, and is part of the record: any process that reads an expired lease
may end the session in the same transaction. Fields have the names of `SessionRecord`, times are in seconds since the
epoch. Imports only psutil and the standard library, since the keeper imports this module.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from orchestrator.system import boot, folders, process_identity
from orchestrator.system.host import life_locks
from orchestrator.system.process_identity import Identity, ProcessKey

STARTER_DIED = "the server that was starting it ended before it was ready"
NOBODY_CAME = "it was parked, and nobody came back to it in time"
TOO_OLD = "it reached its maximum age"
NONE: dict[str, Any] = {"parked_at": None, "parked_until": None}
"""The lease fields of an attended session."""

_SILENCE = 30.0
"""Seconds without a heartbeat after which a place in a lane is free."""


class ProcessWithFolder(Identity, Protocol):
    """A process in a record."""

    @property
    def folder(self) -> str | None:
        """The temporary folder that is removed with the process."""


PlacedT = TypeVar("PlacedT", bound=ProcessWithFolder)


def build_lease_fields(state: str, limits: Mapping[str, float], until: float | None, now: float) -> dict[str, Any]:
    """Return the fields that change in the record when the caller goes away; a running lease continues."""
    fields: dict[str, Any] = {}
    if state == "starting":
        fields |= {"state": "lost", "lost_reason": STARTER_DIED}
    elif state == "active":
        fields |= {"state": "parked"}
    if until is None:
        fields |= {"parked_at": now, "parked_until": now + limits.get("park", 0)}
    return fields


def is_over(until: float | None, now: float) -> bool:
    """Return True if a session's time without a caller is over."""
    return until is not None and until <= now


def is_too_old(since: float, limits: Mapping[str, float], now: float) -> bool:
    """Return True if a session, parked or not, has reached its maximum age."""
    return "age" in limits and since + limits["age"] <= now


def build_closed_fields(because: str | None) -> dict[str, Any]:
    """Return the fields that change in the record when the session is closed: its contents are forgotten."""
    contents: dict[str, Any] = {"vars": {}, "events": [], "screen_refs": "", **dict.fromkeys(("armed", "request"))}
    return {"state": "closed", "lost_reason": because, **contents}


def select_unshared(mine: Sequence[PlacedT], others: Iterable[PlacedT]) -> tuple[list[PlacedT], set[str]]:
    """Select the processes and folders that no other record names, and that may be ended with the session.

    None may be ended once a session that shares them was detached, since they are the user's then.
    """
    if any(process.folder and folders.released(Path(process.folder)) for process in mine):
        return [], set()
    named = [*others]
    keys, places = {_key(process) for process in named}, {process.folder for process in named}
    own = [process for process in mine if _key(process) not in keys]
    return own, {process.folder for process in own if process.folder and process.folder not in places}


def _key(process: Identity) -> tuple[int, float | str]:
    # Two records may have the creation time of one process by different wall clocks.
    return process.pid, process.started or process.created


def runs_elsewhere(processes: Iterable[Identity]) -> bool:
    """Return True if the processes are of another pid namespace in which something of ours runs: it ends them."""
    return any(life_locks.is_stranger(one.started) and process_identity.alive(one) for one in processes)


def is_held(holder: ProcessKey, beat: float, tick: float) -> bool:
    """Return True if a place in a lane is still held: its process is alive and has a recent heartbeat."""
    # Ticks are of a monotonic clock, which neither a changed wall clock nor a sleeping laptop moves. It restarts with
    # the machine, so a heartbeat from the future is from before the restart.
    return 0 <= tick - beat <= _SILENCE and holder.alive()


def in_use(db: sqlite3.Connection, session: int, tick: float, me: ProcessKey | None = None) -> bool:
    """Return True if a call of a living process runs or waits in this session's lane."""
    places = db.execute("SELECT pid, created, started, beat FROM tickets WHERE session = ?", (session,)).fetchall()
    return any(ProcessKey(*holder) == me or is_held(ProcessKey(*holder), beat, tick) for *holder, beat in places)


def in_use_by_others(
    db: sqlite3.Connection, session: int, tick: float, me: ProcessKey | None, callers: Collection[str]
) -> bool:
    """Return True if a call of a caller that is none of these runs or waits there; maintenance is no caller."""
    query = "SELECT pid, created, started, beat, caller FROM tickets WHERE session = ? AND caller IS NOT NULL"
    return any(
        key not in callers and (ProcessKey(*holder) == me or is_held(ProcessKey(*holder), beat, tick))
        for *holder, beat, key in db.execute(query, (session,)).fetchall()
    )


def find_living_callers(db: sqlite3.Connection) -> set[str]:
    """Return the keys of the callers whose process is alive."""
    rows = db.execute("SELECT key, pid, created, started FROM callers").fetchall()
    alive = {holder: holder.alive() for holder in {ProcessKey(*holder) for _, *holder in rows}}
    return {key for key, *holder in rows if alive[ProcessKey(*holder)]}


def hand_on_current(db: sqlite3.Connection, namespace: str, session_id: str) -> None:
    """Replace a closed session as callers' current one by the only other session that the caller owns, if any."""
    db.execute(
        "UPDATE callers SET current = (SELECT CASE count(*) WHEN 1 THEN min(id) END FROM sessions "
        "WHERE namespace = :namespace AND owner = callers.key AND state <> 'closed') "
        "WHERE namespace = :namespace AND current = :session",
        {"namespace": namespace, "session": session_id},
    )


def keeper(db: sqlite3.Connection) -> ProcessKey | None:
    """Return the process of this home's keeper in this pid namespace, None if it is dead."""
    ours = "SELECT pid, created, started FROM keepers WHERE place = ?"
    of_before = "SELECT pid, created, started FROM keeper"  # of a version that knew one keeper alone
    found = (ProcessKey(*row) for row in db.execute(f"{ours} UNION ALL {of_before}", (boot.place(),)).fetchall())
    return next((one for one in found if one.alive()), None)
