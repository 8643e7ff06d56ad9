"""Tests that run on all platforms: selectors are the texts that users see."""

from __future__ import annotations

import pytest

from orchestrator.pytest_plugin.handles import RecordedSession
from orchestrator.pytest_plugin.soft_expect import SoftExpect


@pytest.mark.platforms("web", "ios", "android")
def test_a_product_is_put_into_the_cart(app_session: RecordedSession) -> None:
    """The cart has a line for it, and its price."""
    app_session.click_element("role=button[name=Add Mug]")
    app_session.click_element("role=button[name=Cart (1)]")
    app_session.expect("role=button[name=Remove Mug]", visible=True)
    app_session.expect("text=€18.50", visible=True)


@pytest.mark.platforms("web", "ios", "android")
@pytest.mark.users("alice")
@pytest.mark.users("bob", platform="web")
def test_large_orders_are_sent_free_of_charge(alice: RecordedSession, bob: RecordedSession) -> None:
    """Alice pays for two teapots alone, while Bob looks at his cart. The build that is tested fails here."""
    bob.click_element("role=button[name=Cart (0)]")
    alice.click_element("role=button[name=Add Teapot]")
    alice.click_element("role=button[name=Add Teapot]")
    alice.click_element("role=button[name=Cart (2)]")
    alice.click_element("role=button[name=Check out]")
    alice.set_value("label=Full name", "Ada By")
    alice.expect("text=€108.00", visible=True, timeout=500)


def test_an_order_is_placed(web: RecordedSession) -> None:
    """The buyer is thanked by name."""
    web.click_element("role=button[name=Add Bowl]")
    web.click_element("role=button[name=Cart (1)]")
    web.click_element("role=button[name=Check out]")
    details = {"Full name": "Ada Byron", "Email": "ada@example.com", "Street and number": "Row 1", "City": "London"}
    for label, value in details.items():
        web.set_value(f"label={label}", value)
    web.click_element("role=button[name=Pay now]")
    web.expect("text=Thank you, Ada Byron!", visible=True)


def test_an_order_without_a_name_is_not_sent(web: RecordedSession, soft_expect: SoftExpect) -> None:
    """The buyer is told what is missing, and stays where it is given."""
    web.click_element("role=button[name=Add Bowl]")
    web.click_element("role=button[name=Cart (1)]")
    web.click_element("role=button[name=Check out]")
    web.click_element("role=button[name=Pay now]")
    with soft_expect:
        web.expect("role=alert", text="Please give your full name.")
    with soft_expect:
        web.expect("label=Full name", visible=True)
