"""The doctor's configuration snippets for MCP clients: each has the client's format, and its command really starts."""

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

from orchestrator.cli.doctor import installation
from orchestrator.cli.doctor.clients import CLIENTS
from orchestrator.cli.doctor.command import ClientName
from orchestrator.cli.doctor.installation import ServerCommand, container_engine
from orchestrator.mcp_server.tool_list import listed_entries, read_entries
from orchestrator.settings import Settings
from orchestrator.system.machine import LocalMachine

Entry = dict[str, Any]

ODD = ServerCommand('/opt/it\'s "ü" \\x/orchestrator', ("serve",), {"A": 'b "c" \\ é $HOME'})
"""A command with characters that shells, JSON and TOML quote."""


def of_command(words: list[str], option: str) -> Entry:
    """Read the server's command behind two dashes, and its variables from this option before them."""
    rest, command = words[: words.index("--")], words[words.index("--") + 1 :]
    env = [rest[place + 1] for place, word in enumerate(rest) if word == option]
    return {"command": command[0], "args": command[1:], "env": dict(one.split("=", 1) for one in env)}


def of_claude_code(text: str) -> Entry:
    """Read `claude mcp add` as its own parser does: --env takes words until the next option."""
    words = shlex.split(text)
    assert words[:5] == ["claude", "mcp", "add", "--scope", "user"]
    assert words[: words.index("--")][-3:] == ["--transport", "stdio", "webdriver"]
    return of_command(words, "--env")


def of_opencode(text: str) -> Entry:
    """Read OpenCode's form: one list for the command, another name for the environment."""
    entry = json.loads(text)["mcp"]["webdriver"]
    assert (entry["type"], entry["enabled"]) == ("local", True)
    return {"command": entry["command"][0], "args": entry["command"][1:], "env": entry["environment"]}


def below(*names: str) -> Callable[[str], Entry]:
    """Return a reader of JSON that takes the entry below these names."""

    def read(text: str) -> Entry:
        value = json.loads(text)
        for name in names:
            value = value[name]
        return dict(value)

    return read


READERS: dict[str, Callable[[str], Entry]] = {
    "claude-code": of_claude_code,
    "claude-desktop": below("mcpServers", "webdriver"),
    "codex": lambda text: dict(tomllib.loads(text)["mcp_servers"]["webdriver"]),
    "cursor": below("mcpServers", "webdriver"),
    "vscode": below("servers", "webdriver"),
    "gemini": below("mcpServers", "webdriver"),
    "windsurf": below("mcpServers", "webdriver"),
    "opencode": of_opencode,
    "zed": below("context_servers", "webdriver"),
    "cline": below("mcpServers", "webdriver"),
}


def of_gemini_shell(words: list[str]) -> Entry:
    """Read `gemini mcp add`: name and command are its own arguments, two dashes stand before the command's options."""
    name = words.index("webdriver")
    env = [words[place + 1] for place, word in enumerate(words[:name]) if word == "-e"]
    command = [word for word in words[name + 1 :] if word != "--"]
    return {"command": command[0], "args": command[1:], "env": dict(one.split("=", 1) for one in env)}


SHELL_READERS: dict[str, Callable[[list[str]], Entry]] = {
    "codex": lambda words: of_command(words, "--env"),
    "vscode": lambda words: dict(json.loads(words[words.index("--add-mcp") + 1])),
    "gemini": of_gemini_shell,
}


def printed(client: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Return the command's output."""
    command = [sys.executable, "-m", "orchestrator", "doctor", "--client", client]
    done = subprocess.run(
        command, env={**os.environ, **environ}, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done


async def tools_of(entry: Entry, folder: Path) -> list[str]:
    """Start the server of an entry in a folder, with the variables that clients pass on; return its tools."""
    server = StdioServerParameters(command=entry["command"], args=entry["args"], env=entry["env"], cwd=folder)
    async with Client(stdio_client(server)) as connected:
        return [tool.name for tool in (await connected.list_tools()).tools]


@pytest.mark.full
async def test_the_mcp_server_described_by_each_client_snippet_starts_and_lists_its_tools(tmp_path: Path) -> None:
    """The command that all snippets hold lists the tools in any folder, with its environment and what clients add."""
    read = [READERS[client](printed(client).stdout) for client in CLIENTS]
    told, *others = [{key: entry[key] for key in ("command", "args", "env")} for entry in read]
    assert others == [told] * (len(CLIENTS) - 1)
    assert Path(told["command"]).is_absolute()
    assert told["env"]["ORCHESTRATOR_HOME"] == os.environ["ORCHESTRATOR_HOME"]
    assert await tools_of(told, tmp_path) == [entry.tool.name for entry in listed_entries(Settings(), read_entries())]


@pytest.mark.parametrize("client", ["claude-code", "codex", "cursor"], ids=["command", "TOML", "JSON"])
def test_a_client_snippet_holds_changed_settings_but_no_secrets(client: str) -> None:
    """Settings that differ from their defaults are in the snippet; credentials are only named next to it."""
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
def test_special_characters_survive_in_a_client_snippet(client: str, system: str) -> None:
    """Spaces, quotes, backslashes and non-ASCII letters are read back from the snippet unchanged."""
    assert READERS[client](CLIENTS[client].snippet(ODD, system)).items() >= ODD.data().items()


@pytest.mark.parametrize("client", SHELL_READERS)
@pytest.mark.parametrize("args", [("serve",), ("-m", "orchestrator", "serve")])
def test_a_client_that_has_a_command_for_it_gets_the_same_by_that_command(client: str, args: tuple[str, ...]) -> None:
    """The client's own command adds the server that the snippet describes, options in its arguments included."""
    server = ServerCommand(ODD.command, args, ODD.env)
    shell = CLIENTS[client].shell
    assert shell
    assert SHELL_READERS[client](shlex.split(shell(server, "linux"))).items() >= server.data().items()


def test_every_client_option_of_the_doctor_has_a_snippet_format() -> None:
    """The option's values are the names of the formats, each with the snippet's place on each system."""
    assert {name.value for name in ClientName} == set(CLIENTS) == set(READERS)
    assert {name for name, client in CLIENTS.items() if client.shell} == set(SHELL_READERS)
    assert all(CLIENTS[name].place(system) for name in CLIENTS for system in ("linux", "darwin", "win32"))


def test_clients_that_give_up_early_are_given_time() -> None:
    """A first start by uvx installs the server, and the longest call takes ten minutes: told in each client's unit."""
    codex = tomllib.loads(CLIENTS["codex"].snippet(ODD, "linux"))["mcp_servers"]["webdriver"]
    assert (codex["startup_timeout_sec"], codex["tool_timeout_sec"]) == (60, 630)
    timeouts = {
        client: json.loads(CLIENTS[client].snippet(ODD, "linux"))[key]["webdriver"]["timeout"]
        for client, key in {"gemini": "mcpServers", "opencode": "mcp", "cline": "mcpServers"}.items()
    }
    assert timeouts == {"gemini": 630_000, "opencode": 630_000, "cline": 630}


def test_a_client_with_little_room_is_told_how_many_tools_it_will_have() -> None:
    """Cursor's forty stand beside the number of tools in the list, with the setting that shortens it."""
    listed = len(listed_entries(Settings(tools="core"), read_entries()))
    done = printed("cursor", ORCHESTRATOR_TOOLS="core")
    assert f"no more than 40 tools of all its servers together; this one lists {listed}." in done.stderr
    assert READERS["cursor"](done.stdout)["env"]["ORCHESTRATOR_TOOLS"] == "core"


def test_a_client_snippet_sets_display_when_browsers_have_a_window(tmp_path: Path) -> None:
    """DISPLAY is in the snippet's environment, because clients do not pass it on."""
    environ = {"PATH": "/usr/bin", "DISPLAY": ":7", "ORCHESTRATOR_HEADLESS": "false"}
    settings = Settings(home=tmp_path, headless=False)
    env = ServerCommand.of_this_installation(LocalMachine(environ, "linux", ()), settings).env
    assert env.items() >= {"DISPLAY": ":7", "ORCHESTRATOR_HEADLESS": "false"}.items()


def printed_in(folder: Path, **environ: str) -> str:
    """Return the snippet for Zed that is printed in a folder."""
    command = [sys.executable, "-m", "orchestrator", "doctor", "--client", "zed"]
    environment = {**os.environ, **environ}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


async def test_a_checkout_that_is_only_on_the_python_path_is_started_from_there(tmp_path: Path) -> None:
    """Relative folders of PYTHONPATH are made absolute: the client starts the server in another folder."""
    root = Path(installation.__file__).parents[3]
    told = READERS["zed"](printed_in(root, PYTHONPATH=os.pathsep.join([".", "providers"])))
    assert told["env"]["PYTHONPATH"] == os.pathsep.join([str(root), str(root / "providers")])
    assert "start_browser" in await tools_of(told, tmp_path)


def test_an_installation_by_uvx_is_started_by_uvx_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of uvx is in a cache that may be cleared: the snippet makes it anew from the same source."""
    uv, uvx = tmp_path / "bin" / "uv", tmp_path / "bin" / "uvx"
    uv.parent.mkdir()
    uvx.touch()
    monkeypatch.setattr(sys, "prefix", "/home/ann/.cache/uv/archive-v0/lE0gwzAITs")
    monkeypatch.setattr(installation, "_source", lambda: "file:///home/ann/wheel.whl")
    machine = LocalMachine({"PATH": "/usr/bin", "UV": str(uv), "SSL_CERT_FILE": "/etc/ca.pem"}, "linux", ())
    server = ServerCommand.of_this_installation(machine, Settings(home=tmp_path))
    python, *rest = server.args[1:]
    assert (server.command, server.args[0]) == (str(uvx), "--python")
    assert Path(python).is_file()
    assert server.env["SSL_CERT_FILE"] == "/etc/ca.pem"
    assert rest == ["--from", "file:///home/ann/wheel.whl", "webdriver-orchestrator", "serve"]


def test_in_a_container_the_doctor_names_the_command_for_a_client_outside(tmp_path: Path) -> None:
    """Docker and Podman leave a file in their containers; the command runs the server in the one that runs already."""
    assert container_engine(tmp_path) == ""
    (tmp_path / ".dockerenv").touch()
    assert container_engine(tmp_path) == "docker"
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".containerenv").touch()
    assert container_engine(tmp_path) == "podman"
    words = shlex.split(ODD.from_outside("podman"))
    assert words[:5] == ["podman", "exec", "-i", "-e", f"A={ODD.env['A']}"]
    assert words[6:] == [ODD.command, "serve"]
