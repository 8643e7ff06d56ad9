"""Devices by their common names: the facts visible to pages, in every tab, whichever server drives the session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.harness import Home, kill
from tests.e2e.stage import HEAR, Stage, refused
from tests.servers.mcp import Served
from tests.servers.site import Site

pytestmark = pytest.mark.full

FACTS = """({
  size: [innerWidth, innerHeight], screen: [screen.width, screen.height], scale: devicePixelRatio,
  touch: navigator.maxTouchPoints, coarse: matchMedia('(pointer: coarse)').matches,
  hover: matchMedia('(hover: hover)').matches, agent: navigator.userAgent,
  mobile: navigator.userAgentData.mobile, system: navigator.userAgentData.platform, way: screen.orientation.type,
})"""
FIT = "<meta name=viewport content='width=device-width'>"
FIRST = f'{FIT}<script>first = {FACTS}</script><button onclick="window.open(location.href)">Open</button>'
IPHONE = {
    "size": [390, 664],
    "screen": [390, 844],
    "scale": 3,
    "touch": 5,
    "coarse": True,
    "hover": False,
    "mobile": True,
    "system": "iOS",
    "way": "portrait-primary",
}


def like(facts: dict[str, Any], wanted: dict[str, Any], word: str) -> None:
    """Fail unless the page sees these facts, and this word in its user agent."""
    assert {name: facts[name] for name in wanted} == wanted
    assert word in facts["agent"]


@pytest.fixture(scope="module")
def phone(theatre: Served) -> Iterator[Stage]:
    """An iPhone, at its first page."""
    with Site() as site:
        stage = Stage(theatre, site)
        stage.ok("start_browser", sessionId="phone", device="iphone 14", navigationUrl=stage.page(FIRST))
        yield stage
        stage.ok("close_sessions", all=True)


def test_the_first_page_of_a_session_sees_the_emulated_device(phone: Stage) -> None:  # X18 X48
    """The first script and the first request get the device's size, pixels, touch, user agent and hints."""
    like(phone.js("first"), IPHONE, "iPhone")
    like(phone.js(FACTS), IPHONE, "iPhone")
    visit = phone.site.visits(phone.js("location.pathname"))[0]
    assert "iPhone" in visit.headers["User-Agent"]
    assert visit.headers["sec-ch-ua-mobile"] == "?1"


def test_new_tabs_and_windows_see_the_emulated_device(phone: Stage) -> None:  # X48
    """A window that the page opens, and a tab of the caller's own, have the device's facts from the first script on."""
    phone.ok("click_element", selector="text=Open")
    for how in ({"action": "select", "tab": "t2"}, {"action": "new", "url": phone.page(FIRST)}):
        phone.ok("tabs", **how)
        like(phone.js("first"), IPHONE, "iPhone")
        like(phone.js(FACTS), IPHONE, "iPhone")
    for tab in ("t3", "t2"):
        phone.ok("tabs", action="close", tab=tab)
    phone.ok("navigate", url=phone.site.url(phone.js("location.pathname"), host="localhost"))
    like(phone.js("first"), IPHONE, "iPhone")


def test_a_page_without_a_viewport_tag_is_980_px_wide_on_an_emulated_phone(phone: Stage) -> None:
    """A desktop page is laid out as on phones; clicks and taps land, and screenshots have the device's pixels."""
    phone.show(
        f"{HEAR}<script>hear('click', 'touchstart')</script><div style='height:1200px'></div><button id=b>B</button>"
    )
    assert phone.js("innerWidth") == 980
    phone.ok("click_element", selector="#b")
    phone.ok("tap_element", selector="#b")
    assert [one["id"] for one in phone.heard("click")] == ["b", "b"]
    assert len(phone.heard("touchstart")) == 1
    assert "1170 x 1992 px" in phone.call("take_screenshot").text
    assert phone.js("[innerWidth, devicePixelRatio]") == [980, 3]


def test_screenshots_of_an_emulated_device_have_its_pixels_and_change_nothing(phone: Stage) -> None:
    """Screenshots of page and element have the device's pixels; afterwards the page is unchanged."""
    phone.show(
        f"{FIT}<style>body {{ margin: 0 }}</style><div style='height:1500px'></div><p id=low style='margin:0'>low"
    )
    assert "One CSS pixel (tap coordinate) is 3 image pixels" in phone.call("take_screenshot", selector="#low").text
    whole = phone.call("take_screenshot", fullPage=True).text
    assert "1170 x 4" in whole
    like(phone.js(FACTS), IPHONE, "iPhone")


def test_set_viewport_overrides_only_the_size_of_an_emulated_device(phone: Stage) -> None:  # X49 X50 X52
    """The other facts stay the device's after set_viewport, also on the next page."""
    phone.ok("set_viewport", width=430, height=700)
    phone.show(FIRST)
    like(phone.js("first"), {**IPHONE, "size": [430, 700], "screen": [430, 844]}, "iPhone")
    phone.ok("set_viewport", width=390, height=664)
    like(phone.js(FACTS), IPHONE, "iPhone")


def test_viewport_given_at_start_overrides_the_size_of_the_device(theatre: Served, phone: Stage) -> None:  # X49
    """A start with `viewport` beside `device` has the given size and the rest of the device."""
    url = phone.page(FIRST)
    size = {"width": 360, "height": 640}
    theatre.ok("start_browser", sessionId="small", device="Pixel 7", viewport=size, navigationUrl=url)
    facts = phone.js("first", sessionId="small")
    like(facts, {"size": [360, 640], "scale": 2.625, "system": "Android"}, "Pixel 7")
    version = theatre.ok("list_sessions")["sessions"][0]["capabilities"]["browserVersion"].partition(".")[0]
    assert f"Chrome/{version}.0.0.0 Mobile" in facts["agent"]
    theatre.ok("close_session", sessionId="small")


@pytest.mark.parametrize(
    ("name", "facts", "word"),
    [
        ("Pixel 8 Pro", {"size": [448, 921], "screen": [448, 997], "scale": 3, "system": "Android"}, "; Pixel 8 Pro)"),
        ("iPhone 15 Pro landscape", {"size": [734, 343], "screen": [852, 393], "scale": 3, "touch": 5}, "iPhone OS"),
        ("iPad (gen 7)", {"size": [810, 1080], "scale": 2, "mobile": False, "way": "portrait-primary"}, "iPad"),
        ("Desktop Edge HiDPI", {"size": [1280, 720], "scale": 2, "touch": 0, "mobile": False}, "Edg/"),
    ],
)
def test_devices_of_playwrights_list_are_emulated(
    phone: Stage, name: str, facts: dict[str, Any], word: str
) -> None:  # X47 X48
    """Page area, screen, scale, touch and orientation are those of the list; versions are the browser's own."""
    phone.ok("emulate", device=name)
    phone.show(FIRST)
    seen = phone.js("first")
    like(seen, facts, word)
    assert seen["coarse"] == (seen["touch"] > 0)
    assert seen["way"].startswith("landscape" if seen["size"][0] > seen["size"][1] else "portrait")
    if "Chrome/" in seen["agent"]:
        own = phone.js("navigator.userAgentData.brands.find(one => one.brand == 'Chromium').version")
        assert f"Chrome/{own}.0.0.0" in seen["agent"]
    phone.ok("emulate", device="iPhone 14")


def test_an_unknown_device_is_refused_before_anything_starts(theatre: Served) -> None:  # X47
    """The error offers the nearest names; a browser that cannot emulate a device is refused, too."""
    text = refused(theatre.call("start_browser", sessionId="x", device="iPhone 14 Por"), "invalid_argument")
    assert "'iPhone 14 Pro'" in text
    refused(theatre.call("start_browser", sessionId="x", device="Pixel 7", browser="safari"), "unsupported")
    assert "x" not in [one["sessionId"] for one in theatre.ok("list_sessions")["sessions"]]


def test_the_next_server_keeps_the_emulated_device_and_timezone(home: Home, site: Site) -> None:
    """New pages and tabs of the next server have the device and timezone that the first one emulated."""
    url = site.page("/first", f"<!doctype html>{FIRST}")
    clock = "Intl.DateTimeFormat().resolvedOptions().timeZone"
    with home.serve() as second:
        with home.serve(park_ttl="100") as first:
            first.ok("start_browser", sessionId="a", device="iPhone 14")
            first.ok("emulate", timezone="Asia/Tokyo", sessionId="a")
            kill(first.process)
        for tool, arguments in {"navigate": {"url": url}, "tabs": {"action": "new", "url": url}}.items():
            second.ok(tool, **arguments, sessionId="a")
            answer = second.ok("execute_script", script=f"return [first, {clock}]", sessionId="a")["value"]
            like(answer[0], IPHONE, "iPhone")
            assert answer[1] == "Asia/Tokyo"
        emulated = second.ok("emulate", device="none", sessionId="a")
        assert emulated["timezone"] == "Asia/Tokyo"
        assert "device" not in emulated
        assert second.ok("execute_script", script=f"return {FACTS}", sessionId="a")["value"]["size"] == [1280, 720]
        second.ok("close_session", sessionId="a")
