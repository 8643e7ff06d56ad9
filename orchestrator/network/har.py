"""HTTP archives (HAR 1.2): paths, writing from a journal, reading for a replay."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from orchestrator.errors import InvalidArgument, brief
from orchestrator.models.session import SessionRecord, SessionState
from orchestrator.network.har_entries import Json
from orchestrator.network.journal import Journal, find_journals, recordings_folder, session_file_name
from orchestrator.system.output import write_file

SUFFIX = ".har"
_LARGEST = 300_000_000
"""Bytes of the largest file that is read, since all of it is in memory then."""
_CLOSING = 10.0
"""Seconds after the last request for which a recording is left to the process that may be closing the session."""
_NAME = "webdriver-orchestrator"


def next_free_path(record: SessionRecord, home: Path) -> Path:
    """Return the default path of a new recording: the next one below `home` that no file has."""
    number = 1
    while (path := recordings_folder(record, home) / f"{session_file_name(record)}-{number}{SUFFIX}").exists():
        number += 1
    return path


def resolve_target(given: str) -> Path:
    """Return the absolute path of a new recording.

    Raises:
        InvalidArgument: It cannot be the path of an archive.
    """
    path = _absolute(given)
    if path.suffix.lower() != SUFFIX:
        raise InvalidArgument(f"{given!r} does not end in {SUFFIX}.", hint=f"Give a path that ends in {SUFFIX}.")
    if path.is_dir():
        raise InvalidArgument(f"{given!r} is a folder.", hint="Give the path of a file.")
    return path


def resolve_source(given: str) -> Path:
    """Return the absolute path of an archive, after reading it.

    Raises:
        InvalidArgument: It cannot be read or is no archive; the message says why.
    """
    path = _absolute(given)
    read(path)
    return path


def read(path: Path) -> list[Json]:
    """Read the entries of an archive, in order; malformed ones are omitted.

    Raises:
        InvalidArgument: It cannot be read or is no archive.
    """
    try:
        if path.exists() and not path.is_file():  # reading a pipe would hold the session for ever
            raise InvalidArgument(f"{path} is not a file.", hint="Give the path of a HAR file.")
        if path.stat().st_size > _LARGEST:
            raise InvalidArgument(f"{path} has more than {_LARGEST // 1_000_000} MB.", hint="Give a smaller one.")
        archive = json.loads(path.read_text("utf-8-sig"))
        entries = archive["log"]["entries"]
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not JSON"
        raise InvalidArgument(f"{path} cannot be read: {reason}.", hint="Give the path of a HAR file.") from None
    except (LookupError, TypeError):
        raise InvalidArgument(
            f"{path} is not a HAR: it has no log with entries.", hint="Record one with har."
        ) from None
    if not isinstance(entries, list):
        raise InvalidArgument(f"{path} is not a HAR: its entries are not a list.", hint="Record one with har.")
    return [entry for entry in entries if _is_entry(entry)]


def write(path: Path, record: SessionRecord, journal: Journal, more: Iterable[Json] = ()) -> tuple[int, int]:
    """Write the journal and `more` entries as an archive that only this user can read.

    Returns the numbers of its pages and entries.

    Raises:
        InvalidArgument: The path cannot be written.
    """
    log = _log(record, journal, more)
    try:
        write_file(path, json.dumps({"log": log}, ensure_ascii=False, indent=1))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidArgument(f"{path} cannot be written: {reason}.", hint="Give another path.") from None
    return len(log["pages"]), len(log["entries"])


def finish_recording(record: SessionRecord, home: Path, more: Iterable[Json]) -> str:
    """Write the recording of a session that ends, and remove the journal.

    Returns a sentence about the file; empty if there is no journal.
    """
    journal = Journal.for_session(record, home)
    if not journal.path.exists():
        return ""
    try:
        _, entries = write(Path(record.har), record, journal, more)
    except InvalidArgument as error:
        return f"The recording of {record.id} was not written: {error.sentence}"
    journal.remove()
    return f"The recording of {record.id} is in {record.har} ({entries} requests)."


def finish_orphaned_recordings(home: Path, known: Callable[[str, str], SessionRecord | None]) -> None:
    """Write the recordings of sessions that ended while no server ran.

    `known` finds a record by namespace and id, also of a closed session. Journals of unknown sessions are removed.
    """
    for namespace, session_id, journal in find_journals(home):
        record = known(namespace, session_id)
        if record is not None and (record.state is not SessionState.CLOSED or _is_new(journal)):
            continue
        if record is None or not record.har:
            journal.remove()
        else:
            finish_recording(record, home, ())


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
    browser = {name: str(record.capabilities.get(f"browser{name.title()}", "")) for name in ("name", "version")}
    return {
        "version": "1.2",
        "creator": {"name": _NAME, "version": version(_NAME)},
        "browser": browser,
        "pages": [*pages.values()],
        "entries": entries,
    }


def _is_new(journal: Journal) -> bool:
    """Return True if a process may just be closing the session, and will write the recording."""
    return time.time() - journal.written_at < _CLOSING


def _is_entry(value: Any) -> bool:
    try:
        return isinstance(value["request"]["url"], str) and isinstance(value["response"]["status"], int)
    except (LookupError, TypeError):
        return False


def _absolute(given: str) -> Path:
    try:
        path = Path(given).expanduser().absolute()
        path.exists()
    except (OSError, ValueError, RuntimeError) as error:
        raise InvalidArgument(f"{brief(given, 200)!r} cannot be a file: {error}.", hint="Give another path.") from None
    return path
