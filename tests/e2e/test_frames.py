"""Frames, of the same origin and of others: seen in the outline, used by ref and by `frame >> selector`."""

from __future__ import annotations

import re

import pytest

from tests.e2e.stage import Stage, refused

INNER = (
    "<h2>Inside</h2><input id=f aria-label=Card><input id=p type=password aria-label=Pin value=9876-secret>"
    "<select id=s aria-label=Kind><option>Visa<option>Amex</select><div style='height:1500px'>tall</div>"
    "<button id=b onclick='out.textContent = `paid ${event.isTrusted} ${f.value}`'>Pay</button><p id=out></p>"
)


def framed(stage: Stage, host: str, *, nested: bool = False) -> str:
    """Show a page with a frame of this host in it; the frame's address."""
    inner = stage.page(INNER, title="Inner").replace("127.0.0.1", host)
    if nested:
        middle = stage.page(f"<h2>Middle</h2><iframe id=deep src='{inner}' width=400 height=300></iframe>")
        inner, host = middle.replace("127.0.0.1", host), "127.0.0.1"
    stage.show(
        f"<h1>Outside</h1><iframe id=frame title=Payment src='{inner}' width=600 height=400></iframe><p>after</p>"
    )
    return inner


hosts = pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same-origin", "cross-origin"])
depths = pytest.mark.parametrize("nested", [False, True], ids=["frame", "frame-in-frame"])


@hosts
@depths
def test_a_frame_is_part_of_the_outline(stage: Stage, host: str, nested: bool) -> None:  # noqa: FBT001
    """Where it stands, a step further in; passwords in it are masked."""
    framed(stage, host, nested=nested)
    outline = re.sub(r" \[e\d+\]", "", "\n".join(stage.outline()))
    lines = [line.strip() for line in outline.splitlines()]
    assert lines[0] == '- heading "Outside" [level=1]'
    assert lines[1] == '- iframe "Payment"'
    assert '- textbox "Card"' in lines
    assert '- textbox "Pin" = "•••"' in lines
    assert lines.index('- heading "Inside" [level=2]') < lines.index("- text: after")
    step = 4 if nested else 2
    assert f'\n{" " * step}- textbox "Card"' in outline
    assert "9876" not in outline


@hosts
@depths
def test_refs_in_a_frame_are_used_like_any_other(stage: Stage, host: str, nested: bool) -> None:  # noqa: FBT001
    """Filled, chosen, scrolled to, clicked by a real event, read and expected."""
    framed(stage, host, nested=nested)
    stage.ok("set_value", selector=stage.ref('textbox "Card"'), value="1234")
    stage.ok("set_value", selector=stage.ref('combobox "Kind"'), value="Amex")
    stage.ok("click_element", selector=stage.ref('button "Pay"', scope="page"))
    out = stage.ok("wait_for", text="paid true 1234", selector="#out")
    assert out["waitedMs"] >= 0
    assert not stage.call("expect", selector='combobox "Kind"', value="Amex").failed
    assert stage.ok("get_text", selector="#out")["text"] == "paid true 1234"


@hosts
@depths
def test_selectors_find_what_is_in_a_frame(stage: Stage, host: str, nested: bool) -> None:  # noqa: FBT001
    """Without naming the frame, and through it."""
    framed(stage, host, nested=nested)
    through = "#frame >> #deep >> " if nested else "#frame >> "
    for selector in ("label=Card", "#f", f"{through}#f", f"{through}label=Card"):
        stage.ok("set_value", selector=selector, value=selector)
        assert not stage.call("expect", selector="#f", value=selector).failed
    stage.ok("press_keys", selector=f"{through}#f", keys="End x")
    assert not stage.call("expect", selector="#f", value=f"{selector}x").failed


@hosts
@depths
def test_what_changes_in_a_frame_is_told(stage: Stage, host: str, nested: bool) -> None:  # noqa: FBT001
    """By the call that changed it, and at the end of a sequence that did."""
    framed(stage, host, nested=nested)
    change = stage.ok("set_value", selector="label=Card", value="1234", observe="change")["stateChange"]
    assert [re.sub(r" \[e\d+\]", "", line) for line in change["changed"]] == ['textbox "Card" [focused] = "1234"']
    steps = [{"action": "set_value", "selector": "#s", "value": "Amex"}, {"action": "click_element", "selector": "#b"}]
    change = stage.ok("execute_sequence", actions=steps)["stateChange"]
    assert change["appeared"] == ["text: paid true 1234"]
    assert re.sub(r" \[e\d+\]", "", change["changed"][0]) == 'combobox "Kind" = "Amex"'


@hosts
def test_a_click_in_a_frame_that_lies_further_down(stage: Stage, host: str) -> None:
    """The page is scrolled to the frame, the frame to the element."""
    inner = stage.page(INNER).replace("127.0.0.1", host)
    stage.show(f"<div style='height:3000px'></div><iframe src='{inner}' width=600 height=300 style='border:7px solid'>")
    stage.ok("click_element", selector='role=button[name="Pay"]')
    assert stage.ok("get_text", selector="#out")["text"] == "paid true"


@hosts
def test_what_is_not_in_a_frame_is_told(stage: Stage, host: str) -> None:
    """With the selector as it was given."""
    framed(stage, host)
    text = refused(stage.call("click_element", selector="#frame >> #none", timeout=100), "element_not_found")
    assert "'#frame >> #none'" in text
    text = refused(stage.call("click_element", selector="#noframe >> #f", timeout=100), "element_not_found")
    assert "'#noframe >> #f'" in text


@hosts
def test_a_ref_of_a_frame_that_went_elsewhere_is_stale(stage: Stage, host: str) -> None:
    """Another document in the frame: the ref no longer means anything."""
    framed(stage, host)
    ref = stage.ref('textbox "Card"')
    there = stage.page("<p>other</p>").replace("127.0.0.1", host)
    stage.ok(
        "execute_script",
        script="frame.src = arguments[0]; await new Promise(go => { frame.onload = go })",
        args=[there],
    )
    refused(stage.call("click_element", selector=ref), "stale_ref")


@hosts
def test_refs_are_unique_across_frames(stage: Stage, host: str) -> None:
    """Two frames of one address, and the page around them."""
    inner = stage.page("<button>Same</button>").replace("127.0.0.1", host)
    stage.show(f"<button>Same</button><iframe src='{inner}'></iframe><iframe src='{inner}'></iframe>")
    refs = re.findall(r'button "Same" \[(e\d+)\]', "\n".join(stage.outline()))
    assert len(set(refs)) == 3
    found = stage.ok("get_visible_elements", format="json", roles=["button"])["elements"]
    assert sorted(element["ref"] for element in found) == sorted(refs)


@hosts
def test_a_change_in_a_frame_of_the_same_origin_is_reported(stage: Stage, host: str) -> None:
    """What a click there changed; the session goes on at the top afterwards."""
    url = framed(stage, host)
    stage.ok("click_element", selector=stage.ref('button "Pay"', scope="page"))
    assert stage.js("location.href") != url
    assert stage.outline()[0].startswith('- heading "Outside"')


@pytest.mark.core
def test_text_of_the_page_includes_frames_of_the_same_origin(stage: Stage) -> None:
    """As one reads it."""
    framed(stage, "127.0.0.1")
    text = stage.ok("get_text")["text"]
    assert text.index("Outside") < text.index("Inside") < text.index("after")


@hosts
def test_waiting_for_what_comes_in_a_frame(stage: Stage, host: str) -> None:
    """The frame itself comes later, too."""
    inner = stage.page("<button id=late>Late</button>").replace("127.0.0.1", host)
    stage.show(
        f"<script>setTimeout(() => {{ document.body.innerHTML = `<iframe src='{inner}'></iframe>` }}, 300)</script>"
    )
    stage.ok("wait_for", selector="#late")
    stage.ok("click_element", selector="#late")


@hosts
def test_a_page_that_leaves_through_its_frame(stage: Stage, host: str) -> None:
    """A link with target=_top: the new page is reported as ever."""
    there = stage.page("<h1>There</h1>", title="There")
    inner = stage.page(f"<a href='{there}' target=_top>out</a>").replace("127.0.0.1", host)
    stage.show(f"<iframe src='{inner}'></iframe>")
    answer = stage.ok("click_element", selector="text=out")
    assert (answer["title"], answer["url"]) == ("There", there)


def test_a_script_cannot_take_an_element_of_another_origin(stage: Stage) -> None:
    """It is told so, instead of passing nothing."""
    framed(stage, "localhost")
    answer = stage.call("execute_script", script="return 1", args=[{"selector": "#frame >> #f"}])
    assert "of another origin" in refused(answer, "unsupported")
