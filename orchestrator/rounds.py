"""What a server looks at again and again, for as long as it lives."""

from __future__ import annotations

from abc import ABC, abstractmethod

import anyio

LONGEST = 30.0
"""Seconds between two looks at most: another server may have started or used a session meanwhile."""
_SHORTEST = 0.1


class Rounds(ABC):
    """Looks after the sessions of one caller, whenever it is time to."""

    def __init__(self) -> None:
        self._changed = anyio.Event()

    def changed(self) -> None:
        """Something is to be looked at that may be the next: look now, and think again about when to."""
        self._changed.set()

    async def keep(self) -> None:
        """Look for as long as the server lives."""
        while True:
            wait = await self.look()
            with anyio.move_on_after(min(LONGEST, max(_SHORTEST, wait))):
                await self._changed.wait()
            self._changed = anyio.Event()

    @abstractmethod
    async def look(self) -> float:
        """Look now; returns the seconds until the next time."""
