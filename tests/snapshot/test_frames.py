"""Frames: those of the same origin are part of the page, others are reported for the caller to enter."""

from __future__ import annotations

from typing import Any

from tests.snapshot.chromium import Browser, Site, without_refs

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


def test_same_origin_frames_are_one_page(browser: Browser, site: Site) -> None:
    """The outline goes on inside a frame, one step further in."""
    page = nested(browser, site)
    assert [without_refs(line) for line in page.call("snapshot", scope="page")["lines"]] == [
        '- heading "Top" [level=1]', '- iframe "Middle"',
        "  - text: Middle", '  - iframe "Last"', '    - button "Inside"',
    ]  # fmt: skip


def test_a_point_in_a_frame_needs_no_switch(browser: Browser, site: Site) -> None:
    """Boxes are those of the top viewport, through borders, padding, scale and scrolling."""
    page = nested(browser, site)
    answer = page.call("ready", locator={"by": "text", "value": "Inside"}, need="point", slice=500)
    assert answer["path"] == [0, 0]
    browser.click(answer)
    assert page.call("wait", conditions={"title": "hit"}, slice=1000)["ok"]


def test_frames_lead_a_locator(browser: Browser, site: Site) -> None:
    """`frame >> selector` searches in that frame alone."""
    page = nested(browser, site)
    frame = {"by": "css", "value": "#f"}
    inside = {"by": "css", "value": "button"}
    assert page.call("ready", locator={**inside, "frames": [frame, {"by": "css", "value": "#g"}]}, slice=0)["ok"]
    assert page.call("ready", locator={"by": "css", "value": "h1", "frames": [frame]}, slice=0)["reason"] == "not_found"


def test_frames_of_other_origins_are_reported(browser: Browser, site: Site) -> None:
    """Their path is one of W3C frame indexes, their place that of their line."""
    page = nested(browser, site, "localhost")
    answer = page.call("snapshot", scope="page")
    (frame,) = answer["frames"]
    assert (frame["path"], frame["at"], frame["depth"]) == ([0, 0], 3, 1)
    assert without_refs(answer["lines"][frame["at"]]) == '  - iframe "Last"'
    for index in frame["path"]:
        browser.command("/frame", id=index)
    assert [without_refs(line) for line in page.call("snapshot")["lines"]] == ['- button "Inside"']
    browser.command("/frame", id=None)


def test_a_locator_into_another_origin_says_where_to_go_on(browser: Browser, site: Site) -> None:
    """The path to enter and the rest of the locator are given."""
    page = nested(browser, site, "localhost")
    frames = [{"by": "css", "value": "#f"}, {"by": "css", "value": "#g"}]
    answer = page.call("ready", locator={"by": "css", "value": "button", "frames": frames}, slice=0)
    assert answer["crossOrigin"]["path"] == [0, 0]
    assert answer["crossOrigin"]["rest"] == [{"by": "css", "value": "button"}]


def test_a_child_of_the_cluster_asks_its_head(browser: Browser, site: Site) -> None:
    """Called inside a same-origin frame, the engine answers for the whole page with the same refs."""
    page = nested(browser, site)
    before = page.call("snapshot", scope="page")["lines"]
    browser.command("/frame", id=0)
    assert page.call("snapshot", scope="page")["lines"] == before
    browser.command("/frame", id=None)


def test_a_frame_is_covered_with_what_it_holds(browser: Browser, site: Site) -> None:
    """What lies over a frame lies over its content."""
    page = nested(browser, site)
    browser.js(
        "document.body.insertAdjacentHTML('beforeend', '<dialog open aria-label=D style=\"position:fixed;inset:0\">')"
    )
    browser.js("document.querySelector('dialog').style.cssText += 'width:100%;height:100%'")
    answer = page.call("ready", locator={"by": "text", "value": "Inside"}, need="point", slice=100)
    assert (answer["reason"], without_refs(answer["detail"])) == ("covered", 'covered by dialog "D"')


def test_a_ref_dies_with_its_frame(browser: Browser, site: Site) -> None:
    """An element of a frame that was taken away is stale."""
    page = nested(browser, site)
    ref = page.call("ready", locator={"by": "text", "value": "Inside"}, need="visible", slice=500)["ref"]
    browser.js("document.getElementById('f').remove()")
    assert page.call("ready", locator={"by": "ref", "value": ref}, slice=0)["reason"] == "stale"
