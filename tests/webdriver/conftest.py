"""A session of a foreign chromedriver, for the sockets to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator.webdriver.devtools import debugger_address
from tests.e2e.harness import remote
from tests.servers.webdriver import RemoteEnd, remote_end


class Far:
    """A session of a chromedriver, its socket's address at the relay, and its browser's debugger address."""

    def __init__(self, end: RemoteEnd) -> None:
        self.end = end
        wanted = {"alwaysMatch": end.capabilities() | {"webSocketUrl": True}}
        asked = json.loads(end.resolved(json.dumps({"capabilities": wanted}).encode()))
        session = remote("POST", f"{end.driver_url}/session", asked)
        self.id = session["sessionId"]
        self.address = debugger_address(session["capabilities"])
        self.url = f"{end.url.replace('http', 'ws')}/session/{self.id}"

    def js(self, script: str) -> Any:
        """Run a script by the classic protocol, bypassing the relay."""
        return self.end.ask("POST", self.id, "/execute/sync", {"script": script, "args": []})


@pytest.fixture(scope="session")
def far() -> Iterator[Far]:
    """A session for all tests of a file."""
    with remote_end() as end:
        yield Far(end)
