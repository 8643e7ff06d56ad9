"""`fork_session`: a session that begins like an open one, with its URL, cookies and storage."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator.settings import Settings
from orchestrator.sync import Orchestrator
from tests.e2e.harness import NAMESPACE, Home, kill
from tests.e2e.stage import Stage, opened, refused
from tests.servers.appium import appium_end
from tests.servers.mcp import Served
from tests.servers.site import Site
from tests.servers.webdriver import remote_end

pytestmark = pytest.mark.full

FORM = """<label>Name <input id=name></label>
<script>document.title = (localStorage.user || 'nobody') + ' ' + document.cookie</script>"""
SEEN = "[location.href, document.title, document.querySelector('#name').value, window.mark || null, scrollY]"


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """A server with a browser that is signed in at two origins, and has begun to fill in a form."""
    with opened("auto", "ann") as stage:
        elsewhere = stage.page("<script>localStorage.there = 'two'</script>").replace("127.0.0.1", "localhost")
        stage.ok("navigate", url=elsewhere, sessionId="ann")
        stage.show("<script>document.cookie = 'user=ann; path=/'; localStorage.user = 'ann'</script>", sessionId="ann")
        form = stage.page(f"<body style='height: 5000px'>{FORM}")
        stage.ok("navigate", url=f"{form}?step=2#details", sessionId="ann")
        yield stage


@pytest.fixture
def forked(stage: Stage) -> Iterator[list[str]]:
    """Names of forks, which are closed after the test."""
    names: list[str] = []
    yield names
    for name in names:
        stage.ok("close_session", sessionId=name)


def open_ids(server: Stage | Served) -> list[str]:
    """Return the ids of the open sessions."""
    return [row["sessionId"] for row in server.ok("list_sessions")["sessions"]]


def test_a_fork_is_at_the_same_url_with_the_same_cookies_and_storage(stage: Stage, forked: list[str]) -> None:
    """URL with query and fragment, cookies and the storage of every origin are there; form, heap and scroll are not."""
    stage.ok("set_value", selector="#name", value="Half a na", sessionId="ann")
    stage.ok("execute_script", script="window.mark = 42; scrollTo(0, 700)", sessionId="ann")
    before = stage.js(SEEN, sessionId="ann")
    answer = stage.call("fork_session", sessionId="ann", **{"as": "bob"})
    forked.append("bob")
    url, title = before[:2]
    assert (answer.data["sessionId"], answer.data["state"], answer.data["url"]) == ("bob", "active", url)
    assert answer.text.startswith("bob: active, chrome")
    assert (title, url[-15:]) == ("ann user=ann", "?step=2#details")
    assert stage.js(SEEN, sessionId="bob") == [url, title, "", None, 0]
    stage.ok("navigate", url=url.replace("127.0.0.1", "localhost"), sessionId="bob")
    assert stage.js("localStorage.there", sessionId="bob") == "two"
    assert stage.js(SEEN, sessionId="ann") == before == [url, title, "Half a na", 42, 700]


def test_what_a_fork_stores_is_its_own(stage: Stage, forked: list[str]) -> None:
    """A change of cookies or storage on either side is not there on the other one."""
    stage.ok("fork_session", sessionId="ann", **{"as": "bob"})
    forked.append("bob")
    stage.ok(
        "execute_script", script="document.cookie = 'user=bob; path=/'; localStorage.user = 'bob'", sessionId="bob"
    )
    assert stage.js("[document.cookie, localStorage.user]", sessionId="ann") == ["user=ann", "ann"]


def test_a_fork_without_a_name_gets_the_next_one_and_is_current(stage: Stage, forked: list[str]) -> None:
    """It is named as a start without a name is, and calls without a session go there."""
    name = stage.ok("fork_session", session_id="ann")["sessionId"]
    forked.append(name)
    assert re.fullmatch(r"browser-\d+", name)
    assert stage.ok("list_sessions")["currentSession"] == name


def test_a_fork_looks_at_the_page_as_its_source_does(stage: Stage, forked: list[str]) -> None:
    """The size of the page and what is emulated are those of the source at the time of the fork."""
    facts = "[innerWidth, innerHeight, Intl.DateTimeFormat().resolvedOptions().timeZone]"
    stage.ok("start_browser", sessionId="small", navigationUrl=stage.page("small"))
    forked.append("small")
    stage.ok("set_viewport", width=700, height=500, sessionId="small")
    stage.ok("emulate", timezone="Asia/Tokyo", sessionId="small")
    stage.ok("fork_session", sessionId="small", **{"as": "small2"})
    forked.append("small2")
    assert stage.js(facts, sessionId="small2") == [700, 500, "Asia/Tokyo"] == stage.js(facts, sessionId="small")


def test_a_fork_can_be_forked_and_a_step_of_a_sequence(stage: Stage, forked: list[str]) -> None:
    """The steps after a fork go to the new session, which can be forked itself."""
    fork = {"action": "fork_session", "sessionId": "ann", "as": "bob"}
    fill = {"action": "set_value", "selector": "#name", "value": "Bob"}
    stage.ok("execute_sequence", actions=[fork, fill])
    forked.append("bob")
    assert [stage.js("document.querySelector('#name').value", sessionId=one) for one in ("ann", "bob")][1] == "Bob"
    stage.ok("fork_session", sessionId="bob", **{"as": "cat"})
    forked.append("cat")
    assert stage.js("document.title", sessionId="cat") == "ann user=ann"


def test_a_page_that_no_other_browser_can_open_is_left_out(stage: Stage, forked: list[str]) -> None:
    """Of a blob: page the fork has the cookies alone, and its row says that no page was opened."""
    stage.ok("start_browser", sessionId="own", navigationUrl=stage.page("<script>document.cookie = 'a=b'</script>"))
    forked.append("own")
    script = "open(URL.createObjectURL(new Blob(['<p>own'], {type: 'text/html'})), '_self')"
    stage.ok("execute_script", script=script, sessionId="own")
    stage.ok("wait_for", url="blob:*", sessionId="own")
    row = stage.ok("fork_session", sessionId="own", **{"as": "own2"})
    forked.append("own2")
    assert row["events"] == ["fork_session: the page of 'own' is there alone (blob:); none was opened."]
    stage.show("", sessionId="own2")
    assert stage.js("document.cookie", sessionId="own2") == "a=b"


def test_a_recording_of_the_source_is_not_begun_again(stage: Stage, forked: list[str], tmp_path: Any) -> None:
    """Two sessions never write one HAR file."""
    page = stage.page("recorded")
    stage.ok("start_browser", sessionId="rec", navigationUrl=page, options={"har": str(tmp_path / "rec.har")})
    forked.append("rec")
    stage.ok("fork_session", sessionId="rec", **{"as": "rec2"})
    forked.append("rec2")
    assert "Nothing is being recorded." in refused(
        stage.call("har", action="flush", sessionId="rec2"), "invalid_argument"
    )


def test_a_name_that_is_taken_is_refused_and_the_source_stays(stage: Stage) -> None:
    """Neither a session nor a browser is left, and the source goes on."""
    before = open_ids(stage)
    assert "'ann' already exists" in refused(
        stage.call("fork_session", sessionId="ann", **{"as": "ann"}), "session_exists"
    )
    text = refused(stage.call("fork_session", sessionId="ann", newSessionId="bob"), "invalid_argument")
    assert "Did you mean 'as'?" in text
    assert "No session: nobody" in refused(stage.call("fork_session", sessionId="nobody"), "session_not_found")
    assert open_ids(stage) == before
    assert stage.js("document.title", sessionId="ann") == "ann user=ann"


def test_another_callers_claimed_session_is_forked_under_the_claims_name_alone(stage: Stage, forked: list[str]) -> None:
    """Under its own name it is `session_claimed`."""
    name = stage.ok("claim_session", sessionId="ann")["sessionId"]
    refused(stage.call("fork_session", sessionId="ann", **{"as": "bob"}), "session_claimed")
    stage.ok("fork_session", sessionId=name, **{"as": "bob"})
    forked.append("bob")
    stage.ok("release_session", sessionId=name)
    stage.ok("set_value", selector="#name", value="free", sessionId="bob")


def test_a_parked_session_is_resumed_and_forked(lasting: Home, site: Site) -> None:
    """What a client left is there in the fork, too."""
    page = site.page("/", "<script>document.cookie ||= 'user=ann'; document.title = document.cookie</script>")
    with lasting.serve() as server:
        server.ok("start_browser", sessionId="ann", navigationUrl=page)
    with lasting.serve() as server:
        assert server.ok("fork_session", sessionId="ann", **{"as": "bob"})["url"] == page
        cookie = server.ok("execute_script", script="return document.title", sessionId="bob")["value"]
        assert cookie == "user=ann"
        [told] = server.ok("get_text", sessionId="ann")["events"]
        assert told.startswith("ann was parked for ")


def test_a_lost_session_is_not_forked(home: Home) -> None:
    """The error is that of any call on it, and nothing is started."""
    with home.serve() as server:
        server.ok("start_browser", sessionId="ann")
        kill(home.process("ann", "chromedriver"))
        assert "'ann' is lost" in refused(server.call("fork_session", sessionId="ann"), "session_lost")
        assert open_ids(server) == ["ann"]


def test_an_attached_session_is_not_forked_and_the_error_names_login_from(stage: Stage) -> None:
    """How it was started is not known here; its login can be taken."""
    with remote_end() as end:
        session = end.start()
        stage.ok("attach_session", remoteUrl=end.url, remoteSessionId=session, sessionId="script")
        text = refused(stage.call("fork_session", sessionId="script"), "unsupported")
        assert "'script' cannot be forked: it was started elsewhere." in text
        assert "Start a session with loginFrom 'script', then navigate." in text
        stage.ok("close_session", sessionId="script")
        end.ask("DELETE", session, "")


def test_an_app_is_not_forked(stage: Stage) -> None:
    """An app has no cookies or storage to take over."""
    with appium_end() as end:
        stage.ok("start_app_session", sessionId="phone", platform="iOS", options={"url": end.url})
        text = refused(stage.call("fork_session", sessionId="phone"), "unsupported")
        assert "'phone' is not a browser session: an app cannot be forked." in text
        stage.ok("close_session", sessionId="phone")


@pytest.mark.parametrize(("source", "more"), [("shop:ann", {}), ("ann", {"mode": "persistent", "profile": "work"})])
def test_a_fork_from_python_has_a_context_or_a_browser_of_its_own(
    home: Home, site: Site, source: str, more: dict[str, Any]
) -> None:
    """A fork of a context can be another one of its browser; that of a persistent profile has an empty one."""
    page = site.page("/", "<script>document.cookie ||= 'user=ann'; document.title = document.cookie</script>")
    with Orchestrator(Settings(home=home.folder, namespace=NAMESPACE)) as orchestrator:
        orchestrator.start_browser(source, navigation_url=page, **more)
        row = orchestrator.fork_session(source, as_=source.replace("ann", "bob"))
        assert (row.mode, row.profile, row.shared_with) == ("incognito", None, None if more else ["shop:ann"])
        with orchestrator.session(row.session_id) as bob:
            assert bob.execute_script("return [location.href, document.title]").value == [page, "user=ann"]
            bob.execute_script("document.cookie = 'user=bob'")
        with orchestrator.session(source) as ann:
            assert ann.execute_script("return document.cookie").value == "user=ann"
