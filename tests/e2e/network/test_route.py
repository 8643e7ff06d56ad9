"""route: requests blocked, fulfilled or delayed by rules, independent of the driver and for all tabs of a session."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.harness import Home, kill
from tests.e2e.stage import Stage, refused
from tests.servers.site import Reply, Site
from tests.waiting import until

pytestmark = pytest.mark.full

FETCH = "fetch(%r).then(r => r.text().then(t => `${r.status} ${t}`), e => 'failed')"


@pytest.fixture
def routed(stage: Stage) -> Iterator[Stage]:
    """A session without rules, before and after."""
    stage.ok("route", action="clear")
    yield stage
    assert stage.ok("route", action="clear")["routes"] == []


def put(stage: Stage, path: str, text: str) -> str:
    """Put a text on the site that any page may read; return its address."""
    return stage.site.page(path, Reply(text, 200, "text/plain", {"Access-Control-Allow-Origin": "*"}))


def fetched(stage: Stage, url: str, **session: str) -> str:
    """Fetch an address in the page; return status and text."""
    return str(stage.js("await " + FETCH % url, **session))


def test_the_last_route_rule_of_a_url_applies_until_it_is_cleared(routed: Stage) -> None:
    """The last rule of a URL applies; a cleared one does not, and the network answers again."""
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


def test_route_rules_apply_to_navigations(routed: Stage) -> None:
    """Navigations are fulfilled and blocked although classic commands wait for their page."""
    url = routed.page("<p>real", title="real")
    routed.ok("route", action="fulfil", url=url, body="<title>mocked</title>here")
    assert routed.ok("navigate", url=url)["title"] == "mocked"
    routed.ok("route", action="block", url=url)
    if routed.browser == "firefox":
        routed.ok("navigate", url=url)
        assert "blocked" in routed.ok("get_text")["text"]
    else:
        assert "ERR_BLOCKED_BY_CLIENT" in refused(routed.call("navigate", url=url), "remote_error")
    routed.ok("route", action="clear")
    assert routed.ok("navigate", url=url)["title"] == "real"


def test_a_delayed_request_holds_up_no_script_and_no_other_request(routed: Stage) -> None:
    """A delayed request is answered later by the network or by the other rules."""
    slow, fast = put(routed, "/slow", "slow"), put(routed, "/fast", "fast")
    routed.show("<p>page")
    routed.ok("route", action="delay", url=slow, ms=3000)
    note = "const begun = performance.now(), note = text => came.push([text, performance.now() - begun]);"
    routed.ok("execute_script", script=f"came = []; {note} {FETCH % slow}.then(note); {FETCH % fast}.then(note)")
    until(lambda: routed.js("came.length"), "the first answer")
    assert [text for text, _ in routed.js("came")] == ["200 fast"], "the script has waited"
    (_, _), (text, after) = until(lambda: (came := routed.js("came"))[1:] and came, "both answers")
    assert text == "200 slow"
    assert after >= 3000
    routed.ok("route", action="block", url=slow)
    assert fetched(routed, slow) == "failed"


PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="10"></svg>'

WORKERS = {
    "dedicated": "new Worker('/ask.js').onmessage = e => document.title = e.data",
    "shared": "p = new SharedWorker('/ask.js').port; p.onmessage = e => document.title = e.data; p.start()",
    "service": """s = navigator.serviceWorker; s.register('/ask.js'); s.onmessage = e => document.title = e.data;
        s.ready.then(r => r.active.postMessage(0))""",
}


@pytest.mark.parametrize("name", WORKERS)
def test_route_rules_apply_to_workers(routed: Stage, name: str) -> None:
    """Requests of dedicated, shared and service workers are answered by the rules."""
    if routed.browser == "firefox" and name != "dedicated":
        pytest.skip("Firefox reports no requests of shared and service workers, so that no rule can answer them.")
    url = put(routed, f"/of-{name}", "net")
    answer = f"{FETCH % url}.then(t => port.postMessage(t))"
    code = f"ask = port => {answer}; if (self.postMessage) ask(self); onconnect = e => ask(e.ports[0]);"
    routed.site.page("/ask.js", Reply(f"{code} onmessage = e => ask(e.source)", 200, "text/javascript"))
    routed.ok("route", action="fulfil", url=url, body="rule")
    routed.show(f"<script>{WORKERS[name]}</script>")
    assert routed.ok("wait_for", title="200 rule")
    assert routed.site.visits(f"/of-{name}") == []


def test_route_rules_apply_to_frames_tabs_and_popups(routed: Stage) -> None:
    """A cross-origin frame, a new tab and a popup follow the rules from their first request on."""
    for path in ("/frame", "/tab", "/window"):
        routed.site.page(path, "<title>net</title>net")
        routed.ok("route", action="fulfil", url=path, body=f"<title>ruled</title>ruled {path}")
    frame = routed.site.url("/frame", host="localhost")
    routed.show(f"<iframe src={frame}></iframe><a target=_blank rel=noopener href=/window>Open")
    routed.ok("wait_for", text="ruled /frame")
    opened = routed.ok("tabs", action="new", url=routed.site.url("/tab"))
    assert [tab["title"] for tab in opened["tabs"]] == ["Page", "ruled"]
    routed.ok("tabs", action="close")
    routed.ok("click_element", selector="text=Open")
    until(lambda: "ruled" in [tab["title"] for tab in routed.ok("tabs", action="list")["tabs"]], "the popup")
    for tab in routed.ok("tabs", action="list")["tabs"]:
        if not tab["current"]:
            routed.ok("tabs", action="close", tab=tab["tab"])
    assert [routed.site.visits(path) for path in ("/frame", "/tab", "/window")] == [[], [], []]


def test_a_fulfilled_request_can_be_read_across_origins(routed: Stage) -> None:
    """The CORS preflight is answered too, and a rule for one method leaves the others alone."""
    there = routed.site.url("/api", host="localhost")
    routed.show("<p>page")
    routed.ok("route", action="fulfil", url="/api", method="post", status=202, body="made", headers={"X-Mark": "1"})
    send = {"method": "POST", "credentials": "include", "headers": {"X-Own": "1"}, "body": "{}"}
    assert routed.js(f"await fetch({there!r}, {json.dumps(send)}).then(async r => [r.status, await r.text()])") == [
        202,
        "made",
    ]
    assert fetched(routed, there) == "failed"  # a GET goes to the network, where CORS forbids it


def test_a_cached_image_is_requested_again_when_route_rules_change(routed: Stage) -> None:
    """An image that was loaded before the rule, or was answered by it, is requested again."""
    routed.site.page("/kept.svg", Reply(PICTURE % 10, 200, "image/svg+xml", {"Cache-Control": "max-age=1000"}))
    page, width = routed.show("<img src=/kept.svg>"), "document.images[0].naturalWidth"
    assert routed.js(width) == 10
    routed.ok("route", action="fulfil", url="/kept.svg", body=PICTURE % 20, contentType="image/svg+xml")
    routed.ok("navigate", url=page)
    assert routed.js(width) == 20
    routed.ok("route", action="clear")
    routed.ok("navigate", history="reload")
    assert routed.js(width) == 10


def test_a_route_rule_answers_with_a_file(routed: Stage, tmp_path: Path) -> None:
    """The file's name sets the content type; without the file requests fail."""
    file = tmp_path / "data.json"
    file.write_text('["file"]')
    routed.show("<p>page")
    routed.ok("route", action="fulfil", url="**/data?page=*", path=str(file))
    answer = "(await fetch('/data?page=2').then(async r => [r.headers.get('content-type'), await r.text()]))"
    assert routed.js(answer) == ["application/json", '["file"]']
    file.unlink()
    assert fetched(routed, "/data?page=2") == "failed"


def test_a_route_is_a_sequence_step(routed: Stage) -> None:
    """The step's `do` is the tool's `action`, and the rule applies to the steps after it."""
    routed.show("<p>page")
    steps = [
        {"action": "route", "do": "fulfil", "url": "/step", "body": "ruled"},
        {"action": "execute_script", "script": f"document.title = await {FETCH % '/step'}"},
        {"action": "expect", "title": "200 ruled"},
        {"action": "route", "do": "clear", "url": "/step"},
    ]
    assert routed.ok("execute_sequence", actions=steps)["completed"] == 4
    assert routed.ok("route", action="clear", url="/step")["warnings"] == ["No rule has the url '/step'."]


def test_route_rules_leave_other_sessions_alone(routed: Stage) -> None:
    """A rule applies in its own session only."""
    url = put(routed, "/mine", "net")
    routed.show("<p>page")
    routed.ok("route", action="block", url="*")
    routed.ok("start_browser", sessionId="other", navigationUrl=routed.page("<p>other"))
    assert routed.js("await " + FETCH % url, sessionId="other") == "200 net"
    routed.ok("close_session", sessionId="other")
    assert fetched(routed, url) == "failed"


@pytest.mark.parametrize(
    ("names", "start"), [(("shop", "shop:ann"), {}), (("home", "work"), {"mode": "persistent", "profile": "routed"})]
)
def test_sessions_that_share_a_browser_have_route_rules_of_their_own(
    routed: Stage, names: tuple[str, str], start: dict[str, str]
) -> None:
    """Rules of a context or of a profile's window apply to its own tabs and popups alone."""
    routed.site.page("/shared", "<title>net</title>")
    url, page = routed.site.url("/shared"), routed.page("<a target=_blank href=/shared>Open")
    for name in names:
        routed.ok("start_browser", sessionId=name, navigationUrl=page, **start)
    ruled, other = names
    routed.ok("route", sessionId=ruled, action="fulfil", url="/shared", body="<title>rule</title>")
    for name, title in ((other, "net"), (ruled, "rule")):
        shown = routed.ok("tabs", sessionId=name, action="new", url=url)
        assert [tab["title"] for tab in shown["tabs"]] == ["Page", title]
        assert f"<title>{title}" in fetched(routed, url, sessionId=name)
        routed.ok("tabs", sessionId=name, action="close")
    routed.ok("click_element", sessionId=other, selector="text=Open")
    visits = len(routed.site.wait_visits("/shared", 3))
    routed.ok("click_element", sessionId=ruled, selector="text=Open")
    until(lambda: "rule" in str(routed.ok("tabs", sessionId=ruled, action="list")["tabs"]), "the popup")
    assert len(routed.site.visits("/shared")) == visits
    for name in reversed(names):
        routed.ok("close_session", sessionId=name)
    shutil.rmtree(Path(os.environ["ORCHESTRATOR_HOME"], "profiles"), ignore_errors=True)


def test_route_rules_outlive_their_killed_server_and_hold_nothing_up(lasting: Home, site: Site) -> None:
    """Requests that a killed server delayed continue, and the next server applies the session's rules."""
    page = site.page("/", "<title>page</title>")
    site.page("/slow", Reply("slow", 200, "text/plain"))
    site.page("/blocked", Reply("net", 200, "text/plain"))
    ask = f"return await {FETCH % '/blocked'}"
    with lasting.serve() as server:
        server.ok("start_browser", sessionId="one", navigationUrl=page)
        server.ok("route", action="delay", url="/slow", ms=600_000)
        server.ok("route", action="block", url="/blocked")
        server.ok("execute_script", script=f"void {FETCH % '/slow'}.then(t => document.title = t)")
        kill(server.process)
        site.wait_visits("/slow")
    with lasting.serve() as first, lasting.serve() as second:
        assert first.ok("execute_script", script=ask, sessionId="one")["value"] == "failed"
        assert first.ok("execute_script", script="return document.title", sessionId="one")["value"] == "200 slow"
        first.ok("har", action="start", sessionId="one")
        second.ok("route", action="clear", url="/blocked", sessionId="one")
        assert second.ok("execute_script", script=ask, sessionId="one")["value"] == "200 net"
        second.ok("route", action="block", url="/blocked", sessionId="one")
        assert second.ok("execute_script", script=ask, sessionId="one")["value"] == "failed"
        # The session has its former rules, and its recording has reconnected it.
        assert first.ok("execute_script", script=ask, sessionId="one")["value"] == "failed"
        second.ok("route", action="clear", sessionId="one")
        assert first.ok("execute_script", script=ask, sessionId="one")["value"] == "200 net"
        first.ok("close_session", sessionId="one")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, "action"),
        ({"action": "block"}, "Block needs url"),
        ({"action": "delay", "url": "/a"}, "Delay needs ms"),
        ({"action": "block", "url": "/a", "body": "x"}, "Block takes no body"),
        ({"action": "clear", "method": "GET"}, "Clear takes no method"),
        ({"action": "fulfil", "url": "/a", "body": "x", "path": "y"}, "Give either body or path"),
        ({"action": "fulfil", "url": "/a", "status": 99}, "status must be 200 to 599"),
        ({"action": "fulfil", "url": "/a", "headers": {"a b": "c"}}, "headers must be HTTP header names"),
        ({"action": "fulfil", "url": "/a", "headers": {"a": "c\nd"}}, "headers must be HTTP header names"),
        ({"action": "fulfil", "url": "/a", "path": "no/such/file"}, "/no/such/file' is not a file"),
        ({"action": "fulfil", "url": "/a", "body": "x" * 200_001}, "200,000 characters"),
        ({"action": "block", "url": "{a,b}" * 10}, "more than 50 globs"),
    ],
)
def test_bad_route_arguments_are_refused(routed: Stage, arguments: dict[str, Any], expected: str) -> None:
    """Wrong route arguments are an invalid_argument error that names the fault."""
    assert expected in refused(routed.call("route", **arguments), "invalid_argument")
