"""What a server does for its sessions without being asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anyio.abc

from orchestrator.closing import Closer
from orchestrator.heartbeat import Heartbeat
from orchestrator.limits import IdleLimit, WorldLimit
from orchestrator.models import SessionRecord
from orchestrator.reach import Reach
from orchestrator.sessions import Book, Lanes
from orchestrator.world.worlds import Worlds


class Upkeep:
    """Sweeps up after dead servers, ends what is idle, keeps alive what is not, and finds what is lost."""

    def __init__(self, book: Book, lanes: Lanes, reach: Reach, closer: Closer, worlds: Worlds) -> None:
        self._closer = closer
        self._idle_limit = IdleLimit(book, closer)
        self._heartbeat = Heartbeat(book, lanes, reach)
        self._world_limit = WorldLimit(worlds)

    def begin(self, group: anyio.abc.TaskGroup, home: Path) -> None:
        """Do it from now on, in tasks of `group`."""
        group.start_soon(self._closer.sweep, home)
        group.start_soon(self._idle_limit.keep)
        group.start_soon(self._heartbeat.keep)
        group.start_soon(self._world_limit.keep)

    def changed(self) -> None:
        """A session was started or attached."""
        self._idle_limit.changed()
        self._heartbeat.changed()

    async def look_after(self, records: Sequence[SessionRecord]) -> None:
        """Find out which of these are lost."""
        await self._closer.look_after(records)
        await self._heartbeat.look_after()
