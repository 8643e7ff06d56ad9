"""Claims: for a while, only calls under a claim's name may change a session that several agents use."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.errors import SessionClaimed, SessionNotFound
from orchestrator.settings import Settings
from orchestrator.sync import Orchestrator
from tests.e2e.harness import NAMESPACE, Home, answered
from tests.e2e.stage import refused
from tests.servers.mcp import Served
from tests.servers.site import Site
from tests.waiting import until

pytestmark = pytest.mark.full

NAME = re.compile(r"page~[a-z0-9]{5}")


@pytest.fixture
def connection(home: Home, site: Site) -> Iterator[Served]:
    """One connection with a session that several agents behind it use."""
    with home.serve() as server:
        server.ok(
            "start_browser", sessionId="page", navigationUrl=site.page("/", "<title>a</title><button>Go</button>")
        )
        yield server


def claimed(server: Served, **more: object) -> str:
    """Claim the session; return the claim's name."""
    return str(server.ok("claim_session", sessionId="page", **more)["sessionId"])


@pytest.mark.required
def test_while_it_is_claimed_a_session_is_changed_under_the_claims_name_alone(connection: Served) -> None:
    """Under its own name a claimed session refuses what changes it, says by whom, and can be looked at."""
    name = claimed(connection)
    assert NAME.fullmatch(name)
    for tool, arguments in (
        ("click_element", {"selector": "button"}),
        ("execute_sequence", {"actions": [{"action": "press_keys", "keys": "Tab"}]}),
        ("execute_script", {"script": "return 1"}),
    ):
        for target in ({"sessionId": "page"}, {}):
            text = refused(connection.call(tool, **arguments, **target), "session_claimed")
            assert re.search(r"Session 'page' is claimed by mcp until \d\d:\d\d:\d\d UTC\.", text)
            assert name not in text
        connection.ok(tool, **arguments, sessionId=name)
    assert connection.ok("get_text", sessionId="page")["text"] == "Go"
    assert connection.ok("wait_for", selector="button")["session"]["sessionId"] == "page"
    part = {"actions": [{"action": "press_keys", "keys": "Tab"}]}
    assert (
        connection.ok("execute_parallel", sequences=[{"sessionId": name, **part}])["results"]["page"]["completed"] == 1
    )


def test_a_claims_name_is_in_no_row_no_others_result_and_no_log(connection: Served, home: Home) -> None:  # W33
    """The name is told to its claimer alone."""
    name = claimed(connection)
    shown = connection.ok("click_element", sessionId=name, selector="button")
    rows = connection.call("list_sessions")
    looked = connection.call("get_text", sessionId="page")
    logs = [path.read_text("utf-8") for path in Path(home.folder).rglob("*.jsonl")]
    assert any("claim_session" in log for log in logs)
    mark = name.partition("~")[2]
    assert not [text for text in (str(shown), rows.text, rows.data_json, looked.data_json, *logs) if mark in text]


def test_a_released_claim_is_over_and_its_name_is_told_to_be(connection: Served) -> None:
    """After its release the session is free, and the claim's name is refused with what to use."""
    name = claimed(connection)
    assert connection.ok("release_session", sessionId=name)["released"] == ["page"]
    connection.ok("press_keys", sessionId="page", keys="Tab")
    text = refused(connection.call("press_keys", sessionId=name, keys="Tab"), "session_not_found")
    assert "This claim is over: use 'page', or claim it again with claim_session." in text
    assert connection.call("release_session", sessionId="page").text == "It was not claimed."


def test_a_second_claim_waits_for_the_first_as_long_as_it_is_told(connection: Served) -> None:
    """A claimed session cannot be claimed again at once; with `wait` the claim comes when the other one is released."""
    name = claimed(connection)
    assert refused(connection.call("claim_session", sessionId="page"), "session_claimed")
    assert refused(connection.call("claim_session", sessionId="page", wait=200), "session_claimed")
    waiting = connection.begin("claim_session", sessionId="page", wait=60_000)
    connection.ok("list_sessions")
    assert not waiting.done()
    connection.ok("release_session", sessionId=name)
    second = answered(waiting).data["sessionId"]
    assert NAME.fullmatch(second)
    assert second != name


def test_a_claim_ends_when_it_was_not_used_for_its_time_and_is_renewed_by_use(connection: Served) -> None:
    """Each use begins the time anew; without use the session is free after it."""
    first = connection.ok("claim_session", sessionId="page", ttl=60)
    connection.ok("press_keys", sessionId=first["sessionId"], keys="Tab")
    renewed = connection.ok("claim_session", sessionId=first["sessionId"], ttl=60)
    assert renewed["sessionId"] == first["sessionId"]
    assert renewed["until"] > first["until"]
    assert connection.call("press_keys", sessionId="page", keys="Tab").code == "session_claimed"
    connection.ok("claim_session", sessionId=first["sessionId"], ttl=1)
    until(lambda: not connection.call("press_keys", sessionId="page", keys="Tab").failed, "the end of the claim")
    assert connection.call("press_keys", sessionId=first["sessionId"], keys="Tab").code == "session_not_found"


def test_closing_all_leaves_what_is_claimed(connection: Served) -> None:  # W12
    """A claimed session is left and named; under the claim's name it can be closed."""
    name = claimed(connection)
    connection.ok("start_browser", sessionId="other")
    closed = connection.ok("close_all_sessions")
    assert closed["closed"] == ["other"]
    [left] = closed["left"]
    assert left["sessionId"] == "page"
    assert "is claimed by mcp until" in left["reason"]
    assert connection.ok("close_session", sessionId=name)["closed"] == ["page"]


def test_a_start_can_claim_at_once(connection: Served) -> None:
    """A session that is claimed by its start gives the claim's name with its row."""
    row = connection.call("start_browser", sessionId="mine", claim=True)
    name = row.data["claim"]["sessionId"]
    assert (row.data["sessionId"], row.text.splitlines()[1]) == ("mine", f"Claimed: pass sessionId {name}.")
    assert connection.call("press_keys", sessionId="mine", keys="Tab").code == "session_claimed"
    connection.ok("press_keys", sessionId=name, keys="Tab")


def test_a_claim_ends_with_its_claimers_connection_and_can_be_forced_by_the_starter(
    connection: Served, home: Home
) -> None:  # W31
    """Another's claim is forced by who started the session, and both are told; a claim does not outlive its client."""
    with home.serve() as other:
        other.ok("get_text", sessionId="page")
        name = claimed(other)
        forced = other.call("release_session", sessionId="page", force=True)
        assert refused(forced, "session_claimed")
        assert connection.ok("release_session", sessionId="page", force=True)["released"] == ["page"]
        assert connection.ok("get_text", sessionId="page")["events"] == ["mcp released the claim here meanwhile."]
        assert other.ok("get_text", sessionId="page")["events"] == ["mcp released the claim here meanwhile."]
        assert other.call("press_keys", sessionId=name, keys="Tab").code == "session_not_found"
        claimed(other)
        assert connection.call("press_keys", sessionId="page", keys="Tab").code == "session_claimed"
        assert other.call("close_session", sessionId="page").code == "session_claimed"
    connection.ok("press_keys", sessionId="page", keys="Tab")


@pytest.mark.parametrize("given", ["page~", "page~abc", "page~ABCDE", "page~abcde~abcde", "~abcde"])
def test_what_looks_like_a_claims_name_and_is_none_is_no_session_id(connection: Served, given: str) -> None:
    """Only claim_session makes names with a tilde: nothing starts under one, and none is guessed."""
    assert connection.call("press_keys", sessionId=given, keys="Tab").code == "invalid_argument"
    assert connection.call("start_browser", sessionId="page~abcde").code == "invalid_argument"
    assert connection.call("press_keys", sessionId="page~abcde", keys="Tab").code == "session_not_found"


def test_a_claim_does_not_end_while_a_call_under_its_name_runs(connection: Served, site: Site) -> None:
    """A call that is longer than the claim's time keeps it, whoever else wants the session; then the time begins."""
    site.page("/held", "held")
    gate = site.gate("/held")
    name = claimed(connection, ttl=1)
    running = connection.begin("execute_script", sessionId=name, script="return (await fetch('/held')).status")
    gate.wait_entered()
    began = time.time()
    until(lambda: time.time() > began + 1.1, "the time of the claim")
    assert "is claimed by mcp until" in refused(connection.call("claim_session", sessionId="page"), "session_claimed")
    refused(connection.call("press_keys", sessionId="page", keys="Tab"), "session_claimed")
    gate.open()
    assert answered(running).data["value"] == 200
    until(lambda: not connection.call("claim_session", sessionId="page").failed, "the end of the claim")


def test_who_started_a_claimed_session_closes_it_and_the_claimer_is_told(connection: Served, home: Home) -> None:
    """A third caller may not; the claimer's next call says who closed it and when, and so does anyone else's."""
    with home.serve() as claimer, home.serve() as third:
        name = claimed(claimer)
        refused(third.call("close_session", sessionId="page"), "session_claimed")
        assert third.ok("close_sessions", all=True)["left"][0]["sessionId"] == "page"
        assert connection.ok("close_session", sessionId="page")["closed"] == ["page"]
        for caller, target in ((claimer, name), (third, "page")):
            text = refused(caller.call("press_keys", sessionId=target, keys="Tab"), "session_not_found")
            told = r"It is closed: mcp closed it at \d\d:\d\d:\d\d UTC, while mcp had claimed it\. Start it again\."
            assert re.search(told, text), text


def test_a_claimer_closes_a_session_that_it_did_not_start(connection: Served, home: Home) -> None:
    """Under the claim's name it is closed by the claimer, and nothing is told of a claim."""
    with home.serve() as claimer:
        name = claimed(claimer)
        refused(claimer.call("close_session", sessionId="page"), "session_claimed")
        assert claimer.ok("close_session", sessionId=name)["closed"] == ["page"]
        text = refused(connection.call("press_keys", sessionId="page", keys="Tab"), "session_not_found")
        assert "claimed" not in text
        assert claimer.ok("close_session", sessionId=name)["closed"] == []


def test_a_script_uses_and_closes_what_it_claimed_and_what_others_did(connection: Served, home: Home) -> None:
    """A handle under a claim's name acts, runs steps and refreshes; a person may close what another has claimed."""
    with Orchestrator(Settings(home=home.folder, namespace=NAMESPACE)) as orchestrator:
        plain = orchestrator.session("page")
        mine = orchestrator.session(orchestrator.claim_session("page").session_id)
        assert NAME.fullmatch(mine.id)
        mine.press_keys("Tab")
        assert mine.execute_sequence([{"action": "press_keys", "keys": "Tab"}]).completed == 1
        assert mine.refresh().session_id == mine.id
        assert plain.get_text("button").text == "Go"
        with pytest.raises(SessionClaimed):
            plain.press_keys("Tab")
        orchestrator.release_session(mine.id)
        with pytest.raises(SessionNotFound, match="This claim is over"):
            mine.press_keys("Tab")
        name = claimed(connection)
        assert plain.close().closed == ["page"]
        assert "python closed it at" in refused(
            connection.call("press_keys", sessionId=name, keys="Tab"), "session_not_found"
        )


def test_the_steps_after_a_start_that_claims_go_under_the_claims_name(connection: Served) -> None:
    """A sequence that starts and claims a session acts in it and closes it, without the name of the claim."""
    start = {"action": "start_browser", "sessionId": "mine", "claim": True}
    steps = [start, {"action": "press_keys", "keys": "Tab"}, {"action": "close_session"}]
    assert connection.ok("execute_sequence", actions=steps)["completed"] == len(steps)
    assert [row["sessionId"] for row in connection.ok("list_sessions")["sessions"]] == ["page"]


CLAIM = {"action": "claim_session", "sessionId": "page"}
TAB = {"action": "press_keys", "keys": "Tab"}


@pytest.mark.parametrize("named", ["by the step", "by the sequence", "as the current one"])
def test_a_sequence_that_claims_a_session_acts_in_it_and_releases_it(
    connection: Served, home: Home, named: str
) -> None:
    """The steps after the claim use the session under it by the plain id; after the release they need no claim."""
    of_step, of_sequence = {
        "by the step": ({"sessionId": "page"}, {}),
        "by the sequence": ({}, {"sessionId": "page"}),
        "as the current one": ({}, {}),
    }[named]
    with home.serve() as other:
        other.ok("set_current_session", sessionId="page")
        steps = [
            CLAIM,
            {**TAB, **of_step},
            CLAIM,
            {"action": "release_session", "sessionId": "page"},
            {**TAB, **of_step},
        ]
        done = other.ok("execute_sequence", actions=steps, **of_sequence)
        assert done["completed"] == len(steps)
        first, second = (step["result"]["sessionId"] for step in done["steps"] if step["action"] == "claim_session")
        assert NAME.fullmatch(first)
        assert first == second
        text = refused(other.call("press_keys", sessionId=first, keys="Tab"), "session_not_found")
        assert "This claim is over" in text
    connection.ok("press_keys", sessionId="page", keys="Tab")


@pytest.mark.parametrize("close", [{"sessionId": "page"}, {"sessionId": "page:default"}, {}])
def test_a_sequence_closes_the_session_of_others_that_it_claimed(
    connection: Served, home: Home, close: dict[str, str]
) -> None:
    """It is closed under the claim, so nothing is told of one; the id is free for the steps after it."""
    with home.serve() as other:
        other.ok("set_current_session", sessionId="page")
        again = {"action": "start_browser", "sessionId": "page"}
        steps = [CLAIM, TAB, {"action": "close_session", **close}, again, {**TAB, "sessionId": "page"}]
        assert other.ok("execute_sequence", actions=steps)["completed"] == len(steps)
        assert other.ok("close_session", sessionId="page")["closed"] == ["page"]
    assert "claimed" not in refused(connection.call("press_keys", sessionId="page", keys="Tab"), "session_not_found")


def test_a_sequence_that_fails_leaves_its_claim_and_says_under_which_name(connection: Served) -> None:
    """The text and the data of the failure have the claim's name, under which alone the session can be changed."""
    missing = {"action": "click_element", "selector": "#missing", "timeout": 1}
    answer = connection.call("execute_sequence", sessionId="page", actions=[CLAIM, TAB, missing, TAB])
    assert answer.failed
    name = answer.data["steps"][0]["result"]["sessionId"]
    assert f"Claimed: pass sessionId {name}." in answer.text
    refused(connection.call("press_keys", sessionId="page", keys="Tab"), "session_claimed")
    connection.ok("press_keys", sessionId=name, keys="Tab")
    assert connection.ok("release_session", sessionId=name)["released"] == ["page"]


def test_a_sequence_takes_the_page_and_the_login_of_what_it_claimed(connection: Served) -> None:
    """A fork and a login of the session are read under the claim; the current session is set by the plain id."""
    steps = [
        CLAIM,
        {"action": "fork_session", "sessionId": "page", "as": "twin"},
        {"action": "start_browser", "sessionId": "third", "loginFrom": "page"},
        {"action": "set_current_session", "sessionId": "page"},
        TAB,
    ]
    assert connection.ok("execute_sequence", actions=steps)["completed"] == len(steps)
    assert connection.call("press_keys", keys="Tab").code == "session_claimed"


def test_a_sequence_uses_what_it_started_and_claimed_by_its_id(connection: Served) -> None:
    """Steps that name the session go under the claim, as those without a name do."""
    start = {"action": "start_browser", "sessionId": "mine", "claim": True}
    steps = [start, {**TAB, "sessionId": "mine"}, {"action": "release_session", "sessionId": "mine"}, TAB]
    assert connection.ok("execute_sequence", actions=steps)["completed"] == len(steps)
    connection.ok("press_keys", sessionId="mine", keys="Tab")
