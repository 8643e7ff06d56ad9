"""The upgrade: a home written by 0.1.0, and the keeper that it left running, under today's code.

The home is in `tests/data/home_0_1_0`. Sleeping processes stand for browser and driver.
"""

from __future__ import annotations

import functools
import itertools
import json
import shutil
import sqlite3
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest

from orchestrator.lifecycle.maintenance.keeper_launcher import KeeperLauncher
from orchestrator.models.session import ProcessInfo, SessionRecord, SessionState, SessionType
from orchestrator.sessions.registry import SessionRegistry, make_caller
from orchestrator.sessions.store import leases
from orchestrator.sessions.store.sqlite import FILE_NAME, SqliteStore
from orchestrator.system import folders, processes, storage_files
from orchestrator.system.activity import entries
from orchestrator.system.process_identity import ProcessKey
from tests.lifecycle.helpers import LONG, SLEEPER
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[1] / "data" / "home_0_1_0"
NAMESPACE = "shop"
OPEN = ["left", "work", "work:ann"]
"""The sessions of the old home that are not closed."""
SHORT = 0.5
"""Seconds of park time: short, but long enough to prepare the session."""


class OldHome:
    """A home as 0.1.0 left it; its store is opened at the first use."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stores: list[SqliteStore] = []
        self.sleepers: list[ProcessInfo] = []
        self.old_keepers: list[psutil.Popen] = []
        shutil.copytree(DATA, folder, ignore=shutil.ignore_patterns("*.md", "*.sql", "*.zip"))
        with self._connect() as db:
            db.execute("PRAGMA journal_mode = WAL")
            db.executescript((DATA / "sessions.sql").read_text("utf-8").replace("@HOME@", folder.as_posix()))
            # A closed name is remembered for days only, so its time is moved to now.
            db.execute("UPDATE sessions SET closed_at = ? WHERE closed_at IS NOT NULL", (time.time(),))
            db.commit()
        self.change("left", {"$.parkedAt": time.time(), "$.parkedUntil": time.time() + LONG})

    def _connect(self) -> closing[sqlite3.Connection]:
        return closing(sqlite3.connect(self.folder / FILE_NAME))

    def change(self, session_id: str, values: dict[str, Any]) -> None:
        """Put other values, by their JSON paths, into a record that otherwise stays the old version's."""
        record = f"json_set(record{', ?, ?' * len(values)})"
        with self._connect() as db:
            words = [*itertools.chain.from_iterable(values.items()), session_id]
            db.execute(f"UPDATE sessions SET record = {record} WHERE id = ?", words)  # noqa: S608 - our own words
            db.commit()

    def written(self, session_id: str) -> dict[str, Any]:
        """Return the record as the old version wrote it."""
        with self._connect() as db:
            (record,) = db.execute("SELECT record FROM sessions WHERE id = ?", (session_id,)).fetchone()
        written: dict[str, Any] = json.loads(record)
        return written

    def open(self) -> SqliteStore:
        """Open the store with today's code, as a further process."""
        self.stores.append(SqliteStore(self.folder))
        return self.stores[-1]

    def registry(self) -> SessionRegistry:
        """Open the store as a new caller with today's code."""
        return SessionRegistry(self.open(), make_caller(), NAMESPACE)

    def record(self, session_id: str) -> SessionRecord:
        """Return the record as today's code reads it, also when it is closed."""
        found = self.stores[-1].get(NAMESPACE, session_id)
        assert found
        return found

    def is_closed(self, session_id: str) -> bool:
        """Return True if the session was ended."""
        return self.record(session_id).state is SessionState.CLOSED

    def keeper(self) -> ProcessKey | None:
        """The registered keeper."""
        with self._connect() as db:  # of whichever version, so without columns that came later
            rows = db.execute("SELECT pid, created FROM keeper").fetchall()
            if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'keepers'").fetchone():
                rows += db.execute("SELECT pid, created FROM keepers").fetchall()
        return next((key for key in map(ProcessKey._make, ((*row, "") for row in rows)) if key.alive()), None)

    def keepers(self) -> list[int]:
        """The running keepers that this process started for the home."""
        return [child.pid for child in psutil.Process().children() if _names(child, self.folder)]

    def start_old_keeper(self, program: Path) -> psutil.Popen:
        """Start the keeper of 0.1.0 from this folder, and remove its files once it runs, as an upgrade does."""
        with zipfile.ZipFile(DATA / "keeper.zip") as archive:
            archive.extractall(program)
        main, found_in = program / "orchestrator" / "keeper" / "__main__.py", Path(psutil.__file__).parents[1]
        # Without -S an editable install would make it import the code under test.
        command = [sys.executable, "-I", "-S", *map(str, (main, self.folder, program, found_in))]
        with (self.folder / "keeper.log").open("ab") as log:
            self.old_keepers.append(psutil.Popen(command, stderr=log, cwd=self.folder))
        until(self.keeper, "the old keeper")
        shutil.rmtree(program)
        return self.old_keepers[-1]

    def give_processes(self, session_id: str, seconds: float) -> tuple[ProcessInfo, ProcessInfo]:
        """Put sleeping processes into the record of a parked session that expires in so many seconds."""
        driver, browser = self.driver_and_browser()
        values: dict[str, Any] = {"$.parkedUntil": time.time() + seconds, "$.processes[0].folder": driver.folder}
        for number, process in enumerate((driver, browser)):
            place = f"$.processes[{number}]"
            values |= {f"{place}.pid": process.pid, f"{place}.created": process.created}
        self.change(session_id, values)
        return driver, browser

    def driver_and_browser(self) -> tuple[ProcessInfo, ProcessInfo]:
        """Start two sleeping processes in one folder; the browser is not recorded with it."""
        folder = folders.make_folder(self.folder)
        spawn = functools.partial(
            processes.spawn, command=SLEEPER, folder=folder, env=None, record=self.sleepers.append
        )
        return spawn("chromedriver"), spawn("chromium").model_copy(update={"folder": None})

    def end(self) -> None:
        """End the sessions, readable or not, and the keepers with them; nothing of the home may run then."""
        with self._connect() as db:
            db.execute("UPDATE sessions SET state = 'closed'")
            db.commit()
        processes.end_processes(self.sleepers)
        for keeper in self.old_keepers:
            keeper.wait(PATIENCE)
        until(lambda: not self.keepers(), "the keeper's end")
        for one in self.stores:
            one.disconnect()


def _names(process: psutil.Process, folder: Path) -> bool:
    """Return True if a running process was started for this folder."""
    try:
        return str(folder) in process.cmdline()
    except psutil.Error:
        return False


@pytest.fixture
def home(tmp_path: Path) -> Iterator[OldHome]:
    """A home written by 0.1.0; its processes are ended after the test."""
    home = OldHome(tmp_path / "home")
    yield home
    home.end()


@pytest.fixture
def old_keeper(home: OldHome, tmp_path: Path) -> psutil.Popen:
    """The keeper of 0.1.0, running for the home, without its files."""
    return home.start_old_keeper(tmp_path / "version_0_1_0")


async def start(registry: SessionRegistry, session_id: str, **fields: Any) -> SessionRecord:
    """Start a session with today's code, without a remote end."""
    _, ticket = await registry.reserve_session(SessionType.BROWSER, session_id, provider="local", **fields)
    active = {"state": SessionState.ACTIVE, "last_active_at": time.time()}
    record = registry.store.leave_lane(ticket, lambda record: record.with_changes(**active))
    assert record
    return record


def as_written(shown: Any, written: Any) -> Any:
    """Return a shown value without fields that the old version lacks."""
    if written and isinstance(written, dict):
        return {name: as_written(shown[name], inner) for name, inner in written.items() if name in shown}
    if isinstance(written, list) and len(shown) == len(written):
        return [as_written(one, other) for one, other in zip(shown, written, strict=True)]
    return shown


def test_the_open_sessions_of_an_old_home_are_listed_in_order(home: OldHome) -> None:
    """Sessions that were parked or active are listed, the closed one is not, and none is unreadable."""
    store = home.open()
    found = [(record.id, record.state) for record in store.list_open(NAMESPACE)]
    assert found == [
        ("left", SessionState.PARKED),
        ("work", SessionState.ACTIVE),
        ("work:ann", SessionState.ACTIVE),
    ]
    assert store.unreadable() == []


@pytest.mark.parametrize("session_id", OPEN)
def test_an_old_record_is_read_with_all_its_fields(home: OldHome, session_id: str) -> None:
    """Every value that the old version wrote is shown under its former name."""
    home.open()
    written = home.written(session_id)
    assert as_written(home.record(session_id).model_dump(mode="json", by_alias=True), written) == written


def test_the_settings_of_an_old_session_are_still_in_force(home: OldHome) -> None:
    """Variables, policies, emulation, routes, tabs and frame of a session are those that its caller had set."""
    home.open()
    record = home.record("work")
    assert record.vars == {"order": "4711"}
    assert (record.policies.dialogs, record.policies.permissions, record.policies.downloads) == (
        "accept",
        "allow",
        "deny",
    )
    assert [one.permission for one in record.approvals] == ["geolocation"]
    assert (record.emulation.timezone, record.emulation.geolocation.latitude) == ("Europe/Berlin", 52.5)
    assert record.routes == ({"action": "block", "url": "**/ads/*"},)
    assert ([tab.name for tab in record.tabs], record.tabs_used, record.frame) == (["t1", "t2"], ("t2", "t1"), ("e2",))
    assert (record.strict, record.armed and record.armed.prompt_text) == (True, "yes")


def test_the_storage_state_of_an_old_session_is_found(home: OldHome) -> None:
    """Cookies and local storage saved by the old version are those of the session."""
    home.open()
    state = storage_files.read(home.folder, home.record("left"))
    assert [(one.name, one.value) for one in state.cookies] == [("basket", "3")]
    assert [(one.name, one.value) for origin in state.origins for one in origin.local_storage] == [("theme", "dark")]


def test_the_activity_log_of_an_old_session_is_found(home: OldHome) -> None:
    """Entries that the old version wrote are read, from the start to the parking."""
    home.open()
    found = [entry.action for entry in entries(home.folder, home.record("left"))]
    assert found == ["start", "navigate", "get_visible_elements", "park"]


def test_a_change_of_an_old_session_is_kept(home: OldHome) -> None:
    """A change by today's code is read again, and leaves all other fields unchanged."""
    before = home.open().get(NAMESPACE, "work")
    assert before
    home.open().update(NAMESPACE, "work", lambda record: record.with_changes(vars={"order": "4712"}))
    assert home.record("work") == before.with_changes(vars={"order": "4712"})


async def test_the_name_of_an_old_session_is_free_once_it_is_closed(home: OldHome) -> None:
    """Closing returns the old version's processes to end, and the name can be reused."""
    registry = home.registry()
    closed = await registry.close("left")
    assert closed
    assert [process.name for process in closed.processes] == ["chromedriver", "chromium"]
    await start(registry, "left")
    record = home.record("left")
    assert (record.state, record.owner, record.url) == (SessionState.ACTIVE, registry.caller.key, None)


async def test_a_name_that_the_old_version_closed_is_free(home: OldHome) -> None:
    """A closed session is remembered as closed, and its name can be reused."""
    registry = home.registry()
    assert home.is_closed("done")
    await start(registry, "done")
    assert home.record("done").state is SessionState.ACTIVE


def test_a_browser_that_two_old_sessions_share_ends_with_the_second(home: OldHome) -> None:
    """Closing the first session returns no process, closing the second one driver and browser."""
    store = home.open()
    closed = [store.close(NAMESPACE, session_id) for session_id in ("work", "work:ann")]
    assert [[process.name for process in record.processes] for record in closed if record] == [
        [],
        ["chromedriver", "chromium"],
    ]


async def test_the_sessions_of_the_old_version_are_adopted(home: OldHome) -> None:
    """A caller that adopts orphans owns them all; they are parked, and a running park time continues."""
    registry = home.registry()
    parked_until = home.record("left").parked_until
    assert await registry.enrol(adopt_orphans=True) == OPEN
    records = [home.record(session_id) for session_id in OPEN]
    assert {(record.owner, record.state) for record in records} == {(registry.caller.key, SessionState.PARKED)}
    assert records[0].parked_until == parked_until
    assert all(record.parked_until for record in records)


async def test_an_adopted_old_session_is_restored_as_it_was(home: OldHome) -> None:
    """A call by its name makes it active at the old version's remote end, without a park time."""
    registry = home.registry()
    before = home.record("left")
    await registry.enrol(adopt_orphans=True)
    position = registry.store.join_lane(NAMESPACE, "left", registry.holder)
    restored = registry.store.restore(position.ticket, registry.caller.key)
    registry.store.leave_lane(position.ticket)
    expected = {"owner": registry.caller.key, "state": SessionState.ACTIVE, **leases.NONE}
    assert restored == before.with_changes(**expected)


async def test_beside_an_old_keeper_no_second_one_is_started(home: OldHome, old_keeper: psutil.Popen) -> None:
    """A server of today takes the keeper of the old version for the home's keeper."""
    launcher = KeeperLauncher(home.registry(), home.folder)
    await launcher.ensure()
    assert launcher._started is None
    assert home.keepers() == [old_keeper.pid]


async def test_an_old_keeper_ends_what_the_new_version_parked(home: OldHome, old_keeper: psutil.Popen) -> None:
    """The old keeper closes an expired session of today with its processes, folder and storage."""
    registry = home.registry()
    driver, browser = home.driver_and_browser()
    await registry.enrol(adopt_orphans=False)
    record = await start(registry, "new", limits={"park": SHORT}, processes=(driver, browser))
    storage = storage_files.build_state_path(home.folder, record)
    storage.write_text("{}")
    assert [one.id for one in await registry.park(lambda _: True)] == ["new"]
    until(lambda: home.is_closed("new"), "the end of the session")
    until(lambda: not any(map(processes.alive, (driver, browser))), "the end of its processes")
    until(lambda: not folders.all_of(home.folder), "the end of its folder")
    until(lambda: not storage.exists(), "the end of its storage")
    assert home.record("new").lost_reason == leases.NOBODY_CAME
    assert home.keepers() == [old_keeper.pid]
    assert [record.id for record in registry.store.list_open(NAMESPACE)] == OPEN


async def test_an_old_keeper_logs_the_sessions_that_it_ended(home: OldHome, old_keeper: psutil.Popen) -> None:
    """A session of today that the old keeper ended has an entry about it in today's activity log."""
    registry = home.registry()
    await registry.enrol(adopt_orphans=False)
    record = await start(registry, "new", limits={"park": SHORT})
    await registry.park(lambda _: True)
    [entry] = until(lambda: entries(home.folder, record), "the entry")
    assert (entry.door, entry.pid, entry.action, entry.message) == (
        "keeper",
        old_keeper.pid,
        "close",
        leases.NOBODY_CAME,
    )


async def test_an_old_keeper_that_is_gone_is_followed_by_a_new_one(home: OldHome, old_keeper: psutil.Popen) -> None:
    """The next start of a server replaces a killed keeper of the old version."""
    old_keeper.kill()
    old_keeper.wait(PATIENCE)
    await KeeperLauncher(home.registry(), home.folder).ensure()
    keeper = until(home.keeper, "the new keeper")
    assert home.keepers() == [keeper.pid]


async def test_a_new_keeper_ends_what_the_old_version_parked(home: OldHome) -> None:
    """An expired session of the old version is closed with its processes, folder and storage."""
    driver, browser = home.give_processes("left", seconds=SHORT)
    registry = home.registry()
    record = home.record("left")
    await KeeperLauncher(registry, home.folder).ensure()
    until(lambda: home.is_closed("left"), "the end of the session")
    until(lambda: not any(map(processes.alive, (driver, browser))), "the end of its processes")
    until(lambda: not folders.all_of(home.folder), "the end of its folder")
    until(lambda: not storage_files.build_state_path(home.folder, record).exists(), "the end of its storage")
    until(lambda: entries(home.folder, record)[-1].door == "keeper", "the entry about it")
    assert home.record("left").lost_reason == leases.NOBODY_CAME
    assert [record.id for record in registry.store.list_open(NAMESPACE)] == ["work", "work:ann"]
