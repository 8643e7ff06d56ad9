"""A store and its callers with short calls, and further processes that use the same file."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from orchestrator.models.session import Caller, SessionRecord, SessionState, SessionType
from orchestrator.sessions.store.sqlite import SqliteStore
from orchestrator.sessions.store.types import Holder, Ticket

NAMESPACE = "project"
ROOT = Path(__file__).parents[3]


def ahead(clock: Callable[[], float], seconds: float) -> Callable[[], float]:
    """Return a clock that is this many seconds ahead."""
    return lambda: clock() + seconds


class Peer:
    """Another process on the same store."""

    def __init__(self, home: Path, command: str, session_id: str) -> None:
        script = Path(__file__).parent / "peer.py"
        self.process = subprocess.Popen(
            [sys.executable, str(script), str(home), command, session_id],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )

    def next_word(self) -> str:
        """Return its next word, once it is there."""
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def go_on(self) -> None:
        """Let it continue."""
        assert self.process.stdin
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        """Kill the process (SIGKILL, by its pid). It stays a zombie until the test ends."""
        self.process.kill()

    def end(self) -> None:
        """End the process and close its pipes."""
        self.process.kill()
        self.process.communicate()


class Keeper:
    """The store with defaults for the arguments that tests do not need."""

    def __init__(self, store: SqliteStore) -> None:
        self.store = store
        self.here = Holder.current()

    def caller(self, key: str) -> Caller:
        """Register a caller of this process."""
        caller = Caller(key=key, pid=self.here.pid, created=self.here.created)
        self.store.register(caller, NAMESPACE)
        return caller

    def reserve(
        self,
        wanted: str | None = None,
        *,
        owner: str = "me",
        namespace: str = NAMESPACE,
        type_: SessionType = SessionType.BROWSER,
        max_sessions: int | None = None,
    ) -> tuple[SessionRecord, Ticket]:
        """Reserve an id."""

        def draft(session_id: str) -> SessionRecord:
            return SessionRecord(
                id=session_id,
                namespace=namespace,
                type=type_,
                provider="local",
                owner=owner,
                created_at=time.time(),
                last_active_at=0,
            )

        return self.store.reserve(namespace, type_, wanted, draft, max_sessions=max_sessions, holder=self.here)

    def start(self, wanted: str | None = None, *, owner: str = "me", namespace: str = NAMESPACE) -> SessionRecord:
        """Reserve an id and make its session active."""
        _, ticket = self.reserve(wanted, owner=owner, namespace=namespace)
        record = self.store.leave_lane(
            ticket, lambda record: record.with_changes(state=SessionState.ACTIVE, remote_session_id="remote")
        )
        assert record
        return record

    def lose(self, session_id: str) -> None:
        """Mark a session as lost."""
        change = {"state": SessionState.LOST, "lost_reason": "the browser crashed"}
        self.store.update(NAMESPACE, session_id, lambda record: record.with_changes(**change))

    def close(self, session_id: str) -> SessionRecord | None:
        """Close a session."""
        return self.store.close(NAMESPACE, session_id, holder=self.here)

    def ids(self) -> list[str]:
        """The open ids."""
        return [record.id for record in self.store.list_open(NAMESPACE)]
