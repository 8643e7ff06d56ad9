"""WebDriver BiDi of one session: its own socket, opened when it is first needed and again whenever it broke."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from typing import Any

from orchestrator.errors import NoAnswer, RemoteFailure
from orchestrator.webdriver.socket import Socket

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

    def cdp(self, command: str, *, context: str = "", **params: Any) -> Any:
        """Send a Chrome DevTools Protocol command to a browsing context, or to the browser; Chromium only.

        What it sets is the session's, and outlives this socket.

        Source: https://github.com/GoogleChromeLabs/chromium-bidi (`goog:cdp.getSession`, `goog:cdp.sendCommand`).

        Raises:
            NoAnswer, RemoteFailure: As `call`.
        """
        place = {"session": self.call("goog:cdp.getSession", context=context)["session"]} if context else {}
        return self.call("goog:cdp.sendCommand", method=command, params=params, **place)["result"]

    def send(self, method: str, /, **params: Any) -> None:
        """Send a command from a listener, which must not wait; nothing tells what became of it."""
        socket = self._socket
        if socket is not None:
            socket.send(method, **params)

    def listen(self, event: str, listener: Listener) -> None:
        """Be told of an event (`log.entryAdded`) of all the session's browsing contexts from now on.

        Raises:
            NoAnswer: The driver is gone, or did not answer in time; it is subscribed to with the next socket.
            RemoteFailure: It does not know the event.
        """
        self.listen_all({event: listener})

    def listen_all(self, listeners: Mapping[str, Listener]) -> None:
        """Be told of several events, which are subscribed to at once: all of them or, where one is not known, none.

        Raises:
            NoAnswer, RemoteFailure: As `listen`.
        """
        with self._lock:
            socket = self._ready()
            new = [event for event in listeners if event not in self._listeners]
            for event, listener in listeners.items():
                # In place before it is subscribed to: what comes with the subscription is told, too. It may be there
                # since a time when nobody answered.
                known = self._listeners.get(event, ())
                if all(one is not listener for one in known):
                    self._listeners[event] = [*known, listener]
            try:
                if new:
                    self._subscribe(socket, new, self._tabs)
            except RemoteFailure:
                for event, listener in listeners.items():
                    self._listeners[event] = [one for one in self._listeners[event] if one is not listener]
                    if not self._listeners[event]:
                        del self._listeners[event]
                raise

    def hear(self, tabs: Collection[str]) -> None:
        """Say which tabs are the session's, by their window handles, where events are told by tab.

        Raises:
            NoAnswer: As `listen`.
        """
        with self._lock:
            self._tabs = {*tabs}
            if self._by_tab and self._socket is not None and self.open and self._listeners:
                self._subscribe(self._socket, [*self._listeners], self._tabs - self._heard)

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

    def _subscribe_again(self, socket: Socket) -> None:
        try:
            self._subscribe(socket, [*self._listeners], self._tabs)
        except BaseException:
            socket.close()  # one that hears nothing must not pass for one that does
            raise

    def _subscribe(self, socket: Socket, events: list[str], tabs: set[str]) -> None:
        if not self._by_tab:
            socket.call("session.subscribe", events=events, **self._where)
        elif tabs:
            there = {one["context"] for one in socket.call("browsingContext.getTree", maxDepth=0)["contexts"]}
            if found := tabs & there:
                socket.call("session.subscribe", events=events, contexts=sorted(found))
                self._heard |= found

    def _tell(self, method: str, params: Mapping[str, Any], _: str) -> None:
        # What a browser remembers of its log it tells with a subscription, whatever user contexts that is for.
        said_in = params.get("source", params).get("userContext") if self._where else None
        if said_in not in {None, self.user_context}:
            return
        for listener in self._listeners.get(method, ()):
            listener(params)
