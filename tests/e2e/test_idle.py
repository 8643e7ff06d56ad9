"""Sessions that nobody uses end by themselves."""

from __future__ import annotations

import time

from tests.served import Served, processes_below, served


def gone(server: Served, name: str) -> bool:
    """Whether the session is not listed any more, looked at until a hang guard."""
    until = time.monotonic() + 60
    while any(row["sessionId"] == name for row in server.ok("list_sessions")["sessions"]):
        if time.monotonic() > until:
            return False
    return True


def test_an_idle_session_ends_and_says_why() -> None:  # W34 W48
    """A session with an idle limit of its own ends after it with its browser, and the next call hears the reason."""
    with served() as server:
        server.ok("start_browser", sessionId="short", options={"idleTimeout": "1s"})
        server.ok("start_browser", sessionId="long")
        assert gone(server, "short")
        answer = server.call("get_text", sessionId="short")
        assert answer.code == "session_not_found"
        assert "It is closed: nobody used it for 1 s. Start it again." in answer.text
        assert server.ok("get_text", sessionId="long")["text"] == ""


def test_the_limit_is_a_setting() -> None:  # W34
    """The setting idle_timeout applies to every session that has no limit of its own."""
    with served(idle_timeout="1s") as server:
        folder = server.ok("start_browser", sessionId="any")["remoteUrl"]
        assert gone(server, "any")
        assert not processes_below(folder)


def test_work_in_flight_is_not_idle() -> None:  # W47
    """A call that takes longer than the idle time is answered, and its session is still there afterwards."""
    with served(idle_timeout="1s") as server:
        server.ok("start_browser", sessionId="busy")
        slow = "await new Promise(done => setTimeout(done, 2500)); return 'done'"
        assert server.ok("execute_script", sessionId="busy", script=slow)["value"] == "done"
