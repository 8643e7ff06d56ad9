"""The one path of every call: its turn in the lane, its scene, its events, its log entry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol, TypeVar

from orchestrator.automation import dialogs, downloads, file_choosers
from orchestrator.automation.browser import shared_browser
from orchestrator.automation.interruptions import handle_interruptions
from orchestrator.automation.scene import Scene, SceneServices
from orchestrator.automation.session_setup import set_up_session
from orchestrator.errors import (
    Denied,
    DialogOpen,
    InvalidArgument,
    NoAnswer,
    OrchestratorError,
    RemoteFailure,
    TimedOut,
)
from orchestrator.execution.connection import Connections, SessionConnection
from orchestrator.execution.restore import Restored, Restorer
from orchestrator.execution.script_actions import ScriptHost
from orchestrator.models.results import Outcome, SessionLabel
from orchestrator.models.session import NATIVE, Caller, SessionRecord, SessionState, SessionType
from orchestrator.sessions.connector import Connector
from orchestrator.sessions.lanes import Lanes
from orchestrator.sessions.store.sqlite import SqliteStore
from orchestrator.sessions.store.types import Holder
from orchestrator.sessions.turn import CallCancelled, Turn
from orchestrator.sessions.uses import list_others_uses, note_use
from orchestrator.system.activity import LoggedAction
from orchestrator.system.secrets import without_credentials

OutcomeT = TypeVar("OutcomeT", bound=Outcome)
OutcomeT_co = TypeVar("OutcomeT_co", bound=Outcome, covariant=True)


class SessionTask(Protocol[OutcomeT_co]):
    """Something to run in a session: an action, a sequence of them, or a capture to compare."""

    @property
    def verb(self) -> str:
        """The name in logs."""
        ...

    @property
    def reads(self) -> bool:
        """True if it changes nothing in the session."""
        ...

    def log_arguments(self) -> dict[str, Any]:
        """The arguments, as a log may keep them."""
        ...

    def check_supports(self, record: SessionRecord) -> None:
        """Refuse a session in which it cannot run."""
        ...

    def perform(self, scene: Scene) -> OutcomeT_co:
        """Run it; blocking, in the worker thread of the session's turn."""
        ...


class Runner:
    """Runs tasks in sessions, one at a time in each; calls `on_end` after each call.

    Attributes:
        connections: The connections that are kept between calls.
        activity: The sessions' logs.
    """

    def __init__(
        self,
        *,
        lanes: Lanes,
        store: SqliteStore,
        connector: Connector,
        restorer: Restorer,
        script_host: ScriptHost,
        connections: Connections,
        services: SceneServices,
        on_end: Callable[[], None],
    ) -> None:
        self.activity = services.activity
        self.connections = connections
        self._lanes = lanes
        self._connector = connector
        self._restorer = restorer
        self._store = store
        self._script_host = script_host
        self._services = services
        self._on_end = on_end

    async def run(self, caller: Caller, session_id: str | None, task: SessionTask[OutcomeT]) -> OutcomeT:
        """Run a task in the next turn of a session; in the caller's current one if none is given.

        The outcome also holds the events of the session since its last one.
        """

        def work(turn: Turn) -> OutcomeT:
            outcome = self.run_in_turn(turn, task)
            return _add_session_label(outcome, turn.record) if session_id is None else outcome

        try:
            return await self._lanes.run_turn(session_id, work, caller=caller, looks=task.reads, name=task.verb)
        finally:
            self._on_end()

    def run_in_turn(self, turn: Turn, task: SessionTask[OutcomeT]) -> OutcomeT:
        """Run a task in a turn that has come, in its worker thread, and log it."""
        with self.activity.log_call(turn.record, LoggedAction(task.verb, task.log_arguments())) as call:
            outcome = call.outcome = self._perform(turn, task)
        return outcome

    def set_up_browser(self, turn: Turn) -> None:
        """Apply the record's emulation and policies to a browser that has just started."""
        connection = self.connections.get(turn.record)
        scene = Scene(connection, turn, self._services)
        with handle_interruptions(scene), CallReport(turn, scene).completing_errors():
            self._go_to_recorded_place(scene, connection)
            set_up_session(scene, soon=True)

    def _perform(self, turn: Turn, task: SessionTask[OutcomeT]) -> OutcomeT:
        """Restore the session if it is parked, prepare it, run the task, and collect what happened."""
        restored = self._restore(turn)
        connection = self._connect(turn.record, restored)
        scene = Scene(connection, turn, self._services)
        report = CallReport(turn, scene, restored)
        note_use(turn, task.verb, changes=not task.reads)
        with connection.sharing_refs(turn), handle_interruptions(scene), report.completing_errors():
            self._prepare(scene, connection)
            if restored:
                _resume(scene, restored)
            with _telling_cancellation(turn, task):
                outcome = _execute(scene, task)
            self._follow_up(scene, connection)
        return report.complete(outcome)

    def _restore(self, turn: Turn) -> Restored | None:
        if turn.record.state is not SessionState.PARKED:
            return None
        restored = self._restorer.restore(turn)
        if restored.message:
            self.activity.log_event(turn.record, LoggedAction("restore"), restored.message)
        return restored

    def _connect(self, record: SessionRecord, restored: Restored | None) -> SessionConnection:
        if restored and not restored.is_intact:
            return self.connections.add(record, self._connector.make_remote(record))
        return self.connections.get(record, restored.remote if restored else None)

    def _prepare(self, scene: Scene, connection: SessionConnection) -> None:
        """Receive events, go where the record says that the session is, and route its requests."""
        self._script_host.report_world_reset(scene)
        connection.subscriptions.wait_until_listening()
        self._go_to_recorded_place(scene, connection)

    def _go_to_recorded_place(self, scene: Scene, connection: SessionConnection) -> None:
        """Go where the record says that the session is, and route its requests."""
        scene.subscribe_to_tabs(scene.record.tabs)
        if connection.needs_resync:
            connection.needs_resync = not _resync(scene)
        try:
            scene.apply_routing()
        except (RemoteFailure, InvalidArgument) as error:
            if scene.traffic.watches_origins:
                raise
            scene.event(f"Routes and HAR recording are not applied: {error.message}")

    def _follow_up(self, scene: Scene, connection: SessionConnection) -> None:
        """Report file choosers, questions and downloads, and keep other sessions of the browser responsive."""
        record = scene.record
        if scene.has_navigated and record.instance is not None:
            sessions = self._store.usage(record.namespace, Holder.current())
            shared_browser.touch_other_sessions(record, sessions, self._connector)
        if connection.subscriptions.opened_pickers:
            file_choosers.report_opened_pickers(scene)
        dialogs.report_leave_questions(scene)
        if connection.subscriptions.downloads.ended or record.capabilities.get("se:downloadsEnabled"):
            connection.downloads.fetch_and_report(scene)


class CallReport:
    """Completes a call's outcome or error with the session's events and the restore that preceded it."""

    def __init__(self, turn: Turn, scene: Scene, restored: Restored | None = None) -> None:
        self._turn = turn
        self._scene = scene
        self._restored = restored
        self._others = list_others_uses(turn.record, turn.caller)

    def complete(self, outcome: OutcomeT) -> OutcomeT:
        """Add them to an outcome, with the events that the record holds for it, and mask secrets in all of it.

        A script in Python gets values as the page has them: it typed the secret itself.
        """
        pending = self._turn.record.events
        if pending:
            self._turn.change(events=())
        events = self._events(*pending, *outcome.events)
        if events:
            outcome = outcome.model_copy(update={**self._restore_facts(), "events": events})
        mask = self._scene.redactor.fields
        if outcome.internal:
            said = {"events": outcome.events, "warnings": outcome.warnings}
            return outcome.model_copy(update=mask(said))
        masked: OutcomeT = outcome if self._turn.caller.door == "python" else mask(outcome)
        return masked

    @contextmanager
    def completing_errors(self) -> Iterator[None]:
        """Add them to an error that leaves the block, with the session's id, and mask secrets in it."""
        try:
            yield
        except OrchestratorError as error:
            downloads.report_downloads(self._scene)
            error.details |= self._restore_facts()
            if events := self._events():
                error.details["events"] = events
            error.url = error.url or _page_url(self._turn.record)
            self._scene.redactor.error(error)
            error.in_session(self._turn.record.id)
            raise

    def _events(self, *others: str) -> list[str]:
        restored = [self._restored.message] if self._restored and self._restored.message else []
        return _merge_repeated([*restored, *self._others, *others, *self._scene.events])

    def _restore_facts(self) -> dict[str, Any]:
        if self._restored is None or not self._restored.message:
            return {}
        return {"restored": self._restored.is_intact, "recovered": self._restored.recovered}


def _page_url(record: SessionRecord) -> str | None:
    return None if record.url is None else without_credentials(record.url)


def _merge_repeated(events: list[str]) -> list[str]:
    """Return each different event once, in order of their first time, with the number of times if it is not one."""
    return [event if times == 1 else f"{event} ({times} times)" for event, times in Counter(events).items()]


def _execute(scene: Scene, task: SessionTask[OutcomeT]) -> OutcomeT:
    """Run a task; a driver that is held up by a page of another session does not count as gone."""
    task.check_supports(scene.record)
    try:
        return task.perform(scene)
    except NoAnswer as error:
        if scene.record.instance is None or not shared_browser.is_blocked_by_other_page(scene.record):
            raise
        raise TimedOut(
            f"{error.reason[0].upper()}{error.reason[1:]}: a page of another session in this browser stands still.",
            hint="A dialog may be open there, or a script does not end: use that session, then try again.",
        ) from error


@contextmanager
def _telling_cancellation(turn: Turn, task: SessionTask[Any]) -> Iterator[None]:
    """Tell the next call of the session where a changing task stopped whose caller went away."""
    try:
        yield
    except CallCancelled as error:
        if not task.reads:
            where = error.where or "while it ran: its effect may be there, in part or whole"
            turn.leave_event(f"{task.verb} was cancelled {where}.")
        raise


def _resync(scene: Scene) -> bool:
    """Go to the context, tab and top document that the record names; False while a dialog prevents it."""
    if scene.record.type is not SessionType.BROWSER:
        with suppress(RemoteFailure):
            scene.remote.execute("switchToContext", name=scene.record.context or NATIVE)
    if scene.native:
        return True
    return scene.tabs.handles.resync() or scene.finder.frames.switch_to_top()


def _resume(scene: Scene, restored: Restored) -> None:
    """Set up a fresh browser as the record says and open its first page; close tabs that lost their page."""
    if not restored.is_intact:
        set_up_session(scene)
    # While a dialog is open nothing is asked of the tabs: the call may be its answer.
    with suppress(DialogOpen):
        scene.tabs.close_tabs_without_page()
    if restored.page:
        # A session without its first page is better than none: the result reports its URL.
        with suppress(RemoteFailure, TimedOut, DialogOpen, Denied):
            scene.traffic.check_page(restored.page)
            scene.remote.execute("get", url=restored.page)


def _add_session_label(outcome: OutcomeT, record: SessionRecord) -> OutcomeT:
    """Name the session that was chosen for the caller."""
    return outcome.model_copy(update={"session": SessionLabel(session_id=record.id, session_type=record.type)})
