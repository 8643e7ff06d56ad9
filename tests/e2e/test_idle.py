"""Sessions end by themselves: unused for too long, open for too long, or lost."""

from __future__ import annotations

import time

from tests.e2e.harness import Home, kill, until
from tests.e2e.stage import refused
from tests.served import Served, processes_below, served


def gone(server: Served, name: str) -> bool:
    """Whether the session is not listed any more, looked at until a hang guard."""
    until = time.monotonic() + 60
    while any(row["sessionId"] == name for row in server.ok("list_sessions")["sessions"]):
        if time.monotonic() > until:
            return False
    return True


def test_an_idle_session_ends_and_says_why() -> None:  # W34 W48 F37 O5
    """A session with an idle limit of its own ends after it with its browser, and the next call hears the reason."""
    with served() as server:
        server.ok("start_browser", sessionId="short", options={"idleTimeout": "1s"})
        server.ok("start_browser", sessionId="long")
        assert gone(server, "short")
        answer = server.call("get_text", sessionId="short")
        assert answer.code == "session_not_found"
        assert "It is closed: nobody used it for 1 s. Start it again." in answer.text
        assert server.ok("get_text", sessionId="long")["text"] == ""


def test_the_limit_is_a_setting() -> None:  # W34 B36
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


def test_a_session_that_is_too_old_ends_and_says_why(modern: Served) -> None:  # O10 O11
    """One with an age limit of its own ends after it, however busy it is; the next call hears the reason."""
    row = modern.ok("start_browser", sessionId="old", options={"maxDuration": "2s"})

    def refusal() -> str:
        answer = modern.call("execute_script", sessionId="old", script="return 1")
        assert answer.data.get("value", 1) == 1
        return refused(answer, "session_not_found") if answer.failed else ""

    told = until(refusal, "the end of a session that is used all the time")
    assert "It is closed: it was open for 2 s, which is as long as it may be. Start it again." in told
    until(lambda: not processes_below(row["remoteUrl"]), "the end of its browser")


def test_what_is_left_of_a_lost_session_goes_at_once(modern: Served, shared_home: Home) -> None:  # O12 O20
    """A browser whose driver was killed ends with its profile, unasked; the session stays listed with the reason."""
    modern.ok("start_browser", sessionId="lost")
    kill(shared_home.process("lost", "chromedriver"))
    until(lambda: modern.ok("list_sessions")["sessions"][0]["state"] == "lost", "a session that is lost")
    until(shared_home.is_clean, "the end of what was left of it")
    assert "its process chromedriver" in refused(modern.call("get_text", sessionId="lost"), "session_lost")
    assert modern.ok("close_session", sessionId="lost")["closed"] == ["lost"]
