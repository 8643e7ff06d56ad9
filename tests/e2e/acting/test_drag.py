"""drag_and_drop: by pointer moves, and by the browser's native drag and drop."""

from __future__ import annotations

import pytest

from tests.e2e.stage import Stage, refused

pytestmark = pytest.mark.full

BOX = "width: 90px; height: 60px; border: 1px solid;"
NATIVE = f"""<div id=a draggable=true style='{BOX}'>A</div><div id=t style='{BOX} margin-top: GAP'>T</div><script>
heard = []; for (const n of ['dragstart', 'dragenter', 'dragover', 'drop', 'dragend'])
  addEventListener(n, event => heard.at(-1) === n || heard.push(event.isTrusted ? n : 'untrusted'));
a.ondragstart = event => event.dataTransfer.setData('text/plain', 'the data');
t.ondragover = event => event.preventDefault();
t.ondrop = event => {{ event.preventDefault(); t.textContent = event.dataTransfer.getData('text/plain') }}</script>"""
SORTABLE = """<ul id=list style='padding: 0; width: 200px'></ul><script>
for (const n of 'abcde') list.insertAdjacentHTML('beforeend', `<li id=${n} style='height: 40px'>${n}`);
let held = null, from = null, dragging = false; moves = 0;
list.onpointerdown = event => { held = event.target; from = event.clientY; held.setPointerCapture?.(event.pointerId) };
list.onpointermove = event => { if (!held) return; moves += 1;
  if (Math.abs(event.clientY - from) > 5) dragging = true;
  if (!dragging) return;
  const over = document.elementsFromPoint(event.clientX, event.clientY).find(e => e.tagName === 'LI' && e !== held);
  if (over) (over.compareDocumentPosition(held) & 4 ? over.before(held) : over.after(held)) };
list.onpointerup = () => { held = null; dragging = false };
order = () => [...list.children].map(e => e.id).join('')</script>"""


@pytest.mark.parametrize("gap", ["30px", "2500px"])
def test_draggable_elements_are_dropped_with_their_data(stage: Stage, gap: str) -> None:
    """Native drag events carry the page's dataTransfer, also where both ends are never in view at once."""
    stage.show(NATIVE.replace("GAP", gap))
    dragged = stage.ok("drag_and_drop", source="#a", target="#t")
    assert stage.js("t.textContent") == "the data"
    heard = stage.js("heard")
    assert heard[0] == "dragstart"
    if stage.browser == "firefox":
        assert "events that are not trusted" in dragged["warnings"][0]
    else:
        assert heard[-2:] == ["drop", "dragend"]
        assert "untrusted" not in heard


@pytest.mark.parametrize(
    ("source", "target", "order"), [("#a", "#d", "bcdae"), ("#e", "#b", "aebcd"), ("#b", "#c", "acbde")]
)
def test_a_sortable_list_is_reordered_by_pointer_moves(stage: Stage, source: str, target: str, order: str) -> None:
    """Pages that follow the pointer get its moves in steps, and its release."""
    stage.show(SORTABLE)
    stage.ok("drag_and_drop", source=source, target=target)
    assert stage.js("order()") == order
    assert stage.js("moves") >= 5
    stage.ok("hover", selector="#a")
    assert stage.js("order()") == order


@pytest.mark.core
def test_a_slider_is_dragged_to_a_point(stage: Stage) -> None:
    """The point is in CSS pixels of the viewport."""
    stage.show("<body style='margin: 0'><input id=f type=range min=0 max=100 value=0 style='margin: 0; width: 500px'>")
    stage.ok("drag_and_drop", source="#f", x=499, y=8)
    assert stage.js("Number(f.value)") >= 95
    stage.show("<div id=k style='position: absolute; left: 10px; top: 10px; width: 20px; height: 20px'>x</div><script>"
               "k.onmousedown = () => { onmousemove = e => { k.style.left = `${e.clientX - 10}px` };"
               "onmouseup = () => { onmousemove = null } }</script>")  # fmt: skip
    stage.ok("drag_and_drop", source="#k", x=300, y=20)
    assert stage.js("k.style.left") == "290px"


def test_a_drag_reports_what_changed_with_observe_change(stage: Stage) -> None:
    """The answer reports what a drag changed if `observe` requests it."""
    stage.show(NATIVE.replace("GAP", "30px"))
    change = stage.ok("drag_and_drop", source="#a", target="#t", observe="change")["stateChange"]
    assert "the data" in "".join([*change["appeared"], *change["changed"]])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, "Argument 'source' is missing."),
        ({"source": "#a"}, "Give either target, or x and y."),
        ({"source": "#a", "target": "#t", "x": 1, "y": 1}, "Give either target, or x and y."),
        ({"source": "#a", "x": 1}, "x and y belong together."),
        ({"source": "#a", "x": 1, "y": 99_999}, "x 1, y 99999 is outside the viewport."),
    ],
)
def test_invalid_drag_arguments_are_refused_before_anything_is_pressed(
    stage: Stage, arguments: dict[str, object], expected: str
) -> None:
    """A drag takes one source and one target; with other arguments nothing is pressed."""
    stage.show(NATIVE.replace("GAP", "30px"))
    assert expected in refused(stage.call("drag_and_drop", **arguments), "invalid_argument")
    assert stage.js("heard") == []


@pytest.mark.parametrize("ends", [("#none", "#t"), ("#a", "#none")])
def test_a_missing_drag_source_or_target_is_reported_before_the_mouse_moves(
    stage: Stage, ends: tuple[str, str]
) -> None:
    """A drag whose source or target is not found fires no drag event."""
    stage.show(NATIVE.replace("GAP", "30px"))
    answer = stage.call("drag_and_drop", source=ends[0], target=ends[1], timeout=50)
    assert "'#none'" in refused(answer, "element_not_found")
    assert stage.js("heard") == []


TAKES = """<div id=t style='width: 90px; height: 60px'>T</div><script>t.ondragover = event => event.preventDefault();
t.ondrop = event => { t.textContent = event.dataTransfer.getData('text/plain') }</script>"""
GIVES = f"""<div id=a draggable=true style='{BOX}'>A</div><script>
a.ondragstart = event => event.dataTransfer.setData('text/plain', 'the data')</script>"""


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same-origin", "cross-origin"])
def test_an_element_is_dragged_within_a_frame_of_any_origin(stage: Stage, host: str) -> None:
    """Source and target are in one frame, of the page's or another origin."""
    inner = stage.page(GIVES + TAKES).replace("127.0.0.1", host)
    stage.show(f"<p>above</p><iframe src='{inner}' width=300 height=250></iframe>")
    stage.ok("drag_and_drop", source="#a", target="#t")
    stage.ok("wait_for", selector="#t", text="the data")


def test_an_element_is_dragged_from_one_frame_to_another(stage: Stage) -> None:
    """Source and target are in different frames of the same origin."""
    stage.show(f"<iframe src='{stage.page(GIVES)}'></iframe><iframe src='{stage.page(TAKES)}'></iframe>")
    stage.ok("drag_and_drop", source="#a", target="#t")
    stage.ok("wait_for", selector="#t", text="the data")


def test_a_sequence_step_drags_from_one_shadow_root_to_another(stage: Stage) -> None:
    """A step finds source and target in shadow roots and drags from one to the other."""
    stage.show(
        f"<x-a></x-a><x-b></x-b><script>for (const [tag, html] of [['x-a', `<p draggable=true style='{BOX}'>From</p>`],"
        f"['x-b', `<p style='{BOX}'>To</p>`]])"
        "document.querySelector(tag).attachShadow({mode: 'open'}).innerHTML = html;"
        "to = document.querySelector('x-b').shadowRoot.firstChild; to.ondragover = e => e.preventDefault();"
        "to.ondrop = e => { to.textContent = 'dropped' }</script>"
    )
    step = {"action": "drag_and_drop", "source": "text=From", "target": "text=To"}
    assert stage.ok("execute_sequence", actions=[step])["completed"] == 1
    assert stage.js("to.textContent") == "dropped"


def test_a_drag_whose_target_disappears_releases_the_mouse_button(stage: Stage) -> None:
    """The button does not stay pressed for the next call."""
    stage.show(
        f"<div id=a style='{BOX}'>A</div><p style='height: 2500px'>tall</p><div id=t style='{BOX}'>T</div><script>"
        "heard = []; a.onmousedown = () => { t.remove() }; onmouseup = () => heard.push('up')</script>"
    )
    answer = stage.call("drag_and_drop", source="#a", target="#t", timeout=300)
    assert "'#t'" in refused(answer, "element_not_found")
    assert stage.js("heard") == ["up"]
