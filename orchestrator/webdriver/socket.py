"""A WebSocket to a browser or driver: commands go out on it, their answers and events come in, in their order."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotInTime
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import structlog
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from orchestrator.errors import NoAnswer, OrchestratorError, RemoteFailure
from orchestrator.machine import LOOPBACK
from orchestrator.secrets import without_credentials

Command = tuple[str, Mapping[str, Any]]
"""A method and its parameters."""
Event = Callable[[str, Mapping[str, Any], str], None]
"""Told of an event: its method, its parameters, and the CDP session it came on (empty in BiDi)."""


class Socket:
    """WebDriver BiDi and the Chrome DevTools Protocol have one shape: `{id, method, params}`, answered under the id.

    Any thread may call. Events are told in the order in which they came, in a thread of the socket's own that must not
    wait: a listener that has something to say to the browser uses `send`.

    Source: https://www.w3.org/TR/webdriver-bidi/#protocol, https://chromedevtools.github.io/devtools-protocol/.

    Args:
        url: `ws://…` or `wss://…`; user and password in it are sent to the server alone.
        name: The session that errors name.
        timeout: Seconds that one command may take.
        on_event: Told of each event.
    """

    def __init__(self, url: str, *, name: str, timeout: float, on_event: Event) -> None:
        self.url = without_credentials(url)
        self._name = name
        self._timeout = timeout
        self._on_event = on_event
        self._ids = itertools.count(1)
        self._awaited: dict[int, Future[Any]] = {}
        self._connection = _connect(url, name, timeout)
        threading.Thread(target=self._listen, name=f"socket-{name}", daemon=True).start()

    @property
    def open(self) -> bool:
        """Whether commands still reach the other end, as far as is known."""
        return self._connection is not None

    def call(self, method: str, /, *, limit: float | None = None, session: str = "", **params: Any) -> Any:
        """Send a command and return its result, see `ask`."""
        return self.ask(method, params, limit=limit, session=session)

    def ask(self, method: str, params: Mapping[str, Any], *, limit: float | None = None, session: str = "") -> Any:
        """Send a command and return its result; `limit` overrides the timeout, `session` is a CDP session.

        Raises:
            NoAnswer: The other end is gone, or did not answer in time.
            RemoteFailure: It refused; `details['error']` is its code.
        """
        [answer] = self.ask_all([(method, params)], limit=limit, session=session)
        if isinstance(answer, RemoteFailure):
            raise answer
        return answer

    def ask_all(self, commands: Iterable[Command], *, limit: float | None = None, session: str = "") -> list[Any]:
        """Send commands at once; their results in this order, in the place of one the error that it was refused with.

        Raises:
            NoAnswer: The other end is gone, or did not answer in time.
        """
        asked = [(next(self._ids), Future[Any](), method, params) for method, params in commands]
        until = time.monotonic() + (limit or self._timeout)
        self._awaited.update((number, answer) for number, answer, *_ in asked)
        try:
            for number, _, method, params in asked:
                self._put(number, method, session, params)
            return [self._result(answer, method, until, limit) for _, answer, method, _ in asked]
        finally:
            for number, *_ in asked:
                self._awaited.pop(number, None)

    def send(self, method: str, /, *, session: str = "", **params: Any) -> None:
        """Send a command whose answer nobody waits for; what hinders it shows at the next call."""
        try:
            self._put(next(self._ids), method, session, params)
        except OrchestratorError:
            return

    def close(self) -> None:
        """Close it; may be repeated."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close_timeout = 0.1
            connection.close()

    def _result(self, answer: Future[Any], method: str, until: float, limit: float | None) -> Any:
        try:
            return answer.result(max(0.0, until - time.monotonic()))
        except RemoteFailure as refused:
            return refused
        except NotInTime:
            reason = f"{method} was not answered within {limit or self._timeout:g} s"
            raise NoAnswer(self._name, reason) from None

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
                message = json.loads(text)
                if "id" in message:
                    self._answer(message)
                elif "method" in message:
                    self._event(message)
        except (WebSocketException, OSError, ValueError):
            pass  # whoever waits for an answer is told below
        finally:
            self.close()
            for answer in [*self._awaited.values()]:
                if not answer.done():
                    answer.set_exception(NoAnswer(self._name, f"its connection to {self.url} broke"))

    def _event(self, message: Mapping[str, Any]) -> None:
        try:
            self._on_event(message["method"], message.get("params", {}), message.get("sessionId", ""))
        except Exception as error:  # noqa: BLE001 - whatever it was
            # One listener that fails must not keep the answers from everybody else. The event may hold secrets.
            log = structlog.get_logger(__name__)
            log.error("a listener failed", event_name=message["method"], error=type(error).__name__)  # noqa: TRY400

    def _answer(self, message: Mapping[str, Any]) -> None:
        answer = self._awaited.get(message["id"] or 0)
        if answer is None or answer.done():
            return
        if "error" in message:
            answer.set_exception(_refused(message))
        else:
            answer.set_result(message.get("result"))


def _connect(url: str, name: str, timeout: float) -> ClientConnection | None:
    parts = urlsplit(url)
    here = parts.hostname in LOOPBACK
    try:
        # A body of a response comes as one message.
        opened = connect(url, open_timeout=timeout, max_size=None, compression=None, proxy=None if here else True)
        # It lives on beyond any block: `close` ends it. Without this it would warn.
        return ExitStack().enter_context(opened)
    except (WebSocketException, OSError, ValueError) as cause:
        raise NoAnswer(name, f"nobody answers at {without_credentials(url)}") from cause


def _refused(message: Mapping[str, Any]) -> RemoteFailure:
    """BiDi gives a code and a message; CDP an object with a number and a message."""
    error = message["error"]
    code, said = (error["code"], error["message"]) if isinstance(error, dict) else (error, message.get("message", ""))
    return RemoteFailure(f"The browser answered {str(code)!r}: {said}.", error=str(code))
