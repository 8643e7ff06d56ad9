"""A second process on the same store, moved on by lines on its standard input."""

from __future__ import annotations

import secrets
import sys
import time
from pathlib import Path

from orchestrator.errors import OrchestratorError
from orchestrator.models import Caller, SessionRecord, SessionState, SessionType
from orchestrator.store import Holder, SqliteStore

NAMESPACE = "project"


def main(home: str, command: str, session_id: str) -> None:
    """Do one thing, say so, and wait for a line before going on."""
    store, here = SqliteStore(Path(home)), Holder.here()
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
        entry = store.enter(NAMESPACE, session_id, here)
        say("first" if entry.first else "waiting")
        store.leave(entry.ticket)
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
            store.leave(ticket, lambda record: record.changed(state=SessionState.ACTIVE))
        say(key)
    print("done", flush=True)


def say(word: str) -> None:
    """Say how far it is, and wait to be sent on."""
    print(word, flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    main(*sys.argv[1:])
