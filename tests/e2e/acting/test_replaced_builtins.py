"""Pages that replace functions of the language: they are seen and acted on, and left; no raw error of a driver."""

from __future__ import annotations

import pytest

from tests.e2e.stage import Stage, refused

pytestmark = pytest.mark.full

REPLACED = {
    "JSON.stringify": "JSON.stringify = () => '{}'",
    "toJSON": "Array.prototype.toJSON = Object.prototype.toJSON = function () { return 'none' }",
    "iterators": "Array.prototype[Symbol.iterator] = function* () {}",
    "Function.prototype.call": "Function.prototype.call = Function.prototype.apply = () => 0",
    "Array.prototype": "for (const name of ['map', 'push', 'slice', 'indexOf']) Array.prototype[name] = () => 0",
    "JSON.parse": "JSON.parse = () => ({})",
    "Promise": "Promise.prototype.then = () => 0",
    "Object": "Object.keys = Object.assign = Object.defineProperty = () => []",
}
PAGE = """<button id=b onclick="document.body.append(`Pressed ${event.detail} ${event.shiftKey}. `)">Go</button>
<input id=i aria-label=Name><select id=s aria-label=Size><option>S<option>M</select><p id=p>Text</p>
<iframe srcdoc="<button onclick='this.textContent = 1'>Inner</button>"></iframe>"""
ACTS = [
    {"action": "click_element", "selector": "#b"},
    {"action": "wait_for", "text": "Pressed 1 false."},
    {"action": "click_element", "selector": "#b", "count": 2, "modifiers": ["Shift"]},
    {"action": "wait_for", "text": "Pressed 2 true."},
    {"action": "set_value", "selector": "#i", "value": "Ann"},
    {"action": "press_keys", "selector": "#i", "text": "a"},
    {"action": "expect", "selector": "#i", "value": "Anna"},
    {"action": "select_option", "selector": "#s", "values": ["M"]},
    {"action": "expect", "selector": "#s", "value": "M"},
    {"action": "hover", "selector": "#p"},
    {"action": "tap_element", "selector": "#b"},
    {"action": "drag_and_drop", "source": "#p", "target": "#b"},
    {"action": "scroll", "direction": "down"},
    {"action": "get_text", "selector": "#p"},
    {"action": "get_visible_elements"},
    {"action": "tabs", "do": "list"},
    {"action": "take_screenshot"},
    {"action": "take_screenshot", "fullPage": True},
    {"action": "click_element", "selector": "text=Inner"},
    {"action": "navigate", "history": "reload"},
]


@pytest.mark.parametrize("name", REPLACED)
def test_a_page_that_replaced_built_ins_is_seen_acted_on_and_left(stage: Stage, name: str) -> None:
    """All steps are done as on any page, and their effects are there."""
    stage.show(f"{PAGE}<script>{REPLACED[name]}</script>")
    assert stage.ok("execute_sequence", actions=ACTS)["completed"] == len(ACTS)


def test_what_the_driver_cannot_do_in_such_a_page_is_told_in_words(stage: Stage) -> None:
    """The driver's own script fails: the error says why, and what works."""
    if stage.browser == "firefox":
        pytest.skip("Firefox's driver runs no script of its own in the page: nothing fails there.")
    stage.show(f"{PAGE}<script>{REPLACED['JSON.stringify']}</script>")
    text = refused(stage.call("cookies", action="get"), "remote_error")
    assert "which has replaced functions of the browser" in text
    assert "navigate leaves the page" in text
