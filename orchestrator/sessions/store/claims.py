"""Claims inside a transaction: sessions that are used under a name of one's own for a while."""

from __future__ import annotations

import secrets
import sqlite3
import string
from typing import NamedTuple

from orchestrator.errors import SessionClaimed, SessionNotFound
from orchestrator.models.session import Caller
from orchestrator.sessions.store import leases

_ALPHABET = string.ascii_lowercase + string.digits
_LENGTH = 5


class Claim(NamedTuple):
    """A claim in force: the end of the session's name, who claimed it, its seconds, and when it ends unless used."""

    suffix: str
    caller: str
    label: str
    ttl: float
    until: float


def find(db: sqlite3.Connection, session: int, now: float) -> Claim | None:
    """Return the claim of a session; None if it is over, or if its caller is dead."""
    query = "SELECT suffix, caller, label, ttl, until FROM claims WHERE session = ?"
    row = db.execute(query, (session,)).fetchone()
    claim = Claim(*row) if row else None
    if claim is None or claim.until <= now:
        return None
    return claim if not claim.caller or claim.caller in leases.find_living_callers(db) else None


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


def check(db: sqlite3.Connection, session: int, session_id: str, suffix: str, now: float) -> Claim | None:
    """Return the claim in force under whose name a session is used; None if it is used under its own, and is free.

    Raises:
        SessionNotFound: The name is that of a claim which is over.
        SessionClaimed: The session is claimed, and used under its own name.
    """
    claim = find(db, session, now)
    if suffix and (claim is None or claim.suffix != suffix):
        error = SessionNotFound(f"{session_id}~{suffix}", [session_id])
        error.hint = f"This claim is over: use {session_id!r}, or claim it again with claim_session."
        raise error
    if claim is not None and not suffix:
        raise SessionClaimed(session_id, claim.label, claim.until)
    return claim
