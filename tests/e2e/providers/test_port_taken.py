"""A driver whose port was taken by another program is started a second time."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.servers.mcp import served
from tests.servers.ports import losing_its_port

pytestmark = pytest.mark.full


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in that loses its port is a script")
def test_a_start_survives_a_port_that_was_taken(tmp_path: Path) -> None:
    """The first driver's port is taken, so it ends; the session starts with a second one and is not lost."""
    with served(chromedriver=str(losing_its_port(tmp_path))) as server:
        assert server.ok("start_browser", sessionId="stubborn")["state"] == "active"
        assert (tmp_path / "lost").exists()
        assert server.ok("execute_script", sessionId="stubborn", script="return 1 + 1")["value"] == 2
        assert server.ok("list_sessions")["sessions"][0]["state"] == "active"
