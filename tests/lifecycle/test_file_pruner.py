"""Files below home that nobody else removes."""

from __future__ import annotations

import os
import time
from pathlib import Path

import anyio.to_thread
import pytest

from orchestrator.api import Orchestrator
from orchestrator.lifecycle.maintenance.file_pruner import FilePruner
from orchestrator.settings import Settings
from tests.waiting import until

pytestmark = pytest.mark.anyio

DAY = 86_400.0


def put(home: Path, place: str, age: float, size: int = 1) -> Path:
    """Write a file below home that was last changed so many seconds ago."""
    path = home / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    os.utime(path, (time.time() - age, time.time() - age))
    return path


async def test_a_server_removes_old_files_that_it_named_and_no_others(tmp_path: Path) -> None:
    """Downloads, pictures, prints and recordings of a month ago go; states, profiles and files of others stay."""
    outside = put(tmp_path, "outside/others.png", 400 * DAY)
    home = tmp_path / "home"
    old = [put(home, f"{folder}/shop/one/x.bin", 31 * DAY) for folder in ("downloads", "screenshots", "prints", "hars")]
    kept = [
        put(home, f"{folder}/shop/two/x.bin", 29 * DAY) for folder in ("downloads", "screenshots", "prints", "hars")
    ]
    kept += [put(home, place, 400 * DAY) for place in ("states/bank.json", "profiles/me/x", "notes.txt")]
    (home / "screenshots/shop/link").symlink_to(outside.parent)
    async with Orchestrator(Settings(home=home, namespace="shop")):
        gone = [*old, old[0].parent]
        await anyio.to_thread.run_sync(until, lambda: not any(path.exists() for path in gone), "the removal")
    assert all(path.exists() for path in [*kept, outside])


def test_the_oldest_files_of_a_folder_that_is_too_large_are_removed(tmp_path: Path) -> None:
    """The newest stay, and so does what is younger than an hour."""
    files = [put(tmp_path, f"downloads/shop/{age}.bin", age * 3600, 400) for age in (4, 3, 2, 0.5)]
    journal = put(tmp_path, "hars/shop/one.journal", 90 * DAY)
    FilePruner(tmp_path, 30 * DAY, DAY, most=1000).prune()
    assert [path.exists() for path in files] == [False, False, True, True]
    FilePruner(tmp_path, 30 * DAY, DAY, most=100).prune()
    assert [path.exists() for path in files] == [False, False, False, True]
    assert journal.exists()


def test_files_are_kept_for_ever_where_the_setting_says_so(tmp_path: Path) -> None:
    """0 removes nothing."""
    file = put(tmp_path, "screenshots/shop/x.png", 4000 * DAY, 400)
    FilePruner(tmp_path, 0, DAY, most=100).prune()
    assert file.exists()
