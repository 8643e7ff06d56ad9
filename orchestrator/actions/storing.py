"""Takes out of a browser what it knows a person by, and puts it into another one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from orchestrator import abilities
from orchestrator.errors import RemoteFailure
from orchestrator.models import SessionRecord
from orchestrator.storage_state import OriginStorage, StorageState, StoredCookie, StoredItem, origin_of
from orchestrator.webdriver.backstage import Backstage, storage_id
from orchestrator.webdriver.remote import Remote

_MOST = 100
"""Origins that are looked at: each takes a tenth of a second."""
_OF_PAGE = "return [location.origin, Object.entries(localStorage)]"
_COOKIE = ("name", "value", "domain", "path", "secure", "httpOnly", "sameSite")


class Storing:
    """The storage of one browser session.

    In Chromium no page is asked and none notices; elsewhere there are the cookies and the storage of the current page.
    Cookies are those of the tab's browser context; the domain Storage means the default one, whichever tab is asked.

    Source: https://chromedevtools.github.io/devtools-protocol/ (Network, DOMStorage); W3C WebDriver, Get All Cookies.

    Args:
        remote: Commands go to its current tab.
        record: Whose browser it is.
        devtools: Finds the URL of the browser's own socket, for origins that are not open.
    """

    def __init__(self, remote: Remote, record: SessionRecord, devtools: Callable[[], str] | None) -> None:
        self._remote = remote
        self._devtools = devtools
        self._name = record.id
        self._chromium = abilities.browser(record.capabilities.get("browserName")) in abilities.CHROMIUM

    def glance(self) -> StorageState:
        """All cookies, and the storage of the current page's origin; what is not seen at once is left out.

        Raises:
            OrchestratorError: The browser did not answer.
        """
        if not self._chromium:
            return StorageState(cookies=tuple(self._cookies_of_page()), origins=tuple(self._storage_of_page()))
        cookies = tuple(_stored(one) for one in self._remote.cdp("Network.getAllCookies")["cookies"])
        frame = self._remote.cdp("Page.getFrameTree")["frameTree"]["frame"]
        origin = origin_of(frame.get("securityOrigin", ""))
        return StorageState(cookies=cookies, origins=(self._open(origin),) if origin else ())

    def whole(self, origins: Iterable[str]) -> tuple[StorageState, list[str]]:
        """All cookies, and the storage of these origins and of all that the current tab was at.

        Also answers what is missing, as sentences.

        Raises:
            OrchestratorError: The browser did not answer.
        """
        seen = self.glance()
        if not self._chromium:
            return seen, ["This browser tells the cookies and the storage of the current page alone."]
        visited = [one["url"] for one in self._remote.cdp("Page.getNavigationHistory")["entries"]]
        known = {one.origin for one in seen.origins}
        wanted = [one for one in dict.fromkeys((*origins, *map(origin_of, visited))) if one and one not in known]
        found, missed = self._elsewhere(wanted[:_MOST]) if wanted else ([], {})
        missed |= dict.fromkeys(wanted[_MOST:], "There are too many.")
        return seen.with_origins(found), [f"The storage of {one} is not in it. {why}" for one, why in missed.items()]

    def restore(self, state: StorageState) -> None:
        """Put it all into the browser; nothing is loaded for it.

        Raises:
            OrchestratorError: The browser did not take it.
        """
        if state.cookies:
            self._remote.cdp("Network.setCookies", cookies=[_wanted(one) for one in state.cookies])
        if state.origins:
            with self._backstage() as page:
                for one in state.origins:
                    page.write(one.origin, ((item.name, item.value) for item in one.local_storage))

    def _open(self, origin: str) -> OriginStorage:
        """The storage of the origin that is open now; nothing where the page may have none."""
        try:
            entries = self._remote.cdp("DOMStorage.getDOMStorageItems", storageId=storage_id(origin))["entries"]
        except RemoteFailure:
            entries = []
        return _origin(origin, entries)

    def _elsewhere(self, origins: list[str]) -> tuple[list[OriginStorage], dict[str, str]]:
        """The storage of origins that are not open, and why that of others was not read."""
        found, missed = [], {}
        try:
            with self._backstage() as page:
                for origin in origins:
                    try:
                        found.append(_origin(origin, page.read(origin)))
                    except RemoteFailure as error:
                        missed[origin] = error.message
        except RemoteFailure as error:
            missed = dict.fromkeys(origins, error.message)
        return found, missed

    def _backstage(self) -> AbstractContextManager[Backstage]:
        """A page behind the current tab."""
        tab = str(self._remote.execute("w3cGetCurrentWindowHandle"))
        try:
            url = self._devtools() if self._devtools else ""
        except OSError:
            url = ""
        if not url:
            raise RemoteFailure("The browser's DevTools cannot be reached from here.", error="unknown error")
        return Backstage.beside(tab, url, name=self._name)

    def _cookies_of_page(self) -> Iterator[StoredCookie]:
        for one in self._remote.execute("getCookies"):
            told = {name: one[name] for name in _COOKIE if one.get(name) is not None}
            yield StoredCookie.model_validate({**told, "expires": one.get("expiry", -1)})

    def _storage_of_page(self) -> Iterator[OriginStorage]:
        origin, entries = self._remote.script(_OF_PAGE)
        if origin_of(origin):
            yield _origin(origin, entries)


def _origin(origin: str, entries: Iterable[Iterable[str]]) -> OriginStorage:
    items = tuple(StoredItem(name=name, value=value) for name, value in entries)
    return OriginStorage(origin=origin, local_storage=items)


def _stored(cookie: dict[str, Any]) -> StoredCookie:
    told = {name: cookie[name] for name in _COOKIE if name in cookie}
    if partition := cookie.get("partitionKey"):
        told |= {"partitionKey": partition["topLevelSite"], "cross_site": partition["hasCrossSiteAncestor"]}
    return StoredCookie.model_validate({**told, "expires": cookie["expires"]})


def _wanted(cookie: StoredCookie) -> dict[str, Any]:
    told = cookie.model_dump(by_alias=True, exclude={"partition_key", "cross_site"})
    if cookie.expires < 0:
        del told["expires"]
    if cookie.partition_key:
        told["partitionKey"] = {"topLevelSite": cookie.partition_key, "hasCrossSiteAncestor": cookie.cross_site}
    return told
