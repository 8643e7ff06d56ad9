"""The environment that started programs get: what they need, and nobody's keys."""

from __future__ import annotations

import sys

import psutil
import pytest

from tests.e2e.harness import Home
from tests.waiting import until

pytestmark = pytest.mark.full

KEY = "sk-the-key-of-somebody"
PAGE = "data:text/html,<title>here</title>"


def keepers(home: Home) -> list[psutil.Process]:
    """Return the keepers of a home."""
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if str(home.folder) in (words := process.info["cmdline"] or [])
        and any(one.endswith("__main__.py") for one in words)
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not show it")
def test_drivers_browsers_and_the_keeper_get_no_keys(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """What any program of this user can read in `/proc` has only variables that programs need, and those named."""
    for name in ("OPENAI_API_KEY", "ORCHESTRATOR_SECRET_SHOP", "ANTHROPIC_AUTH_TOKEN", "GIVEN_ON_PURPOSE"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    with home.serve(pass_environment="GIVEN_*") as server:
        server.ok("navigate", url=PAGE)
        keeper = until(lambda: keepers(home), "the keeper")[0]
        driver, browser = home.process("browser-1", "chromedriver"), home.process("browser-1", "browser")
        for process in (driver, browser):
            environ = process.environ()
            assert [name for name, value in environ.items() if value == KEY] == ["GIVEN_ON_PURPOSE"]
            assert environ["HTTPS_PROXY"] == "http://127.0.0.1:9"
            assert {"PATH", "HOME", "TMPDIR"} <= environ.keys()
        assert KEY not in keeper.environ().values()
        assert "PATH" in keeper.environ()
