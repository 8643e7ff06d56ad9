"""WebDriver BiDi of one session, over a socket that is opened at its first use."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from orchestrator.errors import NoAnswer, RemoteFailure
from orchestrator.webdriver.websocket import Command, WebSocket

DEFAULT_USER_CONTEXT = "default"
"""The default user context of a browser."""
Listener = Callable[[Mapping[str, Any]], None]
"""Called with an event's parameters in the socket's own thread; it must not wait for an answer of the browser."""


class Bidi:
    """Commands and events of a session's BiDi socket; a new socket after a break renews all subscriptions.

    Chromedriver runs one command of a session at a time, BiDi or classic: while a classic command is in flight, BiDi
    commands wait, but events arrive. Each socket of a session has its own subscriptions, and when it subscribes to the
    log, the browser sends it the entries that it remembers.

    Source: https://www.w3.org/TR/webdriver-bidi/.

    Args:
        url: The capability `webSocketUrl` of the session.
        name: The session that errors name.
        timeout: Seconds that one command may take.
        user_context: The user context whose events are reported; if omitted, those of all.
        by_tab: True if only events of the tabs given by `set_tabs` are reported, since other sessions have tabs in the
            same user context.

    Attributes:
        on_open: Called before each new socket subscribes, the first one too.
        user_context: The user context of the session's tabs.
    """

    def __init__(self, url: str, *, name: str, timeout: float, user_context: str = "", by_tab: bool = False) -> None:
        self.user_context = user_context or DEFAULT_USER_CONTEXT
        self._url = url
        self._scope: dict[str, Any] = {"userContexts": [user_context]} if user_context else {}
        self._name = name
        self._timeout = timeout
        self._lock = threading.RLock()
        self._socket: WebSocket | None = None
        self._closed = False
        self._listeners: dict[str, list[Listener]] = {}
        self.by_tab = by_tab
        self._tabs: set[str] = set()
        self._subscribed_tabs: set[str] = set()
        self.on_open: Callable[[], None] = lambda: None

    @property
    def is_open(self) -> bool:
        """True if the socket is open, as far as is known."""
        return self._socket is not None and self._socket.is_open

    def call(self, method: str, /, *, limit: float | None = None, **params: Any) -> Any:
        """Send a command and return its result.

        Raises:
            NoAnswer: The driver is gone, or did not answer in time.
            RemoteFailure: It refused; `details['error']` is the code of BiDi, such as `no such frame`.
        """
        return self._ready().execute(method, params, limit=limit)

    def call_all(self, commands: Iterable[Command]) -> list[Any]:
        """Send commands at once; returns the results in order, a refused command's entry is its error.

        Raises:
            NoAnswer: As `call`.
        """
        return self._ready().execute_all(commands)

    def connect(self) -> None:
        """Open the socket and renew the subscriptions, unless it is open.

        Raises:
            NoAnswer: As `call`.
        """
        self._ready()

    def cdp(self, command: str, *, context: str = "", **params: Any) -> Any:
        """Send a Chrome DevTools Protocol command to a browsing context, or to the browser; Chromium only.

        Settings made by such a command belong to the session, and outlive this socket.

        Source: https://github.com/GoogleChromeLabs/chromium-bidi (`goog:cdp.getSession`, `goog:cdp.sendCommand`).

        Raises:
            NoAnswer, RemoteFailure: As `call`.
        """
        place = {"session": self.call("goog:cdp.getSession", context=context)["session"]} if context else {}
        return self.call("goog:cdp.sendCommand", method=command, params=params, **place)["result"]

    def listen_all(self, listeners: Mapping[str, Listener], *others: Mapping[str, Listener]) -> None:
        """Subscribe to events such as `log.entryAdded` of all the session's browsing contexts.

        The events of `listeners` are subscribed to together: if the driver does not know one of them, to none. So are
        those of each of the `others`, but a mapping of these with an unknown event is skipped without an error.

        Raises:
            NoAnswer: The driver is gone, or did not answer in time; the next socket subscribes.
            RemoteFailure: The driver does not know an event of `listeners`.
        """
        with self._lock:
            socket = self._ready()
            groups = listeners, *others
            errors = self._subscribe(socket, [self._add(group) for group in groups], self._tabs)
            for group, error in zip(groups, errors, strict=True):
                if error:
                    self._remove(group)
            if errors[0]:
                raise errors[0]

    def set_tabs(self, tabs: Collection[str]) -> None:
        """Set the session's tabs by their window handles; with `by_tab`, subscribe to the events of new ones.

        Raises:
            NoAnswer: As `listen_all`.
        """
        with self._lock:
            self._tabs = {*tabs}
            if self.by_tab and self._socket is not None and self.is_open and self._listeners:
                self._subscribe_all(self._socket, self._tabs - self._subscribed_tabs)

    def close(self) -> None:
        """Close the socket for good; the session lives on."""
        self._closed = True
        socket = self._socket
        if socket is not None:
            socket.close()

    def _ready(self) -> WebSocket:
        with self._lock:
            socket = self._socket
            if not self._closed and (socket is None or not socket.is_open):
                self.on_open()
                socket = WebSocket(self._url, name=self._name, timeout=self._timeout, on_event=self._dispatch)
                self._socket = socket
                self._subscribed_tabs.clear()
                if self._listeners:
                    self._subscribe_again(socket)
            if socket is None or self._closed:
                self.close()  # including a socket opened just now
                raise NoAnswer(self._name, "its connection was closed in this process")
            return socket

    def _add(self, listeners: Mapping[str, Listener]) -> list[str]:
        """Add listeners; returns the events that had none before."""
        new = [event for event in listeners if event not in self._listeners]
        for event, listener in listeners.items():
            # Added before the subscription, with which events may come; not twice, if an earlier one got no answer.
            present = self._listeners.get(event, ())
            if all(other is not listener for other in present):
                self._listeners[event] = [*present, listener]
        return new

    def _remove(self, listeners: Mapping[str, Listener]) -> None:
        for event, listener in listeners.items():
            self._listeners[event] = [other for other in self._listeners[event] if other is not listener]
            if not self._listeners[event]:
                del self._listeners[event]

    def _subscribe_again(self, socket: WebSocket) -> None:
        try:
            self._subscribe_all(socket, self._tabs)
        except BaseException:
            socket.close()  # an open socket without subscriptions would look healthy
            raise

    def _subscribe_all(self, socket: WebSocket, tabs: set[str]) -> None:
        [error] = self._subscribe(socket, [[*self._listeners]], tabs)
        if error:
            raise error

    def _subscribe(self, socket: WebSocket, groups: list[list[str]], tabs: set[str]) -> list[RemoteFailure | None]:
        """Subscribe to groups of events at once; returns for each group the error if it was refused."""
        scope, present = self._scope, set[str]()
        if self.by_tab and tabs:
            contexts = socket.call("browsingContext.getTree", maxDepth=0)["contexts"]
            present = tabs & {context["context"] for context in contexts}
            scope = {"contexts": sorted(present)}
        if self.by_tab and not present:
            return [None] * len(groups)
        commands = [("session.subscribe", {"events": group, **scope}) for group in groups if group]
        answers = iter(socket.execute_all(commands))
        results = [next(answers) if group else None for group in groups]
        errors = [result if isinstance(result, RemoteFailure) else None for result in results]
        if not errors[0]:
            self._subscribed_tabs |= present
        return errors

    def _dispatch(self, method: str, params: Mapping[str, Any], _: str) -> None:
        # The browser sends remembered log entries of all user contexts, whatever the subscription is for.
        user_context = params.get("source", params).get("userContext") if self._scope else None
        if user_context not in {None, self.user_context}:
            return
        for listener in self._listeners.get(method, ()):
            listener(params)
