"""Permissions, notifications, pickers of files and new tabs: handled as the policy says, reported, never in the way."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.webdriver.devtools import DevTools
from orchestrator.webdriver.socket import Socket
from tests.e2e.harness import Home, kill, until
from tests.e2e.stage import Stage, refused
from tests.served import Served
from tests.site import Reply, Site

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
    """Which policy is about a permission."""
    return "notifications" if what == "notifications" else "permissions"


@pytest.fixture(autouse=True)
def _as_at_first(stage: Stage) -> Iterator[None]:
    yield
    every = {"dialogs", "permissions", "notifications", "filePickers", "downloads", "newTabs"}
    stage.ok("set_policy", permissions="deny", notifications="deny")
    stage.ok("set_policy", **dict.fromkeys(every, "raise"))


def asks(stage: Stage, what: str) -> tuple[str, list[str]]:
    """What the page heard when it asked, and the events of that call."""
    stage.show("<p>asking")
    answer = stage.ok("execute_script", script=f"return {ASKS[what]}")
    events = [*answer.get("events", ()), *stage.ok("get_text").get("events", ())]
    return answer["value"], events


@pytest.mark.parametrize("what", ASKS)
def test_a_page_that_asks_goes_on_and_is_reported(stage: Stage, what: str) -> None:  # X55 X56
    """By default the question is closed at once: the page hears that, its state stays `prompt`, the result tells it."""
    heard, events = asks(stage, what)
    assert heard == CLOSED[what]
    [event] = events
    assert f"asked for the permission {what}" in event
    assert f"set_policy with {policy_of(what)}: allow" in event
    assert stage.js(STATE.format(what)) == "prompt"


@pytest.mark.parametrize("what", ASKS)
def test_what_is_denied_is_denied(stage: Stage, what: str) -> None:  # X55 X56
    """The page is told no, and its state says so before it asks."""
    stage.ok("set_policy", **{policy_of(what): "deny"})
    stage.show("<p>asking")
    assert stage.js(STATE.format(what)) == "denied"
    heard, [event] = asks(stage, what)
    assert heard == REFUSED[what]
    assert "denied" in event


@pytest.mark.parametrize("what", ["notifications", "clipboard-read"])
def test_what_is_allowed_is_given_and_stays(stage: Stage, what: str) -> None:  # X55 X56 B10
    """Whoever asked under `allow` has it from then on, whatever the policy is later, until it is denied."""
    stage.ok("set_policy", **{policy_of(what): "allow"})
    heard, [event] = asks(stage, what)
    assert heard == GIVEN[what]
    assert "for as long as this session lives" in event
    stage.ok("set_policy", **{policy_of(what): "raise"})
    assert asks(stage, what) == (GIVEN[what], [])
    stage.ok("navigate", url=stage.site.url("/1", host="localhost"))
    assert stage.js(STATE.format(what)) == "prompt"
    stage.ok("set_policy", **{policy_of(what): "deny"})
    assert asks(stage, what)[0] == REFUSED[what]


def test_a_popup_asks_for_the_page_that_made_it(stage: Stage) -> None:  # X56 B10
    """It has no address: what it is allowed is its maker's, and hinders no policy afterwards."""
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


def test_left_to_the_browser(stage: Stage) -> None:  # X55 X56
    """With `manual` nothing is set: without a window Chromium denies by itself, and the result says who decides."""
    stage.ok("set_policy", permissions="manual", notifications="manual")
    heard, [event] = asks(stage, "notifications")
    assert heard == "denied"
    assert "left to the browser" in event


def test_an_approval_outlives_the_server(home: Home, site: Site) -> None:  # B10 B24
    """It was given under a server that was killed; the next one finds it in the record, and gives nothing else."""
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
def test_a_picker_of_files_is_closed_and_reported(stage: Stage, kind: str, tmp_path: Path) -> None:  # X57
    """The result names the input by its ref, which takes the files, even where it is no part of the page."""
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


def test_other_policies_for_pickers(stage: Stage) -> None:  # X57
    """`deny` tells no more than that there was one; `manual` leaves it to the browser."""
    stage.show(PICKERS["input"])
    stage.ok("set_policy", filePickers="deny")
    [event] = stage.ok("click_element", selector="#f")["events"]
    assert "closed, as the policy says" in event
    stage.ok("set_policy", filePickers="manual")
    assert "events" not in stage.ok("click_element", selector="#f")


def test_downloads_are_stopped_or_silent(stage: Stage) -> None:  # X59
    """`deny` saves nothing and says so, `allow` saves and says nothing; by default the path is told."""
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
    assert "'tea.bin' was stopped, as the policy says" in told[0]
    assert {*folder.glob("*")} == before
    stage.ok("set_policy", downloads="allow")
    assert "events" not in stage.ok("click_element", selector="text=Get")
    until((folder / "tea.bin").exists, "the file")
    stage.ok("set_policy", downloads="raise")
    told = stage.ok("click_element", selector="text=Get").get("events") or until(events, "the event")
    assert "tea.bin" in told[-1]
    assert "downloaded to" in told[-1]


OPENING = "<button onclick=\"window.open('about:blank#new')\">Open</button>"


def test_new_tabs_are_closed_or_current(stage: Stage) -> None:  # X59
    """`deny` closes them at once, `allow` makes the new one current; each is told."""
    stage.show(OPENING)
    stage.ok("set_policy", newTabs="deny")
    [event] = stage.ok("click_element", selector="text=Open")["events"]
    assert "closed, as the policy says" in event
    assert len(stage.ok("tabs", action="list")["tabs"]) == 1
    stage.ok("set_policy", newTabs="allow")
    answer = stage.ok("click_element", selector="text=Open")
    assert "is current now" in answer["events"][0]
    assert answer["url"] == "about:blank#new"
    assert stage.js("location.hash") == "#new"
    stage.ok("tabs", action="close")


def test_policies_are_checked_and_told(stage: Stage) -> None:  # X59
    """The answer has all of them; what is none of a policy's is refused, and nothing changes."""
    told = stage.ok("set_policy", newTabs="deny")
    assert told["newTabs"] == "deny"
    assert told["permissions"] == told["filePickers"] == told["dialogs"] == "raise"
    assert "filePickers" in refused(stage.call("set_policy", filePickers="accept"), "invalid_argument")
    assert "No policy is given" in refused(stage.call("set_policy"), "invalid_argument")
    assert stage.ok("set_policy", dialogs="raise")["newTabs"] == "deny"


def test_what_the_browser_refuses_is_not_in_force(modern: Served, shared_home: Home) -> None:  # X59
    """A context was taken away behind our back: its downloads cannot be denied, and nothing of the call is kept."""
    modern.ok("start_browser", sessionId="shop")
    modern.ok("start_browser", sessionId="shop:ann")
    record = shared_home.record("shop:ann")
    assert record.instance is not None
    address = record.capabilities["goog:chromeOptions"]["debuggerAddress"]
    browser = Socket(DevTools(address).socket(), name="browser", timeout=20, on_event=lambda *_: None)
    browser.call("Target.disposeBrowserContext", browserContextId=record.instance.context)
    browser.close()
    answer = modern.call("set_policy", sessionId="shop:ann", notifications="allow", downloads="deny")
    assert "browser context" in refused(answer, "remote_error")
    assert shared_home.record("shop:ann").policies == record.policies
