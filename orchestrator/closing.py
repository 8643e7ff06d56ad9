"""Ends sessions: our side at once and always, the remote end and every process within a deadline."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import anyio
import anyio.to_thread

from orchestrator import kept, leases, processes
from orchestrator.activity import Doing
from orchestrator.errors import InvalidArgument, OrchestratorError, SessionLost, SessionNotFound
from orchestrator.mark import Mark
from orchestrator.models import SessionRecord, SessionState, SessionType
from orchestrator.network import archive
from orchestrator.reach import Reach
from orchestrator.registry import Providers
from orchestrator.rows import Closed, NotEnded
from orchestrator.runner import Runner
from orchestrator.secrets import without_credentials
from orchestrator.sessions import Book, Lanes
from orchestrator.settings import Settings
from orchestrator.sharing import leave, save

_REMOTE_END = 5.0
"""Seconds that a remote end may take to end a session."""
_APP_SERVER = 2.0
"""Seconds that an app server of our own may take for it."""

When = Callable[[SessionRecord, bool], bool]


class Closer:
    """Closes sessions for one caller."""

    def __init__(
        self, book: Book, lanes: Lanes, runner: Runner, reach: Reach, providers: Providers, settings: Settings
    ) -> None:
        self._book = book
        self._lanes = lanes
        self._runner = runner
        self._reach = reach
        self._settings = settings
        self._providers = providers
        self._closing = 0
        self._closed = anyio.Event()

    async def close(
        self,
        ids: Sequence[str],
        reason: str,
        *,
        detach: bool = False,
        mark: Mark | None = None,
        strict: bool = False,
        when: When | None = None,
        because: str | None = None,
    ) -> Closed:
        """Close these sessions side by side; calls on them are answered at once, later ones hear `because`.

        `mark` is told to their remote ends first; what cannot be told is a warning.

        Raises:
            SessionNotFound, InvalidArgument: With `strict`, when an id was never open here.
        """
        found: list[SessionRecord] = []
        failed: list[NotEnded] = []

        async def one(session_id: str) -> None:
            try:
                record = await self._lanes.close(session_id, reason, when=when, because=because)
            except OrchestratorError as error:
                if strict:
                    raise
                if not isinstance(error, SessionNotFound):
                    failed.append(NotEnded(session_id=session_id, reason=error.message))
                return
            if record is not None:
                found.append(record)

        with self._to_the_end():
            if strict:
                for session_id in ids:
                    await one(session_id)
            else:
                async with anyio.create_task_group() as group:
                    for session_id in ids:
                        group.start_soon(one, session_id)
            order = {session_id: place for place, session_id in enumerate(ids)}
            found.sort(key=lambda record: order.get(record.id, 0))
            told = await self._recorded(found)
            unmarked = [] if mark is None else await self._mark(found, mark)
            failed += await (self._release(found) if detach else self._end(found))
            for record in found:
                kept.remove(self._settings.home, record)
                self._runner.activity.note(record, Doing("detach" if detach else "close"), because or reason)
        names = [record.id for record in found]
        return Closed(
            closed=[] if detach else names,
            detached=names if detach else [],
            failed=failed,
            warnings=[*told, *unmarked, *([_how_to_attach(record) for record in found] if detach else [])],
        )

    async def finish(self) -> None:
        """Wait until what is being closed is closed."""
        while self._closing:
            await self._closed.wait()

    @contextlib.contextmanager
    def _to_the_end(self) -> Iterator[None]:
        """What began to close ends: once its record is closed, nobody else would end its processes."""
        self._closing += 1
        try:
            with anyio.CancelScope(shield=True):
                yield
        finally:
            self._closing -= 1
            self._closed.set()
            self._closed = anyio.Event()

    async def sweep(self, home: Path) -> None:
        """See to what is left of dead servers: sessions whose time is over, recordings, processes without a record."""
        closed = []
        for record in filter(_is_over, await self._book.ask(self._book.store.every)):
            close = functools.partial(self._book.store.close, when=_is_over, because=leases.NOBODY_CAME)
            with contextlib.suppress(OrchestratorError):
                if found := await self._book.ask(close, record.namespace, record.id):
                    closed.append(found)
        await self.end(closed)
        for record in closed:
            self._runner.activity.note(record, Doing("close"), leases.NOBODY_CAME)
        if await self._book.ask(self._book.store.unreadable):
            return  # what belongs to those is not known here; the keeper, which goes by less, ends what is nobody's
        await anyio.to_thread.run_sync(kept.tidy, home, self._book.store.every)
        await anyio.to_thread.run_sync(archive.tidy, home, self._book.store.get)
        here = [one for record in await self._book.ask(self._book.store.every) for one in record.processes]
        live = [one.folder for one in here if one.folder]
        await anyio.to_thread.run_sync(processes.sweep, home, live, abandon_on_cancel=True)
        await anyio.to_thread.run_sync(self._runner.activity.tidy, self._book.store.get)

    async def over(self, record: SessionRecord, because: str) -> None:
        """End what was closed in a turn of its own lane."""
        await self.end([record])
        self._runner.activity.note(record, Doing("close"), because)

    async def _recorded(self, records: Sequence[SessionRecord]) -> list[str]:
        """Write what they recorded, while their browsers can be asked for the rest of it."""
        recording = [record for record in records if record.har]
        told = [await anyio.to_thread.run_sync(self._runner.recorded, record) for record in recording]
        return [one for one in told if one]

    async def end(self, records: Sequence[SessionRecord]) -> list[NotEnded]:
        """End what was closed in another way, with what it recorded and what is kept of it; what is left of each."""
        with self._to_the_end():
            await self._recorded(records)
            failed = await self._end(records)
            for record in records:
                kept.remove(self._settings.home, record)
            return failed

    async def _end(self, records: Sequence[SessionRecord]) -> list[NotEnded]:
        """End them wherever they live; what is left of each.

        All at once: looking through the system's processes takes as long for one session as for many.
        """
        failed: list[NotEnded] = []
        async with anyio.create_task_group() as group:
            here = [record for record in records if not record.far]
            apps = [record for record in here if _is_app(record)]
            group.start_soon(_end_here, [record for record in here if record not in apps], failed)
            for record in records:
                # In a thread: a driver that stands still is waited for when its sockets are closed.
                group.start_soon(anyio.to_thread.run_sync, self._runner.detach, record)
                if record.far:
                    group.start_soon(self._end_far, record, failed)
                elif record in apps:
                    group.start_soon(self._end_app, record, failed)
        # A start under way tells its provider itself what became of it: the record does not know yet where it was.
        for record in (record for record in records if record.owned and record.remote_session_id):
            with contextlib.suppress(OrchestratorError):
                await anyio.to_thread.run_sync(self._providers[record.provider].ended, record, self._settings)
        return failed

    async def _end_far(self, record: SessionRecord, failed: list[NotEnded]) -> None:
        """End it where it lives, or in the browser that stays with others, then what runs beside it here."""
        if record.owned and record.remote_session_id:
            end = functools.partial(_delete, self._reach) if record.instance is None else self._leave
            await _noted(record, functools.partial(end, record), failed)
        if record.processes:
            await _end_here([record], failed)

    def _leave(self, record: SessionRecord) -> list[str]:
        """Leave the browser to the others; nothing is left of what the last one of them has ended meanwhile."""

        def end() -> None:
            try:
                leave(record, self._reach.of(record, timeout=_REMOTE_END), _REMOTE_END)
            except OrchestratorError:
                if any(one.remote_url == record.remote_url for one in self._book.store.every()):
                    raise

        return _tried(record, end)

    async def _end_app(self, record: SessionRecord, failed: list[NotEnded]) -> None:
        """Its server would leave its helpers running on the device; what it does not manage ends with it."""
        await anyio.to_thread.run_sync(_delete, self._reach, record, _APP_SERVER)
        await _end_here([record], failed)

    async def _mark(self, records: Sequence[SessionRecord], mark: Mark) -> list[str]:
        """Tell what the sessions came to; a sentence for each that it could not be told of."""
        untold: list[str] = []

        def tell(record: SessionRecord) -> None:
            try:
                self._providers[record.provider].mark(record, mark, self._settings)
            except OrchestratorError as error:
                untold.append(f"{record.id} is not marked as {mark.status}. {error}")

        async with anyio.create_task_group() as group:
            for record in records:
                if record.remote_session_id:
                    group.start_soon(anyio.to_thread.run_sync, tell, record)
        return untold

    async def _release(self, records: Sequence[SessionRecord]) -> list[NotEnded]:
        """Leave them alive, with the whole of a browser that others share; nothing of that can fail."""
        for record in records:
            self._runner.detach(record)
            closed = await self._book.get(record.id)
            whole = closed if closed is not None and closed.created_at == record.created_at else record
            await anyio.to_thread.run_sync(processes.release, whole.processes)
        return []


async def _end_here(records: Sequence[SessionRecord], failed: list[NotEnded]) -> None:
    """End all that runs on this machine; only where something is left it is found out of which session it is."""
    async with anyio.create_task_group() as group:
        for record in records:
            group.start_soon(anyio.to_thread.run_sync, save, record)
    if await anyio.to_thread.run_sync(processes.end, [one for record in records for one in record.processes]):
        for record in records:
            await _noted(record, functools.partial(processes.end, record.processes, deadline=0), failed)


async def _noted(record: SessionRecord, end: Callable[[], list[str]], failed: list[NotEnded]) -> None:
    left = await anyio.to_thread.run_sync(end)
    failed.extend(NotEnded(session_id=record.id, reason=reason) for reason in left)


def matching(prefix: str | None, idle_ms: int | None, *, every: bool) -> When:
    """Whether every selector given holds of a session, when it is to be closed.

    Raises:
        InvalidArgument: No selector was given.
    """
    if prefix is None and idle_ms is None and not every:
        raise InvalidArgument("Nothing says which sessions to close.", hint="Give prefix, idleMs, or all: true.")

    def still(record: SessionRecord, in_use: bool) -> bool:  # noqa: FBT001 — the store asks it so
        idle = not in_use and (time.time() - record.last_active_at) * 1000 >= (idle_ms or 0)
        return record.id.startswith(prefix or "") and (idle_ms is None or idle)

    return still


def _is_over(record: SessionRecord, in_use: bool = False) -> bool:  # noqa: FBT001, FBT002 — the store asks it so
    return not in_use and leases.is_over(record.parked_until, time.time())


def _is_app(record: SessionRecord) -> bool:
    """Whether it is an app's session that its server can be asked to end."""
    return record.type is not SessionType.BROWSER and bool(record.remote_session_id)


def _delete(reach: Reach, record: SessionRecord, limit: float = _REMOTE_END) -> list[str]:
    return _tried(record, lambda: reach.of(record, timeout=limit).delete(limit))


def _tried(record: SessionRecord, end: Callable[[], None]) -> list[str]:
    """What is left of it, as a sentence."""
    try:
        end()
    except SessionLost as error:
        return [] if record.state is SessionState.LOST else [error.message]
    except OrchestratorError as error:
        return [error.message]
    return []


def _how_to_attach(record: SessionRecord) -> str:
    url = without_credentials(record.remote_url)
    opens = f" (user and password are in secret:{record.secret})" if record.secret else ""
    where = f"remoteUrl {url}{opens}, remoteSessionId {record.remote_session_id}"
    return f"{record.id} goes on at its remote end: {where}."
