"""What to put into an MCP client's configuration so that it starts this very installation."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.doctor import browsers
from orchestrator.doctor.surroundings import CREDENTIALS
from orchestrator.machine import Machine
from orchestrator.secrets import without_credentials, without_users
from orchestrator.settings import PREFIX, Settings

NAME = "webdriver"
"""What the server is called in a client."""

_BASIC = {
    "linux": ("/usr/local/bin", "/usr/bin", "/bin"),
    "darwin": ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin"),
}
_HELPERS = ("node", "appium", "java", "adb")
_WINDOWED = ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR")
"""What a browser with a window needs on Linux, and no client hands on."""


@dataclass(frozen=True, slots=True)
class Server:
    """How to start this installation, and what of the environment it needs: clients hand on next to nothing."""

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]

    @classmethod
    def here(cls, machine: Machine, settings: Settings) -> Server:
        """This one, with the environment that it runs in now."""
        program = Path(sys.executable).parent / ("orchestrator.exe" if machine.system == "win32" else "orchestrator")
        command = (str(program), "serve") if program.is_file() else (sys.executable, "-m", "orchestrator", "serve")
        return cls(command[0], command[1:], {**_path(machine, settings), **_settings(machine, settings)})

    def data(self) -> dict[str, Any]:
        """As most clients want it."""
        return {"command": self.command, "args": list(self.args), "env": dict(self.env)}


@dataclass(frozen=True, slots=True)
class Client:
    """A client: what it wants to be given, and where that goes on each system."""

    title: str
    write: Callable[[Server, str], str]
    places: Mapping[str, str]

    def snippet(self, server: Server, system: str) -> str:
        """What to paste."""
        return self.write(server, system)

    def place(self, system: str) -> str:
        """Where to."""
        return self.places.get(system) or self.places["linux"]


def _path(machine: Machine, settings: Settings) -> dict[str, str]:
    """The folders of the programs that are found now, then those that every system has."""
    if machine.system == "win32":  # what is there is needed by whatever is started
        return {"PATH": machine.environ.get("PATH", "")}
    helpers = [path for path in map(machine.program, _HELPERS) if path]
    found = [str(path.parent) for path in (*browsers.programs(machine, settings), *helpers)]
    folders = dict.fromkeys([*found, *_BASIC.get(machine.system, _BASIC["linux"])])
    return {"PATH": os.pathsep.join(folders)}


def _settings(machine: Machine, settings: Settings) -> dict[str, str]:
    """The settings that are made in the environment and differ from the defaults, those with credentials apart."""
    found = {}
    for name, field in Settings.model_fields.items():
        variable = f"{PREFIX}{name.upper()}"
        given = machine.environ.get(variable)
        default = field.get_default(call_default_factory=True, validated_data={"home": settings.home})
        if given and getattr(settings, name) != default and not _has_credentials(given):
            # The client starts the server in another folder than this one.
            found[variable] = str(getattr(settings, name)) if isinstance(default, Path) else given
    if machine.system == "linux" and machine.environ.get("XDG_DATA_HOME"):  # the default of home is below it
        found["XDG_DATA_HOME"] = machine.environ["XDG_DATA_HOME"]
    if machine.system == "linux" and not settings.headless:
        found |= {name: machine.environ[name] for name in _WINDOWED if machine.environ.get(name)}
    return found


def left_out(environ: Mapping[str, str]) -> list[str]:
    """The variables that are set and secret: no snippet has them."""
    of_clouds = [name for sets in CREDENTIALS.values() for names in sets for name in names if environ.get(name)]
    variables = [f"{PREFIX}{name.upper()}" for name in Settings.model_fields]
    return [*of_clouds, *(one for one in variables if _has_credentials(environ.get(one, "")))]


def _has_credentials(value: str) -> bool:
    """Whether a user or a password stands in a URL of it."""
    return without_users(without_credentials(value)) != value


def _claude_code(server: Server, system: str) -> str:
    # Another option stands between the last --env and the name, which would be taken for one more variable.
    env = [word for name, value in server.env.items() for word in ("--env", f"{name}={value}")]
    words = ["claude", "mcp", "add", "--scope", "user", *env, "--transport", "stdio", NAME]
    words += ["--", server.command, *server.args]
    return subprocess.list2cmdline(words) if system == "win32" else shlex.join(words)


def _mcp_servers(server: Server, system: str) -> str:
    del system
    return json.dumps({"mcpServers": {NAME: server.data()}}, indent=2, ensure_ascii=False)


def _vscode(server: Server, system: str) -> str:
    del system
    return json.dumps({"servers": {NAME: {"type": "stdio", **server.data()}}}, indent=2, ensure_ascii=False)


def _codex(server: Server, system: str) -> str:
    del system
    lines = [
        f"[mcp_servers.{NAME}]",
        f"command = {_toml(server.command)}",
        f"args = [{', '.join(map(_toml, server.args))}]",
        "",
        f"[mcp_servers.{NAME}.env]",
        *(f"{name} = {_toml(value)}" for name, value in server.env.items()),
    ]
    return "\n".join(lines)


def _toml(text: str) -> str:
    """A basic string; TOML escapes as JSON does, and wants DEL escaped, too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


CLIENTS: Mapping[str, Client] = {
    "claude-code": Client("Claude Code", _claude_code, {"linux": "Run it in a terminal."}),
    "claude-desktop": Client(
        "Claude Desktop",
        _mcp_servers,
        {
            "linux": "~/.config/Claude/claude_desktop_config.json",
            "darwin": "~/Library/Application Support/Claude/claude_desktop_config.json",
            "win32": r"%APPDATA%\Claude\claude_desktop_config.json",
        },
    ),
    "cursor": Client(
        "Cursor",
        _mcp_servers,
        {
            "linux": "~/.cursor/mcp.json for all projects, .cursor/mcp.json for one",
            "win32": r"%USERPROFILE%\.cursor\mcp.json for all projects, .cursor\mcp.json for one",
        },
    ),
    "codex": Client(
        "Codex",
        _codex,
        {"linux": "~/.codex/config.toml", "win32": r"%USERPROFILE%\.codex\config.toml"},
    ),
    "vscode": Client(
        "VS Code",
        _vscode,
        {
            "linux": "~/.config/Code/User/mcp.json for all projects, .vscode/mcp.json for one",
            "darwin": "~/Library/Application Support/Code/User/mcp.json for all projects, .vscode/mcp.json for one",
            "win32": r"%APPDATA%\Code\User\mcp.json for all projects, .vscode\mcp.json for one",
        },
    ),
}
"""By the names that `--client` takes."""
