"""Periodically saves storage state so that a dead browser can be restored."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

import anyio

from orchestrator.automation.browser.storage import connect_to_storage
from orchestrator.errors import OrchestratorError
from orchestrator.lifecycle.maintenance.scheduler import NEVER, MaintenanceTask, Usage
from orchestrator.models import browser_support
from orchestrator.models.session import SessionRecord, SessionState, SessionType
from orchestrator.sessions.connector import Connector
from orchestrator.sessions.lanes import Lanes
from orchestrator.sessions.registry import SessionRegistry
from orchestrator.sessions.turn import Turn
from orchestrator.system import storage_files
from orchestrator.system.output import write_file

_QUIET = 1.0
"""Seconds after a call: the next one should not have to wait, and pages write after they have loaded."""
_LOCAL, _REMOTE = 5.0, 30.0
"""Seconds between two saves of a session in constant use."""
_ANSWERS_WITHIN = 3.0
_ON_EXIT = 1.0
"""Seconds that saving all sessions may take when the server ends: its client waits for two."""

_Key = tuple[str, float]
"""A session by its id and creation time."""


class StorageAutosave(MaintenanceTask):
    """Saves cookies and the storage of all tabs some time after a call, if they changed.

    The record also keeps which tabs have a page: a restored tab without its page is of no use.

    A save takes a turn of the session's lane, some 10 ms, and does not count as using the session.
    """

    def __init__(
        self,
        registry: SessionRegistry,
        lanes: Lanes,
        connector: Connector,
        home: Path,
    ) -> None:
        self._registry = registry
        self._lanes = lanes
        self._connector = connector
        self._home = home
        self._saved_at: dict[_Key, float] = {}
        self._history_marks: dict[_Key, dict[str, int]] = {}

    def keep_only(self, records: Collection[SessionRecord]) -> None:
        """Forget the saves of other sessions than the open ones."""
        known = {_key(record) for record in records}
        self._saved_at = {key: at for key, at in [*self._saved_at.items()] if key in known}
        self._history_marks = {key: marks for key, marks in [*self._history_marks.items()] if key in known}

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
        self._saved_at[_key(record)] = turn.now()
        # An open dialog or a page that hangs is reported by the next call.
        with suppress(OrchestratorError, OSError):
            remote = self._connector.make_remote(record, timeout=_ANSWERS_WITHIN)
            saved = storage_files.read(self._home, record)
            with connect_to_storage(remote, record, self._connector) as storage:
                state = storage.read_snapshot(saved, self._history_marks.setdefault(_key(record), {}))
                shown = storage.list_tabs_with_page()
            if state != saved:
                write_file(storage_files.build_state_path(self._home, record), state.text())
            tabs = tuple(tab.model_copy(update={"had_page": tab.handle in shown}) for tab in record.tabs)
            if tabs != record.tabs:
                turn.change(tabs=tabs)

    def _is_due(self, record: SessionRecord) -> bool:
        """Return True for an owned, active browser that gives all of its cookies, used since the last save."""
        is_complete = browser_support.has_ability("storage_state", record.capabilities.get("browserName"))
        ours = record.owned and record.type is SessionType.BROWSER and is_complete
        return ours and record.state is SessionState.ACTIVE and record.last_active_at > self._last_save(record)

    def _last_save(self, record: SessionRecord) -> float:
        return self._saved_at.get(_key(record), 0)


def _key(record: SessionRecord) -> _Key:
    return record.id, record.created_at
