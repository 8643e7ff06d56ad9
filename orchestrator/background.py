"""Tasks that live as long as what they work for, whichever task opens that and whichever closes it."""

from __future__ import annotations

import asyncio

import anyio
import anyio.abc


class Background:
    """A task group in a task of its own, as an async context manager.

    A group in the task of a caller would have to be closed by that very task. The test tools of asyncio open a fixture
    in one task and close it in another one.
    """

    def __init__(self) -> None:
        self._opened, self._ended = anyio.Event(), anyio.Event()
        self._failure: Exception | None = None

    async def __aenter__(self) -> anyio.abc.TaskGroup:
        try:
            self._task = asyncio.get_running_loop().create_task(self._live())
        except RuntimeError:
            from trio.lowlevel import spawn_system_task  # noqa: PLC0415 - whoever runs in trio has it

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
        except Exception as error:  # noqa: BLE001 (whatever a task of the group raised is its owner's)
            self._failure = error
        finally:
            self._ended.set()
