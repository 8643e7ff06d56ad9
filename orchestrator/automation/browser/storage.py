"""Read a browser's cookies and local storage, and restore them in another browser."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from orchestrator.errors import RemoteFailure
from orchestrator.models import browser_support
from orchestrator.models.session import SessionRecord
from orchestrator.models.storage_state import StorageState, StoredCookie, StoredItem, StoredOrigin, origin_of
from orchestrator.webdriver.origin_storage import OriginStorage, storage_id
from orchestrator.webdriver.remote import Remote

_MOST = 100
"""Origins that are read: each takes a tenth of a second."""
_OF_PAGE = "return [location.origin, Object.entries(localStorage)]"
_COOKIE = ("name", "value", "domain", "path", "secure", "httpOnly", "sameSite")


class BrowserStorage:
    """The storage of a browser session.

    In Chromium, storage is read by CDP without involving pages; other browsers offer the current page's only. Cookies
    are read by the CDP domain Network: the domain Storage reads those of the default context, whatever the tab.

    Source: https://chromedevtools.github.io/devtools-protocol/ (Network, DOMStorage); W3C WebDriver, Get All Cookies.

    Args:
        remote: The session's client; commands go to its current tab.
        record: The session's record.
        devtools: Returns the URL of the browser's DevTools socket, for origins that are not open.
    """

    def __init__(self, remote: Remote, record: SessionRecord, devtools: Callable[[], str] | None) -> None:
        self._remote = remote
        self._devtools = devtools
        self._name = record.id
        self._chromium = (
            browser_support.normalize_browser_name(record.capabilities.get("browserName")) in browser_support.CHROMIUM
        )

    def read_visible(self) -> StorageState:
        """Read all cookies and the storage of the current page's origin; of other browsers, the current page's cookies.

        Raises:
            OrchestratorError: The browser did not answer.
        """
        if not self._chromium:
            return StorageState(cookies=tuple(self._cookies_of_page()), origins=tuple(self._storage_of_page()))
        cookies = tuple(_from_cdp(cookie) for cookie in self._remote.cdp("Network.getAllCookies")["cookies"])
        frame = self._remote.cdp("Page.getFrameTree")["frameTree"]["frame"]
        origin = origin_of(frame.get("securityOrigin", ""))
        return StorageState(cookies=cookies, origins=(self._read_open_origin(origin),) if origin else ())

    def read_all(self, origins: Iterable[str]) -> tuple[StorageState, list[str]]:
        """Read all cookies, and the storage of these origins and of those in the current tab's history.

        Returns the state, and a warning for each missing part.

        Raises:
            OrchestratorError: The browser did not answer.
        """
        visible = self.read_visible()
        if not self._chromium:
            return visible, ["This browser reveals the cookies and storage of the current page only."]
        visited = [entry["url"] for entry in self._remote.cdp("Page.getNavigationHistory")["entries"]]
        known = {entry.origin for entry in visible.origins}
        candidates = dict.fromkeys((*origins, *map(origin_of, visited)))
        wanted = [origin for origin in candidates if origin and origin not in known]
        stored, missed = self._read_origins(wanted[:_MOST]) if wanted else ([], {})
        missed |= dict.fromkeys(wanted[_MOST:], "There are too many.")
        warnings = [f"The storage of {origin} is missing. {reason}" for origin, reason in missed.items()]
        return visible.with_origins(stored), warnings

    def restore(self, state: StorageState) -> None:
        """Write the state to the browser, without loading any page.

        Raises:
            OrchestratorError: The browser did not accept it.
        """
        if state.cookies:
            self._remote.cdp("Network.setCookies", cookies=[_to_cdp(cookie) for cookie in state.cookies])
        if state.origins:
            with self._open_storage() as storage:
                for entry in state.origins:
                    storage.write(entry.origin, ((item.name, item.value) for item in entry.local_storage))

    def _read_open_origin(self, origin: str) -> StoredOrigin:
        """The storage of the current page's origin; empty if the page may have none."""
        try:
            entries = self._remote.cdp("DOMStorage.getDOMStorageItems", storageId=storage_id(origin))["entries"]
        except RemoteFailure:
            entries = []
        return _origin(origin, entries)

    def _read_origins(self, origins: list[str]) -> tuple[list[StoredOrigin], dict[str, str]]:
        """The storage of origins that are not open, and the errors of those that could not be read."""
        stored, missed = [], {}
        try:
            with self._open_storage() as storage:
                for origin in origins:
                    try:
                        stored.append(_origin(origin, storage.read(origin)))
                    except RemoteFailure as error:
                        missed[origin] = error.message
        except RemoteFailure as error:
            missed = dict.fromkeys(origins, error.message)
        return stored, missed

    def _open_storage(self) -> AbstractContextManager[OriginStorage]:
        """Access to any origin's storage, by a hidden page beside the current tab."""
        tab = str(self._remote.execute("w3cGetCurrentWindowHandle"))
        try:
            url = self._devtools() if self._devtools else ""
        except OSError:
            url = ""
        if not url:
            raise RemoteFailure("The browser's DevTools cannot be reached.", error="unknown error")
        return OriginStorage.open_beside(tab, url, name=self._name)

    def _cookies_of_page(self) -> Iterator[StoredCookie]:
        for cookie in self._remote.execute("getCookies"):
            fields = {name: cookie[name] for name in _COOKIE if cookie.get(name) is not None}
            yield StoredCookie.model_validate({**fields, "expires": cookie.get("expiry", -1)})

    def _storage_of_page(self) -> Iterator[StoredOrigin]:
        origin, entries = self._remote.script(_OF_PAGE)
        if origin_of(origin):
            yield _origin(origin, entries)


def _origin(origin: str, entries: Iterable[Iterable[str]]) -> StoredOrigin:
    items = tuple(StoredItem(name=name, value=value) for name, value in entries)
    return StoredOrigin(origin=origin, local_storage=items)


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
