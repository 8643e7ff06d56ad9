"""Activity logs: one JSON line per call, kept as long as the session is remembered."""

from __future__ import annotations

import contextlib
import functools
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError
from pydantic_core import to_jsonable_python

from orchestrator.errors import MayHaveFailed, OrchestratorError, brief
from orchestrator.models.session import Caller, SessionRecord, Wire
from orchestrator.system import activity_file
from orchestrator.system.redaction.session_redactor import SessionRedactor
from orchestrator.system.secrets import Redactor, without_credentials, without_users

_LONGEST = 200
"""Characters that one text in a line may have."""
_REDACTORS = 100
"""Sessions whose redactors are kept from one line to the next."""
_LIFE = re.compile(r"(?P<life>(?P<id>.+)~\d+)\.jsonl(\.old)?")


class ActivityEntry(Wire):
    """A call or event of a session: start, caller, duration and outcome.

    `door` is how the caller came in (mcp, cli, python) or `keeper`; `pid` is its process. `step` is the index in a
    sequence. `error` is the error's code, or `stopped` if the caller went away before the end.
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
class LoggedAction:
    """An action as it is logged."""

    action: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    step: int | None = None


@dataclass
class LoggedCall:
    """The outcome of an action that is being logged, once it is known."""

    outcome: Any = None


class ActivityLog:
    """Writes the logs of all sessions for one process, without the secrets that it has read."""

    def __init__(self, home: Path, caller: Caller, redactor: Redactor) -> None:
        self._home = home
        self._caller = caller
        self._redactor = redactor
        self._find_redactor = functools.lru_cache(_REDACTORS)(lambda _: SessionRedactor(redactor, home))

    def log_event(
        self, record: SessionRecord, doing: LoggedAction, message: str | None = None, error: str | None = None
    ) -> None:
        """Log an event that happened now."""
        self._write(record, doing, time.time(), 0, error, message)

    @contextlib.contextmanager
    def log_call(self, record: SessionRecord, doing: LoggedAction) -> Iterator[LoggedCall]:
        """Log the action that the block performs, with its duration and its error.

        The block sets `outcome`, which may itself report a failure.
        """
        began, started = time.time(), time.perf_counter()
        call = LoggedCall()
        error: BaseException | None = None
        try:
            yield call
            error = call.outcome.failure() if isinstance(call.outcome, MayHaveFailed) else None
        except BaseException as raised:
            error = raised
            raise
        finally:
            took = round((time.perf_counter() - started) * 1000, 1)
            code, message = (error.code, error.message) if isinstance(error, OrchestratorError) else ("stopped", None)
            self._write(record, doing, began, took, code if error else None, message)

    def log_lost_session(self, record: SessionRecord, reason: str) -> None:
        """Log that a session was found to be lost."""
        self.log_event(record, LoggedAction("lost"), reason, "session_lost")

    def remove_stale_logs(self, known: Callable[[str, str], SessionRecord | None]) -> None:
        """Remove the logs of sessions that are no longer remembered; `known` finds a record by namespace and id."""
        for file in (self._home / "logs").glob("*/*"):
            name = _LIFE.fullmatch(file.name)
            record = known(file.parent.name, name["id"].replace("@", ":")) if name else None
            if name and (record is None or _file(self._home, record).stem != name["life"]):
                with contextlib.suppress(OSError):
                    file.unlink()

    def _write(
        self, record: SessionRecord, doing: LoggedAction, at: float, took: float, error: str | None, message: str | None
    ) -> None:
        redactor = self._find_redactor((record.namespace, record.id))
        redactor.learn(record.typed)
        given = to_jsonable_python(dict(doing.arguments), by_alias=True, fallback=str)
        entry = ActivityEntry(
            at=activity_file.format_time(at),
            door=self._caller.door,
            pid=self._caller.pid,
            action=doing.action,
            step=doing.step,
            arguments=_brief(redactor.fields(self._redactor.data(_without_users(given)))),
            duration_ms=took,
            error=error,
            message=_brief(redactor.line(_without_users(message))) if message else None,
        )
        line = entry.model_dump_json(by_alias=True, exclude_defaults=True, ensure_ascii=True)
        activity_file.append(_file(self._home, record), line)


def _without_users(value: Any) -> Any:
    return _each_text(value, lambda text: without_users(without_credentials(text)))


def _brief(value: Any) -> Any:
    """Cut texts, after they were masked: half of a secret would not be recognised."""
    return _each_text(value, lambda text: brief(text.encode("utf-8", "replace").decode(), _LONGEST))


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: _each_text(item, change) for name, item in value.items()}
    return [_each_text(item, change) for item in value] if isinstance(value, list) else value


def entries(home: Path, record: SessionRecord) -> list[ActivityEntry]:
    """Read a session's log in order of start, without lines that a crash left half written."""
    current = _file(home, record)
    files = activity_file.older(current), current
    return sorted((entry for file in files for entry in _read(file)), key=lambda entry: entry.at)


def _read(file: Path) -> Iterator[ActivityEntry]:
    with contextlib.suppress(FileNotFoundError):
        for line in file.read_bytes().splitlines():
            with contextlib.suppress(ValidationError):
                yield ActivityEntry.model_validate_json(line)


def _file(home: Path, record: SessionRecord) -> Path:
    return activity_file.place(home, record.namespace, record.id, record.created_at)
