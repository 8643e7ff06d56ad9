"""The quota of a session's downloads on this machine, held while they run."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from pathlib import Path

from orchestrator.errors import OrchestratorError
from orchestrator.webdriver.chromium import Chromium

MOST_FILES = 1_000
"""Files that a session's folder of downloads may have."""
_EVERY = 0.2
"""Seconds between two looks at the folder while a download runs."""
_MB = 1_000_000


class DownloadQuota:
    """Cancels running downloads once their folder is full, and removes those that were faster.

    The folder is looked at by a thread of its own, which lives as long as a download runs: the driver may be busy with
    a call, and a download need not end.

    Args:
        folder: The folder of the session's downloads.
        megabytes: What its files may have together.
        address: Host and port of the browser's DevTools; empty where it has none: then downloads that are too large are
            removed at their end.
        name: The session.
    """

    def __init__(self, folder: Path, megabytes: int, address: str, name: str) -> None:
        self._folder = folder
        self._megabytes = megabytes
        self._address = address
        self._name = name
        self._running: set[str] = set()
        self._cancelled: set[str] = set()
        self._lock = threading.Lock()
        self._watched = False

    @property
    def limits(self) -> str:
        """The limits in words."""
        return f"{self._megabytes:,} MB and {MOST_FILES:,} files"

    def begin(self, download: str) -> None:
        """Note that a download began; without waiting, as all that events call."""
        with self._lock:
            self._running.add(download)
            if not self._watched:
                self._watched = True
                threading.Thread(target=self._watch, name=f"downloads-{self._name}", daemon=True).start()

    def end(self, download: str, path: Path | None) -> bool:
        """Note that a download ended; returns True if it was too much, its file, if any, removed."""
        with self._lock:
            self._running.discard(download)
            was_cancelled = download in self._cancelled
            self._cancelled.discard(download)
        if path is None or not self._is_exceeded():
            return was_cancelled
        if path.resolve().parent == self._folder.resolve():
            with suppress(OSError):
                path.unlink()
        return True

    def _watch(self) -> None:
        while True:
            with self._lock:
                running = self._running - self._cancelled
                if not self._running:
                    self._watched = False
                    return
            if running and self._is_exceeded():
                self._cancel(running)
            time.sleep(_EVERY)

    def _cancel(self, downloads: set[str]) -> None:
        with self._lock:
            self._cancelled |= downloads
        if not self._address:
            return
        with suppress(OrchestratorError), Chromium(self._address, name=self._name) as chromium:
            for download in downloads:
                with suppress(OrchestratorError):  # it has ended
                    chromium.cancel_download(download)

    def _is_exceeded(self) -> bool:
        """Return True if the folder holds more than it may, unfinished downloads included."""
        sizes = []
        with suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                with suppress(OSError):  # it is gone
                    sizes.append(entry.stat(follow_symlinks=False).st_size)
        return len(sizes) > MOST_FILES or sum(sizes) > self._megabytes * _MB
