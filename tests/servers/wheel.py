"""The wheel of this checkout: building and installing it, and a client of what is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

ROOT = Path(__file__).parents[2]
HANDED_ON = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
"""Environment variables that some MCP hosts pass on, and no others."""
PROGRAMS = "Scripts" if sys.platform == "win32" else "bin"
"""The name of a virtual environment's folder of programs."""


def run(*command: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    """Run a command that must succeed."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, timeout=500, check=False, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}\n{done.stderr}"
    return done  # type: ignore[no-any-return]


def copy_checkout(folder: Path) -> Path:
    """Copy the checkout without untracked files; return the copy."""
    return Path(shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".*", "dist", "__pycache__")))


def make_home(folder: Path) -> dict[str, str]:
    """Make an empty home in a folder; return the environment of an MCP host that passes little on."""
    home = folder / "home"
    home.mkdir()
    return {name: os.environ[name] for name in HANDED_ON if name in os.environ} | {"HOME": str(home)}


async def show_page_and_run_script(programs: Path, folder: Path) -> None:
    """Start the installed server as an MCP host does; check a page's outline, and what a script keeps."""
    parameters = StdioServerParameters(
        command=str(programs / "webdriver-orchestrator"), env=make_home(folder), cwd=str(folder)
    )
    async with Client(stdio_client(parameters)) as client:
        page = "data:text/html,<title>First</title><h1>Hello</h1><button>Go on</button>"
        opened = await client.call_tool("navigate", {"url": page})
        assert not opened.is_error, opened
        seen = await client.call_tool("get_visible_elements", {})
        assert seen.structured_content is not None
        assert [line.partition(" [")[0] for line in seen.structured_content["outline"].splitlines()] == [
            '- heading "Hello"',
            '- button "Go on"',
        ]
        # What scripts need comes with the plain installation.
        kept = await client.call_tool("run_script", {"script": "vars.set('tea', 'green'); return vars.get('tea')"})
        assert kept.structured_content is not None
        assert kept.structured_content["value"] == "green"
        await client.call_tool("close_all_sessions", {})
