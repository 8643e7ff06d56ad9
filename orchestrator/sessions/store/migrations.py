"""The schema of the store, one migration per version."""

from __future__ import annotations

import sqlite3

from orchestrator.errors import InvalidArgument

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        # `seq` is one life of an id: a reused id is another row. `replaced` is the owner's current session before
        # this one became it, so that a failed start can undo that.
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
    # The process that ends expired sessions when no server runs; see `orchestrator.lifecycle.keeper`.
    ("CREATE TABLE keeper (id INTEGER PRIMARY KEY CHECK (id = 1), pid INTEGER NOT NULL, created REAL NOT NULL)",),
    (
        # A caller that its host names comes back under the same key; `parent` is the key of the one that started it.
        "ALTER TABLE callers ADD COLUMN named INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE callers ADD COLUMN parent TEXT",
        "ALTER TABLE tickets ADD COLUMN caller TEXT",
        # While it is claimed, a session is used under `id~suffix` alone.
        """CREATE TABLE claims (
            session INTEGER PRIMARY KEY REFERENCES sessions (seq) ON DELETE CASCADE,
            suffix TEXT NOT NULL,
            caller TEXT NOT NULL,
            label TEXT NOT NULL,
            ttl REAL NOT NULL,
            until REAL NOT NULL
        )""",
    ),
    # A claim holds as long as a call under its name runs or waits.
    ("ALTER TABLE tickets ADD COLUMN claim TEXT NOT NULL DEFAULT ''",),
    (
        # What tells the start of a process whatever the wall clock does; a process of before, which wrote none, is
        # told by its creation time.
        *(
            f"ALTER TABLE {table} ADD COLUMN started TEXT NOT NULL DEFAULT ''"
            for table in ("tickets", "callers", "keeper")
        ),
        # The time of the wall clock at which each boot of the machine began, as the first process on it saw it: all
        # times of this store are counted from there.
        "CREATE TABLE clocks (boot TEXT PRIMARY KEY, epoch REAL NOT NULL)",
    ),
    # Each pid namespace has a keeper of its own. The table `keeper` stays for keepers of before, which still run.
    (
        """CREATE TABLE keepers (
            place TEXT PRIMARY KEY,
            pid INTEGER NOT NULL,
            created REAL NOT NULL,
            started TEXT NOT NULL
        )""",
    ),
)
"""The statements of each migration, the first from an empty file."""

LATEST = len(MIGRATIONS)


def version(db: sqlite3.Connection) -> int:
    """Return the schema version of this file; 0 if it is empty."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def migrate(db: sqlite3.Connection, path: str) -> None:
    """Migrate the schema to the latest version; runs inside a write transaction.

    Raises:
        InvalidArgument: The file was written by a newer version than this.
    """
    present = version(db)
    if present > LATEST:
        raise InvalidArgument(
            f"The store {path} has version {present}, and this orchestrator knows versions up to {LATEST}.",
            hint="Update webdriver-orchestrator, or use another home.",
        )
    for step in MIGRATIONS[present:]:
        for statement in step:
            db.execute(statement)
    db.execute(f"PRAGMA user_version = {LATEST}")
