"""Tests of two users, each with a session."""

from __future__ import annotations

import pytest

from orchestrator.pytest_plugin.group import SessionGroup
from orchestrator.pytest_plugin.handles import RecordedSession


@pytest.mark.users("alice", "bob")
def test_each_buyer_has_a_cart(alice: RecordedSession, bob: RecordedSession) -> None:
    """What Alice puts into her cart is not in Bob's."""
    alice.click_element("role=button[name=Add Mug]")
    alice.expect("role=button[name=Cart (1)]", visible=True)
    bob.expect("role=button[name=Cart (0)]", visible=True)


@pytest.mark.users("alice")
@pytest.mark.users("bob", platform="ios")
def test_page_and_app_show_the_same_at_each_step(sessions: SessionGroup) -> None:
    """The page and the app have the same buttons, texts and prices."""
    sessions.run_in_step(
        [
            {"action": "click_element", "selector": "role=button[name=Add Planter]"},
            {"action": "click_element", "selector": "role=button[name=Cart (1)]"},
        ]
    )
    sessions.expect_same(of="elements")


@pytest.mark.users("alice", "bob", viewport={"width": 390, "height": 844})
def test_small_windows_show_all_products(sessions: SessionGroup) -> None:
    """Everyone sees the same four products."""
    for session in sessions.values():
        session.expect("role=listitem", count=4)
    sessions.expect_same(of="text")
