"""Ending sessions: one, several or all; by a call or by the client's end; and sessions left alive on purpose."""

from __future__ import annotations

import signal

import pytest

from tests.e2e.harness import Home, answered, kill, remote, runs, succeed
from tests.servers.mcp import Served, processes_below
from tests.servers.site import Site
from tests.waiting import until

pytestmark = pytest.mark.full

FAR = 3_600_000
"""An idle time in ms that no session of a test reaches."""
WAYS = [
    ("auto", "end of input"),
    ("legacy", "end of input"),
    ("auto", "SIGTERM"),
    ("auto", "SIGINT SIGTERM"),
]
"""The protocol era, and the end of input or the signals that end the server: impatient users send several."""


def start(server: Served, *names: str) -> None:
    """Start sessions of these names side by side; the first one is current."""
    calls = [server.begin("start_browser", sessionId=name) for name in names]
    succeed(calls)


def ids(server: Served) -> list[str]:
    """Return the listed ids."""
    return [row["sessionId"] for row in server.ok("list_sessions")["sessions"]]


def test_closing_a_session_ends_its_browser_driver_and_profile_folder(
    server: Served, shared_home: Home, site: Site
) -> None:  # W11 O12 O20 X23
    """Browser, driver and profile folder are gone when the call returns; other sessions live."""
    site.page("/", "<title>t</title><script>open('/other'); open('/third', '', 'popup')</script>")
    start(server, "a", "b")
    server.ok("navigate", url=site.url("/"), sessionId="a")
    folders = {record.id: str(record.processes[0].folder) for record in shared_home.records()}
    assert {str(folder) for folder in shared_home.folders()} == set(folders.values())
    answer = server.call("close_session", sessionId="a")
    assert answer.data == {"closed": ["a"], "detached": [], "failed": []}
    assert "Closed: a." in answer.text
    assert [str(folder) for folder in shared_home.folders()] == [folders["b"]]
    assert processes_below(folders["a"]) == []
    assert processes_below(folders["b"])
    assert server.ok("execute_script", script="return 1", sessionId="b")["value"] == 1


def test_closing_without_an_id_closes_the_current_session(modern: Served) -> None:  # W11 W7
    """close_session follows the rule of every tool: no id means the current session."""
    start(modern, "a", "b")
    modern.ok("set_current_session", sessionId="b")
    assert modern.ok("close_session")["closed"] == ["b"]
    assert ids(modern) == ["a"]


def test_closing_a_session_twice_is_no_error_but_closing_an_unknown_id_is(server: Served) -> None:  # W11 O12 O20
    """An id that was open before answers `closed: []`; one never seen is session_not_found."""
    start(server, "a")
    assert server.ok("close_session", sessionId="a")["closed"] == ["a"]
    again = server.call("close_session", sessionId="a")
    assert again.data == {"closed": [], "detached": [], "failed": []}
    assert "Nothing was open." in again.text
    assert server.call("close_session", sessionId="stranger-no-one-knows").code == "session_not_found"
    gone = server.call("get_text", sessionId="a")
    assert gone.code == "session_not_found"
    assert gone.data["error"]["message"].startswith("No session: a")


def test_only_one_of_two_simultaneous_closes_reports_the_session_as_closed(
    modern: Served, shared_home: Home
) -> None:  # W11 O12
    """Exactly one of two calls closed the session, and both succeed."""
    start(modern, "a")
    answers = [answered(call) for call in [modern.begin("close_session", sessionId="a") for _ in range(2)]]
    assert sorted(answer.data["closed"] for answer in answers) == [[], ["a"]]
    until(shared_home.is_clean, "a clean home")


def test_close_all_sessions_without_any_session_is_no_error(server: Served) -> None:  # W12 W30
    """Closing all without any session is no error."""
    assert server.ok("close_all_sessions") == {"closed": [], "detached": [], "failed": []}


def test_close_sessions_by_prefix_closes_only_the_ids_that_begin_with_it(server: Served) -> None:  # X24
    """Sessions whose id begins with the prefix are closed; the others are untouched."""
    start(server, "shop-1", "ann", "shop-2")
    assert set(server.ok("close_sessions", prefix="shop-")["closed"]) == {"shop-1", "shop-2"}
    assert ids(server) == ["ann"]
    assert server.ok("close_sessions", prefix="nothing")["closed"] == []
    assert server.ok("close_sessions", prefix="anna")["closed"] == []


def test_close_sessions_by_idle_ms_closes_only_sessions_idle_that_long(modern: Served) -> None:  # X26
    """A session is idle once `idleMs` milliseconds have passed since its last call."""
    start(modern, "a")
    assert modern.ok("close_sessions", idleMs=FAR)["closed"] == []
    until(lambda: modern.ok("close_sessions", idleMs=200)["closed"] == ["a"], "200 ms without a call")
    assert ids(modern) == []


def test_close_sessions_closes_only_sessions_that_match_every_selector(modern: Served) -> None:  # X27 X24
    """With several selectors a session is closed only when each of them holds."""
    start(modern, "a-1", "b-1")
    assert modern.ok("close_sessions", prefix="a-", idleMs=FAR)["closed"] == []
    assert modern.ok("close_sessions", all=True, idleMs=FAR)["closed"] == []
    assert modern.ok("close_sessions", all=True, prefix="a-")["closed"] == ["a-1"]
    assert modern.ok("close_sessions", prefix="b-", idleMs=0)["closed"] == ["b-1"]


def test_close_sessions_without_a_selector_closes_nothing(server: Served) -> None:  # X28
    """Neither a call without a selector nor `all: false` alone closes anything; the three selectors are named."""
    start(server, "a")
    for arguments in ({}, {"all": False}, {"detach": True}, {"prefix": ""}):
        answer = server.call("close_sessions", **arguments)
        assert answer.code == "invalid_argument"
        assert all(name in answer.text for name in ("prefix", "idleMs", "all"))
    assert server.call("close_sessions", idleMs=-1).code == "invalid_argument"
    assert ids(server) == ["a"]


def test_a_session_with_a_call_in_flight_is_not_idle(server: Served, site: Site) -> None:  # X26 B36
    """A session with a call in flight is not closed as idle, however long ago the call began."""
    site.page("/", "<title>t</title>")
    gate = site.gate("/held")
    start(server, "a", "b")
    server.ok("navigate", url=site.url("/"), sessionId="a")
    running = server.begin("execute_script", script="await fetch('/held'); return 'fine'", sessionId="a")
    gate.wait_entered()
    assert server.ok("close_sessions", idleMs=0)["closed"] == ["b"]
    assert not running.done()
    gate.open()
    assert answered(running).data["value"] == "fine"
    assert server.ok("close_sessions", idleMs=0)["closed"] == ["a"]


def test_close_sessions_answers_the_running_calls_at_once(modern: Served, site: Site) -> None:  # W12 X25
    """close_sessions by all also closes busy sessions: the running calls are answered at once."""
    site.page("/", "<title>t</title>")
    gate = site.gate("/held")
    start(modern, "a", "b")
    calls = []
    for name in ("a", "b"):
        modern.ok("navigate", url=site.url("/"), sessionId=name)
        calls.append(modern.begin("execute_script", script="await fetch('/held')", sessionId=name))
    gate.wait_entered()
    assert modern.ok("close_sessions", all=True)["closed"] == ["a", "b"]
    assert [answered(call).code for call in calls] == ["session_lost"] * 2
    gate.open()


def test_detaching_leaves_the_remote_session_alive(home: Home, era: str, site: Site) -> None:  # W38 X23
    """The printed remote session answers after detach, after EOF and beside a sweep; it is no longer listed."""
    url = site.page("/", "<title>Kept</title>")
    with home.serve(era) as server:
        row = server.ok("start_browser", sessionId="a", navigationUrl=url)
        kept = f"{row['remoteUrl']}/session/{row['remoteSessionId']}"
        answer = server.call("close_session", sessionId="a", detach=True)
        assert (answer.data["closed"], answer.data["detached"]) == ([], ["a"])
        for told in (answer.text, str(answer.data)):
            assert f"remoteUrl {row['remoteUrl']}, remoteSessionId {row['remoteSessionId']}" in told
        assert remote("GET", f"{kept}/title") == "Kept"
        assert server.ok("list_sessions") == {"sessions": [], "currentSession": None}
        assert server.call("get_text", sessionId="a").code == "session_not_found"
        server.ok("start_browser", sessionId="a")
    assert remote("GET", f"{kept}/title") == "Kept"
    with home.serve(era) as server:
        server.ok("start_browser")
        assert remote("GET", f"{kept}/title") == "Kept"
    (driver,) = home.drivers()
    remote("DELETE", kept)
    driver.kill()
    until(lambda: not home.processes(), "the end of the detached browser")
    with home.serve(era):
        until(home.is_clean, "the sweep of the detached session's folder")


def test_close_all_sessions_and_close_sessions_can_detach(home: Home) -> None:  # W12 W38
    """Both tools detach as well, and print a remote session for each session."""
    with home.serve() as server:
        start(server, "a", "b", "c")
        rows = {row["sessionId"]: row for row in server.ok("list_sessions")["sessions"]}
        first = server.ok("close_sessions", prefix="a", detach=True)
        second = server.ok("close_all_sessions", detach=True)
        assert (first["detached"], second["detached"]) == (["a"], ["b", "c"])
        for row in rows.values():
            assert row["remoteSessionId"] in str([first, second])
    for row in rows.values():
        kept = f"{row['remoteUrl']}/session/{row['remoteSessionId']}"
        assert remote("GET", f"{kept}/url")
        remote("DELETE", kept)
    for driver in home.drivers():
        driver.kill()
    until(lambda: not home.processes(), "the end of the detached browsers")
    with home.serve():
        until(home.is_clean, "the sweep of the detached sessions' folders")


@pytest.mark.parametrize(("era", "how"), WAYS)
def test_all_sessions_end_when_the_client_disconnects_or_a_signal_comes(
    home: Home, site: Site, era: str, how: str
) -> None:  # O12 F36 X40
    """At EOF and at a signal the caller's sessions end in any state: idle, working, starting or lost."""
    site.page("/", "<title>t</title>")
    gates = [site.gate("/held"), site.gate("/slow")]
    with home.serve(era) as server:
        start(server, "idle", "busy", "lost")
        server.ok("navigate", url=site.url("/"), sessionId="busy")
        server.begin("execute_script", script="await fetch('/held')", sessionId="busy")
        server.begin("get_text", sessionId="busy")
        server.begin("start_browser", sessionId="starting", navigationUrl=site.url("/slow"))
        for gate in gates:
            gate.wait_entered()
        kill(home.process("lost", "chromedriver"))
        if how != "end of input":
            for name in how.split():
                server.process.send_signal(signal.Signals[name])
            until(lambda: not runs(server.process), "the end of the server")
            until(home.is_clean, "a clean home")
    assert not runs(server.process)
    until(home.is_clean, "a clean home")
    assert home.records() == []
