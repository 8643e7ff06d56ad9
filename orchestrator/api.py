"""The async façade `Orchestrator`: the one entry to the core, for users and for every door."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, Literal, Self

import anyio
import anyio.to_thread

from orchestrator.actions.base import Action, ResultT
from orchestrator.actions.navigation import Navigate
from orchestrator.actions.plugins import InstalledActions
from orchestrator.errors import NoSession, RecordUnreadable
from orchestrator.execution.compare import CompareSessions, Comparison
from orchestrator.execution.parallel import ExecuteParallel, ParallelPart, ParallelResult
from orchestrator.execution.parallel_run import ParallelSessions
from orchestrator.execution.sequence import SYNC, ExecuteSequence, SequenceResult, Steps
from orchestrator.execution.session_steps import named_sessions
from orchestrator.lifecycle.app_uploads import AppList, UploadedApp, list_apps, upload_app
from orchestrator.lifecycle.caller_starts import CallerStarts
from orchestrator.lifecycle.close import CloseOptions, build_close_condition
from orchestrator.lifecycle.components import Components, build_components
from orchestrator.lifecycle.device_list import DeviceList, list_devices
from orchestrator.lifecycle.start_counts import StartCounts
from orchestrator.models.arguments import parse_arguments
from orchestrator.models.identifiers import join_claim, split_claim
from orchestrator.models.requests import AttachRequest, StartParameters, StartRequest
from orchestrator.models.session import Caller, Door, SessionRecord
from orchestrator.models.test_status import Status, TestStatus
from orchestrator.orchestrator_methods import OrchestratorMethods
from orchestrator.session import Session
from orchestrator.session_tools.catalogue import SESSION_TOOLS
from orchestrator.session_tools.descriptions import ActionDescriptions, describe
from orchestrator.session_tools.steps import ToolSteps
from orchestrator.sessions.meter import Meter
from orchestrator.sessions.providers import Providers
from orchestrator.sessions.registry import SessionRegistry, make_caller
from orchestrator.sessions.rows import (
    Claimed,
    CloseResult,
    CurrentSession,
    FactsCache,
    Released,
    SessionFacts,
    SessionList,
    SessionRow,
    make_session_row,
)
from orchestrator.sessions.store.types import Closer
from orchestrator.settings import Settings
from orchestrator.system.host.client_files import ClientFiles
from orchestrator.system.machine import LocalMachine
from orchestrator.system.secrets import Redactor


class Orchestrator(OrchestratorMethods[Session]):
    """Many sessions at once, for one caller. An async context manager, at whose end the caller's sessions are closed.

    Methods take a session by its id; without one they use the caller's current session.

    Args:
        settings: Default: read from environment and files.
        providers: Sources of sessions; default: the installed ones.
        adopt_orphans: Take over, as a server does, the sessions of dead callers of the namespace; they end with it.
        park_on_exit: Park, as a server does, the caller's sessions at the end, for any later caller.
        observer: Leave no trace: no session is taken over, maintained or ended.
        door: The kind of entry, for the activity logs.
        caller: A caller that comes back to its sessions by a name of its own; default: a new one.
        meter: Measures turns, starts and losses of sessions; default: nothing is measured.

    Attributes:
        caller: The caller whose current session, ownership and closing its methods mean.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        providers: Providers | None = None,
        adopt_orphans: bool = False,
        park_on_exit: bool = False,
        observer: bool = False,
        door: Door = "python",
        caller: Caller | None = None,
        meter: Meter | None = None,
    ) -> None:
        self.settings = settings or Settings.load()
        self.redactor = Redactor()
        self._providers = Providers() if providers is None else providers
        self.actions = InstalledActions(taken={*dir(self), SYNC})
        self._stack = AsyncExitStack()
        self._lazy_start_lock = anyio.Lock()
        self._adopt_orphans, self._park_on_exit, self._observer = adopt_orphans, park_on_exit, observer
        self._meter = meter or Meter()
        self.caller = caller or make_caller(door)
        self.actions.files.client_files = ClientFiles.of(self.settings, self.caller.key)
        self.starts = StartCounts()
        self._facts = FactsCache()
        self._opened: Components | None = None

    async def __aenter__(self) -> Self:
        if self._opened is not None:
            raise RuntimeError("It is open already.")
        async with AsyncExitStack() as stack:
            components = await build_components(
                resources=stack,
                settings=self.settings,
                providers=self._providers,
                actions=self.actions,
                redactor=self.redactor,
                caller=self.caller,
                restored_ttl=self.settings.park_ttl if self._adopt_orphans else None,
                park_on_exit=self._park_on_exit,
            )
            stack.enter_context(components.lanes.measured_by(self._meter))
            if not self._observer:
                await components.registry.enrol(adopt_orphans=self._adopt_orphans)
                components.maintenance.start_tasks(components.task_group)
                components.task_group.start_soon(components.keeper_launcher.ensure)
            self._stack, self._opened = stack.pop_all(), components
        return self

    async def __aexit__(self, *_: object) -> None:
        with anyio.CancelScope(shield=True):
            await self.shut_down()
        self._opened = None
        await self._stack.aclose()

    @property
    def _components(self) -> Components:
        if self._opened is None:
            raise RuntimeError("It is not open. Write: async with Orchestrator() as orchestrator: …")
        return self._opened

    @property
    def registry(self) -> SessionRegistry:
        """The registry as the caller sees it."""
        return self._components.registry.for_caller(self.caller)

    def for_caller(self, caller: Caller) -> Self:
        """Return the same open orchestrator for another caller, which shares everything but what is the caller's own.

        It is opened, shut down and closed by the one that it was made from.
        """
        other = copy.copy(self)
        other.caller = caller
        return other

    def __repr__(self) -> str:
        return f"<Orchestrator in namespace {self.settings.namespace!r}>"

    async def shut_down(self) -> None:
        """Park or end the caller's sessions, within a few seconds, and once; an observer does neither."""
        if not self._observer:
            await self._components.shutdown.park_or_end_sessions()

    async def park_unused(self, keys: Collection[str]) -> set[str]:
        """Park these callers' sessions that no call uses; returns the callers of others, by their keys."""
        return await self._components.shutdown.park_unused(keys)

    # Sessions

    async def start(self, request: StartRequest, *, wait: bool = True, claim: bool = False) -> SessionRow:
        """Start a session; with `wait=False` return at once, and queue later calls behind the start.

        With `claim` it is claimed as `claim_session` does.

        Raises:
            InvalidArgument, SessionExists, SessionLimit: Nothing was launched.
            StartFailed: The remote end created no session; nothing of it is left.
        """
        with self._components.id_guard.calling(self.caller, [request.session_id]):
            reserved = await self._starts.reserve(request)
            claimed = await self.claim_session(reserved.record.id) if claim else None
            row = await (self._starts.launch(reserved) if wait else self._starts.begin(reserved))
            return row.model_copy(update={"claim": claimed}) if claimed else row

    async def attach(self, request: AttachRequest) -> SessionRow:
        """Attach to a session that was started elsewhere; closing it here leaves it alive there.

        Raises:
            SessionLost: It does not respond; nothing was recorded.
            InvalidArgument, ProviderAuth, SessionExists, SessionLimit: It was not attached.
        """
        record, warnings = await self._components.attacher.attach(self.caller, request)
        await self._components.keeper_launcher.ensure()
        self.starts.add(self.caller, request.platform, request.session_id)
        self._components.maintenance.wake_now()
        return make_session_row(record, self.caller.key, warnings=warnings)

    async def session(self, session_id: str | None = None) -> Session:
        """Return a handle on an open session of the namespace; default: the current session.

        Raises:
            NoSession, SessionNotFound: It is not open.
        """
        record = await self.registry.find(session_id)
        suffix = "" if session_id is None else split_claim(session_id)[1]
        facts = SessionFacts.of(record, self.caller.key)
        return Session(self, facts.model_copy(update={"session_id": join_claim(record.id, suffix)}))

    async def list_sessions(self, prefix: str | None = None) -> SessionList:
        """List the open sessions of the namespace by their records, without a round trip to their remote ends."""
        overview = await self.registry.read_overview()
        if not self._observer:
            self._components.maintenance.check_all_sessions()
        # In a thread: thousands of rows take longer than the event loop may be busy.
        return await anyio.to_thread.run_sync(self._facts.list_sessions, overview, self.caller.key, prefix)

    async def read_records(self) -> list[SessionRecord]:
        """Return the records of the open sessions of the namespace."""
        return (await self.registry.list_with_current())[0]

    async def set_current_session(self, session_id: str) -> CurrentSession:
        """Set this caller's session for calls without a session id."""
        chosen = await self.registry.set_current(session_id)
        self._components.id_guard.note_choice(self.caller)
        return CurrentSession(current_session=chosen)

    async def close_session(
        self,
        session_id: str | None = None,
        *,
        detach: bool = False,
        status: Status | None = None,
        reason: str | None = None,
    ) -> CloseResult:
        """End a session with its browser and processes; with `detach` leave it alive at its remote end.

        `status` and `reason` are reported to a cloud; without them the session stays unmarked there.
        """
        mark = TestStatus.from_request(status, reason)
        if session_id is None:
            await self._components.id_guard.require_id(self.caller)
        chosen = session_id if session_id is not None else await self.registry.resolve()
        try:
            return await self._components.closer.close(
                chosen, CloseOptions(detach=detach, status=mark, closer=Closer.of(self.caller))
            )
        except RecordUnreadable as error:
            if detach:
                raise
            return CloseResult(closed=[await self.registry.end_unreadable(error)])

    async def close_sessions(
        self,
        *,
        prefix: str | None = None,
        idle_ms: int | None = None,
        all: bool | None = None,  # noqa: A002 — the wire's word
        detach: bool = False,
    ) -> CloseResult:
        """End the sessions of the namespace that meet all given conditions, which are checked again at their turn.

        Raises:
            InvalidArgument: No condition was given.
        """
        condition = build_close_condition(prefix, idle_ms, every=bool(all), clock=self.registry.store.now)
        records, _ = await self.registry.list_with_current()
        return await self._components.closer.close_many(
            [record.id for record in records],
            # No caller's call is left out of what counts as use, and maintenance, which nobody asked for, is none.
            CloseOptions(detach=detach, condition=condition, family=frozenset(), closer=Closer.of(self.caller)),
        )

    async def close_all_sessions(self, *, detach: bool = False) -> CloseResult:
        """End every session that the caller owns, and what its sub-agents own where the host names their parent.

        A session that someone else uses at the moment stays, and is named in `left`.
        """
        return await self._components.closer.close_own(self.caller, detach=detach)

    async def claim_session(self, session_id: str, *, ttl: int = 300, wait: int | None = None) -> Claimed:
        """Claim a session: until it is released, only calls under the returned `session_id` may change it.

        Args:
            session_id: The session, or the name of a claim that is to be prolonged.
            ttl: Seconds after the last use under that name at which the claim ends.
            wait: Milliseconds to wait if someone else has claimed it.

        Raises:
            SessionClaimed: Someone else has claimed it.
        """
        return await self._components.claims.claim(self.caller, session_id, ttl, wait)

    async def release_session(self, session_id: str, *, force: bool = False) -> Released:
        """End a claim by its name; with `force` that of someone else on a session of your own.

        Raises:
            SessionClaimed: Someone else has claimed it, and the session is not yours.
        """
        return await self._components.claims.release(self.caller, session_id, force=force)

    async def fork_session(self, session_id: str, *, as_: str | None = None) -> SessionRow:
        """Start a browser session like an open one, named `as_`: at its URL, with its cookies and storage.

        Raises:
            Unsupported: It is an app, or its start request is not known.
        """
        with self._components.id_guard.calling(self.caller, [session_id, as_]):
            return await self._starts.fork(session_id, as_)

    # Devices and apps

    async def list_devices(self, platform: str | None = None) -> DeviceList:
        """List the devices, simulators and emulators for a start, with the sessions that use them; nothing is started.

        With a platform, ios or android, only its own. Sources that could not be queried are in `warnings`.
        """
        open_sessions = (await self.list_sessions()).sessions
        found = await anyio.to_thread.run_sync(
            list_devices, LocalMachine.this(), self.settings.appium_url, open_sessions
        )
        return found if platform is None else found.of_platform(platform)

    async def upload_app(self, provider: str, path: str, *, custom_id: str | None = None) -> UploadedApp:
        """Upload an app of this machine to a cloud's storage; the result's `app` is the value for `start_session`.

        Args:
            provider: The cloud.
            path: The file on this machine.
            custom_id: A name of your own for it, where the cloud supports it; it stands for the newest upload.

        Raises:
            InvalidArgument: The file does not exist.
            Unsupported: The provider has no storage for apps, or no custom ids.
            ProviderAuth, ProviderFailure: It was refused; the message quotes the cloud.
        """
        return await upload_app(self._providers, self.settings, provider, path, custom_id)

    async def list_apps(self, provider: str, *, limit: int = 20) -> AppList:
        """List the newest apps in a cloud's storage.

        Raises:
            Unsupported: The provider has no storage for apps.
            ProviderAuth, ProviderFailure: It was refused; the message quotes the cloud.
        """
        return await list_apps(self._providers, self.settings, provider, limit)

    # Actions

    async def describe_actions(self, names: Sequence[str] = (), query: str | None = None) -> ActionDescriptions:
        """Describe tools and actions: those of these names, or with the words of a query, else all without parameters.

        Raises:
            InvalidArgument: There is no tool or action of a name.
        """
        declared: dict[str, Any] = {tool.verb: tool for tool in SESSION_TOOLS}
        return describe({**declared, **self.actions}, self.actions, names, query)

    async def perform(self, action: Action[ResultT], session_id: str | None = None) -> ResultT:
        """Perform an action in a session.

        Raises:
            OrchestratorError: Any of the codes in `orchestrator.errors`.
        """
        try:
            with self._components.id_guard.calling(self.caller, [session_id]):
                return await self._components.runner.run(self.caller, session_id, action)
        except NoSession:
            lazily = self.settings.lazy_start and isinstance(action, Navigate)
            lazily = lazily and self.actions.is_free("start_browser")
            if not lazily:
                raise
            return await self._start_and_perform(action)

    async def execute_sequence(
        self,
        actions: Steps,
        session_id: str | None = None,
        *,
        stability_ms: int = 150,
        stability_timeout_ms: int = 5_000,
        timeout: int = 120_000,
        verbose: bool = False,
    ) -> SequenceResult:
        """Run several steps in one session, as `Session.execute_sequence` does.

        Raises:
            InvalidArgument: A step is invalid; nothing was run.
            OrchestratorError: The failed step's error; `error.details["result"]` is the result up to it.
        """
        fields = {
            "actions": list(actions),
            "session_id": session_id,
            "stability_ms": stability_ms,
            "stability_timeout_ms": stability_timeout_ms,
            "timeout": timeout,
            "verbose": verbose,
        }
        result = await self.run_sequence(parse_arguments(ExecuteSequence, fields))
        if (error := result.described_failure()) is not None:
            raise error
        return result

    async def execute_parallel(
        self,
        sequences: Iterable[Mapping[str, Any] | ParallelPart],
        *,
        lockstep: bool = False,
        repeat: int = 1,
        interleave: Mapping[str, int] | None = None,
        stability_ms: int = 150,
        stability_timeout_ms: int = 5_000,
        timeout: int = 120_000,
        verbose: bool = False,
    ) -> ParallelResult:
        """Run one sequence per session, side by side: `[{"session_id": "ann", "actions": [...]}, ...]`.

        A failed one does not stop the others: `result.sequences["ann"]` is its result or error. `lockstep` runs one
        list in all `session_ids` until they differ; `repeat` gives percentiles; `interleave` tries orders of steps.

        Raises:
            InvalidArgument: A step is invalid; nothing was run.
            OrchestratorError: All sequences failed, or one by an order; this is the first one's error.
        """
        given = {"sequences": [dict(part) for part in sequences], "lockstep": lockstep, "repeat": repeat}
        waits = {"stability_ms": stability_ms, "stability_timeout_ms": stability_timeout_ms, "timeout": timeout}
        fields = {**given, **waits, "interleave": interleave, "verbose": verbose}
        result = await self.run_parallel(parse_arguments(ExecuteParallel, fields))
        if error := result.failure():
            raise error
        return result

    async def compare_sessions(
        self,
        session_ids: Sequence[str],
        of: Literal["text", "elements", "screenshot"],
        *,
        ignore: Sequence[str] = (),
    ) -> Comparison:
        """Compare the contents of sessions.

        Args:
            session_ids: Two or more; the others are compared with the first.
            of: The content to compare.
            ignore: Selectors of parts that may differ.

        Raises:
            InvalidArgument: A session is named twice, or a selector is invalid.
            OrchestratorError: A session, which the error names, could not be read.
        """
        given = {"session_ids": list(session_ids), "of": of, "ignore": list(ignore)}
        return await self.compare(parse_arguments(CompareSessions, given))

    async def run_sequence(self, sequence: ExecuteSequence) -> SequenceResult:
        """Run steps in one turn of a session's lane; the whole list is checked before the first one runs."""
        tools = ToolSteps(self, self.actions.files)
        with self._components.id_guard.calling(self.caller, named_sessions(sequence)):
            return await self._components.coordinator.run_sequence(self.caller, sequence, tools)

    async def run_parallel(self, parallel: ExecuteParallel) -> ParallelResult:
        """Run one sequence per session, side by side; a failed one does not stop the others."""
        names = [name for part in parallel.sequences for name in part.ids]
        caller, starts = self.caller.with_claims(names), self._starts
        sessions = ParallelSessions(starts.reserve, starts.launch, self.close_session)
        with self._components.id_guard.calling(self.caller, names):
            tools = ToolSteps(self, self.actions.files)
            return await self._components.coordinator.run_parallel(caller, parallel, tools, sessions)

    async def compare(self, asked: CompareSessions) -> Comparison:
        """Read all sessions at the same time; return how the others differ from the first one.

        Raises:
            InvalidArgument: A session is named twice.
            OrchestratorError: A session, which the error names, could not be read.
        """
        with self._components.id_guard.calling(self.caller, asked.session_ids):
            return await self._components.coordinator.compare(self.caller, asked)

    @property
    def _starts(self) -> CallerStarts:
        return CallerStarts(self._components, self.caller, self.starts, self.settings.session_warning)

    async def _start(self, declared: type[StartParameters], fields: Mapping[str, Any]) -> Session:
        parameters = parse_arguments(declared, fields)
        row = await self.start(parameters.to_start_request(), wait=parameters.wait, claim=parameters.claim)
        return Session(self, row.as_claimed())

    async def _attach(self, declared: type[AttachRequest], fields: Mapping[str, Any]) -> Session:
        return Session(self, await self.attach(parse_arguments(declared, fields)))

    async def _start_and_perform(self, action: Action[ResultT]) -> ResultT:
        async with self._lazy_start_lock:
            try:
                await self.registry.resolve()
                started = None
            except NoSession:
                if await self.registry.list_owned():
                    raise
                started = await self.start(StartRequest())
        outcome = await self._components.runner.run(self.caller, None, action)
        if started is None:
            return outcome
        warning = f"No session was open: {started.session_id} was started ({started.capabilities.get('browserName')})."
        return outcome.model_copy(update={"warnings": [warning, *started.warnings, *outcome.warnings]})
