"""Logins that outlive their session: saved as a file, and used by another browser from its first page on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.stage import Stage, refused
from tests.servers.site import Reply, Visit

pytestmark = pytest.mark.full

_SIGN_IN = """<!doctype html><title>in</title><script>
localStorage.token = `unguessable-${location.hostname}`; sessionStorage.draft = 'of this tab alone';
document.cookie = 'theme=dark; max-age=900'</script>"""
_HOME = "<!doctype html><title>home</title><script>document.title = localStorage.token ?? 'nobody'</script>"
_COOKIE = {"Set-Cookie": "sid=unguessable-too; HttpOnly; SameSite=Strict; Path=/"}


@pytest.fixture
def signed_in(stage: Stage) -> Iterator[Stage]:
    """A session that is signed in at two origins of the site; further sessions are closed afterwards."""
    stage.site.page("/in", Reply(_SIGN_IN, headers=_COOKIE))
    stage.site.page("/home", _home)
    for host in ("127.0.0.1", "localhost"):
        stage.ok("navigate", url=stage.site.url("/in", host=host), sessionId="browser")
    yield stage
    stage.ok("close_sessions", prefix="again")


def _home(visit: Visit) -> str:
    return _HOME if "sid" in visit.cookies else "<title>sign in</title>"


def saved(stage: Stage, **arguments: Any) -> Path:
    """Return the path of the first session's saved state."""
    return Path(stage.ok("save_storage_state", sessionId="browser", **arguments)["path"])


def test_a_browser_started_with_a_storage_state_is_logged_in_from_its_first_page(
    signed_in: Stage, tmp_path: Path
) -> None:
    """A browser that starts with the file is signed in at once, at each origin, without any request to sign in."""
    path = saved(signed_in, path=str(tmp_path / "login.json"))
    before = len(signed_in.site.visits("/"))
    url = signed_in.site.url("/home")
    signed_in.ok("start_browser", sessionId="again", storageState=str(path), navigationUrl=url)
    assert signed_in.js("document.title", sessionId="again") == "unguessable-127.0.0.1"
    assert signed_in.js("document.cookie", sessionId="again") == "theme=dark"
    assert signed_in.js("sessionStorage.length", sessionId="again") == 0
    signed_in.ok("navigate", url=signed_in.site.url("/home", host="localhost"), sessionId="again")
    assert signed_in.js("document.title", sessionId="again") == "unguessable-localhost"
    assert [one["tab"] for one in signed_in.ok("tabs", action="list", sessionId="again")["tabs"]] == ["t1"]
    assert len(signed_in.site.visits("/")) == before


def test_a_partitioned_cookie_is_restored_for_its_site(stage: Stage, tmp_path: Path) -> None:
    """A partitioned cookie (CHIPS) of the saved state is sent to the site that set it."""
    site, cookie = stage.site, "own=1; Secure; Partitioned; Path=/"
    site.page("/set", Reply("<title>set</title>", headers={"Set-Cookie": cookie}))
    site.page("/unset", Reply("<title>unset</title>", headers={"Set-Cookie": f"{cookie}; Max-Age=0"}))
    site.page("/get", lambda visit: f"<title>{visit.cookies.get('own')}</title>")
    stage.ok("navigate", url=site.url("/set", host="localhost"), sessionId="browser")
    url = site.url("/get", host="localhost")
    assert stage.ok("navigate", url=url, sessionId="browser")["title"] == "1"
    path = saved(stage, path=str(tmp_path / "own.json"))
    stage.ok("start_browser", sessionId="again", storageState=str(path), navigationUrl=url)
    assert stage.js("document.title", sessionId="again") == "1"
    stage.ok("close_session", sessionId="again")
    stage.ok("navigate", url=site.url("/unset", host="localhost"), sessionId="browser")


def test_a_storage_state_can_be_given_as_json_instead_of_a_path(signed_in: Stage) -> None:
    """Clients without files give the state as JSON; fields that others add to the format are ignored."""
    state = json.loads(saved(signed_in).read_text())
    state["origins"][0]["indexedDB"] = []
    where = {"provider": "local", "platform": "browser", "navigationUrl": signed_in.site.url("/home")}
    signed_in.ok("start_session", sessionId="again", storageState=state, **where)
    assert signed_in.js("document.title", sessionId="again") == "unguessable-127.0.0.1"


def test_the_storage_state_file_has_playwrights_format_and_is_private(signed_in: Stage) -> None:
    """The result reports path and counts but no value, and only this user can read the file."""
    answer = signed_in.call("save_storage_state", sessionId="browser")
    origins = [signed_in.site.url("", host="localhost"), signed_in.site.url("")]
    assert answer.data["origins"] == origins
    assert (answer.data["cookieCount"], answer.data["itemCount"]) == (4, 2)
    assert "unguessable" not in answer.raw.model_dump_json()
    path = Path(answer.data["path"])
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    state = json.loads(path.read_text())
    assert state["origins"][1] == {
        "origin": origins[1],
        "localStorage": [{"name": "token", "value": "unguessable-127.0.0.1"}],
    }
    [of_ip] = [cookie for cookie in state["cookies"] if (cookie["domain"], cookie["name"]) == ("127.0.0.1", "sid")]
    assert of_ip == {
        "name": "sid",
        "value": "unguessable-too",
        "domain": "127.0.0.1",
        "path": "/",
        "expires": -1,
        "httpOnly": True,
        "secure": False,
        "sameSite": "Strict",
    }


_DATABASES = """<!doctype html><title>databases</title><script>
const make = (name, version, fill) => new Promise((resolve) => {
  const opened = indexedDB.open(name, version);
  opened.onupgradeneeded = () => fill(opened.result);
  opened.onsuccess = () => { opened.result.close(); resolve(); };
});
const twice = { both: [1, null] };
Promise.all([
  make('shop', 3, (database) => {
    const goods = database.createObjectStore('goods', { keyPath: ['kind', 'id'] });
    goods.createIndex('price', 'price', { unique: true });
    goods.put({ kind: 'mug', id: 1, price: 5 });
    const notes = database.createObjectStore('notes', { autoIncrement: true });
    notes.put({ on: new Date(0), sum: 7n, bytes: new Uint8Array([1, 2]), first: twice, second: twice });
  }),
  make('keys', 1, (database) => database.createObjectStore('all').put(new Map(), 'one')),
]).then(() => { document.title = 'made'; });
</script>"""


def test_databases_are_saved_in_playwrights_format(stage: Stage, tmp_path: Path) -> None:
    """Values that JSON lacks are encoded; a database with one that the format lacks is named in a warning."""
    stage.site.page("/databases", _DATABASES)
    stage.ok("navigate", url=stage.site.url("/databases"), sessionId="browser")
    stage.ok("wait_for", title="made", sessionId="browser")
    answer = stage.ok("save_storage_state", sessionId="browser", path=str(tmp_path / "state.json"))
    origin = stage.site.url("")
    assert f"The database 'keys' of {origin} is missing: Map." in answer["warnings"]
    [of_origin] = [
        one for one in json.loads((tmp_path / "state.json").read_text())["origins"] if one["origin"] == origin
    ]
    [shop] = of_origin["indexedDB"]
    goods, notes = shop["stores"]
    assert (shop["name"], shop["version"]) == ("shop", 3)
    assert goods == {
        "name": "goods",
        "keyPathArray": ["kind", "id"],
        "autoIncrement": False,
        "indexes": [{"name": "price", "keyPath": "price", "unique": True, "multiEntry": False}],
        "records": [{"value": {"kind": "mug", "id": 1, "price": 5}}],
    }
    assert (notes["autoIncrement"], notes["records"][0]["key"]) == (True, 1)
    fields = {one["k"]: one["v"] for one in notes["records"][0]["valueEncoded"]["o"]}
    assert (fields["on"], fields["sum"]) == ({"d": "1970-01-01T00:00:00.000Z"}, {"bi": "7"})
    assert fields["bytes"] == {"ta": {"b": "AQI=", "k": "ui8"}}
    assert fields["second"] == {"ref": fields["first"]["id"]}
    forget = "await Promise.all(['shop', 'keys'].map((name) => indexedDB.deleteDatabase(name)))"
    stage.ok("execute_script", script=forget, sessionId="browser")


def test_a_save_storage_state_step_leaves_the_page_unchanged(signed_in: Stage) -> None:
    """Saving in a sequence leaves the page's URL, history, values and focus as they were."""
    signed_in.show("<input id=name autofocus>", sessionId="browser")
    signed_in.ok("set_value", selector="#name", value="Ann", sessionId="browser")
    look = "[location.href, history.length, document.hasFocus(), document.activeElement.id, name.value]"
    before = signed_in.js(look, sessionId="browser")
    done = signed_in.ok("execute_sequence", actions=[{"action": "save_storage_state"}], sessionId="browser")
    assert done["completed"] == 1
    assert done["stateChange"] is None
    assert "events" not in done
    assert signed_in.js(look, sessionId="browser") == before


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("no/such/state.json", "cannot be read: No such file"),
        (__file__, "is not JSON"),
        (".", "cannot be read: it is not a file"),
        ({"cookies": [{"name": "sid", "value": "unguessable"}]}, "cookies.0.domain: Field required"),
        ({"origins": [{"origin": "shop", "localStorage": []}]}, "origins.0.origin: an origin is for example"),
        ({"cookies": "unguessable"}, "cookies: Input should be"),
    ],
)
def test_an_invalid_storage_state_is_refused_before_anything_is_launched(
    stage: Stage, state: Any, expected: str
) -> None:
    """The error names the file or the wrong field but repeats no value, and no session is started."""
    text = refused(stage.call("start_browser", sessionId="again", storageState=state), "invalid_argument")
    assert expected in text
    assert "unguessable" not in text
    assert [row["sessionId"] for row in stage.ok("list_sessions")["sessions"]] == ["browser"]


def test_a_storage_state_of_more_than_a_hundred_megabytes_is_not_read(stage: Stage, tmp_path: Path) -> None:
    """It is refused with the limit before anything is launched, as text of that size would be held several times."""
    file = tmp_path / "state.json"
    file.touch()
    os.truncate(file, 100_000_001)
    text = refused(stage.call("start_browser", sessionId="again", storageState=str(file)), "invalid_argument")
    assert f"storageState {file} cannot be read: it has more than 100 MB." in text
    assert "save_storage_state writes one." in text


def test_a_storage_state_is_refused_for_webkitgtk_and_for_apps(stage: Stage) -> None:
    """A storage state is refused before any launch where the browser cannot set it, and for an app."""
    wish = {"sessionId": "again", "storageState": {"cookies": []}}
    assert "WebKitWebDriver" in refused(stage.call("start_browser", browser="webkitgtk", **wish), "unsupported")
    app = {"provider": "appium", "platform": "android", "app": "x.apk"}
    assert "for browsers only" in refused(stage.call("start_session", **app, **wish), "invalid_argument")
