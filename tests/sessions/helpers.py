"""Calls that a test starts, holds and releases."""

from __future__ import annotations

import threading
from collections.abc import Callable

import anyio
import anyio.abc
import anyio.to_thread

from orchestrator.sessions.lanes import Lanes
from orchestrator.sessions.registry import SessionRegistry
from orchestrator.sessions.store.sqlite import SqliteStore
from orchestrator.sessions.turn import Turn
from tests.sessions.store.helpers import NAMESPACE
from tests.waiting import PATIENCE, until_async


class Held:
    """Work that reports its start, and ends when released."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.let = threading.Event()
        self.turn: Turn | None = None

    def __call__(self, turn: Turn) -> str:
        """Wait for the release."""
        self.turn = turn
        self.begun.set()
        assert self.let.wait(PATIENCE)
        turn.check()
        return "answer"

    async def has_begun(self) -> None:
        """Wait until the work runs."""
        assert await anyio.to_thread.run_sync(self.begun.wait, PATIENCE)


class Fired:
    """A call in a task of its own, and its outcome."""

    def __init__(self, lanes: Lanes, session_id: str, work: Callable[[Turn], object]) -> None:
        self._lanes, self._session_id, self._work = lanes, session_id, work
        self.scope = anyio.CancelScope()
        self.ended = anyio.Event()
        self.result: object = None
        self.error: BaseException | None = None

    async def run(self) -> None:
        """Make the call."""
        try:
            with self.scope:
                self.result = await self._lanes.run_turn(self._session_id, self._work)
        except Exception as error:  # noqa: BLE001 (the test looks at it)
            self.error = error
        finally:
            self.ended.set()

    async def end(self) -> None:
        """Wait for the answer."""
        with anyio.fail_after(PATIENCE):
            await self.ended.wait()


def fire(
    group: anyio.abc.TaskGroup, lanes: Lanes, session_id: str, work: Callable[[Turn], object] = lambda _: None
) -> Fired:
    """Make a call without waiting for it."""
    fired = Fired(lanes, session_id, work)
    group.start_soon(fired.run)
    return fired


def places(store: SqliteStore) -> int:
    """Return the number of tickets."""
    with store._database.read() as db:
        return int(db.execute("SELECT count(*) FROM tickets").fetchone()[0])


async def in_line(registry: SessionRegistry, count: int) -> None:
    """Wait until this many calls are in lanes."""
    await until_async(lambda: places(registry.store) == count, f"{count} calls in lanes")


def state(registry: SessionRegistry, session_id: str) -> str:
    """Return a session's state in the store."""
    record = registry.store.get(NAMESPACE, session_id)
    return str(record.state) if record else "never seen"
