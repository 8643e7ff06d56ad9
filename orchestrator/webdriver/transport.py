"""HTTP transport of WebDriver commands, bounded in time and size; any thread can cancel it."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from weakref import WeakSet

from orchestrator.system import http
from orchestrator.system.deadline import Deadline
from orchestrator.webdriver.response import RemoteResponse

if TYPE_CHECKING:
    from orchestrator.webdriver.http_link import HttpLink

LARGEST = 256 * 1024 * 1024
"""Bytes of an answer that are read: more than any picture, page or file of a download has."""
_GRACE = 0.25
"""Seconds after its time in which a command that gets no byte ends by itself, before its sockets are cut."""


class OpenSockets:
    """The open sockets of a transport, and whether it was cancelled.

    The link refers to this, not to its transport: without a cycle its sockets are closed with the last reference.
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
        self._is_shut_down = True
        self.cut()

    def cut(self) -> None:
        """Shut down the sockets that are open now: what waits at them fails."""
        with self._lock:
            for connected in self._sockets:
                with contextlib.suppress(OSError):
                    connected.shutdown(socket.SHUT_RDWR)


class HttpTransport:
    """Sends commands to one remote end over a connection that is kept between them.

    Headers, proxies and trusted authorities (`REQUESTS_CA_BUNDLE`) are selenium's, but for this machine no proxy is
    used. No request is sent twice, and no redirect is followed: what is sent, the password with it, goes to no other
    place than the remote URL.

    Args:
        url: The remote URL without user and password.
        account: User and password for basic authentication.
    """

    def __init__(self, url: str, account: tuple[str, str] | None) -> None:
        self._url = url.rstrip("/")
        self._account = account
        self._link: HttpLink | None = None
        self._sockets = OpenSockets()

    def send(
        self, method: str, path: str, body: Mapping[str, Any], timeout: float, meanwhile: Callable[[], object]
    ) -> RemoteResponse:
        """Send a request to a path below the remote URL; only POST has a body.

        `timeout` is in seconds, from now to the last byte of the answer, however steadily that comes. An answer that
        is larger than `LARGEST` is an error, and the rest of it is not read. `meanwhile` is called every so often until
        the answer of a driver of this machine begins; what it raises gives up the command.

        Raises:
            TimeoutError: No whole answer came in time.
            OSError: The connection failed, or was cancelled; the cause is the HTTP client's error where it has one.
        """
        link, deadline = self._find_link(), Deadline(timeout)
        content = json.dumps(body).encode() if method == "POST" else None
        try:
            with _WATCH.cutting(self._sockets, deadline):
                status, data = link.send(method, path, content, timeout, LARGEST, meanwhile)
        except http.ConnectionFailed as failure:
            if deadline.seconds_left:
                raise
            raise TimeoutError("its answer has no end") from failure
        if deadline.seconds_over >= _GRACE:  # a body without a length ends where it was cut
            raise TimeoutError("its answer has no end")
        if len(data) > LARGEST:
            return RemoteResponse(None, "unknown error", f"its answer is larger than {LARGEST >> 20} MB")
        response = RemoteResponse.read(status, data)
        if response.error == "unknown command":
            self.close()  # geckodriver closes the connection after such an answer, perhaps under the next command
        return response

    def close(self) -> None:
        """Close the idle connection; a command in flight goes on, and the next one opens another connection."""
        link, self._link = self._link, None
        if link:
            link.close()

    def cancel(self) -> None:
        """Cut the connection for good: a command in flight fails, and so does every later one."""
        self._sockets.shut_down()

    def _find_link(self) -> HttpLink:
        if self._link is None:
            self._link = self._make_link()
        return self._link

    def _make_link(self) -> HttpLink:
        # Selenium and an HTTP client load with the first command, not with us.
        from selenium.webdriver.remote.client_config import ClientConfig  # noqa: PLC0415
        from selenium.webdriver.remote.remote_connection import RemoteConnection  # noqa: PLC0415

        from orchestrator.webdriver.http_link import open_link  # noqa: PLC0415

        user, password = self._account or (None, None)
        config = ClientConfig(remote_server_addr=self._url, username=user, password=password)
        headers = {
            **RemoteConnection.get_remote_connection_headers(urlsplit(self._url), keep_alive=True),
            **(config.get_auth_header() or {}),
        }
        return open_link(self._url, headers, self._sockets.add, proxy=config.get_proxy_url(), ca_certs=config.ca_certs)


class _Watch:
    """Cuts the sockets of commands whose time is up: a server that sends a byte a second never runs into a timeout.

    One thread serves all commands of this process, from the first one on.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: dict[Deadline, OpenSockets] = {}
        self._wakes_at: Deadline | None = None
        self._runs = False

    @contextlib.contextmanager
    def cutting(self, sockets: OpenSockets, deadline: Deadline) -> Iterator[None]:
        """Cut these sockets if the block lasts longer than the deadline."""
        with self._changed:
            self._waiting[deadline] = sockets
            if not self._runs:
                self._runs = True
                threading.Thread(target=self._run, name="webdriver-deadlines", daemon=True).start()
            # Nearly always another command's time is up earlier: then the thread sleeps on.
            if self._wakes_at is None or deadline.seconds_left < self._wakes_at.seconds_left:
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                del self._waiting[deadline]

    def _run(self) -> None:
        with self._changed:
            while True:
                over = [one for one in self._waiting if one.seconds_over >= _GRACE]
                for one in over:
                    self._waiting[one].cut()
                open_ = (one for one in self._waiting if one not in over)
                self._wakes_at = min(open_, key=lambda one: one.seconds_left, default=None)
                self._changed.wait(self._wakes_at.seconds_left + _GRACE if self._wakes_at else None)


_WATCH = _Watch()
