"""Ends what is left of sessions that were lost: a browser without its driver, a profile without its browser."""

from __future__ import annotations

from pathlib import Path

import anyio.to_thread

from orchestrator import processes
from orchestrator.duties import NEVER, Duty, Usage
from orchestrator.models import ProcessInfo, SessionRecord, SessionState
from orchestrator.sessions import Book
from orchestrator.store.rows import without_shared


class Tidying(Duty):
    """Ends it at once, whoever lost it, but for what others share; the session stays listed until it is closed."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._done: set[tuple[str, float]] = set()

    def left(self, usage: Usage, now: float) -> float:  # noqa: ARG002 - it is due at once, or never
        """Nothing, once it is lost and something of it is there."""
        record = usage.record
        if record.state is not SessionState.LOST or (record.id, record.created_at) in self._done:
            return NEVER
        return 0 if any(map(_is_there, record.processes)) else NEVER

    async def do(self, record: SessionRecord) -> None:
        """End its own processes, with their folders."""
        own = without_shared(record, await self._book.ask(self._book.store.every))
        if not await anyio.to_thread.run_sync(processes.end, own.processes):
            self._done.add((record.id, record.created_at))


def _is_there(process: ProcessInfo) -> bool:
    return processes.alive(process) or (process.folder is not None and Path(process.folder).exists())
