"""execute_parallel with `start` and `close`: users who come, meet and go within one call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator import Orchestrator
from orchestrator.settings import Settings
from tests.e2e.harness import Home, answered
from tests.e2e.stage import Stage, opened, refused
from tests.servers.mcp import Answer
from tests.servers.site import Site
from tests.waiting import until

pytestmark = pytest.mark.full

SYNC = {"action": "sync", "name": "ready"}
TITLE = {"action": "execute_script", "script": "return document.title"}
FAIL = {"action": "click_element", "selector": "#none", "timeout": 50}


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """A server with one browser."""
    with opened() as stage:
        yield stage


@pytest.fixture(autouse=True)
def one_session(stage: Stage) -> Iterator[None]:
    """Leave only `browser` open."""
    yield
    for name in open_sessions(stage):
        if name != "browser":
            stage.ok("close_session", sessionId=name)


def open_sessions(stage: Stage) -> list[str]:
    """Return the ids of the open sessions."""
    return [row["sessionId"] for row in stage.ok("list_sessions")["sessions"]]


def user(name: str, url: str, *actions: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the sequence of a user whose browser is started for it, and closed."""
    start = {"sessionId": name, "navigationUrl": url}
    return {"start": start, "close": True, "actions": list(actions), **more}


def run(stage: Stage, *sequences: dict[str, Any], **more: Any) -> Answer:
    """Run sequences side by side."""
    return stage.call("execute_parallel", sequences=list(sequences), **more)


@pytest.mark.core
def test_two_users_come_meet_and_go_in_one_call(stage: Stage) -> None:  # W3 X11
    """Two browsers start, open a page that answers only both, meet at a barrier, and are closed at the end."""
    url = stage.site.meeting("/both", 2)
    answer = run(stage, user("ann", url, SYNC, TITLE), user("ben", url, SYNC, TITLE))
    assert not answer.failed, answer.text
    assert {name: (one["completed"], one["closed"]) for name, one in answer.data["results"].items()} == {
        "ann": (2, True),
        "ben": (2, True),
    }
    assert "  Closed." in answer.text
    assert open_sessions(stage) == ["browser"]


def test_a_session_that_was_started_stays_open_without_close(stage: Stage) -> None:
    """Without a name it has an automatic one, under which its result stands; the other sequence's is an open one."""
    url = stage.page("<p>there")
    started = {"start": {"navigationUrl": url}, "actions": [TITLE]}
    results = stage.ok("execute_parallel", sequences=[started, {"sessionId": "browser", "actions": [TITLE]}])["results"]
    assert list(results) == ["browser-1", "browser"]
    assert "closed" not in results["browser-1"]
    assert stage.js("document.body.innerText", sessionId="browser-1") == "there"


def test_an_open_session_is_closed_after_its_sequence_with_close(stage: Stage) -> None:
    """`close` also ends sessions that were open before."""
    stage.ok("start_browser", sessionId="old")
    results = stage.ok("execute_parallel", sequences=[{"sessionId": "old", "close": True, "actions": [TITLE]}])
    assert results["results"]["old"]["closed"] is True
    assert open_sessions(stage) == ["browser"]


def test_a_session_is_closed_although_its_sequence_failed(stage: Stage) -> None:
    """The result has the failed step, and says that the session was closed."""
    url = stage.page("<p>there")
    answer = run(stage, user("ann", url, FAIL), user("ben", url, TITLE))
    assert not answer.failed, answer.text
    ann = answer.data["results"]["ann"]
    assert ann["failed"]["error"]["code"] == "element_not_found"
    assert ann["closed"] is True
    assert open_sessions(stage) == ["browser"]


def test_a_start_that_fails_is_its_sequences_result_and_the_others_do_not_wait_for_it(stage: Stage) -> None:
    """Its error is reported, a barrier names it at once, and a sequence without barrier completes."""
    url = stage.page("<p>there")
    gone = stage.site.url("/").replace(str(stage.site.url("/")).rsplit(":", 1)[1], "1/")
    answer = run(stage, user("ann", gone, SYNC), user("ben", url, SYNC), user("cat", url, TITLE), timeout=60_000)
    results = answer.data["results"]
    assert results["ann"]["error"]["code"] == "start_failed"
    assert "navigationUrl" in results["ann"]["error"]["message"]
    assert "ann ended before it got there" in results["ben"]["error"]["message"]
    assert results["cat"]["completed"] == 1
    assert [one.get("closed") for one in results.values()] == [None, True, True]
    assert open_sessions(stage) == ["browser"]


def test_sequences_begin_together_when_all_sessions_have_started(stage: Stage) -> None:
    """A session whose page comes late holds the others back, so that their time does not run meanwhile."""
    gate, late = stage.site.gate("/late"), stage.site.page("/late", "<p>late")
    first = stage.page("<p>first")
    running = stage.begin(
        "execute_parallel",
        sequences=[
            user("ann", late, SYNC),
            {"sessionId": "browser", "actions": [{"action": "navigate", "url": first}]},
        ],
    )
    gate.wait_entered()
    assert stage.site.visits(first.removeprefix(stage.site.url(""))) == []
    gate.open()
    assert not answered(running).failed


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ({"sessionId": "no way"}, "'no way' is not a session id"),
        ({"colour": "red"}, "Sequence 1: start: Unknown argument 'colour'"),
        ({"platform": "windows"}, "Sequence 1: start: Argument 'platform' must be 'ios' or 'android'"),
        ({"provider": "nowhere", "platform": "browser"}, "nowhere"),
    ],
    ids=["id", "argument", "app", "provider"],
)
def test_a_wrong_start_in_a_parallel_call_starts_nothing(stage: Stage, start: dict[str, Any], said: str) -> None:
    """It is refused as invalid before any other session is launched, and no id stays reserved."""
    fine = user("ann", stage.page("<p>there"), TITLE)
    assert said in refused(run(stage, fine, {"start": start, "actions": [TITLE]}), "invalid_argument")
    assert open_sessions(stage) == ["browser"]


def test_a_parallel_start_under_a_name_in_use_starts_nothing(stage: Stage) -> None:  # W49
    """The other session of the call is not started either."""
    url = stage.page("<p>there")
    refused(run(stage, user("ann", url, TITLE), user("browser", url, TITLE)), "session_exists")
    assert open_sessions(stage) == ["browser"]
    assert run(stage, user("ann", url, TITLE)).data["results"]["ann"]["closed"] is True


def test_a_sequence_has_a_session_or_a_start_and_not_both(stage: Stage) -> None:
    """Neither or both of them is refused."""
    for part in ({"actions": [TITLE]}, {"sessionId": "browser", "start": {}, "actions": [TITLE]}):
        assert "either sessionId, sessionIds or start" in refused(run(stage, part), "invalid_argument")


def test_a_tool_for_sessions_is_no_step_of_a_parallel_call(stage: Stage) -> None:
    """The error names start and close, which do it there."""
    part = {"sessionId": "browser", "actions": [{"action": "close_session"}]}
    text = refused(run(stage, part), "invalid_argument")
    assert "Step 0: close_session cannot be a step of execute_parallel" in text
    assert "start and close" in text


def test_a_denied_tool_is_no_start_or_close_of_a_parallel_call() -> None:
    """The setting `deny_tools` holds for `start` and `close`, too."""
    with opened("auto", "one", deny_tools="start_session,close_session") as stage:
        start = {"start": {"provider": "local", "platform": "browser"}, "actions": [TITLE]}
        assert "start_session is denied" in refused(run(stage, start), "denied")
        assert "close_session is denied" in refused(run(stage, user("ann", "about:blank", TITLE)), "denied")


def test_sessions_of_a_parallel_call_end_when_its_client_goes_away(home: Home) -> None:
    """A call that its server's end cuts off leaves no browser of its own behind."""
    with Site() as site, home.serve(park_ttl="0") as server:
        gate, late = site.gate("/late"), site.page("/late", "<p>late")
        there = site.page("/", "<p>there")
        server.begin(
            "execute_parallel",
            sequences=[user("ann", there, {"action": "navigate", "url": late}), user("ben", there, TITLE)],
        )
        gate.wait_entered()
    until(home.is_clean, "the end of all browsers")


async def test_python_starts_and_closes_the_sessions_of_parallel_sequences(home: Home, site: Site) -> None:
    """`execute_parallel` of the library takes `start` and `close`, too."""
    url = site.page("/", "<title>Here</title>")
    async with Orchestrator(Settings(home=home.folder, namespace="starts")) as orchestrator:
        start = {"session_id": "ann", "navigation_url": url}
        done = await orchestrator.execute_parallel([{"start": start, "close": True, "actions": [TITLE]}])
        assert done.results["ann"]["closed"] is True
        assert (await orchestrator.list_sessions()).sessions == []
