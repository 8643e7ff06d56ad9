"""Elements are found in one request where possible; a page or frame that goes away is reported or searched again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.automation.scene import Scene
from orchestrator.errors import NotActionable, StaleRef
from orchestrator.sessions.turn import CallCancelled
from orchestrator.snapshot.methods import MARK, READY, WAIT, is_refused
from orchestrator.snapshot.web.page import EngineFault
from orchestrator.system.deadline import Deadline
from tests.servers.page_answers import (
    PLACE,
    Answer,
    elsewhere,
    frame,
    marked,
    not_found,
    ready,
    refused,
    state,
    turned_down,
    waited,
)
from tests.servers.scripted_webdriver import ELEMENT, MISSING, ScriptedWebDriver, W3CError, dialog

MakeScene = Callable[..., Scene]


def test_an_element_is_found_waited_for_and_measured_by_one_request(scene: Scene, end: ScriptedWebDriver) -> None:
    """The page gets the selector and the purpose in one question, and answers with the clickable point."""
    end.script("page.ready", ready(x=60, y=40))
    with scene.element("#pay", "point", 0) as found:
        assert found.point == (60, 40)
    assert end.asked == ["page.ready"]
    [asked] = end.params("page.ready")
    assert (asked["locator"], asked["need"]) == ({"by": "css", "value": "#pay"}, "point")


def test_the_number_of_matches_is_reported_when_there_are_several(scene: Scene, end: ScriptedWebDriver) -> None:
    """The first of three elements that can be acted on is taken, and the number of matches is reported."""
    end.script("page.ready", ready(matches=3), ready(matches=1))
    with scene.element("button", "point", 0) as several, scene.element("#pay", "point", 0) as one:
        assert (several.matches, one.matches) == (3, None)


def test_an_element_that_is_not_ready_is_asked_for_again_in_longer_slices(scene: Scene, end: ScriptedWebDriver) -> None:
    """A short first wait leaves time for frames; after that the page itself waits, a second at a time."""
    end.script("page.ready", not_found(), refused("covered", 'covered by dialog "Cookies"'), ready())
    with scene.element("#pay", "point", 60_000):
        pass
    assert [asked["slice"] for asked in end.params("page.ready")] == [50, 1000, 1000]


@pytest.mark.parametrize(
    ("ref", "message"),
    [("e5", "no longer names an element of this page"), ("e77", "was never given in this session")],
)
def test_a_stale_ref_is_refused_at_once_with_a_hint(
    make_scene: MakeScene, end: ScriptedWebDriver, ref: str, message: str
) -> None:
    """Waiting brings no element back: the call fails before its timeout, and the hint names the next step."""
    end.script("page.ready", turned_down("stale", f"{ref} is no longer on the page"))
    scene = make_scene(ref_next=10)
    with pytest.raises(StaleRef, match=message) as failed, scene.element(ref, "point", 5000):
        pass
    assert "get_visible_elements" in failed.value.hint
    assert end.asked == ["page.ready"]


def test_a_strict_session_refuses_several_matches_at_once(make_scene: MakeScene, end: ScriptedWebDriver) -> None:
    """The page is asked in strict mode, and its matches are returned as candidates."""
    lines = ['button "Pay" [e1]', 'button "Pay later" [e2]']
    end.script("page.ready", turned_down("ambiguous", "2 elements match", matches=2, candidates=lines))
    scene = make_scene(strict=True)
    with pytest.raises(NotActionable, match="2 elements match") as failed, scene.element("button", "point", 5000):
        pass
    assert failed.value.details == {"candidates": lines}
    assert end.params("page.ready")[0]["locator"]["strict"] is True
    assert end.asked == ["page.ready"]


def test_a_strict_session_counts_the_matches_in_the_frames_beside_too(
    make_scene: MakeScene, end: ScriptedWebDriver
) -> None:
    """Single matches in two frames of other origins count as two, and none is acted on."""
    end.always("POST /frame")
    end.script("page.ready", not_found(frame(0, "e3"), frame(1, "e4")), ready())
    end.script("page.wait", waited({"condition": "count", "expected": 0, "actual": 1}, matches=1))
    with pytest.raises(NotActionable, match="2 elements match"), make_scene(strict=True).element("#pay", "point", 0):
        pass
    there, beside = ["POST /frame top", "POST /frame 0"], ["POST /frame top", "POST /frame 1"]
    assert end.asked == ["page.ready", *there, "page.ready", *beside, "page.wait", *there, "POST /frame top"]


def test_an_element_in_a_frame_of_another_origin_is_searched_in_the_frame(scene: Scene, end: ScriptedWebDriver) -> None:
    """The frame is current while the element is worked with, and the top document is current again afterwards."""
    end.always("POST /frame")
    end.script("page.ready", not_found(frame(0, "e3")), ready())
    with scene.element("#pay", "point", 5000):
        inside = list(end.asked)
    assert inside == ["page.ready", "POST /frame top", "POST /frame 0", "page.ready"]
    assert end.asked == [*inside, "POST /frame top"]
    assert [asked["slice"] for asked in end.params("page.ready")] == [50, 0]


def test_a_frame_that_disappears_in_the_middle_is_searched_no_more(scene: Scene, end: ScriptedWebDriver) -> None:
    """A frame goes away before it can be switched to; the page is asked once more."""
    end.script("page.ready", not_found(frame(0, "e3")), ready())
    end.script("POST /frame", None, W3CError("no such frame"), None)
    with scene.element("#pay", "point", 5000):
        assert scene.finder.at_top
    assert end.asked == ["page.ready", "POST /frame top", "POST /frame 0", "POST /frame top", "page.ready"]


def test_a_frame_in_a_shadow_tree_is_entered_by_its_element(scene: Scene, end: ScriptedWebDriver) -> None:
    """A frame in a shadow tree has no index: its element is fetched by its ref from the document around it."""
    end.always("POST /frame")
    end.script("page.ready", not_found(frame("e3", "e3")), ready())
    end.script("page.frame", {ELEMENT: "el-3"})
    with scene.element("#pay", "point", 5000):
        assert end.asked == ["page.ready", "POST /frame top", "page.frame", "POST /frame el-3", "page.ready"]
    assert end.params("page.frame")[0]["args"] == ["e3"]


def test_a_session_leaves_the_frame_that_it_was_switched_to_once_that_is_gone(
    make_scene: MakeScene, end: ScriptedWebDriver
) -> None:
    """The call reports that the frame is gone, and the next call is at the top of the page."""
    end.script("page.ready", turned_down("frame_gone", "e3 is no longer on the page"), ready())
    scene = make_scene(frame=("e3",))
    with pytest.raises(StaleRef, match="The frame e3 that switch_frame went to is gone"):
        scene.finder.query_element("#pay", READY, 5)
    scene.finder.query_element("#pay", READY, 5)
    within = {"frames": [{"by": "current", "value": "e3"}]}
    plain = {"by": "css", "value": "#pay"}
    assert [asked["locator"] for asked in end.params("page.ready")] == [{**plain, **within}, plain]


def test_url_conditions_are_checked_in_the_page_when_the_element_is_in_a_frame(
    scene: Scene, end: ScriptedWebDriver
) -> None:
    """URL conditions are checked in the page and the others in the frame; failures of either are in one answer."""
    wrong = {"condition": "url", "expected": "**/paid", "actual": PLACE["url"]}
    card = {"by": "css", "value": "#card"}
    end.always("POST /frame")
    end.script("page.wait", elsewhere(0, "e3", card), waited(wrong), waited(url="https://bank.example/"))
    end.script("page.state", state())
    locator = scene.finder.build_locator(scene.finder.parse_selector("iframe >> #card"))
    wanted = {"url": "**/paid", "visible": True}
    answer = scene.finder.poll(WAIT, Deadline(0), locator, conditions=wanted)
    assert [asked["conditions"] for asked in end.params("page.wait")] == [wanted, {"url": "**/paid"}, {"visible": True}]
    assert end.params("page.wait")[2]["locator"] == {**card, "frames": []}
    assert not is_refused(answer)
    assert (answer["ok"], answer["failed"], answer["url"]) == (False, [wrong], PLACE["url"])


def test_a_search_continues_in_the_previous_tab_when_its_tab_closes(two_tabs: Scene, end: ScriptedWebDriver) -> None:
    """The window closes during the search: the previous tab becomes current and is searched for the remaining time."""
    end.script("page.ready", W3CError("no such window"), ready())
    end.script("GET /window/handles", ["w1"])
    end.always("POST /window")
    end.always("Page.bringToFront")
    with two_tabs.element("#pay", "point", 5000):
        assert two_tabs.tabs.current_name == "t1"
    moved = ["GET /window/handles", "POST /window w1", "Page.bringToFront"]
    assert end.asked == ["page.ready", *moved, "page.ready"]
    assert two_tabs.events == ["Tab t2 was closed; tab t1 is current now."]


def test_a_question_is_asked_again_when_the_document_goes_away_under_it(scene: Scene, end: ScriptedWebDriver) -> None:
    """The new document gets the page engine with the repeated question, and no queued question is lost."""
    told: list[Any] = []
    scene.defer_query(MARK, told.append, name="call")
    end.script("page.ready", None, MISSING, ready())
    end.script("page.mark", marked())
    end.script("page.engine", None)
    end.script("page.hooks", None)
    with scene.element("#pay", "point", 5000):
        pass
    asked = "page.mark+ready"
    assert end.asked == [asked, asked, "page.engine", "page.hooks", asked]
    assert told == [marked()]


@pytest.mark.parametrize("rounds", [1, 2])
def test_a_question_is_repeated_with_a_new_range_when_ref_numbers_run_out(
    scene: Scene, end: ScriptedWebDriver, rounds: int
) -> None:
    """Each further range is as large as requested and repeats no number, however often that happens."""
    told: list[Any] = []
    scene.defer_query(MARK, told.append, name="call")
    end.script("page.ready", _used_up)
    end.script("page.numbered", *[_used_up] * (rounds - 1), ready())
    end.script("page.mark", marked())
    scene.finder.query_element("#pay", READY, 0)
    assert end.asked == ["page.mark+ready", *["page.numbered"] * rounds]
    before, *more = [request.params["refs"] for request in end.requests]
    for numbers in more:
        assert numbers[1] - numbers[0] >= 700
        assert numbers[0] >= before[1]
        before = numbers
    assert told == [marked()]


def test_a_cancelled_call_sends_no_more_questions(
    scene: Scene, end: ScriptedWebDriver, cancel: Callable[[], None]
) -> None:
    """The caller goes away while the page is asked; the remaining time is not used."""

    def leave(_: Answer) -> Answer:
        cancel()
        return not_found()

    end.script("page.ready", leave)
    with pytest.raises(CallCancelled), scene.element("#pay", "point", 5000):
        pass
    assert end.asked == ["page.ready"]


def test_an_alert_that_is_open_is_dismissed_and_the_question_asked_again(scene: Scene, end: ScriptedWebDriver) -> None:
    """The policy that lets the page continue needs two more requests, and its event is reported."""
    end.script("page.ready", dialog("Leave the shop?"), ready())
    end.script("POST /alert/dismiss", None)
    with scene.element("#pay", "point", 5000):
        pass
    assert end.asked == ["page.ready", "POST /alert/dismiss", "page.ready"]
    assert scene.events[0].startswith("A dialog was dismissed: 'Leave the shop?'.")


def test_an_engine_that_asks_for_numbers_for_ever_is_given_up(scene: Scene, end: ScriptedWebDriver) -> None:
    """After the question and two more rounds the call ends with an error."""
    end.script("page.ready", _used_up)
    end.script("page.numbered", _used_up, _used_up)
    with pytest.raises(EngineFault, match="it asks for ever more refs"):
        scene.finder.query_element("#pay", READY, 0)
    assert end.asked == ["page.ready", "page.numbered", "page.numbered"]


def _used_up(params: Answer) -> Answer:
    """Return the answer when the range is used up and 700 more elements need a number (`engine.js`)."""
    return {"needRefs": 700, "nextRef": params["refs"][1]}
