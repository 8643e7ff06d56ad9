"""WebDriver BiDi of one session: its own socket, opened when it is first needed and again whenever it broke."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from orchestrator.errors import NoAnswer, RemoteFailure
from orchestrator.webdriver.socket import Command, Socket

DEFAULT = "default"
"""The user context of a browser that a session has for itself."""
Listener = Callable[[Mapping[str, Any]], None]
"""Told of the parameters of an event, in the socket's own thread: it must not wait for an answer of the browser."""


class Bidi:
    """Commands and events of a session's BiDi socket; what is listened to is subscribed to again after a break.

    Chromedriver runs one command of a session at a time, BiDi's and the classic ones alike: while a classic command is
    in flight, BiDi commands wait. Events come meanwhile. Each socket of a session is told for itself, and with its
    subscription of what the browser still remembers of its log.

    Source: https://www.w3.org/TR/webdriver-bidi/.

    Args:
        url: The capability `webSocketUrl` of the session.
        name: The session that errors name.
        timeout: Seconds that one command may take.
        user_context: The one that events are told of; those of all unless given.
        by_tab: Whether events of the tabs alone that `hear` names are told: others have theirs in the same context.

    Attributes:
        on_open: Called before the subscriptions of a socket that is opened, the first one too.
        user_context: Whose the session's tabs are, those that it has not opened yet included.
    """

    def __init__(self, url: str, *, name: str, timeout: float, user_context: str = "", by_tab: bool = False) -> None:
        self.user_context = user_context or DEFAULT
        self._url = url
        self._where: dict[str, Any] = {"userContexts": [user_context]} if user_context else {}
        self._name = name
        self._timeout = timeout
        self._lock = threading.RLock()
        self._socket: Socket | None = None
        self._closed = False
        self._listeners: dict[str, list[Listener]] = {}
        self._by_tab = by_tab
        self._tabs: set[str] = set()
        self._heard: set[str] = set()
        self.on_open: Callable[[], None] = lambda: None

    @property
    def open(self) -> bool:
        """Whether it is connected, as far as is known."""
        return self._socket is not None and self._socket.open

    def call(self, method: str, /, *, limit: float | None = None, **params: Any) -> Any:
        """Send a command and return its result.

        Raises:
            NoAnswer: The driver is gone, or did not answer in time.
            RemoteFailure: It refused; `details['error']` is the code of BiDi, such as `no such frame`.
        """
        return self._ready().ask(method, params, limit=limit)

    def call_all(self, commands: Iterable[Command]) -> list[Any]:
        """Send commands at once; their results in this order, in the place of one the error that it was refused with.

        Raises:
            NoAnswer: As `call`.
        """
        return self._ready().ask_all(commands)

    def connect(self) -> None:
        """Have it connected, and told of what is listened to.

        Raises:
            NoAnswer: As `call`.
        """
        self._ready()

    def cdp(self, command: str, *, context: str = "", **params: Any) -> Any:
        """Send a Chrome DevTools Protocol command to a browsing context, or to the browser; Chromium only.

        What it sets is the session's, and outlives this socket.

        Source: https://github.com/GoogleChromeLabs/chromium-bidi (`goog:cdp.getSession`, `goog:cdp.sendCommand`).

        Raises:
            NoAnswer, RemoteFailure: As `call`.
        """
        place = {"session": self.call("goog:cdp.getSession", context=context)["session"]} if context else {}
        return self.call("goog:cdp.sendCommand", method=command, params=params, **place)["result"]

    def listen(self, event: str, listener: Listener) -> None:
        """Be told of an event (`log.entryAdded`) of all the session's browsing contexts from now on.

        Raises:
            NoAnswer: The driver is gone, or did not answer in time; it is subscribed to with the next socket.
            RemoteFailure: It does not know the event.
        """
        self.listen_all({event: listener})

    def listen_all(self, listeners: Mapping[str, Listener], *others: Mapping[str, Listener]) -> None:
        """Be told of several events, which are subscribed to at once: all of them or, where one is not known, none.

        Of each of the `others` as well, where all events of that one are known.

        Raises:
            NoAnswer, RemoteFailure: As `listen`.
        """
        with self._lock:
            socket = self._ready()
            groups = listeners, *others
            refused = self._subscribe(socket, [self._add(one) for one in groups], self._tabs)
            for one, error in zip(groups, refused, strict=True):
                if error:
                    self._remove(one)
            if refused[0]:
                raise refused[0]

    def hear(self, tabs: Collection[str]) -> None:
        """Say which tabs are the session's, by their window handles, where events are told by tab.

        Raises:
            NoAnswer: As `listen`.
        """
        with self._lock:
            self._tabs = {*tabs}
            if self._by_tab and self._socket is not None and self.open and self._listeners:
                self._subscribe_all(self._socket, self._tabs - self._heard)

    def close(self) -> None:
        """Close the socket for good; the session is left as it is."""
        self._closed = True
        socket = self._socket
        if socket is not None:
            socket.close()

    def _ready(self) -> Socket:
        with self._lock:
            socket = self._socket
            if not self._closed and (socket is None or not socket.open):
                self.on_open()
                socket = Socket(self._url, name=self._name, timeout=self._timeout, on_event=self._tell)
                self._socket = socket
                self._heard.clear()
                if self._listeners:
                    self._subscribe_again(socket)
            if socket is None or self._closed:
                self.close()  # of a socket that was just opened, nobody else knows
                raise NoAnswer(self._name, "it is not driven from here any more")
            return socket

    def _add(self, listeners: Mapping[str, Listener]) -> list[str]:
        """Put listeners in place; the events that none was in place for."""
        new = [event for event in listeners if event not in self._listeners]
        for event, listener in listeners.items():
            # Before it is subscribed to: what comes with the subscription is told, too. It may be there since a time
            # when nobody answered.
            known = self._listeners.get(event, ())
            if all(one is not listener for one in known):
                self._listeners[event] = [*known, listener]
        return new

    def _remove(self, listeners: Mapping[str, Listener]) -> None:
        for event, listener in listeners.items():
            self._listeners[event] = [one for one in self._listeners[event] if one is not listener]
            if not self._listeners[event]:
                del self._listeners[event]

    def _subscribe_again(self, socket: Socket) -> None:
        try:
            self._subscribe_all(socket, self._tabs)
        except BaseException:
            socket.close()  # one that hears nothing must not pass for one that does
            raise

    def _subscribe_all(self, socket: Socket, tabs: set[str]) -> None:
        [refused] = self._subscribe(socket, [[*self._listeners]], tabs)
        if refused:
            raise refused

    def _subscribe(self, socket: Socket, groups: list[list[str]], tabs: set[str]) -> list[RemoteFailure | None]:
        """Subscribe to groups of events at once; for each the error that it was refused with."""
        where, found = self._where, set[str]()
        if self._by_tab and tabs:
            there = socket.call("browsingContext.getTree", maxDepth=0)["contexts"]
            found = tabs & {one["context"] for one in there}
            where = {"contexts": sorted(found)}
        if self._by_tab and not found:
            return [None] * len(groups)
        answers = iter(socket.ask_all([("session.subscribe", {"events": one, **where}) for one in groups if one]))
        told = [next(answers) if group else None for group in groups]
        refused = [one if isinstance(one, RemoteFailure) else None for one in told]
        if not refused[0]:
            self._heard |= found
        return refused

    def _tell(self, method: str, params: Mapping[str, Any], _: str) -> None:
        # What a browser remembers of its log it tells with a subscription, whatever user contexts that is for.
        said_in = params.get("source", params).get("userContext") if self._where else None
        if said_in not in {None, self.user_context}:
            return
        for listener in self._listeners.get(method, ()):
            listener(params)
