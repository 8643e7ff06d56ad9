"""Read a browser's cookies and storage, and restore them in another browser."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

from orchestrator.automation.browser.shared_browser import find_own_handles
from orchestrator.errors import RemoteFailure
from orchestrator.models import browser_support
from orchestrator.models.session import SessionRecord
from orchestrator.models.storage_state import StorageState, StoredCookie, StoredItem, StoredOrigin, origin_of
from orchestrator.sessions.connector import Connector
from orchestrator.webdriver.bidi import Bidi
from orchestrator.webdriver.bidi_cookies import BidiCookies
from orchestrator.webdriver.remote import Remote
from orchestrator.webdriver.storage import empty_tab
from orchestrator.webdriver.storage.empty_tab import EmptyTab
from orchestrator.webdriver.storage.origin_storage import OriginStorage
from orchestrator.webdriver.storage.storage_script import DATABASE_CHARACTERS, OriginReading

_MOST = 100
"""Origins that are read: each takes a tenth of a second."""
_MOST_LEFT = 10
"""Origins that tabs have left that are read beside the calls."""
_SNAPSHOT_CHARACTERS = 2_000_000
"""Characters of JSON that the databases of an origin may have to be saved beside the calls."""
_OF_PAGE = "try { return [location.origin, Object.entries(localStorage)] } catch { return ['null', []] }"
"""Pages such as those of `data:` have no storage."""
_COOKIE = ("name", "value", "domain", "path", "secure", "httpOnly", "sameSite")


class BrowserStorage:
    """The storage of a browser session.

    In Chromium, storage is read by CDP, in Firefox by BiDi; other browsers offer the current page's only. Cookies are
    read by the CDP domain Network: the domain Storage reads those of the default context, whatever the tab.

    Source: https://chromedevtools.github.io/devtools-protocol/ (Network);
    https://www.w3.org/TR/webdriver-bidi/ (storage); W3C WebDriver, Get All Cookies.

    Args:
        remote: The session's client; commands go to its current tab.
        record: The session's record.
        devtools: Returns the URL of the browser's DevTools socket, for other tabs, and origins that are not open.
        bidi: The session's BiDi; None without a socket.
    """

    def __init__(
        self, remote: Remote, record: SessionRecord, devtools: Callable[[], str] | None, bidi: Bidi | None
    ) -> None:
        self._remote = remote
        self._devtools = devtools
        self._record = record
        browser = browser_support.normalize_browser_name(record.capabilities.get("browserName"))
        self._chromium = browser in browser_support.CHROMIUM
        self._bidi = bidi if browser == "firefox" else None

    def read_all(self, origins: Iterable[str]) -> tuple[StorageState, list[str]]:
        """Read all cookies, and the storage of the open pages, of these origins and, in Chromium, of the tabs' history.

        Session storage, which belongs to a tab, is left out. Returns the state, and a warning for each missing part.

        Raises:
            OrchestratorError: The browser did not answer.
        """
        if self._bidi is not None:
            found = _OriginsRead()
            for context in self._contexts():
                found.add(self._read_context(context, DATABASE_CHARACTERS))
            self._read_origins_by_bidi(found, [origin for origin in dict.fromkeys(origins) if origin])
            cookies = BidiCookies(self._bidi).read([*found.origins])
        elif self._chromium:
            found = self._read_chromium(origins)
            cookies = self._cookies()
        else:
            state = StorageState(cookies=tuple(self._cookies_of_page()), origins=tuple(self._storage_of_page()))
            return state, ["This browser reveals the cookies and storage of the current page only."]
        without_session = [stored.model_copy(update={"session_storage": ()}) for stored in found.origins.values()]
        return StorageState(cookies=cookies).with_origins(without_session), found.warnings

    def read_snapshot(self, saved: StorageState, marks: dict[str, int]) -> StorageState:
        """Read what a fresh browser needs if this one dies: cookies, and the storage of all tabs, session storage too.

        Args:
            saved: The last snapshot: what it has of origins that are not open any more stays.
            marks: The last entry that was seen in the history of each tab, by its handle; brought up to date. Origins
                that a tab has left since then are read in the background.

        Raises:
            OrchestratorError: The browser did not answer.
        """
        found = _OriginsRead()
        if self._bidi is not None:
            for context in self._contexts():
                found.add(self._read_context(context, _SNAPSHOT_CHARACTERS))
            cookies = BidiCookies(self._bidi).read([*found.origins])
        elif not self._chromium:
            return StorageState(cookies=tuple(self._cookies_of_page()), origins=tuple(self._storage_of_page()))
        else:
            cookies = self._cookies()
            if url := self._find_devtools():
                with self._connected(url) as storage:
                    self._read_tabs(storage, found, saved, marks)
            else:
                found.add(self._read_current())
        return StorageState(cookies=cookies, origins=saved.origins).with_origins(found.origins.values())

    def restore(self, state: StorageState) -> None:
        """Write the state to the browser, without loading any page.

        Raises:
            OrchestratorError: The browser did not accept it.
        """
        shared = [entry for entry in state.origins if entry.local_storage or entry.indexed_db]
        if shared:
            with self._open_storage() as storage:
                for entry in shared:
                    storage.write(entry)
        # After the storage: Firefox does not intercept requests with some cookies that are not ASCII.
        if self._bidi is not None:
            BidiCookies(self._bidi).write(state.cookies)
        elif state.cookies:
            self._remote.cdp("Network.setCookies", cookies=[_to_cdp(cookie) for cookie in state.cookies])

    def restore_session_storage(self, state: StorageState) -> None:
        """Write the session storage of a snapshot to the current tab, which has no page yet, without loading any.

        Raises:
            OrchestratorError: The browser did not accept it.
        """
        stored = [(entry.origin, entry.session_storage) for entry in state.origins if entry.session_storage]
        if not stored:
            return
        if self._bidi is not None:
            with EmptyTab.within(self._bidi, self._current_tab()) as tab:
                tab.write_session(stored)
        else:
            with self._connected(self._require_devtools()) as storage:
                storage.write_session(stored)

    def list_tabs_with_page(self) -> set[str]:
        """Return the handles of the tabs that show a page, of all sessions in the browser.

        Raises:
            OrchestratorError: The browser did not answer.
        """
        if self._bidi is not None:
            contexts = self._bidi.call("browsingContext.getTree", maxDepth=0)["contexts"]
            pages = {context["context"]: context["url"] for context in contexts}
        else:
            targets = self._remote.cdp("Target.getTargets")["targetInfos"]
            pages = {target["targetId"]: target["url"] for target in targets}
        return {handle for handle, url in pages.items() if url != "about:blank"}

    # Chromium

    def _read_chromium(self, origins: Iterable[str]) -> _OriginsRead:
        """Read the open pages, and in the background these origins and those in the tabs' history."""
        found = _OriginsRead()
        url = self._find_devtools()
        if not url:
            found.add(self._read_current())
            history = self._remote.cdp("Page.getNavigationHistory")["entries"]
            wanted = dict.fromkeys((*origins, *(origin_of(entry["url"]) for entry in history)))
            found.miss(wanted, "The browser's DevTools cannot be reached.")
            return found
        with self._connected(url) as storage:
            visited: list[str] = []
            for tab in self._own_tabs(storage):
                with suppress(RemoteFailure):  # it hangs, or was closed meanwhile: its origin is read as others are
                    visited += [entry for _, entry in storage.history(tab)]
                    found.add(storage.read_tab(tab, DATABASE_CHARACTERS))
            _read_others(storage, found, (*origins, *map(origin_of, visited)))
        return found

    def _read_tabs(
        self, storage: OriginStorage, found: _OriginsRead, saved: StorageState, marks: dict[str, int]
    ) -> None:
        """Read the open pages, and in the background the origins that they left since the last snapshot."""
        before = {stored.origin: stored for stored in saved.origins}
        left: list[str] = []
        tabs = self._own_tabs(storage)
        for tab in [tab for tab in marks if tab not in tabs]:
            del marks[tab]
        for tab in tabs:
            with suppress(RemoteFailure):  # it hangs, or was closed meanwhile: the last snapshot of it stays
                history, known = storage.history(tab), marks.get(tab, -1)
                found.add(storage.read_tab(tab, _SNAPSHOT_CHARACTERS))
                left += [origin_of(url) for number, url in history if number > known]
                marks[tab] = max((number for number, _ in history), default=known)
        for reading in _read_others(storage, _OriginsRead({**found.origins}), left, most=_MOST_LEFT):
            former = before.get(reading.stored.origin)
            kept = former.session_storage if former else ()
            found.add(OriginReading(reading.stored.model_copy(update={"session_storage": kept}), []))

    def _own_tabs(self, storage: OriginStorage) -> list[str]:
        """The handles of the session's tabs, the last used one at the end."""
        record = self._record
        used = [tab.handle for name in record.tabs_used for tab in record.tabs if tab.name == name]
        handles = find_own_handles(storage.tabs(), record)
        return sorted(handles, key=lambda handle: used.index(handle) if handle in used else -1)

    def _read_current(self) -> OriginReading | None:
        """The local storage of the current page; None if the page may have none."""
        return next((OriginReading(stored, []) for stored in self._storage_of_page()), None)

    def _cookies(self) -> tuple[StoredCookie, ...]:
        return tuple(_from_cdp(cookie) for cookie in self._remote.cdp("Network.getAllCookies")["cookies"])

    def _current_tab(self) -> str:
        return str(self._remote.execute("w3cGetCurrentWindowHandle"))

    def _find_devtools(self) -> str:
        """The URL of the browser's DevTools socket; empty where it cannot be reached."""
        try:
            return self._devtools() if self._devtools else ""
        except OSError:
            return ""

    def _require_devtools(self) -> str:
        if url := self._find_devtools():
            return url
        raise RemoteFailure("The browser's DevTools cannot be reached.", error="unknown error")

    def _connected(self, url: str) -> AbstractContextManager[OriginStorage]:
        return OriginStorage.connected(url, self._current_tab(), name=self._record.id)

    def _open_storage(self) -> AbstractContextManager[OriginStorage | EmptyTab]:
        """Access to any origin's storage, by a page in the background."""
        if self._bidi is not None:
            return EmptyTab.opened(self._bidi)
        return self._connected(self._require_devtools())

    # Firefox

    def _contexts(self) -> list[str]:
        """The browsing contexts of all tabs."""
        contexts = self._bidi.call("browsingContext.getTree", maxDepth=0)["contexts"] if self._bidi else []
        return [context["context"] for context in contexts]

    def _read_context(self, context: str, most: int) -> OriginReading | None:
        if self._bidi is None:
            return None
        try:
            return empty_tab.read_tab(self._bidi, context, most)
        except RemoteFailure:  # it hangs, or was closed meanwhile
            return None

    def _read_origins_by_bidi(self, found: _OriginsRead, origins: list[str]) -> None:
        wanted = [origin for origin in origins if origin not in found.origins]
        if not wanted:
            return
        try:
            with self._open_storage() as storage:
                _read_others(storage, found, wanted)
        except RemoteFailure as error:
            found.miss(wanted, error.message)

    # Any browser

    def _cookies_of_page(self) -> Iterator[StoredCookie]:
        for cookie in self._remote.execute("getCookies"):
            fields = {name: cookie[name] for name in _COOKIE if cookie.get(name) is not None}
            yield StoredCookie.model_validate({**fields, "expires": cookie.get("expiry", -1)})

    def _storage_of_page(self) -> Iterator[StoredOrigin]:
        origin, entries = self._remote.script_list(_OF_PAGE, 2)
        if origin_of(origin):
            items = tuple(StoredItem(name=name, value=value) for name, value in entries)
            yield StoredOrigin(origin=origin, local_storage=items)


@contextmanager
def connect_to_storage(remote: Remote, record: SessionRecord, connector: Connector) -> Iterator[BrowserStorage]:
    """Access a session's storage outside its calls, by sockets that are closed after the `with` block.

    Raises:
        ProviderAuth, ProviderFailure, InvalidArgument: As `Connector.make_remote`.
    """
    bidi = connector.bidi(record)
    try:
        yield BrowserStorage(remote, record, connector.make_devtools_finder(record), bidi)
    finally:
        if bidi is not None:
            bidi.close()


class _OriginsRead:
    """The origins that were read, and a sentence for each part that is missing."""

    def __init__(self, origins: Mapping[str, StoredOrigin] | None = None) -> None:
        self.origins: dict[str, StoredOrigin] = dict(origins or {})
        self.warnings: list[str] = []

    def add(self, reading: OriginReading | None) -> None:
        """Add an origin; its session storage is that of the last tab that has any."""
        if reading is None:
            return
        stored, former = reading.stored, self.origins.get(reading.stored.origin)
        if former and not stored.session_storage:
            stored = stored.model_copy(update={"session_storage": former.session_storage})
        if former is None:
            self.warnings += reading.warnings
        self.origins[stored.origin] = stored

    def miss(self, origins: Iterable[str], reason: str) -> None:
        """Note that origins could not be read, but for those that were."""
        missed = [origin for origin in origins if origin and origin not in self.origins]
        self.warnings += [f"The storage of {origin} is missing. {reason}" for origin in missed]


def _read_others(
    storage: OriginStorage | EmptyTab, found: _OriginsRead, origins: Iterable[str], *, most: int = _MOST
) -> list[OriginReading]:
    """Read origins that were not read yet in the background, add them, and return them."""
    wanted = [origin for origin in dict.fromkeys(origins) if origin and origin not in found.origins]
    readings = []
    for origin in wanted[:most]:
        try:
            readings.append(storage.read(origin))
            found.add(readings[-1])
        except RemoteFailure as error:
            found.miss([origin], error.message)
    found.miss(wanted[most:], "There are too many.")
    return readings


def _from_cdp(cookie: dict[str, Any]) -> StoredCookie:
    fields = {name: cookie[name] for name in _COOKIE if name in cookie}
    if partition := cookie.get("partitionKey"):
        fields |= {"partitionKey": partition["topLevelSite"], "cross_site": partition["hasCrossSiteAncestor"]}
    return StoredCookie.model_validate({**fields, "expires": cookie["expires"]})


def _to_cdp(cookie: StoredCookie) -> dict[str, Any]:
    fields = cookie.model_dump(by_alias=True, exclude={"partition_key", "cross_site"})
    if cookie.expires < 0:
        del fields["expires"]
    if cookie.partition_key:
        fields["partitionKey"] = {"topLevelSite": cookie.partition_key, "hasCrossSiteAncestor": cookie.cross_site}
    return fields
