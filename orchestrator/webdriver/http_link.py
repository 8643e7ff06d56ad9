"""HTTP to remote ends: plainly to drivers of this machine, through urllib3 to others.

The layers of urllib3 cost a command more processor time than all of the rest here. A driver of this machine has no use
for what they do: certificates, proxies, compressed answers.
"""

from __future__ import annotations

import functools
import http.client
import socket
import weakref
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from typing import Any, Protocol
from urllib.parse import quote, urlsplit

from urllib3.util.wait import wait_for_read

from orchestrator.system import http as http_pool
from orchestrator.system.deadline import Deadline
from orchestrator.system.machine import LOOPBACK

_IN_PATHS = "/%:@!$&'()*+,;=?~"
"""Signs that stand in a path as they are."""

_LOOKS_EVERY = 0.25
"""Seconds between two calls of `meanwhile`."""

Meanwhile = Callable[[], object]
"""Work to do while an answer is waited for."""
OnConnect = Callable[[socket.socket], None]
"""Gets the socket of each new connection, and may refuse it."""


class HttpLink(Protocol):
    """Requests to one remote end, over a connection that is kept between them; none is sent twice."""

    def send(
        self, method: str, path: str, content: bytes | None, timeout: float, largest: int, meanwhile: Meanwhile
    ) -> tuple[int, bytes]:
        """Return the status of the answer, and its body.

        Args:
            method: That of HTTP.
            path: Below the remote URL.
            content: The body.
            timeout: Seconds without a byte after which it is given up.
            largest: Bytes of the body; of a larger one a byte more is returned, and the rest is not read.
            meanwhile: Is called every so often until the answer begins, as far as the connection allows; it may raise.

        Raises:
            TimeoutError: It was given up.
            ConnectionFailed: No whole answer came; the cause says why.
        """
        ...

    def close(self) -> None:
        """Close what is idle; a request in flight goes on."""
        ...


def open_link(
    url: str, headers: Mapping[str, str], on_connect: OnConnect, *, proxy: str | None, ca_certs: str | None
) -> HttpLink:
    """Return the link to a remote end at this URL, which has no user and password.

    Args:
        url: The remote URL.
        headers: Of each request.
        on_connect: Gets the sockets.
        proxy: For URLs beyond this machine.
        ca_certs: A file with the certificates of trusted authorities.
    """
    parts = urlsplit(url)
    if parts.hostname in LOOPBACK and parts.scheme == "http":
        return _DirectLink(url, headers, on_connect)
    return _PooledLink(url, headers, on_connect, None if parts.hostname in LOOPBACK else proxy, ca_certs)


class _DirectLink:
    """Requests over plain connections; one that comes while another is in flight gets a connection of its own."""

    def __init__(self, url: str, headers: Mapping[str, str], on_connect: OnConnect) -> None:
        parts = urlsplit(url)
        self._address = parts.hostname or "", parts.port or http.client.HTTP_PORT
        self._path = parts._replace(scheme="", netloc="").geturl()
        self._headers = {**headers, "Host": parts.netloc}
        self._on_connect = on_connect
        self._idle: list[http.client.HTTPConnection] = []
        self._is_closed = False
        weakref.finalize(self, _close_all, self._idle)

    def send(
        self, method: str, path: str, content: bytes | None, timeout: float, largest: int, meanwhile: Meanwhile
    ) -> tuple[int, bytes]:
        """Send a request, and read its answer."""
        try:
            with ExitStack() as stack:
                connection = self._take_idle() or self._connect(timeout)
                stack.callback(connection.close)
                connection.sock.settimeout(timeout)
                connection.request(method, f"{self._path}{quote(path, _IN_PATHS)}", content, self._headers)
                _await_answer(connection.sock, timeout, meanwhile)
                status, data, stays_open = _read_answer(connection, largest)
                if stays_open:
                    stack.pop_all()
                    self._idle.append(connection)
        except TimeoutError:
            raise
        except (OSError, http.client.HTTPException) as error:
            raise http_pool.ConnectionFailed(str(error) or type(error).__name__) from error
        if self._is_closed:
            _close_all(self._idle)
        return status, data

    def close(self) -> None:
        """Close the idle connections, and others at the end of their requests."""
        self._is_closed = True
        _close_all(self._idle)

    def _take_idle(self) -> http.client.HTTPConnection | None:
        while True:
            try:
                idle = self._idle.pop()
            except IndexError:
                return None
            if _is_quiet(idle.sock):
                return idle
            idle.close()

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection(*self._address, timeout)
        try:
            connection.connect()
            self._on_connect(connection.sock)
        except BaseException:
            connection.close()
            raise
        return connection


class _PooledLink:
    """Requests through a pool of urllib3."""

    def __init__(
        self, url: str, headers: Mapping[str, str], on_connect: OnConnect, proxy: str | None, ca_certs: str | None
    ) -> None:
        self._url = url
        self._headers = headers
        self._pool = http_pool.open_pool(proxy, ca_certs)
        connections = self._pool.connection_from_url(url)
        connections.ConnectionCls = _watched(connections.ConnectionCls)
        connections.conn_kw["on_connect"] = on_connect

    def send(
        self, method: str, path: str, content: bytes | None, timeout: float, largest: int, meanwhile: Meanwhile
    ) -> tuple[int, bytes]:
        """Send a request, and read its answer."""
        del meanwhile  # urllib3 waits for itself
        with http_pool.translate_errors():
            answer = self._pool.urlopen(
                method, f"{self._url}{path}", body=content, headers=self._headers, timeout=timeout,
                retries=False, redirect=False, preload_content=False,
            )  # fmt: skip
            try:
                return answer.status, answer.read(largest + 1)
            finally:
                answer.close()  # which keeps the connection of an answer that was read to its end

    def close(self) -> None:
        """Close the pool."""
        self._pool.clear()


class _WatchedConnection:
    """Mixin for urllib3's connections that reports the socket of each `connect`."""

    sock: socket.socket

    def __init__(self, *args: Any, on_connect: OnConnect, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._on_connect = on_connect

    def connect(self) -> None:
        """Connect, then report."""
        super().connect()  # type: ignore[misc]
        self._on_connect(self.sock)


@functools.cache
def _watched(kind: type[Any]) -> type[Any]:
    """Return a connection class of urllib3's (HTTP, HTTPS or SOCKS) with the mixin."""
    return type(f"Watched{kind.__name__}", (_WatchedConnection, kind), {})


def _await_answer(connected: socket.socket, timeout: float, meanwhile: Meanwhile) -> None:
    """Wait until an answer begins, or is overdue."""
    deadline = Deadline(timeout)
    while deadline.seconds_left and not wait_for_read(connected, min(_LOOKS_EVERY, deadline.seconds_left)):
        meanwhile()


def _read_answer(connection: http.client.HTTPConnection, largest: int) -> tuple[int, bytes, bool]:
    """Return the status and the body of an answer, and True if another request may follow it."""
    with connection.getresponse() as answer:
        data = answer.read(largest + 1)
        if answer.length and len(data) <= largest:
            raise http.client.IncompleteRead(data, answer.length)
        return answer.status, data, answer.isclosed() and not answer.will_close


def _close_all(connections: list[http.client.HTTPConnection]) -> None:
    with suppress(IndexError):
        while True:
            connections.pop().close()


def _is_quiet(idle: socket.socket) -> bool:
    """Return True if a connection can be used again: its driver neither closed it nor sent what nobody asked for."""
    idle.settimeout(0)
    try:
        idle.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
