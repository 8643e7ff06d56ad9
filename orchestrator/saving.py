"""Keeps the storage state of browsers at rest, beside their calls, for the day on which one is gone."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import anyio

from orchestrator import abilities, kept
from orchestrator.actions.storing import Storing
from orchestrator.duties import NEVER, Duty, Usage
from orchestrator.errors import OrchestratorError
from orchestrator.models import SessionRecord, SessionState, SessionType
from orchestrator.reach import Reach
from orchestrator.sessions import Book, Lanes, Turn
from orchestrator.storage_state import StorageState

_QUIET = 1.0
"""Seconds after a call: one that follows at once does not wait for it, and pages write after they have loaded."""
_HERE, _FAR = 5.0, 30.0
"""Seconds between two looks at a session that is used all the time."""
_ANSWERS_WITHIN = 3.0
_LEAVING = 1.0
"""Seconds that all sessions together may take when the server ends: its client waits for two."""


class Saving(Duty):
    """Looks at the cookies and the current page's storage some time after a call, and writes what is new.

    It also notes which tabs have a page: one that comes back without it is no use.

    It takes a turn of the lane, 10 ms on this machine, that does not count as using the session.
    """

    def __init__(
        self, book: Book, lanes: Lanes, reach: Reach, home: Path, clock: Callable[[], float] = time.time
    ) -> None:
        self._book = book
        self._lanes = lanes
        self._reach = reach
        self._home = home
        self._clock = clock
        self._looked: dict[tuple[str, float], float] = {}

    def left(self, usage: Usage, now: float) -> float:
        """Seconds until it is to be looked at: never, where no call was since then."""
        record = usage.record
        if usage.in_use or not usage.ours or not self._is_due(record):
            return NEVER
        pause = _FAR if record.far else _HERE
        return max(record.last_active_at + _QUIET, self._looked_at(record) + pause) - now

    async def do(self, record: SessionRecord) -> None:
        """Save it when its turn comes."""
        await self._lanes.run(record.id, self._save, renews=False)

    async def leave(self) -> None:
        """Save what was used since the last look, of all that the caller owns; within a second, as far as that goes."""
        with anyio.move_on_after(_LEAVING), suppress(OrchestratorError):
            usage = await self._book.usage()
            async with anyio.create_task_group() as group:
                for record, in_use in usage:
                    if not in_use and self._book.owns(record) and self._is_due(record):
                        group.start_soon(self._quietly, record)

    async def _quietly(self, record: SessionRecord) -> None:
        with suppress(OrchestratorError):
            await self.do(record)

    def _save(self, turn: Turn) -> None:
        record = turn.record
        if record.state is not SessionState.ACTIVE:
            return
        self._looked[record.id, record.created_at] = self._clock()
        # Whatever hinders it, an open dialog or a page that hangs: it is for the next call to say.
        with suppress(OrchestratorError, OSError):
            remote = self._reach.of(record, timeout=_ANSWERS_WITHIN)
            seen = Storing(remote, record, None).glance()
            before = kept.read(self._home, record)
            now = StorageState(cookies=seen.cookies, origins=before.origins).with_origins(seen.origins)
            if now != before:
                now.write(kept.place(self._home, record))
            targets = remote.cdp("Target.getTargets")["targetInfos"]
            there = {one["targetId"] for one in targets if one["url"] != "about:blank"}
            tabs = tuple(tab.model_copy(update={"had_page": tab.handle in there}) for tab in record.tabs)
            if tabs != record.tabs:
                turn.change(tabs=tabs)

    def _is_due(self, record: SessionRecord) -> bool:
        """Whether it was used since the last look, and is a browser of ours that tells all of its cookies."""
        name = abilities.browser(record.capabilities.get("browserName"))
        ours = record.owned and record.type is SessionType.BROWSER and name in abilities.CHROMIUM
        return ours and record.state is SessionState.ACTIVE and record.last_active_at > self._looked_at(record)

    def _looked_at(self, record: SessionRecord) -> float:
        return self._looked.get((record.id, record.created_at), 0)
