"""Checks of remote sessions without any call on them."""

from __future__ import annotations

import pytest

from tests.e2e.harness import Home
from tests.e2e.stage import refused
from tests.servers.mcp import Served
from tests.servers.webdriver import remote_end
from tests.waiting import until

pytestmark = pytest.mark.full


def test_list_sessions_finds_lost_sessions_without_a_call_on_them(modern: Served, shared_home: Home) -> None:
    """Listing makes the server ask remote ends; a session that is gone there becomes lost, with the reason."""
    with remote_end() as end:
        modern.ok("attach_session", remoteUrl=end.url, remoteSessionId=end.start(), sessionId="far")
        modern.ok("attach_session", remoteUrl=end.url, remoteSessionId=(ended := end.start()), sessionId="over")
        used = shared_home.record("far").last_active_at
        end.ask("DELETE", ended, "")
        modern.ok("list_sessions")
        until(lambda: shared_home.record("over").state == "lost", "a session that its remote end does not know")
        assert shared_home.record("far").state == "active"
        end.kill()
        until(lambda: modern.ok("list_sessions")["sessions"][0]["state"] == "lost", "a session that is lost")
        assert shared_home.record("far").last_active_at == used
        gone = f"is lost: the remote end is gone: {end.url} closed the connection without an answer (asked 3 times). "
        assert gone in refused(modern.call("get_text", sessionId="far"), "session_lost")
        assert "invalid session id" in refused(modern.call("get_text", sessionId="over"), "session_lost")
