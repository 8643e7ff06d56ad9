"""The book: which session a caller means, and what it may do with an id."""

from __future__ import annotations

import anyio
import pytest

from orchestrator.errors import InvalidArgument, NoSession, SessionExists, SessionNotFound
from orchestrator.models import SessionState, SessionType
from orchestrator.sessions import Book, this_process
from tests.store.helpers import NAMESPACE, Keeper

pytestmark = pytest.mark.anyio
BROWSER = SessionType.BROWSER


async def start(book: Book, wanted: str | None = None) -> str:
    """Start a session."""
    record, ticket = await book.start(BROWSER, wanted, provider="local")
    await book.commit(ticket, remote_session_id="remote")
    return record.id


async def test_an_explicit_id(book: Book) -> None:
    """A given id is that session, however its default context is spelled. # W6 W7 F1."""
    await start(book, "a")
    assert await book.resolve("a") == await book.resolve("a:default") == "a"


async def test_an_omitted_id(book: Book) -> None:
    """Without an id the current session is meant. # W10 X1."""
    await start(book, "user-a")
    await start(book, "user-b")
    assert await book.resolve() == "user-a"
    assert await book.set_current("user-b:default") == "user-b"
    assert await book.resolve() == "user-b"


async def test_no_session_at_all(book: Book) -> None:
    """The message says that there is none, and how to get one. # W23."""
    with pytest.raises(NoSession) as caught:
        await book.resolve()
    assert str(caught.value) == "No session: none active. No session is open. Start one with start_browser."
    assert await book.mine() == []


async def test_an_unknown_id(book: Book) -> None:
    """The message lists the open ids and offers the nearest. # W28 W29 W30."""
    await start(book, "shop")
    await start(book, "chat")
    with pytest.raises(SessionNotFound) as caught:
        await book.resolve("shopp")
    assert str(caught.value) == "No session: shopp. Open sessions: shop, chat. Did you mean 'shop'?"


@pytest.mark.parametrize("given", ["../x", "", "x" * 300, "x\n"])
async def test_what_is_no_id_touches_nothing(book: Book, given: str) -> None:
    """It is refused wherever an id is taken, and nothing is reserved."""
    for attempt in (book.resolve, book.set_current, book.close, book.get):
        with pytest.raises(InvalidArgument):
            await attempt(given)
    with pytest.raises(InvalidArgument):
        await book.start(BROWSER, given, provider="local")
    assert await book.rows() == ([], None)


async def test_a_context_is_a_session_of_its_own(book: Book) -> None:  # F1 F10
    """It has a record of its own beside the instance's, whose default context has the instance's name."""
    names = [(await book.start(BROWSER, name, provider="local"))[0].id for name in ("x:ann", "x:default")]
    assert names == ["x:ann", "x"]


async def test_another_namespace(book: Book, keeper: Keeper) -> None:
    """Another namespace's session is neither found nor listed. # O14 O26."""
    keeper.start("a", namespace="another")
    with pytest.raises(SessionNotFound):
        await book.resolve("a")
    assert await book.rows() == ([], None)


async def test_a_reservation(book: Book) -> None:
    """A reserved id is listed as starting, then as active; the caller owns it. # W13."""
    record, ticket = await book.start(BROWSER, "a", provider="local", remote_url="http://localhost")
    assert (record.state, record.owner, record.namespace) == (SessionState.STARTING, book.caller.key, NAMESPACE)
    assert await book.rows() == ([record], "a")
    with pytest.raises(SessionExists, match="starting"):
        await book.start(BROWSER, "a", provider="local")
    active = await book.commit(ticket, remote_session_id="remote")
    assert active
    assert (active.state, active.remote_url) == (SessionState.ACTIVE, "http://localhost")
    assert await book.mine() == [active]


async def test_a_reservation_that_fails(book: Book) -> None:
    """Its id is free, its reason is told to who asks for it, and closing it is no error."""
    _, ticket = await book.start(BROWSER, "a", provider="local")
    await book.fail(ticket, "chromedriver is missing.")
    with pytest.raises(SessionNotFound, match=r"Its start failed: chromedriver is missing\."):
        await book.resolve("a")
    assert await book.rows() == ([], None)
    assert await book.close("a") is None
    assert await start(book, "a") == "a"


async def test_a_reservation_that_was_closed(book: Book) -> None:
    """A start that comes too late does not bring its session back."""
    _, ticket = await book.start(BROWSER, "a", provider="local")
    assert await book.close("a")
    assert await book.commit(ticket) is None
    assert await book.rows() == ([], None)


async def test_others_sessions(book: Book, keeper: Keeper) -> None:
    """Another caller's session is listed and can be chosen, but is not mine."""
    keeper.caller("you")
    keeper.start("theirs", owner="you")
    records, current = await book.rows()
    assert [record.id for record in records] == ["theirs"]
    assert (current, await book.mine()) == (None, [])
    await book.set_current("theirs")
    assert await book.resolve() == "theirs"


async def test_closing(book: Book) -> None:
    """An id that was open here before is known to be closed; one never seen is not found."""
    await start(book, "a")
    closed = await book.close("a")
    assert closed
    assert closed.remote_session_id == "remote"
    assert await book.close("a") is None
    with pytest.raises(SessionNotFound):
        await book.close("b")


async def test_a_caller_that_leaves(book: Book) -> None:
    """What it leaves is adopted by the next one."""
    await start(book, "a")
    await book.forget()
    another = Book(book.store, this_process(), NAMESPACE)
    assert await another.enrol() == ["a"]
    assert await another.resolve() == "a"


async def test_answers_come_in_the_order_of_the_questions(book: Book) -> None:
    """A call with an id and one without stay in the order in which they were made. # F12."""
    await start(book, "a")
    order: list[int] = []

    async def ask(number: int) -> None:
        await book.resolve("a" if number % 2 else None)
        order.append(number)

    async with anyio.create_task_group() as group:
        for number in range(50):
            group.start_soon(ask, number)
    assert order == list(range(50))
