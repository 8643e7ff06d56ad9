"""The schema of the store, one step a version."""

from __future__ import annotations

import sqlite3

from orchestrator.errors import InvalidArgument

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        # `seq` is one life of an id: a name that is used again is another row. `replaced` is what was the owner's
        # current session before this one became it, so that a start that fails leaves things as they were.
        """CREATE TABLE sessions (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            namespace TEXT NOT NULL,
            id TEXT NOT NULL,
            state TEXT NOT NULL,
            owner TEXT NOT NULL,
            record TEXT NOT NULL,
            replaced TEXT,
            closed_at REAL,
            UNIQUE (namespace, id)
        )""",
        "CREATE INDEX sessions_open ON sessions (namespace, seq) WHERE state <> 'closed'",
        """CREATE TABLE tickets (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            session INTEGER NOT NULL REFERENCES sessions (seq) ON DELETE CASCADE,
            pid INTEGER NOT NULL,
            created REAL NOT NULL,
            beat REAL NOT NULL
        )""",
        "CREATE INDEX tickets_lane ON tickets (session, number)",
        """CREATE TABLE callers (
            key TEXT PRIMARY KEY,
            namespace TEXT NOT NULL,
            pid INTEGER NOT NULL,
            created REAL NOT NULL,
            current TEXT
        )""",
        """CREATE TABLE counters (
            namespace TEXT NOT NULL,
            type TEXT NOT NULL,
            next INTEGER NOT NULL,
            PRIMARY KEY (namespace, type)
        )""",
    ),
    # The one process that ends what has expired when nobody else is there; see `orchestrator.keeper`.
    ("CREATE TABLE keeper (id INTEGER PRIMARY KEY CHECK (id = 1), pid INTEGER NOT NULL, created REAL NOT NULL)",),
)
"""The statements that lead from each version to the next; the first begin at an empty file."""

LATEST = len(MIGRATIONS)


def version(db: sqlite3.Connection) -> int:
    """The schema version of this file; 0 when it is empty."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def migrate(db: sqlite3.Connection, path: str) -> None:
    """Bring the schema to the latest version; runs inside a write transaction.

    Raises:
        InvalidArgument: The file was written by a newer version than this.
    """
    found = version(db)
    if found > LATEST:
        raise InvalidArgument(
            f"The store {path} has version {found}, and this orchestrator knows versions up to {LATEST}.",
            hint="Update webdriver-orchestrator, or use another home.",
        )
    for step in MIGRATIONS[found:]:
        for statement in step:
            db.execute(statement)
    db.execute(f"PRAGMA user_version = {LATEST}")
