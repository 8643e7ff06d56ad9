"""A small real web site for tests: pages, cookies, answers that wait for a gate, and a record of all visits."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import parse_qsl, urlsplit

from tests.waiting import PATIENCE


@dataclass
class Visit:
    """A request, with the times of its arrival and its answer (time.monotonic)."""

    method: str
    path: str
    query: Mapping[str, str]
    cookies: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    began: float = field(default_factory=time.monotonic)
    ended: float = 0.0


@dataclass(frozen=True)
class Reply:
    """The answer of a path; a page's function may return one to set more than its HTML.

    The second half of its body waits for the gate `rest`.
    """

    body: str | bytes = ""
    status: int = 200
    content_type: str = "text/html; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)
    rest: Gate | None = None


Answering = Callable[[Visit], "str | Reply"]


class Gate:
    """Holds the answers of a path until it is opened; `entered` is set once a request waits."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self._opened = threading.Event()

    def open(self) -> None:
        """Let all requests pass, the waiting and the later ones."""
        self._opened.set()

    def wait_entered(self) -> None:
        """Wait until a request waits at the gate."""
        assert self.entered.wait(PATIENCE), "nobody came to the gate"

    def pass_through(self) -> None:
        """Wait until the gate is open; for the site's own threads."""
        self.entered.set()
        self._opened.wait()


class Site:
    """The site, a context manager: `page` adds a page, `url` returns its address, `visits` its requests."""

    def __init__(self) -> None:
        self._answers: dict[str, Answering] = {}
        self._gates: dict[str, Gate] = {}
        self._visits: list[Visit] = []
        self._changed = threading.Condition()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for gate in self._gates.values():
            gate.open()
        self._server.shutdown()
        self._server.hang_up()
        self._server.server_close()
        self._thread.join()

    def url(self, path: str = "/", *, host: str = "127.0.0.1") -> str:
        """Return the URL of a path. With `host="localhost"` it is the same page at another origin."""
        return f"http://{host}:{self._server.server_address[1]}{path}"

    def page(self, path: str, html: str | Reply | Answering, *, cookies: Mapping[str, str] | None = None) -> str:
        """Add a page: HTML, a reply, or a function of the visit; return its URL. Each visit sets these cookies."""
        cookie = {"Set-Cookie": "; ".join(f"{name}={value}" for name, value in (cookies or {}).items())}

        def fixed(_: Visit) -> str | Reply:
            return html if isinstance(html, str | Reply) else ""

        answer = html if callable(html) else fixed

        def answering(visit: Visit) -> Reply:
            reply = answer(visit)
            reply = reply if isinstance(reply, Reply) else Reply(reply)
            return replace(reply, headers={**reply.headers, **(cookie if cookies else {})})

        self._answers[path] = answering
        return self.url(path)

    def gate(self, path: str) -> Gate:
        """Add a gate to a path, which answers only once it is open; closing the site opens it as well."""
        return self._gates.setdefault(path, Gate())

    def meeting(self, path: str, parties: int, html: str = "<title>met</title>met") -> str:
        """Add a page that answers only when this many requests for it wait at the same time; return its URL."""
        barrier = threading.Barrier(parties)

        def meet(_: Visit) -> Reply:
            try:
                barrier.wait(PATIENCE)
            except threading.BrokenBarrierError:
                return Reply("<title>alone</title>alone", 504)
            return Reply(html)

        return self.page(path, meet)

    def visits(self, path: str) -> list[Visit]:
        """Return the requests for this path so far, in order of arrival."""
        with self._changed:
            return [visit for visit in self._visits if visit.path == path]

    def wait_visits(self, path: str, count: int = 1) -> list[Visit]:
        """Wait until this many requests for this path have come."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.visits(path)) >= count, PATIENCE), self.visits(path)
            return self.visits(path)

    def _answer(self, visit: Visit) -> Reply:
        with self._changed:
            self._visits.append(visit)
            self._changed.notify_all()
        if gate := self._gates.get(visit.path):
            gate.pass_through()
        answering = self._answers.get(visit.path)
        reply = answering(visit) if answering else Reply(f"<title>none</title>nothing at {visit.path}", 404)
        visit.ended = time.monotonic()
        return reply if isinstance(reply, Reply) else Reply(reply)


class _Server(ThreadingHTTPServer):
    """Knows its open connections, so that none outlives it."""

    daemon_threads = False
    request_queue_size = 64

    def __init__(self, site: Site) -> None:
        self.site = site
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Handler)

    @contextmanager
    def held(self, connection: socket.socket) -> Iterator[None]:
        """Count a connection as open."""
        self._open.add(connection)
        try:
            yield
        finally:
            self._open.discard(connection)

    def hang_up(self) -> None:
        """Close the open connections: a browser keeps some in reserve."""
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def handle(self) -> None:
        with self.server.held(self.connection), suppress(ConnectionError):
            super().handle()

    def _respond(self) -> None:
        split = urlsplit(self.path)
        cookies = SimpleCookie(self.headers.get("Cookie", ""))
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        reply = self.server.site._answer(
            Visit(
                self.command,
                split.path,
                dict(parse_qsl(split.query, keep_blank_values=True)),
                {name: morsel.value for name, morsel in cookies.items()},
                dict(self.headers.items()),
                body,
            )
        )
        data = reply.body.encode() if isinstance(reply.body, str) else reply.body
        self.send_response(reply.status)
        for name, value in {
            "Content-Type": reply.content_type,
            "Content-Length": str(len(data)),
            "Cache-Control": "no-store",
            **reply.headers,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        half = len(data) // 2 if reply.rest else len(data)
        self.wfile.write(data[:half])
        if reply.rest:
            self.wfile.flush()
            reply.rest.pass_through()
            self.wfile.write(data[half:])

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _respond  # noqa: N815 (the base class looks for these names)

    def log_message(self, *_: object) -> None:
        """Log nothing."""
