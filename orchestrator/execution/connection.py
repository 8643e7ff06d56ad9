"""The connections to remote ends that this process keeps from call to call, one a session."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Self

from orchestrator.automation.browser.permissions import origin_states
from orchestrator.automation.downloads import DownloadFetcher, download_folder
from orchestrator.automation.scripting.pool import WorldPool
from orchestrator.errors import OrchestratorError
from orchestrator.models import browser_support
from orchestrator.models.session import APPS, SessionRecord, SessionType
from orchestrator.network import har
from orchestrator.network.interception import Traffic
from orchestrator.sessions.connector import Connector
from orchestrator.sessions.store.sqlite import SqliteStore
from orchestrator.sessions.turn import Turn
from orchestrator.settings import Settings
from orchestrator.snapshot.native.screen import Screen
from orchestrator.snapshot.web.page import EngineWorld, PageEngine
from orchestrator.snapshot.web.sandbox_world import SandboxWorld
from orchestrator.snapshot.web.world import PageWorld
from orchestrator.system.file_access import FileAccess
from orchestrator.system.redaction.session_redactor import SessionRedactor
from orchestrator.system.secrets import Redactor
from orchestrator.webdriver.bidi import Bidi
from orchestrator.webdriver.chromium import BrowserConnection
from orchestrator.webdriver.devtools import debugger_address
from orchestrator.webdriver.events.download_quota import DownloadQuota
from orchestrator.webdriver.events.subscriptions import EventSubscriptions
from orchestrator.webdriver.remote import Remote

_LOOKS = 4
"""Looks at a page that fit into the time of a command: before an action, at an element, and at what it changed."""
_REFS_AT_ONCE = 500
"""Ref numbers that a process reserves at a time: whatever happens to it, none is given twice."""


class RefBlock:
    """Ref numbers of one session that only this process may give out."""

    def __init__(self, store: SqliteStore, record: SessionRecord) -> None:
        self._store = store
        self._record = record
        self.next = 0
        self.end = 0

    def reserve(self, n: int) -> None:
        """Reserve at least `n` further numbers; the rest of the old ones is given up."""
        self.next, self.end = self._store.reserve_refs(self._record.namespace, self._record.id, max(n, _REFS_AT_ONCE))


def _choose_world(record: SessionRecord, remote: Remote, bidi: Bidi | None) -> EngineWorld:
    """Return the world of the page engine: one that the page has no access to, where the browser has such."""
    if bidi is not None and browser_support.is_firefox(record.capabilities):
        return SandboxWorld(remote, bidi)
    # Others refuse if they have none, such as Safari's web views.
    name = browser_support.normalize_browser_name(record.capabilities.get("browserName"))
    isolated = name in browser_support.CHROMIUM or record.type is SessionType.ANDROID
    return PageWorld(remote, bidi, isolated=isolated)


@dataclass
class SessionConnection:
    """The connection to a session's remote end. It is a cache: the record is enough to open it anew.

    Attributes:
        record: The record as it was when the connection was opened.
        remote: The client of the remote end.
        page: The page engine.
        refs: The ref numbers of its elements.
        subscriptions: The events of the session.
        traffic: Routes and recording of its requests.
        browser_connection: The browser's DevTools, for tabs and windows.
        redactor: Masks secrets in what the session shows.
        find_devtools: Finds the URL of the browser's own socket; None without a way to it.
        downloads: The downloads that were reported.
        needs_resync: True until the first call: another process may have left the session inside a frame.
        pointer: The point to which the pointer was moved last.
    """

    record: SessionRecord
    remote: Remote
    page: PageEngine
    refs: RefBlock
    subscriptions: EventSubscriptions
    traffic: Traffic
    browser_connection: BrowserConnection
    redactor: SessionRedactor
    find_devtools: Callable[[], str] | None
    downloads: DownloadFetcher
    needs_resync: bool
    pointer: tuple[int, int] | None = None

    @classmethod
    def open(
        cls,
        record: SessionRecord,
        remote: Remote,
        *,
        store: SqliteStore,
        connector: Connector,
        settings: Settings,
        redactor: Redactor,
        files: FileAccess,
        needs_resync: bool = False,
    ) -> Self:
        """Connect to a session through the client of its remote end, and begin to receive its events."""
        refs = RefBlock(store, record)
        bidi, is_firefox = connector.bidi(record), browser_support.is_firefox(record.capabilities)
        session_redactor = SessionRedactor(redactor, settings.home, record.typed)
        read_record = functools.partial(store.get, record.namespace, record.id)
        connection = cls(
            record=record,
            remote=remote,
            page=PageEngine(_choose_world(record, remote, bidi), refs, look=settings.command_timeout / _LOOKS),
            refs=refs,
            subscriptions=EventSubscriptions(bidi, session_redactor, by_origin=is_firefox),
            traffic=Traffic(
                connector.cdp(record),
                bidi if is_firefox else None,
                read_record,
                settings.home,
                session_redactor,
                files,
            ),
            browser_connection=BrowserConnection(debugger_address(record.capabilities), name=record.id),
            redactor=session_redactor,
            find_devtools=connector.make_devtools_finder(record),
            downloads=DownloadFetcher(),
            needs_resync=needs_resync,
        )
        if record.owned and not record.is_remote:
            folder, address = download_folder(record, settings), debugger_address(record.capabilities)
            quota = DownloadQuota(folder, settings.downloads_max, address, record.id)
            connection.subscriptions.downloads.quota = quota
        if connection.subscriptions.origin_permissions is not None:
            connection.subscriptions.origin_permissions.expect(origin_states(record))
        connection.subscriptions.start_listening()
        return connection

    @functools.cached_property
    def screen(self) -> Screen:
        """The screens of an app session."""
        return Screen(self.remote, self.record.type, self.refs)

    @contextmanager
    def sharing_refs(self, turn: Turn) -> Iterator[None]:
        """Know the refs that other processes gave on an app's screens, and record those that the block gives.

        Refs in a page need no record: the page has their numbers.
        """
        self.page.begin_call(turn.caller.key)
        if turn.record.type not in APPS:
            yield
            return
        self.screen.begin_call(turn.caller.key)
        self.screen.restore_refs(turn.record.screen_refs)
        try:
            yield
        finally:
            packed = self.screen.pack_refs()
            if packed != turn.record.screen_refs:
                turn.change(screen_refs=packed)

    def close(self) -> None:
        """Close every socket; the session itself goes on."""
        self.traffic.close()
        self.subscriptions.close()
        self.browser_connection.close()
        self.remote.close()


class Connections:
    """The open connections of this process by remote session id, and the script worlds that end with their sessions."""

    def __init__(
        self,
        *,
        store: SqliteStore,
        connector: Connector,
        worlds: WorldPool,
        settings: Settings,
        redactor: Redactor,
        files: FileAccess,
    ) -> None:
        self._store = store
        self._connector = connector
        self._worlds = worlds
        self._settings = settings
        self._redactor = redactor
        self._files = files
        self._open: dict[str, SessionConnection] = {}
        self._known: list[SessionConnection] = []

    def get(self, record: SessionRecord, remote: Remote | None = None) -> SessionConnection:
        """Return the open connection of a session, or open one, through `remote` where it is given."""
        connection = self._open.get(record.remote_session_id)
        if connection is None:
            connection = self.add(record, remote or self._connector.make_remote(record), needs_resync=True)
        return connection

    def add(self, record: SessionRecord, remote: Remote, *, needs_resync: bool = False) -> SessionConnection:
        """Open the connection of a session that was just started, attached or started again."""
        self.drop(record)  # that of a session which was lost, and is attached once more
        with suppress(OrchestratorError):
            open_before = [*self._open.values()]  # in this order: the records are newer than these
            self._drop_others(open_before, self._store.list_open(record.namespace))
        connection = self._open[record.remote_session_id] = SessionConnection.open(
            record,
            remote,
            store=self._store,
            connector=self._connector,
            settings=self._settings,
            redactor=self._redactor,
            files=self._files,
            needs_resync=needs_resync,
        )
        return connection

    def drop(self, record: SessionRecord) -> None:
        """Close the connection of a session, which no call may be using; the next call opens it anew."""
        connection = self._open.pop(record.remote_session_id, None)
        if connection is not None:
            connection.close()

    def forget(self, record: SessionRecord) -> None:
        """Close the connection of a session that ends, and its script world."""
        self.drop(record)
        self._worlds.forget(record.id)

    def write_recording(self, record: SessionRecord) -> str:
        """Write the HAR of a session that is being closed; a sentence about it, empty without a recording."""
        connection = self._open.get(record.remote_session_id)
        return har.finish_recording(record, self._settings.home, connection.traffic.drain() if connection else ())

    def close(self) -> None:
        """Close all connections; the sessions themselves go on."""
        while self._open:
            self._open.popitem()[1].close()

    def keep_only(self, records: Collection[SessionRecord]) -> None:
        """Close the connections of sessions that another process has closed or started again.

        Only those are looked at that were open at the last pass already: the records are newer than these.
        """
        known, self._known = self._known, [*self._open.values()]
        self._drop_others(known, records)

    def _drop_others(self, known: Iterable[SessionConnection], records: Collection[SessionRecord]) -> None:
        by_id = {record.id: record for record in records}
        for connection in known:
            record = by_id.get(connection.record.id)
            if self._open.get(connection.record.remote_session_id) is not connection:
                continue
            # While a session starts, its record does not name its remote session yet.
            if record is None or record.remote_session_id not in {"", connection.record.remote_session_id}:
                self.drop(connection.record)
