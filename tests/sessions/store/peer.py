"""A second process on the same store, advanced by lines on its standard input."""

from __future__ import annotations

import secrets
import sys
import time
from pathlib import Path

from orchestrator.errors import OrchestratorError
from orchestrator.models.session import Caller, SessionRecord, SessionState, SessionType
from orchestrator.sessions.store.sqlite import SqliteStore
from orchestrator.sessions.store.types import Holder

NAMESPACE = "project"


def main(home: str, command: str, session_id: str) -> None:
    """Do one thing, report it, and wait for a line before continuing."""
    store, here = SqliteStore(Path(home)), Holder.current()
    key = secrets.token_hex(4)

    def draft(id_: str) -> SessionRecord:
        now = time.time()
        return SessionRecord(
            id=id_,
            namespace=NAMESPACE,
            type=SessionType.BROWSER,
            provider="local",
            owner=key,
            created_at=now,
            last_active_at=now,
        )

    if command == "hold":
        entry = store.join_lane(NAMESPACE, session_id, here)
        say("first" if entry.first else "waiting")
        store.leave_lane(entry.ticket)
    elif command == "close":
        say("ready")
        store.close(NAMESPACE, session_id, holder=here)
    elif command == "reserve":
        say("ready")
        try:
            store.reserve(NAMESPACE, SessionType.BROWSER, session_id, draft, max_sessions=None, holder=here)
        except OrchestratorError as error:
            print(error.code, flush=True)
        else:
            say("reserved")
    elif command in {"own", "starting"}:
        store.register(Caller(key=key, pid=here.pid, created=here.created), NAMESPACE)
        _, ticket = store.reserve(NAMESPACE, SessionType.BROWSER, session_id, draft, max_sessions=None, holder=here)
        if command == "own":
            store.leave_lane(ticket, lambda record: record.with_changes(state=SessionState.ACTIVE))
        say(key)
    print("done", flush=True)


def say(word: str) -> None:
    """Report progress, and wait for a line."""
    print(word, flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    main(*sys.argv[1:])
