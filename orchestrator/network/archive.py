"""HTTP archives (HAR 1.2): written of a journal, read to be played back, and where they lie."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from orchestrator.errors import InvalidArgument, brief
from orchestrator.models import SessionRecord, SessionState
from orchestrator.network.entries import Json
from orchestrator.network.journal import Journal, folder, left, plain

SUFFIX = ".har"
_LARGEST = 300_000_000
"""Bytes of a file that is read: all of it is in memory then."""
_CLOSING = 10.0
"""Seconds after the last request in which who closes a session writes what it recorded."""
_NAME = "webdriver-orchestrator"


def unused(record: SessionRecord, home: Path) -> Path:
    """Where a session's recording goes when nobody says: a path below `home` that no file has yet."""
    number = 1
    while (path := folder(record, home) / f"{plain(record)}-{number}{SUFFIX}").exists():
        number += 1
    return path


def target(given: str) -> Path:
    """Where a recording goes, as an absolute path.

    Raises:
        InvalidArgument: It cannot be the path of an archive.
    """
    path = _absolute(given)
    if path.suffix.lower() != SUFFIX:
        raise InvalidArgument(f"{given!r} does not end in {SUFFIX}.", hint="Give a path that does.")
    if path.is_dir():
        raise InvalidArgument(f"{given!r} is a folder.", hint="Give the path of a file.")
    return path


def source(given: str) -> Path:
    """An archive that can be read and has entries, by its absolute path.

    Raises:
        InvalidArgument: It is none; the message says why.
    """
    path = _absolute(given)
    read(path)
    return path


def read(path: Path) -> list[Json]:
    """The entries of an archive, in order; what is no entry is left out.

    Raises:
        InvalidArgument: It cannot be read, or is none.
    """
    try:
        if path.stat().st_size > _LARGEST:
            raise InvalidArgument(f"{path} has more than {_LARGEST // 1_000_000} MB.", hint="Give a smaller one.")
        found = json.loads(path.read_text("utf-8-sig"))
        entries = found["log"]["entries"]
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is not JSON"
        raise InvalidArgument(f"{path} cannot be read: {why}.", hint="Give the path of a HAR file.") from None
    except (LookupError, TypeError):
        raise InvalidArgument(f"{path} is no HAR: it has no log with entries.", hint="Record one with har.") from None
    if not isinstance(entries, list):
        raise InvalidArgument(f"{path} is no HAR: its entries are no list.", hint="Record one with har.")
    return [one for one in entries if _is_entry(one)]


def write(path: Path, record: SessionRecord, journal: Journal, more: Iterable[Json] = ()) -> tuple[int, int]:
    """Write the archive of what is in the journal, and of `more`; how many pages and entries it has.

    It is for this user's eyes alone.

    Raises:
        InvalidArgument: The path cannot be written.
    """
    log = _log(record, journal, more)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial.touch(0o600)
        with partial.open("w", encoding="utf-8") as file:
            json.dump({"log": log}, file, ensure_ascii=False, indent=1)
        partial.replace(path)
    except (OSError, ValueError) as error:
        partial.unlink(missing_ok=True)
        why = getattr(error, "strerror", None) or error
        raise InvalidArgument(f"{path} cannot be written: {why}.", hint="Give another path.") from None
    return len(log["pages"]), len(log["entries"])


def finish(record: SessionRecord, home: Path, more: Iterable[Json]) -> str:
    """Write what a session recorded that ends, and forget the journal; a sentence about it, the first time."""
    journal = Journal.of(record, home)
    if not journal.path.exists():
        return ""
    try:
        _, entries = write(Path(record.har), record, journal, more)
    except InvalidArgument as error:
        return f"What {record.id} recorded was not written: {error}"
    journal.remove()
    return f"What {record.id} recorded is in {record.har} ({entries} requests)."


def tidy(home: Path, known: Callable[[str, str], SessionRecord | None]) -> None:
    """Write what sessions recorded that ended while no server was there to do it.

    `known` finds a record by namespace and id, closed ones too. What nobody remembers the session of is forgotten.
    """
    for namespace, session_id, journal in left(home):
        record = known(namespace, session_id)
        if record is not None and (record.state is not SessionState.CLOSED or _is_new(journal)):
            continue
        if record is None or not record.har:
            journal.remove()
        else:
            finish(record, home, ())


def _log(record: SessionRecord, journal: Journal, more: Iterable[Json]) -> Json:
    pages: dict[str, Json] = {}
    entries = [*more]
    for kind, value in journal.read():
        if kind == "page":
            pages[value["id"]] = value
        elif kind == "entry":
            entries.append(value)
        elif page := pages.get(value.pop("id")):
            page["pageTimings"] |= value
    entries.sort(key=lambda entry: str(entry["startedDateTime"]))
    told = record.capabilities
    return {
        "version": "1.2",
        "creator": {"name": _NAME, "version": version(_NAME)},
        "browser": {"name": str(told.get("browserName", "")), "version": str(told.get("browserVersion", ""))},
        "pages": [*pages.values()],
        "entries": entries,
    }


def _is_new(journal: Journal) -> bool:
    """Whether somebody may just be closing its session, who writes it then."""
    return time.time() - journal.written_at < _CLOSING


def _is_entry(one: Any) -> bool:
    try:
        return isinstance(one["request"]["url"], str) and isinstance(one["response"]["status"], int)
    except (LookupError, TypeError):
        return False


def _absolute(given: str) -> Path:
    try:
        path = Path(given).expanduser().absolute()
        path.exists()
    except (OSError, ValueError, RuntimeError) as error:
        raise InvalidArgument(f"{brief(given, 200)!r} cannot be a file: {error}.", hint="Give another path.") from None
    return path
