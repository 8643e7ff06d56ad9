"""Frames: those of the same origin are part of the page, others are reported for the caller to enter."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.snapshot.methods import READY, SNAPSHOT, WAIT
from orchestrator.snapshot.web.world import PageWorld
from tests.snapshot.untyped import UntypedEngine
from tests.snapshot.web.chromium import Browser, Numbers, Site, without_refs

INNER = "<title>Inner</title><body style='margin:0'><button onclick=\"top.postMessage('hit','*')\">Inside</button>"


def nested(browser: Browser, site: Site, host: str = "127.0.0.1") -> Any:
    """A page with a frame of the given host in a frame of its own."""
    site.pages = {
        "/": "<title>Top</title><h1>Top</h1><script>onmessage = e => document.title = e.data</script>"
        "<div style='height:900px'></div>"
        "<iframe id=f title=Middle src=/middle style='border:7px solid;padding:5px;transform:scale(.8)'></iframe>",
        "/middle": f"<p>Middle</p><iframe id=g title=Last src='{site.url('/inner', host)}'></iframe>",
        "/inner": INNER,
    }
    return browser.visit(site.url("/"))


def test_same_origin_frames_are_part_of_the_pages_outline(browser: Browser, site: Site) -> None:
    """The outline continues inside a frame, indented by one step."""
    page = nested(browser, site)
    assert [without_refs(line) for line in page.call(SNAPSHOT, scope="page")["lines"]] == [
        '- heading "Top" [level=1]', '- iframe "Middle"',
        "  - text: Middle", '  - iframe "Last"', '    - button "Inside"',
    ]  # fmt: skip


def test_a_point_inside_a_same_origin_frame_is_in_top_viewport_coordinates(browser: Browser, site: Site) -> None:
    """Boxes are those of the top viewport, through borders, padding, scale and scrolling."""
    page = nested(browser, site)
    answer = page.call(READY, locator={"by": "text", "value": "Inside"}, need="point", slice=25_000)
    assert answer["path"] == [0, 0]
    browser.click(answer)
    assert page.call(WAIT, conditions={"title": "hit"}, slice=25_000)["ok"]


def test_a_frame_prefix_limits_a_locator_to_that_frame(browser: Browser, site: Site) -> None:
    """`frame >> selector` searches in that frame alone."""
    page = nested(browser, site)
    frame = {"by": "css", "value": "#f"}
    inside = {"by": "css", "value": "button"}
    assert page.call(READY, locator={**inside, "frames": [frame, {"by": "css", "value": "#g"}]}, slice=0)["ok"]
    assert page.call(READY, locator={"by": "css", "value": "h1", "frames": [frame]}, slice=0)["reason"] == "not_found"


def test_cross_origin_frames_are_reported_with_their_path_and_line(browser: Browser, site: Site) -> None:
    """A cross-origin frame is reported with its path of W3C frame indexes and the place of its line."""
    page = nested(browser, site, "localhost")
    answer = page.call(SNAPSHOT, scope="page")
    (frame,) = answer["frames"]
    assert (frame["path"], frame["at"], frame["depth"]) == ([0, 0], 3, 1)
    assert without_refs(answer["lines"][frame["at"]]) == '  - iframe "Last"'
    for index in frame["path"]:
        browser.command("/frame", id=index)
        page.enter_frame()
    assert [without_refs(line) for line in page.call(SNAPSHOT)["lines"]] == ['- button "Inside"']
    browser.command("/frame", id=None)
    page.enter_top()


def test_a_locator_into_a_cross_origin_frame_returns_the_path_and_the_rest(browser: Browser, site: Site) -> None:
    """The answer has the path to enter and the rest of the locator."""
    page = nested(browser, site, "localhost")
    frames = [{"by": "css", "value": "#f"}, {"by": "css", "value": "#g"}]
    answer = page.call(READY, locator={"by": "css", "value": "button", "frames": frames}, slice=0)
    assert answer["crossOrigin"]["path"] == [0, 0]
    assert answer["crossOrigin"]["rest"] == [{"by": "css", "value": "button"}]


def test_a_snapshot_taken_inside_a_same_origin_frame_covers_the_whole_page(browser: Browser, site: Site) -> None:
    """Called inside a same-origin frame, the engine answers for the whole page with the same refs."""
    page = nested(browser, site)
    before = page.call(SNAPSHOT, scope="page")["lines"]
    browser.command("/frame", id=0)
    page.enter_frame()
    assert page.call(SNAPSHOT, scope="page")["lines"] == before
    browser.command("/frame", id=None)
    page.enter_top()


def test_an_element_inside_a_covered_frame_is_reported_as_covered(browser: Browser, site: Site) -> None:
    """An element over a frame covers the frame's content."""
    page = nested(browser, site)
    browser.js(
        "document.body.insertAdjacentHTML('beforeend', '<dialog open aria-label=D style=\"position:fixed;inset:0\">')"
    )
    browser.js("document.querySelector('dialog').style.cssText += 'width:100%;height:100%'")
    answer = page.call(READY, locator={"by": "text", "value": "Inside"}, need="point", slice=100)
    assert (answer["reason"], without_refs(answer["detail"])) == ("covered", 'covered by dialog "D"')


def test_a_ref_into_a_removed_frame_is_stale(browser: Browser, site: Site) -> None:
    """An element of a removed frame is stale."""
    page = nested(browser, site)
    ref = page.call(READY, locator={"by": "text", "value": "Inside"}, need="visible", slice=25_000)["ref"]
    browser.js("document.getElementById('f').remove()")
    assert page.call(READY, locator={"by": "ref", "value": ref}, slice=0)["reason"] == "stale"


@pytest.mark.parametrize("isolated", [True, False])
def test_an_element_of_a_frame_without_the_engine_is_referred_to(isolated: bool, browser: Browser) -> None:  # noqa: FBT001 a parameter of the test
    """The engine is put into the frame's document, and the head of the cluster answers for its element."""
    browser.open("<iframe srcdoc='<input type=file>'></iframe>")
    page = UntypedEngine(PageWorld(browser.remote, None, isolated=isolated), Numbers())
    frame = {"by": "css", "value": "iframe"}
    found = page.call(READY, locator={"by": "css", "value": "input", "frames": [frame]}, slice=25_000, handle=True)
    assert found["path"] == [0]
    browser.command("/frame", id=0)
    page.enter_frame()
    element = page.handle()
    assert browser.js("return arguments[0].type", element) == "file"
    browser.command("/frame", id=None)
