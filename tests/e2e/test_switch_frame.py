"""switch_frame: selectors inside a frame; text, HTML, scripts and waiting in frames of any origin."""

from __future__ import annotations

import pytest

from tests.e2e.harness import Home
from tests.e2e.stage import Stage, refused
from tests.site import Site

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
    """Show a page with a frame of this host, whose names are those of the page around it."""
    there = stage.page(inner, title="Inner").replace("127.0.0.1", host)
    stage.show(f"{OUTER}<iframe id=frame title=Payment src='{there}' width=600 height=400></iframe>", title="Outer")
    return there


def nested(stage: Stage, host: str, deeper: str) -> None:
    """A frame of one host with one of another in it."""
    deep = stage.page("<p id=who>deep</p><button id=d onclick='who.textContent = `dug`'>Dig</button>")
    middle = stage.page(f"<p id=who>middle</p><iframe id=deep src='{deep.replace('127.0.0.1', deeper)}'></iframe>")
    stage.show(f"{OUTER}<iframe id=frame src='{middle.replace('127.0.0.1', host)}' width=500 height=400></iframe>")


@hosts
def test_selectors_are_taken_inside_the_frame(stage: Stage, host: str) -> None:
    """What the page around it has of the same name is not meant; at the top again it is."""
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
def test_what_takes_no_selector_is_about_the_frame(stage: Stage, host: str) -> None:
    """Outline, text, HTML, scripts, waiting for text, scrolling the page."""
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
def test_refs_mean_the_same_everywhere(stage: Stage, host: str) -> None:
    """One of the page around the frame works inside it."""
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
def test_switches_go_deeper(stage: Stage, host: str, deeper: str) -> None:
    """From frame to frame, of whatever origin; none leads to the top at once."""
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
def test_a_frame_by_ref_or_path(stage: Stage, host: str) -> None:
    """A ref of a frame in a frame leads there at once, as a path does."""
    nested(stage, host, "localhost")
    stage.ok("switch_frame", selector="#frame >> #deep")
    assert stage.ok("get_text", selector="#who")["text"] == "deep"
    stage.ok("switch_frame")
    stage.ok("switch_frame", selector="#deep")
    assert stage.ok("get_text", selector="#who")["text"] == "deep"
    stage.ok("switch_frame")


@hosts
def test_arguments_of_scripts_are_elements_of_the_frame(stage: Stage, host: str) -> None:
    """By selector; the script runs there."""
    framed(stage, host)
    stage.ok("switch_frame", selector="#frame")
    script = "return [arguments[0] === document.getElementById('who'), arguments[0].textContent]"
    assert stage.ok("execute_script", script=script, args=[{"selector": "#who"}])["value"] == [True, "inner"]


@hosts
@pytest.mark.core
def test_a_new_page_begins_at_the_top(stage: Stage, host: str) -> None:
    """Navigating leaves the frame."""
    framed(stage, host)
    stage.ok("switch_frame", selector="#frame")
    stage.show("<p id=who>elsewhere")
    assert stage.ok("get_text", selector="#who")["text"] == "elsewhere"


@hosts
def test_a_tab_begins_at_the_top(stage: Stage, host: str) -> None:
    """So does the one that is returned to."""
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
def test_a_frame_that_is_gone_is_told_once(stage: Stage, host: str, tool: str, arguments: dict[str, object]) -> None:
    """With what to do; the session is at the top again."""
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
def test_only_a_frame_is_switched_to(stage: Stage, host: str) -> None:
    """What is none is named; nothing changes."""
    framed(stage, host)
    text = refused(stage.call("switch_frame", selector="h1", timeout=100), "not_actionable")
    assert "'h1' cannot be acted on" in text
    assert 'heading "Outside"' in text
    assert "is no frame" in text
    refused(stage.call("switch_frame", selector="#none", timeout=100), "element_not_found")
    assert stage.ok("get_text", selector="#who")["text"] == "outer"


def test_another_process_keeps_the_frame(home: Home, site: Site) -> None:
    """It stands in the record."""
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
    """No window index leads there: seen, filled, clicked, switched to and read all the same."""
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
    """Where they stand, those inside of them too; beyond the basic plane as well."""
    deep = stage.page("<p>the deep 🐟</p>")
    middle = stage.page(f"<p>middle</p><iframe src='{deep}'></iframe><p>end</p>").replace("127.0.0.1", "localhost")
    stage.show(
        f"<p>one 🐙</p><iframe src='{middle}'></iframe><p>two</p><div id=part>x<iframe src='{middle}'></iframe></div>"
    )
    assert stage.ok("get_text")["text"].splitlines() == [
        "one 🐙", "middle", "the deep 🐟", "end", "two", "x", "middle", "the deep 🐟", "end",
    ]  # fmt: skip
    assert stage.ok("get_text", selector="#part")["text"] == "x\nmiddle\nthe deep 🐟\nend"


def test_text_that_comes_in_a_frame_of_another_origin_is_waited_for(stage: Stage) -> None:
    """Without a selector; URL and title stay those of the page."""
    inner = stage.page("<script>setTimeout(() => { document.body.textContent = `now here` }, 300)</script>")
    stage.show(f"<iframe src='{inner.replace('127.0.0.1', 'localhost')}'></iframe>", title="Outer")
    assert stage.ok("wait_for", text="now here", title="Outer")["title"] == "Outer"
    refused(stage.call("wait_for", text="now here", title="Other", timeout=100), "timeout")
    refused(stage.call("wait_for", text="never here", timeout=100), "timeout")


def test_conditions_on_the_page_beside_an_element_of_a_frame(stage: Stage) -> None:
    """A selector into a frame of another origin, and the address of the page around it."""
    framed(stage, "localhost")
    stage.ok("wait_for", selector="#frame >> #f", title="Outer", timeout=2000)
    refused(stage.call("wait_for", selector="#frame >> #f", title="Inner", timeout=100), "timeout")


def test_a_root_is_not_looked_for_in_frames_when_the_page_has_it(stage: Stage) -> None:
    """The outline of what was asked for, with the frame in it; a root in a frame works as well."""
    framed(stage, "localhost")
    outline = stage.outline(root="body")
    assert outline[0].startswith('- heading "Outside"')
    assert any('heading "Inside"' in line for line in outline)
    assert stage.outline(root="#frame >> h2") == stage.outline(root="h2")
    assert stage.outline(root="h2")[0].startswith('- heading "Inside"')
