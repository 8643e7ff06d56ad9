"""Sees to it that a keeper runs where there is something to keep."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import anyio
import anyio.to_thread
import psutil
import structlog

from orchestrator import ending, processes
from orchestrator.errors import OrchestratorError
from orchestrator.sessions import Book

_PROGRAM = Path(__file__).with_name("keeper") / "__main__.py"
_FOUND_IN = [str(Path(file).parents[1]) for file in (__file__, psutil.__file__)]
"""Where the keeper finds what it imports, wherever that was installed to."""
_LOG = "keeper.log"
_LONGEST = 1_000_000
"""Bytes of the log after which it begins anew."""
_ARRIVES = 5.0
"""Seconds that one may take from its start until it says that it is here."""
_POLL = 0.05


class Keeping:
    """Starts the keeper of one home; two who do so at once start one, which the store decides."""

    def __init__(self, book: Book, home: Path) -> None:
        self._book = book
        self._home = home
        self._started: subprocess.Popen[bytes] | None = None
        self._one_at_a_time = anyio.Lock()

    async def ensure(self) -> None:
        """Start a keeper unless there is one, or nothing to keep; nothing here depends on whether that succeeds."""
        try:
            async with self._one_at_a_time:
                if await self._is_missed():
                    await anyio.to_thread.run_sync(self._start)
        except (OSError, OrchestratorError) as error:
            structlog.get_logger(__name__).warning("the keeper did not start", error=str(error))

    async def _is_missed(self) -> bool:
        """Whether one is to be started: that of a moment ago is about to say that it is here, or about to end."""
        until = time.monotonic() + _ARRIVES
        while missed := await self._book.ask(self._book.store.lacks_keeper):
            if self._started is None or self._started.poll() is not None or time.monotonic() >= until:
                break
            await anyio.sleep(_POLL)
        return missed

    def _start(self) -> None:
        self._started = self._spawn()
        threading.Thread(target=self._started.wait, name="reap-keeper", daemon=True).start()

    def _spawn(self) -> subprocess.Popen[bytes]:
        log = self._home / _LOG
        anew = log.exists() and log.stat().st_size > _LONGEST
        with log.open("wb" if anew else "ab") as output:
            return subprocess.Popen(
                [sys.executable, "-I", str(_PROGRAM), str(self._home), *_FOUND_IN],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={name: value for name, value in os.environ.items() if name != ending.MARK},
                cwd=self._home,
                **processes.apart(),
            )
