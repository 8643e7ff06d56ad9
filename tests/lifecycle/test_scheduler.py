"""Automatic maintenance of sessions over a real store, with a clock that the test moves."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio
import anyio.abc
import pytest

from orchestrator.actions.catalogue import CATALOGUE
from orchestrator.automation.scene import SceneServices
from orchestrator.errors import SessionNotFound
from orchestrator.execution.connection import Connections
from orchestrator.execution.restore import Restorer
from orchestrator.execution.runner import Runner
from orchestrator.execution.script_actions import ScriptHost
from orchestrator.lifecycle.close import SessionCloser
from orchestrator.lifecycle.maintenance.limits import AgeLimit, IdleLimit
from orchestrator.lifecycle.maintenance.scheduler import LONGEST, NEVER, Alarm, MaintenanceTask, Scheduler, Usage
from orchestrator.lifecycle.remote_ender import RemoteEnder
from orchestrator.lifecycle.services import Services
from orchestrator.models.session import SessionRecord
from orchestrator.models.storage_state import StorageState
from orchestrator.sessions.connector import Connector
from orchestrator.sessions.lanes import Lanes
from orchestrator.sessions.providers import Providers
from orchestrator.sessions.registry import SessionRegistry
from orchestrator.sessions.turn import Turn
from orchestrator.settings import Settings
from orchestrator.system.activity import ActivityLog
from orchestrator.system.file_access import FileAccess
from orchestrator.system.secrets import Redactor
from tests.sessions.helpers import Held, fire, in_line, state
from tests.sessions.store.helpers import Keeper

pytestmark = pytest.mark.anyio


def _never(_: Turn, why: str, state: StorageState | None) -> None:
    """Fail: no session is recreated in these tests."""
    raise AssertionError(why, state)


class Clock:
    """A clock that starts with the test and advances only when moved."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        """Return the time."""
        return self.now


class Watch:
    """The limits in operation: `look` checks once, and waits until due work is done."""

    def __init__(self, registry: SessionRegistry, tasks: Callable[[Clock], list[MaintenanceTask]]) -> None:
        self.clock = Clock()
        self._registry = registry
        self._tasks = tasks(self.clock)
        self.wait = 0.0

    async def look(self, after: float = 0.0) -> None:
        """Advance the clock, then check."""
        self.clock.now += after
        async with anyio.create_task_group() as group:
            self.wait = await Scheduler(self._registry, self._tasks, Alarm(), self.clock).start_due_tasks(group)


@pytest.fixture
async def watch(registry: SessionRegistry, tmp_path: Path) -> AsyncIterator[tuple[Watch, Lanes]]:
    """The limits of a caller without a browser, and the lanes that they share with its calls."""
    async with anyio.create_task_group() as group:
        lanes, settings, providers = Lanes(registry, group), Settings.load(), Providers()
        connector = Connector(providers, settings, Redactor())
        activity = ActivityLog(tmp_path, registry.caller, Redactor())
        restorer = Restorer(connector, _never, tmp_path)
        script_host = ScriptHost(CATALOGUE, settings)
        runner = Runner(
            lanes=lanes,
            store=registry.store,
            connector=connector,
            restorer=restorer,
            script_host=script_host,
            connections=Connections(
                store=registry.store,
                connector=connector,
                worlds=script_host.worlds,
                settings=settings,
                redactor=Redactor(),
                files=FileAccess(),
            ),
            services=SceneServices(settings, activity, script_host, FileAccess()),
            on_end=lambda: None,
        )
        services = Services(
            registry=registry,
            lanes=lanes,
            runner=runner,
            connector=connector,
            providers=providers,
            settings=settings,
            files=FileAccess(),
        )
        ender = RemoteEnder(services)
        closer = SessionCloser(services, ender)
        yield Watch(registry, lambda clock: [IdleLimit(closer, clock), AgeLimit(lanes, ender, clock=clock)]), lanes


def begin(keeper: Keeper, registry: SessionRegistry, session_id: str, **limits: float) -> SessionRecord:
    """Start a session with these limits, used just now, without anything at its remote end."""
    keeper.start(session_id, owner=registry.caller.key)
    fresh = {"limits": limits, "last_active_at": time.time(), "owned": False}
    return registry.store.update(registry.namespace, session_id, lambda record: record.with_changes(**fresh))


async def test_an_idle_session_is_closed_after_its_own_idle_time(
    watch: tuple[Watch, Lanes], registry: SessionRegistry, keeper: Keeper
) -> None:  # W47 O5 O28
    """A session is closed after its own idle time and not before, and the reason is reported."""
    looks, lanes = watch
    begun = begin(keeper, registry, "short", idle=60)
    begin(keeper, registry, "long", idle=3_600)
    await looks.look(after=50)
    assert looks.wait == pytest.approx(begun.last_active_at + 60 - looks.clock.now)
    assert state(registry, "short") == "active"
    await looks.look(after=60)
    assert [state(registry, "short"), state(registry, "long")] == ["closed", "active"]
    with pytest.raises(SessionNotFound) as error:
        await lanes.run_turn("short", lambda _: None)
    assert "It is closed: nobody used it for 1 minute." in error.value.hint


async def test_a_call_renews_the_idle_time(
    watch: tuple[Watch, Lanes], registry: SessionRegistry, keeper: Keeper
) -> None:  # O22
    """A call renews the idle time; listing and automatic maintenance do not."""
    looks, lanes = watch
    begin(keeper, registry, "a", idle=60)
    registry.store.update(registry.namespace, "a", lambda record: record.with_changes(last_active_at=time.time() - 50))
    await lanes.run_turn("a", lambda _: None)
    await looks.look(after=55)
    assert state(registry, "a") == "active"
    before = registry.store.list_open(registry.namespace)[0].last_active_at
    await lanes.run_turn("a", lambda _: None, renews=False)
    await registry.list_with_current()
    assert registry.store.list_open(registry.namespace)[0].last_active_at == before
    await looks.look(after=60)
    assert state(registry, "a") == "closed"


async def test_a_session_with_a_call_in_flight_is_not_idle(
    watch: tuple[Watch, Lanes], registry: SessionRegistry, keeper: Keeper
) -> None:  # B36 X26
    """A call longer than the idle time is not interrupted, and counts until it ends."""
    looks, lanes = watch
    begin(keeper, registry, "a", idle=60)
    held = Held()
    async with anyio.create_task_group() as group:
        call = fire(group, lanes, "a", held)
        await held.has_begun()
        await looks.look(after=3_600)
        assert state(registry, "a") == "active"
        held.let.set()
        await call.end()
    assert call.result == "answer"
    assert looks.wait == LONGEST


async def test_a_session_past_its_maximum_age_is_closed_between_two_calls(
    watch: tuple[Watch, Lanes], registry: SessionRegistry, keeper: Keeper
) -> None:  # O23
    """The call in flight is answered, and the one behind it reports that the session expired."""
    looks, lanes = watch
    begin(keeper, registry, "a", age=600)
    held = Held()
    async with anyio.create_task_group() as group:
        running = fire(group, lanes, "a", held)
        await held.has_begun()
        group.start_soon(looks.look, 601)
        await in_line(registry, 2)
        behind = fire(group, lanes, "a")
        await in_line(registry, 3)
        held.let.set()
        await running.end()
        await behind.end()
    assert running.result == "answer"
    assert isinstance(behind.error, SessionNotFound)
    assert behind.error.hint == "It is closed: it reached its maximum duration of 10 minutes. Start it again."
    assert state(registry, "a") == "closed"


async def test_a_sessions_age_is_not_renewed_by_calls(
    watch: tuple[Watch, Lanes], registry: SessionRegistry, keeper: Keeper
) -> None:  # O29
    """Age counts from the creation, however busy the session is."""
    looks, lanes = watch
    begun = begin(keeper, registry, "a", age=600, idle=600)
    registry.store.update(
        registry.namespace, "a", lambda record: record.with_changes(created_at=begun.created_at - 400)
    )
    await lanes.run_turn("a", lambda _: None)
    await looks.look(after=100)
    assert looks.wait == LONGEST
    assert state(registry, "a") == "active"
    await looks.look(after=200)
    assert state(registry, "a") == "closed"


async def test_a_session_of_another_owner_is_never_closed_by_its_limits(
    watch: tuple[Watch, Lanes], keeper: Keeper, registry: SessionRegistry
) -> None:  # F37
    """A server closes its own caller's sessions, never those of another living one."""
    looks, _ = watch
    begin(keeper, registry, "a", idle=60, age=60)
    registry.store.update(registry.namespace, "a", lambda record: record.with_changes(owner="another"))
    await looks.look(after=3_600)
    assert state(registry, "a") == "active"


async def test_a_maintenance_task_that_fails_does_not_stop_the_others(
    registry: SessionRegistry, keeper: Keeper
) -> None:
    """A remote end that answers nonsense, a provider that fails: the server and the other tasks continue."""
    begin(keeper, registry, "a")
    done: list[str] = []

    class Breaks(MaintenanceTask):
        def seconds_until_due(self, usage: Usage, now: float) -> float:
            return -now if usage.ours else NEVER

        async def run_task(self, record: SessionRecord) -> None:
            done.append(record.id)
            raise TypeError("'NoneType' object is not subscriptable")

    class Works(Breaks):
        async def run_task(self, record: SessionRecord) -> None:
            done.append(record.id)

    async with anyio.create_task_group() as group:
        await Scheduler(registry, [Breaks(), Works()], Alarm(), Clock()).start_due_tasks(group)
    assert done == ["a", "a"]


async def test_a_maintenance_task_under_way_is_not_started_again(registry: SessionRegistry, keeper: Keeper) -> None:
    """A running maintenance task is not started again, and a failed one only after a pause."""
    begin(keeper, registry, "a")
    begun: list[str] = []
    goes_on = anyio.Event()

    class Slow(MaintenanceTask):
        def seconds_until_due(self, usage: Usage, now: float) -> float:
            return NEVER if usage.record.id == "b" else -now

        async def run_task(self, record: SessionRecord) -> None:
            begun.append(record.id)
            await goes_on.wait()
            raise SessionNotFound(record.id)

    clock = Clock()
    async with anyio.create_task_group() as group:
        rounds = Scheduler(registry, [Slow()], Alarm(clock), clock)
        await rounds.start_due_tasks(group)
        await rounds.start_due_tasks(group)
        goes_on.set()
        await anyio.wait_all_tasks_blocked()
        assert begun == ["a"]
        assert await rounds.start_due_tasks(group) == pytest.approx(1.0)
        clock.now += 1.5
        await rounds.start_due_tasks(group)
    assert begun == ["a", "a"]
