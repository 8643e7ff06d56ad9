"""The same purchase by an agent over MCP; a plain MCP client stands for the agent.

Run it with `.venv/bin/python examples/checkout_on_three_platforms/over_mcp.py`, after `make appium`.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import anyio
from main import PLATFORMS, PURCHASE
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from orchestrator.demo.device_server import DeviceServer
from orchestrator.demo.shop import bundle, web


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool; return its data, or exit with its error."""
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        sys.exit("\n".join(part.text for part in result.content if part.type == "text"))
    return result.structured_content or {}


async def buy(client: Client, apps: dict[str, Path], address: str) -> None:
    """Start three sessions, run the steps in all of them, and compare the results."""
    await call(client, "start_browser", sessionId="web", navigationUrl=address)
    for name, platform, device in (("ios", "iOS", "iPhone 15"), ("android", "Android", "Pixel 8")):
        app = {"appPath": str(apps[name]), "deviceName": device}
        row = await call(client, "start_app_session", sessionId=name, platform=platform, **app)
        print(f"{name}: {row['capabilities']['deviceName']}")

    bought = await call(client, "execute_parallel", sequences=[{"sessionIds": PLATFORMS, "actions": PURCHASE}])
    print({name: result["completed"] for name, result in bought["results"].items()})
    compared = await call(client, "compare_sessions", sessionIds=PLATFORMS, of="elements")
    print("The same everywhere" if compared["same"] else compared["differences"])
    await call(client, "close_all_sessions")


async def main() -> None:
    """Start a server for the client, the phones and the shop, and buy."""
    with tempfile.TemporaryDirectory() as folder, DeviceServer() as phones:
        shops = {name: bundle(Path(folder) / name, name) for name in ("web", "ios", "android")}
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "orchestrator", "serve", "--log-level", "warning", "--appium-url", phones.url],
            env=dict(os.environ),
        )
        with web(shops["web"]) as page:
            async with Client(stdio_client(server)) as client:
                await buy(client, shops, page.url)


if __name__ == "__main__":
    anyio.run(main)
