"""Sessions at any WebDriver endpoint: taken in while they live elsewhere, or started there by URL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.errors import StartFailed
from orchestrator.settings import Settings
from orchestrator.sync import Orchestrator
from tests.e2e.harness import Home
from tests.e2e.stage import refused
from tests.grid_end import GridEnd
from tests.ports import free_port
from tests.remote_end import PASSWORD, RemoteEnd, remote_end
from tests.served import Served
from tests.site import Site
from tests.test_examples import run


@pytest.fixture(scope="module")
def end() -> Iterator[RemoteEnd]:
    """A chromedriver that somebody else runs."""
    with remote_end() as end:
        yield end


@pytest.fixture(scope="module")
def guarded() -> Iterator[RemoteEnd]:
    """One that asks for a password."""
    with remote_end(guarded=True) as end:
        yield end


def _attach(end: RemoteEnd, session: str, **more: object) -> dict[str, object]:
    return {"remoteUrl": end.url, "remoteSessionId": session, **more}


def test_a_scripts_session_is_driven_and_left_alive(server: Served, site: Site, end: RemoteEnd) -> None:  # B30
    """What a script opened is seen and acted on here; closing detaches, and the script goes on where we stopped."""
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


def test_without_a_name_it_is_the_current_session(modern: Served, end: RemoteEnd) -> None:
    """An attached session gets the next number and becomes current, as a started one does."""
    session = end.start()
    assert modern.ok("attach_session", **_attach(end, session))["sessionId"] == "browser-1"
    assert modern.ok("list_sessions")["currentSession"] == "browser-1"
    modern.ok("close_session")
    end.ask("DELETE", session, "")


def test_attaching_twice_is_one_session(modern: Served, end: RemoteEnd) -> None:
    """The second time answers with the session that is there, and says why; its scripts' world stays."""
    session = end.start()
    modern.ok("attach_session", **_attach(end, session, sessionId="one"))
    modern.ok("run_script", script="var kept = 1", sessionId="one")
    again = modern.call("attach_session", **_attach(end, session, sessionId="two"))
    assert again.data["sessionId"] == "one"
    assert "This remote session is open already, as one." in again.text
    assert [row["sessionId"] for row in modern.ok("list_sessions")["sessions"]] == ["one"]
    assert modern.ok("run_script", script="return kept", sessionId="one")["value"] == 1
    end.ask("DELETE", session, "")


def test_a_session_that_does_not_live_is_lost_and_not_recorded(
    modern: Served, shared_home: Home, end: RemoteEnd
) -> None:
    """Neither an unknown id nor a dead address leaves a trace."""
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
    ("wrong", "said"),
    [
        ({"remoteUrl": "127.0.0.1:4444"}, "remoteUrl is no address of a WebDriver endpoint. Write for example"),
        ({"remoteUrl": "ftp://127.0.0.1"}, "remoteUrl is no address"),
        ({"remoteUrl": "http://127.0.0.1/?a=b"}, "remoteUrl is no address"),
        ({"remoteSessionId": "../status"}, "remoteSessionId is no W3C session id"),
        ({"remoteSessionId": ""}, "remoteSessionId is no W3C session id"),
        ({"sessionId": "../x"}, "'../x' is not a session id"),
        ({"capabilities": {"deviceName": "x"}}, "Write 'appium:deviceName'"),
        ({"platform": "toaster"}, "platform"),
    ],
    ids=str,
)
def test_what_cannot_be_attached_is_refused_before_anything_is_asked(
    modern: Served, end: RemoteEnd, wrong: dict[str, object], said: str
) -> None:
    """A bad address, id or capability is named, and the remote end hears nothing."""
    asked = len(end.requests)
    assert said in refused(modern.call("attach_session", **{**_attach(end, "f" * 32), **wrong}), "invalid_argument")
    assert len(end.requests) == asked


def test_a_name_that_is_taken_is_refused(modern: Served, end: RemoteEnd) -> None:  # W49 X22
    """An attached session cannot take the name of an open one."""
    first, second = end.start(), end.start()
    modern.ok("attach_session", **_attach(end, first, sessionId="taken"))
    text = refused(modern.call("attach_session", **_attach(end, second, sessionId="taken")), "session_exists")
    assert "Session 'taken' already exists" in text
    for session in (first, second):
        end.ask("DELETE", session, "")


def test_a_session_is_started_at_a_url(modern: Served, site: Site, end: RemoteEnd) -> None:  # W40 W55
    """The provider remote_url starts one at any endpoint, with the capabilities asked for, and ends it there."""
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
def test_each_browser_is_asked_for_by_its_own_names(
    modern: Served, end: RemoteEnd, browser: str, asked: dict[str, object]
) -> None:
    """The request is the browser's own; one that the remote end has not is its refusal, told as such."""
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
def test_without_a_window_is_a_setting(
    home: Home, end: RemoteEnd, *, setting: bool, given: bool | None, without: bool
) -> None:  # W16 O24
    """Every start without `headless` follows it; one that has it does as it says."""
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


def test_a_url_is_required(modern: Served) -> None:
    """Without options.url nothing is started, and the options are listed."""
    text = refused(modern.call("start_session", provider="remote_url", platform="browser"), "invalid_argument")
    assert "Option 'url': Field required." in text
    assert "Options of 'remote_url': " in text


def test_credentials_open_the_door_and_are_never_shown(
    modern: Served, shared_home: Home, site: Site, guarded: RemoteEnd
) -> None:
    """User and password of a URL go to the remote end alone: no row, list and record has them."""
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


def test_another_server_is_given_the_credentials_by_attaching_again(
    home: Home, site: Site, guarded: RemoteEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No record has them: the next server is refused until somebody says them to it, or their name once for all."""
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
        monkeypatch.setenv("FAR_END", guarded.secret_url)
        with home.serve() as third:
            assert third.ok("attach_session", **{**secret, "remoteUrl": "secret:FAR_END"})["sessionId"] == "paid"
            assert home.record("paid").secret == "FAR_END"


def test_without_credentials_the_remote_end_refuses(modern: Served) -> None:
    """A remote end that asks for a password is told apart from one that is gone."""
    with remote_end(guarded=True) as closed:
        options = {"url": closed.url}
        text = refused(
            modern.call("start_session", provider="remote_url", platform="browser", options=options), "provider_auth"
        )
        assert f"The remote end at {closed.url} refused our credentials (HTTP 401)." in text
        attach = modern.call("attach_session", **_attach(closed, "f" * 32))
        assert "as https://user:password@host" in refused(attach, "provider_auth")


def test_a_lost_remote_session_is_told_as_lost(modern: Served, end: RemoteEnd) -> None:
    """When the script ends its session, the next call here says so, and closing works."""
    session = end.start()
    modern.ok("attach_session", **_attach(end, session, sessionId="gone"))
    end.ask("DELETE", session, "")
    assert "Session 'gone' is lost" in refused(modern.call("get_text", sessionId="gone"), "session_lost")
    assert modern.ok("close_session", sessionId="gone")["closed"] == ["gone"]


def test_a_status_that_nobody_keeps_is_a_warning(modern: Served, end: RemoteEnd) -> None:
    """The session is closed all the same; a reason without a status, or another word, closes nothing."""
    session = end.start()
    modern.ok("attach_session", **_attach(end, session, sessionId="far"))
    text = refused(modern.call("close_session", sessionId="far", reason="it broke"), "invalid_argument")
    assert "There is a reason, and no status that it is of. Give status, too." in text
    refused(modern.call("close_session", sessionId="far", status="green"), "invalid_argument")
    closed = modern.ok("close_session", sessionId="far", status="failed", reason="it broke")
    assert closed["closed"] == ["far"]
    assert closed["warnings"] == ["far is not marked as failed. Provider 'remote_url' keeps no status of its sessions."]
    end.ask("DELETE", session, "")


def test_a_script_and_the_server_take_turns_at_a_grid(grid: GridEnd, tmp_path: Path) -> None:
    """The example: a session of the script's goes to the agent and back, then one of the agent's to the script."""
    done = run(tmp_path, "hand_over", "at_a_grid.py", grid.url)
    works, *said = done.stdout.splitlines() or [done.stderr]
    assert works.removeprefix("The agent works at selenium_grid, on the node ") in {node.url for node in grid.nodes}
    assert said == ["The script reads 'Tea is ready.'", "The script goes on at 'Sign in · Duet'"], done.stderr
    assert grid.sessions() == []
