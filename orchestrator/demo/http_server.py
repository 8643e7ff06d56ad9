"""A local HTTP server that ends all its threads and sockets when it stops."""

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


class LocalHttpServer:
    """Serves a handler while the `with` block runs.

    Args:
        name: The name of its thread.
        handler: Makes the handler of a connection.
        address: Host and port to listen at; a free port, for this machine alone, unless given.
    """

    def __init__(
        self, name: str, handler: Callable[..., BaseHTTPRequestHandler], *, address: tuple[str, int] = (_HOST, 0)
    ) -> None:
        self._listener = _Listener(address, handler)
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.05,), name=name, daemon=True)

    @property
    def url(self) -> str:
        """The server's URL on this machine."""
        return f"http://{_HOST}:{self._listener.server_port}/"

    def __enter__(self) -> Self:
        """Serve from now on."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop accepting requests, close open connections and wait for every thread."""
        self._listener.shutdown()
        self.release_connections()
        self._listener.hang_up()
        self._listener.server_close()
        self._thread.join()

    def release_connections(self) -> None:
        """End streams that would keep a connection's thread; for subclasses with such streams."""


class _Listener(ThreadingHTTPServer):
    """An HTTP server that can end its open connections.

    Browsers keep connections open for the next request: their threads would end only with the browser. The threads
    are not daemons, because the server does not wait for daemons.
    """

    daemon_threads = False

    def __init__(self, *args: Any) -> None:
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(*args)

    def server_bind(self) -> None:
        """Bind without looking up this host's name, which takes seconds on some machines."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = _HOST, self.socket.getsockname()[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        """Register the connection, then serve it in its thread."""
        with self._lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Unregister the connection once it is served."""
        with self._lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """Close every open connection from this side."""
        with self._lock:
            for connection in self._connections:
                # The other side may have closed it already.
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore pages that were left during a response; print other errors."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)
