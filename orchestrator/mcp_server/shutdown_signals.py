"""The reason for which a server ends, and the signals that are one."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import anyio


class ShutdownTrigger:
    """The reason for which the server ends: the first one counts."""

    def __init__(self) -> None:
        self._begun = anyio.Event()
        self.reason = ""

    def trigger(self, reason: str) -> None:
        """Begin the end, unless it has begun."""
        self.reason = self.reason or reason
        self._begun.set()

    async def wait(self) -> None:
        """Wait until there is a reason."""
        await self._begun.wait()


@contextlib.contextmanager
def stop_signals(ending: ShutdownTrigger) -> Iterator[Callable[[], Coroutine[Any, Any, None]]]:
    """Take signals as reasons to end; yields a coroutine function that must run for that."""
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGBREAK") if hasattr(signal, name)]
    with contextlib.ExitStack() as stack:
        try:
            received = stack.enter_context(anyio.open_signal_receiver(*numbers))
        except NotImplementedError:  # Windows: its event loops wake up for the handlers of Python
            loop = asyncio.get_running_loop()
            for number in numbers:
                before = signal.signal(number, lambda *_: loop.call_soon_threadsafe(ending.trigger, "a signal"))
                stack.callback(signal.signal, number, before)
            yield ending.wait
            return

        async def listen() -> None:
            async for number in received:
                ending.trigger(number.name)

        yield listen
