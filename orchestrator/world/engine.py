"""The embedded JavaScript engine: evaluates code within limits on time and memory, and can always be stopped."""

from __future__ import annotations

import asyncio
import atexit
import functools
import re
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from typing import Any

import psutil

from orchestrator.errors import Unsupported

_MODULES = ("py_mini_racer", "tree_sitter", "tree_sitter_javascript")
_LOOK = 0.05
"""Seconds between two looks at an evaluation that takes long."""
_LAST = 0.5
"""Seconds that ending an engine may take: a large copy cannot be interrupted, and ends by itself."""
_BESIDE = 4
"""How many times the limit the process may grow while a script computes: typed arrays lie outside the engine's heap."""
_PLACE = re.compile(r"(?:script-\d+|<anonymous>):(\d+): (.*)")


class TookTooLong(Exception):
    """The evaluation did not end in time, and was stopped."""


class OutOfMemory(Exception):
    """The evaluation took more memory than it may, and was stopped."""


class Thrown(Exception):
    """The code itself threw, and did not catch it."""


class WrongSyntax(Exception):
    """The code cannot be read; `line` is where."""

    def __init__(self, said: str, line: int | None) -> None:
        super().__init__(said)
        self.said = said
        self.line = line


def installed() -> bool:
    """Whether the engine is there."""
    return all(find_spec(name) for name in _MODULES)


def need() -> None:
    """Say how to get the engine where it is missing.

    Raises:
        Unsupported: It is not installed.
    """
    if not installed():
        raise Unsupported(
            "run_script needs a JavaScript engine, which is not installed.",
            hint='Run: pip install "webdriver-orchestrator[script]", then start the server again.',
        )


class Engine:
    """One isolated heap with its own globals. Used by one thread at a time.

    Args:
        memory: Bytes that its heap may have.
    """

    def __init__(self, memory: int) -> None:
        from py_mini_racer import mini_racer  # noqa: PLC0415 (an extra, and 75 MB)

        self._memory = memory
        self._stack = ExitStack()
        self._racer = self._stack.enter_context(mini_racer(_loop()))
        self._racer.set_hard_memory_limit(memory)
        _open.add(self)

    def evaluate(self, code: str, seconds: float, check: Callable[[], None] = lambda: None) -> Any:
        """The value of a script's last expression: a number, a string or nothing.

        `check` is called while it runs, and may raise.

        Raises:
            TookTooLong, OutOfMemory: It was stopped. The engine is of no further use then.
            WrongSyntax: It cannot be read.
            Thrown: It threw.
        """
        from py_mini_racer import JSEvalException, JSOOMException, JSParseException  # noqa: PLC0415 (as above)

        running = asyncio.run_coroutine_threadsafe(self._racer.eval_cancelable(code), _loop())
        try:
            return self._await(running, seconds, check)
        except JSParseException as error:
            raise _syntax(str(error)) from None
        except JSOOMException:
            raise OutOfMemory("it takes too much memory") from None
        except JSEvalException as error:
            raise Thrown(str(error).strip().splitlines()[0]) from None
        finally:
            running.cancel()

    def _await(self, running: Future[Any], seconds: float, check: Callable[[], None]) -> Any:
        end = time.monotonic() + seconds
        before = 0
        while True:
            left = end - time.monotonic()
            try:
                value = running.result(max(0.0, min(_LOOK, left)))
            except TimeoutError:
                check()
                if left <= 0:
                    raise TookTooLong("it takes too long") from None
                now = psutil.Process().memory_info().rss
                before = before or now
                if now - before > _BESIDE * self._memory:
                    raise OutOfMemory("it takes too much memory") from None
            except CancelledError:
                raise TookTooLong("it takes too long") from None
            else:
                # What a script does after its first await runs once the value is there.
                if self._racer.was_hard_memory_limit_reached():
                    raise OutOfMemory("it takes too much memory")
                return value

    def last_word(self, code: str, seconds: float) -> Any:
        """The value of a script's last expression, also after it was stopped.

        Raises:
            TookTooLong, OutOfMemory, WrongSyntax, Thrown: It cannot say any more.
        """
        self._racer.set_hard_memory_limit(2 * self._memory)
        return self.evaluate(code, seconds)

    def close(self) -> None:
        """End it."""
        _open.discard(self)
        ending = threading.Thread(target=self._stack.close, daemon=True, name="script-end")
        ending.start()
        ending.join(_LAST)


_open: weakref.WeakSet[Engine] = weakref.WeakSet()


@functools.cache
def _loop() -> asyncio.AbstractEventLoop:
    """The loop that waits for all engines."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True, name="script").start()
    atexit.register(_end)
    return loop


def _end() -> None:
    # An engine that is open when the interpreter ends would keep it from ending.
    for engine in list(_open):
        with suppress(Exception):
            engine._stack.close()  # noqa: SLF001 (the same module)


def _syntax(said: str) -> WrongSyntax:
    found = _PLACE.search(said)
    return WrongSyntax(found[2], int(found[1])) if found else WrongSyntax(said.splitlines()[0], None)
