"""Firefox's cookies and storage, by BiDi: of all sites, saved and restored in another Firefox."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.stage import Stage
from tests.servers.site import Reply
from tests.waiting import until

pytestmark = pytest.mark.full

_SIGN_IN = """<!doctype html><title>in</title><script>
localStorage.token = `Grüße 🐟 ${location.hostname}`; document.cookie = 'theme=dark; max-age=900';
document.cookie = 'grün=früh; max-age=900';
const opened = indexedDB.open('shop', 2);
opened.onupgradeneeded = () => opened.result.createObjectStore('basket').put({ on: new Date(0), many: [1n] }, 'first');
opened.onsuccess = () => { opened.result.close(); document.title = 'kept'; };</script>"""
_BASKET = """const done = (request) => new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
const shop = await done(indexedDB.open('shop', 2));
const basket = await done(shop.transaction(['basket']).objectStore('basket').get('first'));
return [basket.on.getTime(), String(basket.many[0])];"""
_HOME = "<!doctype html><title>home</title><script>document.title = localStorage.token ?? 'nobody'</script>"
_COOKIE = {"Set-Cookie": "sid=unguessable; HttpOnly; SameSite=Strict; Path=/"}


@pytest.fixture
def signed_in(fox: Stage) -> Iterator[Stage]:
    """A Firefox that is signed in at two origins of the site; further sessions are closed afterwards."""
    fox.site.page("/in", Reply(_SIGN_IN, headers=_COOKIE))
    fox.site.page("/home", _HOME)
    for host in ("127.0.0.1", "localhost"):
        fox.ok("navigate", url=fox.site.url("/in", host=host), sessionId="fox")
        fox.ok("wait_for", title="kept", sessionId="fox")
    yield fox
    fox.ok("close_sessions", prefix="other")


def state_of(stage: Stage, path: Path) -> dict[str, Any]:
    """Save the state of the session `fox`; return it."""
    stage.ok("save_storage_state", sessionId="fox", path=str(path))
    state: dict[str, Any] = json.loads(path.read_text())
    return state


def test_a_firefox_started_with_a_storage_state_is_logged_in_at_all_its_sites(signed_in: Stage, tmp_path: Path) -> None:
    """Cookies and local storage of both origins are there from the first page on, without a request of ours."""
    path = tmp_path / "login.json"
    signed_in.ok("save_storage_state", sessionId="fox", path=str(path))
    before = len(signed_in.site.visits("/"))
    url = signed_in.site.url("/home")
    signed_in.ok("start_browser", browser="firefox", sessionId="other", storageState=str(path), navigationUrl=url)
    assert signed_in.js("document.title", sessionId="other") == "Grüße 🐟 127.0.0.1"
    assert signed_in.ok("execute_script", script=_BASKET, sessionId="other")["value"] == [0, "1"]
    assert signed_in.site.visits("/home")[-1].cookies["sid"] == "unguessable"
    assert "grün=früh" in signed_in.js("document.cookie", sessionId="other")
    signed_in.ok("navigate", url=signed_in.site.url("/home", host="localhost"), sessionId="other")
    assert signed_in.js("document.title", sessionId="other") == "Grüße 🐟 localhost"
    assert [one["tab"] for one in signed_in.ok("tabs", action="list", sessionId="other")["tabs"]] == ["t1"]
    assert len(signed_in.site.visits("/")) == before
    entries = signed_in.ok("get_network", sessionId="other")["entries"]
    assert {one["url"] for one in entries if "favicon" not in one["url"]} == {
        url,
        url.replace("127.0.0.1", "localhost"),
    }


def test_a_firefox_gives_all_its_cookies_with_their_flags(signed_in: Stage, tmp_path: Path) -> None:
    """Cookies of sites that are not open are saved too, each as it was set."""
    cookies = state_of(signed_in, tmp_path / "login.json")["cookies"]
    found = {(cookie["domain"], cookie["name"]): cookie for cookie in cookies}
    assert {domain for domain, _ in found} == {"127.0.0.1", "localhost"}
    sid = found["127.0.0.1", "sid"]
    assert (sid["value"], sid["httpOnly"], sid["sameSite"], sid["expires"]) == ("unguessable", True, "Strict", -1)
    assert found["localhost", "grün"]["value"] == "früh"
    assert found["localhost", "theme"]["expires"] > 0


def test_a_cookie_of_a_partition_stays_in_it(fox: Stage, tmp_path: Path) -> None:
    """A cookie that another site's frame has set belongs to the page's site, and is restored for it alone."""
    cookie = {"Set-Cookie": "framed=1; Secure; SameSite=None; Partitioned; Path=/"}
    fox.site.page("/framed", Reply("<title>framed</title>", headers=cookie))
    frame = fox.site.url("/framed", host="localhost")
    fox.site.page("/around", f"<title>around</title><iframe src='{frame}'></iframe>")
    fox.ok("navigate", url=fox.site.url("/around"), sessionId="fox")
    until(lambda: fox.site.visits("/framed"), "the frame")
    path = tmp_path / "framed.json"
    [framed] = [one for one in state_of(fox, path)["cookies"] if one["name"] == "framed"]
    assert framed["partitionKey"] == fox.site.url("")
    fox.ok("start_browser", browser="firefox", sessionId="other", storageState=str(path))
    fox.ok("navigate", url=frame, sessionId="other")
    assert "framed" not in fox.site.visits("/framed")[-1].cookies
    fox.ok("navigate", url=fox.site.url("/around"), sessionId="other")
    until(lambda: "framed" in fox.site.visits("/framed")[-1].cookies, "the cookie in the frame")
    fox.ok("close_session", sessionId="other")


def test_a_fork_of_a_firefox_has_its_login(signed_in: Stage) -> None:
    """A fork begins at the same page, with the login of the moment."""
    signed_in.ok("navigate", url=signed_in.site.url("/home"), sessionId="fox")
    signed_in.ok("fork_session", **{"sessionId": "fox", "as": "other"})
    assert signed_in.js("document.title", sessionId="other") == "Grüße 🐟 127.0.0.1"
    assert signed_in.site.visits("/home")[-1].cookies["sid"] == "unguessable"


@pytest.mark.parametrize("name", ["a/b", "50%", "what?", "grün", "a b", "日本"])
def test_a_cookie_of_any_name_is_deleted(fox: Stage, name: str) -> None:
    """Slashes, percent signs, question marks, umlauts and spaces in a name are its own; other cookies stay."""
    fox.show("<p>page", sessionId="fox")
    fox.ok("cookies", action="clear", sessionId="fox")
    for one in (name, "other"):
        fox.ok("cookies", action="set", name=one, value="1", sessionId="fox")
    assert fox.js("document.cookie", sessionId="fox") == f"{name}=1; other=1"
    fox.ok("cookies", action="delete", name=name, sessionId="fox")
    assert fox.js("document.cookie", sessionId="fox") == "other=1"
