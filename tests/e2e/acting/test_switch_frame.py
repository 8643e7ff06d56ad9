"""switch_frame: selectors inside a frame; text, HTML, scripts and waiting in frames of any origin."""

from __future__ import annotations

import pytest

from tests.e2e.harness import Home
from tests.e2e.stage import Stage, refused
from tests.servers.site import Site

pytestmark = pytest.mark.full

INNER = (
    "<h2>Inside</h2><p id=who>inner</p><input id=f aria-label=Card><div style='height:1500px'>tall</div>"
    "<button id=b onclick='who.textContent = `clicked`'>Pay</button>"
)
OUTER = (
    "<h1>Outside</h1><p id=who>outer</p><button id=b onclick='who.textContent = `clicked`'>Pay</button>"
    "<button onclick='frame.remove()'>Remove</button>"
)

hosts = pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same-origin", "cross-origin"])


def framed(stage: Stage, host: str, inner: str = INNER) -> str:
    """Show a page with a frame of the same host that has the same names in it."""
    there = stage.page(inner, title="Inner").replace("127.0.0.1", host)
    stage.show(f"{OUTER}<iframe id=frame title=Payment src='{there}' width=600 height=400></iframe>", title="Outer")
    return there


def nested(stage: Stage, host: str, deeper: str) -> None:
    """A frame of one host with one of another in it."""
    deep = stage.page("<p id=who>deep</p><button id=d onclick='who.textContent = `dug`'>Dig</button>")
    middle = stage.page(f"<p id=who>middle</p><iframe id=deep src='{deep.replace('127.0.0.1', deeper)}'></iframe>")
    stage.show(f"{OUTER}<iframe id=frame src='{middle.replace('127.0.0.1', host)}' width=500 height=400></iframe>")


@hosts
def test_selectors_apply_inside_the_frame_after_switch_frame(stage: Stage, host: str) -> None:
    """Selectors find elements of the frame that was switched to, and of the page after switching back."""
    framed(stage, host)
    answer = stage.call("switch_frame", selector="#frame")
    assert answer.data["frame"].startswith('iframe "Payment" [e')
    assert answer.data["frame"] in answer.text
    assert stage.ok("get_text", selector="#who")["text"] == "inner"
    stage.ok("set_value", selector="label=Card", value="1234")
    stage.ok("click_element", selector="#b")
    assert not stage.call("expect", selector="#who", text="clicked").failed
    assert stage.ok("switch_frame", sessionId="browser") == {"frame": "top"}
    assert stage.ok("get_text", selector="#who")["text"] == "outer"


@hosts
def test_tools_without_a_selector_act_on_the_current_frame(stage: Stage, host: str) -> None:
    """Outline, text, source, scripts, waiting for text and scrolling apply to the current frame."""
    url = framed(stage, host)
    stage.ok("switch_frame", selector="#frame")
    found = stage.ok("get_visible_elements")
    assert found["outline"].startswith('- heading "Inside"')
    assert "Outside" not in found["outline"]
    assert "outside the viewport" in found["outline"]
    assert found["title"] == "Outer"
    assert stage.ok("get_text")["text"].startswith("Inside\ninner")
    assert stage.ok("get_page_source")["source"].startswith("<!DOCTYPE html>\n<html><head><title>Inner</title>")
    assert stage.js("location.href") == url
    assert stage.js("[1, document.title]") == [1, "Inner"]
    stage.ok("wait_for", text="Inside", timeout=2000)
    refused(stage.call("wait_for", text="Outside", timeout=100), "timeout")
    stage.ok("scroll", direction="down", pixels=300)
    assert stage.js("scrollY") == 300
    stage.ok("switch_frame")
    assert stage.js("scrollY") == 0


@hosts
def test_a_ref_from_outside_the_frame_works_inside_it(stage: Stage, host: str) -> None:
    """Refs work inside a frame and at the top, wherever their elements are."""
    framed(stage, host)
    outside, inside = stage.ref('button "Pay"'), stage.ref('textbox "Card"')
    stage.ok("switch_frame", selector="#frame")
    stage.ok("click_element", selector=outside)
    stage.ok("set_value", selector=inside, value="9")
    stage.ok("switch_frame")
    assert stage.ok("get_text", selector="#who")["text"] == "clicked"
    assert not stage.call("expect", selector=inside, value="9").failed


@hosts
@pytest.mark.parametrize("deeper", ["127.0.0.1", "localhost"])
def test_switch_frame_descends_into_nested_frames(stage: Stage, host: str, deeper: str) -> None:
    """Each switch goes into a nested frame of any origin; one without a selector goes to the top."""
    nested(stage, host, deeper)
    stage.ok("switch_frame", selector="#frame")
    assert stage.ok("get_text", selector="#who")["text"] == "middle"
    stage.ok("switch_frame", selector="#deep")
    assert stage.ok("get_text", selector="#who")["text"] == "deep"
    stage.ok("click_element", selector="#d")
    assert stage.ok("get_text")["text"] == "dug\nDig"
    assert stage.js("who.textContent") == "dug"
    stage.ok("switch_frame")
    assert stage.ok("get_text", selector="#who")["text"] == "outer"


@hosts
def test_switch_frame_reaches_a_nested_frame_in_one_step(stage: Stage, host: str) -> None:
    """A nested frame is switched to by a path or by its own selector."""
    nested(stage, host, "localhost")
    stage.ok("switch_frame", selector="#frame >> #deep")
    assert stage.ok("get_text", selector="#who")["text"] == "deep"
    stage.ok("switch_frame")
    stage.ok("switch_frame", selector="#deep")
    assert stage.ok("get_text", selector="#who")["text"] == "deep"
    stage.ok("switch_frame")


@hosts
def test_script_arguments_are_resolved_inside_the_current_frame(stage: Stage, host: str) -> None:
    """A script runs in the frame, and a selector among its arguments becomes an element of the frame."""
    framed(stage, host)
    stage.ok("switch_frame", selector="#frame")
    script = "return [arguments[0] === document.getElementById('who'), arguments[0].textContent]"
    assert stage.ok("execute_script", script=script, args=[{"selector": "#who"}])["value"] == [True, "inner"]


@hosts
@pytest.mark.core
def test_navigating_leaves_the_frame(stage: Stage, host: str) -> None:
    """Selectors apply to the top document after a navigation."""
    framed(stage, host)
    stage.ok("switch_frame", selector="#frame")
    stage.show("<p id=who>elsewhere")
    assert stage.ok("get_text", selector="#who")["text"] == "elsewhere"


@hosts
def test_opening_or_closing_a_tab_leaves_the_frame(stage: Stage, host: str) -> None:
    """A new tab begins at the top document, and so does the tab returned to."""
    framed(stage, host)
    stage.ok("switch_frame", selector="#frame")
    stage.ok("tabs", action="new", url=stage.page("<p id=who>tab"))
    assert stage.ok("get_text", selector="#who")["text"] == "tab"
    stage.ok("tabs", action="close")
    assert stage.ok("get_text", selector="#who")["text"] == "outer"


@hosts
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_text", {}),
        ("click_element", {"selector": "#b"}),
        ("wait_for", {"selector": "#b"}),
        ("wait_for", {"text": "Inside"}),
        ("expect", {"selector": "#none", "visible": False}),
        ("execute_script", {"script": "return 1"}),
        ("scroll", {"direction": "down"}),
    ],
)
def test_a_removed_frame_is_reported_once_and_the_session_returns_to_the_top(
    stage: Stage, host: str, tool: str, arguments: dict[str, object]
) -> None:
    """A call in a frame that is gone fails once with advice, and the next one is at the top."""
    framed(stage, host)
    remover = stage.ref('button "Remove"')
    ref = stage.ref("iframe")
    stage.ok("switch_frame", selector=ref)
    stage.ok("click_element", selector=remover)
    text = refused(stage.call(tool, **arguments), "stale_ref")
    assert f"The frame {ref} that switch_frame went to is gone" in text
    assert "call switch_frame again" in text
    assert stage.ok("get_text", selector="#who")["text"] == "outer"


@hosts
def test_switch_frame_refuses_an_element_that_is_no_frame(stage: Stage, host: str) -> None:
    """An element that is not a frame is named in the error, and the session stays at the top."""
    framed(stage, host)
    text = refused(stage.call("switch_frame", selector="h1", timeout=100), "not_actionable")
    assert "'h1' cannot be acted on" in text
    assert 'heading "Outside"' in text
    assert "is not a frame" in text
    refused(stage.call("switch_frame", selector="#none", timeout=100), "element_not_found")
    assert stage.ok("get_text", selector="#who")["text"] == "outer"


def test_another_server_works_in_the_frame_that_was_switched_to(home: Home, site: Site) -> None:
    """The current frame is in the session's record, so a second server works in it."""
    site.page("/inner", "<p id=who>inner")
    there = site.url("/inner", host="localhost")
    url = site.page("/", f"<p id=who>outer</p><iframe id=frame src='{there}'></iframe>")
    with home.serve() as first, home.serve() as second:
        first.ok("start_browser", sessionId="both", navigationUrl=url)
        first.ok("switch_frame", selector="#frame", sessionId="both")
        assert second.ok("get_text", selector="#who", sessionId="both")["text"] == "inner"
        second.ok("switch_frame", sessionId="both")
        assert first.ok("get_text", selector="#who", sessionId="both")["text"] == "outer"
        first.ok("close_session", sessionId="both")


@hosts
def test_frames_in_shadow_roots_are_reached(stage: Stage, host: str) -> None:
    """A frame in a shadow root is read, filled, clicked and switched to like any other."""
    there = stage.page(INNER).replace("127.0.0.1", host)
    stage.show(
        "<x-pay></x-pay><script>document.querySelector('x-pay').attachShadow({mode: 'open'}).innerHTML = "
        f"`<iframe id=frame title=Payment src='{there}' width=600 height=400></iframe>`</script>"
    )
    stage.ok("wait_for", selector="label=Card")
    stage.ok("set_value", selector=stage.ref('textbox "Card"'), value="1")
    stage.ok("click_element", selector="#frame >> #b")
    assert stage.ok("get_text", selector="#who")["text"] == "clicked"
    assert "Inside\nclicked" in stage.ok("get_text")["text"]
    stage.ok("switch_frame", selector="#frame")
    assert stage.js("f.value") == "1"


def test_text_of_the_page_includes_frames_of_other_origins(stage: Stage) -> None:
    """Text of cross-origin frames, nested ones included, is placed like the frames in the page."""
    deep = stage.page("<p>the deep 🐟</p>")
    middle = stage.page(f"<p>middle</p><iframe src='{deep}'></iframe><p>end</p>").replace("127.0.0.1", "localhost")
    stage.show(
        f"<p>one 🐙</p><iframe src='{middle}'></iframe><p>two</p><div id=part>x<iframe src='{middle}'></iframe></div>"
    )
    assert stage.ok("get_text")["text"].splitlines() == [
        "one 🐙", "middle", "the deep 🐟", "end", "two", "x", "middle", "the deep 🐟", "end",
    ]  # fmt: skip
    assert stage.ok("get_text", selector="#part")["text"] == "x\nmiddle\nthe deep 🐟\nend"


def test_wait_for_text_finds_text_in_a_cross_origin_frame(stage: Stage) -> None:
    """Waiting for text without a selector includes frames; the title stays that of the page."""
    inner = stage.page("<script>setTimeout(() => { document.body.textContent = `now here` }, 300)</script>")
    stage.show(f"<iframe src='{inner.replace('127.0.0.1', 'localhost')}'></iframe>", title="Outer")
    assert stage.ok("wait_for", text="now here", title="Outer")["title"] == "Outer"
    refused(stage.call("wait_for", text="now here", title="Other", timeout=100), "timeout")
    refused(stage.call("wait_for", text="never here", timeout=100), "timeout")


def test_wait_for_checks_the_pages_title_beside_a_selector_into_a_frame(stage: Stage) -> None:
    """A wait with a selector into a cross-origin frame compares the title of the page around it."""
    framed(stage, "localhost")
    stage.ok("wait_for", selector="#frame >> #f", title="Outer", timeout=2000)
    refused(stage.call("wait_for", selector="#frame >> #f", title="Inner", timeout=100), "timeout")


def test_an_outline_root_is_looked_for_in_the_page_before_its_frames(stage: Stage) -> None:
    """A root is searched in the page first, frames included; a root in a frame is found as well."""
    framed(stage, "localhost")
    outline = stage.outline(root="body")
    assert outline[0].startswith('- heading "Outside"')
    assert any('heading "Inside"' in line for line in outline)
    assert stage.outline(root="#frame >> h2") == stage.outline(root="h2")
    assert stage.outline(root="h2")[0].startswith('- heading "Inside"')
