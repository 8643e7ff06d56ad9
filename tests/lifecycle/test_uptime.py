"""Weeks of uptime: nothing in a server grows with the number of sessions and callers that it has had."""

from __future__ import annotations

import gc
import sys
import threading
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from types import CellType, FunctionType, MethodType
from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from orchestrator.api import Orchestrator
from orchestrator.errors import SessionLost
from orchestrator.models.requests import AttachRequest, StartRequest
from orchestrator.sessions.store.sqlite import SqliteStore
from orchestrator.settings import Settings
from tests.servers.any_session import GONE, AnySession, any_session
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.anyio

FEW, MANY = 20, 80
SLACK = 15
"""Entries that a container may have gained: what is still in flight, and what is forgotten a little later."""
BOUNDED = {
    "SessionRegistry._callers": 500,
    "Credentials._of_callers": 1000,
    "Credentials._of_clients": 1000,
    "Redactor._spellings": 1000,
    "Redactor.spelled": 10_000,
}
"""Containers with a limit that is higher than the numbers of this test, and has a test of its own."""
PLAIN = (str, bytes, int, float, bool, type(None), Path, type, threading.Thread, BaseModel)


def containers(roots: list[Any]) -> Counter[str]:
    """Return the sizes of all containers that are reached from objects of ours, by class and attribute."""
    sizes, seen, left = Counter[str](), set[int](), deque[tuple[str, Any]](("root", one) for one in roots)
    while left:
        name, value = left.popleft()
        if isinstance(value, PLAIN) or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Mapping | AbstractSet | list | tuple | deque):
            sizes[name] += len(value)
            left.extend((name, item) for item in [*value])
        left.extend(inside(name, value))
    return sizes


def inside(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a container, function or object of ours holds."""
    kind = type(value)
    if isinstance(value, Mapping):
        yield from ((name, item) for item in [*value.values()])
    elif isinstance(value, MethodType):
        yield name, value.__self__
    elif isinstance(value, FunctionType):
        yield from ((f"{value.__qualname__} (closure)", cell) for cell in value.__closure__ or ())
    elif isinstance(value, CellType):
        yield from ((name, item) for item in gc.get_referents(value))
    elif isinstance(value, partial):
        yield from ((name, item) for item in (value.func, value.args, value.keywords))
    elif kind.__module__.startswith(("orchestrator", "anyio")):
        slots = {slot for one in kind.__mro__ for slot in getattr(one, "__slots__", ())}
        found = {**{slot: getattr(value, slot, None) for slot in slots}, **getattr(value, "__dict__", {})}
        yield from ((f"{kind.__name__}.{attribute}", item) for attribute, item in found.items())


def module_containers() -> list[Any]:
    """Return the global variables of our modules."""
    modules = [module for name, module in [*sys.modules.items()] if name.startswith(("orchestrator.", "orchestrator_"))]
    return [value for module in modules for value in vars(module).values() if not isinstance(value, FunctionType)]


WAYS = ("closed", "closed elsewhere", "lost", "attached", "unused")


class Agent:
    """A caller with a session, which it leaves behind in one of the ways that there are."""

    def __init__(self, server: Orchestrator, far: AnySession, number: int) -> None:
        key = f"{number:032x}"
        caller = server.caller.model_copy(update={"key": key, "named": True, "agent": f"agent {number}"})
        self.orchestrator = server.for_caller(caller)
        self.name = f"s{number}"
        self.way = WAYS[number % len(WAYS)]
        self._far = far
        self._url = far.url.replace("://", f"://user:password-{number}@")
        self._remote = f"{GONE if self.way == 'lost' else 'far'}-{number}"

    async def begin(self) -> None:
        """Start or attach the session, and use it."""
        if self.way in {"closed", "closed elsewhere"}:
            options = {"url": self._url}
            await self.orchestrator.start(StartRequest(session_id=self.name, provider="remote_url", options=options))
        else:
            request = AttachRequest(remote_url=self._url, remote_session_id=self._remote, session_id=self.name)
            await self.orchestrator.attach(request)
        session = await self.orchestrator.session(self.name)
        self._remote = (await self.orchestrator.registry.find(self.name)).remote_session_id
        if self.way != "unused":
            with pytest.raises(SessionLost) if self.way == "lost" else nullcontext():
                await session.tabs("list")

    def was_kept(self) -> bool:
        """Return True once its state was saved, or at least whether it is alive was checked."""
        asked = self._far.asked[self._remote]
        return "goog/cdp/execute" in asked[-4:] if self.way.startswith("closed") else "timeouts" in asked

    async def end(self, others: SqliteStore) -> None:
        """Close the session."""
        if self.way == "closed elsewhere":
            others.close(self.orchestrator.settings.namespace, self.name)
        else:
            await self.orchestrator.close_session(self.name)


async def let_pass(server: Orchestrator, far: AnySession, numbers: range, others: SqliteStore) -> None:
    """Let agents with these numbers have their sessions side by side, until the server has looked after all of them."""
    agents = [Agent(server, far, number) for number in numbers]
    async with anyio.create_task_group() as group:
        for agent in agents:
            group.start_soon(agent.begin)
    await server.list_sessions()
    await anyio.to_thread.run_sync(until, lambda: all(agent.was_kept() for agent in agents), "the maintenance")
    for agent in agents:
        await agent.end(others)


@pytest.mark.full
async def test_no_container_of_a_server_grows_with_its_closed_sessions(tmp_path: Path) -> None:
    """After forty sessions of as many callers, and after eighty more, each container has the same size."""
    settings = Settings(home=tmp_path, namespace="uptime", session_warning=1000)
    others = SqliteStore(tmp_path)
    with any_session() as far:
        async with Orchestrator(settings, adopt_orphans=True, door="mcp") as server:

            def sizes() -> Counter[str]:
                gc.collect()
                return containers([server, *module_containers()])

            def grown() -> dict[str, tuple[int, int]]:
                found = {name: (before[name], size) for name, size in sizes().items() if size > before[name] + SLACK}
                return {name: sizes for name, sizes in found.items() if sizes[1] > BOUNDED.get(name, 0)}

            await let_pass(server, far, range(FEW), others)
            before = sizes()
            for first in range(FEW, MANY, FEW):
                await let_pass(server, far, range(first, first + FEW), others)
            with anyio.move_on_after(PATIENCE):
                while grown():
                    server._components.maintenance.wake_now()
                    await anyio.sleep(0.2)
            assert grown() == {}
            assert others.list_all_open() == []
    others.disconnect()
