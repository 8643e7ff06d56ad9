"""The maintenance that a server does for its sessions without being asked."""

from __future__ import annotations

from collections.abc import Iterable

import anyio.abc

from orchestrator.errors import OrchestratorError
from orchestrator.lifecycle.close import SessionCloser
from orchestrator.lifecycle.maintenance.cleanup import LostSessionCleanup
from orchestrator.lifecycle.maintenance.heartbeat import Heartbeat
from orchestrator.lifecycle.maintenance.limits import AgeLimit, IdleLimit
from orchestrator.lifecycle.maintenance.scheduler import Alarm, MaintenanceTask, Scheduler
from orchestrator.lifecycle.maintenance.sweep import StaleSweeper
from orchestrator.lifecycle.remote_ender import RemoteEnder
from orchestrator.lifecycle.services import Services
from orchestrator.system.logger import get_logger


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
    ) -> None:
        self._sweeper = StaleSweeper(services, ender)
        self._heartbeat = Heartbeat(services.lanes, services.connector)
        recreate = services.settings.on_max_duration == "recreate"
        tasks = (
            IdleLimit(closer),
            AgeLimit(services.lanes, ender, recreate=recreate),
            self._heartbeat,
            LostSessionCleanup(services.registry),
            *more_tasks,
        )
        self._scheduler = Scheduler(services.registry, tasks, alarm)
        self.wake_now = alarm.wake_now

    def start_tasks(self, group: anyio.abc.TaskGroup) -> None:
        """Start the maintenance, in tasks of `group`."""
        group.start_soon(self._sweep)
        group.start_soon(self._scheduler.run_forever)

    async def _sweep(self) -> None:
        try:
            await self._sweeper.sweep()
        except OrchestratorError as error:  # nothing else depends on it
            get_logger(__name__).warning("the sweep after dead servers failed", error=str(error))

    def check_all_sessions(self) -> None:
        """Check for lost sessions, in the whole namespace, because sessions are listed."""
        self._heartbeat.make_all_due()
        self.wake_now()
