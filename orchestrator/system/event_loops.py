"""A task group that outlives the task that opened it, and an event loop in a thread."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future

import anyio
import anyio.abc
from anyio.from_thread import BlockingPortal


class Background:
    """A task group in a task of its own, as an async context manager.

    A task group must be closed by the task that opened it; but asyncio's test tools open a fixture in one task and
    close it in another.
    """

    def __init__(self) -> None:
        self._opened, self._ended = anyio.Event(), anyio.Event()
        self._failure: Exception | None = None

    async def __aenter__(self) -> anyio.abc.TaskGroup:
        try:
            self._task = asyncio.get_running_loop().create_task(self._live())
        except RuntimeError:
            from trio.lowlevel import spawn_system_task  # noqa: PLC0415 - installed if the loop is trio's

            spawn_system_task(self._live)
        with anyio.CancelScope(shield=True):
            await self._opened.wait()
        return self._group

    async def __aexit__(self, *_: object) -> None:
        self._group.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await self._ended.wait()
        if self._failure is not None:
            raise self._failure

    async def _live(self) -> None:
        try:
            async with anyio.create_task_group() as self._group:
                self._opened.set()
                await anyio.sleep_forever()
        except Exception as error:  # noqa: BLE001 (raised again in __aexit__)
            self._failure = error
        finally:
            self._ended.set()


class LoopThread:
    """An event loop in a thread of its own, as a context manager that gives the portal into it.

    The thread is a daemon, so a program that never leaves the block still ends; so does a fork of it, which lacks the
    thread.
    """

    def __init__(self) -> None:
        self._ready: Future[BlockingPortal] = Future()
        self._thread = threading.Thread(target=self._run, name="orchestrator", daemon=True)

    def __enter__(self) -> BlockingPortal:
        self._thread.start()
        return self._ready.result()

    def __exit__(self, *_: object) -> None:
        portal = self._ready.result()
        portal.call(portal.stop, True)  # noqa: FBT003 (anyio's parameter: cancel the remaining tasks)
        self._thread.join()

    def _run(self) -> None:
        try:
            anyio.run(self._serve)
        except BaseException as error:
            if self._ready.done():
                raise
            self._ready.set_exception(error)

    async def _serve(self) -> None:
        async with BlockingPortal() as portal:
            self._ready.set_result(portal)
            await portal.sleep_until_stopped()
