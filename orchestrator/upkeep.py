"""What a server does for its sessions without being asked."""

from __future__ import annotations

from pathlib import Path

import anyio.abc

from orchestrator.closing import Closer
from orchestrator.heartbeat import Heartbeat
from orchestrator.house import IdleWorlds
from orchestrator.limits import AgeLimit, IdleLimit
from orchestrator.reach import Reach
from orchestrator.rounds import Rounds
from orchestrator.sessions import Book, Lanes
from orchestrator.tidying import Tidying
from orchestrator.world.worlds import Worlds


class Upkeep:
    """Sweeps up after dead servers, ends what is idle or old, keeps alive what is not, and finds what is lost."""

    def __init__(
        self, book: Book, lanes: Lanes, reach: Reach, closer: Closer, worlds: Worlds, group: anyio.abc.TaskGroup
    ) -> None:
        self._closer = closer
        self._group = group
        self._heartbeat = Heartbeat(lanes, reach)
        duties = IdleLimit(closer), AgeLimit(lanes, closer), self._heartbeat, Tidying(), IdleWorlds(worlds)
        self._rounds = Rounds(book, group, duties)
        self.changed = self._rounds.changed
        self.used = self._rounds.used

    def begin(self, home: Path) -> None:
        """Do it from now on."""
        self._group.start_soon(self._closer.sweep, home)
        self._group.start_soon(self._rounds.keep)

    def listed(self) -> None:
        """Somebody looks at the list: find out which of all sessions are lost."""
        self._heartbeat.listed()
        self.changed()
