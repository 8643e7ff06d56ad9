"""Who sees to it that a keeper runs."""

from __future__ import annotations

from pathlib import Path

import anyio
import psutil
import pytest

from orchestrator.keeping import Keeping
from orchestrator.living import gone
from orchestrator.sessions import Book
from tests.sessions.helpers import until
from tests.store.helpers import Keeper

pytestmark = pytest.mark.anyio


def keepers(home: Path) -> list[psutil.Process]:
    """What this process has started for a home."""
    return [one for one in psutil.Process().children() if not gone(one) and str(home) in one.cmdline()]


async def test_sessions_that_start_at_once_have_one_started(  # B13
    book: Book, keeper: Keeper, tmp_path: Path
) -> None:
    """All ask for it before it is there: one process is started, and collected when it ends."""
    keeper.start("a", owner=book.caller.key)
    keeping = Keeping(book, tmp_path / "home")
    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(keeping.ensure)
    started = keepers(tmp_path / "home")
    keeper.close("a")
    await until(lambda: all(map(gone, started)))
    assert len(started) == 1
