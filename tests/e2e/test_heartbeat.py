"""What a server finds out about sessions of others' machines without any call on them."""

from __future__ import annotations

from tests.e2e.harness import Home, until
from tests.e2e.stage import refused
from tests.remote_end import remote_end
from tests.served import Served


def test_what_died_is_told_without_any_call_on_it(modern: Served, shared_home: Home) -> None:
    """A list has remote ends asked: one that is gone is asked again, then its session is lost, and says why."""
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
