"""Handles the requests of MCP about resources, in both protocols."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NoReturn

from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolResult,
    EmptyResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    ResourceTemplate,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    TextContent,
    UnsubscribeRequestParams,
)

from orchestrator.errors import InvalidArgument, OrchestratorError
from orchestrator.mcp_server.caller_facts import CallerFacts
from orchestrator.mcp_server.resources.updates import ResourceUpdates, Versions
from orchestrator.mcp_server.resources.uris import ResourceKind, ResourceUri

if TYPE_CHECKING:
    from orchestrator.mcp_server.resources.reader import ResourceReader
    from orchestrator.mcp_server.tool_calls import ToolCalls

Context = ServerRequestContext[Any, Any]

_MEANINGS = {
    ResourceKind.OUTLINE: "What the page or screen shows, with refs to act on.",
    ResourceKind.SCREENSHOT: "A picture of it.",
    ResourceKind.CONSOLE: "What its pages said and got wrong.",
    ResourceKind.LOG: "Its last calls: when, who, how long, and the error's code.",
    ResourceKind.FILES: "A list of its downloads, pictures, prints and recordings.",
}
"""The resources of each session."""
_FILE = ResourceTemplate(uri_template="session://{name}/files/{+path}", name="file", description="One of these files.")
_CALLERS = ("invalid_argument", "session_not_found")
"""Codes of errors that are the caller's: there is no such resource."""


class ResourceHandlers:
    """The handlers; what they need is loaded with the first of their requests.

    Args:
        open_calls: Waits until the server is open, and returns its calls.
        bus: Where what has changed is published.
    """

    def __init__(self, open_calls: Callable[[], Awaitable[ToolCalls]], bus: InMemorySubscriptionBus) -> None:
        self._open_calls = open_calls
        self.updates = ResourceUpdates(bus, self._read_versions)
        self._listen = ListenHandler(bus)

    async def list_page(self, context: Context, params: PaginatedRequestParams | None) -> ListResourcesResult:
        """Answer `resources/list`: a page of the sessions that the caller may see."""
        calls, reader = await self._open_reader()
        try:
            return await reader.list_page(CallerFacts.of(context), params.cursor if params else None)
        except OrchestratorError as error:
            _raise(calls.refuse(error))

    async def list_templates(self, _: Context, __: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
        """Answer `resources/templates/list`."""
        templates = [
            ResourceTemplate(
                uri_template=f"session://{{name}}/{kind}", name=kind, description=meaning, mime_type=kind.media_type
            )
            for kind, meaning in _MEANINGS.items()
        ]
        return ListResourceTemplatesResult(resource_templates=[*templates, _FILE])

    async def read(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        """Answer `resources/read`."""
        calls, reader = await self._open_reader()
        try:
            result = await reader.read(CallerFacts.of(context), ResourceUri.parse(params.uri))
        except OrchestratorError as error:
            _raise(calls.refuse(error))
        if isinstance(result, CallToolResult):
            _raise(result)
        return result

    async def subscribe(self, context: Context, params: SubscribeRequestParams) -> EmptyResult:
        """Answer `resources/subscribe`, of the 2025 protocol."""
        calls, reader = await self._open_reader()
        facts = CallerFacts.of(context)
        try:
            await reader.find(facts, ResourceUri.parse(params.uri))
            await self.updates.follow(facts.http_session, context.session, params.uri)
        except OrchestratorError as error:
            _raise(calls.refuse(error))
        return EmptyResult()

    async def unsubscribe(self, context: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        """Answer `resources/unsubscribe`."""
        self.updates.leave(CallerFacts.of(context).http_session, params.uri)
        return EmptyResult()

    async def listen(self, context: Context, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        """Answer `subscriptions/listen`, of the 2026 protocol; only resources of open sessions are ever updated."""
        uris = [uri for uri in params.notifications.resource_subscriptions or () if _is_ours(uri)]
        with self.updates.listening(uris):
            await self.updates.begin_to_listen()
            return await self._listen(context, params)

    async def _read_versions(self) -> Versions:
        return await (await self._open_reader())[1].read_versions()

    async def _open_reader(self) -> tuple[ToolCalls, ResourceReader]:
        from orchestrator.mcp_server.resources.reader import ResourceReader  # noqa: PLC0415 — the tools are listed before

        calls = await self._open_calls()
        return calls, ResourceReader(calls)


def _is_ours(uri: str) -> bool:
    try:
        return bool(ResourceUri.parse(uri).session_id)
    except InvalidArgument:
        return False


def _raise(result: CallToolResult) -> NoReturn:
    """Raise what a tool's error is in answer to another request: the same text and data."""
    data = (result.structured_content or {}).get("error", {})
    text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
    raise MCPError(INVALID_PARAMS if data.get("code") in _CALLERS else INTERNAL_ERROR, text, data)
