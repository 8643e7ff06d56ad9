"""Records: fields of a session, their changes, and the rest after its end."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from operator import methodcaller
from pathlib import Path

import pytest

from orchestrator.errors import SessionNotFound
from orchestrator.models.session import ArmedDialog, Instance, ProcessInfo, SessionRecord, SessionState
from orchestrator.sessions.store.sqlite import SqliteStore
from tests.sessions.store.helpers import NAMESPACE, Keeper, Peer, ahead


def test_a_session_record_is_read_back_whole_by_another_store(home: Path, keeper: Keeper) -> None:
    """A second store reads every field that the first one wrote."""
    keeper.start("a")
    fields = {
        "capabilities": {"browserName": "chrome", "goog:chromeOptions": {"debuggerAddress": "localhost:1"}, "n": None},
        "processes": (ProcessInfo(pid=1, created=2.5, name="chromedriver", folder="/run/x"),),
        "vars": {"name": "[1, 2]"},
        "armed": ArmedDialog(accept=True, prompt_text="hi"),
        "events": ("a tab opened",),
        "url": "https://example.org/ä",
    }
    written = keeper.store.update(NAMESPACE, "a", lambda record: record.with_changes(**fields))
    another = SqliteStore(home)
    assert another.get(NAMESPACE, "a") == written
    another.disconnect()


def test_open_sessions_are_listed_in_order_of_creation(keeper: Keeper) -> None:
    """Closed sessions are never listed, changed ones keep their place."""
    for name in ("c", "a", "b"):
        keeper.start(name)
    keeper.store.update(NAMESPACE, "c", lambda record: record.with_changes(url="about:blank"))
    keeper.close("a")
    assert keeper.ids() == ["c", "b"]


def test_a_session_is_not_found_from_another_namespace(keeper: Keeper) -> None:  # O14 O26
    """A session is not found from a namespace that is not its own."""
    keeper.start("a", namespace="another")
    assert keeper.store.get(NAMESPACE, "a") is None
    with pytest.raises(SessionNotFound, match=r"No session: a\. No session is open\."):
        keeper.store.update(NAMESPACE, "a", lambda record: record)
    with pytest.raises(SessionNotFound):
        keeper.store.resolve(NAMESPACE, "me", "a")


def test_a_closed_session_record_cannot_be_changed(keeper: Keeper) -> None:
    """A late answer does not bring a closed session back."""
    keeper.start("a")
    keeper.close("a")
    with pytest.raises(SessionNotFound):
        keeper.store.update(NAMESPACE, "a", lambda record: record.with_changes(state=SessionState.ACTIVE))
    closed = keeper.store.get(NAMESPACE, "a")
    assert closed
    assert closed.state is SessionState.CLOSED


def test_only_the_first_close_of_a_session_gets_its_record(keeper: Keeper) -> None:
    """Of two who close a session one gets its record, to end its processes."""
    keeper.start("a")
    first, second = keeper.close("a"), keeper.close("a")
    assert first
    assert first.state is SessionState.ACTIVE
    assert second is None


def test_closing_an_unknown_session_names_the_nearest_id(keeper: Keeper) -> None:
    """An id that was never open here is not found, and the nearest one is named."""
    keeper.start("shop")
    with pytest.raises(SessionNotFound, match=r"No session: shob\. Open sessions: shop\. Did you mean 'shop'\?"):
        keeper.close("shob")


def test_a_sessions_close_condition_is_checked_at_the_moment_of_closing(keeper: Keeper) -> None:
    """A session that was used after it was chosen for closing stays open."""
    keeper.start("a")
    seen: list[bool] = []

    def idle(record: SessionRecord, in_use: bool) -> bool:  # noqa: FBT001 (the store hands it over)
        seen.append(in_use)
        return record.id == "a" and not in_use

    entry = keeper.store.join_lane(NAMESPACE, "a", keeper.here)
    assert keeper.store.close(NAMESPACE, "a", holder=keeper.here, when=idle) is None
    keeper.store.leave_lane(entry.ticket)
    assert keeper.store.close(NAMESPACE, "a", holder=keeper.here, when=idle)
    assert seen == [True, False]


def test_closed_session_ids_are_remembered_for_a_week(home: Path, keeper: Keeper) -> None:
    """A closed id is known for seven days and unknown after that."""
    keeper.start("a")
    keeper.close("a")
    for days, remembered in ((6.9, True), (7.1, False)):
        later = SqliteStore(home, clock=ahead(time.time, days * 86_400))
        assert (later.get(NAMESPACE, "a") is not None) is remembered
        later.disconnect()


def test_a_closed_session_record_keeps_no_vars_or_events(keeper: Keeper) -> None:  # F33 F35
    """The vars of a session end with it."""
    keeper.start("a")
    keeper.store.update(NAMESPACE, "a", lambda record: record.with_changes(vars={"token": "abc"}, events=("seen",)))
    keeper.close("a")
    closed = keeper.store.get(NAMESPACE, "a")
    assert closed
    assert (closed.vars, closed.events) == ({}, ())


def test_a_failed_update_leaves_the_session_record_unchanged(keeper: Keeper) -> None:
    """The record is unchanged and the store usable."""
    before = keeper.start("a")
    with pytest.raises(ValueError, match="keeps its namespace and id"):
        keeper.store.update(NAMESPACE, "a", lambda record: record.with_changes(id="b"))
    assert keeper.store.get(NAMESPACE, "a") == before


def test_ref_numbers_are_given_once(keeper: Keeper) -> None:
    """However many threads ask at once, no number is given twice."""
    keeper.start("a")
    with ThreadPoolExecutor(8) as threads:
        ranges = list(threads.map(lambda _: keeper.store.reserve_refs(NAMESPACE, "a", 7), range(40)))
    numbers = [number for first, end in ranges for number in range(first, end)]
    assert sorted(numbers) == list(range(1, 281))


def test_folders_of_open_sessions_in_all_namespaces_count_as_in_use(keeper: Keeper) -> None:
    """The folders of all namespaces' open sessions are in use, those of closed ones are not."""
    for name, namespace in (("a", NAMESPACE), ("b", "another"), ("c", NAMESPACE)):
        keeper.start(name, namespace=namespace)
        processes = (
            ProcessInfo(pid=1, created=1, name="driver", folder=f"/run/{name}"),
            ProcessInfo(pid=2, created=1, name="browser"),
        )
        keeper.store.update(namespace, name, partial(SessionRecord.with_changes, processes=processes))
    keeper.close("c")
    folders = {process.folder for record in keeper.store.list_all_open() for process in record.processes}
    assert folders - {None} == {"/run/a", "/run/b"}


def test_a_session_closed_by_another_process_is_seen_as_closed(
    keeper: Keeper, peer: Callable[[str, str], Peer]
) -> None:
    """A session that another process closed is not listed and cannot be closed again."""
    keeper.start("a")
    other = peer("close", "a")
    assert other.next_word() == "ready"
    other.go_on()
    assert other.next_word() == "done"
    assert keeper.ids() == []
    assert keeper.close("a") is None


def test_a_resource_claimed_by_one_session_is_refused_to_others(keeper: Keeper) -> None:
    """A claim is one session's in all namespaces, until it is closed or lost; a closed one's ticket claims nothing."""
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


def test_an_abandoned_browser_launch_is_not_waited_for_by_other_sessions(keeper: Keeper) -> None:  # O12
    """A browser that is not ready counts for sessions that would share it only while its launch goes on."""
    seen: list[list[str]] = []

    def look(record: SessionRecord, others: list[SessionRecord]) -> SessionRecord:
        seen.append([one.id for one in others])
        return record

    for name, instance in (("ready", Instance(ready=True)), ("half", Instance()), ("own", None)):
        keeper.start(name)
        keeper.store.update(NAMESPACE, name, methodcaller("with_changes", instance=instance))
    keeper.start("me")
    mine = keeper.store.join_lane(NAMESPACE, "me", keeper.here).ticket
    half = keeper.store.join_lane(NAMESPACE, "half", keeper.here).ticket
    keeper.store.change_among(mine, look)
    keeper.store.leave_lane(half)
    keeper.store.change_among(mine, look)
    assert seen == [["ready", "half", "own"], ["ready", "own"]]


def test_of_several_resources_each_session_gets_a_free_one_in_the_order_of_the_starts(keeper: Keeper) -> None:
    """A later start does not overtake an earlier one that waits, unless it takes another resource or has ended."""
    phones = ["phone a", "phone b"]
    tickets = [keeper.reserve(name)[1] for name in ("first", "second", "third", "fourth", "tablet")]
    first, second, third, fourth, tablet = tickets
    assert keeper.store.claim_one(first, phones, keeper.here).taken == "phone a"
    assert keeper.store.claim_one(second, phones, keeper.here).taken == "phone b"
    waiting = keeper.store.claim_one(third, phones, keeper.here)
    assert (waiting.taken, waiting.ahead) == (None, 0)
    assert {name: record.id for name, record in waiting.holders.items()} == {"phone a": "first", "phone b": "second"}
    assert keeper.store.claim_one(fourth, phones, keeper.here).ahead == 1
    assert keeper.store.claim_one(tablet, ["tablet"], keeper.here).taken == "tablet"
    keeper.close("first")
    assert keeper.store.claim_one(fourth, phones, keeper.here).taken is None
    assert keeper.store.claim_one(third, phones, keeper.here).taken == "phone a"
    keeper.lose("second")
    assert keeper.store.claim_one(fourth, phones, keeper.here).taken == "phone b"
