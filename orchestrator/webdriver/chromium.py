"""A Chromium on this machine as a whole: its browser contexts and tabs, asked for beside its drivers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from orchestrator.errors import NoAnswer, RemoteFailure
from orchestrator.webdriver.devtools import DevTools
from orchestrator.webdriver.socket import Socket

_PATIENCE = 10.0
"""Seconds that the browser may take for one of these, after which it counts as gone.

They concern its own process, never a page; on a machine that has too much to do it stands still for a while.
"""

_AT_ONCE = 0.5
"""Seconds within which a page answers that is not held up."""


@dataclass(frozen=True, slots=True)
class Page:
    """A tab: the browser context that it is in, and the tab that opened it, by their ids."""

    context: str
    opener: str


class Chromium:
    """A connection to a browser, to be used as a context manager. No page can keep it waiting, as it can a driver.

    Source: https://chromedevtools.github.io/devtools-protocol/tot/Target/.

    Args:
        address: Its host and port, the `debuggerAddress` of its sessions.
        name: The session that errors name.

    Raises:
        NoAnswer: Nobody answers there, or not in time; any of its methods, too.
    """

    def __init__(self, address: str, *, name: str) -> None:
        try:
            url = DevTools(address, _PATIENCE).socket()
        except OSError as cause:
            raise NoAnswer(name, f"no browser answers at {address}") from cause
        self._socket = Socket(url, name=name, timeout=_PATIENCE, on_event=_unheard)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    @property
    def connected(self) -> bool:
        """Whether the browser is still there, as far as is known."""
        return self._socket.open

    def disconnect(self) -> None:
        """Leave the browser as it is."""
        self._socket.close()

    def pages(self) -> dict[str, Page]:
        """The tabs of all its browser contexts by id, which is their window handle in WebDriver."""
        targets = self._socket.call("Target.getTargets")["targetInfos"]
        return {one["targetId"]: _page(one) for one in targets if one["type"] == "page"}

    def isolate(self) -> str:
        """Make a browser context with cookies, storage and permissions of its own; its id. It has no tab yet."""
        return str(self._socket.call("Target.createBrowserContext")["browserContextId"])

    def open(self, context: str, *, window: bool = False) -> str:
        """Open an empty tab in a browser context, or a window; its id."""
        made = self._socket.call("Target.createTarget", url="about:blank", browserContextId=context, newWindow=window)
        return str(made["targetId"])

    def close(self, tab: str) -> None:
        """Close a tab, whatever its page is doing."""
        self._socket.call("Target.closeTarget", targetId=tab)

    def mute(self, tabs: Iterable[str]) -> list[str]:
        """Those of these tabs whose pages do not answer: a dialog is open there, or a script does not end.

        A driver that has not met such a page yet stands still until it answers, whatever it was asked to do.
        """
        return [tab for tab in tabs if not self._answers(tab)]

    def _answers(self, tab: str) -> bool:
        try:
            session = self._socket.call("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
        except RemoteFailure:
            return True  # it was closed meanwhile
        try:
            self._socket.call("Runtime.evaluate", session=session, limit=_AT_ONCE, expression="0")
        except NoAnswer:
            return False
        except RemoteFailure:
            return True  # as above
        finally:
            self._socket.send("Target.detachFromTarget", sessionId=session)
        return True

    def dispose(self, context: str) -> None:
        """End a browser context with all its tabs."""
        self._socket.call("Target.disposeBrowserContext", browserContextId=context)

    def quit(self) -> None:
        """Have the browser end by itself, with all that it has to write down; it may take a moment."""
        self._socket.call("Browser.close")


class Beside:
    """The browser of one session, beside its driver: connected with its first use, and again whenever that broke.

    Args:
        address, name: As `Chromium` takes them.
    """

    def __init__(self, address: str, *, name: str) -> None:
        self._address = address
        self._name = name
        self._kept: Chromium | None = None
        self._left = False

    def browser(self) -> Chromium:
        """The connection, which is kept; used by one thread at a time.

        Raises:
            NoAnswer: Nobody answers there, or it was left.
        """
        if self._left:
            raise NoAnswer(self._name, "it is not driven from here any more")
        if self._kept is None or not self._kept.connected:
            self._kept = Chromium(self._address, name=self._name)
        return self._kept

    def leave(self) -> None:
        """Close the connection for good; the browser is left as it is."""
        self._left = True
        if self._kept is not None:
            self._kept.disconnect()


def _page(target: Mapping[str, Any]) -> Page:
    return Page(context=target.get("browserContextId", ""), opener=target.get("openerId", ""))


def _unheard(method: str, params: Mapping[str, Any], session: str) -> None:
    """Nothing is subscribed to."""
