"""Configuration snippets with which MCP clients start this installation."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from orchestrator.cli.doctor.installation import ServerCommand

NAME = "webdriver"
"""The server's name in a client."""

_START = 60
"""Seconds that a client should give the server to start: the first start by `uvx` installs it."""
CALL_SECONDS = 630
"""Seconds that a client should give a call: the longest timeout of a tool, and a command of the driver."""

Writer = Callable[[ServerCommand, str], str]
"""Writes a command for a client on a system."""


@dataclass(frozen=True, slots=True)
class McpClientSetup:
    """A client: its configuration's form, and the configuration's place on each system.

    Attributes:
        write: Writes the text to paste.
        places: The file to paste it into by system, or the place to run it; those of Linux hold for the others, too.
        shell: Writes the command that does the same, where the client has one that is not the text itself.
        room: The number of tools that a model gets at most, of all servers together.
        note: A sentence on what else to know.
    """

    title: str
    write: Writer
    places: Mapping[str, str]
    shell: Writer | None = None
    room: int = 0
    note: str = ""

    def snippet(self, server: ServerCommand, system: str) -> str:
        """Return the text to paste."""
        return self.write(server, system)

    def place(self, system: str) -> str:
        """Return the file to paste it into, or the place to run it."""
        return self.places.get(system) or self.places["linux"]

    def notes(self, tools: int) -> list[str]:
        """Return sentences on what else to know, if the server lists this number of tools."""
        room = (
            f"{self.title} may give a model no more than {self.room} tools of all its servers together; this one lists "
            f"{tools}. ORCHESTRATOR_TOOLS=core in its environment lists fewer."
        )
        return [*([room] if self.room else []), *([self.note] if self.note else [])]


def _command_line(words: Sequence[str], system: str) -> str:
    return subprocess.list2cmdline(words) if system == "win32" else shlex.join(words)


def _variables(server: ServerCommand, option: str) -> list[str]:
    return [word for name, value in server.env.items() for word in (option, f"{name}={value}")]


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _claude_code(server: ServerCommand, system: str) -> str:
    # Another option stands between the last --env and the name, which would be taken for one more variable.
    words = ["claude", "mcp", "add", "--scope", "user", *_variables(server, "--env"), "--transport", "stdio", NAME]
    return _command_line([*words, "--", server.command, *server.args], system)


def _mcp_servers(server: ServerCommand, _: str) -> str:
    return _json({"mcpServers": {NAME: server.data()}})


def _vscode(server: ServerCommand, _: str) -> str:
    return _json({"servers": {NAME: {"type": "stdio", **server.data()}}})


def _vscode_shell(server: ServerCommand, system: str) -> str:
    return _command_line(["code", "--add-mcp", json.dumps({"name": NAME, **server.data()})], system)


def _codex(server: ServerCommand, _: str) -> str:
    lines = [
        f"[mcp_servers.{NAME}]",
        f"command = {_toml(server.command)}",
        f"args = [{', '.join(map(_toml, server.args))}]",
        f"startup_timeout_sec = {_START}",
        f"tool_timeout_sec = {CALL_SECONDS}",
        "",
        f"[mcp_servers.{NAME}.env]",
        *(f"{name} = {_toml(value)}" for name, value in server.env.items()),
    ]
    return "\n".join(lines)


def _codex_shell(server: ServerCommand, system: str) -> str:
    words = ["codex", "mcp", "add", NAME, *_variables(server, "--env"), "--", server.command, *server.args]
    return _command_line(words, system)


def _toml(text: str) -> str:
    """Return a basic string: TOML escapes what JSON escapes, and DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _gemini(server: ServerCommand, _: str) -> str:
    return _json({"mcpServers": {NAME: {**server.data(), "timeout": CALL_SECONDS * 1000}}})


def _gemini_shell(server: ServerCommand, system: str) -> str:
    # Arguments that begin with a dash are its own unless two dashes stand before them.
    args = ["--", *server.args] if any(word.startswith("-") for word in server.args) else server.args
    timeout = ["--timeout", str(CALL_SECONDS * 1000)]
    words = ["gemini", "mcp", "add", "-s", "user", *_variables(server, "-e"), *timeout, NAME]
    return _command_line([*words, server.command, *args], system)


def _cline(server: ServerCommand, _: str) -> str:
    return _json({"mcpServers": {NAME: {**server.data(), "timeout": CALL_SECONDS, "disabled": False}}})


def _opencode(server: ServerCommand, _: str) -> str:
    entry = {
        "type": "local",
        "command": [server.command, *server.args],
        "environment": dict(server.env),
        "enabled": True,
        "timeout": CALL_SECONDS * 1000,
    }
    return _json({"$schema": "https://opencode.ai/config.json", "mcp": {NAME: entry}})


def _zed(server: ServerCommand, _: str) -> str:
    return _json({"context_servers": {NAME: server.data()}})


CLIENTS: Mapping[str, McpClientSetup] = {
    "claude-code": McpClientSetup("Claude Code", _claude_code, {"linux": "Run it in a terminal."}),
    "claude-desktop": McpClientSetup(
        "Claude Desktop",
        _mcp_servers,
        {
            "linux": "~/.config/Claude/claude_desktop_config.json",
            "darwin": "~/Library/Application Support/Claude/claude_desktop_config.json",
            "win32": r"%APPDATA%\Claude\claude_desktop_config.json",
        },
    ),
    "codex": McpClientSetup(
        "Codex",
        _codex,
        {"linux": "~/.codex/config.toml", "win32": r"%USERPROFILE%\.codex\config.toml"},
        shell=_codex_shell,
        note="The command leaves Codex its own limits, 10 s for a start and 60 s for a call: better paste the text.",
    ),
    "cursor": McpClientSetup(
        "Cursor",
        _mcp_servers,
        {
            "linux": "~/.cursor/mcp.json for all projects, .cursor/mcp.json for one",
            "win32": r"%USERPROFILE%\.cursor\mcp.json for all projects, .cursor\mcp.json for one",
        },
        room=40,
    ),
    "vscode": McpClientSetup(
        "VS Code",
        _vscode,
        {
            "linux": "~/.config/Code/User/mcp.json for all projects, .vscode/mcp.json for one",
            "darwin": "~/Library/Application Support/Code/User/mcp.json for all projects, .vscode/mcp.json for one",
            "win32": r"%APPDATA%\Code\User\mcp.json for all projects, .vscode\mcp.json for one",
        },
        shell=_vscode_shell,
        room=128,
    ),
    "gemini": McpClientSetup(
        "Gemini CLI",
        _gemini,
        {
            "linux": "~/.gemini/settings.json for all projects, .gemini/settings.json for one",
            "win32": r"%USERPROFILE%\.gemini\settings.json for all projects, .gemini\settings.json for one",
        },
        shell=_gemini_shell,
    ),
    "windsurf": McpClientSetup(
        "Windsurf",
        _mcp_servers,
        {
            "linux": "~/.codeium/windsurf/mcp_config.json",
            "win32": r"%USERPROFILE%\.codeium\windsurf\mcp_config.json",
        },
        room=100,
    ),
    "opencode": McpClientSetup(
        "OpenCode",
        _opencode,
        {
            "linux": "~/.config/opencode/opencode.json for all projects, opencode.json for one",
            "win32": r"%USERPROFILE%\.config\opencode\opencode.json for all projects, opencode.json for one",
        },
    ),
    "zed": McpClientSetup(
        "Zed",
        _zed,
        {"linux": "~/.config/zed/settings.json", "win32": r"%APPDATA%\Zed\settings.json"},
        note="Zed gives up a call after 60 s; its setting context_server_timeout (in seconds) raises that.",
    ),
    "cline": McpClientSetup(
        "Cline",
        _cline,
        {"linux": "cline_mcp_settings.json: MCP Servers, Configure, Configure MCP Servers"},
    ),
}
"""The clients by the values of `--client`."""
