"""The plan of a start: what was checked and read for it, and its launch."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from anyio import from_thread

from orchestrator.actions.navigation import Navigate
from orchestrator.automation.browser.storage import BrowserStorage
from orchestrator.errors import OrchestratorError, StartFailed
from orchestrator.lifecycle.launch import Launch
from orchestrator.lifecycle.login_source import ReadLogin
from orchestrator.lifecycle.provider_start import undone_on_failure
from orchestrator.lifecycle.services import Services
from orchestrator.models import browser_support
from orchestrator.models.requests import StartRequest
from orchestrator.models.session import SessionRecord, SessionState, SessionType
from orchestrator.models.storage_state import StorageState
from orchestrator.network import har
from orchestrator.network.journal import Journal
from orchestrator.provider import Provider, SessionOptions
from orchestrator.sessions import progress
from orchestrator.sessions.turn import Turn
from orchestrator.system.activity import LoggedAction
from orchestrator.webdriver.remote import Remote

Replays = tuple[dict[str, str], ...]
"""HAR files to answer requests from, as the record has them."""


@dataclass(frozen=True, kw_only=True)
class StartPlan:
    """A start whose request was checked.

    Attributes:
        first_page: Opens the page at which the session begins.
        storage_state: Cookies and storage with which it begins.
        read_login: Reads them from another session, at the time of the launch.
        warnings: What came up in the launch, as sentences.
    """

    services: Services
    request: StartRequest
    options: SessionOptions
    provider: Provider
    first_page: Navigate | None
    storage_state: StorageState | None
    read_login: ReadLogin | None
    replays: Replays
    warnings: list[str] = field(default_factory=list)

    def run(self, turn: Turn) -> SessionRecord:
        """Launch the session in its first turn, in the worker thread; logged as one action.

        Raises:
            StartFailed: The session did not start; nothing of it is left.
        """
        browser = {"browser": self.request.browser} if self.request.type is SessionType.BROWSER else {}
        progress.report_progress(f"starting {_describe(self.request)}")
        doing = LoggedAction("start", {"provider": self.provider.name, **browser})
        measured = self.services.lanes.meter.measure_start(turn.record)
        with self.services.runner.activity.log_call(turn.record, doing), measured:
            return self._launch(turn)

    def _launch(self, turn: Turn) -> SessionRecord:
        with undone_on_failure(turn) as undo:
            launch = Launch(
                self.request,
                self.options,
                self.provider,
                connector=self.services.connector,
                settings=self.services.settings,
                files=self.services.files,
                turn=turn,
                undo=undo,
            )
            with launch.in_time():
                session = launch.create()
                remote = session.remote
                self.warnings.extend(launch.warnings)
                with self._connected(turn, remote):
                    launch.prepare(session)
                    if self.request.type is SessionType.BROWSER:
                        self.services.runner.set_up_browser(turn)
                    self._restore_storage(turn, remote)
                    self._start_recording(turn)
                    self._open_first_page(turn)
            remote.deadline = None
        turn.change(state=SessionState.ACTIVE)
        return turn.record

    @contextlib.contextmanager
    def _connected(self, turn: Turn, remote: Remote) -> Iterator[None]:
        """Keep the client of the session; forget it when the body raises, since the browser may stay with others."""
        self.services.runner.connections.add(turn.record, remote)
        try:
            yield
        except BaseException:
            self.services.runner.connections.forget(turn.record)
            Journal.for_session(turn.record, self.services.settings.home).remove()
            turn.change(remote_url="", remote_session_id="")
            raise

    def _restore_storage(self, turn: Turn, remote: Remote) -> None:
        state = self.storage_state
        if self.read_login is not None:
            login = from_thread.run(self.read_login)
            turn.change(events=(*turn.record.events, *(f"loginFrom: {warning}" for warning in login.warnings)))
            state = login.state
        if state:
            connection = self.services.runner.connections.get(turn.record)
            bidi = connection.subscriptions.bidi
            BrowserStorage(remote, turn.record, connection.find_devtools, bidi).restore(state)

    def _start_recording(self, turn: Turn) -> None:
        """Start to record traffic, and to answer it from HAR files, before the first page is opened."""
        recorded = self.options.har
        if not (recorded or self.replays):
            return
        record, home = turn.record, self.services.settings.home
        connector = self.services.connector
        by_bidi = browser_support.is_firefox(record.capabilities) and connector.bidi(record) is not None
        if connector.cdp(record) is None and not by_bidi:
            raise StartFailed(
                "The remote end gives no access to the browser's DevTools, which the options har and hars need.",
                hint="Omit them, or use a browser on this machine or at a Selenium Grid.",
            )
        path = har.resolve_target(recorded) if isinstance(recorded, str) else har.next_free_path(record, home)
        if recorded:
            Journal.for_session(record, home).create()
        turn.write(har=str(path) if recorded else "", replays=self.replays)

    def _open_first_page(self, turn: Turn) -> None:
        """Open the first page as any later one; its events, such as a dialog, come with the session's next result."""
        if self.first_page is None:
            return
        progress.report_progress("opening its first page")
        try:
            outcome = self.services.runner.run_in_turn(turn, self.first_page)
        except OrchestratorError as error:
            raise StartFailed(
                f"Session {turn.record.id!r} was not started, because of its navigationUrl. {error.message}",
                hint="Check navigationUrl, or start without it.",
            ) from error
        turn.change(events=(*turn.record.events, *outcome.events))


def _describe(request: StartRequest) -> str:
    """Return what is started, as progress."""
    kind = str(request.browser if request.type is SessionType.BROWSER else request.type)
    return kind if request.provider == "local" else f"{kind} at {request.provider}"
