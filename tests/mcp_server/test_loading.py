"""A server that loads its orchestrator after the list of tools: no request sent meanwhile is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from orchestrator.mcp_server.server import McpServer
from orchestrator.mcp_server.tool_calls import ToolCalls
from orchestrator.settings import Settings
from tests.mcp_server.test_server import Recorder

SERVE = [sys.executable, "-m", "orchestrator", "serve"]

WITHOUT_PACKAGES = """
import sys
from importlib.machinery import PathFinder

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name in ("py_mini_racer", "selenium_axe_python") else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Without
"""
"""A `sitecustomize` with which Python finds no JavaScript engine, as where that has no wheel."""


async def test_calls_before_the_orchestrator_is_open_are_answered_in_order_of_arrival() -> None:
    """Calls that arrive during loading wait; they reach the façade in their order, before later ones."""
    facade, server = Recorder(), McpServer(Settings())

    async def click(number: int) -> None:
        await client.call_tool("click_element", {"selector": f"#a{number}"})

    async with Client(server.server) as client, anyio.create_task_group() as group:
        assert "click_element" in {tool.name for tool in (await client.list_tools()).tools}
        for number in range(3):
            group.start_soon(click, number)
        await anyio.wait_all_tasks_blocked()
        assert facade.asked == []
        server.open(ToolCalls(facade))
        for number in range(3, 6):
            group.start_soon(click, number)
    assert [action.selector for action, _ in facade.asked] == [f"#a{number}" for number in range(6)]


def test_a_server_that_is_asked_nothing_loads_the_orchestrator_all_the_same(tmp_path: Path) -> None:
    """Parked sessions are adopted, and the keeper is started, though the client sends no request."""
    environment = {**os.environ, "ORCHESTRATOR_HOME": str(tmp_path)}
    with subprocess.Popen(SERVE, env=environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        assert json.loads(server.stderr.readline())["event"] == "serving over stdio"
        assert (tmp_path / "sessions.db").exists()
        _, errors = server.communicate()
    assert (server.returncode, json.loads(errors)["reason"]) == (0, "end of input")


def test_an_orchestrator_that_cannot_be_opened_ends_the_server_with_one_sentence(tmp_path: Path) -> None:
    """The client is still connected, and the thread that reads its input does not keep the process alive."""
    (tmp_path / "home").write_text("")
    environment = {**os.environ, "ORCHESTRATOR_HOME": str(tmp_path / "home")}
    with subprocess.Popen(SERVE, env=environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.wait(60) == 2
        assert server.stderr is not None
        [line] = server.stderr.read().splitlines()
        assert str(tmp_path / "home") in line


async def test_a_tool_whose_packages_are_missing_is_not_listed(tmp_path: Path) -> None:
    """On a system without wheels of the engine, or without the extra for audits, the other tools are there."""
    (tmp_path / "sitecustomize.py").write_text(WITHOUT_PACKAGES, "utf-8")
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "ORCHESTRATOR_HOME": str(tmp_path / "home"), "PYTHONPATH": path}
    parameters = StdioServerParameters(command=SERVE[0], args=[*SERVE[1:], "--tools", "all"], env=environment)
    async with Client(stdio_client(parameters)) as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        assert "execute_script" in listed
        assert not {"run_script", "audit_page"} & listed
