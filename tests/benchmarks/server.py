"""Our way: a server process over stdio, and a minimal client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil

NAMESPACE = "bench"
OURS = (sys.executable, "-m", "orchestrator", "serve", "--log-level", "warning")
UNCUT = "100000000"


class Server:
    """A server and its only client, which writes a line and reads the answer, so that the server's time is measured."""

    def __init__(self, home: Path, *, command: tuple[str, ...] = OURS, max_output: str = UNCUT, **given: str) -> None:
        settings = {
            "HOME": str(home),
            "NAMESPACE": NAMESPACE,
            "MAX_OUTPUT": max_output,
            "SESSION_WARNING": "100",
            "PARK_TTL": "0",
        }
        settings |= {name.upper(): value for name, value in given.items()}
        environment = {**os.environ, **{f"ORCHESTRATOR_{name}": value for name, value in settings.items()}}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self._sent = 0
        client = {"name": "benchmark", "version": "1"}
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        self._write({"method": "notifications/initialized"})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must succeed; return its data."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        if result.get("isError"):
            raise RuntimeError(f"{tool}: {result['content'][0]['text']}")
        data: dict[str, Any] = result["structuredContent"]
        return data

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request; return its result, errors included."""
        self._sent += 1
        self._write({"id": self._sent, "method": method, "params": params})
        assert self._process.stdout
        while line := self._process.stdout.readline():
            message = json.loads(line)
            if message.get("id") == self._sent:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                result: dict[str, Any] = message["result"]
                return result
        raise RuntimeError(f"The server ended before it answered {method}.")

    def begin(self, tool: str, **arguments: Any) -> None:
        """Call a tool whose answer nobody reads."""
        self._sent += 1
        self._write({"id": self._sent, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})

    @property
    def process(self) -> psutil.Process:
        """The server process."""
        return psutil.Process(self._process.pid)

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()
