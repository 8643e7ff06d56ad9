"""tap_element and hover: real touch input and mouse moves."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.stage import Stage, refused
from tests.servers.site import Reply

pytestmark = pytest.mark.full

TOUCHED = """<script>heard = []; for (const name of ['pointerdown', 'pointerup', 'touchstart', 'touchend', 'click',
  'dblclick', 'contextmenu']) addEventListener(name, event => heard.push({ type: event.type, trusted: event.isTrusted,
  by: event.pointerType, id: event.target.id, at: event.timeStamp, x: event.clientX, y: event.clientY }), true);
</script>"""
BUTTON = f"<button id=b style='width: 200px; height: 100px'>Go</button>{TOUCHED}"


def types(heard: list[dict[str, Any]]) -> list[str]:
    """The kinds of events, in order."""
    return [event["type"] for event in heard]


@pytest.mark.core
def test_a_tap_fires_trusted_touch_and_click_events(stage: Stage) -> None:
    """A tap fires trusted touch events, pointer events of type touch, and a resulting click."""
    stage.show(BUTTON)
    answer = stage.ok("tap_element", selector="text=Go")
    assert answer["stable"] is True
    heard = stage.heard()
    assert types(heard) == ["pointerdown", "touchstart", "pointerup", "touchend", "click"]
    assert all(event["trusted"] and event["id"] == "b" for event in heard)
    assert {event["by"] for event in heard if event["by"]} == {"touch"}


def test_a_tap_at_coordinates_hits_that_point_of_the_viewport(stage: Stage) -> None:
    """Coordinates of a tap are CSS pixels of the viewport."""
    stage.show(f"<body style='margin: 0'>{BUTTON}")
    stage.ok("tap_element", x=120, y=70)
    [click] = stage.heard("click")
    assert (click["id"], round(click["x"]), round(click["y"])) == ("b", 120, 70)


def test_a_tap_with_count_two_is_a_double_click(stage: Stage) -> None:
    """Two touches of one tap_element call count as a double click."""
    stage.show(BUTTON)
    stage.ok("tap_element", selector="#b", count=2)
    assert types(stage.heard()).count("touchend") == 2
    if stage.browser == "firefox":
        pytest.skip("Firefox makes no double click of two taps.")
    assert len(stage.heard("dblclick")) == 1


def _press_for_700_ms(stage: Stage) -> float:
    """Press the button for 700 ms; return for how many it was down."""
    stage.show(BUTTON)
    stage.ok("tap_element", selector="#b", holdMs=700)
    [down], [up] = stage.heard("touchstart"), stage.heard("touchend")
    return float(up["at"] - down["at"])


def test_a_long_press_lasts_as_long_as_hold_ms(stage: Stage) -> None:
    """The finger stays down for holdMs milliseconds."""
    assert _press_for_700_ms(stage) >= 690


@pytest.mark.clock
def test_a_long_press_lasts_hardly_longer_than_hold_ms(stage: Stage) -> None:
    """Lifts the finger when the time is over."""
    assert _press_for_700_ms(stage) < 5000


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, "Give either selector, or x and y."),
        ({"selector": "#b", "x": 1, "y": 1}, "Give either selector, or x and y."),
        ({"x": 1}, "x and y belong together."),
        ({"selector": "#b", "y": 1}, "x and y belong together."),
        ({"x": -1, "y": 1}, "'x' must be greater than or equal to 0"),
        ({"x": 1, "y": 99_999}, "x 1, y 99999 is outside the viewport."),
        ({"selector": "#b", "count": 0}, "'count'"),
        ({"selector": "#b", "holdMs": 60_000}, "'holdMs'"),
    ],
)
def test_invalid_arguments_of_tap_element_are_refused(
    stage: Stage, arguments: dict[str, object], expected: str
) -> None:
    """A tap takes either an element or a visible point; anything else is refused without a touch."""
    stage.show(BUTTON)
    assert expected in refused(stage.call("tap_element", **arguments), "invalid_argument")
    assert stage.heard() == []


@pytest.mark.parametrize("tool", ["tap_element", "hover"])
def test_tapping_or_hovering_a_covered_element_is_refused(stage: Stage, tool: str) -> None:
    """A covered element is refused as not_actionable, and a missing one as element_not_found."""
    stage.show(f"{BUTTON}<div style='position: fixed; inset: 0'>veil</div>")
    assert "covered by" in refused(stage.call(tool, selector="#b", timeout=200), "not_actionable")
    assert "No element matches" in refused(stage.call(tool, selector="#none", timeout=50), "element_not_found")


MENU = """<style>ul { display: none } nav:hover ul { display: block }</style>
<nav id=n style='width: 200px'>Menu<ul><li>Open</ul></nav><script>over = [];
addEventListener('mouseover', event => over.push(event.isTrusted), true)</script>"""


@pytest.mark.core
def test_hover_opens_a_hover_menu_and_reports_what_appeared(stage: Stage) -> None:
    """Hovering is done by a real mouse that stays there, and reports what appeared."""
    stage.show(MENU)
    change = stage.ok("hover", selector="#n")["stateChange"]
    assert "Open" in "".join(change["appeared"])
    assert stage.js("over.length > 0 && over.every(trusted => trusted)")
    stage.ok("click_element", selector="text=Open")


LATE = """<button id=b>Help</button><input id=n aria-label=Name><script>
const open = (role, text) => setTimeout(() => {
  const tip = document.createElement('div'); tip.setAttribute('role', role); tip.textContent = text;
  document.body.append(tip);
}, WAIT);
b.onmouseenter = () => open('menu', 'Opened'); n.onfocus = () => open('tooltip', 'Your full name');
setInterval(() => { clock.textContent = Number(clock.textContent) + 1 }, 200)</script><p id=clock>0</p>"""


@pytest.mark.clock
def test_hover_waits_for_a_menu_that_opens_late(stage: Stage) -> None:
    """A menu that opens 500 ms after the pointer came is in the result, though a clock changed before."""
    stage.show(LATE.replace("WAIT", "500"))
    change = stage.ok("hover", selector="#b")["stateChange"]
    assert any("menu" in line for line in change["appeared"])


@pytest.mark.clock
def test_a_hover_as_the_last_step_is_waited_for_too(stage: Stage) -> None:
    """What an earlier step changed does not count as the menu that a hover opens late."""
    stage.show(LATE.replace("WAIT", "500"))
    steps = [
        {"action": "execute_script", "script": "document.body.append('early')"},
        {"action": "hover", "selector": "#b"},
    ]
    appeared = stage.ok("execute_sequence", actions=steps)["stateChange"]["appeared"]
    assert "text: early" in appeared
    assert any("menu" in line for line in appeared)


@pytest.mark.clock
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("press_keys", {"keys": "Tab Tab"}),
        ("click_element", {"selector": "#n"}),
        ("set_value", {"selector": "#n", "value": "Ann", "observe": "change"}),
        ("execute_sequence", {"actions": [{"action": "press_keys", "keys": "Tab Tab"}]}),
    ],
    ids=["keys", "click", "value", "last-step"],
)
def test_the_focus_waits_for_a_tooltip_that_opens_late(stage: Stage, tool: str, arguments: dict[str, Any]) -> None:
    """A tooltip that opens 400 ms after the focus came to its field is in the result."""
    stage.show(LATE.replace("WAIT", "400"))
    change = stage.ok(tool, **arguments)["stateChange"]
    assert any("Your full name" in line for line in change["appeared"])


@pytest.mark.clock
def test_a_menu_that_opens_late_is_waited_for_without_scripting(stage: Stage) -> None:
    """In a document in which no timer fires, only its style opens a menu late."""
    style = (
        "<style>ul { visibility: hidden; transition: visibility 0s .5s } nav:hover ul { visibility: visible }</style>"
    )
    menu = f"{style}<nav id=n style='width: 200px'>Menu<ul><li>Open</ul></nav>"
    headers = {"Content-Security-Policy": "sandbox"}
    stage.ok("navigate", url=stage.site.page("/late-menu", Reply(f"<!doctype html>{menu}", headers=headers)))
    change = stage.ok("hover", selector="#n")["stateChange"]
    assert any("Open" in line for line in change["appeared"])


@pytest.mark.clock
def test_a_page_in_which_nothing_opens_has_settled(stage: Stage) -> None:
    """Waiting for what may open ends before the limit of a sequence, however short that is."""
    stage.show("<button id=b>Go</button>")
    hover = {"action": "hover", "selector": "#b"}
    answer = stage.ok("execute_sequence", actions=[hover], stabilityTimeoutMs=500)
    assert answer["stable"] is True
    assert answer["stateChange"] is None


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same-origin", "cross-origin"])
def test_tap_and_hover_reach_into_frames_of_any_origin(stage: Stage, host: str) -> None:
    """Touch and mouse reach into frames of any origin."""
    told = "<p id=out></p><script>const say = event => { out.textContent += `${event.type} ${event.isTrusted} ` }"
    script = f"{told}; b.addEventListener('touchend', say); b.onclick = say; h.onmouseenter = say</script>"
    page = f"<button id=b>Go</button><p id=h>Hover</p>{script}"
    inner = stage.page(page).replace("127.0.0.1", host)
    stage.show(f"<div style='height: 900px'></div><iframe src='{inner}'></iframe>")
    stage.ok("tap_element", selector="#b")
    stage.ok("hover", selector="#h")
    stage.ok("wait_for", selector="#out", text="touchend true click true mouseenter true")


def test_tap_and_hover_steps_reach_into_shadow_roots(stage: Stage) -> None:
    """Steps of a sequence hover by selector and tap by ref in a shadow root."""
    stage.show(
        "<x-a></x-a><script>did = []; root = document.querySelector('x-a').attachShadow({mode: 'open'});"
        "root.innerHTML = '<button>Go</button>'; const b = root.firstChild;"
        "for (const n of ['mouseenter', 'touchend', 'click']) b.addEventListener(n, e => did.push(e.type))</script>"
    )
    steps = [
        {"action": "hover", "selector": "text=Go"},
        {"action": "tap_element", "selector": stage.ref("button")},
    ]
    assert stage.ok("execute_sequence", actions=steps)["completed"] == 2
    assert [one for one in stage.js("did") if one != "mouseenter"] == ["touchend", "click"]
    assert "mouseenter" in stage.js("did")
