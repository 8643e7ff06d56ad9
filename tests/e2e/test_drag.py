"""drag_and_drop: what follows the mouse, and what the browser drags itself."""

from __future__ import annotations

import pytest

from tests.e2e.stage import Stage, refused

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
    """By the browser's own drag events, with the page's dataTransfer; also where both are never in view at once."""
    stage.show(NATIVE.replace("GAP", gap))
    stage.ok("drag_and_drop", source="#a", target="#t")
    assert stage.js("t.textContent") == "the data"
    heard = stage.js("heard")
    assert heard[0] == "dragstart"
    assert heard[-2:] == ["drop", "dragend"]
    assert "untrusted" not in heard


@pytest.mark.parametrize(
    ("source", "target", "order"), [("#a", "#d", "bcdae"), ("#e", "#b", "aebcd"), ("#b", "#c", "acbde")]
)
def test_a_sortable_list(stage: Stage, source: str, target: str, order: str) -> None:
    """Pages that follow the pointer see it move, in steps, and let go."""
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


def test_it_reports_what_changed_where_asked(stage: Stage) -> None:
    """Without it is told where the page is."""
    stage.show(NATIVE.replace("GAP", "30px"))
    change = stage.ok("drag_and_drop", source="#a", target="#t", observe="change")["stateChange"]
    assert "the data" in "".join([*change["appeared"], *change["changed"]])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "Argument 'source' is missing."),
        ({"source": "#a"}, "Give either target, or x and y."),
        ({"source": "#a", "target": "#t", "x": 1, "y": 1}, "Give either target, or x and y."),
        ({"source": "#a", "x": 1}, "x and y belong together."),
        ({"source": "#a", "x": 1, "y": 99_999}, "x 1, y 99999 is outside the viewport."),
    ],
)
def test_wrong_drags_are_refused(stage: Stage, arguments: dict[str, object], said: str) -> None:
    """One end each; nothing is pressed."""
    stage.show(NATIVE.replace("GAP", "30px"))
    assert said in refused(stage.call("drag_and_drop", **arguments), "invalid_argument")
    assert stage.js("heard") == []


@pytest.mark.parametrize("ends", [("#none", "#t"), ("#a", "#none")])
def test_an_end_that_is_not_there(stage: Stage, ends: tuple[str, str]) -> None:
    """Is told before the mouse moves."""
    stage.show(NATIVE.replace("GAP", "30px"))
    answer = stage.call("drag_and_drop", source=ends[0], target=ends[1], timeout=50)
    assert "'#none'" in refused(answer, "element_not_found")
    assert stage.js("heard") == []


TAKES = """<div id=t style='width: 90px; height: 60px'>T</div><script>t.ondragover = event => event.preventDefault();
t.ondrop = event => { t.textContent = event.dataTransfer.getData('text/plain') }</script>"""
GIVES = f"""<div id=a draggable=true style='{BOX}'>A</div><script>
a.ondragstart = event => event.dataTransfer.setData('text/plain', 'the data')</script>"""


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same-origin", "cross-origin"])
def test_within_a_frame(stage: Stage, host: str) -> None:
    """Both ends in a frame, of any origin."""
    inner = stage.page(GIVES + TAKES).replace("127.0.0.1", host)
    stage.show(f"<p>above</p><iframe src='{inner}' width=300 height=250></iframe>")
    stage.ok("drag_and_drop", source="#a", target="#t")
    stage.ok("wait_for", selector="#t", text="the data")


def test_from_one_frame_to_another(stage: Stage) -> None:
    """Of the same origin."""
    stage.show(f"<iframe src='{stage.page(GIVES)}'></iframe><iframe src='{stage.page(TAKES)}'></iframe>")
    stage.ok("drag_and_drop", source="#a", target="#t")
    stage.ok("wait_for", selector="#t", text="the data")


def test_between_shadow_roots_as_a_step(stage: Stage) -> None:
    """By ref, too."""
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


def test_a_drag_whose_target_goes_away_lets_go(stage: Stage) -> None:
    """The button does not stay pressed for the next call."""
    stage.show(
        f"<div id=a style='{BOX}'>A</div><p style='height: 2500px'>tall</p><div id=t style='{BOX}'>T</div><script>"
        "heard = []; a.onmousedown = () => { t.remove() }; onmouseup = () => heard.push('up')</script>"
    )
    answer = stage.call("drag_and_drop", source="#a", target="#t", timeout=300)
    assert "'#t'" in refused(answer, "element_not_found")
    assert stage.js("heard") == ["up"]
