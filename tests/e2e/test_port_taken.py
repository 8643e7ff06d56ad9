"""A driver whose port was taken from under it is started once more."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.ports import losing_its_port
from tests.served import served


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in that loses its port is a script")
def test_a_start_survives_a_port_that_was_taken(tmp_path: Path) -> None:
    """The first driver finds its port taken and ends; the session starts with a second one and is not lost."""
    with served(chromedriver=str(losing_its_port(tmp_path))) as server:
        assert server.ok("start_browser", sessionId="stubborn")["state"] == "active"
        assert (tmp_path / "lost").exists()
        assert server.ok("execute_script", sessionId="stubborn", script="return 1 + 1")["value"] == 2
        assert server.ok("list_sessions")["sessions"][0]["state"] == "active"
