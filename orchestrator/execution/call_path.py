"""The path of a call on a session: the components that it goes through."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

import anyio.abc

from orchestrator.actions.base import Catalogue
from orchestrator.automation.scene import SceneServices
from orchestrator.execution.connection import Connections
from orchestrator.execution.restore import Restorer
from orchestrator.execution.runner import Runner
from orchestrator.execution.script_actions import ScriptHost
from orchestrator.models.session import Caller
from orchestrator.sessions.connector import Connector
from orchestrator.sessions.id_guard import SessionIdGuard
from orchestrator.sessions.lanes import Lanes
from orchestrator.sessions.providers import Providers
from orchestrator.sessions.registry import SessionRegistry
from orchestrator.sessions.store.sqlite import SqliteStore
from orchestrator.settings import Settings
from orchestrator.system.activity import ActivityLog
from orchestrator.system.event_loops import Background
from orchestrator.system.secrets import Redactor


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPath:
    """The components that a call goes through, and the task group that their background tasks run in."""

    task_group: anyio.abc.TaskGroup
    registry: SessionRegistry
    lanes: Lanes
    connector: Connector
    restorer: Restorer
    script_host: ScriptHost
    runner: Runner


async def build_call_path(
    *,
    resources: AsyncExitStack,
    settings: Settings,
    providers: Providers,
    actions: Catalogue,
    redactor: Redactor,
    caller: Caller,
    make_restorer: Callable[[Connector], Restorer],
    on_end: Callable[[], None] = lambda: None,
) -> CallPath:
    """Build the path; what must be released at the end is pushed onto `resources`.

    Args:
        resources: Where they are pushed.
        settings: The settings.
        providers: Sources of sessions.
        actions: The actions that scripts can call.
        redactor: Learns the secrets that are met.
        caller: The connection or script itself.
        make_restorer: Makes what restores parked sessions.
        on_end: Called at the end of each call.
    """
    store = SqliteStore(settings.home)
    resources.callback(store.disconnect)
    task_group = await resources.enter_async_context(Background())
    registry = SessionRegistry(store, caller, settings.namespace, max_sessions=settings.max_sessions)
    activity = ActivityLog(settings.home, caller, redactor)
    id_guard = SessionIdGuard(settings.require_session_id, registry)
    lanes = Lanes(registry, task_group, id_guard=id_guard, on_lost=activity.log_lost_session)
    connector = Connector(providers, settings, redactor)
    restorer = make_restorer(connector)
    script_host = ScriptHost(actions, settings)
    resources.callback(script_host.worlds.close)
    connections = Connections(
        store=store,
        connector=connector,
        worlds=script_host.worlds,
        settings=settings,
        redactor=redactor,
        files=actions.files,
    )
    resources.callback(connections.close)
    runner = Runner(
        lanes=lanes,
        store=store,
        connector=connector,
        restorer=restorer,
        script_host=script_host,
        connections=connections,
        services=SceneServices(settings, activity, script_host, actions.files),
        on_end=on_end,
    )
    return CallPath(
        task_group=task_group,
        registry=registry,
        lanes=lanes,
        connector=connector,
        restorer=restorer,
        script_host=script_host,
        runner=runner,
    )
