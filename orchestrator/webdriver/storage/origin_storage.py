"""Reads and writes the storage of any origin in a Chromium.

A page in the background navigates to the origin, and gets an empty document from us instead of the site.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, Self

from orchestrator.errors import NoAnswer, RemoteFailure
from orchestrator.models.storage_state import StoredItem, StoredOrigin
from orchestrator.system.deadline import Deadline, poll_until
from orchestrator.webdriver.chromium import ChromiumTab, tabs_in
from orchestrator.webdriver.storage import storage_script
from orchestrator.webdriver.storage.storage_script import OriginReading
from orchestrator.webdriver.websocket import WebSocket

_PATIENCE = 5.0
"""Seconds that the browser may take for one answer; none of them needs a request to a site."""
_PAGE_PATIENCE = 2.0
"""Seconds that an open page may take: one that hangs is left out."""
_PAUSE = 0.005
_DOCUMENTS = [{"urlPattern": "*", "resourceType": "Document"}]
_EMPTY = {"responseCode": 200, "responseHeaders": [{"name": "Content-Type", "value": "text/html"}], "body": ""}


class OriginStorage:
    """The storage of the browser context of a tab, over a socket of its own.

    While the page in the background is open, the driver sees one more tab. It is no hidden target of DevTools, since
    BiDi's mapper keeps such a page from navigating.

    Source: https://chromedevtools.github.io/devtools-protocol/ (Target, Fetch, Page, Runtime).
    """

    def __init__(self, url: str, tab: str, *, name: str) -> None:
        self._tab = tab
        self._worlds: dict[tuple[str, str], int] = {}
        self._background: str | None = None
        self._cleanup = ExitStack()
        self._socket = WebSocket(url, name=name, timeout=_PATIENCE, on_event=self._handle_event)

    @classmethod
    @contextmanager
    def connected(cls, url: str, tab: str, *, name: str) -> Iterator[Self]:
        """Connect for the duration of a `with` block.

        Args:
            url: The browser's own DevTools socket.
            tab: The target id of a tab of the session, which is its window handle.
            name: The session that errors name.

        Raises:
            RemoteFailure: The browser does not answer, or refuses.
        """
        try:
            storage = cls(url, tab, name=name)
            try:
                with storage._cleanup:
                    yield storage
            finally:
                storage._socket.close()
        except NoAnswer as error:
            raise RemoteFailure(f"The browser's DevTools fail: {error.reason}.", error="unknown error") from error

    def tabs(self) -> dict[str, ChromiumTab]:
        """Return the tabs of all browser contexts by id, which is their window handle in WebDriver."""
        return tabs_in(self._socket.call("Target.getTargets"))

    def history(self, tab: str) -> list[tuple[int, str]]:
        """Return the number and URL of each entry in a tab's history; a later entry has a greater number."""
        with self._attached(tab) as session:
            entries = self._socket.call("Page.getNavigationHistory", session=session)["entries"]
        return [(entry["id"], entry["url"]) for entry in entries]

    def read_tab(self, tab: str, most: int) -> OriginReading | None:
        """Read the storage of an open page's origin; None if the page may have none.

        `most` is how many characters its databases may have.

        Raises:
            RemoteFailure: The page did not answer in time, or was closed.
        """
        try:
            with self._attached(tab) as session:
                expression = storage_script.reading_expression(most)
                return storage_script.parse_reading(
                    self._evaluate(session, expression, world=self._world(tab, session))
                )
        except NoAnswer as error:
            raise RemoteFailure(f"The page did not answer: {error.reason}.", error="timeout") from error

    def read(self, origin: str) -> OriginReading:
        """Read the storage of an origin; that of a session, which belongs to a tab, is empty.

        Raises:
            RemoteFailure: The browser cannot navigate to the origin.
        """
        session = self._show_in_background(origin)
        reading = storage_script.parse_reading(self._evaluate(session, storage_script.reading_expression()))
        return reading or OriginReading(StoredOrigin(origin=origin), [])

    def write(self, stored: StoredOrigin) -> None:
        """Add an origin's entries of local storage, and its databases in place of those of the same names.

        Raises:
            RemoteFailure: The browser cannot navigate to the origin, or has no room for what is written.
        """
        session = self._show_in_background(stored.origin)
        self._evaluate(session, storage_script.writing_expression(stored))

    def write_session(self, stored: Iterable[tuple[str, Iterable[StoredItem]]]) -> None:
        """Add entries of session storage, by origin, to the empty tab; its history is empty afterwards.

        Raises:
            RemoteFailure: The browser cannot navigate to an origin, or has no room for the entries.
        """
        with self._attached(self._tab) as session:
            self._intercept(session)
            for origin, items in stored:
                self._navigate(session, origin)
                self._evaluate(session, storage_script.session_writing_expression(items))
            self._socket.call("Fetch.disable", session=session)
            self._socket.call("Page.navigate", session=session, url="about:blank")
            poll_until(lambda: self._reset_history(session), Deadline(_PATIENCE), every=_PAUSE)

    def _reset_history(self, session: str) -> bool:
        """Empty a tab's history; False while the browser is still about to show the tab's last page."""
        try:
            self._socket.call("Page.resetNavigationHistory", session=session)
        except RemoteFailure:
            return False
        return True

    def _show_in_background(self, origin: str) -> str:
        """Show an origin's empty document in the background page, which is opened once; return its CDP session."""
        if self._background is None:
            self._background = self._cleanup.enter_context(_background_page(self._socket, self._tab))
            self._intercept(self._background)
        self._navigate(self._background, origin)
        return self._background

    def _intercept(self, session: str) -> None:
        self._socket.call("Network.setBypassServiceWorker", session=session, bypass=True)
        self._socket.call("Fetch.enable", session=session, patterns=_DOCUMENTS)

    def _navigate(self, session: str, origin: str) -> None:
        """Navigate to the origin, without a request to its site."""
        self._socket.call("Page.navigate", session=session, url=f"{origin}/")

    def _evaluate(self, session: str, expression: str, *, world: int | None = None) -> Any:
        """Return the value of an expression, in a world of a page; a promise is awaited."""
        place = {} if world is None else {"contextId": world}
        answer = self._socket.call(
            "Runtime.evaluate",
            session=session,
            limit=_PATIENCE if world is None else _PAGE_PATIENCE,
            expression=expression,
            awaitPromise=True,
            returnByValue=True,
            **place,
        )
        if thrown := answer.get("exceptionDetails"):
            reason = thrown.get("exception", {}).get("description") or thrown["text"]
            raise RemoteFailure(f"The browser refused it: {reason.splitlines()[0]}.", error="javascript error")
        return answer["result"].get("value")

    def _world(self, tab: str, session: str) -> int:
        """Return the world of our scripts in an open page, in which the page changes nothing."""
        # Found, not created where it is there: a new one for each socket would stay until the page is left.
        self._socket.call("Runtime.enable", session=session, limit=_PAGE_PATIENCE)
        self._socket.send("Runtime.disable", session=session)
        if found := self._worlds.get((session, tab)):
            return found
        world = {"frameId": tab, "worldName": storage_script.WORLD}
        return int(self._socket.execute("Page.createIsolatedWorld", world, session=session)["executionContextId"])

    @contextmanager
    def _attached(self, tab: str) -> Iterator[str]:
        session = str(self._socket.call("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"])
        try:
            yield session
        finally:
            self._socket.send("Target.detachFromTarget", sessionId=session)

    def _handle_event(self, method: str, params: Mapping[str, Any], session: str) -> None:
        if method == "Fetch.requestPaused":
            self._socket.send("Fetch.fulfillRequest", session=session, requestId=params["requestId"], **_EMPTY)
        elif method == "Runtime.executionContextCreated":
            context = params["context"]
            if context["name"] == storage_script.WORLD:
                self._worlds[session, context["auxData"]["frameId"]] = context["id"]


@contextmanager
def _background_page(socket: WebSocket, tab: str) -> Iterator[str]:
    """Open a background page in a tab's browser context for the `with` block; yields its CDP session."""
    context = _targets(socket).get(tab, {}).get("browserContextId")
    place = {"browserContextId": context} if context else {}
    page = socket.call("Target.createTarget", url="about:blank", background=True, **place)["targetId"]
    try:
        yield str(socket.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"])
    finally:
        socket.call("Target.closeTarget", targetId=page)
        poll_until(lambda: page not in _targets(socket), Deadline(_PATIENCE), every=_PAUSE)


def _targets(socket: WebSocket) -> dict[str, dict[str, Any]]:
    return {target["targetId"]: target for target in socket.call("Target.getTargets")["targetInfos"]}
