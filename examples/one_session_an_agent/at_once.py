"""A parent starts three sessions at once, gives each a sub-agent with the same task, and compares what came of it.

Run it with `.venv/bin/python examples/one_session_an_agent/at_once.py`.
"""

from __future__ import annotations

import anyio
from mcp import Client
from mcp.client.stdio import stdio_client
from shared import SERVER, call, notes_page, write_notes

WINDOWS = {"phone": "iPhone 15", "tablet": "iPad Mini", "desktop": "Desktop Chrome"}


async def start(client: Client, name: str, device: str, url: str) -> None:
    """Start a session that emulates a device."""
    await call(client, "start_browser", sessionId=name, device=device, navigationUrl=url)


async def main(url: str) -> None:
    """Start all, run all sub-agents, compare all, close all."""
    async with Client(stdio_client(SERVER)) as client:
        async with anyio.create_task_group() as group:
            for name, device in WINDOWS.items():
                group.start_soon(start, client, name, device, url)
        async with anyio.create_task_group() as group:
            for name in WINDOWS:
                group.start_soon(write_notes, client, name, ["Assam", "Ceylon"])
        found = await call(client, "compare_sessions", sessionIds=list(WINDOWS), of="text")
        print("The same on all of them:", found["same"])
        closed = await call(client, "close_all_sessions")
        print("The parent closed", sorted(closed["closed"]))


if __name__ == "__main__":
    with notes_page() as address:
        anyio.run(main, address)
