"""Requests to a remote end: each command to a distant one takes a whole round trip."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pytest

from tests.e2e.harness import Home
from tests.servers.mcp import Served
from tests.servers.site import Site
from tests.servers.webdriver import RemoteEnd, remote_end

pytestmark = pytest.mark.full

PAGE = """
<title>Sign in</title><label>Name <input id=name></label><label>Password <input id=password type=password></label>
<label><input type=checkbox id=stay>Stay</label>
<button onclick="document.querySelector('p').textContent = 'Welcome'">Sign in</button><p>Who are you?</p>
"""
SIGN_IN: list[dict[str, Any]] = [
    {"action": "set_value", "selector": "#name", "value": "alice"},
    {"action": "set_value", "selector": "#password", "value": "correct horse"},
    {"action": "set_value", "selector": "#stay", "value": True},
    {"action": "click_element", "selector": "button"},
    {"action": "expect", "selector": "p", "text": "Welcome"},
]
REST = ["settle", "handles"]
"""The requests that detect changes: the settled page, and the tabs open then."""


class Far:
    """A session at a remote end that records its requests."""

    def __init__(self, home: Home, site: Site, end: RemoteEnd) -> None:
        self.home = home
        self._url = site.page("/", PAGE)
        self._end = end

    def start(self, server: Served) -> None:
        """Start the session on its page."""
        place = {"platform": "browser", "provider": "remote_url", "options": {"url": self._end.url}}
        server.ok("start_session", sessionId="far", **place, capabilities=self._end.capabilities())
        server.ok("navigate", sessionId="far", url=self._url)

    def asked(self, server: Served, tool: str, **arguments: Any) -> list[str]:
        """Return the requests of a call; a question that is repeated while the page is busy counts once."""
        before = len(self._end.requests)
        server.ok(tool, sessionId="far", **arguments)
        return [name for name, _ in groupby(_name(path, body) for _, path, body in self._end.requests[before:])]


def _name(path: str, body: Any) -> str:
    """Name a request: questions to the page engine, the DevTools command, or the end of the path."""
    if not path.endswith("/cdp/execute"):
        return path.rpartition("/")[2]
    if body["cmd"] != "Runtime.callFunctionOn":
        return str(body["cmd"])
    question, given = (argument["value"] for argument in body["params"]["arguments"])
    return "+".join([*(one for one, _ in json.loads(given).get("first", ())), question])


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Far]:
    """A session that is parked when its server ends."""
    with remote_end() as end, Site() as site:
        yield Far(Home(tmp_path_factory.mktemp("far")), site, end)


def test_calls_on_a_remote_session_send_only_the_expected_webdriver_commands(far: Far) -> None:
    """Reading a field and marking the page share a request with the next command; restoring needs five more."""
    with far.home.serve(park_ttl="60") as server:
        far.start(server)
        asked = far.asked(server, "execute_sequence", actions=SIGN_IN)
        assert asked == [
            *("mark+ready", "Input.insertText", "verify+ready", "typed", "verify+ready", "actions"),
            *("verify+ready", "actions", "pressed+state", "wait", *REST),
        ]
        settled, *tabs = REST
        assert far.asked(server, "click_element", selector="button") == [
            *("mark+ready", "actions", f"pressed+{settled}", *tabs)
        ]
        asked = far.asked(server, "click_element", selector="button", observe="none")
        assert asked == ["ready", "actions", "pressed+state"]
        asked = far.asked(server, "set_value", selector="#name", value="bob")
        assert asked == ["ready", "Input.insertText", "verify"]
        assert far.asked(server, "press_keys", keys="Tab") == ["mark+state", "actions", *REST]
        assert far.asked(server, "get_text") == ["text"]
    with far.home.serve() as server:
        found = ["Page.getFrameTree", "Page.createIsolatedWorld"]
        assert far.asked(server, "get_text") == ["timeouts", "window", "Target.getTargets", *found, "text"]
        server.ok("close_sessions", all=True)
