"""A press that says Done reached its element: covers that appear, elements that move, that are redrawn, in frames."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.stage import Stage, refused

pytestmark = pytest.mark.full

HEARD = """<script>
heard = [];
for (const type of ['mousedown', 'mouseup', 'click', 'touchstart', 'dragstart']) {
  document.addEventListener(type, ({ target }) => heard.push(`${type} ${target.id}`), true);
}
cover = (ms) => {
  const made = document.createElement('div');
  made.id = 'cover';
  made.role = 'dialog';
  made.ariaLabel = 'Offer';
  made.style = 'position: fixed; inset: 0; background: #fffc';
  document.body.append(made);
  if (ms) setTimeout(() => made.remove(), ms);
};
once = (act) => { let done = false; return () => { if (!done) { done = true; act(); } }; };
</script>"""
"""`heard` holds what the page got; `cover(ms)` covers the page for so many ms, or for ever."""
BUTTON = "<button id=b style='position: absolute; left: 300px; top: 200px; width: 90px; height: 40px'>Save</button>"
PRESSED = ["mousedown b", "mouseup b", "click b"]
COVERS = f"{HEARD}{BUTTON}<script>addEventListener('mousemove', once(() => cover(300)))</script>"


@pytest.mark.core
@pytest.mark.parametrize("way", ["call", "unobserved", "step"])
def test_a_press_that_a_cover_would_take_is_made_again_when_the_cover_is_gone(stage: Stage, way: str) -> None:
    """The cover comes with the mouse and gets nothing; the element gets one whole click."""
    stage.show(COVERS)
    if way == "step":
        stage.ok("execute_sequence", actions=[{"action": "click_element", "selector": "text=Save"}])
    else:
        stage.ok("click_element", selector="text=Save", **({"observe": "none"} if way == "unobserved" else {}))
    assert stage.js("heard") == PRESSED


def test_a_press_that_a_cover_takes_until_the_timeout_names_the_cover(stage: Stage) -> None:
    """`not_actionable` names it, and nothing was pressed."""
    stage.show(f"{HEARD}{BUTTON}<script>addEventListener('mousemove', once(() => cover()))</script>")
    text = refused(stage.call("click_element", selector="text=Save", timeout=400), "not_actionable")
    assert 'covered by dialog "Offer"' in text
    assert stage.js("heard") == []


def test_a_button_that_always_jumps_away_from_the_mouse_is_not_actionable(stage: Stage) -> None:
    """The error says that it moved away; what was behind it got no press."""
    stage.show(
        f"{HEARD}<div id=behind style='height: 600px'></div>{BUTTON}<script>let at = 300;"
        "b.onmousemove = () => { at = 700 - at; b.style.left = `${at}px` }</script>"
    )
    text = refused(stage.call("click_element", selector="text=Save", timeout=500), "not_actionable")
    assert "it moved away as the pointer came" in text
    assert stage.js("heard") == []


def test_a_button_that_jumps_once_gets_the_second_press(stage: Stage) -> None:
    """The place is measured again after a miss."""
    stage.show(f"{HEARD}{BUTTON}<script>b.onmousemove = once(() => {{ b.style.left = '500px' }})</script>")
    stage.ok("click_element", selector="text=Save")
    assert stage.js("heard") == PRESSED


@pytest.mark.parametrize(("gap", "timeout"), [(5, 700), (80, 20_000)], ids=["shown-40-of-45-ms", "shown-40-of-120-ms"])
def test_each_press_under_a_cover_that_comes_and_goes_lands_or_says_so(stage: Stage, gap: int, timeout: int) -> None:
    """What says Done has arrived, nothing else has, and the cover gets nothing; a gap of 5 ms may be met by none."""
    stage.show(f"{HEARD}{BUTTON}<script>setInterval(() => cover(40), {40 + gap})</script>")
    answers = [stage.call("click_element", selector="text=Save", observe="none", timeout=timeout) for _ in range(5)]
    assert {answer.code for answer in answers if answer.failed} <= {"not_actionable"}
    done = sum(not answer.failed for answer in answers)
    heard = stage.js("heard")
    assert (heard.count("mousedown b"), heard.count("mousedown cover")) == (done, 0)


def test_an_element_that_is_drawn_anew_under_the_mouse_is_pressed_by_its_ref(stage: Stage) -> None:
    """Frameworks replace a button when the mouse comes to it: the one that looks the same is meant."""
    stage.show(f"{HEARD}{BUTTON}<script>b.onmousemove = () => b.replaceWith(b.cloneNode(true))</script>")
    stage.ok("click_element", selector=stage.ref("button"))
    assert stage.js("heard") == PRESSED


def test_a_button_that_moves_while_it_is_pressed_gets_its_click(stage: Stage) -> None:
    """A field loses the focus and shows its error, which pushes the button from under the mouse: pressed again."""
    stage.show(
        f"{HEARD}<input id=f autofocus><p id=error></p><button id=b>Save</button><script>f.focus();"
        "f.onblur = () => { error.style = 'height: 80px' }</script>"
    )
    stage.ok("click_element", selector="text=Save")
    assert stage.js("heard").count("click b") == 1
    assert stage.js("heard").count("click") == 0


def test_a_menu_that_opens_under_the_mouse_while_it_is_down_is_opened_once(stage: Stage) -> None:
    """The release comes to the menu; the press has landed all the same."""
    stage.show(f"{HEARD}{BUTTON}<script>b.onmousedown = () => cover()</script>")
    stage.ok("click_element", selector="text=Save")
    assert stage.js("heard.filter(one => one.startsWith('mousedown'))") == ["mousedown b"]


def test_an_element_that_moves_all_the_time_is_pressed_on_its_way(stage: Stage) -> None:
    """A slow move needs no rest: the press says where it arrived."""
    stage.show(
        f"{HEARD}{BUTTON}<script>let x = 0; const step = () => {{ b.style.left = `${{x = (x + 1) % 300}}px`;"
        "requestAnimationFrame(step) }; step()</script>"
    )
    stage.ok("click_element", selector="text=Save", observe="none", timeout=20_000)
    assert stage.js("heard.includes('click b')")


def test_a_tap_that_a_cover_would_take_is_made_again(stage: Stage) -> None:
    """Touches are kept from covers as clicks are."""
    stage.show(f"{HEARD}{BUTTON}<script>setInterval(() => cover(80), 300)</script>")
    stage.ok("tap_element", selector="text=Save", timeout=20_000, observe="none")
    heard = stage.js("heard")
    assert "touchstart b" in heard
    assert not [one for one in heard if one.endswith("cover")]


def test_a_hover_that_a_cover_takes_is_made_again_when_it_is_gone(stage: Stage) -> None:
    """The element is under the mouse at the end."""
    stage.show(
        f"{HEARD}{BUTTON}<script>over = []; setInterval(() => cover(80), 300);"
        "b.onmouseenter = () => over.push('b')</script>"
    )
    stage.ok("hover", selector="text=Save", timeout=20_000)
    assert "b" in stage.js("over")


def test_a_card_that_the_hover_itself_opens_over_the_element_is_no_miss(stage: Stage) -> None:
    """What the mouse met first counts."""
    # A mouse that is there already opens the card before the hover.
    stage.show("<p style='position: absolute; left: 600px; top: 400px'>Away")
    stage.ok("hover", selector="text=Away")
    stage.show(f"{HEARD}{BUTTON}<script>b.onmouseenter = once(() => cover())</script>")
    stage.ok("hover", selector="text=Save", timeout=30_000)


def test_a_drag_that_a_cover_would_take_begins_again(stage: Stage) -> None:
    """Its source is pressed, and no cover."""
    stage.show(
        f"{HEARD}{BUTTON}<div id=t style='position: absolute; left: 500px; top: 300px; width: 90px;"
        "height: 60px'>Here</div><script>addEventListener('mousemove', once(() => cover(300)))</script>"
    )
    stage.ok("drag_and_drop", source="text=Save", target="text=Here")
    assert [one for one in stage.js("heard") if one.startswith("mouse")] == ["mousedown b", "mouseup t"]


def test_a_drop_that_a_cover_takes_is_warned_of(stage: Stage) -> None:
    """The drag was made: the warning names what lies over the target."""
    stage.show(
        f"{HEARD}{BUTTON}<div id=t style='position: absolute; left: 500px; top: 300px; width: 90px;"
        "height: 60px'>Here</div><script>b.onmousedown = once(() => cover())</script>"
    )
    [warning] = stage.ok("drag_and_drop", source="text=Save", target="text=Here")["warnings"]
    assert "The drop was taken by dialog" in warning
    assert "in front of the target" in warning


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same-origin", "cross-origin"])
def test_a_press_into_a_frame_is_kept_from_what_comes_over_the_frame(stage: Stage, host: str) -> None:
    """A cover of the page around the frame gets nothing; the button in the frame gets its click."""
    inner = stage.page(f"{HEARD}{BUTTON}<script>onclick = () => {{ b.ariaLabel = heard.join() }}</script>")
    around: dict[str, Any] = {"width": 600, "height": 400, "src": inner.replace("127.0.0.1", host)}
    frame = "<iframe {}></iframe>".format(" ".join(f"{name}='{value}'" for name, value in around.items()))
    stage.show(f"{HEARD}{frame}<script>document.querySelector('iframe').onmouseenter = once(() => cover(300))</script>")
    stage.ok("click_element", selector="text=Save")
    assert stage.js("heard") == []
    stage.ok("wait_for", selector="role=button[name='mousedown b,mouseup b,click b']")


@pytest.mark.parametrize("event", ["mousemove", "mousedown", "mouseup"])
def test_a_page_that_leaves_at_an_event_of_the_pointer_ends_the_click(stage: Stage, event: str) -> None:
    """The page after it is reported soon, although the one before answers no further event."""
    after = stage.page("<h1>After</h1>", title="After")
    stage.show(f"<button id=b>Go</button><script>b.addEventListener('{event}', () => location = '{after}')</script>")
    assert stage.ok("click_element", selector="#b", timeout=30_000)["title"] == "After"
