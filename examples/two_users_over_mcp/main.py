"""Two users chat in two browsers: one MCP client, one server, two sessions that wait for each other.

Run it with `.venv/bin/python examples/two_users_over_mcp/main.py`.
"""

from __future__ import annotations

import sys
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from orchestrator.demo.chat import ChatServer

SERVER = StdioServerParameters(command=sys.executable, args=["-m", "orchestrator", "serve", "--log-level", "warning"])
PASSWORDS = {"ann": "made-up-for-ann", "ben": "made-up-for-ben"}
SAYS = {"ann": "Is the kettle on?", "ben": "It is. Two cups?"}


def steps(name: str, other: str) -> list[dict[str, Any]]:
    """Return the steps of a user: sign in, wait for the other, write, and read the other's message."""
    return [
        {"action": "set_value", "selector": "label=Name", "value": name},
        {"action": "set_value", "selector": "label=Password", "value": PASSWORDS[name]},
        {"action": "click_element", "selector": "role=button[name=Sign in]"},
        {"action": "wait_for", "selector": "label=Message"},
        {"action": "sync", "name": "both are in"},
        {"action": "set_value", "selector": "label=Message", "value": SAYS[name], "submit": True},
        {"action": "expect", "selector": "role=log", "containsText": SAYS[other]},
    ]


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool; return its data, or exit with its error."""
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        sys.exit("\n".join(part.text for part in result.content if part.type == "text"))
    return result.structured_content or {}


async def main() -> None:
    """Start two browsers, chat, close everything."""
    with ChatServer(PASSWORDS) as chat:
        async with Client(stdio_client(SERVER)) as client:
            for name in PASSWORDS:
                await call(client, "start_browser", sessionId=name, navigationUrl=chat.url)
            both = [
                {"sessionId": "ann", "actions": steps("ann", "ben")},
                {"sessionId": "ben", "actions": steps("ben", "ann")},
            ]
            data = await call(client, "execute_parallel", sequences=both)
            await call(client, "close_all_sessions")
    # A failed sequence does not stop the others: the whole call is an error only if all failed.
    for name, result in data["results"].items():
        print(f"{name}: {result['completed']} of {len(steps(name, name))} steps", result.get("failed", ""))
    sys.exit(any("failed" in result for result in data["results"].values()))


if __name__ == "__main__":
    anyio.run(main)
