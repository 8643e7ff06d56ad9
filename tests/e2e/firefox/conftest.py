"""A Firefox for a whole file of tests, which tests what it does by WebDriver BiDi."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from tests.e2e.stage import Stage
from tests.servers.mcp import served
from tests.servers.site import Site

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def fox(request: pytest.FixtureRequest) -> Iterator[Stage]:
    """A server, a site and a Firefox named `fox`; further sessions end with their tests."""
    request.getfixturevalue("needs_firefox")
    with Site() as site, served(namespace=f"fox-{next(_numbers)}", tools="all", require_session_id="never") as server:
        server.ok("start_browser", browser="firefox", sessionId="fox")
        yield Stage(server, site, "firefox")
        server.ok("close_sessions", all=True)
