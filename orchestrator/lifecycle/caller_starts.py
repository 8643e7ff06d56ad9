"""The starts of one caller: reserve, launch, and the row that a start answers with."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.lifecycle.components import Components
from orchestrator.lifecycle.start import ReservedStart
from orchestrator.lifecycle.start_counts import StartCounts
from orchestrator.models.requests import StartRequest
from orchestrator.models.session import Caller, SessionRecord
from orchestrator.sessions.rows import SessionRow, make_session_row


@dataclass(frozen=True)
class CallerStarts:
    """Starts sessions for a caller.

    Attributes:
        warn_from: The number of open sessions from which a start warns.
    """

    components: Components
    caller: Caller
    counts: StartCounts
    warn_from: int

    async def reserve(self, request: StartRequest) -> ReservedStart:
        """Check a request, and reserve its id; nothing is launched yet.

        Raises:
            InvalidArgument, SessionExists, SessionLimit: It cannot be started.
        """
        return self._note(await self.components.starter.reserve_start(self.caller, request))

    async def fork(self, session_id: str, new_id: str | None) -> SessionRow:
        """Start a session like an open one, under a name or the next free one.

        Raises:
            Unsupported: The session cannot be forked.
            SessionExists, SessionLimit: Nothing was launched.
            StartFailed: The remote end created no session; nothing of it is left.
        """
        return await self.launch(
            self._note(await self.components.starter.reserve_fork(self.caller, session_id, new_id))
        )

    def _note(self, reserved: ReservedStart) -> ReservedStart:
        """Note a start by name, and see to it that a keeper runs."""
        if reserved.request.session_id is not None:
            self.components.id_guard.note_start(self.caller, reserved.record.id)
        self.components.task_group.start_soon(self.components.keeper_launcher.ensure)
        return reserved

    async def launch(self, reserved: ReservedStart) -> SessionRow:
        """Launch a session; its row has the events of the start.

        Raises:
            StartFailed: The remote end created no session; nothing of it is left.
        """
        record = await reserved.launch()
        if record.events:
            registry = self.components.registry.for_caller(self.caller)
            await registry.update(record.id, lambda current: current.with_changes(events=()))
        return await self._make_row(reserved, record)

    async def begin(self, reserved: ReservedStart) -> SessionRow:
        """Launch a session in the background; later calls queue behind the start."""
        row = await self._make_row(reserved, reserved.record)
        self.components.task_group.start_soon(self._launch_behind, reserved, len(reserved.warnings))
        return row

    async def _launch_behind(self, reserved: ReservedStart, told: int) -> None:
        """Launch a session; warnings that come after these many are events of its next result."""
        await reserved.launch_quietly()
        if late := reserved.warnings[told:]:
            registry = self.components.registry.for_caller(self.caller)
            await registry.update(
                reserved.record.id, lambda current: current.with_changes(events=(*current.events, *late))
            )

    async def _make_row(self, reserved: ReservedStart, record: SessionRecord) -> SessionRow:
        self.counts.add(self.caller, reserved.request.type, reserved.request.session_id)
        self.components.maintenance.wake_now()
        sessions, _ = await self.components.registry.for_caller(self.caller).list_with_current()
        self.components.id_guard.note_open([session.id for session in sessions])
        many = len(sessions) >= self.warn_from
        crowded = [f"{len(sessions)} sessions are open; close those you no longer need."] if many else []
        warnings = [*reserved.warnings, *crowded]
        others = [session for session in sessions if session.id != record.id]
        return make_session_row(record, self.caller.key, others, warnings=warnings, events=[*record.events])
