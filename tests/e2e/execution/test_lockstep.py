"""execute_parallel in lockstep: one list on all sessions, step by step, until a session differs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.stage import Stage, opened, refused

ALL = ["ann", "bob", "eve"]


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """A server with three browsers, on a shop that is broken for one of them."""
    with opened("auto", *ALL) as stage:
        stage.site.page("/shop", lambda visit: shop(broken=visit.cookies.get("broken") == "yes"))
        yield stage


def shop(*, broken: bool) -> str:
    """A page where, if broken, one button leads elsewhere and another one is disabled."""
    pay = "Pay later" if broken else "Pay now"
    return f"""<title>Shop</title><h1>Shop</h1><button id=add onclick="this.after(Object.assign(
        document.createElement('button'), {{id: 'next', textContent: 'Checkout', onclick: checkout}}))">Add</button>
        <button id=help {"disabled" * broken}>Help</button>
        <script>checkout = () => document.body.innerHTML = '<button>{pay}</button>'</script>"""


def run(
    stage: Stage, *clicked: str, broken: str = "", sessions: list[str] = ALL, timeout: int = 30_000
) -> dict[str, Any]:
    """Open the shop in all sessions, broken for one of them, and click there; each click has so many ms."""
    for name in sessions:
        stage.ok("navigate", url=stage.site.url("/shop"), sessionId=name)
        value = "yes" if name == broken else "no"
        stage.ok("cookies", action="set", name="broken", value=value, sessionId=name)
    steps: list[dict[str, Any]] = [{"action": "navigate", "url": stage.site.url("/shop")}]
    steps += [{"action": "click_element", "selector": selector, "timeout": timeout} for selector in clicked]
    return stage.ok("execute_parallel", sequences=[{"sessionIds": sessions, "actions": steps}], lockstep=True)


@pytest.mark.full
def test_lockstep_without_differences_completes_every_session(stage: Stage) -> None:  # W2
    """Every session runs every step, and no divergence is reported."""
    answer = run(stage, "#add", "#next")
    assert {name: result["completed"] for name, result in answer["results"].items()} == dict.fromkeys(ALL, 3)
    assert "divergence" not in answer


def test_lockstep_stops_at_the_first_difference_and_names_the_odd_session(stage: Stage) -> None:  # W2
    """The run stops at the first step after which a session differs from most, even if it is listed first."""
    answer = run(stage, "#add", "#next", "#never", broken="ann")
    assert answer["divergence"] == {
        "index": 2,
        "action": "click_element",
        "base": "bob",
        "odd": ["ann"],
        "differences": [{"sessionId": "ann", "missing": ['button "Pay now"'], "added": ['button "Pay later"']}],
        "errors": {},
    }
    assert {name: result["completed"] for name, result in answer["results"].items()} == dict.fromkeys(ALL, 3)


@pytest.mark.full
def test_a_step_that_fails_in_one_lockstep_session_is_a_divergence(stage: Stage) -> None:
    """The session whose step failed is the odd one, with its error; of two sessions the first is the base."""
    answer = run(stage, "#help", "#add", broken="bob", sessions=["ann", "bob"], timeout=5_000)
    assert answer["divergence"]["odd"] == ["bob"]
    assert answer["divergence"]["errors"]["bob"].startswith("not_actionable: '#help' cannot be acted on: ")
    assert answer["results"]["bob"]["failed"]["index"] == answer["divergence"]["index"] == 1
    assert answer["results"]["ann"]["completed"] == 2


@pytest.mark.full
def test_lockstep_waits_for_a_late_session_no_longer_than_the_call_timeout(stage: Stage) -> None:
    """A timeout error names the late session, with the others' results and a hint to raise the timeout."""
    for name in ("ann", "bob"):
        stage.ok("navigate", url=stage.site.url("/shop"), sessionId=name)
    stage.ok("execute_script", script="window.late = 600_000", sessionId="bob")
    script = "await new Promise(go => setTimeout(go, window.late ?? 0))"
    steps = [{"action": "get_text"}, {"action": "execute_script", "script": script}, {"action": "get_text"}]
    given = [{"sessionIds": ["ann", "bob"], "actions": steps}]
    answer = stage.call("execute_parallel", sequences=given, lockstep=True, timeout=10_000)
    ann = answer.data["results"]["ann"]
    assert (ann["completed"], ann["error"]["code"]) == (2, "timeout")
    assert ann["error"]["message"] == "Lockstep: bob did not come to the end of step 1."
    assert "raise timeout" in ann["error"]["hint"]


@pytest.mark.full
def test_a_step_that_fails_in_all_lockstep_sessions_is_no_divergence(stage: Stage) -> None:
    """A step that fails in every session fails the call as without lockstep."""
    steps = [{"action": "click_element", "selector": "#nowhere", "timeout": 100}]
    answer = stage.call("execute_parallel", sequences=[{"sessionIds": ALL, "actions": steps}], lockstep=True)
    refused(answer, "element_not_found")
    assert "divergence" not in answer.data


@pytest.mark.full
@pytest.mark.parametrize(
    "sequences",
    [
        [{"sessionId": "ann", "actions": [{"action": "get_text"}]}],
        [{"sessionId": name, "actions": [{"action": "get_text"}]} for name in ALL],
    ],
    ids=["one session", "several lists"],
)
def test_lockstep_needs_one_sequence_for_at_least_two_sessions(stage: Stage, sequences: list[dict[str, Any]]) -> None:
    """A lockstep call without anything to compare is refused and runs nothing."""
    said = refused(stage.call("execute_parallel", sequences=sequences, lockstep=True), "invalid_argument")
    assert "lockstep takes one sequence with at least two sessionIds" in said
