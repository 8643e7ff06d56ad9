"""What a server does for its sessions without being asked."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import anyio.abc
import structlog

from orchestrator.closing import Closer
from orchestrator.duties import Duty
from orchestrator.errors import OrchestratorError
from orchestrator.heartbeat import Heartbeat
from orchestrator.limits import AgeLimit, IdleLimit
from orchestrator.reach import Reach
from orchestrator.rounds import Rounds
from orchestrator.sessions import Book, Lanes
from orchestrator.settings import Settings
from orchestrator.tidying import Tidying


class Upkeep:
    """Sweeps up after dead servers, ends what is idle or old, keeps alive what is not, and finds what is lost."""

    def __init__(
        self, book: Book, lanes: Lanes, reach: Reach, closer: Closer, more: Iterable[Duty], settings: Settings
    ) -> None:
        self._closer = closer
        self._heartbeat = Heartbeat(lanes, reach)
        age = AgeLimit(lanes, closer, recreate=settings.on_max_duration == "recreate")
        duties = IdleLimit(closer), age, self._heartbeat, Tidying(book), *more
        self._rounds = Rounds(book, duties)
        self.changed = self._rounds.changed
        self.used = self._rounds.used

    def begin(self, group: anyio.abc.TaskGroup, home: Path) -> None:
        """Do it from now on, in tasks of `group`."""
        group.start_soon(self._sweep, home)
        group.start_soon(self._rounds.keep)

    async def _sweep(self, home: Path) -> None:
        """See to what dead servers left; nothing here depends on whether that succeeds."""
        try:
            await self._closer.sweep(home)
        except OrchestratorError as error:
            structlog.get_logger(__name__).warning("what dead servers left was not seen to", error=str(error))

    def listed(self) -> None:
        """Somebody looks at the list: find out which of all sessions are lost."""
        self._heartbeat.listed()
        self.changed()
