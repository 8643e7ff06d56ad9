"""Permissions, notifications, file pickers and new tabs: handled by policy, reported, and never blocking."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.webdriver.devtools import DevTools
from orchestrator.webdriver.websocket import WebSocket
from tests.e2e.harness import Home, kill, until
from tests.e2e.stage import Stage, refused
from tests.servers.mcp import Served
from tests.servers.site import Reply, Site

ASKS = {
    "geolocation": (
        "new Promise(done => navigator.geolocation.getCurrentPosition(() => done('given'), () => done('refused')))"
    ),
    "notifications": "Notification.requestPermission()",
    "clipboard-read": "navigator.clipboard.readText().then(() => 'given', () => 'refused')",
}
STATE = "await navigator.permissions.query({{name: '{}'}}).then(one => one.state)"
GIVEN = {"geolocation": "given", "notifications": "granted", "clipboard-read": "given"}
CLOSED = {"geolocation": "refused", "notifications": "default", "clipboard-read": "refused"}
REFUSED = {"geolocation": "refused", "notifications": "denied", "clipboard-read": "refused"}


def policy_of(what: str) -> str:
    """Return the policy of a permission."""
    return "notifications" if what == "notifications" else "permissions"


@pytest.fixture(autouse=True)
def _as_at_first(stage: Stage) -> Iterator[None]:
    yield
    every = {"dialogs", "permissions", "notifications", "filePickers", "downloads", "newTabs"}
    stage.ok("set_policy", permissions="deny", notifications="deny")
    stage.ok("set_policy", **dict.fromkeys(every, "raise"))


def asks(stage: Stage, what: str) -> tuple[str, list[str]]:
    """Ask for a permission in the page; return the page's result, and the call's events."""
    stage.show("<p>asking")
    answer = stage.ok("execute_script", script=f"return {ASKS[what]}")
    events = [*answer.get("events", ()), *stage.ok("get_text").get("events", ())]
    return answer["value"], events


@pytest.mark.parametrize("what", ASKS)
def test_a_permission_request_is_dismissed_and_reported_by_default(stage: Stage, what: str) -> None:  # X55 X56
    """A dismissed request leaves the permission state at prompt, and an event names the policy that allows it."""
    heard, events = asks(stage, what)
    assert heard == CLOSED[what]
    [event] = events
    assert f"asked for the permission {what}" in event
    assert f"set_policy with {policy_of(what)}: allow" in event
    assert stage.js(STATE.format(what)) == "prompt"


@pytest.mark.parametrize("what", ASKS)
def test_the_deny_policy_denies_a_permission_and_reports_the_request(stage: Stage, what: str) -> None:  # X55 X56
    """A denied permission has the state denied before the page asks for it."""
    stage.ok("set_policy", **{policy_of(what): "deny"})
    stage.show("<p>asking")
    assert stage.js(STATE.format(what)) == "denied"
    heard, [event] = asks(stage, what)
    assert heard == REFUSED[what]
    assert "denied" in event


@pytest.mark.parametrize("what", ["notifications", "clipboard-read"])
def test_a_permission_granted_under_allow_stays_until_it_is_denied(stage: Stage, what: str) -> None:  # X55 X56 B10
    """An origin that asked under allow keeps the permission under later policies, until it is denied."""
    stage.ok("set_policy", **{policy_of(what): "allow"})
    heard, [event] = asks(stage, what)
    assert heard == GIVEN[what]
    assert "granted for the rest of this session" in event
    stage.ok("set_policy", **{policy_of(what): "raise"})
    assert asks(stage, what) == (GIVEN[what], [])
    stage.ok("navigate", url=stage.site.url("/1", host="localhost"))
    assert stage.js(STATE.format(what)) == "prompt"
    stage.ok("set_policy", **{policy_of(what): "deny"})
    assert asks(stage, what)[0] == REFUSED[what]


def test_a_popup_without_a_url_asks_for_permissions_as_its_opener(stage: Stage) -> None:  # X56 B10
    """A blank popup gets the permission for its opener's origin, and later policies still apply."""
    stage.show("<button onclick=\"window.open('about:blank')\">Open</button>")
    stage.ok("set_policy", notifications="allow")
    stage.ok("click_element", selector="text=Open")
    stage.ok("tabs", action="select", tab=stage.ok("tabs", action="list")["tabs"][-1]["tab"])
    answer = stage.ok("execute_script", script=f"return {ASKS['notifications']}")
    assert answer["value"] == "granted"
    assert f"The page at {stage.site.url('')} asked" in answer["events"][0]
    stage.ok("tabs", action="close")
    stage.ok("set_policy", notifications="raise")
    assert stage.js("Notification.permission") == "granted"


def test_the_manual_policy_leaves_permissions_to_the_browser(stage: Stage) -> None:  # X55 X56
    """Chromium without a window denies by itself under manual, and the event says so."""
    stage.ok("set_policy", permissions="manual", notifications="manual")
    heard, [event] = asks(stage, "notifications")
    assert heard == "denied"
    assert "left to the browser" in event


def test_a_granted_permission_outlives_its_server(home: Home, site: Site) -> None:  # B10 B24
    """The next server finds a permission granted under a killed one in the record, and grants no other."""
    asking = f"return {ASKS['notifications']}"
    with home.serve() as second:
        with home.serve(park_ttl="100") as first:
            first.ok("start_browser", sessionId="a", navigationUrl=site.page("/p", "<p>asking"))
            first.ok("set_policy", notifications="allow", sessionId="a")
            assert first.ok("execute_script", script=asking, sessionId="a")["value"] == "granted"
            first.ok("set_policy", notifications="raise", sessionId="a")
            kill(first.process)
        [approval] = home.record("a").approvals
        assert (approval.permission, approval.origin) == ("notifications", site.url(""))
        second.ok("navigate", history="reload", sessionId="a")
        assert second.ok("execute_script", script=asking, sessionId="a")["value"] == "granted"
        second.ok("navigate", url=site.url("/p", host="localhost"), sessionId="a")
        assert second.ok("execute_script", script=asking, sessionId="a")["value"] == "default"
        second.ok("set_policy", permissions="deny", sessionId="a")
        second.ok("navigate", url=site.url("/p"), sessionId="a")
        assert second.ok("execute_script", script=asking, sessionId="a")["value"] == "granted"
        second.ok("close_session", sessionId="a")


PICKERS = {
    "input": "<input type=file id=f>",
    "label": "<label id=f>Choose<input type=file style='display:none'></label>",
    "loose": "<button id=f onclick=\"i = document.createElement('input'); i.type = 'file'; i.click()\">Choose</button>",
}


@pytest.mark.parametrize("kind", PICKERS)
def test_a_file_picker_is_closed_and_reported_with_a_ref_for_upload_files(
    stage: Stage, kind: str, tmp_path: Path
) -> None:  # X57
    """The event names the file input by a ref that takes the files, even where it is not in the document."""
    stage.show(
        PICKERS[kind]
        + "<script>addEventListener('change', e => document.title = e.target.files[0].name, true)</script>"
    )
    [event] = stage.ok("click_element", selector="#f")["events"]
    ref = event.partition("selector ")[2].split()[0]
    assert "upload_files" in event
    file = tmp_path / "tea.txt"
    file.write_text("mint")
    stage.ok("upload_files", selector=ref, paths=[str(file)])
    held = "i.files[0].name" if kind == "loose" else "document.querySelector('input').files[0].name"
    assert stage.js(held) == "tea.txt"


def test_file_pickers_are_reported_under_deny_and_not_under_manual(stage: Stage) -> None:  # X57
    """A picker under deny is reported as closed; under manual the browser handles it."""
    stage.show(PICKERS["input"])
    stage.ok("set_policy", filePickers="deny")
    [event] = stage.ok("click_element", selector="#f")["events"]
    assert "closed by policy" in event
    stage.ok("set_policy", filePickers="manual")
    assert "events" not in stage.ok("click_element", selector="#f")


def test_downloads_are_stopped_under_deny_silent_under_allow_and_reported_by_default(stage: Stage) -> None:  # X59
    """`deny` saves nothing and reports it, `allow` saves without an event; by default the path is reported."""
    headers = {"Content-Disposition": 'attachment; filename="tea.bin"'}
    offer = Reply(b"mint", content_type="application/octet-stream", headers=headers)
    stage.show(f"<a href={stage.site.page('/tea', offer)}>Get</a>")
    folder = Path(os.environ["ORCHESTRATOR_HOME"]) / "downloads" / "stage" / "browser"

    def events() -> list[str]:
        found: list[str] = stage.ok("get_text").get("events", [])
        return found

    before = {*folder.glob("*")}
    stage.ok("set_policy", downloads="deny")
    told = stage.ok("click_element", selector="text=Get").get("events") or until(events, "the event")
    assert "'tea.bin' was denied by policy" in told[0]
    assert {*folder.glob("*")} == before
    stage.ok("set_policy", downloads="allow")
    assert "events" not in stage.ok("click_element", selector="text=Get")
    until((folder / "tea.bin").exists, "the file")
    stage.ok("set_policy", downloads="raise")
    told = stage.ok("click_element", selector="text=Get").get("events") or until(events, "the event")
    assert "tea.bin" in told[-1]
    assert "downloaded to" in told[-1]


OPENING = "<button onclick=\"window.open('about:blank#new')\">Open</button>"


def test_new_tabs_are_closed_under_deny_and_current_under_allow(stage: Stage) -> None:  # X59
    """New tabs are closed at once under deny and become current under allow; each is reported."""
    stage.show(OPENING)
    stage.ok("set_policy", newTabs="deny")
    [event] = stage.ok("click_element", selector="text=Open")["events"]
    assert "closed by policy" in event
    assert len(stage.ok("tabs", action="list")["tabs"]) == 1
    stage.ok("set_policy", newTabs="allow")
    answer = stage.ok("click_element", selector="text=Open")
    assert "is current now" in answer["events"][0]
    assert answer["url"] == "about:blank#new"
    assert stage.js("location.hash") == "#new"
    stage.ok("tabs", action="close")


def test_set_policy_returns_all_policies_and_refuses_unknown_values(stage: Stage) -> None:  # X59
    """The answer has every policy, and a refused value changes nothing."""
    told = stage.ok("set_policy", newTabs="deny")
    assert told["newTabs"] == "deny"
    assert told["permissions"] == told["filePickers"] == told["dialogs"] == "raise"
    assert "filePickers" in refused(stage.call("set_policy", filePickers="accept"), "invalid_argument")
    assert "No policy is given" in refused(stage.call("set_policy"), "invalid_argument")
    assert stage.ok("set_policy", dialogs="raise")["newTabs"] == "deny"


def test_a_policy_that_the_browser_refuses_is_not_kept(modern: Served, shared_home: Home) -> None:  # X59
    """A call with a download policy that the browser refuses changes no policy of the session."""
    modern.ok("start_browser", sessionId="shop")
    modern.ok("start_browser", sessionId="shop:ann")
    record = shared_home.record("shop:ann")
    assert record.instance is not None
    address = record.capabilities["goog:chromeOptions"]["debuggerAddress"]
    browser = WebSocket(DevTools(address).socket_url(), name="browser", timeout=20, on_event=lambda *_: None)
    browser.call("Target.disposeBrowserContext", browserContextId=record.instance.context)
    browser.close()
    answer = modern.call("set_policy", sessionId="shop:ann", notifications="allow", downloads="deny")
    assert "browser context" in refused(answer, "remote_error")
    assert shared_home.record("shop:ann").policies == record.policies
