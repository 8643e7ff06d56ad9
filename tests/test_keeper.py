"""The keeper as a process of its own: what it ends, what it leaves, and when it comes and goes."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

import anyio
import psutil
import pytest

from orchestrator import folders, leases, processes
from orchestrator.activity import entries
from orchestrator.keeping import _FOUND_IN, _PROGRAM, Keeping
from orchestrator.living import Process, gone
from orchestrator.models import Caller, ProcessInfo, SessionRecord, SessionState, SessionType
from orchestrator.sessions import Book
from orchestrator.store import Holder, SqliteStore

NAMESPACE = "kept"
PATIENCE = 30.0
LONG = 1000.0
"""Seconds that no test lasts."""
SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)"]
MOST = 25e6
"""Bytes of memory that a keeper may take."""


def until(look: Callable[[], Any], what: str) -> Any:
    """Wait for something to see, and return it."""
    deadline = time.monotonic() + PATIENCE
    while not (seen := look()):
        assert time.monotonic() < deadline, f"never came: {what}"
        time.sleep(0.01)
    return seen


class House:
    """A home with sessions whose processes only sleep, and the keepers that were started for it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.store = SqliteStore(home)
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self) -> subprocess.Popen[bytes]:
        """Start a keeper as servers do."""
        command = [sys.executable, "-I", str(_PROGRAM), str(self.home), *_FOUND_IN]
        self.started.append(subprocess.Popen(command))
        return self.started[-1]

    def keeper(self) -> Process | None:
        """The keeper that is there."""
        with closing(sqlite3.connect(self.home / "sessions.db")) as db:
            return leases.keeper(db)

    def keep(self) -> psutil.Process:
        """Start a keeper and wait until it is there."""
        child = self.start()
        until(self.keeper, "the keeper")
        return psutil.Process(child.pid)

    def arrive(self, key: str) -> str:
        """A caller that this process stands for."""
        self.store.register(Caller(key=key, **Holder.here()._asdict()), NAMESPACE)
        return key

    def session(self, name: str, owner: str, *, ttl: float, **fields: Any) -> SessionRecord:
        """A session that is active; its owner is dead unless it has arrived."""
        now = time.time()

        def draft(session_id: str) -> SessionRecord:
            known = {"id": session_id, "namespace": NAMESPACE, "type": SessionType.BROWSER, "provider": "local"}
            times = {"created_at": now, "last_active_at": now, "limits": {"park": ttl}}
            return SessionRecord(**{**known, **times, "owner": owner, **fields})

        record, ticket = self.store.reserve(
            NAMESPACE, SessionType.BROWSER, name, draft, max_sessions=None, holder=Holder.here()
        )
        if record.state is not SessionState.STARTING:
            self.store.leave(ticket)
            return record
        after = self.store.leave(ticket, lambda one: one.changed(state=SessionState.ACTIVE))
        assert after
        return after

    def sleeper(self) -> ProcessInfo:
        """A process with a folder, as a driver has one."""
        folder = folders.make_folder(self.home)
        return processes.spawn("sleeper", SLEEPER, folder=folder, env=None, record=lambda _: None)

    def record(self, name: str) -> SessionRecord:
        """The record as it is now, also when it is closed."""
        found = self.store.get(NAMESPACE, name)
        assert found
        return found

    def is_closed(self, name: str) -> bool:
        """Whether the session was ended."""
        return self.record(name).state is SessionState.CLOSED


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A home that has no keeper; whatever it has when the test is over is gone then."""
    house = House(tmp_path / "home")
    yield house
    closed = [house.store.close(NAMESPACE, record.id) for record in house.store.open(NAMESPACE)]
    processes.end([process for record in closed if record for process in record.processes])
    for child in house.started:
        child.wait(PATIENCE)
    house.store.disconnect()


def test_what_its_caller_left_is_ended_when_its_time_is_over(house: House) -> None:  # B12 B13 B34 W33
    """A dead caller's session is parked, then its record is closed, its processes end, its folder and storage go.

    Its log says so.
    """
    driver = house.sleeper()
    record = house.session("a", "dead", ttl=0.5, processes=(driver,))
    storage = folders.storage_file(house.home, NAMESPACE, "a", record.created_at)
    storage.parent.mkdir()
    storage.write_text("{}")
    keeper = house.keep()
    until(lambda: house.is_closed("a"), "the end of the session")
    until(lambda: not processes.alive(driver), "the end of its process")
    until(lambda: not folders.all_of(house.home), "the end of its folder")
    until(lambda: not storage.exists(), "the end of its storage")
    assert house.record("a").lost_reason == leases.NOBODY_CAME
    until(lambda: gone(keeper), "the keeper's end")
    assert house.keeper() is None
    [entry] = entries(house.home, record)
    assert (entry.door, entry.pid, entry.action, entry.message) == ("keeper", keeper.pid, "close", leases.NOBODY_CAME)


def test_a_living_callers_session_is_not_its_business(house: House) -> None:  # B13 O12
    """While its caller lives a session is as it was, however short its time would be; the other one is ended."""
    me = house.arrive("me")
    house.session("mine", me, ttl=0)
    house.session("left", "dead", ttl=0)
    house.keep()
    until(lambda: house.is_closed("left"), "the end of the one that was left")
    assert house.record("mine").state is SessionState.ACTIVE
    house.store.forget(me)
    until(lambda: house.is_closed("mine"), "the end of the other one")


def test_what_is_too_old_ends_while_it_is_parked(house: House) -> None:  # O10 O11 B35
    """Its age counts while nobody is there, too; what a living server has, or what was started again, is left alone."""
    me = house.arrive("me")
    old: dict[str, Any] = {"limits": {"park": LONG, "age": 0.5}, "remote_session_id": "remote"}
    house.session("mine", me, ttl=LONG, **old)
    house.session("fresh", "dead", ttl=LONG, **old, fresh_since=time.time() + LONG)
    house.session("left", "dead", ttl=LONG, **old)
    house.keep()
    until(lambda: house.is_closed("left"), "the end of the one that is too old")
    assert house.record("left").lost_reason == leases.TOO_OLD
    assert house.record("fresh").state is SessionState.PARKED
    assert house.record("mine").state is SessionState.ACTIVE


@pytest.mark.parametrize("change", ["json_set(record, '$.tomorrow', 1)", "json_remove(record, '$.createdAt')", "'{'"])
def test_what_no_version_of_ours_wrote_hinders_nothing(house: House, change: str) -> None:  # B13 O12
    """A dead caller's session whose record is another version's, or damaged: it ends as any, and so do the others."""
    driver = house.sleeper()
    (Path(str(driver.folder)) / "owner.json").write_text('{"pid": 4194303, "created": 1.0}')
    house.session("odd", "dead", ttl=0, processes=(driver,))
    house.session("a", "dead", ttl=0)
    with closing(sqlite3.connect(house.home / "sessions.db")) as db:
        db.execute(f"UPDATE sessions SET record = {change} WHERE id = 'odd'")  # noqa: S608 - our own words
        db.commit()
    keeper = house.keep()
    until(lambda: house.is_closed("a"), "the end of the other one")
    until(lambda: not processes.alive(driver), "the end of its process")
    until(lambda: gone(keeper), "the keeper's end")
    assert house.store.get(NAMESPACE, "odd") is None
    assert house.store.unreadable() == []


def test_what_is_in_use_is_left_until_it_is_not(house: House) -> None:  # B21 O12
    """A call that runs on a session keeps it, though its time is over and its caller dead."""
    house.session("a", "dead", ttl=0)
    entry = house.store.enter(NAMESPACE, "a", Holder.here())
    house.session("b", "dead", ttl=0)
    house.keep()
    until(lambda: house.is_closed("b"), "the end of the one that nobody uses")
    assert house.record("a").state is SessionState.ACTIVE
    house.store.leave(entry.ticket)
    until(lambda: house.is_closed("a"), "the end of the other one")


def test_a_first_parks_time_does_not_end_the_second(house: House) -> None:  # B14 B19 B20
    """Parked, restored before its time is over, parked again: only the second time counts."""
    me = house.arrive("me")
    house.session("a", me, ttl=3)
    house.session("b", me, ttl=3)
    house.keep()
    assert [one.id for one in house.store.park(me, lambda _: True)] == ["a", "b"]
    first = house.record("a").parked_until
    assert first
    entry = house.store.enter(NAMESPACE, "a", Holder.here())
    house.store.restore(entry.ticket, me, LONG)
    house.store.leave(entry.ticket)
    assert house.record("a").parked_until is None
    house.store.park(me, lambda _: True)
    until(lambda: house.is_closed("b"), "the end of the one that was parked once")
    assert time.time() >= first
    assert house.record("a").state is SessionState.PARKED


def test_restoring_and_expiring_exclude_each_other(house: House) -> None:  # B19 B21
    """Whoever comes at the moment of the end finds a session that is its own, or none: never one that is ended."""
    me = house.arrive("me")
    ended = []
    for number in range(20):
        name = f"s{number}"
        house.session(name, "dead", ttl=0.4 + number / 20, processes=(driver := house.sleeper(),))
        ended.append((name, driver))
    house.keep()
    for name, driver in ended:
        wait = house.record(name).parked_until or time.time() + 0.4
        time.sleep(max(0.0, wait - time.time()))  # the very moment is what is looked for
        try:
            entry = house.store.enter(NAMESPACE, name, Holder.here())
        except KeyError:
            assert house.is_closed(name)
            continue
        assert house.store.restore(entry.ticket, me, LONG).owner == me
        house.store.leave(entry.ticket)
        assert processes.alive(driver), name


def test_two_parks_at_once_are_one(house: House) -> None:  # B3 B4
    """End of input and a signal at the same moment: one time begins, and nothing is ended."""
    me = house.arrive("me")
    house.session("a", me, ttl=LONG)
    parked: list[float | None] = []

    def park() -> None:
        parked.extend(one.parked_until for one in house.store.park(me, lambda _: True))

    threads = [threading.Thread(target=park) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert parked == [house.record("a").parked_until] * 2


def test_what_died_in_its_start_is_cleared(house: House) -> None:  # O12 X22
    """A start whose server was killed: it is lost, then gone with all that it had begun, recorded or not."""
    recorded, unrecorded = house.sleeper(), house.sleeper()
    assert unrecorded.folder
    dead = {"pid": 2**22 - 1, "created": 1.0}
    for one in (recorded, unrecorded):
        (Path(str(one.folder)) / "owner.json").write_text(f'{{"pid": {dead["pid"]}, "created": 1.0}}')
    now = time.time()
    draft = SessionRecord(
        id="a",
        namespace=NAMESPACE,
        type=SessionType.BROWSER,
        provider="local",
        owner="dead",
        created_at=now,
        last_active_at=now,
        limits={"park": 0.2},
        processes=(recorded,),
    )
    taken = Holder(**dead)  # type: ignore[arg-type]
    house.store.reserve(NAMESPACE, SessionType.BROWSER, "a", lambda _: draft, max_sessions=None, holder=taken)
    keeper = house.keep()
    until(lambda: house.is_closed("a"), "its end")
    assert house.record("a").lost_reason == leases.STARTER_DIED
    until(lambda: gone(keeper), "the keeper's end")
    assert not processes.alive(recorded)
    assert not processes.alive(unrecorded)
    assert not folders.all_of(house.home)


def test_what_a_server_did_not_bring_to_its_end_is_ended(house: House) -> None:  # O12 F36 X40 X41
    """A session is closed, and its server dies while it ends the processes: the keeper stays until that is done."""
    driver = house.sleeper()
    house.session("a", house.arrive("me"), ttl=LONG, processes=(driver,))
    keeper = house.keep()
    house.store.close(NAMESPACE, "a")
    house.session("b", "dead", ttl=0)
    until(lambda: house.is_closed("b"), "the end of another one")
    assert processes.alive(driver)
    assert keeper.is_running()
    (Path(str(driver.folder)) / "owner.json").write_text('{"pid": 4194303, "created": 1.0}')
    until(lambda: not processes.alive(driver), "the end of its process")
    until(lambda: gone(keeper), "the keeper's end")
    assert not folders.all_of(house.home)


def test_what_another_record_names_is_not_ended(house: House) -> None:  # O12
    """Two sessions of one browser: it ends with the last of them."""
    me = house.arrive("me")
    shared, own = house.sleeper(), house.sleeper()
    house.session("a", "dead", ttl=0, processes=(shared, own))
    house.session("b", me, ttl=0, processes=(shared,))
    house.keep()
    until(lambda: not processes.alive(own), "the end of what was its own")
    assert processes.alive(shared)
    house.store.forget(me)
    until(lambda: not processes.alive(shared), "the end of what both had")


def test_what_was_detached_with_another_is_not_ended(house: House) -> None:  # W38 X23
    """One of two sessions of a browser was handed to the user, and the browser with it."""
    shared = house.sleeper()
    house.session("a", "dead", ttl=0, processes=(shared,))
    folders.release(Path(str(shared.folder)))
    keeper = house.keep()
    until(lambda: house.is_closed("a"), "the end of the session")
    until(lambda: gone(keeper), "the keeper's end")
    assert processes.alive(shared)
    processes.end([shared])


def test_several_that_start_at_once_are_one(house: House) -> None:  # B13
    """Of five keepers that start at the same time one stays; the others end by themselves."""
    house.session("a", house.arrive("me"), ttl=LONG)
    children = [house.start() for _ in range(5)]
    until(lambda: sum(child.poll() is not None for child in children) == 4, "the end of the others")
    (left,) = [child for child in children if child.poll() is None]
    keeper = house.keeper()
    assert keeper
    assert keeper.pid == left.pid
    assert all(child.returncode == 0 for child in children if child is not left)


async def test_starts_at_once_miss_one_keeper(house: House) -> None:  # B13
    """However many sessions a server starts at a time, it starts one keeper."""
    house.session("a", me := house.arrive("me"), ttl=LONG)
    keeping = Keeping(Book(house.store, Caller(key=me, **Holder.here()._asdict()), NAMESPACE), house.home)
    async with anyio.create_task_group() as starts:
        for _ in range(5):
            starts.start_soon(keeping.ensure)
    keeper = until(house.keeper, "the keeper")
    started = [child.pid for child in psutil.Process().children() if str(house.home) in child.cmdline()]
    assert started == [keeper.pid]


def test_a_killed_keeper_is_in_nobodys_way(house: House) -> None:  # B13
    """Its row is left behind; the next one takes its place and goes on with what stands in the records."""
    house.session("a", "dead", ttl=2)
    first = house.keep()
    since = until(lambda: house.record("a").parked_until, "its time to begin")
    first.kill()
    first.wait()
    assert house.store.lacks_keeper()
    house.keep()
    assert house.record("a").parked_until in {since, None} or house.is_closed("a")
    until(lambda: house.is_closed("a"), "the end of the session")
    assert time.time() >= since


def test_it_goes_with_its_home(house: House) -> None:
    """Where the records are removed, nothing is kept; what ran in a folder that is removed, too, is ended."""
    gone, there = house.sleeper(), house.sleeper()
    house.session("a", house.arrive("me"), ttl=LONG, processes=(gone, there))
    keeper = house.keep()
    store = house.home / "sessions.db"
    store.rename(store.with_name("moved.db"))
    shutil.rmtree(str(gone.folder))
    keeper.wait(PATIENCE)
    store.with_name("moved.db").rename(store)
    assert (processes.alive(gone), processes.alive(there)) == (False, True)


def test_it_is_small(house: House) -> None:
    """It loads none of the heavy packages, and stays below its limit after it ended a session, far ones included."""
    house.session("a", house.arrive("me"), ttl=LONG)
    house.session("b", "dead", ttl=0, processes=(house.sleeper(),))
    with Remote() as remote:
        house.session("c", "dead", ttl=0, remote_url=remote.url, remote_session_id="c")
        keeper = house.keep()
        until(lambda: house.is_closed("b") and house.is_closed("c"), "the end of two")
        until(lambda: remote.asked == ["DELETE /session/c"], "the end at the remote end")
    assert keeper.memory_info().rss <= MOST
    loaded = "import orchestrator.keeper.rounds, sys; print(*sys.modules)"
    told = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path += {_FOUND_IN}; {loaded}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not {"pydantic", "anyio", "selenium", "mcp", "structlog"} & set(told.stdout.split())


class Remote:
    """A remote end that notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        remote = self

        class Answers(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                remote.asked.append(f"{self.command} {self.path}")
                self.send_response(200)
                self.end_headers()

            do_DELETE = do_GET  # noqa: N815 — the library's word

            def log_message(self, *_: Any) -> None:
                """Nothing to say."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def test_far_sessions_are_kept_alive_and_ended_where_they_live(house: House) -> None:  # B12 B34
    """Parked, its remote end hears of it at a third of its own limit, at the end it is asked to end it.

    What was attached is let go, and what needs credentials is left to its remote end.
    """
    with Remote() as remote:
        far = {"remote_url": remote.url, "keep_alive": 0.9}
        house.session("grid", "dead", ttl=1.2, remote_session_id="grid", **far)
        house.session("attached", "dead", ttl=0, remote_session_id="attached", owned=False, remote_url=remote.url)
        house.session("cloud", "dead", ttl=0, remote_session_id="cloud", secret="NAME", remote_url=remote.url)
        house.keep()
        until(lambda: all(house.is_closed(name) for name in ("grid", "attached", "cloud")), "their end")
        until(lambda: "DELETE /session/grid" in remote.asked, "the end of the one on a Grid")
    assert "GET /session/grid/timeouts" in remote.asked
    assert not [asked for asked in remote.asked if "attached" in asked or "cloud" in asked]


def test_it_does_next_to_nothing(house: House) -> None:
    """A hundred parked sessions cost it less than a hundredth of a processor."""
    me = house.arrive("me")
    for number in range(100):
        house.session(f"s{number}", me, ttl=LONG)
    house.store.park(me, lambda _: True)
    keeper = house.keep()
    until(lambda: sum(keeper.cpu_times()[:2]) > 0, "its start")
    busy = sum(keeper.cpu_times()[:2])
    time.sleep(3)  # what is measured is that nothing happens
    assert sum(keeper.cpu_times()[:2]) - busy <= 0.1
