"""The script worlds of this process, by session."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Collection, Iterable

from orchestrator.automation.scripting.engine import require_engine
from orchestrator.automation.scripting.kernel import ScriptFunction
from orchestrator.automation.scripting.modules import ScriptModules
from orchestrator.automation.scripting.world import World
from orchestrator.models.session import SessionRecord

MOST = 16
"""Worlds that a process keeps; the least recently used one is given up first."""
_NOTICES = 100
"""Sessions of which it is kept, until their next script, that and why their world was reset."""
_ENDED, _NEW = "its process ended", "the session's browser is a new one"
_MB = 1024 * 1024


class WorldPool:
    """A world per session, created at its first use.

    Args:
        functions: The actions that scripts can call.
        memory: The limit of each world in MB.
        idle: Seconds without a script after which a world is given up.
        modules: The modules that scripts can import.
        clock: Returns the time in seconds.
    """

    def __init__(
        self,
        functions: Iterable[ScriptFunction],
        memory: int,
        idle: float,
        modules: ScriptModules,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._functions = list(functions)
        self._memory = memory * _MB
        self._idle = idle
        self._modules = modules
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[str, World]] = {}
        self._resets: dict[str, str] = {}
        self._known = set[str]()

    def get_or_create(self, session_id: str, remote_session_id: str) -> tuple[World, bool]:
        """The world of a session, and True if it was created by this call.

        Raises:
            Unsupported: The JavaScript engine is not installed.
        """
        require_engine()
        self._drop_stale(session_id, remote_session_id)
        with self._lock:
            if session_id in self._kept:
                world = self._kept[session_id][1]
                world.used = self._clock()
                return world, False
        world = World(self._functions, self._memory, self._modules)
        world.used = self._clock()
        with self._lock:
            self._kept[session_id] = remote_session_id, world
        self._make_room()
        return world, True

    def take_reset_notice(self, session_id: str, remote_session_id: str) -> str:
        """Return once, as a sentence, that this session's world was reset and why; empty if it was not."""
        self._drop_stale(session_id, remote_session_id)
        with self._lock:
            return self._resets.pop(session_id, "")

    def forget(self, session_id: str) -> None:
        """Drop the world of a session that has ended."""
        with self._lock:
            self._resets.pop(session_id, None)
            kept = self._kept.pop(session_id, None)
        if kept:
            kept[1].shut_down("its session is closed")

    def idle_seconds_left(self, session_id: str) -> float:
        """Seconds until the session's world is idle for too long; infinite if there is none, or a script runs."""
        with self._lock:
            _, world = self._kept.get(session_id, ("", None))
        if world is None or world.busy:
            return math.inf
        return world.used + self._idle - self._clock()

    def give_up_idle(self, session_id: str) -> None:
        """Give up the session's world if it has been idle for too long."""
        if self.idle_seconds_left(session_id) <= 0:
            self._give_up(session_id, f"no script used it for {self._idle:g} s")

    def keep_only(self, records: Collection[SessionRecord]) -> None:
        """Give up the worlds of other sessions than the open ones, since another process may have closed theirs.

        Only those are looked at that were there at the last pass already: the records are newer than these. A session
        that another process starts under the name of one is told.
        """
        with self._lock:
            known, self._known = self._known, {*self._kept}
            gone = (known & self._known) - {record.id for record in records}
        for name in gone:
            self._give_up(name, _NEW)

    def close(self) -> None:
        """Drop all worlds."""
        for name in list(self._kept):
            self.forget(name)

    def _drop_stale(self, session_id: str, remote_session_id: str) -> None:
        """Give up a world that is lost, or that belongs to an earlier browser of the session."""
        with self._lock:
            remote, world = self._kept.get(session_id, ("", None))
        if world is None:
            return
        reason = world.lost_reason or (_ENDED if world.engine.ended else _NEW if remote != remote_session_id else "")
        if reason:
            self._give_up(session_id, reason)

    def _give_up(self, session_id: str, reason: str) -> None:
        with self._lock:
            kept = self._kept.pop(session_id, None)
            self._resets.pop(session_id, None)
            if len(self._resets) == _NOTICES:
                del self._resets[next(iter(self._resets))]
            self._resets[session_id] = f"The script world was reset: {reason}. Globals are gone; vars are still there."
        if kept and not kept[1].lost_reason:
            kept[1].shut_down(reason)

    def _make_room(self) -> None:
        with self._lock:
            free = sorted((world.used, name) for name, (_, world) in self._kept.items() if not world.busy)
            over = len(self._kept) - MOST
        for _, name in free[: max(over, 0)]:
            self._give_up(name, f"{MOST} other sessions have used theirs since")
