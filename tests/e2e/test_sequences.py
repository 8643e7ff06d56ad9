"""execute_sequence: steps in one turn, what they changed, and when the page has settled."""

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


@pytest.mark.core
def test_a_form_in_one_call(stage: Stage) -> None:  # W39 W56
    """Every step runs, and the result says what they changed together."""
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
    for said in ("Completed 3 steps.", "thanks Ann", "'Page' -> 'Sent'"):
        assert said in answer.text


def test_nothing_runs_when_a_step_is_wrong(stage: Stage) -> None:
    """The whole list is checked before the first one: an unknown action, bad parameters, a bad key, a sessionId."""
    stage.show("<button id=b onclick='clicked = true'>Go</button><script>clicked = false</script>")
    wrong: dict[str, dict[str, Any]] = {
        "'clack' is not an action": {"action": "clack"},
        "Argument 'selector' is missing": {"action": "click_element"},
        "Unknown argument 'colour'": click("#b", colour="red"),
        "'Entre' is not a key": {"action": "press_keys", "keys": "Entre"},
        "'count'": click("#b", count="many"),
        "a step has no sessionId": click("#b", sessionId="other"),
        "give either url or history": {"action": "navigate"},
        "sync takes a name": {"action": "sync"},
        "None is not an action": {"selector": "#b"},
        "Argument 'optional' must be true or false": click("#b", optional="perhaps"),
    }
    for said, step in wrong.items():
        text = refused(stage.call("execute_sequence", actions=[click("#b"), step]), "invalid_argument")
        assert "Step 1: " in text
        assert said.casefold() in text.casefold()
        assert "Nothing was run." in text
    assert stage.js("clicked") is False


def test_an_unknown_action_is_told_the_nearest(stage: Stage) -> None:
    """A slip of the pen."""
    answer = stage.call("execute_sequence", actions=[{"action": "click_elment", "selector": "#b"}])
    assert "Did you mean 'click_element'?" in refused(answer, "invalid_argument")


@pytest.mark.core
def test_it_stops_at_the_first_failure(stage: Stage) -> None:
    """`isError`, the same data, `failed` with index, verb and error, and what the steps before it changed."""
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


def test_an_optional_step_may_fail(stage: Stage) -> None:
    """The others run; a warning tells what happened to it; it does not count as completed."""
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
def test_what_a_field_made_of_its_value_is_a_warning(stage: Stage, then: dict[str, Any] | None) -> None:
    """Of the step that set it, as the field was then, whatever the next step does to the page."""
    stage.show("<input id=n oninput='value = value.toUpperCase()'><input id=other>")
    step = {"action": "set_value", "selector": "#n", "value": "ann"}
    found = stage.ok("execute_sequence", actions=[step, *([then] if then else [])])
    assert found["warnings"][0] == "Step 0 (set_value): The page changed what was set: the field now holds 'ANN'."
    assert len(found["warnings"]) == (2 if then and then.get("optional") else 1)


def test_nothing_changed_is_null(stage: Stage) -> None:
    """`stateChange` is there, and null."""
    stage.show("<p>still</p>")
    answer = stage.call("execute_sequence", actions=[{"action": "get_text"}])
    assert answer.data["stateChange"] is None
    assert "Nothing visible changed." in answer.text


def test_changes_by_kind(stage: Stage) -> None:
    """Address, title, what appeared, what went, what is different; lines with refs that can be used."""
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


def test_more_changes_than_anybody_reads_are_counted(stage: Stage) -> None:
    """Forty lines at most; `more` says how many there are besides."""
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
def test_after_a_navigation_the_new_page_is_told(stage: Stage) -> None:
    """Headings and text included, with refs of the new page; the steps after it run there."""
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


def test_verbose_reports_each_step(stage: Stage) -> None:
    """With its result and how long it took; failed optional ones, too."""
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
    assert steps[3]["result"]["text"] == "Name"
    assert all(isinstance(step["durationMs"], int) for step in steps)
    assert "1. execute_script" in answer.text
    assert "42" in answer.text


def test_the_whole_has_a_timeout(stage: Stage) -> None:
    """A step gets no more time than is left; the steps after it are not begun."""
    stage.show("<button id=b onclick='document.title += 1'>Go</button>")
    answer = stage.call(
        "execute_sequence", actions=[click("#b"), click("#none", timeout=60_000), click("#b")], timeout=600
    )
    assert answer.failed
    assert answer.data["completed"] == 1
    assert answer.data["failed"]["index"] == 1
    assert stage.js("document.title") == "Page1"


@pytest.mark.parametrize("count", [0, 101])
def test_a_list_has_one_to_a_hundred_actions(stage: Stage, count: int) -> None:
    """An empty or endless list is a mistake."""
    refused(stage.call("execute_sequence", actions=[{"action": "get_text"}] * count), "invalid_argument")
    if count > 100:
        assert stage.ok("execute_sequence", actions=[{"action": "get_text"}] * 100)["completed"] == 100


def test_steps_take_snake_case_and_strings(stage: Stage) -> None:
    """As forgiving as the tools."""
    stage.show("<input id=f><p id=p>some text</p>")
    answer = stage.ok(
        "execute_sequence",
        verbose="true",
        stability_ms="100",
        actions=[
            {"action": "set_value", "ref": "#f", "text": 5, "keystrokes": "true"},
            {"action": "expect", "target": "#p", "contains_text": "some", "timeout": "500"},
        ],
    )
    assert answer["completed"] == 2
    assert stage.js("f.value") == "5"


def test_calls_wait_until_a_sequence_is_over(stage: Stage) -> None:  # W39 F12
    """It holds its lane from the first step to the last: what came later sees all of it."""
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


def test_every_tool_that_acts_waits_or_sees_can_be_a_step(stage: Stage) -> None:
    """The whole catalogue in one list."""
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


def test_a_dialog_that_stays_open(stage: Stage) -> None:
    """The step after it fails with `dialog_open`; the result says that the page is blocked."""
    stage.show("<button id=b onclick='confirm(`Sure?`)'>Go</button>")
    stage.ok("set_policy", dialogs="manual")
    answer = stage.call("execute_sequence", actions=[click("#b"), click("#b")])
    assert "Sure?" in refused(answer, "dialog_open")
    assert answer.data["failed"]["index"] == 1
    stage.ok("handle_dialog", accept=True)
    stage.ok("set_policy", dialogs="raise")


def test_a_session_that_dies_in_the_middle(home: Home) -> None:
    """It ends at once, as `session_lost`."""
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
