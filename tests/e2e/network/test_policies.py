"""Permissions, notifications, file pickers and new tabs: handled by policy, reported, and never blocking."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.models.browser_support import has_ability
from orchestrator.webdriver.devtools import DevTools
from orchestrator.webdriver.websocket import WebSocket
from tests.e2e.harness import Home, kill
from tests.e2e.stage import Stage, refused
from tests.servers.mcp import Served
from tests.servers.site import Reply, Site
from tests.waiting import until

pytestmark = pytest.mark.full

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


def skip_clipboard_in_firefox(stage: Stage, what: str) -> None:
    """Firefox has no such permission: it asks by a menu of its own, at each read."""
    if (stage.browser, what) == ("firefox", "clipboard-read"):
        pytest.skip("Firefox has no permission to read the clipboard: no policy can be set for it.")


def policy_of(what: str) -> str:
    """Return the policy of a permission."""
    return "notifications" if what == "notifications" else "permissions"


@pytest.fixture(autouse=True)
def _as_at_first(stage: Stage) -> Iterator[None]:
    yield
    every = {"dialogs", "permissions", "notifications", "downloads", "newTabs"}
    pickers = {"filePickers"} if has_ability("file_pickers", stage.browser) else set()
    stage.ok("set_policy", permissions="deny", notifications="deny")
    stage.ok("set_policy", **dict.fromkeys(every | pickers, "raise"))


def asks(stage: Stage, what: str) -> tuple[str, list[str]]:
    """Ask for a permission in the page; return the page's result, and the call's events."""
    stage.show("<p>asking")
    answer = stage.ok("execute_script", script=f"return {ASKS[what]}")
    events = [*answer.get("events", ()), *stage.ok("get_text").get("events", ())]
    return answer["value"], events


@pytest.mark.parametrize("what", ASKS)
def test_a_permission_request_is_dismissed_and_reported_by_default(stage: Stage, what: str) -> None:  # X54 X57 X58
    """A dismissed request leaves the permission state at prompt, and an event names the policy that allows it.

    Firefox closes no prompt: it refuses, and the state says so.
    """
    skip_clipboard_in_firefox(stage, what)
    in_firefox = stage.browser == "firefox"
    heard, events = asks(stage, what)
    assert heard == (REFUSED if in_firefox else CLOSED)[what]
    [event] = events
    assert f"asked for the permission {what}" in event
    assert f"set_policy with {policy_of(what)}: allow" in event
    assert stage.js(STATE.format(what)) == ("denied" if in_firefox else "prompt")


@pytest.mark.parametrize("what", ASKS)
def test_the_deny_policy_denies_a_permission_and_reports_the_request(stage: Stage, what: str) -> None:  # X54 X58
    """A denied permission has the state denied before the page asks for it."""
    skip_clipboard_in_firefox(stage, what)
    stage.ok("set_policy", **{policy_of(what): "deny"})
    stage.show("<p>asking")
    assert stage.js(STATE.format(what)) == "denied"
    heard, [event] = asks(stage, what)
    assert heard == REFUSED[what]
    assert "denied" in event


@pytest.mark.parametrize("what", ["notifications", "clipboard-read"])
def test_a_permission_granted_under_allow_stays_until_it_is_denied(stage: Stage, what: str) -> None:  # X54 B24
    """An origin that asked under allow keeps the permission under later policies, until it is denied."""
    skip_clipboard_in_firefox(stage, what)
    stage.ok("set_policy", **{policy_of(what): "allow"})
    heard, [event] = asks(stage, what)
    assert heard == GIVEN[what]
    assert "granted for the rest of this session" in event
    stage.ok("set_policy", **{policy_of(what): "raise"})
    assert asks(stage, what) == (GIVEN[what], [])
    stage.ok("navigate", url=stage.site.url("/1", host="localhost"))
    assert stage.js(STATE.format(what)) == ("denied" if stage.browser == "firefox" else "prompt")
    stage.ok("set_policy", **{policy_of(what): "deny"})
    assert asks(stage, what)[0] == REFUSED[what]


DEVICES = {
    "camera": "navigator.mediaDevices.getUserMedia({video: true}).then(() => 'given', error => error.name)",
    "microphone": "navigator.mediaDevices.getUserMedia({audio: true}).then(() => 'given', error => error.name)",
    "persistent-storage": "navigator.storage.persist().then(kept => kept ? 'given' : 'NotAllowedError')",
    "midi": "navigator.requestMIDIAccess().then(() => 'given', error => error.name)",
}
"""Requests that a person answers, or a browser without a person refuses."""


def test_allow_gives_camera_microphone_storage_midi_and_place_and_the_others_do_not(
    modern: Served, site: Site
) -> None:  # X54 X57 X58
    """Each request ends under each policy, and is reported with what became of it; nothing was given before `allow`."""
    modern.ok("start_browser", sessionId="a", args=["--use-fake-device-for-media-stream"])
    page = site.page("/", "<p>asking")
    for policy, told in (("raise", "was dismissed"), ("deny", "was denied by policy"), ("allow", "was granted")):
        modern.ok("set_policy", permissions=policy, sessionId="a")
        modern.ok("navigate", url=page, sessionId="a")  # a document that was denied a camera does not ask again
        for what, script in DEVICES.items():
            answer = modern.ok("execute_script", script=f"return {script}", sessionId="a")
            [event] = answer["events"]
            assert f"asked for the permission {what}: " in event
            assert told in event
            # There is no MIDI in a browser without a window, which says so only to those who have the permission.
            given = "InvalidStateError" if what == "midi" else "given"
            assert answer["value"] == (given if policy == "allow" else "NotAllowedError"), (policy, what)
    state = f"return {STATE.format('geolocation')}"
    assert modern.ok("execute_script", script=state, sessionId="a")["value"] == "granted"


SHOWS = "(new Notification('Tea'), Notification.permission)"


@pytest.mark.parametrize(
    ("policy", "permission", "told"),
    [
        ("raise", "default", "it has no permission. To give it, call set_policy with notifications: allow"),
        ("deny", "denied", "it was denied by policy"),
        ("manual", "default", "it is left to the browser"),
        ("allow", "granted", "it was granted for the rest of this session"),
    ],
)
def test_a_notification_that_a_page_makes_is_reported(
    stage: Stage, policy: str, permission: str, told: str
) -> None:  # X55 X57 X58
    """The constructor asks nobody: an event says that the page tried, and what the policy makes of it."""
    stage.ok("set_policy", notifications=policy)
    stage.show("<p>telling")
    answer = stage.ok("execute_script", script=f"return {SHOWS}")
    is_refused = (stage.browser, policy) == ("firefox", "raise")  # where none is asked, none has yet to answer
    assert answer["value"] == ("denied" if is_refused else permission)
    [event] = answer["events"]
    assert f"The page at {stage.site.url('')} tried to show a notification: {told}" in event


def test_the_notification_class_stays_the_pages_own(stage: Stage) -> None:  # X55
    """What is made of it, and of a class below it, is of that class; called without `new` it throws."""
    stage.show("<p>telling")
    made = "const Own = class extends Notification { get own() { return this.title } }; return new Own('Tea').own"
    assert stage.ok("execute_script", script=made)["value"] == "Tea"
    assert stage.js("new Notification('Tea') instanceof Notification && /native code/.test(Notification)")
    assert stage.js("(() => { try { Notification('Tea') } catch (error) { return error.name } })()") == "TypeError"


def test_a_popup_without_a_url_asks_for_permissions_as_its_opener(stage: Stage) -> None:  # X54
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


def test_the_manual_policy_leaves_permissions_to_the_browser(stage: Stage) -> None:  # X54 X57 X58
    """Chromium without a window denies by itself under manual, and the event says so; Firefox asks only at a click."""
    stage.ok("set_policy", permissions="manual", notifications="manual")
    heard, [event] = asks(stage, "notifications")
    assert heard == ("default" if stage.browser == "firefox" else "denied")
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


@pytest.mark.parametrize("policy", ["raise", "deny"])
@pytest.mark.parametrize("picker", ["showOpenFilePicker", "showSaveFilePicker", "showDirectoryPicker"])
def test_a_picker_of_the_file_system_is_closed_and_reported(
    stage: Stage, picker: str, policy: str
) -> None:  # X56 X57 X58
    """Each picker of the File System Access API ends as if a person had cancelled it, and an event says so."""
    stage.ok("set_policy", filePickers=policy)
    stage.show(f"<button id=f onclick=\"{picker}().catch(e => document.title = '{picker} ' + e.name)\">Pick</button>")
    [event] = stage.ok("click_element", selector="#f")["events"]
    assert "The page opened a file chooser" in event
    assert "it was closed" in event
    assert stage.js("document.title") == f"{picker} AbortError"


def test_a_picker_of_the_file_system_is_given_files(stage: Stage, tmp_path: Path) -> None:  # X56
    """upload_files with the button that opens showOpenFilePicker gives it handles that read; its drop is unheard."""
    names = ["mint.txt", "sage.txt"]
    for name in names:
        (tmp_path / name).write_text(f"tea of {name}")
    stage.show(
        """<button id=many>Open</button><button id=one>Open one</button><button id=none>Nothing</button><script>
        const read = async (options) => {
          const files = await Promise.all((await showOpenFilePicker(options)).map((handle) => handle.getFile()));
          document.title = (await Promise.all(files.map((file) => file.text()))).join(', ');
        };
        many.onclick = () => read({ multiple: true });
        one.onclick = () => read().catch((error) => { document.title = error.name; });
        for (const type of ['dragenter', 'drop']) addEventListener(type, () => { window.heard = type; }, true);
        </script>"""
    )
    paths = [str(tmp_path / name) for name in names]
    stage.ok("upload_files", selector="#many", paths=paths)
    stage.ok("wait_for", title="tea of mint.txt, tea of sage.txt")
    assert stage.js("window.heard ?? null") is None
    text = refused(stage.call("upload_files", selector="#one", paths=paths, timeout=500), "not_actionable")
    assert "opened no picker that takes these files" in text
    assert stage.js("document.title") == "AbortError"
    stage.ok("upload_files", selector="#one", paths=paths[:1])
    stage.ok("wait_for", title="tea of mint.txt")
    refused(stage.call("upload_files", selector="#none", paths=paths[:1], timeout=500), "not_actionable")
    assert [event for event in stage.ok("click_element", selector="#one")["events"] if "it was closed" in event]


def test_file_pickers_are_reported_under_deny_and_under_manual(stage: Stage) -> None:  # X56 X57 X58
    """A picker under deny is reported as closed; under manual as left to the browser, and the page goes on."""
    stage.show(PICKERS["input"])
    stage.ok("set_policy", filePickers="deny")
    [event] = stage.ok("click_element", selector="#f")["events"]
    assert "closed by policy" in event
    stage.ok("set_policy", filePickers="manual")
    [event] = stage.ok("click_element", selector="#f")["events"]
    assert event == "The page opened a file chooser; it is left to the browser."
    assert stage.js("1 + 1") == 2


def test_downloads_are_stopped_under_deny_silent_under_allow_and_reported_by_default(
    stage: Stage,
) -> None:  # X57 X58
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


def test_new_tabs_are_closed_under_deny_and_current_under_allow(stage: Stage) -> None:  # X57 X58
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


def test_a_policy_that_the_browser_refuses_is_not_kept(modern: Served, shared_home: Home) -> None:
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
