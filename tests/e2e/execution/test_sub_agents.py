"""Sub-agents that share one connection: none takes, moves or closes another's page, and each is told what concerns it.

With a host's identity each agent is a caller of its own; without one the connection is.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.e2e.harness import NAMESPACE, Home, answered
from tests.e2e.stage import refused
from tests.servers.mcp import Served, served
from tests.servers.site import Site

pytestmark = pytest.mark.full

NAMES = ("ann", "ben", "cem")


@pytest.fixture
def connection(home: Home) -> Iterator[Served]:
    """One connection of a host that tells nothing about itself."""
    with home.serve() as server:
        yield server


@pytest.fixture
def agents(connection: Served) -> dict[str, Served]:
    """Three agents on the connection, as Codex names them: ann started ben and cem."""
    return {name: connection.as_agent(**codex(name, None if name == "ann" else "ann")) for name in NAMES}


def codex(name: str, parent: str | None = None) -> dict[str, object]:
    """Return the `_meta` of a call of an agent of Codex."""
    thread = f"thread-{name}"
    started_by = {"parent_thread_id": f"thread-{parent}"} if parent else {}
    turn = {"thread_id": thread, "agent_path": f"/root/{name}", **started_by}
    return {"threadId": thread, "x-codex-turn-metadata": turn}


def titled(site: Site, title: str) -> str:
    """Return the URL of a page of this title."""
    return site.page(f"/{title}", f"<title>{title}</title>")


@contextmanager
def hosted(home: Home, host: str, **settings: str) -> Iterator[Served]:
    """Start a server for a client that calls itself `host`."""
    with served("auto", (), sys.stderr, host, home=str(home.folder), namespace=NAMESPACE, **settings) as server:
        yield server


def where(server: Served, session_id: str) -> str:
    """Return the title of the page that a session shows."""
    return str(server.ok("execute_script", sessionId=session_id, script="return document.title")["value"])


def test_agents_that_their_host_names_have_a_current_session_each(
    agents: dict[str, Served], site: Site
) -> None:  # W23 W31
    """Three agents work without session ids, at once, each in its own session; a row says who started it."""
    for name, agent in agents.items():
        agent.ok("start_browser", sessionId=name)
    pages = {name: titled(site, name) for name in NAMES}
    moves = [agent.begin("navigate", url=pages[name]) for name, agent in agents.items()]
    assert [answered(move).data["session"]["sessionId"] for move in moves] == [*NAMES]
    assert [where(agents["ann"], name) for name in NAMES] == [*NAMES]
    rows = agents["ben"].ok("list_sessions")
    assert rows["currentSession"] == "ben"
    assert [(row["sessionId"], row["owned"], row["startedBy"]) for row in rows["sessions"]] == [
        (name, name == "ben", f"{name}, mcp") for name in NAMES
    ]


@pytest.mark.required
def test_an_agent_closes_its_own_sessions_and_a_parent_those_of_its_sub_agents(
    agents: dict[str, Served],
) -> None:  # W12
    """A sub-agent's close_all_sessions leaves the others' sessions; its parent's includes its own."""
    for name, agent in agents.items():
        agent.ok("start_browser", sessionId=name)
    assert agents["ben"].ok("close_all_sessions")["closed"] == ["ben"]
    again = agents["ben"].call("close_all_sessions")
    [warning] = again.data["warnings"]
    others = "None of the open sessions is yours: ann (started by ann, mcp), cem (started by cem, mcp)."
    assert warning == f'{others} close_sessions {{"all": true}} closes those of others, too.'
    assert again.text == f"Nothing was closed.\nWarning: {warning}"
    assert sorted(agents["ann"].ok("close_all_sessions")["closed"]) == ["ann", "cem"]


def test_a_session_with_anothers_call_in_flight_is_left_and_named(agents: dict[str, Served], site: Site) -> None:
    """Closing all spares the session in which another agent waits; the wait goes on, and ends as it should."""
    ben, cem = agents["ben"], agents["cem"]
    ben.ok("start_browser", sessionId="lent", navigationUrl=titled(site, "a"))
    ben.ok("start_browser", sessionId="own")
    wait = cem.begin("wait_for", sessionId="lent", title="b", timeout=60_000)
    cem.ok("list_sessions")  # answered after the wait has joined the lane
    closed = ben.call("close_all_sessions")
    assert closed.data["closed"] == ["own"]
    assert closed.data["left"] == [{"sessionId": "lent", "reason": "a call of another caller is in flight"}]
    assert "Left open: lent: a call of another caller is in flight" in closed.text
    assert not wait.done()
    wait.cancel()


def test_an_agent_is_told_what_another_did_in_its_session(agents: dict[str, Served], site: Site) -> None:
    """The next result of the one whose page was moved says who did what, once; the mover is told nothing."""
    ann, ben = agents["ann"], agents["ben"]
    ann.ok("start_browser", sessionId="page", navigationUrl=site.page("/old", "<title>a</title><button>Old</button>"))
    [button] = [line for line in ann.ok("get_visible_elements")["outline"].splitlines() if "Old" in line]
    moved = ben.ok("navigate", sessionId="page", url=titled(site, "b"))
    assert "events" not in moved
    ben.ok("press_keys", sessionId="page", keys="Tab")
    ben.ok("get_text", sessionId="page")
    stale = ann.call("click_element", selector=button[button.index("[") + 1 : button.index("]")])
    told = "ben navigated and called press_keys here meanwhile."
    assert refused(stale, "stale_ref")
    assert told in stale.data["events"]
    assert told in stale.text
    assert "events" not in ann.ok("get_text")
    assert ben.ok("get_text", sessionId="page")["events"] == ["ann called click_element here meanwhile."]


def test_an_agent_that_comes_back_has_its_sessions_and_its_current_one(lasting: Home) -> None:  # W31
    """After a restart of the server, an agent's parked sessions are its own again, and only its own."""
    with lasting.serve() as before:
        ann, ben = before.as_agent(**codex("ann")), before.as_agent(**codex("ben"))
        ann.ok("start_browser", sessionId="a1")
        ann.ok("start_browser", sessionId="a2")
        ann.ok("set_current_session", sessionId="a2")
        ben.ok("start_browser", sessionId="b1")
    with lasting.serve() as after:
        ben, ann = after.as_agent(**codex("ben")), after.as_agent(**codex("ann"))
        rows = ben.ok("list_sessions")
        assert rows["currentSession"] == "b1"
        assert [row["sessionId"] for row in rows["sessions"] if row["owned"]] == ["b1"]
        assert ann.ok("get_text")["session"]["sessionId"] == "a2"
        assert sorted(ann.ok("close_all_sessions")["closed"]) == ["a1", "a2"]
        assert ben.ok("get_text")["session"]["sessionId"] == "b1"


def test_the_first_agent_of_a_connection_gets_the_parked_sessions_of_no_agent(lasting: Home) -> None:  # W31
    """What a client without identities left parked is the first agent's, as it was the next server's before."""
    with lasting.serve() as before:
        before.ok("start_browser", sessionId="left")
    with lasting.serve() as after:
        ann, ben = after.as_agent(**codex("ann")), after.as_agent(**codex("ben"))
        assert ann.ok("list_sessions")["currentSession"] == "left"
        assert ben.ok("list_sessions")["currentSession"] is None
        assert ann.ok("get_text")["restored"] is True


def test_an_agent_that_dies_takes_nothing_with_it(agents: dict[str, Served], site: Site) -> None:
    """A call whose agent is gone ends alone: the others' calls and pages go on, its session is still there."""
    for name, agent in agents.items():
        agent.ok("start_browser", sessionId=name, navigationUrl=titled(site, name))
    dying = agents["cem"].begin("wait_for", sessionId="cem", text="never", timeout=60_000)
    going_on = agents["ben"].begin("wait_for", sessionId="ben", title="done", timeout=60_000)
    agents["ann"].ok("list_sessions")
    dying.cancel()
    assert where(agents["ann"], "cem") == "cem"
    assert not going_on.done()
    going_on.cancel()
    assert [where(agents["ann"], name) for name in NAMES] == [*NAMES]


def test_a_forgotten_id_moves_nobodys_page_where_agents_are_hidden(home: Home, site: Site) -> None:  # W23
    """A client that hides its sub-agents: a changing call without an id is refused, a look is not."""
    with hosted(home, "claude-code") as server:
        for name in ("alice", "bob"):
            server.ok("start_browser", sessionId=name, navigationUrl=titled(site, name))
        forgot = server.call("navigate", url=titled(site, "moved"))
        why = "several agents may share this connection"
        assert refused(forgot, "no_session") == (
            f"no_session: No session: none active for a call without sessionId: {why}. "
            "Open sessions: alice, bob. Pass sessionId or call set_current_session."
        )
        steps = [{"action": "press_keys", "keys": "Tab"}]
        assert refused(server.call("execute_sequence", actions=steps), "no_session")
        assert refused(server.call("close_session"), "no_session")
        assert [where(server, name) for name in ("alice", "bob")] == ["alice", "bob"]
        assert server.ok("get_text")["session"]["sessionId"] == "alice"
        server.ok("set_current_session", sessionId="bob")
        assert server.ok("navigate", url=titled(site, "moved"))["session"]["sessionId"] == "bob"
        assert sorted(server.ok("close_all_sessions")["closed"]) == ["alice", "bob"]
        server.ok("start_browser", sessionId="carol")
        assert server.ok("navigate", url=titled(site, "c"))["session"]["sessionId"] == "carol"


def test_calls_that_overlap_on_different_sessions_tell_of_several_agents(connection: Served, site: Site) -> None:  # W23
    """An unknown client is trusted until two of its calls overlap on different sessions."""
    for name in ("alice", "bob"):
        connection.ok("start_browser", sessionId=name, navigationUrl=titled(site, name))
    connection.ok("press_keys", keys="Tab")
    wait = connection.begin("wait_for", sessionId="alice", title="done", timeout=60_000)
    connection.ok("get_text", sessionId="bob")
    wait.cancel()
    assert refused(connection.call("press_keys", keys="Tab"), "no_session")


@pytest.mark.parametrize("host", ["mcp", "claude-code"])
def test_one_agent_works_with_two_sessions_by_name_and_without_ids(
    host: str, home: Home, site: Site
) -> None:  # W19 W54
    """Start alice and bob, set the current one, calls without ids, close all: as ever, whatever the client."""
    with hosted(home, host) as server:
        for name in ("alice", "bob"):
            server.ok("start_browser", sessionId=name)
        server.ok("set_current_session", sessionId="alice")
        server.ok("navigate", url=titled(site, "one"))
        server.ok("set_current_session", sessionId="bob")
        server.ok("navigate", url=titled(site, "two"))
        assert [where(server, name) for name in ("alice", "bob")] == ["one", "two"]
        closed = server.ok("close_all_sessions")
        assert (sorted(closed["closed"]), "left" in closed, "warnings" in closed) == (["alice", "bob"], False, False)


@pytest.mark.parametrize(("mode", "refuses"), [("always", True), ("never", False)])
def test_the_setting_require_session_id_decides_alone(
    home: Home, site: Site, mode: str, *, refuses: bool
) -> None:  # W23
    """`always` refuses every changing call without an id, `never` none."""
    with hosted(home, "claude-code", require_session_id=mode) as server:
        server.ok("start_browser", sessionId="alice")
        if not refuses:
            server.ok("start_browser", sessionId="bob")
        answer = server.call("navigate", url=titled(site, "a"))
        assert answer.failed == refuses
        assert not refuses or "require_session_id is always" in refused(answer, "no_session")
