"""WebDriver BiDi of one session, over a socket that is opened at its first use."""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from orchestrator.errors import NoAnswer, RemoteFailure
from orchestrator.webdriver.websocket import Command, Watch, WebSocket

DEFAULT_USER_CONTEXT = "default"
"""The default user context of a browser."""
_MOST_SUBSCRIPTIONS = 100
"""Subscriptions of a group that are remembered: with `by_tab` each tab has one."""
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
        self._subscriptions: dict[tuple[str, ...], list[str]] = {}
        self._muted: frozenset[str] = frozenset()
        self.by_tab = by_tab
        self._tabs: set[str] = set()
        self._subscribed_tabs: set[str] = set()
        self._taps: dict[str, list[Listener]] = {}
        self._tapped: dict[str, str] = {}
        self._diverted: dict[str, Mapping[str, Listener]] = {}
        self.on_open: Callable[[], None] = lambda: None

    @property
    def is_open(self) -> bool:
        """True if the socket is open, as far as is known."""
        return self._socket is not None and self._socket.is_open

    def hears(self, events: Collection[str]) -> bool:
        """Return True if the events are subscribed to: the driver has not refused them."""
        return {*events}.issubset(event for group in [*self._subscriptions] for event in group)

    def call(self, method: str, /, *, limit: float | None = None, watch: Watch | None = None, **params: Any) -> Any:
        """Send a command and return its result; `watch` is what happens until the answer comes.

        Raises:
            NoAnswer: The driver is gone, or did not answer in time.
            RemoteFailure: It refused; `details['error']` is the code of BiDi, such as `no such frame`.
        """
        return self._ready().execute(method, params, limit=limit, watch=watch)

    def send(self, method: str, /, **params: Any) -> None:
        """Send a command without waiting for its answer, as listeners must; does nothing without an open socket."""
        if socket := self._socket:
            socket.send(method, **params)

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

    def listen_all(self, *required: Mapping[str, Listener], optional: Iterable[Mapping[str, Listener]] = ()) -> None:
        """Subscribe to events such as `log.entryAdded` of all the session's browsing contexts.

        The events of one mapping are subscribed to together: if the driver does not know one of them, to none. An
        optional mapping with an unknown event is skipped without an error.

        Raises:
            NoAnswer: The driver is gone, or did not answer in time; the next socket subscribes.
            RemoteFailure: The driver does not know a required event.
        """
        with self._lock:
            socket = self._ready()
            groups = [*required, *optional]
            errors = self._subscribe(socket, [self._add(group) for group in groups], self._tabs)
            for group, error in zip(groups, errors, strict=True):
                if error:
                    self._remove(group)
            self._subscribe_orphans(socket)
            if refusals := [error for error in errors[: len(required)] if error]:
                raise refusals[0]

    def tap(self, event: str, listener: Listener) -> None:
        """Let a listener have an event of the session even while it is muted; may be repeated.

        Raises:
            NoAnswer, RemoteFailure: As `call`.
        """
        with self._lock:
            taps = self._taps.get(event, [])
            if listener not in taps:
                self._taps[event] = [*taps, listener]
            socket = self._ready()
            if event not in self._tapped:
                self._tapped[event] = str(socket.call("session.subscribe", events=[event])["subscription"])

    def untap(self, listener: Listener) -> None:
        """Let a listener have no event any more; it may call this, since it does not wait."""
        self._taps = {
            event: others
            for event, taps in self._taps.items()
            if (others := [other for other in taps if other != listener])
        }
        for event in [event for event in self._tapped if event not in self._taps]:
            self.send("session.unsubscribe", subscriptions=[self._tapped.pop(event)])

    @contextmanager
    def diverting(self, context: str, event: str, listener: Listener) -> Iterator[None]:
        """Let a listener alone have an event of a browsing context that is ours; the session gets none of its events.

        Raises:
            NoAnswer, RemoteFailure: As `call`.
        """
        self._diverted[context] = {event: listener}
        try:
            subscription = self.call("session.subscribe", events=[event], contexts=[context])["subscription"]
            try:
                yield
            finally:
                self.send("session.unsubscribe", subscriptions=[subscription])
        finally:
            del self._diverted[context]

    def mute(self, events: Collection[str]) -> None:
        """Stop events that were subscribed to together, at the browser; listeners may call it, since it does not wait.

        Those that are under way are dropped.
        """
        self._muted |= {*events}
        for group in [group for group in self._subscriptions if self._muted.issuperset(group)]:
            self._unsubscribe(group)

    def unmute(self, events: Collection[str]) -> None:
        """Subscribe to muted events again.

        Raises:
            NoAnswer: As `listen_all`.
        """
        with self._lock:
            socket = self._ready()
            self._muted -= {*events}
            lacking = [
                [*group] for group, ids in self._subscriptions.items() if not ids and {*events}.issuperset(group)
            ]
            self._subscribe(socket, lacking, self._tabs)

    def set_tabs(self, tabs: Collection[str]) -> None:
        """Set the session's tabs by their window handles; with `by_tab`, subscribe to the events of new ones.

        Raises:
            NoAnswer: As `listen_all`.
        """
        with self._lock:
            self._tabs = {*tabs}
            self._subscribed_tabs &= self._tabs
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
                self._tapped = {}
                self._subscriptions = {group: [] for group in self._subscriptions}
                if self._listeners or self._taps:
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

    def _subscribe_orphans(self, socket: WebSocket) -> None:
        """Subscribe to events that still have listeners, but were refused with the group of others."""
        subscribed = {event for group in self._subscriptions for event in group}
        if orphans := [event for event in self._listeners if event not in subscribed]:
            self._subscribe(socket, [[event] for event in orphans], self._tabs)

    def _subscribe_again(self, socket: WebSocket) -> None:
        try:
            self._subscribe_all(socket, self._tabs)
        except BaseException:
            socket.close()  # an open socket without subscriptions would look healthy
            raise

    def _subscribe_all(self, socket: WebSocket, tabs: set[str]) -> None:
        for event in self._taps.keys() - self._tapped.keys():
            self._tapped[event] = str(socket.call("session.subscribe", events=[event])["subscription"])
        groups = [[*group] for group in self._subscriptions if not self._muted.issuperset(group)]
        if refusals := [error for error in self._subscribe(socket, groups, tabs) if error]:
            raise refusals[0]

    def _subscribe(self, socket: WebSocket, groups: list[list[str]], tabs: set[str]) -> list[RemoteFailure | None]:
        """Subscribe to groups of events at once; returns for each group the error if it was refused."""
        scope, present = self._scope, set[str]()
        if self.by_tab and tabs:
            contexts = socket.call("browsingContext.getTree", maxDepth=0)["contexts"]
            present = tabs & {context["context"] for context in contexts}
            scope = {"contexts": sorted(present)}
        self._subscriptions.update(
            {tuple(group): [] for group in groups if group and tuple(group) not in self._subscriptions}
        )
        if self.by_tab and not present:
            return [None] * len(groups)
        commands = [("session.subscribe", {"events": group, **scope}) for group in groups if group]
        answers = iter(socket.execute_all(commands))
        results = [next(answers) if group else None for group in groups]
        for group, result in zip(groups, results, strict=True):
            self._note(tuple(group), result)
        errors = [result if isinstance(result, RemoteFailure) else None for result in results]
        if not any(errors[:1]):
            self._subscribed_tabs |= present
        return errors

    def _note(self, group: tuple[str, ...], result: Any) -> None:
        """Note the answer to a subscription: its id, or that it was refused."""
        if isinstance(result, RemoteFailure):
            self._subscriptions.pop(group, None)
        elif group:
            self._subscriptions[group].append(str((result or {}).get("subscription") or ""))
            del self._subscriptions[group][:-_MOST_SUBSCRIPTIONS]
            if self._muted.issuperset(group):  # meanwhile
                self._unsubscribe(group)

    def _unsubscribe(self, group: tuple[str, ...]) -> None:
        ids, self._subscriptions[group] = self._subscriptions[group], []
        if self._socket is not None and any(ids):
            self._socket.send("session.unsubscribe", subscriptions=[*filter(None, ids)])

    def _dispatch(self, method: str, params: Mapping[str, Any], _: str) -> None:
        ours = self._diverted.get(params.get("source", params).get("context") or "") if self._diverted else None
        if ours is not None:
            if listener := ours.get(method):
                listener(params)
            return
        for listener in self._taps.get(method, ()):
            listener(params)
        # The browser sends remembered log entries of all user contexts, whatever the subscription is for.
        user_context = params.get("source", params).get("userContext") if self._scope else None
        if user_context not in {None, self.user_context}:
            return
        for listener in () if method in self._muted else self._listeners.get(method, ()):
            listener(params)


def read_bytes(value: Mapping[str, str]) -> bytes:
    """Return the bytes of a `network.BytesValue`, as which BiDi writes headers, cookies and bodies."""
    return base64.b64decode(value["value"]) if value["type"] == "base64" else value["value"].encode()
