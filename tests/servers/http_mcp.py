"""Our server over HTTP as a process of its own, and clients of the SDK for it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any, Literal

import httpx2
import urllib3
from mcp import Client
from mcp.client.session import MessageHandlerFnT
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY
from mcp_types.version import LATEST_MODERN_VERSION

from orchestrator.mcp_server.http.tokens import Token, TokenFile
from tests.waiting import PATIENCE

Era = Literal["auto", "legacy"]
CLIENT = {"name": "bare", "version": "1"}
MODERN = {"Mcp-Protocol-Version": LATEST_MODERN_VERSION, "Mcp-Method": "tools/call"}
"""Headers of a call in the 2026 protocol, besides the name of the tool."""
_SENT = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


class HttpServer:
    """The server's process.

    Attributes:
        url: The endpoint of MCP.
        base: The server's address.
        home: Its data folder.
        lines: What it has logged.
        authority: The file of certificates that clients trust, for TLS.
    """

    def __init__(self, home: Path, *options: str, authority: Path | None = None) -> None:
        self.home = home
        self.authority = str(authority) if authority else None
        self.lines: list[dict[str, Any]] = []
        self._serving = threading.Event()
        own = {"ORCHESTRATOR_HOME": str(home), "ORCHESTRATOR_NAMESPACE": "one", "ORCHESTRATOR_PARK_TTL": "300"}
        environment = {**os.environ, **own}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "orchestrator", "serve", "--http", "127.0.0.1:0", *options],
            env=environment,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._reader = threading.Thread(target=self._read_log)
        self._reader.start()
        assert self._serving.wait(PATIENCE)
        found = [line["url"] for line in self.lines if line["event"] == "serving over HTTP"]
        assert found, self.lines
        self.url = str(found[0])
        self.base = self.url.removesuffix("/mcp")

    def token(self, name: str, **fields: Any) -> str:
        """Add a token; returns it."""
        token, secret = Token.make(name=name, **{"namespace": "one", **fields})
        TokenFile(self.home).add(token)
        return secret

    def end(self) -> int:
        """Send SIGTERM; returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self) -> int:
        """Wait for the process's end, and kill it if it does not come."""
        try:
            return self.process.wait(PATIENCE)
        finally:
            with suppress(ProcessLookupError):
                self.process.kill()
            self._reader.join(PATIENCE)
            if self.process.stderr:
                self.process.stderr.close()

    def request(
        self,
        token: str | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        *,
        method: str = "POST",
        path: str = "/mcp",
    ) -> urllib3.BaseHTTPResponse:
        """Send one request as it stands."""
        sent = {**_SENT, "Authorization": f"Bearer {token}"} if token else _SENT
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        with urllib3.PoolManager(retries=False, timeout=PATIENCE, ca_certs=self.authority) as pool:
            return pool.request(method, self.base + path, body=content, headers={**sent, **(headers or {})})

    def call(
        self, token: str, tool: str, arguments: Mapping[str, Any] | None = None, client: str = "bare"
    ) -> dict[str, Any]:
        """Call a tool by bare JSON-RPC of the 2026 protocol, as a program of this name; returns the result."""
        request = make_call(tool, arguments or {})
        request["params"]["_meta"][CLIENT_INFO_META_KEY] = {**CLIENT, "name": client}
        response = self.request(token, request, MODERN | {"Mcp-Name": tool})
        assert response.status == HTTPStatus.OK, response.data
        answer = last_message(response.data)
        assert isinstance(answer["result"], dict), answer
        return answer["result"]

    def open_session(self, token: str) -> dict[str, str]:
        """Open a session of the 2025 protocol by bare JSON-RPC; returns the headers of its requests."""
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}
        opened = self.request(token, {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client})
        headers = {"Mcp-Session-Id": opened.headers["Mcp-Session-Id"], "Mcp-Protocol-Version": "2025-06-18"}
        self.request(token, {"jsonrpc": "2.0", "method": "notifications/initialized"}, headers)
        return headers

    @contextmanager
    def cut_off(self, token: str, body: Any, headers: Mapping[str, str]) -> Iterator[None]:
        """Send a request, and cut its connection at the end of the block without reading the answer."""
        link = http.client.HTTPConnection(self.base.removeprefix("http://"), timeout=PATIENCE)
        try:
            link.request("POST", "/mcp", json.dumps(body), {**_SENT, "Authorization": f"Bearer {token}", **headers})
            yield
        finally:
            link.close()

    def _read_log(self) -> None:
        for line in self.process.stderr or ():
            try:
                self.lines.append(json.loads(line))
            except ValueError:
                self.lines.append({"event": line})
            if self.lines[-1]["event"] == "serving over HTTP":
                self._serving.set()
        self._serving.set()


def make_call(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Make a call of a tool as JSON-RPC, for both eras."""
    return make_request("tools/call", {"name": tool, "arguments": {**arguments}})


def make_request(method: str, params: Mapping[str, Any], progress: int | None = None) -> dict[str, Any]:
    """Make a request as JSON-RPC, for both eras; `progress` is a token by which it asks for progress."""
    own = {} if progress is None else {"progressToken": progress}
    facts = {
        PROTOCOL_VERSION_META_KEY: LATEST_MODERN_VERSION,
        CLIENT_INFO_META_KEY: CLIENT,
        CLIENT_CAPABILITIES_META_KEY: {},
    }
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": facts | own}}


def last_message(body: bytes) -> dict[str, Any]:
    """Return the last message of an answer, which is JSON or a stream of events."""
    text = body.decode()
    events = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    message: dict[str, Any] = json.loads(events[-1] if events else text)
    return message


@contextmanager
def http_server(home: Path, *options: str, authority: Path | None = None) -> Iterator[HttpServer]:
    """Run a server for a block."""
    server = HttpServer(home, *options, authority=authority)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.end()


@asynccontextmanager
async def connected(
    server: HttpServer, token: str, mode: Era = "auto", hear: MessageHandlerFnT | None = None, **options: Any
) -> AsyncIterator[Client]:
    """Connect a client of the SDK, whose messages outside of answers go to `hear`."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE, **options) as http,
        Client(streamable_http_client(server.url, http_client=http), mode=mode, message_handler=hear) as client,
    ):
        yield client
