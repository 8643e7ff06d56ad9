"""execute_parallel: a sequence a session at the same time, meeting at barriers."""

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
    """One session's part of a call."""
    return {"sessionId": session, "actions": list(actions)}


def script(text: str) -> dict[str, Any]:
    """A step that runs JavaScript."""
    return {"action": "execute_script", "script": text}


def test_sequences_run_at_the_same_time(stage: Stage) -> None:  # W2 W20 W25
    """Each waits for a page that is answered only when both are asked for it."""
    url = stage.site.meeting("/meeting", 2)
    steps = [{"action": "navigate", "url": url}, {"action": "expect", "title": "met"}]
    answer = stage.ok("execute_parallel", sequences=[part("ann", *steps), part("bob", *steps)])
    assert {name: result["completed"] for name, result in answer["results"].items()} == {"ann": 2, "bob": 2}
    assert answer["wallMs"] > 0


def test_two_users_sign_in_with_one_call(stage: Stage) -> None:  # W3 W21 W42 W43 X37
    """Each with a name of their own, in a browser of their own; the cookies of one are not the other's."""
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


def test_at_a_barrier_all_wait_for_the_last(stage: Stage) -> None:
    """Nobody goes on before everybody is there."""
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


def test_a_barrier_can_be_met_more_than_once(stage: Stage) -> None:
    """The first of one is the first of the other."""
    steps = [script("return 1"), SYNC, script("return 2"), SYNC]
    answer = stage.ok("execute_parallel", sequences=[part("ann", *steps), part("bob", *steps)])
    assert [result["completed"] for result in answer["results"].values()] == [4, 4]


def test_who_never_comes_is_named(stage: Stage) -> None:
    """One that failed before the barrier is missing: the other is told at once, and by name."""
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


def test_who_does_not_come_in_time_is_named(stage: Stage) -> None:
    """When the time of the call is up."""
    answer = stage.call(
        "execute_parallel",
        sequences=[part("ann", SYNC), part("bob", script("await new Promise(go => setTimeout(go, 60000))"), SYNC)],
        timeout=700,
    )
    assert "bob did not get there in time" in answer.data["results"]["ann"]["error"]["message"]
    assert answer.data["results"]["bob"]["error"]["code"] == "timeout"


def test_a_barrier_of_one_is_no_barrier(stage: Stage) -> None:
    """Only sequences that have it wait for it."""
    answer = stage.ok("execute_parallel", sequences=[part("ann", SYNC, script("return 1")), part("bob", script("1"))])
    assert [result["completed"] for result in answer["results"].values()] == [2, 1]


def test_one_that_fails_does_not_stop_the_others(stage: Stage) -> None:
    """The call is no error; the result of each says how far it came."""
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


def test_it_is_an_error_when_all_failed(stage: Stage) -> None:
    """With the first one's code, and every result in the data."""
    step = {"action": "click_element", "selector": "#none", "timeout": 50}
    answer = stage.call("execute_parallel", sequences=[part("ann", step), part("bob", step)])
    refused(answer, "element_not_found")
    assert set(answer.data["results"]) == {"ann", "bob"}


def test_one_list_for_several_sessions(stage: Stage) -> None:  # W2
    """`sessionIds`: the same steps on each."""
    url = stage.page("x", title="Same")
    answer = stage.ok(
        "execute_parallel",
        sequences=[{"sessionIds": ["ann", "bob"], "actions": [{"action": "navigate", "url": url}]}],
        verbose=True,
    )
    assert list(answer["results"]) == ["ann", "bob"]
    for result in answer["results"].values():
        assert result["steps"][0]["result"]["title"] == "Same"


def test_a_session_that_is_not_open_stops_the_call_before_it_begins(stage: Stage) -> None:
    """`session_not_found`, with the open ids; nothing runs anywhere."""
    stage.ok("navigate", url="about:blank", sessionId="ann")
    answer = stage.call(
        "execute_parallel", sequences=[part("ann", script("document.title = 'ran'")), part("eve", SYNC)]
    )
    assert "No session: eve. Open sessions: ann, bob." in refused(answer, "session_not_found")
    assert stage.js("document.title", sessionId="ann") == ""


@pytest.mark.parametrize(
    ("sequences", "said"),
    [
        ([], "'sequences'"),
        ([{"sessionId": "ann", "actions": []}], "sequences[0].actions"),
        ([{"actions": [SYNC]}], "ive either sessionId or sessionIds"),
        ([{"sessionId": "ann", "sessionIds": ["bob"], "actions": [SYNC]}], "ive either sessionId or sessionIds"),
        ([part("ann", SYNC), part("ann", SYNC)], "'ann' has two sequences in one call"),
        ([part("ann", SYNC), part("bob", {"action": "clack"})], "'clack' is not an action"),
        ([{"sessionId": "ann", "steps": [SYNC]}], "nknown argument 'sequences[0].steps'"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_runs(stage: Stage, sequences: list[Any], said: str) -> None:
    """The whole call is checked first."""
    assert said in refused(stage.call("execute_parallel", sequences=sequences), "invalid_argument")


def test_calls_on_one_session_wait_for_its_part_only(stage: Stage) -> None:  # F12 W26
    """While ann's part goes on, bob's session is free."""
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


def test_long_results_are_cut(stage: Stage) -> None:
    """Text and data of all sessions together stay within the limit."""
    steps = [script("return 'x'.repeat(15000)")] * 3
    answer = stage.call("execute_parallel", sequences=[part("ann", *steps), part("bob", *steps)], verbose=True)
    assert not answer.failed
    assert len(answer.text) <= 20_000
    assert len(json.dumps(answer.data, ensure_ascii=False)) <= 20_000
    assert {name: result["completed"] for name, result in answer.data["results"].items()} == {"ann": 3, "bob": 3}
    assert answer.data["next"] in answer.text
