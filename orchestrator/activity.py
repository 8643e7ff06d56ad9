"""What was done in each session: a line of JSON a call, in a file that is kept while the session is remembered."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field, ValidationError
from pydantic_core import to_jsonable_python

from orchestrator.errors import MayHaveFailed, OrchestratorError
from orchestrator.models import Caller, SessionRecord, Wire
from orchestrator.secrets import Redactor, without_credentials, without_users

ResultT = TypeVar("ResultT")

_FULL = 1_000_000
"""Bytes after which a session's file is put aside; the one that was put aside before goes."""
_LONGEST = 200
"""Characters of one text in a line."""
_LIFE = re.compile(r"(?P<life>(?P<id>.+)~\d+)\.jsonl(\.old)?")


class Entry(Wire):
    """One thing that was done, or that happened: when it began, by whom, how long it took, what came of it.

    `door` is how the caller came in (mcp, cli, python), `pid` its process. `step` is its index in the sequence that it
    is a part of. `error` is the code of the error, or `stopped` where nobody waited for an answer any more.
    """

    at: str
    door: str
    pid: int
    action: str
    step: int | None = None
    arguments: dict[str, Any] = Field(default_factory=dict)
    duration_ms: float = 0
    error: str | None = None
    message: str | None = None


@dataclass(frozen=True)
class Doing:
    """What is about to be done."""

    action: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    step: int | None = None


class Activity:
    """The logs of all sessions, as one caller writes them. No secret that is known to this process gets into them."""

    def __init__(self, home: Path, caller: Caller, redactor: Redactor) -> None:
        self._home = home
        self._caller = caller
        self._redactor = redactor

    def note(self, record: SessionRecord, doing: Doing, message: str | None = None, error: str | None = None) -> None:
        """Write that something happened now."""
        self._write(record, doing, time.time(), 0, error, message)

    def noted(self, record: SessionRecord, doing: Doing, work: Callable[[], ResultT]) -> ResultT:
        """Do it and write what came of it."""
        began, started = time.time(), time.perf_counter()
        error: BaseException | None = None
        try:
            outcome = work()
            error = outcome.failure() if isinstance(outcome, MayHaveFailed) else None
        except BaseException as raised:
            error = raised
            raise
        finally:
            took = round((time.perf_counter() - started) * 1000, 1)
            code, message = (error.code, error.message) if isinstance(error, OrchestratorError) else ("stopped", None)
            self._write(record, doing, began, took, code if error else None, message)
        return outcome

    def lost(self, record: SessionRecord, reason: str) -> None:
        """Write that a session was found to be lost."""
        self.note(record, Doing("lost"), reason, "session_lost")

    def tidy(self, known: Callable[[str, str], SessionRecord | None]) -> None:
        """Remove the logs of sessions that are remembered no more; `known` finds a record by namespace and id."""
        for file in (self._home / "logs").glob("*/*"):
            name = _LIFE.fullmatch(file.name)
            record = known(file.parent.name, name["id"].replace("@", ":")) if name else None
            if name and (record is None or _file(self._home, record).stem != name["life"]):
                with contextlib.suppress(OSError):
                    file.unlink()

    def _write(
        self, record: SessionRecord, doing: Doing, at: float, took: float, error: str | None, message: str | None
    ) -> None:
        entry = Entry(
            at=datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds"),
            door=self._caller.door,
            pid=self._caller.pid,
            action=doing.action,
            step=doing.step,
            arguments=self._brief(to_jsonable_python(dict(doing.arguments), by_alias=True, fallback=str)),
            duration_ms=took,
            error=error,
            message=self._brief(message),
        )
        line = entry.model_dump_json(by_alias=True, exclude_defaults=True, ensure_ascii=True)
        with contextlib.suppress(OSError):  # what was done was done, also where a full disk cannot take a note of it
            _append(_file(self._home, record), f"{line}\n".encode())

    def _brief(self, value: Any) -> Any:
        """Without secrets first: half of one would not be known as one."""
        if isinstance(value, str):
            text = self._redactor.text(without_users(without_credentials(value))).encode("utf-8", "replace").decode()
            return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
        if isinstance(value, dict):
            return {name: self._brief(one) for name, one in value.items()}
        return [self._brief(one) for one in value] if isinstance(value, list) else value


def entries(home: Path, record: SessionRecord) -> list[Entry]:
    """A session's log, what began last at the end; what a crash left half written is left out."""
    file = _file(home, record)
    return sorted((entry for one in (_older(file), file) for entry in _read(one)), key=lambda entry: entry.at)


def _read(file: Path) -> Iterator[Entry]:
    with contextlib.suppress(FileNotFoundError):
        for line in file.read_bytes().splitlines():
            with contextlib.suppress(ValidationError):
                yield Entry.model_validate_json(line)


def _file(home: Path, record: SessionRecord) -> Path:
    """One for each life of an id. Windows takes no colon in the name of a file."""
    life = f"{record.id.replace(':', '@')}~{round(record.created_at * 1000)}"
    return home / "logs" / record.namespace / f"{life}.jsonl"


def _older(file: Path) -> Path:
    return file.with_name(f"{file.name}.old")


def _append(file: Path, line: bytes) -> None:
    """One write at the end of the file: lines of several processes do not mix."""
    try:
        opened = os.open(file, os.O_WRONLY | os.O_APPEND)
    except FileNotFoundError:
        opened = _begin(file)
    try:
        os.write(opened, line)
        full = os.fstat(opened).st_size > _FULL
    finally:
        os.close(opened)
    if full:
        file.replace(_older(file))


def _begin(file: Path) -> int:
    """A new file that only this user can read; what earlier lives of the id left goes."""
    for folder in (file.parent.parent, file.parent):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name, tilde, _ = file.name.rpartition("~")
    for other in file.parent.glob(f"{name}{tilde}*"):
        if other != _older(file):
            other.unlink(missing_ok=True)
    return os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
