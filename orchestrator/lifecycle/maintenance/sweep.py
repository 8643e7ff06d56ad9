"""Sweeps up after dead servers: expired sessions, recordings, processes and files."""

from __future__ import annotations

import contextlib
import functools

import anyio.to_thread

from orchestrator.errors import OrchestratorError
from orchestrator.lifecycle.remote_ender import RemoteEnder
from orchestrator.lifecycle.services import Services
from orchestrator.models.session import SessionRecord
from orchestrator.network import har
from orchestrator.sessions.store import leases
from orchestrator.system import processes, storage_files


class StaleSweeper:
    """Removes what dead servers left in the data folder."""

    def __init__(self, services: Services, ender: RemoteEnder) -> None:
        self._registry = services.registry
        self._activity = services.runner.activity
        self._home = services.settings.home
        self._ender = ender

    async def sweep(self) -> None:
        """Close expired sessions, then remove what no record names."""
        await self._ender.finish_closed(await self._close_expired(), leases.NOBODY_CAME)
        # An unreadable record may name any of the leftovers. The keeper, which needs fewer fields, removes them then.
        if not await self._registry.call_store(self._registry.store.unreadable):
            await self._remove_leftovers()

    async def _close_expired(self) -> list[SessionRecord]:
        closed, store = [], self._registry.store

        def is_expired(record: SessionRecord, in_use: bool = False) -> bool:  # noqa: FBT001, FBT002 — the store's signature
            is_over = not in_use and leases.is_over(record.parked_until, store.now())
            return is_over and not leases.runs_elsewhere(record.processes)

        for record in filter(is_expired, await self._registry.call_store(store.list_all_open)):
            close = functools.partial(store.close, when=is_expired, because=leases.NOBODY_CAME)
            with contextlib.suppress(OrchestratorError):
                if before := await self._registry.call_store(close, record.namespace, record.id):
                    closed.append(before)
        return closed

    async def _remove_leftovers(self) -> None:
        store, home = self._registry.store, self._home
        await anyio.to_thread.run_sync(storage_files.tidy, home, store.list_all_open)
        await anyio.to_thread.run_sync(har.finish_orphaned_recordings, home, store.get)
        records = await self._registry.call_store(store.list_all_open)
        used = [process.folder for record in records for process in record.processes if process.folder]
        await anyio.to_thread.run_sync(processes.sweep, home, used, abandon_on_cancel=True)
        await anyio.to_thread.run_sync(self._activity.remove_stale_logs, store.get)
