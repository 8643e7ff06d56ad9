"""Claims inside a transaction: sessions that are used under a name of one's own for a while."""

from __future__ import annotations

import secrets
import sqlite3
import string
from datetime import UTC, datetime
from typing import NamedTuple

from orchestrator.errors import SessionClaimed, SessionNotFound
from orchestrator.models.session import Caller
from orchestrator.sessions.store import leases
from orchestrator.sessions.store.types import Holder

_ALPHABET = string.ascii_lowercase + string.digits
_LENGTH = 5


class Claim(NamedTuple):
    """A claim in force: the end of the session's name, who claimed it, its seconds, and when it ends unless used."""

    suffix: str
    caller: str
    label: str
    ttl: float
    until: float


class Times(NamedTuple):
    """The present by both clocks: `now` of claims, `tick` of the heartbeats of places in lanes."""

    now: float
    tick: float


def find(db: sqlite3.Connection, session: int, times: Times) -> Claim | None:
    """Return the claim of a session; None if it is over, or if its caller is dead.

    A claim whose time is over is in force as long as a call under its name runs or waits, and begins anew after it.
    """
    query = "SELECT suffix, caller, label, ttl, until FROM claims WHERE session = ?"
    row = db.execute(query, (session,)).fetchone()
    claim = Claim(*row) if row else None
    if claim is None or (claim.caller and claim.caller not in leases.find_living_callers(db)):
        return None
    if claim.until > times.now:
        return claim
    return claim._replace(until=times.now + claim.ttl) if _is_in_use(db, session, claim.suffix, times.tick) else None


def make(db: sqlite3.Connection, session: int, caller: Caller, ttl: float, now: float) -> Claim:
    """Claim a session that nobody has claimed."""
    suffix = "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
    # Between two commands of a shell no process lives: its claims end with their time alone.
    holder = "" if caller.door == "cli" else caller.key
    claim = Claim(suffix, holder, caller.label, ttl, now + ttl)
    db.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?, ?)", (session, *claim))
    return claim


def end(db: sqlite3.Connection, session: int) -> None:
    """End the claim of a session, if there is one."""
    db.execute("DELETE FROM claims WHERE session = ?", (session,))


def renew(db: sqlite3.Connection, session: int, suffix: str, now: float) -> None:
    """Let the claim of this name begin its time anew."""
    db.execute("UPDATE claims SET until = ? + ttl WHERE session = ? AND suffix = ?", (now, session, suffix))


def check(db: sqlite3.Connection, session: int, session_id: str, suffix: str, times: Times) -> Claim | None:
    """Return the claim in force under whose name a session is used; None if it is used under its own, and is free.

    Raises:
        SessionNotFound: The name is that of a claim which is over.
        SessionClaimed: The session is claimed, and used under its own name.
    """
    claim = find(db, session, times)
    if suffix and (claim is None or claim.suffix != suffix):
        error = SessionNotFound(f"{session_id}~{suffix}", [session_id])
        error.hint = f"This claim is over: use {session_id!r}, or claim it again with claim_session."
        raise error
    if claim is not None and not suffix:
        raise SessionClaimed(session_id, claim.label, claim.until)
    return claim


def describe_end(claim: Claim, closer: str, now: float) -> str:
    """Return how a claim ended with a session that someone closed under its own name, as a clause for later calls."""
    at = datetime.fromtimestamp(now, UTC).strftime("%H:%M:%S")
    return f"{closer} closed it at {at} UTC, while {claim.label} had claimed it"


def _is_in_use(db: sqlite3.Connection, session: int, suffix: str, tick: float) -> bool:
    """Return True if a call of a living process under this name runs or waits."""
    query = "SELECT pid, created, started, beat FROM tickets WHERE session = ? AND claim = ?"
    places = db.execute(query, (session, suffix)).fetchall()
    return any(leases.is_held(Holder(*holder), beat, tick) for *holder, beat in places)
