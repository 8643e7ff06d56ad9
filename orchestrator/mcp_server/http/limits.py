"""The limits of a token: calls a minute, and calls at a time."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator

import anyio

from orchestrator.mcp_server.http.refusals import too_many
from orchestrator.mcp_server.http.tokens import Token

_MINUTE = 60.0


class CallLimits:
    """Counts a token's calls: as many as a minute allows may come at once, and then one by one as they grow back.

    Attributes:
        running: Calls that run now.
    """

    def __init__(self, token: Token) -> None:
        self.running = 0
        self._token = token
        self._quiet = anyio.Event()
        self._left = float(token.calls_per_minute)
        self._counted_at = time.monotonic()

    @contextlib.contextmanager
    def calling(self) -> Iterator[None]:
        """Count a call for a block.

        Raises:
            HttpRefusal: It is above a limit.
        """
        rate = self._token.calls_per_minute / _MINUTE
        now = time.monotonic()
        self._left = min(self._left + (now - self._counted_at) * rate, self._token.calls_per_minute)
        self._counted_at = now
        if self.running >= self._token.concurrent_calls:
            raise too_many(f"{self._token.concurrent_calls} calls at a time", 1)
        if self._left < 1:
            raise too_many(f"{self._token.calls_per_minute} calls a minute", math.ceil((1 - self._left) / rate))
        self._left -= 1
        if not self.running:
            self._quiet = anyio.Event()
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1
            if not self.running:
                self._quiet.set()

    async def wait_until_answered(self) -> None:
        """Wait until no call runs, and each has its answer."""
        if self.running:
            await self._quiet.wait()
