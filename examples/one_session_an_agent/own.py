"""Three sub-agents at once on one connection: each starts a session without a name, uses it and closes it.

Run it with `.venv/bin/python examples/one_session_an_agent/own.py`.
"""

from __future__ import annotations

import anyio
from mcp import Client
from mcp.client.stdio import stdio_client
from shared import NOTES, SERVER, call, notes_page, write_notes


async def sub_agent(client: Client, notes: list[str], url: str) -> None:
    """Start a session, take its id from the answer, pass that in every call, and close it."""
    started = await call(client, "start_browser", navigationUrl=url)
    session = started["sessionId"]
    print(f"{session.partition('-')[0]} reads {await write_notes(client, session, notes)}")
    await call(client, "close_session", sessionId=session)


async def main(url: str) -> None:
    """Run the sub-agents side by side; nothing is left of them."""
    async with Client(stdio_client(SERVER)) as client:
        async with anyio.create_task_group() as group:
            for notes in NOTES.values():
                group.start_soon(sub_agent, client, notes, url)
        left = await call(client, "list_sessions")
        print("Left are", [row["sessionId"] for row in left["sessions"]])


if __name__ == "__main__":
    with notes_page() as address:
        anyio.run(main, address)
