"""Ending: one session, several, all; by the client, by its going away; and what is left alive on purpose."""

from __future__ import annotations

import signal

import pytest

from tests.e2e.harness import Home, answered, kill, remote, runs, succeed, until
from tests.served import Served, processes_below
from tests.site import Site

FAR = 3_600_000
"""Milliseconds that no session of a test is idle for."""
WAYS = [
    ("auto", "end of input"),
    ("legacy", "end of input"),
    ("auto", "SIGTERM"),
    ("auto", "SIGINT SIGTERM"),
]
"""How a client, or whoever started the server, makes it go: several signals stand for impatience."""


def start(server: Served, *names: str) -> None:
    """Start sessions of these names side by side; the first one is current."""
    calls = [server.begin("start_browser", sessionId=name) for name in names]
    succeed(calls)


def ids(server: Served) -> list[str]:
    """The ids that are listed."""
    return [row["sessionId"] for row in server.ok("list_sessions")["sessions"]]


def test_closing_one_session_ends_all_of_it(server: Served, shared_home: Home, site: Site) -> None:  # W11 O12 O20 X23
    """Its browser with every tab, its driver and its profile folder are gone when the answer is there; others live."""
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


def test_closing_twice_is_no_error_and_a_stranger_is(server: Served) -> None:  # W11 W30 O12 O20
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


def test_two_who_close_one_session_at_once(modern: Served, shared_home: Home) -> None:  # W11 O12
    """Exactly one of them closed it, and both are answered well."""
    start(modern, "a")
    answers = [answered(call) for call in [modern.begin("close_session", sessionId="a") for _ in range(2)]]
    assert sorted(answer.data["closed"] for answer in answers) == [[], ["a"]]
    assert shared_home.is_clean()


def test_close_all_sessions_without_any(server: Served) -> None:  # W12
    """Closing all of nothing is no error."""
    assert server.ok("close_all_sessions") == {"closed": [], "detached": [], "failed": []}


def test_closing_by_prefix(server: Served) -> None:  # X24 X25
    """Those whose id begins so are closed, in order of creation; the others are untouched."""
    start(server, "shop-1", "ann", "shop-2")
    assert set(server.ok("close_sessions", prefix="shop-")["closed"]) == {"shop-1", "shop-2"}
    assert ids(server) == ["ann"]
    assert server.ok("close_sessions", prefix="nothing")["closed"] == []
    assert server.ok("close_sessions", prefix="anna")["closed"] == []


def test_closing_what_is_idle(modern: Served) -> None:  # X24 X26
    """A session is idle once so many milliseconds have passed since its last call."""
    start(modern, "a")
    assert modern.ok("close_sessions", idleMs=FAR)["closed"] == []
    until(lambda: modern.ok("close_sessions", idleMs=200)["closed"] == ["a"], "200 ms without a call")
    assert ids(modern) == []


def test_selectors_of_closing_are_joined(modern: Served) -> None:  # X27
    """With several selectors a session is closed only when each of them holds."""
    start(modern, "a-1", "b-1")
    assert modern.ok("close_sessions", prefix="a-", idleMs=FAR)["closed"] == []
    assert modern.ok("close_sessions", all=True, idleMs=FAR)["closed"] == []
    assert modern.ok("close_sessions", all=True, prefix="a-")["closed"] == ["a-1"]
    assert modern.ok("close_sessions", prefix="b-", idleMs=0)["closed"] == ["b-1"]


def test_closing_several_needs_a_selector(server: Served) -> None:  # X27 X24
    """Without any selector, and with `all: false` alone, nothing is closed and the three are named."""
    start(server, "a")
    for arguments in ({}, {"all": False}, {"detach": True}):
        answer = server.call("close_sessions", **arguments)
        assert answer.code == "invalid_argument"
        assert all(name in answer.text for name in ("prefix", "idleMs", "all"))
    assert server.call("close_sessions", idleMs=-1).code == "invalid_argument"
    assert ids(server) == ["a"]


def test_a_session_at_work_is_not_idle(server: Served, site: Site) -> None:  # X26 X28 W47
    """What is asked at the moment of closing is whether a call is in flight: however long ago it began."""
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


def test_closing_several_stops_their_calls(modern: Served, site: Site) -> None:  # W12 X25
    """close_sessions by all ends what is at work, too: the running calls are answered at once."""
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


def test_detaching_leaves_the_session_alive(home: Home, era: str, site: Site) -> None:  # W38 X23
    """The printed address really answers: after detach, after EOF, beside a sweep; here it is no session any more."""
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


def test_detaching_all(home: Home) -> None:  # W12 W38
    """close_all_sessions and close_sessions detach as well, and print an address for each session."""
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
def test_nothing_is_left_when_the_client_goes(home: Home, site: Site, era: str, how: str) -> None:  # O12 F36 X40
    """At EOF and at a signal the caller's sessions end, whatever they are doing: idle, at work, starting, lost."""
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
