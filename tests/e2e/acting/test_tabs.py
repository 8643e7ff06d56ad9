"""Tabs: stable names, pages that open and close tabs, and replacements for tabs that are gone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.harness import Home
from tests.e2e.stage import Stage, opened, refused
from tests.servers.site import Site

pytestmark = pytest.mark.full

CLOSING = "<button id=c onclick='window.close()'>Close</button>"


@pytest.fixture
def tabbed(stage: Stage) -> Stage:
    """The browser with one tab only."""
    for tab in stage.ok("tabs", action="list")["tabs"][1:]:
        stage.ok("tabs", action="close", tab=tab["tab"])
    return stage


def names(answer: dict[str, Any]) -> list[str]:
    """Return the names of the tabs in an answer."""
    return [tab["tab"] for tab in answer["tabs"]]


def current(answer: dict[str, Any]) -> str:
    """Return the name of the current tab in an answer."""
    [name] = [tab["tab"] for tab in answer["tabs"] if tab["current"]]
    return str(name)


def opening(stage: Stage, inner: str = CLOSING, **how: str) -> str:
    """Show a page that opens another one in a tab; return the new tab's name."""
    there = stage.page(f"<h1>There</h1>{inner}", title="There")
    way = how.get("way") or f"<a href='{there}' target=_blank>open</a>"
    stage.show(way.replace("THERE", there), title="Here")
    before = set(names(stage.ok("tabs", action="list")))
    stage.ok("click_element", selector="text=open")
    [name] = set(names(stage.ok("tabs", action="list"))) - before
    return name


@pytest.mark.smoke
@pytest.mark.core
def test_a_new_tab_becomes_current(tabbed: Stage) -> None:
    """A new tab opens its URL, becomes current, and is listed with URL and title in data and text."""
    here = tabbed.show("<p>here", title="Here")
    there = tabbed.page("<h1>Over there</h1>", title="There")
    answer = tabbed.call("tabs", action="new", url=there)
    first, second = answer.data["tabs"]
    assert first == {"tab": first["tab"], "url": here, "title": "Here", "current": False}
    assert second == {"tab": second["tab"], "url": there, "title": "There", "current": True}
    assert f"{second['tab']} (current): 'There' at {there}" in answer.text
    assert tabbed.ok("get_text")["text"] == "Over there"
    tabbed.ok("tabs", action="select", tab=first["tab"])
    assert tabbed.ok("get_text")["text"] == "here"


def test_a_closed_tabs_name_is_never_reused(tabbed: Stage) -> None:
    """Tab names are unique in a session, also after their tabs are closed."""
    seen: list[str] = []
    for _ in range(3):
        answer = tabbed.ok("tabs", action="new")
        seen.append(current(answer))
        tabbed.ok("tabs", action="close")
    assert len(set(seen)) == 3
    assert sorted(seen, key=lambda name: int(name[1:])) == seen
    assert "is closed" in refused(tabbed.call("tabs", action="select", tab=seen[0]), "invalid_argument")


@pytest.mark.core
def test_closing_the_current_tab_returns_to_the_previously_current_one(tabbed: Stage) -> None:
    """Closing the current tab selects the previously current one, not its neighbour."""
    [first] = names(tabbed.ok("tabs", action="list"))
    second, third = (current(tabbed.ok("tabs", action="new")) for _ in range(2))
    tabbed.ok("tabs", action="select", tab=first)
    tabbed.ok("tabs", action="select", tab=third)
    assert current(tabbed.ok("tabs", action="close")) == first
    answer = tabbed.ok("tabs", action="close", tab=second)
    assert (names(answer), current(answer)) == ([first], first)


def test_closing_another_tab_keeps_the_current_one(tabbed: Stage) -> None:
    """Calls continue in the current tab after another one is closed."""
    tabbed.show("<p>stay")
    [first] = names(tabbed.ok("tabs", action="list"))
    second = current(tabbed.ok("tabs", action="new"))
    tabbed.ok("tabs", action="select", tab=first)
    assert current(tabbed.ok("tabs", action="close", tab=second)) == first
    assert tabbed.ok("get_text")["text"] == "stay"


def test_closing_the_only_tab_is_refused(tabbed: Stage) -> None:
    """The error refers to close_session, which ends the session."""
    text = refused(tabbed.call("tabs", action="close"), "invalid_argument")
    assert "is the only one" in text
    assert "close_session" in text


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"action": "select"}, "Select needs tab"),
        ({"action": "select", "tab": "t999"}, "Tab 't999' was never there"),
        ({"action": "select", "tab": "second"}, "Tab 'second' was never there"),
        ({"action": "select", "tab": "t0"}, "Tab 't0' was never there"),
        ({"action": "close", "tab": "t999"}, "Open tabs: t"),
        ({"action": "list", "url": "https://example.com"}, "List takes no url"),
        ({"action": "new", "tab": "t1"}, "New takes no tab"),
        ({"action": "new", "url": "example.com"}, "url must be absolute"),
        ({"action": "new", "url": "javascript:1"}, "use execute_script"),
        ({"action": "open"}, "'action' must be"),
        ({}, "action"),
    ],
)
def test_invalid_arguments_of_tabs_are_refused(tabbed: Stage, arguments: dict[str, str], expected: str) -> None:
    """Invalid arguments are refused as invalid_argument, and no tab opens or closes."""
    before = tabbed.ok("tabs", action="list")
    assert expected in refused(tabbed.call("tabs", **arguments), "invalid_argument")
    assert tabbed.ok("tabs", action="list") == before


def test_a_new_tab_stays_open_when_its_url_cannot_be_loaded(tabbed: Stage) -> None:
    """A new tab whose URL fails to load gives an error and stays open for another try."""
    assert "could not be loaded" in refused(
        tabbed.call("tabs", action="new", url="http://127.0.0.1:1/"), "remote_error"
    )
    assert len(names(tabbed.ok("tabs", action="list"))) == 2


@pytest.mark.parametrize(
    "way",
    [
        "<a href='THERE' target=_blank>open</a>",
        "<a href='THERE' target=_blank rel=noopener>open</a>",
        "<button onclick='window.open(`THERE`)'>open</button>",
        "<button onclick='window.open(`THERE`, ``, `width=400,height=300`)'>open</button>",
    ],
)
def test_a_tab_opened_by_the_page_is_reported_and_does_not_become_current(tabbed: Stage, way: str) -> None:
    """An event names the tab that the page opened and the call that switches to it."""
    there = tabbed.page("<h1>There</h1>", title="There")
    tabbed.show(way.replace("THERE", there), title="Here")
    answer = tabbed.call("click_element", selector="text=open")
    [event] = answer.data["events"]
    name = event.split("tab ")[1].split(";")[0]
    assert event == f"The page opened tab {name}; to go there: tabs with action select, tab {name}."
    assert event in answer.text
    assert tabbed.ok("wait_for", title="Here")
    tabbed.ok("tabs", action="select", tab=name)
    tabbed.ok("wait_for", text="There")
    assert tabbed.js("[innerWidth, innerHeight]") == [1280, 720]


def test_a_sequence_reports_a_tab_that_its_step_opened_once(tabbed: Stage) -> None:
    """A tab that a step opened is reported once, in the result of the sequence."""
    there = tabbed.page("<h1>There</h1>")
    tabbed.show(f"<a href='{there}' target=_blank>open</a>")
    answer = tabbed.ok("execute_sequence", actions=[{"action": "click_element", "selector": "text=open"}])
    assert len(answer["events"]) == 1
    assert "events" not in tabbed.ok("tabs", action="list")


def test_a_step_opens_a_tab_and_the_next_step_acts_in_it(tabbed: Stage) -> None:
    """A step's `do` is the tool's `action`; it is checked before the first step runs."""
    there = tabbed.page("<button onclick='this.textContent = `pushed`'>Push</button>")
    steps = [{"action": "tabs", "do": "new", "url": there}, {"action": "click_element", "selector": "text=Push"}]
    answer = tabbed.ok("execute_sequence", actions=steps)
    assert answer["completed"] == 2
    assert tabbed.ok("get_text")["text"] == "pushed"
    text = refused(tabbed.call("execute_sequence", actions=[{"action": "tabs"}]), "invalid_argument")
    assert "A step of tabs needs do" in text


def test_observe_none_leaves_the_report_of_a_new_tab_to_the_next_call(tabbed: Stage) -> None:
    """A tab that opens during a call with observe none is reported by the next call."""
    there = tabbed.page("<h1>There</h1>")
    tabbed.show(f"<a href='{there}' target=_blank>open</a>")
    assert "events" not in tabbed.ok("click_element", selector="text=open", observe="none")
    assert "The page opened tab" in tabbed.ok("tabs", action="list")["events"][0]


def test_acting_goes_on_in_the_previous_tab_when_the_current_one_closes_itself(tabbed: Stage) -> None:  # O16
    """A click that closes its own tab succeeds and names the tab that is current now."""
    name = opening(tabbed)
    tabbed.ok("tabs", action="select", tab=name)
    answer = tabbed.ok("click_element", selector="#c")
    assert f"Tab {name} was closed; tab " in answer["events"][0]
    assert answer["stateChange"]["title"] == {"from": "There", "to": "Here"}
    assert answer["title"] == "Here"
    assert len(names(tabbed.ok("tabs", action="list"))) == 1


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_text", {}),
        ("get_visible_elements", {}),
        ("click_element", {"selector": "text=open"}),
        ("wait_for", {"text": "open"}),
        ("take_screenshot", {"selector": "text=open"}),
    ],
)
def test_a_step_after_its_tab_closed_itself_runs_in_the_previous_tab(
    tabbed: Stage, tool: str, arguments: dict[str, str]
) -> None:
    """A step after the current tab closed itself runs in the previous tab, and an event reports that."""
    name = opening(tabbed)
    tabbed.ok("tabs", action="select", tab=name)
    closing = {"action": "click_element", "selector": "#c"}
    answer = tabbed.call("execute_sequence", actions=[closing, {"action": tool, **arguments}])
    assert not answer.failed, answer.text
    assert f"Tab {name} was closed" in answer.text
    assert tabbed.ok("wait_for", title="Here")


def test_a_script_step_fails_when_its_tab_has_closed_itself(tabbed: Stage) -> None:
    """A script step fails rather than run in another page; later calls act on the other tab."""
    name = opening(tabbed)
    tabbed.ok("tabs", action="select", tab=name)
    script = {"action": "execute_script", "script": "document.title = 'wrong'"}
    answer = tabbed.call("execute_sequence", actions=[{"action": "click_element", "selector": "#c"}, script])
    assert answer.code == "remote_error"
    assert answer.data["failed"]["index"] == 1
    assert "is current now" in answer.data["error"]["message"]
    assert f"Tab {name} was closed" in answer.text
    assert tabbed.ok("wait_for", title="Here")


def test_a_tab_that_the_page_closes_is_no_longer_listed(tabbed: Stage) -> None:
    """A tab that the page opened and closes by script is no longer listed."""
    there = tabbed.page("<h1>There</h1>")
    tabbed.show(
        f"<button id=o onclick='other = window.open(`{there}`)'>open</button><button id=x onclick='other.close()'>x"
    )
    tabbed.ok("click_element", selector="#o")
    name = names(tabbed.ok("tabs", action="list"))[-1]
    tabbed.ok("click_element", selector="#x")
    tabbed.ok("wait_for", selector="#x")
    listed = tabbed.ok("tabs", action="list")
    assert name not in names(listed)


def test_a_ref_of_another_tab_is_stale_until_that_tab_is_selected(tabbed: Stage) -> None:
    """A ref is stale in another tab and works again in its own."""
    tabbed.show("<button onclick='this.textContent += `!`'>Push</button>")
    ref = tabbed.ref('button "Push"')
    [first] = names(tabbed.ok("tabs", action="list"))
    tabbed.ok("tabs", action="new", url=tabbed.page("<button>Push</button>"))
    refused(tabbed.call("click_element", selector=ref), "stale_ref")
    assert tabbed.ref('button "Push"') != ref
    tabbed.ok("tabs", action="select", tab=first)
    tabbed.ok("click_element", selector=ref)
    assert tabbed.ok("get_text", selector=ref)["text"] == "Push!"


def test_a_password_that_a_new_tab_reveals_at_load_is_masked(tabbed: Stage) -> None:
    """A password that the page shows in clear before the first call is masked in a new tab."""
    page = tabbed.page("<input id=p type=password aria-label=P value=clear-as-day><script>p.type = 'text'</script>")
    tabbed.ok("tabs", action="new", url=page)
    assert "clear-as-day" not in tabbed.call("get_visible_elements").text


def test_another_server_knows_tab_names_and_the_current_tab(home: Home, site: Site) -> None:
    """Tab names, the current and the previous tab are in the record that servers share."""
    there = site.page("/there", "<title>There</title><h1>There")
    with home.serve() as first, home.serve() as second:
        first.ok("start_browser", sessionId="both")
        first.ok("tabs", action="new", url=there, sessionId="both")
        listed = second.ok("tabs", action="list", sessionId="both")
        assert [(tab["tab"], tab["current"]) for tab in listed["tabs"]] == [("t1", False), ("t2", True)]
        assert second.ok("get_text", sessionId="both")["text"] == "There"
        assert current(second.ok("tabs", action="new", sessionId="both")) == "t3"
        assert current(first.ok("tabs", action="close", sessionId="both")) == "t2"
        second.ok("close_session", sessionId="both")


def test_no_call_hangs_when_the_only_tab_closes_itself() -> None:
    """A session whose only tab closes itself continues or is lost, and no call hangs."""
    with opened() as stage:
        stage.show("<p>last")
        stage.js("void setTimeout(() => { open('', '_self'); window.close() }, 0)")
        answer = stage.call("tabs", action="list")
        assert not answer.failed or answer.code == "session_lost", answer.text
