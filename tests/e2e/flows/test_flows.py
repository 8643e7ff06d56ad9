"""Applications that nobody of this project wrote, driven by the texts of answers alone, in calls and bytes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.e2e.flows.flows import FLOWS, Flow
from tests.e2e.harness import Home
from tests.needed import needed
from tests.servers.applications import missing

pytestmark = pytest.mark.full


@pytest.fixture(scope="module", autouse=True)
def applications() -> None:
    """Skip all if the applications are missing; fail instead where CI=true."""
    needed(missing())


@pytest.mark.timeout(300)
@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.name)
def test_a_flow_reaches_its_end_within_its_calls_and_bytes(flow: Flow, new_home: Callable[[], Home]) -> None:
    """Every selector comes from an answer; the end is read from the application's own data."""
    with new_home().serve() as server:
        agent = flow.run(server)
    print(f"{flow.name}: {agent.calls} calls, {agent.size} bytes")
    assert agent.calls <= flow.calls, [text[:200] for text in agent.read]
    assert agent.size <= flow.size, [len(text.encode()) for text in agent.read]
