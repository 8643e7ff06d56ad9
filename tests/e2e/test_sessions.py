"""Starting and listing sessions through an MCP client: names, numbers, limits, and starts that fail."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.harness import Home, answered
from tests.served import Served
from tests.site import Site

WRONG_IDS = [
    "", " ", ".", "..", "../x", "../../x", "/etc/x", "a/b", "a\\b", "a\nb", "a\n", "a b", "-a", "_a", ".a", "ä", "a\0b",
    "x" * 65, "x" * 300, ":", "a:", ":b", "a:b:c", "a:../b", "%2e%2e", "a;b", "$(id)", "e\u0301",
]  # fmt: skip
WRONG = [pytest.param(one, id=ascii(one)[:24]) for one in WRONG_IDS]


def test_the_calls_of_the_issue_work_as_written(server: Served, site: Site) -> None:  # W1 W5 W6 W11 W12 W17 W19 W36 W37
    """Two users start, one clicks, the list names the first as current, the second is chosen, all are closed."""
    site.page("/", "<title>Shop</title><button onclick=\"document.title = 'clicked'\">Buy</button>")
    assert server.ok("start_browser", sessionId="user-a")["sessionId"] == "user-a"
    assert server.ok("start_browser", sessionId="user-b")["sessionId"] == "user-b"
    for name in ("user-a", "user-b"):
        server.ok("navigate", url=site.url("/"), sessionId=name)
    assert server.ok("click_element", selector="button", sessionId="user-b")["title"] == "clicked"
    assert server.ok("expect", title="Shop", sessionId="user-a")
    listed = server.ok("list_sessions")
    assert listed["currentSession"] == "user-a"
    assert [row["sessionId"] for row in listed["sessions"]] == ["user-a", "user-b"]
    assert server.ok("set_current_session", sessionId="user-b") == {"currentSession": "user-b"}
    assert server.ok("list_sessions")["currentSession"] == "user-b"
    assert server.ok("close_all_sessions") == {"closed": ["user-a", "user-b"], "detached": [], "failed": []}
    assert server.ok("list_sessions") == {"sessions": [], "currentSession": None}


def test_a_row_says_what_a_session_is(server: Served, site: Site) -> None:  # W13 W14 W15 W16 W17 W18 W36 X29 O13 O21
    """The row of a start and that of the list have type, capabilities, state, mode, times, URL and remote address."""
    site.page("/", "<title>Here</title>")
    started = server.ok("start_browser", sessionId="seen", navigationUrl=site.url("/"))
    (listed,) = server.ok("list_sessions")["sessions"]
    assert listed.pop("lastActiveAt") >= started.pop("lastActiveAt") >= started["createdAt"]
    assert listed == started
    assert {name: started[name] for name in ("type", "provider", "state", "mode", "url", "owned")} == {
        "type": "browser", "provider": "local", "state": "active", "mode": "incognito",
        "url": site.url("/"), "owned": True,
    }  # fmt: skip
    assert started["capabilities"]["browserName"] == "chrome"
    assert started["capabilities"]["platformName"]
    assert started["capabilities"]["browserVersion"][0].isdigit()
    assert started["remoteUrl"].startswith("http://127.0.0.1:")
    assert started["remoteSessionId"]
    assert len(site.visits("/")) == 1
    server.ok("get_text")
    (used,) = server.ok("list_sessions")["sessions"]
    assert used == {**listed, "lastActiveAt": used["lastActiveAt"]}
    assert used["lastActiveAt"] > started["createdAt"]
    again = server.ok("list_sessions")
    assert (again["sessions"], again["currentSession"]) == ([used], "seen")


def test_listing_says_in_text_what_it_says_in_data(modern: Served) -> None:  # W17
    """A model that is shown only the text learns ids, states and the current session from it."""
    modern.ok("start_browser", sessionId="ann")
    modern.ok("start_browser", sessionId="bob")
    answer = modern.call("list_sessions")
    for row in answer.data["sessions"]:
        line = next(line for line in answer.text.splitlines() if line.startswith(f"{row['sessionId']}: "))
        told = [row[name] for name in ("state", "type", "createdAt", "lastActiveAt", "remoteUrl", "remoteSessionId")]
        assert all(value in line for value in told), line
    assert "Current session: ann." in answer.text
    assert [row["sessionId"] for row in modern.ok("list_sessions", prefix="b")["sessions"]] == ["bob"]


def test_listing_makes_no_round_trip(modern: Served, site: Site) -> None:  # W17 O15
    """While a session works the list answers at once, with what was last known."""
    site.page("/", "<title>Last known</title>")
    gate = site.gate("/slow")
    modern.ok("start_browser", sessionId="busy", navigationUrl=site.url("/"))
    running = modern.begin("navigate", url=site.url("/slow"))
    gate.wait_entered()
    (row,) = modern.ok("list_sessions")["sessions"]
    assert (row["state"], row["url"]) == ("active", site.url("/"))
    assert not running.done()
    gate.open()
    answered(running)


def test_sessions_without_names_are_counted(server: Served) -> None:  # W8 W9
    """Auto ids are browser-1, browser-2, … and begin at 1 again when no session of the namespace is left."""
    assert server.ok("start_browser")["sessionId"] == "browser-1"
    assert server.ok("start_browser")["sessionId"] == "browser-2"
    server.ok("close_session", sessionId="browser-2")
    assert server.ok("start_browser")["sessionId"] == "browser-3"
    server.ok("close_all_sessions")
    assert server.ok("start_session", provider="local", platform="browser")["sessionId"] == "browser-1"


def test_a_chosen_name_is_not_counted_into(modern: Served) -> None:  # W8 W9 X22
    """A name that looks like an auto id is skipped by the count."""
    modern.ok("start_browser", sessionId="browser-1")
    assert modern.ok("start_browser")["sessionId"] == "browser-2"


def test_start_session_names_its_provider(modern: Served, site: Site) -> None:  # W40 W55
    """The three ways to start meet in one kind of session: by provider and platform, in any case of letters."""
    site.page("/", "<title>By provider</title>")
    row = modern.ok(
        "start_session", provider="local", platform="Browser", sessionId="p", navigationUrl=site.url("/"), headless=True
    )
    assert (row["sessionId"], row["provider"], row["type"], row["url"]) == ("p", "local", "browser", site.url("/"))
    assert modern.ok("expect", title="By provider")


def test_an_unknown_provider_is_refused_with_the_known_ones(modern: Served, shared_home: Home) -> None:  # W40
    """A misspelled provider reserves nothing and is told the names there are."""
    answer = modern.call("start_session", provider="locall", platform="browser", sessionId="no-provider")
    assert answer.code in {"invalid_argument", "provider_error"}
    assert "'local'" in answer.text
    assert "no-provider" not in shared_home.remembered()


def test_viewport_and_flags_are_the_sessions_own(modern: Served, site: Site) -> None:  # W16 X19
    """Each session has the page area that its start asked for, a large one unless it did."""
    site.page("/", "<title>Size</title>")
    modern.ok("start_browser", sessionId="usual", navigationUrl=site.url("/"))
    modern.ok("start_browser", sessionId="small", navigationUrl=site.url("/"), viewport={"width": 390, "height": 600})
    sizes = {
        name: modern.ok("execute_script", script="return [innerWidth, innerHeight]", sessionId=name)["value"]
        for name in ("usual", "small")
    }
    assert sizes == {"usual": [1280, 720], "small": [390, 600]}


def test_a_name_that_is_open_cannot_be_opened_again(server: Served, shared_home: Home) -> None:  # W49 X22
    """The second start is refused before anything is launched, and the first session lives on."""
    first = server.ok("start_browser", sessionId="test")
    before = shared_home.processes()
    answer = server.call("start_browser", sessionId="test")
    assert answer.code == "session_exists"
    assert "Session 'test' already exists" in answer.text
    assert {one.pid for one in shared_home.processes()} <= {one.pid for one in before}
    assert server.ok("list_sessions")["sessions"][0]["remoteSessionId"] == first["remoteSessionId"]
    assert server.ok("execute_script", script="return 1", sessionId="test")["value"] == 1


def test_two_starts_of_one_name_at_once(server: Served, shared_home: Home) -> None:  # W49 X22
    """One wins, the other gets session_exists, one browser runs."""
    answers = [answered(call) for call in [server.begin("start_browser", sessionId="test") for _ in range(2)]]
    assert sorted(answer.code for answer in answers) == ["", "session_exists"]
    (row,) = server.ok("list_sessions")["sessions"]
    assert row["state"] == "active"
    assert len(shared_home.folders()) == 1
    assert len(shared_home.drivers()) == 1


def test_a_closed_name_is_free_again(modern: Served) -> None:  # W11 W49
    """After close_session the name starts a new session, without anything of the old one."""
    first = modern.ok("start_browser", sessionId="again")
    assert modern.ok("close_session", sessionId="again")["closed"] == ["again"]
    second = modern.ok("start_browser", sessionId="again")
    assert second["remoteSessionId"] != first["remoteSessionId"]
    assert second["createdAt"] > first["createdAt"]


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_id_touches_nothing(modern: Served, shared_home: Home, wrong: str) -> None:  # W8 F5
    """An id that is no name is invalid_argument for every tool: no file, no record and no process comes of it."""
    modern.ok("close_sessions", all=True)
    before = (shared_home.files(), shared_home.remembered(), _below(shared_home.folder.parent))
    calls: list[tuple[str, dict[str, Any]]] = [
        ("start_browser", {}),
        ("start_session", {"provider": "local", "platform": "browser"}),
        ("navigate", {"url": "about:blank"}),
        ("click_element", {"selector": "button"}),
        ("take_screenshot", {}),
        ("execute_sequence", {"actions": [{"action": "get_text"}]}),
        ("set_current_session", {}),
        ("close_session", {}),
    ]
    for tool, arguments in calls:
        answer = modern.call(tool, sessionId=wrong, **arguments)
        assert answer.code == "invalid_argument", (tool, answer.text)
    parallel = [{"sessionId": wrong, "actions": [{"action": "get_text"}]}]
    assert modern.call("execute_parallel", sequences=parallel).code == "invalid_argument"
    assert (shared_home.files(), shared_home.remembered(), _below(shared_home.folder.parent)) == before
    assert shared_home.processes() == []


def _below(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_five_sessions_warn_and_work(home: Home) -> None:  # W45 W46
    """From the fifth session on a start succeeds with a warning; the setting moves the number."""
    with home.serve(session_warning="2") as server:
        assert "warnings" not in server.ok("start_browser")
        for number in (2, 3):
            answer = server.call("start_browser")
            assert answer.data["state"] == "active"
            assert answer.data["warnings"] == [f"{number} sessions are open; close those you no longer need."]
            assert answer.data["warnings"][0] in answer.text


def test_a_limit_can_be_set(home: Home) -> None:  # W45 W46
    """At max_sessions a start answers session_limit with the open ids, and goes through once one is closed."""
    with home.serve(max_sessions="1") as server:
        server.ok("start_browser", sessionId="only")
        answer = server.call("start_browser", sessionId="more")
        assert answer.code == "session_limit"
        assert "only" in answer.text
        assert answer.data["error"]["retryable"] is True
        assert len(home.folders()) == 1
        server.ok("close_session", sessionId="only")
        server.ok("start_browser", sessionId="more")


def test_a_start_that_fails_leaves_nothing(home: Home, site: Site) -> None:  # W15 X22
    """A browser that cannot start answers start_failed: no record is open, no folder is left, the name is free."""
    broken = home.folder / "broken-browser"
    broken.write_text("#!/bin/sh\necho out of order >&2\nexit 3\n", "utf-8")
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
    with home.serve(chrome_binary=str(broken)) as server:
        answer = server.call("start_browser", sessionId="test")
        assert answer.code == "start_failed"
        assert "test" in answer.text
        assert f"{broken} ended at once: run it by hand" in answer.text
        assert home.is_clean()
        assert server.ok("list_sessions") == {"sessions": [], "currentSession": None}
        assert server.call("start_browser", sessionId="test").code == "start_failed"
        assert server.call("get_text", sessionId="test").code == "session_not_found"
    with home.serve() as server:
        server.ok("start_browser", sessionId="test", navigationUrl=site.page("/", "<title>Up</title>"))


BAD_URLS = {
    "blocked-port": "http://127.0.0.1:9/",
    "nobody-listens": "http://127.0.0.1:2/",
    "no-such-file": "file:///no/such/file",
}


@pytest.mark.parametrize("url", BAD_URLS.values(), ids=list(BAD_URLS))
def test_a_first_page_that_does_not_load_fails_the_start(
    modern: Served, shared_home: Home, url: str
) -> None:  # W16 X22
    """When navigationUrl cannot be loaded nothing is left, and the same name can be started without it."""
    answer = modern.call("start_browser", sessionId="test", navigationUrl=url)
    assert answer.code == "start_failed"
    assert url in answer.text
    assert shared_home.is_clean()
    later = modern.call("get_text", sessionId="test")
    assert later.code == "session_not_found"
    assert "Its start failed" in later.text
    assert modern.ok("start_browser", sessionId="test")["state"] == "active"


@pytest.mark.parametrize("url", ["example.com", "", "javascript:alert(1)"])
def test_a_first_page_without_a_real_address_launches_nothing(
    modern: Served, shared_home: Home, url: str
) -> None:  # W16
    """What is no absolute URL is invalid_argument, before the name is reserved."""
    assert modern.call("start_browser", sessionId="no-address", navigationUrl=url).code == "invalid_argument"
    assert "no-address" not in shared_home.remembered()


@pytest.mark.parametrize("wait", [True, False])
def test_a_first_page_may_open_a_dialog(modern: Served, site: Site, *, wait: bool) -> None:  # W16 X53
    """The dialog is answered as the policy says and told once: by the start, or by the first call behind it."""
    url = site.page("/", "<title>Hello</title><script>alert('Welcome!')</script>")
    start = modern.call("start_browser", navigationUrl=url, wait=wait)
    assert not start.failed, start.text
    results = [start, modern.call("get_text"), modern.call("get_text")]
    told = ["Welcome!" in answer.text and "Welcome!" in str(answer.data.get("events")) for answer in results]
    assert told == [wait, not wait, False]


def test_a_version_that_is_installed_is_started(modern: Served) -> None:
    """A version counts as far as it goes; the row says which one came."""
    here = modern.ok("start_browser", sessionId="any")["capabilities"]["browserVersion"]
    major = here.partition(".")[0]
    row = modern.ok("start_session", provider="local", platform="browser", browserVersion=major)
    assert row["capabilities"]["browserVersion"] == here
    assert modern.ok("start_browser", sessionId="exact", options={"browserVersion": here})["state"] == "active"


def test_a_version_that_is_nowhere_is_told(modern: Served) -> None:
    """Another one is never started in its place."""
    answer = modern.call("start_session", provider="local", platform="browser", browserVersion="9")
    assert answer.code == "start_failed"
    assert "Chrome 9 was not found, and Selenium Manager did not fetch it" in answer.text
    assert modern.ok("list_sessions")["sessions"] == []
