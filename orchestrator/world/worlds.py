"""The script worlds of the sessions that this process drives: each is a cache that may be given up at any time."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable

from orchestrator.world.engine import need
from orchestrator.world.kernel import Function
from orchestrator.world.world import World

MOST = 16
"""Worlds that a process keeps; the one that was not used for longest goes first."""
_ENDED, _NEW = "its process ended", "the session's browser is a new one"
_MB = 1024 * 1024


class Worlds:
    """One world a session, made at its first use.

    Args:
        functions: The actions that scripts can call.
        memory: MB that each may have.
        idle: Seconds without a script after which one is given up.
        clock: The time that worlds count in.
    """

    def __init__(
        self, functions: Iterable[Function], memory: int, idle: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._functions = list(functions)
        self._memory = memory * _MB
        self._idle = idle
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[str, World]] = {}
        self._resets: dict[str, str] = {}

    def of(self, session_id: str, remote_session_id: str) -> tuple[World, bool]:
        """The world of a session, and whether it was made just now.

        Raises:
            Unsupported: There is no engine.
        """
        need()
        self._look(session_id, remote_session_id)
        with self._lock:
            if session_id in self._kept:
                world = self._kept[session_id][1]
                world.used = self._clock()
                return world, False
        world = World(self._functions, self._memory)
        world.used = self._clock()
        with self._lock:
            self._kept[session_id] = remote_session_id, world
        self._make_room()
        return world, True

    def reset(self, session_id: str, remote_session_id: str) -> str:
        """Why this session's world is gone since that was last asked, as a sentence; empty when it is not."""
        self._look(session_id, remote_session_id)
        with self._lock:
            return self._resets.pop(session_id, "")

    def forget(self, session_id: str) -> None:
        """The session is no more."""
        with self._lock:
            self._resets.pop(session_id, None)
            kept = self._kept.pop(session_id, None)
        if kept:
            kept[1].lose("its session is closed")

    def idle_left(self, session_id: str) -> float:
        """Seconds until its world has been idle for too long; infinite where it has none, or a script runs in it."""
        with self._lock:
            _, world = self._kept.get(session_id, ("", None))
        if world is None or world.busy:
            return math.inf
        return world.used + self._idle - self._clock()

    def give_up_idle(self, session_id: str) -> None:
        """Give up its world, if it has been idle for too long."""
        if self.idle_left(session_id) <= 0:
            self._give_up(session_id, f"no script used it for {self._idle:g} s")

    def close(self) -> None:
        """Give up all."""
        for name in list(self._kept):
            self.forget(name)

    def _look(self, session_id: str, remote_session_id: str) -> None:
        with self._lock:
            remote, world = self._kept.get(session_id, ("", None))
        if world is None:
            return
        why = world.lost or (_ENDED if world.engine.ended else _NEW if remote != remote_session_id else "")
        if why:
            self._give_up(session_id, why)

    def _give_up(self, session_id: str, why: str) -> None:
        with self._lock:
            kept = self._kept.pop(session_id, None)
            self._resets[session_id] = f"The script world was reset: {why}. Globals are gone; vars are still there."
        if kept and not kept[1].lost:
            kept[1].lose(why)

    def _make_room(self) -> None:
        with self._lock:
            free = sorted((world.used, name) for name, (_, world) in self._kept.items() if not world.busy)
            over = len(self._kept) - MOST
        for _, name in free[: max(over, 0)]:
            self._give_up(name, f"{MOST} other sessions have used theirs since")
