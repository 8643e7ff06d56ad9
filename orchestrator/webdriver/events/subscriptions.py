"""Subscribes to the console, requests and downloads of a session, from its start on."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Any

from orchestrator.errors import NoAnswer, OrchestratorError
from orchestrator.models.storage_state import origin_of
from orchestrator.system.redaction.session_redactor import SessionRedactor
from orchestrator.webdriver.bidi import Bidi, Listener
from orchestrator.webdriver.events.allowance import Allowance
from orchestrator.webdriver.events.console import Console
from orchestrator.webdriver.events.downloads import DownloadEvents
from orchestrator.webdriver.events.navigations import Navigations, PendingNavigation
from orchestrator.webdriver.events.requests import RequestLog
from orchestrator.webdriver.events.topic import Topic
from orchestrator.webdriver.origin_permissions import OriginPermissions

_PICKERS = 20
"""File choosers, and questions of pages that are left, that are remembered until the next result reports them."""
_ORIGINS = 200
"""Origins of pages that are remembered."""
_PATIENCE = 2.0
"""Seconds that the first call of a session waits for the subscriptions."""
_BURST = 5_000
"""Events of the console, and events of requests, that pages may cause at once; a request has three."""
_RATE = 200
"""Events of each a second that they may cause for ever."""
_RARE_BURST, _RARE_RATE = 500, 5
"""The same for downloads and file choosers."""


class EventSubscriptions:
    """Events of a session that this process has received; another process receives its own from its first call on.

    Args:
        bidi: The session's BiDi connection; None if its remote end has none, then there are only pulled logs.
        redactor: Masks secrets in texts.
        by_origin: True for a browser that takes permissions for each origin alone.

    Attributes:
        origin_permissions: The permissions of the origins that pages go to; None where they are set for all at once.
        opened_pickers: File pickers that opened since the last result, as `input.fileDialogOpened` has them.
        leave_questions: Pages that asked whether they may be left (beforeunload), since the last result.
    """

    def __init__(self, bidi: Bidi | None, redactor: SessionRedactor, *, by_origin: bool = False) -> None:
        self.bidi = bidi
        self.console = Console(redactor)
        self.requests = RequestLog(redactor)
        self.downloads = DownloadEvents()
        self.navigations = Navigations()
        self.opened_pickers: deque[Mapping[str, Any]] = deque(maxlen=_PICKERS)
        self.leave_questions: deque[str] = deque(maxlen=_PICKERS)
        self.origin_permissions = OriginPermissions(bidi) if bidi is not None and by_origin else None
        self._visited: dict[str, None] = {}
        self.console_topic = self._topic(
            "console messages", {"log.entryAdded": self.console.handle_entry_added}, _BURST, _RATE
        )
        self.request_topic = self._topic(
            "requests",
            {
                "network.beforeRequestSent": self.requests.handle_before_request_sent,
                "network.responseStarted": self._note_answer,
                "network.responseCompleted": self._note_response,
                "network.fetchError": self._note_failure,
            },
            _BURST,
            _RATE,
        )
        self._navigation_topic = self._topic(
            "navigations of tabs",
            {
                "browsingContext.navigationStarted": self.navigations.handle_started,
                "browsingContext.navigationCommitted": self.navigations.handle_committed,
                "browsingContext.navigationFailed": self.navigations.handle_ended,
            },
            _BURST,
            _RATE,
        )
        self._optional_topics = self._list_optional_topics()
        self._lock = threading.Lock()
        self._subscribed = False
        self._subscribing: Future[None] | None = None
        self._setting_up: Future[None] | None = None
        self._resuming: Future[None] | None = None

    def start_listening(self) -> None:
        """Subscribe in a thread; a failure shows in the first call of `catch_up`."""
        if self.bidi is not None:
            self.bidi.on_open = self.console.expect_replay
            self._subscribe_soon()

    def do_soon(self, works: Iterable[Callable[[], None]]) -> None:
        """Do a part of the session's set-up in a thread, after subscribing; `wait_until_listening` raises its error."""
        subscribing = self._subscribing

        def set_up() -> None:
            if subscribing is not None:
                subscribing.result()
            for work in works:
                work()

        self._setting_up = _in_thread(set_up)

    def wait_until_listening(self) -> None:
        """Wait for what is left of the set-up, and a moment for the subscriptions, to receive the next call's events.

        After a break of the connection, subscribe again; so after a flood, once it is long enough ago.

        Raises:
            OrchestratorError: The set-up failed.
        """
        if self._subscribed and self.bidi is not None and not self.bidi.is_open:
            self._subscribe_soon()
        if self._subscribing is not None:
            wait([self._subscribing], _PATIENCE)
            self._subscribing = None
        if self._setting_up is not None:
            set_up, self._setting_up = self._setting_up, None
            set_up.result()
        if self._due_topics() and (self._resuming is None or self._resuming.done()):
            self._resuming = _in_thread(self._try_to_subscribe)  # not waited for: a driver may still be behind

    def pending_navigation(self, tab: str) -> PendingNavigation | None:
        """Return the navigation of a tab, by its handle, that its server has not answered yet, as far as is known."""
        return self.navigations.pending(tab) if self.knows_navigations else None

    @property
    def knows_navigations(self) -> bool:
        """True while the browser tells of the navigations of its tabs."""
        topic, bidi = self._navigation_topic, self.bidi
        return bidi is not None and bidi.is_open and bidi.hears(topic.events) and not topic.is_muted

    def visited_origins(self) -> list[str]:
        """Return the origins of pages that were shown, the last one first."""
        return [*reversed(self._visited)]

    def close(self) -> None:
        """Close the BiDi connection, which ends the events; what is left of the set-up is done before."""
        if self._setting_up is not None:
            wait([self._setting_up], _PATIENCE)
        if self.bidi is not None:
            self.bidi.close()

    def catch_up(self, limit: float | None = None) -> bool:
        """Wait until all events up to now were received; returns False if that takes more than `limit` seconds.

        A driver answers only after the session's classic command in flight, which may be another process's.

        Raises:
            NoAnswer: The remote end does not answer at the socket.
            RemoteFailure: The remote end does not know the events.
        """
        if self.bidi is None:
            return True
        if not self._subscribe(self.bidi, limit):
            return False
        try:
            # The answer comes in order, after the events before it.
            self.bidi.call("browsingContext.getTree", limit=limit, maxDepth=0)
        except NoAnswer:
            if limit is None or not self.bidi.is_open:
                raise
            return False
        return True

    def _subscribe_soon(self) -> None:
        self._subscribing = _in_thread(self._try_to_subscribe)

    def _try_to_subscribe(self) -> None:
        with suppress(OrchestratorError):
            if self.bidi is not None:
                self._subscribe(self.bidi)

    def _subscribe(self, bidi: Bidi, limit: float | None = None) -> bool:
        """Subscribe, or reconnect; returns False if another thread is still at it after `limit` seconds."""
        if not self._lock.acquire(timeout=-1 if limit is None else limit):
            return False
        try:
            if self._subscribed:
                if not bidi.is_open:
                    self.navigations.forget()
                bidi.connect()
                self._resume(bidi)
            else:
                required = self.console_topic.listeners, self.request_topic.listeners
                bidi.listen_all(*required, optional=[topic.listeners for topic in self._optional_topics])
                self._subscribed = True
        finally:
            self._lock.release()
        return True

    def _resume(self, bidi: Bidi) -> None:
        for topic in self._due_topics():
            if topic is self._navigation_topic:
                self.navigations.forget()
            bidi.unmute(topic.events)
            topic.note_resumed()

    def _due_topics(self) -> list[Topic]:
        topics = self.console_topic, self.request_topic, *self._optional_topics
        return [topic for topic in topics if topic.is_due]

    def _list_optional_topics(self) -> list[Topic]:
        """Return the topics that some browsers do not know."""
        downloads: Mapping[str, Listener] = {
            "browsingContext.downloadWillBegin": self._note_download,
            "browsingContext.downloadEnd": self.downloads.handle_end,
        }
        pages: Mapping[str, Listener] = {"browsingContext.domContentLoaded": self._note_page}
        # Firefox does not know it: there the request of an aborted navigation fails.
        aborted: Mapping[str, Listener] = {"browsingContext.navigationAborted": self.navigations.handle_ended}
        pickers: Mapping[str, Listener] = {"input.fileDialogOpened": self.opened_pickers.append}
        dialogs: Mapping[str, Listener] = {"browsingContext.userPromptOpened": self._note_dialog}
        errors: Mapping[str, Listener] = {"goog:cdp.Runtime.consoleAPICalled": self.console.handle_console_api_called}
        permissions = self.origin_permissions.listeners if self.origin_permissions else {}
        topics = [
            self._topic("downloads", downloads, _RARE_BURST, _RARE_RATE),
            self._topic("file choosers", pickers, _RARE_BURST, _RARE_RATE),
            self._topic("dialogs", dialogs, _RARE_BURST, _RARE_RATE),
            self._topic("pages", pages, _BURST, _RATE),
            self._navigation_topic,
            self._topic("aborted navigations", aborted, _BURST, _RATE),
            self._topic("logged errors", errors, _BURST, _RATE),
        ]
        return [*topics, self._topic("navigations", permissions, _BURST, _RATE)] if permissions else topics

    def _note_answer(self, event: Mapping[str, Any]) -> None:
        self.requests.handle_response(event)
        self.navigations.handle_answer(event)

    def _note_response(self, event: Mapping[str, Any]) -> None:
        self.requests.handle_response(event)
        self.downloads.handle_response(event)

    def _note_failure(self, event: Mapping[str, Any]) -> None:
        self.requests.handle_fetch_error(event)
        self.navigations.handle_ended(event)

    def _note_download(self, event: Mapping[str, Any]) -> None:
        self.navigations.handle_ended(event)
        self.downloads.handle_will_begin(event)

    def _note_page(self, event: Mapping[str, Any]) -> None:
        self.navigations.handle_committed(event)
        if origin := origin_of(event["url"]):
            self._visited.pop(origin, None)
            self._visited[origin] = None
            if len(self._visited) > _ORIGINS:
                del self._visited[next(iter(self._visited))]

    def _note_dialog(self, event: Mapping[str, Any]) -> None:
        """Keep the one kind of dialog that the driver answers by itself, so that no command is met by it."""
        if event["type"] == "beforeunload":
            self.leave_questions.append(event["context"])

    def _topic(self, name: str, listeners: Mapping[str, Listener], burst: int, rate: int) -> Topic:
        bidi = self.bidi
        return Topic(name, listeners, Allowance(burst, rate), bidi.mute if bidi else lambda _: None)


def _in_thread(work: Callable[[], None]) -> Future[None]:
    """Do it in a thread that keeps no process from ending."""
    done: Future[None] = Future()

    def run() -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - it is for whoever asks for the result
            done.set_exception(error)
        else:
            done.set_result(None)

    threading.Thread(target=run, name="bidi-events", daemon=True).start()
    return done
