"""Starts with `loginFrom`: a session that begins with the cookies and storage of another one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.stage import Stage, opened, refused


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
