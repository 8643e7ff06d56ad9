"""The MCP client of the demonstrations: call tools and print a line per step."""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TextIO

import anyio
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import CallToolResult, TextContent

Say = Callable[[str], object]
_CALL_TIMEOUT = 180.0
"""Timeout of a call in seconds."""
_CLOSE_TIMEOUT = 20.0


class StepFailed(Exception):
    """A step failed; its error was printed already."""


class DemoToolCaller:
    """Calls a server's tools and prints the steps of a demonstration."""

    def __init__(self, client: Client, say: Say) -> None:
        self._client = client
        self._say = say

    async def call(self, purpose: str, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool, print a line with its purpose, and return its data.

        Raises:
            StepFailed: The tool returned an error, one of its sequences failed, or the server did not answer.
        """
        began = time.perf_counter()
        data: dict[str, Any] = {}
        try:
            result = await self._client.call_tool(tool, arguments)
        except MCPError as error:  # the server lacks the tool, or is gone
            problem = str(error)
        else:
            data = result.structured_content if isinstance(result.structured_content, dict) else {}
            problem = _text(result) if result.is_error or _stopped(data) else ""
        took = (time.perf_counter() - began) * 1000
        self._say(f"{took:8.0f} ms  {tool:<18} {purpose}{' - FAILED' if problem else ''}")
        if problem:
            self._say(problem)
            raise StepFailed(tool)
        return data

    async def close(self, purpose: str) -> None:
        """Close every session, up to a timeout; the server's end closes the rest."""
        with anyio.move_on_after(_CLOSE_TIMEOUT, shield=True) as limit:
            await self.call(purpose, "close_all_sessions")
        if limit.cancelled_caught:
            self._say(f"The sessions did not close in {_CLOSE_TIMEOUT:.0f} s; the server's end closes them.")


def client_with_server(demo: str, log: TextIO, **settings: str) -> Client:
    """A client with a server of its own, with these settings; the server logs to `log`."""
    # A namespace of its own, since the user may have a session of the same name.
    settings = {"namespace": f"{demo}-demo-{secrets.token_hex(4)}", "park_ttl": "0", **settings}
    environ = {**os.environ, **{f"ORCHESTRATOR_{name.upper()}": value for name, value in settings.items()}}
    server = StdioServerParameters(command=sys.executable, args=["-m", "orchestrator", "serve"], env=environ)
    return Client(stdio_client(server, errlog=log), read_timeout_seconds=_CALL_TIMEOUT)


async def run_together(*jobs: Callable[[], Awaitable[object]]) -> None:
    """Run the jobs at the same time, each to its end, then raise the first failure."""
    failures: list[StepFailed] = []

    async def run(job: Callable[[], Awaitable[object]]) -> None:
        try:
            await job()
        except StepFailed as failure:
            failures.append(failure)

    async with anyio.create_task_group() as group:
        for job in jobs:
            group.start_soon(run, job)
    if failures:
        raise failures[0]


def made_folder(out: Path) -> Path:
    """Create the folder for a demonstration's files if necessary; its absolute path."""
    folder = out.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def innermost(error: BaseException) -> BaseException:
    """The error inside nested exception groups, in which transports wrap it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _stopped(data: dict[str, Any]) -> bool:
    """True if a sequence failed: the call itself succeeds if another sequence does."""
    return any("failed" in sequence for sequence in data.get("results", {}).values())


def _text(result: CallToolResult) -> str:
    texts = [part.text for part in result.content if isinstance(part, TextContent)]
    return "\n".join(texts) or "The tool gave no reason."
