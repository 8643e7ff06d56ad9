"""The MCP server: lists and calls the tools, in the 2025 and 2026 protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams

from orchestrator import __version__
from orchestrator.actions import ENTRY_POINTS
from orchestrator.mcp_server.tool_list import list_tools, read_entries
from orchestrator.sessions import progress
from orchestrator.settings import Settings

if TYPE_CHECKING:
    from orchestrator.mcp_server.tool_calls import ToolCalls

Context = ServerRequestContext[Any, Any]

_FRESHNESS = CacheHint(ttl_ms=300_000, scope="private")
"""The time for which a client of the 2026 protocol may keep the list, for itself alone: it depends on the client."""

_PROGRESS_POLL = 0.25
"""Seconds between two looks for a new progress message of a call."""

INSTRUCTIONS = """\
Drives many real browsers and apps at once through WebDriver.

Sessions: calls go to sessionId, else to the current session. navigate starts a browser when there is none; \
start_browser starts more, under names of your choice (alice, bob). Different sessions work at the same time. Close \
what you no longer need. A sub-agent starts a session of its own and passes its sessionId in every call.

Acting: get_visible_elements gives each element a ref, such as e12, to pass as selector. Actions wait until their \
element is ready: never sleep; wait_for and expect wait for what comes later.

Together: execute_sequence runs several steps in one call and reports what changed: prefer it for forms. \
execute_parallel runs one sequence per session. Unlisted tools (describe_actions) can be called and be steps, too.
"""


class McpServer:
    """Lists the tools as soon as it runs, and calls them once it is open; earlier calls wait for that.

    Args:
        settings: Which tools to list, and with which schemas.
        heartbeat: Seconds between two progress notifications, for clients that ask for progress.

    Attributes:
        requested: Set by the first request that concerns the tools: a list or a call.
    """

    def __init__(self, settings: Settings, heartbeat: float = 5.0) -> None:
        self.requested = anyio.Event()
        self._settings = settings
        self._heartbeat = heartbeat
        self._calls: ToolCalls
        self._opened = anyio.Event()
        self._announced: frozenset[str] = frozenset()
        self._subscriptions = InMemorySubscriptionBus()
        self.server: Server[Any] = Server(
            "webdriver-orchestrator",
            version=__version__,
            title="WebDriver Orchestrator",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_subscriptions_listen=ListenHandler(self._subscriptions),
            cache_hints={"tools/list": _FRESHNESS, "server/discover": _FRESHNESS},
        )

    def open(self, calls: ToolCalls) -> None:
        """Take calls from now on."""
        self._calls = calls
        self._opened.set()

    async def _list_tools(self, context: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        self.requested.set()
        if entry_points(group=ENTRY_POINTS):  # only loading them shows which actions they bring
            await self._opened.wait()
            entries = self._calls.entries()
        else:
            entries = read_entries()
        joined = self._calls.joining.names if self._opened.is_set() else ()
        client = context.session.client_params
        name = client.client_info.name if client else ""
        return ListToolsResult(tools=list_tools(self._settings, entries, joined=joined, client=name))

    async def _call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        self.requested.set()
        async with _reporting_progress(context, params.name, self._heartbeat):
            starting = not self._opened.is_set()
            if starting:
                progress.report_progress("the server is starting")
            await self._opened.wait()  # open or not, each call waits once here: they keep their order of arrival
            if starting:
                progress.report_progress("")
            client = context.session.client_params
            name = (client.client_info.title or client.client_info.name) if client else ""
            meta = {**(context.meta or {})}
            result = await self._calls.call_tool(params.name, params.arguments or {}, meta, name)
            await self._announce_joined_sets(context)
            return result

    async def _announce_joined_sets(self, context: Context) -> None:
        """Tell the client once that the list has grown: by a subscription in the 2026 protocol, else unasked."""
        joined = self._calls.joining.names
        if joined == self._announced:
            return
        self._announced = joined  # before anything is awaited: other calls that end now must not tell it, too
        await self._subscriptions.publish(ToolsListChanged())
        await context.session.send_tool_list_changed()


@asynccontextmanager
async def _reporting_progress(context: Context, name: str, pause: float) -> AsyncIterator[None]:
    """Report progress while the body runs: each new message soon, and every `pause` seconds that it still works.

    Without a client that asked for it, the report goes nowhere.
    """
    message = ""

    def listen(text: str) -> None:
        nonlocal message
        message = text

    async def report() -> None:
        start = last_time = anyio.current_time()
        last_message = ""
        while True:
            await anyio.sleep(min(pause, _PROGRESS_POLL))
            now = anyio.current_time()
            if message != last_message or now >= last_time + pause:
                last_message, last_time = message, now
                text = f"{name}: {message}" if message else f"{name}: working for {now - start:.0f} s"
                await context.session.report_progress(now - start, None, text)

    with progress.listen_to_progress(listen):
        async with anyio.create_task_group() as group:
            group.start_soon(report)
            yield
            group.cancel_scope.cancel()
