"""Records: what is kept of a session, how it changes, and what is left of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from operator import methodcaller
from pathlib import Path

import pytest

from orchestrator.errors import SessionNotFound
from orchestrator.models import ArmedDialog, Instance, ProcessInfo, SessionRecord, SessionState
from orchestrator.store import SqliteStore
from tests.store.helpers import NAMESPACE, Keeper, Peer, ahead


def test_a_record_outlives_its_store(home: Path, keeper: Keeper) -> None:
    """What one process wrote the next one reads, to the last field."""
    keeper.start("a")
    fields = {
        "capabilities": {"browserName": "chrome", "goog:chromeOptions": {"debuggerAddress": "localhost:1"}, "n": None},
        "processes": (ProcessInfo(pid=1, created=2.5, name="chromedriver", folder="/run/x"),),
        "vars": {"name": "[1, 2]"},
        "armed": ArmedDialog(accept=True, prompt_text="hi"),
        "events": ("a tab opened",),
        "url": "https://example.org/ä",
    }
    written = keeper.store.update(NAMESPACE, "a", lambda record: record.changed(**fields))
    another = SqliteStore(home)
    assert another.get(NAMESPACE, "a") == written
    another.disconnect()


def test_open_ones_in_order_of_creation(keeper: Keeper) -> None:
    """Closed ones are never listed, changed ones keep their place."""
    for name in ("c", "a", "b"):
        keeper.start(name)
    keeper.store.update(NAMESPACE, "c", lambda record: record.changed(url="about:blank"))
    keeper.close("a")
    assert keeper.ids() == ["c", "b"]


def test_another_namespace_has_other_sessions(keeper: Keeper) -> None:
    """A session is not found from a namespace that is not its own. # O14 O26."""
    keeper.start("a", namespace="another")
    assert keeper.store.get(NAMESPACE, "a") is None
    with pytest.raises(SessionNotFound, match=r"No session: a\. No session is open\."):
        keeper.store.update(NAMESPACE, "a", lambda record: record)
    with pytest.raises(SessionNotFound):
        keeper.store.resolve(NAMESPACE, "me", "a")


def test_nobody_changes_a_closed_record(keeper: Keeper) -> None:
    """A late answer does not bring a closed session back."""
    keeper.start("a")
    keeper.close("a")
    with pytest.raises(SessionNotFound):
        keeper.store.update(NAMESPACE, "a", lambda record: record.changed(state=SessionState.ACTIVE))
    closed = keeper.store.get(NAMESPACE, "a")
    assert closed
    assert closed.state is SessionState.CLOSED


def test_only_one_closes(keeper: Keeper) -> None:
    """Of two who close a session one is handed its record to end what it names."""
    keeper.start("a")
    first, second = keeper.close("a"), keeper.close("a")
    assert first
    assert first.state is SessionState.ACTIVE
    assert second is None


def test_closing_what_never_was(keeper: Keeper) -> None:
    """An id that was never open here is not found, with the nearest one named."""
    keeper.start("shop")
    with pytest.raises(SessionNotFound, match=r"No session: shob\. Open sessions: shop\. Did you mean 'shop'\?"):
        keeper.close("shob")


def test_the_condition_is_checked_when_closing(keeper: Keeper) -> None:
    """A session that was used after it was chosen for closing stays open. # X28."""
    keeper.start("a")
    seen: list[bool] = []

    def idle(record: SessionRecord, in_use: bool) -> bool:  # noqa: FBT001 (the store hands it over)
        seen.append(in_use)
        return record.id == "a" and not in_use

    entry = keeper.store.enter(NAMESPACE, "a", keeper.here)
    assert keeper.store.close(NAMESPACE, "a", holder=keeper.here, when=idle) is None
    keeper.store.leave(entry.ticket)
    assert keeper.store.close(NAMESPACE, "a", holder=keeper.here, when=idle)
    assert seen == [True, False]


def test_closed_ids_are_remembered_for_a_week(home: Path, keeper: Keeper) -> None:
    """After that an id was never open here."""
    keeper.start("a")
    keeper.close("a")
    for days, remembered in ((6.9, True), (7.1, False)):
        later = SqliteStore(home, clock=ahead(time.time, days * 86_400))
        assert (later.get(NAMESPACE, "a") is not None) is remembered
        later.disconnect()


def test_a_closed_record_forgets_what_it_held(keeper: Keeper) -> None:
    """The vars of a session end with it."""
    keeper.start("a")
    keeper.store.update(NAMESPACE, "a", lambda record: record.changed(vars={"token": "abc"}, events=("seen",)))
    keeper.close("a")
    closed = keeper.store.get(NAMESPACE, "a")
    assert closed
    assert (closed.vars, closed.events) == ({}, ())


def test_a_change_that_fails_changes_nothing(keeper: Keeper) -> None:
    """The record stays as it was and the store usable."""
    before = keeper.start("a")
    with pytest.raises(ValueError, match="keeps its namespace and id"):
        keeper.store.update(NAMESPACE, "a", lambda record: record.changed(id="b"))
    assert keeper.store.get(NAMESPACE, "a") == before


def test_ref_numbers_are_given_once(keeper: Keeper) -> None:
    """However many threads ask at once, no number is given twice."""
    keeper.start("a")
    with ThreadPoolExecutor(8) as threads:
        ranges = list(threads.map(lambda _: keeper.store.reserve_refs(NAMESPACE, "a", 7), range(40)))
    numbers = [number for first, end in ranges for number in range(first, end)]
    assert sorted(numbers) == list(range(1, 281))


def test_every_open_session(keeper: Keeper) -> None:
    """The folders of all namespaces' open sessions are in use, those of closed ones are not."""
    for name, namespace in (("a", NAMESPACE), ("b", "another"), ("c", NAMESPACE)):
        keeper.start(name, namespace=namespace)
        processes = (
            ProcessInfo(pid=1, created=1, name="driver", folder=f"/run/{name}"),
            ProcessInfo(pid=2, created=1, name="browser"),
        )
        keeper.store.update(namespace, name, partial(SessionRecord.changed, processes=processes))
    keeper.close("c")
    folders = {process.folder for record in keeper.store.every() for process in record.processes}
    assert folders - {None} == {"/run/a", "/run/b"}


def test_a_close_by_another_process_is_seen(keeper: Keeper, peer: Callable[[str, str], Peer]) -> None:
    """Several processes share one truth."""
    keeper.start("a")
    other = peer("close", "a")
    assert other.says() == "ready"
    other.go_on()
    assert other.says() == "done"
    assert keeper.ids() == []
    assert keeper.close("a") is None


def test_what_one_session_has_no_other_gets(keeper: Keeper) -> None:
    """A claim is one session's in all namespaces, until it is closed or lost; a ticket of a closed one gets nothing."""
    first, mine = keeper.reserve("a")
    _, theirs = keeper.reserve("b", namespace="another")
    assert keeper.store.claim(mine, "port 8100") is None
    holder = keeper.store.claim(theirs, "port 8100")
    assert holder is not None
    assert (holder.id, holder.namespace, holder.claims) == ("a", NAMESPACE, ("port 8100",))
    assert keeper.store.claim(theirs, "port 8101") is None
    assert keeper.store.claim(mine, "port 8100") is None
    keeper.lose(first.id)
    assert keeper.store.claim(theirs, "port 8100") is None
    keeper.close("a")
    with pytest.raises(SessionNotFound):
        keeper.store.claim(mine, "port 8102")


def test_a_browser_that_nobody_launches_any_more_is_no_others(keeper: Keeper) -> None:  # F2 O12
    """Who was starting one again is dead: sessions that would share it do not wait; while a turn lasts, they do."""
    seen: list[list[str]] = []

    def look(record: SessionRecord, others: list[SessionRecord]) -> SessionRecord:
        seen.append([one.id for one in others])
        return record

    for name, instance in (("ready", Instance(ready=True)), ("half", Instance()), ("own", None)):
        keeper.start(name)
        keeper.store.update(NAMESPACE, name, methodcaller("changed", instance=instance))
    keeper.start("me")
    mine = keeper.store.enter(NAMESPACE, "me", keeper.here).ticket
    half = keeper.store.enter(NAMESPACE, "half", keeper.here).ticket
    keeper.store.among(mine, look)
    keeper.store.leave(half)
    keeper.store.among(mine, look)
    assert seen == [["ready", "half", "own"], ["ready", "own"]]
