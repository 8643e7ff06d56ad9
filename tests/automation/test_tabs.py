"""Tabs keep their names while windows open and close at the remote end, requested or not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from orchestrator.automation.scene import Scene
from orchestrator.errors import PageBroken, PlaceGone, RemoteFailure, SessionLost
from orchestrator.models.policies import Policies
from orchestrator.models.session import ProcessInfo
from tests.servers.scripted_webdriver import ScriptedWebDriver, W3CError

MakeScene = Callable[..., Scene]
FRONT, INSTALL = "Page.bringToFront", "Page.addScriptToEvaluateOnNewDocument"
HERE = (ProcessInfo(pid=1, created=0, name="chromedriver"),)
"""Fields of a record that make its session a local one."""
CRASHED = W3CError("tab crashed", "tab crashed")


def test_a_tab_that_the_page_opens_is_named_and_reported(scene: Scene, end: ScriptedWebDriver) -> None:
    """The current tab stays current, and is brought to the front again if the new one has covered it."""
    end.script("GET /window/handles", ["w1", "w2"])
    end.script(FRONT, {})
    assert [tab.name for tab in scene.tabs.refresh()] == ["t1", "t2"]
    assert scene.tabs.current_name == "t1"
    assert scene.events == ["The page opened tab t2; to go there: tabs with action select, tab t2."]
    assert end.asked == ["GET /window/handles", FRONT]


def test_the_name_of_a_tab_that_closed_is_never_used_again(scene: Scene, end: ScriptedWebDriver) -> None:
    """A second tab comes and goes, and a third one comes: each of the three has a name of its own."""
    end.script("GET /window/handles", ["w1", "w2"], ["w1"], ["w1", "w3"])
    end.always(FRONT)
    seen = [[tab.name for tab in scene.tabs.refresh()] for _ in range(3)]
    assert seen == [["t1", "t2"], ["t1"], ["t1", "t3"]]
    assert scene.events[1] == "Tab t2 was closed by the page."


def test_a_new_tab_is_closed_under_the_policy_deny(make_scene: MakeScene, end: ScriptedWebDriver) -> None:
    """The driver switches to the new tab to close it and comes back; the session has one tab, as before."""
    scene = make_scene(policies=Policies(new_tabs="deny"))
    end.script("GET /window/handles", ["w1", "w2"])
    end.script("POST /window", None, None)
    end.script("DELETE /window", ["w1"])
    scene.tabs.refresh()
    assert [tab.name for tab in scene.record.tabs] == ["t1"]
    assert end.asked == ["GET /window/handles", "POST /window w2", "DELETE /window", "POST /window w1"]


def test_of_the_tabs_that_a_page_opens_those_beyond_forty_are_closed(scene: Scene, end: ScriptedWebDriver) -> None:
    """The forty first have names, the others are closed by the driver, which comes back; an event says so."""
    handles = [f"w{number}" for number in range(1, 43)]
    end.script("GET /window/handles", handles)
    end.always(FRONT)
    end.script("POST /window", *[None] * 4)
    end.script("DELETE /window", handles[:-1], handles[:-2])
    assert len(scene.tabs.refresh()) == 40
    closings = [["POST /window " + handle, "DELETE /window", "POST /window w1"] for handle in ("w41", "w42")]
    assert end.asked[2:] == [command for closing in closings for command in closing]
    opened, closed = scene.events
    assert opened == "The page opened 39 tabs, t2 to t40; tabs lists and closes them."
    assert closed == (
        "2 tabs that the page opened were closed: pages open no more once a session has 40; "
        "tabs closes those that are not needed."
    )


def test_the_tab_before_is_current_when_the_current_window_closes(two_tabs: Scene, end: ScriptedWebDriver) -> None:
    """A command to a closed window fails, names the new current tab, and is not sent again there."""
    end.script("POST /actions", W3CError("no such window"))
    end.script("GET /window/handles", ["w1"])
    end.script("POST /window", None)
    end.script(FRONT, {})
    with pytest.raises(PlaceGone, match="tab t1 is current now"):
        two_tabs.remote.execute("actions", actions=[])
    assert [tab.name for tab in two_tabs.record.tabs] == ["t1"]
    assert two_tabs.tabs.current_name == "t1"
    assert end.asked == ["POST /actions", "GET /window/handles", "POST /window w1", FRONT]


def test_a_removed_frame_that_the_driver_calls_a_closed_window_leads_to_the_top(
    two_tabs: Scene, end: ScriptedWebDriver
) -> None:
    """Drivers give the same error for a removed frame: the tab still exists, so its top document becomes current."""
    end.script("POST /actions", W3CError("no such window"))
    end.script("GET /window/handles", ["w1", "w2"])
    end.script("POST /frame", None)
    with pytest.raises(PlaceGone, match="the top of the page is current now"):
        two_tabs.remote.execute("actions", actions=[])
    assert two_tabs.tabs.current_name == "t2"
    assert end.asked == ["POST /actions", "GET /window/handles", "POST /frame top"]


def test_a_new_tab_is_opened_when_the_last_one_has_closed(scene: Scene, end: ScriptedWebDriver) -> None:
    """A driver can outlive its windows, and so can the session: its page is dropped, its new tab has a new name."""
    end.script("POST /actions", W3CError("no such window"))
    end.script("GET /window/handles", [])
    end.script("POST /window/new", {"handle": "w9", "type": "tab"})
    end.script("POST /window", None)
    end.always(FRONT)
    end.always(INSTALL)
    with pytest.raises(PlaceGone, match="tab t2 is current now"):
        scene.remote.execute("actions", actions=[])
    assert [(tab.name, tab.handle) for tab in scene.record.tabs] == [("t2", "w9")]
    assert (scene.record.url, scene.record.title) == (None, None)
    assert scene.events == ["Tab t1 was closed; a new one, t2 is current now."]


def test_a_session_whose_browser_opens_no_other_tab_is_lost(scene: Scene, end: ScriptedWebDriver) -> None:
    """The reason names the last tab and quotes the browser."""
    end.script("POST /actions", W3CError("no such window"))
    end.script("GET /window/handles", [])
    end.script("POST /window/new", W3CError("unknown error", "cannot open a window"))
    with pytest.raises(
        SessionLost, match=r"its last tab t1 was closed, and the browser opens no other \(.*cannot open"
    ):
        scene.remote.execute("actions", actions=[])


def test_a_tab_whose_handle_is_no_longer_known_is_not_made_current(two_tabs: Scene, end: ScriptedWebDriver) -> None:
    """The call fails in its own tab, and the next listing of tabs drops the one that is gone."""
    end.script("POST /window", W3CError("no such window"))
    end.script("GET /window/handles", ["w2"], ["w2"])
    end.script("POST /frame", None)
    with pytest.raises(PlaceGone):
        two_tabs.tabs.select("t1")
    assert two_tabs.tabs.current_name == "t2"
    assert [tab.name for tab in two_tabs.tabs.refresh()] == ["t2"]
    assert two_tabs.events == ["Tab t1 was closed by the page."]


def test_the_current_tab_stays_current_when_another_one_cannot_be_closed(
    two_tabs: Scene, end: ScriptedWebDriver
) -> None:
    """The driver returns to the current tab although the other could not be closed and remains in the session."""
    end.script("POST /window", None, None)
    end.script("DELETE /window", W3CError("unknown error", "the page asks whether to leave"))
    with pytest.raises(RemoteFailure, match="asks whether to leave"):
        two_tabs.tabs.close("t1")
    assert end.asked == ["POST /window w1", "DELETE /window", "POST /window w2"]
    assert [tab.name for tab in two_tabs.record.tabs] == ["t1", "t2"]


def test_a_browser_without_devtools_is_asked_tab_by_tab(two_tabs: Scene, end: ScriptedWebDriver) -> None:
    """Each tab is switched to and asked once, then the current one again; no URL shows user or password."""
    end.script("Target.getTargets", W3CError("unknown command"))
    end.script("POST /window", None, None, None)
    end.script("POST /execute/sync", ["https://ann:secret@shop.example/", "Shop"], ["https://bank.example/", "Bank"])
    [first, second] = two_tabs.tabs.facts()
    assert first == {"tab": "t1", "url": "https://shop.example/", "title": "Shop", "current": False}
    assert second == {"tab": "t2", "url": "https://bank.example/", "title": "Bank", "current": True}
    moves = [command for command in end.asked if command.startswith("POST /window")]
    assert moves == ["POST /window w1", "POST /window w2", "POST /window w2"]


@pytest.mark.parametrize(
    ("processes", "now", "asked"),
    [
        ((), "w1", ["POST /window w1"]),
        (HERE, "w1", ["GET /window"]),
        (HERE, "w7", ["GET /window", "POST /window w1"]),
    ],
    ids=["far", "here", "here-elsewhere"],
)
def test_a_session_is_where_its_record_says_after_others_drove_it(
    make_scene: MakeScene, end: ScriptedWebDriver, processes: tuple[ProcessInfo, ...], now: str, asked: list[str]
) -> None:
    """A remote driver is switched there in one request; a local one is asked first, and switched only if needed."""
    end.always("GET /window", now)
    end.always("POST /window")
    assert make_scene(processes=processes).tabs.handles.resync() is (asked != ["GET /window"])
    assert end.asked == asked


def test_a_tab_that_crashed_is_replaced_beside_its_driver(make_scene: MakeScene, end: ScriptedWebDriver) -> None:
    """The browser itself opens a tab and closes the crashed one, since its driver can do neither."""
    options = {"debuggerAddress": end.url.removeprefix("http://")}
    end.script("POST /actions", CRASHED)
    end.script("GET /json/list", [{"id": "w1", "type": "page", "url": "https://shop.example/"}])
    end.always("GET /json/version")
    end.always("PUT /json/new?about:blank")
    end.always("GET /json/close/w1")
    end.script("GET /window/handles", ["w1", "w2"], ["w2"], ["w2"])
    end.script("POST /window", None)
    end.always(FRONT)
    end.always(INSTALL)
    scene = make_scene(processes=HERE, capabilities={"browserName": "chrome", "goog:chromeOptions": options})
    with pytest.raises(PageBroken, match="The page crashed, and its tab was closed: tab t2 is current now"):
        scene.remote.execute("actions", actions=[])
    assert end.asked[1:4] == ["GET /json/list", "PUT /json/new?about:blank", "GET /json/close/w1"]
    assert [(tab.name, tab.handle) for tab in scene.record.tabs] == [("t2", "w2")]
