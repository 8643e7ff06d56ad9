"""Sees to it that a keeper runs where there is something to keep."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

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


class Keeping:
    """Starts the keeper of one home; two who do so at once start one, which the store decides."""

    def __init__(self, book: Book, home: Path) -> None:
        self._book = book
        self._home = home
        self._started: subprocess.Popen[bytes] | None = None
        self._starting = threading.Lock()

    async def ensure(self) -> None:
        """Start a keeper unless there is one, or nothing to keep; nothing here depends on whether that succeeds."""
        try:
            if await self._book.ask(self._book.store.lacks_keeper):
                await anyio.to_thread.run_sync(self._start_once)
        except (OSError, OrchestratorError) as error:
            structlog.get_logger(__name__).warning("the keeper did not start", error=str(error))

    def _start_once(self) -> None:
        """Sessions that start at once ask for it at once."""
        with self._starting:
            if self._started is None or self._started.poll() is not None:
                self._started = self._start()
            # Otherwise it was started just now, and is about to say so.

    def _start(self) -> subprocess.Popen[bytes]:
        log = self._home / _LOG
        anew = log.exists() and log.stat().st_size > _LONGEST
        with log.open("wb" if anew else "ab") as output:
            started = subprocess.Popen(
                [sys.executable, "-I", str(_PROGRAM), str(self._home), *_FOUND_IN],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={name: value for name, value in os.environ.items() if name != ending.MARK},
                cwd=self._home,
                **processes.apart(),
            )
        threading.Thread(target=started.wait, name="reap-keeper", daemon=True).start()
        return started
