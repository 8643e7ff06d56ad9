"""What was done in each session: a line of JSON a call, in a file that is kept while the session is remembered."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field, ValidationError
from pydantic_core import to_jsonable_python

from orchestrator import activity_log
from orchestrator.errors import MayHaveFailed, OrchestratorError
from orchestrator.models import Caller, SessionRecord, Wire
from orchestrator.secrets import Redactor, without_credentials, without_users

ResultT = TypeVar("ResultT")

_LONGEST = 200
"""Characters of one text in a line."""
_LIFE = re.compile(r"(?P<life>(?P<id>.+)~\d+)\.jsonl(\.old)?")


class Entry(Wire):
    """One thing that was done, or that happened: when it began, by whom, how long it took, what came of it.

    `door` is how the caller came in (mcp, cli, python) or `keeper`, `pid` its process. `step` is its index in the
    sequence that it is a part of. `error` is the code of the error, or `stopped` where nobody waited for an answer any
    more.
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
            at=activity_log.time(at),
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
        activity_log.append(_file(self._home, record), line)

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
    files = activity_log.older(file), file
    return sorted((entry for one in files for entry in _read(one)), key=lambda entry: entry.at)


def _read(file: Path) -> Iterator[Entry]:
    with contextlib.suppress(FileNotFoundError):
        for line in file.read_bytes().splitlines():
            with contextlib.suppress(ValidationError):
                yield Entry.model_validate_json(line)


def _file(home: Path, record: SessionRecord) -> Path:
    return activity_log.place(home, record.namespace, record.id, record.created_at)
