"""Modules loaded before a client gets the tools, and by commands that only read the store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from orchestrator.sessions.store.sqlite import SqliteStore

HOOK = """
import os, sys, threading

trace = os.open({file!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

class Trace:
    def find_spec(self, name, path=None, target=None):
        os.write(trace, (name + "\\n").encode())
        if name == {stops_at!r}:
            threading.Event().wait()

sys.meta_path.insert(0, Trace())
"""
"""The module `sitecustomize`, which Python imports first: it records every import, and blocks one of them."""

SERVE_MAY_LOAD = {
    "orchestrator",
    "orchestrator.__main__",
    "orchestrator.actions",
    "orchestrator.api",  # begun, not finished: the import is blocked
    "orchestrator.cli",
    "orchestrator.cli.argument_parser",
    "orchestrator.cli.error_report",
    "orchestrator.cli.serve",
    "orchestrator.errors",
    "orchestrator.mcp_server",
    "orchestrator.mcp_server.caller_facts",
    "orchestrator.mcp_server.client_roots",
    "orchestrator.mcp_server.confirmation",
    "orchestrator.mcp_server.frames",
    "orchestrator.mcp_server.plain_schemas",
    "orchestrator.mcp_server.prompts",
    "orchestrator.mcp_server.resources",
    "orchestrator.mcp_server.resources.handlers",
    "orchestrator.mcp_server.resources.updates",
    "orchestrator.mcp_server.resources.uris",
    "orchestrator.mcp_server.server",
    "orchestrator.mcp_server.shutdown_signals",
    "orchestrator.mcp_server.stdio",
    "orchestrator.mcp_server.tool_list",
    "orchestrator.models",
    "orchestrator.models.comma_lists",
    "orchestrator.models.durations",
    "orchestrator.models.identifiers",
    "orchestrator.models.link_local",
    "orchestrator.models.near_names",
    "orchestrator.models.origin_patterns",
    "orchestrator.sessions",
    "orchestrator.sessions.progress",
    "orchestrator.settings",
    "orchestrator.settings.endpoints",
    "orchestrator.settings.sessions",
    "orchestrator.system",
    "orchestrator.system.host",
    "orchestrator.system.host.private_files",
}
"""Modules of ours that `serve` may load before it answers tools/list; those of the SDK, pydantic and anyio are free."""

LATER = {"PIL", "appium", "lxml", "psutil", "rich", "selenium", "sqlite3", "typer", "urllib3", "websockets"}
"""Packages that must not be loaded before that; `orchestrator log` does without most of them as well."""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """The file that lists the imports."""
    return tmp_path / "imports.txt"


def environment(trace: Path, stops_at: str = "") -> dict[str, str]:
    """An environment in which Python records its imports, with a home of its own."""
    (trace.parent / "sitecustomize.py").write_text(HOOK.format(file=str(trace), stops_at=stops_at), "utf-8")
    path = os.pathsep.join([str(trace.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, "ORCHESTRATOR_HOME": str(trace.parent / "home")}


def test_serve_lists_its_tools_before_it_loads_the_orchestrator(trace: Path) -> None:
    """The list is answered while loading of the orchestrator is blocked, with few of our modules loaded."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    ]
    server = subprocess.Popen(
        [sys.executable, "-m", "orchestrator", "serve", "--session-warning", "3", "--no-headless"],
        env=environment(trace, "orchestrator.api"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with server:
        assert server.stdin is not None
        assert server.stdout is not None
        for message in messages:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        server.kill()
    assert "click_element" in {tool["name"] for tool in answers[1]["result"]["tools"]}
    loaded = set(trace.read_text("utf-8").split())
    assert {name for name in loaded if name.startswith("orchestrator")} - SERVE_MAY_LOAD == set()
    assert loaded & LATER == set()


def test_reading_a_log_loads_neither_the_orchestrator_nor_the_sdk_nor_selenium(trace: Path) -> None:
    """A command that reads the store needs the store alone."""
    settings = environment(trace)
    SqliteStore(Path(settings["ORCHESTRATOR_HOME"])).disconnect()
    done = subprocess.run(
        [sys.executable, "-m", "orchestrator", "log", "one"],
        env=settings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "No session: one." in done.stderr
    loaded = set(trace.read_text("utf-8").split())
    assert "orchestrator.sessions.store.sqlite" in loaded
    assert loaded & {"mcp", "orchestrator.api", *LATER} <= {"psutil", "sqlite3", "typer"}


COMMAND_LEAVES_OUT = {
    "appium",
    "lxml",
    "mcp",
    "orchestrator.actions.catalogue",
    "orchestrator.api",
    "orchestrator.cli.commands",
    "orchestrator.execution.parallel",
    "orchestrator.execution.sequence",
    "orchestrator.lifecycle",
    "PIL",
    "rich",
    "structlog",
    "typer",
    "yaml",
}
"""What a command that performs one action must not load: a command takes about as long as its imports."""


def test_a_command_loads_the_path_of_its_call_and_its_own_action_alone(trace: Path) -> None:
    """Neither the SDK, nor the façade, nor other actions: by the modules that it imports until it finds no session."""
    done = subprocess.run(
        [sys.executable, "-m", "orchestrator", "click", "text=Save", "-s", "nobody"],
        env=environment(trace),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (3, ""), done.stderr
    loaded = set(trace.read_text("utf-8").split())
    assert {name for name in loaded if name.startswith("orchestrator.actions.")} == {
        "orchestrator.actions.base",
        "orchestrator.actions.mouse",
    }
    assert loaded & COMMAND_LEAVES_OUT == set()
