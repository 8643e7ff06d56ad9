"""A WebSocket to a browser or driver: sends commands, receives their answers and events."""

from __future__ import annotations

import itertools
import json
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from orchestrator.errors import NoAnswer, OrchestratorError, RemoteFailure
from orchestrator.system.logger import get_logger
from orchestrator.system.machine import LOOPBACK
from orchestrator.system.secrets import without_path
from orchestrator.webdriver import connection_errors

Command = tuple[str, Mapping[str, Any]]
"""A method and its parameters."""
EventHandler = Callable[[str, Mapping[str, Any], str], None]
"""Called with an event's method, parameters and CDP session (empty in BiDi)."""


@dataclass(frozen=True)
class Watch:
    """Events while the answer to a command is waited for.

    Attributes:
        unless: Ends the wait once it is done: the result is None.
        meanwhile: Is called every so many seconds.
        every: Those seconds.
    """

    unless: Future[None]
    meanwhile: Callable[[], object]
    every: float


class WebSocket:
    """A connection for WebDriver BiDi or CDP, which share the shape `{id, method, params}`, answered by id.

    Any thread may call. Events are handled in order of arrival in a thread of the socket, which must not wait: to send
    a command, a listener uses `send`.

    Source: https://www.w3.org/TR/webdriver-bidi/#protocol, https://chromedevtools.github.io/devtools-protocol/.

    Args:
        url: `ws://…` or `wss://…`; user and password in it are sent to the server, and never shown.
        name: The session that errors name.
        timeout: Seconds that one command may take.
        on_event: Called with each event.
    """

    def __init__(self, url: str, *, name: str, timeout: float, on_event: EventHandler) -> None:
        self.url = without_path(url)
        self._name = name
        self._timeout = timeout
        self._on_event = on_event
        self._ids = itertools.count(1)
        self._awaited: dict[int, Future[Any]] = {}
        self._connection = _connect(url, name, timeout)
        threading.Thread(target=self._listen, name=f"socket-{name}", daemon=True).start()

    @property
    def is_open(self) -> bool:
        """True if the connection is open, as far as is known."""
        return self._connection is not None

    def call(self, method: str, /, *, limit: float | None = None, session: str = "", **params: Any) -> Any:
        """Send a command and return its result; see `execute`."""
        return self.execute(method, params, limit=limit, session=session)

    def execute(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        limit: float | None = None,
        session: str = "",
        watch: Watch | None = None,
    ) -> Any:
        """Send a command and return its result; `limit` overrides the timeout, `session` is the CDP session.

        `watch` is what happens until the answer comes.

        Raises:
            NoAnswer: The other end is gone, or did not answer in time.
            RemoteFailure: It refused; `details['error']` is its code.
        """
        [answer] = self.execute_all([(method, params)], limit=limit, session=session, watch=watch)
        if isinstance(answer, RemoteFailure):
            raise answer
        return answer

    def execute_all(
        self,
        commands: Iterable[Command],
        *,
        limit: float | None = None,
        session: str = "",
        watch: Watch | None = None,
    ) -> list[Any]:
        """Send commands at once; returns the results in order, a refused command's entry is its error.

        `watch` is that of `execute`.

        Raises:
            NoAnswer: The other end is gone, or did not answer in time.
        """
        requests = [(next(self._ids), Future[Any](), method, params) for method, params in commands]
        until = time.monotonic() + (limit or self._timeout)
        self._awaited.update((number, answer) for number, answer, *_ in requests)
        try:
            for number, _, method, params in requests:
                self._put(number, method, session, params)
            return [self._result(answer, method, until, limit, watch) for _, answer, method, _ in requests]
        finally:
            for number, *_ in requests:
                self._awaited.pop(number, None)

    def send(self, method: str, /, *, session: str = "", **params: Any) -> None:
        """Send a command without waiting for its answer; a broken connection shows at the next call."""
        try:
            self._put(next(self._ids), method, session, params)
        except OrchestratorError:
            return

    def close(self) -> None:
        """Close the connection; may be repeated."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close_timeout = 0.1
            connection.close()

    def _result(self, answer: Future[Any], method: str, until: float, limit: float | None, watch: Watch | None) -> Any:
        if not (_await_with(answer, until, watch) if watch else _await_end([answer], until)):
            raise NoAnswer(self._name, f"{method} was not answered within {limit or self._timeout:g} s")
        try:
            return answer.result() if answer.done() else None
        except RemoteFailure as refused:
            return refused

    def _put(self, number: int, method: str, session: str, params: Mapping[str, Any]) -> None:
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        connection = self._connection
        try:
            if connection is None:
                raise NoAnswer(self._name, f"its connection to {self.url} is closed")
            connection.send(json.dumps(message))
        except (WebSocketException, OSError) as cause:
            raise NoAnswer(self._name, f"its connection to {self.url} broke") from cause

    def _listen(self) -> None:
        connection = self._connection
        try:
            for text in connection or ():
                if connection is not None:
                    _acknowledge(connection)
                message = json.loads(text)
                if "id" in message:
                    self._answer(message)
                elif "method" in message:
                    self._event(message)
        except (WebSocketException, OSError, ValueError):
            pass  # the waiting calls get an error below
        finally:
            self.close()
            for answer in [*self._awaited.values()]:
                if not answer.done():
                    answer.set_exception(NoAnswer(self._name, f"its connection to {self.url} broke"))

    def _event(self, message: Mapping[str, Any]) -> None:
        try:
            self._on_event(message["method"], message.get("params", {}), message.get("sessionId", ""))
        except Exception as error:  # noqa: BLE001 - a listener's error must not end this thread
            # Without the error's message and the event, which may hold secrets.
            log = get_logger(__name__)
            log.error("a listener failed", event_name=message["method"], error=type(error).__name__)  # noqa: TRY400

    def _answer(self, message: Mapping[str, Any]) -> None:
        answer = self._awaited.get(message["id"] or 0)
        if answer is None or answer.done():
            return
        if "error" in message:
            answer.set_exception(_refused(message))
        else:
            answer.set_result(message.get("result"))


def _await_with(answer: Future[Any], until: float, watch: Watch) -> bool:
    """Wait for an answer, or for what ends the wait; False if neither comes in time."""
    while not _await_end([answer, watch.unless], min(until, time.monotonic() + watch.every)):
        if time.monotonic() >= until:
            return False
        watch.meanwhile()
    return True


def _await_end(ends: list[Future[Any]], until: float) -> bool:
    return bool(wait(ends, max(0.0, until - time.monotonic()), FIRST_COMPLETED).done)


def _connect(url: str, name: str, timeout: float) -> ClientConnection | None:
    parts = urlsplit(url)
    is_local = parts.hostname in LOOPBACK
    try:
        # Without a limit of size, since the body of a response comes as one message.
        connection = connect(
            url, open_timeout=timeout, max_size=None, compression=None, proxy=None if is_local else True
        )
        # Entered for good, since `close` ends it; an unentered connection would warn.
        return ExitStack().enter_context(connection)
    except (WebSocketException, OSError, ValueError) as cause:
        raise connection_errors.no_answer(name, f"nothing answers at {without_path(url)}", cause) from cause


def _acknowledge(connection: ClientConnection) -> None:
    """Acknowledge what came at once: Firefox sends a small event only when the one before it is acknowledged.

    Linux waits 40 ms otherwise, since most answers can carry the acknowledgement.
    """
    if hasattr(socket, "TCP_QUICKACK"):
        with suppress(OSError):
            connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)


def _refused(message: Mapping[str, Any]) -> RemoteFailure:
    """Read an error: BiDi has a code and a message, CDP an object with a number and a message."""
    error = message["error"]
    code, text = (error["code"], error["message"]) if isinstance(error, dict) else (error, message.get("message", ""))
    return RemoteFailure(f"The browser answered {str(code)!r}: {text}.", error=str(code))
