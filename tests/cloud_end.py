"""What stands for a cloud: a hub before a real Grid, which asks for the account, and a REST API that takes notes."""

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

from tests.appium_end import POCKET
from tests.remote_end import BASIC, PASSWORD, Relayed, listening

APP = "pocket-in-the-cloud"
"""What a reference to the app ends with, whatever the vendor calls it."""
_PIECE, _KEPT = 1024 * 1024, 4096
_SCRIPTS = ("sauce:", "lambda-status=", "lambdatest_executor:", "seetest:")
"""How the scripts begin that hubs of vendors understand, and no driver does."""


@dataclass
class CloudHub(Relayed):
    """A hub as a vendor's: it knows its references to apps and its scripts, and hands on the rest."""

    def instead(self, path: str, body: Any) -> Any:
        """Take a vendor's script."""
        is_script = path.endswith("/execute/sync") and str(body["script"]).startswith(_SCRIPTS)
        return {"value": None} if is_script else None

    def resolved(self, body: bytes) -> bytes:
        """Put the app in the place of a reference to it."""
        wanted = json.loads(body) if APP.encode() in body else {}
        for name, value in wanted.get("capabilities", {}).get("alwaysMatch", {}).items():
            if name == "appium:app" and APP in value:
                wanted["capabilities"]["alwaysMatch"][name] = str(POCKET)
        return json.dumps(wanted).encode() if wanted else body

    def asked(self) -> dict[str, Any]:
        """What the one session was asked for by."""
        [found] = [body for method, path, body in self.requests if (method, path) == ("POST", "/session")]
        assert found["capabilities"]["firstMatch"] == [{}]
        asked: dict[str, Any] = found["capabilities"]["alwaysMatch"]
        return asked

    def scripts(self) -> list[tuple[str, list[Any]]]:
        """The vendor's scripts, with their arguments."""
        ran = [body for _, path, body in self.requests if path.endswith("/execute/sync")]
        return [(body["script"], body["args"]) for body in ran if body["script"].startswith(_SCRIPTS)]


@dataclass
class Asked:
    """A request to a REST API; `account` says how it named the account: basic, bearer, or neither.

    Of a long body the beginning and the end are kept, and how long it was.
    """

    method: str
    path: str
    account: str
    kind: str
    body: bytes
    length: int

    @property
    def value(self) -> Any:
        """The body, read: JSON, or a form."""
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
    """A REST API. `answers` are status and JSON by method and the beginning of a path; anything else is 404.

    Whoever does not name the account is answered 401.
    """

    url: str = ""
    requests: list[Asked] = field(default_factory=list)
    answers: dict[tuple[str, str], tuple[int, Any]] = field(default_factory=dict)

    def told(self) -> list[tuple[str, str, str]]:
        """Method, path and account of each request."""
        return [(one.method, one.path, one.account) for one in self.requests]


@contextmanager
def rest_end() -> Iterator[RestEnd]:
    """Start one."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Rest)
    end = RestEnd(f"http://127.0.0.1:{server.server_port}")
    server.end = end  # type: ignore[attr-defined]
    with listening(server):
        yield end


class _Rest(BaseHTTPRequestHandler):
    """Notes the request and answers what there is to answer."""

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
        """Say nothing."""


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
"""A program in the place of a vendor's tunnel: it notes how it was started, and says that it is ready as theirs do."""


def tunnel(path: Path) -> Path:
    """Write such a program there."""
    path.write_text(TUNNEL.format(python=sys.executable), "utf-8")
    path.chmod(0o755)
    return path


def tunnel_ran(path: Path) -> dict[str, Any]:
    """How it was started: `argv`, `pid`, `env`, and the `config` file that it was given."""
    found: dict[str, Any] = json.loads(path.with_name(f"{path.name}.json").read_text("utf-8"))
    return found


@contextmanager
def proxy_end() -> Iterator[tuple[str, list[str]]]:
    """A proxy that lets nobody through: its URL, and the hosts that it was asked for."""
    asked: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Proxy)
    server.asked = asked  # type: ignore[attr-defined]
    with listening(server):
        yield f"http://127.0.0.1:{server.server_port}", asked


class _Proxy(BaseHTTPRequestHandler):
    """Notes the host and refuses."""

    def do_CONNECT(self) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        self.send_error(403)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
