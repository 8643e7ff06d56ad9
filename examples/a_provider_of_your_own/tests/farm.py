"""A farm for the tests: leases machines over HTTP; all of them are one chromedriver on this machine."""

from __future__ import annotations

import base64
import http.client
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from orchestrator.provider import LocalMachine, Settings, free_port, needed_switches

TOKEN = "made-up/farm+token"
_TIMEOUT = 30.0


class Farm:
    """The state of the farm: its leases, by number, each with the sessions that were created there."""

    def __init__(self, driver: int, idle_seconds: float) -> None:
        self.driver = driver
        self.idle_seconds = idle_seconds
        self.url = ""
        self.leases: dict[str, set[str]] = {}
        self.asked: list[tuple[str, str]] = []
        """Requests that came through the leases: method and path below the lease."""
        self._numbers = itertools.count(1)

    def lease(self) -> str:
        """Make a lease; return its URL."""
        number = str(next(self._numbers))
        self.leases[number] = set()
        return f"{self.url}/leases/{number}"

    def release(self, number: str) -> None:
        """End a lease with its sessions."""
        for session in self.leases.pop(number, ()):
            self.end(session)

    def sessions(self) -> set[str]:
        """Return the ids of the sessions on the machines."""
        return {session["id"] for session in self.ask("GET", "/sessions")[1]["value"]}

    def end(self, session: str) -> None:
        """End a session, whoever drives it."""
        self.ask("DELETE", f"/session/{session}")

    def ask(self, method: str, path: str, body: bytes | None = None) -> tuple[int, Any]:
        """Send a command to the driver; return HTTP status and JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.driver, timeout=_TIMEOUT)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json; charset=utf-8"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()


@contextmanager
def farm(idle_seconds: float = 60) -> Iterator[Farm]:
    """Run a farm that reports this idle limit of its sessions (it does not enforce it)."""
    here = LocalMachine.this()
    driver, port = here.driver(here.browser("chrome")), free_port()
    folder = tempfile.mkdtemp(prefix="farm-")
    process = subprocess.Popen(
        [str(driver), f"--port={port}"], stdout=subprocess.DEVNULL, env={**os.environ, "TMPDIR": folder}
    )
    found = Farm(port, idle_seconds)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.farm = found  # type: ignore[attr-defined]
    found.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        _listening(found)
        yield found
        for session in found.sessions():
            found.end(session)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        process.terminate()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _listening(found: Farm) -> None:
    deadline = time.monotonic() + _TIMEOUT
    while True:
        try:
            found.sessions()
        except ConnectionRefusedError:
            assert time.monotonic() < deadline, "chromedriver does not listen"
            time.sleep(0.02)
        else:
            return


class _Handler(BaseHTTPRequestHandler):
    """Serves leases to clients with the token, and the driver to clients with a lease."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._do()

    def do_POST(self) -> None:
        self._do()

    def do_DELETE(self) -> None:
        self._do()

    def _do(self) -> None:
        known: Farm = self.server.farm  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        _, _, number, *rest = [*self.path.split("/", 3), ""][:4]
        below = f"/{rest[0]}" if rest and rest[0] else ""
        basic = base64.b64encode(f"lease:{TOKEN}".encode()).decode()
        wanted = f"Basic {basic}" if below else f"Bearer {TOKEN}"
        if self.headers.get("Authorization") != wanted:
            self._answer(401, {"value": {"error": "unknown error", "message": "not authorized"}})
        elif below:
            self._relay(known, number, below, body)
        elif self.command == "POST":
            self._answer(200, {"url": known.lease()})
        elif number not in known.leases:
            self._answer(404, {})
        elif self.command == "DELETE":
            known.release(number)
            self._answer(200, {})
        else:
            self._answer(200, {"machine": f"desk-{number}", "idleSeconds": known.idle_seconds})

    def _relay(self, known: Farm, number: str, below: str, body: bytes) -> None:
        known.asked.append((self.command, below))
        if number not in known.leases:
            self._answer(404, {"value": {"error": "invalid session id", "message": "the lease is over"}})
            return
        begins = (self.command, below) == ("POST", "/session")
        status, answer = known.ask(self.command, below, _for_this_machine(body) if begins else body or None)
        if begins and status == http.HTTPStatus.OK:
            known.leases[number].add(answer["value"]["sessionId"])
        self._answer(status, answer)

    def _answer(self, status: int, value: Any) -> None:
        body = json.dumps(value).encode()
        with suppress(ConnectionError):  # the client may be gone by now
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def _for_this_machine(body: bytes) -> bytes:
    """Return a New Session request with the options that Chromium needs on this machine."""
    wanted = json.loads(body)
    options = wanted["capabilities"]["alwaysMatch"].setdefault("goog:chromeOptions", {})
    here = LocalMachine.this()
    options["binary"] = str(here.browser("chrome"))
    options["args"] = [*options.get("args", ()), *needed_switches(Settings())]
    return json.dumps(wanted).encode()
