"""HAR recordings of sessions that ended while no server ran to write them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from orchestrator.models.session import SessionRecord, SessionState, SessionType
from orchestrator.network import har
from orchestrator.network.journal import Journal

ENTRY = {"startedDateTime": "2026-11-22T10:00:00.000Z", "request": {"url": "http://shop/"}, "response": {"status": 200}}


def recorded(home: Path, name: str, **fields: Any) -> SessionRecord:
    """A closed session with a journal that has not been written for some time."""
    known = {"id": name, "namespace": "tests", "type": SessionType.BROWSER, "provider": "local", "owner": "dead"}
    times = {"state": SessionState.CLOSED, "created_at": 0, "last_active_at": 0}
    record = SessionRecord(**{**known, **times, "har": str(home / f"{name.replace(':', '-')}.har"), **fields})
    journal = Journal.for_session(record, home)
    journal.path.parent.mkdir(parents=True, exist_ok=True)
    journal.path.touch()
    journal.write("entry", ENTRY)
    os.utime(journal.path, (0, 0))
    return record


def test_the_har_of_a_closed_session_is_written_later_from_its_journal(tmp_path: Path) -> None:  # X20
    """Journals of closed sessions become HAR files, those in use stay, and those without a session are removed."""
    ended, open_ = recorded(tmp_path, "shop:ann"), recorded(tmp_path, "open", state=SessionState.PARKED)
    closing, later = recorded(tmp_path, "closing"), recorded(tmp_path, "later", har="")
    forgotten = recorded(tmp_path, "forgotten")
    os.utime(Journal.for_session(closing, tmp_path).path)
    known = {(one.namespace, one.id): one for one in (ended, open_, closing, later)}
    har.finish_orphaned_recordings(tmp_path, lambda namespace, name: known.get((namespace, name)))
    [entry] = json.loads(Path(ended.har).read_text("utf-8"))["log"]["entries"]
    assert entry == ENTRY
    assert [Path(one.har).exists() for one in (open_, closing, forgotten)] == [False] * 3
    every = ended, open_, closing, later, forgotten
    assert [Journal.for_session(one, tmp_path).path.exists() for one in every] == [False, True, True, False, False]
