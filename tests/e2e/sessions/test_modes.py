"""Modes and profiles of browsers: incognito, persistent, or attached to the user's own browser."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from typer.testing import CliRunner

from orchestrator import sync
from orchestrator.cli.commands import app
from orchestrator.errors import OrchestratorError
from orchestrator.settings import Settings
from orchestrator.system.machine import LocalMachine, needed_switches
from orchestrator.webdriver.devtools import DevTools
from tests.e2e.harness import Home, answered, kill, runs, succeed
from tests.e2e.stage import refused
from tests.servers.mcp import Served
from tests.servers.site import Reply, Site, Visit
from tests.waiting import until

pytestmark = pytest.mark.full

KEPT = {"mode": "persistent", "profile": "work"}


@pytest.fixture
def shop(site: Site) -> str:
    """A site with a persistent login; the title is the user's name."""

    def welcome(visit: Visit) -> Reply:
        user = visit.query.get("user")
        signed_in = {"Set-Cookie": f"user={user}; Path=/; Max-Age=86400"} if user else {}
        return Reply(f"<title>{visit.cookies.get('user')}</title><input id=draft>", headers=signed_in)

    return site.page("/", welcome)


class Users:
    """A Chromium that a user started."""

    def __init__(self, folder: Path, url: str = "about:blank") -> None:
        here = LocalMachine.this()
        program = here.browser("chrome")
        switches = ["--headless=new", "--remote-debugging-port=0", f"--user-data-dir={folder}", "--no-first-run"]
        command = [str(program), *switches, *needed_switches(Settings()), url]
        self._temporary = tempfile.mkdtemp()
        environ = {**os.environ, "TMPDIR": self._temporary}
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environ)
        note = folder / "DevToolsActivePort"
        until(lambda: note.is_file() and note.read_text("utf-8").count("\n"), "the browser's note of its port")
        self.address = f"127.0.0.1:{note.read_text('utf-8').splitlines()[0]}"

    def runs(self) -> bool:
        """Return True if the browser runs."""
        return self.process.poll() is None

    def end(self) -> None:
        """End the browser with all its processes."""
        parts = [psutil.Process(self.process.pid), *psutil.Process(self.process.pid).children(recursive=True)]
        self.process.terminate()
        self.process.wait()
        until(lambda: not any(map(runs, parts)), "the user's browser to end")
        shutil.rmtree(self._temporary)


@pytest.fixture
def users(tmp_path: Path, shop: str) -> Iterator[Users]:
    """The user's browser, where the user is signed in and has a second tab."""
    browser = Users(tmp_path / "profile", f"{shop}?user=own")
    DevTools(browser.address).open_tab()
    yield browser
    if browser.runs():
        browser.end()
    shutil.rmtree(tmp_path / "profile", ignore_errors=True)


def _title(server: Served, name: str, url: str) -> Any:
    return server.ok("navigate", url=url, sessionId=name)["title"]


def test_an_incognito_session_begins_empty_and_leaves_nothing(
    modern: Served, shared_home: Home, shop: str
) -> None:  # X3 X4 X33 X34 O12
    """Incognito is the default mode: a session's login is neither in the next session nor on the disk."""
    row = modern.ok("start_browser", sessionId="guest", mode="incognito", navigationUrl=f"{shop}?user=ann")
    assert (row["mode"], "profile" in row) == ("incognito", False)
    assert _title(modern, "guest", shop) == "ann"
    modern.ok("close_session", sessionId="guest")
    until(shared_home.is_clean, "a clean home")
    assert modern.ok("start_browser", sessionId="guest")["mode"] == "incognito"
    assert _title(modern, "guest", shop) == "None"
    assert not (shared_home.folder / "profiles").exists()


def test_logins_in_a_named_profile_survive_their_session(
    profiled: Served, shared_home: Home, shop: str
) -> None:  # X30 X31 X32 X39 O2 O3 O4 F8 O8 X17
    """A named profile keeps its logins for later sessions of any name, in a folder of its owner alone."""
    profiled.ok("start_browser", sessionId="ann", **KEPT, navigationUrl=f"{shop}?user=ann")
    profiled.ok("execute_script", script="localStorage.basket = 'mug'", sessionId="ann")
    profiled.ok("close_session", sessionId="ann")
    row = profiled.ok("start_browser", sessionId="later", profile="work", navigationUrl=shop)
    assert (row["mode"], row["profile"]) == ("persistent", "work")
    script = "return [document.title, localStorage.basket]"
    assert profiled.ok("execute_script", script=script, sessionId="later")["value"] == ["ann", "mug"]
    folder = shared_home.folder / "profiles" / "chrome" / "work"
    assert [place.stat().st_mode & 0o777 for place in (folder, folder.parent, folder.parent.parent)] == [0o700] * 3
    profiled.ok("start_browser", sessionId="other", mode="persistent", navigationUrl=shop)
    rows = {one["sessionId"]: one for one in profiled.ok("list_sessions")["sessions"]}
    assert rows["other"]["profile"] == "default"
    assert "sharedWith" not in rows["other"]
    assert _title(profiled, "other", shop) == "None"


def test_logins_in_a_profile_survive_their_server(home: Home, shop: str) -> None:  # X30 X32 O8 X31
    """A profile belongs to the home: an orchestrator of another process and project uses it as well."""
    with sync.Orchestrator(Settings(home=home.folder, namespace="one")) as one:
        one.start_browser("ann", mode="persistent", profile="work", navigation_url=f"{shop}?user=ann")
    with sync.Orchestrator(Settings(home=home.folder, namespace="other")) as other:
        session = other.start_browser("bob", profile="work", navigation_url=shop)
        assert session.navigate(shop).title == "ann"
    shutil.rmtree(home.folder / "profiles")


def test_sessions_of_one_profile_share_a_browser_and_have_windows_of_their_own(
    profiled: Served, shared_home: Home, shop: str
) -> None:  # X37 X38
    """Two sessions of one profile share logins, have tabs of their own, and are listed as shared."""
    succeed([profiled.begin("start_browser", sessionId=name, **KEPT, navigationUrl=shop) for name in ("ann", "bob")])
    assert len(shared_home.drivers()) == 1
    _title(profiled, "ann", f"{shop}?user=both")
    assert _title(profiled, "bob", shop) == "both"
    profiled.ok("execute_script", script="window.open('about:blank#anns')", sessionId="ann")
    rows = {one["sessionId"]: one for one in profiled.ok("list_sessions")["sessions"]}
    assert [rows[name]["sharedWith"] for name in ("ann", "bob")] == [["bob"], ["ann"]]
    tabs = {name: profiled.ok("tabs", action="list", sessionId=name)["tabs"] for name in ("ann", "bob")}
    assert [len(tabs[name]) for name in ("ann", "bob")] == [2, 1]
    profiled.ok("set_viewport", width=900, height=600, sessionId="bob")
    assert profiled.ok("execute_script", script="return innerWidth", sessionId="ann")["value"] == 1280
    text = refused(profiled.call("start_browser", sessionId="cas", **KEPT, args=["--lang=de"]), "invalid_argument")
    assert "differs in args" in text
    profiled.ok("set_policy", notifications="allow", sessionId="ann")
    profiled.ok("start_browser", sessionId="cas", **KEPT)
    asks = "return Notification.requestPermission()"
    assert profiled.ok("execute_script", script=asks, sessionId="ann")["value"] == "granted", "as it was said"
    profiled.ok("close_session", sessionId="cas")
    profiled.ok("close_session", sessionId="ann")
    assert _title(profiled, "bob", shop) == "both"
    assert len(profiled.ok("tabs", action="list", sessionId="bob")["tabs"]) == 1
    profiled.ok("close_session", sessionId="bob")
    until(shared_home.is_clean, "a clean home")


def test_sessions_of_one_profile_record_only_their_own_tabs(profiled: Served, shop: str) -> None:  # X37
    """Console, requests, file pickers and downloads are recorded only for the session that has the tab."""
    for name in ("ann", "bob"):
        profiled.ok("start_browser", sessionId=name, **KEPT, navigationUrl=shop)
        profiled.ok("execute_script", script=f"console.log('{name} says')", sessionId=name)
    profiled.ok("tabs", action="new", url=shop, sessionId="ann")
    page = "document.body.innerHTML = '<input type=file id=f><a id=a download=mine.txt href=data:text/plain,x>Get</a>'"
    profiled.ok("execute_script", script=f"console.log('in a tab'); {page}; await fetch('/of-ann')", sessionId="ann")
    assert "asks for a file" in profiled.call("click_element", selector="#f", sessionId="ann").text
    profiled.ok("click_element", selector="#a", sessionId="ann")
    told = {name: profiled.ok("get_console", sessionId=name) for name in ("ann", "bob")}
    said = {name: [one["text"] for one in told[name]["entries"]] for name in told}
    assert said == {"ann": ["ann says", "in a tab"], "bob": ["bob says"]}
    assert "events" not in told["bob"]
    asked = [profiled.ok("get_network", url="/of-ann", sessionId=name)["total"] for name in ("ann", "bob")]
    assert asked == [1, 0]
    for name in ("ann", "bob"):
        profiled.ok("close_session", sessionId=name)


def test_a_context_in_a_persistent_browser_is_incognito(profiled: Served, shop: str) -> None:  # F8
    """A further context of a browser with a profile is empty and incognito; the profile keeps its login."""
    profiled.ok("start_browser", sessionId="shop", **KEPT, navigationUrl=f"{shop}?user=ann")
    assert profiled.ok("start_browser", sessionId="shop:guest", navigationUrl=shop)["mode"] == "incognito"
    assert [_title(profiled, name, shop) for name in ("shop", "shop:guest")] == ["ann", "None"]
    profiled.ok("close_session", sessionId="shop")
    profiled.ok("start_browser", sessionId="shop", **KEPT)
    assert _title(profiled, "shop", shop) == "ann"


def test_a_profile_in_use_by_another_browser_is_refused(profiled: Served, shared_home: Home) -> None:
    """No browser is started on it, and the error names the process that uses it."""
    browser = Users(shared_home.folder / "profiles" / "chrome" / "work")
    try:
        text = refused(profiled.call("start_browser", sessionId="ann", **KEPT), "start_failed")
        assert str(browser.process.pid) in text
        assert "another profile" in text
        assert browser.runs()
        assert shared_home.drivers() == []
    finally:
        browser.end()
    profiled.ok("start_browser", sessionId="ann", **KEPT)


WRONG: dict[str, dict[str, Any]] = {
    "a path": {"profile": "../work"},
    "a folder": {"profile": "a/b"},
    "a profile of an empty one": {"profile": "work", "mode": "incognito"},
    "a profile of the user's": {"profile": "work", "mode": "attached"},
    "an address for a new one": {"debuggerAddress": "127.0.0.1:9222", "mode": "persistent"},
    "an address that is none": {"debuggerAddress": "http://127.0.0.1:9222/json"},
    "switches for one that runs": {"debuggerAddress": "127.0.0.1:9222", "args": ["--lang=de"]},
    "no address": {"mode": "attached"},
    "an unknown mode": {"mode": "private"},
    "a device for one that runs": {"debuggerAddress": "127.0.0.1:9222", "device": "Pixel 7"},
}


@pytest.mark.parametrize("what", WRONG)
def test_contradictory_mode_and_profile_arguments_are_refused(
    modern: Served, shared_home: Home, what: str
) -> None:  # X16
    """Contradictory or malformed profile, mode and debugger address arguments are refused before any launch."""
    refused(modern.call("start_browser", sessionId="wrong", **WRONG[what]), "invalid_argument")
    assert not (shared_home.folder / "profiles").exists()
    until(shared_home.is_clean, "a clean home")


ELSEWHERE: dict[str, Any] = {"debuggerAddress": "127.0.0.1:1"}


@pytest.mark.parametrize(
    ("browser", "arguments"),
    [
        ("firefox", ELSEWHERE),
        *((browser, given) for browser in ("webkitgtk", "safari") for given in (ELSEWHERE, {"mode": "persistent"})),
    ],
    ids=str,
)
def test_other_browsers_and_a_grid_refuse_modes_that_they_lack(
    modern: Served, browser: str, arguments: dict[str, Any]
) -> None:  # X16
    """Attached mode is unsupported in these browsers, persistent in two of them, both at a remote provider."""
    refused(modern.call("start_browser", browser=browser, **arguments), "unsupported")
    where = {"provider": "selenium_grid", "platform": "browser"}
    assert "selenium_grid" in refused(modern.call("start_session", **where, **arguments), "unsupported")


def test_an_attached_user_browser_is_driven_and_left_running(
    modern: Served, shared_home: Home, users: Users, shop: str
) -> None:  # X35 X36 X44 X45 X43 X46
    """The user's tabs are listed and unchanged; a first page gets its own tab; closing ends only our driver.

    Route rules and recording apply to the browser's requests only while it is driven.
    """
    row = modern.ok("start_browser", sessionId="mine", mode="attached", debuggerAddress=users.address)
    assert (row["mode"], row["owned"]) == ("attached", False)
    assert "webSocketUrl" not in shared_home.record("mine").capabilities
    tabs = modern.ok("tabs", action="list", sessionId="mine")["tabs"]
    assert sorted(tab["url"] for tab in tabs) == sorted([f"{shop}?user=own", "about:blank"])
    own = next(tab["tab"] for tab in tabs if "user=own" in tab["url"])
    modern.ok("tabs", action="select", tab=own, sessionId="mine")
    modern.ok("set_value", selector="#draft", value="half a letter", sessionId="mine")
    other = modern.ok("start_browser", sessionId="also", debuggerAddress=users.address, navigationUrl=shop)
    assert other["url"] == shop
    assert len(modern.ok("tabs", action="list", sessionId="also")["tabs"]) == 3
    fetch = "return await fetch('/').then(answer => answer.text(), () => 'blocked')"
    modern.ok("har", action="start", sessionId="also")
    assert "draft" in modern.ok("execute_script", script=fetch, sessionId="also")["value"]
    assert modern.ok("har", action="stop", sessionId="also")["entries"] == 1
    modern.ok("route", action="block", url=shop, sessionId="also")
    assert modern.ok("execute_script", script=fetch, sessionId="also")["value"] == "blocked"
    assert modern.ok("close_sessions", all=True)["failed"] == []
    assert users.runs()
    again = modern.ok("start_browser", debuggerAddress=users.address)["sessionId"]
    modern.ok("tabs", action="list", sessionId=again)
    for tab in modern.ok("tabs", action="list", sessionId=again)["tabs"]:
        if tab["url"] == f"{shop}?user=own":
            modern.ok("tabs", action="select", tab=tab["tab"], sessionId=again)
            script = "return [document.title, document.querySelector('#draft').value]"
            assert modern.ok("execute_script", script=script)["value"] == ["None", "half a letter"]
            assert "draft" in modern.ok("execute_script", script=fetch)["value"]
            break
    else:
        pytest.fail("the user's tab is gone")


def test_windows_of_an_attached_browser_keep_their_size(modern: Served, users: Users) -> None:  # X35
    """Emulation applies to each tab and resizes none, except for a device, whose end restores the size."""
    modern.ok("start_browser", sessionId="mine", debuggerAddress=users.address)
    facts = "return [innerWidth, innerHeight, Intl.DateTimeFormat().resolvedOptions().timeZone]"

    def seen(tab: str) -> list[Any]:
        modern.ok("tabs", action="select", tab=tab)
        found: list[Any] = modern.ok("execute_script", script=facts)["value"]
        return found

    sizes = {tab: seen(tab)[:2] for tab in ("t1", "t2")}
    told = modern.ok("emulate", timezone="Asia/Tokyo")
    assert "viewport" not in told
    assert {tab: seen(tab) for tab in sizes} == {tab: [*size, "Asia/Tokyo"] for tab, size in sizes.items()}
    modern.ok("emulate", device="Pixel 7")
    assert modern.ok("execute_script", script="return devicePixelRatio")["value"] == 2.625
    modern.ok("emulate", device="none", timezone="none")
    assert seen("t2")[:2] == sizes["t2"]


def test_permissions_of_an_attached_browser_are_untouched_until_a_policy_is_set(
    modern: Served, users: Users, shop: str
) -> None:  # X35 X54 X46
    """A permission request gets the browser's own answer until set_policy allows it."""
    asks = "return Notification.requestPermission()"
    modern.ok("start_browser", sessionId="mine", debuggerAddress=users.address, navigationUrl=shop)
    assert modern.ok("execute_script", script=asks)["value"] == "denied"
    modern.ok("set_policy", notifications="allow")
    assert modern.ok("execute_script", script=asks)["value"] == "granted"


def test_an_attached_user_browser_outlives_its_driver_and_server(home: Home, users: Users) -> None:  # X43 X45 O12 X46
    """The driver is killed, or the server ends: the browser runs on, and nothing of ours is left."""
    with home.serve(attach=users.address, park_ttl="0") as server:
        server.ok("start_browser", sessionId="a", mode="attached")
        kill(home.process("a", "chromedriver"))
        assert server.call("get_text", sessionId="a").code == "session_lost"
        server.ok("close_session", sessionId="a")
        server.ok("start_browser", sessionId="a", mode="attached")
    until(home.is_clean, "the driver to end with the server")
    assert users.runs()


def test_attaching_fails_with_a_hint_when_no_browser_answers(
    modern: Served, users: Users, shared_home: Home
) -> None:  # X35 X44
    """A session whose attached browser ends is lost, and a new start gives the command for such a browser."""
    modern.ok("start_browser", sessionId="mine", debuggerAddress=users.address)
    waiting = modern.begin("wait_for", selector="#never", timeout=600_000, sessionId="mine")
    until(lambda: shared_home.tickets() == 1, "the call to run")
    users.end()
    assert answered(waiting).code == "session_lost"
    text = refused(modern.call("start_browser", sessionId="gone", debuggerAddress=users.address), "start_failed")
    assert users.address in text
    assert "--remote-debugging-port" in text


def test_profiles_remove_takes_only_the_name_of_a_closed_profile(profiled: Served, shared_home: Home) -> None:  # X39
    """The profiles command removes neither an open profile nor a folder that is no profile."""

    def profiles(*words: str) -> str:
        done = CliRunner().invoke(app, ["profiles", *words], env={"ORCHESTRATOR_HOME": str(shared_home.folder)})
        return str(done.exception) if isinstance(done.exception, OrchestratorError) else done.output

    profiled.ok("start_browser", sessionId="ann", **KEPT)
    assert profiles("list") == "chrome/work\n"
    assert "is open in process" in profiles("remove", "chrome/work")
    profiled.ok("close_session", sessionId="ann")
    (shared_home.folder / "profiles" / "chrome" / "note").touch()
    for wrong in ("work", "../run", "chrome/../chrome/work", "chrome", "chrome/note", str(shared_home.folder)):
        assert "There is no profile" in profiles("remove", wrong)
    assert profiles("remove", "chrome/work") == "Removed: chrome/work.\n"
    assert profiles("list") == "There are no profiles.\n"
