"""The façade that every door uses: start, act, run sequences, list and close, as one caller."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Self

import anyio

from orchestrator.actions.base import AnyAction
from orchestrator.actions.navigation import Navigate
from orchestrator.actions.results import Outcome, SessionLabel
from orchestrator.actions.scene import Scene
from orchestrator.closing import Closer
from orchestrator.errors import InvalidArgument, NoSession, Unsupported
from orchestrator.limits import IdleLimit
from orchestrator.models import SessionRecord, StartRequest
from orchestrator.parallel import ExecuteParallel, Meeting, ParallelResult, gathered
from orchestrator.registry import Providers
from orchestrator.rows import Closed, Current, Row, SessionFacts, SessionList, row
from orchestrator.runner import Runner
from orchestrator.secrets import Redactor
from orchestrator.sequence import Alone, ExecuteSequence, PlannedStep, SequenceResult, plan, run
from orchestrator.sessions import Book, Lanes, this_process
from orchestrator.settings import Settings
from orchestrator.starting import Starter
from orchestrator.store import SqliteStore


class Orchestrator:
    """Many sessions at once, for one caller. Use it as an async context manager; what the caller owns ends with it.

    Every method takes a session by its id, or the caller's current one when none is given.

    Args:
        settings: How it behaves; read from environment and files unless given.
        providers: Where sessions come from; the installed ones unless given.
    """

    def __init__(self, settings: Settings | None = None, *, providers: Providers | None = None) -> None:
        self.settings = settings or Settings.load()
        self.redactor = Redactor()
        self._providers = Providers() if providers is None else providers
        self._stack = AsyncExitStack()
        self._lazily = anyio.Lock()
        self._ended = False

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            store = SqliteStore(self.settings.home)
            stack.callback(store.disconnect)
            self._group = await stack.enter_async_context(anyio.create_task_group())
            self._book = Book(store, this_process(), self.settings.namespace, max_sessions=self.settings.max_sessions)
            self._lanes = Lanes(self._book, self._group)
            self._runner = Runner(self._lanes, store, self.settings, self.redactor)
            self._starter = Starter(self._book, self._lanes, self._runner, self._providers, self.settings)
            self._closer = Closer(self._book, self._lanes, self._runner, self._providers)
            await self._book.enrol()
            self._group.start_soon(self._closer.sweep, self.settings.home)
            self._idle_limit = IdleLimit(self._book, self._closer)
            self._group.start_soon(self._idle_limit.keep)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with anyio.CancelScope(shield=True):
            await self.shut_down()
        self._group.cancel_scope.cancel()
        await self._stack.aclose()

    async def shut_down(self) -> None:
        """End what the caller owns, within a few seconds; may be called more than once."""
        if not self._ended:
            self._ended = True
            await self._closer.close([record.id for record in await self._book.mine()], "its server is ending")
            await self._closer.finish()
            await self._book.forget()

    # Sessions

    async def start(self, request: StartRequest, *, wait: bool = True) -> Row:
        """Start a session; with `wait=False` it answers at once, and later calls queue behind the start.

        Raises:
            InvalidArgument, SessionExists, SessionLimit: Nothing was launched.
            StartFailed: The remote end gave no session; nothing of it is left.
        """
        begun = await self._starter.begin(request)
        if wait:
            record = await begun.finish()
            if record.events:
                await self._book.update(record.id, lambda now: now.changed(events=()))
        else:
            record = begun.record
            self._group.start_soon(begun.finish_quietly)
        self._idle_limit.changed()
        sessions, _ = await self._book.rows()
        warnings = []
        if len(sessions) >= self.settings.session_warning:
            warnings.append(f"{len(sessions)} sessions are open; close those you no longer need.")
        return row(record, warnings=warnings, events=[*record.events])

    async def list_sessions(self, prefix: str | None = None) -> SessionList:
        """The sessions of the namespace that are not closed, as they were last known; no round trip is made."""
        records, current = await self._book.rows()
        self._group.start_soon(self._closer.look_after, records)
        shown = [SessionFacts.of(record) for record in records if record.id.startswith(prefix or "")]
        return SessionList(sessions=shown, current_session=current)

    async def set_current_session(self, session_id: str) -> Current:
        """Choose where calls without a session go, for this caller."""
        return Current(current_session=await self._book.set_current(session_id))

    async def close_session(self, session_id: str | None = None, *, detach: bool = False) -> Closed:
        """End a session with all that belongs to it, or leave it alive at its remote end."""
        chosen = session_id if session_id is not None else await self._book.resolve()
        return await self._closer.close([chosen], "it was closed", detach=detach, strict=True)

    async def close_sessions(
        self,
        *,
        prefix: str | None = None,
        idle_ms: int | None = None,
        all: bool | None = None,  # noqa: A002 — the wire's word
        detach: bool = False,
    ) -> Closed:
        """End the sessions of the namespace for which every selector given holds; looked at again when it is closed.

        Raises:
            InvalidArgument: No selector was given.
        """
        if prefix is None and idle_ms is None and not all:
            raise InvalidArgument("Nothing says which sessions to close.", hint="Give prefix, idleMs, or all: true.")
        records, _ = await self._book.rows()

        def still(record: SessionRecord, in_use: bool) -> bool:  # noqa: FBT001 — the store asks it so
            idle = not in_use and (time.time() - record.last_active_at) * 1000 >= (idle_ms or 0)
            return record.id.startswith(prefix or "") and (idle_ms is None or idle)

        return await self._closer.close([one.id for one in records], "it was closed", detach=detach, when=still)

    async def close_all_sessions(self, *, detach: bool = False) -> Closed:
        """End every session that the caller owns."""
        mine = await self._book.mine()
        return await self._closer.close([record.id for record in mine], "it was closed", detach=detach)

    # Actions

    async def perform(self, action: AnyAction, session_id: str | None = None) -> Outcome:
        """Do one thing in a session.

        Raises:
            OrchestratorError: Any of the codes in `orchestrator.errors`.
        """
        try:
            chosen = await self._book.resolve(session_id)
        except NoSession:
            if not isinstance(action, Navigate) or not self.settings.lazy_start:
                raise
            return await self._start_and_perform(action)
        return await self._perform(action, chosen, chosen_for_caller=session_id is None)

    async def run_sequence(self, sequence: ExecuteSequence) -> SequenceResult:
        """Run steps in one turn of a session's lane; the whole list is checked before the first one runs."""
        steps = plan(sequence.actions)
        chosen = await self._book.resolve(sequence.session_id)
        result = await self._runner.run(chosen, lambda scene: run(scene, _served(steps, scene), sequence, Alone()))
        return await self._labelled(result, chosen) if sequence.session_id is None else result

    async def run_parallel(self, parallel: ExecuteParallel) -> ParallelResult:
        """Run one sequence a session at the same time; one that fails does not stop the others."""
        plans: dict[str, list[PlannedStep]] = {}
        for part in parallel.sequences:
            steps = plan(part.actions)
            for given in part.ids:
                plans[await self._unused(given, plans)] = steps
        meeting = Meeting(plans)

        def one(session_id: str) -> Callable[[], Any]:
            def work(scene: Scene) -> SequenceResult:
                return run(scene, _served(plans[session_id], scene), parallel, meeting.of(session_id))

            return lambda: self._runner.run(session_id, work)

        return await gathered({session_id: one(session_id) for session_id in plans}, meeting)

    async def _unused(self, given: str, taken: dict[str, Any]) -> str:
        chosen = await self._book.resolve(given)
        if chosen in taken:
            raise InvalidArgument(f"{chosen!r} has two sequences in one call.", hint="Join them into one list.")
        return chosen

    async def _perform(self, action: AnyAction, chosen: str, *, chosen_for_caller: bool) -> Outcome:
        outcome: Outcome = await self._runner.run(chosen, lambda scene: _checked(action, scene).perform(scene))
        return await self._labelled(outcome, chosen) if chosen_for_caller else outcome

    async def _labelled(self, outcome: Any, session_id: str) -> Any:
        record = await self._book.get(session_id)
        if record is None:
            return outcome
        return outcome.model_copy(update={"session": SessionLabel(session_id=record.id, session_type=record.type)})

    async def _start_and_perform(self, action: AnyAction) -> Outcome:
        async with self._lazily:
            try:
                chosen = await self._book.resolve()
                started = None
            except NoSession:
                if await self._book.mine():
                    raise
                started = await self.start(StartRequest())
                chosen = started.session_id
        outcome = await self._perform(action, chosen, chosen_for_caller=True)
        if started is None:
            return outcome
        told = f"No session was open: {chosen} was started ({started.capabilities.get('browserName', 'browser')})."
        return outcome.model_copy(update={"warnings": [told, *outcome.warnings]})


def _checked(action: AnyAction, scene: Scene) -> AnyAction:
    if scene.record.type not in action.types:
        raise Unsupported(f"{action.verb} does not work in {scene.record.type} sessions.")
    return action


def _served(steps: list[PlannedStep], scene: Scene) -> list[PlannedStep]:
    for step in steps:
        if step.action is not None:
            _checked(step.action, scene)
    return steps
