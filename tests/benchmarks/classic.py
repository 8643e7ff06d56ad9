"""The classic way: raw W3C commands over one kept-alive connection to a chromedriver of the session's own."""

from __future__ import annotations

import contextlib
import http.client
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil

from orchestrator.settings import Settings
from orchestrator.system import machine
from orchestrator_providers.local import chromium_flags, drivers

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
_PATIENCE = 20.0


class Commands:
    """The commands that a plain WebDriver script would send to a session.

    Args:
        port: Its driver's.
        session: Its id at the driver.
        path: The path before that of its commands.
    """

    def __init__(self, port: int, session: str, path: str = "") -> None:
        self._connection = _connected(port)
        self._base = f"{path}/session/{session}"

    def open(self, url: str) -> None:
        """Go to a page."""
        self._post("/url", url=url)

    def find(self, css: str) -> str:
        """Find Element; return its path."""
        return f"/element/{self._post('/element', using='css selector', value=css)[ELEMENT]}"

    def click(self, css: str) -> None:
        """Find it and click it."""
        self._post(f"{self.find(css)}/click")

    def fill(self, css: str, text: str) -> None:
        """Find it, clear it, send it keys."""
        field = self.find(css)
        self._post(f"{field}/clear")
        self._post(f"{field}/value", text=text)

    def await_text(self, css: str, text: str) -> None:
        """Find an element and read its text, repeatedly, until it equals this text."""
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            with contextlib.suppress(RuntimeError):
                if self._send("GET", f"{self._base}{self.find(css)}/text") == text:
                    return
        raise RuntimeError(f"{css} never came to say {text!r}.")

    def script(self, body: str) -> Any:
        """Run a script."""
        return self._post("/execute/sync", script=body, args=[])

    def close(self) -> None:
        """Close the connection; the session goes on."""
        self._connection.close()

    def _post(self, path: str, **body: Any) -> Any:
        return self._send("POST", self._base + path, **body)

    def _send(self, method: str, path: str, **body: Any) -> Any:
        text = json.dumps(body) if method == "POST" else None
        self._connection.request(method, path, text, {"Content-Type": "application/json; charset=utf-8"})
        response = self._connection.getresponse()
        value = json.loads(response.read())["value"]
        if response.status >= http.client.BAD_REQUEST:
            raise RuntimeError(f"{method} {path}: {value['error']}: {value['message']}")
        return value


class Classic(Commands):
    """A browser started with our flags, driven by plain commands.

    Args:
        bidi: Ask for a BiDi socket, too, which a driver prepares before it answers New Session.
    """

    def __init__(self, *, bidi: bool = False) -> None:
        self._bidi = bidi
        here = drivers.DriverFinder.this()
        browser = here.browser("chrome")
        driver = here.driver(browser)
        if browser is None or driver is None:
            raise SystemExit("The benchmark needs Chrome or Chromium and its chromedriver: make browser")
        self._folder = Path(tempfile.mkdtemp(prefix="bench-"))
        port = machine.free_port()
        self.driver = subprocess.Popen(
            [str(driver), f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        super().__init__(port, "")
        answer = self._send("POST", "/session", capabilities={"alwaysMatch": self._capabilities(browser)})
        self.capabilities: dict[str, Any] = answer["capabilities"]
        self._base += answer["sessionId"]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._send("DELETE", self._base)
        self._connection.close()
        self.driver.terminate()
        self.driver.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def processes(self) -> list[psutil.Process]:
        """The driver and its descendants."""
        driver = psutil.Process(self.driver.pid)
        return [driver, *driver.children(recursive=True)]

    def _capabilities(self, browser: Path) -> dict[str, Any]:
        flags = [*chromium_flags._FLAGS, "--headless=new", f"--user-data-dir={self._folder}", "--window-size=1280,807"]
        flags += machine.needed_switches(Settings())
        options = {"binary": str(browser), "args": flags, "prefs": dict(chromium_flags._PREFERENCES)}
        bidi = {"webSocketUrl": True} if self._bidi else {}
        return {"browserName": "chrome", "pageLoadStrategy": "eager", "goog:chromeOptions": options, **bidi}


def _connected(port: int) -> http.client.HTTPConnection:
    until = time.monotonic() + _PATIENCE
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    while True:
        try:
            connection.connect()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.005)
        else:
            return connection
