"""Ends closed sessions at their remote ends, with their processes and files."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence

import anyio
import anyio.to_thread

from orchestrator.errors import OrchestratorError, SessionLost
from orchestrator.lifecycle.instances import leave_browser, quit_to_save_profile
from orchestrator.lifecycle.services import Services
from orchestrator.models.session import SessionRecord, SessionState, SessionType
from orchestrator.sessions.rows import NotEnded
from orchestrator.system import processes, storage_files
from orchestrator.system.activity import LoggedAction

_REMOTE_END = 5.0
"""Seconds that a remote end may take to end a session."""
_LOCAL_END = 3.0
"""Seconds that an app server or a driver of this machine may take to end a session."""


class RemoteEnder:
    """Ends what belongs to closed sessions: remote sessions, browsers, processes, stored files."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._running = 0
        self._one_finished = anyio.Event()

    @contextlib.contextmanager
    def in_progress(self) -> Iterator[None]:
        """Shield a closing from cancellation: once its record is closed, nobody else would end its processes."""
        self._running += 1
        try:
            with anyio.CancelScope(shield=True):
                yield
        finally:
            self._running -= 1
            self._one_finished.set()
            self._one_finished = anyio.Event()

    async def wait_until_finished(self) -> None:
        """Wait until every closing in progress has finished."""
        while self._running:
            await self._one_finished.wait()

    async def finish_closed(self, records: Sequence[SessionRecord], because: str | None = None) -> list[NotEnded]:
        """Write the recordings of sessions whose records are closed, then end them; logged where a reason is given.

        Returns what could not be ended.
        """
        with self.in_progress():
            await self.write_recordings(records)
            failed = await self.end_sessions(records)
        if because is not None:
            for record in records:
                self._services.runner.activity.log_event(record, LoggedAction("close"), because)
        return failed

    async def write_recordings(self, records: Sequence[SessionRecord]) -> list[str]:
        """Write the HAR files while their browsers still run, to ask for what is missing; returns messages."""
        recording = [record for record in records if record.har]
        write = self._services.runner.connections.write_recording
        return list(filter(None, [await anyio.to_thread.run_sync(write, record) for record in recording]))

    async def release_sessions(self, records: Sequence[SessionRecord]) -> None:
        """Leave sessions alive, with the whole of a browser that others share."""
        for record in records:
            self._services.runner.connections.forget(record)
            closed = await self._services.registry.get(record.id)
            # The closed record names the processes that other sessions share, too.
            whole = closed if closed is not None and closed.created_at == record.created_at else record
            await anyio.to_thread.run_sync(processes.release, whole.processes)
            storage_files.remove(self._services.settings.home, record)

    async def end_sessions(self, records: Sequence[SessionRecord]) -> list[NotEnded]:
        """End sessions wherever they live; returns what could not be ended.

        All at once: searching the system's processes takes as long for one session as for many.
        """
        failed: list[NotEnded] = []
        browsers = [record for record in records if not record.is_remote and not _ends_by_command(record)]
        async with anyio.create_task_group() as group:
            group.start_soon(_end_processes, browsers, failed)
            for record in records:
                # In a thread: closing its sockets waits for a driver that hangs.
                group.start_soon(anyio.to_thread.run_sync, self._services.runner.connections.forget, record)
                if record.is_remote:
                    group.start_soon(self._end_remote_session, record, failed)
                elif _ends_by_command(record):
                    group.start_soon(self._end_local_session, record, failed)
        await self._notify_providers(records)
        for record in records:
            storage_files.remove(self._services.settings.home, record)
        return failed

    async def _end_remote_session(self, record: SessionRecord, failed: list[NotEnded]) -> None:
        """End a session elsewhere, or in a browser that stays with others, then the processes beside it."""
        if record.owned and record.remote_session_id:
            end = self._leave_shared_browser if record.instance is not None else self._delete_session
            await _collect(record, functools.partial(end, record), failed)
        if record.processes:
            await _end_processes([record], failed)

    async def _end_local_session(self, record: SessionRecord, failed: list[NotEnded]) -> None:
        """End a session by its server on this machine (Delete Session); one that it fails to end is ended with it."""
        await anyio.to_thread.run_sync(functools.partial(self._delete_session, record, limit=_LOCAL_END))
        await _end_processes([record], failed)

    def _delete_session(self, record: SessionRecord, *, limit: float = _REMOTE_END) -> list[str]:
        return _attempt(record, lambda: self._services.connector.make_remote(record, timeout=limit).delete(limit))

    def _leave_shared_browser(self, record: SessionRecord) -> list[str]:
        def leave() -> None:
            try:
                leave_browser(record, self._services.connector.make_remote(record, timeout=_REMOTE_END), _REMOTE_END)
            except OrchestratorError:
                # It is gone where the last of the others has ended meanwhile.
                if any(one.remote_url == record.remote_url for one in self._services.registry.store.list_all_open()):
                    raise

        return _attempt(record, leave)

    async def _notify_providers(self, records: Sequence[SessionRecord]) -> None:
        # A start under way notifies its provider itself: its record has no remote session yet.
        for record in records:
            if record.owned and record.remote_session_id:
                ended = self._services.providers[record.provider].ended
                with contextlib.suppress(OrchestratorError):
                    await anyio.to_thread.run_sync(ended, record, self._services.settings)


def _ends_by_command(record: SessionRecord) -> bool:
    """Return True if a killed server would leave helpers on a device, or a killed browser lose of its profile."""
    is_needed = record.type is not SessionType.BROWSER or record.has_profile_alone
    return is_needed and bool(record.remote_session_id)


async def _end_processes(records: Sequence[SessionRecord], failed: list[NotEnded]) -> None:
    """End the local processes of sessions; what is left is attributed to its session only if something is left."""
    async with anyio.create_task_group() as group:
        for record in records:
            group.start_soon(anyio.to_thread.run_sync, quit_to_save_profile, record)
    if await anyio.to_thread.run_sync(processes.end_processes, [one for record in records for one in record.processes]):
        for record in records:
            await _collect(record, functools.partial(processes.end_processes, record.processes, deadline=0), failed)


async def _collect(record: SessionRecord, end: Callable[[], list[str]], failed: list[NotEnded]) -> None:
    problems = await anyio.to_thread.run_sync(end)
    failed.extend(NotEnded(session_id=record.id, reason=problem) for problem in problems)


def _attempt(record: SessionRecord, end: Callable[[], None]) -> list[str]:
    """Return why a session could not be ended; for a lost session, that it is gone is no problem."""
    try:
        end()
    except SessionLost as error:
        return [] if record.state is SessionState.LOST else [error.message]
    except OrchestratorError as error:
        return [error.message]
    return []
