"""Lists of many sessions, and a server's start beside them: records alone, without browsers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from orchestrator.models.session import Caller, ProcessInfo, SessionRecord, SessionState, SessionType
from orchestrator.sessions.store import records
from orchestrator.sessions.store.database import Database
from orchestrator.sessions.store.sqlite import FILE_NAME, SqliteStore
from orchestrator.sessions.store.types import Holder
from tests.benchmarks.measure import Figure, elapsed
from tests.benchmarks.server import NAMESPACE, UNCUT, Server

FEW, MANY = 200, 10_000
_DAY = 86_400.0


def figures(folder: Path, rounds: int) -> Iterator[Figure]:
    """List few sessions of a living caller, then start beside many parked ones, and list these."""
    for name, max_output in (("as it is", "20000"), ("uncut", UNCUT)):
        home = folder / f"records-{name.replace(' ', '-')}"
        write_sessions(home, FEW, SessionState.ACTIVE)
        with Server(home, max_output=max_output) as server:
            calls = [elapsed(lambda: server.call("list_sessions")) for _ in range(rounds + 3)][3:]
        yield Figure(f"list_sessions of {FEW} records, {name}", calls, (), 10)
    yield from _of_many(folder / "records-many", rounds)


def _of_many(home: Path, rounds: int) -> Iterator[Figure]:
    write_sessions(home, MANY, SessionState.PARKED)
    starts, firsts, calls, memory = [], [], [], 0.0
    for _ in range(3):
        began = time.perf_counter()
        with Server(home, park_ttl=str(_DAY), max_output="20000") as server:
            starts.append((time.perf_counter() - began) * 1000)
            firsts.append(elapsed(lambda: server.call("list_sessions")))
            calls += [elapsed(lambda: server.call("list_sessions")) for _ in range(max(3, rounds // 3))]
            memory = server.process.memory_info().rss / 1e6
    yield Figure(f"a server's start beside {MANY:,} parked sessions", starts)
    yield Figure(f"the first list_sessions of {MANY:,}", firsts)
    yield Figure(f"a later list_sessions of {MANY:,}", calls)
    yield Figure(f"memory of a server that lists {MANY:,} (RSS)", [memory], (), None, "MB")


def write_sessions(
    home: Path,
    count: int,
    state: SessionState,
    namespace: str = NAMESPACE,
    processes: tuple[ProcessInfo, ...] | None = None,
) -> None:
    """Write sessions into the store, like those of running browsers: of this living caller, or of one that is gone.

    Their processes are, unless given, this one: whoever ends the sessions ends it.
    """
    store, here, now = SqliteStore(home), Holder.current(), time.time()
    me = Caller(key="bench", pid=here.pid, created=here.created)
    store.register(me, namespace)
    store.disconnect()
    process = ProcessInfo(pid=here.pid, created=here.created, name="chromedriver", folder=str(home / "profile"))
    given = (process, process) if processes is None else processes
    capabilities = {"browserName": "chrome", "browserVersion": "156.0.0.0", "platformName": "linux"}
    parked_at = now if state is SessionState.PARKED else None
    database = Database(home / FILE_NAME)
    with database.write() as db:
        for number in range(count):
            session_id = f"browser-{number}"
            record = SessionRecord(
                id=session_id, namespace=namespace, type=SessionType.BROWSER, provider="local", state=state,
                owner="gone" if parked_at else me.key, remote_url=f"http://127.0.0.1:9/{session_id}",
                remote_session_id=session_id * 4, capabilities=capabilities, url="http://127.0.0.1/", title="Orders",
                created_at=now, last_active_at=now, processes=given, limits={"park": _DAY},
                parked_at=parked_at, parked_until=parked_at and now + _DAY,
            )  # fmt: skip
            records.insert(db, record, None)
    database.close()
