"""Three agents at once, each with a server and a session of its own; a coordinator sees all sessions and closes them.

The page keeps its notes in the browser's storage, so an agent that got into another one's session would read its notes.
Here plain MCP clients stand for the agents. Run it with `.venv/bin/python examples/one_session_an_agent/main.py`.
"""

from __future__ import annotations

import sys
import threading
from contextlib import AsyncExitStack
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

SERVER = StdioServerParameters(
    command=sys.executable,
    args=["-m", "orchestrator", "serve", "--log-level", "warning"],
    env={"ORCHESTRATOR_NAMESPACE": "notes"},  # servers of one namespace see each other's sessions
)
NOTES = {
    "agent-black": ["Assam", "Ceylon"],
    "agent-green": ["Sencha", "Longjing"],
    "agent-herbs": ["Mint", "Camomile"],
}


class Pages(SimpleHTTPRequestHandler):
    """The files of this folder, without a line for each request."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args, directory=str(Path(__file__).parent))

    def log_message(self, *_: Any) -> None:
        """Nothing."""


async def agent(client: Client, name: str, url: str) -> None:
    """What each agent does, at the same time as the others: start its session, and name it in every call."""
    await call(client, "start_browser", sessionId=name, navigationUrl=url)
    for note in NOTES[name]:
        await call(client, "set_value", sessionId=name, selector="label=Note", value=note, submit=True)
    read = await call(client, "get_text", sessionId=name, selector="role=list")
    print(f"{name} reads {read['text'].splitlines()}")


async def main(url: str) -> None:
    """Let the agents work, then tidy up behind them."""
    async with AsyncExitStack() as stack:
        clients = {name: await stack.enter_async_context(Client(stdio_client(SERVER))) for name in NOTES}
        async with anyio.create_task_group() as group:
            for name, client in clients.items():
                group.start_soon(agent, client, name, url)

        coordinator = await stack.enter_async_context(Client(stdio_client(SERVER)))
        listed = await call(coordinator, "list_sessions")
        print("The coordinator sees", sorted(row["sessionId"] for row in listed["sessions"]))
        closed = await call(coordinator, "close_sessions", prefix="agent-")
        print("The coordinator closed", sorted(closed["closed"]))


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool; its data, or its own words for what went wrong."""
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        raise RuntimeError("\n".join(part.text for part in result.content if part.type == "text"))
    return result.structured_content or {}


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as pages:
        threading.Thread(target=pages.serve_forever, daemon=True).start()
        anyio.run(main, f"http://127.0.0.1:{pages.server_port}/notes.html")
        pages.shutdown()
