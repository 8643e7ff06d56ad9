"""A parent starts two sessions and hands their ids to sub-agents, who take turns on the parent's connection.

Run it with `.venv/bin/python examples/one_session_an_agent/handed_out.py`.
"""

from __future__ import annotations

import anyio
from mcp import Client
from mcp.client.stdio import stdio_client
from shared import SERVER, call

from orchestrator.demo.chat import ChatServer

PASSWORDS = {"ann": "made-up-for-ann", "ben": "made-up-for-ben"}


TURNS = [("ann", "Is the kettle on?"), ("ben", "It is. Two cups?"), ("ann", "Three.")]


async def sub_agent(client: Client, session: str, heard: str, says: str) -> None:
    """Wait for the last message in the session that it was given, and answer it there."""
    if heard:
        await call(client, "expect", sessionId=session, selector="role=log", containsText=heard)
    await call(client, "set_value", sessionId=session, selector="label=Message", value=says, submit=True)


async def main() -> None:
    """Start and sign in as the parent, let the sub-agents take turns, read all, and close what was started."""
    with ChatServer(PASSWORDS) as chat:
        async with Client(stdio_client(SERVER)) as client:
            for name, password in PASSWORDS.items():
                await call(client, "start_browser", sessionId=name, navigationUrl=chat.url)
                await call(client, "set_value", sessionId=name, selector="label=Name", value=name)
                field = {"selector": "label=Password", "value": password}
                await call(client, "set_value", sessionId=name, submit=True, **field)

            heard = ""
            for session, says in TURNS:
                await sub_agent(client, session, heard, says)
                heard = says

            await call(client, "expect", sessionId="ben", selector="role=log", containsText=heard)
            log = await call(client, "get_text", sessionId="ben", selector="role=log")
            print("Ben reads", [says for _, says in TURNS if says in log["text"]])
            closed = await call(client, "close_all_sessions")
            print("The parent closed", sorted(closed["closed"]))


if __name__ == "__main__":
    anyio.run(main)
