"""execute_script: the caller's own JavaScript, its arguments, values and errors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.e2e.stage import Stage, opened, refused

pytestmark = pytest.mark.full


@pytest.fixture(autouse=True)
def _page(stage: Stage) -> None:
    stage.show("<button id=b>One</button><button id=c>Two</button><p id=p>text</p>")


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("return 1 + 1", 2),
        ("return 'ü'", "ü"),
        ("return [1, {a: null, b: undefined}]", [1, {"a": None, "b": None}]),
        ("return true", True),
        ("1", None),
        ("return NaN", None),
        ("return new Date(0)", "1970-01-01T00:00:00.000Z"),
        ("return new Map([['a', new Set([1])]])", {"a": [1]}),
        ("const a = []; a.push(a); return a", ["[circular]"]),
        ("return window", "[Window]"),
        ("return function f() {}", "[function f]"),
        ("return 10n ** 20n", "100000000000000000000"),
        ("return Object.keys(document.getElementById('b').getBoundingClientRect().toJSON()).length", 8),
        ("return await Promise.resolve('awaited')", "awaited"),
        ("return Promise.resolve('returned')", "returned"),
        ("await new Promise(go => setTimeout(go, 50)); return 'later'", "later"),
        ("// a last comment", None),
    ],
)
def test_script_return_values_come_back_as_json(stage: Stage, script: str, value: Any) -> None:
    """A script is a function body with `await`; any returned value becomes JSON, the same in text and data."""
    answer = stage.call("execute_script", script=script)
    assert answer.data["value"] == value
    [shown] = [line for line in answer.text.splitlines() if not line.startswith("Session: ")]
    assert json.loads(shown) == value


def test_script_arguments_of_any_json_type_are_passed_on(stage: Stage) -> None:
    """A script finds its args, of any JSON type, in arguments."""
    given = [1, "two", None, [3], {"four": {"five": 6}}, True]
    assert stage.ok("execute_script", script="return [...arguments]", args=given)["value"] == given


def test_elements_are_passed_to_a_script_by_ref_and_selector(stage: Stage) -> None:
    """Elements are passed alone or inside other arguments."""
    args = [{"ref": stage.ref("button")}, {"selector": "text=Two"}, {"list": [{"selector": "//p"}]}]
    script = "return [arguments[0].id, arguments[1].id, arguments[2].list[0].id]"
    assert stage.ok("execute_script", script=script, args=args)["value"] == ["b", "c", "p"]


@pytest.mark.core
def test_elements_returned_by_a_script_are_refs(stage: Stage) -> None:
    """A ref that a script returned can be used like any other, also as an argument."""
    value = stage.js("{found: document.querySelectorAll('button'), text: document.querySelector('p').firstChild}")
    assert value["text"] == "[Text]"
    first, second = value["found"]
    assert first == {"ref": stage.ref('button "One"')}
    assert stage.ok("get_text", selector=second["ref"])["text"] == "Two"
    assert stage.ok("execute_script", script="return arguments[0].id", args=[second])["value"] == "c"


def test_each_of_500_elements_returned_by_a_script_has_a_ref(stage: Stage) -> None:
    """A script that returns many elements is run once."""
    script = "window.ran = (window.ran ?? 0) + 1; return Array.from({length: 500}, () => document.createElement('i'))"
    refs = [item["ref"] for item in stage.ok("execute_script", script=script)["value"]]
    assert len(set(refs)) == 500
    assert stage.js("ran") == 1


@pytest.mark.parametrize(
    ("arg", "code", "expected"),
    [
        ({"selector": "#none"}, "element_not_found", "No element matches '#none'"),
        ({"selector": "text=a\\b"}, "element_not_found", "'text=a\\b'"),
        ({"ref": "e999999"}, "stale_ref", "Ref 'e999999' was never given in this session."),
        ({"selector": "##"}, "invalid_argument", "'##' is not a valid selector"),
        ({"selector": ""}, "invalid_argument", "The selector is empty."),
    ],
)
def test_a_script_argument_that_names_no_element_is_refused(
    stage: Stage, arg: dict[str, str], code: str, expected: str
) -> None:
    """The error has the same code and words as in other tools, and the script does not run."""
    answer = stage.call("execute_script", script="window.ran = 1", args=[arg])
    assert expected in refused(answer, code)
    assert stage.js("window.ran ?? 0") == 0


def test_a_script_argument_whose_element_is_gone_is_a_stale_ref(stage: Stage) -> None:
    """A ref of a removed element is refused and not passed on as null."""
    ref = stage.ref("button")
    stage.js("document.getElementById('b').remove()")
    answer = stage.call("execute_script", script="return arguments[0]", args=[{"ref": ref}])
    assert f"Ref '{ref}' no longer names an element of this page." in refused(answer, "stale_ref")


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("throw new TypeError('no good')", "no good"),
        ("throw 'a string'", "a string"),
        ("return nothingOfThisName", "nothingOfThisName is not defined"),
        ("await Promise.reject(new Error('later'))", "later"),
        ("return ]", "']'"),
        ("}); alert(1); (function () {", ""),
    ],
)
def test_an_exception_in_a_script_is_reported_without_a_stack_trace(stage: Stage, script: str, expected: str) -> None:
    """A thrown value or a syntax error is an invalid_argument error with its message."""
    text = refused(stage.call("execute_script", script=script), "invalid_argument")
    assert expected in text
    assert "threw" in text
    assert "Stacktrace" not in text
    assert "#0" not in text


def test_a_script_that_does_not_end_is_a_timeout(stage: Stage) -> None:
    """A script that waits for ever ends at its timeout, and the session can still be used."""
    answer = stage.call("execute_script", script="await new Promise(() => {})", timeout=200)
    assert "0.2 s" in refused(answer, "timeout")
    assert stage.js("1") == 1


def test_a_script_in_an_endless_loop_ends_at_the_command_deadline() -> None:
    """An endless loop costs its call, and if it still runs at the end of the next one its tab; the session goes on."""
    with opened(command_timeout="3s") as stage:
        stage.show("x")
        answer = stage.call("execute_script", script="for (;;);", timeout=60_000)
        assert "did not answer within 3 s: it is busy, and its tab stays as it is" in refused(answer, "timeout")
        answer = stage.call("get_text")
        assert "does not answer any more, and its tab was closed: tab t2 is current" in refused(answer, "timeout")
        assert stage.js("location.href") == "about:blank"


def test_the_next_call_is_on_the_new_page_after_a_script_navigates(stage: Stage) -> None:
    """The next call is on the new page."""
    there = stage.page("there", title="There")
    stage.call("execute_script", script=f"location.href = '{there}'; await new Promise(() => {{}})", timeout=30_000)
    assert stage.ok("wait_for", title="There")["url"] == there


def test_a_huge_script_value_is_cut_and_says_how_to_go_on(stage: Stage) -> None:
    """Text and data stay within the limit, and `next` names the next step."""
    answer = stage.call("execute_script", script="return 'x'.repeat(100000)")
    assert not answer.failed
    assert len(answer.text) <= 20_000
    assert len(answer.data_json) <= 20_000
    assert answer.data["value"].startswith('"xxx')
    assert "Return less" in answer.data["next"]
    assert answer.data["next"] in answer.text


def test_execute_script_shares_the_globals_of_the_page(stage: Stage) -> None:
    """The script runs in the page's global scope, so its globals persist there."""
    stage.ok("execute_script", script="window.kept = {a: 1}")
    assert stage.js("kept") == {"a": 1}


def test_tools_work_on_a_page_that_overrides_builtin_javascript_functions(stage: Stage) -> None:
    """Tools work beside old libraries with their own JSON, and in pages that wrap methods of elements."""
    stage.show(
        "<script>Array.prototype.toJSON = String.prototype.toJSON = () => 'theirs'; Array.from = () => [];"
        "Element.prototype.getBoundingClientRect = Document.prototype.querySelectorAll = () => { throw 1 };"
        "window.setTimeout = () => 0; window.requestAnimationFrame = () => 0</script><button id=b>Go</button>"
    )
    assert stage.outline() == [f'- button "Go" [{stage.ref("button")}]']
    assert "url" in stage.ok("click_element", selector="#b")
    assert stage.ok("execute_script", script="return arguments[0].id", args=[{"selector": "#b"}])["value"] == "b"
