"""What the end-to-end tests look at beside the answers: the home's records, the processes, and the system's clock."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import psutil

from orchestrator.living import gone
from orchestrator.models import SessionRecord
from tests.served import Answer, Served, processes_below, served

ResultT = TypeVar("ResultT")

PATIENCE = 60.0
"""Seconds after which something counts as never happening: a guard against hanging, nothing else."""
NAMESPACE = "e2e"


def until(look: Callable[[], ResultT], what: str) -> ResultT:
    """Look again and again until there is something to see; what was seen."""
    deadline = time.monotonic() + PATIENCE
    while not (seen := look()):
        assert time.monotonic() < deadline, f"never came: {what}"
        time.sleep(0.01)
    return seen


def in_time(seconds: float) -> float:
    """A time that is promised, for this machine as busy as it is: what waits for a processor is no fault of ours."""
    return seconds * max(1.0, psutil.getloadavg()[0] / (os.cpu_count() or 1))


def answered(call: Future[Answer]) -> Answer:
    """The answer of a call that was begun."""
    return call.result(PATIENCE)


def succeed(calls: Iterable[Future[Answer]]) -> list[Answer]:
    """The answers of calls that were begun, none of which may have failed."""
    answers = [answered(call) for call in calls]
    failures = [answer.text for answer in answers if answer.failed]
    assert not failures
    return answers


class Home:
    """A folder of records as the servers of a test share it, and what of it can be seen from outside."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings: dict[str, str] = {}

    @contextmanager
    def serve(self, mode: str = "auto", **settings: str) -> Iterator[Served]:
        """A server on this home."""
        with served(mode, **{"home": str(self.folder), "namespace": NAMESPACE, **self.settings, **settings}) as server:
            yield server

    def records(self) -> list[SessionRecord]:
        """The records that are not closed, in order of creation."""
        return self._records("state <> 'closed'")

    def closed(self) -> list[SessionRecord]:
        """The records that are, as they are remembered."""
        return self._records("state = 'closed'")

    def remembered(self) -> list[str]:
        """Every id of which there is any record, a closed one's too."""
        return [str(session_id) for (session_id,) in self._rows("SELECT id FROM sessions ORDER BY seq")]

    def record(self, session_id: str) -> SessionRecord:
        """The record of an open session."""
        return next(record for record in self.records() if record.id == session_id)

    def tickets(self) -> int:
        """How many calls stand in any lane, running or waiting."""
        return int(self._rows("SELECT count(*) FROM tickets")[0][0])

    def _records(self, which: str) -> list[SessionRecord]:
        found = self._rows(f"SELECT record FROM sessions WHERE {which} ORDER BY seq")  # noqa: S608 — our own words
        return [SessionRecord.model_validate_json(text) for (text,) in found]

    def _rows(self, query: str) -> list[Any]:
        with closing(sqlite3.connect(f"file:{self.folder / 'sessions.db'}?mode=ro", uri=True, timeout=30)) as db:
            return db.execute(query).fetchall()

    def process(self, session_id: str, name: str) -> psutil.Process:
        """A process of a session: `chromedriver`, or its browser."""
        found = self.record(session_id).processes
        return psutil.Process(
            next(one.pid for one in found if (one.name == "chromedriver") == (name == "chromedriver"))
        )

    def processes(self) -> list[psutil.Process]:
        """Drivers and browsers of this home that run; servers are not among them."""
        return [one for one in processes_below(self.folder / "run") if runs(one)]

    def drivers(self) -> list[psutil.Process]:
        """Those of them that are drivers."""
        return [one for one in self.processes() if _name(one) == "chromedriver"]

    def folders(self) -> list[Path]:
        """The folders of sessions: their profiles lie in them."""
        runs = self.folder / "run"
        return sorted(runs.iterdir()) if runs.is_dir() else []

    def files(self) -> set[str]:
        """Every path below the home, but those that the database makes as it goes along."""
        found = {str(path.relative_to(self.folder)) for path in self.folder.rglob("*")}
        return {path for path in found if not path.startswith("sessions.db")}

    def is_clean(self) -> bool:
        """Whether no driver, browser and profile folder is left."""
        return not self.processes() and not self.folders()


def kill(process: psutil.Process) -> float:
    """End a process of the test (SIGKILL), and see it gone; when it was told to, by time.monotonic."""
    process.send_signal(signal.SIGKILL)
    told = time.monotonic()
    until(lambda: not runs(process), "the end of what was killed")
    return told


def runs(process: psutil.Process) -> bool:
    """Whether a process runs; one that ended and was not collected yet does not."""
    return not gone(process)


def _name(process: psutil.Process) -> str:
    try:
        return process.name()
    except psutil.NoSuchProcess:
        return ""


def remote(method: str, url: str, body: object = None) -> Any:
    """One WebDriver command as a script of the user's own would send it; its value."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json; charset=utf-8"}, method=method)  # noqa: S310 (our own driver)
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=PATIENCE) as answer:
        return json.load(answer)["value"]
