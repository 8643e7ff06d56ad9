"""Dialogs of the page: answered and reported by themselves, as armed, or left open for the caller."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.stage import Stage, refused

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
def test_a_dialog_is_answered_and_reported_by_the_call_that_opened_it(  # X53 X54
    stage: Stage, kind: str, message: str, result: str
) -> None:
    """Alerts are closed, confirm and prompt dismissed, at once; `events` says so and how to do otherwise."""
    answer = stage.call("click_element", selector=f"#{kind}")
    assert not answer.failed, answer.text
    [event] = answer.data["events"]
    assert f"'{message}'" in event
    assert event in answer.text
    if kind != "alert":
        assert "dismissed" in event
        assert HOW in event
    assert stage.ok("get_text", selector="#out")["text"] == result


def test_an_event_is_told_once(stage: Stage) -> None:
    """The next result has nothing to add."""
    assert "events" in stage.ok("click_element", selector="#alert")
    assert "events" not in stage.ok("get_text")


@pytest.mark.parametrize(
    ("accept", "result"), [pytest.param(True, "got true", marks=pytest.mark.core), (False, "got false")]
)
def test_the_next_dialog_is_answered_as_armed(stage: Stage, accept: bool, result: str) -> None:  # noqa: FBT001
    """`handle_dialog` with none open decides beforehand, for one dialog; the answer says that it did."""
    [armed] = stage.ok("handle_dialog", accept=accept)["warnings"]
    assert armed == f"No dialog is open: the next one will be {'accepted' if accept else 'dismissed'}."
    [event] = stage.ok("click_element", selector="#confirm")["events"]
    assert ("accepted" if accept else "dismissed") in event
    assert stage.ok("get_text", selector="#out")["text"] == result
    stage.ok("click_element", selector="#confirm")
    assert stage.ok("get_text", selector="#out")["text"] == "got false"


@pytest.mark.core
def test_a_prompt_is_filled_in_as_armed(stage: Stage) -> None:
    """With `promptText`; without it, the page's own default stands."""
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
def test_a_policy_answers_them_all(stage: Stage, policy: str, result: str) -> None:  # X53
    """`accept` and `dismiss` do so each time, and report it."""
    assert stage.ok("set_policy", dialogs=policy)["dialogs"] == policy
    for _ in range(2):
        assert "events" in stage.ok("click_element", selector="#confirm")
        assert stage.ok("get_text", selector="#out")["text"] == result
        stage.js("said('nothing')")


@pytest.mark.parametrize("kind", ["alert", "confirm", "prompt"])
def test_with_manual_it_stays_open(stage: Stage, kind: str) -> None:  # X54
    """The opening call returns at once and says so; every other call answers `dialog_open` until it is handled."""
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


def test_an_open_prompt_is_filled_in(stage: Stage) -> None:
    """`handle_dialog` answers the open one with text, and tells which dialog that was."""
    stage.ok("set_policy", dialogs="manual")
    stage.ok("click_element", selector="#prompt")
    answer = stage.call("handle_dialog", accept=True, promptText="Größe 😀")
    assert "'Name?'" in answer.text
    assert stage.ok("get_text", selector="#out")["text"] == "got Größe 😀"


def test_text_for_a_dialog_that_takes_none(stage: Stage) -> None:
    """It is accepted all the same, and the result says so."""
    stage.ok("set_policy", dialogs="manual")
    stage.ok("click_element", selector="#confirm")
    answer = stage.ok("handle_dialog", accept=True, promptText="x")
    assert any("takes no text" in event for event in answer["events"])
    assert stage.ok("get_text", selector="#out")["text"] == "got true"


def test_armed_goes_before_manual(stage: Stage) -> None:
    """Who armed it does not want to be asked."""
    stage.ok("set_policy", dialogs="manual")
    stage.ok("handle_dialog", accept=True)
    stage.ok("click_element", selector="#confirm")
    assert stage.ok("get_text", selector="#out")["text"] == "got true"


def test_dialogs_in_a_row_are_all_answered(stage: Stage) -> None:
    """Each is an event, in order."""
    stage.show("<button onclick=\"alert('one'); alert('two'); confirm('three'); document.title = 'after'\">go</button>")
    answer = stage.ok("click_element", selector="button")
    assert [event.partition("'")[2].partition("'")[0] for event in answer["events"]] == ["one", "two", "three"]
    assert stage.js("document.title") == "after"


def test_a_page_that_never_stops_asking_is_bounded(stage: Stage) -> None:
    """An alert in an endless loop: an answer comes, and the session can be closed."""
    stage.ok("start_browser", sessionId="loop")
    url = stage.page("<button onclick=\"for (;;) alert('again')\">go</button>")
    stage.ok("navigate", url=url, sessionId="loop")
    answer = stage.call("click_element", selector="button", sessionId="loop")
    assert "again" in answer.text
    assert stage.ok("close_session", sessionId="loop")["closed"] == ["loop"]


def test_a_dialog_that_opens_by_itself_is_reported_by_the_next_call(stage: Stage) -> None:
    """A timer's alert, between two calls."""
    stage.ok("execute_script", script="setTimeout(() => { window.opened = true; alert('By itself') }, 50)")
    answer = stage.call("wait_for", selector="#out", state="visible", title="nothing such", timeout=1500)
    assert any("By itself" in event for event in answer.data["events"])


def test_a_script_that_opens_a_dialog(stage: Stage) -> None:
    """It is answered, reported, and the session goes on."""
    answer = stage.call("execute_script", script="return confirm('From a script')")
    assert not answer.failed
    assert any("'From a script'" in event for event in answer.data["events"])
    assert "cut short" in answer.data["warnings"][0]
    assert stage.js("1") == 1


def test_a_script_that_opens_a_dialog_which_stays(stage: Stage) -> None:
    """With `manual` the call returns and says that it is open."""
    stage.ok("set_policy", dialogs="manual")
    answer = stage.call("execute_script", script="out.textContent = confirm('From a script')")
    assert "blocks the page: 'From a script'" in answer.text
    stage.ok("handle_dialog", accept=True)
    assert stage.ok("get_text", selector="#out")["text"] == "true"


def test_a_page_that_asks_before_it_is_left(stage: Stage) -> None:
    """A beforeunload dialog is accepted by default: the navigation takes place."""
    stage.show("<input id=f><script>onbeforeunload = e => { e.preventDefault(); return 'stay?' }</script>")
    stage.ok("set_value", selector="#f", value="typed", keystrokes=True)
    stage.ok("click_element", selector="#f")
    there = stage.page("there", title="There")
    assert stage.ok("navigate", url=there)["title"] == "There"


def test_a_dialog_inside_a_sequence(stage: Stage) -> None:
    """The steps go on after it; the sequence's result reports it."""
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


def test_each_session_has_a_policy_of_its_own(stage: Stage) -> None:  # X58
    """What one does not want to be asked the other does."""
    stage.ok("start_browser", sessionId="other")
    stage.ok("set_policy", dialogs="manual", sessionId="other")
    assert "events" in stage.ok("click_element", selector="#confirm")
    stage.show(ASKING, sessionId="other")
    stage.call("click_element", selector="#confirm", sessionId="other")
    refused(stage.call("get_text", sessionId="other"), "dialog_open")
    assert not stage.call("get_text").failed
    stage.ok("handle_dialog", accept=False, sessionId="other")
    stage.ok("close_session", sessionId="other")
