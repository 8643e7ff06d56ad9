"""Strict sessions: a selector with several matches is an error that lists them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.harness import Home
from tests.e2e.stage import Stage, opened, refused
from tests.servers.site import Site

pytestmark = pytest.mark.full

PAGE = (
    "".join(f"<button onclick='did = {n}'>Save {n}</button>" for n in range(7))
    + "<input aria-label=A><input aria-label=B type=checkbox><select><option>x</select><select><option>y</select>"
    "<p>only</p><input type=file><input type=file><script>did = null</script>"
)


@pytest.fixture(scope="module")
def sessions() -> Iterator[Stage]:
    """A server with a strict session and another one."""
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
def test_a_strict_session_refuses_a_selector_that_matches_several_elements(
    strict: Stage, tool: str, arguments: dict[str, Any]
) -> None:
    """The error counts the matches and lists five at most, and nothing happens on the page."""
    text = refused(strict.call(tool, **arguments), "not_actionable")
    assert "elements match" in text
    assert "strict" in text
    assert 2 <= text.count("\n- ") <= 5
    assert strict.js("did") is None


def test_a_candidate_line_of_a_strict_error_works_as_a_selector(strict: Stage) -> None:
    """A candidate line has a ref, so it can be given as a selector and is never ambiguous."""
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
def test_a_strict_session_allows_single_matches_counts_and_checks_of_absence(
    strict: Stage, tool: str, arguments: dict[str, Any]
) -> None:
    """Selectors with one match, counts, and checks for absence are no error."""
    strict.ok(tool, **arguments)


def test_a_strict_session_waits_until_all_matches_are_gone(strict: Stage) -> None:
    """Waiting for state gone takes a selector of several elements, and ends when all are removed."""
    strict.js("setTimeout(() => document.querySelectorAll('button').forEach(each => each.remove()), 200)")
    strict.ok("wait_for", selector="button", state="gone")


def test_an_ambiguous_selector_stops_a_sequence_of_a_strict_session(strict: Stage) -> None:
    """A step with an ambiguous selector fails, and the steps after it are not run."""
    steps = [
        {"action": "click_element", "selector": "button"},
        {"action": "click_element", "selector": "text=Save 1"},
    ]
    answer = strict.call("execute_sequence", actions=steps)
    assert answer.failed
    assert answer.data["failed"]["error"]["code"] == "not_actionable"
    assert strict.js("did") is None


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same-origin", "cross-origin"])
def test_a_strict_session_refuses_several_matches_in_or_across_frames(strict: Stage, host: str) -> None:
    """Several matches are an error in one frame and in several frames of any origin."""
    inner = strict.page("<b>one</b><b>two</b><i>only</i>").replace("127.0.0.1", host)
    strict.show(f"<iframe src='{inner}'></iframe>")
    assert "2 elements match" in refused(strict.call("click_element", selector="b"), "not_actionable")
    assert "2 elements match" in refused(strict.call("click_element", selector="iframe >> b"), "not_actionable")
    strict.ok("click_element", selector="i")
    strict.show(f"<iframe src='{inner}'></iframe><iframe src='{inner}'></iframe>")
    assert "2 elements match" in refused(strict.call("click_element", selector="iframe >> i"), "not_actionable")
    assert "2 elements match" in refused(strict.call("click_element", selector="i"), "not_actionable")


def test_a_session_that_is_not_strict_acts_on_the_first_match(strict: Stage) -> None:
    """A session without the strict option acts on the first match and reports how many there were."""
    strict.show(PAGE, sessionId="lax")
    assert strict.ok("click_element", selector="button", sessionId="lax")["matches"] == 7


def test_another_server_applies_a_sessions_strict_option(home: Home, site: Site) -> None:
    """A second server that drives a strict session is strict as well, since the record has the option."""
    url = site.page("/", PAGE)
    with home.serve() as first, home.serve() as second:
        first.ok("start_browser", sessionId="one", options={"strict": True}, navigationUrl=url)
        assert home.record("one").strict
        refused(second.call("click_element", selector="button", sessionId="one"), "not_actionable")
        refused(first.call("start_browser", options={"strict": "perhaps"}), "invalid_argument")
        first.ok("close_session", sessionId="one")
