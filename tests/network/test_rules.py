"""Which rule a request meets."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.network.rules import Request, Rule, first


def request(method: str = "GET", **headers: str) -> Request:
    """A request as the browser tells it."""
    return Request({"requestId": "1", "request": {"url": "http://a/b", "method": method, "headers": headers}})


def rule(action: Any, **fields: Any) -> Rule:
    """A rule for that address."""
    return Rule(**{"action": action, "url": "/b", **fields})


@pytest.mark.parametrize(
    ("rules", "waits", "met"),
    [
        ([], 0, None),
        ([rule("block", url="/c")], 0, None),
        ([rule("block"), rule("fulfil")], 0, "block"),
        ([rule("fulfil", method="POST"), rule("block")], 0, "block"),
        ([rule("delay", ms=5), rule("block")], 5, "block"),
        ([rule("delay", ms=5), rule("delay", ms=9)], 5, None),
        ([rule("block"), rule("delay", ms=5)], 0, "block"),
    ],
)
def test_the_first_rule_counts(rules: list[Rule], waits: int, met: str | None) -> None:
    """A delay leaves the rest to the others."""
    found, one = first(rules, request())
    assert (found, one and one.action) == (waits, met)


def test_a_preflight_is_as_what_it_asks_for() -> None:
    """The rule of the request that follows decides of it."""
    asks = request("OPTIONS", **{"Access-Control-Request-Method": "PUT"})
    assert asks.preflight
    assert first([rule("block", method="PUT")], asks)[1]
    assert not first([rule("block", method="OPTIONS")], asks)[1]
    assert first([rule("block", method="OPTIONS")], request("OPTIONS"))[1]
