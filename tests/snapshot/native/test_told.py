"""Refs of an app's elements whose role or name is another than their caller was told."""

from __future__ import annotations

import re
from typing import Any

import pytest

from orchestrator.automation.browser.selector import parse_selector
from orchestrator.snapshot.methods import READY, SNAPSHOT
from tests.snapshot.native.phone import Phone, android, android_app, ios, ios_app
from tests.snapshot.untyped import UntypedScreen


def chats(*names: str) -> str:
    """An Android screen whose buttons are numbered by their places, whatever they show."""
    shown = (
        android("Button", text=name, id=f"chat{n}", clickable="true", box=(0, 100 + 50 * n, 300, 140 + 50 * n))
        for n, name in enumerate(names)
    )
    return android_app(*shown)


def player(*labels: str) -> str:
    """An iOS screen with a bar of buttons that say what a tap does."""
    shown = (
        ios("Button", name=f"bar{n}", label=label, box=(70 * n, 100, 60 + 70 * n, 140), traits="Button")
        for n, label in enumerate(labels)
    )
    return ios_app(*shown)


def look(screen: UntypedScreen, caller: str = "ann") -> dict[str, str]:
    """Look at the screen in a call of this caller; return the refs by name."""
    screen.begin_call(caller)
    lines = screen.call(SNAPSHOT, scope="page", offset=0)["lines"]
    return {name: ref for line in lines for name, ref in re.findall(r'button "(.+?)" \[(e\d+)\]', line)}


def act(screen: UntypedScreen, ref: str, caller: str = "ann") -> dict[str, Any]:
    """Find the element of a ref for a tap, in a call of this caller."""
    screen.begin_call(caller)
    return step(screen, ref)


def step(screen: UntypedScreen, ref: str) -> dict[str, Any]:
    """Find the element of a ref for a tap, in the call that runs."""
    answer: dict[str, Any] = screen.call(READY, locator=parse_selector(ref).data(), need="point", slice=1000)
    return answer


def test_a_ref_whose_element_shows_another_name_is_refused_with_the_ref_of_the_one_that_has_it(phone: Phone) -> None:
    """A list that is sorted anew in the same elements: the answer says what the ref was and is, and where that is."""
    screen = phone.screen("android", chats("Ann", "Bob", "Cleo"))
    refs = look(screen)
    phone.show(chats("Cleo", "Ann", "Bob"))
    answer = act(screen, refs["Bob"])
    assert (answer["reason"], answer["instead"]) == ("changed", refs["Cleo"])
    assert answer["detail"] == f'{refs["Bob"]} was button "Bob" and is "Ann" now'
    assert act(screen, answer["instead"])["name"] == "Bob"


def test_a_look_makes_a_ref_what_it_shows(phone: Phone) -> None:
    """After another look the ref is what that told; another caller's look is not this one's."""
    screen = phone.screen("android", chats("Oak", "Elm"))
    oak = look(screen)["Oak"]
    phone.show(chats("Elm", "Oak"))
    assert look(screen, "ben")["Elm"] == oak
    assert act(screen, oak)["reason"] == "changed"
    assert act(screen, oak, "ben")["ok"]
    look(screen)
    assert act(screen, oak)["ok"]


def test_a_caller_who_was_told_nothing_has_the_ref_from_another(phone: Phone) -> None:
    """The ref means what it meant to whom it was told."""
    screen = phone.screen("ios", player("Send", "Delete"))
    send = look(screen)["Send"]
    phone.show(player("Delete", "Send"))
    assert act(screen, send, "ben")["reason"] == "changed"


def test_a_toggle_is_the_same_button_after_the_callers_own_act(phone: Phone) -> None:
    """Play becomes Pause by an act on it, in the same call and in the next; by itself it does not."""
    screen = phone.screen("ios", player("Play", "Mute"))
    refs = look(screen)
    assert act(screen, refs["Play"])["ok"]
    phone.show(player("Pause", "Unmute"))
    assert step(screen, refs["Play"])["ok"]
    assert act(screen, refs["Play"])["ok"]
    assert step(screen, refs["Mute"])["reason"] == "changed"


def test_a_row_that_the_own_act_moved_is_not_the_element_where_it_was(phone: Phone) -> None:
    """Another element has the name now that only this one had."""
    screen = phone.screen("android", chats("Ida", "Leo"))
    refs = look(screen)
    assert act(screen, refs["Leo"])["ok"]
    phone.show(chats("Leo", "Ida"))
    assert step(screen, refs["Leo"])["instead"] == refs["Ida"]


@pytest.mark.parametrize(
    ("before", "after", "passes"),
    [(("Inbox 3", "Sent"), ("Inbox 4", "Sent"), True), (("Row 2", "Row 3"), ("Row 3", "Row 4"), False)],
)
def test_a_number_in_a_name_may_change_unless_it_tells_elements_apart(
    phone: Phone,
    before: tuple[str, str],
    after: tuple[str, str],
    passes: bool,  # noqa: FBT001 (a case of the test)
) -> None:
    """A counter is the same element; a row of a list whose rows differ in their numbers is not."""
    screen = phone.screen("android", chats(*before))
    ref = look(screen)[before[0]]
    phone.show(chats(*after))
    assert act(screen, ref)["ok"] is passes
