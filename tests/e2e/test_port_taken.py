"""A driver whose port was taken from under it is started once more."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.served import served

DRIVER = """\
#!{python}
import os, pathlib, sys
mark = pathlib.Path({mark!r})
if not mark.exists():
    mark.touch()
    sys.exit("bind() failed: Address already in use (98)\\nIPv4 port not available. Exiting...")
os.execv({driver!r}, sys.argv)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in that loses its port is a script")
def test_a_start_survives_a_port_that_was_taken(tmp_path: Path) -> None:
    """The first driver finds its port taken and ends; the session starts with a second one and is not lost."""
    script = tmp_path / "chromedriver"
    script.write_text(
        DRIVER.format(python=sys.executable, mark=str(tmp_path / "seen"), driver=shutil.which("chromedriver"))
    )
    script.chmod(0o755)
    with served(chromedriver=str(script)) as server:
        assert server.ok("start_browser", sessionId="stubborn")["state"] == "active"
        assert (tmp_path / "seen").exists()
        assert server.ok("execute_script", sessionId="stubborn", script="return 1 + 1")["value"] == 2
        assert server.ok("list_sessions")["sessions"][0]["state"] == "active"
