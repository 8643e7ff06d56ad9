"""Rules for requests and replays of archives in Firefox, by BiDi."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.harness import Home, in_time, kill
from tests.e2e.stage import Stage
from tests.servers.site import Reply, Site
from tests.waiting import until

pytestmark = pytest.mark.full

FETCH = "fetch(%r, %s).then(r => r.text().then(t => `${r.status} ${t}`), e => 'failed')"


@pytest.fixture
def routed(fox: Stage) -> Iterator[Stage]:
    """A session without rules, before and after."""
    yield fox
    assert fox.ok("route", action="clear", sessionId="fox")["routes"] == []


def put(stage: Stage, path: str, text: str) -> str:
    """Put a text on the site that any page may read; return its address."""
    return stage.site.page(path, Reply(text, 200, "text/plain", {"Access-Control-Allow-Origin": "*"}))


def fetched(stage: Stage, url: str, options: str = "{}") -> str:
    """Fetch an address in the page; return status and text."""
    return str(stage.js("await " + FETCH % (url, options), sessionId="fox"))


def test_the_last_rule_of_a_url_applies_in_firefox_until_it_is_cleared(routed: Stage) -> None:
    """Requests are blocked and fulfilled, the answer has its status and type, and the network answers again."""
    url = put(routed, "/api/one", "net")
    routed.show("<p>page", sessionId="fox")
    assert fetched(routed, url) == "200 net"
    routed.ok("route", action="block", url="**/api/*", sessionId="fox")
    assert fetched(routed, url) == "failed"
    routed.ok("route", action="fulfil", url="/api/one", status=201, body='{"a": "ä 🐟"}', sessionId="fox")
    assert fetched(routed, url) == '201 {"a": "ä 🐟"}'
    kind = f"(await fetch({url!r})).headers.get('content-type')"
    assert routed.js(kind, sessionId="fox") == "application/json"
    assert fetched(routed, url.replace("127.0.0.1", "localhost")) == '201 {"a": "ä 🐟"}'
    routed.ok("route", action="clear", sessionId="fox")
    assert fetched(routed, url) == "200 net"
    assert len(routed.site.visits("/api/one")) == 2


def test_rules_apply_to_navigations_and_frames_of_firefox(routed: Stage) -> None:
    """A page can be fulfilled; a blocked one says so instead of failing, as geckodriver would wait for it."""
    url = routed.page("<p>real", title="real")
    routed.ok("route", action="fulfil", url=url, body="<title>mocked</title>here", sessionId="fox")
    assert routed.ok("navigate", url=url, sessionId="fox")["title"] == "mocked"
    routed.show(f"<iframe src='{url}'></iframe>", sessionId="fox")
    assert routed.js("frames[0].document.title", sessionId="fox") == "mocked"
    routed.ok("route", action="block", url=url, sessionId="fox")
    routed.ok("navigate", url=url, sessionId="fox")
    assert "blocked: a rule for requests (tool route) blocks" in routed.ok("get_text", sessionId="fox")["text"]
    assert routed.site.visits(url.removeprefix(routed.site.url(""))) == []


def test_a_delayed_request_of_firefox_holds_up_no_other(routed: Stage) -> None:
    """A rule's delay is that of its request alone."""
    slow, fast = put(routed, "/slow", "slow"), put(routed, "/fast", "fast")
    routed.show("<p>page", sessionId="fox")
    routed.ok("route", action="delay", url=slow, ms=1500, sessionId="fox")
    race = f"await Promise.race([{slow!r}, {fast!r}].map(url => fetch(url).then(r => r.text())))"
    assert routed.js(race, sessionId="fox") == "fast"
    took = f"await (async (t) => (await fetch({slow!r}), performance.now() - t))(performance.now())"
    assert routed.js(took, sessionId="fox") >= 1500


def _entry(url: str, method: str, sent: str, text: str) -> dict[str, Any]:
    posted = {"postData": {"mimeType": "text/plain", "text": sent}} if sent else {}
    content = {"mimeType": "text/plain", "text": text, "size": len(text)}
    headers = [{"name": "Content-Type", "value": "text/plain"}]
    response = {"status": 200, "statusText": "OK", "headers": headers, "content": content}
    return {"startedDateTime": "2026-01-01T00:00:00Z", "time": 1, "response": response,
            "request": {"url": url, "method": method, "headers": [], **posted}}  # fmt: skip


def test_an_archive_is_replayed_in_firefox_by_method_url_and_body(routed: Stage, tmp_path: Path) -> None:
    """Requests are answered from the archive; those that are not in it fail with notFound abort."""
    url = routed.site.url("/recorded")
    entries = [_entry(url, "GET", "", "got"), _entry(url, "POST", "a", "for a"), _entry(url, "POST", "b", "for b")]
    path = tmp_path / "one.har"
    path.write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}))
    other = put(routed, "/unrecorded", "net")
    routed.show("<p>page", sessionId="fox")
    routed.ok("har", action="replay", path=str(path), notFound="abort", sessionId="fox")
    assert fetched(routed, url) == "200 got"
    assert fetched(routed, url, "{method: 'POST', body: 'b'}") == "200 for b"
    assert fetched(routed, url, "{method: 'POST', body: 'a'}") == "200 for a"
    assert fetched(routed, other) == "failed"
    routed.ok("har", action="stop", sessionId="fox")
    assert fetched(routed, other) == "200 net"
    assert routed.site.visits("/recorded") == []


def test_a_firefox_starts_with_an_archive(routed: Stage, tmp_path: Path) -> None:
    """Option `hars` answers from the first page on."""
    url = routed.site.url("/first")
    path = tmp_path / "first.har"
    path.write_text(json.dumps({"log": {"version": "1.2", "entries": [_entry(url, "GET", "", "from the archive")]}}))
    start = {"browser": "firefox", "sessionId": "other", "navigationUrl": url, "options": {"hars": [str(path)]}}
    routed.ok("start_browser", **start)
    assert routed.ok("get_text", sessionId="other")["text"] == "from the archive"
    routed.ok("close_session", sessionId="other")


def test_rules_in_firefox_outlive_their_killed_server(lasting: Home, site: Site, needs_firefox: None) -> None:  # noqa: ARG001
    """The next server serves the rules of the record, and requests that no rule is about pass."""
    url, free = site.page("/ruled", "net"), site.page("/free", "<title>free</title>")
    with lasting.serve() as first:
        first.ok("start_browser", browser="firefox", sessionId="fox")
        first.ok("route", action="fulfil", url=url, body="<title>ruled</title>", sessionId="fox")
        kill(first.process)
    with lasting.serve() as second:
        assert second.ok("navigate", url=url, sessionId="fox")["title"] == "ruled"
        assert second.ok("navigate", url=free, sessionId="fox")["title"] == "free"
        second.ok("route", action="clear", sessionId="fox")
        assert second.ok("navigate", url=url, sessionId="fox")["title"] != "ruled"
        second.ok("close_sessions", all=True)
    until(lambda: not lasting.records(), "the end of the session")


@pytest.mark.clock
def test_a_request_that_no_rule_is_about_is_hardly_slower(routed: Stage) -> None:
    """The browser's events are acknowledged at once: it would send the next one 40 ms later otherwise."""
    url = put(routed, "/quick", "quick")
    routed.show("<p>page", sessionId="fox")
    routed.ok("route", action="block", url="**/nothing", sessionId="fox")
    all_of_them = f"(async () => {{ for (let n = 0; n < 50; n++) await fetch({url!r}) }})()"
    took = f"await (async (t) => (await {all_of_them}, performance.now() - t))(performance.now())"
    assert min(routed.js(took, sessionId="fox") for _ in range(3)) < 1000 * in_time(1.0)
