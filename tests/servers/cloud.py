"""A stand-in for a cloud: a hub before a real Grid, which requires the account, and a recording REST API."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from tests.servers.appium import POCKET
from tests.servers.webdriver import BASIC, PASSWORD, Relayed, listening

APP = "pocket-in-the-cloud"
"""End of each reference to the app, whatever the vendor's form."""
_PIECE, _KEPT = 1024 * 1024, 4096
_SCRIPTS = ("sauce:", "lambda-status=", "lambdatest_executor:", "seetest:")
"""Beginnings of the scripts that vendors' hubs understand, and no driver does."""


@dataclass
class CloudHub(Relayed):
    """A hub like a vendor's: it handles references to apps and the vendor's scripts, and relays the rest."""

    def instead(self, path: str, body: Any) -> Any:
        """Answer a vendor's script."""
        is_script = path.endswith("/execute/sync") and str(body["script"]).startswith(_SCRIPTS)
        return {"value": None} if is_script else None

    def resolved(self, body: bytes) -> bytes:
        """Replace a reference to the app by its path."""
        wanted = json.loads(body) if APP.encode() in body else {}
        for name, value in wanted.get("capabilities", {}).get("alwaysMatch", {}).items():
            if name == "appium:app" and APP in value:
                wanted["capabilities"]["alwaysMatch"][name] = str(POCKET)
        return json.dumps(wanted).encode() if wanted else body

    def asked(self) -> dict[str, Any]:
        """Return the capabilities of the only requested session."""
        [found] = [body for method, path, body in self.requests if (method, path) == ("POST", "/session")]
        assert found["capabilities"]["firstMatch"] == [{}]
        asked: dict[str, Any] = found["capabilities"]["alwaysMatch"]
        return asked

    def scripts(self) -> list[tuple[str, list[Any]]]:
        """Return the vendor's scripts, with their arguments."""
        ran = [body for _, path, body in self.requests if path.endswith("/execute/sync")]
        return [(body["script"], body["args"]) for body in ran if body["script"].startswith(_SCRIPTS)]


@dataclass
class Asked:
    """A request to a REST API; `account` is the kind of its authentication: basic, bearer, or neither.

    Only the beginning and the end of a long body are kept; `length` is that of the whole.
    """

    method: str
    path: str
    account: str
    kind: str
    body: bytes
    length: int

    @property
    def value(self) -> Any:
        """The parsed body: JSON, or a form."""
        return json.loads(self.body) if self.kind == "application/json" else parse_qs(self.body.decode())

    @property
    def form(self) -> dict[str, str]:
        """The fields of a multipart form, as text; a file with its name before it."""
        boundary = self.kind.partition("boundary=")[2]
        found = {}
        for part in self.body.decode().split(f"--{boundary}")[1:-1]:
            head, _, value = part.strip("\r\n").partition("\r\n\r\n")
            names = re.findall(r'name="([^"]*)"', head)
            found[names[0]] = ": ".join([*names[1:], value])
        return found


@dataclass
class RestEnd:
    """A REST API. `answers` are status and JSON by method and the beginning of a path; other requests get 404.

    Requests without the account's credentials get 401.
    """

    url: str = ""
    requests: list[Asked] = field(default_factory=list)
    answers: dict[tuple[str, str], tuple[int, Any]] = field(default_factory=dict)

    def summary(self) -> list[tuple[str, str, str]]:
        """Return method, path and account of each request."""
        return [(one.method, one.path, one.account) for one in self.requests]


@contextmanager
def rest_end() -> Iterator[RestEnd]:
    """Run a REST API for a block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Rest)
    end = RestEnd(f"http://127.0.0.1:{server.server_port}")
    server.end = end  # type: ignore[attr-defined]
    with listening(server):
        yield end


class _Rest(BaseHTTPRequestHandler):
    """Records the request and sends its answer."""

    def do_GET(self) -> None:
        end: RestEnd = self.server.end  # type: ignore[attr-defined]
        body, length = b"", int(self.headers.get("Content-Length") or 0)
        for start in range(0, length, _PIECE):
            body += self.rfile.read(min(_PIECE, length - start))
            body = body[:_KEPT] + body[-_KEPT:] if len(body) > 2 * _KEPT else body
        given = self.headers.get("Authorization", "")
        account = {BASIC: "basic", f"Bearer {PASSWORD}": "bearer"}.get(given, given)
        end.requests.append(Asked(self.command, self.path, account, self.headers.get("Content-Type", ""), body, length))
        if account not in {"basic", "bearer"}:
            self._send(401, {"error": f"who is {given}?"})
            return
        found = (answer for (method, path), answer in end.answers.items() if self._is(method, path))
        self._send(*next(found, (404, {"message": "nothing here"})))

    do_POST = do_PUT = do_PATCH = do_GET  # noqa: N815 - the standard library's names

    def _send(self, status: int, value: Any) -> None:
        text = json.dumps(value).encode()
        with suppress(ConnectionError):
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

    def _is(self, method: str, path: str) -> bool:
        return self.command == method and self.path.startswith(path)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


TUNNEL = """#!{python}
import http.server, json, os, pathlib, sys, time

given = dict(zip(sys.argv, sys.argv[1:]))
file = pathlib.Path(given.get("--config", "nowhere"))
told = {{"argv": sys.argv[1:], "pid": os.getpid(), "env": dict(os.environ), "config": ""}}
if file.exists():
    told |= {{"config": file.read_text(), "mode": oct(file.stat().st_mode)[-3:], "file": str(file)}}
pathlib.Path(__file__ + ".json").write_text(json.dumps(told))
if "--readyfile" in given:
    pathlib.Path(given["--readyfile"]).touch()
    time.sleep(600)


class Told(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path in ("/readyz", "/api/v1.0/info") else 404)
        self.end_headers()
        self.wfile.write(b'{{"status": "SUCCESS"}}')


port = given.get("--infoAPIPort") or given["--api-address"].rpartition(":")[2]
http.server.HTTPServer(("127.0.0.1", int(port)), Told).serve_forever()
"""
"""A program in place of a vendor's tunnel: it records how it was started, and reports readiness as theirs do."""


def tunnel(path: Path) -> Path:
    """Write the tunnel program to a path."""
    path.write_text(TUNNEL.format(python=sys.executable), "utf-8")
    path.chmod(0o755)
    return path


def tunnel_ran(path: Path) -> dict[str, Any]:
    """Return how the tunnel was started: `argv`, `pid`, `env`, and the content of its `config` file."""
    found: dict[str, Any] = json.loads(path.with_name(f"{path.name}.json").read_text("utf-8"))
    return found


@contextmanager
def proxy_end() -> Iterator[tuple[str, list[str]]]:
    """Run a proxy that refuses everything; yield its URL, and the list of requested hosts."""
    asked: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Proxy)
    server.asked = asked  # type: ignore[attr-defined]
    with listening(server):
        yield f"http://127.0.0.1:{server.server_port}", asked


class _Proxy(BaseHTTPRequestHandler):
    """Records the host and refuses."""

    def do_CONNECT(self) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        self.send_error(403)

    def log_message(self, *_: object) -> None:
        """Log nothing."""
