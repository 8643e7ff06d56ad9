"""emulate: device, place, clock, language, colours and network of an open session, at once and in later tabs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.harness import Home
from tests.e2e.stage import Stage, refused
from tests.servers.site import Site

pytestmark = pytest.mark.full

WHERE = (
    "await new Promise(done => navigator.geolocation.getCurrentPosition("
    "at => done([at.coords.latitude, at.coords.longitude, at.coords.accuracy]), error => done(error.code)))"
)
BERLIN = {"latitude": 52.5, "longitude": 13.4, "accuracy": 10}
ASPECTS: dict[str, tuple[Any, str, Any, Any]] = {
    "geolocation": (BERLIN, WHERE, [52.5, 13.4, 10], {}),
    "timezone": ("Asia/Tokyo", "Intl.DateTimeFormat().resolvedOptions().timeZone", "Asia/Tokyo", "none"),
    "locale": ("de-DE", "[navigator.language, (1.5).toLocaleString()]", ["de-DE", "1,5"], "none"),
    "colorScheme": ("dark", "matchMedia('(prefers-color-scheme: dark)').matches", True, "none"),
    "offline": (True, "!navigator.onLine", True, False),
}
"""By parameter: value, script that reads it, its result, value that resets it."""


@pytest.fixture(autouse=True)
def _as_it_is(stage: Stage) -> Iterator[None]:
    yield
    stage.ok("emulate", device="none", **{name: reset for name, (_, _, _, reset) in ASPECTS.items()})


@pytest.mark.parametrize("aspect", ASPECTS)
def test_an_open_page_sees_each_emulated_aspect_until_it_is_reset(stage: Stage, aspect: str) -> None:
    """An open page and a tab that it opens see the emulation at once; the answer lists the active emulation."""
    given, seen, wanted, reset = ASPECTS[aspect]
    stage.show("<button onclick=\"window.open('about:blank')\">Open</button>")
    before = stage.js(seen)
    assert before != wanted
    answer = stage.ok("emulate", **{aspect: given})
    assert answer[aspect] == given
    assert stage.js(seen) == wanted
    if aspect != "geolocation":  # about:blank may not ask
        stage.ok("click_element", selector="text=Open")
        stage.ok("tabs", action="select", tab=stage.ok("tabs", action="list")["tabs"][-1]["tab"])
        assert stage.js(seen) == wanted
        stage.ok("tabs", action="close")
    assert aspect not in stage.ok("emulate", **{aspect: reset})
    assert stage.js(seen) == before


def test_emulate_reports_what_changed_on_the_page(stage: Stage) -> None:
    """The answer reports what the page shows on the device, and what it hides."""
    narrow = "<style>@media (max-width: 600px) { #wide { display: none } }</style><p id=wide>wide</p>"
    stage.show(f"<meta name=viewport content='width=device-width'>{narrow}")
    answer = stage.ok("emulate", device="pixel 7")
    assert answer["device"] == "Pixel 7"
    assert answer["viewport"] == {"width": 412, "height": 839}
    assert answer["stateChange"]["disappeared"] == ["text: wide"]
    assert stage.ok("emulate", device="none")["stateChange"]["appeared"] == ["text: wide"]


def test_ending_a_device_emulation_restores_the_former_viewport(stage: Stage) -> None:
    """The former size is restored, also after a second device and a size set in between."""
    stage.show("<meta name=viewport content='width=device-width'><p>here")
    stage.ok("set_viewport", width=900, height=640)
    stage.ok("emulate", device="iPhone SE")
    stage.ok("emulate", device="iPad Air landscape")
    assert stage.js("[innerWidth, innerHeight, devicePixelRatio]") == [1180, 820, 2]
    stage.ok("set_viewport", width=700, height=500)
    touches = 0 if stage.browser == "firefox" else 5  # it has no command for touch, and says so
    assert stage.js("[innerWidth, innerHeight, devicePixelRatio, navigator.maxTouchPoints]") == [700, 500, 2, touches]
    assert stage.ok("emulate", device="none")["viewport"] == {"width": 900, "height": 640}
    assert stage.js("[innerWidth, innerHeight, devicePixelRatio, navigator.maxTouchPoints]") == [900, 640, 1, 0]
    stage.ok("set_viewport", width=1280, height=720)


def test_requests_carry_the_emulated_language_and_user_agent(stage: Stage) -> None:
    """Requests have the emulated language, and a user agent with the device in it."""
    stage.ok("emulate", device="Galaxy S20 Ultra", locale="fr-FR")
    url = stage.show("<p>there")
    visit = stage.site.visits(url.removeprefix(stage.site.url("")))[0]
    assert visit.headers["Accept-Language"].startswith("fr-FR")
    assert "SM-G988B" in visit.headers["User-Agent"]
    assert "Headless" not in visit.headers["User-Agent"]
    if stage.browser != "firefox":  # which sends none of these
        assert visit.headers["sec-ch-ua-platform"] == '"Android"'


def test_a_page_cannot_be_reached_while_offline_is_emulated(stage: Stage) -> None:
    """Pages cannot be reached while offline is emulated, and can be afterwards."""
    url = stage.show("<p>there")
    stage.ok("emulate", offline=True)
    reason = "NS_ERROR_OFFLINE" if stage.browser == "firefox" else "ERR_INTERNET_DISCONNECTED"
    assert reason in stage.call("navigate", url=url).text
    stage.ok("emulate", offline=False)
    assert stage.ok("navigate", url=url)["url"] == url


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, "nothing to emulate"),
        ({"device": "Nokia 3310"}, "Unknown device 'Nokia 3310'"),
        ({"timezone": "Mars/Phobos"}, "does not know the timezone 'Mars/Phobos'"),
        ({"timezone": "5 o'clock"}, "Europe/Berlin"),
        ({"locale": "not a language"}, "de-DE"),
        ({"geolocation": {"latitude": 91, "longitude": 0}}, "latitude"),
        ({"geolocation": {"latitude": 5}}, "belong together"),
        ({"colorScheme": "pink"}, "colorScheme"),
    ],
)
def test_invalid_emulation_values_are_refused(stage: Stage, arguments: dict[str, Any], expected: str) -> None:
    """An invalid value is `invalid_argument`, and nothing changes."""
    before = stage.ok("emulate", locale="none")
    assert expected in refused(stage.call("emulate", **arguments), "invalid_argument")
    assert stage.ok("emulate", locale="none").get("timezone") == before.get("timezone")


def test_a_refused_emulation_leaves_nothing_in_force(stage: Stage) -> None:
    """A device and its size are undone when the browser does not know the timezone given with them."""
    stage.show("<meta name=viewport content='width=device-width'><p>here")
    facts = (
        "[innerWidth, innerHeight, devicePixelRatio, navigator.maxTouchPoints, navigator.userAgent.includes('Pixel')]"
    )
    before = stage.js(facts)
    refused(stage.call("emulate", device="Pixel 7", timezone="Mars/Phobos"), "invalid_argument")
    assert stage.js(facts) == before
    stage.ok("take_screenshot")
    assert stage.js(facts) == before
    told = stage.ok("emulate", offline=False)
    assert (told.get("device"), [*told["viewport"].values()]) == (None, before[:2])


def test_an_emulated_geolocation_needs_no_permission_unless_it_is_denied(stage: Stage) -> None:  # X54
    """Pages get an emulated geolocation without a question; the policy `deny` has priority."""
    stage.show("<p>asking")
    stage.ok("emulate", geolocation=BERLIN)
    assert stage.js(WHERE) == [52.5, 13.4, 10]
    stage.ok("set_policy", permissions="deny")
    assert stage.js(WHERE) == 1
    stage.ok("set_policy", permissions="raise")
    assert stage.js(WHERE) == [52.5, 13.4, 10]


def test_emulation_without_bidi_reaches_each_tab_once_it_is_current(home: Home, site: Site) -> None:
    """A session without BiDi emulates in the current tab at once, in others when they become current."""
    url = site.page("/p", "<!doctype html><meta name=viewport content='width=device-width'><p>here")
    zone = "Intl.DateTimeFormat().resolvedOptions().timeZone"
    facts = f"return [innerWidth, devicePixelRatio, navigator.maxTouchPoints, navigator.platform, {zone}]"
    pixel = [412, 2.625, 5, "Linux armv81", "Asia/Tokyo"]
    with home.serve() as server:
        classic = {"webSocketUrl": False}
        server.ok("start_browser", sessionId="a", capabilities=classic, device="Pixel 7", navigationUrl=url)
        assert server.ok("execute_script", script=facts)["value"][:4] == pixel[:4]
        server.ok("tabs", action="new", url=url)
        server.ok("emulate", timezone="Asia/Tokyo")
        assert server.ok("execute_script", script=facts)["value"] == pixel
        server.ok("tabs", action="select", tab="t1")
        assert server.ok("execute_script", script=facts)["value"] == pixel
        server.ok("set_policy", notifications="allow")
        script = "return Notification.requestPermission()"
        assert server.ok("execute_script", script=script)["value"] == "granted"
        server.ok("emulate", device="none", timezone="none", observe="none")
        now = server.ok("execute_script", script=facts)["value"]
        assert now[:3] == [1280, 1, 0]
        assert now[4] != "Asia/Tokyo"
        server.ok("close_session")
