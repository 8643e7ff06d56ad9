"""route: requests that are blocked, answered here or held back, beside the driver and for all tabs of a session."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.e2e.harness import until
from tests.e2e.stage import Stage, refused
from tests.site import Reply

FETCH = "fetch(%r).then(r => r.text().then(t => `${r.status} ${t}`), e => 'failed')"


@pytest.fixture
def routed(stage: Stage) -> Iterator[Stage]:
    """A session without rules, before and after."""
    stage.ok("route", action="clear")
    yield stage
    assert stage.ok("route", action="clear")["routes"] == []


def put(stage: Stage, path: str, text: str) -> str:
    """An address that answers with a text any page may read."""
    return stage.site.page(path, Reply(text, 200, "text/plain", {"Access-Control-Allow-Origin": "*"}))


def fetched(stage: Stage, url: str) -> str:
    """What the page is answered there."""
    return str(stage.js("await " + FETCH % url))


def test_block_fulfil_and_clear(routed: Stage) -> None:
    """The last rule of a URL counts; a cleared one is gone, and the network answers again."""
    url = put(routed, "/api/one", "net")
    routed.show("<p>page")
    assert fetched(routed, url) == "200 net"
    assert routed.ok("route", action="block", url="**/api/*")["routes"] == [{"action": "block", "url": "**/api/*"}]
    assert fetched(routed, url) == "failed"
    answer = routed.ok("route", action="fulfil", url="/api/one", status=201, body='{"a": 1}')
    assert [one["action"] for one in answer["routes"]] == ["fulfil", "block"]
    assert fetched(routed, url) == '201 {"a": 1}'
    assert routed.js(f"(await fetch({url!r})).headers.get('content-type')") == "application/json"
    assert len(routed.ok("route", action="clear", url="/api/one")["routes"]) == 1
    assert fetched(routed, url) == "failed"
    routed.ok("route", action="clear")
    assert fetched(routed, url) == "200 net"
    assert len(routed.site.visits("/api/one")) == 2


def test_a_navigation_is_ruled_too(routed: Stage) -> None:
    """Classic commands that wait for a page do not stand in the way of its answer."""
    url = routed.page("<p>real", title="real")
    routed.ok("route", action="fulfil", url=url, body="<title>mocked</title>here")
    assert routed.ok("navigate", url=url)["title"] == "mocked"
    routed.ok("route", action="block", url=url)
    assert "ERR_BLOCKED_BY_CLIENT" in refused(routed.call("navigate", url=url), "remote_error")
    routed.ok("route", action="clear")
    assert routed.ok("navigate", url=url)["title"] == "real"


def test_delay_holds_back_and_others_go_on(routed: Stage) -> None:
    """What waits is answered later by the network or by the other rules; scripts and other requests do not wait."""
    slow, fast = put(routed, "/slow", "slow"), put(routed, "/fast", "fast")
    routed.show("<p>page")
    routed.ok("route", action="delay", url=slow, ms=700)
    began = time.monotonic()
    routed.js(f"void (window.late = {FETCH % slow}.then(t => document.title = t))")
    assert fetched(routed, fast) == "200 fast"
    assert routed.js("document.title") == "Page"
    until(lambda: routed.js("document.title") == "200 slow", "the delayed answer")
    assert time.monotonic() - began >= 0.7
    routed.ok("route", action="block", url=slow)
    assert fetched(routed, slow) == "failed"
