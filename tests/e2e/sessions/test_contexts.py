"""Contexts: several sessions in one browser, each with cookies, storage, tabs and a lane of its own."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator.system import processes
from orchestrator.webdriver.devtools import DevTools, debugger_address
from tests.e2e.harness import Home, answered, in_time, kill, remote, succeed
from tests.e2e.stage import refused
from tests.servers.mcp import Served
from tests.servers.site import Reply, Site, Visit
from tests.waiting import until

pytestmark = pytest.mark.full

USERS = ("shop", "shop:ann", "shop:bob")
JAR = "return [document.cookie, localStorage.me, sessionStorage.me]"


@pytest.fixture(scope="module")
def users(theatre: Served) -> Iterator[Served]:
    """A server with three sessions in one browser, for tests that leave them unchanged."""
    succeed([theatre.begin("start_browser", sessionId=name) for name in USERS])
    yield theatre
    theatre.ok("close_sessions", all=True)


def _welcome(visit: Visit) -> Reply:
    user = visit.query.get("user")
    return Reply(
        f"<title>{visit.cookies.get('user')}</title>", headers={"Set-Cookie": f"user={user}; Path=/"} if user else {}
    )


def _handles(server: Served, name: str) -> list[str]:
    return [tab["url"] for tab in server.ok("tabs", action="list", sessionId=name)["tabs"]]


def test_contexts_of_one_browser_do_not_share_cookies_or_storage(users: Served, site: Site) -> None:  # F1 F11 F9 F10
    """Three users of one browser are signed in at one site: none has the cookies and storage of another."""
    site.page("/", _welcome)
    for name in USERS:
        users.ok("navigate", url=site.url(f"/?user={name[-3:]}"), sessionId=name)
        users.ok("execute_script", script="localStorage.me = sessionStorage.me = args[0]", args=[name], sessionId=name)
    for name in USERS:
        assert users.ok("navigate", url=site.url("/"), sessionId=name)["title"] == name[-3:]
        shown = users.ok("execute_script", script=JAR, sessionId=name)["value"]
        assert shown == [f"user={name[-3:]}", name, name]


def test_three_contexts_started_at_once_share_one_browser(users: Served) -> None:  # F5 F10 W57
    """Sessions that start at once share one browser; the list names those that share it, and each has its record."""
    rows = {row["sessionId"]: row for row in users.ok("list_sessions")["sessions"]}
    assert set(rows) >= set(USERS)
    assert len({rows[name]["remoteUrl"] for name in USERS}) == 1
    assert len({rows[name]["remoteSessionId"] for name in USERS}) == len(USERS)
    for name in USERS:
        assert set(rows[name]["sharedWith"]) == set(USERS) - {name}
        assert f"sharedWith {' '.join(rows[name]['sharedWith'])}" in users.call("list_sessions").text


@pytest.mark.required
def test_contexts_are_driven_in_parallel_and_a_hanging_one_holds_up_no_other(users: Served, site: Site) -> None:  # F13
    """Calls on the three are in the same page at the same time; one that hangs delays no other.

    Only calls for which the driver reads all tabs of the browser are refused meanwhile.
    """
    met = site.meeting("/met", len(USERS))
    succeed([users.begin("navigate", url=met, sessionId=name) for name in USERS])
    hung = site.gate("/held")
    site.page("/held", "held")
    script = "const asked = new XMLHttpRequest(); asked.open('GET', '/held', false); asked.send()"
    hangs = users.begin("execute_script", script=script, sessionId="shop")
    hung.wait_entered()
    for name in USERS[1:]:
        users.ok("navigate", url=site.page("/beside", "<title>beside</title>"), sessionId=name)
        users.ok("tabs", action="list", sessionId=name)
    told = users.call("tabs", action="select", tab="t1", sessionId="shop:ann")
    assert "another session in this browser does not respond" in refused(told, "timeout")
    assert users.ok("get_text", sessionId="shop:ann") is not None
    assert not hangs.done()
    hung.open()
    assert not answered(hangs).failed
    users.ok("tabs", action="select", tab="t1", sessionId="shop:ann")


def test_each_context_lists_only_its_own_tabs(users: Served, site: Site) -> None:  # F11
    """Tabs that a page opens belong to its session, and no other lists, selects or closes them."""
    opener = site.page("/opener", "<button onclick=\"open('/opened', '_blank', 'noopener')\">Open</button>")
    opened = site.page("/opened", "<title>opened</title>")
    for name in USERS:
        users.ok("navigate", url="about:blank", sessionId=name)
    users.ok("navigate", url=opener, sessionId="shop:ann")
    told = users.ok("click_element", selector="text=Open", sessionId="shop:ann")
    assert any("The page opened tab" in event for event in told["events"])
    assert sorted(_handles(users, "shop:ann")) == sorted([opener, opened])
    own = users.ok("tabs", action="new", url=opened, sessionId="shop:bob")["tabs"]
    assert [tab["url"] for tab in own] == ["about:blank", opened]
    assert _handles(users, "shop") == ["about:blank"]
    for name in ("shop:ann", "shop:bob"):
        last = users.ok("tabs", action="list", sessionId=name)["tabs"][-1]["tab"]
        users.ok("tabs", action="close", tab=last, sessionId=name)
        assert len(_handles(users, name)) == 1


def test_a_contexts_only_tab_is_replaced_when_its_page_closes_it(users: Served, site: Site) -> None:  # O17
    """The page closes the context's only tab: another one replaces it, with the same cookies."""
    users.ok("navigate", url=site.page("/", _welcome) + "?user=ann", sessionId="shop:ann")
    users.call("execute_script", script="setTimeout(() => window.close())", sessionId="shop:ann")
    until(lambda: not users.call("get_text", sessionId="shop:ann").failed, "a tab that can be used")
    assert users.ok("navigate", url=site.url("/"), sessionId="shop:ann")["title"] == "ann"
    assert len(_handles(users, "shop:ann")) == 1


def test_a_tab_that_crashes_is_replaced_in_its_context(users: Served) -> None:  # O17
    """A context whose only tab crashed gets a new one, and no session is lost."""
    for name in ("shop:ann", "shop:bob"):
        crashed = refused(users.call("navigate", url="chrome://crash", sessionId=name), "timeout")
        assert "The page crashed, and its tab was closed" in crashed
        [row] = users.ok("list_sessions", prefix=name)["sessions"]
        assert "url" not in row
        assert _handles(users, name) == ["about:blank"]


def test_each_context_has_a_viewport_of_its_own(users: Served) -> None:  # X19
    """A start gives its own size, and set_viewport in one context changes no other."""
    users.ok("start_browser", sessionId="shop:small", viewport={"width": 640, "height": 480})
    users.ok("set_viewport", width=900, height=500, sessionId="shop:bob")
    sizes = {"shop:small": [640, 480], "shop:bob": [900, 500], "shop": [1280, 720]}
    for name, size in sizes.items():
        script = "return [innerWidth, innerHeight]"
        assert users.ok("execute_script", script=script, sessionId=name)["value"] == size, name
    users.ok("close_session", sessionId="shop:small")


def test_switches_and_host_rules_hold_in_all_contexts_of_their_browser(users: Served, site: Site) -> None:  # F6 F7
    """Switches and host rules apply to all contexts of their browser, and to no other browser."""
    site.page("/", "<title>by rule</title>")
    rules = {"hostRules": {"shop.test": site.url("").removeprefix("http://")}}
    switches = ["--user-agent=of flags"]
    users.ok("start_browser", sessionId="flags:one", args=switches, options=rules)
    users.ok("start_browser", sessionId="flags:two", args=switches)
    agent = {"script": "return navigator.userAgent"}
    for name in ("flags:one", "flags:two"):
        assert users.ok("navigate", url="http://shop.test/", sessionId=name)["title"] == "by rule"
        assert users.ok("execute_script", **agent, sessionId=name)["value"] == "of flags"
    assert users.ok("execute_script", **agent, sessionId="shop:ann")["value"] != "of flags"
    users.ok("close_sessions", prefix="flags")


def _told(server: Served, name: str, answer: dict[str, Any]) -> str:
    """Return the event of this answer, or of one of the next."""
    return str((answer.get("events") or until(lambda: _events(server, name), "the event"))[0])


def _events(server: Served, name: str) -> Any:
    return server.ok("get_text", sessionId=name).get("events")


def test_console_network_and_downloads_are_recorded_per_context(users: Served, site: Site) -> None:  # F11 X6 X7
    """Console, requests and downloads of a context are in its session alone, and files in its folder."""
    headers = {"Content-Disposition": 'attachment; filename="tea.txt"'}
    site.page("/tea", Reply("mint", content_type="application/octet-stream", headers=headers))
    page = site.page("/own", "<a href=/tea>Get</a>")
    for name in USERS:
        users.ok("navigate", url=f"{page}?{name}", sessionId=name)
        users.ok("execute_script", script="console.log(args[0])", args=[name], sessionId=name)
    for name in USERS:
        said = users.ok("get_console", sessionId=name)["entries"]
        assert [one["text"] for one in said if one["text"] in USERS] == [name]
        asked = users.ok("get_network", url="/own", sessionId=name)["entries"]
        assert [one["url"] for one in asked] == [f"{page}?{name}"]
    for name in USERS:
        event = _told(users, name, users.ok("click_element", selector="text=Get", sessionId=name))
        assert f"/{name}/tea.txt" in event
    for name in USERS:
        assert "events" not in users.ok("get_text", sessionId=name)


def test_a_long_call_in_one_context_does_not_block_the_console_of_another(users: Served, site: Site) -> None:  # W1 X6
    """The console of a context is read while a script of another one does not end."""
    for name in ("held", "held:ann"):
        users.ok("start_browser", sessionId=name)
    users.ok("navigate", url=site.page("/holding", "holding"), sessionId="held")
    gate = site.gate("/held")
    script = "const asked = new XMLHttpRequest(); asked.open('GET', '/held', false); asked.send()"
    going = users.begin("execute_script", script=script, sessionId="held")
    gate.wait_entered()
    users.ok("execute_script", script="console.log('mint')", sessionId="held:ann")
    said = users.ok("get_console", sessionId="held:ann")
    assert not going.done()
    assert [one["text"] for one in said["entries"]] == ["mint"]
    assert "the newest entries may be missing" in said["warnings"][0]
    gate.open()
    assert not answered(going).failed
    assert "warnings" not in users.ok("get_console", sessionId="held:ann")
    users.ok("close_sessions", prefix="held")


def test_each_context_has_a_notification_policy_of_its_own(users: Served, site: Site) -> None:  # X54
    """A policy for the pages of one context does not apply in another one at the same site."""
    page, script = site.page("/asks", "asks"), "return Notification.requestPermission()"
    for name in USERS:
        users.ok("navigate", url=page, sessionId=name)
    users.ok("set_policy", notifications="allow", sessionId="shop:ann")
    users.ok("set_policy", notifications="deny", sessionId="shop:bob")
    heard = {name: users.ok("execute_script", script=script, sessionId=name)["value"] for name in USERS}
    assert heard == {"shop": "default", "shop:ann": "granted", "shop:bob": "denied"}
    for policy in ("deny", "raise"):
        for name in USERS[1:]:
            users.ok("set_policy", notifications=policy, sessionId=name)


DIFFERENT: dict[str, dict[str, Any]] = {
    "args": {"args": ["--force-dark-mode"]},
    "hostRules": {"options": {"hostRules": {"shop.test": "127.0.0.1"}}},
    "headless": {"headless": False},
    "mode, profile": {"mode": "persistent", "profile": "work"},
    "browser": {"browser": "edge"},
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_a_context_start_with_different_browser_options_is_refused(users: Served, what: str) -> None:  # F6 F5
    """A start with other browser options than the running browser's is refused with the difference, and not listed."""
    name = "shop:default" if "mode" in what else "shop:cas"
    if "mode" in what:
        users.ok("close_session", sessionId="shop")
    answer = users.call("start_browser", sessionId=name, **DIFFERENT[what])
    text = refused(answer, "invalid_argument")
    assert f"differs in {what}" in text
    assert "choose another name" in text
    assert name not in [row["sessionId"] for row in users.ok("list_sessions")["sessions"]]
    if "mode" in what:
        users.ok("start_browser", sessionId="shop")


def test_a_context_start_may_repeat_the_options_of_its_browser(users: Served) -> None:  # F6
    """Options of the browser may be repeated, including one explicitly switched off."""
    options = {"hostRules": {"shop.test": "127.0.0.1"}, "acceptInsecureCerts": True}
    users.ok("start_browser", sessionId="flags:one", args=["--lang=de"], options=options)
    users.ok("start_browser", sessionId="flags:two", args=["--lang=de"], headless=True)
    careful = {"options": {"acceptInsecureCerts": False}}
    told = users.call("start_browser", sessionId="flags:three", **careful)
    assert "differs in acceptInsecureCerts" in refused(told, "invalid_argument")
    users.ok("start_browser", sessionId="shop:three", **careful)
    for prefix in ("flags", "shop:three"):
        users.ok("close_sessions", prefix=prefix)


def _sockets(server: Served) -> int:
    return len([one for one in server.process.net_connections("tcp") if one.status == "ESTABLISHED"])


def test_closed_and_failed_contexts_leave_no_socket(users: Served) -> None:
    """A context that is closed, or fails to start for a refused cookie, leaves no socket in the browser.

    The browser stays, so a leaked connection to it would stay as well, one of each round. Another one may belong to
    the other sessions, which the server looks after meanwhile.
    """
    rounds = 4
    before = _sockets(users)
    wrong = {"cookies": [{"name": "a;b", "value": "1", "domain": "shop.test"}]}
    for _ in range(rounds):
        answer = users.call("start_browser", sessionId="shop:cas", storageState=wrong)
        assert "Invalid cookie" in refused(answer, "remote_error")
        told = users.call("get_text", sessionId="shop:cas")
        assert "Its start failed: " in refused(told, "session_not_found")
        users.ok("start_browser", sessionId="shop:cas")
        users.ok("close_session", sessionId="shop:cas")
    until(lambda: _sockets(users) < before + rounds, "their sockets to be closed")


UNABLE: dict[str, tuple[str, dict[str, Any], str]] = {
    "firefox": ("start_browser", {"browser": "firefox"}, "Firefox"),
    "webkitgtk": ("start_browser", {"browser": "webkitgtk"}, "WebKitGTK"),
    "a Grid": ("start_session", {"provider": "selenium_grid", "platform": "browser"}, "selenium_grid"),
    "a cloud": ("start_session", {"provider": "browserstack", "platform": "browser"}, "browserstack"),
    "an app": ("start_app_session", {"platform": "iOS", "bundleId": "com.example"}, "apps have none"),
    "a persistent profile": ("start_browser", {"mode": "persistent"}, "cannot be persistent"),
    "an attached browser": ("start_browser", {"debuggerAddress": "127.0.0.1:1"}, "cannot be attached"),
}


@pytest.mark.parametrize("what", UNABLE)
def test_a_provider_browser_or_mode_without_contexts_refuses_them(users: Served, what: str) -> None:  # F8
    """A provider, browser or mode without contexts gives the reason and an alternative; nothing is started."""
    tool, arguments, reason = UNABLE[what]
    text = refused(users.call(tool, sessionId="ctx:ann", **arguments), "unsupported")
    assert reason in text
    assert "session of its own" in text


def test_a_named_context_may_be_started_before_the_default_one(
    modern: Served, shared_home: Home, site: Site
) -> None:  # F1 F5
    """The browser starts with its first context, whichever that is; the default context starts when requested.

    A later context of the same name has no state of a closed one.
    """
    url = site.page("/", _welcome)
    modern.ok("start_browser", sessionId="first:ann", navigationUrl=f"{url}?user=ann")
    assert modern.call("get_text", sessionId="first").code == "session_not_found"
    modern.ok("start_browser", sessionId="first", navigationUrl=f"{url}?user=own")
    for name in ("first:ann", "first"):
        modern.ok("close_session", sessionId=name)
        assert modern.ok("start_browser", sessionId=name, navigationUrl=url)["sessionId"] == name
        assert modern.ok("execute_script", script=JAR, sessionId=name)["value"][0] == ""
    assert len(shared_home.drivers()) == 1


def test_closing_the_last_context_ends_the_browser(modern: Served, shared_home: Home) -> None:  # O12
    """The other contexts continue when one closes; the last one ends driver, browser and folder."""
    succeed([modern.begin("start_browser", sessionId=name) for name in USERS])
    for closed, left in (("shop", "shop:ann"), ("shop:ann", "shop:bob")):
        assert modern.ok("close_session", sessionId=closed) == {"closed": [closed], "detached": [], "failed": []}
        modern.ok("navigate", url="about:blank", sessionId=left)
        modern.ok("execute_script", script="console.log('heard')", sessionId=left)
        assert [one["text"] for one in modern.ok("get_console", sessionId=left)["entries"]][-1:] == ["heard"]
        assert len(shared_home.drivers()) == 1
    assert modern.ok("close_session", sessionId="shop:bob")["closed"] == ["shop:bob"]
    until(shared_home.is_clean, "a clean home")


def test_closing_all_contexts_at_once_ends_the_browser(modern: Served, shared_home: Home) -> None:  # O12
    """Contexts closed at the same time leave the browser to none of them, and all of it ends."""
    succeed([modern.begin("start_browser", sessionId=name) for name in USERS])
    closing = [modern.begin("close_session", sessionId=name) for name in USERS]
    assert sorted(one.data["closed"][0] for one in succeed(closing)) == sorted(USERS)
    until(shared_home.is_clean, "a clean home")
    succeed([modern.begin("start_browser", sessionId=name) for name in USERS])
    assert modern.ok("close_sessions", prefix="shop")["failed"] == []


def _crash(server: Served, home: Home, victim: str) -> float:
    """Kill the browser of three contexts or its driver while calls run in two; return when they were told, in s."""
    succeed([server.begin("start_browser", sessionId=name) for name in USERS])
    running = [server.begin("wait_for", selector="#never", timeout=600_000, sessionId=name) for name in USERS[:2]]
    until(lambda: home.tickets() == len(running), "the calls to run")
    killed = kill(home.process("shop:bob", victim))
    assert {answered(call).code for call in running} == {"session_lost"}
    return time.monotonic() - killed


@pytest.mark.parametrize("victim", ["chromium", "chromedriver"])
def test_a_crash_of_browser_or_driver_loses_every_context(
    modern: Served, shared_home: Home, victim: str
) -> None:  # O12
    """A crash fails the running calls, and every session of the browser is lost, with a reason."""
    modern.ok("start_browser", sessionId="other")
    _crash(modern, shared_home, victim)

    def states() -> dict[str, str]:
        return {row["sessionId"]: row["state"] for row in modern.ok("list_sessions")["sessions"]}

    until(lambda: set(states().values()) == {"lost", "active"}, "the lost sessions in the list")
    until(lambda: states() == {**dict.fromkeys(USERS, "lost"), "other": "active"}, "all of them in the list")
    for name in USERS:
        assert shared_home.record(name).lost_reason
        assert modern.call("get_text", sessionId=name).code == "session_lost"
    assert modern.ok("close_sessions", prefix="shop")["failed"] == []
    modern.ok("start_browser", sessionId="shop:ann")
    assert len(shared_home.drivers()) == 2


@pytest.mark.clock
@pytest.mark.parametrize("victim", ["chromium", "chromedriver"])
def test_a_crash_of_browser_or_driver_fails_running_calls_within_two_seconds(
    modern: Served, shared_home: Home, victim: str
) -> None:
    """Fails the calls at once, whichever of the two crashed."""
    assert _crash(modern, shared_home, victim) < in_time(2.0)


def test_a_detached_context_keeps_the_browser_alive(home: Home) -> None:  # W38 X23
    """A detached context can be driven after the others were closed: the whole browser is the user's then."""
    with home.serve() as server:
        for name in ("shop:ann", "shop:bob"):
            server.ok("start_browser", sessionId=name)
        left = home.record("shop:ann")
        assert server.ok("close_session", sessionId="shop:ann", detach=True)["detached"] == ["shop:ann"]
        assert server.ok("close_session", sessionId="shop:bob") == {
            "closed": ["shop:bob"],
            "detached": [],
            "failed": [],
        }
    session = f"{left.remote_url}/session/{left.remote_session_id}"
    assert remote("GET", f"{session}/url") == "about:blank"
    assert processes.end_processes(left.processes) == []


def test_a_failed_context_start_leaves_the_other_contexts_alone(modern: Served, shared_home: Home) -> None:
    """A start whose first page does not load is undone; the browser stays, with the other contexts' tabs."""
    modern.ok("start_browser", sessionId="shop")
    nowhere = "http://127.0.0.1:9/"
    assert modern.call("start_browser", sessionId="shop:ann", navigationUrl=nowhere).code == "start_failed"
    assert modern.call("get_text", sessionId="shop:ann").code == "session_not_found"
    assert modern.ok("tabs", action="list", sessionId="shop")["tabs"][0]["tab"] == "t1"
    modern.ok("close_session", sessionId="shop")
    until(shared_home.is_clean, "a clean home")


def test_two_servers_share_one_browser_for_their_contexts(home: Home) -> None:  # F10
    """Two servers of a namespace start contexts of one instance at once: one browser, driven and ended by both.

    A server that first listens to a context gets its earlier entries, and those of no other. A context closed by one
    server leaves no socket in the other.
    """
    with home.serve() as one, home.serve() as other:
        succeed([one.begin("start_browser", sessionId="shop:ann"), other.begin("start_browser", sessionId="shop:bob")])
        assert len(home.drivers()) == 1
        one.ok("execute_script", script="document.title = 'from one'", sessionId="shop:bob")
        assert other.ok("get_visible_elements", sessionId="shop:bob")["title"] == "from one"
        for name in ("shop:ann", "shop:bob"):
            one.ok("execute_script", script="console.log(args[0])", args=[name], sessionId=name)
        assert [said["text"] for said in other.ok("get_console", sessionId="shop:ann")["entries"]] == ["shop:ann"]
        one.ok("start_browser", sessionId="shop:cid")
        other.ok("get_text", sessionId="shop:cid")
        with_third = _sockets(other)
        one.ok("close_session", sessionId="shop:cid")
        one.ok("start_browser", sessionId="shop:dan")
        other.ok("get_text", sessionId="shop:dan")
        until(lambda: _sockets(other) <= with_third, "the sockets of the closed context to be closed")
        one.ok("close_session", sessionId="shop:dan")
        one.ok("close_session", sessionId="shop:ann")
        other.ok("navigate", url="about:blank", sessionId="shop:bob")
        one.ok("close_session", sessionId="shop:bob")
        until(home.is_clean, "a clean home")


def test_an_expired_parked_context_is_ended_and_leaves_the_others(home: Home) -> None:  # B14
    """The keeper ends a context past its time to live; the browser stays with a session of another server."""
    with home.serve() as stays:
        with home.serve(park_ttl="1") as goes:
            goes.ok("start_browser", sessionId="shop")
            stays.ok("start_browser", sessionId="shop:ann")
        until(lambda: [one.id for one in home.records()] == ["shop:ann"], "the keeper to end what was parked")
        stays.ok("navigate", url="about:blank", sessionId="shop:ann")
        assert len(home.drivers()) == 1
        address = debugger_address(home.record("shop:ann").capabilities)
        until(lambda: len(DevTools(address).tabs()) == 1, "the tab that was closed")
        stays.ok("close_session", sessionId="shop:ann")
        until(home.is_clean, "nothing to be left")
