"""The registry: resolving a caller's session ids, and the operations on an id."""

from __future__ import annotations

import anyio
import pytest

from orchestrator.errors import InvalidArgument, NoSession, SessionExists, SessionNotFound
from orchestrator.models.session import SessionRecord, SessionState, SessionType
from orchestrator.sessions.registry import SessionRegistry, make_caller
from orchestrator.sessions.store.types import Ticket
from tests.sessions.store.helpers import NAMESPACE, Keeper

pytestmark = pytest.mark.anyio
BROWSER = SessionType.BROWSER


def activate(registry: SessionRegistry, ticket: Ticket) -> SessionRecord | None:
    """End a reservation with an active session."""
    change = {"state": SessionState.ACTIVE, "remote_session_id": "remote"}
    return registry.store.leave_lane(ticket, lambda record: record.with_changes(**change))


async def start(registry: SessionRegistry, wanted: str | None = None) -> str:
    """Start a session."""
    record, ticket = await registry.reserve_session(BROWSER, wanted, provider="local")
    activate(registry, ticket)
    return record.id


async def test_an_explicit_session_id_resolves_with_or_without_its_default_context(
    registry: SessionRegistry,
) -> None:  # W6 F2
    """A given id is that session, however its default context is spelled."""
    await start(registry, "a")
    assert await registry.resolve("a") == await registry.resolve("a:default") == "a"


async def test_an_omitted_session_id_means_the_current_session(registry: SessionRegistry) -> None:  # W7
    """Without an id the current session is meant."""
    await start(registry, "user-a")
    await start(registry, "user-b")
    assert await registry.resolve() == "user-a"
    assert await registry.set_current("user-b:default") == "user-b"
    assert await registry.resolve() == "user-b"


async def test_an_omitted_session_id_without_any_session_is_refused_with_advice(registry: SessionRegistry) -> None:
    """The message reports that there is none, and how to start one."""
    with pytest.raises(NoSession) as caught:
        await registry.resolve()
    assert str(caught.value) == "No session: none active. No session is open. Start one with start_browser."
    assert await registry.list_owned() == []


async def test_an_unknown_session_id_is_refused_with_the_open_and_the_nearest_ids(
    registry: SessionRegistry,
) -> None:  # W28
    """The message lists the open ids and offers the nearest."""
    await start(registry, "shop")
    await start(registry, "chat")
    with pytest.raises(SessionNotFound) as caught:
        await registry.resolve("shopp")
    assert str(caught.value) == "No session: shopp. Open sessions: shop, chat. Did you mean 'shop'?"


@pytest.mark.parametrize("given", ["../x", "", "x" * 300, "x\n"])
async def test_an_invalid_session_id_is_refused_and_reserves_nothing(registry: SessionRegistry, given: str) -> None:
    """An invalid id is refused wherever one is accepted, and nothing is reserved."""
    for attempt in (registry.resolve, registry.set_current, registry.close, registry.get):
        with pytest.raises(InvalidArgument):
            await attempt(given)
    with pytest.raises(InvalidArgument):
        await registry.reserve_session(BROWSER, given, provider="local")
    assert await registry.list_with_current() == ([], None)


async def test_a_browser_context_is_a_session_of_its_own(registry: SessionRegistry) -> None:  # F1
    """A context has a record of its own, and the default context has the name of the instance."""
    names = [(await registry.reserve_session(BROWSER, name, provider="local"))[0].id for name in ("x:ann", "x:default")]
    assert names == ["x:ann", "x"]


async def test_a_session_of_another_namespace_is_neither_found_nor_listed(
    registry: SessionRegistry, keeper: Keeper
) -> None:  # O14 O26
    """Another namespace's session is neither found nor listed."""
    keeper.start("a", namespace="another")
    with pytest.raises(SessionNotFound):
        await registry.resolve("a")
    assert await registry.list_with_current() == ([], None)


async def test_a_reserved_session_is_listed_as_starting_and_then_as_active(registry: SessionRegistry) -> None:  # W13
    """A reserved id is listed as starting, then as active; the caller owns it."""
    record, ticket = await registry.reserve_session(BROWSER, "a", provider="local", remote_url="http://localhost")
    assert (record.state, record.owner, record.namespace) == (SessionState.STARTING, registry.caller.key, NAMESPACE)
    assert await registry.list_with_current() == ([record], "a")
    with pytest.raises(SessionExists, match="starting"):
        await registry.reserve_session(BROWSER, "a", provider="local")
    active = activate(registry, ticket)
    assert active
    assert (active.state, active.remote_url) == (SessionState.ACTIVE, "http://localhost")
    assert await registry.list_owned() == [active]


async def test_a_failed_start_frees_its_session_id_and_keeps_its_reason(registry: SessionRegistry) -> None:
    """A failed start frees its id, its reason is reported when asked for, and closing it is no error."""
    _, ticket = await registry.reserve_session(BROWSER, "a", provider="local")
    change = {"state": SessionState.CLOSED, "lost_reason": "chromedriver is missing."}
    registry.store.leave_lane(ticket, lambda record: record.with_changes(**change))
    with pytest.raises(SessionNotFound, match=r"Its start failed: chromedriver is missing\."):
        await registry.resolve("a")
    assert await registry.list_with_current() == ([], None)
    assert await registry.close("a") is None
    assert await start(registry, "a") == "a"


async def test_a_start_that_was_closed_does_not_bring_its_session_back(registry: SessionRegistry) -> None:
    """A start that finishes after the close does not reopen its session."""
    _, ticket = await registry.reserve_session(BROWSER, "a", provider="local")
    assert await registry.close("a")
    assert activate(registry, ticket) is None
    assert await registry.list_with_current() == ([], None)


async def test_another_callers_session_can_be_chosen_but_is_not_owned(
    registry: SessionRegistry, keeper: Keeper
) -> None:
    """Another caller's session is listed and can be chosen, but stays that caller's."""
    keeper.caller("you")
    keeper.start("theirs", owner="you")
    records, current = await registry.list_with_current()
    assert [record.id for record in records] == ["theirs"]
    assert (current, await registry.list_owned()) == (None, [])
    await registry.set_current("theirs")
    assert await registry.resolve() == "theirs"


async def test_closing_a_closed_session_is_no_error_but_an_unknown_one_is(registry: SessionRegistry) -> None:
    """An id that was open here before is known as closed; one never seen is not found."""
    await start(registry, "a")
    closed = await registry.close("a")
    assert closed
    assert closed.remote_session_id == "remote"
    assert await registry.close("a") is None
    with pytest.raises(SessionNotFound):
        await registry.close("b")


async def test_sessions_of_a_caller_that_leaves_are_adopted_by_the_next_one(registry: SessionRegistry) -> None:
    """The next caller of the namespace adopts the sessions of one that left."""
    await start(registry, "a")
    await registry.forget()
    another = SessionRegistry(registry.store, make_caller(), NAMESPACE)
    assert await another.enrol() == ["a"]
    assert await another.resolve() == "a"


async def test_session_ids_are_resolved_in_the_order_of_the_calls(registry: SessionRegistry) -> None:  # F12
    """A call with an id and one without stay in the order in which they were made."""
    await start(registry, "a")
    order: list[int] = []

    async def ask(number: int) -> None:
        await registry.resolve("a" if number % 2 else None)
        order.append(number)

    async with anyio.create_task_group() as group:
        for number in range(50):
            group.start_soon(ask, number)
    assert order == list(range(50))
