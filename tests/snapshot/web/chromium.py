"""A minimal WebDriver client and a small web server for the page engine's tests."""

from __future__ import annotations

import json
import re
import shutil
import threading
import urllib.error
import urllib.request
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from urllib.parse import quote

from orchestrator.snapshot.web.world import PageWorld
from orchestrator.webdriver.remote import Remote
from tests.snapshot.untyped import UntypedEngine

CAPABILITIES = {
    "browserName": "chrome",
    "unhandledPromptBehavior": "ignore",
    "goog:chromeOptions": {
        "binary": shutil.which("chromium"),
        "args": ["--headless=new", "--no-sandbox", "--window-size=1000,800", "--site-per-process"],
    },
}


class Numbers:
    """Refs from 1 upwards, a few at a time, so that a range is often used up."""

    def __init__(self, step: int = 50) -> None:
        self.next = 1
        self.end = 1
        self.step = step

    def reserve(self, n: int) -> None:
        """Reserve the next numbers."""
        self.end = self.next + max(n, self.step)


class Browser:
    """The smallest WebDriver client that can drive the engine."""

    def __init__(self, base: str) -> None:
        self.base = base
        value = self.send("POST", "/session", {"capabilities": {"alwaysMatch": CAPABILITIES}})
        self.session = f"/session/{value['sessionId']}"
        self.remote = Remote(base, value["sessionId"], name="browser", timeout=30)
        self.page = UntypedEngine(PageWorld(self.remote, None, isolated=True), Numbers())

    def send(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Send a command and return its value."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 (our own driver)
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"]) from error

    def command(self, path: str, **body: Any) -> Any:
        """Send a command of the session."""
        return self.send("POST", self.session + path, body)

    def run(self, script: str, args: list[Any]) -> Any:
        """Execute a script in the page's own world."""
        return self.command("/execute/sync", script=script, args=args)

    def js(self, script: str, *args: Any) -> Any:
        """Execute a script of the test."""
        return self.run(script, list(args))

    def open(self, html: str) -> UntypedEngine:
        """Show a page given as text."""
        return self.visit("data:text/html;charset=utf-8," + quote("<!doctype html><title>Page</title>" + html))

    def visit(self, url: str) -> UntypedEngine:
        """Navigate to a URL."""
        self.command("/url", url=url)
        return self.page

    def cdp(self, cmd: str, **params: Any) -> Any:
        """Send a command of the DevTools protocol."""
        return self.command("/goog/cdp/execute", cmd=cmd, params=params)

    def click(self, point: dict[str, Any]) -> None:
        """Click by pointer actions at the point that `ready` returns."""
        move = {"type": "pointerMove", "duration": 0, "x": point["x"], "y": point["y"], "origin": "viewport"}
        presses = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.command("/actions", actions=[{"type": "pointer", "id": "mouse", "actions": [move, *presses]}])

    def quit(self) -> None:
        """End the session."""
        self.send("DELETE", self.session)
        self.remote.close()


class RecordingWorld(PageWorld):
    """An isolated world that records the methods of the engine that are called."""

    def __init__(self, browser: Browser) -> None:
        super().__init__(browser.remote, None, isolated=True)
        self.called: list[str] = []

    def run(self, body: str, args: list[Any]) -> Any:
        """Note the method, and call it."""
        self.called.append(str(args[0]))
        return super().run(body, args)


def without_refs(text: str) -> str:
    """Remove the refs from an outline for a comparison."""
    return re.sub(r" \[e\d+\](?=$| \[| = )", "", text, flags=re.MULTILINE)


class Site(ThreadingHTTPServer):
    """Serves pages by path, and requests that end when the test lets them."""

    daemon_threads = True

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        self.gate = threading.Event()
        super().__init__(("127.0.0.1", 0), Handler)

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        """Return the address of a path; another host name makes it another origin."""
        return f"http://{host}:{self.server_address[1]}{path}"


class Handler(BaseHTTPRequestHandler):
    """Answers from `Site.pages`; `/slow…` waits for the gate."""

    def do_GET(self) -> None:
        """Serve a page."""
        site = cast("Site", self.server)
        if self.path.startswith("/slow"):
            site.gate.wait(60)
        body = site.pages.get(self.path, "ok").encode()
        with suppress(OSError):
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the base class names it so)
        """Log nothing."""
