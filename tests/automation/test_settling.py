"""The effect of an action is read from the page once it has settled, or at the limit with the reason for unrest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.actions.mouse import ClickElement
from orchestrator.automation.browser.settling import ChangeObserver
from orchestrator.automation.scene import Scene
from orchestrator.errors import NotActionable
from orchestrator.models.policies import Policies
from orchestrator.models.results import ValueChange
from orchestrator.sessions.turn import CallCancelled
from tests.servers.page_answers import (
    PAY,
    PLACE,
    Answer,
    delta,
    frame,
    marked,
    not_found,
    outwards,
    pressed,
    ready,
    settled,
    state,
    unsettled,
)
from tests.servers.scripted_webdriver import ScriptedWebDriver, W3CError, dialog

MakeScene = Callable[..., Scene]
PAID = {"url": "https://shop.example/paid", "title": "Paid"}
IN_FLIGHT = "a request to /pay is still in flight"
CLICK = ClickElement(selector="#pay")


@pytest.fixture(autouse=True)
def page_before(end: ScriptedWebDriver) -> None:
    """Each test begins with a page that is marked by the first question."""
    end.script("page.mark", marked())


def test_a_click_and_the_report_on_it_take_four_requests(scene: Scene, end: ScriptedWebDriver) -> None:
    """The mark is sent with the search, where the press arrived with the wait; the fourth request reads the tabs."""
    end.script("page.ready", ready())
    end.script("POST /actions", None)
    end.script("page.pressed", pressed())
    end.script("page.settle", settled(appeared=["text: Thank you"], disappeared=[PAY]))
    end.script("GET /window/handles", ["w1"])
    report = CLICK.perform(scene)
    assert end.asked == ["page.mark+ready", "POST /actions", "page.pressed+settle", "GET /window/handles"]
    assert report.stable is True
    assert report.state_change
    assert (report.state_change.appeared, report.state_change.disappeared) == (["text: Thank you"], [PAY])


def test_a_press_that_missed_is_made_again_before_anything_is_waited_for(scene: Scene, end: ScriptedWebDriver) -> None:
    """What the press was sent with is not answered; an element that moved must be at rest for the second press."""
    end.script("page.mark", marked())
    end.script("page.ready", ready(), ready())
    end.script("POST /actions", None, None)
    end.script("page.pressed", pressed(f"{PAY}: it moved away", moved=True), pressed())
    end.script("page.settle", settled(), settled(appeared=["text: Thank you"]))
    end.script("GET /window/handles", ["w1"])
    report = CLICK.perform(scene)
    assert [each["rest"] for each in end.params("page.ready")] == [False, True]
    assert report.state_change
    assert report.state_change.appeared == ["text: Thank you"]


def test_a_press_that_missed_until_the_timeout_names_what_it_met(scene: Scene, end: ScriptedWebDriver) -> None:
    """The error is that of an element that cannot be acted on."""
    end.script("page.ready", ready())
    end.script("POST /actions", None)
    end.script("page.pressed", pressed(f'{PAY}: covered by dialog "Offer" [e9]'))
    end.script("page.settle", settled())
    with pytest.raises(NotActionable, match=r'did not reach .*Pay.*: covered by dialog "Offer"'):
        ClickElement(selector="#pay", timeout=0).perform(scene)


def test_a_page_that_is_not_at_rest_is_asked_again_with_the_same_start(scene: Scene, end: ScriptedWebDriver) -> None:
    """All slices belong to one wait, identified by one `since`, so that earlier quiet time counts."""
    end.script("page.settle", unsettled(IN_FLIGHT), unsettled("the page has just changed"), settled())
    end.script("page.state", state())
    report = _report(scene, limit=60)
    asked = end.params("page.settle")
    assert len({each["since"] for each in asked}) == 1
    assert [(each["stability"], each["slice"]) for each in asked] == [(150, 1000)] * 3
    assert (report["stable"], report["state_change"]) == (True, None)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(unsettled(IN_FLIGHT), IN_FLIGHT), (None, "the page navigates or opens dialogs")],
    ids=["busy", "navigating"],
)
def test_at_the_limit_the_reason_and_the_difference_so_far_are_reported(
    scene: Scene, end: ScriptedWebDriver, answer: Answer | None, reason: str
) -> None:
    """A page that does not settle is no error: one further request reads the difference."""
    end.script("page.settle", answer)
    end.script("page.delta", delta(changed=[PAY]))
    end.script("page.state", state())
    report = _report(scene, limit=0)
    assert end.asked == ["page.mark+state", "page.settle", "page.delta"]
    assert (report["stable"], report["unstable_reason"]) == (False, reason)
    assert report["state_change"].changed == [PAY]


@pytest.mark.parametrize(
    "interruption",
    [None, W3CError("script timeout"), W3CError("javascript error", "aborted by navigation: loader has changed")],
    ids=["no-answer", "script-timeout", "aborted"],
)
def test_a_new_document_ends_the_wait_and_is_reported_as_a_navigation(
    scene: Scene, end: ScriptedWebDriver, interruption: W3CError | None
) -> None:
    """The question ends with the old document, however the driver reports that, and is sent to the new one."""
    end.script("page.settle", interruption, settled(sameDocument=False, now=PAID, appeared=["text: Thank you"]))
    end.script("page.state", state())
    report = _report(scene, limit=5)
    assert report["stable"] is True
    assert report["state_change"].url == ValueChange(from_=PLACE["url"], to=PAID["url"])
    assert report["state_change"].title == ValueChange(from_=PLACE["title"], to=PAID["title"])
    assert (scene.record.url, scene.record.title, scene.has_navigated) == (PAID["url"], PAID["title"], True)


def test_an_alert_that_is_left_open_ends_the_wait_with_a_warning(make_scene: MakeScene, end: ScriptedWebDriver) -> None:
    """The action has been done: its result reports the open dialog, and the page is asked nothing more."""
    end.script("page.settle", dialog("Really pay?"))
    end.script("page.state", state())
    report = _report(make_scene(policies=Policies(dialogs="manual")), limit=5)
    assert end.asked == ["page.mark+state", "page.settle"]
    [warning] = report["warnings"]
    assert "A dialog is open and blocks the page: 'Really pay?'" in warning


def test_a_window_that_closes_after_the_click_leads_to_the_previous_tab(
    two_tabs: Scene, end: ScriptedWebDriver
) -> None:
    """A popup closes itself: the previous tab is waited for, and the result reports the move to it."""
    end.script("page.state", state())
    end.script("page.settle", W3CError("no such window"), settled(sameDocument=False, now=PAID))
    end.script("GET /window/handles", ["w1"])
    end.script("POST /window", None)
    end.script("Page.bringToFront", {})
    report = _report(two_tabs, limit=5)
    assert end.asked[1:3] == ["page.settle", "GET /window/handles"]
    assert end.asked[-1] == "page.settle"
    assert (report["url"], report["stable"]) == (PAID["url"], True)
    assert two_tabs.events == ["Tab t2 was closed; tab t1 is current now."]


def test_the_report_is_of_the_tab_that_a_click_opened_once_it_is_current(
    make_scene: MakeScene, end: ScriptedWebDriver
) -> None:
    """Under the policy `allow` the new tab becomes current; its URL is in the result."""
    scene = make_scene(policies=Policies(new_tabs="allow"))
    end.script("page.ready", ready())
    end.script("POST /actions", None)
    end.script("page.pressed", pressed())
    end.script("page.settle", settled())
    end.script("GET /window/handles", ["w1", "w2"])
    end.script("POST /window", None)
    end.script("Page.bringToFront", {})
    end.script("page.state", state(**PAID))
    report = CLICK.perform(scene)
    assert end.asked[3:] == ["GET /window/handles", "POST /window w2", "Page.bringToFront", "page.state"]
    assert (report.url, report.title) == (PAID["url"], PAID["title"])
    assert scene.record.url == PAID["url"]


def test_a_frame_of_another_origin_that_was_acted_in_is_waited_for_too(scene: Scene, end: ScriptedWebDriver) -> None:
    """The frame is marked before the click; its lines follow the page's, forty in all, and the rest is counted."""
    _script_click_in_frame(end)
    end.script("page.mark", marked())
    end.script(
        "page.settle", settled(appeared=[f"text: top {n}" for n in range(30)]), settled(appeared=["text: in"] * 20)
    )
    end.always("POST /frame")
    report = CLICK.perform(scene)
    assert end.asked.index("page.mark") < end.asked.index("POST /actions")
    assert report.state_change
    assert report.state_change.appeared[29:31] == ["text: top 29", "text: in"]
    assert (len(report.state_change.appeared), report.state_change.more) == (40, 10)


def test_a_frame_that_closed_with_the_click_is_not_in_the_report(scene: Scene, end: ScriptedWebDriver) -> None:
    """A payment frame closes itself: the page around it has settled and is reported."""
    _script_click_in_frame(end)
    end.script("page.mark", marked())
    end.script("page.settle", settled(appeared=["text: Paid"]))
    gone = W3CError("no such frame")
    end.always("POST /frame", lambda asked: gone if asked["id"] == 0 and end.params("page.settle") else None)
    report = CLICK.perform(scene)
    assert (report.stable, report.state_change and report.state_change.appeared) == (True, ["text: Paid"])
    assert scene.finder.at_top


def test_a_cancelled_call_waits_no_more_for_rest(
    scene: Scene, end: ScriptedWebDriver, cancel: Callable[[], None]
) -> None:
    """A call on a page that never settles ends soon after its caller has gone."""

    def leave(_: Answer) -> Answer:
        cancel()
        return unsettled(IN_FLIGHT)

    end.script("page.settle", leave)
    end.script("page.state", state())
    with pytest.raises(CallCancelled):
        _report(scene, limit=5)
    assert end.asked == ["page.mark+state", "page.settle"]


def _report(scene: Scene, *, limit: float) -> dict[str, Any]:
    """Return an observer's report when nothing was done."""
    return ChangeObserver.start(scene, "call").report_changes(scene, stability=0.15, limit=limit)


def _script_click_in_frame(end: ScriptedWebDriver) -> None:
    """Script a click inside a frame of another origin, and the listing of tabs."""
    end.script("page.ready", not_found(frame(0, "e3")), ready())
    end.script("page.outwards", outwards(0, 0))
    end.script("POST /actions", None)
    end.script("page.pressed", pressed(), pressed())
    end.script("GET /window/handles", ["w1"])
