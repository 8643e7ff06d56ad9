"""The keeper as a process of its own: the sessions it ends or leaves, and its start and end."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

import anyio
import psutil
import pytest

from orchestrator.lifecycle.maintenance.keeper_launcher import _FOUND_IN, _PROGRAM, KeeperLauncher
from orchestrator.models.session import Caller, ProcessInfo, SessionRecord, SessionState, SessionType
from orchestrator.sessions.registry import SessionRegistry
from orchestrator.sessions.store import leases
from orchestrator.sessions.store.sqlite import SqliteStore
from orchestrator.sessions.store.types import Holder
from orchestrator.system import folders, processes
from orchestrator.system.activity import entries
from orchestrator.system.process_identity import ProcessKey, gone
from tests.lifecycle.helpers import LONG, SLEEPER
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.slow

NAMESPACE = "kept"
MOST = 25e6
"""Bytes of memory that a keeper may use."""


class KeeperTestbed:
    """A home with sessions whose processes only sleep, and its keepers."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.store = SqliteStore(home)
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self) -> subprocess.Popen[bytes]:
        """Start a keeper as servers do."""
        command = [sys.executable, "-I", str(_PROGRAM), str(self.home), *_FOUND_IN]
        self.started.append(subprocess.Popen(command))
        return self.started[-1]

    def keep_without_files(self, folder: Path) -> None:
        """Start a keeper from a copy of the package in this folder, and remove the copy once it runs."""
        package = _PROGRAM.parents[2]
        copy = shutil.copytree(package, folder / package.name, ignore=shutil.ignore_patterns("__pycache__"))
        program, others = copy / _PROGRAM.relative_to(package), _FOUND_IN[-1]
        # Without -S an editable install would make it import the files of the checkout.
        command = [sys.executable, "-I", "-S", *map(str, (program, self.home, folder, others))]
        self.started.append(subprocess.Popen(command))
        until(self.keeper, "the keeper")
        shutil.rmtree(folder)

    def keeper(self) -> ProcessKey | None:
        """The registered keeper."""
        with closing(sqlite3.connect(self.home / "sessions.db")) as db:
            return leases.keeper(db)

    def keep(self) -> psutil.Process:
        """Start a keeper and wait until it is registered, or has ended already, since little was to do."""
        child = self.start()
        process = psutil.Process(child.pid)
        until(lambda: self.keeper() or child.poll() is not None, "the keeper")
        return process

    def arrive(self, key: str) -> str:
        """Register a caller with this process as holder."""
        self.store.register(Caller(key=key, **Holder.current()._asdict()), NAMESPACE)
        return key

    def session(self, name: str, owner: str, *, ttl: float, **fields: Any) -> SessionRecord:
        """Add an active session; its owner counts as dead unless registered by `arrive`."""
        now = time.time()

        def draft(session_id: str) -> SessionRecord:
            known = {"id": session_id, "namespace": NAMESPACE, "type": SessionType.BROWSER, "provider": "local"}
            times = {"created_at": now, "last_active_at": now, "limits": {"park": ttl}}
            return SessionRecord(**{**known, **times, "owner": owner, **fields})

        record, ticket = self.store.reserve(
            NAMESPACE, SessionType.BROWSER, name, draft, max_sessions=None, holder=Holder.current()
        )
        if record.state is not SessionState.STARTING:
            self.store.leave_lane(ticket)
            return record
        after = self.store.leave_lane(ticket, lambda one: one.with_changes(state=SessionState.ACTIVE))
        assert after
        return after

    def expire(self, name: str) -> None:
        """Let the time of a parked session be over."""
        until(lambda: self.record(name).parked_until, "its lease")
        self.store.update(NAMESPACE, name, lambda record: record.with_changes(parked_until=time.time()))

    def sleeper(self) -> ProcessInfo:
        """Start a process with a folder, like a driver."""
        folder = folders.make_folder(self.home)
        return processes.spawn("sleeper", SLEEPER, folder=folder, env=None, record=lambda _: None)

    def record(self, name: str) -> SessionRecord:
        """Return the record as it is now, also when it is closed."""
        found = self.store.get(NAMESPACE, name)
        assert found
        return found

    def is_closed(self, name: str) -> bool:
        """Return True if the session was ended."""
        return self.record(name).state is SessionState.CLOSED


@pytest.fixture
def testbed(tmp_path: Path) -> Iterator[KeeperTestbed]:
    """A home without a keeper; its sessions and keepers are ended after the test."""
    testbed = KeeperTestbed(tmp_path / "home")
    yield testbed
    closed = [testbed.store.close(NAMESPACE, record.id) for record in testbed.store.list_open(NAMESPACE)]
    processes.end_processes([process for record in closed if record for process in record.processes])
    for child in testbed.started:
        child.wait(PATIENCE)
    testbed.store.disconnect()


def test_a_dead_callers_session_is_ended_when_its_park_time_is_over(testbed: KeeperTestbed) -> None:  # B12 W33
    """A dead caller's session is parked, then its record is closed, its processes end, its folder and storage go.

    The session's log has an entry about it.
    """
    driver = testbed.sleeper()
    record = testbed.session("a", "dead", ttl=0.5, processes=(driver,))
    storage = folders.storage_file(testbed.home, NAMESPACE, "a", record.created_at)
    storage.parent.mkdir()
    storage.write_text("{}")
    keeper = testbed.keep()
    until(lambda: testbed.is_closed("a"), "the end of the session")
    until(lambda: not processes.alive(driver), "the end of its process")
    until(lambda: not folders.all_of(testbed.home), "the end of its folder")
    until(lambda: not storage.exists(), "the end of its storage")
    assert testbed.record("a").lost_reason == leases.NOBODY_CAME
    until(lambda: gone(keeper), "the keeper's end")
    assert testbed.keeper() is None
    [entry] = entries(testbed.home, record)
    assert (entry.door, entry.pid, entry.action, entry.message) == ("keeper", keeper.pid, "close", leases.NOBODY_CAME)


def test_the_keeper_leaves_a_living_callers_session_alone(testbed: KeeperTestbed) -> None:  # O12 B19
    """A session of a living caller is unchanged, however short its park time; the dead caller's is ended."""
    me = testbed.arrive("me")
    testbed.session("mine", me, ttl=0)
    testbed.session("left", "dead", ttl=0)
    testbed.keep()
    until(lambda: testbed.is_closed("left"), "the end of the one that was left")
    assert testbed.record("mine").state is SessionState.ACTIVE
    testbed.store.forget(me)
    until(lambda: testbed.is_closed("mine"), "the end of the other one")


def test_a_parked_session_is_ended_at_its_maximum_age(testbed: KeeperTestbed) -> None:  # B35
    """A session ages while parked; one of a living server, or one that was recreated, is left alone."""
    me = testbed.arrive("me")
    old: dict[str, Any] = {"limits": {"park": LONG, "age": 0.5}, "remote_session_id": "remote"}
    testbed.session("mine", me, ttl=LONG, **old)
    testbed.session("fresh", "dead", ttl=LONG, **old, fresh_since=time.time() + LONG)
    testbed.session("left", "dead", ttl=LONG, **old)
    testbed.keep()
    until(lambda: testbed.is_closed("left"), "the end of the one that is too old")
    assert testbed.record("left").lost_reason == leases.TOO_OLD
    assert testbed.record("fresh").state is SessionState.PARKED
    assert testbed.record("mine").state is SessionState.ACTIVE


@pytest.mark.parametrize("change", ["json_set(record, '$.tomorrow', 1)", "json_remove(record, '$.createdAt')", "'{'"])
def test_a_dead_callers_session_with_an_unreadable_record_is_ended_like_any_other(
    testbed: KeeperTestbed, change: str
) -> None:  # O12
    """A dead caller's session with a damaged record, or another version's, ends like any other."""
    driver = testbed.sleeper()
    (Path(str(driver.folder)) / "owner.json").write_text('{"pid": 4194303, "created": 1.0}')
    testbed.session("odd", "dead", ttl=0, processes=(driver,))
    testbed.session("a", "dead", ttl=0)
    with closing(sqlite3.connect(testbed.home / "sessions.db")) as db:
        db.execute(f"UPDATE sessions SET record = {change} WHERE id = 'odd'")  # noqa: S608 - our own words
        db.commit()
    keeper = testbed.keep()
    until(lambda: testbed.is_closed("a"), "the end of the other one")
    until(lambda: not processes.alive(driver), "the end of its process")
    until(lambda: gone(keeper), "the keeper's end")
    assert testbed.store.get(NAMESPACE, "odd") is None
    assert testbed.store.unreadable() == []


def test_an_expired_session_in_use_is_ended_only_after_its_call(testbed: KeeperTestbed) -> None:  # O12
    """A running call keeps its session, even if the session's time is over and its caller dead."""
    testbed.session("a", "dead", ttl=0)
    entry = testbed.store.join_lane(NAMESPACE, "a", Holder.current())
    testbed.session("b", "dead", ttl=0)
    testbed.keep()
    until(lambda: testbed.is_closed("b"), "the end of the one that nobody uses")
    assert testbed.record("a").state is SessionState.ACTIVE
    testbed.store.leave_lane(entry.ticket)
    until(lambda: testbed.is_closed("a"), "the end of the other one")


def test_a_session_parked_again_is_not_ended_by_its_first_park_time(testbed: KeeperTestbed) -> None:
    """A session that is parked, restored and parked again is ended by its second park time only."""
    me = testbed.arrive("me")
    testbed.session("a", me, ttl=3)
    testbed.session("b", me, ttl=3)
    testbed.keep()
    entry = testbed.store.join_lane(NAMESPACE, "a", Holder.current())  # it does not end before it is restored
    assert [one.id for one in testbed.store.park(me, lambda _: True)] == ["a", "b"]
    first = testbed.record("a").parked_until
    assert first
    testbed.store.restore(entry.ticket, me, LONG)
    testbed.store.leave_lane(entry.ticket)
    assert testbed.record("a").parked_until is None
    testbed.store.park(me, lambda _: True)
    until(lambda: testbed.is_closed("b"), "the end of the one that was parked once")
    assert time.time() >= first
    assert testbed.record("a").state is SessionState.PARKED


def test_a_session_is_either_restored_or_expired_but_never_both(testbed: KeeperTestbed) -> None:
    """A caller at the moment of expiry finds its own session or none: never one that is being ended."""
    me = testbed.arrive("me")
    ended = []
    for number in range(20):
        name = f"s{number}"
        testbed.session(name, "dead", ttl=0.4 + number / 20, processes=(driver := testbed.sleeper(),))
        ended.append((name, driver))
    testbed.keep()
    for name, driver in ended:
        wait = testbed.record(name).parked_until or time.time() + 0.4
        time.sleep(max(0.0, wait - time.time()))  # the moment of expiry is the subject of the test
        try:
            entry = testbed.store.join_lane(NAMESPACE, name, Holder.current())
        except KeyError:
            assert testbed.is_closed(name)
            continue
        assert testbed.store.restore(entry.ticket, me, LONG).owner == me
        testbed.store.leave_lane(entry.ticket)
        assert processes.alive(driver), name


def test_parking_a_session_twice_at_once_sets_one_park_time(testbed: KeeperTestbed) -> None:  # B3
    """End of input and a signal at the same moment: one park time is set, and nothing is ended."""
    me = testbed.arrive("me")
    testbed.session("a", me, ttl=LONG)
    parked: list[float | None] = []

    def park() -> None:
        parked.extend(one.parked_until for one in testbed.store.park(me, lambda _: True))

    threads = [threading.Thread(target=park) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert parked == [testbed.record("a").parked_until] * 2


def test_a_session_whose_server_was_killed_during_its_start_is_cleaned_up(testbed: KeeperTestbed) -> None:  # O12 X22
    """A session whose server was killed during its start is lost, then removed with its processes, recorded or not."""
    recorded, unrecorded = testbed.sleeper(), testbed.sleeper()
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
    testbed.store.reserve(NAMESPACE, SessionType.BROWSER, "a", lambda _: draft, max_sessions=None, holder=taken)
    keeper = testbed.keep()
    until(lambda: testbed.is_closed("a"), "its end")
    assert testbed.record("a").lost_reason == leases.STARTER_DIED
    until(lambda: gone(keeper), "the keeper's end")
    assert not processes.alive(recorded)
    assert not processes.alive(unrecorded)
    assert not folders.all_of(testbed.home)


def test_processes_of_a_closed_session_are_ended_when_its_server_died_meanwhile(
    testbed: KeeperTestbed,
) -> None:  # O12 F36
    """A server dies while it ends a closed session's processes: the keeper runs until they have ended."""
    driver = testbed.sleeper()
    testbed.session("a", testbed.arrive("me"), ttl=LONG, processes=(driver,))
    keeper = testbed.keep()
    testbed.store.close(NAMESPACE, "a")
    testbed.session("b", "dead", ttl=0)
    until(lambda: testbed.is_closed("b"), "the end of another one")
    assert processes.alive(driver)
    assert keeper.is_running()
    (Path(str(driver.folder)) / "owner.json").write_text('{"pid": 4194303, "created": 1.0}')
    until(lambda: not processes.alive(driver), "the end of its process")
    until(lambda: gone(keeper), "the keeper's end")
    assert not folders.all_of(testbed.home)


def test_a_browser_shared_with_another_session_is_not_ended(testbed: KeeperTestbed) -> None:  # O12
    """A browser with two sessions ends with the last of them."""
    me = testbed.arrive("me")
    shared, own = testbed.sleeper(), testbed.sleeper()
    testbed.session("a", "dead", ttl=0, processes=(shared, own))
    testbed.session("b", me, ttl=0, processes=(shared,))
    testbed.keep()
    until(lambda: not processes.alive(own), "the end of what was its own")
    assert processes.alive(shared)
    testbed.store.forget(me)
    until(lambda: not processes.alive(shared), "the end of what both had")


def test_a_browser_that_was_detached_with_another_session_is_not_ended(testbed: KeeperTestbed) -> None:  # W38 X23
    """A browser that was detached with one of its two sessions is left to the user."""
    shared = testbed.sleeper()
    testbed.session("a", "dead", ttl=0, processes=(shared,))
    folders.release(Path(str(shared.folder)))
    keeper = testbed.keep()
    until(lambda: testbed.is_closed("a"), "the end of the session")
    until(lambda: gone(keeper), "the keeper's end")
    assert processes.alive(shared)
    processes.end_processes([shared])


def test_only_one_of_several_keepers_started_at_once_stays(testbed: KeeperTestbed) -> None:
    """Of five keepers started at the same time one stays; the others end by themselves."""
    testbed.session("a", testbed.arrive("me"), ttl=LONG)
    children = [testbed.start() for _ in range(5)]
    until(lambda: sum(child.poll() is not None for child in children) == 4, "the end of the others")
    (left,) = [child for child in children if child.poll() is None]
    keeper = testbed.keeper()
    assert keeper
    assert keeper.pid == left.pid
    assert all(child.returncode == 0 for child in children if child is not left)


async def test_sessions_started_at_once_start_one_keeper(testbed: KeeperTestbed) -> None:
    """A server that starts several sessions at once starts one keeper."""
    testbed.session("a", me := testbed.arrive("me"), ttl=LONG)
    keeper_launcher = KeeperLauncher(
        SessionRegistry(testbed.store, Caller(key=me, **Holder.current()._asdict()), NAMESPACE), testbed.home
    )
    async with anyio.create_task_group() as starts:
        for _ in range(5):
            starts.start_soon(keeper_launcher.ensure)
    keeper = until(testbed.keeper, "the keeper")
    started = [child.pid for child in psutil.Process().children() if str(testbed.home) in child.cmdline()]
    assert started == [keeper.pid]


def test_a_killed_keeper_is_replaced_by_the_next_one(testbed: KeeperTestbed) -> None:
    """A killed keeper leaves its row; the next keeper replaces it and continues from the records."""
    testbed.session("a", "dead", ttl=2)
    first = testbed.keep()
    since = until(lambda: testbed.record("a").parked_until, "its time to begin")
    first.kill()
    first.wait()
    assert testbed.store.lacks_keeper()
    testbed.keep()
    assert testbed.record("a").parked_until in {since, None} or testbed.is_closed("a")
    until(lambda: testbed.is_closed("a"), "the end of the session")
    assert time.time() >= since


def test_the_keeper_ends_when_its_home_is_removed(testbed: KeeperTestbed) -> None:
    """The keeper ends with the records; a process whose folder was removed as well is ended."""
    gone, there = testbed.sleeper(), testbed.sleeper()
    testbed.session("a", testbed.arrive("me"), ttl=LONG, processes=(gone, there))
    keeper = testbed.keep()
    store = testbed.home / "sessions.db"
    store.rename(store.with_name("moved.db"))
    shutil.rmtree(str(gone.folder))
    keeper.wait(PATIENCE)
    store.with_name("moved.db").rename(store)
    assert (processes.alive(gone), processes.alive(there)) == (False, True)


def test_the_keeper_loads_no_heavy_package() -> None:
    """The keeper imports the standard library and psutil, and no package that is slow to load."""
    loaded = "import orchestrator.lifecycle.keeper.loop, sys; print(*sys.modules)"
    told = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path += {_FOUND_IN}; {loaded}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not {"pydantic", "anyio", "selenium", "mcp", "structlog"} & set(told.stdout.split())


@pytest.mark.clock
def test_the_keeper_takes_little_memory(testbed: KeeperTestbed) -> None:
    """The keeper stays within its memory limit after it ended a local and a remote session."""
    testbed.session("a", testbed.arrive("me"), ttl=LONG)
    testbed.session("b", "dead", ttl=0, processes=(testbed.sleeper(),))
    with Remote() as remote:
        testbed.session("c", "dead", ttl=0, remote_url=remote.url, remote_session_id="c")
        keeper = testbed.keep()
        until(lambda: testbed.is_closed("b") and testbed.is_closed("c"), "the end of two")
        until(lambda: remote.asked == ["DELETE /session/c"], "the end at the remote end")
    assert keeper.memory_info().rss <= MOST


class Remote:
    """A remote end that records its requests."""

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
                """Log nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def test_parked_remote_sessions_are_kept_alive_and_then_ended_at_their_remote_end(
    testbed: KeeperTestbed,
) -> None:  # B14
    """Parked remote sessions are kept alive, then ended; attached ones and those with credentials are left alone."""
    with Remote() as remote:
        far = {"remote_url": remote.url, "keep_alive": 0.9}
        testbed.session("grid", "dead", ttl=LONG, remote_session_id="grid", **far)
        testbed.session("attached", "dead", ttl=0, remote_session_id="attached", owned=False, remote_url=remote.url)
        testbed.session("cloud", "dead", ttl=0, remote_session_id="cloud", secret="NAME", remote_url=remote.url)
        testbed.keep()
        until(lambda: "GET /session/grid/timeouts" in remote.asked, "a sign of life for the one on a Grid")
        assert "DELETE /session/grid" not in remote.asked
        testbed.expire("grid")
        until(lambda: all(testbed.is_closed(name) for name in ("grid", "attached", "cloud")), "their end")
        until(lambda: "DELETE /session/grid" in remote.asked, "the end of the one on a Grid")
    assert not [asked for asked in remote.asked if "attached" in asked or "cloud" in asked]


def test_a_keeper_whose_files_are_gone_still_ends_remote_sessions(testbed: KeeperTestbed, tmp_path: Path) -> None:
    """A keeper whose files an update removed keeps a parked session alive, and ends it when its time is over."""
    with Remote() as remote:
        testbed.session("grid", "dead", ttl=LONG, keep_alive=0.9, remote_session_id="grid", remote_url=remote.url)
        testbed.keep_without_files(tmp_path / "installed")
        until(lambda: "GET /session/grid/timeouts" in remote.asked, "a sign of life for it")
        assert "DELETE /session/grid" not in remote.asked
        testbed.expire("grid")
        until(lambda: "DELETE /session/grid" in remote.asked, "the end of the one on a Grid")


@pytest.mark.clock
def test_a_keeper_of_100_parked_sessions_takes_next_to_no_processor_time(testbed: KeeperTestbed) -> None:
    """A keeper with a hundred parked sessions takes at most 0.1 s of processor time in 3 s."""
    me = testbed.arrive("me")
    for number in range(100):
        testbed.session(f"s{number}", me, ttl=LONG)
    testbed.store.park(me, lambda _: True)
    keeper = testbed.keep()
    until(lambda: sum(keeper.cpu_times()[:2]) > 0, "its start")
    busy = sum(keeper.cpu_times()[:2])
    time.sleep(3)  # the measured time, in which nothing happens
    assert sum(keeper.cpu_times()[:2]) - busy <= 0.1
