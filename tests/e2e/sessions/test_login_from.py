"""Starts with `loginFrom`: a session that begins with the cookies and storage of another one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.harness import Home, answered, kill
from tests.e2e.stage import Stage, opened, refused
from tests.servers.mcp import Served
from tests.servers.site import Site
from tests.waiting import until

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """A server with a browser that is signed in at two origins."""
    with opened("auto", "ann") as stage:
        stage.show("<script>document.cookie = 'user=ann; path=/'; localStorage.here = 'one'</script>")
        elsewhere = stage.page("<script>localStorage.there = 'two'</script>").replace("127.0.0.1", "localhost")
        stage.ok("navigate", url=elsewhere)
        yield stage


def test_a_session_begins_with_the_login_of_another_one_on_its_first_page(stage: Stage) -> None:
    """Cookies and the storage of every origin are there when navigationUrl is requested; what is its own stays so."""
    url = stage.page("<script>document.title = localStorage.here</script>")
    stage.ok("start_browser", sessionId="bob", loginFrom="ann", navigationUrl=url)
    [visit] = stage.site.visits(url.removeprefix(stage.site.url("")))
    assert "user=ann" in visit.headers.get("Cookie", "")
    assert stage.js("document.title", sessionId="bob") == "one"
    stage.ok("navigate", url=url.replace("127.0.0.1", "localhost"), sessionId="bob")
    assert stage.js("localStorage.there", sessionId="bob") == "two"
    stage.ok("execute_script", script="localStorage.there = 'three'", sessionId="bob")
    assert stage.js("localStorage.there", sessionId="ann") == "two"


def test_a_login_of_a_session_that_is_not_open_starts_nothing(stage: Stage) -> None:
    """The error names the missing session, and no session is left."""
    answer = stage.call("start_browser", sessionId="cat", loginFrom="nobody")
    assert "No session: nobody" in refused(answer, "session_not_found")
    assert "cat" not in [row["sessionId"] for row in stage.ok("list_sessions")["sessions"]]


def test_a_start_takes_one_login_only(stage: Stage) -> None:
    """A storage state and another session's login exclude each other."""
    answer = stage.call("start_browser", sessionId="cat", loginFrom="ann", storageState={"cookies": []})
    assert "either storageState or loginFrom" in refused(answer, "invalid_argument")


def sign_in(server: Served, site: Site) -> str:
    """Start `ann` at a site that knows her by a cookie; return the site's URL."""
    url = site.page("/", "<title>signed in</title>", cookies={"user": "ann"})
    server.ok("start_browser", sessionId="ann", navigationUrl=url)
    return url


def user(site: Site) -> str | None:
    """Return the user whom the site saw last."""
    return site.visits("/")[-1].cookies.get("user")


def test_the_login_of_a_claimed_session_is_for_its_claimer_alone(home: Home, site: Site) -> None:
    """Under the plain name the start is refused as `session_claimed` and leaves nothing; under the claim's it works."""
    with home.serve() as one, home.serve() as other:
        url = sign_in(one, site)
        claim = one.ok("claim_session", sessionId="ann")["sessionId"]
        text = refused(other.call("start_browser", sessionId="bob", loginFrom="ann"), "session_claimed")
        assert "Session 'ann' is claimed by mcp until" in text
        assert claim not in text
        assert [record.id for record in home.records()] == ["ann"]
        one.ok("start_browser", sessionId="bob", loginFrom=claim, navigationUrl=url)
        assert user(site) == "ann"


def test_the_login_of_a_busy_session_is_read_when_its_call_is_over(modern: Served, site: Site) -> None:  # F12
    """The start waits behind the call in flight, and says so; then it gets the login as that call left it."""
    url = sign_in(modern, site)
    site.page("/held", "held")
    gate = site.gate("/held")
    script = "await fetch('/held'); document.cookie = 'user=anna; path=/'"
    running = modern.begin("execute_script", sessionId="ann", script=script)
    gate.wait_entered()
    told: list[str] = []
    start = modern.listen(told, "start_browser", sessionId="bob", loginFrom="ann", navigationUrl=url)
    until(lambda: "start_browser: waiting behind execute_script of ann" in told, "the reason of the wait")
    assert not start.done()
    gate.open()
    assert not answered(running).failed
    assert answered(start).data["state"] == "active"
    assert user(site) == "anna"


def test_the_login_of_a_parked_session_is_that_with_which_it_was_left(lasting: Home, site: Site) -> None:  # W31
    """A later server resumes the parked session for it, and both are signed in."""
    with lasting.serve() as before:
        url = sign_in(before, site)
    with lasting.serve() as after:
        after.ok("start_browser", sessionId="bob", loginFrom="ann", navigationUrl=url)
        assert user(site) == "ann"
        rows = after.ok("list_sessions")["sessions"]
        assert [(row["sessionId"], row["state"]) for row in rows] == [("ann", "active"), ("bob", "active")]
        assert after.ok("execute_script", sessionId="ann", script="return document.title")["value"] == "signed in"


@pytest.mark.parametrize("loss", ["known", "not yet known"])
def test_a_lost_session_has_no_login_to_give(home: Home, site: Site, loss: str) -> None:
    """The start is answered with `session_lost`, whether the loss was known before or not, and leaves nothing."""
    with home.serve() as server:
        sign_in(server, site)
        kill(home.process("ann", "chromium"))
        if loss == "known":
            assert server.call("get_text", sessionId="ann").code == "session_lost"
        text = refused(server.call("start_browser", sessionId="bob", loginFrom="ann"), "session_lost")
        assert "'ann'" in text
        assert "'bob'" not in text
        assert [record.id for record in home.records()] == ["ann"]
        server.ok("start_browser", sessionId="bob")
