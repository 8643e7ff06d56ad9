"""Permissions of pages in Firefox, which BiDi sets for each origin that they go to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.stage import Stage
from tests.waiting import until

pytestmark = pytest.mark.full

NAMES = ("geolocation", "notifications", "midi", "persistent-storage", "screen-wake-lock")
QUERIES = f"{[*NAMES]}.map(name => navigator.permissions.query({{name}}).then(one => one.state))"
STATES = f"<script>Promise.all({QUERIES}).then(states => document.title = states.join(' '))</script>"
WHERE = """<script>
const show = place => document.title = place.coords.latitude;
navigator.geolocation.getCurrentPosition(show, error => document.title = error.code)
</script>"""


@pytest.fixture(autouse=True)
def _as_it_is(fox: Stage) -> Iterator[None]:
    yield
    fox.ok("emulate", geolocation={}, sessionId="fox")
    fox.ok("set_policy", permissions="raise", notifications="raise", sessionId="fox")


def titled(stage: Stage, title: str) -> None:
    """Wait for the page's title."""
    until(lambda: stage.js("document.title", sessionId="fox") == title, title)


def states(stage: Stage) -> list[str]:
    """Return the states of the permissions in the open page."""
    found: list[str] = stage.ok("execute_script", script=f"return Promise.all({QUERIES})", sessionId="fox")["value"]
    return found


ASKS = {
    "geolocation": "new Promise(end => navigator.geolocation.getCurrentPosition(() => end('given'), () => end('no')))",
    "notifications": "Notification.requestPermission().then(state => state === 'granted' ? 'given' : 'no')",
    "midi": "navigator.requestMIDIAccess().then(() => 'given', () => 'no')",
    "persistent-storage": "navigator.storage.persist().then(kept => kept ? 'given' : 'no')",
}


def test_a_request_is_refused_and_reported_by_default(fox: Stage) -> None:  # X54 X58
    """A page that asks at a click gets its answer, which no prompt would give, and the event names the policy."""
    buttons = (f'<button id={name} onclick="{ask}.then(x => told = x)">Ask' for name, ask in ASKS.items())
    fox.show("<script>told = ''</script>" + "".join(buttons), sessionId="fox")
    for name in ASKS:
        events = fox.ok("click_element", selector=f"#{name}", sessionId="fox").get("events", [])
        until(lambda: fox.js("told", sessionId="fox") == "no", f"the answer for {name}")
        fox.js("told = ''", sessionId="fox")
        [event] = events
        assert f"asked for the permission {name}: it was refused" in event
        assert f"set_policy with {'notifications' if name == 'notifications' else 'permissions'}: allow" in event


@pytest.mark.parametrize(("policy", "state"), [("allow", "granted"), ("deny", "denied")])
def test_a_policy_for_permissions_holds_in_open_pages_and_in_new_origins(fox: Stage, policy: str, state: str) -> None:
    """The open page has it at once, a page of another origin from its first script on; `raise` takes it back."""
    fox.show("<p>page", sessionId="fox")
    answer = fox.ok("set_policy", permissions=policy, notifications=policy, sessionId="fox")
    assert "camera, microphone and clipboard" in answer["warnings"][0]
    assert states(fox) == [state] * len(NAMES)
    other = fox.page(STATES).replace("127.0.0.1", "localhost")
    fox.ok("navigate", url=other, sessionId="fox")
    titled(fox, " ".join([state] * len(NAMES)))
    fox.ok("set_policy", permissions="raise", notifications="raise", sessionId="fox")
    assert states(fox) == [*["denied"] * (len(NAMES) - 1), "granted"]  # nobody is asked for a wake lock


def test_an_emulated_place_needs_no_permission_unless_it_is_denied(fox: Stage) -> None:
    """Pages of any origin get it without a question; the policy `deny` has priority."""
    fox.ok("emulate", geolocation={"latitude": 52.5, "longitude": 13.4}, sessionId="fox")
    url = fox.page(WHERE)
    for address in (url, url.replace("127.0.0.1", "localhost")):
        fox.ok("navigate", url=address, sessionId="fox")
        titled(fox, "52.5")
    fox.ok("set_policy", permissions="deny", sessionId="fox")
    fox.ok("navigate", url=url, sessionId="fox")
    titled(fox, "1")
