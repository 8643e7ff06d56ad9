"""A remote end over real HTTP with scripted answers, for situations that no browser produces on demand."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from orchestrator.snapshot.web import page, world
from tests.servers.json_answers import write_json

SESSION = "far-1"
"""The only session at this remote end."""
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""The web element identifier of W3C WebDriver."""
MISSING = "!"
"""The answer of a document that has no page engine yet."""

_BAD_REQUEST, _NOT_FOUND, _INTERNAL = 400, 404, 500
_STATUS = {
    "invalid argument": _BAD_REQUEST,
    "invalid session id": _NOT_FOUND,
    "no such alert": _NOT_FOUND,
    "no such frame": _NOT_FOUND,
    "no such window": _NOT_FOUND,
    "stale element reference": _NOT_FOUND,
    "unknown command": _NOT_FOUND,
}
"""Error codes of W3C WebDriver with a status other than 500."""
_HANDLES = {page._HANDLE: "page.handle", page._FRAME: "page.frame"}
_INSTALLED = {world.engine_source(world.engine_key(SESSION)): "page.engine", world.HOOKS: "page.hooks"}


@dataclass(frozen=True)
class W3CError:
    """An error answer of the remote end; `data` is further information, such as the text of a dialog."""

    error: str
    message: str = "scripted"
    data: Mapping[str, Any] | None = None

    def body(self) -> dict[str, Any]:
        """Return the value of the answer."""
        more = {} if self.data is None else {"data": self.data}
        return {"error": self.error, "message": self.message, "stacktrace": "", **more}


def dialog(text: str) -> W3CError:
    """Return the error of a command while a dialog is open that the driver leaves alone."""
    return W3CError("unexpected alert open", f"unexpected alert open: {{Alert text : {text}}}", {"text": text})


@dataclass(frozen=True)
class Request:
    """A received command; see `ScriptedWebDriver.script` for its name."""

    command: str
    params: dict[str, Any]
    first: list[list[Any]] = field(default_factory=list)
    """The queued questions to the page's engine before this one, each with its parameters."""

    def __str__(self) -> str:
        """Return the command, with its queued questions, or with the frame or window that it switches to."""
        if self.command == "POST /frame":
            at = self.params["id"]
            return f"{self.command} {'top' if at is None else at[ELEMENT] if isinstance(at, dict) else at}"
        if self.command == "POST /window":
            return f"{self.command} {self.params['handle']}"
        head, _, method = self.command.rpartition(".")
        return f"{head}.{'+'.join([*(name for name, _ in self.first), method])}" if self.first else self.command


class ScriptedWebDriver(ThreadingHTTPServer):
    """Answers each command with its next scripted answer, and records all commands.

    A command without an answer gets the error of a lost session, which stops our code; `check` names such commands, and
    unused answers.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.requests: list[Request] = []
        self._script: dict[str, deque[Any]] = {}
        self._always: dict[str, Any] = {}
        self._unscripted: list[str] = []
        self._unfinished: list[Any] | None = None

    def script(self, command: str, *answers: Any) -> None:
        """Answer a command with these, one after the other.

        A command is `POST /actions`, the method and the path below the session; `page.ready`, a question to the page's
        engine; `Page.bringToFront`, one of the DevTools protocol; `GET /json/list`, one to the browser beside its
        driver. An answer is a value, a `W3CError`, or a function of the command's parameters that returns either.
        One of the page's engine is a dict, None (the document went away under the script), or `MISSING`.
        """
        self._script.setdefault(command, deque()).extend(answers)

    def always(self, command: str, answer: Any = None) -> None:
        """Answer a command with this, every time."""
        self._always[command] = answer

    @property
    def asked(self) -> list[str]:
        """The commands received, in order; those to the page's engine with their queued questions."""
        return [str(request) for request in self.requests]

    def params(self, command: str) -> list[dict[str, Any]]:
        """Return the parameters of each request of a command."""
        return [request.params for request in self.requests if request.command == command]

    def performed(self) -> list[list[dict[str, Any]]]:
        """Return the input sources of each Perform Actions."""
        return [params["actions"] for params in self.params("POST /actions")]

    def check(self) -> None:
        """Fail unless exactly the scripted commands came."""
        left = {command: len(answers) for command, answers in self._script.items() if answers}
        assert not self._unscripted, f"Asked without an answer in the script: {', '.join(self._unscripted)}"
        assert not left, f"In the script and never asked for (command: answers): {left}"

    def answer(self, request: Request) -> Any:
        """Return the answer to a request."""
        self.requests.append(request)
        answer = self._next(request.command, request.params)
        if request.command.startswith("page.") and isinstance(answer, dict) and ELEMENT not in answer:
            return self._as_engine(answer, request)
        return answer

    def _next(self, command: str, params: dict[str, Any]) -> Any:
        if self._script.get(command):
            answer = self._script[command].popleft()
        elif command in self._always:
            answer = self._always[command]
        else:
            self._unscripted.append(f"{command} {json.dumps(params)[:200]}")
            return W3CError("invalid session id", f"the script of this test has no answer to {command}")
        return answer(params) if callable(answer) else answer

    def _as_engine(self, answer: dict[str, Any], request: Request) -> Any:
        """Return the page engine's text of an answer, with those to the queued questions (`engine.js`)."""
        first = [self._next(f"page.{name}", params) for name, params in request.first] or self._unfinished
        if unscripted := next((one for one in first or () if isinstance(one, W3CError)), None):
            return unscripted
        facts = {"nextRef": request.params["refs"][0], **answer}
        self._unfinished = first if "needRefs" in facts else None
        if first and not {"needRefs", "error"} & facts.keys():
            facts["first"] = first
        lines = facts.pop("lines") if isinstance(facts.get("lines"), list) else None
        return json.dumps(facts) if lines is None else "\n".join([json.dumps(facts), *lines])


@contextmanager
def scripted_webdriver(*, checked: bool = True) -> Iterator[ScriptedWebDriver]:
    """Run a remote end for a block, at the end of which all scripted answers must have been used."""
    server = ScriptedWebDriver()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.005}, daemon=True)
    thread.start()
    try:
        yield server
        if checked:
            server.check()
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    """Reads a command of W3C WebDriver and writes its answer."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    server: ScriptedWebDriver

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PUT(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.removeprefix(f"/session/{SESSION}")
        answer = self.server.answer(_read(f"{self.command} {path}", json.loads(body or b"{}")))
        if isinstance(answer, W3CError):
            self._write({"value": answer.body()}, _STATUS.get(answer.error, _INTERNAL))
        else:
            self._write(answer if path.startswith("/json/") else {"value": answer})

    def _write(self, value: Any, status: int = 200) -> None:
        write_json(self, json.dumps(value).encode(), status)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def _read(command: str, body: dict[str, Any]) -> Request:
    """Return a request under its name in scripts."""
    if command == "POST /goog/cdp/execute":
        return Request(body["cmd"], body["params"])
    if command != "POST /execute/sync":
        return Request(command, body)
    script, args = body["script"], body["args"]
    if script in _INSTALLED:
        return Request(_INSTALLED[script], body)
    # The first lines find the engine.
    called = script.rpartition("\n")[2]
    if called == page._CALL:
        params = json.loads(args[1])
        return Request(f"page.{args[0]}", params, params.pop("first", []))
    return Request(_HANDLES.get(called, command), body)
