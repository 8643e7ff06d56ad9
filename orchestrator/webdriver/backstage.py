"""Reads and writes the storage of any origin in a Chromium, without its pages and sites noticing.

A page of its own stands behind the others, is sent to the origin, and is answered by us in the place of the site.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

from orchestrator.errors import NoAnswer, RemoteFailure
from orchestrator.webdriver.socket import Socket

_PATIENCE = 5.0
"""Seconds that the browser may take for one answer; no site is asked for any of them."""
_PAUSE = 0.005
_DOCUMENTS = [{"urlPattern": "*", "resourceType": "Document"}]
_EMPTY = {"responseCode": 200, "responseHeaders": [{"name": "Content-Type", "value": "text/html"}], "body": ""}


class Backstage:
    """A page behind a tab, in the same browser context; for the driver it is one more tab as long as it is there.

    One that DevTools call hidden would do, but BiDi's mapper keeps such a page from going anywhere.

    Source: https://chromedevtools.github.io/devtools-protocol/ (Target, Fetch, DOMStorage).
    """

    def __init__(self, socket: Socket, session: str) -> None:
        self._socket = socket
        self._session = session

    @classmethod
    @contextmanager
    def beside(cls, tab: str, url: str, *, name: str) -> Iterator[Self]:
        """Have one for a while.

        Args:
            tab: The tab's target id, which is its window handle.
            url: The browser's own DevTools socket.
            name: The session that errors name.

        Raises:
            RemoteFailure: The browser does not answer there, or not so.
        """

        def answer(method: str, params: Mapping[str, Any], session: str) -> None:
            if method == "Fetch.requestPaused":
                socket.send("Fetch.fulfillRequest", session=session, requestId=params["requestId"], **_EMPTY)

        try:
            socket = Socket(url, name=name, timeout=_PATIENCE, on_event=answer)
            try:
                with _behind(socket, tab) as session:
                    yield cls(socket, session)
            finally:
                socket.close()
        except NoAnswer as error:
            raise RemoteFailure(f"The browser's DevTools fail: {error.reason}.", error="unknown error") from error

    def read(self, origin: str) -> list[tuple[str, str]]:
        """The entries of an origin's local storage.

        Raises:
            RemoteFailure: The browser does not go there.
        """
        self._go(origin)
        entries = self._ask("DOMStorage.getDOMStorageItems", storageId=storage_id(origin))["entries"]
        return [(name, value) for name, value in entries]

    def write(self, origin: str, entries: Iterable[tuple[str, str]]) -> None:
        """Set entries of an origin's local storage.

        Raises:
            RemoteFailure: The browser does not go there, or has no room for them.
        """
        self._go(origin)
        for name, value in entries:
            self._ask("DOMStorage.setDOMStorageItem", storageId=storage_id(origin), key=name, value=value)

    def _go(self, origin: str) -> None:
        """Be at the origin, whose site is not asked."""
        self._ask("Page.navigate", url=f"{origin}/")

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self._socket.call(method, session=self._session, **params)
        return answer


def storage_id(origin: str) -> dict[str, Any]:
    """What DevTools call the local storage of an origin whose pages are on top, and not in another site's frame."""
    return {"storageKey": f"{origin}/", "isLocalStorage": True}


@contextmanager
def _behind(socket: Socket, tab: str) -> Iterator[str]:
    """Have a page behind a tab for a while; the CDP session that it is driven in."""
    context = _targets(socket).get(tab, {}).get("browserContextId")
    where = {"browserContextId": context} if context else {}
    page = socket.call("Target.createTarget", url="about:blank", background=True, **where)["targetId"]
    try:
        session: str = socket.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        socket.call("Network.setBypassServiceWorker", session=session, bypass=True)
        socket.call("Fetch.enable", session=session, patterns=_DOCUMENTS)
        yield session
    finally:
        socket.call("Target.closeTarget", targetId=page)
        until = time.monotonic() + _PATIENCE
        while page in _targets(socket) and time.monotonic() < until:
            time.sleep(_PAUSE)


def _targets(socket: Socket) -> dict[str, dict[str, Any]]:
    return {one["targetId"]: one for one in socket.call("Target.getTargets")["targetInfos"]}
