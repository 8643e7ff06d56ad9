"""State beside the answers, for end-to-end tests: the home's records, its processes, and the system's clock."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import psutil

from orchestrator.models.session import SessionRecord
from orchestrator.system.process_identity import gone
from tests.servers.mcp import Answer, Served, processes_below, served
from tests.waiting import PATIENCE, until

ResultT = TypeVar("ResultT")

NAMESPACE = "e2e"


def in_time(seconds: float) -> float:
    """Return a promised time, scaled by the machine's load: waiting for a processor is not our delay."""
    return seconds * max(1.0, psutil.getloadavg()[0] / (os.cpu_count() or 1))


def answered(call: Future[Answer]) -> Answer:
    """Return the answer of a begun call."""
    return call.result(PATIENCE)


def succeed(calls: Iterable[Future[Answer]]) -> list[Answer]:
    """Return the answers of begun calls, none of which may have failed."""
    answers = [answered(call) for call in calls]
    failures = [answer.text for answer in answers if answer.failed]
    assert not failures
    return answers


class Home:
    """A data folder shared by the servers of a test, and its state as visible from outside."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings: dict[str, str] = {}

    @contextmanager
    def serve(self, mode: str = "auto", **settings: str) -> Iterator[Served]:
        """Start a server on this home."""
        with served(mode, **{"home": str(self.folder), "namespace": NAMESPACE, **self.settings, **settings}) as server:
            yield server

    def records(self) -> list[SessionRecord]:
        """The records of sessions that are not closed, in order of creation."""
        return self._records("state <> 'closed'")

    def closed(self) -> list[SessionRecord]:
        """The records of closed sessions that are still remembered."""
        return self._records("state = 'closed'")

    def remembered(self) -> list[str]:
        """Every id with a record, closed sessions included."""
        return [str(session_id) for (session_id,) in self._rows("SELECT id FROM sessions ORDER BY seq")]

    def record(self, session_id: str) -> SessionRecord:
        """The record of an open session."""
        return next(record for record in self.records() if record.id == session_id)

    def tickets(self) -> int:
        """The number of calls in all lanes, running or waiting."""
        return int(self._rows("SELECT count(*) FROM tickets")[0][0])

    def describe_tickets(self) -> list[str]:
        """The calls in all lanes: the session of each, the process that holds it, and that process's last heartbeat."""
        query = (
            "SELECT number, id, tickets.pid, beat, caller FROM tickets JOIN sessions ON tickets.session = seq "
            "ORDER BY session, number"
        )
        return [
            f"{number} of {session}: {'process' if psutil.pid_exists(pid) else 'dead process'} {pid}, "
            f"{'maintenance' if caller is None else f'caller {caller[:6]}'}, heartbeat {beat:.1f}"
            for number, session, pid, beat, caller in self._rows(query)
        ]

    def _records(self, which: str) -> list[SessionRecord]:
        found = self._rows(f"SELECT record FROM sessions WHERE {which} ORDER BY seq")  # noqa: S608 — our own words
        return [SessionRecord.model_validate_json(text) for (text,) in found]

    def _rows(self, query: str) -> list[Any]:
        store = self.folder / "sessions.db"
        if not store.exists():  # no call has needed it yet
            return []
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=30)) as db:
            return db.execute(query).fetchall()

    def process(self, session_id: str, name: str) -> psutil.Process:
        """Return a process of a session: its driver, such as `chromedriver`, or its browser."""
        found = self.record(session_id).processes
        return psutil.Process(next(one.pid for one in found if one.name.endswith("driver") == name.endswith("driver")))

    def processes(self) -> list[psutil.Process]:
        """Drivers and browsers of this home that run; servers are not included."""
        return [one for one in processes_below(self.folder / "run") if runs(one)]

    def drivers(self) -> list[psutil.Process]:
        """Drivers of this home that run."""
        return [one for one in self.processes() if _name(one) == "chromedriver"]

    def folders(self) -> list[Path]:
        """The folders of sessions, which contain their profiles."""
        runs = self.folder / "run"
        return sorted(runs.iterdir()) if runs.is_dir() else []

    def files(self) -> set[str]:
        """Every path below the home, except the database's temporary files."""
        found = {str(path.relative_to(self.folder)) for path in self.folder.rglob("*")}
        return {path for path in found if not path.startswith("sessions.db")}

    def is_clean(self) -> bool:
        """Return True if no driver, browser or profile folder is left."""
        return not self.processes() and not self.folders()


def kill(process: psutil.Process) -> float:
    """Kill a process of the test (SIGKILL) and wait for its end; return the time of the signal (time.monotonic)."""
    process.send_signal(signal.SIGKILL)
    told = time.monotonic()
    until(lambda: not runs(process), "the end of what was killed")
    return told


def runs(process: psutil.Process) -> bool:
    """Return True if a process runs; a zombie does not."""
    return not gone(process)


def _name(process: psutil.Process) -> str:
    try:
        return process.name()
    except psutil.NoSuchProcess:
        return ""


def remote(method: str, url: str, body: object = None) -> Any:
    """Send a WebDriver command like a script of the user's; return its value."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json; charset=utf-8"}, method=method)  # noqa: S310 (our own driver)
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=PATIENCE) as answer:
        return json.load(answer)["value"]
