"""Refusals that waiting does not change: what they say, and what is waited for all the same."""

from __future__ import annotations

from html import escape
from typing import Any

import pytest

from tests.e2e.stage import Stage, refused

pytestmark = pytest.mark.full

SIZES = "<select id=f aria-label=Size><option>S<option>M<option>L</select>"
MANY = f"<select id=f aria-label=Year>{''.join(f'<option>{year}' for year in range(1900, 2000))}</select>"
TOGGLE = "<button id=b disabled onclick='this.textContent = \"Sent\"'>Send</button>"
REFUSALS: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "option": (SIZES, "set_value", {"selector": "#f", "value": "XL"}, 'has no option "XL". Available: "S", "M", "L".'),
    "many": (MANY, "select_option", {"selector": "#f", "values": ["2031"]}, '"1919", … 80 more.'),
    "no options": ("<select id=f></select>", "set_value", {"selector": "#f", "value": "a"}, "Available: none."),
    "file": ("<div id=f>Drop</div>", "upload_files", {"selector": "#f", "files": [{"name": "a.txt", "data": "YQ=="}]},
             "is not a file input"),
    "frame": ("<p id=f>No frame</p>", "switch_frame", {"selector": "#f"}, "is not a frame"),
    "select": ("<h2 id=f>Size</h2>", "select_option", {"selector": "#f", "values": ["M"]}, "is not a select"),
    "button": (TOGGLE, "click_element", {"selector": "#b"}, 'button "Send" [e'),
    "read-only": ("<input id=f readonly>", "set_value", {"selector": "#f", "value": "x"}, "is read-only"),
}  # fmt: skip
USUAL_WAIT = 5000


def waited(stage: Stage, tool: str, arguments: dict[str, Any]) -> tuple[str, float]:
    """Return the text of a refusal and, on the page's clock, the ms that it took."""
    began = stage.js("performance.now()")
    text = refused(stage.call(tool, **arguments), "not_actionable")
    return text, stage.js("performance.now()") - began


@pytest.mark.required
def test_an_option_that_is_not_there_is_refused_with_those_that_are(stage: Stage) -> None:
    """The error lists what is available, and nothing is chosen."""
    stage.show(SIZES)
    text = refused(stage.call("set_value", selector="#f", value="XL"), "not_actionable")
    assert 'has no option "XL". Available: "S", "M", "L".' in text
    assert stage.js("f.value") == "S"


@pytest.mark.parametrize(("html", "tool", "arguments", "said"), REFUSALS.values(), ids=REFUSALS.keys())
@pytest.mark.parametrize("place", ["page", "frame"])
def test_a_refusal_that_nothing_changes_is_not_waited_for(
    stage: Stage, html: str, tool: str, arguments: dict[str, Any], said: str, place: str
) -> None:
    """In a page that waits for nothing it comes after a second look, long before the usual time is up."""
    if place == "frame":
        stage.show(f'<iframe id=frame srcdoc="{escape(html)}"></iframe>')
        arguments = {**arguments, "selector": f"#frame >> {arguments['selector']}"}
    else:
        stage.show(html)
    text, took = waited(stage, tool, arguments)
    assert said in text
    assert took < USUAL_WAIT


@pytest.mark.parametrize(
    ("html", "tool", "arguments"),
    [(html, tool, arguments) for html, tool, arguments, _ in (REFUSALS["option"], REFUSALS["button"])],
    ids=["option", "button"],
)
def test_a_caller_who_gives_more_time_gets_it(stage: Stage, html: str, tool: str, arguments: dict[str, Any]) -> None:
    """A timeout longer than the usual one is a wish to wait."""
    stage.show(html)
    _, took = waited(stage, tool, {**arguments, "timeout": USUAL_WAIT + 500})
    assert took >= USUAL_WAIT


ENABLE = "document.getElementById('b').disabled = false"
WORKER = (
    "const source = 'onmessage = () => setTimeout(() => postMessage(1), 700)';"
    "const worker = new Worker(URL.createObjectURL(new Blob([source])));"
)
VALIDATIONS = {
    "at once": f"n.oninput = () => {ENABLE}",
    "debounced": f"n.oninput = () => {{ clearTimeout(window.t); t = setTimeout(() => {ENABLE}, 1000) }}",
    "late": f"n.oninput = () => setTimeout(() => {ENABLE}, 3000)",
    "fetched": f"n.oninput = () => fetch('/taken').finally(() => setTimeout(() => {ENABLE}, 400))",
    "chained": f"n.oninput = () => setTimeout(() => setTimeout(() => {ENABLE}, 900), 900)",
    "counted": f"let left = 3; const i = setInterval(() => {{ if (!--left) {{ clearInterval(i); {ENABLE} }} }}, 700)",
    "by a worker": f"{WORKER} worker.onmessage = () => {ENABLE}; n.oninput = () => worker.postMessage(1)",
}


@pytest.mark.parametrize("validation", VALIDATIONS.values(), ids=VALIDATIONS.keys())
@pytest.mark.parametrize("steps", ["calls", "sequence"])
def test_a_button_that_the_page_is_about_to_enable_is_waited_for(stage: Stage, validation: str, steps: str) -> None:
    """A timer, a request or the act just before may enable it: then the usual time holds."""
    stage.show(f"<input id=n aria-label=Name>{TOGGLE}<script>{validation}</script>")
    if steps == "calls":
        stage.ok("set_value", selector="#n", value="Ann")
        stage.ok("click_element", selector="#b")
    else:
        fill = {"action": "set_value", "selector": "#n", "value": "Ann"}
        stage.ok("execute_sequence", actions=[fill, {"action": "click_element", "selector": "#b"}])
    assert stage.js("b.textContent") == "Sent"


CITIES = "<select id=city aria-label=City><option>Choose</select>"
FILLS = {
    "request": "fetch('/cities').finally(() => setTimeout(add, 300))",
    "timer": "setTimeout(add, 1500)",
    "busy": "city.ariaBusy = 'true'; const at = performance.now(); const look = () => performance.now() - at > 1500 ? "
    "(city.ariaBusy = null, add()) : requestAnimationFrame(look); look()",
}


@pytest.mark.parametrize("fill", FILLS.values(), ids=FILLS.keys())
def test_an_option_that_a_choice_before_brings_is_waited_for(stage: Stage, fill: str) -> None:
    """A select that is filled by a request, by a timer or while it is busy gets its time."""
    country = "<select id=country aria-label=Country><option>France<option>Peru</select>"
    adds = "add = () => city.add(new Option('Lima'));"
    stage.show(f"{country}{CITIES}<script>{adds} country.onchange = () => {{ {fill} }}</script>")
    stage.ok("set_value", selector="#country", value="Peru")
    stage.ok("set_value", selector="#city", value="Lima")
    assert stage.js("city.value") == "Lima"
