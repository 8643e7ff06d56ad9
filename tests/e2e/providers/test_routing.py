"""Routing of calls: to the session of the given id, else to the caller's current one; errors when there is none."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.session_tools.catalogue import SESSION_TOOLS
from tests.e2e.harness import Home, answered, succeed
from tests.servers.mcp import Served
from tests.servers.site import Reply, Site, Visit
from tests.waiting import until

CALLS: dict[str, dict[str, Any]] = {
    "navigate": {"url": "about:blank"},
    "click_element": {"selector": "body"},
    "set_value": {"selector": "body", "value": "x"},
    "press_keys": {"keys": "Enter"},
    "scroll": {"direction": "down"},
    "execute_script": {"script": "return 1"},
    "run_script": {"script": "return 1"},
    "wait_for": {"selector": "body"},
    "expect": {"selector": "body"},
    "take_screenshot": {},
    "print_page": {},
    "audit_page": {},
    "passkeys": {"action": "list"},
    "get_visible_elements": {},
    "get_text": {},
    "handle_dialog": {"accept": True},
    "set_policy": {"dialogs": "raise"},
    "execute_sequence": {"actions": [{"action": "get_text"}]},
    "close_session": {},
    "get_page_source": {},
    "get_console": {},
    "get_network": {},
    "hover": {"selector": "body"},
    "tap_element": {"selector": "body"},
    "drag_and_drop": {"source": "body", "x": 1, "y": 1},
    "select_option": {"selector": "select", "values": ["a"]},
    "upload_files": {"selector": "input", "paths": ["nowhere"]},
    "tabs": {"action": "list"},
    "switch_frame": {},
    "set_viewport": {"width": 800, "height": 600},
    "emulate": {"locale": "de-DE"},
    "cookies": {"action": "get"},
    "save_storage_state": {},
    "route": {"action": "clear"},
    "har": {"action": "flush"},
    "swipe": {"direction": "up"},
    "pinch": {"scale": 2},
    "switch_context": {},
    "manage_app": {"action": "list"},
    "manage_device": {"action": "rotate"},
}
"""Every tool that works in a session, with minimal arguments."""


def title(server: Served, **to: str) -> str:
    """Return the title of a session's page."""
    return str(server.ok("execute_script", script="return document.title", **to)["value"])


def start(server: Served, *names: str) -> None:
    """Start sessions of these names, each on a page with its name as title."""
    calls = [server.begin("start_browser", sessionId=name, navigationUrl=_titled(name)) for name in names]
    succeed(calls)


def _titled(name: str) -> str:
    return f"data:text/html,<title>{name}</title>"


def current(server: Served) -> Any:
    """Return the id of the caller's current session."""
    return server.ok("list_sessions")["currentSession"]


def test_every_session_tool_takes_an_optional_session_id(home: Home) -> None:  # W6 W52 X1 W29 W35
    """An optional sessionId is a parameter of every tool that works in a session, and described as such."""
    with home.serve(tools="all") as server:
        tools = {tool.name: tool.input_schema for tool in server.tools()}
    choosing = {"start_browser", "start_app_session", "start_session", "attach_session", "set_current_session"}
    choosing |= {tool.verb for tool in SESSION_TOOLS if tool.toolset == "agents"}
    without = {
        "list_sessions",
        "list_devices",
        "upload_app",
        "list_apps",
        "close_sessions",
        "close_all_sessions",
        "execute_parallel",
        "compare_sessions",
        "describe_actions",
    }
    assert set(tools) == set(CALLS) | choosing | without
    for name in CALLS:
        assert tools[name]["properties"]["sessionId"]["type"] == "string", name
        assert "sessionId" not in tools[name].get("required", ()), name
    for name in set(CALLS) - {"close_session"}:
        told = tools[name]["properties"]["sessionId"]["description"]
        assert told == "Target session. If omitted, the current session.", name


def test_an_unknown_session_id_is_never_guessed(modern: Served, subtests: pytest.Subtests) -> None:  # W28
    """An id that is not open is session_not_found for every tool, including navigate, and nothing is started."""
    for tool, arguments in CALLS.items():
        with subtests.test(tool):
            answer = modern.call(tool, sessionId="nobody", **arguments)
            assert (answer.failed, answer.code) == (True, "session_not_found")
            assert answer.text.startswith("session_not_found: No session: nobody. No session is open.")
            assert answer.data["error"]["message"].startswith("No session: nobody")
            assert answer.data["error"]["sessionId"] == "nobody"
            assert modern.ok("list_sessions")["sessions"] == []


def test_a_call_without_any_open_session_answers_no_session(modern: Served, subtests: pytest.Subtests) -> None:  # B32
    """With no session at all every tool but navigate answers no_session, and starts nothing."""
    for tool in [name for name in CALLS if name != "navigate"]:
        with subtests.test(tool):
            answer = modern.call(tool, **CALLS[tool])
            assert (answer.failed, answer.code) == (True, "no_session")
            assert answer.data["error"]["message"].startswith("No session: none active")
            assert modern.ok("list_sessions")["sessions"] == []


def test_a_misspelled_session_id_is_answered_with_the_open_ids_and_the_nearest(
    server: Served,
) -> None:  # W28
    """A misspelled id is answered with the open ids and the nearest one; nothing changes."""
    start(server, "alice", "bob")
    answer = server.call("navigate", url="about:blank", sessionId="alicf")
    assert answer.code == "session_not_found"
    assert answer.text.startswith("session_not_found: No session: alicf. Open sessions: alice, bob.")
    assert "Did you mean 'alice'?" in answer.text
    assert "alice" in answer.data["error"]["hint"]
    assert [title(server, sessionId=name) for name in ("alice", "bob")] == ["alice", "bob"]
    two = [{"sessionId": name, "actions": [{"action": "execute_script", "script": "document.title = 'ran'"}]}
           for name in ("alice", "nobody")]  # fmt: skip
    assert server.call("execute_parallel", sequences=two).code == "session_not_found"
    assert title(server, sessionId="alice") == "alice"


def test_calls_go_to_the_session_that_their_id_names(server: Served) -> None:  # W6 W52 X1 X9 X10 W10 W24
    """Calls on several sessions, in turn and at once, each go to their own; the current session stays the same."""
    names = ["one", "two", "three"]
    start(server, *names)
    script = "document.title += '+' + args[0]"
    calls = [
        server.begin("execute_script", script=script, args=[number], sessionId=name)
        for number in range(3)
        for name in names
    ]
    succeed(calls)
    assert [title(server, sessionId=name) for name in names] == [f"{name}+0+1+2" for name in names]
    assert current(server) == "one"


def test_a_named_session_becomes_current_only_when_there_is_none(modern: Served) -> None:  # W7 W19 W37 W54
    """A named session becomes current only when there is none; one without a name always does."""
    start(modern, "first", "second")
    assert current(modern) == "first"
    modern.ok("start_browser")
    assert current(modern) == "browser-1"
    assert title(modern) not in {"first", "second"}
    start(modern, "third")
    assert current(modern) == "browser-1"


def test_set_current_session_moves_calls_without_id(server: Served) -> None:  # W19 W37
    """Calls without sessionId go to the chosen session, and an unknown choice changes nothing."""
    start(server, "a", "b")
    assert title(server) == "a"
    server.ok("set_current_session", sessionId="b")
    assert title(server) == "b"
    answer = server.call("set_current_session", sessionId="c")
    assert answer.code == "session_not_found"
    assert (current(server), title(server)) == ("b", "b")


def test_the_only_session_left_becomes_current(modern: Served) -> None:  # W7 W19 W53
    """The current session closes: with several left none becomes current, with one left that one does."""
    start(modern, "a", "b", "c")
    modern.ok("close_session")
    assert current(modern) is None
    answer = modern.call("get_text")
    assert answer.code == "no_session"
    assert answer.data["error"]["message"].startswith("No session: none active. Open sessions: b, c.")
    assert modern.call("navigate", url="about:blank").code == "no_session"
    modern.ok("set_current_session", sessionId="b")
    modern.ok("close_session", sessionId="b")
    assert (current(modern), title(modern)) == ("c", "c")


def test_a_failed_start_leaves_the_current_session_unchanged(modern: Served) -> None:  # W19 W37
    """A failed start never becomes current: the previous session still is."""
    start(modern, "a")
    assert modern.call("start_browser", navigationUrl="http://127.0.0.1:9/").code == "start_failed"
    assert (current(modern), title(modern)) == ("a", "a")


def test_results_name_the_session_only_when_the_call_did_not(server: Served) -> None:  # W32 W51
    """Only a call without sessionId gets its session named, in text and data."""
    start(server, "a")
    for tool in ("get_text", "execute_sequence"):
        chosen = server.call(tool, **CALLS[tool])
        assert chosen.data["session"] == {"sessionId": "a", "sessionType": "browser"}
        assert "Session: a (browser)." in chosen.text
        given = server.call(tool, **CALLS[tool], sessionId="a")
        assert "session" not in given.data
        assert "Session: a" not in given.text


def test_navigate_starts_a_browser_when_there_is_none(server: Served, site: Site) -> None:  # W54 B32 O6 X12
    """A caller without ids: the first navigate starts browser-1, names it, and shows the page."""
    site.page("/", "<title>Lazily</title>")
    answer = server.call("navigate", url=site.url("/"))
    assert answer.data["title"] == "Lazily"
    assert answer.data["session"]["sessionId"] == "browser-1"
    assert answer.data["warnings"] == ["No session was open: browser-1 was started (chrome)."]
    assert answer.data["warnings"][0] in answer.text
    again = server.ok("navigate", url=site.url("/"))
    assert "warnings" not in again
    assert len(server.ok("list_sessions")["sessions"]) == 1


def test_a_client_without_session_ids_works_in_one_unnamed_session(
    server: Served, site: Site
) -> None:  # X2 X13 O1 O6 O7 O27 W53 X12
    """A session without a name serves call after call; once it is closed the next navigate starts another."""
    url = site.page("/", "<title>Form</title><label>Name<input></label><button onclick='self.sent = 1'>Go</button>")
    first = server.ok("navigate", url=url)["session"]["sessionId"]
    steps = [{"action": "set_value", "selector": "label=Name", "value": "Ann"}, {"action": "press_keys", "keys": "Tab"}]
    said = [
        server.ok("execute_sequence", actions=steps),
        server.ok("click_element", selector="text=Go"),
        server.ok("expect", selector="label=Name", value="Ann"),
        server.ok("tabs", action="new"),
        server.ok("get_text"),
    ]
    assert {one["session"]["sessionId"] for one in said} == {first}
    assert server.ok("close_session")["closed"] == [first]
    assert server.call("get_text").code == "no_session"
    again = server.call("navigate", url=url)
    assert "was started" in again.data["warnings"][0]
    assert server.ok("expect", selector="label=Name", value="")["session"] == again.data["session"]


def test_two_first_navigates_at_once_start_one_browser(modern: Served, site: Site) -> None:  # X12
    """Two calls find no session: one starts it, and both run in it."""
    site.page("/", "<title>Both</title>")
    answers = [answered(call) for call in [modern.begin("navigate", url=site.url("/")) for _ in range(2)]]
    assert [answer.data["session"]["sessionId"] for answer in answers] == ["browser-1"] * 2
    assert len(modern.ok("list_sessions")["sessions"]) == 1
    assert len(site.visits("/")) == 2


def test_navigate_starts_nothing_when_lazy_start_is_off(home: Home) -> None:  # X12
    """With lazy_start off navigate answers no_session as every other tool does."""
    with home.serve(lazy_start="false") as server:
        assert server.call("navigate", url="about:blank").code == "no_session"
        assert home.remembered() == []
        until(home.is_clean, "a clean home")


def test_the_default_context_of_a_session_is_the_session_itself(modern: Served) -> None:  # F2
    """x:default is x, however it is spelled: one session, one record, one lane, one name."""
    assert modern.ok("start_browser", sessionId="x:default")["sessionId"] == "x"
    assert modern.call("start_browser", sessionId="x").code == "session_exists"
    assert modern.call("start_browser", sessionId="x:default").code == "session_exists"
    modern.ok("execute_script", script="document.title = 'same'", sessionId="x")
    assert title(modern, sessionId="x:default") == "same"
    both = [{"sessionId": name, "actions": [{"action": "get_text"}]} for name in ("x", "x:default")]
    assert "two sequences" in modern.call("execute_parallel", sequences=both).text
    assert modern.ok("set_current_session", sessionId="x:default") == {"currentSession": "x"}
    assert modern.ok("close_session", sessionId="x:default")["closed"] == ["x"]


def test_sessions_of_another_namespace_are_invisible(home: Home) -> None:  # O14 O26
    """A session of another namespace is neither found by name, nor listed, nor closed; its name is free here."""
    with home.serve(namespace="ours") as ours, home.serve(namespace="theirs") as theirs:
        start(ours, "secret")
        assert theirs.ok("list_sessions")["sessions"] == []
        for tool in ("get_text", "close_session", "set_current_session"):
            answer = theirs.call(tool, sessionId="secret")
            assert answer.code == "session_not_found"
            assert "No session is open" in answer.text
        assert theirs.ok("close_sessions", all=True)["closed"] == []
        start(theirs, "secret")
        theirs.ok("execute_script", script="document.title = 'theirs'", sessionId="secret")
        assert title(ours, sessionId="secret") == "secret"


def test_a_ref_of_another_session_is_refused(modern: Served, site: Site) -> None:  # W50 X5 F11
    """Selectors work in any session; a ref that the session never gave is stale_ref, and nothing is clicked."""
    site.page("/", "<title>t</title><button onclick=\"document.title = 'clicked'\">Go</button>")
    for name in ("a", "b"):
        modern.ok("start_browser", sessionId=name, navigationUrl=site.url("/"))
    shown = modern.ok("get_visible_elements", sessionId="a", format="json")
    ref = next(element["ref"] for element in shown["elements"] if element["name"] == "Go")
    answer = modern.call("click_element", selector=ref, sessionId="b")
    assert answer.code == "stale_ref"
    assert ref in answer.text
    assert title(modern, sessionId="b") == "t"
    modern.ok("click_element", selector="button", sessionId="b")
    modern.ok("click_element", selector=ref, sessionId="a")
    assert [title(modern, sessionId=name) for name in ("a", "b")] == ["clicked", "clicked"]


def test_sessions_share_no_cookies_or_storage(modern: Served, site: Site) -> None:  # X11 F11 X37 O3 X3 X4
    """Two users are signed in at one site at once: neither has the other's cookies and storage."""

    def welcome(visit: Visit) -> Reply:
        user = visit.query.get("user")
        return Reply(
            f"<title>{visit.cookies.get('user')}</title>", headers={"Set-Cookie": f"user={user}"} if user else {}
        )

    site.page("/", welcome)
    for name in ("ann", "bob"):
        modern.ok("start_browser", sessionId=name, navigationUrl=site.url(f"/?user={name}"))
        modern.ok("execute_script", script="localStorage.me = sessionStorage.me = args[0]", args=[name], sessionId=name)
    for name in ("ann", "bob"):
        modern.ok("navigate", url=site.url("/"), sessionId=name)
        assert title(modern, sessionId=name) == name
        read = "return [localStorage.me, sessionStorage.me]"
        assert modern.ok("execute_script", script=read, sessionId=name)["value"] == [name, name]
