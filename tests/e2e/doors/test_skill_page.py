"""The page for agents: each call on it succeeds in a real browser."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.cli.skills import read_page
from orchestrator.demo.chat import ChatServer
from tests.e2e.harness import Home
from tests.servers.mcp import Served

pytestmark = [pytest.mark.full, pytest.mark.timeout(400)]  # a command after the other, each a process of its own

ADDRESS = "https://chat.example/"
"""The address on the page; here a chat stands for it."""


CLAIM = "ann~7f3k2"
"""The name of a claim on the page; here it is another each time."""


def lines(kind: str) -> Iterator[str]:
    """Yield the lines of the page's blocks of a kind, in order."""
    for block in re.findall(rf"^```{kind}\n(.*?)^```$", read_page(), re.MULTILINE | re.DOTALL):
        yield from block.splitlines()


def test_every_tool_call_of_the_page_for_agents_succeeds(modern: Served) -> None:  # W31
    """The calls, made in order, succeed, and their tools are listed: two users chat, an agent goes on by a name."""
    called, claimed = set(), CLAIM
    with ChatServer({name: f"{name}-password" for name in ("ann", "ben")}) as chat:
        for line in lines("tools"):
            tool, _, arguments = line.partition(" ")
            answered = modern.ok(tool, **json.loads(arguments.replace(ADDRESS, chat.url).replace(CLAIM, claimed)))
            claimed = answered["sessionId"] if tool == "claim_session" else claimed
            called.add(tool)
    assert {"execute_parallel", "compare_sessions", "list_sessions"} < called <= {one.name for one in modern.tools()}
    assert modern.ok("list_sessions")["sessions"] == []


def test_every_command_of_the_page_for_agents_succeeds(home: Home, tmp_path: Path) -> None:  # W31
    """The commands, typed in order, succeed: somebody signs in, writes, checks it, and leaves nothing behind."""
    environment = {**os.environ, "ORCHESTRATOR_HOME": str(home.folder)}
    said = {}
    with ChatServer({"ann": "ann-password"}) as chat:
        for line in lines("sh"):
            program, *words = shlex.split(line.replace(ADDRESS, chat.url))
            assert program == "orchestrator"
            done = subprocess.run(
                [sys.executable, "-m", "orchestrator", *words],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=100,
            )
            assert done.returncode == 0, f"{line}\n{done.stderr}"
            said[words[0]] = done.stdout
    assert "Hello" in said["text"]
    assert (tmp_path / "ann.png").read_bytes().startswith(b"\x89PNG")
    assert home.records() == []
