"""Closes sessions: their records at once, then what their remote ends hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import anyio
import anyio.to_thread

from orchestrator.errors import InvalidArgument, OrchestratorError, SessionClaimed, SessionNotFound, StoreFailed
from orchestrator.lifecycle.remote_ender import RemoteEnder
from orchestrator.lifecycle.services import Services
from orchestrator.models.identifiers import split_claim
from orchestrator.models.session import Caller, SessionRecord
from orchestrator.models.test_status import TestStatus
from orchestrator.sessions.rows import CloseResult, LeftOpen, NotEnded, describe_others_sessions
from orchestrator.sessions.store.types import Closer
from orchestrator.system.activity import LoggedAction
from orchestrator.system.secrets import without_credentials

CloseCondition = Callable[[SessionRecord, bool], bool]
"""Decides about a record, and whether a call is using it, in the transaction that would close it."""

_NOBODY = Closer("", "")
"""A closer who may close no claimed session, not even one of its own."""


@dataclass(frozen=True, slots=True)
class CloseOptions:
    """Options for closing sessions.

    Attributes:
        reason: Given to the calls that run or wait.
        kept_reason: Kept in the record, for calls that name the session later.
        detach: Leave the session alive at its remote end.
        status: Reported to the remote end first; a session that it cannot be reported for is a warning.
        condition: Only sessions that meet it at the moment of closing are closed.
        family: Keys of callers whose calls do not count as use for the condition; nor does maintenance then.
        closer: Who closes it; None for maintenance.
    """

    reason: str = "it was closed"
    kept_reason: str | None = None
    detach: bool = False
    status: TestStatus | None = None
    condition: CloseCondition | None = None
    family: frozenset[str] | None = None
    closer: Closer | None = None


class SessionCloser:
    """Closes the records of sessions and reports what became of their remote ends."""

    def __init__(self, services: Services, ender: RemoteEnder) -> None:
        self._services = services
        self._ender = ender

    async def close(self, session_id: str, options: CloseOptions) -> CloseResult:
        """Close one session.

        Raises:
            InvalidArgument: The id is not valid.
            SessionNotFound: The id was never open here.
            RecordUnreadable: Its record is damaged.
        """
        with self._ender.in_progress():
            try:
                record = await self._close_record(session_id, options)
            except StoreFailed as failure:
                return await self._close_without_store(session_id, options, failure)
            return await self._end_closed([record] if record else [], options)

    async def close_many(self, ids: Sequence[str], options: CloseOptions) -> CloseResult:
        """Close sessions side by side; unknown ones are skipped, and those that cannot be closed are reported."""
        closed: dict[str, SessionRecord] = {}
        failed: list[NotEnded] = []
        left: list[LeftOpen] = []

        async def close_one(session_id: str) -> None:
            try:
                record = await self._close_record(session_id, options)
            except SessionNotFound:
                return
            except SessionClaimed as error:
                left.append(LeftOpen(session_id=session_id, reason=error.message))
                return
            except OrchestratorError as error:
                failed.append(NotEnded(session_id=session_id, reason=error.message))
                return
            if record is not None:
                closed[session_id] = record

        with self._ender.in_progress():
            async with anyio.create_task_group() as group:
                for session_id in ids:
                    group.start_soon(close_one, session_id)
            records = [closed[session_id] for session_id in ids if session_id in closed]
            result = await self._end_closed(records, options)
        if isinstance(options.condition, UnlessUsedByOthers):
            left += options.condition.left
        return result.model_copy(update={"failed": [*failed, *result.failed], "left": left or None})

    async def close_own(self, caller: Caller, *, detach: bool) -> CloseResult:
        """Close what a caller and its descendants own, except what others use or anybody has claimed.

        If they own nothing, a warning names the sessions of others.
        """
        registry = self._services.registry.for_caller(caller)
        family = frozenset(await registry.family())
        records, _ = await registry.list_with_current()
        own = [record.id for record in records if record.owner in family]
        options = CloseOptions(detach=detach, condition=UnlessUsedByOthers(), family=family, closer=_NOBODY)
        result = await self.close_many(own, options)
        warnings = [*result.warnings, *describe_others_sessions([] if own else records)]
        return result.model_copy(update={"warnings": warnings})

    async def _close_without_store(self, session_id: str, options: CloseOptions, failure: StoreFailed) -> CloseResult:
        """End a session whose record cannot be closed, then try the record again: what ended may have freed the disk.

        Raises:
            StoreFailed: The session may not be ended so: others may use it, or nothing is known of it.
        """
        registry = self._services.registry
        plain, suffix = split_claim(session_id)
        if options.detach or options.condition is not None or suffix:
            raise failure
        record = await registry.call_store(registry.store.get_to_end, registry.namespace, plain, options.closer)
        result = await self._end_closed([record], options)
        try:
            await self._close_record(session_id, options)
        except StoreFailed as error:
            warning = f"{record.id} was ended, and is still listed until its record can be written. {error.message}"
            return result.model_copy(update={"warnings": [*result.warnings, warning]})
        return result

    async def _close_record(self, session_id: str, options: CloseOptions) -> SessionRecord | None:
        return await self._services.lanes.close(
            session_id,
            options.reason,
            when=options.condition,
            because=options.kept_reason,
            family=options.family,
            closer=options.closer,
        )

    async def _end_closed(self, records: Sequence[SessionRecord], options: CloseOptions) -> CloseResult:
        """End or release sessions whose records are closed."""
        ids = [record.id for record in records]
        warnings = await self._ender.write_recordings(records)
        if options.status is not None:
            warnings += await self._report_status(records, options.status)
        if options.detach:
            await self._ender.release_sessions(records)
            result = CloseResult(detached=ids, warnings=[*warnings, *map(_how_to_attach, records)])
        else:
            failed = await self._ender.end_sessions(records)
            result = CloseResult(closed=ids, failed=failed, warnings=warnings)
        doing = LoggedAction("detach" if options.detach else "close")
        for record in records:
            self._services.runner.activity.log_event(record, doing, options.kept_reason or options.reason)
        return result

    async def _report_status(self, records: Sequence[SessionRecord], status: TestStatus) -> list[str]:
        """Report a test status to the remote ends; returns a warning for each session that this failed for."""
        warnings: list[str] = []

        def report(record: SessionRecord) -> None:
            try:
                self._services.providers[record.provider].mark(record, status, self._services.settings)
            except OrchestratorError as error:
                warnings.append(f"{record.id} is not marked as {status.status}. {error.sentence}")

        async with anyio.create_task_group() as group:
            for record in records:
                if record.remote_session_id:
                    group.start_soon(anyio.to_thread.run_sync, report, record)
        return warnings


def build_close_condition(
    prefix: str | None, idle_ms: int | None, *, every: bool, clock: Callable[[], float]
) -> CloseCondition:
    """Return a condition that is met by sessions to which every given selector applies.

    Raises:
        InvalidArgument: No selector was given.
    """
    if not prefix and idle_ms is None and not every:
        raise InvalidArgument("No sessions were selected.", hint="Give prefix, idleMs, or all: true.")

    def is_selected(record: SessionRecord, in_use: bool) -> bool:  # noqa: FBT001 — the store's signature
        idle = not in_use and (clock() - record.last_active_at) * 1000 >= (idle_ms or 0)
        return record.id.startswith(prefix or "") and (idle_ms is None or idle)

    return is_selected


@dataclass
class UnlessUsedByOthers:
    """A condition that spares sessions with a call of someone else in flight, and remembers them."""

    left: list[LeftOpen] = field(default_factory=list)

    def __call__(self, record: SessionRecord, in_use: bool) -> bool:  # noqa: FBT001 — the store's signature
        """Return True if nobody else uses the session."""
        if in_use:
            self.left.append(LeftOpen(session_id=record.id, reason="a call of another caller is in flight"))
        return not in_use


def _how_to_attach(record: SessionRecord) -> str:
    url = f"secret:{record.secret}" if record.secret else without_credentials(record.remote_url)
    address = f"remoteUrl {url}, remoteSessionId {record.remote_session_id}"
    return f"{record.id} keeps running at its remote end: {address}."
