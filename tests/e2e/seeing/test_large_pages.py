"""Pages and values of megabytes: what is too large is cut in the page or refused, and the tab stays where it is."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.stage import Stage, refused
from tests.waiting import until

pytestmark = pytest.mark.full

LARGE = {
    "one text": "document.body.append('word word word. '.repeat(700_000))",
    "many rows": (
        "for (let i = 0; i < 10_000; i++) { const d = document.createElement('div');"
        "d.textContent = `row ${i}` + ' word'.repeat(400); document.body.append(d) }"
    ),
}


@pytest.fixture(scope="module", params=LARGE)
def large(request: pytest.FixtureRequest, stage: Stage) -> str:
    """A page with 10 or 20 MB of text; its address."""
    return stage.show(f"<h1>Large</h1><button>Go on</button><script>{LARGE[request.param]}</script>")


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("get_visible_elements", {}),
    ("get_visible_elements", {"query": "Go on"}),
    ("get_text", {}),
    ("get_page_source", {}),
    ("wait_for", {"text": "Large"}),
    ("click_element", {"selector": "text=Go on"}),
    ("execute_script", {"script": "return document.body.textContent"}),
]


def test_a_page_of_megabytes_of_text_can_be_read_and_used(stage: Stage, large: str) -> None:
    """Each call answers with a part of the page at most, in the same tab."""
    for tool, arguments in CALLS:
        answer = stage.call(tool, **arguments)
        assert not answer.failed, answer.text
        assert len(answer.text) <= 20_000
    assert "Cut: more than" in stage.ok("get_text")["next"]
    (tab,) = stage.ok("tabs", action="list")["tabs"]
    assert tab["url"] == large


def test_a_million_lines_of_the_console_do_not_hold_up_the_session(stage: Stage) -> None:
    """The lines beyond those that a driver can report are left out, which the console says; places remain true."""
    url = stage.show("<button onclick=\"for (let i = 0; i < 1e6; i++) console.log('line', i)\">Write</button>")
    stage.ok("click_element", selector="button")

    def left_out() -> list[dict[str, Any]]:
        return [one for one in stage.ok("get_console", level="warn")["entries"] if "lines left out" in one["text"]]

    assert "the page wrote more than 500 lines a second" in until(left_out, "the number of lines left out")[-1]["text"]
    stage.js("console.log('afterwards')")
    last = stage.ok("get_console", limit=1)["entries"][-1]
    assert last["text"] == "afterwards"
    assert stage.ok("get_visible_elements")["url"] == url


def test_console_methods_that_a_page_replaces_are_its_own(stage: Stage) -> None:
    """A page that wraps console.log, as monitoring scripts do, gets its calls and the browser's method."""
    stage.show(
        "<script>said = []; const before = console.log; console.log = (...a) => { said.push(a); before(...a) }</script>"
    )
    stage.js("console.log('hello')")
    assert stage.js("said") == [["hello"]]
    assert stage.ok("get_console", limit=1)["entries"][-1]["text"] == "hello"


@pytest.mark.parametrize(
    "script",
    [
        "return 'x'.repeat(20_000_000)",
        "return Array.from({length: 500_000}, (_, i) => ({number: i}))",
        "return new Map(Array.from({length: 200_000}, (_, i) => [`key ${i}`, 'v'.repeat(50)]))",
    ],
)
def test_a_value_of_20_mb_is_cut_in_the_page(stage: Stage, script: str) -> None:
    """The beginning of the value is the result, which says how to get the rest."""
    answer = stage.call("execute_script", script=script)
    assert not answer.failed
    assert "Cut: more than" in answer.data["next"]
    assert "Return less" in answer.text


def test_a_message_of_20_mb_is_cut(stage: Stage) -> None:
    """A script that throws it gets its beginning."""
    text = refused(stage.call("execute_script", script="throw new Error('x'.repeat(20_000_000))"), "invalid_argument")
    assert "The script threw: Error: xxxx" in text or "The script threw: xxxx" in text
    assert len(text) < 3000


def test_a_script_of_actions_is_told_that_a_value_is_too_large(stage: Stage) -> None:
    """A script that calls actions gets whole values, or an error that says how to get them in parts."""
    script = "return (await page.executeScript({script: \"return 'x'.repeat(2_000_000)\"})).length"
    text = refused(stage.call("run_script", script=script), "invalid_argument")
    assert "more than 1,000,000 characters of JSON. Return it in parts" in text


def test_a_value_that_no_field_can_take_in_time_is_refused(stage: Stage) -> None:
    """Nothing is typed, and the error says how much can be set and what to do instead."""
    stage.show("<label>Note <textarea></textarea></label>")
    for value, number in (("x" * 20_000_000, "20,000,000 characters in 1 lines"), ("x\n" * 30_000, "30,001 lines")):
        text = refused(stage.call("set_value", selector="label=Note", value=value), "invalid_argument")
        assert number in text
        assert "1,000,000 in 20,000 lines at most. Put it into the page as a file by upload_files" in text
    assert stage.js("document.querySelector('textarea').value") == ""


def test_a_text_of_many_lines_is_set_at_once(stage: Stage) -> None:
    """A text area takes thousands of lines within seconds, and the page hears a trusted event with the whole value."""
    stage.show(
        "<textarea>before</textarea><script>heard = []; document.querySelector('textarea').oninput = event => "
        "heard.push([event.isTrusted, event.target.value.length])</script>"
    )
    value = "some words\n" * 5000 + "end"
    assert stage.ok("set_value", selector="textarea", value=value).get("warnings") is None
    assert stage.js("heard.at(-1)") == [True, len(value)]


def test_more_lines_than_an_editor_takes_in_time_are_refused(stage: Stage) -> None:
    """A browser needs more time for each line that it types than for the one before."""
    stage.show("<div contenteditable role=textbox aria-label=Note>before</div>")
    for call in (
        {"tool": "set_value", "value": "x\n" * 3000},
        {"tool": "press_keys", "text": "x\n" * 3000},
    ):
        text = refused(stage.call(call.pop("tool"), selector="label=Note", **call), "invalid_argument")
        assert "6,000 characters in 3,001 lines" in text
        assert "the other parts by press_keys with text" in text
    assert stage.js("document.querySelector('div').textContent") == "before"
