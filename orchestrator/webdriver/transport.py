"""HTTP transport of WebDriver commands; another thread can cancel the command in flight."""

from __future__ import annotations

import contextlib
import functools
import json
import socket
from collections.abc import Callable, Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from weakref import WeakSet

from orchestrator.system import http
from orchestrator.system.machine import LOOPBACK
from orchestrator.webdriver.response import RemoteResponse

if TYPE_CHECKING:
    import urllib3


class OpenSockets:
    """The open sockets of a transport, and whether it was cancelled.

    The pool refers to this, and not to its transport: without a cycle its sockets are closed with the last reference.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._sockets: WeakSet[socket.socket] = WeakSet()
        self._is_shut_down = False

    def add(self, connected: socket.socket) -> None:
        """Add the socket of a new connection.

        Raises:
            ConnectionAbortedError: They were shut down.
        """
        with self._lock:
            self._sockets.add(connected)
            if self._is_shut_down:
                raise ConnectionAbortedError("the connection was cancelled")

    def shut_down(self) -> None:
        """Shut down all sockets, and those that are added later."""
        with self._lock:
            self._is_shut_down = True
            for connected in self._sockets:
                with contextlib.suppress(OSError):
                    connected.shutdown(socket.SHUT_RDWR)


class HttpTransport:
    """Sends commands to one remote end over a connection that is kept between them.

    Headers, proxies and trusted authorities (`REQUESTS_CA_BUNDLE`) are selenium's, but for this machine no proxy is
    used. No request is sent twice, and no redirect is followed.

    Args:
        url: The remote URL without user and password.
        account: User and password for basic authentication.
    """

    def __init__(self, url: str, account: tuple[str, str] | None) -> None:
        self._url = url.rstrip("/")
        self._account = account
        self._headers: Mapping[str, str] = {}
        self._pool: urllib3.PoolManager | None = None
        self._sockets = OpenSockets()

    def send(self, method: str, path: str, body: Mapping[str, Any], timeout: float) -> RemoteResponse:
        """Send a request to a path below the remote URL; `timeout` is in seconds. Only POST has a body.

        Raises:
            TimeoutError: No answer came in time.
            OSError: The connection failed, or was cancelled; the cause is urllib3's error where it has one.
        """
        pool = self._pool = self._pool or self._open_pool()
        with http.translate_errors():
            answer = pool.urlopen(
                method, f"{self._url}{path}", body=json.dumps(body) if method == "POST" else None,
                headers=self._headers, timeout=timeout, retries=False, redirect=False,
            )  # fmt: skip
        return RemoteResponse.read(answer.status, answer.reason or "", answer.data)

    def close(self) -> None:
        """Close the idle connection; a command in flight goes on, and the next one opens another connection."""
        pool, self._pool = self._pool, None
        if pool:
            pool.clear()

    def cancel(self) -> None:
        """Cut the connection for good: a command in flight fails, and so does every later one."""
        self._sockets.shut_down()

    def _open_pool(self) -> urllib3.PoolManager:
        # Selenium and urllib3 load with the first command, not with us.
        from selenium.webdriver.remote.client_config import ClientConfig  # noqa: PLC0415
        from selenium.webdriver.remote.remote_connection import RemoteConnection  # noqa: PLC0415

        user, password = self._account or (None, None)
        config = ClientConfig(remote_server_addr=self._url, username=user, password=password)
        parts = urlsplit(self._url)
        self._headers = {
            **RemoteConnection.get_remote_connection_headers(parts, keep_alive=True),
            **(config.get_auth_header() or {}),
        }
        pool = http.open_pool(None if parts.hostname in LOOPBACK else config.get_proxy_url(), config.ca_certs)
        connections = pool.connection_from_url(self._url)
        connections.ConnectionCls = _watched(connections.ConnectionCls)
        connections.conn_kw["on_connect"] = self._sockets.add
        return pool


class _WatchedConnection:
    """Mixin for urllib3's connections that reports the socket of each `connect`."""

    sock: socket.socket

    def __init__(self, *args: Any, on_connect: Callable[[socket.socket], None], **kwargs: Any) -> None:
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
