"""har: requests of pages are recorded into an HTTP archive, and an archive replaces the network."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from orchestrator.system.secrets import MASK
from tests.e2e.harness import Home
from tests.e2e.stage import Stage, refused
from tests.servers.site import Reply, Site

pytestmark = pytest.mark.full

FORM = """<form method=post action=/login><input name=user value=ann><input type=password name=secret>
<button>In</button></form>"""


def entries(path: str | Path) -> list[dict[str, Any]]:
    """The entries of an archive."""
    found: list[dict[str, Any]] = json.loads(Path(path).read_text("utf-8"))["log"]["entries"]
    return found


def of(path: str | Path, url: str) -> dict[str, Any]:
    """Return the only entry of an address."""
    [entry] = [one for one in entries(path) if one["request"]["url"] == url]
    return entry


def test_a_har_recording_can_be_flushed_and_stopped_at_any_time(stage: Stage) -> None:  # X20
    """The file has requests and responses with headers, bodies and times, and the pages that they belong to."""
    stage.site.page("/data", Reply('{"n": 1}', 200, "application/json", {"X-Kind": "plain"}))
    stage.site.page("/dot.png", Reply(b"\x89PNG\x00\xff", 200, "image/png"))
    page = stage.page("<img src=/dot.png>", title="Recorded")
    started = stage.ok("har", action="start")
    assert started["recording"]
    assert "Already" in refused(stage.call("har", action="start"), "invalid_argument")
    stage.ok("navigate", url=page)
    send = {"method": "POST", "body": "a=1&b=zwei", "headers": {"Content-Type": "application/x-www-form-urlencoded"}}
    stage.js(f"(await fetch('/data?q=1', {json.dumps(send)})).json()")
    flushed = stage.ok("har", action="flush")
    file = Path(flushed["path"])
    assert (str(file), flushed["recording"]) == (started["path"], True)
    assert file.stat().st_mode & 0o777 == 0o600
    log = json.loads(file.read_text("utf-8"))["log"]
    assert (log["version"], log["browser"]["name"]) == ("1.2", stage.browser)
    [shown] = log["pages"]
    assert shown["title"] == page
    assert 0 < shown["pageTimings"]["onContentLoad"] <= shown["pageTimings"]["onLoad"]
    document = of(file, page)
    assert "<title>Recorded" in document["response"]["content"]["text"]
    posted = of(file, stage.site.url("/data?q=1"))
    assert {posted["pageref"], document["pageref"]} == {shown["id"]}
    assert posted["request"]["queryString"] == [{"name": "q", "value": "1"}]
    assert posted["request"]["postData"]["params"][1] == {"name": "b", "value": "zwei"}
    assert {"name": "X-Kind", "value": "plain"} in posted["response"]["headers"]
    assert posted["response"]["content"]["text"] == '{"n": 1}'
    assert posted["time"] == pytest.approx(sum(max(posted["timings"][one], 0) for one in posted["timings"]), abs=0.1)
    picture = of(file, stage.site.url("/dot.png"))["response"]["content"]
    assert (picture["text"], picture["encoding"]) == ("iVBORwD/", "base64")
    stage.ok("navigate", url=stage.page("second"))
    stopped = stage.ok("har", action="stop")
    assert (stopped["recording"], stopped["pages"]) == (False, 2)
    stage.ok("navigate", url=stage.page("third"))
    assert len(json.loads(file.read_text("utf-8"))["log"]["pages"]) == 2
    assert "Nothing is being recorded" in refused(stage.call("har", action="flush"), "invalid_argument")


def test_a_session_started_with_har_is_recorded_from_the_first_page_to_its_close(
    stage: Stage, tmp_path: Path
) -> None:  # X20
    """A recording has redirects, other tabs and cross-origin frames; closing the session writes the file."""
    stage.site.page("/old", Reply("", 302, headers={"Location": "/new"}))
    stage.site.page("/inner", "<title>inner</title>in a frame")
    stage.site.page("/new", f"<title>new</title><iframe src={stage.site.url('/inner', host='localhost')}></iframe>")
    path = tmp_path / "all.har"
    options = {"har": str(path)}
    stage.ok("start_browser", sessionId="taped", navigationUrl=stage.site.url("/old"), options=options)
    stage.ok("wait_for", sessionId="taped", text="in a frame")
    stage.ok("tabs", sessionId="taped", action="new", url=stage.page("tab", title="tab"))
    closed = stage.ok("close_session", sessionId="taped")
    assert f"is in {path}" in closed["warnings"][0]
    old = of(path, stage.site.url("/old"))
    assert (old["response"]["status"], old["response"]["redirectURL"]) == (302, "/new")
    assert "<iframe" in of(path, stage.site.url("/new"))["response"]["content"]["text"]
    assert "in a frame" in of(path, stage.site.url("/inner", host="localhost"))["response"]["content"]["text"]
    assert len(json.loads(path.read_text("utf-8"))["log"]["pages"]) == 2


def test_no_secret_stands_in_a_har_recording(stage: Stage) -> None:
    """Cookies, credentials and typed passwords are masked; the names of cookies are kept."""
    stage.site.page("/login", Reply("<p>in", headers={"Set-Cookie": "sid=topsecret1; Path=/; HttpOnly"}))
    stage.show(FORM)
    started = stage.ok("har", action="start")
    stage.ok("set_value", selector="[name=secret]", value="hunter2-hunter2")
    stage.ok("click_element", selector="text=In")
    stage.site.page("/binary", Reply(b"hunter2-hunter2 said", 200, "application/octet-stream"))
    stage.js("await fetch('/binary').then(r => r.text())")
    stage.js("await fetch('/login', {headers: {Authorization: 'Bearer abcdef123456'}}).then(r => r.text())")
    stage.ok("har", action="stop")
    text = Path(started["path"]).read_text("utf-8")
    assert not re.search("topsecret1|hunter2|abcdef123456", text)
    assert of(started["path"], stage.site.url("/binary"))["response"]["content"]["text"] == f"{MASK} said"
    posted, fetched = (one for one in entries(started["path"]) if one["request"]["url"].endswith("/login"))
    assert posted["request"]["postData"]["text"] == f"user=ann&secret={MASK}"
    assert {"name": "sid", "value": MASK} in posted["response"]["cookies"]
    assert {"name": "Authorization", "value": f"Bearer {MASK}"} in fetched["request"]["headers"]
    assert {"name": "Cookie", "value": f"sid={MASK}"} in fetched["request"]["headers"]
    stage.ok("cookies", action="clear")


def test_requests_are_answered_from_a_har_recording(stage: Stage) -> None:  # X21
    """A replay matches method, URL and body, in order; other requests go to the network or fail."""
    count = iter(range(100))
    stage.site.page("/next", lambda _: Reply(f"answer {next(count)}", 200, "text/plain"))
    stage.site.page("/echo", lambda visit: Reply(f"you said {visit.body.decode()}", 200, "text/plain"))
    stage.site.page("/other", Reply("from the network", 200, "text/plain"))
    page = stage.page("<p>recorded", title="recorded")
    path = stage.ok("har", action="start")["path"]
    stage.ok("navigate", url=page)
    ask = "await fetch(%r).then(r => r.text(), e => 'failed')"
    say = "await fetch('/echo', {method: 'POST', body: %r}).then(r => r.text(), e => 'failed')"
    assert [stage.js(ask % "/next") for _ in "ab"] == ["answer 0", "answer 1"]
    assert [stage.js(say % word) for word in ("one", "two")] == ["you said one", "you said two"]
    stage.ok("har", action="stop")
    visits = {one: len(stage.site.visits(one)) for one in ("/next", "/echo")}
    assert stage.ok("har", action="replay", path=path)["replays"] == [path]
    stage.site.page(page.removeprefix(stage.site.url("")), "<title>changed</title>")
    assert stage.ok("navigate", url=page)["title"] == "recorded"
    assert [stage.js(ask % "/next") for _ in "abc"] == ["answer 0", "answer 1", "answer 1"]
    assert [stage.js(say % word) for word in ("two", "one", "new")] == ["you said two", "you said one", "you said new"]
    assert stage.js(ask % "/other") == "from the network"
    assert {one: len(stage.site.visits(one)) for one in visits} == {"/next": visits["/next"], "/echo": 3}
    stage.ok("har", action="replay", path=path, notFound="abort")
    assert stage.js(ask % "/other") == "failed"
    stage.ok("route", action="fulfil", url="/other", body="by a rule")
    assert stage.js(ask % "/other") == "by a rule"
    stage.ok("route", action="clear")
    assert stage.ok("har", action="stop")["replays"] == []
    assert stage.ok("navigate", url=page)["title"] == "changed"


def test_a_har_file_is_read_anew_for_each_replay(stage: Stage, tmp_path: Path) -> None:  # X21
    """A changed HAR file gives its new answers, and a malformed entry fails its own request alone."""
    stage.show("<p>page")
    file, ask = tmp_path / "mine.har", "await fetch(%r).then(r => r.text(), e => 'failed')"

    def answers(*contents: Any) -> None:
        request = {"method": "GET", "url": stage.site.url("/har")}
        found = [{"request": request, "response": {"status": 200, "content": content}} for content in contents]
        broken = {**request, "url": stage.site.url("/broken")}
        content = {"text": "no base64!", "encoding": "base64"}
        found.append({"request": broken, "response": {"status": 200, "content": content, "headers": [{}]}})
        file.write_text(json.dumps({"log": {"entries": found}}))

    for texts in (["one", "two"], ["three", "four"]):
        answers(*({"text": text} for text in texts))
        stage.ok("har", action="replay", path=str(file), notFound="abort")
        assert stage.js(ask % "/broken") == "failed"
        assert [stage.js(ask % "/har") for _ in texts] == texts
        stage.ok("har", action="stop")


def test_a_recorded_login_is_replayed_with_another_password(stage: Stage) -> None:  # X21
    """A value that is masked in the recording matches any value in a request."""
    stage.site.page("/login", Reply("<title>welcome</title>", headers={"Set-Cookie": "sid=secret-of-ann; Path=/"}))
    page = stage.show(FORM)
    path = stage.ok("har", action="start")["path"]
    stage.ok("set_value", selector="[name=secret]", value="first-password")
    stage.ok("click_element", selector="text=In")
    stage.ok("har", action="stop")
    visits = len(stage.site.visits("/login"))
    options = {"hars": [path]}
    stage.ok("start_browser", sessionId="again", navigationUrl=page, options=options)
    stage.ok("set_value", sessionId="again", selector="[name=secret]", value="second-password")
    stage.ok("click_element", sessionId="again", selector="text=In")
    assert stage.ok("wait_for", sessionId="again", title="welcome")
    assert len(stage.site.visits("/login")) == visits
    assert stage.js("document.cookie", sessionId="again") == "sid=***"
    stage.ok("close_session", sessionId="again")


def test_a_har_recording_outlives_its_server(lasting: Home, site: Site, tmp_path: Path) -> None:  # X20
    """Entries recorded before a server was killed are in the file that the next one writes."""
    path, pages = tmp_path / "two.har", [site.page(f"/{one}", f"<title>{one}</title>") for one in "ab"]
    with lasting.serve() as server:
        server.ok("start_browser", sessionId="one", navigationUrl=pages[0], options={"har": str(path)})
        server.process.kill()
    with lasting.serve() as server:
        server.ok("navigate", url=pages[1], sessionId="one")
        assert server.ok("har", action="flush", sessionId="one")["pages"] == 2
        server.ok("close_session", sessionId="one")
    assert {one["request"]["url"] for one in entries(path)} >= set(pages)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, "action"),
        ({"action": "replay"}, "Replay needs path"),
        ({"action": "replay", "path": "no/such.har"}, "cannot be read"),
        ({"action": "replay", "path": __file__}, "it is not JSON"),
        ({"action": "start", "path": "traffic.txt"}, "does not end in .har"),
        ({"action": "start", "notFound": "abort"}, "Start takes no notFound"),
        ({"action": "stop"}, "Nothing is being recorded or replayed"),
    ],
)
def test_bad_har_arguments_are_refused(stage: Stage, arguments: dict[str, Any], expected: str) -> None:
    """Wrong har arguments are an invalid_argument error that names the fault."""
    assert expected in refused(stage.call("har", **arguments), "invalid_argument")


@pytest.mark.parametrize(
    ("options", "expected"),
    [({"hars": ["no/such.har"]}, "/no/such.har cannot be read"), ({"har": "x.json"}, "does not end in .har")],
)
def test_a_start_with_unusable_har_files_is_refused(stage: Stage, options: dict[str, Any], expected: str) -> None:
    """A start with a missing or misnamed HAR file is refused and opens no session."""
    assert expected in refused(stage.call("start_browser", sessionId="none", options=options), "invalid_argument")
    assert "none" not in [row["sessionId"] for row in stage.ok("list_sessions")["sessions"]]
