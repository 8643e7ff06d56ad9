"""Reads and writes the local storage of any origin in a Chromium, unseen by its pages.

A page in the background navigates to the origin, and gets an empty document from us instead of the site.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

from orchestrator.errors import NoAnswer, RemoteFailure
from orchestrator.system.deadline import Deadline, poll_until
from orchestrator.webdriver.websocket import WebSocket

_PATIENCE = 5.0
"""Seconds that the browser may take for one answer; none of them needs a request to a site."""
_PAUSE = 0.005
_DOCUMENTS = [{"urlPattern": "*", "resourceType": "Document"}]
_EMPTY = {"responseCode": 200, "responseHeaders": [{"name": "Content-Type", "value": "text/html"}], "body": ""}


class OriginStorage:
    """A background page in the browser context of a tab; as long as it is open, the driver sees one more tab.

    It is no hidden target of DevTools, since BiDi's mapper keeps such a page from navigating.

    Source: https://chromedevtools.github.io/devtools-protocol/ (Target, Fetch, DOMStorage).
    """

    def __init__(self, socket: WebSocket, session: str) -> None:
        self._socket = socket
        self._session = session

    @classmethod
    @contextmanager
    def open_beside(cls, tab: str, url: str, *, name: str) -> Iterator[Self]:
        """Open a background page for the duration of a `with` block.

        Args:
            tab: The tab's target id, which is its window handle.
            url: The browser's own DevTools socket.
            name: The session that errors name.

        Raises:
            RemoteFailure: The browser does not answer, or refuses.
        """

        def answer(method: str, params: Mapping[str, Any], session: str) -> None:
            if method == "Fetch.requestPaused":
                socket.send("Fetch.fulfillRequest", session=session, requestId=params["requestId"], **_EMPTY)

        try:
            socket = WebSocket(url, name=name, timeout=_PATIENCE, on_event=answer)
            try:
                with _background_page(socket, tab) as session:
                    yield cls(socket, session)
            finally:
                socket.close()
        except NoAnswer as error:
            raise RemoteFailure(f"The browser's DevTools fail: {error.reason}.", error="unknown error") from error

    def read(self, origin: str) -> list[tuple[str, str]]:
        """Return the entries of an origin's local storage.

        Raises:
            RemoteFailure: The browser cannot navigate to the origin.
        """
        self._navigate(origin)
        entries = self._call("DOMStorage.getDOMStorageItems", storageId=storage_id(origin))["entries"]
        return [(name, value) for name, value in entries]

    def write(self, origin: str, entries: Iterable[tuple[str, str]]) -> None:
        """Set entries of an origin's local storage.

        Raises:
            RemoteFailure: The browser cannot navigate to the origin, or has no room for the entries.
        """
        self._navigate(origin)
        for name, value in entries:
            self._call("DOMStorage.setDOMStorageItem", storageId=storage_id(origin), key=name, value=value)

    def _navigate(self, origin: str) -> None:
        """Navigate to the origin, without a request to its site."""
        self._call("Page.navigate", url=f"{origin}/")

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self._socket.call(method, session=self._session, **params)
        return answer


def storage_id(origin: str) -> dict[str, Any]:
    """Return the DevTools id of an origin's local storage as top-level pages have it, not frames of other sites."""
    return {"storageKey": f"{origin}/", "isLocalStorage": True}


@contextmanager
def _background_page(socket: WebSocket, tab: str) -> Iterator[str]:
    """Open a background page in a tab's browser context for the `with` block; yields its CDP session."""
    context = _targets(socket).get(tab, {}).get("browserContextId")
    place = {"browserContextId": context} if context else {}
    page = socket.call("Target.createTarget", url="about:blank", background=True, **place)["targetId"]
    try:
        session: str = socket.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        socket.call("Network.setBypassServiceWorker", session=session, bypass=True)
        socket.call("Fetch.enable", session=session, patterns=_DOCUMENTS)
        yield session
    finally:
        socket.call("Target.closeTarget", targetId=page)
        poll_until(lambda: page not in _targets(socket), Deadline(_PATIENCE), every=_PAUSE)


def _targets(socket: WebSocket) -> dict[str, dict[str, Any]]:
    return {target["targetId"]: target for target in socket.call("Target.getTargets")["targetInfos"]}
