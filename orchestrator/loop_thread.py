"""An event loop for whoever has none: in a thread of its own."""

from __future__ import annotations

import threading
from concurrent.futures import Future

import anyio
from anyio.from_thread import BlockingPortal


class LoopThread:
    """The way into a running event loop, as a context manager.

    Its thread is a daemon: a program that never leaves the block ends all the same, and so does a fork of one that is
    in it, where that thread is not.
    """

    def __init__(self) -> None:
        self._ready: Future[BlockingPortal] = Future()
        self._thread = threading.Thread(target=self._run, name="orchestrator", daemon=True)

    def __enter__(self) -> BlockingPortal:
        self._thread.start()
        return self._ready.result()

    def __exit__(self, *_: object) -> None:
        portal = self._ready.result()
        portal.call(portal.stop, True)  # noqa: FBT003 (anyio's; what still runs is cancelled)
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
