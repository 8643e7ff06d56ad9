"""An HTTP server of this machine that leaves no thread and no socket behind."""

from __future__ import annotations

import socket
import socketserver
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

_HOST = "127.0.0.1"


class Serving:
    """A handler on a free port of this machine, for as long as the `with` block runs."""

    def __init__(self, name: str, handler: Callable[..., BaseHTTPRequestHandler]) -> None:
        self._listener = _Listener((_HOST, 0), handler)
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.05,), name=name, daemon=True)

    @property
    def url(self) -> str:
        """Where a browser finds it."""
        return f"http://{_HOST}:{self._listener.server_port}/"

    def __enter__(self) -> Self:
        """Serve from now on."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop taking requests, end the open connections and wait for every thread."""
        self._listener.shutdown()
        self.let_go()
        self._listener.hang_up()
        self._listener.server_close()
        self._thread.join()

    def let_go(self) -> None:
        """End what would keep a connection's thread; for those that have such a thing."""


class _Listener(ThreadingHTTPServer):
    """An HTTP server that can end its open connections.

    A browser keeps its connections open for the next request: waiting for their threads without hanging up would
    take as long as the browser lives. The threads are no daemons, because daemons are not waited for.
    """

    daemon_threads = False

    def __init__(self, *args: Any) -> None:
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(*args)

    def server_bind(self) -> None:
        """Bind without looking up our own name, which takes seconds on some machines."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = _HOST, self.socket.getsockname()[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection, then serve it in its thread."""
        with self._lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget the connection once it is served."""
        with self._lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """Close every open connection from our side."""
        with self._lock:
            for connection in self._connections:
                # It may be closed already from the other side.
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A page that went away in mid-answer is no error; anything else is shown."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)
