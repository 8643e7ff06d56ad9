"""A remote end over real HTTP that has every session, and answers nearly every command with nothing."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.servers.json_answers import write_json
from tests.servers.webdriver import listening

GONE = "gone"
"""Beginning of the ids of sessions that it has only until they are first used."""
_HANDLE = "window-1"
_VALUES = {
    "window": f'"{_HANDLE}"',
    "window/handles": f'["{_HANDLE}"]',
    "execute/sync": '["Page", "http://a.test/"]',
}
_LOST = b'{"value": {"error": "invalid session id", "message": "it ended", "stacktrace": ""}}'
_UNKNOWN = b'{"value": {"error": "unknown command", "message": "no DevTools", "stacktrace": ""}}'
_NOT_FOUND = 404


class AnySession(ThreadingHTTPServer):
    """The remote end.

    Attributes:
        url: Its URL.
        asked: The commands that it got, by session.
    """

    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.asked: defaultdict[str, list[str]] = defaultdict(list)
        self.numbers = itertools.count(1)


@contextmanager
def any_session() -> Iterator[AnySession]:
    """Run the remote end for a block."""
    server = AnySession()
    with listening(server):
        yield server


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: AnySession

    def do_GET(self) -> None:
        """Answer a question."""
        self._answer()

    def do_POST(self) -> None:
        """Answer a command."""
        self._answer()

    def do_DELETE(self) -> None:
        """End nothing."""
        self._answer()

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        _, _, path = self.path.partition("/session/")
        session, _, command = path.partition("/")
        self.server.asked[session].append(command)
        if self.path.endswith("/session"):
            new = {"sessionId": f"new-{next(self.server.numbers)}", "capabilities": {"browserName": "chrome"}}
            write_json(self, json.dumps({"value": new}).encode())
        elif session.startswith(GONE) and command.startswith("window"):
            write_json(self, _LOST, _NOT_FOUND)
        elif command.startswith("goog"):
            write_json(self, _UNKNOWN, _NOT_FOUND)
        elif b"innerWidth" in body:
            write_json(self, b'{"value": [1280, 720, 1280, 807]}')
        else:
            write_json(self, b'{"value": %s}' % _VALUES.get(command, "null").encode())

    def log_message(self, *_: object) -> None:
        """Write no log."""
