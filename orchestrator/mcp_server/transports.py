"""Serves MCP over stdin and stdout, and ends in good order: at the end of input, at SIGTERM, at SIGINT.

Clients close stdin, wait two seconds, send SIGTERM and two seconds later SIGKILL. So whatever begins the end, it
begins one clean-up, which is over before the SIGKILL; further signals change nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from types import TracebackType
from typing import Any, NoReturn, Self

import anyio
import structlog
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import ReadStream
from mcp.shared.message import SessionMessage

from orchestrator.api import Orchestrator
from orchestrator.mcp_server.app import App

CLEAN_UP = 3.0
"""Seconds that parking or ending the caller's sessions may take."""
_LAST_RESORT = 0.3
"""Seconds after which the process ends even if the clean-up holds the event loop or a log that nobody reads."""

Incoming = SessionMessage | Exception


class Ending:
    """Why the server ends: the first reason counts."""

    def __init__(self) -> None:
        self._begun = anyio.Event()
        self.reason = ""

    def begin(self, reason: str) -> None:
        """Begin to end; once begun, nothing begins it again."""
        self.reason = self.reason or reason
        self._begun.set()

    async def wait(self) -> None:
        """Wait until there is a reason."""
        await self._begun.wait()


class _Watched:
    """The incoming messages; says when there will be no more."""

    def __init__(self, stream: Any, ended: Callable[[], None]) -> None:
        self._stream = stream
        self._ended = ended

    @property
    def last_context(self) -> Any:
        """The context in which the last message was sent."""
        return self._stream.last_context

    async def receive(self) -> Incoming:
        """The next message."""
        try:
            item: Incoming = await self._stream.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            self._ended()
            raise
        return item

    async def aclose(self) -> None:
        """Take no more messages."""
        await self._stream.aclose()

    def __aiter__(self) -> ReadStream[Incoming]:
        return self

    async def __anext__(self) -> Incoming:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


async def serve_stdio(orchestrator: Orchestrator) -> None:
    """Serve until there is a reason to end, park or end the caller's sessions, and end the process.

    The process is ended from here: a thread may still wait for input, and another one for a remote end.
    """
    log = structlog.get_logger(__name__)
    ending = Ending()
    with _signals(ending) as listen:
        async with orchestrator, anyio.create_task_group() as group:
            group.start_soon(listen)
            group.start_soon(_speak, App(orchestrator), ending)
            log.info("serving over stdio", namespace=orchestrator.settings.namespace)
            await ending.wait()
            log.info("ending", reason=ending.reason)
            _end_whatever_happens()
            with anyio.move_on_after(CLEAN_UP, shield=True) as limit:
                await orchestrator.shut_down()
            if limit.cancelled_caught:
                log.warning("the clean-up took too long, the next server goes on with it", seconds=CLEAN_UP)
            _leave()


async def _speak(app: App, ending: Ending) -> None:
    """Serve the one client; calls that are in flight when the end begins are cancelled."""
    try:
        with anyio.CancelScope() as scope:
            async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as group:
                group.start_soon(_cancel_at, ending, scope)
                watched = _Watched(incoming, lambda: ending.begin("end of input"))
                try:
                    await app.server.run(watched, outgoing, app.server.create_initialization_options())
                finally:
                    ending.begin("the connection ended")
    except* ConnectionError:
        ending.begin("the client closed our output")
    except* Exception:  # noqa: BLE001 (we end in good order, whatever it was)
        structlog.get_logger(__name__).exception("the connection broke")
        ending.begin("the connection broke")


async def _cancel_at(ending: Ending, scope: anyio.CancelScope) -> None:
    await ending.wait()
    scope.cancel()


@contextlib.contextmanager
def _signals(ending: Ending) -> Iterator[Callable[[], Coroutine[Any, Any, None]]]:
    """Take signals as reasons to end from now on; yields what must run for that."""
    wanted = [getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGBREAK") if hasattr(signal, name)]
    with contextlib.ExitStack() as stack:
        try:
            received = stack.enter_context(anyio.open_signal_receiver(*wanted))
        except NotImplementedError:  # Windows: its event loops wake up for the handlers of Python
            loop = asyncio.get_running_loop()
            for one in wanted:
                before = signal.signal(one, lambda *_: loop.call_soon_threadsafe(ending.begin, "a signal"))
                stack.callback(signal.signal, one, before)
            yield ending.wait
            return

        async def listen() -> None:
            async for one in received:
                ending.begin(one.name)

        yield listen


def _end_whatever_happens() -> None:
    timer = threading.Timer(CLEAN_UP + _LAST_RESORT, os._exit, args=(0,))
    timer.daemon = True
    timer.start()


def _leave() -> NoReturn:
    """End the process with what it has said so far."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)
