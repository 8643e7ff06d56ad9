"""A download that does not end by itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.servers.webdriver import listening

_CHUNK = b"x" * 1_000_000


class Endless(ThreadingHTTPServer):
    """Serves `endless.bin` to everyone.

    Attributes:
        url: Its URL.
        sent: Bytes that were sent.
        ended: Set when a browser has hung up.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/"
        self.sent = 0
        self.ended = threading.Event()


@contextmanager
def endless_download() -> Iterator[Endless]:
    """Run the server for a block."""
    server = Endless()
    with listening(server):
        yield server


class _Handler(BaseHTTPRequestHandler):
    server: Endless

    def do_GET(self) -> None:
        """Send a megabyte a hundredth of a second, for ever."""
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Disposition", 'attachment; filename="endless.bin"')
        self.end_headers()
        try:
            while not self.server.ended.wait(0.01):
                self.wfile.write(_CHUNK)
                self.server.sent += len(_CHUNK)
        except OSError:
            self.server.ended.set()

    def log_message(self, *_: object) -> None:
        """Write no log."""
