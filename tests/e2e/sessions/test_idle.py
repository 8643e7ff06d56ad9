"""Sessions that end automatically: idle for too long, open for too long, or lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.e2e.harness import Home, kill
from tests.e2e.stage import refused
from tests.servers.mcp import Served
from tests.waiting import until

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def hasty(new_home: Callable[[], Home]) -> Iterator[tuple[Served, Home]]:
    """A server whose sessions may be idle for two seconds."""
    home = new_home()
    with home.serve(idle_timeout="2s") as server:
        yield server, home


def wait_gone(server: Served, name: str) -> None:
    """Wait until the session is no longer listed."""

    def listed() -> list[str]:
        return [row["sessionId"] for row in server.ok("list_sessions")["sessions"]]

    until(lambda: name not in listed(), f"the end of {name}")


def test_an_idle_session_ends_and_says_why(modern: Served) -> None:  # O5 F33 O9 W47
    """A session with an idle limit of its own ends after it with its browser, and the next call reports the reason."""
    modern.ok("start_browser", sessionId="short", options={"idleTimeout": "1s"})
    modern.ok("start_browser", sessionId="long")
    wait_gone(modern, "short")
    answer = modern.call("get_text", sessionId="short")
    assert answer.code == "session_not_found"
    assert "It is closed: nobody used it for 1 s. Start it again." in answer.text
    assert modern.ok("get_text", sessionId="long")["text"] == ""


def test_idle_timeout_applies_to_sessions_without_a_limit_of_their_own(hasty: tuple[Served, Home]) -> None:  # O28 W48
    """The setting idle_timeout applies to every session that has no limit of its own."""
    server, home = hasty
    server.ok("start_browser", sessionId="any")
    wait_gone(server, "any")
    until(home.is_clean, "the end of its browser")


def test_a_session_with_a_call_in_flight_is_not_idle(hasty: tuple[Served, Home]) -> None:  # B36 X26
    """A call longer than the idle time is answered, and its session is still open afterwards."""
    server, _ = hasty
    server.ok("start_browser", sessionId="busy")
    slow = "await new Promise(done => setTimeout(done, 3500)); return 'done'"
    assert server.ok("execute_script", sessionId="busy", script=slow)["value"] == "done"


def test_a_session_past_its_max_duration_ends_and_says_why(modern: Served, shared_home: Home) -> None:  # O10 B35 O23
    """A session with an age limit ends after it, however busy it is; the next call has the reason."""
    modern.ok("start_browser", sessionId="old", options={"maxDuration": "2s"})

    def refusal() -> str:
        answer = modern.call("execute_script", sessionId="old", script="return 1")
        assert answer.data.get("value", 1) == 1
        return refused(answer, "session_not_found") if answer.failed else ""

    told = until(refusal, "the end of a session that is used all the time")
    assert "It is closed: it reached its maximum duration of 2 s. Start it again." in told
    until(shared_home.is_clean, "the end of its browser")


def test_the_browser_and_profile_of_a_lost_session_are_removed_at_once(
    modern: Served, shared_home: Home
) -> None:  # O12 O20 W34
    """A browser whose driver was killed ends with its profile, unasked; the session stays listed with the reason."""
    modern.ok("start_browser", sessionId="lost")
    kill(shared_home.process("lost", "chromedriver"))
    until(lambda: modern.ok("list_sessions")["sessions"][0]["state"] == "lost", "a session that is lost")
    until(shared_home.is_clean, "the end of what was left of it")
    assert "its process chromedriver" in refused(modern.call("get_text", sessionId="lost"), "session_lost")
    assert modern.ok("close_session", sessionId="lost")["closed"] == ["lost"]
