"""Three agents at once, each with a server and a session of its own; a coordinator lists and closes all sessions.

The page keeps its notes in the browser's storage, so an agent in the session of another would read that one's notes.
Plain MCP clients stand for the agents. Run it with `.venv/bin/python examples/one_session_an_agent/main.py`.
"""

from __future__ import annotations

from contextlib import AsyncExitStack

import anyio
from mcp import Client
from mcp.client.stdio import stdio_client
from shared import NOTES, SERVER, call, notes_page, write_notes


async def agent(client: Client, name: str, url: str) -> None:
    """Start a session under a name, and pass that in every call."""
    await call(client, "start_browser", sessionId=name, navigationUrl=url)
    print(f"{name} reads {await write_notes(client, name, NOTES[name])}")


async def main(url: str) -> None:
    """Run the agents side by side, then list and close their sessions."""
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


if __name__ == "__main__":
    with notes_page() as address:
        anyio.run(main, address)
