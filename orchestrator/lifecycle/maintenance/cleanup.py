"""Cleanup: processes that lost sessions left behind, and idle script worlds."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import anyio.to_thread

from orchestrator.automation.scripting.pool import WorldPool
from orchestrator.lifecycle.maintenance.scheduler import NEVER, MaintenanceTask, Usage
from orchestrator.models.session import ProcessInfo, SessionRecord, SessionState
from orchestrator.sessions.registry import SessionRegistry
from orchestrator.sessions.store.records import without_shared
from orchestrator.system import processes


class LostSessionCleanup(MaintenanceTask):
    """Ends what is left of lost sessions, except what others share; they stay listed until they are closed."""

    def __init__(self, registry: SessionRegistry) -> None:
        self._registry = registry
        self._done: set[tuple[str, float]] = set()

    def seconds_until_due(self, usage: Usage, now: float) -> float:  # noqa: ARG002 - due at once, or never
        """Return 0 for a lost session of which something is left, else NEVER."""
        record = usage.record
        if record.state is not SessionState.LOST or (record.id, record.created_at) in self._done:
            return NEVER
        return 0 if any(map(_is_left, record.processes)) else NEVER

    def keep_only(self, records: Collection[SessionRecord]) -> None:
        """Forget other sessions than the open ones."""
        self._done &= {(record.id, record.created_at) for record in records}

    async def run_task(self, record: SessionRecord) -> None:
        """End the session's own processes, and remove their folders."""
        own = without_shared(record, await self._registry.call_store(self._registry.store.list_all_open))
        if not await anyio.to_thread.run_sync(processes.end_processes, own.processes):
            self._done.add((record.id, record.created_at))


def _is_left(process: ProcessInfo) -> bool:
    return processes.alive(process) or (process.folder is not None and Path(process.folder).exists())


class IdleWorlds(MaintenanceTask):
    """Ends script worlds that have been idle for too long."""

    def __init__(self, worlds: WorldPool) -> None:
        self._worlds = worlds

    def seconds_until_due(self, usage: Usage, now: float) -> float:  # noqa: ARG002 (the pool has a clock of its own)
        """Return the seconds until the session's world has been idle for too long."""
        return self._worlds.idle_seconds_left(usage.record.id)

    async def run_task(self, record: SessionRecord) -> None:
        """End the session's world, unless a script used it meanwhile."""
        await anyio.to_thread.run_sync(self._worlds.give_up_idle, record.id)
