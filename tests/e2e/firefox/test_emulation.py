"""What Firefox emulates by BiDi: place, time zone, language, offline, and of devices the screen and the user agent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.stage import Stage, refused

pytestmark = pytest.mark.full

ZONE = "Intl.DateTimeFormat().resolvedOptions().timeZone"
SIZE = "[innerWidth, innerHeight, devicePixelRatio, screen.width, screen.height, screen.orientation.type]"
ASPECTS: dict[str, tuple[Any, str, Any, Any]] = {
    "timezone": ("Asia/Tokyo", ZONE, "Asia/Tokyo", "none"),
    "locale": ("de-DE", "[navigator.language, (1.5).toLocaleString()]", ["de-DE", "1,5"], "none"),
    "offline": (True, "navigator.onLine", False, False),
}


@pytest.fixture(autouse=True)
def _as_it_is(fox: Stage) -> Iterator[None]:
    yield
    fox.ok("emulate", sessionId="fox", device="none", timezone="none", locale="none", offline=False, geolocation={})
    fox.ok("close_sessions", prefix="other")


@pytest.mark.parametrize("aspect", ASPECTS)
def test_firefox_emulates_time_zone_language_and_offline_until_they_are_reset(fox: Stage, aspect: str) -> None:
    """An open page and a tab opened later see it; afterwards all is as before."""
    given, seen, wanted, reset = ASPECTS[aspect]
    url = fox.show("<p>page", sessionId="fox")
    before = fox.js(seen, sessionId="fox")
    assert before != wanted
    assert fox.ok("emulate", sessionId="fox", **{aspect: given})[aspect] == given
    assert fox.js(seen, sessionId="fox") == wanted
    fox.ok("tabs", action="new", sessionId="fox")
    assert fox.js(seen, sessionId="fox") == wanted
    fox.ok("tabs", action="close", sessionId="fox")
    fox.ok("emulate", sessionId="fox", **{aspect: reset})
    fox.ok("navigate", url=url, sessionId="fox")
    assert fox.js(seen, sessionId="fox") == before


def test_a_device_gives_firefox_its_screen_and_user_agent_and_says_what_is_missing(fox: Stage) -> None:
    """The page area, the pixels, the orientation and the user agent are the device's; touch and layout are told of."""
    url = fox.show("<p>page", sessionId="fox")
    before = fox.js(SIZE, sessionId="fox")
    answer = fox.ok("emulate", device="iPhone 14 landscape", sessionId="fox")
    assert "neither its touch screen nor a phone's layout" in answer["warnings"][0]
    size = [*answer["viewport"].values()]
    fox.ok("navigate", url=url, sessionId="fox")
    assert fox.js(SIZE, sessionId="fox") == [*size, 3, 844, 390, "landscape-primary"]
    assert "iPhone" in fox.site.visits(url.removeprefix(fox.site.url("")))[-1].headers["User-Agent"]
    fox.ok("emulate", device="none", sessionId="fox")
    assert fox.js(SIZE, sessionId="fox") == before


def test_the_first_page_of_a_firefox_sees_the_device_of_its_start(fox: Stage) -> None:  # X18
    """`device` of a start is in force before the first page."""
    url = fox.page("<p>page")
    started = fox.call(
        "start_browser", browser="firefox", sessionId="other", device="Galaxy S20 Ultra", navigationUrl=url
    )
    assert not started.failed, started.text
    assert "SM-G988B" in fox.site.visits(url.removeprefix(fox.site.url("")))[-1].headers["User-Agent"]
    assert fox.js("innerWidth", sessionId="other") == 412


@pytest.mark.parametrize("size", [(320, 480), (100, 100), (2000, 1500)])
def test_a_firefox_page_gets_any_size(fox: Stage, size: tuple[int, int]) -> None:
    """Sizes below those of a window are reached, by `set_viewport` and from the start on."""
    width, height = size
    fox.show("<p>page", sessionId="fox")
    assert "warnings" not in fox.ok("set_viewport", width=width, height=height, sessionId="fox")
    assert fox.js("[innerWidth, innerHeight]", sessionId="fox") == [width, height]
    fox.ok("tabs", action="new", sessionId="fox")
    assert fox.js("[innerWidth, innerHeight]", sessionId="fox") == [width, height]
    fox.ok("tabs", action="close", sessionId="fox")
    fox.ok("set_viewport", width=1280, height=720, sessionId="fox")


def test_a_firefox_starts_with_a_page_narrower_than_a_window(fox: Stage) -> None:
    """`viewport` of a start may be that of a phone."""
    fox.ok("start_browser", browser="firefox", sessionId="other", viewport={"width": 320, "height": 480})
    assert fox.js("[innerWidth, innerHeight]", sessionId="other") == [320, 480]


def test_firefox_refuses_a_colour_scheme_with_its_reason(fox: Stage) -> None:
    """What it has no command for is refused, and nothing given with it stays in force."""
    fox.show("<p>page", sessionId="fox")
    zone = fox.js(ZONE, sessionId="fox")
    answer = fox.server.call("emulate", timezone="Asia/Tokyo", colorScheme="dark", sessionId="fox")
    assert "no command for media features" in refused(answer, "unsupported")
    assert fox.js(ZONE, sessionId="fox") == zone
