"""The sockets below a connection, held so that another thread can cut them under a command in flight."""

from __future__ import annotations

import contextlib
import socket
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from selenium.webdriver.remote.remote_connection import RemoteConnection


class Line:
    """What is below the connections of one client; once it is cut, nothing goes through any of them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._sockets: list[socket.socket] = []
        self._is_cut = False

    def hold(self, connection: RemoteConnection, url: str) -> None:
        """Have a connection to `url` opened on this line from now on."""
        # Selenium has no name for its pool of connections, nor urllib3 for the one that is in use.
        pool: Any = connection._conn.connection_from_url(url)  # noqa: SLF001
        line = self

        class Held(pool.ConnectionCls):  # type: ignore[misc]
            def connect(self) -> None:
                super().connect()
                line._hold(self.sock)

        pool.ConnectionCls = Held

    def cut(self) -> None:
        """Close the connection, whatever is going through it; who waits for an answer there gets an error."""
        with self._lock:
            self._is_cut = True
            for held in self._sockets:
                with contextlib.suppress(OSError):
                    held.shutdown(socket.SHUT_RDWR)

    def _hold(self, opened: socket.socket) -> None:
        with self._lock:
            self._sockets = [one for one in self._sockets if one.fileno() >= 0] + [opened]
            if self._is_cut:
                raise ConnectionAbortedError("the line was cut")
