"""A server with a handful of tools on the same SDK and nothing else, for comparison of start-up times."""

from __future__ import annotations

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams, TextContent, Tool

_SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}
_TOOLS = [Tool(name=f"tool_{number}", description="Echo.", input_schema=_SCHEMA) for number in range(5)]


async def _list_tools(_: ServerRequestContext, __: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(tools=_TOOLS)


async def _call_tool(_: ServerRequestContext, params: CallToolRequestParams) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=params.name)])


async def _serve() -> None:
    server = Server("bare", version="1", on_list_tools=_list_tools, on_call_tool=_call_tool)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(_serve)
