"""Limits of what a server remembers, however many callers, passwords and records it has had."""

from __future__ import annotations

import pytest

from orchestrator.models.session import SessionRecord, SessionType
from orchestrator.sessions import registry as registry_module
from orchestrator.sessions.registry import SessionRegistry
from orchestrator.sessions.store.records import RecordCache
from orchestrator.webdriver.credentials import Credentials

pytestmark = pytest.mark.anyio


async def test_callers_that_own_nothing_are_forgotten_from_five_hundred_on(
    registry: SessionRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection and the owners of open sessions stay; a forgotten agent can call again."""
    monkeypatch.setattr(registry_module, "_MOST_CALLERS", 10)
    agents = [
        registry.caller.model_copy(update={"key": f"{number:032x}", "named": True, "agent": f"agent {number}"})
        for number in range(30)
    ]
    owner = registry.for_caller(agents[0])
    record, _ = await owner.reserve_session(SessionType.BROWSER, provider="local")
    for agent in agents[1:]:
        await registry.for_caller(agent).list_with_current()
    known = {caller.key for caller in registry.callers}
    assert len(known) == 10
    assert {registry.caller.key, agents[0].key, agents[29].key} <= known
    assert registry.serves(await registry.get(record.id))  # type: ignore[arg-type]
    await registry.for_caller(agents[1]).list_with_current()
    assert agents[1].key in {caller.key for caller in registry.callers}


def test_passwords_of_a_thousand_urls_are_remembered() -> None:
    """The oldest is forgotten for a new one; one that is given again is new."""
    credentials = Credentials()
    for number in [*range(1_000), 0, 1_000]:
        credentials.give(f"http://user:{number}@host-{number}.test")
    assert credentials.given("http://host-0.test") == ("user", "0")
    assert credentials.given("http://host-1.test") is None
    assert credentials.given("http://host-1000.test") == ("user", "1000")


def test_parsed_records_are_bounded_in_size() -> None:
    """The same text of a store's row gives the same record; a full cache drops none for another row."""

    def text(number: int, size: int) -> str:
        variables = {"text": "x" * size}
        record = SessionRecord(
            id=f"s{number}", namespace="test", type=SessionType.BROWSER, provider="local", owner="me", vars=variables,
            created_at=0, last_active_at=0,
        )  # fmt: skip
        return record.model_dump_json()

    cache = RecordCache(10_000)
    first = cache.parse("a", 1, text(1, 10))
    assert cache.parse("a", 1, text(1, 10)) is first
    assert cache.parse("a", 2, text(2, 9_900)) is not cache.parse("a", 2, text(2, 9_900))
    assert cache.parse("a", 1, text(1, 10)) is first
    assert cache.records("a") == [first]
    other = cache.parse("b", 1, text(7, 10))
    assert cache.parse("b", 1, text(7, 10)) is other
    assert cache.parse("a", 1, text(1, 10)) is first
    changed = cache.parse("a", 1, text(1, 20))
    assert cache.records("a") == [changed]
    cache.keep_only("a", {2})
    assert cache.records("a") == []
    third = text(3, 5_000)
    assert cache.parse("a", 3, third) is cache.parse("a", 3, third)
