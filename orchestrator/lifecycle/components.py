"""The composition root: builds the components of an open orchestrator."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass

import anyio.abc

from orchestrator.actions.plugins import InstalledActions
from orchestrator.automation.scripting.pool import WorldPool
from orchestrator.execution.call_path import build_call_path
from orchestrator.execution.coordinator import Coordinator
from orchestrator.execution.restore import Restorer
from orchestrator.execution.runner import Runner
from orchestrator.lifecycle.attach import Attacher
from orchestrator.lifecycle.claims import Claims
from orchestrator.lifecycle.close import SessionCloser
from orchestrator.lifecycle.maintenance.cleanup import IdleWorlds
from orchestrator.lifecycle.maintenance.keeper_launcher import KeeperLauncher
from orchestrator.lifecycle.maintenance.maintenance import Maintenance
from orchestrator.lifecycle.maintenance.scheduler import Alarm
from orchestrator.lifecycle.maintenance.shutdown import Shutdown
from orchestrator.lifecycle.maintenance.storage_autosave import StorageAutosave
from orchestrator.lifecycle.remote_ender import RemoteEnder
from orchestrator.lifecycle.restart import Restarter
from orchestrator.lifecycle.services import Services
from orchestrator.lifecycle.start import Starter
from orchestrator.models.session import Caller
from orchestrator.sessions.id_guard import SessionIdGuard
from orchestrator.sessions.lanes import Lanes
from orchestrator.sessions.providers import Providers
from orchestrator.sessions.registry import SessionRegistry
from orchestrator.settings import Settings
from orchestrator.system.secrets import Redactor


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """The components of an open orchestrator, and the task group that their background tasks run in."""

    task_group: anyio.abc.TaskGroup
    registry: SessionRegistry
    lanes: Lanes
    id_guard: SessionIdGuard
    runner: Runner
    coordinator: Coordinator
    starter: Starter
    attacher: Attacher
    closer: SessionCloser
    claims: Claims
    keeper_launcher: KeeperLauncher
    maintenance: Maintenance
    shutdown: Shutdown


async def build_components(
    *,
    resources: AsyncExitStack,
    settings: Settings,
    providers: Providers,
    actions: InstalledActions,
    redactor: Redactor,
    caller: Caller,
    restored_ttl: float | None,
    park_on_exit: bool,
) -> Components:
    """Build the components; what must be released at the end is pushed onto `resources`.

    `caller` is the connection or script itself. `restored_ttl` is the time in seconds that a session which is restored
    here lives when it is parked again; None leaves it as it was.
    """
    alarm = Alarm()
    path = await build_call_path(
        resources=resources,
        settings=settings,
        providers=providers,
        actions=actions,
        redactor=redactor,
        caller=caller,
        make_restorer=lambda connector: Restorer(
            connector,
            Restarter(connector, providers, settings, actions.files).restart_session,
            settings.home,
            restored_ttl,
        ),
        on_end=alarm.wake_soon,
    )
    services = Services(
        registry=path.registry,
        lanes=path.lanes,
        runner=path.runner,
        connector=path.connector,
        providers=providers,
        settings=settings,
        files=actions.files,
    )
    return _assemble(
        services,
        task_group=path.task_group,
        actions=actions,
        restorer=path.restorer,
        worlds=path.script_host.worlds,
        alarm=alarm,
        park_on_exit=park_on_exit,
    )


def _assemble(
    services: Services,
    *,
    task_group: anyio.abc.TaskGroup,
    actions: InstalledActions,
    restorer: Restorer,
    worlds: WorldPool,
    alarm: Alarm,
    park_on_exit: bool,
) -> Components:
    registry, runner, settings = services.registry, services.runner, services.settings
    ender = RemoteEnder(services)
    closer = SessionCloser(services, ender)
    keeper_launcher = KeeperLauncher(registry, settings.home)
    autosave = StorageAutosave(registry, services.lanes, services.connector, settings.home)
    return Components(
        task_group=task_group,
        registry=registry,
        lanes=services.lanes,
        id_guard=services.lanes.id_guard,
        runner=runner,
        coordinator=Coordinator(registry=registry, runner=runner, actions=actions, settings=settings),
        starter=Starter(services),
        attacher=Attacher(services),
        closer=closer,
        claims=Claims(services),
        keeper_launcher=keeper_launcher,
        maintenance=Maintenance(
            services,
            closer,
            ender,
            alarm,
            more_tasks=(autosave, IdleWorlds(worlds)),
            memories=(restorer, worlds, runner.connections),
        ),
        shutdown=Shutdown(
            registry=registry,
            closer=closer,
            ender=ender,
            restorer=restorer,
            keeper_launcher=keeper_launcher,
            autosave=autosave,
            activity=runner.activity,
            park_on_exit=park_on_exit,
        ),
    )
