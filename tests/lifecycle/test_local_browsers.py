"""The limit of browsers on this machine."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from orchestrator.errors import SessionLimit
from orchestrator.lifecycle.boundary.local_browsers import LEAST_MEMORY, LocalBrowsers
from orchestrator.models.session import SessionRecord, SessionType
from orchestrator.settings import Settings
from orchestrator.system.machine import available_memory


def record(name: str, last_active_at: float, namespace: str = "shop") -> SessionRecord:
    """Return the record of a local browser."""
    return SessionRecord(
        id=name, namespace=namespace, type=SessionType.BROWSER, provider="local", owner="me", created_at=0,
        last_active_at=last_active_at,
    )  # fmt: skip


def test_a_start_is_refused_while_little_memory_is_available_and_names_idle_sessions(tmp_path: Path) -> None:
    """The longest idle sessions of the namespace come first; those in use, and those of others, are not named."""
    settings = Settings(home=tmp_path, namespace="shop")
    records = [record("busy", 990), record("a", 500), record("b", 100), record("c", 0, "other")]
    LocalBrowsers(settings, lambda: 1000, lambda: LEAST_MEMORY).require_room(records)
    LocalBrowsers(settings, lambda: 1000, lambda: None).require_room(records)
    with pytest.raises(SessionLimit) as raised:
        LocalBrowsers(settings, lambda: 1000, lambda: LEAST_MEMORY - 1).require_room(records)
    assert str(raised.value).startswith("399 MB of memory are available; a browser is started from 400 MB on.")
    assert raised.value.hint.startswith("Close an idle session: b (15 min), a (8 min). The setting max_local_browsers")


def test_available_memory_is_at_most_what_a_container_still_allows(tmp_path: Path) -> None:
    """What is used counts against the container's limit, but not files that can be dropped."""
    assert 0 < (available_memory(tmp_path) or 0) <= psutil.virtual_memory().total
    for name, text in {
        "memory.max": "9000000\n",
        "memory.current": "8000000\n",
        "memory.stat": "inactive_file 500\n",
    }.items():
        (tmp_path / name).write_text(text)
    assert available_memory(tmp_path) == 1_000_500
    (tmp_path / "memory.max").write_text("max\n")
    assert (available_memory(tmp_path) or 0) > 1_000_500
