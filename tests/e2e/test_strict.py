"""Strict sessions: a selector that finds several elements is an error, with what it found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.harness import Home
from tests.e2e.stage import Stage, opened, refused
from tests.site import Site

PAGE = (
    "".join(f"<button onclick='did = {n}'>Save {n}</button>" for n in range(7))
    + "<input aria-label=A><input aria-label=B type=checkbox><select><option>x</select><select><option>y</select>"
    "<p>only</p><input type=file><input type=file><script>did = null</script>"
)


@pytest.fixture(scope="module")
def sessions() -> Iterator[Stage]:
    """A server with a session that is strict, and one that is not."""
    with opened("auto", "lax") as stage:
        stage.ok("start_browser", sessionId="strict", options={"strict": True})
        stage.ok("set_current_session", sessionId="strict")
        yield stage


@pytest.fixture
def strict(sessions: Stage) -> Stage:
    """The page, in the strict session, which is the current one."""
    sessions.show(PAGE)
    return sessions


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("click_element", {"selector": "button"}),
        ("click_element", {"selector": "text=Save"}),
        ("tap_element", {"selector": "button"}),
        ("hover", {"selector": "button"}),
        ("drag_and_drop", {"source": "button", "target": "p"}),
        ("drag_and_drop", {"source": "p", "target": "button"}),
        ("set_value", {"selector": "input", "value": "x"}),
        ("select_option", {"selector": "select", "values": ["x"]}),
        ("press_keys", {"selector": "input", "keys": "a"}),
        ("scroll", {"selector": "button"}),
        ("scroll", {"selector": "button", "direction": "down"}),
        ("get_text", {"selector": "button"}),
        ("get_visible_elements", {"root": "button"}),
        ("execute_script", {"script": "return 1", "args": [{"selector": "button"}]}),
        ("wait_for", {"selector": "button"}),
        ("wait_for", {"selector": "button", "text": "Save"}),
        ("expect", {"selector": "button", "enabled": True}),
        ("expect", {"selector": "button", "text": "x", "not": True}),
    ],
)
def test_several_elements_are_an_error(strict: Stage, tool: str, arguments: dict[str, Any]) -> None:
    """At once, with how many there are and the lines of five at most; nothing happens."""
    text = refused(strict.call(tool, **arguments), "not_actionable")
    assert "elements match" in text
    assert "strict" in text
    assert 2 <= text.count("\n- ") <= 5
    assert strict.js("did") is None


def test_the_candidates_are_lines_that_can_be_used(strict: Stage) -> None:
    """Their refs are never ambiguous."""
    error = strict.call("click_element", selector="button").data["error"]
    assert "7 elements match" in error["message"]
    candidates = strict.call("click_element", selector="button").text.splitlines()
    line = next(line for line in candidates if "Save 3" in line)
    strict.ok("click_element", selector=line)
    assert strict.js("did") == 3


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("click_element", {"selector": "text=Save 2"}),
        ("expect", {"selector": "button", "count": 7}),
        ("expect", {"selector": "b", "visible": False}),
        ("wait_for", {"selector": "b", "state": "gone"}),
        ("wait_for", {"selector": "b", "state": "hidden"}),
        ("get_text", {"selector": "p"}),
    ],
)
def test_one_element_or_a_count_is_none(strict: Stage, tool: str, arguments: dict[str, Any]) -> None:
    """What is about how many there are, or about none, may find several."""
    strict.ok(tool, **arguments)


def test_gone_is_waited_for_of_several(strict: Stage) -> None:
    """All of them."""
    strict.js("setTimeout(() => document.querySelectorAll('button').forEach(each => each.remove()), 200)")
    strict.ok("wait_for", selector="button", state="gone")


def test_in_sequences(strict: Stage) -> None:
    """The step fails, and the rest is not run."""
    steps = [
        {"action": "click_element", "selector": "button"},
        {"action": "click_element", "selector": "text=Save 1"},
    ]
    answer = strict.call("execute_sequence", actions=steps)
    assert answer.failed
    assert answer.data["failed"]["error"]["code"] == "not_actionable"
    assert strict.js("did") is None


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same-origin", "cross-origin"])
def test_in_frames(strict: Stage, host: str) -> None:
    """Several in a frame, and several frames."""
    inner = strict.page("<b>one</b><b>two</b><i>only</i>").replace("127.0.0.1", host)
    strict.show(f"<iframe src='{inner}'></iframe>")
    assert "2 elements match" in refused(strict.call("click_element", selector="b"), "not_actionable")
    assert "2 elements match" in refused(strict.call("click_element", selector="iframe >> b"), "not_actionable")
    strict.ok("click_element", selector="i")
    strict.show(f"<iframe src='{inner}'></iframe><iframe src='{inner}'></iframe>")
    assert "2 elements match" in refused(strict.call("click_element", selector="iframe >> i"), "not_actionable")
    assert "2 elements match" in refused(strict.call("click_element", selector="i"), "not_actionable")


def test_other_sessions_take_the_first(strict: Stage) -> None:
    """And say how many there were."""
    strict.show(PAGE, sessionId="lax")
    assert strict.ok("click_element", selector="button", sessionId="lax")["matches"] == 7


def test_it_stands_in_the_record(home: Home, site: Site) -> None:
    """Another server that drives the session is as strict."""
    url = site.page("/", PAGE)
    with home.serve() as first, home.serve() as second:
        first.ok("start_browser", sessionId="one", options={"strict": True}, navigationUrl=url)
        assert home.record("one").strict
        refused(second.call("click_element", selector="button", sessionId="one"), "not_actionable")
        refused(first.call("start_browser", options={"strict": "perhaps"}), "invalid_argument")
        first.ok("close_session", sessionId="one")
