"""Periodically saves storage state so that a dead browser can be restored."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import anyio

from orchestrator.automation.browser.storage import BrowserStorage
from orchestrator.errors import OrchestratorError
from orchestrator.lifecycle.maintenance.scheduler import NEVER, MaintenanceTask, Usage
from orchestrator.models import browser_support
from orchestrator.models.session import SessionRecord, SessionState, SessionType
from orchestrator.models.storage_state import StorageState
from orchestrator.sessions.connector import Connector
from orchestrator.sessions.lanes import Lanes
from orchestrator.sessions.registry import SessionRegistry
from orchestrator.sessions.turn import Turn
from orchestrator.system import storage_files

_QUIET = 1.0
"""Seconds after a call: the next one should not have to wait, and pages write after they have loaded."""
_LOCAL, _REMOTE = 5.0, 30.0
"""Seconds between two saves of a session in constant use."""
_ANSWERS_WITHIN = 3.0
_ON_EXIT = 1.0
"""Seconds that saving all sessions may take when the server ends: its client waits for two."""


class StorageAutosave(MaintenanceTask):
    """Saves cookies and the current page's storage some time after a call, if they changed.

    The record also keeps which tabs have a page: a restored tab without its page is of no use.

    A save takes a turn of the session's lane, some 10 ms, and does not count as using the session.
    """

    def __init__(
        self,
        registry: SessionRegistry,
        lanes: Lanes,
        connector: Connector,
        home: Path,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._registry = registry
        self._lanes = lanes
        self._connector = connector
        self._home = home
        self._clock = clock
        self._saved_at: dict[tuple[str, float], float] = {}

    def seconds_until_due(self, usage: Usage, now: float) -> float:
        """Return the seconds until the next save; NEVER when no call came since the last one."""
        record = usage.record
        if usage.in_use or not usage.ours or not self._is_due(record):
            return NEVER
        pause = _REMOTE if record.is_remote else _LOCAL
        return max(record.last_active_at + _QUIET, self._last_save(record) + pause) - now

    async def run_task(self, record: SessionRecord) -> None:
        """Save the session's state when its turn comes."""
        await self._lanes.run_turn(record.id, self._save, renews=False)

    async def save_before_exit(self) -> None:
        """Save the sessions of this process's callers that were used since the last save, as far as a second allows."""
        with anyio.move_on_after(_ON_EXIT), suppress(OrchestratorError):
            usage = await self._registry.usage()
            async with anyio.create_task_group() as group:
                for record, in_use in usage:
                    if not in_use and self._registry.serves(record) and self._is_due(record):
                        group.start_soon(self._try_to_save, record)

    async def _try_to_save(self, record: SessionRecord) -> None:
        with suppress(OrchestratorError):
            await self.run_task(record)

    def _save(self, turn: Turn) -> None:
        record = turn.record
        if record.state is not SessionState.ACTIVE:
            return
        self._saved_at[record.id, record.created_at] = self._clock()
        # An open dialog or a page that hangs is reported by the next call.
        with suppress(OrchestratorError, OSError):
            remote = self._connector.make_remote(record, timeout=_ANSWERS_WITHIN)
            visible = BrowserStorage(remote, record, None).read_visible()
            saved = storage_files.read(self._home, record)
            state = StorageState(cookies=visible.cookies, origins=saved.origins).with_origins(visible.origins)
            if state != saved:
                state.write(storage_files.build_state_path(self._home, record))
            targets = remote.cdp("Target.getTargets")["targetInfos"]
            with_page = {target["targetId"] for target in targets if target["url"] != "about:blank"}
            tabs = tuple(tab.model_copy(update={"had_page": tab.handle in with_page}) for tab in record.tabs)
            if tabs != record.tabs:
                turn.change(tabs=tabs)

    def _is_due(self, record: SessionRecord) -> bool:
        """Return True for an owned, active Chromium, which gives all of its cookies, used since the last save."""
        name = browser_support.normalize_browser_name(record.capabilities.get("browserName"))
        ours = record.owned and record.type is SessionType.BROWSER and name in browser_support.CHROMIUM
        return ours and record.state is SessionState.ACTIVE and record.last_active_at > self._last_save(record)

    def _last_save(self, record: SessionRecord) -> float:
        return self._saved_at.get((record.id, record.created_at), 0)
