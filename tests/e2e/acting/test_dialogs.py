"""Dialogs of the page: answered and reported automatically, answered as armed, or left open for the caller."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.stage import Stage, refused

pytestmark = pytest.mark.full

ASKING = (
    "<button id=alert onclick=\"alert('Saved'); said('alert closed')\">alert</button>"
    "<button id=confirm onclick=\"said(confirm('Sure?'))\">confirm</button>"
    "<button id=prompt onclick=\"said(prompt('Name?', 'nobody'))\">prompt</button>"
    "<p id=out></p><script>said = what => { out.textContent = `got ${what}` }</script>"
)
HOW = "call handle_dialog before the call that opens it"


@pytest.fixture(autouse=True)
def _page(stage: Stage) -> Iterator[None]:
    stage.ok("set_policy", dialogs="raise")
    stage.show(ASKING)
    yield
    stage.ok("set_policy", dialogs="raise")
    stage.call("navigate", url="about:blank")


@pytest.mark.parametrize(
    ("kind", "message", "result"),
    [("alert", "Saved", "got alert closed"), ("confirm", "Sure?", "got false"), ("prompt", "Name?", "got null")],
)
def test_a_dialog_is_answered_and_reported_by_the_call_that_opened_it(  # X53 X57 X58
    stage: Stage, kind: str, message: str, result: str
) -> None:
    """Alerts are closed, confirm and prompt dismissed, at once; `events` reports it with the alternatives."""
    answer = stage.call("click_element", selector=f"#{kind}")
    assert not answer.failed, answer.text
    [event] = answer.data["events"]
    assert f"'{message}'" in event
    assert event in answer.text
    if kind != "alert":
        assert "dismissed" in event
        assert HOW in event
    assert stage.ok("get_text", selector="#out")["text"] == result


def test_a_dialog_event_is_reported_once(stage: Stage) -> None:
    """The result after the one that reported a dialog has no events."""
    assert "events" in stage.ok("click_element", selector="#alert")
    assert "events" not in stage.ok("get_text")


@pytest.mark.parametrize(
    ("accept", "result"), [pytest.param(True, "got true", marks=pytest.mark.core), (False, "got false")]
)
def test_handle_dialog_with_none_open_arms_the_next_answer(stage: Stage, accept: bool, result: str) -> None:  # noqa: FBT001
    """`handle_dialog` with none open sets the answer to the next dialog only, and says so."""
    [armed] = stage.ok("handle_dialog", accept=accept)["warnings"]
    assert armed == f"No dialog is open: the next one will be {'accepted' if accept else 'dismissed'}."
    [event] = stage.ok("click_element", selector="#confirm")["events"]
    assert ("accepted" if accept else "dismissed") in event
    assert stage.ok("get_text", selector="#out")["text"] == result
    stage.ok("click_element", selector="#confirm")
    assert stage.ok("get_text", selector="#out")["text"] == "got false"


@pytest.mark.core
def test_the_next_prompt_is_filled_in_with_the_armed_text(stage: Stage) -> None:
    """An armed prompt gets `promptText`; without it, the page's own default stands."""
    stage.ok("handle_dialog", accept=True, promptText="Ann")
    stage.ok("click_element", selector="#prompt")
    assert stage.ok("get_text", selector="#out")["text"] == "got Ann"
    stage.ok("handle_dialog", accept=True)
    stage.ok("click_element", selector="#prompt")
    assert stage.ok("get_text", selector="#out")["text"] == "got nobody"


def test_prompt_text_needs_accept(stage: Stage) -> None:
    """A dismissed prompt has no text."""
    assert "romptText needs accept" in refused(
        stage.call("handle_dialog", accept=False, promptText="x"), "invalid_argument"
    )


@pytest.mark.parametrize(("policy", "result"), [("accept", "got true"), ("dismiss", "got false")])
def test_a_dialog_policy_answers_every_dialog(stage: Stage, policy: str, result: str) -> None:  # X53 X57 X58
    """The policies `accept` and `dismiss` answer each dialog and report it."""
    assert stage.ok("set_policy", dialogs=policy)["dialogs"] == policy
    for _ in range(2):
        assert "events" in stage.ok("click_element", selector="#confirm")
        assert stage.ok("get_text", selector="#out")["text"] == result
        stage.js("said('nothing')")


@pytest.mark.parametrize("kind", ["alert", "confirm", "prompt"])
def test_a_dialog_stays_open_with_the_manual_policy(stage: Stage, kind: str) -> None:  # X53 X57 X58
    """The opening call returns at once and reports it; every other call answers `dialog_open` until it is handled."""
    stage.ok("set_policy", dialogs="manual")
    opening = stage.call("click_element", selector=f"#{kind}")
    assert not opening.failed, opening.text
    assert "A dialog is open and blocks the page" in opening.text
    for tool, arguments in {
        "get_visible_elements": {},
        "click_element": {"selector": "#alert"},
        "execute_script": {"script": "return 1"},
        "get_text": {},
        "navigate": {"url": "about:blank"},
    }.items():
        text = refused(stage.call(tool, **arguments), "dialog_open")
        assert "handle_dialog" in text
    stage.ok("handle_dialog", accept=True)
    assert (
        stage.ok("get_text", selector="#out")["text"]
        == {
            "alert": "got alert closed",
            "confirm": "got true",
            "prompt": "got nobody",
        }[kind]
    )


def test_handle_dialog_fills_in_an_open_prompt(stage: Stage) -> None:
    """An open prompt is answered with text, and the result names the dialog."""
    stage.ok("set_policy", dialogs="manual")
    stage.ok("click_element", selector="#prompt")
    answer = stage.call("handle_dialog", accept=True, promptText="Größe 😀")
    assert "'Name?'" in answer.text
    assert stage.ok("get_text", selector="#out")["text"] == "got Größe 😀"


def test_a_confirm_dialog_given_a_text_is_accepted_with_a_notice(stage: Stage) -> None:
    """A dialog that takes no text is accepted all the same, and an event reports that."""
    stage.ok("set_policy", dialogs="manual")
    stage.ok("click_element", selector="#confirm")
    answer = stage.ok("handle_dialog", accept=True, promptText="x")
    assert any("takes no text" in event for event in answer["events"])
    assert stage.ok("get_text", selector="#out")["text"] == "got true"


def test_an_armed_answer_goes_before_the_manual_policy(stage: Stage) -> None:
    """An armed answer has priority over the policy `manual`."""
    stage.ok("set_policy", dialogs="manual")
    stage.ok("handle_dialog", accept=True)
    stage.ok("click_element", selector="#confirm")
    assert stage.ok("get_text", selector="#out")["text"] == "got true"


def test_dialogs_in_a_row_are_all_answered(stage: Stage) -> None:
    """Dialogs that follow each other are events, in order."""
    stage.show("<button onclick=\"alert('one'); alert('two'); confirm('three'); document.title = 'after'\">go</button>")
    answer = stage.ok("click_element", selector="button")
    assert [event.partition("'")[2].partition("'")[0] for event in answer["events"]] == ["one", "two", "three"]
    assert stage.js("document.title") == "after"


def test_an_endless_loop_of_alerts_does_not_block_the_session(stage: Stage) -> None:
    """An endless loop of alerts delays neither the answer nor the closing of the session."""
    stage.ok("start_browser", sessionId="loop")
    url = stage.page("<button onclick=\"for (;;) alert('again')\">go</button>")
    stage.ok("navigate", url=url, sessionId="loop")
    answer = stage.call("click_element", selector="button", sessionId="loop")
    assert "again" in answer.text
    assert stage.ok("close_session", sessionId="loop")["closed"] == ["loop"]


def test_a_dialog_that_opens_between_calls_is_reported_by_the_next_call(stage: Stage) -> None:
    """The alert of a timer that opens between two calls is an event of the next one."""
    stage.ok("execute_script", script="setTimeout(() => { window.opened = true; alert('By itself') }, 50)")
    answer = stage.call("wait_for", selector="#out", state="visible", title="nothing such", timeout=1500)
    assert any("By itself" in event for event in answer.data["events"])


def test_a_dialog_opened_by_a_script_is_answered_and_reported(stage: Stage) -> None:
    """A script's dialog is answered and reported, and the session continues."""
    answer = stage.call("execute_script", script="return confirm('From a script')")
    assert not answer.failed
    assert any("'From a script'" in event for event in answer.data["events"])
    assert "interrupted" in answer.data["warnings"][0]
    assert stage.js("1") == 1


def test_execute_script_returns_when_its_dialog_stays_open_with_the_manual_policy(stage: Stage) -> None:
    """The policy `manual` lets the call return and report the open dialog."""
    stage.ok("set_policy", dialogs="manual")
    answer = stage.call("execute_script", script="out.textContent = confirm('From a script')")
    assert "blocks the page: 'From a script'" in answer.text
    stage.ok("handle_dialog", accept=True)
    assert stage.ok("get_text", selector="#out")["text"] == "true"


@pytest.mark.parametrize("policy", ["raise", "dismiss", "manual"])
def test_a_page_that_asks_whether_it_may_be_left_is_left_and_reported(stage: Stage, policy: str) -> None:  # X57 X58
    """Drivers confirm a beforeunload dialog whatever the policy: the navigation takes place, and an event says so."""
    stage.ok("set_policy", dialogs=policy)
    stage.show("<input id=f><script>onbeforeunload = e => { e.preventDefault(); return 'stay?' }</script>")
    stage.ok("set_value", selector="#f", value="typed", keystrokes=True)
    stage.ok("click_element", selector="#f")
    there = stage.page("there", title="There")
    answer = stage.ok("navigate", url=there)
    assert answer["title"] == "There"
    assert answer["events"] == ["A page asked whether it may be left (beforeunload); the driver confirmed it."]


def test_a_sequence_goes_on_after_a_dialog_and_reports_it(stage: Stage) -> None:
    """Steps continue after a dialog, and the sequence's result reports it."""
    answer = stage.ok(
        "execute_sequence",
        actions=[
            {"action": "handle_dialog", "accept": True},
            {"action": "click_element", "selector": "#confirm"},
            {"action": "expect", "selector": "#out", "text": "got true"},
        ],
    )
    assert answer["completed"] == 3
    assert any("'Sure?'" in event for event in answer["events"])


def test_each_session_has_a_dialog_policy_of_its_own(stage: Stage) -> None:  # X53
    """A session with the policy `manual` does not change how dialogs of another one are answered."""
    stage.ok("start_browser", sessionId="other")
    stage.ok("set_policy", dialogs="manual", sessionId="other")
    assert "events" in stage.ok("click_element", selector="#confirm")
    stage.show(ASKING, sessionId="other")
    stage.call("click_element", selector="#confirm", sessionId="other")
    refused(stage.call("get_text", sessionId="other"), "dialog_open")
    assert not stage.call("get_text").failed
    stage.ok("handle_dialog", accept=False, sessionId="other")
    stage.ok("close_session", sessionId="other")
