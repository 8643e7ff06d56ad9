"""Apps and pages side by side: compared, and run in lockstep."""

from __future__ import annotations

import pytest

from tests.e2e.apps.phone import Phone
from tests.e2e.stage import Stage

PHONES = ["ios", "android"]
HEAD = "<header><button aria-label=Back onclick='location.reload()'>Back</button><h1>Item</h1></header>"
ITEM = HEAD + "<main><p id=item-text data-testid=itemText>Item 7</main>"


@pytest.fixture
def phones(stage: Stage) -> list[Phone]:
    """Both phones on the screen of one item, and the same as a page in the browser."""
    found = [Phone(stage, name, name) for name in PHONES]
    for phone in found:
        phone.restart()
        phone.ok("manage_device", action="open_url", value="pocket://item/7")
    stage.show(ITEM, sessionId="web")
    return found


def test_elements_are_the_same_by_role_and_name(stage: Stage, phones: list[Phone]) -> None:  # W2 W20 W22
    """A page and two apps that show the same differ in nothing."""
    assert phones
    answer = stage.call("compare_sessions", sessionIds=["web", *PHONES], of="elements")
    assert answer.data["same"], answer.text


def test_text_is_compared(stage: Stage, phones: list[Phone]) -> None:  # W2 W22
    """The one that shows another item is named, with its line."""
    phones[1].ok("manage_device", action="open_url", value="pocket://item/8")
    back = 'role=button[name="Back"]'
    answer = stage.ok("compare_sessions", sessionIds=["web", *PHONES], of="text", ignore=[back])
    [difference] = answer["differences"]
    assert difference["sessionId"] == "android"
    assert difference["missing"] == ["Item 7"]
    assert difference["added"] == ["Item 8"]


def test_pictures_are_compared(stage: Stage, phones: list[Phone]) -> None:
    """Two kinds of phones differ, with a picture of where."""
    assert phones
    answer = stage.call("compare_sessions", sessionIds=PHONES, of="screenshot")
    assert answer.data["differences"][0]["ratio"] > 0
    assert answer.image


def test_lockstep_runs_to_the_end_where_nothing_differs(stage: Stage, phones: list[Phone]) -> None:  # W2 W43
    """A browser and two phones do the same steps."""
    assert phones
    steps = [{"action": "wait_for", "text": "Item 7"}, {"action": "get_text"}]
    answer = stage.ok("execute_parallel", sequences=[{"sessionIds": ["web", *PHONES], "actions": steps}], lockstep=True)
    assert "divergence" not in answer, answer
    assert {result["completed"] for result in answer["results"].values()} == {2}


def test_lockstep_names_the_odd_one(stage: Stage, phones: list[Phone]) -> None:  # W2 W43
    """Where one phone shows another screen, it stops there and says what differs."""
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
