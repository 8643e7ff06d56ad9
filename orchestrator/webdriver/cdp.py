"""The Chrome DevTools Protocol of one session: the browser's own socket, attached to what belongs to the session."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from orchestrator.errors import NoAnswer, OrchestratorError, RemoteFailure
from orchestrator.webdriver.socket import Command, Socket

_PATIENCE = 3.0
"""Seconds that a target may take for a command that readies it: one whose page hangs keeps nobody waiting."""
_TOP = ("page", "service_worker", "shared_worker")
"""What the browser tells of; frames of other origins and dedicated workers are told by the page that they are in."""


@dataclass(frozen=True, slots=True)
class Target:
    """A page, a frame of another origin or a worker of the session; `session` is the CDP session that it is driven by.

    `page` is the id of the page that it is or stands in, which is its window handle in WebDriver; empty for what
    several pages share. The `browser` itself is one as long as nobody else is in it.
    """

    id: str
    kind: str
    session: str
    page: str


@dataclass(frozen=True, slots=True)
class Extent:
    """What of its browser is a session's.

    Attributes:
        tabs: Window handles of the tabs that it knows; what they opened is its own, too.
        context: The browser context of which it has everything; empty where others are in the same one.
        whole: Whether it has the browser to itself.
    """

    tabs: frozenset[str] = frozenset()
    context: str = ""
    whole: bool = False

    def has(self, info: Mapping[str, Any], known: Collection[str]) -> bool:
        """Whether a target is the session's, as CDP tells it; `known` are the ids of targets that are."""
        if self.whole or (self.context and info.get("browserContextId") == self.context):
            return True
        return any(one in known or one in self.tabs for one in (info["targetId"], info.get("openerId")))


BROWSER = Target("", "browser", "", "")


class Guest(Protocol):
    """Somebody who needs events of the session's targets."""

    def commands(self, target: Target) -> Iterable[Command]:
        """What makes a target ready: sent before its document or script begins, and again whenever it changes."""
        ...

    def undo(self, target: Target) -> Iterable[Command]:
        """What takes that back."""
        ...

    def hear(self, method: str, params: Mapping[str, Any], target: Target) -> None:
        """Told of each event of a target, in the socket's own thread: it must not wait for an answer of the browser."""
        ...


class Cdp:
    """It is connected while it has guests. Chromedriver takes no part in it: no command there stands in the way.

    New tabs and popups of the session are held at their start until they are ready; those of others who use the same
    browser are let go at once. When the socket breaks, Chromium itself lets go of all that was held, and forgets what
    the targets were told.

    Source: https://chromedevtools.github.io/devtools-protocol/tot/Target/ (`setAutoAttach`, flat sessions).

    Args:
        find: Finds the URL of the browser's socket; OSError where nobody answers.
        name: The session that errors name.
        timeout: Seconds that one command may take.
    """

    def __init__(self, find: Callable[[], str], *, name: str, timeout: float) -> None:
        self._find = find
        self._name = name
        self._timeout = timeout
        self._lock = threading.RLock()
        self._socket: Socket | None = None
        self._guests: tuple[Guest, ...] = ()
        self._targets: dict[str, Target] = {}
        self._extent = Extent()
        self._closed = False

    @property
    def open(self) -> bool:
        """Whether its guests are told of anything."""
        return self._socket is not None and self._socket.open

    def of(self, extent: Extent) -> None:
        """Say what is the session's; a tab that was let go when it opened is taken back.

        Raises:
            NoAnswer: The browser does not answer.
        """
        with self._lock:
            self._extent = extent
            for tab in extent.tabs - self._known() if self.open else ():
                with suppress(RemoteFailure):  # it was closed meanwhile
                    self._call("Target.attachToTarget", targetId=tab, flatten=True)

    def join(self, guest: Guest) -> None:
        """Ready every target for a guest, and tell it of their events from now on; again when its commands changed.

        Raises:
            NoAnswer: The browser cannot be reached, or this was closed for good.
            OSError: Nobody answers where the browser's socket is to be found.
        """
        with self._lock:
            if guest not in self._guests:
                self._guests = (*self._guests, guest)
            if not self.open:
                self._connect()
            ready: set[str] = set()
            while fresh := [target for target in [*self._targets.values()] if target.session not in ready]:
                for target in fresh:
                    ready.add(target.session)
                    follow = [_FOLLOW] if target is not BROWSER else []
                    self._tell(target, [*follow, *guest.commands(target)])

    def leave(self, guest: Guest) -> None:
        """Take back what a guest's commands did; without guests the socket is closed."""
        with self._lock:
            self._guests = tuple(one for one in self._guests if one is not guest)
            if not self._guests:
                self.rest()
                return
            for target in [*self._targets.values()]:
                self._tell(target, guest.undo(target))

    def call(self, method: str, target: Target, **params: Any) -> Any:
        """Send a command to a target and return its result.

        Raises:
            NoAnswer: The browser is gone, or did not answer in time.
            RemoteFailure: It refused.
        """
        return self._call(method, session=target.session, **params)

    def send(self, method: str, target: Target, **params: Any) -> None:
        """Send a command whose answer nobody waits for, as a guest that was told of an event must."""
        if socket := self._socket:
            socket.send(method, session=target.session, **params)

    def heard(self) -> None:
        """Wait until its guests were told of all that the browser has said so far.

        Raises:
            NoAnswer, RemoteFailure: The browser does not answer.
        """
        if self.open:
            self._call("Browser.getVersion", limit=_PATIENCE)

    def rest(self) -> None:
        """Close the socket until a guest joins; the browser is left as it is, and goes on with what was held."""
        # Without the lock: whoever ends the session must not wait for a target that is being readied.
        socket, self._socket = self._socket, None
        self._targets.clear()
        if socket is not None:
            socket.close()

    def close(self) -> None:
        """Close the socket for good."""
        self._closed = True
        self.rest()

    def _call(self, method: str, **params: Any) -> Any:
        socket = self._socket
        if socket is None:
            raise NoAnswer(self._name, "nobody listens to its DevTools any more")
        return socket.call(method, **params)

    def _connect(self) -> None:
        self.rest()
        socket = self._socket = Socket(self._find(), name=self._name, timeout=self._timeout, on_event=self._hear)
        self._targets[BROWSER.session] = BROWSER
        follow: Mapping[str, Any] = {**_FOLLOW[1], "filter": [{"type": kind} for kind in _TOP]}
        if self._closed:  # meanwhile, when there was nothing to close yet
            self.rest()
            raise NoAnswer(self._name, "it is not driven from here any more")
        try:
            socket.call(_FOLLOW[0], **follow)
        except BaseException:
            self.rest()  # one that hears nothing must not pass for one that does
            raise

    def _tell(self, target: Target, commands: Iterable[Command]) -> None:
        for method, params in commands:
            # It may be gone by now; a page that hangs hears it later.
            with suppress(OrchestratorError):
                self._call(method, session=target.session, limit=_PATIENCE, **params)

    def _hear(self, method: str, params: Mapping[str, Any], session: str) -> None:
        if method == "Target.attachedToTarget":
            self._attached(params["sessionId"], params["targetInfo"], session)
        elif method == "Target.detachedFromTarget":
            self._targets.pop(params["sessionId"], None)
        elif target := self._targets.get(session):
            for guest in self._guests:
                guest.hear(method, params, target)

    def _attached(self, session: str, info: Mapping[str, Any], parent: str) -> None:
        socket = self._socket
        if socket is None:
            return
        outer = self._targets.get(parent) if parent else None
        if outer is None and not self._extent.has(info, self._known()):
            if info["type"] == "page" and self._targets.pop(BROWSER.session, None):
                for method, params in [command for guest in self._guests for command in guest.undo(BROWSER)]:
                    socket.send(method, **params)
            socket.send("Runtime.runIfWaitingForDebugger", session=session)
            socket.send("Target.detachFromTarget", sessionId=session)
            return
        page = outer.page if outer else info["targetId"] if info["type"] == "page" else ""
        target = self._targets[session] = Target(info["targetId"], info["type"], session, page)
        commands = [command for guest in self._guests for command in guest.commands(target)]
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
        # They are shared by pages, and the browser tells of them: a second attachment would hear everything twice.
        "filter": [{"type": kind, "exclude": True} for kind in _TOP[1:]] + [{}],
    },
)
"""Has a target tell of the frames and workers in it."""
