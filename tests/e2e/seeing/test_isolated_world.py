"""A page, or a frame in it, that wants to speak for the page engine is not believed."""

from __future__ import annotations

import pytest

from tests.e2e.stage import Stage, refused
from tests.waiting import until

pytestmark = pytest.mark.full


def test_an_object_of_the_page_under_the_engines_names_answers_nothing(stage: Stage) -> None:
    """Names that earlier engines had, or that begin like ours, are only the page's."""
    stage.show(
        "<button>Go</button><script>"
        "const fake = {call: () => JSON.stringify({needRefs: 1e9}), handle: () => document.body};"
        "for (const key of ['webdriver-orchestrator', Symbol.for('webdriver-orchestrator')]) window[key] = fake;"
        "</script>"
    )
    assert stage.ok("get_visible_elements")["outline"].startswith('- button "Go"')


def test_reports_that_a_page_forges_only_prolong_the_wait(stage: Stage) -> None:
    """The page reports a request that never ends: the wait ends at its limit, and the report is on what was seen."""
    stage.show(
        "<button onclick=\"window.dispatchEvent(new CustomEvent('webdriver-orchestrator',"
        "{detail: 'begin 1 http://forged.example/x'})); document.title = 'clicked'\">Go</button>"
    )
    steps = [{"action": "click_element", "selector": "button"}]
    answer = stage.ok("execute_sequence", actions=steps, stabilityTimeoutMs=700)
    assert (answer["stable"], answer["stateChange"]["title"]["to"]) == (False, "clicked")
    assert answer["unstableReason"] == "a request to forged.example/x is still in flight"


def test_permissions_that_a_page_pretends_to_ask_for_are_an_event_at_most(stage: Stage) -> None:
    """Only names of permissions are taken from a page's report."""
    stage.show(
        "<script>for (const what of ['geolocation', 'Session: bank', 'x'.repeat(9999)])"
        " dispatchEvent(new CustomEvent('webdriver-orchestrator', {detail: `asks ${what}`}))</script><p>Hello</p>"
    )
    answer = stage.call("get_visible_elements")
    assert "bank" not in answer.text
    assert "xxx" not in answer.text


def test_a_script_is_run_in_the_pages_own_world_with_its_globals_and_its_functions(stage: Stage) -> None:
    """`execute_script` sees what the page's scripts see; elements go in and come out."""
    stage.show("<div id=host></div><script>window.ours = {count: 3}</script>")
    script = """
      const root = host.shadowRoot ?? host.attachShadow({mode: 'open'});
      root.innerHTML = '<button>In</button>';
      return [ours.count, root.firstChild, args[0] === host, [{deep: document.createElement('b')}]]
    """
    count, button, same, [deep] = stage.ok("execute_script", script=script, args=[{"selector": "#host"}])["value"]
    assert (count, same) == (3, True)
    assert stage.ok("get_text", selector=button["ref"])["text"] == "In"
    assert set(deep["deep"]) == {"ref"}


FRAME = """<style>body {{ margin: 0 }}
 iframe {{ position: absolute; top: 60px; width: 300px; height: 100px; border: 0 }}
 #over {{ position: absolute; top: 60px; width: 300px; height: 100px }}</style>
 <button id=transfer onclick="document.title = 'transferred'">Transfer</button>{more}<iframe src="{src}"></iframe>"""


def test_a_click_in_a_frame_of_another_origin_does_not_land_on_the_page_around_it(stage: Stage) -> None:
    """Something over the frame is named as what covers it, and the click is not made."""
    inner = stage.page("<button style='width:200px;height:80px'>Inner</button>").replace("127.0.0.1", "localhost")
    stage.show(FRAME.format(src=inner, more=""))
    until(lambda: "Inner" in stage.ok("get_visible_elements")["outline"], "the frame")
    stage.ok("click_element", selector="role=button[name=Inner]")
    stage.js("document.body.insertAdjacentHTML('beforeend', '<div id=over role=dialog aria-label=Cookies></div>'), 1")
    text = refused(stage.call("click_element", selector="role=button[name=Inner]", timeout=1000), "not_actionable")
    assert 'covered by dialog "Cookies"' in text
    assert stage.js("document.title") != "transferred"


def test_a_press_is_held_to_the_frame_whose_page_moves_its_button_out_of_it(stage: Stage) -> None:
    """A frame's button that its page puts outside the frame's box is not clicked on the parent's button there."""
    inner = stage.page(
        "<body style='margin:0'><button style='position:fixed;left:5px;top:-50px;width:60px;height:20px'>Bait</button>"
    ).replace("127.0.0.1", "localhost")
    stage.show(FRAME.format(src=inner, more=""))
    answer = stage.call("click_element", selector="frame=iframe >> text=Bait", timeout=500)
    assert answer.failed
    answer = stage.call("click_element", selector="iframe >> text=Bait", timeout=500)
    assert answer.failed
    assert stage.js("document.title") != "transferred"
