"""execute_parallel: sequences of several sessions at the same time, meeting at barriers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.stage import Stage, opened, refused

SYNC = {"action": "sync", "name": "ready"}


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """A server with two browsers."""
    with opened("auto", "ann", "bob") as stage:
        yield stage


def part(session: str, *actions: dict[str, Any]) -> dict[str, Any]:
    """Return a session's part of a call."""
    return {"sessionId": session, "actions": list(actions)}


def script(text: str) -> dict[str, Any]:
    """Return a step that runs JavaScript."""
    return {"action": "execute_script", "script": text}


def test_parallel_sequences_run_at_the_same_time(stage: Stage) -> None:  # W2 W25
    """Two sequences meet at a page that is answered only when both have requested it."""
    url = stage.site.meeting("/meeting", 2)
    steps = [{"action": "navigate", "url": url}, {"action": "expect", "title": "met"}]
    answer = stage.ok("execute_parallel", sequences=[part("ann", *steps), part("bob", *steps)])
    assert {name: result["completed"] for name, result in answer["results"].items()} == {"ann": 2, "bob": 2}
    assert answer["wallMs"] > 0


def test_two_users_sign_in_with_one_parallel_call(stage: Stage) -> None:  # W3 X37
    """Each user signs in within a browser of their own, and neither has the other's cookies."""
    stage.site.page(
        "/sign-in",
        '<title>Sign in</title><form onsubmit="document.cookie = `user=${u.value}`" action=/home>'
        "<label>User <input id=u></label><label>Password <input type=password></label><button>Go</button></form>",
    )
    stage.site.page("/home", lambda visit: f"<title>Home</title><h1>Hello {visit.cookies.get('user', 'nobody')}</h1>")

    def steps(user: str) -> list[dict[str, Any]]:
        return [
            {"action": "navigate", "url": stage.site.url("/sign-in")},
            {"action": "set_value", "selector": "label=User", "value": user},
            {"action": "set_value", "selector": "label=Password", "value": f"secret-of-{user}"},
            SYNC,
            {"action": "click_element", "selector": "text=Go"},
            {"action": "expect", "selector": "h1", "text": f"Hello {user}"},
        ]

    answer = stage.call("execute_parallel", sequences=[part(user, *steps(user)) for user in ("ann", "bob")])
    assert not answer.failed, answer.text
    for user in ("ann", "bob"):
        result = answer.data["results"][user]
        assert result["completed"] == 6
        assert result["stateChange"]["title"]["to"] == "Home"
        assert any(f"Hello {user}" in line for line in result["stateChange"]["appeared"])
        assert f"{user}:" in answer.text
    assert stage.js("document.cookie", sessionId="ann") == "user=ann"
    assert stage.js("document.cookie", sessionId="bob") == "user=bob"


def test_parallel_sequences_wait_at_a_sync_for_the_last_one(stage: Stage) -> None:
    """No sequence continues before all have reached the barrier."""
    gate = stage.site.gate("/slow")
    there = stage.site.page("/slow", "<title>slow</title>")
    fast = stage.page("fast")
    running = stage.begin(
        "execute_parallel",
        sequences=[
            part("ann", {"action": "navigate", "url": stage.page("x")}, SYNC, {"action": "navigate", "url": fast}),
            part("bob", {"action": "navigate", "url": there}, SYNC),
        ],
    )
    gate.wait_entered()
    path = fast.removeprefix(stage.site.url(""))
    assert stage.site.visits(path) == []
    gate.open()
    assert all(result["completed"] >= 2 for result in running.result(60).data["results"].values())
    assert len(stage.site.visits(path)) == 1


def test_a_sync_can_be_used_more_than_once_under_one_name(stage: Stage) -> None:
    """The first sync of a sequence meets the first of the other, the second the second."""
    steps = [script("return 1"), SYNC, script("return 2"), SYNC]
    answer = stage.ok("execute_parallel", sequences=[part("ann", *steps), part("bob", *steps)])
    assert [result["completed"] for result in answer["results"].values()] == [4, 4]


def test_a_sync_names_the_session_that_ended_before_it(stage: Stage) -> None:
    """A session that failed before the barrier is named at once in the other's timeout error."""
    answer = stage.call(
        "execute_parallel",
        sequences=[
            part("ann", SYNC, script("return 1")),
            part("bob", {"action": "click_element", "selector": "#none", "timeout": 50}, SYNC),
        ],
    )
    refused(answer, "timeout")
    ann, bob = answer.data["results"]["ann"], answer.data["results"]["bob"]
    assert bob["error"]["code"] == "element_not_found"
    assert ann["failed"]["action"] == "sync"
    assert ann["error"]["code"] == "timeout"
    assert "bob ended before it got there" in ann["error"]["message"]
    assert "bob ended before it got there" in answer.text


def test_a_sync_names_the_session_that_is_late_when_the_call_times_out(stage: Stage) -> None:
    """A session that misses the barrier within the call's timeout is named in the other's error."""
    answer = stage.call(
        "execute_parallel",
        sequences=[part("ann", SYNC), part("bob", script("await new Promise(go => setTimeout(go, 600000))"), SYNC)],
        timeout=5_000,
    )
    assert "bob did not get there in time" in answer.data["results"]["ann"]["error"]["message"]
    assert answer.data["results"]["bob"]["error"]["code"] == "timeout"


def test_a_sync_that_only_one_sequence_has_does_not_wait(stage: Stage) -> None:
    """Only sequences that contain the sync wait for it."""
    answer = stage.ok("execute_parallel", sequences=[part("ann", SYNC, script("return 1")), part("bob", script("1"))])
    assert [result["completed"] for result in answer["results"].values()] == [2, 1]


def test_a_failing_parallel_sequence_does_not_stop_the_others(stage: Stage) -> None:
    """The call is no error; each result says how many steps were completed."""
    answer = stage.call(
        "execute_parallel",
        sequences=[
            part("ann", {"action": "click_element", "selector": "#none", "timeout": 50}),
            part("bob", script("return 1"), script("return 2")),
        ],
    )
    assert not answer.failed
    ann, bob = answer.data["results"]["ann"], answer.data["results"]["bob"]
    assert (ann["completed"], ann["failed"]["index"], ann["error"]["code"]) == (0, 0, "element_not_found")
    assert bob["completed"] == 2
    assert "error" not in bob
    assert "'#none'" in answer.text


def test_execute_parallel_is_an_error_when_all_sequences_fail(stage: Stage) -> None:
    """The call has the first session's error code, and its data has every result."""
    step = {"action": "click_element", "selector": "#none", "timeout": 50}
    answer = stage.call("execute_parallel", sequences=[part("ann", step), part("bob", step)])
    refused(answer, "element_not_found")
    assert set(answer.data["results"]) == {"ann", "bob"}


def test_session_ids_run_one_action_list_in_several_sessions(stage: Stage) -> None:  # W2 W56
    """A sequence with sessionIds runs the same steps in each of them."""
    url = stage.page("x", title="Same")
    answer = stage.ok(
        "execute_parallel",
        sequences=[{"sessionIds": ["ann", "bob"], "actions": [{"action": "navigate", "url": url}]}],
        verbose=True,
    )
    assert list(answer["results"]) == ["ann", "bob"]
    for result in answer["results"].values():
        assert result["steps"][0]["result"]["title"] == "Same"


def test_execute_parallel_runs_nothing_when_a_session_is_not_open(stage: Stage) -> None:
    """An unknown session is session_not_found with the open ids, and nothing runs anywhere."""
    stage.ok("navigate", url="about:blank", sessionId="ann")
    answer = stage.call(
        "execute_parallel", sequences=[part("ann", script("document.title = 'ran'")), part("eve", SYNC)]
    )
    assert "No session: eve. Open sessions: ann, bob." in refused(answer, "session_not_found")
    assert stage.js("document.title", sessionId="ann") == ""


@pytest.mark.parametrize(
    ("sequences", "expected"),
    [
        ([], "'sequences'"),
        ([{"sessionId": "ann", "actions": []}], "sequences[0].actions"),
        ([{"actions": [SYNC]}], "ive either sessionId, sessionIds or start"),
        ([{"sessionId": "ann", "sessionIds": ["bob"], "actions": [SYNC]}], "ive either sessionId, sessionIds or start"),
        ([part("ann", SYNC), part("ann", SYNC)], "'ann' has two sequences in one call"),
        ([part("ann", SYNC), part("bob", {"action": "clack"})], "'clack' is not an action"),
        ([{"sessionId": "ann", "steps": [SYNC]}], "nknown argument 'sequences[0].steps'"),
    ],
)
def test_bad_parallel_sequences_are_refused_before_anything_runs(
    stage: Stage, sequences: list[Any], expected: str
) -> None:
    """The whole call is checked before its first step runs."""
    assert expected in refused(stage.call("execute_parallel", sequences=sequences), "invalid_argument")


def test_a_session_is_free_when_its_own_parallel_sequence_is_over(stage: Stage) -> None:  # F12
    """A call on one session is answered while another session's sequence of the same call still runs."""
    gate = stage.site.gate("/long")
    stage.site.page("/long", "x")
    stage.ok("navigate", url=stage.page("x"), sessionId="ann")
    running = stage.begin(
        "execute_parallel", sequences=[part("ann", script("await fetch('/long')")), part("bob", script("return 1"))]
    )
    gate.wait_entered()
    assert stage.js("1", sessionId="bob") == 1
    assert not running.done()
    gate.open()
    assert not running.result(60).failed


def test_long_results_of_parallel_sequences_are_cut(stage: Stage) -> None:
    """Text and data of all sessions together stay within the limit."""
    steps = [script("return 'x'.repeat(15000)")] * 3
    answer = stage.call("execute_parallel", sequences=[part("ann", *steps), part("bob", *steps)], verbose=True)
    assert not answer.failed
    assert len(answer.text) <= 20_000
    assert len(json.dumps(answer.data, ensure_ascii=False)) <= 20_000
    assert {name: result["completed"] for name, result in answer.data["results"].items()} == {"ann": 3, "bob": 3}
    assert answer.data["next"] in answer.text
