"""The connections to remote ends that this process keeps from call to call, one a session."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from orchestrator.automation.downloads import DownloadFetcher
from orchestrator.automation.scripting.pool import WorldPool
from orchestrator.errors import OrchestratorError
from orchestrator.models import browser_support
from orchestrator.models.session import SessionRecord, SessionType
from orchestrator.network import har
from orchestrator.network.interception import Traffic
from orchestrator.sessions.connector import Connector
from orchestrator.sessions.store.sqlite import SqliteStore
from orchestrator.settings import Settings
from orchestrator.snapshot.native.screen import Screen
from orchestrator.snapshot.web.page import PageEngine
from orchestrator.snapshot.web.world import PageWorld
from orchestrator.system.secrets import Redactor
from orchestrator.webdriver.chromium import BrowserConnection
from orchestrator.webdriver.devtools import debugger_address
from orchestrator.webdriver.events.subscriptions import EventSubscriptions
from orchestrator.webdriver.remote import Remote

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


def _has_isolated_worlds(record: SessionRecord) -> bool:
    """Return False for browsers that have none; others refuse if they have none, such as Safari's web views."""
    name = browser_support.normalize_browser_name(record.capabilities.get("browserName"))
    return name in browser_support.CHROMIUM or record.type is SessionType.ANDROID


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
        find_devtools: Finds the URL of the browser's own socket; None without a way to it.
        downloads: The downloads that were reported.
        needs_resync: True until the first call: another process may have left the session inside a frame.
    """

    record: SessionRecord
    remote: Remote
    page: PageEngine
    refs: RefBlock
    subscriptions: EventSubscriptions
    traffic: Traffic
    browser_connection: BrowserConnection
    find_devtools: Callable[[], str] | None
    downloads: DownloadFetcher
    needs_resync: bool

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
        needs_resync: bool = False,
    ) -> Self:
        """Connect to a session through the client of its remote end, and begin to receive its events."""
        refs = RefBlock(store, record)
        bidi = connector.bidi(record)
        read_record = functools.partial(store.get, record.namespace, record.id)
        connection = cls(
            record=record,
            remote=remote,
            page=PageEngine(PageWorld(remote, bidi, isolated=_has_isolated_worlds(record)), refs),
            refs=refs,
            subscriptions=EventSubscriptions(bidi, redactor),
            traffic=Traffic(connector.cdp(record), read_record, settings.home, redactor.data),
            browser_connection=BrowserConnection(debugger_address(record.capabilities), name=record.id),
            find_devtools=connector.make_devtools_finder(record),
            downloads=DownloadFetcher(),
            needs_resync=needs_resync,
        )
        connection.subscriptions.start_listening()
        return connection

    @functools.cached_property
    def screen(self) -> Screen:
        """The screens of an app session."""
        return Screen(self.remote, self.record.type, self.refs)

    def close(self) -> None:
        """Close every socket; the session itself goes on."""
        self.traffic.close()
        self.subscriptions.close()
        self.browser_connection.close()
        self.remote.close()


class Connections:
    """The open connections of this process by remote session id, and the script worlds that end with their sessions."""

    def __init__(
        self, *, store: SqliteStore, connector: Connector, worlds: WorldPool, settings: Settings, redactor: Redactor
    ) -> None:
        self._store = store
        self._connector = connector
        self._worlds = worlds
        self._settings = settings
        self._redactor = redactor
        self._open: dict[str, SessionConnection] = {}

    def get(self, record: SessionRecord, remote: Remote | None = None) -> SessionConnection:
        """Return the open connection of a session, or open one, through `remote` where it is given."""
        connection = self._open.get(record.remote_session_id)
        if connection is None:
            connection = self.add(record, remote or self._connector.make_remote(record), needs_resync=True)
        return connection

    def add(self, record: SessionRecord, remote: Remote, *, needs_resync: bool = False) -> SessionConnection:
        """Open the connection of a session that was just started, attached or started again."""
        self.drop(record)  # that of a session which was lost, and is attached once more
        self._forget_closed_sessions(record.namespace)
        connection = self._open[record.remote_session_id] = SessionConnection.open(
            record,
            remote,
            store=self._store,
            connector=self._connector,
            settings=self._settings,
            redactor=self._redactor,
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

    def _forget_closed_sessions(self, namespace: str) -> None:
        """Forget sessions that another process has closed or started again."""
        with suppress(OrchestratorError):
            open_before = [*self._open.values()]  # in this order: the records are newer than these
            records = {record.id: record for record in self._store.list_open(namespace)}
            for connection in open_before:
                record = records.get(connection.record.id)
                if record is None:
                    self.forget(connection.record)
                # While a session starts, its record does not name its remote session yet.
                elif record.remote_session_id not in {"", connection.record.remote_session_id}:
                    self.drop(connection.record)
