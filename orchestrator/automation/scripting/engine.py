"""The embedded JavaScript engine, with limits on time and memory."""

from __future__ import annotations

import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil

from orchestrator.errors import Unsupported

MODULES = ("py_mini_racer", "tree_sitter", "tree_sitter_javascript")
"""The packages of the engine; they are not installed where they have no wheels."""
_PROGRAM = Path(__file__).with_name("isolate.py")
_NEEDED = ("SYSTEMROOT", "PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""Environment variables that Python needs to start; scripts get no others."""
_INTERVAL = 0.05
"""Seconds between two checks of a long evaluation, and between two checks of its memory."""
_GROWTH = 4
"""Growth of the process, in multiples of the heap's limit: typed arrays lie outside the heap."""
_SYNTAX_ERROR = re.compile(r"(?:script-\d+|<anonymous>):(\d+): (.*)")


class TookTooLong(Exception):
    """The evaluation did not end in time and was stopped."""


class OutOfMemory(Exception):
    """The evaluation exceeded its memory limit and was stopped."""


class UncaughtScriptError(Exception):
    """The code threw an exception that it did not catch."""


class WrongSyntax(Exception):
    """The code has a syntax error in `line`."""

    def __init__(self, message: str, line: int | None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


def require_engine() -> None:
    """Refuse a script if the engine is missing.

    Raises:
        Unsupported: The engine is not installed; the hint is what to use instead.
    """
    if not all(find_spec(name) for name in MODULES):
        raise Unsupported(
            "run_script needs a JavaScript engine, which is not installed: it has no wheels for some systems.",
            hint="Use execute_sequence or execute_script; or try: "
            "pip install mini-racer tree-sitter tree-sitter-javascript, then start the server again.",
        )


class Engine:
    """An isolated heap with its own globals, in a process of its own, see `isolate`. Used by one thread at a time.

    Args:
        memory: The heap's limit in bytes.

    Attributes:
        ended: True once its process has ended.
    """

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(_PROGRAM), str(memory), _engine_folder()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _NEEDED if name in os.environ},
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self._answers: queue.SimpleQueue[Mapping[str, Any]] = queue.SimpleQueue()
        self._number = 0
        self.ended = False
        self._size_at_start = 0
        self._checked_at = 0.0
        threading.Thread(target=self._listen, name="script", daemon=True).start()

    def evaluate(self, code: str, seconds: float, check: Callable[[], None] = lambda: None) -> Any:
        """Evaluate a script; the value of its last expression if that is a number or a string, else None.

        `check` is called while it runs, and may raise.

        Raises:
            TookTooLong, OutOfMemory: It was stopped; the engine cannot be used again.
            WrongSyntax: It has a syntax error.
            UncaughtScriptError: It threw.
        """
        self._number += 1
        self._send("eval", self._number, code)
        try:
            answer = self._answer(seconds, check)
        except BaseException:
            self._send("stop", self._number)
            raise
        if "value" in answer:
            return answer["value"]
        if answer["error"] == "syntax":
            raise _syntax_error(answer["message"])
        if answer["error"] == "thrown":
            raise UncaughtScriptError(answer["message"].strip().splitlines()[0])
        raise OutOfMemory("it takes too much memory")

    def _answer(self, seconds: float, check: Callable[[], None]) -> Mapping[str, Any]:
        end = time.monotonic() + seconds
        while True:
            left = end - time.monotonic()
            try:
                answer = self._answers.get(timeout=max(0.0, min(_INTERVAL, left)))
            except queue.Empty:
                check()
                if left <= 0:
                    raise TookTooLong("it takes too long") from None
                self._check_memory()
                continue
            if answer["to"] != self._number:
                continue  # the answer to an evaluation that was stopped
            self._size_at_start = self._size_at_start or self._size()
            if time.monotonic() - self._checked_at > _INTERVAL:
                self._check_memory()
            return answer

    def _check_memory(self) -> None:
        """Compare the process's memory, with everything that its scripts keep, with its size at the start.

        Raises:
            OutOfMemory: It has grown too much, or the process has ended.
        """
        if self.ended or (self._size_at_start and self._size() - self._size_at_start > _GROWTH * self._memory):
            raise OutOfMemory("it takes too much memory")
        self._checked_at = time.monotonic()

    def _size(self) -> int:
        """Bytes of the process's memory; on Linux without mapped files, which are loaded piece by piece."""
        try:
            memory = psutil.Process(self._process.pid).memory_info()
        except psutil.Error:
            return 0
        return int(memory.rss) - int(getattr(memory, "shared", 0))

    def evaluate_after_stop(self, code: str, seconds: float) -> Any:
        """Evaluate a script after another one was stopped, with twice the memory.

        Raises:
            TookTooLong, OutOfMemory, WrongSyntax, UncaughtScriptError: The engine can no longer answer.
        """
        self._size_at_start = 0
        self._send("limit", 2 * self._memory)
        return self.evaluate(code, seconds)

    def close(self) -> None:
        """End the process, even while it evaluates."""
        self._process.kill()  # `_listen` waits for it

    def _send(self, *words: Any) -> None:
        pipe = self._process.stdin
        if pipe is not None:
            with suppress(OSError, ValueError):  # it has ended, which the wait for the answer reports
                pipe.write(json.dumps(words).encode() + b"\n")
                pipe.flush()

    def _listen(self) -> None:
        """Queue the answers until the process ends."""
        for line in self._process.stdout or ():
            if line.endswith(b"\n"):  # the last line may be incomplete
                self._answers.put(json.loads(line))
        self.ended = True
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        self._process.wait()


def _engine_folder() -> str:
    """The folder in which the engine's package is installed."""
    spec = find_spec("py_mini_racer")
    return str(Path(spec.origin).parents[1]) if spec and spec.origin else ""


def _syntax_error(text: str) -> WrongSyntax:
    match = _SYNTAX_ERROR.search(text)
    return WrongSyntax(match[2], int(match[1])) if match else WrongSyntax(text.splitlines()[0], None)
