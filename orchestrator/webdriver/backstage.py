"""Reads and writes the storage of any origin in a Chromium, without its pages and sites noticing.

A page of its own stands where nobody sees it, is sent to the origin, and is answered by us in the place of the site.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from orchestrator.errors import RemoteFailure

_PATIENCE = 5.0
"""Seconds that the browser may take for one answer; no site is asked for any of them."""
_DOCUMENTS = [{"urlPattern": "*", "resourceType": "Document"}]
_EMPTY = [{"name": "Content-Type", "value": "text/html"}]


class Backstage:
    """A hidden page beside a tab, in the same browser context; a context manager.

    Source: https://chromedevtools.github.io/devtools-protocol/ (Target, Fetch, DOMStorage).

    Args:
        url: The browser's own DevTools socket.
        tab: The tab's target id, which is its window handle.

    Raises:
        RemoteFailure: The browser does not answer there, or not so.
    """

    def __init__(self, url: str, tab: str) -> None:
        self._url = url
        self._tab = tab
        self._number = 0

    def __enter__(self) -> Self:
        from websocket import create_connection  # noqa: PLC0415 — see _answering

        with self._answering():
            self._socket = create_connection(self._url, timeout=_PATIENCE, suppress_origin=True)
        try:
            with self._answering():
                tabs = {one["targetId"]: one for one in self._ask("Target.getTargets")["targetInfos"]}
                context = tabs[self._tab].get("browserContextId")
            where = {"browserContextId": context} if context else {}
            page = self._ask("Target.createTarget", url="about:blank", hidden=True, **where)["targetId"]
            self._session = self._ask("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
            self._ask("Network.setBypassServiceWorker", self._session, bypass=True)
            self._ask("Fetch.enable", self._session, patterns=_DOCUMENTS)
        except BaseException:
            self._socket.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()  # a hidden page goes with the connection that made it

    def read(self, origin: str) -> list[tuple[str, str]]:
        """The entries of an origin's local storage.

        Raises:
            RemoteFailure: The browser does not go there.
        """
        self._go(origin)
        entries = self._ask("DOMStorage.getDOMStorageItems", self._session, storageId=storage_id(origin))["entries"]
        return [(name, value) for name, value in entries]

    def write(self, origin: str, entries: Iterable[tuple[str, str]]) -> None:
        """Set entries of an origin's local storage.

        Raises:
            RemoteFailure: The browser does not go there, or has no room for them.
        """
        self._go(origin)
        for name, value in entries:
            there = storage_id(origin)
            self._ask("DOMStorage.setDOMStorageItem", self._session, storageId=there, key=name, value=value)

    def _go(self, origin: str) -> None:
        """Be at the origin, whose site is not asked."""
        going = self._send("Page.navigate", self._session, {"url": f"{origin}/"})
        said = self._hear(lambda said: said.get("method") == "Fetch.requestPaused" or said.get("id") == going)
        if "id" in said:
            raise RemoteFailure(f"The browser does not go to {origin}.", error="unknown error")
        answer = {"requestId": said["params"]["requestId"], "responseCode": 200, "responseHeaders": _EMPTY, "body": ""}
        self._ask("Fetch.fulfillRequest", self._session, **answer)
        self._answer(going)

    def _ask(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        return self._answer(self._send(method, session, params))

    def _send(self, method: str, session: str, params: Mapping[str, Any]) -> int:
        self._number += 1
        where = {"sessionId": session} if session else {}
        with self._answering():
            self._socket.send(json.dumps({"id": self._number, "method": method, "params": params, **where}))
        return self._number

    def _answer(self, number: int) -> dict[str, Any]:
        said = self._hear(lambda said: said.get("id") == number)
        if "error" in said:
            raise RemoteFailure(f"The browser answered: {said['error'].get('message')}.", error="unknown error")
        result: dict[str, Any] = said["result"]
        return result

    def _hear(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first thing said that is wanted; what else is said meanwhile concerns nobody."""
        with self._answering():
            while True:
                said: dict[str, Any] = json.loads(self._socket.recv())
                if wanted(said):
                    return said

    @contextmanager
    def _answering(self) -> Iterator[None]:
        from websocket import WebSocketException  # noqa: PLC0415 — it is needed rarely, and takes its time to load

        try:
            yield
        except (OSError, WebSocketException, ValueError, KeyError) as error:
            raise RemoteFailure(
                f"The browser's DevTools did not answer as they should ({type(error).__name__}).", error="unknown error"
            ) from error


def storage_id(origin: str) -> dict[str, Any]:
    """What DevTools call the local storage of an origin whose pages are on top, and not in another site's frame."""
    return {"storageKey": f"{origin}/", "isLocalStorage": True}
