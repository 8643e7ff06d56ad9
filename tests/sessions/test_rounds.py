"""What is done for sessions without being asked, over a real store, with a clock that the test moves."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio
import anyio.abc
import pytest

from orchestrator.actions.catalogue import CATALOGUE
from orchestrator.activity import Activity
from orchestrator.closing import Closer
from orchestrator.duties import NEVER, Duty, Usage
from orchestrator.errors import SessionNotFound
from orchestrator.house import House
from orchestrator.limits import AgeLimit, IdleLimit
from orchestrator.models import SessionRecord
from orchestrator.reach import Reach
from orchestrator.registry import Providers
from orchestrator.restoring import Restorer
from orchestrator.rounds import LONGEST, Rounds
from orchestrator.runner import Runner
from orchestrator.secrets import Redactor
from orchestrator.sessions import Book, Lanes, Turn
from orchestrator.settings import Settings
from orchestrator.storage_state import StorageState
from tests.sessions.helpers import Held, fire, in_line, state
from tests.store.helpers import Keeper

pytestmark = pytest.mark.anyio


def _never(_: Turn, why: str, state: StorageState | None) -> None:
    """Nothing is started again here."""
    raise AssertionError(why, state)


class Clock:
    """A time that passes when the test says so; it begins with the test."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        """The time."""
        return self.now


class Watch:
    """The limits at work: `look` looks once, and waits until what was due is done."""

    def __init__(self, book: Book, duties: Callable[[Clock], list[Duty]]) -> None:
        self.clock = Clock()
        self._book = book
        self._duties = duties(self.clock)
        self.wait = 0.0

    async def look(self, after: float = 0.0) -> None:
        """Let time pass, then look."""
        self.clock.now += after
        async with anyio.create_task_group() as group:
            self.wait = await Rounds(self._book, self._duties, self.clock).look(group)


@pytest.fixture
async def watch(book: Book, tmp_path: Path) -> AsyncIterator[tuple[Watch, Lanes]]:
    """The limits of a caller without a browser, and the lanes that they share with its calls."""
    async with anyio.create_task_group() as group:
        lanes, settings, providers = Lanes(book, group), Settings.load(), Providers()
        reach = Reach(providers, settings, Redactor())
        activity = Activity(tmp_path, book.caller, Redactor())
        restorer = Restorer(book, reach, _never, tmp_path)
        house = House(CATALOGUE, settings)
        runner = Runner(lanes, book.store, reach, restorer, house, settings, Redactor(), activity)
        closer = Closer(book, lanes, runner, reach, providers, settings)
        yield Watch(book, lambda clock: [IdleLimit(closer, clock), AgeLimit(lanes, closer, clock=clock)]), lanes


def begin(keeper: Keeper, book: Book, session_id: str, **limits: float) -> SessionRecord:
    """A session that was used just now and has these limits; there is nothing at its remote end."""
    keeper.start(session_id, owner=book.caller.key)
    fresh = {"limits": limits, "last_active_at": time.time(), "owned": False}
    return book.store.update(book.namespace, session_id, lambda record: record.changed(**fresh))


async def test_who_is_idle_is_closed(  # W34 W47 W48 F33 F34 F35
    watch: tuple[Watch, Lanes], book: Book, keeper: Keeper
) -> None:
    """After its idle time and not before, and each by its own; a call begins the time anew."""
    looks, lanes = watch
    begun = begin(keeper, book, "short", idle=60)
    begin(keeper, book, "long", idle=3_600)
    await looks.look(after=50)
    assert looks.wait == pytest.approx(begun.last_active_at + 60 - looks.clock.now)
    assert state(book, "short") == "active"
    await looks.look(after=60)
    assert [state(book, "short"), state(book, "long")] == ["closed", "active"]
    with pytest.raises(SessionNotFound) as error:
        await lanes.run("short", lambda _: None)
    assert "It is closed: nobody used it for 1 minute." in error.value.hint


async def test_a_call_begins_the_time_anew(  # W47 F35 O28
    watch: tuple[Watch, Lanes], book: Book, keeper: Keeper
) -> None:
    """What was called a moment ago is not idle; lists and what the server does by itself are no calls."""
    looks, lanes = watch
    begin(keeper, book, "a", idle=60)
    book.store.update(book.namespace, "a", lambda record: record.changed(last_active_at=time.time() - 50))
    await lanes.run("a", lambda _: None)
    await looks.look(after=55)
    assert state(book, "a") == "active"
    before = book.store.open(book.namespace)[0].last_active_at
    await lanes.run("a", lambda _: None, renews=False)
    await book.rows()
    assert book.store.open(book.namespace)[0].last_active_at == before
    await looks.look(after=60)
    assert state(book, "a") == "closed"


async def test_work_in_flight_is_not_idle(  # W48 O9 O22
    watch: tuple[Watch, Lanes], book: Book, keeper: Keeper
) -> None:
    """A call that takes longer than the idle time is not interrupted, and counts until it ends."""
    looks, lanes = watch
    begin(keeper, book, "a", idle=60)
    held = Held()
    async with anyio.create_task_group() as group:
        call = fire(group, lanes, "a", held)
        await held.has_begun()
        await looks.look(after=3_600)
        assert state(book, "a") == "active"
        held.let.set()
        await call.end()
    assert call.result == "answer"
    assert looks.wait == LONGEST


async def test_who_is_too_old_is_closed_between_two_calls(  # O10 O11 O23 B35
    watch: tuple[Watch, Lanes], book: Book, keeper: Keeper
) -> None:
    """The call in flight is answered, and who waits behind it hears that the session's time is over."""
    looks, lanes = watch
    begin(keeper, book, "a", age=600)
    held = Held()
    async with anyio.create_task_group() as group:
        running = fire(group, lanes, "a", held)
        await held.has_begun()
        group.start_soon(looks.look, 601)
        await in_line(book, 2)
        behind = fire(group, lanes, "a")
        await in_line(book, 3)
        held.let.set()
        await running.end()
        await behind.end()
    assert running.result == "answer"
    assert isinstance(behind.error, SessionNotFound)
    assert (
        behind.error.hint == "It is closed: it was open for 10 minutes, which is as long as it may be. Start it again."
    )
    assert state(book, "a") == "closed"


async def test_age_is_not_renewed_by_calls(  # O10 O29
    watch: tuple[Watch, Lanes], book: Book, keeper: Keeper
) -> None:
    """It counts from the creation, however busy the session is."""
    looks, lanes = watch
    begun = begin(keeper, book, "a", age=600, idle=600)
    book.store.update(book.namespace, "a", lambda record: record.changed(created_at=begun.created_at - 400))
    await lanes.run("a", lambda _: None)
    await looks.look(after=100)
    assert looks.wait == LONGEST
    assert state(book, "a") == "active"
    await looks.look(after=200)
    assert state(book, "a") == "closed"


async def test_others_sessions_are_theirs(watch: tuple[Watch, Lanes], keeper: Keeper, book: Book) -> None:  # W48
    """A server ends what its caller owns, never what another living one does."""
    looks, _ = watch
    begin(keeper, book, "a", idle=60, age=60)
    book.store.update(book.namespace, "a", lambda record: record.changed(owner="another"))
    await looks.look(after=3_600)
    assert state(book, "a") == "active"


async def test_what_breaks_is_no_end_of_the_rest(book: Book, keeper: Keeper) -> None:
    """A remote end that answers nonsense, a provider that fails: the server goes on, and so do the other duties."""
    begin(keeper, book, "a")
    done: list[str] = []

    class Breaks(Duty):
        def left(self, usage: Usage, now: float) -> float:
            return -now if usage.ours else NEVER

        async def do(self, record: SessionRecord) -> None:
            done.append(record.id)
            raise TypeError("'NoneType' object is not subscriptable")

    class Works(Breaks):
        async def do(self, record: SessionRecord) -> None:
            done.append(record.id)

    async with anyio.create_task_group() as group:
        await Rounds(book, [Breaks(), Works()], Clock()).look(group)
    assert done == ["a", "a"]


async def test_one_look_is_one_look(book: Book, keeper: Keeper) -> None:  # W34
    """What is under way is not begun again, what is done is not done again at once, and a failure is no end."""
    begin(keeper, book, "a")
    begun: list[str] = []
    goes_on = anyio.Event()

    class Slow(Duty):
        def left(self, usage: Usage, now: float) -> float:
            return NEVER if usage.record.id == "b" else -now

        async def do(self, record: SessionRecord) -> None:
            begun.append(record.id)
            await goes_on.wait()
            raise SessionNotFound(record.id)

    clock = Clock()
    async with anyio.create_task_group() as group:
        rounds = Rounds(book, [Slow()], clock)
        await rounds.look(group)
        await rounds.look(group)
        goes_on.set()
        await anyio.wait_all_tasks_blocked()
        assert begun == ["a"]
        assert await rounds.look(group) == pytest.approx(1.0)
        clock.now += 1.5
        await rounds.look(group)
    assert begun == ["a", "a"]
