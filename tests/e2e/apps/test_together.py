"""Apps and pages compared, and run in lockstep."""

from __future__ import annotations

import pytest

from tests.e2e.apps.phone import Phone
from tests.e2e.stage import Stage

pytestmark = pytest.mark.full

PHONES = ["ios", "android"]
HEAD = "<header><button aria-label=Back onclick='location.reload()'>Back</button><h1>Item</h1></header>"
ITEM = HEAD + "<main><p id=item-text data-testid=itemText>Item 7</main>"


@pytest.fixture
def phones(stage: Stage) -> list[Phone]:
    """Both phones on the screen of an item, and the same item as a page in the browser."""
    found = [Phone(stage, name, name) for name in PHONES]
    for phone in found:
        phone.restart()
        phone.ok("manage_device", action="open_url", value="pocket://item/7")
    stage.show(ITEM, sessionId="web")
    return found


def test_compare_sessions_finds_equal_elements_on_a_page_and_in_two_apps(
    stage: Stage, phones: list[Phone]
) -> None:  # W2 W22
    """A page and two apps with the same content have no difference."""
    assert phones
    answer = stage.call("compare_sessions", sessionIds=["web", *PHONES], of="elements")
    assert answer.data["same"], answer.text


def test_compare_sessions_names_the_phone_whose_text_differs(stage: Stage, phones: list[Phone]) -> None:  # W2
    """The session with another item is named, with the line that differs."""
    phones[1].ok("manage_device", action="open_url", value="pocket://item/8")
    back = 'role=button[name="Back"]'
    answer = stage.ok("compare_sessions", sessionIds=["web", *PHONES], of="text", ignore=[back])
    [difference] = answer["differences"]
    assert difference["sessionId"] == "android"
    assert difference["missing"] == ["Item 7"]
    assert difference["added"] == ["Item 8"]


def test_compare_sessions_shows_where_the_screenshots_of_two_phones_differ(stage: Stage, phones: list[Phone]) -> None:
    """Screenshots of two kinds of phones differ, and the answer has a picture of the differences."""
    assert phones
    answer = stage.call("compare_sessions", sessionIds=PHONES, of="screenshot")
    assert answer.data["differences"][0]["ratio"] > 0
    assert answer.image


def test_lockstep_runs_to_the_end_where_nothing_differs(stage: Stage, phones: list[Phone]) -> None:  # W2
    """A browser and two phones run the same steps."""
    assert phones
    steps = [{"action": "wait_for", "text": "Item 7"}, {"action": "get_text"}]
    answer = stage.ok("execute_parallel", sequences=[{"sessionIds": ["web", *PHONES], "actions": steps}], lockstep=True)
    assert "divergence" not in answer, answer
    assert {result["completed"] for result in answer["results"].values()} == {2}


def test_lockstep_stops_and_names_the_session_that_differs(stage: Stage, phones: list[Phone]) -> None:  # W2
    """The run stops at the step after which a session differs, and names the difference."""
    assert phones
    stage.show(HEAD, sessionId="web")
    steps = [
        {"action": "get_text"},
        {"action": "tap_element", "selector": 'role=button[name="Back"]'},
        {"action": "get_text"},
    ]
    answer = stage.ok("execute_parallel", sequences=[{"sessionIds": ["web", *PHONES], "actions": steps}], lockstep=True)
    assert answer["divergence"]["index"] == 1
    assert answer["divergence"]["odd"] == ["web"]
    assert 'button "List"' in answer["divergence"]["differences"][0]["missing"]
