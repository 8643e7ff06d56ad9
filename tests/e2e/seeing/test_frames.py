"""Frames, same-origin and cross-origin: listed in the outline, used by ref and by `frame >> selector`."""

from __future__ import annotations

import re

import pytest

from tests.e2e.stage import Stage, refused
from tests.servers.site import Site

pytestmark = pytest.mark.full

INNER = (
    "<h2>Inside</h2><input id=f aria-label=Card><input id=p type=password aria-label=Pin value=9876-secret>"
    "<select id=s aria-label=Kind><option>Visa<option>Amex</select><div style='height:1500px'>tall</div>"
    "<button id=b onclick='out.textContent = `paid ${event.isTrusted} ${f.value}`'>Pay</button><p id=out></p>"
)


def framed(stage: Stage, host: str, *, nested: bool = False) -> str:
    """Show a page with a frame of this host; return the frame's address."""
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
    """Content of a frame is indented below the frame's own line, and passwords in it are masked."""
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
    """Elements in a frame are filled, selected, clicked by a trusted event, read and expected by ref."""
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
def test_selectors_find_elements_in_a_frame_with_and_without_naming_it(stage: Stage, host: str, nested: bool) -> None:  # noqa: FBT001
    """Elements in a frame are found by a plain selector and by one that leads through the frame.

    What is typed goes into another site's frame only if the selector names it.
    """
    framed(stage, host, nested=nested)
    through = "#frame >> #deep >> " if nested else "#frame >> "
    plain = ("label=Card", "#f") if host == "127.0.0.1" else ()
    for selector in (*plain, f"{through}#f", f"{through}label=Card"):
        stage.ok("set_value", selector=selector, value=selector)
        assert not stage.call("expect", selector="#f", value=selector).failed
    stage.ok("press_keys", selector=f"{through}#f", keys="End x")
    assert not stage.call("expect", selector="#f", value=f"{selector}x").failed


@hosts
@depths
def test_changes_in_a_frame_are_reported_by_a_call_and_by_a_sequence(stage: Stage, host: str, nested: bool) -> None:  # noqa: FBT001
    """Changes inside a frame are reported by the call that made them and at the end of a sequence."""
    framed(stage, host, nested=nested)
    through = "#frame >> #deep >> " if nested else "#frame >> "
    change = stage.ok("set_value", selector=f"{through}label=Card", value="1234", observe="change")["stateChange"]
    assert [re.sub(r" \[e\d+\]", "", line) for line in change["changed"]] == ['textbox "Card" [focused] = "1234"']
    steps = [
        {"action": "set_value", "selector": f"{through}#s", "value": "Amex"},
        {"action": "click_element", "selector": "#b"},
    ]
    change = stage.ok("execute_sequence", actions=steps)["stateChange"]
    assert change["appeared"] == ["text: paid true 1234"]
    assert re.sub(r" \[e\d+\]", "", change["changed"][0]) == 'combobox "Kind" [2 options] = "Amex"'


@hosts
def test_a_click_scrolls_to_the_frame_and_to_the_element_in_it(stage: Stage, host: str) -> None:
    """The page is scrolled to the frame, the frame to the element."""
    inner = stage.page(INNER).replace("127.0.0.1", host)
    stage.show(f"<div style='height:3000px'></div><iframe src='{inner}' width=600 height=300 style='border:7px solid'>")
    stage.ok("click_element", selector='role=button[name="Pay"]')
    assert stage.ok("get_text", selector="#out")["text"] == "paid true"


@hosts
def test_an_element_missing_in_a_frame_is_reported_with_the_given_selector(stage: Stage, host: str) -> None:
    """A missing element and a missing frame are element_not_found errors that quote the selector."""
    framed(stage, host)
    text = refused(stage.call("click_element", selector="#frame >> #none", timeout=100), "element_not_found")
    assert "'#frame >> #none'" in text
    text = refused(stage.call("click_element", selector="#noframe >> #f", timeout=100), "element_not_found")
    assert "'#noframe >> #f'" in text


@hosts
def test_a_ref_is_stale_after_its_frame_navigates(stage: Stage, host: str) -> None:
    """A ref is refused when its frame has loaded another document."""
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
    """Two frames of one URL and the page around them give their elements different refs."""
    inner = stage.page("<button>Same</button>").replace("127.0.0.1", host)
    stage.show(f"<button>Same</button><iframe src='{inner}'></iframe><iframe src='{inner}'></iframe>")
    refs = re.findall(r'button "Same" \[(e\d+)\]', "\n".join(stage.outline()))
    assert len(set(refs)) == 3
    found = stage.ok("get_visible_elements", format="json", roles=["button"])["elements"]
    assert sorted(element["ref"] for element in found) == sorted(refs)


@hosts
def test_commands_return_to_the_top_document_after_a_click_in_a_frame(stage: Stage, host: str) -> None:
    """A click in a frame leaves scripts and the outline at the top document."""
    url = framed(stage, host)
    stage.ok("click_element", selector=stage.ref('button "Pay"', scope="page"))
    assert stage.js("location.href") != url
    assert stage.outline()[0].startswith('- heading "Outside"')


@pytest.mark.core
def test_text_of_the_page_includes_same_origin_frames(stage: Stage) -> None:
    """Text of a frame is placed like the frame in the page."""
    framed(stage, "127.0.0.1")
    text = stage.ok("get_text")["text"]
    assert text.index("Outside") < text.index("Inside") < text.index("after")


@hosts
def test_wait_for_finds_an_element_in_a_frame_that_is_added_later(stage: Stage, host: str) -> None:
    """A wait ends when the frame and the element in it have appeared."""
    inner = stage.page("<button id=late>Late</button>").replace("127.0.0.1", host)
    stage.show(
        f"<script>setTimeout(() => {{ document.body.innerHTML = `<iframe src='{inner}'></iframe>` }}, 300)</script>"
    )
    stage.ok("wait_for", selector="#late")
    stage.ok("click_element", selector="#late")


@hosts
def test_a_link_in_a_frame_that_replaces_the_page_reports_the_new_page(stage: Stage, host: str) -> None:
    """A target=_top link in a frame makes the click report the new page's title and URL."""
    there = stage.page("<h1>There</h1>", title="There")
    inner = stage.page(f"<a href='{there}' target=_top>out</a>").replace("127.0.0.1", host)
    stage.show(f"<iframe src='{inner}'></iframe>")
    answer = stage.ok("click_element", selector="text=out")
    assert (answer["title"], answer["url"]) == ("There", there)


def test_a_script_argument_from_a_cross_origin_frame_is_refused(stage: Stage) -> None:
    """An element of a cross-origin frame given to a script is an unsupported error instead of null."""
    framed(stage, "localhost")
    answer = stage.call("execute_script", script="return 1", args=[{"selector": "#frame >> #f"}])
    assert "of another origin" in refused(answer, "unsupported")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("set_value", {"selector": "label=Card", "value": "4111"}),
        ("press_keys", {"selector": "#f", "text": "4111"}),
        ("press_keys", {"selector": "label=Card", "keys": "4 1 1 1"}),
    ],
)
def test_nothing_is_typed_into_another_sites_frame_that_no_selector_names(
    stage: Stage, tool: str, arguments: dict[str, str]
) -> None:
    """A field that only an advertisement's frame has gets no password that was meant for the page."""
    framed(stage, "localhost")
    text = refused(stage.call(tool, **arguments, timeout=1000), "not_actionable")
    assert "it is only in a frame of another site, http://localhost:" in text
    assert "pass its ref, or name the frame: FRAME >> SELECTOR" in text
    assert re.search(r'textbox "Card" \[e\d+\]', text)
    assert stage.ok("expect", selector="#frame >> #f", value="")
    stage.ok("set_value", selector=stage.ref('textbox "Card"'), value="4111")
    assert stage.ok("expect", selector="#frame >> #f", value="4111")


@pytest.mark.parametrize("pressed", [{"text": "4111"}, {"keys": "4 1 1 1"}, {"keys": "Enter"}])
def test_no_keys_go_into_another_sites_frame_that_has_the_focus(stage: Stage, pressed: dict[str, str]) -> None:
    """A frame can take the focus at any time: keys without a selector are refused there, unless the frame is named."""
    framed(stage, "localhost")
    stage.ok("click_element", selector="#frame >> #f")
    text = refused(stage.call("press_keys", **pressed), "not_actionable")
    assert "The focus is in a frame of another site, http://localhost:" in text
    assert "nothing was pressed" in text
    assert "pass its ref, or name the frame: FRAME >> SELECTOR" in text
    assert stage.ok("expect", selector="#frame >> #f", value="")
    assert refused(stage.call("execute_sequence", actions=[{"action": "press_keys", **pressed}]), "not_actionable")
    stage.ok("switch_frame", selector="#frame")
    stage.ok("press_keys", **pressed)
    stage.ok("switch_frame")
    stage.ok("press_keys", selector="#frame >> #f", **pressed)
    typed = "" if pressed.get("keys") == "Enter" else "41114111"
    assert stage.ok("expect", selector="#frame >> #f", value=typed)


def test_tab_and_escape_lead_out_of_another_sites_frame(stage: Stage) -> None:
    """They put nothing into it, and without them a keyboard's user would stay there."""
    inner = stage.page("<input id=f aria-label=Card>").replace("127.0.0.1", "localhost")
    stage.show(f"<iframe id=frame src='{inner}'></iframe><input id=after aria-label=After>")
    stage.ok("click_element", selector="#frame >> #f")
    stage.ok("press_keys", keys="Escape")
    stage.ok("press_keys", keys="Tab")
    stage.ok("press_keys", text="mint")
    assert stage.ok("expect", selector="#after", value="mint")


def test_keys_go_into_a_frame_of_the_same_site_that_has_the_focus(stage: Stage) -> None:
    """Frames of one's own site, of another origin or not, get keys and text as the page does."""
    with Site() as other:
        inner = other.page("/inner", "<input id=f aria-label=Card>")
        stage.show(f"<iframe id=frame src='{inner}'></iframe>")
        stage.ok("click_element", selector="#frame >> #f")
        stage.ok("press_keys", text="mint")
        stage.ok("press_keys", keys="t e a")
        assert stage.ok("expect", selector="#frame >> #f", value="minttea")


def test_a_click_in_another_sites_frame_that_no_selector_names_is_reported(stage: Stage) -> None:
    """The result names the frame's origin; with the frame named there is nothing to report."""
    framed(stage, "localhost")
    [event] = stage.ok("click_element", selector="#b")["events"]
    assert re.fullmatch(r"The element is in a frame of another site, http://localhost:\d+\.", event)
    assert "events" not in stage.ok("click_element", selector="#frame >> #b")
    assert "events" not in stage.ok("click_element", selector=stage.ref('button "Pay"'))
