"""Launches one session: endpoint, New Session, place in a browser, first tab."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from orchestrator.automation.browser.shared_browser import wait_until_responsive
from orchestrator.errors import DeviceBusy, ProviderAuth, StartFailed
from orchestrator.lifecycle.first_tabs import adopt_open_tabs, prepare_first_tab
from orchestrator.lifecycle.instances import BrowserSharing, leave_browser, settle_in_browser
from orchestrator.lifecycle.provider_start import ProviderStart, StartUndo, ignoring_errors
from orchestrator.models.requests import Endpoint, StartRequest
from orchestrator.models.session import SessionRecord, SessionType
from orchestrator.provider import Provider, SessionOptions
from orchestrator.sessions.connector import Connector
from orchestrator.sessions.turn import Turn
from orchestrator.settings import Settings
from orchestrator.system import processes
from orchestrator.system.deadline import Deadline
from orchestrator.system.file_access import FileAccess
from orchestrator.system.secrets import without_credentials, without_path
from orchestrator.webdriver.chromium import Chromium
from orchestrator.webdriver.devtools import debugger_address
from orchestrator.webdriver.new_session import NewSessionRequest
from orchestrator.webdriver.remote import Remote

_REMOTE_END = 5.0
"""Seconds that a remote end may take to end a session whose start failed."""
_OTHER_PAGES = 10.0
"""Seconds that the pages of a shared browser have to answer before a further driver session meets them."""
_WAITING = 1.0
"""Seconds between two questions to the provider about the progress of the start."""


@dataclass(frozen=True)
class RequestedEndpoint:
    """An endpoint that the provider answered with.

    Attributes:
        endpoint: Where to create the session.
        facts: Fields of the record that follow from it.
        give_back: Notifies the provider that no session uses it.
    """

    endpoint: Endpoint
    facts: dict[str, Any]
    give_back: Callable[[], None]


@dataclass(frozen=True)
class CreatedSession:
    """A session that its remote end created.

    Attributes:
        remote: Its client.
        facts: Fields of its record so far.
        handle: Its tab in a browser that others can share; empty in other browsers.
    """

    remote: Remote
    facts: dict[str, Any]
    handle: str = ""


class Launch:
    """Launches a session in its turn, in its worker thread; each step pushes onto `undo` how it is undone."""

    def __init__(
        self,
        request: StartRequest,
        options: SessionOptions,
        provider: Provider,
        *,
        connector: Connector,
        settings: Settings,
        files: FileAccess,
        turn: Turn,
        undo: StartUndo,
    ) -> None:
        self._request = request
        self._provider = provider
        self._connector = connector
        self._turn = turn
        self._undo = undo
        self._start = ProviderStart(request, options, settings, turn, undo, files.origins)
        self._files = files
        self.warnings: tuple[str, ...] = ()
        """Sentences of the provider for whoever starts the session."""
        self.in_time = self._start.in_time

    def create(self) -> CreatedSession:
        """Create the session in its place, and change its record.

        Raises:
            StartFailed: The session was not created.
        """
        host = self._join_browser()
        requested = self._request_endpoint(host)
        session = self._create_when_free(requested)
        if host is None:
            session = self._add_provider_facts(session)
        if self._turn.record.instance is not None:
            session = self._place_in_browser(session, host)
        self._start.check()
        self._turn.change(**session.facts)
        return session

    def prepare(self, session: CreatedSession) -> None:
        """Prepare the session for its first call, and change its record.

        Raises:
            StartFailed: It could not be prepared.
        """
        self._turn.change(**self._prepared_fields(session))

    def _join_browser(self) -> SessionRecord | None:
        """Return a session whose browser this one shares; None where it gets a browser of its own."""
        if not BrowserSharing.can_share(self._request, self._start.options, self._provider):
            return None
        start = self._start
        sharing = BrowserSharing(self._request, start.options, headless=start.headless, turn=self._turn)
        start.waits_for = ": the browser that it shares is still starting"
        host = sharing.join_browser(start.check)
        start.waits_for = ""
        self._undo.session.callback(self._give_up_browser)
        if host is not None:
            with Chromium(debugger_address(host.capabilities), name=host.id) as browser:
                patience = Deadline(min(_OTHER_PAGES, start.deadline.seconds_left))
                wait_until_responsive(browser, browser.tabs(), patience)
        return host

    def _request_endpoint(self, host: SessionRecord | None) -> RequestedEndpoint:
        """Ask the provider where to create the session and with which capabilities."""
        start, provider = self._start, self._provider
        for model in (self._request, start.options):
            self._files.check_hosts(model)
        endpoint = provider.endpoint(start) if host is None else provider.context(start, host)
        shown = without_path if endpoint.secret else without_credentials
        facts = {"remote_url": shown(endpoint.remote_url), "secret": endpoint.secret}
        give_back = functools.partial(provider.ended, self._turn.record.with_changes(**facts), start.settings)
        self._undo.provider.callback(ignoring_errors, give_back)
        start.check()
        return RequestedEndpoint(endpoint, facts, give_back)

    def _create_when_free(self, requested: RequestedEndpoint) -> CreatedSession:
        """Create the session, once its device is free if the start waits for devices."""
        while True:
            try:
                return self._create_session(requested)
            except DeviceBusy:
                if not self._start.wait_for_device():
                    raise

    def _create_session(self, requested: RequestedEndpoint) -> CreatedSession:
        """Send New Session, and wait for the answer."""
        endpoint, provider = requested.endpoint, self._provider
        for secret in endpoint.secrets:
            self._connector.hide(secret.get_secret_value())
        if endpoint.secret:
            self._connector.hide_path(endpoint.remote_url)
        remote = self._connector.make_remote_at(endpoint.remote_url, "", name=self._start.session_id)
        given_up = functools.partial(provider.given_up, endpoint) if endpoint.hang_up else None
        seconds = self._start.deadline.seconds_left
        creation = NewSessionRequest(remote, endpoint.capabilities, seconds, given_up, over=requested.give_back)
        self._start.waits_for = f": {remote.shown} did not answer the request for a session"
        try:
            capabilities = creation.send_and_wait(self._make_waiting_check(endpoint))
        except StartFailed as error:
            error.message = self._connector.redact(error.message)  # the record keeps it
            error.hint = f"{error.hint} {provider.advice(endpoint, error.message)}".strip()
            raise
        except ProviderAuth as error:
            error.hint = provider.advice(endpoint, error.message) or error.hint
            raise
        finally:
            if creation.is_abandoned:
                # A session may still come of the request: the provider is notified once that is over, and not before.
                self._undo.provider.pop_all()
        self._start.waits_for = f": {remote.url} was slow to prepare the session"
        remote.deadline = self._start.deadline
        if self._turn.record.instance is None:
            self._undo.session.callback(self._end_session, remote)
        facts = {"remote_session_id": remote.remote_session_id, "capabilities": self._connector.redact(capabilities)}
        return CreatedSession(remote, {**requested.facts, **facts})

    def _make_waiting_check(self, endpoint: Endpoint) -> Callable[[], None]:
        """Return the check that is made again and again while New Session is unanswered."""
        start = self._start
        ask_at = time.monotonic() + _WAITING

        def check() -> None:
            nonlocal ask_at
            start.check()
            if time.monotonic() >= ask_at:
                if text := self._provider.waiting(start, endpoint):
                    start.tell(text)
                    start.waits_for = f": {text}"
                ask_at = time.monotonic() + _WAITING

        return check

    def _add_provider_facts(self, session: CreatedSession) -> CreatedSession:
        """Ask the provider for the processes of the session, and what else it knows about it."""
        started = self._provider.started(self._turn.record.with_changes(**session.facts), self._start)
        self.warnings = started.warnings
        for process in started.processes:
            self._start.record_process(process)
        facts = {"remote_end": self._connector.redact(started.remote_end), "keep_alive": started.keep_alive}
        return replace(session, facts={**session.facts, **facts})

    def _place_in_browser(self, session: CreatedSession, host: SessionRecord | None) -> CreatedSession:
        """Place the session in a browser that others can share from now on, even if this start fails later."""
        remote, facts = session.remote, session.facts
        if host is not None:
            # A driver reports less about a browser that runs already; and BiDi is the first session's.
            reported = {name: value for name, value in facts["capabilities"].items() if value}
            facts = {**facts, "capabilities": {**host.capabilities, **reported}}
        record = self._turn.record.with_changes(**facts)
        self._undo_in_browser(record, remote)
        place, handle = settle_in_browser(record, host, self._request, remote)
        self._undo_in_browser(record.with_changes(**place), remote)
        self._turn.write(**facts, **place)
        if host is not None:
            remote.execute("switchToWindow", handle=handle)
        return CreatedSession(remote, {**facts, **place}, handle)

    def _prepared_fields(self, session: CreatedSession) -> dict[str, Any]:
        remote = session.remote
        if self._request.type is not SessionType.BROWSER:
            return {"context": remote.context()}
        if self._request.mode == "attached":
            return adopt_open_tabs(remote, self._request, session.facts["capabilities"])
        record = self._turn.record
        bidi = self._connector.bidi(record)
        try:
            return prepare_first_tab(remote, bidi, self._request, record, session.handle)
        finally:
            if bidi is not None:
                bidi.close()

    def _end_session(self, remote: Remote) -> None:
        # A local browser ends with its driver; an app server has to clean up on its device.
        is_local_browser = self._request.type is SessionType.BROWSER and not self._turn.record.is_remote
        if not is_local_browser:
            ignoring_errors(remote.delete, _REMOTE_END)

    def _undo_in_browser(self, record: SessionRecord, remote: Remote) -> None:
        """Replace the undo callback by one that ends the session in the browser of this record."""
        self._undo.session.pop_all()
        self._undo.session.callback(self._give_up_browser, record, remote)

    def _give_up_browser(self, placed: SessionRecord | None = None, remote: Remote | None = None) -> None:
        """End the browser, unless other sessions share it by now: then end this session in it."""
        record = placed or self._turn.record
        needed_folders = self._turn.release_browser()
        if needed_folders.isdisjoint(process.folder for process in record.processes):
            processes.end_processes(record.processes)
            return
        self._undo.folder.pop_all()
        ignoring_errors(leave_browser, record, remote, _REMOTE_END)
