"""Sessions at any WebDriver endpoint: attached while another client owns them, or started there by URL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.errors import StartFailed
from orchestrator.settings import Settings
from orchestrator.sync import Orchestrator
from tests.e2e.harness import Home
from tests.e2e.stage import refused
from tests.project.test_examples import run
from tests.servers.grid import GridEnd
from tests.servers.mcp import Served
from tests.servers.ports import free_port
from tests.servers.site import Site
from tests.servers.webdriver import PASSWORD, RemoteEnd, remote_end

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def end() -> Iterator[RemoteEnd]:
    """A chromedriver that is not ours."""
    with remote_end() as end:
        yield end


@pytest.fixture(scope="module")
def guarded() -> Iterator[RemoteEnd]:
    """A chromedriver that asks for a password."""
    with remote_end(guarded=True) as end:
        yield end


def _attach(end: RemoteEnd, session: str, **more: object) -> dict[str, object]:
    return {"remoteUrl": end.url, "remoteSessionId": session, **more}


def test_an_attached_session_is_driven_and_left_alive_by_closing(server: Served, site: Site, end: RemoteEnd) -> None:
    """A script's session is read and used here; closing detaches, and the script continues from there."""
    site.page("/", "<title>Script</title><button onclick=\"document.title = 'Agent was here'\">Go on</button>")
    session = end.start()
    end.ask("POST", session, "/url", {"url": site.url("/")})
    row = server.ok("attach_session", **_attach(end, session, sessionId="handed"))
    assert (row["sessionId"], row["provider"], row["state"], row["owned"]) == ("handed", "remote_url", "active", False)
    assert row["capabilities"]["browserName"] == "chrome"
    assert (row["remoteUrl"], row["remoteSessionId"]) == (end.url, session)
    assert 'button "Go on"' in server.ok("get_visible_elements", sessionId="handed")["outline"]
    assert server.ok("click_element", sessionId="handed", selector="button")["title"] == "Agent was here"
    assert server.ok("close_session", sessionId="handed") == {"closed": ["handed"], "detached": [], "failed": []}
    assert end.ask("GET", session, "/title") == "Agent was here"
    end.ask("DELETE", session, "")


def test_a_session_attached_without_an_id_gets_the_next_number_and_is_current(modern: Served, end: RemoteEnd) -> None:
    """An attached session gets the next number and becomes current, as a started one does."""
    session = end.start()
    assert modern.ok("attach_session", **_attach(end, session))["sessionId"] == "browser-1"
    assert modern.ok("list_sessions")["currentSession"] == "browser-1"
    modern.ok("close_session")
    end.ask("DELETE", session, "")


def test_attaching_a_remote_session_twice_answers_with_the_open_session(modern: Served, end: RemoteEnd) -> None:
    """The second attach answers with the open session and the reason; its script world is kept."""
    session = end.start()
    modern.ok("attach_session", **_attach(end, session, sessionId="one"))
    modern.ok("run_script", script="var kept = 1", sessionId="one")
    again = modern.call("attach_session", **_attach(end, session, sessionId="two"))
    assert again.data["sessionId"] == "one"
    assert "This remote session is open already, as one." in again.text
    assert [row["sessionId"] for row in modern.ok("list_sessions")["sessions"]] == ["one"]
    assert modern.ok("run_script", script="return kept", sessionId="one")["value"] == 1
    end.ask("DELETE", session, "")


def test_attaching_a_dead_session_is_session_lost_and_records_nothing(
    modern: Served, shared_home: Home, end: RemoteEnd
) -> None:
    """Neither an unknown session id nor a dead remote end leaves a record."""
    before = shared_home.remembered()
    text = refused(modern.call("attach_session", **_attach(end, "f" * 32, sessionId="ghost")), "session_lost")
    assert "Session 'ghost' is lost: " in text
    nobody = f"http://127.0.0.1:{free_port()}"
    dead = {"remoteUrl": nobody, "remoteSessionId": "f" * 32}
    text = refused(modern.call("attach_session", **dead), "session_lost")
    assert f"the remote end is gone: nothing listens at {nobody}. Check remoteUrl and remoteSessionId;" in text
    assert "nothing was recorded" in text
    assert shared_home.remembered() == before


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"remoteUrl": "127.0.0.1:4444"}, "remoteUrl is not the address of a WebDriver endpoint. Write for example"),
        ({"remoteUrl": "ftp://127.0.0.1"}, "remoteUrl is not the address"),
        ({"remoteUrl": "http://127.0.0.1/?a=b"}, "remoteUrl is not the address"),
        ({"remoteSessionId": "../status"}, "remoteSessionId is not a W3C session id"),
        ({"remoteSessionId": ""}, "remoteSessionId is not a W3C session id"),
        ({"sessionId": "../x"}, "'../x' is not a session id"),
        ({"capabilities": {"deviceName": "x"}}, "Write 'appium:deviceName'"),
        ({"platform": "toaster"}, "platform"),
    ],
    ids=str,
)
def test_invalid_attach_arguments_are_refused_before_the_remote_end_is_asked(
    modern: Served, end: RemoteEnd, wrong: dict[str, object], expected: str
) -> None:
    """A bad URL, id or capability is named, and the remote end gets no request."""
    asked = len(end.requests)
    assert expected in refused(modern.call("attach_session", **{**_attach(end, "f" * 32), **wrong}), "invalid_argument")
    assert len(end.requests) == asked


def test_attaching_under_a_taken_session_id_is_refused(modern: Served, end: RemoteEnd) -> None:  # W49 X22
    """An attached session cannot take the name of an open one."""
    first, second = end.start(), end.start()
    modern.ok("attach_session", **_attach(end, first, sessionId="taken"))
    text = refused(modern.call("attach_session", **_attach(end, second, sessionId="taken")), "session_exists")
    assert "Session 'taken' already exists" in text
    for session in (first, second):
        end.ask("DELETE", session, "")


def test_provider_remote_url_starts_and_ends_a_session_at_any_endpoint(
    modern: Served, site: Site, end: RemoteEnd
) -> None:  # W55 W57
    """The provider remote_url starts a session at any endpoint, with the requested capabilities, and ends it there."""
    site.page("/", "<title>Far</title><input aria-label=Name>")
    end.requests.clear()
    row = modern.ok(
        "start_session", provider="remote_url", platform="browser", options={"url": end.url},
        capabilities=end.capabilities(), navigationUrl=site.url("/"),
    )  # fmt: skip
    method, path, body = end.requests[0]
    asked = body["capabilities"]["alwaysMatch"]
    assert (method, path, asked["browserName"]) == ("POST", "/session", "chrome")
    assert {"--headless=new", "--window-size=1280,807"} <= set(asked["goog:chromeOptions"]["args"])
    assert (row["owned"], row["provider"], row["url"]) == (True, "remote_url", site.url("/"))
    modern.ok("set_value", selector="label=Name", value="Ann")
    assert modern.ok("execute_script", script="return document.querySelector('input').value")["value"] == "Ann"
    modern.ok("close_session")
    assert row["remoteSessionId"] not in end.sessions()


@pytest.mark.parametrize(
    ("browser", "asked"),
    [
        ("chrome", {"browserName": "chrome", "goog:chromeOptions": {"args": ["--headless=new"]}}),
        ("firefox", {"browserName": "firefox", "moz:firefoxOptions": {"args": ["-headless"]}}),
        ("edge", {"browserName": "MicrosoftEdge", "ms:edgeOptions": {"args": ["--headless=new"]}}),
        ("safari", {"browserName": "safari"}),
        ("webkitgtk", {"browserName": "MiniBrowser"}),
    ],
)
def test_each_browser_is_requested_by_its_own_capability_names(
    modern: Served, end: RemoteEnd, browser: str, asked: dict[str, object]
) -> None:
    """The request has the browser's own name and options; the remote end's refusal is start_failed."""
    end.requests.clear()
    where = {"url": end.url, "acceptInsecureCerts": True, "browserVersion": "99"}
    wanted = {"platformName": "no such system"}
    answer = modern.call(
        "start_session", provider="remote_url", platform="browser", browser=browser, options=where, capabilities=wanted
    )
    refused(answer, "start_failed")
    [(_, _, body)] = end.requests
    always = body["capabilities"]["alwaysMatch"]
    ours = ("pageLoadStrategy", "timeouts", "unhandledPromptBehavior")
    assert {name: always[name] for name in always if name not in ours} == {
        **asked, "acceptInsecureCerts": True, "browserVersion": "99", "platformName": "no such system",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("setting", "given", "without"), [(True, None, True), (False, None, False), (False, True, True)]
)
def test_the_headless_setting_holds_for_every_start_that_does_not_override_it(
    home: Home, end: RemoteEnd, *, setting: bool, given: bool | None, without: bool
) -> None:  # O24 W40
    """A start without `headless` follows the setting; one that has it overrides the setting."""
    end.requests.clear()
    with (
        Orchestrator(Settings(home=home.folder, namespace="window", headless=setting)) as orchestrator,
        pytest.raises(StartFailed),
    ):
        orchestrator.start_session(
            "remote_url", "browser", headless=given, capabilities={"platformName": "no"}, options={"url": end.url}
        )
    [(_, _, body)] = end.requests
    args = body["capabilities"]["alwaysMatch"].get("goog:chromeOptions", {}).get("args", [])
    assert ("--headless=new" in args) == without


def test_provider_remote_url_requires_the_option_url(modern: Served) -> None:
    """Without options.url nothing is started, and the options are listed."""
    text = refused(modern.call("start_session", provider="remote_url", platform="browser"), "invalid_argument")
    assert "Option 'url': Field required." in text
    assert "Options of 'remote_url': " in text


def test_credentials_in_a_remote_url_are_used_and_never_shown(
    modern: Served, shared_home: Home, site: Site, guarded: RemoteEnd
) -> None:
    """User and password of a URL go to the remote end alone: no row, list or record has them."""
    site.page("/", "<title>Guarded</title>")
    started = modern.call(
        "start_session", provider="remote_url", platform="browser", sessionId="paid",
        options={"url": guarded.secret_url}, capabilities=guarded.capabilities(), navigationUrl=site.url("/"),
    )  # fmt: skip
    assert started.data["remoteUrl"] == guarded.url, started.text
    for said in (started.text, modern.call("list_sessions").text, shared_home.record("paid").model_dump_json()):
        assert PASSWORD not in said
        assert "grid-user" not in said
    assert modern.ok("expect", title="Guarded", sessionId="paid")
    assert modern.ok("close_session", sessionId="paid")["failed"] == []
    assert guarded.sessions() == []


def test_another_server_gets_remote_credentials_only_by_attaching_again(
    home: Home, site: Site, guarded: RemoteEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next server is refused until it attaches with the credentials, or with the name of a secret."""
    site.page("/", "<title>Guarded</title>")
    session = guarded.start()
    guarded.ask("POST", session, "/url", {"url": site.url("/")})
    secret = {"remoteUrl": guarded.secret_url, "remoteSessionId": session}
    with home.serve() as first, home.serve() as second:
        first.ok("attach_session", **secret, sessionId="paid")
        text = refused(second.call("get_text", sessionId="paid"), "provider_auth")
        assert "attach_session" in text
        assert second.ok("attach_session", **secret)["sessionId"] == "paid"
        assert second.ok("expect", title="Guarded", sessionId="paid")
        assert first.ok("expect", title="Guarded", sessionId="paid")
        monkeypatch.setenv("ORCHESTRATOR_SECRET_FAR_END", guarded.secret_url)
        with home.serve() as third:
            assert third.ok("attach_session", **{**secret, "remoteUrl": "secret:FAR_END"})["sessionId"] == "paid"
            assert home.record("paid").secret == "FAR_END"


def test_a_remote_end_that_wants_credentials_is_reported_as_provider_auth(modern: Served) -> None:
    """A remote end that asks for a password is reported differently from one that is gone."""
    with remote_end(guarded=True) as closed:
        options = {"url": closed.url}
        text = refused(
            modern.call("start_session", provider="remote_url", platform="browser", options=options), "provider_auth"
        )
        assert f"The remote end at {closed.url} refused our credentials (HTTP 401)." in text
        attach = modern.call("attach_session", **_attach(closed, "f" * 32))
        assert "as https://user:password@host" in refused(attach, "provider_auth")


def test_a_session_ended_at_the_remote_end_is_reported_as_lost(modern: Served, end: RemoteEnd) -> None:
    """The call after the script ended its session reports it as lost, and closing works."""
    session = end.start()
    modern.ok("attach_session", **_attach(end, session, sessionId="gone"))
    end.ask("DELETE", session, "")
    assert "Session 'gone' is lost" in refused(modern.call("get_text", sessionId="gone"), "session_lost")
    assert modern.ok("close_session", sessionId="gone")["closed"] == ["gone"]


def test_closing_with_a_status_that_the_provider_does_not_keep_warns(modern: Served, end: RemoteEnd) -> None:
    """The session is closed all the same; a reason without a status, or an unknown status, is refused."""
    session = end.start()
    modern.ok("attach_session", **_attach(end, session, sessionId="far"))
    text = refused(modern.call("close_session", sessionId="far", reason="it broke"), "invalid_argument")
    assert "The reason has no status. Give status, too." in text
    refused(modern.call("close_session", sessionId="far", status="green"), "invalid_argument")
    closed = modern.ok("close_session", sessionId="far", status="failed", reason="it broke")
    assert closed["closed"] == ["far"]
    assert closed["warnings"] == ["far is not marked as failed. Provider 'remote_url' keeps no status of its sessions."]
    end.ask("DELETE", session, "")


def test_a_script_and_an_agent_hand_over_sessions_at_a_grid(grid: GridEnd, tmp_path: Path) -> None:
    """The example: a script's session goes to the agent and back, then one of the agent's to the script."""
    done = run(tmp_path, "hand_over", "at_a_grid.py", grid.url)
    works, *said = done.stdout.splitlines() or [done.stderr]
    assert works.removeprefix("The agent works at selenium_grid, on the node ") in {node.url for node in grid.nodes}
    assert said == ["The script reads 'Tea is ready.'", "The script goes on at 'Sign in · Duet'"], done.stderr
    assert grid.sessions() == []
