"""Serves MCP over stdin and stdout, until end of input, SIGTERM or SIGINT.

The tools are listed at once; the orchestrator is loaded after that, or with the first call.

Clients close stdin, wait two seconds, send SIGTERM and two seconds later SIGKILL. So the first reason to end begins
one clean-up, which is over before the SIGKILL; further signals change nothing.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self, cast

import anyio
import anyio.to_thread
from mcp.server.lowlevel import NotificationOptions
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import ReadStream
from mcp.shared.message import SessionMessage

from orchestrator.mcp_server.frames import InputLines, open_input
from orchestrator.mcp_server.server import McpServer
from orchestrator.mcp_server.shutdown_signals import ShutdownTrigger, stop_signals
from orchestrator.settings import Settings

if TYPE_CHECKING:
    from orchestrator.api import Orchestrator
    from orchestrator.mcp_server.tool_calls import ToolCalls

Load = Callable[[], "tuple[Orchestrator, ToolCalls]"]

_CHANGES = NotificationOptions(tools_changed=True)
CLEAN_UP = 3.0
"""Seconds that parking or ending the caller's sessions may take."""
_LAST_RESORT = 0.3
"""Seconds after which the process ends even if the clean-up holds the event loop or a log that nobody reads."""
_ANSWERING = 0.05
"""Seconds that the list of tools has to be written in, before loading takes processor time."""
_LOAD_AT_LATEST = 2.0
"""Seconds after which the orchestrator is loaded without a request: parked sessions wait to be adopted."""

Incoming = SessionMessage | Exception

_log = logging.getLogger(__name__)
"""Python's own: structlog would have to be loaded before the tools are listed."""


class _IncomingMessages:
    """The incoming messages; calls `ended` when there will be no more."""

    def __init__(self, stream: Any, ended: Callable[[], None]) -> None:
        self._stream = stream
        self._ended = ended

    @property
    def last_context(self) -> Any:
        """The context in which the last message was sent."""
        return self._stream.last_context

    async def receive(self) -> Incoming:
        """Return the next message."""
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


async def serve_stdio(settings: Settings, load: Load, report_error: Callable[[Exception], int]) -> None:
    """Serve until there is a reason to end, park or end the caller's sessions, and end the process.

    The process is ended from here: a thread may still wait for input, and another one for a remote end.

    Args:
        settings: Which tools to list, and with which schemas.
        load: Returns the orchestrator, not open yet, and its tools; called in a thread.
        report_error: Reports why the orchestrator could not be opened, and returns the exit code.
    """
    ending, server = ShutdownTrigger(), McpServer(settings)
    with stop_signals(ending) as listen:
        async with anyio.create_task_group() as group, contextlib.AsyncExitStack() as stack:
            group.start_soon(listen)
            group.start_soon(_serve_client, server, ending)
            with anyio.move_on_after(_LOAD_AT_LATEST) as limit:
                group.start_soon(_cancel_at, ending, limit)
                await server.requested.wait()
                await anyio.sleep(_ANSWERING)
            try:
                orchestrator, calls = await anyio.to_thread.run_sync(load)
                await stack.enter_async_context(orchestrator)
            except Exception as error:  # noqa: BLE001 (reported, and the end of the process)
                _exit_process(report_error(error))
            server.open(calls)
            group.start_soon(server.follow_resources)
            _log.info("serving over stdio", extra={"namespace": orchestrator.settings.namespace})
            await ending.wait()
            _log.info("ending", extra={"reason": ending.reason})
            await _shut_down(orchestrator)


async def _shut_down(orchestrator: Orchestrator) -> NoReturn:
    timer = threading.Timer(CLEAN_UP + _LAST_RESORT, os._exit, args=(0,))
    timer.daemon = True
    timer.start()
    from orchestrator.mcp_server.tracing import flush_spans  # noqa: PLC0415 — the list of tools is sent before

    with anyio.move_on_after(CLEAN_UP, shield=True) as limit:
        await orchestrator.shut_down()
        await anyio.to_thread.run_sync(flush_spans, abandon_on_cancel=True)
    if limit.cancelled_caught:
        _log.warning("the clean-up took too long, the next server goes on with it", extra={"seconds": CLEAN_UP})
    _exit_process(0)


async def _serve_client(app: McpServer, ending: ShutdownTrigger) -> None:
    """Serve the one client; calls that are in flight when the end begins are cancelled."""
    try:
        with anyio.CancelScope() as scope:
            lines = InputLines(open_input())
            async with (
                stdio_server(cast("anyio.AsyncFile[str]", lines)) as (incoming, outgoing),
                anyio.create_task_group() as group,
            ):
                lines.refuse_to(outgoing)
                group.start_soon(_cancel_at, ending, scope)
                watched = _IncomingMessages(incoming, lambda: ending.trigger("end of input"))
                try:
                    await app.server.run(watched, outgoing, app.server.create_initialization_options(_CHANGES))
                finally:
                    ending.trigger("the connection ended")
    except* ConnectionError:
        ending.trigger("the client closed our output")
    except* Exception:  # noqa: BLE001 (we end in good order, whatever it was)
        _log.exception("the connection broke")
        ending.trigger("the connection broke")


async def _cancel_at(ending: ShutdownTrigger, scope: anyio.CancelScope) -> None:
    await ending.wait()
    scope.cancel()


def _exit_process(code: int) -> NoReturn:
    """End the process, with its output written so far."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
