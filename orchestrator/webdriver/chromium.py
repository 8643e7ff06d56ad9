"""Browser contexts and tabs of a whole Chromium on this machine, over DevTools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from orchestrator.errors import NoAnswer, RemoteFailure
from orchestrator.webdriver.devtools import DevTools
from orchestrator.webdriver.websocket import WebSocket

_PATIENCE = 10.0
"""Seconds that the browser may take for a command, after which it counts as gone.

The commands concern its main process, never a page; on an overloaded machine that may stall for a while.
"""

_RESPONSIVE = 0.5
"""Seconds within which a responsive page answers."""


@dataclass(frozen=True, slots=True)
class ChromiumTab:
    """A tab with the ids of its browser context and of the tab that opened it."""

    context: str
    opener: str


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
            raise NoAnswer(name, f"no browser answers at {address}") from cause
        self._socket = WebSocket(url, name=name, timeout=_PATIENCE, on_event=_unheard)

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
        targets = self._socket.call("Target.getTargets")["targetInfos"]
        return {target["targetId"]: _page(target) for target in targets if target["type"] == "page"}

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


def _page(target: Mapping[str, Any]) -> ChromiumTab:
    return ChromiumTab(context=target.get("browserContextId", ""), opener=target.get("openerId", ""))


def _unheard(method: str, params: Mapping[str, Any], session: str) -> None:
    """Ignore events, since none are subscribed to."""
