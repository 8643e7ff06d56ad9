"""execute_sequence with tools for sessions as steps: start, choose, list and close sessions within a sequence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator import Orchestrator
from orchestrator.settings import Settings
from tests.e2e.harness import Home, answered
from tests.e2e.stage import Stage, opened, refused
from tests.servers.site import Site
from tests.waiting import until

pytestmark = pytest.mark.full

GO = "<button onclick='document.title = `Gone`'>Go</button>"
CLICK = {"action": "click_element", "selector": "text=Go"}
TITLE = {"action": "execute_script", "script": "return document.title"}


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """A server whose current session is `browser`."""
    with opened() as stage:
        yield stage


@pytest.fixture(autouse=True)
def one_session(stage: Stage) -> Iterator[None]:
    """Leave only `browser` open, as the current session."""
    stage.ok("set_current_session", sessionId="browser")
    yield
    for row in stage.ok("list_sessions")["sessions"]:
        if row["sessionId"] != "browser":
            stage.ok("close_session", sessionId=row["sessionId"])


def start(name: str, **more: Any) -> dict[str, Any]:
    """Return a step that starts a browser."""
    return {"action": "start_browser", "sessionId": name, **more}


def open_sessions(stage: Stage) -> list[str]:
    """Return the ids of the open sessions."""
    return [row["sessionId"] for row in stage.ok("list_sessions")["sessions"]]


def run(stage: Stage, *actions: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Run a sequence that must succeed; return its data."""
    return stage.ok("execute_sequence", actions=list(actions), **more)


def test_a_sequence_starts_a_session_acts_in_it_and_closes_it(stage: Stage) -> None:  # W56
    """One call starts a browser, clicks there, and closes it; the change is told, and the session is gone."""
    url = stage.page(GO)
    done = run(stage, start("alice", navigationUrl=url), CLICK, {"action": "close_session", "sessionId": "alice"})
    assert done["completed"] == 3
    assert done["stateChange"]["title"] == {"from": "Page", "to": "Gone"}
    assert done["stable"] is True
    assert open_sessions(stage) == ["browser"]


def test_steps_go_to_the_session_that_the_sequence_started_last(stage: Stage) -> None:
    """A start within a sequence wins over the caller's current session, which stays as it was."""
    stage.show("<p>untouched", title="Mine")
    answer = stage.call("execute_sequence", actions=[start("alice"), {"action": "navigate", "url": stage.page(GO)}])
    assert answer.data["session"] == {"sessionId": "alice", "sessionType": "browser"}
    assert "Session: alice" in answer.text
    assert stage.js("document.title") == "Mine"
    assert stage.js("document.title", sessionId="alice") == "Page"


def test_steps_of_a_sequence_without_a_start_go_to_the_current_session(stage: Stage) -> None:
    """With list_sessions before it, a step acts where a call without sessionId would."""
    stage.show(GO)
    done = run(stage, {"action": "list_sessions"}, CLICK)
    assert done["session"]["sessionId"] == "browser"
    assert stage.js("document.title") == "Gone"


def test_a_step_that_sets_the_current_session_decides_where_the_next_ones_go(stage: Stage) -> None:  # W37
    """After set_current_session, steps go there even if the sequence has started another session."""
    stage.show(GO)
    done = run(stage, start("alice"), {"action": "set_current_session", "sessionId": "browser"}, CLICK)
    assert done["session"]["sessionId"] == "browser"
    assert stage.js("document.title") == "Gone"


def test_steps_may_name_their_sessions_and_each_sessions_change_is_told(stage: Stage) -> None:  # W3
    """Beside tools for sessions, steps name sessions; text and data tell what changed in each, in order."""
    url = stage.page(GO)
    answer = stage.call(
        "execute_sequence",
        actions=[
            start("alice", navigationUrl=url),
            start("bob", navigationUrl=url),
            {**CLICK, "sessionId": "alice"},
            {**TITLE, "sessionId": "bob"},
        ],
    )
    assert not answer.failed, answer.text
    told = [(change["sessionId"], change["index"], change.get("stateChange")) for change in answer.data["changes"]]
    assert [(name, index) for name, index, _ in told] == [("alice", 2), ("bob", 3)]
    assert told[0][2]["title"]["to"] == "Gone"
    assert told[1][2] is None
    assert answer.data["stateChange"] is None
    assert "In alice, from step 2 on:\n  Title: 'Gone'" in answer.text
    assert "In bob, from step 3 on:" in answer.text


def test_a_sequence_for_a_named_session_starts_and_closes_it_under_that_name(stage: Stage) -> None:
    """start_browser and close_session without sessionId are for the session that the sequence names."""
    done = run(
        stage,
        {"action": "start_browser"},
        {"action": "navigate", "url": stage.page(GO)},
        {"action": "close_session"},
        sessionId="carol",
    )
    assert [step["result"].get("sessionId") for step in done["steps"]] == ["carol", None]
    assert done["steps"][1]["result"]["closed"] == ["carol"]
    assert open_sessions(stage) == ["browser"]


def test_a_sequence_closes_the_session_in_whose_lane_it_ran_while_others_wait(stage: Stage) -> None:  # F12
    """The last step closes the sequence's own session although another call waits in its lane."""
    run(stage, start("alice", navigationUrl=stage.page(GO)))
    gate, there = stage.site.gate("/slow"), stage.site.page("/slow", GO)
    steps = [{"action": "navigate", "url": there}, {"action": "list_sessions"}, {"action": "close_session"}]
    running = stage.begin("execute_sequence", sessionId="alice", actions=steps)
    gate.wait_entered()
    waiting = stage.begin("wait_for", sessionId="alice", text="never", timeout=60_000)
    gate.open()
    assert answered(running).data["steps"][-1]["result"]["closed"] == ["alice"]
    assert answered(waiting).code in {"session_lost", "session_not_found"}


def test_a_tool_for_sessions_tells_its_result_without_verbose(stage: Stage) -> None:
    """Text and data have what a step that lists or starts sessions has to say; other steps need verbose."""
    stage.show(GO)
    answer = stage.call("execute_sequence", actions=[CLICK, {"action": "list_sessions"}])
    [listed] = answer.data["steps"]
    assert (listed["index"], listed["action"]) == (1, "list_sessions")
    assert listed["result"]["currentSession"] == "browser"
    assert "1. list_sessions" in answer.text
    assert "Current session: browser." in answer.text


def test_a_wrong_step_after_a_start_runs_nothing(stage: Stage) -> None:
    """The whole list is checked before its first start: parameters of actions and of tools for sessions."""
    for wrong, said in (
        ({"action": "click_element"}, "Argument 'selector' is missing"),
        ({"action": "close_session", "colour": "red"}, "Unknown argument 'colour'"),
        ({"action": "start_browsr"}, "Did you mean 'start_browser'?"),
    ):
        answer = stage.call("execute_sequence", actions=[start("alice"), wrong])
        text = refused(answer, "invalid_argument")
        assert "Step 1: " in text
        assert said in text
        assert "Nothing was run." in text
    assert open_sessions(stage) == ["browser"]


@pytest.mark.parametrize("tool", ["execute_sequence", "execute_parallel"])
def test_tools_that_run_steps_cannot_be_steps(stage: Stage, tool: str) -> None:
    """A sequence within a sequence is refused with what to do instead."""
    answer = stage.call("execute_sequence", actions=[{"action": tool, "actions": [CLICK]}])
    text = refused(answer, "invalid_argument")
    assert f"Step 0: {tool} cannot be a step" in text
    assert "Put its actions into this list" in text


def test_a_sequence_stops_at_a_step_whose_session_is_not_open(stage: Stage) -> None:
    """The failed step is named by its index in the whole list; what was started stays open."""
    answer = stage.call("execute_sequence", actions=[start("alice"), TITLE, {**CLICK, "sessionId": "nobody"}, TITLE])
    refused(answer, "session_not_found")
    assert answer.data["completed"] == 2
    assert (answer.data["failed"]["index"], answer.data["failed"]["action"]) == (2, "click_element")
    assert "alice" in open_sessions(stage)


def test_a_sequence_stops_at_a_start_that_is_refused(stage: Stage) -> None:  # W49
    """A name in use stops the sequence, with the start's own error; with optional it goes on and warns."""
    answer = stage.call("execute_sequence", actions=[start("browser"), TITLE])
    refused(answer, "session_exists")
    assert answer.data["failed"]["index"] == 0
    done = run(stage, {**start("browser"), "optional": True}, TITLE)
    assert done["completed"] == 1
    assert "Optional step 0 (start_browser) failed: Session 'browser' already exists" in done["warnings"][0]


def test_the_timeout_of_a_sequence_bounds_a_start_in_it(stage: Stage) -> None:
    """A start whose page does not answer is undone when the sequence's time is up."""
    gate, there = stage.site.gate("/never"), stage.site.page("/never", GO)
    answer = stage.call("execute_sequence", actions=[start("alice", navigationUrl=there), CLICK], timeout=4_000)
    assert "The sequence took longer than 4000 ms." in refused(answer, "timeout")
    assert answer.data["failed"]["index"] == 0
    gate.open()
    until(lambda: open_sessions(stage) == ["browser"], "the end of the start")


async def test_a_python_sequence_starts_and_closes_sessions(home: Home, site: Site) -> None:
    """`execute_sequence` of the library takes tools for sessions as steps, too."""
    async with Orchestrator(Settings(home=home.folder, namespace="steps")) as orchestrator:
        done = await orchestrator.execute_sequence(
            [
                {"action": "start_browser", "session_id": "alice", "navigation_url": site.page("/", GO)},
                {"action": "get_text"},
                {"action": "close_session"},
            ]
        )
        assert done.completed == 3
        assert done.steps is not None
        assert done.steps[-1].result["closed"] == ["alice"]
    assert home.records() == []


def test_a_denied_tool_for_sessions_is_no_step_either() -> None:
    """The setting `deny_tools` refuses it in a sequence before anything runs, and says which step."""
    with opened("auto", "one", deny_tools="close_session") as stage:
        answer = stage.call("execute_sequence", actions=[{"action": "list_sessions"}, {"action": "close_session"}])
        assert "Step 1: close_session is denied" in refused(answer, "denied")
