"""Browser contexts and tabs of a whole Chromium on this machine, over DevTools."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Final, Self

from orchestrator.errors import NoAnswer, RemoteFailure
from orchestrator.webdriver import connection_errors
from orchestrator.webdriver.devtools import DevTools
from orchestrator.webdriver.websocket import Command, Watch, WebSocket

_PATIENCE = 10.0
"""Seconds that the browser may take for a command, after which it counts as gone.

The commands concern its main process, never a page; on an overloaded machine that may stall for a while.
"""

_RESPONSIVE = 0.5
"""Seconds within which a responsive page answers."""
_LOOKS_EVERY = 0.25
"""Seconds between two looks whether the call that waits for a page has to stop."""
EMPTYING: Final[tuple[tuple[str, dict[str, str]], ...]] = (
    ("Page.stopLoading", {}),
    ("Runtime.evaluate", {"expression": "location.replace('about:blank')"}),
)
"""The commands that open an empty document in a tab without one; its opener can still reach it.

While a page is awaited there, the browser answers the second one only after the first.
"""


@dataclass(frozen=True, slots=True)
class ChromiumTab:
    """A tab with its URL, empty before its first page, and the ids of its browser context and of its opener."""

    context: str
    opener: str
    url: str


@dataclass
class _AttachedTab:
    """The CDP session of a tab, and what ends the wait for input to its page.

    It stays attached: with the end of any CDP session of a tab, Chromium ends the tab's virtual authenticators.
    """

    session: str
    ended: Future[None] = field(default_factory=Future)


class Chromium:
    """A connection to a browser, as a context manager; unlike a driver, it is never blocked by a page.

    Source: https://chromedevtools.github.io/devtools-protocol/tot/Target/.

    Args:
        address: Its host and port, the `debuggerAddress` of its sessions.
        name: The session that errors name.

    Raises:
        NoAnswer: No browser answers there, or not in time; every method may raise it, too.
    """

    def __init__(self, address: str, *, name: str) -> None:
        try:
            url = DevTools(address, _PATIENCE).socket_url()
        except OSError as cause:
            raise connection_errors.no_answer(name, f"no browser answers at {address}", cause) from cause
        self._attached: dict[str, _AttachedTab] = {}
        self._socket = WebSocket(url, name=name, timeout=_PATIENCE, on_event=self._handle_event)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    @property
    def connected(self) -> bool:
        """True if the browser still runs, as far as is known."""
        return self._socket.is_open

    def disconnect(self) -> None:
        """Close the connection; the browser runs on."""
        self._socket.close()

    def tabs(self) -> dict[str, ChromiumTab]:
        """Return the tabs of all browser contexts by id, which is their window handle in WebDriver."""
        return tabs_in(self._socket.call("Target.getTargets"))

    def empty(self, tab: str) -> None:
        """Open an empty document in a tab without a page."""
        session = self._attach(tab).session
        for command, params in EMPTYING:
            self._socket.execute(command, params, session=session)

    def navigate(self, tab: str, url: str, *, limit: float, watch: Watch) -> None:
        """Navigate a tab until its new document is there; `watch` is what happens meanwhile.

        Source: https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-navigate.

        Raises:
            NoAnswer: The server does not answer within `limit` seconds, or the browser is gone.
            RemoteFailure: There is no such page; the message has the browser's code.
        """
        session = self._attach(tab).session
        answer = self._socket.execute("Page.navigate", {"url": url}, limit=limit, session=session, watch=watch)
        if code := answer.get("errorText"):
            raise RemoteFailure(str(code))

    def stop_loading(self, tab: str) -> None:
        """Stop the navigation of a tab, without waiting for the answer."""
        self._socket.send("Page.stopLoading", session=self._attach(tab).session)

    def send_input(
        self,
        tab: str,
        events: Iterable[Command],
        query: Command | None,
        *,
        limit: float,
        meanwhile: Callable[[], object],
    ) -> Any:
        """Send commands of the Input domain to a tab at once, and a query of its page once they are handled.

        Returns the query's result. A dialog and a navigation end the wait: then nobody knows what the page has handled,
        and the result is None, as it is without a query, and for one that is refused. `meanwhile` is called every so
        often; what it raises ends the wait, too.

        Source: https://chromedevtools.github.io/devtools-protocol/tot/Input/.

        Raises:
            NoAnswer: The page does not respond within `limit` seconds, or the browser is gone.
            RemoteFailure: The tab is gone; nothing was sent.
        """
        given = self._attach(tab)
        given.ended = Future()
        watch = Watch(given.ended, meanwhile, _LOOKS_EVERY)
        # The page's events are heard meanwhile only, or it could flood us.
        commands: list[Command] = [("Page.enable", {}), *events]
        result: Any = None
        try:
            enabled, *_ = self._socket.execute_all(commands, limit=limit, session=given.session, watch=watch)
            if isinstance(enabled, RemoteFailure):
                self._attached.pop(tab, None)
                raise enabled
            # Not sent along: the page takes input and queries in different ways, of which either may be first.
            if query and not given.ended.done():
                [result] = self._socket.execute_all([query], limit=limit, session=given.session, watch=watch)
        finally:
            self._socket.send("Page.disable", session=given.session)
        return None if isinstance(result, RemoteFailure) else result

    def _attach(self, tab: str) -> _AttachedTab:
        """Return the CDP session of a tab, which stays attached."""
        if tab not in self._attached:
            session = self._socket.call("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
            self._attached[tab] = _AttachedTab(str(session))
        return self._attached[tab]

    def _handle_event(self, method: str, params: Mapping[str, Any], session: str) -> None:
        """End the wait for a page that handles no further input: a dialog is open, it was left, or its tab is gone."""
        is_gone = method == "Target.detachedFromTarget"
        ended = params["sessionId"] if is_gone else session if _ends_input(method, params) else ""
        for tab, given in [*self._attached.items()]:
            if given.session == ended and not given.ended.done():
                given.ended.set_result(None)
            if given.session == ended and is_gone:
                self._attached.pop(tab, None)  # the caller may have forgotten it meanwhile

    def create_context(self) -> str:
        """Create a browser context, with its own cookies and permissions but without a tab; returns its id."""
        return str(self._socket.call("Target.createBrowserContext")["browserContextId"])

    def open_tab(self, context: str, *, window: bool = False) -> str:
        """Open an empty tab in a browser context, or a new window; returns the tab's id."""
        target = self._socket.call("Target.createTarget", url="about:blank", browserContextId=context, newWindow=window)
        return str(target["targetId"])

    def close_tab(self, tab: str) -> None:
        """Close a tab, even if its page hangs."""
        self._socket.call("Target.closeTarget", targetId=tab)

    def unresponsive_tabs(self, tabs: Iterable[str]) -> list[str]:
        """Return those of these tabs whose pages do not answer, as a dialog is open or a script does not end.

        Such a page blocks a driver that has not attached to it yet, whatever the driver's command is.
        """
        return [tab for tab in tabs if not self._answers(tab)]

    def _answers(self, tab: str) -> bool:
        try:
            session = self._socket.call("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
        except RemoteFailure:
            return True  # it was closed meanwhile
        try:
            self._socket.call("Runtime.evaluate", session=session, limit=_RESPONSIVE, expression="0")
        except NoAnswer:
            return False
        except RemoteFailure:
            return True  # it was closed meanwhile
        finally:
            self._socket.send("Target.detachFromTarget", sessionId=session)
        return True

    def dispose(self, context: str) -> None:
        """Dispose of a browser context with all its tabs."""
        self._socket.call("Target.disposeBrowserContext", browserContextId=context)

    def cancel_download(self, download: str) -> None:
        """Cancel a running download by its id; what was loaded of it is removed."""
        self._socket.call("Browser.cancelDownload", guid=download)

    def quit(self) -> None:
        """Ask the browser to end by itself, after writing its profile, which may take a moment."""
        self._socket.call("Browser.close")


class BrowserConnection:
    """A connection to a session's browser beside its driver, opened at its first use and again after a break.

    Args:
        address, name: As `Chromium` takes them.
    """

    def __init__(self, address: str, *, name: str) -> None:
        self._address = address
        self._name = name
        self._chromium: Chromium | None = None
        self._closed = False

    def connect(self) -> Chromium:
        """Return the open connection; to be used by one thread at a time.

        Raises:
            NoAnswer: No browser answers there, or this connection was closed for good.
        """
        if self._closed:
            raise NoAnswer(self._name, "its connection was closed in this process")
        if self._chromium is None or not self._chromium.connected:
            self._chromium = Chromium(self._address, name=self._name)
        return self._chromium

    def close(self) -> None:
        """Close the connection for good; the browser runs on."""
        self._closed = True
        if self._chromium is not None:
            self._chromium.disconnect()


def tabs_in(answer: Mapping[str, Any]) -> dict[str, ChromiumTab]:
    """Return the tabs by id in an answer to `Target.getTargets`."""
    return {target["targetId"]: _page(target) for target in answer["targetInfos"] if target["type"] == "page"}


def _page(target: Mapping[str, Any]) -> ChromiumTab:
    context, opener = target.get("browserContextId", ""), target.get("openerId", "")
    return ChromiumTab(context=context, opener=opener, url=target["url"])


def _ends_input(method: str, params: Mapping[str, Any]) -> bool:
    is_top = method == "Page.frameNavigated" and "parentId" not in params["frame"]
    return is_top or method == "Page.javascriptDialogOpening"
