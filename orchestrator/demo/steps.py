"""Calls tools over MCP and says, a line a step, what was done and how long it took."""

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
_PATIENCE = 180.0
"""How long one call may take before a demonstration gives up, in seconds."""
_CLOSING = 20.0


class StepFailed(Exception):
    """Raised after a step did not do what it should; what happened has been said already."""


class Steps:
    """The tools of one server, as one demonstration uses them."""

    def __init__(self, client: Client, say: Say) -> None:
        self._client = client
        self._say = say

    async def call(self, what: str, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and answer with its data; `what` says to people what it is for.

        Raises:
            StepFailed: The tool answered with an error, a sequence of it stopped early, or nothing answered.
        """
        began = time.perf_counter()
        data: dict[str, Any] = {}
        try:
            result = await self._client.call_tool(tool, arguments)
        except MCPError as error:  # the server does not know the tool, or is gone
            problem = str(error)
        else:
            data = result.structured_content if isinstance(result.structured_content, dict) else {}
            problem = _text(result) if result.is_error or _stopped(data) else ""
        took = (time.perf_counter() - began) * 1000
        self._say(f"{took:8.0f} ms  {tool:<18} {what}{' - FAILED' if problem else ''}")
        if problem:
            self._say(problem)
            raise StepFailed(tool)
        return data

    async def close(self, what: str) -> None:
        """Close every session; a browser that takes too long is left to the server's end."""
        with anyio.move_on_after(_CLOSING, shield=True) as limit:
            await self.call(what, "close_all_sessions")
        if limit.cancelled_caught:
            self._say(f"The sessions did not close in {_CLOSING:.0f} s; the server ends them with itself.")


def client_of(demo: str, log: TextIO, **settings: str) -> Client:
    """A client with a server of its own, in these settings; what the server says of itself goes to `log`."""
    # A namespace of its own: someone's session may be called alice already.
    settings = {"namespace": f"{demo}-demo-{secrets.token_hex(4)}", "park_ttl": "0", **settings}
    environ = {**os.environ, **{f"ORCHESTRATOR_{name.upper()}": value for name, value in settings.items()}}
    server = StdioServerParameters(command=sys.executable, args=["-m", "orchestrator", "serve"], env=environ)
    return Client(stdio_client(server, errlog=log), read_timeout_seconds=_PATIENCE)


async def together(*jobs: Callable[[], Awaitable[object]]) -> None:
    """Run the jobs at the same time, each to its end, then raise the first failure there was."""
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
    """The folder for what a demonstration leaves, as an absolute path; made when it is not there."""
    folder = out.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def innermost(error: BaseException) -> BaseException:
    """What a transport wrapped into groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _stopped(data: dict[str, Any]) -> bool:
    """Whether a sequence in it failed: a parallel run in which another one went through is no error of the call."""
    return any("failed" in sequence for sequence in data.get("results", {}).values())


def _text(result: CallToolResult) -> str:
    texts = [part.text for part in result.content if isinstance(part, TextContent)]
    return "\n".join(texts) or "The tool gave no reason."
