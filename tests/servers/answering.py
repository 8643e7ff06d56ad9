"""An HTTP server that records each request and answers as scripted, or is silent until the test ends."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event

from tests.servers.webdriver import listening


class AnsweringServer(ThreadingHTTPServer):
    """The server; `requests` are method, path and body, `headers` those of each, `clients` their addresses.

    Every request is answered with `status`, `body` and `fields`; None for `status` sends no answer. With `dribble`
    these bytes are the answer's beginning, and more of it comes a byte at a time until the test ends.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.requests: list[tuple[str, str, bytes]] = []
        self.headers: list[dict[str, str]] = []
        self.clients: list[tuple[str, int]] = []
        self.status: int | None = 200
        self.body = b'{"value": null}'
        self.fields: Mapping[str, str] = {}
        self.dribble = b""
        self.asked = Event()
        self.over = Event()

    def handle_error(self, *_: object) -> None:
        """Ignore clients that disconnect."""


@contextmanager
def answering_server(tls: ssl.SSLContext | None = None) -> Iterator[AnsweringServer]:
    """Run a server for a block."""
    server = AnsweringServer()
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        server.url = server.url.replace("http:", "https:")
    with listening(server):
        try:
            yield server
        finally:
            server.over.set()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    server: AnsweringServer

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_PUT(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def _answer(self) -> None:
        server = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        server.headers.append(dict(self.headers))
        server.clients.append(self.client_address)
        server.requests.append((self.command, self.path, body))
        server.asked.set()
        if server.status is None:
            server.over.wait()
            self.close_connection = True
            return
        with suppress(ConnectionError):
            if server.dribble:
                self._dribble(server.dribble)
                return
            self.send_response(server.status)
            for name, value in {**server.fields, "Content-Length": str(len(server.body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(server.body)

    def _dribble(self, beginning: bytes) -> None:
        self.close_connection = True
        self.wfile.write(beginning)
        self.wfile.flush()
        while not self.server.over.wait(0.1):
            self.wfile.write(b"x")
            self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Log nothing."""
