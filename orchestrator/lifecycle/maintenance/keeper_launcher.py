"""Starts the keeper process of a data folder that has open sessions."""

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

from orchestrator.errors import OrchestratorError
from orchestrator.sessions.registry import SessionRegistry
from orchestrator.system import processes
from orchestrator.system.host import private_files
from orchestrator.system.logger import get_logger
from orchestrator.system.machine import child_environment

_PROGRAM = Path(__file__).parents[1] / "keeper" / "__main__.py"
_FOUND_IN = [str(Path(__file__).parents[3]), str(Path(psutil.__file__).parents[1])]
"""Folders from which the keeper imports, wherever these packages are installed."""
_LOG = "keeper.log"
_MAX_LOG = 1_000_000
"""Size in bytes from which the log is begun anew."""
_REGISTERS_WITHIN = 5.0
"""Seconds that a keeper may take from its start until it is registered in the store."""
_POLL = 0.05


class KeeperLauncher:
    """Starts the keeper of one data folder; of several keepers started at once, the store lets one stay."""

    def __init__(self, registry: SessionRegistry, home: Path) -> None:
        self._registry = registry
        self._home = home
        self._started: subprocess.Popen[bytes] | None = None
        self._one_at_a_time = anyio.Lock()

    async def ensure(self) -> None:
        """Start a keeper unless one runs or no session is open; a failure is logged."""
        try:
            async with self._one_at_a_time:
                if await self._is_missing():
                    await anyio.to_thread.run_sync(self._start)
        except (OSError, OrchestratorError) as error:
            get_logger(__name__).warning("the keeper did not start", error=str(error))

    async def _is_missing(self) -> bool:
        """Return True if a keeper is to be started, once the one that was just started has registered or ended."""
        until = time.monotonic() + _REGISTERS_WITHIN
        while missing := await self._registry.call_store(self._registry.store.lacks_keeper):
            if self._started is None or self._started.poll() is not None or time.monotonic() >= until:
                break
            await anyio.sleep(_POLL)
        return missing

    def _start(self) -> None:
        self._started = self._spawn()
        threading.Thread(target=self._started.wait, name="reap-keeper", daemon=True).start()

    def _spawn(self) -> subprocess.Popen[bytes]:
        log = self._home / _LOG
        too_large = log.exists() and log.stat().st_size > _MAX_LOG
        with private_files.open_to_append(log, anew=too_large) as output:
            return subprocess.Popen(
                [sys.executable, "-I", "-S", str(_PROGRAM), str(self._home), *_FOUND_IN],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=child_environment(os.environ),
                cwd=self._home,
                **processes.build_popen_isolation(),
            )
