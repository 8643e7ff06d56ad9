"""The Chrome DevTools Protocol of one session, over the browser's own socket."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from orchestrator.errors import NoAnswer, OrchestratorError, RemoteFailure
from orchestrator.webdriver.websocket import Command, WebSocket

_PATIENCE = 3.0
"""Seconds that a target may take for a setup command, so that a page that hangs does not block the others."""
_TOP = ("page", "service_worker", "shared_worker")
"""Targets that the browser reports; a page reports its frames of other origins and dedicated workers."""


@dataclass(frozen=True, slots=True)
class Target:
    """A page, a frame of another origin or a worker of the session, with its CDP session.

    `page` is the id of the page that it is or belongs to, which is the window handle in WebDriver; empty for workers
    that several pages share. The `browser` itself is a target as long as no other session uses it.
    """

    id: str
    kind: str
    session: str
    page: str


@dataclass(frozen=True, slots=True)
class TargetFilter:
    """Selects the targets of a browser that belong to a session.

    Attributes:
        tabs: Window handles of its known tabs; targets that these opened belong to it, too.
        context: Browser context that is the session's alone; empty if other sessions use the same one.
        whole: True if the whole browser is the session's.
    """

    tabs: frozenset[str] = frozenset()
    context: str = ""
    whole: bool = False

    def matches(self, info: Mapping[str, Any], known: Collection[str]) -> bool:
        """Return True if a target (CDP's `TargetInfo`) is the session's; `known` are the ids of those that are."""
        if self.whole or (self.context and info.get("browserContextId") == self.context):
            return True
        return any(id_ in known or id_ in self.tabs for id_ in (info["targetId"], info.get("openerId")))


BROWSER_TARGET = Target("", "browser", "", "")


class TargetListener(Protocol):
    """A listener for events of the session's targets."""

    def setup_commands(self, target: Target) -> Iterable[Command]:
        """Return the commands that set a target up, sent before its document or script begins and when they change."""
        ...

    def undo_commands(self, target: Target) -> Iterable[Command]:
        """Return the commands that undo the setup."""
        ...

    def handle_event(self, method: str, params: Mapping[str, Any], target: Target) -> None:
        """Handle an event in the socket's own thread, without waiting for an answer of the browser."""
        ...


class Cdp:
    """A CDP connection to the session's targets, open while it has listeners.

    It bypasses chromedriver, whose commands therefore cannot block it. New tabs and popups of the session are paused at
    their start until they are set up; those of other sessions are resumed at once. When the socket breaks, Chromium
    resumes all paused targets and undoes their setup.

    Source: https://chromedevtools.github.io/devtools-protocol/tot/Target/ (`setAutoAttach`, flat sessions).

    Args:
        find: Finds the URL of the browser's socket; raises OSError if the browser does not answer.
        name: The session that errors name.
        timeout: Seconds that one command may take.
    """

    def __init__(self, find: Callable[[], str], *, name: str, timeout: float) -> None:
        self._find = find
        self._name = name
        self._timeout = timeout
        self._lock = threading.RLock()
        self._socket: WebSocket | None = None
        self._listeners: tuple[TargetListener, ...] = ()
        self._targets: dict[str, Target] = {}
        self._filter = TargetFilter()
        self._closed = False

    @property
    def is_open(self) -> bool:
        """True if the socket is open, so that listeners get events."""
        return self._socket is not None and self._socket.is_open

    def set_filter(self, target_filter: TargetFilter) -> None:
        """Set the filter of the session's targets, and attach to its tabs that were not attached at their start.

        Raises:
            NoAnswer: The browser does not answer.
        """
        with self._lock:
            self._filter = target_filter
            for tab in target_filter.tabs - self._known() if self.is_open else ():
                with suppress(RemoteFailure):  # it was closed meanwhile
                    self._call("Target.attachToTarget", targetId=tab, flatten=True)

    def add_listener(self, listener: TargetListener) -> None:
        """Add a listener and set every target up for it; called again when its setup commands changed.

        Raises:
            NoAnswer: The browser cannot be reached, or this connection was closed for good.
            OSError: The browser does not answer with its socket's URL.
        """
        with self._lock:
            if listener not in self._listeners:
                self._listeners = (*self._listeners, listener)
            if not self.is_open:
                self._connect()
            ready: set[str] = set()
            while fresh := [target for target in [*self._targets.values()] if target.session not in ready]:
                for target in fresh:
                    ready.add(target.session)
                    follow = [_FOLLOW] if target is not BROWSER_TARGET else []
                    self._call_each(target, [*follow, *listener.setup_commands(target)])

    def remove_listener(self, listener: TargetListener) -> None:
        """Remove a listener and undo its setup; the last one also closes the socket."""
        with self._lock:
            self._listeners = tuple(other for other in self._listeners if other is not listener)
            if not self._listeners:
                self.disconnect()
                return
            for target in [*self._targets.values()]:
                self._call_each(target, listener.undo_commands(target))

    def call(self, method: str, target: Target, **params: Any) -> Any:
        """Send a command to a target and return its result.

        Raises:
            NoAnswer: The browser is gone, or did not answer in time.
            RemoteFailure: It refused.
        """
        return self._call(method, session=target.session, **params)

    def send(self, method: str, target: Target, **params: Any) -> None:
        """Send a command without waiting for its answer, as listeners must."""
        if socket := self._socket:
            socket.send(method, session=target.session, **params)

    def wait_for_events(self) -> None:
        """Wait until the listeners have handled all events that the browser has sent so far.

        Raises:
            NoAnswer, RemoteFailure: The browser does not answer.
        """
        if self.is_open:
            self._call("Browser.getVersion", limit=_PATIENCE)

    def disconnect(self) -> None:
        """Close the socket until a listener is added; the browser resumes paused targets and requests."""
        # Without the lock, since the end of a session must not wait for the setup of a target.
        socket, self._socket = self._socket, None
        self._targets.clear()
        if socket is not None:
            socket.close()

    def close(self) -> None:
        """Close the socket for good."""
        self._closed = True
        self.disconnect()

    def _call(self, method: str, **params: Any) -> Any:
        socket = self._socket
        if socket is None:
            raise NoAnswer(self._name, "its DevTools connection is closed")
        return socket.call(method, **params)

    def _connect(self) -> None:
        self.disconnect()
        socket = self._socket = WebSocket(
            self._find(), name=self._name, timeout=self._timeout, on_event=self._handle_event
        )
        self._targets[BROWSER_TARGET.session] = BROWSER_TARGET
        follow: Mapping[str, Any] = {**_FOLLOW[1], "filter": [{"type": kind} for kind in _TOP]}
        if self._closed:  # while the socket was being opened
            self.disconnect()
            raise NoAnswer(self._name, "its connection was closed in this process")
        try:
            socket.call(_FOLLOW[0], **follow)
        except BaseException:
            self.disconnect()  # an open socket without events would look healthy
            raise

    def _call_each(self, target: Target, commands: Iterable[Command]) -> None:
        for method, params in commands:
            # The target may be gone by now; a page that hangs runs the command later.
            with suppress(OrchestratorError):
                self._call(method, session=target.session, limit=_PATIENCE, **params)

    def _handle_event(self, method: str, params: Mapping[str, Any], session: str) -> None:
        if method == "Target.attachedToTarget":
            self._set_up(params["sessionId"], params["targetInfo"], session)
        elif method == "Target.detachedFromTarget":
            self._targets.pop(params["sessionId"], None)
        elif target := self._targets.get(session):
            for listener in self._listeners:
                listener.handle_event(method, params, target)

    def _set_up(self, session: str, info: Mapping[str, Any], parent: str) -> None:
        """Set up a target that was attached to, and resume it; one of another session is resumed and detached."""
        socket = self._socket
        if socket is None:
            return
        outer = self._targets.get(parent) if parent else None
        if outer is None and not self._filter.matches(info, self._known()):
            # Another session's page: the browser itself is no longer this session's alone.
            if info["type"] == "page" and self._targets.pop(BROWSER_TARGET.session, None):
                for method, params in [
                    command for listener in self._listeners for command in listener.undo_commands(BROWSER_TARGET)
                ]:
                    socket.send(method, **params)
            socket.send("Runtime.runIfWaitingForDebugger", session=session)
            socket.send("Target.detachFromTarget", sessionId=session)
            return
        page = outer.page if outer else info["targetId"] if info["type"] == "page" else ""
        target = self._targets[session] = Target(info["targetId"], info["type"], session, page)
        commands = [command for listener in self._listeners for command in listener.setup_commands(target)]
        for method, params in (*commands, _FOLLOW, ("Runtime.runIfWaitingForDebugger", {})):
            socket.send(method, session=session, **params)

    def _known(self) -> set[str]:
        return {target.id for target in [*self._targets.values()]}


_FOLLOW: Command = (
    "Target.setAutoAttach",
    {
        "autoAttach": True,
        "waitForDebuggerOnStart": True,
        "flatten": True,
        # Excluded, since the browser reports these: a second attachment would get all their events twice.
        "filter": [{"type": kind, "exclude": True} for kind in _TOP[1:]] + [{}],
    },
)
"""Lets a target report the frames and workers in it."""
