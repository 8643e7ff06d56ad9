"""Sessions restarted under their name: state that a fresh browser gets from the former one, and state that is gone."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from orchestrator.models.storage_state import StorageState
from orchestrator.system.output import write_file
from orchestrator.system.process_identity import alive
from orchestrator.system.storage_files import build_state_path
from tests.e2e.harness import Home
from tests.e2e.stage import refused
from tests.servers.site import Reply, Site, Visit
from tests.waiting import until

pytestmark = pytest.mark.full

_SIGN_IN = "<!doctype html><title>in</title><script>localStorage.token = 'unguessable'</script>"
_KEEP = """<!doctype html><title>keep</title><script>
localStorage.token = 'unguessable'; sessionStorage.draft = `draft at ${location.hostname}`;
const opened = indexedDB.open('shop', 3);
opened.onupgradeneeded = () => {
  const goods = opened.result.createObjectStore('goods', { keyPath: 'id' });
  goods.createIndex('price', 'price');
  goods.put({ id: 1, price: 5, name: `goods of ${location.hostname}` });
  opened.result.createObjectStore('basket').put({ what: 'Mug', on: new Date(0), many: [1n, 2n] }, 'first');
};
opened.onsuccess = () => { opened.result.close(); document.title = 'kept'; };
</script>"""
_LOOK = """const done = (request) => new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
const shop = await done(indexedDB.open('shop', 3));
const read = shop.transaction(['goods', 'basket']);
const [goods, basket] = await Promise.all([
  done(read.objectStore('goods').index('price').get(5)), done(read.objectStore('basket').get('first')),
]);
const isExact = basket.on instanceof Date && basket.many[1] === 2n;
return [localStorage.token, sessionStorage.draft ?? null, [goods.name, basket.what, basket.many.length, isExact]];"""
_COOKIE = {"Set-Cookie": "sid=unguessable-too; HttpOnly; Path=/"}


def _home(visit: Visit) -> str:
    told = "localStorage.token + localStorage.late" if "sid" in visit.cookies else "'sign in'"
    return f"<!doctype html><title>x</title><script>document.title = {told}</script>"


def signing(site: Site) -> None:
    """Put a site with a log-in on the server."""
    site.page("/in", Reply(_SIGN_IN, headers=_COOKIE))
    site.page("/home", _home)


def kept(home: Home) -> list[Path]:
    """Return the saved storage files."""
    return sorted((home.folder / "storage").glob("*"))


def items(home: Home) -> dict[str, Any]:
    """Return the local storage in the saved files."""
    found = [json.loads(path.read_text()) for path in kept(home)]
    return {item["name"]: item["value"] for one in found for o in one["origins"] for item in o["localStorage"]}


def die(home: Home, *sessions: str) -> None:
    """Kill all processes of sessions at once, as a machine without memory would."""
    dying = [process for name in sessions for process in home.record(name).processes]
    for process in dying:
        os.kill(process.pid, signal.SIGKILL)
    until(lambda: not any(map(alive, dying)), "the end of the browsers")


def test_a_browser_that_died_while_parked_is_recovered(home: Home, site: Site) -> None:  # B11 B18 B25
    """A fresh browser has the saved storage and the emulation of the dead one; the first result reports it."""
    signing(site)
    with home.serve(park_ttl="60") as server:
        server.ok("start_browser", sessionId="shop", navigationUrl=site.url("/in"))
        secret = site.url("/in").replace("//", "//ann:hunter22@")
        server.ok("start_browser", sessionId="secret", navigationUrl=secret)
        until(lambda: "token" in items(home), "storage that is saved beside the calls")
        assert [path.stat().st_mode & 0o777 for path in kept(home)] == [0o600] * len(kept(home))
        assert kept(home)[0].parent.stat().st_mode & 0o777 == 0o700
        server.ok("execute_script", script="localStorage.late = '!'", sessionId="shop")
        server.ok("emulate", timezone="Asia/Tokyo", sessionId="shop")
        before = home.record("shop")
    assert items(home) == {"token": "unguessable", "late": "!"}
    assert "hunter22" not in (home.folder / "sessions.db").read_bytes().decode("latin-1")
    die(home, "shop", "secret")
    with home.serve(park_ttl="60") as server:
        answer = server.call("get_text", sessionId="shop")
        assert (answer.data["restored"], answer.data["recovered"]) == (False, "storage")
        told = "A fresh browser has its cookies and storage; its pages and unsent input are lost"
        assert f"{told}; the last page was 'in' at {site.url('/in')}." in answer.data["events"][0]
        after = home.record("shop")
        assert (after.created_at, after.limits, after.ref_next >= before.ref_next) == (
            before.created_at,
            before.limits,
            True,
        )
        assert after.remote_session_id != before.remote_session_id
        server.ok("navigate", url=site.url("/home"), sessionId="shop")
        assert server.ok("execute_script", script="return document.title", sessionId="shop")["value"] == "unguessable!"
        zone = "return Intl.DateTimeFormat().resolvedOptions().timeZone"
        assert server.ok("execute_script", script=zone, sessionId="shop")["value"] == "Asia/Tokyo"
        lost = refused(server.call("get_text", sessionId="secret"), "session_lost")
        assert "it cannot be started again: its start request holds credentials, which are not stored" in lost
        server.ok("close_sessions", all=True)
        assert kept(home) == []


def test_the_storage_of_both_tabs_of_a_dead_browser_is_recovered(home: Home, site: Site) -> None:  # B11 B25
    """Cookies, local and session storage and databases of two tabs are back, as is the origin that one had left."""
    site.page("/keep", Reply(_KEEP, headers=_COOKIE))
    site.page("/look", "<!doctype html><title>look</title>")
    first, left, second = hosts = "127.0.0.1", "left.localhost", "localhost"
    with home.serve(park_ttl="60") as server:
        server.ok("start_browser", sessionId="shop")
        kept = {"action": "wait_for", "title": "kept"}
        steps = [
            {"action": "navigate", "url": site.url("/keep", host=first)},
            kept,
            {"action": "tabs", "do": "new", "url": site.url("/keep", host=left)},
            kept,
            {"action": "navigate", "url": site.url("/keep", host=second)},
            kept,
        ]
        server.ok("execute_sequence", actions=steps, sessionId="shop")
    die(home, "shop")
    with home.serve(park_ttl="60") as server:
        for host in hosts:
            server.ok("navigate", url=site.url("/look", host=host), sessionId="shop")
            draft = None if host == left else f"draft at {host}"
            found = server.ok("execute_script", script=_LOOK, sessionId="shop")["value"]
            assert found == ["unguessable", draft, [f"goods of {host}", "Mug", 2, True]]
            assert "sid" in site.visits("/look")[-1].cookies
        requests = server.ok("get_network", sessionId="shop")["entries"]
        pages = [one["url"] for one in requests if "favicon" not in one["url"]]
        assert pages == [site.url("/look", host=host) for host in hosts]
        assert server.ok("execute_script", script="return history.length", sessionId="shop")["value"] == 4
        server.ok("close_sessions", all=True)


def test_contexts_that_are_recovered_share_one_browser_again(home: Home, site: Site) -> None:  # B11 B18
    """The first recovered context launches the browser as first requested; the other one joins it."""
    site.page("/", "<title>shop</title>")
    url = site.url("/", host="shop.test")
    with home.serve(park_ttl="60") as server:
        server.ok("start_browser", sessionId="shop:ann", options={"hostRules": {"shop.test": "127.0.0.1"}})
        server.ok("start_browser", sessionId="shop:bob")
    die(home, "shop:ann")
    with home.serve(park_ttl="60") as server:
        for name in ("shop:bob", "shop:ann"):
            assert server.ok("get_text", sessionId=name)["restored"] is False
            assert server.ok("navigate", url=url, sessionId=name)["title"] == "shop"
        assert len(home.drivers()) == 1
        assert home.record("shop:ann").remote_url == home.record("shop:bob").remote_url
        server.ok("close_sessions", all=True)


def _set_max_duration(home: Home, session_id: str, seconds: int) -> None:
    """Change the maximum duration of a session behind its server's back."""
    with closing(sqlite3.connect(home.folder / "sessions.db", timeout=30)) as db, db:
        change = "UPDATE sessions SET record = json_set(record, '$.limits.age', ?) WHERE id = ?"
        db.execute(change, (seconds, session_id))


def test_a_session_beyond_max_duration_is_recreated_under_its_name(
    home: Home, site: Site, tmp_path: Path
) -> None:  # F28 F31 F29 O11
    """With on_max_duration=recreate the next call gets a fresh browser under the same name, and reports it.

    The login and the globals of scripts are gone, which the first script reports; vars, policies, granted permissions,
    emulation, route rules and recordings are kept.
    """
    site.page("/in", "<script>document.title = new Date(0).getHours()</script>")
    with home.serve(on_max_duration="recreate") as server:
        options = {"maxDuration": "1h", "har": str(tmp_path / "shop.har")}
        row = server.ok("start_browser", sessionId="shop", navigationUrl=site.url("/in"), options=options)
        asks = {"script": "return Notification.requestPermission()", "sessionId": "shop"}
        server.ok("set_policy", notifications="allow", sessionId="shop")
        assert server.ok("execute_script", **asks)["value"] == "granted"
        server.ok("set_policy", dialogs="accept", notifications="raise", sessionId="shop")
        server.ok("run_script", script="globalThis.kept = 1; vars.set('kept', '1')", sessionId="shop")
        server.ok("emulate", timezone="Asia/Tokyo", sessionId="shop")
        write_file(build_state_path(home.folder, home.record("shop")), StorageState().text())
        # Neither before all is set, nor after the restart, is the session too old on a slow machine.
        _set_max_duration(home, "shop", 6)
        server.ok("list_sessions")
        until(lambda: home.record("shop").state == "parked", "the end of a browser that is too old")
        until(lambda: not home.processes() and not kept(home), "the end of what ran and of what was kept")
        _set_max_duration(home, "shop", 3600)
        listed = server.ok("list_sessions")["sessions"][0]
        assert listed["createdAt"] == row["createdAt"]
        script = "return [await page.title(), typeof kept, vars.get('kept')]"
        answer = server.call("run_script", script=script, sessionId="shop")
        told = "shop was started anew: it reached its maximum duration of 6 s. "
        assert answer.data["restored"] is False
        assert told in answer.data["events"][0]
        assert answer.data["events"][-1].startswith("The script world is a new one")
        assert answer.data["value"] == ["9", "undefined", "1"]
        assert home.record("shop").policies.dialogs == "accept"
        assert server.ok("execute_script", **asks)["value"] == "granted"
        assert (home.record("shop").fresh_since or 0) > home.record("shop").created_at + 6
        assert server.ok("close_session", sessionId="shop")["closed"] == ["shop"]
    entries = json.loads((tmp_path / "shop.har").read_text())["log"]["entries"]
    assert [one["request"]["url"] for one in entries].count(site.url("/in")) == 2
