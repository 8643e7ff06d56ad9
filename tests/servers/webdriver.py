"""A WebDriver endpoint that is not ours: a real chromedriver behind a relay that can require a password and records."""

from __future__ import annotations

import base64
import http.client
import json
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

import psutil

from orchestrator.settings import Settings
from orchestrator.system import machine
from orchestrator_providers.local import drivers
from tests.benchmarks.classic import _connected
from tests.e2e.harness import remote, runs
from tests.servers.json_answers import write_json
from tests.servers.ports import free_port

RelayedT = TypeVar("RelayedT", bound="Relayed")

USER, PASSWORD = "grid-user", "s3cret-key/+"
BASIC = f"Basic {base64.b64encode(f'{USER}:{PASSWORD}'.encode()).decode()}"
"""User and password in the form of the header Authorization."""


@dataclass
class Relayed:
    """An endpoint behind a relay, and the requests it got.

    `requests` are (method, path, body) in order, `headers` those of each; `url` has no credentials in it.
    `fault` is called with method and path before a request is relayed: the status and body that it returns are answered
    instead. `hang_up` cuts all connections through the relay.
    """

    url: str = ""
    requests: list[tuple[str, str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    fault: Callable[[str, str], tuple[int, str] | None] = lambda method, path: None  # noqa: ARG005 - none
    hang_up: Callable[[], None] = lambda: None

    def instead(self, path: str, body: Any) -> Any:  # noqa: ARG002 - for ends that are more than a relay
        """Return a value to answer without relaying the request, if any."""
        return None

    def resolved(self, body: bytes) -> bytes:
        """Return the body to relay."""
        return body

    @property
    def secret_url(self) -> str:
        """The URL with user and password."""
        return self.url.replace("://", f"://{USER}:{PASSWORD.replace('/', '%2F').replace('+', '%2B')}@")


@contextmanager
def relayed(
    port: int,
    end: RelayedT,
    *,
    guarded: bool = False,
    tls: ssl.SSLContext | None = None,
    at: tuple[str, int] = ("127.0.0.1", 0),
) -> Iterator[RelayedT]:
    """Relay to a port of this machine; `guarded` answers 401 without user and password."""
    server = _Server(at, _Relay)
    end.url = f"http://{at[0]}:{server.server_port}"
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        end.url = end.url.replace("http:", "https:")
    end.hang_up = server.hang_up
    server.end, server.port, server.wanted = end, port, BASIC if guarded else None  # type: ignore[attr-defined]
    try:
        with listening(server):
            yield end
    finally:
        server.hang_up()


@contextmanager
def listening(server: ThreadingHTTPServer) -> Iterator[None]:
    """Run a server for a block."""
    # Its end waits for the next poll, which is half a second apart by default.
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class RemoteEnd(Relayed):
    """A chromedriver behind a relay."""

    driver_url: str = ""
    driver: psutil.Process | None = None

    def kill(self) -> None:
        """Kill the driver and its browsers, like a power failure; the relay still runs."""
        assert self.driver is not None
        for one in (*self.driver.children(recursive=True), self.driver):
            with suppress(psutil.NoSuchProcess):
                one.kill()
        self.driver.wait()

    def start(self, **wishes: Any) -> str:
        """Start a session with further capabilities, bypassing our code; return its id."""
        wanted = {"alwaysMatch": _with_program(self.capabilities()) | wishes}
        return str(remote("POST", f"{self.driver_url}/session", {"capabilities": wanted})["sessionId"])

    def capabilities(self) -> dict[str, Any]:
        """Return capabilities that a caller may ask for."""
        options = {"args": ["--headless=new", "--window-size=1280,807"]}
        return {"browserName": "chrome", "goog:chromeOptions": options}

    def resolved(self, body: bytes) -> bytes:
        """Name the browser's program in a request for a session, as a Grid's node does."""
        asked = json.loads(body) if body else None
        wanted = asked.get("capabilities", {}).get("alwaysMatch", {}) if isinstance(asked, dict) else {}
        if wanted.get("browserName") != "chrome":
            return body
        return json.dumps({"capabilities": {"alwaysMatch": _with_program(wanted)}}).encode()

    def ask(self, method: str, session: str, path: str, body: object = None) -> Any:
        """Send a command to a session, bypassing our code."""
        return remote(method, f"{self.driver_url}/session/{session}{path}", body)

    def sessions(self) -> list[str]:
        """Return the ids of the live sessions."""
        return [one["id"] for one in remote("GET", f"{self.driver_url}/sessions")]


def _with_program(wanted: dict[str, Any]) -> dict[str, Any]:
    """Return capabilities with the Chromium of this machine, and with the switches that it needs here."""
    options = wanted.get("goog:chromeOptions", {})
    binary = str(drivers.DriverFinder.this().browser("chrome"))
    args = [*options.get("args", []), *machine.needed_switches(Settings())]
    return {**wanted, "goog:chromeOptions": {**options, "binary": binary, "args": args}}


@contextmanager
def remote_end(*, guarded: bool = False) -> Iterator[RemoteEnd]:
    """Run a chromedriver and its relay; `guarded` answers 401 without user and password."""
    here = drivers.DriverFinder.this()
    driver = here.driver(here.browser("chrome"))
    assert driver is not None
    folder = Path(tempfile.mkdtemp(prefix="remote-"))
    port = free_port()
    environ = {**os.environ, "TMPDIR": str(folder)}
    process = psutil.Popen([driver, f"--port={port}"], stdout=subprocess.DEVNULL, env=environ)
    _connected(port).close()
    found = RemoteEnd(driver_url=f"http://127.0.0.1:{port}", driver=process)
    try:
        with relayed(port, found, guarded=guarded):
            try:
                yield found
            finally:
                for session in found.sessions() if runs(process) else ():
                    remote("DELETE", f"{found.driver_url}/session/{session}")
    finally:
        with suppress(psutil.NoSuchProcess):
            process.terminate()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


class _Server(ThreadingHTTPServer):
    """The relay's server, which knows its connections."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.open: list[socket.socket] = []

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self.open.append(connection)
        return connection, address

    def handle_error(self, *_: object) -> None:
        """Ignore clients that disconnect."""

    def hang_up(self) -> None:
        """Close the connections that clients keep open."""
        for connection in self.open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Relay(BaseHTTPRequestHandler):
    """Checks the password, records the request, and relays it and its answer."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._relay()

    def do_POST(self) -> None:
        self._relay()

    def do_DELETE(self) -> None:
        self._relay()

    def _relay(self) -> None:
        server: Any = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if server.wanted and self.headers.get("Authorization") != server.wanted:
            self._answer(401, b"who are you?")
            return
        server.end.headers.append(dict(self.headers))
        server.end.requests.append((self.command, self.path, json.loads(body) if body else None))
        if (instead := server.end.fault(self.command, self.path)) is not None:
            self._answer(instead[0], instead[1].encode())
            return
        if self.headers.get("Upgrade", "").lower() == "websocket":
            self._tunnel(server.port)
            return
        if value := server.end.instead(*server.end.requests[-1][1:]):
            self._answer(200, json.dumps(value).encode())
            return
        body = server.end.resolved(body)
        # The driver may end during a request: servers also check their sessions between a test's calls.
        with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as behind:
            behind.request(self.command, self.path, body or None, {"Content-Type": "application/json; charset=utf-8"})
            answer = behind.getresponse()
            self._answer(answer.status, answer.read())

    def _tunnel(self, port: int) -> None:
        """Relay a WebSocket, byte by byte, until one side ends."""
        self.close_connection = True
        with socket.create_connection(("127.0.0.1", port)) as behind:
            lines = [self.requestline, *(f"{name}: {value}" for name, value in self.headers.items()), "", ""]
            behind.sendall("\r\n".join(lines).encode())
            back = Thread(target=_pour, args=(behind, self.connection), daemon=True)
            back.start()
            _pour(self.connection, behind)
            back.join()

    def _answer(self, status: int, body: bytes) -> None:
        # The client may be gone by now.
        with suppress(ConnectionError):
            write_json(self, body, status)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def _pour(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(65536):
            sink.sendall(piece)
    for end in (source, sink):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
