"""Starting and listing sessions through an MCP client: names, numbers, limits, and starts that fail."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.harness import Home, answered
from tests.full_cases import every_other_full
from tests.servers.mcp import Served
from tests.servers.site import Site
from tests.waiting import until

WRONG = [
    "", " ", ".", "..", "../x", "../../x", "/etc/x", "a/b", "a\\b", "a\nb", "a\n", "a b", "-a", "_a", ".a", "ä", "a\0b",
    "x" * 65, "x" * 300, ":", "a:", ":b", "a:b:c", "a:../b", "%2e%2e", "a;b", "$(id)", "e\u0301",
]  # fmt: skip


def test_two_named_sessions_are_started_used_listed_chosen_and_closed(
    server: Served, site: Site
) -> None:  # W1 W6 W11 W12 W17 W19 W36 W37 B1 W8 W10 W29 W30 X14 X15
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


def test_a_session_row_reports_type_state_mode_times_url_tabs_and_remote_url(
    server: Served, site: Site
) -> None:  # W13 W14 W17 W18 W36 X29 O13 O15 O19 O21
    """The rows of a start and of the list have type, capabilities, state, mode, times, URL, tabs and remote address."""
    site.page("/", "<title>Here</title>")
    started = server.ok("start_browser", sessionId="seen", navigationUrl=site.url("/"))
    (listed,) = server.ok("list_sessions")["sessions"]
    assert listed.pop("lastActiveAt") >= started.pop("lastActiveAt") >= started["createdAt"]
    assert listed == started
    assert {name: started[name] for name in ("type", "provider", "state", "mode", "url", "owned", "pages")} == {
        "type": "browser", "provider": "local", "state": "active", "mode": "incognito",
        "url": site.url("/"), "owned": True, "pages": 1,
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
    server.ok("tabs", action="new")
    assert server.ok("list_sessions")["sessions"][0]["pages"] == 2


def test_list_sessions_gives_the_same_facts_in_text_and_data(modern: Served) -> None:  # W17
    """A model that gets only the text learns ids, states and the current session from it."""
    modern.ok("start_browser", sessionId="ann")
    modern.ok("start_browser", sessionId="bob")
    answer = modern.call("list_sessions")
    for row in answer.data["sessions"]:
        line = next(line for line in answer.text.splitlines() if line.startswith(f"{row['sessionId']}: "))
        told = [row[name] for name in ("state", "type", "createdAt", "lastActiveAt", "remoteUrl", "remoteSessionId")]
        assert all(value in line for value in told), line
    assert "Current session: ann." in answer.text
    assert [row["sessionId"] for row in modern.ok("list_sessions", prefix="b")["sessions"]] == ["bob"]


def test_list_sessions_answers_at_once_while_a_session_is_busy(modern: Served, site: Site) -> None:  # W17 O15
    """The list answers at once while a session works, with its last recorded state."""
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


def test_unnamed_sessions_get_numbered_ids(server: Served) -> None:  # W15 W16 W30
    """Automatic ids are browser-1, browser-2, …; they restart at 1 when no session of the namespace is left."""
    assert server.ok("start_browser")["sessionId"] == "browser-1"
    assert server.ok("start_browser")["sessionId"] == "browser-2"
    server.ok("close_session", sessionId="browser-2")
    assert server.ok("start_browser")["sessionId"] == "browser-3"
    server.ok("close_all_sessions")
    assert server.ok("start_session", provider="local", platform="browser")["sessionId"] == "browser-1"


def test_automatic_ids_skip_a_name_that_is_already_open(modern: Served) -> None:  # X22 W16
    """A name that looks like an automatic id is skipped by the count."""
    modern.ok("start_browser", sessionId="browser-1")
    assert modern.ok("start_browser")["sessionId"] == "browser-2"


def test_start_session_starts_by_provider_and_platform(modern: Served, site: Site) -> None:  # W55
    """start_session starts a session by provider and platform, in any case of letters."""
    site.page("/", "<title>By provider</title>")
    row = modern.ok(
        "start_session", provider="local", platform="Browser", sessionId="p", navigationUrl=site.url("/"), headless=True
    )
    assert (row["sessionId"], row["provider"], row["type"], row["url"]) == ("p", "local", "browser", site.url("/"))
    assert modern.ok("expect", title="By provider")


def test_an_unknown_provider_is_refused_with_the_known_ones(modern: Served, shared_home: Home) -> None:
    """A misspelled provider reserves no session, and the error lists the known ones."""
    answer = modern.call("start_session", provider="locall", platform="browser", sessionId="no-provider")
    assert answer.code in {"invalid_argument", "provider_error"}
    assert "'local'" in answer.text
    assert "no-provider" not in shared_home.remembered()


def test_each_session_has_its_own_viewport(modern: Served, site: Site) -> None:  # X19
    """Each session has the requested page area, or the default, a large one."""
    site.page("/", "<title>Size</title>")
    modern.ok("start_browser", sessionId="usual", navigationUrl=site.url("/"))
    modern.ok("start_browser", sessionId="small", navigationUrl=site.url("/"), viewport={"width": 390, "height": 600})
    sizes = {
        name: modern.ok("execute_script", script="return [innerWidth, innerHeight]", sessionId=name)["value"]
        for name in ("usual", "small")
    }
    assert sizes == {"usual": [1280, 720], "small": [390, 600]}


def test_starting_an_open_session_id_again_is_refused(server: Served, shared_home: Home) -> None:  # W49 X22
    """The second start is refused before anything is launched, and the first session lives on."""
    first = server.ok("start_browser", sessionId="test")
    before = shared_home.processes()
    answer = server.call("start_browser", sessionId="test")
    assert answer.code == "session_exists"
    assert "Session 'test' already exists" in answer.text
    assert {one.pid for one in shared_home.processes()} <= {one.pid for one in before}
    assert server.ok("list_sessions")["sessions"][0]["remoteSessionId"] == first["remoteSessionId"]
    assert server.ok("execute_script", script="return 1", sessionId="test")["value"] == 1


def test_of_two_concurrent_starts_with_one_session_id_exactly_one_succeeds(
    server: Served, shared_home: Home
) -> None:  # W49 X22 X15
    """Of two concurrent starts the first succeeds, the other gets session_exists, and a single browser runs."""
    answers = [answered(call) for call in [server.begin("start_browser", sessionId="test") for _ in range(2)]]
    assert sorted(answer.code for answer in answers) == ["", "session_exists"]
    (row,) = server.ok("list_sessions")["sessions"]
    assert row["state"] == "active"
    until(lambda: len(shared_home.folders()) == len(shared_home.drivers()) == 1, "the end of all but one browser")


def test_a_closed_sessions_id_can_be_started_again(modern: Served) -> None:  # W11 W49
    """After close_session the name starts a new session, without any state of the old one."""
    first = modern.ok("start_browser", sessionId="again")
    assert modern.ok("close_session", sessionId="again")["closed"] == ["again"]
    second = modern.ok("start_browser", sessionId="again")
    assert second["remoteSessionId"] != first["remoteSessionId"]
    assert second["createdAt"] > first["createdAt"]


def test_an_invalid_session_id_is_refused_by_every_tool_without_side_effects(
    modern: Served, shared_home: Home, subtests: pytest.Subtests
) -> None:  # W8
    """An invalid id is invalid_argument for every tool, and creates no file, record or process."""
    modern.ok("close_sessions", all=True)
    until(shared_home.is_clean, "a clean home")
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
    for wrong in WRONG:
        with subtests.test(ascii(wrong)[:24]):
            for tool, arguments in calls:
                answer = modern.call(tool, sessionId=wrong, **arguments)
                assert answer.code == "invalid_argument", (tool, answer.text)
            parallel = [{"sessionId": wrong, "actions": [{"action": "get_text"}]}]
            assert modern.call("execute_parallel", sequences=parallel).code == "invalid_argument"
            assert (shared_home.files(), shared_home.remembered(), _below(shared_home.folder.parent)) == before
            assert shared_home.processes() == []


def _below(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.full
def test_a_start_that_reaches_the_session_warning_number_succeeds_with_a_warning(home: Home) -> None:  # W45
    """From the fifth session on a start succeeds with a warning; a setting changes the number."""
    with home.serve(session_warning="2") as server:
        assert "warnings" not in server.ok("start_browser")
        for number in (2, 3):
            answer = server.call("start_browser")
            assert answer.data["state"] == "active"
            assert answer.data["warnings"] == [f"{number} sessions are open; close those you no longer need."]
            assert answer.data["warnings"][0] in answer.text


def test_a_start_at_max_sessions_is_refused_until_a_session_is_closed(home: Home) -> None:  # W45
    """At max_sessions a start answers session_limit with the open ids, and succeeds once one is closed."""
    with home.serve(max_sessions="1") as server:
        server.ok("start_browser", sessionId="only")
        answer = server.call("start_browser", sessionId="more")
        assert answer.code == "session_limit"
        assert "only" in answer.text
        assert answer.data["error"]["retryable"] is True
        assert len(home.folders()) == 1
        server.ok("close_session", sessionId="only")
        server.ok("start_browser", sessionId="more")


def test_a_browser_beyond_max_local_browsers_is_refused_and_a_context_is_none(home: Home) -> None:  # W46
    """Starts at once are counted, too; contexts share their browser, and one that is closed leaves room."""
    with home.serve(max_local_browsers="1") as server:
        begun = [server.begin("start_browser", sessionId=name) for name in ("one", "two")]
        starts = [answered(one) for one in begun]
        [refusal] = [answer for answer in starts if answer.failed]
        assert refusal.code == "session_limit"
        assert "1 browser is open on this machine, and max_local_browsers is 1." in refusal.text
        assert "The setting max_local_browsers is auto or a number; the operator sets it." in refusal.text
        server.ok("start_browser", sessionId="one:ann")
        server.ok("close_sessions", all=True)
        server.ok("start_browser", sessionId="two")


def test_a_failed_start_leaves_no_record_and_no_folder(home: Home, site: Site) -> None:  # X22
    """A browser that cannot start answers start_failed: no record is open, no folder is left, the name is free."""
    broken = home.folder / "broken-browser"
    broken.write_text("#!/bin/sh\necho out of order >&2\nexit 3\n", "utf-8")
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
    with home.serve(chrome_binary=str(broken)) as server:
        answer = server.call("start_browser", sessionId="test")
        assert answer.code == "start_failed"
        assert "test" in answer.text
        assert f"{broken} ended at once: run it by hand" in answer.text
        until(home.is_clean, "a clean home")
        assert server.ok("list_sessions") == {"sessions": [], "currentSession": None}
        assert server.call("start_browser", sessionId="test").code == "start_failed"
        assert server.call("get_text", sessionId="test").code == "session_not_found"
    with home.serve() as server:
        server.ok("start_browser", sessionId="test", navigationUrl=site.page("/", "<title>Up</title>"))


BAD_URLS = {
    "blocked-port": "http://127.0.0.1:9/",
    "nobody-listens": "http://127.0.0.1:2/",
    "no-such-file": Path("no/such/file").absolute().as_uri(),
}


@pytest.mark.parametrize("url", every_other_full(BAD_URLS.values()), ids=list(BAD_URLS))
def test_a_navigation_url_that_does_not_load_fails_the_start(
    modern: Served, shared_home: Home, url: str
) -> None:  # X22 W40
    """A start whose navigationUrl does not load leaves nothing, and the same name can be started without it."""
    answer = modern.call("start_browser", sessionId="test", navigationUrl=url)
    assert answer.code == "start_failed"
    assert url in answer.text
    until(shared_home.is_clean, "a clean home")
    later = modern.call("get_text", sessionId="test")
    assert later.code == "session_not_found"
    assert "Its start failed" in later.text
    assert modern.ok("start_browser", sessionId="test")["state"] == "active"


@pytest.mark.parametrize("url", ["example.com", "", "javascript:alert(1)"])
def test_an_invalid_navigation_url_launches_no_browser(modern: Served, shared_home: Home, url: str) -> None:  # W40
    """A navigationUrl that is not absolute, or is a script, is refused before the name is reserved."""
    assert modern.call("start_browser", sessionId="no-address", navigationUrl=url).code == "invalid_argument"
    assert "no-address" not in shared_home.remembered()


@pytest.mark.parametrize("wait", [True, False])
def test_a_dialog_of_the_first_page_is_reported_exactly_once(
    modern: Served, site: Site, *, wait: bool
) -> None:  # X53 W40
    """A dialog of the first page is reported once: by the start, or by the first call after it."""
    url = site.page("/", "<title>Hello</title><script>alert('Welcome!')</script>")
    start = modern.call("start_browser", navigationUrl=url, wait=wait)
    assert not start.failed, start.text
    results = [start, modern.call("get_text"), modern.call("get_text")]
    told = ["Welcome!" in answer.text and "Welcome!" in str(answer.data.get("events")) for answer in results]
    assert told == [wait, not wait, False]


def test_an_installed_browser_version_is_started(modern: Served) -> None:
    """A browserVersion matches by its major part or in full, and the row reports the running version."""
    here = modern.ok("start_browser", sessionId="any")["capabilities"]["browserVersion"]
    major = here.partition(".")[0]
    row = modern.ok("start_session", provider="local", platform="browser", browserVersion=major)
    assert row["capabilities"]["browserVersion"] == here
    assert modern.ok("start_browser", sessionId="exact", options={"browserVersion": here})["state"] == "active"


def test_a_browser_version_that_is_not_found_fails_the_start(modern: Served) -> None:
    """A browser version that is missing fails the start; no other version is started instead."""
    answer = modern.call("start_session", provider="local", platform="browser", browserVersion="9")
    assert answer.code == "start_failed"
    assert "Chrome 9 was not found, and Selenium Manager did not fetch it" in answer.text
    assert modern.ok("list_sessions")["sessions"] == []
