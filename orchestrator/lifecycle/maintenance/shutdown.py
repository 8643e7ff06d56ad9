"""Parks the sessions of a server that ends, and ends those of a script."""

from __future__ import annotations

from collections.abc import Collection

from orchestrator.execution.restore import Restorer
from orchestrator.lifecycle.close import CloseOptions, SessionCloser
from orchestrator.lifecycle.maintenance.keeper_launcher import KeeperLauncher
from orchestrator.lifecycle.maintenance.storage_autosave import StorageAutosave
from orchestrator.lifecycle.remote_ender import RemoteEnder
from orchestrator.models.session import SessionRecord
from orchestrator.sessions.registry import SessionRegistry
from orchestrator.system.activity import ActivityLog, LoggedAction


class Shutdown:
    """Shuts the callers of this process down, once; `park_on_exit` lets their sessions live on without them."""

    def __init__(
        self,
        *,
        registry: SessionRegistry,
        closer: SessionCloser,
        ender: RemoteEnder,
        restorer: Restorer,
        keeper_launcher: KeeperLauncher,
        autosave: StorageAutosave,
        activity: ActivityLog,
        park_on_exit: bool,
    ) -> None:
        self._registry = registry
        self._closer = closer
        self._ender = ender
        self._restorer = restorer
        self._keeper_launcher = keeper_launcher
        self._autosave = autosave
        self._activity = activity
        self._park_on_exit = park_on_exit
        self._has_run = False

    async def park_or_end_sessions(self) -> None:
        """Park the sessions that may live on, in one transaction, and end the rest: starting or lost ones."""
        if self._has_run:
            return
        self._has_run = True
        if self._park_on_exit:
            await self._autosave.save_before_exit()
        parked = {record.id: record for record in await self._registry.park(self._may_live_on)}
        for record in parked.values():
            self._activity.log_event(record, LoggedAction("park"))
        if parked:
            await self._keeper_launcher.ensure()
        rest = [record.id for record in await self._registry.list_served() if record.id not in parked]
        await self._closer.close_many(rest, CloseOptions(reason="its server is ending"))
        await self._ender.wait_until_finished()
        await self._registry.forget()

    async def park_unused(self, keys: Collection[str]) -> set[str]:
        """Park the sessions of callers that have gone, by their keys, but not those that a call uses.

        Returns the callers with such a session, which are to be parked later.
        """
        parked, left = await self._registry.park_unused(keys)
        for record in parked:
            self._activity.log_event(record, LoggedAction("park"))
        if parked:
            await self._keeper_launcher.ensure()
        return left

    def _may_live_on(self, record: SessionRecord) -> bool:
        """Return True for every session of a server, and for one that a script restored and did not start."""
        return self._park_on_exit or (record.id, record.created_at) in self._restorer.taken
