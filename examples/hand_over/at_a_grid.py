"""A Selenium script and an agent hand over sessions at a Selenium Grid, in both directions.

They hand over an address: the Grid's URL and the session's id there. With both, a client can drive the session and
detach from it without ending it. A plain MCP client stands for the agent.
Run it with `.venv/bin/python examples/hand_over/at_a_grid.py http://127.0.0.1:4444`; `orchestrator grid up` starts a
Grid to try it with.
"""

from __future__ import annotations

import re
import sys
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from selenium import webdriver
from selenium.webdriver.common.by import By

from orchestrator.demo.chat import ChatServer

PASSWORD = "made-up-for-ann"
SERVER = StdioServerParameters(
    command=sys.executable,
    args=["-m", "orchestrator", "serve", "--log-level", "warning"],
    env={"ORCHESTRATOR_NAMESPACE": "hand-over"},
)


def sign_in(driver: webdriver.Remote, url: str) -> None:
    """Sign in, so that the agent needs no password."""
    driver.get(url)
    driver.find_element(By.NAME, "name").send_keys("ann")
    driver.find_element(By.NAME, "password").send_keys(PASSWORD)
    driver.find_element(By.CSS_SELECTOR, "form button").click()


def adopted(grid: str, session: str) -> webdriver.Remote:
    """Return a Selenium driver of an existing session."""

    class Adopted(webdriver.Remote):
        def start_session(self, capabilities: dict[str, Any]) -> None:
            self.session_id, self.caps = session, capabilities

    return Adopted(command_executor=grid, options=webdriver.ChromeOptions())


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool; return its data, or exit with its error."""
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        sys.exit("\n".join(part.text for part in result.content if part.type == "text"))
    return result.structured_content or {}


async def from_script_to_agent(client: Client, grid: str, chat: str) -> None:
    """Start and sign in as the script, attach and write as the agent, then continue and quit as the script."""
    driver = await anyio.to_thread.run_sync(lambda: webdriver.Remote(grid, options=webdriver.ChromeOptions()))
    try:
        sign_in(driver, chat)
        row = await call(client, "attach_session", remoteUrl=grid, remoteSessionId=driver.session_id, sessionId="ann")
        print(f"The agent works at {row['provider']}, on the node {row['remoteEnd']['nodeUrl']}")
        await call(client, "set_value", sessionId="ann", selector="label=Message", value="Tea is ready.", submit=True)
        await call(client, "expect", sessionId="ann", selector="role=log", containsText="Tea is ready.")
        await call(client, "close_session", sessionId="ann")  # it was attached: closing only detaches
        print("The script reads", repr(driver.find_element(By.CSS_SELECTOR, "[role=log]").text.splitlines()[-1]))
    finally:
        driver.quit()


async def from_agent_to_script(client: Client, grid: str, chat: str) -> None:
    """Start and detach as the agent, whose result has the session's address; continue there and quit as the script."""
    where = {"provider": "selenium_grid", "platform": "browser", "options": {"url": grid}}
    await call(client, "start_session", sessionId="ben", navigationUrl=chat, **where)
    closed = await call(client, "close_session", sessionId="ben", detach=True)
    (warning,) = closed["warnings"]
    address = re.search(r"remoteUrl (\S+), remoteSessionId ([^\s.]+)", warning)
    assert address, warning
    driver = adopted(*address.groups())
    try:
        print("The script goes on at", repr(driver.title))
    finally:
        driver.quit()


async def main(grid: str) -> None:
    """Hand over in both directions."""
    with ChatServer({"ann": PASSWORD}) as chat:
        async with Client(stdio_client(SERVER)) as client:
            await from_script_to_agent(client, grid, chat.url)
            await from_agent_to_script(client, grid, chat.url)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.stderr.write("Give the Grid's URL, such as http://127.0.0.1:4444; orchestrator grid up starts one.\n")
        sys.exit(2)
    anyio.run(main, sys.argv[1])
