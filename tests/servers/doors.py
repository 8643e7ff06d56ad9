"""The transports of the server behind one face: clients of the SDK over stdio and HTTP, and JSON-RPC by hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Protocol

import httpx2
import psutil
import urllib3
from anyio.from_thread import start_blocking_portal
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from pydantic import BaseModel

from tests.servers.http_mcp import MODERN, Era, HttpServer, make_request
from tests.servers.mcp import Served
from tests.waiting import PATIENCE

Hear = Callable[[str], None]
Json = dict[str, Any]


class Door(Protocol):
    """A connected client, which answers with JSON as it stands on the wire."""

    def begin(self, tool: str, arguments: Mapping[str, Any], hear: Hear | None = None) -> Future[Json]:
        """Call a tool; `hear` gets the messages of its progress."""
        ...

    def ask(self, method: str, params: Mapping[str, Any]) -> Json:
        """Send another request; returns its result, or its error under `error`."""
        ...


class SdkDoor:
    """A client of the SDK."""

    def __init__(self, served: Served) -> None:
        self._served = served
        client = served.client
        self._methods: dict[str, Callable[..., Any]] = {
            "tools/list": client.list_tools,
            "resources/list": client.list_resources,
            "resources/read": client.read_resource,
            "prompts/get": client.get_prompt,
        }

    def begin(self, tool: str, arguments: Mapping[str, Any], hear: Hear | None = None) -> Future[Json]:
        """Call a tool; `hear` gets the messages of its progress."""
        made: Future[Json] = Future()
        began = self._served.hear(hear, tool, **arguments) if hear else self._served.begin(tool, **arguments)
        began.add_done_callback(lambda done: made.set_result(_plain(done.result().raw)))
        return made

    def ask(self, method: str, params: Mapping[str, Any]) -> Json:
        """Send another request; returns its result, or its error under `error`."""
        try:
            return _plain(self._served.ask(lambda: self._methods[method](**params)))
        except MCPError as error:
            return {"error": _plain(error.error)}


class BareDoor:
    """JSON-RPC by hand, over HTTP in the 2026 protocol."""

    def __init__(self, server: HttpServer, token: str, pool: ThreadPoolExecutor) -> None:
        self._server = server
        self._token = token
        self._pool = pool

    def begin(self, tool: str, arguments: Mapping[str, Any], hear: Hear | None = None) -> Future[Json]:
        """Call a tool; `hear` gets the messages of its progress."""
        params = {"name": tool, "arguments": {**arguments}}
        return self._pool.submit(self._send, "tools/call", params, hear or (lambda _: None))

    def ask(self, method: str, params: Mapping[str, Any]) -> Json:
        """Send another request; returns its result, or its error under `error`."""
        return self._send(method, params, lambda _: None)

    def _send(self, method: str, params: Mapping[str, Any], hear: Hear) -> Json:
        name = str(params.get("name") or params.get("uri") or "")
        headers = {
            **MODERN,
            "Mcp-Method": method,
            **({"Mcp-Name": name} if name else {}),
            "Authorization": f"Bearer {self._token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        body = json.dumps(make_request(method, params, progress=7)).encode()
        with urllib3.PoolManager(retries=False, timeout=PATIENCE) as pool:
            response = pool.request("POST", self._server.url, body=body, headers=headers, preload_content=False)
            for message in _messages(response):
                if message.get("method") == "notifications/progress":
                    hear(message["params"].get("message", ""))
                elif "id" in message:
                    return message["result"] if "result" in message else {"error": message["error"]}
        raise AssertionError("no answer came")


def _messages(response: urllib3.BaseHTTPResponse) -> Iterator[Json]:
    """Yield the messages of an answer as they come: JSON, or a stream of events."""
    if "json" in response.headers["Content-Type"]:
        yield json.loads(response.read())
        return
    left = b""
    while piece := response.read1():
        *lines, left = (left + piece).split(b"\n")
        yield from (json.loads(line.removeprefix(b"data:")) for line in lines if line.startswith(b"data:"))


def _plain(model: BaseModel) -> Json:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


@contextmanager
def over_http(server: HttpServer, token: str, mode: Era) -> Iterator[SdkDoor]:
    """Connect a client of the SDK over HTTP."""
    headers = {"Authorization": f"Bearer {token}"}
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(httpx2.AsyncClient(headers=headers, timeout=PATIENCE)) as http,
    ):
        client = Client(streamable_http_client(server.url, http_client=http), mode=mode)
        with portal.wrap_async_context_manager(client):
            yield SdkDoor(Served(portal, client, psutil.Process(server.process.pid), []))


@contextmanager
def by_hand(server: HttpServer, token: str) -> Iterator[BareDoor]:
    """Speak JSON-RPC by hand."""
    with ThreadPoolExecutor() as pool:
        yield BareDoor(server, token, pool)
