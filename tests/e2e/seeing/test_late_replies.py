"""Replies that come, or are drawn, late: requests end with their bodies, and what polls by itself is not waited for."""

from __future__ import annotations

import pytest

from tests.e2e.stage import Stage
from tests.long.replies import DRAWS, READS, shelf
from tests.servers.site import Gate, Reply

pytestmark = pytest.mark.full


@pytest.mark.required
@pytest.mark.parametrize("draw", ["a little later"])
@pytest.mark.parametrize("read", ["json", "stream"])
def test_a_reply_whose_body_comes_later_is_waited_for(stage: Stage, read: str, draw: str) -> None:
    """The answer to the click has what the page draws after the rest of the body has come."""
    rest = Gate()
    path = f"/late-{read}"
    stage.site.page(path, Reply('{"left": 12}', content_type="application/json", rest=rest))
    stage.show(shelf(path, read, draw))
    running = stage.begin("click_element", selector="#b")
    rest.wait_entered()
    rest.open()
    assert running.result(60).data["stateChange"]["changed"] == ["text: left: 12"]


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("read", READS)
def test_a_reply_is_told_however_it_is_read_and_drawn(stage: Stage, read: str, draw: str) -> None:
    """No way to read and to draw a reply is missed."""
    path = f"/shelf-{read}-{draw.replace(' ', '-')}"
    gate = stage.site.gate(path)
    stage.site.page(path, Reply('{"left": 12}', content_type="application/json"))
    stage.show(shelf(path, read, draw))
    running = stage.begin("click_element", selector="#b")
    gate.wait_entered()
    gate.open()
    assert running.result(60).data["stateChange"]["changed"] == ["text: left: 12"]


def test_a_reply_that_leads_to_another_request_is_waited_for_with_it(stage: Stage) -> None:
    """The second request, which begins long after the click, is the click's doing, too."""
    first, second = stage.site.gate("/first"), stage.site.gate("/second")
    stage.show(
        "<button id=b>Go</button><p id=o>none</p><script>b.onclick = async () => {"
        "await (await fetch('/first')).text(); o.textContent = await (await fetch('/second')).text() }</script>"
    )
    stage.site.page("/second", "both are here")
    running = stage.begin("execute_sequence", actions=[{"action": "click_element", "selector": "#b"}])
    first.wait_entered()
    first.open()
    second.wait_entered()
    second.open()
    assert running.result(60).data["stateChange"]["changed"] == ["text: both are here"]


@pytest.mark.parametrize(
    "poll",
    [
        "setInterval(() => fetch('/poll').then(r => r.text()), 100)",
        "const again = () => fetch('/poll').then(r => r.text()).then(() => setTimeout(again, 20)); again()",
        "const e = new EventSource('/events')",
        "fetch('/events').then(async r => { for await (const _ of r.body); })",
    ],
    ids=["interval", "chain", "EventSource", "event stream"],
)
def test_what_polls_by_itself_does_not_keep_a_click_from_settling(stage: Stage, poll: str) -> None:
    """Requests of a timer, and streams of events, are no doing of the click."""
    events = Gate()
    stage.site.page("/poll", "0")
    stage.site.page("/events", Reply("data: 1\n\ndata: 2\n\n", content_type="text/event-stream", rest=events))
    stage.show(f"<button onclick='document.title = `pressed`'>Go</button><script>{poll}</script>")
    answer = stage.ok("click_element", selector="text=Go")
    assert (answer["title"], answer["stable"]) == ("pressed", True)
    events.open()
