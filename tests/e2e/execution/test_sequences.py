"""execute_sequence: steps in one turn, their changes, and waiting for the page to settle."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.harness import Home, kill
from tests.e2e.stage import Stage, opened, refused

FORM = (
    "<form onsubmit=\"event.preventDefault(); document.title = 'Sent';"
    'document.body.append(`thanks ${n.value}`)"><label>Name <input id=n></label><button id=b>Send</button></form>'
)


def click(selector: str, **more: Any) -> dict[str, Any]:
    """A step that clicks."""
    return {"action": "click_element", "selector": selector, **more}


@pytest.mark.smoke
@pytest.mark.core
def test_a_sequence_fills_and_sends_a_form_and_reports_the_changes(stage: Stage) -> None:  # W39
    """Every step runs, and the result reports their changes together."""
    stage.show(FORM)
    answer = stage.call(
        "execute_sequence",
        actions=[
            {"action": "set_value", "selector": "label=Name", "value": "Ann"},
            click("text=Send"),
            {"action": "wait_for", "text": "thanks Ann"},
        ],
    )
    assert not answer.failed, answer.text
    data = answer.data
    assert data["completed"] == 3
    assert data["stable"] is True
    assert data["stabilityWaitMs"] >= 0
    assert data["stateChange"]["title"] == {"from": "Page", "to": "Sent"}
    assert data["stateChange"]["appeared"] == ["text: thanks Ann"]
    assert [line.partition(" [")[0] for line in data["stateChange"]["changed"]] == ['textbox "Name"']
    assert "failed" not in data
    assert "steps" not in data
    for said in ("Completed 3 steps.", "thanks Ann", "Title: 'Sent'"):
        assert said in answer.text


def test_a_sequence_with_a_wrong_step_runs_nothing(stage: Stage) -> None:
    """The whole list is checked before the first one: an unknown action, bad parameters, a bad key."""
    stage.show("<button id=b onclick='clicked = true'>Go</button><script>clicked = false</script>")
    wrong: dict[str, dict[str, Any]] = {
        "'clack' is not an action": {"action": "clack"},
        "Argument 'selector' is missing": {"action": "click_element"},
        "Unknown argument 'colour'": click("#b", colour="red"),
        "'Entre' is not a key": {"action": "press_keys", "keys": "Entre"},
        "'count'": click("#b", count="many"),
        "only expect takes within": click("#b", within={"ms": 1, "of": "other"}),
        "no step is named 'other'": {
            "action": "expect",
            "text": "a",
            "selector": "a",
            "within": {"ms": 1, "of": "other"},
        },
        "give either url or history": {"action": "navigate"},
        "sync takes a name": {"action": "sync"},
        "A step needs action": {"selector": "#b"},
        "Argument 'optional' must be true or false": click("#b", optional="perhaps"),
    }
    for said, step in wrong.items():
        text = refused(stage.call("execute_sequence", actions=[click("#b"), step]), "invalid_argument")
        assert "Step 1: " in text
        assert said.casefold() in text.casefold()
        assert "Nothing was run." in text
    assert stage.js("clicked") is False


def test_an_unknown_action_in_a_sequence_is_refused_with_the_nearest_name(stage: Stage) -> None:
    """The error for a misspelled action offers the nearest one."""
    answer = stage.call("execute_sequence", actions=[{"action": "click_elment", "selector": "#b"}])
    assert "Did you mean 'click_element'?" in refused(answer, "invalid_argument")


@pytest.mark.core
def test_a_sequence_stops_at_the_first_failing_step(stage: Stage) -> None:
    """The error has the failed step's index, action and error, and the changes of the steps before it."""
    stage.show("<button id=b onclick=\"document.body.append('one')\">Go</button>")
    answer = stage.call(
        "execute_sequence", actions=[click("#b"), click("#none", timeout=100), click("#b")], sessionId="browser"
    )
    refused(answer, "element_not_found")
    data = answer.data
    assert data["completed"] == 1
    error = data["failed"].pop("error")
    assert data["failed"] == {"index": 1, "action": "click_element"}
    assert set(error) == {"code", "message", "hint"}
    assert error["code"] == data["error"]["code"] == "element_not_found"
    assert error["message"] == data["error"]["message"]
    assert "'#none'" in error["message"]
    assert data["stateChange"]["appeared"] == ["text: one"]
    assert data["stable"] is True
    assert isinstance(data["stabilityWaitMs"], int)
    assert set(data) == {"completed", "failed", "stateChange", "stable", "stabilityWaitMs", "error"}
    for said in ("Completed 1 steps.", "Step 1 (click_element) failed: element_not_found", "text: one"):
        assert said in answer.text
    assert stage.ok("get_text")["text"] == "Go one"


def test_an_optional_step_may_fail_without_stopping_the_sequence(stage: Stage) -> None:
    """A failed optional step is a warning and does not count as completed."""
    stage.show("<button id=b onclick=\"document.body.append('one')\">Go</button>")
    answer = stage.call("execute_sequence", actions=[click("#cookies", timeout=50, optional=True), click("#b")])
    assert not answer.failed
    assert answer.data["completed"] == 1
    [warning] = answer.data["warnings"]
    assert warning.startswith("Optional step 0 (click_element) failed: No element matches '#cookies'")
    assert warning in answer.text
    assert answer.data["stateChange"]["appeared"] == ["text: one"]


@pytest.mark.core
@pytest.mark.parametrize(
    "then",
    [
        None,
        {"action": "set_value", "selector": "#other", "value": "b"},
        click("#gone", timeout=0, optional=True),
        {"action": "execute_script", "script": "document.querySelector('#n').remove()"},
        {"action": "navigate", "url": "about:blank"},
    ],
    ids=lambda then: then["action"] if then else "nothing",
)
def test_a_value_that_the_page_changes_is_a_warning_of_its_step(stage: Stage, then: dict[str, Any] | None) -> None:
    """The warning reports the field's value after its step, whatever the next step does to the page."""
    stage.show("<input id=n oninput='value = value.toUpperCase()'><input id=other>")
    step = {"action": "set_value", "selector": "#n", "value": "ann"}
    found = stage.ok("execute_sequence", actions=[step, *([then] if then else [])])
    assert found["warnings"][0] == "Step 0 (set_value): The page changed the value: the field now holds 'ANN'."
    assert len(found["warnings"]) == (2 if then and then.get("optional") else 1)


def test_state_change_is_null_when_a_sequence_changes_nothing(stage: Stage) -> None:
    """A sequence without visible changes has a stateChange of null, and the text says so."""
    stage.show("<p>still</p>")
    answer = stage.call("execute_sequence", actions=[{"action": "get_text"}])
    assert answer.data["stateChange"] is None
    assert "Nothing visible changed." in answer.text


def test_state_change_lists_url_title_and_appeared_disappeared_and_changed_lines(stage: Stage) -> None:
    """Lines of a state change have refs that can be used."""
    stage.show(
        "<button id=go onclick=\"history.pushState({}, '', '#done'); document.title = 'Done';"
        "old.remove(); same.disabled = true; box.innerHTML = '<button onclick=again()>New</button>'\">Go</button>"
        "<p id=old>old words</p><button id=same>Same</button><div id=box></div>"
        "<script>again = () => document.body.append('used')</script>"
    )
    change = stage.ok("execute_sequence", actions=[click("#go")])["stateChange"]
    assert change["url"]["to"] == f"{change['url']['from']}#done"
    assert change["title"] == {"from": "Page", "to": "Done"}
    assert change["disappeared"] == ["text: old words"]
    [changed] = change["changed"]
    assert changed.startswith('button "Same" [e')
    assert changed.endswith("[disabled]")
    [appeared] = change["appeared"]
    assert appeared.startswith('button "New" [e')
    stage.ok("click_element", selector=appeared)
    assert "used" in stage.ok("get_text")["text"]


def test_state_change_lists_40_lines_and_counts_the_rest(stage: Stage) -> None:
    """Forty lines at most; `more` counts the rest."""
    stage.show(
        "<button id=b>Go</button><script>b.onclick = () => { for (let i = 0; i < 60; i += 1)"
        "document.body.append(Object.assign(document.createElement('p'), {textContent: `line ${i}`})) }</script>"
    )
    answer = stage.call("execute_sequence", actions=[click("#b")])
    change = answer.data["stateChange"]
    assert len(change["appeared"]) == 40
    assert change["more"] == 20
    assert "20 more" in answer.text


@pytest.mark.core
def test_a_sequence_that_navigates_reports_the_new_page(stage: Stage) -> None:
    """Headings, text and controls of the new page are reported with its refs; later steps run there."""
    there = stage.page("<h1>Welcome</h1><p>Hello.</p><button>Next</button>", title="There")
    here = stage.show(f"<a id=a href='{there}'>go</a>")
    answer = stage.ok(
        "execute_sequence", actions=[click("#a"), {"action": "expect", "selector": "h1", "text": "Welcome"}]
    )
    change = answer["stateChange"]
    assert change["url"] == {"from": here, "to": there}
    assert [line.partition(" [")[0] for line in change["appeared"]] == [
        'heading "Welcome"',
        "text: Hello.",
        'button "Next"',
    ]
    assert answer["stable"] is True
    stage.ok("click_element", selector=change["appeared"][2])


def test_a_verbose_sequence_reports_each_step(stage: Stage) -> None:
    """Each step has its result and duration, failed optional ones included."""
    stage.show(FORM)
    answer = stage.call(
        "execute_sequence",
        verbose=True,
        actions=[
            {"action": "set_value", "selector": "#n", "value": "Ann"},
            {"action": "execute_script", "script": "return 6 * 7"},
            click("#none", timeout=50, optional=True),
            {"action": "get_text", "selector": "label"},
        ],
    )
    steps = answer.data["steps"]
    assert [step["action"] for step in steps] == ["set_value", "execute_script", "click_element", "get_text"]
    assert steps[1]["result"] == {"value": 42}
    assert steps[2]["result"]["code"] == "element_not_found"
    assert steps[3]["result"]["text"] == "Name Ann"
    assert all(isinstance(step["durationMs"], int) for step in steps)
    assert "1. execute_script" in answer.text
    assert "42" in answer.text


def test_the_timeout_of_a_sequence_bounds_its_steps(stage: Stage) -> None:
    """A step gets no more time than the whole sequence has; the steps after it are not begun."""
    stage.show("<button id=b onclick='document.title += 1'>Go</button>")
    answer = stage.call("execute_sequence", actions=[click("#none", timeout=600_000), click("#b")], timeout=600)
    assert answer.failed
    assert answer.data["completed"] == 0
    assert answer.data["failed"]["index"] == 0
    assert stage.js("document.title") == "Page"


@pytest.mark.clock
def test_a_step_of_a_sequence_gets_only_the_remaining_time(stage: Stage) -> None:
    """A step after another one gets only the remaining time; the steps after it are not begun."""
    stage.show("<button id=b onclick='document.title += 1'>Go</button>")
    answer = stage.call(
        "execute_sequence", actions=[click("#b"), click("#none", timeout=60_000), click("#b")], timeout=600
    )
    assert answer.failed
    assert answer.data["completed"] == 1
    assert answer.data["failed"]["index"] == 1
    assert stage.js("document.title") == "Page1"


@pytest.mark.parametrize("count", [0, 101])
def test_a_sequence_has_one_to_a_hundred_actions(stage: Stage, count: int) -> None:
    """A sequence without actions or with 101 is an invalid_argument error."""
    refused(stage.call("execute_sequence", actions=[{"action": "get_text"}] * count), "invalid_argument")
    if count > 100:
        assert stage.ok("execute_sequence", actions=[{"action": "get_text"}] * 100)["completed"] == 100


def test_sequence_steps_accept_snake_case_aliases_and_string_values(stage: Stage) -> None:
    """Steps accept the same spellings of names and values as the tools."""
    stage.show("<input id=f><p id=p>some text</p>")
    answer = stage.ok(
        "execute_sequence",
        verbose="true",
        stability_ms="100",
        actions=[
            {"action": "set_value", "ref": "#f", "text": 5, "keystrokes": "true"},
            {"action": "expect", "target": "#p", "contains_text": "some", "timeout": "30000"},
        ],
    )
    assert answer["completed"] == 2
    assert stage.js("f.value") == "5"


def test_calls_wait_until_a_sequence_is_over(stage: Stage) -> None:  # W39 F12
    """A sequence holds its lane from the first step to the last, and a later call sees all of its changes."""
    gate = stage.site.gate("/held")
    stage.site.page("/held", "x")
    stage.show("<button id=b onclick='document.title = 1'>Go</button>")
    steps = [{"action": "execute_script", "script": "await fetch('/held')"}, click("#b")]
    running = stage.begin("execute_sequence", actions=steps)
    gate.wait_entered()
    later = stage.begin("execute_script", script="return document.title")
    gate.open()
    assert later.result(60).data["value"] == "1"
    assert running.result(60).data["completed"] == 2


def test_every_tool_that_acts_waits_or_sees_can_be_a_sequence_step(stage: Stage) -> None:
    """A sequence of thirteen different actions completes."""
    url = stage.page("<button id=b>Go</button><input id=f><div style='height:3000px'></div>")
    answer = stage.call(
        "execute_sequence",
        actions=[
            {"action": "navigate", "url": url},
            {"action": "get_visible_elements"},
            {"action": "get_text"},
            {"action": "take_screenshot"},
            {"action": "click_element", "selector": "#b"},
            {"action": "set_value", "selector": "#f", "value": "x"},
            {"action": "press_keys", "keys": "End"},
            {"action": "scroll", "direction": "down"},
            {"action": "execute_script", "script": "return 1"},
            {"action": "wait_for", "title": "Page"},
            {"action": "expect", "selector": "#f", "value": "x"},
            {"action": "set_policy", "dialogs": "raise"},
            {"action": "sync", "name": "alone"},
        ],
        verbose=True,
    )
    assert not answer.failed, answer.text
    assert answer.data["completed"] == 13


def test_a_step_after_a_dialog_that_stays_open_fails_with_dialog_open(stage: Stage) -> None:
    """A dialog that the manual policy leaves open fails the next step and is quoted in the error."""
    stage.show("<button id=b onclick='confirm(`Sure?`)'>Go</button>")
    stage.ok("set_policy", dialogs="manual")
    answer = stage.call("execute_sequence", actions=[click("#b"), click("#b")])
    assert "Sure?" in refused(answer, "dialog_open")
    assert answer.data["failed"]["index"] == 1
    stage.ok("handle_dialog", accept=True)
    stage.ok("set_policy", dialogs="raise")


def test_a_sequence_ends_as_session_lost_when_its_browser_dies(home: Home) -> None:
    """A browser that is killed during a sequence ends it at once."""
    with opened(home=str(home.folder)) as stage:
        stage.show("<p>here</p>")
        gate = stage.site.gate("/held")
        running = stage.begin(
            "execute_sequence",
            actions=[{"action": "get_text"}, {"action": "execute_script", "script": "await fetch('/held')"}],
        )
        gate.wait_entered()
        kill(home.process("browser", "chromium"))
        gate.open()
        refused(running.result(60), "session_lost")
        stage.ok("close_session", sessionId="browser")
