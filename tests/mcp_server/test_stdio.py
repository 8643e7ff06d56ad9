"""The server as clients start it: both eras of the protocol, and an orderly end in every case."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import psutil
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from orchestrator.system.process_identity import gone
from tests.e2e.harness import in_time

pytestmark = pytest.mark.browser

SERVE = [sys.executable, "-m", "orchestrator", "serve"]
PAGE = "data:text/html,<title>T</title><button>Hi</button>"
PATIENCE = 30.0
SECONDS = 4.0
"""Seconds from the end of input to a client's SIGKILL."""

each_era = pytest.mark.parametrize("mode", ["auto", "legacy"])
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM that a process could handle")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A home of its own, without other servers' sessions."""
    return {**os.environ, "ORCHESTRATOR_HOME": str(tmp_path / "home"), "ORCHESTRATOR_NAMESPACE": "stdio"}


@asynccontextmanager
async def connected(environment: dict[str, str], mode: Literal["auto", "legacy"], log: Path) -> AsyncIterator[Client]:
    """Connect a client to a server that it started."""
    server = StdioServerParameters(command=SERVE[0], args=SERVE[1:], env=environment)
    with log.open("w") as errlog:
        async with Client(stdio_client(server, errlog=errlog), mode=mode) as client:
            yield client


@each_era
async def test_modern_and_legacy_mcp_clients_list_and_call_tools(
    environment: dict[str, str], mode: Literal["auto", "legacy"], tmp_path: Path
) -> None:
    """X1: tools with their schemas, instructions, and results that meet the schemas (the SDK's client checks them)."""
    log = tmp_path / "log"
    async with connected(environment, mode, log) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools["click_element"].input_schema["required"] == ["selector"]
        assert client.instructions
        listed = await client.call_tool("list_sessions", {})
        assert listed.structured_content == {"sessions": [], "currentSession": None}
        refused = await client.call_tool("click_element", {"selector": "#a"})
        assert refused.is_error
        assert refused.structured_content["error"]["code"] == "no_session"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["event"] for line in lines] == ["serving over stdio", "ending"]
    assert lines[-1]["reason"] == "end of input"


async def test_a_client_of_the_2026_protocol_may_keep_the_list_for_minutes_and_others_are_told_nothing(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """The list holds for this client alone and for five minutes; the older protocol has no such fields."""
    async with connected(environment, "auto", tmp_path / "log") as client:
        listed = await client.list_tools()
        assert (listed.ttl_ms, listed.cache_scope) == (300_000, "private")
    server = RawServer(environment)
    try:
        server.ask(2, "tools/list", {})
        assert set(server.answer()["result"]) == {"tools"}
    finally:
        server.close()


class RawServer:
    """The server under a client that speaks JSON-RPC by hand, so that it can disconnect in any way."""

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
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
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


@pytest.fixture
def server(environment: dict[str, str]) -> Iterator[RawServer]:
    """A server with one browser."""
    server = RawServer(environment)
    try:
        server.call(2, "start_browser", sessionId="alice", navigationUrl=PAGE)
        assert not server.answer()["result"].get("isError")
        yield server
    finally:
        server.close()


def assert_gone(processes: list[psutil.Process]) -> None:
    """Wait until nothing of the browser is left; orphans are reaped by init, which takes its time."""
    assert processes
    deadline = time.monotonic() + PATIENCE
    while left := [one for one in processes if not gone(one)]:
        assert time.monotonic() < deadline, left
        time.sleep(0.01)


def test_end_of_input_ends_the_server_and_its_browser(server: RawServer) -> None:
    """A call in flight is cancelled, the browser ends, and the exit code is 0."""
    started = server.children()
    server.call(3, "wait_for", text="never", timeout=60_000)
    assert server.process.stdin is not None
    server.process.stdin.close()
    assert server.ended() < in_time(SECONDS)
    assert server.process.returncode == 0
    assert_gone(started)


@posix
@pytest.mark.parametrize("signals", [["SIGINT"], ["SIGTERM", "SIGINT", "SIGTERM"]], ids="+".join)
def test_sigint_and_sigterm_end_the_server_and_its_browser(server: RawServer, signals: list[str]) -> None:
    """The server cleans up once, for one signal or several, though stdin stays open and a call is in flight."""
    started = server.children()
    server.call(3, "wait_for", text="never", timeout=60_000)
    for name in signals:
        server.process.send_signal(getattr(signal, name))
    assert server.ended() < in_time(SECONDS)
    assert server.process.returncode == 0
    assert_gone(started)


def test_a_client_that_stops_reading_does_not_keep_the_server_alive(server: RawServer) -> None:
    """Output that nobody reads does not delay the end of the server."""
    started = server.children()
    for number in range(3, 40):
        server.call(number, "execute_script", script="return 'x'.repeat(15000)")
    assert server.process.stdin is not None
    server.process.stdin.close()
    assert server.ended() < in_time(SECONDS)
    assert server.process.returncode == 0
    assert_gone(started)
