"""HAR recordings of Firefox, by BiDi; what a recording has in any browser is tested with `har`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator.system.secrets import MASK
from tests.e2e.harness import Home, kill
from tests.e2e.network.test_har import FORM, entries, of
from tests.e2e.stage import Stage
from tests.servers.site import Reply, Site
from tests.waiting import until

pytestmark = pytest.mark.full


def test_a_firefox_is_recorded_from_its_first_page_to_its_close(fox: Stage, tmp_path: Path) -> None:  # X20
    """Option `har` records redirects, bodies both ways, other tabs and frames of other origins, with their pages."""
    path, url = tmp_path / "all.har", fox.site.url
    fox.site.page("/old", Reply("", 302, headers={"Location": "/new"}))
    fox.site.page("/inner", f"<title>inner</title><img src={url('/dot.png', host='localhost')}>in a frame")
    fox.site.page("/new", f"<title>new</title><iframe src={url('/inner', host='localhost')}></iframe>")
    fox.site.page("/dot.png", Reply(b"\x89PNG\x00\xff", 200, "image/png"))
    fox.site.page("/data", Reply('{"n": "ä"}', 200, "application/json"))
    options, tape = {"har": str(path)}, {"sessionId": "taped"}
    fox.ok("start_browser", browser="firefox", navigationUrl=url("/old"), options=options, **tape)
    send = {"method": "POST", "body": "a=1&b=zwei", "headers": {"Content-Type": "application/x-www-form-urlencoded"}}
    assert fox.js(f"(await (await fetch('/data?q=1', {json.dumps(send)})).json()).n", **tape) == "ä"
    assert fox.js("await fetch('http://localhost:65535/').catch(() => 'failed')", **tape) == "failed"
    fox.ok("tabs", action="new", url=fox.page("tab", title="tab"), **tape)
    closed = fox.ok("close_session", sessionId="taped")
    assert f"is in {path}" in closed["warnings"][0]
    log = json.loads(path.read_text("utf-8"))["log"]
    first, _ = log["pages"]
    assert (log["browser"]["name"], first["title"]) == ("firefox", url("/old"))
    assert 0 < first["pageTimings"]["onContentLoad"] <= first["pageTimings"]["onLoad"]
    old, posted = of(path, url("/old")), of(path, url("/data?q=1"))
    assert (old["response"]["status"], old["response"]["redirectURL"]) == (302, "/new")
    assert "<iframe" in of(path, url("/new"))["response"]["content"]["text"]
    picture = of(path, url("/dot.png", host="localhost"))
    assert (picture["response"]["content"]["text"], picture["_resourceType"]) == ("iVBORwD/", "image")
    assert posted["request"]["postData"]["params"][1] == {"name": "b", "value": "zwei"}
    assert posted["response"]["content"] == {"size": 11, "mimeType": "application/json", "text": '{"n": "ä"}'}
    assert {one["pageref"] for one in (old, posted, picture)} == {first["id"]}
    assert 0 < posted["timings"]["wait"] <= posted["time"]
    assert of(path, "http://localhost:65535/")["_error"]


def test_bodies_that_firefox_does_not_keep_are_left_out_with_a_reason(fox: Stage) -> None:  # X20
    """A large body is omitted, an answer without one is empty, and a redirect that is not followed is recorded."""
    fox.site.page("/big", Reply(b"x" * 6_000_000, 200, "text/plain"))
    fox.site.page("/none", Reply("", 204))
    fox.site.page("/elsewhere", Reply("", 302, headers={"Location": "/none"}))
    fox.show("<p>page", sessionId="fox")
    path = fox.ok("har", action="start", sessionId="fox")["path"]
    fetches = "fetch('/big').then(r => r.text()), fetch('/none'), fetch('/elsewhere', {redirect: 'manual'})"
    fox.js(f"(await Promise.all([{fetches}])).length", sessionId="fox")
    fox.ok("har", action="stop", sessionId="fox")
    content = {one["request"]["url"]: one["response"]["content"] for one in entries(path)}
    assert content[fox.site.url("/big")]["comment"] == "omitted: larger than 5,000,000 bytes"
    assert content[fox.site.url("/none")]["text"] == ""
    assert of(path, fox.site.url("/elsewhere"))["response"]["status"] == 302


def test_no_secret_stands_in_a_recording_of_firefox(fox: Stage) -> None:
    """Cookies, credentials and typed passwords are masked."""
    fox.site.page("/login", Reply("<p>in", headers={"Set-Cookie": "sid=topsecret1; Path=/; HttpOnly"}))
    fox.show(FORM, sessionId="fox")
    path = fox.ok("har", action="start", sessionId="fox")["path"]
    fox.ok("set_value", selector="[name=secret]", value="hunter2-hunter2", sessionId="fox")
    fox.ok("click_element", selector="text=In", sessionId="fox")
    sent = "await fetch('/login', {headers: {Authorization: 'Bearer abcdef123456'}}).then(r => r.text())"
    assert fox.js(sent, sessionId="fox") == "<p>in"
    fox.ok("har", action="stop", sessionId="fox")
    text = Path(path).read_text("utf-8")
    assert not any(secret in text for secret in ("topsecret1", "hunter2", "abcdef123456"))
    posted, fetched = (one for one in entries(path) if one["request"]["url"].endswith("/login"))
    assert posted["request"]["postData"]["text"] == f"user=ann&secret={MASK}"
    assert {"name": "Cookie", "value": f"sid={MASK}"} in fetched["request"]["headers"]
    fox.ok("cookies", action="clear", sessionId="fox")


def test_a_recording_of_firefox_outlives_its_killed_server(
    lasting: Home,
    site: Site,
    tmp_path: Path,
    needs_firefox: None,  # noqa: ARG001
) -> None:  # X20
    """Entries recorded before a server was killed are in the file that the next one writes."""
    path, pages = tmp_path / "two.har", [site.page(f"/{one}", f"<title>{one}</title>") for one in "ab"]
    start: dict[str, Any] = {"browser": "firefox", "sessionId": "one", "options": {"har": str(path)}}
    with lasting.serve() as server:
        server.ok("start_browser", navigationUrl=pages[0], **start)
        server.ok("har", action="flush", sessionId="one")
        kill(server.process)
    with lasting.serve() as server:
        server.ok("navigate", url=pages[1], sessionId="one")
        assert server.ok("har", action="flush", sessionId="one")["pages"] == 2
        server.ok("close_session", sessionId="one")
    texts = {one["request"]["url"]: one["response"]["content"].get("text") for one in entries(path)}
    assert [texts[page] for page in pages] == ["<title>a</title>", "<title>b</title>"]
    until(lambda: not lasting.records(), "the end of the session")
