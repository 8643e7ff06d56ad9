"""A script signs in, an agent writes in the same session over MCP, then the script replies and reads the chat.

The agent never learns the password: it gets a session that is signed in already. Its server sees the session because
it has the same home and namespace as the script. A plain MCP client stands for the agent.
Run it with `.venv/bin/python examples/hand_over/main.py`.
"""

from __future__ import annotations

import sys
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from orchestrator import Orchestrator
from orchestrator.demo.chat import ChatServer
from orchestrator.settings import Settings

PASSWORD = "made-up-for-ann"


def server(settings: Settings) -> StdioServerParameters:
    """Return the command of a server with the script's home and namespace, which sees its sessions."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "orchestrator", "serve", "--log-level", "warning"],
        env={"ORCHESTRATOR_HOME": str(settings.home), "ORCHESTRATOR_NAMESPACE": settings.namespace},
    )


async def agent(settings: Settings) -> None:
    """List the sessions as the agent, and write in the one named `ann`."""
    async with Client(stdio_client(server(settings))) as client:
        sessions = await call(client, "list_sessions")
        print("The agent sees the sessions", [row["sessionId"] for row in sessions["sessions"]])
        await call(client, "set_value", sessionId="ann", selector="label=Message", value="Tea is ready.", submit=True)
        await call(client, "expect", sessionId="ann", selector="role=log", containsText="Tea is ready.")


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool; return its data, or exit with its error."""
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        sys.exit("\n".join(part.text for part in result.content if part.type == "text"))
    return result.structured_content or {}


async def main() -> None:
    """Sign in, hand over, continue."""
    with ChatServer({"ann": PASSWORD}) as chat:
        async with Orchestrator() as orchestrator:
            ann = await orchestrator.start_browser("ann", navigation_url=chat.url)
            await ann.set_value("label=Name", "ann")
            await ann.set_value("label=Password", PASSWORD)
            await ann.click_element("role=button[name=Sign in]")
            await ann.expect("label=Message", visible=True)

            await agent(orchestrator.settings)

            # The agent's server has ended by now. It did not start this session, so the session is still here.
            await ann.set_value("label=Message", "Thank you!", submit=True)
            log = await ann.get_text("role=log")
            print("The script reads", log.text.splitlines()[1:])


if __name__ == "__main__":
    anyio.run(main)
