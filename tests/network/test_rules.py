"""The choice of the network rule for a request."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.network.rules import PausedRequest, Rule, find_rule


def request(method: str = "GET", **headers: str) -> PausedRequest:
    """Return a request as the browser reports it."""
    return PausedRequest({"requestId": "1", "request": {"url": "http://a/b", "method": method, "headers": headers}})


def rule(action: Any, **fields: Any) -> Rule:
    """Return a rule for that address."""
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
def test_the_first_matching_network_rule_counts(rules: list[Rule], waits: int, met: str | None) -> None:
    """A delay rule adds its wait and leaves the request to the next rule that matches."""
    found, one = find_rule(rules, request())
    assert (found, one and one.action) == (waits, met)


def test_a_cors_preflight_meets_the_rule_of_the_request_it_announces() -> None:
    """The method announced by a preflight decides which rule applies."""
    asks = request("OPTIONS", **{"Access-Control-Request-Method": "PUT"})
    assert asks.preflight
    assert find_rule([rule("block", method="PUT")], asks)[1]
    assert not find_rule([rule("block", method="OPTIONS")], asks)[1]
    assert find_rule([rule("block", method="OPTIONS")], request("OPTIONS"))[1]
