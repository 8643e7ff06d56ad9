"""Settling of pages: what is waited for, what is not, and the reason reported for a page that does not settle."""

from __future__ import annotations

import time

import pytest

from tests.e2e.stage import Stage
from tests.servers.site import Visit

pytestmark = pytest.mark.full

CLICK = {"action": "click_element", "selector": "#b"}


@pytest.mark.parametrize(
    "send",
    [
        "fetch(there).then(r => r.text()).then(done)",
        "const x = new XMLHttpRequest(); x.onload = () => done(x.responseText);x.open('GET', there); x.send()",
    ],
    ids=["fetch", "xhr"],
)
def test_a_sequence_waits_for_requests_that_its_steps_started(stage: Stage, send: str) -> None:
    """A sequence is answered after the response has come, with the resulting change of the page."""
    path = f"/data-{len(send)}"
    gate = stage.site.gate(path)
    stage.site.page(path, "from the server")
    stage.show(
        f"<button id=b>Go</button><script>const there = '{path}'; const done = text => document.body.append(text);"
        f"b.onclick = () => {{ {send} }}</script>"
    )
    running = stage.begin("execute_sequence", actions=[CLICK])
    gate.wait_entered()
    assert not running.done()
    gate.open()
    answer = running.result(60).data
    assert answer["stateChange"]["appeared"] == ["text: from the server"]
    assert answer["stable"] is True


def test_a_request_that_never_ends_is_named_as_the_unstable_reason(stage: Stage) -> None:
    """A page that is not stable in time is reported with the reason, and that is no error."""
    gate = stage.site.gate("/never")
    stage.show("<button id=b onclick=\"fetch('/never')\">Go</button>")
    answer = stage.call("execute_sequence", actions=[CLICK], stabilityTimeoutMs=400)
    assert not answer.failed
    assert answer.data["stable"] is False
    assert answer.data["unstableReason"] == "a request to /never is still in flight"
    assert answer.data["stabilityWaitMs"] >= 400
    assert answer.data["unstableReason"] in answer.text
    gate.open()


BUSY = {
    "is busy": "<div role=group aria-label=List id=i>wait</div><script>begin = () => { i.ariaBusy = 'true' }</script>",
    "progressbar": "<i id=i hidden role=progressbar>…</i><script>begin = () => { i.hidden = false }</script>",
    "#i is visible": "<i id=i hidden class=big-spinner>…</i><script>begin = () => { i.hidden = false }</script>",
    "animation": "<style>@keyframes k { to { margin-left: 9px } } .k { animation: k 60s linear }</style>"
    "<script>begin = () => { b.className = 'k' }</script>",
    "the page keeps changing": "<p id=t>0</p>"
    "<script>begin = () => setInterval(() => { t.textContent += 1 }, 20)</script>",
}


@pytest.mark.parametrize("reason", BUSY)
def test_the_unstable_reason_names_what_keeps_the_page_busy(stage: Stage, reason: str) -> None:
    """Spinners, busy parts, finite animations and endless changes are named as the unstable reason."""
    stage.show(f"<button id=b onclick='begin()'>Go</button>{BUSY[reason]}")
    # The page's own timer may be late, but not by two seconds.
    waits = {"stabilityMs": 2_000, "stabilityTimeoutMs": 3_000} if "changing" in reason else {"stabilityTimeoutMs": 400}
    answer = stage.ok("execute_sequence", actions=[CLICK], **waits)
    assert answer["stable"] is False
    assert reason in answer["unstableReason"]


SOON_OVER = {
    "spinner": "begin = () => { b.className = 'spinner'; setTimeout(() => { b.className = ''; ready() }, 400) }",
    "animation": "begin = () => { b.style.animation = 'k .4s'; b.onanimationend = ready }",
    "changes": "let n = 0; begin = () => { b.title = n += 1; n < 8 ? setTimeout(begin, 60) : ready() }",
}


@pytest.mark.parametrize("kind", SOON_OVER)
def test_a_sequence_waits_until_spinners_animations_and_changes_are_over(stage: Stage, kind: str) -> None:
    """A sequence waits for the end of a spinner, an animation or changes, and reports the page afterwards."""
    stage.show(
        "<style>@keyframes k { to { margin-left: 9px } }</style><button id=b onclick='begin()'>Go</button>"
        f"<script>ready = () => document.body.append('ready'); {SOON_OVER[kind]}</script>"
    )
    # Long enough for a machine with late timers.
    answer = stage.ok("execute_sequence", actions=[CLICK], stabilityMs=1000, stabilityTimeoutMs=20_000)
    assert answer["stable"] is True
    assert "text: ready" in answer["stateChange"]["appeared"]


ENDLESS = {
    "event-stream": "<script>new EventSource('/stream')</script>",
    "animation": "<style>@keyframes k { to { margin-left: 9px } } i { animation: k 1s infinite }</style><i>o</i>",
    "hidden-changes": "<p id=p hidden></p><script>setInterval(() => { p.textContent += 1 }, 20)</script>",
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_event_streams_and_endless_animations_are_not_waited_for(stage: Stage, kind: str) -> None:
    """Open event streams, infinite animations and invisible changes do not keep a page unstable."""
    gate = stage.site.gate("/stream")
    stage.show(f"<button id=b>Go</button>{ENDLESS[kind]}", waitUntil="interactive")
    assert stage.ok("execute_sequence", actions=[CLICK], stabilityTimeoutMs=60_000)["stable"] is True
    gate.open()


def test_stability_ms_sets_how_long_nothing_may_change(stage: Stage) -> None:
    """`stabilityMs` is the time without changes that is required; the wait is at least as long."""
    stage.show("<button id=b>Go</button>")
    waits = {"stabilityTimeoutMs": 60_000}
    assert stage.ok("execute_sequence", actions=[CLICK], stabilityMs=600, **waits)["stabilityWaitMs"] >= 600
    assert stage.ok("execute_sequence", actions=[CLICK], stabilityMs=0, **waits)["stable"] is True


def test_a_click_is_told_by_the_page_that_its_server_took_long_to_send(stage: Stage) -> None:
    """The page before is neither settled nor reported meanwhile."""

    def slow(_: Visit) -> str:
        time.sleep(1.5)  # longer than one look at the page
        return "<title>There</title>"

    stage.show(f"<a href='{stage.site.page('/long-in-coming', slow)}'>Go</a>")
    answer = stage.ok("click_element", selector="text=Go")
    assert (answer["title"], answer["stable"]) == ("There", True)
