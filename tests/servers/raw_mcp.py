"""The server under a client that speaks JSON-RPC by hand."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from typing import Any

import psutil

from tests.waiting import PATIENCE

SERVE = [sys.executable, "-m", "orchestrator", "serve"]


class RawServer:
    """A server process and its pipes: its client can send any line, and disconnect in any way."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            SERVE, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}
        self.ask(1, "initialize", hello)
        self.answer()
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, number: int, method: str, params: dict[str, Any]) -> None:
        """Send a request."""
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})

    def call(self, number: int, tool: str, **arguments: Any) -> None:
        """Call a tool without waiting for the answer."""
        self.ask(number, "tools/call", {"name": tool, "arguments": arguments})

    def answer(self) -> Any:
        """Return the next answer."""
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def _send(self, message: dict[str, Any]) -> None:
        self.send_line(json.dumps(message))

    def send_line(self, line: str) -> None:
        """Send a line as it is."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def children(self) -> list[psutil.Process]:
        """The server's descendants."""
        return psutil.Process(self.process.pid).children(recursive=True)

    def close(self) -> None:
        """End the server and its processes in any state."""
        self.process.kill()
        self.process.wait(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()

    def ended(self) -> float:
        """Wait for the server's end; return the seconds."""
        since = time.monotonic()
        self.process.wait(PATIENCE)
        return time.monotonic() - since
