"""What the doctor prints for MCP clients: it is in their formats, and what it describes is really started."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from orchestrator.cli.doctor import ClientName
from orchestrator.doctor.clients import CLIENTS, Server
from orchestrator.machine import Machine
from orchestrator.mcp_server.tools import TOOLS
from orchestrator.settings import Settings


def of_claude_code(text: str) -> dict[str, Any]:
    """`claude mcp add` as its own parser reads it: --env takes words until the next option."""
    words = shlex.split(text)
    assert words[:5] == ["claude", "mcp", "add", "--scope", "user"]
    rest, _, command = (words[: words.index("--")], "--", words[words.index("--") + 1 :])
    assert rest[-3:] == ["--transport", "stdio", "webdriver"]
    env = [rest[place + 1] for place, word in enumerate(rest) if word == "--env"]
    return {"command": command[0], "args": command[1:], "env": dict(one.split("=", 1) for one in env)}


READERS: dict[str, Callable[[str], dict[str, Any]]] = {
    "claude-code": of_claude_code,
    "claude-desktop": lambda text: dict(json.loads(text)["mcpServers"]["webdriver"]),
    "cursor": lambda text: dict(json.loads(text)["mcpServers"]["webdriver"]),
    "codex": lambda text: dict(tomllib.loads(text)["mcp_servers"]["webdriver"]),
    "vscode": lambda text: dict(json.loads(text)["servers"]["webdriver"]),
}


def printed(client: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """What the command prints."""
    command = [sys.executable, "-m", "orchestrator", "doctor", "--client", client]
    done = subprocess.run(
        command, env={**os.environ, **environ}, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("client", CLIENTS)
async def test_the_server_that_a_snippet_describes_answers(client: str) -> None:
    """It is started with its own environment and what clients hand on, and lists its tools."""
    told = READERS[client](printed(client).stdout)
    assert Path(told["command"]).is_absolute()
    assert told["env"]["ORCHESTRATOR_HOME"] == os.environ["ORCHESTRATOR_HOME"]
    server = StdioServerParameters(command=told["command"], args=told["args"], env=told["env"])
    async with Client(stdio_client(server)) as connected:
        listed = await connected.list_tools()
    assert [tool.name for tool in listed.tools] == list(TOOLS)


@pytest.mark.parametrize("client", CLIENTS)
def test_secrets_are_left_out_and_settings_are_not(client: str) -> None:
    """Settings that differ from their defaults are in it, credentials are only named beside it."""
    done = printed(
        client,
        BROWSERSTACK_ACCESS_KEY="hunter2",
        ORCHESTRATOR_HEADLESS="true",
        ORCHESTRATOR_MAX_SESSIONS="3",
        ORCHESTRATOR_GRID_URL="http://ann:hunter2@grid.example",
        ORCHESTRATOR_SECRETS_FILE="/home/ann/keys.toml",
    )
    env = READERS[client](done.stdout)["env"]
    assert env["ORCHESTRATOR_MAX_SESSIONS"] == "3"
    assert "ORCHESTRATOR_HEADLESS" not in env
    assert "hunter2" not in done.stdout + done.stderr
    assert "BROWSERSTACK_ACCESS_KEY, ORCHESTRATOR_GRID_URL" in done.stderr
    assert env["ORCHESTRATOR_SECRETS_FILE"] == "/home/ann/keys.toml"


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_whatever_a_path_holds_survives(client: str, system: str) -> None:
    """Spaces, quotes, backslashes and letters of all alphabets."""
    odd = Server('/opt/it\'s "ü" \\x/orchestrator', ("serve",), {"A": 'b "c" \\ é $HOME'})
    assert READERS[client](CLIENTS[client].snippet(odd, system)).items() >= odd.data().items()


def test_every_client_of_the_command_line_is_known() -> None:
    """The names of the option are those of the formats, and each says where its snippet goes on each system."""
    assert {name.value for name in ClientName} == set(CLIENTS) == set(READERS)
    assert all(CLIENTS[name].place(system) for name in CLIENTS for system in ("linux", "darwin", "win32"))


def test_a_browser_with_a_window_gets_its_display(tmp_path: Path) -> None:
    """Clients do not hand it on."""
    environ = {"PATH": "/usr/bin", "DISPLAY": ":7", "ORCHESTRATOR_HEADLESS": "false"}
    settings = Settings(home=tmp_path, headless=False)
    env = Server.here(Machine(environ, "linux", ()), settings).env
    assert env.items() >= {"DISPLAY": ":7", "ORCHESTRATOR_HEADLESS": "false"}.items()
