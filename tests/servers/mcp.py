"""The server as clients use it: a real process over stdio, in either protocol era, called from ordinary tests."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO, TypeVar

import psutil
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import (
    CallToolResult,
    ElicitRequestParams,
    ElicitResult,
    Implementation,
    InputRequiredResult,
    ListRootsResult,
    Root,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

T = TypeVar("T")

_FENCE = re.compile(r"\n</?page-[a-z0-9]{5}>(?=\n|\Z)")


@dataclass(frozen=True)
class Answer:
    """The answer of a tool call."""

    raw: CallToolResult

    @property
    def data(self) -> dict[str, Any]:
        """The structured content."""
        return self.raw.structured_content or {}

    @property
    def data_json(self) -> str:
        """The structured content as it stands on the wire."""
        return json.dumps(self.data, ensure_ascii=False, separators=(",", ":"))

    @property
    def text(self) -> str:
        """All text parts, without the lines around what a page wrote."""
        return _FENCE.sub("", f"\n{self.fenced_text}")[1:]

    @property
    def fenced_text(self) -> str:
        """All text parts as they stand on the wire."""
        return "\n".join(part.text for part in self.raw.content if part.type == "text")

    @property
    def failed(self) -> bool:
        """True for an error result."""
        return bool(self.raw.is_error)

    @property
    def code(self) -> str:
        """The error's code; empty without an error."""
        return str(self.data.get("error", {}).get("code", ""))

    @property
    def image(self) -> Any:
        """The first image part."""
        return next(part for part in self.raw.content if part.type == "image")


class Served:
    """A client and its server process.

    Attributes:
        list_changes: The notifications so far that the list of tools has changed.
    """

    def __init__(
        self,
        portal: BlockingPortal,
        client: Client,
        process: psutil.Process,
        list_changes: list[ToolListChangedNotification],
        meta: dict[str, Any] | None = None,
    ) -> None:
        self._portal = portal
        self.client = client
        self.process = process
        self.list_changes = list_changes
        self._meta: Any = meta

    def as_agent(self, **meta: Any) -> Served:
        """Return the same connection for an agent whose calls its host sends with this `_meta`."""
        return Served(self._portal, self.client, self.process, self.list_changes, meta)

    def call(self, tool: str, **arguments: Any) -> Answer:
        """Call a tool and wait for its answer."""
        return self.begin(tool, **arguments).result(timeout=110)

    def ok(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must succeed; return its data."""
        answer = self.call(tool, **arguments)
        assert not answer.failed, answer.text
        return answer.data

    def begin(self, tool: str, **arguments: Any) -> Future[Answer]:
        """Send a tool call; calls are sent in the order in which they are begun."""

        async def send() -> Answer:
            return Answer(await self.client.call_tool(tool, arguments, meta=self._meta))

        return self._portal.start_task_soon(send)

    def send_round(self, tool: str, arguments: dict[str, Any], **more: Any) -> CallToolResult | InputRequiredResult:
        """Send one round of a call that may need more input, and answer nothing by itself."""

        async def send() -> CallToolResult | InputRequiredResult:
            rounds = self.client.session
            answer: CallToolResult | InputRequiredResult = await rounds.call_tool(
                tool, arguments, allow_input_required=True, **more
            )
            return answer

        return self._portal.start_task_soon(send).result(timeout=110)

    def listen(self, messages: list[str], tool: str, **arguments: Any) -> Future[Answer]:
        """Send a tool call as `begin` does; the server's progress messages are added to `messages`."""
        return self.hear(messages.append, tool, **arguments)

    def hear(self, told: Callable[[str], None], tool: str, **arguments: Any) -> Future[Answer]:
        """Send a tool call as `begin` does; `told` is called with each of the server's progress messages."""

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            del progress, total
            told(message or "")

        async def send() -> Answer:
            return Answer(await self.client.call_tool(tool, arguments, progress_callback=hear))

        return self._portal.start_task_soon(send)

    def ask(self, request: Callable[[], Awaitable[T]]) -> T:
        """Send any request of the client, and wait for its answer."""
        return self._portal.call(request)

    def tools(self) -> list[Any]:
        """Return the tools of tools/list."""
        return list(self._portal.call(self.client.list_tools).tools)

    @contextmanager
    def subscribed(self) -> Iterator[None]:
        """Ask for changes of the list during the block, as the 2026 protocol demands; before, they come unasked."""
        is_modern = self.client.protocol_version in MODERN_PROTOCOL_VERSIONS
        listening = self.client.listen(tools_list_changed=True) if is_modern else None
        with self._portal.wrap_async_context_manager(listening) if listening else nullcontext():
            yield


@contextmanager
def served(
    mode: str = "auto",
    options: Sequence[str] = (),
    log: TextIO = sys.stderr,
    host: str = "mcp",
    person: Callable[[str], str | Mapping[str, object]] | None = None,
    roots: Sequence[Path] = (),
    inside: Sequence[str] = (),
    /,
    **settings: str,
) -> Iterator[Served]:
    """Start a server with these settings (as environment variables) and a client of this era (auto, legacy).

    `options` are added to its command line, its standard error goes to `log`, and the client calls itself `host`.
    `person` is asked what the server asks a person, and returns accept, decline or cancel, or the fields of the form,
    which is accepted with them; without it none can be.
    The client works in the folders `roots`. The words `inside` stand before those that start the server.
    """
    environ = {
        "ORCHESTRATOR_PARK_TTL": "0",
        **os.environ,
        **{f"ORCHESTRATOR_{name.upper()}": value for name, value in settings.items()},
    }
    command = [*inside, sys.executable, "-m", "orchestrator", "serve", *options]
    parameters = StdioServerParameters(command=command[0], args=command[1:], env=environ)
    before = {child.pid for child in psutil.Process().children()}
    list_changes: list[ToolListChangedNotification] = []

    async def hear(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            list_changes.append(message)

    async def ask(context: object, params: ElicitRequestParams) -> ElicitResult:
        del context
        assert person is not None
        answer = person(params.message)
        if isinstance(answer, str):
            return ElicitResult.model_validate({"action": answer, "content": {}})
        return ElicitResult.model_validate({"action": "accept", "content": {**answer}})

    async def list_roots(context: Any) -> ListRootsResult:
        del context
        return ListRootsResult(roots=[Root.model_validate({"uri": folder.as_uri()}) for folder in roots])

    with start_blocking_portal() as portal:
        client = Client(
            stdio_client(parameters, errlog=log),
            mode=mode,
            message_handler=hear,
            elicitation_callback=ask if person else None,
            client_info=Implementation(name=host, version="1"),
            list_roots_callback=list_roots if roots else None,
        )
        with portal.wrap_async_context_manager(client):
            started = [child for child in psutil.Process().children() if child.pid not in before]
            server = next(child for child in started if "orchestrator" in child.cmdline())
            yield Served(portal, client, server, list_changes)


def processes_below(folder: Path | str) -> list[psutil.Process]:
    """Living processes whose command line or environment names a folder."""
    found = []
    for process in psutil.process_iter():
        try:
            named = str(folder) in " ".join([*process.cmdline(), *process.environ().values()])
            if named and process.pid != os.getpid() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


async def check_first_calls(client: Client) -> None:
    """Check the list of tools, the instructions, a result and an error, which are the same over every transport."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert tools["click_element"].input_schema["required"] == ["selector"]
    assert client.instructions
    listed = await client.call_tool("list_sessions", {})
    assert listed.structured_content == {"sessions": [], "currentSession": None}
    refused = await client.call_tool("click_element", {"selector": "#a"})
    assert refused.is_error
    assert refused.structured_content["error"]["code"] == "no_session"
