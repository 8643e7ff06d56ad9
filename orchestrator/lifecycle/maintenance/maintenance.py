"""The maintenance that a server does for its sessions without being asked."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import anyio
import anyio.abc
import anyio.to_thread

from orchestrator.errors import OrchestratorError
from orchestrator.lifecycle.close import SessionCloser
from orchestrator.lifecycle.maintenance.cleanup import LostSessionCleanup
from orchestrator.lifecycle.maintenance.file_pruner import FilePruner
from orchestrator.lifecycle.maintenance.heartbeat import Heartbeat
from orchestrator.lifecycle.maintenance.limits import AgeLimit, IdleLimit
from orchestrator.lifecycle.maintenance.scheduler import Alarm, MaintenanceTask, Scheduler, SessionMemory
from orchestrator.lifecycle.maintenance.sweep import StaleSweeper
from orchestrator.lifecycle.remote_ender import RemoteEnder
from orchestrator.lifecycle.services import Services
from orchestrator.system.logger import get_logger

_FORGETS_EVERY = 3600.0
"""Seconds between two times at which files, records and logs are looked through for what is too old."""


class Maintenance:
    """Runs the maintenance tasks of one server, and one sweep when it starts."""

    def __init__(
        self,
        services: Services,
        closer: SessionCloser,
        ender: RemoteEnder,
        alarm: Alarm,
        *,
        more_tasks: Iterable[MaintenanceTask],
        memories: Iterable[SessionMemory],
    ) -> None:
        self._sweeper = StaleSweeper(services, ender)
        self._registry = services.registry
        self._activity = services.runner.activity
        self._pruner = FilePruner(services.settings.home, services.settings.keep_files, services.settings.keep_uploads)
        now = services.registry.store.now
        self._heartbeat = Heartbeat(services.lanes, services.connector, now)
        recreate = services.settings.on_max_duration == "recreate"
        tasks = (
            IdleLimit(closer, now),
            AgeLimit(services.lanes, ender, recreate=recreate, clock=now),
            self._heartbeat,
            LostSessionCleanup(services.registry),
            *more_tasks,
        )
        self._scheduler = Scheduler(services.registry, tasks, alarm, now, memories)
        self.wake_now = alarm.wake_now

    def start_tasks(self, group: anyio.abc.TaskGroup) -> None:
        """Start the maintenance, in tasks of `group`."""
        group.start_soon(self._sweep)
        group.start_soon(self._scheduler.run_forever)
        group.start_soon(self._forget_forever)

    async def _sweep(self) -> None:
        try:
            await self._sweeper.sweep()
        except OrchestratorError as error:  # nothing else depends on it
            get_logger(__name__).warning("the sweep after dead servers failed", error=str(error))

    async def _forget_forever(self) -> None:
        """Forget what is long over, in the store and on disk, once an hour."""
        while True:
            await anyio.to_thread.run_sync(self._pruner.prune, abandon_on_cancel=True)
            await anyio.sleep(_FORGETS_EVERY)
            with suppress(OrchestratorError):
                await self._registry.call_store(self._registry.store.forget_long_closed)
                await anyio.to_thread.run_sync(
                    self._activity.remove_stale_logs, self._registry.store.get, abandon_on_cancel=True
                )

    def check_all_sessions(self) -> None:
        """Check for lost sessions, in the whole namespace, because sessions are listed."""
        self._heartbeat.make_all_due()
        self.wake_now()
