"""The façade that every door uses: start, act, run sequences, list and close, as one caller."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Self

import anyio

from orchestrator.actions.base import Action, ResultT
from orchestrator.actions.navigation import Navigate
from orchestrator.actions.scene import Scene
from orchestrator.activity import Activity, Doing
from orchestrator.again import Again
from orchestrator.attaching import Attacher
from orchestrator.background import Background
from orchestrator.closing import Closer, matching
from orchestrator.compare import CompareSessions, Comparison
from orchestrator.errors import NoSession, RecordUnreadable, SessionNotFound
from orchestrator.house import House, IdleWorlds
from orchestrator.keeping import Keeping
from orchestrator.leaving import Leaving
from orchestrator.mark import Mark, Status
from orchestrator.models import AttachRequest, Door, StartRequest
from orchestrator.parallel import ExecuteParallel, ParallelResult
from orchestrator.plug_ins import Actions
from orchestrator.python_api import PythonApi
from orchestrator.reach import Reach
from orchestrator.registry import Providers
from orchestrator.restoring import Restorer
from orchestrator.rooms import Rooms
from orchestrator.rows import Closed, Current, Row, SessionFacts, SessionList, row
from orchestrator.runner import Runner, labelled
from orchestrator.saving import Saving
from orchestrator.secrets import Redactor
from orchestrator.sequence import SYNC, ExecuteSequence, SequenceResult
from orchestrator.session import Session
from orchestrator.sessions import Book, Lanes, this_process
from orchestrator.settings import Settings
from orchestrator.starting import Starter
from orchestrator.store import SqliteStore
from orchestrator.together import Together
from orchestrator.upkeep import Upkeep


class Orchestrator(PythonApi):
    """Many sessions at once, for one caller. Use it as an async context manager; what the caller owns ends with it.

    Every method takes a session by its id, or the caller's current one when none is given.

    Args:
        settings: How it behaves; read from environment and files unless given.
        providers: Where sessions come from; the installed ones unless given.
        adopting: Take over, as a server does, what dead callers of the namespace left: it is owned, and ended, then.
        parking: Park, as a server does, what the caller owns at its end, for whoever comes back to it.
        visiting: Whoever comes and goes changes nothing by that: no session is taken over, looked after or ended.
        door: How the caller comes in, as the activity logs name it.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        providers: Providers | None = None,
        adopting: bool = False,
        parking: bool = False,
        visiting: bool = False,
        door: Door = "python",
    ) -> None:
        self.settings = settings or Settings.load()
        self.redactor = Redactor()
        self._providers = Providers() if providers is None else providers
        self.actions = Actions(taken={*dir(self), SYNC})
        self._stack = AsyncExitStack()
        self._lazily = anyio.Lock()
        self._adopting, self._parking, self._visiting = adopting, parking, visiting
        self._caller = this_process(door)
        self._opened: Rooms | None = None

    async def __aenter__(self) -> Self:
        if self._opened is not None:
            raise RuntimeError("It is open already.")
        async with AsyncExitStack() as stack:
            store = SqliteStore(self.settings.home)
            stack.callback(store.disconnect)
            group = await stack.enter_async_context(Background())
            book = Book(store, self._caller, self.settings.namespace, max_sessions=self.settings.max_sessions)
            activity = Activity(self.settings.home, self._caller, self.redactor)
            lanes = Lanes(book, group, on_lost=activity.lost)
            reach = Reach(self._providers, self.settings, self.redactor)
            again = Again(reach, self._providers, self.settings)
            ttl = self.settings.park_ttl if self._adopting else None
            restorer = Restorer(book, reach, again.start, self.settings.home, ttl)
            house = House(self.actions, self.settings)
            stack.callback(house.worlds.close)
            runner = Runner(lanes, store, reach, restorer, house, self.settings, self.redactor, activity)
            stack.callback(runner.close)
            room = book, lanes, runner, reach, self._providers, self.settings
            closer, keeping = Closer(*room), Keeping(book, self.settings.home)
            saving = Saving(book, lanes, reach, self.settings.home)
            rooms = Rooms(
                group=group,
                book=book,
                runner=runner,
                together=Together(book, runner, self.actions, self.settings),
                starter=Starter(*room),
                attacher=Attacher(*room),
                closer=closer,
                keeping=keeping,
                leaving=Leaving(book, closer, restorer, keeping, saving, activity, parking=self._parking),
                upkeep=Upkeep(book, lanes, reach, closer, (saving, IdleWorlds(house.worlds)), self.settings),
            )
            if not self._visiting:
                await book.enrol(adopting=self._adopting)
                rooms.upkeep.begin(group, self.settings.home)
                group.start_soon(keeping.ensure)
                runner.on_end = rooms.upkeep.used
            self._stack, self._opened = stack.pop_all(), rooms
        return self

    async def __aexit__(self, *_: object) -> None:
        with anyio.CancelScope(shield=True):
            await self.shut_down()
        self._opened = None
        await self._stack.aclose()

    @property
    def _rooms(self) -> Rooms:
        if self._opened is None:
            raise RuntimeError("It is not open. Write: async with Orchestrator() as orchestrator: …")
        return self._opened

    def __repr__(self) -> str:
        return f"<Orchestrator in namespace {self.settings.namespace!r}>"

    async def shut_down(self) -> None:
        """Park or end what the caller owns, within a few seconds, and once; a visitor does neither."""
        if not self._visiting:
            await self._rooms.leaving.leave()

    # Sessions

    async def start(self, request: StartRequest, *, wait: bool = True) -> Row:
        """Start a session; with `wait=False` it answers at once, and later calls queue behind the start.

        Raises:
            InvalidArgument, SessionExists, SessionLimit: Nothing was launched.
            StartFailed: The remote end gave no session; nothing of it is left.
        """
        begun = await self._rooms.starter.begin(request)
        self._rooms.group.start_soon(self._rooms.keeping.ensure)
        if wait:
            record = await begun.finish()
            if record.events:
                await self._rooms.book.update(record.id, lambda now: now.changed(events=()))
        else:
            record = begun.record
            self._rooms.group.start_soon(begun.finish_quietly)
        self._rooms.upkeep.changed()
        sessions, _ = await self._rooms.book.rows()
        many = len(sessions) >= self.settings.session_warning
        warnings = [f"{len(sessions)} sessions are open; close those you no longer need."] if many else []
        return row(record, [one for one in sessions if one.id != record.id], warnings=warnings, events=[*record.events])

    async def attach(self, request: AttachRequest) -> Row:
        """Take in a session that was started elsewhere; closing it here leaves it alive there.

        Raises:
            SessionLost: It does not answer; nothing was recorded.
            InvalidArgument, ProviderAuth, SessionExists, SessionLimit: It was not taken in.
        """
        record, warnings = await self._rooms.attacher.attach(request)
        await self._rooms.keeping.ensure()
        self._rooms.upkeep.changed()
        return row(record, warnings=warnings)

    async def session(self, session_id: str | None = None) -> Session:
        """A handle on an open session of the namespace, whoever started it; on the current one unless given.

        Raises:
            NoSession, SessionNotFound: It is not open.
        """
        chosen = await self._rooms.book.resolve(session_id)
        record = await self._rooms.book.get(chosen)
        if record is None:
            raise SessionNotFound(chosen)
        return Session(self, SessionFacts.of(record))

    async def list_sessions(self, prefix: str | None = None) -> SessionList:
        """The sessions of the namespace that are not closed, as they were last known; no round trip is made."""
        book = self._rooms.book
        records, current = await book.rows()
        left_out = [str(one) for one in await book.unreadable() if str(one.session_id).startswith(prefix or "")]
        if not self._visiting:
            self._rooms.upkeep.listed()
        shown = [facts for facts in SessionFacts.listed(records) if facts.session_id.startswith(prefix or "")]
        return SessionList(sessions=shown, current_session=current, warnings=left_out)

    async def set_current_session(self, session_id: str) -> Current:
        """Choose where calls without a session go, for this caller."""
        return Current(current_session=await self._rooms.book.set_current(session_id))

    async def close_session(
        self,
        session_id: str | None = None,
        *,
        detach: bool = False,
        status: Status | None = None,
        reason: str | None = None,
    ) -> Closed:
        """End a session with all that belongs to it, or leave it alive at its remote end.

        A cloud is told `status` and `reason`; without them the session stays unmarked there.
        """
        mark = Mark.of(status, reason)
        chosen = session_id if session_id is not None else await self._rooms.book.resolve()
        try:
            return await self._rooms.closer.close([chosen], "it was closed", detach=detach, mark=mark, strict=True)
        except RecordUnreadable as error:
            if detach:
                raise
            return Closed(closed=[await self._rooms.book.give_up(error)])

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
        still = matching(prefix, idle_ms, every=bool(all))
        records, _ = await self._rooms.book.rows()
        return await self._rooms.closer.close([one.id for one in records], "it was closed", detach=detach, when=still)

    async def close_all_sessions(self, *, detach: bool = False) -> Closed:
        """End every session that the caller owns."""
        mine = await self._rooms.book.mine()
        return await self._rooms.closer.close([record.id for record in mine], "it was closed", detach=detach)

    # Actions

    async def perform(self, action: Action[ResultT], session_id: str | None = None) -> ResultT:
        """Do one thing in a session.

        Raises:
            OrchestratorError: Any of the codes in `orchestrator.errors`.
        """
        try:
            return await self._perform(action, session_id)
        except NoSession:
            lazily = self.settings.lazy_start and isinstance(action, Navigate)
            if not lazily:
                raise
            return await self._start_and_perform(action)

    async def run_sequence(self, sequence: ExecuteSequence) -> SequenceResult:
        """Run steps in one turn of a session's lane; the whole list is checked before the first one runs."""
        return await self._rooms.together.sequence(sequence)

    async def run_parallel(self, parallel: ExecuteParallel) -> ParallelResult:
        """Run one sequence a session at the same time; one that fails does not stop the others."""
        return await self._rooms.together.parallel(parallel)

    async def compare(self, asked: CompareSessions) -> Comparison:
        """Look at all sessions at the same time, and say how the others differ from the first one.

        Raises:
            InvalidArgument: A session is named twice.
            OrchestratorError: One of the sessions could not be looked at; it is named.
        """
        return await self._rooms.together.compare(asked)

    async def _perform(self, action: Action[ResultT], session_id: str | None) -> ResultT:
        def work(scene: Scene) -> ResultT:
            action.check(scene.record)
            outcome: ResultT = action.perform(scene)
            return labelled(outcome, scene) if session_id is None else outcome

        return await self._rooms.runner.run(session_id, Doing(action.verb, action.told()), work)

    async def _start_and_perform(self, action: Action[ResultT]) -> ResultT:
        async with self._lazily:
            try:
                await self._rooms.book.resolve()
                started = None
            except NoSession:
                if await self._rooms.book.mine():
                    raise
                started = await self.start(StartRequest())
        outcome = await self._perform(action, None)
        if started is None:
            return outcome
        told = f"No session was open: {started.session_id} was started ({started.capabilities.get('browserName')})."
        return outcome.model_copy(update={"warnings": [told, *outcome.warnings]})
